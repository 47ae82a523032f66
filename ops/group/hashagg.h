/* Groups: rows to dense ids by equality of their key, null a value like any other.
 *
 * One worker's; ids are given in order of first appearance.  One text key and one int key have
 * loops of their own (a text of up to 12 bytes is compared as two words); every other key is the
 * row's bytes from dtx_key_equal. */
#ifndef DTX_OPS_GROUP_HASHAGG_H
#define DTX_OPS_GROUP_HASHAGG_H

#include "core/base/arena.h"
#include "core/data/batch.h"
#include "core/data/spill.h"

#define DTX_GROUP_NONE  UINT32_MAX
#define DTX_GROUP_BITS  4u
#define DTX_GROUP_PARTS (1u << DTX_GROUP_BITS) /* partitions by hash */

struct dtx_groups;

/* type: of each key. nkeys 0: all rows are group 0. */
DTX_MUSTUSE enum dtx_code dtx_groups_new(const struct dtx_typeref *type, uint32_t nkeys,
                                         struct dtx_groups **out, struct dtx_err *err);
void dtx_groups_free(struct dtx_groups *g); /* NULL is fine */
/* Any thread, beside the one that adds: makes the pages that the next keys will lie on. */
void dtx_groups_ahead(struct dtx_groups *g);
/* Room for n keys at once; more may come.  Only where about as many are sure to. */
DTX_MUSTUSE enum dtx_code dtx_groups_expect(struct dtx_groups *g, uint32_t n, struct dtx_err *err);
/* ids[k] for live row k of b; key[] are FLAT columns over all rows of b.  New keys get the next
 * ids, in row order. */
DTX_MUSTUSE enum dtx_code dtx_groups_ids(struct dtx_groups *g, struct dtx_column *const *key,
                                         const struct dtx_batch *b, uint32_t *ids,
                                         struct dtx_err *err);
/* The same without adding: DTX_GROUP_NONE for keys not there.  Read-only, any thread. */
struct dtx_group_probe { /* scratch of one thread; zeroed first, cleared at the end */
	struct dtx_buf bytes;
};
DTX_MUSTUSE enum dtx_code dtx_groups_look(const struct dtx_groups *g, struct dtx_group_probe *p,
                                          struct dtx_column *const *key, const struct dtx_batch *b,
                                          uint32_t *ids, struct dtx_err *err);
/* The same over groups that are apart by the first `bits` bits (0 to 8) of the hash: a key's id is
 * first[part] and its id there. */
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
/* part[k] for live row k: `bits` (1 to 8) bits, `shift` bits before the last ones, of the hash its
 * key has in every groups of these key types. */
DTX_MUSTUSE enum dtx_code dtx_groups_rowparts(const struct dtx_groups *g, struct dtx_group_probe *p,
                                              struct dtx_column *const *key,
                                              const struct dtx_batch *b, unsigned shift,
                                              unsigned bits, uint8_t *part, struct dtx_err *err);
/* Moves the keys to disk: from then on g is only looked at (dtx_groups_look, _count). */
DTX_MUSTUSE enum dtx_code dtx_groups_spill(struct dtx_groups *g, struct dtx_spill *s,
                                           struct dtx_spill_count *count, struct dtx_err *err);
uint32_t dtx_groups_count(const struct dtx_groups *g);
/* Of groups by several keys: the bytes from dtx_key_equal. */
const char *dtx_groups_row(const struct dtx_groups *g, uint32_t id);
/* The last bits of its hash. */
unsigned dtx_groups_part(const struct dtx_groups *g, uint32_t id, unsigned bits);
/* The id that key `id` of `from` has in g; both have the same key types. */
uint32_t dtx_groups_find(const struct dtx_groups *g, const struct dtx_groups *from, uint32_t id);
/* It will be asked for soon. */
void dtx_groups_near(const struct dtx_groups *g, const struct dtx_groups *from, uint32_t id);
/* Adds the groups of `from` in its order; id[i] is where group i of it is in g.  Bytes of keys stay
 * where they are: `from` outlives g. */
DTX_MUSTUSE enum dtx_code dtx_groups_merge(struct dtx_groups *g, const struct dtx_groups *from,
                                           uint32_t *id, struct dtx_err *err);

#endif
