/* Parses rows that are given by their cells: --key region=West, --key region=West,week=7. */
#ifndef DTX_CLI_WHY_KEYCELLS_H
#define DTX_CLI_WHY_KEYCELLS_H

#include "cli/opt.h"
#include "core/base/text/json.h"

/* Makes {"column": "text"} of all --key options; NULL if none. The caller owns it.
 * `schema` is [{"name"}]: a comma ends a cell only if a column name of the schema and '=' follow
 * it; otherwise it belongs to the cell's text. Codes: usage. */
DTX_MUSTUSE enum dtx_code dtx_keycells(const struct dtx_optlist *given, const json_t *schema,
                                       json_t **cells, struct dtx_err *err);
/* Appends "region = West, week = 7". */
void dtx_keycells_print(const json_t *cells, struct dtx_buf *out);

#endif
