/* Checks a snippet's result against its contract, see contract.h. */
#include "core/fallback/contract.h"

#include <stdio.h>

#include "core/data/expect/expect.h"
#include "core/plan/bind/rules.h"
#include "core/fallback/fingerprint.h"

static const struct {
	unsigned bit;
	const char *name;
} contract_classes[] = {
	{ DTX_CLASS_NUMBER, "num" },
	{ DTX_CLASS_TEXT, "text" },
	{ DTX_CLASS_BOOL, "bool" },
	{ DTX_CLASS_DATE, "date" },
};

/* Writes "any", "num", "num|date". */
static void contract_class_print(unsigned klass, char out[32])
{
	size_t i, len = 0;

	snprintf(out, 32, "any");
	for (i = 0; i < DTX_COUNT(contract_classes); i++) {
		if (klass & contract_classes[i].bit)
			len += (size_t)snprintf(out + len, 32 - len, "%s%s", len ? "|" : "",
			                        contract_classes[i].name);
	}
}

static unsigned contract_class_parse(const char *text)
{
	struct dtx_str rest = dtx_str_of(text), word;
	unsigned klass = 0;
	size_t i;

	while (dtx_str_next(&rest, '|', &word)) {
		for (i = 0; i < DTX_COUNT(contract_classes); i++) {
			if (dtx_str_is(word, contract_classes[i].name))
				klass |= contract_classes[i].bit;
		}
	}
	return klass;
}

enum dtx_code dtx_contract_make(const struct dtx_need_col *need, size_t n, const json_t *expect,
                                json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *list = json_array(), *contract = NULL;
	char klass[32];
	size_t i;

	for (i = 0; i < n; i++) {
		contract_class_print(need[i].klass, klass);
		if (json_array_append_new(list, json_pack("{s:s, s:s}", "name", need[i].name,
		                                          "class", klass)) < 0)
			DTX_FAIL_MEM(err);
	}
	contract = json_object();
	if (!list || !contract || !dtx_json_set(contract, "need", json_incref(list)))
		DTX_FAIL_MEM(err);
	if (expect && !json_is_null(expect) &&
	    !dtx_json_set(contract, "expect", json_incref((json_t *)(uintptr_t)expect)))
		DTX_FAIL_MEM(err);
	*out = contract;
	contract = NULL;
out:
	json_decref(list);
	json_decref(contract);
	return rc;
}

/* --- checks --- */

struct contract_run {
	json_t *checks;
	int64_t failed;
	bool no_memory;
};

static void contract_put(struct contract_run *run, const char *name, const char *severity,
                         bool pass, const char *col, const char *expected, const char *actual)
{
	json_t *row = json_pack("{s:s, s:s, s:s, s:s?, s:s, s:s}", "name", name, "severity",
	                        severity, "status", pass ? "pass" : "fail", "col", col, "expected",
	                        expected, "actual", actual);

	run->failed += !pass && !strcmp(severity, "error");
	if (json_array_append_new(run->checks, row) < 0)
		run->no_memory = true;
}

static void contract_warn(struct contract_run *run, const char *name, const char *col,
                          const char *expected, const char *actual)
{
	contract_put(run, name, "warn", false, col, expected, actual);
}

static void contract_need(struct contract_run *run, const json_t *need, const struct dtx_schema *s)
{
	const char *name = dtx_json_text(need, "name", "");
	const char *text = dtx_json_text(need, "class", "any");
	unsigned klass = contract_class_parse(text), have;
	int32_t at = dtx_schema_find(s, name);

	if (at < 0) {
		contract_put(run, "column", "error", false, name, "present", "missing");
		return;
	}
	have = (unsigned)dtx_type_class(s->field[at].type.type);
	if (s->field[at].source) /* text functions read its cells as text */
		have |= DTX_CLASS_TEXT;
	contract_put(run, "type", "error", !klass || !have || (klass & have), name, text,
	             dtx_type_name(s->field[at].type.type));
}

static enum dtx_code contract_expect(struct contract_run *run, const json_t *expect,
                                     struct dtx_table *result, int64_t main_rows,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_errlist errs = DTX_ERRLIST_INIT;
	struct dtx_expect *e = NULL;
	const char *table;
	int64_t failed = 0;

	DTX_TRY(dtx_expect_parse(expect, "/expect", &arena, &errs, &e, err));
	if (errs.n) {
		dtx_err_move(err, &errs.item[0]);
		rc = err ? err->code : DTX_E_BAD_PARAM_VALUE;
		goto out;
	}
	table = dtx_expect_equals_table(e);
	DTX_TRY(dtx_expect_table(e, result, table && !strcmp(table, "main") ? main_rows : -1,
	                         run->checks, &failed, err));
	DTX_TRY(dtx_rules_table(expect, result, run->checks, &failed, err));
	run->failed += failed;
out:
	dtx_errlist_clear(&errs);
	dtx_arena_clear(&arena);
	return rc;
}

/* --- warnings --- */

static bool contract_all_null(const struct dtx_table *t, uint32_t column)
{
	size_t b;
	uint32_t i;

	for (b = 0; b < t->nbatches; b++) {
		const struct dtx_batch *batch = t->batch[b];

		for (i = 0; i < batch->nsel; i++) {
			uint32_t row = batch->sel ? batch->sel[i] : i;

			if (!dtx_column_is_null(batch->col[column], row))
				return false;
		}
	}
	return true;
}

static void contract_warn_columns(struct contract_run *run, const struct dtx_table *t,
                                  const struct dtx_schema *before)
{
	uint32_t i;

	for (i = 0; i < t->schema->nfields; i++) {
		const struct dtx_field *f = &t->schema->field[i];
		int32_t at = before ? dtx_schema_find(before, f->name) : -1;

		if (t->nrows && contract_all_null(t, i))
			contract_warn(run, "all_null", f->name, "some value", "nulls only");
		if (at >= 0 && f->type.type == DTX_T_TEXT &&
		    dtx_type_is_number(before->field[at].type.type))
			contract_warn(run, "number_turned_text", f->name, "a number", "text");
	}
}

static void contract_warn_infinities(struct contract_run *run, const struct dtx_schema *s,
                                     const json_t *infinities)
{
	char text[48];
	uint32_t i;

	for (i = 0; i < s->nfields; i++) {
		int64_t n = dtx_json_int(infinities, s->field[i].name, 0);

		if (n <= 0)
			continue;
		snprintf(text, sizeof(text), "%lld infinities", (long long)n);
		contract_warn(run, "infinities_made_null", s->field[i].name, "finite numbers",
		              text);
	}
}

static void contract_warnings(struct contract_run *run, const struct dtx_table *t,
                              const struct dtx_contract_inputs *in)
{
	char text[48];

	if (!t->nrows && in->main_rows > 0)
		contract_warn(run, "no_rows", NULL, "some rows", "0 rows");
	if (t->nrows > in->max_rows) {
		snprintf(text, sizeof(text), "%lld rows", (long long)t->nrows);
		contract_warn(run, "more_rows_than_any_input", NULL, "fewer rows", text);
	}
	contract_warn_infinities(run, t->schema, in->infinities);
	contract_warn_columns(run, t, in->main);
}

enum dtx_code dtx_contract_check(const json_t *contract, struct dtx_table *result,
                                 const struct dtx_contract_inputs *in, json_t *checks,
                                 bool *only_expect, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct contract_run run = { checks, 0, false };
	int64_t needs;
	json_t *need;
	size_t i;

	json_array_foreach(json_object_get(contract, "need"), i, need)
		contract_need(&run, need, result->schema);
	needs = run.failed;
	DTX_TRY(contract_expect(&run, json_object_get(contract, "expect"), result, in->main_rows,
	                        err));
	contract_warnings(&run, result, in);
	if (run.no_memory)
		DTX_FAIL_MEM(err);
	if (only_expect)
		*only_expect = run.failed && !needs;
	if (run.failed)
		rc = dtx_expect_fail(checks, DTX_E_SNIPPET_CONTRACT, NULL, err);
out:
	return rc;
}
