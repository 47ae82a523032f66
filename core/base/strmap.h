/* Open-addressing table from byte strings to a uint32_t, in order of insertion. */
#ifndef DTX_BASE_STRMAP_H
#define DTX_BASE_STRMAP_H

#include "core/base/base.h"
#include "core/base/text/str.h"

struct dtx_strmap_entry {
	struct dtx_str key; /* the map's copy */
	uint64_t hash;
	uint32_t value;
};
struct dtx_strmap {
	struct dtx_strmap_entry *entry; /* insertion order */
	size_t n, cap;
	uint64_t *slot; /* upper half of the hash, entry index + 1 */
	size_t nslots;
	struct dtx_arena_block *keys; /* arena of the copies */
	size_t keys_used;
};
#define DTX_STRMAP_INIT                                                                            \
	{                                                                                          \
		NULL, 0, 0, NULL, 0, NULL, 0                                                       \
	}
#define DTX_STRMAP_NONE UINT32_MAX

/* Value of key, DTX_STRMAP_NONE if absent. */
uint32_t dtx_strmap_get(const struct dtx_strmap *m, struct dtx_str key);
/* Inserts key with `value` unless present; *found is the value now stored.  False: no memory. */
DTX_MUSTUSE bool dtx_strmap_put(struct dtx_strmap *m, struct dtx_str key, uint32_t value,
                                uint32_t *found);
void dtx_strmap_clear(struct dtx_strmap *m);

#endif
