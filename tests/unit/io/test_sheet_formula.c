/* Formulas whose cached result may be of several kinds: they are judged by their text, in both
 * tokenizers. */
#include "core/io/sheet/book.h"
#include "tests/t.h"
#include "tests/unit/bookmake.h"

static void is(const char *code, uint64_t anew, uint64_t other)
{
	struct dtx_sheet_facts f = { 0 };

	dtx_sheet_note_formula(&f, dtx_str_of(code));
	if (f.nvolatile != anew || f.nexternal != other)
		t_fail(__FILE__, __LINE__, "%s: %llu, %llu", code, (unsigned long long)f.nvolatile,
		       (unsigned long long)f.nexternal);
	T_CHECK(f.nvolatile == anew);
}

void test_sheet_formula_texts(void)
{
	is("NOW()", 1, 0);
	is("1+today()-A1", 1, 0);
	is("RANDBETWEEN(1,6)", 1, 0);
	is("RAND()+RAND()", 1, 0);
	is("SUM(OFFSET(A1,1,0))", 1, 0);
	is("KNOW(A1)", 0, 0);
	is("NOWHERE(1)", 0, 0);
	is("NOW", 0, 0);
	is("\"NOW()\"&A1", 0, 0);
	is("_xlfn.NOW()", 0, 0);
	is("[1]Sheet1!A1", 0, 1);
	is("'[12]My Sheet'!A1*NOW()", 1, 1);
	is("Table1[1]", 0, 0);
	is("Table1[[#This Row],[a]]", 0, 0);
	is("\"[1]\"", 0, 0);
	is("[", 0, 0);
	is("(", 0, 0);
}

/* The second part of each one is only for the tokenizer. */
void test_sheet_formula_both_ways(void)
{
	static const char *const sheets[] = {
		"<sheetData><row r=\"1\"><c r=\"A1\"><f>NOW()</f><v>1</v></c>"
		"<c r=\"B1\"><f t=\"shared\" ref=\"B1:B2\" si=\"0\">[1]S!A1</f><v>2</v></c></row>"
		"<row r=\"2\"><c r=\"A2\"><f>1+1</f><v>2</v></c><c r=\"B2\"><f t=\"shared\" "
		"si=\"0\"/><v>2</v></c></row></sheetData>",
		"<sheetData><row r=\"1\"><c r=\"A1\"><f>1&lt;NOW<!-- -->()</f><v>1</v></c>"
		"<c r=\"B1\"><f><![CDATA[[1]S!A1]]></f><v>2</v></c></row></sheetData>"
	};

	for (unsigned i = 0; i < 4; i++) {
		const struct dtx_sheet_read how = { .slow = i & 1 };
		struct book b = { .sheet = sheets[i / 2] };
		struct dtx_buf bytes = DTX_BUF_INIT(1 << 20);
		struct dtx_sheet_facts facts = { 0 };
		struct dtx_book *book = NULL;
		struct dtx_err err = DTX_ERR_INIT;
		struct dtx_grid grid;

		book_make(&b, &bytes);
		dtx_grid_init(&grid, "b.xlsx");
		T_OK(dtx_book_open("b.xlsx", bytes.ptr, bytes.len, &dtx_archive_limits_default,
		                   &book, &err),
		     &err);
		T_OK(dtx_book_sheet(book, &book->sheet[0], &how, &grid, &facts, &err), &err);
		T_INT(facts.nvolatile, 1);
		T_INT(facts.nexternal, 1);
		T_INT(facts.nformulas, i / 2 ? 2 : 4);
		dtx_sheet_facts_clear(&facts);
		dtx_grid_clear(&grid);
		dtx_book_close(book);
		dtx_buf_clear(&bytes);
	}
}
