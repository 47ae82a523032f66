/* Parquet: files of all codecs hold the same table, and no damaged byte gets further than an
 * error. */
#include "core/base/lib.h"
#include "core/io/parquet/parquet.h"
#include "core/io/parquet/thrift.h"
#include "tests/t.h"
#include "tests/unit/bookmake.h"

static void load(const char *name, struct dtx_buf *out)
{
	struct dtx_source *src = NULL;
	char path[256];

	snprintf(path, sizeof(path), "fixtures/parquet/%s.parquet", name);
	T_OK(dtx_source_open(path, &src, NULL), NULL);
	if (src)
		dtx_buf_addn(out, dtx_source_data(src), dtx_source_size(src));
	dtx_source_free(src);
}

/* Reads up to 200 rows of bytes. */
static enum dtx_code read_some(const struct dtx_buf *bytes, uint32_t batch_rows,
                               struct dtx_buf *out, struct dtx_err *err)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;

	opts.format = "parquet";
	return bytes_dump("t.parquet", bytes, &opts, batch_rows, true, out, err);
}

static bool has_libraries(void)
{
	static const char *const names[] = { "libsnappy.so.1", "libzstd.so.1", "liblz4.so.1",
		                             "libbrotlidec.so.1" };
	size_t i;

	dtx_pq_codecs_warm();
	for (i = 0; i < DTX_COUNT(names); i++) {
		if (dtx_lib_open(names[i], "", false, NULL, 0, NULL) != DTX_OK) {
			t_skip("a library of the codecs is missing");
			return false;
		}
	}
	return true;
}

void test_parquet_codecs_hold_the_same(void)
{
	static const char *const names[] = { "types-snappy", "types-gzip", "types-brotli-v2",
		                             "types-zstd-v2", "types-lz4" };
	struct dtx_buf plain = DTX_BUF_INIT((size_t)1 << 20), want = DTX_BUF_INIT((size_t)1 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	size_t i;

	load("types", &plain);
	T_OK(read_some(&plain, 0, &want, &err), &err);
	T_CHECK(strstr(dtx_buf_text(&want), "18446744073709551615") != NULL);
	for (i = 0; i < DTX_COUNT(names) && has_libraries(); i++) {
		struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 20);
		struct dtx_buf got = DTX_BUF_INIT((size_t)1 << 20);

		load(names[i], &bytes);
		T_OK(read_some(&bytes, i % 2 ? 7 : 0, &got, &err), &err);
		T_CHECK(got.len == want.len && !memcmp(got.ptr, want.ptr, want.len));
		dtx_buf_clear(&bytes);
		dtx_buf_clear(&got);
	}
	dtx_buf_clear(&plain);
	dtx_buf_clear(&want);
	dtx_err_clear(&err);
}

void test_parquet_every_alloc_fails(void)
{
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 20), out = DTX_BUF_INIT((size_t)1 << 20);

	load("nested", &bytes);
	if (has_libraries())
		T_EVERY_ALLOC_FAILS((dtx_buf_reset(&out), read_some(&bytes, 0, &out, NULL)));
	dtx_buf_clear(&bytes);
	dtx_buf_clear(&out);
}

/* Whether an error is one that a damaged file may end in. */
static bool is_refusal(enum dtx_code rc)
{
	static const enum dtx_code codes[] = {
		DTX_OK,
		DTX_E_CORRUPT_FILE,
		DTX_E_ARCHIVE_LIMIT,
		DTX_E_UNSUPPORTED_FORMAT,
		DTX_E_BAD_ENCODING,
		DTX_E_OVERFLOW,
		DTX_E_ENCRYPTED_FILE,
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(codes); i++)
		if (rc == codes[i])
			return true;
	return false;
}

static void try_damaged(const struct dtx_buf *bytes, size_t at)
{
	struct dtx_buf out = DTX_BUF_INIT((size_t)1 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = read_some(bytes, 0, &out, &err);

	if (!is_refusal(rc)) {
		printf("# byte %zu: %s: %s\n", at, dtx_code_name(rc), err.msg);
		T_CHECK(is_refusal(rc));
	}
	dtx_err_clear(&err);
	dtx_buf_clear(&out);
}

/* Under the sanitizer each try takes long: a third of the bytes then. */
#ifdef __SANITIZE_ADDRESS__
#define DAMAGE_STEP 3
#else
#define DAMAGE_STEP 1
#endif

static void damage(const char *name)
{
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 20);
	size_t len, i;

	load(name, &bytes);
	len = bytes.len;
	T_CHECK(len > 0);
	for (i = 0; i < len; i += DAMAGE_STEP) {
		char was = bytes.ptr[i];

		bytes.ptr[i] = (char)(was ^ 1 << i % 8);
		try_damaged(&bytes, i);
		bytes.ptr[i] = (char)~was;
		try_damaged(&bytes, i);
		bytes.ptr[i] = was;
	}
	for (i = 0; i < len; i += 7) {
		bytes.len = i;
		try_damaged(&bytes, i);
	}
	bytes.len = len;
	dtx_buf_clear(&bytes);
}

void test_parquet_damaged_bytes_are_refused(void)
{
	if (has_libraries()) {
		damage("nested");
		damage("types-zstd-v2");
		damage("refused");
	}
	damage("types");
}

/* A footer of one struct inside of another, deeper than any reader should follow. */
void test_parquet_thrift_has_an_end(void)
{
	uint8_t deep[200] = { 0 };
	struct dtx_thrift t = dtx_thrift_of(deep, sizeof(deep));
	struct dtx_thrift_field f = { 0 };

	memset(deep, 0x1c, sizeof(deep)); /* field 1 is a struct */
	dtx_thrift_open(&t);
	while (dtx_thrift_next(&t, &f))
		dtx_thrift_skip(&t, f.type);
	T_STR(t.bad, "it is nested too deep");
	/* a list of as many items as a number can say */
	t = dtx_thrift_of("\x19\xfc\xff\xff\xff\xff\x0f", 7);
	f = (struct dtx_thrift_field){ 0 };
	dtx_thrift_open(&t);
	T_CHECK(dtx_thrift_next(&t, &f));
	T_INT(dtx_thrift_list(&t, &f, DTX_THRIFT_STRUCT), 0);
	T_STR(t.bad, "a list has more items than there are bytes");
	/* a number that does not end */
	t = dtx_thrift_of("\x16\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12);
	f = (struct dtx_thrift_field){ 0 };
	dtx_thrift_open(&t);
	T_CHECK(dtx_thrift_next(&t, &f));
	T_INT(dtx_thrift_int(&t, &f, 0, INT64_MAX), 0);
	T_STR(t.bad, "a number has more than 64 bits");
}

/* Columns without a type of text are read only where no byte leaves a doubt. */
void test_parquet_bytes_are_text_or_refused(void)
{
	const struct dtx_pq_node n = { .as = DTX_PQ_AS_BYTES };
	struct dtx_str s[] = { { "a\tb\n", 4 }, { "a\0b", 3 }, { "\x1b[8m", 4 }, { "\xff", 1 } };
	struct dtx_typed_counts counts = { 0 };
	struct dtx_pq_value v;
	uint32_t i;

	T_CHECK(!dtx_pq_convert(&n, (union dtx_pq_values){ .s = s }, 0, &counts, &v));
	for (i = 1; i < DTX_COUNT(s); i++)
		T_CHECK(dtx_pq_convert(&n, (union dtx_pq_values){ .s = s }, i, &counts, &v));
}

/* A few bytes that stand for 2^30 lengths: they must not be gone through one by one. */
void test_parquet_lengths_are_passed_by_blocks(void)
{
	/* blocks of 2^24 values in one small block, 2^50 of them, all of which are 0 */
	uint8_t bytes[14 + 64 * 2] = { 0x80, 0x80, 0x80, 0x08, 0x01, 0x80, 0x80,
		                       0x80, 0x80, 0x80, 0x80, 0x80, 0x02, 0x00 };
	struct dtx_pq_decoder d = { .type = DTX_PQ_BYTES };

	T_STR(dtx_pq_decoder_start(&d, 6, bytes, bytes + sizeof(bytes), UINT64_MAX),
	      "its bytes end early");
	dtx_pq_decoder_clear(&d);
}

/* A text that shares more and more with the one before grows beyond any limit: the limit is checked
 * before the text is made. */
void test_parquet_shared_texts_have_a_limit(void)
{
	static const uint8_t bytes[] = { /* shared 0, 4, 8, 12; then 4 bytes each */
		                         0x80, 0x01, 0x04, 0x04, 0x00, 0x08, 0,    0,   0,
		                         0,    0x80, 0x01, 0x04, 0x04, 0x08, 0x00, 0,   0,
		                         0,    0,    'a',  'b',  'c',  'd',  'a',  'b', 'c',
		                         'd',  'a',  'b',  'c',  'd',  'a',  'b',  'c', 'd'
	};
	struct dtx_pq_decoder d = { .type = DTX_PQ_BYTES, .text = 16 };
	struct dtx_str s[4];
	union dtx_pq_values v = { .s = s };

	T_CHECK(!dtx_pq_decoder_start(&d, 7, bytes, bytes + sizeof(bytes), 4));
	T_CHECK(!dtx_pq_decode(&d, v, 4));
	T_INT(s[3].len, 16);
	d.text = 15;
	T_CHECK(!dtx_pq_decoder_start(&d, 7, bytes, bytes + sizeof(bytes), 4));
	T_CHECK(dtx_pq_decode(&d, v, 4) == dtx_pq_too_long);
	T_CHECK(d.last.len <= 15);
	dtx_pq_decoder_clear(&d);
}

/* Reads a column in pieces with few bytes of texts; adds its cells to `out`. */
static void read_pieces(const struct dtx_pq_file *f, uint32_t leaf, size_t bytes, uint32_t *pieces,
                        struct dtx_buf *out)
{
	struct dtx_pq_cursor c;
	struct dtx_typed_counts counts = { 0 };
	int64_t row, rows = f->group[0].rows;
	struct dtx_err err = DTX_ERR_INIT;
	uint32_t i;

	T_OK(dtx_pq_cursor_open(&c, f, 0, leaf, &err), &err);
	for (row = 0; row < rows; ++*pieces) {
		struct dtx_column *col = NULL;

		T_OK(dtx_pq_flat(&c, "t", row, (uint32_t)(rows - row), bytes, &counts, &col, &err),
		     &err);
		if (!col)
			break;
		T_CHECK(col->len > 0);
		for (i = 0; i < col->len; i++) {
			if (dtx_column_is_null(col, i))
				dtx_buf_add(out, "null");
			else
				dtx_buf_adds(out, dtx_column_text(col, i));
			dtx_buf_addc(out, '\n');
		}
		row += col->len;
		dtx_column_unref(col);
	}
	T_OK(dtx_pq_cursor_finish(&c, &err), &err);
	dtx_pq_cursor_close(&c);
	dtx_err_clear(&err);
}

/* Columns of texts come in pieces that are bounded in bytes, whatever is left of a slice. */
void test_parquet_texts_come_in_pieces(void)
{
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_pq_file f = { .label = "t" };
	uint32_t leaf, texts = 0;

	load("types", &bytes);
	f.bytes = (const uint8_t *)bytes.ptr;
	f.len = bytes.len;
	f.limits = &dtx_archive_limits_default;
	T_OK(dtx_pq_footer(&f, &err), &err);
	for (leaf = 0; leaf < f.nleaves; leaf++) {
		struct dtx_buf whole = DTX_BUF_INIT((size_t)1 << 20);
		struct dtx_buf cut = DTX_BUF_INIT((size_t)1 << 20);
		uint32_t one = 0, many = 0;

		if (f.node[f.leaf_node[leaf]].as != DTX_PQ_AS_TEXT)
			continue;
		texts++;
		read_pieces(&f, leaf, SIZE_MAX, &one, &whole);
		read_pieces(&f, leaf, 50, &many, &cut);
		T_INT(one, 1);
		T_CHECK(whole.len == cut.len && !memcmp(whole.ptr, cut.ptr, cut.len));
		T_CHECK(many >= one);
		dtx_buf_clear(&whole);
		dtx_buf_clear(&cut);
	}
	T_CHECK(texts > 0);
	dtx_pq_file_clear(&f);
	dtx_buf_clear(&bytes);
	dtx_err_clear(&err);
}

/* A logical type that does not go with the physical one is ignored, also in what it refuses. */
void test_parquet_type_that_is_ignored_refuses_nothing(void)
{
	struct dtx_pq_node n = { .type = DTX_PQ_DOUBLE,
		                 .logical = DTX_PQ_L_DECIMAL,
		                 .precision = 40 };
	uint32_t leaf = 0;
	struct dtx_pq_file f = { .node = &n, .nnodes = 1, .leaf_node = &leaf, .nleaves = 1 };

	dtx_pq_types(&f);
	T_CHECK(n.as == DTX_PQ_AS_FLOAT && !n.refused);
	n = (struct dtx_pq_node){ .type = DTX_PQ_BYTES,
		                  .logical = DTX_PQ_L_DECIMAL,
		                  .precision = 40 };
	dtx_pq_types(&f);
	T_CHECK(n.refused != NULL);
}

/* The codes of a page as runs: 63 groups of eight packed values, 20 equal ones, and a last run of
 * packed values that is cut short.  `out` has all of them, and bytes that end where the run does.
 */
static uint32_t make_runs(unsigned width, uint32_t *want, struct dtx_buf *out)
{
	static const uint32_t runs[] = { 504, 504, 0, 16, 13 };
	const uint64_t mask = ((uint64_t)1 << width) - 1;
	uint64_t seed = width;
	uint32_t n = 0, i;
	size_t k;

	for (k = 0; k < DTX_COUNT(runs); k++) {
		uint8_t bits[504 * 4 + 8] = { 0 };

		for (i = 0; i < runs[k]; i++, n++) {
			uint64_t at = (uint64_t)i * width, bit;

			seed = seed * 6364136223846793005u + 1442695040888963407u;
			want[n] = (uint32_t)(seed >> 20 & mask);
			for (bit = 0; bit < width; bit++)
				bits[(at + bit) >> 3] |=
					(uint8_t)((want[n] >> bit & 1) << ((at + bit) & 7));
		}
		if (!runs[k]) {
			dtx_buf_addc(out, 20 << 1);
			dtx_buf_addn(out, "\1\0\0\0", (width + 7) / 8);
			for (i = 0; i < 20; i++)
				want[n++] = 1;
			continue;
		}
		dtx_buf_addc(out, (char)((runs[k] + 7) / 8 << 1 | 1));
		dtx_buf_addn(out, bits, (runs[k] * width + 7) / 8);
	}
	return n;
}

void test_parquet_packed_codes_of_all_widths(void)
{
	static const uint32_t pieces[] = { 1, 7, 100, 1024, 5000 };
	static uint32_t want[1100], got[1100];
	unsigned width;
	size_t i;

	for (width = 1; width <= 32; width++) {
		struct dtx_buf b = DTX_BUF_INIT(1 << 20);
		uint32_t n = make_runs(width, want, &b), at, k;
		uint8_t *bytes =
			dtx_mem_alloc(b.len, 1); /* so that a sanitizer sees where it ends */

		memcpy(bytes, b.ptr, b.len);
		for (i = 0; i < DTX_COUNT(pieces); i++) {
			struct dtx_pq_runs r = { .p = bytes, .end = bytes + b.len, .width = width };

			memset(got, 0, sizeof(got));
			for (at = 0; at < n; at += k) {
				k = DTX_MIN(pieces[i], n - at);
				T_CHECK(dtx_pq_runs_get(&r, got + at, k));
			}
			T_CHECK(!memcmp(got, want, n * sizeof(*got)));
		}
		dtx_mem_free(bytes);
		dtx_buf_clear(&b);
	}
}
