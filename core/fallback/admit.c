/* Admission: runs a module in the jail, under two hash seeds if it is new, and checks the
 * result. */
#include "core/fallback/admit.h"

#include <string.h>

#include "core/base/hash/hash.h"
#include "core/base/memory/mem.h"
#include "core/base/thread/pool.h"
#include "core/data/key.h"
#include "core/fallback/adapter.h"
#include "core/fallback/assume.h"
#include "core/fallback/contract.h"
#include "core/fallback/prompt/redact.h"
#include "core/data/tablehash.h"

/* One run of the module. */
struct admit_run {
	const struct dtx_admit_spec *spec;
	struct dtx_jail_spec jail_spec;
	struct dtx_box *box;
	const char *params;
	struct dtx_jail_report report;
	struct dtx_table *table;
	char hash[DTX_TABLEHASH_TEXT], rows_hash[DTX_TABLEHASH_TEXT];
};

void dtx_admit_clear(struct dtx_admit_result *r)
{
	dtx_table_unref(r->table);
	json_decref(r->report_json);
	json_decref(r->checks);
	dtx_mem_free(r->needs);
	dtx_mem_free(r->flags);
	dtx_mem_free(r->formulas);
	dtx_mem_free(r->assumes);
	dtx_mem_free(r->for_author);
	memset(r, 0, sizeof(*r));
}

static uint64_t admit_seed(struct dtx_str code)
{
	uint8_t digest[DTX_SHA256_SIZE];
	struct dtx_sha256 sha;
	uint64_t seed = 0;
	int i;

	dtx_sha256_init(&sha);
	dtx_sha256_add(&sha, code.ptr, code.len);
	dtx_sha256_done(&sha, digest);
	for (i = 0; i < 8; i++)
		seed = seed << 8 | digest[i];
	return seed;
}

static enum dtx_code admit_open(struct admit_run *run, const struct dtx_admit_spec *spec,
                                enum dtx_jail_mode mode, uint32_t hash_seed,
                                const struct dtx_schema *contract, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_fallback_request *g = spec->region;
	struct dtx_table *t = NULL;
	size_t i;

	run->spec = spec;
	dtx_jail_report_init(&run->report);
	run->jail_spec = (struct dtx_jail_spec){
		.mode = mode,
		.limits = spec->limits,
		.seed = admit_seed(spec->code) + hash_seed,
		.now_us = spec->now_us,
		.hash_seed = hash_seed,
		.no_warm = spec->no_warm,
		.science = dtx_jail_wants_science(spec->code) |
		           (dtx_jail_wants_rare(spec->code) ? DTX_JAIL_SCIPY : 0),
		.require_layers = spec->require_layers,
		.contract = contract,
		.cancelled = spec->cancelled,
		.cancel_arg = spec->cancel_arg,
	};
	DTX_TRY(spec->jail->open(&run->jail_spec, &run->box, err));
	for (i = 0; i < g->ntables; i++) {
		DTX_TRY(dtx_adapter_table(spec->adapter, g->table[i].table, &t, err));
		DTX_TRY(spec->jail->put(run->box, g->table[i].name, t, err));
		dtx_table_unref(t);
		t = NULL;
	}
	if (g->raw)
		DTX_TRY(spec->jail->put_raw(run->box, g->input_name, g->raw, err));
out:
	dtx_table_unref(t);
	return rc;
}

static enum dtx_code admit_exec(void *arg, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct admit_run *run = arg;

	DTX_TRY(run->spec->jail->exec(run->box, run->spec->code, run->params, &run->report, err));
	if (run->spec->trial_off)
		goto out;
	DTX_TRY(run->spec->jail->get(run->box, &run->table, err));
	DTX_TRY(dtx_tablehash_table(run->table, run->hash, run->rows_hash, err));
out:
	return rc;
}

static void admit_close(struct admit_run *run)
{
	if (!run->spec)
		return;
	dtx_table_unref(run->table);
	run->spec->jail->close(run->box);
	dtx_jail_report_clear(&run->report);
}

/* The report as the record may keep it, without values of cells. NULL: out of memory. */
static json_t *admit_report(const struct admit_run *run)
{
	const struct dtx_json_limits limits = { DTX_BUF_TEXT_MAX, 32 };
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *value = NULL;

	dtx_jail_report_json(&run->report, &text);
	if (dtx_json_parse(dtx_buf_str(&text), limits, &value, NULL) == DTX_OK &&
	    !dtx_redact_report(value, &run->report, run->spec->code, run->spec->names)) {
		json_decref(value);
		value = NULL;
	}
	dtx_buf_clear(&text);
	return value;
}

/* What an author may read about the run that failed, if one failed. */
static char *admit_report_text(const struct admit_run *run, int n)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	int i = n > 1 && run[0].report.code == DTX_OK ? 1 : 0;

	dtx_redact_run(&run[i].report, run[i].spec->code, run[i].spec->names, &text);
	return dtx_buf_steal(&text);
}

/* --- the screen --- */

static char *admit_member(const json_t *check, const char *name)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const json_t *v = json_object_get(check, name);

	if (!v || json_is_null(v))
		return NULL;
	dtx_json_canonical(v, &text);
	return dtx_buf_steal(&text);
}

static void admit_read_check(struct dtx_admit_result *r, const char *text)
{
	json_t *check = text ? json_loads(text, 0, NULL) : NULL;

	/* class null: the screen found nothing */
	r->screened = check && json_is_null(json_object_get(check, "class"));
	r->needs = admit_member(check, "needs");
	r->flags = admit_member(check, "flags");
	r->formulas = admit_member(check, "formulas");
	r->assumes = admit_member(check, "assumes");
	json_decref(check);
}

/* Refuses code that names single columns of a sliding header (see column_family.h). These names
 * change with every file, so code must read them from its parameters. */
static enum dtx_code admit_families(const struct dtx_admit_spec *spec,
                                    const struct dtx_admit_result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *needs = r->needs ? json_loads(r->needs, 0, NULL) : NULL, *members, *need;
	const char *pattern;
	size_t i, k;

	json_object_foreach(json_object_get(spec->params, "families"), pattern, members)
	{
		json_array_foreach(needs, i, need)
		{
			for (k = 0; k < json_array_size(members); k++) {
				if (json_equal(json_array_get(members, k), need))
					DTX_FAIL(err, DTX_E_SNIPPET_FAMILY_LITERAL,
					         "the code names column '%s': read the names of "
					         "'%s' from params[\"families\"]",
					         json_string_value(need), pattern);
			}
		}
	}
out:
	json_decref(needs);
	return rc;
}

/* --- the runs --- */

static enum dtx_code admit_event(struct admit_run *run, struct dtx_err *err)
{
	if (!run->spec->record)
		return DTX_OK;
	return dtx_record_event_soon(run->spec->record, "jail.end",
	                             json_pack("{si so}", "idx", (int)run->spec->region->index,
	                                       "report", admit_report(run)),
	                             err);
}

/* Refuses new code whose result depends on the order of sets and dicts, by comparing the results
 * under two hash seeds. */
static enum dtx_code admit_same(const struct admit_run *a, const struct admit_run *b,
                                struct dtx_err *err)
{
	if (!strcmp(a->hash, b->hash))
		return DTX_OK;
	dtx_err_set(err, DTX_E_SNIPPET_NONDETERMINISTIC, __FILE__, __LINE__,
	            "two runs under hash seeds 0 and 1 gave different %s",
	            strcmp(a->rows_hash, b->rows_hash) ? "values" : "row order");
	dtx_err_hint(err, "sort before using sets; do not use unseeded random numbers");
	return DTX_E_SNIPPET_NONDETERMINISTIC;
}

static int64_t admit_rows(const struct dtx_fallback_request *g, int64_t *max)
{
	int64_t main_rows = 0;
	size_t i;

	*max = g->raw ? g->raw->nrows : 0;
	for (i = 0; i < g->ntables; i++) {
		int64_t n = g->table[i].table->nrows;

		*max = DTX_MAX(*max, n);
		if (!strcmp(g->table[i].name, "main"))
			main_rows = n;
	}
	return main_rows;
}

/* The types that the result's columns must have: from `expect` of the step, or as the input
 * declares them. */
static enum dtx_code admit_types(const struct dtx_fallback_request *g, struct dtx_arena *arena,
                                 const struct dtx_schema **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_schema *expected = NULL;

	*out = g->declared;
	if (!g->expect)
		goto out;
	DTX_TRY(dtx_expect_schema(g->expect, arena, &expected, err));
	*out = expected;
out:
	return rc;
}

static json_t *admit_loads(const char *text)
{
	return text ? json_loads(text, 0, NULL) : NULL;
}

/* The main table under the names that the code uses. *out is a new reference, or NULL if there
 * is no such table. */
static enum dtx_code admit_main(const struct dtx_admit_spec *spec, struct dtx_table **out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i;

	*out = NULL;
	for (i = 0; i < spec->region->ntables; i++) {
		if (!strcmp(spec->region->table[i].name, "main"))
			DTX_TRY(dtx_adapter_table(spec->adapter, spec->region->table[i].table, out,
			                          err));
	}
out:
	return rc;
}

/* Checks what the module claims. ASSUMES comes first: if the input is not what the module
 * assumes, its result means nothing. */
static enum dtx_code admit_claims(const struct dtx_admit_spec *spec, struct dtx_admit_result *r,
                                  struct dtx_table *result, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *assumes = admit_loads(r->assumes), *formulas = admit_loads(r->formulas);
	struct dtx_table *main = NULL;

	if (result) {
		DTX_TRY(dtx_assume_result(formulas, result, r->checks, err));
	} else {
		DTX_TRY(admit_main(spec, &main, err));
		DTX_TRY(dtx_assume_input(assumes, main, r->checks, err));
	}
out:
	dtx_table_unref(main);
	json_decref(assumes);
	json_decref(formulas);
	return rc;
}

static enum dtx_code admit_contract(const struct dtx_admit_spec *spec, struct admit_run *run,
                                    struct dtx_admit_result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_contract_inputs in = { 0 };
	json_t *notes = admit_loads(run->report.notes_json);
	size_t i;

	in.infinities = json_object_get(notes, "infinite_to_null");
	in.main_rows = admit_rows(spec->region, &in.max_rows);
	for (i = 0; i < spec->region->ntables; i++) {
		if (!strcmp(spec->region->table[i].name, "main"))
			in.main = spec->region->table[i].table->schema;
	}
	r->checks = json_array();
	if (!r->checks)
		DTX_FAIL_MEM(err);
	DTX_TRY(admit_claims(spec, r, NULL, err));
	DTX_TRY(dtx_contract_check(spec->contract, run->table, &in, r->checks, &r->only_expect,
	                           err));
	DTX_TRY(admit_claims(spec, r, run->table, err));
out:
	json_decref(notes);
	return rc;
}

/* --- whether the module changed anything --- */

/* Iterates over the live rows of a table. */
struct row_walk {
	const struct dtx_table *table;
	size_t batch;
	uint32_t at;
};

/* Writes the values of the next row as a key that is equal for equal values of any type. Returns
 * false if a column is not available. */
static bool walk_next(struct row_walk *w, struct dtx_buf *key)
{
	struct dtx_column *col;
	struct dtx_batch *b;
	uint32_t i, row;

	while (w->table->batch[w->batch]->nsel == w->at) {
		w->batch++;
		w->at = 0;
	}
	b = w->table->batch[w->batch];
	row = b->sel ? b->sel[w->at] : w->at;
	w->at++;
	dtx_buf_reset(key);
	for (i = 0; i < w->table->schema->nfields; i++) {
		if (!b->col[i] || dtx_batch_value(b, i, &col, NULL) != DTX_OK)
			return false;
		dtx_key_equal(&col, 1, row, key);
	}
	return dtx_buf_ok(key);
}

static bool admit_same_columns(const struct dtx_schema *a, const struct dtx_schema *b)
{
	uint32_t i;

	if (a->nfields != b->nfields)
		return false;
	for (i = 0; i < a->nfields; i++)
		if (strcmp(a->field[i].name, b->field[i].name) != 0)
			return false;
	return true;
}

/* Stops at the first row that differs, which comes soon if the module did its work. */
static bool admit_same_rows(const struct dtx_table *a, const struct dtx_table *b)
{
	struct dtx_buf x = DTX_BUF_INIT(DTX_BUF_TEXT_MAX), y = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct row_walk p = { a, 0, 0 }, q = { b, 0, 0 };
	bool same = a->nrows == b->nrows;
	int64_t i;

	for (i = 0; same && i < a->nrows; i++)
		same = walk_next(&p, &x) && walk_next(&q, &y) &&
		       dtx_str_eq(dtx_buf_str(&x), dtx_buf_str(&y));
	dtx_buf_clear(&x);
	dtx_buf_clear(&y);
	return same;
}

static bool admit_unchanged(const struct dtx_fallback_request *g, const struct dtx_table *result)
{
	size_t i;

	for (i = 0; i < g->ntables; i++) {
		const struct dtx_table *main = g->table[i].table;

		if (strcmp(g->table[i].name, "main") == 0)
			return admit_same_columns(main->schema, result->schema) &&
			       admit_same_rows(main, result);
	}
	return false;
}

/* Runs the module once, or twice for new code: at the same time to use two cores, or one after
 * the other if no thread can be started. */
static enum dtx_code admit_exec_all(struct admit_run run[2], bool fresh, struct dtx_err *err)
{
	struct dtx_err second = DTX_ERR_INIT;
	struct dtx_task *task = NULL;
	enum dtx_code rc, rc2;

	if (fresh) {
		rc = dtx_task_start(admit_exec, &run[1], &task, err);
		if (rc != DTX_OK)
			return rc;
	}
	rc = admit_exec(&run[0], err);
	rc2 = task || !fresh ? dtx_task_join(task, &second) : admit_exec(&run[1], &second);
	if (rc == DTX_OK && rc2 != DTX_OK) {
		rc = rc2;
		dtx_err_move(err, &second);
	}
	dtx_err_clear(&second);
	return rc;
}

static enum dtx_jail_mode admit_mode(const struct dtx_admit_spec *spec, int i)
{
	if (spec->trial_off)
		return DTX_JAIL_CHECK;
	return i ? DTX_JAIL_RUN : DTX_JAIL_CHECK_RUN;
}

/* A finding that only the real table shows counts more than how the run ended. */
static enum dtx_code admit_judge(const struct dtx_admit_spec *spec, enum dtx_code ran,
                                 struct dtx_admit_result *r, struct dtx_err *err)
{
	struct dtx_err why = DTX_ERR_INIT;
	enum dtx_code rc = admit_families(spec, r, &why);

	if (rc == DTX_OK)
		return ran;
	r->screened = false;
	dtx_err_clear(err);
	dtx_err_move(err, &why);
	return rc;
}

/* Whether the jail's policy has changed since the code was approved, so that the code must pass
 * both runs again. */
static bool admit_again(const struct dtx_admit_spec *spec, const struct admit_run *run)
{
	return spec->policy && !spec->fresh && run->report.filter_hash[0] &&
	       strcmp(spec->policy, run->report.filter_hash) != 0;
}

enum dtx_code dtx_admit_run(const struct dtx_admit_spec *spec, struct dtx_admit_result *r,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK, ended;
	struct admit_run run[2] = { 0 };
	struct dtx_arena arena = DTX_ARENA_INIT;
	const struct dtx_schema *contract = NULL;
	struct dtx_buf params = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool twice = spec->fresh && !spec->trial_off;
	int i, n = twice ? 2 : 1;

	dtx_json_canonical(spec->params, &params);
	DTX_TRY(dtx_buf_check(&params, "params", err));
	DTX_TRY(admit_types(spec->region, &arena, &contract, err));
	for (i = 0; i < n; i++) {
		run[i].params = dtx_buf_text(&params);
		DTX_TRY(admit_open(&run[i], spec, admit_mode(spec, i), (uint32_t)i, contract, err));
	}
	rc = admit_exec_all(run, twice, err);
	if (rc == DTX_OK && admit_again(spec, &run[0])) {
		twice = true;
		run[1].params = run[0].params;
		rc = admit_open(&run[1], spec, DTX_JAIL_RUN, 1, contract, err);
		n = 2;
		if (rc == DTX_OK)
			rc = admit_exec(&run[1], err);
	}
	json_decref(r->report_json);
	r->report_json = admit_report(&run[0]);
	dtx_mem_free(r->for_author);
	r->for_author = admit_report_text(run, n);
	admit_read_check(r, run[0].report.check_json);
	for (i = 0; i < n; i++) {
		ended = admit_event(&run[i], rc == DTX_OK ? err : NULL);
		rc = rc == DTX_OK ? ended : rc;
	}
	if (r->screened && rc != DTX_E_NO_MEMORY && rc != DTX_E_CANCELLED)
		rc = admit_judge(spec, rc, r, err);
	if (rc == DTX_OK && twice)
		rc = admit_same(&run[0], &run[1], err);
	if (rc != DTX_OK || spec->trial_off)
		goto out;
	DTX_TRY(admit_contract(spec, &run[0], r, err));
	r->table = run[0].table;
	run[0].table = NULL;
	r->unchanged = admit_unchanged(spec->region, r->table);
out:
	for (i = 0; i < n; i++)
		admit_close(&run[i]);
	dtx_buf_clear(&params);
	dtx_arena_clear(&arena);
	return rc;
}
