/* why-not: says at which step, and for which reason, a source row was left out of a result. */
#include "cli/out.h"
#include "cli/why/why_not.h"
#include "cli/why/why_stored.h"

static const struct dtx_opt why_not_opts[] = {
	{ .name = "input",
	  .kind = DTX_O_TEXT,
	  .metavar = "NAME",
	  .offset = offsetof(struct dtx_why_not_args, input),
	  .help = "the input that has the row, by alias or file (default: the first)" },
	{ .name = "row",
	  .kind = DTX_O_INT,
	  .metavar = "N",
	  .offset = offsetof(struct dtx_why_not_args, row),
	  .min = 1,
	  .max = INT64_MAX,
	  .help = "row of the input, counted from 1 below the header" },
	{ .name = "line",
	  .kind = DTX_O_INT,
	  .metavar = "N",
	  .offset = offsetof(struct dtx_why_not_args, line),
	  .min = 1,
	  .max = INT64_MAX,
	  .help = "line of the text file, or row of the sheet" },
	{ .name = "key",
	  .kind = DTX_O_LIST,
	  .metavar = "COLUMN=TEXT",
	  .offset = offsetof(struct dtx_why_not_args, key),
	  .help = "the one row with this cell; several, or k=a,n=7, narrow it down" },
	{ .name = "no-values",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct dtx_why_not_args, no_values),
	  .help = "conditions alone" },
	{ .name = "again",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct dtx_why_not_args, again),
	  .help = "run the plan again even where the run stored its row numbers" },
	{ .name = "json",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct dtx_why_not_args, json),
	  .help = "as JSON" },
};

static enum dtx_code why_not_answer(struct dtx_why_not *w, int argc, char **argv,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_why_replay_look look = { dtx_why_not_count, w, 0, NULL };
	const struct dtx_exec_result *bound;
	bool stored = false;

	DTX_TRY(dtx_why_replay_find(&w->x, argv[0], err));
	DTX_TRY(dtx_why_replay_plan(&w->x, err));
	w->plan = w->x.r.plan;
	DTX_TRY(dtx_why_not_ask(w, argc, argv, err));
	if (!w->args->again)
		DTX_TRY(dtx_why_not_stored(w, &stored, err));
	if (stored)
		goto out;
	DTX_TRY(dtx_why_replay_bind(&w->x, err));
	bound = w->x.bound;
	w->followed = w->input;
	if (w->plan->ninputs > DTX_WHY_REPLAY_APART) {
		DTX_TRY(dtx_together(w->x.r.plan, w->x.bound, &w->fold, err));
		w->plan = &w->fold.plan;
		bound = &w->fold.bound;
		w->followed = w->fold.of[w->input];
		w->file = w->fold.file[w->followed] ? w->x.r.plan->input[w->input].path : NULL;
		look.fold = &w->fold;
	}
	DTX_TRY(dtx_why_not_find(w, err));
	if (!w->lost) {
		DTX_TRY(dtx_why_not_plan_build(w->plan, bound, w->followed, &w->number, 1,
		                               w->x.output, &w->follow, err));
		if (w->follow.plan)
			DTX_TRY(dtx_why_replay_run(&w->x, w->follow.plan, &look, &w->second, err));
	}
	DTX_TRY(dtx_why_not_report(w, err));
out:
	return rc;
}

/* --- the command --- */

static int why_not_main(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct dtx_why_not w = { .args = args, .x = { .cli = cli, .command = "why-not" } };
	struct dtx_buf out = DTX_BUF_INIT((size_t)1 << 30);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc;
	int status;

	dtx_buf_init(&w.text, DTX_BUF_TEXT_MAX);
	rc = why_not_answer(&w, argc, argv, &err);
	if (rc == DTX_OK && w.args->json) {
		dtx_json_print(w.report, 1, &out);
		dtx_buf_add(&out, "\n");
	} else if (rc == DTX_OK) {
		dtx_why_not_print(w.report, &out);
	}
	status = rc == DTX_OK ? dtx_out_print(cli, &out) : dtx_out_fail(cli, &err);
	dtx_plan_free(w.first);
	dtx_plan_free(w.second);
	dtx_why_not_plan_stages_clear(&w.stages);
	json_decref(w.first_cell);
	dtx_why_not_plan_clear(&w.follow);
	json_decref(w.report);
	json_decref(w.key);
	dtx_together_clear(&w.fold);
	dtx_why_replay_clear(&w.x);
	dtx_buf_clear(&w.text);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	return rc == DTX_E_NO_TRANSLATION ? 4 : status;
}

const struct dtx_cmd dtx_cmd_why_not = {
	.name = "why-not",
	.usage = "RUN | FILE [PLACE]",
	.summary = "Tell at which step a source row was left out of a result, and by what",
	.notes = "The row is followed through the plan: filters say which condition did not hold "
		 "with which\n"
		 "values, joins which keys found nothing.  After group_by and pivot_wider\n"
		 "it follows the results that the row became a part of (\"by groups\").  If the "
		 "row is in the\n"
		 "result, the answer says so.\n"
		 "If dtx run --lineage rows stored the row numbers, a row asked for by its place "
		 "is followed with\n"
		 "them, without a run.\n"
		 "\n"
		 "  dtx why-not out.csv input.csv!L12\n"
		 "  dtx why-not out.csv --input hc --key region=North\n"
		 "  dtx why-not report.xlsx 'Q1!B7'",
	.exits = "0 done; 4 no record, an input is changed, or rows cannot be followed",
	.opts = why_not_opts,
	.nopts = DTX_COUNT(why_not_opts),
	.args_size = sizeof(struct dtx_why_not_args),
	.min_args = 1,
	.max_args = 2,
	.run = why_not_main,
};
