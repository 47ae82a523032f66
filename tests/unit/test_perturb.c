/* Changed copies of tables. */
#include "cli/why/perturb.h"

#include "core/data/builder.h"
#include "core/data/cast/cast.h"
#include "tests/t.h"

/* A text column t = a, b, null and an int column n = 1, 2, 3. */
static struct dtx_table *perturb_table(void)
{
	struct dtx_field field[] = { { .name = "t", .type = { DTX_T_TEXT, 0, 0 } },
		                     { .name = "n", .type = { DTX_T_INT64, 0, 0 } } };
	struct dtx_schema s = { .nfields = 2, .field = field };
	struct dtx_builder text, number;
	struct dtx_table *t = NULL;
	struct dtx_batch *b = NULL;

	T_OK(dtx_table_new(&s, &t, NULL), NULL);
	T_OK(dtx_batch_new(t->schema, 3, &b, NULL), NULL);
	dtx_builder_init(&text, field[0].type, 3);
	dtx_builder_init(&number, field[1].type, 3);
	dtx_builder_text(&text, DTX_STR("a"));
	dtx_builder_text(&text, DTX_STR("b"));
	dtx_builder_null(&text);
	for (int i = 1; i <= 3; i++)
		dtx_builder_i64(&number, i);
	T_OK(dtx_builder_finish(&text, NULL, &b->col[0], NULL), NULL);
	T_OK(dtx_builder_finish(&number, NULL, &b->col[1], NULL), NULL);
	dtx_builder_clear(&text);
	dtx_builder_clear(&number);
	T_OK(dtx_table_take(t, b, NULL), NULL);
	return t;
}

static void perturb_print(const struct dtx_table *t, struct dtx_buf *out)
{
	dtx_buf_reset(out);
	for (uint32_t r = 0; r < 3; r++)
		for (uint32_t c = 0; c < 2; c++) {
			dtx_cast_print(t->batch[0]->col[c], r, out);
			dtx_buf_addc(out, c ? ' ' : ',');
		}
}

static const struct perturb_row {
	bool column[2];
	enum dtx_perturb_how how;
	int64_t from, to;
	const char *want;
} perturb_rows[] = {
	{ { false, false }, DTX_PERTURB_NULL, 0, 3, "a,1 b,2 ,3 " },
	{ { true, false }, DTX_PERTURB_MOVE, 0, 3, "b,1 ,2 a,3 " },
	{ { true, true }, DTX_PERTURB_NULL, 1, 2, "a,1 , ,3 " },
	{ { false, true }, DTX_PERTURB_CONSTANT, 0, 3, "a,1 b,1 ,1 " },
	{ { true, true }, DTX_PERTURB_RELABEL, 0, 2, "a~,2 b~,3 ,3 " },
	{ { true, false }, DTX_PERTURB_RELABEL, 2, 3, "a,1 b,2 ,3 " },
};

void test_perturb(void)
{
	struct dtx_table *t = perturb_table(), *out = NULL;
	struct dtx_buf text = DTX_BUF_INIT(1 << 10);

	for (size_t i = 0; i < DTX_COUNT(perturb_rows); i++) {
		const struct perturb_row *row = &perturb_rows[i];
		struct dtx_perturb p = { row->column, row->how, row->from, row->to };

		T_OK(dtx_perturb(t, &p, &out, NULL), NULL);
		perturb_print(out, &text);
		T_STR(dtx_buf_text(&text), row->want);
		dtx_table_unref(out);
		perturb_print(t, &text); /* the table itself stays */
		T_STR(dtx_buf_text(&text), "a,1 b,2 ,3 ");
	}
	dtx_buf_clear(&text);
	dtx_table_unref(t);
}

static enum dtx_code perturb_once(struct dtx_table *t)
{
	static const bool column[] = { true, true };
	struct dtx_perturb p = { column, DTX_PERTURB_RELABEL, 0, 3 };
	struct dtx_table *out = NULL;
	enum dtx_code rc = dtx_perturb(t, &p, &out, NULL);

	dtx_table_unref(out);
	return rc;
}

void test_perturb_every_alloc_fails(void)
{
	struct dtx_table *t = perturb_table();

	T_EVERY_ALLOC_FAILS(perturb_once(t));
	dtx_table_unref(t);
}
