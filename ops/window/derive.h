/* Computed columns, stage after stage: what derive and window share.
 *
 * Stage k evaluates over the columns made so far; an existing name is overwritten in place, so
 * every stage sees a schema of its own: a view goes from one to the next, for a step may change
 * thousands of columns, and a schema kept for each would cost their square.  Without
 * aggregates and window calls batches flow through; with them the whole table is taken, and each
 * stage's calls are computed over it before its formula. */
#ifndef DTX_OPS_WINDOW_DERIVE_H
#define DTX_OPS_WINDOW_DERIVE_H

#include "core/expr/window/window.h"
#include "ops/group/groupkeys.h"
#include "ops/kit/opkit.h"
#include "ops/sort/orderkeys.h"
#include "ops/window/rangeframe.h"

struct dtx_derive_item {
	const char *as;
	struct dtx_expr *expr;
	struct dtx_row_frame frame;
};
struct dtx_derive_args {
	struct dtx_plist set;
	const char *after;
	struct dtx_cols *by;
	struct dtx_plist order;
	const char *at; /* pointer of all formulas as written; NULL: their places in set */
};
struct dtx_derive_stage {
	struct dtx_bound *bound;
	struct dtx_aggcalls calls;   /* their results are columns behind those it sees */
	uint32_t target;             /* working column it makes */
	struct dtx_field made;       /* that column */
	struct dtx_rangeframe range; /* of its calls */
	uint32_t *reads;             /* earlier stages it reads, */
	uint32_t nreads, readscap;   /* each once */
	/* at bind: */
	int32_t *col; /* uses of input columns, earlier stages' included */
	uint8_t *demand;
	uint32_t ncols, cap;
};
struct dtx_derive_state {
	const struct dtx_derive_args *args;
	struct dtx_derive_stage *stage;
	uint32_t nstages, nwork, nin;
	uint32_t *place; /* per output column its working column */
	int32_t *maker;  /* per output column the stage that made it last, -1 */
	const struct dtx_schema *work;
	const struct dtx_field *start; /* the working columns before the first stage: nin */
	uint32_t ncalls;               /* most of a stage */
	uint32_t nout;
	bool windowed; /* some stage has calls */
	bool ranged;   /* ... with a frame by range */
	struct dtx_groupkeys by;
	struct dtx_orderkeys order;
};

/* The working columns before a stage. */
struct dtx_derive_view {
	struct dtx_schema schema;
	struct dtx_field *field; /* of the schema, with room for all stages and calls */
	uint32_t stage;          /* that it is before */
};
#define DTX_DERIVE_VIEW_INIT                                                                       \
	{                                                                                          \
		.field = NULL                                                                      \
	}

DTX_MUSTUSE enum dtx_code dtx_derive_view_open(struct dtx_derive_view *v,
                                               const struct dtx_derive_state *s,
                                               struct dtx_err *err);
void dtx_derive_view_close(struct dtx_derive_view *v);
/* Goes on to stage k, which is not before the one it is at. */
void dtx_derive_view_to(struct dtx_derive_view *v, const struct dtx_derive_state *s, uint32_t k);
/* What the formula around the stage's calls sees: their results too.  Until the view goes on. */
struct dtx_schema dtx_derive_view_wide(struct dtx_derive_view *v,
                                       const struct dtx_derive_stage *st);

/* args are a struct dtx_derive_args. */
DTX_MUSTUSE enum dtx_code dtx_derive_bind(struct dtx_bind *b, void *args, struct dtx_err *err);
/* Stages whose column somebody wants, or that such a stage reads; nstages bools. */
void dtx_derive_live(const struct dtx_opctx *ox, const struct dtx_derive_state *s, bool *live);
/* The batch with room for the working columns. */
DTX_MUSTUSE enum dtx_code dtx_derive_widen(const struct dtx_derive_state *s, struct dtx_batch *in,
                                           struct dtx_err *err);
/* The batch with the output's columns, from working ones. */
DTX_MUSTUSE enum dtx_code dtx_derive_place(const struct dtx_opctx *ox,
                                           const struct dtx_derive_state *s, struct dtx_batch *in,
                                           struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_derive_batch(const struct dtx_opctx *ox, void *local,
                                           struct dtx_batch *in, struct dtx_emit *out,
                                           struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_derive_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                           struct dtx_emit *out, struct dtx_err *err);
void dtx_derive_explain(const void *args, struct dtx_buf *out);

#endif
