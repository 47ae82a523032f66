/* UTF-8 decoding by hand, because it is on the fast path; character data comes from utf8proc. */
#include "core/base/text/utf8.h"

#include <utf8proc.h>

#include "core/base/memory/mem.h"
#include "core/base/text/utf8_upper.h"

#define UTF8_REPLACEMENT 0xfffdu
#define UTF8_ASCII_MASK  0x8080808080808080u

/* Length of the UTF-8 sequence at p, of which n bytes are left; 0 if it is not valid. */
static size_t utf8_seq(const unsigned char *p, size_t n)
{
	unsigned char lo = 0x80, hi = 0xbf;
	size_t len, i;

	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (len > n)
		return 0;
	if (p[0] == 0xe0)
		lo = 0xa0; /* no overlong forms */
	else if (p[0] == 0xed)
		hi = 0x9f; /* no surrogates */
	else if (p[0] == 0xf0)
		lo = 0x90;
	else if (p[0] == 0xf4)
		hi = 0x8f;
	if (p[1] < lo || p[1] > hi)
		return 0;
	for (i = 2; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	return len;
}

static bool utf8_ascii8(const char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return !(w & UTF8_ASCII_MASK);
}

ptrdiff_t dtx_utf8_bad(const char *text, size_t len)
{
	size_t pos = 0, step;

	while (pos < len) {
		while (len - pos >= 8 && utf8_ascii8(text + pos))
			pos += 8;
		if (pos == len)
			break;
		step = utf8_seq((const unsigned char *)text + pos, len - pos);
		if (!step)
			return (ptrdiff_t)pos;
		pos += step;
	}
	return -1;
}

uint32_t dtx_utf8_next(const char *text, size_t len, size_t *pos)
{
	const unsigned char *p = (const unsigned char *)text + *pos;
	size_t n = utf8_seq(p, len - *pos), i;
	uint32_t cp;

	if (!n) {
		++*pos;
		return UTF8_REPLACEMENT;
	}
	*pos += n;
	if (n == 1)
		return p[0];
	cp = p[0] & (0x7fu >> n);
	for (i = 1; i < n; i++)
		cp = cp << 6 | (p[i] & 0x3fu);
	return cp;
}

size_t dtx_utf8_put(char out[4], uint32_t cp)
{
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char)(0xc0 | cp >> 6);
		out[1] = (char)(0x80 | (cp & 0x3f));
		return 2;
	}
	if (cp < 0x10000) {
		out[0] = (char)(0xe0 | cp >> 12);
		out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
		out[2] = (char)(0x80 | (cp & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | cp >> 18);
	out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
	out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
	out[3] = (char)(0x80 | (cp & 0x3f));
	return 4;
}

size_t dtx_utf8_count(const char *text, size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

size_t dtx_utf8_offset(const char *text, size_t len, size_t n)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (((unsigned char)text[i] & 0xc0) != 0x80 && n-- == 0)
			return i;
	}
	return len;
}

bool dtx_utf8_is_space(uint32_t cp)
{
	if (cp < 0x80)
		return cp == ' ' || (cp >= '\t' && cp <= '\r');
	return cp == 0x85 || cp == 0xa0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) ||
	       cp == 0x2028 || cp == 0x2029 || cp == 0x202f || cp == 0x205f || cp == 0x3000;
}

/* Start of the code point that ends at `end`. */
static size_t utf8_back(const char *text, size_t end)
{
	size_t at = end - 1, steps = 0;

	while (at && steps++ < 3 && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	return at;
}

/* Whether the byte is a visible character of ASCII. */
static bool is_visible(char c)
{
	return c > ' ' && c < 0x7f;
}

struct dtx_str dtx_utf8_trim(struct dtx_str s)
{
	size_t pos = 0, next = 0, at;

	if (s.len && is_visible(s.ptr[0]) && is_visible(s.ptr[s.len - 1]))
		return s; /* the usual case */
	while (pos < s.len && dtx_utf8_is_space(dtx_utf8_next(s.ptr, s.len, &next)))
		pos = next;
	if (!s.len)
		return s; /* The text may be empty with a NULL address. */
	s.ptr += pos;
	s.len -= pos;
	while (s.len) {
		at = next = utf8_back(s.ptr, s.len);
		if (!dtx_utf8_is_space(dtx_utf8_next(s.ptr, s.len, &next)) || next != s.len)
			break;
		s.len = at;
	}
	return s;
}

bool dtx_utf8_is_blank(struct dtx_str s)
{
	return dtx_utf8_trim(s).len == 0;
}

static void utf8_add(struct dtx_buf *out, uint32_t cp)
{
	char bytes[4];

	dtx_buf_addn(out, bytes, dtx_utf8_put(bytes, cp));
}

static const uint16_t *utf8_upper_find(uint32_t cp)
{
	size_t lo = 0, hi = DTX_COUNT(utf8_uppers);

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (utf8_uppers[mid].cp == cp)
			return utf8_uppers[mid].to;
		if (utf8_uppers[mid].cp < cp)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

void dtx_utf8_upper(struct dtx_buf *out, struct dtx_str s)
{
	size_t pos = 0, i;

	while (pos < s.len) {
		uint32_t cp = dtx_utf8_next(s.ptr, s.len, &pos);
		const uint16_t *full = cp < 0x80 ? NULL : utf8_upper_find(cp);

		if (!full)
			utf8_add(out, (uint32_t)utf8proc_toupper((utf8proc_int32_t)cp));
		for (i = 0; full && i < 3 && full[i]; i++)
			utf8_add(out, full[i]);
	}
}

static bool utf8_cased(uint32_t cp)
{
	utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);

	return c == UTF8PROC_CATEGORY_LU || c == UTF8PROC_CATEGORY_LL || c == UTF8PROC_CATEGORY_LT;
}

static bool utf8_case_ignorable(uint32_t cp)
{
	utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);

	return c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_ME ||
	       c == UTF8PROC_CATEGORY_CF || c == UTF8PROC_CATEGORY_LM ||
	       c == UTF8PROC_CATEGORY_SK || cp == '\'' || cp == '.' || cp == ':' || cp == 0xb7 ||
	       cp == 0x2018 || cp == 0x2019 || cp == 0x2024 || cp == 0x2027;
}

/* The rule Final_Sigma of Unicode: there is a cased letter before `at` and none after `end`. */
static bool utf8_final_sigma(struct dtx_str s, size_t at, size_t end)
{
	uint32_t cp = 0;
	size_t pos;

	while (at) {
		pos = at = utf8_back(s.ptr, at);
		cp = dtx_utf8_next(s.ptr, s.len, &pos);
		if (!utf8_case_ignorable(cp))
			break;
	}
	if (!utf8_cased(cp))
		return false;
	while (end < s.len) {
		cp = dtx_utf8_next(s.ptr, s.len, &end);
		if (!utf8_case_ignorable(cp))
			return !utf8_cased(cp);
	}
	return true;
}

void dtx_utf8_lower(struct dtx_buf *out, struct dtx_str s)
{
	size_t pos = 0;

	while (pos < s.len) {
		size_t at = pos;
		uint32_t cp = dtx_utf8_next(s.ptr, s.len, &pos);

		if (cp == 0x3a3 && utf8_final_sigma(s, at, pos)) {
			utf8_add(out, 0x3c2);
		} else if (cp == 0x130) {
			utf8_add(out, 'i');
			utf8_add(out, 0x307);
		} else {
			utf8_add(out, (uint32_t)utf8proc_tolower((utf8proc_int32_t)cp));
		}
	}
}

void dtx_utf8_fold(struct dtx_buf *out, struct dtx_str s)
{
	size_t pos = 0;

	while (pos < s.len) {
		utf8proc_int32_t to[4], cp;
		int bound = 0;
		utf8proc_ssize_t n, i;

		cp = (utf8proc_int32_t)dtx_utf8_next(s.ptr, s.len, &pos);
		n = utf8proc_decompose_char(cp, to, 4, UTF8PROC_CASEFOLD, &bound);
		for (i = 0; i < n && i < 4; i++)
			utf8_add(out, (uint32_t)to[i]);
	}
}

bool dtx_utf8_steers(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp <= 0x9f) || (cp >= 0x202a && cp <= 0x202e) ||
	       (cp >= 0x2066 && cp <= 0x2069);
}

bool dtx_utf8_hides(uint32_t cp)
{
	return dtx_utf8_steers(cp) || cp == 0xad || cp == 0x61c || (cp >= 0x200b && cp <= 0x200f) ||
	       (cp >= 0x2028 && cp <= 0x2029) || (cp >= 0x2060 && cp <= 0x2065) || cp == 0xfeff ||
	       (cp >= 0xe0000 && cp <= 0xe007f);
}

uint32_t dtx_utf8_first(const char *text, bool (*which)(uint32_t), const char *allowed)
{
	size_t pos = 0, len = strlen(text);

	while (pos < len) {
		uint32_t cp = dtx_utf8_next(text, len, &pos);

		if (which(cp) && !(cp < 0x80 && strchr(allowed, (int)cp)))
			return cp;
	}
	return 0;
}

void dtx_utf8_spell(struct dtx_buf *out, struct dtx_str s, bool (*which)(uint32_t),
                    const char *keep)
{
	size_t pos = 0, from = 0;

	while (pos < s.len) {
		size_t at = pos;
		uint32_t cp = dtx_utf8_next(s.ptr, s.len, &pos);
		/* a line that ends in \r\n ends as one in \n */
		char as = cp == '\r' && pos < s.len && s.ptr[pos] == '\n' ? '\n' : (char)cp;
		bool kept = !which(cp) || (cp && cp < 0x80 && strchr(keep, as));

		if (kept && cp != UTF8_REPLACEMENT)
			continue;
		dtx_buf_addn(out, s.ptr + from, at - from);
		from = pos;
		if (kept)
			dtx_buf_add(out, "\xef\xbf\xbd");
		else if (cp == '\n' || cp == '\t' || cp == '\r')
			dtx_buf_add(out, cp == '\n' ? "\\n" : cp == '\t' ? "\\t" : "\\r");
		else
			dtx_buf_printf(out, cp < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)cp);
	}
	dtx_buf_addn(out, s.ptr + from, s.len - from);
}

bool dtx_utf8_is_word(uint32_t cp)
{
	utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);

	return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_NO;
}

void dtx_utf8_title(struct dtx_buf *out, struct dtx_str s)
{
	size_t pos = 0, word = 0;
	bool inside = false;

	while (pos < s.len) {
		size_t from = pos;
		uint32_t cp = dtx_utf8_next(s.ptr, s.len, &pos);
		bool letter = dtx_utf8_is_word(cp) || (inside && (cp == '\'' || cp == 0x2019));

		if (letter && !inside) {
			dtx_utf8_upper(out, (struct dtx_str){ s.ptr + from, pos - from });
			word = pos;
		} else if (!letter) {
			if (inside)
				dtx_utf8_lower(out, (struct dtx_str){ s.ptr + word, from - word });
			dtx_buf_addn(out, s.ptr + from, pos - from);
		}
		inside = letter;
	}
	if (inside)
		dtx_utf8_lower(out, (struct dtx_str){ s.ptr + word, s.len - word });
}

/* The code points of the decomposed text, which the caller frees.  NULL: out of memory, or the text
 * is not valid. */
static utf8proc_int32_t *utf8_decomposed(struct dtx_str s, utf8proc_option_t how, size_t *n)
{
	const utf8proc_uint8_t *text = (const utf8proc_uint8_t *)s.ptr;
	utf8proc_ssize_t got = utf8proc_decompose(text, (utf8proc_ssize_t)s.len, NULL, 0, how);
	utf8proc_int32_t *cp = got < 0 ? NULL : dtx_mem_alloc((size_t)got + 1, sizeof(*cp));

	if (!cp)
		return NULL;
	got = utf8proc_decompose(text, (utf8proc_ssize_t)s.len, cp, got, how);
	if (got > 0 && how & UTF8PROC_COMPOSE)
		got = utf8proc_normalize_utf32(cp, got, how);
	if (got < 0) {
		dtx_mem_free(cp);
		return NULL;
	}
	*n = (size_t)got;
	return cp;
}

static bool utf8_is_ascii(struct dtx_str s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.ptr[i] >= 0x80)
			return false;
	return true;
}

void dtx_utf8_normal(struct dtx_buf *out, struct dtx_str s, enum dtx_utf8_form form)
{
	static const utf8proc_option_t how[] = {
		[DTX_UTF8_NFC] = UTF8PROC_STABLE | UTF8PROC_COMPOSE,
		[DTX_UTF8_NFD] = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE,
		[DTX_UTF8_NFKC] = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT,
		[DTX_UTF8_NFKD] = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT,
	};
	utf8proc_int32_t *cp;
	size_t n = 0;

	if (utf8_is_ascii(s)) {
		dtx_buf_adds(out, s);
		return;
	}
	cp = utf8_decomposed(s, how[form], &n);
	if (!cp)
		out->fail = DTX_BUF_MEM;
	for (size_t i = 0; i < n; i++)
		utf8_add(out, (uint32_t)cp[i]);
	dtx_mem_free(cp);
}

void dtx_utf8_to_ascii(struct dtx_buf *out, struct dtx_str s, const char *other)
{
	static const struct {
		uint32_t cp;
		const char *text;
	} spelled[] = {
		{ 0xc6, "AE" },  { 0xe6, "ae" },   { 0xd8, "O" },  { 0xf8, "o" },  { 0xdf, "ss" },
		{ 0xd0, "D" },   { 0xf0, "d" },    { 0xde, "TH" }, { 0xfe, "th" }, { 0x110, "D" },
		{ 0x111, "d" },  { 0x131, "i" },   { 0x141, "L" }, { 0x142, "l" }, { 0x152, "OE" },
		{ 0x153, "oe" }, { 0x1e9e, "SS" },
	};
	size_t n = 0;
	utf8proc_int32_t *cp =
		utf8_decomposed(s, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT, &n);

	if (!cp)
		out->fail = DTX_BUF_MEM;
	for (size_t i = 0; i < n; i++) {
		const char *text = other;
		char own[5] = "";

		if (utf8proc_category(cp[i]) == UTF8PROC_CATEGORY_MN)
			continue;
		for (size_t k = 0; k < DTX_COUNT(spelled); k++)
			if (spelled[k].cp == (uint32_t)cp[i])
				text = spelled[k].text;
		if (cp[i] < 0x80 || !text)
			dtx_buf_addn(out, own, dtx_utf8_put(own, (uint32_t)cp[i]));
		else
			dtx_buf_add(out, text);
	}
	dtx_mem_free(cp);
}

size_t dtx_utf8_width(const char *text, size_t len)
{
	size_t pos = 0, width = 0;

	while (pos < len) {
		int w = utf8proc_charwidth((utf8proc_int32_t)dtx_utf8_next(text, len, &pos));

		width += w > 0 ? (size_t)w : 0;
	}
	return width;
}
