/* The proleptic Gregorian calendar, ISO 8601, Excel serial numbers, calendar steps. */
#include "core/data/time/time.h"

#include <math.h>
#include <stdio.h>

#define TIME_SEC_US ((int64_t)1000000)

/* Howard Hinnant's days_from_civil and civil_from_days ("chrono-Compatible Low-Level Date
 * Algorithms"). */
int32_t dtx_day_of(int32_t year, unsigned month, unsigned day)
{
	int32_t y = year - (month <= 2);
	int32_t era = (y >= 0 ? y : y - 399) / 400;
	int32_t yoe = y - era * 400;
	int32_t doy = (int32_t)((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day) - 1;
	int32_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;

	return era * 146097 + doe - 719468;
}

static void split_far(int32_t day, int32_t *year, unsigned *month, unsigned *dom)
{
	int64_t z = (int64_t)day + 719468;
	int64_t era = (z >= 0 ? z : z - 146096) / 146097;
	uint32_t doe = (uint32_t)(z - era * 146097);
	uint32_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	uint32_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	uint32_t mp = (5 * doy + 2) / 153;

	*dom = doy - (153 * mp + 2) / 5 + 1;
	*month = mp < 10 ? mp + 3 : mp - 9;
	*year = (int32_t)(yoe + era * 400 + (*month <= 2));
}

/* For days that 32 bits can handle (years -400 to over 10000): the algorithm of C. Neri and L.
 * Schneider, "Euclidean affine functions and their application to calendar algorithms" (2022).
 * March is the first month, and multiplications replace divisions. */
static inline void split_near(int32_t day, int32_t *year, unsigned *month, unsigned *dom)
{
	uint32_t n = 4 * ((uint32_t)day + 719468 + 4 * 146097) + 3;
	uint32_t in_century = n % 146097 / 4;
	uint64_t years = (uint64_t)2939745 * (4 * in_century + 3);
	uint32_t in_year = (uint32_t)years / 2939745 / 4;
	uint32_t months = 2141 * in_year + 197913;
	uint32_t late = in_year >= 306; /* January and February */

	*dom = (months & 0xffff) / 2141 + 1;
	*month = (months >> 16) - 12 * late;
	*year = (int32_t)(100 * (n / 146097) + (uint32_t)(years >> 32) + late) - 4 * 400;
}

static inline void split(int32_t day, int32_t *year, unsigned *month, unsigned *dom)
{
	if (day > -4 * 146097 && day < 1000 * 146097 / 4)
		split_near(day, year, month, dom);
	else
		split_far(day, year, month, dom);
}

void dtx_day_split(int32_t day, int32_t *year, unsigned *month, unsigned *dom)
{
	split(day, year, month, dom);
}

static unsigned time_month_days(int32_t year, unsigned month)
{
	static const uint8_t days[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (unsigned)(month == 2 && leap);
}

bool dtx_day_valid(int32_t year, unsigned month, unsigned day)
{
	return year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 &&
	       day <= time_month_days(year, month);
}

unsigned dtx_day_weekday(int32_t day)
{
	return (unsigned)(((int64_t)day + 3) % 7 + 7) % 7 + 1;
}

static void time_digits(char *p, unsigned v, int n)
{
	for (; n > 0; v /= 10)
		p[--n] = (char)('0' + v % 10);
}

static inline void time_pair(char *p, unsigned v)
{
	p[0] = (char)('0' + v / 10);
	p[1] = (char)('0' + v % 10);
}

size_t dtx_day_print(char out[16], int32_t day)
{
	int32_t year;
	unsigned month, dom;
	size_t n = 4;

	split(day, &year, &month, &dom);
	if (year >= 0 && year <= 9999) {
		time_pair(out, (unsigned)year / 100);
		time_pair(out + 2, (unsigned)year % 100);
	} else {
		n = (size_t)snprintf(out, 16, "%+05d", year);
	}
	out[n] = out[n + 3] = '-';
	time_pair(out + n + 1, month);
	time_pair(out + n + 4, dom);
	out[n + 6] = '\0';
	return n + 6;
}

/* us = *day * DTX_DAY_US + the result, which is not negative. */
static int64_t time_split(int64_t us, int32_t *day)
{
	int64_t d = us / DTX_DAY_US, rest = us % DTX_DAY_US;

	if (rest < 0) {
		rest += DTX_DAY_US;
		d--;
	}
	*day = (int32_t)d;
	return rest;
}

size_t dtx_datetime_print(char out[40], int64_t us)
{
	int32_t day;
	int64_t rest = time_split(us, &day);
	unsigned sec = (unsigned)(rest / TIME_SEC_US), frac = (unsigned)(rest % TIME_SEC_US);
	size_t n = dtx_day_print(out, day);
	char *p = out + n;

	p[0] = 'T';
	p[3] = p[6] = ':';
	time_digits(p + 1, sec / 3600, 2);
	time_digits(p + 4, sec / 60 % 60, 2);
	time_digits(p + 7, sec % 60, 2);
	n += 9;
	if (frac) {
		out[n] = '.';
		time_digits(out + n + 1, frac, 6);
		for (n += 7; out[n - 1] == '0'; n--)
			;
	}
	out[n] = '\0';
	return n;
}

/* The n digits at p as a number; -1 if a character is not a digit. */
static int time_number(const char *p, int n)
{
	int v = 0;

	for (; n > 0; n--, p++) {
		if (*p < '0' || *p > '9')
			return -1;
		v = v * 10 + (*p - '0');
	}
	return v;
}

bool dtx_day_parse(struct dtx_str s, int32_t *day)
{
	int y, m, d;

	if (s.len != 10 || s.ptr[4] != '-' || s.ptr[7] != '-')
		return false;
	y = time_number(s.ptr, 4);
	m = time_number(s.ptr + 5, 2);
	d = time_number(s.ptr + 8, 2);
	if (y < 0 || m < 0 || d < 0 || !dtx_day_valid(y, (unsigned)m, (unsigned)d))
		return false;
	*day = dtx_day_of(y, (unsigned)m, (unsigned)d);
	return true;
}

bool dtx_fraction_take(struct dtx_str *s, int64_t *us)
{
	int scale = 100000;
	size_t n = 0;

	*us = 0;
	for (; n < s->len && s->ptr[n] >= '0' && s->ptr[n] <= '9'; n++, scale /= 10) {
		if (n >= 9 || (!scale && s->ptr[n] != '0'))
			return false;
		*us += (s->ptr[n] - '0') * scale;
	}
	*s = (struct dtx_str){ s->ptr + n, s->len - n };
	return n > 0;
}

/* Takes HH:MM[:SS[.fraction]] from the front of *s. */
static bool time_clock_parse(struct dtx_str *s, int64_t *us)
{
	int h, m, sec = 0;

	if (s->len < 5 || s->ptr[2] != ':')
		return false;
	h = time_number(s->ptr, 2);
	m = time_number(s->ptr + 3, 2);
	*s = (struct dtx_str){ s->ptr + 5, s->len - 5 };
	*us = 0;
	if (s->len >= 3 && s->ptr[0] == ':') {
		sec = time_number(s->ptr + 1, 2);
		*s = (struct dtx_str){ s->ptr + 3, s->len - 3 };
		if (s->len >= 2 && s->ptr[0] == '.') {
			*s = (struct dtx_str){ s->ptr + 1, s->len - 1 };
			if (!dtx_fraction_take(s, us))
				return false;
		}
	}
	if (h < 0 || h > 23 || m < 0 || m > 59 || sec < 0 || sec > 59)
		return false;
	*us += (h * 3600 + m * 60 + sec) * TIME_SEC_US;
	return true;
}

bool dtx_offset_take(struct dtx_str *s, int64_t *offset)
{
	bool colon = s->len >= 6 && s->ptr[3] == ':';
	size_t n = 1;
	int h, m = 0;

	*offset = 0;
	if (s->len && s->ptr[0] == 'Z')
		goto done;
	if (s->len < 3 || (s->ptr[0] != '+' && s->ptr[0] != '-'))
		return false;
	h = time_number(s->ptr + 1, 2);
	n = 3;
	if (colon || (s->len >= 5 && time_number(s->ptr + 3, 2) >= 0)) {
		m = time_number(s->ptr + 3 + colon, 2);
		n = 5 + (size_t)colon;
	}
	if (h < 0 || h > 23 || m < 0 || m > 59)
		return false;
	*offset = (h * 3600 + m * 60) * TIME_SEC_US * (s->ptr[0] == '-' ? -1 : 1);
done:
	*s = (struct dtx_str){ s->ptr + n, s->len - n };
	return true;
}

/* The rest of the text must be empty or an offset, which may follow a blank. */
static bool time_zone_parse(struct dtx_str s, int64_t *offset, bool *zoned)
{
	*offset = 0;
	*zoned = s.len != 0;
	if (!s.len)
		return true;
	if (s.ptr[0] == ' ')
		s = (struct dtx_str){ s.ptr + 1, s.len - 1 };
	return dtx_offset_take(&s, offset) && !s.len;
}

bool dtx_datetime_parse(struct dtx_str s, int64_t *us, bool *zoned)
{
	struct dtx_str rest;
	int32_t day;
	int64_t clock, offset;

	if (s.len < 16 || (s.ptr[10] != 'T' && s.ptr[10] != ' '))
		return false;
	rest = (struct dtx_str){ s.ptr + 11, s.len - 11 };
	if (!dtx_day_parse((struct dtx_str){ s.ptr, 10 }, &day) ||
	    !time_clock_parse(&rest, &clock) || !time_zone_parse(rest, &offset, zoned))
		return false;
	*us = day * DTX_DAY_US + clock - offset;
	return dtx_us_ok(*us);
}

bool dtx_serial_to_us(double serial, bool epoch1904, int64_t *us)
{
	double last = epoch1904 ? 2957004 : 2958466;
	double ms = round(serial * 86400000.0);
	int64_t day;

	if (!(serial >= (epoch1904 ? 0 : 1)) || !(serial < last) || ms >= last * 86400000.0)
		return false;
	day = (int64_t)ms / 86400000;
	if (epoch1904) {
		*us = (int64_t)ms * 1000 + dtx_day_of(1904, 1, 1) * DTX_DAY_US;
		return true;
	}
	if (day == 60) /* 1900-02-29, a day that Lotus 1-2-3 invented */
		return false;
	*us = (int64_t)ms * 1000 + (dtx_day_of(1899, 12, 30) + (day < 60)) * DTX_DAY_US;
	return true;
}

static const struct {
	const char *name;
	int months; /* calendar unit */
	int64_t us; /* unit of fixed length */
} time_units[] = {
	[DTX_U_YEAR] = { "year", 12, 0 },
	[DTX_U_QUARTER] = { "quarter", 3, 0 },
	[DTX_U_MONTH] = { "month", 1, 0 },
	[DTX_U_WEEK] = { "week", 0, 7 * DTX_DAY_US },
	[DTX_U_DAY] = { "day", 0, DTX_DAY_US },
	[DTX_U_HOUR] = { "hour", 0, 3600 * TIME_SEC_US },
	[DTX_U_MINUTE] = { "minute", 0, 60 * TIME_SEC_US },
	[DTX_U_SECOND] = { "second", 0, TIME_SEC_US },
};

enum dtx_unit dtx_unit_find(struct dtx_str name)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(time_units); i++) {
		if (dtx_str_is(name, time_units[i].name))
			return (enum dtx_unit)i;
	}
	return DTX_U_NONE;
}

static bool time_add_months(int64_t us, int64_t months, int64_t *out)
{
	int32_t day, year;
	unsigned month, dom;
	int64_t rest = time_split(us, &day), total;

	dtx_day_split(day, &year, &month, &dom);
	if (months > 9999 * 12 || months < -9999 * 12)
		return false;
	total = (int64_t)year * 12 + (int64_t)month - 1 + months;
	year = (int32_t)(total >= 0 ? total / 12 : (total - 11) / 12);
	month = (unsigned)(total - (int64_t)year * 12) + 1;
	if (year < 1 || year > 9999)
		return false;
	dom = DTX_MIN(dom, time_month_days(year, month));
	*out = dtx_day_of(year, month, dom) * DTX_DAY_US + rest;
	return true;
}

bool dtx_time_add(int64_t us, int64_t n, enum dtx_unit unit, int64_t *out)
{
	int64_t step;

	if (time_units[unit].months)
		return !__builtin_mul_overflow(n, time_units[unit].months, &step) &&
		       time_add_months(us, step, out);
	return !__builtin_mul_overflow(n, time_units[unit].us, &step) &&
	       !__builtin_add_overflow(us, step, out) && dtx_us_ok(*out);
}

static int64_t time_diff_months(int64_t a, int64_t b)
{
	int32_t day, ya, yb;
	unsigned ma, mb, dom;
	int64_t n, at;

	time_split(a, &day);
	dtx_day_split(day, &ya, &ma, &dom);
	time_split(b, &day);
	dtx_day_split(day, &yb, &mb, &dom);
	n = ((int64_t)yb - ya) * 12 + (int64_t)mb - (int64_t)ma;
	if (b >= a && n > 0 && time_add_months(a, n, &at) && at > b)
		n--;
	else if (b < a && n < 0 && time_add_months(a, n, &at) && at < b)
		n++;
	return n;
}

int64_t dtx_time_diff(int64_t a, int64_t b, enum dtx_unit unit)
{
	if (time_units[unit].months)
		return time_diff_months(a, b) / time_units[unit].months;
	return (int64_t)(((dtx_i128)b - a) / time_units[unit].us);
}

int64_t dtx_time_trunc(int64_t us, enum dtx_unit unit)
{
	int32_t day, year;
	unsigned month, dom;
	int64_t rest = time_split(us, &day), step = time_units[unit].us;

	if (unit == DTX_U_WEEK)
		return (day - (int32_t)dtx_day_weekday(day) + 1) * DTX_DAY_US;
	if (step)
		return us - rest % step;
	dtx_day_split(day, &year, &month, &dom);
	month -= (month - 1) % (unsigned)time_units[unit].months;
	return dtx_day_of(year, month, 1) * DTX_DAY_US;
}
