/* Aggregates over groups of rows of a complete table, for operations that make the groups
 * themselves. */
#ifndef DTX_OPS_GROUP_TABLE_TABLEAGG_H
#define DTX_OPS_GROUP_TABLE_TABLEAGG_H

#include "core/expr/agg/agg.h"
#include "ops/kit/opkit.h"

struct dtx_agg_item { /* an item of an `agg` parameter, or a computed key */
	const char *as;
	struct dtx_expr *expr;
};
#define DTX_AGG_ROWS 2
extern const struct dtx_param dtx_agg_rows[DTX_AGG_ROWS];

/* The schema for the formula around the calls: keys, then the results of its calls.  NULL: out of
 * memory. */
const struct dtx_schema *dtx_agg_inner(struct dtx_bind *b, const struct dtx_field *keys,
                                       uint32_t nkeys, const struct dtx_aggcalls *calls);

struct dtx_tableagg_out { /* one result column */
	struct dtx_aggcalls calls;
	struct dtx_bound *bound; /* over [keys, results of calls] */
	const struct dtx_schema *inner;
};
struct dtx_tableagg {
	struct dtx_tableagg_out *out;
	uint32_t nouts;
};
/* Binds a formula over input 0; its other columns must be keys.  o->bound is NULL if there are
 * findings. */
DTX_MUSTUSE enum dtx_code dtx_tableagg_bind(struct dtx_bind *b, const struct dtx_expr *expr,
                                            const char *sub, const struct dtx_field *keys,
                                            uint32_t nkeys, int32_t out, struct dtx_tableagg_out *o,
                                            struct dtx_err *err);

/* The states of all groups. */
struct dtx_tableagg_run {
	const struct dtx_opctx *ox;
	const struct dtx_tableagg *agg;
	char ***states; /* per output and call */
	uint32_t ngroups;
};
DTX_MUSTUSE enum dtx_code dtx_tableagg_open(struct dtx_tableagg_run *r, const struct dtx_opctx *ox,
                                            const struct dtx_tableagg *agg, uint32_t ngroups,
                                            struct dtx_err *err);
/* Adds the rows of a dense table: row i belongs to group[i]; DTX_NOWHERE: to none.  May be called
 * several times, for groups that overlap. */
DTX_MUSTUSE enum dtx_code dtx_tableagg_add(struct dtx_tableagg_run *r, struct dtx_table *t,
                                           const uint32_t *group, struct dtx_err *err);
/* Result i of groups [from, from + n).  keys[] are the key columns of those groups.  It uses up the
 * states, so each group may be asked for once. */
DTX_MUSTUSE enum dtx_code dtx_tableagg_final(struct dtx_tableagg_run *r, uint32_t i, uint32_t from,
                                             uint32_t n, struct dtx_column *const *keys,
                                             struct dtx_column **out, struct dtx_err *err);
void dtx_tableagg_close(struct dtx_tableagg_run *r);

#endif
