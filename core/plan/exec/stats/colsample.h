/* The distribution of values in each column of a result, from an even sample of its rows; reports
 * draw it.
 *
 * Which rows are taken depends on their number alone, not on batches or threads, so a report is
 * reproducible. No cell goes into the report: only bars between round bounds, and counts. */
#ifndef DTX_PLAN_EXEC_STATS_COLSAMPLE_H
#define DTX_PLAN_EXEC_STATS_COLSAMPLE_H

#include "core/base/text/json.h"
#include "core/data/batch.h"

enum { DTX_COLSAMPLE_ROWS = 512, DTX_COLSAMPLE_COLUMNS = 200, DTX_COLSAMPLE_BARS = 12 };

struct dtx_colsample {
	const struct dtx_schema *schema;
	uint32_t ncols;
	double *value; /* per sampled row and column; NaN: empty; from dtx_mem */
	uint32_t n;    /* rows in the sample */
	uint64_t seen, step;
};
/* Borrows the schema. dtx_colsample_clear is safe after a failed init. Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_colsample_init(struct dtx_colsample *s,
                                             const struct dtx_schema *schema, struct dtx_err *err);
void dtx_colsample_clear(struct dtx_colsample *s);
/* Takes the next rows, in order. */
DTX_MUSTUSE enum dtx_code dtx_colsample_batch(struct dtx_colsample *s, const struct dtx_batch *b,
                                              struct dtx_err *err);
/* Adds the sample of the rows that come next, which another process has taken with `step`, of
 * `seen` rows, as n rows of `value`. Where these begin between two rows of the sample, the nearest
 * one before is taken. */
void dtx_colsample_add(struct dtx_colsample *s, const double *value, uint32_t n, uint64_t step,
                       uint64_t seen);
/* A new array [{"name","rows","nulls","kind","low","width","bars":[]}], one object per column,
 * about the `rows` rows of the sample. NULL: out of memory.
 *
 * kind "number" or "day": bars from `low` on, each `width` wide (decimal text; days). kind "bool":
 * bars of false and true. kind "text": "distinct", and how many rows each of the commonest values
 * has, largest first; which values these are is not kept. */
json_t *dtx_colsample_json(const struct dtx_colsample *s);

#endif
