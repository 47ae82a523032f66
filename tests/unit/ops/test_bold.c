/* Bold cells: from the fonts of a workbook to the operation that uses them. */
#include "tests/unit/biffmake.h"
#include "tests/unit/planrun.h"

#define STEP "{\"op\":\"subtitle_to_column\",\"match\":\"bold\",\"as\":\"t\"}"
#define OUT  "t,k,v\nNorth,a,1\nNorth,b,2\n2024,c,3\n"

/* Cells are bold as their text says; a bold blank cell does not count. */
static const char styles[] =
	"<styleSheet " BOOK_NS
	"><fonts><font><sz val=\"9\"/></font><font><b/><sz val=\"9\"/></font>"
	"<font><b val=\"0\"/></font><font><x><b/></x></font></fonts><cellXfs><xf fontId=\"0\"/>"
	"<xf fontId=\"1\"/><xf fontId=\"2\"/><xf fontId=\"3\"/><xf fontId=\"77\"/></cellXfs>"
	"</styleSheet>";
static const char sheet[] =
	"<sheetData><row r=\"1\"><c r=\"A1\" t=\"str\" s=\"1\"><v>k</v></c>"
	"<c r=\"B1\" t=\"str\"><v>v</v></c></row>"
	"<row r=\"2\"><c r=\"A2\" t=\"str\" s=\"1\"><v>North</v></c>"
	"<c r=\"B2\" t=\"str\"><v>x</v></c></row>"
	"<row r=\"3\"><c r=\"A3\" t=\"str\" s=\"2\"><v>a</v></c><c r=\"B3\" "
	"s=\"1\"><v>1</v></c></row>"
	"<row r=\"4\"><c r=\"A4\" t=\"inlineStr\" "
	"s=\"3\"><is><r><rPr><b/></rPr><t>b</t></r></is></c>"
	"<c r=\"B4\"><v>2</v></c></row>"
	"<row r=\"5\"><c r=\"A5\" s=\"1\"><v>2024</v></c></row>"
	"<row r=\"6\"><c r=\"A6\" t=\"str\" s=\"4\"><v>c</v></c><c r=\"B6\"><v>3</v></c></row>"
	"</sheetData>";

void test_bold_xlsx(void)
{
	static const struct plancase cases[] = { { PLANCASE(STEP), NULL, OUT } };
	struct book book = { .sheet = sheet, .styles = styles };
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20);

	book_make(&book, &bytes);
	plancases(cases, DTX_COUNT(cases), &bytes);
	dtx_buf_clear(&bytes);
}

static void bold_xls(bool biff5)
{
	static const struct plancase cases[] = { { PLANCASE(STEP), NULL, OUT } };
	static const struct {
		int row, col, xf;
		const char *text;
	} texts[] = { { 0, 0, 7, "k" }, { 0, 1, 0, "v" }, { 1, 0, 7, "North" }, { 1, 1, 8, "x" },
		      { 2, 0, 8, "a" }, { 3, 0, 0, "b" }, { 5, 0, 8, "c" } };
	struct biff_book book = BIFF_BOOK_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20);

	book.biff5 = biff5;
	biff_rec(&book.globals, DTX_BIFF_FONT, "wwww", 200, 0, 0, 400);
	biff_rec(&book.globals, DTX_BIFF_FONT, "wwww", 200, 0, 0, 400);
	biff_rec(&book.globals, DTX_BIFF_FONT, "wwww", 200, 0, 0, 400);
	biff_rec(&book.globals, DTX_BIFF_FONT, "wwww", 200, 0, 0, 400);
	biff_rec(&book.globals, DTX_BIFF_FONT, "wwww", 200, 0, 0, 700); /* font 5: there is no font
	                                                                 * 4 */
	biff_rec(&book.globals, DTX_BIFF_XF, "ww", 5, 0);
	biff_rec(&book.globals, DTX_BIFF_XF, "ww", 3, 0);
	for (size_t i = 0; i < DTX_COUNT(texts); i++)
		biff_rec(&book.cells, DTX_BIFF_LABEL, biff5 ? "wwwN" : "wwwS", texts[i].row,
		         texts[i].col, texts[i].xf, texts[i].text);
	biff_rec(&book.cells, DTX_BIFF_NUMBER, "wwwd", 2, 1, 7, 1.0);
	biff_rec(&book.cells, DTX_BIFF_NUMBER, "wwwd", 3, 1, 0, 2.0);
	biff_rec(&book.cells, DTX_BIFF_NUMBER, "wwwd", 4, 0, 7, 2024.0);
	biff_rec(&book.cells, DTX_BIFF_NUMBER, "wwwd", 5, 1, 0, 3.0);
	biff_make(&book, &bytes);
	biff_book_clear(&book);
	plancases(cases, DTX_COUNT(cases), &bytes);
	dtx_buf_clear(&bytes);
}

void test_bold_xls(void)
{
	bold_xls(false);
	bold_xls(true);
}
