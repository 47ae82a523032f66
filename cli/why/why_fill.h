/* Which cell a filled cell has its value from. */
#ifndef DTX_CLI_WHY_WHY_FILL_H
#define DTX_CLI_WHY_WHY_FILL_H

#include "cli/why/why_rows.h"

/* Puts in place of each row whose cell of `column` was blank, and was filled from above or below,
 * the row that it was filled from.  *told: all of them were found, and `rows` has them; else it is
 * as it was.  Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_why_fill(struct dtx_why *w, const char *alias, const char *column,
                                       struct dtx_why_rows *rows, bool *told, struct dtx_err *err);

#endif
