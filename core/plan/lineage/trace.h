/* Finds the source rows that one row of a result came from, by running the plan again with row
 * numbers.
 *
 * The "traced plan" is the original one in which every input gets a column of row numbers. Most
 * steps pass that column on like any other. A step that makes one row from several (group_by,
 * pivot_wider) cannot: the numbers end there, and its results get new numbers. For such a step the
 * traced plan goes back from the asked row by the step's keys, to the rows of its input.
 *
 * The traced plan also has the whole result as an output. The caller compares its hash with the
 * recorded one: a trace that changed the result must not be used. */
#ifndef DTX_PLAN_LINEAGE_TRACE_H
#define DTX_PLAN_LINEAGE_TRACE_H

#include "core/base/text/json.h"
#include "core/plan/exec/exec.h"

enum dtx_trace_part {
	DTX_TRACE_CHECK, /* the table of the output, without row numbers */
	DTX_TRACE_ROW,   /* the asked row */
	DTX_TRACE_TERMS, /* the asked row in the table where its column was computed: the values
	                  * that the formula used */
	DTX_TRACE_AGGREGATES, /* the aggregates in the formula for the group of the row: columns
	                       * dtx_a0, dtx_a1 .. */
	DTX_TRACE_TAKEN_BY,   /* the values that the aggregate took, as dtx_a0: at most
	                       * DTX_TRACE_TAKEN, and one more if there are more */
	DTX_TRACE_INPUT       /* the rows of an input that the row came from */
};
struct dtx_trace_output {
	enum dtx_trace_part part;
	uint32_t input;
	/* For INPUT: {"column": true} for the columns whose cells are in the value; "*" means any
	 * column. NULL: the rows only decided that the result row exists. Owned by the trace. */
	json_t *direct;
	bool apart; /* for INPUT: the rows have cells of the value, but later steps judged other
	               rows */
};
enum { DTX_TRACE_TAKEN = 12 };
struct dtx_trace {
	json_t *plan; /* refers to inputs by their names in the original plan; owned */
	struct dtx_trace_output output[DTX_PLAN_OUTPUTS_MADE];
	uint32_t noutputs;
	const char *grouped; /* for AGGREGATES and TAKEN_BY: the formula, owned by the plan; NULL:
	                      * none */
	bool pinned; /* the row was found by its known cells, so that CHECK and ROW contain just
	              * that row */
	bool wide;  /* a step's keys cannot tell some rows apart, so that too many rows may be named
	             */
	bool cells; /* a step says which cell each cell comes from: an input column without rows
	             * has no cell in the value */
	bool fills; /* a step that fills blank cells is run before rows are numbered. Columns
	             * that it fills may have values of other rows. */
	bool borrowed; /* a step took values of the column from other rows, so that too few rows may
	                * be named */
};

struct dtx_trace_ask {
	uint32_t output;
	const json_t *columns; /* all columns of the output, as recorded */
	const char *column;
	int64_t row;           /* number of the asked row, from 1; or use `key` */
	const json_t *sources; /* {"input": {"column": true}}: the wanted columns of each input;
	                        * NULL: all */
	const json_t
		*key; /* {"column": "text"}: ask for the rows with these cells; NULL: use `row` */
	const int64_t *bytes; /* per input: its size in bytes; NULL: not known */
	/* What is known about the asked row: {"column": {"text", "type", "differ"}}, where "text"
	 * is its printed cell in the result and "differ" about how many different values the column
	 * has. The plan can then run on only those input rows that can matter, which is much
	 * faster. If it does, out->pinned is set, and the caller must check that it gave exactly
	 * one row. NULL: nothing is known. */
	const json_t *known;
	int64_t nth; /* with `known`: which one of several rows with the same cells, from 1; 0:
	              * there is only one */
	bool only;   /* with `known`: the result has just this row */
	const json_t *types; /* with `known`: {"input": {"column": "type"}} as recorded */
};
/* Makes the traced plan for one row. `bound` is the result of dtx_exec_bind for the plan. The
 * output ROW has a column dtx_row, its number. The caller clears `out`, also after a failure.
 * Codes: no_translation, with the step whose rows cannot be followed. */
DTX_MUSTUSE enum dtx_code dtx_trace_plan(const struct dtx_plan *plan,
                                         const struct dtx_exec_result *bound,
                                         const struct dtx_trace_ask *ask, struct dtx_trace *out,
                                         struct dtx_err *err);
void dtx_trace_clear(struct dtx_trace *t);

/* The traced plan of a whole result, for `--lineage rows` (core/plan/lineage/row_lineage.h). Output
 * 0 of `plan` is the table of the result, to check its hash. Output 1 is the union of all lists of
 * row numbers; its column dtx_b is the index of the list in head.blocks. After those come two
 * outputs for each input that has rows in the result: all its rows with their numbers, and one row
 * with all its columns. */
enum { DTX_TRACE_ROWS_INPUTS = 2 }; /* index of the first output of an input */
struct dtx_trace_rows {
	json_t *plan, *head; /* owned */
	uint32_t input[DTX_PLAN_OUTPUTS];
	uint32_t noutputs;
};
/* Of `ask` it uses output, columns and bytes. The caller clears `out`, also after a failure. Codes:
 * as for dtx_trace_plan. */
DTX_MUSTUSE enum dtx_code dtx_trace_rows(const struct dtx_plan *plan,
                                         const struct dtx_exec_result *bound,
                                         const struct dtx_trace_ask *ask,
                                         struct dtx_trace_rows *out, struct dtx_err *err);
void dtx_trace_rows_clear(struct dtx_trace_rows *r);
/* Rewrites a plan in which a table meets the same rows twice, for example when it is joined with
 * itself. The second use reads a copy of the table whose rows get numbers of their own, so that
 * dtx_trace_plan can follow both. *out is a new reference that the caller owns, or NULL if the plan
 * needs no copies. Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_trace_again(const struct dtx_plan *plan, json_t **out,
                                          struct dtx_err *err);
/* Gives the steps of such a plan the JSON pointers that they have in the original one, so that
 * errors name the place that the user wrote. */
void dtx_trace_again_places(struct dtx_plan *again, const struct dtx_plan *of);
/* Whether the step is such a copy. The plan as written does not have it. */
bool dtx_trace_again_copy(const struct dtx_plan_step *st);
/* The number of a step, from 1, and the name of a table (see dtx_plan_table_name), both as in the
 * plan that the user wrote. */
uint32_t dtx_trace_number_of(const struct dtx_plan *plan, uint32_t step);
const char *dtx_trace_name_of(const struct dtx_plan *plan, int32_t table, char buf[32]);
/* Appends a condition such as "region == 'West' and week == 7" for those cells of `known` that
 * are texts or numbers. False if none. */
bool dtx_trace_equal(const json_t *known, struct dtx_buf *out);
/* Whether a step may take values of this column from other rows without saying which ones. */
bool dtx_trace_borrows(const struct dtx_plan_step *st, const char *column);
/* What the op of a step states about its rows and columns. */
struct dtx_op_facts dtx_trace_facts(const struct dtx_plan_step *st);
/* Whether a step passes the values of a column of its first table on unchanged, under the same
 * name. */
bool dtx_trace_keeps(const struct dtx_plan_step *st, const char *column);
/* Finds the last step that computed a column of an output by a formula, if all steps after it leave
 * the values and rows as they are. Returns -1 if none. *formula is the formula as written;
 * borrowed from the plan. */
int32_t dtx_trace_maker(const struct dtx_plan *plan, uint32_t output, const char *column,
                        const char **formula);

#endif
