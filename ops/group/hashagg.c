/* Groups: assigns dense ids to rows by equality of their keys.  A hash table with linear probing,
 * kept in the order of its hashes; rows are processed in chunks, so that the cache misses of a
 * chunk overlap. */
#include "ops/group/hashagg_impl.h"

#include "core/base/memory/mem.h"
#include "core/base/memory/prefetch.h"
#include "core/data/key.h"
#include "ops/group/groupcache.h"

/* The memory of groups: slots, hashes and keys as they grow, and pages that are made ahead. */

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
static bool groups_grow(struct dtx_groups *g)
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
	dtx_prefault_report_used(&g->pages, span, array, g->n * size, more * size, cap * size);
}

#define TIMES_AHEAD 4u /* pages for as many groups as came last time */

#define ROW_BYTES 32u /* estimated size of a key with several columns */

/* Reports how far the memory is used, so that other threads can make the pages after that. */
static void groups_pages(struct dtx_groups *g)
{
	size_t used, size;
	const void *block = dtx_arena_block(&g->arena, &used, &size);
	size_t more = (size_t)(g->n - g->requested) * TIMES_AHEAD;

	g->requested = g->n;
	if (g->hash)
		request_pages(g, SPAN_HASHES, g->hash, sizeof(*g->hash), g->cap_hash, more);
	request_pages(g, SPAN_KEYS, g->key.any, key_size(g->kind), g->cap_key, more);
	dtx_prefault_report_used(&g->pages, SPAN_BYTES, block, used, more * ROW_BYTES, size);
}

void dtx_groups_ahead(struct dtx_groups *g)
{
	dtx_prefault_make(&g->pages);
}

#define CHUNK                                                                                      \
	DTX_GROUP_CHUNK /* rows that are hashed before the first is probed, so that their slots    \
	                 * can be prefetched */
/* With at most so many groups the keys stay in the L1 cache. */
#define KEYS_NEAR ((uint32_t)1 << 10)
/* How far ahead to prefetch from an occupied slot: often the next cache line. */
#define SLOTS_NEAR    4u
#define GROUPS_MAX    (UINT32_MAX - 2)
#define KEY_BYTES_MAX ((size_t)1 << 30)

static enum kind kind_of(const struct dtx_typeref *type, uint32_t nkeys)
{
	if (nkeys == 0)
		return KIND_NONE;
	if (nkeys == 1 && type[0].type == DTX_T_TEXT)
		return KIND_TEXT;
	if (nkeys == 1 && (type[0].type == DTX_T_INT64 || type[0].type == DTX_T_DATETIME))
		return KIND_INT;
	return KIND_ROW;
}

/* Gives an empty g its first slots, and the cache of its keys. */
static enum dtx_code groups_begin(struct dtx_groups *g, const struct dtx_typeref *type,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	g->n = g->requested = 0;
	g->null_id = DTX_GROUP_NONE;
	g->nslots = 256;
	g->cap_key = 0;
	g->cap_hash = g->kind == KIND_INT ? SIZE_MAX : 0; /* room for all, as there are no hashes */
	g->slot = dtx_mem_zalloc(g->nslots, sizeof(*g->slot));
	if (!g->slot)
		DTX_FAIL_MEM(err);
	if (type)
		DTX_TRY(dtx_groupcache_new(type, g->nkeys, &g->cache, err));
out:
	return rc;
}

enum dtx_code dtx_groups_new(const struct dtx_typeref *type, uint32_t nkeys,
                             struct dtx_groups **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_groups *g = dtx_mem_zalloc(1, sizeof(*g));

	if (!g)
		DTX_FAIL_MEM(err);
	g->kind = kind_of(type, nkeys);
	g->nkeys = nkeys;
	dtx_prefault_init(&g->pages);
	dtx_buf_init(&g->probe.bytes, KEY_BYTES_MAX);
	DTX_TRY(groups_begin(g, type, err));
	*out = g;
	g = NULL;
out:
	dtx_groups_free(g);
	return rc;
}

/* Frees what holds the groups. */
static void groups_end(struct dtx_groups *g)
{
	if (!g->slot_owner)
		dtx_mem_free(g->slot);
	if (!g->key_owner)
		dtx_mem_free(g->key.any);
	dtx_owner_unref(g->slot_owner);
	dtx_owner_unref(g->key_owner);
	dtx_owner_unref(g->bytes_owner);
	dtx_mem_free(g->hash);
	dtx_groupcache_free(g->cache);
	dtx_arena_clear(&g->arena);
	g->slot = NULL;
	g->key.any = NULL;
	g->hash = NULL;
	g->cache = NULL;
	g->slot_owner = g->key_owner = g->bytes_owner = NULL;
}

/* It has no cache afterwards: groups are removed where there are many, and a cache is for few. */
enum dtx_code dtx_groups_reset(struct dtx_groups *g, struct dtx_err *err)
{
	enum dtx_code rc;

	dtx_prefault_hold(&g->pages);
	groups_end(g);
	rc = groups_begin(g, NULL, err);
	dtx_prefault_drop(&g->pages);
	return rc;
}

void dtx_groups_free(struct dtx_groups *g)
{
	if (!g)
		return;
	groups_end(g);
	dtx_buf_clear(&g->probe.bytes);
	dtx_prefault_clear(&g->pages);
	dtx_mem_free(g);
}

size_t dtx_groups_bytes(const struct dtx_groups *g)
{
	return dtx_arena_size(&g->arena);
}

uint32_t dtx_groups_count(const struct dtx_groups *g)
{
	return g->n;
}

const char *dtx_groups_row(const struct dtx_groups *g, uint32_t id)
{
	return row_key(g->key.row[id]).ptr;
}

static inline unsigned part_of(uint32_t hash, unsigned shift, unsigned bits)
{
	return hash >> shift & ((1u << bits) - 1);
}

unsigned dtx_groups_part(const struct dtx_groups *g, uint32_t id, unsigned shift, unsigned bits)
{
	return part_of(dtx_groups_hash(g, id), shift, bits);
}

/* --- keys --- */

union key { /* the key of one row */
	struct dtx_text text;
	int64_t i64;
	struct dtx_str row;
};

static inline void text_words(const struct dtx_text *t, uint64_t w[2])
{
	memcpy(w, t, sizeof(*t));
}

static inline uint32_t hash_text(const struct dtx_text *t)
{
	uint64_t w[2];

	text_words(t, w);
	if (t->len > DTX_TEXT_INLINE)
		w[1] = dtx_hash64(t->u.ptr, t->len, 0);
	return dtx_groups_hash_bits(dtx_hash_mix(w[0], w[1]));
}

static inline bool text_same(const struct dtx_text *a, const struct dtx_text *b)
{
	uint64_t x[2], y[2];

	text_words(a, x);
	text_words(b, y);
	if (x[0] != y[0])
		return false;
	return a->len <= DTX_TEXT_INLINE ? x[1] == y[1] : memcmp(a->u.ptr, b->u.ptr, a->len) == 0;
}

/* Compares row keys by words.  They are rarely shorter than a word, so the last word may overlap
 * the one before it. */
static inline bool row_same(struct dtx_str a, struct dtx_str b)
{
	uint64_t x, y;

	if (a.len != b.len)
		return false;
	if (a.len < sizeof(x))
		return a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0;
	for (size_t at = 0; at + sizeof(x) < a.len; at += sizeof(x)) {
		memcpy(&x, a.ptr + at, sizeof(x));
		memcpy(&y, b.ptr + at, sizeof(y));
		if (x != y)
			return false;
	}
	memcpy(&x, a.ptr + a.len - sizeof(x), sizeof(x));
	memcpy(&y, b.ptr + b.len - sizeof(y), sizeof(y));
	return x == y;
}

static inline bool key_same(const struct dtx_groups *g, enum kind kind, uint32_t id,
                            const union key *key)
{
	switch (kind) {
	case KIND_TEXT: return text_same(&g->key.text[id], &key->text);
	case KIND_INT: return g->key.i64[id] == key->i64;
	case KIND_ROW: return row_same(row_key(g->key.row[id]), key->row);
	case KIND_NONE: break;
	}
	return true;
}

/* The slot of the key, or the free slot where it belongs. */
static inline size_t slot_find(const struct dtx_groups *g, enum kind kind, uint32_t hash,
                               const union key *key)
{
	size_t at = dtx_slot_home(hash, g->nslots);

	for (;; at = dtx_slot_next(at, g->nslots)) {
		uint64_t s = g->slot[at];

		if (!s)
			return at;
		if (dtx_slot_hash(s) == hash && key_same(g, kind, (uint32_t)s - 1, key))
			return at;
	}
}

/* NULL: out of memory. */
static const char *row_pack(struct dtx_arena *a, struct dtx_str key)
{
	uint32_t len = (uint32_t)key.len;
	size_t head = row_head(len);
	char *kept = dtx_arena_bytes(a, head + len);

	if (!kept)
		return NULL;
	*kept = (char)(head == 1 ? len : ROW_LONG);
	memcpy(kept + 1, &len, head - 1);
	memcpy(kept + head, key.ptr, len);
	return kept;
}

static bool key_store(struct dtx_groups *g, uint32_t id, const union key *key)
{
	char *copy;

	switch (g->kind) {
	case KIND_TEXT:
		g->key.text[id] = key->text;
		if (key->text.len <= DTX_TEXT_INLINE || g->borrows)
			return true;
		copy = dtx_arena_pack(&g->arena, key->text.u.ptr, key->text.len);
		g->key.text[id].u.ptr = copy;
		return copy != NULL;
	case KIND_INT: g->key.i64[id] = key->i64; return true;
	case KIND_ROW:
		g->key.row[id] = g->borrows ? row_kept(key->row) : row_pack(&g->arena, key->row);
		return g->key.row[id] != NULL;
	case KIND_NONE: break;
	}
	return true;
}

/* Adds a group.  False: out of memory. */
static bool group_add(struct dtx_groups *g, uint32_t hash, const union key *key, uint32_t *id)
{
	if (g->n >= GROUPS_MAX || !dtx_groups_room(g, (size_t)g->n + 1))
		return false;
	if (key && !key_store(g, g->n, key))
		return false;
	if (!key)
		memset((char *)g->key.any + g->n * key_size(g->kind), 0, key_size(g->kind));
	if (g->hash)
		g->hash[g->n] = hash;
	*id = g->n++;
	return true;
}

/* Adds a key that is not in the table and belongs at slot `at`. */
static bool group_new(struct dtx_groups *g, enum kind kind, uint32_t hash, const union key *key,
                      size_t at, uint32_t *id)
{
	if (table_full(g)) {
		if (!groups_grow(g))
			return false;
		at = slot_find(g, kind, hash, key);
	}
	if (!group_add(g, hash, key, id))
		return false;
	g->slot[at] = dtx_slot_of(hash, *id);
	return true;
}

static inline bool group_put(struct dtx_groups *g, enum kind kind, uint32_t hash,
                             const union key *key, uint32_t *id)
{
	size_t at = slot_find(g, kind, hash, key);

	if (!g->slot[at])
		return group_new(g, kind, hash, key, at, id);
	*id = (uint32_t)g->slot[at] - 1;
	return true;
}

static bool group_null(struct dtx_groups *g, uint32_t *id)
{
	if (g->null_id == DTX_GROUP_NONE && !group_add(g, 0, NULL, &g->null_id))
		return false;
	*id = g->null_id;
	return true;
}

/* --- a batch --- */

/* The live rows [from, from + n): key and hash of each. */
struct chunk {
	union key key[CHUNK];
	uint32_t hash[CHUNK];
	bool null[CHUNK];
	uint32_t n;
	bool nulls;
};

static void chunk_text(struct chunk *c, const struct dtx_column *col, const struct dtx_batch *b,
                       uint32_t from)
{
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t row = b->sel ? b->sel[from + i] : from + i;

		c->key[i].text = col->form == DTX_F_DICT ? col->dict->v.text[col->v.code[row]]
		                                         : col->v.text[row];
		c->null[i] = col->valid && !dtx_bit(col->valid, row);
		c->hash[i] = c->null[i] ? 0 : hash_text(&c->key[i].text);
	}
	c->nulls = col->valid != NULL;
}

static void chunk_int(struct chunk *c, const struct dtx_column *col, const struct dtx_batch *b,
                      uint32_t from)
{
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t row = b->sel ? b->sel[from + i] : from + i;

		c->key[i].i64 = col->v.i64[row];
		c->hash[i] = dtx_groups_hash_int(c->key[i].i64);
		c->null[i] = col->valid && !dtx_bit(col->valid, row);
	}
	c->nulls = col->valid != NULL;
}

static bool chunk_row(struct chunk *c, struct dtx_column *const *col, uint32_t ncols,
                      const struct dtx_batch *b, uint32_t from, struct dtx_buf *bytes)
{
	size_t end[CHUNK], at = 0;

	dtx_buf_reset(bytes);
	dtx_key_equal_rows(col, ncols, b->sel, from, c->n, bytes, end);
	if (!dtx_buf_ok(bytes))
		return false;
	for (uint32_t i = 0; i < c->n; i++) {
		c->key[i].row = (struct dtx_str){ bytes->ptr + at, end[i] - at };
		c->hash[i] = dtx_groups_hash_bits(dtx_hash64(bytes->ptr + at, end[i] - at, 0));
		at = end[i];
	}
	c->nulls = false;
	return true;
}

static bool chunk_load(const struct dtx_groups *g, struct chunk *c, struct dtx_column *const *key,
                       const struct dtx_batch *b, uint32_t from, struct dtx_buf *bytes)
{
	c->n = DTX_MIN(CHUNK, b->nsel - from);
	if (g->kind == KIND_TEXT)
		chunk_text(c, key[0], b, from);
	else if (g->kind == KIND_INT)
		chunk_int(c, key[0], b, from);
	else
		return chunk_row(c, key, g->nkeys, b, from, bytes);
	return true;
}

/* Prefetches what the chunk will read: the slots; then, if the table is larger than the L1 cache,
 * the keys of these slots, or the slots after those that other keys occupy. */
static void chunk_near(const struct dtx_groups *g, const struct chunk *c)
{
	const size_t size = key_size(g->kind), n = g->nslots;

	for (uint32_t i = 0; i < c->n; i++)
		DTX_PREFETCH(&g->slot[dtx_slot_home(c->hash[i], n)]);
	for (uint32_t i = 0; g->n > KEYS_NEAR && i < c->n; i++) {
		size_t home = dtx_slot_home(c->hash[i], n);
		uint64_t s = g->slot[home];

		if (s && dtx_slot_hash(s) == c->hash[i])
			DTX_PREFETCH((const char *)g->key.any + ((uint32_t)s - 1) * size);
		else if (s)
			DTX_PREFETCH(&g->slot[DTX_MIN(home + SLOTS_NEAR, n - 1)]);
	}
}

static inline bool chunk_ids(struct dtx_groups *g, enum kind kind, const struct chunk *c,
                             uint32_t *ids)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < c->n; i++) {
		if (c->nulls && c->null[i])
			ok = group_null(g, &ids[i]);
		else
			ok = group_put(g, kind, c->hash[i], &c->key[i], &ids[i]);
	}
	return ok;
}

/* One loop per kind of key, so that the comparison of keys is inline. */
static bool chunk_dispatch(struct dtx_groups *g, const struct chunk *c, uint32_t *ids)
{
	switch (g->kind) {
	case KIND_TEXT: return chunk_ids(g, KIND_TEXT, c, ids);
	case KIND_INT: return chunk_ids(g, KIND_INT, c, ids);
	default: return chunk_ids(g, KIND_ROW, c, ids);
	}
}

/* Finds the ids of the live rows [from, from + n). */
static bool chunk_find(struct dtx_groups *g, struct chunk *c, struct dtx_column *const *key,
                       const struct dtx_batch *b, uint32_t from, uint32_t *ids)
{
	if (!chunk_load(g, c, key, b, from, &g->probe.bytes))
		return false;
	chunk_near(g, c);
	return chunk_dispatch(g, c, ids);
}

/* The same for some rows of the chunk, in their order, with the same effect as for all. */
static bool chunk_misses(struct dtx_groups *g, struct chunk *c, struct dtx_column *const *key,
                         const struct dtx_batch *b, uint32_t from,
                         const struct dtx_group_misses *miss, uint32_t *ids)
{
	struct dtx_batch some = *b;
	uint32_t found[CHUNK];
	uint16_t sel[CHUNK];

	for (uint32_t i = 0; i < miss->n; i++)
		sel[i] = b->sel ? b->sel[from + miss->at[i]] : (uint16_t)(from + miss->at[i]);
	some.sel = sel;
	some.nsel = miss->n;
	if (!chunk_find(g, c, key, &some, 0, found))
		return false;
	for (uint32_t i = 0; i < miss->n; i++)
		ids[miss->at[i]] = found[i];
	return true;
}

static bool chunk_cached(struct dtx_groups *g, struct chunk *c, struct dtx_column *const *key,
                         const struct dtx_batch *b, uint32_t from, uint32_t *ids)
{
	struct dtx_group_misses miss;

	dtx_groupcache_count(g->cache, g->n);
	if (!dtx_groupcache_get(g->cache, key, b, from, DTX_MIN(CHUNK, b->nsel - from), ids, &miss))
		return chunk_find(g, c, key, b, from, ids);
	if (miss.n && !chunk_misses(g, c, key, b, from, &miss, ids))
		return false;
	dtx_groupcache_put(g->cache, ids, &miss);
	return true;
}

/* Looks up the text of row i of the batch, and what is known of its code then. */
static bool dict_put(struct dtx_groups *g, const struct dtx_column *col, uint32_t row,
                     uint32_t *known, uint32_t *id)
{
	uint32_t code = col->v.code[row];
	union key key;

	if (col->valid && !dtx_bit(col->valid, row))
		return group_null(g, id);
	if (!known[code]) {
		key.text = col->dict->v.text[code];
		if (!group_put(g, KIND_TEXT, hash_text(&key.text), &key, id))
			return false;
		known[code] = *id + 1;
	}
	*id = known[code] - 1;
	return true;
}

/* The ids of n rows whose codes are known and not null; false: one is not. */
static bool dict_known(const uint32_t *code, const uint32_t *known, uint32_t n, uint32_t *ids)
{
	uint32_t missing = 0, i;

	for (i = 0; i < n; i++) {
		uint32_t id = known[code[i]];

		missing |= !id;
		ids[i] = id - 1;
	}
	return !missing;
}

/* The ids of the live rows by a text key of a dictionary: each text of it is looked up once. */
static enum dtx_code dict_ids(struct dtx_groups *g, const struct dtx_column *col,
                              const struct dtx_batch *b, uint32_t *ids, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t *known = dtx_mem_zalloc(col->dict->len, sizeof(*known)); /* id + 1 */
	const bool plain = !b->sel && !col->valid;

	if (!known)
		DTX_FAIL_MEM(err);
	for (uint32_t at = 0, n; at < b->nsel; at += n) {
		n = DTX_MIN(b->nsel - at, CHUNK);
		if (plain && dict_known(col->v.code + at, known, n, ids + at))
			continue;
		for (uint32_t i = at; i < at + n; i++)
			if (!dict_put(g, col, b->sel ? b->sel[i] : i, known, &ids[i]))
				DTX_FAIL_MEM(err);
	}
	groups_pages(g);
out:
	dtx_mem_free(known);
	return rc;
}

/* Makes the dictionaries among the keys flat, for keys that are put together from columns. */
static enum dtx_code flat_keys(const struct dtx_groups *g, struct dtx_column *const *key,
                               struct dtx_column ***out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*out = dtx_mem_zalloc(g->nkeys + 1u, sizeof(struct dtx_column *));
	if (!*out)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < g->nkeys; i++)
		DTX_TRY(dtx_column_flat(key[i], &(*out)[i], err));
out:
	return rc;
}

static bool has_dict(const struct dtx_groups *g, struct dtx_column *const *key)
{
	for (uint32_t i = 0; i < g->nkeys; i++)
		if (key[i]->form == DTX_F_DICT)
			return true;
	return false;
}

enum dtx_code dtx_groups_ids(struct dtx_groups *g, struct dtx_column *const *key,
                             const struct dtx_batch *b, uint32_t *ids, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column **flat = NULL;
	struct chunk c;

	if (g->kind == KIND_TEXT && key[0]->form == DTX_F_DICT) {
		rc = dict_ids(g, key[0], b, ids, err);
		goto out;
	}
	if (g->kind == KIND_ROW && has_dict(g, key) &&
	    !(g->cache && dtx_groupcache_ready(g->cache))) {
		DTX_TRY(flat_keys(g, key, &flat, err));
		key = flat;
	}
	if (g->kind == KIND_NONE) {
		uint32_t id;

		if (b->nsel && !group_null(g, &id))
			DTX_FAIL_MEM(err);
		memset(ids, 0, b->nsel * sizeof(*ids));
		goto out;
	}
	for (uint32_t at = 0; at < b->nsel; at += CHUNK)
		if (!(g->cache ? chunk_cached(g, &c, key, b, at, ids + at)
		               : chunk_find(g, &c, key, b, at, ids + at)))
			DTX_FAIL_MEM(err);
	groups_pages(g);
out:
	for (uint32_t i = 0; flat && i < g->nkeys; i++)
		dtx_column_unref(flat[i]);
	dtx_mem_free(flat);
	return rc;
}

bool dtx_groups_texts(struct dtx_groups *g, const struct dtx_column *col, const struct dtx_batch *b,
                      uint32_t from, uint32_t n, uint32_t *ids)
{
	struct chunk c;

	c.n = n;
	chunk_text(&c, col, b, from);
	return chunk_ids(g, KIND_TEXT, &c, ids);
}

/* Prefetches for the whole chunk: first the slots, then the keys that have the right hash.  The
 * tables are larger than the caches. */
static inline void look_near(const struct dtx_group_parts *p, const struct chunk *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct dtx_groups *g = p->part[part_of(c->hash[i], 0, p->bits)];

		DTX_PREFETCH(&g->slot[dtx_slot_home(c->hash[i], g->nslots)]);
	}
}

/* The slot with this hash; 0 if no slot has it. */
static inline uint64_t slot_tagged(const struct dtx_groups *g, uint32_t hash)
{
	size_t at = dtx_slot_home(hash, g->nslots);
	uint64_t s = g->slot[at];

	while (s && dtx_slot_hash(s) != hash) {
		at = dtx_slot_next(at, g->nslots);
		s = g->slot[at];
	}
	return s;
}

static inline void look_slots(const struct dtx_group_parts *p, enum kind kind,
                              const struct chunk *c, uint64_t *slot)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct dtx_groups *g = p->part[part_of(c->hash[i], 0, p->bits)];

		slot[i] = slot_tagged(g, c->hash[i]);
		if (slot[i])
			DTX_PREFETCH((const char *)g->key.any +
			             ((uint32_t)slot[i] - 1) * key_size(kind));
	}
}

static inline void look_chunk(const struct dtx_group_parts *p, enum kind kind,
                              const struct chunk *c, uint32_t *ids)
{
	uint64_t slot[CHUNK];

	look_near(p, c);
	look_slots(p, kind, c, slot);
	for (uint32_t i = 0; i < c->n; i++) {
		bool null = c->nulls && c->null[i];
		unsigned part = null ? 0 : part_of(c->hash[i], 0, p->bits);
		const struct dtx_groups *g = p->part[part];
		uint32_t id = null ? g->null_id : (uint32_t)slot[i] - 1;

		/* another key may have the same hash */
		if (!null && slot[i] && !key_same(g, kind, id, &c->key[i]))
			id = (uint32_t)g->slot[slot_find(g, kind, c->hash[i], &c->key[i])] - 1;
		ids[i] = id == DTX_GROUP_NONE ? id : id + p->first[part];
	}
}

/* One loop per kind of key, so that the comparison of keys is inline. */
static void look_dispatch(const struct dtx_group_parts *p, const struct chunk *c, uint32_t *ids)
{
	switch (p->part[0]->kind) {
	case KIND_TEXT: look_chunk(p, KIND_TEXT, c, ids); break;
	case KIND_INT: look_chunk(p, KIND_INT, c, ids); break;
	default: look_chunk(p, KIND_ROW, c, ids); break;
	}
}

enum dtx_code dtx_groups_lookparts(const struct dtx_group_parts *parts, struct dtx_group_probe *p,
                                   struct dtx_column *const *key, const struct dtx_batch *b,
                                   uint32_t *ids, struct dtx_err *err)
{
	const struct dtx_groups *g = parts->part[0];
	enum dtx_code rc = DTX_OK;
	struct chunk c;

	if (!p->bytes.max)
		dtx_buf_init(&p->bytes, KEY_BYTES_MAX);
	for (uint32_t at = 0; g->kind != KIND_NONE && at < b->nsel; at += CHUNK) {
		if (!chunk_load(g, &c, key, b, at, &p->bytes))
			DTX_FAIL_MEM(err);
		look_dispatch(parts, &c, ids + at);
	}
	for (uint32_t i = 0; g->kind == KIND_NONE && i < b->nsel; i++)
		ids[i] = g->null_id;
out:
	return rc;
}

enum dtx_code dtx_groups_look(const struct dtx_groups *g, struct dtx_group_probe *p,
                              struct dtx_column *const *key, const struct dtx_batch *b,
                              uint32_t *ids, struct dtx_err *err)
{
	struct dtx_groups *one = (struct dtx_groups *)(uintptr_t)g; /* it is only read */
	const uint32_t first = 0;
	const struct dtx_group_parts parts = { &one, &first, 0 };

	return dtx_groups_lookparts(&parts, p, key, b, ids, err);
}

enum dtx_code dtx_groups_rowparts(const struct dtx_groups *g, struct dtx_group_probe *p,
                                  struct dtx_column *const *key, const struct dtx_batch *b,
                                  unsigned shift, unsigned bits, uint8_t *part, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct chunk c;

	if (!p->bytes.max)
		dtx_buf_init(&p->bytes, KEY_BYTES_MAX);
	for (uint32_t at = 0; at < b->nsel; at += CHUNK) {
		if (!chunk_load(g, &c, key, b, at, &p->bytes))
			DTX_FAIL_MEM(err);
		for (uint32_t i = 0; i < c.n; i++)
			part[at + i] =
				(uint8_t)(c.nulls && c.null[i] ? 0
			                                       : part_of(c.hash[i], shift, bits));
	}
out:
	return rc;
}

/* --- groups of groups --- */

static union key key_of(const struct dtx_groups *g, uint32_t id)
{
	union key key;

	memset(&key, 0, sizeof(key));
	if (g->kind == KIND_TEXT)
		key.text = g->key.text[id];
	else if (g->kind == KIND_INT)
		key.i64 = g->key.i64[id];
	else
		key.row = row_key(g->key.row[id]);
	return key;
}

uint32_t dtx_groups_find(const struct dtx_groups *g, const struct dtx_groups *from, uint32_t id)
{
	uint32_t hash = dtx_groups_hash(from, id);
	const size_t n = g->nslots;
	uint64_t s;

	if (id == from->null_id)
		return g->null_id;
	for (size_t at = dtx_slot_home(hash, n); (s = g->slot[at]) != 0;
	     at = dtx_slot_next(at, n)) {
		union key key;

		if (dtx_slot_hash(s) != hash)
			continue;
		key = key_of(from, id); /* most keys are in no other table, so the key is read only
		                         * after its hash was found */
		if (key_same(g, g->kind, (uint32_t)s - 1, &key))
			return (uint32_t)s - 1;
	}
	return DTX_GROUP_NONE;
}

void dtx_groups_near(const struct dtx_groups *g, const struct dtx_groups *from, uint32_t id)
{
	DTX_PREFETCH(&g->slot[dtx_slot_home(dtx_groups_hash(from, id), g->nslots)]);
}

/* A saved key: whether it is null, its hash, its bytes. */
void dtx_groups_save(const struct dtx_groups *g, uint32_t id, struct dtx_buf *out)
{
	bool null = id == g->null_id;
	uint32_t hash = dtx_groups_hash(g, id);
	struct dtx_str row;

	dtx_buf_addc(out, (char)null);
	if (null || g->kind == KIND_NONE)
		return;
	if (g->kind == KIND_INT) {
		dtx_buf_addn(out, &g->key.i64[id], sizeof(*g->key.i64));
		return;
	}
	dtx_buf_addn(out, &hash, sizeof(hash));
	if (g->kind == KIND_ROW) {
		row = row_key(g->key.row[id]);
		dtx_buf_addn(out, g->key.row[id], (size_t)(row.ptr - g->key.row[id]) + row.len);
		return;
	}
	dtx_buf_addn(out, &g->key.text[id].len, sizeof(g->key.text[id].len));
	dtx_buf_adds(out, dtx_text_str(&g->key.text[id]));
}

static void save_near(const struct dtx_groups *g, uint32_t id)
{
	DTX_PREFETCH((const char *)g->key.any + id * key_size(g->kind));
	if (g->hash)
		DTX_PREFETCH(&g->hash[id]);
}

/* When the key itself is in cache already. */
static void save_near_bytes(const struct dtx_groups *g, uint32_t id)
{
	const struct dtx_text *text = g->kind == KIND_TEXT ? &g->key.text[id] : NULL;

	if (g->kind == KIND_ROW)
		DTX_PREFETCH(g->key.row[id]);
	else if (text && text->len > DTX_TEXT_INLINE)
		DTX_PREFETCH(text->u.ptr);
}

void dtx_groups_save_soon(const struct dtx_groups *g, const uint32_t *id, uint32_t i, uint32_t n)
{
	if (i + 2 * DTX_SAVE_AHEAD < n)
		save_near(g, id[i + 2 * DTX_SAVE_AHEAD]);
	if (i + DTX_SAVE_AHEAD < n)
		save_near_bytes(g, id[i + DTX_SAVE_AHEAD]);
}

static uint32_t load_u32(const char **at)
{
	uint32_t v;

	memcpy(&v, *at, sizeof(v));
	*at += sizeof(v);
	return v;
}

bool dtx_groups_load(struct dtx_groups *g, const char **at, uint32_t *id)
{
	bool null = *(*at)++ != 0, ok;
	union key key;
	uint32_t hash;

	if (null || g->kind == KIND_NONE)
		return group_null(g, id);
	memset(&key, 0, sizeof(key));
	if (g->kind == KIND_INT) {
		memcpy(&key.i64, *at, sizeof(key.i64));
		*at += sizeof(key.i64);
		return group_put(g, KIND_INT, dtx_groups_hash_int(key.i64), &key, id);
	}
	hash = load_u32(at);
	g->borrows = true;
	if (g->kind == KIND_ROW) {
		key.row = row_key(*at);
		*at = key.row.ptr + key.row.len;
		ok = group_put(g, KIND_ROW, hash, &key, id);
	} else {
		uint32_t len = load_u32(at);

		key.text = dtx_text_of(*at, len);
		*at += len;
		ok = group_put(g, KIND_TEXT, hash, &key, id);
	}
	g->borrows = false;
	return ok;
}

#define AHEAD 16u /* number of slots that are prefetched */

enum dtx_code dtx_groups_merge(struct dtx_groups *g, const struct dtx_groups *from, uint32_t *id,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	g->borrows = true;
	for (uint32_t i = 0; i < from->n; i++) {
		union key key = key_of(from, i);

		if (i + AHEAD < from->n)
			dtx_groups_near(g, from, i + AHEAD);
		if (i == from->null_id
		            ? !group_null(g, &id[i])
		            : !group_put(g, g->kind, dtx_groups_hash(from, i), &key, &id[i]))
			DTX_FAIL_MEM(err);
	}
out:
	g->borrows = false;
	return rc;
}

/* Moves the keys of groups to disk. */

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
