/* System calls that fail: each error says for which file, and why. */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/io/archive/gzip.h"
#include "core/io/write/outfile.h"
#include "core/io/source/pipe_input.h"
#include "core/io/source/source.h"
#include "tests/t.h"

static const char *calls_path(const char *name)
{
	static char path[200];

	snprintf(path, sizeof(path), "%s/%s", t_dir(), name);
	return path;
}

static void calls_file(const char *name, const char *text, size_t n)
{
	FILE *f = fopen(calls_path(name), "w");

	T_CHECK(f && fwrite(text, 1, n, f) == n && fclose(f) == 0);
}

static enum dtx_code keep_file(const char *name, struct dtx_err *err)
{
	struct dtx_source *s = NULL;
	enum dtx_code rc = DTX_OK;
	int fd = -1;

	DTX_TRY(dtx_source_open(calls_path(name), &s, err));
	DTX_TRY(dtx_source_dup(s, &fd, err));
out:
	dtx_file_close(&fd);
	dtx_source_free(s);
	return rc;
}

static enum dtx_code open_and_keep(struct dtx_err *err)
{
	return keep_file("in.csv", err);
}

/* Large enough to be mapped. */
static enum dtx_code map_and_keep(struct dtx_err *err)
{
	static char text[20000];

	memset(text, 'a', sizeof(text));
	calls_file("large.csv", text, sizeof(text));
	return keep_file("large.csv", err);
}

static enum dtx_code keep_bytes(struct dtx_err *err)
{
	struct dtx_source *s = NULL;
	enum dtx_code rc = DTX_OK;
	int fd = -1;

	DTX_TRY(dtx_source_bytes("in.csv", "a\n1\n", 4, &s, err));
	DTX_TRY(dtx_source_dup(s, &fd, err));
out:
	dtx_file_close(&fd);
	dtx_source_free(s);
	return rc;
}

static enum dtx_code map_given(struct dtx_err *err)
{
	struct dtx_source *s = NULL;
	enum dtx_code rc = DTX_OK;
	int fd = open(calls_path("in.csv"), O_RDONLY | O_CLOEXEC);

	DTX_TRY(dtx_source_fd("in.csv", fd, 4, &s, err));
out:
	dtx_file_close(&fd);
	dtx_source_free(s);
	return rc;
}

static enum dtx_code stream_stdin(struct dtx_err *err)
{
	struct dtx_source *s = NULL;
	enum dtx_code rc = dtx_source_stream("-", &s, err);

	dtx_source_free(s);
	return rc;
}

/* A pipe that is filled once, because input that is not a file can be read only once. */
static enum dtx_code spool_pipe(struct dtx_err *err)
{
	struct dtx_source *s = NULL;
	enum dtx_code rc = DTX_OK;
	char path[40];
	int end[2];

	if (pipe(end) != 0 || write(end[1], "a\n1\n", 4) != 4)
		return DTX_E_BUG;
	close(end[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", end[0]);
	rc = dtx_source_open(path, &s, err);
	close(end[0]);
	dtx_source_free(s);
	return rc;
}

static enum dtx_code slurp(struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(100);
	enum dtx_code rc = dtx_file_slurp(calls_path("in.csv"), &text, err);

	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code append(struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int fd = -1;

	DTX_TRY(dtx_file_append(calls_path("log"), &fd, err));
	DTX_TRY(dtx_file_sync(fd, calls_path("log"), err));
	DTX_TRY(dtx_file_sync_dir(calls_path("log"), err));
out:
	dtx_file_close(&fd);
	return rc;
}

static enum dtx_code pull(struct dtx_err *err)
{
	struct dtx_pipe_input *p = NULL;
	enum dtx_code rc = DTX_OK;
	char text[8];
	size_t n;
	int fd;

	DTX_TRY(dtx_file_open(calls_path("in.csv"), &fd, err));
	p = dtx_pipe_input_new(fd);
	if (!p)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_pipe_input_pull(p, "in.csv", text, sizeof(text), &n, err));
out:
	dtx_pipe_input_free(p);
	return rc;
}

static enum dtx_code write_out(struct dtx_err *err)
{
	struct dtx_outfile *o = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_outfile_open(calls_path("out.csv"), "r1", DTX_OUTFILE_STREAM, &o, err));
	DTX_TRY(dtx_outfile_write(o, "a\n", 2, err));
	DTX_TRY(dtx_outfile_finish(o, err));
	DTX_TRY(dtx_outfile_commit(o, err));
out:
	dtx_outfile_free(o);
	return rc;
}

static enum dtx_code write_room(struct dtx_err *err)
{
	struct dtx_outfile *o = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_outfile_open(calls_path("out.csv"), "r1", DTX_OUTFILE_STREAM, &o, err));
	DTX_TRY(dtx_outfile_prepare(o, 4096, err));
	DTX_TRY(dtx_outfile_write(o, "a\n", 2, err));
	DTX_TRY(dtx_outfile_finish(o, err));
	DTX_TRY(dtx_outfile_commit(o, err));
out:
	dtx_outfile_free(o);
	return rc;
}

static enum dtx_code write_stdout(struct dtx_err *err)
{
	struct dtx_outfile *o = NULL;
	enum dtx_code rc = dtx_outfile_open("-", "r1", DTX_OUTFILE_SPOOL, &o, err);

	dtx_outfile_free(o);
	return rc;
}

static enum dtx_code gunzip(struct dtx_err *err)
{
	/* "a\n1\n" */
	static const char packed[] = "\x1f\x8b\x08\0\0\0\0\0\x02\x03K\xe4"
				     "2\xe4\x02\0\0$\xc1\x89\x04\0\0";
	struct dtx_source *in = NULL, *out = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_source_bytes("a.gz", packed, sizeof(packed), &in, err));
	DTX_TRY(dtx_packed_source(in, &out, err));
out:
	dtx_source_free(in);
	return rc;
}

static const struct call_case {
	enum dtx_code (*body)(struct dtx_err *err);
	const char *name;
	int error;
	enum dtx_code code;
	const char *says;
} cases[] = {
	{ open_and_keep, "open", EACCES, DTX_E_INPUT_IO, "cannot open '" },
	{ open_and_keep, "open", EMFILE, DTX_E_INPUT_IO, "cannot keep '" },
	{ open_and_keep, "fstat", EIO, DTX_E_INPUT_IO, "cannot stat '" },
	{ open_and_keep, "read", EIO, DTX_E_INPUT_IO, "cannot read '" },
	{ map_and_keep, "mmap", ENOMEM, DTX_E_INPUT_IO, "cannot map '" },
	{ map_and_keep, "open", EMFILE, DTX_E_INPUT_IO, "cannot keep '" },
	{ gunzip, "fcntl", EMFILE, DTX_E_INPUT_IO, "cannot keep 'a.gz': " },
	{ keep_bytes, "memfd_create", EMFILE, DTX_E_INPUT_IO, "cannot keep 'in.csv' in memory: " },
	{ map_given, "mmap", ENOMEM, DTX_E_INPUT_IO, "cannot map 'in.csv': " },
	{ stream_stdin, "fcntl", EMFILE, DTX_E_INPUT_IO, "cannot read '-': " },
	{ spool_pipe, "open", EMFILE, DTX_E_INPUT_IO, "cannot open '/proc/self/fd/" },
	{ spool_pipe, "fcntl", EPERM, DTX_E_INPUT_IO, "cannot open '/proc/self/fd/" },
	{ spool_pipe, "read", EIO, DTX_E_INPUT_IO, "cannot read '/proc/self/fd/" },
	{ slurp, "read", EIO, DTX_E_INPUT_IO, "cannot read '" },
	{ append, "open", EACCES, DTX_E_OUTPUT_IO, "to add to it: " },
	{ append, "open", EACCES, DTX_E_OUTPUT_IO, "cannot open '" },
	{ append, "fsync", EIO, DTX_E_OUTPUT_IO, "cannot sync '" },
	{ append, "fsync", ENOSPC, DTX_E_DISK_FULL, "cannot sync '" },
	{ pull, "poll", ENOMEM, DTX_E_INPUT_IO, "cannot wait for 'in.csv': " },
	{ pull, "read", EIO, DTX_E_INPUT_IO, "cannot read 'in.csv': " },
	{ write_out, "open", ENOSPC, DTX_E_DISK_FULL, "cannot make '" },
	{ write_out, "faccessat", EACCES, DTX_E_OUTPUT_IO, "cannot write '" },
	{ write_out, "open", EROFS, DTX_E_OUTPUT_IO, "cannot make '" },
	{ write_out, "fchmod", EPERM, DTX_E_OUTPUT_IO, "its permissions" },
	{ write_out, "rename", EBUSY, DTX_E_OUTPUT_IO, "cannot rename '" },
	{ write_out, "fsync", EIO, DTX_E_OUTPUT_IO, "cannot sync '" },
	{ write_out, "fsync", ENOSPC, DTX_E_DISK_FULL, "cannot sync '" },
	{ write_room, "ftruncate", EIO, DTX_E_OUTPUT_IO, "cannot cut '" },
	{ write_stdout, "fcntl", EMFILE, DTX_E_OUTPUT_IO, "cannot write '-': " },
	{ gunzip, "memfd_create", EMFILE, DTX_E_INPUT_IO,
	  "cannot keep what a packed file holds: " },
};

/* The first call fails, then the second and so on, until there are no more.  A call that dtx can do
 * without may fail and the function still succeed. */
static bool call_said(const struct call_case *c)
{
	bool said = false, met = true;

	for (int nth = 0; met && nth < 50; nth++) {
		struct dtx_err err = DTX_ERR_INIT;
		enum dtx_code rc;

		calls_file("in.csv", "a\n1\n", 4);
		calls_file("out.csv", "old\n", 4);
		t_fail_call(c->name, nth, c->error);
		rc = c->body(&err);
		met = t_failed_call();
		if (rc != DTX_OK && rc == c->code && strstr(err.msg, c->says) &&
		    strstr(err.msg, strerror(c->error)))
			said = true;
		T_CHECK(met || rc == DTX_OK);
	}
	return said;
}

/* A FIFO without a reader is waited for; a socket never gets one. */
void test_calls_output_is_a_socket(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct dtx_err err = DTX_ERR_INIT;
	int fd = -1, s = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", calls_path("socket"));
	T_CHECK(s >= 0 && bind(s, (struct sockaddr *)&at, sizeof(at)) == 0);
	T_CODE(dtx_file_open_out(at.sun_path, &fd, &err), DTX_E_OUTPUT_IO, &err);
	close(s);
	unlink(at.sun_path);
}

void test_calls_that_fail(void)
{
	for (size_t i = 0; i < DTX_COUNT(cases); i++)
		if (!call_said(&cases[i]))
			t_fail(__FILE__, __LINE__, "%s: no '%s'", cases[i].name, cases[i].says);
}

/* A wait for a pipe is ended by the flag and by the clock. */
void test_calls_wait_ends(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	atomic_bool cancel = true;
	struct dtx_pipe_input *p;
	char text[8];
	size_t n;
	int end[2];

	T_CHECK(pipe(end) == 0);
	p = dtx_pipe_input_new(end[0]);
	T_CHECK(p != NULL);
	p->cancel = &cancel;
	T_CODE(dtx_pipe_input_pull(p, "in.csv", text, sizeof(text), &n, &err), DTX_E_CANCELLED,
	       &err);
	T_STR(err.msg, "cancelled while waiting for 'in.csv'");
	p->cancel = NULL;
	p->deadline_ns = 1;
	T_CODE(dtx_pipe_input_pull(p, "in.csv", text, sizeof(text), &n, &err), DTX_E_TIME_LIMIT,
	       &err);
	T_STR(err.msg, "the time limit is over while waiting for 'in.csv'");
	dtx_pipe_input_free(p);
	close(end[1]);
}
