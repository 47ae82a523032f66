/* Works out pipelines, see physical.h. */
#include "core/plan/pipe/physical.h"

const char *const dtx_phys_end_name[] = {
	[DTX_PHYS_OUTPUT] = "output",   [DTX_PHYS_SINK] = "sink",
	[DTX_PHYS_WHOLE] = "whole",     [DTX_PHYS_TABLE] = "table",
	[DTX_PHYS_SNIPPET] = "snippet", [DTX_PHYS_NOWHERE] = "nowhere",
};

/* --- what a reader does for the steps that follow it --- */

static bool has_promises(const struct dtx_plan_step *st)
{
	return !dtx_expect_empty(st->expect) || st->rules.n;
}

/* Whether binding left a cast in the step, or a declared column whose values it makes first. */
static bool may_fail(const struct dtx_bind *b)
{
	for (size_t i = 0; i < b->nuses; i++)
		if (b->use[i].demand == DTX_NEED_VALUE &&
		    b->in[b->use[i].table]->field[b->use[i].col].declared)
			return true;
	return b->casts;
}

/* Whether a failure of the first step may be on a row that a later limit drops. Such a step cannot
 * run inside the reader, which does not know when the limit is full. */
static bool fails_before_limit(const struct dtx_plan *plan, const struct dtx_bind *b,
                               const uint32_t *step, uint32_t n)
{
	for (uint32_t i = 1; may_fail(b) && i < n; i++) {
		const struct dtx_plan_step *st = &plan->step[step[i]];

		if (st->op->wants && st->op->wants(st->args) >= 0)
			return true;
	}
	return false;
}

/* Whether the first of the n steps that follow a reader may run inside it: the reader then makes
 * values for the columns that the filter reads, and all other columns for the rows that are kept.
 * That needs a map without state, order or checks, and one whose failures no later limit can
 * undo. */
static bool narrows(const struct dtx_plan *plan, const struct dtx_flow *flow, const uint32_t *step,
                    uint32_t n)
{
	const struct dtx_plan_step *st = n ? &plan->step[step[0]] : NULL;
	const struct dtx_op *op = st ? st->op : NULL;
	const struct dtx_bind *b = op ? flow->bind[step[0]] : NULL;

	return b && op->flags & DTX_OP_NARROWS && !(op->flags & DTX_OP_ORDERED) && !b->ordered &&
	       !op->map->init_local && !op->map->flush && !has_promises(st) &&
	       !fails_before_limit(plan, b, step, n);
}

/* The number of rows after which the n maps that follow a source need no more; -1: they need all.
 * *at is the index of the step that decides. */
static int64_t limit_of(const struct dtx_plan *plan, const uint32_t *step, uint32_t n, uint32_t *at)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct dtx_plan_step *st = &plan->step[step[i]];
		int64_t rows = st->op->wants ? st->op->wants(st->args) : -1;

		*at = i;
		if (rows >= 0)
			return rows;
		if (!(st->op->flags & DTX_OP_SAME_ROWS) || has_promises(st))
			return -1;
	}
	return -1;
}

/* --- one pipeline --- */

/* The maps that rows of the table in hand will go through, nearest first. The list lives on the
 * stack of the walk. */
struct following {
	uint32_t step, input;
	const struct following *next;
};

static enum dtx_op_kind kind_of(const struct dtx_plan *plan, const struct dtx_flow *flow,
                                uint32_t s)
{
	const struct dtx_op *op = plan->step[s].op;

	if (flow->bind[s])
		return flow->bind[s]->kind;
	if (op && op->map)
		return DTX_KIND_MAP;
	return op && op->sink ? DTX_KIND_SINK : DTX_KIND_WHOLE;
}

enum dtx_phys_way dtx_phys_way_of(const struct dtx_plan *plan, const struct dtx_flow *flow,
                                  uint32_t step, uint32_t readers)
{
	enum dtx_op_kind kind = kind_of(plan, flow, step);

	if (readers > 1)
		return DTX_PHYS_MADE;
	if (kind == DTX_KIND_MAP)
		return DTX_PHYS_STREAMED;
	return kind == DTX_KIND_SINK && plan->step[step].op->sink->make ? DTX_PHYS_PARTS
	                                                                : DTX_PHYS_MADE;
}

/* What the source does on behalf of its maps: a reader filters and stops early, and a sink whose
 * result a limit follows keeps the first rows alone. */
static void push_down(const struct dtx_phys_view *v, enum dtx_phys_way way,
                      struct dtx_phys_source *source)
{
	const struct dtx_plan *plan = v->plan;
	uint32_t s = (uint32_t)source->table - plan->ninputs, at = 0;
	int64_t rows;

	if (!source->nsteps)
		return;
	if ((uint32_t)source->table < plan->ninputs) {
		source->narrowed = narrows(plan, v->flow, source->step, source->nsteps);
		source->limit = limit_of(plan, source->step + source->narrowed,
		                         source->nsteps - source->narrowed, &at);
		if (source->limit >= 0)
			source->limit_step = (int32_t)source->step[source->narrowed + at];
	} else if (way == DTX_PHYS_PARTS && plan->step[s].op->flags & DTX_OP_FIRST_ROWS &&
	           !has_promises(&plan->step[s])) {
		rows = limit_of(plan, source->step, source->nsteps, &at);
		source->first_rows = rows < 0 ? 0 : DTX_MAX((uint64_t)rows, 1);
	}
}

static enum dtx_code add_source(const struct dtx_phys_view *v, int32_t t, enum dtx_phys_way way,
                                const struct following *following, struct dtx_phys_pipe *out,
                                struct dtx_err *err)
{
	struct dtx_phys_source *source;
	uint32_t n = 0;
	enum dtx_code rc = DTX_OK;

	if (!dtx_arena_reserve(v->arena, &out->source, &out->cap_sources, out->nsources + 1u,
	                       sizeof(*out->source)))
		DTX_FAIL_MEM(err);
	for (const struct following *f = following; f; f = f->next)
		n++;
	source = &out->source[out->nsources++];
	*source = (struct dtx_phys_source){ .table = t, .limit = -1, .limit_step = -1 };
	source->step = dtx_arena_alloc(v->arena, n + 1u, sizeof(*source->step));
	source->input = dtx_arena_alloc(v->arena, n + 1u, sizeof(*source->input));
	if (!source->step || !source->input)
		DTX_FAIL_MEM(err);
	for (; following; following = following->next) {
		source->step[source->nsteps] = following->step;
		source->input[source->nsteps++] = following->input;
	}
	push_down(v, way, source);
out:
	return rc;
}

static enum dtx_code add_before(const struct dtx_phys_view *v, uint32_t s, enum dtx_phys_way way,
                                struct dtx_phys_pipe *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_arena_reserve(v->arena, &out->before, &out->cap_before, out->nbefore + 1u,
	                       sizeof(*out->before)))
		DTX_FAIL_MEM(err);
	out->before[out->nbefore++] =
		(struct dtx_phys_before){ .step = s, .way = way, .source = out->nsources };
out:
	return rc;
}

/* Goes back from table t to the sources of its rows. */
static enum dtx_code walk(const struct dtx_phys_view *v, int32_t t,
                          const struct following *following, struct dtx_phys_pipe *out,
                          struct dtx_err *err)
{
	uint32_t s = (uint32_t)t - v->plan->ninputs;
	bool input = (uint32_t)t < v->plan->ninputs;
	enum dtx_phys_way way = input ? DTX_PHYS_THERE : v->way(v->arg, s);
	const struct dtx_plan_step *st = input ? NULL : &v->plan->step[s];
	enum dtx_code rc = DTX_OK;

	if (way != DTX_PHYS_THERE)
		DTX_TRY(add_before(v, s, way, out, err));
	if (way != DTX_PHYS_STREAMED)
		return add_source(v, t, way, following, out, err);
	for (uint32_t k = 0; k < (st->op->flags & DTX_OP_CONCAT ? st->ntables : 1); k++) {
		const struct following mine = { s, k, following };

		if (st->table[k] >= 0)
			DTX_TRY(walk(v, st->table[k], &mine, out, err));
	}
out:
	return rc;
}

enum dtx_code dtx_phys_draw(const struct dtx_phys_view *v, int32_t t, struct dtx_phys_pipe *out,
                            struct dtx_err *err)
{
	return walk(v, t, NULL, out, err);
}

/* --- all pipelines of a plan --- */

struct maker {
	struct dtx_phys_view view;
	const int32_t *region;
	struct dtx_phys *out;
	size_t cap;
	uint32_t *uses; /* readers of each table */
	bool *made;     /* steps that are part of a pipeline already */
};

static enum dtx_code make_step(struct maker *m, uint32_t s, struct dtx_err *err);

static bool is_snippet(const struct maker *m, uint32_t s)
{
	const struct dtx_plan_step *st = &m->view.plan->step[s];

	return m->region[s] >= 0 || !st->op || st->broken;
}

static enum dtx_phys_way way(const void *arg, uint32_t s)
{
	const struct maker *m = arg;
	const struct dtx_plan *plan = m->view.plan;

	if (m->made[s])
		return DTX_PHYS_THERE;
	return is_snippet(m, s)
	               ? DTX_PHYS_MADE
	               : dtx_phys_way_of(plan, m->view.flow, s, m->uses[plan->ninputs + s]);
}

static enum dtx_code pipe_to(struct maker *m, int32_t t, enum dtx_phys_end end, int32_t of,
                             struct dtx_err *err);

/* Adds the pipelines that must run before this one. */
static enum dtx_code make_before(struct maker *m, const struct dtx_phys_pipe *pipe,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < pipe->nbefore; i++) {
		uint32_t s = pipe->before[i].step;
		const struct dtx_plan_step *st = &m->view.plan->step[s];

		if (pipe->before[i].way != DTX_PHYS_STREAMED) {
			DTX_TRY(make_step(m, s, err));
			continue;
		}
		m->made[s] = true;
		for (uint32_t k = 1; st->op->flags & DTX_OP_BUILD && k < st->ntables; k++)
			if (st->table[k] >= 0)
				DTX_TRY(pipe_to(m, st->table[k], DTX_PHYS_SINK, (int32_t)s, err));
	}
out:
	return rc;
}

/* Adds a pipeline that has been drawn, after those that must run before it. */
static enum dtx_code finish(struct maker *m, struct dtx_phys_pipe *pipe, enum dtx_phys_end end,
                            int32_t of, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(make_before(m, pipe, err));
	if (!dtx_arena_reserve(m->view.arena, &m->out->pipe, &m->cap, m->out->npipes + 1u,
	                       sizeof(*m->out->pipe)))
		DTX_FAIL_MEM(err);
	pipe->end = end;
	pipe->of = of;
	m->out->pipe[m->out->npipes++] = *pipe;
out:
	return rc;
}

static enum dtx_code pipe_to(struct maker *m, int32_t t, enum dtx_phys_end end, int32_t of,
                             struct dtx_err *err)
{
	struct dtx_phys_pipe pipe = { .nsources = 0 };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_phys_draw(&m->view, t, &pipe, err));
	DTX_TRY(finish(m, &pipe, end, of, err));
out:
	return rc;
}

/* Makes the pipeline that collects all tables that a region reads from outside. */
static enum dtx_code make_region(struct maker *m, uint32_t s, struct dtx_err *err)
{
	const struct dtx_plan *p = m->view.plan;
	struct dtx_phys_pipe pipe = { .nsources = 0 };
	int32_t r = m->region[s];
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < p->nsteps; i++)
		if (i == s || (r >= 0 && m->region[i] == r))
			m->made[i] = true;
	for (uint32_t i = 0; i < p->nsteps; i++) {
		if (i != s && (r < 0 || m->region[i] != r))
			continue;
		for (uint32_t k = 0; k < p->step[i].ntables; k++) {
			int32_t t = p->step[i].table[k];
			bool inside = t >= (int32_t)p->ninputs && r >= 0 &&
			              m->region[(uint32_t)t - p->ninputs] == r;

			if (t >= 0 && !inside)
				DTX_TRY(dtx_phys_draw(&m->view, t, &pipe, err));
		}
	}
	DTX_TRY(finish(m, &pipe, DTX_PHYS_SNIPPET, (int32_t)s, err));
out:
	return rc;
}

/* Makes the pipelines whose end is the result of a step. */
static enum dtx_code make_step(struct maker *m, uint32_t s, struct dtx_err *err)
{
	const struct dtx_plan_step *st = &m->view.plan->step[s];
	uint32_t *uses = &m->uses[m->view.plan->ninputs + s], readers = *uses;
	enum dtx_op_kind kind = kind_of(m->view.plan, m->view.flow, s);
	enum dtx_code rc = DTX_OK;

	if (m->made[s])
		goto out;
	if (is_snippet(m, s))
		return make_region(m, s, err);
	if (kind == DTX_KIND_MAP) {
		*uses = 1; /* one pipeline makes the table for all its readers */
		rc = pipe_to(m, (int32_t)(m->view.plan->ninputs + s), DTX_PHYS_TABLE, (int32_t)s,
		             err);
		*uses = readers;
		DTX_TRY(rc);
	}
	m->made[s] = true;
	if (kind != DTX_KIND_MAP && st->table[0] >= 0)
		DTX_TRY(pipe_to(m, st->table[0],
		                kind == DTX_KIND_SINK ? DTX_PHYS_SINK : DTX_PHYS_WHOLE, (int32_t)s,
		                err));
out:
	return rc;
}

/* Whether later steps can be bound only after this one has run: a snippet, or an op whose columns
 * come from its rows. */
static bool is_barrier(const struct maker *m, uint32_t s)
{
	const struct dtx_bind *b = m->view.flow->bind[s];

	return is_snippet(m, s) || (b && b->open && m->view.plan->step[s].op->whole_schema);
}

enum dtx_code dtx_phys_make(const struct dtx_plan *plan, const struct dtx_flow *flow,
                            const int32_t *region, struct dtx_arena *arena, struct dtx_phys *out,
                            struct dtx_err *err)
{
	struct maker m = { .view = { .plan = plan, .flow = flow, .arena = arena, .way = way },
		           .region = region,
		           .out = out };
	enum dtx_code rc = DTX_OK;

	*out = (struct dtx_phys){ .npipes = 0 };
	m.view.arg = &m;
	m.uses = dtx_arena_zalloc(arena, plan->ninputs + plan->nsteps + 1u, sizeof(*m.uses));
	m.made = dtx_arena_zalloc(arena, plan->nsteps + 1u, sizeof(*m.made));
	if (!m.uses || !m.made)
		DTX_FAIL_MEM(err);
	dtx_plan_readers(plan, m.uses);
	for (uint32_t i = 0; i < plan->nsteps; i++)
		if (is_barrier(&m, i))
			DTX_TRY(make_step(&m, i, err));
	for (uint32_t i = 0; i < plan->nsteps; i++)
		if (!m.made[i] && !m.uses[plan->ninputs + i])
			DTX_TRY(pipe_to(&m, (int32_t)(plan->ninputs + i), DTX_PHYS_NOWHERE, -1,
			                err));
	if (dtx_plan_checks_apart(plan))
		DTX_TRY(pipe_to(&m, plan->result, DTX_PHYS_NOWHERE, -1, err));
	for (uint32_t i = 0; i < plan->noutputs; i++)
		if (plan->output[i].table >= 0)
			DTX_TRY(pipe_to(&m, plan->output[i].table, DTX_PHYS_OUTPUT, (int32_t)i,
			                err));
out:
	return rc;
}
