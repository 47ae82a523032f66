/* Stores rows in few bytes, see row_cache.h. A block has a header, its row numbers, and its
 * columns. A column has a header, a tag per row unless all are equal, and the values in one,
 * two, four or eight bytes, as the largest one needs. */
#include "core/io/sheet/row_cache.h"

#include "core/base/memory/mem.h"
#include "core/base/text/swar.h"

enum {
	CELLS = 32 << 10, /* room for so many cells, more than a row can have */
	ROWS = CELLS / 2,
	EVEN_ROWS = 16, /* so many rows with the same columns are worth the special case */
	TAPE_TAG = DTX_CELL_KIND | DTX_CELL_FORMULA | DTX_CELL_UNCACHED,
	TAGS_DIFFER = 0xff /* not a valid tag */
};
struct block_head {
	uint32_t bytes, rows; /* bytes: of the whole block */
};
struct col_head {
	uint16_t col;
	uint8_t tag, size;
};

/* --- the columns of some rows --- */

void dtx_sheet_cols_clear(struct dtx_sheet_cols *c)
{
	dtx_mem_free(c->slot);
	dtx_mem_free(c->col);
	dtx_mem_free(c->row);
	dtx_mem_free(c->tag);
	dtx_mem_free(c->value);
	dtx_mem_free(c->style);
	dtx_mem_free(c->small);
	*c = (struct dtx_sheet_cols){ 0 };
}

enum dtx_code dtx_sheet_cols_init(struct dtx_sheet_cols *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*c = (struct dtx_sheet_cols){ 0 };
	c->slot = dtx_mem_zalloc(DTX_SHEET_COLS, sizeof(*c->slot));
	c->col = dtx_mem_alloc(DTX_SHEET_COLS, sizeof(*c->col));
	c->row = dtx_mem_alloc(ROWS, sizeof(*c->row));
	c->tag = dtx_mem_alloc(CELLS, sizeof(*c->tag));
	c->value = dtx_mem_alloc(CELLS, sizeof(*c->value));
	c->style = dtx_mem_alloc(CELLS, sizeof(*c->style));
	c->small = dtx_mem_alloc(ROWS, sizeof(*c->small));
	if (!c->slot || !c->col || !c->row || !c->tag || !c->value || !c->style || !c->small)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static void forget(struct dtx_sheet_cols *c)
{
	while (c->ncols)
		c->slot[c->col[--c->ncols]] = 0;
	c->n = c->nhidden = 0;
	c->chunk = NULL;
}

/* Adds a column; returns false if there is no room. */
static bool new_slot(struct dtx_sheet_cols *c, uint32_t col)
{
	size_t at = (size_t)c->ncols * c->stride;

	if (at + c->stride > CELLS)
		return false;
	memset(c->tag + at, 0, c->stride);
	c->col[c->ncols++] = (uint16_t)col;
	c->slot[col] = (uint16_t)c->ncols;
	return true;
}

/* Removes a row of blanks; the next row takes its place. */
static void forget_row(struct dtx_sheet_cols *c)
{
	uint32_t i;

	for (i = 0; i < c->ncols; i++)
		c->tag[(size_t)i * c->stride + c->n] = 0;
}

/* Adds cells [at, end) of a chunk to the next row, and their tags to *seen. Returns false if
 * there is no room for a column. */
static bool add_cells(struct dtx_sheet_cols *c, const struct dtx_grid_chunk *chunk, size_t at,
                      size_t end, const bool *in, unsigned *seen)
{
	/* a store to bytes could change any memory, so these are copied to locals, or they would
	 * be loaded again */
	const size_t stride = c->stride, n = c->n;
	const uint16_t *const slot = c->slot, *const style = chunk->style;
	uint8_t *const tags = c->tag;
	union dtx_payload *const values = c->value;
	uint16_t *const styles = c->style;
	unsigned all = *seen;

	for (; at < end; at++) {
		uint32_t col = chunk->col[at];
		unsigned tag = chunk->tag[at] & TAPE_TAG;
		size_t to;

		if (!in[col])
			continue;
		if (DTX_UNLIKELY(!slot[col]) && !new_slot(c, col))
			return false;
		to = (slot[col] - 1u) * stride + n;
		tags[to] = (uint8_t)tag;
		values[to] = chunk->value[at];
		styles[to] = style ? style[at] : 0;
		all |= tag;
	}
	*seen = all;
	return true;
}

/* Returns false if the row needs more columns than there is room for, which cannot happen for a
 * single row. */
static bool add_row(struct dtx_sheet_cols *c, const struct dtx_grid *g, size_t r, const bool *in)
{
	uint64_t i = g->row[r].first, end = g->row[r + 1].first;
	unsigned seen = 0;

	while (i < end) {
		size_t at = i % DTX_GRID_CHUNK;
		size_t to = (size_t)DTX_MIN(at + (end - i), (uint64_t)DTX_GRID_CHUNK);

		if (!add_cells(c, g->chunk[i / DTX_GRID_CHUNK], at, to, in, &seen))
			return false;
		i += to - at;
	}
	if (!(seen & (DTX_CELL_KIND | DTX_CELL_UNCACHED))) {
		forget_row(c);
		return true;
	}
	c->nhidden += g->row[r].hidden;
	c->row[c->n++] = g->row[r].row | (g->row[r].hidden ? DTX_ROW_CACHE_HIDDEN : 0);
	return true;
}

/* Takes rows with different columns. If most cells of a column would be blank, takes each row
 * alone, because such columns are slow to process. */
static size_t take_uneven(struct dtx_sheet_cols *c, const struct dtx_grid *g, size_t r, size_t end,
                          const bool *in)
{
	size_t from = r;

	c->stride = (uint32_t)DTX_MIN(end - r, (size_t)ROWS);
	while (r < end && c->n < c->stride && add_row(c, g, r, in))
		r++;
	if (c->n || r > from)
		return r;
	forget(c);
	c->stride = 1;
	(void)add_row(c, g, r, in);
	return r + 1;
}

/* Whether one of the tags [tag, tag + n) is blank. */
static bool any_blank(const uint8_t *tag, size_t n)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t w;
	size_t i;

	for (i = 0; i + sizeof(w) <= n; i += sizeof(w)) {
		memcpy(&w, tag + i, sizeof(w));
		w &= ones * DTX_CELL_KIND;
		if ((w - ones) & ~w & ones << 7)
			return true;
	}
	for (; i < n && tag[i] & DTX_CELL_KIND; i++)
		;
	return i < n;
}

/* Whether row r has the same columns as the row before, whose `width` cells begin at `first`. */
static bool goes_on(const struct dtx_grid *g, size_t r, size_t width, const uint16_t *col)
{
	const struct dtx_grid_row *row = &g->row[r];

	return row[1].first - row->first == width && !row->hidden &&
	       !memcmp(col, col + width, width * sizeof(*col));
}

/* Takes rows with the same columns; returns 0 if there are too few. */
static size_t take_even(struct dtx_sheet_cols *c, const struct dtx_grid *g, size_t r, size_t end,
                        const bool *in)
{
	const struct dtx_grid_row *row = &g->row[r];
	size_t first = row->first % DTX_GRID_CHUNK, width = (size_t)(row[1].first - row->first);
	const struct dtx_grid_chunk *chunk = g->chunk[row->first / DTX_GRID_CHUNK];
	size_t n = 1, most, i;

	if (!width)
		return 0;
	most = DTX_MIN(DTX_MIN(end - r, (DTX_GRID_CHUNK - first) / width), (size_t)ROWS);
	while (n < most && goes_on(g, r + n, width, chunk->col + first + (n - 1) * width))
		n++;
	if (n < EVEN_ROWS || row->hidden || any_blank(chunk->tag + first, n * width))
		return 0;
	for (i = 0; i < width && in[chunk->col[first + i]]; i++)
		;
	if (i < width)
		return 0;
	memcpy(c->col, chunk->col + first, width * sizeof(*c->col));
	for (i = 0; i < n; i++)
		c->row[i] = row[i].row;
	c->ncols = (uint32_t)width;
	c->n = (uint32_t)n;
	c->chunk = chunk;
	c->first = first;
	return n;
}

size_t dtx_sheet_cols_take(struct dtx_sheet_cols *c, const struct dtx_grid *g, size_t r, size_t end,
                           const bool *in)
{
	size_t n;

	forget(c);
	n = take_even(c, g, r, end, in);
	return n ? r + n : take_uneven(c, g, r, end, in);
}

/* Converts a number to a small one; clears *ok if that is not possible. */
static inline uint32_t small_number(double v, bool *ok)
{
	int32_t i = v >= INT32_MIN && v <= INT32_MAX ? (int32_t)v : 0;

	*ok &= (double)i == v;
	return (uint32_t)i;
}

static inline uint32_t small_id(uint64_t id, bool *ok)
{
	*ok &= (id & ~DTX_GRID_INLINE) <= UINT32_MAX >> 1;
	return (uint32_t)(id << 1 | id >> 63);
}

static uint32_t small_mixed(const struct dtx_sheet_col *c, uint32_t *small, bool *ok)
{
	uint32_t bits = 0, i;
	size_t at = 0;

	for (i = 0; i < c->n; i++, at += c->step) {
		unsigned tag = c->tag[at];

		small[i] = !tag                           ? 0
		           : dtx_row_cache_is_number(tag) ? small_number(c->value[at].num, ok)
		                                          : small_id(c->value[at].id, ok);
		bits |= small[i];
	}
	return bits;
}

static uint32_t small_alike(const struct dtx_sheet_col *c, uint32_t *small, bool *ok)
{
	const union dtx_payload *v = c->value;
	const size_t step = c->step;
	uint32_t bits = 0, i;

	if (dtx_row_cache_is_number(*c->tag)) {
		for (i = 0; i < c->n; i++, v += step)
			bits |= small[i] = small_number(v->num, ok);
	} else {
		for (i = 0; i < c->n; i++, v += step)
			bits |= small[i] = small_id(v->id, ok);
	}
	return bits;
}

static bool all_alike(const struct dtx_sheet_col *c)
{
	unsigned other = 0;
	uint32_t i;

	for (i = 0; i < c->n; i++)
		other |= (unsigned)(c->tag[i * c->step] ^ *c->tag);
	return !other;
}

struct dtx_sheet_col dtx_sheet_cols_get(const struct dtx_sheet_cols *c, uint32_t place)
{
	size_t at = c->chunk ? c->first + place : (size_t)place * c->stride;
	const uint16_t *style = c->chunk ? c->chunk->style : c->style;
	struct dtx_sheet_col out = { .col = c->col[place],
		                     .n = c->n,
		                     .step = c->chunk ? c->ncols : 1,
		                     .tag = (c->chunk ? c->chunk->tag : c->tag) + at,
		                     .value = (c->chunk ? c->chunk->value : c->value) + at,
		                     .style = style ? style + at : NULL,
		                     .small = c->small,
		                     .size = 3 };
	bool ok = true;
	uint32_t bits;

	out.alike = all_alike(&out);
	bits = out.alike ? small_alike(&out, c->small, &ok) : small_mixed(&out, c->small, &ok);
	if (ok)
		out.size = (unsigned)(bits > UINT8_MAX) + (unsigned)(bits > UINT16_MAX);
	return out;
}

/* --- writing --- */

void dtx_row_cache_init(struct dtx_row_cache *t, size_t max)
{
	t->full = false;
	dtx_buf_init(&t->bytes, max);
}

void dtx_row_cache_clear(struct dtx_row_cache *t)
{
	dtx_buf_clear(&t->bytes);
}

/* Allocates all memory at once, if possible: what is not written costs nothing, and a block that
 * never moves can be in large pages. */
static void take_all(struct dtx_buf *b)
{
	if (dtx_mem_grow(&b->ptr, b->max, 1))
		b->cap = b->max;
}

/* NULL: there is no room, and from now on nothing is stored. */
static char *tape_room(struct dtx_row_cache *t, size_t n)
{
	if (t->full)
		return NULL;
	if (!t->bytes.cap)
		take_all(&t->bytes);
	if (dtx_buf_room(&t->bytes, n))
		return t->bytes.ptr + t->bytes.len;
	t->full = true;
	dtx_buf_clear(&t->bytes);
	return NULL;
}

void dtx_row_cache_open(struct dtx_row_cache *t, const struct dtx_sheet_cols *c, size_t *block)
{
	struct block_head h = { 0, c->n };
	char *p = tape_room(t, sizeof(h) + c->n * sizeof(*c->row));

	*block = t->bytes.len;
	if (!p)
		return;
	memcpy(p, &h, sizeof(h));
	memcpy(p + sizeof(h), c->row, c->n * sizeof(*c->row));
	t->bytes.len += sizeof(h) + c->n * sizeof(*c->row);
}

void dtx_row_cache_close(struct dtx_row_cache *t, size_t block)
{
	uint32_t bytes = (uint32_t)(t->bytes.len - block);

	if (!t->full)
		memcpy(t->bytes.ptr + block, &bytes, sizeof(bytes));
}

static char *put_small(char *p, const uint32_t *small, uint32_t n, unsigned size)
{
	uint32_t i;

	for (i = 0; size == 0 && i < n; i++)
		p[i] = (char)small[i];
	for (i = 0; size == 1 && i < n; i++) {
		uint16_t two = (uint16_t)small[i];

		memcpy(p + 2 * (size_t)i, &two, sizeof(two));
	}
	if (size == 2)
		memcpy(p, small, n * sizeof(*small));
	return p + ((size_t)n << size);
}

/* nothing was stored for a cell that does not exist */
static char *put_whole(char *p, const struct dtx_sheet_col *c)
{
	static const union dtx_payload none = { .id = 0 };
	size_t at = 0;
	uint32_t i;

	for (i = 0; i < c->n; i++, at += c->step, p += sizeof(none))
		memcpy(p, c->tag[at] ? &c->value[at] : &none, sizeof(none));
	return p;
}

static char *put_tags(char *p, const struct dtx_sheet_col *c)
{
	uint32_t i;

	for (i = 0; i < c->n; i++)
		p[i] = (char)c->tag[i * c->step];
	return p + c->n;
}

void dtx_row_cache_col(struct dtx_row_cache *t, const struct dtx_sheet_col *c)
{
	struct col_head h = { (uint16_t)c->col, c->alike ? *c->tag : TAGS_DIFFER,
		              (uint8_t)c->size };
	char *p = tape_room(t, sizeof(h) + c->n * (1 + sizeof(*c->value)));

	if (!p)
		return;
	memcpy(p, &h, sizeof(h));
	p += sizeof(h);
	if (!c->alike)
		p = put_tags(p, c);
	p = c->size < 3 ? put_small(p, c->small, c->n, c->size) : put_whole(p, c);
	t->bytes.len = (size_t)(p - t->bytes.ptr);
}

/* --- reading --- */

enum dtx_code dtx_row_cache_rows(const struct dtx_row_cache *t, struct dtx_row_cache_at *at,
                                 struct dtx_grid *g, size_t rows, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *p = t->bytes.ptr + at->block;
	struct block_head h;
	uint32_t row;

	if (at->block == t->bytes.len)
		goto out;
	memcpy(&h, p, sizeof(h));
	for (; rows && at->row < h.rows; rows--) {
		memcpy(&row, p + sizeof(h) + at->row * sizeof(row), sizeof(row));
		DTX_TRY(dtx_grid_row_add(g, row & ~DTX_ROW_CACHE_HIDDEN, row & DTX_ROW_CACHE_HIDDEN,
		                         err));
		g->row[g->nrows - 1].first = at->row++;
	}
	if (at->row == h.rows)
		*at = (struct dtx_row_cache_at){ at->block + h.bytes, 0 };
out:
	return rc;
}

bool dtx_row_cache_next(const struct dtx_row_cache *t, size_t block, struct dtx_row_cache_col *c)
{
	const char *p = t->bytes.ptr + block;
	struct block_head b;
	struct col_head h;

	memcpy(&b, p, sizeof(b));
	p = c->values ? c->values + ((size_t)b.rows << c->size)
	              : p + sizeof(b) + b.rows * sizeof(uint32_t);
	if (p == t->bytes.ptr + block + b.bytes)
		return false;
	memcpy(&h, p, sizeof(h));
	p += sizeof(h);
	*c = (struct dtx_row_cache_col){
		.col = h.col, .rows = b.rows, .tag = h.tag, .size = h.size
	};
	if (h.tag == TAGS_DIFFER) {
		c->tags = (const uint8_t *)p;
		p += b.rows;
	}
	c->values = p;
	return true;
}
