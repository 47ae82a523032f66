/* What a prompt may show of a table, and a count of what it showed. This decides which data
 * leaves the machine. */
#ifndef DTX_FALLBACK_PROMPT_DISCLOSE_H
#define DTX_FALLBACK_PROMPT_DISCLOSE_H

#include "core/base/text/json.h"
#include "core/data/batch.h"

/* What is shown of rows. none: only names and classes of columns; synthetic: rows made from
 * patterns; masked: three real rows with letters as x and X and digits as 9; rows:N: the first N
 * rows (1 to 5) as they are, and frequent values. */
enum dtx_sample {
	DTX_SAMPLE_NONE,
	DTX_SAMPLE_SYNTHETIC,
	DTX_SAMPLE_MASKED,
	DTX_SAMPLE_ROWS_1,
	DTX_SAMPLE_ROWS_5 = DTX_SAMPLE_ROWS_1 + 4
};
/* NULL means the default, synthetic. Error: usage. */
DTX_MUSTUSE enum dtx_code dtx_sample_parse(const char *text, enum dtx_sample *out,
                                           struct dtx_err *err);
const char *dtx_sample_name(enum dtx_sample sample);

struct dtx_disclosed {
	int64_t rows, cols, redactions;
};
struct dtx_disclose_spec {
	enum dtx_sample sample;
	const char *const *first; /* columns to show first, those of the contract */
	size_t nfirst;
	const char *seed;        /* the fingerprint: seeds the synthetic rows */
	const char *const *deny; /* globs of columns that are not even named; NULL: none */
	size_t ndeny;
};
#define DTX_DISCLOSE_COLS 200
#define DTX_DISCLOSE_NAME 120

/* Appends one line of canonical JSON each for the table, its columns and rows. Text of cells
 * appears only under masked and rows:N; otherwise patterns that 90 % of the cells, and at least
 * 5, share. Adds to *count what was shown. */
DTX_MUSTUSE enum dtx_code dtx_disclose_table(const char *alias, struct dtx_table *t,
                                             const struct dtx_disclose_spec *spec,
                                             struct dtx_buf *out, struct dtx_disclosed *count,
                                             struct dtx_err *err);
/* Whether a column's name matches one of the globs. */
bool dtx_disclose_denied(const char *const *deny, size_t n, const char *name);
/* Appends the first rows of the chosen columns, as they are or masked, and counts them. */
DTX_MUSTUSE enum dtx_code dtx_disclose_real(const struct dtx_table *t, enum dtx_sample sample,
                                            const uint32_t *col, size_t n, struct dtx_buf *out,
                                            struct dtx_disclosed *count, struct dtx_err *err);
/* Appends "frequent":[...], with the ten most frequent of the values that occur at least twice,
 * each cut. */
DTX_MUSTUSE enum dtx_code dtx_disclose_frequent(const struct dtx_table *t, uint32_t column,
                                                struct dtx_buf *out, struct dtx_err *err);
/* Appends a name as a JSON string, cut, in which characters are escaped that would change how
 * the text around them is shown. */
void dtx_disclose_name(struct dtx_buf *out, const char *name);
/* Appends the power of ten around a count as a JSON string: "0", "1-9", "10-99" and so on. */
void dtx_disclose_bucket(struct dtx_buf *out, int64_t rows);

#endif
