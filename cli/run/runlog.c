/* Writes the log of a run, see runlog.h. */
#include "cli/run/runlog.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/report/openlineage.h"
#include "cli/run/runner.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/io/write/reserve.h"

/* --- lines --- */

/* Writes one line: time, event and run, then the members of `more`, which it takes. */
static void put(struct dtx_runner *r, const char *event, json_t *more)
{
	struct dtx_runlog *log = &r->log;
	struct dtx_buf line = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	char time[DTX_TIME_ISO];
	json_t *o;

	dtx_time_iso(dtx_wall_us(), time);
	o = json_pack("{ss ss ss}", "time", time, "event", event, "run", r->run_id);
	if (o && log->open && log->failed.code == DTX_OK) {
		json_object_update(o, more);
		dtx_json_print(o, 0, &line);
		dtx_buf_addc(&line, '\n');
		/* the run goes on; dtx_runlog_end reports it */
		(void)!dtx_file_write(log->fd, dtx_buf_text(&line), dtx_buf_len(&line),
		                      r->args->log_json, &log->failed);
	}
	json_decref(o);
	json_decref(more);
	dtx_buf_clear(&line);
}

static double seconds_since(int64_t ns)
{
	return (double)((dtx_now_ns() - ns) / 1000000) / 1000;
}

static json_t *step_members(const struct dtx_runner *r, int32_t step)
{
	const struct dtx_plan_step *st = &r->plan->step[step];

	return json_pack("{si ss ss*}", "step", dtx_plan_step_number(r->plan, step), "op",
	                 dtx_plan_step_name(st), "out", st->out_name);
}

/* What a finding says. Its details stay out, because they may quote cells. */
static json_t *finding(const struct dtx_runner *r, const struct dtx_err *e)
{
	json_t *o = json_pack("{ss ss ss*}", "code", dtx_code_name(e->code), "message", e->msg,
	                      "hint", dtx_err_next(e));

	if (o && e->at[0])
		json_object_set_new(o, "at", json_string(e->at));
	if (o && e->input[0])
		json_object_set_new(o, "input", json_string(e->input));
	if (o && e->step >= 0 && r->plan && (uint32_t)e->step < r->plan->nsteps)
		json_object_set_new(o, "step",
		                    json_integer(dtx_plan_step_number(r->plan, e->step)));
	if (o && e->op[0])
		json_object_set_new(o, "op", json_string(e->op));
	return o;
}

/* --- the file --- */

static bool same_file(const struct stat *log, const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_dev == log->st_dev &&
	       st.st_ino == log->st_ino;
}

/* Whether lines of the log would go into the plan, an input, or the data on stdout. */
static bool is_of_run(const struct dtx_runner *r, int argc, char **argv)
{
	struct stat log, out;

	if (fstat(r->log.fd, &log) < 0)
		return true;
	if (fstat(STDOUT_FILENO, &out) == 0 && !S_ISCHR(out.st_mode) && out.st_dev == log.st_dev &&
	    out.st_ino == log.st_ino)
		return true;
	if (same_file(&log, r->plan_path))
		return true;
	for (int i = 0; i < argc; i++) {
		const char *named = strchr(argv[i], '=');

		if (same_file(&log, argv[i]) || (named && same_file(&log, named + 1)))
			return true;
	}
	for (uint32_t i = 0; r->plan && i < r->plan->ninputs; i++)
		if (same_file(&log, r->plan->input[i].path))
			return true;
	return false;
}

/* Opens the file to add to its end. A descriptor that is open already is shared: opened again it
 * would write over what else goes there. */
static enum dtx_code open_at_end(const char *path, int *fd, struct dtx_err *err)
{
	static const char *const own[] = { "-", "/dev/stdout", "/dev/stderr" };

	for (int i = 0; i < (int)DTX_COUNT(own); i++)
		if (strcmp(path, own[i]) == 0)
			*fd = fcntl(i == 2 ? STDERR_FILENO : STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return *fd < 0 ? dtx_file_append(path, fd, err) : DTX_OK;
}

enum dtx_code dtx_runlog_open(struct dtx_runner *r, int argc, char **argv, struct dtx_err *err)
{
	const char *path = r->args->log_json;
	enum dtx_code rc = DTX_OK;

	if (!path)
		return DTX_OK;
	r->log.start_ns = dtx_now_ns();
	r->log.failed = (struct dtx_err)DTX_ERR_INIT;
	r->log.fd = -1;
	rc = open_at_end(path, &r->log.fd, err);
	if (rc != DTX_OK) {
		dtx_err_hint(err, "name another file with --log-json; nothing was run");
		return rc;
	}
	if (dtx_str_in_list("-,/dev/stdout", path) || is_of_run(r, argc, argv)) {
		close(r->log.fd);
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "--log-json '%s': the log goes to a file of its own", path);
		dtx_err_hint(err, "stdout and the files of the run are for data; --log-json "
		                  "/dev/stderr writes it among the messages");
		return rc;
	}
	r->log.open = true;
	return rc;
}

static void start(struct dtx_runner *r)
{
	r->log.started = true;
	put(r, "run_started",
	    json_pack("{ss ss ss* si}", "command", r->command, "version", DTX_VERSION, "plan",
	              r->plan_path, "log", 1));
}

enum dtx_code dtx_runlog_start(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!r->log.open)
		return DTX_OK;
	rc = dtx_reserve_output(r->args->log_json, "the log", "the log of this run", err);
	if (rc != DTX_OK) { /* no line is to go there */
		close(r->log.fd);
		r->log.open = false;
		return rc;
	}
	start(r);
	return rc;
}

/* --- events --- */

void dtx_runlog_moved(void *arg, int step, bool ended, int64_t rows)
{
	struct dtx_runner *r = arg;
	json_t *o = step_members(r, step);

	if (!ended)
		r->log.step_ns = dtx_now_ns();
	if (o && ended) {
		json_object_set_new(o, "rows_in", json_integer(rows));
		json_object_set_new(o, "seconds", json_real(seconds_since(r->log.step_ns)));
	}
	put(r, ended ? "step_ended" : "step_started", o);
}

void dtx_runlog_fallback(struct dtx_runner *r, const struct dtx_err *why)
{
	put(r, "fallback", finding(r, why));
}

static void put_steps(struct dtx_runner *r)
{
	const struct dtx_exec_result *x = r->result;

	for (uint32_t i = 0; x->phase == DTX_PHASE_RUN && i < x->nsteps && i < r->plan->nsteps;
	     i++) {
		json_t *o = step_members(r, (int32_t)i);

		if (!o)
			return;
		json_object_set_new(o, "rows_in", json_integer(x->step[i].rows_in));
		json_object_set_new(o, "rows_out", json_integer(x->step[i].rows_out));
		json_object_set_new(o, "work_seconds",
		                    json_real((double)(x->step[i].ns / 1000000) / 1000));
		put(r, "step", o);
	}
}

static void put_outputs(struct dtx_runner *r)
{
	for (uint32_t i = 0; i < r->result->noutputs; i++) {
		const struct dtx_exec_output *x = &r->result->output[i];

		put(r, "output_written",
		    json_pack("{ss* sI si}", "path", r->plan->output[i].path, "rows",
		              (json_int_t)x->rows, "columns",
		              x->schema ? (int)x->schema->nfields : 0));
	}
}

void dtx_runlog_end(struct dtx_runner *r, enum dtx_code rc, const struct dtx_err *err, int status)
{
	const struct dtx_err *worst = dtx_errlist_worst(&r->findings);
	struct dtx_err *failed = &r->log.failed;

	if (!r->log.open)
		return;
	if (!r->log.started && is_of_run(r, 0, NULL))
		goto out;
	if (!r->log.started)
		start(r);
	if (r->result)
		put_steps(r);
	for (size_t i = 0; r->result && i < r->result->warnings.n; i++)
		put(r, "warning", finding(r, &r->result->warnings.item[i]));
	if (rc == DTX_OK && r->result)
		put_outputs(r);
	/* an invalid plan has several findings, as on stderr */
	for (size_t i = 0; rc != DTX_OK && worst && worst->code == rc && i < r->findings.n; i++)
		put(r, "error", finding(r, &r->findings.item[i]));
	if (rc != DTX_OK && !(worst && worst->code == rc))
		put(r, "error", finding(r, err));
	put(r, "run_ended",
	    json_pack("{ss si sf}", "status",
	              rc == DTX_OK            ? "ok"
	              : rc == DTX_E_CANCELLED ? "cancelled"
	                                      : "failed",
	              "exit", status, "seconds", seconds_since(r->log.start_ns)));
	if (failed->code != DTX_OK) {
		dtx_err_hint(failed, "the log is incomplete; the run itself is not affected");
		failed->severity = DTX_SEV_WARNING;
		dtx_out_error(r->cli, failed, NULL);
	}
out:
	close(r->log.fd);
	r->log.open = false;
	dtx_err_clear(failed);
}
