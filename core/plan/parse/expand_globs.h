/* An input of several files becomes one input per file and a step that puts them one below the
 * other, in front of all other steps. */
#ifndef DTX_PLAN_PARSE_EXPAND_GLOBS_H
#define DTX_PLAN_PARSE_EXPAND_GLOBS_H

#include "core/plan/plan.h"

#define DTX_EXPAND_FILES 100000 /* of one input */

/* The files that input i names: patterns looked up, sorted by bytes.  In the plan's arena.
 * input_not_found: a pattern without a match; bad_param_value: a file twice, or too many. */
DTX_MUSTUSE enum dtx_code dtx_expand_files(struct dtx_plan *p, uint32_t i,
                                           struct dtx_plan_file **file, size_t *n,
                                           struct dtx_err *err);
/* Input i reads these files (at least one).  Table ids and steps behind it move; the canonical form
 * and the id of the plan stay. */
DTX_MUSTUSE enum dtx_code dtx_expand_input(struct dtx_plan *p, uint32_t i,
                                           const struct dtx_plan_file *file, size_t n,
                                           struct dtx_errlist *findings, struct dtx_err *err);
/* Name of file k (from 0) of an input: as of the plan's tables, and none that a plan has. */
void dtx_expand_name(char *buf, size_t size, const char *input, size_t k);

#endif
