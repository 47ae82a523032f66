/* What `inspect` shows of a workbook: its cells and its sheets. */
#include <math.h>

#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/data/cast/cast.h"
#include "core/data/frame/rawgrid.h"
#include "core/data/time/time.h"
#include "core/io/archive/zip.h"
#include "core/io/isolate/isolate.h"
#include "core/io/sheet/book_info.h"
#include "core/io/sheet/book_reader.h"
#include "core/io/sheet/sheet_layout.h"
#include "core/io/sheet/xls/biff.h"

/* Opens a workbook; another kind of file is not reported as a damaged workbook, whatever its
 * name. */
static enum dtx_code open_source(struct dtx_source *src, struct dtx_book **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const void *bytes = dtx_source_data(src);
	size_t len = dtx_source_size(src);

	if (!dtx_book_class_of(bytes, len))
		DTX_FAIL(err, DTX_E_UNSUPPORTED_FORMAT, "'%s' is not a workbook",
		         dtx_source_name(src));
	DTX_TRY(dtx_book_open(dtx_source_name(src), bytes, len, dtx_source_limits(src), out, err));
out:
	return rc;
}

/* --- cells --- */

struct walk {
	struct dtx_book *book;
	const struct dtx_sheet *sheet;
	struct dtx_grid grid;
	dtx_book_cell_fn fn;
	void *arg;
	size_t merge; /* the first merged range that begins at or below the row */
};

/* Returns the merged range that begins at this cell. Merged ranges and cells are both in order. */
static const struct dtx_cellrange *anchored(struct walk *w, uint32_t row, uint32_t col)
{
	const struct dtx_grid *g = &w->grid;

	while (w->merge < g->nmerges &&
	       (g->merge[w->merge].row0 < row ||
	        (g->merge[w->merge].row0 == row && g->merge[w->merge].col0 < col)))
		w->merge++;
	if (w->merge < g->nmerges && g->merge[w->merge].row0 == row &&
	    g->merge[w->merge].col0 == col)
		return &g->merge[w->merge];
	return NULL;
}

static json_t *date_value(const struct walk *w, unsigned kind, double serial)
{
	char text[40];
	int64_t us;

	if (!dtx_serial_to_us(serial, w->book->epoch1904, &us))
		return json_real(serial);
	if (kind == DTX_CELL_DATE)
		dtx_day_print(text, (int32_t)((us - (us < 0 ? DTX_DAY_US - 1 : 0)) / DTX_DAY_US));
	else
		dtx_datetime_print(text, us);
	return json_string(text);
}

/* Formats times and durations as in typed columns. */
static json_t *clock_value(uint8_t tag, union dtx_payload v)
{
	struct dtx_buf b = DTX_BUF_INIT(64);
	struct dtx_column c = { .form = DTX_F_CELL, .len = 1 };
	json_t *made;

	c.tag = &tag;
	c.v.payload = &v;
	dtx_cast_print(&c, 0, &b);
	made = json_string(dtx_buf_text(&b));
	dtx_buf_clear(&b);
	return made;
}

static json_t *number_value(double v)
{
	return floor(v) == v && fabs(v) < 9e15 ? json_integer((json_int_t)v) : json_real(v);
}

/* Gets kind and value. *value is NULL for an empty cell. */
static enum dtx_code cell_value(struct walk *w, uint64_t cell, const char **kind, json_t **value,
                                struct dtx_err *err)
{
	static const char *const kinds[16] = {
		[DTX_CELL_NUMBER] = "number",   [DTX_CELL_BOOL] = "bool",
		[DTX_CELL_ERROR] = "error",     [DTX_CELL_TEXT] = "text",
		[DTX_CELL_DATE] = "date",       [DTX_CELL_DATETIME] = "datetime",
		[DTX_CELL_TIME] = "time",       [DTX_CELL_DURATION] = "duration",
		[DTX_GRID_BAD_DATE] = "number", [DTX_CELL_WHOLE] = "number",
	};
	enum dtx_code rc = DTX_OK;
	uint8_t tag = dtx_grid_tag(&w->grid, cell);
	union dtx_payload v = dtx_grid_value(&w->grid, cell);
	struct dtx_str text;

	*kind = kinds[tag & DTX_CELL_KIND];
	*value = NULL;
	switch (tag & DTX_CELL_KIND) {
	case DTX_CELL_BLANK: goto out;
	case DTX_CELL_TEXT:
		DTX_TRY(dtx_book_cell_text(w->book, &w->grid, v.id, &text, err));
		if (!text.len)
			goto out;
		*value = json_stringn(text.ptr, text.len);
		break;
	case DTX_CELL_WHOLE: *value = json_integer((json_int_t)v.whole); break;
	case DTX_CELL_BOOL: *value = json_boolean(v.id != 0); break;
	case DTX_CELL_ERROR: *value = json_string(dtx_cell_error_name(v.id)); break;
	case DTX_CELL_DATE:
	case DTX_CELL_DATETIME: *value = date_value(w, tag & DTX_CELL_KIND, v.num); break;
	case DTX_CELL_TIME:
	case DTX_CELL_DURATION: *value = clock_value(tag, v); break;
	default: *value = number_value(v.num);
	}
	if (!*value)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code give_cell(struct walk *w, uint32_t row, uint64_t cell, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t col = dtx_grid_col(&w->grid, cell);
	const struct dtx_cellrange *m = anchored(w, row, col);
	uint16_t style = dtx_grid_style(&w->grid, cell);
	struct dtx_cell_info info = { .sheet = w->sheet->name, .format = "General" };
	char name[24], merged[48];

	DTX_TRY(cell_value(w, cell, &info.kind, &info.value, err));
	if (!info.value)
		goto out;
	dtx_cell_name(name, row, col);
	info.cell = name;
	info.formula = dtx_grid_tag(&w->grid, cell) & DTX_CELL_FORMULA;
	if (style < w->book->nstyles)
		info.format = w->book->style[style].code.ptr;
	if (m) {
		dtx_cell_range_name(merged, m);
		info.merged = merged;
	}
	DTX_TRY(w->fn(w->arg, &info, err));
out:
	json_decref(info.value);
	return rc;
}

static enum dtx_code give_sheet(struct walk *w, struct dtx_err *err)
{
	static const struct dtx_sheet_read whole = { 0 };
	enum dtx_code rc = DTX_OK;
	struct dtx_sheet_facts facts = { 0 };
	size_t r;
	uint64_t i;

	dtx_grid_init(&w->grid, w->book->label);
	w->grid.limits = w->book->limits;
	w->merge = 0;
	DTX_TRY(dtx_book_strings_need(w->book, UINT64_MAX, err));
	DTX_TRY(dtx_book_sheet(w->book, w->sheet, &whole, &w->grid, &facts, err));
	for (r = 0; r < w->grid.nrows; r++) {
		for (i = w->grid.row[r].first; i < w->grid.row[r + 1].first; i++)
			DTX_TRY(give_cell(w, w->grid.row[r].row, i, err));
	}
out:
	dtx_grid_clear(&w->grid);
	dtx_sheet_facts_clear(&facts);
	return rc;
}

enum dtx_code dtx_book_cells(struct dtx_source *src, const char *sheet, dtx_book_cell_fn fn,
                             void *arg, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_book *book = NULL;
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_sheet_pick pick = { .sheet = NULL };
	struct walk w = { .fn = fn, .arg = arg };
	uint32_t i;

	if (!dtx_source_direct(src))
		return dtx_isolated_cells(src, sheet, fn, arg, err);
	opts.sheet = sheet;
	DTX_TRY(open_source(src, &book, err));
	w.book = book;
	if (sheet)
		DTX_TRY(dtx_sheet_choose(book, &opts, NULL, NULL, &pick, err));
	for (i = 0; i < book->nsheets; i++) {
		w.sheet = &book->sheet[i];
		if (w.sheet->kind == DTX_SHEET_WORKSHEET && (!pick.sheet || pick.sheet == w.sheet))
			DTX_TRY(give_sheet(&w, err));
	}
out:
	dtx_book_close(book);
	return rc;
}

/* --- sheets --- */

static const char *const kind_name[] = { [DTX_SHEET_WORKSHEET] = "worksheet",
	                                 [DTX_SHEET_CHART] = "chart",
	                                 [DTX_SHEET_DIALOG] = "dialog",
	                                 [DTX_SHEET_MACRO] = "macro",
	                                 [DTX_SHEET_OTHER] = "other" };

/* Adds counts to `o`; for a sheet that cannot be read, adds the error instead. */
static bool count_sheet(struct dtx_book *book, const struct dtx_sheet *sheet, json_t *o)
{
	static const struct dtx_sheet_read whole = { 0 };
	struct dtx_sheet_facts facts = { 0 };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_cellrange used;
	struct dtx_grid g;
	char name[48] = "";
	bool ok;

	dtx_grid_init(&g, book->label);
	g.limits = book->limits;
	if (dtx_book_sheet(book, sheet, &whole, &g, &facts, &err) != DTX_OK) {
		ok = dtx_json_set(o, "error", json_string(err.msg));
	} else {
		if (g.ncells) {
			used = (struct dtx_cellrange){ g.row[0].row, g.row[g.nrows - 1].row,
				                       g.col_min,    g.col_max,
				                       false,        false };
			dtx_cell_range_name(name, &used);
		}
		ok = dtx_json_set(o, "dimension", json_string(name)) &&
		     dtx_json_set(o, "cells", json_integer((json_int_t)g.ncells)) &&
		     dtx_json_set(o, "rows", json_integer((json_int_t)g.nrows)) &&
		     dtx_json_set(o, "formulas", json_integer((json_int_t)facts.nformulas)) &&
		     dtx_json_set(o, "merges", json_integer((json_int_t)g.nmerges)) &&
		     dtx_json_set(o, "tables", json_integer((json_int_t)facts.ntables));
	}
	dtx_grid_clear(&g);
	dtx_sheet_facts_clear(&facts);
	dtx_err_clear(&err);
	return ok;
}

static json_t *sheet_info(struct dtx_book *book, const struct dtx_sheet *sheet)
{
	static const char *const visible[] = { "visible", "hidden", "very hidden" };
	json_t *o = json_object();
	bool ok = o && dtx_json_set(o, "name", json_string(sheet->name)) &&
	          dtx_json_set(o, "kind", json_string(kind_name[sheet->kind])) &&
	          dtx_json_set(o, "visible", json_string(visible[sheet->visible]));

	if (ok && sheet->kind == DTX_SHEET_WORKSHEET)
		ok = count_sheet(book, sheet, o);
	if (!ok) {
		json_decref(o);
		return NULL;
	}
	return o;
}

enum dtx_code dtx_book_sheets(struct dtx_source *src, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_book *book = NULL;
	json_t *list = NULL;
	uint32_t i;

	if (!dtx_source_direct(src))
		return dtx_isolated_sheets(src, out, err);
	list = json_array();
	if (!list)
		DTX_FAIL_MEM(err);
	DTX_TRY(open_source(src, &book, err));
	for (i = 0; i < book->nsheets; i++) {
		if (json_array_append_new(list, sheet_info(book, &book->sheet[i])))
			DTX_FAIL_MEM(err);
	}
	*out = list;
	list = NULL;
out:
	json_decref(list);
	dtx_book_close(book);
	return rc;
}

/* The raw cells of a worksheet for a snippet: at their places from A1 on, with nothing left out. */

struct raw_walk {
	struct dtx_book *book;
	struct dtx_grid grid;
	uint16_t *format; /* per style: its number in the raw grid, 0: not used yet */
	struct dtx_rawgrid *out;
};

static enum dtx_code raw_format(struct raw_walk *w, uint16_t style, uint16_t *out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool known = style < w->book->nstyles;
	uint16_t *slot = &w->format[known ? style : w->book->nstyles];

	if (!*slot)
		DTX_TRY(dtx_rawgrid_format(w->out,
		                           known ? w->book->style[style].code : DTX_STR("General"),
		                           slot, err));
	*out = *slot;
out:
	return rc;
}

/* Gets kind and value. Kind 0: an empty cell, a formula without its result, or a number that is
 * not finite. */
static enum dtx_code raw_value(struct raw_walk *w, uint64_t at, struct dtx_raw_cell *cell,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint8_t tag = dtx_grid_tag(&w->grid, at);
	union dtx_payload v = dtx_grid_value(&w->grid, at);
	char digits[DTX_NUM_TEXT];
	struct dtx_str text;

	switch (tag & DTX_CELL_KIND) {
	case DTX_CELL_BLANK: break;
	case DTX_CELL_TEXT:
	case DTX_CELL_ISO:
		DTX_TRY(dtx_book_cell_text(w->book, &w->grid, v.id, &text, err));
		cell->kind = text.len ? DTX_RAW_TEXT : 0;
		if (text.len)
			DTX_TRY(dtx_rawgrid_text(w->out, text, &cell->value.id, err));
		break;
	/* as text, because numbers of a snippet are floats and would lose digits */
	case DTX_CELL_WHOLE:
		cell->kind = DTX_RAW_TEXT;
		text = (struct dtx_str){ digits, dtx_num_print_i64(digits, v.whole) };
		DTX_TRY(dtx_rawgrid_text(w->out, text, &cell->value.id, err));
		break;
	case DTX_CELL_BOOL:
		cell->kind = DTX_RAW_BOOL;
		cell->value.id = v.id != 0;
		break;
	case DTX_CELL_ERROR:
		cell->kind = DTX_RAW_ERROR;
		DTX_TRY(dtx_rawgrid_text(w->out, dtx_str_of(dtx_cell_error_name(v.id)),
		                         &cell->value.id, err));
		break;
	case DTX_CELL_DATE:
	case DTX_CELL_DATETIME:
		if (dtx_serial_to_us(v.num, w->book->epoch1904, &cell->value.us)) {
			cell->kind = DTX_RAW_TIME;
			break;
		}
		/* a serial that is not a date is a number */
		cell->kind = isfinite(v.num) ? DTX_RAW_NUMBER : 0;
		cell->value.num = v.num;
		break;
	default: cell->kind = isfinite(v.num) ? DTX_RAW_NUMBER : 0; cell->value.num = v.num;
	}
out:
	return rc;
}

static enum dtx_code raw_cells(struct raw_walk *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_grid *g = &w->grid;
	size_t r;
	uint64_t i;

	for (r = 0; r < g->nrows; r++) {
		for (i = g->row[r].first; i < g->row[r + 1].first; i++) {
			struct dtx_raw_cell cell = { .row = g->row[r].row,
				                     .col = dtx_grid_col(g, i) };

			DTX_TRY(raw_value(w, i, &cell, err));
			if (!cell.kind)
				continue;
			DTX_TRY(raw_format(w, dtx_grid_style(g, i), &cell.format, err));
			DTX_TRY(dtx_rawgrid_add(w->out, &cell, err));
		}
	}
	/* a merged range may extend past the last cell */
	for (r = 0; r < g->nmerges; r++) {
		const struct dtx_cellrange *m = &g->merge[r];

		DTX_TRY(dtx_rawgrid_merge(
			w->out, (struct dtx_raw_range){ m->row0, m->col0, m->row1, m->col1 }, err));
	}
out:
	return rc;
}

enum dtx_code dtx_book_reader_raw(struct dtx_source *src, const struct dtx_read_opts *opts,
                                  struct dtx_rawgrid *out, struct dtx_err *err)
{
	static const struct dtx_sheet_read whole = { 0 };
	enum dtx_code rc = DTX_OK;
	struct raw_walk w = { .out = out };
	struct dtx_sheet_facts facts = { 0 };
	struct dtx_errlist diags = DTX_ERRLIST_INIT;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_sheet_pick pick;

	dtx_grid_init(&w.grid, dtx_source_name(src));
	w.grid.limits = *dtx_source_limits(src);
	DTX_TRY(dtx_book_open(dtx_source_name(src), dtx_source_data(src), dtx_source_size(src),
	                      dtx_source_limits(src), &w.book, err));
	DTX_TRY(dtx_sheet_choose(w.book, opts, &arena, &diags, &pick, err));
	w.format = dtx_mem_zalloc((size_t)w.book->nstyles + 1, sizeof(*w.format));
	if (!w.format)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_book_strings_need(w.book, UINT64_MAX, err));
	DTX_TRY(dtx_book_sheet(w.book, pick.sheet, &whole, &w.grid, &facts, err));
	DTX_TRY(dtx_rawgrid_sheet(out, pick.sheet->name, err));
	DTX_TRY(raw_cells(&w, err));
out:
	dtx_grid_clear(&w.grid);
	dtx_sheet_facts_clear(&facts);
	dtx_errlist_clear(&diags);
	dtx_arena_clear(&arena);
	dtx_mem_free(w.format);
	dtx_book_close(w.book);
	return rc;
}
