/* Runs the steps that are not streamed: sinks, and operations on whole tables.
 *
 * A sink consumes batches on all workers, each into a state of its own; the states are combined, in
 * parts where the sink allows it, and finalized. A digest is a sink that shortens the input of a
 * whole-table op (for instance to its groups), so that the op itself holds less. */
#include "core/plan/pipe/runop.h"

#include <pthread.h>

#include "core/base/thread/parallel_for.h"
#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"
#include "core/base/thread/pool.h"
#include "core/plan/pipe/spread.h"

/* --- emitting into a table --- */

struct collect {
	struct dtx_emit base;
	struct dtx_graph *g;
	const struct dtx_opctx *ox;
	struct dtx_checks *checks;
	struct dtx_table *table;
};

static enum dtx_code collect_keep(struct collect *c, struct dtx_batch *b, struct dtx_err *err)
{
	struct dtx_batch *copy = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_batch_copy(b, &copy, err));
	DTX_TRY(dtx_batch_dense(copy, err));
	if (dtx_spill_tables(c->g->run.spill))
		DTX_TRY(dtx_spill_batch(c->g->run.spill, copy, &c->ox->stat->spilled, err));
	rc = dtx_table_take(c->table, copy, err);
	copy = NULL;
out:
	dtx_batch_free(copy);
	return rc;
}

static enum dtx_code collect_take(struct dtx_emit *e, struct dtx_batch *b, struct dtx_err *err)
{
	struct collect *c = (struct collect *)e;
	int64_t rows = atomic_fetch_add(&c->ox->stat->rows_out, b->nsel) + b->nsel;
	enum dtx_code rc = DTX_OK;

	DTX_ASSERT(b->ncols == c->ox->out->nfields, err);
	if (c->g->run.max_rows >= 0 && rows > c->g->run.max_rows)
		DTX_FAIL(err, DTX_E_ROW_LIMIT, "more than %lld rows",
		         (long long)c->g->run.max_rows);
	b->schema = c->ox->out;
	b->seq = c->table->nbatches;
	b->sub = 0;
	DTX_TRY(dtx_checks_batch(c->checks, b, err));
	DTX_TRY(collect_keep(c, b, err));
out:
	return rc;
}

static enum dtx_code collector(struct dtx_graph *g, uint32_t s, struct collect *c,
                               struct dtx_err *err)
{
	*c = (struct collect){ .base = { .take = collect_take },
		               .g = g,
		               .ox = &g->step[s].ox[0],
		               .checks = &g->step[s].checks };
	return dtx_table_new(c->ox->out, &c->table, err);
}

enum dtx_code dtx_runop_set_step(const struct dtx_graph *g, uint32_t s, enum dtx_code rc,
                                 struct dtx_err *err)
{
	if (rc != DTX_OK && err) {
		dtx_err_step(err, (int32_t)s, dtx_plan_step_name(&g->plan->step[s]));
		err->run_time = true;
	}
	return rc;
}

/* Notes the largest memory use since the last call as that of the step. Pipelines run one after the
 * other, so the time in between belongs to this step's own. */
void dtx_runop_begins(const struct dtx_graph *g, uint32_t s)
{
	struct dtx_progress *to = g->run.progress;

	if (!to || atomic_load(&to->step) == (int)s + 1)
		return;
	atomic_store_explicit(&to->step, (int)s + 1, memory_order_relaxed);
	if (to->moved)
		to->moved(to->moved_arg, (int)s, false, 0);
}

void dtx_runop_ends(const struct dtx_graph *g, uint32_t s)
{
	struct dtx_progress *to = g->run.progress;

	if (!to)
		return;
	atomic_store_explicit(&to->step, 0, memory_order_relaxed);
	if (to->moved)
		to->moved(to->moved_arg, (int)s, true, atomic_load(&g->step[s].stat->rows_in));
}

static void note_memory(const struct dtx_opctx *ox)
{
	int64_t bytes = (int64_t)dtx_mem_lap();

	if (bytes > atomic_load(&ox->stat->bytes))
		atomic_store(&ox->stat->bytes, bytes);
}

/* --- sinks --- */

struct sink_run {
	struct dtx_graph *g;
	uint32_t s;
	unsigned input; /* which of the tables of the step */
	const struct dtx_opctx *ox;
	const struct dtx_sink *sink;
	void **local;
	unsigned nlocals;
	_Atomic unsigned part;
	/* With little memory one worker consumes at a time: what a batch needs for a moment, such
	 * as the second half of a sort or a table that grows, is then needed once and not per
	 * worker. */

	bool narrow;
	pthread_mutex_t eats;
};
#define NARROW_BYTES ((size_t)32 << 20) /* of the budget, per worker */

static enum dtx_code sink_eat(void *arg, unsigned worker, struct dtx_batch *b, struct dtx_err *err)
{
	struct sink_run *r = arg;
	int64_t start = dtx_now_ns();
	enum dtx_code rc = DTX_OK;

	atomic_fetch_add(&r->ox->stat->rows_in, b->nsel);
	if (r->input && r->g->spread)
		DTX_TRY(r->g->spread->side(r->g->spread->arg, r->g, r->s, r->input, b, err));
	if (b->sel && !(r->g->plan->step[r->s].op->flags & DTX_OP_TAKES_SEL))
		DTX_TRY(dtx_batch_dense(b, err));
	if (r->narrow)
		pthread_mutex_lock(&r->eats);
	rc = r->sink->consume(r->ox, r->local[worker], b, err);
	if (r->narrow)
		pthread_mutex_unlock(&r->eats);
out:
	atomic_fetch_add(&r->ox->stat->ns, dtx_now_ns() - start);
	return dtx_runop_set_step(r->g, r->s, rc, err);
}

static enum dtx_code combine_parts(void *arg, unsigned worker, struct dtx_err *err)
{
	struct sink_run *r = arg;
	unsigned n = r->sink->nparts ? r->sink->nparts : 1;
	enum dtx_code rc = DTX_OK;

	(void)worker;
	for (unsigned part; rc == DTX_OK && (part = atomic_fetch_add(&r->part, 1)) < n;) {
		rc = dtx_cancel_look(err);
		if (rc == DTX_OK)
			rc = r->sink->combine(r->ox, part, r->local, r->nlocals, err);
	}
	return rc;
}

static enum dtx_code sink_finish(struct sink_run *r, void **shared, struct dtx_emit *emit,
                                 struct dtx_err *err)
{
	int64_t start = dtx_now_ns();
	enum dtx_code rc = DTX_OK;

	if (r->sink->combine)
		DTX_TRY(dtx_pool_run(r->sink->nparts > 1 ? r->nlocals : 1, combine_parts, r, err));
	if (r->sink->finalize)
		DTX_TRY(r->sink->finalize(r->ox, r->local, r->nlocals, shared, emit, err));
out:
	atomic_fetch_add(&r->ox->stat->ns, dtx_now_ns() - start);
	return dtx_runop_set_step(r->g, r->s, rc, err);
}

static enum dtx_code sink_init(struct sink_run *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	pthread_mutex_init(&r->eats, NULL);
	r->local = dtx_mem_zalloc(r->nlocals, sizeof(*r->local));
	if (!r->local)
		DTX_FAIL_MEM(err);
	for (unsigned i = 0; r->sink->init_local && i < r->nlocals; i++)
		DTX_TRY(r->sink->init_local(r->ox, &r->local[i], err));
out:
	return dtx_runop_set_step(r->g, r->s, rc, err);
}

static void sink_clear(struct sink_run *r)
{
	for (unsigned i = 0; r->local && r->sink->free_local && i < r->nlocals; i++)
		if (r->local[i])
			r->sink->free_local(r->ox, r->local[i]);
	dtx_mem_free(r->local);
	pthread_mutex_destroy(&r->eats);
}

static struct sink_run sink_run_of(struct dtx_graph *g, uint32_t s, const struct dtx_opctx *ox,
                                   const struct dtx_sink *sink)
{
	return (struct sink_run){ .g = g,
		                  .s = s,
		                  .ox = ox,
		                  .sink = sink,
		                  .nlocals = g->run.workers,
		                  .narrow = dtx_mem_limit() &&
		                            dtx_mem_limit() / g->run.workers < NARROW_BYTES };
}

/* Streams table t into the sink and makes the sink's result. spreads: other processes may make its
 * state. */
static enum dtx_code sink_over(struct sink_run *r, int32_t t, bool spreads, void **shared,
                               struct dtx_emit *emit, struct dtx_err *err)
{
	struct dtx_pipe_end end = { .arg = r, .eat = sink_eat, .step = r->s + 1 };
	bool done = false;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(sink_init(r, err));
	if (spreads)
		DTX_TRY(dtx_graph_states(r->g, r->sink, r->ox, r->local[0], &done, err));
	if (!done)
		DTX_TRY(dtx_graph_stream(r->g, t, &end, err));
	DTX_TRY(sink_finish(r, shared, emit, err));
	note_memory(r->ox);
out:
	sink_clear(r);
	return rc;
}

/* See runop.h. */
enum dtx_code dtx_runop_sink(struct dtx_graph *g, uint32_t s, unsigned input,
                             struct dtx_table **out, struct dtx_err *err)
{
	const struct dtx_plan_step *st = &g->plan->step[s];
	struct dtx_stepx *sx = &g->step[s];
	struct sink_run r = sink_run_of(g, s, &sx->ox[input], st->op->sink);
	void *shared = sx->has_shared ? sx->ox[0].shared
	                              : NULL; /* made by the build side of an earlier input */
	struct collect c = { .table = NULL };
	enum dtx_code rc = DTX_OK;

	r.input = input;
	if (input && g->spread)
		DTX_TRY(g->spread->side(g->spread->arg, g, s, input, NULL, err));
	DTX_TRY(collector(g, s, &c, err));
	DTX_TRY(sink_over(&r, st->table[input], input == 0, &shared, &c.base, err));
	dtx_runop_ends(g, s);
	for (unsigned k = 0; shared && k < r.ox->ninputs; k++)
		sx->ox[k].shared = shared;
	sx->has_shared = sx->has_shared || shared;
	if (out) {
		*out = c.table;
		c.table = NULL;
	}
out:
	dtx_table_unref(c.table);
	return rc;
}

static struct dtx_opctx digest_context(const struct dtx_graph *g, uint32_t s,
                                       const struct dtx_digest *what)
{
	struct dtx_opctx ox = g->step[s].ox[0];

	ox.bound = what->bound;
	ox.out = what->out;
	ox.need = NULL;
	return ox;
}

enum dtx_code dtx_runop_state(struct dtx_graph *g, uint32_t s, struct dtx_frame *frame,
                              enum dtx_code (*then)(void *arg, struct dtx_err *err), void *arg,
                              struct dtx_err *err)
{
	const struct dtx_plan_step *st = &g->plan->step[s];
	const struct dtx_digest *digest = g->flow.bind[s]->digest;
	const struct dtx_sink *sink = digest ? digest->sink : st->op->sink;
	struct dtx_opctx ox;
	struct sink_run r;
	struct dtx_pipe_end end = { .arg = &r, .eat = sink_eat, .step = s + 1 };
	enum dtx_code rc = DTX_OK;

	DTX_ASSERT(sink && sink->save && g->run.workers == 1, err);
	DTX_TRY(dtx_graph_prepare(g, s, err));
	ox = digest ? digest_context(g, s, digest) : g->step[s].ox[0];
	r = sink_run_of(g, s, &ox, sink);
	rc = sink_init(&r, err);
	if (rc == DTX_OK)
		rc = dtx_graph_stream(g, st->table[0], &end, err);
	if (rc == DTX_OK)
		rc = r.sink->save(r.ox, r.local[0], frame, err);
	if (rc == DTX_OK)
		rc = then(arg, err);
	sink_clear(&r);
out:
	return rc;
}

/* --- digests --- */

struct digest {
	struct dtx_graph *g;
	const struct dtx_sink *sink;
	struct dtx_opctx ox;
	struct dtx_table **part;
	uint64_t nparts;
};

static enum dtx_code digest_take(struct dtx_emit *e, struct dtx_batch *b, struct dtx_err *err)
{
	return collect_keep((struct collect *)e, b, err);
}

static enum dtx_code digest_part(void *arg, uint64_t i, struct dtx_err *err)
{
	struct digest *d = arg;
	struct collect c = { .base = { .take = digest_take }, .g = d->g, .ox = &d->ox };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_table_new(d->ox.out, &d->part[i], err));
	c.table = d->part[i];
	DTX_TRY(d->sink->make(&d->ox, i, &c.base, err));
out:
	return rc;
}

/* All workers make the parts; they are appended in order. */
static enum dtx_code digest_join(struct digest *d, struct dtx_table *to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_parallel_for(d->g->run.workers, d->nparts, digest_part, d, err));
	for (uint64_t i = 0; i < d->nparts; i++)
		for (size_t k = 0; k < d->part[i]->nbatches; k++) {
			struct dtx_batch *b = d->part[i]->batch[k];

			d->part[i]->batch[k] = NULL;
			DTX_TRY(dtx_table_take(to, b, err));
		}
out:
	return rc;
}

static void digest_clear(struct digest *d)
{
	for (uint64_t i = 0; d->part && i < d->nparts; i++)
		dtx_table_unref(d->part[i]);
	dtx_mem_free(d->part);
	if (d->ox.shared && d->sink->free_shared)
		d->sink->free_shared(&d->ox, d->ox.shared);
}

static enum dtx_code digest_table(struct dtx_graph *g, uint32_t s, const struct dtx_digest *what,
                                  struct dtx_table **out, struct dtx_err *err)
{
	struct digest d = { .g = g, .sink = what->sink, .ox = digest_context(g, s, what) };
	struct sink_run r = sink_run_of(g, s, &d.ox, what->sink);
	struct dtx_table *table = NULL;
	const struct dtx_origin *origin = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(sink_over(&r, g->plan->step[s].table[0], true, &d.ox.shared, NULL, err));
	d.nparts = d.sink->parts(&d.ox, &origin);
	d.part = dtx_mem_zalloc(d.nparts + 1, sizeof(struct dtx_table *));
	if (!d.part)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_table_new(d.ox.out, &table, err));
	DTX_TRY(dtx_runop_set_step(g, s, digest_join(&d, table, err), err));
	*out = table;
	table = NULL;
out:
	dtx_table_unref(table);
	digest_clear(&d);
	return rc;
}

/* --- whole ops --- */

/* A whole-table op may change the batches it gets, so it gets a copy where the table has other
 * readers. */
static enum dtx_code own_table(const struct dtx_table *t, struct dtx_table **out,
                               struct dtx_err *err)
{
	struct dtx_table *own = NULL;
	struct dtx_batch *copy = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_table_new(t->schema, &own, err));
	for (size_t i = 0; i < t->nbatches; i++) {
		DTX_TRY(dtx_batch_copy(t->batch[i], &copy, err));
		DTX_TRY(dtx_table_take(own, copy, err));
	}
	*out = own;
	own = NULL;
out:
	dtx_table_unref(own);
	return rc;
}

/* The input table. *own is set to a copy where the op may not have the table itself. */
static enum dtx_code whole_table(struct dtx_graph *g, uint32_t s, struct dtx_table **in,
                                 struct dtx_table **own, struct dtx_err *err)
{
	int32_t t = g->plan->step[s].table[0];
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_graph_table(g, t, false, in, err));
	if (g->node[t].uses > 1)
		DTX_TRY(own_table(*in, own, err));
	atomic_fetch_add(&g->step[s].stat->rows_in, (*in)->nrows);
out:
	return rc;
}

/* Asks the op for the schema that its rows lead to, within the plan's limit on columns. */
static enum dtx_code whole_schema(struct dtx_graph *g, uint32_t s, struct dtx_table *in,
                                  const struct dtx_schema **out, struct dtx_err *err)
{
	const struct dtx_op *op = g->plan->step[s].op;
	int64_t most = g->plan->limits.cols;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(op->whole_schema(&g->step[s].ox[0], in, &g->arena, out, err));
	if (most > 0 && (*out)->nfields > most)
		DTX_FAIL(err, DTX_E_COL_LIMIT,
		         "%s: the table would have %u columns, the limit is %lld", op->name,
		         (*out)->nfields, (long long)most);
out:
	return rc;
}

enum dtx_code dtx_runop_whole(struct dtx_graph *g, uint32_t s, bool open, struct dtx_table **out,
                              struct dtx_err *err)
{
	const struct dtx_plan_step *st = &g->plan->step[s];
	struct dtx_stepx *sx = &g->step[s];
	const struct dtx_digest *digest = g->flow.bind[s]->digest;
	const struct dtx_schema *schema = NULL;
	struct dtx_table *in = NULL, *own = NULL;
	struct collect c = { .table = NULL };
	int64_t start;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(digest ? digest_table(g, s, digest, &own, err) : whole_table(g, s, &in, &own, err));
	in = own ? own : in;
	dtx_runop_begins(g, s);
	start = dtx_now_ns();
	if (open) {
		DTX_TRY(dtx_runop_set_step(g, s, whole_schema(g, s, in, &schema, err), err));
		DTX_TRY(dtx_flow_set(&g->flow, (int32_t)(g->plan->ninputs + s), schema, err));
		sx->ox[0].out = g->flow.table[g->plan->ninputs + s].schema;
		sx->ox[0].need = NULL;
		DTX_TRY(dtx_graph_start_checks(g, s, err));
	}
	DTX_TRY(collector(g, s, &c, err));
	DTX_TRY(dtx_runop_set_step(g, s, st->op->whole(&sx->ox[0], in, &c.base, err), err));
	atomic_fetch_add(&sx->stat->ns, dtx_now_ns() - start);
	note_memory(&sx->ox[0]);
	dtx_runop_ends(g, s);
	if (!digest) /* with a digest, the stream that fed it has released the input */
		dtx_graph_release(g, st->table[0]);
	*out = c.table;
	c.table = NULL;
out:
	dtx_table_unref(c.table);
	dtx_table_unref(own);
	return rc;
}
