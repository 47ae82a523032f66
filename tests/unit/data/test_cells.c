/* Gathering cells of many columns into one: spans keep their bytes whatever else is gathered. */
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/memory/mem.h"
#include "core/data/batch.h"
#include "core/data/builder.h"
#include "core/data/cast/cast.h"
#include "core/data/tablehash.h"
#include "core/data/cells.h"
#include "tests/t.h"

static const struct dtx_field text = { .name = "t", .type = { .type = DTX_T_TEXT } };
static const struct dtx_field number = { .name = "n", .type = { .type = DTX_T_FLOAT64 } };

/* The unquoted fields of a line, or of a quoted one. */
static struct dtx_column *spans(const char *const *cell, size_t n, char delim)
{
	struct dtx_spanbuf s;
	struct dtx_column *c = NULL;

	dtx_spanbuf_init(&s, (struct dtx_celldialect){ .delim = delim, .quote = '"' });
	for (size_t i = 0; i < n; i++) {
		if (cell[i])
			dtx_spanbuf_text(&s, dtx_str_of(cell[i]));
		else
			dtx_spanbuf_null(&s);
	}
	T_OK(dtx_spanbuf_finish(&s, text.type, &c, NULL), NULL);
	return c;
}

static void raw_is(const struct dtx_column *c, uint32_t row, const char *want)
{
	struct dtx_span s = c->v.span[row];
	uint32_t quoted = s.len & DTX_SPAN_QUOTED ? 1u : 0u;
	char got[64];

	T_CHECK(c->form == DTX_F_SPAN);
	dtx_str_copy(
		got, sizeof(got),
		(struct dtx_str){ c->base + s.off - quoted, (s.len & DTX_SPAN_LEN) + 2 * quoted });
	T_STR(got, want);
}

void test_cells_spans_of_two_blocks(void)
{
	static const char *const a[] = { "1.50", NULL, "x,y" };
	static const char *const b[] = { "", "say \"hi\"" };
	struct dtx_column *src[2] = { spans(a, 3, ','), spans(b, 2, ',') }, *got = NULL;
	static const uint32_t which[] = { 0, 1, 0, 1, 0, 7 }, row[] = { 2, 1, 0, 0, 1, 0 };

	T_OK(dtx_cells_gather(src, 2, which, row, 6, &text, &got, NULL), NULL);
	raw_is(got, 0, "\"x,y\"");
	raw_is(got, 1, "\"say \"\"hi\"\"\"");
	raw_is(got, 2, "1.50");
	raw_is(got, 3, "\"\"");
	T_CHECK(dtx_column_is_null(got, 4) && dtx_column_is_null(got, 5));
	T_CHECK(!dtx_column_is_null(got, 3));
	dtx_column_unref(src[0]);
	dtx_column_unref(src[1]);
	raw_is(got, 0, "\"x,y\""); /* the blocks outlive their columns */
	dtx_column_unref(got);
}

/* A cell at the very start of a block; bytes before it must not be read. */
static struct dtx_column *at_start(char *block, const char *digits)
{
	struct dtx_span *span = dtx_mem_alloc64(1, sizeof(*span));
	struct dtx_column *c = NULL;

	T_CHECK(span);
	memcpy(block, digits, strlen(digits));
	*span = (struct dtx_span){ 0, (uint32_t)strlen(digits) };
	c = dtx_column_new(DTX_F_SPAN, number.type, 1, dtx_owner_take(span));
	T_CHECK(c);
	c->v.span = span;
	c->base = block;
	c->nulls = UINT32_MAX;
	return c;
}

void test_cells_nothing_is_read_below_a_block(void)
{
	static const uint32_t which[] = { 0, 1 }, row[] = { 0, 0 };
	long page = sysconf(_SC_PAGESIZE);
	char *three = mmap(NULL, 3 * (size_t)page, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dtx_field field = number;
	struct dtx_schema schema = { .nfields = 1, .field = &field };
	struct dtx_column *src[2], *value = NULL;
	struct dtx_batch *b = NULL;

	T_CHECK(three != MAP_FAILED);
	T_INT(mprotect(three + page, (size_t)page, PROT_NONE), 0);
	src[0] = at_start(three, "12");
	src[1] = at_start(three + 2 * page, "34");
	T_OK(dtx_batch_new(&schema, 2, &b, NULL), NULL);
	T_OK(dtx_cells_gather(src, 2, which, row, 2, &field, &b->col[0], NULL), NULL);
	T_OK(dtx_batch_value(b, 0, &value, NULL), NULL);
	T_CHECK(value->v.f64[0] == 12 && value->v.f64[1] == 34);
	dtx_batch_free(b);
	dtx_column_unref(src[0]);
	dtx_column_unref(src[1]);
	munmap(three, 3 * (size_t)page);
}

/* Bytes after the end must not be read either. */
void test_cells_nothing_is_read_behind_a_block(void)
{
	static const uint32_t which[] = { 0, 1 }, row[] = { 0, 0 };
	long page = sysconf(_SC_PAGESIZE);
	char *three = mmap(NULL, 3 * (size_t)page, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dtx_rowhash got = DTX_ROWHASH_INIT;
	struct dtx_field field = number;
	struct dtx_schema schema = { .nfields = 1, .field = &field };
	struct dtx_column *src[2];
	struct dtx_batch *b = NULL;

	T_CHECK(three != MAP_FAILED);
	T_INT(mprotect(three + page, (size_t)page, PROT_NONE), 0);
	src[0] = at_start(three + page - 2, "12");
	src[1] = at_start(three + 2 * page, "34");
	for (int i = 0; i < 2; i++) { /* their blocks begin far before them */
		src[i]->base -= 8;
		((struct dtx_span *)(uintptr_t)src[i]->v.span)->off = 8;
	}
	T_OK(dtx_batch_new(&schema, 2, &b, NULL), NULL);
	T_OK(dtx_cells_gather(src, 2, which, row, 2, &field, &b->col[0], NULL), NULL);
	T_OK(dtx_rowhash_batch(b, &got, NULL), NULL);
	T_INT(got.n, 2);
	dtx_rowhash_clear(&got);
	dtx_batch_free(b);
	dtx_column_unref(src[0]);
	dtx_column_unref(src[1]);
	munmap(three, 3 * (size_t)page);
}

void test_cells_spans_meet_values(void)
{
	static const char *const a[] = { "1.50", NULL };
	struct dtx_column *src[2] = { spans(a, 2, ';'), NULL }, *got = NULL, *twin = NULL;
	static const uint32_t which[] = { 0, 1, 1, 0 }, row[] = { 0, 0, 1, 1 };
	struct dtx_builder b;
	int64_t bad;

	dtx_builder_init(&b, number.type, 2);
	dtx_builder_f64(&b, 2.5);
	dtx_builder_null(&b);
	T_OK(dtx_builder_finish(&b, NULL, &src[1], NULL), NULL);
	T_OK(dtx_cells_gather(src, 2, which, row, 4, &number, &got, NULL), NULL);
	raw_is(got, 0, "1.50");
	raw_is(got, 1, "2.5");
	T_CHECK(dtx_column_is_null(got, 2) && dtx_column_is_null(got, 3));
	T_OK(dtx_cast_typed(got, &number, NULL, &twin, &bad, NULL), NULL);
	T_INT(bad, -1);
	T_CHECK(twin->v.f64[0] == 1.5 && twin->v.f64[1] == 2.5);
	dtx_column_unref(twin);
	dtx_column_unref(got);
	dtx_column_unref(src[0]);
	dtx_column_unref(src[1]);
}

void test_cells_dialects_meet(void)
{
	static const char *const a[] = { "x,y", "p;q" };
	struct dtx_column *src[2] = { spans(a, 2, ','), spans(a, 2, ';') }, *got = NULL;
	static const uint32_t which[] = { 0, 1, 0, 1 }, row[] = { 0, 0, 1, 1 };

	T_OK(dtx_cells_gather(src, 2, which, row, 4, &text, &got, NULL), NULL);
	T_INT(got->dialect.delim, ',');
	raw_is(got, 0, "\"x,y\"");
	raw_is(got, 1, "\"x,y\"");
	raw_is(got, 2, "p;q");
	raw_is(got, 3, "p;q");
	dtx_column_unref(got);
	got = NULL;
	src[1]->dialect.home = true;
	T_OK(dtx_cells_gather(src, 2, which, row, 4, &text, &got, NULL), NULL);
	T_CHECK(got->dialect.delim == ';' && got->dialect.home);
	raw_is(got, 0, "x,y");
	raw_is(got, 1, "x,y");
	raw_is(got, 2, "\"p;q\"");
	raw_is(got, 3, "\"p;q\"");
	dtx_column_unref(got);
	dtx_column_unref(src[0]);
	dtx_column_unref(src[1]);
}

void test_cells_values_stay_values(void)
{
	struct dtx_column *src[2] = { NULL, NULL }, *got = NULL;
	static const uint32_t which[] = { 1, DTX_BATCH_ROWS, 0 }, row[] = { 0, 0, 0 };
	struct dtx_builder b;

	for (int i = 0; i < 2; i++) {
		dtx_builder_init(&b, number.type, 1);
		dtx_builder_f64(&b, i + 0.5);
		T_OK(dtx_builder_finish(&b, NULL, &src[i], NULL), NULL);
	}
	T_OK(dtx_cells_gather(src, 2, which, row, 3, &number, &got, NULL), NULL);
	T_CHECK(got->form == DTX_F_FLAT && got->v.f64[0] == 1.5 && got->v.f64[2] == 0.5);
	T_CHECK(dtx_column_is_null(got, 1));
	dtx_column_unref(got);
	dtx_column_unref(src[0]);
	dtx_column_unref(src[1]);
	src[0] = src[1] = NULL;
	T_OK(dtx_cells_gather(src, 2, which, row, 3, &text, &got, NULL), NULL);
	T_INT(got->nulls, 3);
	dtx_column_unref(got);
}

void test_cells_merge_fields(void)
{
	struct dtx_field a = { .name = "a", .type = { .type = DTX_T_INT64 }, .source = true };
	struct dtx_field b = { .name = "b", .type = { .type = DTX_T_FLOAT64 }, .guessed = true };
	struct dtx_field c = { .name = "c", .type = { .type = DTX_T_DATE }, .format = "%d" };

	T_CHECK(!dtx_field_merge(&a, &b));
	T_CHECK(a.type.type == DTX_T_FLOAT64 && a.guessed && !a.source);
	T_CHECK(dtx_field_merge(&a, &c));
	T_CHECK(a.type.type == DTX_T_TEXT);
	T_CHECK(!dtx_field_same_rules(&b, &c));
}

static enum dtx_code cells_once(void)
{
	struct dtx_spanbuf s;
	struct dtx_column *src[2] = { NULL, NULL }, *got = NULL;
	static const uint32_t which[] = { 0, 1 }, row[] = { 0, 0 };
	enum dtx_code rc;

	for (int i = 0; i < 2; i++) {
		dtx_spanbuf_init(&s,
		                 (struct dtx_celldialect){ .delim = i ? ';' : ',', .quote = '"' });
		dtx_spanbuf_text(&s, DTX_STR("x,y"));
		rc = dtx_spanbuf_finish(&s, text.type, &src[i], NULL);
		dtx_spanbuf_clear(&s);
		if (rc != DTX_OK)
			goto out;
	}
	DTX_TRY(dtx_cells_gather(src, 1, row, row, 1, &text, &got, NULL));
	dtx_column_unref(got);
	got = NULL;
	DTX_TRY(dtx_cells_gather(src, 2, which, row, 2, &text, &got, NULL));
out:
	dtx_column_unref(got);
	dtx_column_unref(src[0]);
	dtx_column_unref(src[1]);
	return rc;
}

void test_cells_every_allocation_fails(void)
{
	T_EVERY_ALLOC_FAILS(cells_once());
}
