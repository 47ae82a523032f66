/* What kind of value a value is, and what its text could be read as. */
#include "core/expr/bound.h"

#include <math.h>

#include "core/data/cast/cast.h"
#include "core/data/cast/decimal.h"
#include "core/data/time/time.h"

DTX_FN_ROW(row_typeof)
{
	char text[32];

	(void)arg, (void)err;
	dtx_buf_add(run->buf, dtx_bind_type_text(c->argtype[0], text));
	return dtx_fn_made(run, out);
}

DTX_FN_ROW(row_is_number)
{
	double f;

	(void)run, (void)err;
	if (c->argtype[0].type == DTX_T_TEXT)
		out->u.b = dtx_cast_text_f64(arg[0].u.s, &f);
	else
		out->u.b = dtx_type_class(c->argtype[0].type) == DTX_CLASS_NUMBER;
	return DTX_OK;
}

/* Whether int() would accept the value; bools do not count. */
DTX_FN_ROW(row_is_int)
{
	struct dtx_typeref t = c->argtype[0];
	double f = arg[0].u.f;
	int64_t i;

	(void)run, (void)err;
	switch (t.type) {
	case DTX_T_TEXT: out->u.b = dtx_cast_text_i64(arg[0].u.s, &i); break;
	case DTX_T_INT64: out->u.b = true; break;
	case DTX_T_FLOAT64: out->u.b = f == floor(f) && f >= -0x1p63 && f < 0x1p63; break;
	case DTX_T_DECIMAL: out->u.b = arg[0].u.dec % dtx_dec_pow10(t.scale) == 0; break;
	default: out->u.b = false; break;
	}
	return DTX_OK;
}

DTX_FN_ROW(row_is_date)
{
	int64_t us;

	(void)run, (void)err;
	if (c->argtype[0].type == DTX_T_TEXT)
		out->u.b = dtx_cast_text_datetime(arg[0].u.s, &us);
	else
		out->u.b = dtx_type_class(c->argtype[0].type) == DTX_CLASS_DATE;
	return DTX_OK;
}

#define KIND(NAME, RESULT, ROWFN, HELP, EXAMPLE, VALUE)                                            \
	.name = NAME, .sig = "x:A", .result = RESULT, .row = (ROWFN), .help = HELP,                \
	.example = EXAMPLE, .value = VALUE

static const struct dtx_fn rows[] = {
	{ KIND("typeof", "T", row_typeof, "type of the column or value, also where it is null",
	       "typeof(1.5)", "float"),
	  .flags = DTX_FN_NULLS },
	{ KIND("is_number", "B", row_is_number, "a number, or text that float() reads",
	       "is_number('12,5')", "false"),
	  .pandas = "dx.fn(\"is_number\", {*})" },
	{ KIND("is_int", "B", row_is_int, "a whole number, or text that int() reads",
	       "is_int('12')", "true"),
	  .pandas = "dx.fn(\"is_int\", {*})" },
	{ KIND("is_date", "B", row_is_date, "a date, or text that is one in ISO 8601",
	       "is_date('2024-02-30')", "false"),
	  .pandas = "dx.fn(\"is_date\", {*})" },
};

const struct dtx_fn_table dtx_fn_kind = { "kind", "Kinds of values", rows, DTX_COUNT(rows) };
