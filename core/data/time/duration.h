/* Durations as plans write them: 15s 30min 1h 7d 1w 1mo 1q 1y. */
#ifndef DTX_DATA_TIME_DURATION_H
#define DTX_DATA_TIME_DURATION_H

#include "core/data/time/time.h"

struct dtx_duration {
	int64_t n;
	enum dtx_unit unit;
};
/* False: the text is not a duration.  n is at least 1. */
DTX_MUSTUSE bool dtx_duration_parse(const char *text, struct dtx_duration *out);
/* start + k durations.  Months count from the start, so steps of a month from Jan 31 give Feb 29
 * and Mar 31.  False: the result is not a time that dtx can hold. */
DTX_MUSTUSE bool dtx_duration_step(int64_t start, int64_t k, struct dtx_duration d, int64_t *out);
/* The start of the step of the calendar in which a time lies.  Weeks start on Monday; several units
 * are counted from 1970-01-01 (weeks from its Monday), months and longer units from the year 0. */
int64_t dtx_duration_floor(int64_t us, struct dtx_duration d);
/* Whether it is of whole days: d w mo q y. */
bool dtx_duration_is_days(struct dtx_duration d);

#endif
