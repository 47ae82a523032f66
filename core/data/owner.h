/* Reference counted memory that columns use: a heap block, a mapping, a grid, another owner.
 * Thread safe. */
#ifndef DTX_DATA_OWNER_H
#define DTX_DATA_OWNER_H

#include "core/base/base.h"

struct dtx_owner;

/* Makes an owner of `arg` with one reference for the caller.  free_fn(arg) is called with the last
 * release.  NULL: out of memory; arg then still belongs to the caller. */
DTX_MUSTUSE struct dtx_owner *dtx_owner_new(void (*free_fn)(void *), void *arg);
/* Makes an owner of a dtx_mem block and takes the block, also on failure. */
DTX_MUSTUSE struct dtx_owner *dtx_owner_take(void *block);
/* Makes an owner of n <= DTX_OWNER_BLOCKS dtx_mem blocks (some may be NULL) and of a new reference
 * to `keep` (may be NULL).  Takes the blocks, also on failure. */
#define DTX_OWNER_BLOCKS 3
DTX_MUSTUSE struct dtx_owner *dtx_owner_blocks(void *const *block, size_t n,
                                               struct dtx_owner *keep);
/* Makes o hold a reference to `keep` (may be NULL).  May be called once, before o is shared. */
void dtx_owner_keep(struct dtx_owner *o, struct dtx_owner *keep);
/* What o keeps, borrowed; NULL if nothing. */
struct dtx_owner *dtx_owner_kept(const struct dtx_owner *o);
struct dtx_owner *dtx_owner_ref(struct dtx_owner *o); /* NULL is allowed */
void dtx_owner_unref(struct dtx_owner *o);
/* The number of references now, 0 for NULL.  Other threads may change it at any time. */
int dtx_owner_refs(const struct dtx_owner *o);

#endif
