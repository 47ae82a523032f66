/* The raw cells of one input: every cell of the sheet or file at its physical place, before header,
 * types and repairs.  A snippet gets them if it has to find the table itself.
 *
 * One thread fills the grid row by row; afterwards it is only read. */
#ifndef DTX_DATA_FRAME_RAWGRID_H
#define DTX_DATA_FRAME_RAWGRID_H

#include "core/base/memory/arena.h"
#include "core/base/err.h"
#include "core/base/strmap.h"

#define DTX_RAWGRID_CELLS_MAX 5000000u /* cells that are not empty */
/* Rows x columns, because the snippet sees a dense frame. */
#define DTX_RAWGRID_AREA_MAX   20000000u
#define DTX_RAWGRID_TEXT_MAX   ((size_t)256 << 20)
#define DTX_RAWGRID_FORMAT_MAX 65535u
#define DTX_RAWGRID_MERGES_MAX 100000u

enum dtx_raw_kind {
	DTX_RAW_NUMBER = 1,
	DTX_RAW_BOOL,
	DTX_RAW_TEXT,
	DTX_RAW_TIME, /* dates are midnights */
	DTX_RAW_ERROR,
	DTX_RAW_KINDS
};
/* Stored in frames as it is here. */
struct dtx_raw_cell {
	uint32_t row, col;
	uint16_t kind;
	uint16_t format; /* 0: none; else entry `format` - 1 of the grid's formats */
	uint32_t zero;
	union {
		double num;
		uint64_t id; /* BOOL: 0 or 1; TEXT: the text; ERROR: the text of its name */
		int64_t us;  /* TIME: since 1970 */
	} value;
};
struct dtx_raw_range {
	uint32_t top, left, bottom, right; /* inclusive */
};
struct dtx_rawgrid {
	uint32_t nrows, ncols;
	struct dtx_raw_cell *cell; /* row by row; without empty cells */
	size_t ncells, cells_cap;
	struct dtx_strmap text, format; /* entry i is text i; each text is there once */
	size_t text_bytes;
	struct dtx_raw_range *merge;
	size_t nmerges, merges_cap;
	char *sheet;    /* dtx_mem; NULL: the input has no sheets */
	bool text_file; /* all cells are texts, whatever they look like */
};

void dtx_rawgrid_init(struct dtx_rawgrid *g);
void dtx_rawgrid_clear(struct dtx_rawgrid *g);

/* Announces rows before `nrows` with at most `ncols` cells and grows the grid to that size.  This
 * function and those below fail with cell_limit if the grid becomes too large for a snippet. */
DTX_MUSTUSE enum dtx_code dtx_rawgrid_reach(struct dtx_rawgrid *g, uint64_t nrows, uint64_t ncols,
                                            struct dtx_err *err);
/* Appends a cell, which must come after the last one in row-major order.  Ids of texts and formats
 * come from the two functions below. */
DTX_MUSTUSE enum dtx_code dtx_rawgrid_add(struct dtx_rawgrid *g, const struct dtx_raw_cell *cell,
                                          struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_rawgrid_text(struct dtx_rawgrid *g, struct dtx_str text, uint64_t *id,
                                           struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_rawgrid_format(struct dtx_rawgrid *g, struct dtx_str format,
                                             uint16_t *number, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_rawgrid_merge(struct dtx_rawgrid *g, struct dtx_raw_range range,
                                            struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_rawgrid_sheet(struct dtx_rawgrid *g, const char *name,
                                            struct dtx_err *err);
/* Appends a text cell.  Does nothing if the text is empty. */
DTX_MUSTUSE enum dtx_code dtx_rawgrid_put(struct dtx_rawgrid *g, uint32_t row, uint32_t col,
                                          struct dtx_str text, struct dtx_err *err);

/* The text of a TEXT or ERROR cell. */
static inline struct dtx_str dtx_rawgrid_str(const struct dtx_rawgrid *g,
                                             const struct dtx_raw_cell *cell)
{
	return g->text.entry[cell->value.id].key;
}
/* Checks places, kinds and numbers of all cells.  Fails with bug. */
DTX_MUSTUSE enum dtx_code dtx_rawgrid_check(const struct dtx_rawgrid *g, struct dtx_err *err);

#endif
