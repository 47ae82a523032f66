/* Groups by partition of their hash, for what is written to disk when memory is short: all groups
 * with equal keys are in the same partition, so a partition can be finished without the others. */
#ifndef DTX_OPS_GROUP_DISKPARTS_H
#define DTX_OPS_GROUP_DISKPARTS_H

#include "ops/group/hashagg.h"

#define DTX_DISK_BITS      6u
#define DTX_DISK_PARTS     (1u << DTX_DISK_BITS)
#define DTX_DISK_LEVELS    5u    /* times that groups go to disk: the hash has bits for so many */
#define DTX_DISK_KEYS_MIN  4096u /* groups from which on writing them makes room, or: */
#define DTX_DISK_BYTES_MIN ((size_t)1 << 20) /* bytes of their keys */
#define DTX_DISK_LOOK_ROWS 1024u /* after so many groups that are read: is memory short? */

/* Whether it makes room to write these groups to disk: they are many, or their keys are long. */
bool dtx_disk_pays(const struct dtx_groups *g);

/* Sorts the groups by partition, which bits of their hash from `shift` on decide, and keeps their
 * order in each: those of p are id[start[p] .. start[p + 1]).  id has room for all groups, start
 * for DTX_DISK_PARTS + 1. */
void dtx_disk_sort_groups(const struct dtx_groups *g, unsigned shift, uint32_t *id,
                          uint32_t *start);

#endif
