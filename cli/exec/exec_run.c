/* Runs one program in the jail, see exec_run.h. */
#include "cli/exec/exec_run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/signal_flag.h"
#include "cli/exec/jail_limits.h"
#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/base/thread/pool.h"
#include "core/fallback/prompt/redact.h"
#include "sandbox/main/jail.h"

#define PATH_SIZE   8192
#define OUTPUT_KEEP ((size_t)64 << 20)

/* --- start --- */

static enum dtx_code start_record(struct dtx_execution *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_run_info info = { .run_id = x->run_id, .command = "exec" };
	char hash[DTX_SHA256_HEX];

	info.id_given = x->args->run_id != NULL;
	info.argc = x->cli->argc;
	info.argv = x->cli->argv;
	info.start_us = x->start_us;
	info.replay_of = x->replay_of;
	info.with_next = true;
	DTX_TRY(dtx_store_open(x->cli->store, DTX_STORE_WRITE, &x->store, err));
	DTX_TRY(dtx_record_start(x->store, &info, &x->record, err));
	DTX_TRY(dtx_record_blob(x->record, "code", dtx_buf_str(&x->code), hash, err));
	DTX_TRY(dtx_record_event_soon(
		x->record, "exec.start",
		json_pack("{ss sI sI so*}", "code", hash, "now_us", (json_int_t)x->spec.now_us,
	                  "argc", (json_int_t)x->argc, "session",
	                  x->args->session ? dtx_execution_session_record(x) : NULL),
		err));
out:
	return rc;
}

/* The packages that the program may import. What modules among its files import is not known. */
static unsigned wanted(struct dtx_execution *x)
{
	unsigned wants = dtx_jail_wants_science(dtx_buf_str(&x->code));
	size_t i;

	for (i = 0; i < x->args->file.n; i++) {
		const char *given = x->args->file.item[i]; /* NAME=PATH */

		if (dtx_str_ends((struct dtx_str){ given, strcspn(given, "=") }, DTX_STR(".py")))
			wants |= DTX_JAIL_AT_HAND;
	}
	/* A later call of a session may import what this one does not. */
	if (x->args->session && dtx_jail_has_science())
		wants |= DTX_JAIL_AT_HAND;
	return wants;
}

static enum dtx_code open_box(struct dtx_execution *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (x->args->session)
		DTX_TRY(dtx_execution_session_open(x, err));
	else
		DTX_TRY(dtx_provider_local.open(&x->spec, &x->box, err));
out:
	return rc;
}

static enum dtx_code make_spec(struct dtx_execution *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_exec_args *a = x->args;

	x->spec = (struct dtx_jail_spec){
		.cancelled = dtx_cancel_asked,
		.mode = DTX_JAIL_EXEC,
		.now_us = x->now_us ? x->now_us : x->start_us,
		.no_warm = a->no_warm,
		.science = wanted(x),
		.require_layers = a->require_layers,
		.keep_output = a->json ? 0 : OUTPUT_KEEP,
	};
	DTX_TRY(dtx_jail_limits_open(&a->jail, &x->spec.limits, x->cli, err));
out:
	return rc;
}

/* Makes the parameters: sys.argv[1:], and the number of the call in its session. */
static char *params_of(const struct dtx_execution *x)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	int i;

	dtx_buf_add(&text, "{\"argv\":[");
	for (i = 0; i < x->argc; i++) {
		if (i)
			dtx_buf_addc(&text, ',');
		dtx_buf_json(&text, dtx_str_of(x->argv[i]));
	}
	dtx_buf_addc(&text, ']');
	if (x->args->session)
		dtx_buf_printf(&text, ",\"call\":%u", x->call);
	dtx_buf_addc(&text, '}');
	return dtx_buf_steal(&text);
}

/* --- the files that it leaves --- */

/* Makes the path of a file and the folders on the way. A symbolic link below `dir` is not
 * followed. */
static enum dtx_code make_folders(const char *dir, const char *name, char path[PATH_SIZE],
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t base = strlen(dir), i;
	struct stat st;

	if (snprintf(path, PATH_SIZE, "%s/%s", dir, name) >= PATH_SIZE)
		DTX_FAIL(err, DTX_E_OUTPUT_IO, "path of '%s' is too long", name);
	for (i = 1; path[i]; i++) {
		if (path[i] != '/')
			continue;
		path[i] = 0;
		if (mkdir(path, 0777) && errno != EEXIST)
			DTX_FAIL(err, dtx_file_write_code(errno), "cannot make folder '%s': %s",
			         path, strerror(errno));
		if (i > base && (lstat(path, &st) || !S_ISDIR(st.st_mode)))
			DTX_FAIL(err, DTX_E_OUTPUT_IO, "'%s' is not a folder", path);
		path[i] = '/';
	}
	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		DTX_FAIL(err, DTX_E_OUTPUT_IO, "'%s' is there and no regular file", path);
out:
	return rc;
}

static enum dtx_code write_file(struct dtx_execution *x, const struct dtx_jail_file *f,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_outfile **o = &x->output[x->noutputs];
	char path[PATH_SIZE];

	DTX_TRY(make_folders(x->args->out, f->name, path, err));
	DTX_TRY(dtx_outfile_open(path, x->run_id, DTX_OUTFILE_SPOOL, o, err));
	x->noutputs++;
	DTX_TRY(dtx_outfile_write(*o, f->bytes.ptr, f->bytes.len, err));
	DTX_TRY(dtx_outfile_finish(*o, err));
out:
	return rc;
}

static json_t *outputs_json(const struct dtx_execution *x)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < x->noutputs; i++) {
		const struct dtx_outfile_info *f = dtx_outfile_info(x->output[i]);

		json_array_append_new(rows, json_pack("{ss ss? sb ss sI}", "path", f->path, "temp",
		                                      f->temp, "atomic", f->atomic, "sha", f->sha,
		                                      "bytes", (json_int_t)f->size));
	}
	return rows;
}

/* Writes the files. They are recorded before the first of them is visible. */
static enum dtx_code keep_files(struct dtx_execution *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_jail_file *f;
	size_t n, i;

	f = dtx_provider_local.files(x->box, &n);
	if (n && !x->args->out)
		dtx_out_note(x->cli, "dtx: without --out DIR nothing in /out is kept: %zu files\n",
		             n);
	if (!n || !x->args->out)
		goto out;
	for (i = 0; i < n; i++)
		DTX_TRY(write_file(x, &f[i], err));
	DTX_TRY(dtx_record_output(x->record, outputs_json(x), err));
	for (i = 0; i < n; i++)
		DTX_TRY(dtx_outfile_commit(x->output[i], err));
out:
	return rc;
}

/* --- the record --- */

static json_t *report_value(const struct dtx_execution *x)
{
	const struct dtx_json_limits limits = { (size_t)512 << 20, 32 };
	struct dtx_buf text = DTX_BUF_INIT((size_t)512 << 20);
	json_t *value = NULL;

	dtx_jail_report_json(&x->report, &text);
	if (dtx_json_parse(dtx_buf_str(&text), limits, &value, NULL) != DTX_OK)
		value = NULL;
	dtx_buf_clear(&text);
	return value;
}

/* Adds the hash of what was printed, unless only a part of it was kept. */
static void add_sha(json_t *to, const char *key, struct dtx_str text, bool cut)
{
	char sha[DTX_SHA256_HEX];

	dtx_sha256_hex(text.ptr ? text.ptr : "", text.len, sha);
	if (!cut)
		json_object_set_new(to, key, json_string(sha));
}

json_t *dtx_execution_result(const struct dtx_execution *x)
{
	const struct dtx_jail_report *r = &x->report;
	json_t *out = json_pack("{ss s[]}", "status", dtx_jail_status_name(r->status), "files");
	const struct dtx_jail_file *f;
	char sha[DTX_SHA256_HEX];
	size_t n, i;

	if (!out)
		return NULL;
	add_sha(out, "stdout", (struct dtx_str){ r->out.bytes, r->out.kept }, r->out.truncated);
	add_sha(out, "stderr", (struct dtx_str){ r->err.bytes, r->err.kept }, r->err.truncated);
	add_sha(out, "value", dtx_str_of(r->value_json ? r->value_json : ""), false);
	f = dtx_provider_local.files(x->box, &n);
	for (i = 0; i < n; i++) {
		dtx_sha256_hex(f[i].bytes.ptr, f[i].bytes.len, sha);
		json_array_append_new(json_object_get(out, "files"),
		                      json_pack("{ss ss}", "name", f[i].name, "sha", sha));
	}
	return out;
}

static enum dtx_code record_report(struct dtx_execution *x, struct dtx_err *err)
{
	json_t *report = report_value(x);

	if (report && !dtx_redact_report(report, &x->report, dtx_buf_str(&x->code), NULL)) {
		json_decref(report);
		report = NULL;
	}
	return dtx_record_event_next(x->record, "jail.end",
	                             report ? json_pack("{si so so}", "idx", 0, "report", report,
	                                                "result", dtx_execution_result(x))
	                                    : NULL,
	                             err);
}

/* Ends the record. A failure of that must not hide why the run failed. */
static enum dtx_code end_record(struct dtx_execution *x, enum dtx_code rc, struct dtx_err *err)
{
	struct dtx_err mine = DTX_ERR_INIT;
	enum dtx_code ended;

	if (!x->record)
		return rc;
	ended = dtx_record_end(x->record,
	                       rc == DTX_OK            ? "ok"
	                       : rc == DTX_E_CANCELLED ? "cancelled"
	                                               : "failed",
	                       rc == DTX_OK ? NULL : dtx_code_name(rc),
	                       rc == DTX_OK ? 0 : dtx_code_exit(rc, true),
	                       json_pack("{sI}", "peak_bytes", (json_int_t)dtx_mem_peak()), &mine);
	if (rc == DTX_OK && ended != DTX_OK) {
		dtx_err_move(err, &mine);
		rc = ended;
	}
	dtx_err_clear(&mine);
	return rc;
}

/* --- the whole run --- */

static enum dtx_code save_start(void *arg, struct dtx_err *err)
{
	const struct dtx_execution *x = arg;

	return dtx_record_sync(x->record, err);
}

/* The disk is waited for while the program runs. Nothing leaves the jail before the disk says that
 * the run has begun: what the program printed and left is dropped if that fails. */
static enum dtx_code run_program(struct dtx_execution *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK, saved, recorded, kept;
	struct dtx_err second = DTX_ERR_INIT;
	struct dtx_task *save = NULL;
	char *params = params_of(x);

	if (!params)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_task_start(save_start, x, &save, err));
	if (!save)
		DTX_TRY(save_start(x, err));
	x->ran = true;
	rc = dtx_provider_local.exec(x->box, dtx_buf_str(&x->code), params, &x->report, err);
	saved = dtx_task_join(save, &second);
	if (saved != DTX_OK) {
		dtx_jail_report_clear(&x->report);
		dtx_err_clear(err);
		x->unsaved = true;
		rc = DTX_OK;
	}
	recorded = saved == DTX_OK ? record_report(x, &second) : saved;
	kept = recorded == DTX_OK ? keep_files(x, &second) : recorded;
	if (rc == DTX_OK && kept != DTX_OK) {
		rc = kept;
		dtx_err_move(err, &second);
	}
out:
	dtx_err_clear(&second);
	dtx_mem_free(params);
	return rc;
}

enum dtx_code dtx_execution_run(struct dtx_execution *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	x->start_us = dtx_wall_us();
	dtx_jail_report_init(&x->report);
	DTX_TRY(dtx_run_id_take(x->args->run_id, x->run_id, err));
	DTX_TRY(make_spec(x, err));
	DTX_TRY(open_box(x, err));
	DTX_TRY(start_record(x, err));
	DTX_TRY(dtx_execution_inputs(x, err));
	DTX_TRY(run_program(x, err));
out:
	rc = end_record(x, rc, err);
	if (x->args->session)
		dtx_execution_session_close(x);
	return rc;
}

static json_t *files_json(const struct dtx_execution *x)
{
	json_t *rows = json_array();
	const struct dtx_jail_file *f = NULL;
	size_t n = 0, i;

	if (x->box && !x->unsaved)
		f = dtx_provider_local.files(x->box, &n);
	for (i = 0; i < n; i++) {
		char sha[DTX_SHA256_HEX];
		const char *path = i < x->noutputs ? dtx_outfile_info(x->output[i])->path : NULL;

		dtx_sha256_hex(f[i].bytes.ptr, f[i].bytes.len, sha);
		json_array_append_new(rows, json_pack("{ss sI ss ss?}", "name", f[i].name, "bytes",
		                                      (json_int_t)f[i].bytes.len, "sha", sha,
		                                      "path", path));
	}
	return rows;
}

json_t *dtx_execution_json(const struct dtx_execution *x, enum dtx_code rc,
                           const struct dtx_err *err)
{
	json_t *out = json_pack("{ss sb so so*}", "run_id", x->run_id, "ok", rc == DTX_OK, "files",
	                        files_json(x), "report", report_value(x));

	if (out && rc != DTX_OK)
		json_object_set_new(out, "error", dtx_out_error_json(err));
	if (out && x->args->session && x->session.state.name[0])
		json_object_set_new(out, "session", dtx_execution_session_json(x));
	return out;
}

void dtx_execution_clear(struct dtx_execution *x)
{
	size_t i;

	dtx_provider_local.close(x->box);
	dtx_jail_report_clear(&x->report);
	for (i = 0; i < x->nreaders; i++) {
		x->reader[i].record = NULL; /* it belongs to this execution */
		dtx_runner_clear(&x->reader[i]);
	}
	dtx_mem_free(x->reader);
	for (i = 0; i < x->nfiles; i++)
		dtx_buf_clear(&x->file[i]);
	for (i = 0; i < x->noutputs; i++)
		dtx_outfile_free(x->output[i]);
	dtx_record_free(x->record);
	dtx_store_free(x->store);
	dtx_buf_clear(&x->code);
}
