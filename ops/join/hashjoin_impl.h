/* The right side of a join from inside: for hashjoin*.c. */
#ifndef DTX_OPS_JOIN_HASHJOIN_IMPL_H
#define DTX_OPS_JOIN_HASHJOIN_IMPL_H

#include "core/data/spill_column.h"
#include "ops/join/hashjoin.h"

/* Rows whose keys are looked at together: those of a part. */
struct dtx_join_rows {
	uint32_t *id; /* key of each; NULL once they are 0, 1, 2 ... */
	struct dtx_rowref *ref, *unkeyed;
	size_t n, nunkeyed, cap_id, cap_ref, cap_unkeyed;
	uint32_t first; /* of those of all parts, once it is known */
	bool lent;      /* ref is a part of all parts' */
};

/* A batch apart: rows of part p are row[end[p - 1] .. end[p]). */
struct dtx_join_split {
	uint16_t *row;
	uint32_t *end;
	uint32_t *id; /* dense: key of each of `row` */
	struct dtx_column **key;
	int64_t least, most; /* of one key of whole numbers */
};

/* Where the rows of part p begin. */
static inline uint32_t dtx_join_split_begin(const struct dtx_join_split *s, uint64_t p)
{
	return p ? s->end[p - 1] : 0;
}

/* What a build looks at. */
struct dtx_join_making {
	struct dtx_join_table *t;
	const struct dtx_opctx *ox;
	const struct dtx_groupkeys *key;
	const struct dtx_typeref *type;
	bool nulls_equal;
	/* in memory: per batch, per part */
	struct dtx_join_split *split;
	struct dtx_join_rows *rows;
	_Atomic uint64_t seen_rows, seen_keys; /* of the parts that are built; relaxed, a guess */
	const struct dtx_groups *like;
	struct dtx_rowref *part_ref; /* of all rows, part by part */
	uint32_t *all_start;         /* in order of keys */
	struct dtx_rowref *all_ref;
	const uint32_t *part_first;      /* dense: rows before those of each part */
	atomic_bool uneven;              /* dense: a key has no row, or several; relaxed */
	struct dtx_row_store_set *cells; /* all that is asked of a row, or NULL */
	struct dtx_row_store *in_order;  /* they, in the order of the keys */
	/* on disk */
	struct dtx_column **flat; /* scratch: the keys of a batch */
	struct dtx_spill *spill;
	struct dtx_spill_count *count;
	struct dtx_piece start, ref;
	const uint8_t **of; /* per batch: the part of each row */
	struct dtx_owner **of_owner;
};

void dtx_join_rows_clear(struct dtx_join_rows *r);
/* Room for n rows. */
DTX_MUSTUSE bool dtx_join_rows_reserve(struct dtx_join_rows *r, size_t n);
/* The live rows of batch i, whose key ids are id[0, b->nsel) behind those that are there: room for
 * them is reserved.  Rows without a key go to the unkeyed ones. */
DTX_MUSTUSE enum dtx_code dtx_join_rows_add(struct dtx_join_rows *r, uint32_t i,
                                            const struct dtx_join_making *w,
                                            struct dtx_column *const *key,
                                            const struct dtx_batch *b, struct dtx_err *err);
/* Counting sort of rows by key: rows of a key stay in right order, those of key i begin at start[i]
 * of all rows, here at ref[start[i] - r->first]. */
void dtx_join_rows_sort(const struct dtx_join_rows *r, uint32_t nkeys, uint32_t *start,
                        struct dtx_rowref *ref);
/* A row without a key. */
DTX_MUSTUSE bool dtx_join_rows_unkeyed(struct dtx_join_rows *r, struct dtx_rowref ref);
/* The unkeyed rows are the table's from now on, too. */
DTX_MUSTUSE enum dtx_code dtx_join_keep_unkeyed(struct dtx_join_table *t,
                                                const struct dtx_join_rows *r, struct dtx_err *err);
/* Whether each key has one row, where every key has a row. */
static inline bool dtx_join_is_unique(const struct dtx_join_table *t)
{
	return !t->nunkeyed && t->nkeys == t->nrows;
}
DTX_MUSTUSE enum dtx_code dtx_join_parts_new(struct dtx_join_table *t, unsigned bits,
                                             struct dtx_err *err);

/* Builds in memory: parts so small that their tables stay in a cache, by all workers. */
DTX_MUSTUSE enum dtx_code dtx_join_in_memory(struct dtx_join_making *w, struct dtx_err *err);
/* Builds on disk, part by part, each so small that its tables fit; as many parts as
 * dtx_join_disk_bits says, 0: memory is enough. */
unsigned dtx_join_disk_bits(const struct dtx_opctx *ox, int64_t nrows);
DTX_MUSTUSE enum dtx_code dtx_join_on_disk(struct dtx_join_making *w, unsigned bits,
                                           struct dtx_err *err);

/* --- dense keys: whole numbers so close to each other that they are their own ids --- */

/* The least and the most key of a batch; least > most: it has none. */
void dtx_join_dense_ends(const struct dtx_column *key, const struct dtx_batch *b, int64_t *least,
                         int64_t *most);
/* Decides, by the ends of all batches, and says which ids there are. */
bool dtx_join_dense(struct dtx_join_making *w);
DTX_MUSTUSE enum dtx_code dtx_join_dense_build(struct dtx_join_making *w, struct dtx_err *err);
/* Unique keys: w->cells in the order of the keys. */
DTX_MUSTUSE enum dtx_code dtx_join_order(struct dtx_join_making *w, struct dtx_err *err);

#endif
