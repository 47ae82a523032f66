/* What a prompt may show of a table, and a count of what it showed. */
#ifndef DTX_FALLBACK_DISCLOSE_H
#define DTX_FALLBACK_DISCLOSE_H

#include "core/base/json.h"
#include "core/data/batch.h"

enum dtx_sample { DTX_SAMPLE_NONE, DTX_SAMPLE_SYNTHETIC };
/* NULL: the default (synthetic).  masked and rows:N are unsupported_param in this version. */
DTX_MUSTUSE enum dtx_code dtx_sample_parse(const char *text, enum dtx_sample *out,
                                           struct dtx_err *err);
const char *dtx_sample_name(enum dtx_sample sample);

struct dtx_disclosed {
	int64_t rows, cols, redactions;
};
struct dtx_disclose_spec {
	enum dtx_sample sample;
	const char *const *first; /* columns to show first (the contract's) */
	size_t nfirst;
	const char *seed; /* fingerprint: seeds synthetic rows */
};
#define DTX_DISCLOSE_COLS 200
#define DTX_DISCLOSE_NAME 120

/* One line of canonical JSON per value: the table, its columns, synthetic rows.  Never a cell's
 * text: only patterns that 90 % of the cells and at least 5 share. */
DTX_MUSTUSE enum dtx_code dtx_disclose_table(const char *alias, struct dtx_table *t,
                                             const struct dtx_disclose_spec *spec,
                                             struct dtx_buf *out, struct dtx_disclosed *count,
                                             struct dtx_err *err);
/* A name as a JSON string, cut, with characters escaped that would change the text around it. */
void dtx_disclose_name(struct dtx_buf *out, const char *name);
/* The power of ten around a count, as a JSON string: "0", "1-9", "10-99" ... */
void dtx_disclose_bucket(struct dtx_buf *out, int64_t rows);
/* Text of an error without cell values: quoted strings and numbers that are not in `known` (texts
 * of headers, steps and code) become <value>. */
void dtx_disclose_redact(struct dtx_str text, struct dtx_str known, struct dtx_buf *out,
                         struct dtx_disclosed *count);

/* A jail report as the record may keep it: what the snippet printed is gone (sizes stay), the
 * exception's message, the reason and what the screen quotes are redacted.  `known` as above. */
DTX_MUSTUSE bool dtx_disclose_report(json_t *report, struct dtx_str known);

#endif
