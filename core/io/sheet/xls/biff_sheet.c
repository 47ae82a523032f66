/* Reads the records of a worksheet: cells, merged ranges, hidden rows and columns. */
#include <math.h>
#include <stdio.h>

#include "core/base/memory/mem.h"
#include "core/io/sheet/xls/biff.h"

enum {
	ROWS = 65536,
	UNKNOWN_ERROR = 255,
	NUM_ERROR = 0x24,
	ROW_HIDDEN = 0x20,
	ATTR_TOKEN = 0x19,
	ATTR_VOLATILE = 1,
	COL_HIDDEN = 1,
	TICK_RECORDS = 8192, /* records between two updates of the progress */
	RESULT_TEXT = 0,
	RESULT_BOOL,
	RESULT_ERROR
};

struct cell {
	uint32_t row, col;
	uint16_t xf;
	unsigned flags; /* DTX_CELL_FORMULA */
};
struct walk {
	struct dtx_xls *x;
	struct dtx_grid *grid;
	struct dtx_sheet_facts *facts;
	struct dtx_biff_rec rec;
	size_t end;
	struct cell waiting; /* a formula whose text is in a following record */
	bool waits;
	uint8_t *hidden; /* a bit per row */
};

uint64_t dtx_biff_error(unsigned code)
{
	static const uint8_t codes[] = { 0x00, 0x07, 0x0f, 0x17, 0x1d, 0x24, 0x2a, 0x2b };
	size_t i;

	for (i = 0; i < DTX_COUNT(codes); i++) {
		if (codes[i] == code)
			return i;
	}
	return UNKNOWN_ERROR;
}

/* --- values --- */

static enum dtx_fmt_class cell_class(const struct walk *w, const struct cell *c, uint16_t *style)
{
	*style = c->xf < w->x->nxf ? w->x->style_of[c->xf] : 0;
	return *style < w->x->head.nstyles ? w->x->head.style[*style].cls : DTX_FMT_NUMBER;
}

static enum dtx_code put(struct walk *w, const struct cell *c, unsigned tag, union dtx_payload v,
                         struct dtx_err *err)
{
	uint16_t style;

	(void)cell_class(w, c, &style);
	if (c->xf < w->x->nxf && w->x->bold[c->xf] && (tag & DTX_CELL_KIND) != DTX_CELL_BLANK)
		tag |= DTX_GRID_BOLD;
	if (c->col >= DTX_SHEET_COLS)
		return dtx_xls_fail(w->x, w->rec.at, err, "a cell beyond column XFD");
	return dtx_grid_add(w->grid, c->row, c->col, (uint8_t)(tag | c->flags), v, style, false,
	                    err);
}

static enum dtx_code put_error(struct walk *w, const struct cell *c, unsigned code,
                               struct dtx_err *err)
{
	dtx_sheet_note_bad(w->facts, c->row, c->col, &w->facts->nerrors);
	return put(w, c, DTX_CELL_ERROR, (union dtx_payload){ .id = dtx_biff_error(code) }, err);
}

static enum dtx_code put_number(struct walk *w, const struct cell *c, double v, struct dtx_err *err)
{
	uint16_t style;
	enum dtx_fmt_class cls = cell_class(w, c, &style);

	if (!isfinite(v))
		return put_error(w, c, NUM_ERROR, err);
	if ((cls == DTX_FMT_NUMBER || cls == DTX_FMT_TEXT) && dtx_sheet_has_16_digits(v))
		return put(w, c, DTX_CELL_WHOLE, (union dtx_payload){ .whole = (int64_t)v }, err);
	return put(w, c, dtx_sheet_number_tag(&w->x->head, w->facts, c->row, c->col, cls, v),
	           (union dtx_payload){ .num = v == 0 ? 0 : v }, err);
}

/* Stores the text in w->x->text. */
static enum dtx_code put_text(struct walk *w, const struct cell *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf *t = &w->x->text;
	union dtx_payload v = { .id = 0 };

	DTX_TRY(dtx_buf_check(t, "a text of the sheet", err));
	/* a formula with the result "" shows nothing, so the cell is blank */
	if (!t->len && !c->flags)
		goto out;
	if (!t->len) {
		DTX_TRY(put(w, c, DTX_CELL_BLANK, v, err));
		goto out;
	}
	DTX_TRY(dtx_grid_text_add(w->grid, (struct dtx_str){ t->ptr, t->len }, &v.id, err));
	DTX_TRY(put(w, c, DTX_CELL_TEXT, v, err));
out:
	return rc;
}

/* --- records of cells --- */

static struct cell cell_of(const struct walk *w)
{
	const uint8_t *p = w->rec.data;

	return (struct cell){ dtx_le_u16(p), dtx_le_u16(p + 2), dtx_le_u16(p + 4), 0 };
}

/* Reads the text of this record and its continuations, from byte `at`. */
static bool read_text(struct walk *w, size_t at)
{
	struct dtx_biff_bytes b;

	dtx_biff_bytes_init(&b, w->x->stream.bytes, w->end, &w->rec);
	b.ptr += at;
	b.left -= at;
	dtx_buf_reset(&w->x->text);
	return dtx_xls_text(w->x, &b, 2, &w->x->text);
}

static enum dtx_code on_label(struct walk *w, struct dtx_err *err)
{
	struct cell c = cell_of(w);

	if (!read_text(w, 6))
		return dtx_xls_fail(w->x, w->rec.at, err, "the text of a cell is cut off");
	return put_text(w, &c, err);
}

static enum dtx_code on_labelsst(struct walk *w, struct dtx_err *err)
{
	struct cell c = cell_of(w);
	uint32_t id = dtx_le_u32(w->rec.data + 6);

	if (id >= w->x->head.strings.n)
		return put_error(w, &c, UNKNOWN_ERROR, err);
	return put(w, &c, DTX_CELL_TEXT, (union dtx_payload){ .id = id }, err);
}

static enum dtx_code on_number(struct walk *w, struct dtx_err *err)
{
	struct cell c = cell_of(w);

	return put_number(w, &c, dtx_le_f64(w->rec.data + 6), err);
}

/* Decodes an RK value: 30 bits of a double or an integer, perhaps divided by 100. */
static double rk_value(uint32_t rk)
{
	uint64_t bits = (uint64_t)(rk & ~3u) << 32;
	double v;

	if (rk & 2)
		v = (double)((int32_t)rk >> 2);
	else
		memcpy(&v, &bits, sizeof(v));
	return rk & 1 ? v / 100 : v;
}

static enum dtx_code on_rk(struct walk *w, struct dtx_err *err)
{
	struct cell c = cell_of(w);

	return put_number(w, &c, rk_value(dtx_le_u32(w->rec.data + 6)), err);
}

static enum dtx_code on_mulrk(struct walk *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct cell c = cell_of(w);
	size_t i, n = (w->rec.len - 6) / 6;

	for (i = 0; i < n; i++, c.col++) {
		const uint8_t *p = w->rec.data + 4 + i * 6;

		c.xf = dtx_le_u16(p);
		DTX_TRY(put_number(w, &c, rk_value(dtx_le_u32(p + 2)), err));
	}
out:
	return rc;
}

static enum dtx_code on_boolerr(struct walk *w, struct dtx_err *err)
{
	struct cell c = cell_of(w);

	if (w->rec.data[7])
		return put_error(w, &c, w->rec.data[6], err);
	return put(w, &c, DTX_CELL_BOOL, (union dtx_payload){ .id = w->rec.data[6] != 0 }, err);
}

static enum dtx_code on_formula(struct walk *w, struct dtx_err *err)
{
	struct cell c = cell_of(w);
	const uint8_t *p = w->rec.data + 6;

	c.flags = DTX_CELL_FORMULA;
	w->facts->nformulas++;
	/* its tokens follow their length; the first one says if it is volatile */
	w->facts->nvolatile +=
		w->rec.len > 23 && w->rec.data[22] == ATTR_TOKEN && w->rec.data[23] & ATTR_VOLATILE;
	if (dtx_le_u16(p + 6) != 0xffff)
		return put_number(w, &c, dtx_le_f64(p), err);
	switch (p[0]) {
	case RESULT_TEXT:
		w->waiting = c;
		w->waits = true;
		return DTX_OK;
	case RESULT_BOOL:
		return put(w, &c, DTX_CELL_BOOL, (union dtx_payload){ .id = p[2] != 0 }, err);
	case RESULT_ERROR: return put_error(w, &c, p[2], err);
	default: return put(w, &c, DTX_CELL_BLANK, (union dtx_payload){ .id = 0 }, err);
	}
}

static enum dtx_code on_string(struct walk *w, struct dtx_err *err)
{
	if (!w->waits)
		return DTX_OK;
	w->waits = false;
	if (!read_text(w, 0))
		return dtx_xls_fail(w->x, w->rec.at, err, "the text of a formula is cut off");
	return put_text(w, &w->waiting, err);
}

/* Handles a formula whose text did not come. */
static enum dtx_code give_up_waiting(struct walk *w, struct dtx_err *err)
{
	if (!w->waits)
		return DTX_OK;
	w->waits = false;
	dtx_sheet_note_bad(w->facts, w->waiting.row, w->waiting.col, &w->facts->nuncached);
	return put(w, &w->waiting, DTX_CELL_BLANK | DTX_CELL_UNCACHED,
	           (union dtx_payload){ .id = 0 }, err);
}

/* --- records other than cells --- */

static enum dtx_code on_row(struct walk *w, struct dtx_err *err)
{
	unsigned row = dtx_le_u16(w->rec.data);

	(void)err;
	if (w->rec.data[12] & ROW_HIDDEN && !(w->hidden[row / 8] >> row % 8 & 1)) {
		w->hidden[row / 8] |= (uint8_t)(1u << row % 8);
		w->facts->nhidden_rows++;
	}
	return DTX_OK;
}

static enum dtx_code on_colinfo(struct walk *w, struct dtx_err *err)
{
	const uint8_t *p = w->rec.data;

	if (!(p[8] & COL_HIDDEN))
		return DTX_OK;
	return dtx_sheet_hide_cols(w->facts, dtx_le_u16(p), dtx_le_u16(p + 2), err);
}

static enum dtx_code on_merged(struct walk *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i, n = DTX_MIN((size_t)dtx_le_u16(w->rec.data), (w->rec.len - 2) / 8);

	for (i = 0; i < n; i++) {
		const uint8_t *p = w->rec.data + 2 + i * 8;
		struct dtx_cellrange r = { dtx_le_u16(p),
			                   dtx_le_u16(p + 2),
			                   dtx_le_u16(p + 4),
			                   dtx_le_u16(p + 6),
			                   false,
			                   false };

		if (r.row0 <= r.row1 && r.col0 <= r.col1 && r.col1 < DTX_SHEET_COLS)
			DTX_TRY(dtx_grid_merge_add(w->grid, &r, err));
	}
out:
	return rc;
}

static enum dtx_code on_dimensions(struct walk *w, struct dtx_err *err)
{
	const uint8_t *p = w->rec.data;
	bool wide = w->x->biff8;
	uint32_t row1 = wide ? dtx_le_u32(p + 4) : dtx_le_u16(p + 2);
	uint32_t col1 = dtx_le_u16(p + (wide ? 10 : 6));
	struct dtx_cellrange r = { wide ? dtx_le_u32(p) : dtx_le_u16(p),
		                   row1 - 1,
		                   dtx_le_u16(p + (wide ? 8 : 4)),
		                   col1 - 1,
		                   false,
		                   false };
	char name[48];

	(void)err;
	if (!row1 || !col1 || r.row0 > r.row1 || r.col0 > r.col1 || r.row1 >= ROWS ||
	    r.col1 >= DTX_SHEET_COLS)
		return DTX_OK;
	dtx_cell_range_name(name, &r);
	dtx_str_copy(w->facts->dimension, sizeof(w->facts->dimension), dtx_str_of(name));
	return DTX_OK;
}

/* --- the walk --- */

static enum dtx_code on_record(struct walk *w, struct dtx_err *err)
{
	static const struct {
		unsigned type;
		size_t least, least5; /* least bytes, in BIFF8 and before */
		bool cell;
		enum dtx_code (*fn)(struct walk *, struct dtx_err *);
	} known[] = { { DTX_BIFF_LABELSST, 10, 10, true, on_labelsst },
		      { DTX_BIFF_RK, 10, 10, true, on_rk },
		      { DTX_BIFF_NUMBER, 14, 14, true, on_number },
		      { DTX_BIFF_MULRK, 6, 6, true, on_mulrk },
		      { DTX_BIFF_FORMULA, 14, 14, true, on_formula },
		      { DTX_BIFF_FORMULA3, 14, 14, true, on_formula },
		      { DTX_BIFF_FORMULA4, 14, 14, true, on_formula },
		      { DTX_BIFF_STRING, 2, 2, false, on_string },
		      { DTX_BIFF_LABEL, 8, 8, true, on_label },
		      { DTX_BIFF_RSTRING, 8, 8, true, on_label },
		      { DTX_BIFF_BOOLERR, 8, 8, true, on_boolerr },
		      { DTX_BIFF_ROW, 13, 13, false, on_row },
		      { DTX_BIFF_COLINFO, 9, 9, false, on_colinfo },
		      { DTX_BIFF_MERGEDCELLS, 2, 2, false, on_merged },
		      { DTX_BIFF_DIMENSIONS, 12, 8, false, on_dimensions } };
	enum dtx_code rc = DTX_OK;
	size_t i;

	for (i = 0; i < DTX_COUNT(known) && known[i].type != w->rec.type; i++)
		;
	if (i == DTX_COUNT(known))
		goto out;
	if (w->rec.len < (w->x->biff8 ? known[i].least : known[i].least5)) {
		rc = dtx_xls_fail(w->x, w->rec.at, err, "a record is too short");
		goto out;
	}
	if (known[i].cell)
		DTX_TRY(give_up_waiting(w, err));
	DTX_TRY(known[i].fn(w, err));
out:
	return rc;
}

static enum dtx_code walk(struct walk *w, size_t place, uint64_t max_cells, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const uint8_t *bytes = w->x->stream.bytes;
	const struct dtx_archive_limits *limits = &w->x->head.limits;
	unsigned depth = 1, n = 0;

	if (!w->end)
		return dtx_xls_fail(w->x, place, err, "two sheets begin in one place");
	if (!dtx_biff_record(bytes, w->end, place, &w->rec) || w->rec.type != DTX_BIFF_BOF ||
	    w->rec.len < 4 || dtx_le_u16(w->rec.data + 2) != DTX_BIFF_WORKSHEET)
		return dtx_xls_fail(w->x, place, err, "no worksheet begins there");
	while (depth && w->grid->ncells < max_cells) {
		if (!dtx_biff_record(bytes, w->end, w->rec.next, &w->rec))
			return dtx_xls_fail(w->x, w->rec.next, err, "the sheet is cut off");
		if (w->rec.type == DTX_BIFF_BOF)
			depth++;
		else if (w->rec.type == DTX_BIFF_EOF)
			depth--;
		else if (depth == 1)
			DTX_TRY(on_record(w, err));
		if (limits->tick && !(++n % TICK_RECORDS))
			limits->tick(limits->tick_arg, w->rec.at - place, w->end - place);
	}
	DTX_TRY(give_up_waiting(w, err));
out:
	return rc;
}

/* Marks hidden rows at the end, because a row's record may come before or after its cells. */
static void hide_rows(struct walk *w)
{
	size_t i;

	for (i = 0; i < w->grid->nrows; i++) {
		uint32_t row = w->grid->row[i].row;

		w->grid->row[i].hidden = w->hidden[row / 8] >> row % 8 & 1;
	}
}

enum dtx_code dtx_xls_sheet_read(struct dtx_book *book, const struct dtx_sheet *sheet,
                                 const struct dtx_sheet_read *how, struct dtx_grid *grid,
                                 struct dtx_sheet_facts *facts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xls *x = (struct dtx_xls *)book;
	struct walk w = { .x = x, .grid = grid, .facts = facts };

	w.end = x->sheet_end[sheet - book->sheet];
	w.hidden = dtx_mem_zalloc(ROWS / 8, 1);
	if (!w.hidden)
		DTX_FAIL_MEM(err);
	DTX_TRY(walk(&w, (size_t)sheet->place, how->max_cells ? how->max_cells : UINT64_MAX, err));
	hide_rows(&w);
	DTX_TRY(dtx_grid_finish(grid, err));
out:
	if (rc != DTX_OK && err && !err->sheet[0])
		dtx_str_copy(err->sheet, sizeof(err->sheet), dtx_str_of(sheet->name));
	dtx_mem_free(w.hidden);
	return rc;
}
