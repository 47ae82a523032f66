/* The physical plan: the walk of core/plan/pipe/graph.c without rows, for `dtx explain` and for the
 * questions that both ask. Change both together. */
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

bool dtx_phys_narrows(const struct dtx_plan *plan, const struct dtx_flow *flow,
                      const uint32_t *step, uint32_t n)
{
	const struct dtx_plan_step *st = n ? &plan->step[step[0]] : NULL;
	const struct dtx_op *op = st ? st->op : NULL;
	const struct dtx_bind *b = op ? flow->bind[step[0]] : NULL;

	return b && op->flags & DTX_OP_NARROWS && !(op->flags & DTX_OP_ORDERED) && !b->ordered &&
	       !op->map->init_local && !op->map->flush && !has_promises(st) &&
	       !fails_before_limit(plan, b, step, n);
}

int64_t dtx_phys_limit(const struct dtx_plan *plan, const uint32_t *step, uint32_t n, uint32_t *at)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct dtx_plan_step *st = &plan->step[step[i]];
		int64_t rows = st->op->wants ? st->op->wants(st->args) : -1;

		if (at)
			*at = i;
		if (rows >= 0)
			return rows;
		if (!(st->op->flags & DTX_OP_SAME_ROWS) || has_promises(st))
			return -1;
	}
	return -1;
}

uint64_t dtx_phys_first_rows(const struct dtx_plan *plan, uint32_t sink, const uint32_t *step,
                             uint32_t n)
{
	int64_t rows = has_promises(&plan->step[sink]) ? -1 : dtx_phys_limit(plan, step, n, NULL);

	return rows < 0 ? 0 : DTX_MAX((uint64_t)rows, 1);
}

/* --- pipelines --- */

struct maker {
	const struct dtx_plan *plan;
	const struct dtx_flow *flow;
	const int32_t *region;
	struct dtx_arena *arena;
	struct dtx_phys *out;
	size_t cap;
	uint32_t *uses; /* readers of each table */
	bool *made;     /* steps that are part of a pipeline already */
};
/* A pipeline in the making; others that it depends on are finished before it. */
struct draft {
	struct dtx_phys_pipe pipe;
	size_t cap;
};

static enum dtx_code make_step(struct maker *m, uint32_t s, struct dtx_err *err);
static enum dtx_code add_legs(struct maker *m, struct draft *d, int32_t t, struct dtx_err *err);

static enum dtx_op_kind kind_of(const struct maker *m, uint32_t s)
{
	const struct dtx_op *op = m->plan->step[s].op;

	if (m->flow->bind[s])
		return m->flow->bind[s]->kind;
	if (op && op->map)
		return DTX_KIND_MAP;
	return op && op->sink ? DTX_KIND_SINK : DTX_KIND_WHOLE;
}

static bool is_snippet(const struct maker *m, uint32_t s)
{
	return m->region[s] >= 0 || !m->plan->step[s].op || m->plan->step[s].broken;
}

static bool streams(const struct maker *m, int32_t t)
{
	uint32_t s = (uint32_t)t - m->plan->ninputs;

	return !m->made[s] && m->uses[t] <= 1 && !is_snippet(m, s) && kind_of(m, s) == DTX_KIND_MAP;
}

static enum dtx_code new_leg(struct maker *m, struct draft *d, int32_t t, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_arena_reserve(m->arena, &d->pipe.leg, &d->cap, d->pipe.nlegs + 1u,
	                       sizeof(*d->pipe.leg)))
		DTX_FAIL_MEM(err);
	d->pipe.leg[d->pipe.nlegs] =
		(struct dtx_phys_leg){ .table = t, .limit = -1, .limit_step = -1 };
	/* room for all steps: the arena of an explanation lives briefly */
	d->pipe.leg[d->pipe.nlegs].step =
		dtx_arena_alloc(m->arena, m->plan->nsteps, sizeof(uint32_t));
	if (!d->pipe.leg[d->pipe.nlegs].step)
		DTX_FAIL_MEM(err);
	d->pipe.nlegs++;
out:
	return rc;
}

/* Sets the rows that a sink needs to keep, for sinks that can make use of it. */
static void first_rows(const struct maker *m, struct dtx_phys_leg *leg)
{
	uint32_t sink = (uint32_t)leg->table - m->plan->ninputs;
	const struct dtx_op *op = m->plan->step[sink].op;

	if (op && op->flags & DTX_OP_FIRST_ROWS && kind_of(m, sink) == DTX_KIND_SINK)
		leg->first_rows = dtx_phys_first_rows(m->plan, sink, leg->step, leg->nsteps);
}

static enum dtx_code finish(struct maker *m, struct draft *d, enum dtx_phys_end end, int32_t of,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < d->pipe.nlegs; i++) {
		struct dtx_phys_leg *leg = &d->pipe.leg[i];
		uint32_t at = 0;

		if (!leg->nsteps)
			continue;
		if ((uint32_t)leg->table >= m->plan->ninputs) {
			first_rows(m, leg);
			continue;
		}
		leg->narrowed = dtx_phys_narrows(m->plan, m->flow, leg->step, leg->nsteps);
		leg->limit = dtx_phys_limit(m->plan, leg->step + leg->narrowed,
		                            leg->nsteps - leg->narrowed, &at);
		if (leg->limit >= 0)
			leg->limit_step = (int32_t)leg->step[leg->narrowed + at];
	}
	if (!dtx_arena_reserve(m->arena, &m->out->pipe, &m->cap, m->out->npipes + 1u,
	                       sizeof(*m->out->pipe)))
		DTX_FAIL_MEM(err);
	d->pipe.end = end;
	d->pipe.of = of;
	m->out->pipe[m->out->npipes++] = d->pipe;
out:
	return rc;
}

/* Makes the pipeline from table t to an end. */
static enum dtx_code pipe_to(struct maker *m, int32_t t, enum dtx_phys_end end, int32_t of,
                             struct dtx_err *err)
{
	struct draft d = { .cap = 0 };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(add_legs(m, &d, t, err));
	DTX_TRY(finish(m, &d, end, of, err));
out:
	return rc;
}

static enum dtx_code through_map(struct maker *m, struct draft *d, uint32_t s, struct dtx_err *err)
{
	const struct dtx_plan_step *st = &m->plan->step[s];
	uint32_t n = st->op->flags & DTX_OP_CONCAT ? st->ntables : 1;
	enum dtx_code rc = DTX_OK;

	m->made[s] = true;
	for (uint32_t k = 1; st->op->flags & DTX_OP_BUILD && k < st->ntables; k++)
		if (st->table[k] >= 0)
			DTX_TRY(pipe_to(m, st->table[k], DTX_PHYS_SINK, (int32_t)s, err));
	for (uint32_t k = 0; k < n; k++) {
		uint32_t from = d->pipe.nlegs;

		if (st->table[k] < 0)
			continue;
		DTX_TRY(add_legs(m, d, st->table[k], err));
		for (uint32_t i = from; i < d->pipe.nlegs; i++)
			d->pipe.leg[i].step[d->pipe.leg[i].nsteps++] = s;
	}
out:
	return rc;
}

static enum dtx_code add_legs(struct maker *m, struct draft *d, int32_t t, struct dtx_err *err)
{
	uint32_t s = (uint32_t)t - m->plan->ninputs;
	enum dtx_code rc = DTX_OK;

	if ((uint32_t)t >= m->plan->ninputs && streams(m, t))
		return through_map(m, d, s, err);
	if ((uint32_t)t >= m->plan->ninputs)
		DTX_TRY(make_step(m, s, err));
	DTX_TRY(new_leg(m, d, t, err));
out:
	return rc;
}

/* Makes the pipeline that collects all tables that a region reads from outside. */
static enum dtx_code make_region(struct maker *m, uint32_t s, struct dtx_err *err)
{
	const struct dtx_plan *p = m->plan;
	struct draft d = { .cap = 0 };
	int32_t r = m->region[s];
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < p->nsteps; i++) {
		if (i != s && (r < 0 || m->region[i] != r))
			continue;
		m->made[i] = true;
		for (uint32_t k = 0; k < p->step[i].ntables; k++) {
			int32_t t = p->step[i].table[k];
			bool inside = t >= (int32_t)p->ninputs && r >= 0 &&
			              m->region[(uint32_t)t - p->ninputs] == r;

			if (t >= 0 && !inside)
				DTX_TRY(add_legs(m, &d, t, err));
		}
	}
	DTX_TRY(finish(m, &d, DTX_PHYS_SNIPPET, (int32_t)s, err));
out:
	return rc;
}

static enum dtx_code make_step(struct maker *m, uint32_t s, struct dtx_err *err)
{
	const struct dtx_plan_step *st = &m->plan->step[s];
	struct draft d = { .cap = 0 };
	enum dtx_code rc = DTX_OK;

	if (m->made[s])
		goto out;
	if (is_snippet(m, s))
		return make_region(m, s, err);
	m->made[s] = true;
	if (kind_of(m, s) == DTX_KIND_MAP) {
		DTX_TRY(through_map(m, &d, s, err));
		DTX_TRY(finish(m, &d, DTX_PHYS_TABLE, (int32_t)s, err));
	} else if (st->table[0] >= 0) {
		DTX_TRY(pipe_to(m, st->table[0],
		                kind_of(m, s) == DTX_KIND_SINK ? DTX_PHYS_SINK : DTX_PHYS_WHOLE,
		                (int32_t)s, err));
	}
out:
	return rc;
}

/* Whether later steps can be bound only after this one has run: a snippet, or an op whose columns
 * come from its rows. */
static bool is_barrier(const struct maker *m, uint32_t s)
{
	return is_snippet(m, s) ||
	       (m->flow->bind[s] && m->flow->bind[s]->open && m->plan->step[s].op->whole_schema);
}

enum dtx_code dtx_phys_make(const struct dtx_plan *plan, const struct dtx_flow *flow,
                            const int32_t *region, struct dtx_arena *arena, struct dtx_phys *out,
                            struct dtx_err *err)
{
	struct maker m = {
		.plan = plan, .flow = flow, .region = region, .arena = arena, .out = out
	};
	enum dtx_code rc = DTX_OK;

	*out = (struct dtx_phys){ .npipes = 0 };
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
