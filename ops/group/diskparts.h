/* Rows that wait on disk, apart by the hash of their key.
 *
 * When memory is short an operation puts rows there whose key it has no room for, and takes them
 * back at the end, a partition at a time.  Rows of one key are in one partition. */
#ifndef DTX_OPS_GROUP_DISKPARTS_H
#define DTX_OPS_GROUP_DISKPARTS_H

#include "ops/group/hashagg.h"
#include "ops/kit/opkit.h"

#define DTX_DISK_BITS  6u
#define DTX_DISK_PARTS (1u << DTX_DISK_BITS)

/* The rows of a batch that were put, one partition behind the other: those of p are start[p] to
 * start[p + 1].  Their places are one more column. */
struct dtx_disk_batch {
	struct dtx_batch *b;
	uint32_t start[DTX_DISK_PARTS + 1];
};
struct dtx_diskparts {  /* one worker's; zeroed first */
	unsigned shift; /* bits of the hash that told partitions before */
	struct dtx_disk_batch *batch;
	size_t n, cap;
	struct dtx_group_probe probe;
	/* scratch of a batch */
	uint8_t of[DTX_BATCH_ROWS];
	uint16_t row[DTX_BATCH_ROWS];
};
void dtx_diskparts_free(struct dtx_diskparts *d); /* NULL is fine */
/* The rows without a group among the live ones of `in`: those with id DTX_GROUP_NONE.  `key`: its
 * FLAT keys, `g` any groups of their types.  places: of all its rows; NULL: where they are now. */
DTX_MUSTUSE enum dtx_code dtx_diskparts_put(const struct dtx_opctx *ox, struct dtx_diskparts *d,
                                            const struct dtx_groups *g,
                                            struct dtx_column *const *key,
                                            const struct dtx_batch *in, const uint32_t *id,
                                            const int64_t *places, struct dtx_err *err);

/* The rows of a partition in one of the batches. */
struct dtx_disk_piece {
	const struct dtx_batch *b;
	uint32_t from, n;
};
/* Of all that n workers (NULL: none of this one) have put, in order of place; freed by the caller
 * with dtx_mem_free. */
DTX_MUSTUSE enum dtx_code dtx_diskparts_pieces(struct dtx_diskparts *const *d, unsigned n,
                                               unsigned part, struct dtx_disk_piece **pieces,
                                               size_t *npieces, struct dtx_err *err);
/* A new batch of its rows, with their places. */
DTX_MUSTUSE enum dtx_code dtx_disk_piece_read(const struct dtx_disk_piece *piece,
                                              struct dtx_batch **out, struct dtx_err *err);
/* Where each row of such a batch was: its last column, which is behind those of the schema. */
static inline const int64_t *dtx_diskparts_places(const struct dtx_batch *b)
{
	return b->col[b->ncols - 1]->v.i64;
}

#endif
