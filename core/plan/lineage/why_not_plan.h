/* Makes the plans that answer `why-not`: what happened to given rows of an input, step by step.
 *
 * The original plan is rewritten so that rows carry numbers (see trace.h). For every table the new
 * plan also has the subset that came from the given rows, the "followed" rows. Two runs are needed:
 * the first finds the numbers of the rows, the second follows them. */
#ifndef DTX_PLAN_LINEAGE_WHY_NOT_PLAN_H
#define DTX_PLAN_LINEAGE_WHY_NOT_PLAN_H

#include "core/base/text/json.h"
#include "core/plan/exec/exec.h"

/* The first run. Some steps judge rows as they were read (they skip blank rows, for example). They
 * run before rows are numbered, so a row that they drop never gets a number. These stages show
 * where the rows of an input are before and after each of those steps. Output i of the plan is
 * stage i: stage 0 is the input as read, the others are what is left after step[i]. The last stage
 * also has the column dtx_r<input>, the row number. */
struct dtx_why_not_plan_stages {
	json_t *plan; /* owned */
	uint32_t step[DTX_PLAN_OUTPUTS];
	uint32_t n;
	/* A step may drop rows of several kinds. To find out which kind a dropped row was taken
	 * for, outputs n .. n + nkinds - 1 are the result of step kind_step[k] when it drops only
	 * one kind of row, or (kind NULL) only the rows that meet its condition. kind_only[k] has
	 * the parameters of that step. */
	uint32_t kind_step[DTX_PLAN_OUTPUTS], nkinds;
	json_t *kind_only[DTX_PLAN_OUTPUTS]; /* owned */
};
void dtx_why_not_plan_stages_clear(struct dtx_why_not_plan_stages *s);
/* `columns`: the columns of the input that the first stage keeps; NULL keeps only its first column.
 * The caller clears `out`. Codes: no_translation. */
DTX_MUSTUSE enum dtx_code
dtx_why_not_plan_stages(const struct dtx_plan *plan, const struct dtx_exec_result *bound,
                        uint32_t input, uint32_t output, const json_t *columns,
                        struct dtx_why_not_plan_stages *out, struct dtx_err *err);

/* The second run. Its one output has a row for each followed row at each place of the plan. Column
 * dtx_step is the step. Column dtx_side is the index of the table among the inputs of the step, for
 * a row that is about to enter it, or one of these values:
 *
 * AFTER: the row is in the result of the step. For step nsteps it is in the result of the plan,
 * and dtx_v0 is its number there.
 *
 * THROUGH: a row of the plan's result into which a group with the followed row went. Listed only if
 * the followed row also has result rows of its own.
 *
 * MEETS: a row of the first table of a semi or anti join that matches a followed row of the second
 * table. The followed row itself goes no further.
 *
 * say[step][side] explains the other columns: {"conditions": [text of dtx_c0 ..], "columns": [name
 * of dtx_v0 ..], "with": name of the table on the other side}. */
enum {
	DTX_WHY_NOT_PLAN_TERMS = 8,
	DTX_WHY_NOT_PLAN_AFTER = -1,
	DTX_WHY_NOT_PLAN_THROUGH = -2,
	DTX_WHY_NOT_PLAN_MEETS = -3
};
struct dtx_why_not_plan {
	json_t *plan, *say; /* owned */
	bool reaches;       /* whether the output depends on the input at all */
};
DTX_MUSTUSE enum dtx_code dtx_why_not_plan_build(const struct dtx_plan *plan,
                                                 const struct dtx_exec_result *bound,
                                                 uint32_t input, const int64_t *row, size_t nrows,
                                                 uint32_t output, struct dtx_why_not_plan *out,
                                                 struct dtx_err *err);
void dtx_why_not_plan_clear(struct dtx_why_not_plan *f);
/* Whether rows of the step's second table only decide which rows of the first table stay, as in a
 * semi or anti join. */
/* Sets leads[table] for each table that `output` is computed from. The caller passes an array with
 * one element per table, all false. */
bool dtx_why_not_plan_decides(const struct dtx_plan_step *st);
void dtx_why_not_plan_leads(const struct dtx_plan *plan, uint32_t output, bool *leads);

#endif
