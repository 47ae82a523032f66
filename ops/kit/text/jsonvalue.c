/* Scalars of a plan as values of columns. */
#include "ops/kit/text/jsonvalue.h"

#include "core/data/builder.h"
#include "core/data/cast/cast.h"

enum dtx_type dtx_json_type(const json_t *v)
{
	if (!v)
		return DTX_T_NULL;
	if (json_is_integer(v))
		return DTX_T_INT64;
	if (json_is_real(v))
		return DTX_T_FLOAT64;
	return json_is_boolean(v) ? DTX_T_BOOL : DTX_T_TEXT;
}

bool dtx_json_fits(const json_t *value, enum dtx_type type)
{
	struct dtx_str text = { json_string_value(value), json_string_length(value) };
	int32_t day;
	int64_t us;

	switch (type) {
	case DTX_T_INT64: return json_is_integer(value);
	case DTX_T_FLOAT64:
	case DTX_T_DECIMAL: return json_is_number(value);
	case DTX_T_BOOL: return json_is_boolean(value);
	case DTX_T_DATE: return json_is_string(value) && dtx_cast_text_date(text, &day);
	case DTX_T_DATETIME: return json_is_string(value) && dtx_cast_text_datetime(text, &us);
	case DTX_T_UNKNOWN:
	case DTX_T_NULL: return true;
	default: return json_is_string(value);
	}
}

/* The text of the value as a column with one row. */
static enum dtx_code text_column(const json_t *value, struct dtx_column **out, struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(1 << 20);
	struct dtx_builder b;
	enum dtx_code rc = DTX_OK;

	if (json_is_string(value))
		dtx_buf_addn(&text, json_string_value(value), json_string_length(value));
	else
		dtx_json_print(value, 0, &text);
	DTX_TRY(dtx_buf_check(&text, "value", err));
	dtx_builder_init(&b, (struct dtx_typeref){ DTX_T_TEXT, 0, 0 }, 1);
	dtx_builder_text(&b, dtx_buf_str(&text));
	DTX_TRY(dtx_builder_finish(&b, NULL, out, err));
out:
	dtx_buf_clear(&text);
	return rc;
}

enum dtx_code dtx_json_column(const json_t *value, const struct dtx_field *field,
                              struct dtx_column **out, struct dtx_err *err)
{
	struct dtx_cast_spec spec = { .to = field->type, .on_error = DTX_CAST_NULL };
	struct dtx_cast_count count = { 0 };
	struct dtx_column *text = NULL;
	enum dtx_code rc = DTX_OK;

	*out = NULL;
	if (!value)
		return DTX_OK;
	if (field->type.type == DTX_T_NULL || field->type.type == DTX_T_UNKNOWN)
		return dtx_column_nulls(field->type, 1, out, err);
	DTX_TRY(text_column(value, &text, err));
	DTX_TRY(dtx_cast_column(text, &spec, out, &count, err));
	if (count.failed) {
		dtx_column_unref(*out);
		*out = NULL;
		DTX_FAIL(err, DTX_E_TYPE_MISMATCH, "a value of the plan is not of type %s",
		         dtx_type_name(field->type.type));
	}
out:
	dtx_column_unref(text);
	return rc;
}
