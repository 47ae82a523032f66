/* Aggregates: init, add, merge and final over arrays of states.
 *
 * An array of states belongs to one worker and is indexed by group number.  Merging is associative
 * and commutative, so the result does not depend on which worker processed which batch; first and
 * last keep the positions of their values for that reason.  Sources: exact sums of floats by
 * error-free transformations after Shewchuk (1997) and Neal (2015). */
#ifndef DTX_EXPR_AGG_AGG_H
#define DTX_EXPR_AGG_AGG_H

#include "core/base/memory/arena.h"
#include "core/expr/expr.h"

/* A bound aggregate call of a step.  Read-only while batches are processed. */
struct dtx_aggcall;
struct dtx_typeref dtx_agg_type(const struct dtx_aggcall *c);
size_t dtx_agg_state_size(const struct dtx_aggcall *c); /* in bytes, a multiple of 8 */
/* Sets where the formula of the call is written, as dtx_bound_place does. */
void dtx_agg_place(struct dtx_aggcall *c, const char *at);
/* The name for messages: "sum". */
const char *dtx_agg_name(const struct dtx_aggcall *c);

/* Empties the states [from, to) of an array. */
void dtx_agg_init(const struct dtx_aggcall *c, void *states, size_t stride, size_t from, size_t to);
/* Adds the live rows of the batch: live row number i goes to states + group[i] * stride (`group`
 * has one entry per live row, 0 to nsel - 1).  The function evaluates the argument and the `where:`
 * condition itself.  States that grow may take memory from `pool`; all rows of one array must use
 * the same pool, or none.  The pool must live until the last state that these states were merged
 * into has been freed. */
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
/* Merges the state `from` into `to`.  `from` is left empty. */
DTX_MUSTUSE enum dtx_code dtx_agg_merge(const struct dtx_aggcall *c, void *to, void *from,
                                        struct dtx_err *err);
/* Appends a state as bytes, which may be kept outside of memory.  Out of memory: the buffer has
 * failed. */
void dtx_agg_save(const struct dtx_aggcall *c, const void *state, struct dtx_buf *out);
/* Fills an empty state from such bytes; *at moves after them.  DTX_WORDS_PAD (aggsave.h) more bytes
 * must be readable.  On failure the state can still be freed.  Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_agg_load(const struct dtx_aggcall *c, void *state, const char **at,
                                       struct dtx_err *err);
/* The results of n states; states[i] points to state i.  A float result that is not finite becomes
 * null and is counted. */
DTX_MUSTUSE enum dtx_code dtx_agg_final(const struct dtx_aggcall *c, void *const *states, size_t n,
                                        struct dtx_eval_counts *counts, struct dtx_column **out,
                                        struct dtx_err *err);
/* Frees the memory that states hold in addition to their own bytes.  Most aggregates have none. */
void dtx_agg_free(const struct dtx_aggcall *c, void *states, size_t stride, size_t n);
bool dtx_agg_needs_free(const struct dtx_aggcall *c);
/* Whether a state may grow with every row: lists, sets, tallies. */
bool dtx_agg_grows(const struct dtx_aggcall *c);

#endif
