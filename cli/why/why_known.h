/* The asked row as the unchanged file of the result has it. */
#ifndef DTX_CLI_WHY_WHY_KNOWN_H
#define DTX_CLI_WHY_WHY_KNOWN_H

#include "cli/why/why.h"

/* {"column": {"text", "type", "differ"}} (core/plan/lineage/trace.h) of the cells that have a text,
 * *row and *nth (NULL: not asked), which of the rows with these cells it is; NULL: the file `path`
 * is not at hand as it was written, is no plain text file, or has not one such row.  The caller's.
 */
json_t *dtx_why_known(const struct dtx_why *w, const char *path, int64_t *row, int64_t *nth);
/* {"input": {"column": "type"}} as recorded; the caller's. */
json_t *dtx_why_types(const struct dtx_why *w);

#endif
