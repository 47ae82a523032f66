/* Moves the keys of groups to disk. */
#include "core/base/mem.h"
#include "ops/group/hashagg_impl.h"

/* The bytes of key i: their number and the address of the pointer to them; NULL if the key has
 * none. */
static const char **key_bytes(struct dtx_groups *g, uint32_t i, size_t *len)
{
	if (g->kind == KIND_ROW) {
		struct dtx_str key = row_key(g->key.row[i]);

		*len = (size_t)(key.ptr - g->key.row[i]) + key.len;
		return &g->key.row[i];
	}
	*len = g->kind == KIND_TEXT ? g->key.text[i].len : 0;
	return *len > DTX_TEXT_INLINE ? &g->key.text[i].u.ptr : NULL;
}

static enum dtx_code spill_key_bytes(struct dtx_groups *g, struct dtx_spill *s,
                                     struct dtx_spill_count *count, struct dtx_err *err)
{
	struct dtx_buf all = DTX_BUF_INIT(SIZE_MAX / 2);
	enum dtx_code rc = DTX_OK;
	const void *at;
	const char **ptr;
	size_t len, used = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		ptr = key_bytes(g, i, &len);
		if (ptr && len)
			dtx_buf_addn(&all, *ptr, len);
	}
	DTX_TRY(dtx_buf_check(&all, "keys", err));
	if (!all.len)
		goto out;
	DTX_TRY(dtx_spill_bytes(s, all.ptr, all.len, &at, &g->bytes_owner, count, err));
	for (uint32_t i = 0; i < g->n; i++) {
		ptr = key_bytes(g, i, &len);
		if (!ptr)
			continue;
		*ptr = (const char *)at + used;
		used += len;
	}
	dtx_arena_clear(&g->arena);
out:
	dtx_buf_clear(&all);
	return rc;
}

enum dtx_code dtx_groups_spill(struct dtx_groups *g, struct dtx_spill *s,
                               struct dtx_spill_count *count, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const void *at;

	if (!g->n || g->kind == KIND_NONE)
		return DTX_OK;
	dtx_prefault_hold(&g->pages);
	DTX_TRY(spill_key_bytes(g, s, count, err));
	DTX_TRY(dtx_spill_bytes(s, g->slot, g->nslots * sizeof(*g->slot), &at, &g->slot_owner,
	                        count, err));
	dtx_mem_free(g->slot);
	g->slot = (uint64_t *)(uintptr_t)at; /* read-only from now on, as the mapping is */
	DTX_TRY(dtx_spill_bytes(s, g->key.any, g->n * key_size(g->kind), &at, &g->key_owner, count,
	                        err));
	dtx_mem_free(g->key.any);
	g->key.any = (void *)(uintptr_t)at;
	dtx_mem_free(g->hash);
	g->hash = NULL;
	dtx_buf_clear(&g->probe.bytes);
out:
	dtx_prefault_drop(&g->pages);
	return rc;
}
