/* The right side of a join: its rows, kept in order, and the rows of each key.
 *
 * It is built from the batches that the workers have kept, partitioned by hash: in memory all
 * workers build partitions in parallel, on disk one worker builds them one after the other.  Keys
 * that are whole numbers close to each other need no hashes: they are their own ids, partitioned by
 * size ("dense").  All workers then probe it. */
#ifndef DTX_OPS_JOIN_HASHJOIN_H
#define DTX_OPS_JOIN_HASHJOIN_H

#include <stdatomic.h>

#include "ops/group/table/groupkeys.h"
#include "ops/kit/opkit.h"
#include "ops/kit/row_store.h"

struct dtx_rowref {
	uint32_t batch, row;
};
struct dtx_join_table {
	struct dtx_kept kept;            /* in order of position */
	struct dtx_row_store_set *cells; /* records of columns that the batches lack; NULL: none */
	struct dtx_colmap rest;          /* if there are records: the map for the other columns */
	int32_t *rest_from;              /* memory of that map */
	struct dtx_groups **part; /* the keys, partitioned by the first `bits` bits of their hash */
	uint32_t *first;          /* number of the first key of each partition */
	unsigned nparts, bits;    /* 1 and 0: not partitioned */
	bool on_disk;
	bool dense;    /* there are no groups: the id of a key is key - least */
	int64_t least; /* the smallest key; partition id >> shift has the key */
	unsigned shift;
	uint32_t dense_keys;   /* number of possible keys; nkeys is one more if null is a key */
	bool unique;           /* each key has one row: key i has row i of `ref` */
	const uint32_t *start; /* matches of key i: ref[start[i] .. start[i + 1]); NULL if unique
	                        * and in memory */
	const struct dtx_rowref *ref;              /* NULL: `cells` are in this order */
	struct dtx_owner *start_owner, *ref_owner; /* on disk: owners of start and ref */
	struct dtx_rowref *unkeyed;                /* rows that match nothing, because of a null in
	                                            * the key */
	size_t nunkeyed, cap_unkeyed;
	uint32_t nkeys; /* number of distinct keys; dense: some of them may have no row */
	int64_t nrows;
	atomic_uchar *hit; /* per key: whether a left row matched.  Relaxed order: it is read after
	                    * the workers have been joined. */
};

/* Builds the table.  Takes the batches of `kept`, which must be in order of position.  type[] are
 * the types in which both sides are compared; nulls_equal: null is a key like any other.  When
 * memory is short, the keys are on disk.  cells: records, if rows are used only through them, else
 * NULL.  The build may sort them by key; the table then does not know where rows came from. */
DTX_MUSTUSE enum dtx_code dtx_join_build(const struct dtx_opctx *ox, struct dtx_kept *kept,
                                         const struct dtx_groupkeys *key,
                                         const struct dtx_typeref *type, bool nulls_equal,
                                         struct dtx_row_store_set *cells,
                                         struct dtx_join_table **out, struct dtx_err *err);
void dtx_join_free(struct dtx_join_table *t); /* NULL is allowed */

/* The key of each live row of a left batch; DTX_GROUP_NONE if nothing matches.  Marks keys that
 * were hit. */
struct dtx_join_probe {
	struct dtx_group_probe probe;
	uint32_t *id;
	uint64_t matches; /* of all rows */
	uint8_t *of;      /* on disk: the partition of each row */
	uint16_t *row;    /* on disk: the rows of one partition */
	uint32_t *part_id;
	struct dtx_column **key;
};
DTX_MUSTUSE enum dtx_code dtx_join_probe_new(uint32_t nkeys, struct dtx_join_probe *p,
                                             struct dtx_err *err);
void dtx_join_probe_clear(struct dtx_join_probe *p, uint32_t nkeys);
DTX_MUSTUSE enum dtx_code dtx_join_look(struct dtx_join_table *t, const struct dtx_groupkeys *key,
                                        bool nulls_equal, struct dtx_join_probe *p,
                                        struct dtx_batch *left, struct dtx_err *err);
/* Dense keys: the id of each live row; DTX_GROUP_NONE if there is no such key. */
void dtx_join_dense_ids(const struct dtx_join_table *t, const struct dtx_column *key,
                        const struct dtx_batch *b, uint32_t *id);
/* The keys of a batch as FLAT columns in key[0..k->n).  dtx_join_keys_clear also frees what a
 * failure has left. */
DTX_MUSTUSE enum dtx_code dtx_join_keys(const struct dtx_groupkeys *k, struct dtx_batch *b,
                                        struct dtx_column **key, struct dtx_err *err);
void dtx_join_keys_clear(struct dtx_column **key, uint32_t n);
/* Sets DTX_GROUP_NONE for rows with a null in the key, which match nothing. */
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
/* Match number `at` among the matches of all keys. */
static inline struct dtx_rowref dtx_join_ref(const struct dtx_join_table *t, uint32_t at)
{
	return t->ref ? t->ref[at] : (struct dtx_rowref){ 0, at };
}

#endif
