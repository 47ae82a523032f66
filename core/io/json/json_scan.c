/* The JSON scanner, see json_scan.h. It accepts RFC 8259 and nothing else (no NaN, no trailing
 * commas, no lone surrogates), unless it is lenient. */
#include "core/io/json/json_scan.h"

#include "core/base/text/utf8.h"

static bool fail(struct dtx_jscan *s, const char *at, const char *why)
{
	s->p = at;
	s->why = why;
	return false;
}

/* Accepts something that is not JSON but readable, if that is allowed, and counts it. */
static bool mend(struct dtx_jscan *s, const char *at)
{
	if (!s->lenient)
		return false;
	if (!s->mended++)
		s->mended_at = at;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

void dtx_jscan_blanks(struct dtx_jscan *s)
{
	while (s->p < s->end && is_blank(*s->p))
		s->p++;
}

bool dtx_jscan_char(struct dtx_jscan *s, char c, const char *why)
{
	dtx_jscan_blanks(s);
	if (s->p == s->end || *s->p != c)
		return fail(s, s->p, why);
	s->p++;
	return true;
}

bool dtx_jscan_close(struct dtx_jscan *s, char bracket, bool comma)
{
	dtx_jscan_blanks(s);
	if (s->p == s->end || *s->p != bracket || (comma && !mend(s, s->p)))
		return false;
	s->p++;
	return true;
}

bool dtx_jscan_more(struct dtx_jscan *s, char bracket, bool *more)
{
	dtx_jscan_blanks(s);
	*more = s->p < s->end && *s->p == ',';
	if (!*more)
		return dtx_jscan_char(s, bracket, bracket == '}' ? "',' or '}'" : "',' or ']'");
	s->p++;
	*more = !dtx_jscan_close(s, bracket, true);
	return true;
}

/* Reads four hex digits at p; -1 if there are others. */
static int32_t hex4(const char *p, const char *end)
{
	int32_t v = 0;
	int i;

	if (end - p < 4)
		return -1;
	for (i = 0; i < 4; i++) {
		char c = p[i];
		int d = is_digit(c)            ? c - '0'
		        : c >= 'a' && c <= 'f' ? c - 'a' + 10
		        : c >= 'A' && c <= 'F' ? c - 'A' + 10
		                               : -1;

		if (d < 0)
			return -1;
		v = v << 4 | d;
	}
	return v;
}

/* The code point of "\uXXXX" (or of a pair) at p; *used is its length. Returns -1 if it is
 * invalid. */
static int32_t escape_point(const char *p, const char *end, size_t *used)
{
	int32_t hi = hex4(p + 2, end), lo;

	*used = 6;
	if (hi < 0xd800 || hi >= 0xe000)
		return hi;
	if (hi >= 0xdc00 || end - p < 12 || p[6] != '\\' || p[7] != 'u')
		return -1;
	lo = hex4(p + 8, end);
	*used = 12;
	return lo >= 0xdc00 && lo < 0xe000 ? 0x10000 + ((hi - 0xd800) << 10) + (lo - 0xdc00) : -1;
}

/* The length of the escape at p, or 0 if it is invalid. */
static size_t escape_length(const char *p, const char *end)
{
	size_t used;

	if (end - p < 2)
		return 0;
	if (p[1] == 'u')
		return escape_point(p, end, &used) < 0 ? 0 : used;
	return p[1] && strchr("\"\\/bfnrt", p[1]) ? 2 : 0;
}

/* The replacement for an invalid escape, and the length of that escape: half a surrogate pair
 * becomes an unknown character; the backslash of any other escape is kept. */
static size_t odd_escape(const char *p, const char *end, const char **text)
{
	bool half = end - p >= 6 && p[1] == 'u' && hex4(p + 2, end) >= 0;

	*text = half ? "\xef\xbf\xbd" : "\\";
	return half ? 6 : 1;
}

static bool too_long(const struct dtx_jscan *s, const char *from, const char *p)
{
	return s->most && (size_t)(p - from) > s->most;
}

static bool fail_long(struct dtx_jscan *s, const char *from)
{
	s->too_long = true;
	return fail(s, from, "a shorter value");
}

bool dtx_jscan_string(struct dtx_jscan *s, struct dtx_jvalue *out)
{
	const char *p, *from, *text;
	size_t n;

	if (s->p == s->end || *s->p != '"')
		return fail(s, s->p, "a string");
	from = p = s->p + 1;
	*out = (struct dtx_jvalue){ .kind = DTX_J_STRING };
	while (p < s->end && *p != '"' && !too_long(s, from, p)) {
		if ((unsigned char)*p < 0x20 && !mend(s, p))
			return fail(s, p, "no control character in a string");
		n = 1;
		if (*p == '\\') {
			n = escape_length(p, s->end);
			out->escaped = true;
		}
		if (!n && mend(s, p))
			n = odd_escape(p, s->end, &text);
		if (!n)
			return fail(s, p, "a valid escape");
		p += n;
	}
	if (p >= s->end)
		return fail(s, s->end, "the end of a string");
	if (*p != '"')
		return fail_long(s, from - 1);
	out->raw = (struct dtx_str){ from, (size_t)(p - from) };
	s->p = p + 1;
	return true;
}

static const char *digits(const char *p, const char *end)
{
	while (p < end && is_digit(*p))
		p++;
	return p;
}

struct word {
	const char *text;
	size_t len;
	enum dtx_jkind kind;
};
#define WORD(text, kind)                                                                           \
	{                                                                                          \
		text, sizeof(text) - 1, kind                                                       \
	}

static bool scan_words(struct dtx_jscan *s, const struct word *word, size_t n,
                       struct dtx_jvalue *out)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if ((size_t)(s->end - s->p) >= word[i].len &&
		    !memcmp(s->p, word[i].text, word[i].len)) {
			*out = (struct dtx_jvalue){ word[i].kind, false, { s->p, word[i].len } };
			s->p += word[i].len;
			return true;
		}
	}
	return fail(s, s->p, "a value");
}

/* NaN and infinities become null. */
static bool scan_odd_word(struct dtx_jscan *s, struct dtx_jvalue *out)
{
	static const struct word word[] = { WORD("NaN", DTX_J_NULL), WORD("Infinity", DTX_J_NULL),
		                            WORD("-Infinity", DTX_J_NULL) };
	const char *from = s->p;

	if (!scan_words(s, word, s->lenient ? DTX_COUNT(word) : 0, out))
		return false;
	return mend(s, from);
}

static bool scan_number(struct dtx_jscan *s, struct dtx_jvalue *out)
{
	const char *from = s->p, *p = from + (*from == '-'), *d;

	d = digits(p, s->end);
	if (d == p)
		return scan_odd_word(s, out);
	if (d > p + 1 && *p == '0')
		return fail(s, from, "a value");
	p = d;
	if (p < s->end && *p == '.') {
		d = digits(p + 1, s->end);
		if (d == p + 1)
			return fail(s, p, "digits after the point");
		p = d;
	}
	if (p < s->end && (*p == 'e' || *p == 'E')) {
		p++;
		p += p < s->end && (*p == '+' || *p == '-');
		d = digits(p, s->end);
		if (d == p)
			return fail(s, p, "digits of an exponent");
		p = d;
	}
	*out = (struct dtx_jvalue){ DTX_J_NUMBER, false, { from, (size_t)(p - from) } };
	s->p = p;
	return true;
}

static bool scan_word(struct dtx_jscan *s, struct dtx_jvalue *out)
{
	static const struct word word[] = { WORD("null", DTX_J_NULL), WORD("true", DTX_J_TRUE),
		                            WORD("false", DTX_J_FALSE) };

	return scan_words(s, word, DTX_COUNT(word), out) || scan_odd_word(s, out);
}

static bool scan_scalar(struct dtx_jscan *s, struct dtx_jvalue *out)
{
	if (s->p == s->end)
		return fail(s, s->p, "a value");
	if (*s->p == '"')
		return dtx_jscan_string(s, out);
	if (*s->p == '-' || is_digit(*s->p))
		return scan_number(s, out);
	return scan_word(s, out);
}

/* Opens containers at p until it has passed a scalar or an empty container. in_object[depth]
 * says what is open. */
static bool open_value(struct dtx_jscan *s, bool *in_object, unsigned *depth)
{
	struct dtx_jvalue v;

	for (;;) {
		dtx_jscan_blanks(s);
		if (s->p == s->end || (*s->p != '{' && *s->p != '['))
			return scan_scalar(s, &v);
		if (*depth == DTX_JSCAN_DEPTH)
			return fail(s, s->p, "values nested at most 1024 deep");
		in_object[(*depth)++] = *s->p == '{';
		s->p++;
		dtx_jscan_blanks(s);
		if (s->p < s->end && *s->p == (in_object[*depth - 1] ? '}' : ']')) {
			s->p++;
			--*depth;
			return true;
		}
		if (in_object[*depth - 1] &&
		    (!dtx_jscan_string(s, &v) || !dtx_jscan_char(s, ':', "':'")))
			return false;
	}
}

/* After a value: closes containers, or goes to the next member. */
static bool next_value(struct dtx_jscan *s, const bool *in_object, unsigned *depth)
{
	struct dtx_jvalue key;

	while (*depth) {
		bool object = in_object[*depth - 1], more;

		if (!dtx_jscan_more(s, object ? '}' : ']', &more))
			return false;
		if (more)
			return !object ||
			       (dtx_jscan_string(s, &key) && dtx_jscan_char(s, ':', "':'"));
		--*depth;
	}
	return true;
}

bool dtx_jscan_value(struct dtx_jscan *s, struct dtx_jvalue *out)
{
	bool in_object[DTX_JSCAN_DEPTH];
	unsigned depth = 0;
	const char *from;

	dtx_jscan_blanks(s);
	from = s->p;
	if (from == s->end || (*from != '{' && *from != '['))
		return scan_scalar(s, out);
	do {
		if (!open_value(s, in_object, &depth) || !next_value(s, in_object, &depth))
			return false;
		if (too_long(s, from, s->p))
			return fail_long(s, from);
	} while (depth);
	*out = (struct dtx_jvalue){ *from == '{' ? DTX_J_OBJECT : DTX_J_ARRAY,
		                    false,
		                    { from, (size_t)(s->p - from) } };
	return true;
}

void dtx_jscan_unescape(struct dtx_str raw, struct dtx_buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *p = raw.ptr, *end = raw.ptr + raw.len, *odd;
	char utf8[4];
	size_t used;

	while (p < end) {
		const char *slash = memchr(p, '\\', (size_t)(end - p));

		dtx_buf_addn(out, p, (size_t)((slash ? slash : end) - p));
		if (!slash)
			break;
		used = escape_length(slash, end);
		if (!used) {
			used = odd_escape(slash, end, &odd);
			dtx_buf_add(out, odd);
		} else if (slash[1] == 'u') {
			int32_t cp = escape_point(slash, end, &used);

			dtx_buf_addn(out, utf8, dtx_utf8_put(utf8, (uint32_t)cp));
		} else {
			dtx_buf_addc(out, to[strchr(from, slash[1]) - from]);
		}
		p = slash + used;
	}
}

/* Whether the end of a sample cut off a token: a text, a number, or the beginning of a word. */
static bool is_cut_token(struct dtx_str s)
{
	static const char *const word[] = { "true", "false", "null" };
	size_t i;

	if (!s.len || s.ptr[0] == '"')
		return !s.len || !memchr(s.ptr + 1, '"', s.len - 1);
	for (i = 0; i < DTX_COUNT(word); i++) {
		if (dtx_str_starts(dtx_str_of(word[i]), s))
			return true;
	}
	return s.len < 16 && (s.ptr[0] == '-' || is_digit(s.ptr[0]));
}

bool dtx_jscan_tokens(const char *bytes, size_t len)
{
	struct dtx_jscan s = { .p = bytes, .end = bytes + len, .lenient = true };
	struct dtx_jvalue v;

	for (;;) {
		dtx_jscan_blanks(&s);
		if (s.p == s.end)
			return true;
		if (strchr("{}[],:", *s.p) && *s.p)
			s.p++;
		else if (!scan_scalar(&s, &v))
			return is_cut_token((struct dtx_str){ s.p, (size_t)(s.end - s.p) });
	}
}
