/* Makes rules of the members of an `expect` object, and checks a complete table against them. */
#include <stdio.h>

#include "core/plan/plan_internal.h"
#include "core/plan/bind/rules_parts.h"

struct reader {
	const struct dtx_param_hooks *hooks;
	json_t *kept;
	struct dtx_arena *arena;
	struct dtx_errlist *errs;
	const char *pointer;
	struct dtx_rules *out;
	struct dtx_err *err;
};

/* Adds one rule from its object, which is taken. made_from: the member that it stands for; NULL. */
static enum dtx_code add_rule(struct reader *r, json_t *object, const char *at, bool made)
{
	struct dtx_param_ctx ctx = { .arena = r->arena,
		                     .hooks = r->hooks,
		                     .errs = r->errs,
		                     .step = -1,
		                     .op = "",
		                     .kept = r->kept };
	struct dtx_rules *out = r->out;
	struct dtx_rule *rule = &out->rule[out->n];
	struct dtx_err *err = r->err;
	const char *place;
	enum dtx_code rc = DTX_OK;

	if (!object || json_array_append_new(r->kept, object) != 0)
		DTX_FAIL_MEM(err);
	place = dtx_arena_printf(r->arena, "%s%s", r->pointer, at);
	out->at[out->n] = dtx_arena_strdup(r->arena, at);
	if (!place || !out->at[out->n])
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_param_fill(dtx_rule_rows, DTX_RULE_ROWS, object, place, &ctx, rule, err));
	if (made)
		rule->made_from = out->at[out->n];
	out->n++;
out:
	return rc;
}

/* Reads the member "rules", as the list parameter of op assert: a single rule may be written
 * without a list. */
static enum dtx_code read_list(struct reader *r, json_t *list)
{
	enum dtx_code rc = DTX_OK;
	char at[48];

	if (list && !json_is_null(list) && !json_is_array(list))
		return add_rule(r, json_incref(list), "/rules", false);
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *item = json_array_get(list, i);

		snprintf(at, sizeof(at), "/rules/%zu", i);
		DTX_TRY(add_rule(r, json_incref(item), at, false));
	}
out:
	return rc;
}

static enum dtx_code read_matches(struct reader *r, const json_t *columns)
{
	enum dtx_code rc = DTX_OK;
	char at[48];

	for (size_t i = 0; i < json_array_size(columns); i++) {
		const json_t *column = json_array_get(columns, i);
		json_t *regex = json_object_get(column, "matches");
		json_t *name = json_object_get(column, "name");

		if (!regex || json_is_null(regex) || !json_is_string(name))
			continue;
		snprintf(at, sizeof(at), "/columns/%zu/matches", i);
		DTX_TRY(add_rule(
			r,
			json_pack("{s:s,s:O,s:O}", "rule", "matches", "col", name, "regex", regex),
			at, true));
	}
out:
	return rc;
}

struct sum {
	const char *out, *in;
	double tolerance;
};
static const struct dtx_param sum_rows[] = {
	{ .name = "out",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  .offset = offsetof(struct sum, out),
	  .help = "column of the result" },
	{ .name = "in",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  .offset = offsetof(struct sum, in),
	  .help = "column with the same sum in the step's table; of a plan: in its first input" },
	{ .name = "tolerance",
	  .kind = DTX_P_NUMBER,
	  .offset = offsetof(struct sum, tolerance),
	  .def = "0",
	  .help = "difference allowed" },
};

/* Makes sum_equals with the table `main` from one entry of "sums". */
static enum dtx_code read_sum(struct reader *r, const json_t *item, const char *at)
{
	struct dtx_param_ctx ctx = { .arena = r->arena,
		                     .hooks = r->hooks,
		                     .errs = r->errs,
		                     .step = -1,
		                     .op = "",
		                     .kept = r->kept };
	const char *place = dtx_arena_printf(r->arena, "%s%s", r->pointer, at);
	struct dtx_err *err = r->err;
	struct sum s = { .out = NULL };
	enum dtx_code rc = DTX_OK;

	if (!place)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_param_fill(sum_rows, DTX_COUNT(sum_rows), item, place, &ctx, &s, err));
	if (dtx_param_is_hole(s.out) || dtx_param_is_hole(s.in))
		goto out;
	DTX_TRY(add_rule(r,
	                 json_pack("{s:s,s:s,s:s,s:s,s:f}", "rule", "sum_equals", "col", s.out,
	                           "with", "main", "to", s.in, "tol", s.tolerance),
	                 at, true));
out:
	return rc;
}

static enum dtx_code read_sums(struct reader *r, const json_t *sums)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err f = DTX_ERR_INIT;
	char at[48];

	if (!sums || json_is_null(sums))
		return DTX_OK;
	if (!json_is_array(sums)) {
		(void)dtx_err_set(&f, DTX_E_BAD_PARAM_TYPE, __FILE__, __LINE__,
		                  "expect: 'sums' must be a list of {out, in, tolerance}");
		dtx_err_at(&f, r->pointer);
		dtx_json_pointer_add(f.at, sizeof(f.at), "sums");
		if (!dtx_errlist_take(r->errs, &f))
			DTX_FAIL_MEM(r->err);
		goto out;
	}
	for (size_t i = 0; i < json_array_size(sums); i++) {
		snprintf(at, sizeof(at), "/sums/%zu", i);
		DTX_TRY(read_sum(r, json_array_get(sums, i), at));
	}
out:
	return rc;
}

enum dtx_code dtx_rules_expect(const json_t *expect, const char *pointer, bool plan,
                               const struct dtx_param_hooks *hooks, json_t *kept,
                               struct dtx_arena *arena, struct dtx_errlist *errs,
                               struct dtx_rules *out, struct dtx_err *err)
{
	struct reader r = { hooks, kept, arena, errs, pointer, out, err };
	json_t *keys = json_object_get(expect, "keys"),
	       *order = json_object_get(expect, "order_by");
	json_t *rules = json_object_get(expect, "rules");
	const json_t *sums = json_object_get(expect, "sums");
	const char *equals = dtx_json_text(json_object_get(expect, "rows"), "equals", NULL);
	size_t most = json_array_size(rules) + json_array_size(sums) +
	              json_array_size(json_object_get(expect, "columns")) + 6;
	enum dtx_code rc = DTX_OK;

	out->n = 0;
	out->rule = dtx_arena_zalloc(arena, most, sizeof(*out->rule));
	out->at = dtx_arena_zalloc(arena, most, sizeof(*out->at));
	if (!out->rule || !out->at)
		DTX_FAIL_MEM(err);
	DTX_TRY(read_matches(&r, json_object_get(expect, "columns")));
	if (keys && !json_is_null(keys)) {
		DTX_TRY(add_rule(&r, json_pack("{s:s,s:O}", "rule", "not_null", "cols", keys),
		                 "/keys", true));
		DTX_TRY(add_rule(&r, json_pack("{s:s,s:O}", "rule", "unique", "cols", keys),
		                 "/keys", true));
	}
	if (order && !json_is_null(order))
		DTX_TRY(add_rule(&r, json_pack("{s:s,s:O}", "rule", "sorted", "by", order),
		                 "/order_by", true));
	if (equals && plan)
		DTX_TRY(add_rule(&r, json_pack("{s:s,s:s}", "rule", "equal_rows", "with", equals),
		                 "/rows/equals", true));
	DTX_TRY(read_sums(&r, sums));
	DTX_TRY(read_list(&r, rules));
out:
	return rc;
}

/* --- checking a complete table --- */

static enum dtx_code run_table(const struct dtx_rules *rules, struct dtx_bind *b,
                               struct dtx_table *t, json_t *checks, int64_t *failed,
                               struct dtx_err *err)
{
	struct dtx_rules_bound *bound = NULL;
	struct dtx_rules_run *run = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_rules_bind(b, rules, &bound, err));
	if (b->errs->n)
		goto out;
	DTX_TRY(dtx_rules_start(bound, NULL, &run, err));
	for (size_t i = 0; i < t->nbatches; i++)
		DTX_TRY(dtx_rules_batch(run, t->batch[i], err));
	DTX_TRY(dtx_rules_finish(run, checks, failed, NULL, NULL, err));
out:
	dtx_rules_free(run);
	return rc;
}

enum dtx_code dtx_rules_table(const json_t *expect, struct dtx_table *t, json_t *checks,
                              int64_t *failed, struct dtx_err *err)
{
	struct dtx_param_hooks hooks = dtx_part_hooks_template;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_errlist errs = DTX_ERRLIST_INIT;
	struct dtx_rules rules = { .rule = NULL };
	struct dtx_bind b = { .arena = &arena,
		              .typed = true,
		              .ntables = 1,
		              .step = -1,
		              .op = "",
		              .at = "/expect",
		              .errs = &errs };
	json_t *kept = json_array();
	enum dtx_code rc = DTX_OK;

	hooks.arg = &(struct dtx_part_arg){ &arena, NULL };
	DTX_TRY(dtx_bind_room(&b, 1, err));
	b.in[0] = dtx_schema_copy(&arena, t->schema);
	if (!kept || !b.in[0])
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_rules_expect(expect, "/expect", false, &hooks, kept, &arena, &errs, &rules,
	                         err));
	for (size_t i = 0; i < rules.n && !errs.n; i++) {
		const struct dtx_rule *r = &rules.rule[i];

		if (r->kind != DTX_RULE_RECENCY && !r->with)
			continue;
		rc = dtx_err_set(err, DTX_E_UNSUPPORTED_PARAM, __FILE__, __LINE__,
		                 "rule %s is for a plan: a snippet's contract has no %s",
		                 dtx_rule_names[r->kind], r->with ? "other table" : "date");
		dtx_err_hint(err, "an assert step after it checks that");
		goto out;
	}
	if (rules.n && !errs.n)
		DTX_TRY(run_table(&rules, &b, t, checks, failed, err));
	if (errs.n) {
		rc = errs.item[0].code;
		dtx_err_move(err, &errs.item[0]);
	}
out:
	json_decref(kept);
	dtx_errlist_clear(&errs);
	dtx_arena_clear(&arena);
	return rc;
}
