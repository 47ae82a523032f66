/* Groups: assigns dense ids to rows by equality of their keys.  Null is a value like any other.
 *
 * Groups belong to one worker.  Ids are given in order of first appearance.  A single text key and
 * a single int key have loops of their own (a text of up to 12 bytes is compared as two words);
 * every other key is the bytes that dtx_key_equal makes of the row. */
#ifndef DTX_OPS_GROUP_HASHAGG_H
#define DTX_OPS_GROUP_HASHAGG_H

#include "core/base/memory/arena.h"
#include "core/data/batch.h"
#include "core/data/spill/spill.h"

#define DTX_GROUP_NONE  UINT32_MAX
#define DTX_GROUP_BITS  4u
#define DTX_GROUP_PARTS (1u << DTX_GROUP_BITS) /* number of partitions by hash */

struct dtx_groups;

/* type: of each key.  nkeys 0: all rows are in group 0. */
DTX_MUSTUSE enum dtx_code dtx_groups_new(const struct dtx_typeref *type, uint32_t nkeys,
                                         struct dtx_groups **out, struct dtx_err *err);
void dtx_groups_free(struct dtx_groups *g); /* NULL is allowed */
/* Removes all groups.  dtx_groups_ahead may be called at the same time. */
DTX_MUSTUSE enum dtx_code dtx_groups_reset(struct dtx_groups *g, struct dtx_err *err);
/* Makes pages for the keys that will come next.  Any thread may call it while another one adds
 * keys. */
void dtx_groups_ahead(struct dtx_groups *g);
/* Makes room for n keys at once; more may come.  Only if about as many are certain to come. */
DTX_MUSTUSE enum dtx_code dtx_groups_expect(struct dtx_groups *g, uint32_t n, struct dtx_err *err);
/* Sets ids[k] for live row k of b.  key[] are FLAT columns over all rows of b, texts
 * also DICT, which is faster.  New keys get the next ids, in the order of rows. */
DTX_MUSTUSE enum dtx_code dtx_groups_ids(struct dtx_groups *g, struct dtx_column *const *key,
                                         const struct dtx_batch *b, uint32_t *ids,
                                         struct dtx_err *err);
/* The same without adding keys: DTX_GROUP_NONE for a key that is not there.  Read-only, so any
 * thread may call it. */
struct dtx_group_probe { /* scratch memory of one thread; zeroed first, cleared at the end */
	struct dtx_buf bytes;
};
DTX_MUSTUSE enum dtx_code dtx_groups_look(const struct dtx_groups *g, struct dtx_group_probe *p,
                                          struct dtx_column *const *key, const struct dtx_batch *b,
                                          uint32_t *ids, struct dtx_err *err);
/* The same for groups that are partitioned by the first `bits` bits (0 to 8) of the hash.  The id
 * of a key is first[part] plus its id in that partition. */
struct dtx_group_parts {
	struct dtx_groups *const *part;
	const uint32_t *first;
	unsigned bits;
};
DTX_MUSTUSE enum dtx_code dtx_groups_lookparts(const struct dtx_group_parts *parts,
                                               struct dtx_group_probe *p,
                                               struct dtx_column *const *key,
                                               const struct dtx_batch *b, uint32_t *ids,
                                               struct dtx_err *err);
/* Sets part[k] for live row k: `bits` (1 to 8) bits of the hash of its key, taken `shift` bits
 * before the last ones.  The hash of a key is the same in all groups with these types of keys. */
DTX_MUSTUSE enum dtx_code dtx_groups_rowparts(const struct dtx_groups *g, struct dtx_group_probe *p,
                                              struct dtx_column *const *key,
                                              const struct dtx_batch *b, unsigned shift,
                                              unsigned bits, uint8_t *part, struct dtx_err *err);
/* Moves the keys to disk.  Afterwards g can only be read (dtx_groups_look, _count). */
DTX_MUSTUSE enum dtx_code dtx_groups_spill(struct dtx_groups *g, struct dtx_spill *s,
                                           struct dtx_spill_count *count, struct dtx_err *err);
uint32_t dtx_groups_count(const struct dtx_groups *g);
/* Bytes of memory that its long texts and row keys take; keys that are numbers or short texts, and
 * those on disk, count as 0. */
size_t dtx_groups_bytes(const struct dtx_groups *g);
/* For groups by several keys: the bytes that dtx_key_equal made. */
const char *dtx_groups_row(const struct dtx_groups *g, uint32_t id);
/* `bits` bits of the hash of a group, taken `shift` bits before the last ones. */
unsigned dtx_groups_part(const struct dtx_groups *g, uint32_t id, unsigned shift, unsigned bits);
/* Appends the key of a group, with its hash, as bytes. */
void dtx_groups_save(const struct dtx_groups *g, uint32_t id, struct dtx_buf *out);
/* Prefetches for those of the groups id[0, n) that are saved soon after id[i], as they lie apart:
 * where their keys are, and the bytes of those whose place was prefetched before. */
#define DTX_SAVE_AHEAD 12u
void dtx_groups_save_soon(const struct dtx_groups *g, const uint32_t *id, uint32_t i, uint32_t n);
/* Finds or adds the group of a key that another table with these types of keys has saved; *at moves
 * after it.  The bytes are not copied and must outlive g.  False: out of memory. */
DTX_MUSTUSE bool dtx_groups_load(struct dtx_groups *g, const char **at, uint32_t *id);
/* The id in g of key `id` of `from`.  Both must have the same types of keys. */
uint32_t dtx_groups_find(const struct dtx_groups *g, const struct dtx_groups *from, uint32_t id);
/* Prefetches for a dtx_groups_find that follows soon. */
void dtx_groups_near(const struct dtx_groups *g, const struct dtx_groups *from, uint32_t id);
/* Adds the groups of `from` in its order; id[i] is the id in g of its group i.  The bytes of keys
 * are not copied, so `from` must outlive g. */
DTX_MUSTUSE enum dtx_code dtx_groups_merge(struct dtx_groups *g, const struct dtx_groups *from,
                                           uint32_t *id, struct dtx_err *err);

#endif
