/* Hash table from byte strings to uint32_t, with open addressing.  Its entries keep the order of
 * insertion, so a walk over `entry` is repeatable.  One thread at a time. */
#ifndef DTX_BASE_STRMAP_H
#define DTX_BASE_STRMAP_H

#include "core/base/base.h"
#include "core/base/text/str.h"

struct dtx_strmap_entry {
	struct dtx_str key; /* a copy that the map owns */
	uint64_t hash;
	uint32_t value;
};
struct dtx_strmap {
	struct dtx_strmap_entry *entry; /* in order of insertion */
	size_t n, cap;
	uint64_t *slot; /* upper half of the hash, and entry number + 1; 0: empty */
	size_t nslots;
	struct dtx_arena_block *keys; /* arena of the copied keys */
	size_t keys_used;
};
#define DTX_STRMAP_INIT                                                                            \
	{                                                                                          \
		NULL, 0, 0, NULL, 0, NULL, 0                                                       \
	}
#define DTX_STRMAP_NONE UINT32_MAX

/* The value of key; DTX_STRMAP_NONE if it is absent. */
uint32_t dtx_strmap_get(const struct dtx_strmap *m, struct dtx_str key);
/* Inserts key with `value` unless key is present.  *found receives the value that is now stored, so
 * a caller sees which case it was.  False: out of memory. */
DTX_MUSTUSE bool dtx_strmap_put(struct dtx_strmap *m, struct dtx_str key, uint32_t value,
                                uint32_t *found);
void dtx_strmap_clear(struct dtx_strmap *m);

#endif
