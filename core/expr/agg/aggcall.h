/* A bound aggregate call.  Only core/expr looks inside. */
#ifndef DTX_EXPR_AGG_AGGCALL_H
#define DTX_EXPR_AGG_AGGCALL_H

#include <math.h>

#include "core/base/memory/prefetch.h"
#include "core/data/cast/decimal.h"
#include "core/expr/agg/agg.h"
#include "core/expr/bound.h"

enum dtx_aggkind {
	DTX_AGG_COUNT,
	DTX_AGG_COUNT_IF,
	DTX_AGG_COUNT_DISTINCT,
	DTX_AGG_SUM,
	DTX_AGG_MEAN,
	DTX_AGG_MEDIAN,
	DTX_AGG_QUANTILE,
	DTX_AGG_MIN,
	DTX_AGG_MAX,
	DTX_AGG_FIRST,
	DTX_AGG_LAST,
	DTX_AGG_STD,
	DTX_AGG_VAR,
	DTX_AGG_ANY,
	DTX_AGG_ALL,
	DTX_AGG_CONCAT,
	DTX_AGG_STD_POP,
	DTX_AGG_VAR_POP,
	DTX_AGG_MODE,
	DTX_AGG_QUANTILE_DISC,
	DTX_AGG_IQR,
	DTX_AGG_MAD,
	DTX_AGG_RANGE,
	DTX_AGG_PRODUCT,
	DTX_AGG_GMEAN,
	DTX_AGG_HMEAN,
	DTX_AGG_SKEW,
	DTX_AGG_KURT,
	DTX_AGG_CORR,
	DTX_AGG_COV,
	DTX_AGG_WAVG,
	DTX_AGG_REGR_SLOPE,
	DTX_AGG_REGR_R2,
	DTX_AGG_ARG_MAX,
	DTX_AGG_ARG_MIN,
	DTX_AGG_SHARE_NULL
};

/* Values of a column that are added to states: value row[i] (row NULL: value i) to group[i]. */
struct dtx_aggrows {
	const struct dtx_column *col; /* NULL: count() */
	const uint16_t *row;
	const uint32_t *group;
	uint32_t n;
	const struct dtx_batch *in;    /* for positions; row[i] is a row of this batch */
	const struct dtx_column *col2; /* second argument of aggregates that have two */
	struct dtx_arena *pool;        /* memory for states that grow; NULL: each state allocates
	                                * its own */
};

/* Whether the states are likely to be outside of the L1 cache, by the groups of some rows. */
static inline bool dtx_agg_far(size_t stride, const struct dtx_aggrows *r)
{
	uint32_t most = 0;

	for (uint32_t k = 0; k < DTX_MIN(r->n, 64u); k++)
		most = DTX_MAX(most, r->group[k]);
	return most * stride > (16u << 10);
}

/* Rows have groups in random order, so the state for the row DTX_AGG_AHEAD iterations later is
 * prefetched.  If several cores share the last-level cache, its latency is higher, so the distance
 * is larger than a single core would need. */
#define DTX_AGG_AHEAD 32u
static inline void dtx_agg_near(const char *states, size_t stride, size_t size,
                                const struct dtx_aggrows *r, uint32_t k)
{
	const char *s = states + r->group[DTX_MIN(k + DTX_AGG_AHEAD, r->n - 1)] * stride;

	DTX_PREFETCH(s);
	if (size > sizeof(uint64_t))
		DTX_PREFETCH(s + size - 1);
}

/* An aggregate for one type of argument. */
struct dtx_aggkernel {
	size_t size;
	bool frees;
	bool grows; /* a state may grow with every row */
	bool nulls; /* it wants null values too; others get only rows with a value */
	void (*init)(void *state, size_t stride, size_t n); /* NULL: an empty state is all zero
	                                                     * bytes */
	enum dtx_code (*add)(const struct dtx_aggcall *c, char *states, size_t stride,
	                     const struct dtx_aggrows *r, struct dtx_err *err);
	enum dtx_code (*merge)(const struct dtx_aggcall *c, void *to, void *from,
	                       struct dtx_err *err);
	enum dtx_code (*final)(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
	                       struct dtx_val *out, struct dtx_err *err);
	void (*free)(void *state);
	/* As bytes (aggsave.h), for states that hold memory of their own; NULL: the words of the
	 * state are all there is.  `load` fills an empty state; false: out of memory. */
	void (*save)(const struct dtx_aggcall *c, const void *state, struct dtx_buf *out);
	bool (*load)(const struct dtx_aggcall *c, void *state, const char **at);
};

struct dtx_aggcall {
	const struct dtx_expr *expr; /* for finding equal calls */
	const char *at;              /* JSON pointer of the formula; NULL */
	const char *name;
	enum dtx_aggkind kind;
	const struct dtx_aggkernel *kernel;
	struct dtx_bound *arg;   /* NULL: count() */
	struct dtx_bound *arg2;  /* NULL: it has one argument */
	struct dtx_bound *where; /* NULL: all rows */
	struct dtx_typeref argtype, type;
	double p;           /* quantile: the share; ewm_mean: alpha */
	struct dtx_str sep; /* concat_agg: the separator */
	uint8_t overflow;
	/* The members below are for window calls; `kind` is then an enum dtx_winkind. */
	const struct dtx_winkernel *win; /* NULL: it is an aggregate */
	struct dtx_bound **args;
	uint32_t nargs, min;
	int64_t n;
	bool div_zero_error;
	bool values; /* lag, lead: only rows with a value count */
};

/* Appends the result of one state to b.  buf is scratch memory. */
DTX_MUSTUSE enum dtx_code dtx_agg_final_one(const struct dtx_aggcall *c, void *state,
                                            struct dtx_buf *buf, struct dtx_builder *b,
                                            struct dtx_eval_counts *counts, struct dtx_err *err);
/* Sets the place of an error to the call. */
void dtx_agg_set_position(const struct dtx_aggcall *c, struct dtx_err *err);
/* The longest text of one result, in bytes. */
#define DTX_AGG_TEXT_MAX ((size_t)16 << 20)
/* A point between two neighbours in the sorted order.  For the middle it is their mean, rounded
 * once. */
static inline double dtx_agg_between(double low, double high, double part)
{
	if (part == 0.5 && isfinite(low + high))
		return (low + high) / 2;
	return low + (high - low) * part;
}

/* Selects the kernel and the result type from kind and argtype.  False: the aggregate does not
 * exist for that type.  With argtype UNKNOWN the call may only be asked for its type. */
bool dtx_agg_pick(struct dtx_aggcall *c);

const struct dtx_aggkernel *dtx_aggkernel_sum(const struct dtx_aggcall *c);
const struct dtx_aggkernel *dtx_aggkernel_extreme(const struct dtx_aggcall *c);
const struct dtx_aggkernel *dtx_aggkernel_list(const struct dtx_aggcall *c);
const struct dtx_aggkernel *dtx_aggkernel_count(const struct dtx_aggcall *c);
const struct dtx_aggkernel *dtx_aggkernel_numbers(const struct dtx_aggcall *c);
const struct dtx_aggkernel *dtx_aggkernel_tally(const struct dtx_aggcall *c);
const struct dtx_aggkernel *dtx_aggkernel_pair(const struct dtx_aggcall *c);
const struct dtx_aggkernel *dtx_aggkernel_range(const struct dtx_aggcall *c);

/* A number of any type as a float. */
static inline double dtx_agg_number(const struct dtx_column *c, uint32_t i)
{
	if (c->type.type == DTX_T_FLOAT64)
		return c->v.f64[i];
	if (c->type.type == DTX_T_INT64)
		return (double)c->v.i64[i];
	return dtx_dec_to_f64(c->v.dec[i], c->type.scale);
}
/* A result that its type cannot hold: error, null or float, as the option of the plan says. */
DTX_MUSTUSE enum dtx_code dtx_agg_overflow(const struct dtx_aggcall *c, struct dtx_val *out,
                                           struct dtx_err *err);

#endif
