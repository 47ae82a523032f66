/* First rows of groups.  A group may have entries in several workers; the entry with the first row
 * of the group represents it in the result. */
#ifndef DTX_OPS_GROUP_FIRST_ROW_H
#define DTX_OPS_GROUP_FIRST_ROW_H

#include "ops/group/groupby.h"

struct dtx_gb_first_row {
	uint64_t pos;
	uint32_t local, id;
};
struct dtx_gb_result {
	const struct dtx_gb_state *s;
	struct dtx_gb_local **l; /* the workers' groups, moved here; with room for one more */
	unsigned n;
	struct dtx_gb_first_row
		*first_row; /* NULL: first rows are found by merging while the result is made */
	size_t nfirst_rows; /* if first_row is NULL: the number of entries of all workers */
	size_t part_rows;
	/* if rows were on disk: the finished rows */
	struct dtx_ordered_rows *rows;
	int32_t *from; /* identity map, for the merge */
};
void dtx_gb_drop_locals(const struct dtx_opctx *ox, struct dtx_gb_result *r);
/* The next entry with the first row of its group, from id on; l->n if none. */
uint32_t dtx_gb_next_first_row(const struct dtx_gb_local *l, uint32_t id);
int dtx_gb_first_row_cmp(const void *a, const void *b); /* by position, for qsort */
/* Finishes the key columns with the groups of one worker. */
DTX_MUSTUSE enum dtx_code dtx_gb_finish_keys(struct dtx_gb_local *l, struct dtx_err *err);
/* Groups the rows that are on disk as well (groupby_disk.c) and fills r->rows.  The workers' groups
 * are freed. */
DTX_MUSTUSE enum dtx_code dtx_gb_from_disk(const struct dtx_opctx *ox, struct dtx_gb_result *r,
                                           struct dtx_err *err);

#define DTX_GB_PART_ROWS 16384u /* rows per batch of the result */
/* Scratch memory of a thread that makes batches. */
struct dtx_gb_scratch {
	uint32_t *which, *row;
	uint64_t *pos; /* positions of the first rows, for the names of sets */
	void **state;
	struct dtx_column **src;
	const char **key; /* if values are read from keys: the rest of each first row's key */
};

/* Makes room for batches of up to `most` rows. */
DTX_MUSTUSE enum dtx_code dtx_gb_scratch_init(struct dtx_gb_scratch *x,
                                              const struct dtx_gb_result *r, uint32_t most,
                                              struct dtx_err *err);
void dtx_gb_scratch_clear(struct dtx_gb_scratch *x);
/* Makes the rows of n groups, without those that `having` drops. */
DTX_MUSTUSE enum dtx_code dtx_gb_make_rows(const struct dtx_opctx *ox,
                                           const struct dtx_gb_result *r, struct dtx_gb_scratch *x,
                                           const struct dtx_gb_first_row *first_row, uint32_t n,
                                           struct dtx_batch **out, struct dtx_err *err);

#endif
