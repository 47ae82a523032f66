/* Hashes of results: batches and their order do not matter to the one, the order of rows does not
 * matter to the other. */
#include "core/data/tablehash.h"

#include "core/data/builder.h"
#include "core/io/write/csv_format.h"
#include "tests/t.h"

static const struct dtx_field fields[] = {
	{ .name = "n", .type = { DTX_T_INT64, 0, 0 } },
	{ .name = "s", .type = { DTX_T_TEXT, 0, 0 } },
};
static const struct dtx_schema schema = { .nfields = 2, .field = fields };

/* Rows from..to of the table n = i (null if i % 5 == 3), s = "v<i>", in batches of `step` rows; in
 * reverse order on request. */
static enum dtx_code make(uint32_t rows, uint32_t step, bool backwards, struct dtx_table **out)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_table *t = NULL;
	enum dtx_code rc;
	uint32_t at, i;

	DTX_TRY(dtx_table_new(&schema, &t, &err));
	for (at = 0; at < rows; at += step) {
		struct dtx_builder n, s;
		struct dtx_batch *b = NULL;
		uint32_t count = DTX_MIN(step, rows - at);

		dtx_builder_init(&n, fields[0].type, count);
		dtx_builder_init(&s, fields[1].type, count);
		for (i = at; i < at + count; i++) {
			uint32_t v = backwards ? rows - 1 - i : i;
			char text[16];

			snprintf(text, sizeof(text), "v%u", v);
			if (v % 5 == 3)
				dtx_builder_null(&n);
			else
				dtx_builder_i64(&n, v);
			dtx_builder_text(&s, dtx_str_of(text));
		}
		rc = dtx_batch_new(&schema, count, &b, &err);
		if (rc == DTX_OK)
			rc = dtx_builder_finish(&n, NULL, &b->col[0], &err);
		if (rc == DTX_OK)
			rc = dtx_builder_finish(&s, NULL, &b->col[1], &err);
		dtx_builder_clear(&n);
		dtx_builder_clear(&s);
		if (rc != DTX_OK) {
			dtx_batch_free(b);
			goto out;
		}
		DTX_TRY(dtx_table_take(t, b, &err));
	}
	*out = t;
	t = NULL;
out:
	dtx_table_unref(t);
	return rc;
}

static enum dtx_code hash(uint32_t rows, uint32_t step, bool backwards, char a[DTX_TABLEHASH_TEXT],
                          char b[DTX_TABLEHASH_TEXT])
{
	struct dtx_table *t = NULL;
	enum dtx_code rc;

	DTX_TRY(make(rows, step, backwards, &t));
	DTX_TRY(dtx_tablehash_table(t, a, b, NULL));
out:
	dtx_table_unref(t);
	return rc;
}

void test_tablehash_batches_do_not_matter(void)
{
	static const uint32_t step[] = { 1, 7, 50, 100 };
	char t0[DTX_TABLEHASH_TEXT], r0[DTX_TABLEHASH_TEXT], t1[DTX_TABLEHASH_TEXT],
		r1[DTX_TABLEHASH_TEXT];
	size_t i;

	T_OK(hash(100, 33, false, t0, r0), NULL);
	for (i = 0; i < DTX_COUNT(step); i++) {
		T_OK(hash(100, step[i], false, t1, r1), NULL);
		T_STR(t1, t0);
		T_STR(r1, r0);
	}
	T_OK(hash(100, 7, true, t1, r1), NULL);
	T_CHECK(strcmp(t0, t1) != 0);
	T_STR(r1, r0);
	T_OK(hash(99, 7, false, t1, r1), NULL);
	T_CHECK(strcmp(t0, t1) != 0 && strcmp(r0, r1) != 0);
	T_CHECK(strstr(r0, ":100") != NULL && strlen(t0) == 67);
}

/* The bytes that are hashed, written out. */
void test_tablehash_vector(void)
{
	static const uint8_t row0[] = { 1, 0, 0, 0, 1, '0', 1, 0, 0, 0, 2, 'v', '0' };
	static const uint8_t header[] = { 0, 0, 0, 2, 0, 0, 0, 1, 'n', 0, 0, 0, 1, 's' };
	char got[DTX_TABLEHASH_TEXT], rows[DTX_TABLEHASH_TEXT], want[DTX_TABLEHASH_TEXT] = "t1:";
	struct dtx_sha256 sha;
	uint8_t digest[32], be[16];
	uint64_t h[2];
	int i;

	T_OK(hash(1, 1, false, got, rows), NULL);
	dtx_hash128(row0, sizeof(row0), h);
	for (i = 0; i < 8; i++) {
		be[i] = (uint8_t)(h[1] >> (56 - 8 * i));
		be[8 + i] = (uint8_t)(h[0] >> (56 - 8 * i));
	}
	dtx_sha256_init(&sha);
	dtx_sha256_add(&sha, header, sizeof(header));
	dtx_sha256_add(&sha, be, sizeof(be));
	dtx_sha256_done(&sha, digest);
	dtx_hex(digest, sizeof(digest), want + 3);
	T_STR(got, want);
}

void test_tablehash_selection(void)
{
	uint16_t sel[] = { 0, 2, 4 };
	struct dtx_rowhash all = DTX_ROWHASH_INIT, some = DTX_ROWHASH_INIT;
	struct dtx_table *t = NULL;
	int i;

	T_OK(make(5, 5, false, &t), NULL);
	T_OK(dtx_rowhash_batch(t->batch[0], &all, NULL), NULL);
	t->batch[0]->sel = sel;
	t->batch[0]->nsel = 3;
	T_OK(dtx_rowhash_batch(t->batch[0], &some, NULL), NULL);
	T_INT(some.n, 3);
	for (i = 0; i < 3; i++)
		T_CHECK(!memcmp(some.bytes + 16 * i, all.bytes + 32 * i, 16));
	dtx_rowhash_clear(&all);
	dtx_rowhash_clear(&some);
	dtx_table_unref(t);
}

/* Cells of a file, quoted or not, hash as the text that they stand for. */
void test_tablehash_spans(void)
{
	static const struct dtx_field field[] = { { .name = "s", .type = { DTX_T_TEXT, 0, 0 } } };
	static const struct dtx_schema one = { .nfields = 1, .field = field };
	static const char source[] = "ab,\"c\"\"d\",\"\",";
	static const struct dtx_span span[] = {
		{ 0, 2 }, { 4, 4 | DTX_SPAN_QUOTED }, { 10, 0 | DTX_SPAN_QUOTED }, { 12, 0 }
	};
	static const uint8_t want[4][8] = { { 1, 0, 0, 0, 2, 'a', 'b' },
		                            { 1, 0, 0, 0, 3, 'c', '"', 'd' },
		                            { 1, 0, 0, 0, 0 },
		                            { 0 } };
	static const size_t len[] = { 7, 8, 5, 1 };
	struct dtx_rowhash got = DTX_ROWHASH_INIT;
	struct dtx_batch *b = NULL;
	size_t i;

	T_OK(dtx_batch_new(&one, 4, &b, NULL), NULL);
	b->col[0] = dtx_column_new(DTX_F_SPAN, field[0].type, 4, NULL);
	T_CHECK(b->col[0] != NULL);
	b->col[0]->v.span = span;
	b->col[0]->base = source;
	T_OK(dtx_rowhash_batch(b, &got, NULL), NULL);
	for (i = 0; i < 4; i++) {
		uint64_t h[2];
		int k;

		dtx_hash128(want[i], len[i], h);
		for (k = 0; k < 8; k++)
			T_INT(got.bytes[16 * i + 8 + (size_t)k], (uint8_t)(h[0] >> (56 - 8 * k)));
	}
	dtx_rowhash_clear(&got);
	dtx_batch_free(b);
}

#define LENGTHS 40

/* Byte 1, length and text of a cell with `len` letters. */
static void check_hash(const struct dtx_rowhash *got, uint32_t row, const char *text, uint32_t len)
{
	uint8_t cell[5 + LENGTHS] = { 1, 0, 0, 0, (uint8_t)len };
	uint64_t h[2];

	memcpy(cell + 5, text, len);
	dtx_hash128(cell, 5 + len, h);
	for (int k = 0; k < 8; k++)
		T_INT(got->bytes[16 * row + 8 + (uint32_t)k], (uint8_t)(h[0] >> (56 - 8 * k)));
}

/* Cells of every length, up to the last byte of a block: each is read to its end and no further. */
void test_tablehash_lengths(void)
{
	static const struct dtx_field field[] = { { .name = "s", .type = { DTX_T_TEXT, 0, 0 } } };
	static const struct dtx_schema one = { .nfields = 1, .field = field };
	struct dtx_rowhash got = DTX_ROWHASH_INIT;
	struct dtx_batch *b = NULL;
	struct dtx_span span[LENGTHS];
	char *block = malloc(LENGTHS);

	T_CHECK(block != NULL);
	memset(block, 'x', LENGTHS);
	for (uint32_t i = 0; i < LENGTHS; i++)
		span[i] = (struct dtx_span){ LENGTHS - i - 1, i + 1 }; /* all end at the same
		                                                        * place */
	T_OK(dtx_batch_new(&one, LENGTHS, &b, NULL), NULL);
	b->col[0] = dtx_column_new(DTX_F_SPAN, field[0].type, LENGTHS, NULL);
	T_CHECK(b->col[0] != NULL);
	b->col[0]->v.span = span;
	b->col[0]->base = block;
	T_OK(dtx_rowhash_batch(b, &got, NULL), NULL);
	for (uint32_t i = 0; i < LENGTHS; i++)
		check_hash(&got, i, block, i + 1);
	dtx_rowhash_clear(&got);
	dtx_batch_free(b);
	free(block);
}

/* The same for texts in a column, including the empty one. */
void test_tablehash_texts(void)
{
	static const struct dtx_field field[] = { { .name = "s", .type = { DTX_T_TEXT, 0, 0 } } };
	static const struct dtx_schema one = { .nfields = 1, .field = field };
	struct dtx_rowhash got = DTX_ROWHASH_INIT;
	struct dtx_builder texts;
	struct dtx_batch *b = NULL;
	char all[LENGTHS];

	memset(all, 'y', sizeof(all));
	dtx_builder_init(&texts, field[0].type, LENGTHS);
	for (uint32_t i = 0; i < LENGTHS; i++)
		dtx_builder_text(&texts, (struct dtx_str){ all, i });
	T_OK(dtx_batch_new(&one, LENGTHS, &b, NULL), NULL);
	T_OK(dtx_builder_finish(&texts, NULL, &b->col[0], NULL), NULL);
	T_OK(dtx_rowhash_batch(b, &got, NULL), NULL);
	for (uint32_t i = 0; i < LENGTHS; i++)
		check_hash(&got, i, all, i);
	dtx_rowhash_clear(&got);
	dtx_builder_clear(&texts);
	dtx_batch_free(b);
}

static enum dtx_code numbers(struct dtx_batch **out)
{
	static const struct dtx_field field[] = {
		{ .name = "i", .type = { DTX_T_INT64, 0, 0 } },
		{ .name = "s", .type = { DTX_T_TEXT, 0, 0 } },
		{ .name = "f", .type = { DTX_T_FLOAT64, 0, 0 } },
	};
	static const struct dtx_schema three = { .nfields = 3, .field = field };
	static const int64_t whole[] = { 0, -7, INT64_MAX, 999999999999999 };
	static const double real[] = { 2.0, -0.1, 1.0 / 3, 1e300 };
	struct dtx_builder b[3];
	enum dtx_code rc;
	uint32_t i;

	for (i = 0; i < 3; i++)
		dtx_builder_init(&b[i], field[i].type, 5);
	for (i = 0; i < 4; i++) {
		dtx_builder_i64(&b[0], whole[i]);
		dtx_builder_text(&b[1], DTX_STR("1"));
		dtx_builder_f64(&b[2], real[i]);
	}
	for (i = 0; i < 3; i++)
		dtx_builder_null(&b[i]);
	rc = dtx_batch_new(&three, 5, out, NULL);
	for (i = 0; i < 3; i++) {
		if (rc == DTX_OK)
			rc = dtx_builder_finish(&b[i], NULL, &(*out)->col[i], NULL);
		dtx_builder_clear(&b[i]);
	}
	return rc;
}

/* The hashes are the same, and the kept texts are those of short numbers. */
void test_tablehash_keeps_numbers(void)
{
	struct dtx_rowhash plain = DTX_ROWHASH_INIT, kept = { .keep = true };
	struct dtx_batch *b = NULL;

	T_OK(numbers(&b), NULL);
	T_OK(dtx_rowhash_batch(b, &plain, NULL), NULL);
	T_OK(dtx_rowhash_batch(b, &kept, NULL), NULL);
	T_CHECK(!memcmp(plain.bytes, kept.bytes, 16 * 5) && plain.sum == kept.sum);
	T_CHECK(kept.printed[1] == NULL);
	T_CHECK(kept.printed[0][1].len == 2 && !memcmp(kept.printed[0][1].text, "-7", 2));
	T_CHECK(kept.printed[0][3].len == 15 &&
	        !memcmp(kept.printed[0][3].text, "999999999999999", 15));
	T_CHECK(kept.printed[2][0].len == 3 && !memcmp(kept.printed[2][0].text, "2.0", 3));
	T_INT(kept.printed[0][2].len, DTX_PRINTED_LONG); /* 19 digits */
	T_INT(kept.printed[2][2].len, DTX_PRINTED_LONG); /* 0.3333333333333333 */
	T_INT(kept.printed[0][4].len, DTX_PRINTED_LONG); /* null */
	dtx_rowhash_clear(&plain);
	dtx_rowhash_clear(&kept);
	dtx_batch_free(b);
}

/* What was kept is what the writer would print, however it got its options. */
void test_tablehash_kept_is_written(void)
{
	static const struct dtx_csv_format how[] = {
		{ .delim = ',' },
		{ .delim = ',', .float_trim = true },
		{ .delim = ',', .quote_all = true },
		{ .delim = '.' },
		{ .delim = ',', .null_text = { "NA", 2 } },
	};
	struct dtx_rowhash kept = { .keep = true };
	struct dtx_batch *b = NULL;
	uint16_t sel[] = { 0, 2, 4 };

	T_OK(numbers(&b), NULL);
	for (size_t i = 0; i < 2 * DTX_COUNT(how); i++) {
		struct dtx_buf want = DTX_BUF_INIT(1 << 20), got = DTX_BUF_INIT(1 << 20);
		struct dtx_csv_format f;

		dtx_csv_format_init(&f, how[i / 2].delim);
		f.float_trim = how[i / 2].float_trim;
		f.quote_all = how[i / 2].quote_all;
		f.null_text = how[i / 2].null_text;
		b->sel = i % 2 ? sel : NULL;
		b->nsel = i % 2 ? 3 : 5;
		T_OK(dtx_csv_format_batch(&f, b, &want, NULL), NULL);
		T_OK(dtx_rowhash_batch(b, &kept, NULL), NULL);
		b->printed = kept.printed;
		T_OK(dtx_csv_format_batch(&f, b, &got, NULL), NULL);
		b->printed = NULL;
		T_CHECK(want.len == got.len && !memcmp(want.ptr, got.ptr, want.len));
		dtx_buf_clear(&want);
		dtx_buf_clear(&got);
	}
	dtx_rowhash_clear(&kept);
	dtx_batch_free(b);
}

/* The writer uses what was kept: here a text that the number would not print as. */
void test_tablehash_kept_is_taken(void)
{
	struct dtx_printed known[5];
	const struct dtx_printed *const printed[] = { known, NULL, NULL };
	struct dtx_buf got = DTX_BUF_INIT(1 << 20);
	struct dtx_csv_format f;
	struct dtx_batch *b = NULL;

	memset(known, DTX_PRINTED_LONG, sizeof(known));
	known[1] = (struct dtx_printed){ "seven", 5 };
	T_OK(numbers(&b), NULL);
	dtx_csv_format_init(&f, ',');
	b->printed = printed;
	T_OK(dtx_csv_format_batch(&f, b, &got, NULL), NULL);
	T_CHECK(dtx_str_starts(dtx_buf_str(&got), DTX_STR("0,1,2.0\nseven,1,-0.1\n")));
	b->printed = NULL;
	dtx_buf_clear(&got);
	dtx_batch_free(b);
}

static enum dtx_code hash_once(void)
{
	char a[DTX_TABLEHASH_TEXT], b[DTX_TABLEHASH_TEXT];

	return hash(10, 3, false, a, b);
}

void test_tablehash_alloc_fails(void)
{
	T_EVERY_ALLOC_FAILS(hash_once());
}
