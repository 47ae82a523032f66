/* Writes the steps of the plan in words. */
#include <string.h>

#include "cli/report/html.h"
#include "core/plan/op.h"

/* Writes the formulas of a step: those in `set` and `agg` with their names, `where`, `expr`. */
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

/* Whether the value is the default of this op. */
static bool plan_usual(const json_t *step, const char *key, const json_t *value)
{
	const struct dtx_op *op = dtx_op_find(dtx_json_text(step, "op", ""), NULL);
	json_t *usual = NULL;
	bool same = false;

	for (size_t i = 0; op && i < op->nparams; i++) {
		if (strcmp(op->params[i].name, key) != 0 || !op->params[i].def)
			continue;
		usual = json_loads(op->params[i].def, JSON_DECODE_ANY, NULL);
		same = usual && json_equal(usual, value);
		json_decref(usual);
	}
	return same;
}

/* Writes one item; returns false if it contains more than a name. */
static bool plan_name(const json_t *one, struct dtx_buf *out)
{
	const char *from = dtx_json_text(one, "from", NULL), *name = json_string_value(one);
	const char *left = dtx_json_text(one, "left", NULL);

	if (dtx_json_bool(one, "all", false)) {
		dtx_buf_add(out, "all columns");
		return true;
	}
	if (left && json_object_size(one) == 2 && dtx_json_text(one, "right", NULL)) {
		dtx_buf_printf(out, "%s = %s", left, dtx_json_text(one, "right", ""));
		return true;
	}
	if (from) {
		dtx_buf_printf(out, "%s to %s", from, dtx_json_text(one, "to", ""));
		return true;
	}
	if (!name)
		name = dtx_json_text(one, "col", dtx_json_text(one, "as", NULL));
	if (!name || json_object_get(one, "expr") ||
	    strcmp(dtx_json_text(one, "nulls", "last"), "last") != 0 ||
	    strcmp(dtx_json_text(one, "collate", "binary"), "binary") != 0)
		return false;
	dtx_buf_printf(out, "%s%s", name, dtx_json_bool(one, "desc", false) ? " descending" : "");
	return true;
}

/* Writes "a, b", "a, b descending", "a to b" or "a = b". Returns false if the list contains more
 * than that. */
static bool plan_names(const json_t *list, struct dtx_buf *out)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)list, i, one)
	{
		dtx_buf_add(out, i ? ", " : "");
		if (!plan_name(one, out))
			return false;
	}
	return i > 0;
}

static void plan_value(const json_t *value, struct dtx_buf *out)
{
	if (json_is_string(value)) {
		dtx_buf_add(out, json_string_value(value));
		return;
	}
	if (json_is_array(value) && plan_names(value, out))
		return;
	dtx_buf_reset(out);
	dtx_json_canonical(value, out);
}

/* Writes the other members of the step: in words if these say everything, otherwise as in the
 * plan. */
static void plan_rest(const json_t *step, struct dtx_buf *out)
{
	static const char *const apart = "op,set,agg,where,expr,in,out,fallback,expect";
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *key, *sep = "";
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)step, key, value)
	{
		if (dtx_str_in_list(apart, key) || plan_usual(step, key, value))
			continue;
		dtx_buf_reset(&text);
		plan_value(value, &text);
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
	static const char *const head[] = { "step", "operation", "formulas", "parameters", "rows" };
	const json_t *plan = json_object_get(json_object_get(record, "run"), "plan"), *step, *seen;
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
		dtx_buf_add(out, "</td>");
		seen = dtx_html_seen(record, i);
		if (json_is_integer(json_object_get(seen, "rows_out")))
			dtx_html_number(out, "td", dtx_json_int(seen, "rows_out", 0));
		else
			dtx_html_cell(out, NULL);
		dtx_buf_add(out, "</tr>\n");
	}
	dtx_html_end(out);
}

/* The hosts of a stage's fragments, each once. */
static void engine_hosts(const json_t *fragments, struct dtx_buf *out)
{
	json_t *hosts = json_object(), *f;
	const char *host, *sep = "";
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)fragments, i, f)(void)
		json_object_set_new(hosts, dtx_json_text(f, "host", "?"), json_true());
	dtx_buf_add(out, "<td>");
	json_object_foreach(hosts, host, f)
	{
		dtx_buf_add(out, sep);
		dtx_html_text(out, host);
		sep = ", ";
	}
	dtx_buf_add(out, "</td>");
	json_decref(hosts);
}

void dtx_html_engine(const json_t *record, struct dtx_buf *out)
{
	static const char *const head[] = { "stage",
		                            "makes",
		                            "fragments",
		                            "rows",
		                            "attempts",
		                            "borders repaired",
		                            "files made again",
		                            "kept",
		                            "hosts" };
	static const char *const counted[] = { "rows", "attempts", "repaired", "remade", "kept" };
	const json_t *engine = json_object_get(json_object_get(record, "run"), "engine");
	json_t *stage, *f;
	size_t i, k;

	dtx_buf_add(out, "<p>Done with ");
	dtx_html_text(out, dtx_json_text(engine, "address", ""));
	dtx_buf_add(out, dtx_json_bool(engine, "whole", false)
	                         ? ", and then again by one process.</p>\n"
	                         : ".</p>\n");
	dtx_html_table(out, NULL, head, DTX_COUNT(head));
	json_array_foreach(json_object_get(engine, "stages"), i, stage)
	{
		const json_t *fragments = json_object_get(stage, "fragments");
		int64_t sum[DTX_COUNT(counted)] = { 0 };

		json_array_foreach((json_t *)(uintptr_t)fragments, k,
		                   f) for (size_t c = 0; c < DTX_COUNT(counted); c++) sum[c] +=
			dtx_json_int(f, counted[c], 0) + dtx_json_bool(f, counted[c], false);
		dtx_buf_printf(out, "<tr><td class=\"n\">%zu</td>", i + 1);
		dtx_html_cell(out, dtx_json_text(stage, "makes", ""));
		dtx_html_number(out, "td", dtx_json_int(stage, "parts", 0));
		for (size_t c = 0; c < DTX_COUNT(counted); c++)
			dtx_html_number(out, "td", sum[c]);
		engine_hosts(fragments, out);
		dtx_buf_add(out, "</tr>\n");
	}
	dtx_html_end(out);
}
