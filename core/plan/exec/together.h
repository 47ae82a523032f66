/* The plan before each of several files of one input became an input of its own.
 *
 * A glob as an input is expanded into one input per file and a union step. Questions about rows
 * (`why`) are asked of one table for all files; which file a row is from shows in the origin of its
 * batch. */
#ifndef DTX_PLAN_EXEC_TOGETHER_H
#define DTX_PLAN_EXEC_TOGETHER_H

#include "core/plan/exec/exec.h"

/* Borrows from the plan and the result that it was made of; both must outlive it. */
struct dtx_together {
	struct dtx_arena arena;
	struct dtx_plan plan;
	struct dtx_exec_result bound; /* schemas of inputs and steps only */
	uint32_t *of; /* for each input of the expanded plan: its number in `plan` */
	/* for each input of `plan`: its files; NULL: it is a single input */
	struct dtx_plan_file **file;
	size_t *nfiles;
};

/* Undoes dtx_expand_input. Clear *out also after a failure. Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_together(const struct dtx_plan *plan,
                                       const struct dtx_exec_result *bound,
                                       struct dtx_together *out, struct dtx_err *err);
/* Expands the inputs of a plan that has the inputs of f->plan, so that it reads the same files. */
DTX_MUSTUSE enum dtx_code dtx_together_spread(const struct dtx_together *f, struct dtx_plan *plan,
                                              struct dtx_errlist *findings, struct dtx_err *err);
void dtx_together_clear(struct dtx_together *f);

#endif
