/* JSON Lines and JSON documents: columns, types, results. */
#include "core/io/json/json_scan.h"

#include "tests/t.h"
#include "tests/unit/bookmake.h"

static void expect_with(const char *json, const struct dtx_read_opts *opts, uint32_t batch_rows,
                        bool values, const char *want)
{
	struct dtx_buf in = DTX_BUF_INIT(1 << 24), out = DTX_BUF_INIT(1 << 24);
	struct dtx_err err = DTX_ERR_INIT;

	dtx_buf_add(&in, json);
	if (bytes_dump("x.jsonl", &in, opts, batch_rows, values, &out, &err) == DTX_OK)
		T_STR(dtx_buf_text(&out), want);
	else
		T_STR(dtx_code_name(err.code), want);
	dtx_buf_clear(&in);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
}

static void expect(const char *json, const char *want)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	uint32_t n;

	opts.format = "json";
	for (n = 0; n < 3; n++)
		expect_with(json, &opts, n, true, want);
}

void test_read_json_lines_and_arrays(void)
{
	expect("{\"a\":1,\"b\":\"x\"}\n\n{\"b\":\"y\",\"a\":2}\r\n", "a:int,b:text\n1|x\n2|y\n");
	expect("\xef\xbb\xbf [ {\"a\":1.50} , {\"a\":2} ] ", "a:float\n1.5\n2.0\n");
	expect("{\"a\":true}\n{\"c\":null}\n{\"a\":false}",
	       "a:bool,c:null\ntrue|~\n~|~\nfalse|~\n");
	expect("{\"d\":\"2024-01-31\",\"t\":\"2024-01-31T10:00\"}",
	       "d:date,t:datetime\n2024-01-31|2024-01-31T10:00:00\n");
	expect("{\"n\":\"12\",\"e\":\"\"}", "n:text,e:text\n12|\n");
}

/* A value that is too large is not read to its end, which may never come. */
void test_read_json_large_value(void)
{
	static const char *const begin[] = { "{\"a\":\"", "{\"a\":[" };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf in = DTX_BUF_INIT(1 << 25), out = DTX_BUF_INIT(1 << 24);
	struct dtx_err err = DTX_ERR_INIT;
	size_t i;

	opts.format = "jsonl";
	for (i = 0; i < DTX_COUNT(begin); i++) {
		dtx_buf_reset(&in);
		dtx_buf_add(&in, "{\"a\":1}\n");
		dtx_buf_add(&in, begin[i]);
		while (in.len < ((size_t)17 << 20))
			dtx_buf_add(&in, "1000000000000,");
		T_CODE(bytes_dump("x.jsonl", &in, &opts, 0, true, &out, &err), DTX_E_INPUT_LIMIT,
		       &err);
		T_CHECK(strstr(err.msg, "line 2 (byte 13): a value is larger than 16 MiB"));
	}
	dtx_buf_clear(&in);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
}

void test_read_json_keeps_digits(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;

	expect_with("{\"a\":17.50}\n{\"a\":1e3}", &opts, 0, false, "a:float\n17.50\n1e3\n");
}

void test_read_json_nested(void)
{
	expect("{\"a\":{\"b\":1,\"c\":{\"d\":\"x\"}},\"l\":[1, {\"z\":2}]}\n{\"a\":{}}\n{\"a\":5}",
	       "a.b:int,a.c.d:text,l:text,a:int\n1|x|[1, {\"z\":2}]|~\n~|~|~|~\n~|~|~|5\n");
	expect("{\"a.b\":1,\"a\":{\"b\":2}}", "a.b:int,a.b_2:int\n1|2\n");
	expect("{\"meta\":{},\"rows\":[{\"a\":1},{\"a\":2}]}", "a:int\n1\n2\n");
}

void test_read_json_escapes(void)
{
	expect("{\"a\\u0041\":\"\\ud83d\\ude00\\n\\\"\\/\"}", "aA:text\n\xf0\x9f\x98\x80\n\"/\n");
}

void test_read_json_mixed(void)
{
	expect("{\"a\":1}\n{\"a\":\"x\"}\n{\"a\":true}", "a:text\n1\nx\ntrue\n");
	expect("{\"a\":12345678901234567890}", "a:text\n12345678901234567890\n");
}

void test_read_json_types_and_nulls(void)
{
	static const char *const nulls[] = { "-" };
	struct dtx_read_type type = { "d", { .type = DTX_T_DATE }, "%d/%m/%Y", DTX_CAST_ERROR };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;

	opts.types = &type;
	opts.ntypes = 1;
	opts.null_values = nulls;
	opts.nnull_values = 1;
	expect_with("{\"d\":\"31/01/2024\",\"n\":1}\n{\"d\":\"-\",\"n\":\"-\"}", &opts, 0, true,
	            "d:date,n:int\n2024-01-31|1\n~|~\n");
	expect_with("{\"d\":\"x\"}", &opts, 0, true, "cast_failed");
}

void test_read_json_encodings(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf in = DTX_BUF_INIT(1 << 10), out = DTX_BUF_INIT(1 << 10);
	struct dtx_err err = DTX_ERR_INIT;

	opts.encoding = "windows-1252";
	expect_with("{\"d\":\"Jos\xe9\"}\n{\"d\":\"a\\u0041\"}", &opts, 0, true,
	            "d:text\nJos\xc3\xa9\naA\n");
	opts.encoding = "auto:windows-1252";
	expect_with("{\"d\":\"\xe9\"}\n", &opts, 0, true, "d:text\n\xc3\xa9\n");
	opts.encoding = NULL;
	dtx_buf_add(&in, "{\"d\":1}\n{\"d\":\"Jos\xe9\"}\n");
	T_CODE(bytes_dump("x.jsonl", &in, &opts, 0, true, &out, &err), DTX_E_BAD_ENCODING, &err);
	T_STR(err.cell, "L2");
	T_CHECK(strstr(err.hint, "windows-1252") && strstr(err.more, "\"repair\""));
	dtx_err_clear(&err);
	dtx_buf_clear(&in);
	dtx_buf_clear(&out);
}

/* A value that its declared type cannot hold is null, and is counted. */
void test_read_json_misfits(void)
{
	struct dtx_read_type type = { .name = "d",
		                      .type = { .type = DTX_T_INT64 },
		                      .on_error = DTX_CAST_NULL };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	static const char text[] = "{\"d\":1}\n{\"d\":\"x\"}\n{\"d\":\"y\"}\n";
	struct dtx_buf out = DTX_BUF_INIT(1 << 20);
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	struct dtx_err err = DTX_ERR_INIT;

	opts.types = &type;
	opts.ntypes = 1;
	T_OK(dtx_source_bytes("x.jsonl", text, strlen(text), &src, &err), &err);
	T_OK(dtx_reader_open(src, &opts, &r, &err), &err);
	T_OK(table_dump(r, 2, true, &out, &err), &err);
	T_STR(dtx_buf_text(&out), "d:int\n1\n~\n~\n");
	T_OK(dtx_reader_misfits(r, &err), &err);
	T_INT(r->diags.n, 1);
	T_STR(r->diags.item[0].msg, "'x.jsonl': 2 cells without the declared type became null");
	dtx_reader_close(r);
	dtx_source_free(src);
	dtx_buf_clear(&out);
}

void test_read_json_wanted_columns(void)
{
	const char *const wanted[] = { "c", "a" };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;

	opts.requires = wanted;
	opts.nrequires = 2;
	opts.extra = DTX_EXTRA_DROP;
	expect_with("{\"a\":1,\"b\":2}\n{\"c\":\"x\"}", &opts, 0, true, "a:int,c:text\n1|~\n~|x\n");
}

void test_read_json_verdicts(void)
{
	static const struct {
		const char *json, *want;
	} row[] = {
		{ "{\"a\":1,}", "corrupt_file" },
		{ "{\"a\":NaN}", "corrupt_file" },
		{ "{\"a\":01}", "corrupt_file" },
		{ "{\"a\":1.}", "corrupt_file" },
		{ "{\"a\":\"\\ud800\"}", "corrupt_file" },
		{ "{\"a\":\"x", "corrupt_file" },
		{ "{\"a\":1}\n{\"a\":", "corrupt_file" },
		{ "[{\"a\":1}", "corrupt_file" },
		{ "[{\"a\":1},]", "corrupt_file" },
		{ "[{\"a\":1}] x", "corrupt_file" },
		{ "{\"a\":1,\"a\":2}", "corrupt_file" },
		{ "[[1,2]]", "header_not_found" },
		{ "[[\"a\"],[1],{\"a\":1},2]", "corrupt_file" },
		{ "{\"a\":{\"x\":1},\"a\":{\"y\":2}}", "corrupt_file" },
		{ "{\"a\":{},\"a\":2}", "corrupt_file" },
		{ "{\"a\":2,\"a\":{}}", "corrupt_file" },
		{ "{\"a\":[1],\"a\":[2]}", "corrupt_file" },
		{ "[[\"a\",\"b\"],[1],[1,2,3]]", "ragged_rows" },
		{ "[{\"a\":1}", "corrupt_file" },
		{ "{\"a\":\"\t\"}", "corrupt_file" },
		{ "[]", "no_record" },
		{ "", "empty_input" },
		{ "{\"a\":\"\xff\"}", "bad_encoding" },
		{ "{\"a\\u0000b\":1}", "ab:int\n1\n" },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(row); i++)
		expect(row[i].json, row[i].want);
}

/* A row with one cell too many, and a record with one member too many. */
void test_read_json_width(void)
{
	static const struct {
		const char *open, *each, *close, *says;
	} row[] = {
		{ "[[\"a\"", ",\"b\"", "],[1]]", "'x.json': over 100000 cells in a row" },
		{ "{\"a\":1", ",\"k%d\":{}", "}", "'x.json': over 100000 different members" },
	};
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;

	for (size_t i = 0; i < DTX_COUNT(row); i++) {
		struct dtx_buf in = DTX_BUF_INIT(1 << 24), out = DTX_BUF_INIT(1 << 24);
		struct dtx_err err = DTX_ERR_INIT;
		char one[32];

		dtx_buf_add(&in, row[i].open);
		for (int k = 0; k <= 100000; k++) {
			const char *number = strstr(row[i].each, "%d");

			if (number)
				snprintf(one, sizeof(one), ",\"k%d\":{}", k);
			dtx_buf_add(&in, number ? one : row[i].each);
		}
		dtx_buf_add(&in, row[i].close);
		T_CODE(bytes_dump("x.json", &in, &opts, 0, true, &out, &err), DTX_E_INPUT_LIMIT,
		       &err);
		T_STR(err.msg, row[i].says);
		dtx_buf_clear(&in);
		dtx_buf_clear(&out);
		dtx_err_clear(&err);
	}
}

void test_read_json_arrays_of_cells(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	uint32_t n;

	expect("[[\"a\",\"b\"],[1,\"x\"],[2.50,null]]", "a:float,b:text\n1.0|x\n2.5|~\n");
	expect("[\"a\",null]\n[1,{\"q\":2}]\n[3,4]\n",
	       "a:int,column_2:int,column_2.q:int\n1|~|2\n3|4|~\n");
	expect("[[\"a\",\"a\"],[1,2]]", "a:int,a_2:int\n1|2\n");
	expect("[1,null,2]", "value:int\n1\n~\n2\n");
	opts.header_rows = 0;
	expect_with("[[1,2],[3,4]]", &opts, 0, true, "column_1:int,column_2:int\n1|2\n3|4\n");
	opts.ragged = DTX_RAGGED_PAD;
	for (n = 0; n < 3; n++)
		expect_with("[[1],[3,4],[]]", &opts, n, true,
		            "column_1:int,column_2:int\n1|~\n3|4\n~|~\n");
	opts.ragged = DTX_RAGGED_QUARANTINE;
	expect_with("[[1],[3,4]]", &opts, 0, true, "ragged_rows");
	opts.ragged = DTX_RAGGED_TRUNCATE;
	expect_with("[[1],[3,[4]]]", &opts, 0, true, "column_1:int\n1\n3\n");
}

void test_read_json_columns_of_arrays(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;

	expect("{\"a\":[1,2,3],\"b\":[\"x\",{\"c\":1},null]}",
	       "a:int,b:text,b.c:int\n1|x|~\n2|~|1\n3|~|~\n");
	opts.format = "json";
	expect_with("{\"a\":[1.50],\"b\":[\"\\u0041\"]}", &opts, 0, false,
	            "a:float,b:text\n1.50|A\n");
	expect("{\"a\":[1,2],\"b\":[3]}", "a:text,b:text\n[1,2]|[3]\n");
	opts.format = "jsonl";
	expect_with("{\"a\":[1,2]}", &opts, 0, true, "a:text\n[1,2]\n");
}

/* Tables that other programs write as one object. */
void test_read_json_shapes(void)
{
	static const char *const rows[][2] = {
		/* split: an index that only counts is not a column */
		{ "{\"columns\":[\"a\",\"b\"],\"index\":[0,1],\"data\":[[1,\"x\"],[2,\"y\"]]}",
		  "a:int,b:text\n1|x\n2|y\n" },
		{ "{\"columns\":[\"a\",null,3],\"index\":[\"r\",\"s\"],\"data\":[[1,2,{\"z\":5}],"
		  "[2,7,null]] }",
		  "index:text,a:int,column_3:int,3:null,3.z:int\nr|1|2|~|5\ns|2|7|~|~\n" },
		{ "{\"columns\":[\"index\"],\"index\":[\"r\"],\"data\":[[4]]}",
		  "index:text,index_2:int\nr|4\n" },
		{ "{\"n\":2,\"rows\":[[1,\"x\"]],\"columns\":[\"a\",\"b\"]}",
		  "a:int,b:text\n1|x\n" },
		{ "{\"columns\":[\"a\"],\"data\":[]}", "a:null\n" },
		/* other numbers of columns, other names: not such a table */
		{ "{\"columns\":[\"a\"],\"data\":[[1,2]]}", "columns:text,data:text\na|[1,2]\n" },
		{ "{\"columns\":[[\"a\",\"b\"]],\"data\":[[1]],\"x\":0}",
		  "columns:text,data:text,x:int\n[[\"a\",\"b\"]]|[[1]]|0\n" },
		/* keys outside of the records */
		{ "{\"p\":{\"n\":\"Ann\",\"k\":1},\"q\":{\"n\":\"Bob\"}, "
		  "\"r\":{\"k\":3,\"n\":null}}",
		  "key:text,n:text,k:int\np|Ann|1\nq|Bob|~\nr|~|3\n" },
		{ "{\"7\":{\"key\":1,\"l\":[1]},\"\\u0041\":{\"key\":2,\"l\":[]}}",
		  "key_2:text,key:int,l:text\n7|1|[1]\nA|2|[]\n" },
		{ "{\"0\":{\"a\":1,\"b\":\"x\"},\"1\":{\"a\":2,\"b\":\"y\"}}",
		  "key:text,a:int,b:text\n0|1|x\n1|2|y\n" },
		/* columns as objects: names that only count are not a column */
		{ "{\"a\":{\"0\":1,\"1\":2},\"b\":{\"0\":\"x\",\"1\":\"y\"}}",
		  "a:int,b:text\n1|x\n2|y\n" },
		{ "{\"a\":{\"r\":1,\"s\":2},\"b\":{\"r\":\"x\",\"s\":null}}",
		  "key:text,a:int,b:text\nr|1|x\ns|2|~\n" },
		/* objects that have little in common are one record */
		{ "{\"a\":{\"x\":1,\"y\":2},\"b\":{\"z\":3}}", "a.x:int,a.y:int,b.z:int\n1|2|3\n" },
		{ "{\"a\":{\"x\":1}}", "a.x:int\n1\n" },
		{ "{\"a\":{},\"b\":{}, \"c\":1}", "c:int\n1\n" },
		/* records deeper in the document */
		{ "{\"h\":{\"n\":2,\"h\":[{\"a\":1},{\"a\":2}]}}", "a:int\n1\n2\n" },
		{ "{\"h\":{\"v\":[[\"a\",\"b\"],[1,2]]},\"n\":1}", "a:int,b:int\n1|2\n" },
		{ "{\"h\":{\"v\":[[1,2]]},\"n\":1}", "h.v:text,n:int\n[[1,2]]|1\n" },
		{ "{\"h\":{\"v\":[{\"a\":1}]},\"n\":{\"w\":[{\"a\":2}]}}",
		  "h.v:text,n.w:text\n[{\"a\":1}]|[{\"a\":2}]\n" },
	};
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++)
		expect(rows[i][0], rows[i][1]);
	opts.format = "json";
	for (opts.records = ""; i-- > 0;)
		if (strstr(rows[i][0], "\"p\""))
			expect_with(rows[i][0], &opts, 0, true,
			            "p.n:text,p.k:int,q.n:text,r.k:int,r.n:null\nAnn|1|Bob|3|~\n");
	expect_with("{\"a\":[1,2],\"b\":[3,4]}", &opts, 0, true, "a:text,b:text\n[1,2]|[3,4]\n");
	opts.records = "/u";
	expect_with("{\"u\":{\"p\":{\"n\":1},\"q\":{\"n\":2}},\"t\":2}", &opts, 0, true,
	            "key:text,n:int\np|1\nq|2\n");
	opts.records = NULL;
	opts.json_lenient = true;
	expect_with("{\"p\":{\"n\":1,},\"q\":{\"n\":NaN,},}", &opts, 0, true,
	            "key:text,n:int\np|1\nq|~\n");
}

/* Where a cell of such a table is in the document. */
void test_read_json_shapes_place(void)
{
	static const char *const text[] = {
		"{\"columns\":[\"a\"],\n\"index\":[\"p\",\"q\"],\n\"data\":[[1],\n[\"x\"]]}",
		"{\"p\":{\"a\":1,\"b\":2},\n\n\n\"q\":\n{\"a\":\"x\",\"b\":3}}",
		"{\"a\":{\"0\":1,\n\"1\"\n:2,\n\"2\":\"x\"},\n\"b\":{\"0\":1,\"1\":2,\"2\":3}}",
		"{\"a\":[1,\n2,\n3,\"x\"],\n\"b\":[5,6,7,8]}",
	};
	static const char *const cell[] = { "L4", "L4", "L4", "L3" };
	struct dtx_read_type type = { "a", { .type = DTX_T_INT64 }, NULL, DTX_CAST_ERROR };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	size_t i;

	opts.format = "json";
	opts.types = &type;
	opts.ntypes = 1;
	for (i = 0; i < DTX_COUNT(text); i++) {
		struct dtx_buf in = DTX_BUF_INIT(1000), out = DTX_BUF_INIT(1000);
		struct dtx_err err = DTX_ERR_INIT;

		dtx_buf_add(&in, text[i]);
		T_CODE(bytes_dump("x.json", &in, &opts, 0, true, &out, &err), DTX_E_CAST_FAILED,
		       &err);
		T_STR(err.cell, cell[i]);
		dtx_buf_clear(&in);
		dtx_buf_clear(&out);
		dtx_err_clear(&err);
	}
}

void test_read_json_records_pointer(void)
{
	static const char text[] = "{\"n\":[{\"z\":0}],\"d\":{\"a/b\":[{\"x\":1},{\"x\":2}],"
				   "\"c\":{\"y\":[5,6]},\"s\":7}}";
	static const struct {
		const char *records, *want;
	} row[] = {
		{ "/d/a~1b", "x:int\n1\n2\n" }, { "/d/c", "y:int\n5\n6\n" },
		{ "/n/0", "z:int\n0\n" },       { "/d/s", "no_record" },
		{ "/d/x", "no_record" },        { "d", "no_record" },
	};
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	size_t i;

	opts.format = "json";
	for (i = 0; i < DTX_COUNT(row); i++) {
		opts.records = row[i].records;
		expect_with(text, &opts, 0, true, row[i].want);
	}
	opts.records = "/d";
	expect_with("{\"d\":1} {\"d\":2}", &opts, 0, true, "corrupt_file");
	expect_with("{\"d\":[{\"x\":1}],\"d\":[{\"x\":2}]}", &opts, 0, true, "corrupt_file");
	opts.duplicate_keys = DTX_KEYS_FIRST;
	expect_with("{\"d\":[{\"x\":1}],\"d\":[{\"x\":2}]}", &opts, 0, true, "x:int\n1\n");
	opts.duplicate_keys = DTX_KEYS_LAST;
	expect_with("{\"d\":[{\"x\":1}],\"d\":[{\"x\":2}]}", &opts, 0, true, "x:int\n2\n");
}

void test_read_json_duplicate_keys(void)
{
	static const char text[] = "{\"a\":1,\"b\":3,\"a\":\"x\"}\n{\"b\":4,\"b\":null}";
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	uint32_t n;

	for (n = 0; n < 3; n++) {
		opts.duplicate_keys = DTX_KEYS_FIRST;
		expect_with(text, &opts, n, true, "a:int,b:int\n1|3\n~|4\n");
		opts.duplicate_keys = DTX_KEYS_LAST;
		expect_with(text, &opts, n, true, "a:text,b:int\nx|3\n~|~\n");
	}
}

void test_read_json_lenient(void)
{
	static const struct {
		const char *json, *want;
	} row[] = {
		{ "[{\"a\":NaN},{\"a\":-Infinity,},]", "a:null\n~\n~\n" },
		{ "{\"a\":\"\\ud800x\\q\t\"}", "a:text\n\xef\xbf\xbdx\\q\t\n" },
		{ "{\"a\":1}\nno json\n{\"a\":\n{\"a\":3}\n", "a:int\n1\n3\n" },
		{ "[{\"a\":1},{\"a\":2},{\"a\":\"x", "a:int\n1\n2\n" },
		{ "[[\"a\",],[1,],[\"x\"", "a:int\n1\n" },
		{ "[{\"a\":1},{\"a\":x},{\"a\":2}, {\"a\":3}]", "corrupt_file" },
		{ "[{\"a\":1}] [{\"a\":2}]", "corrupt_file" },
		{ "{\"a\":1}\n5\n", "a:int,value:int\n1|~\n~|5\n" },
		{ "{\"n\":NaN,\"d\":[{\"a\":1},],}", "a:int\n1\n" },
		{ "{\"a\":[1,],\"b\":[2],}", "a:int,b:int\n1|2\n" },
		{ "{\"d\":[{\"a\":1}", "corrupt_file" },
	};
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	size_t i;
	uint32_t n;

	opts.format = "json";
	opts.json_lenient = true;
	for (i = 0; i < DTX_COUNT(row); i++)
		for (n = 0; n < 3; n++)
			expect_with(row[i].json, &opts, n, true, row[i].want);
}

/* Finding the records is as lenient as reading them, and repairs outside of them are reported. */
void test_read_json_lenient_pointer(void)
{
	static const char text[] = "{\"n\":NaN,\n\"d\":[{\"a\":NaN},{\"a\":1}],}";
	static const char *const records[] = { NULL, "/d" };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	struct dtx_err err = DTX_ERR_INIT;
	size_t i;

	opts.format = "json";
	opts.json_lenient = true;
	T_OK(dtx_source_bytes("x.json", text, strlen(text), &src, &err), &err);
	for (i = 0; i < DTX_COUNT(records); i++) {
		opts.records = records[i];
		expect_with(text, &opts, 0, true, "a:int\n~\n1\n");
		T_OK(dtx_reader_open(src, &opts, &r, &err), &err);
		T_STR(r->diags.item[r->diags.n - 1].cell, "L1");
		T_INT(r->diags.item[r->diags.n - 1].count, 3);
		dtx_reader_close(r);
	}
	dtx_source_free(src);
}

/* What is left out is reported, counted, and in the ledger. */
void test_read_json_lenient_ledger(void)
{
	static const char text[] = "{\"a\":1}\nx\ny\n{\"a\":NaN}\n";
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf out = DTX_BUF_INIT(1 << 20);
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	struct dtx_err err = DTX_ERR_INIT;

	opts.json_lenient = true;
	T_OK(dtx_source_bytes("x.jsonl", text, strlen(text), &src, &err), &err);
	T_OK(dtx_reader_open(src, &opts, &r, &err), &err);
	T_OK(table_dump(r, 2, true, &out, &err), &err);
	T_INT(r->diags.n, 2);
	T_STR(r->diags.item[0].cell, "L4");
	T_STR(r->diags.item[1].msg,
	      "'x.jsonl': records that are no JSON, left out: 2, first at line 2");
	T_INT(r->stats.rows_read, 4);
	T_INT(r->stats.dropped[DTX_DROP_REJECT], 2);
	T_CHECK(dtx_read_stats_add_up(&r->stats));
	dtx_reader_close(r);
	dtx_source_free(src);
	dtx_buf_clear(&out);
}

/* The remedy of a refusal is named only if it helps. */
void test_read_json_advice(void)
{
	static const struct {
		const char *json, *more;
	} row[] = {
		{ "{\"a\":NaN}", "\"syntax\":\"lenient\"" },
		{ "{\"a\":1,\"a\":2}", "\"duplicate_keys\":\"last\"" },
		{ "[{\"a\":1}] [{\"a\":2}]", NULL },
	};
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	size_t i;

	for (i = 0; i < DTX_COUNT(row); i++) {
		struct dtx_buf in = DTX_BUF_INIT(1000), out = DTX_BUF_INIT(1000);
		struct dtx_err err = DTX_ERR_INIT;

		dtx_buf_add(&in, row[i].json);
		T_CODE(bytes_dump("x.json", &in, &opts, 0, true, &out, &err), DTX_E_CORRUPT_FILE,
		       &err);
		T_CHECK(row[i].more ? err.more && strstr(err.more, row[i].more) : !err.more);
		dtx_buf_clear(&in);
		dtx_buf_clear(&out);
		dtx_err_clear(&err);
	}
}

/* --- comparison with another parser --- */

/* Whether jansson reads the text as one document of records.  Both require unique keys in a record;
 * only jansson requires them inside of what stays JSON text, and the seeds have none of that. */
static bool jansson_takes(const char *text, size_t len)
{
	json_t *v = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	size_t i, n = json_array_size(v), objects = 0, members = 0;

	for (i = 0; i < n; i++) {
		objects += json_is_object(json_array_get(v, i));
		members += json_object_size(json_array_get(v, i));
	}
	json_decref(v);
	return n && objects == n && members;
}

static bool dtx_takes(const char *text, size_t len)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf in = { (char *)(uintptr_t)text, len, len, len, DTX_BUF_FINE };
	struct dtx_buf out = DTX_BUF_INIT(1 << 20);
	bool ok;

	opts.format = "json";
	ok = bytes_dump("x.json", &in, &opts, 0, true, &out, NULL) == DTX_OK;
	dtx_buf_clear(&out);
	return ok;
}

/* Seeds with bytes changed, doubled and cut: both parsers must agree about each.  jansson refuses
 * numbers that no double can hold, and dtx does not; jansson refuses keys with NUL, and so does
 * dtx; no seed comes close to that. */
void test_read_json_verdicts_as_jansson(void)
{
	static const char *const seed[] = {
		"[{\"a\":1,\"b\":\"x\"},{\"a\":-2.5e1,\"c\":null}]",
		"[{\"k\":{\"a\":true,\"b\":{\"c\":[1,[2]]}},\"l\":false}]",
		"[ {\"s\":\"\\u00e9\\ud83d\\ude00\\n\\\"\"} , {\"s\":\"\xc3\xa9\"} ]",
	};
	static const char odd[] = "[]{}\",:\\0e.-nut \n\x01\xff";
	uint32_t state = 1, i, k;
	int taken = 0;

	for (i = 0; i < 3000; i++) {
		char text[128];
		size_t len = strlen(seed[i % 3]);
		bool takes;

		memcpy(text, seed[i % 3], len);
		for (k = 0; k <= i % 2; k++) {
			size_t at, to;

			state = state * 1664525u + 1013904223u;
			at = (state >> 8) % len;
			to = (state >> 20) % (sizeof(odd) - 1);
			if (state % 7 == 0)
				len = at + 1;
			else if (state % 5 == 0)
				memmove(text + at, text + at + 1, --len - at);
			else
				text[at] = odd[to];
		}
		takes = dtx_takes(text, len);
		if (jansson_takes(text, len) != takes)
			t_fail(__FILE__, __LINE__, "they differ on %.*s", (int)len, text);
		taken += takes;
	}
	T_CHECK(taken > 100);
}

void test_read_json_depth(void)
{
	struct dtx_buf in = DTX_BUF_INIT(1 << 24);
	int i;

	dtx_buf_add(&in, "{\"a\":");
	for (i = 0; i < 1000000; i++)
		dtx_buf_addc(&in, '[');
	expect(dtx_buf_text(&in), "corrupt_file");
	dtx_buf_clear(&in);
}

void test_read_json_position_names_line(void)
{
	struct dtx_read_type type = { "a", { .type = DTX_T_INT64 }, NULL, DTX_CAST_ERROR };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf in = DTX_BUF_INIT(1000), out = DTX_BUF_INIT(1000);
	struct dtx_err err = DTX_ERR_INIT;

	opts.types = &type;
	opts.ntypes = 1;
	dtx_buf_add(&in, "{\"a\":1}\n\n{\"a\":\n\"x\"}\n");
	T_CODE(bytes_dump("x.jsonl", &in, &opts, 0, true, &out, &err), DTX_E_CAST_FAILED, &err);
	T_STR(err.cell, "L3");
	T_STR(err.column, "a");
	dtx_buf_clear(&in);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
}

void test_json_sniffs_tokens(void)
{
	T_CHECK(dtx_jscan_tokens("{\"a\": [1, true, nul", 19));
	T_CHECK(dtx_jscan_tokens("{\"a\": [\"cut", 11));
	T_CHECK(dtx_jscan_tokens("[1,2e", 5));
	T_CHECK(!dtx_jscan_tokens("[id],[name],[some other thing here]", 35));
	T_CHECK(!dtx_jscan_tokens("[id],n\n1,2\n", 11));
	T_CHECK(!dtx_jscan_tokens("[name],x\n1,2\n", 13));
}

static enum dtx_code json_once(const char *name, const char *json, enum dtx_keys keys)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf in = DTX_BUF_INIT(1000), out = DTX_BUF_INIT(1000);
	enum dtx_code rc = DTX_E_NO_MEMORY;

	dtx_buf_add(&in, json);
	opts.duplicate_keys = keys;
	opts.ragged = DTX_RAGGED_PAD;
	if (dtx_buf_ok(&in))
		rc = bytes_dump(name, &in, &opts, 0, true, &out, NULL);
	if (rc == DTX_OK && !dtx_buf_ok(&out))
		rc = DTX_E_NO_MEMORY;
	dtx_buf_clear(&in);
	dtx_buf_clear(&out);
	return rc;
}

void test_read_json_every_alloc_fails(void)
{
	T_EVERY_ALLOC_FAILS(
		json_once("x.jsonl", "{\"a\":1,\"b\":{\"c\":\"\\n\"}}\n{\"a\":2}", DTX_KEYS_ERROR));
	T_EVERY_ALLOC_FAILS(json_once("x.jsonl", "{\"a\":1,\"a\":2}", DTX_KEYS_LAST));
	T_EVERY_ALLOC_FAILS(json_once("x.jsonl", "[[\"a\",\"a\"],[1,2,3]]", DTX_KEYS_ERROR));
	T_EVERY_ALLOC_FAILS(
		json_once("x.jsonl", "{\"a\":[1,{\"c\":1}],\"b\":[3,4]}", DTX_KEYS_ERROR));
	T_EVERY_ALLOC_FAILS(json_once("x", "{\"a\":[1,{\"c\":1}],\"b\":[3,4]}", DTX_KEYS_ERROR));
	T_EVERY_ALLOC_FAILS(json_once("x", "{\"columns\":[\"a\"],\"index\":[\"r\"],\"data\":[[4]]}",
	                              DTX_KEYS_ERROR));
	T_EVERY_ALLOC_FAILS(json_once("x", "{\"columns\":[\"a\"],\"data\":[[4]]}", DTX_KEYS_ERROR));
	T_EVERY_ALLOC_FAILS(json_once("x", "{\"p\":{\"n\":1},\"q\":{\"n\":2}}", DTX_KEYS_ERROR));
	T_EVERY_ALLOC_FAILS(
		json_once("x", "{\"a\":{\"0\":1},\"b\":{\"0\":\"x\"}}", DTX_KEYS_ERROR));
	T_EVERY_ALLOC_FAILS(json_once("x", "{\"h\":{\"h\":[{\"a\":1}]}}", DTX_KEYS_ERROR));
	T_EVERY_ALLOC_FAILS(
		json_once("x", "{\"h\":[[1],[2]],\"i\":{\"b\":[{\"a\":1}],\"c\":[{\"a\":1}]}}",
	                  DTX_KEYS_ERROR));
}
