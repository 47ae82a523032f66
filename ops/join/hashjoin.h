/* The right side of a join: its rows, kept in order, and which of them a key has.
 *
 * Built from what the workers kept, apart by hash: part by part by all of them, or by one when
 * the parts go to disk.  Keys that are whole numbers close to each other need no hashes: they are
 * their own ids, apart by size.  Probed by all. */
#ifndef DTX_OPS_JOIN_HASHJOIN_H
#define DTX_OPS_JOIN_HASHJOIN_H

#include <stdatomic.h>

#include "ops/group/groupkeys.h"
#include "ops/kit/opkit.h"
#include "ops/kit/row_store.h"

struct dtx_rowref {
	uint32_t batch, row;
};
struct dtx_join_table {
	struct dtx_kept kept; /* in order of position */
	struct dtx_row_store_set
		*cells; /* of the same batches, which lack these columns; NULL: none, else: */
	struct dtx_colmap rest;   /* what else the map has that rows leave by */
	int32_t *rest_from;       /* owned memory behind it */
	struct dtx_groups **part; /* the keys, apart by the first `bits` bits of their hash */
	uint32_t *first;          /* the first key of each part */
	unsigned nparts, bits;    /* 1, 0: not apart */
	bool on_disk;
	bool dense;    /* there are no groups: a key less `least` is its id, */
	int64_t least; /* part id >> shift has it, */
	unsigned shift;
	uint32_t dense_keys;   /* and so many may be; nkeys is one more where null is a key */
	bool unique;           /* each key has one row: key i that at i */
	const uint32_t *start; /* matches of key i: ref[start[i] .. start[i + 1]); NULL where
	                          unique, in memory */
	const struct dtx_rowref *ref;              /* NULL: `cells` are in this order */
	struct dtx_owner *start_owner, *ref_owner; /* on disk: of start, ref */
	struct dtx_rowref *unkeyed;                /* rows that match nothing: a null in the key */
	size_t nunkeyed, cap_unkeyed;
	uint32_t nkeys; /* distinct; dense: some may have no row */
	int64_t nrows;
	atomic_uchar *hit; /* per key: a left row matched.  Relaxed: read after the
	                    * workers have been joined */
};

/* Takes the batches of `kept`, which are in order of position.  type[] are the key types both sides
 * are compared as; nulls_equal: null is a key like any other.  When memory is short, the keys are
 * on disk.  cells: where nothing is asked of a row but these records of it, else NULL; the build
 * may put them in the order of the keys, and then says nothing of where rows are. */
DTX_MUSTUSE enum dtx_code dtx_join_build(const struct dtx_opctx *ox, struct dtx_kept *kept,
                                         const struct dtx_groupkeys *key,
                                         const struct dtx_typeref *type, bool nulls_equal,
                                         struct dtx_row_store_set *cells,
                                         struct dtx_join_table **out, struct dtx_err *err);
void dtx_join_free(struct dtx_join_table *t); /* NULL is fine */

/* Key of each live row of a left batch, DTX_GROUP_NONE where nothing matches; marks hits. */
struct dtx_join_probe {
	struct dtx_group_probe probe;
	uint32_t *id;
	uint64_t matches; /* of all rows */
	uint8_t *of;      /* on disk: the part of each row */
	uint16_t *row;    /* on disk: the rows of one */
	uint32_t *part_id;
	struct dtx_column **key;
};
DTX_MUSTUSE enum dtx_code dtx_join_probe_new(uint32_t nkeys, struct dtx_join_probe *p,
                                             struct dtx_err *err);
void dtx_join_probe_clear(struct dtx_join_probe *p, uint32_t nkeys);
DTX_MUSTUSE enum dtx_code dtx_join_look(struct dtx_join_table *t, const struct dtx_groupkeys *key,
                                        bool nulls_equal, struct dtx_join_probe *p,
                                        struct dtx_batch *left, struct dtx_err *err);
/* Dense keys: the id of each live row, DTX_GROUP_NONE where there is no such. */
void dtx_join_dense_ids(const struct dtx_join_table *t, const struct dtx_column *key,
                        const struct dtx_batch *b, uint32_t *id);
/* The keys of a batch as FLAT columns in key[0..k->n); what a failure left is cleared too. */
DTX_MUSTUSE enum dtx_code dtx_join_keys(const struct dtx_groupkeys *k, struct dtx_batch *b,
                                        struct dtx_column **key, struct dtx_err *err);
void dtx_join_keys_clear(struct dtx_column **key, uint32_t n);
/* DTX_GROUP_NONE for rows with a null in the key: they match nothing. */
void dtx_join_forget_nulls(struct dtx_column *const *key, uint32_t n, const struct dtx_batch *b,
                           uint32_t *id);
static inline uint32_t dtx_join_matches(const struct dtx_join_table *t, uint32_t id)
{
	if (id == DTX_GROUP_NONE)
		return 0;
	return t->unique ? 1 : t->start[id + 1] - t->start[id];
}
/* Where the matches of a key begin in ref. */
static inline uint32_t dtx_join_start(const struct dtx_join_table *t, uint32_t id)
{
	return t->unique ? id : t->start[id];
}
/* Match `at` of those of all keys. */
static inline struct dtx_rowref dtx_join_ref(const struct dtx_join_table *t, uint32_t at)
{
	return t->ref ? t->ref[at] : (struct dtx_rowref){ 0, at };
}

#endif
