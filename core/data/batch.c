/* Batches, the places of their rows in the input, and tables. */
#include "core/data/batch.h"

#include <stdio.h>

#include "core/base/memory/mem.h"
#include "core/data/cast/cast.h"
#include "core/data/cast/cell_num.h"

enum dtx_code dtx_batch_new(const struct dtx_schema *schema, uint32_t nrows, struct dtx_batch **out,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = dtx_mem_zalloc(1, sizeof(*b));

	if (!b)
		DTX_FAIL_MEM(err);
	b->schema = schema;
	b->nrows = b->nsel = nrows;
	b->ncols = schema->nfields;
	b->col = dtx_mem_zalloc(b->ncols, sizeof(struct dtx_column *));
	if (!b->col)
		DTX_FAIL_MEM(err);
	*out = b;
	b = NULL;
out:
	dtx_mem_free(b);
	return rc;
}

void dtx_batch_free(struct dtx_batch *b)
{
	uint32_t i;

	if (!b)
		return;
	for (i = 0; i < b->ncols; i++)
		dtx_column_unref(b->col[i]);
	dtx_mem_free(b->col);
	dtx_mem_free(b->sel_mem);
	dtx_owner_unref(b->rec_owner);
	dtx_mem_free(b);
}

/* Copies every member except the columns and the selection. */
static void batch_copy_head(struct dtx_batch *to, const struct dtx_batch *from)
{
	to->seq = from->seq;
	to->sub = from->sub;
	to->last = from->last;
	to->first_row = from->first_row;
	to->rec = from->rec;
	to->rec_owner = dtx_owner_ref(from->rec_owner);
	to->origin = from->origin;
}

static bool batch_own_sel(struct dtx_batch *b, const uint16_t *sel, uint32_t n)
{
	uint32_t i;

	b->sel_mem = dtx_mem_alloc(b->nrows, sizeof(*b->sel_mem));
	if (!b->sel_mem)
		return false;
	for (i = 0; i < n; i++)
		b->sel_mem[i] = sel ? sel[i] : (uint16_t)i;
	b->sel = b->sel_mem;
	b->nsel = n;
	return true;
}

enum dtx_code dtx_batch_copy(const struct dtx_batch *b, struct dtx_batch **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *copy = NULL;
	uint32_t i;

	DTX_TRY(dtx_batch_new(b->schema, b->nrows, &copy, err));
	if (copy->ncols != b->ncols) { /* While a batch is built it may have fewer or more columns
		                        * than its schema. */
		DTX_ASSERT(copy->ncols >= b->ncols, err);
		copy->ncols = b->ncols;
	}
	batch_copy_head(copy, b);
	for (i = 0; i < b->ncols; i++)
		copy->col[i] = dtx_column_ref(b->col[i]);
	if (b->sel && !batch_own_sel(copy, b->sel, b->nsel))
		DTX_FAIL_MEM(err);
	*out = copy;
	copy = NULL;
out:
	dtx_batch_free(copy);
	return rc;
}

static enum dtx_code batch_dense_rows(struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t *rec;
	struct dtx_owner *owner;
	uint32_t i;

	if (!b->origin)
		goto out;
	rec = dtx_mem_alloc(b->nsel, sizeof(*rec));
	if (!rec)
		DTX_FAIL_MEM(err);
	for (i = 0; i < b->nsel; i++)
		rec[i] = b->rec ? b->rec[b->sel[i]] : b->first_row + b->sel[i];
	owner = dtx_owner_take(rec);
	if (!owner)
		DTX_FAIL_MEM(err);
	dtx_owner_unref(b->rec_owner);
	b->rec_owner = owner;
	b->rec = rec;
out:
	return rc;
}

enum dtx_code dtx_batch_dense(struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column **dense = NULL;
	uint32_t i, ncols = b->ncols;

	if (!b->sel)
		return DTX_OK;
	dense = dtx_mem_zalloc(ncols, sizeof(*dense));
	if (!dense)
		DTX_FAIL_MEM(err);
	for (i = 0; i < ncols; i++) {
		if (b->col[i])
			DTX_TRY(dtx_column_gather(b->col[i], b->sel, b->nsel, &dense[i], err));
	}
	DTX_TRY(batch_dense_rows(b, err));
	for (i = 0; i < ncols; i++) {
		dtx_column_unref(b->col[i]);
		b->col[i] = dense[i];
		dense[i] = NULL;
	}
	b->nrows = b->nsel;
	b->sel = NULL;
	dtx_mem_free(b->sel_mem);
	b->sel_mem = NULL;
out:
	for (i = 0; dense && i < ncols; i++)
		dtx_column_unref(dense[i]);
	dtx_mem_free(dense);
	return rc;
}

enum dtx_code dtx_batch_sel(struct dtx_batch *b, uint16_t **sel, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if ((!b->sel || b->sel != b->sel_mem) && !batch_own_sel(b, b->sel, b->nsel))
		DTX_FAIL_MEM(err);
	*sel = b->sel_mem;
out:
	return rc;
}

/* The name of a cell as a spreadsheet writes it: "C17". */
static void batch_cell_name(char *out, size_t size, uint32_t col, int64_t row)
{
	char letters[8];
	size_t at = sizeof(letters);
	uint64_t n = (uint64_t)col + 1;

	letters[--at] = '\0';
	while (n && at) {
		n--;
		letters[--at] = (char)('A' + n % 26);
		n /= 26;
	}
	snprintf(out, size, "%s%lld", letters + at, (long long)row + 1);
}

bool dtx_batch_id(const struct dtx_batch *b, uint32_t row, uint64_t *id)
{
	*id = b->rec ? b->rec[row] : b->first_row + row;
	return b->origin && *id != DTX_NO_ROW;
}

/* False if the row was not read but made. */
static bool batch_place(const struct dtx_batch *b, uint32_t row, struct dtx_place *place)
{
	uint64_t id;

	*place = (struct dtx_place){ -1, -1 };
	if (!dtx_batch_id(b, row, &id))
		return false;
	if (b->origin->locate)
		b->origin->locate(b->origin, id, place);
	else
		place->row = (int64_t)id;
	return true;
}

int64_t dtx_batch_physical(const struct dtx_batch *b, uint32_t row)
{
	struct dtx_place place;
	int64_t line = -1;
	uint64_t id;

	if (dtx_batch_id(b, row, &id) && b->origin->line)
		line = b->origin->line(b->origin, id);
	if (line >= 0)
		return line;
	(void)batch_place(b, row, &place);
	return place.row;
}

void dtx_batch_set_position(const struct dtx_batch *b, uint32_t row, int32_t column,
                            struct dtx_err *err)
{
	const struct dtx_origin *o = b->origin;
	struct dtx_place place;
	uint32_t physical = (uint32_t)column;

	if (!err)
		return;
	if (column >= 0 && b->schema && (uint32_t)column < b->schema->nfields)
		dtx_err_row(err, -1, b->schema->field[column].name);
	if (!batch_place(b, row, &place))
		return;
	err->row = place.row;
	err->byte = place.byte;
	dtx_str_copy(err->input, sizeof(err->input), dtx_str_of(o->alias ? o->alias : o->file));
	if (o->sheet)
		dtx_str_copy(err->sheet, sizeof(err->sheet), dtx_str_of(o->sheet));
	if (place.row < 0)
		return;
	if (column >= 0 && o->physical_col && physical < o->ncols)
		physical = o->physical_col[physical];
	if (o->sheet && physical == UINT32_MAX)
		snprintf(err->cell, sizeof(err->cell), "row %lld", (long long)place.row + 1);
	else if (o->sheet && column >= 0)
		batch_cell_name(err->cell, sizeof(err->cell), physical, place.row);
	else
		snprintf(err->cell, sizeof(err->cell), "L%lld", (long long)place.row + 1);
}

/* A bit for each live row.  NULL: out of memory. */
static uint64_t *batch_live(const struct dtx_batch *b)
{
	uint64_t *live = dtx_mem_zalloc(dtx_bit_words(b->nrows) + 1, sizeof(*live));

	for (uint32_t r = 0; live && r < b->nsel; r++)
		dtx_bit_set(live, b->sel ? b->sel[r] : r);
	return live;
}

/* For the error about the first cell that does not fit a declared type: counts all cells of the
 * batch that do not fit. */
static void batch_misfits(const struct dtx_batch *b, uint32_t i, struct dtx_err *err)
{
	struct dtx_err quiet = DTX_ERR_INIT;
	uint64_t *live = batch_live(b);

	if (live &&
	    dtx_cast_misfits(b->col[i], &b->schema->field[i], live, &err->count, &quiet) == DTX_OK)
		err->count_open = true;
	dtx_err_clear(&quiet);
	dtx_mem_free(live);
}

static enum dtx_code batch_misfit(const struct dtx_batch *b, uint32_t i, struct dtx_column *c,
                                  int64_t row, struct dtx_err *err)
{
	enum dtx_code rc;
	const struct dtx_field *f = &b->schema->field[i];
	const char *input_name = f->declared ? f->input_name : NULL;
	struct dtx_buf value = DTX_BUF_INIT(1 << 20), type = DTX_BUF_INIT(32);
	char why[DTX_TIME_WHY], plain[64];
	int64_t us;
	size_t len;

	dtx_cast_print(c, (uint32_t)row, &value);
	dtx_type_print(f->type, &type);
	dtx_cast_why(dtx_buf_str(&value), f->type, dtx_field_reads_format(f) ? f->format : NULL,
	             why);
	rc = dtx_err_set(err, f->guessed ? DTX_E_RETYPE : DTX_E_CAST_FAILED, __FILE__, __LINE__,
	                 "column '%s' must be %s, got '%.80s'%s", input_name ? input_name : f->name,
	                 dtx_buf_text(&type), dtx_buf_text(&value), why);
	len = dtx_cell_plain(dtx_buf_str(&value), f->decimal_comma, f->group, plain);
	if (f->type.type == DTX_T_DATETIME && why[0] && !f->guessed && !dtx_field_reads_format(f) &&
	    dtx_cast_text_datetime(dtx_buf_str(&value), &us))
		dtx_err_hint(err,
		             "without a declared type, a column of times with offsets is of UTC, "
		             "and one of both kinds is text, which parse_date can read");
	else if (!len || !dtx_cast_hint_digits((struct dtx_str){ plain, len }, f->type, err))
		dtx_err_hint(err, DTX_MISFIT_HINT);
	if (err)
		err->run_time = true;
	if (err && !f->guessed)
		batch_misfits(b, i, err);
	if (err && input_name)
		dtx_str_copy(err->declared, sizeof(err->declared), dtx_str_of(input_name));
	dtx_err_row(err, -1, input_name);
	dtx_batch_set_position(b, (uint32_t)row, (int32_t)i, err);
	dtx_buf_clear(&value);
	dtx_buf_clear(&type);
	return rc;
}

/* Another batch may use the typed twin that the column already has, with another type: this batch
 * gets a column of its own. */
static enum dtx_code batch_fresh(struct dtx_batch *b, uint32_t i, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *fresh;

	DTX_TRY(dtx_column_slice(b->col[i], 0, b->col[i]->len, &fresh, err));
	dtx_column_unref(b->col[i]);
	b->col[i] = fresh;
out:
	return rc;
}

static bool batch_same_type(struct dtx_typeref a, struct dtx_typeref b)
{
	return a.type == b.type && a.precision == b.precision && a.scale == b.scale;
}

/* A value that does not fit its declared type is an error only in a live row.  Which dropped rows a
 * batch still contains depends on its size, and the result must not.  The typed twin without those
 * values is used by this batch alone, because elsewhere the rows may be live. */
static enum dtx_code batch_live_twin(struct dtx_batch *b, uint32_t i, struct dtx_column **twin,
                                     int64_t *bad, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t *live = batch_live(b);

	if (!live)
		DTX_FAIL_MEM(err);
	DTX_TRY(batch_fresh(b, i, err));
	DTX_TRY(dtx_cast_typed(b->col[i], &b->schema->field[i], live, twin, bad, err));
out:
	dtx_mem_free(live);
	return rc;
}

enum dtx_code dtx_batch_value(struct dtx_batch *b, uint32_t i, struct dtx_column **out,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c, *twin, *none = NULL;
	int64_t bad = -1;

	DTX_ASSERT(i < b->ncols && b->col[i], err);
	c = b->col[i];
	*out = c;
	if (c->form != DTX_F_SPAN && c->form != DTX_F_CELL)
		goto out;
	*out = atomic_load_explicit(&c->typed, memory_order_acquire);
	if (*out && batch_same_type((*out)->type, b->schema->field[i].type))
		goto out;
	if (*out) {
		DTX_TRY(batch_fresh(b, i, err));
		c = b->col[i];
	}
	DTX_TRY(dtx_cast_typed(c, &b->schema->field[i], NULL, &twin, &bad, err));
	if (bad >= 0 && b->sel && !b->schema->field[i].guessed) {
		DTX_TRY(batch_live_twin(b, i, &twin, &bad, err));
		c = b->col[i];
	}
	if (bad >= 0) {
		rc = batch_misfit(b, i, c, bad, err);
		goto out;
	}
	/* Columns are shared between batches of several workers.  The first worker that stores its
	 * twin wins; the others drop theirs.  Release publishes the content of the twin to those
	 * who load the pointer with acquire. */
	if (!atomic_compare_exchange_strong_explicit(&c->typed, &none, twin, memory_order_acq_rel,
	                                             memory_order_acquire)) {
		dtx_column_unref(twin);
		twin = none;
	}
	*out = twin;
out:
	return rc;
}

enum dtx_code dtx_batch_declared(struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c;

	for (uint32_t i = 0; i < b->ncols; i++) {
		const struct dtx_field *f = &b->schema->field[i];

		if (f->declared && f->source && f->type.type != DTX_T_TEXT && b->col[i])
			DTX_TRY(dtx_batch_value(b, i, &c, err));
	}
out:
	return rc;
}

enum dtx_code dtx_table_new(const struct dtx_schema *schema, struct dtx_table **out,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_table *t = dtx_mem_zalloc(1, sizeof(*t));

	if (!t)
		DTX_FAIL_MEM(err);
	atomic_init(&t->refs, 1);
	t->schema = dtx_schema_copy(&t->arena, schema);
	if (!t->schema)
		DTX_FAIL_MEM(err);
	*out = t;
	t = NULL;
out:
	dtx_table_unref(t);
	return rc;
}

enum dtx_code dtx_table_take(struct dtx_table *t, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_ASSERT(b->ncols == t->schema->nfields, err);
	if (!dtx_mem_reserve(&t->batch, &t->cap, t->nbatches + 1, sizeof(*t->batch)))
		DTX_FAIL_MEM(err);
	b->seq = t->nbatches;
	b->sub = 0;
	b->schema = t->schema;
	t->nrows += b->nsel;
	t->batch[t->nbatches++] = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

struct dtx_table *dtx_table_ref(struct dtx_table *t)
{
	if (t)
		atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
	return t;
}

void dtx_table_unref(struct dtx_table *t)
{
	size_t i;

	if (!t || atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1)
		return;
	for (i = 0; i < t->nbatches; i++)
		dtx_batch_free(t->batch[i]);
	dtx_mem_free(t->batch);
	dtx_owner_unref(t->keep);
	dtx_arena_clear(&t->arena);
	dtx_mem_free(t);
}
