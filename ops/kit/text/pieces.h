/* Text columns that are made of pieces of another column: what split_column and extract share. */
#ifndef DTX_OPS_KIT_TEXT_PIECES_H
#define DTX_OPS_KIT_TEXT_PIECES_H

#include "ops/kit/opkit.h"

struct dtx_pieces {
	int32_t col;           /* of the input */
	uint32_t first, n;     /* the new columns */
	struct dtx_colmap map; /* of the other columns */
};
/* Binds new text columns `name` in place of column `col`, or after it if `keep` is set. */
DTX_MUSTUSE enum dtx_code dtx_pieces_bind(struct dtx_bind *b, const char *col,
                                          const char *const *name, uint32_t n, bool keep,
                                          struct dtx_pieces *p, struct dtx_err *err);
/* Sets piece[0..n) to views of `text`; ptr NULL: null.  A failure names the value of the row. */
typedef enum dtx_code dtx_pieces_fn(void *arg, struct dtx_str text, struct dtx_str *piece,
                                    struct dtx_err *err);
/* Makes the new columns of a batch.  A null cell gives nulls.  Emits nothing. */
DTX_MUSTUSE enum dtx_code dtx_pieces_batch(const struct dtx_opctx *ox, const struct dtx_pieces *p,
                                           struct dtx_batch *b, dtx_pieces_fn *fn, void *arg,
                                           struct dtx_err *err);

#endif
