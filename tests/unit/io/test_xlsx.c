/* The workbook reader with small sheets, in the usual grammar and in unusual ones. */
#include "core/io/sheet/cellref.h"
#include "core/io/sheet/book_info.h"

#include "tests/t.h"
#include "tests/unit/bookmake.h"

static enum dtx_code dump_sheet(const struct book *book, const struct dtx_read_opts *opts,
                                struct dtx_buf *out, struct dtx_err *err)
{
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 28);
	enum dtx_code rc;

	book_make(book, &bytes);
	rc = bytes_dump("b.xlsx", &bytes, opts, 0, true, out, err);
	dtx_buf_clear(&bytes);
	return rc;
}

static void expect_read(const char *sheet, const struct dtx_read_opts *opts, const char *want)
{
	struct book book = { .sheet = sheet };
	struct dtx_buf out = DTX_BUF_INIT(1 << 20);
	struct dtx_err err = DTX_ERR_INIT;

	if (dump_sheet(&book, opts, &out, &err) == DTX_OK)
		T_STR(dtx_buf_text(&out), want);
	else
		T_STR(dtx_code_name(err.code), want);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
}

/* Held in memory, and read twice: the same table. */
static void expect_opts(const char *sheet, const struct dtx_read_opts *opts, const char *want)
{
	struct dtx_read_opts twice = *opts;

	expect_read(sheet, opts, want);
	for (twice.hold_cells = 1; twice.hold_cells < 6; twice.hold_cells += 2) {
		/* the header is searched for in the rows that are held */
		if (opts->header_rows == 0 || opts->header_rows == 1)
			expect_read(sheet, &twice, want);
	}
}

static void expect(const char *sheet, int header_rows, const char *want)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;

	opts.header_rows = header_rows;
	expect_opts(sheet, &opts, want);
}

#define HEAD                                                                                       \
	"<sheetData><row r=\"1\"><c r=\"A1\" t=\"str\"><v>k</v></c><c r=\"B1\" "                   \
	"t=\"str\"><v>v</v></c></row>"

void test_xlsx_kinds(void)
{
	expect(HEAD "<row r=\"2\"><c r=\"A2\" t=\"s\"><v>1</v></c><c r=\"B2\"><v>1.5</v></c></row>"
	            "<row r=\"3\"><c r=\"A3\" t=\"s\"><v>2</v></c><c r=\"B3\"><v>-2E3</v></c></row>"
	            "<row r=\"4\"><c r=\"A4\" "
	            "t=\"inlineStr\"><is><r><t>x</t></r><r><t>y</t></r></is></c>"
	            "<c r=\"B4\" t=\"e\"><v>#N/A</v></c></row></sheetData>",
	       1, "k:text,v:float\nrich|1.5\n a\rb_x & |-2000.0\nxy|~\n");
	expect(HEAD "<row r=\"2\"><c r=\"A2\" t=\"b\"><v>1</v></c><c r=\"B2\"><v>7</v></c></row>"
	            "<row r=\"3\"><c r=\"A3\" t=\"b\"><v>0</v></c><c "
	            "r=\"B3\"><v>8</v></c></row></sheetData>",
	       -1, "k:bool,v:int\ntrue|7\nfalse|8\n");
	expect(HEAD "<row r=\"2\"><c r=\"A2\" s=\"1\"><v>45292</v></c><c r=\"B2\" "
	            "s=\"2\"><v>45292.5</v></c></row>"
	            "<row r=\"3\"><c r=\"A3\" s=\"1\"><v>1</v></c><c r=\"B3\" "
	            "s=\"2\"><v>59</v></c></row></sheetData>",
	       -1,
	       "k:date,v:datetime\n2024-01-01|2024-01-01T12:00:00\n1900-01-01|1900-02-28T00:00:"
	       "00\n");
	expect(HEAD "<row r=\"2\"><c r=\"A2\" s=\"1\"><v>60</v></c><c r=\"B2\" "
	            "s=\"3\"><v>0.5</v></c></row></sheetData>",
	       1, "k:null,v:float\n~|0.5\n");
	expect(HEAD "<row r=\"2\"><c r=\"A2\" t=\"d\"><v>2024-02-03</v></c><c r=\"B2\" t=\"d\">"
	            "<v>2024-02-03T04:05:06</v></c></row></sheetData>",
	       1, "k:date,v:datetime\n2024-02-03|2024-02-03T04:05:06\n");
	/* a Z, which no cell has; a time without a day, as a cell with such a format */
	expect(HEAD "<row r=\"2\"><c r=\"A2\" t=\"d\"><v>12:00:00</v></c><c r=\"B2\" t=\"d\">"
	            "<v>2024-02-03T04:05:06Z</v></c></row></sheetData>",
	       1, "k:float,v:datetime\n0.5|2024-02-03T04:05:06\n");
	/* what no serial number can represent stays text */
	expect(HEAD "<row r=\"2\"><c r=\"A2\" t=\"d\"><v>25:00:00</v></c><c r=\"B2\" t=\"d\">"
	            "<v>2024-02-03T04:05:06+01:00</v></c></row></sheetData>",
	       1, "k:text,v:text\n25:00:00|2024-02-03T04:05:06+01:00\n");
	/* a number that ends in its point */
	expect(HEAD "<row r=\"2\"><c r=\"A2\"><v>5.</v></c><c r=\"B2\"><v>-7. </v></c></row>"
	            "</sheetData>",
	       -1, "k:int,v:int\n5|-7\n");
}

/* References to characters that XML does not have; two halves of a surrogate pair are one
 * character. */
void test_xlsx_odd_characters(void)
{
	expect(HEAD "<row><c t=\"inlineStr\"><is><t>a&#x1;b&#31;</t></is></c>"
	            "<c t=\"str\"><v>&#xD83D;&#xDE00;&#55357;x&#xDE00;&#0;</v></c></row>"
	            "<row><c t=\"s\"><v>1</v></c><c t=\"str\"><v>&#xFFFE;&#1114112;</v></c></row>"
	            "</sheetData>",
	       -1,
	       "k:text,v:text\na\001b\037|\xf0\x9f\x98\x80\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd\n"
	       "rich|\xef\xbf\xbe\xef\xbf\xbd\n");
	expect(HEAD "<row><c t=\"str\"><v>&#x1g;</v></c></row></sheetData>", -1, "corrupt_file");
	expect(HEAD "<row><c t=\"str\"><v>&nbsp;</v></c></row></sheetData>", -1, "corrupt_file");
	expect(HEAD "<row><c t=\"str\"><v>&#1</v></c></row></sheetData>", -1, "corrupt_file");
}

#define LONG(k, v) "<row><c><v>" k "</v></c><c><v>" v "</v></c></row>"

/* Whole numbers beyond 2^53 keep their digits. */
void test_xlsx_long_ints(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	const char *const nulls[] = { "9007199254740992000", "-9007199254740993" };

	expect(HEAD LONG("1914310000010100016", "4111111111111110")
	               LONG("1914310000010100024", "9876543210987650")
	                       LONG("-9223372036854775808", " 9007199254740993 ") "</sheetData>",
	       -1,
	       "k:int,v:int\n1914310000010100016|4111111111111110\n"
	       "1914310000010100024|9876543210987650\n-9223372036854775808|9007199254740993\n");
	/* one that a double can hold is a number among fractions; one that it cannot makes the
	 * column text */
	expect(HEAD LONG("1000000000000000000", "9007199254740993")
	               LONG("0.5", "0.5") "</sheetData>",
	       -1, "k:float,v:text\n1e18|9007199254740993\n0.5|0.5\n");
	/* too long for an int: text if digits would be lost */
	expect(HEAD LONG("12345678901234567890123", "123456789012345680000") LONG("7", "7")
	               LONG("-98765432109876543210", "-100000000000000000000") "</sheetData>",
	       -1,
	       "k:text,v:float\n12345678901234567890123|1.2345678901234568e20\n7|7.0\n"
	       "-98765432109876543210|-1e20\n");
	/* no digits are invented */
	expect(HEAD LONG("1.9143100000101E18", "9.87654321098765E+015")
	               LONG("9007199254740993.0", "4111111111111110") "</sheetData>",
	       -1,
	       "k:float,v:int\n1.9143100000101e18|9876543210987650\n"
	       "9007199254740992.0|4111111111111110\n");
	/* a date format does not count for such a number */
	expect(HEAD "<row><c s=\"1\"><v>9007199254740993</v></c><c s=\"4\"><v>1</v></c></row>"
	            "</sheetData>",
	       -1, "k:null,v:float\n~|1.0\n");
	opts.header_rows = 1;
	opts.null_values = nulls;
	opts.nnull_values = 2;
	expect_opts(HEAD LONG("9007199254740992000", "-9007199254740993")
	                    LONG("9007199254740992", "9007199254740993") "</sheetData>",
	            &opts, "k:int,v:int\n~|~\n9007199254740992|9007199254740993\n");
}

/* A declared type, whatever the other cells of the column are. */
void test_xlsx_long_ints_declared(void)
{
	struct dtx_read_type type = { .name = "k" };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	static const struct {
		const char *type, *want;
	} cases[] = {
		{ "int", "k:int,v:int\n9007199254740993|1\n" },
		{ "float", "k:float,v:int\n9007199254740992.0|1\n" },
		{ "decimal(20,1)", "k:decimal,v:int\n9007199254740993.0|1\n" },
		{ "text", "k:text,v:int\n9007199254740993|1\n" },
	};
	size_t i;

	opts.types = &type;
	opts.ntypes = 1;
	for (i = 0; i < DTX_COUNT(cases); i++) {
		T_CHECK(dtx_type_parse(dtx_str_of(cases[i].type), &type.type));
		expect_opts(HEAD LONG("9007199254740993", "1") "</sheetData>", &opts,
		            cases[i].want);
	}
}

/* Bad cells as nulls, as texts, and as the error that they are. */
static void expect_bad_cells(const char *sheet, const char *nulls, const char *texts)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;

	opts.header_rows = 1;
	expect_opts(sheet, &opts, nulls);
	opts.bad_cells = DTX_BAD_CELLS_TEXT;
	expect_opts(sheet, &opts, texts);
	opts.bad_cells = DTX_BAD_CELLS_ERROR;
	expect_opts(sheet, &opts, "bad_cell");
}

/* A reference to a text that the file does not have is an error cell, in every reading path. */
void test_xlsx_missing_text(void)
{
	static const char sheet[] =
		HEAD "<row r=\"2\"><c r=\"A2\" t=\"s\"><v>4</v></c><c r=\"B2\"><v>1</v></c></row>"
		     "<row r=\"3\"><c r=\"A3\" t=\"s\"><v>0</v></c><c r=\"B3\" t='s'>"
		     "<v>9</v></c></row></sheetData>";

	expect_bad_cells(sheet, "k:text,v:int\n~|1\nname|~\n",
	                 "k:text,v:text\n#ERROR!|1\nname|#ERROR!\n");
}

void test_xlsx_mixed_is_text(void)
{
	expect(HEAD
	       "<row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"B2\" s=\"1\"><v>45292</v></c></row>"
	       "<row r=\"3\"><c r=\"A3\" t=\"str\"><v>n/a</v></c><c "
	       "r=\"B3\"><v>3</v></c></row></sheetData>",
	       1, "k:text,v:text\n1|2024-01-01\nn/a|3\n");
}

void test_xlsx_formulas(void)
{
	expect(HEAD
	       "<row r=\"2\"><c r=\"A2\"><f>1+1</f><v>2</v></c><c r=\"B2\"><f>NOW()</f></c></row>"
	       "<row r=\"3\"><c r=\"A3\"><f t=\"shared\" ref=\"A3:A9\" si=\"0\">A2</f><v>3</v></c>"
	       "<c r=\"B3\" t=\"str\"><f t=\"shared\" si=\"0\"/><v></v></c></row>"
	       "<row r=\"4\"><c r=\"A4\" "
	       "t=\"str\"><f>IF(A1&lt;2,\"\")</f><v></v></c></row></sheetData>",
	       1, "k:int,v:null\n2|~\n3|~\n");
}

/* The cells are the same, whatever the grammar. */
void test_xlsx_unusual_grammar(void)
{
	static const char *const sheet[] = {
		HEAD "<row r=\"2\"><c r=\"A2\" t=\"str\"><v>a</v></c><c "
		     "r=\"B2\"><v>1</v></c></row></sheetData>",
		"<sheetData><row><c t=\"str\"><v>k</v></c><c t=\"str\"><v>v</v></c></row>"
		"<row><c t=\"str\"><v>a</v></c><c><v>1</v></c></row></sheetData>",
		"<x:sheetData><x:row r='1'><x:c r='A1' t='str'><x:v>k</x:v></x:c><!-- c -->"
		"<x:c r='B1' t='str'><x:v>v</x:v></x:c></x:row><x:row r='2'><x:c r='A2' t='str'>"
		"<x:v><![CDATA[a]]></x:v></x:c><x:c "
		"r='B2'><x:v>&#49;</x:v></x:c></x:row></x:sheetData>",
		"<dimension ref=\"A1:XFD1048576\"/><sheetData>\r\n<row r=\"2\" spans=\"1:2\" "
		"ht=\"15\" "
		"x14ac:dyDescent=\"0.25\"><c r=\"B2\" s=\"0\" t=\"n\"><v>1</v></c>"
		"<c r=\"A2\" t=\"str\"><v>z</v></c><c r=\"A2\" t=\"str\"><v>a</v></c></row>"
		"<row r=\"1\"><c r=\"A1\" t=\"str\"><v>k</v></c><c r=\"B1\" "
		"t=\"str\"><v>v</v></c></row>"
		"</sheetData>",
		/* attributes that say nothing, and blanks around the values of others */
		HEAD "<row r=\"\"><c r=\"\" s=\"\" t=\"str\"><v>a</v></c><c  r = \" B2 \"  "
		     "s=\" 0 \" t=\"\" ><v> 1 </v></c></row></sheetData>",
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(sheet); i++)
		expect(sheet[i], 1, "k:text,v:int\na|1\n");
}

void test_xlsx_rows_and_header(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	static const char sheet[] =
		"<sheetData><row r=\"1\"><c r=\"A1\" t=\"str\"><v>Title</v></c></row>"
		"<row r=\"3\"><c r=\"B3\" t=\"str\"><v>Name</v></c><c r=\"C3\" "
		"s=\"5\"><v>45292</v></c></row>"
		"<row r=\"4\"><c r=\"B4\" t=\"str\"><v>a</v></c><c r=\"C4\"><v>1</v></c></row>"
		"<row r=\"9\" hidden=\"1\"><c r=\"B9\" t=\"str\"><v>b</v></c><c "
		"r=\"C9\"><v>2</v></c></row>"
		"<row r=\"10\"><c r=\"B10\" t=\"str\"><v>c</v></c></row></sheetData>";

	expect_opts(sheet, &opts, "Name:text,Jan-24:int\na|1\nb|2 @9\nc|~\n");
	opts.hidden_drop = true;
	expect_opts(sheet, &opts, "Name:text,Jan-24:int\na|1\nc|~ @10\n");
	opts.hidden_drop = false;
	opts.header_rows = 0;
	opts.range = "B4:C9";
	expect_opts(sheet, &opts, "column_1:text,column_2:int\na|1\nb|2 @9\n");
	opts.skip = 1;
	opts.range = "3:9";
	expect_opts(sheet, &opts, "column_1:text,column_2:int\na|1\nb|2 @9\n");
	opts.skip = 0;
	opts.range = "Area";
	expect_opts(sheet, &opts, "column_1:null,column_2:text\n~|Name\n");
	opts.range = "nowhere";
	expect_opts(sheet, &opts, "bad_param_value");
	opts.range = "Z1:Z9";
	expect_opts(sheet, &opts, "empty_input");
	opts.range = NULL;
	opts.sheet = "Two";
	expect_opts(sheet, &opts, "sheet_not_found");
	opts.sheet = "1";
	opts.header_rows = 3;
	expect_opts(sheet, &opts, "Title:null,Name:text,Jan-24:int\n~|a|1\n~|b|2 @9\n~|c|~\n");
}

void test_xlsx_merged_header_and_cells(void)
{
	expect("<sheetData><row r=\"1\"><c r=\"A1\" t=\"str\"><v>R</v></c><c r=\"B1\" "
	       "t=\"str\"><v>H</v></c></row>"
	       "<row r=\"2\"><c r=\"B2\" t=\"str\"><v>Jan</v></c><c r=\"C2\" "
	       "t=\"str\"><v>Feb</v></c></row>"
	       "<row r=\"3\"><c r=\"A3\" t=\"str\"><v>N</v></c><c r=\"B3\"><v>1</v></c><c "
	       "r=\"C3\"><v>2</v></c></row>"
	       "<row r=\"4\"><c r=\"B4\"><v>3</v></c><c r=\"C4\"><v>4</v></c></row></sheetData>"
	       "<mergeCells count=\"9\"><mergeCell ref=\"A1:A2\"/><mergeCell ref=\"B1:C1\"/>"
	       "<mergeCell ref=\"A3:A4\"/></mergeCells>",
	       -1, "R:text,H Jan:int,H Feb:int\nN|1|2\n~|3|4\n");
}

/* A title that is merged over some of the columns is left out as one over all of them; a merged
 * name of a group of columns stays. */
void test_xlsx_merged_title(void)
{
#define TITLED                                                                                     \
	"<row r=\"2\"><c r=\"A2\" t=\"str\"><v>shop</v></c><c r=\"B2\" t=\"str\"><v>units</v></c>" \
	"<c r=\"C2\" t=\"str\"><v>price</v></c></row>"                                             \
	"<row r=\"3\"><c r=\"A3\" t=\"str\"><v>a</v></c><c r=\"B3\"><v>1</v></c><c "               \
	"r=\"C3\"><v>2</v></c></row></sheetData>"
	expect("<sheetData><row r=\"1\"><c r=\"A1\" t=\"str\"><v>Sales</v></c></row>" TITLED
	       "<mergeCells><mergeCell ref=\"A1:B1\"/></mergeCells>",
	       -1, "shop:text,units:int,price:int\na|1|2\n");
	expect("<sheetData><row r=\"1\"><c r=\"B1\" t=\"str\"><v>Sales</v></c></row>" TITLED
	       "<mergeCells><mergeCell ref=\"B1:C1\"/></mergeCells>",
	       -1, "shop:text,Sales units:int,Sales price:int\na|1|2\n");
#undef TITLED
}

void test_xlsx_merge_flags(void)
{
	struct book book = { .sheet = HEAD
		             "<row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"B2\"><v>1</v></c></row>"
		             "<row r=\"3\"><c r=\"B3\"><v>2</v></c></row></sheetData><mergeCells>"
		             "<mergeCell ref=\"A2:A3\"/><mergeCell ref=\"A2:B2\"/></mergeCells>" };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20);
	struct dtx_source *src;
	struct dtx_reader *r;
	struct dtx_batch *b;
	const uint8_t need[2] = { DTX_NEED_BYTES, DTX_NEED_SKIP };
	struct dtx_scan scan = { .need = need, .limit = -1 };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_place place;

	book_make(&book, &bytes);
	T_OK(dtx_source_bytes("b.xlsx", bytes.ptr, bytes.len, &src, &err), &err);
	T_OK(dtx_reader_open(src, &opts, &r, &err), &err);
	T_OK(r->cls->schema(r, &scan.schema, &err), &err);
	T_OK(r->cls->start(r, &scan, &err), &err);
	T_OK(r->cls->next(r, 0, &b, &err), &err);
	T_CHECK(!b->col[1]);
	T_INT(b->col[0]->tag[1], DTX_CELL_BLANK | DTX_CELL_MERGE_UP);
	b->origin->locate(b->origin, b->first_row + 1, &place);
	T_INT(place.row, 2);
	T_STR(b->origin->sheet, "One");
	dtx_batch_free(b);
	dtx_reader_close(r);
	dtx_source_free(src);
	dtx_buf_clear(&bytes);
}

void test_xlsx_null_values_and_types(void)
{
	static const char *const nulls[] = { "-", "999" };
	struct dtx_read_type type = {
		"v", { .type = DTX_T_DECIMAL, .precision = 8, .scale = 2 }, NULL, DTX_CAST_ERROR
	};
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	static const char sheet[] = HEAD
		"<row r=\"2\"><c r=\"A2\" t=\"str\"><v>-</v></c><c r=\"B2\"><v>1.5</v></c></row>"
		"<row r=\"3\"><c r=\"A3\"><v>4</v></c><c r=\"B3\"><v>999</v></c></row></sheetData>";

	opts.header_rows = 1;
	opts.null_values = nulls;
	opts.nnull_values = 2;
	expect_opts(sheet, &opts, "k:int,v:float\n~|1.5\n4|~\n");
	opts.types = &type;
	opts.ntypes = 1;
	expect_opts(sheet, &opts, "k:int,v:decimal\n~|1.50\n4|~\n");
	opts.nnull_values = 0;
	type.name = "k";
	type.type.type = DTX_T_INT64;
	expect_opts(sheet, &opts, "cast_failed");
	type.on_error = DTX_CAST_NULL;
	expect_opts(sheet, &opts, "k:int,v:float\n~|1.5\n4|999.0\n");
}

void test_xlsx_wanted_columns(void)
{
	const char *wanted[] = { "v" };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	static const char sheet[] =
		HEAD "<row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"B2\"><v>2</v></c></row>"
		     "<row r=\"3\"><c r=\"A3\"><v>4</v></c></row></sheetData>";

	opts.requires = wanted;
	opts.nrequires = 1;
	opts.extra = DTX_EXTRA_DROP;
	expect_opts(sheet, &opts, "v:int\n2\n~\n");
	opts.extra = DTX_EXTRA_ERROR;
	expect_opts(sheet, &opts, "extra_column");
	wanted[0] = "w";
	expect_opts(sheet, &opts, "missing_column");
}

/* Relative to the folder of the workbook, absolute, and absolute without the slash. */
void test_xlsx_targets(void)
{
	static const char *const targets[] = { "worksheets/sheet1.xml", "/xl/worksheets/sheet1.xml",
		                               "xl/worksheets/sheet1.xml" };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	size_t i;

	for (i = 0; i < DTX_COUNT(targets); i++) {
		struct book book = { .sheet = HEAD "<row r=\"2\"><c r=\"A2\"><v>1</v></c><c "
			                           "r=\"B2\"><v>2</v></c></row></sheetData>",
			             .target = targets[i] };
		struct dtx_buf out = DTX_BUF_INIT(1 << 20);
		struct dtx_err err = DTX_ERR_INIT;

		T_OK(dump_sheet(&book, &opts, &out, &err), &err);
		T_STR(dtx_buf_text(&out), "k:int,v:int\n1|2\n");
		dtx_buf_clear(&out);
	}
}

void test_xlsx_epoch_1904(void)
{
	struct book book = {
		.workbook_pr = "date1904=\"1\"",
		.sheet = HEAD
		"<row r=\"2\"><c r=\"A2\" s=\"1\"><v>0</v></c><c r=\"B2\" s=\"1\"><v>43830</v>"
		"</c></row></sheetData>"
	};
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf out = DTX_BUF_INIT(1 << 20);
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(dump_sheet(&book, &opts, &out, &err), &err);
	T_STR(dtx_buf_text(&out), "k:date,v:date\n1904-01-01|2024-01-01\n");
	dtx_buf_clear(&out);
}

/* The dates of the two epochs differ by four years, so a word that is neither yes nor no is never
 * taken as "no". */
void test_xlsx_epoch_in_words(void)
{
	static const struct {
		const char *says, *out; /* out NULL: refused */
	} row[] = {
		{ "date1904=\"1\"", "k:date,v:int\n2024-01-01|1\n" },
		{ "date1904=\"true\"", "k:date,v:int\n2024-01-01|1\n" },
		{ "date1904=\" on \"", "k:date,v:int\n2024-01-01|1\n" },
		{ "date1904=\"True\"", "k:date,v:int\n2024-01-01|1\n" },
		{ "date1904=\"0\"", "k:date,v:int\n2019-12-31|1\n" },
		{ "date1904=\"off\"", "k:date,v:int\n2019-12-31|1\n" },
		{ "date1904=\"FALSE\"", "k:date,v:int\n2019-12-31|1\n" },
		{ "", "k:date,v:int\n2019-12-31|1\n" },
		{ "date1904=\"yes\"", NULL },
		{ "date1904=\"\"", NULL },
		{ "date1904=\"2\"", NULL },
	};
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	size_t i;

	for (i = 0; i < DTX_COUNT(row); i++) {
		struct book book = { .workbook_pr = row[i].says,
			             .sheet = HEAD
			             "<row r=\"2\"><c r=\"A2\" s=\"1\"><v>43830</v></c>"
			             "<c r=\"B2\"><v>1</v></c></row></sheetData>" };
		struct dtx_buf out = DTX_BUF_INIT(1 << 20);
		struct dtx_err err = DTX_ERR_INIT;

		T_CODE(dump_sheet(&book, &opts, &out, &err),
		       row[i].out ? DTX_OK : DTX_E_CORRUPT_FILE, &err);
		if (row[i].out)
			T_STR(dtx_buf_text(&out), row[i].out);
		else
			T_CHECK(strstr(err.msg, "neither true nor false: its dates are not known"));
		dtx_err_clear(&err);
		dtx_buf_clear(&out);
	}
}

/* The same for a cell. */
void test_xlsx_bool_in_words(void)
{
	expect(HEAD
	       "<row r=\"2\"><c r=\"A2\" t=\"b\"><v>on</v></c><c r=\"B2\"><v>1</v></c></row>"
	       "<row r=\"3\"><c r=\"A3\" t=\"b\"><v>0</v></c><c r=\"B3\"><v>1</v></c></row>"
	       "<row r=\"4\"><c r=\"A4\" t=\"b\"><v>maybe</v></c><c r=\"B4\"><v>1</v></c></row>"
	       "</sheetData>",
	       -1, "k:bool,v:int\ntrue|1\nfalse|1\n~|1\n");
}

void test_xlsx_multiple_tables(void)
{
	expect(HEAD "<row r=\"2\"><c r=\"A2\" t=\"str\"><v>a</v></c><c r=\"B2\"><v>1</v></c></row>"
	            "<row r=\"4\"><c r=\"A4\" t=\"str\"><v>x</v></c><c r=\"B4\" "
	            "t=\"str\"><v>y</v></c></row>"
	            "<row r=\"5\"><c r=\"A5\" t=\"str\"><v>b</v></c><c "
	            "r=\"B5\"><v>2</v></c></row></sheetData>",
	       -1, "multiple_tables");
	expect(HEAD "<row r=\"2\"><c r=\"A2\" t=\"str\"><v>a</v></c><c r=\"B2\"><v>1</v></c></row>"
	            "<row r=\"4\"><c r=\"A4\" t=\"str\"><v>k</v></c><c r=\"B4\" "
	            "t=\"str\"><v>v</v></c></row>"
	            "<row r=\"5\"><c r=\"A5\" t=\"str\"><v>b</v></c><c "
	            "r=\"B5\"><v>2</v></c></row></sheetData>",
	       -1, "k:text,v:text\na|1\nk|v @4\nb|2\n");
}

void test_xlsx_refuses_broken_sheets(void)
{
	static const struct {
		const char *sheet, *want;
	} row[] = {
		{ "<sheetData><row r=\"1048577\"/></sheetData>", "corrupt_file" },
		{ "<sheetData><row r=\"1\"><c r=\"XFE1\"><v>1</v></c></row></sheetData>",
		  "corrupt_file" },
		{ "<sheetData><row r=\"1\"><c r=\"A1\" t=\"q\"><v>1</v></c></row></sheetData>",
		  "corrupt_file" },
		{ "<sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></row></sheetData>",
		  "corrupt_file" },
		{ "<sheetData><row r=\"0\"><c r=\"A0\"><v>1</v></c></row></sheetData>",
		  "corrupt_file" },
		{ "<sheetData></sheetData>", "empty_input" },
		{ "<!DOCTYPE a><sheetData></sheetData>", "corrupt_file" },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(row); i++)
		expect(row[i].sheet, 0, row[i].want);
}

/* The same element `n` times inside of what opens and closes a sheet. */
static void expect_many(const char *open, const char *each, uint32_t n, const char *close)
{
	struct dtx_buf sheet = DTX_BUF_INIT(1 << 25);
	uint32_t i;

	dtx_buf_add(&sheet, open);
	for (i = 0; i < n; i++)
		dtx_buf_add(&sheet, each);
	dtx_buf_add(&sheet, close);
	expect_read(dtx_buf_text(&sheet), &(struct dtx_read_opts)DTX_READ_OPTS_INIT,
	            "corrupt_file");
	dtx_buf_clear(&sheet);
}

void test_xlsx_more_elements_than_a_sheet_has_places(void)
{
	expect_many("<sheetData><row>", "<c r=\"A1\"/>", 16385, "</row></sheetData>");
	expect_many("<sheetData>", "<row r=\"7\"/>", 1048577, "</sheetData>");
}

void test_xlsx_far_corners_cost_nothing(void)
{
	struct book book = {
		.sheet = "<sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c></row>"
			 "<row r=\"1048576\"><c r=\"XFD1048576\"><v>2</v></c></row></sheetData>"
			 "<mergeCells><mergeCell ref=\"A1:XFD1048576\"/></mergeCells>"
	};
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20);
	struct dtx_source *src;
	struct dtx_reader *r;
	struct dtx_err err = DTX_ERR_INIT;
	size_t before;

	opts.header_rows = 0;
	book_make(&book, &bytes);
	T_OK(dtx_source_bytes("b.xlsx", bytes.ptr, bytes.len, &src, &err), &err);
	before = dtx_mem_used();
	T_OK(dtx_reader_open(src, &opts, &r, &err), &err);
	T_CHECK(dtx_mem_used() - before < (size_t)32 << 20);
	T_INT(r->origin.ncols, 16384);
	dtx_reader_close(r);
	dtx_source_free(src);
	dtx_buf_clear(&bytes);
}

static void count_merges(struct dtx_buf *sheet, const char *ref, int n)
{
	dtx_buf_add(sheet,
	            HEAD "<row r=\"2\"><c r=\"XFD2\"><v>1</v></c></row></sheetData><mergeCells>");
	while (n--)
		dtx_buf_printf(sheet, "<mergeCell ref=\"%s\"/>", ref);
	dtx_buf_add(sheet, "</mergeCells>");
}

void test_xlsx_too_many_merges(void)
{
	struct dtx_buf sheet = DTX_BUF_INIT((size_t)1 << 28);

	count_merges(&sheet, "A1:XFD1048576", 20000);
	expect(dtx_buf_text(&sheet), 0, "archive_limit");
	dtx_buf_clear(&sheet);
}

void test_xlsx_string_id_out_of_range(void)
{
	expect(HEAD
	       "<row r=\"2\"><c r=\"A2\" t=\"s\"><v>77</v></c><c r=\"B2\" "
	       "t=\"s\"><v>3</v></c></row>"
	       "<row r=\"3\"><c r=\"A3\"><v>1</v></c><c r=\"B3\"><v>2</v></c></row></sheetData>",
	       1, "k:int,v:int\n~|~\n1|2\n");
}

void test_xlsx_batches_of_any_size(void)
{
	struct book book = {
		.sheet = HEAD
		"<row r=\"2\"><c r=\"A2\" t=\"str\"><v>a</v></c><c r=\"B2\"><v>1</v></c></row>"
		"<row r=\"3\"><c r=\"A3\" t=\"str\"><v>b</v></c><c r=\"B3\"><v>2</v></c></row>"
		"<row r=\"4\"><c r=\"A4\" t=\"str\"><v>c</v></c></row></sheetData>"
	};
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20);
	uint32_t n;

	book_make(&book, &bytes);
	for (n = 1; n < 4; n++) {
		struct dtx_buf out = DTX_BUF_INIT(1 << 20);
		struct dtx_err err = DTX_ERR_INIT;

		T_OK(bytes_dump("b.xlsx", &bytes, &opts, n, false, &out, &err), &err);
		T_STR(dtx_buf_text(&out), "k:text,v:int\na|1\nb|2\nc|~\n");
		dtx_buf_clear(&out);
	}
	dtx_buf_clear(&bytes);
}

/* Rows after those that are held: wider, of other types, merged, hidden, with texts of their
 * own. */
static const char far_rows[] =
	HEAD "<row r=\"2\"><c r=\"A2\" t=\"s\"><v>0</v></c><c r=\"B2\"><v>1</v></c></row>"
	     "<row r=\"3\"><c r=\"A3\" t=\"inlineStr\"><is><t>x</t></is></c></row>"
	     "<row r=\"4\" hidden=\"1\"><c r=\"A4\" t=\"str\"><v>h</v></c></row>"
	     "<row r=\"7\"><c r=\"A7\" t=\"str\"><v>x</v></c><c r=\"B7\"><v>2.5</v></c></row>"
	     "<row r=\"8\"><c r=\"A8\" t=\"e\"><v>#N/A</v></c><c r=\"C8\" s=\"1\"><v>45292</v></c>"
	     "</row></sheetData><mergeCells><mergeCell ref=\"B7:B8\"/></mergeCells>";

void test_xlsx_streams_like_held(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;

	opts.header_rows = 1;
	expect_opts(far_rows, &opts,
	            "k:text,v:float,column_3:date\nname|1.0|~\nx|~|~\nh|~|~\n"
	            "x|2.5|~ @7\n~|~|2024-01-01\n");
	opts.hidden_drop = true;
	expect_opts(far_rows, &opts,
	            "k:text,v:float,column_3:date\nname|1.0|~\nx|~|~\nx|2.5|~ @7\n"
	            "~|~|2024-01-01\n");
	opts.range = "A1:B7";
	expect_opts(far_rows, &opts, "k:text,v:float\nname|1.0\nx|~\nx|2.5 @7\n");
	opts.range = "B1:B8";
	opts.skip_tail = 1;
	expect_opts(far_rows, &opts, "v:float\n1.0\n2.5 @7\n");
}

/* Reads up to a limit, row by row, and returns the ledger. */
static void read_some(uint32_t hold, int64_t limit, struct dtx_read_stats *stats)
{
	struct book book = { .sheet = far_rows };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20);
	const uint8_t need[3] = { DTX_NEED_BYTES, DTX_NEED_BYTES, DTX_NEED_BYTES };
	struct dtx_scan scan = { .need = need, .limit = limit, .batch_rows = 1 };
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	struct dtx_batch *b = NULL;
	struct dtx_err err = DTX_ERR_INIT;

	opts.header_rows = 1;
	opts.hidden_drop = true;
	opts.hold_cells = hold;
	book_make(&book, &bytes);
	T_OK(dtx_source_bytes("b.xlsx", bytes.ptr, bytes.len, &src, &err), &err);
	T_OK(dtx_reader_open(src, &opts, &r, &err), &err);
	T_OK(r->cls->schema(r, &scan.schema, &err), &err);
	T_OK(r->cls->start(r, &scan, &err), &err);
	do {
		dtx_batch_free(b);
		T_OK(r->cls->next(r, 0, &b, &err), &err);
	} while (b);
	*stats = r->stats;
	dtx_reader_close(r);
	dtx_source_free(src);
	dtx_buf_clear(&bytes);
}

void test_xlsx_ledger_of_streams(void)
{
	int64_t limit;

	for (limit = -1; limit < 6; limit++) {
		struct dtx_read_stats held, streamed;

		read_some(0, limit, &held);
		read_some(2, limit, &streamed);
		T_INT(streamed.rows_read, held.rows_read);
		T_INT(streamed.rows_out, held.rows_out);
		T_INT(streamed.stopped_early, held.stopped_early);
		T_CHECK(!memcmp(streamed.dropped, held.dropped, sizeof(held.dropped)));
		T_INT(ledger_sum(&streamed), streamed.rows_read);
	}
}

void test_xlsx_out_of_order_is_held(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;

	opts.header_rows = 1;
	expect_opts(HEAD "<row r=\"5\"><c r=\"A5\"><v>5</v></c></row>"
	                 "<row r=\"3\"><c r=\"B3\"><v>3</v></c></row>"
	                 "<row r=\"5\"><c r=\"B5\"><v>7</v></c><c r=\"A5\"><v>6</v></c></row>"
	                 "</sheetData>",
	            &opts, "k:int,v:int\n~|3\n6|7 @5\n");
}

static void expect_table(const char *table, const char *name, uint32_t hold, const char *want)
{
	struct book book = {
		.sheet = HEAD
		"<row r=\"2\"><c r=\"A2\" t=\"str\"><v>name</v></c><c r=\"B2\" "
		"t=\"str\"><v>n</v></c></row>"
		"<row r=\"3\"><c r=\"A3\" t=\"str\"><v>x</v></c><c r=\"B3\"><v>1</v>"
		"</c></row>"
		"<row r=\"4\"><c r=\"A4\" t=\"str\"><v>y</v></c><c r=\"B4\"><v>2</v>"
		"</c></row>"
		"<row r=\"5\"><c r=\"A5\" t=\"str\"><v>Total</v></c><c r=\"B5\">"
		"<v>3</v></c></row>"
		"<row r=\"6\"><c r=\"C6\" t=\"str\"><v>note</v></c></row>"
		"</sheetData><tableParts count=\"1\"><tablePart r:id=\"t1\"/></tableParts>",
		.table = table
	};
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf out = DTX_BUF_INIT(1 << 20);
	struct dtx_err err = DTX_ERR_INIT;

	opts.table = name;
	opts.hold_cells = hold;
	if (dump_sheet(&book, &opts, &out, &err) == DTX_OK)
		T_STR(dtx_buf_text(&out), want);
	else
		T_STR(dtx_code_name(err.code), want);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
}

void test_xlsx_tables_by_name(void)
{
	uint32_t hold;

	for (hold = 0; hold < 6; hold += 5) {
		expect_table("<table id=\"1\" name=\"T\" displayName=\"Sales\" ref=\"A2:B5\" "
		             "totalsRowCount=\"1\"/>",
		             "sales", hold, "name:text,n:int\nx|1\ny|2\n");
		expect_table("<table name=\"T\" ref=\"A3:B4\" headerRowCount=\"0\"/>", "T", hold,
		             "column_1:text,column_2:int\nx|1\ny|2\n");
	}
	expect_table("<table name=\"T\" ref=\"A3:B4\"/>", "U", 0, "sheet_not_found");
	expect_table("<table name=\"T\" ref=\"nowhere\"/>", "T", 0, "sheet_not_found");
}

void test_xlsx_bad_cells(void)
{
	static const char sheet[] =
		HEAD "<row r=\"2\"><c r=\"A2\" t=\"e\"><v>#N/A</v></c><c r=\"B2\" s=\"1\"><v>-4</v>"
		     "</c></row>"
		     "<row r=\"3\"><c r=\"A3\"><v>7</v></c><c r=\"B3\"><f>1+1</f></c></row>"
		     "</sheetData>";

	expect_bad_cells(sheet, "k:int,v:null\n~|~\n7|~\n", "k:text,v:text\n#N/A|-4\n7|~\n");
}

void test_xlsx_merged_fill(void)
{
	static const char sheet[] = HEAD
		"<row r=\"2\"><c r=\"A2\" t=\"str\"><v>x</v></c><c r=\"B2\"><v>1</v></c></row>"
		"<row r=\"3\"><c r=\"B3\"><v>2</v></c></row>"
		"<row r=\"5\"><c r=\"A5\"><v>9</v></c><c r=\"B5\"><v>8</v></c></row></sheetData>"
		"<mergeCells><mergeCell ref=\"A2:A4\"/><mergeCell ref=\"A5:B900\"/></mergeCells>";
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;

	opts.header_rows = 1;
	expect_opts(sheet, &opts, "k:text,v:int\nx|1\n~|2\n9|8 @5\n");
	opts.merged_fill = true;
	expect_opts(sheet, &opts, "k:text,v:int\nx|1\nx|2\nx|~\n9|8\n");
}

static enum dtx_code collect_cell(void *arg, const struct dtx_cell_info *c, struct dtx_err *err)
{
	char *text = json_dumps(c->value, JSON_ENCODE_ANY);

	(void)err;
	dtx_buf_printf(arg, "%s %s %s %s%s%s\n", c->cell, c->kind, text, c->format,
	               c->formula ? " f" : "", c->merged ? c->merged : "");
	free(text);
	return DTX_OK;
}

void test_xlsx_cells_for_inspect(void)
{
	struct book book = {
		.sheet = "<sheetData><row r=\"1\"><c r=\"A1\" s=\"1\"><v>45292</v></c>"
			 "<c r=\"B1\" s=\"3\"><v>0.604166666666667</v></c></row><row r=\"2\">"
			 "<c r=\"A2\" s=\"4\"><f>x</f><v>1.1041666666666667</v></c>"
			 "<c r=\"B2\" t=\"b\"><v>1</v></c><c r=\"C2\" t=\"e\"><v>#REF!</v></c>"
			 "<c r=\"D2\" s=\"6\"/><c r=\"E2\"><v>9007199254740993</v></c>"
			 "</row></sheetData>"
			 "<mergeCells><mergeCell ref=\"B2:B4\"/></mergeCells>"
	};
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20), out = DTX_BUF_INIT(1 << 20);
	struct dtx_source *src;
	struct dtx_err err = DTX_ERR_INIT;
	json_t *sheets;

	book_make(&book, &bytes);
	T_OK(dtx_source_bytes("b.xlsx", bytes.ptr, bytes.len, &src, &err), &err);
	T_OK(dtx_book_cells(src, NULL, collect_cell, &out, &err), &err);
	T_STR(dtx_buf_text(&out),
	      "A1 date \"2024-01-01\" mm-dd-yy\nB1 time \"14:30:00\" h:mm\n"
	      "A2 duration \"26:30:00\" [h]:mm:ss f\nB2 bool true GeneralB2:B4\n"
	      "C2 error \"#REF!\" General\nE2 number 9007199254740993 General\n");
	T_OK(dtx_book_sheets(src, &sheets, &err), &err);
	T_STR(dtx_json_text(json_array_get(sheets, 0), "dimension", ""), "A1:E2");
	T_INT(dtx_json_int(json_array_get(sheets, 0), "merges", 0), 1);
	json_decref(sheets);
	dtx_source_free(src);
	dtx_buf_clear(&out);
	dtx_buf_clear(&bytes);
}

static enum dtx_code whole_read(const struct dtx_buf *bytes)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf out = DTX_BUF_INIT(1 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = bytes_dump("b.xlsx", bytes, &opts, 0, true, &out, &err);

	if (rc == DTX_OK && !dtx_buf_ok(&out))
		rc = DTX_E_NO_MEMORY;
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	return rc;
}

void test_xlsx_every_alloc_fails(void)
{
	struct book book = {
		.sheet = HEAD
		"<row r=\"3\"><c r=\"B3\" t=\"s\"><v>1</v></c><c r=\"A3\"><v>1</v></c></row>"
		"<row r=\"2\"><c r=\"B2\" t=\"b\"><v>1</v></c></row></sheetData><mergeCells>"
		"<mergeCell ref=\"A2:A3\"/></mergeCells>"
	};
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20);

	book_make(&book, &bytes);
	T_EVERY_ALLOC_FAILS(whole_read(&bytes));
	dtx_buf_clear(&bytes);
}

/* A sentence above the header, spread over cells, and a table that says where the header is. */
void test_xlsx_header_below_a_sentence(void)
{
	static const char sentence[] =
		"<sheetData><row><c t=\"str\"><v>some</v></c><c/><c "
		"t=\"str\"><v>words</v></c></row>"
		"<row><c t=\"str\"><v>more</v></c><c/><c t=\"str\"><v>of</v></c></row>"
		"<row><c t=\"str\"><v>name</v></c><c t=\"str\"><v>n</v></c><c "
		"t=\"str\"><v>k</v></c></row>"
		"<row><c t=\"str\"><v>x</v></c><c><v>1</v></c><c><v>2</v></c></row></sheetData>";

	expect(sentence, -1, "name:text,n:int,k:int\nx|1|2\n");
}

void test_sheet_names_in_addresses(void)
{
	static const char *const names[][2] = {
		{ "Q1", "Q1" },       { "J\xc3\xa4n_2.a", "J\xc3\xa4n_2.a" },
		{ "Q 1", "'Q 1'" },   { "it's", "'it''s'" },
		{ "2024", "'2024'" }, { "a!b", "'a!b'" },
		{ "", "''" }
	};
	struct dtx_buf text = DTX_BUF_INIT(100);

	for (size_t i = 0; i < DTX_COUNT(names); i++) {
		dtx_buf_reset(&text);
		dtx_sheet_name_print(names[i][0], &text);
		T_STR(dtx_buf_text(&text), names[i][1]);
	}
	dtx_buf_clear(&text);
}
