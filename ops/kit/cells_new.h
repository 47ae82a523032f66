/* Cells that an operation makes for a table with a new layout (ops/kit/relayout).  They are written
 * so that the column reads them by its own rules. */
#ifndef DTX_OPS_KIT_CELLS_NEW_H
#define DTX_OPS_KIT_CELLS_NEW_H

#include "ops/kit/relayout.h"

/* A scalar of the plan as a cell of output column c.  A NULL value gives null. */
DTX_MUSTUSE enum dtx_code dtx_made_value(struct dtx_relayout *m, uint32_t c, const json_t *value,
                                         struct dtx_from *out, struct dtx_err *err);
/* The rows of a FLAT column as cells of output column c: cell[0..made->len). */
DTX_MUSTUSE enum dtx_code dtx_made_cells(struct dtx_relayout *m, uint32_t c,
                                         const struct dtx_column *made, struct dtx_from *cell,
                                         struct dtx_err *err);

#endif
