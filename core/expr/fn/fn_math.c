/* Functions of numbers. */
#include "core/expr/bound.h"

#include <math.h>
#include <stdio.h>

#include "core/base/text/num.h"
#include "core/data/cast/decimal.h"
#include "core/expr/agg/fsum.h"
#include "core/expr/agg/wsum.h"

static enum dtx_code no_fit(const struct dtx_fncall *c, struct dtx_val *out, struct dtx_err *err)
{
	if (c->overflow == DTX_OVERFLOW_NULL) {
		out->null = true;
		return DTX_OK;
	}
	return dtx_err_set(err, DTX_E_OVERFLOW, __FILE__, __LINE__, "result of %s() does not fit",
	                   c->fn->name);
}

static enum dtx_code row_abs(const struct dtx_fncall *c, struct dtx_fnrun *run,
                             const struct dtx_val *arg, struct dtx_val *out, struct dtx_err *err)
{
	(void)run;
	if (c->type.type == DTX_T_FLOAT64)
		out->u.f = fabs(arg[0].u.f);
	else if (c->type.type == DTX_T_DECIMAL)
		out->u.dec = arg[0].u.dec < 0 ? -arg[0].u.dec : arg[0].u.dec;
	else if (arg[0].u.i == INT64_MIN)
		return no_fit(c, out, err);
	else
		out->u.i = arg[0].u.i < 0 ? -arg[0].u.i : arg[0].u.i;
	return DTX_OK;
}

static enum dtx_code row_sign(const struct dtx_fncall *c, struct dtx_fnrun *run,
                              const struct dtx_val *arg, struct dtx_val *out, struct dtx_err *err)
{
	(void)run, (void)err;
	if (c->argtype[0].type == DTX_T_FLOAT64)
		out->u.i = (arg[0].u.f > 0) - (arg[0].u.f < 0);
	else if (c->argtype[0].type == DTX_T_DECIMAL)
		out->u.i = (arg[0].u.dec > 0) - (arg[0].u.dec < 0);
	else
		out->u.i = (arg[0].u.i > 0) - (arg[0].u.i < 0);
	return DTX_OK;
}

/* --- rounding, on decimal digits, so that the digits that a user sees are rounded --- */

enum rounding { ROUND_AWAY, ROUND_EVEN, ROUND_FLOOR, ROUND_CEIL, ROUND_TRUNC };

static bool type_round(struct dtx_fncall *c, struct dtx_err *err)
{
	const struct dtx_val *digits = c->nargs > 1 ? c->konst[1] : NULL;

	(void)err;
	c->type = c->nargs > 1 ? c->argtype[0] : (struct dtx_typeref){ .type = DTX_T_INT64 };
	/* digits that would always be zero are not part of the type */
	if (c->type.type == DTX_T_DECIMAL && digits && !digits->null && digits->u.i < c->type.scale)
		c->type.scale = (uint8_t)DTX_MAX(digits->u.i, (int64_t)0);
	return true;
}

/* Whether the absolute value grows by one unit when `rest` is dropped.  `half` compares twice the
 * rest with the unit: -1, 0 or 1. */
static bool rounds_up(enum rounding how, bool negative, bool odd, bool rest, int half)
{
	switch (how) {
	case ROUND_AWAY: return half >= 0;
	case ROUND_EVEN: return half > 0 || (half == 0 && odd);
	case ROUND_FLOOR: return negative && rest;
	case ROUND_CEIL: return !negative && rest;
	case ROUND_TRUNC: break;
	}
	return false;
}

/* Rounds a scaled value to `digits` after the point.  The scale stays the same. */
static dtx_i128 round_scaled(enum rounding how, dtx_i128 v, unsigned scale, int64_t digits)
{
	dtx_i128 unit, q, rest;
	int64_t drop = (int64_t)scale - digits;

	if (drop <= 0)
		return v;
	if (drop > 38)
		return 0;
	unit = dtx_dec_pow10((unsigned)drop);
	q = v / unit;
	rest = v % unit;
	if (rest < 0)
		rest = -rest;
	if (rounds_up(how, v < 0, q & 1, rest != 0, (rest > unit - rest) - (rest < unit - rest)))
		q += v < 0 ? -1 : 1;
	return q * unit;
}

/* Rounds on the shortest digits of v. */
static double round_float(enum rounding how, double v, int64_t digits)
{
	char d[24], text[DTX_NUM_TEXT];
	int exp10, keep, half;
	size_t n = dtx_num_digits(v, d, &exp10);
	double r = 0;
	bool up;

	if (digits >= (int64_t)n - exp10)
		return v;
	keep = digits < -400 ? -1 : (int)digits + exp10;
	half = keep < 0 ? -1 : d[keep] > '5' ? 1 : d[keep] < '5' ? -1 : (size_t)keep + 1 < n;
	up = rounds_up(how, v<0, keep> 0 && (d[keep - 1] & 1), v != 0, half);
	if (keep <= 0) {
		/* either nothing is left, or one unit of the last place */
		if (!up || digits < -308)
			return up ? copysign(INFINITY, v) : 0;
		snprintf(text, sizeof(text), "1e%d", (int)-digits);
	} else {
		int64_t whole = 0;
		int i;

		for (i = 0; i < keep; i++)
			whole = whole * 10 + (d[i] - '0');
		snprintf(text, sizeof(text), "%llde%d", (long long)(whole + up), exp10 - keep);
	}
	if (!dtx_num_parse_f64(text, strlen(text), &r))
		return v;
	return v < 0 ? -r : r;
}

static enum dtx_code round_to_int(const struct dtx_fncall *c, const struct dtx_val *arg,
                                  struct dtx_val *out, struct dtx_err *err)
{
	enum rounding how = (enum rounding)c->fn->detail;
	unsigned scale = c->argtype[0].scale;
	dtx_i128 v;
	double f;

	if (c->argtype[0].type == DTX_T_FLOAT64) {
		f = round_float(how, arg[0].u.f, 0);
		if (f < -0x1p63 || f >= 0x1p63)
			return no_fit(c, out, err);
		out->u.i = (int64_t)f;
		return DTX_OK;
	}
	if (c->argtype[0].type == DTX_T_INT64) {
		out->u.i = arg[0].u.i;
		return DTX_OK;
	}
	v = round_scaled(how, arg[0].u.dec, scale, 0) / dtx_dec_pow10(scale);
	if (v > INT64_MAX || v < INT64_MIN)
		return no_fit(c, out, err);
	out->u.i = (int64_t)v;
	return DTX_OK;
}

static enum dtx_code row_round(const struct dtx_fncall *c, struct dtx_fnrun *run,
                               const struct dtx_val *arg, struct dtx_val *out, struct dtx_err *err)
{
	enum rounding how = (enum rounding)c->fn->detail;
	dtx_i128 v;

	(void)run;
	if (c->nargs == 1)
		return round_to_int(c, arg, out, err);
	if (c->type.type == DTX_T_FLOAT64) {
		out->u.f = round_float(how, arg[0].u.f, arg[1].u.i);
		return DTX_OK;
	}
	if (c->type.type == DTX_T_DECIMAL) {
		unsigned scale = c->argtype[0].scale;

		out->u.dec = round_scaled(how, arg[0].u.dec, scale, arg[1].u.i) /
		             dtx_dec_pow10(scale - c->type.scale);
		return dtx_dec_fits(out->u.dec, 38) ? DTX_OK : no_fit(c, out, err);
	}
	v = round_scaled(how, arg[0].u.i, 0, arg[1].u.i);
	if (v > INT64_MAX || v < INT64_MIN)
		return no_fit(c, out, err);
	out->u.i = (int64_t)v;
	return DTX_OK;
}

/* --- functions of floats --- */

enum float_fn { F_SQRT, F_EXP, F_LN, F_LOG10, F_LOG2 };

static enum dtx_code row_float(const struct dtx_fncall *c, struct dtx_fnrun *run,
                               const struct dtx_val *arg, struct dtx_val *out, struct dtx_err *err)
{
	double x = arg[0].u.f;

	(void)run, (void)err;
	switch ((enum float_fn)c->fn->detail) {
	case F_SQRT: out->u.f = sqrt(x); break;
	case F_EXP: out->u.f = exp(x); break;
	case F_LN: out->u.f = log(x); break;
	case F_LOG10: out->u.f = log10(x); break;
	case F_LOG2: out->u.f = log2(x); break;
	}
	return DTX_OK;
}

static enum dtx_code row_log(const struct dtx_fncall *c, struct dtx_fnrun *run,
                             const struct dtx_val *arg, struct dtx_val *out, struct dtx_err *err)
{
	double base = arg[1].u.f;

	(void)c, (void)run, (void)err;
	out->u.f = base == 10  ? log10(arg[0].u.f)
	           : base == 2 ? log2(arg[0].u.f)
	                       : log(arg[0].u.f) / log(base);
	return DTX_OK;
}

/* --- selection among values of one type --- */

static enum dtx_code row_most(const struct dtx_fncall *c, struct dtx_fnrun *run,
                              const struct dtx_val *arg, struct dtx_val *out, struct dtx_err *err)
{
	uint32_t i;
	int cmp;

	(void)run, (void)err;
	out->null = true;
	for (i = 0; i < c->nargs; i++) {
		if (arg[i].null)
			continue;
		cmp = out->null ? 0 : dtx_val_cmp(c->type.type, &arg[i], out);
		if (out->null || (c->fn->detail ? cmp > 0 : cmp < 0))
			*out = arg[i];
	}
	return DTX_OK;
}

/* --- sums of the values of one row, exact as those of a column --- */

enum { ROW_SUM, ROW_MEAN };

static bool type_row_sum(struct dtx_fncall *c, struct dtx_err *err)
{
	struct dtx_typeref t = c->argtype[0];

	if (t.type != DTX_T_UNKNOWN && t.type != DTX_T_NULL && t.type != DTX_T_INT64 &&
	    t.type != DTX_T_FLOAT64 && t.type != DTX_T_DECIMAL) {
		dtx_err_set(err, DTX_E_TYPE_MISMATCH, __FILE__, __LINE__,
		            "%s() takes numbers, and these columns are of type %s", c->fn->name,
		            dtx_type_name(t.type));
		dtx_err_hint(err, "int(x), float(x) and number(x) read texts as numbers");
		return false;
	}
	if (c->fn->detail == ROW_MEAN ||
	    (t.type == DTX_T_INT64 && c->overflow == DTX_OVERFLOW_FLOAT))
		t = (struct dtx_typeref){ .type = DTX_T_FLOAT64 };
	else if (t.type == DTX_T_NULL)
		t = (struct dtx_typeref){ .type = DTX_T_INT64 };
	else if (t.type == DTX_T_DECIMAL)
		t.precision = 38;
	c->type = t;
	return true;
}

static enum dtx_code row_sum_floats(const struct dtx_fncall *c, const struct dtx_val *arg,
                                    struct dtx_val *out, struct dtx_err *err)
{
	struct dtx_fsum sum = { 0 };
	enum dtx_code rc = DTX_OK;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->nargs; i++) {
		if (arg[i].null)
			continue;
		if (!dtx_fsum_add(&sum, arg[i].u.f))
			DTX_FAIL_MEM(err);
		n++;
	}
	out->null = !n;
	out->u.f = dtx_fsum_round(&sum) / (c->fn->detail == ROW_MEAN && n ? n : 1);
out:
	dtx_fsum_free(&sum);
	return rc;
}

static enum dtx_code row_sum(const struct dtx_fncall *c, struct dtx_fnrun *run,
                             const struct dtx_val *arg, struct dtx_val *out, struct dtx_err *err)
{
	struct dtx_typeref t = c->argtype[0];
	struct dtx_wsum sum = { 0 };
	dtx_i128 v;
	uint32_t n = 0;
	bool fits;

	(void)run;
	if (t.type == DTX_T_FLOAT64)
		return row_sum_floats(c, arg, out, err);
	for (uint32_t i = 0; i < c->nargs; i++) {
		if (arg[i].null)
			continue;
		dtx_wsum_add(&sum, t.type == DTX_T_DECIMAL ? arg[i].u.dec : arg[i].u.i);
		n++;
	}
	out->null = !n;
	if (!n)
		return DTX_OK;
	if (c->fn->detail == ROW_MEAN) {
		out->u.f = dtx_wsum_mean(&sum, n, t.type == DTX_T_DECIMAL ? t.scale : 0);
		return DTX_OK;
	}
	fits = dtx_wsum_get(&sum, &v);
	if (c->type.type == DTX_T_FLOAT64)
		out->u.f = (double)v;
	else if (c->type.type == DTX_T_DECIMAL) {
		if (!fits || v <= -dtx_dec_pow10(38) || v >= dtx_dec_pow10(38))
			return no_fit(c, out, err);
		out->u.dec = v;
	} else {
		if (!fits || v > INT64_MAX || v < INT64_MIN)
			return no_fit(c, out, err);
		out->u.i = (int64_t)v;
	}
	return DTX_OK;
}

DTX_FN_ROW(row_count)
{
	(void)run, (void)err;
	out->u.i = 0;
	for (uint32_t i = 0; i < c->nargs; i++)
		out->u.i += !arg[i].null;
	return DTX_OK;
}

static enum dtx_code row_clamp(const struct dtx_fncall *c, struct dtx_fnrun *run,
                               const struct dtx_val *arg, struct dtx_val *out, struct dtx_err *err)
{
	(void)run, (void)err;
	*out = arg[0];
	if (dtx_val_cmp(c->type.type, out, &arg[2]) > 0)
		*out = arg[2];
	if (dtx_val_cmp(c->type.type, out, &arg[1]) < 0)
		*out = arg[1];
	return DTX_OK;
}

#define ROUND(NAME, HOW, HELP, EXAMPLE, VALUE)                                                     \
	{                                                                                          \
		.name = NAME, .sig = "x:N, digits:I?", .type = type_round, .row = row_round,       \
		.detail = (HOW), .pandas = "dx.fn(\"" NAME "\", {*})", .help = HELP,               \
		.example = EXAMPLE, .value = VALUE                                                 \
	}
#define FLOAT(NAME, WHAT, SQL, HELP, EXAMPLE, VALUE)                                               \
	{                                                                                          \
		.name = NAME, .sig = "x:F", .result = "F", .row = row_float, .detail = (WHAT),     \
		.pandas = "dx.fn(\"" NAME "\", {*})", .sql = SQL, .help = HELP,                    \
		.example = EXAMPLE, .value = VALUE                                                 \
	}

static const struct dtx_fn rows[] = {
	{ .name = "abs",
	  .sig = "x:N",
	  .result = "0",
	  .row = row_abs,
	  .pandas = "dx.fn(\"abs\", {0})",
	  .sql = "abs({0})",
	  .help = "absolute value",
	  .example = "abs(-3)",
	  .value = "3" },
	{ .name = "sign",
	  .pandas = "dx.fn(\"sign\", {*})",
	  .sig = "x:N",
	  .result = "I",
	  .row = row_sign,
	  .sql = "sign({0})",
	  .help = "-1, 0 or 1",
	  .example = "sign(-2.5)",
	  .value = "-1" },
	ROUND("round", ROUND_AWAY, "half away from zero, on the decimal digits; int without digits",
	      "round(2.675, 2)", "2.68"),
	ROUND("round_even", ROUND_EVEN, "half to even, on the decimal digits", "round_even(2.5)",
	      "2"),
	ROUND("floor", ROUND_FLOOR, "largest not above x", "floor(-1.5)", "-2"),
	ROUND("ceil", ROUND_CEIL, "smallest not below x", "ceil(1.25, 1)", "1.3"),
	ROUND("trunc", ROUND_TRUNC, "toward zero", "trunc(-1.9)", "-1"),
	FLOAT("sqrt", F_SQRT, "sqrt({0})", "square root; null below zero", "sqrt(9)", "3.0"),
	FLOAT("exp", F_EXP, "CASE WHEN {0} <= 709.782712893384 THEN exp({0}) END",
	      "e to the power of x", "exp(0)", "1.0"),
	FLOAT("ln", F_LN, "ln({0})", "natural logarithm", "ln(1)", "0.0"),
	FLOAT("log10", F_LOG10, "log10({0})", "logarithm to base 10", "log10(1000)", "3.0"),
	FLOAT("log2", F_LOG2, "log2({0})", "logarithm to base 2", "log2(8)", "3.0"),
	{ .name = "log",
	  .pandas = "dx.fn(\"log\", {*})",
	  .sig = "x:F, base:F",
	  .result = "F",
	  .row = row_log,
	  .sql = "log({1}, {0})",
	  .help = "logarithm to a base",
	  .example = "log(8, 2)",
	  .value = "3.0" },
	{ .name = "pow",
	  .aliases = "power",
	  .sig = "x:N, y:N",
	  .form = DTX_FORM_BIN,
	  .detail = DTX_BIN_POW,
	  .help = "x ** y, a float",
	  .example = "pow(2, 3)",
	  .value = "8.0" },
	{ .name = "mod",
	  .sig = "x:N, y:N",
	  .form = DTX_FORM_BIN,
	  .detail = DTX_BIN_MOD,
	  .help = "x % y: the sign of y",
	  .example = "mod(-7, 2)",
	  .value = "1" },
	{ .name = "min",
	  .aliases = "least",
	  .sig = "a:W, b:W, ...",
	  .result = "W",
	  .flags = DTX_FN_NULLS,
	  .row = row_most,
	  .detail = 0,
	  .pandas = "dx.most(min, {*})",
	  .help = "smallest of the arguments, ignoring nulls",
	  .example = "min(3, null, 2)",
	  .value = "2" },
	{ .name = "max",
	  .aliases = "greatest",
	  .sig = "a:W, b:W, ...",
	  .result = "W",
	  .flags = DTX_FN_NULLS,
	  .row = row_most,
	  .detail = 1,
	  .pandas = "dx.most(max, {*})",
	  .help = "largest of the arguments, ignoring nulls",
	  .example = "max(3, null, 2)",
	  .value = "3" },
	{ .name = "row_sum",
	  .sig = "x:W, ...",
	  .type = type_row_sum,
	  .flags = DTX_FN_NULLS,
	  .row = row_sum,
	  .detail = ROW_SUM,
	  .pandas = "dx.sum_of({*})",
	  .help = "exact sum of the arguments, ignoring nulls; null without values",
	  .example = "row_sum(3, null, 2)",
	  .value = "5" },
	{ .name = "row_mean",
	  .sig = "x:W, ...",
	  .type = type_row_sum,
	  .flags = DTX_FN_NULLS,
	  .row = row_sum,
	  .detail = ROW_MEAN,
	  .pandas = "dx.mean_of({*})",
	  .help = "mean of the arguments, ignoring nulls, a float",
	  .example = "row_mean(3, null, 2)",
	  .value = "2.5" },
	{ .name = "row_min",
	  .sig = "x:W, ...",
	  .result = "W",
	  .flags = DTX_FN_NULLS,
	  .row = row_most,
	  .detail = 0,
	  .pandas = "dx.most(min, {*})",
	  .help = "smallest of the arguments, ignoring nulls; also of one",
	  .example = "row_min(3, null, 2)",
	  .value = "2" },
	{ .name = "row_max",
	  .sig = "x:W, ...",
	  .result = "W",
	  .flags = DTX_FN_NULLS,
	  .row = row_most,
	  .detail = 1,
	  .pandas = "dx.most(max, {*})",
	  .help = "largest of the arguments, ignoring nulls; also of one",
	  .example = "row_max(3, null, 2)",
	  .value = "3" },
	{ .name = "row_count",
	  .sig = "x:A, ...",
	  .result = "I",
	  .flags = DTX_FN_NULLS,
	  .row = row_count,
	  .pandas = "dx.fn(\"row_count\", {*})",
	  .help = "how many of the arguments are not null",
	  .example = "row_count(3, null, 2)",
	  .value = "2" },
	{ .name = "clamp",
	  .pandas = "dx.fn(\"clamp\", {*})",
	  .sig = "x:W, low:W, high:W",
	  .result = "W",
	  .row = row_clamp,
	  .sql = "CASE WHEN {0} IS NULL OR {1} IS NULL OR {2} IS NULL THEN NULL "
	         "WHEN {0} < {1} OR {2} < {1} THEN {1} WHEN {0} > {2} THEN {2} ELSE {0} END",
	  .help = "x, but not below low or above high; low where that is above high",
	  .example = "clamp(12, 0, 10)",
	  .value = "10" },
};

const struct dtx_fn_table dtx_fn_math = { "math", "Numbers", rows, DTX_COUNT(rows) };
