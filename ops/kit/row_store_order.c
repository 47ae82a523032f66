/* Sorts the records of kept rows into an order in which the place of a row is known. */
#include "core/base/memory/mem.h"
#include "ops/kit/row_store.h"

#define STRIDE_MOVED 16u /* twice the size of a reference, which is a batch and a row */

bool dtx_row_store_movable(const struct dtx_row_store_set *s)
{
	return s->nbatches && s->widest <= STRIDE_MOVED;
}

/* The records are copied back into their block, because a new block would leave a gap in the
 * heap. */
enum dtx_code dtx_row_store_permute(struct dtx_row_store *r, const uint16_t *row, uint32_t n,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint8_t *rec = dtx_mem_alloc((size_t)n + 1, r->stride);

	if (!rec)
		DTX_FAIL_MEM(err);
	for (uint32_t k = 0; k < n; k++)
		memcpy(rec + (size_t)k * r->stride, r->rec + (size_t)row[k] * r->stride, r->stride);
	memcpy(r->rec, rec, (size_t)n * r->stride);
out:
	dtx_mem_free(rec);
	return rc;
}

static uint32_t longest(const struct dtx_row_store_set *s)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < s->nbatches; i++)
		most = DTX_MAX(most, s->batch[i]->longest);
	return most;
}

enum dtx_code dtx_row_store_one_new(const struct dtx_row_store_set *s, uint32_t n,
                                    struct dtx_row_store **out, struct dtx_err *err)
{
	struct dtx_row_store like = *s->batch[0];

	like.stride = like.longest = longest(s);
	return dtx_row_store_new(&like, n, out, err);
}

void dtx_row_store_set_one(struct dtx_row_store_set *s, struct dtx_row_store *one)
{
	for (uint32_t i = 0; i < s->nbatches; i++)
		dtx_row_store_free(s->batch[i]);
	s->nbatches = 1;
	s->batch[0] = one;
}
