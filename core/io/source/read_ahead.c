/* Reads ahead into a ring of windows, see read_ahead.h: one writer (the thread) and one reader. */
#include "core/io/source/read_ahead.h"

#include <pthread.h>
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/base/thread/pool.h"

enum {
	WINDOWS = 8,
	/* Whoever has to wait waits until half of the ring is ready, because waking up costs as
	 * much as a window. */
	HALF = WINDOWS / 2,
	WINDOW_BYTES = 256 << 10,
	STRIDE = DTX_READ_AHEAD_FRONT + WINDOW_BYTES + DTX_READ_AHEAD_BEHIND
};

struct dtx_read_ahead {
	dtx_read_ahead_fn read;
	dtx_read_ahead_judge judge;
	void *arg;
	struct dtx_task *task;
	char *bytes;          /* WINDOWS * STRIDE */
	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t changed;
	size_t len[WINDOWS];
	bool judged[WINDOWS];
	bool judging;           /* the reader wants windows to be judged */
	bool full, empty;       /* the thread waits; the reader waits */
	unsigned filled, taken; /* windows so far; filled - taken are in the ring */
	bool ended, stop;       /* no more windows will come; no more are wanted */
	enum dtx_code rc;       /* why it ended */
	struct dtx_err err;
	size_t at; /* bytes taken of the oldest window; only for the reader */
	bool lent; /* the oldest window is lent to its end; only for the reader */
};

static char *window_at(const struct dtx_read_ahead *a, unsigned n)
{
	return a->bytes + (size_t)(n % WINDOWS) * STRIDE + DTX_READ_AHEAD_FRONT;
}

/* Waits for a free window; returns false if the reader wants no more. */
static bool wait_free(struct dtx_read_ahead *a, bool *judging)
{
	bool go;

	pthread_mutex_lock(&a->lock);
	a->full = a->filled - a->taken == WINDOWS;
	while (a->full && !a->stop) {
		pthread_cond_wait(&a->changed, &a->lock);
		a->full = a->filled - a->taken > HALF;
	}
	go = !a->stop;
	*judging = a->judging;
	pthread_mutex_unlock(&a->lock);
	return go;
}

static void give(struct dtx_read_ahead *a, size_t got, bool judged, enum dtx_code rc,
                 struct dtx_err *err)
{
	pthread_mutex_lock(&a->lock);
	a->len[a->filled % WINDOWS] = got;
	a->judged[a->filled % WINDOWS] = judged;
	a->filled += rc == DTX_OK && got;
	a->ended = rc != DTX_OK || !got;
	a->rc = rc;
	if (rc != DTX_OK)
		dtx_err_move(&a->err, err);
	if (a->empty && (a->ended || a->filled - a->taken >= HALF))
		pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
}

static enum dtx_code fill_ring(void *arg, struct dtx_err *ignored)
{
	struct dtx_read_ahead *a = arg;
	enum dtx_code rc = DTX_OK;
	size_t got = 1;
	bool judging;

	(void)ignored;
	while (rc == DTX_OK && got && wait_free(a, &judging)) {
		struct dtx_err err = DTX_ERR_INIT;
		char *to = window_at(a, a->filled);

		got = 0;
		rc = a->read(a->arg, to, WINDOW_BYTES, &got, &err);
		give(a, got, rc == DTX_OK && judging && a->judge(to, got), rc, &err);
		dtx_err_clear(&err);
	}
	return DTX_OK;
}

enum dtx_code dtx_read_ahead_open(dtx_read_ahead_fn read, void *arg, dtx_read_ahead_judge judge,
                                  struct dtx_read_ahead **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_read_ahead *a = dtx_mem_zalloc(1, sizeof(*a));

	*out = NULL;
	if (!a)
		DTX_FAIL_MEM(err);
	*a = (struct dtx_read_ahead){
		.read = read, .judge = judge, .arg = arg, .err = DTX_ERR_INIT
	};
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	a->bytes = dtx_mem_alloc(WINDOWS, STRIDE);
	if (!a->bytes)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_task_start(fill_ring, a, &a->task, err));
	*out = a->task ? a : NULL;
	a = a->task ? NULL : a;
out:
	dtx_read_ahead_close(a);
	return rc;
}

void dtx_read_ahead_close(struct dtx_read_ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	(void)dtx_task_join(a->task, NULL);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->changed);
	dtx_err_clear(&a->err);
	dtx_mem_free(a->bytes);
	dtx_mem_free(a);
}

/* The length of the oldest window, or 0 at the end of the stream. */
static size_t wait_filled(struct dtx_read_ahead *a, bool judge)
{
	size_t len;

	pthread_mutex_lock(&a->lock);
	a->judging = judge;
	a->empty = a->filled == a->taken;
	while (a->empty && !a->ended) {
		pthread_cond_wait(&a->changed, &a->lock);
		a->empty = a->filled - a->taken < HALF;
	}
	len = a->filled == a->taken ? 0 : a->len[a->taken % WINDOWS];
	pthread_mutex_unlock(&a->lock);
	return len;
}

static void release(struct dtx_read_ahead *a)
{
	a->at = 0;
	pthread_mutex_lock(&a->lock);
	a->taken++;
	if (a->full && a->filled - a->taken <= HALF)
		pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
}

/* Tells what is left of the oldest window, and how it was judged. At the end *left is 0, and an
 * error of the stream is returned. */
static enum dtx_code oldest(struct dtx_read_ahead *a, size_t *left, bool *judged,
                            struct dtx_err *err)
{
	size_t len;

	if (a->lent)
		release(a);
	a->lent = false;
	len = wait_filled(a, *judged);
	*judged = len && a->judged[a->taken % WINDOWS];
	*left = len - a->at; /* the last window was taken completely, so at is 0 */
	if (!len && a->rc != DTX_OK)
		dtx_err_copy(err, &a->err);
	return len ? DTX_OK : a->rc;
}

enum dtx_code dtx_read_ahead_read(struct dtx_read_ahead *a, void *to, size_t cap, size_t *got,
                                  bool *judged, struct dtx_err *err)
{
	size_t left;
	enum dtx_code rc = oldest(a, &left, judged, err);

	*got = DTX_MIN(cap, left);
	if (!*got)
		return rc;
	memcpy(to, window_at(a, a->taken) + a->at, *got);
	a->at += *got;
	if (*got == left)
		release(a);
	return DTX_OK;
}

enum dtx_code dtx_read_ahead_lend(struct dtx_read_ahead *a, char **at, size_t *got, bool *judged,
                                  struct dtx_err *err)
{
	enum dtx_code rc = oldest(a, got, judged, err);

	*at = window_at(a, a->taken) + a->at;
	a->lent = *got > 0;
	return rc;
}
