/* The key columns of a selector: binds them, gets their values, makes groups of them. */
#ifndef DTX_OPS_GROUP_TABLE_GROUPKEYS_H
#define DTX_OPS_GROUP_TABLE_GROUPKEYS_H

#include "core/plan/bind/bind.h"
#include "ops/group/hashagg.h"

struct dtx_groupkeys {
	uint32_t n;
	int32_t *col; /* input columns */
	struct dtx_typeref *type;
};
/* Resolves a selector over input t.  The columns decide which rows the result has. */
DTX_MUSTUSE enum dtx_code dtx_groupkeys_bind(struct dtx_bind *b, unsigned t,
                                             const struct dtx_cols *cols, const char *sub,
                                             struct dtx_groupkeys *k, struct dtx_err *err);
/* The same with column numbers (-1: left out). */
DTX_MUSTUSE enum dtx_code dtx_groupkeys_columns(struct dtx_bind *b, unsigned t, const int32_t *col,
                                                uint32_t n, struct dtx_groupkeys *k,
                                                struct dtx_err *err);
/* n keys with one column each, in the arena of the plan. */
DTX_MUSTUSE enum dtx_code dtx_groupkeys_each(struct dtx_bind *b, unsigned t, const int32_t *col,
                                             uint32_t n, struct dtx_groupkeys **key,
                                             struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_groupkeys_groups(const struct dtx_groupkeys *k,
                                               struct dtx_groups **out, struct dtx_err *err);
/* The keys of b as an array of FLAT columns.  dtx_groupkeys_unflat frees them; it also accepts what
 * a failure has left. */
DTX_MUSTUSE enum dtx_code dtx_groupkeys_flat(const struct dtx_groupkeys *k, struct dtx_batch *b,
                                             struct dtx_column ***key, struct dtx_err *err);
void dtx_groupkeys_unflat(const struct dtx_groupkeys *k, struct dtx_column **key);
/* The group ids of b's live rows. */
DTX_MUSTUSE enum dtx_code dtx_groupkeys_ids(const struct dtx_groupkeys *k, struct dtx_groups *g,
                                            struct dtx_batch *b, uint32_t *ids,
                                            struct dtx_err *err);
/* Appends the key of a row for people: "a = 1, b = 'x'", cut at 200 bytes. */
void dtx_groupkeys_print(const struct dtx_groupkeys *k, struct dtx_batch *b, uint32_t row,
                         struct dtx_buf *out);

#endif
