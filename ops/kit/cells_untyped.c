/* Tables as they were written: see cells_untyped.h.
 *
 * Operations that repair a table look at cells before their types count, because the cells that are
 * to be repaired (titles, notes, totals) are often the reason why a column has the wrong type.
 * Types are detected again from the rows that stay. */
#include "ops/kit/cells_untyped.h"

#include "core/base/text/utf8.h"
#include "core/data/cast/cast.h"
#include "core/data/cast/infer.h"
#include "core/io/sheet/grid.h"
#include "core/data/cells.h"

/* --- cells --- */

enum dtx_code dtx_raw_open(struct dtx_raw *r, struct dtx_table *t, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*r = (struct dtx_raw){ .table = t, .ncols = t->schema->nfields };
	dtx_buf_init(&r->scratch, DTX_BUF_TEXT_MAX);
	DTX_TRY(dtx_table_dense(t, err));
	r->start = dtx_mem_alloc(t->nbatches + 1, sizeof(*r->start));
	if (!r->start)
		DTX_FAIL_MEM(err);
	r->start[0] = 0;
	for (size_t i = 0; i < t->nbatches; i++)
		r->start[i + 1] = r->start[i] + t->batch[i]->nrows;
out:
	return rc;
}

void dtx_raw_close(struct dtx_raw *r)
{
	dtx_mem_free(r->start);
	dtx_buf_clear(&r->scratch);
	r->start = NULL;
}

const struct dtx_batch *dtx_raw_row(struct dtx_raw *r, int64_t row, uint32_t *at)
{
	uint32_t n = (uint32_t)r->table->nbatches, low = 0, high = n;

	/* most rows are in the batch of the row before, or in the next one */
	if (r->hint < n && row >= r->start[r->hint])
		low = r->hint;
	if (low + 1 < n && row >= r->start[low + 1])
		low++;
	if (low + 1 < n && row < r->start[low + 1])
		high = low + 1;
	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (row >= r->start[mid])
			low = mid;
		else
			high = mid;
	}
	r->hint = low;
	*at = (uint32_t)(row - r->start[r->hint]);
	return r->table->batch[r->hint];
}

struct dtx_str dtx_raw_text(struct dtx_raw *r, int64_t row, uint32_t col, struct dtx_buf *scratch)
{
	uint32_t at;
	const struct dtx_batch *b = dtx_raw_row(r, row, &at);
	bool null;

	if (!b->col[col])
		return (struct dtx_str){ "", 0 };
	return dtx_cell_text(b->col[col], at, scratch, &null);
}

bool dtx_raw_blank(struct dtx_raw *r, int64_t row, uint32_t col)
{
	uint32_t at;
	const struct dtx_batch *b = dtx_raw_row(r, row, &at);
	const struct dtx_column *c = b->col[col];
	bool null;

	if (!c || dtx_column_is_null(c, at))
		return true;
	if (c->form == DTX_F_CELL && (c->tag[at] & DTX_CELL_KIND) != DTX_CELL_TEXT)
		return false;
	if (c->form != DTX_F_SPAN && c->form != DTX_F_CELL && c->type.type != DTX_T_TEXT)
		return false;
	dtx_buf_reset(&r->scratch);
	return dtx_utf8_is_blank(dtx_cell_text(c, at, &r->scratch, &null));
}

static uint8_t raw_tag(struct dtx_raw *r, int64_t row, uint32_t col)
{
	uint32_t at;
	const struct dtx_batch *b = dtx_raw_row(r, row, &at);
	const struct dtx_column *c = b->col[col];

	return c && c->form == DTX_F_CELL ? c->tag[at] : (uint8_t)DTX_CELL_TEXT;
}

uint8_t dtx_raw_merge(struct dtx_raw *r, int64_t row, uint32_t col)
{
	return raw_tag(r, row, col) & (DTX_CELL_MERGE_UP | DTX_CELL_MERGE_LEFT);
}

void dtx_raw_anchor(struct dtx_raw *r, uint8_t along, int64_t *row, uint32_t *col)
{
	while (*row > 0 && dtx_raw_merge(r, *row, *col) & along & DTX_CELL_MERGE_UP)
		(*row)--;
	while (*col > 0 && dtx_raw_merge(r, *row, *col) & along & DTX_CELL_MERGE_LEFT)
		(*col)--;
}

uint8_t dtx_raw_kind(struct dtx_raw *r, int64_t row, uint32_t col)
{
	return raw_tag(r, row, col) & DTX_CELL_KIND;
}

bool dtx_raw_uncached(struct dtx_raw *r, int64_t row, uint32_t col)
{
	return (raw_tag(r, row, col) & (DTX_CELL_KIND | DTX_CELL_UNCACHED)) ==
	       (DTX_CELL_BLANK | DTX_CELL_UNCACHED);
}

bool dtx_raw_bold(struct dtx_raw *r, int64_t row, uint32_t col)
{
	uint8_t tag = raw_tag(r, row, col);

	return (tag & DTX_CELL_KIND) != DTX_CELL_BLANK && tag & DTX_GRID_BOLD;
}

uint32_t dtx_raw_filled(struct dtx_raw *r, int64_t row, uint32_t *only)
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < r->ncols; c++) {
		if (dtx_raw_blank(r, row, c))
			continue;
		*only = c;
		n++;
	}
	return n;
}

bool dtx_raw_is_sheet(const struct dtx_raw *r)
{
	for (size_t i = 0; i < r->table->nbatches; i++)
		for (uint32_t c = 0; c < r->ncols; c++)
			if (r->table->batch[i]->col[c])
				return r->table->batch[i]->col[c]->form == DTX_F_CELL;
	return false;
}

/* --- the rows that stay --- */

enum dtx_code dtx_raw_bind(struct dtx_bind *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < b->in[0]->nfields; i++)
		DTX_TRY(dtx_bind_use(b, DTX_USE_ROWS, 0, (int32_t)i, DTX_DEMAND_BYTES, err));
	dtx_bind_kind(b, DTX_KIND_WHOLE);
	/* types are detected again; names are known in advance if columns are kept */
	if (b->typed || b->ncols == 0)
		dtx_bind_open(b);
out:
	return rc;
}

bool dtx_raw_retypes(const struct dtx_field *f, const struct dtx_column *c)
{
	return c && f->source && !f->declared && (c->form == DTX_F_SPAN || c->form == DTX_F_CELL);
}

static struct dtx_colmap identity(uint32_t n, int32_t *from)
{
	for (uint32_t i = 0; i < n; i++)
		from[i] = (int32_t)i;
	return (struct dtx_colmap){ n, from };
}

static enum dtx_code infer_batch(const struct dtx_batch *b, const struct dtx_table *t,
                                 struct dtx_infer *f, bool *late, int64_t row, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t c = 0; c < t->schema->nfields; c++) {
		if (!dtx_raw_retypes(&t->schema->field[c], b->col[c])) {
			late[c] = false;
			continue;
		}
		DTX_TRY(dtx_cancel_look(err));
		dtx_infer_column(&f[c], b->col[c], row);
	}
out:
	return rc;
}

enum dtx_code dtx_raw_schema(struct dtx_table *t, const int64_t *rows, int64_t n,
                             const char *const *names, struct dtx_arena *arena,
                             const struct dtx_schema **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t fields = t->schema->nfields;
	struct dtx_schema *s = dtx_schema_copy(arena, t->schema);
	struct dtx_infer *f = dtx_arena_zalloc(arena, (size_t)fields + 1, sizeof(*f));
	bool *late = dtx_arena_alloc(arena, (size_t)fields + 1, sizeof(*late));
	int32_t *from = dtx_arena_alloc(arena, (size_t)fields + 1, sizeof(*from));
	struct dtx_rowcursor cur = DTX_ROWCURSOR_INIT;
	struct dtx_opctx ox = { .out = t->schema };
	struct dtx_batch *b = NULL;
	struct dtx_field *field;
	struct dtx_colmap map;

	if (!s || !f || !late || !from)
		DTX_FAIL_MEM(err);
	field = (struct dtx_field *)(uintptr_t)s->field; /* our own copy, which may be changed */
	map = identity(fields, from);
	for (uint32_t c = 0; c < fields; c++) {
		f[c] = dtx_infer_again(&field[c]);
		late[c] = true;
	}
	DTX_TRY(dtx_rowcursor_open(&cur, &ox, t, &map, rows, n, err));
	for (;;) {
		int64_t at = cur.at;

		dtx_batch_free(b);
		b = NULL;
		DTX_TRY(dtx_rowcursor_next(&cur, &b, err));
		if (!b)
			break;
		DTX_TRY(infer_batch(b, t, f, late, at, err));
	}
	for (uint32_t c = 0; c < fields; c++) {
		if (late[c] && n) {
			field[c].type = dtx_infer_type(&f[c]);
			field[c].guessed = false;
		}
		if (names)
			field[c].name = names[c];
	}
	s->open = false;
	*out = s;
out:
	dtx_batch_free(b);
	dtx_rowcursor_close(&cur);
	return rc;
}

enum dtx_code dtx_raw_emit(const struct dtx_opctx *ox, struct dtx_table *t, const int64_t *rows,
                           int64_t n, struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int32_t *from = dtx_mem_alloc((size_t)t->schema->nfields + 1, sizeof(*from));
	struct dtx_colmap map;

	if (!from)
		DTX_FAIL_MEM(err);
	map = identity(t->schema->nfields, from);
	DTX_TRY(dtx_table_emit(ox, t, &map, rows, n, out, err));
out:
	dtx_mem_free(from);
	return rc;
}
