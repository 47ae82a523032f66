/* explain: prints the physical plan; with --analyze, runs it and prints what each step did. */
#include "cli/run/read_opts.h"
#include "cli/run/runner.h"

#include "core/base/memory/malloc_tuning.h"
#include "core/base/memory/mem.h"
#include "core/data/time/time.h"

struct explain_args {
	struct dtx_run_args run; /* first, because the runner reads it */
	bool json, analyze;
};

static const struct dtx_opt explain_opts[] = {
	{ .name = "json",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct explain_args, json),
	  .help = "as JSON (`dtx schema --explain`)" },
	{ .name = "analyze",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct explain_args, analyze),
	  .help = "run the plan, typed steps alone, and add rows, time and memory; no output is "
	          "written, no record kept" },
	DTX_PARAM_OPTS(explain_args, run.),
	{ .name = "sheet",
	  .kind = DTX_O_TEXT,
	  .metavar = "NAME|N",
	  .offset = offsetof(struct explain_args, run.sheet),
	  .help = "sheet of the first input" },
	{ .name = "limit",
	  .kind = DTX_O_LIST,
	  .metavar = "archive.NAME=N",
	  .offset = offsetof(struct explain_args, run.limit),
	  .help = "change a limit on what workbooks and gzip files may unpack to, see dtx run" },
	{ .name = "threads",
	  .kind = DTX_O_INT,
	  .metavar = "N",
	  .offset = offsetof(struct explain_args, run.threads),
	  .min = 1,
	  .max = 256,
	  .help = "worker threads (default: all cores)" },
	{ .name = "memory",
	  .kind = DTX_O_SIZE,
	  .metavar = "SIZE",
	  .offset = offsetof(struct explain_args, run.memory),
	  .min = 16 << 20,
	  .max = INT64_MAX,
	  .help = "memory budget, e.g. 512M" },
	{ .name = "engine",
	  .kind = DTX_O_TEXT,
	  .metavar = "ADDRESS",
	  .offset = offsetof(struct explain_args, run.engine),
	  .help = "say which steps a run with this engine does in fragments, see "
	          "dtx-cluster(7); nothing is started" },
};

/* --- running it --- */

/* Opens an output that discards its bytes. */
static enum dtx_code explain_nowhere(void *arg, uint32_t i, struct dtx_outfile **out,
                                     struct dtx_err *err)
{
	(void)arg, (void)i;
	return dtx_outfile_open("/dev/null", "explain", DTX_OUTFILE_STREAM, out, err);
}

/* Runs the plan. Unlike a check of the plan, this needs every input. */
static enum dtx_code explain_analyze(struct dtx_runner *r, int argc, char **argv,
                                     struct dtx_err *err)
{
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	const struct dtx_err *worst;
	enum dtx_code rc = DTX_OK;

	dtx_malloc_tuning_one((size_t)r->args->memory);
	DTX_TRY(dtx_runner_plan(r, err));
	dtx_runner_memory(r);
	DTX_TRY(dtx_runner_inputs(r, argc, argv, err));
	worst = dtx_errlist_worst(&r->findings);
	if (worst && worst->severity == DTX_SEV_ERROR)
		goto out;
	if (worst) {
		dtx_err_set(err, DTX_E_NEEDS_SNIPPET, __FILE__, __LINE__,
		            "--analyze runs typed steps alone");
		dtx_err_hint(err, "explain the plan without it, or run it");
		return DTX_E_NEEDS_SNIPPET;
	}
	DTX_TRY(dtx_runner_spread(r, err));
	DTX_TRY(dtx_runner_open(r, true, err));
	opts.input = r->source;
	opts.workers = (unsigned)r->args->threads;
	opts.explain = true;
	opts.run_date = (int32_t)(dtx_wall_us() / DTX_DAY_US);
	opts.to.open = explain_nowhere;
	rc = dtx_exec(r->plan, &opts, NULL, &r->findings, &r->result, err);
	if (rc != DTX_OK && dtx_code_triggers(rc, err->run_time))
		dtx_err_hint(err, "--analyze asks for no snippet: explain the plan without it, or "
		                  "run it");
out:
	return rc;
}

static enum dtx_code explain_look(struct dtx_runner *r, int argc, char **argv, struct dtx_err *err)
{
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	const struct dtx_err *worst;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_runner_bind(r, argc, argv, err));
	dtx_runner_memory(r);
	worst = dtx_errlist_worst(&r->findings);
	opts.workers = (unsigned)r->args->threads;
	if (!r->result && !(worst && worst->severity == DTX_SEV_ERROR))
		DTX_TRY(dtx_exec_static(r->plan, &opts, &r->result, err));
out:
	return rc;
}

/* --- printing --- */

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
	const struct dtx_err *worst;
	enum dtx_code rc;
	int status = 0;

	if (a->run.memory)
		dtx_mem_set_limit((size_t)a->run.memory);
	if (a->analyze && a->run.engine)
		rc = dtx_err_set(&err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "--analyze runs in this process, without --engine");
	else
		rc = a->analyze ? explain_analyze(&r, argc - 1, argv + 1, &err)
		                : explain_look(&r, argc - 1, argv + 1, &err);
	worst = dtx_errlist_worst(&r.findings);
	where.plan = r.plan ? r.plan->json : NULL;
	where.inputs = r.plan;
	dtx_out_errors(cli, &r.findings, &where);
	if (r.result)
		dtx_out_errors(cli, &r.result->warnings, &where);
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
	.summary = "Explain a plan: the work of readers, steps, pipelines, what may need a snippet",
	.notes = "  dtx explain plan.json\n"
		 "  dtx explain plan.json report.xlsx\n"
		 "  dtx explain plan.json big.csv --analyze --threads 2\n"
		 "  dtx explain plan.json data.csv --json | jq .pipelines",
	.exits = "0 done; 3 the plan is invalid; 4 it does not fit the input; with --analyze "
		 "as run",
	.opts = explain_opts,
	.nopts = DTX_COUNT(explain_opts),
	.args_size = sizeof(struct explain_args),
	.min_args = 1,
	.max_args = -1,
	.run = explain_run,
};
