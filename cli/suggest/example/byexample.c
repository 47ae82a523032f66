/* The search by example: tries every step that could help, then continues with the results that
 * hold most of the example, up to three steps. */
#include "cli/suggest/example/byexample.h"
#include "cli/suggest/example/reshape.h"
#include "cli/suggest/propose/makers.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/hash/hash.h"
#include "core/base/memory/mem.h"
#include "core/plan/exec/exec.h"

#define MAKER_STEPS 16 /* proposals from the table alone, which are tried first */
#define MAKER_LEAST 0.15
#define NODES       48   /* results that are continued */
#define NODE_COLS   256  /* wider results are not */
#define DEPTH       3    /* moves in a plan */
#define LOSS        0.15 /* a table that holds less of the example by so much is not continued */
#define MATCH_COLS  1024
#define SEARCH_MS   700 /* CPU time; larger tables are searched less far */
#define SORT_COLS   8
#define PIECE_STEPS 2
#define PIECES      3     /* results with more rows than the example */
#define RUN_CELLS   10000 /* a table with so many cells counts as another run */

struct byexample {
	const struct dtx_textgrid *want;
	bool bare; /* the example has no header, so columns keep their names */
	int *runs;
	size_t pieces;
	clock_t start; /* CPU time is measured, so that a busy machine finds the same */
	json_t *found;
	uint64_t **sorted; /* hashes of the cells of each wanted column */
};

/* --- one try --- */

enum dtx_code dtx_byexample_run(const json_t *plan, struct dtx_source *src, unsigned workers,
                                struct dtx_textgrid *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_exec_result *result = NULL;
	struct dtx_plan *parsed = NULL;
	struct dtx_source *list[1] = { src };
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (!plan)
		DTX_FAIL_MEM(err);
	dtx_json_canonical(plan, &text);
	DTX_TRY(dtx_buf_check(&text, "plan", err));
	opts.input = list;
	opts.workers = workers;
	opts.fallback = DTX_FALLBACK_OFF;
	DTX_TRY(dtx_plan_parse(dtx_buf_str(&text), NULL, &findings, &parsed, err));
	DTX_TRY(dtx_plan_check(parsed, &findings, err));
	DTX_TRY(dtx_exec(parsed, &opts, NULL, &findings, &result, err));
	if (out)
		DTX_TRY(dtx_textgrid_make(out, result->output[0].table, err));
out:
	if (rc != DTX_OK && err && err->code == DTX_OK && dtx_errlist_worst(&findings))
		dtx_err_copy(err, dtx_errlist_worst(&findings));
	dtx_exec_free(result);
	dtx_plan_free(parsed);
	dtx_errlist_clear(&findings);
	dtx_buf_clear(&text);
	return rc;
}

static int64_t try_cells(const struct dtx_textgrid *g)
{
	return g->nrows * g->ncols;
}

enum dtx_code dtx_byexample_steps(const struct dtx_textgrid *have, const json_t *steps,
                                  struct dtx_textgrid *out, bool *ok, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK, ran;
	struct dtx_buf csv = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_source *src = NULL;
	json_t *plan = json_loads(
		"{\"dtx\":1,\"inputs\":[{\"name\":\"main\",\"header_rows\":1,\"format\":\"csv\","
		"\"dialect\":{\"delimiter\":\",\"}}]}",
		0, NULL);

	*ok = false;
	if (!dtx_json_set(plan, "steps", json_incref((json_t *)(uintptr_t)steps)))
		DTX_FAIL_MEM(err);
	dtx_textgrid_csv(have, &csv);
	DTX_TRY(dtx_buf_check(&csv, "table", err));
	DTX_TRY(dtx_source_bytes("in.csv", csv.ptr, csv.len, &src, err));
	ran = dtx_byexample_run(plan, src, 1, out, NULL);
	if (ran == DTX_E_NO_MEMORY)
		DTX_FAIL_MEM(err);
	*ok = ran == DTX_OK;
out:
	dtx_source_free(src);
	dtx_buf_clear(&csv);
	json_decref(plan);
	return rc;
}

/* Tries steps. *ok: they fit the table. Only out of memory is an error. */
static enum dtx_code try_steps(struct byexample *x, const struct dtx_textgrid *have,
                               const json_t *steps, struct dtx_textgrid *out, bool *ok,
                               struct dtx_err *err)
{
	enum dtx_code rc = dtx_byexample_steps(have, steps, out, ok, err);

	*x->runs -= 1 + (int)((try_cells(have) + try_cells(out)) / RUN_CELLS);
	return rc;
}

/* --- completing a plan --- */

/* Finds a column with another name that contains the wanted values and is not used otherwise. */
static int32_t match_content(const struct dtx_textgrid *got, const struct dtx_textgrid *want,
                             uint32_t at, const bool *used)
{
	uint32_t c;

	if (!want->nrows)
		return -1;
	for (c = 0; c < got->ncols; c++) {
		if (!used[c] && dtx_textgrid_column_within(got, c, want, at))
			return (int32_t)c;
	}
	return -1;
}

/* Finds the columns of `got` for those of the example: by name; if no name matches and their
 * number is equal, by place; otherwise by content. With `contents` a name only counts if the values
 * are equal too. */
static bool match_columns(const struct dtx_textgrid *got, const struct dtx_textgrid *want,
                          bool contents, uint32_t col[MATCH_COLS], bool *renamed)
{
	bool used[MATCH_COLS] = { false };
	int32_t at[MATCH_COLS];
	uint32_t c, named = 0;

	*renamed = false;
	if (!want->ncols || want->ncols > MATCH_COLS || got->ncols > MATCH_COLS ||
	    want->ncols > got->ncols)
		return false;
	for (c = 0; c < want->ncols; c++) {
		at[c] = dtx_textgrid_find(got, want->name[c]);
		if (at[c] >= 0 && contents &&
		    !dtx_textgrid_column_within(got, (uint32_t)at[c], want, c))
			at[c] = -1;
		named += at[c] >= 0;
		if (at[c] >= 0)
			used[at[c]] = true;
	}
	*renamed = named < want->ncols;
	for (c = 0; c < want->ncols; c++) {
		if (at[c] < 0 && !named && !contents && got->ncols == want->ncols)
			at[c] = (int32_t)c;
		else if (at[c] < 0)
			at[c] = match_content(got, want, c, used);
		if (at[c] < 0)
			return false;
		used[at[c]] = true;
		col[c] = (uint32_t)at[c];
	}
	return true;
}

/* Selects the wanted columns. got: by the names that they have there; NULL: by the wanted ones. */
static json_t *match_select(const struct dtx_textgrid *want, const struct dtx_textgrid *got,
                            const uint32_t *col)
{
	json_t *cols = json_array();
	uint32_t c;

	for (c = 0; c < want->ncols; c++)
		(void)json_array_append_new(cols,
		                            json_string(got ? got->name[col[c]] : want->name[c]));
	return json_pack("{ss so}", "op", "select", "cols", cols);
}

static json_t *match_rename(const struct dtx_textgrid *got, const uint32_t *col,
                            const struct dtx_textgrid *want)
{
	json_t *map = json_array();
	uint32_t c;

	for (c = 0; c < want->ncols; c++) {
		if (strcmp(got->name[col[c]], want->name[c]) != 0)
			(void)json_array_append_new(map,
			                            json_pack("{ss ss}", "from", got->name[col[c]],
			                                      "to", want->name[c]));
	}
	return json_pack("{ss so}", "op", "rename", "map", map);
}

/* The name that a map of renamings gives to `from`, which is removed from it; NULL: none. A new
 * reference. */
static json_t *fold_name(json_t *map, const struct dtx_textgrid *got, const json_t *from)
{
	json_t *one, *to;
	size_t i;

	json_array_foreach(map, i, one)
	{
		to = json_object_get(one, "to");
		if (!json_equal(json_object_get(one, "from"), from) ||
		    dtx_textgrid_find(got, json_string_value(to)) >= 0)
			continue;
		json_incref(to);
		(void)json_array_remove(map, i);
		return to;
	}
	return NULL;
}

/* Lets the last step give the wanted names to the columns that it makes, instead of renaming them
 * after it. */
static void match_fold(const struct dtx_textgrid *got, json_t *steps, json_t *rename)
{
	static const char *const keys[] = { "names_to", "values_to", "as" };
	size_t last = json_array_size(steps) - 1, k, i;
	json_t *map = json_object_get(rename, "map"), *to, *one;
	json_t *step = json_deep_copy(json_array_get(steps, last));

	for (k = 0; k < DTX_COUNT(keys); k++) {
		json_t *name = json_object_get(step, keys[k]);

		to = json_is_string(name) ? fold_name(map, got, name) : NULL;
		if (to) { /* which frees `name` */
			(void)json_object_set_new(step, keys[k], to);
			continue;
		}
		json_array_foreach(name, i, one)
		{
			to = fold_name(map, got, one);
			if (to)
				(void)json_array_set_new(name, i, to);
		}
	}
	(void)json_array_set_new(steps, last, step);
}

/* Whether the renamed columns are all columns, in order. */
static bool match_in_place(const struct dtx_textgrid *got, const uint32_t *col,
                           const struct dtx_textgrid *want)
{
	uint32_t c;

	for (c = 0; c < want->ncols; c++) {
		if (col[c] != c)
			return false;
	}
	return got->ncols == want->ncols;
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

static int match_cells(const char *a, const char *b)
{
	double x, y;

	if (!a || !b)
		return (a == NULL) - (b == NULL); /* nulls come last */
	if (dtx_textgrid_number(a, &x) && dtx_textgrid_number(b, &y))
		return (x > y) - (x < y);
	return strcmp(a, b);
}

struct match_key {
	uint32_t col; /* column of `want` */
	bool desc;
};

static bool match_sorted(const struct dtx_textgrid *g, const struct match_key *key, size_t n)
{
	int64_t r;
	size_t k;

	for (r = 1; r < g->nrows; r++) {
		for (k = 0; k < n; k++) {
			int at = match_cells(dtx_textgrid_at(g, r - 1, key[k].col),
			                     dtx_textgrid_at(g, r, key[k].col));

			if (at && (at > 0) != key[k].desc)
				return false;
			if (at)
				break;
		}
	}
	return true;
}

static json_t *match_sort(const struct dtx_textgrid *got, const uint32_t *col,
                          const struct match_key *key, size_t n)
{
	json_t *by = json_array();

	for (size_t k = 0; k < n; k++) {
		json_t *one = json_pack("{ss}", "col", got->name[col[key[k].col]]);

		if (key[k].desc)
			(void)json_object_set_new(one, "desc", json_true());
		(void)json_array_append_new(by, one);
	}
	return json_pack("{ss so}", "op", "sort", "by", by);
}

/* Makes a sort step if it gives the wanted order of rows; otherwise NULL. */
static enum dtx_code match_try_sort(struct byexample *x, const struct dtx_textgrid *got,
                                    const uint32_t *col, const struct match_key *key, size_t n,
                                    json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_textgrid sorted = DTX_TEXTGRID_INIT;
	json_t *step = NULL;
	bool ok = false;

	if (!match_sorted(x->want, key, n))
		return DTX_OK;
	step = json_pack("[o]", match_sort(got, col, key, n));
	if (!step)
		DTX_FAIL_MEM(err);
	DTX_TRY(try_steps(x, got, step, &sorted, &ok, err));
	dtx_textgrid_fold(&sorted);
	if (ok && dtx_textgrid_match(&sorted, col, x->want) >= 1)
		*out = json_incref(json_array_get(step, 0));
out:
	dtx_textgrid_clear(&sorted);
	json_decref(step);
	return rc;
}

/* Finds one or two columns by which the wanted rows are sorted. */
static enum dtx_code match_order(struct byexample *x, const struct dtx_textgrid *got,
                                 const uint32_t *col, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = DTX_MIN(x->want->ncols, (uint32_t)SORT_COLS);

	for (uint32_t way = 0; way < 2 * n && !*out && *x->runs > 0; way++) {
		struct match_key key = { way % n, way >= n };

		DTX_TRY(match_try_sort(x, got, col, &key, 1, out, err));
	}
	for (uint32_t i = 0; i < 4 * n * n && !*out && *x->runs > 0; i++) {
		struct match_key key[2] = { { i / 2 % n, i & 1 },
			                    { i / 2 / n % n, i / (2 * n * n) } };

		if (key[0].col != key[1].col && match_sorted(x->want, key, 1))
			DTX_TRY(match_try_sort(x, got, col, key, 2, out, err));
	}
out:
	return rc;
}

static const char *match_words(double score)
{
	if (score >= 1)
		return "";
	return score >= 0.9 ? ", in another order of rows" : ", and there are more";
}

static enum dtx_code match_found(struct byexample *x, json_t *steps, double score, double cost,
                                 bool renamed, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (json_array_append_new(
		    x->found, json_pack("{sO sf sb so}", "steps", steps, "score", score - cost,
	                                "whole", score >= 0.9, "evidence",
	                                json_sprintf("%lld rows x %u columns equal the example%s%s",
	                                             (long long)x->want->nrows, x->want->ncols,
	                                             renamed ? ", with columns renamed" : "",
	                                             match_words(score)))) < 0)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* A folded view of a table, which must outlive it. */
static enum dtx_code folded_view(const struct dtx_textgrid *g, struct dtx_textgrid *out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = (size_t)g->nrows * g->ncols;

	*out = (struct dtx_textgrid){ DTX_ARENA_INIT, g->ncols, g->nrows, g->name, NULL, false };
	out->cell = dtx_arena_alloc(&out->arena, n + 1, sizeof(*out->cell));
	if (!out->cell)
		DTX_FAIL_MEM(err);
	memcpy(out->cell, g->cell, n * sizeof(*out->cell));
	dtx_textgrid_fold(out);
out:
	return rc;
}

/* Checks whether the result is what is wanted, perhaps with columns selected or renamed and rows
 * sorted; then a plan is found. A result with more rows than the example is kept, and the search
 * continues. */
static enum dtx_code match(struct byexample *x, const struct dtx_textgrid *table,
                           const json_t *made_by, bool *equal, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_textgrid folded = DTX_TEXTGRID_INIT;
	const struct dtx_textgrid *got = &folded;
	uint32_t col[MATCH_COLS];
	bool renamed = false;
	double score = 0, cost = 0;
	json_t *steps = NULL, *sort = NULL, *rename = NULL, *step;
	size_t i;

	*equal = false;
	if (table->ncols < x->want->ncols || table->nrows < x->want->nrows)
		return DTX_OK;
	DTX_TRY(folded_view(table, &folded, err));
	for (int way = 0; way < 2 && score <= 0; way++) {
		if (match_columns(got, x->want, way == 1, col, &renamed))
			score = dtx_textgrid_match(got, col, x->want);
	}
	/* many steps make a piece of anything */
	if (score <= 0 ||
	    (score < 0.9 && (x->pieces >= PIECES || json_array_size(made_by) > PIECE_STEPS)))
		goto out;
	*equal = score >= 0.9;
	x->pieces += !*equal;
	if (*equal && score < 1)
		DTX_TRY(match_order(x, table, col, &sort, err));
	score = sort ? 1 : score;
	steps = json_array();
	json_array_foreach((json_t *)(uintptr_t)made_by, i, step)
	{
		(void)json_array_append(steps, step);
		cost += 0.005 * (double)json_object_size(step);
	}
	if (sort)
		(void)json_array_append(steps, sort);
	rename = renamed && !x->bare ? match_rename(got, col, x->want) : NULL;
	if (rename && json_array_size(steps) && !sort)
		match_fold(got, steps, rename);
	renamed = json_array_size(json_object_get(rename, "map")) > 0;
	if (renamed)
		(void)json_array_append(steps, rename);
	/* a plan needs a step */
	if ((rename || x->bare ? !match_in_place(got, col, x->want)
	                       : !match_same_columns(got, x->want)) ||
	    !json_array_size(steps))
		(void)json_array_append_new(steps,
		                            match_select(x->want, x->bare ? got : NULL, col));
	cost += 0.06 * (double)json_array_size(steps) + (renamed ? 0.1 : 0);
	if (!steps)
		DTX_FAIL_MEM(err);
	DTX_TRY(match_found(x, steps, score, cost, renamed, err));
out:
	dtx_textgrid_clear(&folded);
	json_decref(sort);
	json_decref(rename);
	json_decref(steps);
	return rc;
}

/* --- the search --- */

struct node {
	struct dtx_textgrid table;
	json_t *steps;  /* that have made it; owned */
	double promise; /* how much of the example its columns hold, 0 to 1 */
	uint64_t hash;
	int moves; /* how often steps have been added */
	bool done; /* its steps have been tried */
};
struct search {
	struct node node[NODES];
	size_t n;
	int64_t cells; /* of all tables */
};

static bool enough(const struct byexample *x)
{
	return *x->runs <= 0 || clock() - x->start > SEARCH_MS * (CLOCKS_PER_SEC / 1000) ||
	       json_array_size(x->found) >= DTX_BYEXAMPLE_FOUND;
}

static bool found_whole(const struct byexample *x)
{
	json_t *f;
	size_t i;

	json_array_foreach(x->found, i, f)
	{
		if (json_is_true(json_object_get(f, "whole")))
			return true;
	}
	return false;
}

/* How much of a wanted column another column holds: half of it counts cells, half distinct values,
 * less if the other column has nulls and the wanted one has not. Both are sorted. */
static double cells_in(const uint64_t *a, int64_t na, const uint64_t *want, int64_t n)
{
	const uint64_t null = dtx_textgrid_hash(NULL);
	int64_t i = 0, k = 0, same = 0, kinds = 0, same_kinds = 0, have_null = 0, want_null = 0;

	for (i = 0; i < na; i++)
		have_null += a[i] == null;
	for (i = k = 0; k < n; k++) {
		bool first = !k || want[k] != want[k - 1], any;

		want_null += want[k] == null;
		while (i < na && a[i] < want[k])
			i++;
		any = i < na && a[i] == want[k];
		same += any;
		kinds += first && want[k] != null;
		same_kinds += first && any && want[k] != null;
		i += any;
	}
	if (!n || !kinds)
		return n ? (double)same / (double)n : 0;
	return 0.5 * (double)same / (double)n +
	       (have_null && !want_null ? 0.35 : 0.5) * (double)same_kinds / (double)kinds;
}

/* How near a table is to the example: the mean of what its columns hold of the wanted ones. A bit
 * less for a table that has more rows or columns than are wanted. */
static enum dtx_code search_promise(struct byexample *x, struct node *node, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_textgrid folded = DTX_TEXTGRID_INIT, *g = &folded;
	double *best = dtx_mem_zalloc((size_t)x->want->ncols + 1, sizeof(*best)), sum = 0;
	uint64_t *hash = NULL;
	uint32_t c, w;
	int64_t r;

	if (!best)
		DTX_FAIL_MEM(err);
	DTX_TRY(folded_view(&node->table, &folded, err));
	node->hash = g->ncols;
	for (c = 0; c < g->ncols; c++) {
		hash = dtx_textgrid_rows(g, &c, 1);
		if (!hash)
			DTX_FAIL_MEM(err);
		for (r = 0; r < g->nrows; r++)
			node->hash = dtx_hash_mix(node->hash, hash[r]);
		for (w = 0; w < x->want->ncols; w++)
			best[w] = DTX_MAX(best[w],
			                  cells_in(hash, g->nrows, x->sorted[w], x->want->nrows));
		dtx_mem_free(hash);
	}
	for (w = 0; w < x->want->ncols; w++)
		sum += best[w];
	node->promise = sum / x->want->ncols - (g->nrows > x->want->nrows ? 0.02 : 0) -
	                (g->ncols > x->want->ncols ? 0.01 : 0);
out:
	dtx_textgrid_clear(&folded);
	dtx_mem_free(best);
	return rc;
}

/* The lists of steps to try on a table: what its makers propose, then what the example asks for. */
static enum dtx_code search_steps(const struct dtx_textgrid *have, const struct dtx_textgrid *want,
                                  bool second, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_makers m = { .g = have };
	struct dtx_textgrid folded = DTX_TEXTGRID_INIT;
	json_t *list = json_array(), *more = NULL;
	size_t i;

	DTX_TRY(dtx_makers_run(&m, MAKER_LEAST, err));
	for (i = 0; i < m.n && i < MAKER_STEPS; i++) {
		if (json_array_append(list, m.list[i].steps) < 0)
			DTX_FAIL_MEM(err);
	}
	DTX_TRY(folded_view(have, &folded, err));
	DTX_TRY(dtx_reshape_steps(have, &folded, want, second, &more, err));
	if (json_array_extend(list, more) < 0)
		DTX_FAIL_MEM(err);
	*out = json_incref(list);
out:
	json_decref(list);
	json_decref(more);
	dtx_textgrid_clear(&folded);
	dtx_makers_clear(&m);
	return rc;
}

/* Gives the new columns of the last step the names of the wanted columns that have the same values,
 * in the step and in its result. */
static void search_adopt(struct dtx_textgrid *got, const struct dtx_textgrid *want, json_t *steps)
{
	json_t *map = json_array();
	json_t *rename = json_pack("{sO}", "map", map), *left;
	int32_t name[MATCH_COLS];
	bool used[MATCH_COLS] = { false };
	uint32_t c, w;
	size_t i;

	for (c = 0; c < got->ncols && c < MATCH_COLS; c++) {
		name[c] = -1;
		for (w = 0; w < want->ncols && w < MATCH_COLS &&
		            dtx_textgrid_find(want, got->name[c]) < 0 && name[c] < 0;
		     w++) {
			if (used[w] || dtx_textgrid_find(got, want->name[w]) >= 0 ||
			    !dtx_textgrid_column_within(got, c, want, w))
				continue;
			name[c] = (int32_t)w;
			used[w] = true;
			(void)json_array_append_new(map, json_pack("{ss ss}", "from", got->name[c],
			                                           "to", want->name[w]));
		}
	}
	match_fold(got, steps, rename);
	for (c = 0; c < got->ncols && c < MATCH_COLS; c++) {
		json_array_foreach(map, i, left)
		{
			if (!strcmp(json_string_value(json_object_get(left, "from")), got->name[c]))
				name[c] = -1;
		}
		if (name[c] >= 0)
			got->name[c] = want->name[name[c]];
	}
	json_decref(rename);
	json_decref(map);
}

/* Keeps a table for further steps, if it is new and there is room: instead of the least promising
 * one if there is not. Takes `got` and `steps`. */
static enum dtx_code search_keep(struct byexample *x, struct search *s, struct dtx_textgrid *got,
                                 json_t *steps, size_t from, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct node node = { *got, steps, 0, 0, s->node[from].moves + 1, false };
	size_t i, at = s->n;

	*got = (struct dtx_textgrid)DTX_TEXTGRID_INIT;
	if (!node.table.nrows || node.table.ncols > NODE_COLS ||
	    s->cells + try_cells(&node.table) > DTX_TEXTGRID_CELLS)
		goto out;
	DTX_TRY(search_promise(x, &node, err));
	if (node.promise < s->node[from].promise - LOSS)
		goto out;
	for (i = 0; i < s->n; i++) {
		if (s->node[i].hash == node.hash)
			goto out;
		if (s->n == NODES && i && !s->node[i].done &&
		    (at == s->n || s->node[i].promise < s->node[at].promise))
			at = i;
	}
	if (at == NODES || (at < s->n && s->node[at].promise >= node.promise))
		goto out;
	search_adopt(&node.table, x->want, node.steps);
	s->cells += try_cells(&node.table);
	if (at < s->n) {
		struct node out = s->node[at];

		s->cells -= try_cells(&out.table);
		s->node[at] = node;
		node = out;
	} else {
		s->node[s->n++] = node;
		node = (struct node){ .table = DTX_TEXTGRID_INIT };
	}
out:
	dtx_textgrid_clear(&node.table);
	json_decref(node.steps);
	return rc;
}

/* Tries `more` steps on the table of a node. */
static enum dtx_code search_try(struct byexample *x, struct search *s, size_t at,
                                const json_t *more, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_textgrid got = DTX_TEXTGRID_INIT;
	json_t *steps = json_copy(s->node[at].steps);
	bool ok, equal;

	if (!steps || json_array_extend(steps, (json_t *)(uintptr_t)more) < 0)
		DTX_FAIL_MEM(err);
	DTX_TRY(try_steps(x, &s->node[at].table, more, &got, &ok, err));
	if (!ok)
		goto out;
	DTX_TRY(match(x, &got, steps, &equal, err));
	if (!equal && s->node[at].moves + 1 < DEPTH)
		DTX_TRY(search_keep(x, s, &got, json_incref(steps), at, err));
out:
	dtx_textgrid_clear(&got);
	json_decref(steps);
	return rc;
}

/* Tries all steps on the table of a node. */
static enum dtx_code search_node(struct byexample *x, struct search *s, size_t at, bool second,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *list = NULL, *more;
	size_t i;

	s->node[at].done = true;
	DTX_TRY(search_steps(&s->node[at].table, x->want, second, &list, err));
	json_array_foreach(list, i, more)
	{
		if (enough(x))
			break;
		DTX_TRY(search_try(x, s, at, more, err));
	}
out:
	json_decref(list);
	return rc;
}

/* Adds the table without rows of which nothing is wanted, as if it had been read so. */
static enum dtx_code search_trim(struct byexample *x, struct search *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_textgrid folded = DTX_TEXTGRID_INIT;
	json_t *steps = NULL;

	DTX_TRY(folded_view(&s->node[0].table, &folded, err));
	steps = dtx_reshape_unwanted(&s->node[0].table, &folded, x->want);
	if (!steps)
		DTX_FAIL_MEM(err);
	if (json_array_size(steps))
		DTX_TRY(search_try(x, s, 0, steps, err));
	if (s->n > 1)
		s->node[1].moves = 0;
out:
	json_decref(steps);
	dtx_textgrid_clear(&folded);
	return rc;
}

/* The most promising table whose steps have not been tried; NODES: none. A further step must pay.
 */
static size_t search_next(const struct search *s)
{
	size_t best = NODES, i;
	double most = 0;

	for (i = 0; i < s->n; i++) {
		double worth = 2 + s->node[i].promise - 0.15 * s->node[i].moves;

		if (!s->node[i].done && worth > most) {
			most = worth;
			best = i;
		}
	}
	return best;
}

enum dtx_code dtx_byexample(const struct dtx_textgrid *have, const struct dtx_textgrid *want,
                            bool bare, bool repaired, int *runs, json_t *found, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct byexample x = { want, bare, runs, 0, clock(), found, NULL };
	struct search *s = dtx_mem_zalloc(1, sizeof(*s));
	bool equal;
	uint32_t c;
	size_t i;

	x.sorted = dtx_mem_zalloc((size_t)want->ncols + 1, sizeof(*x.sorted));
	if (!s || !x.sorted)
		DTX_FAIL_MEM(err);
	for (c = 0; c < want->ncols; c++) {
		x.sorted[c] = dtx_textgrid_rows(want, &c, 1);
		if (!x.sorted[c])
			DTX_FAIL_MEM(err);
	}
	DTX_TRY(match(&x, have, NULL, &equal, err));
	if (equal || !want->ncols)
		goto out;
	s->node[0] = (struct node){ *have, json_array(), 0, 0, 0, false };
	s->n = 1;
	DTX_TRY(search_promise(&x, &s->node[0], err));
	DTX_TRY(search_trim(&x, s, err));
	for (i = 0; i < NODES && !found_whole(&x) && !enough(&x);
	     i = !i && s->n > 1 && !s->node[1].moves ? 1 : search_next(s))
		DTX_TRY(search_node(&x, s, i, repaired || s->node[i].moves, err));
out:
	for (i = 1; s && i < s->n; i++) {
		dtx_textgrid_clear(&s->node[i].table);
		json_decref(s->node[i].steps);
	}
	if (s)
		json_decref(s->node[0].steps);
	for (c = 0; x.sorted && c < want->ncols; c++)
		dtx_mem_free(x.sorted[c]);
	dtx_mem_free(x.sorted);
	dtx_mem_free(s);
	return rc;
}
