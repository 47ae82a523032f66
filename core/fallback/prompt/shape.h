/* The shape of raw cells: what identifies a layout, and what a prompt may show of one. */
#ifndef DTX_FALLBACK_PROMPT_SHAPE_H
#define DTX_FALLBACK_PROMPT_SHAPE_H

#include "core/base/text/json.h"
#include "core/data/frame/rawgrid.h"
#include "core/fallback/prompt/disclose.h"

#define DTX_SHAPE_ROWS 16

/* {"merged","names","rows","width"} of the first DTX_SHAPE_ROWS rows, for the fingerprint: classes
 * of cells (t n d b, . for none; cells of text files by their look) without trailing dots, equal
 * neighbours once; merged ranges, cut at the last of these rows; the distinct texts above the first
 * row with a number or date, sorted, digits as 9.  New reference. */
DTX_MUSTUSE enum dtx_code dtx_shape_json(const struct dtx_rawgrid *g, json_t **out,
                                         struct dtx_err *err);

/* The same rows for a prompt, a line of canonical JSON each: classes, merged ranges, and where
 * names stand that are in `known`, which the plan names anyway.  No other text of a cell, whatever
 * the sample policy. */
DTX_MUSTUSE enum dtx_code dtx_shape_disclose(const char *alias, const struct dtx_rawgrid *g,
                                             const char *const *known, size_t nknown,
                                             struct dtx_buf *out, struct dtx_disclosed *count,
                                             struct dtx_err *err);

#endif
