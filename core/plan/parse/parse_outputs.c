/* Parses the members of a plan other than inputs and steps: outputs, options, limits. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/plan/plan_internal.h"

#define ROW(type, member, k) .name = #member, .kind = (k), .offset = offsetof(struct type, member)

/* --- outputs --- */

struct output_args {
	const char *path, *sheet, *delimiter, *null_text, *eol, *into, *table;
	int format, quote, float_style, if_exists, codec;
	bool header, bom, stamp, as_table;
};
static const struct dtx_param output_rows[] = {
	{ ROW(output_args, path, DTX_P_TEXT),
	  .help = "file, relative to the plan's folder; - is stdout" },
	{ ROW(output_args, format, DTX_P_CHOICE), .choices = dtx_write_formats, .def = "\"auto\"",
	  .help = "auto: by suffix" },
	{ ROW(output_args, sheet, DTX_P_TEXT), .help = "name of the sheet of an .xlsx" },
	{ ROW(output_args, delimiter, DTX_P_TEXT), .def = "\",\"",
	  .help = "character between cells of CSV" },
	{ ROW(output_args, header, DTX_P_BOOL), .def = "true",
	  .help = "write the names of the columns" },
	{ ROW(output_args, null_text, DTX_P_TEXT), .def = "\"\"",
	  .help = "text that is written for a null" },
	{ ROW(output_args, quote, DTX_P_CHOICE), .choices = "minimal,all", .def = "\"minimal\"",
	  .help = "quote the cells that need it, or all" },
	{ ROW(output_args, bom, DTX_P_BOOL), .def = "false",
	  .help = "begin the file with a byte order mark" },
	{ ROW(output_args, eol, DTX_P_TEXT), .def = "\"\\n\"", .help = "line end" },
	{ ROW(output_args, float_style, DTX_P_CHOICE), .choices = "keep,trim", .def = "\"keep\"",
	  .help = "trim writes 100.0 as 100" },
	{ ROW(output_args, stamp, DTX_P_BOOL), .def = "true",
	  .help = "write the run id into an .xlsx" },
	{ ROW(output_args, as_table, DTX_P_BOOL),
	  .help = "make the cells of an .xlsx a real table; default: false" },
	{ ROW(output_args, into, DTX_P_TEXT),
	  .help = "table of a database that gets the rows; default: table, else the name of the "
	          "file" },
	/* no .def, nor that of codec: it would change the ids of all plans */
	{ ROW(output_args, if_exists, DTX_P_CHOICE), .choices = "fail,replace,append",
	  .help = "where a database has that table: fail, the default, replace its rows, or "
	          "append" },
	{ ROW(output_args, codec, DTX_P_CHOICE), .choices = DTX_WRITE_CODECS,
	  .help = "how a file of columns is compressed; default: zstd" },
	{ ROW(output_args, table, DTX_P_TABLE),
	  .help = "the table of the step with this out name; default: the result of the plan" },
};

static enum dtx_code output_opts(struct dtx_plan_parse *p, const struct output_args *a,
                                 struct dtx_plan_output *o, struct dtx_err *err)
{
	struct dtx_write_opts defaults = DTX_WRITE_OPTS_INIT;
	enum dtx_code rc = DTX_OK;

	o->opts = defaults;
	DTX_TRY(dtx_part_format(p, dtx_write_formats, a->format, &o->format, err));
	o->opts.format = o->format;
	o->opts.sheet = a->sheet;
	DTX_TRY(dtx_part_char(p, a->delimiter, o->at, "delimiter", &o->opts.delimiter, err));
	o->opts.no_header = !a->header;
	o->opts.quote_all = a->quote == 1;
	o->opts.bom = a->bom;
	o->opts.float_trim = a->float_style == 1;
	o->opts.no_stamp = !a->stamp;
	o->opts.as_table = a->as_table;
	o->opts.into = a->into;
	o->opts.if_exists = (unsigned)DTX_MAX(a->if_exists, 0);
	DTX_TRY(dtx_part_choice(p, DTX_WRITE_CODECS, a->codec, &o->opts.codec, err));
	o->opts.null_text = a->null_text ? a->null_text : "";
	if (a->eol && strcmp(a->eol, "\r\n") == 0)
		o->opts.crlf = true;
	else if (a->eol && strcmp(a->eol, "\n") != 0)
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_VALUE, o->at, err,
		                      "'eol' is \"\\n\" or \"\\r\\n\""));
	o->table_name = a->table;
	DTX_TRY(dtx_part_path(p, a->path, &o->path, err));
out:
	return rc;
}

static enum dtx_code parse_output(struct dtx_plan_parse *p, const json_t *object, json_t *list,
                                  struct dtx_plan_output *o, struct dtx_err *err)
{
	struct output_args a = { .header = true, .stamp = true, .codec = -1, .if_exists = -1 };
	json_t *canon = NULL;
	enum dtx_code rc = DTX_OK;

	o->table = -1;
	if (!json_is_object(object)) {
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_TYPE, o->at, err,
		                      "an output is an object"));
		dtx_part_advise(p, "as in {\"path\": \"out.csv\"}");
		return DTX_OK;
	}
	DTX_TRY(dtx_part_fill(p, output_rows, DTX_COUNT(output_rows), object, o->at, "", &a, err));
	DTX_TRY(output_opts(p, &a, o, err));
	canon = json_object();
	DTX_TRY(dtx_part_canonical(output_rows, DTX_COUNT(output_rows), &a, canon, err));
	json_object_del(canon, "path");
	if (json_array_append(list, canon) != 0)
		DTX_FAIL_MEM(err);
out:
	json_decref(canon);
	return rc;
}

/* The name of the output's table in its file. */
static const char *name_in_file(const struct dtx_plan_output *o, const struct dtx_writer_class *cls)
{
	if (dtx_str_in_list(cls->uses, "sheet"))
		return o->opts.sheet ? o->opts.sheet : "Sheet1";
	return o->opts.into ? o->opts.into : o->table_name ? o->table_name : "";
}

/* Refuses two outputs with one path, where the second would overwrite the first: a workbook or a
 * database holds several tables if they have names. */
static enum dtx_code output_apart(struct dtx_plan_parse *p, const struct dtx_plan_output *o,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_writer_class *cls = dtx_writer_find(o->format, o->path);
	char at[sizeof(o->at) + 8];

	snprintf(at, sizeof(at), "%s/path", o->at);
	for (const struct dtx_plan_output *k = p->plan->output; o->path && k < o; k++) {
		bool holds = cls && cls->begin && strcmp(o->path, "-") &&
		             dtx_writer_find(k->format, k->path) == cls;

		if (!k->path || strcmp(k->path, o->path) != 0)
			continue;
		if (holds && strcasecmp(name_in_file(k, cls), name_in_file(o, cls)) != 0)
			continue;
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_VALUE, at, err,
		                      "another output goes to '%s', too", o->path));
		dtx_part_advise(p, !holds ? "each output is a file of its own"
		                   : dtx_str_in_list(cls->uses, "sheet")
		                           ? "each has a \"sheet\" of its own"
		                           : "each has an \"into\" of its own");
		break;
	}
out:
	return rc;
}

enum dtx_code dtx_part_outputs(struct dtx_plan_parse *p, struct dtx_err *err)
{
	struct dtx_plan *plan = p->plan;
	const json_t *output = json_object_get(plan->json, "output");
	json_t *list = json_array(), *none = json_object();
	size_t n = json_is_array(output) ? json_array_size(output) : 1;
	size_t most = p->made ? DTX_PLAN_OUTPUTS_MADE : DTX_PLAN_OUTPUTS;
	enum dtx_code rc = DTX_OK;

	if (!list || !none)
		DTX_FAIL_MEM(err);
	if (n == 0 || n > most) {
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_VALUE, "/output", err,
		                      "a plan has 1 to %d outputs", DTX_PLAN_OUTPUTS));
		n = n ? most : 1;
	}
	plan->output = dtx_arena_zalloc(&plan->arena, n, sizeof(*plan->output));
	if (!plan->output)
		DTX_FAIL_MEM(err);
	plan->noutputs = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		const json_t *item = json_is_array(output) ? json_array_get(output, i) : output;

		snprintf(plan->output[i].at, sizeof(plan->output[i].at),
		         json_is_array(output) ? "/output/%zu" : "/output", i);
		DTX_TRY(parse_output(p, item && !json_is_null(item) ? item : none, list,
		                     &plan->output[i], err));
		DTX_TRY(output_apart(p, &plan->output[i], err));
	}
	if (!dtx_json_set(plan->canonical, "output", json_incref(list)))
		DTX_FAIL_MEM(err);
out:
	json_decref(none);
	json_decref(list);
	return rc;
}

/* --- options, limits --- */

struct option_args {
	int overflow, div_zero;
};
static const struct dtx_param option_rows[] = {
	{ ROW(option_args, overflow, DTX_P_CHOICE), .choices = "error,null,float",
	  .def = "\"error\"", .help = "what becomes of a result that does not fit its type" },
	{ ROW(option_args, div_zero, DTX_P_CHOICE), .choices = "null,error", .def = "\"null\"",
	  .help = "what becomes of a division by zero" },
};
#define LIMIT(member, least, most, text, d)                                                        \
	{                                                                                          \
		ROW(dtx_plan_limits, member, DTX_P_INT), .min = least, .max = most, .help = text,  \
							 .def = d                                  \
	}
static const struct dtx_param limit_rows[] = {
	LIMIT(rows, 0, DTX_PART_INT_MAX, "rows that any table may have", NULL),
	LIMIT(growth, 0, DTX_PART_INT_MAX, "rows that a step may make per row that it reads", "16"),
	LIMIT(cols, 1, DTX_PLAN_COLS_MAX, "columns that any table may have", "16384"),
	LIMIT(pivot_cols, 0, DTX_PLAN_COLS_MAX, "columns that a pivot may make", "4096"),
	LIMIT(memory_mb, 0, DTX_PART_INT_MAX, "memory in MiB; less than 16 counts as 16", NULL),
	LIMIT(time_s, 0, DTX_PART_INT_MAX, "wall time in seconds", NULL),
};

static enum dtx_code member_object(struct dtx_plan_parse *p, const char *name, const char *at,
                                   const json_t **out, struct dtx_err *err)
{
	const json_t *v = json_object_get(p->plan->json, name);

	*out = NULL;
	if (!v || json_is_null(v))
		return DTX_OK;
	if (!json_is_object(v))
		return dtx_part_fail(p, DTX_E_BAD_PARAM_TYPE, at, err, "'%s' is an object", name);
	*out = v;
	return DTX_OK;
}

/* A limit that is absent is -1. The parameter rows give 0 for an absent integer, so check whether
 * the member is there. */
static void absent_limits(const json_t *object, struct dtx_plan_limits *l)
{
	struct dtx_plan_limits d = DTX_PLAN_LIMITS_INIT;
	int64_t *to = &l->rows;
	const int64_t *from = &d.rows;

	for (size_t i = 0; i < DTX_COUNT(limit_rows); i++)
		if (!json_is_integer(json_object_get(object, limit_rows[i].name)))
			to[i] = from[i];
}

enum dtx_code dtx_part_options(struct dtx_plan_parse *p, struct dtx_err *err)
{
	struct dtx_plan *plan = p->plan;
	struct dtx_plan_limits limits = DTX_PLAN_LIMITS_INIT;
	struct option_args a = { 0 };
	const json_t *o;
	json_t *canon = json_object();
	enum dtx_code rc = DTX_OK;

	plan->limits = limits;
	DTX_TRY(member_object(p, "options", "/options", &o, err));
	if (o)
		DTX_TRY(dtx_part_fill(p, option_rows, DTX_COUNT(option_rows), o, "/options", "", &a,
		                      err));
	plan->options.overflow = a.overflow;
	plan->options.div_zero_error = a.div_zero == 1;
	DTX_TRY(dtx_part_canonical(option_rows, DTX_COUNT(option_rows), &a, canon, err));
	if (!dtx_json_set(plan->canonical, "options", json_incref(canon)))
		DTX_FAIL_MEM(err);
	DTX_TRY(member_object(p, "limits", "/limits", &o, err));
	if (o) {
		DTX_TRY(dtx_part_fill(p, limit_rows, DTX_COUNT(limit_rows), o, "/limits", "",
		                      &plan->limits, err));
		absent_limits(o, &plan->limits);
	}
out:
	json_decref(canon);
	return rc;
}

json_t *dtx_part_schema(const char *member)
{
	if (strcmp(member, "inputs") == 0)
		return dtx_part_input_schema();
	if (strcmp(member, "dialect") == 0)
		return dtx_part_dialect_schema();
	if (strcmp(member, "archive") == 0)
		return dtx_part_archive_schema();
	if (strcmp(member, "output") == 0)
		return dtx_param_schema(output_rows, DTX_COUNT(output_rows));
	if (strcmp(member, "options") == 0)
		return dtx_param_schema(option_rows, DTX_COUNT(option_rows));
	return dtx_param_schema(limit_rows, DTX_COUNT(limit_rows));
}
