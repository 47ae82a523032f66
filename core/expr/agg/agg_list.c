/* Aggregates that keep all values that they have seen: count_distinct, concat_agg.
 *
 * Their states grow with the number of rows.  Values of at most 64 bits go into a hash set of words
 * with open addressing (linear probing, at most two thirds full); texts and decimals go into a set
 * of keys by their bytes.  concat_agg keeps each text with the position of its row and sorts by it
 * at the end, so that the result is in table order although workers add rows in any order. */
#include "core/expr/agg/aggcall.h"

#include "core/base/hash/hash.h"
#include "core/base/memory/mem.h"
#include "core/data/cast/cast.h"
#include "core/data/cast/decimal.h"
#include "core/expr/agg/aggkeys.h"
#include "core/expr/agg/aggsave.h"

#define STATE(type, k) ((type *)(void *)(states + (size_t)r->group[k] * stride))
#define ROW(k)         (r->row ? r->row[k] : (k))

/* --- distinct values of 64 bits --- */

struct wordset { /* all zero: empty; the value 0 marks a free slot, so it has a flag of its own */
	uint64_t *slot;
	uint32_t n, cap;
	bool zero;
	bool pooled; /* the slots belong to a pool and are freed with it */
};

/* Larger sets take slots from the allocator, so that a pool does not fill with the slots that they
 * have outgrown. */
#define WORDS_POOLED 128u

static void wordset_place(uint64_t *slot, uint32_t cap, uint64_t v)
{
	uint32_t at = (uint32_t)dtx_hash_mix(v, 0) & (cap - 1);

	while (slot[at])
		at = (at + 1) & (cap - 1);
	slot[at] = v;
}

static bool wordset_has(const struct wordset *s, uint64_t v)
{
	uint32_t at;

	if (!s->cap)
		return false;
	at = (uint32_t)dtx_hash_mix(v, 0) & (s->cap - 1);
	while (s->slot[at] && s->slot[at] != v)
		at = (at + 1) & (s->cap - 1);
	return s->slot[at] != 0;
}

static bool wordset_add(struct wordset *s, uint64_t v, struct dtx_arena *pool)
{
	uint32_t i, cap;
	uint64_t *slot;
	bool pooled;

	if (v == 0) {
		s->zero = true;
		return true;
	}
	if (wordset_has(s, v))
		return true;
	if (s->n + s->n / 2 >= s->cap) {
		cap = s->cap ? s->cap * 2 : 8;
		pooled = pool && cap <= WORDS_POOLED;
		slot = !cap     ? NULL
		       : pooled ? dtx_arena_zalloc(pool, cap, sizeof(*slot))
		                : dtx_mem_zalloc(cap, sizeof(*slot));
		if (!slot)
			return false;
		for (i = 0; i < s->cap; i++) {
			if (s->slot[i])
				wordset_place(slot, cap, s->slot[i]);
		}
		if (!s->pooled)
			dtx_mem_free(s->slot);
		s->slot = slot;
		s->cap = cap;
		s->pooled = pooled;
	}
	wordset_place(s->slot, s->cap, v);
	s->n++;
	return true;
}

static uint64_t word_at(const struct dtx_column *c, uint32_t i)
{
	uint64_t w;

	switch (c->type.type) {
	case DTX_T_BOOL: return dtx_bit(c->v.bits, i);
	case DTX_T_DATE: return (uint64_t)(int64_t)c->v.day[i];
	case DTX_T_FLOAT64: memcpy(&w, &c->v.f64[i], sizeof(w)); return w;
	default: return (uint64_t)c->v.i64[i];
	}
}

static enum dtx_code words_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                                const struct dtx_aggrows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t k;

	(void)c;
	for (k = 0; k < r->n; k++) {
		if (!wordset_add(STATE(struct wordset, k), word_at(r->col, ROW(k)), r->pool))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

static void words_free(void *state)
{
	struct wordset *s = state;

	if (!s->pooled)
		dtx_mem_free(s->slot);
	memset(s, 0, sizeof(*s));
}

static enum dtx_code words_merge(const struct dtx_aggcall *c, void *to, void *from,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct wordset *a = to, *b = from, small;
	uint32_t i;

	(void)c;
	if (a->n < b->n) {
		small = *a;
		*a = *b;
		*b = small;
	}
	a->zero |= b->zero;
	for (i = 0; i < b->cap; i++) {
		if (b->slot[i] && !wordset_add(a, b->slot[i], NULL))
			DTX_FAIL_MEM(err);
	}
	words_free(b);
out:
	return rc;
}

static enum dtx_code words_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                 struct dtx_val *out, struct dtx_err *err)
{
	const struct wordset *s = state;

	(void)c, (void)run, (void)err;
	out->u.i = (int64_t)(s->n + s->zero);
	return DTX_OK;
}

static void words_save(const struct dtx_aggcall *c, const void *state, struct dtx_buf *out)
{
	const struct wordset *s = state;
	const uint64_t head[2] = { s->n, s->zero };

	(void)c;
	dtx_words_save(head, 2, out);
	for (uint32_t i = 0; i < s->cap; i++)
		if (s->slot[i])
			dtx_word_save(s->slot[i], out);
}

static bool words_load(const struct dtx_aggcall *c, void *state, const char **at)
{
	struct wordset *s = state;
	uint64_t head[2];

	(void)c;
	dtx_words_load(at, head, 2);
	s->zero = head[1] != 0;
	for (uint64_t i = 0; i < head[0]; i++)
		if (!wordset_add(s, dtx_word_load(at), NULL))
			return false;
	return true;
}

static const struct dtx_aggkernel distinct_words = { .size = sizeof(struct wordset),
	                                             .frees = true,
	                                             .grows = true,
	                                             .add = words_rows,
	                                             .merge = words_merge,
	                                             .final = words_final,
	                                             .free = words_free,
	                                             .save = words_save,
	                                             .load = words_load };

/* --- distinct texts and decimals --- */

static enum dtx_code texts_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                                const struct dtx_aggrows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str key;
	uint32_t k, i;

	(void)c;
	for (k = 0; k < r->n; k++) {
		i = ROW(k);
		if (r->col->type.type == DTX_T_DECIMAL)
			key = (struct dtx_str){ (const char *)&r->col->v.dec[i],
				                sizeof(struct dtx_dec128) };
		else
			key = dtx_column_text(r->col, i);
		if (!dtx_aggkeys_add(STATE(struct dtx_aggkeys, k), key, r->pool))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

static void texts_free(void *state)
{
	dtx_aggkeys_free(state);
}

static enum dtx_code texts_merge(const struct dtx_aggcall *c, void *to, void *from,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)c;
	if (!dtx_aggkeys_merge(to, from))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code texts_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                 struct dtx_val *out, struct dtx_err *err)
{
	const struct dtx_aggkeys *s = state;

	(void)c, (void)run, (void)err;
	out->u.i = s->n;
	return DTX_OK;
}

static void texts_save(const struct dtx_aggcall *c, const void *state, struct dtx_buf *out)
{
	(void)c;
	dtx_aggkeys_save(state, out);
}

static bool texts_load(const struct dtx_aggcall *c, void *state, const char **at)
{
	(void)c;
	return dtx_aggkeys_load(state, at);
}

static const struct dtx_aggkernel distinct_texts = { .size = sizeof(struct dtx_aggkeys),
	                                             .frees = true,
	                                             .grows = true,
	                                             .add = texts_rows,
	                                             .merge = texts_merge,
	                                             .final = texts_final,
	                                             .free = texts_free,
	                                             .save = texts_save,
	                                             .load = texts_load };

/* --- all texts, in the order of the table --- */

struct piece {
	struct piece *next;
	uint64_t pos;
	uint32_t len;
	char text[];
};
/* A list, the last text first: adding one touches none of those before. All zero: empty. */
struct pieces {
	struct piece *first, *last;
	size_t n;
	bool pooled; /* the texts belong to a pool and are freed with it */
};

static bool pieces_add(struct pieces *s, uint64_t pos, struct dtx_str text, struct dtx_arena *pool)
{
	const size_t size = sizeof(struct piece) + text.len;
	struct piece *p = pool ? dtx_arena_alloc(pool, size, 1) : dtx_mem_alloc(size, 1);

	if (!p)
		return false;
	*p = (struct piece){ .next = s->first, .pos = pos, .len = (uint32_t)text.len };
	if (text.len)
		memcpy(p->text, text.ptr, text.len);
	if (!s->first)
		s->last = p;
	s->first = p;
	s->n++;
	s->pooled = pool != NULL;
	return true;
}

static enum dtx_code pieces_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                                 const struct dtx_aggrows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)c;
	for (uint32_t k = 0; k < r->n; k++) {
		uint32_t i = ROW(k);

		if (!pieces_add(STATE(struct pieces, k), dtx_batch_pos(r->in, i),
		                dtx_column_text(r->col, i), r->pool))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

static void pieces_free(void *state)
{
	struct pieces *s = state;

	for (struct piece *p = s->pooled ? NULL : s->first, *next; p; p = next) {
		next = p->next;
		dtx_mem_free(p);
	}
	memset(s, 0, sizeof(*s));
}

static enum dtx_code pieces_merge(const struct dtx_aggcall *c, void *to, void *from,
                                  struct dtx_err *err)
{
	struct pieces *a = to, *b = from;

	(void)c, (void)err;
	if (!b->n)
		return DTX_OK;
	b->last->next = a->first;
	a->first = b->first;
	a->last = a->n ? a->last : b->last;
	a->n += b->n;
	a->pooled = b->pooled; /* as those of a: a run has pools or it has none */
	memset(b, 0, sizeof(*b));
	return DTX_OK;
}

static int piece_cmp(const void *a, const void *b)
{
	uint64_t x = (*(struct piece *const *)a)->pos, y = (*(struct piece *const *)b)->pos;

	return (x > y) - (x < y);
}

/* Lists the texts in the order of the table, which they mostly have if one worker added them. */
static void pieces_order(const struct pieces *s, struct piece **out)
{
	bool sorted = true;
	size_t i = s->n;

	for (struct piece *p = s->first; p; p = p->next) {
		out[--i] = p;
		sorted = sorted && (!p->next || p->next->pos < p->pos);
	}
	if (!sorted)
		qsort(out, s->n, sizeof(struct piece *), piece_cmp);
}

static enum dtx_code pieces_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                  struct dtx_val *out, struct dtx_err *err)
{
	const struct pieces *s = state;
	struct piece *few[32], **all = few;
	enum dtx_code rc = DTX_OK;

	out->null = s->n == 0;
	if (!s->n)
		return DTX_OK;
	if (s->n > DTX_COUNT(few))
		all = dtx_mem_alloc(s->n, sizeof(struct piece *));
	if (!all)
		DTX_FAIL_MEM(err);
	pieces_order(s, all);
	for (size_t i = 0; i < s->n; i++) {
		if (i)
			dtx_buf_adds(run->buf, c->sep);
		dtx_buf_addn(run->buf, all[i]->text, all[i]->len);
	}
	out->u.s = dtx_buf_str(run->buf);
out:
	if (all != few)
		dtx_mem_free(all);
	return rc;
}

static void pieces_save(const struct dtx_aggcall *c, const void *state, struct dtx_buf *out)
{
	const struct pieces *s = state;

	(void)c;
	dtx_word_save(s->n, out);
	for (const struct piece *p = s->first; p; p = p->next) {
		dtx_word_save(p->pos, out);
		dtx_text_save((struct dtx_str){ p->text, p->len }, out);
	}
}

static bool pieces_load(const struct dtx_aggcall *c, void *state, const char **at)
{
	(void)c;
	for (uint64_t n = dtx_word_load(at); n; n--) {
		uint64_t pos = dtx_word_load(at);

		if (!pieces_add(state, pos, dtx_text_load(at), NULL))
			return false;
	}
	return true;
}

static const struct dtx_aggkernel pieces = { .size = sizeof(struct pieces),
	                                     .frees = true,
	                                     .grows = true,
	                                     .add = pieces_rows,
	                                     .merge = pieces_merge,
	                                     .final = pieces_final,
	                                     .free = pieces_free,
	                                     .save = pieces_save,
	                                     .load = pieces_load };

const struct dtx_aggkernel *dtx_aggkernel_list(const struct dtx_aggcall *c)
{
	if (c->kind == DTX_AGG_CONCAT)
		return &pieces;
	if (c->argtype.type == DTX_T_TEXT || c->argtype.type == DTX_T_DECIMAL)
		return &distinct_texts;
	return &distinct_words;
}
