/* Reads records by libcsv: dialects that the scanner does not read, and the reference that tests
 * compare it with. Only one thread may use a reader at a time. */
#ifndef DTX_IO_CSV_CSV_REF_H
#define DTX_IO_CSV_CSV_REF_H

#include "core/base/memory/buf.h"
#include "core/io/csv/csv_row.h"
#include "core/io/csv/detect/dialect.h"

struct dtx_csv_ref;
struct dtx_csv_shapes;

/* A cell of the record that was read last, without quotes and escapes. */
struct dtx_csv_ref_cell {
	size_t off, len; /* in dtx_csv_ref_text */
	bool quoted;
};
struct dtx_csv_ref_record {
	struct dtx_csv_row row;
	const struct dtx_csv_ref_cell *cell; /* row.ncells of them, valid until the next read */
	const char *text;
	bool comment; /* the record is a comment */
	/* With `mixed`: how the record was read differently from what the text says. */
	enum dtx_csv_change {
		DTX_CSV_CHANGE_NONE,
		DTX_CSV_CHANGE_JOINED, /* delimiters are inside texts or numbers */
		DTX_CSV_CHANGE_MOVED,  /* cells were moved to other columns */
		DTX_CSV_CHANGE_GLUED, /* with delimiters next to quotes that are missing in the text
		                       */
		DTX_CSV_CHANGE_OTHER  /* with another delimiter, other quotes or escapes */
	} change;
};

/* Makes a reader of the text up to `end`, which it borrows. Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_csv_ref_new(const char *data, size_t end, const struct dtx_dialect *d,
                                          struct dtx_csv_ref **out, struct dtx_err *err);
void dtx_csv_ref_free(struct dtx_csv_ref *ref); /* NULL is allowed */
void dtx_csv_ref_set_end(struct dtx_csv_ref *ref, size_t end);
/* Sets the width that records should have. Lenient quotes are read in the way that gives this
 * width. */
void dtx_csv_ref_set_width(struct dtx_csv_ref *ref, uint32_t width);
/* Sets what the cells of each column look like; borrowed. With `mixed`, the cells of a record with
 * one cell too many or too few then go to the columns that they look like. NULL: not known. */
void dtx_csv_ref_set_shapes(struct dtx_csv_ref *ref, const struct dtx_csv_shapes *shapes);
/* Reads the record at pos, which is before the end. Faults are in the row, as from
 * dtx_csv_row_read. */
DTX_MUSTUSE enum dtx_code dtx_csv_ref_read(struct dtx_csv_ref *ref, size_t pos,
                                           struct dtx_csv_ref_record *out, struct dtx_err *err);

/* In csv_mixed.c: records with another delimiter than the rest of the text. */
struct dtx_csv_mixed;
DTX_MUSTUSE enum dtx_code dtx_csv_mixed_new(const char *data, const struct dtx_dialect *d,
                                            struct dtx_csv_mixed **out, struct dtx_err *err);
/* Replaces *out by the record as it is with the first other delimiter that gives `width` cells. If
 * that delimiter is blanks, the cells must also look like those of their columns. shapes may be
 * NULL. */
DTX_MUSTUSE enum dtx_code dtx_csv_mixed_read(struct dtx_csv_mixed *m,
                                             const struct dtx_csv_shapes *shapes, size_t pos,
                                             size_t end, uint32_t width,
                                             struct dtx_csv_ref_record *out, struct dtx_err *err);
/* The same with other quotes or escapes, if only these explain all quotes in the record. width 0:
 * not known yet. *took: they did. */
DTX_MUSTUSE enum dtx_code dtx_csv_mixed_quotes(struct dtx_csv_mixed *m, size_t pos, size_t end,
                                               uint32_t width, struct dtx_csv_ref_record *out,
                                               bool *took, struct dtx_err *err);
/* The same with delimiters added where quotes open or close next to text, if that gives `width`
 * cells that look like those of their columns. Then it sets out->change. */
DTX_MUSTUSE enum dtx_code dtx_csv_mixed_glued(struct dtx_csv_mixed *m,
                                              const struct dtx_csv_shapes *shapes, size_t end,
                                              uint32_t width, struct dtx_csv_ref_record *out,
                                              struct dtx_err *err);
void dtx_csv_mixed_free(struct dtx_csv_mixed *m); /* NULL is allowed */
/* In csv_glued.c: appends the line with delimiters where quotes open or close next to text. Way 0
 * adds all that are certain; each other way adds one more between two quotes. False: there is no
 * such way. */
bool dtx_csv_glued(struct dtx_str line, const struct dtx_dialect *d, unsigned way,
                   struct dtx_buf *out);

#endif
