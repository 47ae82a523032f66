/* Handles tables with only texts: names do not come again below, values do. */
#include "core/base/mem.h"
#include "core/io/header/header_find.h"

enum { ECHO_ROWS = 3 }; /* fewer rows do not show anything */

/* How often cells of a row come again below it, without rows that repeat all of it. */
struct echoes {
	struct dtx_head_cell *cell; /* of the row */
	uint32_t *again;            /* number of rows that have the same text in the column */
	uint32_t filled, rows;
};

static bool is_echo(const struct dtx_head_cell *said, const struct dtx_head_cell *here)
{
	return dtx_head_filled(said) && dtx_head_filled(here) && dtx_str_eq(said->text, here->text);
}

static void count_row(const struct dtx_head_finder *f, struct echoes *e)
{
	uint32_t c, same = 0;

	e->filled = 0;
	for (c = 0; c < f->g->ncols; c++) {
		e->filled += dtx_head_filled(&e->cell[c]);
		same += is_echo(&e->cell[c], &f->cell[c]);
	}
	if (same == e->filled)
		return;
	e->rows++;
	for (c = 0; c < f->g->ncols; c++)
		e->again[c] += is_echo(&e->cell[c], &f->cell[c]);
}

static enum dtx_code count_echoes(struct dtx_head_finder *f, uint32_t r, struct echoes *e,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	for (i = r + 1; i < f->nshapes; i++) {
		if (!f->shape[i].filled)
			continue;
		/* the texts are valid only until the row after the next */
		DTX_TRY(dtx_head_look(f, f->g->first + r, err));
		memcpy(e->cell, f->cell, f->g->ncols * sizeof(*e->cell));
		DTX_TRY(dtx_head_look(f, f->g->first + i, err));
		count_row(f, e);
	}
out:
	return rc;
}

/* The column in which the text comes again: if all columns do, or half of all rows have it in one
 * column; -1: there is none. */
static int64_t telling_column(const struct dtx_head_finder *f, const struct echoes *e)
{
	uint32_t c, columns = 0;

	for (c = 0; c < f->g->ncols; c++) {
		columns += e->again[c] > 0;
		if (e->again[c] > 1 && e->again[c] * 2 >= e->rows)
			return c;
	}
	return columns > 1 && columns == e->filled ? (int64_t)f->used_first : -1;
}

enum dtx_code dtx_head_comes_again(struct dtx_head_finder *f, uint32_t r, int64_t *col,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct echoes e = { 0 };

	*col = -1;
	e.cell = dtx_mem_zalloc(f->g->ncols, sizeof(*e.cell));
	e.again = dtx_mem_zalloc(f->g->ncols, sizeof(*e.again));
	if (!e.cell || !e.again)
		DTX_FAIL_MEM(err);
	DTX_TRY(count_echoes(f, r, &e, err));
	if (e.rows >= ECHO_ROWS)
		*col = telling_column(f, &e);
out:
	dtx_mem_free(e.cell);
	dtx_mem_free(e.again);
	return rc;
}
