/* Linear probing over entry numbers; the entries stay in order of insertion. */
#include "core/base/strmap.h"

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/mem.h"

#define STRMAP_MAX ((size_t)1 << 31)

static uint64_t strmap_hash(struct dtx_str key)
{
	return dtx_hash64(key.ptr, key.len, 0);
}

/* Slot of key, or the empty slot where it belongs. */
static uint32_t *strmap_slot(const struct dtx_strmap *m, struct dtx_str key, uint64_t hash)
{
	size_t mask = m->nslots - 1, i = hash & mask;

	for (; m->slot[i]; i = (i + 1) & mask) {
		const struct dtx_strmap_entry *e = &m->entry[m->slot[i] - 1];

		if (e->hash == hash && dtx_str_eq(e->key, key))
			break;
	}
	return &m->slot[i];
}

uint32_t dtx_strmap_get(const struct dtx_strmap *m, struct dtx_str key)
{
	uint32_t at;

	if (!m->n)
		return DTX_STRMAP_NONE;
	at = *strmap_slot(m, key, strmap_hash(key));
	return at ? m->entry[at - 1].value : DTX_STRMAP_NONE;
}

/* At most half of the slots are used. */
static bool strmap_grow(struct dtx_strmap *m)
{
	size_t nslots = m->nslots ? m->nslots * 2 : 16, i;
	uint32_t *slot, *old = m->slot;

	if (m->n >= STRMAP_MAX)
		return false;
	if ((m->n + 1) * 2 <= m->nslots)
		return true;
	slot = dtx_mem_zalloc(nslots, sizeof(*slot));
	if (!slot)
		return false;
	m->slot = slot;
	m->nslots = nslots;
	for (i = 0; i < m->n; i++)
		*strmap_slot(m, m->entry[i].key, m->entry[i].hash) = (uint32_t)(i + 1);
	dtx_mem_free(old);
	return true;
}

static bool strmap_copy_key(struct dtx_strmap *m, struct dtx_str *key)
{
	struct dtx_arena a = { m->keys, NULL, m->keys_used };
	const char *copy = dtx_arena_strndup(&a, key->ptr, key->len);

	m->keys = a.head;
	m->keys_used = a.used;
	key->ptr = copy;
	return copy != NULL;
}

bool dtx_strmap_put(struct dtx_strmap *m, struct dtx_str key, uint32_t value, uint32_t *found)
{
	uint64_t hash = strmap_hash(key);
	uint32_t *slot;

	if (!strmap_grow(m))
		return false;
	slot = strmap_slot(m, key, hash);
	if (*slot) {
		*found = m->entry[*slot - 1].value;
		return true;
	}
	if (!dtx_mem_reserve(&m->entry, &m->cap, m->n + 1, sizeof(*m->entry)))
		return false;
	if (!strmap_copy_key(m, &key))
		return false;
	m->entry[m->n] = (struct dtx_strmap_entry){ key, hash, value };
	*slot = (uint32_t)++m->n;
	*found = value;
	return true;
}

void dtx_strmap_clear(struct dtx_strmap *m)
{
	struct dtx_arena a = { m->keys, NULL, m->keys_used };

	dtx_arena_clear(&a);
	dtx_mem_free(m->entry);
	dtx_mem_free(m->slot);
	*m = (struct dtx_strmap)DTX_STRMAP_INIT;
}
