/* The reader of .xls with small workbooks made of records. */
#include "core/io/sheet/book_info.h"

#include "tests/t.h"
#include "tests/unit/biffmake.h"

#define LABEL(b, row, col, text) biff_rec((b), DTX_BIFF_LABEL, "wwwS", (row), (col), 0, (text))
#define NUM(b, row, col, xf, v)  biff_rec((b), DTX_BIFF_NUMBER, "wwwd", (row), (col), (xf), (v))

static enum dtx_code dump(const struct biff_book *book, const struct dtx_read_opts *opts,
                          struct dtx_buf *out, struct dtx_err *err)
{
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 26);
	enum dtx_code rc;

	biff_make(book, &bytes);
	rc = bytes_dump("b.xls", &bytes, opts, 0, true, out, err);
	dtx_buf_clear(&bytes);
	return rc;
}

/* Reads, compares and clears. */
static void expect_opts(struct biff_book *book, const struct dtx_read_opts *opts, const char *want)
{
	struct dtx_buf out = DTX_BUF_INIT(1 << 22);
	struct dtx_err err = DTX_ERR_INIT;

	if (dump(book, opts, &out, &err) == DTX_OK)
		T_STR(dtx_buf_text(&out), want);
	else
		T_STR(dtx_code_name(err.code), want);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	biff_book_clear(book);
}

static void expect(struct biff_book *book, const char *want)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;

	opts.header_rows = 1;
	expect_opts(book, &opts, want);
}

static void head(struct biff_book *book)
{
	const char *form = book->biff5 ? "wwwN" : "wwwS";

	biff_rec(&book->cells, DTX_BIFF_LABEL, form, 0, 0, 0, "k");
	biff_rec(&book->cells, DTX_BIFF_LABEL, form, 0, 1, 0, "v");
}

void test_xls_numbers(void)
{
	struct biff_book book = BIFF_BOOK_INIT;

	head(&book);
	NUM(&book.cells, 1, 0, 0, 7.0);
	NUM(&book.cells, 1, 1, 0, -2.5);
	biff_rec(&book.cells, DTX_BIFF_RK, "wwwl", 2, 0, 0, (unsigned)(-12 * 4 + 2));
	biff_rec(&book.cells, DTX_BIFF_RK, "wwwl", 2, 1, 0, 1234u * 4 + 3);
	biff_rec(&book.cells, DTX_BIFF_MULRK, "wwwlwlw", 3, 0, 0, 9u * 4 + 2, 0, 0x3ff80000u, 1);
	biff_rec(&book.cells, 0x0201, "www", 4, 0, 3);         /* BLANK */
	biff_rec(&book.cells, 0x00be, "wwwww", 5, 0, 3, 3, 1); /* MULBLANK */
	expect(&book, "k:int,v:float\n7|-2.5\n-12|12.34\n9|1.5\n");
}

void test_xls_dates(void)
{
	struct biff_book book = BIFF_BOOK_INIT, again = BIFF_BOOK_INIT;

	head(&book);
	NUM(&book.cells, 1, 0, 1, 45292.0);
	NUM(&book.cells, 1, 1, 2, 45292.5);
	NUM(&book.cells, 2, 0, 1, 1.0);
	NUM(&book.cells, 2, 1, 2, 59.0);
	expect(&book, "k:date,v:datetime\n2024-01-01|2024-01-01T12:00:00\n"
	              "1900-01-01|1900-02-28T00:00:00\n");
	biff_rec(&again.globals, DTX_BIFF_DATEMODE, "w", 1);
	head(&again);
	NUM(&again.cells, 1, 0, 1, 0.0);
	NUM(&again.cells, 1, 1, 3, 0.25);
	expect(&again, "k:date,v:float\n1904-01-01|0.25\n");
}

void test_xls_bools_and_errors(void)
{
	struct biff_book book = BIFF_BOOK_INIT;

	head(&book);
	biff_rec(&book.cells, DTX_BIFF_BOOLERR, "wwwbb", 1, 0, 0, 1, 0);
	biff_rec(&book.cells, DTX_BIFF_BOOLERR, "wwwbb", 1, 1, 0, 0x2a, 1);
	biff_rec(&book.cells, DTX_BIFF_BOOLERR, "wwwbb", 2, 0, 0, 0, 0);
	NUM(&book.cells, 2, 1, 0, (double)INFINITY);
	expect(&book, "k:bool,v:null\ntrue|~\nfalse|~\n");
}

/* Results of formulas: a number, a text in the next record, with records between, a bool, an error,
 * "" */
void test_xls_formulas(void)
{
	struct biff_book book = BIFF_BOOK_INIT;
	struct dtx_buf *b = &book.cells;

	head(&book);
	biff_rec(b, DTX_BIFF_FORMULA, "wwwdwlw", 1, 0, 0, 2.5, 0, 0u, 0);
	biff_rec(b, DTX_BIFF_FORMULA, "wwwbbbbwwwlw", 1, 1, 0, 0, 0, 0, 0, 0, 0xffff, 0, 0u, 0);
	biff_rec(b, 0x04bc, "wwb", 1, 1, 1); /* SHRFMLA */
	biff_rec(b, DTX_BIFF_STRING, "S", "deep");
	biff_rec(b, DTX_BIFF_FORMULA4, "wwwdwlw", 2, 0, 0, 3.0, 0, 0u, 0);
	biff_rec(b, DTX_BIFF_FORMULA, "wwwbbbbwwwlw", 2, 1, 0, 3, 0, 0, 0, 0, 0xffff, 0, 0u, 0);
	biff_rec(b, DTX_BIFF_FORMULA, "wwwbbbbwwwlw", 3, 0, 0, 2, 0, 7, 0, 0, 0xffff, 0, 0u, 0);
	biff_rec(b, DTX_BIFF_FORMULA, "wwwbbbbwwwlw", 3, 1, 0, 1, 0, 1, 0, 0, 0xffff, 0, 0u, 0);
	biff_rec(b, DTX_BIFF_FORMULA, "wwwbbbbwwwlw", 4, 1, 0, 0, 0, 0, 0, 0, 0xffff, 0, 0u, 0);
	NUM(b, 4, 0, 0, 4.0);
	expect(&book, "k:float,v:text\n2.5|deep\n3.0|~\n~|true\n4.0|~\n");
}

/* Shared texts: narrow, wide, rich and phonetic ones; one begins at the border of a record, one
 * crosses it and changes its form there. */
void test_xls_shared_texts(void)
{
	struct biff_book book = BIFF_BOOK_INIT;
	struct dtx_buf *g = &book.globals, *b = &book.cells;
	int i;

	biff_rec(g, DTX_BIFF_SST, "llSWwbwlbbbblbbbwbbb", 99u, 2u, "plain", "wide", 4, 8 + 4, 1, 3u,
	         's', 'i', 'm', 'p', 0u, 'x', 'y', 'z', 7, 0, 'c', 'r');
	biff_rec(g, DTX_BIFF_CONTINUE, "bww", 1, 'o', 's');
	biff_rec(g, DTX_BIFF_CONTINUE, "b", 0);
	biff_rec(g, DTX_BIFF_CONTINUE, "bbb", 0, 's', 'e');
	biff_rec(g, DTX_BIFF_CONTINUE, "bbS", 0, 'd', "next");
	head(&book);
	for (i = 0; i < 6; i++) {
		biff_rec(b, DTX_BIFF_LABELSST, "wwwl", i + 1, 1, 0, (unsigned)i);
		NUM(b, i + 1, 0, 0, (double)i);
	}
	expect(&book, "k:int,v:text\n0|plain\n1|wide\n2|simp\n3|crossed\n4|next\n5|~\n");
}

void test_xls_surrogates(void)
{
	struct biff_book book = BIFF_BOOK_INIT;

	head(&book);
	biff_rec(&book.cells, DTX_BIFF_LABEL, "wwwwbwww", 1, 0, 0, 3, 1, 0xd83d, 0xde00, 0xd83d);
	biff_rec(&book.cells, DTX_BIFF_LABEL, "wwwwbbb", 1, 1, 0, 2, 0, 0xe9, 0);
	expect(&book, "k:text,v:text\n\xf0\x9f\x98\x80\xef\xbf\xbd|\xc3\xa9\n");
}

void test_xls_code_pages(void)
{
	static const struct {
		int page;
		const char *bytes, *want;
	} try[] = { { 0, "\x80\xe9", "k:text,v:null\n€é|~\n" },
		    { 1251, "\xcf\xf0", "k:text,v:null\nПр|~\n" },
		    { 10000, "\x8e", "k:text,v:null\né|~\n" },
		    { 10029, "\x88\xb8\xec", "k:text,v:null\nąłž|~\n" },
		    { 10017, "\x8f\xf0", "k:text,v:null\nПр|~\n" },
		    { 1253, "\xd2", "k:text,v:null\n\xef\xbf\xbd|~\n" },
		    { 932, "\x93\x8c\x8b\x9e\xb1\x93", "k:text,v:null\n東京ｱ\xef\xbf\xbd|~\n" },
		    { 12345, "a", "bad_encoding" } };
	size_t i;

	dtx_codepage_load(12345); /* there is no such code page */
	dtx_codepage_load(932);
	for (i = 0; i < DTX_COUNT(try); i++) {
		struct biff_book book = BIFF_BOOK_INIT;

		book.biff5 = true;
		if (try[i].page)
			biff_rec(&book.globals, DTX_BIFF_CODEPAGE, "w", try[i].page);
		head(&book);
		biff_rec(&book.cells, DTX_BIFF_RSTRING, "wwwNbbb", 1, 0, 0, try[i].bytes, 1, 0, 0);
		expect(&book, try[i].want);
	}
}

void test_xls_hidden_merged_unsorted(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct biff_book book = BIFF_BOOK_INIT;
	struct dtx_buf *b = &book.cells;

	biff_rec(b, DTX_BIFF_DIMENSIONS, "llwww", 0u, 4000000000u, 0, 65535, 0);
	biff_rec(b, DTX_BIFF_COLINFO, "wwwwww", 2, 2, 0, 0, 1, 0);
	NUM(b, 3, 1, 0, 4.0);
	LABEL(b, 3, 0, "c");
	head(&book);
	LABEL(b, 0, 2, "secret");
	LABEL(b, 1, 0, "a");
	NUM(b, 1, 2, 0, 1.0);
	NUM(b, 2, 1, 0, 3.0);
	biff_rec(b, DTX_BIFF_ROW, "wwwwwwww", 3, 0, 2, 255, 0, 0, 0x20, 0);
	biff_rec(b, DTX_BIFF_MERGEDCELLS, "wwwww", 200, 1, 2, 0, 0);
	opts.header_rows = 1;
	opts.hidden_drop = true;
	expect_opts(&book, &opts, "k:text,v:int\na|~\n~|3\n");
}

void test_xls_embedded_chart_is_passed_over(void)
{
	struct biff_book book = BIFF_BOOK_INIT;
	struct dtx_buf *b = &book.cells;

	head(&book);
	biff_bof(b, false, DTX_BIFF_CHART);
	NUM(b, 9, 9, 0, 9.0);
	biff_rec(b, DTX_BIFF_EOF, "");
	NUM(b, 1, 0, 0, 1.0);
	NUM(b, 1, 1, 0, 2.0);
	expect(&book, "k:int,v:int\n1|2\n");
}

/* "Area" is B2:C3 of the second sheet, "Other" refers to another workbook. */
static void named(bool biff5, struct biff_book *book)
{
	struct dtx_buf *b = &book->other, *g = &book->globals;
	const char *form = biff5 ? "wwwN" : "wwwS";
	int f;

	book->biff5 = biff5;
	book->name = "Two words";
	head(book);
	biff_rec(b, DTX_BIFF_LABEL, form, 1, 1, 0, "k");
	biff_rec(b, DTX_BIFF_LABEL, form, 1, 2, 0, "v");
	NUM(b, 2, 1, 0, 1.0);
	NUM(b, 2, 2, 0, 2.0);
	NUM(b, 3, 1, 0, 3.0);
	biff_rec(g, DTX_BIFF_SUPBOOK, "ww", 2, 0x0401);
	biff_rec(g, DTX_BIFF_EXTERNSHEET, "wwwwwww", 2, 0, 1, 1, 9, 1, 1);
	for (f = 1; f >= 0 && !biff5; f--)
		biff_rec(g, DTX_BIFF_NAME, "wbbwwwlbbbbbbwwwww", 0, 0, 4, 11, 0, 0, 0u, 0,
		         f ? 'O' : 'A', 'r', 'e', 'a', 0x3b, f, 1, 2, 1, 2);
	if (biff5)
		biff_rec(g, DTX_BIFF_NAME, "wbbwwwlbbbbbwllwwwwbb", 0, 0, 4, 21, 0, 0, 0u, 'A', 'r',
		         'e', 'a', 0x3b, 0xffff, 0u, 0u, 1, 1, 1 | 0xc000, 2, 1, 2);
}

void test_xls_range_by_name(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	int biff5;

	opts.header_rows = 1;
	for (biff5 = 0; biff5 < 2; biff5++) {
		struct biff_book book = BIFF_BOOK_INIT, other = BIFF_BOOK_INIT;

		opts.range = "area";
		named(biff5, &book);
		expect_opts(&book, &opts, "k:int,v:int\n1|2\n");
		opts.range = "Orea";
		named(biff5, &other);
		expect_opts(&other, &opts, "bad_param_value");
	}
}

/* --- refusals --- */

void test_xls_many_names(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct biff_book book = BIFF_BOOK_INIT;

	opts.range = "area";
	named(false, &book);
	for (int i = 0; i < 65536; i++)
		biff_rec(&book.globals, DTX_BIFF_NAME, "wbbwwwlbbbbbbwwwww", 0, 0, 4, 11, 0, 0, 0u,
		         0, 'O', 'r', 'e', 'a', 0x3b, 0, 1, 2, 1, 2);
	expect_opts(&book, &opts, "archive_limit");
}

void test_xls_refuses(void)
{
	struct biff_book book = BIFF_BOOK_INIT;

	biff_rec(&book.globals, DTX_BIFF_FILEPASS, "www", 1, 1, 1);
	head(&book);
	expect(&book, "encrypted_file");
	book = (struct biff_book)BIFF_BOOK_INIT;
	head(&book);
	book.no_end = true;
	expect(&book, "corrupt_file");
	book = (struct biff_book)BIFF_BOOK_INIT;
	biff_rec(&book.cells, DTX_BIFF_LABEL, "wwwwb", 0, 0, 0, 5, 0);
	expect(&book, "corrupt_file");
	book = (struct biff_book)BIFF_BOOK_INIT;
	biff_rec(&book.cells, DTX_BIFF_NUMBER, "www", 0, 0, 0);
	expect(&book, "corrupt_file");
	book = (struct biff_book)BIFF_BOOK_INIT;
	biff_rec(&book.globals, DTX_BIFF_SST, "llw", 9u, 9u, 5);
	expect(&book, "corrupt_file");
}

/* A bad sheet does not affect others. */
void test_xls_sheets_are_apart(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct biff_book book = BIFF_BOOK_INIT, same;

	head(&book);
	NUM(&book.cells, 1, 0, 0, 1.0);
	book.name = "Two";
	book.place_lie = 1;
	same = (struct biff_book)BIFF_BOOK_INIT;
	head(&same);
	same.name = "Two";
	same.place_lie = -(int)(same.cells.len + 24);
	opts.sheet = "Two";
	expect_opts(&same, &opts, "corrupt_file");
	expect(&book, "k:int,v:null\n1|~\n");
}

/* --- container --- */

static void expect_container(enum cfb_how how, const char *name, size_t cells, size_t cut,
                             const char *want)
{
	struct biff_book book = BIFF_BOOK_INIT;
	struct dtx_buf stream = DTX_BUF_INIT(1 << 20), bytes = DTX_BUF_INIT(1 << 20);
	struct dtx_buf out = DTX_BUF_INIT(1 << 20);
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	size_t i;

	head(&book);
	for (i = 0; i < cells; i++)
		NUM(&book.cells, (int)i + 1, 0, 0, 7.0);
	biff_make(&book, &stream);
	cfb_make(&bytes, name, &stream, how);
	bytes.len -= cut;
	if (bytes_dump("b.xls", &bytes, &opts, 0, true, &out, &err) == DTX_OK)
		T_STR(strstr(dtx_buf_text(&out), "7|~\n7|~\n") ? "read" : dtx_buf_text(&out), want);
	else
		T_STR(dtx_code_name(err.code), want);
	dtx_err_clear(&err);
	dtx_buf_clear(&out);
	dtx_buf_clear(&bytes);
	dtx_buf_clear(&stream);
	biff_book_clear(&book);
}

void test_cfb_shapes(void)
{
	expect_container(CFB_PLAIN, "Workbook", 500, 0, "read");
	expect_container(CFB_SCATTERED, "BOOK", 500, 0, "read");
	expect_container(CFB_MINI, "workbook", 5, 0, "read");
	expect_container(CFB_LOOP, "Workbook", 500, 0, "read");
	expect_container(CFB_LIST, "Workbook", 500, 0, "read");
}

void test_cfb_refuses(void)
{
	expect_container(CFB_PLAIN, "Workbook", 500, 700, "corrupt_file");
	expect_container(CFB_PLAIN, "Something", 5, 0, "unsupported_format");
	expect_container(CFB_PLAIN, "WordDocument", 5, 0, "unsupported_format");
	expect_container(CFB_PLAIN, "EncryptedPackage", 5, 0, "encrypted_file");
}

/* The file is cut at every place: it is never read as if it were whole, and the worst result is a
 * refusal. */
void test_cfb_cut_anywhere(void)
{
	struct biff_book book = BIFF_BOOK_INIT;
	struct dtx_buf stream = DTX_BUF_INIT(1 << 20), bytes = DTX_BUF_INIT(1 << 20);
	struct dtx_book *got;
	size_t n, opened = 0;

	head(&book);
	biff_make(&book, &stream);
	cfb_make(&bytes, "Workbook", &stream, CFB_MINI);
	for (n = 0; n <= bytes.len; n += 7) {
		if (dtx_book_open("b.xls", bytes.ptr, n, &dtx_archive_limits_default, &got, NULL) ==
		    DTX_OK) {
			opened++;
			dtx_book_close(got);
		}
	}
	T_CHECK(opened > 0 && opened < 80);
	dtx_buf_clear(&bytes);
	dtx_buf_clear(&stream);
	biff_book_clear(&book);
}

static enum dtx_code whole_read(const struct dtx_buf *bytes)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf out = DTX_BUF_INIT(1 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc;

	opts.header_rows = 1;
	rc = bytes_dump("b.xls", bytes, &opts, 0, true, &out, &err);
	if (rc == DTX_OK && !dtx_buf_ok(&out))
		rc = DTX_E_NO_MEMORY;
	dtx_err_clear(&err);
	dtx_buf_clear(&out);
	return rc;
}

void test_xls_every_allocation_fails(void)
{
	struct biff_book book = BIFF_BOOK_INIT;
	struct dtx_buf stream = DTX_BUF_INIT(1 << 20), bytes = DTX_BUF_INIT(1 << 20);

	biff_rec(&book.globals, DTX_BIFF_SST, "llSW", 2u, 2u, "plain", "wide");
	head(&book);
	biff_rec(&book.cells, DTX_BIFF_LABELSST, "wwwl", 1, 0, 0, 1u);
	NUM(&book.cells, 1, 1, 1, 45292.0);
	biff_rec(&book.cells, DTX_BIFF_COLINFO, "wwwwww", 2, 2, 0, 0, 1, 0);
	biff_rec(&book.cells, DTX_BIFF_MERGEDCELLS, "wwwww", 1, 1, 2, 0, 0);
	book.name = "Two";
	biff_make(&book, &stream);
	cfb_make(&bytes, "Workbook", &stream, CFB_SCATTERED);
	T_EVERY_ALLOC_FAILS(whole_read(&bytes));
	dtx_buf_clear(&bytes);
	dtx_buf_clear(&stream);
	biff_book_clear(&book);
}

/* --- messages about damaged streams --- */

static void no_globals(struct dtx_buf *b)
{
	biff_bof(b, false, DTX_BIFF_GLOBALS);
	biff_rec(b, DTX_BIFF_EOF, "");
}

static void old_version(struct dtx_buf *b)
{
	biff_rec(b, DTX_BIFF_BOF, "wwww", 0x0400, DTX_BIFF_GLOBALS, 0, 0);
}

static void short_record(struct dtx_buf *b)
{
	biff_bof(b, false, DTX_BIFF_GLOBALS);
	biff_rec(b, DTX_BIFF_BOUNDSHEET, "w", 0);
}

static void cut_name(struct dtx_buf *b)
{
	biff_bof(b, false, DTX_BIFF_GLOBALS);
	biff_rec(b, DTX_BIFF_BOUNDSHEET, "lwbbb", 0u, 0, 200, 0, 'x');
}

static void many_fonts(struct dtx_buf *b)
{
	biff_bof(b, false, DTX_BIFF_GLOBALS);
	for (int i = 0; i <= 65536; i++)
		biff_rec(b, 0x0031, "wwwwwwww", 0, 0, 0, 400, 0, 0, 0, 0);
}

static void many_styles(struct dtx_buf *b)
{
	biff_bof(b, false, DTX_BIFF_GLOBALS);
	for (int i = 0; i <= 65536; i++)
		biff_rec(b, DTX_BIFF_XF, "wwwwllll", 0, 0, 0, 0, 0u, 0u, 0u, 0u);
}

static void many_sheets(struct dtx_buf *b)
{
	biff_bof(b, false, DTX_BIFF_GLOBALS);
	for (int i = 0; i <= 4096; i++)
		biff_rec(b, DTX_BIFF_BOUNDSHEET, "lws", 0u, 0, "x");
}

static void one_sheet_with(struct dtx_buf *b, void (*cells)(struct dtx_buf *))
{
	struct biff_book book = BIFF_BOOK_INIT;

	head(&book);
	cells(&book.cells);
	biff_make(&book, b);
	biff_book_clear(&book);
}

static void far_cell(struct dtx_buf *b)
{
	NUM(b, 1, 20000, 0, 1.0);
}

static void cut_formula(struct dtx_buf *b)
{
	biff_rec(b, DTX_BIFF_FORMULA, "wwwbbbbbbwwlw", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xffff, 0, 0u, 0);
	biff_rec(b, DTX_BIFF_STRING, "wb", 300, 0);
}

static void beyond_xfd(struct dtx_buf *b)
{
	one_sheet_with(b, far_cell);
}

static void half_text(struct dtx_buf *b)
{
	one_sheet_with(b, cut_formula);
}

static void odd_sectors(struct dtx_buf *b)
{
	dtx_buf_addn(b, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8);
	while (b->len < 600)
		dtx_buf_addc(b, 0);
}

static void no_sectors(struct dtx_buf *b)
{
	odd_sectors(b);
	b->ptr[30] = 9;
	b->len = 512;
}

/* Its table has more sectors than the header can list, and the list of the others leads out of the
 * file. */
static void lost_list(struct dtx_buf *b)
{
	static const char zeros[4096];

	odd_sectors(b);
	b->ptr[30] = 9;
	memset(b->ptr + 68, 0x7f, 4);
	while (b->len < (size_t)8 << 20)
		dtx_buf_addn(b, zeros, sizeof(zeros));
}

void test_xls_says_what_is_damaged(void)
{
	static const struct {
		void (*make)(struct dtx_buf *b);
		enum dtx_code code;
		const char *says;
	} list[] = {
		{ no_globals, DTX_E_CORRUPT_FILE, "it lists no sheets" },
		{ old_version, DTX_E_CORRUPT_FILE, "it is of an unknown version" },
		{ short_record, DTX_E_CORRUPT_FILE, "a record is too short" },
		{ cut_name, DTX_E_CORRUPT_FILE, "the name of a sheet is cut off" },
		{ many_fonts, DTX_E_ARCHIVE_LIMIT, "over 65536 fonts (limit 'archive.fonts')" },
		{ many_styles, DTX_E_ARCHIVE_LIMIT,
		  "over 65536 cell styles (limit 'archive.styles')" },
		{ many_sheets, DTX_E_ARCHIVE_LIMIT, "over 4096 sheets (limit 'archive.sheets')" },
		{ beyond_xfd, DTX_E_CORRUPT_FILE, "a cell beyond column XFD" },
		{ half_text, DTX_E_CORRUPT_FILE, "the text of a formula is cut off" },
		{ odd_sectors, DTX_E_CORRUPT_FILE, "its sectors have neither 512 nor 4096 bytes" },
		{ no_sectors, DTX_E_CORRUPT_FILE, "it has no sectors" },
		{ lost_list, DTX_E_CORRUPT_FILE, "the list of its tables is cut off" },
	};
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;

	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 24), out = DTX_BUF_INIT(1 << 16);
		struct dtx_err err = DTX_ERR_INIT;
		enum dtx_code rc;

		list[i].make(&bytes);
		rc = bytes_dump("b.xls", &bytes, &opts, 0, true, &out, &err);
		if (rc != list[i].code || !strstr(err.msg, list[i].says))
			t_fail(__FILE__, __LINE__, "%zu: %s: %s", i, dtx_code_name(rc), err.msg);
		T_CHECK(strstr(err.msg, "'b.xls'"));
		T_CHECK(rc != DTX_E_CORRUPT_FILE || strstr(err.hint, "soffice --convert-to xlsx"));
		dtx_err_clear(&err);
		dtx_buf_clear(&bytes);
		dtx_buf_clear(&out);
	}
}

/* If a record ends before its text does, its format is the part of the text that is there. */
void test_xls_short_formats(void)
{
	int cut;

	for (cut = 0; cut < 4; cut++) {
		struct biff_book book = BIFF_BOOK_INIT;

		/* "d.m.y" without its last characters; a record with only the length */
		if (cut < 3)
			biff_rec(&book.globals, DTX_BIFF_FORMAT, cut ? "wwbbbb" : "wwbbbbb", 14, 5,
			         0, 'd', '.', 'm', '.');
		else
			biff_rec(&book.globals, DTX_BIFF_FORMAT, "w", 14);
		head(&book);
		LABEL(&book.cells, 1, 0, "a");
		NUM(&book.cells, 1, 1, 1, 45292.0);
		expect(&book,
		       cut < 3 ? "k:text,v:date\na|2024-01-01\n" : "k:text,v:int\na|45292\n");
	}
}
