/* Changed copies of tables. */
#include "cli/why/perturb.h"

#include <stdio.h>

#include "core/data/builder.h"
#include "core/data/cast/cast.h"

/* Another value, the same for equal ones. */
static void perturb_relabel(struct dtx_builder *b, const struct dtx_column *c, uint32_t row)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (c->form == DTX_F_FLAT && c->type.type == DTX_T_INT64 && c->v.i64[row] < INT64_MAX) {
		dtx_builder_i64(b, c->v.i64[row] + 1);
	} else if (c->form == DTX_F_FLAT && c->type.type == DTX_T_FLOAT64) {
		dtx_builder_f64(b, c->v.f64[row] + 1);
	} else if (c->form == DTX_F_FLAT && c->type.type == DTX_T_DATE) {
		dtx_builder_day(b, c->v.day[row] + 1);
	} else if (c->type.type == DTX_T_TEXT) {
		dtx_cast_print(c, row, &text);
		dtx_buf_addc(&text, '~');
		dtx_builder_text(b, dtx_buf_str(&text));
	} else {
		dtx_builder_copy(b, c, row);
	}
	dtx_buf_clear(&text);
}

static void perturb_value(struct dtx_builder *b, const struct dtx_column *c, uint32_t row,
                          uint32_t nrows, enum dtx_perturb_how how)
{
	uint32_t other = how == DTX_PERTURB_MOVE ? (row + 1) % nrows : 0;

	if (how == DTX_PERTURB_NULL)
		dtx_builder_null(b);
	else if (how == DTX_PERTURB_RELABEL && !dtx_column_is_null(c, row))
		perturb_relabel(b, c, row);
	else
		dtx_builder_copy(b, c, how == DTX_PERTURB_RELABEL ? row : other);
}

static enum dtx_code perturb_column(struct dtx_batch *b, uint32_t col, const struct dtx_perturb *p,
                                    int64_t first, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_builder made;
	struct dtx_column *was = NULL, *out = NULL;

	dtx_builder_init(&made, b->schema->field[col].type, b->nrows);
	DTX_TRY(dtx_batch_value(b, col, &was, err));
	for (uint32_t row = 0; row < b->nrows; row++) {
		int64_t at = first + row;

		if (at < p->from || at >= p->to)
			dtx_builder_copy(&made, was, row);
		else
			perturb_value(&made, was, row, b->nrows, p->how);
	}
	DTX_TRY(dtx_builder_finish(&made, NULL, &out, err));
	dtx_column_unref(b->col[col]);
	b->col[col] = out;
out:
	dtx_builder_clear(&made);
	return rc;
}

enum dtx_code dtx_perturb(struct dtx_table *t, const struct dtx_perturb *p, struct dtx_table **out,
                          struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_table *made = NULL;
	struct dtx_batch *b = NULL;
	int64_t first = 0;

	DTX_TRY(dtx_table_new(t->schema, &made, err));
	for (size_t i = 0; i < t->nbatches; i++) {
		DTX_TRY(dtx_batch_copy(t->batch[i], &b, err));
		DTX_TRY(dtx_batch_dense(b, err));
		for (uint32_t c = 0; c < b->ncols; c++) {
			if (p->column[c] && b->col[c])
				DTX_TRY(perturb_column(b, c, p, first, err));
		}
		first += b->nrows;
		rc = dtx_table_take(made, b, err);
		b = NULL;
		DTX_TRY(rc);
	}
	*out = made;
	made = NULL;
out:
	dtx_batch_free(b);
	dtx_table_unref(made);
	return rc;
}
