/* Raw cells: appending in order, within the limits of what a snippet can be given. */
#include "core/data/frame/rawgrid.h"

#include <math.h>

#include "core/base/memory/mem.h"

void dtx_rawgrid_init(struct dtx_rawgrid *g)
{
	*g = (struct dtx_rawgrid){ .text = DTX_STRMAP_INIT, .format = DTX_STRMAP_INIT };
}

void dtx_rawgrid_clear(struct dtx_rawgrid *g)
{
	dtx_mem_free(g->cell);
	dtx_mem_free(g->merge);
	dtx_mem_free(g->sheet);
	dtx_strmap_clear(&g->text);
	dtx_strmap_clear(&g->format);
	dtx_rawgrid_init(g);
}

enum dtx_code dtx_rawgrid_reach(struct dtx_rawgrid *g, uint64_t nrows, uint64_t ncols,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	nrows = DTX_MAX(nrows, (uint64_t)g->nrows);
	ncols = DTX_MAX(ncols, (uint64_t)g->ncols);
	if (nrows > DTX_RAWGRID_AREA_MAX || ncols > DTX_RAWGRID_AREA_MAX ||
	    nrows * ncols > DTX_RAWGRID_AREA_MAX)
		DTX_FAIL(err, DTX_E_CELL_LIMIT,
		         "raw cells: %llu rows of %llu columns, a snippet is given at most %u "
		         "cells",
		         (unsigned long long)nrows, (unsigned long long)ncols,
		         DTX_RAWGRID_AREA_MAX);
	g->nrows = (uint32_t)nrows;
	g->ncols = (uint32_t)ncols;
out:
	return rc;
}

enum dtx_code dtx_rawgrid_add(struct dtx_rawgrid *g, const struct dtx_raw_cell *cell,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (g->ncells == DTX_RAWGRID_CELLS_MAX)
		DTX_FAIL(err, DTX_E_CELL_LIMIT, "raw cells: a snippet is given at most %u of them",
		         DTX_RAWGRID_CELLS_MAX);
	DTX_TRY(dtx_rawgrid_reach(g, (uint64_t)cell->row + 1, (uint64_t)cell->col + 1, err));
	if (!dtx_mem_reserve(&g->cell, &g->cells_cap, g->ncells + 1, sizeof(*g->cell)))
		DTX_FAIL_MEM(err);
	g->cell[g->ncells++] = *cell;
out:
	return rc;
}

enum dtx_code dtx_rawgrid_text(struct dtx_rawgrid *g, struct dtx_str text, uint64_t *id,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t found = 0;

	*id = dtx_strmap_get(&g->text, text);
	if (*id != DTX_STRMAP_NONE)
		goto out;
	if (text.len > DTX_RAWGRID_TEXT_MAX - g->text_bytes)
		DTX_FAIL(err, DTX_E_CELL_LIMIT,
		         "raw cells: a snippet is given at most %zu MiB of "
		         "text",
		         DTX_RAWGRID_TEXT_MAX >> 20);
	if (!dtx_strmap_put(&g->text, text, (uint32_t)g->text.n, &found))
		DTX_FAIL_MEM(err);
	g->text_bytes += text.len;
	*id = found;
out:
	return rc;
}

enum dtx_code dtx_rawgrid_format(struct dtx_rawgrid *g, struct dtx_str format, uint16_t *number,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t found = dtx_strmap_get(&g->format, format);

	if (found == DTX_STRMAP_NONE && g->format.n >= DTX_RAWGRID_FORMAT_MAX)
		DTX_FAIL(err, DTX_E_CELL_LIMIT, "raw cells: more than %u number formats",
		         DTX_RAWGRID_FORMAT_MAX);
	if (found == DTX_STRMAP_NONE &&
	    !dtx_strmap_put(&g->format, format, (uint32_t)g->format.n, &found))
		DTX_FAIL_MEM(err);
	*number = (uint16_t)(found + 1);
out:
	return rc;
}

enum dtx_code dtx_rawgrid_merge(struct dtx_rawgrid *g, struct dtx_raw_range range,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (g->nmerges == DTX_RAWGRID_MERGES_MAX)
		DTX_FAIL(err, DTX_E_CELL_LIMIT, "raw cells: more than %u merged ranges",
		         DTX_RAWGRID_MERGES_MAX);
	DTX_TRY(dtx_rawgrid_reach(g, (uint64_t)range.bottom + 1, (uint64_t)range.right + 1, err));
	if (!dtx_mem_reserve(&g->merge, &g->merges_cap, g->nmerges + 1, sizeof(*g->merge)))
		DTX_FAIL_MEM(err);
	g->merge[g->nmerges++] = range;
out:
	return rc;
}

enum dtx_code dtx_rawgrid_sheet(struct dtx_rawgrid *g, const char *name, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	dtx_mem_free(g->sheet);
	g->sheet = dtx_mem_strdup(name);
	if (!g->sheet)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_rawgrid_put(struct dtx_rawgrid *g, uint32_t row, uint32_t col,
                              struct dtx_str text, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_raw_cell cell = { .row = row, .col = col, .kind = DTX_RAW_TEXT };

	if (!text.len)
		goto out;
	DTX_TRY(dtx_rawgrid_text(g, text, &cell.value.id, err));
	DTX_TRY(dtx_rawgrid_add(g, &cell, err));
out:
	return rc;
}

/* --- the check --- */

static bool value_ok(const struct dtx_rawgrid *g, const struct dtx_raw_cell *c)
{
	switch (c->kind) {
	case DTX_RAW_NUMBER: return isfinite(c->value.num);
	case DTX_RAW_BOOL: return c->value.id <= 1;
	case DTX_RAW_TEXT:
	case DTX_RAW_ERROR: return c->value.id < g->text.n;
	case DTX_RAW_TIME: return true;
	default: return false;
	}
}

enum dtx_code dtx_rawgrid_check(const struct dtx_rawgrid *g, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i;

	for (i = 0; i < g->ncells; i++) {
		const struct dtx_raw_cell *c = &g->cell[i];
		bool after =
			!i || c[-1].row < c->row || (c[-1].row == c->row && c[-1].col < c->col);

		DTX_ASSERT(after && c->row < g->nrows && c->col < g->ncols &&
		                   c->format <= g->format.n && !c->zero && value_ok(g, c),
		           err);
	}
	for (i = 0; i < g->nmerges; i++) {
		const struct dtx_raw_range *m = &g->merge[i];

		DTX_ASSERT(m->top <= m->bottom && m->left <= m->right && m->bottom < g->nrows &&
		                   m->right < g->ncols,
		           err);
	}
out:
	return rc;
}
