/* Rows told by cells: --key region=West, --key region=West,week=7. */
#ifndef DTX_CLI_WHY_KEYCELLS_H
#define DTX_CLI_WHY_KEYCELLS_H

#include "cli/opt.h"
#include "core/base/text/json.h"

/* {"column": "text"} of all that was given; NULL where nothing was.  schema: [{"name"}]: a comma is
 * the end of a cell where one of these names and '=' are behind it, else a part of it.  Codes:
 * usage.
 */
DTX_MUSTUSE enum dtx_code dtx_keycells(const struct dtx_optlist *given, const json_t *schema,
                                       json_t **cells, struct dtx_err *err);
/* "region = West, week = 7" */
void dtx_keycells_print(const json_t *cells, struct dtx_buf *out);

#endif
