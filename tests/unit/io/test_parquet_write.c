/* Parquet files that are written: encodings against their decoders, and tables that are read again.
 */
#include "core/base/lib.h"
#include "core/base/memory/mem.h"
#include "core/data/builder.h"
#include "core/io/parquet/parquet_write.h"
#include "core/io/write/writer.h"
#include "tests/t.h"
#include "tests/unit/bookmake.h"

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Reads them in pieces, which end within a byte or not. */
static void check_pieces(const struct dtx_buf *out, const uint32_t *v, size_t n, unsigned width,
                         size_t piece)
{
	struct dtx_pq_runs r = { .p = (const uint8_t *)out->ptr, .width = width };
	uint32_t got[700];
	size_t at, k;

	r.end = r.p + out->len;
	for (at = 0; at < n; at += k) {
		k = DTX_MIN(piece, n - at);
		T_CHECK(dtx_pq_runs_get(&r, got + at, k));
	}
	T_CHECK(!memcmp(got, v, n * sizeof(*v)));
	T_CHECK(r.p == r.end);
}

static void check_runs(const uint32_t *v, size_t n, unsigned width)
{
	struct dtx_buf out = DTX_BUF_INIT(1 << 20);

	dtx_pqw_runs(&out, v, n, width);
	check_pieces(&out, v, n, width, n);
	check_pieces(&out, v, n, width, 24);
	check_pieces(&out, v, n, width, 13);
	dtx_buf_clear(&out);
}

void test_parquet_write_runs(void)
{
	uint64_t seed = 5;
	uint32_t v[700];

	for (unsigned width = 1; width <= 32; width++) {
		for (unsigned most = 1; most < 60; most = most * 2 + 1) {
			size_t n = 0, size = 1 + draw(&seed) % DTX_COUNT(v);

			while (n < size) {
				size_t run = 1 + draw(&seed) % most;
				uint32_t one = (uint32_t)draw(&seed) >> (32 - width);

				while (run-- && n < size)
					v[n++] = one;
			}
			check_runs(v, n, width);
		}
	}
}

void test_parquet_write_thrift(void)
{
	struct dtx_buf out = DTX_BUF_INIT(1 << 10);
	struct dtx_thrift_out o = dtx_thrift_out_of(&out);
	struct dtx_thrift_field f = { 0 }, member;
	struct dtx_thrift t;

	dtx_thrift_item_open(&o);
	dtx_thrift_put_i32(&o, 1, INT32_MIN);
	dtx_thrift_put_i64(&o, 40, INT64_MIN);
	dtx_thrift_put_bool(&o, 41, true);
	dtx_thrift_put_open(&o, 42);
	dtx_thrift_put_empty(&o, 3);
	dtx_thrift_put_close(&o);
	dtx_thrift_put_text(&o, 43, DTX_STR("abc"));
	dtx_thrift_put_list(&o, 44, DTX_THRIFT_I32, 20);
	for (int32_t i = 0; i < 20; i++)
		dtx_thrift_item_i32(&o, i);
	dtx_thrift_put_close(&o);
	t = dtx_thrift_of(out.ptr, out.len);
	dtx_thrift_open(&t);
	T_CHECK(dtx_thrift_next(&t, &f) && f.id == 1);
	T_INT(dtx_thrift_int(&t, &f, INT64_MIN, INT64_MAX), INT32_MIN);
	T_CHECK(dtx_thrift_next(&t, &f) && f.id == 40);
	T_INT(dtx_thrift_int(&t, &f, INT64_MIN, INT64_MAX), INT64_MIN);
	T_CHECK(dtx_thrift_next(&t, &f) && f.id == 41 && dtx_thrift_bool(&t, &f));
	T_CHECK(dtx_thrift_next(&t, &f) && f.id == 42);
	T_INT(dtx_thrift_union(&t, &f, &member), 3);
	dtx_thrift_skip(&t, member.type);
	dtx_thrift_union_end(&t, &member);
	T_CHECK(dtx_thrift_next(&t, &f) && f.id == 43);
	T_INT(dtx_thrift_text(&t, &f).len, 3);
	T_CHECK(dtx_thrift_next(&t, &f) && f.id == 44);
	dtx_thrift_skip(&t, f.type);
	T_CHECK(!dtx_thrift_next(&t, &f) && !t.bad && t.p == t.end);
	dtx_buf_clear(&out);
}

/* --- tables --- */

enum { NFIELDS = 7 };
static const struct dtx_field fields[NFIELDS] = {
	{ .name = "i", .type = { .type = DTX_T_INT64 } },
	{ .name = "f", .type = { .type = DTX_T_FLOAT64 } },
	{ .name = "b", .type = { .type = DTX_T_BOOL } },
	{ .name = "d", .type = { .type = DTX_T_DATE } },
	{ .name = "m", .type = { .type = DTX_T_DECIMAL, .precision = 20, .scale = 2 } },
	{ .name = "s", .type = { .type = DTX_T_TEXT } },
	{ .name = "n", .type = { .type = DTX_T_NULL } },
};
static const struct dtx_schema schema = { .nfields = NFIELDS, .field = fields };

/* Adds a cell that depends on the number of its row alone. */
static void add_cell(struct dtx_builder *b, uint32_t c, uint32_t row)
{
	uint64_t seed = (uint64_t)row * NFIELDS + c, v = draw(&seed);
	static char long_text[100];

	if (v % 5 == 0 && c != 2)
		c = NFIELDS - 1;
	v = row % 3000 < 1500 ? v % 20 : v; /* few values, then many */
	switch (c) {
	case 0: dtx_builder_i64(b, (int64_t)v); break;
	case 1: dtx_builder_f64(b, (double)(v % 1000000) / 8); break;
	case 2: dtx_builder_bool(b, v & 1); break;
	case 3: dtx_builder_day(b, (int32_t)(v % 40000) - 20000); break;
	case 4:
		dtx_builder_dec(b, (struct dtx_dec128){ v % 100000, v & 1 ? 0 : v & 2 ? 5 : -5 });
		break;
	case 5:
		memset(long_text, 'a' + (char)(v % 26), sizeof(long_text));
		dtx_builder_text(b, (struct dtx_str){ long_text, v % 7 ? v % 14 : v % 100 });
		break;
	default: dtx_builder_null(b);
	}
}

/* A batch of the live rows [from, to): every other row is dropped by a selection if `thin`. */
static enum dtx_code make_batch(uint32_t from, uint32_t to, bool thin, struct dtx_batch **out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = (to - from) * (thin ? 2 : 1), i, c;
	struct dtx_builder b[NFIELDS];
	struct dtx_batch *made = NULL;
	uint16_t *sel;

	for (c = 0; c < NFIELDS; c++) {
		dtx_builder_init(&b[c], fields[c].type, n);
		for (i = 0; i < n; i++)
			add_cell(&b[c], c, thin ? from + i / 2 + (i & 1 ? 0 : 77777) : from + i);
	}
	DTX_TRY(dtx_batch_new(&schema, n, &made, err));
	for (c = 0; c < NFIELDS; c++)
		DTX_TRY(dtx_builder_finish(&b[c], NULL, &made->col[c], err));
	if (thin) {
		DTX_TRY(dtx_batch_sel(made, &sel, err));
		for (i = 0; i < to - from; i++)
			sel[i] = (uint16_t)(2 * i + 1);
		made->nsel = to - from;
	}
	*out = made;
	made = NULL;
out:
	for (c = 0; c < NFIELDS; c++)
		dtx_builder_clear(&b[c]);
	dtx_batch_free(made);
	return rc;
}

/* Writes n rows in batches of `size`. */
static enum dtx_code write_rows(const char *format, const char *codec, uint32_t n, uint32_t size,
                                struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_writer_class *cls = dtx_writer_find(format, NULL);
	struct dtx_write_opts opts = DTX_WRITE_OPTS_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 26);
	struct dtx_outfile *file = NULL;
	struct dtx_writer *w = NULL;
	struct dtx_batch *b = NULL;

	opts.codec = codec;
	opts.workers = size % 2 ? 3 : 1;
	opts.null_text = "~";
	DTX_TRY(dtx_outfile_memory(out, &file, err));
	DTX_TRY(cls->open(file, &opts, &schema, &w, err));
	for (uint32_t i = 0; i < n; i += size) {
		DTX_TRY(make_batch(i, DTX_MIN(n, i + size), i / size % 2, &b, err));
		dtx_buf_reset(&bytes);
		DTX_TRY(cls->format(w, b, &bytes, err));
		DTX_TRY(cls->put(w, b, &bytes, err));
		dtx_batch_free(b);
		b = NULL;
	}
	DTX_TRY(cls->finish(w, err));
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

/* The table as text, from a file or from the writer of CSV, must be the same. */
static void check_again(const char *codec, uint32_t n, uint32_t size)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf file = DTX_BUF_INIT(1 << 26), other = DTX_BUF_INIT(1 << 26);
	struct dtx_buf got = DTX_BUF_INIT(1 << 26), want = DTX_BUF_INIT(1 << 26);
	struct dtx_err err = DTX_ERR_INIT;
	char *p, *line;

	T_OK(write_rows("parquet", codec, n, size, &file, &err), &err);
	T_OK(write_rows("parquet", codec, n, 2 * size + 1, &other, &err), &err);
	T_CHECK(file.len == other.len && !memcmp(file.ptr, other.ptr, file.len));
	T_OK(bytes_dump("t.parquet", &file, &opts, 0, true, &got, &err), &err);
	T_OK(write_rows("csv", NULL, n, size, &want, &err), &err);
	line = strchr((char *)(uintptr_t)dtx_buf_text(&got), '\n');
	for (p = want.ptr; p && p < want.ptr + want.len; p++)
		*p = *p == ',' ? '|' : *p;
	T_CHECK(line && !strcmp(line, strchr(dtx_buf_text(&want), '\n')));
	T_CHECK(dtx_str_starts(dtx_buf_str(&got),
	                       DTX_STR("i:int,f:float,b:bool,d:date,m:decimal,s:text,n:null\n")));
	dtx_buf_clear(&file);
	dtx_buf_clear(&other);
	dtx_buf_clear(&got);
	dtx_buf_clear(&want);
}

static bool has_libraries(void)
{
	dtx_pq_codecs_warm();
	if (dtx_lib_next("snappy_uncompress") && dtx_lib_next("ZSTD_decompress"))
		return true;
	t_skip("the libraries of snappy and zstd are not installed");
	return false;
}

void test_parquet_write_reads_back(void)
{
	if (!has_libraries())
		return;
	check_again(NULL, 0, 1);
	check_again("zstd", 1, 1);
	check_again("snappy", 3100, 100);
	check_again("gzip", 700, 33);
	check_again("none", 6000, 1024);
}

static enum dtx_code write_once(const char *codec)
{
	struct dtx_buf out = DTX_BUF_INIT(1 << 24);
	enum dtx_code rc = write_rows("parquet", codec, 60, 20, &out, NULL);

	dtx_buf_clear(&out);
	return rc;
}

void test_parquet_write_every_alloc_fails(void)
{
	T_EVERY_ALLOC_FAILS(write_once("none"));
	T_EVERY_ALLOC_FAILS(write_once("gzip"));
}

void test_parquet_write_codecs(void)
{
	struct dtx_buf out = DTX_BUF_INIT(1 << 24);
	struct dtx_err err = DTX_ERR_INIT;

	T_CODE(write_rows("parquet", "lzo", 1, 1, &out, &err), DTX_E_BAD_PARAM_VALUE, &err);
	T_INT(out.len, 0);
	dtx_err_clear(&err);
	dtx_buf_clear(&out);
}

/* Texts that are too long for statistics leave the others as they are. */
void test_parquet_write_statistics(void)
{
	struct dtx_pqw_column c;
	struct dtx_pqw_chunk chunk;
	struct dtx_pqw_codec none;
	struct dtx_err err = DTX_ERR_INIT;
	char text[DTX_PQW_STAT_MAX + 1];
	uint32_t len;

	T_OK(dtx_pqw_codec_open("none", &none, &err), &err);
	for (uint32_t extra = 0; extra < 2; extra++) {
		dtx_pqw_column_init(&c, (struct dtx_pqw_type){ DTX_PQW_TEXT, 4 });
		memset(text, 'k', sizeof(text));
		len = DTX_PQW_STAT_MAX + extra;
		dtx_buf_addn(&c.fixed, &len, 4);
		dtx_buf_addn(&c.bytes, text, len);
		len = 2;
		dtx_buf_addn(&c.fixed, &len, 4);
		dtx_buf_addn(&c.bytes, "\xc3\xa9", 2);
		c.rows = c.values = 2;
		T_OK(dtx_pqw_chunk_make(&c, &none, &chunk, &err), &err);
		T_CHECK(chunk.has_range == !extra);
		if (chunk.has_range) {
			T_INT(chunk.nleast, DTX_PQW_STAT_MAX);
			T_CHECK(chunk.ngreatest == 2 && !memcmp(chunk.greatest, "\xc3\xa9", 2));
		}
		dtx_pqw_chunk_clear(&chunk);
		dtx_pqw_column_clear(&c);
	}
}
