/* Inputs as bytes: files, pipes, hashes, changes. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/sigbus_guard.h"
#include "core/base/hash/hash.h"
#include "core/base/log.h"
#include "core/base/memory/mem.h"
#include "core/base/thread/pool.h"
#include "core/io/source/source.h"
#include "tests/t.h"

static const char *source_file(char path[256], const char *name, const char *text)
{
	struct dtx_err err = DTX_ERR_INIT;
	int fd;

	snprintf(path, 256, "%s/%s", t_dir(), name);
	fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
	T_OK(dtx_file_write(fd, text, strlen(text), path, &err), &err);
	dtx_file_close(&fd);
	return path;
}

void test_source_maps_a_file(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *s = NULL;
	char path[256];

	T_OK(dtx_source_open(source_file(path, "a.csv", "a,b\n1,2\n"), &s, &err), &err);
	T_STR(dtx_source_name(s), path);
	T_INT(dtx_source_size(s), 8);
	T_CHECK(!memcmp(dtx_source_data(s), "a,b\n1,2\n", 8));
	T_CHECK(dtx_source_mtime_us(s) > 0);
	dtx_source_free(s);
	T_OK(dtx_source_open(source_file(path, "empty.csv", ""), &s, &err), &err);
	T_CHECK(dtx_source_data(s) && dtx_source_size(s) == 0);
	dtx_source_free(s);
}

/* The memory that columns point into lives as long as they do. */
void test_source_owner_outlives_it(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *s = NULL;
	struct dtx_owner *o;
	const char *data;
	char path[256];

	T_OK(dtx_source_open(source_file(path, "a.csv", "a,b\n"), &s, &err), &err);
	data = dtx_source_data(s);
	T_INT(dtx_owner_refs(dtx_source_owner(s)), 1);
	o = dtx_owner_ref(dtx_source_owner(s));
	T_INT(dtx_owner_refs(o), 2);
	dtx_source_free(s);
	T_INT(dtx_owner_refs(o), 1);
	T_CHECK(!memcmp(data, "a,b\n", 4));
	dtx_owner_unref(o);
	T_INT(dtx_owner_refs(NULL), 0);
}

void test_source_refuses(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *s = NULL;

	T_CODE(dtx_source_open("/nowhere/x.csv", &s, &err), DTX_E_INPUT_NOT_FOUND, &err);
	T_CODE(dtx_source_open(t_dir(), &s, &err), DTX_E_INPUT_IO, &err);
	T_CHECK(!s);
}

/* The guard for files that are cut short has a limited number of entries. */
void test_source_one_too_many(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *s = NULL;
	static int guard[DTX_SIGBUS_GUARD_MAX];
	static char large[(16 << 10) + 2]; /* a smaller file is not mapped */
	char path[256];
	int n = 0;

	memset(large, 'a', sizeof(large) - 1);
	source_file(path, "a.csv", large);
	while (n < DTX_SIGBUS_GUARD_MAX && (guard[n] = dtx_sigbus_guard_add(path, 1)) >= 0)
		n++;
	T_CODE(dtx_source_open(path, &s, &err), DTX_E_INPUT_IO, &err);
	T_CHECK(strstr(err.msg, "is one of more than 32768 files of over 16384 bytes"));
	while (n > 0)
		dtx_sigbus_guard_remove(guard[--n]);
	T_OK(dtx_source_open(path, &s, &err), &err);
	dtx_source_free(s);
	dtx_err_clear(&err);
}

void test_source_hash(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *s = NULL;
	char hex[DTX_IDENTITY_TEXT], want[DTX_SHA256_HEX];
	int started;

	dtx_sha256_hex("abc", 3, want);
	for (started = 0; started < 2; started++) {
		T_OK(dtx_source_bytes("x", "abc", 3, &s, &err), &err);
		if (started)
			dtx_source_hash_start(s, DTX_IDENTITY_SHA256, 0);
		T_OK(dtx_source_hash_wait(s, hex, &err), &err);
		T_STR(hex, want);
		T_OK(dtx_source_hash_wait(s, hex, &err), &err);
		T_STR(hex, want);
		dtx_source_free(s);
	}
	T_OK(dtx_source_bytes("x", "abc", 3, &s, &err), &err);
	dtx_source_hash_start(s, DTX_IDENTITY_XXH3, 0);
	T_OK(dtx_source_hash_wait(s, hex, &err), &err);
	T_STR(hex, "xxh3:06b05ab6733a618578af5f94892f3950"); /* XXH3-128 of "abc" */
	dtx_source_free(s);
	T_OK(dtx_source_bytes("x", "abc", 3, &s, &err), &err);
	dtx_source_hash_start(s, DTX_IDENTITY_SHA256, 0);
	dtx_source_free(s); /* joins */
}

/* While SHA-256 is computed it lags behind readers that have finished, and no others; nor does it
 * before, after, or with the weak identity. */
void test_source_hash_lags(void)
{
	size_t len = (size_t)32 << 20;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *s = NULL;
	char *bytes = dtx_mem_zalloc(len, 1);
	char hex[DTX_IDENTITY_TEXT], want[DTX_SHA256_HEX];
	bool seen = false;

	T_CHECK(bytes != NULL);
	for (int i = 0; i < 50 && !seen; i++) { /* the thread may be through before we look */
		T_OK(dtx_source_bytes("x", bytes, len, &s, &err), &err);
		T_CHECK(!dtx_source_hash_lags(s, 1, 1));
		dtx_source_hash_start(s, DTX_IDENTITY_SHA256, 0);
		seen = dtx_source_hash_lags(s, 1, 1);
		T_OK(dtx_source_hash_wait(s, hex, &err), &err);
		T_CHECK(!dtx_source_hash_lags(s, 1, 1));
		dtx_source_free(s);
	}
	T_CHECK(seen);
	dtx_sha256_hex(bytes, len, want);
	T_STR(hex, want);
	T_OK(dtx_source_bytes("x", bytes, len, &s, &err), &err);
	dtx_source_hash_start(s, DTX_IDENTITY_XXH3, 0);
	T_CHECK(!dtx_source_hash_lags(s, 1, 1));
	dtx_source_free(s);
	dtx_mem_free(bytes);
}

void test_source_sees_changes(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *s = NULL;
	char path[256];

	T_OK(dtx_source_open(source_file(path, "a.csv", "a,b\n"), &s, &err), &err);
	T_OK(dtx_source_unchanged(s, &err), &err);
	source_file(path, "a.csv", "a,b\n1,2\n");
	T_CODE(dtx_source_unchanged(s, &err), DTX_E_INPUT_CHANGED, &err);
	dtx_source_free(s);
	T_OK(dtx_source_bytes("x", "abc", 3, &s, &err), &err);
	T_OK(dtx_source_unchanged(s, &err), &err);
	dtx_source_free(s);
	dtx_err_clear(&err);
}

struct source_pipe {
	const char *path;
	size_t blocks;
};

static enum dtx_code source_feed(void *arg, struct dtx_err *err)
{
	static const char block[1 << 20] = "x";
	const struct source_pipe *p = arg;
	enum dtx_code rc = DTX_OK;
	int fd = open(p->path, O_WRONLY | O_CLOEXEC);
	size_t i;

	for (i = 0; i < p->blocks; i++)
		DTX_TRY(dtx_file_write(fd, block, sizeof(block), p->path, err));
	DTX_TRY(dtx_file_write(fd, "end", 3, p->path, err));
out:
	dtx_file_close(&fd);
	return rc;
}

/* A pipe is kept in memory, then in a file. */
static void source_reads_pipe(size_t blocks)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *s = NULL;
	struct dtx_task *task = NULL;
	char path[256];
	struct source_pipe p = { path, blocks };
	size_t size = (blocks << 20) + 3;

	snprintf(path, sizeof(path), "%s/pipe%zu", t_dir(), blocks);
	T_INT(mkfifo(path, 0600), 0);
	T_OK(dtx_task_start(source_feed, &p, &task, &err), &err);
	T_OK(dtx_source_open(path, &s, &err), &err);
	T_OK(dtx_task_join(task, &err), &err);
	T_INT(dtx_source_size(s), size);
	T_CHECK(!memcmp(dtx_source_data(s) + size - 3, "end", 3));
	T_INT(dtx_source_mtime_us(s), -1);
	T_OK(dtx_source_unchanged(s, &err), &err);
	dtx_source_free(s);
}

void test_source_spools_a_pipe(void)
{
	source_reads_pipe(0);
	source_reads_pipe(2);
	source_reads_pipe(66);
}

static enum dtx_code source_faulty(const char *path)
{
	struct dtx_source *a = NULL, *b = NULL;
	enum dtx_code rc;

	rc = dtx_source_open(path, &a, NULL);
	if (rc == DTX_OK)
		rc = dtx_source_bytes("x", "abc", 3, &b, NULL);
	dtx_source_free(a);
	dtx_source_free(b);
	return rc;
}

void test_source_no_memory(void)
{
	char path[256];

	source_file(path, "a.csv", "a,b\n");
	T_EVERY_ALLOC_FAILS(source_faulty(path));
}

/* The missing pages read as zeros, in any thread.  The source reports it, whatever the file looks
 * like afterwards. */
void test_source_cut_short_while_it_is_read(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *s = NULL, *other = NULL;
	struct dtx_buf text = DTX_BUF_INIT(1 << 20);
	char path[256], hex[DTX_IDENTITY_TEXT];
	size_t i, zeros = 0;

	for (i = 0; i < 5000; i++)
		dtx_buf_add(&text, "1,2,3,4\n");
	T_OK(dtx_source_open(source_file(path, "a.csv", dtx_buf_text(&text)), &s, &err), &err);
	T_OK(dtx_source_open(path, &other, &err), &err);
	T_CODE(dtx_source_check_truncated(s, DTX_E_BAD_QUOTE, &err), DTX_E_BAD_QUOTE, &err);
	T_INT(truncate(path, 100), 0);
	dtx_source_hash_start(s, DTX_IDENTITY_SHA256, 0);
	T_OK(dtx_source_hash_wait(s, hex, &err), &err);
	for (i = 0; i < dtx_source_size(s); i++)
		zeros += !dtx_source_data(s)[i];
	T_CHECK(zeros > 30000 && dtx_source_data(s)[0] == '1');
	T_CODE(dtx_source_check_truncated(s, DTX_E_BAD_QUOTE, &err), DTX_E_INPUT_CHANGED, &err);
	T_CODE(dtx_source_check_truncated(s, DTX_OK, &err), DTX_E_INPUT_CHANGED, &err);
	T_CODE(dtx_source_check_truncated(other, DTX_OK, &err), DTX_OK, &err);
	dtx_source_free(s);
	dtx_source_free(other);
	dtx_buf_clear(&text);
	dtx_err_clear(&err);
}

static long touch(const struct dtx_source *s)
{
	const volatile char *p = dtx_source_data(s);
	long sum = 0;

	for (size_t at = 0; at < dtx_source_size(s); at += 4096)
		sum += p[at];
	return sum;
}

void test_source_lets_go(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *s = NULL;
	int64_t late = dtx_now_ns() + (int64_t)20 * 1000000000;
	long before;
	char path[256];

	source_file(path, "large.csv", "a,b\n1,2\n");
	T_INT(truncate(path, (off_t)64 << 20), 0);
	T_OK(dtx_source_open(path, &s, &err), &err);
	T_INT(touch(s), 'a');
	before = t_mapped_mib();
	T_CHECK(before >= 60);
	dtx_source_let_go(s);
	while (t_mapped_mib() > before - 60 && dtx_now_ns() < late)
		;
	T_CHECK(t_mapped_mib() <= before - 60);
	T_INT(touch(s), 'a'); /* still there for a caller that asks */
	dtx_source_let_go(s); /* once */
	dtx_source_free(s);
}
