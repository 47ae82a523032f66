/* Hash table with linear probing.  The slots hold entry numbers; the entries themselves stay in
 * order of insertion. */
#include "core/base/strmap.h"

#include "core/base/memory/arena.h"
#include "core/base/hash/hash.h"
#include "core/base/memory/mem.h"

#define STRMAP_MAX ((size_t)1 << 31)

static uint64_t strmap_hash(struct dtx_str key)
{
	return dtx_hash64(key.ptr, key.len, 0);
}

/* Compares two keys.  Most keys are short, and for those two overlapping loads are faster than a
 * call of memcmp. */
static inline bool strmap_same(struct dtx_str a, struct dtx_str b)
{
	uint64_t x[2], y[2];

	if (a.len != b.len)
		return false;
	if (a.len - 8 > 8)
		return dtx_str_eq(a, b);
	memcpy(&x[0], a.ptr, 8);
	memcpy(&y[0], b.ptr, 8);
	memcpy(&x[1], a.ptr + a.len - 8, 8);
	memcpy(&y[1], b.ptr + b.len - 8, 8);
	return x[0] == y[0] && x[1] == y[1];
}

static uint64_t strmap_mark(uint64_t hash, size_t entry)
{
	return hash >> 32 << 32 | (entry + 1);
}

static uint32_t strmap_entry(uint64_t slot)
{
	return (uint32_t)slot - 1;
}

/* The slot of key, or the empty slot where it belongs.  A slot also holds the upper half of the
 * hash, so most entries with another key are skipped without a look at the entry. */
static uint64_t *strmap_slot(const struct dtx_strmap *m, struct dtx_str key, uint64_t hash)
{
	size_t mask = m->nslots - 1, i = hash & mask;

	for (; m->slot[i]; i = (i + 1) & mask) {
		if (m->slot[i] >> 32 == hash >> 32 &&
		    strmap_same(m->entry[strmap_entry(m->slot[i])].key, key))
			break;
	}
	return &m->slot[i];
}

uint32_t dtx_strmap_get(const struct dtx_strmap *m, struct dtx_str key)
{
	uint64_t at;

	if (!m->n)
		return DTX_STRMAP_NONE;
	at = *strmap_slot(m, key, strmap_hash(key));
	return at ? m->entry[strmap_entry(at)].value : DTX_STRMAP_NONE;
}

/* Keeps at most half of the slots in use. */
static bool strmap_grow(struct dtx_strmap *m)
{
	size_t nslots = m->nslots ? m->nslots * 2 : 16, i;
	uint64_t *slot, *old = m->slot;

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
		*strmap_slot(m, m->entry[i].key, m->entry[i].hash) =
			strmap_mark(m->entry[i].hash, i);
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
	uint64_t *slot;

	if (!strmap_grow(m))
		return false;
	slot = strmap_slot(m, key, hash);
	if (*slot) {
		*found = m->entry[strmap_entry(*slot)].value;
		return true;
	}
	if (!dtx_mem_reserve(&m->entry, &m->cap, m->n + 1, sizeof(*m->entry)))
		return false;
	if (!strmap_copy_key(m, &key))
		return false;
	m->entry[m->n] = (struct dtx_strmap_entry){ key, hash, value };
	*slot = strmap_mark(hash, m->n++);
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
