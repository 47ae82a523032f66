/* The numbers of a column by group, sorted. */
#include "ops/group/table/groupvals.h"

#include <math.h>
#include <stdlib.h>

#include "core/expr/agg/aggcall.h"
#include "core/data/cells.h"

enum dtx_code dtx_batch_floats(struct dtx_batch *b, int32_t col, struct dtx_column **out,
                               struct dtx_err *err)
{
	static const struct dtx_field number = { .type = { DTX_T_FLOAT64, 0, 0 } };
	enum dtx_code rc = DTX_OK;
	struct dtx_column *value = NULL, *cast = NULL;

	DTX_TRY(dtx_batch_flat(b, (uint32_t)col, &value, err));
	DTX_TRY(dtx_cells_fit(value, &number, &cast, err));
	DTX_TRY(dtx_column_flat(cast, out, err));
out:
	dtx_column_unref(value);
	dtx_column_unref(cast);
	return rc;
}

static int number_cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Counts where the values of each group begin. */
static enum dtx_code count_values(struct dtx_groupvals *g, struct dtx_table *t, int32_t col,
                                  const struct dtx_tablekeys *keys, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t at = 0;

	for (size_t i = 0; i < t->nbatches; i++) {
		struct dtx_column *c = NULL;

		DTX_TRY(dtx_batch_floats(t->batch[i], col, &c, err));
		for (uint32_t row = 0; row < c->len; row++)
			if (!dtx_column_is_null(c, row))
				g->start[dtx_tablekeys_id(keys, at + row) + 2]++;
		at += c->len;
		dtx_column_unref(c);
	}
	for (uint32_t k = 2; k <= g->n + 1; k++)
		g->start[k] += g->start[k - 1];
out:
	return rc;
}

enum dtx_code dtx_groupvals_open(struct dtx_groupvals *g, struct dtx_table *t, int32_t col,
                                 const struct dtx_tablekeys *keys, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t at = 0;

	*g = (struct dtx_groupvals){ .n = keys->n };
	g->start = dtx_mem_zalloc((size_t)keys->n + 3, sizeof(*g->start));
	g->v = dtx_mem_alloc((size_t)t->nrows + 1, sizeof(*g->v));
	if (!g->start || !g->v)
		DTX_FAIL_MEM(err);
	DTX_TRY(count_values(g, t, col, keys, err));
	for (size_t i = 0; i < t->nbatches; i++) {
		struct dtx_column *c = NULL;

		DTX_TRY(dtx_batch_floats(t->batch[i], col, &c, err));
		for (uint32_t row = 0; row < c->len; row++)
			if (!dtx_column_is_null(c, row))
				g->v[g->start[dtx_tablekeys_id(keys, at + row) + 1]++] =
					c->v.f64[row];
		at += c->len;
		dtx_column_unref(c);
	}
	for (uint32_t k = 0; k < g->n; k++)
		if (g->start[k + 1] - g->start[k] > 1)
			qsort(g->v + g->start[k], (size_t)(g->start[k + 1] - g->start[k]),
			      sizeof(*g->v), number_cmp);
out:
	return rc;
}

void dtx_groupvals_close(struct dtx_groupvals *g)
{
	dtx_mem_free(g->v);
	dtx_mem_free(g->start);
	*g = (struct dtx_groupvals)DTX_GROUPVALS_INIT;
}

double dtx_quantile(const double *v, int64_t n, double q)
{
	double at = q * (double)(n - 1), low = floor(at);
	int64_t i = (int64_t)low;

	if (!n)
		return NAN;
	if (i + 1 >= n)
		return v[n - 1];
	return dtx_agg_between(v[i], v[i + 1], at - low); /* the same computation as quantile(),
	                                                   * digit by digit */
}
