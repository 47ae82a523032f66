/* Reading one row of a result instead of making it again.
 *
 * With it the traced plan need not make the whole result to find the row (core/plan/trace.h).  All
 * of this is a short cut: whatever does not fit is no error, the long way has the answer. */
#include "cli/why_known.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/data/cast.h"

struct known {
	const struct dtx_why *w;
	struct dtx_source *source;
	struct dtx_plan *plan;
	struct dtx_exec_result *result;
	struct dtx_errlist findings;
};

/* A text file whose cells are read as they were written. */
static bool known_plain(const struct dtx_why *w)
{
	const json_t *writer = json_object_get(dtx_retrace_output(&w->x), "writer");
	const struct dtx_write_opts *o = &w->x.r.plan->output[w->x.output].opts;

	return dtx_str_in_list("csv,tsv", dtx_json_text(writer, "format", "")) && !o->no_header &&
	       !(o->null_text && *o->null_text);
}

static json_t *known_input(const struct dtx_why *w)
{
	const json_t *writer = json_object_get(dtx_retrace_output(&w->x), "writer");
	const struct dtx_write_opts *o = &w->x.r.plan->output[w->x.output].opts;
	bool tabs = !strcmp(dtx_json_text(writer, "format", ""), "tsv");
	char delimiter[2] = { tabs ? '\t' : o->delimiter ? o->delimiter : ',', '\0' };
	json_t *types = json_array(), *field;
	size_t i;

	json_array_foreach(json_object_get(dtx_retrace_output(&w->x), "schema"), i, field)
		json_array_append_new(types,
	                              json_pack("{sO ss}", "name", json_object_get(field, "name"),
	                                        "type", "text"));
	return json_pack("{ss ss si so s{ss ss}}", "name", "main", "format", "csv", "header_rows",
	                 1, "types", types, "dialect", "delimiter", delimiter, "quote", "\"");
}

/* The row by its number; or all that have the key, with their numbers. */
static json_t *known_plan(const struct dtx_why *w)
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
		dtx_trace_quoted(name, '`', &where);
		dtx_buf_add(&where, " == ");
		dtx_trace_quoted(json_string_value(value), '\'', &where);
		sep = " and ";
	}
	if (!w->key)
		dtx_buf_printf(&where, "dtx_row == %lld", (long long)w->row);
	json_array_append_new(steps,
	                      json_pack("{ss ss}", "op", "filter", "where", dtx_buf_text(&where)));
	dtx_buf_clear(&where);
	return json_pack("{si ss s[o] so}", "dtx", 1, "fallback", "off", "inputs", known_input(w),
	                 "steps", steps);
}

static enum dtx_code known_read(struct known *k, const char *path, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_host host = { 0 };
	json_t *made = known_plan(k->w);
	char *text = made ? json_dumps(made, JSON_COMPACT) : NULL;

	if (!text)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_plan_parse(dtx_str_of(text), NULL, &k->findings, &k->plan, err));
	DTX_TRY(dtx_plan_check(k->plan, &k->findings, err));
	k->plan->input[0].path = path;
	DTX_TRY(dtx_source_open(path, &k->source, err));
	dtx_source_hash_start(k->source, false);
	opts.input = &k->source;
	DTX_TRY(dtx_exec(k->plan, &opts, &host, &k->findings, &k->result, err));
out:
	json_decref(made);
	free(text);
	return rc;
}

/* The bytes that were read are those that were written. */
static bool known_unchanged(struct known *k)
{
	char sha[DTX_SHA256_HEX];

	return dtx_source_hash_wait(k->source, sha, NULL) == DTX_OK &&
	       !strcmp(sha, dtx_json_text(dtx_retrace_output(&k->w->x), "sha", ""));
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
		                    json_pack("{ss sO}", "text", dtx_buf_text(text), "type",
		                              json_object_get(field, "type")));
}

static json_t *known_cells(const struct known *k, int64_t *row)
{
	const struct dtx_table *t = k->result->output[0].table;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *cells = json_object(), *number = json_object(), *field, *one;
	size_t i, n;

	json_array_foreach(json_object_get(dtx_retrace_output(&k->w->x), "schema"), i, field)
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

json_t *dtx_why_known(const struct dtx_why *w, const char *path, int64_t *row)
{
	struct known k = { .w = w, .findings = DTX_ERRLIST_INIT };
	struct dtx_err err = DTX_ERR_INIT;
	json_t *cells = NULL;

	if (!known_plain(w))
		return NULL;
	if (access(path, R_OK) < 0)
		path = dtx_json_text(dtx_retrace_output(&w->x), "path", "-");
	if (access(path, R_OK) == 0 && known_read(&k, path, &err) == DTX_OK &&
	    k.result->output[0].rows == 1 && known_unchanged(&k))
		cells = known_cells(&k, row);
	dtx_exec_free(k.result);
	dtx_source_free(k.source);
	dtx_plan_free(k.plan);
	dtx_errlist_clear(&k.findings);
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
