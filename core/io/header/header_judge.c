/* Distinguishes values from names by the text of a cell. */
#include "core/base/text/utf8.h"
#include "core/data/time/time.h"
#include "core/io/header/header.h"

enum { CELL_CHARS_MAX = 255 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool dtx_head_is_missing_word(struct dtx_str s)
{
	static const char *const word[] = { "true", "false", "nan",    "na",     "n/a", "null",
		                            "none", "-",     "\u2013", "\u2014", ".",   "\\N" };
	size_t i;

	for (i = 0; i < DTX_COUNT(word); i++) {
		if (dtx_str_ieq(s, dtx_str_of(word[i])))
			return true;
	}
	return false;
}

/* Whether a sign at i is one of a number: at the start, after a bracket, blank, exponent or
 * currency, or as the last character. "31-60" and "90+" are labels. */
static bool sign_allowed(struct dtx_str s, size_t i)
{
	char before = i ? s.ptr[i - 1] : ' ';

	return !(is_digit(before) || before == '.' || before == '%') ||
	       (i + 1 == s.len && s.ptr[i] == '-');
}

/* Whether the character before a digit is a sign. Letters of another alphabet make it a name, "単価
 * 2016"; currencies, blanks and dashes of Unicode do not. */
static bool is_sign(struct dtx_str s, size_t at)
{
	uint32_t cp = dtx_utf8_next(s.ptr, s.len, &at);

	return (cp >= 0xa0 && cp <= 0xbf) || (cp >= 0x2000 && cp <= 0x20cf) || cp == 0x2212 ||
	       cp == 0x202f || cp == 0x3000 || cp == 0xfeff || cp >= 0xff00;
}

static bool is_number_like(struct dtx_str s)
{
	bool digit = false;
	size_t i;

	for (i = 0; i < s.len; i++) {
		char c = s.ptr[i];

		if (is_digit(c)) {
			digit = true;
		} else if (c == '+' || c == '-') {
			if (!sign_allowed(s, i))
				return false;
		} else if (c == 'e' || c == 'E') {
			if (!i || !is_digit(s.ptr[i - 1]) || i + 1 == s.len)
				return false;
		} else if (c == ',') {
			if (i + 1 == s.len || !is_digit(s.ptr[i + 1]))
				return false;
		} else if ((unsigned char)c >= 0xc0
		                   ? !digit && !is_sign(s, i)
		                   : (unsigned char)c < 0x80 && (!c || !strchr(". '%$()", c))) {
			return false;
		}
	}
	return digit;
}

static bool is_year(struct dtx_str s)
{
	return s.len == 4 && is_digit(s.ptr[2]) && is_digit(s.ptr[3]) &&
	       ((s.ptr[0] == '1' && s.ptr[1] == '9') || (s.ptr[0] == '2' && s.ptr[1] == '0'));
}

enum dtx_head_kind dtx_head_judge(struct dtx_str text)
{
	struct dtx_str s = dtx_utf8_trim(text);
	int64_t us;
	int32_t day;
	bool zoned;

	if (!s.len)
		return DTX_HEAD_BLANK;
	if (s.len > 64)
		return DTX_HEAD_TEXT;
	if (is_year(s) || dtx_day_parse(s, &day) || dtx_datetime_parse(s, &us, &zoned))
		return DTX_HEAD_YEAR;
	if (dtx_head_is_missing_word(s) || is_number_like(s))
		return DTX_HEAD_VALUE;
	return DTX_HEAD_TEXT;
}

enum dtx_head_kind dtx_head_cell_kind(const struct dtx_head_cell *c)
{
	return c->wide                    ? DTX_HEAD_BLANK
	       : c->kind == DTX_HEAD_TEXT ? dtx_head_judge(c->text)
	                                  : c->kind;
}

/* Whether the cell is too long for a name. Characters of a huge cell are not counted. */
static bool is_long(struct dtx_str s)
{
	return s.len > CELL_CHARS_MAX && (s.len > (size_t)4 * CELL_CHARS_MAX ||
	                                  dtx_utf8_count(s.ptr, s.len) > CELL_CHARS_MAX);
}

bool dtx_head_like(const struct dtx_head_cell *cell, uint32_t ncols, int64_t *bad)
{
	int64_t value = -1, year = -1;
	uint32_t texts = 0, i;

	for (i = 0; i < ncols && value < 0; i++) {
		enum dtx_head_kind kind = dtx_head_cell_kind(&cell[i]);

		if (kind == DTX_HEAD_VALUE)
			value = i;
		else if (kind == DTX_HEAD_YEAR && year < 0)
			year = i;
		else if (kind == DTX_HEAD_TEXT && is_long(cell[i].text))
			value = i;
		texts += kind == DTX_HEAD_TEXT;
	}
	if (value < 0 && !texts)
		value = year;
	if (bad)
		*bad = value;
	return value < 0 && texts;
}

/* Contract in header.h. */
bool dtx_head_is_local_date(struct dtx_str text)
{
	struct dtx_str s = dtx_utf8_trim(text);
	size_t part = 0, digits = 0, i;
	char mark = 0;

	for (i = 0; i < s.len; i++) {
		if (is_digit(s.ptr[i])) {
			digits++;
			continue;
		}
		if (!strchr("./-", s.ptr[i]) || (mark && s.ptr[i] != mark) || !digits || digits > 2)
			return false;
		mark = s.ptr[i];
		digits = 0;
		part++;
	}
	return part == 2 && (digits == 2 || digits == 4);
}
