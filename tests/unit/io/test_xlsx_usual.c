/* Cells in the usual forms, and in similar forms, by both reading paths: alone, and thousands of
 * them, so that windows cut them anywhere.  Numbers and texts that are read several bytes at a
 * time. */
#include "core/base/text/num.h"
#include "core/base/text/swar.h"
#include "core/io/sheet/xlsx/xlsx.h"
#include "tests/t.h"
#include "tests/unit/bookmake.h"
#include "tests/unit/sheetpair.h"

#define STYLES                                                                                     \
	"<styleSheet " BOOK_NS                                                                     \
	"><fonts><font/><font><b/></font></fonts><cellXfs><xf numFmtId=\"0\"/><xf "                \
	"numFmtId=\"14\"/><xf numFmtId=\"22\"/><xf numFmtId=\"20\"/><xf numFmtId=\"0\" "           \
	"fontId=\"1\"/></cellXfs></styleSheet>"
#define STRINGS "<sst " BOOK_NS "><si><t>one</t></si><si><t>two</t></si></sst>"

static const char *const values[] = { "0",
	                              "-0",
	                              "7",
	                              "-12",
	                              "0.5",
	                              "-0.25",
	                              "123456789",
	                              "12345678",
	                              "1234567812345678",
	                              "12345678123456789",
	                              "9007199254740992",
	                              "9007199254740993",
	                              "9007199254740993.0",
	                              "0.1",
	                              "0.30000000000000004",
	                              "1234567.12345678",
	                              "1.123456789",
	                              "12345678.12345678",
	                              "123456789.12345678",
	                              "00012",
	                              "+5",
	                              " 5 ",
	                              "5.",
	                              ".5",
	                              "-",
	                              "--1",
	                              "-.5",
	                              "1e5",
	                              "1E-3",
	                              "1,5",
	                              "abc",
	                              "",
	                              "1.7976931348623157e308",
	                              "1e999",
	                              "44000",
	                              "44000.5",
	                              "60",
	                              "61",
	                              "0.75",
	                              "2957003",
	                              "2957004",
	                              "2958465",
	                              "2958466",
	                              "1",
	                              "2",
	                              "1x",
	                              "67108864",
	                              "&#49;",
	                              "true",
	                              "2024-02-29",
	                              "_x0041_",
	                              "a_b",
	                              "a b",
	                              " a",
	                              "tab\there",
	                              "a&amp;b",
	                              "cr\rlf\r\nx",
	                              "\xc3\xa9t\xc3\xa9",
	                              "#N/A",
	                              "a text of more than sixteen bytes",
	                              "exactly 16 bytes" };
/* %s: the reference; a value follows. */
static const char *const opens[] = { "<c r=\"%s\"><v>",
	                             "<c r=\"%s\" s=\"1\"><v>",
	                             "<c r=\"%s\" s=\"2\"><v>",
	                             "<c r=\"%s\" s=\"3\"><v>",
	                             "<c r=\"%s\" s=\"4\"><v>",
	                             "<c r=\"%s\" s=\"99\"><v>",
	                             "<c r=\"%s\" t=\"s\"><v>",
	                             "<c r=\"%s\" s=\"4\" t=\"s\"><v>",
	                             "<c r=\"%s\" t=\"b\"><v>",
	                             "<c r=\"%s\" t=\"n\"><v>",
	                             "<c r=\"%s\" t=\"str\"><v>",
	                             "<c r=\"%s\" t=\"e\"><v>",
	                             "<c r=\"%s\" t=\"d\"><v>",
	                             "<c t=\"s\" r=\"%s\"><v>",
	                             "<c s=\"1\" r=\"%s\"><v>",
	                             "<c r=\"%s\" t=\"b\" s=\"1\"><v>",
	                             "<c r=\"%s\" ><v>",
	                             "<c  r=\"%s\"><v>",
	                             "<c r=\"%s\"><f>1+1</f><v>",
	                             "<c r=\"%s\" s=\"\"><v>",
	                             "<c r=\"%s\" s=\"65536\"><v>",
	                             "<c r=\"%s\" t=\"\"><v>",
	                             "<c r=\"%s\" t=\"x\"><v>",
	                             "<c r=\"%s\"> <v>" };
static const char *const inlined[] = {
	"<c r=\"%s\" t=\"inlineStr\"><is><t>", "<c r=\"%s\" s=\"4\" t=\"inlineStr\"><is><t>",
	"<c r=\"%s\" t=\"inlineStr\" ><is><t>", "<c r=\"%s\"><is><t>",
	"<c r=\"%s\" t=\"inlineStr\"><is><t xml:space=\"preserve\">"
};

/* Ends the text of the sheet and compares its two readings. */
static enum dtx_code compare(struct dtx_buf *sheet, uint64_t *cells)
{
	struct book b = { .styles = STYLES, .strings = STRINGS };
	struct dtx_buf bytes = DTX_BUF_INIT(64 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_book *book = NULL;
	enum dtx_code rc;

	dtx_buf_addc(sheet, '\0');
	b.sheet = sheet->ptr;
	book_make(&b, &bytes);
	T_OK(dtx_book_open("b.xlsx", bytes.ptr, bytes.len, &dtx_archive_limits_default, &book,
	                   &err),
	     &err);
	rc = sheet_pair_compare(book, &book->sheet[0], cells);
	dtx_book_close(book);
	dtx_buf_clear(&bytes);
	return rc;
}

static void put_cell(struct dtx_buf *out, const char *open, const char *ref, const char *value)
{
	const char *at = strstr(open, "%s");

	dtx_buf_addn(out, open, (size_t)(at - open));
	dtx_buf_add(out, ref);
	dtx_buf_add(out, at + 2);
	dtx_buf_add(out, value);
	dtx_buf_add(out, strstr(open, "<is>") ? "</t></is></c>" : "</v></c>");
}

/* Whether a sheet with this cell between two others can be read; both paths must agree. */
static bool reads(const char *open, const char *ref, const char *value)
{
	struct dtx_buf sheet = DTX_BUF_INIT(1 << 16);
	uint64_t cells = 0;
	enum dtx_code rc;

	dtx_buf_add(&sheet, "<sheetData><row r=\"12\"><c r=\"A12\"><v>1</v></c>");
	put_cell(&sheet, open, ref, value);
	dtx_buf_add(&sheet, "<c r=\"D12\"><v>2</v></c></row></sheetData>");
	rc = compare(&sheet, &cells);
	dtx_buf_clear(&sheet);
	return rc == DTX_OK;
}

struct form {
	const char *open, *value;
};

/* The forms that can be read. */
static size_t readable(struct form *out)
{
	size_t i, k, n = 0;

	for (k = 0; k < DTX_COUNT(values); k++) {
		for (i = 0; i < DTX_COUNT(opens) + DTX_COUNT(inlined); i++) {
			const char *open =
				i < DTX_COUNT(opens) ? opens[i] : inlined[i - DTX_COUNT(opens)];

			if (reads(open, "B12", values[k]))
				out[n++] = (struct form){ open, values[k] };
		}
	}
	return n;
}

/* Rows of seven cells; each row starts with the next form, so that windows end anywhere in them. */
void test_xlsx_usual_forms_by_both_paths(void)
{
	enum { ROWS = 20000 };
	static struct form form[DTX_COUNT(values) * (DTX_COUNT(opens) + DTX_COUNT(inlined))];
	struct dtx_buf sheet = DTX_BUF_INIT(16 << 20);
	size_t n = readable(form);
	uint64_t cells = 0;
	unsigned row, col;
	char ref[24];

	T_CHECK(n > 500);
	dtx_buf_add(&sheet, "<sheetData>");
	for (row = 1; row <= ROWS; row++) {
		dtx_buf_printf(&sheet, "<row r=\"%u\">", row);
		for (col = 0; col < 7; col++) {
			const struct form *f = &form[(row * 7 + row / 64 + col) % n];

			snprintf(ref, sizeof(ref), "%c%u", 'A' + (int)col, row);
			put_cell(&sheet, f->open, ref, f->value);
		}
		dtx_buf_printf(&sheet, "<c r=\"H%u\" s=\"1\"/></row>", row);
	}
	dtx_buf_add(&sheet, "</sheetData>");
	T_CHECK(sheet.len > DTX_XLSX_AHEAD_BYTES); /* windows are lent */
	T_OK(compare(&sheet, &cells), NULL);
	T_CHECK(cells > ROWS);
	dtx_buf_clear(&sheet);
}

void test_xlsx_usual_references_by_both_paths(void)
{
	static const char *const refs[] = { "B12",   "C12",   "A12",    "Z12",      "AA12",
		                            "XFD12", "XFE12", "AAAA12", "b12",      "B13",
		                            "B1",    "B123",  "B012",   "B",        "12",
		                            "B12 ",  "",      "$B$12",  "B1048576", "B1048577" };
	size_t i, ok = 0;

	for (i = 0; i < DTX_COUNT(refs); i++)
		ok += reads(opens[0], refs[i], "5");
	T_CHECK(ok >= 10 && ok < DTX_COUNT(refs));
}

/* Bytes that no part may have, far after the place where the tokenizer has been. */
void test_xlsx_usual_bytes_are_checked(void)
{
	static const char *const places[] = {
		"<row r=\"9\"><c r=\"A9\" t=\"inlineStr\"><is><t>a%sb</t></is></c></row>",
		"<row r=\"9\"><c r=\"A9\"><v>1%s</v></c></row>",
		"<row r=\"9\"><c r=\"A9\" t=\"str\"><v>1%s</v></c></row>",
		"<row r=\"9\"><c r=\"A9\"><f>1%s</f><v>1</v></c></row>",
		"<row r=\"9\" spans=\"%s\"><c r=\"A9\"><v>1</v></c></row>",
		"<row r=\"9\">%s<c r=\"A9\"><v>1</v></c></row>",
		"<row r=\"9\"><c r=\"A9\"/></row>%s"
	};
	static const char *const bad[] = { "\x01", "\xff", "\xc3", "\xed\xa0\x80", "\x0b" };
	size_t i, k;
	unsigned row;

	for (i = 0; i < DTX_COUNT(places) * DTX_COUNT(bad); i++) {
		struct dtx_buf sheet = DTX_BUF_INIT(2 << 20);
		const char *place = places[i / DTX_COUNT(bad)], *at = strstr(place, "%s");
		uint64_t cells = 0;

		dtx_buf_add(&sheet, "<sheetData>");
		for (row = 10; row < 14000; row++)
			dtx_buf_printf(&sheet, "<row r=\"%u\"><c r=\"A%u\"><v>7</v></c></row>", row,
			               row);
		k = sheet.len;
		dtx_buf_addn(&sheet, place, (size_t)(at - place));
		dtx_buf_add(&sheet, bad[i % DTX_COUNT(bad)]);
		dtx_buf_add(&sheet, at + 2);
		dtx_buf_add(&sheet, "</sheetData>");
		T_CHECK(k > 2 * ((size_t)256 << 10));
		T_INT(compare(&sheet, &cells), DTX_E_CORRUPT_FILE);
		dtx_buf_clear(&sheet);
	}
}

void test_swar_digits_and_texts(void)
{
	static const char text[] = "12345678901234567890<................";
	char bytes[64];
	uint64_t v;
	unsigned n, at;

	for (n = 0; n <= 9; n++) {
		memset(bytes, 'x', sizeof(bytes));
		memcpy(bytes, text, n);
		T_INT(dtx_swar_digits(bytes, &v), n > 8 ? 8 : n);
		T_INT(v, n ? 123456789 / dtx_swar_pow10[n > 8 ? 1 : 9 - n > 8 ? 8 : 9 - n] : 0);
	}
	for (n = 0; n < 256; n++) { /* every byte after a digit */
		memset(bytes, 'x', sizeof(bytes));
		bytes[0] = '7';
		bytes[1] = (char)n;
		T_CHECK(dtx_swar_digits(bytes, &v) == 1u + (n >= '0' && n <= '9'));
	}
	for (at = 0; at < 40; at++) {
		for (n = 0; n < 256; n++) {
			bool stops = n == '<' || n == '&' || n == '_' || n == '\r' || n == 0;

			memset(bytes, 0xe9, sizeof(bytes));
			bytes[45] = '<';
			bytes[at] = (char)n;
			T_CHECK(dtx_swar_text_end(bytes) - bytes == (stops ? at : 45));
			stops = n < ' ' || n >= 0x80 || n == '<' || n == '&' || n == '_';
			memset(bytes, 'x', at);
			memset(bytes + at + 1, 'x', 45 - at);
			bytes[46] = '<';
			T_CHECK(dtx_swar_ascii_end(bytes) - bytes == (stops ? at : 46));
		}
	}
}

void test_xml_plain_bytes(void)
{
	char bytes[200];
	size_t at;
	unsigned c;

	for (c = 0; c < 256; c++) {
		bool plain = c < 0x80 && (c >= 0x20 || c == '\t' || c == '\n' || c == '\r');

		for (at = 0; at < sizeof(bytes); at += 9) {
			memset(bytes, 'x', sizeof(bytes));
			bytes[at] = (char)c;
			T_CHECK(dtx_xml_plain(bytes, sizeof(bytes)) == plain);
		}
	}
	T_CHECK(dtx_xml_plain(bytes, 0));
}
