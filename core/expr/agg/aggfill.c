/* Fills states of groups from a table with several workers: see aggfill.h. */
#include "core/expr/agg/aggfill.h"

#include "core/base/thread/parallel_for.h"
#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"
#include "core/data/blocks.h"

#define SHARED_MIN 65536 /* with fewer rows one worker is as fast */

struct block { /* a block of batches */
	const struct dtx_aggfill *f;
	struct dtx_block is;
	char **states; /* per call; own states, or those of the caller */
	bool own;
	struct dtx_eval_counts counts;
};

static enum dtx_code own_states(struct block *b, struct dtx_err *err)
{
	const struct dtx_aggfill *f = b->f;
	enum dtx_code rc = DTX_OK;

	b->own = true;
	b->states = dtx_mem_zalloc((size_t)f->ncalls + 1, sizeof(char *));
	for (uint32_t c = 0; b->states && c < f->ncalls; c++) {
		size_t size = dtx_agg_state_size(f->call[c]);

		b->states[c] = dtx_mem_zalloc((size_t)f->nstates + 1, size);
		if (!b->states[c])
			DTX_FAIL_MEM(err);
		dtx_agg_init(f->call[c], b->states[c], size, 0, f->nstates);
	}
	if (!b->states)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static void free_states(struct block *b)
{
	const struct dtx_aggfill *f = b->f;

	for (uint32_t c = 0; b->states && c < f->ncalls; c++) {
		if (b->states[c])
			dtx_agg_free(f->call[c], b->states[c], dtx_agg_state_size(f->call[c]),
			             f->nstates);
		dtx_mem_free(b->states[c]);
	}
	dtx_mem_free(b->states);
}

static enum dtx_code fill_block(void *arg, uint64_t i, struct dtx_err *err)
{
	struct block *b = (struct block *)arg + i;
	const struct dtx_aggfill *f = b->f;
	char *const *states = f->states;
	int64_t at = b->is.at;
	enum dtx_code rc = DTX_OK;

	if (i) {
		DTX_TRY(own_states(b, err));
		states = b->states;
	}
	for (size_t k = b->is.from; k < b->is.to; k++) {
		DTX_TRY(dtx_cancel_look(err));
		for (uint32_t c = 0; c < f->ncalls; c++)
			DTX_TRY(dtx_agg_add(f->call[c], states[c], dtx_agg_state_size(f->call[c]),
			                    f->group + at, NULL, f->t->batch[k], &b->counts, err));
		at += f->t->batch[k]->nrows;
	}
out:
	return rc;
}

static enum dtx_code merge_block(const struct block *b, struct dtx_err *err)
{
	const struct dtx_aggfill *f = b->f;
	enum dtx_code rc = DTX_OK;

	for (uint32_t c = 0; c < f->ncalls; c++) {
		size_t size = dtx_agg_state_size(f->call[c]);

		for (uint32_t s = 0; s < f->nstates; s++)
			DTX_TRY(dtx_agg_merge(f->call[c], f->states[c] + s * size,
			                      b->states[c] + s * size, err));
	}
out:
	return rc;
}

/* The number of blocks.  If there are many states for few rows, filling and merging two sets of
 * states costs more than it saves. */
static unsigned count_blocks(const struct dtx_aggfill *f, unsigned workers)
{
	if (f->t->nrows < SHARED_MIN || (int64_t)f->nstates * workers > f->t->nrows / 4)
		return 1;
	return DTX_MAX(1, workers);
}

enum dtx_code dtx_agg_fill(const struct dtx_aggfill *f, unsigned workers,
                           struct dtx_eval_counts *counts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned n = count_blocks(f, workers);
	struct block *b = dtx_mem_zalloc(n, sizeof(*b));

	if (!b)
		DTX_FAIL_MEM(err);
	for (unsigned i = 0; i < n; i++)
		b[i] = (struct block){ .f = f, .is = dtx_block_of(f->t, n, i) };
	DTX_TRY(dtx_parallel_for(n, n, fill_block, b, err));
	for (unsigned i = 0; i < n; i++) {
		if (i)
			DTX_TRY(merge_block(&b[i], err));
		dtx_eval_counts_add(counts, &b[i].counts);
	}
out:
	for (unsigned i = 0; b && i < n; i++)
		free_states(&b[i]);
	dtx_mem_free(b);
	return rc;
}
