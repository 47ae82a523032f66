/* Dates in SQL, as texts that SQLite and DuckDB compute alike.
 *
 * A date is a text as 2024-12-31 in SQLite, and is cast to one elsewhere; a datetime goes on with T
 * or a blank and 09:30:00.  `/` of two integers truncates in SQLite and does not in DuckDB, so it
 * divides only multiples.  X is the placeholder of an argument: "{0}". */
#ifndef DTX_EXPR_FN_SQLDATE_H
#define DTX_EXPR_FN_SQLDATE_H

#define DTX_SQL_PART(X, FROM, N)   "substr(CAST(" X " AS TEXT), " FROM ", " N ")"
#define DTX_SQL_NUMBER(X, FROM, N) "CAST(" DTX_SQL_PART(X, FROM, N) " AS BIGINT)"
#define DTX_SQL_YEAR(X)            DTX_SQL_NUMBER(X, "1", "4")
#define DTX_SQL_MONTH(X)           DTX_SQL_NUMBER(X, "6", "2")
#define DTX_SQL_DAY(X)             DTX_SQL_NUMBER(X, "9", "2")
/* The month's entry of a table with entries of N digits. */
#define DTX_SQL_OF_MONTH(X, TABLE, N)                                                              \
	"substr('" TABLE "', " N " * " DTX_SQL_MONTH(X) " - (" N " - 1), " N ")"
/* A date has no time of day. */
#define DTX_SQL_CLOCK(X, FROM) "CAST('0' || " DTX_SQL_PART(X, FROM, "2") " AS BIGINT)"
#define DTX_SQL_DIVIDES(X, N)  DTX_SQL_YEAR(X) " % " N " = 0"
#define DTX_SQL_LEAP(X)                                                                            \
	"(" DTX_SQL_DIVIDES(X, "4") " AND (NOT " DTX_SQL_DIVIDES(X, "100") " OR " DTX_SQL_DIVIDES( \
		X, "400") "))"
#define DTX_SQL_LENGTH(X)              DTX_SQL_OF_MONTH(X, "312831303130313130313031", "2")
#define DTX_SQL_IF(CONDITION, YES, NO) "CASE WHEN " CONDITION " THEN " YES " ELSE " NO " END"
#define DTX_SQL_LEAP_DAY(X)            DTX_SQL_MONTH(X) " = 2 AND " DTX_SQL_LEAP(X)
#define DTX_SQL_MONTH_END(X)           DTX_SQL_IF(DTX_SQL_LEAP_DAY(X), "'29'", DTX_SQL_LENGTH(X))
/* Days since a day in the distant past, by years from March on, so that the day of a leap year is
 * the last: with n = 100 * year + month - 3 the number of such years is n / 100, that of leap years
 * n / 400 - n / 10000 + n / 40000, each rounded down. */
#define DTX_SQL_N(X)         "(CAST(replace(" DTX_SQL_PART(X, "1", "7") ", '-', '') AS BIGINT) - 3)"
#define DTX_SQL_YEARS(X, OF) "(" DTX_SQL_N(X) " - " DTX_SQL_N(X) " % " OF ") / " OF
#define DTX_SQL_CYCLES(X)                                                                          \
	DTX_SQL_YEARS(X, "400") " - " DTX_SQL_YEARS(X, "10000") " + " DTX_SQL_YEARS(X, "40000")
#define DTX_SQL_SINCE_MARCH(X)                                                                     \
	"CAST(" DTX_SQL_OF_MONTH(X, "306337000031061092122153184214245275", "3") " AS BIGINT)"
#define DTX_SQL_DAYS(X)                                                                            \
	"CAST(365 * " DTX_SQL_YEARS(X, "100") " + " DTX_SQL_CYCLES(X) " + " DTX_SQL_SINCE_MARCH(   \
		X) " + " DTX_SQL_DAY(X) " AS BIGINT)"
/* 1 Monday to 7 Sunday */
#define DTX_SQL_WEEKDAY(X) "((" DTX_SQL_DAYS(X) " + 1) % 7 + 1)"

#endif
