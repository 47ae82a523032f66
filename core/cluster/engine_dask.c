/* The engines dask://HOST:PORT and dask+tls://HOST:PORT: fragments are tasks of a Dask cluster.
 *
 * A Python program (dask.py) is the client of the cluster; this process speaks JSON lines with it.
 * It needs nothing of Dask's protocol, and opens no port. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/child_setup.h"
#include "core/base/file.h"
#include "core/base/hash/hash.h"
#include "core/base/memory/mem.h"
#include "core/base/text/json.h"
#include "core/base/thread/cancel.h"
#include "core/base/log.h"
#include "core/cluster/engine.h"

#define LINE_MAX_BYTES ((size_t)32 << 20)
#define CLOSE_MS       5000 /* for the client to end what still runs */

/* dask.py, in build/gen/dask.c. */
extern const char dtx_dask_py[];

struct dask {
	struct dtx_engine head;
	pid_t pid; /* of the client; 0: it has ended */
	int in, out;
	char *dtx;           /* path of this program, on all hosts */
	struct dtx_buf read; /* what was read of its stdout */
	size_t at;           /* where the next line begins in it */
	uint32_t cancels;    /* what was submitted before the last of them is not reported */
};

static struct dask *dask_of(struct dtx_engine *e)
{
	return (struct dask *)e; /* head is the first member */
}

/* --- the client and its lines --- */

static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attr, int in, int out)
{
	int rc;

	rc = posix_spawn_file_actions_adddup2(actions, in, STDIN_FILENO);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(actions, out, STDOUT_FILENO);
	if (!rc)
		rc = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY,
		                                      0);
	if (!rc)
		rc = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
	/* a group of its own: Ctrl-C reaches the driver, which then ends its fragments */
	return rc ? rc : dtx_child_signals(attr);
}

static enum dtx_code start_client(struct dask *d, const struct dtx_engine_address *a,
                                  struct dtx_err *err)
{
	char silence[32];
	char *argv[] = { (char *)"dtx-dask",
		         (char *)"-I",
		         (char *)"-c",
		         (char *)dtx_dask_py,
		         a->scheduler,
		         a->ca,
		         a->cert,
		         a->key,
		         silence,
		         NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, failed;
	enum dtx_code rc = DTX_OK;

	snprintf(silence, sizeof(silence), "%u",
	         a->silence_s ? a->silence_s : DTX_ENGINE_SILENCE_S);
	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		DTX_FAIL(err, DTX_E_NO_MEMORY, "cannot make a pipe: %s", strerror(errno));
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	failed = prepare(&actions, &attr, in[0], out[1]);
	if (!failed)
		failed = posix_spawn(&d->pid, "/usr/bin/python3", &actions, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	if (failed) {
		d->pid = 0;
		DTX_FAIL(err, DTX_E_ENGINE_UNAVAILABLE, "cannot start /usr/bin/python3: %s",
		         dtx_child_failure(failed));
	}
	d->in = in[1];
	d->out = out[0];
	in[1] = out[0] = -1;
out:
	for (int i = 0; i < 2; i++) {
		dtx_file_close(&in[i]);
		dtx_file_close(&out[i]);
	}
	return rc;
}

static enum dtx_code lost(const char *reason, struct dtx_err *err)
{
	enum dtx_code rc = dtx_err_set(err, DTX_E_ENGINE_UNAVAILABLE, __FILE__, __LINE__,
	                               "the Dask cluster: %s", reason);

	dtx_err_hint(err, "man dtx-cluster shows how to start a cluster; without --engine dtx does "
	                  "the same on this machine");
	return rc;
}

/* Writes one line to the client; the reference to `o` is taken. */
static enum dtx_code say(struct dask *d, json_t *o, struct dtx_err *err)
{
	struct dtx_buf line = DTX_BUF_INIT(LINE_MAX_BYTES);
	enum dtx_code rc = DTX_OK;

	if (!o)
		DTX_FAIL_MEM(err);
	dtx_json_print(o, 0, &line);
	dtx_buf_addc(&line, '\n');
	DTX_TRY(dtx_buf_check(&line, "a line to the Dask client", err));
	for (size_t at = 0; at < line.len;) {
		ssize_t n = write(d->in, line.ptr + at, line.len - at);

		if (n < 0 && errno != EINTR) {
			rc = lost("its client ended", err);
			goto out;
		}
		at += n > 0 ? (size_t)n : 0;
	}
out:
	dtx_buf_clear(&line);
	json_decref(o);
	return rc;
}

/* Takes the next whole line out of what was read; false if the line has not ended. */
static bool next_line(struct dask *d, struct dtx_str *line)
{
	const char *from = d->read.ptr ? d->read.ptr + d->at : NULL;
	const char *end = from ? memchr(from, '\n', d->read.len - d->at) : NULL;

	if (!end) {
		/* keeps only the begin of a line */
		if (d->at)
			memmove(d->read.ptr, from, d->read.len - d->at);
		d->read.len -= d->at;
		d->at = 0;
		return false;
	}
	*line = (struct dtx_str){ from, (size_t)(end - from) };
	d->at += line->len + 1;
	return true;
}

/* Waits up to wait_ms for an event of the client; *out is NULL if none came. A new reference. */
static enum dtx_code hear(struct dask *d, int wait_ms, json_t **out, struct dtx_err *err)
{
	const struct dtx_json_limits limits = { .bytes = LINE_MAX_BYTES, .depth = 16 };
	struct pollfd poll_out = { .fd = d->out, .events = POLLIN };
	char bytes[16384];
	struct dtx_str line;
	enum dtx_code rc = DTX_OK;
	ssize_t n;

	*out = NULL;
	while (!next_line(d, &line)) {
		if (poll(&poll_out, 1, wait_ms) <= 0)
			return DTX_OK;
		n = read(d->out, bytes, sizeof(bytes));
		if (n == 0 || (n < 0 && errno != EINTR))
			return lost("its client ended", err);
		if (n > 0)
			dtx_buf_addn(&d->read, bytes, (size_t)n);
		DTX_TRY(dtx_buf_check(&d->read, "a line of the Dask client", err));
	}
	DTX_TRY(dtx_json_parse(line, limits, out, err));
	if (!strcmp(dtx_json_text(*out, "event", ""), "failed")) {
		rc = lost(dtx_json_text(*out, "reason", ""), err);
		json_decref(*out);
		*out = NULL;
	}
out:
	return rc;
}

/* --- the verbs --- */

static enum dtx_code hash_self(char hash[DTX_SHA256_HEX], struct dtx_err *err)
{
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 30);
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_file_slurp("/proc/self/exe", &bytes, err));
	dtx_sha256_hex(bytes.ptr, bytes.len, hash);
out:
	dtx_buf_clear(&bytes);
	return rc;
}

/* Asks each worker whether it can take part, and counts the cores of those that can. */
static enum dtx_code probe(struct dask *d, const char *exchange, struct dtx_err *err)
{
	char hash[DTX_SHA256_HEX], reason[300] = "it has no workers";
	json_t *o = NULL;
	enum dtx_code rc = DTX_OK;
	bool done = false;

	DTX_TRY(hash_self(hash, err));
	DTX_TRY(say(d,
	            json_pack("{ss ss ss ss}", "do", "probe", "dtx", d->dtx, "sha256", hash,
	                      "exchange", exchange),
	            err));
	while (!done) {
		const char *event, *why;

		DTX_TRY(dtx_cancel_look(err));
		DTX_TRY(hear(d, 100, &o, err));
		event = dtx_json_text(o, "event", "");
		why = dtx_json_text(o, "reason", "");
		done = !strcmp(event, "probed");
		if (!strcmp(event, "worker") && *why)
			snprintf(reason, sizeof(reason), "no worker can take part: %s on %s: %s",
			         dtx_json_text(o, "worker", ""), dtx_json_text(o, "host", ""), why);
		else if (!strcmp(event, "worker"))
			d->head.slots += (unsigned)dtx_json_int(o, "cores", 0);
		json_decref(o);
		o = NULL;
	}
	if (!d->head.slots)
		rc = lost(reason, err);
out:
	return rc;
}

static enum dtx_code dask_submit(struct dtx_engine *e, uint32_t id, const char *spec,
                                 struct dtx_err *err)
{
	struct dask *d = dask_of(e);

	return say(d,
	           json_pack("{ss sI s[sss]}", "do", "submit", "id",
	                     (json_int_t)((uint64_t)d->cancels << 32 | id), "argv", d->dtx,
	                     "fragment", spec),
	           err);
}

static enum dtx_code dask_next(struct dtx_engine *e, int wait_ms, struct dtx_engine_event *out,
                               bool *got, struct dtx_err *err)
{
	struct dask *d = dask_of(e);
	json_t *o = NULL;
	enum dtx_code rc = DTX_OK;
	const char *text;
	uint64_t id;

	*got = false;
	DTX_TRY(hear(d, wait_ms, &o, err));
	id = (uint64_t)dtx_json_int(o, "id", -1);
	if (!o || id >> 32 != d->cancels)
		goto out;
	*out = (struct dtx_engine_event){ .id = (uint32_t)id, .status = -1 };
	dtx_buf_init(&out->text, LINE_MAX_BYTES);
	*got = true;
	dtx_str_copy(out->reason, sizeof(out->reason), dtx_str_of(dtx_json_text(o, "reason", "")));
	if (strcmp(dtx_json_text(o, "event", ""), "done") != 0)
		goto out;
	text = dtx_json_text(o, "text", "");
	dtx_buf_addn(&out->text, text, strlen(text));
	out->status = (int)dtx_json_int(o, "status", -1);
	if (out->status < 0)
		snprintf(out->reason, sizeof(out->reason), "ended by signal %d", -out->status);
out:
	json_decref(o);
	return rc;
}

static void dask_cancel(struct dtx_engine *e)
{
	struct dtx_err err = DTX_ERR_INIT;

	dask_of(e)->cancels++;
	(void)say(dask_of(e), json_pack("{ss}", "do", "cancel"), &err);
	dtx_err_clear(&err);
}

/* Waits for the client, which ends what still runs when its stdin ends. */
static void dask_close(struct dtx_engine *e)
{
	struct dask *d = dask_of(e);
	struct pollfd end = { .fd = d->out, .events = POLLIN };
	int64_t until = dtx_now_ns() + (int64_t)CLOSE_MS * 1000000;
	char bytes[4096];

	dtx_file_close(&d->in);
	while (d->pid && dtx_now_ns() < until)
		if (poll(&end, 1, 100) > 0 && read(d->out, bytes, sizeof(bytes)) <= 0)
			break;
	if (d->pid) {
		(void)kill(d->pid, SIGKILL);
		while (waitpid(d->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	dtx_file_close(&d->out);
	dtx_buf_clear(&d->read);
	dtx_mem_free(d->dtx);
	dtx_mem_free(d);
}

static const struct dtx_engine_class dask_class = {
	.name = "dask",
	.submit = dask_submit,
	.next = dask_next,
	.cancel = dask_cancel,
	.close = dask_close,
};

static enum dtx_code own_path(struct dask *d, struct dtx_err *err)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	enum dtx_code rc = DTX_OK;

	if (n < 0)
		DTX_FAIL_FILE(err, DTX_E_INPUT_IO, "read", "/proc/self/exe");
	path[n] = '\0';
	d->dtx = dtx_mem_strdup(path);
	if (!d->dtx)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_engine_dask(const struct dtx_engine_address *address, const char *exchange,
                              struct dtx_engine **out, struct dtx_err *err)
{
	struct dask *d = dtx_mem_zalloc(1, sizeof(*d));
	enum dtx_code rc = DTX_OK;

	if (!d)
		DTX_FAIL_MEM(err);
	d->head.cls = &dask_class;
	d->in = d->out = -1;
	dtx_buf_init(&d->read, LINE_MAX_BYTES);
	DTX_TRY(own_path(d, err));
	DTX_TRY(start_client(d, address, err));
	DTX_TRY(probe(d, exchange, err));
	*out = &d->head;
	d = NULL;
out:
	if (d)
		dask_close(&d->head);
	return rc;
}
