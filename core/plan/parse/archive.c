/* Parses the member `archive` of an input: limits for unpacking, by name. */
#include <stdio.h>

#include "core/plan/plan_internal.h"

static enum dtx_code archive_one(struct dtx_plan_parse *p, const char *name, const json_t *v,
                                 const char *at, struct dtx_archive_limits *out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err why = DTX_ERR_INIT;
	char place[128];

	snprintf(place, sizeof(place), "%s/%.40s", at, name);
	if (json_is_null(v))
		goto out;
	if (!json_is_integer(v) || json_integer_value(v) < 0) {
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_TYPE, place, err,
		                      "a limit is a whole number"));
		goto out;
	}
	if (dtx_archive_limits_set(out, dtx_str_of(name), (uint64_t)json_integer_value(v), &why) !=
	    DTX_OK)
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_VALUE, place, err, "%s", why.msg));
out:
	dtx_err_clear(&why);
	return rc;
}

enum dtx_code dtx_part_archive(struct dtx_plan_parse *p, const json_t *input, const char *at,
                               struct dtx_archive_limits *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *archive = json_object_get(input, "archive"), *v;
	const char *name;
	char place[64];

	*out = dtx_archive_limits_default;
	if (!archive || json_is_null(archive))
		goto out;
	snprintf(place, sizeof(place), "%s/archive", at);
	if (!json_is_object(archive)) {
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_TYPE, place, err,
		                      "'archive' is an object"));
		goto out;
	}
	json_object_foreach(archive, name, v)
	{
		DTX_TRY(archive_one(p, name, v, place, out, err));
	}
out:
	return rc;
}

json_t *dtx_part_archive_schema(void)
{
	json_t *props = json_object();
	size_t i;

	for (i = 0; props && i < dtx_narchive_limits_rows; i++) {
		const struct dtx_archive_limits_row *row = &dtx_archive_limits_rows[i];
		json_t *one = json_pack("{s:[s,s], s:I, s:I, s:s}", "type", "integer", "null",
		                        "minimum", (json_int_t)row->least, "maximum",
		                        (json_int_t)row->most, "description", row->help);

		if (!one || json_object_set_new(props, row->name, one)) {
			json_decref(props);
			return NULL;
		}
	}
	return props;
}
