/* Operations on columns, at the edges: nulls, unicode, empty tables, odd values, broken plans. */
#include "ops/kit/text/cleantext.h"
#include "ops/kit/text/datetext.h"
#include "ops/kit/newnames.h"
#include "core/data/time/time.h"
#include "tests/unit/planrun.h"

void test_op_columns_dates(void)
{
	static const struct plancase list[] = {
		{ PLANCASE("{\"op\":\"parse_date\",\"cols\":[\"d\"],\"order\":\"mdy\"}"),
		  "d\n1/2/68\n1/2/69\n\" \"\n\n", "d\n2068-01-02\n1969-01-02\n\n\n" },
		{ PLANCASE("{\"op\":\"parse_date\",\"cols\":[\"d\"],\"order\":\"mdy\",\"century\":"
		           "1900}"),
		  "d\n1/2/68\n1/2/00\n", "d\n1968-01-02\n1900-01-02\n" },
		{ PLANCASE("{\"op\":\"parse_date\",\"cols\":[\"d\"],\"formats\":[\"%d.%m.%y\"],"
		           "\"century\":1900}"),
		  "d\n29.02.04\n01.01.68\n", "d\n1904-02-29\n1968-01-01\n" },
		/* 1900 was not a leap year */
		{ PLANCASE("{\"op\":\"parse_date\",\"cols\":[\"d\"],\"formats\":[\"%d.%m.%y\"],"
		           "\"century\":1900}"),
		  "d\n29.02.00\n", "cast_failed" },
		/* formats are never mixed */
		{ PLANCASE("{\"op\":\"parse_date\",\"cols\":[\"d\"],\"formats\":[\"%Y/%m/%d\","
		           "\"%d/%m/%Y\"]}"),
		  "d\n2024/01/31\n31/01/2024\n", "cast_failed" },
		{ PLANCASE(
			  "{\"op\":\"parse_date\",\"cols\":[\"a\",\"b\"],\"formats\":[\"%Y/%m/%d\","
			  "\"%d/%m/%Y\"]}"),
		  "a,b\n2024/01/31,31/01/2024\n", "a,b\n2024-01-31,2024-01-31\n" },
		{ PLANCASE("{\"op\":\"parse_date\",\"cols\":[\"d\"]}"), "d,v\n2024-01-31,1\n,2\n",
		  "d,v\n2024-01-31,1\n,2\n" },
		{ PLANCASE("{\"op\":\"parse_date\",\"cols\":[\"d\"]}"), "d\n31/01/2024\n",
		  "ambiguous_date" },
		{ PLANCASE("{\"op\":\"parse_date\",\"cols\":[\"d\"]}"), "d\nsoon\n",
		  "cast_failed" },
		{ PLANCASE("{\"op\":\"parse_date\",\"cols\":[\"d\"]}"), "d\n2024-01-31T09:30:00\n",
		  "cast_failed" },
		{ PLANCASE("{\"op\":\"to_datetime\",\"cols\":[\"d\"]}"), "d\n2024-01-31\n",
		  "d\n2024-01-31T00:00:00\n" },
		{ PLANCASE("{\"op\":\"parse_date\",\"cols\":[\"d\"],\"order\":\"dmy\",\"formats\":"
		           "[\"%Y\"]}"),
		  "d\n1\n", "param_conflict" },
		{ PLANCASE("{\"op\":\"parse_date\",\"cols\":[\"d\"],\"formats\":[\"%Q\"]}"),
		  "d\n1\n", "bad_format" },
		{ PLANCASE(
			  "{\"op\":\"parse_date\",\"cols\":[\"d\"],\"excel_serial\":true,\"order\":"
			  "\"dmy\",\"type\":\"datetime\"}"),
		  "d\n45292.5\n", "d\n2024-01-01T12:00:00\n" },
		{ PLANCASE("{\"op\":\"parse_date\",\"cols\":[\"d\"],\"order\":\"dmy\"}"), "d\n",
		  "d\n" },
		/* a computed date stays one */
		{ PLANCASE(
			  "{\"op\":\"derive\",\"set\":[{\"as\":\"x\",\"expr\":\"date_add(d, 1, "
			  "'day')\"}]},{\"op\":\"parse_date\",\"cols\":[\"x\"],\"order\":\"dmy\"}"),
		  "d\n2024-01-31\n", "d,x\n2024-01-31,2024-02-01\n" },
		{ PLANCASE("{\"op\":\"parse_date\",\"cols\":[\"d\"],\"order\":\"dmy\"},{\"op\":"
		           "\"derive\",\"set\":[{\"as\":\"y\",\"expr\":\"year(d)\"}]}"),
		  "d\n3 march 2024\n", "d,y\n2024-03-03,2024\n" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

void test_op_columns_date_texts(void)
{
	static const struct {
		const char *text;
		enum dtx_date_order order;
		const char *out; /* NULL: not a date */
	} list[] = {
		{ "1/2/2024", DTX_ORDER_DMY, "2024-02-01T00:00:00" },
		{ "1/2/2024", DTX_ORDER_MDY, "2024-01-02T00:00:00" },
		{ "2024.2.1", DTX_ORDER_YMD, "2024-02-01T00:00:00" },
		{ " 5 January 2024 ", DTX_ORDER_DMY, "2024-01-05T00:00:00" },
		{ "5-JAN-24", DTX_ORDER_DMY, "2024-01-05T00:00:00" },
		{ "January 5, 2024", DTX_ORDER_MDY, "2024-01-05T00:00:00" },
		{ "1/2/2024 12:05 am", DTX_ORDER_DMY, "2024-02-01T00:05:00" },
		{ "1/2/2024 12:05:06.5PM", DTX_ORDER_DMY, "2024-02-01T12:05:06.5" },
		{ "1/2/2024T23:59", DTX_ORDER_DMY, "2024-02-01T23:59:00" },
		{ "1/2-2024", DTX_ORDER_DMY, NULL },
		{ "1/2/024", DTX_ORDER_DMY, NULL },
		{ "1/2/20245", DTX_ORDER_DMY, NULL },
		{ "31/2/2024", DTX_ORDER_DMY, NULL },
		{ "1/2/2024 25:00", DTX_ORDER_DMY, NULL },
		{ "1/2/2024 13:00 PM", DTX_ORDER_DMY, NULL },
		{ "1/2/2024x", DTX_ORDER_DMY, NULL },
		{ "1/2/2024 9:3", DTX_ORDER_DMY, NULL },
		{ "5 Janvier 2024", DTX_ORDER_DMY, NULL },
		{ "1/2", DTX_ORDER_DMY, NULL },
		{ "", DTX_ORDER_DMY, NULL },
	};
	struct dtx_datetext d;
	char text[40];

	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		bool ok = dtx_datetext_parse(dtx_str_of(list[i].text), list[i].order, 1969, &d);

		T_INT(ok, list[i].out != NULL);
		if (!ok || !list[i].out)
			continue;
		dtx_datetime_print(text, d.us);
		T_STR(text, list[i].out);
	}
}

void test_op_columns_split_and_extract(void)
{
	static const struct plancase list[] = {
		{ PLANCASE("{\"op\":\"split_column\",\"col\":\"c\",\"sep\":\"::\",\"into\":[\"a\","
		           "\"b\"],\"missing\":\"null\",\"extra\":\"merge\"}"),
		  "c\n::\n\"\"\nx::y::z\n", "a,b\n\"\",\"\"\n\"\",\nx,y::z\n" },
		{ PLANCASE("{\"op\":\"split_column\",\"col\":\"c\",\"sep\":\",\",\"into\":[\"c\","
		           "\"b\"],\"extra\":\"drop\"}"),
		  "c\n\"1,2,3\"\n", "c,b\n1,2\n" },
		{ PLANCASE(
			  "{\"op\":\"split_column\",\"col\":\"c\",\"regex\":\"x*\",\"into\":[\"a\","
			  "\"b\"]}"),
		  "c\nüxxö\n", "a,b\nü,ö\n" },
		{ PLANCASE(
			  "{\"op\":\"split_column\",\"col\":\"c\",\"widths\":[1,1],\"into\":[\"a\","
			  "\"b\"],\"missing\":\"null\",\"extra\":\"merge\"}"),
		  "c\n日本語\nx\n", "a,b\n日,本語\nx,\n" },
		{ PLANCASE(
			  "{\"op\":\"split_column\",\"col\":\"c\",\"widths\":[1,1],\"into\":[\"a\","
			  "\"b\"]}"),
		  "c\nabc\n", "bad_split" },
		{ PLANCASE("{\"op\":\"split_column\",\"col\":\"c\",\"sep\":\"-\",\"into\":[\"a\","
		           "\"k\"]}"),
		  "k,c\nx,1-2\n", "name_collision" },
		{ PLANCASE("{\"op\":\"split_column\",\"col\":\"c\",\"sep\":\"-\",\"regex\":\"x\","
		           "\"into\":[\"a\"]}"),
		  "c\n1\n", "param_conflict" },
		{ PLANCASE("{\"op\":\"split_column\",\"col\":\"c\",\"widths\":[1],\"into\":[\"a\","
		           "\"b\"]}"),
		  "c\n1\n", "length_mismatch" },
		/* parts are text, whatever they look like */
		{ PLANCASE("{\"op\":\"split_column\",\"col\":\"c\",\"sep\":\"-\",\"into\":[\"a\","
		           "\"b\"]},{\"op\":\"derive\",\"set\":[{\"as\":\"x\",\"expr\":\"len(a)\"}]"
		           "}"),
		  "c\n007-2\n", "a,b,x\n007,2,3\n" },
		/* for a computed number its text is used */
		{ PLANCASE(
			  "{\"op\":\"derive\",\"set\":[{\"as\":\"x\",\"expr\":\"v / 4\"}]},{\"op\":"
			  "\"split_column\",\"col\":\"x\",\"sep\":\".\",\"into\":[\"a\",\"b\"]}"),
		  "v\n5\n", "v,a,b\n5,1,25\n" },
		{ PLANCASE("{\"op\":\"extract\",\"col\":\"c\",\"pattern\":\"(?P<a>x)?(y)\"}"),
		  "c\ny\nxy\n", "c,a\ny,\nxy,x\n" },
		{ PLANCASE("{\"op\":\"extract\",\"col\":\"c\",\"pattern\":\"(x)\"}"), "c\nx\n",
		  "missing_param" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

void test_op_columns_others(void)
{
	static const struct plancase list[] = {
		{ PLANCASE(
			  "{\"op\":\"reorder\",\"cols\":[\"c\",\"a\"],\"to\":\"before\",\"anchor\":"
			  "\"b\"}"),
		  "a,b,c\n1,2,3\n", "c,a,b\n3,1,2\n" },
		{ PLANCASE("{\"op\":\"reorder\",\"cols\":[\"a\"],\"to\":\"after\",\"anchor\":"
		           "\"a\"}"),
		  "a,b\n1,2\n", "bad_param_value" },
		{ PLANCASE("{\"op\":\"merge_columns\",\"cols\":[\"n\",\"d\",\"e\"],\"as\":\"t\","
		           "\"sep\":\"|\"}"),
		  "n,d,e\n1.50,2024-01-31,\"\"\n,,\n", "t\n1.50|2024-01-31|\n\n" },
		{ PLANCASE("{\"op\":\"coalesce\",\"cols\":[\"a\",\"b\"],\"as\":\"x\"},{\"op\":"
		           "\"derive\",\"set\":[{\"as\":\"y\",\"expr\":\"x + 1\"}]}"),
		  "a,b\n1,2.5\n,2.5\n,\n", "a,b,x,y\n1,2.5,1,2.0\n,2.5,2.5,3.5\n,,,\n" },
		{ PLANCASE("{\"op\":\"nullify\",\"cols\":[\"a\"],\"values\":[\"x\",1,true]}"),
		  "a\nx\n1\ny\n", "a\n\n1\ny\n" },
		{ PLANCASE("{\"op\":\"nullify\",\"cols\":[\"a\",\"b\"],\"values\":[1,true]}"),
		  "a,b\n1,true\n2,false\n", "a,b\n,\n2,false\n" },
		{ PLANCASE("{\"op\":\"nullify\",\"cols\":[\"d\"],\"values\":[\"1900-01-01\"]}"),
		  "d\n1900-01-01\n2024-01-31\n", "d\n\n2024-01-31\n" },
		/* a text that is not a date is in no column of dates */
		{ PLANCASE("{\"op\":\"nullify\",\"cols\":[\"*\"],\"values\":[\"n/a\"]}"),
		  "d,k\n2024-01-31,n/a\n", "d,k\n2024-01-31,\n" },
		{ PLANCASE("{\"op\":\"fill_null\",\"cols\":[\"d\"],\"value\":\"soon\"}"),
		  "d\n2024-01-31\n\n", "type_mismatch" },
		{ PLANCASE("{\"op\":\"add_id\",\"start\":-1},{\"op\":\"filter\",\"where\":\"row_id "
		           "> 5\"}"),
		  "a\n0\n1\n2\n3\n4\n5\n6\n7\n8\n", "row_id,a\n6,7\n7,8\n" },
		{ PLANCASE("{\"op\":\"add_id\",\"by\":[\"a\"],\"hash_of\":[\"a\"]}"), "a\n0\n",
		  "param_conflict" },
		{ PLANCASE("{\"op\":\"clean_text\",\"cols\":[\"a\"],\"unicode\":\"none\","
		           "\"squeeze\":"
		           "false,\"trim\":false,\"controls\":false,\"nbsp\":false}"),
		  "a\n\"  x \"\n", "a\n\"  x \"\n" },
		{ PLANCASE("{\"op\":\"clean_text\",\"cols\":[\"a\"]}"), "a,b\n\"   \",1\n\"x\",2\n",
		  "a,b\n\"\",1\n\"x\",2\n" },
	};

	plancases(list, DTX_COUNT(list), NULL);
}

void test_op_columns_clean_texts(void)
{
	struct dtx_clean plain = { .form = DTX_UTF8_NFC,
		                   .controls = true,
		                   .nbsp = true,
		                   .squeeze = true,
		                   .trim = true,
		                   .kase = DTX_CASE_KEEP },
			 title = { .form = -1, .kase = DTX_CASE_TITLE };
	struct dtx_cleaner k;

	dtx_cleaner_init(&k);
#define CLEAN(how, text, want)                                                                     \
	do {                                                                                       \
		struct dtx_str got = dtx_clean_text(&k, &(how), dtx_str_of(text));                 \
		char copy[64];                                                                     \
		dtx_str_copy(copy, sizeof(copy), got);                                             \
		T_STR(copy, want);                                                                 \
	} while (0)
	CLEAN(plain, "e\xcc\x81", "é");
	CLEAN(plain,
	      "so\xc2\xad"
	      "ft\xe2\x80\x8b \xef\xbb\xbfx",
	      "soft x");
	CLEAN(plain,
	      "a\t\r\n b\x01"
	      "c",
	      "a bc");
	CLEAN(plain, "\xe2\x80\x83 x", "x");
	CLEAN(plain, "", "");
	CLEAN(title, "hELLO wORLD's 3rd über-straße", "Hello World's 3rd Über-Straße");
	CLEAN(title, "'x'", "'X'");
#undef CLEAN
	dtx_cleaner_clear(&k);
}

/* What became null, by reason. */
void test_op_columns_counts(void)
{
	static const struct {
		const char *plan, *in, *reason;
		int64_t n;
	} list[] = {
		{ PLANCASE("{\"op\":\"extract\",\"col\":\"c\",\"pattern\":\"x\",\"into\":[\"n\"]}"),
		  "c\nx\ny\n\nz\n", "no_match", 2 },
		{ PLANCASE("{\"op\":\"parse_date\",\"cols\":[\"c\"],\"order\":\"dmy\",\"on_error\":"
		           "\"null\"}"),
		  "c\n1.2.24\ny\n", "cast_failed", 1 },
		{ PLANCASE("{\"op\":\"parse_date\",\"cols\":[\"c\"],\"order\":\"dmy\"}"),
		  "c\n1.2.24\n1.2.2024\n", "two_digit_year", 1 },
		{ PLANCASE("{\"op\":\"nullify\",\"cols\":[\"c\"],\"values\":[\"x\"]}"),
		  "c\nx\ny\nx\n", "nullified", 2 },
		{ PLANCASE("{\"op\":\"subtitle_to_column\"}"), "a,b\nx,\n1,2\n", "subtitle", 1 },
		{ PLANCASE("{\"op\":\"blank_down\",\"cols\":[\"a\"]}"), "a\nx\nx\n", "repeated",
		  1 },
	};

	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		struct planrun p;
		int64_t n = 0;

		planrun_init(&p, list[i].plan, list[i].in);
		p.batch_rows = 1;
		p.workers = 2;
		p.keep = true;
		T_OK(planrun(&p), &p.err);
		for (uint32_t k = 0; p.result && k < p.result->step[0].ndrops; k++)
			if (strcmp(p.result->step[0].drop[k].reason, list[i].reason) == 0)
				n += p.result->step[0].drop[k].n;
		T_INT(n, list[i].n);
		planrun_clear(&p);
	}
}

void test_names_hold_no_nul(void)
{
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	const char *name = NULL;

	T_OK(dtx_names_text(DTX_STR(" a \t b "), &arena, &name, &err), &err);
	T_STR(name, "a b");
	T_CODE(dtx_names_text((struct dtx_str){ "a\0b", 3 }, &arena, &name, &err),
	       DTX_E_UNEXPECTED_VALUE, &err);
	T_STR(err.msg, "a text with a NUL byte cannot be a column name");
	dtx_arena_clear(&arena);
	dtx_err_clear(&err);
}
