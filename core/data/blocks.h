/* The batches of a table at rest in blocks, for workers that each take one. */
#ifndef DTX_DATA_BLOCKS_H
#define DTX_DATA_BLOCKS_H

#include "core/data/batch.h"

struct dtx_block {
	size_t from, to; /* batches */
	int64_t at, end; /* rows of the table */
};
/* Block i of n: in the table's order, about as many rows each; it may be empty.  Batches are
 * dense. */
struct dtx_block dtx_block_of(const struct dtx_table *t, unsigned n, unsigned i);

#endif
