/* What the readers of files with typed columns share. See typed_columns.h. */
#include "core/io/typed_columns.h"

#include "core/base/memory/mem.h"
#include "core/base/strmap.h"
#include "core/io/columns.h"

enum {
	BATCH_CELLS_MAX = 4 << 20, /* cells of a batch, if it has more rows than: */
	BATCH_ROWS_MIN = 256,
	/* bytes of its frame, if it has more rows than: so it goes through the memory that is
	 * mapped once (DTX_WIRE_SLOT) */
	BATCH_FRAME_MAX = 3500 << 10,
	FRAME_ROWS_MIN = 8192,
	BATCH_TEXT_MAX = 32 << 20, /* bytes of its texts, if a column may have more than: */
	COLUMN_TEXT_MIN = 1 << 16,
	BATCH_SHARE = 16 /* of a small --memory, the part that these two may take */
};

enum dtx_code dtx_typed_note(struct dtx_reader *r, enum dtx_code code, int64_t count,
                             const char *what, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;

	if (!what)
		DTX_FAIL_MEM(err);
	dtx_err_set(&w, code, __FILE__, __LINE__, "'%s': %s", dtx_source_name(r->src), what);
	w.severity = DTX_SEV_WARNING;
	w.count = count;
	if (!dtx_errlist_take(&r->diags, &w))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_typed_note_counts(struct dtx_reader *r, struct dtx_typed_counts *c,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (c->noted)
		goto out;
	c->noted = true;
	if (c->not_finite)
		DTX_TRY(dtx_typed_note(
			r, DTX_W_NOT_FINITE, c->not_finite,
			dtx_arena_printf(&r->arena,
		                         "floats that are infinite or not a number became null: "
		                         "%lld",
		                         (long long)c->not_finite),
			err));
	if (c->cut)
		DTX_TRY(dtx_typed_note(
			r, DTX_W_READER_NOTE, c->cut,
			dtx_arena_printf(
				&r->arena,
				"times that lost nanoseconds, as a datetime has microseconds: %lld",
				(long long)c->cut),
			err));
out:
	return rc;
}

enum dtx_code dtx_typed_refuse(const struct dtx_reader *r, const char *column, const char *type,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_FAIL_NEXT(err, DTX_E_UNSUPPORTED_FORMAT,
	              "leave the column out, with \"extra\": \"drop\" or a select as first step",
	              "'%s': column '%.100s' has the type %s, which dtx does not read",
	              dtx_source_name(r->src), column, type);
out:
	return rc;
}

enum dtx_code dtx_typed_names(struct dtx_reader *r, const char **name, uint32_t n,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_strmap taken = DTX_STRMAP_INIT;
	uint32_t *next = dtx_mem_zalloc((size_t)n + 1, sizeof(*next)); /* numbers used up */
	uint32_t i, found, first;

	if (!next)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++) {
		const char *plain = name[i];

		if (!dtx_strmap_put(&taken, dtx_str_of(plain), i, &found))
			DTX_FAIL_MEM(err);
		for (first = found; found != i;) {
			name[i] = dtx_arena_printf(&r->arena, "%s_%u", plain, 2 + next[first]++);
			if (!name[i] || !dtx_strmap_put(&taken, dtx_str_of(name[i]), i, &found))
				DTX_FAIL_MEM(err);
		}
		if (name[i] != plain)
			DTX_TRY(dtx_typed_note(
				r, DTX_W_DUPLICATE_HEADER, -1,
				dtx_arena_printf(&r->arena, "'%.100s' is the name of two columns",
			                         plain),
				err));
	}
out:
	dtx_mem_free(next);
	dtx_strmap_clear(&taken);
	return rc;
}

void dtx_typed_field(const struct dtx_read_opts *opts, struct dtx_typeref type, bool json,
                     struct dtx_field *f)
{
	const struct dtx_read_type *d = dtx_columns_declared(opts, f->name);

	f->source = true;
	f->declared = d != NULL;
	f->input_name = d ? f->name : NULL;
	f->type = type;
	f->json = !d && json;
	if (d && d->on_error != DTX_CAST_KEEP_TEXT) {
		/* a datetime of UTC that is declared as a datetime stays one of UTC */
		if (d->type.type != DTX_T_DATETIME || d->format || !dtx_type_is_utc(f->type))
			f->type = d->type;
		f->format = d->format;
	}
}

static void locate(const struct dtx_origin *o, uint64_t row_id, struct dtx_place *out)
{
	(void)o;
	*out = (struct dtx_place){ (int64_t)row_id, -1 };
}

enum dtx_code dtx_typed_origin(struct dtx_reader *r, const char *alias, uint32_t ncols,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t *col = dtx_arena_zalloc(&r->arena, (size_t)ncols + 1, sizeof(*col)), i;

	for (i = 0; col && i < ncols; i++)
		col[i] = UINT32_MAX; /* columns have a name, but no letters */
	r->origin =
		(struct dtx_origin){ .locate = locate,
		                     .arg = r,
		                     .file = dtx_source_name(r->src),
		                     .alias = dtx_arena_strdup(&r->arena, alias ? alias : "main"),
		                     .sheet = "", /* not a text file, whose rows would be
		                                     lines */
		                     .physical_col = col,
		                     .ncols = ncols };
	if (!col || !r->origin.alias)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Bytes of a cell in a frame, about. */
static uint32_t cell_bytes(enum dtx_type type)
{
	switch (type) {
	case DTX_T_TEXT: return 24;
	case DTX_T_DECIMAL: return 16;
	case DTX_T_BOOL: return 1;
	default: return 8;
	}
}

void dtx_typed_batch_add(struct dtx_typed_batch *b, enum dtx_type type)
{
	b->cells++;
	b->bytes += cell_bytes(type);
}

uint32_t dtx_typed_batch_rows(const struct dtx_typed_batch *b)
{
	const uint32_t frame = (uint32_t)dtx_mem_share(BATCH_FRAME_MAX, BATCH_SHARE);
	const uint32_t least = frame < BATCH_FRAME_MAX ? BATCH_ROWS_MIN : FRAME_ROWS_MIN;
	uint32_t rows = DTX_MAX((uint32_t)BATCH_CELLS_MAX / DTX_MAX(b->cells, 1U),
	                        (uint32_t)BATCH_ROWS_MIN);

	return DTX_MIN(rows, DTX_MAX(frame / DTX_MAX(b->bytes, 1U), least));
}

size_t dtx_typed_batch_text(const struct dtx_typed_batch *b)
{
	return DTX_MAX(dtx_mem_share(BATCH_TEXT_MAX, BATCH_SHARE) / DTX_MAX(b->cells, 1U),
	               (size_t)COLUMN_TEXT_MIN);
}
