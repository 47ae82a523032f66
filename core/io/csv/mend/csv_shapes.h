/* Learns what the cells of each column look like from rows that fit. This shows where the cells of
 * a record belong that has one too many or too few. */
#ifndef DTX_IO_CSV_MEND_CSV_SHAPES_H
#define DTX_IO_CSV_MEND_CSV_SHAPES_H

#include "core/base/err.h"
#include "core/base/text/str.h"

struct dtx_csv_shapes;
struct dtx_csv_top;

/* A number that thousands separators split into cells, such as "$1" and "234.50", without the
 * commas. */
struct dtx_csv_grouped {
	char text[48];
	size_t len;
	uint32_t decimals; /* number of digits after the decimal point */
	bool marked; /* it can only be such a number: it has a currency, two commas, or decimals */
};

/* Learns from the rows of `top` after the header that have `width` cells and possibly empty ones
 * after them. *out stays NULL if the table has one column; the caller owns it. Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_csv_shapes_new(const struct dtx_csv_top *top, uint32_t width,
                                             struct dtx_csv_shapes **out, struct dtx_err *err);
void dtx_csv_shapes_free(struct dtx_csv_shapes *s); /* NULL is allowed */
uint32_t dtx_csv_shapes_width(const struct dtx_csv_shapes *s);
/* Whether the cell looks unlike all others of its column. A blank cell never does. */
bool dtx_csv_shapes_misfit(const struct dtx_csv_shapes *s, uint32_t col, struct dtx_str cell);
/* Whether the column has cells of few exact forms, digit by digit, and this is one of them. */
bool dtx_csv_shapes_exact(const struct dtx_csv_shapes *s, uint32_t col, struct dtx_str cell);
/* Whether no row that fits leaves the column blank. */
bool dtx_csv_shapes_full(const struct dtx_csv_shapes *s, uint32_t col);
/* Whether the column has texts of any form. */
bool dtx_csv_shapes_loose(const struct dtx_csv_shapes *s, uint32_t col);

/* Whether anything is known about any column. */
bool dtx_csv_shapes_tell(const struct dtx_csv_shapes *s);

/* Whether these cells are one number that thousands separators split. */
bool dtx_csv_grouped(const struct dtx_str *cell, uint32_t n, struct dtx_csv_grouped *out);
/* In which columns to look for delimiters inside texts and numbers. */
enum dtx_csv_shapes_where {
	DTX_CSV_SHAPES_ANYWHERE, /* in all, while the top rows are read to learn from them */
	DTX_CSV_SHAPES_LIKELY,   /* in columns of texts or of numbers only */
	DTX_CSV_SHAPES_SHOWN     /* in columns in which records of the top certainly have some */
};
bool dtx_csv_shapes_takes_grouped(const struct dtx_csv_shapes *s, uint32_t col,
                                  const struct dtx_csv_grouped *g, enum dtx_csv_shapes_where where);
/* Whether records of the top certainly have a text or number with delimiters in the column; and
 * whether the column may have one. */
bool dtx_csv_shapes_shown(const struct dtx_csv_shapes *s, uint32_t col);
bool dtx_csv_shapes_takes_text(const struct dtx_csv_shapes *s, uint32_t col,
                               enum dtx_csv_shapes_where where);
/* Adds that a record of the top can only be read with such a number in the column, or with a text
 * with delimiters. */
void dtx_csv_shapes_add_grouped(struct dtx_csv_shapes *s, uint32_t col,
                                const struct dtx_csv_grouped *g);
void dtx_csv_shapes_add_text(struct dtx_csv_shapes *s, uint32_t col);
/* Adds how many records of the top can be joined. `all`: none of them has the width of the
 * table. */
void dtx_csv_shapes_joined(struct dtx_csv_shapes *s, size_t joined, bool all);
/* Whether cells of records may be joined at all. */
bool dtx_csv_shapes_may_join(const struct dtx_csv_shapes *s);

#endif
