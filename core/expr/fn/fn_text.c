/* Text: positions count code points, and results are views of the argument where possible. */
#include "core/expr/bound.h"

#include "core/base/text/utf8.h"

#define CELL_MAX ((int64_t)16 << 20)

static enum dtx_code too_long(const struct dtx_fncall *c, struct dtx_err *err)
{
	return dtx_err_set(err, DTX_E_CELL_LIMIT, __FILE__, __LINE__,
	                   "%s() would make a text of more than 16 MiB", c->fn->name);
}

/* Code points [from, to) of s; both are within its length. */
static struct dtx_str cut(struct dtx_str s, int64_t from, int64_t to)
{
	size_t a = dtx_utf8_offset(s.ptr, s.len, (size_t)from);
	size_t b = a + dtx_utf8_offset(s.ptr + a, s.len - a, (size_t)(to - from));

	return (struct dtx_str){ s.ptr + a, b - a };
}

static int64_t length(struct dtx_str s)
{
	return (int64_t)dtx_utf8_count(s.ptr, s.len);
}

static int64_t within(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

DTX_FN_ROW(row_length)
{
	(void)c, (void)run, (void)err;
	out->u.i = length(arg[0].u.s);
	return DTX_OK;
}

DTX_FN_ROW(row_upper)
{
	(void)err;
	if (c->fn->detail)
		dtx_utf8_upper(run->buf, arg[0].u.s);
	else
		dtx_utf8_lower(run->buf, arg[0].u.s);
	return dtx_fn_made(run, out);
}

/* detail: 1 the left end, 2 the right end. */
DTX_FN_ROW(row_trim)
{
	struct dtx_str s = arg[0].u.s, t = dtx_utf8_trim(s);

	(void)run, (void)err;
	if (t.len == 0)
		t.ptr = s.ptr;
	else if (c->fn->detail == 1)
		t.len = (size_t)(s.ptr + s.len - t.ptr);
	else if (c->fn->detail == 2)
		t = (struct dtx_str){ s.ptr, (size_t)(t.ptr + t.len - s.ptr) };
	out->u.s = t;
	return DTX_OK;
}

DTX_FN_ROW(row_left)
{
	struct dtx_str s = arg[0].u.s;
	int64_t n = arg[1].u.i, len = length(s);
	int64_t k = n < 0 ? within(n == INT64_MIN ? 0 : len + n, 0, len) : within(n, 0, len);

	(void)run, (void)err;
	out->u.s = c->fn->detail ? cut(s, len - k, len) : cut(s, 0, k);
	return DTX_OK;
}

DTX_FN_ROW(row_mid)
{
	struct dtx_str s = arg[0].u.s;
	int64_t start = arg[1].u.i, len = length(s), n = c->nargs > 2 ? arg[2].u.i : len;

	(void)run, (void)err;
	if (start == 0) {
		out->null = true;
		return DTX_OK;
	}
	start = start > 0 ? start - 1 : within(start, INT64_MIN / 2, -1) + len;
	if (start < 0) {
		/* starts before the text: keep the part that is inside */
		n += n > 0 ? start : 0;
		start = 0;
	}
	start = within(start, 0, len);
	n = within(n, 0, len - start);
	out->u.s = cut(s, start, start + n);
	return DTX_OK;
}

DTX_FN_ROW(row_slice)
{
	struct dtx_str s = arg[0].u.s;
	int64_t len = length(s), a = within(arg[1].u.i, -len, len);
	int64_t b = c->nargs > 2 ? within(arg[2].u.i, -len, len) : len;

	(void)run, (void)err;
	a += a < 0 ? len : 0;
	b += b < 0 ? len : 0;
	out->u.s = cut(s, a, DTX_MAX(a, b));
	return DTX_OK;
}

DTX_FN_ROW(row_concat)
{
	uint32_t i;

	(void)err;
	for (i = 0; i < c->nargs; i++) {
		if (!arg[i].null)
			dtx_buf_adds(run->buf, arg[i].u.s);
	}
	return dtx_fn_made(run, out);
}

DTX_FN_ROW(row_concat_ws)
{
	bool first = true;
	uint32_t i;

	(void)err;
	for (i = 1; i < c->nargs; i++) {
		if (arg[i].null)
			continue;
		if (!first && !arg[0].null)
			dtx_buf_adds(run->buf, arg[0].u.s);
		first = false;
		dtx_buf_adds(run->buf, arg[i].u.s);
	}
	return dtx_fn_made(run, out);
}

DTX_FN_ROW(row_replace)
{
	struct dtx_str s = arg[0].u.s, from = arg[1].u.s, to = arg[2].u.s;
	size_t pos = 0;
	ptrdiff_t at;

	(void)c, (void)err;
	if (!from.len || dtx_str_find(s, from, 0) < 0) {
		out->u.s = s;
		return DTX_OK;
	}
	while ((at = dtx_str_find(s, from, pos)) >= 0) {
		dtx_buf_addn(run->buf, s.ptr + pos, (size_t)at - pos);
		dtx_buf_adds(run->buf, to);
		pos = (size_t)at + from.len;
	}
	dtx_buf_addn(run->buf, s.ptr + pos, s.len - pos);
	return dtx_fn_made(run, out);
}

/* detail: 0 starts_with, 1 ends_with, 2 contains. */
DTX_FN_ROW(row_has)
{
	(void)run, (void)err;
	if (c->fn->detail == 2)
		out->u.b = dtx_str_find(arg[0].u.s, arg[1].u.s, 0) >= 0;
	else
		out->u.b = c->fn->detail ? dtx_str_ends(arg[0].u.s, arg[1].u.s)
		                         : dtx_str_starts(arg[0].u.s, arg[1].u.s);
	return DTX_OK;
}

DTX_FN_ROW(row_index_of)
{
	ptrdiff_t at = dtx_str_find(arg[0].u.s, arg[1].u.s, 0);

	(void)c, (void)run, (void)err;
	out->u.i = at < 0 ? 0 : (int64_t)dtx_utf8_count(arg[0].u.s.ptr, (size_t)at) + 1;
	return DTX_OK;
}

DTX_FN_ROW(row_split_part)
{
	struct dtx_str s = arg[0].u.s, sep = arg[1].u.s;
	int64_t n = arg[2].u.i, parts = 1, want;
	size_t pos = 0;
	ptrdiff_t at;

	(void)c, (void)run, (void)err;
	while (sep.len && (at = dtx_str_find(s, sep, pos)) >= 0) {
		parts++;
		pos = (size_t)at + sep.len;
	}
	want = n < 0 ? parts + n + 1 : n;
	out->null = n == 0 || n == INT64_MIN || want < 1 || want > parts;
	if (out->null)
		return DTX_OK;
	for (pos = 0; want > 1; want--)
		pos = (size_t)dtx_str_find(s, sep, pos) + sep.len;
	at = sep.len ? dtx_str_find(s, sep, pos) : -1;
	out->u.s = (struct dtx_str){ s.ptr + pos, (at < 0 ? s.len : (size_t)at) - pos };
	return DTX_OK;
}

static void fill(struct dtx_buf *out, struct dtx_str with, int64_t n)
{
	int64_t len = length(with);

	for (; n >= len; n -= len)
		dtx_buf_adds(out, with);
	dtx_buf_adds(out, cut(with, 0, n));
}

DTX_FN_ROW(row_pad)
{
	struct dtx_str s = arg[0].u.s, with = arg[2].u.s;
	int64_t n = arg[1].u.i, len = length(s);

	if (n <= len || with.len == 0) {
		out->u.s = s;
		return DTX_OK;
	}
	if (n > CELL_MAX)
		return too_long(c, err);
	if (!c->fn->detail)
		fill(run->buf, with, n - len);
	dtx_buf_adds(run->buf, s);
	if (c->fn->detail)
		fill(run->buf, with, n - len);
	return dtx_fn_made(run, out);
}

DTX_FN_ROW(row_repeat)
{
	struct dtx_str s = arg[0].u.s;
	int64_t n = arg[1].u.i;

	if (s.len && n > CELL_MAX / (int64_t)s.len)
		return too_long(c, err);
	for (; s.len && n > 0; n--)
		dtx_buf_adds(run->buf, s);
	return dtx_fn_made(run, out);
}

#define TEXT(NAME, SIG, RESULT, ROWFN, DETAIL)                                                     \
	.sig = SIG, .result = RESULT, .row = (ROWFN), .detail = (DETAIL),                          \
	.pandas = "dx.fn(\"" NAME "\", {*})"

static const struct dtx_fn rows[] = {
	{ .name = "length",
	  TEXT("length", "t:T", "I", row_length, 0),
	  .aliases = "len",
	  .sql = "length({0})",
	  .help = "number of characters (code points)",
	  .example = "length('h\xc3\xa9llo')",
	  .value = "5" },
	{ .name = "upper",
	  .aliases = "to_upper,ucase,uppercase",
	  TEXT("upper", "t:T", "T", row_upper, 1),
	  .help = "upper case",
	  .example = "upper('stra\xc3\x9f\x65')",
	  .value = "STRASSE" },
	{ .name = "lower",
	  .aliases = "to_lower,lcase,lowercase",
	  TEXT("lower", "t:T", "T", row_upper, 0),
	  .help = "lower case",
	  .example = "lower('ABC')",
	  .value = "abc" },
	{ .name = "trim",
	  .aliases = "strip",
	  TEXT("trim", "t:T", "T", row_trim, 0),
	  .help = "without blanks at both ends",
	  .example = "trim('  a b ')",
	  .value = "a b" },
	{ .name = "ltrim",
	  .aliases = "lstrip",
	  TEXT("ltrim", "t:T", "T", row_trim, 1),
	  .help = "without blanks in front",
	  .example = "concat(ltrim('  a '), '|')",
	  .value = "a |" },
	{ .name = "rtrim",
	  .aliases = "rstrip",
	  TEXT("rtrim", "t:T", "T", row_trim, 2),
	  .help = "without blanks at the end",
	  .example = "concat(rtrim(' a  '), '|')",
	  .value = " a|" },
	{ .name = "left",
	  TEXT("left", "t:T, n:I", "T", row_left, 0),
	  .help = "first n characters; without the last |n| when n is negative",
	  .example = "left('abcd', -1)",
	  .value = "abc" },
	{ .name = "right",
	  TEXT("right", "t:T, n:I", "T", row_left, 1),
	  .help = "last n characters; without the first |n| when n is negative",
	  .example = "right('abcd', 2)",
	  .value = "cd" },
	{ .name = "mid",
	  TEXT("mid", "t:T, start:I, len:I?", "T", row_mid, 0),
	  .aliases = "substring,substr",
	  .help = "len characters from start, the first is 1; negative from the end",
	  .example = "mid('abcd', 2, 2)",
	  .value = "bc" },
	{ .name = "slice",
	  TEXT("slice", "t:T, from:I, to:I?", "T", row_slice, 0),
	  .help = "characters from (0 is the first) up to, not including, to",
	  .example = "slice('abcd', 1, -1)",
	  .value = "bc" },
	{ .name = "concat",
	  TEXT("concat", "value:V, ...", "T", row_concat, 0),
	  .flags = DTX_FN_NULLS,
	  .help = "all values as one text, nulls left out",
	  .example = "concat('a', null, 1)",
	  .value = "a1" },
	{ .name = "concat_ws",
	  TEXT("concat_ws", "sep:T, value:V, ...", "T", row_concat_ws, 0),
	  .flags = DTX_FN_NULLS,
	  .help = "values joined by sep, nulls left out",
	  .example = "concat_ws('-', 'a', null, 'b')",
	  .value = "a-b" },
	{ .name = "replace",
	  .aliases = "str_replace",
	  TEXT("replace", "t:T, from:T, to:T", "T", row_replace, 0),
	  .sql = "replace({*})",
	  .help = "every occurrence of a literal text replaced",
	  .example = "replace('a-b-c', '-', '+')",
	  .value = "a+b+c" },
	{ .name = "starts_with",
	  .aliases = "startswith",
	  TEXT("starts_with", "t:T, prefix:T", "B", row_has, 0),
	  .sql = "(substr({0}, 1, length({1})) = {1})",
	  .help = "whether t begins with prefix",
	  .example = "starts_with('abc', 'ab')",
	  .value = "true" },
	{ .name = "ends_with",
	  .aliases = "endswith",
	  TEXT("ends_with", "t:T, suffix:T", "B", row_has, 1),
	  .help = "whether t ends with suffix",
	  .example = "ends_with('abc', 'ab')",
	  .value = "false" },
	{ .name = "contains",
	  TEXT("contains", "t:T, part:T", "B", row_has, 2),
	  .sql = "(instr({0}, {1}) > 0)",
	  .help = "whether part occurs in t",
	  .example = "contains('abc', 'b')",
	  .value = "true" },
	{ .name = "index_of",
	  TEXT("index_of", "t:T, part:T", "I", row_index_of, 0),
	  .sql = "instr({0}, {1})",
	  .help = "position of part in t, from 1; 0 if absent",
	  .example = "index_of('abc', 'c')",
	  .value = "3" },
	{ .name = "split_part",
	  TEXT("split_part", "t:T, sep:T, n:I", "T", row_split_part, 0),
	  .help = "piece n of t, from 1, negative from the end; null out of range",
	  .example = "split_part('a;b;c', ';', -1)",
	  .value = "c" },
	{ .name = "pad_left",
	  TEXT("pad_left", "t:T, n:I, fill:T=' '", "T", row_pad, 0),
	  .aliases = "lpad",
	  .help = "at least n characters, filled in front",
	  .example = "pad_left('7', 3, '0')",
	  .value = "007" },
	{ .name = "pad_right",
	  TEXT("pad_right", "t:T, n:I, fill:T=' '", "T", row_pad, 1),
	  .aliases = "rpad",
	  .help = "at least n characters, filled up at the end",
	  .example = "pad_right('a', 3, '.')",
	  .value = "a.." },
	{ .name = "repeat",
	  TEXT("repeat", "t:T, n:I", "T", row_repeat, 0),
	  .help = "t n times",
	  .example = "repeat('ab', 3)",
	  .value = "ababab" },
};

const struct dtx_fn_table dtx_fn_text = { "text", "Text", rows, DTX_COUNT(rows) };
