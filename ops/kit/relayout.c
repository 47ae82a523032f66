/* A table with a new layout: see relayout.h.
 *
 * A column of the result holds cells of an input (late-typed), values of one computed column or of
 * several with the same type, or a mixture, which is written as text.  The types of late-typed and
 * mixed columns are detected from the cells that they have now. */
#include "ops/kit/relayout.h"

#include "core/data/cast/infer.h"
#include "ops/kit/newnames.h"
#include "ops/kit/origins.h"

enum mode { MODE_LATE, MODE_SAME, MODE_TEXT };
struct shape { /* one column of the result */
	enum mode mode;
	struct dtx_field field;
	bool late; /* its type is detected again */
};

static enum dtx_code open_remake(struct dtx_relayout *m, const struct dtx_opctx *ox,
                                 struct dtx_table *t, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_celldialect dialect = DTX_CELLDIALECT_CSV;

	*m = (struct dtx_relayout){ .ox = ox, .arena = DTX_ARENA_INIT, .raw = DTX_RAW_INIT };
	DTX_TRY(dtx_raw_open(&m->raw, t, err));
	for (size_t i = 0; i < t->nbatches && i < 1; i++)
		for (uint32_t c = 0; c < m->raw.ncols; c++)
			if (t->batch[i]->col[c] && t->batch[i]->col[c]->form == DTX_F_SPAN)
				dialect = t->batch[i]->col[c]->dialect;
	dtx_spanbuf_init(&m->texts, dialect);
out:
	return rc;
}

static void close_remake(struct dtx_relayout *m)
{
	for (uint32_t c = 0; m->out && c < m->ncols; c++)
		dtx_mem_free(m->out[c].cell);
	dtx_mem_free(m->out);
	dtx_mem_free(m->row);
	dtx_mem_free(m->text_from);
	dtx_spanbuf_clear(&m->texts);
	dtx_column_unref(m->text);
	dtx_raw_close(&m->raw);
	dtx_arena_clear(&m->arena);
}

enum dtx_code dtx_relayout_size(struct dtx_relayout *m, int64_t nrows, uint32_t ncols,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_run *run = m->ox->run;

	if (run && run->max_cols > 0 && ncols > run->max_cols)
		DTX_FAIL(err, DTX_E_COL_LIMIT, "the table would have %u columns, the limit is %lld",
		         ncols, (long long)run->max_cols);
	m->out = dtx_mem_zalloc((size_t)ncols + 1, sizeof(*m->out));
	if (!m->out)
		DTX_FAIL_MEM(err);
	m->ncols = ncols;
	m->nrows = nrows;
	for (uint32_t c = 0; c < ncols; c++)
		m->out[c] = (struct dtx_relayout_col){ .name = "", .col = DTX_FROM_NULL };
out:
	return rc;
}

enum dtx_code dtx_relayout_same(struct dtx_relayout *m, int64_t nrows, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_relayout_size(m, nrows, m->raw.ncols, err));
	for (uint32_t c = 0; c < m->ncols; c++) {
		m->out[c].name = m->raw.table->schema->field[c].name;
		m->out[c].col = (int32_t)c;
	}
out:
	return rc;
}

enum dtx_code dtx_relayout_rows(struct dtx_relayout *m, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	m->row = dtx_mem_alloc((size_t)m->nrows + 1, sizeof(*m->row));
	if (!m->row)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_relayout_cells(struct dtx_relayout *m, uint32_t c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_from *cell = dtx_mem_alloc((size_t)m->nrows + 1, sizeof(*cell));

	if (!cell)
		DTX_FAIL_MEM(err);
	m->out[c].cell = cell;
	for (int64_t i = 0; i < m->nrows; i++) {
		DTX_TRY(dtx_cancel_row((uint64_t)i, err));
		cell[i] = (struct dtx_from){ 0, DTX_FROM_NULL };
	}
out:
	return rc;
}

struct dtx_from dtx_relayout_part(struct dtx_relayout *m, struct dtx_str text, struct dtx_from cell)
{
	dtx_spanbuf_text(&m->texts, text);
	if (m->texts.failed ||
	    !dtx_mem_reserve(&m->text_from, &m->cap_text_from, m->texts.n, sizeof(*m->text_from))) {
		m->texts.failed = true;
		return (struct dtx_from){ 0, DTX_FROM_NULL };
	}
	m->text_from[m->texts.n - 1] = cell;
	return (struct dtx_from){ (int64_t)m->texts.n - 1, DTX_FROM_TEXT };
}

struct dtx_from dtx_relayout_text(struct dtx_relayout *m, struct dtx_str text)
{
	return dtx_relayout_part(m, text, (struct dtx_from){ 0, DTX_FROM_NULL });
}

enum dtx_code dtx_relayout_name(struct dtx_relayout *m, struct dtx_str text, const char **out,
                                struct dtx_err *err)
{
	return dtx_names_text(text, &m->arena, out, err);
}

enum dtx_code dtx_relayout_tidy(struct dtx_relayout *m, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char **name = dtx_arena_alloc(&m->arena, (size_t)m->ncols + 1, sizeof(*name));
	uint32_t repeats;

	if (!name)
		DTX_FAIL_MEM(err);
	for (uint32_t c = 0; c < m->ncols; c++)
		name[c] = m->out[c].name;
	DTX_TRY(dtx_names_fit(name, m->ncols, &m->arena, &repeats, err));
	for (uint32_t c = 0; c < m->ncols; c++)
		m->out[c].name = name[c];
	if (repeats && m->counts)
		dtx_op_warn(m->ox, DTX_W_DUPLICATE_HEADER, "%u repeated names got a number",
		            repeats);
out:
	return rc;
}

void dtx_relayout_count(const struct dtx_relayout *m, const char *reason, int64_t n)
{
	if (m->counts)
		dtx_op_count(m->ox, reason, n);
}

static enum dtx_code lay_out(struct dtx_relayout *m, const struct dtx_opctx *ox,
                             struct dtx_table *t, bool counts, dtx_relayout_fn *lay,
                             struct dtx_err *err)
{
	const struct dtx_typeref text = { .type = DTX_T_TEXT };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(open_remake(m, ox, t, err));
	m->counts = counts;
	DTX_TRY(lay(m, err));
	if (m->texts.n || m->texts.failed)
		DTX_TRY(dtx_spanbuf_finish(&m->texts, text, &m->text, err));
out:
	return rc;
}

/* --- where a cell is --- */

static struct dtx_from cell_at(const struct dtx_relayout *m, uint32_t c, int64_t r)
{
	const struct dtx_relayout_col *out = &m->out[c];
	int64_t row;

	if (out->cell)
		return out->cell[r];
	row = m->row ? m->row[r] : r;
	return (struct dtx_from){ row, row < 0 ? DTX_FROM_NULL : out->col };
}

/* The column that has a cell; NULL for null.  *source is its number among all source columns. */
static struct dtx_column *column_of(struct dtx_relayout *m, struct dtx_from f, uint32_t *row,
                                    size_t *source)
{
	const struct dtx_batch *b;

	if (f.col == DTX_FROM_TEXT) {
		*row = (uint32_t)f.row;
		*source = m->raw.table->nbatches * m->raw.ncols;
		return m->text;
	}
	if (f.col < 0)
		return NULL;
	b = dtx_raw_row(&m->raw, f.row, row);
	*source = m->raw.hint * (size_t)m->raw.ncols + (size_t)f.col;
	return b->col[f.col];
}

/* --- what a column holds --- */

static bool is_late(const struct dtx_table *t, uint32_t col)
{
	for (size_t i = 0; i < t->nbatches; i++) {
		const struct dtx_column *c = t->batch[i]->col[col];

		if (c && c->form != DTX_F_SPAN && c->form != DTX_F_CELL)
			return false;
	}
	return t->schema->field[col].source;
}

static bool same_type(struct dtx_typeref a, struct dtx_typeref b)
{
	return a.type == b.type && a.precision == b.precision && a.scale == b.scale;
}

/* Adds a column of the input, or the literal texts, to the sources of a result column. */
static void shape_add(const struct dtx_relayout *m, struct shape *s, bool first, int32_t col)
{
	static const struct dtx_field text = { .type = { DTX_T_TEXT, 0, 0 }, .source = true };
	const struct dtx_field *f = col >= 0 ? &m->raw.table->schema->field[col] : &text;
	enum mode mode = col < 0 || is_late(m->raw.table, (uint32_t)col) ? MODE_LATE : MODE_SAME;

	if (first) {
		s->mode = mode;
		s->field = *f;
		s->late = mode == MODE_LATE && !f->declared;
		return;
	}
	if (mode != s->mode || (mode == MODE_SAME && !same_type(s->field.type, f->type)))
		s->mode = MODE_TEXT;
	dtx_field_merge(&s->field, f);
	s->field.declared = false;
	s->late = s->mode != MODE_SAME;
}

/* The cells of the input decide.  A column of only texts and nulls is text whose type is
 * detected. */
static void shape_of(struct dtx_relayout *m, uint32_t c, bool *seen, struct shape *s)
{
	bool first = true;

	*s = (struct shape){ .mode = MODE_LATE, .late = true };
	s->field.source = true;
	memset(seen, 0, (size_t)m->raw.ncols + 1);
	if (!m->out[c].cell && m->out[c].col >= 0) {
		shape_add(m, s, true, m->out[c].col);
	} else if (m->out[c].cell) {
		for (int64_t r = 0; r < m->nrows; r++) {
			int32_t col = m->out[c].cell[r].col;
			bool *mark = &seen[col < 0 ? m->raw.ncols : (uint32_t)col];

			if (col == DTX_FROM_NULL || *mark)
				continue;
			*mark = true;
			shape_add(m, s, first, col);
			first = false;
		}
		if (!m->nrows && m->out[c].col >= 0)
			shape_add(m, s, true, m->out[c].col);
	}
	if (s->field.type.type == DTX_T_UNKNOWN) /* no cell shows the type */
		s->field.type.type = DTX_T_NULL;
	s->field.name = m->out[c].name;
}

/* --- columns --- */

struct chunk {
	struct dtx_column **src;
	uint32_t *dense; /* from source to its index in src; DTX_NOWHERE */
	size_t *used;    /* sources that are used */
	uint32_t nused;
	uint32_t *which, *row;
	uint32_t most;
};

static void chunk_clear(struct chunk *k)
{
	dtx_mem_free(k->src);
	dtx_mem_free(k->dense);
	dtx_mem_free(k->used);
	dtx_mem_free(k->which);
	dtx_mem_free(k->row);
}

static enum dtx_code chunk_init(struct chunk *k, const struct dtx_relayout *m, uint32_t most,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = m->raw.table->nbatches * m->raw.ncols + 1;

	*k = (struct chunk){ .most = most };
	k->src = dtx_mem_alloc(n, sizeof(struct dtx_column *));
	k->dense = dtx_mem_alloc(n, sizeof(*k->dense));
	k->used = dtx_mem_alloc(n, sizeof(*k->used));
	k->which = dtx_mem_alloc(most, sizeof(*k->which));
	k->row = dtx_mem_alloc(most, sizeof(*k->row));
	if (!k->src || !k->dense || !k->used || !k->which || !k->row)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < n; i++)
		k->dense[i] = DTX_NOWHERE;
out:
	return rc;
}

static enum dtx_code chunk_written(struct dtx_relayout *m, uint32_t c, const struct shape *s,
                                   int64_t from, uint32_t n, struct dtx_column **out,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_spanbuf text;

	dtx_spanbuf_init(&text, m->texts.dialect);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = 0;
		size_t source;
		const struct dtx_column *cell =
			column_of(m, cell_at(m, c, from + i), &row, &source);

		if (cell)
			dtx_spanbuf_add(&text, cell, row);
		else
			dtx_spanbuf_null(&text);
	}
	DTX_TRY(dtx_spanbuf_finish(&text, s->field.type, out, err));
out:
	dtx_spanbuf_clear(&text);
	return rc;
}

/* Rows [from, from + n) of column c. */
static enum dtx_code chunk_column(struct dtx_relayout *m, struct chunk *k, uint32_t c,
                                  const struct shape *s, int64_t from, uint32_t n,
                                  struct dtx_column **out, struct dtx_err *err)
{
	if (s->mode == MODE_TEXT)
		return chunk_written(m, c, s, from, n, out, err);
	for (uint32_t i = 0; i < k->nused; i++)
		k->dense[k->used[i]] = DTX_NOWHERE;
	k->nused = 0;
	for (uint32_t i = 0; i < n; i++) {
		size_t source = 0;
		struct dtx_column *cell =
			column_of(m, cell_at(m, c, from + i), &k->row[i], &source);

		if (!cell) {
			k->which[i] = DTX_NOWHERE;
			k->row[i] = 0;
			continue;
		}
		if (k->dense[source] == DTX_NOWHERE) {
			k->dense[source] = k->nused;
			k->src[k->nused] = cell;
			k->used[k->nused++] = source;
		}
		k->which[i] = k->dense[source];
	}
	return dtx_cells_gather(k->src, k->nused, k->which, k->row, n, &s->field, out, err);
}

static enum dtx_code type_column(struct dtx_relayout *m, struct chunk *k, uint32_t c,
                                 struct shape *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_infer f = dtx_infer_again(&s->field);

	if (!s->late || !m->nrows)
		goto out;
	s->field.guessed = false;
	for (int64_t from = 0; from < m->nrows; from += k->most) {
		struct dtx_column *made = NULL;
		uint32_t n = (uint32_t)DTX_MIN(m->nrows - from, (int64_t)k->most);

		DTX_TRY(dtx_cancel_look(err));
		DTX_TRY(chunk_column(m, k, c, s, from, n, &made, err));
		if (made->form == DTX_F_SPAN || made->form == DTX_F_CELL)
			dtx_infer_column(&f, made, from);
		dtx_column_unref(made);
	}
	s->field.type = dtx_infer_type(&f);
out:
	return rc;
}

enum dtx_code dtx_relayout_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                  struct dtx_arena *arena, const struct dtx_schema **out,
                                  dtx_relayout_fn *lay, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_relayout m = { .row = NULL };
	struct chunk k = { .src = NULL };
	struct dtx_schema *s = NULL, made = { .open = false };
	struct dtx_field *field = NULL;
	bool *seen = NULL;

	DTX_TRY(lay_out(&m, ox, t, false, lay, err));
	DTX_TRY(chunk_init(&k, &m, DTX_BATCH_ROWS, err));
	field = dtx_arena_zalloc(&m.arena, (size_t)m.ncols + DTX_CELLS_COLUMNS, sizeof(*field));
	seen = dtx_arena_alloc(&m.arena, (size_t)m.raw.ncols + 1, sizeof(*seen));
	if (!field || !seen)
		DTX_FAIL_MEM(err);
	for (uint32_t c = 0; c < m.ncols; c++) {
		struct shape shape;

		shape_of(&m, c, seen, &shape);
		DTX_TRY(type_column(&m, &k, c, &shape, err));
		field[c] = shape.field;
	}
	made.nfields = m.ncols;
	for (uint32_t i = 0; ox->cells && i < DTX_CELLS_COLUMNS; i++)
		field[made.nfields++] = dtx_cells_fields[i];
	made.field = field;
	s = dtx_schema_copy(arena, &made);
	if (!s)
		DTX_FAIL_MEM(err);
	*out = s;
out:
	chunk_clear(&k);
	close_remake(&m);
	return rc;
}

/* --- rows --- */

/* Sets row ids.  A row that was made has none, whatever the size of the batch. */
static enum dtx_code chunk_ids(struct dtx_relayout *m, struct chunk *k, int64_t from,
                               struct dtx_batch *b, struct dtx_err *err)
{
	struct dtx_pick pick = { m->raw.table->batch,
		                 (uint32_t)m->raw.table->nbatches,
		                 k->which,
		                 k->row,
		                 b->nrows,
		                 NULL,
		                 NULL,
		                 NULL };

	for (uint32_t i = 0; i < b->nrows; i++) {
		int64_t row = m->row ? m->row[from + i] : from + i;

		k->which[i] = DTX_NOWHERE;
		if (row < 0)
			continue;
		dtx_raw_row(&m->raw, row, &k->row[i]);
		k->which[i] = m->raw.hint;
	}
	return dtx_pick_ids(&pick, b, err);
}

/* --- where cells come from --- */

/* The cell of column c in row r of the result, for the columns that show its origin. */
static void add_origin(const struct dtx_relayout *m, uint32_t c, int64_t r, struct dtx_origins *to)
{
	struct dtx_from f = cell_at(m, c, r);
	int64_t row = m->row ? m->row[r] : r;

	if (f.col == DTX_FROM_TEXT)
		f = m->text_from[f.row];
	if (f.col >= 0)
		dtx_origins_add(to, f.row, m->raw.table->schema->field[f.col].name, "cell");
	else
		dtx_origins_add(to, row, NULL, row < 0 ? "made" : m->pairs ? "pair" : "row");
}

/* Rows [from, from + b->nrows). */
static enum dtx_code chunk_origins(const struct dtx_relayout *m, int64_t from, struct dtx_batch *b,
                                   struct dtx_err *err)
{
	struct dtx_origins to;
	uint32_t c = 0;

	dtx_origins_init(&to, b->nrows);
	while (c < m->ncols && strcmp(m->out[c].name, m->ox->cells) != 0)
		c++;
	for (uint32_t i = 0; i < b->nrows; i++) {
		if (c < m->ncols)
			add_origin(m, c, from + i, &to);
		else /* the result lacks the column */
			dtx_origins_add(&to, -1, NULL, "made");
	}
	return dtx_origins_put(&to, b, err);
}

static enum dtx_code emit_chunk(struct dtx_relayout *m, struct chunk *k, const struct shape *shape,
                                int64_t from, struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = (uint32_t)DTX_MIN(m->nrows - from, (int64_t)k->most);
	struct dtx_batch *b = NULL;

	DTX_TRY(dtx_batch_new(m->ox->out, n, &b, err));
	for (uint32_t c = 0; c < m->ncols && c < b->ncols; c++) {
		struct dtx_column *made = NULL;

		if (!dtx_op_wants(m->ox, c))
			continue;
		DTX_TRY(dtx_cancel_look(err));
		DTX_TRY(chunk_column(m, k, c, &shape[c], from, n, &made, err));
		dtx_batch_put(b, c, made);
	}
	if (m->ox->cells)
		DTX_TRY(chunk_origins(m, from, b, err));
	DTX_TRY(chunk_ids(m, k, from, b, err));
	DTX_TRY(dtx_emit_batch(out, b, err));
out:
	dtx_batch_free(b);
	return rc;
}

enum dtx_code dtx_relayout_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                 struct dtx_emit *out, dtx_relayout_fn *lay, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_relayout m = { .row = NULL };
	struct chunk k = { .src = NULL };
	struct shape *shape = NULL;
	bool *seen = NULL;

	DTX_TRY(lay_out(&m, ox, t, true, lay, err));
	DTX_TRY(chunk_init(&k, &m, dtx_op_batch_rows(ox), err));
	shape = dtx_arena_zalloc(&m.arena, (size_t)m.ncols + 1, sizeof(*shape));
	seen = dtx_arena_alloc(&m.arena, (size_t)m.raw.ncols + 1, sizeof(*seen));
	if (!shape || !seen)
		DTX_FAIL_MEM(err);
	for (uint32_t c = 0; c < m.ncols; c++) {
		shape_of(&m, c, seen, &shape[c]);
		shape[c].field = ox->out->field[c];
	}
	for (int64_t from = 0; from < m.nrows && !dtx_emit_full(out); from += k.most)
		DTX_TRY(emit_chunk(&m, &k, shape, from, out, err));
out:
	chunk_clear(&k);
	close_remake(&m);
	return rc;
}
