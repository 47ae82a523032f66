/* Columns in a spill file, and arrays there that are filled step by step. */
#ifndef DTX_DATA_SPILL_SPILL_COLUMN_H
#define DTX_DATA_SPILL_SPILL_COLUMN_H

#include <sys/types.h>

#include "core/data/spill/spill.h"

/* A reserved range of the file, which is filled from its start.  The caller that reserves it
 * releases the owner. */
struct dtx_piece {
	int fd;
	const char *base; /* address where it is mapped */
	off_t at;
	size_t used, size;
	struct dtx_owner *owner;
};
DTX_MUSTUSE enum dtx_code dtx_spill_reserve(struct dtx_spill *s, size_t n, struct dtx_piece *out,
                                            struct dtx_err *err);
/* Appends n bytes; they are readable at *at. */
DTX_MUSTUSE enum dtx_code dtx_piece_add(struct dtx_piece *p, const void *bytes, size_t n,
                                        const void **at, struct dtx_err *err);
/* Reads the piece into memory beside the caller's work, in one request instead of one a page. */
void dtx_piece_soon(const struct dtx_piece *p);
/* Gives the space of the piece back to the disk at once, also while other pieces of its window are
 * in use, and releases the owner; nothing in the piece may be read any more. */
void dtx_piece_free(struct dtx_piece *p);
/* A copy of the column in the file, with its typed twin.  If its form stays in memory it is a new
 * reference to c. */
DTX_MUSTUSE enum dtx_code dtx_spill_column(struct dtx_spill *s, struct dtx_column *c,
                                           struct dtx_column **out, struct dtx_spill_count *count,
                                           struct dtx_err *err);

#endif
