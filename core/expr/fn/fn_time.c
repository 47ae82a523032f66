/* Dates and times. */
#include "core/expr/bound.h"

#include <math.h>

#include "core/data/cast/decimal.h"
#include "core/data/time/duration.h"
#include "core/expr/fn/sqldate.h"

/* --- parts --- */

static int64_t day_floor(int64_t us)
{
	return us / DTX_DAY_US - (us % DTX_DAY_US < 0);
}

static enum dtx_code row_part(const struct dtx_fncall *c, struct dtx_fnrun *run,
                              const struct dtx_val *arg, struct dtx_val *out, struct dtx_err *err)
{
	int64_t us = arg[0].u.i, day = day_floor(us), clock = us - day * DTX_DAY_US;
	unsigned month, dom;
	int32_t year;

	(void)run, (void)err;
	dtx_day_split((int32_t)day, &year, &month, &dom);
	switch ((enum dtx_unit)c->fn->detail) {
	case DTX_U_YEAR: out->u.i = year; break;
	case DTX_U_QUARTER: out->u.i = (month + 2) / 3; break;
	case DTX_U_MONTH: out->u.i = month; break;
	case DTX_U_DAY: out->u.i = dom; break;
	case DTX_U_HOUR: out->u.i = clock / 3600000000; break;
	case DTX_U_MINUTE: out->u.i = clock / 60000000 % 60; break;
	case DTX_U_SECOND: out->u.i = clock / 1000000 % 60; break;
	case DTX_U_WEEK:
	case DTX_U_NONE: out->u.i = dtx_day_weekday((int32_t)day); break;
	}
	return DTX_OK;
}

/* --- units --- */

/* date_trunc has one more argument after the unit. */
static uint32_t unit_place(const struct dtx_fncall *c)
{
	return c->nargs - 1 - (uint32_t)c->fn->detail;
}

/* The unit of a call: a word, or a duration as '15min'. */
static struct dtx_duration unit_of(const struct dtx_fncall *c)
{
	const struct dtx_val *v = c->konst[unit_place(c)];
	struct dtx_duration d = { 1, DTX_U_NONE };
	char text[16];

	if (!v || v->null)
		return d;
	d.unit = dtx_unit_find(v->u.s);
	if (d.unit == DTX_U_NONE && v->u.s.len < sizeof(text)) {
		dtx_str_copy(text, sizeof(text), v->u.s);
		(void)!dtx_duration_parse(text, &d);
	}
	return d;
}

static bool unit_check(const struct dtx_fncall *c, struct dtx_err *err)
{
	if (unit_of(c).unit != DTX_U_NONE)
		return true;
	dtx_err_set(err, DTX_E_BAD_LITERAL, __FILE__, __LINE__, "%s() has no such unit",
	            c->fn->name);
	dtx_err_hint(err, "year, quarter, month, week, day, hour, minute, second, or several as "
	                  "in '15min' (s min h d w mo q y)");
	return false;
}

static bool type_int(struct dtx_fncall *c, struct dtx_err *err)
{
	c->type = (struct dtx_typeref){ .type = DTX_T_INT64 };
	return unit_check(c, err);
}

static bool type_first(struct dtx_fncall *c, struct dtx_err *err)
{
	c->type = c->argtype[0];
	return unit_check(c, err);
}

/* --- weeks --- */

/* Days from the first day of a week to the next Monday; -1: not the name of a day. */
static int week_shift(const struct dtx_fncall *c)
{
	static const char *const days[] = { "monday",   "sunday",    "saturday", "friday",
		                            "thursday", "wednesday", "tuesday" };
	const struct dtx_val *v = c->konst[c->nargs - 1];

	for (size_t i = 0; v && !v->null && i < DTX_COUNT(days); i++)
		if (dtx_str_is(v->u.s, days[i]))
			return (int)i;
	return -1;
}

static bool type_trunc(struct dtx_fncall *c, struct dtx_err *err)
{
	int shift = week_shift(c);

	if (!type_first(c, err))
		return false;
	if (shift == 0 || (shift > 0 && unit_of(c).unit == DTX_U_WEEK))
		return true;
	dtx_err_set(err, DTX_E_BAD_LITERAL, __FILE__, __LINE__,
	            shift < 0 ? "%s(): no day of the week has the name given as week_start"
	                      : "%s(): week_start goes with the unit 'week'",
	            c->fn->name);
	dtx_err_hint(err, "as in date_trunc(d, 'week', 'sunday')");
	return false;
}

/* Adding hours to a date gives a datetime. */
static bool type_add(struct dtx_fncall *c, struct dtx_err *err)
{
	if (!type_first(c, err))
		return false;
	if (c->type.type == DTX_T_DATE && unit_of(c).unit >= DTX_U_HOUR)
		c->type = (struct dtx_typeref){ .type = DTX_T_DATETIME };
	return true;
}

static int64_t us_of(struct dtx_typeref t, const struct dtx_val *v)
{
	return t.type == DTX_T_DATE ? v->u.day * DTX_DAY_US : v->u.i;
}

static void put_us(struct dtx_typeref t, int64_t us, struct dtx_val *out)
{
	if (t.type == DTX_T_DATE)
		out->u.day = (int32_t)day_floor(us);
	else
		out->u.i = us;
}

static enum dtx_code row_trunc(const struct dtx_fncall *c, struct dtx_fnrun *run,
                               const struct dtx_val *arg, struct dtx_val *out, struct dtx_err *err)
{
	int64_t shift = week_shift(c) * DTX_DAY_US, us = us_of(c->argtype[0], &arg[0]);

	(void)run;
	us = dtx_duration_floor(us + shift, unit_of(c)) - shift;
	if (!dtx_us_ok(us))
		return dtx_err_set(err, DTX_E_OVERFLOW, __FILE__, __LINE__,
		                   "date_trunc() goes back before the year 1");
	put_us(c->type, us, out);
	return DTX_OK;
}

static enum dtx_code row_add(const struct dtx_fncall *c, struct dtx_fnrun *run,
                             const struct dtx_val *arg, struct dtx_val *out, struct dtx_err *err)
{
	int64_t us;

	(void)run;
	if (!dtx_duration_step(us_of(c->argtype[0], &arg[0]), arg[1].u.i, unit_of(c), &us)) {
		dtx_err_set(err, DTX_E_OVERFLOW, __FILE__, __LINE__,
		            "the result of date_add() is outside the years 1 to 9999");
		dtx_err_hint(err, "try(...) gives null, or another value, where this fails");
		return DTX_E_OVERFLOW;
	}
	put_us(c->type, us, out);
	return DTX_OK;
}

static enum dtx_code row_diff(const struct dtx_fncall *c, struct dtx_fnrun *run,
                              const struct dtx_val *arg, struct dtx_val *out, struct dtx_err *err)
{
	struct dtx_duration d = unit_of(c);

	(void)run, (void)err;
	out->u.i = dtx_time_diff(arg[0].u.i, arg[1].u.i, d.unit) / d.n;
	return DTX_OK;
}

/* --- text, making --- */

static enum dtx_code prep_format(struct dtx_arena *a, struct dtx_fncall *c, struct dtx_err *err)
{
	struct dtx_format_fault fault;

	(void)a;
	if (c->konst[1]->null || dtx_time_format_check(c->konst[1]->u.s, DTX_FORMAT_WRITE, &fault))
		return DTX_OK;
	dtx_err_set(err, DTX_E_BAD_FORMAT, __FILE__, __LINE__, "%s", fault.what);
	dtx_err_hint(err, "%s", fault.hint);
	return DTX_E_BAD_FORMAT;
}

static enum dtx_code row_format(const struct dtx_fncall *c, struct dtx_fnrun *run,
                                const struct dtx_val *arg, struct dtx_val *out, struct dtx_err *err)
{
	(void)c, (void)err;
	dtx_time_format(arg[0].u.i, arg[1].u.s, run->buf);
	out->u.s = dtx_buf_str(run->buf);
	return DTX_OK;
}

static enum dtx_code row_make(const struct dtx_fncall *c, struct dtx_fnrun *run,
                              const struct dtx_val *arg, struct dtx_val *out, struct dtx_err *err)
{
	int64_t y = arg[0].u.i, m = arg[1].u.i, d = arg[2].u.i;

	(void)c, (void)run;
	if (y < 1 || y > 9999 || m < 1 || m > 12 || d < 1 || d > 31 ||
	    !dtx_day_valid((int32_t)y, (unsigned)m, (unsigned)d))
		return dtx_err_set(err, DTX_E_CAST_FAILED, __FILE__, __LINE__,
		                   "there is no day %lld-%02lld-%02lld", (long long)y, (long long)m,
		                   (long long)d);
	out->u.day = dtx_day_of((int32_t)y, (unsigned)m, (unsigned)d);
	return DTX_OK;
}

/* --- how other systems number days and seconds --- */

static double number_of(struct dtx_typeref t, const struct dtx_val *v)
{
	if (t.type == DTX_T_FLOAT64)
		return v->u.f;
	return t.type == DTX_T_DECIMAL ? dtx_dec_to_f64(dtx_dec_put(v->u.dec), t.scale)
	                               : (double)v->u.i;
}

/* Serial numbers of whole days are dates. */
static bool type_serial(struct dtx_fncall *c, struct dtx_err *err)
{
	enum dtx_type t = c->argtype[0].type;

	(void)err;
	c->type.type = t == DTX_T_UNKNOWN ? DTX_T_UNKNOWN
	               : t == DTX_T_INT64 ? DTX_T_DATE
	                                  : DTX_T_DATETIME;
	return true;
}

DTX_FN_ROW(row_serial)
{
	double serial = number_of(c->argtype[0], &arg[0]);
	int64_t us;

	(void)run;
	if (!dtx_serial_to_us(serial, false, &us))
		return dtx_err_set(err, DTX_E_CAST_FAILED, __FILE__, __LINE__,
		                   "a spreadsheet has no day %.15g", serial);
	put_us(c->type, us, out);
	return DTX_OK;
}

/* Microseconds per unit, times 1000. */
static int64_t unix_unit(const struct dtx_fncall *c)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {
		{ "s", 1000000000 },      { "ms", 1000000 },
		{ "us", 1000 },           { "ns", 1 },
		{ "second", 1000000000 }, { "millisecond", 1000000 },
		{ "microsecond", 1000 },  { "nanosecond", 1 },
	};

	for (size_t i = 0; i < DTX_COUNT(units) && !c->konst[1]->null; i++)
		if (dtx_str_is(c->konst[1]->u.s, units[i].name))
			return units[i].ns;
	return 0;
}

static enum dtx_code prep_unix(struct dtx_arena *a, struct dtx_fncall *c, struct dtx_err *err)
{
	(void)a;
	if (unix_unit(c))
		return DTX_OK;
	dtx_err_set(err, DTX_E_BAD_LITERAL, __FILE__, __LINE__, "%s() has no such unit",
	            c->fn->name);
	dtx_err_hint(err, "'s', 'ms', 'us' or 'ns'");
	return DTX_E_BAD_LITERAL;
}

DTX_FN_ROW(row_from_unix)
{
	int64_t ns = unix_unit(c);
	double f = floor(number_of(c->argtype[0], &arg[0]) * (double)ns / 1000);
	dtx_i128 us;

	(void)run;
	if (c->argtype[0].type == DTX_T_INT64)
		us = ((dtx_i128)arg[0].u.i * ns -
		      ((dtx_i128)arg[0].u.i * ns % 1000 + 1000) % 1000) /
		     1000;
	else
		us = fabs(f) < 1e18 ? (dtx_i128)f : INT64_MAX;
	if (us > INT64_MAX || us < INT64_MIN || !dtx_us_ok((int64_t)us))
		return dtx_err_set(err, DTX_E_OVERFLOW, __FILE__, __LINE__,
		                   "the result of from_unix() is outside the years 1 to 9999");
	out->u.i = (int64_t)us;
	return DTX_OK;
}

DTX_FN_ROW(row_to_unix)
{
	dtx_i128 ns = (dtx_i128)arg[0].u.i * 1000;
	int64_t unit = unix_unit(c);
	dtx_i128 got = ns / unit - (ns % unit < 0);

	(void)run;
	if (got > INT64_MAX || got < INT64_MIN)
		return dtx_err_set(err, DTX_E_OVERFLOW, __FILE__, __LINE__,
		                   "result of to_unix() does not fit");
	out->u.i = (int64_t)got;
	return DTX_OK;
}

/* --- times of day and durations as texts: hours, minutes and seconds --- */

/* Takes one to `most` digits from the front of *s. */
static bool take_digits(struct dtx_str *s, size_t most, int64_t *out)
{
	size_t n = 0;

	for (*out = 0; n < most && n < s->len && s->ptr[n] >= '0' && s->ptr[n] <= '9'; n++)
		*out = *out * 10 + (s->ptr[n] - '0');
	s->ptr += n;
	s->len -= n;
	return n > 0;
}

static bool take_pair(struct dtx_str *s, int64_t *out)
{
	struct dtx_str digits = { s->ptr + 1, s->len ? DTX_MIN(s->len - 1, (size_t)2) : 0 };

	if (s->len < 3 || s->ptr[0] != ':' || !take_digits(&digits, 2, out) || digits.len ||
	    *out > 59)
		return false;
	s->ptr += 3;
	s->len -= 3;
	return true;
}

DTX_FN_ROW(row_time_to_sec)
{
	struct dtx_str s = dtx_str_trim(arg[0].u.s);
	int64_t hours, minutes, seconds = 0;
	bool minus = s.len && s.ptr[0] == '-';

	(void)c, (void)run;
	s.ptr += minus;
	s.len -= minus;
	if (!take_digits(&s, 9, &hours) || !take_pair(&s, &minutes) ||
	    (s.len && !take_pair(&s, &seconds)) || s.len) {
		dtx_err_set(err, DTX_E_CAST_FAILED, __FILE__, __LINE__,
		            "time_to_sec: '%.*s' is not hours:minutes or hours:minutes:seconds",
		            (int)DTX_MIN(arg[0].u.s.len, (size_t)60), arg[0].u.s.ptr);
		dtx_err_hint(err, "as in 09:30 or 25:30:15; of a datetime d it is "
		                  "hour(d) * 3600 + minute(d) * 60 + second(d)");
		return DTX_E_CAST_FAILED;
	}
	out->u.i = (hours * 60 + minutes) * 60 + seconds;
	out->u.i = minus ? -out->u.i : out->u.i;
	return DTX_OK;
}

DTX_FN_ROW(row_sec_to_time)
{
	uint64_t n = arg[0].u.i < 0 ? -(uint64_t)arg[0].u.i : (uint64_t)arg[0].u.i;

	(void)c, (void)err;
	dtx_buf_printf(run->buf, "%s%02llu:%02u:%02u", arg[0].u.i < 0 ? "-" : "",
	               (unsigned long long)(n / 3600), (unsigned)(n / 60 % 60), (unsigned)(n % 60));
	return dtx_fn_made(run, out);
}

#define SQL_QUARTER "CAST(" DTX_SQL_OF_MONTH("{0}", "111222333444", "1") " AS BIGINT)"
#define PART(NAME, UNIT, SQL, HELP, EXAMPLE, VALUE)                                                \
	{                                                                                          \
		.name = NAME, .sig = "d:S", .result = "I", .row = row_part, .detail = (UNIT),      \
		.pandas = "dx.fn(\"" NAME "\", {0})", .help = HELP, .example = EXAMPLE,            \
		.value = VALUE, .sql = SQL                                                         \
	}

static const struct dtx_fn rows[] = {
	PART("year", DTX_U_YEAR, DTX_SQL_YEAR("{0}"), "year", "year('2024-05-31')", "2024"),
	PART("quarter", DTX_U_QUARTER, SQL_QUARTER, "quarter, 1 to 4", "quarter('2024-05-31')",
	     "2"),
	PART("month", DTX_U_MONTH, DTX_SQL_MONTH("{0}"), "month, 1 to 12", "month('2024-05-31')",
	     "5"),
	PART("day", DTX_U_DAY, DTX_SQL_DAY("{0}"), "day of the month", "day('2024-05-31')", "31"),
	PART("hour", DTX_U_HOUR, DTX_SQL_CLOCK("{0}", "12"), "hour, 0 to 23",
	     "hour('2024-05-31T09:30:00')", "9"),
	PART("minute", DTX_U_MINUTE, DTX_SQL_CLOCK("{0}", "15"), "minute",
	     "minute('2024-05-31T09:30:00')", "30"),
	PART("second", DTX_U_SECOND, DTX_SQL_CLOCK("{0}", "18"), "second",
	     "second('2024-05-31T09:30:15')", "15"),
	PART("weekday", DTX_U_NONE, DTX_SQL_WEEKDAY("{0}"), "1 Monday to 7 Sunday",
	     "weekday('2024-05-31')", "5"),
	{ .name = "date_trunc",
	  .pandas = "dx.fn(\"date_trunc\", {*})",
	  .sig = "d:D, unit:t, week_start:t='monday'",
	  .type = type_trunc,
	  .row = row_trunc,
	  .detail = 1,
	  .help = "first instant of the unit, or of '15min', '2w' ..., that d lies in; weeks begin "
	          "on "
	          "week_start",
	  .example = "date_trunc('2024-05-31', 'quarter')",
	  .value = "2024-04-01" },
	{ .name = "date_add",
	  .pandas = "dx.fn(\"date_add\", {*})",
	  .sig = "d:D, n:I, unit:t",
	  .type = type_add,
	  .row = row_add,
	  .help = "d and n units; months clamp to their last day",
	  .example = "date_add('2024-01-31', 1, 'month')",
	  .value = "2024-02-29" },
	{ .name = "date_diff",
	  .pandas = "dx.fn(\"date_diff\", {*})",
	  .sig = "a:S, b:S, unit:t",
	  .type = type_int,
	  .row = row_diff,
	  .help = "whole units from a to b, toward zero",
	  .example = "date_diff('2024-01-31', '2024-03-30', 'month')",
	  .value = "1" },
	{ .name = "format_date",
	  .aliases = "date_format",
	  .pandas = "dx.fn(\"format_date\", {*})",
	  .sig = "d:S, format:t",
	  .result = "T",
	  .prep = prep_format,
	  .row = row_format,
	  .help = "d as text by a format, English names",
	  .example = "format_date('2024-01-31', '%d.%m.%y')",
	  .value = "31.01.24" },
	{ .name = "make_date",
	  .pandas = "dx.fn(\"make_date\", {*})",
	  .sig = "year:I, month:I, day:I",
	  .result = "d",
	  .flags = DTX_FN_CASTS,
	  .row = row_make,
	  .help = "date from its parts",
	  .example = "make_date(2024, 2, 29)",
	  .value = "2024-02-29" },
	{ .name = "time_to_sec",
	  .sig = "t:T",
	  .result = "I",
	  .flags = DTX_FN_CASTS,
	  .row = row_time_to_sec,
	  .pandas = "dx.fn(\"time_to_sec\", {*})",
	  .help = "seconds of a time of day or a duration, h:mm or h:mm:ss",
	  .example = "time_to_sec('09:30:15')",
	  .value = "34215" },
	{ .name = "sec_to_time",
	  .sig = "n:I",
	  .result = "T",
	  .row = row_sec_to_time,
	  .pandas = "dx.fn(\"sec_to_time\", {*})",
	  .help = "seconds as the text hh:mm:ss; more than 24 hours are a duration",
	  .example = "sec_to_time(time_to_sec('23:50') + 1800)",
	  .value = "24:20:00" },
	{ .name = "from_excel_serial",
	  .sig = "n:N",
	  .type = type_serial,
	  .flags = DTX_FN_CASTS,
	  .row = row_serial,
	  .pandas = "dx.fn(\"from_excel_serial\", {*})",
	  .help = "day number of a spreadsheet: a date of an int, else a datetime",
	  .example = "from_excel_serial(45322)",
	  .value = "2024-01-31" },
	{ .name = "from_unix",
	  .sig = "n:N, unit:t='s'",
	  .result = "s",
	  .prep = prep_unix,
	  .row = row_from_unix,
	  .pandas = "dx.fn(\"from_unix\", {*})",
	  .help = "datetime from the s, ms, us or ns since 1970",
	  .example = "from_unix(86400)",
	  .value = "1970-01-02T00:00:00" },
	{ .name = "to_unix",
	  .sig = "d:S, unit:t='s'",
	  .result = "I",
	  .prep = prep_unix,
	  .row = row_to_unix,
	  .pandas = "dx.fn(\"to_unix\", {*})",
	  .help = "whole s, ms, us or ns since 1970",
	  .example = "to_unix('1970-01-02')",
	  .value = "86400" },
	{ .name = "run_date",
	  .sig = "",
	  .form = DTX_FORM_RUN_DATE,
	  .pandas = "dx.run_date()",
	  .help = "UTC date of the run, as recorded",
	  .example = "run_date() - run_date()",
	  .value = "0" },
};

const struct dtx_fn_table dtx_fn_time = { "time", "Dates", rows, DTX_COUNT(rows) };
