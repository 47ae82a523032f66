/* The steps of the plan, each in words. */
#include <string.h>

#include "cli/html.h"

/* Formulas of a step: of `set` and `agg` with their names, `where`, `expr`. */
static void plan_formulas(const json_t *step, struct dtx_buf *out)
{
	static const char *const lists[] = { "set", "agg" }, *const texts[] = { "where", "expr" };
	const char *sep = "";
	json_t *one;
	size_t k, i;

	for (k = 0; k < DTX_COUNT(lists); k++) {
		json_array_foreach(json_object_get(step, lists[k]), i, one)
		{
			if (!dtx_json_text(one, "expr", NULL))
				continue;
			dtx_buf_add(out, sep);
			dtx_buf_add(out, "<code>");
			dtx_html_text(out, dtx_json_text(one, "as", ""));
			dtx_buf_add(out, " = ");
			dtx_html_text(out, dtx_json_text(one, "expr", ""));
			dtx_buf_add(out, "</code>");
			sep = "<br>";
		}
	}
	for (k = 0; k < DTX_COUNT(texts); k++) {
		if (!dtx_json_text(step, texts[k], NULL))
			continue;
		dtx_buf_add(out, sep);
		dtx_buf_add(out, "<code>");
		dtx_html_text(out, dtx_json_text(step, texts[k], ""));
		dtx_buf_add(out, "</code>");
		sep = "<br>";
	}
}

/* What else the step says, as in the plan. */
static void plan_rest(const json_t *step, struct dtx_buf *out)
{
	static const char *const apart = "op,set,agg,where,expr,in,out,fallback,expect";
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *key, *sep = "";
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)step, key, value)
	{
		if (dtx_str_in_list(apart, key))
			continue;
		dtx_buf_reset(&text);
		dtx_json_canonical(value, &text);
		dtx_buf_add(out, sep);
		dtx_html_text(out, key);
		dtx_buf_add(out, " <code>");
		dtx_html_text(out, dtx_buf_text(&text));
		dtx_buf_add(out, "</code>");
		sep = ", ";
	}
	dtx_buf_clear(&text);
}

void dtx_html_steps(const json_t *record, struct dtx_buf *out)
{
	static const char *const head[] = { "step", "operation", "formulas", "parameters" };
	const json_t *plan = json_object_get(json_object_get(record, "run"), "plan"), *step;
	const json_t *steps = json_object_get(json_object_get(plan, "plan"), "steps");
	size_t i;

	if (!json_array_size(steps)) {
		dtx_buf_add(out, "<p>The input is written as it is: the plan has no step.</p>\n");
		return;
	}
	dtx_html_table(out, NULL, head, DTX_COUNT(head));
	json_array_foreach((json_t *)(uintptr_t)steps, i, step)
	{
		dtx_buf_printf(out, "<tr><td class=\"n\">%zu</td>", i + 1);
		dtx_html_cell(out, dtx_json_text(step, "op", ""));
		dtx_buf_add(out, "<td>");
		plan_formulas(step, out);
		dtx_buf_add(out, "</td><td>");
		plan_rest(step, out);
		dtx_buf_add(out, "</td></tr>\n");
	}
	dtx_html_end(out);
}
