#include "cli/suggest/propose/propose.h"

#include <stdio.h>
#include <string.h>

#include "cli/suggest/example/byexample.h"
#include "cli/suggest/propose/makers.h"
#include "core/base/hash/hash.h"
#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/plan/plan.h"

enum {
	SAMPLE_ROWS = 2000,
	SAMPLE_CELLS = 300000,
	HEADER_ROWS = 12, /* rows that are looked at for a header */
	RESULT_ROWS = 5,
	BASES = 4 /* proposals that are tried as the first of two steps */
};

#define THINKABLE 0.45 /* a second step of so much, which is no proposal, leaves a doubt */
#define CLEAN     0.65 /* score of the table without rows that are no data */
#define READ      0.61 /* score of the table as it is, if it does not begin in the first row */
#define STACKED   0.93 /* score of one table made of several that are below each other */
#define RIVAL     0.07 /* a score that is less than this below the best one is about equal */

/* --- reading --- */

/* A plan with one input; takes `steps`. */
static json_t *plan_make(const json_t *input, json_t *steps)
{
	return json_pack("{si s[O] so}", "dtx", 1, "inputs", input, "steps", steps);
}

enum dtx_code dtx_propose_read(struct dtx_source *src, const json_t *input, int64_t rows,
                               struct dtx_textgrid *out, struct dtx_err *err)
{
	json_t *plan =
		plan_make(input, json_pack("[{ss sI}]", "op", "limit", "n", (json_int_t)rows));
	enum dtx_code rc = dtx_byexample_run(plan, src, 0, out, err);

	json_decref(plan);
	return rc;
}

/* --- pairs of steps --- */

struct proposer {
	struct dtx_source *src;
	const json_t *input;
	int64_t rows;     /* of the sample */
	bool empty_texts; /* there are cells with "" */
	bool guessed;     /* the file is read by a guess: nothing is sure */
	json_t *before;   /* steps that remove rows which are no data */
	struct dtx_makers all;
};

/* Takes a proposal of another table's makers into the list. */
static bool propose_take(struct dtx_makers *m, const struct dtx_proposal *p)
{
	struct dtx_proposal *to;

	if (!dtx_mem_reserve(&m->list, &m->cap, m->n + 1, sizeof(*m->list)))
		return false;
	to = &m->list[m->n++];
	*to = *p;
	to->steps = json_deep_copy(p->steps);
	return to->steps != NULL;
}

/* What a second step needs to go with the first one; 0: it does not. */
static double second_least(const char *first, const char *second)
{
	if (!strcmp(first, "transpose"))
		return !strcmp(second, "groups") ? 0.72 : 0;
	if (strcmp(first, "titles") != 0 && strcmp(first, "fill") != 0)
		return 0;
	if (!strcmp(second, "stack") || !strcmp(second, "groups"))
		return 0.72;
	return !strcmp(second, "explode") ? 0.85 : !strcmp(second, "fill") ? 0.8 : 0;
}

/* Adds the pair of `first` and the best second step on its result: before it if the second step is
 * clear, after it if it is possible. If it is only thinkable, `first` is not sure. */
static enum dtx_code propose_second(struct proposer *x, size_t at, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_makers m = { 0 };
	struct dtx_textgrid got = DTX_TEXTGRID_INIT;
	struct dtx_proposal first = x->all.list[at], pair;
	double least;
	bool ok;
	size_t i;

	DTX_TRY(dtx_byexample_steps(x->all.g, first.steps, &got, &ok, err));
	if (!ok)
		goto out;
	m.g = &got;
	m.place = x->all.place;
	m.second = true;
	DTX_TRY(dtx_makers_run(&m, THINKABLE, err));
	for (i = 0; i < m.n && second_least(first.maker, m.list[i].maker) <= 0; i++)
		;
	if (i == m.n)
		goto out;
	pair = m.list[i];
	least = second_least(first.maker, pair.maker);
	x->all.list[at].doubtful |= pair.score < least;
	pair.doubtful |= first.doubtful;
	pair.raw = first.raw;
	pair.headerless = first.headerless;
	if (pair.score < DTX_MIN(least, DTX_PROPOSE_LEAST))
		goto out;
	pair.weakest = DTX_MIN(first.weakest, pair.weakest);
	pair.score = pair.score < least
	                     ? first.score - 0.02
	                     : DTX_MIN(0.995, DTX_MAX(first.score + 0.01, pair.score + 0.01));
	if (!propose_take(&x->all, &pair))
		DTX_FAIL_MEM(err);
	pair = x->all.list[x->all.n - 1];
	for (i = json_array_size(first.steps); i-- > 0;) {
		if (json_array_insert(pair.steps, 0, json_array_get(first.steps, i)) < 0)
			DTX_FAIL_MEM(err);
	}
	snprintf(x->all.list[x->all.n - 1].evidence, DTX_PROPOSAL_TEXT, "%.190s; then %.190s",
	         first.evidence, pair.evidence);
	dtx_makers_mend(x->all.list[x->all.n - 1].evidence);
out:
	dtx_makers_clear(&m);
	dtx_textgrid_clear(&got);
	return rc;
}

static void propose_sort(struct dtx_makers *m)
{
	size_t i, k;

	for (i = 1; i < m->n; i++) {
		struct dtx_proposal p = m->list[i];

		for (k = i; k && m->list[k - 1].score < p.score; k--)
			m->list[k] = m->list[k - 1];
		m->list[k] = p;
	}
}

/* Section titles or labels to fill are a part of the table's form: what the makers for columns
 * found is then at most a second step. */
static enum dtx_code propose_pairs(struct proposer *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = x->all.n, i, tried = 0;
	bool rows = false;

	for (i = 0; i < n; i++) {
		const struct dtx_proposal *p = &x->all.list[i];

		rows |= p->score >= 0.75 &&
		        (!strcmp(p->maker, "titles") || !strcmp(p->maker, "fill"));
	}
	for (i = 0; i < n; i++) {
		struct dtx_proposal *p = &x->all.list[i];

		if (rows && strcmp(p->maker, "titles") != 0 && strcmp(p->maker, "fill") != 0 &&
		    strcmp(p->maker, "records") != 0)
			p->score -= 0.35;
	}
	for (i = 0; i < n && tried < BASES; i++) {
		const struct dtx_proposal *p = &x->all.list[i];

		if (p->score < 0.7 || p->headerless ||
		    (strcmp(p->maker, "titles") && strcmp(p->maker, "fill") &&
		     strcmp(p->maker, "transpose")))
			continue;
		tried++;
		DTX_TRY(propose_second(x, i, err));
	}
	propose_sort(&x->all);
out:
	return rc;
}

/* Records whose first row was taken for the header. */
static enum dtx_code propose_headerless(struct proposer *x, const struct dtx_textgrid *have,
                                        struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_textgrid bare = DTX_TEXTGRID_INIT;
	struct dtx_makers m = { .headerless = true };
	json_t *input;
	size_t i;

	if (have->ncols > 3)
		return DTX_OK;
	input = json_deep_copy(x->input);
	if (!dtx_json_set(input, "header_rows", json_integer(0)))
		DTX_FAIL_MEM(err);
	if (dtx_propose_read(x->src, input, x->rows, &bare, NULL) != DTX_OK)
		goto out;
	m.g = &bare;
	DTX_TRY(dtx_makers_run(&m, DTX_PROPOSE_LEAST, err));
	for (i = 0; i < m.n; i++) {
		m.list[i].raw = true;
		if (!propose_take(&x->all, &m.list[i]))
			DTX_FAIL_MEM(err);
	}
out:
	json_decref(input);
	dtx_makers_clear(&m);
	dtx_textgrid_clear(&bare);
	return rc;
}

/* Adds the proposal for tables below each other, and that with a second step. */
static enum dtx_code propose_stacked(struct proposer *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_textgrid bare = DTX_TEXTGRID_INIT;
	json_t *input = json_deep_copy(x->input), *steps = NULL;
	const struct dtx_textgrid *g = x->all.g;
	size_t i, cell = 0;

	DTX_TRY(dtx_propose_stacked(x->src, x->input, &steps, err));
	if (!steps)
		goto out;
	for (i = 0; i < x->all.n; i++) /* these lose the first title */
		x->all.list[i].score -= 0.35;
	if (!dtx_json_set(input, "header_rows", json_integer(0)))
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_propose_read(x->src, input, x->rows, &bare, err));
	while (cell + 1 < (size_t)bare.nrows * bare.ncols && dtx_cell_blank(bare.cell[cell]))
		cell++;
	dtx_makers_add(&x->all, "titles", json_null(), STACKED,
	               "the header is repeated below each title, such as '%.40s'",
	               bare.nrows && bare.cell[cell] ? bare.cell[cell] : "");
	if (!x->all.failed) {
		struct dtx_proposal *p = &x->all.list[x->all.n - 1];

		json_decref(p->steps);
		p->steps = json_incref(steps);
		p->raw = p->headerless = true;
		x->all.g = &bare;
		DTX_TRY(propose_second(x, x->all.n - 1, err));
	}
out:
	x->all.g = g;
	json_decref(input);
	json_decref(steps);
	dtx_textgrid_clear(&bare);
	return rc;
}

/* Finds the names that are joined of two header rows: an upper label, which holds up to the next
 * one, and a lower one. */
static enum dtx_code propose_levels(struct proposer *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_textgrid raw = DTX_TEXTGRID_INIT;
	json_t *bare = json_deep_copy(x->input);
	const struct dtx_textgrid *g = x->all.g;
	uint32_t *upper = dtx_arena_zalloc(&x->all.arena, (size_t)g->ncols + 1, sizeof(*upper));
	uint32_t c, k, found = 0;
	int64_t r;

	if (!upper || !dtx_json_set(bare, "header_rows", json_integer(0)))
		DTX_FAIL_MEM(err);
	if (dtx_propose_read(x->src, bare, HEADER_ROWS, &raw, NULL) != DTX_OK)
		goto out;
	for (r = 0; r + 1 < raw.nrows && !found; r++) {
		const char *top = NULL;

		for (c = k = 0; k < raw.ncols && c < g->ncols; k++) {
			const char *low = dtx_textgrid_at(&raw, r + 1, k), *name = g->name[c];
			size_t len;

			top = dtx_cell_blank(dtx_textgrid_at(&raw, r, k))
			              ? top
			              : dtx_textgrid_at(&raw, r, k);
			len = top ? strlen(top) : 0;
			if (len && low && !strncmp(name, top, len) && name[len] == ' ' &&
			    dtx_str_eq(dtx_str_of(name + len + 1),
			               dtx_utf8_trim(dtx_str_of(low)))) {
				upper[c++] = (uint32_t)len;
				found++;
			} else if (raw.ncols == g->ncols) {
				c++; /* blank columns are left out otherwise */
			}
		}
	}
	x->all.upper = found > 1 ? upper : NULL;
out:
	json_decref(bare);
	dtx_textgrid_clear(&raw);
	return rc;
}

/* --- the list --- */

static json_t *propose_result(const struct dtx_textgrid *g)
{
	json_t *names = json_array(), *rows = json_array(), *row;
	int64_t r;
	uint32_t c;

	for (c = 0; c < g->ncols; c++)
		(void)json_array_append_new(names, json_string(g->name[c]));
	for (r = 0; r < g->nrows && r < RESULT_ROWS; r++) {
		row = json_array();
		for (c = 0; c < g->ncols; c++) {
			const char *text = dtx_textgrid_at(g, r, c);

			(void)json_array_append_new(row, text ? json_string(text) : json_null());
		}
		(void)json_array_append_new(rows, row);
	}
	return json_pack("{so so}", "columns", names, "rows", rows);
}

/* Whether the steps of one proposal begin with all steps of the other. */
static bool propose_continues(const struct dtx_proposal *a, const struct dtx_proposal *b)
{
	size_t n = DTX_MIN(json_array_size(a->steps), json_array_size(b->steps)), i;

	for (i = 0; i < n; i++) {
		if (!json_equal(json_array_get(a->steps, i), json_array_get(b->steps, i)))
			return false;
	}
	return true;
}

/* Whether another proposal is nearly as good and makes another table: then none of them is sure. */
static bool propose_rivals(const struct dtx_makers *m, const struct dtx_proposal *p)
{
	size_t i;

	for (i = 0; i < m->n; i++) {
		if (m->list[i].score > p->score - RIVAL && &m->list[i] != p &&
		    (m->list[i].apart || !propose_continues(&m->list[i], p)))
			return true;
	}
	return false;
}

static uint64_t propose_hash(const struct dtx_textgrid *g)
{
	uint64_t hash = g->ncols;
	size_t i, n = (size_t)g->nrows * g->ncols;

	for (i = 0; i < n; i++) {
		const char *text = g->cell[i] ? g->cell[i] : "";

		hash = dtx_hash64(text, strlen(text) + 1, hash);
	}
	return hash;
}

/* Whether a step leaves out rows without values: then "" in cells is no value either. */
static bool propose_drops_nulls(const struct dtx_proposal *p)
{
	json_t *step;
	size_t i;

	json_array_foreach(p->steps, i, step)
	{
		if (json_is_true(json_object_get(step, "drop_nulls")))
			return true;
	}
	return false;
}

/* Runs a proposal on the first rows of the file, and adds it to the list if it fits. */
static enum dtx_code propose_add(struct proposer *x, struct dtx_proposal *p, json_t *list,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK, ran;
	struct dtx_textgrid got = DTX_TEXTGRID_INIT;
	json_t *input = json_deep_copy(x->input), *plan = NULL, *item;
	json_t *steps = json_pack("[{ss sI}]", "op", "limit", "n", (json_int_t)x->rows);
	json_t *mine = json_array();
	bool sure;
	size_t i;

	if (!input || !steps || !mine || (!p->raw && json_array_extend(mine, x->before) < 0) ||
	    json_array_extend(mine, p->steps) < 0 || json_array_extend(steps, mine) < 0 ||
	    (p->headerless && !dtx_json_set(input, "header_rows", json_integer(0))) ||
	    (x->empty_texts && propose_drops_nulls(p) && !json_object_get(input, "null_values") &&
	     !dtx_json_set(input, "null_values", json_pack("[s]", ""))) ||
	    (p->null_word && !json_object_get(input, "null_values") &&
	     !dtx_json_set(input, "null_values", json_pack("[s]", p->null_word)))) {
		json_decref(steps);
		DTX_FAIL_MEM(err);
	}
	plan = plan_make(input, steps);
	ran = dtx_byexample_run(plan, x->src, 0, &got, NULL);
	if (ran == DTX_E_NO_MEMORY)
		DTX_FAIL_MEM(err);
	if (ran != DTX_OK || !got.nrows)
		goto out;
	p->made = propose_hash(&got);
	for (i = 0; i < x->all.n; i++) {
		if (x->all.list[i].shown && x->all.list[i].made == p->made)
			goto out;
	}
	p->shown = true;
	sure = !x->guessed && !json_array_size(list) && p->score >= DTX_PROPOSE_SURE &&
	       p->weakest >= DTX_PROPOSE_SURE && !p->doubtful && !propose_rivals(&x->all, p);
	item = json_pack("{so sf sb s[s] so}", "plan", plan_make(input, json_incref(mine)), "score",
	                 (double)(int)(p->score * 1000 + 0.5) / 1000, "sure", sure, "evidence",
	                 p->evidence, "result", propose_result(&got));
	if (json_array_append_new(list, item) < 0)
		DTX_FAIL_MEM(err);
out:
	json_decref(plan);
	json_decref(mine);
	json_decref(input);
	dtx_textgrid_clear(&got);
	return rc;
}

/* Says with the first proposal which other one came second. */
static bool propose_runner_up(const struct dtx_makers *m, json_t *list)
{
	json_t *evidence = json_object_get(json_array_get(list, 0), "evidence"), *op;
	const struct dtx_proposal *p, *first = NULL;
	size_t i;

	for (i = 0; i < m->n; i++) {
		p = &m->list[i];
		if (!p->shown || p->score < DTX_PROPOSE_LEAST)
			continue;
		first = first ? first : p;
		if (propose_continues(first, p))
			continue;
		op = json_object_get(json_array_get(p->steps, json_array_size(p->steps) - 1), "op");
		return json_array_append_new(evidence, json_sprintf("second best: %s with %.2f: %s",
		                                                    json_string_value(op), p->score,
		                                                    p->evidence)) == 0;
	}
	return true;
}

static bool row_is_blank(const struct dtx_textgrid *g, int64_t row, uint32_t from)
{
	uint32_t c;

	for (c = from; c < g->ncols; c++) {
		const char *text = dtx_textgrid_at(g, row, c);

		if (text && !dtx_utf8_is_blank(dtx_str_of(text)))
			return false;
	}
	return true;
}

/* Rows at the end with a cell in the first column alone, if no others are like that: these can be
 * titles. */
static int64_t notes_below(const struct dtx_textgrid *g)
{
	int64_t r = g->nrows, notes;

	while (r > 0 && row_is_blank(g, r - 1, 1))
		r--;
	notes = g->nrows - r;
	for (; r > 0; r--) {
		if (row_is_blank(g, r - 1, 1) && !row_is_blank(g, r - 1, 0))
			return 0;
	}
	return g->ncols > 2 && notes < g->nrows ? notes : 0;
}

/* Whether the first row numbers or tags the columns: "(1)", "(2)", "(3)", or "#x", "#y". */
static bool first_row_numbers(const struct dtx_textgrid *g)
{
	uint32_t c, numbers = 0, tags = 0, filled = 0;

	for (c = 0; c < g->ncols && g->nrows > 2; c++) {
		const char *text = dtx_textgrid_at(g, 0, c);
		char plain[16];

		if (!text)
			continue;
		filled++;
		tags += text[0] == '#' && text[1];
		snprintf(plain, sizeof(plain), "%u", c + 1);
		numbers += !strncmp(text + (*text == '('), plain, strlen(plain)) &&
		           strspn(text, "()0123456789.") == strlen(text);
	}
	return filled > 2 && (numbers == filled || tags == filled);
}

/* Whether the first row has texts above columns of numbers, as units and remarks on the names. In a
 * table on its side it has a label, as all rows below it have. */
static bool first_row_remarks(const struct dtx_textgrid *g)
{
	uint32_t c, texts = 0, numbers = 0;
	double x;

	for (c = 0; c < g->ncols && g->nrows > 3; c++) {
		const char *first = dtx_textgrid_at(g, 0, c);
		int64_t r;

		for (r = 1; r < g->nrows; r++) {
			enum dtx_cell_kind k = dtx_cell_kind(dtx_textgrid_at(g, r, c), &x);

			if (k != DTX_LOOKS_BLANK && !dtx_kind_is_number(k) &&
			    (c || k != DTX_LOOKS_DATE))
				break;
		}
		if (r < g->nrows && !c && !dtx_cell_blank(first))
			return false;
		numbers += r == g->nrows;
		texts += r == g->nrows && c && dtx_cell_kind(first, &x) >= DTX_LOOKS_CODE;
	}
	return texts > 1 && texts * 2 > numbers && texts * 2 >= g->ncols;
}

/* Adds the rules for cleaning that remove whole rows above and below the data. */
static enum dtx_code clean_rules(struct proposer *x, const json_t *cleaning,
                                 const struct dtx_textgrid *have, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *step, *kind, *more = NULL;
	bool head = false;
	size_t i, k;

	json_array_foreach((json_t *)(uintptr_t)cleaning, i, step)
	{
		head |= json_object_get(step, "head") != NULL;
		more = json_object_get(step, "head") ? json_incref(step) : NULL;
		json_array_foreach(json_object_get(step, "kinds"), k, kind)
		{
			if (!strcmp(json_string_value(kind), "totals"))
				continue;
			more = json_pack("{ss s[O]}", "op", "drop_rows", "kinds", kind);
			if (json_array_append_new(x->before, more) < 0)
				DTX_FAIL_MEM(err);
			more = NULL;
		}
		if (more && json_array_append_new(x->before, more) < 0)
			DTX_FAIL_MEM(err);
	}
	if (!head && (first_row_numbers(have) || first_row_remarks(have)) &&
	    json_array_append_new(x->before, json_pack("{ss si}", "op", "skip_rows", "head", 1)) <
	            0)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Adds steps for what is blank or a note in `g`. */
static enum dtx_code clean_blanks(struct proposer *x, const struct dtx_textgrid *g,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t blank = 0, notes = g->nrows < x->rows ? notes_below(g) : 0, r;
	json_t *cols = json_array();
	uint32_t c;

	for (c = 0; c < g->ncols; c++) {
		for (r = 0; r < g->nrows && dtx_cell_blank(dtx_textgrid_at(g, r, c)); r++)
			;
		if (r == g->nrows && dtx_like_unnamed(g->name[c]))
			(void)json_array_append_new(cols, json_string(g->name[c]));
	}
	for (r = 0; r < g->nrows - notes; r++)
		blank += row_is_blank(g, r, 0);
	if ((notes && json_array_append_new(x->before, json_pack("{ss sI}", "op", "skip_rows",
	                                                         "tail", (json_int_t)notes)) < 0) ||
	    (blank &&
	     json_array_append_new(x->before, json_pack("{ss}", "op", "drop_empty")) < 0) ||
	    (json_array_size(cols) &&
	     json_array_append_new(x->before, json_pack("{ss sO}", "op", "drop", "cols", cols)) <
	             0))
		DTX_FAIL_MEM(err);
out:
	json_decref(cols);
	return rc;
}

/* Makes the table that the makers see: without rows that are no data (as the rules for cleaning
 * say, or notes below the table), blank rows, and blank columns without a name. */
static enum dtx_code propose_clean(struct proposer *x, const json_t *cleaning,
                                   const struct dtx_textgrid *have, struct dtx_textgrid *out,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_textgrid ruled = DTX_TEXTGRID_INIT;
	json_t *step;
	bool ok = false, rows = false;
	size_t i;

	DTX_TRY(clean_rules(x, cleaning, have, err));
	if (json_array_size(x->before))
		DTX_TRY(dtx_byexample_steps(have, x->before, &ruled, &ok, err));
	if (!ok)
		json_array_clear(x->before);
	DTX_TRY(clean_blanks(x, ok ? &ruled : have, err));
	ok = false;
	if (json_array_size(x->before))
		DTX_TRY(dtx_byexample_steps(have, x->before, out, &ok, err));
	if (!ok || !out->nrows) {
		json_array_clear(x->before);
		if (!x->guessed && have->ncols > 2 &&
		    (dtx_json_int(x->input, "header_rows", 1) > 1 ||
		     json_object_get(x->input, "skip"))) {
			/* a plan needs a step */
			dtx_makers_add(&x->all, "clean", json_pack("{ss}", "op", "drop_empty"),
			               READ,
			               "the table is read from another row than the first one");
		}
		goto out;
	}
	x->all.g = out;
	json_array_foreach(x->before, i, step) rows |= json_object_get(step, "head") ||
	                                               json_object_get(step, "tail") ||
	                                               json_object_get(step, "kinds");
	if (!rows)
		goto out;
	dtx_makers_add(&x->all, "clean", json_null(), CLEAN,
	               "%lld rows above or below the data are no data",
	               (long long)(have->nrows - out->nrows));
	if (x->all.n)
		json_array_clear(x->all.list[x->all.n - 1].steps);
out:
	dtx_textgrid_clear(&ruled);
	return rc;
}

/* Whether the first row alone has no label and is full otherwise, where most names are repeated:
 * then it may be a second header row. */
static bool header_continues(const struct dtx_textgrid *g)
{
	uint32_t c, repeats = 0;
	int64_t r;

	for (c = 1; c < g->ncols; c++) {
		size_t len = strlen(g->name[c]);

		if (!g->nrows || dtx_cell_blank(dtx_textgrid_at(g, 0, c)))
			return false;
		repeats += len > 2 && !strcmp(g->name[c] + len - 2, "_2");
	}
	for (r = 1; r < g->nrows && !dtx_cell_blank(dtx_textgrid_at(g, r, 0)); r++)
		;
	return repeats && r == g->nrows && dtx_cell_blank(dtx_textgrid_at(g, 0, 0));
}

enum dtx_code dtx_propose(struct dtx_source *src, const json_t *input, const struct dtx_profile *p,
                          const json_t *cleaning, bool guessed, json_t **list, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_textgrid have = DTX_TEXTGRID_INIT, clean = DTX_TEXTGRID_INIT;
	struct proposer x = {
		src, input, SAMPLE_ROWS, false, guessed, json_array(), { .g = &have, .place = p }
	};
	/* A plan does not run on a table of more columns, unless it raises this limit. */
	const struct dtx_plan_limits limits = DTX_PLAN_LIMITS_INIT;
	json_t *found = json_array();
	size_t i;

	if (!found || !x.before)
		DTX_FAIL_MEM(err);
	if (p && p->schema->nfields > (uint32_t)limits.cols) {
		*list = json_incref(found);
		goto out;
	}
	if (p && p->schema->nfields)
		x.rows = DTX_MIN(SAMPLE_ROWS, SAMPLE_CELLS / (int64_t)p->schema->nfields + 20);
	DTX_TRY(dtx_propose_read(src, input, x.rows, &have, err));
	x.empty_texts = have.empty_texts;
	x.guessed |= header_continues(&have);
	DTX_TRY(propose_clean(&x, cleaning, &have, &clean, err));
	DTX_TRY(propose_levels(&x, err));
	DTX_TRY(dtx_makers_run(&x.all, 0.3, err));
	DTX_TRY(propose_headerless(&x, &have, err));
	propose_sort(&x.all);
	DTX_TRY(propose_pairs(&x, err));
	DTX_TRY(propose_stacked(&x, err));
	propose_sort(&x.all);
	for (i = 0; i < x.all.n && json_array_size(found) < DTX_PROPOSE_MOST; i++) {
		if (x.all.list[i].score >= DTX_PROPOSE_LEAST)
			DTX_TRY(propose_add(&x, &x.all.list[i], found, err));
	}
	if (!propose_runner_up(&x.all, found))
		DTX_FAIL_MEM(err);
	*list = json_incref(found);
out:
	json_decref(found);
	json_decref(x.before);
	dtx_makers_clear(&x.all);
	dtx_textgrid_clear(&have);
	dtx_textgrid_clear(&clean);
	return rc;
}

/* --- for people --- */

enum { TEXT_COLS = 8, TEXT_WIDTH = 18 };

static void text_cell(const json_t *cell, struct dtx_buf *out)
{
	struct dtx_str t = dtx_str_cut(
		dtx_str_of(json_is_string(cell) ? json_string_value(cell) : ""), TEXT_WIDTH);
	size_t width = dtx_utf8_width(t.ptr, t.len), i;

	for (i = 0; i < t.len; i++)
		dtx_buf_addc(out, (unsigned char)t.ptr[i] < ' ' ? ' ' : t.ptr[i]);
	dtx_buf_printf(out, "%*s  ", (int)(width < TEXT_WIDTH ? TEXT_WIDTH - width : 0), "");
}

static void text_row(const json_t *row, struct dtx_buf *out)
{
	size_t c;

	dtx_buf_add(out, "    ");
	for (c = 0; c < json_array_size(row) && c < TEXT_COLS; c++)
		text_cell(json_array_get(row, c), out);
	if (c < json_array_size(row))
		dtx_buf_add(out, "\u2026");
	while (out->len && out->ptr[out->len - 1] == ' ')
		out->len--;
	dtx_buf_add(out, "\n");
}

void dtx_propose_text(const json_t *proposal, struct dtx_buf *out)
{
	const json_t *result = json_object_get(proposal, "result"), *rows;
	bool sure = json_is_true(json_object_get(proposal, "sure"));
	json_t *item;
	size_t i;

	dtx_buf_printf(out, "%s, score %.2f\n", sure ? "proposed" : "possible, but not sure",
	               json_number_value(json_object_get(proposal, "score")));
	json_array_foreach(json_object_get(proposal, "evidence"), i, item)
	{
		const char *p = json_string_value(item);

		dtx_buf_add(out, "  ");
		for (; *p; p++)
			dtx_buf_addc(out, (unsigned char)*p < ' ' ? ' ' : *p);
		dtx_buf_add(out, "\n");
	}
	rows = json_object_get(result, "rows");
	dtx_buf_printf(out, "  the first %zu rows of the result:\n", json_array_size(rows));
	text_row(json_object_get(result, "columns"), out);
	json_array_foreach((json_t *)(uintptr_t)rows, i, item) text_row(item, out);
}
