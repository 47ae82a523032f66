/* Parses the inputs of a plan. Their members are described by parameter rows, as those of ops
 * are. */
#include <stdio.h>
#include <string.h>

#include "core/base/file.h"
#include "core/data/cast/cell_num.h"
#include "core/data/time/time.h"
#include "core/expr/regex/regex.h"
#include "core/io/columns.h"
#include "core/plan/plan_internal.h"

#define INT_MAX_JSON         DTX_PART_INT_MAX
#define ROW(type, member, k) .name = #member, .kind = (k), .offset = offsetof(struct type, member)

/* --- inputs --- */

struct type_args {
	const char *name, *type, *format;
	int on_error;
};
static const struct dtx_param type_rows[] = {
	{ ROW(type_args, name, DTX_P_COLUMN), .required = true, .help = "column" },
	{ ROW(type_args, type, DTX_P_TYPE), .required = true,
	  .help = "int, float, decimal(p,s), text, bool, date, datetime" },
	{ ROW(type_args, format, DTX_P_TEXT), .help = "format of a date or datetime" },
	{ ROW(type_args, on_error, DTX_P_CHOICE), .choices = "error,null,keep_text",
	  .def = "\"error\"", .help = "what becomes of a value that does not fit" },
};

struct input_args {
	const char *name, *range, *table, *query, *header_sep, *encoding, *rejects, *records,
		*source_file;
	int format, header_fill, names, repeated_header, extra, ragged, hidden, merged, bad_cells,
		duplicate_keys, syntax, columns, reader;
	const json_t *sheet, *header_rows;
	bool stream, partitions;
	int64_t skip, skip_tail, max_rejects;
	struct dtx_plist path, null_values, types, requires;
};
static const char *const readers[] = { "libcsv", "freexl" };
static const struct dtx_param input_rows[] = {
	{ ROW(input_args, name, DTX_P_TEXT), .required = true, .help = "name of the table" },
	{ ROW(input_args, path, DTX_P_TEXTS), .nonempty = true,
	  .help = "file, relative to the plan's folder; a pattern (*.csv) or a list of files is "
	          "read one after the other; a folder: all files in it" },
	{ ROW(input_args, columns, DTX_P_CHOICE), .choices = "same,union,intersect",
	  .help = "of several files: the same columns in any order; the union, null where a file "
	          "has none; or the intersection" },
	{ ROW(input_args, source_file, DTX_P_TEXT),
	  .help = "name of a new last column with the file, or the sheet, of each row" },
	{ ROW(input_args, partitions, DTX_P_BOOL),
	  .help = "folders such as year=2024 in the paths of the files are columns" },
	{ ROW(input_args, format, DTX_P_CHOICE), .choices = dtx_read_formats, .def = "\"auto\"",
	  .help = "auto: by content, then by suffix" },
	{ ROW(input_args, sheet, DTX_P_VALUE),
	  .schema = "{\"type\":[\"string\",\"integer\"],\"minimum\":1}",
	  .help = "name of the sheet, its number from 1, or {\"regex\": ...} that matches one "
	          "sheet; *: all visible sheets, one after the other; default: the first visible "
	          "sheet" },
	{ ROW(input_args, range, DTX_P_TEXT), .help = "cells to read, such as A4:O200 or 4:200" },
	{ ROW(input_args, table, DTX_P_TEXT),
	  .help = "table of a workbook, read without its totals; table or view of a database" },
	{ ROW(input_args, query, DTX_P_TEXT), .help = "SELECT that a database is asked" },
	{ ROW(input_args, header_rows, DTX_P_VALUE), .def = "\"auto\"",
	  .help = "number of header rows, 0 to 8; auto: found",
	  .schema = "{\"anyOf\":[{\"const\":\"auto\"},{\"type\":\"integer\",\"minimum\":0,"
	            "\"maximum\":8}]}" },
	{ ROW(input_args, header_sep, DTX_P_TEXT), .def = "\" \"",
	  .help = "text that joins the header rows of a column" },
	{ ROW(input_args, header_fill, DTX_P_CHOICE), .choices = "auto,merged,right,none",
	  .def = "\"auto\"", .help = "how blank header cells are filled" },
	{ ROW(input_args, names, DTX_P_CHOICE), .choices = "suffix,error", .def = "\"suffix\"",
	  .help = "a repeated header name gets a suffix, or is an error" },
	{ ROW(input_args, repeated_header, DTX_P_CHOICE), .choices = "keep,drop",
	  .help = "rows of a text file that repeat its header; default: keep" },
	{ ROW(input_args, skip, DTX_P_INT), .min = 0, .max = INT_MAX_JSON, .def = "0",
	  .help = "rows to cut off before the header, as they are in the file" },
	{ ROW(input_args, skip_tail, DTX_P_INT), .min = 0, .max = INT_MAX_JSON, .def = "0",
	  .help = "rows to cut off at the end, as they are in the file" },
	{ ROW(input_args, encoding, DTX_P_TEXT), .def = "\"auto\"",
	  .help = "such as utf-8, utf-16 or windows-1252" },
	{ ROW(input_args, null_values, DTX_P_TEXTS), .def = "[]",
	  .help = "texts that are read as null" },
	{ ROW(input_args, types, DTX_P_LIST), .rows = type_rows, .nrows = DTX_COUNT(type_rows),
	  .item_size = sizeof(struct type_args), .sugar = DTX_SUGAR_MAP, .def = "[]",
	  .help = "declared types; what a step reads and what the result holds must fit them" },
	{ ROW(input_args, requires, DTX_P_TEXTS), .def = "[]", .help = "columns that must exist" },
	{ ROW(input_args, extra, DTX_P_CHOICE), .choices = "allow,drop,error", .def = "\"allow\"",
	  .help = "columns that are neither in requires nor in types" },
	{ ROW(input_args, ragged, DTX_P_CHOICE), .choices = "error,pad,truncate,quarantine",
	  .def = "\"error\"", .help = "rows with more or fewer cells than the header" },
	{ ROW(input_args, rejects, DTX_P_TEXT), .help = "file for quarantined rows" },
	{ ROW(input_args, max_rejects, DTX_P_INT), .min = 1, .max = INT_MAX_JSON,
	  .help = "how many rows may be quarantined; default: 1000" },
	{ ROW(input_args, reader, DTX_P_CHOICE), .choices = "libcsv,freexl",
	  .help = "a second reader: libcsv, the reference reader of CSV; freexl, of an .xls only "
	          "the cells that it reads alike" },
	{ ROW(input_args, hidden, DTX_P_CHOICE), .choices = "keep,drop", .def = "\"keep\"",
	  .help = "hidden rows and columns" },
	{ ROW(input_args, merged, DTX_P_CHOICE), .choices = "anchor,fill", .def = "\"anchor\"",
	  .help = "cells of a merged range after its first: null, or the value of the first" },
	{ ROW(input_args, bad_cells, DTX_P_CHOICE), .choices = "null,text,error", .def = "\"null\"",
	  .help = "errors, formulas without a value, and dates that do not exist" },
	{ ROW(input_args, records, DTX_P_TEXT),
	  .help = "JSON pointer to the records of a document; \"\" takes the document as one "
	          "record; default: found" },
	{ ROW(input_args, duplicate_keys, DTX_P_CHOICE), .choices = "error,first,last",
	  .help = "which value of a repeated key of a JSON object counts" },
	{ ROW(input_args, syntax, DTX_P_CHOICE), .choices = "strict,lenient",
	  .help = "lenient also reads text that is nearly JSON" },
	{ ROW(input_args, stream, DTX_P_BOOL),
	  .help = "read the input once, as its bytes come, and never as a whole: csv or jsonl, "
	          "where the format, the delimiter and the types of all used columns are "
	          "declared" },
};

struct dialect_args {
	const char *delimiter, *quote, *escape, *comment, *decimal, *group, *quotes, *terminator;
	bool trim, mixed;
};
static const struct dtx_param dialect_rows[] = {
	{ ROW(dialect_args, delimiter, DTX_P_TEXT),
	  .help = "character between cells; default: found; empty: none, each line is one cell" },
	{ ROW(dialect_args, quote, DTX_P_TEXT), .sugar = DTX_SUGAR_FALSE,
	  .help = "character around cells; default: found; empty or false: none" },
	{ ROW(dialect_args, escape, DTX_P_TEXT), .help = "character before a literal quote" },
	{ ROW(dialect_args, comment, DTX_P_TEXT), .help = "lines that begin with it are skipped" },
	{ ROW(dialect_args, decimal, DTX_P_TEXT), .help = "decimal mark" },
	{ ROW(dialect_args, group, DTX_P_TEXT), .help = "digit group mark" },
	{ ROW(dialect_args, quotes, DTX_P_TEXT),
	  .help = "how quotes are read: literal, strict, lenient or lines" },
	{ ROW(dialect_args, terminator, DTX_P_TEXT),
	  .help = "character that ends a record; default: line ends" },
	{ ROW(dialect_args, trim, DTX_P_BOOL), .help = "remove blanks around cells" },
	{ ROW(dialect_args, mixed, DTX_P_BOOL),
	  .help = "a record of another width may have another delimiter, or none" },
};

/* Reads members into args by parameter rows; findings go to the plan's list. */
enum dtx_code dtx_part_fill(struct dtx_plan_parse *p, const struct dtx_param *rows, size_t n,
                            const json_t *object, const char *at, const char *skip, void *args,
                            struct dtx_err *err)
{
	struct dtx_param_hooks hooks = dtx_part_hooks_template;
	struct dtx_param_ctx ctx = { .arena = &p->plan->arena,
		                     .hooks = &hooks,
		                     .errs = p->findings,
		                     .skip = skip,
		                     .step = -1,
		                     .op = "",
		                     .kept = p->plan->kept };
	enum dtx_code rc = DTX_OK;

	hooks.arg = &(struct dtx_part_arg){ &p->plan->arena, p->plan->params };
	DTX_TRY(dtx_param_fill(rows, n, object, at, &ctx, args, err));
out:
	return rc;
}

enum dtx_code dtx_part_canonical(const struct dtx_param *rows, size_t n, const void *args,
                                 json_t *object, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!object || !dtx_param_canonical(rows, n, args, &dtx_part_hooks_template, object))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Paths in a plan are relative to the folder of the plan. */
enum dtx_code dtx_part_path(struct dtx_plan_parse *p, const char *path, const char **out,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*out = path;
	if (!path || !p->dir || !*p->dir || path[0] == '/' || strcmp(path, "-") == 0)
		goto out;
	*out = dtx_arena_printf(&p->plan->arena, "%s/%s", p->dir, path);
	if (!*out)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_part_choice(struct dtx_plan_parse *p, const char *choices, int choice,
                              const char **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str rest = dtx_str_of(choices), name = { "", 0 };

	*out = NULL;
	for (int i = 0; i <= choice && dtx_str_next(&rest, ',', &name); i++)
		;
	if (choice >= 0)
		*out = dtx_arena_strndup(&p->plan->arena, name.ptr, name.len);
	if (choice >= 0 && !*out)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_part_format(struct dtx_plan_parse *p, const char *choices, int choice,
                              const char **out, struct dtx_err *err)
{
	return dtx_part_choice(p, choices, choice > 0 ? choice : -1, out, err);
}

/* Reads `path`, which is one name or a list. */
static enum dtx_code input_files(struct dtx_plan_parse *p, const struct input_args *a,
                                 struct dtx_plan_input *in, struct dtx_err *err)
{
	const char *const *written = a->path.item;
	enum dtx_code rc = DTX_OK;

	in->columns = a->columns > 0 ? (enum dtx_files_columns)a->columns : DTX_FILES_SAME;
	in->source_file = a->source_file;
	in->partitions = a->partitions;
	if (!a->path.n || dtx_param_is_hole(written[0]))
		goto out;
	in->nfiles = a->path.n;
	in->file = dtx_arena_zalloc(&p->plan->arena, in->nfiles, sizeof(*in->file));
	if (!in->file)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < in->nfiles; i++) {
		in->file[i].shown = written[i];
		DTX_TRY(dtx_part_path(p, written[i], &in->file[i].path, err));
	}
	in->path = in->file[0].path;
out:
	return rc;
}

static enum dtx_code sheet_text(struct dtx_plan_parse *p, const json_t *v, const char *at,
                                const char **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!v || json_is_null(v))
		goto out;
	if (json_is_string(v)) {
		*out = json_string_value(v);
	} else if (json_is_integer(v) && json_integer_value(v) >= 1) {
		*out = dtx_arena_printf(&p->plan->arena, "%lld", (long long)json_integer_value(v));
		if (!*out)
			DTX_FAIL_MEM(err);
	} else {
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_TYPE, at, err,
		                      "'sheet' is a name or a number from 1"));
	}
out:
	return rc;
}

/* Reads {"regex": "^FY"}, which stands for the one sheet whose name matches. */
static enum dtx_code sheet_like(struct dtx_plan_parse *p, const json_t *v, const char *at,
                                struct dtx_plan_input *in, json_t *canon, struct dtx_err *err)
{
	const char *pattern = json_string_value(json_object_get(v, "regex"));
	struct dtx_err bad = DTX_ERR_INIT;
	struct dtx_regex *regex;
	enum dtx_code rc = DTX_OK;

	if (!pattern || json_object_size(v) != 1) {
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_TYPE, at, err,
		                      "'sheet' is a name, a number from 1, or {\"regex\": ...}"));
		goto out;
	}
	if (dtx_regex_compile(&p->plan->arena, dtx_str_of(pattern), &regex, &bad) != DTX_OK)
		DTX_TRY(dtx_part_fail(p, bad.code, at, err, "%s", bad.msg));
	in->sheet_like = pattern;
	if (!dtx_json_set(canon, "sheet", json_deep_copy(v)))
		DTX_FAIL_MEM(err);
out:
	dtx_err_clear(&bad);
	return rc;
}

static enum dtx_code header_rows(struct dtx_plan_parse *p, const json_t *v, const char *at,
                                 int *out, struct dtx_err *err)
{
	*out = -1;
	if (!v || json_is_null(v) ||
	    (json_is_string(v) && strcmp(json_string_value(v), "auto") == 0))
		return DTX_OK;
	if (json_is_integer(v) && json_integer_value(v) >= 0 && json_integer_value(v) <= 8) {
		*out = (int)json_integer_value(v);
		return DTX_OK;
	}
	return dtx_part_fail(p, DTX_E_BAD_PARAM_VALUE, at, err,
	                     "'header_rows' is \"auto\" or 0 to 8");
}

static enum dtx_code type_format(struct dtx_plan_parse *p, const struct type_args *t, size_t i,
                                 const json_t *written, const char *input, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_format_fault fault;
	char at[160];

	if (!t->format || dtx_time_format_check(dtx_str_of(t->format), DTX_FORMAT_READ, &fault))
		return DTX_OK;
	snprintf(at, sizeof(at), "%s/types", input);
	if (json_is_array(written))
		dtx_json_pointer_index(at, sizeof(at), i);
	else if (!json_object_get(written, "format"))
		dtx_json_pointer_add(at, sizeof(at), t->name);
	dtx_json_pointer_add(at, sizeof(at), "format");
	DTX_TRY(dtx_part_fail(p, DTX_E_BAD_FORMAT, at, err, "%s", fault.what));
	dtx_part_advise(p, fault.hint);
out:
	return rc;
}

static enum dtx_code input_types(struct dtx_plan_parse *p, const struct input_args *a,
                                 const json_t *object, struct dtx_plan_input *in,
                                 struct dtx_err *err)
{
	const struct type_args *t = a->types.item;
	struct dtx_read_type *types =
		dtx_arena_zalloc(&p->plan->arena, a->types.n + 1, sizeof(*types));
	enum dtx_code rc = DTX_OK;

	if (!types)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < a->types.n; i++) {
		types[i] = (struct dtx_read_type){ .name = t[i].name,
			                           .format = t[i].format,
			                           .on_error = (enum dtx_cast_error)t[i].on_error };
		/* A type that cannot be parsed has been reported already. */
		if (!dtx_type_parse(dtx_str_of(t[i].type), &types[i].type))
			types[i].type.type = DTX_T_UNKNOWN;
		DTX_TRY(type_format(p, &t[i], i, json_object_get(object, "types"), in->at, err));
	}
	in->opts.types = types;
	in->opts.ntypes = a->types.n;
	dtx_columns_index(&p->plan->arena, &in->opts);
out:
	return rc;
}

enum dtx_code dtx_part_char(struct dtx_plan_parse *p, const char *text, const char *at,
                            const char *what, char *out, struct dtx_err *err)
{
	if (!text)
		return DTX_OK;
	if (strlen(text) != 1)
		return dtx_part_fail(p, DTX_E_BAD_PARAM_VALUE, at, err,
		                     "'%s' is one ASCII character, got '%s'", what, text);
	*out = text[0];
	return DTX_OK;
}

static enum dtx_code input_dialect(struct dtx_plan_parse *p, const json_t *object,
                                   struct dtx_plan_input *in, json_t *canon, struct dtx_err *err)
{
	struct dialect_args a = { 0 };
	const json_t *d = json_object_get(object, "dialect");
	json_t *c = NULL;
	char at[64];
	enum dtx_code rc = DTX_OK;

	if (!d || json_is_null(d))
		goto out;
	snprintf(at, sizeof(at), "%s/dialect", in->at);
	if (!json_is_object(d)) {
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_TYPE, at, err, "'dialect' is an object"));
		goto out;
	}
	DTX_TRY(dtx_part_fill(p, dialect_rows, DTX_COUNT(dialect_rows), d, at, "", &a, err));
	in->opts.delimiter = a.delimiter;
	in->opts.quote = a.quote;
	in->opts.escape = a.escape;
	in->opts.comment = a.comment;
	in->opts.quotes = a.quotes;
	in->opts.terminator = a.terminator;
	in->opts.trim = a.trim;
	in->opts.mixed = a.mixed;
	DTX_TRY(dtx_part_char(p, a.decimal, at, "decimal", &in->opts.decimal, err));
	if (!a.group || !dtx_group_mark(a.group, &in->opts.group))
		DTX_TRY(dtx_part_char(p, a.group, at, "group", &in->opts.group, err));
	c = json_object();
	DTX_TRY(dtx_part_canonical(dialect_rows, DTX_COUNT(dialect_rows), &a, c, err));
	if (!dtx_json_set(canon, "dialect", json_incref(c)))
		DTX_FAIL_MEM(err);
out:
	json_decref(c);
	return rc;
}

static void input_opts(const struct input_args *a, struct dtx_read_opts *o)
{
	o->alias = a->name;
	o->range = a->range;
	o->reader = a->reader < 0 ? NULL : readers[a->reader];
	o->header_sep = a->header_sep ? a->header_sep : " ";
	o->header_fill = (enum dtx_header_fill)a->header_fill;
	o->names_unique_error = a->names == 1;
	o->headers_drop = a->repeated_header == 1;
	o->skip = a->skip;
	o->skip_tail = a->skip_tail;
	o->encoding = a->encoding && strcmp(a->encoding, "auto") != 0 ? a->encoding : NULL;
	o->null_values = a->null_values.item;
	o->nnull_values = a->null_values.n;
	o->requires = a->requires.item;
	o->nrequires = a->requires.n;
	o->extra = a->extra == 1   ? DTX_EXTRA_DROP
	           : a->extra == 2 ? DTX_EXTRA_ERROR
	                           : DTX_EXTRA_ALLOW;
	o->ragged = (enum dtx_ragged)a->ragged;
	o->max_rejects = a->max_rejects ? a->max_rejects : o->max_rejects;
	o->hidden_drop = a->hidden == 1;
	o->table = a->table;
	o->query = a->query;
	o->merged_fill = a->merged == 1;
	o->bad_cells = (unsigned)a->bad_cells;
	o->records = a->records;
	o->duplicate_keys =
		a->duplicate_keys > 0 ? (enum dtx_keys)a->duplicate_keys : DTX_KEYS_ERROR;
	o->json_lenient = a->syntax == 1;
	o->stream = a->stream;
}

static enum dtx_code input_name(struct dtx_plan_parse *p, struct dtx_plan_input *in,
                                struct dtx_err *err)
{
	char at[sizeof(in->at) + 8];
	size_t before = p->findings->n;
	enum dtx_code rc = DTX_OK;

	snprintf(at, sizeof(at), "%s/name", in->at);
	if (!dtx_part_name_ok(in->name)) {
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_VALUE, at, err,
		                      "a table name is letters, digits and _, got '%s'", in->name));
		dtx_part_advise(p, "as in \"orders_2024\": steps name the table so");
		return DTX_OK;
	}
	for (struct dtx_plan_input *k = p->plan->input; k < in; k++)
		if (k->name && strcmp(k->name, in->name) == 0)
			DTX_TRY(dtx_part_fail(p, DTX_E_DUPLICATE_TABLE, at, err,
			                      "there is another input '%s'", in->name));
	if (p->findings->n > before)
		dtx_part_advise(p, "each table has a name of its own");
out:
	return rc;
}

/* Whether a step fills blank cells from those above or below. Then the author of the plan knows
 * that the sheet has merged ranges. */
static bool plan_fills(const json_t *plan)
{
	const json_t *steps = json_object_get(plan, "steps");
	const char *preset;
	size_t i;

	for (i = 0; i < json_array_size(steps); i++) {
		const char *name = dtx_json_text(json_array_get(steps, i), "op", "");
		const struct dtx_op *op = dtx_op_find(name, &preset);

		if (op && op->facts.fills)
			return true;
	}
	return false;
}

static enum dtx_code parse_input(struct dtx_plan_parse *p, const json_t *object, json_t *list,
                                 struct dtx_plan_input *in, struct dtx_err *err)
{
	struct dtx_read_opts defaults = DTX_READ_OPTS_INIT;
	struct input_args a = { 0 };
	json_t *canon = NULL, *families = json_object_get(object, "families");
	const json_t *sheet = json_object_get(object, "sheet");
	char at[64];
	enum dtx_code rc = DTX_OK;

	in->opts = defaults;
	in->limits = dtx_archive_limits_default;
	in->name = "main";
	if (!json_is_object(object)) {
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_TYPE, in->at, err,
		                      "an input is an object"));
		dtx_part_advise(p, "as in {\"name\": \"main\", \"path\": \"in.csv\"}");
		return DTX_OK;
	}
	DTX_TRY(dtx_part_fill(p, input_rows, DTX_COUNT(input_rows), object, in->at,
	                      json_is_object(sheet) ? "dialect,families,archive,sheet"
	                                            : "dialect,families,archive",
	                      &a, err));
	canon = json_object();
	DTX_TRY(dtx_part_canonical(input_rows, DTX_COUNT(input_rows), &a, canon, err));
	json_object_del(canon, "path");
	input_opts(&a, &in->opts);
	DTX_TRY(dtx_part_format(p, dtx_read_formats, a.format, &in->opts.format, err));
	in->opts.merged_known = json_object_get(object, "merged") || plan_fills(p->plan->json);
	in->name = in->opts.alias = dtx_param_is_hole(a.name) ? "main" : a.name;
	if (!dtx_param_is_hole(a.name))
		DTX_TRY(input_name(p, in, err));
	DTX_TRY(input_files(p, &a, in, err));
	DTX_TRY(dtx_part_path(p, a.rejects, &in->opts.rejects, err));
	snprintf(at, sizeof(at), "%s/sheet", in->at);
	if (json_is_object(sheet))
		DTX_TRY(sheet_like(p, sheet, at, in, canon, err));
	else
		DTX_TRY(sheet_text(p, a.sheet, at, &in->opts.sheet, err));
	snprintf(at, sizeof(at), "%s/header_rows", in->at);
	DTX_TRY(header_rows(p, a.header_rows, at, &in->opts.header_rows, err));
	DTX_TRY(dtx_part_archive(p, object, in->at, &in->limits, err));
	DTX_TRY(input_types(p, &a, object, in, err));
	DTX_TRY(input_dialect(p, object, in, canon, err));
	if (families && !json_is_null(families) && !json_is_array(families)) {
		snprintf(at, sizeof(at), "%s/families", in->at);
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_TYPE, at, err,
		                      "'families' is a list of patterns"));
	} else if (families && !json_is_null(families) &&
	           !dtx_json_set(canon, "families", json_deep_copy(families)))
		DTX_FAIL_MEM(err);
	in->families = json_object_get(canon, "families");
	in->canonical = canon;
	if (json_array_append(list, canon) != 0)
		DTX_FAIL_MEM(err);
out:
	json_decref(canon);
	return rc;
}

enum dtx_code dtx_part_inputs(struct dtx_plan_parse *p, struct dtx_err *err)
{
	struct dtx_plan *plan = p->plan;
	const json_t *inputs = json_object_get(plan->json, "inputs");
	json_t *list = json_array(), *one = NULL;
	size_t n = json_is_array(inputs) ? json_array_size(inputs) : 1, before;
	enum dtx_code rc = DTX_OK;

	if (!list)
		DTX_FAIL_MEM(err);
	if (n == 0 || n > DTX_PLAN_INPUTS) {
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_VALUE, "/inputs", err,
		                      "a plan has 1 to %d inputs", DTX_PLAN_INPUTS));
		n = n ? DTX_PLAN_INPUTS : 1;
	}
	plan->input = dtx_arena_zalloc(&plan->arena, n, sizeof(*plan->input));
	one = json_pack("{s:s}", "name", "main");
	if (!plan->input || !one || !dtx_part_keep(plan, json_incref(one)))
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < n; i++) {
		const json_t *item = json_is_array(inputs) ? json_array_get(inputs, i) : inputs;

		if (!item || json_is_null(item))
			item = one;
		if (inputs && !json_is_null(inputs)) /* otherwise there is nothing to point to */
			snprintf(plan->input[i].at, sizeof(plan->input[i].at),
			         json_is_array(inputs) ? "/inputs/%zu" : "/inputs", i);
		plan->ninputs = (uint32_t)i + 1;
		before = p->findings->n;
		DTX_TRY(parse_input(p, item, list, &plan->input[i], err));
		plan->input[i].broken = p->findings->n > before;
	}
	if (!dtx_json_set(plan->canonical, "inputs", json_incref(list)))
		DTX_FAIL_MEM(err);
out:
	json_decref(one);
	json_decref(list);
	return rc;
}

/* --- members that the command line sets --- */

static const struct dtx_param *row_named(const struct dtx_param *rows, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n && strcmp(rows[i].name, name) != 0; i++)
		;
	return i < n ? &rows[i] : NULL;
}

static const struct dtx_param *member_named(const char *name, bool *dialect)
{
	const struct dtx_param *row = row_named(input_rows, DTX_COUNT(input_rows), name);

	*dialect = !row;
	return row ? row : row_named(dialect_rows, DTX_COUNT(dialect_rows), name);
}

bool dtx_plan_input_has(const char *name)
{
	bool dialect;

	return member_named(name, &dialect) != NULL;
}

/* A member on the command line. Text parameters keep the text as it is; for others it is parsed as
 * JSON if possible. */
static json_t *member_value(const struct dtx_param *row, const char *text)
{
	bool list = row->kind == DTX_P_TEXTS || row->kind == DTX_P_LIST;
	bool plain = row->kind == DTX_P_TEXT || row->kind == DTX_P_CHOICE ||
	             (list && text[0] != '[' && text[0] != '{');
	json_t *v = plain ? NULL : json_loads(text, JSON_DECODE_ANY, NULL);

	return v ? v : json_string(text);
}

enum dtx_code dtx_plan_input_member(json_t *object, const char *text, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *eq = strchr(text, '='), *known[DTX_COUNT(input_rows) + DTX_COUNT(dialect_rows)];
	struct dtx_str name = { text, eq ? (size_t)(eq - text) : strlen(text) };
	const struct dtx_param *row;
	char member[32];
	bool dialect;
	json_t *to;
	size_t i;

	dtx_str_copy(member, sizeof(member), name);
	row = eq ? member_named(member, &dialect) : NULL;
	if (!eq)
		DTX_FAIL(err, DTX_E_USAGE, "option '--read' takes MEMBER=VALUE, got '%.80s'", text);
	if (!strcmp(member, "name") || !strcmp(member, "path"))
		DTX_FAIL(err, DTX_E_USAGE,
		         "option '--read': '%s' of the input is what the command line names",
		         member);
	if (!row) {
		dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		            "option '--read': an input has no member '%s'", member);
		for (i = 0; i < DTX_COUNT(known); i++)
			known[i] = i < DTX_COUNT(input_rows)
			                   ? input_rows[i].name
			                   : dialect_rows[i - DTX_COUNT(input_rows)].name;
		dtx_err_suggest(err, member, known, DTX_COUNT(known));
		dtx_err_hint(err, "man dtx-plan lists what an input can have");
		rc = DTX_E_USAGE;
		goto out;
	}
	to = object;
	if (dialect) {
		to = json_object_get(object, "dialect");
		if (!to && dtx_json_set(object, "dialect", json_object()))
			to = json_object_get(object, "dialect");
	}
	if (!to || !dtx_json_set(to, member, member_value(row, eq + 1)))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Parses the input again with the members in `object`; its files stay the same. */
static enum dtx_code input_again(struct dtx_plan *plan, uint32_t i, const json_t *object,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_plan_input *in = &plan->input[i], before = *in;
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_plan_parse p = { .plan = plan, .findings = &findings };
	json_t *list = json_array();

	if (!list || !dtx_part_keep(plan, list))
		DTX_FAIL_MEM(err);
	DTX_TRY(parse_input(&p, object, list, in, err));
	if (findings.n) {
		dtx_err_copy(err, &findings.item[0]);
		err->at[0] = '\0';
		rc = err->code = DTX_E_USAGE;
		goto out;
	}
	in->name = in->opts.alias = before.name;
	in->path = before.path;
	in->file = before.file;
	in->nfiles = before.nfiles;
	in->shown = before.shown;
	in->opts.rejects = before.opts.rejects ? before.opts.rejects : in->opts.rejects;
	in->canonical = before.canonical;
	in->limits = before.limits;
out:
	dtx_errlist_clear(&findings);
	return rc;
}

enum dtx_code dtx_plan_input_set(struct dtx_plan *plan, uint32_t i, const char *const *member,
                                 size_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *object = n ? json_deep_copy(plan->input[i].canonical) : NULL;

	if (!n)
		goto out;
	if (!object || !dtx_part_keep(plan, object))
		DTX_FAIL_MEM(err);
	for (size_t k = 0; k < n; k++)
		DTX_TRY(dtx_plan_input_member(object, member[k], err));
	DTX_TRY(input_again(plan, i, object, err));
out:
	return rc;
}

json_t *dtx_part_input_schema(void)
{
	json_t *props = dtx_param_schema(input_rows, DTX_COUNT(input_rows));
	json_t *sheet = json_object_get(props, "sheet");
	json_t *like =
		json_pack("{s:s, s:{s:{s:s}}, s:[s], s:b}", "type", "object", "properties", "regex",
	                  "type", "string", "required", "regex", "additionalProperties", 0);
	json_t *any = json_pack("{s:[o, O]}", "anyOf", like, sheet);

	if (!any || json_object_set(any, "description", json_object_get(sheet, "description")) ||
	    json_object_set_new(props, "sheet", any)) {
		json_decref(any);
		json_decref(props);
		return NULL;
	}
	return props;
}

json_t *dtx_part_dialect_schema(void)
{
	return dtx_param_schema(dialect_rows, DTX_COUNT(dialect_rows));
}
