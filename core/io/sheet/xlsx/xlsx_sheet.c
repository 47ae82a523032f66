/* Reads a worksheet with the strict tokenizer: rows, cells, merged ranges, hidden columns. */
#include "core/io/sheet/xlsx/xlsx_sheet.h"

#include "core/base/memory/mem.h"
#include "core/base/text/num.h"

enum { FORMULA_MAX = 16384 };

#define FAIL_SHEET(w, err, what)                                                                   \
	do {                                                                                       \
		rc = dtx_xml_fail((w)->x, (err), __FILE__, __LINE__, (what));                      \
		goto out;                                                                          \
	} while (0)

enum dtx_code dtx_xlsx_row_open(struct dtx_xlsx_walk *w, uint32_t row, bool hidden,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (row >= DTX_SHEET_ROWS)
		FAIL_SHEET(w, err, "a row beyond 1048576");
	if (w->nrows++ == DTX_SHEET_ROWS)
		FAIL_SHEET(w, err, "over 1048576 rows");
	w->ncells = 0;
	w->row = row;
	w->next_row = row + 1;
	w->next_col = 0;
	w->hidden = hidden;
	w->facts->nhidden_rows += hidden;
out:
	return rc;
}

/* --- the strict walk --- */

/* The value of an attribute; an empty one counts as absent. */
static struct dtx_str attr_said(const struct dtx_xml *x, const char *name)
{
	struct dtx_str s = dtx_str_trim(dtx_xml_attr(x, name));

	return s.len ? s : (struct dtx_str){ NULL, 0 };
}

static enum dtx_code start_row(struct dtx_xlsx_walk *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str r = attr_said(w->x, "r");
	int64_t row = (int64_t)w->next_row + 1;
	char what[80];

	if (r.ptr && (!dtx_num_parse_i64(r.ptr, r.len, &row) || row < 1 || row > DTX_SHEET_ROWS)) {
		snprintf(what, sizeof(what), "expected a row from 1 to 1048576, got '%.*s'",
		         (int)DTX_MIN(r.len, (size_t)20), r.ptr);
		FAIL_SHEET(w, err, what);
	}
	DTX_TRY(dtx_xlsx_row_open(w, (uint32_t)(row - 1),
	                          dtx_xml_true(dtx_xml_attr(w->x, "hidden")), err));
out:
	return rc;
}

/* Reads the attributes of the <c> that was just started. */
static enum dtx_code cell_attrs(struct dtx_xlsx_walk *w, struct dtx_xlsx_cell *c,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str r = attr_said(w->x, "r"), s = attr_said(w->x, "s");
	struct dtx_str t = attr_said(w->x, "t");
	int64_t style = 0;

	*c = (struct dtx_xlsx_cell){ .row = w->row, .col = w->next_col };
	if (r.ptr && !dtx_cell_parse(r, &c->row, &c->col))
		FAIL_SHEET(w, err, "a cell reference outside of A1 to XFD1048576");
	if (c->col >= DTX_SHEET_COLS)
		FAIL_SHEET(w, err, "a cell beyond column XFD");
	if (s.ptr &&
	    (!dtx_num_parse_i64(s.ptr, s.len, &style) || style < 0 || style >= DTX_BOOK_STYLES_MAX))
		FAIL_SHEET(w, err, "a style id that the workbook does not have");
	c->style = (uint16_t)style;
	if (t.ptr && !dtx_xlsx_type_find(t, &c->type))
		FAIL_SHEET(w, err, "a cell of an unknown type");
out:
	return rc;
}

/* Reads the text of a formula; only the beginning of a long one is used. */
static enum dtx_code formula_text(struct dtx_xlsx_walk *w, struct dtx_xlsx_cell *c,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xml *x = w->x;
	unsigned depth = x->depth;

	dtx_buf_reset(&w->code);
	for (;;) {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind == DTX_XML_END && x->depth < depth)
			break;
		if (x->kind == DTX_XML_TEXT && x->depth == depth &&
		    w->code.len + x->text.len < w->code.max)
			dtx_buf_adds(&w->code, x->text);
	}
	DTX_TRY(dtx_buf_check(&w->code, "a formula", err));
	c->formula = true;
	c->code = dtx_buf_str(&w->code);
out:
	return rc;
}

static enum dtx_code cell_child(struct dtx_xlsx_walk *w, struct dtx_xlsx_cell *c,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (dtx_xml_is(w->x, "v")) {
		dtx_buf_reset(&w->text);
		DTX_TRY(dtx_xml_text(w->x, &w->text, err));
		if (c->type == DTX_XLSX_T_STR || c->type == DTX_XLSX_T_INLINE)
			dtx_xlsx_undo_escapes(&w->text, 0);
		c->has_value = true;
	} else if (dtx_xml_is(w->x, "is")) {
		DTX_TRY(dtx_xlsx_text(w->x, &w->text, err));
		c->has_value = true;
		c->type = DTX_XLSX_T_INLINE;
	} else if (dtx_xml_is(w->x, "f")) {
		DTX_TRY(formula_text(w, c, err));
	} else {
		DTX_TRY(dtx_xml_skip(w->x, err));
	}
out:
	if (rc == DTX_E_CELL_LIMIT)
		rc = dtx_archive_limits_fail(err, &w->book->head.limits, "text",
		                             "'%s': %s: a text of over %zu bytes in a cell",
		                             w->book->head.label, w->x->part, w->text.max);
	return rc;
}

static enum dtx_code read_cell(struct dtx_xlsx_walk *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xlsx_cell c;
	unsigned depth = w->x->depth;

	DTX_TRY(cell_attrs(w, &c, err));
	dtx_buf_reset(&w->text);
	for (;;) {
		DTX_TRY(dtx_xml_next(w->x, err));
		if (w->x->kind == DTX_XML_END && w->x->depth < depth)
			break;
		if (w->x->kind == DTX_XML_START)
			DTX_TRY(cell_child(w, &c, err));
	}
	c.value = dtx_buf_str(&w->text);
	DTX_TRY(dtx_xlsx_cell_put(w, &c, err));
out:
	return rc;
}

/* Handles an element that was just started inside <sheetData>, which has depth 2. */
static enum dtx_code data_child(struct dtx_xlsx_walk *w, struct dtx_err *err)
{
	struct dtx_xml *x = w->x;

	if (x->depth == 3 && dtx_xml_is(x, "row")) {
		w->full = dtx_xlsx_window_full(w);
		return w->full ? DTX_OK : start_row(w, err);
	}
	if (x->depth == 4 && dtx_xml_is(x, "c"))
		return read_cell(w, err);
	return dtx_xml_skip(x, err);
}

/* Reads up to the end of <sheetData> (*ended), or to where it must stop. If `full` is set, a row
 * that the tokenizer has started must still be opened. */
static enum dtx_code read_rows(struct dtx_xlsx_walk *w, bool slow, bool *ended, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xml *x = w->x;

	*ended = false;
	for (;;) {
		if (!slow)
			DTX_TRY(dtx_xlsx_fast(w, err));
		if (w->grid->ncells >= w->max_cells || w->full)
			break;
		DTX_TRY(dtx_xml_next(x, err));
		*ended = x->kind == DTX_XML_END && x->depth < 2;
		if (*ended)
			break;
		if (x->kind == DTX_XML_START)
			DTX_TRY(data_child(w, err));
		if (w->full)
			break;
	}
out:
	return rc;
}

/* --- elements other than cells --- */

static enum dtx_code on_merge(struct dtx_xlsx_walk *w, struct dtx_err *err)
{
	struct dtx_cellrange range;

	if (!dtx_xml_is(w->x, "mergeCell") ||
	    !dtx_cell_range_parse(dtx_xml_attr(w->x, "ref"), &range))
		return DTX_OK;
	dtx_xml_took_value(w->x);
	return dtx_grid_merge_add(w->grid, &range, err);
}

static enum dtx_code on_col(struct dtx_xlsx_walk *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str min = dtx_xml_attr(w->x, "min"), max = dtx_xml_attr(w->x, "max");
	int64_t from, to;

	if (!dtx_xml_true(dtx_xml_attr(w->x, "hidden")) ||
	    !dtx_num_parse_i64(min.ptr, min.len, &from) ||
	    !dtx_num_parse_i64(max.ptr, max.len, &to) || from < 1 || to < from)
		goto out;
	DTX_TRY(dtx_sheet_hide_cols(w->facts, (uint32_t)DTX_MIN(from - 1, (int64_t)DTX_SHEET_COLS),
	                            (uint32_t)DTX_MIN(to - 1, (int64_t)DTX_SHEET_COLS), err));
out:
	return rc;
}

static enum dtx_code on_table(struct dtx_xlsx_walk *w, struct dtx_err *err)
{
	(void)err;
	w->facts->ntables += dtx_xml_is(w->x, "tablePart");
	return DTX_OK;
}

static enum dtx_code on_dimension(struct dtx_xlsx_walk *w, struct dtx_err *err)
{
	(void)err;
	dtx_str_copy(w->facts->dimension, sizeof(w->facts->dimension), dtx_xml_attr(w->x, "ref"));
	return DTX_OK;
}

/* Calls fn for each child of the element that was just started; with `self`, only for the
 * element itself. */
static enum dtx_code each_child(struct dtx_xlsx_walk *w, bool self,
                                enum dtx_code (*fn)(struct dtx_xlsx_walk *, struct dtx_err *),
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned depth = w->x->depth;

	if (self) {
		DTX_TRY(fn(w, err));
		DTX_TRY(dtx_xml_skip(w->x, err));
		goto out;
	}
	for (;;) {
		DTX_TRY(dtx_xml_next(w->x, err));
		if (w->x->kind == DTX_XML_END && w->x->depth < depth)
			break;
		if (w->x->kind != DTX_XML_START)
			continue;
		DTX_TRY(fn(w, err));
		DTX_TRY(dtx_xml_skip(w->x, err));
	}
out:
	return rc;
}

static enum dtx_code sheet_child(struct dtx_xlsx_walk *w, struct dtx_err *err)
{
	static const struct {
		const char *name;
		bool self;
		enum dtx_code (*fn)(struct dtx_xlsx_walk *, struct dtx_err *);
	} known[] = { { "mergeCells", false, on_merge },
		      { "cols", false, on_col },
		      { "tableParts", false, on_table },
		      { "dimension", true, on_dimension } };
	size_t i;

	for (i = 0; i < DTX_COUNT(known); i++) {
		if (dtx_xml_is(w->x, known[i].name))
			return each_child(w, known[i].self, known[i].fn, err);
	}
	return dtx_xml_skip(w->x, err);
}

/* --- reading all rows, or a window of them --- */

struct dtx_sheet_rows {
	struct dtx_xlsx_part part;
	struct dtx_xlsx_walk w;
	bool slow;
	bool inside;  /* inside <sheetData> */
	bool pending; /* the tokenizer has started a row that is not opened yet */
	bool stopped;
};

static enum dtx_code go_on(struct dtx_sheet_rows *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xlsx_walk *w = &s->w;
	bool ended;

	if (s->pending)
		DTX_TRY(start_row(w, err));
	w->full = false;
	DTX_TRY(read_rows(w, s->slow, &ended, err));
	/* the fast path stops before the tag, the tokenizer after it */
	s->pending = w->full && w->x->kind == DTX_XML_START && w->x->depth == 3;
	s->inside = !ended;
	s->stopped = !ended;
out:
	return rc;
}

static enum dtx_code walk(struct dtx_sheet_rows *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xlsx_walk *w = &s->w;
	struct dtx_xml *x = w->x;

	s->stopped = false;
	while (!s->stopped) {
		if (s->inside) {
			DTX_TRY(go_on(s, err));
			continue;
		}
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind == DTX_XML_EOF)
			break;
		if (x->kind != DTX_XML_START)
			continue;
		if (x->depth == 1 && !dtx_xml_is(x, "worksheet"))
			FAIL_SHEET(w, err, "a sheet part that is not a worksheet");
		if (x->depth == 2 && dtx_xml_is(x, "sheetData"))
			s->inside = true;
		else if (x->depth == 2)
			DTX_TRY(sheet_child(w, err));
	}
out:
	return rc;
}

static enum dtx_code open_rows(struct dtx_sheet_rows *s, struct dtx_book *book,
                               const struct dtx_sheet *sheet, struct dtx_sheet_facts *facts,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*s = (struct dtx_sheet_rows){ .part.xml = DTX_XML_INIT };
	s->w = (struct dtx_xlsx_walk){ .book = (struct dtx_xlsx *)book,
		                       .x = &s->part.xml,
		                       .facts = facts,
		                       .max_cells = UINT64_MAX,
		                       .window_cells = UINT64_MAX,
		                       .window_rows = SIZE_MAX };
	dtx_buf_init(&s->w.text, (size_t)book->limits.text);
	dtx_buf_init(&s->w.code, FORMULA_MAX);
	if (!sheet->part)
		DTX_FAIL(err, DTX_E_CORRUPT_FILE, "'%s': the part of sheet '%.100s' is missing",
		         book->label, sheet->name);
	DTX_TRY(dtx_xlsx_part_open(s->w.book, sheet->part, &s->part, err));
out:
	return rc;
}

static void close_rows(struct dtx_sheet_rows *s)
{
	dtx_xlsx_part_close(&s->part);
	dtx_buf_clear(&s->w.text);
	dtx_buf_clear(&s->w.code);
}

enum dtx_code dtx_xlsx_sheet_read(struct dtx_book *book, const struct dtx_sheet *sheet,
                                  const struct dtx_sheet_read *how, struct dtx_grid *grid,
                                  struct dtx_sheet_facts *facts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_sheet_rows s;

	DTX_TRY(open_rows(&s, book, sheet, facts, err));
	s.slow = how->slow;
	s.w.grid = grid;
	s.w.max_cells = how->max_cells ? how->max_cells : UINT64_MAX;
	DTX_TRY(walk(&s, err));
	DTX_TRY(dtx_grid_finish(grid, err));
out:
	close_rows(&s);
	return rc;
}

/* --- reading in windows of rows --- */

static uint64_t rows_size(const struct dtx_sheet *sheet)
{
	return sheet->part ? sheet->part->size : 0;
}

static void rows_close(struct dtx_sheet_rows *s)
{
	if (s)
		close_rows(s);
	dtx_mem_free(s);
}

static enum dtx_code rows_open(struct dtx_book *book, const struct dtx_sheet *sheet,
                               struct dtx_sheet_facts *facts, struct dtx_sheet_rows **out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_sheet_rows *s = dtx_mem_zalloc(1, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(open_rows(s, book, sheet, facts, err));
	*out = s;
	s = NULL;
out:
	rows_close(s);
	return rc;
}

static enum dtx_code rows_next(struct dtx_sheet_rows *s, struct dtx_grid *grid, uint64_t cells,
                               size_t rows, bool *more, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	s->w.grid = grid;
	s->w.window_cells = cells;
	s->w.window_rows = rows;
	DTX_TRY(walk(s, err));
	*more = s->stopped;
out:
	return rc;
}

const struct dtx_sheet_rows_class dtx_xlsx_rows = { rows_size, rows_open, rows_next, rows_close };
