/* Batches as bytes: values of every type come back, equal batches have equal bytes, and damaged
 * bytes are refused or read as something else, but never outside of them. */
#include "core/base/memory/mem.h"
#include "core/data/builder.h"
#include "core/data/cast/cast.h"
#include "core/data/frame/frame_batch.h"
#include "tests/t.h"

#define ROWS 100u
#define COLS 7u

static const struct dtx_field fields[COLS] = {
	{ .name = "n", .type = { DTX_T_INT64, 0, 0 } },
	{ .name = "f", .type = { DTX_T_FLOAT64, 0, 0 } },
	{ .name = "t", .type = { DTX_T_TEXT, 0, 0 } },
	{ .name = "b", .type = { DTX_T_BOOL, 0, 0 } },
	{ .name = "d", .type = { DTX_T_DATE, 0, 0 } },
	{ .name = "absent", .type = { DTX_T_INT64, 0, 0 } },
	{ .name = "nulls", .type = { DTX_T_NULL, 0, 0 } },
};
static const struct dtx_schema schema = { .nfields = COLS, .field = fields };

static void put(struct dtx_builder *b, uint32_t i, uint32_t row)
{
	char text[64];

	snprintf(text, sizeof(text), row % 3 ? "short" : "a text that is not inline %u", row);
	if (row % 5 == i)
		dtx_builder_null(b);
	else if (i == 1)
		dtx_builder_f64(b, row / 4.0);
	else if (i == 2)
		dtx_builder_text(b, dtx_str_of(text));
	else if (i == 3)
		dtx_builder_bool(b, row % 2);
	else if (i == 4)
		dtx_builder_day(b, (int32_t)row);
	else
		dtx_builder_i64(b, row);
}

static enum dtx_code make(struct dtx_batch **out, struct dtx_err *err)
{
	struct dtx_batch *b = NULL;
	struct dtx_builder cell;
	uint16_t *sel;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_batch_new(&schema, ROWS, &b, err));
	for (uint32_t i = 0; i < 5; i++) {
		dtx_builder_init(&cell, fields[i].type, ROWS);
		for (uint32_t row = 0; row < ROWS; row++)
			put(&cell, i, row);
		DTX_TRY(dtx_builder_finish(&cell, NULL, &b->col[i], err));
	}
	DTX_TRY(dtx_column_nulls(fields[6].type, ROWS, &b->col[6], err));
	DTX_TRY(dtx_batch_sel(b, &sel, err));
	for (b->nsel = 0; b->nsel < ROWS / 2; b->nsel++)
		sel[b->nsel] = (uint16_t)(2 * b->nsel);
	b->first_row = 77;
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

static void print(const struct dtx_batch *b, struct dtx_buf *out)
{
	dtx_buf_printf(out, "%u rows from %llu\n", b->nsel, (unsigned long long)b->first_row);
	for (uint32_t k = 0; k < b->nsel; k++)
		for (uint32_t i = 0; i < b->ncols; i++) {
			uint32_t row = b->sel ? b->sel[k] : k;

			if (!b->col[i])
				dtx_buf_add(out, "absent");
			else if (dtx_column_is_null(b->col[i], row))
				dtx_buf_add(out, "null");
			else
				dtx_cast_print(b->col[i], row, out);
			dtx_buf_addc(out, i + 1 < b->ncols ? ',' : '\n');
		}
}

static enum dtx_code load(const struct dtx_buf *bytes, struct dtx_batch **out, struct dtx_err *err)
{
	char *copy = dtx_mem_alloc(bytes->len, 1);
	struct dtx_owner *owner = dtx_owner_take(memcpy(copy, bytes->ptr, bytes->len));
	enum dtx_code rc = dtx_frame_batch_load((struct dtx_str){ copy, bytes->len }, owner,
	                                        &schema, out, err);

	dtx_owner_unref(owner);
	return rc;
}

void test_frame_batch_comes_back(void)
{
	struct dtx_buf before = DTX_BUF_INIT(1 << 20), after = DTX_BUF_INIT(1 << 20);
	struct dtx_buf one = DTX_BUF_INIT(1 << 20), two = DTX_BUF_INIT(1 << 20);
	struct dtx_batch *a = NULL, *b = NULL, *back = NULL;
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(make(&a, &err), &err);
	T_OK(make(&b, &err), &err);
	print(a, &before);
	T_OK(dtx_frame_batch_save(a, &one, &err), &err);
	T_OK(dtx_frame_batch_save(b, &two, &err), &err);
	T_CHECK(one.len == two.len && !memcmp(one.ptr, two.ptr, one.len));
	T_OK(load(&one, &back, &err), &err);
	print(back, &after);
	T_STR(dtx_buf_text(&after), dtx_buf_text(&before));
	dtx_batch_free(a);
	dtx_batch_free(b);
	dtx_batch_free(back);
	dtx_buf_clear(&before);
	dtx_buf_clear(&after);
	dtx_buf_clear(&one);
	dtx_buf_clear(&two);
}

void test_frame_batch_damaged(void)
{
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20), text = DTX_BUF_INIT(1 << 22);
	struct dtx_batch *b = NULL;
	struct dtx_err err = DTX_ERR_INIT;
	unsigned refused = 0;
	size_t full;

	T_OK(make(&b, &err), &err);
	T_OK(dtx_frame_batch_save(b, &bytes, &err), &err);
	full = bytes.len;
	dtx_batch_free(b);
	for (size_t i = 0; i < full; i += 3) {
		b = NULL;
		bytes.ptr[i] ^= (char)(1 << i % 8);
		if (load(&bytes, &b, &err) != DTX_OK)
			refused++;
		bytes.ptr[i] ^= (char)(1 << i % 8);
		dtx_batch_free(b);
		dtx_err_clear(&err);
	}
	for (bytes.len = 0; bytes.len < full; bytes.len += 100) {
		b = NULL;
		T_CHECK(bytes.len == 0 || load(&bytes, &b, &err) == DTX_E_CORRUPT_FILE);
		dtx_err_clear(&err);
	}
	T_CHECK(refused > 10);
	dtx_buf_clear(&bytes);
	dtx_buf_clear(&text);
}
