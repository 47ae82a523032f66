/* Rows that wait on disk, apart by the hash of their key.
 *
 * When memory is short an operation puts rows there whose key it has no room for, and takes them
 * back at the end, a partition at a time.  Rows of one key are in one partition. */
#ifndef OPS_DISKPARTS_H
#define OPS_DISKPARTS_H

#include "ops/hashagg.h"
#include "ops/opkit.h"

#define DTX_DISK_BITS  6u
#define DTX_DISK_PARTS (1u << DTX_DISK_BITS)

struct dtx_diskparts { /* one worker's; zeroed first */
	struct dtx_kept part[DTX_DISK_PARTS];
	struct dtx_group_probe probe;
	/* scratch of a batch */
	uint8_t of[DTX_BATCH_ROWS];
	uint16_t row[DTX_BATCH_ROWS];
};
void dtx_diskparts_free(struct dtx_diskparts *d); /* NULL is fine */
/* The rows without a group among the live ones of `in`: those with id DTX_GROUP_NONE.  `key`: its
 * FLAT keys, `g` any groups of their types. */
DTX_MUSTUSE enum dtx_code dtx_diskparts_put(const struct dtx_opctx *ox, struct dtx_diskparts *d,
                                            const struct dtx_groups *g,
                                            struct dtx_column *const *key,
                                            const struct dtx_batch *in, const uint32_t *id,
                                            struct dtx_err *err);
/* All rows of a partition that n workers (NULL: none of this one) have put, in order of place, into
 * an empty `all`; each batch is a part of one that came. */
DTX_MUSTUSE enum dtx_code dtx_diskparts_take(struct dtx_diskparts *const *d, unsigned n,
                                             unsigned part, struct dtx_kept *all,
                                             struct dtx_err *err);
/* Where each row of such a batch was: its last column, which is behind those of the schema. */
static inline const int64_t *dtx_diskparts_places(const struct dtx_batch *b)
{
	return b->col[b->ncols - 1]->v.i64;
}

#endif
