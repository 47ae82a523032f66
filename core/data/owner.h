/* Counted memory behind columns: a heap block, a mapping, a grid, another owner. Thread safe. */
#ifndef DTX_DATA_OWNER_H
#define DTX_DATA_OWNER_H

#include "core/base/base.h"

struct dtx_owner;

/* Owns `arg`, released by free_fn(arg) with the last reference. One reference is the caller's.
 * NULL: out of memory, then arg is still the caller's. */
DTX_MUSTUSE struct dtx_owner *dtx_owner_new(void (*free_fn)(void *), void *arg);
/* Owns a dtx_mem block; takes it also on failure. */
DTX_MUSTUSE struct dtx_owner *dtx_owner_take(void *block);
/* Owns n <= DTX_OWNER_BLOCKS dtx_mem blocks (NULL among them is fine) and a reference to `keep`
 * (may be NULL).  Takes the blocks also on failure; keep's new reference is made here. */
#define DTX_OWNER_BLOCKS 3
DTX_MUSTUSE struct dtx_owner *dtx_owner_blocks(void *const *block, size_t n,
                                               struct dtx_owner *keep);
/* o holds a reference to `keep` (may be NULL) from now on.  Once, before o is shared. */
void dtx_owner_keep(struct dtx_owner *o, struct dtx_owner *keep);
/* What o keeps, borrowed; NULL: nothing. */
struct dtx_owner *dtx_owner_kept(const struct dtx_owner *o);
struct dtx_owner *dtx_owner_ref(struct dtx_owner *o); /* NULL is fine */
void dtx_owner_unref(struct dtx_owner *o);
/* References there are now, 0 of NULL: others may take and drop some meanwhile. */
int dtx_owner_refs(const struct dtx_owner *o);

#endif
