/* Reads the asked row from the file of the result, if that file has not changed. */
#ifndef DTX_CLI_WHY_WHY_KNOWN_H
#define DTX_CLI_WHY_WHY_KNOWN_H

#include "cli/why/why.h"

/* The cells of the row that have a text, as {"column": {"text", "type", "differ"}} (see
 * core/plan/lineage/trace.h). Sets *row to its number, and *nth to which of the rows with the same
 * cells it is (`nth` NULL: not wanted). NULL if `path` is not the file as the run wrote it, is not
 * a plain text file, or does not have exactly one such row. The caller owns the result. */
json_t *dtx_why_known(const struct dtx_why *w, const char *path, int64_t *row, int64_t *nth);
/* {"input": {"column": "type"}} as recorded. The caller owns it. */
json_t *dtx_why_types(const struct dtx_why *w);

#endif
