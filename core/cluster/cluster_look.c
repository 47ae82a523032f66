/* What fragments would do of a plan, for explain. */
#include "core/cluster/cluster.h"
#include "core/cluster/cluster_parts.h"
#include "core/cluster/engine.h"
#include "core/plan/exec/outputs.h"

/* Whether fragments can make what the pipeline ends in, if they do all its maps. */
static bool ends_apart(const struct dtx_graph *g, const struct dtx_phys_pipe *p)
{
	const struct dtx_plan *plan = g->plan;
	const struct dtx_writer_class *cls;

	if (p->end == DTX_PHYS_WHOLE) {
		const struct dtx_bind *b = g->flow.bind[p->of];

		return b && b->digest && b->digest->sink->load;
	}
	if (p->end == DTX_PHYS_SINK)
		return plan->step[p->of].op->sink && plan->step[p->of].op->sink->load;
	if (p->end != DTX_PHYS_OUTPUT || plan->rules.n || !dtx_expect_empty(plan->expect))
		return false;
	cls = dtx_outputs_class(&plan->output[p->of]);
	return cls && cls->apart;
}

/* Whether fragments do step s by keys, if they make all rows that this pipeline brings to it. */
static bool by_keys(const struct dtx_graph *g, const struct dtx_phys_pipe *p, uint32_t s)
{
	uint64_t parts = 0;

	for (uint32_t i = 0; i < p->nsources; i++) {
		if (!p->source[i].fragments || p->source[i].spread < p->source[i].nsteps)
			return false;
		parts += p->source[i].fragments;
	}
	return dtx_exchange_keys(g, s) && dtx_exchange_pays(parts);
}

/* A join is done by keys if its other table, whose pipeline is drawn before, is large. */
static void draw_joins(const struct dtx_phys *phys, uint32_t n)
{
	struct dtx_phys_pipe *p = &phys->pipe[n];

	for (uint32_t i = 0; i < p->nsources; i++)
		for (uint32_t k = 0; k < p->source[i].spread && !p->source[i].by_keys; k++)
			for (uint32_t j = 0; j < n; j++)
				if (phys->pipe[j].end == DTX_PHYS_SINK &&
				    phys->pipe[j].source[0].by_keys == p->source[i].step[k] + 1) {
					p->source[i].by_keys = p->source[i].step[k] + 1;
					p->source[i].spread = k;
					p->spread_end = false;
				}
}

static void draw(void *arg, const struct dtx_graph *g, struct dtx_phys *phys)
{
	const struct dtx_cluster_look *look = arg;

	for (uint32_t i = 0; i < phys->npipes; i++) {
		struct dtx_phys_pipe *p = &phys->pipe[i];

		p->spread_end = ends_apart(g, p);
		for (uint32_t k = 0; k < p->nsources; k++) {
			struct dtx_phys_source *s = &p->source[k];
			uint64_t bytes = 0, each, pieces = dtx_cluster_pieces(g, s, &bytes);

			each = bytes ? DTX_MAX(look->bytes / bytes, 1) : 1;
			s->fragments = (pieces + each - 1) / each;
			s->spread = pieces ? dtx_cluster_splits(g, p, s, NULL) : 0;
			p->spread_end = p->spread_end && pieces && s->spread == s->nsteps;
		}
		draw_joins(phys, i);
		if ((p->end == DTX_PHYS_SINK || p->end == DTX_PHYS_WHOLE) &&
		    by_keys(g, p, (uint32_t)p->of))
			for (uint32_t k = 0; k < p->nsources; k++)
				p->source[k].by_keys = (uint32_t)p->of + 1;
	}
}

enum dtx_code dtx_cluster_look(const char *address, struct dtx_cluster_look *out,
                               struct dtx_err *err)
{
	struct dtx_engine_address a = { .bytes = 0 };
	enum dtx_code rc = DTX_OK;

	*out = (struct dtx_cluster_look){ .spread = { .arg = out, .draw = draw } };
	DTX_TRY(dtx_engine_address(address, &a, err));
	out->bytes = a.bytes ? a.bytes : DTX_CLUSTER_BYTES;
	out->piece = dtx_cluster_piece_of(out->bytes);
out:
	dtx_engine_address_clear(&a);
	return rc;
}
