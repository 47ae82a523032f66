/* Column lineage through a snippet. It is "declared" if the FORMULAS of the snippet state it,
 * otherwise "static": the columns that its code reads. */
#include "cli/why/why_snippet.h"

#include <string.h>

#include "cli/out.h"
#include "core/expr/expr.h"

static const json_t *why_lineage(const json_t *record, uint32_t output, const char *column)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(record, "lineage"), i, row)
	{
		if (dtx_json_int(row, "output", 0) == (int64_t)output &&
		    !strcmp(dtx_json_text(row, "type", ""), "DIRECT") &&
		    !strcmp(dtx_json_text(row, "out_col", ""), column))
			return row;
	}
	return NULL;
}

static void why_name(void *arg, const char *name)
{
	json_object_set_new(arg, name, json_true());
}

/* The columns that the answer depends on: those of the formula in terms of the snippet's columns,
 * or the column itself. */
static json_t *why_leaves(const char *composed, const char *column)
{
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_expr *e = NULL;
	json_t *names = json_object();

	if (names && composed && dtx_expr_parse(&arena, dtx_str_of(composed), &e, &err) == DTX_OK)
		dtx_expr_columns(e, why_name, names);
	else if (names)
		why_name(names, column);
	dtx_err_clear(&err);
	dtx_arena_clear(&arena);
	return names;
}

static json_t *why_reads(const json_t *cell)
{
	const json_t *tables = json_object_get(json_object_get(cell, "needs"), "tables"), *t, *c;
	json_t *list = json_array(), *columns;
	size_t i, k;

	json_array_foreach((json_t *)(uintptr_t)tables, i, t)
	{
		columns = json_array();
		json_array_foreach(json_object_get(t, "cols"), k, c)
			json_array_append(columns, json_array_get(c, 0));
		json_array_append_new(list,
		                      json_pack("{ss so}", "table", dtx_json_text(t, "alias", ""),
		                                "columns", columns));
	}
	return list;
}

static json_t *why_region(const json_t *region, const json_t *leaves)
{
	const json_t *cell = json_object_get(region, "cell");
	const json_t *formulas = json_object_get(cell, "formulas");
	json_t *declared = json_object(), *columns = json_array(), *value;
	const char *name;
	bool all = true;

	json_object_foreach((json_t *)(uintptr_t)leaves, name, value)
	{
		const char *formula = dtx_json_text(formulas, name, NULL);

		json_array_append_new(columns, json_string(name));
		if (formula)
			json_object_set_new(declared, name, json_string(formula));
		all &= formula != NULL;
	}
	return json_pack("{ss? ss? so so so ss}", "cell_id", dtx_json_text(region, "cell_id", NULL),
	                 "op", dtx_json_text(region, "op", NULL), "columns", columns, "formulas",
	                 declared, "reads", why_reads(cell), "class", all ? "declared" : "static");
}

json_t *dtx_why_snippet(const json_t *record, uint32_t output, const char *column)
{
	const json_t *row = why_lineage(record, output, column), *region;
	const char *composed = dtx_json_text(row, "composed", NULL);
	json_t *leaves = why_leaves(composed, column), *list = json_array();
	const char *cls = "declared";
	json_t *report;
	size_t i;

	json_array_foreach(json_object_get(record, "regions"), i, region)
	{
		json_array_append_new(list, why_region(region, leaves));
		if (strcmp(dtx_json_text(json_array_get(list, i), "class", "static"), cls) != 0)
			cls = "static";
	}
	report = json_pack("{ss ss ss? ss? ss sO}", "column", column, "run",
	                   dtx_json_text(json_object_get(record, "run"), "run_id", ""), "formula",
	                   dtx_json_text(row, "formula", NULL), "composed", composed, "class", cls,
	                   "snippets", list);
	json_decref(leaves);
	json_decref(list);
	return report;
}

/* --- for people --- */

static void why_print_region(const json_t *s, struct dtx_buf *out)
{
	const json_t *formulas = json_object_get(s, "formulas"), *t, *value;
	const char *cls = dtx_json_text(s, "class", ""), *name;
	size_t i;

	dtx_buf_printf(out, "%-12s%.8s stands for %s\n", "snippet",
	               dtx_json_text(s, "cell_id", "none"), dtx_json_text(s, "op", "its steps"));
	json_object_foreach((json_t *)(uintptr_t)formulas, name, value)
	{
		dtx_buf_printf(out, "%-12s", "");
		dtx_out_safe(out, name, false);
		dtx_buf_add(out, " = ");
		dtx_out_safe(out, json_string_value(value), false);
		dtx_buf_add(out, "  [declared]\n");
	}
	json_array_foreach(json_object_get(s, "reads"), i, t)
	{
		dtx_buf_printf(out, "%-12s", i ? "" : "columns");
		dtx_out_safe(out, dtx_json_text(t, "table", ""), false);
		dtx_buf_add(out, ": ");
		dtx_out_names(json_object_get(t, "columns"), out);
		dtx_buf_printf(out, "  [%s]\n", strcmp(cls, "declared") ? cls : "static");
	}
}

void dtx_why_snippet_print(const json_t *report, struct dtx_buf *out)
{
	const char *formula = dtx_json_text(report, "formula", NULL), *composed;
	json_t *s;
	size_t i;

	composed = dtx_json_text(report, "composed", formula);
	if (formula) {
		dtx_buf_printf(out, "%-12s", "formula");
		dtx_out_safe(out, dtx_json_text(report, "column", ""), false);
		dtx_buf_add(out, " = ");
		dtx_out_safe(out, formula, false);
		dtx_buf_add(out, "  [exact after the snippet]\n");
	}
	if (formula && strcmp(formula, composed) != 0) {
		dtx_buf_printf(out, "%-12s= ", "");
		dtx_out_safe(out, composed, false);
		dtx_buf_addc(out, '\n');
	}
	json_array_foreach(json_object_get(report, "snippets"), i, s) why_print_region(s, out);
	dtx_buf_printf(out,
	               "%-12sa snippet is code: only the columns that it read are known, not "
	               "the rows\n",
	               "note");
}
