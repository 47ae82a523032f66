/* Proleptic Gregorian dates, ISO 8601, strptime-like formats, Excel serial numbers.  All times are
 * UTC: days since 1970-01-01 or microseconds since then. */
#ifndef DTX_DATA_TIME_TIME_H
#define DTX_DATA_TIME_TIME_H

#include "core/base/err.h"
#include "core/base/text/str.h"

#define DTX_DAY_US ((int64_t)86400 * 1000000)

/* Dates and times are within the years 1 to 9999, which is what readers of four-digit years accept.
 * A computation that leaves this range gives no date. */
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
unsigned dtx_day_weekday(int32_t day); /* 1 is Monday, 7 is Sunday */
/* "2024-01-31"; returns the length.  Years outside of 0..9999 get a sign. */
size_t dtx_day_print(char out[16], int32_t day);
/* "2024-01-31T09:30:00"; with a fraction only if it is not zero. */
size_t dtx_datetime_print(char out[40], int64_t us);
/* ISO 8601 as the ingest rules accept it; the whole text must match.  A datetime may end in an
 * offset (see dtx_offset_take), which may follow a blank: `zoned` is then set and the value is in
 * UTC. */
DTX_MUSTUSE bool dtx_day_parse(struct dtx_str s, int32_t *day);
DTX_MUSTUSE bool dtx_datetime_parse(struct dtx_str s, int64_t *us, bool *zoned);
/* Takes Z, +HH, +HHMM or +HH:MM (or with -) from the front of *s.  The offset is in microseconds
 * east of UTC. */
DTX_MUSTUSE bool dtx_offset_take(struct dtx_str *s, int64_t *offset);
/* Takes one to nine digits of a fraction of a second from the front of *s.  A datetime has
 * microseconds, so further digits must be 0; otherwise they would be lost. */
DTX_MUSTUSE bool dtx_fraction_take(struct dtx_str *s, int64_t *us);

/* --- formats: %Y %y %m %d %H %I %M %S %f %z %p %b %B %a %A %j %G %V %u %%; English names --- */

/* A format for reading must be stricter than one for writing: it contains each field once, and
 * every field is used. */
enum dtx_format_use { DTX_FORMAT_READ, DTX_FORMAT_WRITE };
struct dtx_format_fault {
	char what[200]; /* "'%m.%d' is not a date format: no directive reads the year" */
	char hint[160];
};
/* Checks a format before the run, for the error bad_format.  False with the fault if a directive is
 * unknown, if directives contradict each other, or if one has no effect. */
DTX_MUSTUSE bool dtx_time_format_check(struct dtx_str format, enum dtx_format_use use,
                                       struct dtx_format_fault *fault);
/* Reads the whole text by a checked format.  `century` is the first year that a two-digit year can
 * mean. */
#define DTX_CENTURY 1969
DTX_MUSTUSE bool dtx_time_parse(struct dtx_str s, struct dtx_str format, int32_t century,
                                int64_t *us);
/* Why dtx_time_parse (dtx_datetime_parse if format.ptr is NULL) does not read s, as the end of an
 * error message: ": there is no such day".  Empty if there is nothing to add. */
#define DTX_TIME_WHY 120
void dtx_time_why(struct dtx_str s, struct dtx_str format, int32_t century, char out[DTX_TIME_WHY]);
/* The hint that fits such a reason; `usual` if none fits better. */
const char *dtx_time_why_hint(const char *why, const char *usual);
/* The year that two digits mean: the one in century .. century + 99. */
int32_t dtx_year_of_two(int32_t two, int32_t century);
struct dtx_buf;
void dtx_time_format(int64_t us, struct dtx_str format, struct dtx_buf *out);

/* Whether the text can be read as day-month-year or month-day-year (separators - / . blank). */
bool dtx_date_reads_dmy(struct dtx_str s, int32_t *day);
bool dtx_date_reads_mdy(struct dtx_str s, int32_t *day);

/* Excel serial number to microseconds since 1970, rounded to 1 ms.  False if it is not a date (60,
 * < 1, >= 2958466 with the 1900 epoch). */
DTX_MUSTUSE bool dtx_serial_to_us(double serial, bool epoch1904, int64_t *us);
/* Units of calendar steps.  A step of months that leads to a day which the month does not have goes
 * to its last day. */
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
/* False: the result is not a date within the years 1 to 9999. */
DTX_MUSTUSE bool dtx_time_add(int64_t us, int64_t n, enum dtx_unit unit, int64_t *out);
/* The largest n for which a + n units is not after b. */
int64_t dtx_time_diff(int64_t a, int64_t b, enum dtx_unit unit);
int64_t dtx_time_trunc(int64_t us, enum dtx_unit unit);

#endif
