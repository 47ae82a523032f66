/* check: the findings of a plan, before anything runs. */
#include "cli/runner.h"

struct check_args {
	struct dtx_run_args run; /* first: the runner's pieces read it */
	bool typed, canonical, id;
};

static const struct dtx_opt check_opts[] = {
	{ .name = "typed",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct check_args, typed),
	  .help = "what would need a snippet is an error" },
	{ .name = "canonical",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct check_args, canonical),
	  .help = "print the canonical plan" },
	{ .name = "id",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct check_args, id),
	  .help = "print the plan id" },
	{ .name = "sheet",
	  .kind = DTX_O_TEXT,
	  .metavar = "NAME|N",
	  .offset = offsetof(struct check_args, run.sheet),
	  .help = "sheet of the first input" },
	{ .name = "limit",
	  .kind = DTX_O_LIST,
	  .metavar = "archive.NAME=N",
	  .offset = offsetof(struct check_args, run.limit),
	  .help = "another limit of what workbooks and gzip files may unpack to, see dtx run" },
};

static int check_status(const struct dtx_runner *r, bool typed)
{
	const struct dtx_err *worst = dtx_errlist_worst(&r->findings);

	if (!worst || (worst->severity == DTX_SEV_FALLBACK && !typed))
		return 0;
	return dtx_code_exit(worst->code, worst->run_time);
}

static int check_print(const struct dtx_runner *r, const struct check_args *a)
{
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	int status = 0;

	if (a->id)
		dtx_buf_printf(&out, "%s\n", r->plan->id);
	if (a->canonical) {
		if (dtx_plan_canonical(r->plan, &out, &err) != DTX_OK)
			status = dtx_out_fail(r->cli, &err);
		dtx_buf_add(&out, "\n");
	}
	if (!status && (a->id || a->canonical))
		status = dtx_out_print(r->cli, &out);
	dtx_buf_clear(&out);
	return status;
}

static int check_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct check_args *a = args;
	struct dtx_runner r = {
		.cli = cli, .args = &a->run, .plan_path = argv[0], .command = "check"
	};
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_out_where where = { .plan_path = argv[0] };
	enum dtx_code rc = dtx_runner_bind(&r, argc - 1, argv + 1, &err);
	const struct dtx_err *worst = dtx_errlist_worst(&r.findings);
	int status;

	where.plan = r.plan ? r.plan->json : NULL;
	where.inputs = r.plan;
	dtx_out_errors(cli, &r.findings, &where);
	if (rc != DTX_OK && !(worst && worst->code == rc))
		dtx_out_error(cli, &err, &where);
	status = check_status(&r, a->typed);
	if (rc != DTX_OK && !status && !dtx_code_triggers(rc, err.run_time))
		status = dtx_code_exit(rc, err.run_time);
	if (!status && r.plan)
		status = check_print(&r, a);
	dtx_err_clear(&err);
	dtx_runner_clear(&r);
	return status;
}

const struct dtx_cmd dtx_cmd_check = {
	.name = "check",
	.usage = "PLAN [FILE | NAME=FILE]...",
	.summary = "Check a plan: all findings at once, with files also against their headers",
	.notes = "  dtx check plan.json\n"
		 "  dtx check plan.json report.xlsx --typed\n"
		 "  dtx check plan.json --errors=json 2>&1 | jq .",
	.exits = "0 the plan can run; 3 it is invalid; 4 it does not fit the input",
	.opts = check_opts,
	.nopts = DTX_COUNT(check_opts),
	.args_size = sizeof(struct check_args),
	.min_args = 1,
	.max_args = -1,
	.run = check_run,
};
