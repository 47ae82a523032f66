/* Any bytes as the tables of an .ods workbook: cells or an error, never a fault. */
#include <stdlib.h>

#include "core/io/sheet/book_info.h"
#include "tests/unit/odsmake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum dtx_code on_cell(void *arg, const struct dtx_cell_info *cell, struct dtx_err *err)
{
	(void)err;
	*(size_t *)arg += cell->value != NULL;
	return DTX_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_archive_limits limits = dtx_archive_limits_default;
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 24), out = DTX_BUF_INIT((size_t)1 << 22);
	struct dtx_source *src = NULL;
	char *text = calloc(size + 1, 1);
	size_t cells = 0;

	if (!text)
		return 0;
	memcpy(text, data, size);
	ods_make(text, NULL, &bytes);
	free(text);
	limits.cells = 20000; /* a cell may stand for as many as a sheet has */
	opts.format = "ods";
	if (dtx_source_bytes("f.ods", bytes.ptr, bytes.len, &src, NULL) == DTX_OK) {
		dtx_source_limit(src, &limits);
		if (dtx_book_cells(src, NULL, on_cell, &cells, NULL) == DTX_E_BUG)
			abort();
		if (cells && cells < 2000 &&
		    bytes_dump("f.ods", &bytes, &opts, 3, false, &out, NULL) == DTX_E_BUG)
			abort();
	}
	dtx_source_free(src);
	dtx_buf_clear(&bytes);
	dtx_buf_clear(&out);
	return 0;
}
