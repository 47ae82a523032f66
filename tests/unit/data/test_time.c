/* Calendar, ISO 8601, formats, serials, calendar steps, decimals. */
#include "core/data/time/time.h"

#include "core/base/memory/buf.h"
#include "core/data/cast/decimal.h"
#include "tests/t.h"

void test_day_split(void)
{
	int32_t day;

	for (day = -1000000; day < 4000000; day += 997) {
		int32_t y;
		unsigned m, d;

		dtx_day_split(day, &y, &m, &d);
		if (dtx_day_valid(y, m, d) != dtx_day_ok(day) || dtx_day_of(y, m, d) != day)
			t_fail(__FILE__, __LINE__, "day %d is %d-%u-%u", day, y, m, d);
	}
	T_INT(dtx_day_of(1970, 1, 1), 0);
	T_INT(dtx_day_of(2000, 3, 1), 11017);
	T_INT(dtx_day_weekday(0), 4);
	T_INT(dtx_day_weekday(dtx_day_of(2024, 1, 1)), 1);
	T_INT(dtx_day_weekday(-1000), 5);
	T_CHECK(!dtx_day_valid(1900, 2, 29) && dtx_day_valid(2000, 2, 29));
}

void test_datetime_iso(void)
{
	static const struct {
		const char *text, *want; /* NULL: refused */
		bool zoned;
	} rows[] = {
		{ "2024-01-31T09:30", "2024-01-31T09:30:00", false },
		{ "2024-01-31 09:30:15.5", "2024-01-31T09:30:15.5", false },
		{ "2024-01-31T09:30:15.123456Z", "2024-01-31T09:30:15.123456", true },
		{ "2024-01-31T00:30+01:00", "2024-01-30T23:30:00", true },
		{ "1969-12-31T23:59:59.999999-00:00", "1969-12-31T23:59:59.999999", true },
		{ "2024-01-31T09:30+0100", "2024-01-31T08:30:00", true },
		{ "2024-01-31 09:30:00+01", "2024-01-31T08:30:00", true },
		{ "2024-01-31 09:30:00 -0530", "2024-01-31T15:00:00", true },
		{ "2024-01-31T09:30 Z", "2024-01-31T09:30:00", true },
		{ "2024-01-31 09:30:15.123456000+00", "2024-01-31T09:30:15.123456", true },
		{ "2024-01-31T09:30:15.1234567", NULL, false },
		{ "2024-01-31T09:30:15.1234560000", NULL, false },
		{ "2024-01-31T09:30+1", NULL, false },
		{ "2024-01-31T09:30+010", NULL, false },
		{ "2024-01-31T09:30+01:", NULL, false },
		{ "2024-01-31T09:30+01:0", NULL, false },
		{ "2024-01-31T09:30+24", NULL, false },
		{ "2024-01-31T09:30  Z", NULL, false },
		{ "2024-01-31T09:30ZZ", NULL, false },
		{ "2024-01-31T24:00", NULL, false },
		{ "2024-01-31T09:60", NULL, false },
		{ "2024-02-30T09:00", NULL, false },
		{ "2024-01-31T09", NULL, false },
		{ "2024-01-31x09:30", NULL, false },
		{ "2024-01-31T09:30:", NULL, false },
		{ "2024-01-31T09:30:15.", NULL, false },
		{ "2024-01-31", NULL, false },
	};
	char text[40];
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		int64_t us;
		bool zoned = false;
		bool ok = dtx_datetime_parse(dtx_str_of(rows[i].text), &us, &zoned);

		T_CHECK(ok == (rows[i].want != NULL));
		if (!ok)
			continue;
		dtx_datetime_print(text, us);
		T_STR(text, rows[i].want);
		T_CHECK(zoned == rows[i].zoned);
	}
	dtx_day_print(text, dtx_day_of(-44, 3, 15));
	T_STR(text, "-0044-03-15");
	dtx_day_print(text, dtx_day_of(12024, 3, 15));
	T_STR(text, "+12024-03-15");
}

/* A text that could not be read again is never made. */
void test_time_has_four_digits_of_a_year(void)
{
	int64_t first = DTX_DAY_FIRST * DTX_DAY_US, last = (DTX_DAY_LAST + 1) * DTX_DAY_US - 1, us;
	int32_t day;
	char text[40];
	bool zoned;

	T_CHECK(dtx_day_of(1, 1, 1) == DTX_DAY_FIRST && dtx_day_of(9999, 12, 31) == DTX_DAY_LAST);
	for (enum dtx_unit unit = DTX_U_YEAR; unit < DTX_U_NONE; unit++) {
		T_CHECK(!dtx_time_add(last, 1, unit, &us) && !dtx_time_add(first, -1, unit, &us));
		T_CHECK(dtx_time_add(last, -1, unit, &us) && dtx_us_ok(us));
		T_CHECK(dtx_us_ok(dtx_time_trunc(first, unit)));
	}
	T_CHECK(!dtx_time_add(last, 1, DTX_U_SECOND, &us) && !dtx_us_ok(last + 1));
	dtx_datetime_print(text, last);
	T_STR(text, "9999-12-31T23:59:59.999999");
	T_CHECK(dtx_datetime_parse(dtx_str_of(text), &us, &zoned) && us == last);
	T_CHECK(!dtx_day_parse(DTX_STR("0000-01-01"), &day));
	T_CHECK(!dtx_datetime_parse(DTX_STR("0001-01-01T00:00:00+01:00"), &us, &zoned));
	T_CHECK(!dtx_datetime_parse(DTX_STR("9999-12-31T23:30:00-01:00"), &us, &zoned));
	T_CHECK(!dtx_time_parse(DTX_STR("0000"), DTX_STR("%Y"), DTX_CENTURY, &us));
	T_CHECK(!dtx_time_parse(DTX_STR("0000-001"), DTX_STR("%Y-%j"), DTX_CENTURY, &us));
	T_CHECK(!dtx_time_parse(DTX_STR("9999-52-6"), DTX_STR("%G-%V-%u"), DTX_CENTURY, &us));
}

void test_time_format(void)
{
	static const struct {
		const char *text, *format, *want;
	} rows[] = {
		{ "31/01/2024", "%d/%m/%Y", "2024-01-31T00:00:00" },
		{ "1/2/24", "%d/%m/%y", "2024-02-01T00:00:00" },
		{ "1/2/69", "%d/%m/%y", "1969-02-01T00:00:00" },
		{ "1/2/68", "%d/%m/%y", "2068-02-01T00:00:00" },
		{ "20240131", "%Y%m%d", "2024-01-31T00:00:00" },
		{ "Jan 31, 2024 09:05 PM", "%b %d, %Y %I:%M %p", "2024-01-31T21:05:00" },
		{ "12:00 am 1 march 2024", "%I:%M %p %d %B %Y", "2024-03-01T00:00:00" },
		{ "Wed 31.01.2024 23:59:58.25", "%a %d.%m.%Y %H:%M:%S.%f",
		  "2024-01-31T23:59:58.25" },
		{ "2024-366", "%Y-%j", "2024-12-31T00:00:00" },
		{ "2020-W53-5", "%G-W%V-%u", "2021-01-01T00:00:00" },
		{ "Feb-24", "%b-%y", "2024-02-01T00:00:00" },
		{ "0100%", "%Y%%", "0100-01-01T00:00:00" },
		{ "17.8.23", "%d.%m.%Y", NULL }, /* not the year 23 */
		{ "023-08-17", "%Y-%m-%d", NULL },
		{ "17.8.0023", "%d.%m.%Y", "0023-08-17T00:00:00" },
		{ "23-W03-2", "%G-W%V-%u", NULL },
		{ "2023-366", "%Y-%j", NULL },
		{ "2021-W53-5", "%G-W%V-%u", NULL },
		{ "31/02/2024", "%d/%m/%Y", NULL },
		{ "31/01/2024x", "%d/%m/%Y", NULL },
		{ "31-01-2024", "%d/%m/%Y", NULL },
		{ "13:00 PM", "%I:%M %p", NULL },
		{ "", "%Y", NULL },
		{ "09:30", "%H:%M", NULL },
		{ "Thu 31.01.2024", "%a %d.%m.%Y", NULL }, /* it was a Wednesday */
		{ "2024-W03-Tuesday", "%G-W%V-%A", "2024-01-16T00:00:00" },
		{ "2024-01-31 10:00:00+02", "%Y-%m-%d %H:%M:%S%z", "2024-01-31T08:00:00" },
		{ "2024-01-31 10:00:00 -0230", "%Y-%m-%d %H:%M:%S %z", "2024-01-31T12:30:00" },
		{ "2024-01-31T10:00:00+02:00", "%Y-%m-%dT%H:%M:%S%z", "2024-01-31T08:00:00" },
		{ "31/Jan/2024:10:00:00 Z", "%d/%b/%Y:%H:%M:%S %z", "2024-01-31T10:00:00" },
		{ "2024-01-31 10+0260", "%Y-%m-%d %H%z", NULL },
		{ "2024-01-31 10:00:00.123456000", "%Y-%m-%d %H:%M:%S.%f",
		  "2024-01-31T10:00:00.123456" },
		{ "2024-01-31 10:00:00.123456001", "%Y-%m-%d %H:%M:%S.%f", NULL },
		{ "0001-01-01 00:30+01", "%Y-%m-%d %H:%M%z", NULL },
	};
	char text[40];
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		int64_t us = 0;
		bool ok = dtx_time_parse(dtx_str_of(rows[i].text), dtx_str_of(rows[i].format),
		                         DTX_CENTURY, &us);

		if (ok != (rows[i].want != NULL))
			t_fail(__FILE__, __LINE__, "%s by %s", rows[i].text, rows[i].format);
		if (!ok || !rows[i].want)
			continue;
		dtx_datetime_print(text, us);
		T_STR(text, rows[i].want);
	}
}

/* Every directive of a format reads a part of the text, and none of them is without effect. */
void test_time_format_check(void)
{
	static const struct {
		const char *format, *read, *write; /* NULL: valid; else a part of the fault */
	} rows[] = {
		{ "%Y-%m", NULL, NULL },
		{ "%d.%m.%y %H:%M:%S.%f", NULL, NULL },
		{ "%A, %d %B %Y at %I:%M %p", NULL, NULL },
		{ "%G-W%V-%u", NULL, NULL },
		{ "%G-W%V", NULL, NULL },
		{ "%Y%j", NULL, NULL },
		{ "%Y-%m-%dT%H:%M:%S%z", NULL, "no offset for %z" },
		{ "%Y", NULL, NULL },
		{ "%Q", "'%Q' is not a directive", "'%Q' is not a directive" },
		{ "%Y-%m-%d %T", "'%T' is not a directive", "'%T' is not a directive" },
		{ "%Y%", "ends in a lone %", "ends in a lone %" },
		{ "", "is not a date format", "is not a date format" },
		{ "YYYY-MM-DD", "is not a date format", "is not a date format" },
		{ "100%%", "is not a date format", "is not a date format" },
		{ "%m/%d/%Y %H:%M %p", "%p goes with %I, and %H", "%p goes with %I, and %H" },
		{ "%m/%d/%Y %I:%M", "nothing says which half", "nothing says which half" },
		{ "%m/%d/%Y %p", "%p goes with %I, which", "%p goes with %I, which" },
		{ "%Y-%m-%d %H:%I %p", "%H and %I both read the hour", "%p goes with %I, and %H" },
		{ "%Y %y", "%Y and %y both read the year", NULL },
		{ "%d.%m.%Y (%d)", "%d occurs twice", NULL },
		{ "%b %m %Y", "%b and %m both read the month", NULL },
		{ "%Y-%m-%d %H:%m", "%m is the month, but after the hour",
		  "%m is the month, but after the hour" },
		{ "%d.%M.%Y", "%M is the minute, and there is no hour",
		  "%M is the minute, and there is no hour" },
		{ "%M:%S", "no directive reads the year", NULL },
		{ "%H:%M", "no directive reads the year", NULL },
		{ "%d.%m.", "no directive reads the year", NULL },
		{ "%Y-%d", "%d reads the day, and no directive reads the month", NULL },
		{ "%Y-%m-%d %M", "%M reads the minute, and no directive reads the hour", NULL },
		{ "%Y-%m-%d %H:%S", "%S reads the second, and no directive reads the minute",
		  NULL },
		{ "%Y-%m-%d%z", "%z reads the offset, and no directive", "no offset for %z" },
		{ "%Y %A", "%A reads the day of the week, and no directive reads the day", NULL },
		{ "%Y-%j %m", "%j and %m both give", NULL },
		{ "%Y-%m-%d W%V", "%V and %Y both give", NULL },
		{ "%Y-W%V", "the year of %V is %G, not %Y", "the year of %V is %G, not %Y" },
		{ "W%V", "%V reads the ISO week, and no directive reads the ISO year", NULL },
		{ "%G-%m-%d", "%G is the year of the ISO week", "%G is the year of the ISO week" },
	};

	for (size_t i = 0; i < DTX_COUNT(rows); i++) {
		for (enum dtx_format_use use = DTX_FORMAT_READ; use <= DTX_FORMAT_WRITE; use++) {
			const char *want = use == DTX_FORMAT_READ ? rows[i].read : rows[i].write;
			struct dtx_format_fault f = { "", "" };
			bool ok = dtx_time_format_check(dtx_str_of(rows[i].format), use, &f);

			if (ok != !want || (want && (!strstr(f.what, want) || !f.hint[0])))
				t_fail(__FILE__, __LINE__, "%s, use %d: %s", rows[i].format,
				       (int)use, ok ? "no fault" : f.what);
		}
	}
	T_CHECK(true);
}

void test_time_why(void)
{
	static const struct {
		const char *text, *format, *want;
	} rows[] = {
		{ "31/02/2024", "%d/%m/%Y", ": there is no such day" },
		{ "Tue 1.1.2024", "%a %d.%m.%Y", ": that day is a Monday" },
		{ "1.1.2024 25:00", "%d.%m.%Y %H:%M", ": there is no such time of day" },
		{ "1.1.2024 10:00", "%d.%m.%Y", ": the format ends before ' 10:00'" },
		{ "1.1.2024", "%d.%m.%Y %H", ": it ends before ' %H'" },
		{ "1-1-2024", "%d.%m.%Y", ": '-1-2024' does not fit '.%m.%Y'" },
		{ "2024-01-01 10:00:00.0000001", "%Y-%m-%d %H:%M:%S.%f",
		  ": a datetime keeps six digits of a second, and more are not 0" },
		{ "2024-01-01 10:00:00.0000001Z", NULL,
		  ": a datetime keeps six digits of a second, and more are not 0" },
		{ "soon", NULL, "" },
	};
	char why[DTX_TIME_WHY];

	for (size_t i = 0; i < DTX_COUNT(rows); i++) {
		struct dtx_str format = { NULL, 0 };

		if (rows[i].format)
			format = dtx_str_of(rows[i].format);
		dtx_time_why(dtx_str_of(rows[i].text), format, DTX_CENTURY, why);
		T_STR(why, rows[i].want);
	}
}

void test_time_format_print(void)
{
	struct dtx_buf b = DTX_BUF_INIT(200);
	int64_t us;
	bool zoned;

	T_CHECK(dtx_datetime_parse(DTX_STR("2021-01-01T15:04:05.006"), &us, &zoned));
	dtx_time_format(us, DTX_STR("%Y %y %m %d %H %I %M %S %f %p %b %B %a %A %j %G %V %u %%"),
	                &b);
	T_STR(dtx_buf_text(&b),
	      "2021 21 01 01 15 03 04 05 006000 PM Jan January Fri Friday 001 2020 53 5 %");
	dtx_buf_clear(&b);
}

void test_date_reads(void)
{
	static const struct {
		const char *text;
		int dmy, mdy; /* the month that is read; 0: it cannot be read */
	} rows[] = {
		{ "03/04/2024", 4, 3 },   { "13/04/2024", 4, 0 }, { "04/13/2024", 0, 4 },
		{ "3.4.24", 4, 3 },       { "3 Apr 2024", 4, 0 }, { "Apr 3, 2024", 0, 4 },
		{ "3-April-2024", 4, 0 }, { "2024-04-03", 0, 0 }, { "12.7", 0, 0 },
		{ "3/4/024", 0, 0 },      { "3/4-2024", 0, 0 },   { "tomorrow", 0, 0 },
		{ " 3/4/2024 ", 4, 3 },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		struct dtx_str s = dtx_str_of(rows[i].text);
		int32_t day = 0, y;
		unsigned m = 0, d;

		if (dtx_date_reads_dmy(s, &day))
			dtx_day_split(day, &y, &m, &d);
		T_INT(m, rows[i].dmy);
		m = 0;
		if (dtx_date_reads_mdy(s, &day))
			dtx_day_split(day, &y, &m, &d);
		T_INT(m, rows[i].mdy);
	}
}

void test_serial(void)
{
	static const struct {
		double serial;
		bool epoch1904;
		const char *want;
	} rows[] = {
		{ 1, false, "1900-01-01T00:00:00" },
		{ 59, false, "1900-02-28T00:00:00" },
		{ 59.5, false, "1900-02-28T12:00:00" },
		{ 60, false, NULL },
		{ 60.9, false, NULL },
		{ 61, false, "1900-03-01T00:00:00" },
		{ 0.5, false, NULL },
		{ 45292.5, false, "2024-01-01T12:00:00" },
		{ 45292.604166666664, false, "2024-01-01T14:30:00" },
		{ 2958465, false, "9999-12-31T00:00:00" },
		{ 2958466, false, NULL },
		{ 0, true, "1904-01-01T00:00:00" },
		{ 43830, true, "2024-01-01T00:00:00" },
		{ -1, true, NULL },
		{ NAN, false, NULL },
	};
	char text[40];
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		int64_t us = 0;
		bool ok = dtx_serial_to_us(rows[i].serial, rows[i].epoch1904, &us);

		T_CHECK(ok == (rows[i].want != NULL));
		if (!ok)
			continue;
		dtx_datetime_print(text, us);
		T_STR(text, rows[i].want);
	}
}

static int64_t at(const char *text)
{
	int64_t us = 0;
	bool zoned;

	T_CHECK(dtx_datetime_parse(dtx_str_of(text), &us, &zoned));
	return us;
}

void test_time_steps(void)
{
	static const struct {
		const char *from;
		int64_t n;
		const char *unit, *want;
	} rows[] = {
		{ "2024-01-31T10:00", 1, "month", "2024-02-29T10:00" },
		{ "2024-02-29T10:00", -12, "month", "2023-02-28T10:00" },
		{ "2024-02-29T10:00", 1, "year", "2025-02-28T10:00" },
		{ "2024-01-31T10:00", 1, "quarter", "2024-04-30T10:00" },
		{ "2024-01-31T10:00", -5, "week", "2023-12-27T10:00" },
		{ "1970-01-01T00:00", -1, "hour", "1969-12-31T23:00" },
	};
	int64_t got;
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		enum dtx_unit unit = dtx_unit_find(dtx_str_of(rows[i].unit));

		T_CHECK(dtx_time_add(at(rows[i].from), rows[i].n, unit, &got));
		T_INT(got, at(rows[i].want));
	}
	T_INT(dtx_unit_find(DTX_STR("eon")), DTX_U_NONE);
	T_CHECK(!dtx_time_add(0, INT64_MAX, DTX_U_YEAR, &got));
	T_CHECK(!dtx_time_add(0, INT64_MAX, DTX_U_DAY, &got));
}

void test_time_diff(void)
{
	static const struct {
		const char *a, *b;
		enum dtx_unit unit;
		int64_t want;
	} rows[] = {
		{ "2024-01-31T00:00", "2024-02-29T00:00", DTX_U_MONTH, 1 },
		{ "2024-01-31T00:00", "2024-02-28T00:00", DTX_U_MONTH, 0 },
		{ "2024-03-15T12:00", "2023-03-15T13:00", DTX_U_YEAR, 0 },
		{ "2024-03-15T12:00", "2023-03-15T12:00", DTX_U_YEAR, -1 },
		{ "2024-01-01T00:00", "2024-12-31T00:00", DTX_U_QUARTER, 3 },
		{ "2024-01-01T12:00", "2024-01-03T11:00", DTX_U_DAY, 1 },
		{ "2024-01-03T11:00", "2024-01-01T12:00", DTX_U_DAY, -1 },
		{ "2024-01-01T00:00", "2024-01-01T00:01", DTX_U_SECOND, 60 },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++)
		T_INT(dtx_time_diff(at(rows[i].a), at(rows[i].b), rows[i].unit), rows[i].want);
}

void test_time_trunc(void)
{
	static const struct {
		enum dtx_unit unit;
		const char *want;
	} rows[] = {
		{ DTX_U_YEAR, "1969-01-01T00:00" },   { DTX_U_QUARTER, "1969-10-01T00:00" },
		{ DTX_U_MONTH, "1969-11-01T00:00" },  { DTX_U_WEEK, "1969-11-10T00:00" },
		{ DTX_U_DAY, "1969-11-14T00:00" },    { DTX_U_HOUR, "1969-11-14T15:00" },
		{ DTX_U_MINUTE, "1969-11-14T15:16" },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++)
		T_INT(dtx_time_trunc(at("1969-11-14T15:16:17.5"), rows[i].unit), at(rows[i].want));
}

void test_decimal(void)
{
	static const struct {
		const char *text;
		uint8_t precision, scale;
		const char *want;
	} rows[] = {
		{ "12.5", 6, 2, "12.50" },
		{ "-0.05", 6, 2, "-0.05" },
		{ "0", 6, 2, "0.00" },
		{ "7", 1, 0, "7" },
		{ "+7.100", 5, 1, "7.1" },
		{ "99999999999999999999999999999999999999", 38, 0,
		  "99999999999999999999999999999999999999" },
		{ "-0.00000000000000000000000000000000000001", 38, 38,
		  "-0.00000000000000000000000000000000000001" },
		{ "12.345", 6, 2, NULL },
		{ "10000", 4, 0, NULL },
		{ "999999999999999999999999999999999999999", 38, 0, NULL },
		{ "1.", 4, 2, NULL },
		{ ".5", 4, 2, NULL },
		{ "", 4, 2, NULL },
		{ "1e3", 6, 0, NULL },
	};
	char text[48];
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		struct dtx_typeref t = { DTX_T_DECIMAL, rows[i].precision, rows[i].scale };
		struct dtx_dec128 d;
		bool ok = dtx_dec_parse(dtx_str_of(rows[i].text), t, &d);

		T_CHECK(ok == (rows[i].want != NULL));
		if (!ok)
			continue;
		dtx_dec_print(text, d, t.scale);
		T_STR(text, rows[i].want);
	}
}

void test_decimal_rescale(void)
{
	static const struct {
		int64_t v;
		unsigned from, to;
		int64_t want;
	} rows[] = {
		{ 125, 2, 1, 13 }, { -125, 2, 1, -13 }, { 124, 2, 1, 12 }, { 125, 2, 4, 12500 },
		{ 5, 1, 0, 1 },    { -5, 1, 0, -1 },    { 4, 1, 0, 0 },    { -149, 2, 0, -1 },
	};
	dtx_i128 out;
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		T_CHECK(dtx_dec_rescale(rows[i].v, rows[i].from, rows[i].to, &out));
		T_INT((int64_t)out, rows[i].want);
	}
	T_CHECK(!dtx_dec_rescale(dtx_dec_pow10(37), 0, 10, &out));
	T_CHECK(dtx_dec_to_f64(dtx_dec_put(-1234), 2) == -12.34);
	T_CHECK(dtx_dec_to_f64(dtx_dec_put(0), 2) == 0);
}

/* Both conversions of the calendar, across the border between the fast and the general code, and
 * for all four-digit years. */
void test_time_days_there_and_back(void)
{
	int64_t day;
	long wrong = 0;

	for (day = -600000; day < 3000000; day++) {
		unsigned month, dom;
		int32_t year;

		dtx_day_split((int32_t)day, &year, &month, &dom);
		wrong += month < 1 || month > 12 || dom < 1 || dom > 31 ||
		         dtx_day_of(year, month, dom) != day;
	}
	for (day = 36500000; day < 36540000; day++) {
		unsigned month, dom;
		int32_t year;

		dtx_day_split((int32_t)day, &year, &month, &dom);
		wrong += dtx_day_of(year, month, dom) != day;
	}
	T_INT(wrong, 0);
}
