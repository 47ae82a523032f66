/* Makes the columns that say where cells come from, see DTX_CELLS_FROM in core/plan/op.h. */
#ifndef DTX_OPS_KIT_ORIGINS_H
#define DTX_OPS_KIT_ORIGINS_H

#include "core/data/builder.h"
#include "core/plan/op.h"
#include "ops/kit/opkit.h"

struct dtx_origins {
	struct dtx_builder from, of, kind;
};

/* For about `rows` rows.  dtx_origins_put clears it, also after a failure. */
void dtx_origins_init(struct dtx_origins *o, uint32_t rows);
/* Adds a row: the row of the input, from 0 (-1: none), its column (NULL: that of the result), and
 * the kind. */
void dtx_origins_add(struct dtx_origins *o, int64_t row, const char *of, const char *kind);
/* Makes them the last columns of a batch with as many rows; columns without rows are left out.
 * Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_origins_put(struct dtx_origins *o, struct dtx_batch *b,
                                          struct dtx_err *err);

#endif
