/* Makes the report of a run, see report.h. Everything that the worker wrote is checked here
 * before it is used. */
#include "sandbox/main/report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "core/base/text/json.h"
#include "core/base/memory/mem.h"
#include "sandbox/main/artifact.h"
#include "sandbox/policy/ns.h"
#include "sandbox/zygote/pyhost.h"
#include "sandbox/zygote/pypackages.h"
#include "sandbox/main/restore_source_cells.h"
#include "sandbox/worker/worker.h"

#define REPORT_MAX  ((size_t)256 << 10)
#define MESSAGE_MAX ((size_t)4096)
#define CUT         "it closed descriptor 3, the socket for its result"

static void set_status(struct dtx_jail_report *r, enum dtx_jail_status status, const char *fmt, ...)
	DTX_PRINTF(3, 4);
static void set_status(struct dtx_jail_report *r, enum dtx_jail_status status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->reason, sizeof(r->reason), fmt, ap);
	va_end(ap);
	r->status = status;
	r->code = dtx_jail_status_code(status);
}

void dtx_report_refused(struct dtx_jail_report *r, const struct dtx_err *err)
{
	struct dtx_str rest = dtx_str_of(err->msg), layer;

	if (err->code == DTX_E_CANCELLED) {
		set_status(r, DTX_JAIL_CANCELLED, "cancelled");
		return;
	}
	if (dtx_str_next(&rest, ':', &layer))
		dtx_str_copy(r->layer, sizeof(r->layer), layer);
	if (!strcmp(r->layer, "busy"))
		set_status(r, DTX_JAIL_BUSY, "the jail is %s", err->msg);
	else
		set_status(r, DTX_JAIL_SETUP_REFUSED, "the jail could not be set up: %s", err->msg);
}

/* --- what the worker says about its run --- */

static const char *keep_text(struct dtx_jail_report *r, const json_t *o, const char *key)
{
	const char *text = dtx_json_text(o, key, "");
	struct dtx_str cut = { text, DTX_MIN(strlen(text), MESSAGE_MAX) };
	char *to = dtx_arena_alloc(&r->arena, cut.len + 1, 1);

	if (!to)
		return "";
	dtx_str_copy(to, cut.len + 1, cut);
	return to;
}

/* Parses and prints the JSON again, so that the record contains our JSON and not the worker's. */
static const char *keep_json(struct dtx_jail_report *r, const json_t *o, const char *key)
{
	struct dtx_buf text = DTX_BUF_INIT(REPORT_MAX);
	const json_t *value = json_object_get(o, key);
	const char *kept = NULL;

	if (json_is_object(value)) {
		dtx_json_print(value, 0, &text);
		if (dtx_buf_ok(&text))
			kept = dtx_arena_strdup(&r->arena, dtx_buf_text(&text));
	}
	dtx_buf_clear(&text);
	return kept;
}

static int32_t line_of(const json_t *o)
{
	int64_t line = dtx_json_int(o, "line", 0);

	return line >= 0 && line <= INT32_MAX ? (int32_t)line : 0;
}

static void take_exception(struct dtx_jail_report *r, const json_t *e)
{
	const json_t *frames = json_object_get(e, "frames");
	size_t i;

	if (!json_is_object(e))
		return;
	r->exception.type = keep_text(r, e, "type");
	r->exception.message = keep_text(r, e, "message");
	r->exception.library = json_is_true(json_object_get(e, "library"));
	r->exception.line = line_of(e);
	for (i = 0; i < json_array_size(frames) && i < DTX_JAIL_FRAMES_MAX; i++) {
		const json_t *f = json_array_get(frames, i);
		struct dtx_jail_frame *to = &r->exception.frame[r->exception.nframes++];

		to->line = line_of(f);
		to->function = keep_text(r, f, "function");
		to->text = keep_text(r, f, "text");
	}
}

static void take_fault(struct dtx_jail_report *r, const json_t *tree)
{
	static const char *const names[] = {
#define X(symbol, name, text) name,
		DTX_JAIL_FAULTS(X)
#undef X
	};
	const char *fault = dtx_json_text(tree, "fault", "");
	int64_t column = dtx_json_int(tree, "column", 0);
	size_t i;

	for (i = 0; i < DTX_COUNT(names); i++)
		if (!strcmp(fault, names[i]))
			r->fault = (enum dtx_jail_fault)i;
	r->fault_column = column > 0 && column <= INT32_MAX ? (int32_t)column : 0;
}

static int64_t micros(const json_t *us, const char *key)
{
	return DTX_MAX(dtx_json_int(us, key, 0), (int64_t)0);
}

void dtx_report_parse(struct dtx_jail_report *r, struct dtx_str json, char *bad, size_t size)
{
	json_t *tree = NULL;
	const json_t *us;

	if (dtx_json_parse(json, (struct dtx_json_limits){ REPORT_MAX, 8 }, &tree, NULL) !=
	            DTX_OK ||
	    !json_is_object(tree))
		goto out;
	take_exception(r, json_object_get(tree, "exception"));
	r->check_json = keep_json(r, tree, "check");
	r->notes_json = keep_json(r, tree, "notes");
	r->value_json = keep_json(r, tree, "value");
	dtx_str_copy(bad, size, dtx_str_of(dtx_json_text(tree, "bad", "")));
	take_fault(r, tree);
	us = json_object_get(tree, "us");
	r->us.load = micros(us, "load");
	r->us.exec = micros(us, "exec");
	r->us.store = micros(us, "store");
out:
	json_decref(tree);
}

/* --- the result frame --- */

struct mapping {
	void *ptr;
	size_t len;
};

static void mapping_free(void *arg)
{
	struct mapping *m = arg;

	munmap(m->ptr, m->len);
	dtx_mem_free(m);
}

/* Gets the result as bytes that can no longer change: a copy, or the memory of a worker that is
 * dead. */
static enum dtx_code fix_result(struct dtx_box *b, struct mapping *m, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	m->len = (size_t)b->done.used;
	m->ptr = b->copy ? b->copy : MAP_FAILED;
	b->copy = NULL;
	if (m->ptr != MAP_FAILED)
		goto out;
	if (fcntl(b->result, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL))
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "result cannot be sealed: %s",
		         strerror(errno));
	m->ptr = m->len ? mmap(NULL, m->len, PROT_READ, MAP_PRIVATE, b->result, 0) : MAP_FAILED;
	if (m->ptr == MAP_FAILED)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "result of %zu bytes cannot be mapped",
		         m->len);
out:
	return rc;
}

static enum dtx_code map_result(struct dtx_box *b, struct dtx_owner **owner, void **ptr,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct mapping *m = dtx_mem_zalloc(1, sizeof(*m));

	if (!m)
		DTX_FAIL_MEM(err);
	m->ptr = MAP_FAILED;
	DTX_TRY(fix_result(b, m, err));
	*ptr = m->ptr;
	*owner = dtx_owner_new(mapping_free, m);
	if (!*owner)
		DTX_FAIL_MEM(err);
	m = NULL;
out:
	if (m && m->ptr != MAP_FAILED)
		munmap(m->ptr, m->len);
	dtx_mem_free(m);
	return rc;
}

/* If the result says from which rows of the input its rows come, gives the cells their source
 * bytes back. */
static enum dtx_code restore_cells(struct dtx_box *b, const struct dtx_frame_view *view,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_frame_entry *e = dtx_frame_find(view, DTX_FRAME_ROWS);
	const uint64_t *rows = NULL;
	int64_t i;

	if (b->main)
		DTX_TRY(dtx_restore_utc(&b->table, b->main->schema, err));
	if (!b->main || (!e && b->table->nrows))
		goto out;
	if (e)
		rows = (const uint64_t *)(const void *)(view->ptr + e->a_off);
	if (e && e->a_len != (uint64_t)b->table->nrows * 8)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "%llu bytes of row numbers for %lld rows",
		         (unsigned long long)e->a_len, (long long)b->table->nrows);
	for (i = 0; i < b->table->nrows; i++)
		if (rows[i] >= (uint64_t)b->main->nrows)
			DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT,
			         "row %lld comes from row %llu of %lld", (long long)i,
			         (unsigned long long)rows[i], (long long)b->main->nrows);
	DTX_TRY(dtx_restore_source_cells(&b->table, b->main, rows,
	                                 2 * DTX_MAX(b->spec.limits.output, DTX_JAIL_OUTPUT), err));
out:
	return rc;
}

/* Reads the report and the table in the frame. If the worker reported a bad result, `bad` gets
 * its reason. */
static enum dtx_code read_result(struct dtx_box *b, struct dtx_jail_report *r, char *bad,
                                 size_t size, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_frame_view view = DTX_FRAME_VIEW_INIT;
	struct dtx_owner *owner = NULL;
	const struct dtx_frame_entry *e;
	void *ptr = NULL;

	DTX_TRY(map_result(b, &owner, &ptr, err));
	DTX_TRY(dtx_frame_open(ptr, b->done.used, &view, err));
	e = dtx_frame_find(&view, DTX_FRAME_REPORT);
	if (e)
		dtx_report_parse(r, dtx_frame_bytes(&view, e), bad, size);
	if (b->spec.mode == DTX_JAIL_EXEC) {
		DTX_TRY(dtx_artifact_take(b, &view, owner, err));
		goto out;
	}
	if (b->done.code != DTX_DONE_OK || b->spec.mode == DTX_JAIL_CHECK)
		goto out;
	e = dtx_frame_find(&view, DTX_FRAME_TABLE);
	if (!e)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "there is no table");
	DTX_TRY(dtx_frame_table(&view, e, owner, &b->table, err));
	DTX_TRY(restore_cells(b, &view, err));
out:
	dtx_frame_close(&view);
	if (owner)
		dtx_owner_unref(owner);
	return rc;
}

/* --- how the run ended --- */

static const char *denied_name(const struct dtx_jail_report *r)
{
	uint32_t i;

	for (i = r->ndenied; i > 0; i--)
		if (r->denied[i - 1].verdict == DTX_JAIL_KILLED)
			return r->denied[i - 1].name;
	return "unknown";
}

static void out_of_time(const struct dtx_jail_limits *l, struct dtx_jail_report *r)
{
	set_status(r, DTX_JAIL_TIMEOUT, "it ran longer than %lld ms", (long long)l->wall_ms);
}

/* The most memory that the worker used. A short run may end between two samples; then the
 * kernel's peak is used, less the input and the shared libraries, which is only an estimate. */
static uint64_t most_memory(const struct dtx_box *b, const struct dtx_jail_report *r)
{
	uint64_t before = r->base_rss + b->in_len;

	return DTX_MAX(r->peak_anon, r->peak_rss > before ? r->peak_rss - before : 0);
}

/* Whether the worker crashed because its memory ran out. A C library seldom reports that: it
 * crashes, or the C library aborts it. The memory that it failed to get is not in the peak: an
 * array that doubles its size needs the old and the new memory at once, and has only the old,
 * which is a third. So a third of the limit counts as full. Returns false if there was memory
 * left. */
static bool crashed_full(const struct dtx_box *b, struct dtx_jail_report *r)
{
	const uint64_t limit = b->spec.limits.memory, used = most_memory(b, r);

	if (!used || used < limit / 3)
		return false;
	set_status(r, DTX_JAIL_MEMORY_LIMIT, "it used %llu of %llu MiB and crashed",
	           (unsigned long long)(DTX_MIN(used, limit) >> 20),
	           (unsigned long long)(limit >> 20));
	return true;
}

/* Whether the worker ended before main killed it. On a busy machine any time may pass between
 * closing the last socket and the death of a process; a kill in between does not change how it
 * ends. */
static bool ended_itself(const struct dtx_box *b)
{
	return b->has_exited &&
	       (!WIFSIGNALED(b->exited.status) || WTERMSIG(b->exited.status) != SIGKILL);
}

/* Whether the zygote killed it because it was late, or the kernel because it used up its CPU
 * time: both send the same signal as main. */
static bool is_late(const struct dtx_box *b, const struct dtx_jail_report *r)
{
	return r->us.overdue > 0 || r->cpu_user_us + r->cpu_sys_us >= b->spec.limits.cpu_ms * 1000;
}

/* The ends that the supervisor decided. */
static bool by_supervisor(const struct dtx_box *b, struct dtx_jail_report *r)
{
	const struct dtx_jail_limits *l = &b->spec.limits;

	switch (b->kill) {
	case DTX_KILL_DENIED:
		if (r->signal && !crashed_full(b, r))
			set_status(r, DTX_JAIL_SIGNALED, "it aborted (signal %d)", r->signal);
		else if (!r->signal)
			set_status(r, DTX_JAIL_DENIED_SYSCALL,
			           "it called %s, which the jail denies", denied_name(r));
		return true;
	case DTX_KILL_WALL: out_of_time(l, r); return true;
	case DTX_KILL_MEMORY:
		set_status(r, DTX_JAIL_MEMORY_LIMIT, "it used more than %llu MiB",
		           (unsigned long long)(l->memory >> 20));
		return true;
	case DTX_KILL_STREAM:
		set_status(r, DTX_JAIL_OUTPUT_LIMIT, "it printed more than %llu MiB",
		           (unsigned long long)(DTX_STREAM_MAX >> 20));
		r->flooded = true;
		return true;
	case DTX_KILL_MUTE:
		if (ended_itself(b) || is_late(b, r))
			return false;
		set_status(r, DTX_JAIL_ENDED, CUT);
		return true;
	case DTX_KILL_PROTOCOL:
		set_status(r, DTX_JAIL_BAD_RESULT, "it used the job socket itself (protocol)");
		return true;
	case DTX_KILL_CANCEL: set_status(r, DTX_JAIL_CANCELLED, "cancelled"); return true;
	case DTX_KILL_STUCK:
	case DTX_KILL_COUNT:
	case DTX_KILL_NONE: break;
	}
	return false;
}

static void by_signal(const struct dtx_box *b, struct dtx_jail_report *r, int sig)
{
	const struct dtx_jail_limits *l = &b->spec.limits;

	/* Main itself did not run for a while, and the zygote has killed a worker that was late. */
	if (sig == SIGKILL && r->us.overdue > 0) {
		out_of_time(l, r);
		return;
	}
	r->signal = sig;
	if (sig == SIGXCPU ||
	    (sig == SIGKILL && r->cpu_user_us + r->cpu_sys_us >= l->cpu_ms * 1000))
		set_status(r, DTX_JAIL_CPU_LIMIT, "it used more than %lld ms of CPU",
		           (long long)l->cpu_ms);
	else if (sig == SIGSYS)
		set_status(r, DTX_JAIL_DENIED_SYSCALL,
		           "it made a call that the kernel ends at once: one of another "
		           "architecture, or of the lock-down");
	else if ((sig == SIGSEGV || sig == SIGKILL) && crashed_full(b, r))
		return;
	else if (sig == SIGKILL)
		set_status(r, DTX_JAIL_SIGNALED,
		           "it was ended from outside (signal %d): the kernel does so when the "
		           "machine has no memory left",
		           sig);
	else
		set_status(r, DTX_JAIL_SIGNALED, "it crashed (signal %d)", sig);
}

/* The zygote died, and with it the process that could tell how its worker ended. No worker
 * outlives its zygote. */
static void zygote_ended(struct dtx_jail_report *r)
{
	r->signal = SIGKILL;
	set_status(r, DTX_JAIL_SIGNALED,
	           "its parent process ended, and it ended with it (signal %d)", SIGKILL);
}

static void screened(struct dtx_jail_report *r)
{
	static const struct {
		const char *name;
		enum dtx_code code;
	} classes[] = {
		{ "syntax", DTX_E_SNIPPET_SYNTAX },
		{ "import_denied", DTX_E_SNIPPET_IMPORT_DENIED },
	};
	json_t *tree = NULL;
	const char *class = "screen_denied", *message = "it was refused";
	size_t i;

	if (r->check_json &&
	    dtx_json_parse(dtx_str_of(r->check_json), (struct dtx_json_limits){ REPORT_MAX, 8 },
	                   &tree, NULL) == DTX_OK) {
		class = dtx_json_text(tree, "class", class);
		message = dtx_json_text(tree, "message", message);
	}
	set_status(r, DTX_JAIL_SCREENED, "line %lld: %.290s",
	           (long long)dtx_json_int(tree, "line", 0), message);
	for (i = 0; i < DTX_COUNT(classes); i++)
		if (!strcmp(class, classes[i].name))
			r->code = classes[i].code;
	json_decref(tree);
}

/* The module that the code failed to import; empty if that was not its error. pandas has its own
 * message for a package that it needs. */
static struct dtx_str missed(const struct dtx_jail_report *r)
{
	static const char *const starts[] = { "No module named '",
		                              "Missing optional dependency '" };
	const char *type = r->exception.type, *message = r->exception.message, *end;
	size_t i;

	if (!type || !message || !dtx_str_in_list("ImportError,ModuleNotFoundError", type))
		return DTX_STR("");
	for (i = 0; i < DTX_COUNT(starts); i++) {
		size_t n = strlen(starts[i]);

		end = strncmp(message, starts[i], n) ? NULL : strchr(message + n, '\'');
		if (end)
			return (struct dtx_str){ message + n, (size_t)(end - message) - n };
	}
	return DTX_STR("");
}

/* Whether it is one of the packages that the jail prepares for code that names them, and this code
 * did not. */
static bool is_unnamed(const struct dtx_box *b, struct dtx_str module)
{
	return b->spec.mode == DTX_JAIL_EXEC && dtx_jail_wants_science(module) & ~b->spec.science &&
	       !(b->spec.science & DTX_JAIL_AT_HAND);
}

/* What would have made the import work: the name of the package in the code; the profile lib-ro;
 * namespaces, because lib-ro does not load extension modules where workers see /proc; or a
 * package of Debian's. */
static enum dtx_jail_lacks lacks(const struct dtx_box *b, const struct dtx_jail_report *r,
                                 const struct dtx_pypackage **package)
{
	struct dtx_str name = missed(r), top = name;
	enum dtx_py_module module = dtx_py_find_module(name);
	bool code = b->welcome.layers & DTX_LAYER_MOUNTNS;
	ptrdiff_t dot = dtx_str_find(name, DTX_STR("."), 0);

	*package = NULL;
	if (b->command || !name.len)
		return DTX_JAIL_LACKS_NOTHING;
	if (dot >= 0)
		top.len = (size_t)dot;
	if (module && is_unnamed(b, top))
		return DTX_JAIL_LACKS_NAME;
	if (module == DTX_PY_CODE && !code)
		return DTX_JAIL_LACKS_USERNS;
	if (module && b->spec.limits.profile == DTX_JAIL_SEALED)
		return code ? DTX_JAIL_LACKS_LIB_RO : DTX_JAIL_LACKS_LIB_RO_TEXT;
	if (dtx_py_find_module(top))
		return DTX_JAIL_LACKS_NOTHING;
	*package = dtx_pypackage_of(top);
	if (!*package)
		return DTX_JAIL_LACKS_DEBIAN;
	return (*package)->lib_ro ? DTX_JAIL_LACKS_PACKAGE_RO : DTX_JAIL_LACKS_PACKAGE;
}

static void raised(const struct dtx_box *b, struct dtx_jail_report *r)
{
	const char *type = r->exception.type ? r->exception.type : "an exception";
	const char *message = r->exception.message ? r->exception.message : "";
	const struct dtx_pypackage *package;

	set_status(r, DTX_JAIL_SNIPPET_ERROR, "line %d: %.60s: %.220s", r->exception.line, type,
	           message);
	if (!strcmp(type, "ValueError") && !strncmp(message, "DTX_CANNOT:", 11))
		r->code = DTX_E_SNIPPET_CANNOT;
	r->lacks = lacks(b, r, &package);
	r->package = package ? package->debian : NULL;
}

static void by_done(struct dtx_box *b, struct dtx_jail_report *r)
{
	struct dtx_err err = DTX_ERR_INIT;
	char bad[280] = "";
	enum dtx_code rc = read_result(b, r, bad, sizeof(bad), &err);

	if (b->done.code == DTX_DONE_MEMORY)
		set_status(r, DTX_JAIL_MEMORY_LIMIT, "it ran out of its %llu MiB",
		           (unsigned long long)(b->spec.limits.memory >> 20));
	else if (b->done.code == DTX_DONE_OUTPUT)
		set_status(r, DTX_JAIL_OUTPUT_LIMIT, "its result needs more than %llu MiB",
		           (unsigned long long)(b->spec.limits.output >> 20));
	else if (rc == DTX_E_NO_MEMORY)
		set_status(r, DTX_JAIL_MEMORY_LIMIT, "%s", err.msg);
	else if (rc != DTX_OK)
		set_status(r, DTX_JAIL_BAD_RESULT, "its result is malformed: %s", err.msg);
	else if (b->done.code == DTX_DONE_EXCEPTION)
		raised(b, r);
	else if (b->done.code == DTX_DONE_BAD_RESULT)
		set_status(r, DTX_JAIL_BAD_RESULT, "%s", bad[0] ? bad : "it returned no table");
	else if (b->done.code == DTX_DONE_SCREENED)
		screened(r);
	else
		set_status(r, DTX_JAIL_OK, "%s", "");
	dtx_err_clear(&err);
}

static void ended(const struct dtx_box *b, struct dtx_jail_report *r)
{
	int status =
		b->has_exited && WIFEXITED(b->exited.status) ? WEXITSTATUS(b->exited.status) : -1;

	if (status == DTX_WORKER_CUT)
		set_status(r, DTX_JAIL_ENDED, CUT);
	else if (status >= 0 && !b->command)
		set_status(r, DTX_JAIL_ENDED,
		           "it ended its own process with status %d, without a result", status);
	else
		set_status(r, DTX_JAIL_BAD_RESULT, "it ended without a result (no_result)");
}

void dtx_report_outcome(struct dtx_box *b, struct dtx_jail_report *r)
{
	/* of this call, if it is one of a session */
	int64_t user = b->exited.user_us - b->session.user_us;
	int64_t sys = b->exited.sys_us - b->session.sys_us;
	int64_t cpu = DTX_MAX(user + sys, (int64_t)0);

	r->memory_limit = b->spec.limits.memory;
	/* both may be rounded differently than at the end of the call before, their sum is not */
	r->cpu_sys_us = DTX_MIN(DTX_MAX(sys, (int64_t)0), cpu);
	r->cpu_user_us = cpu - r->cpu_sys_us;
	r->peak_rss = (uint64_t)DTX_MAX(b->exited.max_rss, (int64_t)0);
	dtx_stream_report(&b->stream[0], &r->arena, &r->out);
	dtx_stream_report(&b->stream[1], &r->arena, &r->err);
	if (by_supervisor(b, r))
		return;
	if (b->has_exited && WIFSIGNALED(b->exited.status))
		by_signal(b, r, WTERMSIG(b->exited.status));
	else if (b->has_done && (b->dead || b->early))
		by_done(b, r);
	else if (b->dead && !b->has_exited && b->ctl.fd < 0 && !b->command)
		zygote_ended(r);
	else
		ended(b, r);
}
