/* Compares two recorded runs, see rundiff.h. */
#include "cli/compare/rundiff.h"

#include <stdio.h>
#include <string.h>

#include "cli/compare/compare.h"
#include "cli/out.h"
#include "cli/compare/rowdiff.h"
#include "core/base/hash/identity.h"

struct rundiff {
	const json_t *a, *b;
	json_t *list;
};

static void diff_add(struct rundiff *d, const char *part, json_t *what, json_t *a, json_t *b)
{
	json_array_append_new(
		d->list, json_pack("{ss so so? so?}", "part", part, "what", what, "a", a, "b", b));
}

static json_t *diff_text(const json_t *object, const char *key)
{
	const char *text = dtx_json_text(object, key, NULL);

	return text ? json_string(text) : json_null();
}

/* --- plan --- */

static const json_t *diff_steps(const json_t *record)
{
	const json_t *plan = json_object_get(json_object_get(record, "run"), "plan");

	return json_object_get(json_object_get(plan, "plan"), "steps");
}

static json_t *diff_step_text(const json_t *step)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *value;

	if (!step)
		return json_null();
	dtx_json_canonical(step, &text);
	value = json_string(dtx_buf_text(&text));
	dtx_buf_clear(&text);
	return value;
}

/* The steps between the common start and the common end of both plans. */
static void diff_plan(struct rundiff *d)
{
	const json_t *a = diff_steps(d->a), *b = diff_steps(d->b);
	size_t na = json_array_size(a), nb = json_array_size(b), head = 0, tail = 0, i;

	if (!strcmp(dtx_json_text(json_object_get(d->a, "run"), "plan_hash", ""),
	            dtx_json_text(json_object_get(d->b, "run"), "plan_hash", "")))
		return;
	while (head < na && head < nb &&
	       json_equal(json_array_get(a, head), json_array_get(b, head)))
		head++;
	while (tail < na - head && tail < nb - head &&
	       json_equal(json_array_get(a, na - 1 - tail), json_array_get(b, nb - 1 - tail)))
		tail++;
	for (i = head; i < DTX_MAX(na, nb) - tail; i++) {
		if (na == nb && json_equal(json_array_get(a, i), json_array_get(b, i)))
			continue;
		diff_add(d, "plan", json_sprintf("step %zu", i + 1),
		         diff_step_text(i < na - tail ? json_array_get(a, i) : NULL),
		         diff_step_text(i < nb - tail ? json_array_get(b, i) : NULL));
	}
	if (head == na && na == nb)
		diff_add(d, "plan", json_string("inputs, output or options"),
		         diff_text(json_object_get(d->a, "run"), "plan_hash"),
		         diff_text(json_object_get(d->b, "run"), "plan_hash"));
}

/* --- inputs, code --- */

static json_t *diff_file(const json_t *item)
{
	const char *sha;

	if (!item)
		return json_null();
	sha = dtx_json_text(item, "sha", "");
	return json_sprintf("%s, %lld row%s, %s %.8s", dtx_json_text(item, "label", ""),
	                    (long long)dtx_json_int(item, "rows", 0),
	                    dtx_json_int(item, "rows", 0) == 1 ? "" : "s", dtx_identity_word(sha),
	                    dtx_identity_digits(sha));
}

/* Whether both runs read the same bytes. Identities of different kinds cannot be compared; then
 * it must be the same file, unchanged since both runs. */
static bool diff_same_bytes(const json_t *x, const json_t *y)
{
	const char *a = dtx_json_text(x, "sha", ""), *b = dtx_json_text(y, "sha", "");

	if (dtx_identity_kind(a) == dtx_identity_kind(b))
		return !strcmp(a, b);
	return !strcmp(dtx_json_text(x, "uri", "-"), dtx_json_text(y, "uri", "")) &&
	       !strcmp(dtx_json_text(x, "file", ""), "unchanged") &&
	       !strcmp(dtx_json_text(y, "file", ""), "unchanged");
}

static void diff_inputs(struct rundiff *d)
{
	const json_t *a = json_object_get(d->a, "inputs"), *b = json_object_get(d->b, "inputs"), *x;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)a, i, x)
	{
		const char *alias = dtx_json_text(x, "alias", "");
		const json_t *y = dtx_json_find(b, "alias", alias);

		if (!y || !diff_same_bytes(x, y))
			diff_add(d, "inputs", json_string(alias), diff_file(x), diff_file(y));
	}
	json_array_foreach((json_t *)(uintptr_t)b, i, x)
	{
		const char *alias = dtx_json_text(x, "alias", "");

		if (!dtx_json_find(a, "alias", alias))
			diff_add(d, "inputs", json_string(alias), json_null(), diff_file(x));
	}
}

static json_t *diff_code_text(const json_t *region)
{
	const json_t *cell = json_object_get(region, "cell");

	if (!region)
		return json_string("typed");
	return json_sprintf("snippet %.8s, code %.8s", dtx_json_text(region, "cell_id", "none"),
	                    dtx_json_text(cell, "code_hash", "none"));
}

static void diff_code(struct rundiff *d)
{
	const json_t *a = json_object_get(d->a, "regions"), *b = json_object_get(d->b, "regions"),
		     *x;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)a, i, x)
	{
		const char *at = dtx_json_text(x, "pointer", "");
		const json_t *y = dtx_json_find(b, "pointer", at);

		if (!y || strcmp(dtx_json_text(json_object_get(x, "cell"), "code_hash", ""),
		                 dtx_json_text(json_object_get(y, "cell"), "code_hash", "")) != 0)
			diff_add(d, "code", json_string(at), diff_code_text(x), diff_code_text(y));
	}
	json_array_foreach((json_t *)(uintptr_t)b, i, x)
	{
		const char *at = dtx_json_text(x, "pointer", "");

		if (!dtx_json_find(a, "pointer", at))
			diff_add(d, "code", json_string(at), diff_code_text(NULL),
			         diff_code_text(x));
	}
}

/* --- results --- */

static void diff_fields(struct rundiff *d, const char *table, const json_t *a, const json_t *b)
{
	const json_t *x;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)a, i, x)
	{
		const char *name = dtx_json_text(x, "name", "");
		const json_t *y = dtx_json_find(b, "name", name);

		if (!y || strcmp(dtx_json_text(x, "type", ""), dtx_json_text(y, "type", "")) != 0)
			diff_add(d, "schema", json_sprintf("%s, column %s", table, name),
			         diff_text(x, "type"), diff_text(y, "type"));
	}
	json_array_foreach((json_t *)(uintptr_t)b, i, x)
	{
		const char *name = dtx_json_text(x, "name", "");

		if (!dtx_json_find(a, "name", name))
			diff_add(d, "schema", json_sprintf("%s, column %s", table, name),
			         json_null(), diff_text(x, "type"));
	}
}

static void diff_schemas(struct rundiff *d)
{
	static const char *const lists[][2] = { { "inputs", "input" }, { "outputs", "output" } };

	for (size_t k = 0; k < DTX_COUNT(lists); k++) {
		const json_t *a = json_object_get(d->a, lists[k][0]);
		const json_t *b = json_object_get(d->b, lists[k][0]);

		for (size_t i = 0; i < DTX_MIN(json_array_size(a), json_array_size(b)); i++) {
			char table[40];

			snprintf(table, sizeof(table), "%s %zu", lists[k][1], i + 1);
			diff_fields(d, table, json_object_get(json_array_get(a, i), "schema"),
			            json_object_get(json_array_get(b, i), "schema"));
		}
	}
}

static void diff_number(struct rundiff *d, json_t *what, const json_t *a, const json_t *b,
                        const char *key)
{
	int64_t x = dtx_json_int(a, key, -1), y = dtx_json_int(b, key, -1);

	if (x != y)
		diff_add(d, "rows", json_incref(what), json_integer(x), json_integer(y));
	json_decref(what);
}

/* The number of rows after each step, if both have the same steps. */
static void diff_rows(struct rundiff *d)
{
	const json_t *a = json_object_get(d->a, "steps"), *b = json_object_get(d->b, "steps"), *x;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)a, i, x)
	{
		const json_t *y = json_array_get(b, i);

		if (!y || strcmp(dtx_json_text(x, "op", ""), dtx_json_text(y, "op", "")) != 0)
			break;
		diff_number(d, json_sprintf("step %zu, %s", i + 1, dtx_json_text(x, "op", "")), x,
		            y, "rows_out");
	}
	a = json_object_get(d->a, "outputs");
	b = json_object_get(d->b, "outputs");
	for (i = 0; i < DTX_MIN(json_array_size(a), json_array_size(b)); i++)
		diff_number(d, json_sprintf("output %zu", i + 1), json_array_get(a, i),
		            json_array_get(b, i), "rows");
}

static bool diff_same(const json_t *x, const json_t *y, const char *key)
{
	const char *a = dtx_json_text(x, key, NULL), *b = dtx_json_text(y, key, NULL);

	return a && b && !strcmp(a, b);
}

static const char *diff_verdict(const json_t *x, const json_t *y)
{
	if (!x != !y)
		return "different";
	return diff_same(x, y, "sha")          ? "identical"
	       : diff_same(x, y, "table_hash") ? "same-table"
	       : diff_same(x, y, "rows_hash")  ? "same-rows"
	                                       : "different";
}

/* Finds the first cell that differs, if both files are still what the runs wrote. */
static json_t *diff_cell(const json_t *x, const json_t *y)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_compare c;
	json_t *cell = NULL;

	if (strcmp(dtx_json_text(x, "file", ""), "unchanged") != 0 ||
	    strcmp(dtx_json_text(y, "file", ""), "unchanged") != 0)
		return NULL;
	if (dtx_compare_files(dtx_json_text(x, "path", ""), dtx_json_text(y, "path", ""), &c,
	                      &err) == DTX_OK) {
		if (c.how == DTX_COMPARE_SHAPE)
			cell = json_pack("{ss}", "text", c.text);
		else if (c.how != DTX_COMPARE_EQUAL)
			cell = json_pack("{sI ss ss ss}", "row", (json_int_t)c.row, "column",
			                 c.column, "a", c.was, "b", c.is);
	}
	dtx_err_clear(&err);
	return cell;
}

static const char *diff_results(struct rundiff *d, json_t **cell, json_t **rows)
{
	static const char *const order[] = { "identical", "same-table", "same-rows", "different" };
	const json_t *a = json_object_get(d->a, "outputs"), *b = json_object_get(d->b, "outputs");
	size_t worst = 0, n = DTX_MAX(json_array_size(a), json_array_size(b)), i, k;

	if (!diff_same(json_object_get(d->a, "run"), json_object_get(d->b, "run"), "status"))
		diff_add(d, "result", json_string("status"),
		         diff_text(json_object_get(d->a, "run"), "status"),
		         diff_text(json_object_get(d->b, "run"), "status"));
	for (i = 0; i < n; i++) {
		const json_t *x = json_array_get(a, i), *y = json_array_get(b, i);
		const char *verdict = diff_verdict(x, y);

		for (k = 0; strcmp(order[k], verdict) != 0;)
			k++;
		worst = DTX_MAX(worst, k);
		if (k)
			diff_add(d, "result", json_sprintf("output %zu, %s", i + 1, verdict),
			         diff_text(x, "sha"), diff_text(y, "sha"));
		if (k > 1 && !*cell)
			*cell = diff_cell(x, y);
		if (k > 2 && !*rows)
			*rows = dtx_rowdiff(d->a, d->b, i);
	}
	return order[worst];
}

static void diff_environment(struct rundiff *d)
{
	const json_t *a = json_object_get(d->a, "env"), *b = json_object_get(d->b, "env"), *value;
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)a, key, value)
	{
		const json_t *other = json_object_get(b, key);

		if (other && !json_equal(value, other))
			diff_add(d, "environment", json_string(key), diff_text(a, key),
			         diff_text(b, key));
	}
}

json_t *dtx_rundiff(const json_t *a, const json_t *b)
{
	struct rundiff d = { .a = a, .b = b, .list = json_array() };
	json_t *cell = NULL, *rows = NULL;
	const char *verdict;

	if (!d.list)
		return NULL;
	diff_plan(&d);
	diff_inputs(&d);
	diff_code(&d);
	diff_schemas(&d);
	diff_rows(&d);
	verdict = diff_results(&d, &cell, &rows);
	diff_environment(&d);
	return json_pack("{ss ss ss so so* so*}", "a",
	                 dtx_json_text(json_object_get(a, "run"), "run_id", ""), "b",
	                 dtx_json_text(json_object_get(b, "run"), "run_id", ""), "verdict", verdict,
	                 "differences", d.list, "cell", cell, "rows", rows);
}

/* --- as text --- */

static void diff_value(const json_t *value, struct dtx_buf *out)
{
	if (json_is_string(value))
		dtx_out_safe(out, json_string_value(value), false);
	else if (json_is_integer(value))
		dtx_buf_printf(out, "%lld", (long long)json_integer_value(value));
	else
		dtx_buf_addc(out, '-');
}

static void diff_print_cell(const json_t *cell, struct dtx_buf *out)
{
	dtx_buf_printf(out, "%-12s", "first cell");
	if (dtx_json_text(cell, "text", NULL)) {
		dtx_out_safe(out, dtx_json_text(cell, "text", ""), false);
	} else {
		dtx_buf_printf(out, "row %lld, ", (long long)dtx_json_int(cell, "row", 0));
		dtx_out_safe(out, dtx_json_text(cell, "column", ""), false);
		dtx_buf_add(out, ": ");
		dtx_out_safe(out, dtx_json_text(cell, "a", ""), false);
		dtx_buf_add(out, " | ");
		dtx_out_safe(out, dtx_json_text(cell, "b", ""), false);
	}
	dtx_buf_addc(out, '\n');
}

void dtx_rundiff_print(const json_t *diff, struct dtx_buf *out)
{
	const json_t *cell = json_object_get(diff, "cell"), *one;
	const char *last = "", *a = dtx_json_text(diff, "a", ""), *b = dtx_json_text(diff, "b", "");
	size_t i, na = strlen(a), nb = strlen(b);

	dtx_buf_printf(out, "%-12s%s  %s  results: %s\n", "runs", na > 8 ? a + na - 8 : a,
	               nb > 8 ? b + nb - 8 : b, dtx_json_text(diff, "verdict", ""));
	json_array_foreach(json_object_get(diff, "differences"), i, one)
	{
		const char *part = dtx_json_text(one, "part", "");

		dtx_buf_printf(out, "%-12s", strcmp(part, last) ? part : "");
		dtx_out_safe(out, dtx_json_text(one, "what", ""), false);
		dtx_buf_printf(out, "\n%-12s  a  ", "");
		diff_value(json_object_get(one, "a"), out);
		dtx_buf_printf(out, "\n%-12s  b  ", "");
		diff_value(json_object_get(one, "b"), out);
		dtx_buf_addc(out, '\n');
		last = part;
	}
	if (!i)
		dtx_buf_printf(out, "%-12snothing\n", "differs");
	if (cell)
		diff_print_cell(cell, out);
	if (json_object_get(diff, "rows"))
		dtx_rowdiff_print(json_object_get(diff, "rows"), out);
}
