/* Workbooks with one part that is wrong, missing or superfluous: what is reported. */
#include "core/io/sheet/grid.h"
#include "core/io/repair.h"
#include "tests/t.h"
#include "tests/unit/bookmake.h"

struct broken_book {
	const char *part; /* the part that is replaced; "": none */
	const char *open; /* its text; NULL: omitted */
	const char *each; /* repeated this many times */
	int n;
	const char *close;
	const char *limit; /* the limit that is lowered to 1 */
	const char *sheet, *range, *table;
	bool fill;     /* merged ranges */
	uint32_t hold; /* number of cells of a sheet that are held */
	enum dtx_code code;
	const char *says;
};

#define SHEET_PART   "xl/worksheets/sheet1.xml"
#define TABLE_PART   "xl/tables/table1.xml"
#define ROWS(inside) "<worksheet " BOOK_NS "><sheetData>" inside "</sheetData></worksheet>"
#define TABLE                                                                                      \
	"<table " BOOK_NS " name=\"T\" displayName=\"T\" ref=\"A1:B2\"><tableColumns "             \
	"count=\"2\"><tableColumn id=\"1\" name=\"k\"/><tableColumn id=\"2\" name=\"v\"/>"         \
	"</tableColumns></table>"

static const struct zip_part honest[] = {
	{ .name = "_rels/.rels",
	  .text = "<Relationships><Relationship Id=\"rId1\" Type=\"http://x/officeDocument\" "
	          "Target=\"xl/workbook.xml\"/></Relationships>" },
	{ .name = "xl/_rels/workbook.xml.rels",
	  .text = "<Relationships><Relationship Id=\"r1\" Type=\"http://x/worksheet\" "
	          "Target=\"worksheets/sheet1.xml\"/><Relationship Id=\"r2\" "
	          "Type=\"http://x/chartsheet\" Target=\"chartsheets/sheet1.xml\"/><Relationship "
	          "Id=\"r3\" Type=\"http://x/sharedStrings\" Target=\"sharedStrings.xml\"/>"
	          "<Relationship Id=\"r4\" Type=\"http://x/styles\" Target=\"styles.xml\"/>"
	          "<Relationship Id=\"r5\" Type=\"http://x/worksheet\" "
	          "Target=\"worksheets/sheet2.xml\"/></Relationships>" },
	{ .name = "xl/workbook.xml",
	  .text = "<workbook " BOOK_NS " xmlns:r=\"http://r\"><sheets><sheet name=\"One\" "
	          "sheetId=\"1\" r:id=\"r1\"/><sheet name=\"Chart\" sheetId=\"2\" r:id=\"r2\"/>"
	          "<sheet name=\"Two\" sheetId=\"3\" r:id=\"r5\"/></sheets></workbook>" },
	{ .name = "xl/styles.xml", .text = book_styles },
	{ .name = "xl/sharedStrings.xml",
	  .text = "<sst " BOOK_NS "><si><t>name</t></si><si><t>b</t></si></sst>" },
	{ .name = "xl/chartsheets/sheet1.xml", .text = "<chartsheet/>" },
	{ .name = SHEET_PART,
	  .text = ROWS(
		  "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"B1\" t=\"s\"><v>1</v></c>"
		  "</row><row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"B2\"><v>2</v></c></row>") },
	{ .name = "xl/worksheets/sheet2.xml", .text = ROWS("") },
	{ .name = "xl/worksheets/_rels/sheet1.xml.rels",
	  .text = "<Relationships><Relationship Id=\"t1\" Type=\"http://x/table\" "
	          "Target=\"../tables/table1.xml\"/></Relationships>" },
	{ .name = TABLE_PART, .text = TABLE },
};

static const struct broken_book books[] = {
	{ "", .sheet = "Chart", .code = DTX_E_SHEET_NOT_FOUND,
	  .says = "'b.xlsx': sheet 'Chart' is not a worksheet" },
	{ "", .table = "T", .range = "A1:B2", .code = DTX_E_BAD_PARAM_VALUE,
	  .says = "'table' and 'range' both say which cells are read" },
	{ "", .table = "T", .sheet = "Two", .code = DTX_E_SHEET_NOT_FOUND,
	  .says = "table 'T' is on sheet 'One'" },
	{ "xl/workbook.xml",
	  "<workbook " BOOK_NS " xmlns:r=\"http://r\"><sheets><sheet name=\"One\" "
	  "state=\"hidden\" r:id=\"r1\"/></sheets></workbook>",
	  .code = DTX_E_SHEET_NOT_FOUND, .says = "'b.xlsx' has no visible worksheet" },
	{ "xl/workbook.xml", "<document/>", .code = DTX_E_UNSUPPORTED_FORMAT,
	  .says = "'b.xlsx' is an office file but no workbook" },
	{ SHEET_PART, NULL, .code = DTX_E_CORRUPT_FILE,
	  .says = "the part of sheet 'One' is missing" },
	{ SHEET_PART, "<table/>", .code = DTX_E_CORRUPT_FILE,
	  .says = "a sheet part that is not a worksheet" },
	{ SHEET_PART, ROWS("<row r=\"1048576\"/><row/>"), .code = DTX_E_CORRUPT_FILE,
	  .says = "a row beyond 1048576" },
	{ SHEET_PART, ROWS("<row><c r=\"XFD1\"/><c><v>1</v></c></row>"), .code = DTX_E_CORRUPT_FILE,
	  .says = "a cell beyond column XFD" },
	{ SHEET_PART, ROWS("<row><c s=\"-1\"><v>1</v></c></row>"), .code = DTX_E_CORRUPT_FILE,
	  .says = "a style id that the workbook does not have" },
	{ SHEET_PART, ROWS("<row s\"><c><v>1</v></c></row>"), .code = DTX_E_CORRUPT_FILE,
	  .says = "'<' inside a tag" },
	{ SHEET_PART, ROWS("<row><c><f t\">A1</f><v>1</v></c></row>"), .code = DTX_E_CORRUPT_FILE,
	  .says = "'<' inside a tag" },
	{ "xl/_rels/workbook.xml.rels", "<Relationships>", "<Relationship/>", 20001,
	  "</Relationships>", .code = DTX_E_ARCHIVE_LIMIT, .says = "over 20000 relationships" },
	{ "xl/workbook.xml", "<workbook " BOOK_NS "><sheets>", "<sheet/>", 4097,
	  "</sheets></workbook>", .code = DTX_E_ARCHIVE_LIMIT, .says = "over 4096 sheets" },
	{ "xl/workbook.xml", "<workbook " BOOK_NS "><definedNames>", "<definedName/>", 65537,
	  "</definedNames></workbook>", .code = DTX_E_ARCHIVE_LIMIT,
	  .says = "over 65536 defined names" },
	{ "xl/worksheets/_rels/sheet1.xml.rels", "<Relationships>",
	  "<Relationship Id=\"t1\" Type=\"http://x/table\" Target=\"../tables/table1.xml\"/>", 4097,
	  "</Relationships>", .table = "T", .code = DTX_E_ARCHIVE_LIMIT,
	  .says = "over 4096 tables" },
	{ "xl/styles.xml", "<styleSheet " BOOK_NS "><fonts>", "<font/>", 65537,
	  "</fonts></styleSheet>", .code = DTX_E_ARCHIVE_LIMIT, .says = "over 65536 fonts" },
	{ "xl/styles.xml", "<styleSheet " BOOK_NS "><cellXfs>", "<xf/>", 65537,
	  "</cellXfs></styleSheet>", .code = DTX_E_ARCHIVE_LIMIT,
	  .says = "over 65536 cell styles" },
	{ "xl/styles.xml", "<styleSheet " BOOK_NS "><numFmts>",
	  "<numFmt numFmtId=\"164\" formatCode=\"0\"/>", 65537, "</numFmts></styleSheet>",
	  .code = DTX_E_ARCHIVE_LIMIT, .says = "over 65536 number formats" },
	{ "", .limit = "strings", .code = DTX_E_ARCHIVE_LIMIT, .says = "over 1 shared strings" },
	{ "", .limit = "string_bytes", .code = DTX_E_ARCHIVE_LIMIT,
	  .says = "over 1 byte of shared strings" },
	{ "", .limit = "text", .code = DTX_E_ARCHIVE_LIMIT,
	  .says = "a text of over 1 byte in a cell" },
	{ "", .limit = "cells", .code = DTX_E_ARCHIVE_LIMIT, .says = "a sheet with over 1 cell" },
	{ "", .limit = "cells", .hold = 1, .code = DTX_E_ARCHIVE_LIMIT,
	  .says = "a sheet with over 1 cell" },
	/* each part alone would pass, together they are too many */
	{ SHEET_PART, ROWS("<row><c><v>1</v></c></row><row><c><v>2</v></c></row>"),
	  .limit = "cells", .hold = 1, .code = DTX_E_ARCHIVE_LIMIT,
	  .says = "a sheet with over 1 cell" },
	{ "", .limit = "total", .code = DTX_E_ARCHIVE_LIMIT,
	  .says = "parts inflate to over 1 byte" },
	{ SHEET_PART, "<worksheet " BOOK_NS "><sheetData><row><c t=\"str\"><v>", "0123456789abcdef",
	  70000, "</v></c></row></sheetData></worksheet>", .code = DTX_E_ARCHIVE_LIMIT,
	  .says = "a text of over 1048576 bytes in a cell" },
	{ SHEET_PART, "<worksheet " BOOK_NS "><sheetData><row><c t=\"inlineStr\"><is><t>",
	  "0123456789abcdef", 70000, "</t></is></c></row></sheetData></worksheet>",
	  .code = DTX_E_ARCHIVE_LIMIT, .says = "a text of over 1048576 bytes in a cell" },
	{ SHEET_PART, ROWS("<row><c t=\"str\"><v>abc</v></c></row>"), .limit = "text",
	  .code = DTX_E_ARCHIVE_LIMIT, .says = "a text of over 1 byte in a cell" },
	{ SHEET_PART, ROWS("<row><c t=\"inlineStr\"><is><t>abc</t></is></c></row>"),
	  .limit = "text", .code = DTX_E_ARCHIVE_LIMIT, .says = "a text of over 1 byte in a cell" },
	{ SHEET_PART, "<worksheet>", "<a>", 64, "", .code = DTX_E_ARCHIVE_LIMIT,
	  .says = "elements are nested over 64 deep (limit 'archive.depth')" },
	{ SHEET_PART, "<worksheet a=\"", "0123456789abcdef", 4097, "\"/>",
	  .code = DTX_E_ARCHIVE_LIMIT,
	  .says = "an attribute of over 65536 bytes (limit 'archive.attribute')" },
	{ SHEET_PART,
	  "<worksheet a1='' a2='' a3='' a4='' a5='' a6='' a7='' a8='' b1='' b2='' b3='' b4='' "
	  "b5='' "
	  "b6='' b7='' b8='' c1='' c2='' c3='' c4='' c5='' c6='' c7='' c8='' d1='' d2='' d3='' "
	  "d4='' "
	  "d5='' d6='' d7='' d8='' e1='' e2='' e3='' e4='' e5='' e6='' e7='' e8='' f1='' f2='' "
	  "f3='' "
	  "f4='' f5='' f6='' f7='' f8='' g1='' g2='' g3='' g4='' g5='' g6='' g7='' g8='' h1='' "
	  "h2='' "
	  "h3='' h4='' h5='' h6='' h7='' h8='' i='' ",
	  .close = "/>", .code = DTX_E_ARCHIVE_LIMIT,
	  .says = "a tag with over 64 attributes (limit 'archive.attributes')" },
	{ SHEET_PART, "<worksheet><!--", "<0123456789abcde", (17 << 20) / 16, "-->",
	  .code = DTX_E_ARCHIVE_LIMIT,
	  .says = "a tag of over 8388608 bytes (limit 'archive.tag')" },
	{ SHEET_PART, "<worksheet>", "                ", (9 << 20) / 16, "</worksheet>",
	  .code = DTX_E_ARCHIVE_LIMIT,
	  .says = "goes on and on without a tag (limit 'archive.text')" },
	{ SHEET_PART, ROWS("<row/>"), .limit = "idle", .code = DTX_E_ARCHIVE_LIMIT,
	  .says = "goes on and on without a value (limit 'archive.idle')" },
	{ SHEET_PART,
	  "<worksheet " BOOK_NS
	  "><sheetData><row><c t=\"str\"><v>k</v></c><c t=\"str\"><v>v</v></c>"
	  "</row><row><c><v>1</v></c></row></sheetData><mergeCells><mergeCell ref=\"A2:B2\"/>"
	  "</mergeCells></worksheet>",
	  .fill = true, .limit = "fill", .code = DTX_E_ARCHIVE_LIMIT,
	  .says = "merged ranges fill over 1 cell (limit 'archive.fill')" },
};

/* For each limit: the error names it, and the next step is its option, or says that there is
 * none. */
static void names_its_limit(const struct dtx_err *err)
{
	const char *at = strstr(err->msg, "(limit 'archive."), *end = at ? strchr(at, ')') : NULL;
	char want[64];

	T_CHECK(end);
	if (!end)
		return;
	snprintf(want, sizeof(want), "--limit %.*s=N", (int)(end - at - 9), at + 8);
	if (!strstr(err->hint, want) && !strstr(err->hint, "no option raises it"))
		t_fail(__FILE__, __LINE__, "%s: next: %s", err->msg, err->hint);
}

static void broken_make(const struct broken_book *b, struct dtx_buf *out)
{
	struct zip_part part[DTX_COUNT(honest)];
	struct dtx_buf text = DTX_BUF_INIT((size_t)1 << 25);
	size_t n = 0;

	dtx_buf_add(&text, b->open ? b->open : "");
	for (int i = 0; i < b->n; i++)
		dtx_buf_add(&text, b->each);
	dtx_buf_add(&text, b->close ? b->close : "");
	for (size_t i = 0; i < DTX_COUNT(honest); i++) {
		bool is = strcmp(honest[i].name, b->part) == 0;

		part[n] = honest[i];
		if (is)
			part[n].text = dtx_buf_text(&text);
		n += !is || b->open;
	}
	zip_make(out, part, n);
	dtx_buf_clear(&text);
}

static enum dtx_code broken_read(const struct broken_book *b, const struct dtx_buf *bytes,
                                 struct dtx_err *err)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_archive_limits limits = dtx_archive_limits_default;
	struct dtx_buf out = DTX_BUF_INIT(1 << 20);
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	enum dtx_code rc = DTX_OK;

	opts.sheet = b->sheet;
	opts.range = b->range;
	opts.table = b->table;
	opts.hold_cells = b->hold;
	opts.merged_fill = b->fill;
	for (size_t i = 0; b->limit && i < dtx_narchive_limits_rows; i++)
		if (strcmp(dtx_archive_limits_rows[i].name, b->limit) == 0)
			memcpy((char *)&limits + dtx_archive_limits_rows[i].offset,
			       &(uint64_t){ 1 }, 8);
	DTX_TRY(dtx_source_bytes("b.xlsx", bytes->ptr, bytes->len, &src, err));
	dtx_source_limit(src, &limits);
	DTX_TRY(dtx_reader_open(src, &opts, &r, err));
	DTX_TRY(table_dump(r, 0, true, &out, err));
out:
	dtx_reader_close(r);
	dtx_source_free(src);
	dtx_buf_clear(&out);
	return rc;
}

void test_xlsx_broken_parts(void)
{
	for (size_t i = 0; i < DTX_COUNT(books); i++) {
		struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 25);
		struct dtx_err err = DTX_ERR_INIT;
		enum dtx_code rc;

		broken_make(&books[i], &bytes);
		rc = broken_read(&books[i], &bytes, &err);
		if (rc != books[i].code || !strstr(err.msg, books[i].says))
			t_fail(__FILE__, __LINE__, "book %zu: %s: %s, expected %s: %s", i,
			       dtx_code_name(rc), err.msg, dtx_code_name(books[i].code),
			       books[i].says);
		T_CHECK(strstr(err.msg, "'b.xlsx'"));
		if (rc == DTX_E_ARCHIVE_LIMIT)
			names_its_limit(&err);
		dtx_err_clear(&err);
		dtx_buf_clear(&bytes);
	}
}

/* Cells are counted in chunks: the limit also holds if they are added one by one. */
void test_grid_of_many_cells(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;
	struct dtx_grid g;

	dtx_grid_init(&g, "b.xlsx");
	g.limits.cells = DTX_GRID_CHUNK;
	for (uint32_t i = 0; rc == DTX_OK && i <= DTX_GRID_CHUNK; i++)
		rc = dtx_grid_add(&g, i, 0, DTX_CELL_NUMBER, (union dtx_payload){ 0 }, 0, false,
		                  &err);
	T_CODE(rc, DTX_E_ARCHIVE_LIMIT, &err);
	T_CHECK(strstr(err.msg, "'b.xlsx': a sheet with over 65536 cells"));
	T_INT(g.ncells, DTX_GRID_CHUNK);
	dtx_grid_clear(&g);
	dtx_err_clear(&err);
}

/* Other formats that are zip archives: the error names the format and what to do. */
void test_xlsx_other_archives(void)
{
	static const struct {
		const char *part, *says, *hint;
	} list[] = {
		{ "xl/workbook.bin", "'b.xlsx' is a binary workbook (.xlsb)", "--convert-to xlsx" },
		{ "content.xml", "'b.xlsx' is an OpenDocument file", "--convert-to xlsx" },
		{ "word/document.xml", "'b.xlsx' is a Word document", "as .xlsx" },
		{ "readme.txt", "'b.xlsx' is a zip archive without a workbook", "unpack it" },
	};
	const struct broken_book any = { .part = "" };

	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		const struct zip_part part = { .name = list[i].part, .text = "x" };
		struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 20);
		struct dtx_err err = DTX_ERR_INIT;

		zip_make(&bytes, &part, 1);
		T_CODE(broken_read(&any, &bytes, &err), DTX_E_UNSUPPORTED_FORMAT, &err);
		T_STR(err.msg, list[i].says);
		T_CHECK(strstr(err.hint, list[i].hint));
		dtx_buf_clear(&bytes);
	}
}

/* What is hidden from a reader is read when the plan asks for it. */
void test_xlsx_hidden_sheets_alone(void)
{
	const struct broken_book book = {
		.part = "xl/workbook.xml",
		.open = "<workbook " BOOK_NS " xmlns:r=\"http://r\"><sheets><sheet name=\"Chart\" "
			"r:id=\"r2\"/><sheet name=\"One\" state=\"veryHidden\" r:id=\"r1\"/>"
			"</sheets></workbook>",
	};
	struct dtx_errlist done = DTX_ERRLIST_INIT;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_repair repair = { .on = true, .arena = &arena, .done = &done };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;

	broken_make(&book, &bytes);
	T_CODE(broken_read(&book, &bytes, &err), DTX_E_SHEET_NOT_FOUND, &err);
	T_STR(err.hint, "--sheet 2 reads 'One', which is hidden");
	dtx_err_clear(&err);
	T_OK(dtx_source_bytes("b.xlsx", bytes.ptr, bytes.len, &src, &err), &err);
	T_OK(dtx_repair_open(&repair, src, &opts, &r, &err), &err);
	T_STR(opts.sheet, "2");
	T_INT(done.n, 1);
	dtx_reader_close(r);
	dtx_source_free(src);
	dtx_errlist_clear(&done);
	dtx_arena_clear(&arena);
	dtx_buf_clear(&bytes);
}

/* A first sheet without cells is skipped in favour of one that has some; a damaged one is not. */
void test_xlsx_empty_first_sheet(void)
{
	static const char swapped[] =
		"<workbook " BOOK_NS
		" xmlns:r=\"http://r\"><sheets><sheet name=\"Cover\" r:id=\"r5\"/>"
		"<sheet name=\"Data\" r:id=\"r1\"/></sheets></workbook>";
	const struct broken_book book = { .part = "xl/workbook.xml", .open = swapped };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	const struct broken_book named = { .part = book.part, .open = swapped, .sheet = "Cover" };

	broken_make(&book, &bytes);
	T_OK(dtx_source_bytes("b.xlsx", bytes.ptr, bytes.len, &src, &err), &err);
	T_OK(dtx_reader_open(src, &opts, &r, &err), &err);
	T_INT(r->diags.n, 1);
	T_CHECK(strstr(r->diags.item[0].msg, "no cells: sheet 'Data' was read"));
	dtx_reader_close(r);
	dtx_source_free(src);
	T_CODE(broken_read(&named, &bytes, &err), DTX_E_EMPTY_INPUT, &err);
	dtx_buf_clear(&bytes);
}
