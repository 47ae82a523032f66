/* What `inspect` and provenance ask of a workbook: its cells, its sheets, its stamp. */
#include <math.h>

#include "core/base/mem.h"
#include "core/data/cast.h"
#include "core/data/time.h"
#include "core/io/read_xlsx.h"
#include "core/io/xlsx_layout.h"

static enum dtx_code open_source(struct dtx_xlsx *book, struct dtx_source *src, struct dtx_err *err)
{
	return dtx_xlsx_open(book, dtx_source_name(src), dtx_source_data(src), dtx_source_size(src),
	                     err);
}

/* --- cells --- */

typedef enum dtx_code (*cell_fn)(void *arg, const struct dtx_xlsx_cell_info *cell,
                                 struct dtx_err *err);
struct walk {
	struct dtx_xlsx *book;
	const struct dtx_xlsx_sheet *sheet;
	struct dtx_grid grid;
	cell_fn fn;
	void *arg;
	size_t merge; /* first merged range that begins at or below the row */
};

/* The merged range whose first cell this is; merges are in order, and so are the cells. */
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

/* Times and durations as the typed columns print them. */
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

/* Kind and value; *value NULL with DTX_OK: the cell is empty. */
static enum dtx_code cell_value(struct walk *w, uint64_t cell, const char **kind, json_t **value,
                                struct dtx_err *err)
{
	static const char *const kinds[16] = {
		[DTX_CELL_NUMBER] = "number",   [DTX_CELL_BOOL] = "bool",
		[DTX_CELL_ERROR] = "error",     [DTX_CELL_TEXT] = "text",
		[DTX_CELL_DATE] = "date",       [DTX_CELL_DATETIME] = "datetime",
		[DTX_CELL_TIME] = "time",       [DTX_CELL_DURATION] = "duration",
		[DTX_GRID_BAD_DATE] = "number",
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
		DTX_TRY(dtx_xlsx_cell_text(w->book, &w->grid, v.id, &text, err));
		if (!text.len)
			goto out;
		*value = json_stringn(text.ptr, text.len);
		break;
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
	struct dtx_xlsx_cell_info info = { .sheet = w->sheet->name, .format = "General" };
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
	static const struct dtx_xlsx_read whole = { 0 };
	enum dtx_code rc = DTX_OK;
	struct dtx_xlsx_facts facts = { 0 };
	size_t r;
	uint64_t i;

	dtx_grid_init(&w->grid, w->book->label);
	w->merge = 0;
	DTX_TRY(dtx_xlsx_sheet_read(w->book, w->sheet, &whole, &w->grid, &facts, err));
	for (r = 0; r < w->grid.nrows; r++) {
		for (i = w->grid.row[r].first; i < w->grid.row[r + 1].first; i++)
			DTX_TRY(give_cell(w, w->grid.row[r].row, i, err));
	}
out:
	dtx_grid_clear(&w->grid);
	dtx_xlsx_facts_clear(&facts);
	return rc;
}

enum dtx_code dtx_xlsx_cells(struct dtx_source *src, const char *sheet, cell_fn fn, void *arg,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xlsx book = { 0 };
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	const struct dtx_xlsx_sheet *only = NULL;
	struct walk w = { .book = &book, .fn = fn, .arg = arg };
	struct dtx_str range;
	uint32_t i;

	opts.sheet = sheet;
	DTX_TRY(open_source(&book, src, err));
	if (sheet)
		DTX_TRY(dtx_xlsx_choose(&book, &opts, NULL, NULL, &only, &range, err));
	for (i = 0; i < book.nsheets; i++) {
		w.sheet = &book.sheet[i];
		if (w.sheet->kind == DTX_XLSX_WORKSHEET && (!only || only == w.sheet))
			DTX_TRY(give_sheet(&w, err));
	}
out:
	dtx_xlsx_clear(&book);
	return rc;
}

/* --- sheets --- */

static const char *const kind_name[] = { [DTX_XLSX_WORKSHEET] = "worksheet",
	                                 [DTX_XLSX_CHART] = "chart",
	                                 [DTX_XLSX_DIALOG] = "dialog",
	                                 [DTX_XLSX_MACRO] = "macro",
	                                 [DTX_XLSX_OTHER] = "other" };

/* Counts into `o`; a sheet that cannot be read says why instead. */
static bool count_sheet(struct dtx_xlsx *book, const struct dtx_xlsx_sheet *sheet, json_t *o)
{
	static const struct dtx_xlsx_read whole = { 0 };
	struct dtx_xlsx_facts facts = { 0 };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_cellrange used;
	struct dtx_grid g;
	char name[48] = "";
	bool ok;

	dtx_grid_init(&g, book->label);
	if (dtx_xlsx_sheet_read(book, sheet, &whole, &g, &facts, &err) != DTX_OK) {
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
	dtx_xlsx_facts_clear(&facts);
	dtx_err_clear(&err);
	return ok;
}

static json_t *sheet_info(struct dtx_xlsx *book, const struct dtx_xlsx_sheet *sheet)
{
	static const char *const visible[] = { "visible", "hidden", "very hidden" };
	json_t *o = json_object();
	bool ok = o && dtx_json_set(o, "name", json_string(sheet->name)) &&
	          dtx_json_set(o, "kind", json_string(kind_name[sheet->kind])) &&
	          dtx_json_set(o, "visible", json_string(visible[sheet->visible]));

	if (ok && sheet->kind == DTX_XLSX_WORKSHEET)
		ok = count_sheet(book, sheet, o);
	if (!ok) {
		json_decref(o);
		return NULL;
	}
	return o;
}

enum dtx_code dtx_xlsx_sheets(struct dtx_source *src, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xlsx book = { 0 };
	json_t *list = json_array();
	uint32_t i;

	if (!list)
		DTX_FAIL_MEM(err);
	DTX_TRY(open_source(&book, src, err));
	for (i = 0; i < book.nsheets; i++) {
		if (json_array_append_new(list, sheet_info(&book, &book.sheet[i])))
			DTX_FAIL_MEM(err);
	}
	*out = list;
	list = NULL;
out:
	json_decref(list);
	dtx_xlsx_clear(&book);
	return rc;
}

/* --- stamp --- */

/* The text of custom property dtx_run into `out`. */
static enum dtx_code find_stamp(struct dtx_xml *x, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool inside = false;

	do {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind != DTX_XML_START)
			continue;
		if (dtx_xml_is(x, "property"))
			inside = dtx_str_is(dtx_xml_attr(x, "name"), "dtx_run");
		else if (inside && dtx_xml_is(x, "lpwstr")) {
			DTX_TRY(dtx_xml_text(x, out, err));
			goto out;
		}
	} while (x->kind != DTX_XML_EOF);
out:
	return rc;
}

enum dtx_code dtx_xlsx_run_id(struct dtx_source *src, char out[64], struct dtx_err *err)
{
	static const struct dtx_zip_limits limits = DTX_ZIP_LIMITS;
	enum dtx_code rc = DTX_OK;
	struct dtx_xlsx book = { .label = dtx_source_name(src) };
	struct dtx_xlsx_part part = { .xml = DTX_XML_INIT };
	struct dtx_buf text = DTX_BUF_INIT(4096);
	const struct dtx_zip_entry *e;

	out[0] = '\0';
	if (!dtx_zip_sniff(dtx_source_data(src), dtx_source_size(src)))
		goto out;
	DTX_TRY(dtx_zip_open(&book.zip, book.label, dtx_source_data(src), dtx_source_size(src),
	                     &limits, err));
	e = dtx_zip_find(&book.zip, DTX_STR("docProps/custom.xml"));
	if (!e)
		goto out;
	DTX_TRY(dtx_xlsx_part_open(&book, e, &part, err));
	DTX_TRY(find_stamp(&part.xml, &text, err));
	dtx_str_copy(out, 64, (struct dtx_str){ dtx_buf_text(&text), text.len });
out:
	dtx_buf_clear(&text);
	dtx_xlsx_part_close(&part);
	dtx_xlsx_clear(&book);
	return rc;
}
