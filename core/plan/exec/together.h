/* A plan whose inputs are many files, as it was before each file became an input of its own: rows
 * are followed through one table for all of them, and each row's file is known by where it was
 * read (the origin of its batch). */
#ifndef DTX_PLAN_EXEC_TOGETHER_H
#define DTX_PLAN_EXEC_TOGETHER_H

#include "core/plan/exec/exec.h"

/* Borrows from the plan and the result that it was made of, which must outlive it. */
struct dtx_together {
	struct dtx_arena arena;
	struct dtx_plan plan;
	struct dtx_exec_result bound; /* schemas of inputs and steps alone */
	uint32_t *of;                 /* per input of the plan with all files: that of `plan` */
	struct dtx_plan_file **file;  /* per input of `plan`: its files; NULL: it is one input */
	size_t *nfiles;
};

/* Folds what dtx_expand_input made of inputs of several files.  Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_together(const struct dtx_plan *plan,
                                       const struct dtx_exec_result *bound,
                                       struct dtx_together *out, struct dtx_err *err);
/* A plan with the inputs of f->plan reads the same files again. */
DTX_MUSTUSE enum dtx_code dtx_together_spread(const struct dtx_together *f, struct dtx_plan *plan,
                                              struct dtx_errlist *findings, struct dtx_err *err);
void dtx_together_clear(struct dtx_together *f);

#endif
