/* A JSON reader that works on the text in place. */
#include "core/base/text/json_text.h"

#include "core/base/text/utf8.h"

#define JSON_DEPTH 200

char dtx_jsontext_peek(struct dtx_jsontext *r)
{
	while (r->pos < r->s.len && memchr(" \t\r\n", r->s.ptr[r->pos], 4))
		r->pos++;
	return r->pos < r->s.len ? r->s.ptr[r->pos] : '\0';
}

bool dtx_jsontext_take(struct dtx_jsontext *r, char ch)
{
	if (dtx_jsontext_peek(r) != ch || r->pos >= r->s.len)
		return false;
	r->pos++;
	return true;
}

/* Reads the four hex digits at pos. */
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

/* Reads an escape; pos is after its backslash.  A lone surrogate is not a character and fails. */
static bool read_escape(struct dtx_jsontext *r, struct dtx_buf *out)
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

bool dtx_jsontext_string(struct dtx_jsontext *r, struct dtx_buf *out)
{
	if (!dtx_jsontext_take(r, '"'))
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

static bool is_digit(const struct dtx_jsontext *r)
{
	return r->pos < r->s.len && r->s.ptr[r->pos] >= '0' && r->s.ptr[r->pos] <= '9';
}

static bool skip_digits(struct dtx_jsontext *r)
{
	if (!is_digit(r))
		return false;
	while (is_digit(r))
		r->pos++;
	return true;
}

static bool skip_number(struct dtx_jsontext *r)
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

static bool skip_word(struct dtx_jsontext *r)
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

/* Copies members or elements up to the closing bracket, without blanks. */
static bool write_items(struct dtx_jsontext *r, char close, struct dtx_buf *out)
{
	struct dtx_buf key = DTX_BUF_INIT(out->max);
	bool ok = ++r->depth <= JSON_DEPTH, first = true;

	dtx_buf_addc(out, r->s.ptr[r->pos++]);
	while (ok && !dtx_jsontext_take(r, close)) {
		ok = first || dtx_jsontext_take(r, ',');
		dtx_buf_add(out, first ? "" : ",");
		first = false;
		dtx_buf_reset(&key);
		if (ok && close == '}') {
			ok = dtx_jsontext_string(r, &key) && dtx_jsontext_take(r, ':');
			dtx_buf_json(out, dtx_buf_str(&key));
			dtx_buf_addc(out, ':');
		}
		ok = ok && dtx_jsontext_value(r, out);
	}
	dtx_buf_addc(out, close);
	if (key.fail == DTX_BUF_MEM)
		out->fail = DTX_BUF_MEM;
	dtx_buf_clear(&key);
	r->depth--;
	return ok;
}

bool dtx_jsontext_value(struct dtx_jsontext *r, struct dtx_buf *out)
{
	char ch = dtx_jsontext_peek(r);
	size_t from = r->pos;
	struct dtx_buf text = DTX_BUF_INIT(out->max);
	bool ok;

	if (ch == '{' || ch == '[')
		return write_items(r, ch == '{' ? '}' : ']', out);
	if (ch == '"') {
		ok = dtx_jsontext_string(r, &text);
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

bool dtx_jsontext_ok(struct dtx_str s, struct dtx_buf *skip)
{
	struct dtx_jsontext r = { .s = s };

	dtx_buf_reset(skip);
	return dtx_jsontext_value(&r, skip) && (dtx_jsontext_peek(&r), r.pos == s.len);
}
