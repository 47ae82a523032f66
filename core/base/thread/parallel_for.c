/* A loop whose iterations are shared by several threads: each takes the next number until none is
 * left. */
#include "core/base/thread/parallel_for.h"

#include <pthread.h>

#include "core/base/thread/cancel.h"

struct each {
	dtx_parallel_for_fn fn;
	void *arg;
	uint64_t n;
	_Atomic uint64_t next; /* next number to take; n or more: nothing is left */
	pthread_mutex_t lock;  /* protects the two members below */
	uint64_t failed;       /* smallest number that failed; n: none */
	struct dtx_err err;
};

static void note_failure(struct each *e, uint64_t i, struct dtx_err *err)
{
	atomic_store(&e->next, e->n);
	pthread_mutex_lock(&e->lock);
	if (i < e->failed) {
		e->failed = i;
		dtx_err_move(&e->err, err);
	}
	pthread_mutex_unlock(&e->lock);
	dtx_err_clear(err);
}

/* A worker that fails stops the others from taking new numbers.  All smaller numbers were taken
 * before, and they run to their end, so a failure at a smaller number is still seen. */
static enum dtx_code each_work(void *arg, unsigned worker, struct dtx_err *err)
{
	struct each *e = arg;
	struct dtx_err own = DTX_ERR_INIT;

	(void)worker;
	(void)err;
	for (uint64_t i; (i = atomic_fetch_add(&e->next, 1)) < e->n;)
		if (dtx_cancel_look(&own) != DTX_OK || e->fn(e->arg, i, &own) != DTX_OK)
			note_failure(e, i, &own);
	return DTX_OK;
}

enum dtx_code dtx_parallel_for(unsigned workers, uint64_t n, dtx_parallel_for_fn fn, void *arg,
                               struct dtx_err *err)
{
	struct each e = { .fn = fn, .arg = arg, .n = n, .failed = n, .err = DTX_ERR_INIT };
	enum dtx_code rc;

	if (!n)
		return DTX_OK;
	pthread_mutex_init(&e.lock, NULL);
	rc = dtx_pool_run((unsigned)DTX_MAX(1, DTX_MIN((uint64_t)workers, n)), each_work, &e, err);
	if (rc == DTX_OK && e.failed < n) {
		rc = e.err.code;
		if (err)
			dtx_err_move(err, &e.err);
	}
	dtx_err_clear(&e.err);
	pthread_mutex_destroy(&e.lock);
	return rc;
}
