/* Which reader reads which bytes, and what is reported for formats that no reader reads. */
#include "core/io/reader.h"

#include "tests/t.h"

static void expect_bytes(const char *name, const char *bytes, size_t len, const char *format,
                         const char *want, const char *hint)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	struct dtx_err err = DTX_ERR_INIT;

	opts.format = format;
	T_OK(dtx_source_bytes(name, bytes, len, &src, &err), &err);
	if (dtx_reader_open(src, &opts, &r, &err) == DTX_OK)
		T_STR(r->cls->name, want);
	else
		T_STR(dtx_code_name(err.code), want);
	T_CHECK(strstr(err.hint, hint) != NULL);
	dtx_reader_close(r);
	dtx_source_free(src);
	dtx_err_clear(&err);
}
#define EXPECT_BYTES(name, bytes, want, hint)                                                      \
	expect_bytes((name), (bytes), sizeof(bytes) - 1, NULL, (want), (hint))

void test_reader_is_chosen_by_content(void)
{
	EXPECT_BYTES("x.txt", "a,b\n1,2\n", "csv", "");
	EXPECT_BYTES("x", "{\"a\":1}\n{\"a\":2}\n", "json", "");
	EXPECT_BYTES("x", "\x1e{\"a\":1}\n\x1e{\"a\":2}\n", "json", "");
	EXPECT_BYTES("x.json", "[{\"a\":1}]", "json", "");
	EXPECT_BYTES("x.json", "\xff\xfe[\0{\0\"\0a\x04\"\0:\0001\0}\0]\0", "json", "");
	EXPECT_BYTES("x.json", "\xfe\xff\0[\0001\0]", "json", "");
	EXPECT_BYTES("x.csv", "\xff\xfe[\0i\0d\0]\0,\0n\0\n\0001\0,\0002\0\n\0", "csv", "");
	expect_bytes("x", "{\"a\":1}", 7, "jsonl", "json", "");
	expect_bytes("x", "a", 1, "parquet", "corrupt_file", "");
	expect_bytes("x", "a", 1, "orc", "unsupported_format", "");
	EXPECT_BYTES("x", "\x02\x03\xff\x04\x05\xfe", "unsupported_format", "\"format\": \"csv\"");
	/* a text with a delimiter that databases use, in any encoding */
	EXPECT_BYTES("x", "a\001b\n1\001\xfc\n", "bad_encoding", "windows-125");
}

/* The suffix names the format: content that contradicts it is an error, or is read with a note. */
void test_reader_believes_a_suffix(void)
{
	EXPECT_BYTES("x.csv", "{\"a\":1}\n{\"a\":2}\n", "corrupt_file", "\"format\": \"json\"");
	EXPECT_BYTES("x.tsv.gz", "[[\"a\"],[1]]", "corrupt_file", "\"format\": \"json\"");
	EXPECT_BYTES("x.csv", "[x],y\n[1],2\n", "csv", "");
	EXPECT_BYTES("x.json", "[{'a': 1}]", "corrupt_file", "json.dumps");
	EXPECT_BYTES("x.json", "f([{\"a\":1}]);", "corrupt_file", "leave out the call");
	EXPECT_BYTES("x.JSONL", "# c\n{\"a\":1}\n", "corrupt_file", "no comments");
	EXPECT_BYTES("x.ndjson", "{\"a\":1}\n// c\n", "corrupt_file", "no comments");
	EXPECT_BYTES("x.json", "<html><table>", "corrupt_file", "a page");
	EXPECT_BYTES("x.json", "a,b\n1,2\n", "corrupt_file", "\"format\": \"csv\"");
	EXPECT_BYTES("x.json", "PK\x03\x04 cut", "corrupt_file", "\"format\": \"xlsx\"");
	EXPECT_BYTES("x.json", "PAR1....", "corrupt_file", "\"format\": \"parquet\"");
	EXPECT_BYTES("x.json", "\x02\x03\xff\x04\x05\xfe", "corrupt_file", "");
	EXPECT_BYTES("x.jsonl", "\x1e{\"a\":1}\n\x1e{\"a\":2}\n", "json", "");
	EXPECT_BYTES("x.xls", "a\tb\n1\t2\n", "csv", "");
}

void test_reader_names_the_way_out(void)
{
	EXPECT_BYTES("p.parquet", "PAR1....", "corrupt_file", "");
	EXPECT_BYTES("p.arrow", "ARROW1..", "corrupt_file", "");
	EXPECT_BYTES("p.csv.gz", "\x1f\x8b\x08rest", "corrupt_file", "gzip -t 'p.csv.gz'");
	EXPECT_BYTES("p.pdf", "%PDF-1.7", "unsupported_format", "table");
	EXPECT_BYTES("p.xls", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 Workbook", "corrupt_file", "");
	EXPECT_BYTES("p.xls", "\x09\x04\x06\x00\x00\x00\x10\x00\x00\x00", "unsupported_format",
	             "soffice --convert-to xlsx 'p.xls'");
	EXPECT_BYTES("p.xls", " <html><table>", "unsupported_format", "save");
	EXPECT_BYTES("p.xls", "\xef\xbb\xbf\r\n<!DocType html>", "unsupported_format", "save");
	EXPECT_BYTES("p.xls", "<style>td{}</style>\n<TABLE>", "unsupported_format", "save");
	EXPECT_BYTES("p.xls", "\xff\xfe<\0?\0x\0m\0l\0 \0", "unsupported_format", "save");
	EXPECT_BYTES("p.xls", "\xfe\xff\0<\0T\0a\0b\0l\0e\0>", "unsupported_format", "save");
	EXPECT_BYTES("p.xls", "MIME-Version: 1.0\r\n", "unsupported_format", "save");
	EXPECT_BYTES("p.csv", "<DATE>,<OPEN>\n2024-01-02,1\n", "csv", "");
	EXPECT_BYTES("p.xlsx", "PK\x03\x04 cut", "corrupt_file", "");
}

void test_reader_names_all_drops(void)
{
	int i;

	for (i = 0; i < DTX_DROP_COUNT; i++)
		T_CHECK(dtx_drop_name[i] != NULL);
}

/* A member that the format does not use is reported. */
void test_reader_notes_idle_members(void)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	struct dtx_err err = DTX_ERR_INIT;

	opts.records = "/a";
	opts.skip = 1;
	opts.trim = opts.mixed = true;
	T_OK(dtx_source_bytes("x.json", "{\"a\":[\n{\"b\":1}]}", 16, &src, &err), &err);
	T_OK(dtx_reader_open(src, &opts, &r, &err), &err);
	T_INT(r->diags.n, 1);
	T_STR(r->diags.item[0].msg,
	      "'x.json' is read as json, which has no use for \"dialect\", \"skip\"");
	dtx_reader_close(r);
	opts.format = "csv";
	T_OK(dtx_reader_open(src, &opts, &r, &err), &err);
	T_STR(r->diags.item[r->diags.n - 1].msg,
	      "'x.json' is read as csv, which has no use for \"records\"");
	dtx_reader_close(r);
	dtx_source_free(src);
}
