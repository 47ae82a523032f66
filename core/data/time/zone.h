/* Time zones: the database of the system (TZif files, RFC 8536) and fixed offsets.
 *
 * Leap seconds are ignored.  After the last change that a file lists, the rule at its end holds for
 * ever. */
#ifndef DTX_DATA_TIME_ZONE_H
#define DTX_DATA_TIME_ZONE_H

#include "core/base/memory/arena.h"
#include "core/base/err.h"
#include "core/base/text/str.h"

#define DTX_ZONE_DIR "/usr/share/zoneinfo"

struct dtx_zone;
/* Opens "Europe/Berlin", "UTC" or "+05:30".  The zone lives in `a`.  Code: bad_literal. */
DTX_MUSTUSE enum dtx_code dtx_zone_open(struct dtx_arena *a, struct dtx_str name,
                                        struct dtx_zone **out, struct dtx_err *err);
/* Parses the bytes of a file.  *out is NULL if they are not a time zone. */
DTX_MUSTUSE enum dtx_code dtx_zone_parse(struct dtx_arena *a, const unsigned char *bytes, size_t n,
                                         struct dtx_zone **out, struct dtx_err *err);
/* Local time of an instant: microseconds since 1970 of the local clock, from those of UTC. */
int64_t dtx_zone_wall(const struct dtx_zone *z, int64_t us);
/* UTC of a local time.  A local time that occurs twice is the first one; one that the clock skips
 * is as far after the change as it would have been. */
int64_t dtx_zone_utc(const struct dtx_zone *z, int64_t wall_us);

#endif
