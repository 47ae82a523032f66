/* Columns, and arrays that are filled part by part, in a spill file. */
#ifndef DTX_DATA_SPILL_COLUMN_H
#define DTX_DATA_SPILL_COLUMN_H

#include <sys/types.h>

#include "core/data/spill.h"

/* A reserved range of the file, filled from its start; whoever reserves unrefs the owner. */
struct dtx_piece {
	int fd;
	const char *base; /* where it is mapped */
	off_t at;
	size_t used, size;
	struct dtx_owner *owner;
};
DTX_MUSTUSE enum dtx_code dtx_spill_reserve(struct dtx_spill *s, size_t n, struct dtx_piece *out,
                                            struct dtx_err *err);
/* Adds n bytes; *at is where they are read. */
DTX_MUSTUSE enum dtx_code dtx_piece_add(struct dtx_piece *p, const void *bytes, size_t n,
                                        const void **at, struct dtx_err *err);
/* The column in the file with its twin, or a new reference where its form stays in memory. */
DTX_MUSTUSE enum dtx_code dtx_spill_column(struct dtx_spill *s, struct dtx_column *c,
                                           struct dtx_column **out, struct dtx_spill_count *count,
                                           struct dtx_err *err);

#endif
