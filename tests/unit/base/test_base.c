/* Text, hashes, maps, files, threads. */
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/cpu.h"
#include "core/base/err.h"
#include "core/base/file.h"
#include "core/base/hash/hash.h"
#include "core/base/lib.h"
#include "core/base/thread/pool.h"
#include "core/base/strmap.h"
#include "core/base/text/utf8.h"
#include "tests/t.h"

void test_utf8_bad(void)
{
	static const struct {
		const char *text;
		ptrdiff_t at;
	} rows[] = {
		{ "plain ascii that is long enough", -1 },
		{ "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", -1 },
		{ "12345678\xff", 8 },
		{ "\xc0\x80", 0 },
		{ "a\xed\xa0\x80", 1 },
		{ "\xf4\x90\x80\x80", 0 },
		{ "ab\xe2\x82", 2 },
		{ "\xe0\x80\x80", 0 },
		{ "\x80", 0 },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++)
		T_INT(dtx_utf8_bad(rows[i].text, strlen(rows[i].text)), rows[i].at);
}

void test_utf8_step(void)
{
	static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xff";
	static const uint32_t want[] = { 'a', 0xe9, 0x20ac, 0x1f600, 0xfffd };
	size_t pos = 0, i;

	for (i = 0; i < DTX_COUNT(want); i++)
		T_INT(dtx_utf8_next(text, sizeof(text) - 1, &pos), want[i]);
	T_INT(pos, sizeof(text) - 1);
	T_INT(dtx_utf8_count(text, 10), 4);
	T_INT(dtx_utf8_offset(text, 10, 2), 3);
	T_INT(dtx_utf8_offset(text, 10, 9), 10);
	for (i = 0; i < 4; i++) {
		char out[4];

		pos = 0;
		T_INT(dtx_utf8_next(out, dtx_utf8_put(out, want[i]), &pos), want[i]);
	}
}

void test_utf8_trim(void)
{
	struct dtx_str s = dtx_utf8_trim(dtx_str_of("\xc2\xa0 \xe3\x80\x80x y\xe2\x80\x83\t"));

	T_CHECK(dtx_str_is(s, "x y"));
	T_CHECK(dtx_utf8_is_blank(dtx_str_of(" \xc2\xa0\r\n")));
	T_CHECK(!dtx_utf8_is_blank(dtx_str_of(" .")));
	T_INT(dtx_utf8_width("a\xe4\xb8\xad"
	                     "e\xcc\x81",
	                     7),
	      4);
}

void test_utf8_case(void)
{
	static const char *const rows[][4] = {
		{ "stra\xc3\x9f"
		  "e",
		  "STRASSE",
		  "stra\xc3\x9f"
		  "e",
		  "strasse" },
		{ "\xce\x9f\xce\xa3 \xce\xa3", "\xce\x9f\xce\xa3 \xce\xa3",
		  "\xce\xbf\xcf\x82 \xcf\x83", "\xce\xbf\xcf\x83 \xcf\x83" },
		{ "\xc3\x89"
		  "a",
		  "\xc3\x89"
		  "A",
		  "\xc3\xa9"
		  "a",
		  "\xc3\xa9"
		  "a" },
		{ "\xef\xac\x81", "FI", "\xef\xac\x81", "fi" },
	};
	void (*const fn[])(struct dtx_buf *, struct dtx_str) = { dtx_utf8_upper, dtx_utf8_lower,
		                                                 dtx_utf8_fold };
	size_t i, j;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		for (j = 0; j < 3; j++) {
			struct dtx_buf b = DTX_BUF_INIT(100);

			fn[j](&b, dtx_str_of(rows[i][0]));
			T_STR(dtx_buf_text(&b), rows[i][j + 1]);
			dtx_buf_clear(&b);
		}
	}
}

void test_hash_sha256(void)
{
	char hex[DTX_SHA256_HEX];

	dtx_sha256_hex("abc", 3, hex);
	T_STR(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	dtx_sha256_hex("", 0, hex);
	T_STR(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	T_CHECK(dtx_hash64("a", 1, 0) != dtx_hash64("b", 1, 0));
}

static enum dtx_code strmap_fill(size_t n)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_strmap m = DTX_STRMAP_INIT;
	uint32_t found;
	size_t i;

	for (i = 0; i < 2 * n; i++) {
		char key[32];

		snprintf(key, sizeof(key), "key %zu", i % n);
		if (!dtx_strmap_put(&m, dtx_str_of(key), (uint32_t)i, &found))
			DTX_FAIL(NULL, DTX_E_NO_MEMORY, "no memory");
		T_INT(found, i % n);
	}
	T_INT(m.n, n);
	T_INT(dtx_strmap_get(&m, DTX_STR("key 3")), 3);
	T_INT(dtx_strmap_get(&m, DTX_STR("key")), DTX_STRMAP_NONE);
out:
	dtx_strmap_clear(&m);
	return rc;
}

void test_strmap(void)
{
	struct dtx_strmap one = DTX_STRMAP_INIT;
	size_t used = dtx_mem_used();
	uint32_t found;

	/* a table may have a million groups, each with a map of its own for one text */
	T_CHECK(dtx_strmap_put(&one, DTX_STR("a"), 1, &found) && dtx_mem_used() - used < 1024);
	dtx_strmap_clear(&one);
	T_INT(dtx_mem_used(), used);
	T_OK(strmap_fill(5000), NULL);
	T_EVERY_ALLOC_FAILS(strmap_fill(100));
}

void test_file_round(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_buf b = DTX_BUF_INIT(5), one = DTX_BUF_INIT(4);
	char path[256];
	int fd = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%s/five", t_dir());
	f = fopen(path, "w");
	T_CHECK(f && fputs("12345", f) >= 0 && fclose(f) == 0);
	T_OK(dtx_file_slurp(path, &b, &err), &err);
	T_STR(dtx_buf_text(&b), "12345");
	T_CODE(dtx_file_slurp(path, &one, &err), DTX_E_CELL_LIMIT, &err);
	T_CODE(dtx_file_open(t_dir(), &fd, &err), DTX_E_INPUT_IO, &err);
	snprintf(path, sizeof(path), "%s/none", t_dir());
	T_CODE(dtx_file_open(path, &fd, &err), DTX_E_INPUT_NOT_FOUND, &err);
	T_CODE(dtx_file_temp("/proc/nowhere", &fd, &err), DTX_E_OUTPUT_IO, &err);
	T_STR(err.msg,
	      "cannot make a temporary file in '/proc/nowhere': No such file or directory");
	T_INT(fd, -1);
	T_OK(dtx_file_temp(t_dir(), &fd, &err), &err);
	T_OK(dtx_file_write(fd, "abc", 3, "temp", &err), &err);
	T_OK(dtx_file_sync(fd, "temp", &err), &err);
	T_INT(lseek(fd, 0, SEEK_END), 3);
	dtx_file_close(&fd);
	T_OK(dtx_file_sync_dir(path, &err), &err);
	fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	T_CODE(dtx_file_write(fd, "abc", 3, "full", &err), DTX_E_DISK_FULL, &err);
	dtx_file_close(&fd);
	dtx_buf_clear(&b);
	dtx_buf_clear(&one);
	dtx_err_clear(&err);
}

void test_file_names(void)
{
	static const char *const rows[][3] = {
		{ "a/b.csv", "a", "b.csv" },
		{ "b.csv", ".", "b.csv" },
		{ "/b", "/", "b" },
		{ "/a/b/c", "/a/b", "c" },
	};
	char dir[64], *abs;
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		dtx_file_dirname(rows[i][0], dir, sizeof(dir));
		T_STR(dir, rows[i][1]);
		T_STR(dtx_file_basename(rows[i][0]), rows[i][2]);
	}
	abs = dtx_file_absolute("x");
	T_CHECK(abs && abs[0] == '/' && !strcmp(dtx_file_basename(abs), "x"));
	dtx_mem_free(abs);
}

static enum dtx_code pool_add(void *arg, unsigned worker, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	atomic_fetch_add((atomic_int *)arg, 1 << worker * 4);
	if (worker >= 2)
		DTX_FAIL(err, DTX_E_OVERFLOW, "worker %u", worker);
out:
	return rc;
}

static enum dtx_code pool_once(void *arg, struct dtx_err *err)
{
	return pool_add(arg, 3, err);
}

void test_pool(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_task *task = NULL;
	atomic_int sum = 0;

	T_CHECK(dtx_pool_cpus() >= 1);
	T_OK(dtx_pool_run(2, pool_add, &sum, &err), &err);
	T_INT(atomic_load(&sum), 0x11);
	T_CODE(dtx_pool_run(4, pool_add, &sum, &err), DTX_E_OVERFLOW, &err);
	T_STR(err.msg, "worker 2");
	T_OK(dtx_task_start(pool_once, &sum, &task, &err), &err);
	T_CODE(dtx_task_join(task, &err), DTX_E_OVERFLOW, &err);
	T_OK(dtx_task_join(NULL, &err), &err);
	dtx_err_clear(&err);
}

static enum dtx_code pool_two(void)
{
	atomic_int sum = 0;
	struct dtx_task *task = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_pool_run(2, pool_add, &sum, NULL));
	DTX_TRY(dtx_task_start(pool_once, &sum, &task, NULL));
	dtx_task_join(task, NULL);
out:
	return rc;
}

void test_pool_every_alloc_fails(void)
{
	T_EVERY_ALLOC_FAILS(pool_two());
}

void test_cpu(void)
{
	enum dtx_cpu best = dtx_cpu_best();

	T_CHECK(dtx_cpu_name(best)[0] != '\0');
	setenv("DTX_SIMD", "any", 1);
	T_INT(dtx_cpu_best(), DTX_CPU_ANY);
	unsetenv("DTX_SIMD");
	T_INT(dtx_cpu_best(), best);
}

void test_lib_open(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	void *cosine = NULL, *none = &err;
	struct dtx_lib_symbol symbol[] = { { "cos", &cosine }, { "no_such_symbol", &none } };

	T_OK(dtx_lib_open("libm.so.6", "libc6", false, symbol, 1, &err), &err);
	T_CHECK(cosine != NULL);
	T_CODE(dtx_lib_open("libm.so.6", "libc6", false, symbol, 2, &err), DTX_E_INPUT_IO, &err);
	T_CHECK(cosine == NULL && none == NULL);
	T_CODE(dtx_lib_open("libnone.so.1", "none", false, symbol, 1, &err), DTX_E_INPUT_IO, &err);
	T_STR(err.hint, "install the package none");
	dtx_err_clear(&err);
}

static const char *normal(const char *text, enum dtx_utf8_form form, struct dtx_buf *b)
{
	dtx_buf_reset(b);
	dtx_utf8_normal(b, dtx_str_of(text), form);
	return dtx_buf_text(b);
}

void test_base_utf8_forms(void)
{
	struct dtx_buf b = DTX_BUF_INIT(1 << 20);

	T_STR(normal("e\xcc\x81", DTX_UTF8_NFC, &b), "é");
	T_STR(normal("é", DTX_UTF8_NFD, &b), "e\xcc\x81");
	T_STR(normal("ﬁ½", DTX_UTF8_NFC, &b), "ﬁ½");
	T_STR(normal("ﬁ", DTX_UTF8_NFKC, &b), "fi");
	T_STR(normal("plain", DTX_UTF8_NFKD, &b), "plain");
	T_STR(normal("", DTX_UTF8_NFC, &b), "");
	dtx_buf_reset(&b);
	dtx_utf8_to_ascii(&b, dtx_str_of("Größe Łódź Æon 日 ﬁ"), "_");
	T_STR(dtx_buf_text(&b), "Grosse Lodz AEon _ fi");
	T_CHECK(dtx_utf8_is_word('a') && dtx_utf8_is_word(0x65e5) && dtx_utf8_is_word('7'));
	T_CHECK(!dtx_utf8_is_word('_') && !dtx_utf8_is_word(' ') && !dtx_utf8_is_word(0x20ac));
	dtx_mem_fail_at(0);
	normal("é", DTX_UTF8_NFC, &b);
	dtx_mem_fail_at(-1);
	T_CHECK(!dtx_buf_ok(&b));
	dtx_buf_clear(&b);
}

void test_text_singular(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "1 rows are left out", "1 row is left out" },
		{ "1 nulls in 1 rows", "1 null in 1 row" },
		{ "'a.csv': 1 column names are repeated", "'a.csv': 1 column name is repeated" },
		{ "11 rows, -1 rows, 2.1 rows", "11 rows, -1 rows, 2.1 rows" },
		{ "got '1 rows' (1 rows)", "got '1 rows' (1 row)" },
		{ "the plan's 1 steps", "the plan's 1 step" },
		{ "step 1 columns, 1 of 2 rows", "step 1 columns, 1 of 2 rows" },
		{ "2 values and 1 nulls are not 20 rows", "2 values and 1 null are not 20 rows" },
		{ "4 cells of 1 merged ranges are null", "4 cells of 1 merged range are null" },
		{ "1 cells of 1 merged ranges are null", "1 cell of 1 merged range is null" },
		{ "1 other visible sheets have cells", "1 other visible sheet has cells" },
		{ "1 ", "1 " },
		{ "at 'x", "at 'x" },
	};
	char text[80];

	for (size_t i = 0; i < DTX_COUNT(rows); i++) {
		snprintf(text, sizeof(text), "%s", rows[i].text);
		dtx_text_singular(text);
		T_STR(text, rows[i].want);
	}
}
