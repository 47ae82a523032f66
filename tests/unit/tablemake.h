/* Makes small tables for tests of the jail and of frames. */
#ifndef TESTS_UNIT_TABLEMAKE_H
#define TESTS_UNIT_TABLEMAKE_H

#include "tests/t.h"

#include "core/data/builder.h"
#include "core/data/batch.h"

/* A table of every type with `n` rows.  A value is null where (row % 7) is the number of the
 * column. */
enum { TM_INT, TM_FLOAT, TM_BOOL, TM_DATE, TM_DATETIME, TM_DECIMAL, TM_TEXT, TM_COLUMNS };

static const struct dtx_field tm_fields[TM_COLUMNS] = {
	{ .name = "int", .type = { DTX_T_INT64, 0, 0 } },
	{ .name = "float", .type = { DTX_T_FLOAT64, 0, 0 } },
	{ .name = "bool", .type = { DTX_T_BOOL, 0, 0 } },
	{ .name = "date", .type = { DTX_T_DATE, 0, 0 } },
	{ .name = "datetime", .type = { DTX_T_DATETIME, 0, 0 } },
	{ .name = "decimal", .type = { DTX_T_DECIMAL, 12, 2 } },
	{ .name = "text", .type = { DTX_T_TEXT, 0, 0 } },
};

static inline void tm_add(struct dtx_builder *b, int column, int64_t i, bool nulls)
{
	char text[64];

	if (nulls && i % 7 == column) {
		dtx_builder_null(b);
		return;
	}
	switch (column) {
	case TM_INT: dtx_builder_i64(b, i * 1000003 - 7); break;
	case TM_FLOAT: dtx_builder_f64(b, (double)i / 8); break;
	case TM_BOOL: dtx_builder_bool(b, i % 3 == 0); break;
	case TM_DATE: dtx_builder_day(b, (int32_t)(19000 + i)); break;
	case TM_DATETIME: dtx_builder_i64(b, (19000 + i) * (int64_t)86400000000 + i); break;
	case TM_DECIMAL: dtx_builder_dec(b, (struct dtx_dec128){ (uint64_t)(i * 25), 0 }); break;
	default:
		snprintf(text, sizeof(text), i % 2 ? "t%d" : "a longer text with number %d",
		         (int)i % 50);
		dtx_builder_text(b, (struct dtx_str){ text, strlen(text) });
	}
}

static inline enum dtx_code tm_batch(struct dtx_table *t, int64_t from, uint32_t n, bool nulls,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *batch = NULL;
	struct dtx_builder b;
	uint32_t c, i;

	DTX_TRY(dtx_batch_new(t->schema, n, &batch, err));
	for (c = 0; c < t->schema->nfields; c++) {
		dtx_builder_init(&b, t->schema->field[c].type, n);
		for (i = 0; i < n; i++)
			tm_add(&b, (int)c, from + i, nulls);
		rc = dtx_builder_finish(&b, NULL, &batch->col[c], err);
		dtx_builder_clear(&b);
		if (rc != DTX_OK)
			goto out;
	}
	rc = dtx_table_take(t, batch, err);
	batch = NULL;
out:
	if (batch)
		dtx_batch_free(batch);
	return rc;
}

static inline enum dtx_code tm_table(int64_t n, bool nulls, struct dtx_table **out,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_schema schema = { .nfields = TM_COLUMNS, .field = tm_fields };
	struct dtx_table *t = NULL;
	int64_t at;

	DTX_TRY(dtx_table_new(&schema, &t, err));
	for (at = 0; at < n; at += DTX_BATCH_ROWS)
		DTX_TRY(tm_batch(t, at, (uint32_t)DTX_MIN(n - at, (int64_t)DTX_BATCH_ROWS), nulls,
		                 err));
	*out = t;
	t = NULL;
out:
	if (t)
		dtx_table_unref(t);
	return rc;
}

/* A table of `n` rows with `cols` int columns c0, c1 and so on; a value is row + column. */
DTX_MUSTUSE static inline enum dtx_code tm_wide(uint32_t cols, uint32_t n, struct dtx_table **out,
                                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_field *field = dtx_arena_zalloc(&arena, cols, sizeof(*field));
	struct dtx_schema schema = { .nfields = cols, .field = field };
	struct dtx_batch *batch = NULL;
	uint32_t c, i;

	if (!field)
		DTX_FAIL_MEM(err);
	for (c = 0; c < cols; c++)
		field[c] = (struct dtx_field){ .name = dtx_arena_printf(&arena, "c%u", c),
			                       .type = { DTX_T_INT64, 0, 0 } };
	DTX_TRY(dtx_table_new(&schema, out, err));
	DTX_TRY(dtx_batch_new((*out)->schema, n, &batch, err));
	for (c = 0; c < cols; c++) {
		struct dtx_builder b;

		dtx_builder_init(&b, field[c].type, n);
		for (i = 0; i < n; i++)
			dtx_builder_i64(&b, (int64_t)i + c);
		DTX_TRY(dtx_builder_finish(&b, NULL, &batch->col[c], err));
		dtx_builder_clear(&b);
	}
	rc = dtx_table_take(*out, batch, err);
	batch = NULL;
out:
	dtx_batch_free(batch);
	dtx_arena_clear(&arena);
	return rc;
}

#endif
