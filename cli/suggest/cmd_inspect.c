/* inspect: shows what a file contains, before there is a plan for it. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/suggest/celldump.h"
#include "cli/run/read_opts.h"
#include "cli/suggest/look.h"
#include "cli/suggest/propose/propose.h"
#include "cli/terminal.h"
#include "core/base/text/num.h"
#include "core/base/text/utf8.h"
#include "core/io/sheet/book_info.h"
#include "core/io/repair.h"
#include "core/io/write/text_style.h"

struct inspect_args {
	struct dtx_run_args run; /* first, because it has the reading options */
	bool json, cells, plan;
	int64_t rows;
};

#define AT(member) .offset = offsetof(struct inspect_args, member)
static const struct dtx_opt inspect_opts[] = {
	{ .name = "cells",
	  .kind = DTX_O_FLAG,
	  AT(cells),
	  .help = "every non-empty cell of a workbook, one JSON object a line" },
	{ .name = "json", .kind = DTX_O_FLAG, AT(json), .help = "as JSON" },
	{ .name = "plan",
	  .kind = DTX_O_FLAG,
	  AT(plan),
	  .help = "only a plan that reads the file as found, with the suggested steps" },
	{ .name = "rows",
	  .kind = DTX_O_INT,
	  .metavar = "N",
	  AT(rows),
	  .min = 1,
	  .max = 1000,
	  .help = "rows of the sample (8)" },
	{ .name = "limit",
	  .kind = DTX_O_LIST,
	  .metavar = "archive.NAME=N",
	  AT(run.limit),
	  .help = "change a limit on what the file may unpack to, see dtx run --help" },
	DTX_READ_OPTS(run.),
	{ .name = "progress",
	  .kind = DTX_O_CHOICE,
	  .choices = "auto,json,off",
	  AT(run.progress),
	  .help = "after a second: a line on a terminal, or JSON lines on stderr" },
	{ .name = "repair",
	  .kind = DTX_O_FLAG,
	  AT(run.repair),
	  .help = "read what is refused with the remedy it names; each change is listed, with its "
	          "count and first line" },
};

struct inspection {
	const struct dtx_cli *cli;
	const struct inspect_args *args;
	struct dtx_look look;
	uint32_t most; /* columns that a list shows */
};

/* --- as JSON --- */

static json_t *inspect_sample(const struct inspection *x)
{
	json_t *rows = json_array();
	struct dtx_buf cell = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	size_t k;
	uint32_t i, c;

	for (k = 0; k < x->look.profile.sample->nbatches; k++) {
		const struct dtx_batch *b = x->look.profile.sample->batch[k];

		for (i = 0; i < b->nsel; i++) {
			json_t *row = json_array();

			for (c = 0; c < b->ncols; c++) {
				uint32_t at = b->sel ? b->sel[i] : i;

				dtx_buf_reset(&cell);
				dtx_cast_print(b->col[c], at, &cell);
				json_array_append_new(row,
				                      dtx_column_is_null(b->col[c], at)
				                              ? json_null()
				                              : json_string(dtx_buf_text(&cell)));
			}
			json_array_append_new(rows, row);
		}
	}
	dtx_buf_clear(&cell);
	return rows;
}

static json_t *inspect_columns(const struct inspection *x)
{
	json_t *list = json_array(), *column;
	struct dtx_buf type = DTX_BUF_INIT(256), evidence = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	uint32_t i;

	for (i = 0; i < x->look.profile.schema->nfields; i++) {
		dtx_buf_reset(&type);
		dtx_buf_reset(&evidence);
		dtx_type_print(dtx_profile_type(&x->look.profile, i), &type);
		dtx_profile_evidence(&x->look.profile, i, &evidence);
		column = json_pack("{ss ss sI ss}", "name", x->look.profile.schema->field[i].name,
		                   "type", dtx_buf_text(&type), "nulls",
		                   (json_int_t)x->look.profile.col[i].nulls, "evidence",
		                   dtx_buf_text(&evidence));
		if (column && dtx_colstat_json(&x->look.profile.stat[i],
		                               dtx_profile_type(&x->look.profile, i), column))
			json_array_append(list, column);
		json_decref(column);
	}
	dtx_buf_clear(&type);
	dtx_buf_clear(&evidence);
	return list;
}

static json_t *inspect_findings(const struct inspection *x)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < x->look.repaired.n; i++)
		json_array_append_new(list, dtx_out_error_json(&x->look.repaired.item[i]));
	for (i = 0; i < x->look.reader->diags.n; i++)
		json_array_append_new(list, dtx_out_error_json(&x->look.reader->diags.item[i]));
	return list;
}

static int inspect_json(const struct inspection *x)
{
	json_t *all =
		json_pack("{ss so so sI so so so sO sO}", "format", x->look.reader->cls->name,
	                  "sheets", x->look.sheets ? json_incref(x->look.sheets) : json_null(),
	                  "reader", x->look.describe ? json_incref(x->look.describe) : json_null(),
	                  "rows", (json_int_t)x->look.profile.rows, "columns", inspect_columns(x),
	                  "sample", inspect_sample(x), "findings", inspect_findings(x),
	                  "suggestions", x->look.suggested.found, "proposals", x->look.proposals);
	int status = dtx_out_json(x->cli, all, 1);

	json_decref(all);
	return status;
}

/* --- as text --- */

/* Appends a text in a style, if the output gets colours. */
static void inspect_style(const struct inspection *x, const char *style, const char *text,
                          struct dtx_buf *out)
{
	bool colour = *style && dtx_terminal_colours(x->cli);

	dtx_buf_printf(out, "%s%s%s", colour ? style : "", text, colour ? DTX_STYLE_END : "");
}

static void inspect_pairs(const struct inspection *x, const json_t *object, struct dtx_buf *out)
{
	struct dtx_buf number = DTX_BUF_INIT(256);
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)object, key, v)
	{
		if (json_is_null(v) || json_is_object(v) || json_is_array(v))
			continue;
		dtx_buf_printf(out, "  %s ", key);
		dtx_buf_reset(&number);
		if (json_is_string(v)) {
			dtx_out_safe(out, json_string_value(v), false);
			continue;
		}
		dtx_json_print(v, 0, &number);
		inspect_style(x, json_is_number(v) ? DTX_STYLE_NUMBER : "", dtx_buf_text(&number),
		              out);
	}
	dtx_buf_add(out, "\n");
	dtx_buf_clear(&number);
}

/* Prints the dialect of a text file; each byte is written as in JSON. */
static void inspect_dialect(const struct inspection *x, struct dtx_buf *out)
{
	json_t *dialect = json_object_get(x->look.describe, "dialect"), *v;
	const char *key;

	if (!dialect)
		return;
	inspect_style(x, DTX_STYLE_HEADER, "dialect", out);
	json_object_foreach(dialect, key, v)
	{
		dtx_buf_printf(out, "  %s ", key);
		if (json_is_real(v))
			dtx_buf_printf(out, "%.2f", json_real_value(v));
		else
			dtx_json_print(v, 0, out);
	}
	dtx_buf_add(out, "\n");
}

static void inspect_head(const struct inspection *x, struct dtx_buf *out)
{
	char number[32];
	size_t i;
	json_t *sheet;

	dtx_out_safe(out, x->look.runner.plan->input[0].path, false);
	dtx_buf_printf(out, ": %s, %lld rows x %u columns\n", x->look.reader->cls->name,
	               (long long)x->look.profile.rows, (unsigned)x->look.profile.schema->nfields);
	json_array_foreach(x->look.sheets, i, sheet)
	{
		snprintf(number, sizeof(number), "sheet %zu", i + 1);
		inspect_style(x, DTX_STYLE_HEADER, number, out);
		dtx_buf_add(out, " ");
		inspect_pairs(x, sheet, out);
	}
	inspect_style(x, DTX_STYLE_HEADER, "read as", out);
	dtx_buf_add(out, " ");
	inspect_pairs(x, x->look.describe, out);
	inspect_dialect(x, out);
	if (x->cli->verbose) {
		dtx_out_ledger(&x->look.reader->stats, out);
		dtx_buf_add(out, "\n");
	}
}

static void inspect_pad(struct dtx_buf *out, const char *text, size_t width)
{
	size_t start, used;

	dtx_buf_add(out, "  ");
	start = out->len;
	dtx_out_safe(out, text, false);
	used = dtx_utf8_width(out->ptr + start, out->len - start);
	dtx_buf_printf(out, "%*s", (int)(used < width ? width - used : 0), "");
}

/* On a terminal, lists of many columns show the first and the last ones. Skips the columns from *i
 * that are left out, and says so; a single one takes no more room than to say so. */
static void inspect_skip(const struct inspection *x, uint32_t *i, struct dtx_buf *out)
{
	uint32_t n = x->look.profile.schema->nfields;

	if (n <= x->most || n - x->most == 1 || *i != (x->most + 1) / 2)
		return;
	dtx_buf_printf(out, "  \u2026 %u more columns, with --pager or --json\n", n - x->most);
	*i += n - x->most;
}

static void inspect_schema(const struct inspection *x, struct dtx_buf *out)
{
	struct dtx_buf type = DTX_BUF_INIT(256);
	uint32_t i;

	dtx_buf_add(out, "\n");
	inspect_style(x, DTX_STYLE_HEADER, "columns", out);
	dtx_buf_add(out, "\n");
	for (i = 0; i < x->look.profile.schema->nfields; i++) {
		inspect_skip(x, &i, out);
		dtx_buf_reset(&type);
		dtx_type_print(dtx_profile_type(&x->look.profile, i), &type);
		inspect_pad(out, x->look.profile.schema->field[i].name, 28);
		inspect_pad(out, dtx_buf_text(&type), 14);
		dtx_profile_evidence(&x->look.profile, i, out);
		dtx_buf_add(out, "\n");
	}
	dtx_buf_clear(&type);
}

/* Prints the range and a histogram, or the most frequent values. */
static void inspect_lie(const struct dtx_colstat *c, struct dtx_typeref type, struct dtx_buf *out)
{
	const struct dtx_colstat_range *r = dtx_colstat_range(c, type.type);
	size_t top[3], n, i;

	if (r) {
		dtx_colstat_bound(type, r->lo, out);
		dtx_buf_add(out, " to ");
		dtx_colstat_bound(type, r->hi, out);
		dtx_buf_add(out, "  ");
		dtx_colstat_draw(r, out);
		return;
	}
	n = dtx_colstat_top(c, top, DTX_COUNT(top));
	for (i = 0; i < n; i++) {
		const struct dtx_colstat_value *v = &c->value[top[i]];

		dtx_buf_add(out, i ? ", " : "");
		dtx_buf_json(out, v->text);
		if (v->count > 1)
			dtx_buf_printf(out, " %llu times", (unsigned long long)v->count);
	}
	if (c->nvalues > n)
		dtx_buf_add(out, ", ...");
}

static void inspect_profiles(const struct inspection *x, struct dtx_buf *out)
{
	char n[DTX_NUM_TEXT], cell[DTX_NUM_TEXT + 16];
	uint32_t i;

	snprintf(cell, sizeof(cell), "%-30s %8s %11s   range", "profile", "null", "distinct");
	dtx_buf_add(out, "\n");
	inspect_style(x, DTX_STYLE_HEADER, cell, out);
	dtx_buf_add(out, "\n");
	for (i = 0; i < x->look.profile.schema->nfields; i++) {
		const struct dtx_colstat *c;

		inspect_skip(x, &i, out);
		c = &x->look.profile.stat[i];
		inspect_pad(out, x->look.profile.schema->field[i].name, 28);
		dtx_num_print_grouped(n, (int64_t)c->nulls);
		snprintf(cell, sizeof(cell), " %8s", n);
		inspect_style(x, DTX_STYLE_NUMBER, cell, out);
		dtx_num_print_grouped(n, (int64_t)c->nvalues);
		snprintf(cell, sizeof(cell), "  %9s%s", n, c->many ? "+" : " ");
		inspect_style(x, DTX_STYLE_NUMBER, cell, out);
		dtx_buf_add(out, "  ");
		inspect_lie(c, dtx_profile_type(&x->look.profile, i), out);
		while (out->len && out->ptr[out->len - 1] == ' ')
			out->len--;
		dtx_buf_add(out, "\n");
	}
}

static void inspect_suggestions(const struct inspection *x, struct dtx_buf *out)
{
	const char *key;
	size_t i;
	json_t *f, *what, *first = json_array_get(x->look.proposals, 0);

	if (json_is_true(json_object_get(first, "sure"))) {
		dtx_buf_addc(out, '\n');
		dtx_propose_text(first, out);
	}
	if (!json_array_size(x->look.suggested.found))
		return;
	dtx_buf_add(out, "\n");
	inspect_style(x, DTX_STYLE_HEADER, "suggested (as a plan: --plan)", out);
	dtx_buf_add(out, "\n");
	json_array_foreach(x->look.suggested.found, i, f)
	{
		dtx_buf_printf(out, "  %s\n", json_string_value(json_object_get(f, "finding")));
		json_object_foreach(f, key, what)
		{
			if (!strcmp(key, "finding"))
				continue;
			dtx_buf_printf(out, "    %s ", key);
			dtx_json_print(what, 0, out);
			dtx_buf_add(out, "\n");
		}
	}
}

static int inspect_print_plan(struct inspection *x)
{
	json_t *plan = dtx_look_plan(&x->look);
	int status = dtx_out_json(x->cli, plan, 1);

	json_decref(plan);
	return status;
}

static enum dtx_code inspect_rows(struct inspection *x, struct dtx_buf *out, struct dtx_err *err)
{
	char title[48];
	enum dtx_code rc = DTX_OK;
	const struct dtx_writer_class *cls = &dtx_write_text;
	struct dtx_write_opts opts = DTX_WRITE_OPTS_INIT;
	struct dtx_outfile *file = NULL;
	struct dtx_writer *w = NULL;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX), part = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	size_t i;

	dtx_terminal_fit(x->cli, &opts);
	opts.height = opts.height ? UINT_MAX : 0; /* all rows, but only the columns that fit */
	DTX_TRY(dtx_outfile_memory(&text, &file, err));
	DTX_TRY(cls->open(file, &opts, x->look.profile.schema, &w, err));
	for (i = 0; i < x->look.profile.sample->nbatches; i++) {
		dtx_buf_reset(&part);
		DTX_TRY(cls->format(w, x->look.profile.sample->batch[i], &part, err));
		DTX_TRY(cls->put(w, x->look.profile.sample->batch[i], &part, err));
	}
	DTX_TRY(cls->finish(w, err));
	DTX_TRY(dtx_outfile_finish(file, err));
	DTX_TRY(dtx_outfile_commit(file, err));
	snprintf(title, sizeof(title), "first %lld rows", (long long)x->look.profile.sample->nrows);
	dtx_buf_add(out, "\n");
	inspect_style(x, DTX_STYLE_HEADER, title, out);
	dtx_buf_add(out, "\n");
	dtx_buf_adds(out, dtx_buf_str(&text));
out:
	if (w)
		cls->close(w);
	dtx_outfile_free(file);
	dtx_buf_clear(&part);
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code inspect_text(struct inspection *x, int *status, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf out = DTX_BUF_INIT((size_t)1 << 30);
	struct dtx_write_opts opts = DTX_WRITE_OPTS_INIT;

	dtx_terminal_fit(x->cli, &opts);
	x->most = opts.height ? DTX_MAX(opts.height / 3, 8U) : UINT32_MAX;
	inspect_head(x, &out);
	inspect_schema(x, &out);
	inspect_profiles(x, &out);
	DTX_TRY(inspect_rows(x, &out, err));
	inspect_suggestions(x, &out);
	*status = dtx_out_print(x->cli, &out);
out:
	dtx_buf_clear(&out);
	return rc;
}

static int inspect_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	const struct inspect_args *a = args;
	struct inspection x = { .cli = cli, .args = a };
	struct dtx_out_where where = { .each = true };
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc;
	int status = 0;

	(void)argc;
	if (a->cells)
		return dtx_cells_main(cli, argv[0], a->run.sheet);
	dtx_look_init(&x.look, cli, &a->run, NULL);
	x.look.repairs = true;
	rc = dtx_look_open(&x.look, argv[0], (uint32_t)(a->rows ? a->rows : 8), &err);
	where.inputs = x.look.runner.plan;
	dtx_out_errors(cli, &x.look.repaired, &where);
	if (rc == DTX_OK)
		dtx_out_errors(cli, &x.look.reader->diags, &where);
	if (rc == DTX_OK && a->plan)
		status = inspect_print_plan(&x);
	else if (rc == DTX_OK && a->json)
		status = inspect_json(&x);
	else if (rc == DTX_OK)
		rc = inspect_text(&x, &status, &err);
	if (rc != DTX_OK) {
		dtx_out_error(cli, &err, &where);
		status = dtx_code_exit(rc, err.run_time);
	}
	dtx_look_clear(&x.look);
	dtx_err_clear(&err);
	return status;
}

const struct dtx_cmd dtx_cmd_inspect = {
	.name = "inspect",
	.usage = "FILE",
	.summary =
		"Show sheets, dialect, columns with the evidence for their types, repairs, and a "
		"sample",
	.notes = "  dtx inspect export.csv\n"
		 "  dtx inspect report.xlsx --plan > plan.json\n"
		 "  dtx inspect book.xlsx --sheet 2 --rows 20\n"
		 "  dtx inspect --cells book.xlsx | jq -c 'select(.kind == \"error\")'",
	.exits = "0 done; 4 the file cannot be read; 8 limit",
	.opts = inspect_opts,
	.nopts = DTX_COUNT(inspect_opts),
	.args_size = sizeof(struct inspect_args),
	.min_args = 1,
	.max_args = 1,
	.run = inspect_run,
};
