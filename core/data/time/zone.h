/* Time zones: the system's database (TZif files, RFC 8536) and fixed offsets.
 *
 * Leap seconds do not exist; behind the last change that a file lists its rule goes on for ever. */
#ifndef DTX_DATA_TIME_ZONE_H
#define DTX_DATA_TIME_ZONE_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/text/str.h"

#define DTX_ZONE_DIR "/usr/share/zoneinfo"

struct dtx_zone;
/* "Europe/Berlin", "UTC" or "+05:30"; the zone lives in `a`. Code: bad_literal. */
DTX_MUSTUSE enum dtx_code dtx_zone_open(struct dtx_arena *a, struct dtx_str name,
                                        struct dtx_zone **out, struct dtx_err *err);
/* The bytes of a file; *out NULL: they are none. */
DTX_MUSTUSE enum dtx_code dtx_zone_parse(struct dtx_arena *a, const unsigned char *bytes, size_t n,
                                         struct dtx_zone **out, struct dtx_err *err);
/* Microseconds since 1970 of the clock on the wall, from those of UTC. */
int64_t dtx_zone_wall(const struct dtx_zone *z, int64_t us);
/* Back. A time that the wall shows twice is the first one; one that it leaves out is as long after
 * the change as it would have been. */
int64_t dtx_zone_utc(const struct dtx_zone *z, int64_t wall_us);

#endif
