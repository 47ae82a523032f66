/* Aggregates: init, add, merge, final over arrays of states.
 *
 * A state array belongs to one worker; group ids index it.  Merging is associative and commutative,
 * so that the result never depends on who ate which batch; first and last carry positions.
 * Sources: error-free transformation sums after Shewchuk (1997) and Neal (2015). */
#ifndef DTX_EXPR_AGG_AGG_H
#define DTX_EXPR_AGG_AGG_H

#include "core/base/arena.h"
#include "core/expr/expr.h"

/* One bound aggregate call of a step; read-only while batches flow. */
struct dtx_aggcall;
struct dtx_typeref dtx_agg_type(const struct dtx_aggcall *c);
size_t dtx_agg_state_size(const struct dtx_aggcall *c); /* multiple of 8 */
/* A column straight from the input when the argument is one, for kernels; -1 otherwise. */
int32_t dtx_agg_column(const struct dtx_aggcall *c);
/* Where the formula of the call is written, as in dtx_bound_place. */
void dtx_agg_place(struct dtx_aggcall *c, const char *at);
/* Name for texts: "sum". */
const char *dtx_agg_name(const struct dtx_aggcall *c);

/* States [from, to) of an array become empty. */
void dtx_agg_init(const struct dtx_aggcall *c, void *states, size_t stride, size_t from, size_t to);
/* Live rows of the batch: row sel[i] goes to states + group[i] * stride (group is dense over the
 * live rows, 0 .. nsel-1).  Evaluates argument and `where:` itself.  What states that grow hold may
 * lie in the pool, the same one or none for all rows of an array: it is cleared behind the last
 * state that they were merged into. */
DTX_MUSTUSE enum dtx_code dtx_agg_add(const struct dtx_aggcall *c, void *states, size_t stride,
                                      const uint32_t *group, struct dtx_arena *pool,
                                      struct dtx_batch *in, struct dtx_eval_counts *counts,
                                      struct dtx_err *err);
static inline void dtx_eval_counts_add(struct dtx_eval_counts *to,
                                       const struct dtx_eval_counts *from)
{
	to->not_finite += from->not_finite;
	to->div_zero += from->div_zero;
	to->tried += from->tried;
	to->offsets += from->offsets;
}
/* from's state goes into to's; from is left empty. */
DTX_MUSTUSE enum dtx_code dtx_agg_merge(const struct dtx_aggcall *c, void *to, void *from,
                                        struct dtx_err *err);
/* Results of n states, state i at states[i] (pointers).  A float that is not finite becomes null
 * and is counted. */
DTX_MUSTUSE enum dtx_code dtx_agg_final(const struct dtx_aggcall *c, void *const *states, size_t n,
                                        struct dtx_eval_counts *counts, struct dtx_column **out,
                                        struct dtx_err *err);
/* Frees what states hold beyond their own bytes; NULL-safe no-op for most. */
void dtx_agg_free(const struct dtx_aggcall *c, void *states, size_t stride, size_t n);
bool dtx_agg_needs_free(const struct dtx_aggcall *c);
/* Whether a state may hold more with every row: lists, sets, tallies. */
bool dtx_agg_grows(const struct dtx_aggcall *c);

#endif
