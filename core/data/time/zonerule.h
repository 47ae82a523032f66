/* The rule at the end of a time zone file: "CET-1CEST,M3.5.0,M10.5.0/3" (POSIX TZ, RFC 8536). */
#ifndef DTX_DATA_TIME_ZONERULE_H
#define DTX_DATA_TIME_ZONERULE_H

#include "core/base/text/str.h"

struct dtx_zonechange {
	char kind; /* 'M': of a week; 'J': of the year without 29 February, from 1; 'n': with
	            * it, from 0 */
	int32_t month, week, day;
	int32_t sec; /* of that day, on the wall */
};
struct dtx_zonerule {
	int32_t standard, summer; /* seconds east of UTC */
	bool changes;
	struct dtx_zonechange begin, end; /* of summer time */
};
DTX_MUSTUSE bool dtx_zonerule_parse(struct dtx_str s, struct dtx_zonerule *out);
/* Seconds east of UTC at an instant, in seconds since 1970. */
int64_t dtx_zonerule_offset(const struct dtx_zonerule *r, int64_t sec);

#endif
