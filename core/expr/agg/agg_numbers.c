/* Aggregates that need every number: quantiles, products, moments.
 *
 * The values are kept in a list of blocks, so that adding a value never moves others and merging
 * only joins two lists. */
#include "core/expr/agg/aggcall.h"

#include <stdlib.h>

#include "core/base/memory/mem.h"
#include "core/expr/agg/aggsave.h"
#include "core/expr/agg/fsum.h"

#define STATE(type, k) ((type *)(void *)(states + (size_t)r->group[k] * stride))
#define AHEAD          16u
#define ROW(k)         (r->row ? r->row[k] : (k))

/* A block of values.  Results that need all values in one array copy them into one block. */
struct block {
	struct block *next;
	size_t n, cap;
	double v[];
};
struct numbers {
	double *end, *full; /* of the first block: where the next value goes, and the end of its
	                     * room */
	struct block *head; /* first block; its n is not up to date, it follows from `end` */
	struct block *tail; /* last block */
	bool pooled;        /* the blocks belong to a pool and are freed with it */
};

#define BLOCK_FIRST 4u
#define COPY_MAX    ((size_t)1 << 17) /* in values: 1 MiB */
#define BLOCK_MAX   ((size_t)1 << 16)

static inline size_t head_n(const struct numbers *s)
{
	return s->head ? (size_t)(s->end - s->head->v) : 0;
}

static bool numbers_room(struct numbers *s, struct dtx_arena *pool)
{
	size_t cap = s->head ? DTX_MIN(s->head->cap * 2 + 2, BLOCK_MAX) : BLOCK_FIRST;
	size_t size = sizeof(struct block) + cap * sizeof(double);
	struct block *b = pool ? dtx_arena_alloc(pool, 1, size) : dtx_mem_alloc(1, size);

	if (!b)
		return false;
	*b = (struct block){ .next = s->head, .cap = cap };
	s->pooled = pool != NULL;
	if (s->head)
		s->head->n = head_n(s);
	else
		s->tail = b;
	s->head = b;
	s->end = b->v;
	s->full = b->v + cap;
	return true;
}

/* Prefetches the state of a row some iterations ahead, and then the end of its list, because groups
 * come in random order. */
static inline void numbers_near(char *states, size_t stride, const struct dtx_aggrows *r,
                                uint32_t k)
{
	const struct numbers *soon;

	if (k + 2 * AHEAD >= r->n)
		return;
	__builtin_prefetch(STATE(struct numbers, k + 2 * AHEAD), 1);
	soon = STATE(struct numbers, k + AHEAD);
	__builtin_prefetch(soon->end, 1);
}

static enum dtx_code numbers_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                                  const struct dtx_aggrows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t k, i;

	(void)c;
	for (k = 0; k < r->n; k++) {
		struct numbers *s = STATE(struct numbers, k);

		numbers_near(states, stride, r, k);
		i = ROW(k);
		if (s->end == s->full && !numbers_room(s, r->pool))
			DTX_FAIL_MEM(err);
		*s->end++ = dtx_agg_number(r->col, i);
	}
out:
	return rc;
}

static void numbers_free(void *state)
{
	struct numbers *s = state;

	for (struct block *b = s->pooled ? NULL : s->head, *next; b; b = next) {
		next = b->next;
		dtx_mem_free(b);
	}
	memset(s, 0, sizeof(*s));
}

static enum dtx_code numbers_merge(const struct dtx_aggcall *c, void *to, void *from,
                                   struct dtx_err *err)
{
	struct numbers *a = to, *b = from;

	(void)c, (void)err;
	if (!b->head)
		return DTX_OK;
	if (a->head) {
		a->head->n = head_n(a);
		b->tail->next = a->head;
		b->tail = a->tail;
	}
	*a = *b;
	*b = (struct numbers){ .end = NULL };
	return DTX_OK;
}

/* All values in one array. */
struct list {
	double *v;
	size_t n;
};

static size_t numbers_n(const struct numbers *s)
{
	size_t n = head_n(s);

	for (const struct block *b = s->head ? s->head->next : NULL; b; b = b->next)
		n += b->n;
	return n;
}

/* Copies all values to an array with room for them. */
static void numbers_copy(struct numbers *s, double *to)
{
	if (s->head)
		s->head->n = head_n(s);
	for (const struct block *b = s->head; b; b = b->next) {
		memcpy(to, b->v, b->n * sizeof(*b->v));
		to += b->n;
	}
}

/* Replaces the blocks by a single one. */
static bool numbers_join(struct numbers *s, size_t n)
{
	struct block *one;

	if (s->head == s->tail)
		return true;
	one = dtx_mem_alloc(1, sizeof(*one) + n * sizeof(*one->v));
	if (!one)
		return false;
	*one = (struct block){ .n = n, .cap = n };
	numbers_copy(s, one->v);
	numbers_free(s);
	*s = (struct numbers){ one->v + n, one->v + n, one, one, false };
	return true;
}

/* All values in one array.  A few values are copied to the scratch buffer of the run, so that
 * finishing many small states allocates nothing. */
static bool numbers_list(struct numbers *s, struct dtx_buf *scratch, struct list *out)
{
	*out = (struct list){ NULL, numbers_n(s) };
	if (out->n > COPY_MAX) {
		if (!numbers_join(s, out->n))
			return false;
		out->v = s->head->v;
		return true;
	}
	if (!dtx_buf_room(scratch, (out->n + 1) * sizeof(*out->v)))
		return false;
	out->v = (double *)(void *)scratch->ptr;
	numbers_copy(s, out->v);
	return true;
}

static void swap(double *a, double *b)
{
	double t = *a;

	*a = *b;
	*b = t;
}

static void sort_three(double *a, double *b, double *c)
{
	if (*b < *a)
		swap(a, b);
	if (*c < *b)
		swap(b, c);
	if (*b < *a)
		swap(a, b);
}

/* Moves a value from around the median of [low, high] to high. */
static void pivot_last(double *v, size_t low, size_t high)
{
	size_t n = high - low, mid = low + n / 2, step = n / 8;

	if (step > 4) {
		sort_three(&v[low], &v[low + step], &v[low + 2 * step]);
		sort_three(&v[mid - step], &v[mid], &v[mid + step]);
		sort_three(&v[high - 2 * step], &v[high - step], &v[high]);
		sort_three(&v[low + step], &v[mid], &v[high - step]);
	} else {
		sort_three(&v[low], &v[mid], &v[high]);
	}
	swap(&v[mid], &v[high]);
}

/* Partitions [low, high): values below p come first (with `upto`, also those equal to p).  Returns
 * where the other values begin.  It has no branch on a value, because half of these branches would
 * be mispredicted.  `inline`, because `upto` is a constant in each call. */
static inline size_t split(double *v, size_t low, size_t high, double p, bool upto)
{
	size_t to = low;

	for (size_t i = low; i < high; i++) {
		double x = v[i];

		v[i] = v[to];
		v[to] = x;
		to += upto ? x <= p : x < p;
	}
	return to;
}

/* Puts the k-th smallest value at v[k] and smaller ones before it (quickselect by Hoare 1961, with
 * Lomuto's partition).  The next larger value is then in (k, end), whose end is returned. */
static size_t nth_element(double *v, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	while (low < high) {
		size_t at, same;
		double p;

		pivot_last(v, low, high);
		p = v[high];
		at = split(v, low, high, p, false);
		swap(&v[at], &v[high]);
		if (k < at) {
			high = at - 1;
			continue;
		}
		/* the smallest value of the range may occur many times */
		same = at == low ? split(v, at + 1, high + 1, p, true) : at + 1;
		if (k < same)
			break;
		low = same;
	}
	return DTX_MIN(high + 2, n); /* v[high + 1] is the smallest of the values after it */
}

/* --- results of n > 0 values, whose order may be changed --- */

/* Quantile of type 7 (Hyndman and Fan 1996): linear between the two nearest values. */
static double quantile(struct list *s, double p)
{
	double at = p * (double)(s->n - 1), part = at - floor(at), value, next;
	size_t k = (size_t)floor(at), end = nth_element(s->v, s->n, k);

	value = s->v[k];
	if (part == 0)
		return value;
	next = s->v[k + 1];
	for (size_t i = k + 2; i < end; i++)
		next = s->v[i] < next ? s->v[i] : next;
	return dtx_agg_between(value, next, part);
}

/* Median distance from the median (MAD). */
static double distance(struct list *s)
{
	double middle = quantile(s, 0.5);

	for (size_t i = 0; i < s->n; i++)
		s->v[i] = fabs(s->v[i] - middle);
	return quantile(s, 0.5);
}

static int cmp_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Multiplies in order of size, so that the rounding does not depend on which worker had which rows.
 * Mantissas and exponents are kept apart, so no intermediate product is too large or too small for
 * a float. */
static double product(struct list *s)
{
	double part = 1;
	int64_t exp = 0;
	int e, shift;

	qsort(s->v, s->n, sizeof(*s->v), cmp_numbers);
	for (size_t i = 0; i < s->n; i++) {
		part = frexp(part * frexp(s->v[i], &e), &shift);
		exp += e + shift;
	}
	return ldexp(part, (int)DTX_MAX(DTX_MIN(exp, 9999), -9999));
}

/* The exact sum of term(v) over all values.  False with a NaN if one term is beyond the range of
 * floats, because two such terms might cancel out. */
static bool sum_of(const struct list *s, double (*term)(double v, double middle), double middle,
                   double *out)
{
	struct dtx_fsum sum = { 0, 0, NULL };
	bool ok = true, finite = true;

	for (size_t i = 0; i < s->n && ok; i++) {
		double v = term(s->v[i], middle);

		finite = finite && isfinite(v);
		ok = !finite || dtx_fsum_add(&sum, v);
	}
	*out = finite ? dtx_fsum_round(&sum) : NAN;
	dtx_fsum_free(&sum);
	return ok;
}

static double term_log(double v, double middle)
{
	(void)middle;
	return v > 0 ? log(v) : 0;
}

static double term_inverse(double v, double middle)
{
	(void)middle;
	return v > 0 ? 1 / v : 0;
}

static double term_value(double v, double middle)
{
	(void)middle;
	return v;
}

static double term_square(double v, double middle)
{
	return (v - middle) * (v - middle);
}

static double term_cube(double v, double middle)
{
	return (v - middle) * (v - middle) * (v - middle);
}

static double term_fourth(double v, double middle)
{
	double square = (v - middle) * (v - middle);

	return square * square;
}

/* Geometric and harmonic means exist only for numbers above zero. */
static bool positive_mean(const struct dtx_aggcall *c, const struct list *s, struct dtx_val *out)
{
	bool geo = c->kind == DTX_AGG_GMEAN;
	double sum;

	for (size_t i = 0; i < s->n && !out->null; i++)
		out->null = !(s->v[i] > 0);
	if (!sum_of(s, geo ? term_log : term_inverse, 0, &sum))
		return false;
	out->u.f = geo ? exp(sum / (double)s->n) : (double)s->n / sum;
	return true;
}

/* The sample forms that pandas uses: skew from three values on; excess kurtosis (0 for a normal
 * distribution) from four values on. */
static bool moment(const struct dtx_aggcall *c, const struct list *s, struct dtx_val *out)
{
	bool skew = c->kind == DTX_AGG_SKEW;
	double n = (double)s->n, sum, m2, mk;

	if (!sum_of(s, term_value, 0, &sum) || !sum_of(s, term_square, sum / n, &m2) ||
	    !sum_of(s, skew ? term_cube : term_fourth, sum / n, &mk))
		return false;
	out->null = n < (skew ? 3 : 4);
	if (out->null)
		return true;
	if (m2 == 0)
		out->u.f = 0;
	else if (skew)
		out->u.f = n * sqrt(n - 1) / (n - 2) * mk / pow(m2, 1.5);
	else
		out->u.f = n * (n + 1) * (n - 1) * mk / ((n - 2) * (n - 3) * m2 * m2) -
		           3 * (n - 1) * (n - 1) / ((n - 2) * (n - 3));
	return true;
}

static enum dtx_code numbers_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                   struct dtx_val *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct list all, *s = &all;
	bool ok = true;

	if (!numbers_list(state, run->buf, s))
		DTX_FAIL_MEM(err);
	out->null = s->n == 0;
	if (!s->n)
		return DTX_OK;
	switch (c->kind) {
	case DTX_AGG_IQR: out->u.f = quantile(s, 0.75) - quantile(s, 0.25); break;
	case DTX_AGG_MAD: out->u.f = distance(s); break;
	case DTX_AGG_PRODUCT: out->u.f = product(s); break;
	case DTX_AGG_GMEAN:
	case DTX_AGG_HMEAN: ok = positive_mean(c, s, out); break;
	case DTX_AGG_SKEW:
	case DTX_AGG_KURT: ok = moment(c, s, out); break;
	default: out->u.f = quantile(s, c->p); break;
	}
	if (!ok)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static void numbers_save(const struct dtx_aggcall *c, const void *state, struct dtx_buf *out)
{
	const struct numbers *s = state;
	size_t n = head_n(s);

	(void)c;
	dtx_word_save(numbers_n(s), out);
	for (const struct block *b = s->head; b; b = b->next, n = b ? b->n : 0)
		dtx_buf_addn(out, b->v, n * sizeof(*b->v));
}

static bool numbers_load(const struct dtx_aggcall *c, void *state, const char **at)
{
	struct numbers *s = state;
	size_t n = (size_t)dtx_word_load(at), size = n * sizeof(double);
	struct block *b = n ? dtx_mem_alloc(1, sizeof(*b) + size) : NULL;

	(void)c;
	if (!n)
		return true;
	if (!b)
		return false;
	*b = (struct block){ .n = n, .cap = n };
	memcpy(b->v, *at, size);
	*at += size;
	*s = (struct numbers){ b->v + n, b->v + n, b, b, false };
	return true;
}

static const struct dtx_aggkernel numbers = { .size = sizeof(struct numbers),
	                                      .frees = true,
	                                      .grows = true,
	                                      .add = numbers_rows,
	                                      .merge = numbers_merge,
	                                      .final = numbers_final,
	                                      .free = numbers_free,
	                                      .save = numbers_save,
	                                      .load = numbers_load };

const struct dtx_aggkernel *dtx_aggkernel_numbers(const struct dtx_aggcall *c)
{
	(void)c;
	return &numbers;
}
