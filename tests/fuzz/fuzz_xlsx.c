/* The first byte says what the rest is: 'z' a whole archive, 's' a sheet's XML, 't' shared strings,
 * 'f' styles, 'w' attributes of the workbook.  Whatever it is, the fast path and the strict
 * tokenizer must read the same cells. */
#include <stdlib.h>

#include "core/io/sheet/book_info.h"
#include "core/io/sheet/xlsx/xlsx.h"
#include "tests/unit/bookmake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum dtx_code on_cell(void *arg, const struct dtx_cell_info *cell, struct dtx_err *err)
{
	(void)err;
	*(size_t *)arg += cell->value != NULL;
	return DTX_OK;
}

static void same_grids(const struct dtx_grid *a, const struct dtx_grid *b)
{
	uint64_t i;

	if (a->ncells != b->ncells || a->nrows != b->nrows || a->nmerges != b->nmerges ||
	    a->texts.n != b->texts.n)
		abort();
	for (i = 0; i < a->ncells; i++) {
		union dtx_payload x = dtx_grid_value(a, i), y = dtx_grid_value(b, i);

		if (dtx_grid_tag(a, i) != dtx_grid_tag(b, i) ||
		    dtx_grid_col(a, i) != dtx_grid_col(b, i) ||
		    dtx_grid_style(a, i) != dtx_grid_style(b, i) || x.id != y.id)
			abort();
	}
	for (i = 0; i < a->texts.n; i++) {
		if (!dtx_str_eq(dtx_grid_text(a, i), dtx_grid_text(b, i)))
			abort();
	}
}

/* Both ways to read every sheet. */
static void both_paths(const struct dtx_buf *bytes)
{
	static const struct dtx_sheet_read fast = { 0 }, slow = { .slow = true };
	struct dtx_xlsx book = { 0 };
	struct dtx_sheet_facts fa = { 0 }, fb = { 0 };
	struct dtx_grid a, b;
	uint32_t i;

	if (dtx_xlsx_open(&book, "f.xlsx", bytes->ptr, bytes->len, &dtx_archive_limits_default,
	                  NULL) != DTX_OK)
		goto out;
	for (i = 0; i < book.head.nsheets && i < 4; i++) {
		enum dtx_code ra, rb;

		dtx_grid_init(&a, "f");
		dtx_grid_init(&b, "f");
		ra = dtx_xlsx_sheet_read(&book.head, &book.head.sheet[i], &fast, &a, &fa, NULL);
		rb = dtx_xlsx_sheet_read(&book.head, &book.head.sheet[i], &slow, &b, &fb, NULL);
		if (ra != rb)
			abort();
		if (ra == DTX_OK)
			same_grids(&a, &b);
		dtx_grid_clear(&a);
		dtx_grid_clear(&b);
		dtx_sheet_facts_clear(&fa);
		dtx_sheet_facts_clear(&fb);
	}
out:
	dtx_xlsx_clear(&book);
}

/* A sheet that is held and one that is read twice, some cells at a time, give the same table. */
static void held_and_streamed(const struct dtx_buf *bytes, uint32_t cells)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf a = DTX_BUF_INIT((size_t)1 << 22), b = DTX_BUF_INIT((size_t)1 << 22);
	enum dtx_code ra, rb;

	opts.format = "xlsx";
	opts.header_rows = 1;
	ra = bytes_dump("f.xlsx", bytes, &opts, 0, true, &a, NULL);
	opts.hold_cells = cells;
	rb = bytes_dump("f.xlsx", bytes, &opts, 2, true, &b, NULL);
	if ((ra == DTX_OK) != (rb == DTX_OK) || rb == DTX_E_BUG || rb == DTX_E_INPUT_CHANGED)
		abort();
	if (ra == DTX_OK && (!dtx_buf_ok(&a) || strcmp(dtx_buf_text(&a), dtx_buf_text(&b)) != 0))
		abort();
	dtx_buf_clear(&a);
	dtx_buf_clear(&b);
}

static void whole(const struct dtx_buf *bytes)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf out = DTX_BUF_INIT((size_t)1 << 22);
	struct dtx_source *src = NULL;
	struct dtx_err err = DTX_ERR_INIT;
	size_t cells = 0;
	json_t *sheets = NULL;
	char id[64];

	if (dtx_source_bytes("f.xlsx", bytes->ptr, bytes->len, &src, NULL) != DTX_OK)
		return;
	if (dtx_book_cells(src, NULL, on_cell, &cells, NULL) == DTX_OK &&
	    dtx_book_sheets(src, &sheets, NULL) != DTX_OK)
		abort();
	if (dtx_xlsx_run_id(src, id, NULL) == DTX_E_BUG)
		abort();
	json_decref(sheets);
	if (cells && cells < 2000) {
		held_and_streamed(bytes, 2);
		held_and_streamed(bytes, 40); /* rows that line up */
	}
	dtx_source_free(src);
	for (opts.header_rows = -1; opts.header_rows < 2; opts.header_rows++) {
		opts.format = "xlsx";
		/* Wide far corners would be printed for minutes: the reader is fine with them. */
		if (cells && cells < 2000 &&
		    bytes_dump("f.xlsx", bytes, &opts, 3, false, &out, &err) == DTX_E_BUG)
			abort();
		dtx_buf_reset(&out);
		dtx_err_clear(&err);
	}
	dtx_buf_clear(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 24);
	struct book book = {
		.sheet = "<sheetData><row><c t=\"s\" s=\"1\"><v>0</v></c><c s=\"2\">"
			 "<v>45292.5</v></c><c s=\"3\"><v>7</v></c></row></sheetData>"
	};
	char *text;

	if (!size)
		return 0;
	text = calloc(size, 1);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	if (data[0] == 'z')
		dtx_buf_addn(&bytes, data + 1, size - 1);
	if (data[0] == 's')
		book.sheet = text;
	if (data[0] == 't')
		book.strings = text;
	if (data[0] == 'f')
		book.styles = text;
	if (data[0] == 'w' && size < 2000)
		book.workbook_pr = text;
	if (data[0] != 'z')
		book_make(&book, &bytes);
	both_paths(&bytes);
	whole(&bytes);
	dtx_buf_clear(&bytes);
	free(text);
	return 0;
}
