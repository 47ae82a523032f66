/* why-not: at which step, and by what, a source row was left out of a result. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lookup.h"
#include "cli/retrace.h"
#include "cli/why_not_text.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/data/cast.h"
#include "core/plan/follow.h"

enum { WHY_NOT_ROWS = 1000 };

struct why_not_args {
	const char *input;
	int64_t row, line;
	struct dtx_optlist key;
	bool no_values, json;
};

static const struct dtx_opt why_not_opts[] = {
	{ .name = "input",
	  .kind = DTX_O_TEXT,
	  .metavar = "NAME",
	  .offset = offsetof(struct why_not_args, input),
	  .help = "the input that has the row, by alias or file (default: the first)" },
	{ .name = "row",
	  .kind = DTX_O_INT,
	  .metavar = "N",
	  .offset = offsetof(struct why_not_args, row),
	  .min = 1,
	  .max = INT64_MAX,
	  .help = "row of the input, counted from 1 below the header" },
	{ .name = "line",
	  .kind = DTX_O_INT,
	  .metavar = "N",
	  .offset = offsetof(struct why_not_args, line),
	  .min = 1,
	  .max = INT64_MAX,
	  .help = "line of the text file, or row of the sheet" },
	{ .name = "key",
	  .kind = DTX_O_LIST,
	  .metavar = "COLUMN=TEXT",
	  .offset = offsetof(struct why_not_args, key),
	  .help = "the one row with this cell; several narrow it down" },
	{ .name = "no-values",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct why_not_args, no_values),
	  .help = "conditions alone" },
	{ .name = "json",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct why_not_args, json),
	  .help = "as JSON" },
};

struct why_not {
	const struct why_not_args *args;
	struct dtx_retrace x;
	uint32_t input;
	int64_t line; /* asked by place; 0: not */
	struct dtx_follow_stages stages;
	struct dtx_follow follow;
	struct dtx_plan *first, *second; /* traced plans */
	bool found;
	uint64_t id; /* of the row, as the reader counts */
	char cell[24];
	uint32_t lost; /* stage that has the row no more; 0: none */
	int64_t number;
	json_t *report;
	struct dtx_buf text;
};

/* --- which row --- */

/* "input.csv!L5", "Q1!B7", "L5": the input when it is named, and the line. */
static enum dtx_code why_not_address(const char *text, struct dtx_buf *input, int64_t *line,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *bang = strrchr(text, '!'), *cell = bang ? bang + 1 : text, *p = cell;
	char *end = NULL;

	while (isalpha((unsigned char)*p))
		p++;
	*line = isdigit((unsigned char)*p) ? strtoll(p, &end, 10) : 0;
	if (p == cell || *line < 1 || *end)
		DTX_FAIL(err, DTX_E_USAGE,
		         "'%s' is no place in an input: try input.csv!L12 or Q1!B7", text);
	if (bang)
		dtx_buf_adds(input, (struct dtx_str){ text, (size_t)(bang - text) });
	DTX_TRY(dtx_buf_check(input, "place", err));
out:
	return rc;
}

/* By alias, label ("book.xlsx!Q1"), file, or sheet. */
static bool why_not_is(const json_t *input, const char *name)
{
	const char *label = dtx_json_text(input, "label", ""), *bang = strrchr(label, '!');

	return !strcmp(dtx_json_text(input, "alias", ""), name) || !strcmp(label, name) ||
	       !strcmp(dtx_file_basename(dtx_json_text(input, "uri", "")),
	               dtx_file_basename(name)) ||
	       (bang && !strcmp(bang + 1, name));
}

static enum dtx_code why_not_input(struct why_not *w, const char *name, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *inputs = json_object_get(w->x.record, "inputs"), *one;
	const char *names[64], *alias = NULL;
	size_t i, n = 0;

	json_array_foreach((json_t *)(uintptr_t)inputs, i, one)
	{
		if (!alias && (!name || why_not_is(one, name)))
			alias = dtx_json_text(one, "alias", NULL);
		if (n < DTX_COUNT(names))
			names[n++] = dtx_json_text(one, "alias", "");
	}
	for (uint32_t k = 0; alias && k < w->x.r.plan->ninputs; k++) {
		if (!strcmp(w->x.r.plan->input[k].name, alias)) {
			w->input = k;
			goto out;
		}
	}
	rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__, "the run has no input '%s'",
	                 name ? name : "");
	dtx_err_suggest(err, name ? name : "", names, n);
out:
	return rc;
}

static enum dtx_code why_not_asked(struct why_not *w, int argc, char **argv, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct why_not_args *a = w->args;
	struct dtx_buf name = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	int ways = (argc > 1) + (a->row > 0) + (a->line > 0) + (a->key.n > 0);

	if (ways != 1)
		DTX_FAIL(err, DTX_E_USAGE,
		         ways ? "the row is given twice"
		              : "which row? give input.csv!L12, --row N, --line N or "
		                "--key COLUMN=TEXT");
	w->line = a->line;
	if (argc > 1)
		DTX_TRY(why_not_address(argv[1], &name, &w->line, err));
	if (name.len && a->input)
		DTX_FAIL(err, DTX_E_USAGE, "the input is given twice: '%s' and --input", argv[1]);
	DTX_TRY(why_not_input(w, name.len ? dtx_buf_text(&name) : a->input, err));
out:
	dtx_buf_clear(&name);
	return rc;
}

/* --- first pass: the row, and where it is up to its numbering --- */

static const char *why_not_text(struct why_not *w, const struct dtx_table *t,
                                const struct dtx_batch *b, uint32_t row, const char *column)
{
	int32_t c = dtx_schema_find(t->schema, column);

	dtx_buf_reset(&w->text);
	if (c >= 0 && b->col[c])
		dtx_cast_print(b->col[c], row, &w->text);
	return dtx_buf_text(&w->text);
}

static bool why_not_keys(struct why_not *w, const struct dtx_table *t, const struct dtx_batch *b,
                         uint32_t row)
{
	const struct dtx_optlist *keys = &w->args->key;

	for (size_t i = 0; i < keys->n; i++) {
		const char *eq = strchr(keys->item[i], '=');
		char name[256];

		dtx_str_copy(name, sizeof(name),
		             (struct dtx_str){ keys->item[i], (size_t)(eq - keys->item[i]) });
		if (strcmp(why_not_text(w, t, b, row, name), eq + 1) != 0)
			return false;
	}
	return true;
}

static int64_t why_not_place(const struct dtx_batch *b, uint32_t row, char cell[24])
{
	struct dtx_err place = DTX_ERR_INIT;
	int64_t line;

	dtx_batch_blame(b, row, 0, &place);
	snprintf(cell, 24, "%.23s", place.cell);
	line = place.row + 1;
	dtx_err_clear(&place);
	return line;
}

/* Whether this is the row that was asked for; n: its number in the input. */
static bool why_not_match(struct why_not *w, const struct dtx_table *t, const struct dtx_batch *b,
                          uint32_t row, int64_t n)
{
	char cell[24];

	if (w->args->row)
		return n == w->args->row;
	if (w->args->key.n)
		return why_not_keys(w, t, b, row);
	return why_not_place(b, row, cell) == w->line;
}

static uint64_t why_not_id(const struct dtx_batch *b, uint32_t row)
{
	return b->rec ? b->rec[row] : b->first_row + row;
}

static enum dtx_code why_not_search(struct why_not *w, const struct dtx_table *t,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t n = 0, hits = 0;

	for (size_t i = 0; i < t->nbatches; i++) {
		const struct dtx_batch *b = t->batch[i];

		for (uint32_t k = 0; k < b->nsel; k++) {
			uint32_t row = b->sel ? b->sel[k] : k;

			n++;
			if (!why_not_match(w, t, b, row, n) || hits++)
				continue;
			w->id = why_not_id(b, row);
			(void)why_not_place(b, row, w->cell);
		}
	}
	w->found = hits > 0;
	if (hits < 2 || !w->args->key.n)
		goto out;
	rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
	                 "%lld rows of the input have this --key", (long long)hits);
	dtx_err_hint(err, "give a --key more, or --row or --line");
out:
	return rc;
}

/* The row in another stage; *number from its last column. */
static bool why_not_there(struct why_not *w, const struct dtx_table *t, bool numbered)
{
	char column[32];

	snprintf(column, sizeof(column), "dtx_r%u", w->input);
	for (size_t i = 0; i < t->nbatches; i++) {
		const struct dtx_batch *b = t->batch[i];

		for (uint32_t k = 0; b->origin && k < b->nsel; k++) {
			uint32_t row = b->sel ? b->sel[k] : k;

			if (why_not_id(b, row) != w->id)
				continue;
			if (numbered)
				w->number = strtoll(why_not_text(w, t, b, row, column), NULL, 10);
			return true;
		}
	}
	return false;
}

static enum dtx_code why_not_look(void *arg, const struct dtx_exec_result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct why_not *w = arg;

	DTX_TRY(why_not_search(w, r->output[0].table, err));
	if (!w->found) {
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "the input has no such row: %lld were read from '%s'",
		                 (long long)r->output[0].rows,
		                 dtx_retrace_label(&w->x, w->x.r.plan->input[w->input].name));
		dtx_err_hint(err, "headers, blank lines and skipped lines are no rows; dtx run "
		                  "--verbose counts them");
		goto out;
	}
	for (uint32_t i = 1; i < w->stages.n && !w->lost; i++) {
		if (!why_not_there(w, r->output[i].table, i + 1 == w->stages.n))
			w->lost = i;
	}
out:
	return rc;
}

static json_t *why_not_columns(const struct why_not *w)
{
	json_t *list = NULL;

	for (size_t i = 0; i < w->args->key.n; i++) {
		const char *item = w->args->key.item[i];

		list = list ? list : json_array();
		json_array_append_new(list, json_stringn(item, strcspn(item, "=")));
	}
	return list;
}

static enum dtx_code why_not_keys_known(const struct why_not *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_schema *s = w->x.bound->input[w->input].schema;

	for (size_t i = 0; i < w->args->key.n; i++) {
		const char *item = w->args->key.item[i], *eq = strchr(item, '=');
		char name[256];

		if (!eq || eq == item)
			DTX_FAIL(err, DTX_E_USAGE, "option '--key' wants COLUMN=TEXT, got '%s'",
			         item);
		dtx_str_copy(name, sizeof(name), (struct dtx_str){ item, (size_t)(eq - item) });
		if (s && dtx_schema_find(s, name) < 0)
			DTX_FAIL(err, DTX_E_USAGE, "the input has no column '%s'", name);
	}
out:
	return rc;
}

static enum dtx_code why_not_first(struct why_not *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_retrace_look look = { why_not_look, w };
	json_t *columns = why_not_columns(w);

	DTX_TRY(why_not_keys_known(w, err));
	DTX_TRY(dtx_follow_stages(w->x.r.plan, w->x.bound, w->input, columns, &w->stages, err));
	DTX_TRY(dtx_retrace_run(&w->x, w->stages.plan, &look, &w->first, err));
out:
	json_decref(columns);
	return rc;
}

/* --- second pass: the row through the plan --- */

static json_t *why_not_lists(struct why_not *w, const struct dtx_table *t,
                             const struct dtx_batch *b, uint32_t row, const char *kind)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < DTX_FOLLOW_TERMS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "dtx_%s%u", kind, i);
		if (dtx_schema_find(t->schema, name) >= 0)
			json_array_append_new(list, json_string(why_not_text(w, t, b, row, name)));
	}
	return list;
}

/* Rows per step and side, and the terms of the first one: {"3": {"in","out","c":[],"v":[]}} */
static enum dtx_code why_not_count(void *arg, const struct dtx_exec_result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct why_not *w = arg;
	const struct dtx_table *t = r->output[0].table;
	json_t *steps = json_object();

	for (size_t i = 0; i < t->nbatches; i++) {
		const struct dtx_batch *b = t->batch[i];

		for (uint32_t k = 0; k < b->nsel; k++) {
			uint32_t row = b->sel ? b->sel[k] : k;
			bool out = *why_not_text(w, t, b, row, "dtx_side") == '1';
			const char *step = why_not_text(w, t, b, row, "dtx_step");
			json_t *one = json_object_get(steps, step), *rows;

			if (!one) {
				one = json_pack("{si si s[]}", "in", 0, "out", 0, "rows");
				json_object_set_new(steps, step, one);
			}
			json_object_set_new(
				one, out ? "out" : "in",
				json_integer(dtx_json_int(one, out ? "out" : "in", 0) + 1));
			rows = json_object_get(one, "rows");
			if (json_array_size(rows) < WHY_NOT_ROWS)
				json_array_append_new(
					rows, json_pack("{sb so so}", "out", out, "c",
				                        why_not_lists(w, t, b, row, "c"), "v",
				                        why_not_lists(w, t, b, row, "v")));
		}
	}
	w->report = steps;
	if (!steps)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* --- the answer --- */

/* What each op says when it drops a row. */
static void why_not_reason(const struct why_not *w, uint32_t step, const json_t *say,
                           json_t *because)
{
	const struct dtx_plan_step *st = &w->x.r.plan->step[step];
	const json_t *c = st->canonical;
	const char *how = dtx_json_text(c, "how", "inner");
	char text[400];

	text[0] = '\0';
	if (!strcmp(st->name, "join"))
		snprintf(text, sizeof(text), "%s join: %s row of '%.80s' has its keys", how,
		         strcmp(how, "anti") ? "no" : "a", dtx_json_text(say, "with", ""));
	else if (!strcmp(st->name, "distinct"))
		snprintf(text, sizeof(text), "another row with the same values stays (keep %s)",
		         dtx_json_text(c, "keep", "first"));
	else if (!strcmp(st->name, "limit"))
		snprintf(text, sizeof(text), "only %lld rows stay, from the %s",
		         (long long)dtx_json_int(c, "n", 0), dtx_json_text(c, "from", "start"));
	else if (!strcmp(st->name, "group_by"))
		snprintf(text, sizeof(text), "its group is left out: %s",
		         dtx_json_text(c, "having", "a key is null"));
	else if (!strcmp(st->name, "top"))
		snprintf(text, sizeof(text), "it is not among the %lld rows that stay",
		         (long long)dtx_json_int(c, "n", 0));
	else
		snprintf(text, sizeof(text), "this step leaves it out");
	json_array_append_new(because, json_string(text));
}

/* Conditions of a filter that do not hold. */
static void why_not_conditions(const struct why_not *w, uint32_t step, const json_t *say,
                               const json_t *row, json_t *because)
{
	const json_t *conditions = json_object_get(say, "conditions");
	const json_t *canonical = w->x.r.plan->step[step].canonical;
	bool other = !strcmp(dtx_json_text(canonical, "keep", "true"), "not_true");
	json_t *one;
	size_t i;

	json_array_foreach(conditions, i, one)
	{
		const char *is = json_string_value(json_array_get(json_object_get(row, "c"), i));

		if (is && (other || strcmp(is, "true") != 0))
			json_array_append_new(because,
			                      json_sprintf("%s is %s", json_string_value(one), is));
	}
}

static json_t *why_not_with(const struct why_not *w, const json_t *say, const json_t *row)
{
	const json_t *columns = json_object_get(say, "columns");
	json_t *with = json_object(), *one;
	size_t i;

	json_array_foreach(columns, i, one)
	{
		const char *value = json_string_value(json_array_get(json_object_get(row, "v"), i));

		if (!w->args->no_values && value)
			json_object_set_new(with, json_string_value(one), json_string(value));
	}
	return with;
}

static json_t *why_not_dropped(const struct why_not *w, uint32_t step, const json_t *count)
{
	const struct dtx_plan_step *st = &w->x.r.plan->step[step];
	const json_t *row = json_array_get(json_object_get(count, "rows"), 0), *say;
	json_t *because = json_array();
	char key[16];

	snprintf(key, sizeof(key), "%u", step);
	say = json_object_get(w->follow.say, key);
	if (!strcmp(st->name, "filter"))
		why_not_conditions(w, step, say, row, because);
	if (!json_array_size(because))
		why_not_reason(w, step, say, because);
	return json_pack("{si ss ss so so}", "step", (int)step + 1, "op", st->name, "at", st->at,
	                 "because", because, "with", why_not_with(w, say, row));
}

/* The steps that the row went into, one after the other: passed, or dropped for good. */
static void why_not_path(const struct why_not *w, const json_t *counts, json_t *passed,
                         json_t *dropped)
{
	for (uint32_t i = 0; i < w->x.r.plan->nsteps; i++) {
		const json_t *count;
		char key[16];

		snprintf(key, sizeof(key), "%u", i);
		count = json_object_get(counts, key);
		if (!count || !dtx_json_int(count, "in", 0))
			continue;
		if (dtx_json_int(count, "out", 0))
			json_array_append_new(passed,
			                      json_pack("{si ss sI sI}", "step", (int)i + 1, "op",
			                                w->x.r.plan->step[i].name, "rows_in",
			                                (json_int_t)dtx_json_int(count, "in", 0),
			                                "rows_out",
			                                (json_int_t)dtx_json_int(count, "out", 0)));
		else
			json_array_append_new(dropped, why_not_dropped(w, i, count));
	}
}

static json_t *why_not_results(const struct why_not *w, const json_t *counts)
{
	json_t *list = json_array(), *row;
	char key[16];
	size_t i;

	snprintf(key, sizeof(key), "%u", w->x.r.plan->nsteps);
	json_array_foreach(json_object_get(json_object_get(counts, key), "rows"), i, row)
	{
		const char *n = json_string_value(json_array_get(json_object_get(row, "v"), 0));

		json_array_append_new(list, json_integer(n ? strtoll(n, NULL, 10) : 0));
	}
	return list;
}

/* A step that judges whole rows dropped it before rows were numbered. */
static void why_not_early(const struct why_not *w, json_t *passed, json_t *dropped)
{
	for (uint32_t i = 1; i + 1 < w->stages.n && (!w->lost || i <= w->lost); i++) {
		const struct dtx_plan_step *st = &w->x.r.plan->step[w->stages.step[i]];
		int step = (int)w->stages.step[i] + 1;
		json_t *kinds;

		if (i != w->lost) {
			json_array_append_new(passed,
			                      json_pack("{si ss si si}", "step", step, "op",
			                                st->name, "rows_in", 1, "rows_out", 1));
			continue;
		}
		kinds = json_object_get(st->canonical, "kinds");
		json_array_append_new(
			dropped,
			json_pack("{si ss ss s[s] s{}}", "step", step, "op", st->name, "at", st->at,
		                  "because",
		                  json_array_size(kinds)
		                          ? "it is one of the kinds of rows that this step drops"
		                          : "it is a row that this step drops",
		                  "with"));
	}
}

static enum dtx_code why_not_report(struct why_not *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *counts = w->report, *passed = json_array(), *dropped = json_array(), *rows;
	const char *alias = w->x.r.plan->input[w->input].name;

	w->report = NULL;
	why_not_early(w, passed, dropped);
	why_not_path(w, counts, passed, dropped);
	rows = why_not_results(w, counts);
	w->report = json_pack(
		"{ss ss ss ss ss ss sO sO so}", "input", alias, "label",
		dtx_retrace_label(&w->x, alias), "cell", w->cell, "output", dtx_retrace_name(&w->x),
		"run", dtx_json_text(json_object_get(w->x.record, "run"), "run_id", ""), "verdict",
		json_array_size(rows)            ? "in the result"
		: !w->lost && !w->follow.reaches ? "not used"
		: json_array_size(dropped)       ? "dropped"
						 : "not followed",
		"passed", passed, "dropped", dropped, "rows", rows);
	if (!w->report)
		DTX_FAIL_MEM(err);
out:
	json_decref(counts);
	json_decref(passed);
	json_decref(dropped);
	return rc;
}

static enum dtx_code why_not_answer(struct why_not *w, int argc, char **argv, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_retrace_look look = { why_not_count, w };

	DTX_TRY(dtx_retrace_find(&w->x, argv[0], err));
	DTX_TRY(dtx_retrace_bind(&w->x, err));
	DTX_TRY(why_not_asked(w, argc, argv, err));
	DTX_TRY(why_not_first(w, err));
	if (!w->lost) {
		DTX_TRY(dtx_follow_plan(w->x.r.plan, w->x.bound, w->input, &w->number, 1,
		                        w->x.output, &w->follow, err));
		if (w->follow.plan)
			DTX_TRY(dtx_retrace_run(&w->x, w->follow.plan, &look, &w->second, err));
	}
	DTX_TRY(why_not_report(w, err));
out:
	return rc;
}

/* --- the command --- */

static int why_not_main(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct why_not w = { .args = args, .x = { .cli = cli, .command = "why-not" } };
	struct dtx_buf out = DTX_BUF_INIT((size_t)1 << 30);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc;
	int status;

	dtx_buf_init(&w.text, DTX_BUF_TEXT_MAX);
	rc = why_not_answer(&w, argc, argv, &err);
	if (rc == DTX_OK && w.args->json) {
		dtx_json_print(w.report, 1, &out);
		dtx_buf_add(&out, "\n");
	} else if (rc == DTX_OK) {
		dtx_why_not_print(w.report, &out);
	}
	status = rc == DTX_OK ? dtx_out_print(cli, &out) : dtx_out_fail(cli, &err);
	dtx_plan_free(w.first);
	dtx_plan_free(w.second);
	json_decref(w.stages.plan);
	dtx_follow_clear(&w.follow);
	json_decref(w.report);
	dtx_retrace_clear(&w.x);
	dtx_buf_clear(&w.text);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	return rc == DTX_E_NO_TRANSLATION ? 4 : status;
}

const struct dtx_cmd dtx_cmd_why_not = {
	.name = "why-not",
	.usage = "RUN | FILE [PLACE]",
	.summary = "Tell at which step a source row was left out of a result, and by what",
	.notes = "The row is followed through the plan: filters say which condition did not hold "
		 "with which\n"
		 "values, joins which keys found nothing.  Behind group_by and pivot_wider the "
		 "results are\n"
		 "followed that it went into.  A row that is in the result is said to be there.\n\n"
		 "  dtx why-not out.csv input.csv!L12\n"
		 "  dtx why-not out.csv --input hc --key region=North\n"
		 "  dtx why-not report.xlsx 'Q1!B7'",
	.exits = "0 done; 4 no record, an input is changed, or rows cannot be followed",
	.opts = why_not_opts,
	.nopts = DTX_COUNT(why_not_opts),
	.args_size = sizeof(struct why_not_args),
	.min_args = 1,
	.max_args = 2,
	.run = why_not_main,
};
