/* The first byte says what the rest is: 'c' a whole file, 'g' records of the globals, 's' those of
 * a sheet, 't' what shared texts are made of, cut into records by its own bytes. */
#include <stdlib.h>

#include "core/io/sheet/book_info.h"
#include "tests/unit/biffmake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum dtx_code on_cell(void *arg, const struct dtx_cell_info *cell, struct dtx_err *err)
{
	(void)err;
	*(size_t *)arg += cell->value != NULL;
	return DTX_OK;
}

static void whole(const struct dtx_buf *bytes)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_buf out = DTX_BUF_INIT((size_t)1 << 22);
	struct dtx_source *src = NULL;
	struct dtx_err err = DTX_ERR_INIT;
	size_t cells = 0;
	json_t *sheets = NULL;

	if (dtx_source_bytes("f.xls", bytes->ptr, bytes->len, &src, NULL) != DTX_OK)
		return;
	if (dtx_book_cells(src, NULL, on_cell, &cells, NULL) == DTX_OK &&
	    dtx_book_sheets(src, &sheets, NULL) != DTX_OK)
		abort();
	json_decref(sheets);
	dtx_source_free(src);
	opts.header_rows = (int)(bytes->len % 3) - 1;
	opts.format = "xls";
	/* Wide far corners would be printed for minutes: the reader is fine with them. */
	if (cells && cells < 2000 &&
	    bytes_dump("f.xls", bytes, &opts, 3, false, &out, &err) == DTX_E_BUG)
		abort();
	dtx_err_clear(&err);
	dtx_buf_clear(&out);
}

/* Records SST and CONTINUE of as many bytes as the first byte of each piece says. */
static void put_texts(struct dtx_buf *b, const uint8_t *data, size_t size)
{
	unsigned type = DTX_BIFF_SST;

	while (size > 1) {
		size_t n = DTX_MIN((size_t)data[0], size - 1), lead = type == DTX_BIFF_SST ? 8 : 0;

		zip_le(b, type, 2);
		zip_le(b, n + lead, 2);
		zip_le(b, 0, (int)lead);
		dtx_buf_addn(b, data + 1, n);
		data += n + 1;
		size -= n + 1;
		type = DTX_BIFF_CONTINUE;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 24);
	struct biff_book book = BIFF_BOOK_INIT;
	int i;

	if (!size || size > 1 << 20)
		return 0;
	for (i = 0; i < 4; i++)
		biff_rec(&book.cells, DTX_BIFF_LABELSST, "wwwl", i, i % 2, i, (unsigned)i);
	if (data[0] == 'g' || data[0] == '5')
		dtx_buf_addn(&book.globals, data + 1, size - 1);
	if (data[0] == 's')
		dtx_buf_addn(&book.cells, data + 1, size - 1);
	if (data[0] == 't')
		put_texts(&book.globals, data + 1, size - 1);
	book.biff5 = data[0] == '5';
	if (data[0] == 'c')
		dtx_buf_addn(&bytes, data + 1, size - 1);
	else
		biff_make(&book, &bytes);
	whole(&bytes);
	biff_book_clear(&book);
	dtx_buf_clear(&bytes);
	return 0;
}
