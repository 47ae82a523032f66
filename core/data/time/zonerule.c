/* Daylight saving time by a rule, for the years after the last one that a file lists. */
#include "core/data/time/zonerule.h"

#include "core/data/time/time.h"

#define DAY_SEC INT64_C(86400)

/* --- reading; each function takes what it reads from the front of *s --- */

static bool take(struct dtx_str *s, char c)
{
	if (!s->len || *s->ptr != c)
		return false;
	s->ptr++;
	s->len--;
	return true;
}

static bool take_number(struct dtx_str *s, int32_t max, int32_t *out)
{
	size_t i = 0;

	for (*out = 0; i < s->len && i < 4 && s->ptr[i] >= '0' && s->ptr[i] <= '9'; i++)
		*out = *out * 10 + (s->ptr[i] - '0');
	s->ptr += i;
	s->len -= i;
	return i && *out <= max;
}

/* Letters, or anything between < and >. */
static bool take_name(struct dtx_str *s)
{
	bool quoted = take(s, '<');
	size_t n = 0;

	while (n < s->len && (quoted ? s->ptr[n] != '>'
	                             : (s->ptr[n] >= 'A' && s->ptr[n] <= 'Z') ||
	                                       (s->ptr[n] >= 'a' && s->ptr[n] <= 'z')))
		n++;
	s->ptr += n;
	s->len -= n;
	return n && (!quoted || take(s, '>'));
}

/* [+-]hh[:mm[:ss]] in seconds */
static bool take_time(struct dtx_str *s, int32_t *out)
{
	bool minus = take(s, '-');
	int32_t h, m = 0, sec = 0;

	if (!minus)
		(void)take(s, '+');
	if (!take_number(s, 167, &h) || (take(s, ':') && !take_number(s, 59, &m)) ||
	    (take(s, ':') && !take_number(s, 59, &sec)))
		return false;
	*out = (h * 3600 + m * 60 + sec) * (minus ? -1 : 1);
	return true;
}

static bool take_change(struct dtx_str *s, struct dtx_zonechange *c)
{
	*c = (struct dtx_zonechange){ .kind = 'n', .sec = 7200 };
	if (!take(s, ','))
		return false;
	if (take(s, 'M')) {
		c->kind = 'M';
		if (!take_number(s, 12, &c->month) || !take(s, '.') ||
		    !take_number(s, 5, &c->week) || !take(s, '.') || !take_number(s, 6, &c->day) ||
		    !c->month || !c->week)
			return false;
	} else {
		c->kind = take(s, 'J') ? 'J' : 'n';
		if (!take_number(s, 365, &c->day) || (c->kind == 'J' && !c->day))
			return false;
	}
	return !take(s, '/') || take_time(s, &c->sec);
}

bool dtx_zonerule_parse(struct dtx_str s, struct dtx_zonerule *out)
{
	int32_t west;

	*out = (struct dtx_zonerule){ 0 };
	if (!take_name(&s) || !take_time(&s, &west))
		return false;
	out->standard = out->summer = -west;
	out->changes = s.len != 0;
	if (!out->changes)
		return true;
	out->summer = out->standard + 3600;
	if (!take_name(&s))
		return false;
	if (s.len && *s.ptr != ',') {
		if (!take_time(&s, &west))
			return false;
		out->summer = -west;
	}
	return take_change(&s, &out->begin) && take_change(&s, &out->end) && !s.len;
}

/* --- applying --- */

static int64_t day_of_change(const struct dtx_zonechange *c, int32_t year)
{
	int64_t first = dtx_day_of(year, 1, 1), at;
	unsigned month = (unsigned)c->month;

	if (c->kind == 'n')
		return first + c->day;
	if (c->kind == 'J') /* day 60 is 1 March in every year */
		return c->day < 60 ? first + c->day - 1 : dtx_day_of(year, 3, 1) + c->day - 60;
	first = dtx_day_of(year, month, 1);
	at = first + (c->day - (int64_t)dtx_day_weekday((int32_t)first) % 7 + 7) % 7 +
	     (c->week - 1) * 7;
	/* the fifth week means the last */
	return at < dtx_day_of(year + (month == 12), month % 12 + 1, 1) ? at : at - 7;
}

int64_t dtx_zonerule_offset(const struct dtx_zonerule *r, int64_t sec)
{
	int64_t local = sec + r->standard, begin, end;
	unsigned month, dom;
	int32_t year;

	if (!r->changes)
		return r->standard;
	dtx_day_split((int32_t)(local / DAY_SEC - (local % DAY_SEC < 0)), &year, &month, &dom);
	begin = day_of_change(&r->begin, year) * DAY_SEC + r->begin.sec - r->standard;
	end = day_of_change(&r->end, year) * DAY_SEC + r->end.sec - r->summer;
	if (begin < end)
		return sec >= begin && sec < end ? r->summer : r->standard;
	return sec >= end && sec < begin ? r->standard : r->summer;
}
