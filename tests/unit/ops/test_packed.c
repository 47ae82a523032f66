/* Rows of many batches as records: picked rows are what the columns say. */
#include "core/data/cells.h"
#include "ops/sort/packed.h"
#include "tests/unit/spanmake.h"

enum { COLS = 4, ROWS = 3, BATCHES = 2 };

static const struct dtx_field field[COLS] = {
	{ .name = "a", .type = { .type = DTX_T_TEXT } },
	{ .name = "b", .type = { .type = DTX_T_TEXT } },
	{ .name = "c", .type = { .type = DTX_T_TEXT } },
	{ .name = "d", .type = { .type = DTX_T_TEXT } },
};
static const struct dtx_schema schema = { .nfields = COLS,
	                                  .field = (struct dtx_field *)(uintptr_t)field };

static struct dtx_batch *lines(const char *text)
{
	struct dtx_batch *b = span_lines(&schema, ROWS, text, ',');

	for (uint32_t i = 0; i < COLS; i++)
		b->col[i]->apart = true; /* no owner has the text */
	return b;
}

/* Both batches with their records, which batches keep instead of spans. */
struct pair {
	struct dtx_batch *batch[BATCHES], *whole[BATCHES]; /* whole: with their spans */
	struct dtx_rowspans_cols cols;
	struct dtx_rowspans row[BATCHES];
};

static void pair_open(struct pair *p, const char *first, const char *second, const uint32_t *want,
                      uint32_t n)
{
	*p = (struct pair){ .batch = { lines(first), lines(second) } };
	T_OK(dtx_rowspans_choose(p->batch[0], want, n, &p->cols, NULL), NULL);
	T_INT(p->cols.n, n);
	T_CHECK(dtx_rowspans_alike(&p->cols, p->batch[0], p->batch[1]));
	for (uint32_t i = 0; i < BATCHES; i++) {
		T_OK(dtx_batch_copy(p->batch[i], &p->whole[i], NULL), NULL);
		T_OK(dtx_rowspans_make(&p->cols, p->batch[i], &p->row[i], NULL), NULL);
		T_CHECK(p->row[i].rec);
		T_OK(dtx_rowspans_strip(&p->cols, p->batch[i], NULL), NULL);
	}
}

static void pair_close(struct pair *p)
{
	for (uint32_t i = 0; i < BATCHES; i++) {
		dtx_rowspans_clear(&p->row[i]);
		dtx_batch_free(p->batch[i]);
		dtx_batch_free(p->whole[i]);
	}
	dtx_rowspans_cols_clear(&p->cols);
}

/* Picks rows of both batches, with all columns that have records. */
static void pick_rows(const struct pair *p, const struct dtx_packed *packed, struct dtx_owner *held)
{
	static const uint32_t which[] = { 1, 0, 0, 1, 1, 0, 1 }, row[] = { 2, 0, 2, 0, 1, 1, 2 };
	static const uint32_t packed_at[] = { 0, 1 };
	struct dtx_packed_cells cells = { .owner = NULL };
	struct dtx_pick pick = { p->batch, BATCHES, which, row, 7, held, packed, packed_at };

	T_OK(dtx_packed_pick(&pick, &cells, NULL), NULL);
	for (uint32_t k = 0; k < p->cols.n; k++) {
		uint32_t col = p->cols.col[k];
		struct dtx_column *src[BATCHES] = { p->whole[0]->col[col], p->whole[1]->col[col] };
		struct dtx_column *got = NULL, *want = NULL;

		T_OK(dtx_packed_column(&pick, k, field[col].type, &cells, &got, NULL), NULL);
		T_OK(dtx_cells_gather(src, BATCHES, which, row, 7, &field[col], &want, NULL), NULL);
		span_same(got, want);
		dtx_column_unref(got);
		dtx_column_unref(want);
	}
	dtx_owner_unref(cells.owner);
}

/* Cells in place; copied, because nothing owns the texts; and copied, because the texts are too far
 * from each other. */
static void pick_all(const struct pair *p)
{
	struct dtx_packed *near = NULL, *far = NULL;
	struct dtx_owner *held = NULL;

	T_OK(dtx_cells_hold(p->batch, BATCHES, &held, NULL), NULL);
	T_OK(dtx_packed_new(&p->cols, p->batch, p->row, BATCHES, DTX_PACKED_REACH, &near, NULL),
	     NULL);
	T_OK(dtx_packed_new(&p->cols, p->batch, p->row, BATCHES, 0, &far, NULL), NULL);
	T_CHECK(near->base && !far->base);
	pick_rows(p, near, held);
	pick_rows(p, near, NULL);
	pick_rows(p, far, held);
	dtx_packed_free(near);
	dtx_packed_free(far);
	dtx_owner_unref(held);
}

/* Restores what strip removed. */
static void restore_all(struct pair *p)
{
	for (uint32_t i = 0; i < BATCHES; i++) {
		T_OK(dtx_rowspans_restore(&p->cols, &p->row[i], p->batch[i], NULL), NULL);
		for (uint32_t c = 0; c < COLS; c++)
			span_same(p->batch[i]->col[c], p->whole[i]->col[c]);
	}
}

static const uint32_t all[] = { 0, 1, 2, 3 }, some[] = { 0, 1, 3 };
/* Quoted cells, empty cells with and without quotes, a delimiter in one of them. */
static const char plain[] = "1,,three,4\n\"x;\",\"\",y,\"say \"\"hi\"\"\"\n,,,\nA,B,C,D\n"
			    "five,6,,\"8\"\n9,ten,11,twelve\n";

static void check_pair(const char *first, const char *second, const uint32_t *want, uint32_t n,
                       enum dtx_rowspans_form a, enum dtx_rowspans_form b)
{
	struct pair p;

	pair_open(&p, first, second, want, n);
	T_INT(p.row[0].form, a);
	T_INT(p.row[1].form, b);
	T_CHECK(!p.batch[0]->col[0]->v.span);
	pick_all(&p);
	restore_all(&p);
	pair_close(&p);
}

void test_packed_cells_that_follow(void)
{
	struct pair p;

	check_pair(plain, strstr(plain, "A,B"), all, 4, DTX_ROWSPANS_CLOSE, DTX_ROWSPANS_CLOSE);
	pair_open(&p, plain, plain, all, 4);
	T_INT(p.row[0].stride, 8);
	pair_close(&p);
}

void test_packed_cells_with_gaps(void)
{
	check_pair(plain, strstr(plain, "A,B"), some, 3, DTX_ROWSPANS_GAPS, DTX_ROWSPANS_GAPS);
}

/* A byte has seven bits for a length, so a batch with a longer cell has records of whole spans. */
void test_packed_wide_cells(void)
{
	static char text[400];

	for (int len = 127; len <= 128; len++) {
		char *at = text + sprintf(text, "1,2,3,4\n5,");
		enum dtx_rowspans_form form = len == 127 ? DTX_ROWSPANS_CLOSE : DTX_ROWSPANS_WIDE;

		memset(at, 'x', (size_t)len);
		strcpy(at + len, ",7,8\n9,10,11,12\n");
		check_pair(plain, text, all, 4, DTX_ROWSPANS_CLOSE, form);
	}
}

/* Nulls that the validity bits of a column mark are nulls in the records, which have no such
 * bits. */
void test_packed_nulls(void)
{
	static const uint64_t valid = 5; /* the second row is null */
	struct pair p;

	for (uint32_t c = 0; c < COLS; c++) {
		struct dtx_batch *b = lines(plain);
		struct dtx_rowspans row;
		struct dtx_span got[COLS];

		b->col[c]->valid = &valid;
		pair_open(&p, plain, plain, all, 4);
		T_OK(dtx_rowspans_make(&p.cols, b, &row, NULL), NULL);
		T_CHECK(row.rec);
		for (uint32_t r = 0; r < ROWS; r++) {
			dtx_rowspans_get(row.rec + (size_t)r * row.stride, row.form, COLS, 0, 1,
			                 got);
			for (uint32_t k = 0; k < COLS; k++) {
				T_INT(got[k].len == 0, dtx_column_is_null(b->col[k], r));
				if (got[k].len)
					T_INT(got[k].off, b->col[k]->v.span[r].off);
			}
		}
		dtx_rowspans_clear(&row);
		dtx_batch_free(b);
		pair_close(&p);
	}
}

static bool has_records(const struct dtx_rowspans_cols *cols, const struct dtx_batch *b)
{
	struct dtx_rowspans row;
	bool has;

	T_OK(dtx_rowspans_make(cols, b, &row, NULL), NULL);
	has = row.rec != NULL;
	dtx_rowspans_clear(&row);
	return has;
}

void test_packed_refuses(void)
{
	static char text[DTX_ROWSPANS_TEXT + 100];
	struct dtx_rowspans_cols cols = { .n = 0 };
	struct dtx_batch *b = lines(plain), *other;
	struct dtx_column *second = b->col[1], *third = b->col[2];

	T_OK(dtx_rowspans_choose(b, all, 2, &cols, NULL), NULL);
	T_INT(cols.n, 0); /* too few columns to be worth it */
	b->col[0]->base = plain + 1;
	T_OK(dtx_rowspans_choose(b, all, 4, &cols, NULL), NULL);
	T_INT(cols.n, 0); /* one of them is in another text */
	b->col[0]->base = plain;
	T_OK(dtx_rowspans_choose(b, all, 4, &cols, NULL), NULL);
	T_INT(cols.n, 4);
	T_CHECK(has_records(&cols, b));
	b->col[1] = third; /* cells that are not in the order of their columns */
	b->col[2] = second;
	T_CHECK(!has_records(&cols, b));
	b->col[1] = NULL; /* this column was not read in this batch */
	T_CHECK(!has_records(&cols, b));
	b->col[1] = second;
	b->col[2] = third;
	other = span_lines(&schema, ROWS, "1;2;3;4\n5;6;7;8\n9;a;b;c\n", ';');
	T_CHECK(!dtx_rowspans_alike(&cols, b, other));
	dtx_batch_free(other);
	for (int more = 0; more < 2; more++) { /* the text of a row has exactly the longest length,
		                                * then one byte more */
		char *at = text + sprintf(text, "1,2,3,4\n5,");

		memset(at, 'x', DTX_ROWSPANS_TEXT);
		strcpy(at + DTX_ROWSPANS_TEXT - strlen("5,,7,8") + (size_t)more,
		       ",7,8\n9,10,11,12\n");
		other = lines(text);
		T_INT(has_records(&cols, other), !more);
		dtx_batch_free(other);
	}
	dtx_rowspans_cols_clear(&cols);
	dtx_batch_free(b);
}

/* There and back, and rows picked on the way. */
static enum dtx_code round_trip(const struct dtx_batch *whole)
{
	static const uint32_t which[] = { 0, 0 }, row[] = { 2, 0 }, packed_at[] = { 0 };
	struct dtx_rowspans_cols cols = { .n = 0 };
	struct dtx_rowspans records = { .rec = NULL };
	struct dtx_packed_cells cells = { .owner = NULL };
	struct dtx_packed *packed = NULL;
	struct dtx_batch *b = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_batch_copy(whole, &b, NULL));
	DTX_TRY(dtx_rowspans_choose(b, all, COLS, &cols, NULL));
	DTX_TRY(dtx_rowspans_make(&cols, b, &records, NULL));
	DTX_TRY(dtx_rowspans_strip(&cols, b, NULL));
	DTX_TRY(dtx_packed_new(&cols, &b, &records, 1, DTX_PACKED_REACH, &packed, NULL));
	struct dtx_pick pick = { &b, 1, which, row, 2, NULL, packed, packed_at };

	DTX_TRY(dtx_packed_pick(&pick, &cells, NULL));
	DTX_TRY(dtx_rowspans_restore(&cols, &records, b, NULL));
	for (uint32_t c = 0; c < COLS; c++)
		for (uint32_t r = 0; r < ROWS; r++)
			T_INT(b->col[c]->v.span[r].off, whole->col[c]->v.span[r].off);
out:
	dtx_owner_unref(cells.owner);
	dtx_packed_free(packed);
	dtx_rowspans_clear(&records);
	dtx_rowspans_cols_clear(&cols);
	dtx_batch_free(b);
	return rc;
}

void test_packed_memory(void)
{
	struct dtx_batch *whole = lines(plain);

	T_OK(round_trip(whole), NULL);
	T_EVERY_ALLOC_FAILS(round_trip(whole));
	dtx_batch_free(whole);
}
