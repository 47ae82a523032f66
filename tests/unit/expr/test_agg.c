/* Aggregates: exact sums, merging in any order, every type. */
#include "tests/t.h"
#include "tests/unit/expr_env.h"

#include "core/data/builder.h"
#include "core/data/cast/cast.h"
#include "core/expr/agg/fsum.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* The text of the group that all three rows of the shared table form.  The rows are added in two
 * halves, which are merged in the given order. */
static const char *agg_run(struct expr_env *v, const char *text, bool swap)
{
	static const uint32_t group[3] = { 0, 0, 0 };
	static const uint16_t rows[2][2] = { { 0, 1 }, { 2, 2 } };
	struct dtx_aggcalls calls = { NULL, 0, 0 };
	struct dtx_column *c = NULL;
	void *state[2], *last;
	size_t size;
	int i;

	v->scope.allow = DTX_ALLOW_AGG;
	v->scope.grouped = true;
	dtx_buf_reset(&v->out);
	if (!expr_env_bind(v, text, &calls)) {
		const struct dtx_err *e = &v->errs.item[0];

		dtx_buf_printf(&v->out, "%s %d %d", dtx_code_name(e->code), e->span[0], e->span[1]);
		return dtx_buf_text(&v->out);
	}
	size = dtx_agg_state_size(calls.call[0]);
	for (i = 0; i < 2; i++) {
		state[i] = dtx_mem_alloc(1, size);
		dtx_agg_init(calls.call[0], state[i], size, 0, 1);
		v->batch->sel = rows[i];
		v->batch->nsel = i ? 1 : 2;
		T_OK(dtx_agg_add(calls.call[0], state[i], size, group, NULL, v->batch, &v->counts,
		                 &v->err),
		     &v->err);
	}
	v->batch->sel = NULL;
	v->batch->nsel = 3;
	last = state[swap];
	T_OK(dtx_agg_merge(calls.call[0], last, state[!swap], &v->err), &v->err);
	if (dtx_agg_final(calls.call[0], &last, 1, &v->counts, &c, &v->err) != DTX_OK)
		dtx_buf_add(&v->out, dtx_code_name(v->err.code));
	else if (dtx_column_is_null(c, 0) || c->type.type == DTX_T_NULL)
		dtx_buf_addc(&v->out, '~');
	else
		dtx_cast_print(c, 0, &v->out);
	dtx_column_unref(c);
	for (i = 0; i < 2; i++) {
		dtx_agg_free(calls.call[0], state[i], size, 1);
		dtx_mem_free(state[i]);
	}
	return dtx_buf_text(&v->out);
}

void test_agg_rows(void)
{
	static const char *const rows[][2] = {
		{ "count()", "3" },
		{ "count(i)", "2" },
		{ "count(n)", "0" },
		{ "count_if(c)", "1" },
		{ "count_distinct(s)", "2" },
		{ "count_distinct(i)", "2" },
		{ "count_distinct(f)", "2" },
		{ "count_distinct(m)", "2" },
		{ "sum(i)", "-1" },
		{ "sum(f)", "1.5" },
		{ "sum(m)", "12.45" },
		{ "sum(n)", "~" },
		{ "sum(j * 2)", "26" },
		{ "sum(j, where: c)", "10" },
		{ "sum(j, where: j > 100)", "~" },
		{ "count(where: j > 100)", "0" },
		{ "sum(1)", "3" },
		{ "sum(9223372036854775807)", "overflow" },
		{ "mean(j)", "4.333333333333333" },
		{ "avg(f)", "0.75" },
		{ "mean(m)", "6.225" },
		{ "median(j)", "3.0" },
		{ "median(i)", "-0.5" },
		{ "quantile(j, 0.25)", "1.5" },
		{ "min(i)", "-2" },
		{ "max(f)", "1.5" },
		{ "min(d)", "2023-12-01" },
		{ "max(at)", "2024-01-31T12:00:00" },
		{ "min(t)", "" },
		{ "max(s)", "y" },
		{ "max(m)", "12.50" },
		{ "max(b)", "true" },
		{ "first(t)", "abc" },
		{ "last(j)", "3" },
		{ "last(i)", "-2" },
		{ "last(t)", "" },
		{ "std(j)", "5.131601439446884" },
		{ "var(i)", "4.5" },
		{ "var(f, where: c)", "~" },
		{ "any(b)", "true" },
		{ "all(b)", "false" },
		{ "all(b, where: false)", "~" },
		{ "concat_agg(s)", "x,y,x" },
		{ "string_agg(j, '; ')", "10; 0; 3" },
		{ "std_pop(j)", "4.189935029992178" },
		{ "var_pop(j)", "17.555555555555554" },
		{ "var_pop(j, where: c)", "0.0" },
		{ "std_pop(n)", "~" },
		{ "mode(s)", "x" },
		{ "mode(j)", "10" },
		{ "mode(t)", "abc" },
		{ "mode(m)", "12.50" },
		{ "mode(b)", "true" },
		{ "mode(n)", "~" },
		{ "any_value(j)", "10" },
		{ "quantile_disc(j, 0.5)", "3" },
		{ "quantile_disc(j, 0)", "0" },
		{ "quantile_disc(s, 1)", "y" },
		{ "quantile_disc(d, 0.5)", "2023-12-01" },
		{ "quantile_disc(j, 2)", "bad_literal 17 18" },
		{ "iqr(j)", "5.0" },
		{ "mad(j)", "3.0" },
		{ "mad(i)", "1.5" },
		{ "range(j)", "10" },
		{ "range(f)", "1.5" },
		{ "range(m)", "12.55" },
		{ "range(d)", "61" },
		{ "range(n)", "~" },
		{ "range(at)", "type_mismatch 6 8" },
		{ "range(t)", "type_mismatch 6 7" },
		{ "product(i)", "-2" },
		{ "product(j)", "0" },
		{ "product(j + 9223372036854775797 - 9)", "overflow" },
		{ "product(f + 2)", "7.0" },
		{ "product(m)", "-0.625" },
		{ "product(if(j = 10, 1.5e-308, if(j = 0, 1.7e-308, 1.7e308)))", "4.335e-308" },
		{ "range(decimal(if(j = 0, '-99999999999999999999999999999999999999', "
		  "'99999999999999999999999999999999999999'), 38, 0))",
		  "overflow" },
		{ "product(t, where: false)", "type_mismatch 8 9" },
		{ "gmean(j + 1)", "3.530348335326063" },
		{ "gmean(j)", "~" },
		{ "hmean(f + 1)", "1.4285714285714286" },
		{ "hmean(f)", "~" },
		{ "hmean(if(j = 10, 1e-310, 1.0))", "~" },
		{ "skew(j)", "1.090290579828004" },
		{ "skew(i)", "~" },
		{ "skew(1)", "0.0" },
		{ "skew(if(j = 10, -3e103, if(j = 0, 2.95e103, 5e101)))", "~" },
		{ "kurt(j)", "~" },
		{ "corr(i, j)", "1.0" },
		{ "corr(j, 1)", "~" },
		{ "corr(j, n)", "~" },
		{ "cov(i, j)", "15.0" },
		{ "cov(f, j)", "7.5" },
		{ "cov(i, j, where: c)", "~" },
		{ "wavg(i, j)", "1.0" },
		{ "wavg(j, i)", "-10.0" },
		{ "wavg(j, 0)", "~" },
		{ "wavg(1, j)", "1.0" },
		{ "wavg(j, 1e200)", "4.333333333333333" },
		{ "std(1e200)", "~" },
		{ "regr_slope(i, j)", "0.3" },
		{ "regr_r2(i, j)", "1.0" },
		{ "regr_r2(1, j)", "1.0" },
		{ "regr_r2(j, 1)", "~" },
		{ "arg_max(s, j)", "x" },
		{ "arg_min(s, j)", "y" },
		{ "arg_max(j, s)", "0" },
		{ "arg_min(j, s)", "10" },
		{ "arg_max(t, j)", "abc" },
		{ "arg_min(t, s)", "abc" },
		{ "arg_max(m, f)", "12.50" },
		{ "arg_max(t, n)", "~" },
		{ "share_null(i)", "0.3333333333333333" },
		{ "share_null(j)", "0.0" },
		{ "share_null(n)", "1.0" },
		{ "share_null(null)", "1.0" },
		{ "share_null(i, where: false)", "~" },
		{ "share_null(i, where: c)", "0.0" },
		{ "sum(p)", "8.5" },
		{ "first(k)", "de" },
		{ "sum(sum(i))", "nested_aggregate 4 10" },
		{ "i + sum(i)", "aggregate_required 0 1" },
		{ "sum(t)", "type_mismatch 4 5" },
		{ "sum(i, where: j)", "not_boolean 14 15" },
		{ "quantile(i, 2)", "bad_literal 12 13" },
		{ "sum(i, 2)", "bad_arity 0 9" },
	};
	struct expr_env v;
	size_t i;
	int swap;

	expr_env_init(&v);
	for (i = 0; i < DTX_COUNT(rows); i++) {
		for (swap = 0; swap < 2; swap++) {
			const char *got = agg_run(&v, rows[i][0], swap);

			if (strcmp(got, rows[i][1]))
				t_fail(__FILE__, __LINE__, "%s: got [%s], expected [%s]",
				       rows[i][0], got, rows[i][1]);
		}
	}
	T_INT(i, DTX_COUNT(rows));
	expr_env_clear(&v);
}

void test_agg_counts_results_beyond_floats(void)
{
	static const char *const formulas[] = { "sum(1e308)",
		                                "mean(1e308)",
		                                "std(j * 1e200)",
		                                "var_pop(j * 1e200)",
		                                "corr(j * 1e200, j)",
		                                "regr_slope(j, j * 1e200)",
		                                "wavg(j * 1e200, 1e200)",
		                                "skew(j * 1e200)" };
	struct expr_env v;

	expr_env_init(&v);
	for (size_t i = 0; i < DTX_COUNT(formulas); i++) {
		v.counts.not_finite = 0;
		T_STR(agg_run(&v, formulas[i], false), "~");
		if (v.counts.not_finite != 1)
			t_fail(__FILE__, __LINE__, "%s: counted %lld", formulas[i],
			       (long long)v.counts.not_finite);
	}
	v.counts.not_finite = 0;
	T_STR(agg_run(&v, "std_pop(1e200, where: c)", false), "0.0");
	T_STR(agg_run(&v, "corr(j, 1)", false), "~");
	T_INT(v.counts.not_finite, 0);
	expr_env_clear(&v);
}

void test_agg_list_shares_calls(void)
{
	struct dtx_aggcalls calls = { NULL, 0, 0 };
	static const struct dtx_field keys[] = { { .name = "s", .type = { .type = DTX_T_TEXT } } };
	struct expr_env v;
	struct dtx_bound *b;

	expr_env_init(&v);
	v.scope.allow = DTX_ALLOW_AGG;
	v.scope.grouped = true;
	v.scope.keys = keys;
	v.scope.nkeys = 1;
	b = expr_env_bind(&v, "sum(i) / count() + sum(i)", &calls);
	T_INT(calls.n, 2);
	T_INT(dtx_bound_type(b).type, DTX_T_FLOAT64);
	b = expr_env_bind(&v, "count()", &calls);
	T_INT(calls.n, 2);
	T_INT(dtx_bound_column(b), 2);
	b = expr_env_bind(&v, "s", &calls);
	T_INT(dtx_bound_column(b), 0);
	T_STR(dtx_agg_name(calls.call[1]), "count");
	expr_env_clear(&v);
}

static double fsum_of(const double *x, size_t n, size_t start, size_t step)
{
	struct dtx_fsum s[2];
	double r;
	size_t i;

	memset(s, 0, sizeof(s));
	for (i = 0; i < n; i++)
		T_CHECK(dtx_fsum_add(&s[i % 2], x[(start + i * step) % n]));
	T_CHECK(dtx_fsum_merge(&s[0], &s[1]));
	r = dtx_fsum_round(&s[0]);
	dtx_fsum_free(&s[0]);
	dtx_fsum_free(&s[1]);
	return r;
}

void test_fsum_is_exact(void)
{
	static const double cancel[] = { 1e308, 1.0, 1e308, -1e308, 1e-300, -1e308, 5e-324 };
	static const double halves[] = { 1.0, 1.1102230246251565e-16, 1e-200, -1e-17, 1e-17 };
	static const double money[] = { 0.1, 0.2, 0.3, -0.6, 1e16, 1.0, -1e16 };
	size_t start;

	for (start = 0; start < 7; start++) {
		T_CHECK(fsum_of(cancel, 7, start, 3) == 1.0);
		T_CHECK(fsum_of(money, 7, start, 2) == 1.0);
	}
	/* just above half an ulp is rounded up */
	for (start = 0; start < 5; start++)
		T_CHECK(fsum_of(halves, 5, start, 2) == 1.0000000000000002);
}

void test_fsum_equals_wide_reference(void)
{
	double x[500];
	uint64_t state = 99;
	double first;
	size_t i;

	for (i = 0; i < 500; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		x[i] = ldexp((double)(int64_t)state, (int)(state >> 20) % 900 - 450);
	}
	first = fsum_of(x, 500, 0, 1);
	T_CHECK(first == fsum_of(x, 500, 17, 3));
	T_CHECK(first == fsum_of(x, 500, 250, 499));
	T_CHECK(first == fsum_of(x, 500, 1, 7));
}

/* Numbers of many magnitudes, divided in any way, give the same bits; numbers of few digits give
 * the true value. */
void test_fspread_is_exact(void)
{
	static const double plain[] = { 1.5, 2.25, 4.0, 8.125 };
	double first = 0, var = 0;
	size_t parts, i;

	for (parts = 1; parts <= 4; parts++) {
		struct dtx_fspread s[4];
		uint64_t state = 5;

		memset(s, 0, sizeof(s));
		for (i = 0; i < 400; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			T_CHECK(dtx_fspread_add(
				&s[i % parts],
				ldexp((double)(int64_t)state, (int)(state >> 20) % 200 - 100)));
		}
		for (i = 1; i < parts; i++)
			T_CHECK(dtx_fspread_merge(&s[0], &s[i]));
		T_CHECK(dtx_fspread_var(&s[0], &var));
		first = parts == 1 ? var : first;
		T_CHECK(var == first);
		for (i = 0; i < parts; i++)
			dtx_fspread_free(&s[i]);
	}
	{
		struct dtx_fspread s = { 0 };

		for (i = 0; i < 4; i++)
			T_CHECK(dtx_fspread_add(&s, plain[i]) && dtx_fspread_add(&s, 1e100));
		for (i = 0; i < 4; i++)
			T_CHECK(dtx_fspread_drop(&s, 1e100));
		T_CHECK(dtx_fspread_var(&s, &var));
		T_CHECK(var == 8.774739583333334);
		dtx_fspread_free(&s);
	}
}

/* If digits cancel out even in twice the precision of a float, the result is 0.  Beyond the range
 * of floats NaN must not be the answer. */
void test_fsum_cross_cancels(void)
{
	static const double x[] = { 0.1, 0.3, 1e15 + 0.3 }, y[] = { 0.7, -91.283, 3.0625 };
	struct dtx_fsum s[3] = { { 0 } }; /* of x, of y, of their products */
	const struct dtx_fcross c = { &s[0], &s[1], &s[2], NULL };
	struct dtx_fspread same = { 0 };
	double var = -1;

	for (size_t i = 0; i < 9; i++) {
		double a = x[i / 3], b = y[i % 3];

		T_CHECK(dtx_fsum_add(&s[0], a) && dtx_fsum_add(&s[1], b));
		T_CHECK(dtx_fsum_add(&s[2], a * b) && dtx_fsum_add(&s[2], fma(a, b, -(a * b))));
		T_CHECK(dtx_fspread_add(&same, 1e15 + 0.3));
	}
	T_CHECK(dtx_fsum_cross(&c, 9) == 0);
	T_CHECK(dtx_fspread_var(&same, &var) && var == 0);
	for (size_t i = 0; i < 3; i++)
		dtx_fsum_free(&s[i]);
	dtx_fspread_free(&same);
	memset(s, 0, sizeof(s));
	s[0].hi = s[1].hi = 1e200;
	s[2].hi = 1e308;
	T_CHECK(!(dtx_fsum_cross(&c, 2) < 0));
}

static enum dtx_code add_texts(struct expr_env *v, const struct dtx_aggcall *c)
{
	static const uint32_t group[3] = { 0, 1, 0 };
	size_t size = dtx_agg_state_size(c);
	_Alignas(16) char states[512];
	enum dtx_code rc;

	dtx_agg_init(c, states, size, 0, 2);
	rc = dtx_agg_add(c, states, size, group, NULL, v->batch, &v->counts, NULL);
	if (rc == DTX_OK)
		rc = dtx_agg_merge(c, states, states + size, NULL);
	dtx_agg_free(c, states, size, 2);
	return rc;
}

void test_agg_alloc(void)
{
	static const char *const texts[] = { "count_distinct(s)", "median(j)",
		                             "concat_agg(s)",     "max(t)",
		                             "sum(j, where: c)",  "count_distinct(j)",
		                             "mode(s)",           "quantile_disc(j, 0.5)",
		                             "skew(j)",           "arg_max(s, s)" };
	struct dtx_aggcalls calls = { NULL, 0, 0 };
	struct expr_env v;
	size_t i;

	expr_env_init(&v);
	v.scope.allow = DTX_ALLOW_AGG;
	v.scope.grouped = true;
	for (i = 0; i < DTX_COUNT(texts); i++)
		T_CHECK(expr_env_bind(&v, texts[i], &calls) != NULL);
	for (i = 0; i < calls.n; i++)
		T_EVERY_ALLOC_FAILS(add_texts(&v, calls.call[i]));
	expr_env_clear(&v);
}

static int number_cmp(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Values in the order that `how` % 3 selects: any, ascending or descending; `kinds` of them are
 * different. */
static void fill_values(int64_t *v, uint32_t n, uint32_t kinds, unsigned how)
{
	uint64_t seed = n * 7919 + kinds;

	for (uint32_t i = 0; i < n; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		v[i] = (int64_t)((seed >> 33) % kinds) - 3;
	}
	if (how % 3)
		qsort(v, n, sizeof(*v), number_cmp);
	for (uint32_t i = 0; how % 3 == 2 && i < n / 2; i++) {
		int64_t t = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = t;
	}
}

/* The quantile of n values that two workers get three at a time; it is computed twice.  The workers
 * keep their values in a pool each, or allocate every state separately. */
static void quantile_of(struct expr_env *v, const struct dtx_aggcall *c, int64_t *value, uint32_t n,
                        bool pooled, double want)
{
	struct dtx_arena pool[2] = { DTX_ARENA_INIT, DTX_ARENA_INIT };
	static const uint32_t groups[2][3] = { { 0, 0, 0 }, { 1, 1, 1 } };
	size_t size = dtx_agg_state_size(c);
	_Alignas(16) char states[512];
	void *state = states;

	dtx_agg_init(c, states, size, 0, 2);
	for (uint32_t i = 0; i < n; i += 3) {
		uint16_t sel[] = { 0, 1, 2 };

		v->batch->sel = sel;
		v->batch->nsel = DTX_MIN(n - i, 3u);
		for (uint32_t k = 0; k < v->batch->nsel; k++)
			((int64_t *)(uintptr_t)v->batch->col[1]->v.i64)[k] = value[i + k];
		T_OK(dtx_agg_add(c, states, size, groups[i % 2], pooled ? &pool[i % 2] : NULL,
		                 v->batch, &v->counts, &v->err),
		     &v->err);
	}
	v->batch->sel = NULL;
	T_OK(dtx_agg_merge(c, states, states + size, &v->err), &v->err);
	for (int twice = 0; twice < 2; twice++) {
		struct dtx_column *out = NULL;

		T_OK(dtx_agg_final(c, &state, 1, &v->counts, &out, &v->err), &v->err);
		T_CHECK(out->v.f64[0] == want);
		dtx_column_unref(out);
	}
	T_INT(pool[0].head != NULL, pooled);
	dtx_arena_clear(&pool[1]); /* before the state that took memory from it */
	dtx_agg_free(c, states, size, 2);
	dtx_arena_clear(&pool[0]);
}

/* Both numbers are whole and small, so halves and quarters of their sum are exact, and others are
 * rounded in the same way. */
static double between(int64_t low, int64_t high, double part)
{
	return part == 0.5 ? (double)(low + high) / 2 : (double)low + (double)(high - low) * part;
}

void test_agg_quantiles(void)
{
	static const uint32_t ns[] = { 1, 2, 3, 5, 40, 41, 64, 257, 1000, 5003, 140000 };
	static const uint32_t kinds[] = { 1, 2, 7, 1000000 };
	static const double ps[] = { 0, 0.25, 0.5, 0.99, 1 };
	static int64_t value[140000], sorted[140000];
	struct dtx_aggcalls calls = { NULL, 0, 0 };
	struct expr_env v;
	char text[40];

	expr_env_init(&v);
	v.scope.allow = DTX_ALLOW_AGG;
	v.scope.grouped = true;
	for (size_t i = 0; i < DTX_COUNT(ns) * DTX_COUNT(kinds) * 3; i++) {
		uint32_t n = ns[i % DTX_COUNT(ns)];
		double p = ps[i % DTX_COUNT(ps)], at = p * (n - 1);
		uint32_t k = (uint32_t)at;

		snprintf(text, sizeof(text), "quantile(j, %g)", p);
		calls.n = 0;
		T_CHECK(expr_env_bind(&v, text, &calls) != NULL);
		fill_values(value, n, kinds[i / DTX_COUNT(ns) % DTX_COUNT(kinds)], (unsigned)i);
		memcpy(sorted, value, n * sizeof(*value));
		qsort(sorted, n, sizeof(*sorted), number_cmp);
		quantile_of(&v, calls.call[0], value, n, i & 1,
		            k + 1 < n && at > k ? between(sorted[k], sorted[k + 1], at - k)
		                                : (double)sorted[k]);
	}
	expr_env_clear(&v);
}

/* The texts "", "1", "2" ... of `kinds` numbers, n of them, three per batch, which two workers take
 * in turn. Bit w of `pools`: worker w has a pool. */
static void distinct_of(struct expr_env *v, const struct dtx_aggcall *c, uint32_t n, uint32_t kinds,
                        unsigned pools)
{
	struct dtx_arena pool[2] = { DTX_ARENA_INIT, DTX_ARENA_INIT };
	static const uint32_t groups[2][3] = { { 0, 0, 0 }, { 1, 1, 1 } };
	size_t size = dtx_agg_state_size(c);
	struct dtx_column *before = v->batch->col[3], *out = NULL;
	_Alignas(16) char states[512];
	void *state = states;

	dtx_agg_init(c, states, size, 0, 2);
	for (uint32_t i = 0; i < n; i++) {
		struct dtx_builder b;
		char text[12];

		dtx_builder_init(&b, before->type, 3);
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t number = (uint32_t)(((uint64_t)i * 3 + k) * 2654435761u % kinds);

			snprintf(text, sizeof(text), "%u", number);
			dtx_builder_text(&b, dtx_str_of(number ? text : ""));
		}
		T_OK(dtx_builder_finish(&b, NULL, &v->batch->col[3], &v->err), &v->err);
		T_OK(dtx_agg_add(c, states, size, groups[i % 2],
		                 pools >> i % 2 & 1 ? &pool[i % 2] : NULL, v->batch, &v->counts,
		                 &v->err),
		     &v->err);
		dtx_column_unref(v->batch->col[3]);
		v->batch->col[3] = before;
	}
	T_OK(dtx_agg_merge(c, states, states + size, &v->err), &v->err);
	T_OK(dtx_agg_final(c, &state, 1, &v->counts, &out, &v->err), &v->err);
	T_INT(out->v.i64[0], kinds);
	dtx_column_unref(out);
	dtx_agg_free(c, states, size, 2);
	dtx_arena_clear(&pool[0]);
	dtx_arena_clear(&pool[1]);
}

void test_agg_distinct_texts_of_two_workers(void)
{
	static const uint32_t kinds[] = { 1, 2, 3, 4, 7, 60, 61, 1000 };
	struct dtx_aggcalls calls = { NULL, 0, 0 };
	struct expr_env v;

	expr_env_init(&v);
	v.scope.allow = DTX_ALLOW_AGG;
	v.scope.grouped = true;
	T_CHECK(expr_env_bind(&v, "count_distinct(t)", &calls) != NULL);
	for (size_t i = 0; i < DTX_COUNT(kinds); i++)
		for (unsigned pools = 0; pools < 4; pools++)
			distinct_of(&v, calls.call[0], kinds[i] * 2, kinds[i], pools);
	expr_env_clear(&v);
}

/* The kinds of floats whose sums of few groups take a shorter way (agg_sum.c), or leave it. */
static double float_of(unsigned kind, uint64_t *seed)
{
	double x;

	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	x = ldexp((double)(int64_t)*seed, -63); /* -1 to 1, 53 bits */
	switch (kind) {
	case 0: return x * 100;
	case 1: return ldexp(x, (int)(*seed >> 7 & 31));          /* some are too small */
	case 2: return ldexp(x, (int)(*seed >> 7 & 1023) - 600);  /* most are outside */
	case 3: return *seed & 64 ? x : *seed & 128 ? 0.0 : -0.0; /* zeros are not too small */
	case 4: return ldexp(*seed & 64 ? x : -1, 1000);
	case 5: return ldexp(x, -1020);
	case 6: return *seed % 5000 ? 1 + x * 1e-9 : 1e300; /* a few are too large */
	default: return ldexp(1 - DBL_EPSILON / 2, 7);      /* the largest of its power of two */
	}
}

/* Sums of n floats, of which every group has some, are those of dtx_fsum_add, bit by bit. */
static void float_sums(struct expr_env *v, const struct dtx_aggcall *c, unsigned kind, uint32_t n,
                       uint32_t groups, bool sel)
{
	size_t size = dtx_agg_state_size(c);
	char *states = dtx_mem_zalloc(groups, size);
	struct dtx_fsum *want = dtx_mem_zalloc(groups, sizeof(*want));
	uint32_t *group = dtx_mem_alloc(n, sizeof(*group));
	uint16_t *row = dtx_mem_alloc(n, sizeof(*row));
	void **state = dtx_mem_alloc(groups, sizeof(*state));
	struct dtx_column *before = v->batch->col[2], *out = NULL;
	struct dtx_builder b;
	uint64_t seed = kind;
	uint32_t k, wrong = 0;

	dtx_builder_init(&b, before->type, n);
	for (k = 0; k < n; k++)
		dtx_builder_f64(&b, float_of(kind, &seed));
	T_OK(dtx_builder_finish(&b, NULL, &v->batch->col[2], &v->err), &v->err);
	v->batch->nrows = v->batch->nsel = n;
	for (k = 0; k < n; k++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		group[k] = k < 64 ? k % 3 : (uint32_t)((seed >> 33) % groups);
		row[k] = (uint16_t)(sel ? n - 1 - k : k);
		T_CHECK(dtx_fsum_add(&want[group[k]], v->batch->col[2]->v.f64[row[k]]));
	}
	v->batch->sel = sel ? row : NULL;
	for (k = 0; k < groups; k++)
		state[k] = states + k * size;
	dtx_agg_init(c, states, size, 0, groups);
	T_OK(dtx_agg_add(c, states, size, group, NULL, v->batch, &v->counts, &v->err), &v->err);
	T_OK(dtx_agg_final(c, state, groups, &v->counts, &out, &v->err), &v->err);
	for (k = 0; k < groups; k++) {
		double sum = dtx_fsum_round(&want[k]);

		wrong += isfinite(sum) && !dtx_column_is_null(out, k) && out->v.f64[k] != sum;
		dtx_fsum_free(&want[k]);
	}
	T_INT(wrong, 0);
	dtx_column_unref(out);
	dtx_agg_free(c, states, size, groups);
	dtx_column_unref(v->batch->col[2]);
	v->batch->col[2] = before;
	v->batch->sel = NULL;
	v->batch->nrows = v->batch->nsel = 3;
	dtx_mem_free(states);
	dtx_mem_free(want);
	dtx_mem_free(group);
	dtx_mem_free(row);
	dtx_mem_free(state);
}

void test_agg_float_sums_of_few_groups(void)
{
	static const uint32_t groups[] = { 3, 100, 512, 513, 3000 };
	struct dtx_aggcalls calls = { NULL, 0, 0 };
	struct expr_env v;

	expr_env_init(&v);
	v.scope.allow = DTX_ALLOW_AGG;
	v.scope.grouped = true;
	T_CHECK(expr_env_bind(&v, "sum(f)", &calls) != NULL);
	for (unsigned kind = 0; kind < 8; kind++)
		for (size_t i = 0; i < DTX_COUNT(groups); i++)
			float_sums(&v, calls.call[0], kind, i % 2 ? 65536 : 5000, groups[i],
			           kind & 1);
	expr_env_clear(&v);
}
