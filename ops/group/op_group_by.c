/* group_by: one row per distinct key, with aggregates.
 *
 * Every worker groups the batches that it consumes in a hash table of its own, where the states of
 * all aggregates of a group are next to each other.  combine goes through the partitions in
 * parallel.  If several workers have a key, the first one that has it owns the states.  The entry
 * with the smallest position has the group's first row, which gives the place of the group in the
 * result and the cells of its key.  Each worker meets positions in ascending order, so the result
 * is a merge of the workers' first rows. */
#include "core/plan/bind/across.h"
#include "core/plan/compile/pytext.h"
#include "ops/group/groupby.h"
#include "ops/kit/opkit.h"
#include "core/expr/parse/print_code.h"
#include "core/plan/compile/sqltext.h"

static const struct dtx_param key_rows[] = {
	{ .name = "as",
	  .kind = DTX_P_TEXT,
	  .required = true,
	  .offset = offsetof(struct dtx_agg_item, as),
	  .aliases = "col,new_name,name",
	  .help = "name of the key; a column of that name unless expr is given" },
	{ .name = "expr",
	  .kind = DTX_P_EXPR,
	  .offset = offsetof(struct dtx_agg_item, expr),
	  .aliases = "expression,formula",
	  .help = "formula of the key" },
};
static const struct dtx_param group_by_params[] = {
	{ .name = "by",
	  .kind = DTX_P_LIST,
	  .required = true,
	  .offset = offsetof(struct dtx_gb_args, by),
	  .aliases = "group_by,groupby,keys,columns,cols,group,by_columns",
	  .rows = key_rows,
	  .nrows = DTX_COUNT(key_rows),
	  .item_size = sizeof(struct dtx_agg_item),
	  .sugar = DTX_SUGAR_SCALAR,
	  .help = "keys; [] makes one row of the whole table" },
	{ .name = "agg",
	  .kind = DTX_P_LIST,
	  .required = true,
	  .offset = offsetof(struct dtx_gb_args, agg),
	  .aliases = "aggs,aggregations,aggfunc,aggregates,aggregate,metrics,measures,summaries",
	  .rows = dtx_agg_rows,
	  .nrows = DTX_AGG_ROWS,
	  .item_size = sizeof(struct dtx_agg_item),
	  .sugar = DTX_SUGAR_AGG,
	  .help = "results per group" },
	{ .name = "null_keys",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct dtx_gb_args, null_keys),
	  .choices = "keep,drop,error",
	  .def = "\"keep\"",
	  .help = "rows with a null in the key" },
	{ .name = "order",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct dtx_gb_args, order),
	  .choices = "first_seen,sorted",
	  .def = "\"first_seen\"",
	  .help = "order of the groups" },
	{ .name = "having",
	  .kind = DTX_P_EXPR,
	  .offset = offsetof(struct dtx_gb_args, having),
	  .help = "condition on the result's columns" },
	{ .name = "sets",
	  .kind = DTX_P_SETS,
	  .offset = offsetof(struct dtx_gb_args, sets),
	  .help = "several groupings at once: rollup drops keys one by one from the last, "
	          "cube uses every combination of keys, a list names the keys of each" },
	{ .name = "sets_as",
	  .kind = DTX_P_TEXT,
	  .offset = offsetof(struct dtx_gb_args, sets_as),
	  .help = "with sets: new last column, the keys of the row's set (a,b)" },
	DTX_ACROSS_PARAM(struct dtx_gb_args),
};
static const struct dtx_example group_by_examples[] = {
	{ .step = DTX_JSON(
		  { "op" : "group_by", "by" : ["k"], "agg" : { "s" : "sum(n)", "c" : "count()" } }),
	  .in = "k,n\nb,1\na,2\nb,3\n,4\na,\n",
	  .out = "k,s,c\nb,4,2\na,2,2\n,4,1\n" },
	{ .step = DTX_JSON({
		  "op" : "group_by",
		  "by" : ["k"],
		  "agg" : { "n" : "sum" },
		  "null_keys" : "drop",
		  "order" : "sorted"
	  }),
	  .in = "k,n\nb,1\na,2\nb,3\n,4\n",
	  .out = "k,n\na,2\nb,4\n" },
	{ .step = DTX_JSON({ "op" : "group_by", "by" : ["x"], "agg" : { "c" : "count()" } }),
	  .in = "x\n1.50\n1.5\n2\n",
	  .out = "x,c\n1.50,2\n2,1\n" },
	{ .step = DTX_JSON(
		  { "op" : "summarise", "by" : [], "agg" : { "c" : "count()", "s" : "sum(n)" } }),
	  .in = "n\n",
	  .out = "c,s\n0,\n" },
	{ .step = DTX_JSON({
		  "op" : "group_by",
		  "by" : [ { "as" : "d", "expr" : "year(d)" } ],
		  "agg" : [
			  { "as" : "next", "expr" : "d + 1" }, { "as" : "last", "expr" : "max(d)" }
		  ]
	  }),
	  .in = "d\n2024-01-31\n2024-03-01\n2025-01-01\n",
	  .out = "d,next,last\n2024,2025,2024-03-01\n2025,2026,2025-01-01\n" },
	{ .step = DTX_JSON({
		  "op" : "group_by",
		  "by" : [ "k", "j" ],
		  "agg" : { "m" : "mean(n)" },
		  "having" : "m > 1"
	  }),
	  .in = "k,j,n\na,1,1\na,2,2\na,1,1\n,1,5\n",
	  .out = "k,j,m\na,2,2.0\n,1,5.0\n" },
	{ .step = DTX_JSON({
		  "op" : "group_by",
		  "by" : [ { "as" : "half", "expr" : "n // 2" } ],
		  "agg" : { "s" : "sum(n) + 1" }
	  }),
	  .in = "n\n2\n3\n4\n",
	  .out = "half,s\n1,6\n2,5\n" },
	{ .step = DTX_JSON({
		  "op" : "group_by",
		  "by" : ["k"],
		  "across" : [ { "not" : ["k"] } ],
		  "agg" : { "n" : "count()", "{col}_sum" : "sum(_)", "{col}_mean" : "mean(_)" }
	  }),
	  .in = "k,a,b\nx,1,4\ny,2,\nx,3,5\n",
	  .out = "k,n,a_sum,b_sum,a_mean,b_mean\nx,2,4,9,2.0,4.5\ny,1,2,,2.0,\n" },
	{ .step = DTX_JSON({ "op" : "group_by", "by" : ["k"], "agg" : { "s" : "sum(n)" } }),
	  .in = "k,n\n",
	  .out = "k,s\n" },
	{ .step = DTX_JSON({
		  "op" : "group_by",
		  "by" : ["k"],
		  "agg" : { "c" : "count()" },
		  "null_keys" : "error"
	  }),
	  .in = "k,n\na,1\n,2\n",
	  .error = "null_key",
	  .message = "group_by: a key is null" },
	{ .step = DTX_JSON({
		  "op" : "group_by",
		  "by" : ["k"],
		  "agg" : [ { "as" : "x", "expr" : "n + 1" } ]
	  }),
	  .in = "k,n\na,1\n",
	  .error = "aggregate_required",
	  .message = "column 'n' is neither a key nor in an aggregate" },
	{ .step = DTX_JSON({
		  "op" : "group_by",
		  "by" : [ "k", "j" ],
		  "agg" : { "s" : "sum(n)" },
		  "sets" : "rollup",
		  "sets_as" : "of"
	  }),
	  .in = "k,j,n\nb,1,1\na,1,2\nb,1,3\nb,,4\n",
	  .out = "k,j,s,of\nb,1,4,\"k,j\"\na,1,2,\"k,j\"\nb,,4,\"k,j\"\nb,,8,k\na,,2,k\n,,10,"
	         "\"\"\n" },
	{ .step = DTX_JSON({
		  "op" : "group_by",
		  "by" : [ "k", "x" ],
		  "agg" : { "c" : "count()" },
		  "sets" : [ ["x"], [ "k", "x" ] ],
		  "order" : "sorted",
		  "having" : "c > 1"
	  }),
	  .in = "k,x\nb,1.50\na,2\nb,1.5\na,1.5\n",
	  .out = "k,x,c\nb,1.50,2\n,1.50,3\n" },
	{ .step = DTX_JSON({
		  "op" : "group_by",
		  "by" : [ "k", "j" ],
		  "agg" : { "c" : "count()" },
		  "sets" : "cube"
	  }),
	  .in = "k,j\n",
	  .out = "k,j,c\n,,0\n" },
	{ .step = DTX_JSON({
		  "op" : "group_by",
		  "by" : ["k"],
		  "agg" : { "c" : "count()" },
		  "sets" : [ ["k"], ["j"] ]
	  }),
	  .in = "k,j\n",
	  .error = "bad_param_value",
	  .message = "'j' is not among the keys in 'by'" },
};

static enum dtx_code group_by_check(const void *args, struct dtx_err *err)
{
	const struct dtx_gb_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (a->sets_as && a->sets.how == DTX_SETS_NONE)
		DTX_FAIL(err, DTX_E_MISSING_PARAM, "group_by: 'sets_as' needs 'sets'");
out:
	return rc;
}

static void sets_explain(const struct dtx_psets *s, struct dtx_buf *out)
{
	if (s->how == DTX_SETS_ROLLUP || s->how == DTX_SETS_CUBE)
		dtx_buf_printf(out, " (%s)", s->how == DTX_SETS_CUBE ? "cube" : "rollup");
	for (size_t i = 0; i < s->n; i++) {
		const char *const *name = s->set[i].item;

		dtx_buf_add(out, i ? "; " : " in sets (");
		for (size_t k = 0; k < s->set[i].n; k++)
			dtx_buf_printf(out, "%s%s", k ? ", " : "", name[k]);
		dtx_buf_add(out, s->set[i].n ? "" : "all rows");
	}
	dtx_buf_add(out, s->n ? ")" : "");
}

static void group_by_explain(const void *args, struct dtx_buf *out)
{
	const struct dtx_gb_args *a = args;
	const struct dtx_agg_item *by = a->by.item, *agg = a->agg.item;

	for (size_t i = 0; i < a->by.n; i++) {
		dtx_buf_printf(out, "%s%s", i ? ", " : "by ", by[i].as);
		if (by[i].expr) {
			dtx_buf_add(out, " = ");
			dtx_expr_print(by[i].expr, out);
		}
	}
	dtx_buf_add(out, a->by.n ? "" : "of the whole table");
	sets_explain(&a->sets, out);
	dtx_buf_add(out, ": ");
	for (size_t i = 0; i < a->agg.n; i++) {
		dtx_buf_printf(out, "%s%s = ", i ? ", " : "", agg[i].as);
		dtx_expr_print(agg[i].expr, out);
	}
	if (a->having) {
		dtx_buf_add(out, ", having ");
		dtx_expr_print(a->having, out);
	}
}

/* The last column an expression uses. */
static void note_column(void *arg, const char *name)
{
	*(const char **)arg = name;
}

/* Aggregates that dx.group_by takes by name. */
static bool is_simple(const char *fn)
{
	static const char *const names[] = { "sum",    "mean",  "min",           "max",
		                             "median", "std",   "var",           "first",
		                             "last",   "count", "count_distinct" };

	for (size_t i = 0; i < DTX_COUNT(names); i++)
		if (!strcmp(fn, names[i]))
			return true;
	return false;
}

/* "count", or (column, aggregate). */
static bool agg_pandas(const struct dtx_expr *e, struct dtx_buf *out)
{
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_buf text = DTX_BUF_INIT(1 << 16);
	const char *column = NULL;
	struct dtx_expr *call;
	char *open;
	bool ok = false;

	dtx_expr_print(e, &text);
	dtx_expr_columns(e, note_column, &column);
	open = strchr(dtx_buf_text(&text), '(') ? strchr(text.ptr, '(') : NULL;
	if (open)
		*open = '\0';
	if (open && !column && strcmp(text.ptr, "count") == 0) {
		dtx_buf_add(out, "\"count\"");
		ok = true;
	} else if (open && column && is_simple(text.ptr)) {
		call = dtx_expr_call1(&arena, text.ptr, column);
		ok = call && dtx_expr_equal(call, e);
		dtx_buf_add(out, "(");
		dtx_py_text(out, column);
		dtx_buf_printf(out, ", \"%s\")", text.ptr);
	}
	dtx_buf_clear(&text);
	dtx_arena_clear(&arena);
	return ok;
}

/* ["a", "b"], or {"a": "a", "q": lambda t: ...} when a key is computed. */
static bool keys_pandas(const struct dtx_gb_args *a, struct dtx_buf *out)
{
	const struct dtx_agg_item *by = a->by.item;
	bool plain = true, ok = true;

	for (size_t i = 0; i < a->by.n; i++)
		plain = plain && !by[i].expr;
	dtx_buf_addc(out, plain ? '[' : '{');
	for (size_t i = 0; i < a->by.n; i++) {
		dtx_buf_add(out, i ? ", " : "");
		dtx_py_text(out, by[i].as);
		if (plain)
			continue;
		dtx_buf_add(out, by[i].expr ? ": lambda t: " : ": ");
		if (by[i].expr)
			ok = dtx_expr_pandas(by[i].expr, "t", out) && ok;
		else
			dtx_py_text(out, by[i].as);
	}
	dtx_buf_addc(out, plain ? ']' : '}');
	return ok;
}

/* What dx.group_by knows by name, else a function of the group's rows and keys. */
static bool result_pandas(const struct dtx_expr *e, struct dtx_buf *out)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool ok = agg_pandas(e, &text);

	if (!ok) {
		dtx_buf_reset(&text);
		dtx_buf_add(&text, "lambda g, k: ");
		ok = dtx_expr_pandas_group(e, "g", "k", &text);
	}
	dtx_buf_add(out, dtx_buf_text(&text));
	dtx_buf_clear(&text);
	return ok;
}

static void sets_pandas(const struct dtx_gb_args *a, struct dtx_buf *out)
{
	static const char *const words[] = { "[", "\"rollup\"", "\"cube\"", "[" };

	if (a->sets.how == DTX_SETS_NONE)
		return;
	dtx_buf_printf(out, ", sets=%s", words[a->sets.how]);
	for (size_t i = 0; i < a->sets.n; i++) {
		const char *const *name = a->sets.set[i].item;

		dtx_buf_add(out, i ? ", [" : "[");
		for (size_t k = 0; k < a->sets.set[i].n; k++) {
			dtx_buf_add(out, k ? ", " : "");
			dtx_py_text(out, name[k]);
		}
		dtx_buf_addc(out, ']');
	}
	dtx_buf_add(out, a->sets.how == DTX_SETS_LIST ? "]" : "");
	if (a->sets_as) {
		dtx_buf_add(out, ", sets_as=");
		dtx_py_text(out, a->sets_as);
	}
}

static bool group_by_pandas(const void *args, struct dtx_buf *out)
{
	static const char *const nulls[] = { "", ", null_keys=\"drop\"", ", null_keys=\"error\"" };
	const struct dtx_gb_args *a = args;
	const struct dtx_agg_item *agg = a->agg.item;
	bool ok;

	dtx_buf_add(out, "dx.group_by(df0, ");
	ok = keys_pandas(a, out);
	dtx_buf_add(out, ", {");
	for (size_t i = 0; ok && i < a->agg.n; i++) {
		dtx_buf_add(out, i ? ", " : "");
		dtx_py_text(out, agg[i].as);
		dtx_buf_add(out, ": ");
		ok = result_pandas(agg[i].expr, out);
	}
	dtx_buf_printf(out, "}%s%s", nulls[a->null_keys],
	               a->order == DTX_GB_SORTED ? ", order=\"sorted\"" : "");
	sets_pandas(a, out);
	if (a->having) {
		dtx_buf_add(out, ", having=lambda t: ");
		ok = dtx_expr_pandas(a->having, "t", out) && ok;
	}
	dtx_buf_add(out, ")");
	return ok;
}

static bool keys_sql(const struct dtx_sql_step *s, const char *after, bool named,
                     struct dtx_buf *out)
{
	const struct dtx_gb_args *a = s->args;
	const struct dtx_agg_item *by = a->by.item;
	bool ok = true;

	for (size_t i = 0; i < a->by.n; i++) {
		dtx_buf_add(out, i || named ? ", " : "");
		if (by[i].expr && !named && *after)
			dtx_sql_name(out, by[i].as);
		else if (by[i].expr)
			ok = dtx_expr_sql(by[i].expr, s->bind->in[0], out) && ok;
		else
			dtx_sql_name(out, by[i].as);
		dtx_buf_add(out, after);
		if (!named)
			continue;
		dtx_buf_add(out, " AS ");
		dtx_sql_name(out, by[i].as);
	}
	return ok;
}

/* Where groups are made SQL sees the input's columns, so a computed key has no name yet. */
struct key_use {
	const struct dtx_gb_args *args;
	bool found;
};

static void on_key(void *arg, const char *name)
{
	struct key_use *use = arg;
	const struct dtx_agg_item *by = use->args->by.item;

	for (size_t i = 0; i < use->args->by.n; i++)
		use->found |= by[i].expr && !strcmp(by[i].as, name);
}

static bool names_made_key(const struct dtx_gb_args *a, const struct dtx_expr *e)
{
	struct key_use use = { a, false };

	dtx_expr_columns(e, on_key, &use);
	return use.found;
}

static bool groups_sql(const struct dtx_sql_step *s, struct dtx_buf *out)
{
	const struct dtx_gb_args *a = s->args;
	const struct dtx_agg_item *by = a->by.item, *agg = a->agg.item;
	struct dtx_buf part = DTX_BUF_INIT(DTX_PRINT_SQL_MAX),
		       below = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool ok = keys_sql(s, "", false, &part);
	struct dtx_sql_over over = {
		.part = dtx_buf_text(&part), .order = "", .grouped = true, .below = &below
	};

	dtx_buf_add(out, "SELECT coalesce(min(\"_row\"), 1) AS \"_row\"");
	ok = keys_sql(s, "", true, out) && ok;
	for (size_t i = 0; i < a->agg.n; i++) {
		dtx_buf_add(out, ", ");
		ok = !names_made_key(a, agg[i].expr) && ok;
		ok = dtx_expr_sql_over(agg[i].expr, s->bind->in[0], &over, out) && ok;
		dtx_buf_add(out, " AS ");
		dtx_sql_name(out, agg[i].as);
	}
	if (dtx_buf_len(&below))
		dtx_buf_printf(out, " FROM (SELECT *%s FROM %s)", dtx_buf_text(&below), s->from[0]);
	else
		dtx_buf_printf(out, " FROM %s", s->from[0]);
	ok = ok && dtx_buf_ok(&part) && dtx_buf_ok(&below);
	dtx_buf_clear(&part);
	dtx_buf_clear(&below);
	for (size_t i = 0; i < a->by.n && a->null_keys == DTX_GB_NULL_DROP; i++) {
		dtx_buf_add(out, i ? " AND " : " WHERE ");
		if (by[i].expr)
			ok = dtx_expr_sql(by[i].expr, s->bind->in[0], out) && ok;
		else
			dtx_sql_name(out, by[i].as);
		dtx_buf_add(out, " IS NOT NULL");
	}
	dtx_buf_add(out, a->by.n ? " GROUP BY " : "");
	return keys_sql(s, "", false, out) && ok;
}

static bool having_sql(const struct dtx_sql_step *s, struct dtx_buf *out)
{
	const struct dtx_gb_args *a = s->args;
	struct dtx_schema made = { .nfields = s->bind->ncols };
	struct dtx_field *field = dtx_mem_zalloc((size_t)made.nfields + 1, sizeof(*field));
	bool ok;

	for (uint32_t i = 0; field && i < made.nfields; i++)
		field[i] = s->bind->col[i].field;
	made.field = field;
	ok = field && dtx_expr_sql(a->having, &made, out);
	dtx_mem_free(field);
	return ok;
}

static bool group_by_sql(const struct dtx_sql_step *s, struct dtx_buf *out)
{
	const struct dtx_gb_args *a = s->args;
	bool ok = a->null_keys != DTX_GB_NULL_ERROR && a->sets.how == DTX_SETS_NONE;

	dtx_buf_add(out, "SELECT ");
	if (a->order == DTX_GB_SORTED && a->by.n) {
		dtx_buf_add(out, "row_number() OVER (ORDER BY ");
		ok = keys_sql(s, " NULLS LAST", false, out) && ok;
		dtx_buf_add(out, ") AS ");
	}
	dtx_buf_add(out, "\"_row\"");
	for (uint32_t i = 0; i < s->bind->ncols; i++) {
		dtx_buf_add(out, ", ");
		dtx_sql_name(out, s->bind->col[i].field.name);
	}
	dtx_buf_add(out, " FROM (");
	ok = groups_sql(s, out) && ok;
	dtx_buf_addc(out, ')');
	if (a->having) {
		dtx_buf_add(out, " WHERE ");
		ok = having_sql(s, out) && ok;
	}
	return ok;
}

/* Which keys made a row of several sets is not known. */
static void group_facts(const json_t *canonical, struct dtx_op_facts *facts)
{
	if (json_object_get(canonical, "sets"))
		facts->rows = DTX_ROWS_WHOLE;
}

static void group_dropped(const json_t *canonical, const char *with, struct dtx_buf *out)
{
	(void)with;
	dtx_buf_printf(out, "its group is left out: %s",
	               dtx_json_text(canonical, "having", "a key is null"));
}

const struct dtx_op dtx_op_group_by = {
	.name = "group_by",
	.aliases = "groupby,aggregate,summarise,summarize,count",
	.ninputs = 1,
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER,
	.summary = "One row per group, with aggregates",
	.notes = "null is a key value. A key shows the cell of its first row; groups come in "
		 "order of first appearance, whatever the number of threads. `by: []` gives one "
		 "row, even for an empty table; with keys an empty table gives none. `sets` "
		 "makes the groups of each set of keys, one set after the other (sorted: all by "
		 "their keys, totals after the rows that they sum up); a key outside a row's set "
		 "is null, and `sets_as` distinguishes such a null from one in the "
		 "data." DTX_ACROSS_NOTE,
	.across = "agg",
	.facts = { .rows = DTX_ROWS_GROUPED, .decides = "by", .groups = "by" },
	.facts_of = group_facts,
	.dropped = group_dropped,
	.params = group_by_params,
	.nparams = DTX_COUNT(group_by_params),
	.examples = group_by_examples,
	.nexamples = DTX_COUNT(group_by_examples),
	.args_size = sizeof(struct dtx_gb_args),
	.check = group_by_check,
	.bind = dtx_gb_bind,
	.sink = &dtx_gb_sink,
	.explain = group_by_explain,
	.sql = group_by_sql,
	.pandas = group_by_pandas,
};
