/* Computed columns, stage after stage: what derive and window share.
 *
 * Stage k evaluates over the columns made so far; an existing name is overwritten in place, so
 * every stage has a schema of its own (they share one field array until a field changes).  Without
 * aggregates and window calls batches flow through; with them the whole table is taken, and each
 * stage's calls are computed over it before its formula. */
#ifndef OPS_DERIVE_H
#define OPS_DERIVE_H

#include "core/expr/window.h"
#include "ops/groupkeys.h"
#include "ops/opkit.h"
#include "ops/orderkeys.h"
#include "ops/rangeframe.h"

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
	const struct dtx_schema *schema; /* what it sees */
	struct dtx_bound *bound;
	struct dtx_aggcalls calls;     /* their results are columns behind the schema's */
	const struct dtx_schema *wide; /* with them */
	uint32_t target;               /* working column it makes */
	struct dtx_rangeframe range;   /* of its calls */
	uint32_t *reads;               /* earlier stages it reads, */
	uint32_t nreads, readscap;     /* each once */
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
	uint32_t nout;
	bool windowed; /* some stage has calls */
	bool ranged;   /* ... with a frame by range */
	struct dtx_groupkeys by;
	struct dtx_orderkeys order;
};

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
