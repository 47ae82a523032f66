/* SQL of date functions: see print_date.h. */
#include "core/expr/parse/print_date.h"

#include "core/data/time/time.h"
#include "core/expr/fn/sqldate.h"

bool dtx_sql_date_literal(struct dtx_str text)
{
	static const char shape[] = "0000-00-00T00:00:00.0";
	size_t n = DTX_MIN(text.len, sizeof(shape) - 1);

	for (size_t i = 0; i < text.len; i++) {
		bool digit = text.ptr[i] >= '0' && text.ptr[i] <= '9';

		if (i >= n || shape[i] == '0' ? !digit : text.ptr[i] != shape[i])
			return false;
	}
	return text.len == 10 || text.len == 19 || text.len > 20;
}

const char dtx_sql_days_between[] = "(" DTX_SQL_DAYS("{0}") " - " DTX_SQL_DAYS("{1}") ")";

/* Whole months from {0} to {1}, toward zero: one less where the day of the month is not reached,
 * unless it is the month's last. */
#define YEARS   "(" DTX_SQL_YEAR("{1}") " - " DTX_SQL_YEAR("{0}") ")"
#define DAY(X)  DTX_SQL_PART(X, "9", "2")
#define SHORT   DAY("{1}") " < " DAY("{0}") " AND " DAY("{1}") " < " DTX_SQL_MONTH_END("{1}")
#define LATER   "CAST({1} AS TEXT) >= CAST({0} AS TEXT)"
#define BACK    DTX_SQL_IF(DAY("{1}") " > " DAY("{0}"), "-1", "0")
#define FORTH   DTX_SQL_IF(SHORT, "1", "0")
#define MISSING DTX_SQL_IF(LATER, FORTH, BACK)
#define MONTHS                                                                                     \
	"(" YEARS " * 12 + " DTX_SQL_MONTH("{1}") " - " DTX_SQL_MONTH("{0}") " - " MISSING ")"
#define WHOLE(X, N) "CAST((" X " - " X " % " N ") / " N " AS BIGINT)"
#define DAYS_TO     "(" DTX_SQL_DAYS("{1}") " - " DTX_SQL_DAYS("{0}") ")"

static enum dtx_unit unit_at(const struct dtx_expr *e, uint32_t i)
{
	const struct dtx_expr *arg = i < e->nargs ? e->arg[i] : NULL;

	return arg && arg->kind == DTX_EX_LIT && arg->op == DTX_LIT_TEXT ? dtx_unit_find(arg->text)
	                                                                 : DTX_U_NONE;
}

static const char *diff_form(enum dtx_unit unit)
{
	switch (unit) {
	case DTX_U_YEAR: return WHOLE(MONTHS, "12");
	case DTX_U_QUARTER: return WHOLE(MONTHS, "3");
	case DTX_U_MONTH: return MONTHS;
	case DTX_U_WEEK: return WHOLE(DAYS_TO, "7");
	case DTX_U_DAY: return DAYS_TO;
	default: return NULL;
	}
}

#define FIRST_MONTH DTX_SQL_OF_MONTH("{0}", "010101040404070707101010", "2")
#define QUARTER     DTX_SQL_PART("{0}", "1", "5") " || " FIRST_MONTH

/* The text of a date or datetime up to the unit, and how it goes on. */
static bool trunc_form(enum dtx_unit unit, bool time, struct dtx_buf *out)
{
	static const char *const part[][2] = {
		[DTX_U_YEAR] = { DTX_SQL_PART("{0}", "1", "4"), "-01-01" },
		[DTX_U_QUARTER] = { QUARTER, "-01" },
		[DTX_U_MONTH] = { DTX_SQL_PART("{0}", "1", "7"), "-01" },
		[DTX_U_DAY] = { DTX_SQL_PART("{0}", "1", "10"), "" },
		[DTX_U_HOUR] = { DTX_SQL_PART("{0}", "12", "2"), ":00:00" },
		[DTX_U_MINUTE] = { DTX_SQL_PART("{0}", "12", "5"), ":00" },
		[DTX_U_SECOND] = { DTX_SQL_PART("{0}", "12", "8"), "" },
	};

	if (unit == DTX_U_NONE || unit == DTX_U_WEEK)
		return false;
	if (unit >= DTX_U_HOUR && !time) /* a date begins its day */
		dtx_buf_add(out, DTX_SQL_PART("{0}", "1", "10"));
	else if (unit >= DTX_U_HOUR)
		dtx_buf_printf(out, "(%s || 'T' || %s || '%s')", DTX_SQL_PART("{0}", "1", "10"),
		               part[unit][0], part[unit][1]);
	else
		dtx_buf_printf(out, "(%s || '%s%s')", part[unit][0], part[unit][1],
		               time ? "T00:00:00" : "");
	return true;
}

/* The digits that a directive writes; NULL: others. */
static const char *directive(char which, bool time)
{
	switch (which) {
	case 'Y': return DTX_SQL_PART("{0}", "1", "4");
	case 'y': return DTX_SQL_PART("{0}", "3", "2");
	case 'm': return DTX_SQL_PART("{0}", "6", "2");
	case 'd': return DTX_SQL_PART("{0}", "9", "2");
	case 'H': return time ? DTX_SQL_PART("{0}", "12", "2") : "'00'";
	case 'M': return time ? DTX_SQL_PART("{0}", "15", "2") : "'00'";
	case 'S': return time ? DTX_SQL_PART("{0}", "18", "2") : "'00'";
	default: return NULL;
	}
}

static bool format_form(struct dtx_str format, bool time, struct dtx_buf *out)
{
	bool quoted = true, reads = false; /* null where the date is */

	dtx_buf_add(out, "('");
	for (size_t i = 0; i < format.len; i++) {
		char at = format.ptr[i];
		const char *digits = NULL;

		if (at == '{' || at == '}') /* would be placeholders of this form */
			return false;
		if (at == '%') {
			at = ++i < format.len ? format.ptr[i] : '\0';
			digits = directive(at, time);
			if (!digits && at != '%')
				return false;
		}
		if (digits || !quoted)
			dtx_buf_add(out, quoted ? "' || " : digits ? " || " : " || '");
		quoted = !digits;
		reads = reads || digits;
		if (digits) {
			dtx_buf_add(out, digits);
			continue;
		}
		dtx_buf_addc(out, at);
		if (at == '\'')
			dtx_buf_addc(out, at);
	}
	dtx_buf_add(out, quoted ? "')" : ")");
	return reads;
}

bool dtx_sql_date_has(const char *fn)
{
	return !strcmp(fn, "date_diff") || !strcmp(fn, "months_between") ||
	       !strcmp(fn, "date_trunc") || !strcmp(fn, "format_date");
}

bool dtx_sql_date_form(const char *fn, const struct dtx_expr *e, const enum dtx_type *type,
                       struct dtx_buf *out, const char **why)
{
	bool time = type[0] == DTX_T_DATETIME;

	*why = "with that unit";
	if (!strcmp(fn, "date_trunc"))
		return e->nargs == 2 && trunc_form(unit_at(e, 1), time, out);
	if (!strcmp(fn, "format_date")) {
		*why = "with that format";
		return e->nargs == 2 && e->arg[1]->kind == DTX_EX_LIT &&
		       e->arg[1]->op == DTX_LIT_TEXT && format_form(e->arg[1]->text, time, out);
	}
	if (type[0] != DTX_T_DATE || type[1] != DTX_T_DATE) {
		*why = "of datetimes";
		return false;
	}
	fn = diff_form(!strcmp(fn, "date_diff") ? unit_at(e, 2) : DTX_U_MONTH);
	dtx_buf_add(out, fn ? fn : "");
	return fn != NULL;
}
