/* What the CSV reader makes of small texts. */
#include "tests/unit/csv_dump.h"

void test_csv_plain(void)
{
	struct dump_how how = DUMP_HOW;

	DUMP_IS("a,b,c\n1,x,2.5\n2,,3\n", &how, "a:int|b:text|c:float\n1|x|2.5\n2|~|3\n");
	DUMP_IS("a,b\r\n1,2\r\n3,4", &how, "a:int|b:int\n1|2\n3|4\n");
	DUMP_IS("a,b\r1,2\r3,4\r", &how, "a:int|b:int\n1|2\n3|4\n");
	DUMP_IS("a;b\n1;2\n", &how, "a:int|b:int\n1|2\n");
	DUMP_IS("a\tb\n1\t2\n", &how, "a:int|b:int\n1|2\n");
	DUMP_IS("\xef\xbb\xbf"
	        "a,b\n1,2\n",
	        &how, "a:int|b:int\n1|2\n");
	DUMP_IS("a,b\n", &how, "a:null|b:null\n");
}

void test_csv_quotes(void)
{
	struct dump_how how = DUMP_HOW;

	DUMP_IS("a,b\n\"x,\ny\",\"\"\"q\"\"\"\n\"\",\n", &how,
	        "a:text|b:text\nx,\ny|\"q\"\n\"\"|~\n");
	DUMP_IS("a,b\n5\" pipe,2\nx,3\n", &how, "a:text|b:int\n5\" pipe|2\nx|3\n");
	how.opts.quote = "\"";
	DUMP_FAILS("a,b\n\"x\"y,2\n", &how, DTX_E_BAD_QUOTE, "L2 (byte 7)");
	DUMP_FAILS("a,b\n1,2\n\"x,2\n3,4\n", &how, DTX_E_UNTERMINATED_QUOTE, "L3 (byte 8)");
	how.opts.quotes = "strict";
	DUMP_FAILS("a,b\n5\" pipe,2\nx,3\n", &how, DTX_E_BAD_QUOTE, "L2 (byte 5)");
}

void test_csv_blank_lines(void)
{
	struct dump_how how = DUMP_HOW;

	DUMP_IS("a,b\n\n1,2\n\n\n3,4\n\n", &how, "a:int|b:int\n1|2\n3|4\n");
	DUMP_IS("a\n1\n\n3\n", &how, "a:int\n1\n~\n3\n");
}

void test_csv_ragged(void)
{
	struct dump_how how = DUMP_HOW;

	DUMP_FAILS("a,b,c\n1,2,3\n4,5\n6,7,8,9\n", &how, DTX_E_RAGGED_ROWS,
	           "2 of 3 rows do not have 3 cells; L3 (byte 12) has 2");
	DUMP_IS("a,b\n1,2,,\n3,4\n", &how, "a:int|b:int\n1|2\n3|4\n");
	how.opts.ragged = DTX_RAGGED_PAD;
	DUMP_IS("a,b,c\n1,2,3\n4,5\n6,7,8,9\n", &how,
	        "a:int|b:int|c:int|column_4:int\n1|2|3|~\n4|5|~|~\n6|7|8|9\n");
	how.opts.ragged = DTX_RAGGED_TRUNCATE;
	DUMP_IS("a,b,c\n1,2,3\n4,5\n6,7,8,9\n", &how, "a:int|b:int|c:int\n1|2|3\n4|5|~\n6|7|8\n");
}

void test_csv_quarantine(void)
{
	struct dump_how how = DUMP_HOW;
	const char *text = "a,b,c\n1,2,3\n4,5\n\n\"x,\"\"y\",8,,9\n6,7,8\n";
	struct dtx_buf out = DTX_BUF_INIT(DUMP_MAX), rejects = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	struct dtx_err err = DTX_ERR_INIT;
	int i;

	how.opts.ragged = DTX_RAGGED_QUARANTINE;
	how.chunk = 5;
	for (i = 0; i < 2; i++) {
		how.opts.reader = i ? "libcsv" : NULL;
		dtx_buf_reset(&out);
		dtx_buf_reset(&rejects);
		T_OK(dtx_source_bytes("t.csv", text, strlen(text), &src, &err), &err);
		T_OK(dtx_read_csv.open(src, &how.opts, &r, &err), &err);
		T_OK(dump_read(r, &how, &out, &err), &err);
		T_STR(dtx_buf_text(&out), "a:int|b:int|c:int\n1|2|3\n6|7|8\n");
		T_OK(r->cls->rejects(r, &rejects, &err), &err);
		T_STR(dtx_buf_text(&rejects), "t.csv,3,12,short,3,2,\"4,5\"\n"
		                              "t.csv,5,17,long,3,4,\"\"\"x,\"\"\"\"y\"\",8,,9\"\n");
		T_CHECK(dtx_read_stats_add_up(&r->stats) && r->stats.rows_read == 6);
		T_INT(r->stats.dropped[DTX_DROP_REJECT], 2);
		dtx_reader_close(r);
		dtx_source_free(src);
	}
	how.opts.reader = NULL;
	how.opts.max_rejects = 1;
	DUMP_FAILS(text, &how, DTX_E_RAGGED_ROWS, "more than 1 row with other than 3 cells");
	dtx_buf_clear(&out);
	dtx_buf_clear(&rejects);
}

void test_csv_several_tables(void)
{
	struct dump_how how = DUMP_HOW;
	const char *text = "a,b\n1,x\n2,y\n\nk,v\n3,4\n5,6\n";

	DUMP_FAILS(text, &how, DTX_E_MULTIPLE_TABLES, "holds 2 tables: L1-L3, L5-L7");
	how.opts.range = "1:3";
	DUMP_IS(text, &how, "a:int|b:text\n1|x\n2|y\n");
	how.opts.range = NULL;
	DUMP_IS("a,b\nx,y\n\nz,u\nv,w\n", &how, "a:text|b:text\nx|y\nz|u\nv|w\n");
	DUMP_IS("a,b\n1,y\n\na,b\n2,w\n", &how, "a:text|b:text\n1|y\na|b\n2|w\n");
}

void test_csv_terminator(void)
{
	struct dump_how how = DUMP_HOW;

	how.opts.terminator = "~";
	DUMP_IS("a,b~1,x\ny~\"2\",\"p~q\"~", &how, "a:int|b:text\n1|x\ny\n2|p~q\n");
}

void test_csv_header(void)
{
	struct dump_how how = DUMP_HOW;

	DUMP_IS("a,a,\nx,2,3\n", &how, "a:text|a_2:int|column_3:int\nx|2|3\n");
	DUMP_FAILS("1,2\n3,4\n", &how, DTX_E_HEADER_NOT_FOUND, "");
	how.opts.header_rows = 0;
	DUMP_IS("1,2\n3,4\n", &how, "column_1:int|column_2:int\n1|2\n3|4\n");
	how.opts.header_rows = 2;
	DUMP_IS("q,,r\na,b,c\n3,4,5\n", &how, "q a:int|q b:int|r c:int\n3|4|5\n");
	how.opts.header_rows = 4;
	DUMP_FAILS("1,2\n3,4\n", &how, DTX_E_HEADER_NOT_FOUND, "has 2 rows");
}

void test_csv_skip(void)
{
	struct dump_how how = DUMP_HOW;
	struct dtx_buf out = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_read_stats st = { 0 };
	struct dtx_err err = DTX_ERR_INIT;
	const char *text = "made by x\n\na,b\n1,2\n\n3,4\ntotal,4\n";

	how.opts.skip = 2;
	how.opts.skip_tail = 1;
	T_OK(dump_csv(text, strlen(text), &how, &out, &st, NULL, &err), &err);
	T_STR(dtx_buf_text(&out), "a:int|b:int\n1|2\n3|4\n");
	T_INT(st.rows_read, 7);
	T_INT(st.rows_out, 2);
	T_INT(st.dropped[DTX_DROP_SKIP], 2);
	T_INT(st.dropped[DTX_DROP_SKIP_TAIL], 1);
	T_INT(st.dropped[DTX_DROP_HEADER], 1);
	T_INT(st.dropped[DTX_DROP_BLANK], 1);
	dtx_buf_clear(&out);
}

void test_csv_empty(void)
{
	struct dump_how how = DUMP_HOW;

	DUMP_FAILS("", &how, DTX_E_EMPTY_INPUT, "no rows");
	how.opts.skip = 5;
	DUMP_FAILS("a\n1\n", &how, DTX_E_EMPTY_INPUT, "no rows");
}

void test_csv_null_values(void)
{
	static const char *const words[] = { "NA", "-" };
	struct dump_how how = DUMP_HOW;

	how.opts.null_values = words;
	how.opts.nnull_values = 2;
	DUMP_IS("a,b\n1,NA\n-,\"NA\"\n3,\n", &how, "a:int|b:null\n1|~\n~|~\n3|~\n");
}

void test_csv_columns(void)
{
	static const char *const want[] = { "b", "z" };
	static const struct dtx_read_type types[] = { { .name = "a",
		                                        .type = { .type = DTX_T_TEXT } } };
	struct dump_how how = DUMP_HOW;

	how.opts.requires = want;
	how.opts.nrequires = 2;
	DUMP_FAILS("a,b\n1,2\n", &how, DTX_E_MISSING_COLUMN, "'z'");
	how.opts.nrequires = 1;
	how.opts.extra = DTX_EXTRA_ERROR;
	DUMP_FAILS("a,b\n1,2\n", &how, DTX_E_EXTRA_COLUMN, "'a'");
	how.opts.extra = DTX_EXTRA_DROP;
	DUMP_IS("a,b\n1,2\n", &how, "b:int\n2\n");
	how.opts.types = types;
	how.opts.ntypes = 1;
	DUMP_IS("a,b,c\n1,2,3\n", &how, "a:text|b:int\n1|2\n");
}

void test_csv_places(void)
{
	struct dump_how how = DUMP_HOW;

	how.places = true;
	how.chunk = 3;
	DUMP_IS("a,b\n\n1,\"x\ny\"\n3,4\n", &how, "a:int|b:text\n2@5:1|x\ny\n4@13:3|4\n");
}

/* A line with text between the columns is not split: it is refused, and not cut at wrong places. */
void test_csv_fixed_width_keeps_other_lines_whole(void)
{
	static const char text[] = "name         age  town\n"
				   "Anna Maria    31  Bonn\n"
				   "Peter         45  Bad Ems\n"
				   "Lu             7  Ulm\n"
				   "\n"
				   "Source: the town register of the year 1999\n";
	struct dump_how how = DUMP_HOW;

	DUMP_FAILS(text, &how, DTX_E_RAGGED_ROWS, "L6 (byte");
	how.opts.ragged = DTX_RAGGED_PAD;
	DUMP_IS(text, &how,
	        "name:text|age:int|town:text\nAnna Maria|31|Bonn\nPeter|45|Bad Ems\n"
	        "Lu|7|Ulm\nSource: the town register of the year 1999|~|~\n");
}

/* The note about several odd records names the first one, whichever worker found it. */
void test_csv_notes_have_places(void)
{
	static const char text[] = "a,b\n1,2\n3,4\n5\n6,7\n8\n9,1\n";
	struct dump_how how = DUMP_HOW;
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	struct dtx_buf out = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	int i;

	how.opts.ragged = DTX_RAGGED_PAD;
	how.chunk = 3;
	how.workers = 2;
	for (i = 0; i < 2; i++) {
		how.opts.reader = i ? "libcsv" : NULL;
		T_OK(dtx_source_bytes("t.csv", text, strlen(text), &src, &err), &err);
		T_OK(dtx_read_csv.open(src, &how.opts, &r, &err), &err);
		T_OK(dump_read(r, &how, &out, &err), &err);
		T_INT(r->diags.n, 1);
		T_STR(r->diags.item[0].cell, "L4");
		T_INT(r->diags.item[0].byte, 12);
		T_INT(r->diags.item[0].count, 2);
		r->cls->close(r);
		dtx_source_free(src);
	}
	dtx_buf_clear(&out);
}

/* Collects the notes about stray quotes in a text, with other line ends instead of '\n', read in
 * chunks. */
static int64_t strays_in(const char *text, const char *eol, size_t chunk, const char *reader,
                         char place[24])
{
	struct dump_how how = DUMP_HOW;
	struct dtx_buf in = DTX_BUF_INIT(4096), out = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	struct dtx_err err = DTX_ERR_INIT;
	int64_t n = 0;

	how.chunk = chunk;
	how.workers = 2;
	how.opts.quote = "\"";
	how.opts.reader = reader;
	for (; *text; text++)
		dtx_buf_addn(&in, *text == '\n' ? eol : text, *text == '\n' ? strlen(eol) : 1);
	T_OK(dtx_source_bytes("t.csv", in.ptr, in.len, &src, &err), &err);
	T_OK(dtx_read_csv.open(src, &how.opts, &r, &err), &err);
	T_OK(dump_read(r, &how, &out, &err), &err);
	for (size_t i = 0; i < r->diags.n; i++) {
		if (!strstr(r->diags.item[i].msg, "close on a later line, although"))
			continue;
		n += r->diags.item[i].count;
		snprintf(place, 24, "%s", r->diags.item[i].cell);
	}
	r->cls->close(r);
	dtx_source_free(src);
	dtx_buf_clear(&in);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	return n;
}

/* Two quotes that form a pair over several lines by accident would hide rows in a cell.  A note
 * says where, whatever the line ends and the borders of chunks.  Intended texts of several lines
 * get no note. */
void test_csv_stray_quotes(void)
{
	static const struct {
		const char *text;
		int n;
		const char *place;
	} rows[] = {
		{ "id,name,n\n1,\"Ann,5\n2,Bob,6\n3,Eve\",7\n4,Li,8\n", 1, "L2" },
		{ "id,name,n\n1,x,5\n2,Bob,\"6\n3,Eve,7\"\n4,Li,8", 1, "L3" },
		{ "id,name,n\n1,\"Ann,5\n\n2,\"\",6\n3,Eve\",7\n4,\"Li\nLo\",8\n5,\"A,5\n6,B\",6\n",
		  2, "L2" },
		{ "a,b,c\nx,\"y,z\np,q,r\nu,v\",w\n", 1, "L2" },
		{ "k,v\n1,\"a\n2,b\"\n3,c\n", 1, "L2" },
		{ "id,note,n\n1,\"a\nb\",5\n2,\"c, d\ne, f\",6\n3,\"g\n\nh\",7\n", 0, "" },
		{ "name,address,city\nAnn,\"12 High St, Flat 2\nOxford, UK\",x\nBob,y,z\n", 0, "" },
		{ "id,doc\n1,\"a,b\n1,2\n3,4\"\n2,x\n", 0, "" },
		{ "id,list\n17,\"buy:\n1, milk\n2, eggs\"\n18,x\n", 0, "" },
		{ "k\n\"a\nb\"\nc\n", 0, "" },
	};
	static const char *const ends[] = { "\n", "\r\n", "\r" };
	size_t i, k, chunk;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		for (k = 0; k < DTX_COUNT(ends); k++) {
			for (chunk = 0; chunk < 40; chunk += chunk < 5 ? 1 : 7) {
				char place[24] = "";
				int64_t n = strays_in(rows[i].text, ends[k], chunk,
				                      chunk == 4 ? "libcsv" : NULL, place);

				if (n != rows[i].n || strcmp(place, rows[i].place))
					t_fail(__FILE__, __LINE__,
					       "text %zu, ends %zu, chunk %zu: %lld at %s", i, k,
					       chunk, (long long)n, place);
			}
		}
	}
	T_CHECK(true);
}

/* If repairs are allowed it is an error with a repair; as data such quotes separate nothing. */
void test_csv_stray_quotes_as_data(void)
{
	struct dump_how how = DUMP_HOW;

	how.opts.strays = true;
	how.opts.quote = "\"";
	DUMP_FAILS("id,name,n\n1,x,5\n2,\"Ann,5\n3,Eve\",7\n4,Li,8\n", &how, DTX_E_BAD_QUOTE,
	           "'t.csv': quotes that open at L3 (byte 16) close at L4");
	DUMP_FAILS("id,\"name,n\n1,Ann,5\n2,Bob\",6\n3,Eve,7\n", &how, DTX_E_HEADER_NOT_FOUND,
	           "L1, field 3 looks like data");
	DUMP_FAILS("id,\"name,n\n1,Ann,5\n2,Bob\",k\n3,Eve,7\n", &how, DTX_E_BAD_QUOTE,
	           "quotes that open at L1 (byte 0) close at L3");
	how.opts.quotes = "lenient";
	DUMP_IS("id,name,n\n1,x,5\n2,\"Ann,5\n3,Eve\",7\n4,\"Li\nLo\",8\n", &how,
	        "id:int|name:text|n:int\n1|x|5\n2|\"Ann|5\n3|Eve\"|7\n4|Li\nLo|8\n");
	DUMP_IS("id,\"name,n\n1,Ann,5\n2,Bob\",6\n3,Eve,7\n", &how,
	        "id:int|\"name:text|n:int\n1|Ann|5\n2|Bob\"|6\n3|Eve|7\n");
}

void test_csv_reader_is_known(void)
{
	struct dump_how how = DUMP_HOW;

	how.opts.reader = "other";
	DUMP_FAILS("a,b\n1,2\n", &how, DTX_E_BAD_PARAM_VALUE, "'other'");
}

void test_csv_other_dialects(void)
{
	struct dump_how how = DUMP_HOW;

	how.opts.escape = "\\";
	DUMP_IS("a,b\n\"x\\\"y\",2\nq\\,r,\\z\n", &how, "a:text|b:text\nx\"y|2\nq,r|\\z\n");
	how.opts.escape = "\"";
	DUMP_IS("a,b\n\"x\"\"y\",2\n", &how, "a:text|b:int\nx\"y|2\n");
	how.opts.escape = NULL;
	how.opts.delimiter = "||";
	DUMP_IS("a||b\n1||\"x||y\"\n|||3\n", &how, "a:int|b:text\n1|x||y\n~||3\n");
	how.opts.delimiter = NULL;
	how.opts.comment = "#";
	DUMP_IS("# by hand\na,b\n1,2\n#3,4\n5,6\n", &how, "a:int|b:int\n1|2\n5|6\n");
	how.opts.comment = NULL;
	how.opts.trim = true;
	DUMP_IS("a , b\n 1 , \"x \" \n 2,y\n", &how, "a:int|b:text\n1|x \n2|y\n");
	how.opts.trim = false;
	how.opts.quotes = "lenient";
	how.opts.quote = "\"";
	how.opts.ragged = DTX_RAGGED_PAD;
	DUMP_IS("a,b\n\"x\"y\",2\n\"z\"q,3\n4,\"\"\n", &how,
	        "a:text|b:text\nx\"y|2\n\"z\"q|3\n4|\"\"\n");
	/* A quote that is never closed, one that another quote follows, one that hides a record. */
	DUMP_IS("a,b\n1,\"x\n2,y\n", &how, "a:int|b:text\n1|\"x\n2|y\n");
	DUMP_IS("a,b\n\"x,\"y,z\"\n2,3\n", &how, "a:text|b:text\n\"x|y,z\n2|3\n");
	DUMP_IS("a,b\n\"x,1\n2,\"3\",4\n5,6\n", &how,
	        "a:text|b:int|column_3:int\n\"x|1|~\n2|3|4\n5|6|~\n");
	DUMP_IS("a,b\n\"x\ny\",1\n2,3\n", &how, "a:text|b:int\nx\ny|1\n2|3\n");
}

/* Line ends that exist only in Unicode are reported. */
void test_csv_marks_are_told(void)
{
	static const struct {
		const char *text, *says, *hint;
	} rows[] = {
		{ "k,v\u2028x,1\u2028y,2\u2028",
		  "'t.csv' ends its lines with the marks that Unicode has for that", "" },
	};

	for (size_t i = 0; i < DTX_COUNT(rows); i++) {
		struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
		struct dtx_err err = DTX_ERR_INIT;
		struct dtx_source *src = NULL;
		struct dtx_reader *r = NULL;

		T_OK(dtx_source_bytes("t.csv", rows[i].text, strlen(rows[i].text), &src, &err),
		     &err);
		T_OK(dtx_reader_open(src, &opts, &r, &err), &err);
		T_INT(r->diags.n, 1);
		T_STR(r->diags.item[0].msg, rows[i].says);
		T_CHECK(strstr(r->diags.item[0].hint, rows[i].hint));
		dtx_reader_close(r);
		dtx_source_free(src);
		dtx_err_clear(&err);
	}
}

/* A header that the plan asks for: without that it would not be recognized as one. */
void test_csv_name_is_too_long(void)
{
	struct dump_how how = DUMP_HOW;
	struct dtx_buf text = DTX_BUF_INIT(DUMP_MAX);

	how.opts.header_rows = 1;
	dtx_buf_add(&text, "k,");
	for (size_t i = 0; i <= (64 << 10) / 8; i++)
		dtx_buf_add(&text, "xxxxxxxx");
	dtx_buf_add(&text, "\n1,2\n");
	DUMP_FAILS(dtx_buf_text(&text), &how, DTX_E_INPUT_LIMIT,
	           "a column name is larger than 65536 bytes");
	dtx_buf_clear(&text);
}
