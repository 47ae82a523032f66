/* What a file needs to become a clean table, apart from a reshape: findings, each with the plan
 * step or input member that solves it. */
#ifndef DTX_CLI_SUGGEST_SUGGEST_H
#define DTX_CLI_SUGGEST_SUGGEST_H

#include "cli/suggest/profile.h"

struct dtx_suggestions {
	json_t *input;   /* an object with members for the plan's input */
	json_t *steps;   /* array of steps */
	json_t *reading; /* of `input`: how the file was read, without cleaning */
	json_t *reshape; /* steps of a proposal that follow `steps`, or NULL */
	json_t *found;   /* array of {"finding", "step"|"input"|neither}, in the same order */
};
/* Makes suggestions from a complete profile, the description of the reader, and the number of
 * sheets (0: not a workbook). */
DTX_MUSTUSE enum dtx_code dtx_suggest(const struct dtx_profile *p, const json_t *describe,
                                      size_t nsheets, struct dtx_suggestions *out,
                                      struct dtx_err *err);
/* Removes steps that fail on the input, by running the plan. Inputs over 64 MiB are not run.
 * `plan` makes the plan with the current suggestions, as a new reference. */
DTX_MUSTUSE enum dtx_code dtx_suggest_verify(struct dtx_suggestions *s, struct dtx_source *src,
                                             json_t *(*plan)(void *arg), void *arg,
                                             struct dtx_err *err);
void dtx_suggestions_clear(struct dtx_suggestions *s);

#endif
