/* Needs of columns, backwards from the outputs to the readers. */
#include "core/plan/bind/column_needs.h"

enum dtx_code dtx_column_needs_init(struct dtx_column_needs *p, const struct dtx_flow *flow,
                                    struct dtx_arena *arena, struct dtx_err *err)
{
	size_t n = (size_t)flow->plan->ninputs + flow->plan->nsteps;
	enum dtx_code rc = DTX_OK;

	p->need = dtx_arena_zalloc(arena, n + 1, sizeof(*p->need));
	if (!p->need)
		DTX_FAIL_MEM(err);
	for (size_t t = 0; t < n; t++) {
		if (!flow->table[t].schema)
			continue;
		p->need[t] = dtx_arena_zalloc(arena, flow->table[t].schema->nfields + 1u, 1);
		if (!p->need[t])
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

static void raise_need(struct dtx_column_needs *p, int32_t table, uint32_t col, uint8_t need)
{
	if (p->need[table] && p->need[table][col] < need)
		p->need[table][col] = need;
}

void dtx_column_needs_all(struct dtx_column_needs *p, const struct dtx_flow *flow, int32_t table,
                          uint8_t need)
{
	for (uint32_t c = 0; p->need[table] && c < flow->table[table].schema->nfields; c++)
		raise_need(p, table, c, need);
}

bool dtx_column_needs_through(const struct dtx_flow *flow, const struct dtx_bind *b, uint32_t c,
                              int32_t *table, int32_t *col)
{
	const struct dtx_schema *s = flow->table[flow->plan->ninputs + (uint32_t)b->step].schema;

	if (c < b->ncols) {
		*table = b->col[c].from_table >= 0 ? b->table[b->col[c].from_table] : -1;
		*col = b->col[c].from_col;
		return *table >= 0;
	}
	for (unsigned k = 0; k < b->ntables; k++) {
		*table = b->table[k];
		*col = dtx_schema_find(b->in[k], s->field[c].name);
		if (*col >= 0)
			return true;
	}
	return false;
}

/* A step computes all its columns, so its uses count even where the result is not read. */
static void back_step(const struct dtx_flow *flow, const struct dtx_bind *b, int32_t result,
                      struct dtx_column_needs *p)
{
	const uint8_t *need = p->need[result];
	int32_t table, col;

	for (uint32_t c = 0; need && c < flow->table[result].schema->nfields; c++)
		if (need[c] > 0 && dtx_column_needs_through(flow, b, c, &table, &col))
			raise_need(p, table, (uint32_t)col, need[c]);
	for (size_t i = 0; i < b->nuses; i++) {
		const struct dtx_bind_use *u = &b->use[i];
		bool moves = u->demand == (uint8_t)DTX_DEMAND_SAME;

		raise_need(p, b->table[u->table], u->col,
		           !moves                ? u->demand
		           : need && u->out >= 0 ? need[u->out]
		                                 : DTX_NEED_BYTES);
	}
}

void dtx_column_needs_back(const struct dtx_flow *flow, struct dtx_column_needs *p,
                           const bool *live)
{
	for (uint32_t i = flow->plan->nsteps; i-- > 0;)
		if (live[i] && flow->bind[i])
			back_step(flow, flow->bind[i], (int32_t)(flow->plan->ninputs + i), p);
}
