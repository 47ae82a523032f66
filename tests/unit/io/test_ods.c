/* .ods workbooks: values, styles, repeated cells, and what is refused. */
#include "tests/t.h"
#include "tests/unit/odsmake.h"

#define ODS_TABLE(rows) "<table:table table:name=\"One\">" rows "</table:table>"
#define ODS_ROW(cells)  "<table:table-row>" cells "</table:table-row>"
#define ODS_TEXT(text)                                                                             \
	"<table:table-cell office:value-type=\"string\"><text:p>" text                             \
	"</text:p></table:table-cell>"
#define ODS_NUMBER(n)                                                                              \
	"<table:table-cell office:value-type=\"float\" office:value=\"" n                          \
	"\"><text:p>shown</text:p></table:table-cell>"
#define ODS_OF(type, attr)                                                                         \
	"<table:table-cell " attr " office:value-type=\"" type                                     \
	"\"><text:p>shown</text:p></table:table-cell>"

static enum dtx_code dump(const char *tables, const char *sheet, struct dtx_buf *out,
                          struct dtx_err *err)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 28);
	enum dtx_code rc;

	opts.sheet = sheet;
	opts.header_rows = 1;
	ods_make(tables, NULL, &bytes);
	rc = bytes_dump("t.ods", &bytes, &opts, 0, true, out, err);
	dtx_buf_clear(&bytes);
	return rc;
}

/* Compares with a table, or with the text of an error if that begins with "!". */
static void check(const char *tables, const char *sheet, const char *want)
{
	struct dtx_buf out = DTX_BUF_INIT((size_t)1 << 22);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = dump(tables, sheet, &out, &err);

	if (want[0] == '!') {
		T_CHECK(rc != DTX_OK);
		T_STR(err.msg, want + 1);
	} else {
		T_OK(rc, &err);
		T_STR(dtx_buf_text(&out), want);
	}
	dtx_err_clear(&err);
	dtx_buf_clear(&out);
}

void test_ods_texts(void)
{
	check(ODS_TABLE(ODS_ROW(ODS_TEXT("k") ODS_TEXT("v")) ODS_ROW(
		      ODS_TEXT(" a  b<text:s/><text:s text:c=\"2\"/>c\n d ")
			      ODS_NUMBER("1")) ODS_ROW(ODS_TEXT("x<text:tab/>y<text:line-break/>z</"
	                                                        "text:p><text:p>p "
	                                                        "<text:span>q</text:span><text:s/>")
	                                                       ODS_NUMBER("2"))
	                        ODS_ROW(ODS_TEXT("<office:annotation><text:p>no</text:p>"
	                                         "</office:annotation>yes") ODS_NUMBER("3"))
	                                ODS_ROW("<table:table-cell office:value-type=\"string\" "
	                                        "office:string-value=\" as said \"><text:p>no"
	                                        "</text:p></table:table-cell>" ODS_NUMBER("4"))),
	      NULL, "k:text,v:int\n a  b   c d |1\nx\ty\nz\np q |2\nyes|3\n as said |4\n");
}

void test_ods_values(void)
{
	check(ODS_TABLE(
		      ODS_ROW(ODS_TEXT("n") ODS_TEXT("d") ODS_TEXT("at") ODS_TEXT("clock")
	                              ODS_TEXT("over") ODS_TEXT("b") ODS_TEXT("p"))
			      ODS_ROW(ODS_NUMBER("-1.5") ODS_OF("date",
	                                                        "table:style-name=\"d\" "
	                                                        "office:date-value=\"2024-02-29\"")
	                                      ODS_OF("date",
	                                             "office:date-value=\"2024-02-29T01:02:03."
	                                             "123456789\"") ODS_OF("time",
	                                                                   "table:style-name=\"t\" "
	                                                                   "office:time-value="
	                                                                   "\"PT06H30M00S\"")
	                                              ODS_OF("time", "table:style-name=\"o\" "
	                                                             "office:time-value=\"P1DT2H\"")
	                                                      ODS_OF("boolean", "office:boolean-"
	                                                                        "value=\"true\"")
	                                                              ODS_OF("percentage",
	                                                                     "office:value=\"0."
	                                                                     "25\""))),
	      NULL,
	      "n:float,d:date,at:datetime,clock:float,over:float,b:bool,p:float\n"
	      "-1.5|2024-02-29|2024-02-29T01:02:03.123|0.2708333333333333|1.0833333333333333|true|"
	      "0.25\n");
}

void test_ods_repeated(void)
{
	/* rows and cells that stand for many; what is empty is not there */
	check(ODS_TABLE("<table:table-column table:number-columns-repeated=\"16384\"/>" ODS_ROW(
		      ODS_TEXT("a") ODS_TEXT("b") ODS_TEXT(
			      "c")) "<table:table-row "
	                            "table:number-rows-repeated=\"3\"><table:table-cell "
	                            "table:number-columns-repeated=\"2\" "
	                            "office:value-type=\"float\" "
	                            "office:value=\"7\"/><table:table-cell/></table:table-row>"
	                            "<table:table-row "
	                            "table:number-rows-repeated=\"2\"><table:table-cell "
	                            "table:number-columns-repeated=\"16384\"/></"
	                            "table:table-row>" ODS_ROW(
					    "<table:table-cell "
					    "table:number-columns-repeated=\"2\"/>" ODS_NUMBER(
						    "9") "<table:table-cell "
							 "table:number-columns-repeated="
							 "\"99999999\"/>") "<table:table-row "
	                                                                   "table:number-rows-"
	                                                                   "repeated=\"1048576\">"
	                                                                   "<table:table-cell/></"
	                                                                   "table:table-row>"),
	      NULL, "a:int,b:int,c:int\n7|7|~\n7|7|~\n7|7|~\n~|~|9 @7\n");
	/* more than a sheet can have */
	check(ODS_TABLE(
		      ODS_ROW(ODS_TEXT("a")) "<table:table-row "
					     "table:number-rows-repeated=\"99999999\">" ODS_NUMBER(
						     "1") "</table:table-row>"),
	      NULL, "!'t.ods': content.xml at byte 1427: a row beyond 1048576");
	check(ODS_TABLE(ODS_ROW(ODS_TEXT("a"))
	                        ODS_ROW("<table:table-cell table:number-columns-repeated=\"16385\" "
	                                "office:value-type=\"float\" office:value=\"7\"/>")),
	      NULL, "!'t.ods': content.xml at byte 1369: a cell beyond column XFD");
}

void test_ods_bombs(void)
{
	struct dtx_buf tables = DTX_BUF_INIT((size_t)1 << 26);

	/* blanks without end in a cell */
	dtx_buf_add(&tables, "<table:table table:name=\"One\"><table:table-row><table:table-cell "
	                     "office:value-type=\"string\"><text:p>");
	for (int i = 0; i < 20000; i++)
		dtx_buf_add(&tables, "<text:s text:c=\"60000\"/>");
	dtx_buf_add(&tables, "</text:p></table:table-cell></table:table-row></table:table>");
	check(dtx_buf_text(&tables), NULL,
	      "!'t.ods': content.xml: a text of over 1048576 bytes in a cell (limit "
	      "'archive.text')");
	dtx_buf_clear(&tables);
}

void test_ods_sheets(void)
{
	static const char two[] =
		"<table:table table:name=\"Shy\" table:style-name=\"x\">" ODS_ROW(ODS_TEXT("s"))
			ODS_ROW(ODS_NUMBER("1")) "</table:table>" ODS_TABLE(
				ODS_ROW(ODS_TEXT("o")) ODS_ROW(ODS_NUMBER("2")));

	check(two, NULL, "o:int\n2\n");
	check(two, "Shy", "s:int\n1\n");
	check(two, "No", "!'t.ods': no sheet 'No'; there are 'Shy' (hidden), 'One'");
}

void test_ods_formulas(void)
{
	struct dtx_buf out = DTX_BUF_INIT(1 << 16);
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(dump(ODS_TABLE(ODS_ROW(ODS_TEXT("a") ODS_TEXT("b")) ODS_ROW(ODS_OF(
			  "float", "table:formula=\"of:=1+1\" office:value=\"2\"") ODS_NUMBER("1"))
	                            ODS_ROW("<table:table-cell table:formula=\"of:=1/0\" "
	                                    "office:value-type=\"string\" office:string-value=\"\" "
	                                    "calcext:value-type=\"error\"><text:p>#DIV/0!</text:p>"
	                                    "</table:table-cell>" ODS_NUMBER("2"))
	                                    ODS_ROW("<table:table-cell "
	                                            "table:formula=\"of:=A1\"/>" ODS_NUMBER("3"))),
	          NULL, &out, &err),
	     &err);
	T_STR(dtx_buf_text(&out), "a:int,b:int\n2|1\n~|2\n~|3\n");
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
}

void test_ods_refused(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 16), out = DTX_BUF_INIT(1 << 16);
	struct dtx_err err = DTX_ERR_INIT;

	ods_make(ODS_TABLE(ODS_ROW(ODS_TEXT("a"))),
	         "<manifest:manifest><manifest:file-entry "
	         "manifest:full-path=\"content.xml\"><manifest:encryption-data/>"
	         "</manifest:file-entry></manifest:manifest>",
	         &bytes);
	T_INT(bytes_dump("t.ods", &bytes, &opts, 0, true, &out, &err), DTX_E_ENCRYPTED_FILE);
	T_STR(err.msg, "'t.ods' has a password");
	dtx_err_clear(&err);
	dtx_buf_clear(&bytes);
	dtx_buf_clear(&out);
}

void test_ods_every_alloc_fails(void)
{
	static const char tables[] = ODS_TABLE(
		"<table:table-column table:visibility=\"collapse\" "
		"table:default-cell-style-name=\"b\"/>" ODS_ROW(ODS_TEXT("a") ODS_TEXT("b"))
			ODS_ROW("<table:table-cell table:number-columns-spanned=\"2\" "
	                        "office:value-type=\"float\" office:value=\"1\"/>"
	                        "<table:covered-table-cell/>"));
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 16), out = DTX_BUF_INIT(1 << 16);
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;

	ods_make(tables, NULL, &bytes);
	T_EVERY_ALLOC_FAILS(
		(dtx_buf_reset(&out), bytes_dump("t.ods", &bytes, &opts, 0, true, &out, NULL)));
	dtx_buf_clear(&bytes);
	dtx_buf_clear(&out);
}
