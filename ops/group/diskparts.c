/* Groups by partition of their hash: see diskparts.h. */
#include "ops/group/diskparts.h"

#include <string.h>

#include "ops/kit/opkit.h"

bool dtx_disk_pays(const struct dtx_groups *g)
{
	return dtx_groups_count(g) >= DTX_DISK_KEYS_MIN ||
	       dtx_groups_bytes(g) >= DTX_DISK_BYTES_MIN;
}

void dtx_disk_sort_groups(const struct dtx_groups *g, unsigned shift, uint32_t *id, uint32_t *start)
{
	uint32_t *end = start + 1; /* at first where each partition begins, after the loop where it
	                            * ends */
	uint32_t n = dtx_groups_count(g);

	memset(start, 0, (DTX_DISK_PARTS + 1) * sizeof(*start));
	for (uint32_t i = 0; i < n; i++)
		end[dtx_groups_part(g, i, shift, DTX_DISK_BITS)]++;
	dtx_counts_to_starts(end, DTX_DISK_PARTS, 0);
	for (uint32_t i = 0; i < n; i++)
		id[end[dtx_groups_part(g, i, shift, DTX_DISK_BITS)]++] = i;
}
