/* Window frames: {"rows": [-6, 0]}, null for an open end. */
#include "core/base/param_impl.h"

#include <stdlib.h>

#define FRAME_MAX ((int64_t)UINT32_MAX)

static enum dtx_code frame_wrong(const struct dtx_param_in *in, enum dtx_code code,
                                 const char *what, struct dtx_err *err)
{
	struct dtx_err f = DTX_ERR_INIT;

	DTX_PARAM_FIND(code, "'%s' %s", in->p->name, what);
	dtx_err_hint(&f, "as in {\"rows\": [-6, 0]}: from six rows before to this one; null is an "
	                 "open end");
	return dtx_param_found(in->ctx, &f, in->pointer, err);
}

static bool frame_end(const json_t *v, bool *open, int64_t *distance)
{
	*open = json_is_null(v);
	*distance = json_integer_value(v);
	return *open || (json_is_integer(v) && llabs(*distance) <= FRAME_MAX);
}

enum dtx_code dtx_param_frame(const struct dtx_param_in *in, struct dtx_err *err)
{
	const json_t *rows = json_object_get(in->v, "rows");
	struct dtx_row_frame f = { .set = true };

	if (json_object_get(in->v, "range"))
		return frame_wrong(in, DTX_E_UNSUPPORTED_PARAM,
		                   "by range is not built into this version", err);
	if (json_object_size(in->v) != 1 || json_array_size(rows) != 2)
		return frame_wrong(in, DTX_E_BAD_PARAM_TYPE, "wants {\"rows\": [from, to]}", err);
	if (!frame_end(json_array_get(rows, 0), &f.from_open, &f.from) ||
	    !frame_end(json_array_get(rows, 1), &f.to_open, &f.to))
		return frame_wrong(in, DTX_E_BAD_PARAM_TYPE, "wants two whole numbers or nulls",
		                   err);
	if (!f.from_open && !f.to_open && f.from > f.to)
		return frame_wrong(in, DTX_E_BAD_PARAM_VALUE, "ends before it begins", err);
	memcpy(in->to, &f, sizeof(f));
	return DTX_OK;
}

static json_t *end_json(bool open, int64_t distance)
{
	return open ? json_null() : json_integer(distance);
}

json_t *dtx_param_frame_json(const struct dtx_row_frame *f)
{
	return json_pack("{s:[o,o]}", "rows", end_json(f->from_open, f->from),
	                 end_json(f->to_open, f->to));
}

json_t *dtx_param_frame_schema(void)
{
	return json_pack("{s:s,s:{s:{s:s,s:i,s:i,s:{s:[s,s]}}},s:[s],s:b}", "type", "object",
	                 "properties", "rows", "type", "array", "minItems", 2, "maxItems", 2,
	                 "items", "type", "integer", "null", "required", "rows",
	                 "additionalProperties", 0);
}
