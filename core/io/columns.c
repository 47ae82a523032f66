/* Chooses and types the columns of an input, see columns.h. Names are compared exactly. */
#include "core/io/columns.h"

#include "core/base/strmap.h"

void dtx_columns_index(struct dtx_arena *arena, struct dtx_read_opts *opts)
{
	struct dtx_schema *names = dtx_arena_zalloc(arena, 1, sizeof(*names));
	struct dtx_field *field = dtx_arena_zalloc(arena, opts->ntypes + 1, sizeof(*field));
	size_t i;

	if (!names || !field || opts->ntypes > UINT32_MAX)
		return;
	for (i = 0; i < opts->ntypes; i++)
		field[i].name = opts->types[i].name ? opts->types[i].name : "";
	names->field = field;
	names->nfields = (uint32_t)opts->ntypes;
	dtx_schema_index(arena, names, names->nfields);
	opts->declared = names;
}

const struct dtx_read_type *dtx_columns_declared(const struct dtx_read_opts *opts, const char *name)
{
	int32_t at = -1;
	size_t i;

	if (opts->declared && opts->declared->nfields == opts->ntypes) {
		at = dtx_schema_find(opts->declared, name);
		return at < 0 ? NULL : &opts->types[at];
	}
	for (i = 0; i < opts->ntypes; i++) {
		if (strcmp(opts->types[i].name, name) == 0)
			return &opts->types[i];
	}
	return NULL;
}

static void hint_names(const char *const *names, uint32_t n, struct dtx_err *err)
{
	struct dtx_buf list = DTX_BUF_INIT(1 << 16);
	uint32_t i;

	for (i = 0; i < n && list.len < 200; i++)
		dtx_buf_printf(&list, "%s%.60s", i ? ", " : "", names[i]);
	dtx_err_hint(err, "its columns are: %s%s", dtx_buf_text(&list), i < n ? " ..." : "");
	dtx_buf_clear(&list);
}

/* If the name differs from an existing column only by a slip, that is an error of the plan;
 * otherwise the input lacks a column. */
static enum dtx_code lacks(const char *want, const char *label, const char *const *names,
                           uint32_t n, struct dtx_err *err)
{
	enum dtx_code code = DTX_E_MISSING_COLUMN;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (dtx_str_near(dtx_str_of(want), dtx_str_of(names[i])))
			code = DTX_E_UNKNOWN_COLUMN;
	}
	(void)dtx_err_set(err, code, __FILE__, __LINE__, "'%s' has no column '%.100s'", label,
	                  want);
	dtx_err_suggest(err, want, names, n);
	hint_names(names, n, err);
	return code;
}

enum dtx_code dtx_columns_choose(const struct dtx_read_opts *opts, const char *label,
                                 const char *const *names, uint32_t n, bool *keep,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_strmap at = DTX_STRMAP_INIT; /* name to its first column */
	size_t k;
	uint32_t i, first;

	for (i = 0; i < n; i++) {
		keep[i] = opts->extra == DTX_EXTRA_ALLOW;
		if (!dtx_strmap_put(&at, dtx_str_of(names[i]), i, &first))
			DTX_FAIL_MEM(err);
	}
	for (k = 0; k < opts->nrequires + opts->ntypes; k++) {
		const char *want = k < opts->nrequires ? opts->requires[k]
		                                       : opts->types[k - opts->nrequires].name;

		i = dtx_strmap_get(&at, dtx_str_of(want));
		if (i != DTX_STRMAP_NONE)
			keep[i] = true;
		else if (!opts->part)
			DTX_TRY(lacks(want, label, names, n, err));
	}
	for (i = 0; i < n; i++) {
		keep[i] = keep[dtx_strmap_get(&at, dtx_str_of(names[i]))];
		if (!keep[i] && opts->extra == DTX_EXTRA_ERROR) {
			rc = dtx_err_set(err, DTX_E_EXTRA_COLUMN, __FILE__, __LINE__,
			                 "'%s' has a column '%.100s' that the plan does not name",
			                 label, names[i]);
			dtx_err_hint(err, "\"extra\": \"drop\" leaves it out");
			goto out;
		}
	}
out:
	dtx_strmap_clear(&at);
	return rc;
}

static struct dtx_cast_spec spec_of(const struct dtx_read_opts *opts, const struct dtx_read_type *d,
                                    enum dtx_cast_error on_error)
{
	return (struct dtx_cast_spec){ .to = d->type,
		                       .format = d->format,
		                       .on_error = on_error,
		                       .declared = true,
		                       .decimal_comma = opts->decimal == ',',
		                       .group = opts->group };
}

static void blame_type(const struct dtx_batch *b, uint32_t row, uint32_t col, struct dtx_err *err)
{
	if (err) {
		err->row = -1;
		dtx_str_copy(err->declared, sizeof(err->declared),
		             dtx_str_of(b->schema->field[col].name));
	}
	dtx_batch_set_position(b, row, (int32_t)col, err);
}

void dtx_columns_count(struct dtx_reader *r, const struct dtx_cast_found *found)
{
	atomic_fetch_add_explicit(&r->misfits, found->misfits, memory_order_relaxed);
	atomic_fetch_add_explicit(&r->offsets, found->offsets, memory_order_relaxed);
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
	spec = spec_of(opts, d, d->on_error);
	if (dtx_type_is_utc(b->schema->field[col].type))
		spec.to = b->schema->field[col].type;
	rc = dtx_cast_column(b->col[col], &spec, &made, &count, err);
	if (rc != DTX_OK) {
		uint32_t row = err && err->row >= 0 ? (uint32_t)err->row : count.first_row;

		if (found)
			found->bad = row;
		blame_type(b, row, col, err);
		goto out;
	}
	dtx_column_unref(b->col[col]);
	b->col[col] = made;
	/* These counts are read when all workers are done. */
	if (found) {
		found->misfits += count.failed;
		found->offsets += count.offsets;
	} else {
		dtx_columns_count(r, &(struct dtx_cast_found){ 0, count.failed, count.offsets });
	}
out:
	return rc;
}

/* Casts the column again with null where a value fails. For rows that will be cut off. */
static enum dtx_code cast_anyway(const struct dtx_read_opts *opts, struct dtx_batch *b,
                                 uint32_t col, struct dtx_err *err)
{
	struct dtx_cast_spec spec = spec_of(
		opts, dtx_columns_declared(opts, b->schema->field[col].name), DTX_CAST_NULL);
	struct dtx_cast_count count = { 0 };
	struct dtx_column *made;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_cast_column(b->col[col], &spec, &made, &count, err));
	dtx_column_unref(b->col[col]);
	b->col[col] = made;
out:
	return rc;
}

enum dtx_code dtx_columns_cast_all(struct dtx_reader *r, const struct dtx_read_opts *opts,
                                   struct dtx_batch *b, const uint8_t *need, struct dtx_err *late,
                                   struct dtx_err *err)
{
	struct dtx_cast_found found, all = { 0 };
	uint32_t rows = b->nrows, i;
	enum dtx_code rc = DTX_OK;
	uint16_t *sel;

	for (i = 0; i < b->ncols; i++) {
		if (!b->col[i] || need[i] != DTX_NEED_VALUE)
			continue;
		found = (struct dtx_cast_found){ 0 };
		rc = dtx_columns_cast(r, opts, b, i, &found, err);
		all.misfits += found.misfits;
		all.offsets += found.offsets;
		if (rc == DTX_OK)
			continue;
		if (!found.bad)
			goto out;
		if (found.bad < rows)
			dtx_err_move(late, err);
		rows = DTX_MIN(rows, found.bad);
		dtx_err_clear(err);
		DTX_TRY(cast_anyway(opts, b, i, err));
	}
	dtx_columns_count(r, &all);
	if (rows == b->nrows)
		goto out;
	DTX_TRY(dtx_batch_sel(b, &sel, err));
	b->nsel = rows;
out:
	return rc;
}
