/* What the text and the JSON form of an explanation share. Internal to core/plan. */
#ifndef DTX_PLAN_EXPLAIN_EXPLAIN_H
#define DTX_PLAN_EXPLAIN_EXPLAIN_H

#include "core/plan/exec/exec.h"

/* Writes what a step does in words, or its canonical JSON where there are no words for it. */
void dtx_explain_step(const struct dtx_plan_step *st, struct dtx_buf *out);
/* "map", "sink", "whole" or "snippet". */
const char *dtx_explain_kind(const struct dtx_plan_step *st, const struct dtx_exec_step *x);
/* Says where the type of an input's column comes from (declared, guessed ...). */
const char *dtx_explain_evidence(const struct dtx_exec_input *x, const struct dtx_field *f);
extern const char *const dtx_explain_need[];  /* by enum dtx_need */
extern const char *const dtx_explain_phase[]; /* by enum dtx_exec_phase */
/* Calls fn once for each result column that has a formula. */
void dtx_explain_formulas(const struct dtx_exec_result *r,
                          void (*fn)(void *arg, const struct dtx_exec_lineage *l), void *arg);
/* The code that hands the step (or, with step -1, the input) to a snippet already; NULL: none. */
const char *dtx_explain_needs(const struct dtx_plan *plan, const struct dtx_exec_result *r,
                              int32_t step, int32_t input);
/* The pipeline that a step runs in or ends, from 1; 0: none. */
unsigned dtx_explain_pipe(const struct dtx_phys *p, uint32_t step);
/* The input whose reader runs the step; -1: none. */
int32_t dtx_explain_reader(const struct dtx_phys *p, uint32_t step);

#endif
