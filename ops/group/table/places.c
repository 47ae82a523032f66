/* Computes where rows go that are sorted by group: see places.h. */
#include "ops/group/table/places.h"

#include "core/base/thread/parallel_for.h"

#define SHARED_MIN 65536 /* with fewer rows one worker is as fast */

/* Places are kept per block and group, so with many groups there is only one block. */
static unsigned count_blocks(const struct dtx_tablekeys *k, unsigned workers)
{
	if (k->nrows < SHARED_MIN || (int64_t)k->n * workers > k->nrows)
		return 1;
	return DTX_MAX(1, workers);
}

static enum dtx_code count_rows(void *arg, uint64_t i, struct dtx_err *err)
{
	struct dtx_places *p = arg;
	int64_t *count = p->at + i * p->group->n;

	(void)err;
	for (int64_t row = p->row[i]; row < p->row[i + 1]; row++)
		count[dtx_tablekeys_id(p->group, row)]++;
	return DTX_OK;
}

/* Within a group the rows of the first block come first. */
static void assign(struct dtx_places *p)
{
	uint32_t n = p->group->n;
	int64_t place = 0;

	for (uint32_t g = 0; g < n; g++) {
		p->start[g] = place;
		for (unsigned i = 0; i < p->nblocks; i++) {
			int64_t rows = p->at[(size_t)i * n + g];

			p->at[(size_t)i * n + g] = place;
			place += rows;
		}
	}
	p->start[n] = place;
}

enum dtx_code dtx_places_open(struct dtx_places *p, const struct dtx_tablekeys *group,
                              unsigned workers, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned n = count_blocks(group, workers);

	*p = (struct dtx_places){ .group = group, .nblocks = n };
	p->row = dtx_mem_alloc((size_t)n + 1, sizeof(*p->row));
	p->start = dtx_mem_alloc((size_t)group->n + 1, sizeof(*p->start));
	p->at = dtx_mem_zalloc((size_t)n * group->n + 1, sizeof(*p->at));
	if (!p->row || !p->start || !p->at)
		DTX_FAIL_MEM(err);
	for (unsigned i = 0; i <= n; i++)
		p->row[i] = i == n ? group->nrows : group->nrows / n * i;
	DTX_TRY(dtx_parallel_for(n, n, count_rows, p, err));
	assign(p);
out:
	return rc;
}

void dtx_places_close(struct dtx_places *p)
{
	dtx_mem_free(p->row);
	dtx_mem_free(p->start);
	dtx_mem_free(p->at);
	*p = (struct dtx_places)DTX_PLACES_INIT;
}
