/* Numbers as people write them: see numtext.h. */
#include "ops/kit/text/numtext.h"

#include <stdio.h>

#include "core/base/text/utf8.h"
#include "core/data/cast/cell_num.h"

static const char *const currencies[] = { "$",   "€",   "£",   "¥",   "₹",   "₽", "₩",
	                                  "₪",   "₺",   "₴",   "฿",   "kr",  "zł",  "Fr.",
	                                  "R$",  "US$", "USD", "EUR", "GBP", "JPY", "CHF",
	                                  "CNY", "INR", "AUD", "CAD", "NZD", "SEK", "NOK",
	                                  "DKK", "PLN", "CZK", "HUF", "BRL", "ZAR", "MXN",
	                                  "SGD", "HKD", "KRW", "TRY", "ILS", "RUB" };

static struct dtx_str cut(struct dtx_str s, size_t front, size_t back)
{
	return dtx_utf8_trim((struct dtx_str){ s.ptr + front, s.len - front - back });
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Removes the longest currency sign from one end. Most cells have none, so the bytes at both ends
 * are compared first. */
static bool cut_currency(struct dtx_str *s)
{
	char first = s->ptr[0], last = s->ptr[s->len - 1];
	size_t best = 0;
	bool front = false;

	if (is_digit(first) && is_digit(last))
		return false;
	for (size_t i = 0; i < DTX_COUNT(currencies); i++) {
		struct dtx_str c = dtx_str_of(currencies[i]);

		if (c.len <= best || c.len >= s->len)
			continue;
		if (c.ptr[0] == first && dtx_str_starts(*s, c)) {
			best = c.len;
			front = true;
		} else if (c.ptr[c.len - 1] == last && dtx_str_ends(*s, c)) {
			best = c.len;
			front = false;
		}
	}
	if (best)
		*s = cut(*s, front ? best : 0, front ? 0 : best);
	return best > 0;
}

/* U+2212 counts as a minus sign. */
static size_t minus_at(struct dtx_str s, bool front)
{
	const struct dtx_str wide = DTX_STR("\xe2\x88\x92");

	if (s.len && s.ptr[front ? 0 : s.len - 1] == '-')
		return 1;
	if (front ? dtx_str_starts(s, wide) : dtx_str_ends(s, wide))
		return wide.len;
	return 0;
}

struct marks {
	unsigned signs, parens, percents, money;
	bool negative;
};

/* Removes one sign from either end.  False if none left. */
static bool cut_mark(struct dtx_str *s, const struct dtx_numtext_rules *r, struct marks *m)
{
	size_t front = minus_at(*s, true), back = minus_at(*s, false);

	if (s->len > 2 && s->ptr[0] == '(' && s->ptr[s->len - 1] == ')') {
		*s = cut(*s, 1, 1);
		m->parens++;
		m->negative = true;
	} else if (s->len > 1 && s->ptr[0] == '+') {
		*s = cut(*s, 1, 0);
		m->signs++;
	} else if (s->len > front && front) {
		*s = cut(*s, front, 0);
		m->signs++;
		m->negative = true;
	} else if (s->len > back && back) {
		*s = cut(*s, 0, back);
		m->signs++;
		m->negative = true;
	} else if (s->len > 1 && s->ptr[s->len - 1] == '%') {
		*s = cut(*s, 0, 1);
		m->percents++;
	} else if (r->currency && m->money == 0 && cut_currency(s)) {
		m->money++;
	} else {
		return false;
	}
	return true;
}

/* Copies digits with groups to out.  *at moves past them. */
static bool whole_part(struct dtx_str s, char group, size_t *at, char *out, size_t *n)
{
	size_t run = 0, groups = 0, mark;

	for (; *at < s.len; (*at)++) {
		char c = s.ptr[*at];

		mark = dtx_group_at((struct dtx_str){ s.ptr + *at, s.len - *at }, group);

		if (is_digit(c)) {
			if (*n + 8 >= DTX_NUMTEXT_MAX)
				return false;
			out[(*n)++] = c;
			run++;
		} else if (mark) {
			if (groups ? run != 3 : run < 1 || run > 3)
				return false;
			groups++;
			run = 0;
			*at += mark - 1;
		} else {
			break;
		}
	}
	return groups ? run == 3 : true;
}

static bool exponent(struct dtx_str s, size_t *at, char *out, size_t *n)
{
	size_t from;

	if (*at >= s.len || (s.ptr[*at] != 'e' && s.ptr[*at] != 'E'))
		return true;
	out[(*n)++] = 'e';
	(*at)++;
	if (*at < s.len && (s.ptr[*at] == '-' || s.ptr[*at] == '+'))
		out[(*n)++] = s.ptr[(*at)++];
	for (from = *at; *at < s.len && is_digit(s.ptr[*at]) && *at - from < 4; (*at)++)
		out[(*n)++] = s.ptr[*at];
	return *at > from;
}

static bool digits(struct dtx_str s, const struct dtx_numtext_rules *r, char *out, size_t *n,
                   unsigned *places)
{
	size_t at = 0, whole = *n;

	*places = 0;
	if (!whole_part(s, r->group, &at, out, n))
		return false;
	whole = *n - whole;
	if (whole == 0)
		out[(*n)++] = '0';
	if (at < s.len && s.ptr[at] == r->decimal) {
		out[(*n)++] = '.';
		for (at++; at < s.len && is_digit(s.ptr[at]); at++) {
			if (*n + 8 >= DTX_NUMTEXT_MAX)
				return false;
			out[(*n)++] = s.ptr[at];
			(*places)++;
		}
		if (*places == 0)
			(*n)--;
	}
	return (whole || *places) && exponent(s, &at, out, n) && at == s.len;
}

/* Moves the decimal point two places to the left: 12.5 becomes 0.125.  It works on the digits, so
 * nothing is rounded. */
static bool to_ratio(char *out, size_t *n, unsigned *places)
{
	char digit[DTX_NUMTEXT_MAX];
	size_t sign = out[0] == '-', len = 0, whole = *n - sign, pad;

	if (memchr(out, 'e', *n) || *n + 6 >= DTX_NUMTEXT_MAX)
		return false;
	for (size_t i = sign; i < *n; i++) {
		if (out[i] == '.')
			whole = i - sign;
		else
			digit[len++] = out[i];
	}
	pad = whole < 3 ? 3 - whole : 0;
	whole = whole + pad - 2;
	*n = sign;
	for (size_t i = 0; i < pad + len; i++) {
		if (i == whole)
			out[(*n)++] = '.';
		out[(*n)++] = i < pad ? '0' : digit[i - pad];
	}
	*places += 2;
	return true;
}

bool dtx_numtext(struct dtx_str text, const struct dtx_numtext_rules *rules,
                 char out[DTX_NUMTEXT_MAX], size_t *len, unsigned *places)
{
	struct dtx_str s = dtx_utf8_trim(text);
	struct marks m = { 0 };
	size_t n = 0;

	while (s.len && cut_mark(&s, rules, &m))
		;
	if (!s.len || m.signs + m.parens > 1 || m.percents > 1 ||
	    (m.percents && rules->percent == DTX_PERCENT_ERROR))
		return false;
	if (m.negative)
		out[n++] = '-';
	if (!digits(s, rules, out, &n, places))
		return false;
	if (m.percents && rules->percent == DTX_PERCENT_RATIO && !to_ratio(out, &n, places))
		return false;
	out[n] = '\0';
	*len = n;
	return true;
}
