/* Gives cells of a result the bytes of their source back, see restore_source_cells.h. */
#include "sandbox/main/restore_source_cells.h"

#include "core/base/memory/mem.h"
#include "core/data/cells.h"

#define VALUE_TEXT 64 /* the most bytes that a number, a date or a flag is written in */

struct restore {
	struct dtx_table *from, *to;
	uint32_t *batch, *row;   /* per row of `to`: its place in `from` */
	int32_t *source;         /* per column of `to`: the equal column of `from`, or -1 */
	uint64_t room;           /* bytes that cells may still take */
	struct dtx_owner *held;  /* keeps `from` alive */
	struct dtx_column **src; /* for one column of `from`: the part in each batch */
};

/* --- places --- */

/* Finds the batch of a row by bisection. A linear search for each row would let a hostile result
 * take time that grows with the square of the table. */
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
		r->batch[i] = (uint32_t)at;
		r->row[i] = b->sel ? b->sel[k] : (uint32_t)k;
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
	case DTX_T_FLOAT64: /* finite and never -0.0, so equal bits are equal values */
		return a->v.i64[i] == b->v.i64[j];
	default: return false;
	}
}

/* Whether values of these types can be compared. The scale counts, because a worker knows only
 * the number of digits of the longest decimal. */
static bool same_kind(struct dtx_typeref a, struct dtx_typeref b)
{
	return a.type == b.type && a.scale == b.scale;
}

/* Whether some values of the column are cells of a text file. */
static bool any_spans(const struct dtx_table *t, uint32_t col)
{
	bool any = false;
	size_t i;

	for (i = 0; i < t->nbatches; i++) {
		if (!t->batch[i]->col[col])
			return false;
		any = any || t->batch[i]->col[col]->form == DTX_F_SPAN;
	}
	return any;
}

/* Whether all values of the column are cells of one text file. */
static bool one_text(const struct dtx_table *t, uint32_t col)
{
	const struct dtx_column *first = t->batch[0]->col[col];
	size_t i;

	for (i = 0; i < t->nbatches; i++) {
		const struct dtx_column *c = t->batch[i]->col[col];

		if (c->form != DTX_F_SPAN || !dtx_cells_one_text(c, first))
			return false;
	}
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
			if (r->batch[row] != at)
				DTX_TRY(dtx_batch_value(r->from->batch[r->batch[row]], from, &twin,
				                        err));
			at = r->batch[row];
			if (!same_value(r->to->batch[k]->col[to], i, twin, r->row[row]))
				goto out;
		}
	*same = true;
out:
	return rc;
}

/* The most bytes that the cell takes as text. */
static uint64_t text_room(const struct dtx_column *c, uint32_t row, const struct dtx_column *typed,
                          uint32_t i)
{
	if (c->form == DTX_F_SPAN)
		return 2 * (uint64_t)(c->v.span[row].len & DTX_SPAN_LEN) + 2;
	if (typed->type.type == DTX_T_TEXT && !dtx_column_is_null(typed, i))
		return 2 * (uint64_t)dtx_column_text(typed, i).len + 2;
	return VALUE_TEXT;
}

static uint64_t texts_room(const struct restore *r, uint32_t to, uint32_t from)
{
	uint64_t bytes = 0;
	size_t k, at = 0;
	uint32_t i;

	for (k = 0; k < r->to->nbatches; k++)
		for (i = 0; i < r->to->batch[k]->nrows; i++, at++)
			bytes += text_room(r->from->batch[r->batch[at]]->col[from], r->row[at],
			                   r->to->batch[k]->col[to], i);
	return bytes;
}

/* Reserves memory for a column of cells, and returns false if there is not enough left; the
 * column then stays as it is. A hostile worker could otherwise make us build a large table: one
 * bit of its result becomes a cell of eight bytes, and the text of a cell is copied where not
 * all come from one text. */
static bool take_room(struct restore *r, uint32_t to, uint32_t from)
{
	uint64_t bytes = (uint64_t)r->to->nrows * sizeof(struct dtx_span);

	if (!one_text(r->from, from))
		bytes += texts_room(r, to, from);
	if (bytes > r->room)
		return false;
	r->room -= bytes;
	return true;
}

/* Finds the column of the input that equals column `to`, or -1. */
static enum dtx_code find_source(struct restore *r, uint32_t to, int32_t *out, struct dtx_err *err)
{
	const struct dtx_field *f = &r->to->schema->field[to];
	int32_t from = dtx_schema_find(r->from->schema, f->name);
	bool nulls = f->type.type == DTX_T_NULL, bare = nulls || !r->to->nrows, same = false;
	enum dtx_code rc = DTX_OK;

	*out = -1;
	if (from < 0 || (!nulls && !same_kind(f->type, r->from->schema->field[from].type)) ||
	    (!bare && !any_spans(r->from, (uint32_t)from)))
		return DTX_OK;
	DTX_TRY(same_column(r, to, (uint32_t)from, &same, err));
	if (same && (bare || take_room(r, to, (uint32_t)from)))
		*out = from;
out:
	return rc;
}

static enum dtx_code find_sources(struct restore *r, bool *any, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*any = false;
	for (uint32_t i = 0; i < r->to->schema->nfields; i++) {
		DTX_TRY(find_source(r, i, &r->source[i], err));
		*any = *any || r->source[i] >= 0;
	}
out:
	return rc;
}

/* --- columns of cells --- */

static void table_free(void *arg)
{
	dtx_table_unref(arg);
}

/* Makes a column of source cells for `typed`, whose first row is row `first` of the result.
 * `typed` becomes its typed form if the types agree. */
static enum dtx_code make_cells(const struct restore *r, size_t first, uint32_t from,
                                struct dtx_column *typed, struct dtx_column **out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_field *field = &r->from->schema->field[from];
	struct dtx_column *none = NULL, *made = NULL;

	if (typed->type.type == DTX_T_NULL || !typed->len)
		return dtx_column_nulls(field->type, typed->len, out, err);
	for (size_t i = 0; i < r->from->nbatches; i++)
		r->src[i] = r->from->batch[i]->col[from];
	DTX_TRY(dtx_cells_gather_held(r->src, (uint32_t)r->from->nbatches, r->batch + first,
	                              r->row + first, typed->len, field, r->held, &made, err));
	DTX_ASSERT(made->form == DTX_F_SPAN, err);
	if (typed->type.precision == field->type.precision &&
	    atomic_compare_exchange_strong(&made->typed, &none, typed))
		dtx_column_ref(typed);
	*out = made;
	made = NULL;
out:
	dtx_column_unref(made);
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
			DTX_TRY(make_cells(r, row, (uint32_t)r->source[i], b->col[i], &made->col[i],
			                   err));
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
		field[i].guessed = false; /* all values were read as this type */
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

enum dtx_code dtx_restore_source_cells(struct dtx_table **t, struct dtx_table *input,
                                       const uint64_t *rows, uint64_t room, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct restore r = { .from = input, .to = *t, .room = room };
	size_t nrows = (size_t)r.to->nrows;
	struct dtx_table *made = NULL;
	bool any;

	r.batch = dtx_mem_alloc(nrows + 1, sizeof(*r.batch));
	r.row = dtx_mem_alloc(nrows + 1, sizeof(*r.row));
	r.source = dtx_mem_alloc((size_t)r.to->schema->nfields + 1, sizeof(*r.source));
	r.src = dtx_mem_alloc(input->nbatches + 1, sizeof(struct dtx_column *));
	r.held = dtx_owner_new(table_free, dtx_table_ref(input));
	if (!r.held)
		dtx_table_unref(input);
	if (!r.batch || !r.row || !r.source || !r.src || !r.held)
		DTX_FAIL_MEM(err);
	DTX_TRY(find_places(&r, rows, err));
	DTX_TRY(find_sources(&r, &any, err));
	if (!any)
		goto out;
	DTX_TRY(make_table(&r, &made, err));
	dtx_table_unref(*t);
	*t = made;
out:
	dtx_mem_free(r.batch);
	dtx_mem_free(r.row);
	dtx_mem_free(r.source);
	dtx_mem_free(r.src);
	dtx_owner_unref(r.held);
	return rc;
}

/* --- UTC times --- */

static enum dtx_code utc_batch(const struct dtx_batch *b, struct dtx_table *t, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *made = NULL;

	DTX_TRY(dtx_batch_new(t->schema, b->nrows, &made, err));
	for (uint32_t i = 0; i < b->ncols; i++) {
		if (!dtx_type_is_utc(t->schema->field[i].type)) {
			made->col[i] = dtx_column_ref(b->col[i]);
			continue;
		}
		DTX_TRY(dtx_column_slice(b->col[i], 0, b->nrows, &made->col[i], err));
		made->col[i]->type = DTX_TYPE_UTC;
	}
	rc = dtx_table_take(t, made, err);
	made = NULL;
out:
	dtx_batch_free(made);
	return rc;
}

enum dtx_code dtx_restore_utc(struct dtx_table **t, const struct dtx_schema *input,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_schema *old = (*t)->schema;
	struct dtx_field *field = dtx_mem_alloc((size_t)old->nfields + 1, sizeof(*field));
	const struct dtx_schema schema = { .nfields = old->nfields, .field = field };
	struct dtx_table *made = NULL;
	bool any = false;
	uint32_t i;

	if (!field)
		DTX_FAIL_MEM(err);
	for (i = 0; i < old->nfields; i++) {
		int32_t from = dtx_schema_find(input, old->field[i].name);

		field[i] = old->field[i];
		if (field[i].type.type != DTX_T_DATETIME || from < 0 ||
		    !dtx_type_is_utc(input->field[from].type))
			continue;
		field[i].type = DTX_TYPE_UTC;
		any = true;
	}
	if (!any)
		goto out;
	DTX_TRY(dtx_table_new(&schema, &made, err));
	made->keep = dtx_owner_ref((*t)->keep);
	for (size_t k = 0; k < (*t)->nbatches; k++)
		DTX_TRY(utc_batch((*t)->batch[k], made, err));
	dtx_table_unref(*t);
	*t = made;
	made = NULL;
out:
	dtx_table_unref(made);
	dtx_mem_free(field);
	return rc;
}
