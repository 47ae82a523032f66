/* Stores cells in the order of arrival, see grid.h. A sheet that was written out of order is
 * sorted once, at the end. */
#include "core/io/sheet/grid.h"

#include <stdlib.h>

#include "core/base/memory/mem.h"

void dtx_grid_init(struct dtx_grid *g, const char *label)
{
	*g = (struct dtx_grid){ .label = label,
		                .col_min = UINT32_MAX,
		                .limits = DTX_ARCHIVE_LIMITS_INIT };
}

static void chunk_free(struct dtx_grid_chunk *c)
{
	if (c)
		dtx_mem_free(c->style);
	dtx_mem_free(c);
}

void dtx_grid_clear(struct dtx_grid *g)
{
	size_t i;

	for (i = 0; i < g->nchunks; i++)
		chunk_free(g->chunk[i]);
	dtx_mem_free(g->chunk);
	dtx_mem_free(g->row);
	dtx_mem_free(g->merge);
	dtx_strmap_clear(&g->texts);
	*g = (struct dtx_grid){ .label = g->label, .col_min = UINT32_MAX, .limits = g->limits };
}

void dtx_grid_reset(struct dtx_grid *g)
{
	g->ncells = 0;
	g->nrows = 0;
	g->nmerges = 0;
	g->merges_dropped = 0;
	g->unsorted = false;
	g->twice = 0;
	g->col_min = UINT32_MAX;
	g->col_max = 0;
}

enum dtx_code dtx_grid_chunk_add(struct dtx_grid *g, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_grid_chunk *c;

	if (g->ncells >= g->limits.cells)
		return dtx_archive_limits_fail(err, &g->limits, "cells",
		                               "'%s': a sheet with over %llu cells", g->label,
		                               (unsigned long long)g->limits.cells);
	if (g->ncells / DTX_GRID_CHUNK < g->nchunks) {
		c = g->chunk[g->ncells / DTX_GRID_CHUNK];
		if (c->style)
			memset(c->style, 0, DTX_GRID_CHUNK * sizeof(*c->style));
		goto out;
	}
	if (!dtx_mem_reserve(&g->chunk, &g->chunks_cap, g->nchunks + 1, sizeof(*g->chunk)))
		DTX_FAIL_MEM(err);
	c = dtx_mem_alloc(1, sizeof(*c));
	if (!c)
		DTX_FAIL_MEM(err);
	c->style = NULL;
	g->chunk[g->nchunks++] = c;
out:
	return rc;
}

enum dtx_code dtx_grid_row_add(struct dtx_grid *g, uint32_t row, bool hidden, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_mem_reserve(&g->row, &g->rows_cap, g->nrows + 2, sizeof(*g->row)))
		DTX_FAIL_MEM(err);
	if (g->nrows && g->row[g->nrows - 1].row > row)
		g->unsorted = true;
	g->row[g->nrows++] = (struct dtx_grid_row){ g->ncells, row, hidden };
out:
	return rc;
}

enum dtx_code dtx_grid_style_set(struct dtx_grid *g, uint64_t cell, uint16_t style,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_grid_chunk *c = g->chunk[cell / DTX_GRID_CHUNK];

	if (!c->style)
		c->style = dtx_mem_zalloc(DTX_GRID_CHUNK, sizeof(*c->style));
	if (!c->style)
		DTX_FAIL_MEM(err);
	c->style[cell % DTX_GRID_CHUNK] = style;
out:
	return rc;
}

enum dtx_code dtx_grid_text_add(struct dtx_grid *g, struct dtx_str text, uint64_t *id,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_grid *home = g->home ? g->home : g;
	uint32_t found, n = (uint32_t)home->texts.n;

	if (text.len > home->limits.text)
		return dtx_archive_limits_fail(err, &home->limits, "text",
		                               "'%s': a text of over %llu bytes in a cell",
		                               g->label, (unsigned long long)home->limits.text);

	if (home->texts_fixed) {
		found = dtx_strmap_get(&home->texts, text);
		if (found == DTX_STRMAP_NONE)
			DTX_FAIL(err, DTX_E_INPUT_CHANGED, "'%s' changed while it was read",
			         g->label);
		*id = found | DTX_GRID_INLINE;
		goto out;
	}
	if (!dtx_strmap_put(&home->texts, text, n, &found))
		DTX_FAIL_MEM(err);
	*id = found | DTX_GRID_INLINE;
	if (found != n)
		goto out;
	home->text_bytes += text.len;
	if (n >= home->limits.strings)
		return dtx_archive_limits_fail(err, &home->limits, "strings",
		                               "'%s': over %llu texts", g->label,
		                               (unsigned long long)home->limits.strings);
	if (home->text_bytes > home->limits.string_bytes)
		return dtx_archive_limits_fail(err, &home->limits, "string_bytes",
		                               "'%s': over %llu bytes of texts", g->label,
		                               (unsigned long long)home->limits.string_bytes);
out:
	return rc;
}

enum dtx_code dtx_grid_merge_add(struct dtx_grid *g, const struct dtx_cellrange *range,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (g->nmerges >= g->limits.merges)
		return dtx_archive_limits_fail(err, &g->limits, "merges",
		                               "'%s': a sheet with over %llu merged ranges",
		                               g->label, (unsigned long long)g->limits.merges);
	if (!dtx_mem_reserve(&g->merge, &g->merges_cap, g->nmerges + 1, sizeof(*g->merge)))
		DTX_FAIL_MEM(err);
	g->merge[g->nmerges++] = *range;
out:
	return rc;
}

/* --- order --- */

struct place {
	uint64_t key; /* row and column */
	uint64_t cell;
	bool hidden;
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->cell > y->cell) - (x->cell < y->cell);
}

static enum dtx_code sort_cells(struct dtx_grid *g, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_grid sorted;
	struct place *p = dtx_mem_alloc(g->ncells, sizeof(*p));
	size_t r;
	uint64_t i;

	dtx_grid_init(&sorted, g->label);
	sorted.limits = g->limits;
	if (!p)
		DTX_FAIL_MEM(err);
	for (r = 0; r < g->nrows; r++) {
		uint64_t end = r + 1 < g->nrows ? g->row[r + 1].first : g->ncells;

		for (i = g->row[r].first; i < end; i++)
			p[i] = (struct place){ (uint64_t)g->row[r].row << 16 | dtx_grid_col(g, i),
				               i, g->row[r].hidden };
	}
	qsort(p, g->ncells, sizeof(*p), by_place);
	for (i = 0; i < g->ncells; i++) {
		uint64_t cell = p[i].cell;

		if (i + 1 < g->ncells && p[i + 1].key == p[i].key) {
			sorted.twice++;
			continue;
		}
		DTX_TRY(dtx_grid_add(&sorted, (uint32_t)(p[i].key >> 16),
		                     (uint32_t)(p[i].key & 0xffff), dtx_grid_tag(g, cell),
		                     dtx_grid_value(g, cell), dtx_grid_style(g, cell), p[i].hidden,
		                     err));
	}
	for (i = 0; i < g->nchunks; i++)
		chunk_free(g->chunk[i]);
	dtx_mem_free(g->chunk);
	dtx_mem_free(g->row);
	g->chunk = sorted.chunk;
	g->nchunks = sorted.nchunks;
	g->chunks_cap = sorted.chunks_cap;
	g->row = sorted.row;
	g->nrows = sorted.nrows;
	g->rows_cap = sorted.rows_cap;
	g->ncells = sorted.ncells;
	g->twice = sorted.twice;
	g->unsorted = false;
	dtx_grid_init(&sorted, g->label);
out:
	dtx_grid_clear(&sorted);
	dtx_mem_free(p);
	return rc;
}

static int by_first_row(const void *a, const void *b)
{
	const struct dtx_cellrange *x = a, *y = b;

	if (x->row0 != y->row0)
		return x->row0 < y->row0 ? -1 : 1;
	return (x->col0 > y->col0) - (x->col0 < y->col0);
}

/* Clips merged ranges to the columns that have cells, and drops those that overlap an earlier
 * one: no spreadsheet makes them, and without this the work per cell would be unbounded. busy[c]
 * is the first free row of column c. */
static enum dtx_code part_merges(struct dtx_grid *g, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t *busy = dtx_mem_zalloc(DTX_SHEET_COLS, sizeof(*busy));
	uint64_t work = 0;
	size_t i, n = 0;
	uint32_t c;

	if (!busy)
		DTX_FAIL_MEM(err);
	qsort(g->merge, g->nmerges, sizeof(*g->merge), by_first_row);
	for (i = 0; i < g->nmerges; i++) {
		struct dtx_cellrange m = g->merge[i];
		bool taken = false;

		if (m.col0 > g->col_max || (m.row0 == m.row1 && m.col0 == m.col1))
			continue;
		m.col1 = DTX_MIN(m.col1, g->col_max);
		work += m.col1 - m.col0 + 1;
		if (work > g->limits.cells) {
			rc = dtx_archive_limits_fail(
				err, &g->limits, "cells",
				"'%s': merged ranges cover over %llu cells of one row each",
				g->label, (unsigned long long)g->limits.cells);
			goto out;
		}
		for (c = m.col0; c <= m.col1; c++)
			taken |= busy[c] > m.row0;
		g->merges_dropped += taken;
		for (c = m.col0; c <= m.col1 && !taken; c++)
			busy[c] = m.row1 + 1;
		if (!taken)
			g->merge[n++] = m;
	}
	g->nmerges = n;
out:
	dtx_mem_free(busy);
	return rc;
}

enum dtx_code dtx_grid_finish(struct dtx_grid *g, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (g->ncells > g->limits.cells)
		return dtx_archive_limits_fail(err, &g->limits, "cells",
		                               "'%s': a sheet with over %llu cells", g->label,
		                               (unsigned long long)g->limits.cells);
	if (g->unsorted)
		DTX_TRY(sort_cells(g, err));
	if (g->nrows)
		g->row[g->nrows] = (struct dtx_grid_row){ g->ncells, UINT32_MAX, false };
	if (!g->ncells)
		g->nmerges = 0;
	else if (g->nmerges)
		DTX_TRY(part_merges(g, err));
out:
	return rc;
}

/* --- merged ranges as values --- */

/* Copies the first cell of a range to its other places, in `extra`. */
static enum dtx_code copy_anchor(const struct dtx_grid *g, const struct dtx_cellrange *m,
                                 struct dtx_grid *extra, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t at = dtx_grid_cell_find(g, m->row0, m->col0);
	uint32_t r, c, last = DTX_MIN(m->row1, g->row[g->nrows - 1].row);

	if (at == UINT64_MAX)
		goto out;
	if (extra->ncells + (uint64_t)(last - m->row0 + 1) * (m->col1 - m->col0 + 1) >
	    g->limits.fill) {
		rc = dtx_archive_limits_fail(err, &g->limits, "fill",
		                             "'%s': merged ranges fill over %llu cells", g->label,
		                             (unsigned long long)g->limits.fill);
		goto out;
	}
	for (r = m->row0; r <= last; r++) {
		size_t row = dtx_grid_row_find(g, r);
		bool hidden = g->row[row].row == r && g->row[row].hidden;

		for (c = m->col0; c <= m->col1; c++) {
			if (dtx_grid_cell_find(g, r, c) == UINT64_MAX)
				DTX_TRY(dtx_grid_add(extra, r, c, dtx_grid_tag(g, at),
				                     dtx_grid_value(g, at), dtx_grid_style(g, at),
				                     hidden, err));
		}
	}
out:
	return rc;
}

static enum dtx_code append_cells(struct dtx_grid *g, const struct dtx_grid *from,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t i, end;
	size_t r;

	for (r = 0; r < from->nrows; r++) {
		end = r + 1 < from->nrows ? from->row[r + 1].first : from->ncells;
		for (i = from->row[r].first; i < end; i++)
			DTX_TRY(dtx_grid_add(g, from->row[r].row, dtx_grid_col(from, i),
			                     dtx_grid_tag(from, i), dtx_grid_value(from, i),
			                     dtx_grid_style(from, i), from->row[r].hidden, err));
	}
out:
	return rc;
}

enum dtx_code dtx_grid_fill_merges(struct dtx_grid *g, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_grid extra;
	uint64_t twice = g->twice;
	size_t i;

	dtx_grid_init(&extra, g->label);
	for (i = 0; i < g->nmerges && g->nrows; i++)
		DTX_TRY(copy_anchor(g, &g->merge[i], &extra, err));
	if (!extra.ncells)
		goto out;
	DTX_TRY(append_cells(g, &extra, err));
	DTX_TRY(sort_cells(g, err));
	g->twice = twice;
	g->row[g->nrows] = (struct dtx_grid_row){ g->ncells, UINT32_MAX, false };
out:
	dtx_grid_clear(&extra);
	return rc;
}

size_t dtx_grid_row_find(const struct dtx_grid *g, uint32_t row)
{
	size_t lo = 0, hi = g->nrows;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (g->row[mid].row < row)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint64_t dtx_grid_cell_find(const struct dtx_grid *g, uint32_t row, uint32_t col)
{
	size_t r = dtx_grid_row_find(g, row);
	uint64_t lo, hi;

	if (r == g->nrows || g->row[r].row != row)
		return UINT64_MAX;
	lo = g->row[r].first;
	hi = g->row[r + 1].first;
	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (dtx_grid_col(g, mid) < col)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < g->row[r + 1].first && dtx_grid_col(g, lo) == col ? lo : UINT64_MAX;
}
