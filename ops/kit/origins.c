/* Columns that say where cells come from: see origins.h. */
#include "ops/kit/origins.h"

void dtx_origins_init(struct dtx_origins *o, uint32_t rows)
{
	dtx_builder_init(&o->from, dtx_cells_fields[0].type, rows);
	dtx_builder_init(&o->of, dtx_cells_fields[1].type, rows);
	dtx_builder_init(&o->kind, dtx_cells_fields[2].type, rows);
}

void dtx_origins_add(struct dtx_origins *o, int64_t row, const char *of, const char *kind)
{
	if (row < 0)
		dtx_builder_null(&o->from);
	else
		dtx_builder_i64(&o->from, row + 1);
	if (of)
		dtx_builder_text(&o->of, dtx_str_of(of));
	else
		dtx_builder_null(&o->of);
	dtx_builder_text(&o->kind, dtx_str_of(kind));
}

enum dtx_code dtx_origins_put(struct dtx_origins *o, struct dtx_batch *b, struct dtx_err *err)
{
	struct dtx_builder *const to[] = { &o->from, &o->of, &o->kind };
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < DTX_CELLS_COLUMNS; i++) {
		struct dtx_column *made = NULL;

		DTX_TRY(dtx_builder_finish(to[i], NULL, &made, err));
		dtx_batch_put(b, b->ncols - DTX_CELLS_COLUMNS + i, made);
	}
out:
	for (uint32_t i = 0; i < DTX_CELLS_COLUMNS; i++)
		dtx_builder_clear(to[i]);
	return rc;
}
