/* Refusals of readers, and their remedies. */
#include "core/io/repair.h"

#include "core/io/encoding/enc_guess.h"
#include "tests/unit/csv_dump.h"

/* Opens and reads with all remedies.  Prints the notes and the rows, or the code that remains. */
static enum dtx_code repair_dump(const char *text, size_t len, struct dtx_buf *out)
{
	struct dump_how how = DUMP_HOW;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_errlist done = DTX_ERRLIST_INIT;
	struct dtx_repair fix = { .on = true, .arena = &arena, .done = &done };
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = dtx_source_bytes("t.csv", text, len, &src, &err);
	bool again = rc == DTX_OK;
	size_t i;

	while (again) {
		dtx_buf_reset(out);
		rc = dtx_repair_open(&fix, src, &how.opts, &r, &err);
		if (rc == DTX_OK)
			rc = dump_read(r, &how, out, &err);
		if (rc == DTX_OK && r->stats.dropped[DTX_DROP_SKIP_TAIL])
			dtx_buf_printf(out, "%lld dropped\n",
			               (long long)r->stats.dropped[DTX_DROP_SKIP_TAIL]);
		again = rc != DTX_OK && dtx_repair_take(&fix, &err, &how.opts);
		dtx_err_clear(&err);
		dtx_reader_close(r);
		r = NULL;
	}
	for (i = 0; i < done.n; i++) {
		T_CHECK(done.item[i].code == DTX_W_REPAIRED);
		dtx_buf_printf(out, "%s\n", done.item[i].more);
	}
	dtx_errlist_clear(&done);
	dtx_arena_clear(&arena);
	dtx_source_free(src);
	return rc;
}

static void repair_is(const char *text, const char *want, const char *file, int line)
{
	struct dtx_buf out = DTX_BUF_INIT(DUMP_MAX);

	t_eq_code(repair_dump(text, strlen(text), &out), DTX_OK, NULL, file, line);
	t_eq_str(dtx_buf_text(&out), want, file, line);
	dtx_buf_clear(&out);
}
#define REPAIR_IS(text, want) repair_is(text, want, __FILE__, __LINE__)

void test_repair_takes_the_advised_remedy(void)
{
	REPAIR_IS("a,b\n1,2\n3\n4,5,6\n",
	          "a:int|b:int|column_3:int\n1|2|~\n3|~|~\n4|5|6\n"
	          "{\"refusal\":\"ragged_rows\",\"change\":{\"ragged\": \"pad\"}}\n");
	REPAIR_IS("1,2\n3,4\n",
	          "column_1:int|column_2:int\n1|2\n3|4\n"
	          "{\"refusal\":\"header_not_found\",\"change\":{\"header_rows\": 0}}\n");
	REPAIR_IS("n,c\n1,Caf\xe9\n2,K\xf6ln\n",
	          "n:int|c:text\n1|Caf\xc3\xa9\n2|K\xc3\xb6ln\n"
	          "{\"refusal\":\"bad_encoding\",\"change\":{\"encoding\": \"windows-1252\"}}\n");
}

/* Tables below the first one are cut off as rows that the ledger counts. */
void test_repair_leaves_out_what_is_no_row(void)
{
	REPAIR_IS("# x\na,b\n1,2\n# y\n3,4\n",
	          "a:int|b:int\n1|2\n3|4\n"
	          "{\"refusal\":\"ragged_rows\",\"change\":{\"comment\": \"#\"}}\n");
	/* a line with as many cells as the table is a row, whatever it begins with */
	REPAIR_IS("a,b\n1,2\n# y\n#3,4\n",
	          "a:text|b:int\n1|2\n# y|~\n#3|4\n"
	          "{\"refusal\":\"ragged_rows\",\"change\":{\"ragged\": \"pad\"}}\n");
	REPAIR_IS("a,b\n1,2\n\nEnd\n",
	          "a:int|b:int\n1|2\n1 dropped\n"
	          "{\"refusal\":\"ragged_rows\",\"change\":{\"skip_tail\": 1}}\n");
	REPAIR_IS("a,b\n1,2\nEnd\n",
	          "a:text|b:int\n1|2\nEnd|~\n"
	          "{\"refusal\":\"ragged_rows\",\"change\":{\"ragged\": \"pad\"}}\n");
	REPAIR_IS("a,b\n1,2\na,b\n3,4\n",
	          "a:int|b:int\n1|2\n3|4\n"
	          "{\"refusal\":\"reader_note\",\"change\":{\"repeated_header\": \"drop\"}}\n");
}

void test_repair_counts_other_tables(void)
{
	REPAIR_IS("a,b\n1,x\n2,y\n3,z\n\nk,v\n7,8\n\nk,w\n9,8\n",
	          "a:int|b:text\n1|x\n2|y\n3|z\n6 dropped\n"
	          "{\"refusal\":\"multiple_tables\",\"change\":{\"skip_tail\": 6}}\n");
	REPAIR_IS("a, b\n1, x\n2, y\n\nk, v\n7, 8\n",
	          "a:int|b:text\n1|x\n2|y\n3 dropped\n"
	          "{\"refusal\":\"multiple_tables\",\"change\":{\"skip_tail\": 3}}\n");
}

void test_repair_reads_good_files_as_they_are(void)
{
	REPAIR_IS("a,b\n1,2\n", "a:int|b:int\n1|2\n");
}

/* Apostrophes quote cells only after the part of the file that was sampled. */
void test_repair_sniffs_again(void)
{
	struct dump_how how = DUMP_HOW;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_errlist done = DTX_ERRLIST_INIT;
	struct dtx_repair fix = { .on = false, .arena = &arena, .done = &done };
	struct dtx_buf text = DTX_BUF_INIT(DUMP_MAX), out = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	struct dtx_err err = DTX_ERR_INIT;
	int i;

	dtx_buf_add(&text, "n,t\n");
	for (i = 0; i < 20000; i++)
		dtx_buf_add(&text, i < 19000 ? "1,plain\n" : "2,'a, b'\n");
	T_OK(dtx_source_bytes("t.csv", text.ptr, text.len, &src, &err), &err);
	T_OK(dtx_repair_open(&fix, src, &how.opts, &r, &err), &err);
	T_CODE(dump_read(r, &how, &out, &err), DTX_E_RESNIFF, &err);
	T_CHECK(dtx_repair_take(&fix, &err, &how.opts));
	T_CHECK(done.n == 1 && done.item[0].code == DTX_W_DIALECT_RESNIFFED);
	dtx_reader_close(r);
	r = NULL;
	dtx_err_clear(&err);
	dtx_buf_reset(&out);
	T_OK(dtx_repair_open(&fix, src, &how.opts, &r, &err), &err);
	T_OK(dump_read(r, &how, &out, &err), &err);
	T_INT(r->stats.rows_out, 20000);
	T_CHECK(strstr(dtx_buf_text(&out), "2|a, b\n"));
	dtx_reader_close(r);
	dtx_source_free(src);
	dtx_errlist_clear(&done);
	dtx_arena_clear(&arena);
	dtx_err_clear(&err);
	dtx_buf_clear(&text);
	dtx_buf_clear(&out);
}

void test_repair_gives_up(void)
{
	struct dtx_buf out = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_errlist done = DTX_ERRLIST_INIT;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_repair fix = { .on = true, .arena = &arena, .done = &done };

	dtx_err_set(&err, DTX_E_RAGGED_ROWS, __FILE__, __LINE__, "x");
	T_CHECK(dtx_repair_take(&fix, &err, &opts) && opts.ragged == DTX_RAGGED_PAD);
	T_CHECK(!dtx_repair_take(&fix, &err, &opts)); /* the remedy did not help */
	dtx_err_set(&err, DTX_E_CELL_LIMIT, __FILE__, __LINE__, "x");
	T_CHECK(!dtx_repair_take(&fix, &err, &opts));
	fix.on = false;
	dtx_err_set(&err, DTX_E_HEADER_NOT_FOUND, __FILE__, __LINE__, "x");
	T_CHECK(!dtx_repair_take(&fix, &err, &opts) && opts.header_rows == -1);
	dtx_repair_hint(&err);
	T_STR(err.hint, "--repair reads it with \"header_rows\": 0");
	dtx_repair_hint(&err);
	T_STR(err.hint, "--repair reads it with \"header_rows\": 0");
	dtx_err_clear(&err);
	dtx_errlist_clear(&done);
	dtx_arena_clear(&arena);
	dtx_buf_clear(&out);
}

void test_encoding_is_guessed(void)
{
	static const struct {
		const char *bytes, *want;
	} rows[] = {
		{ "Jos\xe9 ate cr\xe8me br\xfbl\xe9"
		  "e",
		  "windows-1252" },
		{ "Ma\xb3gorzata \xaf\xf3\xb3\xe6, \xa3\xf3"
		  "d\x9f",
		  "windows-1250" },
		{ "\xcf\xf0\xe8\xe2\xe5\xf2, \xcc\xe8\xf0", "windows-1251" },
		{ "\x8eR\x93"
		  "c, \x8d\xb2\x93\xa1, \x97\xe9\x96\xd8",
		  "shift-jis" },
		{ "J\x81rgen, K\x94ln, Z\x81rich", "cp850" },
		{ "Ji\xf8\xed, Plze\xf2, m\xecsto", "windows-1250" },
		{ "Tr\xf8ndelag, \xc5lesund, Troms\xf8", "windows-1252" },
		{ "\xb1\xe0\xba\xc5, \xd0\xd5\xc3\xfb", "gb18030" },
		{ "\xb9\xf8\xc8\xa3, \xc0\xcc\xb8\xa7", "euc-kr" },
		{ "\xbds\xb8\xb9, \xa9m\xa6W", "big5" },
		{ "20 \xb0"
		  "C, 5 \x80",
		  "windows-1252" },
		{ "\xbb\xb3\xc5\xc4\xc2\xc0\xcf\xba, \xc5\xec\xb5\xfe, \xc8\xd6\xb9\xe6",
		  "euc-jp" },
		{ "\xb0\xdd\xdd\xd0 \xbf\xd5\xe2\xe0\xde\xd2\xd0, \xbc\xde\xe1\xda\xd2\xd0",
		  "iso-8859-5" },
		{ "\xf9\xec\xe5\xed, \xe9\xf8\xe5\xf9\xec\xe9\xed", "windows-1255" },
		{ "\xca\xe8\xbf\xe2, \xbf\xe6\xe0, \xf6\xb3\xed\xe0", "windows-1251" },
		{ "\x8c\xe5\xe3\xee\xf8, \xf6\xe5\xed\xe0", "windows-1251" },
		{ "caf\xc3\xa9, na\xefve, Z\xc3\xbcrich", "utf-8:repair" },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++)
		T_STR(dtx_enc_guess(dtx_str_of(rows[i].bytes)), rows[i].want);
}

void test_encoding_is_mended(void)
{
	struct dtx_str text = dtx_str_of("Z\xfcrich \xc3\xa9 \xff|\n\xef\xbb\xbf"
	                                 "a\xef\xbb\xbf");
	struct dtx_buf out = DTX_BUF_INIT(4096);
	size_t step, at;

	for (step = 1; step < text.len; step++) {
		struct dtx_mend m = { 0 };

		dtx_buf_reset(&out);
		for (at = 0; at < text.len;)
			at = dtx_mend_step(&m, text, at, step, &out);
		T_STR(dtx_buf_text(&out), "Z\xc3\xbcrich \xc3\xa9 \xef\xbf\xbd|\na\xef\xbb\xbf");
		T_CHECK(m.letters == 1 && m.replaced == 1 && m.marks == 1 && m.nplaces == 3);
	}
	dtx_buf_clear(&out);
}

/* The last byte of the file is the first byte of a byte order mark: nothing after it may be
 * read. */
void test_encoding_fails_at_the_end(void)
{
	static const char text[] = "a,b\n1,\xef";
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(dtx_source_bytes("f.csv", text, sizeof(text) - 1, &src, &err), &err);
	T_CODE(dtx_reader_open(src, &opts, &r, &err), DTX_E_BAD_ENCODING, &err);
	T_CHECK(strstr(err.msg, "byte EF at L2"));
	dtx_err_clear(&err);
	dtx_source_free(src);
}
