/* The writing end of a pipeline: format and hash in the workers, put in order. */
#ifndef DTX_PLAN_EXEC_OUTPUTS_H
#define DTX_PLAN_EXEC_OUTPUTS_H

#include "core/plan/pipe/graph.h"

/* The error is an output's: no step is to blame, no other reading of an input helps. */
bool dtx_outputs_blamed(const struct dtx_err *err);
/* Class of output i: its format, else its path's suffix.  NULL: no such format. */
const struct dtx_writer_class *dtx_outputs_class(const struct dtx_plan_output *o);
/* That there is a writer for each output.  Codes: unsupported_format. */
DTX_MUSTUSE enum dtx_code dtx_outputs_check(const struct dtx_plan *plan, struct dtx_err *err);
/* Delimiter of the first output that is delimited text; 0: none is.  Its cells are copied as they
 * stand in an input, also where they meet cells of another dialect; outputs of another delimiter
 * write theirs anew, or their bytes would depend on which rows share a batch. */
char dtx_outputs_home(const struct dtx_plan *plan);
/* Streams output i's table to its place; fills `out`.  tap: the plan's expect, or NULL. */
DTX_MUSTUSE enum dtx_code dtx_outputs_write(struct dtx_graph *g, uint32_t i, struct dtx_checks *tap,
                                            struct dtx_exec_result *result,
                                            struct dtx_exec_output *out, struct dtx_err *err);

#endif
