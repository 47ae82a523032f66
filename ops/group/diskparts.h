/* Rows that wait on disk, partitioned by the hash of their key.
 *
 * When memory is short, an operation writes rows there whose keys it has no room for.  At the end
 * it reads them back one partition at a time.  All rows with the same key are in the same
 * partition, so a partition can be finished without the others. */
#ifndef DTX_OPS_GROUP_DISKPARTS_H
#define DTX_OPS_GROUP_DISKPARTS_H

#include "ops/group/hashagg.h"
#include "ops/kit/opkit.h"

#define DTX_DISK_BITS  6u
#define DTX_DISK_PARTS (1u << DTX_DISK_BITS)

/* The rows of one batch that were written, sorted by partition: those of p are start[p] to start[p
 * + 1].  Their places are an additional column. */
struct dtx_disk_batch {
	struct dtx_batch *b;
	uint32_t start[DTX_DISK_PARTS + 1];
};
struct dtx_diskparts { /* of one worker; must be zeroed first */
	struct dtx_disk_batch *batch;
	size_t n, cap;
	struct dtx_group_probe probe;
	/* scratch memory for one batch */
	uint8_t of[DTX_BATCH_ROWS];
	uint16_t row[DTX_BATCH_ROWS];
};
void dtx_diskparts_free(struct dtx_diskparts *d); /* NULL is allowed */
/* Writes those live rows of `in` that have no group, that is id DTX_GROUP_NONE.  `key` has its FLAT
 * keys; `g` are any groups with keys of these types. */
DTX_MUSTUSE enum dtx_code dtx_diskparts_put(const struct dtx_opctx *ox, struct dtx_diskparts *d,
                                            const struct dtx_groups *g,
                                            struct dtx_column *const *key,
                                            const struct dtx_batch *in, const uint32_t *id,
                                            struct dtx_err *err);

/* The rows of one partition in one of the batches. */
struct dtx_disk_piece {
	const struct dtx_batch *b;
	uint32_t from, n;
};
/* All pieces of a partition that n workers (NULL: this one has none) have written, in order of
 * place.  The caller frees the array with dtx_mem_free. */
DTX_MUSTUSE enum dtx_code dtx_diskparts_pieces(struct dtx_diskparts *const *d, unsigned n,
                                               unsigned part, struct dtx_disk_piece **pieces,
                                               size_t *npieces, struct dtx_err *err);
/* Reads the rows of a piece, with their places, into a new batch. */
DTX_MUSTUSE enum dtx_code dtx_disk_piece_read(const struct dtx_disk_piece *piece,
                                              struct dtx_batch **out, struct dtx_err *err);
/* The place where each row of such a batch came from: the last column, which follows those of the
 * schema. */
static inline const int64_t *dtx_diskparts_places(const struct dtx_batch *b)
{
	return b->col[b->ncols - 1]->v.i64;
}

#endif
