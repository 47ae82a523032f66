/* Groups of all rows of a table that is at rest. */
#ifndef DTX_OPS_GROUP_TABLEKEYS_H
#define DTX_OPS_GROUP_TABLEKEYS_H

#include "ops/group/groupkeys.h"
#include "ops/kit/opkit.h"

struct dtx_tablekeys {
	uint32_t *id;   /* per row its group; NULL without keys: all rows are group 0 */
	uint32_t n;     /* groups; 1 without keys, also of an empty table */
	int64_t *first; /* per group its first row */
	int64_t nrows;
};
#define DTX_TABLEKEYS_INIT                                                                         \
	{                                                                                          \
		.id = NULL                                                                         \
	}
/* Makes the table dense.  Groups are numbered in order of appearance; the run's workers share the
 * rows. */
DTX_MUSTUSE enum dtx_code dtx_tablekeys_open(struct dtx_tablekeys *k, const struct dtx_opctx *ox,
                                             const struct dtx_groupkeys *keys, struct dtx_table *t,
                                             struct dtx_err *err);
void dtx_tablekeys_close(struct dtx_tablekeys *k);
static inline uint32_t dtx_tablekeys_id(const struct dtx_tablekeys *k, int64_t row)
{
	return k->id ? k->id[row] : 0;
}
/* Rows by group, in table order within: row[start[g] .. start[g + 1]).  The caller frees both. */
DTX_MUSTUSE enum dtx_code dtx_tablekeys_rows(const struct dtx_tablekeys *k,
                                             const struct dtx_opctx *ox, int64_t **start,
                                             int64_t **row, struct dtx_err *err);

/* Sort keys of the values of one column of a table, to compare its rows with. */
struct dtx_rowkeys {
	struct dtx_buf bytes;
	uint64_t
		*key; /* words: of each row, in the order of the values; else where its bytes end */
	bool *null;
	bool words;
};
#define DTX_ROWKEYS_INIT                                                                           \
	{                                                                                          \
		.key = NULL                                                                        \
	}
/* Keys of n columns that follow each other in the table's row order (values, FLAT). */
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
/* Sorts row numbers by key, equal ones by number. */
DTX_MUSTUSE enum dtx_code dtx_rowkeys_sort(const struct dtx_rowkeys *k, int64_t *row, int64_t n,
                                           struct dtx_err *err);

#endif
