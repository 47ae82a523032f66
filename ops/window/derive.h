/* Computed columns, one stage after the other: what derive and window share.
 *
 * Stage k evaluates its formula over the columns made so far.  A formula may overwrite an existing
 * column, so every stage sees a different schema.  A step may change thousands of columns, and a
 * schema for each of them would need quadratic memory, so a view moves from one stage to the next
 * instead.
 *
 * Without aggregates and window calls, batches stream through.  With them the whole table is
 * collected, and the calls of each stage are computed over it before its formula. */
#ifndef DTX_OPS_WINDOW_DERIVE_H
#define DTX_OPS_WINDOW_DERIVE_H

#include "core/expr/window/window.h"
#include "core/plan/bind/across.h"
#include "ops/group/table/groupkeys.h"
#include "ops/kit/opkit.h"
#include "ops/sort/orderkeys.h"
#include "ops/window/rangeframe.h"

struct dtx_derive_item {
	const char *as;
	struct dtx_expr *expr;
	struct dtx_row_frame frame;
	bool hidden; /* later formulas see the column, the result does not have it */
};
struct dtx_derive_args {
	struct dtx_plist set;
	const char *after;
	struct dtx_cols *by, *across;
	struct dtx_plist order;
	const char *at; /* JSON pointer for all formulas as the user wrote them; NULL: their places
	                 * in `set` */
};
struct dtx_derive_stage {
	struct dtx_bound *bound;
	struct dtx_aggcalls calls;   /* their results are columns after those that the stage sees */
	uint32_t target;             /* working column that it makes */
	struct dtx_field made;       /* the field of that column */
	struct dtx_rangeframe range; /* of its calls */
	uint32_t *reads;             /* earlier stages that it reads, */
	uint32_t nreads, readscap;   /* each once */
	/* used during binding: */
	int32_t *col; /* input columns that it uses, including through earlier stages */
	uint8_t *demand;
	uint32_t ncols, cap;
};
struct dtx_derive_state {
	const struct dtx_derive_args *args;
	struct dtx_derive_stage *stage;
	uint32_t nstages, nwork, nin;
	uint32_t *place; /* for each output column its working column */
	int32_t *maker;  /* for each output column the last stage that made it; -1: none */
	const struct dtx_schema *work;
	const struct dtx_field *start; /* the nin working columns before the first stage */
	uint32_t ncalls;               /* most calls of a stage */
	uint32_t nout;
	bool windowed; /* some stage has calls */
	bool ranged;   /* some call has a frame by range */
	struct dtx_groupkeys by;
	struct dtx_orderkeys order;
};

/* The working columns before a stage. */
struct dtx_derive_view {
	struct dtx_schema schema;
	struct dtx_field *field; /* of the schema, with room for all stages and calls */
	uint32_t stage;          /* the view is before this stage */
};
#define DTX_DERIVE_VIEW_INIT                                                                       \
	{                                                                                          \
		.field = NULL                                                                      \
	}

DTX_MUSTUSE enum dtx_code dtx_derive_view_open(struct dtx_derive_view *v,
                                               const struct dtx_derive_state *s,
                                               struct dtx_err *err);
void dtx_derive_view_close(struct dtx_derive_view *v);
/* Moves the view to stage k, which must not be before the current one. */
void dtx_derive_view_to(struct dtx_derive_view *v, const struct dtx_derive_state *s, uint32_t k);
/* The schema for the formula around the calls of the stage, which includes their results.  Valid
 * until the view moves. */
struct dtx_schema dtx_derive_view_wide(struct dtx_derive_view *v,
                                       const struct dtx_derive_stage *st);

/* args are a struct dtx_derive_args. */
DTX_MUSTUSE enum dtx_code dtx_derive_bind(struct dtx_bind *b, void *args, struct dtx_err *err);
/* Sets live[] for the stages whose column is needed or hidden, or that such a stage reads; nstages
 * bools. */
void dtx_derive_live(const struct dtx_opctx *ox, const struct dtx_derive_state *s, bool *live);
/* Gives the batch room for the working columns, and for the results of a stage's calls after them.
 */
DTX_MUSTUSE enum dtx_code dtx_derive_widen(const struct dtx_derive_state *s, struct dtx_batch *in,
                                           struct dtx_err *err);
/* Gives the batch the columns of the output, from the working columns. */
DTX_MUSTUSE enum dtx_code dtx_derive_place(const struct dtx_opctx *ox,
                                           const struct dtx_derive_state *s, struct dtx_batch *in,
                                           struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_derive_batch(const struct dtx_opctx *ox, void *local,
                                           struct dtx_batch *in, struct dtx_emit *out,
                                           struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_derive_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                           struct dtx_emit *out, struct dtx_err *err);
/* The same, and `then` (NULL: nothing) for each batch with its working columns, hidden ones too
 * (those of stage k are at stage[k].target), before they are put in place. */
DTX_MUSTUSE enum dtx_code dtx_derive_whole_then(const struct dtx_opctx *ox, struct dtx_table *t,
                                                enum dtx_code (*then)(const struct dtx_opctx *,
                                                                      struct dtx_batch *,
                                                                      struct dtx_err *),
                                                struct dtx_emit *out, struct dtx_err *err);
/* `keys` of struct dtx_op: those of a step with calls and `by`. */
DTX_MUSTUSE enum dtx_code dtx_derive_keys(const struct dtx_opctx *ox, unsigned input,
                                          struct dtx_batch *b, struct dtx_column ***col,
                                          uint32_t *n, struct dtx_err *err);
void dtx_derive_explain(const void *args, struct dtx_buf *out);
struct dtx_sql_step;
/* The step in SQL, also of ops that are short forms of window. */
bool dtx_derive_sql(const struct dtx_sql_step *s, struct dtx_buf *out);

#endif
