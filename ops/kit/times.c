/* The times of a column, and calendar buckets. */
#include "ops/kit/times.h"

#include <stdlib.h>

void dtx_times_close(struct dtx_times *t)
{
	dtx_mem_free(t->us);
	dtx_mem_free(t->null);
	*t = (struct dtx_times)DTX_TIMES_INIT;
}

static enum dtx_code read_batch(struct dtx_times *t, struct dtx_batch *b, int32_t col, int64_t at,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c = NULL;

	DTX_TRY(dtx_batch_flat(b, (uint32_t)col, &c, err));
	for (uint32_t i = 0; i < c->len; i++) {
		t->null[at + i] = dtx_column_is_null(c, i);
		if (!t->null[at + i])
			t->us[at + i] =
				c->type.type == DTX_T_DATE ? c->v.day[i] * DTX_DAY_US : c->v.i64[i];
	}
out:
	dtx_column_unref(c);
	return rc;
}

enum dtx_code dtx_times_open(struct dtx_times *t, struct dtx_table *table, int32_t col,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t at = 0;

	*t = (struct dtx_times){ .n = table->nrows };
	t->us = dtx_mem_zalloc((size_t)t->n + 1, sizeof(*t->us));
	t->null = dtx_mem_zalloc((size_t)t->n + 1, sizeof(*t->null));
	if (!t->us || !t->null)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < table->nbatches; i++) {
		DTX_TRY(read_batch(t, table->batch[i], col, at, err));
		at += table->batch[i]->nrows;
	}
out:
	return rc;
}

struct place { /* position of a row in the order */
	int64_t us, row;
	bool null;
};

static int place_cmp(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->null != y->null)
		return x->null ? 1 : -1;
	if (!x->null && x->us != y->us)
		return x->us < y->us ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

enum dtx_code dtx_times_sort(const struct dtx_times *t, int64_t *row, int64_t n,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct place *p = NULL;

	DTX_TRY(dtx_cancel_look(err)); /* callers sort one group after the other */
	p = dtx_mem_alloc((size_t)n + 1, sizeof(*p));
	if (!p)
		DTX_FAIL_MEM(err);
	for (int64_t i = 0; i < n; i++)
		p[i] = (struct place){ t->us[row[i]], row[i], t->null[row[i]] };
	if (n > 1)
		qsort(p, (size_t)n, sizeof(*p), place_cmp);
	for (int64_t i = 0; i < n; i++)
		row[i] = p[i].row;
out:
	dtx_mem_free(p);
	return rc;
}

void dtx_times_build(struct dtx_builder *to, enum dtx_type type, int64_t us)
{
	if (type == DTX_T_DATE)
		dtx_builder_day(to, (int32_t)(us / DTX_DAY_US));
	else
		dtx_builder_i64(to, us);
}

enum dtx_code dtx_every_check(const char *every, const char *op, struct dtx_err *err)
{
	struct dtx_duration d;
	enum dtx_code rc = DTX_OK;

	if (!dtx_param_is_hole(every) && !dtx_duration_parse(every, &d)) {
		rc = dtx_err_set(err, DTX_E_BAD_PARAM_VALUE, __FILE__, __LINE__,
		                 "%s: every '%s' is not a duration", op, every);
		dtx_err_at(err, "/every");
		dtx_err_hint(err, "a number and a unit: 15s 30min 1h 7d 1w 1mo 1q 1y");
	}
	return rc;
}

enum dtx_code dtx_every_bind(struct dtx_bind *b, int32_t col, const char *every,
                             struct dtx_duration *out, struct dtx_err *err)
{
	enum dtx_type type = col >= 0 ? b->in[0]->field[col].type.type : DTX_T_UNKNOWN;
	const char *name = col >= 0 ? b->in[0]->field[col].name : "";

	*out = (struct dtx_duration){ 1, DTX_U_DAY };
	if (type == DTX_T_UNKNOWN || type == DTX_T_NULL || dtx_param_is_hole(every) ||
	    !dtx_duration_parse(every, out))
		return DTX_OK;
	if (type != DTX_T_DATE && type != DTX_T_DATETIME)
		return dtx_bind_fail_next(b, DTX_E_TYPE_MISMATCH, "/col",
		                          "choose another column, or make dates of it in a step "
		                          "before (parse_date or cast)",
		                          err, "%s needs dates or times, '%s' is %s", b->op, name,
		                          dtx_type_name(type));
	if (type == DTX_T_DATE && !dtx_duration_is_days(*out))
		return dtx_bind_fail_next(
			b, DTX_E_TYPE_MISMATCH, "/every",
			"use days, or cast the column to datetime in a step before", err,
			"steps of %s do not fit the dates of '%s'", every, name);
	return DTX_OK;
}
