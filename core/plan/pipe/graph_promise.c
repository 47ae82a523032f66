/* The checks of a plan: which columns they need, and how they are started before rows flow. */
#include "core/plan/pipe/graph.h"

/* --- needs --- */

static enum dtx_code need_expect(struct dtx_graph *g, const struct dtx_expect *e, int32_t t,
                                 struct dtx_err *err)
{
	struct dtx_schema *s = NULL;
	enum dtx_code rc = DTX_OK;

	if (dtx_expect_empty(e) || !g->push.need[t])
		goto out;
	DTX_TRY(dtx_expect_schema(e, &g->arena, &s, err));
	for (uint32_t i = 0; i < s->nfields; i++) {
		int32_t c = dtx_schema_find(g->flow.table[t].schema, s->field[i].name);

		if (c >= 0)
			g->push.need[t][c] = DTX_NEED_VALUE;
	}
out:
	return rc;
}

/* Marks the columns that rules read. Mistakes in the rules are ignored here: start_rules reports
 * them. */
static enum dtx_code need_rules(struct dtx_graph *g, const struct dtx_rules *rules, int step,
                                int32_t t, struct dtx_err *err)
{
	struct dtx_errlist none = DTX_ERRLIST_INIT;
	struct dtx_rules_bound *bound;
	struct dtx_bind *used = NULL;
	enum dtx_code rc = DTX_OK;

	if (!rules->n || !g->push.need[t])
		goto out;
	DTX_TRY(dtx_flow_rules(&g->flow, t, step, rules, true, &none, &bound, &used, err));
	for (size_t i = 0; i < used->nuses; i++) {
		uint8_t *need = g->push.need[used->table[used->use[i].table]];

		if (need)
			need[used->use[i].col] = DTX_NEED_VALUE;
	}
out:
	dtx_errlist_clear(&none);
	return rc;
}

enum dtx_code dtx_graph_needs(struct dtx_graph *g, const bool *values, struct dtx_err *err)
{
	const struct dtx_plan *p = g->plan;
	bool *live = dtx_arena_zalloc(&g->arena, p->nsteps + 1u, sizeof(*live));
	enum dtx_code rc = DTX_OK;

	if (!live)
		DTX_FAIL_MEM(err);
	/* outputs and checks first; dtx_column_needs_back then follows the bound steps from last to
	 * first */
	DTX_TRY(dtx_column_needs_init(&g->push, &g->flow, &g->arena, err));
	for (uint32_t i = 0; i < p->noutputs; i++) {
		dtx_column_needs_all(&g->push, &g->flow, p->output[i].table,
		                     values && values[i] ? DTX_NEED_VALUE : DTX_NEED_BYTES);
	}
	DTX_TRY(need_expect(g, p->expect, p->result, err));
	DTX_TRY(need_rules(g, &p->rules, -1, p->result, err));
	for (uint32_t i = 0; i < p->nsteps; i++) {
		live[i] = g->step[i].bound && g->step[i].region < 0;
		for (uint32_t k = 0; !live[i] && k < p->step[i].ntables; k++)
			dtx_column_needs_all(&g->push, &g->flow, p->step[i].table[k],
			                     g->step[i].region >= 0 ? DTX_NEED_VALUE
			                                            : DTX_NEED_BYTES);
		DTX_TRY(need_expect(g, p->step[i].expect, (int32_t)(p->ninputs + i), err));
		DTX_TRY(need_rules(g, &p->step[i].rules, (int)i, (int32_t)(p->ninputs + i), err));
	}
	dtx_column_needs_back(&g->flow, &g->push, live);
out:
	return rc;
}

/* --- promises --- */

struct side_table { /* a table that rules refer to, while its rows are read */
	struct dtx_rules_side *side;
	unsigned k;
	pthread_mutex_t lock;
};

static enum dtx_code eat_side_table(void *arg, unsigned worker, struct dtx_batch *b,
                                    struct dtx_err *err)
{
	struct side_table *a = arg;
	enum dtx_code rc;

	(void)worker;
	pthread_mutex_lock(&a->lock);
	rc = dtx_rules_side_batch(a->side, a->k, b, err);
	pthread_mutex_unlock(&a->lock);
	return rc;
}

/* Reads the other tables that the rules refer to. They must be complete before the first row of the
 * checked table passes. */
static enum dtx_code read_side_tables(struct dtx_graph *g, const struct dtx_bind *used,
                                      const struct dtx_rules_bound *bound,
                                      struct dtx_checks *checks, struct dtx_err *err)
{
	struct side_table a = { .lock = PTHREAD_MUTEX_INITIALIZER };
	const struct dtx_pipe_end end = { .eat = eat_side_table, .arg = &a };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_rules_side_new(bound, &checks->side, err));
	a.side = checks->side;
	for (a.k = 1; a.k < used->ntables; a.k++)
		DTX_TRY(dtx_graph_stream(g, used->table[a.k], &end, err));
out:
	pthread_mutex_destroy(&a.lock);
	return rc;
}

static enum dtx_code start_rules(struct dtx_graph *g, int32_t t, int step,
                                 const struct dtx_rules *rules, struct dtx_checks *checks,
                                 struct dtx_err *err)
{
	struct dtx_errlist found = DTX_ERRLIST_INIT;
	struct dtx_rules_bound *bound = NULL;
	struct dtx_bind *used = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_flow_rules(&g->flow, t, step, rules, true, &found, &bound, &used, err));
	if (found.n) {
		rc = found.item[0].code;
		dtx_err_move(err, &found.item[0]);
		goto out;
	}
	if (rules->ntables)
		DTX_TRY(read_side_tables(g, used, bound, checks, err));
	DTX_TRY(dtx_rules_start(bound, checks->side, &checks->rules, err));
out:
	dtx_errlist_clear(&found);
	return rc;
}

enum dtx_code dtx_graph_promise(struct dtx_graph *g, int32_t t, int step,
                                const struct dtx_expect *e, const struct dtx_rules *rules,
                                struct dtx_checks *checks, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_expect_empty(e))
		DTX_TRY(dtx_expect_start(e, g->flow.table[t].schema, -1, &checks->run, err));
	if (rules->n)
		DTX_TRY(start_rules(g, t, step, rules, checks, err));
out:
	return rc;
}
