/* What a prompt may show of a table, and a count of what it showed. */
#ifndef DTX_FALLBACK_PROMPT_DISCLOSE_H
#define DTX_FALLBACK_PROMPT_DISCLOSE_H

#include "core/base/text/json.h"
#include "core/data/batch.h"

/* none: names and classes; synthetic: rows made from patterns; masked: three real rows, letters as
 * x and X, digits as 9; rows:N: the first N (1 to 5) as they are, and frequent values. */
enum dtx_sample {
	DTX_SAMPLE_NONE,
	DTX_SAMPLE_SYNTHETIC,
	DTX_SAMPLE_MASKED,
	DTX_SAMPLE_ROWS_1,
	DTX_SAMPLE_ROWS_5 = DTX_SAMPLE_ROWS_1 + 4
};
/* NULL: the default (synthetic).  Codes: usage. */
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
	const char *seed;        /* fingerprint: seeds synthetic rows */
	const char *const *deny; /* globs: columns that are not even named; NULL: none */
	size_t ndeny;
};
#define DTX_DISCLOSE_COLS 200
#define DTX_DISCLOSE_NAME 120

/* One line of canonical JSON per value: the table, its columns, rows.  A cell's text only under
 * masked and rows:N; else patterns that 90 % of the cells and at least 5 share. */
DTX_MUSTUSE enum dtx_code dtx_disclose_table(const char *alias, struct dtx_table *t,
                                             const struct dtx_disclose_spec *spec,
                                             struct dtx_buf *out, struct dtx_disclosed *count,
                                             struct dtx_err *err);
/* Whether a column's name matches one of the globs. */
bool dtx_disclose_denied(const char *const *deny, size_t n, const char *name);
/* The first rows of the chosen columns, as they are or masked; counts them. */
DTX_MUSTUSE enum dtx_code dtx_disclose_real(const struct dtx_table *t, enum dtx_sample sample,
                                            const uint32_t *col, size_t n, struct dtx_buf *out,
                                            struct dtx_disclosed *count, struct dtx_err *err);
/* "frequent":[...], : values that occur at least twice, the ten most frequent, each cut. */
DTX_MUSTUSE enum dtx_code dtx_disclose_frequent(const struct dtx_table *t, uint32_t column,
                                                struct dtx_buf *out, struct dtx_err *err);
/* A name as a JSON string, cut, with characters escaped that would change the text around it. */
void dtx_disclose_name(struct dtx_buf *out, const char *name);
/* The power of ten around a count, as a JSON string: "0", "1-9", "10-99" ... */
void dtx_disclose_bucket(struct dtx_buf *out, int64_t rows);

#endif
