/* A row is ROW_MARK, its number, whether it is hidden; a cell its tag, its column unless that is
 * the next one, and its value: a whole number or an id in four bytes, else eight. */
#include "core/io/sheet_tape.h"

#include <math.h>

enum {
	ROW_MARK = 0xff, /* no tag: its kind does not exist */
	JUMP = 0x40,     /* the column follows */
	WIDE = 0x80,     /* eight bytes of value */
	TAG = DTX_CELL_KIND | DTX_CELL_FORMULA | DTX_CELL_UNCACHED,
	ROW_BYTES = 6,
	CELL_BYTES = 11
};

void dtx_sheet_tape_init(struct dtx_sheet_tape *t, size_t max)
{
	t->full = false;
	dtx_buf_init(&t->bytes, max);
}

void dtx_sheet_tape_clear(struct dtx_sheet_tape *t)
{
	dtx_buf_clear(&t->bytes);
}

static bool is_number(unsigned tag)
{
	unsigned kind = tag & DTX_CELL_KIND;

	return kind == DTX_CELL_NUMBER || kind == DTX_GRID_BAD_DATE ||
	       (kind >= DTX_CELL_DATE && kind <= DTX_CELL_DURATION);
}

/* The value in four bytes, if they hold it: ids with the inline bit at the bottom. */
static bool narrow(unsigned tag, union dtx_payload v, uint32_t *out)
{
	uint64_t id = (v.id & ~DTX_GRID_INLINE) << 1 | (v.id & DTX_GRID_INLINE ? 1 : 0);

	if (!is_number(tag)) {
		*out = (uint32_t)id;
		return (v.id & ~DTX_GRID_INLINE) <= UINT32_MAX >> 1;
	}
	if (!(v.num >= INT32_MIN && v.num <= INT32_MAX) || (double)(int32_t)v.num != v.num)
		return false;
	*out = (uint32_t)(int32_t)v.num;
	return true;
}

static union dtx_payload widen(unsigned tag, uint32_t small)
{
	if (is_number(tag))
		return (union dtx_payload){ .num = (int32_t)small };
	return (union dtx_payload){ .id = small >> 1 | (small & 1 ? DTX_GRID_INLINE : 0) };
}

static char *put_cell(char *p, unsigned tag, uint32_t col, bool next, union dtx_payload v)
{
	uint16_t col16 = (uint16_t)col;
	uint32_t small;
	bool fits = narrow(tag, v, &small);

	*p++ = (char)((tag & TAG) | (next ? 0 : JUMP) | (fits ? 0 : WIDE));
	if (!next) {
		memcpy(p, &col16, sizeof(col16));
		p += sizeof(col16);
	}
	if (fits)
		memcpy(p, &small, sizeof(small));
	else
		memcpy(p, &v, sizeof(v));
	return p + (fits ? sizeof(small) : sizeof(v));
}

void dtx_sheet_tape_put(struct dtx_sheet_tape *t, const struct dtx_grid *g, size_t r,
                        const bool *in)
{
	uint64_t i, end = g->row[r + 1].first;
	uint32_t expect = 0;
	char *p;

	if (t->full)
		return;
	if (!dtx_buf_room(&t->bytes, ROW_BYTES + (size_t)(end - g->row[r].first) * CELL_BYTES)) {
		t->full = true;
		dtx_buf_clear(&t->bytes);
		return;
	}
	p = t->bytes.ptr + t->bytes.len;
	*p++ = (char)ROW_MARK;
	memcpy(p, &g->row[r].row, 4);
	p[4] = g->row[r].hidden;
	p += 5;
	for (i = g->row[r].first; i < end; i++) {
		uint32_t c = dtx_grid_col(g, i);

		if (!in[c])
			continue;
		p = put_cell(p, dtx_grid_tag(g, i), c, c == expect, dtx_grid_value(g, i));
		expect = c + 1;
	}
	t->bytes.len = (size_t)(p - t->bytes.ptr);
}

/* The cells of one row; returns where the next row begins. */
static enum dtx_code get_cells(const char **at, const char *end, struct dtx_grid *g, uint32_t row,
                               bool hidden, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *p = *at;
	uint32_t col = 0;

	while (p < end && (unsigned char)*p != ROW_MARK) {
		unsigned tag = (unsigned char)*p++;
		union dtx_payload v;
		uint16_t col16;
		uint32_t small;

		if (tag & JUMP) {
			memcpy(&col16, p, sizeof(col16));
			p += sizeof(col16);
			col = col16;
		}
		if (tag & WIDE) {
			memcpy(&v, p, sizeof(v));
			p += sizeof(v);
		} else {
			memcpy(&small, p, sizeof(small));
			p += sizeof(small);
			v = widen(tag, small);
		}
		DTX_TRY(dtx_grid_add(g, row, col, (uint8_t)(tag & TAG), v, 0, hidden, err));
		col++;
	}
out:
	*at = p;
	return rc;
}

enum dtx_code dtx_sheet_tape_get(const struct dtx_sheet_tape *t, size_t *at, struct dtx_grid *g,
                                 uint64_t cells, size_t rows, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *p = t->bytes.ptr + *at, *end = t->bytes.ptr + t->bytes.len;

	while (p < end && g->ncells < cells && g->nrows < rows) {
		uint32_t row;
		bool hidden = p[5];

		memcpy(&row, p + 1, sizeof(row));
		p += ROW_BYTES;
		DTX_TRY(get_cells(&p, end, g, row, hidden, err));
	}
out:
	*at = (size_t)(p - t->bytes.ptr);
	return rc;
}
