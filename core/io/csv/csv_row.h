/* One record at a time by the plain state machine: what the scanner must equal, and what reads
 * the places where its shortcut does not hold (irregular quotes, ragged records). */
#ifndef DTX_IO_CSV_CSV_ROW_H
#define DTX_IO_CSV_CSV_ROW_H

#include "core/data/column.h"
#include "core/io/csv/scan/scan.h"

#define DTX_CSV_CELL_MAX   ((size_t)16 << 20)
#define DTX_CSV_RECORD_MAX ((size_t)1 << 30)
#define DTX_CSV_COLS_MAX   65536u

struct dtx_csv_text {
	const char *data;
	size_t end;
	struct dtx_scan_set set;
	bool strict; /* any irregular quote is a fault */
};
enum dtx_csv_fault {
	DTX_CSV_FINE,
	DTX_CSV_BAD_QUOTE,    /* text after a closing quote; strict: a quote inside plain text */
	DTX_CSV_UNTERMINATED, /* the text ends inside quotes */
	DTX_CSV_TOO_LONG      /* a cell or the record is larger than its maximum */
};
struct dtx_csv_row {
	size_t start, end, next; /* [start, end) without the line end; next record */
	uint32_t ncells;
	uint32_t literal; /* quotes that are data in unquoted cells */
	enum dtx_csv_fault fault;
	size_t fault_at; /* byte; of the opening quote when it never closes */
};

/* Reads the record at pos < end.  The first `cap` cells go to cell[], relative to pos.  A fault
 * does not stop the reading: the quote is taken as data. */
void dtx_csv_row_read(const struct dtx_csv_text *t, size_t pos, struct dtx_span *cell, uint32_t cap,
                      struct dtx_csv_row *out);
/* The same with room for all cells: *cell grows to *cap. */
DTX_MUSTUSE enum dtx_code dtx_csv_row_cells(const struct dtx_csv_text *t, size_t pos,
                                            struct dtx_span **cell, size_t *cap, const char *file,
                                            struct dtx_csv_row *out, struct dtx_err *err);
/* input_limit when a record has more cells than are read. */
DTX_MUSTUSE enum dtx_code dtx_csv_row_limit(uint32_t ncells, const char *file, struct dtx_err *err);
static inline bool dtx_csv_row_blank(const struct dtx_csv_row *r)
{
	return r->start == r->end;
}
/* First record start at or after pos, which is not inside quotes; `end` if none. Quotes must be
 * regular up to there. */
size_t dtx_csv_row_seek(const struct dtx_csv_text *t, size_t pos, bool inside, size_t end);
/* Line of a byte, from 0: CR, LF and CRLF end lines. */
int64_t dtx_csv_line(const char *data, size_t begin, size_t byte);

#endif
