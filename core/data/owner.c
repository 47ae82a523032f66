/* Reference counted memory.  Taking a reference needs no memory ordering, because the caller
 * already has one.  Dropping a reference releases, and the last drop acquires, so that freeing
 * happens after all uses. */
#include "core/data/owner.h"

#include <stdatomic.h>

#include "core/base/memory/mem.h"

struct dtx_owner {
	atomic_int refs;
	void (*free_fn)(void *);
	void *arg;
	void *block[DTX_OWNER_BLOCKS];
	struct dtx_owner *keep;
};

static struct dtx_owner *owner_make(void)
{
	struct dtx_owner *o = dtx_mem_zalloc(1, sizeof(*o));

	if (o)
		atomic_init(&o->refs, 1);
	return o;
}

struct dtx_owner *dtx_owner_new(void (*free_fn)(void *), void *arg)
{
	struct dtx_owner *o = owner_make();

	if (!o)
		return NULL;
	o->free_fn = free_fn;
	o->arg = arg;
	return o;
}

struct dtx_owner *dtx_owner_take(void *block)
{
	return dtx_owner_blocks(&block, 1, NULL);
}

struct dtx_owner *dtx_owner_blocks(void *const *block, size_t n, struct dtx_owner *keep)
{
	struct dtx_owner *o = owner_make();
	size_t i;

	for (i = 0; i < n; i++) {
		if (o)
			o->block[i] = block[i];
		else
			dtx_mem_free(block[i]);
	}
	if (o)
		dtx_owner_keep(o, keep);
	return o;
}

void dtx_owner_keep(struct dtx_owner *o, struct dtx_owner *keep)
{
	o->keep = dtx_owner_ref(keep);
}

struct dtx_owner *dtx_owner_kept(const struct dtx_owner *o)
{
	return o ? o->keep : NULL;
}

struct dtx_owner *dtx_owner_ref(struct dtx_owner *o)
{
	if (o)
		atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);
	return o;
}

void dtx_owner_unref(struct dtx_owner *o)
{
	/* A chain of owners may be long, so it is freed without recursion. */
	while (o && atomic_fetch_sub_explicit(&o->refs, 1, memory_order_acq_rel) == 1) {
		struct dtx_owner *keep = o->keep;
		size_t i;

		if (o->free_fn)
			o->free_fn(o->arg);
		for (i = 0; i < DTX_OWNER_BLOCKS; i++)
			dtx_mem_free(o->block[i]);
		dtx_mem_free(o);
		o = keep;
	}
}

int dtx_owner_refs(const struct dtx_owner *o)
{
	return o ? atomic_load_explicit(&o->refs, memory_order_acquire) : 0;
}
