/* Names and forms that other tools use: each becomes one canonical form, or is refused if it
 * contradicts another member. */
#include "core/plan/plan.h"

#include "tests/t.h"

static enum dtx_code parse(const char *step, struct dtx_errlist *findings, struct dtx_plan **plan,
                           struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(1 << 16);
	enum dtx_code rc;

	dtx_buf_printf(&text,
	               "{\"dtx\":1,\"inputs\":[{\"name\":\"main\"},{\"name\":\"other\"}],"
	               "\"steps\":[%s]}",
	               step);
	rc = dtx_plan_parse((struct dtx_str){ text.ptr, text.len }, NULL, findings, plan, err);
	if (rc == DTX_OK)
		rc = dtx_plan_check(*plan, findings, err);
	dtx_buf_clear(&text);
	return rc;
}

/* The canonical text of a step; "" if there are findings. */
static void canonical(const char *step, struct dtx_buf *out)
{
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_plan *plan = NULL;
	size_t errors = 0;

	T_OK(parse(step, &findings, &plan, &err), &err);
	for (size_t i = 0; i < findings.n; i++)
		if (findings.item[i].severity != DTX_SEV_WARNING) {
			T_STR(findings.item[i].msg, "");
			errors++;
		}
	if (plan && !errors)
		dtx_json_canonical(plan->step[0].canonical, out);
	dtx_plan_free(plan);
	dtx_errlist_clear(&findings);
	dtx_err_clear(&err);
}

static void means(const char *step, const char *same)
{
	struct dtx_buf a = DTX_BUF_INIT(1 << 16), b = DTX_BUF_INIT(1 << 16);

	canonical(step, &a);
	canonical(same, &b);
	T_STR(dtx_buf_text(&a), dtx_buf_text(&b));
	T_CHECK(a.len > 0);
	dtx_buf_clear(&a);
	dtx_buf_clear(&b);
}

#define S(...) #__VA_ARGS__

void test_alias_same_step(void)
{
	static const struct {
		const char *step, *same;
	} pairs[] = {
		{ S({ "op" : "left_join", "table" : "other", "left_on" : "a", "right_on" : "b" }),
		  S({
			  "op" : "join",
			  "with" : "other",
			  "on" : [ { "left" : "a", "right" : "b" } ],
			  "how" : "left"
		  }) },
		{ S({ "op" : "add_totals", "cols" : true }),
		  S({ "op" : "add_totals", "column" : true }) },
		{ S({
			  "op" : "merge_asof",
			  "right" : "other",
			  "left_on" : "t",
			  "right_on" : "u",
			  "suffixes" : [ "", "_y" ]
		  }),
		  S({
			  "op" : "asof_join",
			  "with" : "other",
			  "on" : [ { "left" : "t", "right" : "u" } ],
			  "suffix" : "_y"
		  }) },
		{ S({
			  "op" : "merge",
			  "right" : "other",
			  "left_on" : [ "a", "c" ],
			  "right_on" : [ "b", "d" ],
			  "suffixes" : [ "_x", "_y" ],
			  "type" : "outer",
			  "validate" : "many_to_one"
		  }),
		  S({
			  "op" : "join",
			  "with" : "other",
			  "how" : "full",
			  "cardinality" : "m:1",
			  "suffix" : "_y",
			  "on" : { "a" : "b", "c" : "d" }
		  }) },
		{ S({ "op" : "join", "with" : "other", "on" : "k" }), S({
			  "op" : "join",
			  "with" : "other",
			  "on" : [ { "left" : "k", "right" : "k" } ]
		  }) },
		{ S({ "op" : "outer_join", "with" : "other", "using" : "k" }),
		  S({ "op" : "join", "with" : "other", "using" : ["k"], "how" : "full" }) },
		{ S({ "op" : "sort_values", "by" : [ "a", "b" ], "ascending" : [ true, false ] }),
		  S({ "op" : "sort", "by" : [ "a", "-b" ] }) },
		{ S({ "op" : "sort", "columns" : "a", "ascending" : false }),
		  S({ "op" : "sort", "by" : "-a" }) },
		{ S({
			  "op" : "sort",
			  "by" : [ "a", { "col" : "b", "nulls" : "first" } ],
			  "ascending" : false
		  }),
		  S({
			  "op" : "sort",
			  "by" : [ "-a", { "col" : "b", "desc" : true, "nulls" : "first" } ]
		  }) },
		{ S({ "op" : "tail", "n" : 2 }), S({ "op" : "limit", "n" : 2, "from" : "end" }) },
		{ S({ "op" : "tail", "count" : 2, "from" : "end" }),
		  S({ "op" : "limit", "n" : 2, "from" : "end" }) },
		{ S({ "op" : "bfill", "columns" : "a" }),
		  S({ "op" : "fill", "cols" : ["a"], "dir" : "up" }) },
		{ S({ "op" : "ffill", "cols" : "a" }),
		  S({ "op" : "fill", "cols" : ["a"], "dir" : "down" }) },
		{ S({ "op" : "recode", "cols" : "a", "mapping" : { "x" : 1, "y" : null } }), S({
			  "op" : "replace_values",
			  "cols" : ["a"],
			  "map" : [ { "from" : "x", "to" : 1 }, { "from" : "y" } ]
		  }) },
		{ S({ "op" : "rename", "columns" : { "a" : "b" } }),
		  S({ "op" : "rename", "map" : [ { "from" : "a", "to" : "b" } ] }) },
		{ S({ "op" : "astype", "types" : { "a" : "integer", "b" : { "type" : "str" } } }),
		  S({
			  "op" : "cast",
			  "types" : [
				  { "name" : "a", "type" : "int" },
				  { "name" : "b", "type" : "text" }
			  ]
		  }) },
		{ S({
			  "op" : "aggregate",
			  "groupby" : "k",
			  "aggs" : { "hours" : "sum", "n" : "count()" }
		  }),
		  S({
			  "op" : "group_by",
			  "by" : ["k"],
			  "agg" : [
				  { "as" : "hours", "expr" : "sum(hours)" },
				  { "as" : "n", "expr" : "count()" }
			  ]
		  }) },
		{ S({ "op" : "melt", "id_vars" : "a", "var_name" : "k", "value_name" : "v" }), S({
			  "op" : "pivot_longer",
			  "keep" : ["a"],
			  "names_to" : ["k"],
			  "values_to" : "v"
		  }) },
		{ S({
			  "op" : "pivot_table",
			  "index" : "a",
			  "columns" : "k",
			  "values" : "v",
			  "aggfunc" : "sum"
		  }),
		  S({
			  "op" : "pivot_wider",
			  "id" : ["a"],
			  "names_from" : ["k"],
			  "values_from" : ["v"],
			  "agg" : "sum"
		  }) },
		{ S({ "op" : "query", "condition" : "a>1" }),
		  S({ "op" : "filter", "where" : "a > 1" }) },
		{ S({ "op" : "assign", "set" : [ { "new_name" : "x", "formula" : "a+1" } ] }),
		  S({ "op" : "derive", "set" : { "x" : "a + 1" } }) },
	};

	for (size_t i = 0; i < DTX_COUNT(pairs); i++)
		means(pairs[i].step, pairs[i].same);
}

static void refused(const char *step, const char *want)
{
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_plan *plan = NULL;
	char got[160] = "";

	T_OK(parse(step, &findings, &plan, &err), &err);
	for (size_t i = 0; i < findings.n && !*got; i++)
		if (findings.item[i].severity == DTX_SEV_ERROR)
			snprintf(got, sizeof(got), "%s %s", dtx_code_name(findings.item[i].code),
			         findings.item[i].at);
	T_STR(got, want);
	dtx_plan_free(plan);
	dtx_errlist_clear(&findings);
	dtx_err_clear(&err);
}

void test_alias_refused(void)
{
	refused(S({ "op" : "select", "cols" : "a", "columns" : "b" }),
	        "param_conflict /steps/0/columns");
	refused(S({ "op" : "left_join", "with" : "other", "on" : "a", "how" : "inner" }),
	        "param_conflict /steps/0/how");
	refused(S({
			"op" : "join",
			"with" : "other",
			"on" : "a",
			"left_on" : "a",
			"right_on" : "b"
		}),
	        "param_conflict /steps/0/left_on");
	refused(S({ "op" : "join", "with" : "other", "left_on" : "a" }),
	        "missing_param /steps/0/left_on");
	refused(S({ "op" : "join", "with" : "other", "left_on" : [ "a", "b" ], "right_on" : "c" }),
	        "bad_param_value /steps/0/right_on");
	refused(S({
			"op" : "join",
			"with" : "other",
			"on" : "a",
			"suffix" : "_z",
			"suffixes" : ["_y"]
		}),
	        "param_conflict /steps/0/suffixes");
	refused(S({ "op" : "sort", "by" : "-a", "ascending" : true }),
	        "param_conflict /steps/0/ascending");
	refused(S({ "op" : "sort", "by" : [ "a", "b" ], "ascending" : [true] }),
	        "bad_param_value /steps/0/ascending");
	refused(S({ "op" : "sort", "by" : "a", "ascending" : "yes" }),
	        "bad_param_type /steps/0/ascending");
	refused(S({ "op" : "tail", "n" : 1, "from" : "start" }), "param_conflict /steps/0/from");
}

/* --- every op accepts the names that the catalogue lists for its parameters --- */

static const struct {
	const char *name, *aliases;
} common[] = {
	{ "keep", "id_vars" },
	{ "id", "id_cols,index" },
	{ "names_to", "var_name,variable_name" },
	{ "values_to", "value_name" },
	{ "cols", "columns" },
	{ "values_from", "values" },
	{ "where", "condition,predicate,filter" },
	{ "col", "column" },
	{ "with", "right,table,other" },
	{ "sep", "delimiter,separator" },
	{ "n", "count" },
	{ "dir", "direction" },
	{ "as", "new_name,name" },
	{ "expr", "expression,formula" },
	{ "map", "mapping" },
};

static bool has(const struct dtx_param *rows, size_t n, const char *alias)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].name, alias) == 0 ||
		    (rows[i].aliases && dtx_str_in_list(rows[i].aliases, alias)))
			return true;
	return false;
}

static void check_rows(const char *op, const struct dtx_param *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		check_rows(op, rows[i].rows, rows[i].nrows);
		for (size_t k = 0; k < DTX_COUNT(common); k++) {
			struct dtx_str rest = dtx_str_of(common[k].aliases), word;
			char alias[64], missing[160];

			/* filter's `keep` says which rows */
			if (strcmp(rows[i].name, common[k].name) != 0 ||
			    (!strcmp("keep", rows[i].name) && rows[i].kind != DTX_P_COLUMNS))
				continue;
			while (dtx_str_next(&rest, ',', &word)) {
				dtx_str_copy(alias, sizeof(alias), word);
				snprintf(missing, sizeof(missing), "%s: %s lacks the alias %s", op,
				         rows[i].name, alias);
				if (!has(rows, n, alias))
					T_STR(missing, "");
			}
		}
	}
}

void test_alias_of_the_catalogue(void)
{
	for (size_t i = 0; dtx_ops[i]; i++)
		check_rows(dtx_ops[i]->name, dtx_ops[i]->params, dtx_ops[i]->nparams);
	T_CHECK(dtx_ops[0] != NULL);
}
