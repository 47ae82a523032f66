/* See long_call.h.  The thread and its caller share one block, which the last of them frees. */
#include "core/base/thread/long_call.h"

#include <pthread.h>
#include <time.h>

#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"

#define LOOK_NS     20000000L /* the caller looks this often whether its work has to end */
#define STACK_BYTES ((size_t)2 << 20)

struct long_call {
	void (*fn)(void *arg);
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	bool done, left; /* protected by lock: fn has ended; the caller does not wait for it */
};

static struct long_call *call_new(void (*fn)(void *arg), void *arg)
{
	struct long_call *c = dtx_mem_zalloc(1, sizeof(*c));
	pthread_condattr_t attr;

	if (!c)
		return NULL;
	c->fn = fn;
	c->arg = arg;
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->moved, &attr);
	pthread_condattr_destroy(&attr);
	return c;
}

static void call_free(struct long_call *c)
{
	if (!c)
		return;
	pthread_cond_destroy(&c->moved);
	pthread_mutex_destroy(&c->lock);
	dtx_mem_free(c);
}

static void *call_main(void *arg)
{
	struct long_call *c = arg;
	bool left;

	c->fn(c->arg);
	pthread_mutex_lock(&c->lock);
	c->done = true;
	left = c->left;
	pthread_cond_signal(&c->moved);
	pthread_mutex_unlock(&c->lock);
	if (left)
		call_free(c);
	return NULL;
}

static bool call_start(struct long_call *c)
{
	pthread_t thread;
	pthread_attr_t attr;
	int failed = pthread_attr_init(&attr);

	if (failed)
		return false;
	failed = pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (!failed)
		failed = pthread_create(&thread, &attr, call_main, c);
	pthread_attr_destroy(&attr);
	if (!failed)
		pthread_detach(thread);
	return !failed;
}

/* Called with the lock.  Waits for the end of the call or of the time between two looks. */
static void wait_a_while(struct long_call *c)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += LOOK_NS;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	while (!c->done && !pthread_cond_timedwait(&c->moved, &c->lock, &until))
		;
}

enum dtx_code dtx_long_call(void (*fn)(void *arg), void *arg, bool *left, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct long_call *c = NULL;

	*left = false;
	DTX_TRY(dtx_cancel_look(err));
	if (dtx_cancel_get()) {
		c = call_new(fn, arg);
		if (!c)
			DTX_FAIL_MEM(err);
	}
	if (!c || !call_start(c)) {
		fn(arg);
		goto out;
	}
	pthread_mutex_lock(&c->lock);
	while (!c->done && rc == DTX_OK) {
		wait_a_while(c);
		if (!c->done)
			rc = dtx_cancel_look(err);
	}
	*left = c->left = rc != DTX_OK;
	pthread_mutex_unlock(&c->lock);
	if (*left)
		c = NULL; /* the thread frees it */
out:
	call_free(c);
	return rc;
}
