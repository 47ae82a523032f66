/* explain: what a plan does, step by step. */
#include "cli/runner.h"

struct explain_args {
	struct dtx_run_args run; /* first: the runner's pieces read it */
	bool json;
};

static const struct dtx_opt explain_opts[] = {
	{ .name = "json",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct explain_args, json),
	  .help = "as JSON" },
	{ .name = "sheet",
	  .kind = DTX_O_TEXT,
	  .metavar = "NAME|N",
	  .offset = offsetof(struct explain_args, run.sheet),
	  .help = "sheet of the first input" },
};

static int explain_json(const struct dtx_runner *r)
{
	json_t *value = dtx_explain_json(r->plan, r->result);
	int status = dtx_out_json(r->cli, value, 1);

	json_decref(value);
	return status;
}

static enum dtx_code explain_text(const struct dtx_runner *r, int *status, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	DTX_TRY(dtx_explain_text(r->plan, r->result, &out, err));
	*status = dtx_out_print(r->cli, &out);
out:
	dtx_buf_clear(&out);
	return rc;
}

static int explain_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct explain_args *a = args;
	struct dtx_runner r = {
		.cli = cli, .args = &a->run, .plan_path = argv[0], .command = "explain"
	};
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_out_where where = { .plan_path = argv[0] };
	enum dtx_code rc = dtx_runner_bind(&r, argc - 1, argv + 1, &err);
	const struct dtx_err *worst = dtx_errlist_worst(&r.findings);
	int status = 0;

	where.plan = r.plan ? r.plan->json : NULL;
	where.inputs = r.plan;
	dtx_out_errors(cli, &r.findings, &where);
	if (worst && worst->severity == DTX_SEV_ERROR)
		status = dtx_code_exit(worst->code, worst->run_time);
	else if (rc == DTX_OK && a->json)
		status = explain_json(&r);
	else if (rc == DTX_OK)
		rc = explain_text(&r, &status, &err);
	if (rc != DTX_OK && !status) {
		dtx_out_error(cli, &err, &where);
		status = dtx_code_exit(rc, err.run_time);
	}
	dtx_err_clear(&err);
	dtx_runner_clear(&r);
	return status;
}

const struct dtx_cmd dtx_cmd_explain = {
	.name = "explain",
	.usage = "PLAN [FILE | NAME=FILE]...",
	.summary = "Explain a plan: each step in words, kinds, schemas, what needs a snippet",
	.exits = "0 done; 3 the plan is invalid; 4 it does not fit the input",
	.opts = explain_opts,
	.nopts = DTX_COUNT(explain_opts),
	.args_size = sizeof(struct explain_args),
	.min_args = 1,
	.max_args = -1,
	.run = explain_run,
};
