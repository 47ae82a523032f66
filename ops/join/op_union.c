/* union: tables one below the other. */
#include "core/data/cells.h"
#include "ops/kit/opkit.h"
#include "core/plan/compile/sqltext.h"

enum { BY_NAME, BY_POSITION };
enum { SAME, UNION, INTERSECT }; /* columns; -1: not said */
struct union_args {
	struct dtx_plist with, sources, constants;
	int by, columns;
	bool fill_missing;
	const char *source_as;
};
#define LISTED 8 /* columns that a note names */

struct union_constant { /* a column with one value per table */
	const char *name, *type;
	struct dtx_plist values;
};
struct union_col {
	struct dtx_field field;
	int32_t *from; /* per table its column, -1: none */
	bool promoted; /* types differ, and it was said */
};
struct union_state {
	struct union_col *col;
	uint32_t n;
	size_t cap;
	const char **name; /* of the tables; for source_as */
	const struct union_args *args;
	struct dtx_strmap place; /* of columns by name, while the step is bound */
};

static const struct dtx_param union_constant_rows[] = {
	{ .name = "name",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  .offset = offsetof(struct union_constant, name),
	  .help = "column" },
	{ .name = "type",
	  .kind = DTX_P_TYPE,
	  .required = true,
	  .offset = offsetof(struct union_constant, type),
	  .help = "int, float, decimal(p,s), text, bool, date, datetime" },
	{ .name = "values",
	  .kind = DTX_P_VALUES,
	  .required = true,
	  .offset = offsetof(struct union_constant, values),
	  .help = "a text or null for each table, in order" },
};
static const struct dtx_param union_params[] = {
	{ .name = "with",
	  .kind = DTX_P_TEXTS,
	  .required = true,
	  .offset = offsetof(struct union_args, with),
	  .aliases = "right,table,other,tables",
	  .help = "tables to put below the current one" },
	{ .name = "by",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct union_args, by),
	  .choices = "name,position",
	  .def = "\"name\"",
	  .help = "match columns by name or by position" },
	{ .name = "fill_missing",
	  .kind = DTX_P_BOOL,
	  .offset = offsetof(struct union_args, fill_missing),
	  .def = "true",
	  .help = "a column that a table lacks is null there; false: an error" },
	{ .name = "columns",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct union_args, columns),
	  .choices = "same,union,intersect",
	  .help = "same: all tables must have the same columns, in any order; union: a "
	          "column that a table lacks is null there; intersect: only columns that "
	          "all tables have. The last two warn how many differ" },
	{ .name = "source_as",
	  .kind = DTX_P_TEXT,
	  .offset = offsetof(struct union_args, source_as),
	  .help = "new last column with the name of each row's table" },
	{ .name = "sources",
	  .kind = DTX_P_TEXTS,
	  .offset = offsetof(struct union_args, sources),
	  .help = "what 'source_as' and messages call the tables, in order" },
	{ .name = "constants",
	  .kind = DTX_P_LIST,
	  .offset = offsetof(struct union_args, constants),
	  .rows = union_constant_rows,
	  .nrows = DTX_COUNT(union_constant_rows),
	  .item_size = sizeof(struct union_constant),
	  .help = "new columns, each with one value for all rows of a table" },
};
static const struct dtx_example union_examples[] = {
	{ .step = DTX_JSON({ "op" : "union", "with" : ["other"] }),
	  .in = "a,b\n1,1.50\n",
	  .with = "b,c\n2,x\n,\"y\"\n",
	  .out = "a,b,c\n1,1.50,\n,2,x\n,,\"y\"\n" },
	{ .step = DTX_JSON({ "op" : "concat", "with" : "other", "by" : "position" }),
	  .in = "a,b\n1,p\n",
	  .with = "x,y\n2,q\n",
	  .out = "a,b\n1,p\n2,q\n" },
	{ .step = DTX_JSON({ "op" : "union", "with" : ["other"], "source_as" : "src" }),
	  .in = "a\n007\n",
	  .with = "a\n5\n",
	  .out = "a,src\n007,main\n5,other\n" },
	{ .step = DTX_JSON({
		  "op" : "union",
		  "with" : ["other"],
		  "columns" : "intersect",
		  "source_as" : "src",
		  "sources" : [ "2023", "2024" ]
	  }),
	  .in = "a,b\n1,p\n",
	  .with = "c,b\n2,q\n",
	  .out = "b,src\np,2023\nq,2024\n" },
	{ .step = DTX_JSON({
		  "op" : "union",
		  "with" : ["other"],
		  "constants" :
			  [ { "name" : "year", "type" : "int", "values" : [ "2023", "2024" ] } ]
	  }),
	  .in = "a\n1\n",
	  .with = "a\n2\n",
	  .out = "a,year\n1,2023\n2,2024\n" },
	{ .step = DTX_JSON({ "op" : "union", "with" : ["other"], "columns" : "union" }),
	  .in = "a,b\n1,p\n",
	  .with = "c,b\n2,q\n",
	  .out = "a,b,c\n1,p,\n,q,2\n" },
	{ .step = DTX_JSON({ "op" : "union", "with" : ["other"], "columns" : "same" }),
	  .in = "a,b\n1,p\n",
	  .with = "b,a\nq,2\n",
	  .out = "a,b\n1,p\n2,q\n" },
	{ .step = DTX_JSON({ "op" : "union", "with" : ["other"], "columns" : "same" }),
	  .in = "a,b\n1,p\n",
	  .with = "b\n2\n",
	  .error = "columns_differ",
	  .message = "'other' has no column 'a'" },
	{ .step = DTX_JSON({ "op" : "union", "with" : ["other"], "fill_missing" : false }),
	  .in = "a,b\n1,p\n",
	  .with = "a\n2\n",
	  .error = "missing_column",
	  .message = "'other' has no column 'b'" },
	{ .step = DTX_JSON({ "op" : "union", "with" : ["other"], "by" : "position" }),
	  .in = "a,b\n1,p\n",
	  .with = "a\n2\n",
	  .error = "length_mismatch",
	  .message = "table 'other' has 1 column, the current one 2" },
};

static size_t union_tables(const void *args, const char **names, size_t max)
{
	const struct union_args *a = args;
	const char *const *with = a->with.item;
	size_t n = DTX_MIN(a->with.n, max);

	for (size_t i = 0; i < n; i++)
		names[i] = with[i];
	return n;
}

/* Looks first at column `near`: tables mostly have the same columns in the same order. */
static int32_t union_find(const struct union_state *s, const char *name, uint32_t near)
{
	if (near < s->n && strcmp(s->col[near].field.name, name) == 0)
		return (int32_t)near;
	near = dtx_strmap_get(&s->place, dtx_str_of(name));
	return near == DTX_STRMAP_NONE ? -1 : (int32_t)near;
}

/* A new last column, which no table has yet. */
static enum dtx_code union_add(struct dtx_bind *b, struct union_state *s,
                               const struct dtx_field *field, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int32_t *from = dtx_arena_alloc(b->arena, b->ntables, sizeof(*from));
	uint32_t at;

	if (!from || !dtx_strmap_put(&s->place, dtx_str_of(field->name), s->n, &at) ||
	    !dtx_arena_reserve(b->arena, &s->col, &s->cap, s->n + 1u, sizeof(*s->col)))
		DTX_FAIL_MEM(err);
	memset(from, -1, b->ntables * sizeof(*from));
	s->col[s->n++] = (struct union_col){ .field = *field, .from = from };
out:
	return rc;
}

static enum dtx_code union_table(struct dtx_bind *b, const struct union_args *a, unsigned t,
                                 struct union_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_schema *in = b->in[t];

	if (a->by == BY_POSITION && t && in->nfields != s->n && (b->typed || !in->open))
		DTX_TRY(dtx_bind_fail(b, DTX_E_LENGTH_MISMATCH, "/with", err,
		                      "table '%s' has %u columns, the current one %u",
		                      b->table_name[t] ? b->table_name[t] : "", in->nfields, s->n));
	for (uint32_t i = 0; i < in->nfields; i++) {
		int32_t at = a->by == BY_POSITION ? (i < s->n && t ? (int32_t)i : -1)
		                                  : union_find(s, in->field[i].name, i);
		struct union_col *c;
		bool promoted = false;

		if (a->by == BY_POSITION && t && at < 0)
			break;
		if (at < 0)
			DTX_TRY(union_add(b, s, &in->field[i], err));
		c = &s->col[at < 0 ? s->n - 1 : (uint32_t)at];
		if (at >= 0)
			promoted = dtx_field_merge(&c->field, &in->field[i]);
		c->from[t] = (int32_t)i;
		/* a macro knows what it puts together */
		if (promoted && !c->promoted && !dtx_bind_is_core(b))
			DTX_TRY(dtx_bind_fail(b, DTX_W_TYPE_PROMOTED,
			                      a->columns < 0 ? "/with" : "/columns", err,
			                      "column '%s' becomes text: its types differ between "
			                      "the tables",
			                      c->field.name));
		c->promoted |= promoted;
	}
out:
	return rc;
}

/* Output column i: cells of several inputs, moved. */
static enum dtx_code union_out(struct dtx_bind *b, const struct union_col *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t out = b->ncols;

	for (unsigned t = 0; t < b->ntables; t++)
		if (c->from[t] >= 0)
			DTX_TRY(dtx_bind_use(b, (int32_t)out, t, c->from[t], DTX_DEMAND_SAME, err));
	DTX_TRY(dtx_bind_make(b, c->field.name, c->field.type, NULL, "union", err));
	if (b->ncols > out) {
		const char *name = b->col[out].field.name;

		b->col[out].field = c->field;
		b->col[out].field.name = name;
	}
out:
	return rc;
}

/* The first table that lacks column i, -1: none does, as far as one can tell. */
static int union_lacks(const struct dtx_bind *b, const struct union_state *s, uint32_t i)
{
	for (unsigned t = 0; t < b->ntables; t++)
		if (s->col[i].from[t] < 0 && (b->typed || !b->in[t]->open))
			return (int)t;
	return -1;
}

/* Makes a hint if the table that lacks column i has one whose name differs only in case. */
static void union_hint_case(const struct dtx_bind *b, const struct union_state *s, uint32_t i,
                            int t, char *hint, size_t size)
{
	const struct dtx_schema *in = b->in[t];
	const char *name = s->col[i].field.name;

	hint[0] = '\0';
	for (uint32_t c = 0; c < in->nfields; c++) {
		if (!dtx_str_ieq(dtx_str_of(in->field[c].name), dtx_str_of(name)))
			continue;
		snprintf(hint, size,
		         "it has '%.50s', which differs only in case: give both one name; with "
		         "\"columns\": \"union\" they are two columns, and coalesce(`%.50s`, "
		         "`%.50s`) "
		         "makes one of them",
		         in->field[c].name, name, in->field[c].name);
		return;
	}
}

static enum dtx_code union_missing(struct dtx_bind *b, const struct union_args *a,
                                   const struct union_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool same = a->columns == SAME;
	char hint[400];

	for (uint32_t i = 0; i < s->n; i++) {
		int t = union_lacks(b, s, i);

		if (t < 0)
			continue;
		union_hint_case(b, s, i, t, hint, sizeof(hint));
		DTX_TRY(dtx_bind_fail_next(b, same ? DTX_E_COLUMNS_DIFFER : DTX_E_MISSING_COLUMN,
		                           same ? "/columns" : "/with", hint[0] ? hint : NULL, err,
		                           "'%s' has no column '%s'", s->name[t],
		                           s->col[i].field.name));
	}
out:
	return rc;
}

/* Columns that not all tables have: said, and left out of an intersection. */
static enum dtx_code union_partial(struct dtx_bind *b, const struct union_args *a,
                                   struct union_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf names = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		bool lacks = union_lacks(b, s, i) >= 0;

		if (lacks && n++ < LISTED)
			dtx_buf_printf(&names, "%s'%s'", n > 1 ? ", " : "", s->col[i].field.name);
		if (!lacks || a->columns == UNION)
			s->col[kept++] = s->col[i];
	}
	s->n = kept;
	if (n > LISTED)
		dtx_buf_add(&names, " ...");
	if (!n)
		goto out;
	DTX_TRY(dtx_bind_fail(b, DTX_W_RESULT_NOTE, "/columns", err,
	                      "%u column%s not in all %u tables %s: %.300s", n,
	                      n > 1 ? "s that are" : " that is", b->ntables,
	                      a->columns == UNION ? "and null where missing" : "and left out",
	                      dtx_buf_text(&names)));
out:
	dtx_buf_clear(&names);
	return rc;
}

/* Names by position are the first table's: nothing to intersect. */
static enum dtx_code union_check(const void *args, struct dtx_err *err)
{
	const struct union_args *a = args;
	const struct union_constant *constant = a->constants.item;
	enum dtx_code rc = DTX_OK;

	if (a->columns >= 0 && a->by == BY_POSITION)
		DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, "/columns",
		               "'columns' is for columns by name");
	if (a->columns >= 0 && !a->fill_missing)
		DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, "/columns",
		               "'columns' and 'fill_missing' say the same: give one");
	if (!a->with.n && !a->sources.n) /* one file, with columns that it does not have */
		DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, "/with", "'with' names no table");
	if (a->sources.n && a->sources.n != a->with.n + 1)
		DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, "/sources",
		               "'sources' names the %zu tables, got %zu", a->with.n + 1,
		               a->sources.n);
	for (size_t k = 0; k < a->constants.n; k++)
		if (constant[k].values.n != a->with.n + 1)
			DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, "/constants",
			               "'%.80s' has a value for each of the %zu tables, got %zu",
			               constant[k].name, a->with.n + 1, constant[k].values.n);
out:
	return rc;
}

static struct dtx_typeref constant_type(const struct union_constant *c)
{
	struct dtx_typeref type;

	/* one that cannot be parsed has been reported */
	return c->type && dtx_type_parse(dtx_str_of(c->type), &type)
	               ? type
	               : (struct dtx_typeref){ .type = DTX_T_TEXT };
}

static enum dtx_code union_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct union_args *a = args;
	const char *const *sources = a->sources.item;
	const struct union_constant *constant = a->constants.item;
	const struct dtx_typeref text = { .type = DTX_T_TEXT };
	enum dtx_code rc = DTX_OK;
	struct union_state *s = dtx_bind_state(b, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	s->name = dtx_arena_zalloc(b->arena, b->ntables + 1, sizeof(*s->name));
	if (!s->name)
		DTX_FAIL_MEM(err);
	s->args = a;
	for (unsigned t = 0; t < b->ntables; t++) {
		s->name[t] = b->table_name[t] ? b->table_name[t] : "main";
		if (t < a->sources.n)
			s->name[t] = sources[t];
		DTX_TRY(union_table(b, a, t, s, err));
	}
	if (a->columns == SAME || (a->columns < 0 && !a->fill_missing))
		DTX_TRY(union_missing(b, a, s, err));
	else if (a->columns > 0)
		DTX_TRY(union_partial(b, a, s, err));
	for (uint32_t i = 0; i < s->n; i++)
		DTX_TRY(union_out(b, &s->col[i], err));
	for (size_t k = 0; k < a->constants.n; k++) {
		if (dtx_bind_out(b, constant[k].name) >= 0) {
			DTX_TRY(dtx_bind_fail_next(
				b, DTX_E_NAME_COLLISION, "/constants",
				"without \"partitions\" the column of the files is read; with "
				"\"extra\": \"drop\", and their other columns in \"requires\", "
				"that of "
				"the folders",
				err,
				"'%s' is a column of the tables, and a constant (the key of "
				"folders "
				"KEY=VALUE)",
				constant[k].name));
			continue;
		}
		DTX_TRY(dtx_bind_make(b, constant[k].name, constant_type(&constant[k]), NULL,
		                      "value of the table of", err));
	}
	if (a->source_as)
		DTX_TRY(dtx_bind_make(b, a->source_as, text, NULL, "table of", err));
out:
	if (s)
		dtx_strmap_clear(&s->place);
	return rc;
}

/* --- running --- */

static enum dtx_code union_cell(const struct dtx_opctx *ox, const struct union_state *s, uint32_t i,
                                struct dtx_batch *in, struct dtx_column **out, struct dtx_err *err)
{
	int32_t from = s->col[i].from[ox->input];
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c;

	if (from < 0) {
		DTX_TRY(dtx_column_nulls(s->col[i].field.type, in->nrows, out, err));
		goto out;
	}
	DTX_TRY(dtx_cells_under(in, (uint32_t)from, &s->col[i].field, &c, err));
	if (c)
		DTX_TRY(dtx_cells_fit(c, &s->col[i].field, out, err));
out:
	return rc;
}

static enum dtx_code union_source(const char *name, uint32_t n, struct dtx_column **out,
                                  struct dtx_err *err)
{
	struct dtx_builder b;

	dtx_builder_init(&b, (struct dtx_typeref){ DTX_T_TEXT, 0, 0 }, n);
	for (uint32_t i = 0; i < n; i++)
		dtx_builder_text(&b, dtx_str_of(name));
	return dtx_builder_finish(&b, NULL, out, err);
}

/* The value of table t, n times. */
static enum dtx_code union_constant(const struct union_constant *c, unsigned t, uint32_t n,
                                    struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *const *value = c->values.item;
	struct dtx_cast_spec spec = { .to = constant_type(c) };
	struct dtx_cast_count count = { 0 };
	struct dtx_column *text = NULL, *one = NULL, *made;

	if (!json_is_string(value[t])) {
		DTX_TRY(dtx_column_nulls(spec.to, n, out, err));
		goto out;
	}
	DTX_TRY(union_source(json_string_value(value[t]), 1, &text, err));
	DTX_TRY(dtx_cast_column(text, &spec, &one, &count, err));
	made = dtx_column_new(DTX_F_CONST, spec.to, n, dtx_owner_ref(one->owner));
	if (!made)
		DTX_FAIL_MEM(err);
	made->v = one->v;
	*out = made;
out:
	dtx_column_unref(one);
	dtx_column_unref(text);
	return rc;
}

static enum dtx_code union_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                 struct dtx_emit *out, struct dtx_err *err)
{
	const struct union_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	const struct union_constant *constant = s->args->constants.item;
	uint32_t n = ox->out->nfields, k, last = s->n + (uint32_t)s->args->constants.n;
	struct dtx_column **col = dtx_mem_zalloc((size_t)n + 1, sizeof(struct dtx_column *));

	(void)local;
	if (!col)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < s->n; i++)
		if (dtx_op_wants(ox, i))
			DTX_TRY(union_cell(ox, s, i, in, &col[i], err));
	for (k = s->n; k < last; k++)
		if (dtx_op_wants(ox, k))
			DTX_TRY(union_constant(&constant[k - s->n], ox->input, in->nrows, &col[k],
			                       err));
	if (n > last && dtx_op_wants(ox, last))
		DTX_TRY(union_source(s->name[ox->input], in->nrows, &col[last], err));
	for (uint32_t i = 0; i < in->ncols; i++)
		dtx_column_unref(in->col[i]);
	dtx_mem_free(in->col);
	in->col = col;
	in->ncols = n;
	in->schema = ox->out;
	col = NULL;
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	for (uint32_t i = 0; col && i < n; i++)
		dtx_column_unref(col[i]);
	dtx_mem_free(col);
	return rc;
}

static void union_explain(const void *args, struct dtx_buf *out)
{
	const struct union_args *a = args;
	const char *const *with = a->with.item;

	dtx_buf_add(out, a->with.n ? "put below it " : "keep it, with columns of its file");
	for (size_t i = 0; i < a->with.n; i++)
		dtx_buf_printf(out, "%s%s", i ? ", " : "", with[i]);
	if (a->by == BY_POSITION)
		dtx_buf_add(out, ", columns by position");
}

static const struct dtx_map union_map = { .batch = union_batch };

/* Column i of the result from table t, NULL where it has none. */
static void union_sql_part(const struct dtx_sql_step *s, unsigned t, struct dtx_buf *out)
{
	const struct union_args *a = s->args;
	const struct dtx_bind *b = s->bind;

	dtx_buf_printf(out, "%sSELECT %u AS \"_t\", \"_row\"", t ? " UNION ALL " : "", t);
	for (uint32_t i = 0; i < b->ncols - (a->source_as != NULL); i++) {
		const char *name = b->col[i].field.name;
		int32_t at = a->by == BY_POSITION ? (int32_t)i : dtx_schema_find(b->in[t], name);

		dtx_buf_add(out, ", ");
		if (at >= 0)
			dtx_sql_column(out, &b->in[t]->field[at], b->col[i].field.type.type);
		else
			dtx_buf_add(out, "NULL");
		dtx_buf_add(out, " AS ");
		dtx_sql_name(out, name);
	}
	dtx_buf_printf(out, " FROM %s", s->from[t]);
}

/* Types of two kinds make text in dtx, whose digits SQL does not know. */
static bool union_sql(const struct dtx_sql_step *s, struct dtx_buf *out)
{
	const struct union_args *a = s->args;
	const struct dtx_bind *b = s->bind;

	for (unsigned t = 0; t < b->ntables; t++)
		for (uint32_t k = 0; k < b->in[t]->nfields; k++) {
			int32_t at = a->by == BY_POSITION
			                     ? (int32_t)k
			                     : dtx_bind_out(b, b->in[t]->field[k].name);

			if (at >= 0 && b->col[at].field.type.type == DTX_T_TEXT &&
			    b->in[t]->field[k].type.type != DTX_T_TEXT)
				return false;
		}
	if (a->source_as || a->constants.n || a->columns == INTERSECT)
		return false;
	dtx_buf_add(out, "SELECT row_number() OVER (ORDER BY \"_t\", \"_row\") AS \"_row\"");
	for (uint32_t i = 0; i < b->ncols; i++) {
		dtx_buf_add(out, ", ");
		dtx_sql_name(out, b->col[i].field.name);
	}
	dtx_buf_add(out, " FROM (");
	for (unsigned t = 0; t < b->ntables; t++)
		union_sql_part(s, t, out);
	dtx_buf_addc(out, ')');
	return true;
}

/* By position the columns of the tables have other names each. */
static void union_facts(const json_t *canonical, struct dtx_op_facts *facts)
{
	if (strcmp(dtx_json_text(canonical, "by", "name"), "name") != 0)
		facts->rows = DTX_ROWS_WHOLE;
}

const struct dtx_op dtx_op_union = {
	.name = "union",
	.aliases = "concat,append,bind_rows,stack_tables,union_all",
	.ninputs = 0,
	.flags = DTX_OP_CONCAT | DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Put tables one below the other",
	.notes = "Rows of the current table come first, then each table's. Columns are matched "
		 "by name, and a column that a table lacks is null there. Cells keep their "
		 "bytes. Columns of two types get the wider one; without a common type they "
		 "become text, with a warning. Use 'columns' instead of 'fill_missing' to choose "
		 "what happens to columns that not all tables have.",
	.facts = { .rows = DTX_ROWS_UNION },
	.facts_of = union_facts,
	.params = union_params,
	.nparams = DTX_COUNT(union_params),
	.examples = union_examples,
	.nexamples = DTX_COUNT(union_examples),
	.args_size = sizeof(struct union_args),
	.tables = union_tables,
	.check = union_check,
	.bind = union_bind,
	.map = &union_map,
	.explain = union_explain,
	.sql = union_sql,
};
