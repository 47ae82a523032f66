/* Angles, and quotients that define what happens for a zero divisor. */
#include "core/expr/bound.h"

#include <math.h>

#include "core/base/text/num.h"
#include "core/data/cast/decimal.h"

/* --- angles --- */

enum angle_fn { A_SIN, A_COS, A_TAN, A_ASIN, A_ACOS, A_ATAN, A_DEGREES, A_RADIANS };

DTX_FN_ROW(row_angle)
{
	double x = arg[0].u.f;

	(void)run, (void)err;
	switch ((enum angle_fn)c->fn->detail) {
	case A_SIN: out->u.f = sin(x); break;
	case A_COS: out->u.f = cos(x); break;
	case A_TAN: out->u.f = tan(x); break;
	case A_ASIN: out->u.f = asin(x); break;
	case A_ACOS: out->u.f = acos(x); break;
	case A_ATAN: out->u.f = atan(x); break;
	case A_DEGREES: out->u.f = x * (180 / M_PI); break;
	case A_RADIANS: out->u.f = x * (M_PI / 180); break;
	}
	out->u.f += 0.0; /* no -0.0 */
	return DTX_OK;
}

DTX_FN_ROW(row_atan2)
{
	(void)c, (void)run, (void)err;
	out->u.f = atan2(arg[0].u.f, arg[1].u.f) + 0.0;
	return DTX_OK;
}

DTX_FN_ROW(row_pi)
{
	(void)c, (void)run, (void)arg, (void)err;
	out->u.f = M_PI;
	return DTX_OK;
}

/* --- quotients --- */

static enum dtx_code zero_divisor(const struct dtx_fncall *c, struct dtx_fnrun *run,
                                  struct dtx_val *out, struct dtx_err *err)
{
	if (c->div_zero_error)
		return dtx_err_set(err, DTX_E_DIV_ZERO, __FILE__, __LINE__, "%s() divides by zero",
		                   c->fn->name);
	run->counts->div_zero++;
	out->null = true;
	return DTX_OK;
}

DTX_FN_ROW(row_safe_div)
{
	(void)c, (void)run, (void)err;
	out->null = arg[0].null || arg[1].null;
	if (out->null)
		return DTX_OK;
	if (arg[1].u.f == 0)
		*out = arg[2];
	else
		out->u.f = arg[0].u.f / arg[1].u.f + 0.0;
	return DTX_OK;
}

DTX_FN_ROW(row_pct)
{
	if (arg[1].u.f == 0)
		return zero_divisor(c, run, out, err);
	out->u.f = 100 * arg[0].u.f / arg[1].u.f + 0.0;
	return DTX_OK;
}

static dtx_i128 floor_to(dtx_i128 x, dtx_i128 width)
{
	dtx_i128 rest = x % width;

	return x - (rest < 0 ? rest + width : rest);
}

/* The lower end of the bucket that contains x.  The width must be above zero. */
DTX_FN_ROW(row_bucket)
{
	enum dtx_type type = c->type.type;
	dtx_i128 low;

	if (type == DTX_T_FLOAT64) {
		if (!(arg[1].u.f > 0))
			return zero_divisor(c, run, out, err);
		out->u.f = dtx_num_floor_to(arg[0].u.f, arg[1].u.f) + 0.0;
		return DTX_OK;
	}
	if (type == DTX_T_DECIMAL ? arg[1].u.dec <= 0 : arg[1].u.i <= 0)
		return zero_divisor(c, run, out, err);
	low = type == DTX_T_DECIMAL ? floor_to(arg[0].u.dec, arg[1].u.dec)
	                            : floor_to(arg[0].u.i, arg[1].u.i);
	if (type == DTX_T_DECIMAL ? !dtx_dec_fits(low, 38) : low < INT64_MIN)
		return dtx_err_set(err, DTX_E_OVERFLOW, __FILE__, __LINE__,
		                   "result of bucket() does not fit");
	if (type == DTX_T_DECIMAL)
		out->u.dec = low;
	else
		out->u.i = (int64_t)low;
	return DTX_OK;
}

static bool type_bucket(struct dtx_fncall *c, struct dtx_err *err)
{
	char text[32];

	c->type = c->argtype[0];
	if (dtx_type_class(c->type.type) == DTX_CLASS_NUMBER || c->type.type == DTX_T_UNKNOWN ||
	    c->type.type == DTX_T_NULL)
		return true;
	dtx_err_set(err, DTX_E_TYPE_MISMATCH, __FILE__, __LINE__, "expected a number, got %s",
	            dtx_bind_type_text(c->type, text));
	return false;
}

#define ANGLE(NAME, WHAT, HELP, EXAMPLE, VALUE)                                                    \
	{                                                                                          \
		.name = NAME, .sig = "x:F", .result = "F", .row = row_angle, .detail = (WHAT),     \
		.pandas = "dx.fn(\"" NAME "\", {*})", .sql = NAME "({0})", .help = HELP,           \
		.example = EXAMPLE, .value = VALUE                                                 \
	}

static const struct dtx_fn rows[] = {
	ANGLE("sin", A_SIN, "sine of an angle in radians", "sin(0)", "0.0"),
	ANGLE("cos", A_COS, "cosine of an angle in radians", "cos(0)", "1.0"),
	ANGLE("tan", A_TAN, "tangent of an angle in radians", "tan(0)", "0.0"),
	ANGLE("asin", A_ASIN, "angle of a sine; null outside -1 to 1", "asin(0)", "0.0"),
	ANGLE("acos", A_ACOS, "angle of a cosine; null outside -1 to 1", "acos(1)", "0.0"),
	ANGLE("atan", A_ATAN, "angle of a tangent", "atan(0)", "0.0"),
	{ .name = "atan2",
	  .sig = "y:F, x:F",
	  .result = "F",
	  .row = row_atan2,
	  .pandas = "dx.fn(\"atan2\", {*})",
	  .sql = "atan2({0}, {1})",
	  .help = "angle of the point (x, y)",
	  .example = "atan2(0, 1)",
	  .value = "0.0" },
	ANGLE("degrees", A_DEGREES, "radians as degrees", "degrees(pi())", "180.0"),
	ANGLE("radians", A_RADIANS, "degrees as radians", "radians(180) = pi()", "true"),
	{ .name = "pi",
	  .sig = "",
	  .result = "F",
	  .row = row_pi,
	  .pandas = "dx.pi()",
	  .sql = "pi()",
	  .help = "3.141592653589793",
	  .example = "pi()",
	  .value = "3.141592653589793" },
	{ .name = "safe_div",
	  .sig = "a:F, b:F, default:F=null",
	  .result = "F",
	  .flags = DTX_FN_NULLS,
	  .row = row_safe_div,
	  .pandas = "dx.fn(\"safe_div\", {*})",
	  .help = "a / b; default where b is 0",
	  .example = "safe_div(1, 0, -1)",
	  .value = "-1.0" },
	{ .name = "pct",
	  .sig = "a:F, b:F",
	  .result = "F",
	  .row = row_pct,
	  .pandas = "dx.fn(\"pct\", {*})",
	  .sql = "(100e0 * {0} / nullif({1}, 0))",
	  .help = "a in percent of b; null where b is 0, counted",
	  .example = "pct(1, 4)",
	  .value = "25.0" },
	{ .name = "bucket",
	  .sig = "x:W, width:W",
	  .type = type_bucket,
	  .row = row_bucket,
	  .pandas = "dx.fn(\"bucket\", {*})",
	  .help = "lower end of the bucket of this width that x is in; null if the width is not "
	          "above 0",
	  .example = "bucket(-7, 5)",
	  .value = "-10" },
};

const struct dtx_fn_table dtx_fn_ratio = { "ratio", "Angles and ratios", rows, DTX_COUNT(rows) };
