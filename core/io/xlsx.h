/* Inside the workbook reader: container, parts, styles, strings and sheets.  One thread. */
#ifndef DTX_IO_XLSX_H
#define DTX_IO_XLSX_H

#include "core/data/schema.h"
#include "core/io/ahead.h"
#include "core/io/grid.h"
#include "core/io/source.h"
#include "core/io/xlsx_fmt.h"
#include "core/io/xml.h"
#include "core/io/zip.h"

enum {
	DTX_XLSX_SHEETS_MAX = 4096,
	DTX_XLSX_STYLES_MAX = 65536,
	DTX_XLSX_NAMES_MAX = 65536,
	DTX_XLSX_TEXT_MAX = 1 << 20,    /* bytes of one cell's text */
	DTX_XLSX_AHEAD_BYTES = 4 << 20, /* larger parts are inflated ahead */
	DTX_XLSX_RELS_MAX = 20000,
	DTX_XLSX_STRINGS_MAX = 64 * 1000 * 1000
};
#define DTX_XLSX_STRING_BYTES_MAX ((uint64_t)2 << 30)

enum dtx_xlsx_kind {
	DTX_XLSX_WORKSHEET,
	DTX_XLSX_CHART,
	DTX_XLSX_DIALOG,
	DTX_XLSX_MACRO,
	DTX_XLSX_OTHER
};
enum dtx_xlsx_visible { DTX_XLSX_VISIBLE, DTX_XLSX_HIDDEN, DTX_XLSX_VERY_HIDDEN };
struct dtx_xlsx_sheet {
	const char *name;
	const struct dtx_zip_entry *part; /* NULL: missing */
	enum dtx_xlsx_kind kind;
	enum dtx_xlsx_visible visible;
};
struct dtx_xlsx_name {           /* a defined name */
	const char *name, *text; /* "Data", "FY24!$A$3:$F$200" */
	int32_t sheet;           /* its scope, -1: the workbook */
};
struct dtx_xlsx_style {
	struct dtx_str code;
	enum dtx_fmt_class cls;
};

/* Shared strings, read as far as they are asked for. */
struct dtx_xlsx_strings {
	struct dtx_xml xml;
	struct dtx_unzip *stream; /* NULL: nothing (more) to read */
	struct dtx_buf text;      /* scratch of one string */
	struct dtx_arena arena;
	struct dtx_str *item;
	size_t n, cap;
	uint64_t bytes;
};

struct dtx_xlsx {
	struct dtx_zip zip;
	struct dtx_arena arena;
	const char *label;
	bool epoch1904;
	struct dtx_xlsx_sheet *sheet;
	uint32_t nsheets;
	struct dtx_xlsx_name *name;
	uint32_t nnames;
	struct dtx_xlsx_style *style; /* by cellXfs index */
	uint32_t nstyles;
	struct dtx_xlsx_strings strings;
};

/* Opens a workbook: container, sheets, names, styles; shared strings are only located.  `book` is
 * zeroed by the caller and cleared in any case.  unsupported_format for other ZIPs. */
DTX_MUSTUSE enum dtx_code dtx_xlsx_open(struct dtx_xlsx *book, const char *label, const void *bytes,
                                        size_t len, struct dtx_err *err);
void dtx_xlsx_clear(struct dtx_xlsx *book);

/* --- parts --- */
struct dtx_xlsx_part {
	struct dtx_xml xml;
	struct dtx_unzip *stream;
	struct dtx_ahead *ahead; /* inflates large parts on a thread of its own; NULL */
};
/* Opens a part's tokens; close is fine after a failed open. */
DTX_MUSTUSE enum dtx_code dtx_xlsx_part_open(struct dtx_xlsx *book, const struct dtx_zip_entry *e,
                                             struct dtx_xlsx_part *part, struct dtx_err *err);
void dtx_xlsx_part_close(struct dtx_xlsx_part *part);
/* One relationship of a part. */
struct dtx_xlsx_rel {
	struct dtx_str id, type;            /* type: behind the last '/' */
	const struct dtx_zip_entry *target; /* NULL: external or missing */
};
typedef enum dtx_code (*dtx_xlsx_rel_fn)(void *arg, const struct dtx_xlsx_rel *rel,
                                         struct dtx_err *err);
/* Calls fn for every relationship of the part `owner` ("" for the package). */
DTX_MUSTUSE enum dtx_code dtx_xlsx_rels(struct dtx_xlsx *book, struct dtx_str owner,
                                        dtx_xlsx_rel_fn fn, void *arg, struct dtx_err *err);

/* xl/styles.xml into book->style. */
DTX_MUSTUSE enum dtx_code dtx_xlsx_styles_read(struct dtx_xlsx *book, const struct dtx_zip_entry *e,
                                               struct dtx_err *err);
/* Remembers the part; reading comes on need. */
DTX_MUSTUSE enum dtx_code dtx_xlsx_strings_open(struct dtx_xlsx *book,
                                                const struct dtx_zip_entry *e, struct dtx_err *err);
/* Makes string `id` available if it exists (UINT64_MAX: all). */
DTX_MUSTUSE enum dtx_code dtx_xlsx_strings_need(struct dtx_xlsx *book, uint64_t id,
                                                struct dtx_err *err);
/* Text of <si> or <is> whose START was just given: runs joined, phonetic text left out, _xHHHH_
 * undone; replaces `out`. */
DTX_MUSTUSE enum dtx_code dtx_xlsx_text(struct dtx_xml *x, struct dtx_buf *out,
                                        struct dtx_err *err);
/* Undoes _xHHHH_ in place, from byte `from` on. */
void dtx_xlsx_undo_escapes(struct dtx_buf *b, size_t from);

/* --- sheets --- */
struct dtx_xlsx_span {
	uint32_t from, to; /* columns */
};
struct dtx_xlsx_facts {               /* of a sheet besides its cells */
	struct dtx_xlsx_span *hidden; /* hidden columns; dtx_mem */
	size_t nhidden, hidden_cap;
	uint64_t nformulas, nuncached, nerrors, nbaddates, nhidden_rows;
	uint32_t first_bad_row, first_bad_col;
	uint32_t ntables;
	char dimension[32]; /* as the file claims it */
};
/* Reads a sheet's cells, merged ranges and facts; max_cells: stop after so many (0: all; then
 * merges and what follows are not read).  `slow` leaves the fast path out (tests). */
struct dtx_xlsx_read {
	uint64_t max_cells;
	bool slow;
};
DTX_MUSTUSE enum dtx_code dtx_xlsx_sheet_read(struct dtx_xlsx *book,
                                              const struct dtx_xlsx_sheet *sheet,
                                              const struct dtx_xlsx_read *how,
                                              struct dtx_grid *grid, struct dtx_xlsx_facts *facts,
                                              struct dtx_err *err);
void dtx_xlsx_facts_clear(struct dtx_xlsx_facts *facts);

#endif
