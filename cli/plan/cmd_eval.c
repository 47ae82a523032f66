/* eval: computes one formula on a row given as JSON. */
#include "cli/out.h"
#include "core/base/log.h"
#include "core/base/text/num.h"
#include "core/data/builder.h"
#include "core/data/cast/cast.h"
#include "core/data/time/time.h"
#include "core/expr/expr.h"

#define EVAL_ROW_BYTES ((size_t)1 << 20)
#define EVAL_ROW_DEPTH 64

struct eval_args {
	const char *row;
	bool json;
};

static const struct dtx_opt eval_opts[] = {
	{ .name = "row",
	  .kind = DTX_O_TEXT,
	  .metavar = "JSON",
	  .offset = offsetof(struct eval_args, row),
	  .help = "an object: its members are the columns (ISO dates are dates)" },
	{ .name = "json",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct eval_args, json),
	  .help = "print {\"value\", \"type\"} on one line" },
};

/* The row as a batch with one row, with the types that the JSON reader would give. */
struct eval_row {
	struct dtx_arena arena;
	struct dtx_schema schema;
	struct dtx_batch *batch;
};

static struct dtx_typeref eval_type(const json_t *v)
{
	struct dtx_typeref t = { .type = DTX_T_TEXT };
	struct dtx_str s;
	int32_t day;
	int64_t us;
	bool zoned;

	switch (json_typeof(v)) {
	case JSON_NULL: t.type = DTX_T_NULL; break;
	case JSON_TRUE:
	case JSON_FALSE: t.type = DTX_T_BOOL; break;
	case JSON_INTEGER: t.type = DTX_T_INT64; break;
	case JSON_REAL: t.type = DTX_T_FLOAT64; break;
	case JSON_STRING:
		s = (struct dtx_str){ json_string_value(v), json_string_length(v) };
		if (dtx_day_parse(s, &day))
			t.type = DTX_T_DATE;
		else if (dtx_datetime_parse(s, &us, &zoned))
			t = zoned ? DTX_TYPE_UTC : (struct dtx_typeref){ .type = DTX_T_DATETIME };
		break;
	case JSON_OBJECT:
	case JSON_ARRAY: break;
	}
	return t;
}

static void eval_text(struct dtx_builder *b, const json_t *v)
{
	struct dtx_buf nested = DTX_BUF_INIT(EVAL_ROW_BYTES);

	if (json_is_string(v)) {
		dtx_builder_text(b,
		                 (struct dtx_str){ json_string_value(v), json_string_length(v) });
		return;
	}
	dtx_json_print(v, 0, &nested);
	dtx_builder_text(b, dtx_buf_str(&nested));
	dtx_buf_clear(&nested);
}

static void eval_cell(struct dtx_builder *b, const json_t *v)
{
	struct dtx_str s = { json_string_value(v), json_string_length(v) };
	int32_t day = 0;
	int64_t us = 0;
	bool zoned;

	switch (b->type.type) {
	case DTX_T_NULL: dtx_builder_null(b); break;
	case DTX_T_BOOL: dtx_builder_bool(b, json_is_true(v)); break;
	case DTX_T_INT64: dtx_builder_i64(b, json_integer_value(v)); break;
	case DTX_T_FLOAT64: dtx_builder_f64(b, json_real_value(v)); break;
	case DTX_T_DATE:
		if (dtx_day_parse(s, &day))
			dtx_builder_day(b, day);
		break;
	case DTX_T_DATETIME:
		if (dtx_datetime_parse(s, &us, &zoned))
			dtx_builder_i64(b, us);
		break;
	default: eval_text(b, v); break;
	}
}

static enum dtx_code eval_column(struct eval_row *row, uint32_t i, const json_t *v,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_builder b;

	dtx_builder_init(&b, row->schema.field[i].type, 1);
	eval_cell(&b, v);
	DTX_TRY(dtx_builder_finish(&b, NULL, &row->batch->col[i], err));
out:
	dtx_builder_clear(&b);
	return rc;
}

static enum dtx_code eval_row_make(struct eval_row *row, const char *text, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_json_limits limits = { EVAL_ROW_BYTES, EVAL_ROW_DEPTH };
	struct dtx_field *field;
	json_t *object = NULL, *v;
	const char *key;
	uint32_t i = 0;

	DTX_TRY(dtx_json_parse(dtx_str_of(text), limits, &object, err));
	if (!json_is_object(object))
		DTX_FAIL(err, DTX_E_USAGE, "option '--row' takes a JSON object");
	field = dtx_arena_zalloc(&row->arena, json_object_size(object) + 1, sizeof(*field));
	if (!field)
		DTX_FAIL_MEM(err);
	json_object_foreach(object, key, v)
	{
		field[i].name = dtx_arena_strdup(&row->arena, key);
		field[i].type = eval_type(v);
		field[i].source = true;
		if (!field[i++].name)
			DTX_FAIL_MEM(err);
	}
	row->schema = (struct dtx_schema){ .nfields = i, .field = field };
	DTX_TRY(dtx_batch_new(&row->schema, 1, &row->batch, err));
	i = 0;
	json_object_foreach(object, key, v) DTX_TRY(eval_column(row, i++, v, err));
out:
	json_decref(object);
	return rc;
}

static int32_t eval_find(void *arg, const char *name, struct dtx_field *field, struct dtx_err *err)
{
	const struct eval_row *row = arg;
	int32_t i = dtx_schema_find(&row->schema, name);
	const char *names[64];
	uint32_t n;

	if (i >= 0) {
		*field = row->schema.field[i];
		return i;
	}
	dtx_err_set(err, DTX_E_UNKNOWN_COLUMN, __FILE__, __LINE__, "no column '%s' here", name);
	for (n = 0; n < row->schema.nfields && n < DTX_COUNT(names); n++)
		names[n] = row->schema.field[n].name;
	dtx_err_suggest(err, name, names, n);
	if (!n)
		dtx_err_hint(err, "give the columns with --row '{\"%s\": 1}'", name);
	return -1;
}

static void eval_use(void *arg, int32_t column, enum dtx_demand demand, enum dtx_class cls)
{
	(void)arg, (void)column, (void)demand, (void)cls;
}

static void eval_print_json(const struct dtx_column *c, struct dtx_buf *out)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	char number[DTX_NUM_TEXT];

	dtx_cast_print(c, 0, &text);
	dtx_buf_add(out, "{\"value\":");
	if (dtx_column_is_null(c, 0))
		dtx_buf_add(out, "null");
	else if (c->type.type == DTX_T_FLOAT64)
		dtx_buf_addn(out, number, dtx_num_print_json(number, c->v.f64[0]));
	else if (dtx_type_is_number(c->type.type) || c->type.type == DTX_T_BOOL)
		dtx_buf_adds(out, dtx_buf_str(&text));
	else
		dtx_buf_json(out, dtx_buf_str(&text));
	dtx_buf_add(out, ",\"type\":\"");
	dtx_type_print(c->type, out);
	dtx_buf_add(out, "\"}");
	dtx_buf_clear(&text);
}

static void eval_print(const struct eval_args *a, const struct dtx_column *c, struct dtx_buf *out)
{
	if (a->json)
		eval_print_json(c, out);
	else if (dtx_column_is_null(c, 0))
		dtx_buf_add(out, "null");
	else
		dtx_cast_print(c, 0, out);
	dtx_buf_add(out, "\n");
}

static enum dtx_code eval_value(struct eval_row *row, const char *text, struct dtx_column **out,
                                struct dtx_errlist *errs, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_scope scope = { .arg = row, .column = eval_find, .use = eval_use };
	struct dtx_eval_counts counts = { 0 };
	struct dtx_expr *expr;
	struct dtx_bound *bound;

	scope.run_date = (int32_t)(dtx_wall_us() / DTX_DAY_US);
	DTX_TRY(dtx_expr_parse(&row->arena, dtx_str_of(text), &expr, err));
	DTX_TRY(dtx_expr_bind(&row->arena, expr, &scope,
	                      (struct dtx_typeref){ .type = DTX_T_UNKNOWN }, NULL, &bound, errs,
	                      err));
	if (bound)
		DTX_TRY(dtx_eval(bound, row->batch, out, &counts, err));
out:
	return rc;
}

/* A formula alone has no table: its one row is that of --row. */
static void eval_place(struct dtx_err *err)
{
	err->row = -1;
	if (err->column[0])
		dtx_str_copy(err->input, sizeof(err->input), DTX_STR("--row"));
}

static int eval_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	const struct eval_args *a = args;
	struct eval_row row = { .arena = DTX_ARENA_INIT };
	struct dtx_errlist errs = DTX_ERRLIST_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_out_where where = { .expr = argv[0] };
	struct dtx_column *value = NULL;
	enum dtx_code rc = DTX_OK;
	int status = 0;
	size_t i;

	(void)argc;
	DTX_TRY(eval_row_make(&row, a->row ? a->row : "{}", &err));
	DTX_TRY(eval_value(&row, argv[0], &value, &errs, &err));
	for (i = 0; i < errs.n; i++) /* a snippet cannot replace a formula alone */
		if (errs.item[i].severity == DTX_SEV_FALLBACK)
			errs.item[i].severity = DTX_SEV_ERROR;
	for (i = 0; i < errs.n; i++)
		eval_place(&errs.item[i]);
	dtx_out_errors(cli, &errs, &where);
	if (dtx_errlist_worst(&errs))
		status = dtx_code_exit(dtx_errlist_worst(&errs)->code, false);
	if (!value)
		goto out;
	eval_print(a, value, &out);
	status = dtx_out_print(cli, &out);
out:
	if (rc != DTX_OK) {
		eval_place(&err);
		dtx_out_error(cli, &err, &where);
		status = dtx_code_exit(rc, err.run_time);
	}
	dtx_column_unref(value);
	dtx_batch_free(row.batch);
	dtx_arena_clear(&row.arena);
	dtx_errlist_clear(&errs);
	dtx_err_clear(&err);
	dtx_buf_clear(&out);
	return status;
}

const struct dtx_cmd dtx_cmd_eval = {
	.name = "eval",
	.usage = "EXPR",
	.summary = "Print the value of a formula",
	.notes = "  dtx eval 'round(2.675, 2)'\n"
		 "  dtx eval 'hours / (people * 40)' --row '{\"hours\": 1300, \"people\": 40}'\n\n"
		 "A null prints as null.",
	.exits = "0 done; 3 the formula is wrong; 4 it fails on this row",
	.opts = eval_opts,
	.nopts = DTX_COUNT(eval_opts),
	.args_size = sizeof(struct eval_args),
	.min_args = 1,
	.max_args = 1,
	.run = eval_run,
};
