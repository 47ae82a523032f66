/* Finds which cells of the traced row gave a column of the result its value. */
#ifndef DTX_CLI_WHY_WHY_RESULT_H
#define DTX_CLI_WHY_WHY_RESULT_H

#include "core/base/text/json.h"
#include "core/plan/exec/exec.h"

/* A traced plan (core/plan/lineage/trace.h) and its results, while the readers are open. */
struct dtx_why_result {
	const struct dtx_plan *plan;
	const struct dtx_exec_result *result;
	struct dtx_buf text;
	bool wide; /* set if more columns may be named than the row came from */
};
/* The text of a cell of the asked row, valid until the next call; NULL: no such column. */
const char *dtx_why_result_value(struct dtx_why_result *t, const char *column);
/* The same; *null: the cell is a null. */
const char *dtx_why_result_cell(struct dtx_why_result *t, const char *column, bool *null);
/* If a pivot_longer turned the source column `column` into rows: whether the value of the asked
 * column came from another one of these columns. */
bool dtx_why_result_elsewhere(struct dtx_why_result *t, const char *asked, const char *alias,
                              const char *column);
/* Whether a fill may have given the column values of other rows. */
bool dtx_why_result_filled(const struct dtx_why_result *t, const char *column);
/* Appends a formula with the values from the first row of output `output` in place of names.
 * Appends nothing if there is no row. */
void dtx_why_result_formula(struct dtx_why_result *t, uint32_t output, const char *formula,
                            struct dtx_buf *out);
/* The same for a formula with aggregates, whose values are the columns of the one row of
 * `output`. */
void dtx_why_result_aggregates(struct dtx_why_result *t, uint32_t output, const char *formula,
                               struct dtx_buf *out);
/* The same for an aggregate over few values, the rows of `output`: "sum(40, 80)". */
void dtx_why_result_taken(struct dtx_why_result *t, uint32_t output, const char *formula,
                          struct dtx_buf *out);
/* The same for a window function over few cells of one column: "cum_sum(40, 80)". Only if the
 * window used the cells unchanged and each once. */
void dtx_why_result_window(const struct dtx_plan *plan, const char *formula, const json_t *sources,
                           struct dtx_buf *out);

#endif
