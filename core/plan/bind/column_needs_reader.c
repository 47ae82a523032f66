/* Moves work into a reader: the first filter, which then runs before the other columns are made,
 * and the number of rows after which it may stop. The physical plan (dtx_phys_draw) decides. */
#include "core/plan/pipe/graph.h"

struct keep {
	struct dtx_emit base;
	const struct dtx_opctx *ox;
	const struct dtx_op *op;
	const struct dtx_batch *in;
};

/* The emitter of such a filter: it selects rows of the batch in place, so it only counts them. */
static enum dtx_code keep_take(struct dtx_emit *e, struct dtx_batch *b, struct dtx_err *err)
{
	struct keep *k = (struct keep *)e;
	int64_t rows = atomic_fetch_add(&k->ox->stat->rows_out, b->nsel) + b->nsel;
	enum dtx_code rc = DTX_OK;

	DTX_ASSERT(b == k->in, err);
	if (k->ox->run->max_rows >= 0 && rows > k->ox->run->max_rows)
		DTX_FAIL(err, DTX_E_ROW_LIMIT, "more than %lld rows",
		         (long long)k->ox->run->max_rows);
out:
	return rc;
}

/* The `keep` of struct dtx_scan; arg is the operator. */
static enum dtx_code keep_rows(void *arg, struct dtx_batch *b, struct dtx_err *err)
{
	const struct dtx_operator *l = arg;
	struct keep k = { .base = { .take = keep_take }, .ox = &l->ox[0], .op = l->op, .in = b };
	int64_t start = dtx_now_ns();
	enum dtx_code rc;

	atomic_fetch_add(&k.ox->stat->rows_in, b->nsel);
	rc = l->op->map->batch(k.ox, NULL, b, &k.base, err);
	atomic_fetch_add(&k.ox->stat->ns, dtx_now_ns() - start);
	if (rc != DTX_OK && err) {
		dtx_err_step(err, k.ox->step, l->op->name);
		err->run_time = true;
	}
	return rc;
}

/* The `left_out` of struct dtx_scan. */
static void left_out(void *arg, int64_t rows)
{
	const struct dtx_operator *l = arg;

	atomic_fetch_add(&l->ox[0].stat->rows_in, rows);
	l->op->map->left_out(&l->ox[0], rows);
}

/* Gives the reader conditions that rows have to meet, but not where a column has a declared type:
 * cells that do not fit are counted, in all rows. */
static enum dtx_code push_ranges(struct dtx_graph *g, struct dtx_scan *scan,
                                 const struct dtx_operator *oper, struct dtx_err *err)
{
	const struct dtx_map *map = oper->op->map;
	const struct dtx_bound *where =
		map->condition && map->left_out ? map->condition(&oper->ox[0]) : NULL;
	struct dtx_bound_range found[DTX_SCAN_RANGES_MAX];
	uint32_t n = where ? dtx_bound_ranges(where, found, DTX_SCAN_RANGES_MAX) : 0, i;
	enum dtx_code rc = DTX_OK;
	struct dtx_scan_range *to = dtx_arena_zalloc(&g->arena, n + 1u, sizeof(*to));

	if (!to)
		DTX_FAIL_MEM(err);
	for (i = 0; i < scan->schema->nfields; i++)
		if (scan->schema->field[i].declared)
			goto out;
	for (i = 0; i < n; i++)
		to[i] = (struct dtx_scan_range){ (uint32_t)found[i].column, found[i].type,
			                         found[i].outcomes, found[i].i, found[i].s };
	scan->range = to;
	scan->nranges = n;
	scan->left_out = left_out;
out:
	return rc;
}

/* Moves the first map into the reader. The reader makes the columns that it reads first. */
static enum dtx_code push_filter(struct dtx_graph *g, struct dtx_pipe_source *source,
                                 struct dtx_err *err)
{
	struct dtx_operator *oper = source->stage[0].oper;
	const struct dtx_bind *b = g->flow.bind[oper->ox[0].step];
	uint8_t *need = dtx_arena_zalloc(&g->arena, source->scan->schema->nfields + 1u, 1);
	enum dtx_code rc = DTX_OK;

	if (!need)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < b->nuses; i++)
		need[b->use[i].col] = DTX_MAX(need[b->use[i].col], b->use[i].demand);
	source->scan->keep = keep_rows;
	source->scan->keep_arg = oper;
	source->scan->keep_need = need;
	DTX_TRY(push_ranges(g, source->scan, oper, err));
	source->nstages--;
	memmove(source->stage, source->stage + 1, source->nstages * sizeof(*source->stage));
out:
	return rc;
}

enum dtx_code dtx_graph_push(struct dtx_graph *g, struct dtx_pipe_source *source,
                             const struct dtx_phys_source *drawn, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (drawn->narrowed)
		DTX_TRY(push_filter(g, source, err));
	source->scan->limit = drawn->limit;
out:
	return rc;
}
