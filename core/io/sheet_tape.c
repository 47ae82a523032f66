/* A row is ROW_MARK, its number, whether it is hidden; a cell is its tag with the size of its value
 * in the two bits on top, and the value: a whole number or an id in one, two or four bytes, any
 * other number in eight.  JUMP_MARK and a column stand before a cell that does not follow the one
 * before it. */
#include "core/io/sheet_tape.h"

#include <endian.h>

enum {
	ROW_MARK = 0xff, /* no tags: their kinds do not exist */
	JUMP_MARK = 0xfe,
	TAG = DTX_CELL_KIND | DTX_CELL_FORMULA | DTX_CELL_UNCACHED,
	SIZE_SHIFT = 6, /* of the logarithm of the size */
	ROW_BYTES = 6,
	CELL_BYTES = 12,
	SPARE = 8 /* bytes that are written, or read, beyond what is used */
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

/* The value as a small number, if it is one: ids with the inline bit at the bottom. */
static inline bool narrow(unsigned tag, union dtx_payload v, uint32_t *out)
{
	uint64_t id = (v.id & ~DTX_GRID_INLINE) << 1 | v.id >> 63;

	if (!is_number(tag)) {
		*out = (uint32_t)id;
		return (v.id & ~DTX_GRID_INLINE) <= UINT32_MAX >> 1;
	}
	if (!(v.num >= INT32_MIN && v.num <= INT32_MAX) || (double)(int32_t)v.num != v.num)
		return false;
	*out = (uint32_t)(int32_t)v.num;
	return true;
}

static inline union dtx_payload widen(unsigned tag, uint32_t small)
{
	if (is_number(tag))
		return (union dtx_payload){ .num = (int32_t)small };
	return (union dtx_payload){ .id = small >> 1 | (small & 1 ? DTX_GRID_INLINE : 0) };
}

/* Writes SPARE bytes beyond the cell. */
static inline char *put_cell(char *p, unsigned tag, union dtx_payload v)
{
	unsigned size = 3;
	uint32_t small;
	uint64_t bytes;

	if (narrow(tag, v, &small)) {
		size = (unsigned)(small > UINT8_MAX) + (unsigned)(small > UINT16_MAX);
		bytes = htole64(small);
		memcpy(p + 1, &bytes, sizeof(bytes));
	} else {
		memcpy(p + 1, &v, sizeof(v));
	}
	*p = (char)((tag & TAG) | size << SIZE_SHIFT);
	return p + 1 + ((size_t)1 << size);
}

static inline char *put_jump(char *p, uint32_t col)
{
	uint16_t col16 = (uint16_t)col;

	*p++ = (char)JUMP_MARK;
	memcpy(p, &col16, sizeof(col16));
	return p + sizeof(col16);
}

void dtx_sheet_tape_put(struct dtx_sheet_tape *t, const struct dtx_grid *g, size_t r,
                        const bool *in)
{
	uint64_t i, end = g->row[r + 1].first;
	uint32_t expect = 0;
	char *p;

	if (t->full)
		return;
	if (!dtx_buf_room(&t->bytes,
	                  ROW_BYTES + SPARE + (size_t)(end - g->row[r].first) * CELL_BYTES)) {
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
		if (c != expect)
			p = put_jump(p, c);
		p = put_cell(p, dtx_grid_tag(g, i), dtx_grid_value(g, i));
		expect = c + 1;
	}
	t->bytes.len = (size_t)(p - t->bytes.ptr);
}

/* The value of a cell whose tag byte is at p; returns its end.  SPARE bytes behind it are read. */
static inline const char *get_value(const char *p, union dtx_payload *v)
{
	unsigned tag = (unsigned char)*p++, size = tag >> SIZE_SHIFT;
	uint64_t bytes;

	if (size == 3) {
		memcpy(v, p, sizeof(*v));
		return p + sizeof(*v);
	}
	memcpy(&bytes, p, sizeof(bytes));
	*v = widen(tag, (uint32_t)(le64toh(bytes) & (((uint64_t)1 << (8u << size)) - 1)));
	return p + ((size_t)1 << size);
}

/* The cells of one row; returns where the next row begins. */
static enum dtx_code get_cells(const char **at, const char *end, struct dtx_grid *g, uint32_t row,
                               bool hidden, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *p = *at;
	uint32_t col = 0;
	uint16_t col16;

	while (p < end && (unsigned char)*p != ROW_MARK) {
		union dtx_payload v;
		unsigned tag;

		if ((unsigned char)*p == JUMP_MARK) {
			memcpy(&col16, p + 1, sizeof(col16));
			p += 1 + sizeof(col16);
			col = col16;
		}
		tag = (unsigned char)*p & TAG;
		p = get_value(p, &v);
		DTX_TRY(dtx_grid_add(g, row, col, (uint8_t)tag, v, 0, hidden, err));
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
