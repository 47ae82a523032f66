/* Threads behind a gate: nobody works until all of them exist. */
#include "core/base/pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "core/base/halt.h"
#include "core/base/mem.h"

#define POOL_MAX 256u

/* Threads that wait for tasks.  Process-wide by nature: what may start a thread is. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	unsigned made, idle;
	unsigned cpus;         /* of the process, before the threads */
	struct dtx_task *next; /* given, not yet taken */
} reserve = { .lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER };

unsigned dtx_task_cpus(void)
{
	unsigned idle;

	if (!reserve.made)
		return dtx_pool_cpus();
	pthread_mutex_lock(&reserve.lock);
	idle = reserve.idle;
	pthread_mutex_unlock(&reserve.lock);
	return idle ? reserve.cpus : 1;
}

unsigned dtx_pool_cpus(void)
{
	cpu_set_t set;
	int n;

	if (reserve.made)
		return 1;
	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	n = CPU_COUNT(&set);
	return n < 1 ? 1 : DTX_MIN((unsigned)n, POOL_MAX);
}

enum pool_gate { POOL_SHUT, POOL_OPEN, POOL_OFF };

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	enum pool_gate gate;
	dtx_pool_fn fn;
	void *arg;
	const struct dtx_halt *halt; /* of the caller, and so of all */
};

struct pool_worker {
	struct pool *pool;
	pthread_t thread;
	unsigned number;
	enum dtx_code rc;
	struct dtx_err err;
};

static enum pool_gate pool_wait(struct pool *p)
{
	enum pool_gate gate;

	pthread_mutex_lock(&p->lock);
	while (p->gate == POOL_SHUT)
		pthread_cond_wait(&p->moved, &p->lock);
	gate = p->gate;
	pthread_mutex_unlock(&p->lock);
	return gate;
}

static void pool_move(struct pool *p, enum pool_gate gate)
{
	pthread_mutex_lock(&p->lock);
	p->gate = gate;
	pthread_cond_broadcast(&p->moved);
	pthread_mutex_unlock(&p->lock);
}

static void *pool_main(void *arg)
{
	struct pool_worker *w = arg;

	dtx_halt_set(w->pool->halt);
	if (pool_wait(w->pool) == POOL_OPEN)
		w->rc = w->pool->fn(w->pool->arg, w->number, &w->err);
	return NULL;
}

/* Error of the lowest failing worker; the others are dropped. */
static enum dtx_code pool_result(struct pool_worker *w, unsigned n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned i;

	for (i = 0; i < n; i++) {
		if (w[i].rc != DTX_OK && rc == DTX_OK) {
			rc = w[i].rc;
			dtx_err_move(err, &w[i].err);
		}
		dtx_err_clear(&w[i].err);
	}
	return rc;
}

enum dtx_code dtx_pool_run(unsigned n, dtx_pool_fn fn, void *arg, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct pool p = { .gate = POOL_SHUT, .fn = fn, .arg = arg, .halt = dtx_halt_get() };
	struct pool_worker *w = NULL;
	unsigned made = 1, i;
	int failed = 0;

	DTX_ASSERT(n >= 1, err);
	if (n == 1)
		return fn(arg, 0, err);
	w = dtx_mem_zalloc(n, sizeof(*w));
	if (!w)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++)
		w[i] = (struct pool_worker){ .pool = &p, .number = i, .err = DTX_ERR_INIT };
	pthread_mutex_init(&p.lock, NULL);
	pthread_cond_init(&p.moved, NULL);
	for (; made < n && !failed; made += !failed)
		failed = pthread_create(&w[made].thread, NULL, pool_main, &w[made]);
	pool_move(&p, failed ? POOL_OFF : POOL_OPEN);
	if (!failed)
		w[0].rc = fn(arg, 0, &w[0].err);
	for (i = 1; i < made; i++)
		pthread_join(w[i].thread, NULL);
	pthread_cond_destroy(&p.moved);
	pthread_mutex_destroy(&p.lock);
	if (failed) {
		DTX_FAIL(err, DTX_E_BUG, "cannot start thread %u of %u: %s", made + 1, n,
		         strerror(failed));
	}
	rc = pool_result(w, n, err);
out:
	dtx_mem_free(w);
	return rc;
}

struct dtx_task {
	pthread_t thread;
	bool reserved, done; /* run by a thread of the reserve; under its lock */
	struct dtx_task *next;
	enum dtx_code (*fn)(void *arg, struct dtx_err *err);
	void *arg;
	enum dtx_code rc;
	struct dtx_err err;
};

static void *task_main(void *arg)
{
	struct dtx_task *t = arg;

	t->rc = t->fn(t->arg, &t->err);
	return NULL;
}

/* --- threads of the reserve --- */

static void *reserve_main(void *ignored)
{
	struct dtx_task *t;

	(void)ignored;
	pthread_mutex_lock(&reserve.lock);
	for (;;) {
		reserve.idle++;
		pthread_cond_broadcast(&reserve.moved);
		while (!reserve.next)
			pthread_cond_wait(&reserve.moved, &reserve.lock);
		t = reserve.next;
		reserve.next = t->next;
		pthread_mutex_unlock(&reserve.lock);
		(void)task_main(t);
		pthread_mutex_lock(&reserve.lock);
		t->done = true;
	}
	return NULL;
}

enum dtx_code dtx_task_reserve(unsigned n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	pthread_t thread;
	int failed;

	DTX_ASSERT(!reserve.made && n && n <= DTX_TASK_RESERVE, err);
	reserve.cpus = dtx_pool_cpus();
	for (; reserve.made < n; reserve.made++) {
		failed = pthread_create(&thread, NULL, reserve_main, NULL);
		if (failed)
			DTX_FAIL(err, DTX_E_BUG, "cannot start a thread: %s", strerror(failed));
		pthread_detach(thread);
	}
	/* what a thread does when it starts is done */
	pthread_mutex_lock(&reserve.lock);
	while (reserve.idle < n)
		pthread_cond_wait(&reserve.moved, &reserve.lock);
	pthread_mutex_unlock(&reserve.lock);
out:
	return rc;
}

/* Gives the task to an idle thread; 0 or errno. */
static int reserve_give(struct dtx_task *t)
{
	int failed = EAGAIN;

	pthread_mutex_lock(&reserve.lock);
	if (reserve.idle) {
		reserve.idle--;
		t->reserved = true;
		t->next = reserve.next;
		reserve.next = t;
		pthread_cond_broadcast(&reserve.moved);
		failed = 0;
	}
	pthread_mutex_unlock(&reserve.lock);
	return failed;
}

static void reserve_wait(struct dtx_task *t)
{
	pthread_mutex_lock(&reserve.lock);
	while (!t->done)
		pthread_cond_wait(&reserve.moved, &reserve.lock);
	pthread_mutex_unlock(&reserve.lock);
}

enum dtx_code dtx_task_start(enum dtx_code (*fn)(void *arg, struct dtx_err *err), void *arg,
                             struct dtx_task **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_task *t = dtx_mem_alloc(1, sizeof(*t));
	int failed;

	if (!t)
		DTX_FAIL_MEM(err);
	*t = (struct dtx_task){ .fn = fn, .arg = arg, .err = DTX_ERR_INIT };
	failed = reserve.made ? reserve_give(t) : pthread_create(&t->thread, NULL, task_main, t);
	if (failed)
		DTX_FAIL(err, DTX_E_BUG, "cannot start a thread: %s", strerror(failed));
	*out = t;
	t = NULL;
out:
	dtx_mem_free(t);
	return rc;
}

enum dtx_code dtx_task_join(struct dtx_task *task, struct dtx_err *err)
{
	enum dtx_code rc;

	if (!task)
		return DTX_OK;
	if (task->reserved)
		reserve_wait(task);
	else
		pthread_join(task->thread, NULL);
	rc = task->rc;
	if (rc != DTX_OK)
		dtx_err_move(err, &task->err);
	else
		dtx_err_clear(&task->err);
	dtx_mem_free(task);
	return rc;
}
