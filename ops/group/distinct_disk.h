/* distinct when memory is short.
 *
 * The step then no longer knows all keys that it has seen, so it cannot tell at once whether a row
 * is the first one with its key.  Rows that may be (candidates) are written to disk in the order in
 * which they come.  Keys go to disk too, by partition of their hash, each with the number of its
 * candidate.  At the end the partitions are read one by one, by several workers: the first number
 * of each key is marked.  Then the candidates are read in order, and those with a mark are emitted.
 * So no row is sorted, and each is written and read once. */
#ifndef DTX_OPS_GROUP_DISTINCT_DISK_H
#define DTX_OPS_GROUP_DISTINCT_DISK_H

#include "core/plan/op.h"
#include "ops/group/table/groupkeys.h"

struct dtx_distinct_disk;
void dtx_distinct_disk_free(struct dtx_distinct_disk *d); /* NULL is allowed */
/* Whether these groups take so much memory that their keys should go to disk. */
bool dtx_distinct_full(const struct dtx_opctx *ox, const struct dtx_groups *g);
/* Writes the keys of the groups to disk and empties the groups.  The first call makes *d; the first
 * rows of those groups must have been emitted.  From then on the first row of each group must be
 * put, in the order of their ids. */
DTX_MUSTUSE enum dtx_code dtx_distinct_flush(const struct dtx_opctx *ox, struct dtx_groups *g,
                                             struct dtx_distinct_disk **d, struct dtx_err *err);
/* Writes the live rows of b, which are candidates.  b is changed. */
DTX_MUSTUSE enum dtx_code dtx_distinct_put(const struct dtx_opctx *ox, struct dtx_distinct_disk *d,
                                           struct dtx_batch *b, struct dtx_err *err);
/* Emits the rows that are the first with their key.  g: the groups since the last flush; they are
 * emptied.  Frees what was read. */
DTX_MUSTUSE enum dtx_code dtx_distinct_emit(const struct dtx_opctx *ox, struct dtx_groups *g,
                                            const struct dtx_groupkeys *key,
                                            struct dtx_distinct_disk *d, struct dtx_emit *out,
                                            struct dtx_err *err);

#endif
