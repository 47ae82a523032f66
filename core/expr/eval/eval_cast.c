/* Casts: converts whole columns, but fails only for rows that count. */
#include "core/expr/bound.h"

#include "core/data/cast/cast.h"

/* The error of one row, with the message of the conversion. */
static enum dtx_code row_error(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column *a,
                               uint32_t row)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_cast_spec spec = *b->cast;
	struct dtx_cast_count count = { 0 };
	struct dtx_column *one = NULL, *made = NULL;
	uint16_t sel = (uint16_t)row;

	spec.on_error = DTX_CAST_ERROR;
	DTX_TRY(dtx_column_gather(a, &sel, 1, &one, ev->err));
	rc = dtx_cast_column(one, &spec, &made, &count, ev->err);
	if (rc != DTX_OK && rc != DTX_E_NO_MEMORY) {
		if (ev->err)
			ev->err->row = ev->err->count = -1;
		rc = dtx_ev_row(ev, rc, b, NULL, row);
	}
out:
	dtx_column_unref(one);
	dtx_column_unref(made);
	return rc;
}

static enum dtx_code check_rows(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column *a,
                                const struct dtx_column *made)
{
	enum dtx_code rc = DTX_OK;

	DTX_ROWS(ev, i, {
		if (dtx_column_is_null(made, i) && !dtx_column_is_null(a, i))
			DTX_TRY(row_error(ev, b, a, i));
	});
out:
	return rc;
}

/* The conversion counts texts with an offset in all rows; this counts again in the rows that
 * count. */
static void count_offsets(struct dtx_ev *ev, const struct dtx_column *a)
{
	struct dtx_buf scratch = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	DTX_ROWS(ev, i, {
		if (dtx_column_is_null(a, i))
			continue;
		dtx_buf_reset(&scratch);
		dtx_cast_print(a, i, &scratch);
		ev->counts->offsets += dtx_cast_text_zoned(dtx_buf_str(&scratch));
	});
	dtx_buf_clear(&scratch);
}

enum dtx_code dtx_ev_cast(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_cast_spec spec = *b->cast;
	struct dtx_cast_count count = { 0 };
	struct dtx_column *a = NULL, *made = NULL;

	/* Takes the cells themselves: dates of a workbook stay dates, while texts are read by the
	 * format. */
	if (spec.format && b->arg[0]->kind == DTX_BD_SOURCE)
		a = dtx_column_ref(ev->in->col[b->arg[0]->column]);
	else
		DTX_TRY(dtx_ev_node(ev, b->arg[0], &a));
	if (a->type.type == DTX_T_NULL || (a->form == DTX_F_CONST && a->nulls)) {
		DTX_TRY(dtx_column_nulls(b->type, ev->nrows, out, ev->err));
		goto out;
	}
	spec.on_error = DTX_CAST_NULL;
	if (b->type.type == DTX_T_TEXT)
		DTX_TRY(dtx_cast_to_text(a, &made, ev->err));
	else
		DTX_TRY(dtx_cast_column(a, &spec, &made, &count, ev->err));
	if (count.failed)
		DTX_TRY(check_rows(ev, b, a, made));
	if (count.offsets)
		count_offsets(ev, a);
	*out = made;
	made = NULL;
out:
	dtx_column_unref(a);
	dtx_column_unref(made);
	return rc;
}
