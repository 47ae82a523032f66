/* Row numbers that a run kept with `--lineage rows`: which rows of the inputs each result row came
 * from, and at which step other rows were dropped.
 *
 * All numbers of one result are stored as one body, compressed by zlib. It contains row numbers
 * only, no cells. Questions are answered from it without the plan, the inputs or the engine. The
 * other way to answer is to run the plan again, see core/plan/lineage/trace.h. */
#ifndef DTX_PLAN_LINEAGE_ROW_LINEAGE_H
#define DTX_PLAN_LINEAGE_ROW_LINEAGE_H

#include "core/plan/lineage/trace.h"

/* Limit for one result before compression, because a body in the store may not be larger. */
#define DTX_ROW_LINEAGE_MAX ((size_t)256 << 20)

/* Packs the lists of row numbers from the result of a traced plan, as dtx_trace_rows made it. Must
 * be called while the readers are open, because they know the lines. `max` is DTX_ROW_LINEAGE_MAX
 * except in tests. Adds members to rows->head. Codes: row_limit. */
DTX_MUSTUSE enum dtx_code dtx_row_lineage_pack(const struct dtx_trace_rows *rows,
                                               const struct dtx_exec_result *traced, size_t max,
                                               struct dtx_buf *out, struct dtx_err *err);

struct dtx_row_lineage_list {
	const char *kind; /* "result", "made", "copy", "let", "window", "whole", "left", "places" */
	int64_t step, bit, input;
	size_t n;
	uint32_t ncols;
	const char **name; /* per column, such as "dtx_r0", "dtx_g" */
	int64_t **col;     /* per column; numbers count from 1, and 0 means none */
};
struct dtx_row_lineage {
	json_t *head;
	struct dtx_row_lineage_list *list;
	uint32_t nlists;
};
/* Reads such a body. The caller frees *out. Codes: store_io (damaged). */
DTX_MUSTUSE enum dtx_code dtx_row_lineage_unpack(struct dtx_str bytes, struct dtx_row_lineage **out,
                                                 struct dtx_err *err);
void dtx_row_lineage_free(struct dtx_row_lineage *k);

/* The rows of one input that a cell came from. */
struct dtx_row_lineage_rows {
	uint32_t input;
	const json_t *direct; /* names of the columns whose cells are in the value, "*" for any;
	                       * null: the rows only decided that the result row exists */
	uint64_t *row;        /* a bit per row of the input; row 1 is bit 1 */
	size_t n;             /* number of bits */
};
struct dtx_row_lineage_answer {
	struct dtx_row_lineage_rows *rows;
	size_t nrows;
	bool wide, borrowed; /* as in struct dtx_trace */
	bool longer;         /* some columns were turned into rows, and it is not known which */
};
/* Finds the input rows that a cell came from. The caller clears *out, also after a failure. Codes:
 * usage (no such row), no_translation (no such column), store_io (damaged). */
DTX_MUSTUSE enum dtx_code dtx_row_lineage_why(const struct dtx_row_lineage *k, const char *column,
                                              int64_t row, struct dtx_row_lineage_answer *out,
                                              struct dtx_err *err);
void dtx_row_lineage_answer_clear(struct dtx_row_lineage_answer *a);
/* The line, or row of the sheet, of each row of an input. Borrowed. NULL if none are kept. */
const struct dtx_row_lineage_list *dtx_row_lineage_places(const struct dtx_row_lineage *k,
                                                          uint32_t input);
/* The letters before the line number in an address: the column's letter in a sheet, such as "C", or
 * "L" in a text file. Borrowed. */
const char *dtx_row_lineage_prefix(const struct dtx_row_lineage *k, uint32_t input,
                                   const char *column);

/* Follows row `number` of an input. counts[i] is the number of rows in the result of step i that
 * came from it, or -1 if the step drops no rows. *results lists the numbers of the plan's result
 * rows that are the row. *through lists the result rows of groups that it is in, if there are also
 * rows in *results. The caller owns both lists. Codes: no_translation if the kept numbers cannot
 * answer this. */
DTX_MUSTUSE enum dtx_code dtx_row_lineage_follow(const struct dtx_row_lineage *k, uint32_t input,
                                                 int64_t number, int64_t *counts, size_t nsteps,
                                                 json_t **results, json_t **through,
                                                 struct dtx_err *err);

#endif
