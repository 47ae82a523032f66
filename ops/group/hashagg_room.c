/* The memory of groups: slots, hashes and keys as they grow, and pages that are made ahead. */
#include "core/base/mem.h"
#include "core/base/prefetch.h"
#include "ops/group/hashagg_impl.h"

enum { SPAN_HASHES, SPAN_KEYS, SPAN_BYTES };

bool dtx_groups_more(struct dtx_groups *g, size_t n)
{
	bool ok;

	dtx_prefault_hold(&g->pages);
	ok = dtx_mem_reserve(&g->hash, &g->cap_hash, n, sizeof(*g->hash)) &&
	     dtx_mem_reserve(&g->key.any, &g->cap_key, n, key_size(g->kind));
	dtx_prefault_drop(&g->pages);
	return ok;
}

/* Slots that cannot be placed before the slots in front of them have moved. */
struct slots_late {
	uint64_t *slot;
	size_t n, cap;
};

static bool late_add(struct slots_late *late, uint64_t slot)
{
	if (!dtx_mem_reserve(&late->slot, &late->cap, late->n + 1, sizeof(*late->slot)))
		return false;
	late->slot[late->n++] = slot;
	return true;
}

static size_t slot_free(const struct dtx_groups *g, size_t at)
{
	while (g->slot[at])
		at = dtx_slot_next(at, g->nslots);
	return at;
}

/* Places a slot in the enlarged table.  Slots before `from` have not moved yet.  False: its place
 * may be among those. */
static bool slot_place(struct dtx_groups *g, uint64_t slot, size_t from)
{
	size_t home = dtx_slot_home(dtx_slot_hash(slot), g->nslots);
	size_t at = home < from ? 0 : slot_free(g, home);

	if (at < home || home < from) /* a slot before its home has wrapped around the end */
		return false;
	g->slot[at] = slot;
	return true;
}

/* Enlarges the table in place, because in a second table every page would be new.  The table is
 * ordered by hash and stays so: moved from the last slot to the first, each slot goes to a place
 * after all those that have not moved yet, and neighbours stay close.  Exceptions are a few slots
 * near the ends, which are placed at the end. */
static bool slots_resize(struct dtx_groups *g, size_t n)
{
	struct slots_late late = { NULL, 0, 0 };
	size_t had = g->nslots;
	bool ok = true;

	if (!dtx_mem_grow(&g->slot, n, sizeof(*g->slot)))
		return false;
	memset(g->slot + had, 0, (n - had) * sizeof(*g->slot));
	g->nslots = n;
	for (size_t i = had; ok && i-- > 0;) {
		uint64_t slot = g->slot[i];

		g->slot[i] = 0;
		ok = !slot || slot_place(g, slot, i) || late_add(&late, slot);
	}
	for (size_t i = 0; ok && i < late.n; i++) {
		uint64_t slot = late.slot[i];

		g->slot[slot_free(g, dtx_slot_home(dtx_slot_hash(slot), n))] = slot;
	}
	dtx_mem_free(late.slot);
	return ok;
}

/* A large table grows by less: if it were mostly empty, the additional cache misses would cost more
 * than fewer moves save. */
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

static void request_pages(struct dtx_groups *g, unsigned span, const void *array, size_t size,
                          size_t cap, size_t more)
{
	dtx_prefault_tell(&g->pages, span, array, g->n * size, more * size, cap * size);
}

#define TIMES_AHEAD 4u /* pages for as many groups as came last time */

#define ROW_BYTES 32u /* estimated size of a key with several columns */

void dtx_groups_pages(struct dtx_groups *g)
{
	size_t used, size;
	const void *block = dtx_arena_block(&g->arena, &used, &size);
	size_t more = (size_t)(g->n - g->requested) * TIMES_AHEAD;

	g->requested = g->n;
	if (g->hash)
		request_pages(g, SPAN_HASHES, g->hash, sizeof(*g->hash), g->cap_hash, more);
	request_pages(g, SPAN_KEYS, g->key.any, key_size(g->kind), g->cap_key, more);
	dtx_prefault_tell(&g->pages, SPAN_BYTES, block, used, more * ROW_BYTES, size);
}

void dtx_groups_ahead(struct dtx_groups *g)
{
	dtx_prefault_make(&g->pages);
}
