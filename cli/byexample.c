/* The search: every step that could help is tried, then every second one behind the first. */
#include "cli/byexample.h"

#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/plan/exec.h"

#define FIRST_STEPS  80
#define SECOND_BASES 16
#define SECOND_STEPS 40
#define SECOND_COLS  64 /* wider results lead nowhere */
#define MATCH_COLS   256
#define RUN_CELLS    10000 /* a table of so many counts as another run */

struct byexample {
	const struct dtx_textgrid *want;
	int *runs;
	json_t *found;
};

/* --- one try --- */

enum dtx_code dtx_byexample_run(const char *plan, struct dtx_source *src, unsigned workers,
                                struct dtx_textgrid *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_exec_result *result = NULL;
	struct dtx_plan *parsed = NULL;
	struct dtx_source *list[1] = { src };

	opts.input = list;
	opts.workers = workers;
	opts.fallback = DTX_FALLBACK_OFF;
	DTX_TRY(dtx_plan_parse(dtx_str_of(plan), NULL, &findings, &parsed, err));
	DTX_TRY(dtx_plan_check(parsed, &findings, err));
	DTX_TRY(dtx_exec(parsed, &opts, NULL, &findings, &result, err));
	DTX_TRY(dtx_textgrid_make(out, result->output[0].table, err));
out:
	if (rc != DTX_OK && err && err->code == DTX_OK && dtx_errlist_worst(&findings))
		dtx_err_copy(err, dtx_errlist_worst(&findings));
	dtx_exec_free(result);
	dtx_plan_free(parsed);
	dtx_errlist_clear(&findings);
	return rc;
}

static int64_t try_cells(const struct dtx_textgrid *g)
{
	return g->nrows * g->ncols;
}

/* *ok: the step fits the table.  Only memory fails. */
static enum dtx_code try_step(struct byexample *x, const struct dtx_textgrid *have,
                              const json_t *step, struct dtx_textgrid *out, bool *ok,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK, ran;
	struct dtx_buf csv = DTX_BUF_INIT(DTX_BUF_TEXT_MAX), plan = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_source *src = NULL;

	*ok = false;
	dtx_buf_add(&plan,
	            "{\"dtx\":1,\"inputs\":[{\"name\":\"main\",\"header_rows\":1}],\"steps\":[");
	dtx_json_canonical(step, &plan);
	dtx_buf_add(&plan, "]}");
	dtx_textgrid_csv(have, &csv);
	DTX_TRY(dtx_buf_check(&plan, "plan", err));
	DTX_TRY(dtx_buf_check(&csv, "table", err));
	DTX_TRY(dtx_source_bytes("in.csv", csv.ptr, csv.len, &src, err));
	ran = dtx_byexample_run(dtx_buf_text(&plan), src, 1, out, NULL);
	*x->runs -= 1 + (int)((try_cells(have) + try_cells(out)) / RUN_CELLS);
	if (ran == DTX_E_NO_MEMORY)
		DTX_FAIL_MEM(err);
	*ok = ran == DTX_OK;
out:
	dtx_source_free(src);
	dtx_buf_clear(&csv);
	dtx_buf_clear(&plan);
	return rc;
}

/* --- the end of a plan --- */

/* Columns of `got` for those of the example: by name, else by place where their number is equal. */
static bool match_columns(const struct dtx_textgrid *got, const struct dtx_textgrid *want,
                          uint32_t col[MATCH_COLS], bool *renamed)
{
	uint32_t c;

	*renamed = false;
	if (!want->ncols || want->ncols > MATCH_COLS)
		return false;
	for (c = 0; c < want->ncols; c++) {
		int32_t at = dtx_textgrid_find(got, want->name[c]);

		if (at < 0)
			break;
		col[c] = (uint32_t)at;
	}
	if (c == want->ncols)
		return true;
	for (c = 0; c < want->ncols; c++)
		col[c] = c;
	*renamed = true;
	return got->ncols == want->ncols;
}

static json_t *match_select(const struct dtx_textgrid *want)
{
	json_t *cols = json_array();
	uint32_t c;

	for (c = 0; c < want->ncols; c++)
		(void)json_array_append_new(cols, json_string(want->name[c]));
	return json_pack("{ss so}", "op", "select", "cols", cols);
}

static json_t *match_rename(const struct dtx_textgrid *got, const struct dtx_textgrid *want)
{
	json_t *map = json_array();
	uint32_t c;

	for (c = 0; c < want->ncols; c++) {
		if (strcmp(got->name[c], want->name[c]) != 0)
			(void)json_array_append_new(map, json_pack("{ss ss}", "from", got->name[c],
			                                           "to", want->name[c]));
	}
	return json_pack("{ss so}", "op", "rename", "map", map);
}

static bool match_same_columns(const struct dtx_textgrid *got, const struct dtx_textgrid *want)
{
	uint32_t c;

	for (c = 0; c < want->ncols && got->ncols == want->ncols; c++) {
		if (strcmp(got->name[c], want->name[c]) != 0)
			return false;
	}
	return got->ncols == want->ncols;
}

/* Whether the result is what is wanted, perhaps with columns chosen or renamed; then it is found.
 */
static enum dtx_code match(struct byexample *x, const struct dtx_textgrid *got, const json_t *first,
                           const json_t *second, bool *equal, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t col[MATCH_COLS];
	bool renamed;
	double score = 0;
	json_t *steps = NULL;

	*equal = false;
	if (match_columns(got, x->want, col, &renamed))
		score = dtx_textgrid_match(got, col, x->want);
	if (score <= 0)
		goto out;
	*equal = true;
	steps = json_array();
	if (first)
		(void)json_array_append(steps, (json_t *)(uintptr_t)first);
	if (second)
		(void)json_array_append(steps, (json_t *)(uintptr_t)second);
	if (renamed)
		(void)json_array_append_new(steps, match_rename(got, x->want));
	else if (!match_same_columns(got, x->want))
		(void)json_array_append_new(steps, match_select(x->want));
	score -= 0.05 * (double)json_array_size(steps) + (renamed ? 0.1 : 0);
	score -= 0.005 * (double)(json_object_size(first) + json_object_size(second));
	if (!steps ||
	    json_array_append_new(
		    x->found, json_pack("{sO sf so}", "steps", steps, "score", score, "evidence",
	                                json_sprintf("%lld rows x %u columns equal the example%s",
	                                             (long long)x->want->nrows, x->want->ncols,
	                                             renamed ? " by place"
	                                             : dtx_textgrid_match(got, col, x->want) < 1
	                                                     ? ", in another order of rows"
	                                                     : ""))) < 0)
		DTX_FAIL_MEM(err);
out:
	json_decref(steps);
	return rc;
}

/* --- the search --- */

static bool enough(const struct byexample *x)
{
	return *x->runs <= 0 || json_array_size(x->found) >= DTX_BYEXAMPLE_FOUND;
}

/* Second steps behind `first`, whose result is `have`. */
static enum dtx_code search_second(struct byexample *x, const struct dtx_textgrid *have,
                                   const json_t *first, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *steps = NULL, *step;
	bool ok, equal;
	size_t i;

	DTX_TRY(dtx_reshape_steps(have, x->want, SECOND_STEPS, &steps, err));
	json_array_foreach(steps, i, step)
	{
		struct dtx_textgrid got = DTX_TEXTGRID_INIT;

		if (enough(x))
			break;
		rc = try_step(x, have, step, &got, &ok, err);
		if (rc == DTX_OK && ok)
			rc = match(x, &got, first, step, &equal, err);
		dtx_textgrid_clear(&got);
		DTX_TRY(rc);
	}
out:
	json_decref(steps);
	return rc;
}

static enum dtx_code search_first(struct byexample *x, const struct dtx_textgrid *have,
                                  const json_t *steps, struct dtx_textgrid *base, const json_t **by,
                                  size_t *n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *step;
	bool ok, equal;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)steps, i, step)
	{
		struct dtx_textgrid got = DTX_TEXTGRID_INIT;

		if (enough(x))
			break;
		rc = try_step(x, have, step, &got, &ok, err);
		if (rc == DTX_OK && ok)
			rc = match(x, &got, step, NULL, &equal, err);
		if (rc == DTX_OK && ok && !equal && *n < SECOND_BASES && got.ncols <= SECOND_COLS) {
			base[*n] = got;
			by[(*n)++] = step;
		} else {
			dtx_textgrid_clear(&got);
		}
		DTX_TRY(rc);
	}
out:
	return rc;
}

enum dtx_code dtx_byexample(const struct dtx_textgrid *have, const struct dtx_textgrid *want,
                            int *runs, json_t *found, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct byexample x = { want, runs, found };
	struct dtx_textgrid base[SECOND_BASES] = { DTX_TEXTGRID_INIT };
	const json_t *by[SECOND_BASES];
	json_t *steps = NULL;
	bool equal;
	size_t n = 0, i;

	DTX_TRY(match(&x, have, NULL, NULL, &equal, err));
	if (equal)
		goto out;
	DTX_TRY(dtx_reshape_steps(have, want, FIRST_STEPS, &steps, err));
	DTX_TRY(search_first(&x, have, steps, base, by, &n, err));
	/* two steps only where one does not do */
	for (i = 0; i < n && !json_array_size(found) && !enough(&x); i++)
		DTX_TRY(search_second(&x, &base[i], by[i], err));
out:
	for (i = 0; i < n; i++)
		dtx_textgrid_clear(&base[i]);
	json_decref(steps);
	return rc;
}
