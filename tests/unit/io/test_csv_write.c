/* The bytes that the CSV writer makes. */
#include "core/data/builder.h"
#include "core/data/time/time.h"
#include "core/io/write/writer.h"
#include "tests/unit/csv_dump.h"

extern const struct dtx_writer_class dtx_write_csv;

struct write_how {
	struct dtx_read_opts read;
	struct dtx_write_opts write;
	uint32_t batch_rows;
	const char *order; /* columns of the output, "20" swaps two; NULL: all */
	const char *keep;  /* rows that stay, '1'; NULL: all */
};
#define WRITE_HOW                                                                                  \
	{                                                                                          \
		.read = DTX_READ_OPTS_INIT, .write = DTX_WRITE_OPTS_INIT                           \
	}

struct write_run {
	struct dtx_source *src;
	struct dtx_reader *r;
	struct dtx_outfile *out;
	struct dtx_writer *w;
	struct dtx_buf bytes;
};

static struct dtx_schema *write_schema(const struct dtx_schema *from, const char *order,
                                       struct dtx_arena *a)
{
	struct dtx_schema *s = dtx_arena_zalloc(a, 1, sizeof(*s));
	struct dtx_field *f = dtx_arena_zalloc(a, 64, sizeof(*f));

	if (!s || !f)
		return NULL;
	for (; order[s->nfields]; s->nfields++)
		f[s->nfields] = from->field[order[s->nfields] - '0'];
	s->field = f;
	return s;
}

/* The batch with its columns in another order and only some rows. */
static enum dtx_code write_shape(const struct write_how *how, const struct dtx_schema *schema,
                                 const struct dtx_batch *in, struct dtx_batch **out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;
	uint16_t *sel;
	uint32_t i, n = 0;

	DTX_TRY(dtx_batch_new(schema, in->nrows, &b, err));
	for (i = 0; i < schema->nfields; i++)
		b->col[i] = dtx_column_ref(in->col[how->order ? how->order[i] - '0' : (int)i]);
	if (how->keep && in->nrows) {
		DTX_TRY(dtx_batch_sel(b, &sel, err));
		for (i = 0; i < in->nrows; i++) {
			if (how->keep[(in->first_row & UINT32_MAX) + i] == '1')
				sel[n++] = (uint16_t)i;
		}
		b->nsel = n;
	}
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code write_batches(struct write_run *t, const struct write_how *how,
                                   const struct dtx_schema *schema, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *in = NULL, *b = NULL;

	for (;;) {
		DTX_TRY(t->r->cls->next(t->r, 0, &in, err));
		if (!in)
			break;
		DTX_TRY(write_shape(how, schema, in, &b, err));
		dtx_buf_reset(&t->bytes);
		DTX_TRY(t->w->cls->format(t->w, b, &t->bytes, err));
		DTX_TRY(t->w->cls->put(t->w, b, &t->bytes, err));
		dtx_batch_free(in);
		dtx_batch_free(b);
		in = b = NULL;
	}
	DTX_TRY(t->w->cls->finish(t->w, err));
	DTX_TRY(dtx_outfile_finish(t->out, err));
	DTX_TRY(dtx_outfile_commit(t->out, err));
out:
	dtx_batch_free(in);
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code write_copy(const char *text, const struct write_how *how, struct dtx_buf *sink,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct write_run t = { .bytes = DTX_BUF_INIT(DUMP_MAX) };
	struct dtx_arena arena = DTX_ARENA_INIT;
	const struct dtx_schema *schema = NULL;
	uint8_t need[64];
	struct dtx_scan scan = {
		.need = need, .limit = -1, .workers = 1, .batch_rows = how->batch_rows
	};

	memset(need, DTX_NEED_BYTES, sizeof(need));
	DTX_TRY(dtx_source_bytes("t.csv", text, strlen(text), &t.src, err));
	DTX_TRY(dtx_read_csv.open(t.src, &how->read, &t.r, err));
	DTX_TRY(t.r->cls->schema(t.r, &scan.schema, err));
	DTX_TRY(t.r->cls->start(t.r, &scan, err));
	schema = how->order ? write_schema(scan.schema, how->order, &arena) : scan.schema;
	if (!schema)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_outfile_memory(sink, &t.out, err));
	DTX_TRY(dtx_write_csv.open(t.out, &how->write, schema, &t.w, err));
	DTX_TRY(write_batches(&t, how, schema, err));
out:
	if (t.w)
		t.w->cls->close(t.w);
	dtx_outfile_free(t.out);
	if (t.r)
		t.r->cls->close(t.r);
	dtx_source_free(t.src);
	dtx_buf_clear(&t.bytes);
	dtx_arena_clear(&arena);
	return rc;
}

static void write_is(const char *text, const struct write_how *how, const char *want,
                     const char *file, int line)
{
	struct dtx_buf sink = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;

	t_eq_code(write_copy(text, how, &sink, &err), DTX_OK, &err, file, line);
	t_eq_str(dtx_buf_text(&sink), want, file, line);
	dtx_buf_clear(&sink);
	dtx_err_clear(&err);
}
#define WRITE_IS(text, how, want) write_is(text, how, want, __FILE__, __LINE__)

#define WRITE_ODD "a,b,c\n1.50,\"x\",007\n, y ,\"\"\n5\" p,\"q\"\"r\",\"l\nm\"\n-0,1e5,\xc3\xa9\n"

void test_csv_write_copies_bytes(void)
{
	struct write_how how = WRITE_HOW;
	uint32_t rows;

	how.read.quote = "\"";
	for (rows = 0; rows < 4; rows++) {
		how.batch_rows = rows;
		WRITE_IS(WRITE_ODD, &how, WRITE_ODD);
	}
	WRITE_IS("a,b\r\n1,2\r\n3,4\r\n", &how, "a,b\n1,2\n3,4\n");
	WRITE_IS("a,b\n\n1,2\n\n3,4", &how, "a,b\n1,2\n3,4\n");
	how.write.crlf = true;
	WRITE_IS("a,b\n1,2\n3,4\n", &how, "a,b\r\n1,2\r\n3,4\r\n");
}

void test_csv_write_columns_and_rows(void)
{
	struct write_how how = WRITE_HOW;

	how.order = "20";
	WRITE_IS("a,b,c\n1,2,\"3\"\n4,5,\n", &how, "c,a\n\"3\",1\n,4\n");
	how.order = "12";
	WRITE_IS("a,b,c\n1,2,\"3\"\n4,5,\n", &how, "b,c\n2,\"3\"\n5,\n");
	how.order = "01";
	WRITE_IS("a,b,c\n1,2,\"3\"\n4,5,\n", &how, "a,b\n1,2\n4,5\n");
	how.order = "012";
	how.keep = "1101";
	WRITE_IS("a,b,c\n1,2,3\n4,5,6\n7,8,9\n10,11,12\n", &how, "a,b,c\n1,2,3\n4,5,6\n10,11,12\n");
	how.keep = "0000";
	WRITE_IS("a,b,c\n1,2,3\n4,5,6\n7,8,9\n10,11,12\n", &how, "a,b,c\n");
}

void test_csv_write_other_dialect(void)
{
	struct write_how how = WRITE_HOW;

	WRITE_IS("a;b\nx,y;1\n\"p;q\";\"\"\n;2\n", &how, "a,b\n\"x,y\",1\np;q,\"\"\n,2\n");
	how.write.delimiter = ';';
	WRITE_IS("a;b\nx,y;1\n\"p;q\";\"\"\n", &how, "a;b\nx,y;1\n\"p;q\";\"\"\n");
	how.write = (struct dtx_write_opts)DTX_WRITE_OPTS_INIT;
	how.write.format = "tsv";
	WRITE_IS("a,b\nx\ty,1\n", &how, "a\tb\n\"x\ty\"\t1\n");
	how.write = (struct dtx_write_opts)DTX_WRITE_OPTS_INIT;
	how.write.quote_all = true;
	how.write.null_text = "NULL";
	how.write.bom = true;
	WRITE_IS("a,b\nx,\n\"\",2\n", &how, "\xef\xbb\xbf\"a\",\"b\"\n\"x\",NULL\n\"\",\"2\"\n");
	how.write.no_header = true;
	how.write.bom = false;
	WRITE_IS("a,b\nx,\n", &how, "\"x\",NULL\n");
	how.read.quote = "'";
	how.write = (struct dtx_write_opts)DTX_WRITE_OPTS_INIT;
	WRITE_IS("a,b\n'it''s',\"q\n", &how, "a,b\nit's,\"\"\"q\"\n");
}

static void write_values(struct dtx_builder *b, struct dtx_column *col[7], struct dtx_err *err)
{
	static const enum dtx_type types[] = { DTX_T_BOOL,    DTX_T_INT64, DTX_T_FLOAT64,
		                               DTX_T_DECIMAL, DTX_T_DATE,  DTX_T_DATETIME,
		                               DTX_T_TEXT };
	int i;

	for (i = 0; i < 7; i++) {
		dtx_builder_init(b, (struct dtx_typeref){ types[i], 10, 2 }, 4);
		switch (types[i]) {
		case DTX_T_BOOL: dtx_builder_bool(b, true); break;
		case DTX_T_INT64: dtx_builder_i64(b, INT64_MIN); break;
		case DTX_T_FLOAT64: dtx_builder_f64(b, 100); break;
		case DTX_T_DECIMAL: dtx_builder_dec(b, (struct dtx_dec128){ 1250, 0 }); break;
		case DTX_T_DATE: dtx_builder_day(b, dtx_day_of(2024, 2, 29)); break;
		case DTX_T_DATETIME:
			dtx_builder_i64(b, dtx_day_of(2024, 2, 29) * DTX_DAY_US + 3600000000);
			break;
		default: dtx_builder_text(b, DTX_STR("a, \"b\""));
		}
		dtx_builder_null(b);
		T_OK(dtx_builder_finish(b, NULL, &col[i], err), err);
	}
}

void test_csv_write_values(void)
{
	static const struct dtx_field fields[7] = { { .name = "b" },   { .name = "i" },
		                                    { .name = "f" },   { .name = "d" },
		                                    { .name = "day" }, { .name = "at" },
		                                    { .name = "t,x" } };
	struct dtx_schema schema = { .nfields = 7, .field = fields };
	struct dtx_write_opts opts = DTX_WRITE_OPTS_INIT;
	struct dtx_buf sink = DTX_BUF_INIT(DUMP_MAX), bytes = DTX_BUF_INIT(DUMP_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_outfile *out = NULL;
	struct dtx_writer *w = NULL;
	struct dtx_batch *batch = NULL;
	struct dtx_builder b;

	T_OK(dtx_batch_new(&schema, 2, &batch, &err), &err);
	write_values(&b, batch->col, &err);
	T_OK(dtx_outfile_memory(&sink, &out, &err), &err);
	T_OK(dtx_write_csv.open(out, &opts, &schema, &w, &err), &err);
	T_OK(w->cls->format(w, batch, &bytes, &err), &err);
	T_OK(w->cls->put(w, batch, &bytes, &err), &err);
	T_OK(w->cls->finish(w, &err), &err);
	T_OK(dtx_outfile_finish(out, &err), &err);
	T_OK(dtx_outfile_commit(out, &err), &err);
	T_STR(dtx_buf_text(&sink), "b,i,f,d,day,at,\"t,x\"\n"
	                           "true,-9223372036854775808,100.0,12.50,2024-02-29,2024-02-29T01:"
	                           "00:00,\"a, \"\"b\"\"\"\n"
	                           ",,,,,,\n");
	w->cls->close(w);
	dtx_outfile_free(out);
	dtx_batch_free(batch);
	dtx_buf_clear(&sink);
	dtx_buf_clear(&bytes);
}

static enum dtx_code write_faulty(void)
{
	struct write_how how = WRITE_HOW;
	struct dtx_buf sink = DTX_BUF_INIT(DUMP_MAX);
	enum dtx_code rc;

	how.order = "20";
	rc = write_copy("a,b,c\n1,2,\"3\"\n4,5,\n", &how, &sink, NULL);
	if (rc == DTX_OK)
		T_STR(dtx_buf_text(&sink), "c,a\n\"3\",1\n,4\n");
	dtx_buf_clear(&sink);
	return rc;
}

void test_csv_write_no_memory(void)
{
	T_EVERY_ALLOC_FAILS(write_faulty());
}
