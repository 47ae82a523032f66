/* How the values of a result lie, from an even sample of its rows: pictures for a report.
 *
 * Which rows are taken depends on their number alone, never on batches or threads.  No value is
 * kept: bars between round bounds, and how many cells are empty. */
#ifndef DTX_PLAN_EXEC_COLSAMPLE_H
#define DTX_PLAN_EXEC_COLSAMPLE_H

#include "core/base/text/json.h"
#include "core/data/batch.h"

enum { DTX_COLSAMPLE_ROWS = 512, DTX_COLSAMPLE_COLUMNS = 200, DTX_COLSAMPLE_BARS = 12 };

struct dtx_colsample {
	const struct dtx_schema *schema;
	uint32_t ncols;
	double *value; /* per sampled row and column; NaN: empty; dtx_mem */
	uint32_t n;    /* rows of the sample */
	uint64_t seen, step;
};
/* Borrows the schema.  clear is safe after a failed init. */
DTX_MUSTUSE enum dtx_code dtx_colsample_init(struct dtx_colsample *s,
                                             const struct dtx_schema *schema, struct dtx_err *err);
void dtx_colsample_clear(struct dtx_colsample *s);
/* The next rows, in order. */
DTX_MUSTUSE enum dtx_code dtx_colsample_batch(struct dtx_colsample *s, const struct dtx_batch *b,
                                              struct dtx_err *err);
/* [{"name","rows","nulls","kind","low","width","bars":[]}]: of the `rows` rows that were looked at;
 * kind "number" or "day" with bars from low on, each as wide as `width` (decimal texts; days), or
 * "bool" with bars false and true, or "text" with "distinct" and the rows that the commonest values
 * have each, largest first (which values those are is not kept).  New reference; NULL: out of
 * memory. */
json_t *dtx_colsample_json(const struct dtx_colsample *s);

#endif
