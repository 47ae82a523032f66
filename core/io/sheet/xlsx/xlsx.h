/* The reader of .xlsx: container, parts, styles, strings and sheets. Private to the reader of
 * workbooks. One thread. Source: ECMA-376 part 1 (SpreadsheetML). */
#ifndef DTX_IO_SHEET_XLSX_XLSX_H
#define DTX_IO_SHEET_XLSX_XLSX_H

#include "core/io/source/read_ahead.h"
#include "core/io/sheet/book.h"
#include "core/io/source/source.h"
#include "core/io/archive/xml.h"
#include "core/io/archive/zip.h"

enum {
	DTX_XLSX_AHEAD_BYTES = 4 << 20, /* larger parts are unpacked ahead, on another thread */
	DTX_XLSX_RELS_MAX = 20000
};
/* Shared strings, read as far as they are needed; they are stored in the head. */
struct dtx_xlsx_strings {
	struct dtx_xml xml;
	struct dtx_unzip *stream; /* NULL: nothing (more) to read */
	struct dtx_buf text;      /* for one string */
};

struct dtx_xlsx {
	struct dtx_book head;
	struct dtx_zip zip;
	struct dtx_xlsx_strings strings;
};

/* Opens a workbook: container, sheets, names, styles. Shared strings are only located. The
 * caller zeroes `book` and clears it, also after a failure. Error: unsupported_format for other
 * ZIP files, and those of zip.h and xml.h. */
DTX_MUSTUSE enum dtx_code dtx_xlsx_open(struct dtx_xlsx *book, const char *label, const void *bytes,
                                        size_t len, const struct dtx_archive_limits *limits,
                                        struct dtx_err *err);
void dtx_xlsx_clear(struct dtx_xlsx *book);

/* --- parts --- */
struct dtx_xlsx_part {
	struct dtx_xml xml;
	struct dtx_unzip *stream;
	struct dtx_read_ahead *ahead; /* unpacks large parts on its own thread; NULL: none */
};
/* Opens the tokens of a part; close may be called after a failed open. */
DTX_MUSTUSE enum dtx_code dtx_xlsx_part_open(struct dtx_xlsx *book, const struct dtx_zip_entry *e,
                                             struct dtx_xlsx_part *part, struct dtx_err *err);
void dtx_xlsx_part_close(struct dtx_xlsx_part *part);
/* One relationship of a part. */
struct dtx_xlsx_rel {
	struct dtx_str id, type;            /* type: the part after the last '/' */
	const struct dtx_zip_entry *target; /* NULL: external or missing */
};
typedef enum dtx_code (*dtx_xlsx_rel_fn)(void *arg, const struct dtx_xlsx_rel *rel,
                                         struct dtx_err *err);
/* Calls fn for each relationship of the part `owner` ("" for the package). */
DTX_MUSTUSE enum dtx_code dtx_xlsx_rels(struct dtx_xlsx *book, struct dtx_str owner,
                                        dtx_xlsx_rel_fn fn, void *arg, struct dtx_err *err);

/* Reads xl/styles.xml into the styles of the head. */
DTX_MUSTUSE enum dtx_code dtx_xlsx_styles_read(struct dtx_xlsx *book, const struct dtx_zip_entry *e,
                                               struct dtx_err *err);
/* Remembers the part, which is read when it is needed. */
DTX_MUSTUSE enum dtx_code dtx_xlsx_strings_open(struct dtx_xlsx *book,
                                                const struct dtx_zip_entry *e, struct dtx_err *err);
/* Makes string `id` available if it exists (UINT64_MAX: all). */
DTX_MUSTUSE enum dtx_code dtx_xlsx_strings_need(struct dtx_book *book, uint64_t id,
                                                struct dtx_err *err);
/* The text of <si> or <is>, after its START: formatting runs are joined, phonetic text is left
 * out, and _xHHHH_ is decoded. Replaces `out`. */
DTX_MUSTUSE enum dtx_code dtx_xlsx_text(struct dtx_xml *x, struct dtx_buf *out,
                                        struct dtx_err *err);
/* Decodes _xHHHH_ in place, from byte `from` on. */
void dtx_xlsx_undo_escapes(struct dtx_buf *b, size_t from);

/* Reads the tables of all worksheets into the head. */
DTX_MUSTUSE enum dtx_code dtx_xlsx_tables_read(struct dtx_book *book, struct dtx_err *err);

/* --- sheets --- */
DTX_MUSTUSE enum dtx_code dtx_xlsx_sheet_read(struct dtx_book *book, const struct dtx_sheet *sheet,
                                              const struct dtx_sheet_read *how,
                                              struct dtx_grid *grid, struct dtx_sheet_facts *facts,
                                              struct dtx_err *err);
extern const struct dtx_sheet_rows_class dtx_xlsx_rows;

/* Whether each part of the package in the file ends as it begins. Errors: no_memory, output_io. */
DTX_MUSTUSE enum dtx_code dtx_xlsx_whole(int fd, bool *whole, struct dtx_err *err);

#endif
