/* Parses times on the command line, see relative_time.h. */
#include "cli/relative_time.h"

#include <string.h>

#include "core/base/log.h"
#include "core/base/text/num.h"
#include "core/data/time/time.h"

#define SPAN_MAX 36500 /* the largest number of any unit */

static bool parse_span(const char *text, int64_t *us)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 } };
	size_t len = strlen(text);
	int64_t n;

	if (len < 2 || !dtx_num_parse_i64(text, len - 1, &n) || n < 0 || n > SPAN_MAX)
		return false;
	for (size_t i = 0; i < DTX_COUNT(units); i++) {
		if (units[i].unit == text[len - 1]) {
			*us = n * units[i].seconds * 1000000;
			return true;
		}
	}
	return false;
}

enum dtx_code dtx_relative_time_parse(const char *text, const char *option, int64_t *us,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!parse_span(text, us))
		DTX_FAIL(err, DTX_E_USAGE,
		         "option '--%s' takes a span like 180d, 12h or 30m, got '%s'", option,
		         text);
out:
	return rc;
}

enum dtx_code dtx_since_parse(const char *text, const char *option, int64_t *us,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t span;
	int32_t day;
	bool zoned;

	if (parse_span(text, &span)) {
		*us = dtx_wall_us() - span;
	} else if (dtx_day_parse(dtx_str_of(text), &day)) {
		*us = (int64_t)day * 86400 * 1000000;
	} else if (!dtx_datetime_parse(dtx_str_of(text), us, &zoned)) {
		DTX_FAIL(err, DTX_E_USAGE,
		         "option '--%s' takes a day, a time like '2026-11-21T14:30:00' or a span "
		         "like 7d, "
		         "got '%s'",
		         option, text);
	}
out:
	return rc;
}
