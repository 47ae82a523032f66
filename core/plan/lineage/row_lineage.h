/* Row numbers of a result that are kept, in one body: which rows of the inputs went into each of
 * its rows, and at which step the others left.  Numbers alone, no cell; packed by zlib.
 *
 * They answer without the plan, its inputs and the engine (core/plan/lineage/trace.h has the other
 * way). */
#ifndef DTX_PLAN_LINEAGE_ROW_LINEAGE_H
#define DTX_PLAN_LINEAGE_ROW_LINEAGE_H

#include "core/plan/lineage/trace.h"

/* Of one result, before they are packed: a body of the store takes no more. */
#define DTX_ROW_LINEAGE_MAX ((size_t)256 << 20)

/* The lists of a traced result, while the readers are open.  max: DTX_ROW_LINEAGE_MAX.  Takes
 * members of rows->head.  Codes: row_limit. */
DTX_MUSTUSE enum dtx_code dtx_row_lineage_pack(const struct dtx_trace_rows *rows,
                                               const struct dtx_exec_result *traced, size_t max,
                                               struct dtx_buf *out, struct dtx_err *err);

struct dtx_row_lineage_list {
	const char *kind; /* "result", "made", "copy", "let", "window", "left", "places" */
	int64_t step, bit, input;
	size_t n;
	uint32_t ncols;
	const char **name; /* per column: "dtx_r0", "dtx_g" */
	int64_t **col;     /* numbers count from 1; 0: none */
};
struct dtx_row_lineage {
	json_t *head;
	struct dtx_row_lineage_list *list;
	uint32_t nlists;
};
/* Codes: store_io (damaged). */
DTX_MUSTUSE enum dtx_code dtx_row_lineage_unpack(struct dtx_str bytes, struct dtx_row_lineage **out,
                                                 struct dtx_err *err);
void dtx_row_lineage_free(struct dtx_row_lineage *k);

/* Rows of an input that went into a cell. */
struct dtx_row_lineage_rows {
	uint32_t input;
	const json_t *direct; /* [column]: whose cells are in the value, "*": any; or null */
	uint64_t *row;        /* a bit for each row of the input, from bit 1 */
	size_t n;             /* bits */
};
struct dtx_row_lineage_answer {
	struct dtx_row_lineage_rows *rows;
	size_t nrows;
	bool wide, borrowed; /* as of dtx_trace */
	bool longer;         /* of columns that were made rows it is not told which */
};
/* Codes: usage (no such row), no_translation (no such column). */
DTX_MUSTUSE enum dtx_code dtx_row_lineage_why(const struct dtx_row_lineage *k, const char *column,
                                              int64_t row, struct dtx_row_lineage_answer *out,
                                              struct dtx_err *err);
void dtx_row_lineage_answer_clear(struct dtx_row_lineage_answer *a);
/* Lines or sheet rows of the rows of an input; NULL: there are none. */
const struct dtx_row_lineage_list *dtx_row_lineage_places(const struct dtx_row_lineage *k,
                                                          uint32_t input);
/* What stands in front of the line in an address: "C" in a sheet, "L" in a text. */
const char *dtx_row_lineage_prefix(const struct dtx_row_lineage *k, uint32_t input,
                                   const char *column);

/* Where row `number` of an input is: behind step i, counts[i] rows that came of it (-1: the step
 * drops none), and *results, rows of the result, [number], and *through, those that its groups went
 * into where the result has rows of its own, both the caller's.  Codes: no_translation
 * where numbers do not tell. */
DTX_MUSTUSE enum dtx_code dtx_row_lineage_follow(const struct dtx_row_lineage *k, uint32_t input,
                                                 int64_t number, int64_t *counts, size_t nsteps,
                                                 json_t **results, json_t **through,
                                                 struct dtx_err *err);

#endif
