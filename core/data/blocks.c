/* Divides the batches of a table into blocks: see blocks.h. */
#include "core/data/blocks.h"

/* The first batch that begins at row `from` or later, and the row at which it begins. */
static size_t batch_from(const struct dtx_table *t, int64_t from, int64_t *row)
{
	size_t batch = 0;

	for (*row = 0; batch < t->nbatches && *row < from; batch++)
		*row += t->batch[batch]->nrows;
	return batch;
}

struct dtx_block dtx_block_of(const struct dtx_table *t, unsigned n, unsigned i)
{
	struct dtx_block b;

	b.from = batch_from(t, t->nrows / n * i, &b.at);
	b.to = batch_from(t, i + 1 < n ? t->nrows / n * (i + 1) : INT64_MAX, &b.end);
	return b;
}
