/* Conversions between types. */
#include "core/expr/bound.h"

#include "core/base/text/num.h"
#include "core/base/text/utf8.h"

#define NUMBER_MAX 64

/* --- number(): reads a number as people write it --- */

static bool is_mark(uint32_t cp)
{
	static const uint32_t signs[] = { '$',    0xa3,   0xa4,   0xa5,   0x20ac, 0x20b9,
		                          0x20bd, 0x20a9, 0x20aa, 0x20ba, 0x0e3f };
	size_t i;

	for (i = 0; i < DTX_COUNT(signs); i++) {
		if (cp == signs[i])
			return true;
	}
	return false;
}

/* Removes a currency sign, or a code of three capital letters, from the front or the end. */
static struct dtx_str cut_currency(struct dtx_str s)
{
	size_t pos = 0, back, i;

	if (s.len && is_mark(dtx_utf8_next(s.ptr, s.len, &pos)))
		return dtx_utf8_trim((struct dtx_str){ s.ptr + pos, s.len - pos });
	for (back = s.len; back > 0 && ((unsigned char)s.ptr[back - 1] & 0xc0) == 0x80; back--)
		;
	pos = back = back ? back - 1 : 0;
	if (s.len && is_mark(dtx_utf8_next(s.ptr, s.len, &pos)))
		return dtx_utf8_trim((struct dtx_str){ s.ptr, back });
	for (i = 0; s.len > 3 && i < 3 && s.ptr[i] >= 'A' && s.ptr[i] <= 'Z'; i++)
		;
	if (i == 3)
		return dtx_utf8_trim((struct dtx_str){ s.ptr + 3, s.len - 3 });
	for (i = 0;
	     s.len > 3 && i < 3 && s.ptr[s.len - 1 - i] >= 'A' && s.ptr[s.len - 1 - i] <= 'Z'; i++)
		;
	return i == 3 ? dtx_utf8_trim((struct dtx_str){ s.ptr, s.len - 3 }) : s;
}

static bool cut_sign(struct dtx_str *s, bool *negative)
{
	bool minus;

	if (!s->len)
		return false;
	if (s->ptr[0] == '(' && s->ptr[s->len - 1] == ')' && s->len > 2) {
		*negative = true;
		*s = dtx_utf8_trim((struct dtx_str){ s->ptr + 1, s->len - 2 });
		return true;
	}
	minus = s->ptr[0] == '-';
	if (minus || s->ptr[0] == '+') {
		*negative = minus;
		*s = dtx_utf8_trim((struct dtx_str){ s->ptr + 1, s->len - 1 });
		return true;
	}
	minus = s->ptr[s->len - 1] == '-';
	if (minus || s->ptr[s->len - 1] == '+') {
		*negative = minus;
		*s = dtx_utf8_trim((struct dtx_str){ s->ptr, s->len - 1 });
		return true;
	}
	return false;
}

/* Copies digits without the ',' that separate groups of exactly three. */
static bool cut_groups(struct dtx_str s, char out[NUMBER_MAX], size_t *len)
{
	size_t i, run = 0, n = 0;
	bool grouped = false;

	for (i = 0; i < s.len && (s.ptr[i] == ',' || (s.ptr[i] >= '0' && s.ptr[i] <= '9')); i++) {
		if (n + 1 >= NUMBER_MAX)
			return false;
		if (s.ptr[i] != ',') {
			out[n++] = s.ptr[i];
			run++;
			continue;
		}
		if (run == 0 || run > 3 || (grouped && run != 3))
			return false;
		grouped = true;
		run = 0;
	}
	if (grouped && run != 3)
		return false;
	for (; i < s.len; i++) {
		if (n + 1 >= NUMBER_MAX || s.ptr[i] == ',')
			return false;
		out[n++] = s.ptr[i];
	}
	*len = n;
	return n > 0;
}

static bool read_number(struct dtx_str s, double *out)
{
	char plain[NUMBER_MAX];
	bool negative = false, percent = false, sign;
	size_t n;

	s = dtx_utf8_trim(s);
	sign = cut_sign(&s, &negative);
	if (s.len && s.ptr[s.len - 1] == '%') {
		percent = true;
		s = dtx_utf8_trim((struct dtx_str){ s.ptr, s.len - 1 });
	}
	s = cut_currency(s);
	if (!sign)
		(void)cut_sign(&s, &negative);
	if (!s.len || s.ptr[0] == '-' || s.ptr[0] == '+' || !cut_groups(s, plain, &n) ||
	    !dtx_num_parse_f64(plain, n, out))
		return false;
	if (percent)
		*out /= 100;
	if (negative)
		*out = -*out;
	return true;
}

static bool is_blank_mark(struct dtx_str s)
{
	static const char *const blanks[] = { "-", "\xe2\x80\x93", "\xe2\x80\x94", "n/a" };
	size_t i;

	s = dtx_utf8_trim(s);
	for (i = 0; i < DTX_COUNT(blanks); i++) {
		if (dtx_str_is(s, blanks[i]))
			return true;
	}
	return s.len == 0;
}

static enum dtx_code row_number(const struct dtx_fncall *c, struct dtx_fnrun *run,
                                const struct dtx_val *arg, struct dtx_val *out, struct dtx_err *err)
{
	struct dtx_str s = arg[0].u.s;

	(void)c, (void)run;
	if (is_blank_mark(s)) {
		out->null = true;
		return DTX_OK;
	}
	if (read_number(s, &out->u.f))
		return DTX_OK;
	return dtx_err_set(err, DTX_E_CAST_FAILED, __FILE__, __LINE__,
	                   "cannot read '%.*s' as a number", (int)DTX_MIN(s.len, 80), s.ptr);
}

#define CAST(SIG, TYPE) .sig = SIG, .form = DTX_FORM_CAST, .detail = (TYPE)

static const struct dtx_fn rows[] = {
	{ .name = "int",
	  CAST("x:A", DTX_T_INT64),
	  .pandas = "dx.fn(\"as_int\", {0})",
	  .sql = "CAST({0} AS BIGINT)",
	  .help = "whole number; 12.7 is an error: use round()",
	  .example = "int(' 12 ')",
	  .value = "12" },
	{ .name = "float",
	  CAST("x:A", DTX_T_FLOAT64),
	  .pandas = "dx.fn(\"as_float\", {0})",
	  .sql = "CAST({0} AS DOUBLE)",
	  .help = "floating point number",
	  .example = "float('2.5')",
	  .value = "2.5" },
	{ .name = "decimal",
	  CAST("x:A, precision:i, scale:i", DTX_T_DECIMAL),
	  .pandas = "dx.fn(\"as_decimal\", {*})",
	  .help = "fixed point number; text with more digits is an error, a float is rounded",
	  .example = "decimal('2.5', 6, 2)",
	  .value = "2.50" },
	{ .name = "number",
	  .sig = "x:V",
	  .result = "F",
	  .flags = DTX_FN_CASTS,
	  .row = row_number,
	  .pandas = "dx.fn(\"as_number\", {0})",
	  .help = "number as people write it: 1,234.50, (12), $5, 12%",
	  .example = "number('(1,234.50)')",
	  .value = "-1234.5" },
	{ .name = "text",
	  CAST("x:A", DTX_T_TEXT),
	  .pandas = "dx.fn(\"as_text\", {0})",
	  .aliases = "str,string",
	  .sql = "CAST({0} AS TEXT)",
	  .help = "value as text",
	  .example = "text(100.0)",
	  .value = "100.0" },
	{ .name = "bool",
	  CAST("x:A", DTX_T_BOOL),
	  .pandas = "dx.fn(\"as_bool\", {0})",
	  .help = "true, false, 1, 0",
	  .example = "bool('TRUE')",
	  .value = "true" },
	{ .name = "date",
	  .pandas = "dx.fn(\"as_date\", {*})",
	  CAST("x:L, format:t=null", DTX_T_DATE),
	  .help = "date from ISO 8601 text or by a format, where %Y needs four digits, and %y two",
	  .example = "date('31.01.2024', '%d.%m.%Y')",
	  .value = "2024-01-31" },
	{ .name = "datetime",
	  .pandas = "dx.fn(\"as_datetime\", {*})",
	  CAST("x:L, format:t=null", DTX_T_DATETIME),
	  .help = "date and time from ISO 8601 text (an offset makes it a time of UTC) or by a "
	          "format",
	  .example = "datetime('2024-01-31 09:30')",
	  .value = "2024-01-31T09:30:00" },
};

const struct dtx_fn_table dtx_fn_cast = { "cast", "Conversions", rows, DTX_COUNT(rows) };
