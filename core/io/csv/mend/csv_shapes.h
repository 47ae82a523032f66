/* What the cells of each column look like in the rows that fit: they tell where the cells of a
 * record belong that has one too many or too few. */
#ifndef DTX_IO_CSV_MEND_CSV_SHAPES_H
#define DTX_IO_CSV_MEND_CSV_SHAPES_H

#include "core/base/err.h"
#include "core/base/text/str.h"

struct dtx_csv_shapes;
struct dtx_csv_top;

/* A number whose thousands commas separate, "$1", "234.50", without those commas. */
struct dtx_csv_grouped {
	char text[48];
	size_t len;
	uint32_t decimals; /* digits after its point */
	bool marked;       /* nothing but such a number: a currency, two commas, or decimals */
};

/* From the rows of top, below the header, that have `width` cells and maybe empty ones after them;
 * *out stays NULL where the table has one column.  Owned by the caller. */
DTX_MUSTUSE enum dtx_code dtx_csv_shapes_new(const struct dtx_csv_top *top, uint32_t width,
                                             struct dtx_csv_shapes **out, struct dtx_err *err);
void dtx_csv_shapes_free(struct dtx_csv_shapes *s); /* NULL is fine */
uint32_t dtx_csv_shapes_width(const struct dtx_csv_shapes *s);
/* The cell looks unlike all others of its column; a blank one never does. */
bool dtx_csv_shapes_misfit(const struct dtx_csv_shapes *s, uint32_t col, struct dtx_str cell);
/* Column `col` knows its cells digit by digit, and this is such a one. */
bool dtx_csv_shapes_exact(const struct dtx_csv_shapes *s, uint32_t col, struct dtx_str cell);
/* No row that fits leaves column `col` blank. */
bool dtx_csv_shapes_full(const struct dtx_csv_shapes *s, uint32_t col);
/* Column `col` does not know its cells: texts. */
bool dtx_csv_shapes_loose(const struct dtx_csv_shapes *s, uint32_t col);

/* The rows that fit tell something of a column. */
bool dtx_csv_shapes_tell(const struct dtx_csv_shapes *s);

/* Whether these cells are one number whose thousands a comma separates. */
bool dtx_csv_grouped(const struct dtx_str *cell, uint32_t n, struct dtx_csv_grouped *out);
/* In which columns delimiters inside of texts and numbers are looked for. */
enum dtx_csv_shapes_where {
	DTX_CSV_SHAPES_ANYWHERE, /* while the top is read for what it shows */
	DTX_CSV_SHAPES_LIKELY,   /* of texts, or of numbers alone */
	DTX_CSV_SHAPES_SHOWN     /* where records of the top have some that can be nothing else */
};
bool dtx_csv_shapes_takes_grouped(const struct dtx_csv_shapes *s, uint32_t col,
                                  const struct dtx_csv_grouped *g, enum dtx_csv_shapes_where where);
/* Records of the top have a text or number with delimiters there that can be nothing else. */
bool dtx_csv_shapes_shown(const struct dtx_csv_shapes *s, uint32_t col);
bool dtx_csv_shapes_takes_text(const struct dtx_csv_shapes *s, uint32_t col,
                               enum dtx_csv_shapes_where where);
/* A record of the top can only be read with such a number, or a text with delimiters, there. */
void dtx_csv_shapes_add_grouped(struct dtx_csv_shapes *s, uint32_t col,
                                const struct dtx_csv_grouped *g);
void dtx_csv_shapes_add_text(struct dtx_csv_shapes *s, uint32_t col);
/* So many records of the top can be joined; `all`: none of them has the table's width. */
void dtx_csv_shapes_joined(struct dtx_csv_shapes *s, size_t joined, bool all);
/* Cells of records may be joined at all. */
bool dtx_csv_shapes_may_join(const struct dtx_csv_shapes *s);

#endif
