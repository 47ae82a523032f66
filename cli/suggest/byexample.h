/* Plans by example: steps that make the wanted table of a given one. */
#ifndef DTX_CLI_SUGGEST_BYEXAMPLE_H
#define DTX_CLI_SUGGEST_BYEXAMPLE_H

#include "cli/textgrid.h"
#include "core/io/source/source.h"

#define DTX_BYEXAMPLE_FOUND 5
#define DTX_BYEXAMPLE_RUNS  900 /* plans that are tried at most; large tables count more */

/* Reshaping steps that could lead from `have` towards `want`, the likeliest first; at most `max`.
 * second: another step came before. New reference to an array of steps. */
DTX_MUSTUSE enum dtx_code dtx_reshape_steps(const struct dtx_textgrid *have,
                                            const struct dtx_textgrid *want, bool second,
                                            size_t max, json_t **out, struct dtx_err *err);

/* One step or two, each tried on the input, which other steps may have repaired already; what
 * equals the example goes to `found`:
 * {"steps":[...],"score","evidence"}.  *runs counts down. */
DTX_MUSTUSE enum dtx_code dtx_byexample(const struct dtx_textgrid *have,
                                        const struct dtx_textgrid *want, bool repaired, int *runs,
                                        json_t *found, struct dtx_err *err);
/* The first table that a plan makes of `src`; no snippet.  workers 0: as many as usual.  out NULL:
 * it is only run. */
DTX_MUSTUSE enum dtx_code dtx_byexample_run(const char *plan, struct dtx_source *src,
                                            unsigned workers, struct dtx_textgrid *out,
                                            struct dtx_err *err);

#endif
