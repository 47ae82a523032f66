/* cast: columns to declared types, strictly. */
#include "core/data/time/time.h"
#include "ops/kit/opkit.h"

struct cast_item {
	const char *name, *type, *format;
	int on_error;
};
struct cast_args {
	struct dtx_plist types;
};
enum { ON_ERROR, ON_NULL, ON_KEEP_TEXT };
struct cast_one {
	int32_t col;
	bool keep_text;
	bool written; /* cast from the text as written, not from the value */
	struct dtx_cast_spec spec;
};
struct cast_state {
	struct cast_one *one;
	uint32_t n;
	bool keeps; /* some column stays text or not depending on its values */
};

static const struct dtx_param cast_item_rows[] = {
	{ .name = "name",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  .offset = offsetof(struct cast_item, name),
	  .help = "column" },
	{ .name = "type",
	  .kind = DTX_P_TYPE,
	  .required = true,
	  .offset = offsetof(struct cast_item, type),
	  .help = "text, int, float, decimal(p,s), bool, date or datetime" },
	{ .name = "format",
	  .kind = DTX_P_TEXT,
	  .offset = offsetof(struct cast_item, format),
	  .help = "of a date or datetime, such as %d/%m/%Y" },
	{ .name = "on_error",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct cast_item, on_error),
	  .choices = "error,null,keep_text",
	  .def = "\"error\"",
	  .help = "what to do with a value that does not fit; keep_text: one such value leaves the "
	          "whole column as text" },
};
static const struct dtx_param cast_params[] = {
	{ .name = "types",
	  .kind = DTX_P_LIST,
	  .required = true,
	  .nonempty = true,
	  .offset = offsetof(struct cast_args, types),
	  .rows = cast_item_rows,
	  .nrows = DTX_COUNT(cast_item_rows),
	  .item_size = sizeof(struct cast_item),
	  .sugar = DTX_SUGAR_MAP,
	  .aliases = "columns,dtypes,dtype,column_types",
	  .help = "columns and their types" },
};
static const struct dtx_example cast_examples[] = {
	{ .step = DTX_JSON({ "op" : "cast", "types" : [ { "name" : "a", "type" : "float" } ] }),
	  .in = "a,b\n1,1.50\n,2\n",
	  .out = "a,b\n1.0,1.50\n,2\n" },
	{ .step = DTX_JSON({ "op" : "astype", "types" : { "d" : "int" } }),
	  .in = "d\n1.0\n2.0\n",
	  .out = "d\n1\n2\n" },
	{ .step = DTX_JSON({
		  "op" : "cast",
		  "types" : [ { "name" : "d", "type" : "date", "format" : "%d/%m/%Y" } ]
	  }),
	  .in = "d,n\n31/01/2024,1\n,2\n",
	  .out = "d,n\n2024-01-31,1\n,2\n" },
	{ .step = DTX_JSON({
		  "op" : "cast",
		  "types" : [ { "name" : "a", "type" : "int", "on_error" : "null" } ]
	  }),
	  .in = "a,b\n1,p\nx,q\n2,r\n",
	  .out = "a,b\n1,p\n,q\n2,r\n" },
	{ .step = DTX_JSON({
		  "op" : "cast",
		  "types" : [
			  { "name" : "a", "type" : "int", "on_error" : "keep_text" },
			  { "name" : "b", "type" : "float", "on_error" : "keep_text" },
			  { "name" : "c", "type" : "int" }
		  ]
	  }),
	  .in = "a,b,c\n01,1,2.0\nx,2,\n",
	  .out = "a,b,c\n01,1.0,2\nx,2.0,\n" },
	{ .step = DTX_JSON({ "op" : "cast", "types" : { "a" : "text" } }),
	  .in = "a,b\n1.50,x\n",
	  .out = "a,b\n1.50,x\n" },
	{ .step = DTX_JSON({ "op" : "cast", "types" : { "a" : "int" } }),
	  .in = "a\n12.7\n1\n",
	  .error = "cast_failed",
	  .message = "cannot read '12.7' as int" },
};

/* Whether to cast from the written text: a guessed number or date has been read by other rules than
 * those of the cast. */
static bool from_written(const struct dtx_cast_spec *spec, struct dtx_typeref from)
{
	return spec->format || spec->to.type == DTX_T_TEXT || spec->to.type == DTX_T_DECIMAL ||
	       from.type == DTX_T_TEXT || from.type == DTX_T_UNKNOWN;
}

static enum dtx_code spec_bind(struct dtx_bind *b, const struct cast_item *item, size_t k,
                               struct dtx_cast_spec *spec, struct dtx_err *err)
{
	struct dtx_format_fault fault;
	enum dtx_code rc = DTX_OK;
	char sub[48];

	memset(spec, 0, sizeof(*spec));
	spec->format = item->format;
	spec->on_error = item->on_error == ON_ERROR ? DTX_CAST_ERROR : DTX_CAST_NULL;
	if (!dtx_type_parse(dtx_str_of(item->type), &spec->to))
		spec->to.type = DTX_T_UNKNOWN;
	snprintf(sub, sizeof(sub), "/types/%zu/format", k);
	if (item->format && spec->to.type != DTX_T_DATE && spec->to.type != DTX_T_DATETIME)
		DTX_TRY(dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, sub, err,
		                      "only a date or datetime has a format"));
	else if (item->format &&
	         !dtx_time_format_check(dtx_str_of(item->format), DTX_FORMAT_READ, &fault))
		DTX_TRY(dtx_bind_fail_next(b, DTX_E_BAD_FORMAT, sub, fault.hint, err, "%s",
		                           fault.what));
out:
	return rc;
}

static enum dtx_code cast_bind_one(struct dtx_bind *b, const struct cast_args *a, size_t k,
                                   struct cast_state *s, int32_t *place, struct dtx_err *err)
{
	const struct cast_item *item = (const struct cast_item *)a->types.item + k;
	enum dtx_code rc = DTX_OK;
	struct cast_one *one = &s->one[s->n];
	const struct dtx_field *field;
	char sub[48];

	snprintf(sub, sizeof(sub), "/types/%zu/name", k);
	DTX_TRY(dtx_bind_column(b, 0, item->name, sub, &one->col, err));
	DTX_TRY(spec_bind(b, item, k, &one->spec, err));
	if (one->col < 0)
		goto out;
	if (place[one->col] >= 0)
		DTX_TRY(dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, sub, err,
		                      "column '%s' is cast twice", item->name));
	else
		place[one->col] = (int32_t)s->n;
	field = &b->in[0]->field[one->col];
	if (one->spec.to.type == DTX_T_DATETIME && !one->spec.format &&
	    dtx_type_is_utc(field->type))
		one->spec.to = field->type;
	one->keep_text = item->on_error == ON_KEEP_TEXT;
	s->keeps = s->keeps || one->keep_text;
	one->written = from_written(&one->spec, field->type);
	one->spec.decimal_comma = field->decimal_comma;
	one->spec.group = field->group;
	one->spec.as_text = field->type.type == DTX_T_TEXT;
	s->n++;
out:
	return rc;
}

static enum dtx_code bind_out(struct dtx_bind *b, const struct cast_one *one, int32_t i,
                              struct dtx_err *err)
{
	const struct dtx_typeref later = { .type = DTX_T_UNKNOWN };
	enum dtx_code rc = DTX_OK;

	if (!one)
		return dtx_bind_pass(b, 0, i, NULL, err);
	DTX_TRY(dtx_bind_use(b, (int32_t)b->ncols, 0, i,
	                     one->written ? DTX_DEMAND_BYTES : DTX_DEMAND_VALUE, err));
	DTX_TRY(dtx_bind_make(b, b->in[0]->field[i].name,
	                      one->keep_text && !b->typed ? later : one->spec.to, NULL, "cast",
	                      err));
	b->col[b->ncols - 1].field.declared = one->keep_text || one->spec.to.type == DTX_T_TEXT;
out:
	return rc;
}

static enum dtx_code cast_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct cast_args *a = args;
	enum dtx_code rc = DTX_OK;
	int32_t *place;
	struct cast_state *s = dtx_bind_state(b, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	s->one = dtx_arena_zalloc(b->arena, a->types.n + 1, sizeof(*s->one));
	/* an open input may gain a column with each name */
	place = dtx_cols_places(b->arena, NULL, 0, b->in[0]->nfields + (uint32_t)a->types.n);
	if (!s->one || !place)
		DTX_FAIL_MEM(err);
	for (size_t k = 0; k < a->types.n; k++)
		DTX_TRY(cast_bind_one(b, a, k, s, place, err));
	for (uint32_t i = 0; i < b->in[0]->nfields; i++)
		DTX_TRY(bind_out(b, place[i] < 0 ? NULL : &s->one[place[i]], (int32_t)i, err));
	dtx_bind_kind(b, s->keeps ? DTX_KIND_WHOLE : DTX_KIND_MAP);
	if (s->keeps && b->typed)
		dtx_bind_open(b);
out:
	return rc;
}

static enum dtx_code cast_column(const struct dtx_opctx *ox, const struct cast_one *one,
                                 struct dtx_batch *in, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_cast_count count = { 0 };
	struct dtx_column *from = in->col[one->col], *made = NULL;

	if (!one->written)
		DTX_TRY(dtx_batch_value(in, (uint32_t)one->col, &from, err));
	rc = dtx_cast_column(from, &one->spec, &made, &count, err);
	if (rc != DTX_OK && err && err->row >= 0) {
		uint32_t row = (uint32_t)err->row;

		err->row = -1;
		dtx_batch_set_position(in, row, one->col, err);
	}
	if (rc != DTX_OK)
		goto out;
	dtx_op_count(ox, "cast_failed", count.failed);
	dtx_op_count(ox, "offset", count.offsets);
	dtx_batch_put(in, (uint32_t)one->col, made);
out:
	return rc;
}

static enum dtx_code cast_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                struct dtx_emit *out, struct dtx_err *err)
{
	const struct cast_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;

	(void)local;
	for (uint32_t i = 0; i < s->n; i++)
		if (dtx_op_wants(ox, (uint32_t)s->one[i].col) && in->col[s->one[i].col])
			DTX_TRY(cast_column(ox, &s->one[i], in, err));
	in->schema = ox->out;
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	return rc;
}

/* --- keep_text: columns that stay text where a value does not fit --- */

/* Casts a column of all batches in place. fits NULL: a value that does not fit is an error.
 * Otherwise *fits says whether all fit; if not, nothing is changed. */
static enum dtx_code cast_table(struct dtx_table *t, const struct cast_one *one,
                                const struct dtx_cast_spec *spec, bool *fits, struct dtx_err *err)
{
	struct dtx_column **made = dtx_mem_zalloc(t->nbatches + 1, sizeof(struct dtx_column *));
	struct dtx_cast_count count = { 0 };
	enum dtx_code rc = DTX_OK;

	if (!made)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < t->nbatches && !(fits && count.failed); i++) {
		struct dtx_column *from = t->batch[i]->col[one->col];

		if (fits && !one->written)
			DTX_TRY(dtx_batch_value(t->batch[i], (uint32_t)one->col, &from, err));
		DTX_TRY(dtx_cast_column(from, spec, &made[i], &count, err));
	}
	if (fits)
		*fits = !count.failed;
	for (size_t i = 0; i < t->nbatches && !(fits && count.failed); i++) {
		dtx_batch_put(t->batch[i], (uint32_t)one->col, made[i]);
		made[i] = NULL;
	}
out:
	for (size_t i = 0; made && i < t->nbatches; i++)
		dtx_column_unref(made[i]);
	dtx_mem_free(made);
	return rc;
}

static enum dtx_code keep_column(const struct dtx_opctx *ox, struct dtx_table *t,
                                 const struct cast_one *one, struct dtx_field *field,
                                 struct dtx_err *err)
{
	struct dtx_cast_spec text = one->spec;
	enum dtx_code rc = DTX_OK;
	bool fits;

	field->type = one->spec.to;
	DTX_TRY(cast_table(t, one, &one->spec, &fits, err));
	if (fits)
		goto out;
	text.to = field->type = (struct dtx_typeref){ .type = DTX_T_TEXT };
	text.format = NULL;
	dtx_op_count(ox, "kept_text", t->nrows);
	DTX_TRY(cast_table(t, one, &text, NULL, err));
out:
	return rc;
}

/* Casts the table to find out which types its columns get; that is known only now. */
static enum dtx_code cast_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                 struct dtx_arena *arena, const struct dtx_schema **out,
                                 struct dtx_err *err)
{
	const struct cast_state *s = ox->bound;
	struct dtx_schema *made = dtx_schema_copy(arena, t->schema);
	enum dtx_code rc = DTX_OK;

	if (!made)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_table_dense(t, err));
	for (uint32_t i = 0; i < s->n; i++) {
		const struct cast_one *one = &s->one[i];
		struct dtx_field *f = (struct dtx_field *)(uintptr_t)&made->field[one->col];

		*f = (struct dtx_field){ .name = f->name, .type = one->spec.to };
		if (one->keep_text) {
			DTX_TRY(keep_column(ox, t, one, f, err));
			continue;
		}
		for (size_t k = 0; k < t->nbatches; k++)
			DTX_TRY(cast_column(ox, one, t->batch[k], err));
	}
	*out = made;
out:
	return rc;
}

static enum dtx_code cast_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < t->nbatches && !dtx_emit_full(out); i++) {
		t->batch[i]->schema = ox->out;
		DTX_TRY(dtx_emit_batch(out, t->batch[i], err));
	}
out:
	return rc;
}

static void cast_explain(const void *args, struct dtx_buf *out)
{
	const struct cast_args *a = args;
	const struct cast_item *item = a->types.item;

	for (size_t i = 0; i < a->types.n; i++) {
		dtx_buf_printf(out, "%s%s to %s", i ? ", " : "make ", item[i].name, item[i].type);
		if (item[i].format)
			dtx_buf_printf(out, " by %s", item[i].format);
		if (item[i].on_error == ON_KEEP_TEXT)
			dtx_buf_add(out, " if all values fit");
	}
}

static const struct dtx_map cast_map = { .batch = cast_batch };

const struct dtx_op dtx_op_cast = {
	.name = "cast",
	.aliases = "astype,convert,change_type,convert_types,cast_columns",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Make columns of declared types",
	.notes = "Strict: '12.7' is not an int, '1,234' is not a number (parse_number reads that). "
		 "A float becomes int only if it is a whole number. on_error null counts the "
		 "values that become null; keep_text leaves a column as text, as written, if one "
		 "value does not fit.",
	.facts = { .rows = DTX_ROWS_SAME, .values = DTX_VALUES_CHANGED },
	.params = cast_params,
	.nparams = DTX_COUNT(cast_params),
	.examples = cast_examples,
	.nexamples = DTX_COUNT(cast_examples),
	.args_size = sizeof(struct cast_args),
	.bind = cast_bind,
	.map = &cast_map,
	.whole = cast_whole,
	.whole_schema = cast_schema,
	.triggers = "cast_failed,ambiguous_date",
	.explain = cast_explain,
};
