/* Prints all cells of a workbook, see celldump.h. Output is written in blocks, so that a large
 * workbook does not collect in memory. */
#include "cli/suggest/celldump.h"

#include <unistd.h>

#include "cli/out.h"
#include "core/base/file.h"
#include "core/io/sheet/book_info.h"

#define CELLS_BLOCK ((size_t)1 << 20)

static enum dtx_code cells_flush(struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_buf_check(out, "the cells", err));
	DTX_TRY(dtx_file_write(STDOUT_FILENO, out->ptr, out->len, "stdout", err));
	dtx_buf_reset(out);
out:
	return rc;
}

static void cells_text(struct dtx_buf *out, const char *key, const char *text)
{
	dtx_buf_printf(out, ",\"%s\":", key);
	if (text)
		dtx_buf_json(out, dtx_str_of(text));
	else
		dtx_buf_add(out, "null");
}

static enum dtx_code cells_line(void *arg, const struct dtx_cell_info *cell, struct dtx_err *err)
{
	struct dtx_buf *out = arg;

	dtx_buf_add(out, "{\"sheet\":");
	dtx_buf_json(out, dtx_str_of(cell->sheet));
	cells_text(out, "cell", cell->cell);
	cells_text(out, "kind", cell->kind);
	dtx_buf_add(out, ",\"value\":");
	dtx_json_print(cell->value, 0, out);
	dtx_buf_printf(out, ",\"formula\":%s", cell->formula ? "true" : "false");
	cells_text(out, "format", cell->format);
	cells_text(out, "merged", cell->merged);
	dtx_buf_add(out, "}\n");
	return out->len < CELLS_BLOCK ? DTX_OK : cells_flush(out, err);
}

int dtx_cells_main(const struct dtx_cli *cli, const char *path, const char *sheet)
{
	struct dtx_buf out = DTX_BUF_INIT((size_t)1 << 30);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *src = NULL;
	enum dtx_code rc = DTX_OK;
	int status;

	DTX_TRY(dtx_source_open(path, &src, &err));
	DTX_TRY(dtx_book_cells(src, sheet, cells_line, &out, &err));
out:
	err.run_time = true;
	status = rc == DTX_OK ? dtx_out_print(cli, &out) : dtx_out_fail(cli, &err);
	dtx_source_free(src);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	return status;
}
