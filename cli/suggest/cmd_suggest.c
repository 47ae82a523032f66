/* suggest: proposes a typed plan for a file, or one that makes a given example of it. No model
 * is asked. */
#include <stdio.h>
#include <string.h>

#include "cli/suggest/example/byexample.h"
#include "cli/run/read_opts.h"
#include "cli/suggest/look.h"
#include "cli/suggest/propose/features.h"
#include "cli/suggest/propose/propose.h"
#include "core/io/header/header.h"

#define SUGGEST_ROWS 8    /* rows of the profile's sample */
#define PLAIN        0.65 /* a plan with this score is good enough not to read the file otherwise */
#define LEAST        0.55 /* a plan of the file read without a header needs this score */
#define READ_COST    0.1 /* a plan costs this if it does not read the file or the example as found */

struct suggest_args {
	struct dtx_run_args run; /* first, because it has the reading options */
	const char *to;
	bool json;
};

#define AT(member) .offset = offsetof(struct suggest_args, member)
static const struct dtx_opt suggest_opts[] = {
	{ .name = "to",
	  .kind = DTX_O_TEXT,
	  .metavar = "EXAMPLE",
	  AT(to),
	  .help = "a file with the table that should come out of this input" },
	{ .name = "json",
	  .kind = DTX_O_FLAG,
	  AT(json),
	  .help = "a list of {plan, score, sure, evidence, result}, best first; empty if no "
	          "reshape is proposed" },
	DTX_READ_OPTS(run.),
};

struct suggestion {
	const struct dtx_cli *cli;
	const struct suggest_args *args;
	const char *path;
	struct dtx_look look;
	struct dtx_textgrid want, raw; /* the example, folded and as it is */
	bool bare;                     /* the example was read without a header */
	/* "" and words such as "NA" in cells of the input: the example leaves them out or has nulls
	 * for them, so the search takes them for nulls, and the plan must, too */
	json_t *nulls;
	json_t *stacked; /* steps that make one table of several below each other; NULL: none */
	json_t *list;    /* the result */
};

/* How the input is read for a search by example. */
enum reading { READING_FOUND, READING_HEADERLESS, READING_CLEANED, READING_STACKED };

/* Makes a plan of this reading and `more` steps. A plan needs a step: without any it keeps all
 * rows. A new reference. */
static json_t *suggest_plan(const struct suggestion *x, enum reading how, const json_t *more)
{
	json_t *input =
		how == READING_CLEANED ? dtx_look_cleaned(&x->look) : json_deep_copy(x->look.input);
	json_t *steps = json_array();

	if ((how == READING_HEADERLESS || how == READING_STACKED) && input)
		(void)json_object_set_new(input, "header_rows", json_integer(0));
	if (json_array_size(x->nulls) && input && !json_object_get(input, "null_values"))
		(void)json_object_set(input, "null_values", x->nulls);
	if (how == READING_CLEANED && steps)
		(void)json_array_extend(steps, x->look.suggested.steps);
	if (how == READING_STACKED && steps)
		(void)json_array_extend(steps, x->stacked);
	if (more && steps)
		(void)json_array_extend(steps, (json_t *)(uintptr_t)more);
	if (steps && !json_array_size(steps))
		(void)json_array_append_new(steps, json_pack("{ss sI}", "op", "limit", "n",
		                                             (json_int_t)DTX_TEXTGRID_CELLS));
	return json_pack("{si s[o] so}", "dtx", 1, "inputs", input, "steps", steps);
}

/* --- with an example --- */

/* Reads the example; without a header if `bare`. */
static enum dtx_code suggest_want(struct suggestion *x, bool bare, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *src = NULL;
	json_t *input = json_pack("{ss}", "name", "main");

	x->bare = bare;
	dtx_textgrid_clear(&x->want);
	DTX_TRY(dtx_source_open(x->args->to, &src, err));
	if (bare && !dtx_json_set(input, "header_rows", json_integer(0)))
		DTX_FAIL_MEM(err);
	rc = dtx_propose_read(src, input, DTX_TEXTGRID_CELLS, &x->want, err);
	if (rc == DTX_E_HEADER_NOT_FOUND && !bare) {
		dtx_err_clear(err);
		DTX_TRY(dtx_propose_header(src, input, NULL, err));
		rc = dtx_propose_read(src, input, DTX_TEXTGRID_CELLS, &x->want, err);
	}
	dtx_textgrid_clear(&x->raw);
	if (rc == DTX_OK)
		rc = dtx_propose_read(src, input, DTX_TEXTGRID_CELLS, &x->raw, err);
	dtx_textgrid_fold(&x->want);
out:
	json_decref(input);
	dtx_source_free(src);
	return rc;
}

/* Whether a plan that has read the header as a row skips it, and so is no other reading. */
static bool suggest_skips_header(const json_t *steps)
{
	json_t *step;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)steps, i, step)
	{
		if (dtx_json_int(step, "head", 0) == 1)
			return true;
	}
	return false;
}

/* Turns steps that were found into plans. */
static enum dtx_code suggest_take(struct suggestion *x, enum reading how, const json_t *found,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *f;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)found, i, f)
	{
		double score = json_number_value(json_object_get(f, "score"));

		if (how == READING_HEADERLESS || x->bare)
			score -= READ_COST;
		if (how == READING_HEADERLESS &&
		    (score < LEAST || suggest_skips_header(json_object_get(f, "steps"))))
			continue;
		if (json_array_append_new(
			    x->list,
			    json_pack("{so sf sb s[O]}", "plan",
		                      suggest_plan(x, how, json_object_get(f, "steps")), "score",
		                      score, "sure", json_is_true(json_object_get(f, "whole")),
		                      "evidence", json_object_get(f, "evidence"))) < 0)
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

/* Searches from one reading of the input. If the file cannot be read so, there is nothing to
 * find. */
static enum dtx_code suggest_search(struct suggestion *x, enum reading how, int *runs,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_textgrid have = DTX_TEXTGRID_INIT;
	json_t *p, *found = json_array();

	json_decref(x->nulls);
	x->nulls = json_array();
	p = suggest_plan(x, how, NULL);
	if (!found || !x->nulls)
		DTX_FAIL_MEM(err);
	rc = dtx_byexample_run(p, x->look.runner.source[0], 0, &have,
	                       how == READING_FOUND ? err : NULL);
	if (rc != DTX_OK) {
		rc = how != READING_FOUND && rc != DTX_E_NO_MEMORY ? DTX_OK : rc;
		goto out;
	}
	if (have.empty_texts)
		(void)json_array_append_new(x->nulls, json_string(""));
	if (!json_object_get(json_array_get(json_object_get(p, "inputs"), 0), "null_values"))
		dtx_textgrid_null_words(&have, &x->raw, x->nulls);
	DTX_TRY(dtx_byexample(&have, &x->want, x->bare,
	                      how == READING_CLEANED && json_array_size(x->look.suggested.steps),
	                      runs, found, err));
	DTX_TRY(suggest_take(x, how, found, err));
out:
	json_decref(p);
	json_decref(found);
	dtx_textgrid_clear(&have);
	return rc;
}

static double suggest_score(const json_t *item)
{
	return json_number_value(json_object_get(item, "score"));
}

/* Sorts by score, best first; equal ones keep their order. */
static enum dtx_code suggest_sort(struct suggestion *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = json_array_size(x->list), i, k;

	for (i = 1; i < n; i++) {
		for (k = i; k && suggest_score(json_array_get(x->list, k - 1)) <
		                         suggest_score(json_array_get(x->list, k));
		     k--) {
			json_t *late = json_incref(json_array_get(x->list, k));

			if (json_array_remove(x->list, k) < 0 ||
			    json_array_insert_new(x->list, k - 1, late) < 0)
				DTX_FAIL_MEM(err);
		}
	}
out:
	return rc;
}

/* Whether a plan makes exactly the whole example, without many steps. */
static bool suggest_whole(const struct suggestion *x)
{
	json_t *item;
	size_t i;

	json_array_foreach(x->list, i, item)
	{
		if (json_is_true(json_object_get(item, "sure")) && suggest_score(item) > PLAIN)
			return true;
	}
	return false;
}

/* Searches from the input as it is, then from what its own suggestions make of it. */
static enum dtx_code suggest_both(struct suggestion *x, int runs, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int more = runs;

	DTX_TRY(suggest_search(x, READING_FOUND, &runs, err));
	if (!suggest_whole(x) &&
	    (json_array_size(x->look.suggested.steps) || json_object_size(x->look.suggested.input)))
		DTX_TRY(suggest_search(x, READING_CLEANED, &more, err));
out:
	return rc;
}

/* Whether the user left it open how many header rows there are. */
static bool suggest_free(const struct suggestion *x)
{
	const char *rows = x->args->run.header_rows;

	return !rows || !strcmp(rows, "auto");
}

/* Whether a name of the example is a value, so that it seems to have no header. */
static bool suggest_headless(const struct suggestion *x)
{
	uint32_t c;
	double n;

	for (c = 0; c < x->want.ncols; c++) {
		const char *name = x->want.name[c];

		if (dtx_kind_is_number(dtx_cell_kind(name, &n)) &&
		    dtx_head_judge(dtx_str_of(name)) == DTX_HEAD_VALUE)
			return true;
	}
	return false;
}

/* Searches with the example read without a header. */
static enum dtx_code suggest_bare(struct suggestion *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int runs = DTX_BYEXAMPLE_RUNS / 2, more = runs;

	DTX_TRY(suggest_want(x, true, err));
	DTX_TRY(suggest_search(x, READING_FOUND, &runs, err));
	DTX_TRY(suggest_search(x, READING_HEADERLESS, &more, err));
	DTX_TRY(suggest_want(x, false, err));
out:
	return rc;
}

static enum dtx_code suggest_example(struct suggestion *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int runs = DTX_BYEXAMPLE_RUNS / 2;
	bool headless;

	DTX_TRY(suggest_want(x, false, err));
	headless = suggest_headless(x) && suggest_free(x);
	if (headless)
		DTX_TRY(suggest_bare(x, err));
	if (!suggest_whole(x))
		DTX_TRY(suggest_both(x, runs, err));
	DTX_TRY(dtx_propose_stacked(x->look.runner.source[0], x->look.input, &x->stacked, err));
	if (!suggest_whole(x) && x->stacked)
		DTX_TRY(suggest_search(x, READING_STACKED, &runs, err));
	/* the first rows may be no headers */
	if (!suggest_whole(x) && suggest_free(x))
		DTX_TRY(suggest_search(x, READING_HEADERLESS, &runs, err));
	if (!suggest_whole(x) && suggest_free(x) && !headless)
		DTX_TRY(suggest_bare(x, err));
	DTX_TRY(suggest_sort(x, err));
	if (!json_array_size(x->list)) {
		rc = dtx_err_set(err, DTX_E_NO_RECORD, __FILE__, __LINE__,
		                 "no plan of up to three reshaping steps makes '%s' of '%s'",
		                 x->args->to, x->path);
		dtx_err_hint(err,
		             "dtx inspect %s shows what the file holds; for a step that dtx "
		             "lacks, a snippet can be written",
		             x->path);
	}
out:
	return rc;
}

/* --- the command --- */

/* Says how the best plan of a search by example was found. */
static void suggest_text_example(const struct suggestion *x, const json_t *best)
{
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(best, "evidence"), i, item)
		dtx_out_note(x->cli, "dtx: %s\n", json_string_value(item));
	if (!json_is_true(json_object_get(best, "sure")))
		dtx_out_note(x->cli,
		             "dtx: the result has more rows than the example: check them\n");
	if (json_array_size(x->list) > 1)
		dtx_out_note(x->cli, "dtx: --json lists all %zu plans that were found\n",
		             json_array_size(x->list));
}

/* Without a reshape: the plan that cleans the file, and what each step is for. */
static void suggest_text_clean(const struct suggestion *x, struct dtx_buf *out)
{
	json_t *plan, *f;
	size_t i;

	if (!json_array_size(x->look.suggested.found)) {
		dtx_out_note(x->cli,
		             "dtx: no reshape is proposed for '%s'\n"
		             "  next: --to EXAMPLE searches for steps that make a given table\n",
		             x->path);
		return;
	}
	plan = dtx_look_plan(&x->look);
	dtx_json_print(plan, 1, out);
	dtx_buf_addc(out, '\n');
	json_decref(plan);
	json_array_foreach(x->look.suggested.found, i, f)
		dtx_out_note(x->cli, "dtx: %s\n", json_string_value(json_object_get(f, "finding")));
}

static void suggest_text(const struct suggestion *x, struct dtx_buf *out)
{
	const json_t *best = json_array_get(x->list, 0);
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (!best) {
		suggest_text_clean(x, out);
		return;
	}
	dtx_json_print(json_object_get(best, "plan"), 1, out);
	dtx_buf_addc(out, '\n');
	if (x->args->to) {
		suggest_text_example(x, best);
	} else {
		dtx_propose_text(best, &text);
		dtx_out_note(x->cli, "%s", dtx_buf_text(&text));
		if (json_array_size(x->look.suggested.steps))
			dtx_out_note(x->cli,
			             "  next: dtx inspect %s --plan writes a plan that %s\n",
			             x->path,
			             x->look.suggested.reshape
			                     ? "also cleans the file"
			                     : "cleans the file, without this reshape");
	}
	dtx_buf_clear(&text);
}

static int suggest_fail(const struct suggestion *x, const struct dtx_err *err)
{
	struct dtx_out_where where = { .inputs = x->look.runner.plan };

	dtx_out_error(x->cli, err, &where);
	return dtx_code_exit(err->code, err->run_time);
}

static int suggest_run_command(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	const struct suggest_args *a = args;
	struct suggestion x = { .cli = cli,
		                .args = a,
		                .path = argv[0],
		                .want = DTX_TEXTGRID_INIT,
		                .raw = DTX_TEXTGRID_INIT };
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc;
	int status;

	(void)argc;
	dtx_look_init(&x.look, cli, &a->run, "suggest");
	x.look.assume = true;
	x.look.example = a->to != NULL;
	rc = dtx_look_open(&x.look, argv[0], SUGGEST_ROWS, &err);
	x.list = a->to ? json_array() : json_incref(x.look.proposals);
	if (rc == DTX_OK && a->to)
		rc = suggest_example(&x, &err);
	if (rc == DTX_OK && !a->json)
		suggest_text(&x, &out);
	if (rc != DTX_OK)
		status = suggest_fail(&x, &err);
	else
		status = a->json ? dtx_out_json(cli, x.list, 1) : dtx_out_print(cli, &out);
	json_decref(x.list);
	json_decref(x.nulls);
	json_decref(x.stacked);
	dtx_textgrid_clear(&x.want);
	dtx_textgrid_clear(&x.raw);
	dtx_look_clear(&x.look);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	return status;
}

const struct dtx_cmd dtx_cmd_suggest = {
	.name = "suggest",
	.usage = "FILE [--to EXAMPLE]",
	.summary = "Propose a plan that makes a table tidy, or one that makes an example of it",
	.notes =
		"From the file alone it finds columns that are values (months, groups of names), "
		"records\n"
		"of key and value rows, section titles, labels written once, lists in cells, "
		"and tables\n"
		"on their side; it says if it is not sure.  If it finds nothing, the plan drops "
		"totals and\n"
		"parses texts as inspect suggests.  With\n"
		"--to: up to three reshaping steps (pivot_longer, pivot_wider, transpose, explode, "
		"fill,\n"
		"subtitle_to_column, split_column, group_by, filter and others) whose result "
		"equals the\n"
		"example; each is tried.  Some rows of what is wanted are enough.  No model is "
		"asked.\n\n"
		"  dtx suggest survey.xlsx > plan.json\n"
		"  dtx suggest survey.csv --to wanted.csv --json",
	.exits = "0 done; 2 usage; 4 input, or no such plan was found; 8 limit",
	.opts = suggest_opts,
	.nopts = DTX_COUNT(suggest_opts),
	.args_size = sizeof(struct suggest_args),
	.min_args = 1,
	.max_args = 1,
	.run = suggest_run_command,
};
