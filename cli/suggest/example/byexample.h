/* Plans by example: searches for steps that make a wanted table from a given one. */
#ifndef DTX_CLI_SUGGEST_BYEXAMPLE_H
#define DTX_CLI_SUGGEST_BYEXAMPLE_H

#include "cli/textgrid.h"
#include "core/io/source/source.h"

#define DTX_BYEXAMPLE_FOUND 5
#define DTX_BYEXAMPLE_RUNS  900 /* most plans to try; large tables count as several */

/* Lists reshaping steps that could lead from `have` to `want`, the cheapest first; each way of
 * reshaping has its own quota. `raw`: `have` before it was folded. `second`: another step came
 * before. *out is a new reference to an
 * array of steps. */
DTX_MUSTUSE enum dtx_code dtx_reshape_steps(const struct dtx_textgrid *raw,
                                            const struct dtx_textgrid *have,
                                            const struct dtx_textgrid *want, bool second,
                                            json_t **out, struct dtx_err *err);

/* Tries plans of one or two steps on the input, which other steps may have repaired before. Each
 * plan that makes the example is added to `found`: {"steps":[...],"score","whole","evidence"}; not
 * whole: it makes more rows. bare: the example has no header. *runs counts down. */
DTX_MUSTUSE enum dtx_code dtx_byexample(const struct dtx_textgrid *have,
                                        const struct dtx_textgrid *want, bool bare, bool repaired,
                                        int *runs, json_t *found, struct dtx_err *err);
/* Runs steps on a table. *ok: they fit it. Only out of memory is an error. */
DTX_MUSTUSE enum dtx_code dtx_byexample_steps(const struct dtx_textgrid *have, const json_t *steps,
                                              struct dtx_textgrid *out, bool *ok,
                                              struct dtx_err *err);
/* Runs a plan on `src` without snippets and gets its first table. workers 0: the default. out
 * NULL: the result is discarded. plan NULL: memory is out. */
DTX_MUSTUSE enum dtx_code dtx_byexample_run(const json_t *plan, struct dtx_source *src,
                                            unsigned workers, struct dtx_textgrid *out,
                                            struct dtx_err *err);

#endif
