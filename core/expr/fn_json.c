/* JSON in a cell: read in place, so that numbers stay as they are written. */
#include "core/expr/bound.h"

#include <stdlib.h>

#include "core/base/num.h"
#include "core/base/utf8.h"

#define JSON_DEPTH 200

/* --- reading --- */

struct reader {
	struct dtx_str s;
	size_t pos;
	int depth;
};

static char peek(struct reader *r)
{
	while (r->pos < r->s.len && memchr(" \t\r\n", r->s.ptr[r->pos], 4))
		r->pos++;
	return r->pos < r->s.len ? r->s.ptr[r->pos] : '\0';
}

static bool take(struct reader *r, char ch)
{
	if (peek(r) != ch || r->pos >= r->s.len)
		return false;
	r->pos++;
	return true;
}

/* Four hex digits at pos. */
static bool hex4(struct dtx_str s, size_t pos, uint32_t *out)
{
	*out = 0;
	if (pos + 4 > s.len)
		return false;
	for (size_t i = pos; i < pos + 4; i++) {
		const char *digits = "0123456789abcdef";
		const char *at =
			s.ptr[i] ? strchr(digits, s.ptr[i] | (s.ptr[i] > '9' ? 0x20 : 0)) : NULL;

		if (!at)
			return false;
		*out = *out << 4 | (uint32_t)(at - digits);
	}
	return true;
}

/* An escape behind its backslash; a lone surrogate is no character. */
static bool read_escape(struct reader *r, struct dtx_buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	char ch = r->pos < r->s.len ? r->s.ptr[r->pos++] : '\0';
	const char *at = ch ? strchr(from, ch) : NULL;
	uint32_t cp, low;
	char bytes[4];

	if (at) {
		dtx_buf_addc(out, to[at - from]);
		return true;
	}
	if (ch != 'u' || !hex4(r->s, r->pos, &cp))
		return false;
	r->pos += 4;
	if (cp >= 0xd800 && cp < 0xdc00) {
		if (r->pos + 6 > r->s.len || r->s.ptr[r->pos] != '\\' ||
		    r->s.ptr[r->pos + 1] != 'u' || !hex4(r->s, r->pos + 2, &low) || low < 0xdc00 ||
		    low > 0xdfff)
			return false;
		r->pos += 6;
		cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
	} else if (cp >= 0xdc00 && cp <= 0xdfff) {
		return false;
	}
	dtx_buf_addn(out, bytes, dtx_utf8_put(bytes, cp));
	return true;
}

/* A string, unescaped, appended to out. */
static bool read_string(struct reader *r, struct dtx_buf *out)
{
	if (!take(r, '"'))
		return false;
	while (r->pos < r->s.len) {
		char ch = r->s.ptr[r->pos++];

		if (ch == '"')
			return true;
		if ((unsigned char)ch < 0x20 || (ch == '\\' && !read_escape(r, out)))
			return false;
		if (ch != '\\')
			dtx_buf_addc(out, ch);
	}
	return false;
}

static bool is_digit(const struct reader *r)
{
	return r->pos < r->s.len && r->s.ptr[r->pos] >= '0' && r->s.ptr[r->pos] <= '9';
}

static bool skip_digits(struct reader *r)
{
	if (!is_digit(r))
		return false;
	while (is_digit(r))
		r->pos++;
	return true;
}

static bool skip_number(struct reader *r)
{
	const char *s = r->s.ptr;

	r->pos += s[r->pos] == '-';
	if (is_digit(r) && s[r->pos] == '0')
		r->pos++;
	else if (!skip_digits(r))
		return false;
	if (r->pos < r->s.len && s[r->pos] == '.') {
		r->pos++;
		if (!skip_digits(r))
			return false;
	}
	if (r->pos < r->s.len && (s[r->pos] | 0x20) == 'e') {
		r->pos++;
		r->pos += r->pos < r->s.len && (s[r->pos] == '+' || s[r->pos] == '-');
		return skip_digits(r);
	}
	return true;
}

static bool skip_word(struct reader *r)
{
	static const char *const words[] = { "true", "false", "null" };
	struct dtx_str rest = { r->s.ptr + r->pos, r->s.len - r->pos };

	for (size_t i = 0; i < DTX_COUNT(words); i++) {
		if (!dtx_str_starts(rest, dtx_str_of(words[i])))
			continue;
		r->pos += strlen(words[i]);
		return true;
	}
	return false;
}

static bool write_value(struct reader *r, struct dtx_buf *out);

/* Members or elements up to the closing bracket, without blanks. */
static bool write_items(struct reader *r, char close, struct dtx_buf *out)
{
	struct dtx_buf key = DTX_BUF_INIT(out->max);
	bool ok = ++r->depth <= JSON_DEPTH, first = true;

	dtx_buf_addc(out, r->s.ptr[r->pos++]);
	while (ok && !take(r, close)) {
		ok = first || take(r, ',');
		dtx_buf_add(out, first ? "" : ",");
		first = false;
		dtx_buf_reset(&key);
		if (ok && close == '}') {
			ok = read_string(r, &key) && take(r, ':');
			dtx_buf_json(out, dtx_buf_str(&key));
			dtx_buf_addc(out, ':');
		}
		ok = ok && write_value(r, out);
	}
	dtx_buf_addc(out, close);
	if (key.fail == DTX_BUF_MEM)
		out->fail = DTX_BUF_MEM;
	dtx_buf_clear(&key);
	r->depth--;
	return ok;
}

/* Reads a value and appends it as JSON: numbers as they are written. */
static bool write_value(struct reader *r, struct dtx_buf *out)
{
	char ch = peek(r);
	size_t from = r->pos;
	struct dtx_buf text = DTX_BUF_INIT(out->max);
	bool ok;

	if (ch == '{' || ch == '[')
		return write_items(r, ch == '{' ? '}' : ']', out);
	if (ch == '"') {
		ok = read_string(r, &text);
		dtx_buf_json(out, dtx_buf_str(&text));
		if (text.fail == DTX_BUF_MEM)
			out->fail = DTX_BUF_MEM;
		dtx_buf_clear(&text);
		return ok;
	}
	ok = ch == '-' || (ch >= '0' && ch <= '9') ? skip_number(r) : skip_word(r);
	dtx_buf_addn(out, r->s.ptr + from, r->pos - from);
	return ok;
}

/* --- paths --- */

struct path_step {
	struct dtx_str key; /* ptr NULL: an index */
	int64_t index;
};
struct path {
	struct path_step *step;
	size_t n;
};

/* One ".key", "key", "[3]" or "['key']" at *pos. */
static bool path_step(struct dtx_str s, size_t *pos, struct path_step *out)
{
	const char *p = s.ptr;
	size_t from, end;

	if (p[*pos] != '[') {
		from = *pos + (p[*pos] == '.');
		for (end = from; end < s.len && p[end] != '.' && p[end] != '['; end++)
			;
		out->key = (struct dtx_str){ p + from, end - from };
		*pos = end;
		return end > from;
	}
	from = *pos + 1;
	if (from < s.len && (p[from] == '\'' || p[from] == '"')) {
		const char *quote = memchr(p + from + 1, p[from], s.len - from - 1);

		end = quote ? (size_t)(quote - p) : s.len;
		out->key = (struct dtx_str){ p + from + 1, end - from - 1 };
		*pos = end + 2;
		return end + 1 < s.len && p[end + 1] == ']';
	}
	for (end = from; end < s.len && p[end] != ']'; end++)
		;
	*pos = end + 1;
	return end < s.len && dtx_num_parse_i64(p + from, end - from, &out->index) &&
	       out->index >= 0;
}

static enum dtx_code prep_path(struct dtx_arena *a, struct dtx_fncall *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str s = c->konst[1]->null ? DTX_STR("") : c->konst[1]->u.s;
	struct path *p = dtx_arena_zalloc(a, 1, sizeof(*p));
	size_t pos = s.len && s.ptr[0] == '$' && (s.len == 1 || strchr(".[", s.ptr[1]));

	if (!p)
		DTX_FAIL_MEM(err);
	p->step = dtx_arena_zalloc(a, s.len + 1, sizeof(*p->step));
	if (!p->step)
		DTX_FAIL_MEM(err);
	while (pos < s.len) {
		if (path_step(s, &pos, &p->step[p->n++]))
			continue;
		dtx_err_set(err, DTX_E_BAD_LITERAL, __FILE__, __LINE__, "'%.*s' is no JSON path",
		            (int)dtx_str_cut(s, 60).len, s.ptr);
		dtx_err_hint(err, "as in 'items[0].name' or '$.items[0].name'");
		return DTX_E_BAD_LITERAL;
	}
	c->prepared = p;
out:
	return rc;
}

/* Moves to the element or member of the step; of members with one name to the last. */
static bool path_enter(struct reader *r, const struct path_step *step, struct dtx_buf *skip,
                       bool *found)
{
	char close = step->key.ptr ? '}' : ']';
	struct reader at = *r;
	int64_t i = 0;

	*found = false;
	if (peek(r) != (step->key.ptr ? '{' : '['))
		return true;
	r->pos++;
	while (!take(r, close)) {
		bool hit = i == step->index;

		if (i++)
			(void)take(r, ',');
		dtx_buf_reset(skip);
		if (step->key.ptr) {
			if (!read_string(r, skip) || !take(r, ':'))
				return false;
			hit = dtx_str_eq(dtx_buf_str(skip), step->key);
		}
		if (hit) {
			at = *r;
			*found = true;
		}
		dtx_buf_reset(skip);
		if (!write_value(r, skip))
			return false;
	}
	*r = at;
	return true;
}

static enum dtx_code no_json(const struct dtx_fncall *c, struct dtx_str s, struct dtx_err *err)
{
	dtx_err_set(err, DTX_E_CAST_FAILED, __FILE__, __LINE__, "%s() cannot read '%.*s' as JSON",
	            c->fn->name, (int)dtx_str_cut(s, 60).len, s.ptr);
	dtx_err_hint(err, "try(%s(...)) gives null where a text is no JSON", c->fn->name);
	return DTX_E_CAST_FAILED;
}

/* The whole text is one value. */
static bool is_json(struct dtx_str s, struct dtx_buf *skip)
{
	struct reader r = { .s = s };

	dtx_buf_reset(skip);
	return write_value(&r, skip) && (peek(&r), r.pos == s.len);
}

DTX_FN_ROW(row_json_get)
{
	const struct path *p = c->prepared;
	struct reader r = { .s = arg[0].u.s };
	bool found = true;
	char ch;

	if (!is_json(r.s, run->buf))
		return dtx_buf_ok(run->buf) ? no_json(c, r.s, err) : DTX_OK;
	for (size_t i = 0; i < p->n && found; i++) {
		if (!path_enter(&r, &p->step[i], run->buf, &found))
			return no_json(c, r.s, err);
	}
	dtx_buf_reset(run->buf);
	ch = peek(&r);
	out->null = !found || ch == 'n';
	if (out->null)
		return DTX_OK;
	if (ch == '"' ? !read_string(&r, run->buf) : !write_value(&r, run->buf))
		return no_json(c, r.s, err);
	return dtx_fn_made(run, out);
}

DTX_FN_ROW(row_json_len)
{
	struct reader r = { .s = arg[0].u.s };
	int64_t n = 0;
	char open;

	if (!is_json(r.s, run->buf))
		return dtx_buf_ok(run->buf) ? no_json(c, r.s, err) : DTX_OK;
	open = peek(&r);
	out->null = open != '[' && open != '{';
	if (out->null)
		return DTX_OK;
	for (r.pos++; !take(&r, open == '{' ? '}' : ']'); n++) {
		dtx_buf_reset(run->buf);
		if (n && !take(&r, ','))
			break;
		if (open == '{' && (!read_string(&r, run->buf) || !take(&r, ':')))
			break;
		if (!write_value(&r, run->buf))
			break;
	}
	out->u.i = n;
	return DTX_OK;
}

static const struct dtx_fn rows[] = {
	{ .name = "json_get",
	  .sig = "t:T, path:t",
	  .result = "T",
	  .flags = DTX_FN_CASTS,
	  .prep = prep_path,
	  .row = row_json_get,
	  .pandas = "dx.fn(\"json_get\", {*})",
	  .help = "value at a path of a JSON text, as text; null where there is none",
	  .example = "json_get('{\"a\": [1, {\"b\": 2.50}]}', 'a[1].b')",
	  .value = "2.50" },
	{ .name = "json_len",
	  .sig = "t:T",
	  .result = "I",
	  .flags = DTX_FN_CASTS,
	  .row = row_json_len,
	  .pandas = "dx.fn(\"json_len\", {*})",
	  .help = "number of elements or members of a JSON text; null for other values",
	  .example = "json_len('[1, 2, 3]')",
	  .value = "3" },
};

const struct dtx_fn_table dtx_fn_json = { "json", "JSON", rows, DTX_COUNT(rows) };
