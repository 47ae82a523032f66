/* Reads one row of a result from its file and does not compute it again.
 *
 * With the cells of the row, the traced plan need not compute the whole result to find it
 * (core/plan/lineage/trace.h). This is only a shortcut: if something does not fit, there is no
 * error, and the plan runs in full. */
#include "cli/why/why_known.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/data/cast/cast.h"

struct known {
	const struct dtx_why *w;
	struct dtx_source *source;
	const char *path;
	struct dtx_plan *plan;
	struct dtx_exec_result *result;
	struct dtx_errlist findings;
};

static void known_forget(struct known *k)
{
	dtx_exec_free(k->result);
	dtx_source_free(k->source);
	dtx_plan_free(k->plan);
	dtx_errlist_clear(&k->findings);
	k->result = NULL;
	k->source = NULL;
	k->plan = NULL;
}

static const char *known_format(const struct dtx_why *w)
{
	return dtx_json_text(json_object_get(dtx_why_replay_output(&w->x), "writer"), "format", "");
}

/* 0: the result is not delimited text */
static char known_delimiter(const struct dtx_why *w)
{
	return dtx_writer_delimiter(&w->x.r.plan->output[w->x.output].opts, known_format(w), NULL);
}

/* Whether the result is a text file whose cells can be read as they were written. */
static bool known_plain(const struct dtx_why *w)
{
	const struct dtx_write_opts *o = &w->x.r.plan->output[w->x.output].opts;

	return known_delimiter(w) && !o->no_header && !(o->null_text && *o->null_text);
}

/* The input of a plan that reads the result's file. typed: numbers are read as numbers; otherwise
 * all cells are texts. */
static json_t *known_input(const struct dtx_why *w, bool typed)
{
	char delimiter[2] = { known_delimiter(w), '\0' };
	json_t *types = json_array(), *field;
	size_t i;

	json_array_foreach(json_object_get(dtx_why_replay_output(&w->x), "schema"), i, field)
	{
		const char *type = dtx_json_text(field, "type", "");

		if (!typed || !dtx_str_in_list("int,float", type))
			type = "text";
		json_array_append_new(
			types,
			json_pack("{sO ss}", "name", json_object_get(field, "name"), "type", type));
	}
	return json_pack("{ss ss si so s{ss ss}}", "name", "main", "format", known_format(w),
	                 "header_rows", 1, "types", types, "dialect", "delimiter", delimiter,
	                 "quote", "\"");
}

/* Steps that select the row by its number, or all rows with the key, with their numbers. */
static json_t *known_steps(const struct dtx_why *w)
{
	json_t *steps = json_array(), *value;
	struct dtx_buf where = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *name, *sep = "";

	json_array_append_new(steps, json_pack("{ss ss}", "op", "add_id", "as", "dtx_row"));
	if (!w->key)
		json_array_append_new(steps,
		                      json_pack("{ss sI}", "op", "limit", "n", (json_int_t)w->row));
	json_object_foreach(w->key, name, value)
	{
		dtx_buf_add(&where, sep);
		dtx_expr_print_name(name, &where);
		dtx_buf_add(&where, " == ");
		dtx_expr_print_text(dtx_str_of(json_string_value(value)), &where);
		sep = " and ";
	}
	if (!w->key)
		dtx_buf_printf(&where, "dtx_row == %lld", (long long)w->row);
	json_array_append_new(steps,
	                      json_pack("{ss ss}", "op", "filter", "where", dtx_buf_text(&where)));
	dtx_buf_clear(&where);
	return steps;
}

/* Steps that select, of the first n rows, those that have the cells which the traced plan will ask
 * for. The condition is the same as there. */
static json_t *known_alike(const json_t *cells, int64_t n)
{
	struct dtx_buf where = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *steps = NULL;

	if (dtx_trace_equal(cells, &where) && dtx_buf_ok(&where))
		steps = json_pack("[{ss sI} {ss ss}]", "op", "limit", "n", (json_int_t)n, "op",
		                  "filter", "where", dtx_buf_text(&where));
	dtx_buf_clear(&where);
	return steps;
}

/* Runs steps on the file of the result; takes `steps`. */
static enum dtx_code known_read(struct known *k, json_t *steps, bool typed, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_host host = { 0 };
	json_t *made = json_pack("{si ss s[o] so}", "dtx", 1, "fallback", "off", "inputs",
	                         known_input(k->w, typed), "steps", steps);
	char *text = made ? json_dumps(made, JSON_COMPACT) : NULL;

	if (!text)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_plan_parse(dtx_str_of(text), NULL, &k->findings, &k->plan, err));
	DTX_TRY(dtx_plan_check(k->plan, &k->findings, err));
	k->plan->input[0].path = k->path;
	DTX_TRY(dtx_source_open(k->path, &k->source, err));
	if (!typed)
		dtx_source_hash_start(k->source, DTX_IDENTITY_SHA256, 1);
	opts.input = &k->source;
	DTX_TRY(dtx_exec(k->plan, &opts, &host, &k->findings, &k->result, err));
out:
	json_decref(made);
	free(text);
	return rc;
}

/* Whether the bytes that were read are those that the run wrote. */
static bool known_unchanged(struct known *k)
{
	char sha[DTX_IDENTITY_TEXT];

	return dtx_source_hash_wait(k->source, sha, NULL) == DTX_OK &&
	       !strcmp(sha, dtx_json_text(dtx_why_replay_output(&k->w->x), "sha", ""));
}

/* About how many different values a column has, from the statistics of the record. It is limited by
 * the number of rows, of course. */
static int64_t known_differ(const struct known *k, const char *column)
{
	const json_t *stats = json_object_get(dtx_why_replay_output(&k->w->x), "stats");
	const json_t *of = dtx_json_find(stats, "name", column);
	double wide = strtod(dtx_json_text(of, "width", "1"), NULL);
	double range = wide * (double)json_array_size(json_object_get(of, "bars"));
	int64_t rows = dtx_json_int(of, "rows", 1);

	if (json_object_get(of, "distinct"))
		return DTX_MAX(dtx_json_int(of, "distinct", 1), 1);
	return range >= (double)rows ? DTX_MAX(rows, 1) : DTX_MAX((int64_t)range, 1);
}

static void known_cell(const struct known *k, const struct dtx_batch *b, const json_t *field,
                       struct dtx_buf *text, json_t *out)
{
	const char *name = dtx_json_text(field, "name", "");
	int32_t c = dtx_schema_find(k->result->output[0].table->schema, name);
	uint32_t row = b->sel ? b->sel[0] : 0;

	dtx_buf_reset(text);
	if (c < 0 || !b->col[c] || dtx_column_is_null(b->col[c], row))
		return;
	dtx_cast_print(b->col[c], row, text);
	if (text->len && dtx_buf_ok(text))
		json_object_set_new(out, name,
		                    json_pack("{ss sO sI}", "text", dtx_buf_text(text), "type",
		                              json_object_get(field, "type"), "differ",
		                              (json_int_t)known_differ(k, name)));
}

static json_t *known_cells(const struct known *k, int64_t *row)
{
	const struct dtx_table *t = k->result->output[0].table;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *cells = json_object(), *number = json_object(), *field, *one;
	size_t i, n;

	json_array_foreach(json_object_get(dtx_why_replay_output(&k->w->x), "schema"), i, field)
	{
		for (n = 0; n < t->nbatches; n++) {
			if (t->batch[n]->nsel)
				known_cell(k, t->batch[n], field, &text, cells);
		}
	}
	one = json_pack("{ss ss}", "name", "dtx_row", "type", "int");
	for (n = 0; one && n < t->nbatches; n++) {
		if (t->batch[n]->nsel)
			known_cell(k, t->batch[n], one, &text, number);
	}
	*row = strtoll(dtx_json_text(json_object_get(number, "dtx_row"), "text", "0"), NULL, 10);
	json_decref(one);
	json_decref(number);
	dtx_buf_clear(&text);
	return cells;
}

/* Which of the rows with these cells the row is, from 1; 0: not known. */
static int64_t known_nth(struct known *k, const json_t *cells, int64_t row)
{
	struct dtx_err err = DTX_ERR_INIT;
	json_t *steps = known_alike(cells, row);
	int64_t nth = 0;

	known_forget(k);
	if (dtx_json_int(dtx_why_replay_output(&k->w->x), "rows", 0) == 1) {
		json_decref(steps);
		return 1;
	}
	if (steps && known_read(k, steps, true, &err) == DTX_OK)
		nth = (int64_t)k->result->output[0].rows;
	dtx_err_clear(&err);
	return nth;
}

json_t *dtx_why_known(const struct dtx_why *w, const char *path, int64_t *row, int64_t *nth)
{
	struct known k = { .w = w, .path = path, .findings = DTX_ERRLIST_INIT };
	struct dtx_err err = DTX_ERR_INIT;
	json_t *cells = NULL;

	if (!known_plain(w))
		return NULL;
	if (access(path, R_OK) < 0)
		k.path = dtx_json_text(dtx_why_replay_output(&w->x), "path", "-");
	if (!dtx_file_passes(k.path) && access(k.path, R_OK) == 0 &&
	    known_read(&k, known_steps(w), false, &err) == DTX_OK &&
	    k.result->output[0].rows == 1 && known_unchanged(&k))
		cells = known_cells(&k, row);
	if (nth)
		*nth = cells ? known_nth(&k, cells, *row) : 0;
	known_forget(&k);
	dtx_err_clear(&err);
	return cells;
}

json_t *dtx_why_types(const struct dtx_why *w)
{
	json_t *types = json_object(), *input, *field, *columns;
	size_t i, k;

	json_array_foreach(json_object_get(w->x.record, "inputs"), i, input)
	{
		columns = json_object();
		json_array_foreach(json_object_get(input, "schema"), k, field) json_object_set(
			columns, dtx_json_text(field, "name", ""), json_object_get(field, "type"));
		json_object_set_new(types, dtx_json_text(input, "alias", ""), columns);
	}
	return types;
}
