/* Window frames: {"rows": [-6, 0]} or {"range": ["-7d", "0d"]}; null is an open end. */
#include "core/base/param/param_impl.h"

#include <math.h>
#include <stdlib.h>

#define FRAME_MAX ((int64_t)UINT32_MAX)

static enum dtx_code frame_wrong(const struct dtx_param_in *in, enum dtx_code code,
                                 const char *what, struct dtx_err *err)
{
	struct dtx_err f = DTX_ERR_INIT;

	DTX_PARAM_FIND(code, "'%s' %s", in->p->name, what);
	dtx_err_hint(&f, "as in {\"rows\": [-6, 0]}, from six rows before to this one, or in "
	                 "{\"range\": [\"-7d\", \"0d\"]}, the seven days up to this time; null is "
	                 "an open end");
	return dtx_param_found(in->ctx, &f, in->pointer, err);
}

static bool edge_rows(const json_t *v, struct dtx_winedge *e)
{
	e->open = json_is_null(v);
	e->rows = json_integer_value(v);
	return e->open || (json_is_integer(v) && llabs(e->rows) <= FRAME_MAX);
}

/* Any text is accepted here: durations are parsed later, where units of time are known. */
static bool edge_range(const json_t *v, struct dtx_winedge *e)
{
	e->open = json_is_null(v);
	e->units = json_number_value(v);
	e->span = json_string_value(v);
	return e->open || e->span || (json_is_number(v) && fabs(e->units) < 0x1p53);
}

static enum dtx_code frame_rows(const struct dtx_param_in *in, const json_t *ends,
                                struct dtx_err *err)
{
	struct dtx_row_frame f = { .set = true };

	if (!edge_rows(json_array_get(ends, 0), &f.from) ||
	    !edge_rows(json_array_get(ends, 1), &f.to))
		return frame_wrong(in, DTX_E_BAD_PARAM_TYPE, "wants two whole numbers or nulls",
		                   err);
	if (!f.from.open && !f.to.open && f.from.rows > f.to.rows)
		return frame_wrong(in, DTX_E_BAD_PARAM_VALUE, "ends before it begins", err);
	memcpy(in->to, &f, sizeof(f));
	return DTX_OK;
}

static enum dtx_code frame_range(const struct dtx_param_in *in, const json_t *ends,
                                 struct dtx_err *err)
{
	struct dtx_row_frame f = { .set = true, .range = true };
	bool plain;

	if (!edge_range(json_array_get(ends, 0), &f.from) ||
	    !edge_range(json_array_get(ends, 1), &f.to))
		return frame_wrong(in, DTX_E_BAD_PARAM_TYPE,
		                   "wants two durations, two numbers or nulls", err);
	plain = !f.from.open && !f.to.open;
	if (plain && !f.from.span != !f.to.span)
		return frame_wrong(in, DTX_E_BAD_PARAM_TYPE,
		                   "wants two durations or two numbers, not one of each", err);
	if (plain && !f.from.span && f.from.units >= f.to.units)
		return frame_wrong(in, DTX_E_BAD_PARAM_VALUE,
		                   "by range holds nothing: it begins after its end", err);
	memcpy(in->to, &f, sizeof(f));
	return DTX_OK;
}

enum dtx_code dtx_param_frame(const struct dtx_param_in *in, struct dtx_err *err)
{
	const json_t *rows = json_object_get(in->v, "rows");
	const json_t *range = json_object_get(in->v, "range");
	bool by_rows = rows && !json_is_null(rows), by_range = range && !json_is_null(range);
	size_t known = (rows ? 1u : 0u) + (range ? 1u : 0u);

	if (by_rows == by_range || json_object_size(in->v) != known ||
	    json_array_size(by_rows ? rows : range) != 2)
		return frame_wrong(in, DTX_E_BAD_PARAM_TYPE,
		                   "wants {\"rows\": [from, to]} or {\"range\": [from, to]}", err);
	return by_rows ? frame_rows(in, rows, err) : frame_range(in, range, err);
}

static json_t *edge_json(const struct dtx_row_frame *f, const struct dtx_winedge *e)
{
	if (e->open)
		return json_null();
	if (!f->range)
		return json_integer(e->rows);
	return e->span ? json_string(e->span) : json_real(e->units);
}

json_t *dtx_param_frame_json(const struct dtx_row_frame *f)
{
	return json_pack("{s:[o,o]}", f->range ? "range" : "rows", edge_json(f, &f->from),
	                 edge_json(f, &f->to));
}

/* An array of two ends of the given types.  Strict schemas have no keyword for the number of
 * items. */
static json_t *ends_schema(bool strict, json_t *types)
{
	json_t *item = types ? json_pack("{s:o}", "type", types) : NULL;

	if (strict)
		return json_pack("{s:[s,s],s:o}", "type", "array", "null", "items", item);
	return json_pack("{s:[s,s],s:i,s:i,s:o}", "type", "array", "null", "minItems", 2,
	                 "maxItems", 2, "items", item);
}

json_t *dtx_param_frame_schema(bool strict)
{
	json_t *rows = ends_schema(strict, json_pack("[s,s]", "integer", "null"));
	json_t *range = ends_schema(strict, json_pack("[s,s,s]", "string", "number", "null"));
	json_t *s = json_pack("{s:s,s:{s:o,s:o},s:b}", "type", "object", "properties", "rows", rows,
	                      "range", range, "additionalProperties", 0);

	if (s && strict && !dtx_json_set(s, "required", json_pack("[s,s]", "rows", "range"))) {
		json_decref(s);
		return NULL;
	}
	return s;
}
