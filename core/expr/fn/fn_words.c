/* Text: letter case, words, characters and their codes. */
#include "core/expr/bound.h"

#include "core/base/hash/hash.h"
#include "core/base/text/num.h"
#include "core/base/text/utf8.h"
#include "core/data/cast/decimal.h"

/* --- case and spaces --- */

DTX_FN_ROW(row_bytes)
{
	(void)c, (void)run, (void)err;
	out->u.i = (int64_t)arg[0].u.s.len;
	return DTX_OK;
}

DTX_FN_ROW(row_title)
{
	(void)c, (void)err;
	dtx_utf8_title(run->buf, arg[0].u.s);
	return dtx_fn_made(run, out);
}

DTX_FN_ROW(row_capitalize)
{
	struct dtx_str s = arg[0].u.s;
	size_t first = 0;

	(void)c, (void)err;
	if (s.len)
		dtx_utf8_next(s.ptr, s.len, &first);
	dtx_utf8_upper(run->buf, (struct dtx_str){ s.ptr, first });
	dtx_utf8_lower(run->buf, (struct dtx_str){ s.ptr + first, s.len - first });
	return dtx_fn_made(run, out);
}

DTX_FN_ROW(row_squeeze)
{
	struct dtx_str s = arg[0].u.s;
	bool inside = false;
	size_t pos = 0;

	(void)c, (void)err;
	while (pos < s.len) {
		size_t from = pos;
		bool space = dtx_utf8_is_space(dtx_utf8_next(s.ptr, s.len, &pos));

		if (!space)
			dtx_buf_addn(run->buf, s.ptr + from, pos - from);
		else if (!inside)
			dtx_buf_addc(run->buf, ' ');
		inside = space;
	}
	return dtx_fn_made(run, out);
}

DTX_FN_ROW(row_reverse)
{
	struct dtx_str s = arg[0].u.s;
	size_t end = s.len, at;

	(void)c, (void)err;
	while (end > 0) {
		for (at = end - 1; at > 0 && ((unsigned char)s.ptr[at] & 0xc0) == 0x80; at--)
			;
		dtx_buf_addn(run->buf, s.ptr + at, end - at);
		end = at;
	}
	return dtx_fn_made(run, out);
}

/* --- words --- */

/* The next run of characters that are not spaces, from *pos on.  False if none. */
static bool next_word(struct dtx_str s, size_t *pos, struct dtx_str *word)
{
	size_t start = s.len;

	while (*pos < s.len) {
		size_t from = *pos;
		bool space = dtx_utf8_is_space(dtx_utf8_next(s.ptr, s.len, pos));

		if (!space && start == s.len)
			start = from;
		if (space && start < s.len) {
			*word = (struct dtx_str){ s.ptr + start, from - start };
			return true;
		}
	}
	*word = (struct dtx_str){ s.ptr + start, s.len - start };
	return start < s.len;
}

DTX_FN_ROW(row_word)
{
	struct dtx_str s = arg[0].u.s, word;
	int64_t n = arg[1].u.i, count = 0;
	size_t pos = 0;

	(void)c, (void)run, (void)err;
	while (n < 0 && next_word(s, &pos, &word))
		count++;
	n = n < 0 ? (n < -count ? 0 : count + n + 1) : n;
	out->null = n == 0;
	for (pos = 0; n > 0; n--) {
		if (!next_word(s, &pos, &out->u.s)) {
			out->null = true;
			break;
		}
	}
	return DTX_OK;
}

/* --- characters --- */

DTX_FN_ROW(row_code)
{
	struct dtx_str s = arg[0].u.s;
	size_t pos = 0;

	(void)c, (void)run, (void)err;
	out->null = s.len == 0;
	if (s.len)
		out->u.i = dtx_utf8_next(s.ptr, s.len, &pos);
	return DTX_OK;
}

DTX_FN_ROW(row_char)
{
	int64_t cp = arg[0].u.i;
	char bytes[4];

	(void)c;
	if (cp < 1 || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		return dtx_err_set(err, DTX_E_CAST_FAILED, __FILE__, __LINE__,
		                   "there is no character %lld", (long long)cp);
	dtx_buf_addn(run->buf, bytes, dtx_utf8_put(bytes, (uint32_t)cp));
	return dtx_fn_made(run, out);
}

DTX_FN_ROW(row_ascii_fold)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf parts = DTX_BUF_INIT(run->buf->max);

	dtx_utf8_to_ascii(&parts, arg[0].u.s, NULL);
	DTX_TRY(dtx_buf_check(&parts, c->fn->name, err));
	dtx_utf8_normal(run->buf, dtx_buf_str(&parts), DTX_UTF8_NFC);
	rc = dtx_fn_made(run, out);
out:
	dtx_buf_clear(&parts);
	return rc;
}

static const char *const forms[] = { "NFC", "NFD", "NFKC", "NFKD" };

static int form_of(const struct dtx_fncall *c)
{
	for (size_t i = 0; i < DTX_COUNT(forms) && !c->konst[1]->null; i++)
		if (dtx_str_ieq(c->konst[1]->u.s, dtx_str_of(forms[i])))
			return (int)i;
	return -1;
}

static enum dtx_code prep_normalize(struct dtx_arena *a, struct dtx_fncall *c, struct dtx_err *err)
{
	(void)a;
	if (form_of(c) >= 0)
		return DTX_OK;
	dtx_err_set(err, DTX_E_BAD_LITERAL, __FILE__, __LINE__, "no such form of Unicode text");
	dtx_err_hint(err, "'NFC', 'NFD', 'NFKC' or 'NFKD'");
	return DTX_E_BAD_LITERAL;
}

DTX_FN_ROW(row_normalize)
{
	(void)err;
	dtx_utf8_normal(run->buf, arg[0].u.s, (enum dtx_utf8_form)form_of(c));
	return dtx_fn_made(run, out);
}

/* detail: 0 keeps digits, 1 keeps letters, digits and spaces. */
DTX_FN_ROW(row_only)
{
	struct dtx_str s = arg[0].u.s;
	size_t pos = 0;

	(void)err;
	while (pos < s.len) {
		size_t from = pos;
		uint32_t cp = dtx_utf8_next(s.ptr, s.len, &pos);

		if (c->fn->detail ? dtx_utf8_is_word(cp) || dtx_utf8_is_space(cp)
		                  : cp >= '0' && cp <= '9')
			dtx_buf_addn(run->buf, s.ptr + from, pos - from);
	}
	return dtx_fn_made(run, out);
}

/* --- numbers for people --- */

#define DIGITS_MAX 400 /* enough for the largest float and the digits after its point */

struct digits {
	char d[DIGITS_MAX]; /* '0' to '9' */
	int n, exp10;       /* the value is 0.DIGITS * 10^exp10 */
	bool negative;
};

static void digits_of_whole(dtx_i128 v, unsigned scale, struct digits *x)
{
	char back[48];
	dtx_u128 u = v < 0 ? -(dtx_u128)v : (dtx_u128)v;
	int n = 0;

	for (; u; u /= 10)
		back[n++] = (char)('0' + (int)(u % 10));
	x->negative = v < 0;
	x->n = n;
	x->exp10 = n - (int)scale;
	for (int i = 0; i < n; i++)
		x->d[i] = back[n - 1 - i];
}

static void digits_of(struct dtx_typeref type, const struct dtx_val *v, struct digits *x)
{
	char d[20];

	if (type.type != DTX_T_FLOAT64) {
		bool dec = type.type == DTX_T_DECIMAL;

		digits_of_whole(dec ? v->u.dec : v->u.i, dec ? type.scale : 0, x);
		return;
	}
	x->n = (int)dtx_num_digits(v->u.f, d, &x->exp10);
	x->negative = v->u.f < 0;
	memcpy(x->d, d, (size_t)x->n);
}

/* Rounds half away from zero at `places` after the point. */
static void digits_round(struct digits *x, int places)
{
	int keep = x->exp10 + places, i;
	bool up;

	if (keep >= x->n)
		return;
	up = keep >= 0 && x->d[keep] >= '5';
	x->n = keep < 0 ? 0 : keep;
	for (i = x->n - 1; up && i >= 0; i--) {
		up = x->d[i] == '9';
		x->d[i] = up ? '0' : (char)(x->d[i] + 1);
	}
	if (!up)
		return;
	memmove(x->d + 1, x->d, (size_t)x->n);
	x->d[0] = '1';
	x->n++;
	x->exp10++;
}

static char digit_at(const struct digits *x, int i)
{
	return i >= 0 && i < x->n ? x->d[i] : '0';
}

static bool digits_zero(const struct digits *x)
{
	for (int i = 0; i < x->n; i++)
		if (x->d[i] != '0')
			return false;
	return true;
}

DTX_FN_ROW(row_format_number)
{
	int64_t places = arg[1].u.i;
	struct digits x = { .n = 0 };
	int whole, i;

	if (places < 0 || places > 30)
		return dtx_err_set(err, DTX_E_CAST_FAILED, __FILE__, __LINE__,
		                   "format_number() shows 0 to 30 digits, not %lld",
		                   (long long)places);
	digits_of(c->argtype[0], &arg[0], &x);
	digits_round(&x, (int)places);
	whole = DTX_MAX(x.exp10, 1);
	dtx_buf_add(run->buf, x.negative && !digits_zero(&x) ? "-" : "");
	for (i = 0; i < whole; i++) {
		dtx_buf_addc(run->buf, digit_at(&x, i - (whole - x.exp10)));
		if ((whole - i - 1) % 3 == 0 && i + 1 < whole)
			dtx_buf_adds(run->buf, arg[2].u.s);
	}
	for (i = 0; i < places; i++) {
		dtx_buf_add(run->buf, i ? "" : ".");
		dtx_buf_addc(run->buf, digit_at(&x, x.exp10 + i));
	}
	return dtx_fn_made(run, out);
}

/* --- digests --- */

DTX_FN_ROW(row_md5)
{
	char hex[DTX_MD5_HEX];

	(void)c, (void)err;
	dtx_md5_hex(arg[0].u.s.ptr, arg[0].u.s.len, hex);
	dtx_buf_add(run->buf, hex);
	return dtx_fn_made(run, out);
}

DTX_FN_ROW(row_sha256)
{
	char hex[DTX_SHA256_HEX];

	(void)c, (void)err;
	dtx_sha256_hex(arg[0].u.s.ptr, arg[0].u.s.len, hex);
	dtx_buf_add(run->buf, hex);
	return dtx_fn_made(run, out);
}

#define WORDS(NAME, SIG, RESULT, ROWFN, DETAIL, HELP, EXAMPLE, VALUE)                              \
	{                                                                                          \
		.name = NAME, .sig = SIG, .result = RESULT, .row = (ROWFN), .detail = (DETAIL),    \
		.pandas = "dx.fn(\"" NAME "\", {*})", .help = HELP, .example = EXAMPLE,            \
		.value = VALUE                                                                     \
	}

static const struct dtx_fn rows[] = {
	WORDS("bytes", "t:T", "I", row_bytes, 0, "number of bytes in UTF-8", "bytes('h\xc3\xa9')",
	      "3"),
	WORDS("title", "t:T", "T", row_title, 0,
	      "every word with a capital, the rest in lower case", "title('it''s NEW')",
	      "It's New"),
	WORDS("capitalize", "t:T", "T", row_capitalize, 0,
	      "first letter in upper case, all others in lower case", "capitalize('oLD tOWN')",
	      "Old town"),
	WORDS("squeeze", "t:T", "T", row_squeeze, 0, "each run of blanks as one space",
	      "squeeze('a   b')", "a b"),
	WORDS("reverse", "t:T", "T", row_reverse, 0, "characters from the last to the first",
	      "reverse('abc')", "cba"),
	WORDS("word", "t:T, n:I", "T", row_word, 0,
	      "word n between blanks, from 1, negative from the end; null out of range",
	      "word('one two three', -1)", "three"),
	WORDS("code", "t:T", "I", row_code, 0, "code point of the first character; null without",
	      "code('A')", "65"),
	{ .name = "char",
	  .sig = "n:I",
	  .result = "T",
	  .flags = DTX_FN_CASTS,
	  .row = row_char,
	  .pandas = "dx.fn(\"char\", {*})",
	  .help = "the character of a code point",
	  .example = "char(8364)",
	  .value = "\xe2\x82\xac" },
	WORDS("ascii_fold", "t:T", "T", row_ascii_fold, 0,
	      "letters without their marks; what has no ASCII form stays",
	      "ascii_fold('Cr\xc3\xa8me')", "Creme"),
	{ .name = "normalize",
	  .sig = "t:T, form:t='NFC'",
	  .result = "T",
	  .prep = prep_normalize,
	  .row = row_normalize,
	  .pandas = "dx.fn(\"normalize\", {*})",
	  .help = "a Unicode form: NFC, NFD, NFKC, NFKD",
	  .example = "length(normalize('e\xcc\x81'))",
	  .value = "1" },
	WORDS("only_digits", "t:T", "T", row_only, 0, "the digits 0 to 9 of t",
	      "only_digits('+49 (0)30')", "49030"),
	WORDS("remove_punct", "t:T", "T", row_only, 1, "letters, digits and blanks of t",
	      "remove_punct('a.b, c!')", "ab c"),
	{ .name = "format_number",
	  .sig = "x:N, digits:I, group:T=','",
	  .result = "T",
	  .flags = DTX_FN_CASTS,
	  .row = row_format_number,
	  .pandas = "dx.fn(\"format_number\", {*})",
	  .help = "x with this many digits after the point, and groups of three before it",
	  .example = "format_number(-1234567.855, 2)",
	  .value = "-1,234,567.86" },
	WORDS("md5", "t:T", "T", row_md5, 0, "MD5 of the UTF-8 bytes, in hex", "md5('')",
	      "d41d8cd98f00b204e9800998ecf8427e"),
	WORDS("sha256", "t:T", "T", row_sha256, 0, "SHA-256 of the UTF-8 bytes, in hex",
	      "left(sha256(''), 8)", "e3b0c442"),
};

const struct dtx_fn_table dtx_fn_words = { "words", "Words and characters", rows, DTX_COUNT(rows) };
