/* The parts of pivot_wider: binding, the rectangle, its columns. */
#ifndef DTX_OPS_RESHAPE_WIDER_H
#define DTX_OPS_RESHAPE_WIDER_H

#include "core/expr/agg/agg.h"
#include "core/data/cells.h"
#include "ops/group/groupby.h"
#include "ops/group/table/groupkeys.h"
#include "ops/kit/text/jsonvalue.h"
#include "ops/kit/opkit.h"
#include "ops/group/table/tablekeys.h"

enum { DTX_WIDER_APPEARANCE, DTX_WIDER_SORTED };
struct dtx_wider_args {
	struct dtx_cols *names_from, *values_from, *id;
	const char *agg;
	const json_t *fill;
	struct dtx_plist names;
	const char *names_sep, *names_prefix;
	int names_order;
};
struct dtx_wider_value {
	int32_t col;
	struct dtx_aggcalls calls; /* the call of the aggregate; none without agg */
	struct dtx_field field;    /* of the new columns */
};
struct dtx_wider_state {
	const char *op; /* for messages */
	struct dtx_groupkeys id, names;
	struct dtx_colmap id_map; /* output columns that are ids: 0 to id.n - 1 */
	struct dtx_wider_value *value;
	uint32_t nvalues;
	bool fixed;      /* the names are given in the plan */
	int32_t unknown; /* number of names_from columns that could not be resolved */
	/* with agg: the same state for the grouped table, which has the ids, the names, then the
	 * values, with one row per cell; NULL */
	struct dtx_wider_state *met;
};

/* Numbers of the rows and columns of the result.  The schema needs the columns, the result needs
 * both. */
struct dtx_wider_plan {
	struct dtx_tablekeys id, name;
	uint32_t nids, nnames; /* how many there are; 0 without rows */
	char **text;           /* for each name its text, without value and prefix */
	uint32_t *place;       /* from name to its column among the new ones */
	uint32_t ncols;        /* number of new columns per value */
	const char **label;    /* for each new column */
};
#define DTX_WIDER_PLAN_INIT                                                                        \
	{                                                                                          \
		.nids = 0                                                                          \
	}

DTX_MUSTUSE enum dtx_code dtx_wider_bind(struct dtx_bind *b, void *args, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_wider_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                           struct dtx_arena *arena, const struct dtx_schema **out,
                                           struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_wider_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                          struct dtx_emit *out, struct dtx_err *err);
/* The name of value v's column `label`, in the arena.  NULL: out of memory. */
const char *dtx_wider_name(struct dtx_arena *arena, const struct dtx_wider_args *a,
                           const char *value, uint32_t nvalues, const char *label);

/* The context in which the table that the op gets is described: the grouped table with agg, else
 * the input. */
static inline struct dtx_opctx dtx_wider_over(const struct dtx_opctx *ox)
{
	const struct dtx_wider_state *s = ox->bound;
	struct dtx_opctx over = *ox;

	if (s->met)
		over.bound = s->met;
	return over;
}
DTX_MUSTUSE enum dtx_code dtx_wider_columns(const struct dtx_opctx *ox, struct dtx_table *t,
                                            struct dtx_wider_plan *p, struct dtx_err *err);
/* Numbers the columns, and the ids too. */
DTX_MUSTUSE enum dtx_code dtx_wider_plan(const struct dtx_opctx *ox, struct dtx_table *t,
                                         struct dtx_wider_plan *p, struct dtx_err *err);
void dtx_wider_plan_clear(struct dtx_wider_plan *p);

#endif
