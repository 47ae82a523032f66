/* Cells that an operation makes: see cells_new.h. */
#include "ops/kit/cells_new.h"

#include "ops/kit/text/jsonvalue.h"

enum dtx_code dtx_made_value(struct dtx_relayout *m, uint32_t c, const json_t *value,
                             struct dtx_from *out, struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(1 << 20);
	const struct dtx_field *field = &m->ox->out->field[c];
	enum dtx_code rc = DTX_OK;
	struct dtx_column *one = NULL;

	*out = (struct dtx_from){ 0, DTX_FROM_NULL };
	if (!value || json_is_null(value))
		goto out;
	/* A column with rules of its own (decimal comma, date format) gets the value written by
	 * these rules. */
	if (field->decimal_comma || dtx_field_reads_format(field)) {
		DTX_TRY(dtx_json_column(value, field, &one, err));
		dtx_cells_print(one, 0, field, &text);
	} else if (json_is_string(value)) {
		dtx_buf_addn(&text, json_string_value(value), json_string_length(value));
	} else {
		dtx_json_print(value, 0, &text);
	}
	DTX_TRY(dtx_buf_check(&text, "a fill value", err));
	*out = dtx_relayout_text(m, dtx_buf_str(&text));
out:
	dtx_column_unref(one);
	dtx_buf_clear(&text);
	return rc;
}

enum dtx_code dtx_made_cells(struct dtx_relayout *m, uint32_t c, const struct dtx_column *made,
                             struct dtx_from *cell, struct dtx_err *err)
{
	const struct dtx_field *field = &m->ox->out->field[c];
	struct dtx_buf text = DTX_BUF_INIT(1 << 20);
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < made->len; i++) {
		cell[i] = (struct dtx_from){ 0, DTX_FROM_NULL };
		if (dtx_column_is_null(made, i))
			continue;
		dtx_buf_reset(&text);
		dtx_cells_print(made, i, field, &text);
		DTX_TRY(dtx_buf_check(&text, "a value", err));
		cell[i] = dtx_relayout_text(m, dtx_buf_str(&text));
	}
out:
	dtx_buf_clear(&text);
	return rc;
}
