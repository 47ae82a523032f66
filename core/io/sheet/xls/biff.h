/* The reader of .xls: the stream of records, its texts, and the globals of the workbook. Private
 * to this folder. One thread. Source: [MS-XLS] and the OpenOffice.org documentation of the Excel
 * file format. */
#ifndef DTX_IO_SHEET_XLS_BIFF_H
#define DTX_IO_SHEET_XLS_BIFF_H

#include "core/base/text/le.h"
#include "core/io/sheet/book.h"
#include "core/io/archive/cfb.h"
#include "core/io/encoding/codepage.h"

/* --- records --- */

enum dtx_biff_type {
	DTX_BIFF_FORMULA = 0x0006,
	DTX_BIFF_EOF = 0x000a,
	DTX_BIFF_EXTERNSHEET = 0x0017,
	DTX_BIFF_NAME = 0x0018,
	DTX_BIFF_DATEMODE = 0x0022,
	DTX_BIFF_FILEPASS = 0x002f,
	DTX_BIFF_CONTINUE = 0x003c,
	DTX_BIFF_CODEPAGE = 0x0042,
	DTX_BIFF_COLINFO = 0x007d,
	DTX_BIFF_BOUNDSHEET = 0x0085,
	DTX_BIFF_MULRK = 0x00bd,
	DTX_BIFF_RSTRING = 0x00d6,
	DTX_BIFF_FONT = 0x0031,
	DTX_BIFF_XF = 0x00e0,
	DTX_BIFF_MERGEDCELLS = 0x00e5,
	DTX_BIFF_SST = 0x00fc,
	DTX_BIFF_LABELSST = 0x00fd,
	DTX_BIFF_SUPBOOK = 0x01ae,
	DTX_BIFF_DIMENSIONS = 0x0200,
	DTX_BIFF_NUMBER = 0x0203,
	DTX_BIFF_LABEL = 0x0204,
	DTX_BIFF_BOOLERR = 0x0205,
	DTX_BIFF_STRING = 0x0207,
	DTX_BIFF_ROW = 0x0208,
	DTX_BIFF_FORMULA3 = 0x0206, /* old numbers that some writers still use */
	DTX_BIFF_RK = 0x027e,
	DTX_BIFF_FORMULA4 = 0x0406,
	DTX_BIFF_FORMAT = 0x041e,
	DTX_BIFF_BOF = 0x0809
};
enum dtx_biff_substream {
	DTX_BIFF_GLOBALS = 0x0005,
	DTX_BIFF_MODULE = 0x0006,
	DTX_BIFF_WORKSHEET = 0x0010,
	DTX_BIFF_CHART = 0x0020,
	DTX_BIFF_MACROS = 0x0040
};

struct dtx_biff_rec {
	unsigned type;
	size_t len, at, next; /* where it begins, and where the next one does */
	const uint8_t *data;
};
/* Reads the record at byte `at`; returns false if none fits before `end`. */
DTX_MUSTUSE bool dtx_biff_record(const uint8_t *stream, size_t end, size_t at,
                                 struct dtx_biff_rec *out);

/* The bytes of a record and of the CONTINUE records that follow it. */
struct dtx_biff_bytes {
	const uint8_t *stream;
	size_t end;         /* of the stream */
	const uint8_t *ptr; /* the rest of the current record */
	size_t left, next;
};
void dtx_biff_bytes_init(struct dtx_biff_bytes *b, const uint8_t *stream, size_t end,
                         const struct dtx_biff_rec *rec);
/* Whether there are more bytes; goes to the next CONTINUE record if needed. */
bool dtx_biff_bytes_more(struct dtx_biff_bytes *b);
/* Copies n bytes; returns false if there are fewer. */
DTX_MUSTUSE bool dtx_biff_bytes_take(struct dtx_biff_bytes *b, uint8_t *to, size_t n);

/* --- the workbook --- */

struct dtx_xls {
	struct dtx_book head;
	struct dtx_cfb cfb;
	struct dtx_cfb_stream stream;
	bool biff8;
	const struct dtx_codepage *page; /* for texts before BIFF8 */
	uint16_t *style_of;              /* per XF: a style with the same format; dtx_mem */
	bool *bold;                      /* per XF; dtx_mem */
	uint32_t nxf;
	size_t *sheet_end; /* per sheet: where the next one begins; dtx_mem */
	struct dtx_buf text;
};
/* Opens a workbook: container, globals, strings. The caller zeroes *x and clears it, also after
 * a failure. */
DTX_MUSTUSE enum dtx_code dtx_xls_open(struct dtx_xls *x, const char *label, const void *bytes,
                                       size_t len, const struct dtx_archive_limits *limits,
                                       struct dtx_err *err);
void dtx_xls_clear(struct dtx_xls *x);
/* Finds the stream of records, in its container or without one. Errors: corrupt_file;
 * encrypted_file or unsupported_format if the container has no workbook. */
DTX_MUSTUSE enum dtx_code dtx_xls_stream(struct dtx_xls *x, const void *bytes, size_t len,
                                         struct dtx_err *err);
/* Whether the bytes are records without a container, of any version. */
bool dtx_biff_sniff(const void *head, size_t len);
DTX_MUSTUSE enum dtx_code dtx_xls_sheet_read(struct dtx_book *book, const struct dtx_sheet *sheet,
                                             const struct dtx_sheet_read *how,
                                             struct dtx_grid *grid, struct dtx_sheet_facts *facts,
                                             struct dtx_err *err);
/* The index for dtx_cell_error_name() of an error code in the file. */
uint64_t dtx_biff_error(unsigned code);
/* Sets corrupt_file with the place in the stream. */
enum dtx_code dtx_xls_fail(const struct dtx_xls *x, size_t at, struct dtx_err *err,
                           const char *what);

/* --- texts --- */

/* Appends a text: its length in 1 or 2 bytes, then BIFF8 characters or bytes of the code page.
 * Formatting runs and phonetic text are skipped. Returns false if it is cut off. */
DTX_MUSTUSE bool dtx_xls_text(const struct dtx_xls *x, struct dtx_biff_bytes *b, unsigned size,
                              struct dtx_buf *out);
/* Appends n characters without a length before them. */
DTX_MUSTUSE bool dtx_xls_chars(const struct dtx_xls *x, struct dtx_biff_bytes *b, size_t n,
                               struct dtx_buf *out);

/* --- defined names --- */

struct dtx_xls_names {
	struct ref {
		uint16_t book, first, last;
	} * ref; /* from EXTERNSHEET; dtx_mem */
	size_t nrefs;
	uint32_t nbooks, own; /* SUPBOOK records so far; which of them is this workbook */
	size_t cap;
};
DTX_MUSTUSE enum dtx_code dtx_xls_on_supbook(struct dtx_xls *x, struct dtx_xls_names *n,
                                             const struct dtx_biff_rec *rec, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_xls_on_externsheet(struct dtx_xls *x, struct dtx_xls_names *n,
                                                 const struct dtx_biff_rec *rec,
                                                 struct dtx_err *err);
/* Stores names that mean one range in one sheet. */
DTX_MUSTUSE enum dtx_code dtx_xls_on_name(struct dtx_xls *x, struct dtx_xls_names *n,
                                          const struct dtx_biff_rec *rec, struct dtx_err *err);

#endif
