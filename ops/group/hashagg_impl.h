/* Groups from inside: for hashagg.c and hashagg_disk.c. */
#ifndef DTX_OPS_GROUP_HASHAGG_IMPL_H
#define DTX_OPS_GROUP_HASHAGG_IMPL_H

#include "core/base/hash/hash.h"
#include "core/base/prefault.h"
#include "ops/group/hashagg.h"

enum kind { KIND_NONE, KIND_TEXT, KIND_INT, KIND_ROW };

struct dtx_groups {
	enum kind kind;
	uint32_t nkeys, n;
	uint32_t told;    /* of n, to pages */
	uint32_t null_id; /* TEXT, INT: the null key has no slot */
	uint64_t *slot;   /* id + 1, the hash above it; 0: free */
	size_t nslots;    /* any number below 2^32 */
	uint32_t *hash;   /* per group; NULL: KIND_INT, whose keys tell it */
	size_t cap_hash, cap_key;
	union {
		void *any;
		struct dtx_text *text;
		int64_t *i64;
		const char **row; /* as row_pack writes them */
	} key;
	struct dtx_arena arena; /* long texts, row keys */
	bool borrows;           /* these of new keys are others' */
	struct dtx_group_probe probe;
	struct dtx_groupcache *cache; /* or NULL */
	struct dtx_prefault pages;    /* of hash, key, arena */
	struct dtx_owner *slot_owner, *key_owner,
		*bytes_owner; /* on disk: of slot, key, its bytes */
};

static inline size_t key_size(enum kind kind)
{
	switch (kind) {
	case KIND_TEXT: return sizeof(struct dtx_text);
	case KIND_INT: return sizeof(int64_t);
	default: return sizeof(const char *);
	}
}

/* A row key as it is kept: its length in one byte, or, if that is ROW_LONG, in the four behind it,
 * then its bytes. */
#define ROW_LONG     255u
#define ROW_HEAD_MAX (1 + sizeof(uint32_t))

static inline struct dtx_str row_key(const char *kept)
{
	uint32_t len = (unsigned char)*kept++;

	if (len == ROW_LONG) {
		memcpy(&len, kept, sizeof(len));
		kept += sizeof(len);
	}
	return (struct dtx_str){ kept, len };
}

static inline size_t row_head(uint32_t len)
{
	return len < ROW_LONG ? 1 : ROW_HEAD_MAX;
}

/* Of a key that is kept. */
static inline const char *row_kept(struct dtx_str key)
{
	return key.ptr - row_head((uint32_t)key.len);
}

/* 32 bits of a hash are all that is used: its first ones say where a key belongs, its last ones its
 * partition, and all of them tell keys apart that are near each other. */
static inline uint32_t dtx_groups_hash_bits(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}

static inline uint32_t dtx_groups_hash_int(int64_t key)
{
	return dtx_groups_hash_bits(dtx_hash_mix((uint64_t)key, 1));
}

static inline uint32_t dtx_groups_hash(const struct dtx_groups *g, uint32_t id)
{
	if (g->kind != KIND_INT)
		return g->hash[id];
	return id == g->null_id ? 0 : dtx_groups_hash_int(g->key.i64[id]);
}

/* Where a hash belongs among n slots: as a part of 2^32 (Lemire, Fast random integer generation in
 * an interval, 2019: a product for a division).  So a table is in order of its hashes but for what
 * was taken, whatever its size. */
static inline size_t dtx_slot_home(uint32_t hash, size_t n)
{
	return (uint64_t)hash * n >> 32;
}

static inline uint64_t dtx_slot_of(uint32_t hash, uint32_t id)
{
	return (uint64_t)hash << 32 | (id + 1);
}

static inline uint32_t dtx_slot_hash(uint64_t slot)
{
	return (uint32_t)(slot >> 32);
}

static inline size_t dtx_slot_next(size_t at, size_t n)
{
	return at + 1 == n ? 0 : at + 1;
}

#define DTX_SLOTS_BIG ((size_t)1 << 16)

/* A table beyond the caches is fuller: what it costs are its pages. */
static inline bool is_full(const struct dtx_groups *g)
{
	size_t n = (size_t)g->n + 1;

	return g->nslots < DTX_SLOTS_BIG ? n * 2 > g->nslots : n * 8 > g->nslots * 5;
}

/* As many slots as n groups need by that rule. */
static inline size_t dtx_slots_for(size_t n)
{
	size_t few = 2 * n, many = n + n / 5 * 3 + 3;

	return few < DTX_SLOTS_BIG ? few : DTX_MAX(many, DTX_SLOTS_BIG);
}

/* Hashes and keys of n groups; a larger table of slots.  False: no memory, and of the table nothing
 * may be asked any more. */
DTX_MUSTUSE bool dtx_groups_more(struct dtx_groups *g, size_t n);
DTX_MUSTUSE bool dtx_groups_grow(struct dtx_groups *g);
static inline bool dtx_groups_room(struct dtx_groups *g, size_t n)
{
	return DTX_LIKELY(n <= g->cap_hash && n <= g->cap_key) || dtx_groups_more(g, n);
}
/* Tells how far the memory is used, so that others may make the pages of the rest. */
void dtx_groups_pages(struct dtx_groups *g);

/* Groups of a table of one text key for the live rows [from, from + n), at most DTX_GROUP_CHUNK;
 * false: no memory. */
DTX_MUSTUSE bool dtx_groups_texts(struct dtx_groups *g, const struct dtx_column *col,
                                  const struct dtx_batch *b, uint32_t from, uint32_t n,
                                  uint32_t *ids);

#endif
