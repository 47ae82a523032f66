/* Inputs that can be read only once: the same table as if they are read whole, wherever they are
 * cut. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/hash/hash.h"
#include "core/data/frame/rawgrid.h"
#include "core/io/source/stream_reader.h"
#include "core/io/source/record_chunker.h"
#include "tests/unit/csv_dump.h"

struct once_how {
	const char *delimiter;
	int header_rows;
	enum dtx_ragged ragged;
	const char *comment, *escape;
	unsigned workers;
	uint32_t bytes;
};

static const struct dtx_read_type once_types[] = {
	{ .name = "a", .type = { DTX_T_TEXT, 0, 0 } },
	{ .name = "b", .type = { DTX_T_TEXT, 0, 0 } },
};
static const struct dtx_read_type once_numbers[] = {
	{ .name = "column_1", .type = { DTX_T_INT64, 0, 0 } },
	{ .name = "column_2", .type = { DTX_T_TEXT, 0, 0 } },
};

static struct dtx_read_opts once_opts(const struct once_how *how, bool stream)
{
	struct dtx_read_opts o = DTX_READ_OPTS_INIT;

	o.format = "csv";
	o.delimiter = how->delimiter ? how->delimiter : ",";
	o.quote = "\"";
	o.header_rows = how->header_rows;
	o.ragged = how->ragged;
	o.comment = how->comment;
	o.escape = how->escape;
	o.types = how->header_rows ? once_types : once_numbers;
	o.ntypes = 2;
	o.stream = stream;
	o.once_bytes = how->bytes;
	return o;
}

/* A pipe that contains the text and ends, because stdin does not belong to the test. */
static enum dtx_code once_source(const char *text, struct dtx_source **out, struct dtx_err *err)
{
	char path[64];
	int fd[2];
	enum dtx_code rc = DTX_OK;

	T_INT(pipe2(fd, O_CLOEXEC), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd[0]);
	DTX_TRY(dtx_file_write(fd[1], text, strlen(text), "pipe", err));
	dtx_file_close(&fd[1]);
	DTX_TRY(dtx_source_stream(path, out, err));
out:
	dtx_file_close(&fd[0]);
	dtx_file_close(&fd[1]);
	return rc;
}

static enum dtx_code once_read(const char *text, const struct dtx_read_opts *o, unsigned workers,
                               struct dtx_buf *out, struct dtx_err *err)
{
	struct dump_how how = { .opts = *o, .workers = workers, .places = true };
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	enum dtx_code rc = DTX_OK;

	if (o->stream)
		DTX_TRY(once_source(text, &src, err));
	else
		DTX_TRY(dtx_source_bytes("t.csv", text, strlen(text), &src, err));
	DTX_TRY(dtx_reader_open(src, o, &r, err));
	DTX_TRY(dump_read(r, &how, out, err));
	dtx_buf_printf(out, "%lld rows, %lld blank, %lld header, %lld rejects\n",
	               (long long)r->stats.rows_out, (long long)r->stats.dropped[DTX_DROP_BLANK],
	               (long long)r->stats.dropped[DTX_DROP_HEADER],
	               (long long)r->stats.dropped[DTX_DROP_REJECT]);
	T_CHECK(dtx_read_stats_add_up(&r->stats));
	for (size_t i = 0; i < r->diags.n; i++)
		dtx_buf_printf(out, "%s %lld%s\n", r->diags.item[i].cell,
		               (long long)r->diags.item[i].count,
		               strchr(r->diags.item[i].msg, ':'));
out:
	dtx_reader_close(r);
	dtx_source_free(src);
	return rc;
}

/* Reads a text whole, and as a stream that is cut at many places: the same cells, places, counts
 * and notes. */
static void once_same(const char *text, struct once_how how)
{
	struct dtx_buf whole = DTX_BUF_INIT(DUMP_MAX), got = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_read_opts o = once_opts(&how, false);
	unsigned wrong = 0;

	T_OK(once_read(text, &o, 1, &whole, &err), &err);
	for (how.bytes = 1; how.bytes < 40; how.bytes += 3) {
		/* the first chunk must contain the header */
		uint32_t bytes = how.bytes;

		o = once_opts(&how, true);
		o.once_bytes = bytes + 16;
		dtx_buf_reset(&got);
		T_OK(once_read(text, &o, 1 + how.bytes % 2, &got, &err), &err);
		wrong += strcmp(dtx_buf_text(&got), dtx_buf_text(&whole)) != 0;
		if (wrong == 1)
			T_STR(dtx_buf_text(&got), dtx_buf_text(&whole));
	}
	T_INT(wrong, 0);
	dtx_buf_clear(&whole);
	dtx_buf_clear(&got);
}

void test_stream_reader_reads_as_a_whole(void)
{
	struct once_how how = { .header_rows = 1 };

	once_same("a,b\n1,2\n3,4\n5,6", how);
	once_same("a,b\n1,\"x\ny\"\n2,\"q\"\"q\"\n\n3,\"\"\n4,é\n5,\"a,b\"\n", how);
	once_same("a,b\r\n1,\"x\r\ny\"\r\n\r\n2,z\r\n3,\r\n", how);
	once_same("a,b\r1,2\r3,4\r5,6\r", how);
	once_same("\xef\xbb\xbf"
	          "a,b\n1,2\n3,4\n",
	          how);
	once_same("a,b\n1,x\"y\n2,\"z\"\n3,4\"\n5,6\n7,8\n", how); /* irregular, so it is read
	                                                            * without the scanner */
	once_same("a,b\n1,2\n3,4\n5,6\n7,8\n9,0\n\x1a", how);      /* a note about the last chunk */
	how.ragged = DTX_RAGGED_QUARANTINE;
	once_same("a,b\n1,2\n3\n4,5,6\n7,8\n9\n", how);
	how.ragged = DTX_RAGGED_TRUNCATE;
	once_same("a,b\n1,2\n3\n4,5,6\n7,8,,\n9\n", how);
}

void test_stream_reader_reads_other_dialects(void)
{
	struct once_how how = { .header_rows = 1, .delimiter = "||" };

	once_same("a||b\n1||2\n3||\"4||\n\"\n5||6\n", how);
	how.delimiter = ";";
	how.escape = "\\";
	once_same("a;b\n1;\"x\\\"y\"\n2;\"\\\"\n\"\n3;4\n", how);
	how.escape = NULL;
	how.comment = "#";
	once_same("a;b\n#c\n1;2\n# d;e\n3;4\n", how);
	how = (struct once_how){ .header_rows = 0 };
	once_same("1,2\n3,4\n5,\"6\n\"\n7,8\n", how);
}

static void once_fails(const char *text, const struct dtx_read_opts *o, enum dtx_code code,
                       const char *part)
{
	struct dtx_buf got = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;

	T_CODE(once_read(text, o, 1, &got, &err), code, &err);
	if (!strstr(err.msg, part))
		T_STR(err.msg, part);
	if (part[0] == 'L')
		T_CHECK(err.cell[0] && strncmp(err.cell, part, strlen(err.cell)) == 0);
	dtx_err_clear(&err);
	dtx_buf_clear(&got);
}

void test_stream_reader_refuses_what_it_cannot_know(void)
{
	struct once_how how = { .header_rows = 1, .bytes = 16 };
	struct dtx_read_opts o = once_opts(&how, true);

	once_fails("", &o, DTX_E_EMPTY_INPUT, "is empty");
	once_fails("\x1f\x8b\b\n", &o, DTX_E_UNSUPPORTED_FORMAT, "not unpacked");
	once_fails("a,b\n1,2\n3,4\n5,6\n7\n8,9\n", &o, DTX_E_RAGGED_ROWS, "L5 (byte 16) has 1");
	once_fails("a,b\n1,2\n3,4\n5,6\n7,\"8\n9,1\n", &o, DTX_E_UNTERMINATED_QUOTE, "at L5");
	once_fails("a,b\n1,2\n3,4\n5,6\n7,\xff\n9,1\n", &o, DTX_E_BAD_ENCODING, "byte FF at L5");
	once_fails("a,b,c\n1,2,3\n", &o, DTX_E_MISSING_PARAM, "lacks those of 1: 'c'");
	o.ragged = DTX_RAGGED_PAD;
	once_fails("a,b\n", &o, DTX_E_PARAM_CONFLICT, "widest");
	o = once_opts(&how, true);
	o.ragged = DTX_RAGGED_QUARANTINE;
	o.max_rejects = 1;
	once_fails("a,b\n1,2\n3,4\n5\n1,2\n3,4\n5,6\n7,8\n9\n1,2\n3,4\n5,6\n7,8\n", &o,
	           DTX_E_RAGGED_ROWS, "more than 1 row has another width");
	o = once_opts(&how, true);
	o.delimiter = NULL;
	once_fails("a,b\n", &o, DTX_E_MISSING_PARAM, "delimiter");
	o.format = NULL;
	once_fails("a,b\n", &o, DTX_E_MISSING_PARAM, "format");
}

/* The first column gets no name if all names begin with the same text: later parts may begin
 * differently. */
void test_stream_reader_columns_that_end(void)
{
	static const struct dtx_read_type types[] = {
		{ .name = "column_1", .type = { DTX_T_TEXT, 0, 0 } },
		{ .name = "a", .type = { DTX_T_TEXT, 0, 0 } },
		{ .name = "b", .type = { DTX_T_TEXT, 0, 0 } },
	};
	struct once_how how = { .header_rows = 1, .bytes = 16 };
	struct dtx_read_opts o = once_opts(&how, true);

	o.types = types;
	o.ntypes = DTX_COUNT(types);
	once_fails("a,b\nx,1,2\ny,3,4\n7,5,6\n7,1,2\n7,3,4\n7,5,6\n", &o, DTX_E_MISSING_COLUMN,
	           "has no column 'column_1'");
}

/* A record that does not end, in a file that is read as a stream. */
void test_stream_reader_record_too_large(void)
{
	struct once_how how = { .header_rows = 1, .bytes = 16 };
	struct dtx_read_opts o = once_opts(&how, true);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_buf got = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	struct dump_how dump = { .opts = o, .workers = 1 };
	char path[64];
	int fd = memfd_create("long", MFD_CLOEXEC);
	enum dtx_code rc = DTX_OK;

	T_OK(dtx_file_write(fd, "a,b\n1,2\n3,\"", 11, "long", &err), &err);
	T_CHECK(ftruncate(fd, (off_t)DTX_RECORD_CHUNKER_MOST + 100) == 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	DTX_TRY(dtx_source_stream(path, &src, &err));
	DTX_TRY(dtx_reader_open(src, &o, &r, &err));
	DTX_TRY(dump_read(r, &dump, &got, &err));
out:
	T_CODE(rc, DTX_E_INPUT_LIMIT, &err);
	T_CHECK(strstr(err.msg, "the record at L3 (byte 8) is larger than 32 MiB"));
	T_STR(err.cell, "L3");
	dtx_reader_close(r);
	dtx_source_free(src);
	dtx_file_close(&fd);
	dtx_buf_clear(&got);
	dtx_err_clear(&err);
}

void test_stream_reader_has_no_cells_to_hand_over(void)
{
	struct dtx_read_opts o = DTX_READ_OPTS_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *src = NULL;
	struct dtx_rawgrid g;

	dtx_rawgrid_init(&g);
	T_OK(once_source("a,b\n1,2\n", &src, &err), &err);
	T_CODE(dtx_reader_raw(src, &o, &g, &err), DTX_E_PARAM_CONFLICT, &err);
	T_CHECK(strstr(err.msg, "is a stream: its cells have passed"));
	dtx_rawgrid_clear(&g);
	dtx_source_free(src);
	dtx_err_clear(&err);
}

void test_stream_reader_starts_once(void)
{
	struct once_how how = { .header_rows = 1 };
	struct dtx_read_opts o = once_opts(&how, true);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	struct dtx_batch *b = NULL;
	uint8_t need[2] = { DTX_NEED_BYTES, DTX_NEED_BYTES };
	struct dtx_scan scan = { .need = need, .limit = -1, .workers = 1 };
	char hex[DTX_IDENTITY_TEXT], want[DTX_SHA256_HEX];
	bool more = true;

	T_OK(once_source("a,b\n1,2\n", &src, &err), &err);
	T_OK(dtx_reader_open(src, &o, &r, &err), &err);
	T_OK(r->cls->schema(r, &scan.schema, &err), &err);
	T_OK(r->cls->start(r, &scan, &err), &err);
	while (more) {
		T_OK(r->cls->next(r, 0, &b, &err), &err);
		more = b != NULL;
		dtx_batch_free(b);
	}
	T_CODE(r->cls->start(r, &scan, &err), DTX_E_PARAM_CONFLICT, &err);
	dtx_sha256_hex("a,b\n1,2\n", 8, want);
	T_OK(dtx_source_hash_wait(src, hex, &err), &err);
	T_STR(hex, want);
	T_INT(dtx_source_size(src), 8);
	dtx_err_clear(&err);
	dtx_reader_close(r);
	dtx_source_free(src);
}

static struct dtx_read_opts once_lines(uint32_t bytes)
{
	static const struct dtx_read_type types[] = {
		{ .name = "n", .type = { DTX_T_INT64, 0, 0 } },
		{ .name = "s.t", .type = { DTX_T_TEXT, 0, 0 } },
	};
	struct dtx_read_opts o = DTX_READ_OPTS_INIT;

	o.format = "jsonl";
	o.extra = DTX_EXTRA_DROP;
	o.types = types;
	o.ntypes = 2;
	o.stream = true;
	o.once_bytes = bytes;
	return o;
}

void test_stream_reader_reads_json_lines(void)
{
	static const char text[] = "{\"n\":1,\"s\":{\"t\":\"x\"}}\n\n \n{\"n\":2,\"q\":[1]}\n"
				   "{\"s\":{\"t\":\"y\\n\"}}\n\n";
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_read_opts o;

	for (uint32_t bytes = 1; bytes < 60; bytes += 7) {
		struct dtx_buf got = DTX_BUF_INIT(DUMP_MAX);

		o = once_lines(bytes);
		T_OK(once_read(text, &o, 1 + bytes % 2, &got, &err), &err);
		T_STR(dtx_buf_text(&got), "n:int|s.t:text\n0@0:1|x\n3@25:2|~\n4@41:~|y\n\n"
		                          "3 rows, 0 blank, 0 header, 0 rejects\n");
		dtx_buf_clear(&got);
	}
	o = once_lines(8);
	once_fails("{\"n\":1}\n{\"s\":{\"t\":\"\"}}\n{\"n\":\n", &o, DTX_E_CORRUPT_FILE, "line 4");
	once_fails("{\"n\":1}\n{\"n\":2}\n{\"s\":\"\xff\"}\n", &o, DTX_E_BAD_ENCODING,
	           "byte FF at L3");
	once_fails("{\"n\":1}\n[2]\n", &o, DTX_E_CORRUPT_FILE, "L2 has not");
	once_fails("{\"n\":1}\n{\"n\":2}\n", &o, DTX_E_MISSING_COLUMN, "no record has 's.t'");
	once_fails("\n\n", &o, DTX_E_EMPTY_INPUT, "is empty");
	once_fails("\x1f\x8b\b\n", &o, DTX_E_UNSUPPORTED_FORMAT, "not unpacked");
	o.extra = DTX_EXTRA_ALLOW;
	once_fails("{}\n", &o, DTX_E_PARAM_CONFLICT, "declared columns");
}

void test_stream_reader_out_of_memory(void)
{
	struct once_how how = { .header_rows = 1, .bytes = 20, .ragged = DTX_RAGGED_QUARANTINE };
	struct dtx_read_opts csv = once_opts(&how, true), json = once_lines(20);
	struct dtx_buf got = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;

	T_EVERY_ALLOC_FAILS(
		once_read("a,b\n1,2\n3\n4,\"5\n\"\n6,7\n8,9\n1,2\n", &csv, 1, &got, &err));
	T_EVERY_ALLOC_FAILS(
		once_read("{\"n\":1,\"s\":{\"t\":\"x\"}}\n{\"n\":2}\n", &json, 1, &got, &err));
	dtx_err_clear(&err);
	dtx_buf_clear(&got);
}
