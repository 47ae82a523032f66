/* Operations that repair what a reader returned: on cells of a workbook, on typed tables, in edge
 * cases, for any number of threads and rows of a batch. */
#include <time.h>

#include "tests/unit/bookmake.h"
#include "tests/unit/planrun.h"

/*    A        B      C      D
 * 1  Report (merged A1:D1)
 * 2  Region   Hours (merged B2:C2)   Cost
 * 3           Jan    Feb    (A2:A3, D2:D3 merged)
 * 4  North    1      2      0.50
 * 5  (A4:A5)  3      (C5:D6 merged: 4)
 * 6  South    7 */
#define S(ref, text) "<c r=\"" ref "\" t=\"inlineStr\"><is><t>" text "</t></is></c>"
#define N(ref, num)  "<c r=\"" ref "\"><v>" num "</v></c>"
static const char sheet[] = "<sheetData><row r=\"1\">" S("A1", "Report") "</row><row r=\"2\">" S(
	"A2", "Region") S("B2", "Hours") S("D2", "Cost") "</row><row r=\"3\">" S("B3", "Jan")
	S("C3", "Feb") "</row><row r=\"4\">" S("A4", "North") N("B4", "1") N("C4", "2")
		N("D4", "0.5") "</row><row r=\"5\">" N("B5", "3")
			N("C5", "4") "</row><row r=\"6\">" S("A6", "South")
				N("B6", "7") "</row></sheetData><mergeCells>"
					     "<mergeCell ref=\"A1:D1\"/><mergeCell "
					     "ref=\"B2:C2\"/><mergeCell ref=\"A2:A3\"/>"
					     "<mergeCell ref=\"D2:D3\"/><mergeCell "
					     "ref=\"A4:A5\"/><mergeCell ref=\"C5:D6\"/>"
					     "</mergeCells>";

#define RAW(steps)                                                                                 \
	"{\"dtx\":1,\"inputs\":[{\"name\":\"main\",\"header_rows\":0}],\"steps\":[" steps "]}"
#define CSV(steps) PLANCASE(steps)

static void repair_all(const struct plancase *list, size_t n)
{
	struct dtx_buf book = DTX_BUF_INIT((size_t)1 << 20);
	struct book b = { .sheet = sheet };

	book_make(&b, &book);
	plancases(list, n, &book);
	dtx_buf_clear(&book);
}

void test_repair_workbook(void)
{
	static const struct plancase list[] = {
		{ RAW("{\"op\":\"skip_rows\",\"head\":1},{\"op\":\"promote_header\",\"rows\":2,"
		      "\"sep\":\"/\"}"),
		  NULL, "Region,Hours/Jan,Hours/Feb,Cost\nNorth,1,2,0.5\n,3,4,\nSouth,7,,\n" },
		{ RAW("{\"op\":\"promote_header\",\"rows\":\"auto\",\"sep\":\"/\"}"), NULL,
		  "Region,Hours/Jan,Hours/Feb,Cost\nNorth,1,2,0.5\n,3,4,\nSouth,7,,\n" },
		{ RAW("{\"op\":\"unmerge\"},{\"op\":\"skip_rows\",\"head\":3}"), NULL,
		  "column_1,column_2,column_3,column_4\nNorth,1,2,0.5\nNorth,3,4,4\nSouth,7,4,"
		  "4\n" },
		{ RAW("{\"op\":\"unmerge\",\"axis\":\"rows\"},{\"op\":\"skip_rows\",\"head\":3}"),
		  NULL,
		  "column_1,column_2,column_3,column_4\nNorth,1,2,0.5\nNorth,3,4,\nSouth,7,4,\n" },
		{ RAW("{\"op\":\"unmerge\",\"axis\":\"cols\",\"cols\":[\"column_4\"]},{\"op\":"
		      "\"skip_rows\",\"head\":3}"),
		  NULL, "column_1,column_2,column_3,column_4\nNorth,1,2,0.5\n,3,4,4\nSouth,7,,\n" },
		{ RAW("{\"op\":\"keep_range\",\"range\":\"B3:C5\"}"), NULL,
		  "column_2,column_3\nJan,Feb\n1,2\n3,4\n" },
		{ RAW("{\"op\":\"skip_rows\",\"head\":2},{\"op\":\"keep_range\",\"range\":\"5:"
		      "9\"}"),
		  NULL, "column_1,column_2,column_3,column_4\n,3,4,\nSouth,7,,\n" },
		{ RAW("{\"op\":\"keep_range\",\"range\":\"B4:D5\"},{\"op\":\"transpose\","
		      "\"header\":"
		      "false}"),
		  NULL, "column_1,column_2\n1,3\n2,4\n0.5,\n" },
		{ RAW("{\"op\":\"keep_range\",\"range\":\"A3:C4\"},{\"op\":\"transpose\"}"), NULL,
		  "column,column_2,North\ncolumn_2,Jan,1\ncolumn_3,Feb,2\n" },
		{ RAW("{\"op\":\"subtitle_to_column\",\"as\":\"s\"},{\"op\":\"limit\",\"n\":2}"),
		  NULL,
		  "s,column_1,column_2,column_3,column_4\nReport,Region,Hours,,Cost\nReport,,Jan,"
		  "Feb,\n" },
		{ RAW("{\"op\":\"keep_range\",\"range\":\"A4:B6\"},{\"op\":\"unstack_blocks\","
		      "\"every\":2}"),
		  NULL, "column_1_1,column_2_1,column_1_2,column_2_2\nNorth,1,,3\nSouth,7,,\n" },
		{ RAW("{\"op\":\"keep_range\",\"range\":\"A4:B4\"},{\"op\":\"demote_header\"}"),
		  NULL, "column_1,column_2\ncolumn_1,column_2\nNorth,1\n" },
		{ RAW("{\"op\":\"keep_range\",\"range\":\"B4:B6\"},{\"op\":\"derive\",\"set\":["
		      "{\"as\":\"x\",\"expr\":\"column_2 * 2\"}]}"),
		  NULL, "column_2,x\n1,2\n3,6\n7,14\n" },
	};

	repair_all(list, DTX_COUNT(list));
}

/* Computed columns are moved as values or, together with others, as text. */
void test_repair_typed_tables(void)
{
#define HALVED "{\"op\":\"derive\",\"set\":[{\"as\":\"x\",\"expr\":\"a / 2\"}]},"
	static const struct plancase list[] = {
		{ CSV(HALVED "{\"op\":\"transpose\",\"header\":false}"), "a,b\n1,p\n4,\n",
		  "column_1,column_2\n1,4\np,\n0.5,2.0\n" },
		{ CSV(HALVED
		      "{\"op\":\"transpose\"},{\"op\":\"select\",\"cols\":[\"4\",\"column\"]}"),
		  "a,b\n1,5\n4,6\n", "4,column\n6,b\n2.0,x\n" },
		{ CSV(HALVED
		      "{\"op\":\"pivot_records\",\"key\":\"b\",\"value\":\"x\"},{\"op\":\"derive\","
		      "\"set\":[{\"as\":\"s\",\"expr\":\"p + q\"}]}"),
		  "a,b\n1,p\n4,q\n3,p\n", "p,q,s\n0.5,2.0,2.5\n1.5,,\n" },
		{ CSV(HALVED "{\"op\":\"subtitle_to_column\",\"col\":\"b\",\"match\":{\"regex\":"
		             "\"^#\"}}"),
		  "a,b\n1,#1\n4,p\n2,#2\n8,q\n", "subtitle,a,b,x\n#1,4,p,2.0\n#2,8,q,4.0\n" },
		{ CSV(HALVED "{\"op\":\"blank_down\",\"cols\":[\"x\"]}"), "a\n1\n1\n2\n",
		  "a,x\n1,0.5\n1,\n2,1.0\n" },
		{ CSV(HALVED "{\"op\":\"split_tables\",\"pick\":2}"), "a\n1\n\n2\n",
		  "a,x\n2,1.0\n" },
		{ CSV(HALVED "{\"op\":\"unstack_blocks\",\"every\":2}"), "a\n1\n2\n3\n",
		  "a_1,x_1,a_2,x_2\n1,0.5,2,1.0\n3,1.5,,\n" },
		{ CSV(HALVED "{\"op\":\"demote_header\"}"), "a\n1\n",
		  "column_1,column_2\na,x\n1,0.5\n" },
		{ CSV("{\"op\":\"group_by\",\"by\":[\"a\"],\"agg\":{\"n\":\"count()\"}},{\"op\":"
		      "\"keep_range\",\"range\":\"A:A\"}"),
		  "a\n1\n", "unexpected_value" },
	};

	repair_all(list, DTX_COUNT(list));
}

/* Each table is a step of its own, and a table with its own header outlives the one from which it
 * was cut. */
void test_repair_tables_by_prefix(void)
{
#define SPLIT "{\"op\":\"split_tables\",\"prefix\":\"t\"},"
	static const struct plancase list[] = {
		{ CSV(SPLIT "{\"op\":\"union\",\"with\":[\"t_3\",\"t_2\"]}"),
		  "a,b\n1,x\n,\n2,y\n,\n3,z\n", "a,b\n1,x\n3,z\n2,y\n" },
		{ CSV(SPLIT "{\"op\":\"promote_header\",\"in\":\"t_2\",\"out\":\"r\"},"
		            "{\"op\":\"join\",\"with\":\"r\",\"on\":\"a\"}"),
		  "a,b\np,1\nq,2\n,\na,c\nq,20\np,10\n", "a,b,c\np,1,10\nq,2,20\n" },
		{ CSV("{\"op\":\"split_tables\",\"prefix\":\"t\",\"pick\":2}"),
		  "a,b\n1,x\n,\n2,y\n", "a,b\n2,y\n" },
		{ CSV(SPLIT "{\"op\":\"union\",\"with\":\"t_4\"}"), "a,b\n1,x\n,\n2,y\n",
		  "unexpected_value" },
		{ CSV(SPLIT "{\"op\":\"union\",\"with\":\"t_01\"}"), "a\n1\n", "unknown_table" },
		{ CSV(SPLIT "{\"op\":\"union\",\"with\":\"t_65\"}"), "a\n1\n", "bad_param_value" },
	};
#undef SPLIT

	repair_all(list, DTX_COUNT(list));
}

void test_repair_edges(void)
{
	static const struct plancase list[] = {
		/* blank names, repeated ones and one that is taken; unicode */
		{ CSV("{\"op\":\"transpose\"}"), "k,v\nä,1\n\" \",2\nä,3\nä_2,4\n",
		  "column,ä,column_3,ä_3,ä_2\nv,1,2,3,4\n" },
		/* a name that another column has already */
		{ CSV("{\"op\":\"transpose\",\"names_to\":\"x\"}"), "k,v\nx,1\n", "x,x_2\nv,1\n" },
		{ CSV("{\"op\":\"transpose\",\"header\":false}"), "a\n", "\n" },
		{ CSV("{\"op\":\"pivot_records\"}"), "k,v\n", "\n" },
		{ CSV("{\"op\":\"pivot_records\",\"start\":\"id\"}"),
		  "k,v\nid,1\nn,x\nid,2\nn,y\nn,z\n", "pivot_not_unique" },
		{ CSV("{\"op\":\"pivot_records\"}"), "k,v\na,1\n,2\n", "unexpected_value" },
		{ CSV("{\"op\":\"pivot_records\"}"), "k\na\n", "missing_column" },
		{ CSV("{\"op\":\"pivot_records\",\"sep\":\"=\",\"key\":\"b\"}"),
		  "a,b\n1,x=1=2\n2,y=\n3,x = 5\n", "x,y\n1=2,\n5,\n" },
		/* a record that only blank rows end */
		{ CSV("{\"op\":\"pivot_records\",\"every\":3}"), "k,v\na,1\nb,2\n,\n,\na,3\n",
		  "a,b\n1,2\n3,\n" },
		{ CSV("{\"op\":\"subtitle_to_column\",\"match\":\"bold\"}"), "a\n1\n",
		  "unexpected_value" },
		{ CSV("{\"op\":\"split_tables\",\"prefix\":\"t-\"}"), "a\n1\n", "bad_param_value" },
		{ CSV("{\"op\":\"split_tables\",\"by\":\"repeated_header\"}"), "a,b\na,b\n1,x\n",
		  "a,b\n1,x\n" },
		{ CSV("{\"op\":\"split_tables\",\"by\":\"repeated_header\",\"pick\":2}"),
		  "a,b\n1,x\n a ,\n2,y\n", "a,b\n2,y\n" },
		{ CSV("{\"op\":\"set_header\",\"names\":[\"x\",\"y\"],\"allow_short\":true}"),
		  "a\n1\n", "length_mismatch" },
		{ CSV("{\"op\":\"clean_names\"},{\"op\":\"select\",\"cols\":[\"hours_jan\"]}"),
		  "k,Hours Jan\n1,2\n", "hours_jan\n2\n" },
		{ CSV("{\"op\":\"keep_range\",\"range\":\"C:D\"}"), "a,b\n1,2\n",
		  "missing_column" },
		{ CSV("{\"op\":\"keep_range\",\"range\":\"A2\"}"), "a,b\n1,2\n",
		  "bad_param_value" },
		{ CSV("{\"op\":\"keep_range\",\"range\":\"2:3\"}"), "a,b\n1,\"x\ny\"\n2,z\n3,w\n",
		  "a,b\n1,\"x\ny\"\n" },
		{ CSV("{\"op\":\"unstack_blocks\",\"every\":2}"), "a\n", "a_1,a_2\n" },
		/* a single column has no footnotes: nothing distinguishes them from data */
		{ CSV("{\"op\":\"drop_rows\",\"kinds\":[\"footnotes\"]}"), "a\n1\n2\n",
		  "a\n1\n2\n" },
		/* types are detected again: numbers once the titles are gone */
		{ CSV("{\"op\":\"subtitle_to_column\",\"as\":\"s\",\"match\":{\"regex\":\"[A-Z]\"}}"
		      ","
		      "{\"op\":\"derive\",\"set\":[{\"as\":\"d\",\"expr\":\"v * 2\"}]}"),
		  "v,w\nNorth,x\n1.5,y\n", "s,v,w,d\nNorth,1.5,y,3.0\n" },
	};

	repair_all(list, DTX_COUNT(list));
}

/* One merged range over a whole sheet: a walk from each cell to its first cell would take quadratic
 * time. */
void test_repair_one_large_merge(void)
{
	enum { ROWS = 10000 };
	static const struct plancase list[] = {
		{ RAW("{\"op\":\"unmerge\"},{\"op\":\"group_by\",\"by\":[\"column_1\"],\"agg\":{"
		      "\"n\":\"count()\"}}"),
		  NULL, "column_1,n\nx,10000\n" },
	};
	struct dtx_buf text = DTX_BUF_INIT((size_t)16 << 20),
		       bytes = DTX_BUF_INIT((size_t)16 << 20);
	struct book b = { 0 };
	clock_t start;
	int i;

	dtx_buf_add(&text, "<sheetData><row r=\"1\">" S("A1", "x") N("B1", "1") "</row>");
	for (i = 2; i <= ROWS; i++)
		dtx_buf_printf(&text, "<row r=\"%d\"><c r=\"B%d\"><v>1</v></c></row>", i, i);
	dtx_buf_printf(&text, "</sheetData><mergeCells><mergeCell ref=\"A1:A%d\"/></mergeCells>",
	               ROWS);
	b.sheet = dtx_buf_text(&text);
	book_make(&b, &bytes);
	start = clock();
	plancases(list, DTX_COUNT(list), &bytes);
	T_CHECK(clock() - start < 5 * CLOCKS_PER_SEC);
	dtx_buf_clear(&text);
	dtx_buf_clear(&bytes);
}

/* The error names the row by its place in the source. */
void test_repair_errors_name_the_place(void)
{
	struct planrun p;

	planrun_init(&p, CSV("{\"op\":\"pivot_records\",\"sep\":\":\"}"), "t\na: 1\nb: 2\nbad\n");
	T_INT(planrun(&p), DTX_E_BAD_SPLIT);
	T_STR(p.err.cell, "L4");
	T_CHECK(strstr(p.err.msg, "'bad'"));
	planrun_clear(&p);
	planrun_init(&p,
	             CSV("{\"op\":\"subtitle_to_column\"},{\"op\":\"cast\",\"types\":[{\"name\":"
	                 "\"b\",\"type\":\"int\"}]}"),
	             "a,b\nT,\n1,2\n2,x\n");
	T_INT(planrun(&p), DTX_E_CAST_FAILED);
	T_STR(p.err.cell, "L4");
	planrun_clear(&p);
}
