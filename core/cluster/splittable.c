/* Which maps of a source fragments can do: those of which each row of the result depends on one row
 * of the input. The facts of the ops decide. */
#include "core/cluster/cluster_parts.h"

bool dtx_cluster_derivable(const struct dtx_graph *g, int32_t t)
{
	const struct dtx_plan_step *st;
	uint32_t s;

	if (t < 0)
		return false;
	if ((uint32_t)t < g->plan->ninputs)
		return g->flow.table[t].schema != NULL;
	s = (uint32_t)t - g->plan->ninputs;
	st = &g->plan->step[s];
	if (!g->step[s].bound || g->step[s].region >= 0 || g->flow.bind[s]->open ||
	    st->op->whole_schema)
		return false;
	for (uint32_t k = 0; k < st->ntables; k++)
		if (!dtx_cluster_derivable(g, st->table[k]))
			return false;
	return true;
}

static bool by_row(const struct dtx_op_facts *f, const struct dtx_plan_step *st)
{
	if (f->as_read || f->fills || f->borrows || f->passes)
		return false;
	switch (f->rows) {
	case DTX_ROWS_SAME:
	case DTX_ROWS_FILTERED:
	case DTX_ROWS_SPLIT:
	case DTX_ROWS_LONGER: return st->ntables == 1;
	case DTX_ROWS_UNION: return st->op->flags & DTX_OP_CONCAT;
	case DTX_ROWS_JOINED:
	case DTX_ROWS_SEMI:
	case DTX_ROWS_ANTI:
	case DTX_ROWS_LOOKUP: return f->each_row && st->op->flags & DTX_OP_BUILD;
	default: return false;
	}
}

static bool splits(const struct dtx_graph *g, uint32_t s)
{
	const unsigned whole = DTX_OP_ORDERED | DTX_OP_RAW | DTX_OP_PLACES | DTX_OP_SEES_ALL;
	const struct dtx_plan_step *st = &g->plan->step[s];
	const struct dtx_bind *b = g->flow.bind[s];
	struct dtx_op_facts facts;

	if (!st->op || !b || b->kind != DTX_KIND_MAP || !st->op->map || st->op->flags & whole ||
	    b->ordered || b->sees_all || (st->op->map->flush && !st->op->map->save) ||
	    st->op->wants || !dtx_expect_empty(st->expect) || st->rules.n ||
	    !dtx_cluster_derivable(g, (int32_t)(g->plan->ninputs + s)))
		return false;
	facts = dtx_op_facts(st->op, st->canonical);
	return by_row(&facts, st);
}

/* Whether fragments can have the other tables of a step. */
static bool has_tables(const struct dtx_graph *g, uint32_t s, int32_t rows,
                       const struct dtx_sides *sides)
{
	const struct dtx_plan_step *st = &g->plan->step[s];

	if (!(st->op->flags & DTX_OP_BUILD))
		return true;
	for (uint32_t k = 1; k < st->ntables; k++)
		if (st->table[k] == rows) /* a fragment has only some rows of it */
			return false;
	return !sides || dtx_sides_has(sides, s, st->ntables);
}

/* As dtx_cluster_splits, without a look at other sources. */
static uint32_t splits_alone(const struct dtx_graph *g, const struct dtx_phys_source *source,
                             const struct dtx_sides *sides)
{
	uint64_t bytes;
	uint32_t n = 0;

	if (!dtx_cluster_pieces(g, source, &bytes))
		return 0;
	while (n < source->nsteps && splits(g, source->step[n]) &&
	       has_tables(g, source->step[n], source->table, sides))
		n++;
	return n;
}

/* A map that is flushed is done either by fragments, for all sources, or by the driver. */
uint32_t dtx_cluster_splits(const struct dtx_graph *g, const struct dtx_phys_pipe *pipe,
                            const struct dtx_phys_source *source, const struct dtx_sides *sides)
{
	uint32_t n = splits_alone(g, source, sides);

	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0;
		     g->plan->step[source->step[k]].op->map->flush && i < pipe->nsources; i++) {
			uint32_t most = splits_alone(g, &pipe->source[i], sides);

			for (uint32_t j = most; j < pipe->source[i].nsteps; j++)
				if (pipe->source[i].step[j] == source->step[k])
					return k;
		}
	return n;
}

bool dtx_cluster_all_split(const struct dtx_graph *g, const struct dtx_phys_pipe *drawn,
                           const struct dtx_sides *sides)
{
	uint64_t bytes;

	for (uint32_t i = 0; i < drawn->nsources; i++)
		if (!dtx_cluster_pieces(g, &drawn->source[i], &bytes) ||
		    dtx_cluster_splits(g, drawn, &drawn->source[i], sides) <
		            drawn->source[i].nsteps)
			return false;
	return true;
}

/* --- steps that are done early --- */

/* The only step that reads table t; -1: several do, or an output. */
static int32_t only_reader(const struct dtx_graph *g, int32_t t)
{
	const struct dtx_plan *p = g->plan;
	int32_t reader = -1;
	uint32_t n = 0;

	for (uint32_t s = 0; s < p->nsteps; s++)
		for (uint32_t k = 0; k < p->step[s].ntables; k++)
			if (p->step[s].table[k] == t) {
				n++;
				reader = k ? -1 : (int32_t)s;
			}
	for (uint32_t i = 0; i < p->noutputs; i++)
		n += p->output[i].table == t;
	return n == 1 && !dtx_plan_checks_apart(p) ? reader : -1;
}

/* Whether few rows stay of those that a step is given. */
static bool few_stay(const struct dtx_graph *g, uint32_t s, const struct dtx_op_facts *f)
{
	return f->rows == DTX_ROWS_CHOSEN ||
	       (f->rows == DTX_ROWS_SORTED && g->step[s].ox && g->step[s].ox[0].first_rows);
}

int32_t dtx_cluster_early(const struct dtx_graph *g, const struct dtx_phys_source *source,
                          uint32_t nsteps, int32_t t)
{
	bool map = nsteps < source->nsteps;
	int32_t s = map ? (int32_t)source->step[nsteps] : only_reader(g, t);
	const struct dtx_plan_step *st;
	struct dtx_op_facts f;

	if (s < 0 || !dtx_cluster_derivable(g, (int32_t)g->plan->ninputs + s))
		return -1;
	st = &g->plan->step[s];
	f = dtx_op_facts(st->op, st->canonical);
	if (!f.by_parts || !few_stay(g, (uint32_t)s, &f) || f.values != DTX_VALUES_KEPT ||
	    st->ntables != 1 || st->op->flags & (DTX_OP_RAW | DTX_OP_PLACES) ||
	    !dtx_expect_empty(st->expect) || st->rules.n ||
	    map != (g->flow.bind[s]->kind == DTX_KIND_MAP) ||
	    g->flow.table[g->plan->ninputs + (uint32_t)s].schema->nfields !=
	            g->flow.table[t].schema->nfields)
		return -1;
	return s;
}

/* Whether a step that these rows go through needs only the first of them. One process then stops
 * reading early. */
static bool is_limited(const struct dtx_graph *g, const struct dtx_phys_source *source)
{
	for (uint32_t i = 0; i < source->nsteps; i++) {
		const struct dtx_plan_step *st = &g->plan->step[source->step[i]];

		if (st->op->wants && st->op->wants(st->args) >= 0)
			return true;
	}
	return source->limit >= 0;
}

uint64_t dtx_cluster_pieces(const struct dtx_graph *g, const struct dtx_phys_source *source,
                            uint64_t *bytes)
{
	struct dtx_reader *r;

	if (g->node[source->table].table || is_limited(g, source))
		return 0;
	if ((uint32_t)source->table >= g->plan->ninputs) { /* fragments have made it by keys */
		r = g->node[source->table].reader;
		return r ? r->cls->pieces(r, bytes) : 0;
	}
	if (g->by_snippet[source->table])
		return 0;
	r = g->reader[source->table];
	if (!r || !r->cls->pieces || g->read[source->table].ragged == DTX_RAGGED_QUARANTINE)
		return 0;
	/* an op that counts rows of the source, or wants cells as they were read */
	for (uint32_t s = 0; s < g->plan->nsteps; s++) {
		const struct dtx_plan_step *st = &g->plan->step[s];

		if (st->op && (st->op->flags & (DTX_OP_PLACES | DTX_OP_RAW) ||
		               dtx_op_facts(st->op, st->canonical).as_read))
			return 0;
	}
	return r->cls->pieces(r, bytes);
}
