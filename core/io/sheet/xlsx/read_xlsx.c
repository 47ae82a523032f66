/* The reader class for .xlsx workbooks. */
#include "core/base/memory/mem.h"
#include "core/io/sheet/book_reader.h"
#include "core/io/sheet/xlsx/xlsx.h"

static enum dtx_code book_open(const char *label, const void *bytes, size_t len,
                               const struct dtx_archive_limits *limits, struct dtx_book **out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xlsx *book = dtx_mem_zalloc(1, sizeof(*book));

	if (!book)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_xlsx_open(book, label, bytes, len, limits, err));
	*out = &book->head;
	book = NULL;
out:
	if (book)
		dtx_xlsx_clear(book);
	dtx_mem_free(book);
	return rc;
}

static void book_close(struct dtx_book *book)
{
	dtx_xlsx_clear((struct dtx_xlsx *)book);
	dtx_mem_free(book);
}

const struct dtx_book_class dtx_book_xlsx = {
	.name = "xlsx",
	.open = book_open,
	.sheet = dtx_xlsx_sheet_read,
	.strings = dtx_xlsx_strings_need,
	.tables = dtx_xlsx_tables_read,
	.close = book_close,
	.rows = &dtx_xlsx_rows,
};

static int xlsx_sniff(const void *head, size_t len, const char *path)
{
	(void)path;
	return dtx_zip_sniff(head, len) ? DTX_SNIFF_SURE : 0;
}

static enum dtx_code xlsx_open(struct dtx_source *src, const struct dtx_read_opts *opts,
                               struct dtx_reader **out, struct dtx_err *err)
{
	return dtx_book_reader_open(&dtx_book_xlsx, src, opts, out, err);
}

const struct dtx_reader_class dtx_read_xlsx = {
	.name = "xlsx",
	.formats = "xlsx",
	.suffixes = "xlsx,xlsm,xltx,xltm",
	.uses = DTX_BOOK_USES,
	.book = &dtx_book_xlsx,
	.sniff = xlsx_sniff,
	.embedded = dtx_zip_behind, /* a program that unpacks it, a stray line */
	.open = xlsx_open,
	DTX_BOOK_READER_HOOKS,
};
