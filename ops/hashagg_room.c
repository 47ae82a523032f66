/* The memory of groups: slots, hashes and keys as they grow, and pages made ahead. */
#include "core/base/mem.h"
#include "core/base/prefetch.h"
#include "ops/hashagg_impl.h"

enum { SPAN_HASHES, SPAN_KEYS, SPAN_BYTES };

#define SLOTS_AHEAD 16u /* on the way while others are filled */

bool dtx_groups_more(struct dtx_groups *g, size_t n)
{
	bool ok;

	dtx_pages_hold(&g->pages);
	ok = dtx_mem_reserve(&g->hash, &g->cap_hash, n, sizeof(*g->hash)) &&
	     dtx_mem_reserve(&g->key.any, &g->cap_key, n, key_size(g->kind));
	dtx_pages_drop(&g->pages);
	return ok;
}

/* The table grows where it is and is filled anew, in order of the hashes: of two tables side by
 * side every page would be new. */
static bool slots_resize(struct dtx_groups *g, size_t n)
{
	if (!dtx_mem_grow(&g->slot, n, sizeof(*g->slot)))
		return false;
	memset(g->slot, 0, n * sizeof(*g->slot));
	g->nslots = n;
	for (uint32_t id = 0; id < g->n; id++) {
		uint64_t hash = dtx_groups_hash(g, id);
		size_t at = dtx_slot_home(hash, n);

		if (id + SLOTS_AHEAD < g->n)
			dtx_groups_near(g, g, id + SLOTS_AHEAD);
		if (id == g->null_id)
			continue;
		while (g->slot[at])
			at = dtx_slot_next(at, n);
		g->slot[at] = (hash >> 32) << 32 | (id + 1);
	}
	return true;
}

/* A big table that is mostly free costs more misses than the moves it saves. */
bool dtx_groups_grow(struct dtx_groups *g)
{
	return slots_resize(g, g->nslots * (g->nslots < DTX_SLOTS_BIG ? 4 : 2));
}

enum dtx_code dtx_groups_expect(struct dtx_groups *g, uint32_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t slots = DTX_MAX(dtx_slots_for(n), g->nslots);

	if (!dtx_groups_more(g, n) || (slots > g->nslots && !slots_resize(g, slots)))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static void tell_array(struct dtx_groups *g, unsigned span, const void *array, size_t size,
                       size_t cap, size_t more)
{
	dtx_pages_tell(&g->pages, span, array, g->n * size, more * size, cap * size);
}

#define TIMES_AHEAD 4u /* as many groups as came last */

#define ROW_BYTES 32u /* of a key of some columns, about */

void dtx_groups_pages(struct dtx_groups *g)
{
	size_t used, size;
	const void *block = dtx_arena_block(&g->arena, &used, &size);
	size_t more = (size_t)(g->n - g->told) * TIMES_AHEAD;

	g->told = g->n;
	if (g->hash)
		tell_array(g, SPAN_HASHES, g->hash, sizeof(*g->hash), g->cap_hash, more);
	tell_array(g, SPAN_KEYS, g->key.any, key_size(g->kind), g->cap_key, more);
	dtx_pages_tell(&g->pages, SPAN_BYTES, block, used, more * ROW_BYTES, size);
}

void dtx_groups_ahead(struct dtx_groups *g)
{
	dtx_pages_make(&g->pages);
}
