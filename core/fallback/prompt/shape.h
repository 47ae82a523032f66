/* The shape of raw cells, for an input that no reader can turn into a table: what identifies a
 * layout, and what a prompt may show of it. */
#ifndef DTX_FALLBACK_PROMPT_SHAPE_H
#define DTX_FALLBACK_PROMPT_SHAPE_H

#include "core/base/text/json.h"
#include "core/data/frame/rawgrid.h"
#include "core/fallback/prompt/disclose.h"

#define DTX_SHAPE_ROWS 16

/* Describes the first DTX_SHAPE_ROWS rows for the fingerprint as
 * {"merged","names","rows","width"}. `rows` has the class of each cell (t n d b, . for an empty
 * one; cells of text files by their look) without dots at the end, and equal neighbours once.
 * `merged` has the merged ranges, cut at the last of these rows. `names` has the distinct texts
 * above the first row with a number or date, sorted, with digits as 9. *out is a new reference. */
DTX_MUSTUSE enum dtx_code dtx_shape_json(const struct dtx_rawgrid *g, json_t **out,
                                         struct dtx_err *err);

/* Describes the same rows for a prompt, one line of canonical JSON for each: classes, merged
 * ranges, and where names from `known` are, which the plan names anyway. It shows no other text
 * of a cell, whatever the sample policy. */
DTX_MUSTUSE enum dtx_code dtx_shape_disclose(const char *alias, const struct dtx_rawgrid *g,
                                             const char *const *known, size_t nknown,
                                             struct dtx_buf *out, struct dtx_disclosed *count,
                                             struct dtx_err *err);

#endif
