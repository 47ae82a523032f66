/* What `dtx explain` shows in addition to the facts of a run, and the facts of a plan that was not
 * run. */
#include "core/base/thread/pool.h"
#include "core/plan/exec/stats/run_stats.h"

/* Adds the pipelines, the threads and the codes that may start the fallback. */
enum dtx_code dtx_run_stats_physical(const struct dtx_graph *g, struct dtx_exec_result *r,
                                     struct dtx_err *err)
{
	int32_t *region = dtx_arena_alloc(&r->arena, g->plan->nsteps + 1u, sizeof(*region));
	enum dtx_code rc = DTX_OK;

	if (!region)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < g->plan->nsteps; i++) {
		region[i] = g->step[i].region;
		r->step[i].triggers = dtx_step_triggers(g, i, &r->arena);
		if (!r->step[i].triggers)
			DTX_FAIL_MEM(err);
	}
	for (uint32_t i = 0; i < g->plan->ninputs; i++) {
		r->input[i].workers = dtx_graph_workers(g, (int32_t)i);
		r->input[i].triggers = dtx_input_triggers(g, i, &r->arena);
		if (!r->input[i].triggers)
			DTX_FAIL_MEM(err);
	}
	DTX_TRY(dtx_phys_make(g->plan, &g->flow, region, &r->arena, &r->phys, err));
out:
	return rc;
}

/* Sets the schemas of outputs that were not written, from the flow. */
enum dtx_code dtx_run_stats_outputs(const struct dtx_graph *g, struct dtx_exec_result *r,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < g->plan->noutputs; i++) {
		int32_t t = g->plan->output[i].table;
		const struct dtx_schema *s = t < 0 ? NULL : g->flow.table[t].schema;

		if (r->output[i].schema || !s)
			continue;
		r->output[i].schema = dtx_schema_copy(&r->arena, s);
		if (!r->output[i].schema)
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

/* Facts of an input that is not open: what the plan declares. */
static enum dtx_code declared_facts(const struct dtx_graph *g, uint32_t i,
                                    struct dtx_exec_result *r, struct dtx_err *err)
{
	const struct dtx_schema *s = g->flow.table[i].schema;
	struct dtx_exec_input *out = &r->input[i];
	enum dtx_code rc = DTX_OK;

	if (!s)
		goto out;
	out->schema = dtx_schema_copy(&r->arena, s);
	out->need = dtx_arena_zalloc(&r->arena, s->nfields + 1u, 1);
	if (!out->schema || !out->need)
		DTX_FAIL_MEM(err);
	if (g->push.need && g->push.need[i])
		memcpy(out->need, g->push.need[i], s->nfields);
out:
	return rc;
}

static enum dtx_code facts_static(const struct dtx_graph *g, struct dtx_exec_result *r,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < g->plan->ninputs; i++)
		DTX_TRY(declared_facts(g, i, r, err));
	for (uint32_t i = 0; i < g->plan->nsteps; i++)
		DTX_TRY(dtx_run_stats_step(g, i, r, err));
	DTX_TRY(dtx_run_stats_outputs(g, r, err));
	DTX_TRY(dtx_lineage(g, r, err));
	DTX_TRY(dtx_run_stats_physical(g, r, err));
out:
	return rc;
}

/* Makes the graph of a plan without opening its inputs. */
static enum dtx_code static_graph(struct dtx_graph *g, struct dtx_plan *plan,
                                  const struct dtx_exec_opts *opts, struct dtx_exec_result *r,
                                  struct dtx_err *err)
{
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_run run = { .batch_rows = opts->batch_rows };
	enum dtx_code rc = DTX_OK;

	dtx_column_needs_run(plan, &run);
	run.workers = r->workers = opts->workers ? opts->workers : dtx_pool_cpus();
	DTX_TRY(dtx_graph_init(g, plan, opts, &run, &r->warnings, err));
	dtx_flow_clear(&g->flow);
	/* nothing but errors is kept of these findings, so the plan stays as it is */
	DTX_TRY(dtx_column_needs_static(plan, NULL, &g->arena, &g->flow, &findings, NULL, err));
	for (uint32_t i = 0; i < plan->nsteps; i++)
		g->step[i].bound = g->flow.bind[i] != NULL;
	DTX_TRY(dtx_graph_needs(g, NULL, err));
	DTX_TRY(facts_static(g, r, err));
out:
	dtx_errlist_clear(&findings);
	return rc;
}

enum dtx_code dtx_exec_static(struct dtx_plan *plan, const struct dtx_exec_opts *opts,
                              struct dtx_exec_result **out, struct dtx_err *err)
{
	struct dtx_graph g = { .plan = NULL };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_exec_result_new(plan, out, err));
	DTX_TRY(static_graph(&g, plan, opts, *out, err));
out:
	dtx_graph_clear(&g);
	return rc;
}
