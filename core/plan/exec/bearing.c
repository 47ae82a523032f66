/* What of an input's warnings the result depends on. */
#include "core/plan/exec/bearing.h"

#include <string.h>

#include "core/plan/exec/outputs.h"

static uint32_t width(const struct dtx_graph *g, uint32_t table)
{
	const struct dtx_schema *s = g->flow.table[table].schema;

	return s ? s->nfields : 0;
}

/* What step i, or one after it, names of its tables. */
static void back_step(const struct dtx_graph *g, uint32_t i, uint8_t **named)
{
	const struct dtx_bind *b = g->flow.bind[i];
	uint32_t result = g->plan->ninputs + i;
	int32_t table, col;

	for (unsigned k = 0; b && k < b->ntables; k++)
		for (uint32_t c = 0; b->table[k] >= 0 && c < width(g, (uint32_t)b->table[k]); c++)
			if (b->named[k] && c < b->in[k]->nfields && b->named[k][c])
				named[b->table[k]][c] = 1;
	for (uint32_t c = 0; b && c < width(g, result); c++) {
		if (!named[result][c])
			continue;
		if (dtx_column_needs_through(&g->flow, b, c, &table, &col) &&
		    (uint32_t)col < width(g, (uint32_t)table))
			named[table][col] = 1;
		/* the name is the input's own, wherever the values come from */
		for (unsigned k = 0; k < b->ntables; k++) {
			col = dtx_schema_find(b->in[k],
			                      g->flow.table[result].schema->field[c].name);
			if (col >= 0 && b->table[k] >= 0 &&
			    (uint32_t)col < width(g, (uint32_t)b->table[k]))
				named[b->table[k]][col] = 1;
		}
	}
}

uint8_t **dtx_bearing_named(const struct dtx_graph *g, struct dtx_arena *arena)
{
	uint32_t n = g->plan->ninputs + g->plan->nsteps;
	uint8_t **named = dtx_arena_zalloc(arena, n, sizeof(*named));

	for (uint32_t t = 0; t < n; t++) {
		if (named)
			named[t] = dtx_arena_zalloc(arena, width(g, t) + 1u, 1);
		if (!named || !named[t])
			return NULL;
	}
	for (uint32_t i = g->plan->nsteps; i-- > 0;)
		back_step(g, i, named);
	return named;
}

static bool header_bears(const struct dtx_graph *g, uint32_t input, const uint8_t *named)
{
	for (uint32_t c = 0; c < width(g, input); c++)
		if (named[c])
			return false;
	for (uint32_t i = 0; i < g->plan->noutputs; i++) {
		const struct dtx_writer_class *cls = dtx_outputs_class(&g->plan->output[i]);

		if (cls && !strcmp(cls->name, "json"))
			return true;
	}
	return g->plan->nsteps > 0;
}

static bool column_bears(const struct dtx_graph *g, uint32_t input, const uint8_t *named,
                         const char *column)
{
	const struct dtx_schema *s = g->flow.table[input].schema;
	int32_t col = s ? dtx_schema_find(s, column) : -1;
	uint8_t need;

	if (col < 0 || !g->push.need || !g->push.need[input])
		return true;
	need = g->push.need[input][col];
	return need == DTX_NEED_VALUE || (need != DTX_NEED_SKIP && named[col]);
}

bool dtx_bears(const struct dtx_graph *g, uint32_t input, const uint8_t *named,
               const struct dtx_err *w)
{
	if (w->code == DTX_W_HEADER_ASSUMED)
		return header_bears(g, input, named);
	if (w->code == DTX_W_MIXED_TYPES)
		return column_bears(g, input, named, w->column);
	return true;
}
