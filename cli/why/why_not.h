/* The parts of `why-not`: the row that was asked for, where it is lost, and the answer. */
#ifndef DTX_CLI_WHY_WHY_NOT_H
#define DTX_CLI_WHY_WHY_NOT_H

#include "cli/opt.h"
#include "cli/why/why_replay.h"
#include "core/plan/lineage/why_not_plan.h"

struct dtx_why_not_args {
	const char *input;
	int64_t row, line;
	struct dtx_optlist key;
	bool no_values, json, again;
};

struct dtx_why_not {
	const struct dtx_why_not_args *args;
	struct dtx_why_replay x;
	uint32_t input;
	const struct dtx_plan *plan; /* whose steps are followed; of many files as one table */
	uint32_t followed;           /* the input there */
	const char *file;            /* whose rows of it are the input's; NULL: all */
	struct dtx_together fold;
	int64_t nrows; /* of the input */
	int64_t line;  /* asked by place; 0: not */
	json_t *key;   /* {"column": "text"} of the row; NULL: not asked by cells */
	struct dtx_why_not_plan_stages stages;
	struct dtx_why_not_plan follow;
	struct dtx_plan *first, *second; /* traced plans */
	bool found;
	uint64_t id; /* of the row, as the reader counts */
	char cell[24];
	uint32_t lost;      /* stage that has the row no more; 0: none */
	const json_t *kind; /* parameters with which that step drops it for one reason; NULL */
	json_t *first_cell; /* {"column": "text"} of the row; NULL */
	int64_t number;
	json_t *report;
	struct dtx_buf text;
};

/* Which row the words ask for: sets input and line.  Codes: usage. */
DTX_MUSTUSE enum dtx_code dtx_why_not_ask(struct dtx_why_not *w, int argc, char **argv,
                                          struct dtx_err *err);
/* Runs the plan up to where rows are numbered: sets id, cell and number of the row, or the stage
 * that has it no more. */
DTX_MUSTUSE enum dtx_code dtx_why_not_find(struct dtx_why_not *w, struct dtx_err *err);
/* Text of a cell, valid until the next call; empty where there is no such column. */
const char *dtx_why_not_cell(struct dtx_why_not *w, const struct dtx_table *t,
                             const struct dtx_batch *b, uint32_t row, const char *column);
/* Look of the second pass (of dtx_why_replay_run): what each step did with the row, in w->report.
 * arg: the struct dtx_why_not. */
DTX_MUSTUSE enum dtx_code dtx_why_not_count(void *arg, const struct dtx_exec_result *r,
                                            struct dtx_err *err);
/* What the op of a step says when it drops a row; say: of dtx_why_not_plan. */
void dtx_why_not_reason(const struct dtx_why_not *w, uint32_t step, const json_t *say,
                        json_t *because);
/* Rows of the result that are not among `own`; takes rows. */
json_t *dtx_why_not_others(json_t *rows, const json_t *own);
/* Makes the answer of those counts. */
DTX_MUSTUSE enum dtx_code dtx_why_not_report(struct dtx_why_not *w, struct dtx_err *err);

#endif
