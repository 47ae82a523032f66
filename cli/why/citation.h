/* Writes one line for a report that says where a column came from. */
#ifndef DTX_CLI_WHY_CITATION_H
#define DTX_CLI_WHY_CITATION_H

#include "core/base/err.h"
#include "core/base/text/json.h"

/* Appends, for example:
 *
 * "utilization = sum(hours) / ..., by region; from input.csv (sha256 ab12c07e); dtx run 70ecc9a9,
 * 2026-11-21 23:40:12Z"
 *
 * Codes: usage if the result has no such column. */
DTX_MUSTUSE enum dtx_code dtx_citation(const json_t *record, const char *column,
                                       struct dtx_buf *out, struct dtx_err *err);

#endif
