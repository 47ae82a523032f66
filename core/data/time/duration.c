/* Durations: see duration.h. */
#include "core/data/time/duration.h"

bool dtx_duration_parse(const char *text, struct dtx_duration *out)
{
	static const struct {
		const char *name;
		enum dtx_unit unit;
	} unit[] = {
		{ "s", DTX_U_SECOND },  { "min", DTX_U_MINUTE }, { "h", DTX_U_HOUR },
		{ "d", DTX_U_DAY },     { "w", DTX_U_WEEK },     { "mo", DTX_U_MONTH },
		{ "q", DTX_U_QUARTER }, { "y", DTX_U_YEAR },
	};
	int64_t n = 0;

	for (; *text >= '0' && *text <= '9' && n < 1000000; text++)
		n = n * 10 + (*text - '0');
	for (size_t i = 0; n && i < DTX_COUNT(unit); i++)
		if (strcmp(text, unit[i].name) == 0) {
			*out = (struct dtx_duration){ n, unit[i].unit };
			return true;
		}
	return false;
}

bool dtx_duration_step(int64_t start, int64_t k, struct dtx_duration d, int64_t *out)
{
	int64_t n;

	return !__builtin_mul_overflow(k, d.n, &n) && dtx_time_add(start, n, d.unit, out);
}

bool dtx_duration_is_days(struct dtx_duration d)
{
	return d.unit != DTX_U_SECOND && d.unit != DTX_U_MINUTE && d.unit != DTX_U_HOUR;
}

/* The largest multiple of n that is not above v. */
static int64_t multiple(int64_t v, int64_t n)
{
	int64_t rest = v % n;

	return v - (rest < 0 ? rest + n : rest);
}

/* The Monday of the week of 1970-01-01. */
#define MONDAY (-3)

int64_t dtx_duration_floor(int64_t us, struct dtx_duration d)
{
	int64_t start = dtx_time_trunc(us, d.unit), unit, month;
	int32_t year;
	unsigned m, dom;

	if (d.n <= 1)
		return start;
	switch (d.unit) {
	case DTX_U_YEAR:
	case DTX_U_QUARTER:
	case DTX_U_MONTH:
		unit = d.unit == DTX_U_YEAR ? 12 : d.unit == DTX_U_QUARTER ? 3 : 1;
		dtx_day_split((int32_t)(start / DTX_DAY_US), &year, &m, &dom);
		month = multiple((int64_t)year * 12 + m - 1, d.n * unit);
		year = (int32_t)(multiple(month, 12) / 12);
		return dtx_day_of(year, (unsigned)(month - (int64_t)year * 12) + 1, 1) * DTX_DAY_US;
	case DTX_U_WEEK:
		return multiple(start - MONDAY * DTX_DAY_US, d.n * 7 * DTX_DAY_US) +
		       MONDAY * DTX_DAY_US;
	case DTX_U_DAY: return multiple(start, d.n * DTX_DAY_US);
	case DTX_U_HOUR: return multiple(start, d.n * (DTX_DAY_US / 24));
	case DTX_U_MINUTE: return multiple(start, d.n * (DTX_DAY_US / 1440));
	default: return multiple(start, d.n * 1000000);
	}
}
