/* compile: translates a plan to a pandas module, an SQL statement or a graph. */
#include "cli/run/read_opts.h"
#include "cli/run/runner.h"

struct compile_args {
	struct dtx_run_args run; /* first, because the runner reads it */
	int to;
};

static const struct dtx_opt compile_opts[] = {
	{ .name = "to",
	  .kind = DTX_O_CHOICE,
	  .choices = "pandas,sql,dot",
	  .offset = offsetof(struct compile_args, to),
	  .help = "the language" },
	DTX_PARAM_OPTS(compile_args, run.),
};

static enum dtx_code compile_plan(struct dtx_runner *r, int to, struct dtx_buf *out,
                                  struct dtx_err *err)
{
	static enum dtx_code (*const compilers[])(
		const struct dtx_plan *, struct dtx_buf *,
		struct dtx_err *) = { dtx_compile_pandas, dtx_compile_sql, dtx_compile_dot };
	enum dtx_code rc = DTX_OK;
	const struct dtx_err *worst;

	DTX_TRY(dtx_runner_plan(r, err));
	worst = dtx_errlist_worst(&r->findings);
	/* A graph can show a step that dtx does not know; other languages report that they
	 * cannot express it. */
	if (worst && worst->severity == DTX_SEV_ERROR) {
		dtx_err_copy(err, worst);
		return worst->code;
	}
	DTX_TRY(compilers[to](r->plan, out, err));
out:
	return rc;
}

static int compile_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct compile_args *a = args;
	struct dtx_runner r = {
		.cli = cli, .args = &a->run, .plan_path = argv[0], .command = "compile"
	};
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_out_where where = { .plan_path = argv[0] };
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	int status;

	(void)argc;
	if (compile_plan(&r, a->to, &out, &err) == DTX_OK) {
		status = dtx_out_print(cli, &out);
	} else {
		where.plan = r.plan ? r.plan->json : NULL;
		dtx_out_error(cli, &err, &where);
		status = dtx_code_exit(err.code, err.run_time);
	}
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	dtx_runner_clear(&r);
	return status;
}

const struct dtx_cmd dtx_cmd_compile = {
	.name = "compile",
	.usage = "PLAN",
	.summary = "Print a plan as a pandas module, an SQLite statement or a graph",
	.exits = "0 done; 3 the plan is invalid, or a step has no translation",
	.opts = compile_opts,
	.nopts = DTX_COUNT(compile_opts),
	.args_size = sizeof(struct compile_args),
	.min_args = 1,
	.max_args = 1,
	.run = compile_run,
};
