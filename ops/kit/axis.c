/* The values of a column for `complete`, and the steps between them that no row has. */
#include "ops/kit/axis.h"

#include <math.h>

#include "core/base/text/num.h"
#include "core/data/builder.h"
#include "core/data/time/duration.h"
#include "ops/kit/cells_new.h"

#define VALUES_MAX 10000000 /* of one column */

static enum dtx_code add_value(struct dtx_axis_values *v, struct dtx_from cell, uint32_t group,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (v->n >= VALUES_MAX)
		DTX_FAIL(err, DTX_E_ROW_LIMIT, "complete: a column would have more than %d values",
		         VALUES_MAX);
	if (!dtx_mem_reserve(&v->cell, &v->cap, v->n + 1, sizeof(*v->cell)) ||
	    !dtx_mem_reserve(&v->group, &v->cap_group, v->n + 1, sizeof(*v->group)))
		DTX_FAIL_MEM(err);
	v->cell[v->n] = cell;
	v->group[v->n++] = group;
out:
	return rc;
}

/* Value number k of a sequence: an int64 (dates and times in microseconds) or a double. */
union point {
	int64_t i;
	double f;
};

static bool step_point(const struct dtx_axis *x, union point from, int64_t k, union point *out)
{
	struct dtx_duration d = { 1, DTX_U_DAY };

	if (x->type == DTX_T_FLOAT64) {
		out->f = dtx_num_step(from.f, k, json_number_value(x->step));
		return isfinite(out->f);
	}
	if (x->type == DTX_T_INT64)
		return !__builtin_mul_overflow(k, json_integer_value(x->step), &out->i) &&
		       !__builtin_add_overflow(from.i, out->i, &out->i);
	if (json_is_integer(x->step))
		d.n = json_integer_value(x->step);
	else if (!dtx_duration_parse(json_string_value(x->step), &d))
		return false;
	return dtx_duration_step(from.i, k, d, &out->i);
}

static int point_cmp(const struct dtx_axis *x, union point a, union point b)
{
	if (x->type == DTX_T_FLOAT64)
		return a.f < b.f ? -1 : a.f > b.f;
	return a.i < b.i ? -1 : a.i > b.i;
}

static void build_point(struct dtx_builder *to, enum dtx_type type, union point p)
{
	if (type == DTX_T_FLOAT64)
		dtx_builder_f64(to, p.f);
	else if (type == DTX_T_DATE)
		dtx_builder_day(to, (int32_t)(p.i / DTX_DAY_US));
	else
		dtx_builder_i64(to, p.i);
}

static enum dtx_code read_point(struct dtx_relayout *m, const struct dtx_axis *x, int64_t row,
                                union point *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c = NULL;
	uint32_t at;
	struct dtx_batch *b = NULL;

	dtx_raw_row(&m->raw, row, &at);
	b = m->raw.table->batch[m->raw.hint];
	DTX_TRY(dtx_batch_flat(b, (uint32_t)x->col, &c, err));
	if (x->type == DTX_T_FLOAT64)
		out->f = c->v.f64[at];
	else
		out->i = x->type == DTX_T_DATE ? c->v.day[at] * DTX_DAY_US : c->v.i64[at];
out:
	dtx_column_unref(c);
	return rc;
}

/* Writes the values that were made as cells, in the way the column reads them. */
static enum dtx_code write_points(struct dtx_relayout *m, const struct dtx_axis *x,
                                  struct dtx_axis_values *v, const struct dtx_column *made,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_from *cell = dtx_mem_alloc((size_t)made->len + 1, sizeof(*cell));

	if (!cell)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_made_cells(m, (uint32_t)x->col, made, cell, err));
	for (size_t i = 0; i < v->n; i++)
		if (v->group[i] == DTX_NOWHERE)
			v->cell[i] = cell[v->cell[i].row];
out:
	dtx_mem_free(cell);
	return rc;
}

/* Adds the steps before `here` that no row has.  *k is the next step. */
static enum dtx_code add_steps(const struct dtx_axis *x, struct dtx_axis_values *v,
                               union point first, union point here, int64_t *k,
                               struct dtx_builder *to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	union point step;

	for (; step_point(x, first, *k, &step) && point_cmp(x, step, here) <= 0; (*k)++) {
		if (point_cmp(x, step, here) == 0)
			continue;
		DTX_TRY(add_value(v, (struct dtx_from){ to->len, DTX_FROM_TEXT }, DTX_NOWHERE,
		                  err));
		build_point(to, x->type, step);
	}
out:
	return rc;
}

/* There may be so many steps, or steps so small that they never change the value, that adding them
 * would not end. */
static enum dtx_code check_steps(const struct dtx_axis *x, union point first, union point last,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	union point step;

	if (step_point(x, first, VALUES_MAX + 1, &step) && point_cmp(x, step, last) <= 0)
		DTX_FAIL(err, DTX_E_ROW_LIMIT, "complete: a column would have more than %d steps",
		         VALUES_MAX);
out:
	return rc;
}

/* Merges the existing values with the steps between them, in order. */
static enum dtx_code merge_steps(struct dtx_relayout *m, const struct dtx_axis *x,
                                 struct dtx_axis_values *v, const int64_t *row, int64_t n,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	union point first, here;
	struct dtx_column *made = NULL;
	struct dtx_builder to;
	int64_t k = 0;

	dtx_builder_init(&to, (struct dtx_typeref){ x->type, 0, 0 }, 64);
	if (!n)
		goto out;
	DTX_TRY(read_point(m, x, row[0], &first, err));
	DTX_TRY(read_point(m, x, row[n - 1], &here, err));
	DTX_TRY(check_steps(x, first, here, err));
	for (int64_t i = 0; i < n; i++) {
		DTX_TRY(read_point(m, x, row[i], &here, err));
		DTX_TRY(add_steps(x, v, first, here, &k, &to, err));
		DTX_TRY(add_value(v, (struct dtx_from){ row[i], x->col },
		                  dtx_tablekeys_id(&v->keys, row[i]), err));
	}
	DTX_TRY(dtx_builder_finish(&to, NULL, &made, err));
	DTX_TRY(write_points(m, x, v, made, err));
out:
	dtx_column_unref(made);
	dtx_builder_clear(&to);
	return rc;
}

enum dtx_code dtx_axis_values(struct dtx_relayout *m, const struct dtx_axis *x,
                              struct dtx_axis_values *v, struct dtx_err *err)
{
	struct dtx_table *t = m->raw.table;
	enum dtx_code rc = DTX_OK;
	struct dtx_rowkeys order = DTX_ROWKEYS_INIT;
	int64_t *row = NULL, n;

	DTX_TRY(dtx_tablekeys_open(&v->keys, m->ox, &x->key, t, err));
	n = v->keys.n;
	row = dtx_mem_alloc((size_t)n + 1, sizeof(*row));
	if (!row)
		DTX_FAIL_MEM(err);
	memcpy(row, v->keys.first, (size_t)n * sizeof(*row));
	DTX_TRY(dtx_rowkeys_column(&order, t, x->col, err));
	DTX_TRY(dtx_rowkeys_sort(&order, row, n, err));
	/* null is a value too, the last one */
	while (n && order.null[row[n - 1]])
		n--;
	if (x->step)
		DTX_TRY(merge_steps(m, x, v, row, n, err));
	for (int64_t i = x->step ? n : 0; i < (int64_t)v->keys.n; i++)
		DTX_TRY(add_value(v, (struct dtx_from){ row[i], x->col },
		                  dtx_tablekeys_id(&v->keys, row[i]), err));
out:
	dtx_mem_free(row);
	dtx_rowkeys_close(&order);
	return rc;
}

void dtx_axis_values_clear(struct dtx_axis_values *v)
{
	dtx_tablekeys_close(&v->keys);
	dtx_mem_free(v->cell);
	dtx_mem_free(v->group);
}
