/* What both forms of an explanation say.  Internal to core/plan. */
#ifndef DTX_PLAN_EXPLAIN_EXPLAIN_H
#define DTX_PLAN_EXPLAIN_EXPLAIN_H

#include "core/plan/exec/exec.h"

/* What a step does, in words; its canonical JSON where nobody can tell. */
void dtx_explain_step(const struct dtx_plan_step *st, struct dtx_buf *out);
/* "map", "sink", "whole", "snippet". */
const char *dtx_explain_kind(const struct dtx_plan_step *st, const struct dtx_exec_step *x);
/* Where the type of an input's column comes from. */
const char *dtx_explain_evidence(const struct dtx_exec_input *x, const struct dtx_field *f);
extern const char *const dtx_explain_need[];  /* by enum dtx_need */
extern const char *const dtx_explain_phase[]; /* by enum dtx_exec_phase */
/* Calls fn for each result column that has a formula, once. */
void dtx_explain_formulas(const struct dtx_exec_result *r,
                          void (*fn)(void *arg, const struct dtx_exec_lineage *l), void *arg);
/* The code that hands the step (or, step -1, the input) to a snippet already; NULL: none. */
const char *dtx_explain_needs(const struct dtx_plan *plan, const struct dtx_exec_result *r,
                              int32_t step, int32_t input);
/* The pipeline that a step ends or streams in, from 1; 0: none. */
unsigned dtx_explain_pipe(const struct dtx_phys *p, uint32_t step);
/* The input whose reader does the step, -1 if none. */
int32_t dtx_explain_reader(const struct dtx_phys *p, uint32_t step);

#endif
