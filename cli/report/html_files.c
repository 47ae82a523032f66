/* Maps inputs and steps of the record to those of the plan. In the record, an input of several
 * files is one input per file, and an additional first step combines them. */
#include <string.h>

#include "cli/report/html.h"

int64_t dtx_html_written(const json_t *record, size_t step)
{
	const json_t *one = json_array_get(json_object_get(record, "steps"), step);
	const json_t *number = json_object_get(json_object_get(one, "detail"), "written");

	if (!number)
		return (int64_t)step;
	return json_is_integer(number) ? json_integer_value(number) : -1;
}

/* Several recorded steps may come from one of the plan; the last one has its result. */
const json_t *dtx_html_seen(const json_t *record, size_t i)
{
	const json_t *steps = json_object_get(record, "steps");

	for (size_t k = json_array_size(steps); k-- > 0;) {
		if (dtx_html_written(record, k) == (int64_t)i)
			return json_array_get(steps, k);
	}
	return NULL;
}

/* Returns "main" for "main__12"; empty if the alias has another form. */
static struct dtx_str files_name(const char *alias)
{
	size_t len = strlen(alias), digits = 0;

	while (digits < len && strchr("0123456789", alias[len - digits - 1]))
		digits++;
	if (!digits || len < digits + 3 || strncmp(alias + len - digits - 2, "__", 2) != 0)
		return (struct dtx_str){ "", 0 };
	return (struct dtx_str){ alias, len - digits - 2 };
}

static bool files_planned(const json_t *record, struct dtx_str name)
{
	const json_t *plan = json_object_get(json_object_get(record, "run"), "plan");
	const json_t *inputs = json_object_get(json_object_get(plan, "plan"), "inputs");
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)inputs, i, one)
	{
		if (dtx_str_is(name, dtx_json_text(one, "name", "")))
			return true;
	}
	return !json_array_size(inputs) && dtx_str_is(name, "main");
}

struct dtx_str dtx_html_input(const json_t *record, const char *alias, size_t *files)
{
	struct dtx_str name = files_name(alias);
	json_t *one;
	size_t i;

	if (files)
		*files = 1;
	if (!name.len || files_planned(record, dtx_str_of(alias)) || !files_planned(record, name))
		return dtx_str_of(alias);
	if (!files)
		return name;
	*files = 0;
	json_array_foreach(json_object_get(record, "inputs"), i, one)
	{
		struct dtx_str other = files_name(dtx_json_text(one, "alias", ""));

		*files += other.len == name.len && !memcmp(other.ptr, name.ptr, name.len);
	}
	return name;
}
