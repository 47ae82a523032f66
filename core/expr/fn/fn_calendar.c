/* Dates: names, ISO weeks, ends of months, working days. */
#include "core/expr/bound.h"

#include <stdlib.h>

#include "core/data/time/time.h"
#include "core/expr/fn/sqldate.h"

/* The parts of a datetime's day. */
struct day {
	int32_t number, year;
	unsigned month, dom, weekday;
};

static struct day day_of(int64_t us)
{
	struct day d = { .number = (int32_t)(us / DTX_DAY_US - (us % DTX_DAY_US < 0)) };

	dtx_day_split(d.number, &d.year, &d.month, &d.dom);
	d.weekday = dtx_day_weekday(d.number);
	return d;
}

/* --- names --- */

static enum dtx_code named(struct dtx_fnrun *run, struct dtx_str format, int64_t us,
                           struct dtx_val *out)
{
	dtx_time_format(us, format, run->buf);
	return dtx_fn_made(run, out);
}

DTX_FN_ROW(row_month_name)
{
	(void)c, (void)err;
	return named(run, DTX_STR("%B"), arg[0].u.i, out);
}

DTX_FN_ROW(row_weekday_name)
{
	(void)c, (void)err;
	return named(run, DTX_STR("%A"), arg[0].u.i, out);
}

/* --- numbers --- */

enum calendar_fn { C_ISO_WEEK, C_ISO_YEAR, C_DAY_OF_YEAR };

DTX_FN_ROW(row_number)
{
	struct day d = day_of(arg[0].u.i), thursday;

	(void)run, (void)err;
	/* By ISO 8601 a week belongs to the year that contains its Thursday. */
	thursday = day_of((d.number - (int32_t)d.weekday + 4) * DTX_DAY_US);
	switch ((enum calendar_fn)c->fn->detail) {
	case C_ISO_WEEK:
		out->u.i = (thursday.number - dtx_day_of(thursday.year, 1, 1)) / 7 + 1;
		break;
	case C_ISO_YEAR: out->u.i = thursday.year; break;
	case C_DAY_OF_YEAR: out->u.i = d.number - dtx_day_of(d.year, 1, 1) + 1; break;
	}
	return DTX_OK;
}

static enum dtx_code prep_fiscal(struct dtx_arena *a, struct dtx_fncall *c, struct dtx_err *err)
{
	const struct dtx_val *start = c->konst[1];

	(void)a;
	if (!start->null && start->u.i >= 1 && start->u.i <= 12)
		return DTX_OK;
	return dtx_err_set(err, DTX_E_BAD_LITERAL, __FILE__, __LINE__,
	                   "a year begins in month 1 to 12");
}

DTX_FN_ROW(row_fiscal_year)
{
	struct day d = day_of(arg[0].u.i);

	(void)c, (void)run, (void)err;
	out->u.i = d.year + (arg[1].u.i > 1 && d.month >= (unsigned)arg[1].u.i);
	return DTX_OK;
}

DTX_FN_ROW(row_is_weekend)
{
	(void)c, (void)run, (void)err;
	out->u.b = day_of(arg[0].u.i).weekday > 5;
	return DTX_OK;
}

/* --- months and days --- */

DTX_FN_ROW(row_start_of_month)
{
	struct day d = day_of(arg[0].u.i);

	(void)c, (void)run, (void)err;
	out->u.day = d.number - (int32_t)d.dom + 1;
	return DTX_OK;
}

DTX_FN_ROW(row_end_of_month)
{
	struct day d = day_of(arg[0].u.i);

	(void)c, (void)run, (void)err;
	out->u.day = dtx_day_of(d.year + (d.month == 12), d.month % 12 + 1, 1) - 1;
	return DTX_OK;
}

DTX_FN_ROW(row_months_between)
{
	(void)c, (void)run, (void)err;
	out->u.i = dtx_time_diff(arg[0].u.i, arg[1].u.i, DTX_U_MONTH);
	return DTX_OK;
}

/* The number of Mondays to Fridays before day n, counted from a Monday in the distant past. */
static int64_t workdays_before(int64_t n)
{
	int64_t since = n + ((int64_t)7 << 40) + 3; /* 1970-01-01 was a Thursday */

	return since / 7 * 5 + DTX_MIN(since % 7, 5);
}

/* Holidays from Monday to Friday, in ascending order, each once. */
struct holidays {
	size_t n;
	int32_t day[];
};

static int compare_days(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static enum dtx_code prep_workdays(struct dtx_arena *a, struct dtx_fncall *c, struct dtx_err *err)
{
	struct dtx_str list = c->konst[2]->null ? DTX_STR("") : c->konst[2]->u.s, one;
	struct holidays *h =
		dtx_arena_zalloc(a, 1, sizeof(*h) + (list.len / 2 + 1) * sizeof(int32_t));
	size_t n = 0;

	if (!h)
		return dtx_err_set(err, DTX_E_NO_MEMORY, __FILE__, __LINE__, "out of memory");
	while (list.len && dtx_str_next(&list, ',', &one)) {
		int32_t day;

		one = dtx_str_trim(one);
		if (!dtx_day_parse(one, &day)) {
			dtx_err_set(err, DTX_E_BAD_LITERAL, __FILE__, __LINE__,
			            "workdays(): the holiday '%.*s' is not a date",
			            (int)DTX_MIN(one.len, (size_t)40), one.ptr);
			dtx_err_hint(err, "holidays are dates with commas between: "
			                  "'2024-12-25,2024-12-26'");
			return DTX_E_BAD_LITERAL;
		}
		if (dtx_day_weekday(day) <= 5)
			h->day[n++] = day;
	}
	qsort(h->day, n, sizeof(h->day[0]), compare_days);
	for (size_t i = 0; i < n; i++)
		if (!i || h->day[i] != h->day[i - 1])
			h->day[h->n++] = h->day[i];
	c->prepared = h;
	return DTX_OK;
}

static int64_t holidays_before(const struct holidays *h, int32_t day)
{
	size_t lo = 0, hi = h->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (h->day[mid] < day)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (int64_t)lo;
}

DTX_FN_ROW(row_workdays)
{
	int32_t from = day_of(arg[0].u.i).number, to = day_of(arg[1].u.i).number;

	(void)run, (void)err;
	out->u.i = workdays_before(to) - holidays_before(c->prepared, to) -
	           (workdays_before(from) - holidays_before(c->prepared, from));
	return DTX_OK;
}

#define SQL_MONTHS                                                                                 \
	"January  February March    April    May      June     "                                   \
	"July     August   SeptemberOctober  November December "
#define SQL_WEEKDAYS     "Monday   Tuesday  WednesdayThursday Friday   Saturday Sunday   "
#define SQL_MONTH_NAME   "rtrim(" DTX_SQL_OF_MONTH("{0}", SQL_MONTHS, "9") ")"
#define SQL_DAY_NAME     "rtrim(substr('" SQL_WEEKDAYS "', 9 * " DTX_SQL_WEEKDAY("{0}") " - 8, 9))"
#define SQL_BEFORE_MONTH DTX_SQL_OF_MONTH("{0}", "000031059090120151181212243273304334", "3")
#define SQL_AFTER_LEAP   DTX_SQL_MONTH("{0}") " > 2 AND " DTX_SQL_LEAP("{0}")
#define SQL_DAY_OF_YEAR                                                                            \
	"(CAST(" SQL_BEFORE_MONTH                                                                  \
	" AS BIGINT) + " DTX_SQL_DAY("{0}") " + " DTX_SQL_IF(SQL_AFTER_LEAP, "1", "0") ")"
#define SQL_MONTH_START "(" DTX_SQL_PART("{0}", "1", "7") " || '-01')"
#define SQL_MONTH_LAST  "(" DTX_SQL_PART("{0}", "1", "8") " || " DTX_SQL_MONTH_END("{0}") ")"
#define SQL_IN_NEW_YEAR "{1} > 1 AND " DTX_SQL_MONTH("{0}") " >= {1}"
#define SQL_FISCAL      "(" DTX_SQL_YEAR("{0}") " + " DTX_SQL_IF(SQL_IN_NEW_YEAR, "1", "0") ")"
#define SQL_IS_WEEKEND  "(" DTX_SQL_WEEKDAY("{0}") " > 5)"
#define CALENDAR(NAME, SIG, RESULT, ROWFN, DETAIL, SQL, HELP, EXAMPLE, VALUE)                      \
	{                                                                                          \
		.name = NAME, .sig = SIG, .result = RESULT, .row = (ROWFN), .detail = (DETAIL),    \
		.pandas = "dx.fn(\"" NAME "\", {*})", .sql = SQL, .help = HELP,                    \
		.example = EXAMPLE, .value = VALUE                                                 \
	}

static const struct dtx_fn rows[] = {
	CALENDAR("month_name", "d:S", "T", row_month_name, 0, SQL_MONTH_NAME,
	         "English name of the month", "month_name('2024-05-31')", "May"),
	CALENDAR("weekday_name", "d:S", "T", row_weekday_name, 0, SQL_DAY_NAME,
	         "English name of the day", "weekday_name('2024-05-31')", "Friday"),
	CALENDAR("iso_week", "d:S", "I", row_number, C_ISO_WEEK, NULL, "ISO week, 1 to 53",
	         "iso_week('2024-12-30')", "1"),
	CALENDAR("iso_year", "d:S", "I", row_number, C_ISO_YEAR, NULL, "year of the ISO week",
	         "iso_year('2024-12-30')", "2025"),
	CALENDAR("day_of_year", "d:S", "I", row_number, C_DAY_OF_YEAR, SQL_DAY_OF_YEAR, "1 to 366",
	         "day_of_year('2024-12-31')", "366"),
	CALENDAR("start_of_month", "d:S", "d", row_start_of_month, 0, SQL_MONTH_START,
	         "first day of the month", "start_of_month('2024-05-31')", "2024-05-01"),
	CALENDAR("end_of_month", "d:S", "d", row_end_of_month, 0, SQL_MONTH_LAST,
	         "last day of the month", "end_of_month('2024-02-10')", "2024-02-29"),
	CALENDAR("months_between", "a:S, b:S", "I", row_months_between, 0, NULL,
	         "whole months from a to b, toward zero",
	         "months_between('2024-01-31', '2024-02-29')", "1"),
	{ .name = "workdays",
	  .sig = "a:S, b:S, holidays:t=''",
	  .result = "I",
	  .prep = prep_workdays,
	  .row = row_workdays,
	  .pandas = "dx.fn(\"workdays\", {*})",
	  .help = "Mondays to Fridays from a up to, not including, b, without holidays, which are "
	          "dates with commas between",
	  .example = "workdays('2024-12-23', '2024-12-30', '2024-12-25,2024-12-26')",
	  .value = "3" },
	{ .name = "fiscal_year",
	  .sig = "d:S, start:i",
	  .result = "I",
	  .prep = prep_fiscal,
	  .row = row_fiscal_year,
	  .pandas = "dx.fn(\"fiscal_year\", {*})",
	  .sql = SQL_FISCAL,
	  .help = "year in which the fiscal year ends that begins in month `start`",
	  .example = "fiscal_year('2024-05-31', 4)",
	  .value = "2025" },
	CALENDAR("is_weekend", "d:S", "B", row_is_weekend, 0, SQL_IS_WEEKEND, "Saturday or Sunday",
	         "is_weekend('2024-06-01')", "true"),
};

const struct dtx_fn_table dtx_fn_calendar = { "calendar", "Calendar", rows, DTX_COUNT(rows) };
