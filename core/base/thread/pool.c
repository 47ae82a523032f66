/* Threads that start together: each waits at a gate until all of them exist, so that either all
 * work or none does. */
#include "core/base/thread/pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"

#define POOL_MAX 256u
/* A fixed stack size: the default is `ulimit -s`, which may be a few KiB, or half of the address
 * space. */
#define STACK_BYTES ((size_t)2 << 20)

/* Returns 0 or an errno. */
static int thread_start(pthread_t *thread, void *(*fn)(void *), void *arg)
{
	pthread_attr_t attr;
	int failed = pthread_attr_init(&attr);

	if (failed)
		return failed;
	failed = pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (!failed)
		failed = pthread_create(thread, &attr, fn, arg);
	pthread_attr_destroy(&attr);
	return failed;
}

/* The reserve: threads that wait for tasks.  It is process-wide, because the permission to start
 * threads is process-wide too. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	bool on;
	unsigned idle;
	unsigned cpus;         /* CPUs of the process when the reserve was made */
	struct dtx_task *next; /* tasks that no thread has taken yet */
} reserve = { .lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER };

unsigned dtx_task_cpus(void)
{
	unsigned idle;

	if (!reserve.on)
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

	if (reserve.on)
		return 1;
	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	n = CPU_COUNT(&set);
	return n < 1 ? 1 : DTX_MIN((unsigned)n, POOL_MAX);
}

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	bool open;
	dtx_pool_fn fn;
	void *arg;
	const struct dtx_cancel *halt; /* of the calling thread; all workers get it */
};

struct pool_worker {
	struct pool *pool;
	pthread_t thread;
	struct dtx_task *task; /* the thread is one of the reserve */
	unsigned number;
	enum dtx_code rc;
	struct dtx_err err;
};

static void pool_wait(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	while (!p->open)
		pthread_cond_wait(&p->moved, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

static void pool_open(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->open = true;
	pthread_cond_broadcast(&p->moved);
	pthread_mutex_unlock(&p->lock);
}

static void *pool_main(void *arg)
{
	struct pool_worker *w = arg;

	dtx_cancel_set(w->pool->halt);
	pool_wait(w->pool);
	w->rc = w->pool->fn(w->pool->arg, w->number, &w->err);
	return NULL;
}

static enum dtx_code pool_task(void *arg, struct dtx_err *err)
{
	(void)err;
	(void)pool_main(arg);
	return DTX_OK;
}

static bool pool_start(struct pool_worker *w)
{
	if (reserve.on)
		return dtx_task_start(pool_task, w, &w->task, NULL) == DTX_OK && w->task;
	return !thread_start(&w->thread, pool_main, w);
}

static void pool_join(struct pool_worker *w)
{
	if (w->task)
		(void)dtx_task_join(w->task, NULL);
	else
		pthread_join(w->thread, NULL);
}

/* Only worker 0 needs to know it, and worker 0 always exists. */
static _Thread_local unsigned pool_absent;

unsigned dtx_pool_absent(void)
{
	return pool_absent;
}

/* Runs worker 0 on the calling thread, which may itself be a worker of another pool. */
static enum dtx_code pool_first(const struct pool *p, unsigned absent, struct dtx_err *err)
{
	unsigned before = pool_absent;
	enum dtx_code rc;

	pool_absent = absent;
	rc = p->fn(p->arg, 0, err);
	pool_absent = before;
	return rc;
}

/* Returns the error of the worker with the lowest number and drops the others. */
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
	struct pool p = { .fn = fn, .arg = arg, .halt = dtx_cancel_get() };
	struct pool_worker *w = NULL;
	unsigned made = 1, i;

	DTX_ASSERT(n >= 1, err);
	if (n == 1)
		return pool_first(&p, 0, err);
	w = dtx_mem_zalloc(n, sizeof(*w));
	if (!w)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++)
		w[i] = (struct pool_worker){ .pool = &p, .number = i, .err = DTX_ERR_INIT };
	pthread_mutex_init(&p.lock, NULL);
	pthread_cond_init(&p.moved, NULL);
	while (made < n && pool_start(&w[made]))
		made++;
	pool_open(&p);
	w[0].rc = pool_first(&p, n - made, &w[0].err);
	for (i = 1; i < made; i++)
		pool_join(&w[i]);
	pthread_cond_destroy(&p.moved);
	pthread_mutex_destroy(&p.lock);
	rc = pool_result(w, made, err);
out:
	dtx_mem_free(w);
	return rc;
}

struct dtx_task {
	pthread_t thread;
	bool reserved, done; /* reserved: a thread of the reserve runs it; done: it has ended,
	                      * protected by the reserve's lock */
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

void dtx_task_reserve(unsigned n)
{
	unsigned made = 0;
	pthread_t thread;

	reserve.cpus = dtx_pool_cpus();
	reserve.on = true;
	while (made < n && !thread_start(&thread, reserve_main, NULL)) {
		pthread_detach(thread);
		made++;
	}
	/* Wait until all threads have started, because starting one needs system calls that the
	 * sandbox will soon refuse. */
	pthread_mutex_lock(&reserve.lock);
	while (reserve.idle < made)
		pthread_cond_wait(&reserve.moved, &reserve.lock);
	pthread_mutex_unlock(&reserve.lock);
}

/* Gives the task to an idle thread.  Returns 0, or an errno if no thread is idle. */
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

	*out = NULL;
	if (!t)
		DTX_FAIL_MEM(err);
	*t = (struct dtx_task){ .fn = fn, .arg = arg, .err = DTX_ERR_INIT };
	if (reserve.on ? reserve_give(t) : thread_start(&t->thread, task_main, t))
		dtx_mem_free(t);
	else
		*out = t;
out:
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
