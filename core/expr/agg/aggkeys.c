/* The distinct keys of one group: see aggkeys.h. */
#include "core/expr/agg/aggkeys.h"

#include "core/base/hash/hash.h"
#include "core/base/memory/mem.h"
#include "core/expr/agg/aggsave.h"

/* Larger sets take slots from the allocator, so that a pool does not fill with the slots that they
 * have outgrown. */
#define POOLED_MAX 64u

/* The slot of key, or the free one where it belongs.  At least one slot must be free. */
static struct dtx_aggkey *find(const struct dtx_aggkeys *s, struct dtx_str key, uint32_t hash)
{
	uint32_t at = hash & (s->cap - 1);

	while (s->slot[at].ptr &&
	       (s->slot[at].hash != hash ||
	        !dtx_str_eq((struct dtx_str){ s->slot[at].ptr, s->slot[at].len }, key)))
		at = (at + 1) & (s->cap - 1);
	return &s->slot[at];
}

static bool grow(struct dtx_aggkeys *s, struct dtx_arena *pool)
{
	uint32_t cap = s->cap ? s->cap * 2 : 2;
	bool pooled = pool && cap <= POOLED_MAX;
	struct dtx_aggkey *slot, *old = s->slot;

	if (!cap)
		return false;
	slot = pooled ? dtx_arena_zalloc(pool, cap, sizeof(*slot))
	              : dtx_mem_zalloc(cap, sizeof(*slot));
	if (!slot)
		return false;
	for (uint32_t i = 0; i < s->cap; i++) {
		uint32_t at = old[i].hash & (cap - 1);

		while (old[i].ptr && slot[at].ptr)
			at = (at + 1) & (cap - 1);
		if (old[i].ptr)
			slot[at] = old[i];
	}
	if (!s->pooled)
		dtx_mem_free(old);
	s->slot = slot;
	s->cap = cap;
	s->pooled = pooled;
	return true;
}

/* `bytes` gets the copy of the key; NULL: the key lives as long as the set. */
static struct dtx_aggkey *add(struct dtx_aggkeys *s, struct dtx_str key, uint32_t hash,
                              struct dtx_arena *pool, struct dtx_arena *bytes)
{
	struct dtx_aggkey *to = s->cap ? find(s, key, hash) : NULL;

	if (to && to->ptr)
		return to;
	if (!to || s->n + s->n / 2 + 1 >= s->cap) {
		if (!grow(s, pool))
			return NULL;
		to = find(s, key, hash);
	}
	if (!key.len)
		key.ptr = "";
	else if (bytes)
		key.ptr = dtx_arena_pack(bytes, key.ptr, key.len);
	if (!key.ptr || key.len > UINT32_MAX)
		return NULL;
	*to = (struct dtx_aggkey){ key.ptr, (uint32_t)key.len, hash, 0, UINT64_MAX };
	s->n++;
	return to;
}

struct dtx_aggkey *dtx_aggkeys_add(struct dtx_aggkeys *s, struct dtx_str key,
                                   struct dtx_arena *pool)
{
	uint32_t hash = (uint32_t)(dtx_hash64(key.ptr, key.len, 0) >> 32);

	return add(s, key, hash, pool, pool ? pool : &s->own);
}

/* Keys in a pool stay where they are; others are copied into the set that stays. */
bool dtx_aggkeys_merge(struct dtx_aggkeys *to, struct dtx_aggkeys *from)
{
	if (to->n < from->n) {
		struct dtx_aggkeys small = *to;

		*to = *from;
		*from = small;
	}
	for (uint32_t i = 0; i < from->cap; i++) {
		const struct dtx_aggkey *k = &from->slot[i];
		struct dtx_aggkey *had;

		if (!k->ptr)
			continue;
		had = add(to, (struct dtx_str){ k->ptr, k->len }, k->hash, NULL,
		          from->own.head ? &to->own : NULL);
		if (!had)
			return false;
		had->n += k->n;
		had->pos = DTX_MIN(had->pos, k->pos);
	}
	dtx_aggkeys_free(from);
	return true;
}

void dtx_aggkeys_free(struct dtx_aggkeys *s)
{
	if (!s->pooled)
		dtx_mem_free(s->slot);
	dtx_arena_clear(&s->own);
	*s = (struct dtx_aggkeys){ .slot = NULL };
}

void dtx_aggkeys_save(const struct dtx_aggkeys *s, struct dtx_buf *out)
{
	dtx_word_save(s->n, out);
	for (uint32_t i = 0; i < s->cap; i++) {
		const struct dtx_aggkey *k = &s->slot[i];
		const uint64_t word[2] = { k->n, k->pos };

		if (!k->ptr)
			continue;
		dtx_text_save((struct dtx_str){ k->ptr, k->len }, out);
		dtx_words_save(word, 2, out);
	}
}

bool dtx_aggkeys_load(struct dtx_aggkeys *s, const char **at)
{
	for (uint64_t n = dtx_word_load(at); n; n--) {
		struct dtx_aggkey *k = dtx_aggkeys_add(s, dtx_text_load(at), NULL);
		uint64_t word[2];

		if (!k)
			return false;
		dtx_words_load(at, word, 2);
		k->n = word[0];
		k->pos = word[1];
	}
	return true;
}
