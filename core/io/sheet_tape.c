/* A row is the bytes of its cells, its number, whether it is hidden, and its cells; a cell is its
 * tag with the size of its value in the two bits on top, and the value: a whole number or an id in
 * one, two or four bytes, any other number in eight.  DTX_TAPE_JUMP and a column stand before a
 * cell that does not follow the one before it. */
#include "core/io/sheet_tape.h"

#include "core/base/mem.h"

enum {
	ROW_BYTES = 9,
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

/* All the memory at once, if it is to be had: what is not written takes none, and a block that
 * never moves lies on large pages. */
static void take_all(struct dtx_buf *b)
{
	if (dtx_mem_grow(&b->ptr, b->max, 1))
		b->cap = b->max;
}

char *dtx_sheet_tape_row(struct dtx_sheet_tape *t, const struct dtx_grid_row *row, size_t cells)
{
	char *p;

	if (t->full)
		return NULL;
	if (!t->bytes.cap)
		take_all(&t->bytes);
	if (!dtx_buf_room(&t->bytes, ROW_BYTES + SPARE + cells * CELL_BYTES)) {
		t->full = true;
		dtx_buf_clear(&t->bytes);
		return NULL;
	}
	p = t->bytes.ptr + t->bytes.len;
	memcpy(p + 4, &row->row, 4);
	p[8] = row->hidden;
	return p + ROW_BYTES;
}

void dtx_sheet_tape_end(struct dtx_sheet_tape *t, const char *end)
{
	char *p = t->bytes.ptr + t->bytes.len;
	uint32_t len = (uint32_t)(end - p - ROW_BYTES);

	memcpy(p, &len, sizeof(len));
	t->bytes.len += ROW_BYTES + len;
}

enum dtx_code dtx_sheet_tape_rows(const struct dtx_sheet_tape *t, size_t *at, struct dtx_grid *g,
                                  size_t rows, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t len, row;

	for (; rows && *at < t->bytes.len; rows--) {
		const char *p = t->bytes.ptr + *at;

		memcpy(&len, p, sizeof(len));
		memcpy(&row, p + 4, sizeof(row));
		DTX_TRY(dtx_grid_row_add(g, row, p[8], err));
		g->row[g->nrows - 1].first = *at;
		*at += ROW_BYTES + len;
	}
out:
	return rc;
}

struct dtx_str dtx_sheet_tape_cells(const struct dtx_sheet_tape *t, const struct dtx_grid_row *row)
{
	const char *p = t->bytes.ptr + row->first;
	uint32_t len;

	memcpy(&len, p, sizeof(len));
	return (struct dtx_str){ p + ROW_BYTES, len };
}
