/* The thread that shows progress, see progress.h. A few times per second it prints what the
 * workers have counted. */
#include "cli/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/out.h"
#include "core/base/file.h"
#include "core/base/text/json.h"
#include "core/base/log.h"

enum { FIRST_MS = 500, LINE_MS = 200, JSON_MS = 1000 };

struct look {
	const char *input;
	double share; /* of the input, or of all inputs; below 0: unknown */
	uint64_t rows, bytes;
	double seconds;
	uint32_t nth, of; /* which of several inputs; 0: there is one, or none was read yet */
	int step;         /* its index; -1: none */
};

static struct look look_at(const struct dtx_ticker *t, int64_t elapsed)
{
	const struct dtx_progress *p = &t->now;
	const char *input = atomic_load_explicit(&p->input, memory_order_relaxed);
	uint64_t of = atomic_load_explicit(&p->of, memory_order_relaxed);
	uint64_t done = atomic_load_explicit(&p->done, memory_order_relaxed);

	struct look l = { .input = input ? input : t->first, .share = -1 };

	/* The counters are not read at the same time, so limit the share to 1. */
	if (of)
		l.share = (double)DTX_MIN(done, of) / (double)of;
	l.rows = atomic_load_explicit(&p->rows, memory_order_relaxed);
	l.bytes = atomic_load_explicit(&p->bytes, memory_order_relaxed);
	l.seconds = (double)elapsed / 1e9;
	l.step = t->plan ? atomic_load_explicit(&p->step, memory_order_relaxed) - 1 : -1;
	if (t->total) { /* one bar for all files */
		double now = (double)atomic_load_explicit(&p->reader_bytes, memory_order_relaxed);
		double before = (double)atomic_load_explicit(&p->passed, memory_order_relaxed);

		l.nth = (uint32_t)atomic_load_explicit(&p->readers, memory_order_relaxed);
		l.nth = DTX_MIN(l.nth, t->ninputs);
		l.of = t->ninputs;
		l.share = (before + now * DTX_MAX(l.share, 0)) / (double)t->total;
		l.share = DTX_MIN(l.share, 1);
		l.bytes = t->total;
	}
	return l;
}

static void print_rows(uint64_t rows, struct dtx_buf *out)
{
	if (rows >= 1000000)
		dtx_buf_printf(out, "  %.1f M rows", (double)rows / 1e6);
	else
		dtx_buf_printf(out, "  %llu rows", (unsigned long long)rows);
}

static void print_line(const struct look *l, const struct dtx_plan *plan, struct dtx_buf *out)
{
	dtx_out_safe(out, l->input ? dtx_file_basename(l->input) : "working", false);
	if (l->nth)
		dtx_buf_printf(out, " (%u of %u)", (unsigned)l->nth, (unsigned)l->of);
	if (l->share >= 0)
		dtx_buf_printf(out, "  %.0f%%", l->share * 100);
	if (l->rows)
		print_rows(l->rows, out);
	if (l->share > 0 && l->share < 1 && l->bytes >= 1000000)
		dtx_buf_printf(out, "  %.0f MB/s", l->share * (double)l->bytes / 1e6 / l->seconds);
	/* the plan has no step that joins the files of one input */
	if (dtx_plan_step_number(plan, l->step) > 0)
		dtx_buf_printf(out, "  step %d (%s%s%s)", dtx_plan_step_number(plan, l->step),
		               dtx_plan_step_name(&plan->step[l->step]),
		               plan->step[l->step].out_name ? ", out " : "",
		               plan->step[l->step].out_name ? plan->step[l->step].out_name : "");
	dtx_buf_printf(out, "  %.0f s", l->seconds);
}

static void print_json(const struct look *l, const struct dtx_plan *plan, struct dtx_buf *out)
{
	json_t *o = json_pack("{s:{s:s?, s:I, s:I}}", "progress", "input", l->input, "rows",
	                      (json_int_t)l->rows, "elapsed_ms", (json_int_t)(l->seconds * 1000));
	json_t *p = json_object_get(o, "progress");

	if (p && l->share >= 0)
		json_object_set_new(p, "share", json_real(l->share));
	if (p && l->nth) {
		json_object_set_new(p, "file", json_integer(l->nth));
		json_object_set_new(p, "files", json_integer(l->of));
	}
	if (p && dtx_plan_step_number(plan, l->step) > 0) {
		json_object_set_new(p, "step", json_integer(dtx_plan_step_number(plan, l->step)));
		json_object_set_new(p, "op", json_string(dtx_plan_step_name(&plan->step[l->step])));
	}
	if (o)
		dtx_json_print(o, 0, out);
	dtx_buf_addc(out, '\n');
	json_decref(o);
}

void dtx_ticker_line(const struct dtx_ticker *t, int64_t elapsed, struct dtx_buf *out)
{
	struct look l = look_at(t, elapsed);

	if (t->how == DTX_PROGRESS_JSON)
		print_json(&l, t->plan, out);
	else
		print_line(&l, t->plan, out);
}

static void show(struct dtx_ticker *t)
{
	struct dtx_buf b = DTX_BUF_INIT(4096);

	if (t->how != DTX_PROGRESS_JSON)
		dtx_buf_add(&b, "\r\033[K");
	dtx_ticker_line(t, dtx_now_ns() - t->start_ns, &b);
	/* A terminal that is gone must not make the run fail. */
	(void)!write(STDERR_FILENO, dtx_buf_text(&b), dtx_buf_len(&b));
	t->shown = true;
	dtx_buf_clear(&b);
}

static void add_ms(struct timespec *at, long ms)
{
	at->tv_sec += ms / 1000;
	at->tv_nsec += ms % 1000 * 1000000;
	if (at->tv_nsec >= 1000000000) {
		at->tv_sec++;
		at->tv_nsec -= 1000000000;
	}
}

static void *ticker_main(void *arg)
{
	struct dtx_ticker *t = arg;
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	add_ms(&at, FIRST_MS);
	pthread_mutex_lock(&t->lock);
	while (!t->stop) {
		if (pthread_cond_timedwait(&t->wake, &t->lock, &at) == 0)
			continue;
		if (t->stop)
			break;
		if (!t->held)
			show(t);
		add_ms(&at, t->how == DTX_PROGRESS_JSON ? JSON_MS : LINE_MS);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

void dtx_ticker_start(struct dtx_ticker *t, const struct dtx_cli *cli, enum dtx_progress_how how,
                      const char *first)
{
	pthread_condattr_t attr;

	t->how = how;
	t->first = first;
	t->start_ns = dtx_now_ns();
	if (how == DTX_PROGRESS_OFF)
		return;
	if (how == DTX_PROGRESS_AUTO && (cli->quiet || cli->errors || !isatty(STDERR_FILENO)))
		return;
	pthread_mutex_init(&t->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->wake, &attr);
	pthread_condattr_destroy(&attr);
	t->running = pthread_create(&t->thread, NULL, ticker_main, t) == 0;
}

static void erase(struct dtx_ticker *t)
{
	if (t->shown && t->how != DTX_PROGRESS_JSON)
		(void)!write(STDERR_FILENO, "\r\033[K", 4);
}

void dtx_ticker_hold(struct dtx_ticker *t, bool held)
{
	if (!t->running)
		return;
	pthread_mutex_lock(&t->lock);
	t->held = held;
	erase(t);
	t->shown = false;
	pthread_mutex_unlock(&t->lock);
}

void dtx_ticker_stop(struct dtx_ticker *t)
{
	if (!t->running)
		return;
	pthread_mutex_lock(&t->lock);
	t->stop = true;
	pthread_cond_signal(&t->wake);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	t->running = false;
	pthread_cond_destroy(&t->wake);
	pthread_mutex_destroy(&t->lock);
	erase(t);
}
