/* Where the rows of a table go if they are sorted by group, in table order within each group: a
 * stable counting sort, whose rows are shared by workers in blocks. */
#ifndef DTX_OPS_GROUP_TABLE_PLACES_H
#define DTX_OPS_GROUP_TABLE_PLACES_H

#include "ops/group/table/tablekeys.h"

struct dtx_places {
	const struct dtx_tablekeys *group;
	unsigned nblocks;
	int64_t *row;   /* rows of block i: [row[i], row[i + 1]) */
	int64_t *start; /* places of group g: [start[g], start[g + 1]) */
	int64_t *at;    /* per block and group: where the block's next row goes */
};
#define DTX_PLACES_INIT                                                                            \
	{                                                                                          \
		.nblocks = 0                                                                       \
	}
DTX_MUSTUSE enum dtx_code dtx_places_open(struct dtx_places *p, const struct dtx_tablekeys *group,
                                          unsigned workers, struct dtx_err *err);
void dtx_places_close(struct dtx_places *p);
/* The place of a row of block i.  Must be called once per row, in order. */
static inline int64_t dtx_places_next(struct dtx_places *p, uint64_t i, int64_t row)
{
	return p->at[i * p->group->n + dtx_tablekeys_id(p->group, row)]++;
}

#endif
