/* Reads one record at a time by a simple state machine. The scanner must give the same result; this
 * reader is also used where the scanner's shortcut does not hold (irregular quotes, ragged
 * records). */
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
	DTX_CSV_BAD_QUOTE,    /* text after a closing quote; with `strict` also a quote in a cell
	                       * without quotes */
	DTX_CSV_UNTERMINATED, /* the text ends inside quotes */
	DTX_CSV_TOO_LONG      /* a cell or the record exceeds its limit */
};
struct dtx_csv_row {
	size_t start, end,
		next; /* [start, end) without the line end; next: start of the next record */
	uint32_t ncells;
	uint32_t literal; /* quotes in cells without quotes, which are data */
	enum dtx_csv_fault fault;
	size_t fault_at; /* byte of the fault; of the opening quote if it never closes */
};

/* Reads the record at pos, which is before the end. The first `cap` cells go to cell[], relative to
 * pos. A fault does not stop the reading: the quote is taken as data. */
void dtx_csv_row_read(const struct dtx_csv_text *t, size_t pos, struct dtx_span *cell, uint32_t cap,
                      struct dtx_csv_row *out);
/* The same with all cells: *cell grows to *cap. Codes: input_limit, no_memory. */
DTX_MUSTUSE enum dtx_code dtx_csv_row_cells(const struct dtx_csv_text *t, size_t pos,
                                            struct dtx_span **cell, size_t *cap, const char *file,
                                            struct dtx_csv_row *out, struct dtx_err *err);
/* Fails with input_limit if a record has more cells than are allowed. */
DTX_MUSTUSE enum dtx_code dtx_csv_row_limit(uint32_t ncells, const char *file, struct dtx_err *err);
static inline bool dtx_csv_row_blank(const struct dtx_csv_row *r)
{
	return r->start == r->end;
}
/* The start of the first record at or after pos; `end` if none. `inside`: pos is inside
 * quotes. Quotes must be regular up to there. */
size_t dtx_csv_row_seek(const struct dtx_csv_text *t, size_t pos, bool inside, size_t end);
/* The line of a byte, from 0. CR, LF and CRLF end lines. */
int64_t dtx_csv_line(const char *data, size_t begin, size_t byte);

#endif
