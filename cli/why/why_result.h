/* Which cells of a traced row a column of the result has its value from. */
#ifndef DTX_CLI_WHY_WHY_RESULT_H
#define DTX_CLI_WHY_WHY_RESULT_H

#include "core/base/text/json.h"
#include "core/plan/exec/exec.h"

/* A traced plan (core/plan/lineage/trace.h) and its results, while they are looked at. */
struct dtx_why_result {
	const struct dtx_plan *plan;
	const struct dtx_exec_result *result;
	struct dtx_buf text;
	bool wide; /* set where more columns may be named than the row came from */
};
/* Text of a cell of the row that was asked for, valid until the next call; NULL: no such column. */
const char *dtx_why_result_value(struct dtx_why_result *t, const char *column);
/* The same, and whether it is a null. */
const char *dtx_why_result_cell(struct dtx_why_result *t, const char *column, bool *null);
/* Of the source columns that a pivot_longer made rows of, whether the row's value in the asked one
 * came from another. */
bool dtx_why_result_elsewhere(struct dtx_why_result *t, const char *asked, const char *alias,
                              const char *column);
/* Whether a fill may have given the column values of other rows. */
bool dtx_why_result_filled(const struct dtx_why_result *t, const char *column);
/* Appends a formula with the values put in that table `output` has in its first row; nothing when
 * there is none. */
void dtx_why_result_formula(struct dtx_why_result *t, uint32_t output, const char *formula,
                            struct dtx_buf *out);
/* The same of a group's formula, whose aggregates are the columns of table `output`: one row. */
void dtx_why_result_aggregates(struct dtx_why_result *t, uint32_t output, const char *formula,
                               struct dtx_buf *out);
/* The same of an aggregate over few values, those of table `output`: "sum(40, 80)". */
void dtx_why_result_taken(struct dtx_why_result *t, uint32_t output, const char *formula,
                          struct dtx_buf *out);
/* The same of a window call over few cells of one column, "cum_sum(40, 80)", where the window saw
 * them as the source has them, each once. */
void dtx_why_result_window(const struct dtx_plan *plan, const char *formula, const json_t *sources,
                           struct dtx_buf *out);

#endif
