/* Errors, memory, arenas, text views, buffers. */
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/base/memory/arena.h"
#include "core/base/memory/buf.h"
#include "core/base/log.h"
#include "core/base/memory/ram.h"
#include "tests/t.h"

void test_err_codes(void)
{
	T_STR(dtx_code_name(DTX_E_UNKNOWN_OP), "unknown_op");
	T_INT(dtx_code_find("cast_failed"), DTX_E_CAST_FAILED);
	T_INT(dtx_code_find("no_such_code"), DTX_CODE_COUNT);
	T_INT(dtx_code_exit(DTX_E_TYPE_MISMATCH, false), 3);
	T_INT(dtx_code_exit(DTX_E_TYPE_MISMATCH, true), 4);
	T_CHECK(!dtx_code_triggers(DTX_E_TYPE_MISMATCH, false));
	T_CHECK(dtx_code_triggers(DTX_E_TYPE_MISMATCH, true));
	T_CHECK(!dtx_code_triggers(DTX_E_OVERFLOW, true));
}

/* All limits have the exit status "a limit was reached", except limits on the text of the plan
 * itself. */
void test_err_limits_exit_alike(void)
{
	for (int code = 0; code < DTX_CODE_COUNT; code++) {
		const char *name = dtx_code_name((enum dtx_code)code);
		size_t len = strlen(name);

		if (len > 6 && !strcmp(name + len - 6, "_limit") && code != DTX_E_EXPR_LIMIT)
			T_INT(dtx_code_exit((enum dtx_code)code, true), 8);
	}
}

void test_err_places(void)
{
	struct dtx_err err = DTX_ERR_INIT, copy = DTX_ERR_INIT;

	dtx_err_set(&err, DTX_E_CAST_FAILED, __FILE__, __LINE__, "n is %d", 5);
	dtx_err_at(&err, "/steps/1");
	dtx_err_at(&err, "/steps/2"); /* the first position stays */
	dtx_err_row(&err, 7, "hours");
	dtx_err_row(&err, 8, "days");
	dtx_err_step(&err, 1, "cast");
	dtx_err_more(&err, dtx_mem_strdup("{}"));
	dtx_err_copy(&copy, &err);
	T_STR(copy.msg, "n is 5");
	T_STR(copy.at, "/steps/1");
	T_STR(copy.column, "hours");
	T_INT(copy.row, 7);
	T_STR(copy.op, "cast");
	T_CHECK(copy.more != err.more);
	dtx_err_move(&err, &copy);
	T_INT(copy.code, DTX_OK);
	T_STR(err.more, "{}");
	dtx_err_clear(&err);
	T_INT(err.code, DTX_OK);
}

void test_err_is_utf8(void)
{
	struct dtx_err err = DTX_ERR_INIT;

	dtx_err_set(&err, DTX_E_USAGE, __FILE__, __LINE__, "'k\xe4se.csv' \xc3\xa9, '%.2s'",
	            "a\xc3\xa9");
	T_STR(err.msg, "'k?se.csv' \xc3\xa9, 'a?'");
	dtx_err_hint(&err, "\xff\xfe");
	T_STR(err.hint, "??");
	dtx_err_clear(&err);
}

void test_err_suggest(void)
{
	static const char *const have[] = { "region", "hours", "hour", "rate", "Hours" };
	struct dtx_err err = DTX_ERR_INIT;

	dtx_err_set(&err, DTX_E_UNKNOWN_COLUMN, __FILE__, __LINE__, "no column");
	dtx_err_suggest(&err, "hourz", have, DTX_COUNT(have));
	T_CHECK(!strcmp(err.did_you_mean[0], "hours") || !strcmp(err.did_you_mean[0], "hour"));
	T_CHECK(err.did_you_mean[1][0] != '\0');
	dtx_err_clear(&err);
	dtx_err_suggest(&err, "zzzzzzzz", have, DTX_COUNT(have));
	T_STR(err.did_you_mean[0], "");
}

/* A finding about a misspelling of a known name is an error.  A finding about a name that dtx does
 * not know says that a snippet is needed. */
void test_err_slip_is_an_error(void)
{
	static const char *const have[] = { "filter", "sort" };
	struct dtx_err err = DTX_ERR_INIT;

	dtx_err_set(&err, DTX_E_UNKNOWN_OP, __FILE__, __LINE__, "no op");
	dtx_err_suggest(&err, "balance", have, DTX_COUNT(have));
	err.severity = dtx_err_severity(&err, false);
	T_INT(err.severity, DTX_SEV_FALLBACK);
	T_INT(dtx_err_exit(&err), 5);
	dtx_err_suggest(&err, "fliter", have, DTX_COUNT(have));
	err.severity = dtx_err_severity(&err, false);
	T_INT(err.severity, DTX_SEV_ERROR);
	T_INT(dtx_err_exit(&err), 3);
	/* a step that a snippet could do has its own status, whether a snippet is wanted or not */
	dtx_err_set(&err, DTX_E_CAST_FAILED, __FILE__, __LINE__, "a cell");
	err.severity = DTX_SEV_FALLBACK;
	T_INT(dtx_err_exit(&err), 4);
	/* another name for the same thing */
	dtx_err_set(&err, DTX_E_UNKNOWN_OP, __FILE__, __LINE__, "no op");
	dtx_err_suggest_alias(&err, "wheer", "where,query", "filter");
	T_CHECK(err.misnamed);
	T_STR(err.did_you_mean[0], "filter");
	dtx_err_clear(&err);
}

void test_errlist(void)
{
	struct dtx_errlist list = DTX_ERRLIST_INIT;
	int i;

	for (i = 0; i < DTX_ERRLIST_MAX + 5; i++) {
		struct dtx_err err = DTX_ERR_INIT;

		dtx_err_set(&err, DTX_E_UNKNOWN_OP, __FILE__, __LINE__, "%d", i);
		err.severity = i == 3 ? DTX_SEV_ERROR : DTX_SEV_FALLBACK;
		dtx_err_more(&err, dtx_mem_strdup("x"));
		T_CHECK(dtx_errlist_take(&list, &err));
	}
	T_INT(list.n, DTX_ERRLIST_MAX);
	T_INT(list.dropped, 5);
	T_STR(dtx_errlist_worst(&list)->msg, "3");
	dtx_errlist_clear(&list);
	T_CHECK(dtx_errlist_worst(&list) == NULL);
}

void test_mem_limits(void)
{
	size_t used = dtx_mem_used(), cap = 0;
	int *items = NULL;
	void *p;

	T_CHECK(dtx_mem_alloc(SIZE_MAX / 2, 4) == NULL);
	p = dtx_mem_alloc(0, 8);
	T_CHECK(p != NULL);
	dtx_mem_free(p);
	dtx_mem_set_limit(used + 100000);
	T_CHECK(dtx_mem_alloc(200000, 1) == NULL);
	T_CHECK(dtx_mem_reserve(&items, &cap, 10, sizeof(*items)));
	T_CHECK(!dtx_mem_reserve(&items, &cap, 1000000, sizeof(*items)));
	T_CHECK(items != NULL && cap >= 10);
	dtx_mem_set_ceiling(used + 50000); /* a budget takes precedence over it */
	T_INT(dtx_mem_ceiling(), 0);
	p = dtx_mem_alloc(70000, 1);
	T_CHECK(p != NULL);
	dtx_mem_free(p);
	dtx_mem_set_limit(0);
	T_INT(dtx_mem_ceiling(), used + 50000);
	T_CHECK(dtx_mem_alloc(70000, 1) == NULL);
	T_INT(dtx_mem_limit(), 0);
	dtx_mem_set_ceiling(0);
	dtx_mem_free(items);
	T_INT(dtx_mem_used(), used);
	p = dtx_mem_alloc64(3, 8);
	T_CHECK(p && (uintptr_t)p % 64 == 0);
	dtx_mem_free(p);
	dtx_mem_fail_at(1);
	p = dtx_mem_zalloc(4, 4);
	T_CHECK(p != NULL && dtx_mem_alloc(1, 1) == NULL);
	dtx_mem_fail_at(-1);
	dtx_mem_free(p);
}

static void write_below(const char *root, const char *path, const char *text)
{
	char at[PATH_MAX];
	FILE *f;

	snprintf(at, sizeof(at), "%s/%s", root, path);
	for (char *p = at + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		(void)mkdir(at, 0700);
		*p = '/';
	}
	f = fopen(at, "we");
	T_CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* Control groups of both versions; the smallest of all limits counts. */
void test_ram_groups(void)
{
	char root[] = "/tmp/dtx-ram-XXXXXX", command[64];
	size_t all;

	T_CHECK(mkdtemp(root) != NULL);
	all = dtx_ram_bytes(root);
	T_CHECK(all >= 16 << 20);
	write_below(root, "proc/self/cgroup", "0::/a/b\n");
	write_below(root, "sys/fs/cgroup/a/b/memory.max", "max\n");
	T_INT(dtx_ram_bytes(root), all);
	write_below(root, "sys/fs/cgroup/a/memory.max", "10000000\n");
	T_INT(dtx_ram_bytes(root), 10000000);
	write_below(root, "sys/fs/cgroup/a/b/memory.max", "7000000\n");
	T_INT(dtx_ram_bytes(root), 7000000);
	write_below(root, "sys/fs/cgroup/memory.max", "6000000\n");
	T_INT(dtx_ram_bytes(root), 6000000);
	write_below(root, "proc/self/cgroup", "5:cpu,memory:/x\n1:name=systemd:/y\n");
	write_below(root, "sys/fs/cgroup/memory/x/memory.limit_in_bytes", "5000000\n");
	T_INT(dtx_ram_bytes(root), 5000000);
	write_below(root, "sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n");
	T_INT(dtx_ram_bytes(root), all);
	snprintf(command, sizeof(command), "rm -r %s", root);
	T_INT(system(command), 0);
}

void test_arena(void)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_arena_mark mark;
	char *s, *big;
	int i;

	s = dtx_arena_printf(&a, "%s-%d", "x", 5);
	T_STR(s, "x-5");
	mark = dtx_arena_mark(&a);
	for (i = 0; i < 1000; i++)
		T_CHECK(dtx_arena_zalloc(&a, 100, 1) != NULL);
	big = dtx_arena_alloc(&a, 3 << 20, 1);
	T_CHECK(big != NULL && (uintptr_t)big % 16 == 0);
	memset(big, 1, 3 << 20);
	dtx_arena_rewind(&a, mark);
	T_STR(s, "x-5");
	for (i = 0; i < 1000; i++)
		T_CHECK(dtx_arena_alloc(&a, 100, 1) != NULL);
	T_CHECK(dtx_arena_alloc(&a, SIZE_MAX, 2) == NULL);
	dtx_arena_clear(&a);
}

/* Packed bytes have no gaps between them, an allocation after them is aligned, and blocks grow with
 * the arena. */
void test_arena_pack(void)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	const char *s = dtx_arena_pack(&a, "abc", 3), *t = dtx_arena_pack(&a, "defgh", 5);

	T_CHECK(s && t == s + 3 && memcmp(s, "abcdefgh", 8) == 0);
	T_CHECK((uintptr_t)dtx_arena_alloc(&a, 1, 1) % 16 == 0);
	T_CHECK(dtx_arena_pack(&a, "", 0) != NULL);
	for (size_t i = 0; i < 20000; i++) {
		s = dtx_arena_pack(&a, "0123456789abcdef0123456789abcde", 1 + i % 31);
		T_CHECK(s && s[i % 31] == "0123456789abcdef0123456789abcde"[i % 31]);
		T_CHECK(i % 50 || (uintptr_t)dtx_arena_alloc(&a, 1000, 1) % 16 == 0);
	}
	T_CHECK(dtx_arena_pack(&a, "", SIZE_MAX) == NULL);
	dtx_arena_clear(&a);
}

void test_str_pieces(void)
{
	struct dtx_str rest = DTX_STR("a,,b"), piece;
	int n = 0;

	while (dtx_str_next(&rest, ',', &piece))
		n++;
	T_INT(n, 3);
	T_CHECK(dtx_str_is(piece, "b"));
	rest = DTX_STR("");
	T_CHECK(dtx_str_next(&rest, ',', &piece) && !piece.len &&
	        !dtx_str_next(&rest, ',', &piece));
	T_CHECK(dtx_str_in_list("op,in,out", "in") && !dtx_str_in_list("op,in,out", "i"));
	T_CHECK(!dtx_str_in_list(NULL, "a"));
	T_CHECK(dtx_str_is(dtx_str_trim(DTX_STR(" \t x y\r\n")), "x y"));
	T_INT(dtx_str_find(DTX_STR("abcabc"), DTX_STR("bc"), 2), 4);
	T_INT(dtx_str_find(DTX_STR("abc"), DTX_STR(""), 3), 3);
	T_INT(dtx_str_find(DTX_STR("abc"), DTX_STR("abcd"), 0), -1);
	T_CHECK(dtx_str_cmp(DTX_STR("a"), DTX_STR("ab")) < 0);
	T_CHECK(dtx_str_cmp(DTX_STR("\xff"), DTX_STR("a")) > 0);
	T_CHECK(dtx_str_starts(DTX_STR("abc"), DTX_STR("ab")) &&
	        dtx_str_ends(DTX_STR("abc"), DTX_STR("bc")));
}

void test_str_copy(void)
{
	char to[6];

	dtx_str_copy(to, sizeof(to),
	             DTX_STR("abc\xe2\x82\xac"
	                     "d"));
	T_STR(to, "abc"); /* not half a euro sign */
	dtx_str_copy(to, sizeof(to), DTX_STR("abcde"));
	T_STR(to, "abcde");
}

void test_str_near(void)
{
	static const struct {
		const char *want, *have;
		bool near;
	} rows[] = {
		{ "fliter", "filter", true },
		{ "Filter", "filter", true },
		{ "order_date", "Order Date", true },
		{ "ORDER-DATE", "order_date", true },
		{ "categories", "category", true },
		{ "boxes", "box", true },
		{ "ids", "id", true },
		{ "regons", "region", true },
		{ "qtx", "qty", true },
		{ "qtxy", "qt", false },
		{ "tot", "sum", false },
		{ "amnt", "amount", true }, /* two letters of six */
		{ "amt", "amount", false },
		{ "Gr\xc3\xb6sse", "gr\xc3\x96sse", true },
		{ "caf\xc3\xa9", "cafe", true },
		/* in two letters there is too little to compare */
		{ "x", "y", false },
		{ "ab", "ac", false },
		/* another year is another column */
		{ "2023", "2024", false },
		{ "sales_2023", "sales 2024", false },
		{ "planned", "target", false },
		{ "class", "clas", true },
		{ "", "a", false },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++)
		if (dtx_str_near(dtx_str_of(rows[i].want), dtx_str_of(rows[i].have)) !=
		    rows[i].near)
			T_STR(rows[i].want, rows[i].near ? "is near" : "is not near");
	T_CHECK(dtx_str_near(dtx_str_of("same"), dtx_str_of("same")));
}

void test_str_distance(void)
{
	static const struct {
		const char *a, *b;
		size_t d;
	} rows[] = {
		{ "hours", "hour", 1 }, { "hours", "huors", 1 },    { "abc", "abc", 0 },
		{ "", "ab", 2 },        { "kitten", "sitting", 3 }, { "abcdef", "zzzzzz", 4 }
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++)
		T_INT(dtx_str_distance(dtx_str_of(rows[i].a), dtx_str_of(rows[i].b), 3), rows[i].d);
}

void test_buf(void)
{
	struct dtx_buf b = DTX_BUF_INIT(10);
	struct dtx_err err = DTX_ERR_INIT;
	char *text;

	T_STR(dtx_buf_text(&b), "");
	dtx_buf_add(&b, "12345");
	dtx_buf_printf(&b, "%d", 67890);
	T_STR(dtx_buf_text(&b), "1234567890");
	dtx_buf_addc(&b, 'x');
	T_CHECK(!dtx_buf_ok(&b));
	T_CODE(dtx_buf_check(&b, "it", &err), DTX_E_CELL_LIMIT, &err);
	T_CHECK(dtx_buf_steal(&b) == NULL);
	dtx_buf_json(&b, DTX_STR("\"\n\xff"));
	text = dtx_buf_steal(&b);
	T_STR(text, "\"\\\"\\n\xef\xbf\xbd\"");
	dtx_mem_free(text);
	dtx_buf_clear(&b);
	dtx_err_clear(&err);
}

static void log_put(void *arg, enum dtx_level level, const char *event, const char *text)
{
	snprintf(arg, 100, "%d %s %s", (int)level, event, text);
}

void test_log(void)
{
	char got[100] = "";
	struct dtx_log log = { DTX_LOG_INFO, log_put, got };

	dtx_log(&log, DTX_LOG_DEBUG, "quiet", "no");
	T_STR(got, "");
	dtx_log(&log, DTX_LOG_WARN, "word", "n = %d", 5);
	T_STR(got, "1 word n = 5");
	dtx_log(NULL, DTX_LOG_ERROR, "x", "y");
	T_CHECK(dtx_now_ns() > 0 && dtx_wall_us() > 1000000000000000);
}
