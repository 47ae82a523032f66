/* crosstab: how often values meet, or an aggregate of where they meet: group_by and pivot_wider.
 *
 * A total is the aggregate of all its rows, not of cells.  So the input is grouped four times: by
 * rows and columns, by rows, by columns, and as a whole. */
#include "core/expr/fn/fn.h"
#include "ops/group/table/tableagg.h"
#include "ops/kit/compose.h"

enum { NORM_ROWS, NORM_COLS, NORM_ALL };
struct crosstab_args {
	struct dtx_cols *rows, *cols;
	const char *value, *agg;
	bool margins;
	int normalize; /* -1: not */
};

#define AT(member) .offset = offsetof(struct crosstab_args, member)
static const struct dtx_param crosstab_params[] = {
	{ .name = "rows",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(rows),
	  .aliases = "index,id",
	  .help = "columns whose values are the rows" },
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns,names_from",
	  .help = "columns whose values are the columns" },
	{ .name = "value",
	  .kind = DTX_P_COLUMN,
	  AT(value),
	  .aliases = "values,values_from",
	  .help = "column that is aggregated (default: rows are counted)" },
	{ .name = "agg",
	  .kind = DTX_P_TEXT,
	  AT(agg),
	  .aliases = "aggfunc",
	  .def = "\"count\"",
	  .help = "aggregate of one argument" },
	{ .name = "margins",
	  .kind = DTX_P_BOOL,
	  AT(margins),
	  .def = "false",
	  .help = "a row and a column Total" },
	{ .name = "normalize",
	  .kind = DTX_P_CHOICE,
	  AT(normalize),
	  .choices = "rows,cols,all",
	  .synonyms = "index=rows,columns=cols",
	  .help = "shares of the row's, the column's or the whole total" },
};
#define PAIRS "k,q,v\nb,y,1\na,x,2\nb,y,3\nb,x,\n"
static const struct dtx_example crosstab_examples[] = {
	{ .step = DTX_JSON({ "op" : "crosstab", "rows" : "k", "cols" : "q" }),
	  .in = PAIRS,
	  .out = "k,y,x\nb,2,1\na,0,1\n" },
	{ .step = DTX_JSON({
		  "op" : "contingency",
		  "rows" : "k",
		  "cols" : "q",
		  "value" : "v",
		  "agg" : "sum",
		  "margins" : true
	  }),
	  .in = PAIRS,
	  .out = "k,y,x,Total\nb,4,,4\na,,2,2\nTotal,4,2,6\n" },
	{ .step = DTX_JSON({ "op" : "crosstab", "rows" : "n", "cols" : "q", "margins" : true }),
	  .in = "n,q\n1,\n2,x\n",
	  .out = "n,null,x,Total\n1,1,0,1\n2,0,1,1\nTotal,1,1,2\n" },
	{ .step = DTX_JSON({
		  "op" : "crosstab",
		  "rows" : "k",
		  "cols" : "q",
		  "normalize" : "rows",
		  "margins" : true
	  }),
	  .in = "k,q\na,x\na,y\na,x\na,x\nb,y\n",
	  .out = "k,x,y,Total\na,0.75,0.25,1.0\nb,0.0,1.0,1.0\nTotal,0.6,0.4,1.0\n" },
	{ .step = DTX_JSON({ "op" : "crosstab", "rows" : "k", "cols" : "q", "agg" : "sum" }),
	  .in = PAIRS,
	  .error = "missing_param",
	  .message = "crosstab: agg 'sum' needs a value to work on" },
	{ .step = DTX_JSON({ "op" : "crosstab", "rows" : "k", "cols" : "q", "margins" : true }),
	  .in = "k,q\na,Total\n",
	  .error = "name_collision",
	  .message = "two columns would be called 'Total'" },
};

static enum dtx_code crosstab_check(const void *args, struct dtx_err *err)
{
	const struct crosstab_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (!a->value && strcmp(a->agg, "count") != 0) {
		rc = dtx_err_set(err, DTX_E_MISSING_PARAM, __FILE__, __LINE__,
		                 "crosstab: agg '%s' needs a value to work on", a->agg);
		dtx_err_hint(err, "value names the column");
	}
	return rc;
}

/* Without totals, this is one group_by and one pivot_wider.  "n" is the value of a cell.  @bottom
 * is the row of totals, which has true in the column MARK.  Columns may have any names, as
 * they come from cells: where one has a name that is made here, a join or pivot fails and names it.
 */
#define MARK "row of totals"
static const char crosstab_macro[] = DTX_JSON([
	{
		"if" : [ "$margins", "$normalize" ],
		"op" : "group_by",
		"by" : [],
		"agg" : [ { "as" : "n", "expr" : "count()" } ],
		"out" : "@names"
	},
	{
		"if" : [ "$margins", "$normalize" ],
		"op" : "pivot_wider",
		"in" : "@names",
		"id" : ["row of totals"],
		"names_from" : ["n"],
		"values_from" : ["n"],
		"out" : "@cells"
	},
	{
		"if" : [ "$margins", "$normalize" ],
		"op" : "group_by",
		"by" : [],
		"agg" : [ { "as" : "n", "expr" : "count()" } ],
		"out" : "@whole"
	},
	{
		"if" : [ "$margins", "$normalize" ],
		"op" : "join",
		"in" : "@whole",
		"with" : "@cells",
		"using" : ["row of totals"],
		"how" : "left",
		"suffix" : "",
		"out" : "@bottom"
	},
	{
		"if" : [ "$margins", "$normalize" ],
		"op" : "group_by",
		"by" : [],
		"agg" : [ { "as" : "n", "expr" : "count()" } ],
		"out" : "@sums"
	},
	{ "op" : "group_by", "by" : [], "agg" : [ { "as" : "n", "expr" : "count()" } ] },
	{ "op" : "pivot_wider", "id" : ["n"], "names_from" : ["n"], "values_from" : ["n"] }, {
		"if" : [ "$margins", "$normalize" ],
		"op" : "join",
		"with" : "@sums",
		"using" : ["n"],
		"how" : "left",
		"suffix" : "",
		"nulls_equal" : true
	},
	{ "if" : [ "$margins", "$normalize" ], "op" : "union", "with" : ["@bottom"] },
	{ "if" : "$normalize", "op" : "derive", "across" : ["n"], "set" : { "{col}" : "_" } },
	{ "if" : [ "$margins", "$normalize" ], "op" : "filter", "where" : "true" },
	{ "if" : [ "$margins", "$normalize" ], "op" : "drop", "cols" : ["row of totals"] }
]);
/* Numbers of these steps; without totals there are only CELLS and CELLS_WIDE, as 0 and 1. */
enum { NAMES, NAMES_WIDE, WHOLE, BOTTOM, SUMS, CELLS, CELLS_WIDE, JOINED };

/* Makes the text of the aggregate, and checks it as written. */
static enum dtx_code bind_value(struct dtx_bind *b, const struct crosstab_args *a,
                                const char **text, struct dtx_err *err)
{
	struct dtx_expr *call = dtx_expr_call1(b->arena, a->agg, a->value);
	struct dtx_tableagg_out out = { .bound = NULL };
	struct dtx_buf made = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	enum dtx_code rc = DTX_OK;
	enum dtx_type type;
	int32_t col = 0;

	if (!call)
		DTX_FAIL_MEM(err);
	dtx_expr_print(call, &made);
	*text = dtx_buf_ok(&made) ? dtx_arena_strdup(b->arena, dtx_buf_text(&made)) : NULL;
	if (!*text)
		DTX_FAIL_MEM(err);
	if (a->value)
		DTX_TRY(dtx_bind_column(b, 0, a->value, "/value", &col, err));
	if (col < 0)
		goto out;
	if (!dtx_fn_may_be_agg(dtx_str_of(a->agg), a->value != NULL)) {
		DTX_TRY(dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, "/agg", err,
		                      "'%s' is not an aggregate of one argument", a->agg));
		goto out;
	}
	DTX_TRY(dtx_tableagg_bind(b, call, "/agg", NULL, 0, DTX_USE_ROWS, &out, err));
	if (!out.bound || a->normalize < 0 || !b->typed)
		goto out;
	type = dtx_bound_type(out.bound).type;
	if (!dtx_type_is_number(type))
		DTX_TRY(dtx_bind_fail_next(b, DTX_E_TYPE_MISMATCH, "/normalize",
		                           "leave normalize out, or aggregate with count or sum",
		                           err, "shares need numbers, %s gives %s", a->agg,
		                           dtx_type_name(type)));
out:
	dtx_buf_clear(&made);
	return rc;
}

static void set_in(struct dtx_compose *c, size_t i, const char *name, json_t *value)
{
	c->failed |= json_object_set_new(c->step[i], name, value) != 0;
}

/* What is put into the steps that only totals need.  `rows` and `cols` are names, `agg` is the
 * aggregate. */
static void add_totals(struct dtx_compose *c, const struct crosstab_args *a, json_t *rows,
                       json_t *cols, const char *value, const char *agg)
{
	const char *sum = a->margins ? "Total" : "total of a row", *of = dtx_compose_name(c, sum);
	const char *first = json_string_value(json_array_get(rows, 0));
	const char *mark = dtx_compose_name(c, MARK), *where, *share;
	json_t *cells = json_array(), *bottom = json_array(), *keys = json_copy(rows);

	dtx_compose_add(c, cells, dtx_compose_item(value, agg));
	dtx_compose_add(c, cells, dtx_compose_item(MARK, "true"));
	dtx_compose_add(c, bottom, dtx_compose_item(MARK, "true"));
	if (a->margins && first)
		dtx_compose_add(c, bottom, dtx_compose_item(first, "'Total'"));
	dtx_compose_add(c, bottom, dtx_compose_item(sum, agg));
	set_in(c, NAMES, "by", json_incref(cols));
	set_in(c, NAMES, "agg", cells);
	set_in(c, WHOLE, "agg", bottom);
	set_in(c, SUMS, "by", json_incref(rows));
	set_in(c, SUMS, "agg", json_pack("[o]", dtx_compose_item(sum, agg)));
	set_in(c, JOINED, "using", json_incref(rows));
	if (a->normalize == NORM_COLS)
		of = "_";
	if (a->normalize != NORM_ROWS)
		of = dtx_compose_text(c, "max(%s, where: %s)", of, mark);
	/* no 0 is in it, which may be the name of a column */
	share = dtx_compose_text(c, "if(float(%s) != -float(%s), float(_) / float(%s), null)", of,
	                         of, of);
	dtx_compose_add(c, keys, json_string(MARK));
	dtx_compose_set(c, "derive", "across", json_pack("[{so}]", "not", keys));
	dtx_compose_set(c, "derive", "set", json_pack("[o]", dtx_compose_item("{col}", share)));
	where = dtx_compose_text(c, "%s is null%s%s", mark, a->margins ? " or " : "",
	                         a->margins ? mark : "");
	dtx_compose_set(c, "filter", "where", json_string(where));
	if (!a->margins)
		dtx_compose_set(c, "drop", "cols", json_pack("[ss]", MARK, sum));
}

static enum dtx_code crosstab_compose(struct dtx_bind *b, const void *args, json_t *const *step,
                                      size_t n, struct dtx_err *err)
{
	const struct crosstab_args *a = args;
	struct dtx_compose c = { b, step, n, false };
	const char *agg, *value;
	json_t *rows = NULL, *cols = NULL, *keys = NULL;
	size_t cells = n > CELLS ? CELLS : 0;
	enum dtx_code rc = DTX_OK;
	int32_t *row, *col;
	uint32_t nrow, ncol;

	DTX_TRY(dtx_bind_cols(b, 0, a->rows, "/rows", &row, &nrow, err));
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &col, &ncol, err));
	DTX_TRY(bind_value(b, a, &agg, err));
	value = dtx_compose_free(&c, NULL, "n");
	rows = dtx_compose_names(&c, row, nrow);
	cols = dtx_compose_names(&c, col, ncol);
	keys = json_copy(rows);
	for (uint32_t i = 0; i < ncol; i++)
		if (col[i] >= 0 && dtx_cols_find(row, nrow, col[i]) < 0)
			dtx_compose_add(&c, keys, json_string(b->in[0]->field[col[i]].name));
	dtx_compose_set(&c, "pivot_wider", "names_from", json_incref(cols));
	dtx_compose_set(&c, "pivot_wider", "values_from", json_pack("[s]", value));
	if (!strncmp(agg, "count", strlen("count")))
		dtx_compose_set(&c, "pivot_wider", "fill", json_integer(0));
	set_in(&c, cells, "by", json_incref(keys));
	set_in(&c, cells, "agg", json_pack("[o]", dtx_compose_item(value, agg)));
	set_in(&c, cells + 1, "id", json_incref(rows));
	if (cells)
		add_totals(&c, a, rows, cols, value, agg);
	if (!b->typed &&
	    !(dtx_cols_static(a->rows, b->in[0]) && dtx_cols_static(a->cols, b->in[0])))
		dtx_compose_unknown(&c, n);
	rc = dtx_compose_end(&c, err);
out:
	json_decref(rows);
	json_decref(cols);
	json_decref(keys);
	return rc;
}

static void crosstab_explain(const void *args, struct dtx_buf *out)
{
	static const char *const of[] = { "row", "column", "whole" };
	const struct crosstab_args *a = args;

	if (a->value)
		dtx_buf_printf(out, "%s of %s where ", a->agg, a->value);
	else
		dtx_buf_add(out, "count where ");
	dtx_cols_print(a->rows, out);
	dtx_buf_add(out, " (rows) and ");
	dtx_cols_print(a->cols, out);
	dtx_buf_add(out, " (columns) meet");
	if (a->normalize >= 0)
		dtx_buf_printf(out, ", as shares of the %s total", of[a->normalize]);
	if (a->margins)
		dtx_buf_add(out, ", with totals");
}

const struct dtx_op dtx_op_crosstab = {
	.name = "crosstab",
	.aliases = "contingency",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Count or aggregate where the values of two columns meet",
	.notes = "Rows and columns come in order of first appearance; null is a value, and the "
		 "column of null is called null. A total is the aggregate of all its rows, not of "
		 "its cells. Where a share has nothing to be a share of it is null.",
	.params = crosstab_params,
	.nparams = DTX_COUNT(crosstab_params),
	.examples = crosstab_examples,
	.nexamples = DTX_COUNT(crosstab_examples),
	.args_size = sizeof(struct crosstab_args),
	.check = crosstab_check,
	.macro = crosstab_macro,
	.compose = crosstab_compose,
	.explain = crosstab_explain,
};
