/* sum, mean, std, var, count, count_if, any, all: loops over pairs of group and value.
 *
 * Sums do not depend on the order of the rows, so a result is the same with any number of workers.
 * Ints are added in 127 bits and decimals in 192 bits, which no number of rows can overflow; only
 * the result must fit its type.  Floats are added exactly (fsum.h) and rounded once. */
#include "core/expr/agg/aggcall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/expr/agg/aggsave.h"
#include "core/expr/agg/fsum.h"
#include "core/expr/agg/wsum.h"

#define STATE(type, k) ((type *)(void *)(states + (size_t)r->group[k] * stride))
/* Runs the body for each value k, with its state s and its row i. */
#define EACH(type, ...)                                                                            \
	do {                                                                                       \
		const bool far = dtx_agg_far(stride, r);                                           \
                                                                                                   \
		if (r->row) {                                                                      \
			for (uint32_t k = 0; k < r->n; k++) {                                      \
				uint32_t i = r->row[k];                                            \
				type *s = STATE(type, k);                                          \
				if (far)                                                           \
					dtx_agg_near(states, stride, sizeof(type), r, k);          \
				__VA_ARGS__                                                        \
			}                                                                          \
		} else {                                                                           \
			for (uint32_t k = 0; k < r->n; k++) {                                      \
				uint32_t i = k;                                                    \
				type *s = STATE(type, k);                                          \
				if (far)                                                           \
					dtx_agg_near(states, stride, sizeof(type), r, k);          \
				__VA_ARGS__                                                        \
			}                                                                          \
		}                                                                                  \
	} while (0)

/* --- int: a sum of 127 bits; the lowest bit of hi says whether there was a value --- */

struct isum {
	uint64_t lo;
	int64_t hi;
};

static inline void isum_add(struct isum *s, int64_t v)
{
	int64_t carry = __builtin_add_overflow(s->lo, (uint64_t)v, &s->lo);

	s->hi = (s->hi + 2 * (carry + (v >> 63))) | 1;
}

static dtx_i128 isum_get(const struct isum *s)
{
	return (dtx_i128)((dtx_u128)(uint64_t)(s->hi >> 1) << 64 | s->lo);
}

static void isum_join(struct isum *to, const struct isum *from)
{
	dtx_i128 v = isum_get(to) + isum_get(from);

	to->lo = (uint64_t)v;
	to->hi = (int64_t)((uint64_t)(v >> 64) << 1) | ((to->hi | from->hi) & 1);
}

/* If the rows are of few groups and the ints are small, one word per group has both the sum of its
 * values (the upper bits) and their number (the lower SMALL_COUNT bits): 2^16 values of 29 bits
 * have a sum of at most 45.  That takes a third of the time of states, which are wider and further
 * apart. */
#define SMALL_GROUPS 1024u
#define SMALL_COUNT  17
#define SMALL_VALUE  ((uint64_t)1 << 29)

/* False: they are not, and `sum` has no meaning. */
static bool small_sums(const struct dtx_aggrows *r, int64_t *sum)
{
	const int64_t *v = r->col->v.i64;
	uint64_t any = 0;

	if (r->n < 4 * SMALL_GROUPS || r->n > 1u << 16)
		return false;
	memset(sum, 0, SMALL_GROUPS * sizeof(*sum));
	for (uint32_t k = 0; k < r->n; k++) {
		int64_t x = v[r->row ? r->row[k] : k];
		uint32_t group = r->group[k];

		if (group >= SMALL_GROUPS)
			return false;
		any |= (uint64_t)x + SMALL_VALUE;
		sum[group] = (int64_t)((uint64_t)sum[group] + ((uint64_t)x << SMALL_COUNT) + 1);
	}
	return any < 2 * SMALL_VALUE;
}

static inline uint64_t small_count(int64_t sum)
{
	return (uint64_t)sum & (((uint64_t)1 << SMALL_COUNT) - 1);
}

static enum dtx_code isum_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                               const struct dtx_aggrows *r, struct dtx_err *err)
{
	const int64_t *v = r->col->v.i64;
	int64_t sum[SMALL_GROUPS];

	(void)c, (void)err;
	if (small_sums(r, sum)) {
		for (uint32_t g = 0; g < SMALL_GROUPS; g++)
			if (sum[g])
				isum_add((struct isum *)(void *)(states + g * stride),
				         sum[g] >> SMALL_COUNT);
		return DTX_OK;
	}
	EACH(struct isum, { isum_add(s, v[i]); });
	return DTX_OK;
}

static enum dtx_code isum_merge(const struct dtx_aggcall *c, void *to, void *from,
                                struct dtx_err *err)
{
	(void)c, (void)err;
	isum_join(to, from);
	return DTX_OK;
}

enum dtx_code dtx_agg_overflow(const struct dtx_aggcall *c, struct dtx_val *out,
                               struct dtx_err *err)
{
	char type[32];

	out->null = true;
	if (c->overflow == DTX_OVERFLOW_NULL)
		return DTX_OK;
	dtx_err_set(err, DTX_E_OVERFLOW, __FILE__, __LINE__, "%s() does not fit %s", c->name,
	            dtx_bind_type_text(c->type, type));
	dtx_err_hint(err, "use %s(float(x)), or set options.overflow to 'float' or 'null'",
	             c->name);
	if (err)
		err->run_time = true;
	return DTX_E_OVERFLOW;
}

static enum dtx_code isum_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                struct dtx_val *out, struct dtx_err *err)
{
	const struct isum *s = state;
	dtx_i128 v = isum_get(s);

	(void)run;
	out->null = !(s->hi & 1);
	if (c->type.type == DTX_T_FLOAT64)
		out->u.f = (double)v;
	else if (v > INT64_MAX || v < INT64_MIN)
		return dtx_agg_overflow(c, out, err);
	else
		out->u.i = (int64_t)v;
	return DTX_OK;
}

static const struct dtx_aggkernel sum_int = {
	.size = sizeof(struct isum), .add = isum_rows, .merge = isum_merge, .final = isum_final
};

struct imean {
	struct isum sum;
	uint64_t n;
};

static enum dtx_code imean_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                                const struct dtx_aggrows *r, struct dtx_err *err)
{
	const int64_t *v = r->col->v.i64;
	int64_t sum[SMALL_GROUPS];

	(void)c, (void)err;
	if (small_sums(r, sum)) {
		for (uint32_t g = 0; g < SMALL_GROUPS; g++) {
			struct imean *s = (struct imean *)(void *)(states + g * stride);

			if (!sum[g])
				continue;
			isum_add(&s->sum, sum[g] >> SMALL_COUNT);
			s->n += small_count(sum[g]);
		}
		return DTX_OK;
	}
	EACH(struct imean, {
		isum_add(&s->sum, v[i]);
		s->n++;
	});
	return DTX_OK;
}

static enum dtx_code imean_merge(const struct dtx_aggcall *c, void *to, void *from,
                                 struct dtx_err *err)
{
	struct imean *a = to, *b = from;

	(void)c, (void)err;
	isum_join(&a->sum, &b->sum);
	a->n += b->n;
	return DTX_OK;
}

static enum dtx_code imean_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                 struct dtx_val *out, struct dtx_err *err)
{
	const struct imean *s = state;

	(void)c, (void)run, (void)err;
	out->null = s->n == 0;
	if (s->n)
		out->u.f = dtx_wsum_ratio(isum_get(&s->sum), s->n);
	return DTX_OK;
}

static const struct dtx_aggkernel mean_int = {
	.size = sizeof(struct imean), .add = imean_rows, .merge = imean_merge, .final = imean_final
};

/* --- float --- */

struct fstate {
	struct dtx_fsum sum;
	uint64_t n;
};

/* Floats of few groups need a third of the operations of dtx_fsum_add.  The sum of each group
 * begins at 1.5 * 2^(e + 17), where all values are below 2^e, so 2^16 of them do not change its
 * exponent.  What rounding drops of an addition is then x - (t - hi), exactly (Dekker's Fast2Sum),
 * and below 2^(e - 35): 2^16 of these parts are below 2^(e - 19).  A value of at least 2^(e - 20)
 * has no digit below 2^(e - 72), so 53 bits hold the sum of the parts, and nothing is rounded. */
#define FEW_GROUPS 512u
#define FEW_SPAN   20

struct few {
	double hi, lo;
	uint64_t n;
};

/* The exponent of which few values will be outside: some more than the first ones need. */
static int few_exponent(const struct dtx_aggrows *r)
{
	double most = 0;
	int e = 0;

	for (uint32_t k = 0; k < DTX_MIN(r->n, 64u); k++)
		most = fmax(most, fabs(r->col->v.f64[r->row ? r->row[k] : k]));
	(void)frexp(most, &e);
	return e + 2;
}

static inline uint64_t float_bits(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

/* Adds values up to the first of another group, or until too many are outside of the span.  Those
 * that are go to the states, and so do all sums.  *done: how many values were added. */
static enum dtx_code add_few(char *states, size_t stride, const struct dtx_aggrows *r,
                             uint32_t *done, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const int e = few_exponent(r);
	const double *v = r->col->v.f64, start = ldexp(1.5, e + 17);
	const uint64_t least = float_bits(ldexp(1, e - FEW_SPAN)) << 1;
	const uint64_t span = (float_bits(ldexp(1, e)) << 1) - least;
	struct few few[FEW_GROUPS];
	uint32_t k, outside = 0;

	*done = 0;
	if (abs(e) > 900) /* powers of two near these are infinite, or 0 */
		goto out;
	for (k = 0; k < FEW_GROUPS; k++)
		few[k] = (struct few){ start, 0, 0 };
	for (k = 0; k < r->n && r->group[k] < FEW_GROUPS && outside < 1024; k++) {
		struct few *s = &few[r->group[k]];
		double x = v[r->row ? r->row[k] : k], hi = s->hi;

		s->n++;
		if (DTX_LIKELY((float_bits(x) << 1) - least < span)) {
			s->hi = hi + x;
			s->lo += x - (s->hi - hi);
		} else if (x != 0) {
			outside++;
			if (!dtx_fsum_add(&STATE(struct fstate, k)->sum, x))
				DTX_FAIL_MEM(err);
		}
	}
	*done = k;
	for (k = 0; k < FEW_GROUPS; k++) {
		struct fstate *s = (struct fstate *)(void *)(states + (size_t)k * stride);

		if (!few[k].n)
			continue;
		s->n += few[k].n;
		if (!dtx_fsum_add(&s->sum, few[k].hi - start) || !dtx_fsum_add(&s->sum, few[k].lo))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

static enum dtx_code fsum_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                               const struct dtx_aggrows *all, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_aggrows rest = *all, *r = &rest;
	const double *v = r->col->v.f64;
	uint32_t done = 0;

	(void)c;
	if (r->n >= 4 * SMALL_GROUPS && r->n <= 1u << 16 && r->group[0] < FEW_GROUPS)
		DTX_TRY(add_few(states, stride, r, &done, err));
	r->n -= done;
	r->group += done;
	if (r->row)
		r->row += done;
	else
		v += done;
	EACH(struct fstate, {
		s->n++;
		if (!dtx_fsum_add(&s->sum, v[i]))
			DTX_FAIL_MEM(err);
	});
out:
	return rc;
}

static enum dtx_code fsum_merge(const struct dtx_aggcall *c, void *to, void *from,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct fstate *a = to, *b = from;

	(void)c;
	if (!dtx_fsum_merge(&a->sum, &b->sum))
		DTX_FAIL_MEM(err);
	a->n += b->n;
	b->n = 0;
out:
	return rc;
}

static enum dtx_code fsum_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                struct dtx_val *out, struct dtx_err *err)
{
	struct fstate *s = state;

	(void)run, (void)err;
	out->null = s->n == 0;
	out->u.f = dtx_fsum_round(&s->sum);
	if (c->kind == DTX_AGG_MEAN && s->n)
		out->u.f /= (double)s->n;
	return DTX_OK;
}

static void fsum_free(void *state)
{
	dtx_fsum_free(&((struct fstate *)state)->sum);
}

static void fsum_save(const struct dtx_aggcall *c, const void *state, struct dtx_buf *out)
{
	const struct fstate *s = state;

	(void)c;
	dtx_fsum_save(&s->sum, out);
	dtx_word_save(s->n, out);
}

static bool fsum_load(const struct dtx_aggcall *c, void *state, const char **at)
{
	struct fstate *s = state;

	(void)c;
	if (!dtx_fsum_load(&s->sum, at))
		return false;
	s->n = dtx_word_load(at);
	return true;
}

static const struct dtx_aggkernel sum_float = { .size = sizeof(struct fstate),
	                                        .frees = true,
	                                        .add = fsum_rows,
	                                        .merge = fsum_merge,
	                                        .final = fsum_final,
	                                        .free = fsum_free,
	                                        .save = fsum_save,
	                                        .load = fsum_load };

/* --- decimal --- */

struct dsum {
	struct dtx_wsum sum;
	uint64_t n;
};

static enum dtx_code dsum_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                               const struct dtx_aggrows *r, struct dtx_err *err)
{
	const struct dtx_dec128 *v = r->col->v.dec;

	(void)c, (void)err;
	EACH(struct dsum, {
		dtx_wsum_add(&s->sum, dtx_dec_get(v[i]));
		s->n++;
	});
	return DTX_OK;
}

static enum dtx_code dsum_merge(const struct dtx_aggcall *c, void *to, void *from,
                                struct dtx_err *err)
{
	struct dsum *a = to, *b = from;

	(void)c, (void)err;
	dtx_wsum_merge(&a->sum, &b->sum);
	a->n += b->n;
	return DTX_OK;
}

static enum dtx_code dsum_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                struct dtx_val *out, struct dtx_err *err)
{
	const struct dsum *s = state;
	dtx_i128 v;

	(void)run;
	out->null = s->n == 0;
	if (!s->n)
		return DTX_OK;
	if (c->kind == DTX_AGG_MEAN) {
		out->u.f = dtx_wsum_mean(&s->sum, s->n, c->argtype.scale);
		return DTX_OK;
	}
	if (!dtx_wsum_get(&s->sum, &v) || !dtx_dec_fits(v, 38))
		return dtx_agg_overflow(c, out, err);
	out->u.dec = v;
	return DTX_OK;
}

static const struct dtx_aggkernel sum_decimal = {
	.size = sizeof(struct dsum), .add = dsum_rows, .merge = dsum_merge, .final = dsum_final
};

/* --- std, var --- */

static enum dtx_code spread_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                                 const struct dtx_aggrows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)c;
	EACH(struct dtx_fspread, {
		if (!dtx_fspread_add(s, dtx_agg_number(r->col, i)))
			DTX_FAIL_MEM(err);
	});
out:
	return rc;
}

static enum dtx_code spread_merge(const struct dtx_aggcall *c, void *to, void *from,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)c;
	if (!dtx_fspread_merge(to, from))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code spread_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                  struct dtx_val *out, struct dtx_err *err)
{
	struct dtx_fspread *s = state;
	bool all = c->kind == DTX_AGG_STD_POP || c->kind == DTX_AGG_VAR_POP;
	double var = 0, n = (double)s->n;

	(void)run, (void)err;
	/* One value has a variance of 0 as a population, but none as a sample. */
	out->null = !dtx_fspread_var(s, &var) && !(all && s->n == 1);
	if (all)
		var = var * (n - 1) / n;
	if (!out->null)
		out->u.f = c->kind == DTX_AGG_STD || c->kind == DTX_AGG_STD_POP ? sqrt(var) : var;
	return DTX_OK;
}

static void spread_free(void *state)
{
	dtx_fspread_free(state);
}

static void spread_save(const struct dtx_aggcall *c, const void *state, struct dtx_buf *out)
{
	(void)c;
	dtx_fspread_save(state, out);
}

static bool spread_load(const struct dtx_aggcall *c, void *state, const char **at)
{
	(void)c;
	return dtx_fspread_load(state, at);
}

static const struct dtx_aggkernel spread = { .size = sizeof(struct dtx_fspread),
	                                     .frees = true,
	                                     .add = spread_rows,
	                                     .merge = spread_merge,
	                                     .final = spread_final,
	                                     .free = spread_free,
	                                     .save = spread_save,
	                                     .load = spread_load };

const struct dtx_aggkernel *dtx_aggkernel_sum(const struct dtx_aggcall *c)
{
	if (c->kind != DTX_AGG_SUM && c->kind != DTX_AGG_MEAN)
		return &spread;
	if (c->argtype.type == DTX_T_FLOAT64)
		return &sum_float;
	if (c->argtype.type == DTX_T_DECIMAL)
		return &sum_decimal;
	return c->kind == DTX_AGG_MEAN ? &mean_int : &sum_int;
}

/* --- counts and truth --- */

static enum dtx_code count_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                                const struct dtx_aggrows *r, struct dtx_err *err)
{
	uint32_t k;

	(void)c, (void)err;
	for (k = 0; k < r->n; k++)
		++*STATE(uint64_t, k);
	return DTX_OK;
}

static enum dtx_code count_if_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                                   const struct dtx_aggrows *r, struct dtx_err *err)
{
	(void)c, (void)err;
	EACH(uint64_t, { *s += dtx_bit(r->col->v.bits, i); });
	return DTX_OK;
}

static enum dtx_code count_merge(const struct dtx_aggcall *c, void *to, void *from,
                                 struct dtx_err *err)
{
	(void)c, (void)err;
	*(uint64_t *)to += *(uint64_t *)from;
	return DTX_OK;
}

static enum dtx_code count_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                 struct dtx_val *out, struct dtx_err *err)
{
	(void)c, (void)run, (void)err;
	out->u.i = *(int64_t *)state;
	return DTX_OK;
}

/* Bit 0: there was a true value, bit 1: there was a false one. */
static enum dtx_code truth_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                                const struct dtx_aggrows *r, struct dtx_err *err)
{
	(void)c, (void)err;
	EACH(uint64_t, { *s |= dtx_bit(r->col->v.bits, i) ? 1 : 2; });
	return DTX_OK;
}

static enum dtx_code truth_merge(const struct dtx_aggcall *c, void *to, void *from,
                                 struct dtx_err *err)
{
	(void)c, (void)err;
	*(uint64_t *)to |= *(uint64_t *)from;
	return DTX_OK;
}

static enum dtx_code truth_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                 struct dtx_val *out, struct dtx_err *err)
{
	uint64_t seen = *(uint64_t *)state;

	(void)run, (void)err;
	out->null = seen == 0;
	out->u.b = c->kind == DTX_AGG_ANY ? (seen & 1) != 0 : !(seen & 2);
	return DTX_OK;
}

static const struct dtx_aggkernel count = {
	.size = 8, .add = count_rows, .merge = count_merge, .final = count_final
};
static const struct dtx_aggkernel count_if = {
	.size = 8, .add = count_if_rows, .merge = count_merge, .final = count_final
};
static const struct dtx_aggkernel truth = {
	.size = 8, .add = truth_rows, .merge = truth_merge, .final = truth_final
};

const struct dtx_aggkernel *dtx_aggkernel_count(const struct dtx_aggcall *c)
{
	if (c->kind == DTX_AGG_ANY || c->kind == DTX_AGG_ALL)
		return &truth;
	return c->kind == DTX_AGG_COUNT_IF ? &count_if : &count;
}
