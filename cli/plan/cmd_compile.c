/* compile: translates a plan to a pandas program, a snippet, an SQL statement or a graph. */
#include "cli/plan/program.h"
#include "cli/run/read_opts.h"
#include "cli/run/runner.h"

#include "core/base/memory/mem.h"

struct compile_args {
	struct dtx_run_args run; /* first, because the runner reads it */
	int to;
};
enum { TO_PANDAS, TO_SQL, TO_DOT, TO_SNIPPET };

static const struct dtx_opt compile_opts[] = {
	{ .name = "to",
	  .kind = DTX_O_CHOICE,
	  .choices = "pandas,sql,dot,snippet",
	  .offset = offsetof(struct compile_args, to),
	  .help = "pandas: a program of one file that needs pandas alone; sql: a statement for "
	          "SQLite and DuckDB; dot: a graph; snippet: the steps as a snippet" },
	DTX_PARAM_OPTS(compile_args, run.),
};

/* A type that was guessed from a sample may be too narrow, which SQL would not notice: reads all of
 * the file. */
static enum dtx_code exact_types(struct dtx_runner *r, uint32_t i, struct dtx_err *err)
{
	struct dtx_exec_input *x = &r->result->input[i];
	struct dtx_arena *a = &r->result->arena;
	struct dtx_schema *s = x->schema ? dtx_schema_copy(a, x->schema) : NULL;
	struct dtx_reader *reader = NULL;
	const struct dtx_schema *seen;
	struct dtx_typeref *type;
	enum dtx_code rc = DTX_OK;
	bool *want, any = false;

	if (!x->schema)
		return DTX_OK;
	type = dtx_arena_zalloc(a, x->schema->nfields + 1u, sizeof(*type));
	want = dtx_arena_zalloc(a, x->schema->nfields + 1u, sizeof(*want));
	if (!s || !type || !want)
		DTX_FAIL_MEM(err);
	for (uint32_t k = 0; k < s->nfields; k++)
		any = (want[k] = s->field[k].guessed) || any;
	if (!any)
		goto out;
	DTX_TRY(dtx_reader_open(r->source[i], &r->plan->input[i].opts, &reader, err));
	DTX_TRY(reader->cls->schema(reader, &seen, err));
	if (reader->cls->infer && seen->nfields == s->nfields)
		DTX_TRY(reader->cls->infer(reader, want, type, 1, err));
	for (uint32_t k = 0; reader->cls->infer && k < s->nfields; k++)
		if (want[k])
			((struct dtx_field *)(uintptr_t)s->field)[k].type = type[k]; /* own copy */
	x->schema = s;
out:
	dtx_reader_close(reader);
	return rc;
}

static enum dtx_code compile_pandas(struct dtx_runner *r, int to, struct dtx_buf *out,
                                    struct dtx_err *err)
{
	struct dtx_buf steps = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_compile_pandas(r->plan, r->result, &steps, err));
	if (to == TO_PANDAS) {
		DTX_TRY(dtx_program_text(r->plan, r->result, dtx_buf_text(&steps), out, err));
	} else {
		dtx_buf_printf(out, "\"\"\"Made by dtx %s from plan %s\"\"\"\n", DTX_VERSION,
		               r->plan->id);
		dtx_buf_printf(out, "import pandas as pd\nimport numpy as np\nimport dx\n\n\n%s",
		               dtx_buf_text(&steps));
	}
out:
	dtx_buf_clear(&steps);
	return rc;
}

static enum dtx_code compile_plan(struct dtx_runner *r, int to, int argc, char **argv,
                                  struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_err *worst;

	if (argc)
		DTX_TRY(dtx_runner_bind(r, argc, argv, err));
	else
		DTX_TRY(dtx_runner_plan(r, err));
	worst = dtx_errlist_worst(&r->findings);
	/* A graph can show a step that dtx does not know; other languages report that they
	 * cannot express it. */
	if (worst && worst->severity == DTX_SEV_ERROR) {
		dtx_err_copy(err, worst);
		return worst->code;
	}
	for (uint32_t i = 0; to == TO_SQL && r->result && i < r->plan->ninputs; i++)
		DTX_TRY(exact_types(r, i, err));
	if (to == TO_DOT)
		DTX_TRY(dtx_compile_dot(r->plan, out, err));
	else if (to == TO_SQL)
		DTX_TRY(dtx_compile_sql(r->plan, r->result, out, err));
	else
		DTX_TRY(compile_pandas(r, to, out, err));
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

	if (compile_plan(&r, a->to, argc - 1, argv + 1, &out, &err) == DTX_OK) {
		status = dtx_out_print(cli, &out);
	} else {
		where.plan = r.plan ? r.plan->json : NULL;
		where.inputs = r.plan;
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
	.usage = "PLAN [FILE | NAME=FILE]...",
	.summary = "Print a plan as a pandas program, an SQL statement or a graph",
	.notes = "  dtx compile plan.json data.csv > report.py\n"
		 "  python3 report.py data.csv out.csv         where pandas is, and no dtx\n"
		 "  dtx compile --to sql plan.json data.csv    with the types of the file",
	.exits = "0 done; 3 the plan is invalid, or a step has no translation; 4 it does not fit "
		 "the input",
	.opts = compile_opts,
	.nopts = DTX_COUNT(compile_opts),
	.args_size = sizeof(struct compile_args),
	.min_args = 1,
	.max_args = -1,
	.run = compile_run,
};
