/* Cells that a snippet passed on unchanged get their source bytes back. */
#include "tests/t.h"

#include <time.h>

#include "core/data/builder.h"
#include "core/data/cast/cast.h"
#include "sandbox/main/restore_source_cells.h"

static const struct dtx_field fields[] = {
	{ .name = "amount", .type = { DTX_T_FLOAT64, 0, 0 }, .guessed = true, .source = true },
	{ .name = "text", .type = { DTX_T_TEXT, 0, 0 }, .guessed = true, .source = true },
};
static const struct dtx_schema schema = { .nfields = 2, .field = fields };

/* A table that comes back from a worker knows nothing about sources. */
static const struct dtx_field plain[] = {
	{ .name = "amount", .type = { DTX_T_FLOAT64, 0, 0 } },
	{ .name = "text", .type = { DTX_T_TEXT, 0, 0 } },
};
static const struct dtx_schema plain_schema = { .nfields = 2, .field = plain };

/* Four rows in two batches with their own sources; an empty cell is null. */
static const char *const source[2] = { "1.50 x 2.00 y", "003  3.0 zz" };
static const struct dtx_span spans[2][2][2] = {
	{ { { 0, 4 }, { 7, 4 } }, { { 5, 1 }, { 12, 1 } } },
	{ { { 5, 3 }, { 4, 0 } }, { { 9, 2 }, { 0, 3 } } },
};

static enum dtx_code add_spans(struct dtx_table *t, int k, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;
	int c;

	DTX_TRY(dtx_batch_new(t->schema, 2, &b, err));
	for (c = 0; c < 2; c++) {
		b->col[c] = dtx_column_new(DTX_F_SPAN, fields[c].type, 2, NULL);
		if (!b->col[c])
			DTX_FAIL_MEM(err);
		b->col[c]->v.span = spans[k][c];
		b->col[c]->base = source[k];
		b->col[c]->dialect = DTX_CELLDIALECT_CSV;
		b->col[c]->nulls = UINT32_MAX;
	}
	rc = dtx_table_take(t, b, err);
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code make_input(struct dtx_table **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_table *t = NULL;

	DTX_TRY(dtx_table_new(&schema, &t, err));
	DTX_TRY(add_spans(t, 0, err));
	DTX_TRY(add_spans(t, 1, err));
	*out = t;
	t = NULL;
out:
	dtx_table_unref(t);
	return rc;
}

/* What a snippet returned: flat columns; NULL text is null. */
static enum dtx_code make_result(const double *amount, const char *const *text, uint32_t n,
                                 struct dtx_table **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_table *t = NULL;
	struct dtx_batch *b = NULL;
	struct dtx_builder build;
	uint32_t i;

	dtx_builder_init(&build, fields[0].type, n);
	DTX_TRY(dtx_table_new(&plain_schema, &t, err));
	DTX_TRY(dtx_batch_new(t->schema, n, &b, err));
	for (i = 0; i < n; i++) {
		if (amount[i] < 0)
			dtx_builder_null(&build);
		else
			dtx_builder_f64(&build, amount[i]);
	}
	DTX_TRY(dtx_builder_finish(&build, NULL, &b->col[0], err));
	dtx_builder_init(&build, fields[1].type, n);
	for (i = 0; i < n; i++)
		dtx_builder_text(&build, dtx_str_of(text[i]));
	DTX_TRY(dtx_builder_finish(&build, NULL, &b->col[1], err));
	rc = dtx_table_take(t, b, err);
	b = NULL;
	if (rc == DTX_OK) {
		*out = t;
		t = NULL;
	}
out:
	dtx_builder_clear(&build);
	dtx_batch_free(b);
	dtx_table_unref(t);
	return rc;
}

static const uint64_t rows[] = { 2, 0, 3, 1 };
static const double amounts[] = { 3.0, 1.5, -1, 2.0 };
static const char *const texts[] = { "zz", "x", "003", "y" };

#define ROOM ((uint64_t)1 << 20)

static enum dtx_code restored(struct dtx_table **out, const char *const *text, uint64_t room)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_table *in = NULL, *t = NULL;

	DTX_TRY(make_input(&in, NULL));
	DTX_TRY(make_result(amounts, text, 4, &t, NULL));
	DTX_TRY(dtx_restore_source_cells(&t, in, rows, room, NULL));
	if (out) {
		*out = t;
		t = NULL;
	}
out:
	dtx_table_unref(in);
	dtx_table_unref(t);
	return rc;
}

static void check_cells(const struct dtx_table *t, uint32_t col, const char *const *want)
{
	struct dtx_buf buf = DTX_BUF_INIT(100);
	uint32_t i;

	for (i = 0; i < 4; i++) {
		dtx_buf_reset(&buf);
		T_INT(dtx_column_is_null(t->batch[0]->col[col], i), want[i] == NULL);
		if (!want[i])
			continue;
		dtx_cast_print(t->batch[0]->col[col], i, &buf);
		T_STR(dtx_buf_text(&buf), want[i]);
	}
	dtx_buf_clear(&buf);
}

void test_restore_source_cells_gives_source_bytes_back(void)
{
	static const char *const amount_cells[] = { "3.0", "1.50", NULL, "2.00" };
	struct dtx_table *t = NULL;
	struct dtx_column *typed;

	T_CODE(restored(&t, texts, ROOM), DTX_OK, NULL);
	if (!t)
		return;
	T_INT(t->nrows, 4);
	T_INT(t->batch[0]->col[0]->form, DTX_F_SPAN);
	T_INT(t->batch[0]->col[1]->form, DTX_F_SPAN);
	check_cells(t, 0, amount_cells);
	check_cells(t, 1, texts);
	T_CHECK(t->schema->field[0].source && !t->schema->field[0].guessed);
	T_CODE(dtx_batch_value(t->batch[0], 0, &typed, NULL), DTX_OK, NULL);
	T_CHECK(typed->form == DTX_F_FLAT && typed->v.f64[3] == 2.0);
	dtx_table_unref(t);
}

void test_restore_source_cells_leaves_what_changed(void)
{
	static const char *const other[] = { "zz", "x", "3", "y" };
	struct dtx_table *t = NULL;

	T_CODE(restored(&t, other, ROOM), DTX_OK, NULL);
	if (!t)
		return;
	T_INT(t->batch[0]->col[0]->form, DTX_F_SPAN);
	T_INT(t->batch[0]->col[1]->form, DTX_F_FLAT);
	check_cells(t, 1, other);
	T_CHECK(!t->schema->field[1].source);
	dtx_table_unref(t);
}

/* Four rows of cells take 32 bytes per column and, in the worst case, twice their text and two
 * quotes each, because they come from two texts. */
void test_restore_source_cells_takes_no_more_than_its_room(void)
{
	static const struct {
		uint64_t room;
		int first, second;
	} list[] = { { 116, DTX_F_SPAN, DTX_F_SPAN },
		     { 115, DTX_F_SPAN, DTX_F_FLAT },
		     { 61, DTX_F_FLAT, DTX_F_SPAN },
		     { 53, DTX_F_FLAT, DTX_F_FLAT } };

	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		struct dtx_table *t = NULL;

		T_CODE(restored(&t, texts, list[i].room), DTX_OK, NULL);
		if (!t)
			continue;
		T_INT(t->batch[0]->col[0]->form, list[i].first);
		T_INT(t->batch[0]->col[1]->form, list[i].second);
		check_cells(t, 1, texts);
		dtx_table_unref(t);
	}
}

/* Rows that alternate between the first and the last batch of the input: each is found at once. */
void test_restore_source_cells_finds_rows_at_once(void)
{
	enum { BATCHES = 50000, ROWS = 65000 };
	static double amount[ROWS];
	static const char *text[ROWS];
	static uint64_t from[ROWS];
	struct dtx_table *in = NULL, *t = NULL;
	clock_t start;
	int i;

	T_CODE(dtx_table_new(&schema, &in, NULL), DTX_OK, NULL);
	for (i = 0; i < BATCHES; i++)
		T_CODE(add_spans(in, i % 2, NULL), DTX_OK, NULL);
	for (i = 0; i < ROWS; i++) {
		text[i] = "other";
		from[i] = i % 2 ? 2 * BATCHES - 1 : 0;
	}
	T_CODE(make_result(amount, text, ROWS, &t, NULL), DTX_OK, NULL);
	start = clock();
	T_CODE(dtx_restore_source_cells(&t, in, from, ROOM, NULL), DTX_OK, NULL);
	T_CHECK(clock() - start < CLOCKS_PER_SEC);
	dtx_table_unref(in);
	dtx_table_unref(t);
}

/* The row whose amount is null, four times: a worker then does not know its type; nor does it if
 * there are no rows. */
void test_restore_source_cells_gives_nulls_their_type(void)
{
	static const struct dtx_field field = { .name = "amount", .type = { DTX_T_NULL, 0, 0 } };
	static const struct dtx_schema nulls = { .nfields = 1, .field = &field };
	static const uint64_t from[] = { 3, 3, 3, 3 };

	for (uint32_t n = 0; n <= 4; n += 4) {
		struct dtx_table *in = NULL, *t = NULL;
		struct dtx_batch *b = NULL;

		T_OK(make_input(&in, NULL), NULL);
		T_OK(dtx_table_new(&nulls, &t, NULL), NULL);
		T_OK(dtx_batch_new(t->schema, n, &b, NULL), NULL);
		T_OK(dtx_column_nulls(field.type, n, &b->col[0], NULL), NULL);
		T_OK(dtx_table_take(t, b, NULL), NULL);
		T_OK(dtx_restore_source_cells(&t, in, from, ROOM, NULL), NULL);
		T_INT(t->schema->field[0].type.type, DTX_T_FLOAT64);
		T_INT(t->nrows, n);
		for (uint32_t i = 0; i < n; i++)
			T_CHECK(dtx_column_is_null(t->batch[0]->col[0], i));
		dtx_table_unref(in);
		dtx_table_unref(t);
	}
}

void test_restore_source_cells_every_alloc_fails(void)
{
	T_EVERY_ALLOC_FAILS(restored(NULL, texts, ROOM));
}

static enum dtx_code make_moments(struct dtx_table **out, struct dtx_err *err)
{
	static const struct dtx_field from_worker[] = {
		{ .name = "at", .type = { .type = DTX_T_DATETIME } },
		{ .name = "local", .type = { .type = DTX_T_DATETIME } },
		{ .name = "made", .type = { .type = DTX_T_DATETIME } },
	};
	static const struct dtx_schema s = { .nfields = 3, .field = from_worker };
	enum dtx_code rc = DTX_OK;
	struct dtx_table *t = NULL;
	struct dtx_batch *b = NULL;
	struct dtx_builder build;
	int c;

	DTX_TRY(dtx_table_new(&s, &t, err));
	DTX_TRY(dtx_batch_new(t->schema, 1, &b, err));
	for (c = 0; c < 3; c++) {
		dtx_builder_init(&build, from_worker[c].type, 1);
		dtx_builder_i64(&build, 1);
		DTX_TRY(dtx_builder_finish(&build, NULL, &b->col[c], err));
	}
	rc = dtx_table_take(t, b, err);
	b = NULL;
	*out = t;
	t = NULL;
out:
	dtx_batch_free(b);
	dtx_table_unref(t);
	return rc;
}

static enum dtx_code restore_utc(struct dtx_table **t, struct dtx_err *err)
{
	static const struct dtx_field field[] = {
		{ .name = "at", .type = { .type = DTX_T_DATETIME, .precision = DTX_UTC } },
		{ .name = "local", .type = { .type = DTX_T_DATETIME } },
	};
	static const struct dtx_schema input = { .nfields = 2, .field = field };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(make_moments(t, err));
	DTX_TRY(dtx_restore_utc(t, &input, err));
out:
	if (rc != DTX_OK) {
		dtx_table_unref(*t);
		*t = NULL;
	}
	return rc;
}

void test_restore_source_cells_marks_times_of_utc(void)
{
	struct dtx_table *t = NULL;
	struct dtx_buf text = DTX_BUF_INIT(256);
	int c;

	T_EVERY_ALLOC_FAILS(restore_utc(&t, NULL));
	for (c = 0; c < 3; c++) {
		dtx_cast_print(t->batch[0]->col[c], 0, &text);
		dtx_buf_addc(&text, ' ');
	}
	T_STR(dtx_buf_text(&text), "1970-01-01T00:00:00.000001Z 1970-01-01T00:00:00.000001 "
	                           "1970-01-01T00:00:00.000001 ");
	T_CHECK(dtx_type_is_utc(t->schema->field[0].type));
	dtx_buf_clear(&text);
	dtx_table_unref(t);
}
