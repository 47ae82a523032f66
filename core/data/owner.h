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
struct dtx_owner *dtx_owner_ref(struct dtx_owner *o);	/* NULL is fine */
void dtx_owner_unref(struct dtx_owner *o);

#endif
