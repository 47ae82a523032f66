/* The parts of pivot_wider: binding, the rectangle, its columns. */
#ifndef DTX_OPS_RESHAPE_WIDER_H
#define DTX_OPS_RESHAPE_WIDER_H

#include "core/expr/agg/agg.h"
#include "core/data/cells.h"
#include "ops/group/groupby.h"
#include "ops/group/groupkeys.h"
#include "ops/kit/jsonvalue.h"
#include "ops/kit/opkit.h"
#include "ops/group/tablekeys.h"

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
	struct dtx_aggcalls calls; /* of the aggregate: one call; none without agg */
	struct dtx_field field;    /* of the new columns */
};
struct dtx_wider_state {
	const char *op; /* for messages */
	struct dtx_groupkeys id, names;
	struct dtx_colmap id_map; /* output columns that are ids; 0..id.n */
	struct dtx_wider_value *value;
	uint32_t nvalues;
	bool fixed;      /* names are given */
	int32_t unknown; /* names_from columns could not be resolved */
	/* with agg: the same over the digest, which has the ids, the names, then the values, each
	 * cell in one row; NULL */
	struct dtx_wider_state *met;
};

/* Numbers of rows and columns: the schema needs the columns, the result both. */
struct dtx_wider_plan {
	struct dtx_tablekeys id, name;
	uint32_t nids, nnames; /* of them; 0 without rows */
	char **text;           /* per name what it is called, without value and prefix */
	uint32_t *place;       /* name -> column among the new ones */
	uint32_t ncols;        /* new columns per value */
	const char **label;    /* per new column */
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
/* Name of value v's column `label`, in the arena; NULL: out of memory. */
const char *dtx_wider_name(struct dtx_arena *arena, const struct dtx_wider_args *a,
                           const char *value, uint32_t nvalues, const char *label);

/* The context of what is filled and told by the table that the op is given. */
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
/* The columns, and the ids too. */
DTX_MUSTUSE enum dtx_code dtx_wider_plan(const struct dtx_opctx *ox, struct dtx_table *t,
                                         struct dtx_wider_plan *p, struct dtx_err *err);
void dtx_wider_plan_clear(struct dtx_wider_plan *p);

#endif
