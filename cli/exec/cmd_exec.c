/* exec: runs a Python program in the jail. */
#include <string.h>
#include <unistd.h>

#include "cli/signal_flag.h"
#include "cli/exec/exec_run.h"
#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/io/write/reserve.h"

#define CODE_MAX ((size_t)8 << 20)

#define AT(member) .offset = offsetof(struct dtx_exec_args, member)
static const struct dtx_opt exec_opts[] = {
	{ .name = "code",
	  .key = 'c',
	  .kind = DTX_O_TEXT,
	  .metavar = "CODE",
	  AT(code),
	  .help = "the program itself, in place of FILE" },
	{ .name = "table",
	  .kind = DTX_O_LIST,
	  .metavar = "NAME=FILE",
	  AT(table),
	  .help = "a file that dtx reads; the program finds a DataFrame in tables[NAME]" },
	{ .name = "file",
	  .kind = DTX_O_LIST,
	  .metavar = "NAME=PATH",
	  AT(file),
	  .help = "a file that the program may open for reading as /in/NAME" },
	{ .name = "out",
	  .key = 'o',
	  .kind = DTX_O_TEXT,
	  .metavar = "DIR",
	  AT(out),
	  .help = "where the files go that the program wrote to /out" },
	{ .name = "json",
	  .kind = DTX_O_FLAG,
	  AT(json),
	  .help = "print one JSON object: status, exception, output, files, times, the jail" },
	{ .name = "session",
	  .group = "sessions",
	  .kind = DTX_O_TEXT,
	  .metavar = "NAME",
	  AT(session),
	  .help = "run in a jail that stays, with the variables and files of the calls before; the "
	          "first call begins it" },
	{ .name = "no-wait",
	  .group = "sessions",
	  .kind = DTX_O_FLAG,
	  AT(no_wait),
	  .help = "with --session: fail if another call runs in it, and do not wait" },
	{ .name = "run-id",
	  .group = "the record",
	  .kind = DTX_O_TEXT,
	  .metavar = "ID",
	  AT(run_id),
	  .help = "id of the run, a UUID of version 7 that no run has (default: a new one)" },
	{ .name = "no-warm",
	  .kind = DTX_O_FLAG,
	  AT(no_warm),
	  .help = "start a new Python instead of using one that waits" },
	{ .name = "require-layers",
	  .kind = DTX_O_TEXT,
	  .metavar = "LIST",
	  AT(require_layers),
	  .help = "refuse a machine whose jail has less, e.g. userns,landlock4" },
	DTX_JAIL_OPTS("the program", "all files in /out together"),
};

/* Gets the code from FILE or -c, and finds where the program's own arguments begin. */
static enum dtx_code exec_code(struct dtx_execution *x, int argc, char **argv, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int used = x->args->code ? 0 : 1;

	dtx_buf_init(&x->code, CODE_MAX);
	if (argc < used) {
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "'dtx exec' needs a FILE or -c CODE");
		dtx_err_hint(err, "dtx exec FILE, or dtx exec -c 'print(1)'");
		goto out;
	}
	if (x->args->code)
		dtx_buf_add(&x->code, x->args->code);
	else {
		DTX_TRY(dtx_reserve(argv[0], "the program", err));
		DTX_TRY(dtx_file_slurp(argv[0], &x->code, err));
	}
	DTX_TRY(dtx_buf_check(&x->code, "program", err));
	x->argc = argc - used;
	x->argv = argv + used;
out:
	return rc;
}

/* Prints the value of the last expression, as an interactive Python does. */
static enum dtx_code exec_value(const struct dtx_execution *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_json_limits limits = { (size_t)1 << 20, 8 };
	const char *json = x->report.value_json, *text;
	json_t *value = NULL;

	if (json)
		DTX_TRY(dtx_json_parse(dtx_str_of(json), limits, &value, err));
	text = dtx_json_text(value, "text", NULL);
	if (text) {
		DTX_TRY(dtx_out_bytes(STDOUT_FILENO, text, strlen(text), err));
		DTX_TRY(dtx_out_bytes(STDOUT_FILENO, "\n", 1, err));
	}
out:
	json_decref(value);
	return rc;
}

/* Prints what the program wrote. */
static enum dtx_code exec_streams(const struct dtx_execution *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_jail_stream *out = &x->report.out, *error = &x->report.err;

	DTX_TRY(dtx_out_bytes(STDOUT_FILENO, out->bytes, out->kept, err));
	DTX_TRY(dtx_out_bytes(STDERR_FILENO, error->bytes, error->kept, err));
	if (x->args->session)
		DTX_TRY(exec_value(x, err));
	if (out->truncated || error->truncated)
		dtx_out_note(x->cli, "dtx: the middle of the output was left out\n");
	if (x->call == 1 && x->ran && !x->ended)
		dtx_out_note(x->cli, "dtx: session '%s' is new\n", x->session.state.name);
	else if (x->call == 1 && x->ended)
		dtx_out_note(x->cli, "dtx: session '%s' ended with its first call: %s\n",
		             x->session.state.name, x->ended);
	else if (x->ended)
		dtx_out_note(
			x->cli,
			"dtx: session '%s' ended with its call %u: %s; its variables and files "
			"are lost\n",
			x->session.state.name, x->call, x->ended);
out:
	return rc;
}

static int exec_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	const struct dtx_cancel halt = { dtx_cancel_flag(), 0 };
	const struct dtx_cancel *before = dtx_cancel_set(&halt);
	struct dtx_execution *x = dtx_mem_zalloc(1, sizeof(*x));
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK, shown;
	json_t *result;
	int status = 0;

	if (!x)
		DTX_FAIL_MEM(&err);
	dtx_cancel_catch();
	x->cli = cli;
	x->args = args;
	if (x->args->no_wait && !x->args->session)
		DTX_FAIL(&err, DTX_E_USAGE, "option '--no-wait' goes with --session");
	if (x->args->no_warm && x->args->session)
		DTX_FAIL(&err, DTX_E_USAGE,
		         "options '--no-warm' and '--session' do not go together: a session needs "
		         "the warm pool");
	DTX_TRY(exec_code(x, argc, argv, &err));
	rc = dtx_execution_run(x, &err);
	if (x->args->json) {
		result = dtx_execution_json(x, rc, &err);
		status = dtx_out_json(cli, result, 0);
		json_decref(result);
	} else {
		shown = exec_streams(x, rc == DTX_OK ? &err : NULL);
		rc = rc == DTX_OK ? shown : rc;
	}
out:
	if (rc != DTX_OK) {
		status = dtx_code_exit(rc, true);
		if (!x || !x->args->json)
			status = dtx_out_fail(cli, &err);
	}
	if (x)
		dtx_execution_clear(x);
	dtx_mem_free(x);
	dtx_err_clear(&err);
	dtx_cancel_set(before);
	return status;
}

const struct dtx_cmd dtx_cmd_exec = {
	.name = "exec",
	.usage = "[FILE] [ARG]...",
	.summary = "Run a Python program in the jail: pandas, no network, no files but those given",
	.notes =
		"The program finds tables, a dict of DataFrames; its arguments in sys.argv; the "
		"files of --file in /in, read only. What it writes below /out comes back with "
		"--out: regular files, at most 1,000. Its current folder is /out; a name that is "
		"not there is looked for in /in. Figures of matplotlib that are left open are "
		"saved as /out/figure-N.png. Its output is printed as it is. It may import "
		"Python's own modules, pandas, numpy and, where Debian installed them, scipy, "
		"matplotlib, seaborn, statsmodels, sklearn and openpyxl; `dtx doctor --jail` "
		"lists them. The jail, the limits and the record are those of a snippet; the clock "
		"does not move.\n"
		"  dtx exec -c 'print(tables[\"t\"].describe())' --table t=hours.csv\n"
		"  dtx exec plot.py --table t=book.xlsx --file notes.txt=notes.txt -o out\n"
		"  dtx exec --json -c 'open(\"a.txt\", \"w\").write(\"x\")'\n\n"
		"With --json the value of a last expression comes back, too: its text, and of a "
		"DataFrame columns, types and the first rows.\n\n"
		"With --session NAME the jail stays: variables, modules and the files of /in, /out "
		"and /tmp are there in the next call, also after an exception. The value of a last "
		"expression is printed; open figures are saved and closed, and only files that the "
		"call wrote come back. The clock is that of the first call, and random numbers go "
		"on. Memory and output limits are those of the first call; a call that goes past a "
		"limit ends the session, as does one that is interrupted. So do 30 minutes without "
		"a call (session_idle) and 24 hours (session_age); 8 may be open (session_max). "
		"Each call is a run in the record.\n"
		"  dtx exec --session s -c 'df = tables[\"t\"]' --table t=hours.csv\n"
		"  dtx exec --session s -c 'df.describe()'\n"
		"  dtx session list",
	.exits = "0 done; 4 input; 7 the program failed; 8 jail or limit; 9 output or store",
	.opts = exec_opts,
	.nopts = DTX_COUNT(exec_opts),
	.args_size = sizeof(struct dtx_exec_args),
	.max_args = -1,
	.run = exec_run,
};
