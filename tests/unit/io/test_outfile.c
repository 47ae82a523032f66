/* Output files: at every instant there is the old or the new file, and it is complete. */
#include "core/io/write/outfile.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <signal.h>

#include "core/base/file.h"
#include "tests/t.h"

#define RUN "019a0000-0000-7000-8000-0000c0ffee01"

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	T_CHECK(f && fputs(text, f) >= 0);
	if (f)
		fclose(f);
}

static void check_file(const char *path, const char *want)
{
	struct dtx_buf b = DTX_BUF_INIT(1 << 20);
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(dtx_file_slurp(path, &b, &err), &err);
	T_STR(dtx_buf_text(&b), want);
	dtx_buf_clear(&b);
}

static int count_files(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n - 2;
}

static const char *in_dir(const char *name)
{
	static char path[2][512];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", t_dir(), name);
	return path[turn];
}

static void count_call(void *arg)
{
	++*(int *)arg;
}

/* When all bytes are written, and not before. */
void test_outfile_last(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_outfile *o = NULL;
	int calls = 0;

	T_OK(dtx_outfile_open(in_dir("last.csv"), RUN, DTX_OUTFILE_SPOOL, &o, &err), &err);
	dtx_outfile_last(o, count_call, &calls);
	T_OK(dtx_outfile_write(o, "a\n", 2, &err), &err);
	T_INT(calls, 0);
	T_OK(dtx_outfile_finish(o, &err), &err);
	T_INT(calls, 1);
	T_OK(dtx_outfile_commit(o, &err), &err);
	T_INT(calls, 1);
	dtx_outfile_free(o);
}

void test_outfile_replaces_whole(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_outfile *o = NULL;
	const char *path = in_dir("out.csv");
	char want[65];
	struct stat st;

	put_file(path, "old");
	chmod(path, 0640);
	T_OK(dtx_outfile_open(path, RUN, DTX_OUTFILE_STREAM, &o, &err), &err);
	T_CHECK(dtx_outfile_info(o)->atomic);
	T_CHECK(strstr(dtx_outfile_info(o)->temp, "/.out.csv.c0ffee01.tmp") != NULL);
	T_OK(dtx_outfile_write(o, "new ", 4, &err), &err);
	T_OK(dtx_outfile_write(o, "text", 4, &err), &err);
	check_file(path, "old");
	T_OK(dtx_outfile_finish(o, &err), &err);
	check_file(path, "old");
	check_file(dtx_outfile_info(o)->temp, "new text");
	dtx_sha256_hex("new text", 8, want);
	T_STR(dtx_outfile_info(o)->sha, want);
	T_INT(dtx_outfile_info(o)->size, 8);
	T_OK(dtx_outfile_commit(o, &err), &err);
	dtx_outfile_free(o);
	check_file(path, "new text");
	T_INT(count_files(t_dir()), 1);
	T_INT(stat(path, &st), 0);
	T_INT(st.st_mode & 0777, 0640);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_mode & 07777;
}

/* Only the owner can read the temporary file.  At the end its permissions are those of a file of
 * the same owner, and never setuid. */
void test_outfile_mode(void)
{
	static const struct {
		mode_t old; /* 0: there is no file */
		uid_t owner;
		mode_t want;
	} cases[] = {
		{ 0, 0, 0640 },     { 0600, 0, 0600 },      { 0666, 0, 0666 },
		{ 07755, 0, 0755 }, { 07777, 65534, 0640 }, { 0600, 65534, 0640 },
	};
	struct dtx_err err = DTX_ERR_INIT;
	mode_t mask = umask(027);
	size_t i;

	for (i = 0; i < DTX_COUNT(cases); i++) {
		const char *path = in_dir("mode.csv");
		struct dtx_outfile *o = NULL;

		if (cases[i].owner && geteuid() != 0)
			continue;
		unlink(path);
		if (cases[i].old) {
			put_file(path, "old");
			T_INT(chown(path, cases[i].owner ? cases[i].owner : (uid_t)-1, (gid_t)-1),
			      0);
			T_INT(chmod(path, cases[i].old), 0);
		}
		T_OK(dtx_outfile_open(path, RUN, DTX_OUTFILE_STREAM, &o, &err), &err);
		T_OK(dtx_outfile_write(o, "new", 3, &err), &err);
		T_OK(dtx_outfile_finish(o, &err), &err);
		T_INT(mode_of(dtx_outfile_info(o)->temp), 0600);
		T_OK(dtx_outfile_commit(o, &err), &err);
		dtx_outfile_free(o);
		T_INT(mode_of(path), cases[i].want);
	}
	umask(mask);
}

/* A link that another user made in a folder like /tmp is not followed, whoever owns its target. */
void test_outfile_planted_link(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_outfile *o = NULL;
	const char *link = in_dir("planted.csv");

	if (geteuid() != 0) {
		t_skip("only root can make a link of another user");
		return;
	}
	put_file(in_dir("mine.csv"), "old");
	T_INT(symlink("mine.csv", link), 0);
	T_INT(lchown(link, 65534, 65534), 0);
	T_INT(chmod(t_dir(), 01777), 0);
	T_CODE(dtx_outfile_open(link, RUN, DTX_OUTFILE_STREAM, &o, &err), DTX_E_OUTPUT_IO, &err);
	T_CHECK(strstr(err.msg, "is a link that another user made"));
	T_INT(symlink("planted.csv", in_dir("mine_first.csv")), 0); /* a link to it is not followed
	                                                             * either */
	T_CODE(dtx_outfile_open(in_dir("mine_first.csv"), RUN, DTX_OUTFILE_STREAM, &o, &err),
	       DTX_E_OUTPUT_IO, &err);
	T_INT(chmod(t_dir(), 0777), 0); /* not sticky: anyone who may write there may do anything
	                                 * anyway */
	T_OK(dtx_outfile_open(link, RUN, DTX_OUTFILE_STREAM, &o, &err), &err);
	dtx_outfile_free(o);
	check_file(in_dir("mine.csv"), "old");
	dtx_err_clear(&err);
}

/* In a folder that is renamed meanwhile no temporary file is left, and the error says so. */
void test_outfile_folder_moved(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_outfile *o = NULL;
	char dir[512], moved[512];

	snprintf(dir, sizeof(dir), "%s/folder", t_dir());
	snprintf(moved, sizeof(moved), "%s/moved", t_dir());
	T_INT(mkdir(dir, 0700), 0);
	T_OK(dtx_outfile_open(in_dir("folder/out.csv"), RUN, DTX_OUTFILE_STREAM, &o, &err), &err);
	T_OK(dtx_outfile_write(o, "new", 3, &err), &err);
	T_OK(dtx_outfile_finish(o, &err), &err);
	T_INT(rename(dir, moved), 0);
	T_INT(mkdir(dir, 0700), 0);
	T_CODE(dtx_outfile_commit(o, &err), DTX_E_OUTPUT_IO, &err);
	T_CHECK(strstr(err.msg, "was moved or removed meanwhile"));
	dtx_outfile_free(o);
	T_INT(count_files(dir), 0);
	T_INT(count_files(moved), 0);
	dtx_err_clear(&err);
}

void test_outfile_abort_keeps_old(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_outfile *o = NULL;
	const char *path = in_dir("out.csv");

	put_file(path, "old");
	T_OK(dtx_outfile_open(path, RUN, DTX_OUTFILE_STREAM, &o, &err), &err);
	T_OK(dtx_outfile_write(o, "new", 3, &err), &err);
	T_OK(dtx_outfile_finish(o, &err), &err);
	dtx_outfile_free(o);
	check_file(path, "old");
	T_INT(count_files(t_dir()), 1);
}

void test_outfile_follows_links(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_outfile *o = NULL;
	char link[512];

	put_file(in_dir("real.csv"), "old");
	snprintf(link, sizeof(link), "%s", in_dir("link.csv"));
	T_INT(symlink("real.csv", link), 0);
	T_OK(dtx_outfile_open(link, RUN, DTX_OUTFILE_STREAM, &o, &err), &err);
	T_OK(dtx_outfile_write(o, "new", 3, &err), &err);
	T_OK(dtx_outfile_finish(o, &err), &err);
	T_OK(dtx_outfile_commit(o, &err), &err);
	dtx_outfile_free(o);
	check_file(in_dir("real.csv"), "new");
	T_INT(count_files(t_dir()), 2);
}

void test_outfile_refuses(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_outfile *o = NULL;

	T_CODE(dtx_outfile_open(t_dir(), RUN, DTX_OUTFILE_STREAM, &o, &err), DTX_E_OUTPUT_IO, &err);
	T_CODE(dtx_outfile_open(in_dir("no/such/out.csv"), RUN, DTX_OUTFILE_STREAM, &o, &err),
	       DTX_E_OUTPUT_IO, &err);
	T_CHECK(err.hint[0] != 0);
	T_CHECK(o == NULL);
}

void test_outfile_long_name(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_outfile *o = NULL;
	char name[NAME_MAX + 1];

	memset(name, 'n', NAME_MAX);
	name[NAME_MAX] = 0;
	T_OK(dtx_outfile_open(in_dir(name), RUN, DTX_OUTFILE_STREAM, &o, &err), &err);
	T_OK(dtx_outfile_finish(o, &err), &err);
	T_OK(dtx_outfile_commit(o, &err), &err);
	dtx_outfile_free(o);
	check_file(in_dir(name), "");
}

void test_outfile_disk_full(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_outfile *o = NULL;
	static char block[300 << 10];
	enum dtx_code rc;

	T_OK(dtx_outfile_open("/dev/full", RUN, DTX_OUTFILE_STREAM, &o, &err), &err);
	T_CHECK(!dtx_outfile_info(o)->atomic);
	rc = dtx_outfile_write(o, block, sizeof(block), &err);
	T_CODE(rc, DTX_E_DISK_FULL, &err);
	T_CHECK(err.hint[0] != 0);
	dtx_outfile_free(o);
	T_OK(dtx_outfile_open("/dev/full", RUN, DTX_OUTFILE_SPOOL, &o, &err), &err);
	T_OK(dtx_outfile_write(o, "x", 1, &err), &err);
	T_OK(dtx_outfile_finish(o, &err), &err);
	T_CODE(dtx_outfile_commit(o, &err), DTX_E_DISK_FULL, &err);
	dtx_outfile_free(o);
}

/* A child whose files may not exceed 100 KiB, as on a full disk. */
static int full_disk_child(const char *path)
{
	struct rlimit lim = { 100 << 10, 100 << 10 };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_outfile *o = NULL;
	static char block[300 << 10];
	enum dtx_code rc;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &lim);
	if (dtx_outfile_open(path, RUN, DTX_OUTFILE_STREAM, &o, &err) != DTX_OK)
		return 2;
	rc = dtx_outfile_write(o, block, sizeof(block), &err);
	dtx_outfile_free(o);
	return rc == DTX_E_DISK_FULL ? 0 : 1;
}

void test_outfile_full_disk_keeps_old(void)
{
	const char *path = in_dir("out.csv");
	int status = -1;
	pid_t pid;

	put_file(path, "old");
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(full_disk_child(path));
	T_CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	check_file(path, "old");
	T_INT(count_files(t_dir()), 1);
}

/* A FIFO stands for stdout: it is not replaced by a rename, and output beyond the part in memory is
 * spooled. */
void test_outfile_spool_spills(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_outfile *o = NULL;
	size_t piece = (size_t)48 << 20;
	struct dtx_buf sink = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	char *block = dtx_mem_zalloc(piece, 1);

	T_CHECK(block != NULL);
	T_OK(dtx_outfile_open("/dev/null", RUN, DTX_OUTFILE_SPOOL, &o, &err), &err);
	T_OK(dtx_outfile_write(o, block, piece, &err), &err);
	T_OK(dtx_outfile_write(o, block, piece, &err), &err);
	T_OK(dtx_outfile_write(o, "end", 3, &err), &err);
	T_OK(dtx_outfile_finish(o, &err), &err);
	T_INT(dtx_outfile_info(o)->size, 2 * piece + 3);
	T_OK(dtx_outfile_commit(o, &err), &err);
	dtx_outfile_free(o);
	dtx_mem_free(block);
	T_OK(dtx_outfile_memory(&sink, &o, &err), &err);
	T_OK(dtx_outfile_write(o, "abc", 3, &err), &err);
	T_OK(dtx_outfile_finish(o, &err), &err);
	T_OK(dtx_outfile_commit(o, &err), &err);
	T_STR(dtx_buf_text(&sink), "abc");
	dtx_outfile_free(o);
	dtx_buf_clear(&sink);
}

static enum dtx_code write_one(const char *path)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_outfile *o = NULL;
	enum dtx_code rc;

	DTX_TRY(dtx_outfile_open(path, RUN, DTX_OUTFILE_STREAM, &o, &err));
	DTX_TRY(dtx_outfile_write(o, "new", 3, &err));
	DTX_TRY(dtx_outfile_finish(o, &err));
	DTX_TRY(dtx_outfile_commit(o, &err));
out:
	dtx_outfile_free(o);
	return rc;
}

void test_outfile_alloc_fails(void)
{
	const char *path = in_dir("out.csv");

	put_file(path, "old");
	T_EVERY_ALLOC_FAILS(write_one(path));
	check_file(path, "new");
	T_INT(count_files(t_dir()), 1);
}

/* Two hashes computed together are the same as each one alone, wherever their blocks begin. */
void test_sha256_two_at_once(void)
{
	static const size_t sizes[] = { 0, 1, 63, 64, 65, 127, 128, 500, 4096 };
	static char x[4096], y[4096];

	if (!dtx_sha256_pairs()) {
		t_skip("no instructions for SHA-256");
		return;
	}
	for (size_t i = 0; i < sizeof(x); i++) {
		x[i] = (char)(i * 7 + i / 256);
		y[i] = (char)(i * 11 + 3);
	}
	for (size_t i = 0; i < DTX_COUNT(sizes) * DTX_COUNT(sizes) * 3; i++) {
		size_t nx = sizes[i % DTX_COUNT(sizes)], ny = sizes[i / DTX_COUNT(sizes) / 3];
		size_t before = i / DTX_COUNT(sizes) % 3 * 31;
		struct dtx_sha256 s[4];
		uint8_t got[4][DTX_SHA256_SIZE];

		for (int k = 0; k < 4; k++) {
			dtx_sha256_init(&s[k]);
			dtx_sha256_add(&s[k], x, k % 2 ? before : before / 2);
		}
		for (int twice = 0; twice < 2; twice++) {
			dtx_sha256_add(&s[0], x, nx);
			dtx_sha256_add(&s[1], y, ny);
			dtx_sha256_add_two(&s[2], x, nx, &s[3], y, ny);
		}
		for (int k = 0; k < 4; k++)
			dtx_sha256_done(&s[k], got[k]);
		T_INT(memcmp(got[0], got[2], sizeof(got[0])), 0);
		T_INT(memcmp(got[1], got[3], sizeof(got[1])), 0);
	}
}

/* A second hash of the output gets all of its bytes, whether they are written with it or not. */
void test_outfile_hashes_beside(void)
{
	struct dtx_buf sink = DTX_BUF_INIT(10000);
	struct dtx_outfile *o = NULL;
	struct dtx_sha256 s;
	uint8_t digest[DTX_SHA256_SIZE];
	char text[1000], got[DTX_SHA256_HEX], want[DTX_SHA256_HEX];

	if (!dtx_sha256_pairs()) {
		t_skip("no instructions for SHA-256");
		return;
	}
	memset(text, 'x', sizeof(text));
	dtx_sha256_init(&s);
	T_OK(dtx_outfile_memory(&sink, &o, NULL), NULL);
	dtx_outfile_beside(o, &s, text, 300);
	T_OK(dtx_outfile_write(o, text, 700, NULL), NULL);
	T_OK(dtx_outfile_write(o, text, 300, NULL), NULL);
	dtx_outfile_beside(o, &s, text, 500);
	dtx_outfile_beside(o, &s, text, 200);
	dtx_outfile_beside(o, NULL, NULL, 0);
	dtx_sha256_done(&s, digest);
	dtx_hex(digest, sizeof(digest), got);
	dtx_sha256_hex(text, sizeof(text), want);
	T_STR(got, want);
	T_OK(dtx_outfile_finish(o, NULL), NULL);
	T_STR(dtx_outfile_info(o)->sha, want);
	dtx_outfile_free(o);
	dtx_buf_clear(&sink);
}
