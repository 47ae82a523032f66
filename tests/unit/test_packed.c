/* Rows of many batches side by side: what is picked of them is what their columns say. */
#include "ops/cells.h"
#include "ops/packed.h"
#include "tests/unit/spanmake.h"

enum { COLS = 4, ROWS = 3, BATCHES = 2 };

static const struct dtx_field field[COLS] = {
	{ .name = "a", .type = { .type = DTX_T_TEXT } },
	{ .name = "b", .type = { .type = DTX_T_TEXT } },
	{ .name = "c", .type = { .type = DTX_T_TEXT } },
	{ .name = "d", .type = { .type = DTX_T_TEXT } },
};
static const struct dtx_schema schema = { COLS, false, (struct dtx_field *)(uintptr_t)field };

static struct dtx_batch *lines(const char *text)
{
	return span_lines(&schema, ROWS, text, ',');
}

static struct dtx_packed *packed_within(struct dtx_batch *const *batch, const uint32_t *want,
                                        uint32_t n, size_t reach)
{
	struct dtx_packed *p = NULL;

	T_OK(dtx_packed_new(2, batch, BATCHES, want, n, reach, &p, NULL), NULL);
	return p;
}

static struct dtx_packed *packed(struct dtx_batch *const *batch, const uint32_t *want, uint32_t n)
{
	return packed_within(batch, want, n, DTX_PACKED_REACH);
}

/* Picks rows of both batches, of all columns that are packed. */
static void pick_all(struct dtx_batch *const *batch, const struct dtx_packed *p)
{
	static const uint32_t which[] = { 1, 0, 0, 1, 1, 0, 1 }, row[] = { 2, 0, 2, 0, 1, 1, 2 };
	static const uint32_t packed_at[] = { 0, 1 };
	struct dtx_packed_cells cells = { .owner = NULL };
	struct dtx_owner *held = NULL;

	T_OK(dtx_cells_hold(batch, BATCHES, &held, NULL), NULL);
	struct dtx_pick pick = { batch, BATCHES, which, row, 7, held, p, packed_at };

	T_OK(dtx_packed_pick(&pick, &cells, NULL), NULL);
	for (uint32_t k = 0; k < p->n; k++) {
		struct dtx_column *src[BATCHES] = { batch[0]->col[p->col[k]],
			                            batch[1]->col[p->col[k]] };
		struct dtx_column *got = NULL, *want = NULL;

		T_OK(dtx_packed_column(&pick, k, field[k].type, &cells, &got, NULL), NULL);
		T_OK(dtx_cells_gather(src, BATCHES, which, row, 7, &field[k], &want, NULL), NULL);
		span_same(got, want);
		dtx_column_unref(got);
		dtx_column_unref(want);
	}
	dtx_owner_unref(cells.owner);
	dtx_owner_unref(held);
}

static const char plain[] = "1,,three,4\n\"x;\",\"\",y,\"say \"\"hi\"\"\"\n,,,\nA,B,C,D\n"
			    "five,6,,\"8\"\n9,ten,11,twelve\n";

void test_packed_cells_that_follow(void)
{
	static const uint32_t all[] = { 0, 1, 2, 3 };
	struct dtx_batch *batch[BATCHES] = { lines(plain), lines(strstr(plain, "A,B")) };
	struct dtx_packed *p = packed(batch, all, 4);

	T_CHECK(p && p->n == 4 && !p->gaps && p->narrow && p->stride == 8);
	pick_all(batch, p);
	dtx_packed_free(p);
	dtx_batch_free(batch[0]);
	dtx_batch_free(batch[1]);
}

void test_packed_cells_with_gaps(void)
{
	static const uint32_t some[] = { 0, 1, 3 };
	struct dtx_batch *batch[BATCHES] = { lines(plain), lines(strstr(plain, "A,B")) };
	struct dtx_packed *p = packed(batch, some, 3);

	T_CHECK(p && p->n == 3 && p->gaps && p->place[2] == -1 && p->place[3] == 2);
	pick_all(batch, p);
	dtx_packed_free(p);
	dtx_batch_free(batch[0]);
	dtx_batch_free(batch[1]);
}

/* Of texts that are farther from each other than a span reaches. */
void test_packed_cells_far(void)
{
	static const uint32_t all[] = { 0, 1, 2, 3 }, some[] = { 0, 1, 3 };
	struct dtx_batch *batch[BATCHES] = { lines(plain), lines(strstr(plain, "A,B")) };
	struct dtx_packed *p = packed_within(batch, all, 4, 0);

	T_CHECK(p && p->n == 4 && !p->gaps && !p->base);
	pick_all(batch, p);
	dtx_packed_free(p);
	p = packed_within(batch, some, 3, 0);
	T_CHECK(p && p->n == 3 && p->gaps && !p->base);
	pick_all(batch, p);
	dtx_packed_free(p);
	dtx_batch_free(batch[0]);
	dtx_batch_free(batch[1]);
}

/* A record has seven bits for a length: columns with a longer cell stay as they are. */
void test_packed_refuses(void)
{
	static const uint32_t all[] = { 0, 1, 2, 3 };
	static char text[400];
	char *at;
	struct dtx_batch *batch[BATCHES];

	for (int len = 127; len <= 128; len++) {
		struct dtx_packed *p;

		at = text + sprintf(text, "1,2,3,4\n5,");
		memset(at, 'x', (size_t)len);
		strcpy(at + len, ",7,8\n9,10,11,12\n");
		batch[0] = lines(plain);
		batch[1] = lines(text);
		p = packed(batch, all, 4);
		T_CHECK((p != NULL) == (len == 127));
		if (p)
			pick_all(batch, p);
		dtx_packed_free(p);
		T_CHECK(!packed(batch, all, 2)); /* too few to be worth it */
		dtx_column_unref(batch[1]->col[1]);
		batch[1]->col[1] = NULL; /* nobody has read it in one batch */
		T_CHECK(!(p = packed(batch, all, 3)));
		dtx_batch_free(batch[0]);
		dtx_batch_free(batch[1]);
	}
}
