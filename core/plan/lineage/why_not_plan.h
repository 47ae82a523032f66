/* What became of rows of an input, from step to step: a traced plan that keeps, beside every table,
 * the rows that came from them. */
#ifndef DTX_PLAN_LINEAGE_WHY_NOT_PLAN_H
#define DTX_PLAN_LINEAGE_WHY_NOT_PLAN_H

#include "core/base/text/json.h"
#include "core/plan/exec/exec.h"

/* First pass: where the rows of an input are before and behind the steps that judge whole rows and
 * so come before their numbering.  Output i is stage i: the input as read, then after step[i];
 * the last one has the column dtx_r<input>, which numbers its rows. */
struct dtx_why_not_plan_stages {
	json_t *plan; /* owned */
	uint32_t step[DTX_PLAN_OUTPUTS];
	uint32_t n;
	/* Outputs n .. n + nkinds - 1 have what step kind_step[k] leaves when it drops the rows of
	 * one kind alone, or (kind NULL) those of its condition; kind_only[k]: its parameters then.
	 */
	uint32_t kind_step[DTX_PLAN_OUTPUTS], nkinds;
	json_t *kind_only[DTX_PLAN_OUTPUTS]; /* owned */
};
void dtx_why_not_plan_stages_clear(struct dtx_why_not_plan_stages *s);
/* columns: of the input, which the first stage has; NULL: its first.  Codes: no_translation. */
DTX_MUSTUSE enum dtx_code
dtx_why_not_plan_stages(const struct dtx_plan *plan, const struct dtx_exec_result *bound,
                        uint32_t input, uint32_t output, const json_t *columns,
                        struct dtx_why_not_plan_stages *out, struct dtx_err *err);

/* Second pass: rows of one table, a row for each followed row before (dtx_side is its table's
 * place in the step) and behind (DTX_WHY_NOT_PLAN_BEHIND) each step dtx_step, and in the result
 * (step nsteps; dtx_v0 is its number; DTX_WHY_NOT_PLAN_THROUGH: of rows that groups went into which
 * the followed row is in, where the table has also rows of its own). DTX_WHY_NOT_PLAN_MEETS: rows
 * of the first table that a followed row of the second one of a semi or anti join meets: it goes no
 * further itself.  say[step][side]: {"conditions": [text of dtx_c0 ..], "columns": [name of dtx_v0
 * ..], "with": name of the table on the other side}. */
enum {
	DTX_WHY_NOT_PLAN_TERMS = 8,
	DTX_WHY_NOT_PLAN_BEHIND = -1,
	DTX_WHY_NOT_PLAN_THROUGH = -2,
	DTX_WHY_NOT_PLAN_MEETS = -3
};
struct dtx_why_not_plan {
	json_t *plan, *say; /* owned */
	bool reaches;       /* the input leads to the output at all */
};
DTX_MUSTUSE enum dtx_code dtx_why_not_plan_build(const struct dtx_plan *plan,
                                                 const struct dtx_exec_result *bound,
                                                 uint32_t input, const int64_t *row, size_t nrows,
                                                 uint32_t output, struct dtx_why_not_plan *out,
                                                 struct dtx_err *err);
void dtx_why_not_plan_clear(struct dtx_why_not_plan *f);
/* leads: per table, all false; set where the output is made of it. */
/* Whether rows of the step's second table only decide which of the first stay. */
bool dtx_why_not_plan_decides(const struct dtx_plan_step *st);
void dtx_why_not_plan_leads(const struct dtx_plan *plan, uint32_t output, bool *leads);

#endif
