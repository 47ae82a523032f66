/* A workbook in any container: its sheets, names, styles and strings, and how to read a sheet.
 * The readers of .xlsx, .xls and .ods fill it; layout, inspection and the reader class only use
 * this interface. One thread, unless said otherwise. */
#ifndef DTX_IO_SHEET_BOOK_H
#define DTX_IO_SHEET_BOOK_H

#include "core/base/memory/arena.h"
#include "core/io/sheet/grid.h"
#include "core/io/sheet/numfmt.h"

enum {
	DTX_BOOK_SHEETS_MAX = 4096,
	DTX_BOOK_STYLES_MAX = 65536,
	DTX_BOOK_NAMES_MAX = 65536,
	DTX_BOOK_TABLES_MAX = 4096,
	DTX_BOOK_TEXT_MAX = 1 << 20, /* bytes of one cell's text */
	DTX_BOOK_STRINGS_MAX = 64 * 1000 * 1000
};
#define DTX_BOOK_STRING_BYTES_MAX ((uint64_t)2 << 30)

enum dtx_sheet_kind {
	DTX_SHEET_WORKSHEET,
	DTX_SHEET_CHART,
	DTX_SHEET_DIALOG,
	DTX_SHEET_MACRO,
	DTX_SHEET_OTHER
};
enum dtx_sheet_visible { DTX_SHEET_VISIBLE, DTX_SHEET_HIDDEN, DTX_SHEET_VERY_HIDDEN };
struct dtx_sheet {
	const char *name;
	enum dtx_sheet_kind kind;
	enum dtx_sheet_visible visible;
	const struct dtx_zip_entry *part; /* xlsx; NULL: the part is missing */
	uint64_t place; /* xls: where the sheet's records begin; ods: its number, from 0 */
};
struct dtx_book_name {           /* a defined name */
	const char *name, *text; /* "Data", "FY24!$A$3:$F$200" */
	int32_t sheet;           /* its scope; -1: the whole workbook */
};
struct dtx_book_table { /* a named table in a sheet */
	const char *name;
	uint32_t sheet;
	struct dtx_cellrange range; /* including header and totals */
	uint32_t header_rows, totals_rows;
};
struct dtx_book_style {
	struct dtx_str code;
	enum dtx_fmt_class cls;
	bool bold;
};
struct dtx_book_format { /* as defined in the file */
	uint32_t id, place;
	struct dtx_book_style style;
};
struct dtx_book_formats {
	struct dtx_book_format *item; /* dtx_mem */
	size_t n, cap;
};
struct dtx_book_strings {       /* strings that cells share */
	struct dtx_arena arena; /* blocks of texts without gaps */
	char *room;
	size_t left;
	struct dtx_str *item;
	size_t n, cap;
	uint64_t bytes;
};

struct dtx_sheet_span {
	uint32_t from, to; /* columns */
};
struct dtx_sheet_facts {               /* what is known about a sheet besides its cells */
	struct dtx_sheet_span *hidden; /* hidden columns; dtx_mem */
	size_t nhidden, hidden_cap;
	uint64_t nformulas, nuncached, nerrors, nbaddates, nhidden_rows;
	/* formulas that change at each computation; that use other files */
	uint64_t nvolatile, nexternal;
	/* From a second reader: cells that it confirms, cells of a kind that it cannot know,
	 * cells that it reads differently, and the sum of the last two. */
	uint64_t nconfirmed, nunknown, ndisputed, nunconfirmed;
	uint32_t first_bad_row, first_bad_col;
	uint32_t ntables;
	char dimension[32]; /* as the file claims; not trusted */
};
/* How to read a sheet. max_cells: stop after so many (0: read all; otherwise merged ranges and
 * what follows are not read). `slow` disables a fast path, for tests. */
struct dtx_sheet_read {
	uint64_t max_cells;
	bool slow;
};

struct dtx_book_class;
/* The common head of all workbooks. */
struct dtx_book {
	const struct dtx_book_class *cls;
	struct dtx_arena arena;
	const char *label; /* for messages; borrowed */
	struct dtx_archive_limits limits;
	uint64_t lead; /* bytes of the file before the workbook */
	bool epoch1904;
	uint64_t odd_chars; /* characters in texts that XML does not allow, see dtx_xml */
	struct dtx_sheet *sheet;
	uint32_t nsheets;
	struct dtx_book_name *name;
	uint32_t nnames;
	struct dtx_book_table *table; /* after dtx_book_tables_need */
	uint32_t ntables;
	bool tables_read;
	struct dtx_book_style *style; /* indexed by the id in cells */
	uint32_t nstyles;
	struct dtx_book_strings strings; /* as far as they have been read */
};
struct dtx_sheet_rows; /* a sheet that is read in windows of rows */
/* How to read sheets that are too large to hold in memory. */
struct dtx_sheet_rows_class {
	uint64_t (*size)(const struct dtx_sheet *); /* bytes to read */
	enum dtx_code (*open)(struct dtx_book *, const struct dtx_sheet *, struct dtx_sheet_facts *,
	                      struct dtx_sheet_rows **out, struct dtx_err *err);
	/* Adds the next rows, each complete, to the grid until it has that many cells or rows.
	 * *more is false at the end of the sheet; then merged ranges and facts are complete,
	 * too. */
	enum dtx_code (*next)(struct dtx_sheet_rows *, struct dtx_grid *, uint64_t cells,
	                      size_t rows, bool *more, struct dtx_err *err);
	void (*close)(struct dtx_sheet_rows *); /* NULL is fine */
};
struct dtx_book_class {
	const char *name; /* "xlsx" */
	/* Opens a workbook. The bytes stay the caller's and must outlive the book. Strings may
	 * be read later. */
	enum dtx_code (*open)(const char *label, const void *bytes, size_t len,
	                      const struct dtx_archive_limits *limits, struct dtx_book **out,
	                      struct dtx_err *err);
	/* Reads cells, merged ranges and facts of a worksheet. The grid is finished. */
	enum dtx_code (*sheet)(struct dtx_book *, const struct dtx_sheet *,
	                       const struct dtx_sheet_read *how, struct dtx_grid *,
	                       struct dtx_sheet_facts *, struct dtx_err *);
	/* Makes string `id` available if it exists (UINT64_MAX: all). NULL: all strings are
	 * available. */
	enum dtx_code (*strings)(struct dtx_book *, uint64_t id, struct dtx_err *);
	/* Reads the tables. NULL: the format has none. */
	enum dtx_code (*tables)(struct dtx_book *, struct dtx_err *);
	void (*close)(struct dtx_book *);
	const struct dtx_sheet_rows_class *rows; /* NULL: sheets are always read whole */
};
extern const struct dtx_book_class dtx_book_xlsx, dtx_book_xls;
/* .xls whose cells FreeXL must confirm; others become bad cells. */
extern const struct dtx_book_class dtx_book_freexl;

/* Excel encrypts some workbooks with its own fixed password and does not ask for it. */
#define DTX_BOOK_ENCRYPTED_HINT                                                                    \
	"open it with its password and save it without one; where a program opens it without a "   \
	"password: soffice --convert-to xlsx '%.200s'"
/* Returns rc. Adds a hint for a workbook that is broken, unless there is one. */
enum dtx_code dtx_book_broken(enum dtx_code rc, const char *label, struct dtx_err *err);
/* The class that reads the container in the bytes, as the readers say; NULL: this is no
 * workbook. */
const struct dtx_book_class *dtx_book_class_of(const void *bytes, size_t len);
/* Opens with that class; .xlsx if in doubt. The caller closes *out. */
DTX_MUSTUSE enum dtx_code dtx_book_open(const char *label, const void *bytes, size_t len,
                                        const struct dtx_archive_limits *limits,
                                        struct dtx_book **out, struct dtx_err *err);
void dtx_book_close(struct dtx_book *book); /* NULL is fine */
DTX_MUSTUSE enum dtx_code dtx_book_sheet(struct dtx_book *book, const struct dtx_sheet *sheet,
                                         const struct dtx_sheet_read *how, struct dtx_grid *grid,
                                         struct dtx_sheet_facts *facts, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_book_strings_need(struct dtx_book *book, uint64_t id,
                                                struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_book_tables_need(struct dtx_book *book, struct dtx_err *err);
/* The text of a text cell; blank if the string does not exist. */
DTX_MUSTUSE enum dtx_code dtx_book_cell_text(struct dtx_book *book, const struct dtx_grid *grid,
                                             uint64_t id, struct dtx_str *out, struct dtx_err *err);

/* --- for the readers of formats --- */

/* Copies another shared string. */
DTX_MUSTUSE enum dtx_code dtx_book_string_add(struct dtx_book *book, struct dtx_str text,
                                              struct dtx_err *err);
/* Number formats while styles are read: add all, sort once, then look up. An id that the file
 * does not define means the built-in format. */
DTX_MUSTUSE enum dtx_code dtx_book_format_add(struct dtx_book *book, struct dtx_book_formats *f,
                                              uint32_t id, struct dtx_str code,
                                              struct dtx_err *err);
void dtx_book_formats_sort(struct dtx_book_formats *f);
struct dtx_book_style dtx_book_format_find(const struct dtx_book_formats *f, uint32_t id);
/* Frees what the head owns. */
void dtx_book_clear(struct dtx_book *book);
void dtx_sheet_facts_clear(struct dtx_sheet_facts *facts);
/* Hides the columns [from, to], counted from 0; columns beyond the limits of a sheet are
 * ignored. */
DTX_MUSTUSE enum dtx_code dtx_sheet_hide_cols(struct dtx_sheet_facts *facts, uint32_t from,
                                              uint32_t to, struct dtx_err *err);
/* Counts a cell that will be read as null, and remembers the first one. */
void dtx_sheet_note_bad(struct dtx_sheet_facts *facts, uint32_t row, uint32_t col, uint64_t *count);
/* Counts a formula, judged by its text. */
void dtx_sheet_note_formula(struct dtx_sheet_facts *facts, struct dtx_str code);
/* The tag for a number with this style; a serial that is not a date is counted. */
/* Whether it is a whole number beyond 2^53 with no more digits than a double has, such as a card
 * number. */
bool dtx_sheet_has_16_digits(double v);
unsigned dtx_sheet_number_tag(const struct dtx_book *book, struct dtx_sheet_facts *facts,
                              uint32_t row, uint32_t col, enum dtx_fmt_class cls, double v);

#endif
