/* The distinct keys of one group, as bytes, with the number of times that each was added and the
 * first position.  For aggregates whose states grow: count_distinct, mode, quantile_disc.
 *
 * A step may have a million groups, so a set is small while it has few keys, and takes its memory
 * from the pool of the worker where there is one: then nothing is freed one by one.  A set of zero
 * bytes is empty and may be moved.  One thread at a time. */
#ifndef DTX_EXPR_AGG_AGGKEYS_H
#define DTX_EXPR_AGG_AGGKEYS_H

#include "core/base/memory/arena.h"
#include "core/base/memory/buf.h"

struct dtx_aggkey {
	const char *ptr; /* NULL: a free slot */
	uint32_t len, hash;
	uint64_t n, pos; /* for the caller; of a new key 0 and UINT64_MAX */
};
struct dtx_aggkeys {
	struct dtx_aggkey *slot; /* open addressing with linear probing, at most two thirds full */
	uint32_t n, cap;
	bool pooled;          /* the slots belong to a pool */
	struct dtx_arena own; /* bytes of keys that no pool holds */
};

/* The slot of key, which is added unless it is present.  It stays where it is until the next call.
 * `pool` holds the copy of the key, and must live longer than the set and all sets that it is
 * merged into; NULL: the set holds it.  NULL: out of memory. */
DTX_MUSTUSE struct dtx_aggkey *dtx_aggkeys_add(struct dtx_aggkeys *s, struct dtx_str key,
                                               struct dtx_arena *pool);
/* Adds all keys of `from` to `to`: n is summed, and the smallest pos counts.  `from` is left empty.
 * False: out of memory; both can still be freed. */
DTX_MUSTUSE bool dtx_aggkeys_merge(struct dtx_aggkeys *to, struct dtx_aggkeys *from);
void dtx_aggkeys_free(struct dtx_aggkeys *s);
/* As bytes (aggsave.h), and back into an empty set; false: out of memory. */
void dtx_aggkeys_save(const struct dtx_aggkeys *s, struct dtx_buf *out);
DTX_MUSTUSE bool dtx_aggkeys_load(struct dtx_aggkeys *s, const char **at);

#endif
