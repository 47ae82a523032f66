/* Rows of a sheet in few bytes, to be read again: two to nine bytes a cell, styles left out. */
#ifndef DTX_IO_SHEET_TAPE_H
#define DTX_IO_SHEET_TAPE_H

#include <endian.h>

#include "core/base/buf.h"
#include "core/io/grid.h"

struct dtx_sheet_tape {
	struct dtx_buf bytes;
	bool full; /* it did not hold all that was put: it is empty */
};

void dtx_sheet_tape_init(struct dtx_sheet_tape *t, size_t max);
void dtx_sheet_tape_clear(struct dtx_sheet_tape *t);
/* A row of up to `cells` cells begins: its place, where the first of them goes; NULL: there is no
 * room, and nothing is kept any more.  The row is put when its end is told to dtx_sheet_tape_end.
 */
char *dtx_sheet_tape_row(struct dtx_sheet_tape *t, const struct dtx_grid_row *row, size_t cells);
void dtx_sheet_tape_end(struct dtx_sheet_tape *t, const char *end);
/* Adds up to `rows` rows from byte *at on to the grid, without their cells, and moves *at on; the
 * end is where *at is the tape's length.  `first` of a row is its place here. */
DTX_MUSTUSE enum dtx_code dtx_sheet_tape_rows(const struct dtx_sheet_tape *t, size_t *at,
                                              struct dtx_grid *g, size_t rows, struct dtx_err *err);
/* The cells of such a row, for dtx_sheet_tape_next. */
struct dtx_str dtx_sheet_tape_cells(const struct dtx_sheet_tape *t, const struct dtx_grid_row *row);

/* --- cells --- */

enum {
	DTX_TAPE_JUMP = 0xfe, /* is no tag: such a kind does not exist */
	DTX_TAPE_TAG = DTX_CELL_KIND | DTX_CELL_FORMULA | DTX_CELL_UNCACHED,
	DTX_TAPE_SIZE_SHIFT = 6 /* of the logarithm of the size */
};

static inline bool dtx_sheet_tape_is_number(unsigned tag)
{
	unsigned kind = tag & DTX_CELL_KIND;

	return kind == DTX_CELL_NUMBER || (kind >= DTX_CELL_DATE && kind <= DTX_GRID_BAD_DATE);
}

/* The value as a small number, if it is one: ids with the inline bit at the bottom. */
static inline bool dtx_sheet_tape_narrow(unsigned tag, union dtx_payload v, uint32_t *out)
{
	uint64_t id = (v.id & ~DTX_GRID_INLINE) << 1 | v.id >> 63;

	if (!dtx_sheet_tape_is_number(tag)) {
		*out = (uint32_t)id;
		return (v.id & ~DTX_GRID_INLINE) <= UINT32_MAX >> 1;
	}
	if (!(v.num >= INT32_MIN && v.num <= INT32_MAX) || (double)(int32_t)v.num != v.num)
		return false;
	*out = (uint32_t)(int32_t)v.num;
	return true;
}

/* The next cell does not follow the one before. */
static inline char *dtx_sheet_tape_jump(char *p, uint32_t col)
{
	uint16_t col16 = (uint16_t)col;

	*p++ = (char)DTX_TAPE_JUMP;
	memcpy(p, &col16, sizeof(col16));
	return p + sizeof(col16);
}

/* The cell goes to p; `small` is its value when it is narrow.  Bytes behind it are written, too. */
static inline char *dtx_sheet_tape_cell(char *p, unsigned tag, union dtx_payload v, bool narrow,
                                        uint32_t small)
{
	unsigned size = 3;
	uint64_t bytes = v.id;

	if (narrow) {
		size = (unsigned)(small > UINT8_MAX) + (unsigned)(small > UINT16_MAX);
		bytes = htole64(small);
	}
	memcpy(p + 1, &bytes, sizeof(bytes));
	*p = (char)((tag & DTX_TAPE_TAG) | size << DTX_TAPE_SIZE_SHIFT);
	return p + 1 + ((size_t)1 << size);
}

/* The cell at p, whose column is *col unless it says another; returns its end. */
static inline const char *dtx_sheet_tape_next(const char *p, uint32_t *col, uint8_t *tag,
                                              union dtx_payload *v)
{
	unsigned head = (unsigned char)*p, size;
	uint64_t bytes;
	uint16_t col16;

	if (head == DTX_TAPE_JUMP) {
		memcpy(&col16, p + 1, sizeof(col16));
		*col = col16;
		p += 1 + sizeof(col16);
		head = (unsigned char)*p;
	}
	size = head >> DTX_TAPE_SIZE_SHIFT;
	*tag = (uint8_t)(head & DTX_TAPE_TAG);
	memcpy(&bytes, p + 1, sizeof(bytes));
	if (size < 3) {
		bytes = le64toh(bytes) & (((uint64_t)1 << (8u << size)) - 1);
		if (dtx_sheet_tape_is_number(head))
			*v = (union dtx_payload){ .num = (int32_t)(uint32_t)bytes };
		else
			*v = (union dtx_payload){ .id = bytes >> 1 | bytes << 63 };
	} else {
		*v = (union dtx_payload){ .id = bytes };
	}
	return p + 1 + ((size_t)1 << size);
}

#endif
