/* Dates as people write them, in a declared order: see datetext.h. */
#include "ops/kit/text/datetext.h"

#include "core/base/text/utf8.h"
#include "core/data/time/time.h"

#define MICRO ((int64_t)1000000)

static bool is_digit(struct dtx_str s, size_t at)
{
	return at < s.len && s.ptr[at] >= '0' && s.ptr[at] <= '9';
}

/* Takes up to `most` digits and returns their number; 0 if none or more follow. */
static size_t take_digits(struct dtx_str *s, size_t most, int32_t *value)
{
	size_t n = 0;

	*value = 0;
	while (is_digit(*s, n) && n <= most)
		*value = *value * 10 + (s->ptr[n++] - '0');
	if (!n || n > most)
		return 0;
	s->ptr += n;
	s->len -= n;
	return n;
}

int32_t dtx_datetext_month(struct dtx_str word)
{
	static const char *const name[] = { "january",   "february", "march",    "april",
		                            "may",       "june",     "july",     "august",
		                            "september", "october",  "november", "december" };

	for (int32_t i = 0; i < 12; i++) {
		struct dtx_str full = dtx_str_of(name[i]);

		if (dtx_str_ieq(word, full) || dtx_str_ieq(word, (struct dtx_str){ full.ptr, 3 }))
			return i + 1;
	}
	return 0;
}

static bool take_month_name(struct dtx_str *s, int32_t *month)
{
	size_t n = 0;

	while (n < s->len && (s->ptr[n] | 0x20) >= 'a' && (s->ptr[n] | 0x20) <= 'z')
		n++;
	*month = dtx_datetext_month((struct dtx_str){ s->ptr, n });
	if (!*month)
		return false;
	s->ptr += n;
	s->len -= n;
	return true;
}

/* Takes one of - / . or spaces, which a comma may precede.  *sep is the character. */
static bool take_separator(struct dtx_str *s, char *sep)
{
	size_t n = 0;

	if (s->len > 1 && s->ptr[0] == ',' && s->ptr[1] == ' ')
		n = 1;
	if (n >= s->len || !strchr("-/. ", s->ptr[n]) || !s->ptr[n])
		return false;
	*sep = s->ptr[n++];
	while (*sep == ' ' && n < s->len && s->ptr[n] == ' ')
		n++;
	s->ptr += n;
	s->len -= n;
	return true;
}

struct parts {
	int32_t year, month, day;
	size_t year_digits;
};

static bool take_part(struct dtx_str *s, char what, struct parts *p)
{
	switch (what) {
	case 'd': return take_digits(s, 2, &p->day) > 0;
	case 'm': return take_month_name(s, &p->month) || take_digits(s, 2, &p->month) > 0;
	default:
		p->year_digits = take_digits(s, 4, &p->year);
		return p->year_digits == 4 || p->year_digits == 2;
	}
}

/* Reads " 9:30 PM" or "T14:30:00.25+02:00" to the end of the text.  Empty text is midnight. */
static bool take_time(struct dtx_str s, int64_t *us)
{
	int32_t hour, minute, second = 0;
	int64_t part = 0, offset = 0;
	struct dtx_str half;

	*us = 0;
	if (!s.len)
		return true;
	if (s.ptr[0] != ' ' && s.ptr[0] != 'T')
		return false;
	s = dtx_utf8_trim((struct dtx_str){ s.ptr + 1, s.len - 1 });
	if (!take_digits(&s, 2, &hour) || !s.len || s.ptr[0] != ':')
		return false;
	s = (struct dtx_str){ s.ptr + 1, s.len - 1 };
	if (take_digits(&s, 2, &minute) != 2)
		return false;
	if (s.len && s.ptr[0] == ':') {
		s = (struct dtx_str){ s.ptr + 1, s.len - 1 };
		if (take_digits(&s, 2, &second) != 2)
			return false;
		if (s.len > 1 && s.ptr[0] == '.') {
			s = (struct dtx_str){ s.ptr + 1, s.len - 1 };
			if (!dtx_fraction_take(&s, &part))
				return false;
		}
	}
	half = dtx_utf8_trim(s);
	if (dtx_offset_take(&half, &offset)) {
		if (half.len)
			return false;
	} else if (half.len) {
		bool pm = dtx_str_ieq(half, DTX_STR("pm"));

		if ((!pm && !dtx_str_ieq(half, DTX_STR("am"))) || hour < 1 || hour > 12)
			return false;
		hour = hour % 12 + (pm ? 12 : 0);
	}
	if (hour > 23 || minute > 59 || second > 59)
		return false;
	*us = (((int64_t)hour * 60 + minute) * 60 + second) * MICRO + part - offset;
	return true;
}

bool dtx_datetext_parse(struct dtx_str text, enum dtx_date_order order, int32_t century,
                        struct dtx_datetext *out)
{
	static const char *const parts[] = { "dmy", "mdy", "ymd" };
	const char *what = parts[order];
	struct parts p = { 0, 0, 0, 0 };
	char sep[2] = { 0, 0 };
	int64_t us;

	text = dtx_utf8_trim(text);
	for (int i = 0; i < 3; i++)
		if (!take_part(&text, what[i], &p) || (i < 2 && !take_separator(&text, &sep[i])))
			return false;
	if (sep[0] != sep[1] || !take_time(text, &us))
		return false;
	out->two_digit = p.year_digits == 2;
	if (out->two_digit)
		p.year = dtx_year_of_two(p.year, century);
	if (!dtx_day_valid(p.year, (unsigned)p.month, (unsigned)p.day))
		return false;
	out->us = dtx_day_of(p.year, (unsigned)p.month, (unsigned)p.day) * DTX_DAY_US + us;
	return dtx_us_ok(out->us);
}
