/* Finds the cell that a filled cell has its value from. */
#ifndef DTX_CLI_WHY_WHY_FILL_H
#define DTX_CLI_WHY_WHY_FILL_H

#include "cli/why/why_rows.h"

/* Replaces each row whose cell of `column` was blank and was filled from above or below by the row
 * that the value came from. *told: all of them were found and `rows` was changed; otherwise `rows`
 * is the same as before. Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_why_fill(struct dtx_why *w, const char *alias, const char *column,
                                       struct dtx_why_rows *rows, bool *told, struct dtx_err *err);

#endif
