/* The common part of the reader classes for workbooks: all functions of the vtable but sniff and
 * open. */
#ifndef DTX_IO_SHEET_BOOK_READER_H
#define DTX_IO_SHEET_BOOK_READER_H

#include "core/io/sheet/book.h"
#include "core/io/reader.h"

DTX_MUSTUSE enum dtx_code dtx_book_reader_open(const struct dtx_book_class *cls,
                                               struct dtx_source *src,
                                               const struct dtx_read_opts *opts,
                                               struct dtx_reader **out, struct dtx_err *err);
enum dtx_code dtx_book_reader_schema(struct dtx_reader *reader, const struct dtx_schema **out,
                                     struct dtx_err *err);
enum dtx_code dtx_book_reader_start(struct dtx_reader *reader, const struct dtx_scan *scan,
                                    struct dtx_err *err);
enum dtx_code dtx_book_reader_next(struct dtx_reader *reader, unsigned worker,
                                   struct dtx_batch **out, struct dtx_err *err);
enum dtx_code dtx_book_reader_raw(struct dtx_source *src, const struct dtx_read_opts *opts,
                                  struct dtx_rawgrid *out, struct dtx_err *err);
json_t *dtx_book_reader_describe(struct dtx_reader *reader);
void dtx_book_reader_close(struct dtx_reader *reader);

/* The members of an input that all workbooks use, see `uses` of a reader class. */
#define DTX_BOOK_USES "sheet,table,hidden,merged,bad_cells,range,skip,skip_tail,names"
/* The members of a reader class that all workbooks share. */
#define DTX_BOOK_READER_HOOKS                                                                      \
	.what = "a workbook", .isolated = true, .schema = dtx_book_reader_schema,                  \
	.start = dtx_book_reader_start, .next = dtx_book_reader_next,                              \
	.describe = dtx_book_reader_describe, .close = dtx_book_reader_close,                      \
	.raw = dtx_book_reader_raw

#endif
