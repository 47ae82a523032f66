/* .xls with a second reader: a cell that libfreexl reads differently becomes a bad cell. Its
 * values are never used: if two readers disagree, neither can be trusted. */
#include <math.h>
#include <stdio.h>

#include "core/base/memory/mem.h"
#include "core/data/time/time.h"
#include "core/io/sheet/xls/biff.h"
#include "core/io/sheet/xls/read_freexl.h"

struct opinion {
	struct dtx_book *book;
	const struct dtx_sheet *sheet;
	struct dtx_grid *grid;
	struct dtx_sheet_facts *facts;
	uint64_t *seen; /* a bit per cell of the grid */
	bool found;     /* it has cells of this sheet; in some files it finds no sheets at all */
};

/* Compares the date and time that FreeXL prints, to the second, with the serial. */
static bool same_date(unsigned kind, double serial, bool epoch1904, const char *text)
{
	char want[40];
	int64_t us;

	if (kind == DTX_CELL_TIME || kind == DTX_CELL_DURATION || serial < 1) {
		us = (int64_t)llround((serial - floor(serial)) * 86400) * 1000000;
		dtx_datetime_print(want, us);
		/* for more than a day, FreeXL prints the remainder */
		return strstr(text, want + 11) || kind == DTX_GRID_BAD_DATE;
	}
	if (!dtx_serial_to_us(serial, epoch1904, &us))
		return false;
	us = (int64_t)floor((double)us / 1e6 + 0.5) * 1000000;
	dtx_datetime_print(want, us);
	if (strlen(text) > 10)
		want[10] = ' ';
	return strncmp(want, text, strlen(text)) == 0 || strncmp(want + 11, text, 8) == 0;
}

bool dtx_freexl_agrees(struct dtx_book *book, const struct dtx_grid *g, uint64_t at,
                       const struct dtx_freexl_cell *c)
{
	unsigned kind = dtx_grid_tag(g, at) & DTX_CELL_KIND;
	union dtx_payload v = dtx_grid_value(g, at);
	struct dtx_str text;

	if (kind == DTX_CELL_TEXT)
		return c->text && !c->is_date &&
		       dtx_book_cell_text(book, g, v.id, &text, NULL) == DTX_OK &&
		       dtx_str_is(text, c->text);
	if (c->is_number)
		return c->number == v.num;
	return c->is_date && same_date(kind, v.num, book->epoch1904, c->text);
}

bool dtx_freexl_knows(uint8_t tag)
{
	unsigned kind = tag & DTX_CELL_KIND;

	return !(tag & DTX_CELL_FORMULA) && kind != DTX_CELL_BOOL && kind != DTX_CELL_ERROR &&
	       kind != DTX_CELL_BLANK;
}

static enum dtx_code on_cell(void *arg, const struct dtx_freexl_cell *c, struct dtx_err *err)
{
	struct opinion *o = arg;
	uint64_t at;

	(void)err;
	if (strcmp(c->name, o->sheet->name) != 0)
		return DTX_OK;
	o->found = true;
	at = dtx_grid_cell_find(o->grid, c->row, c->col);
	if (at == UINT64_MAX || !dtx_freexl_knows(dtx_grid_tag(o->grid, at)))
		return DTX_OK;
	if (dtx_freexl_agrees(o->book, o->grid, at, c))
		dtx_bit_set(o->seen, at);
	return DTX_OK;
}

static bool is_empty_text(const struct opinion *o, uint64_t at)
{
	struct dtx_str text;

	return (dtx_grid_tag(o->grid, at) & DTX_CELL_KIND) == DTX_CELL_TEXT &&
	       dtx_book_cell_text(o->book, o->grid, dtx_grid_value(o->grid, at).id, &text, NULL) ==
	               DTX_OK &&
	       !text.len;
}

/* Handles all cells that were not confirmed. */
static void judge(struct opinion *o)
{
	struct dtx_grid *g = o->grid;

	for (size_t r = 0; r < g->nrows; r++) {
		for (uint64_t at = g->row[r].first; at < g->row[r + 1].first; at++) {
			struct dtx_grid_chunk *c = g->chunk[at / DTX_GRID_CHUNK];
			uint8_t *tag = &c->tag[at % DTX_GRID_CHUNK];

			if ((*tag & DTX_CELL_KIND) == DTX_CELL_BLANK)
				continue;
			if (dtx_bit(o->seen, at) || is_empty_text(o, at)) {
				o->facts->nconfirmed++;
				continue;
			}
			if (!dtx_freexl_knows(*tag))
				o->facts->nunknown++;
			else
				o->facts->ndisputed++;
			if (!o->facts->nunconfirmed++) {
				o->facts->first_bad_row = g->row[r].row;
				o->facts->first_bad_col = dtx_grid_col(g, at);
			}
			*tag = DTX_CELL_BLANK | DTX_CELL_UNCACHED;
		}
	}
}

static enum dtx_code sheet_read(struct dtx_book *book, const struct dtx_sheet *sheet,
                                const struct dtx_sheet_read *how, struct dtx_grid *grid,
                                struct dtx_sheet_facts *facts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct opinion o = { book, sheet, grid, facts, NULL, false };

	DTX_TRY(dtx_xls_sheet_read(book, sheet, how, grid, facts, err));
	if (how->max_cells) /* only asks whether there are cells */
		goto out;
	o.seen = dtx_mem_zalloc(dtx_bit_words(grid->ncells) + 1, sizeof(*o.seen));
	if (!o.seen)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_freexl_file(book->label, book->limits.again, on_cell, &o, err));
	if (!o.found && grid->ncells) {
		rc = dtx_err_set(err, DTX_E_UNSUPPORTED_FORMAT, __FILE__, __LINE__,
		                 "'%s': FreeXL reads no cell of sheet '%s'", book->label,
		                 sheet->name);
		dtx_err_hint(err, "leave \"reader\" out");
		goto out;
	}
	judge(&o);
out:
	dtx_mem_free(o.seen);
	return rc;
}

static enum dtx_code book_open(const char *label, const void *bytes, size_t len,
                               const struct dtx_archive_limits *limits, struct dtx_book **out,
                               struct dtx_err *err)
{
	enum dtx_code rc = dtx_book_xls.open(label, bytes, len, limits, out, err);

	if (rc == DTX_OK)
		(*out)->cls = &dtx_book_freexl;
	return rc;
}

static void book_close(struct dtx_book *book)
{
	dtx_book_xls.close(book);
}

const struct dtx_book_class dtx_book_freexl = {
	.name = "xls",
	.open = book_open,
	.sheet = sheet_read,
	.close = book_close,
};
