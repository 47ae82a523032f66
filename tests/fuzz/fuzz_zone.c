/* A time zone file: what is taken for one answers for every instant. */
#include <stdlib.h>

#include "core/data/time/time.h"
#include "core/data/time/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_zone *z = NULL;
	int64_t step = 400 * 366 * DTX_DAY_US;

	if (dtx_zone_parse(&a, data, size, &z, NULL) == DTX_OK && z)
		for (int64_t us = DTX_DAY_FIRST * DTX_DAY_US; dtx_us_ok(us); us += step)
			(void)dtx_zone_utc(z, dtx_zone_wall(z, us));
	dtx_arena_clear(&a);
	return 0;
}
