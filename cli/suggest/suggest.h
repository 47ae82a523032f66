/* What a file needs before it is a clean table: findings, each with the plan step or the member of
 * the input that answers it. */
#ifndef DTX_CLI_SUGGEST_SUGGEST_H
#define DTX_CLI_SUGGEST_SUGGEST_H

#include "cli/suggest/profile.h"

struct dtx_suggestions {
	json_t *input; /* members for the input of the plan: object */
	json_t *steps; /* array of steps */
	json_t *found; /* array of {"finding", "step"|"input"|neither}, in the same order */
};
/* From a profile that has been read, what the reader says of itself, and how many sheets there are
 * (0: no workbook). */
DTX_MUSTUSE enum dtx_code dtx_suggest(const struct dtx_profile *p, const json_t *describe,
                                      size_t nsheets, struct dtx_suggestions *out,
                                      struct dtx_err *err);
/* Leaves out steps that fail on the input, as a run of the plan shows; inputs over 64 MiB are not
 * run. `plan` makes the plan of the suggestions as they are: a new reference. */
DTX_MUSTUSE enum dtx_code dtx_suggest_verify(struct dtx_suggestions *s, struct dtx_source *src,
                                             json_t *(*plan)(void *arg), void *arg,
                                             struct dtx_err *err);
void dtx_suggestions_clear(struct dtx_suggestions *s);

#endif
