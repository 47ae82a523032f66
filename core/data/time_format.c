/* strptime-like formats with English names, and the two readings of ambiguous dates. */
#include "core/base/buf.h"
#include "core/data/time.h"

#define FORMAT_CODES "YymdHIMSfpbBaAjGVu%"

static const char *const month_names[12] = { "January",   "February", "March",    "April",
	                                     "May",       "June",     "July",     "August",
	                                     "September", "October",  "November", "December" };
static const char *const day_names[7] = { "Monday", "Tuesday",  "Wednesday", "Thursday",
	                                  "Friday", "Saturday", "Sunday" };

bool dtx_time_format_ok(struct dtx_str format)
{
	bool any = false; /* YYYY-MM-DD reads no date, and writes none */
	size_t i;

	for (i = 0; i < format.len; i++) {
		if (format.ptr[i] != '%')
			continue;
		if (++i == format.len || !format.ptr[i] || !strchr(FORMAT_CODES, format.ptr[i]))
			return false;
		any |= format.ptr[i] != '%';
	}
	return any;
}

/* What a format has read; -1: not there. */
struct format_parts {
	int year, month, day, hour, hour12, minute, second, micro, pm;
	int yday, iso_year, iso_week, iso_day;
};

/* One to `most` digits off the front of *s. */
static bool format_number(struct dtx_str *s, size_t most, int *out)
{
	size_t n = 0;
	int v = 0;

	for (; n < most && n < s->len && s->ptr[n] >= '0' && s->ptr[n] <= '9'; n++)
		v = v * 10 + (s->ptr[n] - '0');
	*s = (struct dtx_str){ s->ptr + n, s->len - n };
	*out = v;
	return n > 0;
}

/* A fraction: up to six digits, scaled to microseconds. */
static bool format_micro(struct dtx_str *s, int *out)
{
	size_t before = s->len, n;

	if (!format_number(s, 6, out))
		return false;
	for (n = before - s->len; n < 6; n++)
		*out *= 10;
	return true;
}

/* A name or its first three letters, any case; the longest that fits. */
static bool format_name(struct dtx_str *s, const char *const *names, int n, int *out)
{
	int i;

	for (i = 0; i < n; i++) {
		size_t full = strlen(names[i]);
		struct dtx_str head = { s->ptr, DTX_MIN(full, s->len) };

		if (!dtx_str_ieq(head, dtx_str_of(names[i]))) {
			head.len = DTX_MIN((size_t)3, s->len);
			if (!dtx_str_ieq(head, (struct dtx_str){ names[i], 3 }))
				continue;
		}
		*s = (struct dtx_str){ s->ptr + head.len, s->len - head.len };
		*out = i + 1;
		return true;
	}
	return false;
}

static bool format_half(struct dtx_str *s, int *pm)
{
	struct dtx_str head = { s->ptr, DTX_MIN((size_t)2, s->len) };

	*pm = dtx_str_ieq(head, DTX_STR("pm"));
	if (!*pm && !dtx_str_ieq(head, DTX_STR("am")))
		return false;
	*s = (struct dtx_str){ s->ptr + 2, s->len - 2 };
	return true;
}

/* Two-digit years are 1969 to 2068. */
static int format_century(int year)
{
	return year + (year < 69 ? 2000 : 1900);
}

static bool format_year2(struct dtx_str *s, int *year)
{
	size_t before = s->len;

	if (!format_number(s, 2, year) || before - s->len != 2)
		return false;
	*year = format_century(*year);
	return true;
}

static bool format_field(struct dtx_str *s, char code, struct format_parts *p)
{
	int ignored;

	switch (code) {
	case 'Y': return format_number(s, 4, &p->year);
	case 'y': return format_year2(s, &p->year);
	case 'm': return format_number(s, 2, &p->month);
	case 'd': return format_number(s, 2, &p->day);
	case 'H': return format_number(s, 2, &p->hour);
	case 'I': return format_number(s, 2, &p->hour12);
	case 'M': return format_number(s, 2, &p->minute);
	case 'S': return format_number(s, 2, &p->second);
	case 'f': return format_micro(s, &p->micro);
	case 'p': return format_half(s, &p->pm);
	case 'b':
	case 'B': return format_name(s, month_names, 12, &p->month);
	case 'a':
	case 'A': return format_name(s, day_names, 7, &ignored);
	case 'j': return format_number(s, 3, &p->yday);
	case 'G': return format_number(s, 4, &p->iso_year);
	case 'V': return format_number(s, 2, &p->iso_week);
	case 'u': return format_number(s, 1, &p->iso_day);
	default: return false;
	}
}

static bool format_literal(struct dtx_str *s, char c)
{
	if (!s->len || s->ptr[0] != c)
		return false;
	*s = (struct dtx_str){ s->ptr + 1, s->len - 1 };
	return true;
}

static bool format_read(struct dtx_str s, struct dtx_str format, struct format_parts *p)
{
	size_t i;

	for (i = 0; i < format.len; i++) {
		char c = format.ptr[i];
		bool field = c == '%' && i + 1 < format.len && format.ptr[i + 1] != '%';

		if (c == '%')
			i++;
		if (field ? !format_field(&s, format.ptr[i], p) : !format_literal(&s, c))
			return false;
	}
	return s.len == 0;
}

/* Monday of ISO week 1. */
static int32_t format_iso_start(int year)
{
	int32_t jan4 = dtx_day_of(year, 1, 4);

	return jan4 - (int32_t)dtx_day_weekday(jan4) + 1;
}

static bool format_day(const struct format_parts *p, int32_t *day)
{
	if (p->iso_year >= 0 && p->iso_week >= 0) {
		int weekday = p->iso_day < 0 ? 1 : p->iso_day;
		int32_t weeks =
			(format_iso_start(p->iso_year + 1) - format_iso_start(p->iso_year)) / 7;

		*day = format_iso_start(p->iso_year) + (p->iso_week - 1) * 7 + weekday - 1;
		return p->iso_week >= 1 && p->iso_week <= weeks && weekday >= 1 && weekday <= 7 &&
		       dtx_day_ok(*day);
	}
	if (p->year >= 0 && p->yday >= 0) {
		*day = dtx_day_of(p->year, 1, 1) + p->yday - 1;
		return p->yday >= 1 && *day < dtx_day_of(p->year + 1, 1, 1) && dtx_day_ok(*day);
	}
	if (p->year < 0)
		return false;
	if (!dtx_day_valid(p->year, p->month < 0 ? 1 : (unsigned)p->month,
	                   p->day < 0 ? 1 : (unsigned)p->day))
		return false;
	*day = dtx_day_of(p->year, p->month < 0 ? 1 : (unsigned)p->month,
	                  p->day < 0 ? 1 : (unsigned)p->day);
	return true;
}

static bool format_clock(const struct format_parts *p, int64_t *us)
{
	int hour = DTX_MAX(p->hour, 0), minute = DTX_MAX(p->minute, 0),
	    second = DTX_MAX(p->second, 0);

	if (p->hour12 >= 0) {
		if (p->hour12 < 1 || p->hour12 > 12)
			return false;
		hour = p->hour12 % 12 + (p->pm > 0 ? 12 : 0);
	}
	*us = ((int64_t)hour * 3600 + minute * 60 + second) * 1000000 + DTX_MAX(p->micro, 0);
	return hour < 24 && minute < 60 && second < 60;
}

bool dtx_time_parse(struct dtx_str s, struct dtx_str format, int64_t *us)
{
	struct format_parts p = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 };
	int64_t clock;
	int32_t day;

	if (!format_read(s, format, &p) || !format_day(&p, &day) || !format_clock(&p, &clock))
		return false;
	*us = day * DTX_DAY_US + clock;
	return true;
}

struct format_now {
	int32_t day, year, iso_year;
	unsigned month, dom, hour, minute, second, micro, weekday, iso_week;
};

static void format_now_of(int64_t us, struct format_now *n)
{
	int64_t day = us / DTX_DAY_US - (us % DTX_DAY_US < 0), rest = us - day * DTX_DAY_US;
	unsigned sec = (unsigned)(rest / 1000000);
	int32_t thursday;
	unsigned m, d;

	n->day = (int32_t)day;
	dtx_day_split(n->day, &n->year, &n->month, &n->dom);
	n->hour = sec / 3600;
	n->minute = sec / 60 % 60;
	n->second = sec % 60;
	n->micro = (unsigned)(rest % 1000000);
	n->weekday = dtx_day_weekday(n->day);
	thursday = n->day - (int32_t)n->weekday + 4; /* decides the ISO year */
	dtx_day_split(thursday, &n->iso_year, &m, &d);
	n->iso_week = (unsigned)(thursday - dtx_day_of(n->iso_year, 1, 1)) / 7 + 1;
}

static void format_put(const struct format_now *n, char code, struct dtx_buf *out)
{
	unsigned hour12 = n->hour % 12 ? n->hour % 12 : 12;
	int32_t yday = n->day - dtx_day_of(n->year, 1, 1) + 1;

	switch (code) {
	case 'Y': dtx_buf_printf(out, "%04d", n->year); break;
	case 'y': dtx_buf_printf(out, "%02d", (n->year % 100 + 100) % 100); break;
	case 'm': dtx_buf_printf(out, "%02u", n->month); break;
	case 'd': dtx_buf_printf(out, "%02u", n->dom); break;
	case 'H': dtx_buf_printf(out, "%02u", n->hour); break;
	case 'I': dtx_buf_printf(out, "%02u", hour12); break;
	case 'M': dtx_buf_printf(out, "%02u", n->minute); break;
	case 'S': dtx_buf_printf(out, "%02u", n->second); break;
	case 'f': dtx_buf_printf(out, "%06u", n->micro); break;
	case 'p': dtx_buf_add(out, n->hour < 12 ? "AM" : "PM"); break;
	case 'b': dtx_buf_addn(out, month_names[n->month - 1], 3); break;
	case 'B': dtx_buf_add(out, month_names[n->month - 1]); break;
	case 'a': dtx_buf_addn(out, day_names[n->weekday - 1], 3); break;
	case 'A': dtx_buf_add(out, day_names[n->weekday - 1]); break;
	case 'j': dtx_buf_printf(out, "%03d", yday); break;
	case 'G': dtx_buf_printf(out, "%04d", n->iso_year); break;
	case 'V': dtx_buf_printf(out, "%02u", n->iso_week); break;
	case 'u': dtx_buf_printf(out, "%u", n->weekday); break;
	default: dtx_buf_addc(out, '%'); break;
	}
}

void dtx_time_format(int64_t us, struct dtx_str format, struct dtx_buf *out)
{
	struct format_now n;
	size_t i;

	format_now_of(us, &n);
	for (i = 0; i < format.len; i++) {
		if (format.ptr[i] == '%' && i + 1 < format.len)
			format_put(&n, format.ptr[++i], out);
		else
			dtx_buf_addc(out, format.ptr[i]);
	}
}

/* A day number or, in `month`'s place, an English month. */
static bool format_part(struct dtx_str *s, bool name, int *out)
{
	if (name && s->len && (s->ptr[0] < '0' || s->ptr[0] > '9'))
		return format_name(s, month_names, 12, out);
	return format_number(s, 2, out);
}

static bool format_year(struct dtx_str *s, int *year)
{
	if (s->len == 2) {
		if (!format_number(s, 2, year))
			return false;
		*year = format_century(*year);
	} else if (s->len != 4 || !format_number(s, 4, year)) {
		return false;
	}
	return s->len == 0;
}

/* One of "-/." or blanks, perhaps with a comma before the blank. */
static bool format_separator(struct dtx_str *s, char *sep)
{
	size_t n = 0;

	if (s->len && strchr("-/.", s->ptr[0]) && s->ptr[0]) {
		n = 1;
	} else {
		n += s->len && s->ptr[0] == ',';
		while (n < s->len && s->ptr[n] == ' ')
			n++;
	}
	if (!n)
		return false;
	*sep = s->ptr[n - 1];
	*s = (struct dtx_str){ s->ptr + n, s->len - n };
	return true;
}

static bool format_reads(struct dtx_str s, bool day_first, int32_t *day)
{
	int part[2], year;
	char sep[2];

	s = dtx_str_trim(s);
	if (!format_part(&s, !day_first, &part[0]) || !format_separator(&s, &sep[0]) ||
	    !format_part(&s, day_first, &part[1]) || !format_separator(&s, &sep[1]) ||
	    sep[0] != sep[1] || !format_year(&s, &year))
		return false;
	if (!dtx_day_valid(year, (unsigned)part[day_first], (unsigned)part[!day_first]))
		return false;
	*day = dtx_day_of(year, (unsigned)part[day_first], (unsigned)part[!day_first]);
	return true;
}

bool dtx_date_reads_dmy(struct dtx_str s, int32_t *day)
{
	return format_reads(s, true, day);
}

bool dtx_date_reads_mdy(struct dtx_str s, int32_t *day)
{
	return format_reads(s, false, day);
}
