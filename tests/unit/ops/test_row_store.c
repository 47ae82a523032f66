/* Cells as records: what is picked from them, and what they give back, is what they were. */
#include "core/data/cells.h"
#include "ops/kit/opkit.h"
#include "ops/kit/row_store.h"
#include "tests/unit/spanmake.h"

enum { COLS = 3, ROWS = 3, BATCHES = 2 };

static const struct dtx_field field[COLS] = {
	{ .name = "a", .type = { .type = DTX_T_TEXT } },
	{ .name = "b", .type = { .type = DTX_T_TEXT } },
	{ .name = "c", .type = { .type = DTX_T_TEXT } },
};
static const struct dtx_schema schema = { .nfields = COLS,
	                                  .field = (struct dtx_field *)(uintptr_t)field };

static struct dtx_batch *lines(const char *text, char delim)
{
	return span_lines(&schema, ROWS, text, delim);
}

static struct dtx_row_store *taken(struct dtx_batch *b, const uint32_t *col, uint32_t n)
{
	struct dtx_row_store *r = NULL;

	T_OK(dtx_row_store_take(b, col, n, &r, NULL), NULL);
	return r;
}

static const char one[] = "1,,three\n\"x;\",\"\",\"say \"\"hi\"\"\"\n,,\n";
static const char two[] = "five,6,\nA,B,C\n9,ten,\"1,2\"\n";
static const uint32_t cols[] = { 0, 2 };

static struct dtx_row_store_set *set_of(struct dtx_batch *const *batch)
{
	struct dtx_row_store **cells = dtx_mem_alloc(BATCHES, sizeof(struct dtx_row_store *));
	struct dtx_row_store_set *s = NULL;

	T_CHECK(cells);
	for (uint32_t i = 0; i < BATCHES; i++)
		cells[i] = taken(batch[i], cols, 2);
	T_CHECK(dtx_row_store_alike(cells, BATCHES));
	T_OK(dtx_row_store_set_new(cols, 2, COLS, cells, BATCHES, &s, NULL), NULL);
	return s;
}

struct picks {
	const uint32_t *which, *row;
	uint32_t n;
};

/* What is picked from the set is the same as what is gathered from the batches. */
static void picks_same(const struct dtx_row_store_set *s, const struct picks *of_set,
                       struct dtx_batch *const *batch, const struct picks *of_batch)
{
	const struct dtx_typeref type[] = { field[0].type, field[2].type };
	struct dtx_column *got[2] = { NULL, NULL };

	T_OK(dtx_row_store_pick(s, of_set->which, of_set->row, of_set->n, type, got, NULL), NULL);
	for (uint32_t k = 0; k < 2; k++) {
		struct dtx_column *src[] = { batch[0]->col[cols[k]], batch[1]->col[cols[k]] };
		struct dtx_column *want = NULL;

		T_OK(dtx_cells_gather(src, BATCHES, of_batch->which, of_batch->row, of_batch->n,
		                      &field[cols[k]], &want, NULL),
		     NULL);
		span_same(got[k], want);
		dtx_column_unref(want);
		dtx_column_unref(got[k]);
	}
}

static void batches_free(struct dtx_batch *const *batch)
{
	for (uint32_t i = 0; i < BATCHES; i++)
		dtx_batch_free(batch[i]);
}

void test_row_store_pick(void)
{
	static const uint32_t which[] = { 1, 0, DTX_NOWHERE, 1, 1, 0, 0, 1 };
	static const uint32_t row[] = { 2, 0, 0, 0, 1, 1, 2, 2 };
	const struct picks picks = { which, row, DTX_COUNT(row) };
	struct dtx_batch *batch[BATCHES] = { lines(one, ','), lines(two, ',') };
	struct dtx_batch *same[BATCHES] = { lines(one, ','), lines(two, ',') };
	struct dtx_row_store_set *s = set_of(batch);

	T_CHECK(!batch[0]->col[0] && batch[0]->col[1] && !batch[0]->col[2]);
	picks_same(s, &picks, same, &picks);
	dtx_row_store_set_free(s);
	batches_free(batch);
	batches_free(same);
}

/* Merges two batches, whose records have one and two words, into one, each in its own order. */
void test_row_store_moved(void)
{
	static const char narrow[] = "a,,b\n,,\nc,,\"\"\n", wide[] = "dd,,ee\nf,,three\n,,g\n";
	static const uint16_t order[] = { 2, 0, 1 };
	static const uint32_t to[BATCHES][ROWS] = { { 4, 1, 2 }, { 3, 0, 5 } };
	static const uint32_t first[] = { 0, 0, 0, 0, DTX_NOWHERE, 0, 0 };
	static const uint32_t place[] = { 0, 1, 2, 3, 0, 4, 5 };
	static const uint32_t which[] = { 1, 0, 0, 1, DTX_NOWHERE, 0, 1 };
	static const uint32_t row[] = { 0, 0, 1, 2, 0, 2, 1 };
	struct dtx_batch *batch[BATCHES] = { lines(narrow, ','), lines(wide, ',') };
	struct dtx_batch *same[BATCHES] = { lines(narrow, ','), lines(wide, ',') };
	struct dtx_row_store_set *s = set_of(batch);
	struct dtx_row_store *all = NULL;

	T_CHECK(dtx_row_store_movable(s) && s->batch[0]->stride < s->batch[1]->stride);
	T_OK(dtx_row_store_one_new(s, BATCHES * ROWS, &all, NULL), NULL);
	for (uint32_t i = 0; i < BATCHES; i++) {
		struct dtx_row_store *r = s->batch[i];

		T_OK(dtx_row_store_permute(r, order, ROWS, NULL), NULL);
		for (uint32_t k = 0; k < ROWS; k++)
			dtx_row_store_one_put(all, to[i][k], r, r->rec + (size_t)k * r->stride);
	}
	dtx_row_store_set_one(s, all);
	picks_same(s, &(struct picks){ first, place, DTX_COUNT(place) }, same,
	           &(struct picks){ which, row, DTX_COUNT(row) });
	dtx_row_store_set_free(s);
	batches_free(batch);
	batches_free(same);
}

void test_row_store_back(void)
{
	struct dtx_batch *b = lines(one, ','), *same = lines(one, ',');

	T_OK(dtx_row_store_back(taken(b, cols, 2), cols, 2, b, NULL), NULL);
	for (uint32_t i = 0; i < COLS; i++)
		span_same(b->col[i], same->col[i]);
	dtx_batch_free(b);
	dtx_batch_free(same);
}

/* Cells that are too long for a record, of which two columns have 32 bytes; and columns that are
 * not text. */
void test_row_store_refuses(void)
{
	static char text[200];
	struct dtx_batch *b;

	for (int len = 27; len <= 29; len++) {
		struct dtx_row_store *r;

		memset(text, 'x', sizeof(text));
		strcpy(text + len, ",2,\n4,5,6\n7,8,9\n");
		b = lines(text, ',');
		r = taken(b, cols, 2);
		T_CHECK((r != NULL) == (len <= 28) && (b->col[0] == NULL) == (r != NULL));
		dtx_row_store_free(r);
		dtx_batch_free(b);
	}
	b = lines(one, ',');
	dtx_column_unref(b->col[2]);
	b->col[2] = NULL; /* this column was not read */
	T_CHECK(!taken(b, cols, 2) && b->col[0]);
	T_CHECK(!taken(b, cols, 0));
	dtx_batch_free(b);
}

void test_row_store_alike(void)
{
	struct dtx_batch *a = lines(one, ','), *b = lines("1;2;3\n4;5;6\n7;8;9\n", ';');
	struct dtx_row_store *r[] = { taken(a, cols, 2), taken(b, cols, 2), NULL };

	T_CHECK(r[0] && r[1] && dtx_row_store_alike(r, 1) && !dtx_row_store_alike(r, 2));
	T_CHECK(!dtx_row_store_alike(r + 2, 1) && !dtx_row_store_alike(r, 0));
	dtx_row_store_free(r[0]);
	dtx_row_store_free(r[1]);
	dtx_batch_free(a);
	dtx_batch_free(b);
}
