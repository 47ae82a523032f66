/* pivot_wider: rows become columns.
 *
 * Two group tables number the output rows (by id) and the new columns (by the values of
 * names_from); a rectangle holds, for each pair, the number of the input row that is the cell, so
 * the cell keeps its bytes. With `agg` the input is first grouped by ids and names (the sink of
 * group_by), and a cell is a row of that. */
#include "ops/reshape/wider.h"
#include "core/plan/compile/sqltext.h"

#define AT(member) .offset = offsetof(struct dtx_wider_args, member)
static const struct dtx_param wider_params[] = {
	{ .name = "names_from",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(names_from),
	  .aliases = "columns",
	  .help = "columns whose values become column names" },
	{ .name = "values_from",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(values_from),
	  .aliases = "values",
	  .help = "columns that fill the new columns" },
	{ .name = "id",
	  .kind = DTX_P_COLUMNS,
	  AT(id),
	  .aliases = "id_cols,index,rows,id_columns",
	  .help = "columns that identify a row (default: all others)" },
	{ .name = "agg",
	  .kind = DTX_P_TEXT,
	  AT(agg),
	  .aliases = "aggfunc,values_fn,fn",
	  .help = "aggregate of one argument, for cells that get several rows" },
	{ .name = "fill", .kind = DTX_P_VALUE, AT(fill), .help = "value of absent cells" },
	{ .name = "names",
	  .kind = DTX_P_TEXTS,
	  AT(names),
	  .help = "the new columns in this order; another value is an error" },
	{ .name = "names_sep",
	  .kind = DTX_P_TEXT,
	  AT(names_sep),
	  .def = "\"_\"",
	  .help = "between the parts of a name" },
	{ .name = "names_prefix",
	  .kind = DTX_P_TEXT,
	  AT(names_prefix),
	  .def = "\"\"",
	  .help = "in front of the new names" },
	{ .name = "names_order",
	  .kind = DTX_P_CHOICE,
	  AT(names_order),
	  .choices = "appearance,sorted",
	  .def = "\"appearance\"",
	  .help = "order of the new columns" },
};
static const struct dtx_example wider_examples[] = {
	{ .step = DTX_JSON({ "op" : "pivot_wider", "names_from" : ["q"], "values_from" : ["v"] }),
	  .in = "id,q,v\na,Q2,1\na,Q1,2.50\nb,Q1,3\n,Q2,4\n",
	  .out = "id,Q2,Q1\na,1,2.50\nb,,3\n,4,\n" },
	{ .step = DTX_JSON({
		  "op" : "pivot",
		  "id" : ["id"],
		  "columns" : ["q"],
		  "values" : ["v"],
		  "agg" : "sum",
		  "fill" : 0
	  }),
	  .in = "id,q,v,x\na,Q1,1,p\na,Q1,2,q\nb,Q2,3,r\n",
	  .out = "id,Q1,Q2\na,3,0\nb,0,3\n" },
	{ .step = DTX_JSON({
		  "op" : "pivot_wider",
		  "id" : ["id"],
		  "names_from" : ["q"],
		  "values_from" : ["v"],
		  "names" : [ "Q1", "Q2", "Q3" ]
	  }),
	  .in = "id,q,v\na,Q2,1\n",
	  .out = "id,Q1,Q2,Q3\na,,1,\n" },
	{ .step = DTX_JSON({
		  "op" : "pivot_wider",
		  "names_from" : ["q"],
		  "values_from" : [ "v", "w" ],
		  "names_order" : "sorted",
		  "names_prefix" : "p"
	  }),
	  .in = "id,q,v,w\na,2,1,x\na,1,2,y\n",
	  .out = "id,v_p1,v_p2,w_p1,w_p2\na,2,1,y,x\n" },
	{ .step = DTX_JSON({
		  "op" : "pivot_wider",
		  "names_from" : ["q"],
		  "values_from" : [ "v_sum", "v_mean" ]
	  }),
	  .in = "id,q,v_sum,v_mean\na,Q1,3,1.5\na,Q2,4,4.0\nb,Q2,2,2.0\n",
	  .out = "id,v_sum_Q1,v_sum_Q2,v_mean_Q1,v_mean_Q2\na,3,4,1.5,4.0\nb,,2,,2.0\n" },
	{ .step = DTX_JSON(
		  { "op" : "pivot_wider", "names_from" : [ "q", "r" ], "values_from" : ["v"] }),
	  .in = "id,q,r,v\na,x,1,5\na,x,,6\n",
	  .out = "id,x_1,x_null\na,5,6\n" },
	{ .step = DTX_JSON({ "op" : "pivot_wider", "names_from" : ["q"], "values_from" : ["v"] }),
	  .in = "id,q,v\na,x,5\na,x,6\n",
	  .error = "pivot_not_unique",
	  .message = "pivot_wider: two rows for the cell id = 'a', q = 'x'" },
	{ .step = DTX_JSON({
		  "op" : "pivot_wider",
		  "id" : ["id"],
		  "names_from" : ["q"],
		  "values_from" : ["v"],
		  "names" : ["x"]
	  }),
	  .in = "id,q,v\na,y,5\n",
	  .error = "unexpected_value",
	  .message = "pivot_wider: 'y' is not among `names`" },
};

static void wider_explain(const void *args, struct dtx_buf *out)
{
	const struct dtx_wider_args *a = args;

	dtx_buf_add(out, "make columns of ");
	dtx_cols_print(a->names_from, out);
	dtx_buf_add(out, ", filled with ");
	if (a->agg)
		dtx_buf_printf(out, "%s of ", a->agg);
	dtx_cols_print(a->values_from, out);
	if (a->id) {
		dtx_buf_add(out, ", one row per ");
		dtx_cols_print(a->id, out);
	}
}

/* Writes the aggregate over the rows of one new column, or `fill` where it has no rows. */
static bool cell_sql(const struct dtx_sql_step *s, uint32_t v, const char *label,
                     struct dtx_buf *out)
{
	const struct dtx_wider_args *a = s->args;
	const struct dtx_wider_state *st = s->bind->state;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_buf filter = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *value = s->bind->in[0]->field[st->value[v].col].name;
	struct dtx_expr *call = dtx_expr_call1(&arena, a->agg, value);
	json_t *text = json_string(label);
	bool ok;

	dtx_buf_add(&filter, " FILTER (WHERE ");
	dtx_sql_list(s->bind, 0, st->names.col, 1, &filter);
	dtx_buf_add(&filter, " IS NOT DISTINCT FROM ");
	ok = text && dtx_sql_value(&filter, text, DTX_T_TEXT);
	dtx_buf_addc(&filter, ')');
	dtx_buf_printf(out, ", CASE WHEN count(*)%s THEN ", dtx_buf_text(&filter));
	ok = call && dtx_expr_sql(call, s->bind->in[0], out) && ok;
	dtx_buf_printf(out, "%s ELSE ", dtx_buf_text(&filter));
	ok = dtx_sql_value(out, a->fill, st->value[v].field.type.type) && ok;
	dtx_buf_add(out, " END AS ");
	json_decref(text);
	dtx_buf_clear(&filter);
	dtx_arena_clear(&arena);
	return ok;
}

/* SQL only for listed columns, of one text column, with an aggregate. In other cases a value that
 * is not listed, or a cell with two rows, is an error, which SQL cannot raise. */
static bool wider_sql(const struct dtx_sql_step *s, struct dtx_buf *out)
{
	const struct dtx_wider_args *a = s->args;
	const struct dtx_wider_state *st = s->bind->state;
	const char *const *label = a->names.item;
	uint32_t at = st->id.n;
	bool ok = true;

	if (!a->agg || !a->names.n || st->names.n != 1 || !st->id.n ||
	    st->names.type[0].type != DTX_T_TEXT)
		return false;
	dtx_buf_add(out, "SELECT min(\"_row\") AS \"_row\", ");
	dtx_sql_list(s->bind, 0, st->id.col, st->id.n, out);
	for (uint32_t v = 0; v < st->nvalues; v++)
		for (size_t i = 0; i < a->names.n && at < s->bind->ncols; i++) {
			ok = strcmp(label[i], "null") != 0 && cell_sql(s, v, label[i], out) && ok;
			dtx_sql_name(out, s->bind->col[at++].field.name);
		}
	dtx_buf_printf(out, " FROM %s GROUP BY ", s->from[0]);
	dtx_sql_list(s->bind, 0, st->id.col, st->id.n, out);
	return ok;
}

const struct dtx_op dtx_op_pivot_wider = {
	.name = "pivot_wider",
	.aliases = "pivot,pivot_table,spread,dcast,unfold",
	.ninputs = 1,
	.flags = DTX_OP_OPEN | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Turn rows into columns",
	.notes =
		"One row per id, in order of first appearance; null is an id. The table is always "
		"rectangular: absent cells are null or `fill`. A repeated cell without `agg` is "
		"pivot_not_unique. Several aggregates at once: a group_by before by id and "
		"names_from, with one result for each (v_sum, v_mean), and those in `values_from`.",
	.facts = { .rows = DTX_ROWS_WIDER, .decides = "id,names_from", .groups = "id" },
	.params = wider_params,
	.nparams = DTX_COUNT(wider_params),
	.examples = wider_examples,
	.nexamples = DTX_COUNT(wider_examples),
	.args_size = sizeof(struct dtx_wider_args),
	.bind = dtx_wider_bind,
	.whole = dtx_wider_whole,
	.whole_schema = dtx_wider_schema,
	.triggers = "pivot_not_unique",
	.explain = wider_explain,
	.sql = wider_sql,
};
