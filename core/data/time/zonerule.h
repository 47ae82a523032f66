/* The rule at the end of a time zone file: "CET-1CEST,M3.5.0,M10.5.0/3" (POSIX TZ, RFC 8536). */
#ifndef DTX_DATA_TIME_ZONERULE_H
#define DTX_DATA_TIME_ZONERULE_H

#include "core/base/text/str.h"

struct dtx_zonechange {
	char kind; /* 'M': month, week and day of the week; 'J': day of the year without 29
	            * February, from 1; 'n': day of the year with it, from 0 */
	int32_t month, week, day;
	int32_t sec; /* local time of the change, seconds of that day */
};
struct dtx_zonerule {
	int32_t standard, summer; /* seconds east of UTC */
	bool changes;
	struct dtx_zonechange begin, end; /* of daylight saving time */
};
DTX_MUSTUSE bool dtx_zonerule_parse(struct dtx_str s, struct dtx_zonerule *out);
/* Seconds east of UTC at an instant, which is in seconds since 1970. */
int64_t dtx_zonerule_offset(const struct dtx_zonerule *r, int64_t sec);

#endif
