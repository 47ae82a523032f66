/* The raw cells of a sheet, stored row by row as they come, so that memory is proportional to
 * the number of cells and not to the extent of the sheet. Merged ranges are stored as
 * rectangles. One thread fills a grid; after dtx_grid_finish any thread may read it. */
#ifndef DTX_IO_SHEET_GRID_H
#define DTX_IO_SHEET_GRID_H

#include "core/base/strmap.h"
#include "core/data/column.h"
#include "core/io/sheet/cellref.h"
#include "core/io/archive/archive_limits.h"

#define DTX_GRID_CHUNK     65536u
#define DTX_GRID_TEXT_MAX  ((uint64_t)2 << 30) /* bytes of all inline texts */
#define DTX_GRID_TEXTS_MAX (64u * 1000 * 1000)
/* The payload of a text cell is the id of a shared string; with this bit, that of an inline
 * text. */
#define DTX_GRID_INLINE ((uint64_t)1 << 63)
/* The kind of a cell with a date format whose number (value.num) is not a date; used only in
 * grids. */
#define DTX_GRID_BAD_DATE 0x0au
/* A cell that is not blank has a bold font (in a blank cell this bit is DTX_CELL_UNCACHED). */
#define DTX_GRID_BOLD 0x20u

struct dtx_grid_chunk {
	uint8_t tag[DTX_GRID_CHUNK];
	uint16_t col[DTX_GRID_CHUNK];
	uint16_t *style; /* NULL: all 0 */
	union dtx_payload value[DTX_GRID_CHUNK];
};
struct dtx_grid_row {
	uint64_t first; /* its first cell */
	uint32_t row;
	bool hidden;
};
struct dtx_grid {
	const char *label;             /* for messages; borrowed */
	struct dtx_grid_chunk **chunk; /* chunks after the last cell are unused */
	size_t nchunks, chunks_cap;
	uint64_t ncells;
	/* rows that have cells; an additional entry marks the end of the last */
	struct dtx_grid_row *row;
	size_t nrows, rows_cap;
	bool unsorted;
	uint64_t twice;              /* cells that came twice; the last one counts */
	struct dtx_cellrange *merge; /* after finish: sorted by first row, disjoint */
	size_t nmerges, merges_cap;
	size_t merges_dropped;     /* those that overlapped an earlier one */
	uint32_t col_min, col_max; /* of all cells; min > max if none */
	struct dtx_strmap texts;   /* inline texts, without duplicates; entry i has id i */
	uint64_t text_bytes;
	/* Another grid that holds the texts of this one; borrowed. After `texts_fixed` is set
	 * there, any number of threads may add texts that it has. */
	struct dtx_grid *home;
	bool texts_fixed;
	struct dtx_archive_limits limits; /* the defaults, unless set */
};

void dtx_grid_init(struct dtx_grid *g, const char *label);
void dtx_grid_clear(struct dtx_grid *g);
/* Removes rows, cells and merged ranges; memory, texts and home stay. */
void dtx_grid_reset(struct dtx_grid *g);
/* Adds a chunk for cell number ncells. */
DTX_MUSTUSE enum dtx_code dtx_grid_chunk_add(struct dtx_grid *g, struct dtx_err *err);
/* Starts a row for the next cells. */
DTX_MUSTUSE enum dtx_code dtx_grid_row_add(struct dtx_grid *g, uint32_t row, bool hidden,
                                           struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_grid_style_set(struct dtx_grid *g, uint64_t cell, uint16_t style,
                                             struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_grid_text_add(struct dtx_grid *g, struct dtx_str text, uint64_t *id,
                                            struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_grid_merge_add(struct dtx_grid *g, const struct dtx_cellrange *range,
                                             struct dtx_err *err);
/* Inline text number `id` (without DTX_GRID_INLINE). */
static inline struct dtx_str dtx_grid_text(const struct dtx_grid *g, uint64_t id)
{
	return (g->home ? g->home : g)->texts.entry[id].key;
}
/* Sorts what came out of order, and clips and separates the merged ranges. */
DTX_MUSTUSE enum dtx_code dtx_grid_finish(struct dtx_grid *g, struct dtx_err *err);

static inline enum dtx_code dtx_grid_add(struct dtx_grid *g, uint32_t row, uint32_t col,
                                         uint8_t tag, union dtx_payload value, uint16_t style,
                                         bool hidden, struct dtx_err *err)
{
	uint64_t at = g->ncells % DTX_GRID_CHUNK;
	enum dtx_code rc = DTX_OK;
	struct dtx_grid_chunk *c;

	if (DTX_UNLIKELY(at == 0))
		rc = dtx_grid_chunk_add(g, err);
	if (rc == DTX_OK && DTX_UNLIKELY(!g->nrows || g->row[g->nrows - 1].row != row))
		rc = dtx_grid_row_add(g, row, hidden, err);
	else if (rc == DTX_OK && g->chunk[(g->ncells - 1) / DTX_GRID_CHUNK]
	                                         ->col[(g->ncells - 1) % DTX_GRID_CHUNK] >= col)
		g->unsorted = true;
	if (rc != DTX_OK)
		return rc;
	c = g->chunk[g->ncells / DTX_GRID_CHUNK];
	c->tag[at] = tag;
	c->col[at] = (uint16_t)col;
	c->value[at] = value;
	if (style)
		rc = dtx_grid_style_set(g, g->ncells, style, err);
	g->ncells++;
	g->col_min = DTX_MIN(g->col_min, col);
	g->col_max = DTX_MAX(g->col_max, col);
	return rc;
}

static inline uint8_t dtx_grid_tag(const struct dtx_grid *g, uint64_t cell)
{
	return g->chunk[cell / DTX_GRID_CHUNK]->tag[cell % DTX_GRID_CHUNK];
}
static inline uint32_t dtx_grid_col(const struct dtx_grid *g, uint64_t cell)
{
	return g->chunk[cell / DTX_GRID_CHUNK]->col[cell % DTX_GRID_CHUNK];
}
static inline bool dtx_grid_blank(const struct dtx_grid *g, uint64_t cell)
{
	uint8_t tag = dtx_grid_tag(g, cell);

	return (tag & DTX_CELL_KIND) == DTX_CELL_BLANK && !(tag & DTX_CELL_UNCACHED);
}
static inline union dtx_payload dtx_grid_value(const struct dtx_grid *g, uint64_t cell)
{
	return g->chunk[cell / DTX_GRID_CHUNK]->value[cell % DTX_GRID_CHUNK];
}
static inline uint16_t dtx_grid_style(const struct dtx_grid *g, uint64_t cell)
{
	const struct dtx_grid_chunk *c = g->chunk[cell / DTX_GRID_CHUNK];

	return c->style ? c->style[cell % DTX_GRID_CHUNK] : 0;
}
/* Copies the first cell of each merged range to the places in the range without a cell, within
 * the rows and columns in use. Called after finish; the ranges stay. */
DTX_MUSTUSE enum dtx_code dtx_grid_fill_merges(struct dtx_grid *g, struct dtx_err *err);
/* The index of the first row with cells at or below `row`, or nrows. */
size_t dtx_grid_row_find(const struct dtx_grid *g, uint32_t row);
/* The cell at that place, or UINT64_MAX. */
uint64_t dtx_grid_cell_find(const struct dtx_grid *g, uint32_t row, uint32_t col);

#endif
