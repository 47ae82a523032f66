/* Proleptic Gregorian dates, ISO 8601, strptime-like formats, Excel serials. All UTC. */
#ifndef DTX_DATA_TIME_TIME_H
#define DTX_DATA_TIME_TIME_H

#include "core/base/err.h"
#include "core/base/text/str.h"

#define DTX_DAY_US ((int64_t)86400 * 1000000)

/* Dates and times are of the years 1 to 9999, as every reader of four digits knows them; what leads
 * elsewhere is no date. */
#define DTX_DAY_FIRST (-719162)
#define DTX_DAY_LAST  2932896
static inline bool dtx_day_ok(int64_t day)
{
	return day >= DTX_DAY_FIRST && day <= DTX_DAY_LAST;
}
static inline bool dtx_us_ok(int64_t us)
{
	return us >= DTX_DAY_FIRST * DTX_DAY_US && us < (DTX_DAY_LAST + 1) * DTX_DAY_US;
}

int32_t dtx_day_of(int32_t year, unsigned month, unsigned day); /* days since 1970-01-01 */
void dtx_day_split(int32_t day, int32_t *year, unsigned *month, unsigned *dom);
bool dtx_day_valid(int32_t year, unsigned month, unsigned day);
unsigned dtx_day_weekday(int32_t day); /* 1 Monday .. 7 Sunday */
/* "2024-01-31"; returns the length. Years outside 0..9999 get a sign. */
size_t dtx_day_print(char out[16], int32_t day);
/* "2024-01-31T09:30:00", fraction only if not zero. */
size_t dtx_datetime_print(char out[40], int64_t us);
/* ISO 8601 as the ingest rules accept it; whole text.  A datetime may end in an offset (see
 * dtx_offset_take), after a blank perhaps: zoned is set and the value is in UTC. */
DTX_MUSTUSE bool dtx_day_parse(struct dtx_str s, int32_t *day);
DTX_MUSTUSE bool dtx_datetime_parse(struct dtx_str s, int64_t *us, bool *zoned);
/* Z, +HH, +HHMM or +HH:MM (or with -) off the front of *s, in microseconds east of UTC. */
DTX_MUSTUSE bool dtx_offset_take(struct dtx_str *s, int64_t *offset);
/* One to nine digits of a second off the front of *s.  A datetime keeps microseconds: digits below
 * them must be 0, so that none is lost. */
DTX_MUSTUSE bool dtx_fraction_take(struct dtx_str *s, int64_t *us);

/* --- formats: %Y %y %m %d %H %I %M %S %f %z %p %b %B %a %A %j %G %V %u %%; English names --- */

/* What a format is for.  A text must say each field once, and all that it says is used: a format
 * to read by is stricter than one to write by. */
enum dtx_format_use { DTX_FORMAT_READ, DTX_FORMAT_WRITE };
struct dtx_format_fault {
	char what[200]; /* "'%m.%d' is no date format: no directive reads the year" */
	char hint[160];
};
/* The static check of a format, bad_format: false and the fault where a directive is unknown, the
 * directives contradict each other, or one would be without effect. */
DTX_MUSTUSE bool dtx_time_format_check(struct dtx_str format, enum dtx_format_use use,
                                       struct dtx_format_fault *fault);
/* The whole text by a checked format.  `century`: the first year that two digits can mean. */
#define DTX_CENTURY 1969
DTX_MUSTUSE bool dtx_time_parse(struct dtx_str s, struct dtx_str format, int32_t century,
                                int64_t *us);
/* Why dtx_time_parse (format.ptr NULL: dtx_datetime_parse) does not read s, for the end of an
 * error's message: ": there is no such day".  Empty when there is no more to say than that it does
 * not. */
#define DTX_TIME_WHY 120
void dtx_time_why(struct dtx_str s, struct dtx_str format, int32_t century, char out[DTX_TIME_WHY]);
/* ... what to do about it; `usual` where there is nothing special. */
const char *dtx_time_why_hint(const char *why, const char *usual);
/* The year that two digits mean: the one in century .. century + 99. */
int32_t dtx_year_of_two(int32_t two, int32_t century);
struct dtx_buf;
void dtx_time_format(int64_t us, struct dtx_str format, struct dtx_buf *out);

/* Text reads as day-month-year / month-day-year (separators - / . blank). */
bool dtx_date_reads_dmy(struct dtx_str s, int32_t *day);
bool dtx_date_reads_mdy(struct dtx_str s, int32_t *day);

/* Excel serial to microseconds since 1970, rounded to 1 ms; false when it is no date (60, < 1,
 * >= 2958466 with the 1900 epoch). */
DTX_MUSTUSE bool dtx_serial_to_us(double serial, bool epoch1904, int64_t *us);
/* Calendar steps; months clamp. unit: year quarter month week day hour minute second. */
enum dtx_unit {
	DTX_U_YEAR,
	DTX_U_QUARTER,
	DTX_U_MONTH,
	DTX_U_WEEK,
	DTX_U_DAY,
	DTX_U_HOUR,
	DTX_U_MINUTE,
	DTX_U_SECOND,
	DTX_U_NONE
};
enum dtx_unit dtx_unit_find(struct dtx_str name);
/* false: the result is no date. */
DTX_MUSTUSE bool dtx_time_add(int64_t us, int64_t n, enum dtx_unit unit, int64_t *out);
/* Largest n with add(a, n) not past b. */
int64_t dtx_time_diff(int64_t a, int64_t b, enum dtx_unit unit);
int64_t dtx_time_trunc(int64_t us, enum dtx_unit unit);

#endif
