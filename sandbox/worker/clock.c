/* The frozen clock of a worker, see clock.h. The state is global because the functions that it
 * serves are; it changes once. */
#include "sandbox/worker/clock.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "core/base/lib.h"

#define EXPORTED __attribute__((visibility("default")))

typedef int (*gettime_fn)(clockid_t, struct timespec *);

static struct {
	_Atomic(gettime_fn) real; /* relaxed order suffices: every thread finds the same function */
	atomic_bool frozen;
	int64_t us; /* is written before `frozen` is released */
} clock_state;

void dtx_clock_freeze(int64_t us)
{
	clock_state.us = us;
	atomic_store_explicit(&clock_state.frozen, true, memory_order_release);
}

static gettime_fn find_real(void)
{
	void *at = dtx_lib_next("clock_gettime");
	gettime_fn fn;

	memcpy(&fn, &at, sizeof(fn));
	atomic_store_explicit(&clock_state.real, fn, memory_order_relaxed);
	return fn;
}

EXPORTED int clock_gettime(clockid_t id, struct timespec *ts)
{
	gettime_fn real = atomic_load_explicit(&clock_state.real, memory_order_relaxed);

	if (DTX_UNLIKELY(atomic_load_explicit(&clock_state.frozen, memory_order_acquire)) &&
	    (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE || id == CLOCK_TAI)) {
		ts->tv_sec = (time_t)(clock_state.us / 1000000);
		ts->tv_nsec = (long)(clock_state.us % 1000000) * 1000;
		return 0;
	}
	return (DTX_LIKELY(real != NULL) ? real : find_real())(id, ts);
}

EXPORTED int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &ts))
		return -1;
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

EXPORTED time_t time(time_t *out)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_REALTIME, &ts))
		return (time_t)-1;
	if (out)
		*out = ts.tv_sec;
	return ts.tv_sec;
}
