/* Runs one pipeline on all workers: leg after leg, morsel by morsel. */
#include "core/plan/pipe/pipe_parts.h"

#include <time.h>

#include "core/base/cancel.h"
#include "core/base/mem.h"
#include "core/base/pool.h"
#include "core/plan/lineage/origin_map.h"

/* --- morsels --- */

/* Whether a stands before b: by place in the same input, else by seq. */
static bool earlier(const struct dtx_err *a, uint64_t aseq, const struct dtx_err *b, uint64_t bseq)
{
	if (strcmp(a->input, b->input) == 0 && a->byte >= 0 && b->byte >= 0)
		return a->byte < b->byte;
	if (strcmp(a->input, b->input) == 0 && a->row >= 0 && b->row >= 0)
		return a->row < b->row;
	return aseq < bseq;
}

void dtx_pipe_enough(const struct dtx_pipe *p)
{
	if (p->now->reader && p->now->reader->src)
		dtx_source_stop(p->now->reader->src);
}

/* Not exact: the others go on to the end of their morsels. */
void dtx_pipe_fail(struct dtx_pipe *p, uint64_t seq, bool exact, struct dtx_err *err)
{
	bool wins;

	pthread_mutex_lock(&p->lock);
	wins = !p->failed || earlier(err, seq, &p->err, p->err_seq);
	if (p->failed && (p->err.code == DTX_E_RETYPE) != (err->code == DTX_E_RETYPE))
		wins = err->code == DTX_E_RETYPE;
	if (wins) {
		dtx_err_move(&p->err, err);
		p->err_seq = seq;
	}
	if (exact && seq < p->failed_at)
		p->failed_at = seq;
	p->failed = true;
	pthread_mutex_unlock(&p->lock);
	atomic_store(&p->stop, true);
	dtx_pipe_enough(p);
	dtx_reorder_stop(&p->ring, seq);
	dtx_err_clear(err);
}

bool dtx_pipe_unwanted(struct dtx_pipe *p, uint64_t seq)
{
	bool yes;

	if (!atomic_load_explicit(&p->stop, memory_order_acquire))
		return false;
	pthread_mutex_lock(&p->lock);
	yes = seq > p->failed_at || seq > atomic_load(&p->full_at);
	pthread_mutex_unlock(&p->lock);
	return yes;
}

static enum dtx_code table_next(struct dtx_pipe *p, struct dtx_batch **out, struct dtx_err *err)
{
	struct dtx_table *t = p->now->table;
	uint64_t i = atomic_fetch_add(&p->claim, 1);
	enum dtx_code rc = DTX_OK;

	*out = NULL;
	if (i >= t->nbatches)
		goto out;
	DTX_TRY(dtx_batch_copy(t->batch[i], out, err));
	(*out)->seq = i;
	(*out)->last = true;
	(*out)->schema = p->now->schema ? p->now->schema : (*out)->schema;
out:
	return rc;
}

static uint64_t leg_seqs(const struct dtx_pipe_source *leg)
{
	return leg->table ? leg->table->nbatches : leg->made.nparts;
}

static enum dtx_code next_batch(struct worker *w, struct dtx_batch **out, struct dtx_err *err)
{
	struct dtx_pipe *p = w->p;
	enum dtx_code rc = DTX_OK;

	*out = NULL;
	DTX_TRY(dtx_cancel_look(err));
	if (p->now->reader) {
		rc = p->now->reader->cls->next(p->now->reader, w->id, out, err);
		DTX_TRY(dtx_source_blame(p->now->reader->src, rc, err));
	} else {
		DTX_TRY(table_next(p, out, err));
	}
	if (*out) {
		(*out)->seq += p->base;
		if (p->run->progress && p->now->reader)
			dtx_reader_note(p->now->reader, (*out)->nrows, p->run->progress);
	}
out:
	if (rc != DTX_OK) {
		dtx_batch_free(*out);
		*out = NULL;
	}
	if (rc != DTX_OK && err)
		err->run_time = true;
	return rc;
}

void dtx_pipe_begin(struct worker *w, uint64_t seq)
{
	if (w->mid && w->seq == seq)
		return;
	w->seq = seq;
	w->mid = true;
	memset(w->sub, 0, (w->p->now->npass + 1) * sizeof(*w->sub));
	if (seq - w->p->base + 1 > w->seqs)
		w->seqs = seq - w->p->base + 1;
}

enum dtx_code dtx_pipe_finish(struct worker *w, uint64_t *at, struct dtx_err *err)
{
	struct dtx_pipe *p = w->p;
	enum dtx_reorder_left left = DTX_REORDER_KEPT;
	enum dtx_code rc = DTX_OK;
	uint64_t seq = w->seq;

	w->mid = false;
	if (w->cut > p->now->npass)
		return DTX_OK;
	while (!dtx_reorder_mine(w->ring, seq) &&
	       (left = dtx_reorder_leave(w->ring, seq, &w->pending)) == DTX_REORDER_HELP)
		dtx_pipe_tasks(w, false);
	if (left == DTX_REORDER_LEFT || !dtx_reorder_mine(w->ring, seq))
		return DTX_OK; /* it is another's, or not wanted any more */
	do {
		*at = seq++;
		rc = dtx_pipe_list(w, *at, &w->pending, err);
		if (rc != DTX_OK || (w->ring == &p->ring && dtx_pipe_unwanted(p, seq)))
			break;
	} while (dtx_reorder_next(w->ring, &w->pending));
	return rc;
}

/* What a worker does next, and where it is if that fails. */
struct turn {
	uint64_t at;
	bool exact, more;
};

/* The reader failed: where, and what that means. */
static enum dtx_code source_failed(struct worker *w, struct turn *t, enum dtx_code rc,
                                   struct dtx_err *err)
{
	t->more = false;
	if (!w->mid && err->seq >= 0)
		dtx_pipe_begin(w, w->p->base + (uint64_t)err->seq);
	if (!w->mid)
		return rc;
	t->at = w->seq;
	t->exact = true;
	return w->p->now->limited ? dtx_pipe_wait(w, &t->at, err) : rc;
}

/* The next batch of a reader or a table, through the maps. */
static enum dtx_code take_batch(struct worker *w, struct turn *t, struct dtx_err *err)
{
	struct dtx_batch *b = NULL;
	enum dtx_code rc = next_batch(w, &b, err);
	bool last;

	if (rc != DTX_OK)
		return source_failed(w, t, rc, err);
	t->more = b != NULL;
	if (!b)
		goto out;
	dtx_pipe_begin(w, b->seq);
	t->at = w->seq;
	t->exact = true;
	last = b->last;
	DTX_TRY(dtx_pipe_feed(w, 0, b, err));
	if (last)
		DTX_TRY(dtx_pipe_finish(w, &t->at, err));
out:
	dtx_batch_free(b);
	return rc;
}

/* Batches of a part, as the sink makes them. */
static enum dtx_code made_take(struct dtx_emit *e, struct dtx_batch *b, struct dtx_err *err)
{
	struct pipe_emit *pe = (struct pipe_emit *)e;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_pipe_count(pe, b, err));
	DTX_TRY(dtx_checks_batch(pe->w->p->now->made.tap, b, err));
	DTX_TRY(dtx_pipe_feed(pe->w, 0, b, err));
out:
	return rc;
}

/* The next part of a sink's result, through the maps. */
static enum dtx_code take_part(struct worker *w, struct turn *t, struct dtx_err *err)
{
	struct dtx_pipe *p = w->p;
	const struct dtx_made *m = &p->now->made;
	struct pipe_emit emit = { .base = { made_take, dtx_pipe_full, NULL }, .w = w, .ox = m->ox };
	uint64_t part = atomic_fetch_add(&p->claim, 1);
	int64_t start = dtx_now_ns();
	enum dtx_code rc = DTX_OK;

	t->more = part < m->nparts;
	if (!t->more)
		goto out;
	DTX_TRY(dtx_cancel_look(err));
	dtx_pipe_begin(w, p->base + part);
	t->at = w->seq;
	t->exact = true;
	w->child_ns = 0;
	rc = m->op->sink->make(m->ox, part, &emit.base, err);
	atomic_fetch_add(&m->ox->stat->ns, dtx_now_ns() - start - w->child_ns);
	if (rc != DTX_OK)
		dtx_pipe_blame(m->ox, m->op, err);
	DTX_TRY(rc);
	DTX_TRY(dtx_pipe_finish(w, &t->at, err));
out:
	return rc;
}

/* A core for each thread that computes: the workers that the cores have no room for beside the hash
 * of the input claim nothing while it is behind.  Nobody waits for them: they are inside no morsel.
 */
static void give_way(const struct worker *w)
{
	static const struct timespec nap = { .tv_nsec = 1000000 };
	const struct dtx_pipe *p = w->p;

	while (w->id >= p->beside && !w->mid && p->now->reader &&
	       dtx_reader_hash_behind(p->now->reader) &&
	       !atomic_load_explicit(&p->dry, memory_order_relaxed) && !atomic_load(&p->stop))
		nanosleep(&nap, NULL);
}

static void work(struct worker *w)
{
	struct dtx_pipe *p = w->p;
	struct dtx_err err = DTX_ERR_INIT;
	struct turn t = { .at = p->base, .more = true };
	enum dtx_code rc = DTX_OK;

	while (w->mid ? !dtx_pipe_unwanted(p, w->seq) && !dtx_pipe_has_enough(p, w->seq)
	              : !atomic_load(&p->stop)) {
		give_way(w);
		dtx_pipe_tasks(w, false);
		t.exact = w->mid;
		t.at = w->mid ? w->seq : p->base + w->seqs;
		rc = p->now->made.op ? take_part(w, &t, &err) : take_batch(w, &t, &err);
		if (rc != DTX_OK || !t.more)
			break;
	}
	atomic_store_explicit(&p->dry, true, memory_order_relaxed);
	if (rc != DTX_OK)
		dtx_pipe_fail(p, t.at, t.exact, &err);
}

void dtx_pipe_worker_clear(struct worker *w)
{
	while (w->pending.first) {
		struct dtx_reorder_item *item = w->pending.first;

		w->pending.first = item->next;
		dtx_reorder_done(w->ring, item);
	}
	dtx_mem_free(w->sub);
}

static bool worker_open(struct worker *w, struct worker *tail, struct dtx_pipe *p, unsigned id)
{
	*w = (struct worker){ .p = p, .id = id, .cut = p->cut, .ring = &p->ring };
	w->sub = dtx_mem_zalloc(p->now->npass + 1, sizeof(*w->sub));
	if (!w->sub || (p->back <= p->now->npass && !dtx_pipe_tail_open(tail, w)))
		return false;
	w->tail = p->back <= p->now->npass ? tail : NULL;
	return true;
}

static enum dtx_code work_thread(void *arg, unsigned id, struct dtx_err *err)
{
	struct dtx_pipe *p = arg;
	struct worker w, tail = { .p = NULL };
	struct dtx_err e = DTX_ERR_INIT;
	uint64_t seen;

	(void)err;
	/* those that could not start bring nothing */
	for (unsigned i = id ? 0 : dtx_pool_absent(); i; i--)
		dtx_reorder_retire(&p->ring);
	if (worker_open(&w, &tail, p, id)) {
		work(&w);
	} else {
		dtx_err_set(&e, DTX_E_NO_MEMORY, __FILE__, __LINE__, "out of memory");
		dtx_pipe_fail(p, p->base, true, &e);
	}
	dtx_reorder_retire(&p->ring);
	dtx_pipe_tasks(&w, true);
	dtx_pipe_worker_clear(&tail);
	dtx_pipe_worker_clear(&w);
	seen = atomic_load(&p->seqs);
	while (w.seqs > seen && !atomic_compare_exchange_weak(&p->seqs, &seen, w.seqs))
		;
	return DTX_OK;
}

/* --- legs --- */

static unsigned first_ordered(const struct dtx_pipe *p, const struct dtx_pipe_source *leg)
{
	for (unsigned i = 0; i < leg->npass; i++)
		if (leg->pass[i].link->ordered)
			return i;
	return p->end.eat ? leg->npass + 1 : leg->npass;
}

/* Behind the last map that wants order, where workers can share what comes out of it. */
static unsigned first_shared(const struct dtx_pipe_source *leg, unsigned workers)
{
	for (unsigned i = leg->npass; workers > 1 && i > 0; i--)
		if (leg->pass[i - 1].link->ordered)
			return i;
	return leg->npass + 2;
}

static enum dtx_code pipe_error(struct dtx_pipe *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (p->failed &&
	    (p->err_seq <= atomic_load(&p->full_at) || p->err.code == DTX_E_CANCELLED)) {
		rc = p->err.code;
		if (err)
			dtx_err_move(err, &p->err);
	}
	dtx_err_clear(&p->err);
	p->failed = false;
	return rc;
}

/* Rows that a map kept back to the end (unmatched rows of a join). */
static enum dtx_code flush_leg(struct dtx_pipe *p, struct dtx_err *err)
{
	struct worker w = { .p = p, .in_order = true, .cut = p->cut, .ring = &p->ring };
	uint32_t n = (uint32_t)(p->now - p->leg);
	enum dtx_code rc = DTX_OK;

	for (unsigned i = 0; i < p->now->npass; i++) {
		struct pipe_emit emit = dtx_pipe_emit(&w, i);
		struct dtx_operator *l = emit.link;

		if (l->last_leg != n || !l->op->map->flush)
			continue;
		emit.base.stop = NULL; /* all is read */
		p->order_seq = p->base++;
		memset(p->order_sub, 0, (p->now->npass + 1) * sizeof(*p->order_sub));
		rc = l->op->map->flush(emit.ox, l->local, l->nlocals, &emit.base, err);
		if (rc != DTX_OK)
			dtx_pipe_blame(emit.ox, l->op, err);
		DTX_TRY(rc);
	}
out:
	return rc;
}

static enum dtx_code start_leg(struct dtx_pipe *p, unsigned workers, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	dtx_pipe_limited(p->now);
	p->cut = first_ordered(p, p->now);
	p->back = first_shared(p->now, workers);
	p->out_seq = p->base;
	p->beside = DTX_MAX(dtx_pool_cpus(), 2) - 1;
	atomic_store(&p->dry, false);
	atomic_store(&p->stop, false);
	atomic_store(&p->full_at, UINT64_MAX);
	p->full_id = DTX_NO_ROW;
	for (unsigned i = 0; i < p->now->npass; i++)
		p->now->pass[i].link->last_id = DTX_NO_ROW;
	p->failed_at = UINT64_MAX;
	atomic_store(&p->claim, 0);
	atomic_store(&p->seqs, 0);
	dtx_mem_free(p->order_sub);
	p->order_sub = dtx_mem_zalloc(p->now->npass + 1, sizeof(*p->order_sub));
	p->order_seq = UINT64_MAX;
	dtx_reorder_clear(&p->ring);
	DTX_TRY(dtx_reorder_init(&p->ring, p->workers, p->base, err));
	p->ring.carriers = workers;
	dtx_reorder_clear(&p->tail);
	DTX_TRY(dtx_reorder_init(&p->tail, p->workers, p->base, err));
	if (!p->order_sub)
		DTX_FAIL_MEM(err);
	if (p->now->reader)
		DTX_TRY(p->now->reader->cls->start(p->now->reader, p->now->scan, err));
	DTX_TRY(dtx_origin_map_leg(p->now, p->arena, err));
out:
	return rc;
}

static enum dtx_code run_leg(struct dtx_pipe *p, struct dtx_err *err)
{
	unsigned workers = p->workers;
	uint64_t seqs = leg_seqs(p->now);
	enum dtx_code rc = DTX_OK;

	if (!p->now->reader && seqs < workers)
		workers = seqs ? (unsigned)seqs : 1;
	DTX_TRY(start_leg(p, workers, err));
	DTX_TRY(dtx_pool_run(workers, work_thread, p, err));
	DTX_TRY(pipe_error(p, err));
	p->now->stopped = atomic_load(&p->full_at) != UINT64_MAX;
	if (p->now->stopped && p->now->reader)
		dtx_reader_cut(p->now->reader, p->full_id);
	p->base = DTX_MAX(p->base + atomic_load(&p->seqs), p->out_seq);
	DTX_TRY(flush_leg(p, err));
out:
	return rc;
}

/* A link shared by several legs is flushed once, after the last. */
static void find_last_legs(struct dtx_pipe *p)
{
	for (uint32_t i = 0; i < p->nlegs; i++)
		for (unsigned k = 0; k < p->leg[i].npass; k++)
			p->leg[i].pass[k].link->last_leg = i;
}

enum dtx_code dtx_pipe_run(struct dtx_pipe *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	find_last_legs(p);
	for (uint32_t i = 0; i < p->nlegs; i++) {
		p->now = &p->leg[i];
		DTX_TRY(run_leg(p, err));
	}
out:
	return rc;
}

/* --- parts --- */

void dtx_pipe_init(struct dtx_pipe *p, const struct dtx_run *run, unsigned workers)
{
	*p = (struct dtx_pipe){ .run = run, .workers = workers, .err = DTX_ERR_INIT };
	pthread_mutex_init(&p->lock, NULL);
}

void dtx_pipe_clear(struct dtx_pipe *p)
{
	for (uint32_t i = 0; i < p->nlegs; i++)
		dtx_mem_free(p->leg[i].pass);
	dtx_mem_free(p->leg);
	dtx_mem_free(p->order_sub);
	dtx_reorder_clear(&p->ring);
	dtx_reorder_clear(&p->tail);
	dtx_err_clear(&p->err);
	pthread_mutex_destroy(&p->lock);
}

struct dtx_pipe_source *dtx_pipe_leg(struct dtx_pipe *p)
{
	size_t cap = p->cap_legs;

	if (!dtx_mem_reserve(&p->leg, &cap, p->nlegs + 1u, sizeof(*p->leg)))
		return NULL;
	p->cap_legs = (uint32_t)cap;
	p->leg[p->nlegs] = (struct dtx_pipe_source){ .table_id = -1 };
	return &p->leg[p->nlegs++];
}

bool dtx_pipe_source_pass(struct dtx_pipe_source *leg, struct dtx_operator *link, unsigned input)
{
	size_t cap = leg->cap;

	if (!dtx_mem_reserve(&leg->pass, &cap, leg->npass + 1u, sizeof(*leg->pass)))
		return false;
	leg->cap = (unsigned)cap;
	leg->pass[leg->npass++] = (struct dtx_pass){ .link = link, .input = input };
	return true;
}
