/* For columns that are declared with on_error null: cells that do not fit are null from here on. */
#include "core/io/columns.h"
#include "core/io/csv/csv.h"

enum dtx_code dtx_csv_settle(struct dtx_csv *c, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int32_t at;
	size_t i;

	for (i = 0; i < c->opts.ntypes && b->nrows; i++) {
		const struct dtx_read_type *t = &c->opts.types[i];

		at = t->on_error == DTX_CAST_NULL ? dtx_schema_find(c->schema, t->name) : -1;
		if (at >= 0 && b->col[at] && b->col[at]->form == DTX_F_SPAN)
			DTX_TRY(dtx_columns_cast(&c->head, &c->opts, b, (uint32_t)at, NULL, err));
	}
out:
	return rc;
}
