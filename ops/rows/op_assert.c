/* assert: passes the table on unchanged, and ends the run if a rule about it is broken. */
#include "core/data/expect/expect.h"
#include "core/plan/bind/rules.h"
#include "ops/kit/opkit.h"

struct assert_args {
	struct dtx_plist rules;
};
struct assert_state {
	struct dtx_rules_bound *rules;
};

static const struct dtx_example assert_examples[] = {
	{ .step = DTX_JSON({
		  "op" : "assert",
		  "rules" : [
			  { "rule" : "not_null", "cols" : [ "k", "n" ] },
			  { "rule" : "unique", "cols" : "k" },
			  { "rule" : "range", "col" : "n", "min" : 0, "max" : 10 }
		  ]
	  }),
	  .in = "k,n\na,1\nb,2.50\n",
	  .out = "k,n\na,1\nb,2.50\n" },
	{ .step = DTX_JSON(
		  { "op" : "assert", "rules" : [ { "rule" : "unique", "cols" : ["k"] } ] }),
	  .in = "k\na\nb\na\n",
	  .error = "assert_failed",
	  .message = "column 'k' has 1 repeat in 3 rows, expected no repeats" },
	{ .step = DTX_JSON({
		  "op" : "validate",
		  "rules" : [ { "rule" : "expression", "expr" : "n > 1", "max_failures" : 1 } ]
	  }),
	  .in = "n\n1\n2\n",
	  .out = "n\n1\n2\n" },
	{ .step = DTX_JSON(
		  { "op" : "assert", "rules" : [ { "rule" : "expression", "expr" : "n > 1" } ] }),
	  .in = "n\n\n2\n3\n",
	  .error = "assert_failed",
	  .message = "the result has 1 row for which it is not true in 3 rows, expected n > 1" },
	{ .step = DTX_JSON({
		  "op" : "assert",
		  "rules" : [
			  { "rule" : "accepted_values", "col" : "k", "values" : [ "a", "b" ] },
			  { "rule" : "matches", "col" : "k", "regex" : "^[ab]$" },
			  { "rule" : "type", "col" : "n", "type" : "float" },
			  { "rule" : "columns", "names" : [ "k", "n" ], "exact" : true },
			  { "rule" : "row_count", "min" : 2, "max" : 2 },
			  { "rule" : "sum_equals", "col" : "n", "value" : 3 },
			  { "rule" : "sum_equals", "col" : "n", "other" : "n" },
			  { "rule" : "sorted", "by" : ["-n"] },
			  { "rule" : "not_null_share", "col" : "n", "min" : 1 }
		  ]
	  }),
	  .in = "k,n\na,2\nb,1\n",
	  .out = "k,n\na,2\nb,1\n" },
	{ .step = DTX_JSON({ "op" : "assert", "rules" : [ { "rule" : "sorted", "by" : "n" } ] }),
	  .in = "n\n1\n3\n2\n",
	  .error = "assert_failed",
	  .message = "column 'n' has 1 row out of order in 3 rows, expected rows in order" },
	{ .step = DTX_JSON({
		  "op" : "assert",
		  "rules" : [ { "rule" : "sum_equals", "col" : "n", "value" : 7, "tol" : 0.5 } ]
	  }),
	  .in = "n\n1\n3\n",
	  .error = "assert_failed",
	  .message = "column 'n' has the sum 4, expected 7" },
	{ .step = DTX_JSON({
		  "op" : "assert",
		  "rules" : [ { "rule" : "row_count", "min" : 5, "severity" : "warn" } ]
	  }),
	  .in = "n\n1\n",
	  .out = "n\n1\n" },
	{ .step = DTX_JSON({ "op" : "assert", "rules" : [ { "rule" : "range", "cols" : "n" } ] }),
	  .in = "n\n1\n",
	  .error = "missing_param",
	  .message = "rule range needs 'col'" },
	{ .step = DTX_JSON({
		  "op" : "assert",
		  "rules" : [ { "rule" : "recency", "col" : "d", "max_age" : "7d" } ]
	  }),
	  .in = "d\n1900-01-01\n\n",
	  .error = "assert_failed",
	  .message =
	          "column 'd' has 0 of 2 rows, expected a date not more than 7d before the run" },
	{ .step = DTX_JSON({
		  "op" : "assert",
		  "rules" : [ { "rule" : "recency", "col" : "d", "max_age" : "1mo" } ]
	  }),
	  .in = "d,v\n2001-01-01,1\n2200-12-31,2\n",
	  .out = "d,v\n2001-01-01,1\n2200-12-31,2\n" },
	{ .step = DTX_JSON({
		  "op" : "assert",
		  "rules" : [ { "rule" : "recency", "col" : "d", "max_age" : "7" } ]
	  }),
	  .in = "d\n2001-01-01\n",
	  .error = "bad_param_value",
	  .message = "'7' is not a duration such as 36h, 7d or 1mo" },
	{ .step = DTX_JSON({
		  "op" : "assert",
		  "rules" : [ { "rule" : "relationship", "col" : "n", "with" : "t", "to" : "n" } ]
	  }),
	  .in = "n\n1\n",
	  .error = "unknown_table",
	  .message = "no table 't'" },
	{ .step = DTX_JSON({
		  "op" : "assert",
		  "rules" : [
			  { "rule" : "relationship", "col" : "n", "with" : "other", "to" : "m" },
			  { "rule" : "equal_rows", "with" : "other" }, {
				  "rule" : "sum_equals",
				  "col" : "n",
				  "with" : "other",
				  "to" : "m",
				  "tol" : 3
			  }
		  ]
	  }),
	  .in = "n\n1\n2\n\n",
	  .with = "m\n2.0\n1\n3\n",
	  .out = "n\n1\n2\n\n" },
	{ .step = DTX_JSON({
		  "op" : "assert",
		  "rules" :
			  [ { "rule" : "relationship", "col" : "k", "with" : "other", "to" : "k" } ]
	  }),
	  .in = "k\na\nb\n",
	  .with = "k\nb\nc\n",
	  .error = "assert_failed",
	  .message = "column 'k' has 1 value without a match in 2 rows, expected values of k of "
	             "other" },
	{ .step = DTX_JSON(
		  { "op" : "assert", "rules" : [ { "rule" : "equal_rows", "with" : "other" } ] }),
	  .in = "k\na\nb\n",
	  .with = "k\nb\n",
	  .error = "assert_failed",
	  .message = "the result has 2 rows, expected 1 row, as many as in 'other'" },
	{ .step = DTX_JSON({
		  "op" : "assert",
		  "rules" :
			  [ { "rule" : "relationship", "col" : "k", "with" : "other", "to" : "n" } ]
	  }),
	  .in = "k\na\nb\n",
	  .with = "n\n1\n",
	  .error = "type_mismatch",
	  .message = "'k' (text) and 'n' of 'other' (int) cannot be equal" },
};

static size_t assert_tables(const void *args, const char **names, size_t max)
{
	const struct assert_args *a = args;

	return dtx_rules_tables(a->rules.item, a->rules.n, names, NULL, max);
}

static enum dtx_code assert_check(const void *args, struct dtx_err *err)
{
	const char *names[DTX_RULE_TABLES + 1];
	enum dtx_code rc = DTX_OK;

	if (assert_tables(args, names, DTX_COUNT(names)) > DTX_RULE_TABLES)
		DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, "/rules",
		               "assert: the rules look at more than %d tables", DTX_RULE_TABLES);
out:
	return rc;
}

/* --- the other tables --- */

static enum dtx_code side_init(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	const struct assert_state *s = ox->bound;
	struct dtx_rules_side *side = NULL;
	enum dtx_code rc = dtx_rules_side_new(s->rules, &side, err);

	*local = side;
	return rc;
}

static enum dtx_code side_consume(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                  struct dtx_err *err)
{
	return dtx_rules_side_batch(local, ox->input, in, err);
}

/* Merges what the workers know of the other tables into the first. */
static enum dtx_code side_finalize(const struct dtx_opctx *ox, void *const *locals, unsigned n,
                                   void **shared, struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)out;
	if (!*shared)
		DTX_TRY(side_init(ox, shared, err));
	for (unsigned i = 0; i < n; i++)
		DTX_TRY(dtx_rules_side_merge(*shared, locals[i], err));
out:
	return rc;
}

static void side_free(const struct dtx_opctx *ox, void *side)
{
	(void)ox;
	dtx_rules_side_free(side);
}

static const struct dtx_sink assert_sink = {
	.init_local = side_init,
	.consume = side_consume,
	.finalize = side_finalize,
	.free_local = side_free,
	.free_shared = side_free,
};

/* --- the table itself --- */

static enum dtx_code assert_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct assert_args *a = args;
	struct assert_state *s = dtx_bind_state(b, sizeof(*s));
	struct dtx_rules rules = { .rule = a->rules.item, .n = a->rules.n };
	enum dtx_code rc = DTX_OK;

	rules.at = dtx_arena_zalloc(b->arena, rules.n + 1, sizeof(*rules.at));
	if (!s || !rules.at)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < rules.n; i++) {
		rules.at[i] = dtx_arena_printf(b->arena, "/rules/%zu", i);
		if (!rules.at[i])
			DTX_FAIL_MEM(err);
	}
	DTX_TRY(dtx_rules_bind(b, &rules, &s->rules, err));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	b->ordered = true;
out:
	return rc;
}

static enum dtx_code assert_init(const struct dtx_opctx *ox, void **local, struct dtx_err *err)
{
	const struct assert_state *s = ox->bound;
	struct dtx_rules_run *run = NULL;
	enum dtx_code rc = dtx_rules_start(s->rules, ox->shared, &run, err);

	*local = run;
	return rc;
}

static void assert_free(const struct dtx_opctx *ox, void *local)
{
	(void)ox;
	dtx_rules_free(local);
}

static enum dtx_code assert_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                  struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)ox;
	DTX_TRY(dtx_rules_batch(local, in, err));
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	return rc;
}

/* All rows have been fed: rules that failed end the run before its output takes its place. */
static enum dtx_code assert_flush(const struct dtx_opctx *ox, void *const *locals, unsigned n,
                                  struct dtx_emit *out, struct dtx_err *err)
{
	struct dtx_err where = DTX_ERR_INIT;
	json_t *checks = json_array();
	int64_t failed = 0;
	enum dtx_code rc = DTX_OK;

	(void)n;
	(void)out;
	if (!checks)
		DTX_FAIL_MEM(err);
	/* the workers have ended, so nothing else adds warnings */
	DTX_TRY(dtx_rules_finish(locals[0], checks, &failed, &where, ox->warnings, err));
	if (ox->checks && json_array_extend(ox->checks, checks) != 0)
		DTX_FAIL_MEM(err);
	if (!failed)
		goto out;
	rc = dtx_expect_fail(checks, DTX_E_ASSERT_FAILED, where.at, err);
	dtx_rules_place(err, &where);
out:
	dtx_err_clear(&where);
	json_decref(checks);
	return rc;
}

static void assert_explain(const void *args, struct dtx_buf *out)
{
	const struct assert_args *a = args;
	const struct dtx_rule *rule = a->rules.item;

	for (size_t i = 0; i < a->rules.n; i++)
		dtx_buf_printf(out, "%s%s", i ? ", " : "", dtx_rule_name(&rule[i]));
}

static const struct dtx_map assert_map = {
	.init_local = assert_init,
	.batch = assert_batch,
	.flush = assert_flush,
	.free_local = assert_free,
};

static const struct dtx_param assert_params[] = {
	{ .name = "rules",
	  .kind = DTX_P_LIST,
	  .required = true,
	  .nonempty = true,
	  .offset = offsetof(struct assert_args, rules),
	  .rows = dtx_rule_rows,
	  .nrows = DTX_RULE_ROWS,
	  .item_size = sizeof(struct dtx_rule),
	  .help = "rules that must hold" },
};

const struct dtx_op dtx_op_assert = {
	.name = "assert",
	.aliases = "check,validate,expect",
	.ninputs = 1,
	.flags = DTX_OP_BUILD | DTX_OP_TAKES_SEL | DTX_OP_SEES_ALL | DTX_OP_DX,
	.summary = "End the run if a rule about the table does not hold",
	.notes = "The table passes unchanged. All rules are evaluated; a broken one of severity "
		 "error is assert_failed, exit 10, before any output is visible, and never "
		 "starts a fallback. Null passes range, matches, accepted_values and "
		 "relationship, and fails expression. relationship, equal_rows and sum_equals "
		 "use other tables.",
	.facts = { .rows = DTX_ROWS_SAME, .values = DTX_VALUES_KEPT, .passes = true },
	.params = assert_params,
	.nparams = DTX_COUNT(assert_params),
	.examples = assert_examples,
	.nexamples = DTX_COUNT(assert_examples),
	.args_size = sizeof(struct assert_args),
	.tables = assert_tables,
	.check = assert_check,
	.bind = assert_bind,
	.map = &assert_map,
	.sink = &assert_sink,
	.explain = assert_explain,
};
