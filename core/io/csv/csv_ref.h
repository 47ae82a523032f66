/* Reader of the dialects that the scanner leaves out, and its oracle.  [libcsv]
 *
 * One thread at a time. */
#ifndef DTX_IO_CSV_CSV_REF_H
#define DTX_IO_CSV_CSV_REF_H

#include "core/base/buf.h"
#include "core/io/csv/csv_row.h"
#include "core/io/csv/detect/dialect.h"

struct dtx_csv_ref;
struct dtx_csv_shapes;

/* A cell of the record last read: its text with quotes and escapes undone. */
struct dtx_csv_ref_cell {
	size_t off, len; /* in dtx_csv_ref_text */
	bool quoted;
};
struct dtx_csv_ref_record {
	struct dtx_csv_row row;
	const struct dtx_csv_ref_cell *cell; /* row.ncells, until the next read */
	const char *text;
	bool comment; /* the record is a comment */
	/* `mixed`: how it was read otherwise than it stands. */
	enum dtx_csv_change {
		DTX_CSV_CHANGE_NONE,
		DTX_CSV_CHANGE_JOINED, /* delimiters stand inside of texts or numbers */
		DTX_CSV_CHANGE_MOVED,  /* cells go to other columns */
		DTX_CSV_CHANGE_GLUED,  /* with delimiters beside quotes that the text lacks */
		DTX_CSV_CHANGE_OTHER   /* with another delimiter, other quotes or escapes */
	} change;
};

/* Text up to `end`; borrowed. */
DTX_MUSTUSE enum dtx_code dtx_csv_ref_new(const char *data, size_t end, const struct dtx_dialect *d,
                                          struct dtx_csv_ref **out, struct dtx_err *err);
void dtx_csv_ref_free(struct dtx_csv_ref *ref); /* NULL is fine */
void dtx_csv_ref_set_end(struct dtx_csv_ref *ref, size_t end);
/* The width that records should have: lenient quotes are read so that they do. */
void dtx_csv_ref_set_width(struct dtx_csv_ref *ref, uint32_t width);
/* What the cells of the columns look like, borrowed: with `mixed`, the cells of a record with one
 * too many or too few go to the columns they look like.  NULL: not known. */
void dtx_csv_ref_set_shapes(struct dtx_csv_ref *ref, const struct dtx_csv_shapes *shapes);
/* Reads the record at pos < end.  Faults are in the row, as dtx_csv_row_read gives them. */
DTX_MUSTUSE enum dtx_code dtx_csv_ref_read(struct dtx_csv_ref *ref, size_t pos,
                                           struct dtx_csv_ref_record *out, struct dtx_err *err);

/* csv_mixed.c: records with another delimiter than the text has. */
struct dtx_csv_mixed;
DTX_MUSTUSE enum dtx_code dtx_csv_mixed_new(const char *data, const struct dtx_dialect *d,
                                            struct dtx_csv_mixed **out, struct dtx_err *err);
/* Changes *out to the record at pos as the first delimiter reads it that gives it `width` cells;
 * blanks must give cells that look like those of their columns.  shapes may be NULL. */
DTX_MUSTUSE enum dtx_code dtx_csv_mixed_read(struct dtx_csv_mixed *m,
                                             const struct dtx_csv_shapes *shapes, size_t pos,
                                             size_t end, uint32_t width,
                                             struct dtx_csv_ref_record *out, struct dtx_err *err);
/* ... as other quotes or escapes than the text's read it, when only they read all of its quotes.  A
 * width of 0 is not known yet.  Tells whether they did. */
DTX_MUSTUSE enum dtx_code dtx_csv_mixed_quotes(struct dtx_csv_mixed *m, size_t pos, size_t end,
                                               uint32_t width, struct dtx_csv_ref_record *out,
                                               bool *took, struct dtx_err *err);
/* ... as it would be with delimiters where quotes open or close beside text, when that gives it
 * `width` cells that look like those of their columns; out->change tells. */
DTX_MUSTUSE enum dtx_code dtx_csv_mixed_glued(struct dtx_csv_mixed *m,
                                              const struct dtx_csv_shapes *shapes, size_t end,
                                              uint32_t width, struct dtx_csv_ref_record *out,
                                              struct dtx_err *err);
void dtx_csv_mixed_free(struct dtx_csv_mixed *m); /* NULL is fine */
/* csv_glued.c: the line with delimiters where quotes open or close beside text; the first way, 0,
 * has all that are sure, each other one more between two quotes.  False: there is no such way. */
bool dtx_csv_glued(struct dtx_str line, const struct dtx_dialect *d, unsigned way,
                   struct dtx_buf *out);

#endif
