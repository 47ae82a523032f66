/* What the files of `why-not` share: the row that was asked for, where it is dropped, and the
 * answer.
 *
 * why_not.c parses the question. The plan then runs twice (core/plan/lineage/why_not_plan.h):
 * the first run finds the number of the row, the second counts what each step did with
 * it. */
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
	const struct dtx_plan *plan; /* the plan whose steps are followed; if the run has many
	                              * files, with these as one table */
	uint32_t followed;           /* the input in that plan */
	const char
		*file; /* of the rows of that input, only those of this file are meant; NULL: all */
	struct dtx_together fold;
	int64_t nrows; /* number of rows of the input */
	int64_t line;  /* the line that was asked for; 0: not asked by line */
	json_t *key;   /* {"column": "text"} of the row; NULL: not asked by cells */
	struct dtx_why_not_plan_stages stages;
	struct dtx_why_not_plan follow;
	struct dtx_plan *first, *second; /* the traced plans of both runs */
	bool found;
	uint64_t id; /* of the row, as the reader counts */
	char cell[24];
	uint32_t lost;      /* the first stage that does not have the row; 0: none */
	const json_t *kind; /* the parameters with which that step drops the row for a single
	                     * reason; NULL: not known */
	json_t *first_cell; /* {"column": "text"} of the row; NULL: not known */
	int64_t number;
	json_t *report;
	struct dtx_buf text;
};

/* Parses which row the arguments ask for: sets input and line. Codes: usage. */
DTX_MUSTUSE enum dtx_code dtx_why_not_ask(struct dtx_why_not *w, int argc, char **argv,
                                          struct dtx_err *err);
/* Runs the plan up to where rows are numbered. Sets id, cell and number of the row, or the first
 * stage that does not have it. */
DTX_MUSTUSE enum dtx_code dtx_why_not_find(struct dtx_why_not *w, struct dtx_err *err);
/* The `look` function of the second run (see dtx_why_replay_run): stores in w->report what each
 * step did with the row. `arg` is the struct dtx_why_not. */
DTX_MUSTUSE enum dtx_code dtx_why_not_count(void *arg, const struct dtx_exec_result *r,
                                            struct dtx_err *err);
/* Turns those counts into the answer, in w->report. */
DTX_MUSTUSE enum dtx_code dtx_why_not_report(struct dtx_why_not *w, struct dtx_err *err);

/* Appends the text. `report` has the members:
 *
 * {"label","cell","run","output","verdict","passed":[{"step","op"}],"dropped":[{"step","op",
 * "at","because":[],"with":{}}],"rows":[]} */
void dtx_why_not_print(const json_t *report, struct dtx_buf *out);

#endif
