/* Encodings, dialects, types: what the reader finds out before the rows. */
#include "tests/unit/csv_dump.h"
#include "sandbox/role.h"

void test_csv_encodings(void)
{
	struct dump_how how = DUMP_HOW;
	struct dtx_buf out = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	static const char utf16[] = "\xff\xfe"
				    "a\0,\0b\0\n\0\xe9\0,\0"
				    "1\0\n\0";
	static const char bare16[] = "a\0,\0b\0\n\0\xe9\0,\0"
				     "1\0\n\0";

	DUMP_FAILS("a,b\nCaf\xe9 noir,1\n", &how, DTX_E_BAD_ENCODING,
	           "not UTF-8: byte E9 at L2; as windows-1252 'Caf\xc3\xa9 noir'");
	T_OK(dump_csv(utf16, sizeof(utf16) - 1, &how, &out, NULL, NULL, &err), &err);
	T_STR(dtx_buf_text(&out), "a:text|b:int\n\xc3\xa9|1\n");
	T_OK(dump_csv(bare16, sizeof(bare16) - 1, &how, &out, NULL, NULL, &err), &err);
	T_STR(dtx_buf_text(&out), "a:text|b:int\n\xc3\xa9|1\n");
	how.opts.encoding = "windows-1252";
	DUMP_IS("a,b\nCaf\xe9 \x80,1\n", &how, "a:text|b:int\nCaf\xc3\xa9 \xe2\x82\xac|1\n");
	how.opts.encoding = "auto:windows-1252";
	DUMP_IS("a,b\nCaf\xe9,1\n", &how, "a:text|b:int\nCaf\xc3\xa9|1\n");
	DUMP_IS("a,b\nCaf\xc3\xa9,1\n", &how, "a:text|b:int\nCaf\xc3\xa9|1\n");
	how.opts.encoding = "utf-8";
	DUMP_FAILS("a,b\nCaf\xe9,1\n", &how, DTX_E_BAD_ENCODING, "at L2");
	DUMP_FAILS("a,b\n1,2\n\xef\xbb\xbf"
	           "3,4\n",
	           &how, DTX_E_BAD_ENCODING, "'t.csv' has a byte order mark inside, at L3");
	how.opts.encoding = "utf-8:repair";
	DUMP_IS("a,b\nCaf\xe9,1\n", &how, "a:text|b:int\nCaf\xc3\xa9|1\n");
	how.opts.encoding = "utf-16";
	T_OK(dump_csv(utf16, sizeof(utf16) - 1, &how, &out, NULL, NULL, &err), &err);
	T_STR(dtx_buf_text(&out), "a:text|b:int\n\xc3\xa9|1\n");
	how.opts.encoding = "latin-99";
	DUMP_FAILS("a,b\n1,2\n", &how, DTX_E_BAD_PARAM_VALUE, "'latin-99' is not known");
	dtx_buf_clear(&out);
}

/* A caller without a plan. */
void test_csv_dialect_of_bytes(void)
{
	struct dump_how how = DUMP_HOW;

	how.opts.quote = "''";
	DUMP_FAILS("a,b\n1,2\n", &how, DTX_E_BAD_PARAM_VALUE, "quote '''' is not one ASCII byte");
}

/* A character that is cut at the end of the part of the file that is examined first. */
void test_csv_encoding_far_below(void)
{
	struct dump_how how = DUMP_HOW;
	struct dtx_buf text = DTX_BUF_INIT(DUMP_MAX), out = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	int i;

	dtx_buf_add(&text, "a,b\n");
	for (i = 0; i < 20000; i++)
		dtx_buf_add(&text, "\xc3\xa9\xe2\x82\xac,1\n");
	how.chunk = 4096;
	how.workers = 2;
	T_OK(dump_csv(text.ptr, text.len, &how, &out, NULL, NULL, &err), &err);
	dtx_buf_add(&text, "\xe2\x82,1\n");
	T_CODE(dump_csv(text.ptr, text.len, &how, &out, NULL, NULL, &err), DTX_E_BAD_ENCODING,
	       &err);
	T_INT(err.byte, (long long)text.len - 5);
	T_STR(err.cell, "L20002");
	dtx_err_clear(&err);
	dtx_buf_clear(&text);
	dtx_buf_clear(&out);
}

static void open_dialect_is(const char *text, const char *want, const char *file, int line)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_dialect d;
	char got[32];

	t_eq_code(dtx_dialect_find(&opts, dtx_str_of(text), false, "t.csv", &d, &err), DTX_OK, &err,
	          file, line);
	snprintf(got, sizeof(got), "[%s]%c%s%s", d.delim, d.quote ? d.quote : '-',
	         d.escape ? " escape" : "", d.trim ? " trim" : "");
	t_eq_str(got, want, file, line);
	dtx_err_clear(&err);
}
#define DIALECT_IS(text, want) open_dialect_is(text, want, __FILE__, __LINE__)

void test_csv_sniffing(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_dialect d;

	DIALECT_IS("a,b\n1,2\n", "[,]\"");
	DIALECT_IS("a;b\n1,5;2\n3;4,25\n", "[;]\"");
	DIALECT_IS("a\tb c\n1\t2\n", "[\t]\"");
	DIALECT_IS("a|b\n1|2\n", "[|]\"");
	DIALECT_IS("name\nJohn\nMary\n", "[]\"");
	DIALECT_IS("id,text\n1,\"a;b;c\"\n2,\"d;e\"\n", "[,]\"");
	DIALECT_IS("id,text\n1,'a,b'\n2,'c,d,e'\n", "[,]'");
	DIALECT_IS("id,text\n1,it's\n2,o'clock\n", "[,]\"");
	DIALECT_IS("id,text\n1,\"a \\\"b\\\", c\"\n2,\"d\"\n", "[,]\" escape");
	DIALECT_IS("id, text\n1, \"a, b\"\n2, \"c, d\"\n", "[,]\" trim");
	DIALECT_IS("x y z\n1 2 3\n4 5 6\n", "[ ]\"");
	T_CODE(dtx_dialect_find(&opts, dtx_str_of("x,y;z\nu,v;w\n"), false, "t.csv", &d, &err),
	       DTX_E_AMBIGUOUS_DIALECT, &err);
	opts.delimiter = "ab\n";
	T_CODE(dtx_dialect_find(&opts, dtx_str_of("1,2\n"), false, "t.csv", &d, &err),
	       DTX_E_BAD_PARAM_VALUE, &err);
	opts.delimiter = NULL;
	opts.quotes = "strange";
	T_CODE(dtx_dialect_find(&opts, dtx_str_of("1,2\n"), false, "t.csv", &d, &err),
	       DTX_E_BAD_PARAM_VALUE, &err);
	dtx_err_clear(&err);
}

/* If no way of quoting makes sense, quotes are text, and a note says so. */
void test_csv_quotes_are_text(void)
{
	static const char text[] = "a,b,c\n1,\"x \"quoted\" y\",3\n4,\"open,5\n6,7,8\n";
	struct dump_how how = DUMP_HOW;
	struct dtx_buf out = DTX_BUF_INIT(DUMP_MAX), notes = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(dump_csv(text, strlen(text), &how, &out, NULL, &notes, &err), &err);
	T_STR(dtx_buf_text(&out),
	      "a:int|b:text|c:int\n1|\"x \"quoted\" y\"|3\n4|\"open|5\n6|7|8\n");
	T_STR(dtx_buf_text(&notes),
	      "reader_note: 't.csv': quotes do not enclose whole cells, so all "
	      "of them are read as text\n");
	dtx_buf_reset(&notes);
	how.opts.quotes = "lenient";
	T_OK(dump_csv(text, strlen(text), &how, &out, NULL, &notes, &err), &err);
	T_STR(dtx_buf_text(&out), "a:int|b:text|c:int\n1|x \"quoted\" y|3\n4|\"open|5\n6|7|8\n");
	T_STR(dtx_buf_text(&notes),
	      "reader_note: 't.csv': 3 quotes inside cells without quotes are taken as text\n");
	how.opts.quotes = "strict";
	DUMP_FAILS(text, &how, DTX_E_BAD_QUOTE, "at L2");
	dtx_buf_reset(&notes);
	how.opts.quotes = NULL;
	how.opts.quote = "";
	T_OK(dump_csv(text, strlen(text), &how, &out, NULL, &notes, &err), &err);
	T_STR(dtx_buf_text(&notes), "");
	dtx_buf_clear(&out);
	dtx_buf_clear(&notes);
}

/* An export in the form that banks produce. */
void test_csv_rarer_delimiters(void)
{
	struct dump_how how = DUMP_HOW;

	DUMP_IS("a^b^c\n1^2^3\n", &how, "a:int|b:int|c:int\n1|2|3\n");
	DUMP_IS("a, b, c\n1, x, 3\n", &how, "a:int|b:text|c:int\n1|x|3\n");
	DUMP_IS("a, b,c\n1, x,3\n", &how, "a:int|b:text|c:int\n1| x|3\n");
	DUMP_IS("  a   b    c \n 10   2  \"x  y\"\n  3  44    z\n", &how,
	        "a:int|b:int|c:text\n10|2|x  y\n3|44|z\n");
	how.opts.delimiter = "blanks2";
	DUMP_IS("a b   c\n1 2   3\n", &how, "a b:text|c:int\n1 2|3\n");
}

void test_csv_doubled_delimiters(void)
{
	struct dump_how how = DUMP_HOW;

	DUMP_IS("a||b\n1||x\n", &how, "a:int|b:text\n1|x\n");
	DUMP_IS("a::b::c\n1::x|y::\n", &how, "a:int|b:text|c:null\n1|x|y|~\n");
	/* Blank columns are kept if they are common, or if one row has a value in them. */
	DUMP_IS("a,,b\n1,,x\n", &how, "a:int|column_2:null|b:text\n1|~|x\n");
	DUMP_IS("a||b\n1|2|x\n", &how, "a:int|column_2:int|b:text\n1|2|x\n");
}

void test_csv_headers_that_do_not_fit(void)
{
	struct dump_how how = DUMP_HOW;

	DUMP_IS("x,y\n1,2.5,a\n2,3.5,b\n", &how, "column_1:int|x:float|y:text\n1|2.5|a\n2|3.5|b\n");
	DUMP_IS("a;b;c\n1,2,x\n3,4,y\n", &how, "a:int|b:int|c:text\n1|2|x\n3|4|y\n");
	DUMP_IS("a,b\n1,x\na,b\n2,y\n", &how, "a:text|b:text\n1|x\na|b\n2|y\n");
	how.opts.headers_drop = true;
	DUMP_IS("a,b\n1,x\na,b\n2,y\na,b", &how, "a:int|b:text\n1|x\n2|y\n");
	DUMP_IS("a,b\n1,x\n\"a\",b\n2,y\n", &how, "a:int|b:text\n1|x\n2|y\n");
	DUMP_IS("a\n1\na\n2\n", &how, "a:int\n1\n2\n");
	how.opts.headers_drop = false;
	how.opts.comment = "#";
	DUMP_IS("a\n1\n# a\n2\n", &how, "a:int\n1\n2\n");
	how.opts.comment = NULL;
	how.opts.quotes = "lines";
	DUMP_IS("\"a,b\"\n\"1,\"\"x, y\"\"\"\n2,z\n", &how, "a:int|b:text\n1|x, y\n2|z\n");
}

void test_csv_quotes_among_others(void)
{
	struct dump_how how = DUMP_HOW;

	/* One quoted cell and several stray quotes: the numbers of cells per row decide. */
	DUMP_IS("n,t,u\n1,5\" pipe,a\n2,the \"big\" one,b\n3,\"x, y\",c\n", &how,
	        "n:int|t:text|u:text\n1|5\" pipe|a\n2|the \"big\" one|b\n3|x, y|c\n");
	/* JSON cells, quoted. */
	DUMP_IS("n,j\n1,\"{\"\"k\"\": [1,2]}\"\n2,\"{\"\"k\"\": [3,4]}\"\n", &how,
	        "n:int|j:text\n1|{\"k\": [1,2]}\n2|{\"k\": [3,4]}\n");
	DUMP_IS("n,t\n1,\"say \\\"hi\\\", x\"\n2,b\n", &how,
	        "n:int|t:text\n1|say \"hi\", x\n2|b\n");
}

void test_csv_bank_export(void)
{
	static const char text[] = "Kontoauszug;\r\nKonto:;DE00 1234\r\n\r\n"
				   "Buchung;Empf\xe4nger;Betrag;W\xe4hrung\r\n"
				   "2024-01-31;M\xfcller & S\xf6hne;-1.234,56;EUR\r\n"
				   "2024-02-01;\"B\xe4"
				   "cker \"\"Alt\"\"\";12,00;EUR\r\n";
	struct dump_how how = DUMP_HOW;
	struct dtx_buf out = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_read_stats st = { 0 };
	struct dtx_err err = DTX_ERR_INIT;

	how.opts.encoding = "auto:windows-1252";
	how.opts.decimal = ',';
	how.opts.group = '.';
	T_OK(dump_csv(text, sizeof(text) - 1, &how, &out, &st, NULL, &err), &err);
	T_STR(dtx_buf_text(&out),
	      "Buchung:date|Empf\xc3\xa4nger:text|Betrag:float|W\xc3\xa4hrung:text\n"
	      "2024-01-31|M\xc3\xbcller & S\xc3\xb6hne|-1.234,56|EUR\n"
	      "2024-02-01|B\xc3\xa4"
	      "cker \"Alt\"|12,00|EUR\n");
	T_INT(st.dropped[DTX_DROP_PREAMBLE], 2);
	T_INT(st.dropped[DTX_DROP_BLANK], 1);
	T_INT(st.dropped[DTX_DROP_HEADER], 1);
	T_INT(st.rows_read, 6);
	dtx_buf_clear(&out);
}

/* --- types --- */

struct open_reader {
	struct dtx_source *src;
	struct dtx_reader *r;
	const struct dtx_schema *schema;
};

static void open_text(struct open_reader *o, struct dtx_str text, const struct dtx_read_opts *opts)
{
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(dtx_source_bytes("t.csv", text.ptr, text.len, &o->src, &err), &err);
	T_OK(dtx_read_csv.open(o->src, opts, &o->r, &err), &err);
	T_OK(o->r->cls->schema(o->r, &o->schema, &err), &err);
}

static void open_close(struct open_reader *o)
{
	o->r->cls->close(o->r);
	dtx_source_free(o->src);
}

void test_csv_infer_is_exact(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf text = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_typeref type[3] = { { 0 } };
	static const bool want[3] = { true, true, false };
	struct open_reader o;
	int i;

	dtx_buf_add(&text, "a,b,c\n");
	for (i = 0; i < 5000; i++)
		dtx_buf_printf(&text, "%d,%s,%d\n", i, i == 4000 ? "x" : "1", i);
	dtx_buf_add(&text, "2.5,3,x\n");
	open_text(&o, (struct dtx_str){ text.ptr, text.len }, &opts);
	T_INT(o.schema->field[0].type.type, DTX_T_INT64);
	T_CHECK(o.schema->field[0].guessed && o.schema->field[0].source);
	T_OK(o.r->cls->infer(o.r, want, type, 2, &err), &err);
	T_INT(type[0].type, DTX_T_FLOAT64);
	T_INT(type[1].type, DTX_T_TEXT);
	T_INT(type[2].type, DTX_T_UNKNOWN);
	open_close(&o);
	dtx_buf_clear(&text);
}

/* Rows far below are sampled wherever the sample positions are: inside of quotes, at the end of the
 * text. */
void test_csv_types_far_below(void)
{
	static const char *const cell[] = { "name, 1", "a\n1,2,3\nlast \"\"one\"\", 2" };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct open_reader o;
	size_t i, k;

	for (i = 0; i < 4; i++) {
		struct dtx_buf text = DTX_BUF_INIT((size_t)16 << 20);

		dtx_buf_printf(&text, "\"id\",\"t\",\"v\"\n\"1\",\"%.*s\",\"2\"\n", (int)i,
		               "xxxxxxxx");
		for (k = 0; text.len < 8430000; k++)
			dtx_buf_printf(&text, "\"%zu\",\"%s\",\"7\"\n", k % 1000, cell[i % 2]);
		open_text(&o, (struct dtx_str){ text.ptr, text.len }, &opts);
		T_INT(o.schema->field[0].type.type, DTX_T_INT64);
		T_INT(o.schema->field[1].type.type, DTX_T_TEXT);
		T_INT(o.schema->field[2].type.type, DTX_T_INT64);
		open_close(&o);
		dtx_buf_clear(&text);
	}
}

/* One odd value among a hundred. */
void test_csv_almost_type(void)
{
	struct dump_how how = DUMP_HOW;
	struct dtx_buf text = DTX_BUF_INIT(DUMP_MAX), out = DTX_BUF_INIT(DUMP_MAX),
		       notes = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	int i;

	dtx_buf_add(&text, "n,t\n");
	for (i = 0; i < 98; i++)
		dtx_buf_printf(&text, "%d,x\n", i);
	dtx_buf_add(&text, "odd,x\n");
	T_OK(dump_csv(text.ptr, text.len, &how, &out, NULL, &notes, &err), &err);
	T_STR(dtx_buf_text(&notes), "");
	dtx_buf_add(&text, "99,x\n");
	T_OK(dump_csv(text.ptr, text.len, &how, &out, NULL, &notes, &err), &err);
	T_STR(dtx_buf_text(&notes), "almost_type: 't.csv': column 'n' is text; but for 1 of the "
	                            "sampled values it would be int\n");
	dtx_buf_clear(&text);
	dtx_buf_clear(&out);
	dtx_buf_clear(&notes);
}

void test_csv_declared_types(void)
{
	static const struct dtx_read_type types[] = {
		{ .name = "a", .type = { .type = DTX_T_INT64 }, .on_error = DTX_CAST_NULL },
		{ .name = "b", .type = { .type = DTX_T_TEXT } },
	};
	struct dump_how how = DUMP_HOW;
	struct dtx_buf out = DTX_BUF_INIT(DUMP_MAX), notes = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	const char *text = "a,b\n1,2\nx,3\n";

	how.opts.types = types;
	how.opts.ntypes = 2;
	T_OK(dump_csv(text, strlen(text), &how, &out, NULL, &notes, &err), &err);
	T_STR(dtx_buf_text(&out), "a:int|b:text\n1|2\n~|3\n");
	T_STR(dtx_buf_text(&notes), "reader_note: 't.csv': 1 cell without the declared type "
	                            "became null\n");
	DUMP_FAILS("c,b\n1,2\n", &how, DTX_E_MISSING_COLUMN, "'a'");
	dtx_buf_clear(&out);
	dtx_buf_clear(&notes);
}

/* --- what the plan asks for --- */

static enum dtx_code open_keep_odd(void *arg, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint16_t *sel;
	uint32_t i, n = 0;

	++*(int *)arg;
	DTX_TRY(dtx_batch_sel(b, &sel, err));
	for (i = 0; i < b->nrows; i++) {
		if (b->col[0]->base[b->col[0]->v.span[i].off] & 1)
			sel[n++] = (uint16_t)i;
	}
	b->nsel = n;
out:
	return rc;
}

void test_csv_scan_options(void)
{
	static const uint8_t need[3] = { DTX_NEED_SKIP, DTX_NEED_VALUE, DTX_NEED_SKIP };
	static const uint8_t keep_need[3] = { 1, 0, 0 };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_batch *b = NULL;
	struct dtx_scan scan = { .need = need, .limit = -1, .workers = 1, .keep_need = keep_need };
	struct open_reader o;
	int calls = 0;

	open_text(&o, DTX_STR("a,b,c\n1,2,3\n2,3,4\n3,4,5\n"), &opts);
	scan.schema = o.schema;
	T_OK(o.r->cls->start(o.r, &scan, &err), &err);
	T_OK(o.r->cls->next(o.r, 0, &b, &err), &err);
	T_CHECK(b && !b->col[0] && b->col[1] && !b->col[2] && b->last && b->nrows == 3);
	dtx_batch_free(b);
	T_OK(o.r->cls->next(o.r, 0, &b, &err), &err);
	T_CHECK(!b);
	scan.keep = open_keep_odd;
	scan.keep_arg = &calls;
	T_OK(o.r->cls->start(o.r, &scan, &err), &err);
	T_OK(o.r->cls->next(o.r, 0, &b, &err), &err);
	T_CHECK(b && b->nsel == 2 && b->sel[1] == 2 && calls == 1);
	dtx_batch_free(b);
	open_close(&o);
}

void test_csv_range(void)
{
	struct dump_how how = DUMP_HOW;
	const char *text = "made by x\n\na,b,c\n1,2,3\n4,5,6\ntotal,7,9\n";

	how.opts.range = "B3:C5";
	DUMP_IS(text, &how, "b:int|c:int\n2|3\n5|6\n");
	how.opts.range = "3:5";
	DUMP_IS(text, &how, "a:int|b:int|c:int\n1|2|3\n4|5|6\n");
	how.opts.range = "B3:B";
	DUMP_IS(text, &how, "b:int\n2\n5\n7\n");
	how.opts.reader = "libcsv";
	how.opts.range = "A3:B4";
	DUMP_IS(text, &how, "a:int|b:int\n1|2\n");
	how.opts.range = "D3:F4";
	DUMP_FAILS(text, &how, DTX_E_BAD_PARAM_VALUE, "right of the 3 columns");
	how.opts.range = "here";
	DUMP_FAILS(text, &how, DTX_E_BAD_PARAM_VALUE, "range 'here'");
}

void test_csv_limit_stops(void)
{
	static const uint8_t need[1] = { DTX_NEED_BYTES };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf text = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_scan scan = { .need = need, .limit = 25, .workers = 1 };
	struct dtx_batch *b = NULL;
	struct open_reader o;
	int64_t rows = 0;
	int i;

	dtx_buf_add(&text, "a\n");
	for (i = 0; i < 1000; i++)
		dtx_buf_printf(&text, "%d\n", i);
	open_text(&o, (struct dtx_str){ text.ptr, text.len }, &opts);
	scan.schema = o.schema;
	T_OK(dtx_csv_tune(o.r, 50, NULL, &err), &err);
	T_OK(o.r->cls->start(o.r, &scan, &err), &err);
	for (;;) {
		T_OK(o.r->cls->next(o.r, 0, &b, &err), &err);
		if (!b)
			break;
		rows += b->nrows;
		dtx_batch_free(b);
	}
	T_CHECK(rows >= 25 && rows < 60);
	T_CHECK(o.r->stats.stopped_early && o.r->stats.rows_out == rows);
	open_close(&o);
	dtx_buf_clear(&text);
}

void test_csv_describe(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct open_reader o;
	json_t *d;

	open_text(&o, DTX_STR("a;b\n1;2\n"), &opts);
	d = o.r->cls->describe(o.r);
	T_STR(dtx_json_text(d, "encoding", ""), "utf-8");
	T_STR(dtx_json_text(json_object_get(d, "dialect"), "delimiter", ""), ";");
	T_INT(dtx_json_int(d, "header_rows", -1), 1);
	json_decref(d);
	open_close(&o);
}

void test_csv_sniffs_as_text(void)
{
	T_INT(dtx_read_csv.sniff("a,b", 3, "x.csv"), 30);
	T_INT(dtx_read_csv.sniff("a,b", 3, "x"), 10);
	T_CHECK(dtx_read_csv.sniff("a\0b", 3, "x") < 10);
}

void test_csv_too_many_columns(void)
{
	struct dump_how how = DUMP_HOW;
	struct dtx_buf text = DTX_BUF_INIT(DUMP_MAX);
	uint32_t i;

	for (i = 0; i < DTX_CSV_COLS_MAX; i++)
		dtx_buf_add(&text, "x,");
	dtx_buf_add(&text, "x\n");
	DUMP_FAILS(dtx_buf_text(&text), &how, DTX_E_INPUT_LIMIT, "65537");
	how.opts.reader = "libcsv";
	DUMP_FAILS(dtx_buf_text(&text), &how, DTX_E_INPUT_LIMIT, "65537");
	dtx_buf_clear(&text);
}

/* If each line is one quoted cell, a note says what is inside, and how it is read. */
void test_csv_wrapped_lines(void)
{
	static const char text[] = "\"a,b,c\"\n\"1,2,3\"\n\"4,5,6\"\n";
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;

	T_OK(dtx_source_bytes("t.csv", text, strlen(text), &src, &err), &err);
	T_OK(dtx_reader_open(src, &opts, &r, &err), &err);
	T_INT(r->diags.n, 1);
	T_STR(r->diags.item[0].msg, "'t.csv': each line is one quoted cell, with 3 cells inside");
	T_STR(r->diags.item[0].hint, "\"dialect\": {\"quotes\": \"lines\"} takes those quotes off");
	dtx_reader_close(r);
	dtx_source_free(src);
	dtx_err_clear(&err);
}

/* Characters with which all cells begin, and empty cells in all records, belong to the data. */
void test_csv_marks_of_cells(void)
{
	static const struct {
		const char *text, *delim;
	} rows[] = {
		{ "user,@main,@other\nann,@a,@b\nbob,@c,@d\n", "," },
		{ "id,#a,#b,name\n1,#ff,#00,Ann\n2,#fe,#01,Bob\n", "," },
		{ "a,,,b,,,c\n1,,,2,,,3\n4,,,5,,,6\n", "," },
		{ "a\t*b\t*c\n1\t*2\t*3\n4\t*5\t*6\n", "\t" },
		{ "a|^|b|^|c\n1|^|2|^|3\n4|^|5|^|6\n", "|^|" },
		{ "a~|~b~|~c\n1~|~2~|~3\n4~|~5~|~6\n", "~|~" },
	};
	struct dtx_read_opts o = DTX_READ_OPTS_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_dialect d;
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		T_OK(dtx_dialect_find(&o, dtx_str_of(rows[i].text), false, "t.csv", &d, &err),
		     &err);
		T_STR(d.delim, rows[i].delim);
		dtx_err_clear(&err);
	}
}

/* Commas and tabs fit equally well, so the name of the file decides. */
void test_csv_name_decides(void)
{
	static const char text[] = "a,b,c\tx\ty\n1,2,3\t4\t5\n6,7,8\t9\t0\n";
	struct dtx_read_opts o = DTX_READ_OPTS_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_dialect d;

	T_CODE(dtx_dialect_find(&o, dtx_str_of(text), false, "a.csv", &d, &err),
	       DTX_E_AMBIGUOUS_DIALECT, &err);
	T_OK(dtx_dialect_find(&o, dtx_str_of(text), false, "a.tsv", &d, &err), &err);
	T_STR(d.delim, "\t");
	dtx_err_clear(&err);
}

/* Drawn tables, and single records of another kind: they are read, or memory is out. */
static enum dtx_code odd_once(const char *text, bool mixed)
{
	struct dump_how how = DUMP_HOW;
	struct dtx_buf out = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc;

	how.opts.mixed = mixed;
	rc = dump_csv(text, strlen(text), &how, &out, NULL, NULL, &err);
	if (rc == DTX_OK && out.fail == DTX_BUF_MEM)
		rc = DTX_E_NO_MEMORY;
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	return rc;
}

void test_csv_drawn_every_alloc_fails(void)
{
	T_EVERY_ALLOC_FAILS(
		odd_once("+--+----+\n|id|name|\n+--+----+\n| 1| Ann|\n+--+----+\n", false));
	T_EVERY_ALLOC_FAILS(odd_once("id name\n-- ----\n 1 Ann\n 2 Bob\n", false));
	T_EVERY_ALLOC_FAILS(odd_once("id,name,n\n1,\"x, y\",2\n'3','z','4'\n5,\"a\\\"b\",6\n"
	                             "\"7,\"\"c\"\",8\"\n",
	                             true));
	T_EVERY_ALLOC_FAILS(odd_once("id,name,n\n1,\"x\",2\n'3','z','4'\n", false));
}

/* Any number of blank lines above a table, or no table at all. */
void test_csv_blank_lines_first(void)
{
	struct dump_how how = DUMP_HOW;
	struct dtx_buf text = DTX_BUF_INIT(DUMP_MAX), out = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_read_stats stats;
	struct dtx_err err = DTX_ERR_INIT;
	uint32_t i;

	for (i = 0; i < 3000; i++)
		dtx_buf_add(&text, i % 2 ? "\n" : "\r\n");
	DUMP_FAILS(dtx_buf_text(&text), &how, DTX_E_EMPTY_INPUT, "only blank lines");
	dtx_buf_add(&text, "a,b\n1,x\n");
	T_OK(dump_csv(text.ptr, text.len, &how, &out, &stats, NULL, &err), &err);
	T_STR(dtx_buf_text(&out), "a:int|b:text\n1|x\n");
	T_INT(stats.dropped[DTX_DROP_BLANK], 3000);
	dtx_err_clear(&err);
	dtx_buf_clear(&text);
	dtx_buf_clear(&out);
}

/* Wide rows and a huge cell: the block grows, then the plain reader takes over. */
void test_csv_long_records(void)
{
	struct dump_how how = DUMP_HOW;
	struct dtx_buf text = DTX_BUF_INIT(DUMP_MAX), out = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	size_t i, wide;

	dtx_buf_add(&text, "a,b\n");
	for (wide = 1000; wide < 3000000; wide *= 9) {
		for (i = 0; i < wide; i++)
			dtx_buf_addc(&text, 'x');
		dtx_buf_add(&text, ",1\n");
	}
	T_OK(dump_csv(text.ptr, text.len, &how, &out, NULL, NULL, &err), &err);
	T_INT(out.len, text.len - 4 + strlen("a:text|b:int\n"));
	how.workers = 2;
	how.chunk = 1000;
	T_OK(dump_csv(text.ptr, text.len, &how, &out, NULL, NULL, &err), &err);
	T_INT(out.len, text.len - 4 + strlen("a:text|b:int\n"));
	for (i = 0; i < DTX_CSV_CELL_MAX + 1; i++)
		dtx_buf_addc(&text, 'x');
	dtx_buf_add(&text, ",1\n");
	T_CODE(dump_csv(text.ptr, text.len, &how, &out, NULL, NULL, &err), DTX_E_INPUT_LIMIT, &err);
	how.opts.reader = "libcsv";
	if (!DTX_SANITIZED) /* a quarter of a minute there, for a limit */
		DUMP_FAILS(dtx_buf_text(&text), &how, DTX_E_INPUT_LIMIT, "16 MiB");
	dtx_err_clear(&err);
	dtx_buf_clear(&text);
	dtx_buf_clear(&out);
}
