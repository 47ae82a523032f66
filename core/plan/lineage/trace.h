/* Which source rows went into one row of a result: the plan again, with row numbers carried along.
 *
 * Every input gets a column of row numbers, which the steps pass on as they do any other.  Where a
 * step makes rows of several (group_by, pivot_wider) they end and its results are numbered anew;
 * from the row that is asked for, such a step is walked back by its keys.  The traced plan also
 * gives the whole output, so that its hash can be held to the recorded one: a trace that changed
 * the result is none. */
#ifndef DTX_PLAN_LINEAGE_TRACE_H
#define DTX_PLAN_LINEAGE_TRACE_H

#include "core/base/text/json.h"
#include "core/plan/exec/exec.h"

enum dtx_trace_part {
	DTX_TRACE_CHECK,      /* the output's table, without row numbers */
	DTX_TRACE_ROW,        /* the row that is asked for */
	DTX_TRACE_TERMS,      /* the same row where its column was computed: what the formula saw */
	DTX_TRACE_AGGREGATES, /* its group's aggregates, one after the other: columns dtx_a0 .. */
	DTX_TRACE_TAKEN_BY,   /* values that its aggregate took: dtx_a0, few and one more */
	DTX_TRACE_INPUT,      /* rows of an input that went into it */
	DTX_TRACE_UNFILLED /* all rows of an input, before a step filled blank cells of `direct` */
};
struct dtx_trace_output {
	enum dtx_trace_part part;
	uint32_t input;
	/* INPUT: {"column": true}: whose cells are in the value, "*": any; NULL: none, the rows
	 * decided that the row is there.  Of the trace. */
	json_t *direct;
	const json_t *fill; /* UNFILLED: parameters of the step; the plan's */
};
enum { DTX_TRACE_TAKEN = 12 };
struct dtx_trace {
	json_t *plan; /* inputs as in the plan it was made from, by name alone; owned */
	struct dtx_trace_output output[DTX_PLAN_OUTPUTS];
	uint32_t noutputs;
	const char *grouped; /* of AGGREGATES and TAKEN_BY: the formula; the plan's; NULL: none */
	bool pinned; /* the row is the one with the known cells: CHECK and ROW are that row alone */
	bool wide;   /* a step gave more rows than its keys can tell apart: too much may be named */
	bool borrowed; /* a step gave the column values of other rows: too little may be named */
};

struct dtx_trace_ask {
	uint32_t output;
	const json_t *columns; /* of the output, as recorded */
	const char *column;
	int64_t row;           /* from 1; or */
	const json_t *sources; /* {"input": {"column": true}}: what is wanted of them; NULL: all */
	const json_t *key;     /* {"column": "text"}: the rows with these cells; NULL */
	const int64_t *bytes;  /* per input: how large it is; NULL: not known */
	/* {"column": {"text", "type", "differ"}}: what the row has in the result, as printed, and
	 * about how many values the column has; with it the plan runs on those rows alone that can
	 * have to do with it, where out->pinned says so: then it must give one row.  Else NULL. */
	const json_t *known;
	int64_t nth;         /* with known: of several rows with these cells this one, from 1; 0 */
	bool only;           /* with known: the result has this row alone */
	const json_t *types; /* with known: {"input": {"column": "type"}} as recorded */
};
/* `bound`: dtx_exec_bind of the plan.  The part ROW has a column dtx_row.  Codes: no_translation
 * with the step whose rows cannot be followed. */
DTX_MUSTUSE enum dtx_code dtx_trace_plan(const struct dtx_plan *plan,
                                         const struct dtx_exec_result *bound,
                                         const struct dtx_trace_ask *ask, struct dtx_trace *out,
                                         struct dtx_err *err);
void dtx_trace_clear(struct dtx_trace *t);

/* The row numbers of a whole result, to be kept (core/plan/lineage/row_lineage.h): output 0 of
 * `plan` is the result's table, for its hash, 1 all lists of numbers, one below the other, in the
 * order of head.blocks as column dtx_b says; behind them two for each input that has rows in it:
 * its rows, with their number, and one row with all columns. */
enum { DTX_TRACE_ROWS_INPUTS = 2 }; /* the first of those */
struct dtx_trace_rows {
	json_t *plan, *head; /* owned */
	uint32_t input[DTX_PLAN_OUTPUTS];
	uint32_t noutputs;
};
/* ask: output, columns and bytes.  Codes: as of dtx_trace_plan. */
DTX_MUSTUSE enum dtx_code dtx_trace_rows(const struct dtx_plan *plan,
                                         const struct dtx_exec_result *bound,
                                         const struct dtx_trace_ask *ask,
                                         struct dtx_trace_rows *out, struct dtx_err *err);
void dtx_trace_rows_clear(struct dtx_trace_rows *r);
/* The plan with copies of tables that come to the same rows twice (a table joined twice, or with
 * itself), so that dtx_trace_plan can follow both; *out stays NULL where there are none.  New: the
 * caller's. */
DTX_MUSTUSE enum dtx_code dtx_trace_again(const struct dtx_plan *plan, json_t **out,
                                          struct dtx_err *err);
/* The steps of such a plan have the pointers of the one it was made from. */
void dtx_trace_again_places(struct dtx_plan *again, const struct dtx_plan *of);
/* Whether the step is such a copy, which the plan as it was written does not have. */
bool dtx_trace_again_copy(const struct dtx_plan_step *st);
/* Number of a step, from 1, and name of a table (as of dtx_plan_table_name) in the plan as it was
 * written. */
uint32_t dtx_trace_number_of(const struct dtx_plan *plan, uint32_t step);
const char *dtx_trace_name_of(const struct dtx_plan *plan, int32_t table, char buf[32]);
/* A name (`) or a text (') as formulas have it. */
void dtx_trace_quoted(const char *text, char quote, struct dtx_buf *out);
/* "`region` == 'West' and `week` == 7" of the cells of `known` that are texts and whole numbers;
 * false: there are none. */
bool dtx_trace_equal(const json_t *known, struct dtx_buf *out);
/* Whether a step may make values of this column of other rows, without telling which. */
bool dtx_trace_borrows(const struct dtx_plan_step *st, const char *column);
/* What the op of a step says of its rows and columns. */
struct dtx_op_facts dtx_trace_facts(const struct dtx_plan_step *st);
/* Whether a step leaves the values of a column of its (first) table alone, under its name. */
bool dtx_trace_keeps(const struct dtx_plan_step *st, const char *column);
/* The step that computed a column of an output last, when those behind it leave its values alone
 * and one row is one row; -1: none.  *formula as written. */
int32_t dtx_trace_maker(const struct dtx_plan *plan, uint32_t output, const char *column,
                        const char **formula);

#endif
