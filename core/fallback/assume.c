/* Checks ASSUMES and FORMULAS of a module, see assume.h. */
#include "core/fallback/assume.h"

#include "core/plan/bind/rules.h"

#define ASSUME_MAX 64 /* at most so many of each kind, because each needs a pass over the table */

static enum dtx_code assume_count(const char *kind, size_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (n > ASSUME_MAX) {
		rc = dtx_err_set(err, DTX_E_SNIPPET_ASSUMPTION, __FILE__, __LINE__,
		                 "%s has %zu entries, of which %d can be checked", kind, n,
		                 ASSUME_MAX);
		dtx_err_hint(err, "state the most important ones only");
	}
	return rc;
}

/* Checks one condition on all rows. Adds 1 to *failed if it does not hold. */
static enum dtx_code assume_rule(const char *expr, struct dtx_table *t, json_t *checks,
                                 int64_t *failed, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *expect = json_pack("{s[{ss ss}]}", "rules", "rule", "expression", "expr", expr);

	*failed = 0;
	if (!expect)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_rules_table(expect, t, checks, failed, err));
out:
	json_decref(expect);
	return rc;
}

static enum dtx_code assume_one(const char *expr, struct dtx_table *main, json_t *checks,
                                struct dtx_err *err)
{
	struct dtx_err why = DTX_ERR_INIT;
	int64_t failed = 0;
	enum dtx_code rc = assume_rule(expr, main, checks, &failed, &why);

	if (rc == DTX_E_NO_MEMORY) {
		dtx_err_move(err, &why);
	} else if (rc != DTX_OK) {
		rc = dtx_err_set(err, DTX_E_SNIPPET_ASSUMPTION, __FILE__, __LINE__,
		                 "ASSUMES '%.120s' cannot be checked: %.200s", expr, why.msg);
	} else if (failed) {
		rc = dtx_err_set(err, DTX_E_SNIPPET_ASSUMPTION, __FILE__, __LINE__,
		                 "ASSUMES '%.200s' does not hold for every row of main", expr);
		dtx_err_hint(err, "the snippet was written for other values: ask for another one");
	}
	dtx_err_clear(&why);
	return rc;
}

enum dtx_code dtx_assume_input(const json_t *assumes, struct dtx_table *main, json_t *checks,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i;

	DTX_TRY(assume_count("ASSUMES", json_array_size(assumes), err));
	for (i = 0; main && i < json_array_size(assumes); i++) {
		const char *expr = json_string_value(json_array_get(assumes, i));

		if (expr)
			DTX_TRY(assume_one(expr, main, checks, err));
	}
out:
	return rc;
}

/* --- formulas --- */

static void assume_name(const char *name, struct dtx_buf *out)
{
	dtx_buf_addc(out, '`');
	for (; *name; name++) {
		if (*name == '`')
			dtx_buf_addc(out, '`');
		dtx_buf_addc(out, *name);
	}
	dtx_buf_addc(out, '`');
}

/* Writes the condition that a column has the value of its formula. */
static void assume_equal(const char *name, const char *formula, bool number, struct dtx_buf *out)
{
	struct dtx_buf col = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *c;

	assume_name(name, &col);
	c = dtx_buf_text(&col);
	if (number)
		dtx_buf_printf(out, "abs(%s - (%s)) <= 0.000000001 * (1 + abs(%s))", c, formula, c);
	else
		dtx_buf_printf(out, "%s = (%s)", c, formula);
	dtx_buf_printf(out, " or is_null(%s) and is_null(%s)", c, formula);
	dtx_buf_clear(&col);
}

static json_t *assume_row(const char *name, const char *status, const char *formula)
{
	return json_pack("{ss ss ss ss ss ss}", "name", "formula", "severity", "error", "status",
	                 status, "col", name, "expected", formula, "actual",
	                 !strcmp(status, "pass")   ? "equal"
	                 : !strcmp(status, "skip") ? "not of the result's columns alone"
	                                           : "another value in some row");
}

static enum dtx_code assume_formula(const char *name, const char *formula, struct dtx_table *result,
                                    json_t *checks, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK, ran;
	int32_t at = dtx_schema_find(result->schema, name);
	struct dtx_buf expr = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *unused = json_array();
	int64_t failed = 0;

	if (!unused)
		DTX_FAIL_MEM(err);
	if (at >= 0)
		assume_equal(name, formula, dtx_type_is_number(result->schema->field[at].type.type),
		             &expr);
	DTX_TRY(dtx_buf_check(&expr, "formula", err));
	ran = at < 0 ? DTX_E_UNKNOWN_COLUMN
	             : assume_rule(dtx_buf_text(&expr), result, unused, &failed, NULL);
	if (ran == DTX_E_NO_MEMORY ||
	    json_array_append_new(checks, assume_row(name,
	                                             ran != DTX_OK ? "skip"
	                                             : failed      ? "fail"
	                                                           : "pass",
	                                             formula)) < 0)
		DTX_FAIL_MEM(err);
	if (ran == DTX_OK && failed)
		DTX_FAIL(err, DTX_E_SNIPPET_CONTRACT,
		         "column '%s' is not what its formula '%.160s' gives", name, formula);
out:
	json_decref(unused);
	dtx_buf_clear(&expr);
	return rc;
}

enum dtx_code dtx_assume_result(const json_t *formulas, struct dtx_table *result, json_t *checks,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *name;
	json_t *formula;

	DTX_TRY(assume_count("FORMULAS", json_object_size(formulas), err));
	json_object_foreach((json_t *)(uintptr_t)formulas, name, formula)
	{
		if (json_is_string(formula))
			DTX_TRY(assume_formula(name, json_string_value(formula), result, checks,
			                       err));
	}
out:
	return rc;
}
