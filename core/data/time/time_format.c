/* strptime-like formats with English names, and the two ways to read ambiguous dates. */
#include "core/data/time/time.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/memory/buf.h"
#include "core/base/text/utf8.h"

static const char *const month_names[12] = { "January",   "February", "March",    "April",
	                                     "May",       "June",     "July",     "August",
	                                     "September", "October",  "November", "December" };
static const char *const day_names[7] = { "Monday", "Tuesday",  "Wednesday", "Thursday",
	                                  "Friday", "Saturday", "Sunday" };

/* --- the check of a format --- */

enum field {
	F_YEAR,
	F_MONTH,
	F_DAY,
	F_YDAY,
	F_WEEKDAY,
	F_ISO_YEAR,
	F_ISO_WEEK,
	F_HOUR,
	F_MINUTE,
	F_SECOND,
	F_FRACTION,
	F_HALF,
	F_ZONE,
	F_COUNT
};
static const char *const field_names[F_COUNT] = {
	"year",     "month", "day",    "day of the year", "day of the week",      "ISO year",
	"ISO week", "hour",  "minute", "second",          "fraction of a second", "half of the day",
	"offset"
};
static const struct {
	char code;
	enum field field;
} directives[] = {
	{ 'Y', F_YEAR },     { 'y', F_YEAR },    { 'm', F_MONTH },    { 'b', F_MONTH },
	{ 'B', F_MONTH },    { 'd', F_DAY },     { 'j', F_YDAY },     { 'a', F_WEEKDAY },
	{ 'A', F_WEEKDAY },  { 'u', F_WEEKDAY }, { 'G', F_ISO_YEAR }, { 'V', F_ISO_WEEK },
	{ 'H', F_HOUR },     { 'I', F_HOUR },    { 'M', F_MINUTE },   { 'S', F_SECOND },
	{ 'f', F_FRACTION }, { 'p', F_HALF },    { 'z', F_ZONE },
};
/* Directives of other tools, and what to write instead. */
static const struct {
	char code;
	const char *hint;
} other_directives[] = {
	{ 'e', "%d reads days of one digit too" },
	{ 'k', "write %H" },
	{ 'l', "write %I" },
	{ 'h', "%b is a month's name, %I the hour from 1 to 12" },
	{ 'i', "%M is the minute" },
	{ 's', "%S is the second; from_unix(n, 's') reads seconds since 1970" },
	{ 'L', "write %f" },
	{ 'N', "write %f" },
	{ 'P', "write %p" },
	{ 'D', "write %m/%d/%y" },
	{ 'F', "write %Y-%m-%d" },
	{ 'T', "write %H:%M:%S" },
	{ 'X', "write %H:%M:%S" },
	{ 'R', "write %H:%M" },
	{ 'r', "write %I:%M:%S %p" },
	{ 'x', "write it out, as in %m/%d/%y" },
	{ 'c', "write it out, as in %a %b %d %H:%M:%S %Y" },
	{ 'Z', "%z is an offset such as +02:00; a zone's name is not read: remove it first" },
	{ 'U', "%V is the ISO week, with %G as its year" },
	{ 'W', "%V is the ISO week, with %G as its year" },
	{ 'w', "%u is the day of the week, 1 Monday to 7 Sunday" },
	{ 'g', "%G is the ISO year" },
	{ 'C', "%Y is the year with its century" },
	{ '-', "directives have no flags: %d and %H read one digit too" },
	{ '#', "directives have no flags: %d and %H read one digit too" },
	{ '_', "directives have no flags: %d and %H read one digit too" },
};

struct format_check {
	struct dtx_str format;
	struct dtx_format_fault *fault;
	char code[F_COUNT]; /* the directive that gives each field; 0: none */
};

static bool check_fault(const struct format_check *c, const char *hint, const char *what, ...)
	DTX_PRINTF(3, 4);

/* Records the fault; the result is always false. */
static bool check_fault(const struct format_check *c, const char *hint, const char *what, ...)
{
	int n = snprintf(c->fault->what, sizeof(c->fault->what),
	                 "'%.*s' is not a date format: ", (int)DTX_MIN(c->format.len, (size_t)80),
	                 c->format.ptr);
	va_list ap;

	va_start(ap, what);
	vsnprintf(c->fault->what + n, sizeof(c->fault->what) - (size_t)n, what, ap);
	va_end(ap);
	snprintf(c->fault->hint, sizeof(c->fault->hint), "%s", hint);
	return false;
}

static const char *other_hint(char code)
{
	for (size_t i = 0; i < DTX_COUNT(other_directives); i++)
		if (other_directives[i].code == code)
			return other_directives[i].hint;
	return "the directives are %Y %y %m %d %H %I %M %S %f %z %p %b %B %a %A %j %G %V %u and %%";
}

static bool check_add(struct format_check *c, size_t at, enum dtx_format_use use)
{
	char code = c->format.ptr[at];
	enum field field = F_COUNT;
	size_t next = at;

	for (size_t i = 0; i < DTX_COUNT(directives); i++)
		if (directives[i].code == code)
			field = directives[i].field;
	if (field == F_COUNT) {
		dtx_utf8_next(c->format.ptr, c->format.len, &next);
		return check_fault(c, other_hint(code), "'%%%.*s' is not a directive",
		                   (int)(next - at), c->format.ptr + at);
	}
	/* '%H:%m' is the most common mistake */
	if (code == 'm' && at >= 4 && c->format.ptr[at - 2] == ':' &&
	    strchr("HI", c->format.ptr[at - 3]) && c->format.ptr[at - 4] == '%')
		return check_fault(c, "write %M for the minute",
		                   "%%m is the month, but after the hour comes the minute");
	if (use == DTX_FORMAT_READ && c->code[field] == code)
		return check_fault(
			c, field == F_MONTH ? "%m is the month, %M the minute" : "keep one of them",
			"%%%c occurs twice", code);
	if (use == DTX_FORMAT_READ && c->code[field])
		return check_fault(c, "keep one of them, so that they cannot contradict each other",
		                   "%%%c and %%%c both read the %s", c->code[field], code,
		                   field_names[field]);
	/* a format for writing may have both kinds of hour; check_hours looks at %H first */
	if (c->code[field] != 'H')
		c->code[field] = code;
	return true;
}

static bool check_directives(struct format_check *c, enum dtx_format_use use)
{
	const struct dtx_str f = c->format;

	for (size_t i = 0; i < f.len; i++) {
		if (f.ptr[i] != '%')
			continue;
		if (++i == f.len)
			return check_fault(c, "write %% for a percent sign",
			                   "it ends in a lone %%");
		if (f.ptr[i] != '%' && !check_add(c, i, use))
			return false;
	}
	return true;
}

/* Checks fields that mean nothing without another one, the finest first, and the mistakes that such
 * a field suggests. */
static bool check_company(const struct format_check *c)
{
	const char *has = c->code;

	if (has[F_HALF] && has[F_HOUR] != 'I')
		return check_fault(c, "write %I for the hour from 1 to 12",
		                   has[F_HOUR]
		                           ? "%%p goes with %%I, and %%H is the hour from 0 to 23"
		                           : "%%p goes with %%I, which is missing");
	if (has[F_HOUR] == 'I' && !has[F_HALF])
		return check_fault(
			c, "add %p (AM or PM), or write %H for the hour from 0 to 23",
			"%%I is the hour from 1 to 12, and nothing says which half of the "
			"day");
	if (has[F_MINUTE] && !has[F_HOUR] && (has[F_DAY] || has[F_YEAR]) && !has[F_MONTH])
		return check_fault(c, "write %m for the month",
		                   "%%M is the minute, and there is no hour");
	if (has[F_ISO_WEEK] && has[F_YEAR] && !has[F_MONTH] && !has[F_YDAY])
		return check_fault(c, "write %G-W%V", "the year of %%V is %%G, not %%%c",
		                   has[F_YEAR]);
	if (has[F_ISO_YEAR] && !has[F_ISO_WEEK])
		return check_fault(c, "write %Y for the year",
		                   "%%G is the year of the ISO week %%V, which is missing");
	return true;
}

static bool check_alone(const struct format_check *c, enum field field, enum field other)
{
	if (!c->code[field] || c->code[other])
		return true;
	return check_fault(c, "add the missing directive, or remove this one",
	                   "%%%c reads the %s, and no directive reads the %s", c->code[field],
	                   field_names[field], field_names[other]);
}

static bool check_apart(const struct format_check *c, enum field field, enum field other)
{
	if (!c->code[field] || !c->code[other])
		return true;
	return check_fault(c, "read the date in one way: %Y-%m-%d, %Y-%j or %G-W%V-%u",
	                   "%%%c and %%%c both give the day", c->code[field], c->code[other]);
}

static bool check_read(const struct format_check *c)
{
	bool week = c->code[F_ISO_WEEK] != 0;

	if (!week && !c->code[F_YEAR])
		return check_fault(
			c,
			c->code[F_HOUR]
				? "a time of day alone is not a datetime: put a date before "
				  "it, or leave it text"
				: "add %Y or %y",
			"no directive reads the year");
	if (!check_apart(c, F_ISO_WEEK, F_YEAR) || !check_apart(c, F_ISO_WEEK, F_MONTH) ||
	    !check_apart(c, F_ISO_WEEK, F_DAY) || !check_apart(c, F_ISO_WEEK, F_YDAY) ||
	    !check_apart(c, F_YDAY, F_MONTH) || !check_apart(c, F_YDAY, F_DAY))
		return false;
	return check_alone(c, F_ISO_WEEK, F_ISO_YEAR) && check_alone(c, F_DAY, F_MONTH) &&
	       (week || c->code[F_YDAY] || check_alone(c, F_WEEKDAY, F_DAY)) &&
	       check_alone(c, F_MINUTE, F_HOUR) && check_alone(c, F_SECOND, F_MINUTE) &&
	       check_alone(c, F_FRACTION, F_SECOND) && check_alone(c, F_ZONE, F_HOUR);
}

bool dtx_time_format_check(struct dtx_str format, enum dtx_format_use use,
                           struct dtx_format_fault *fault)
{
	struct format_check c = { .format = format, .fault = fault };
	bool any = false;

	if (!check_directives(&c, use))
		return false;
	for (int i = 0; i < F_COUNT; i++)
		any |= c.code[i] != 0;
	if (!any) /* YYYY-MM-DD has no directive at all */
		return check_fault(&c,
		                   "directives begin with %, as in '%Y-%m-%d' or '%d.%m.%Y %H:%M'",
		                   "it has no directive");
	if (!check_company(&c))
		return false;
	if (use == DTX_FORMAT_READ)
		return check_read(&c);
	if (c.code[F_ZONE])
		return check_fault(&c,
		                   "write the offset of your datetimes as it is, as in "
		                   "'%H:%M:%SZ'",
		                   "a datetime has no offset for %%z to write");
	return true;
}

/* --- reading --- */

/* What a format has read; -1: not given. */
struct format_parts {
	int year, month, day, hour, hour12, minute, second, micro, pm;
	int yday, weekday, iso_year, iso_week;
	int64_t offset;
	int32_t century;
};

/* Takes one to `most` digits from the front of *s. */
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

static bool format_micro(struct dtx_str *s, int *out)
{
	int64_t us;

	if (!dtx_fraction_take(s, &us))
		return false;
	*out = (int)us;
	return true;
}

/* Takes a name or its first three letters, in any case; the longest that fits. */
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

/* Takes exactly four digits, as strptime does: the 24 of 5.2.24 is a year of %y, not the year 24.
 */
static bool format_year4(struct dtx_str *s, int *out)
{
	struct dtx_str rest = *s;

	if (!format_number(&rest, 4, out) || s->len - rest.len != 4)
		return false;
	*s = rest;
	return true;
}

int32_t dtx_year_of_two(int32_t two, int32_t century)
{
	int32_t first = (century % 100 + 100) % 100;

	return century - first + two + (two < first ? 100 : 0);
}

static bool format_year2(struct dtx_str *s, struct format_parts *p)
{
	size_t before = s->len;

	if (!format_number(s, 2, &p->year) || before - s->len != 2)
		return false;
	p->year = dtx_year_of_two(p->year, p->century);
	return true;
}

static bool format_field(struct dtx_str *s, char code, struct format_parts *p)
{
	switch (code) {
	case 'Y': return format_year4(s, &p->year);
	case 'y': return format_year2(s, p);
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
	case 'A': return format_name(s, day_names, 7, &p->weekday);
	case 'j': return format_number(s, 3, &p->yday);
	case 'G': return format_year4(s, &p->iso_year);
	case 'V': return format_number(s, 2, &p->iso_week);
	case 'u': return format_number(s, 1, &p->weekday);
	case 'z': return dtx_offset_take(s, &p->offset);
	default: return false;
	}
}

/* Reads *s up to its end, or up to where it does not fit; *at is then the position in the
 * format. */
static bool format_read(struct dtx_str *s, struct dtx_str format, struct format_parts *p,
                        size_t *at)
{
	for (*at = 0; *at < format.len; ++*at) {
		char c = format.ptr[*at];

		if (c == '%' && format.ptr[*at + 1] != '%') {
			if (!format_field(s, format.ptr[*at + 1], p))
				return false;
			++*at;
			continue;
		}
		if (!s->len || s->ptr[0] != c)
			return false;
		*at += c == '%';
		*s = (struct dtx_str){ s->ptr + 1, s->len - 1 };
	}
	return s->len == 0;
}

/* The Monday of ISO week 1. */
static int32_t format_iso_start(int year)
{
	int32_t jan4 = dtx_day_of(year, 1, 4);

	return jan4 - (int32_t)dtx_day_weekday(jan4) + 1;
}

static bool format_day(const struct format_parts *p, int32_t *day)
{
	if (p->iso_year >= 0 && p->iso_week >= 0) {
		int weekday = p->weekday < 0 ? 1 : p->weekday;
		int32_t weeks =
			(format_iso_start(p->iso_year + 1) - format_iso_start(p->iso_year)) / 7;

		*day = format_iso_start(p->iso_year) + (p->iso_week - 1) * 7 + weekday - 1;
		return p->iso_week >= 1 && p->iso_week <= weeks && weekday >= 1 && weekday <= 7 &&
		       dtx_day_ok(*day);
	}
	if (p->year < 0)
		return false;
	if (p->yday >= 0) {
		*day = dtx_day_of(p->year, 1, 1) + p->yday - 1;
		return p->yday >= 1 && *day < dtx_day_of(p->year + 1, 1, 1) && dtx_day_ok(*day);
	}
	if (!dtx_day_valid(p->year, p->month < 0 ? 1 : (unsigned)p->month,
	                   p->day < 0 ? 1 : (unsigned)p->day))
		return false;
	*day = dtx_day_of(p->year, p->month < 0 ? 1 : (unsigned)p->month,
	                  p->day < 0 ? 1 : (unsigned)p->day);
	return true;
}

/* If the weekday is not that of the date, the parts were probably read in the wrong order. */
static bool format_weekday_fits(const struct format_parts *p, int32_t day)
{
	return p->weekday < 0 || (int)dtx_day_weekday(day) == p->weekday;
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

static const struct format_parts format_nothing = { -1, -1, -1, -1, -1, -1, -1, -1,
	                                            -1, -1, -1, -1, -1, 0,  0 };

bool dtx_time_parse(struct dtx_str s, struct dtx_str format, int32_t century, int64_t *us)
{
	struct format_parts p = format_nothing;
	int64_t clock;
	int32_t day;
	size_t at;

	p.century = century;
	if (!format_read(&s, format, &p, &at) || !format_day(&p, &day) ||
	    !format_weekday_fits(&p, day) || !format_clock(&p, &clock))
		return false;
	*us = day * DTX_DAY_US + clock - p.offset;
	return dtx_us_ok(*us);
}

/* Whether s is a fraction of a second with digits that a datetime does not keep. */
static bool why_fraction(struct dtx_str s)
{
	size_t n = 0;

	while (n < s.len && s.ptr[n] >= '0' && s.ptr[n] <= '9')
		n++;
	for (size_t i = 6; i < n; i++)
		if (s.ptr[i] != '0' || i >= 9)
			return true;
	return false;
}

static void why_say(char out[DTX_TIME_WHY], const char *what, ...) DTX_PRINTF(2, 3);

static void why_say(char out[DTX_TIME_WHY], const char *what, ...)
{
	va_list ap;

	memcpy(out, ": ", 2);
	va_start(ap, what);
	vsnprintf(out + 2, DTX_TIME_WHY - 2, what, ap);
	va_end(ap);
}

#define YEAR_OF_TWO "; %y reads two"

/* Describes why the rest of the text, s, does not fit the rest of the format, which starts at
 * format.ptr[at]. */
static void why_unread(struct dtx_str s, struct dtx_str format, size_t at, char out[DTX_TIME_WHY])
{
	int rest = (int)DTX_MIN(s.len, (size_t)40);
	char code = at + 1 < format.len && format.ptr[at] == '%' ? format.ptr[at + 1] : '\0';
	size_t digits = 0;

	while (digits < s.len && s.ptr[digits] >= '0' && s.ptr[digits] <= '9')
		digits++;
	if (digits && (code == 'Y' || code == 'G'))
		why_say(out, "'%.*s' does not fit %%%c, which needs four digits%s", rest, s.ptr,
		        code, code == 'Y' && digits == 2 ? YEAR_OF_TWO : "");
	else if (at == format.len)
		why_say(out, "the format ends before '%.*s'", rest, s.ptr);
	else if (s.len)
		why_say(out, "'%.*s' does not fit '%.*s'", rest, s.ptr,
		        (int)DTX_MIN(format.len - at, (size_t)40), format.ptr + at);
	else
		why_say(out, "it ends before '%.*s'", (int)DTX_MIN(format.len - at, (size_t)40),
		        format.ptr + at);
}

void dtx_time_why(struct dtx_str s, struct dtx_str format, int32_t century, char out[DTX_TIME_WHY])
{
	struct format_parts p = format_nothing;
	struct dtx_str fraction = { NULL, 0 };
	int64_t clock;
	int32_t day;
	size_t at;

	out[0] = '\0';
	p.century = century;
	if (!format.ptr && s.len > 20 && s.ptr[16] == ':' && s.ptr[19] == '.')
		fraction = (struct dtx_str){ s.ptr + 20, s.len - 20 };
	if (format.ptr && !format_read(&s, format, &p, &at)) {
		if (at + 1 < format.len && format.ptr[at] == '%' && format.ptr[at + 1] == 'f')
			fraction = s;
		if (!why_fraction(fraction))
			why_unread(s, format, at, out);
	} else if (format.ptr) {
		if (!format_day(&p, &day))
			why_say(out, "there is no such day");
		else if (!format_weekday_fits(&p, day))
			why_say(out, "that day is a %s", day_names[dtx_day_weekday(day) - 1]);
		else if (!format_clock(&p, &clock))
			why_say(out, "there is no such time of day");
	}
	if (why_fraction(fraction))
		why_say(out, "a datetime keeps six digits of a second, and more are not 0");
}

const char *dtx_time_why_hint(const char *why, const char *usual)
{
	if (strstr(why, YEAR_OF_TWO))
		return "write %y where years have two digits; where a column has both, "
		       "coalesce(try(date(x, '%d.%m.%Y')), date(x, '%d.%m.%y')) in a derive step "
		       "reads each";
	return strstr(why, "six digits of a second")
	               ? "keep six of them in a step before, as in "
	                 "\"set\": {\"x\": \"replace_re(x, '([.,][0-9]{6})[0-9]+', '$1')\"}"
	               : usual;
}

/* --- writing --- */

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
	case 'z': dtx_buf_add(out, "+00:00"); break; /* values are in UTC; %z reads it back */
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

/* --- the two ways to read ambiguous dates --- */

/* Takes the number of a day, or an English month if `name` is set. */
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
		*year = dtx_year_of_two(*year, DTX_CENTURY);
	} else if (s->len != 4 || !format_number(s, 4, year)) {
		return false;
	}
	return s->len == 0;
}

/* Takes one of "-/." or blanks; a comma may precede the blank. */
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
