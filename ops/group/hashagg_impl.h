/* Internals of groups, shared by hashagg*.c. */
#ifndef DTX_OPS_GROUP_HASHAGG_IMPL_H
#define DTX_OPS_GROUP_HASHAGG_IMPL_H

#include "core/base/hash/hash.h"
#include "core/base/memory/prefault.h"
#include "ops/group/hashagg.h"

enum kind { KIND_NONE, KIND_TEXT, KIND_INT, KIND_ROW };

struct dtx_groups {
	enum kind kind;
	uint32_t nkeys, n;
	uint32_t requested; /* number of groups for which pages were requested */
	uint32_t null_id;   /* TEXT, INT: the null key has no slot */
	uint64_t *slot;     /* id + 1, and the hash in the upper half; 0: free */
	size_t nslots;      /* any number below 2^32 */
	uint32_t *hash;     /* per group; NULL for KIND_INT, whose hashes are computed from the
	                     * keys */
	size_t cap_hash, cap_key;
	union {
		void *any;
		struct dtx_text *text;
		int64_t *i64;
		const char **row; /* as row_pack writes them */
	} key;
	struct dtx_arena arena; /* long texts, row keys */
	bool borrows;           /* the arena of the other groups has the bytes of new keys */
	struct dtx_group_probe probe;
	struct dtx_groupcache *cache; /* NULL: none */
	struct dtx_prefault pages;    /* of hash, key, arena */
	struct dtx_owner *slot_owner, *key_owner,
		*bytes_owner; /* on disk: owners of slot, key and its bytes */
};

static inline size_t key_size(enum kind kind)
{
	switch (kind) {
	case KIND_TEXT: return sizeof(struct dtx_text);
	case KIND_INT: return sizeof(int64_t);
	default: return sizeof(const char *);
	}
}

/* A row key in memory: its length in one byte or, if that byte is ROW_LONG, in the four bytes after
 * it, then its bytes. */
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

/* The start of a key in memory, from its bytes. */
static inline const char *row_kept(struct dtx_str key)
{
	return key.ptr - row_head((uint32_t)key.len);
}

/* Only 32 bits of a hash are used.  The first bits decide where a key belongs in the table, the
 * last bits its partition; all of them distinguish keys that are close to each other in the
 * table. */
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

/* The home of a hash among n slots: the hash as a fraction of 2^32, computed by a multiplication
 * instead of a division (D. Lemire, "Fast random integer generation in an interval", 2019).
 * Whatever its size, the table is therefore ordered by hash, except where a slot was occupied. */
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

/* A table that is larger than the caches is filled more densely, because its pages are the main
 * cost. */
static inline bool table_full(const struct dtx_groups *g)
{
	size_t n = (size_t)g->n + 1;

	return g->nslots < DTX_SLOTS_BIG ? n * 2 > g->nslots : n * 8 > g->nslots * 5;
}

/* The number of slots that n groups need by that rule. */
static inline size_t dtx_slots_for(size_t n)
{
	size_t few = 2 * n, many = n + n / 5 * 3 + 3;

	return few < DTX_SLOTS_BIG ? few : DTX_MAX(many, DTX_SLOTS_BIG);
}

/* Make room for n groups (hashes and keys), or enlarge the table of slots.  False: out of memory;
 * the groups must not be used any more. */
DTX_MUSTUSE bool dtx_groups_more(struct dtx_groups *g, size_t n);
static inline bool dtx_groups_room(struct dtx_groups *g, size_t n)
{
	return DTX_LIKELY(n <= g->cap_hash && n <= g->cap_key) || dtx_groups_more(g, n);
}

/* Finds or adds the groups of the live rows [from, from + n) for a single text key; at most
 * DTX_GROUP_CHUNK rows.  False: out of memory. */
DTX_MUSTUSE bool dtx_groups_texts(struct dtx_groups *g, const struct dtx_column *col,
                                  const struct dtx_batch *b, uint32_t from, uint32_t n,
                                  uint32_t *ids);

#endif
