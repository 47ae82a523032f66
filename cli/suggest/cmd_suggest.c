/* suggest: proposes a typed plan for a file, or one that makes a given example of it. No model
 * is asked. */
#include <stdio.h>
#include <string.h>

#include "cli/suggest/byexample.h"
#include "cli/suggest/profile.h"
#include "cli/run/read_opts.h"
#include "cli/run/runner.h"
#include "cli/suggest/suggest.h"
#include "core/io/sheet/book_info.h"

#define SUGGEST_ROWS  8    /* rows of the profile's sample */
#define SUGGEST_PIECE 0.66 /* up to this score, the result has more rows than the example */

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
	  .help = "a list of {plan, score, evidence}, best first" },
	DTX_READ_OPTS(run.),
};

struct suggestion {
	const struct dtx_cli *cli;
	const struct suggest_args *args;
	const char *path;
	struct dtx_runner runner;
	struct dtx_reader *reader;
	struct dtx_profile profile;
	json_t *describe, *sheets;
	struct dtx_suggestions own; /* suggestions from the input alone */
	struct dtx_textgrid want;
	bool two_rows; /* assume two header rows, because one was not found */
	json_t *list;  /* the result */
};

/* --- the input alone --- */

/* If one header row is not found, tries two. */
static enum dtx_code suggest_open(struct suggestion *x, struct dtx_err *err)
{
	struct dtx_source *src = x->runner.source[0];
	struct dtx_read_opts *opts = &x->runner.plan->input[0].opts;
	enum dtx_code rc = dtx_reader_open(src, opts, &x->reader, err);
	struct dtx_err why = DTX_ERR_INIT;

	if (rc != DTX_E_HEADER_NOT_FOUND || opts->header_rows >= 0)
		return rc;
	dtx_err_move(&why, err);
	opts->header_rows = 2;
	if (dtx_reader_open(src, opts, &x->reader, err) != DTX_OK) {
		dtx_err_clear(err);
		dtx_err_move(err, &why);
		return rc;
	}
	dtx_err_clear(&why);
	x->two_rows = true;
	return DTX_OK;
}

static json_t *suggest_plan(const struct suggestion *x, bool own, const json_t *more);

/* The plan with the suggestions from the input alone. */
static json_t *suggest_own(void *arg)
{
	return suggest_plan(arg, true, NULL);
}

static enum dtx_code suggest_look(struct suggestion *x, char *path, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *src;

	DTX_TRY(dtx_runner_plan(&x->runner, err));
	DTX_TRY(dtx_runner_inputs(&x->runner, 1, &path, err));
	DTX_TRY(dtx_runner_open(&x->runner, true, err));
	src = x->runner.source[0];
	DTX_TRY(suggest_open(x, err));
	DTX_TRY(dtx_profile_read(&x->profile, x->reader, SUGGEST_ROWS, err));
	if (x->reader->cls->book)
		DTX_TRY(dtx_book_sheets(src, &x->sheets, err));
	x->describe = x->reader->cls->describe(x->reader);
	DTX_TRY(dtx_suggest(&x->profile, x->describe, json_array_size(x->sheets), &x->own, err));
	DTX_TRY(dtx_suggest_verify(&x->own, src, suggest_own, x, err));
out:
	return rc;
}

/* A plan needs a step; this one keeps everything. */
static json_t *suggest_nothing(void)
{
	return json_pack("[{ss sI}]", "op", "limit", "n", (json_int_t)DTX_TEXTGRID_CELLS);
}

/* Makes a plan; with `own`, including the suggestions from the input alone. A new reference. */
static json_t *suggest_plan(const struct suggestion *x, bool own, const json_t *more)
{
	const char *sheet =
		x->args->run.sheet ? x->args->run.sheet : dtx_json_text(x->describe, "sheet", NULL);
	json_t *input = json_pack("{ss ss}", "name", "main", "path", x->path);
	json_t *steps = json_array();

	if (sheet)
		(void)json_object_set_new(input, "sheet", json_string(sheet));
	if (x->two_rows)
		(void)json_object_set_new(input, "header_rows", json_integer(2));
	if (own && input)
		(void)json_object_update_recursive(input, x->own.input);
	if (own && steps)
		(void)json_array_extend(steps, x->own.steps);
	if (more && steps)
		(void)json_array_extend(steps, (json_t *)(uintptr_t)more);
	if (steps && !json_array_size(steps)) {
		json_decref(steps);
		steps = suggest_nothing();
	}
	return json_pack("{si s[o] so}", "dtx", 1, "inputs", input, "steps", steps);
}

static enum dtx_code suggest_alone(struct suggestion *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *evidence = json_array(), *f;
	size_t i;

	json_array_foreach(x->own.found, i, f)(void)
		json_array_append(evidence, json_object_get(f, "finding"));
	if (json_array_append_new(x->list,
	                          json_pack("{so sf so}", "plan", suggest_plan(x, true, NULL),
	                                    "score", json_array_size(evidence) ? 0.5 : 0.1,
	                                    "evidence", evidence)) < 0)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* --- with an example --- */

/* Runs a plan on a file and gets the resulting table. */
static enum dtx_code suggest_run(const char *plan, const char *path, struct dtx_textgrid *out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_source *src = NULL;

	DTX_TRY(dtx_source_open(path, &src, err));
	DTX_TRY(dtx_byexample_run(plan, src, 0, out, err));
out:
	dtx_source_free(src);
	return rc;
}

static enum dtx_code suggest_want(struct suggestion *x, struct dtx_err *err)
{
	struct dtx_buf plan = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *p = json_pack("{si s[{ss}] so}", "dtx", 1, "inputs", "name", "main", "steps",
	                      suggest_nothing());
	enum dtx_code rc;

	dtx_json_canonical(p, &plan);
	rc = dtx_buf_check(&plan, "plan", err);
	if (rc == DTX_OK)
		rc = suggest_run(dtx_buf_text(&plan), x->args->to, &x->want, err);
	json_decref(p);
	dtx_buf_clear(&plan);
	return rc;
}

/* Turns steps that were found into plans. */
static enum dtx_code suggest_take(struct suggestion *x, bool own, const json_t *found,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *f;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)found, i, f)
	{
		if (json_array_append_new(
			    x->list, json_pack("{so sO s[O]}", "plan",
		                               suggest_plan(x, own, json_object_get(f, "steps")),
		                               "score", json_object_get(f, "score"), "evidence",
		                               json_object_get(f, "evidence"))) < 0)
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

/* Searches from one reading of the input: as it is, or after its own suggestions. If that
 * reading fails, there is nothing to find. */
static enum dtx_code suggest_search(struct suggestion *x, bool own, int *runs, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_textgrid have = DTX_TEXTGRID_INIT;
	struct dtx_buf plan = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *p = suggest_plan(x, own, NULL), *found = json_array();

	dtx_json_canonical(p, &plan);
	DTX_TRY(dtx_buf_check(&plan, "plan", err));
	if (!found)
		DTX_FAIL_MEM(err);
	rc = suggest_run(dtx_buf_text(&plan), x->path, &have, own ? NULL : err);
	if (rc != DTX_OK) {
		rc = own && rc != DTX_E_NO_MEMORY ? DTX_OK : rc;
		goto out;
	}
	DTX_TRY(dtx_byexample(&have, &x->want, own && json_array_size(x->own.steps), runs, found,
	                      err));
	DTX_TRY(suggest_take(x, own, found, err));
out:
	json_decref(p);
	json_decref(found);
	dtx_buf_clear(&plan);
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

/* Whether a plan makes exactly the whole example. */
static bool suggest_whole(const struct suggestion *x)
{
	json_t *item;
	size_t i;

	json_array_foreach(x->list, i, item)
	{
		if (suggest_score(item) > SUGGEST_PIECE)
			return true;
	}
	return false;
}

/* Searches from the input as it is, then from what its own suggestions make of it. */
static enum dtx_code suggest_both(struct suggestion *x, int runs, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool tells = json_array_size(x->own.steps) || json_object_size(x->own.input);
	int more = runs;

	DTX_TRY(suggest_search(x, false, &runs, err));
	if (tells && !suggest_whole(x))
		DTX_TRY(suggest_search(x, true, &more, err));
out:
	return rc;
}

static enum dtx_code suggest_example(struct suggestion *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(suggest_want(x, err));
	DTX_TRY(suggest_both(x, DTX_BYEXAMPLE_RUNS / 2, err));
	/* an example written by hand may have numbers in everyday notation */
	if (!json_array_size(x->list) && dtx_textgrid_plain(&x->want))
		DTX_TRY(suggest_both(x, DTX_BYEXAMPLE_RUNS / 4, err));
	DTX_TRY(suggest_sort(x, err));
	if (!json_array_size(x->list)) {
		rc = dtx_err_set(err, DTX_E_NO_RECORD, __FILE__, __LINE__,
		                 "no plan of one or two reshaping steps makes '%s' of '%s'",
		                 x->args->to, x->path);
		dtx_err_hint(err,
		             "dtx inspect %s tells what the file holds; for a step that dtx "
		             "lacks, a snippet can be written",
		             x->path);
	}
out:
	return rc;
}

/* --- the command --- */

static void suggest_text(const struct suggestion *x, struct dtx_buf *out)
{
	const json_t *best = json_array_get(x->list, 0);
	json_t *item;
	size_t i;

	dtx_json_print(json_object_get(best, "plan"), 1, out);
	dtx_buf_addc(out, '\n');
	json_array_foreach(json_object_get(best, "evidence"), i, item)
		dtx_out_note(x->cli, "dtx: %s\n", json_string_value(item));
	if (json_array_size(x->list) > 1)
		dtx_out_note(x->cli, "dtx: %zu other plans do it too: --json lists them\n",
		             json_array_size(x->list) - 1);
}

static int suggest_fail(const struct suggestion *x, const struct dtx_err *err)
{
	struct dtx_out_where where = { .inputs = x->runner.plan };

	dtx_out_error(x->cli, err, &where);
	return dtx_code_exit(err->code, err->run_time);
}

static int suggest_run_command(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	const struct suggest_args *a = args;
	struct suggestion x = { .cli = cli,
		                .args = a,
		                .path = argv[0],
		                .runner = { .cli = cli, .args = &a->run, .command = "suggest" },
		                .profile = DTX_PROFILE_INIT,
		                .want = DTX_TEXTGRID_INIT,
		                .list = json_array() };
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc;
	int status;

	(void)argc;
	rc = suggest_look(&x, argv[0], &err);
	if (rc == DTX_OK)
		rc = a->to ? suggest_example(&x, &err) : suggest_alone(&x, &err);
	if (rc == DTX_OK && !a->json)
		suggest_text(&x, &out);
	if (rc != DTX_OK)
		status = suggest_fail(&x, &err);
	else
		status = a->json ? dtx_out_json(cli, x.list, 1) : dtx_out_print(cli, &out);
	json_decref(x.list);
	json_decref(x.describe);
	json_decref(x.sheets);
	dtx_suggestions_clear(&x.own);
	dtx_profile_clear(&x.profile);
	dtx_reader_close(x.reader);
	dtx_textgrid_clear(&x.want);
	dtx_runner_clear(&x.runner);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	return status;
}

const struct dtx_cmd dtx_cmd_suggest = {
	.name = "suggest",
	.usage = "FILE [--to EXAMPLE]",
	.summary = "Propose a typed plan for a file, or one that makes an example of it",
	.notes = "From the file alone: header rows, totals, section titles, blanks to fill, months "
		 "in\n"
		 "columns.  With --to: one reshaping step or two (pivot_longer, pivot_wider, "
		 "transpose,\n"
		 "explode, fill, subtitle_to_column, split_column, group_by, filter and others) "
		 "whose\n"
		 "result equals the example; each is tried.  Some rows of what is wanted are "
		 "enough.\n"
		 "No model is asked.\n\n"
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
