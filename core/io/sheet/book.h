/* A workbook, whatever its container: sheets, names, styles, strings, and how to read a sheet.
 * The readers of formats fill it; layout, inspection and the reader class know only this. */
#ifndef DTX_IO_SHEET_BOOK_H
#define DTX_IO_SHEET_BOOK_H

#include "core/base/arena.h"
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
	const struct dtx_zip_entry *part; /* xlsx; NULL: missing */
	uint64_t place;                   /* xls: where its records begin */
};
struct dtx_book_name {           /* a defined name */
	const char *name, *text; /* "Data", "FY24!$A$3:$F$200" */
	int32_t sheet;           /* its scope, -1: the workbook */
};
struct dtx_book_table { /* a named table of a sheet */
	const char *name;
	uint32_t sheet;
	struct dtx_cellrange range; /* with header and totals */
	uint32_t header_rows, totals_rows;
};
struct dtx_book_style {
	struct dtx_str code;
	enum dtx_fmt_class cls;
	bool bold;
};
struct dtx_book_format { /* as the file defines it */
	uint32_t id, place;
	struct dtx_book_style style;
};
struct dtx_book_formats {
	struct dtx_book_format *item; /* dtx_mem */
	size_t n, cap;
};
struct dtx_book_strings {       /* shared by its cells */
	struct dtx_arena arena; /* blocks of texts without gaps between them */
	char *room;
	size_t left;
	struct dtx_str *item;
	size_t n, cap;
	uint64_t bytes;
};

struct dtx_sheet_span {
	uint32_t from, to; /* columns */
};
struct dtx_sheet_facts {               /* of a sheet besides its cells */
	struct dtx_sheet_span *hidden; /* hidden columns; dtx_mem */
	size_t nhidden, hidden_cap;
	uint64_t nformulas, nuncached, nerrors, nbaddates, nhidden_rows;
	uint64_t nvolatile, nexternal; /* formulas: another result each time, of other files */
	/* A second opinion: cells it confirms, kinds of cells it cannot know, others it reads
	 * otherwise; the last two together. */
	uint64_t nconfirmed, nunknown, ndisputed, nunconfirmed;
	uint32_t first_bad_row, first_bad_col;
	uint32_t ntables;
	char dimension[32]; /* as the file claims it */
};
/* max_cells: stop after so many (0: all; then merges and what follows are not read).  `slow` leaves
 * a fast path out (tests). */
struct dtx_sheet_read {
	uint64_t max_cells;
	bool slow;
};

struct dtx_book_class;
/* Common head of every format's workbook. */
struct dtx_book {
	const struct dtx_book_class *cls;
	struct dtx_arena arena;
	const char *label; /* for messages; borrowed */
	struct dtx_archive_limits limits;
	uint64_t lead; /* bytes of the file before the workbook begins */
	bool epoch1904;
	uint64_t odd_chars; /* in texts: those that XML does not have, see dtx_xml */
	struct dtx_sheet *sheet;
	uint32_t nsheets;
	struct dtx_book_name *name;
	uint32_t nnames;
	struct dtx_book_table *table; /* after dtx_book_tables_need */
	uint32_t ntables;
	bool tables_read;
	struct dtx_book_style *style; /* by the id that cells carry */
	uint32_t nstyles;
	struct dtx_book_strings strings; /* as far as they have been read */
};
struct dtx_sheet_rows; /* a sheet that is read some rows at a time */
/* How sheets that are too large to hold are read. */
struct dtx_sheet_rows_class {
	uint64_t (*size)(const struct dtx_sheet *); /* bytes to read */
	enum dtx_code (*open)(struct dtx_book *, const struct dtx_sheet *, struct dtx_sheet_facts *,
	                      struct dtx_sheet_rows **out, struct dtx_err *err);
	/* Adds the next rows, each whole, to the grid until it holds that many cells or rows. *more
	 * is false when that was all; then merged ranges and facts are complete too. */
	enum dtx_code (*next)(struct dtx_sheet_rows *, struct dtx_grid *, uint64_t cells,
	                      size_t rows, bool *more, struct dtx_err *err);
	void (*close)(struct dtx_sheet_rows *); /* NULL is fine */
};
struct dtx_book_class {
	const char *name; /* "xlsx" */
	/* The bytes stay the caller's and outlive the book.  Strings may be left for later. */
	enum dtx_code (*open)(const char *label, const void *bytes, size_t len,
	                      const struct dtx_archive_limits *limits, struct dtx_book **out,
	                      struct dtx_err *err);
	/* Cells, merged ranges and facts of a worksheet; the grid is finished. */
	enum dtx_code (*sheet)(struct dtx_book *, const struct dtx_sheet *,
	                       const struct dtx_sheet_read *how, struct dtx_grid *,
	                       struct dtx_sheet_facts *, struct dtx_err *);
	/* Makes string `id` available if it exists (UINT64_MAX: all); NULL: all are there. */
	enum dtx_code (*strings)(struct dtx_book *, uint64_t id, struct dtx_err *);
	/* Reads the tables; NULL: the format has none. */
	enum dtx_code (*tables)(struct dtx_book *, struct dtx_err *);
	void (*close)(struct dtx_book *);
	const struct dtx_sheet_rows_class *rows; /* NULL: sheets are always read whole */
};
extern const struct dtx_book_class dtx_book_xlsx, dtx_book_xls;
/* .xls whose cells FreeXL confirms: the others are bad cells. */
extern const struct dtx_book_class dtx_book_freexl;

/* Excel encrypts some workbooks with a password of its own, and asks for none. */
#define DTX_BOOK_ENCRYPTED_HINT                                                                    \
	"open it with its password and save it without one; where a program opens it without a "   \
	"password: soffice --convert-to xlsx '%.200s'"
/* Returns rc.  A workbook that is broken somewhere inside gets a next step, unless it has one. */
enum dtx_code dtx_book_broken(enum dtx_code rc, const char *label, struct dtx_err *err);
/* Opens with the class whose container the bytes have; .xlsx when in doubt. */
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
/* The text of a text cell (BLANK text when the string does not exist). */
DTX_MUSTUSE enum dtx_code dtx_book_cell_text(struct dtx_book *book, const struct dtx_grid *grid,
                                             uint64_t id, struct dtx_str *out, struct dtx_err *err);

/* --- for the formats --- */

/* Copies one more shared string. */
DTX_MUSTUSE enum dtx_code dtx_book_string_add(struct dtx_book *book, struct dtx_str text,
                                              struct dtx_err *err);
/* Number formats while styles are read: add all, sort once, then look up; an id that the file
 * does not define is the built-in one. */
DTX_MUSTUSE enum dtx_code dtx_book_format_add(struct dtx_book *book, struct dtx_book_formats *f,
                                              uint32_t id, struct dtx_str code,
                                              struct dtx_err *err);
void dtx_book_formats_sort(struct dtx_book_formats *f);
struct dtx_book_style dtx_book_format_find(const struct dtx_book_formats *f, uint32_t id);
/* Frees what the head owns. */
void dtx_book_clear(struct dtx_book *book);
void dtx_sheet_facts_clear(struct dtx_sheet_facts *facts);
/* Hidden columns [from, to], from 0; more than a sheet can have are left out. */
DTX_MUSTUSE enum dtx_code dtx_sheet_hide_cols(struct dtx_sheet_facts *facts, uint32_t from,
                                              uint32_t to, struct dtx_err *err);
/* Counts a cell that will read as null, remembers the first. */
void dtx_sheet_note_bad(struct dtx_sheet_facts *facts, uint32_t row, uint32_t col, uint64_t *count);
/* Counts a formula by its text. */
void dtx_sheet_note_formula(struct dtx_sheet_facts *facts, struct dtx_str code);
/* Tag of a number that has this style; a serial that is no date is counted. */
/* A whole number beyond 2^53 of no more digits than a double has, as those of cards. */
bool dtx_sheet_has_16_digits(double v);
unsigned dtx_sheet_number_tag(const struct dtx_book *book, struct dtx_sheet_facts *facts,
                              uint32_t row, uint32_t col, enum dtx_fmt_class cls, double v);

#endif
