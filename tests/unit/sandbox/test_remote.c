/* What the far side of an exec: provider may send. */
#include "tests/t.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/file.h"
#include "sandbox/main/jail.h"
#include "sandbox/main/remote.h"
#include "sandbox/role.h"
#include "tests/unit/tablemake.h"

static struct dtx_remote_answer good(void)
{
	struct dtx_remote_answer a = { .magic = DTX_REMOTE_ANSWER, .has_done = 1, .dead = 1 };

	a.done.used = a.result_len = 100;
	a.stream_len[0] = 5;
	a.stream_total[0] = 7;
	return a;
}

void test_remote_answers(void)
{
	const struct dtx_jail_limits l = { .output = 1000 };
	struct dtx_remote_answer a = good();

	T_CHECK(dtx_remote_sane(&a, &l));
#define BAD(change)                                                                                \
	do {                                                                                       \
		a = good();                                                                        \
		change;                                                                            \
		T_CHECK(!dtx_remote_sane(&a, &l));                                                 \
	} while (0)
	BAD(a.magic[3] = 'x');
	BAD(a.refused = 2);
	BAD(a.audit = 7);
	BAD(a.has_done = 2);
	BAD(a.has_exited = 9);
	BAD(a.dead = 3);
	BAD(a.kill = DTX_KILL_COUNT);
	BAD(a.ndenied = DTX_JAIL_DENIED_MAX + 1);
	BAD(a.done.code = DTX_DONE_COUNT);
	BAD(a.done.used = a.result_len = 1001);
	BAD(a.result_len = 99);
	BAD(a.has_done = 0);
	BAD(a.signal = -1);
	BAD(a.signal = 65);
	BAD(a.exited.user_us = -1);
	BAD(a.exited.sys_us = INT64_MAX);
	BAD(a.stream_len[0] = 8);
	BAD(a.stream_len[1] = 1);
	BAD(a.stream_len[1] = a.stream_total[1] = UINT64_MAX);
#undef BAD
}

void test_remote_command(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	const char *command = "x";

	unsetenv("DTX_JAIL");
	T_OK(dtx_remote_command(&command, &err), &err);
	T_CHECK(!command);
	T_INT(setenv("DTX_JAIL", "local", 1), 0);
	T_OK(dtx_remote_command(&command, &err), &err);
	T_CHECK(!command);
	T_INT(setenv("DTX_JAIL", "exec:a b", 1), 0);
	T_OK(dtx_remote_command(&command, &err), &err);
	T_STR(command, "a b");
	T_INT(setenv("DTX_JAIL", "off", 1), 0);
	T_CODE(dtx_remote_command(&command, &err), DTX_E_USAGE, &err);
	T_CHECK(!command);
	unsetenv("DTX_JAIL");
	dtx_err_clear(&err);
}

/* --- far sides that fail --- */

static bool far_cancelled(void *arg)
{
	(void)arg;
	return true;
}

struct far_case {
	const char *command; /* after "exec:" */
	int64_t rows;        /* of the table that is sent */
	bool cancel;
	const char *call; /* system call that fails at each place in turn; NULL: none */
	int error;
	const char *says;
	const char *layers; /* layers that are required */
};

static enum dtx_code far_run(const struct far_case *f, struct dtx_err *err)
{
	struct dtx_jail_spec spec = { .limits.wall_ms = 1000,
		                      .cancelled = f->cancel ? far_cancelled : NULL,
		                      .require_layers = f->layers };
	enum dtx_code rc = DTX_OK;
	struct dtx_table *in = NULL;
	struct dtx_jail_report r;
	struct dtx_box *box = NULL;
	char command[400];

	snprintf(command, sizeof(command), "exec:%s", f->command);
	T_INT(setenv("DTX_JAIL", command, 1), 0);
	dtx_jail_report_init(&r);
	DTX_TRY(tm_table(f->rows, false, &in, err));
	DTX_TRY(dtx_provider_local.open(&spec, &box, err));
	DTX_TRY(dtx_provider_local.put(box, "main", in, err));
	DTX_TRY(dtx_provider_local.exec(box, DTX_STR("x"), NULL, &r, err));
out:
	dtx_provider_local.close(box);
	dtx_jail_report_clear(&r);
	if (in)
		dtx_table_unref(in);
	unsetenv("DTX_JAIL");
	return rc;
}

static bool far_says(const struct far_case *f)
{
	bool said = false, met = true;

	for (int nth = 0; met && !said && nth < 20; nth++) {
		struct dtx_err err = DTX_ERR_INIT;

		if (f->call)
			t_fail_call(f->call, nth, f->error);
		said = far_run(f, &err) != DTX_OK && strstr(err.msg, f->says) &&
		       (!f->call || strstr(err.msg, strerror(f->error)));
		met = t_failed_call();
		if (!said && !f->call)
			printf("# %s\n", err.msg);
		dtx_err_clear(&err);
	}
	return said;
}

/* An answer as a file, which a far side that is `cat` returns. */
static void far_answer(const char *name, const char *refused, char path[200])
{
	static const char behind[200];
	struct dtx_remote_answer a = good();
	FILE *f;

	if (refused) {
		a.refused = 1;
		snprintf(a.text, sizeof(a.text), "%s", refused);
	}
	snprintf(path, 200, "%s/%s", t_dir(), name);
	f = fopen(path, "w");
	T_CHECK(f && fwrite(&a, sizeof(a), 1, f) == 1 &&
	        fwrite(behind, sizeof(behind), 1, f) == 1 && fclose(f) == 0);
}

void test_jail_far_side_goes_wrong(void)
{
	char refused[200], answer[200], cat[2][256];
	char layers[200] = "";
	const struct far_case list[] = {
		{ "exec sleep 100", 20, .layers = layers,
		  .says = "the list of required layers must be at most 127 bytes" },
		{ "true", 20000, .says = "the far side ended; is it" },
		{ "cat >/dev/null & exec >&-; wait", 20, .says = "the far side ended; is it" },
		{ "cat", 20, .says = "the answer of the far side cannot be read" },
		{ "exec sleep 100", 20, .cancel = true, .says = "cancelled" },
		{ "while printf x; do sleep 0.01; done", 20, .cancel = true, .says = "cancelled" },
		{ cat[0], 20, .says = "far: no room" },
		{ "cat", 20, .call = "pipe2", .error = EMFILE, .says = "pipes: " },
		{ "cat", 20, .call = "fcntl", .error = EINVAL, .says = "pipes: " },
		{ "cat", 20, .call = "posix_spawn", .error = ENOMEM, .says = "'cat': " },
		{ "exec sleep 100", 20, .call = "poll", .error = ENOMEM, .says = "poll: " },
		{ "cat", 20, .call = "read", .error = EIO, .says = "" },
		{ cat[1], 20, .call = "memfd_create", .error = EMFILE, .says = "memfd: " },
		{ cat[1], 20, .call = "mmap", .error = ENOMEM, .says = "mmap: " },
	};

	if (DTX_SANITIZED) {
		t_skip("a sanitizer build has no jail");
		return;
	}
	memset(layers, 'x', sizeof(layers) - 1);
	far_answer("refused", "far: no room", refused);
	far_answer("answer", NULL, answer);
	snprintf(cat[0], sizeof(cat[0]), "cat %s; exec sleep 100", refused);
	snprintf(cat[1], sizeof(cat[1]), "cat %s; exec sleep 100", answer);
	for (size_t i = 0; i < DTX_COUNT(list); i++)
		if (!far_says(&list[i]))
			t_fail(__FILE__, __LINE__, "%s: no '%s'", list[i].command, list[i].says);
}

/* The far side, and a main that says too little, nonsense, or cannot be read. */
static void guest_says(size_t sent, bool read_fails, const char *says)
{
	const struct dtx_remote_ask nonsense = { .mode = 0 };
	struct dtx_remote_answer a = { .refused = 0 };
	struct dtx_err err = DTX_ERR_INIT;
	int in[2], out[2];

	T_CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	T_OK(dtx_file_write(in[1], &nonsense, sent, "ask", &err), &err);
	dtx_file_close(&in[1]);
	if (read_fails)
		t_fail_call("read", 0, EIO);
	T_OK(dtx_remote_serve(in[0], out[1], &err), &err);
	T_CHECK(t_failed_call() || !read_fails);
	T_INT(read(out[0], &a, sizeof(a)), sizeof(a));
	T_INT(a.refused, 1);
	T_STR(a.text, says);
	dtx_file_close(&in[0]);
	dtx_file_close(&out[0]);
	dtx_file_close(&out[1]);
	dtx_err_clear(&err);
}

void test_jail_guest_refuses(void)
{
	guest_says(10, false, "guest: its input ended");
	guest_says(sizeof(struct dtx_remote_ask), true, "guest: Input/output error");
	guest_says(sizeof(struct dtx_remote_ask), false, "guest: the request cannot be read");
}

/* --- what a run may require --- */

static void spec_says(struct dtx_jail_limits limits, const char *says)
{
	const struct dtx_jail_spec spec = { .limits = limits };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_box *box = NULL;

	T_CODE(dtx_provider_local.open(&spec, &box, &err), DTX_E_USAGE, &err);
	T_STR(err.msg, says);
	dtx_provider_local.close(box);
}

void test_jail_asks_for_too_much(void)
{
	struct dtx_jail_spec spec = { .limits.wall_ms = 1000 };
	struct dtx_jail_file file = { .name = "a.txt", .bytes = DTX_STR("x") };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_table *in = NULL;
	struct dtx_box *box = NULL;
	enum dtx_code rc = DTX_OK;
	char name[16];

	spec_says((struct dtx_jail_limits){ .wall_ms = -1 },
	          "jail: time limits are 1 to 2147483647 ms");
	spec_says((struct dtx_jail_limits){ .memory = (uint64_t)1 << 44 },
	          "jail: memory limits are below 16 TiB");
	spec_says((struct dtx_jail_limits){ .profile = DTX_JAIL_PROFILES },
	          "jail: there is no profile 2");
	T_INT(setenv("DTX_JAIL", "exec:true", 1), 0); /* no process is started for it */
	T_OK(tm_table(2, false, &in, &err), &err);
	T_OK(dtx_provider_local.open(&spec, &box, &err), &err);
	unsetenv("DTX_JAIL");
	for (int i = 0; rc == DTX_OK && i < 5000; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		rc = dtx_provider_local.put(box, name, in, &err);
	}
	T_CODE(rc, DTX_E_USAGE, &err);
	T_CHECK(strstr(err.msg, "jail: more than ") && strstr(err.msg, " tables"));
	rc = DTX_OK;
	for (int i = 0; rc == DTX_OK && i < 5000; i++)
		rc = dtx_provider_local.put_file(box, &file, &err);
	T_CODE(rc, DTX_E_USAGE, &err);
	T_CHECK(strstr(err.msg, "jail: more than ") && strstr(err.msg, " files"));
	dtx_provider_local.close(box);
	dtx_table_unref(in);
}
