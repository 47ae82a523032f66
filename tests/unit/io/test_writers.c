/* JSON, text and workbook writers: a small table of every type is written and read back. */
#include <errno.h>

#include "core/base/thread/cancel.h"
#include "core/data/builder.h"
#include "core/data/time/time.h"
#include "core/io/sheet/book_info.h"
#include "core/io/write/writer.h"
#include "tests/t.h"
#include "tests/unit/bookmake.h"

enum { NFIELDS = 7 };
static const struct dtx_field fields[NFIELDS] = {
	{ .name = "id", .type = { .type = DTX_T_INT64 } },
	{ .name = "x\"y", .type = { .type = DTX_T_FLOAT64 } },
	{ .name = "ok", .type = { .type = DTX_T_BOOL } },
	{ .name = "d", .type = { .type = DTX_T_DATE } },
	{ .name = "t", .type = { .type = DTX_T_DATETIME } },
	{ .name = "m", .type = { .type = DTX_T_DECIMAL, .precision = 20, .scale = 2 } },
	{ .name = "s", .type = { .type = DTX_T_TEXT } },
};
static const struct dtx_schema schema = { .nfields = NFIELDS, .field = fields };

struct row {
	int64_t id;
	double x;
	bool ok;
	int32_t day;
	int64_t us;
	int64_t cents;
	const char *s; /* NULL: the whole row except id is null */
};
static const struct row rows[] = {
	{ 1, 1.5, true, 19723, 19723 * DTX_DAY_US + 3600000000, 1234, "a" },
	{ -20, 100, false, -25600, 0, 5, "=1+1\n_x0041_" },
	{ 1234567890123456789, 0, false, 0, 0, 0, NULL },
};

static enum dtx_code make_batch(struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_builder b[NFIELDS];
	struct dtx_batch *made = NULL;
	size_t i, n = DTX_COUNT(rows);
	uint32_t c;

	for (c = 0; c < NFIELDS; c++)
		dtx_builder_init(&b[c], fields[c].type, (uint32_t)n);
	for (i = 0; i < n; i++) {
		const struct row *r = &rows[i];

		dtx_builder_i64(&b[0], r->id);
		for (c = 1; c < NFIELDS && !r->s; c++)
			dtx_builder_null(&b[c]);
		if (!r->s)
			continue;
		dtx_builder_f64(&b[1], r->x);
		dtx_builder_bool(&b[2], r->ok);
		dtx_builder_day(&b[3], r->day);
		dtx_builder_i64(&b[4], r->us);
		dtx_builder_dec(&b[5], (struct dtx_dec128){ (uint64_t)r->cents, 0 });
		dtx_builder_text(&b[6], dtx_str_of(r->s));
	}
	DTX_TRY(dtx_batch_new(&schema, (uint32_t)n, &made, err));
	for (c = 0; c < NFIELDS; c++)
		DTX_TRY(dtx_builder_finish(&b[c], NULL, &made->col[c], err));
	*out = made;
	made = NULL;
out:
	for (c = 0; c < NFIELDS; c++)
		dtx_builder_clear(&b[c]);
	dtx_batch_free(made);
	return rc;
}

/* Writes the table with a writer, `times` batches of it; counts the diagnostics. */
static enum dtx_code write_table(const struct dtx_write_opts *opts, int times, struct dtx_buf *out,
                                 size_t *ndiags, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_writer_class *cls = dtx_writer_find(opts->format, NULL);
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 24);
	struct dtx_outfile *file = NULL;
	struct dtx_writer *w = NULL;
	struct dtx_batch *b = NULL;

	DTX_TRY(dtx_outfile_memory(out, &file, err));
	DTX_TRY(cls->open(file, opts, &schema, &w, err));
	while (times--) {
		DTX_TRY(make_batch(&b, err));
		dtx_buf_reset(&bytes);
		DTX_TRY(cls->format(w, b, &bytes, err));
		DTX_TRY(cls->put(w, b, &bytes, err));
		dtx_batch_free(b);
		b = NULL;
	}
	if (cls->end)
		DTX_TRY(cls->end(w, err));
	DTX_TRY(cls->finish(w, err));
	if (ndiags)
		*ndiags = w->diags.n;
	DTX_TRY(dtx_outfile_finish(file, err));
	DTX_TRY(dtx_outfile_commit(file, err));
out:
	dtx_batch_free(b);
	if (w)
		cls->close(w);
	dtx_outfile_free(file);
	dtx_buf_clear(&bytes);
	return rc;
}

static void expect_written(const struct dtx_write_opts *opts, int times, const char *want)
{
	struct dtx_buf out = DTX_BUF_INIT(1 << 24);
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(write_table(opts, times, &out, NULL, &err), &err);
	T_STR(dtx_buf_text(&out), want);
	dtx_buf_clear(&out);
}

#define ROW1                                                                                       \
	"{\"id\":1,\"x\\\"y\":1.5,\"ok\":true,\"d\":\"2024-01-01\",\"t\":\"2024-01-01T01:00:00\"," \
	"\"m\":12.34,\"s\":\"a\"}"
#define ROW2                                                                                       \
	"{\"id\":-20,\"x\\\"y\":100.0,\"ok\":false,\"d\":\"1899-11-29\",\"t\":\"1970-01-01T00:00:" \
	"00\",\"m\":0.05,\"s\":\"=1+1\\n_x0041_\"}"
#define ROW3                                                                                       \
	"{\"id\":1234567890123456789,\"x\\\"y\":null,\"ok\":null,\"d\":null,\"t\":null,\"m\":"     \
	"null,\"s\":null}"

void test_write_json(void)
{
	struct dtx_write_opts opts = DTX_WRITE_OPTS_INIT;

	opts.format = "jsonl";
	expect_written(&opts, 1, ROW1 "\n" ROW2 "\n" ROW3 "\n");
	expect_written(&opts, 0, "");
	opts.format = "json";
	expect_written(&opts, 2,
	               "[\n" ROW1 ",\n" ROW2 ",\n" ROW3 ",\n" ROW1 ",\n" ROW2 ",\n" ROW3 "\n]\n");
	expect_written(&opts, 0, "[]\n");
}

void test_write_text(void)
{
	struct dtx_write_opts opts = DTX_WRITE_OPTS_INIT;

	opts.format = "text";
	opts.null_text = "-";
	expect_written(
		&opts, 1,
		"                 id    x\"y  ok     d           t                        m  s\n"
		"-------------------  -----  -----  ----------  -------------------  -----  "
		"-------------\n"
		"                  1    1.5  true   2024-01-01  2024-01-01T01:00:00  12.34  a\n"
		"                -20  100.0  false  1899-11-29  1970-01-01T00:00:00   0.05  "
		"=1+1\\n_x0041_\n"
		"1234567890123456789      -  -      -           -                        -  -\n");
}

void test_write_md(void)
{
	struct dtx_write_opts opts = DTX_WRITE_OPTS_INIT;

	opts.format = "md";
	opts.null_text = "-";
	expect_written(&opts, 0,
	               "| id | x\"y | ok | d | t | m | s |\n"
	               "| ---: | ---: | --- | --- | --- | ---: | --- |\n");
	expect_written(&opts, 1,
	               "| id | x\"y | ok | d | t | m | s |\n"
	               "| ---: | ---: | --- | --- | --- | ---: | --- |\n"
	               "| 1 | 1.5 | true | 2024-01-01 | 2024-01-01T01:00:00 | 12.34 | a |\n"
	               "| -20 | 100.0 | false | 1899-11-29 | 1970-01-01T00:00:00 | 0.05 | "
	               "=1+1<br>_x0041_ |\n"
	               "| 1234567890123456789 | - | - | - | - | - | - |\n");
}

static void check_back(const struct dtx_buf *book)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf back = DTX_BUF_INIT(1 << 20);
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(bytes_dump("w.xlsx", book, &opts, 0, true, &back, &err), &err);
	T_STR(dtx_buf_text(&back),
	      "id:text,x\"y:float,ok:bool,d:text,t:datetime,m:float,s:text\n"
	      "1|1.5|true|2024-01-01|2024-01-01T01:00:00|12.34|a\n"
	      "-20|100.0|false|1899-11-29|1970-01-01T00:00:00|0.05|=1+1\n_x0041_\n"
	      "1234567890123456789|~|~|~|~|~|~\n");
	dtx_buf_clear(&back);
}

void test_write_xlsx_reads_back(void)
{
	struct dtx_write_opts opts = DTX_WRITE_OPTS_INIT;
	struct dtx_buf out = DTX_BUF_INIT(1 << 24), again = DTX_BUF_INIT(1 << 24);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *src;
	char id[64];
	size_t ndiags = 0;

	opts.format = "xlsx";
	opts.sheet = "Out";
	opts.run_id = "0123456789abcdef";
	T_OK(write_table(&opts, 1, &out, &ndiags, &err), &err);
	T_INT(ndiags, 1);
	check_back(&out);
	T_OK(dtx_source_bytes("w.xlsx", out.ptr, out.len, &src, &err), &err);
	T_OK(dtx_xlsx_run_id(src, id, &err), &err);
	T_STR(id, "0123456789abcdef");
	dtx_source_free(src);
	T_OK(write_table(&opts, 1, &again, NULL, &err), &err);
	T_CHECK(out.len == again.len && !memcmp(out.ptr, again.ptr, out.len));
	opts.sheet = "a/b";
	T_CODE(write_table(&opts, 1, &again, NULL, &err), DTX_E_BAD_PARAM_VALUE, &err);
	dtx_err_clear(&err);
	dtx_buf_clear(&out);
	dtx_buf_clear(&again);
}

void test_writer_find(void)
{
	T_STR(dtx_writer_find(NULL, "a/b.xlsx")->name, "xlsx");
	T_STR(dtx_writer_find("json", "x.csv")->name, "json");
	T_STR(dtx_writer_find(NULL, "notes.md")->name, "md");
	T_STR(dtx_writer_find(NULL, "a.pq")->name, "parquet");
	T_CHECK(!dtx_writer_find("orc", "x.csv"));
}

static enum dtx_code write_once(const char *format)
{
	struct dtx_write_opts opts = DTX_WRITE_OPTS_INIT;
	struct dtx_buf out = DTX_BUF_INIT(1 << 24);
	enum dtx_code rc;

	opts.format = format;
	opts.width = 40;
	rc = write_table(&opts, 1, &out, NULL, NULL);
	dtx_buf_clear(&out);
	return rc;
}

void test_write_every_alloc_fails(void)
{
	T_EVERY_ALLOC_FAILS(write_once("jsonl"));
	T_EVERY_ALLOC_FAILS(write_once("text"));
	T_EVERY_ALLOC_FAILS(write_once("md"));
	T_EVERY_ALLOC_FAILS(write_once("xlsx"));
	T_EVERY_ALLOC_FAILS(write_once("sqlite"));
}

/* Packing takes most of the time of a large workbook. */
void test_write_xlsx_is_cancelled_before_it_packs(void)
{
	const atomic_bool stop = true;
	const struct dtx_cancel user = { &stop, 0 }, *before = dtx_cancel_set(&user);
	struct dtx_write_opts opts = DTX_WRITE_OPTS_INIT;
	struct dtx_buf out = DTX_BUF_INIT(1 << 24);
	struct dtx_err err = DTX_ERR_INIT;

	opts.format = "xlsx";
	T_CODE(write_table(&opts, 0, &out, NULL, &err), DTX_E_CANCELLED, &err);
	T_INT(out.len, 0);
	dtx_cancel_set(before);
	dtx_err_clear(&err);
	dtx_buf_clear(&out);
}

/* The package is made in a temporary file, and copied. */
void test_write_xlsx_cannot_be_copied(void)
{
	struct dtx_write_opts opts = DTX_WRITE_OPTS_INIT;
	struct dtx_buf out = DTX_BUF_INIT(1 << 24);
	struct dtx_err err = DTX_ERR_INIT;

	opts.format = "xlsx";
	t_fail_call("pread", 0, EIO);
	T_CODE(write_table(&opts, 1, &out, NULL, &err), DTX_E_OUTPUT_IO, &err);
	T_CHECK(t_failed_call());
	T_CHECK(strstr(err.msg, "cannot read the packed workbook back: "));
	dtx_buf_clear(&out);
}

/* The lists that plans, options and man pages show are made from the files of readers and writers.
 */
void test_formats_lists(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_str rest = dtx_str_of(dtx_write_formats), word;
	char name[32];

	while (dtx_str_next(&rest, ',', &word)) {
		dtx_str_copy(name, sizeof(name), word);
		T_CHECK(dtx_writer_find(name, NULL) != NULL);
	}
	rest = dtx_str_of(dtx_read_formats);
	for (size_t i = 0; dtx_str_next(&rest, ',', &word); i++) {
		dtx_str_copy(name, sizeof(name), word);
		T_CHECK(i == 0 ? !strcmp(name, "auto") : dtx_reader_find(name) != NULL);
	}
	for (size_t i = 0; dtx_reads[i]; i++) {
		rest = dtx_str_of(dtx_reads[i]->formats);
		while (dtx_str_next(&rest, ',', &word)) {
			dtx_str_copy(name, sizeof(name), word);
			T_CHECK(dtx_str_in_list(dtx_read_formats, name));
		}
	}
	for (size_t i = 0; dtx_writes[i]; i++) {
		rest = dtx_str_of(dtx_writes[i]->formats);
		while (dtx_str_next(&rest, ',', &word)) {
			dtx_str_copy(name, sizeof(name), word);
			T_CHECK(dtx_str_in_list(dtx_write_formats, name));
		}
	}
	T_CODE(dtx_formats_unknown("cvs", dtx_write_formats, "write", &err),
	       DTX_E_UNSUPPORTED_FORMAT, &err);
	T_STR(err.msg, "there is no format 'cvs' to write");
	T_STR(err.did_you_mean[0], "csv");
	T_CHECK(strstr(err.hint, "auto, csv, tsv, ") != NULL);
	dtx_err_clear(&err);
}
