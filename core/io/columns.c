/* Names are compared as written. */
#include "core/io/columns.h"

const struct dtx_read_type *dtx_columns_declared(const struct dtx_read_opts *opts, const char *name)
{
	size_t i;

	for (i = 0; i < opts->ntypes; i++) {
		if (strcmp(opts->types[i].name, name) == 0)
			return &opts->types[i];
	}
	return NULL;
}

static bool required(const struct dtx_read_opts *opts, const char *name)
{
	size_t i;

	for (i = 0; i < opts->nrequires; i++) {
		if (strcmp(opts->requires[i], name) == 0)
			return true;
	}
	return false;
}

static enum dtx_code must_have(const char *want, const char *label, const char *const *names,
                               uint32_t n, struct dtx_err *err)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (strcmp(want, names[i]) == 0)
			return DTX_OK;
	}
	(void)dtx_err_set(err, DTX_E_MISSING_COLUMN, __FILE__, __LINE__,
	                  "'%s' has no column '%.100s'", label, want);
	dtx_err_suggest(err, want, names, n);
	return DTX_E_MISSING_COLUMN;
}

enum dtx_code dtx_columns_choose(const struct dtx_read_opts *opts, const char *label,
                                 const char *const *names, uint32_t n, bool *keep,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t k;
	uint32_t i;

	for (k = 0; k < opts->nrequires && !opts->part; k++)
		DTX_TRY(must_have(opts->requires[k], label, names, n, err));
	for (k = 0; k < opts->ntypes && !opts->part; k++)
		DTX_TRY(must_have(opts->types[k].name, label, names, n, err));
	for (i = 0; i < n; i++) {
		keep[i] = opts->extra == DTX_EXTRA_ALLOW || required(opts, names[i]) ||
		          dtx_columns_declared(opts, names[i]);
		if (!keep[i] && opts->extra == DTX_EXTRA_ERROR) {
			rc = dtx_err_set(err, DTX_E_EXTRA_COLUMN, __FILE__, __LINE__,
			                 "'%s' has a column '%.100s' that the plan does not name",
			                 label, names[i]);
			dtx_err_hint(err, "\"extra\": \"drop\" leaves it out");
			goto out;
		}
	}
out:
	return rc;
}

enum dtx_code dtx_columns_cast(struct dtx_reader *r, const struct dtx_read_opts *opts,
                               struct dtx_batch *b, uint32_t col, struct dtx_cast_found *found,
                               struct dtx_err *err)
{
	const struct dtx_read_type *d = dtx_columns_declared(opts, b->schema->field[col].name);
	struct dtx_cast_spec spec;
	struct dtx_cast_count count = { 0 };
	struct dtx_column *made;
	enum dtx_code rc = DTX_OK;

	if (!d || d->on_error == DTX_CAST_KEEP_TEXT)
		goto out;
	spec = (struct dtx_cast_spec){ d->type, d->format, d->on_error, opts->decimal == ',',
		                       opts->group };
	rc = dtx_cast_column(b->col[col], &spec, &made, &count, err);
	if (rc != DTX_OK) {
		uint32_t row = err && err->row >= 0 ? (uint32_t)err->row : count.first_row;

		if (found)
			found->bad = row;
		if (err)
			err->row = -1;
		dtx_batch_blame(b, row, (int32_t)col, err);
		goto out;
	}
	dtx_column_unref(b->col[col]);
	b->col[col] = made;
	/* Read when all workers are done. */
	if (found)
		found->misfits += count.failed;
	else
		atomic_fetch_add_explicit(&r->misfits, count.failed, memory_order_relaxed);
out:
	return rc;
}
