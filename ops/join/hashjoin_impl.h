/* Internals of the right side of a join, shared by hashjoin*.c. */
#ifndef DTX_OPS_JOIN_HASHJOIN_IMPL_H
#define DTX_OPS_JOIN_HASHJOIN_IMPL_H

#include "core/data/spill_column.h"
#include "ops/join/hashjoin.h"

/* Rows whose keys are processed together: those of one partition. */
struct dtx_join_rows {
	uint32_t *id; /* key of each row; NULL if they are 0, 1, 2 and so on */
	struct dtx_rowref *ref, *unkeyed;
	size_t n, nunkeyed, cap_id, cap_ref, cap_unkeyed;
	uint32_t first; /* number of the first row among all partitions, once it is known */
	bool lent;      /* ref is a range of the array for all partitions */
};

/* A partitioned batch: the rows of partition p are row[end[p - 1] .. end[p]). */
struct dtx_join_split {
	uint16_t *row;
	uint32_t *end;
	uint32_t *id; /* dense: key of each entry of `row` */
	struct dtx_column **key;
	int64_t least, most; /* of a single key of whole numbers */
};

/* Where the rows of partition p begin. */
static inline uint32_t dtx_join_split_begin(const struct dtx_join_split *s, uint64_t p)
{
	return p ? s->end[p - 1] : 0;
}

/* The state of a build. */
struct dtx_join_making {
	struct dtx_join_table *t;
	const struct dtx_opctx *ox;
	const struct dtx_groupkeys *key;
	const struct dtx_typeref *type;
	bool nulls_equal;
	/* in memory: per batch, per partition */
	struct dtx_join_split *split;
	struct dtx_join_rows *rows;
	_Atomic uint64_t seen_rows, seen_keys; /* of the partitions that are built; relaxed, used as
	                                        * an estimate */
	const struct dtx_groups *like;
	struct dtx_rowref *part_ref; /* all rows by partition */
	uint32_t *all_start;         /* sorted by key */
	struct dtx_rowref *all_ref;
	const uint32_t *part_first;      /* dense: number of rows before each partition */
	atomic_bool uneven;              /* dense: a key has no row or several; relaxed */
	struct dtx_row_store_set *cells; /* records, if rows are used only through them; NULL */
	struct dtx_row_store *in_order;  /* the same records, sorted by key */
	/* on disk */
	struct dtx_column **flat; /* scratch: the keys of a batch */
	struct dtx_spill *spill;
	struct dtx_spill_count *count;
	struct dtx_piece start, ref;
	const uint8_t **of; /* per batch: the partition of each row */
	struct dtx_owner **of_owner;
};

void dtx_join_rows_clear(struct dtx_join_rows *r);
/* Adds a row without a key. */
DTX_MUSTUSE bool dtx_join_rows_unkeyed(struct dtx_join_rows *r, struct dtx_rowref ref);
/* Gives the unkeyed rows to the table too. */
DTX_MUSTUSE enum dtx_code dtx_join_keep_unkeyed(struct dtx_join_table *t,
                                                const struct dtx_join_rows *r, struct dtx_err *err);
/* Whether each key has one row, provided that every key has a row. */
static inline bool dtx_join_is_unique(const struct dtx_join_table *t)
{
	return !t->nunkeyed && t->nkeys == t->nrows;
}

/* Builds on disk, one partition after the other, each small enough for its tables to fit into
 * memory.  dtx_join_disk_bits gives the number of partitions as bits; 0: memory is enough. */
unsigned dtx_join_disk_bits(const struct dtx_opctx *ox, int64_t nrows);

/* --- dense keys: whole numbers so close to each other that they can be their own ids --- */

/* The smallest and the largest key of a batch.  least > most: it has none. */
void dtx_join_dense_ends(const struct dtx_column *key, const struct dtx_batch *b, int64_t *least,
                         int64_t *most);
/* Decides, by the smallest and largest keys of all batches, whether keys are dense, and sets the
 * range of ids. */
bool dtx_join_dense(struct dtx_join_making *w);
DTX_MUSTUSE enum dtx_code dtx_join_dense_build(struct dtx_join_making *w, struct dtx_err *err);
/* Unique keys: sorts w->cells by key. */
DTX_MUSTUSE enum dtx_code dtx_join_order(struct dtx_join_making *w, struct dtx_err *err);

#endif
