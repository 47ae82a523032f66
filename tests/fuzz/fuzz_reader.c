/* What a hostile reader process says of a workbook: its schema, its counts, its findings. */
#include "core/io/isolate/isolate.h"

/* What was taken is given again, and taken again. */
static void read_error(const json_t *from)
{
	struct dtx_err err = DTX_ERR_INIT, again = DTX_ERR_INIT;
	json_t *back = NULL;

	if (dtx_isolate_err_read(from, &err)) {
		back = dtx_isolate_err_json(&err);
		if (back && !dtx_isolate_err_read(back, &again))
			__builtin_trap();
	}
	json_decref(back);
	dtx_err_clear(&err);
	dtx_err_clear(&again);
}

static void read_counts(const json_t *from)
{
	struct dtx_read_stats stats = { 0 };

	if (dtx_isolate_stats_read(from, &stats))
		(void)dtx_read_stats_add_up(&stats); /* the sanitizer looks for an overflow */
}

static void read_schema(const json_t *from)
{
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_schema schema;
	json_t *back = NULL;

	if (dtx_isolate_schema_read(from, &arena, &schema, NULL) == DTX_OK) {
		back = dtx_isolate_schema_json(&schema);
		if (back && dtx_isolate_schema_read(back, &arena, &schema, NULL) != DTX_OK)
			__builtin_trap();
	}
	json_decref(back);
	dtx_arena_clear(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct dtx_json_limits limits = { (size_t)1 << 20, 64 };
	const json_t *state;
	json_t *opened = NULL, *one;
	size_t i;

	if (dtx_json_parse((struct dtx_str){ (const char *)data, size }, limits, &opened, NULL) !=
	    DTX_OK)
		return 0;
	state = json_object_get(opened, "state");
	read_schema(json_object_get(opened, "schema"));
	read_counts(json_object_get(state, "stats"));
	json_array_foreach(json_object_get(state, "diags"), i, one) read_error(one);
	json_decref(opened);
	return 0;
}
