/* Answers `why-not`: parses which row is asked for, finds it in its input, counts what each step
 * did with it, and makes the report and its text from these counts. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out.h"
#include "cli/why/keycells.h"
#include "cli/why/why_not.h"
#include "cli/why/why_stored.h"
#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/data/cast/cast.h"
#include "core/io/sheet/cellref.h"
#include "core/plan/lineage/row_lineage.h"
#include "core/plan/lineage/trace.h"
#include "core/store/ledger/record.h"

/* The numbers of result rows that are not in `own`; takes `rows`. */
static json_t *why_not_others(json_t *rows, const json_t *own);

/* Appends what the op of a step says when it drops a row. `say` is the member of dtx_why_not_plan
 * for the step and side. */
static void why_not_reason(const struct dtx_why_not *w, uint32_t step, const json_t *say,
                           json_t *because);

/* Prints the answer of `why-not` as text. */

enum { WHY_NOT_VALUE = 60 }; /* bytes of a value that are shown */

static void why_not_value(struct dtx_buf *out, const char *text)
{
	struct dtx_buf cut = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	size_t len = strlen(text), n = DTX_MIN(len, (size_t)WHY_NOT_VALUE);

	while (n && n < len && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	dtx_buf_adds(&cut, (struct dtx_str){ text, n });
	dtx_out_safe(out, dtx_buf_text(&cut), false);
	dtx_buf_add(out, n < len ? "..." : "");
	dtx_buf_clear(&cut);
}

static void why_not_print_dropped(const json_t *d, struct dtx_buf *out)
{
	const char *name, *sep = "";
	json_t *one;
	size_t i;

	dtx_buf_printf(out, "%-12sat step %lld, %s (%s)\n", "dropped",
	               (long long)dtx_json_int(d, "step", 0), dtx_json_text(d, "op", ""),
	               dtx_json_text(d, "at", ""));
	json_array_foreach(json_object_get(d, "because"), i, one)
	{
		dtx_buf_printf(out, "%-12s", i ? "" : "because");
		dtx_out_safe(out, json_string_value(one), false);
		dtx_buf_addc(out, '\n');
	}
	if (!json_object_size(json_object_get(d, "with")))
		return;
	dtx_buf_printf(out, "%-12s", "with");
	json_object_foreach(json_object_get(d, "with"), name, one)
	{
		dtx_buf_add(out, sep);
		dtx_out_safe(out, name, false);
		dtx_buf_add(out, " = ");
		why_not_value(out, json_string_value(one));
		sep = ", ";
	}
	dtx_buf_addc(out, '\n');
}

static void why_not_print_rows(const json_t *report, const char *label, const json_t *rows,
                               struct dtx_buf *out)
{
	size_t n = json_array_size(rows), i;

	if (!n)
		return;
	dtx_buf_printf(out, "%-12s", label);
	dtx_out_safe(out, dtx_json_text(report, "output", ""), false);
	dtx_buf_add(out, n == 1 ? " row " : " rows ");
	for (i = 0; i < DTX_MIN(n, (size_t)20); i++)
		dtx_buf_printf(out, "%s%lld", i ? ", " : "",
		               (long long)json_integer_value(json_array_get(rows, i)));
	if (i < n)
		dtx_buf_printf(out, " and %zu more", n - i);
	dtx_buf_addc(out, '\n');
}

void dtx_why_not_print(const json_t *report, struct dtx_buf *out)
{
	const json_t *passed = json_object_get(report, "passed");
	json_t *one;
	size_t i;

	dtx_out_safe(out, dtx_json_text(report, "label", ""), false);
	dtx_buf_printf(out, "!%s   run %s\n", dtx_json_text(report, "cell", ""),
	               dtx_run_id_short(dtx_json_text(report, "run", "")));
	why_not_print_rows(report, "in", json_object_get(report, "rows"), out);
	why_not_print_rows(report, "by groups", json_object_get(report, "through"), out);
	json_array_foreach(json_object_get(report, "dropped"), i, one)
		why_not_print_dropped(one, out);
	if (!strcmp(dtx_json_text(report, "verdict", ""), "not used"))
		dtx_buf_printf(out, "%-12sthis result is made without that input\n", "not used");
	if (json_array_size(passed))
		dtx_buf_printf(out, "%-12s", "passed");
	json_array_foreach(passed, i, one) dtx_buf_printf(out, "%s%lld %s", i ? ", " : "",
	                                                  (long long)dtx_json_int(one, "step", 0),
	                                                  dtx_json_text(one, "op", ""));
	if (i)
		dtx_buf_addc(out, '\n');
	dtx_why_stored_note(report, out);
}

/* Parses which row `why-not` was asked about. */

/* Splits "input.csv!L5", "Q1!B7", "orders!row 17" or "L5" into the input, if it is named, and the
 * line. */
static enum dtx_code why_not_address(const char *text, struct dtx_buf *input, int64_t *line,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *bang = strrchr(text, '!'), *cell = bang ? bang + 1 : text, *p = cell;
	char *end = NULL;

	while (isalpha((unsigned char)*p))
		p++;
	if (dtx_str_starts(dtx_str_of(cell), DTX_STR("row ")))
		p++;
	*line = isdigit((unsigned char)*p) ? strtoll(p, &end, 10) : 0;
	if (p == cell || *line < 1 || *end)
		DTX_FAIL(err, DTX_E_USAGE,
		         "'%s' is not a place in an input: try input.csv!L12 or Q1!B7", text);
	if (bang)
		dtx_buf_adds(input, (struct dtx_str){ text, (size_t)(bang - text) });
	DTX_TRY(dtx_buf_check(input, "place", err));
out:
	return rc;
}

/* Whether the name is that of the input's sheet, with or without quotes, with or without the file's
 * name before it. */
static bool why_not_is_sheet(const json_t *input, const char *name)
{
	const char *sheet = dtx_json_text(json_object_get(input, "reader"), "sheet", NULL);
	const char *file = dtx_file_basename(dtx_json_text(input, "uri", ""));
	size_t len = strlen(file);
	struct dtx_buf quoted = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool is;

	if (!sheet)
		return false;
	if (!strncmp(name, file, len) && name[len] == '!')
		name += len + 1;
	dtx_sheet_name_print(sheet, &quoted);
	is = !strcmp(name, sheet) || !strcmp(name, dtx_buf_text(&quoted));
	dtx_buf_clear(&quoted);
	return is;
}

/* Whether the name is the input's alias, label ("book.xlsx!Q1"), sheet, or path with its folders.
 */
static bool why_not_is(const json_t *input, const char *name)
{
	struct dtx_str path = dtx_str_of(dtx_json_text(input, "uri", ""));

	return !strcmp(dtx_json_text(input, "alias", ""), name) ||
	       !strcmp(dtx_json_text(input, "label", ""), name) ||
	       (strchr(name, '/') && dtx_str_ends(path, dtx_str_of(name))) ||
	       why_not_is_sheet(input, name);
}

/* Whether the name is the file's, in whatever folder: files of several folders may have it. */
static bool why_not_is_base(const json_t *input, const char *name)
{
	return !strcmp(dtx_file_basename(dtx_json_text(input, "uri", "")), dtx_file_basename(name));
}

static bool why_not_alias(struct dtx_why_not *w, const char *alias)
{
	for (uint32_t k = 0; alias && k < w->x.r.plan->ninputs; k++) {
		if (!strcmp(w->x.r.plan->input[k].name, alias)) {
			w->input = k;
			return true;
		}
	}
	return false;
}

static enum dtx_code why_not_input(struct dtx_why_not *w, const char *name, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *inputs = json_object_get(w->x.record, "inputs"), *one;
	const char *names[64], *alias = NULL, *base = NULL, *uri = NULL;
	struct dtx_buf have = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	size_t i, n = 0;
	bool several = false;

	json_array_foreach((json_t *)(uintptr_t)inputs, i, one)
	{
		dtx_buf_printf(&have, "%s%s (%s)", i ? ", " : "", dtx_json_text(one, "alias", ""),
		               dtx_json_text(one, "label",
		                             dtx_file_basename(dtx_json_text(one, "uri", "-"))));
		if (!alias && (!name || why_not_is(one, name)))
			alias = dtx_json_text(one, "alias", NULL);
		if (name && why_not_is_base(one, name)) {
			several |= uri && strcmp(uri, dtx_json_text(one, "uri", "")) != 0;
			base = base ? base : dtx_json_text(one, "alias", NULL);
			uri = dtx_json_text(one, "uri", "");
		}
		if (n < DTX_COUNT(names))
			names[n++] = dtx_json_text(one, "alias", "");
	}
	if (why_not_alias(w, alias ? alias : several ? NULL : base))
		goto out;
	if (!alias && several) {
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "several inputs of the run are files with the name '%s'", name);
		dtx_err_hint(err, "name one with its folder: they are %.280s", dtx_buf_text(&have));
		goto out;
	}
	rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__, "the run has no input '%s'",
	                 name ? name : "");
	dtx_err_suggest(err, name ? name : "", names, n);
	dtx_err_hint(err, "its inputs are %.280s", dtx_buf_text(&have));
out:
	dtx_buf_clear(&have);
	return rc;
}

enum dtx_code dtx_why_not_ask(struct dtx_why_not *w, int argc, char **argv, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_why_not_args *a = w->args;
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

/* Finds the row in its input, and follows it up to where rows are numbered. */

/* The text of a cell, valid until the next call; "" if there is no such column. */
static const char *why_not_cell(struct dtx_why_not *w, const struct dtx_table *t,
                                const struct dtx_batch *b, uint32_t row, const char *column)
{
	int32_t c = dtx_schema_find(t->schema, column);

	dtx_buf_reset(&w->text);
	if (c >= 0 && b->col[c])
		dtx_cast_print(b->col[c], row, &w->text);
	return dtx_buf_text(&w->text);
}

static bool why_not_keys(struct dtx_why_not *w, const struct dtx_table *t,
                         const struct dtx_batch *b, uint32_t row)
{
	const char *name;
	json_t *text;

	json_object_foreach(w->key, name, text)
	{
		if (strcmp(why_not_cell(w, t, b, row, name), json_string_value(text)) != 0)
			return false;
	}
	return true;
}

static int64_t why_not_place(const struct dtx_batch *b, uint32_t row, char cell[24])
{
	struct dtx_err place = DTX_ERR_INIT;
	int64_t line;

	dtx_batch_set_position(b, row, 0, &place);
	snprintf(cell, 24, "%.23s", place.cell);
	line = place.row + 1;
	dtx_err_clear(&place);
	return line;
}

/* Whether this is the row that was asked for; n is its number in the input. */
static bool why_not_match(struct dtx_why_not *w, const struct dtx_table *t,
                          const struct dtx_batch *b, uint32_t row, int64_t n)
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

/* Whether the rows belong to the asked input, in a table that may have rows of several files. */
static bool why_not_of(const struct dtx_why_not *w, const struct dtx_batch *b)
{
	return !w->file || (b->origin && !strcmp(b->origin->file, w->file));
}

static enum dtx_code why_not_search(struct dtx_why_not *w, const struct dtx_table *t,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t hits = 0;

	for (size_t i = 0; i < t->nbatches; i++) {
		const struct dtx_batch *b = t->batch[i];

		for (uint32_t k = 0; why_not_of(w, b) && k < b->nsel; k++) {
			uint32_t row = b->sel ? b->sel[k] : k;

			w->nrows++;
			if (!why_not_match(w, t, b, row, w->nrows) || hits++)
				continue;
			w->id = why_not_id(b, row);
			w->first_cell =
				json_pack("{ss}", t->schema->field[0].name,
			                  why_not_cell(w, t, b, row, t->schema->field[0].name));
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

/* Whether the row is in another stage; sets the number from the last column if the stage has it. */
static bool why_not_there(struct dtx_why_not *w, const struct dtx_table *t, bool numbered)
{
	char column[32];

	snprintf(column, sizeof(column), "dtx_r%u", w->followed);
	for (size_t i = 0; i < t->nbatches; i++) {
		const struct dtx_batch *b = t->batch[i];

		for (uint32_t k = 0; b->origin && why_not_of(w, b) && k < b->nsel; k++) {
			uint32_t row = b->sel ? b->sel[k] : k;

			if (why_not_id(b, row) != w->id)
				continue;
			if (numbered)
				w->number = strtoll(why_not_cell(w, t, b, row, column), NULL, 10);
			return true;
		}
	}
	return false;
}

static const char *why_not_key_text(struct dtx_why_not *w)
{
	dtx_buf_reset(&w->text);
	dtx_keycells_print(w->key, &w->text);
	return dtx_buf_text(&w->text);
}

static enum dtx_code why_not_look(void *arg, const struct dtx_exec_result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_why_not *w = arg;

	DTX_TRY(why_not_search(w, r->output[0].table, err));
	if (!w->found && w->key)
		DTX_FAIL(err, DTX_E_USAGE, "no row of '%s' has %s",
		         w->x.r.plan->input[w->input].name, why_not_key_text(w));
	if (!w->found) {
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "the input has no such row: %lld were read from %s",
		                 (long long)w->nrows,
		                 dtx_why_replay_label(&w->x, w->x.r.plan->input[w->input].name));
		dtx_err_hint(err, "headers, blank lines and skipped lines are not rows; dtx run "
		                  "--verbose counts them");
		goto out;
	}
	for (uint32_t i = 1; i < w->stages.n && !w->lost; i++) {
		if (!why_not_there(w, r->output[i].table, i + 1 == w->stages.n))
			w->lost = i;
	}
	for (uint32_t k = 0; w->lost && k < w->stages.nkinds && !w->kind; k++) {
		if (w->stages.kind_step[k] == w->stages.step[w->lost] &&
		    !why_not_there(w, r->output[w->stages.n + k].table, false))
			w->kind = w->stages.kind_only[k];
	}
out:
	return rc;
}

static json_t *why_not_columns(const struct dtx_why_not *w)
{
	json_t *list = w->key ? json_array() : NULL, *text;
	const char *name;

	json_object_foreach(w->key, name, text) json_array_append_new(list, json_string(name));
	return list;
}

static enum dtx_code why_not_keys_known(struct dtx_why_not *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_schema *s = w->x.bound->input[w->input].schema;
	const json_t *inputs = json_object_get(w->x.record, "inputs");
	const json_t *input = dtx_json_find(inputs, "alias", w->x.r.plan->input[w->input].name);
	const char *name;
	json_t *text;

	DTX_TRY(dtx_keycells(&w->args->key, json_object_get(input, "schema"), &w->key, err));
	json_object_foreach(w->key, name, text)
	{
		if (s && dtx_schema_find(s, name) < 0)
			DTX_FAIL(err, DTX_E_USAGE, "the input has no column '%s'", name);
	}
out:
	return rc;
}

enum dtx_code dtx_why_not_find(struct dtx_why_not *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_why_replay_look look = { why_not_look, w, 0, w->fold.of ? &w->fold : NULL };
	json_t *columns = NULL;

	DTX_TRY(why_not_keys_known(w, err));
	columns = why_not_columns(w);
	DTX_TRY(dtx_why_not_plan_stages(w->plan, w->fold.of ? &w->fold.bound : w->x.bound,
	                                w->followed, w->x.output, columns, &w->stages, err));
	DTX_TRY(dtx_why_replay_run(&w->x, w->stages.plan, &look, &w->first, err));
out:
	json_decref(columns);
	return rc;
}

/* Answers `why-not` from the row numbers that the run kept. */

struct not_stored {
	struct dtx_why_not *w;
	const struct dtx_row_lineage *log;
	const struct dtx_row_lineage_list *places;
	int64_t number; /* number of the row; 0: not found */
	int64_t *counts;
	json_t *results, *through;
};

static const json_t *stored_input(const struct dtx_why_not *w)
{
	return dtx_json_find(json_object_get(w->x.record, "inputs"), "alias",
	                     w->x.r.plan->input[w->input].name);
}

/* Whether all rows of the input were numbered. Steps that ran before the numbering may have dropped
 * rows, and nothing is kept about those. */
static bool stored_whole(const struct not_stored *s)
{
	return (int64_t)s->places->n == dtx_json_int(stored_input(s->w), "rows", -1);
}

static enum dtx_code stored_number(struct not_stored *s, bool *answered, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_why_not *w = s->w;
	bool whole = stored_whole(s);

	for (size_t i = 0; i < s->places->n && !s->number && w->line; i++) {
		if (s->places->col[0][i] == w->line)
			s->number = (int64_t)i + 1;
	}
	if (w->args->row && whole && (size_t)w->args->row <= s->places->n)
		s->number = w->args->row;
	*answered = s->number > 0;
	if (*answered || !whole)
		goto out;
	rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
	                 "the input has no such row: %zu were read from %s", s->places->n,
	                 dtx_why_replay_label(&w->x, w->x.r.plan->input[w->input].name));
	dtx_err_hint(err, "headers, blank lines and skipped lines are not rows; dtx run --verbose "
	                  "counts them");
out:
	return rc;
}

/* Sets has[] for a step's result: the number of its rows that came from the row. Returns the same
 * number for its input. */
static int64_t stored_count(const struct not_stored *s, int64_t *has, uint32_t i)
{
	const struct dtx_plan *plan = s->w->x.r.plan;
	const struct dtx_plan_step *st = &plan->step[i];
	int64_t n = 0;

	for (uint32_t k = 0; k < st->ntables; k++) {
		if (st->table[k] >= 0)
			n = DTX_MAX(n, has[st->table[k]]);
	}
	has[plan->ninputs + i] = s->counts[i] >= 0 ? s->counts[i] : n;
	return n;
}

/* Adds a step that rows passed. The core steps of a macro are one step: rows go into the first of
 * them and leave the last. */
static void add_passed(const struct dtx_plan *plan, uint32_t i, int64_t in, int64_t out,
                       json_t *passed)
{
	json_t *last = json_array_get(passed, json_array_size(passed) - 1);
	int number = (int)dtx_trace_number_of(plan, i);

	if (plan->step[i].part && dtx_json_int(last, "step", 0) == number)
		json_object_set_new(last, "rows_out", json_integer(out));
	else
		json_array_append_new(passed,
		                      json_pack("{si ss sI sI}", "step", number, "op",
		                                dtx_plan_step_name(&plan->step[i]), "rows_in",
		                                (json_int_t)in, "rows_out", (json_int_t)out));
}

/* Adds a step that dropped rows, which takes the place of core steps of the same macro that they
 * passed. */
static void add_dropped(const struct dtx_plan *plan, uint32_t i, json_t *passed, json_t *dropped,
                        json_t *one)
{
	json_t *last = json_array_get(passed, json_array_size(passed) - 1);

	if (plan->step[i].part && dtx_json_int(last, "step", 0) == dtx_json_int(one, "step", -1))
		json_array_remove(passed, json_array_size(passed) - 1);
	json_array_append_new(dropped, one);
}

/* Describes where a step dropped the row. `has`: per table, the number of its rows that came from
 * the row. */
static json_t *stored_dropped(const struct not_stored *s, const int64_t *has, uint32_t i)
{
	const struct dtx_plan *plan = s->w->x.r.plan;
	const struct dtx_plan_step *st = &plan->step[i];
	const char *where = dtx_json_text(st->canonical, "where", NULL);
	json_t *because = json_array(), *say;
	int32_t other = st->ntables > 1 ? st->table[1] : -1;
	char name[32];

	if (other >= 0 && has[other] && !(st->table[0] >= 0 && has[st->table[0]]))
		other = st->table[0]; /* the row is on that side */
	say = json_pack("{ss}", "with", dtx_trace_name_of(plan, other, name));
	if (dtx_trace_facts(st).rows == DTX_ROWS_FILTERED && where)
		json_array_append_new(because, json_sprintf("%s does not hold", where));
	else
		why_not_reason(s->w, i, say, because);
	json_decref(say);
	return json_pack("{si ss ss so s{}}", "step", (int)dtx_trace_number_of(plan, i), "op",
	                 dtx_plan_step_name(st), "at", st->at, "because", because, "with");
}

static enum dtx_code stored_path(const struct not_stored *s, json_t *passed, json_t *dropped,
                                 bool *again, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_plan *plan = s->w->x.r.plan;
	int64_t *has = dtx_mem_zalloc(plan->ninputs + plan->nsteps + 1, sizeof(*has)), in, out;
	bool *leads = dtx_mem_zalloc(plan->ninputs + plan->nsteps + 1, sizeof(*leads));

	if (!has || !leads)
		DTX_FAIL_MEM(err);
	dtx_why_not_plan_leads(plan, s->w->x.output, leads);
	has[s->w->input] = 1;
	for (uint32_t i = 0; i < plan->nsteps; i++) {
		/* The kept numbers do not say which rows it let stay. */
		if (dtx_why_not_plan_decides(&plan->step[i]) && leads[plan->ninputs + i] &&
		    plan->step[i].table[1] >= 0 && has[plan->step[i].table[1]])
			*again = true;
		in = stored_count(s, has, i);
		out = has[plan->ninputs + i];
		if (dtx_trace_again_copy(&plan->step[i]) || plan->step[i].number < 0 ||
		    !leads[plan->ninputs + i])
			continue;
		if (in && out)
			add_passed(plan, i, (int64_t)in, (int64_t)out, passed);
		else if (in)
			add_dropped(plan, i, passed, dropped, stored_dropped(s, has, i));
	}
out:
	dtx_mem_free(leads);
	dtx_mem_free(has);
	return rc;
}

static enum dtx_code stored_report(const struct not_stored *s, bool *answered, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_why_not *w = s->w;
	json_t *passed = json_array(), *dropped = json_array();
	const char *alias = w->x.r.plan->input[w->input].name;
	const json_t *first = json_array_get(json_object_get(stored_input(w), "schema"), 0);
	const char *prefix =
		dtx_row_lineage_prefix(s->log, w->input, dtx_json_text(first, "name", ""));
	bool there = json_array_size(s->results) > 0, again = false;

	DTX_TRY(stored_path(s, passed, dropped, &again, err));
	*answered = !again;
	if (again)
		goto out;
	w->report = json_pack(
		"{ss ss so ss ss ss ss sO sO sO sO so}", "input", alias, "label",
		dtx_why_replay_label(&w->x, alias), "cell",
		json_sprintf("%s%lld", prefix, (long long)s->places->col[0][s->number - 1]),
		"output", dtx_why_replay_name(&w->x), "run",
		dtx_json_text(json_object_get(w->x.record, "run"), "run_id", ""), "lineage",
		"stored", "verdict",
		there                      ? "in the result"
		: json_array_size(dropped) ? "dropped"
					   : "not used",
		"passed", passed, "dropped", dropped, "rows", s->results, "through", s->through,
		"changed", dtx_why_replay_moved(&w->x));
	if (!w->report)
		DTX_FAIL_MEM(err);
out:
	json_decref(passed);
	json_decref(dropped);
	return rc;
}

enum dtx_code dtx_why_not_stored(struct dtx_why_not *w, bool *answered, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_row_lineage *log = NULL;
	struct not_stored s = { .w = w };
	struct dtx_err mine = DTX_ERR_INIT;

	*answered = false;
	DTX_TRY(dtx_why_replay_row_lineage(&w->x, &log, err));
	s.log = log;
	s.places = log ? dtx_row_lineage_places(log, w->input) : NULL;
	if (!s.places || w->args->key.n)
		goto out;
	DTX_TRY(stored_number(&s, answered, err));
	if (!*answered)
		goto out;
	s.counts = dtx_mem_zalloc(w->x.r.plan->nsteps + 1, sizeof(*s.counts));
	if (!s.counts)
		DTX_FAIL_MEM(err);
	*answered = dtx_row_lineage_follow(log, w->input, s.number, s.counts, w->x.r.plan->nsteps,
	                                   &s.results, &s.through, &mine) == DTX_OK;
	s.through = why_not_others(s.through, s.results);
	if (*answered)
		DTX_TRY(stored_report(&s, answered, err));
out:
	dtx_err_clear(&mine);
	json_decref(s.results);
	json_decref(s.through);
	dtx_mem_free(s.counts);
	dtx_row_lineage_free(log);
	return rc;
}

/* --- what the steps did --- */

static json_t *why_not_lists(struct dtx_why_not *w, const struct dtx_table *t,
                             const struct dtx_batch *b, uint32_t row, const char *kind)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < DTX_WHY_NOT_PLAN_TERMS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "dtx_%s%u", kind, i);
		if (dtx_schema_find(t->schema, name) >= 0)
			json_array_append_new(list, json_string(why_not_cell(w, t, b, row, name)));
	}
	return list;
}

/* Adds the number of a result row. */
static void why_not_result(struct dtx_why_not *w, const struct dtx_table *t,
                           const struct dtx_batch *b, uint32_t row, json_t *numbers)
{
	const char *n = why_not_cell(w, t, b, row, "dtx_v0");

	json_array_append_new(numbers, json_integer(n ? strtoll(n, NULL, 10) : 0));
}

/* Counts rows per step and side. For the first row it also keeps the values of the conditions and
 * columns, and for the result the numbers of all rows:
 *
 * {"3": {"in": 2, "out": 1, "meets": 0, "rows": [{"side", "c": [], "v": []}], "own": [7],
 * "through": []}} */
enum dtx_code dtx_why_not_count(void *arg, const struct dtx_exec_result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_why_not *w = arg;
	const struct dtx_table *t = r->output[0].table;
	json_t *steps = json_object();

	for (size_t i = 0; i < t->nbatches; i++) {
		const struct dtx_batch *b = t->batch[i];

		for (uint32_t k = 0; k < b->nsel; k++) {
			uint32_t row = b->sel ? b->sel[k] : k;
			int side = (int)strtol(why_not_cell(w, t, b, row, "dtx_side"), NULL, 10);
			const char *kind = side == DTX_WHY_NOT_PLAN_MEETS ? "meets"
			                   : side < 0                     ? "out"
			                                                  : "in";
			const char *step = why_not_cell(w, t, b, row, "dtx_step");
			json_t *one = json_object_get(steps, step), *rows;

			if (!one) {
				one = json_pack("{si si si s[] s[] s[]}", "in", 0, "out", 0,
				                "meets", 0, "rows", "own", "through");
				json_object_set_new(steps, step, one);
			}
			json_object_set_new(one, kind,
			                    json_integer(dtx_json_int(one, kind, 0) + 1));
			if (strtoul(step, NULL, 10) == w->plan->nsteps) {
				why_not_result(w, t, b, row,
				               json_object_get(one, side == DTX_WHY_NOT_PLAN_AFTER
				                                            ? "own"
				                                            : "through"));
				continue;
			}
			rows = json_object_get(one, "rows");
			if (!json_array_size(rows) && side != DTX_WHY_NOT_PLAN_MEETS)
				json_array_append_new(
					rows, json_pack("{si so so}", "side", side, "c",
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

static int number_order(const void *a, const void *b)
{
	const json_int_t x = *(const json_int_t *)a, y = *(const json_int_t *)b;

	return x < y ? -1 : x > y;
}

static json_t *why_not_others(json_t *rows, const json_t *own)
{
	const size_t n = json_array_size(own);
	json_int_t *sorted = dtx_mem_alloc(n + 1, sizeof(*sorted)), number;
	json_t *list = sorted ? json_array() : NULL, *one;
	size_t i;

	for (i = 0; sorted && i < n; i++)
		sorted[i] = json_integer_value(json_array_get(own, i));
	if (sorted)
		qsort(sorted, n, sizeof(*sorted), number_order);
	json_array_foreach(rows, i, one)
	{
		number = json_integer_value(one);
		if (list && !bsearch(&number, sorted, n, sizeof(*sorted), number_order))
			json_array_append(list, one);
	}
	json_decref(rows);
	dtx_mem_free(sorted);
	return list;
}

/* Contract in why_not.h. */
static void why_not_reason(const struct dtx_why_not *w, uint32_t step, const json_t *say,
                           json_t *because)
{
	const struct dtx_plan_step *st = &w->plan->step[step];
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (st->op && st->op->dropped)
		st->op->dropped(st->canonical, dtx_json_text(say, "with", ""), &text);
	else
		dtx_buf_add(&text, "this step leaves it out");
	json_array_append_new(because, json_string(dtx_buf_text(&text)));
	dtx_buf_clear(&text);
}

/* Appends the conditions of a filter that do not hold for the row. */
static void why_not_conditions(const struct dtx_why_not *w, uint32_t step, const json_t *say,
                               const json_t *row, json_t *because)
{
	const json_t *conditions = json_object_get(say, "conditions");
	const json_t *canonical = w->plan->step[step].canonical;
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

static json_t *why_not_with(const struct dtx_why_not *w, const json_t *say, const json_t *row)
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

/* For a row of the second table of a semi or anti join. Such a row is never in the result itself,
 * so say what it did to rows of the first table. */
static void why_not_met(const struct dtx_plan_step *st, const json_t *say, int64_t met,
                        json_t *because)
{
	const char *how = dtx_json_text(st->canonical, "how", "");
	const char *with = dtx_json_text(say, "with", "");
	bool lets = !strcmp(how, "semi");

	if (met)
		json_array_append_new(
			because,
			json_sprintf("%s join: rows of this table are not passed on; %lld row%s of "
		                     "'%.80s' with its keys %s",
		                     how, (long long)met, met == 1 ? "" : "s", with,
		                     lets       ? met == 1 ? "stays" : "stay"
		                     : met == 1 ? "is left out"
		                                : "are left out"));
	else
		json_array_append_new(
			because,
			json_sprintf("%s join: no row of '%.80s' has its keys", how, with));
}

static json_t *why_not_dropped(const struct dtx_why_not *w, uint32_t step, const json_t *count)
{
	const struct dtx_plan_step *st = &w->plan->step[step];
	const json_t *row = json_array_get(json_object_get(count, "rows"), 0), *say;
	json_t *because = json_array();
	char key[16];

	snprintf(key, sizeof(key), "%u", step);
	say = json_array_get(json_object_get(w->follow.say, key),
	                     (size_t)dtx_json_int(row, "side", 0));
	if (dtx_trace_facts(st).rows == DTX_ROWS_FILTERED)
		why_not_conditions(w, step, say, row, because);
	if (dtx_why_not_plan_decides(st) && dtx_json_int(row, "side", 0))
		why_not_met(st, say, dtx_json_int(count, "meets", 0), because);
	if (!json_array_size(because))
		why_not_reason(w, step, say, because);
	return json_pack("{si ss ss so so}", "step", (int)dtx_trace_number_of(w->plan, step), "op",
	                 dtx_plan_step_name(st), "at", st->at, "because", because, "with",
	                 why_not_with(w, say, row));
}

/* Goes through the steps that the row entered, and lists them as passed or as the ones that dropped
 * it. */
static void why_not_path(const struct dtx_why_not *w, const json_t *counts, json_t *passed,
                         json_t *dropped)
{
	for (uint32_t i = 0; i < w->plan->nsteps; i++) {
		const json_t *count;
		char key[16];

		snprintf(key, sizeof(key), "%u", i);
		count = json_object_get(counts, key);
		if (!count || !dtx_json_int(count, "in", 0) ||
		    dtx_trace_again_copy(&w->plan->step[i]))
			continue;
		/* The union of the files of an input is not a step of the user's plan, and no row
		 * is dropped there. */
		if (w->plan->step[i].number < 0)
			continue;
		if (dtx_json_int(count, "out", 0))
			add_passed(w->plan, i, dtx_json_int(count, "in", 0),
			           dtx_json_int(count, "out", 0), passed);
		else
			add_dropped(w->plan, i, passed, dropped, why_not_dropped(w, i, count));
	}
}

/* The numbers of result rows under "own" or "through". */
static json_t *why_not_results(const struct dtx_why_not *w, const json_t *counts, const char *which)
{
	json_t *list;
	char key[16];

	snprintf(key, sizeof(key), "%u", w->plan->nsteps);
	list = json_object_get(json_object_get(counts, key), which);
	return list ? json_incref(list) : json_array();
}

/* The first cell of the row. It often is a label by which people recognize the row. */
static json_t *why_not_first(const struct dtx_why_not *w)
{
	return w->first_cell && !w->args->no_values ? json_incref(w->first_cell) : json_object();
}

/* The row was dropped by a step that judges rows as they were read, before they were numbered. */
static void why_not_early(const struct dtx_why_not *w, json_t *passed, json_t *dropped)
{
	for (uint32_t i = 1; i + 1 < w->stages.n && (!w->lost || i <= w->lost); i++) {
		const struct dtx_plan_step *st = &w->plan->step[w->stages.step[i]];
		int step = (int)dtx_trace_number_of(w->plan, w->stages.step[i]);
		struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

		if (i != w->lost) {
			json_array_append_new(passed,
			                      json_pack("{si ss si si}", "step", step, "op",
			                                st->name, "rows_in", 1, "rows_out", 1));
			continue;
		}
		if (st->op && st->op->dropped)
			st->op->dropped(w->kind ? w->kind : st->canonical, "", &text);
		else
			dtx_buf_add(&text, "it is a row that this step drops");
		json_array_append_new(dropped,
		                      json_pack("{si ss ss s[s] so}", "step", step, "op", st->name,
		                                "at", st->at, "because", dtx_buf_text(&text),
		                                "with", why_not_first(w)));
		dtx_buf_clear(&text);
	}
}

enum dtx_code dtx_why_not_report(struct dtx_why_not *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *counts = w->report, *passed = json_array(), *dropped = json_array(), *rows,
	       *through;
	const char *alias = w->x.r.plan->input[w->input].name;

	w->report = NULL;
	why_not_early(w, passed, dropped);
	why_not_path(w, counts, passed, dropped);
	rows = why_not_results(w, counts, "own");
	through = why_not_others(why_not_results(w, counts, "through"), rows);
	w->report = json_pack(
		"{ss ss ss ss ss ss sO sO so so}", "input", alias, "label",
		dtx_why_replay_label(&w->x, alias), "cell", w->cell, "output",
		dtx_why_replay_name(&w->x), "run",
		dtx_json_text(json_object_get(w->x.record, "run"), "run_id", ""), "verdict",
		json_array_size(rows)            ? "in the result"
		: !w->lost && !w->follow.reaches ? "not used"
		: json_array_size(dropped)       ? "dropped"
						 : "not followed",
		"passed", passed, "dropped", dropped, "rows", rows, "through", through);
	if (!w->report)
		DTX_FAIL_MEM(err);
out:
	json_decref(counts);
	json_decref(passed);
	json_decref(dropped);
	return rc;
}
