/* Columns declared with on_error null: cells that do not fit are null from the reader on. */
#include "core/io/csv.h"

static enum dtx_code settle_column(struct dtx_csv *c, struct dtx_batch *b,
                                   const struct dtx_read_type *t, uint32_t i, int64_t *failed,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_field *field = &c->schema->field[i];
	struct dtx_cast_spec spec = { .to = field->type,
		                      .format = t->format,
		                      .on_error = DTX_CAST_NULL,
		                      .decimal_comma = field->decimal_comma,
		                      .group = field->group };
	struct dtx_cast_count count = { 0, 0 };
	struct dtx_column *made = NULL;

	DTX_TRY(dtx_cast_column(b->col[i], &spec, &made, &count, err));
	dtx_column_unref(b->col[i]);
	b->col[i] = made;
	*failed += count.failed;
out:
	return rc;
}

enum dtx_code dtx_csv_settle(struct dtx_csv *c, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t failed = 0;
	int32_t at;
	size_t i;

	for (i = 0; i < c->opts.ntypes && b->nrows; i++) {
		const struct dtx_read_type *t = &c->opts.types[i];

		at = t->on_error == DTX_CAST_NULL ? dtx_schema_find(c->schema, t->name) : -1;
		if (at >= 0 && b->col[at] && b->col[at]->form == DTX_F_SPAN)
			DTX_TRY(settle_column(c, b, t, (uint32_t)at, &failed, err));
	}
	if (failed) {
		pthread_mutex_lock(&c->lock);
		c->misfits += failed;
		pthread_mutex_unlock(&c->lock);
	}
out:
	return rc;
}
