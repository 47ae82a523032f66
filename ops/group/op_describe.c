/* describe: what each column holds, in numbers: group_by and pivot_longer. */
#include "core/data/cells.h"
#include "ops/kit/compose.h"
#include "ops/kit/opkit.h"

enum { NSTATS = 10 };
static const struct {
	const char *name, *before, *after; /* formula around the column */
	bool numbers;                      /* of number columns only */
	bool extreme;                      /* of the type that all columns fit */
} stats[NSTATS] = {
	{ "n", "count(", ")", false, false },
	{ "nulls", "count() - count(", ")", false, false },
	{ "distinct", "count_distinct(", ")", false, false },
	{ "min", "min(", ")", false, true },
	{ "q1", "quantile(", ", 0.25)", true, false },
	{ "median", "median(", ")", true, false },
	{ "q3", "quantile(", ", 0.75)", true, false },
	{ "max", "max(", ")", false, true },
	{ "mean", "mean(", ")", true, false },
	{ "sd", "std(", ")", true, false },
};

struct describe_args {
	struct dtx_cols *cols, *by;
};
#define AT(member) .offset = offsetof(struct describe_args, member)
static const struct dtx_param describe_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  AT(cols),
	  .aliases = "columns",
	  .def = "[\"*\"]",
	  .help = "columns to describe" },
	{ .name = "by",
	  .kind = DTX_P_COLUMNS,
	  AT(by),
	  .aliases = "group_by,groupby,keys",
	  .help = "groups, each described on its own" },
};
static const struct dtx_example describe_examples[] = {
	{ .step = DTX_JSON({ "op" : "describe" }),
	  .in = "v\n1\n2\n4\n\n2\n",
	  .out = "column,type,n,nulls,distinct,min,q1,median,q3,max,mean,sd\n"
	         "v,int,4,1,3,1,1.75,2.0,2.5,4,2.25,1.2583057392117916\n" },
	{ .step = DTX_JSON({ "op" : "summary", "cols" : [ "t", "n" ], "by" : ["k"] }),
	  .in = "k,t,n\nb,x,3\na,z,5\nb,y,1\n",
	  .out = "k,column,type,n,nulls,distinct,min,q1,median,q3,max,mean,sd\n"
	         "b,t,text,2,0,2,x,,,,y,,\nb,n,int,2,0,2,1,1.5,2.0,2.5,3,2.0,"
	         "1.4142135623730951\n"
	         "a,t,text,1,0,1,z,,,,z,,\na,n,int,1,0,1,5,5.0,5.0,5.0,5,5.0,\n" },
	{ .step = DTX_JSON({ "op" : "stats", "cols" : [ "a", "b" ] }),
	  .in = "a,b\n2024-03-01,2024-01-31\n2024-01-01,\n",
	  .out = "column,type,n,nulls,distinct,min,q1,median,q3,max,mean,sd\n"
	         "a,date,2,0,2,2024-01-01,,,,2024-03-01,,\n"
	         "b,date,1,1,1,2024-01-31,,,,2024-01-31,,\n" },
	{ .step = DTX_JSON({ "op" : "describe", "by" : ["type"] }),
	  .in = "type,v\na,1\n",
	  .error = "name_collision",
	  .message = "two columns would be called 'type'" },
};

/* One row of all figures, named "0c|0t|mean" (column, type, figure), becomes a row per column; then
 * the numbers give way to the names of columns and types, which may have any characters. */
static const char describe_macro[] = DTX_JSON([
	{ "op" : "group_by", "by" : [], "agg" : [ { "as" : "n", "expr" : "count()" } ] }, {
		"op" : "pivot_longer",
		"cols" : ["*"],
		"names_to" : [ "column", "type", ".value" ],
		"names_sep" : "|"
	},
	{ "op" : "replace_values", "cols" : [ "column", "type" ], "map" : { "0c" : "" } },
	{ "op" : "select", "cols" : ["n"] }
]);

/* The type that min and max of all columns fit. */
static struct dtx_field find_extreme(const struct dtx_bind *b, const int32_t *col, uint32_t n)
{
	struct dtx_field extreme = { .type = b->in[0]->field[col[0]].type };

	for (uint32_t c = 1; c < n; c++) {
		const struct dtx_field f = { .type = b->in[0]->field[col[c]].type };

		dtx_field_merge(&extreme, &f);
	}
	return extreme;
}

/* The figures of a column, the i-th of those described.  The first one has all of them, so that
 * each is a column of the result. */
static void add_figures(struct dtx_compose *c, json_t *agg, uint32_t i, const struct dtx_field *f,
                        struct dtx_field extreme)
{
	bool as_text = extreme.type.type == DTX_T_TEXT && f->type.type != DTX_T_TEXT;
	const char *name = dtx_compose_name(c, f->name), *expr;

	for (unsigned k = 0; k < NSTATS; k++) {
		bool fits = !stats[k].numbers || dtx_type_is_number(f->type.type);

		if (!fits && i)
			continue;
		expr = dtx_compose_text(c, "%s%s%s", stats[k].before, name, stats[k].after);
		if (stats[k].extreme && as_text)
			expr = dtx_compose_text(c, "text(%s)", expr);
		if (!fits)
			expr = "if(false, 1.0, null)";
		dtx_compose_add(c, agg,
		                dtx_compose_item(dtx_compose_text(c, "%uc|%ut|%s", (unsigned)i,
		                                                  (unsigned)i, stats[k].name),
		                                 expr));
	}
}

static void add_names(struct dtx_compose *c, json_t *map, uint32_t i, const struct dtx_field *f)
{
	struct dtx_buf type = DTX_BUF_INIT(64);

	dtx_type_print(f->type, &type);
	dtx_compose_add(c, map,
	                json_pack("{ss ss}", "from", dtx_compose_text(c, "%uc", (unsigned)i), "to",
	                          f->name));
	dtx_compose_add(c, map,
	                json_pack("{ss ss}", "from", dtx_compose_text(c, "%ut", (unsigned)i), "to",
	                          dtx_buf_text(&type)));
	dtx_buf_clear(&type);
}

/* The columns of the result; one of the groups may have the name of another. */
static enum dtx_code result_names(struct dtx_compose *c, json_t *list, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t groups = json_array_size(list);

	dtx_compose_add(c, list, json_string("column"));
	dtx_compose_add(c, list, json_string("type"));
	for (unsigned k = 0; k < NSTATS; k++)
		dtx_compose_add(c, list, json_string(stats[k].name));
	for (size_t i = 0; i < groups; i++)
		for (size_t k = groups; k < json_array_size(list); k++)
			if (json_equal(json_array_get(list, i), json_array_get(list, k)))
				DTX_TRY(dtx_bind_taken(c->b,
				                       json_string_value(json_array_get(list, i)),
				                       "/by", err));
out:
	return rc;
}

/* Whether all columns are known, with their types. */
static bool is_known(const struct dtx_bind *b, const int32_t *col, uint32_t n)
{
	bool known = b->typed || !b->in[0]->open;

	for (uint32_t i = 0; i < n; i++)
		known = known && b->in[0]->field[col[i]].type.type != DTX_T_UNKNOWN;
	return known;
}

static enum dtx_code describe_compose(struct dtx_bind *b, const void *args, json_t *const *step,
                                      size_t n, struct dtx_err *err)
{
	const struct describe_args *a = args;
	struct dtx_compose c = { b, step, n, false };
	json_t *agg = json_array(), *map = json_array(), *by = NULL, *names = NULL;
	enum dtx_code rc = DTX_OK;
	int32_t *col, *key = NULL;
	uint32_t ncol, nkey = 0, k = 0;
	struct dtx_field extreme;

	if (a->by && a->by->n)
		DTX_TRY(dtx_bind_cols(b, 0, a->by, "/by", &key, &nkey, err));
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &col, &ncol, err));
	for (uint32_t i = 0; i < ncol; i++)
		if (dtx_cols_find(key, nkey, col[i]) < 0)
			col[k++] = col[i];
	if (!k && ncol && !b->in[0]->open)
		DTX_TRY(dtx_bind_fail(
			b, DTX_E_PARAM_CONFLICT, "/by", err,
			"describe: all columns are in by, so none is left to describe"));
	by = dtx_compose_names(&c, key, nkey);
	names = json_copy(by);
	DTX_TRY(result_names(&c, names, err));
	dtx_compose_set(&c, "select", "cols", json_incref(names));
	if (!k || !is_known(b, col, k)) {
		dtx_compose_unknown(
			&c, a->by && a->by->n && !dtx_cols_static(a->by, b->in[0]) ? n : n - 1);
		goto out;
	}
	extreme = find_extreme(b, col, k);
	for (uint32_t i = 0; i < k; i++) {
		add_figures(&c, agg, i, &b->in[0]->field[col[i]], extreme);
		add_names(&c, map, i, &b->in[0]->field[col[i]]);
	}
	dtx_compose_set(&c, "group_by", "by", json_incref(by));
	dtx_compose_set(&c, "group_by", "agg", json_incref(agg));
	if (nkey)
		dtx_compose_set(&c, "pivot_longer", "cols", json_pack("[{sO}]", "not", by));
	dtx_compose_set(&c, "replace_values", "map", json_incref(map));
out:
	if (rc == DTX_OK)
		rc = dtx_compose_end(&c, err);
	json_decref(agg);
	json_decref(map);
	json_decref(by);
	json_decref(names);
	return rc;
}

static void describe_explain(const void *args, struct dtx_buf *out)
{
	const struct describe_args *a = args;

	dtx_buf_add(out, "describe ");
	dtx_cols_print(a->cols, out);
	if (a->by && a->by->n) {
		dtx_buf_add(out, " within ");
		dtx_cols_print(a->by, out);
	}
	dtx_buf_add(out, ": counts, quartiles, mean and standard deviation");
}

const struct dtx_op dtx_op_describe = {
	.name = "describe",
	.aliases = "summary,stats",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "One row per column: type, counts, extremes, quartiles, mean",
	.notes = "`n` counts the values that are not null. Quartiles (type 7), mean and the "
		 "sample's standard deviation are there for numbers; min and max have the type "
		 "that all described columns fit, text if need be. With `by` each group has its "
		 "rows, groups in order of first appearance.",
	.params = describe_params,
	.nparams = DTX_COUNT(describe_params),
	.examples = describe_examples,
	.nexamples = DTX_COUNT(describe_examples),
	.args_size = sizeof(struct describe_args),
	.macro = describe_macro,
	.compose = describe_compose,
	.explain = describe_explain,
};
