/* See restore.h. */
#include "sandbox/restore.h"

#include "core/base/mem.h"

/* Where a row of the result was in the input. */
struct place {
	uint32_t batch, row;
};

struct restore {
	struct dtx_table *from, *to;
	struct place *place; /* per row of `to` */
	int32_t *source;     /* per column of `to`: column of `from` that it equals, -1: none */
	uint64_t room;       /* bytes that cells may still take */
};

/* --- places --- */

/* The batch of a row; a walk through all of them for each row is what a hostile result would ask
 * for. */
static size_t find_batch(const uint64_t *start, size_t n, uint64_t row)
{
	size_t lo = 0, hi = n;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (row < start[mid])
			hi = mid;
		else
			lo = mid;
	}
	return lo;
}

static enum dtx_code find_places(struct restore *r, const uint64_t *rows, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t *start = dtx_mem_alloc(r->from->nbatches + 1, sizeof(*start));
	size_t at = 0, i;

	if (!start)
		DTX_FAIL_MEM(err);
	start[0] = 0;
	for (i = 0; i < r->from->nbatches; i++)
		start[i + 1] = start[i] + r->from->batch[i]->nsel;
	for (i = 0; i < (size_t)r->to->nrows; i++) {
		const struct dtx_batch *b;
		uint64_t k;

		if (rows[i] < start[at] || rows[i] >= start[at + 1]) /* rows mostly ascend */
			at = find_batch(start, r->from->nbatches, rows[i]);
		b = r->from->batch[at];
		k = rows[i] - start[at];
		r->place[i] = (struct place){ (uint32_t)at, b->sel ? b->sel[k] : (uint32_t)k };
	}
out:
	dtx_mem_free(start);
	return rc;
}

/* --- comparing --- */

static bool same_value(const struct dtx_column *a, uint32_t i, const struct dtx_column *b,
                       uint32_t j)
{
	bool null = dtx_column_is_null(a, i);

	if (null || dtx_column_is_null(b, j))
		return null && dtx_column_is_null(b, j);
	i = a->form == DTX_F_CONST ? 0 : i;
	j = b->form == DTX_F_CONST ? 0 : j;
	switch (a->type.type) {
	case DTX_T_TEXT: return dtx_str_eq(dtx_column_text(a, i), dtx_column_text(b, j));
	case DTX_T_BOOL: return dtx_bit(a->v.bits, i) == dtx_bit(b->v.bits, j);
	case DTX_T_DATE: return a->v.day[i] == b->v.day[j];
	case DTX_T_DECIMAL: return !memcmp(&a->v.dec[i], &b->v.dec[j], sizeof(*a->v.dec));
	case DTX_T_INT64:
	case DTX_T_DATETIME:
	case DTX_T_FLOAT64: /* finite, no -0.0: equal bits are equal values */
		return a->v.i64[i] == b->v.i64[j];
	default: return false;
	}
}

static bool same_type(struct dtx_typeref a, struct dtx_typeref b)
{
	return a.type == b.type && a.precision == b.precision && a.scale == b.scale;
}

/* Every batch holds the column as cells of a text file. */
static bool all_spans(const struct dtx_table *t, uint32_t col)
{
	size_t i;

	for (i = 0; i < t->nbatches; i++)
		if (!t->batch[i]->col[col] || t->batch[i]->col[col]->form != DTX_F_SPAN)
			return false;
	return true;
}

static enum dtx_code same_column(struct restore *r, uint32_t to, uint32_t from, bool *same,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *twin = NULL;
	uint32_t at = UINT32_MAX, i;
	size_t k, row = 0;

	*same = false;
	for (k = 0; k < r->to->nbatches; k++)
		for (i = 0; i < r->to->batch[k]->nrows; i++, row++) {
			const struct place *p = &r->place[row];

			if (p->batch != at)
				DTX_TRY(dtx_batch_value(r->from->batch[p->batch], from, &twin,
				                        err));
			at = p->batch;
			if (!same_value(r->to->batch[k]->col[to], i, twin, p->row))
				goto out;
		}
	*same = true;
out:
	return rc;
}

/* A bit of the result becomes a cell of eight bytes: beyond the room columns stay as they are. */
static bool take_room(struct restore *r)
{
	uint64_t bytes = (uint64_t)r->to->nrows * sizeof(struct dtx_span);

	if (bytes > r->room)
		return false;
	r->room -= bytes;
	return true;
}

static enum dtx_code find_sources(struct restore *r, bool *any, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	*any = false;
	for (i = 0; i < r->to->schema->nfields; i++) {
		const struct dtx_field *f = &r->to->schema->field[i];
		int32_t from = dtx_schema_find(r->from->schema, f->name);
		bool same = false;

		if (from >= 0 && same_type(f->type, r->from->schema->field[from].type) &&
		    all_spans(r->from, (uint32_t)from))
			DTX_TRY(same_column(r, i, (uint32_t)from, &same, err));
		same = same && take_room(r);
		r->source[i] = same ? from : -1;
		*any = *any || same;
	}
out:
	return rc;
}

/* --- columns of cells --- */

struct cells {
	struct dtx_span *span;
	struct dtx_table *from; /* counted: the bytes behind the spans */
};

static void cells_free(void *arg)
{
	struct cells *c = arg;

	dtx_mem_free(c->span);
	dtx_table_unref(c->from);
	dtx_mem_free(c);
}

/* Fills spans relative to *base, the smallest base among the rows; false when they are too far
 * apart for 32 bits or of different dialects. */
static bool fill_spans(const struct restore *r, const struct place *place, uint32_t from,
                       uint32_t n, struct dtx_span *span, const char **base)
{
	const struct dtx_column *first = r->from->batch[place[0].batch]->col[from], *c;
	uint32_t i;

	*base = first->base;
	for (i = 0; i < n; i++) {
		c = r->from->batch[place[i].batch]->col[from];
		if ((uintptr_t)c->base < (uintptr_t)*base)
			*base = c->base;
		if (!dtx_celldialect_same(c->dialect, first->dialect))
			return false;
	}
	for (i = 0; i < n; i++) {
		uint64_t off;

		c = r->from->batch[place[i].batch]->col[from];
		span[i] = c->v.span[place[i].row];
		off = (uintptr_t)c->base - (uintptr_t)*base + (uint64_t)span[i].off;
		if (off > UINT32_MAX)
			return false;
		span[i].off = (uint32_t)off;
	}
	return true;
}

/* `typed` as cells of the source with itself as the typed twin; itself when that cannot be. */
static enum dtx_code make_cells(const struct restore *r, const struct place *place, uint32_t from,
                                struct dtx_column *typed, struct dtx_column **out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_column *like = r->from->batch[place[0].batch]->col[from];
	struct cells *cells = dtx_mem_zalloc(1, sizeof(*cells));
	struct dtx_owner *owner = NULL;
	struct dtx_column *made;
	const char *base;

	if (!cells)
		DTX_FAIL_MEM(err);
	cells->span = dtx_mem_alloc64(typed->len, sizeof(*cells->span));
	cells->from = dtx_table_ref(r->from);
	if (!cells->span)
		DTX_FAIL_MEM(err);
	if (!fill_spans(r, place, from, typed->len, cells->span, &base)) {
		*out = dtx_column_ref(typed);
		goto out;
	}
	owner = dtx_owner_new(cells_free, cells);
	if (!owner)
		DTX_FAIL_MEM(err);
	made = dtx_column_new(DTX_F_SPAN, typed->type, typed->len, owner);
	if (made) {
		made->v.span = cells->span;
		made->base = base;
		made->dialect = like->dialect;
		made->valid = typed->valid; /* lives as long as the twin */
		made->nulls = typed->nulls;
		atomic_store_explicit(&made->typed, dtx_column_ref(typed), memory_order_relaxed);
	}
	cells = NULL;
	if (!made)
		DTX_FAIL_MEM(err);
	*out = made;
out:
	if (cells)
		cells_free(cells);
	return rc;
}

/* --- the table --- */

static enum dtx_code make_batch(const struct restore *r, const struct dtx_batch *b, size_t row,
                                struct dtx_table *t, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *made = NULL;
	uint32_t i;

	DTX_TRY(dtx_batch_new(t->schema, b->nrows, &made, err));
	for (i = 0; i < b->ncols; i++) {
		if (r->source[i] < 0)
			made->col[i] = dtx_column_ref(b->col[i]);
		else
			DTX_TRY(make_cells(r, r->place + row, (uint32_t)r->source[i], b->col[i],
			                   &made->col[i], err));
	}
	rc = dtx_table_take(t, made, err);
	made = NULL;
out:
	dtx_batch_free(made);
	return rc;
}

static enum dtx_code make_table(const struct restore *r, struct dtx_table **out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_schema *old = r->to->schema;
	struct dtx_field *field = dtx_mem_alloc(old->nfields, sizeof(*field));
	const struct dtx_schema schema = { .nfields = old->nfields, .field = field };
	struct dtx_table *t = NULL;
	size_t i, row = 0;

	if (!field)
		DTX_FAIL_MEM(err);
	for (i = 0; i < old->nfields; i++) {
		field[i] = r->source[i] < 0 ? old->field[i] : r->from->schema->field[r->source[i]];
		field[i].guessed = false; /* every value has been read as this type */
	}
	DTX_TRY(dtx_table_new(&schema, &t, err));
	t->keep = dtx_owner_ref(r->to->keep);
	for (i = 0; i < r->to->nbatches; row += r->to->batch[i]->nrows, i++)
		DTX_TRY(make_batch(r, r->to->batch[i], row, t, err));
	*out = t;
	t = NULL;
out:
	dtx_table_unref(t);
	dtx_mem_free(field);
	return rc;
}

enum dtx_code dtx_restore_cells(struct dtx_table **t, struct dtx_table *input, const uint64_t *rows,
                                uint64_t room, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct restore r = { .from = input, .to = *t, .room = room };
	struct dtx_table *made = NULL;
	bool any;

	if (!r.to->nrows)
		return DTX_OK;
	r.place = dtx_mem_alloc((size_t)r.to->nrows, sizeof(*r.place));
	r.source = dtx_mem_alloc(r.to->schema->nfields, sizeof(*r.source));
	if (!r.place || !r.source)
		DTX_FAIL_MEM(err);
	DTX_TRY(find_places(&r, rows, err));
	DTX_TRY(find_sources(&r, &any, err));
	if (!any)
		goto out;
	DTX_TRY(make_table(&r, &made, err));
	dtx_table_unref(*t);
	*t = made;
out:
	dtx_mem_free(r.place);
	dtx_mem_free(r.source);
	return rc;
}
