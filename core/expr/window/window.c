/* Evaluates a window call over a table: makes its arguments columns over all rows, computes one
 * partition after the other, and returns a column over all rows. */
#include "core/expr/window/window.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"
#include "core/base/thread/pool.h"
#include "core/expr/window/win.h"

/* --- results of kernels --- */

double dtx_win_float(const struct dtx_column *c, uint32_t row)
{
	switch (c->type.type) {
	case DTX_T_FLOAT64: return c->v.f64[row];
	case DTX_T_DECIMAL: return dtx_dec_to_f64(c->v.dec[row], c->type.scale);
	default: return (double)c->v.i64[row];
	}
}

void dtx_win_put(struct dtx_win *w, uint32_t row, double v)
{
	if (!isfinite(v)) {
		w->counts->not_finite++;
		return;
	}
	w->f[row] = v + 0.0; /* -0.0 becomes 0.0 */
	dtx_bit_set(w->valid, row);
}

enum dtx_code dtx_win_put_exact(struct dtx_win *w, uint32_t row, const struct dtx_wsum *sum)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = w->err;
	bool decimal = w->c->type.type == DTX_T_DECIMAL;
	dtx_i128 v;

	if (!dtx_wsum_get(sum, &v) || (decimal ? !dtx_dec_fits(v, 38) : v != (int64_t)v)) {
		if (w->c->overflow == DTX_OVERFLOW_NULL)
			return DTX_OK;
		w->bad_row = row;
		rc = dtx_err_set(err, DTX_E_OVERFLOW, __FILE__, __LINE__,
		                 "%s() is too large for %s", w->c->name,
		                 decimal ? "decimal" : "int");
		dtx_err_hint(err, "compute with float(x), or set options.overflow to 'float' or "
		                  "'null'");
		return rc;
	}
	if (decimal)
		w->dec[row] = dtx_dec_put(v);
	else
		w->i[row] = (int64_t)v;
	dtx_bit_set(w->valid, row);
	return DTX_OK;
}

enum dtx_code dtx_win_divide(struct dtx_win *w, uint32_t row, double x, double y)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = w->err;

	if (y != 0) {
		dtx_win_put(w, row, x / y);
		return DTX_OK;
	}
	if (w->c->div_zero_error) {
		w->bad_row = row;
		rc = dtx_err_set(err, DTX_E_DIV_ZERO, __FILE__, __LINE__, "%s() divides by zero",
		                 w->c->name);
		dtx_err_hint(err, "options.div_zero 'null' gives null, and counts it");
		return rc;
	}
	w->counts->div_zero++;
	return rc;
}

static uint32_t frame_edge(bool open, int64_t distance, uint32_t k, uint32_t from, uint32_t to,
                           uint32_t end)
{
	int64_t at;

	if (open)
		return end;
	at = (int64_t)k + distance;
	return (uint32_t)(at < (int64_t)from ? from : at > (int64_t)to ? to : at);
}

void dtx_win_frame(const struct dtx_win *w, uint32_t from, uint32_t to, uint32_t k, uint32_t *lo,
                   uint32_t *hi)
{
	const struct dtx_row_frame *f = w->frame;

	if (w->rows->lo) {
		*lo = w->rows->lo[k];
		*hi = w->rows->hi[k];
		return;
	}
	*lo = from;
	*hi = w->rows->peer ? k + 1 : to; /* the default frame: all rows, or with an order the rows
	                                   * up to the current one */
	if (f->set) {
		*lo = frame_edge(f->from.open, f->from.rows, k, from, to, from);
		*hi = frame_edge(f->to.open, f->to.rows + 1, k, from, to, to);
	}
	if (*hi < *lo)
		*hi = *lo;
}

void dtx_win_set_position(struct dtx_table *t, uint32_t row, struct dtx_err *err)
{
	for (size_t i = 0; i < t->nbatches; i++) {
		if (row < t->batch[i]->nrows) {
			dtx_batch_set_position(t->batch[i], row, -1, err);
			return;
		}
		row -= t->batch[i]->nrows;
	}
}

/* --- sums --- */

enum dtx_code dtx_winsum_step(struct dtx_win *w, struct dtx_winsum *s, uint32_t row, int sign)
{
	const struct dtx_column *x = w->arg[0];
	enum dtx_code rc = DTX_OK;

	s->n += (uint32_t)sign;
	if (x->type.type != DTX_T_FLOAT64)
		dtx_wsum_add(&s->exact, sign * dtx_win_exact(x, row));
	else if (!dtx_fsum_add(&s->real, sign * x->v.f64[row]))
		DTX_FAIL_MEM(w->err);
out:
	return rc;
}

double dtx_winsum_mean(const struct dtx_win *w, struct dtx_winsum *s, uint32_t n)
{
	if (w->arg[0]->type.type == DTX_T_FLOAT64)
		return dtx_fsum_round(&s->real) / n;
	return dtx_wsum_mean(&s->exact, n, w->arg[0]->type.scale);
}

double dtx_winsum_units(const struct dtx_win *w, struct dtx_winsum *s)
{
	return w->arg[0]->type.type == DTX_T_FLOAT64 ? dtx_fsum_round(&s->real)
	                                             : dtx_wsum_mean(&s->exact, 1, 0);
}

enum dtx_code dtx_winsum_put(struct dtx_win *w, struct dtx_winsum *s, uint32_t row)
{
	if (w->c->type.type != DTX_T_FLOAT64)
		return dtx_win_put_exact(w, row, &s->exact);
	dtx_win_put(w, row, dtx_winsum_mean(w, s, 1));
	return DTX_OK;
}

/* --- kernels --- */

const struct dtx_winkernel *dtx_winkernel(enum dtx_winkind kind)
{
	if (kind <= DTX_WIN_NTILE)
		return &dtx_win_rank[kind];
	if (kind <= DTX_WIN_ROLL_MAX)
		return &dtx_win_place[kind];
	return kind <= DTX_WIN_INTERPOLATE ? &dtx_win_num[kind] : &dtx_win_roll[kind];
}

bool dtx_window_framed(const struct dtx_aggcall *c)
{
	return !c->win || c->win->framed;
}

/* --- arguments --- */

/* The value of an expression for every row of the table, as a FLAT column. */
static enum dtx_code whole_column(const struct dtx_bound *e, struct dtx_table *t,
                                  struct dtx_eval_counts *counts, struct dtx_column **out,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_builder b;
	struct dtx_column *part = NULL;

	dtx_builder_init(&b, dtx_bound_type(e), (uint32_t)t->nrows);
	for (size_t i = 0; i < t->nbatches; i++) {
		DTX_TRY(dtx_eval(e, t->batch[i], &part, counts, err));
		for (uint32_t k = 0; k < t->batch[i]->nrows; k++)
			dtx_builder_copy(&b, part, k);
		dtx_column_unref(part);
		part = NULL;
	}
	DTX_TRY(dtx_builder_finish(&b, NULL, out, err));
out:
	dtx_column_unref(part);
	dtx_builder_clear(&b);
	return rc;
}

static enum dtx_code arguments(struct dtx_win *w, struct dtx_table *t)
{
	const struct dtx_aggcall *c = w->c;
	enum dtx_code rc = DTX_OK;
	bool shift = c->kind == (int)DTX_WIN_LAG || c->kind == (int)DTX_WIN_LEAD;

	/* the other arguments are constants */
	if (c->nargs && c->kind != (int)DTX_WIN_NTILE)
		DTX_TRY(whole_column(c->args[0], t, w->counts, &w->arg[0], w->err));
	if (shift && c->nargs > 2)
		DTX_TRY(whole_column(c->args[2], t, w->counts, &w->arg[2], w->err));
	for (uint32_t i = 1; c->kind == (int)DTX_WIN_CUM_SUM && i < c->nargs; i++)
		if (c->args[i] && c->args[i]->type.type != DTX_T_NULL)
			DTX_TRY(whole_column(c->args[i], t, w->counts, &w->arg[i], w->err));
out:
	return rc;
}

/* --- results --- */

static void *result_room(struct dtx_win *w, uint32_t n)
{
	switch (w->c->win->gives) {
	case DTX_WIN_INT: return w->i = dtx_mem_zalloc((size_t)n + 1, sizeof(*w->i));
	case DTX_WIN_FLOAT: return w->f = dtx_mem_zalloc((size_t)n + 1, sizeof(*w->f));
	case DTX_WIN_PLACE: return w->place = dtx_mem_alloc((size_t)n + 1, sizeof(*w->place));
	default: break;
	}
	if (w->c->type.type == DTX_T_FLOAT64)
		return w->f = dtx_mem_zalloc((size_t)n + 1, sizeof(*w->f));
	if (w->c->type.type == DTX_T_DECIMAL)
		return w->dec = dtx_mem_zalloc((size_t)n + 1, sizeof(*w->dec));
	return w->i = dtx_mem_zalloc((size_t)n + 1, sizeof(*w->i));
}

static void add_placed(const struct dtx_win *w, struct dtx_builder *b, uint32_t row)
{
	const struct dtx_column *deflt = w->arg[2];
	uint32_t from = w->place[row];

	if (from == DTX_WIN_DEFAULT && deflt && deflt->type.type != DTX_T_NULL)
		dtx_builder_copy(b, deflt, row);
	else if (from >= DTX_WIN_DEFAULT || w->arg[0]->type.type == DTX_T_NULL)
		dtx_builder_null(b);
	else
		dtx_builder_copy(b, w->arg[0], from);
}

static void add_result(const struct dtx_win *w, struct dtx_builder *b, uint32_t row)
{
	if (w->place)
		add_placed(w, b, row);
	else if (!dtx_bit(w->valid, row))
		dtx_builder_null(b);
	else if (w->f)
		dtx_builder_f64(b, w->f[row]);
	else if (w->dec)
		dtx_builder_dec(b, w->dec[row]);
	else
		dtx_builder_i64(b, w->i[row]);
}

/* Adds all numbers at once. */
static void add_numbers(const struct dtx_win *w, struct dtx_builder *b)
{
	const void *from = w->f ? (const void *)w->f : w->i;
	void *to = dtx_builder_bulk(b, w->rows->n);

	if (!to)
		return;
	memcpy(to, from, w->rows->n * sizeof(int64_t));
	for (uint32_t row = 0; row < w->rows->n; row++)
		if (!dtx_bit(w->valid, row))
			dtx_builder_absent(b, row);
}

static enum dtx_code result_column(const struct dtx_win *w, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_builder b;

	dtx_builder_init(&b, w->c->type, w->rows->n);
	if (!w->place && !w->dec && w->rows->n)
		add_numbers(w, &b);
	else
		for (uint32_t row = 0; row < w->rows->n; row++)
			add_result(w, &b, row);
	DTX_TRY(dtx_builder_finish(&b, NULL, out, w->err));
out:
	dtx_builder_clear(&b);
	return rc;
}

/* --- partitions, shared by workers --- */

#define SHARED_MIN   65536u /* with fewer rows one worker is as fast */
#define SHARED_ROWS  16384u /* a worker takes so many rows at a time, or one partition */
#define PARTS_A_LOOK 64u    /* a single worker checks its cancel flag once per so many partitions */

struct share {
	struct dtx_win *win; /* one per worker: results are shared, counters are not */
	uint32_t next;       /* number of the next partition */
	pthread_mutex_t lock;
};

/* Takes the next partitions for a worker.  False: none are left. */
static bool share_take(struct share *s, uint32_t *from, uint32_t *to)
{
	const struct dtx_winrows *rows = s->win[0].rows;
	uint32_t p;

	pthread_mutex_lock(&s->lock);
	*from = p = s->next;
	while (p < rows->nparts && rows->start[p] - rows->start[*from] < SHARED_ROWS)
		p++;
	s->next = *to = p;
	pthread_mutex_unlock(&s->lock);
	return *from < *to;
}

static enum dtx_code share_work(void *arg, unsigned worker, struct dtx_err *err)
{
	struct share *s = arg;
	struct dtx_win *w = &s->win[worker];
	enum dtx_code rc = DTX_OK;
	uint32_t p, to;

	w->err = err;
	while (rc == DTX_OK && share_take(s, &p, &to)) {
		rc = dtx_cancel_look(err);
		for (; rc == DTX_OK && p < to; p++)
			rc = w->c->win->part(w, w->rows->start[p], w->rows->start[p + 1]);
	}
	return rc;
}

/* Adds up the counters of all workers. */
static void share_join(struct dtx_win *w, const struct share *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		for (size_t k = 0; k < dtx_bit_words(w->rows->n); k++)
			w->valid[k] |= s->win[i].valid[k];
		dtx_eval_counts_add(w->counts, s->win[i].counts);
	}
}

/* *done stays false if there is nothing to share, or if a worker failed.  Then one thread goes
 * through all partitions in order and finds the first error. */
static enum dtx_code share_parts(struct dtx_win *w, bool *done)
{
	unsigned n = DTX_MIN(w->rows->workers, w->rows->nparts);
	struct dtx_eval_counts *counts = NULL;
	struct dtx_err *err = w->err, first = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;
	struct share s = { .next = 0 };

	if (n < 2 || w->rows->n < SHARED_MIN)
		return DTX_OK;
	pthread_mutex_init(&s.lock, NULL);
	s.win = dtx_mem_alloc(n, sizeof(*s.win));
	counts = dtx_mem_zalloc(n, sizeof(*counts));
	for (unsigned i = 0; s.win && i < n; i++) {
		s.win[i] = *w;
		s.win[i].valid = dtx_mem_zalloc(dtx_bit_words(w->rows->n) + 1, sizeof(*w->valid));
		s.win[i].counts = counts ? &counts[i] : NULL;
	}
	for (unsigned i = 0; i < n; i++)
		if (!s.win || !counts || !s.win[i].valid)
			DTX_FAIL_MEM(err);
	*done = dtx_pool_run(n, share_work, &s, &first) == DTX_OK;
	if (*done)
		share_join(w, &s, n);
out:
	for (unsigned i = 0; s.win && i < n; i++)
		dtx_mem_free(s.win[i].valid);
	dtx_mem_free(s.win);
	dtx_mem_free(counts);
	dtx_err_clear(&first);
	pthread_mutex_destroy(&s.lock);
	return rc;
}

static enum dtx_code all_parts(struct dtx_win *w, struct dtx_table *t)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t p = 0; p < w->rows->nparts && rc == DTX_OK; p++) {
		rc = p % PARTS_A_LOOK == 0 ? dtx_cancel_look(w->err) : DTX_OK;
		if (rc == DTX_OK)
			rc = w->c->win->part(w, w->rows->start[p], w->rows->start[p + 1]);
	}
	if (rc != DTX_OK && w->bad_row != UINT32_MAX) {
		dtx_win_set_position(t, w->bad_row, w->err);
		dtx_agg_set_position(w->c, w->err);
	}
	return rc;
}

static enum dtx_code eval_call(struct dtx_win *w, struct dtx_table *t, struct dtx_column **out)
{
	bool done = false;
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = w->err;

	w->bad_row = UINT32_MAX;
	w->valid = dtx_mem_zalloc(dtx_bit_words(w->rows->n) + 1, sizeof(*w->valid));
	if (!w->valid || !result_room(w, w->rows->n))
		DTX_FAIL_MEM(err);
	DTX_TRY(arguments(w, t));
	DTX_TRY(share_parts(w, &done));
	if (!done)
		DTX_TRY(all_parts(w, t));
	DTX_TRY(result_column(w, out));
out:
	return rc;
}

enum dtx_code dtx_window_eval(const struct dtx_aggcall *c, const struct dtx_winrows *rows,
                              const struct dtx_row_frame *frame, struct dtx_table *t,
                              struct dtx_eval_counts *counts, struct dtx_column **out,
                              struct dtx_err *err)
{
	struct dtx_win w = { .c = c, .rows = rows, .frame = frame, .counts = counts, .err = err };
	enum dtx_code rc;

	if (!c->win)
		return dtx_window_agg(c, rows, frame, t, counts, out, err);
	rc = eval_call(&w, t, out);
	for (size_t i = 0; i < DTX_WIN_ARGS; i++)
		dtx_column_unref(w.arg[i]);
	dtx_mem_free(w.i);
	dtx_mem_free(w.f);
	dtx_mem_free(w.dec);
	dtx_mem_free(w.place);
	dtx_mem_free(w.valid);
	return rc;
}
