/* Divides the batches of a table into blocks of consecutive batches, one for each worker. */
#ifndef DTX_DATA_BLOCKS_H
#define DTX_DATA_BLOCKS_H

#include "core/data/batch.h"

struct dtx_block {
	size_t from, to; /* batches [from, to) */
	int64_t at, end; /* rows of the table [at, end) */
};
/* Block i of n, in the order of the table.  All blocks have about the same number of rows; a block
 * may be empty.  The batches must be dense. */
struct dtx_block dtx_block_of(const struct dtx_table *t, unsigned n, unsigned i);

#endif
