/* Reads a sheet of content.xml. Rows and cells may stand for many equal ones; only those with a
 * value become cells. A cell is given to the code of .xlsx as if it had been written there. */
#include <math.h>
#include <stdio.h>

#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/data/time/time.h"
#include "core/io/sheet/ods/ods.h"
#include "core/io/sheet/xlsx/xlsx_sheet.h"

enum { FORMULA_MAX = 16384 };

/* A cell of the open row, and how many columns it stands for. */
struct ods_cell {
	struct dtx_xlsx_cell c;
	uint32_t times;
	size_t value, code; /* where their texts are */
};
/* Columns whose cells have a style if they name no other. */
struct span {
	uint32_t from, to;
	uint16_t style;
};
struct reading {
	struct dtx_ods *book;
	struct dtx_xlsx_part part;
	struct dtx_xlsx_walk w;
	struct ods_cell *cell; /* of the open row */
	size_t ncells, cells_cap;
	struct dtx_buf texts; /* of its cells */
	struct span *span;
	size_t nspans, spans_cap, at_span;
	uint32_t row, col, column;
	int32_t row_style; /* -1: none */
	bool hidden, done;
};

static enum dtx_code fail(const struct reading *r, const char *what, struct dtx_err *err)
{
	return dtx_xml_fail(&r->part.xml, err, __FILE__, __LINE__, what);
}

/* A number of rows or columns that an attribute says, at least 1. */
static uint32_t times(const struct dtx_xml *x, const char *name, uint32_t most)
{
	struct dtx_str s = dtx_ods_attr(x, name);
	int64_t n;

	if (!s.len || !dtx_num_parse_i64(s.ptr, s.len, &n) || n < 1)
		return 1;
	return (uint32_t)DTX_MIN(n, (int64_t)most);
}

static int32_t style_of(const struct reading *r, struct dtx_str name)
{
	uint32_t at = name.ptr ? dtx_strmap_get(&r->book->styles, name) : DTX_STRMAP_NONE;

	return at == DTX_STRMAP_NONE ? -1 : (int32_t)at;
}

static bool is_hidden(const struct dtx_xml *x)
{
	struct dtx_str s = dtx_ods_attr(x, "visibility");

	return dtx_str_is(s, "collapse") || dtx_str_is(s, "filter");
}

/* --- columns --- */

static enum dtx_code read_column(struct reading *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xml *x = &r->part.xml;
	uint32_t n = times(x, "number-columns-repeated", DTX_SHEET_COLS), from = r->column;
	int32_t style = style_of(r, dtx_ods_attr(x, "default-cell-style-name"));

	r->column = DTX_MIN(from + n, (uint32_t)DTX_SHEET_COLS);
	if (from < r->column && is_hidden(x))
		DTX_TRY(dtx_sheet_hide_cols(r->w.facts, from, r->column - 1, err));
	if (from < r->column && style > 0) {
		if (!dtx_mem_reserve(&r->span, &r->spans_cap, r->nspans + 1, sizeof(*r->span)))
			DTX_FAIL_MEM(err);
		r->span[r->nspans++] = (struct span){ from, r->column, (uint16_t)style };
	}
	DTX_TRY(dtx_xml_skip(x, err));
out:
	return rc;
}

/* The style of the column of the next cell. Cells come from left to right. */
static uint16_t column_style(struct reading *r)
{
	while (r->at_span < r->nspans && r->span[r->at_span].to <= r->col)
		r->at_span++;
	return r->at_span < r->nspans && r->span[r->at_span].from <= r->col
	               ? r->span[r->at_span].style
	               : 0;
}

/* --- texts --- */

/* White space in a paragraph: a run that has a line end is only layout, and is one blank, or none
 * at the begin and the end. LibreOffice writes and keeps other runs as they are (in a text with
 * several formats), while the standard has one blank there, or none, too. */
struct blanks {
	bool begun, line_end;
	size_t pending; /* blanks of the run */
};

static void put_run(struct reading *r, struct blanks *b)
{
	size_t n = b->line_end ? b->begun && b->pending : b->pending;

	while (n--)
		dtx_buf_addc(&r->texts, ' ');
	b->pending = 0;
	b->line_end = false;
}

static void add_piece(struct reading *r, struct blanks *b, struct dtx_str s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (strchr(" \t\r\n", s.ptr[i])) {
			b->line_end = b->line_end || s.ptr[i] == '\n';
			b->pending++;
			continue;
		}
		put_run(r, b);
		b->begun = true;
		dtx_buf_addc(&r->texts, s.ptr[i]);
	}
}

static void add_blank(struct reading *r, struct blanks *b, char c, uint32_t n)
{
	put_run(r, b);
	b->begun = true;
	while (n--)
		dtx_buf_addc(&r->texts, c);
}

/* `from`: where the texts of the cell begin. */
static enum dtx_code read_paragraph(struct reading *r, size_t from, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xml *x = &r->part.xml;
	unsigned depth = x->depth;
	struct blanks b = { 0 };

	for (;;) {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind == DTX_XML_END && x->depth < depth) {
			if (!b.line_end)
				put_run(r, &b);
			break;
		}
		if (x->kind == DTX_XML_TEXT)
			add_piece(r, &b, x->text);
		if (r->texts.len - from > r->w.book->head.limits.text)
			return dtx_archive_limits_fail(
				err, &r->w.book->head.limits, "text",
				"'%s': %s: a text of over %llu bytes in a cell",
				r->w.book->head.label, x->part,
				(unsigned long long)r->w.book->head.limits.text);
		if (x->kind != DTX_XML_START)
			continue;
		if (dtx_xml_is(x, "s"))
			add_blank(r, &b, ' ', times(x, "c", 1 << 16));
		else if (dtx_xml_is(x, "tab"))
			add_blank(r, &b, '\t', 1);
		else if (dtx_xml_is(x, "line-break"))
			add_blank(r, &b, '\n', 1);
		else if (dtx_xml_is(x, "annotation") || dtx_xml_is(x, "note") ||
		         dtx_xml_is(x, "ruby-text") || dtx_xml_is(x, "frame"))
			DTX_TRY(dtx_xml_skip(x, err)); /* beside the text */
	}
out:
	return rc;
}

/* Adds the text of the cell that was just started: its paragraphs, a line each. *any: there is
 * one. */
static enum dtx_code read_text(struct reading *r, bool *any, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xml *x = &r->part.xml;
	unsigned depth = x->depth;
	size_t from = r->texts.len;

	*any = false;
	for (;;) {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind == DTX_XML_END && x->depth < depth)
			break;
		if (x->kind != DTX_XML_START)
			continue;
		if (!dtx_xml_is(x, "p")) {
			DTX_TRY(dtx_xml_skip(x, err));
			continue;
		}
		if (*any)
			dtx_buf_addc(&r->texts, '\n');
		*any = true;
		DTX_TRY(read_paragraph(r, from, err));
	}
	DTX_TRY(dtx_buf_check(&r->texts, "the texts of a row", err));
out:
	return rc;
}

/* --- values --- */

static void set_text(struct reading *r, struct ods_cell *c, const char *text, size_t len)
{
	c->value = r->texts.len;
	dtx_buf_addn(&r->texts, text, len);
	c->c.value.len = len;
	c->c.has_value = true;
}

/* A duration, "PT26H30M00.5S", in days: as the number that .xlsx would have. */
static bool set_time(struct reading *r, struct ods_cell *c, struct dtx_str s)
{
	double seconds = 0, v;
	bool minus = s.len && s.ptr[0] == '-', time = false;
	size_t i = minus, from, n;
	enum dtx_fmt_class cls = r->w.book->head.style[c->c.style].cls;
	char text[DTX_NUM_TEXT];

	if (i >= s.len || s.ptr[i++] != 'P')
		return false;
	while (i < s.len) {
		if (s.ptr[i] == 'T' && !time) {
			time = true;
			i++;
			continue;
		}
		for (from = i;
		     i < s.len && (s.ptr[i] == '.' || (s.ptr[i] >= '0' && s.ptr[i] <= '9'));)
			i++;
		if (i == s.len || !dtx_num_parse_f64(s.ptr + from, i - from, &v))
			return false;
		switch (s.ptr[i++]) {
		case 'D': seconds += v * 86400; break;
		case 'H': seconds += v * 3600; break;
		case 'M': seconds += v * 60; break;
		case 'S': seconds += v; break;
		default: return false;
		}
		if (!time && s.ptr[i - 1] != 'D')
			return false; /* months have no length */
	}
	v = (minus ? -seconds : seconds) / 86400;
	n = dtx_num_print_f64(text, v == 0 ? 0 : v);
	set_text(r, c, text, n);
	if (cls == DTX_FMT_NUMBER || cls == DTX_FMT_TEXT)
		c->c.style = v >= 0 && v < 1 ? r->book->clock : r->book->duration;
	return true;
}

/* A date, perhaps with a time of day, which is rounded to milliseconds as those of .xlsx are. */
static void set_date(struct reading *r, struct ods_cell *c, struct dtx_str s)
{
	char text[64];
	const char *dot = s.len ? memchr(s.ptr, '.', s.len) : NULL;
	size_t whole = dot ? (size_t)(dot - s.ptr) : s.len, digits = dot ? s.len - whole - 1 : 0;
	int64_t us;
	bool zoned = false;
	double rest = 0;

	c->c.type = DTX_XLSX_T_DATE;
	if (!memchr(s.ptr, 'T', s.len) || whole + digits >= sizeof(text) ||
	    !dtx_datetime_parse((struct dtx_str){ s.ptr, whole }, &us, &zoned) || zoned ||
	    (digits && !dtx_num_parse_f64(dot, digits + 1, &rest))) {
		set_text(r, c, s.ptr, s.len);
		return;
	}
	us += (int64_t)llround(rest * 1000) * 1000;
	set_text(r, c, text, dtx_datetime_print(text, us));
}

/* Reads the value that the attributes of the cell say; false: it is the text. */
static bool set_value(struct reading *r, struct ods_cell *c)
{
	const struct dtx_xml *x = &r->part.xml;
	struct dtx_str type = dtx_ods_attr(x, "value-type"), v = dtx_ods_attr(x, "value"), b;

	if (dtx_str_is(type, "float") || dtx_str_is(type, "percentage") ||
	    dtx_str_is(type, "currency")) {
		c->c.type = DTX_XLSX_T_NUMBER;
		set_text(r, c, v.ptr ? v.ptr : "", v.len);
		return true;
	}
	b = dtx_ods_attr(x, "boolean-value");
	if (dtx_str_is(type, "boolean")) {
		c->c.type = DTX_XLSX_T_BOOL;
		set_text(r, c, b.ptr ? b.ptr : "", b.len);
		return true;
	}
	v = dtx_ods_attr(x, "date-value");
	if (dtx_str_is(type, "date") && v.len) {
		set_date(r, c, v);
		return true;
	}
	v = dtx_ods_attr(x, "time-value");
	if (dtx_str_is(type, "time") && v.len && set_time(r, c, v))
		return true;
	c->c.type = DTX_XLSX_T_STR;
	v = dtx_ods_attr(x, "string-value");
	if (dtx_str_is(type, "string") && v.ptr && v.len) {
		set_text(r, c, v.ptr, v.len);
		return true;
	}
	c->c.has_value = type.len != 0; /* else only a cell with a text has one */
	return false;
}

static bool says_error(const struct dtx_xml *x)
{
	for (unsigned i = 0; i < x->nattr; i++)
		if (dtx_str_is(x->attr[i].name, "value-type") &&
		    dtx_str_is(x->attr[i].value, "error"))
			return true;
	return false;
}

static enum dtx_code note_merge(struct reading *r, struct dtx_err *err)
{
	const struct dtx_xml *x = &r->part.xml;
	uint32_t cols = times(x, "number-columns-spanned", DTX_SHEET_COLS - r->col);
	uint32_t rows = times(x, "number-rows-spanned", DTX_SHEET_ROWS - r->row);
	struct dtx_cellrange range = {
		.row0 = r->row, .row1 = r->row + rows - 1, .col0 = r->col, .col1 = r->col + cols - 1
	};

	if ((cols == 1 && rows == 1) || r->row >= DTX_SHEET_ROWS || r->w.max_cells != UINT64_MAX)
		return DTX_OK;
	return dtx_grid_merge_add(r->w.grid, &range, err);
}

static enum dtx_code read_cell(struct reading *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xml *x = &r->part.xml;
	struct dtx_str formula = dtx_ods_attr(x, "formula"), name = dtx_ods_attr(x, "style-name");
	uint32_t n = times(x, "number-columns-repeated", DTX_SHEET_COLS + 1);
	int32_t style = name.ptr ? style_of(r, name) : r->row_style;
	struct ods_cell c = { .times = n };
	bool error = says_error(x), any = false, known;
	size_t text;

	if (r->col >= DTX_SHEET_COLS) /* one without a value may be there */
		n = 0;
	c.c.col = r->col;
	c.c.style = style >= 0 ? (uint16_t)style : column_style(r);
	c.c.formula = formula.ptr != NULL;
	c.code = r->texts.len;
	if (dtx_str_starts(formula, DTX_STR("of:")))
		formula = (struct dtx_str){ formula.ptr + 3, formula.len - 3 };
	c.c.code.len = DTX_MIN(formula.len, (size_t)FORMULA_MAX);
	dtx_buf_addn(&r->texts, formula.ptr ? formula.ptr : "", c.c.code.len);
	if (n)
		DTX_TRY(note_merge(r, err));
	known = set_value(r, &c);
	text = r->texts.len;
	DTX_TRY(read_text(r, &any, err));
	if (!known || error) {
		c.c.type = error ? DTX_XLSX_T_ERROR : DTX_XLSX_T_STR;
		c.value = text;
		c.c.value.len = r->texts.len - text;
		c.c.has_value = c.c.has_value || any;
	} else {
		r->texts.len = text; /* how the value is shown */
	}
	if (c.c.value.len || c.c.formula) {
		if (!n || c.times > DTX_SHEET_COLS - r->col)
			return fail(r, "a cell beyond column XFD", err);
		if (!dtx_mem_reserve(&r->cell, &r->cells_cap, r->ncells + 1, sizeof(*r->cell)))
			DTX_FAIL_MEM(err);
		r->cell[r->ncells++] = c;
	}
	r->col = DTX_MIN(r->col + c.times, (uint32_t)DTX_SHEET_COLS);
out:
	return rc;
}

/* --- rows --- */

static enum dtx_code put_row(struct reading *r, uint32_t row, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *texts = dtx_buf_text(&r->texts);

	DTX_TRY(dtx_xlsx_row_open(&r->w, row, r->hidden, err));
	for (size_t i = 0; i < r->ncells; i++) {
		struct dtx_xlsx_cell c = r->cell[i].c;

		c.row = row;
		c.value.ptr = texts + r->cell[i].value;
		c.code.ptr = texts + r->cell[i].code;
		for (uint32_t k = 0; k < r->cell[i].times; k++, c.col++)
			DTX_TRY(dtx_xlsx_cell_put(&r->w, &c, err));
	}
	r->done = r->w.grid->ncells >= r->w.max_cells;
out:
	return rc;
}

static enum dtx_code read_row(struct reading *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xml *x = &r->part.xml;
	unsigned depth = x->depth;
	uint32_t n = times(x, "number-rows-repeated", DTX_SHEET_ROWS), i;

	r->hidden = is_hidden(x);
	r->row_style = style_of(r, dtx_ods_attr(x, "default-cell-style-name"));
	r->col = 0;
	r->at_span = 0;
	r->ncells = 0;
	dtx_buf_reset(&r->texts);
	for (;;) {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind == DTX_XML_END && x->depth < depth)
			break;
		if (x->kind != DTX_XML_START)
			continue;
		if (dtx_xml_is(x, "table-cell") || dtx_xml_is(x, "covered-table-cell"))
			DTX_TRY(read_cell(r, err));
		else
			DTX_TRY(dtx_xml_skip(x, err));
	}
	for (i = 0; r->ncells && i < n && !r->done; i++)
		DTX_TRY(put_row(r, r->row + i, err));
	r->row = DTX_MIN(r->row + n, (uint32_t)DTX_SHEET_ROWS);
out:
	return rc;
}

/* Reads the table that was just started. Groups and lists of header rows are only around rows. */
static enum dtx_code read_table(struct reading *r, struct dtx_err *err)
{
	static const char *const around[] = { "table-rows",         "table-header-rows",
		                              "table-row-group",    "table-columns",
		                              "table-column-group", "table-header-columns" };
	enum dtx_code rc = DTX_OK;
	struct dtx_xml *x = &r->part.xml;
	unsigned depth = x->depth;
	size_t i;

	while (!r->done) {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind == DTX_XML_END && x->depth < depth)
			break;
		if (x->kind != DTX_XML_START)
			continue;
		for (i = 0; i < DTX_COUNT(around) && !dtx_xml_is(x, around[i]); i++)
			;
		if (i < DTX_COUNT(around))
			continue;
		if (dtx_xml_is(x, "table-row"))
			DTX_TRY(read_row(r, err));
		else if (dtx_xml_is(x, "table-column"))
			DTX_TRY(read_column(r, err));
		else
			DTX_TRY(dtx_xml_skip(x, err));
	}
out:
	return rc;
}

/* Goes to table number n of the spreadsheet, and reads it. */
static enum dtx_code find_table(struct reading *r, uint64_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xml *x = &r->part.xml;
	uint64_t at = 0;

	for (;;) {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind == DTX_XML_EOF)
			return fail(r, "a sheet is missing", err);
		if (x->kind != DTX_XML_START)
			continue;
		if (x->depth == 4 && dtx_xml_is(x, "table") && at++ == n)
			break;
		if (x->depth == 4 || (x->depth == 2 && !dtx_xml_is(x, "body")))
			DTX_TRY(dtx_xml_skip(x, err));
	}
	DTX_TRY(read_table(r, err));
out:
	return rc;
}

enum dtx_code dtx_ods_sheet_read(struct dtx_book *book, const struct dtx_sheet *sheet,
                                 const struct dtx_sheet_read *how, struct dtx_grid *grid,
                                 struct dtx_sheet_facts *facts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_ods *b = (struct dtx_ods *)book;
	const struct dtx_zip_entry *content = dtx_zip_find(&b->x.zip, DTX_STR("content.xml"));
	struct reading r = { .book = b, .part.xml = DTX_XML_INIT };

	r.w = (struct dtx_xlsx_walk){ .book = &b->x,
		                      .x = &r.part.xml,
		                      .grid = grid,
		                      .facts = facts,
		                      .max_cells = how->max_cells ? how->max_cells : UINT64_MAX };
	dtx_buf_init(&r.texts, (size_t)1 << 30);
	DTX_ASSERT(content, err);
	DTX_TRY(dtx_xlsx_part_open(&b->x, content, &r.part, err));
	DTX_TRY(find_table(&r, sheet->place, err));
	DTX_TRY(dtx_grid_finish(grid, err));
out:
	dtx_xlsx_part_close(&r.part);
	dtx_buf_clear(&r.texts);
	dtx_mem_free(r.cell);
	dtx_mem_free(r.span);
	return rc;
}
