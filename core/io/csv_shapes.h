/* What the cells of each column look like in the rows that fit: they tell where the cells of a
 * record belong that has one too many or too few. */
#ifndef DTX_IO_CSV_SHAPES_H
#define DTX_IO_CSV_SHAPES_H

#include "core/base/err.h"
#include "core/base/str.h"

struct dtx_csv_shapes;
struct dtx_csv_top;

/* From the rows of top, behind the header, that have `width` cells and maybe empty ones behind
 * them; *out stays NULL where they tell nothing.  Owned by the caller. */
DTX_MUSTUSE enum dtx_code dtx_csv_shapes_new(const struct dtx_csv_top *top, uint32_t width,
                                             struct dtx_csv_shapes **out, struct dtx_err *err);
void dtx_csv_shapes_free(struct dtx_csv_shapes *s); /* NULL is fine */
uint32_t dtx_csv_shapes_width(const struct dtx_csv_shapes *s);
/* The cell looks unlike all others of its column; a blank one never does. */
bool dtx_csv_shapes_misfit(const struct dtx_csv_shapes *s, uint32_t col, struct dtx_str cell);
/* Column `col` knows its cells digit by digit, and this is such a one. */
bool dtx_csv_shapes_exact(const struct dtx_csv_shapes *s, uint32_t col, struct dtx_str cell);
/* Column `col` does not know its cells: texts. */
bool dtx_csv_shapes_loose(const struct dtx_csv_shapes *s, uint32_t col);

#endif
