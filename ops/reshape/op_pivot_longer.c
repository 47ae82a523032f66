/* pivot_longer: columns become rows.
 *
 * One input row gives one output row per "rest": what remains of the names of the columns when
 * ".value" is taken out. The names are the same for every row, so their columns are made once per
 * worker. */
#include "core/data/builder.h"
#include "core/data/cast/cast.h"
#include "ops/reshape/longer.h"
#include "core/plan/compile/sqltext.h"

struct longer_local {
	struct dtx_column **name; /* per name column: its values, one per rest */
	uint16_t *lrow;
	uint32_t *row, *rest, *zero;
};

static const struct dtx_param name_type_rows[] = {
	{ .name = "name",
	  .kind = DTX_P_TEXT,
	  .required = true,
	  .offset = offsetof(struct dtx_longer_type, name),
	  .help = "name column" },
	{ .name = "type",
	  .kind = DTX_P_TYPE,
	  .required = true,
	  .offset = offsetof(struct dtx_longer_type, type),
	  .help = "its type" },
};
#define AT(member) .offset = offsetof(struct dtx_longer_args, member)
static const struct dtx_param longer_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  AT(cols),
	  .aliases = "value_vars,columns,value_cols,value_columns",
	  .help = "columns that become rows" },
	{ .name = "keep",
	  .kind = DTX_P_COLUMNS,
	  AT(keep),
	  .aliases = "id_vars,id_cols,id_columns,ids",
	  .help = "columns to keep; all others become rows or, with cols, are left out" },
	{ .name = "names_to",
	  .kind = DTX_P_TEXTS,
	  AT(names_to),
	  .nonempty = true,
	  .aliases = "var_name,variable_name",
	  .def = "[\"name\"]",
	  .help = "columns for the parts of a name; \".value\" names value columns" },
	{ .name = "values_to",
	  .kind = DTX_P_TEXT,
	  AT(values_to),
	  .aliases = "value_name",
	  .def = "\"value\"",
	  .help = "column for the values" },
	{ .name = "names_prefix",
	  .kind = DTX_P_TEXT,
	  AT(names_prefix),
	  .help = "text to remove from the start of names" },
	{ .name = "names_sep",
	  .kind = DTX_P_TEXT,
	  AT(names_sep),
	  .help = "text between the parts of a name" },
	{ .name = "names_pattern",
	  .kind = DTX_P_REGEX,
	  AT(names_pattern),
	  .help = "pattern of whole names, one group per part" },
	{ .name = "names_types",
	  .kind = DTX_P_LIST,
	  AT(names_types),
	  .rows = name_type_rows,
	  .nrows = DTX_COUNT(name_type_rows),
	  .item_size = sizeof(struct dtx_longer_type),
	  .sugar = DTX_SUGAR_MAP,
	  .help = "types of name columns; text otherwise" },
	{ .name = "drop_nulls",
	  .kind = DTX_P_BOOL,
	  AT(drop_nulls),
	  .def = "false",
	  .help = "leave out rows whose values are all null" },
	{ .name = "order",
	  .kind = DTX_P_CHOICE,
	  AT(order),
	  .choices = "rows,cols",
	  .def = "\"rows\"",
	  .help = "rows: all pieces of a row first; cols: all rows of a piece first" },
};
static const struct dtx_example longer_examples[] = {
	{ .step = DTX_JSON({
		  "op" : "pivot_longer",
		  "cols" : [ "q1", "q2" ],
		  "names_to" : "q",
		  "values_to" : "v"
	  }),
	  .in = "id,q1,q2\na,1,\nb,2.50,3\n",
	  .out = "id,q,v\na,q1,1\na,q2,\nb,q1,2.50\nb,q2,3\n" },
	{ .step = DTX_JSON(
		  { "op" : "melt", "id_vars" : ["id"], "order" : "cols", "drop_nulls" : true }),
	  .in = "id,x,y\na,1,\nb,2,3\n",
	  .out = "id,name,value\na,x,1\nb,x,2\nb,y,3\n" },
	{ .step = DTX_JSON({
		  "op" : "pivot_longer",
		  "keep" : ["id"],
		  "names_to" : [ ".value", "year" ],
		  "names_sep" : "_",
		  "names_types" : { "year" : "int" }
	  }),
	  .in = "id,hours_2023,hours_2024,cost_2023\n1,10,11,5.50\n2,20,,\n",
	  .out = "id,year,hours,cost\n1,2023,10,5.50\n1,2024,11,\n2,2023,20,\n2,2024,,\n" },
	{ .step = DTX_JSON({
		  "op" : "pivot_longer",
		  "cols" : [ "Hours|Jan", "Hours|Feb" ],
		  "names_prefix" : "Hours|",
		  "names_to" : ["month"],
		  "values_to" : "hours"
	  }),
	  .in = "g,Hours|Jan,Hours|Feb\nP1,1820,-\n",
	  .out = "g,month,hours\nP1,Jan,1820\nP1,Feb,-\n" },
	{ .step = DTX_JSON({
		  "op" : "pivot_longer",
		  "keep" : ["id"],
		  "names_to" : [ "what", "n" ],
		  "names_pattern" : "([a-z]+)([0-9]+)"
	  }),
	  .in = "id,q1,q22\n1,5,6\n",
	  .out = "id,what,n,value\n1,q,1,5\n1,q,22,6\n" },
	{ .step = DTX_JSON({
		  "op" : "pivot_longer",
		  "cols" : ["a_b_c"],
		  "names_to" : [ "x", "y" ],
		  "names_sep" : "_"
	  }),
	  .in = "id,a_b_c\n1,2\n",
	  .error = "bad_split",
	  .message = "column name 'a_b_c' does not split into 2 parts" },
};

static enum dtx_code longer_check(const void *args, struct dtx_err *err)
{
	const struct dtx_longer_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (!a->cols && !a->keep)
		DTX_FAIL(err, DTX_E_MISSING_PARAM, "pivot_longer needs cols or keep");
	if (a->names_sep && a->names_pattern)
		DTX_PARAM_FAIL(err, DTX_E_PARAM_CONFLICT, "/names_pattern",
		               "pivot_longer takes either names_sep or names_pattern");
	if (a->names_to.n > 1 && !a->names_pattern && (!a->names_sep || !*a->names_sep))
		DTX_FAIL(err, DTX_E_MISSING_PARAM,
		         "several names_to need names_sep or names_pattern");
out:
	return rc;
}

/* --- running --- */

static void longer_free(const struct dtx_opctx *ox, void *local)
{
	const struct dtx_longer_state *s = ox->bound;
	struct longer_local *l = local;

	if (!l)
		return;
	for (uint32_t i = 0; l->name && i < s->nnames; i++)
		dtx_column_unref(l->name[i]);
	dtx_mem_free(l->name);
	dtx_mem_free(l->lrow);
	dtx_mem_free(l->row);
	dtx_mem_free(l->rest);
	dtx_mem_free(l->zero);
	dtx_mem_free(l);
}

/* Makes the values of name column i, one per rest. */
static enum dtx_code name_column(const struct dtx_longer_state *s, uint32_t i,
                                 struct dtx_column **out, struct dtx_err *err)
{
	struct dtx_cast_spec spec = { .to = s->name_type[i], .on_error = DTX_CAST_ERROR };
	struct dtx_cast_count count = { 0 };
	struct dtx_column *text = NULL;
	struct dtx_builder b;
	enum dtx_code rc;

	dtx_builder_init(&b, (struct dtx_typeref){ DTX_T_TEXT, 0, 0 }, s->nrests);
	for (uint32_t r = 0; r < s->nrests; r++)
		dtx_builder_text(&b, dtx_str_of(s->part[(size_t)r * s->nnames + i]));
	rc = dtx_builder_finish(&b, NULL, &text, err);
	if (rc != DTX_OK || spec.to.type == DTX_T_TEXT) {
		*out = text;
		return rc;
	}
	rc = dtx_cast_column(text, &spec, out, &count, err);
	dtx_column_unref(text);
	return rc;
}

static enum dtx_code longer_init(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	const struct dtx_longer_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct longer_local *l = dtx_mem_zalloc(1, sizeof(*l));
	uint32_t most = dtx_op_batch_rows(ox);

	if (!l)
		DTX_FAIL_MEM(err);
	l->name = dtx_mem_zalloc((size_t)s->nnames + 1, sizeof(struct dtx_column *));
	l->lrow = dtx_mem_alloc(most, sizeof(*l->lrow));
	l->row = dtx_mem_alloc(most, sizeof(*l->row));
	l->rest = dtx_mem_alloc(most, sizeof(*l->rest));
	l->zero = dtx_mem_zalloc(most, sizeof(*l->zero));
	if (!l->name || !l->lrow || !l->row || !l->rest || !l->zero)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < s->nnames; i++)
		DTX_TRY(name_column(s, i, &l->name[i], err));
	*local = l;
	l = NULL;
out:
	longer_free(ox, l);
	return rc;
}

static void sources_free(struct dtx_column **src, size_t n)
{
	for (size_t i = 0; src && i < n; i++)
		dtx_column_unref(src[i]);
	dtx_mem_free(src);
}

/* The columns of the batch, each converted to the type of its value column. NULL for a value that
 * no later step needs: the steps before may not have made its columns. */
static enum dtx_code sources(const struct dtx_opctx *ox, struct dtx_batch *in,
                             struct dtx_column ***out, struct dtx_err *err)
{
	const struct dtx_longer_state *s = ox->bound;
	const uint32_t first = s->nkept + s->nnames;
	enum dtx_code rc = DTX_OK;
	size_t cells = (size_t)s->nrests * s->nvalues;
	struct dtx_column **src = dtx_mem_zalloc(cells + 1, sizeof(struct dtx_column *));

	if (!src)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < cells; i++) {
		/* ordered by value column, so that all sources of one are adjacent */
		size_t at = i % s->nvalues * s->nrests + i / s->nvalues;
		struct dtx_column *c = s->col[i] < 0 ? NULL : in->col[s->col[i]];

		if (!c || (!s->drop_nulls && !dtx_op_wants(ox, first + (uint32_t)(i % s->nvalues))))
			continue;
		if (s->valued[i] && c->form == DTX_F_SPAN)
			DTX_TRY(dtx_batch_value(in, (uint32_t)s->col[i], &c, err));
		DTX_TRY(dtx_cells_fit(c, &s->value[i % s->nvalues], &src[at], err));
	}
	*out = src;
	src = NULL;
out:
	sources_free(src, cells);
	return rc;
}

static bool all_null(const struct dtx_longer_state *s, struct dtx_column *const *src, uint32_t rest,
                     uint32_t row)
{
	for (uint32_t v = 0; v < s->nvalues; v++) {
		const struct dtx_column *c = src[(size_t)v * s->nrests + rest];

		if (c && !dtx_column_is_null(c, row))
			return false;
	}
	return true;
}

/* Emits one output batch of n (row, rest) pairs. */
static enum dtx_code emit_pairs(const struct dtx_opctx *ox, struct longer_local *l,
                                struct dtx_batch *in, struct dtx_column *const *src, uint32_t n,
                                uint64_t seq, struct dtx_emit *out, struct dtx_err *err)
{
	const struct dtx_longer_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;
	struct dtx_pick pick = { &in, 1, l->zero, l->row, n, NULL, NULL, NULL };

	if (!n)
		return DTX_OK;
	DTX_TRY(dtx_pick_batch(ox, &s->map, &pick, &b, err));
	b->seq = seq;
	for (uint32_t i = 0; i < s->nnames; i++)
		if (dtx_op_wants(ox, s->nkept + i))
			DTX_TRY(dtx_cells_gather(&l->name[i], 1, l->zero, l->rest, n,
			                         &ox->out->field[s->nkept + i],
			                         &b->col[s->nkept + i], err));
	for (uint32_t v = 0; v < s->nvalues; v++) {
		uint32_t at = s->nkept + s->nnames + v;

		if (dtx_op_wants(ox, at))
			DTX_TRY(dtx_cells_gather(src + (size_t)v * s->nrests, s->nrests, l->rest,
			                         l->row, n, &ox->out->field[at], &b->col[at], err));
	}
	DTX_TRY(dtx_emit_batch(out, b, err));
out:
	dtx_batch_free(b);
	return rc;
}

/* Emits the selected rows of `in` with rests [from, to), all rests of a row together. */
static enum dtx_code emit_rows(const struct dtx_opctx *ox, struct longer_local *l,
                               struct dtx_batch *in, uint32_t from, uint32_t to, uint64_t seq,
                               struct dtx_emit *out, struct dtx_err *err)
{
	const struct dtx_longer_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_column **src = NULL;
	uint32_t most = dtx_op_batch_rows(ox), n = 0;
	int64_t dropped = 0;

	DTX_TRY(sources(ox, in, &src, err));
	for (uint32_t k = 0; k < in->nsel; k++) {
		uint32_t row = dtx_batch_row(in, k);

		for (uint32_t r = from; r < to; r++) {
			if (s->drop_nulls && all_null(s, src, r, row)) {
				dropped++;
				continue;
			}
			l->row[n] = row;
			l->rest[n++] = r;
			if (n < most)
				continue;
			DTX_TRY(emit_pairs(ox, l, in, src, n, seq, out, err));
			n = 0;
		}
	}
	dtx_op_count(ox, "null", dropped);
	DTX_TRY(emit_pairs(ox, l, in, src, n, seq, out, err));
out:
	sources_free(src, (size_t)s->nrests * s->nvalues);
	return rc;
}

static enum dtx_code longer_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                  struct dtx_emit *out, struct dtx_err *err)
{
	const struct dtx_longer_state *s = ox->bound;

	return emit_rows(ox, local, in, 0, s->nrests, in->seq, out, err);
}

static enum dtx_code longer_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                  struct dtx_emit *out, struct dtx_err *err)
{
	const struct dtx_longer_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	void *local = NULL;
	uint64_t seq = 0;

	DTX_TRY(longer_init(ox, &local, err));
	for (uint32_t r = 0; r < s->nrests; r++)
		for (size_t i = 0; i < t->nbatches && !dtx_emit_full(out); i++)
			DTX_TRY(emit_rows(ox, local, t->batch[i], r, r + 1, seq++, out, err));
out:
	longer_free(ox, local);
	return rc;
}

static void longer_explain(const void *args, struct dtx_buf *out)
{
	const struct dtx_longer_args *a = args;
	const char *const *to = a->names_to.item;

	dtx_buf_add(out, a->cols ? "turn columns " : "turn all columns but ");
	dtx_cols_print(a->cols ? a->cols : a->keep, out);
	if (a->cols && a->keep) {
		dtx_buf_add(out, ", beside ");
		dtx_cols_print(a->keep, out);
		dtx_buf_add(out, " alone,");
	}
	dtx_buf_add(out, " into rows: ");
	for (size_t i = 0; i < a->names_to.n; i++)
		dtx_buf_printf(out, "%s%s", i ? ", " : "", to[i]);
	dtx_buf_printf(out, "; %s", a->values_to);
}

static const struct dtx_map longer_map = {
	.init_local = longer_init,
	.batch = longer_batch,
	.free_local = longer_free,
};

/* Writes one SELECT per piece. SQL does not have the digits of numbers that become text. */
static bool piece_sql(const struct dtx_sql_step *s, uint32_t rest, struct dtx_buf *out)
{
	const struct dtx_longer_state *st = s->bind->state;
	const struct dtx_schema *in = s->bind->in[0];
	bool ok = true;

	dtx_buf_printf(out, "%sSELECT \"_row\", %u AS \"_p\"", rest ? " UNION ALL " : "",
	               (unsigned)rest);
	for (uint32_t i = 0; i < s->bind->ncols; i++) {
		uint32_t n = i - st->nkept, v = n - st->nnames;
		int32_t col = i < st->nkept                 ? s->bind->col[i].from_col
		              : i >= st->nkept + st->nnames ? st->col[rest * st->nvalues + v]
		                                            : -1;

		dtx_buf_add(out, ", ");
		if (i >= st->nkept && n < st->nnames) {
			json_t *part = json_string(st->part[rest * st->nnames + n]);

			ok = part && dtx_sql_value(out, part, DTX_T_TEXT) &&
			     st->name_type[n].type == DTX_T_TEXT && ok;
			json_decref(part);
		} else if (col < 0) {
			dtx_buf_add(out, "NULL");
		} else {
			dtx_sql_column(out, &in->field[col], s->bind->col[i].field.type.type);
			ok = ok && (in->field[col].type.type == DTX_T_TEXT ||
			            s->bind->col[i].field.type.type != DTX_T_TEXT);
		}
		dtx_buf_add(out, " AS ");
		dtx_sql_name(out, s->bind->col[i].field.name);
	}
	dtx_buf_printf(out, " FROM %s", s->from[0]);
	return ok;
}

static bool longer_sql(const struct dtx_sql_step *s, struct dtx_buf *out)
{
	const struct dtx_longer_args *a = s->args;
	const struct dtx_longer_state *st = s->bind->state;
	bool ok = st->nrests > 0;

	dtx_buf_printf(out, "SELECT row_number() OVER (ORDER BY %s) AS \"_row\"",
	               a->order == DTX_LONGER_ROWS ? "\"_row\", \"_p\"" : "\"_p\", \"_row\"");
	for (uint32_t i = 0; i < s->bind->ncols; i++) {
		dtx_buf_add(out, ", ");
		dtx_sql_name(out, s->bind->col[i].field.name);
	}
	dtx_buf_add(out, " FROM (");
	for (uint32_t r = 0; r < st->nrests; r++)
		ok = piece_sql(s, r, out) && ok;
	dtx_buf_addc(out, ')');
	for (uint32_t v = 0; v < st->nvalues && a->drop_nulls; v++) {
		dtx_buf_add(out, v ? " OR " : " WHERE ");
		dtx_sql_name(out, s->bind->col[st->nkept + st->nnames + v].field.name);
		dtx_buf_add(out, " IS NOT NULL");
	}
	return ok;
}

const struct dtx_op dtx_op_pivot_longer = {
	.name = "pivot_longer",
	.aliases = "melt,unpivot,gather,stack,wide_to_long,fold",
	.ninputs = 1,
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Turn columns into rows",
	.notes = "Output: kept columns, name columns, value columns. Nulls stay unless drop_nulls. "
		 "Values of different types widen; without a common type they become text.",
	.facts = { .rows = DTX_ROWS_LONGER },
	.params = longer_params,
	.nparams = DTX_COUNT(longer_params),
	.examples = longer_examples,
	.nexamples = DTX_COUNT(longer_examples),
	.args_size = sizeof(struct dtx_longer_args),
	.check = longer_check,
	.bind = dtx_longer_bind,
	.map = &longer_map,
	.whole = longer_whole,
	.explain = longer_explain,
	.sql = longer_sql,
};
