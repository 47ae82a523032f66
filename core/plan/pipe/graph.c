/* Makes the tables of a plan and builds the pipelines that make them.
 *
 * dtx_graph_stream is the centre.  dtx_phys_draw says where the rows of the wanted table come from:
 * through which maps, from which sources (readers, tables, results of sinks), and what must run
 * before.  That runs first: build sides of joins and sinks, each with pipelines of its own.  Then
 * the pipeline has all that it needs, and runs. */
#include "core/plan/pipe/graph.h"

#include "core/base/memory/mem.h"
#include "core/plan/pipe/physical.h"
#include "core/plan/pipe/runop.h"
#include "core/plan/pipe/spread.h"

#define BYTES_PER_WORKER ((size_t)64 << 10)

/* --- life --- */

static enum dtx_code count_uses(struct dtx_graph *g, struct dtx_err *err)
{
	size_t n = (size_t)g->plan->ninputs + g->plan->nsteps;
	uint32_t *uses = dtx_arena_zalloc(&g->arena, n + 1, sizeof(*uses));
	enum dtx_code rc = DTX_OK;

	if (!uses)
		DTX_FAIL_MEM(err);
	dtx_plan_readers(g->plan, uses);
	for (size_t t = 0; t < n; t++)
		g->node[t].uses = uses[t];
out:
	return rc;
}

enum dtx_code dtx_graph_init(struct dtx_graph *g, struct dtx_plan *plan,
                             const struct dtx_exec_opts *opts, const struct dtx_run *run,
                             struct dtx_errlist *warnings, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*g = (struct dtx_graph){ .plan = plan, .opts = opts, .run = *run, .warnings = warnings };
	pthread_mutex_init(&g->warn_lock, NULL);
	g->node = dtx_arena_zalloc(&g->arena, plan->ninputs + plan->nsteps + 1u, sizeof(*g->node));
	g->step = dtx_arena_zalloc(&g->arena, plan->nsteps + 1u, sizeof(*g->step));
	g->by_snippet = dtx_arena_zalloc(&g->arena, plan->ninputs + 1u, sizeof(*g->by_snippet));
	if (!g->node || !g->step || !g->by_snippet)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < plan->nsteps; i++)
		g->step[i].region = -1;
	for (uint32_t i = 0; i < plan->nsteps; i++) {
		g->step[i].stat = dtx_arena_zalloc(&g->arena, 1, sizeof(struct dtx_opstat));
		if (!g->step[i].stat)
			DTX_FAIL_MEM(err);
		pthread_mutex_init(&g->step[i].checks.lock, NULL);
	}
	DTX_TRY(dtx_flow_init(&g->flow, &g->arena, plan, err));
	DTX_TRY(count_uses(g, err));
out:
	return rc;
}

static void drop_shared(const struct dtx_plan_step *st, struct dtx_stepx *sx)
{
	if (sx->has_shared && sx->ox && st->op->sink->free_shared)
		st->op->sink->free_shared(&sx->ox[0], sx->ox[0].shared);
	sx->has_shared = false;
}

static void clear_step(const struct dtx_plan_step *st, struct dtx_stepx *sx)
{
	if (sx->oper.op)
		dtx_operator_close(&sx->oper);
	drop_shared(st, sx);
	dtx_checks_clear(&sx->checks);
	if (sx->stat)
		pthread_mutex_destroy(&sx->checks.lock);
}

void dtx_graph_clear(struct dtx_graph *g)
{
	if (!g->plan)
		return;
	for (uint32_t i = 0; g->step && i < g->plan->nsteps; i++)
		clear_step(&g->plan->step[i], &g->step[i]);
	for (uint32_t i = 0; g->node && i < g->plan->ninputs + g->plan->nsteps; i++)
		dtx_table_unref(g->node[i].table);
	dtx_flow_clear(&g->flow);
	pthread_mutex_destroy(&g->warn_lock);
	dtx_arena_clear(&g->arena);
	g->plan = NULL;
}

bool dtx_graph_knows(const struct dtx_graph *g, int32_t t)
{
	if (t < 0)
		return false;
	if ((uint32_t)t < g->plan->ninputs)
		return g->flow.table[t].schema != NULL;
	return g->step[(uint32_t)t - g->plan->ninputs].resolved;
}

void dtx_graph_release(struct dtx_graph *g, int32_t t)
{
	struct dtx_node *n = &g->node[t];

	if (n->uses && --n->uses == 0) {
		dtx_table_unref(n->table);
		n->table = NULL;
	}
}

unsigned dtx_graph_workers(const struct dtx_graph *g, int32_t t)
{
	size_t most = SIZE_MAX;

	/* tests that name a batch size want their threads, however small the file */
	if (t >= 0 && (uint32_t)t < g->plan->ninputs && !g->opts->batch_rows && g->opts->input &&
	    g->opts->input[t] && !dtx_source_passes(g->opts->input[t]))
		most = dtx_source_size(g->opts->input[t]) / BYTES_PER_WORKER + 1;
	return most < g->run.workers ? (unsigned)most : g->run.workers;
}

/* --- contexts of steps --- */

enum dtx_code dtx_graph_start_checks(struct dtx_graph *g, uint32_t s, struct dtx_err *err)
{
	struct dtx_stepx *sx = &g->step[s];
	const struct dtx_plan_step *st = &g->plan->step[s];

	if (dtx_checks_is_on(&sx->checks))
		return DTX_OK;
	return dtx_graph_promise(g, (int32_t)(g->plan->ninputs + s), (int)s, st->expect, &st->rules,
	                         &sx->checks, err);
}

/* For each input table of the step, the column of it that each output column is a copy of. */
static enum dtx_code moved_columns(struct dtx_graph *g, uint32_t s, const int32_t *const **out,
                                   struct dtx_err *err)
{
	const struct dtx_bind *b = g->flow.bind[s];
	const int32_t **from = dtx_arena_alloc(&g->arena, b->ntables, sizeof(*from));
	enum dtx_code rc = DTX_OK;

	if (!from)
		DTX_FAIL_MEM(err);
	for (unsigned k = 0; k < b->ntables; k++) {
		int32_t *col = dtx_arena_alloc(&g->arena, b->ncols + 1u, sizeof(*col));

		if (!col)
			DTX_FAIL_MEM(err);
		for (uint32_t c = 0; c < b->ncols; c++)
			col[c] = b->col[c].from_table == (int32_t)k ? b->col[c].from_col : -1;
		from[k] = col;
	}
	*out = from;
out:
	return rc;
}

enum dtx_code dtx_graph_prepare(struct dtx_graph *g, uint32_t s, struct dtx_err *err)
{
	const struct dtx_plan_step *st = &g->plan->step[s];
	struct dtx_stepx *sx = &g->step[s];
	const struct dtx_bind *b = g->flow.bind[s];
	const struct dtx_schema **in;
	int32_t result = (int32_t)(g->plan->ninputs + s);
	enum dtx_code rc = DTX_OK;

	if (sx->ox)
		goto out;
	in = dtx_arena_alloc(&g->arena, st->ntables, sizeof(*in));
	sx->ox = dtx_arena_zalloc(&g->arena, st->ntables, sizeof(*sx->ox));
	if (!in || !sx->ox)
		DTX_FAIL_MEM(err);
	for (unsigned k = 0; k < st->ntables; k++)
		in[k] = g->flow.table[st->table[k]].schema;
	for (unsigned k = 0; k < st->ntables; k++)
		sx->ox[k] = (struct dtx_opctx){
			.args = b->args,
			.bound = b->state,
			.ninputs = st->ntables,
			.in = in,
			.out = g->flow.table[result].schema,
			.need = g->push.need[result],
			.input = k,
			.run = &g->run,
			.stat = sx->stat,
			.step = (int)s,
			.warnings = g->warnings,
			.warn_lock = &g->warn_lock,
			.checks = g->checks,
			.cells = st->cells,
		};
	DTX_TRY(dtx_graph_start_checks(g, s, err));
	sx->oper = (struct dtx_operator){
		.op = st->op,
		.ox = sx->ox,
		.checks = &sx->checks,
		.ordered = b->ordered || (st->op->flags & DTX_OP_ORDERED) != 0,
		.sees_all = b->sees_all || (st->op->flags & DTX_OP_SEES_ALL) != 0
	};
	DTX_TRY(moved_columns(g, s, &sx->oper.from, err));
out:
	return rc;
}

enum dtx_code dtx_graph_open_step(struct dtx_graph *g, uint32_t s, struct dtx_err *err)
{
	struct dtx_node *n = &g->node[g->plan->ninputs + s];
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_graph_prepare(g, s, err));
	DTX_TRY(dtx_runop_whole(g, s, true, &n->table, err));
	g->step[s].done = g->step[s].resolved = true;
out:
	return rc;
}

/* --- growth --- */

/* The limit `growth` on rows out per row in is meant for joins that go wrong at scale: a small
 * input may grow by any factor up to this many rows. */
#define GROWTH_BASE 1000000

static enum dtx_code check_growth(const struct dtx_graph *g, uint32_t s, struct dtx_err *err)
{
	struct dtx_opstat *st = g->step[s].stat;
	int64_t in = atomic_load(&st->rows_in), rows = atomic_load(&st->rows_out);
	dtx_i128 most = (dtx_i128)g->run.growth * in + GROWTH_BASE;
	enum dtx_code rc = DTX_OK;

	if (g->run.growth >= 0 && rows > most)
		DTX_FAIL(
			err, DTX_E_ROW_GROWTH,
			"%s: %lld rows in make %lld rows, more than the limit growth (%lld) allows",
			dtx_plan_step_name(&g->plan->step[s]), (long long)in, (long long)rows,
			(long long)g->run.growth);
out:
	return dtx_runop_set_step(g, s, rc, err);
}

/* --- sources --- */

/* How many references there are to the bytes of a source, which may be NULL. */
static int holders(const struct dtx_source *src)
{
	return src ? dtx_owner_refs(dtx_source_owner(src)) : 0;
}

static void note_read(struct dtx_graph *g, int32_t t)
{
	if ((uint32_t)t < g->plan->ninputs)
		g->was_read[t] = true;
}

static enum dtx_code reader_source(struct dtx_graph *g, struct dtx_pipe_source *source, int32_t t,
                                   struct dtx_err *err)
{
	struct dtx_scan *scan = dtx_arena_zalloc(&g->arena, 1, sizeof(*scan));
	enum dtx_code rc = DTX_OK;

	if (!scan)
		DTX_FAIL_MEM(err);
	*scan = (struct dtx_scan){ .schema = g->flow.table[t].schema,
		                   .need = g->push.need[t],
		                   .limit = -1,
		                   .workers = g->run.workers,
		                   .batch_rows = g->opts->batch_rows };
	if (g->part)
		scan->slice = g->part->slice;
	source->reader = g->node[t].reader ? g->node[t].reader : g->reader[t];
	source->holders = holders(source->reader->src);
	source->scan = scan;
	note_read(g, t);
out:
	return rc;
}

/* Opens a map of a pipeline, after its build sides have been read. */
static enum dtx_code open_map(struct dtx_graph *g, uint32_t s, struct dtx_err *err)
{
	const struct dtx_plan_step *st = &g->plan->step[s];
	struct dtx_operator *oper = &g->step[s].oper;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_graph_prepare(g, s, err));
	for (unsigned k = 1; st->op->flags & DTX_OP_BUILD && k < st->ntables; k++)
		DTX_TRY(dtx_runop_sink(g, s, k, NULL, err));
	DTX_TRY(dtx_runop_set_step(g, s, dtx_operator_open(oper, g->run.workers, err), err));
	g->step[s].done = true;
out:
	return rc;
}

/* Fills a sink whose result is made in parts by the workers that read it. first_rows: how many of
 * its rows are needed; 0: all. */
static enum dtx_code fill_sink(struct dtx_graph *g, uint32_t s, uint64_t first_rows,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_graph_prepare(g, s, err));
	g->step[s].ox[0].first_rows = g->part ? g->part->first_rows : first_rows;
	DTX_TRY(dtx_runop_sink(g, s, 0, NULL, err));
	g->step[s].done = true;
out:
	return rc;
}

enum dtx_code dtx_graph_before(struct dtx_graph *g, const struct dtx_phys_pipe *drawn,
                               struct dtx_err *err)
{
	struct dtx_table *table;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < drawn->nbefore; i++) {
		const struct dtx_phys_before *b = &drawn->before[i];

		if (b->way == DTX_PHYS_STREAMED && g->step[b->step].done)
			continue; /* for fragments (core/cluster), which then could not run */
		if (b->way == DTX_PHYS_STREAMED)
			DTX_TRY(open_map(g, b->step, err));
		else if (b->way == DTX_PHYS_PARTS)
			DTX_TRY(fill_sink(g, b->step, drawn->source[b->source].first_rows, err));
		else
			DTX_TRY(dtx_graph_table(g, (int32_t)(g->plan->ninputs + b->step), false,
			                        &table, err));
	}
out:
	return rc;
}

static void made_source(struct dtx_graph *g, struct dtx_pipe_source *source, uint32_t s)
{
	struct dtx_stepx *sx = &g->step[s];
	const struct dtx_op *op = g->plan->step[s].op;

	source->made = (struct dtx_made){ .op = op, .ox = &sx->ox[0], .checks = &sx->checks };
	source->made.nparts = op->sink->parts(&sx->ox[0], &source->made.origin);
}

static enum dtx_code add_source(struct dtx_graph *g, struct dtx_pipe *p,
                                const struct dtx_phys_source *drawn,
                                const struct dtx_spread_rows *made, struct dtx_err *err)
{
	struct dtx_table *table = g->node[drawn->table].table;
	bool input = (uint32_t)drawn->table < g->plan->ninputs;
	struct dtx_pipe_source *source = dtx_pipe_add_source(p);
	enum dtx_code rc = DTX_OK;

	if (!source)
		DTX_FAIL_MEM(err);
	source->table = table;
	source->table_id = drawn->table;
	source->schema = table || input || g->node[drawn->table].reader
	                         ? g->flow.table[drawn->table].schema
	                         : NULL;
	source->reader = made->reader;
	if (made->reader)
		note_read(g, drawn->table);
	else if (!table && (input || g->node[drawn->table].reader))
		DTX_TRY(reader_source(g, source, drawn->table, err));
	else if (!table)
		made_source(g, source, (uint32_t)drawn->table - g->plan->ninputs);
	for (uint32_t i = made->nsteps; i < drawn->nsteps; i++)
		if (!dtx_pipe_source_add_stage(source, &g->step[drawn->step[i]].oper,
		                               drawn->input[i]))
			DTX_FAIL_MEM(err);
	if (source->reader && !made->reader && input)
		DTX_TRY(dtx_graph_push(g, source, drawn, err));
out:
	return rc;
}

/* All parts of a sink's result have been read: its memory can go. */
static enum dtx_code finish_made(struct dtx_graph *g, uint32_t s, struct dtx_err *err)
{
	drop_shared(&g->plan->step[s], &g->step[s]);
	return check_growth(g, s, err);
}

/* Marks the steps of a source up to the limit that was full, and the filter inside its reader. */
static void mark_stopped(struct dtx_graph *g, const struct dtx_pipe_source *source)
{
	const struct dtx_operator *kept =
		source->scan && source->scan->keep ? source->scan->keep_arg : NULL;

	if (kept)
		g->step[kept->ox->step].stopped = true;
	for (unsigned k = 0; k < source->cut; k++)
		g->step[source->stage[k].oper->ox->step].stopped = true;
}

/* After the last reader of an input: where no column of its rows points into the file's bytes any
 * more, their pages go back to the system while the rest of the plan runs. */
static void release_pages(const struct dtx_graph *g, const struct dtx_pipe_source *source)
{
	struct dtx_source *src = source->reader ? source->reader->src : NULL;

	if (src && !g->node[source->table_id].uses && holders(src) <= source->holders)
		dtx_source_let_go(src);
}

static enum dtx_phys_way way(const void *arg, uint32_t s)
{
	const struct dtx_graph *g = arg;
	const struct dtx_node *n = &g->node[g->plan->ninputs + s];

	if (n->table || n->reader)
		return DTX_PHYS_THERE;
	return g->step[s].region >= 0 ? DTX_PHYS_MADE
	                              : dtx_phys_way_of(g->plan, &g->flow, s, n->uses);
}

/* Has other processes make the result of a step, if they can, and it was not offered before. */
static enum dtx_code offer(struct dtx_graph *g, uint32_t s, struct dtx_err *err)
{
	struct dtx_node *n = &g->node[g->plan->ninputs + s];
	enum dtx_code rc = DTX_OK;

	if (!g->spread || g->step[s].offered || n->table || !g->plan->step[s].op ||
	    !g->plan->step[s].op->keys || g->step[s].region >= 0 || !g->step[s].resolved)
		return DTX_OK;
	g->step[s].offered = true;
	DTX_TRY(dtx_graph_prepare(g, s, err));
	DTX_TRY(g->spread->by_keys(g->spread->arg, g, s, &n->reader, err));
	if (!n->reader)
		goto out;
	g->step[s].done = true;
	DTX_TRY(check_growth(g, s, err));
out:
	return rc;
}

/* Whether a limit after a map may end the pipeline before all of its rows are made. */
static bool is_limited(const struct dtx_graph *g, const struct dtx_phys_pipe *pipe, uint32_t map)
{
	for (uint32_t i = 0; i < pipe->nsources; i++) {
		const struct dtx_phys_source *s = &pipe->source[i];
		bool after = false;

		for (uint32_t k = 0; k < s->nsteps; k++) {
			const struct dtx_plan_step *st = &g->plan->step[s->step[k]];

			if (after && st->op->wants && st->op->wants(st->args) >= 0)
				return true;
			after = after || s->step[k] == map;
		}
	}
	return false;
}

enum dtx_code dtx_graph_draw(struct dtx_graph *g, int32_t t, struct dtx_phys_pipe *out,
                             struct dtx_err *err)
{
	const struct dtx_phys_view view = {
		.plan = g->plan, .flow = &g->flow, .arena = &g->arena, .way = way, .arg = g
	};
	bool changed = true;
	enum dtx_code rc = DTX_OK;

	while (changed) {
		*out = (struct dtx_phys_pipe){ .nsources = 0 };
		DTX_TRY(dtx_phys_draw(&view, t, out, err));
		changed = false;
		for (uint32_t i = 0; i < out->nbefore && !changed; i++) {
			if (out->before[i].way == DTX_PHYS_STREAMED &&
			    is_limited(g, out, out->before[i].step))
				continue;
			DTX_TRY(offer(g, out->before[i].step, err));
			changed = g->node[g->plan->ninputs + out->before[i].step].reader != NULL;
		}
	}
out:
	return rc;
}

/* --- a part of the rows --- */

static bool is_part(const struct dtx_graph_part *part, const struct dtx_phys_source *s)
{
	return s->table == part->table && s->nsteps == part->nsteps &&
	       !memcmp(s->step, part->step, s->nsteps * sizeof(*s->step)) &&
	       !memcmp(s->input, part->input, s->nsteps * sizeof(*s->input));
}

/* If the pipeline reads the source of the part: leaves only this source, and the maps that its rows
 * go through. Returns whether it does. */
static bool keep_part(const struct dtx_graph *g, struct dtx_phys_pipe *drawn)
{
	uint32_t n = 0, nbefore = 0;

	for (uint32_t i = 0; g->part && i < drawn->nsources && !n; i++)
		if (is_part(g->part, &drawn->source[i]))
			drawn->source[n++] = drawn->source[i];
	if (!n)
		return false;
	for (uint32_t i = 0; i < drawn->nbefore; i++)
		for (uint32_t k = 0; k < g->part->nsteps; k++)
			if (drawn->before[i].step == g->part->step[k])
				drawn->before[nbefore++] = drawn->before[i];
	drawn->nsources = n;
	drawn->nbefore = nbefore;
	return true;
}

/* The driver has counted the rows of other tables, and calls flush. */
static void start_part(struct dtx_graph *g, struct dtx_pipe *p)
{
	p->base = g->part->base + g->part->slice->first;
	for (uint32_t k = 0; k < g->part->nsteps; k++) {
		struct dtx_stepx *sx = &g->step[g->part->step[k]];

		memset(sx->stat, 0, sizeof(*sx->stat));
		sx->oper.saved = sx->oper.op->map->save != NULL;
	}
}

enum dtx_code dtx_graph_stream(struct dtx_graph *g, int32_t t, const struct dtx_pipe_end *end,
                               struct dtx_err *err)
{
	struct dtx_phys_pipe drawn = { .nsources = 0 };
	struct dtx_spread_rows *made = NULL;
	struct dtx_pipe p;
	bool part;
	enum dtx_code rc = DTX_OK;

	dtx_pipe_init(&p, &g->run, g->run.workers);
	p.arena = &g->arena;
	p.end = *end;
	DTX_TRY(dtx_graph_draw(g, t, &drawn, err));
	part = keep_part(g, &drawn);
	DTX_TRY(dtx_graph_before(g, &drawn, err));
	if (part)
		start_part(g, &p);
	made = dtx_arena_zalloc(&g->arena, drawn.nsources + 1u, sizeof(*made));
	if (!made)
		DTX_FAIL_MEM(err);
	if (g->spread)
		DTX_TRY(g->spread->rows(g->spread->arg, g, &drawn, made, err));
	for (uint32_t i = 0; i < drawn.nsources; i++)
		DTX_TRY(add_source(g, &p, &drawn.source[i], &made[i], err));
	if (p.nsources == 1 && p.source[0].reader)
		p.workers = dtx_graph_workers(g, p.source[0].table_id);
	(void)dtx_mem_lap();
	if (end->step)
		dtx_runop_begins(g, end->step - 1);
	DTX_TRY(dtx_pipe_run(&p, err));
	for (uint32_t i = 0; i < p.nsources; i++) {
		dtx_graph_release(g, p.source[i].table_id);
		release_pages(g, &p.source[i]);
		if (p.source[i].stopped)
			mark_stopped(g, &p.source[i]);
		if (p.source[i].made.op)
			DTX_TRY(finish_made(g, (uint32_t)p.source[i].made.ox->step, err));
		for (uint32_t k = 0; k < made[i].nsteps; k++)
			DTX_TRY(check_growth(g, drawn.source[i].step[k], err));
		for (unsigned k = 0; k < p.source[i].nstages; k++)
			DTX_TRY(check_growth(g, (uint32_t)p.source[i].stage[k].oper->ox->step,
			                     err));
	}
out:
	dtx_pipe_clear(&p);
	return rc;
}

enum dtx_code dtx_graph_spread_done(struct dtx_graph *g, const struct dtx_phys_pipe *drawn,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < drawn->nsources; i++) {
		dtx_graph_release(g, drawn->source[i].table);
		note_read(g, drawn->source[i].table);
		for (uint32_t k = 0; k < drawn->source[i].nsteps; k++)
			DTX_TRY(check_growth(g, drawn->source[i].step[k], err));
	}
out:
	return rc;
}

enum dtx_code dtx_graph_states(struct dtx_graph *g, const struct dtx_sink *sink,
                               const struct dtx_opctx *ox, void *local, bool *done,
                               struct dtx_err *err)
{
	struct dtx_phys_pipe drawn = { .nsources = 0 };
	enum dtx_code rc = DTX_OK;

	*done = false;
	if (!g->spread || !sink->load)
		goto out;
	DTX_TRY(dtx_graph_draw(g, g->plan->step[ox->step].table[0], &drawn, err));
	DTX_TRY(g->spread->states(g->spread->arg, g, &drawn, sink, ox, local, done, err));
	if (*done)
		DTX_TRY(dtx_graph_spread_done(g, &drawn, err));
out:
	return rc;
}

enum dtx_code dtx_graph_texts(struct dtx_graph *g, int32_t t, const struct dtx_spread_text *to,
                              bool *done, struct dtx_err *err)
{
	struct dtx_phys_pipe drawn = { .nsources = 0 };
	enum dtx_code rc = DTX_OK;

	*done = false;
	if (!g->spread)
		goto out;
	DTX_TRY(dtx_graph_draw(g, t, &drawn, err));
	DTX_TRY(g->spread->texts(g->spread->arg, g, &drawn, to, done, err));
	if (*done)
		DTX_TRY(dtx_graph_spread_done(g, &drawn, err));
out:
	return rc;
}

/* --- tables --- */

struct table_end {
	struct dtx_table *table;
	struct dtx_spill *spill;
	struct dtx_spill_count *spilled; /* counts for the step that makes the table */
	const uint8_t *need;             /* per column; NULL: not known */
	bool typed;
};

/* Whether the values of a column are made here, where all workers do it, and not by the step that
 * reads the table, which may be a single thread. Cells of a declared type are left alone: an error
 * in one belongs to the step that needs the value. */
static bool wants_value(const struct table_end *e, const struct dtx_batch *b, uint32_t i)
{
	return b->col[i] && (e->typed || (e->need && e->need[i] == DTX_NEED_VALUE &&
	                                  b->schema->field[i].guessed));
}

static enum dtx_code table_prepare(void *arg, unsigned worker, struct dtx_batch *b,
                                   struct dtx_reorder_item *item, struct dtx_err *err)
{
	struct table_end *e = arg;
	struct dtx_column *c;
	enum dtx_code rc = DTX_OK;

	(void)worker;
	(void)item;
	DTX_TRY(dtx_batch_dense(b, err));
	for (uint32_t i = 0; i < b->ncols; i++)
		if (wants_value(e, b, i))
			DTX_TRY(dtx_batch_value(b, i, &c, err));
	if (dtx_spill_tables(e->spill))
		DTX_TRY(dtx_spill_batch(e->spill, b, e->spilled, err));
out:
	return rc;
}

static enum dtx_code table_put(void *arg, struct dtx_batch *b, struct dtx_reorder_item *item,
                               struct dtx_err *err)
{
	struct table_end *e = arg;
	struct dtx_batch *copy = NULL;
	enum dtx_code rc = DTX_OK;

	(void)item;
	DTX_TRY(dtx_batch_copy(b, &copy, err));
	DTX_TRY(dtx_table_take(e->table, copy, err));
out:
	return rc;
}

static enum dtx_code stream_to_table(struct dtx_graph *g, int32_t t, bool typed,
                                     struct dtx_table **out, struct dtx_err *err)
{
	struct table_end e = { .typed = typed, .spill = g->run.spill, .need = g->push.need[t] };
	bool input = (uint32_t)t < g->plan->ninputs;
	struct dtx_pipe_end end = { .arg = &e,
		                    .step = input ? 0 : (uint32_t)t - g->plan->ninputs + 1,
		                    .prepare = table_prepare,
		                    .put = table_put };
	enum dtx_code rc = DTX_OK;

	if ((uint32_t)t >= g->plan->ninputs)
		e.spilled = &g->step[(uint32_t)t - g->plan->ninputs].stat->spilled;
	DTX_TRY(dtx_table_new(g->flow.table[t].schema, &e.table, err));
	DTX_TRY(dtx_graph_stream(g, t, &end, err));
	if (end.step)
		dtx_runop_ends(g, end.step - 1);
	*out = e.table;
	e.table = NULL;
out:
	dtx_table_unref(e.table);
	return rc;
}

static enum dtx_code confirm(struct dtx_table *t, struct dtx_err *err)
{
	struct dtx_column *c;
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < t->nbatches; i++)
		for (uint32_t k = 0; k < t->batch[i]->ncols; k++)
			if (t->batch[i]->col[k])
				DTX_TRY(dtx_batch_value(t->batch[i], k, &c, err));
out:
	return rc;
}

enum dtx_code dtx_graph_table(struct dtx_graph *g, int32_t t, bool typed, struct dtx_table **out,
                              struct dtx_err *err)
{
	struct dtx_node *n = &g->node[t];
	uint32_t s = (uint32_t)t - g->plan->ninputs;
	bool made = n->table == NULL;
	enum dtx_code rc = DTX_OK;

	if (!made)
		goto out;
	if ((uint32_t)t >= g->plan->ninputs)
		DTX_TRY(offer(g, s, err));
	if ((uint32_t)t < g->plan->ninputs || n->reader) {
		n->uses++; /* reading it counts as a use, so that the table stays for its readers */
		DTX_TRY(stream_to_table(g, t, typed, &n->table, err));
		goto out;
	}
	DTX_TRY(dtx_graph_prepare(g, s, err));
	if (g->flow.bind[s]->kind == DTX_KIND_WHOLE) {
		DTX_TRY(dtx_runop_whole(g, s, false, &n->table, err));
	} else if (dtx_phys_way_of(g->plan, &g->flow, s, 1) == DTX_PHYS_MADE) {
		DTX_TRY(dtx_runop_sink(g, s, 0, &n->table, err));
	} else {
		/* only a table with one reader is not made in full before; here a pipeline makes it
		 * for all its readers */
		uint32_t uses = n->uses;

		n->uses = 1;
		rc = stream_to_table(g, t, typed, &n->table, err);
		n->uses = uses;
		DTX_TRY(rc);
	}
	g->step[s].done = true;
	DTX_TRY(check_growth(g, s, err));
out:
	if (rc == DTX_OK && typed)
		rc = confirm(n->table, err);
	*out = n->table;
	return rc;
}
