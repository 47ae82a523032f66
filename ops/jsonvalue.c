/* Scalars of a plan as values of columns. */
#include "ops/jsonvalue.h"

#include "core/data/builder.h"
#include "core/data/cast.h"
#include "core/data/decimal.h"

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

bool dtx_json_fits(const json_t *fill, enum dtx_type type)
{
	switch (type) {
	case DTX_T_INT64:
		return json_is_integer(fill);
	case DTX_T_FLOAT64:
	case DTX_T_DECIMAL:
		return json_is_number(fill);
	case DTX_T_BOOL:
		return json_is_boolean(fill);
	case DTX_T_UNKNOWN:
	case DTX_T_NULL:
		return true;
	default:
		return json_is_string(fill);
	}
}

enum dtx_code dtx_json_column(const json_t *fill, const struct dtx_field *field,
			       struct dtx_column **out, struct dtx_err *err)
{
	struct dtx_builder b;
	struct dtx_dec128 dec;
	struct dtx_buf text = DTX_BUF_INIT(1 << 20);
	enum dtx_code rc = DTX_OK;
	int32_t day;
	int64_t us;
	bool ok = true;

	*out = NULL;
	if (!fill)
		return DTX_OK;
	dtx_builder_init(&b, field->type, 1);
	if (json_is_number(fill))
		dtx_json_print(fill, 0, &text);
	else if (json_is_string(fill))
		dtx_buf_addn(&text, json_string_value(fill), json_string_length(fill));
	switch (field->type.type) {
	case DTX_T_INT64:
		dtx_builder_i64(&b, json_integer_value(fill));
		break;
	case DTX_T_FLOAT64:
		dtx_builder_f64(&b, json_number_value(fill));
		break;
	case DTX_T_BOOL:
		dtx_builder_bool(&b, json_is_true(fill));
		break;
	case DTX_T_DECIMAL:
		ok = dtx_dec_parse(dtx_str_of(dtx_buf_text(&text)), field->type, &dec);
		if (ok)
			dtx_builder_dec(&b, dec);
		break;
	case DTX_T_DATE:
		ok = dtx_cast_text_date(dtx_str_of(dtx_buf_text(&text)), &day);
		if (ok)
			dtx_builder_day(&b, day);
		break;
	case DTX_T_DATETIME:
		ok = dtx_cast_text_datetime(dtx_str_of(dtx_buf_text(&text)), &us);
		if (ok)
			dtx_builder_i64(&b, us);
		break;
	case DTX_T_TEXT:
		dtx_builder_text(&b, (struct dtx_str){ dtx_buf_text(&text), text.len });
		break;
	default:
		dtx_builder_null(&b);
	}
	if (!ok)
		rc = dtx_err_set(err, DTX_E_TYPE_MISMATCH, __FILE__, __LINE__,
				 "value '%.80s' is no %s", dtx_buf_text(&text),
				 dtx_type_name(field->type.type));
	if (rc == DTX_OK)
		rc = dtx_builder_finish(&b, NULL, out, err);
	dtx_builder_clear(&b);
	dtx_buf_clear(&text);
	return rc;
}
