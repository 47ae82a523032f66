/* Groups of all rows of a complete table. */
#ifndef DTX_OPS_GROUP_TABLE_TABLEKEYS_H
#define DTX_OPS_GROUP_TABLE_TABLEKEYS_H

#include "ops/group/table/groupkeys.h"
#include "ops/kit/opkit.h"

struct dtx_tablekeys {
	uint32_t *id;   /* group of each row; NULL without keys: all rows are in group 0 */
	uint32_t n;     /* number of groups; 1 without keys, even if the table is empty */
	int64_t *first; /* first row of each group */
	int64_t nrows;
};
#define DTX_TABLEKEYS_INIT                                                                         \
	{                                                                                          \
		.id = NULL                                                                         \
	}
/* Makes the table dense and its groups, which are numbered in order of appearance.  The workers of
 * the run share the rows. */
DTX_MUSTUSE enum dtx_code dtx_tablekeys_open(struct dtx_tablekeys *k, const struct dtx_opctx *ox,
                                             const struct dtx_groupkeys *keys, struct dtx_table *t,
                                             struct dtx_err *err);
void dtx_tablekeys_close(struct dtx_tablekeys *k);
static inline uint32_t dtx_tablekeys_id(const struct dtx_tablekeys *k, int64_t row)
{
	return k->id ? k->id[row] : 0;
}
/* The rows by group, in table order within each group: row[start[g] .. start[g + 1]).  The caller
 * frees both arrays. */
DTX_MUSTUSE enum dtx_code dtx_tablekeys_rows(const struct dtx_tablekeys *k,
                                             const struct dtx_opctx *ox, int64_t **start,
                                             int64_t **row, struct dtx_err *err);

/* Sort keys of one column, to compare the rows of a table by. */
struct dtx_rowkeys {
	struct dtx_buf bytes;
	uint64_t *key; /* `words`: a word per row, in the order of the values; else where its bytes
	                * end */
	bool *null;
	bool words;
};
#define DTX_ROWKEYS_INIT                                                                           \
	{                                                                                          \
		.key = NULL                                                                        \
	}
/* The keys are added for columns (FLAT values) that follow each other in the order of the table's
 * rows. */
DTX_MUSTUSE enum dtx_code dtx_rowkeys_open(struct dtx_rowkeys *k, int64_t nrows,
                                           struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_rowkeys_add(struct dtx_rowkeys *k, int64_t at,
                                          const struct dtx_column *c, bool desc,
                                          struct dtx_err *err);
/* All rows of column `col`, ascending, nulls last. */
DTX_MUSTUSE enum dtx_code dtx_rowkeys_column(struct dtx_rowkeys *k, struct dtx_table *t,
                                             int32_t col, struct dtx_err *err);
void dtx_rowkeys_close(struct dtx_rowkeys *k);
int dtx_rowkeys_cmp(const struct dtx_rowkeys *k, int64_t a, int64_t b);
/* Sorts row numbers by key; rows with equal keys by number. */
DTX_MUSTUSE enum dtx_code dtx_rowkeys_sort(const struct dtx_rowkeys *k, int64_t *row, int64_t n,
                                           struct dtx_err *err);

#endif
