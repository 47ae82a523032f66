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
