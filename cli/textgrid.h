/* A small table as texts, to be compared with another. */
#ifndef DTX_CLI_TEXTGRID_H
#define DTX_CLI_TEXTGRID_H

#include "core/base/text/json.h"
#include "core/data/batch.h"

#define DTX_TEXTGRID_CELLS ((int64_t)2000000)

struct dtx_textgrid {
	struct dtx_arena arena;
	uint32_t ncols;
	int64_t nrows;
	const char **name;
	const char **cell; /* row by row; NULL: null */
};
#define DTX_TEXTGRID_INIT                                                                          \
	{                                                                                          \
		DTX_ARENA_INIT, 0, 0, NULL, NULL                                                   \
	}
/* cell_limit when it is not small. */
DTX_MUSTUSE enum dtx_code dtx_textgrid_make(struct dtx_textgrid *g, const struct dtx_table *t,
                                            struct dtx_err *err);
void dtx_textgrid_clear(struct dtx_textgrid *g);
const char *dtx_textgrid_at(const struct dtx_textgrid *g, int64_t row, uint32_t col);
int32_t dtx_textgrid_find(const struct dtx_textgrid *g, const char *name);
/* As CSV, all texts quoted where they must be. */
void dtx_textgrid_csv(const struct dtx_textgrid *g, struct dtx_buf *out);

/* A whole cell that is a finite number. */
bool dtx_textgrid_number(const char *text, double *out);
/* A number against a cell of an example, which may be rounded: *digits grows to what it shows
 * behind the point where they differ. */
bool dtx_textgrid_rounded(double got, const char *want, int *digits);
/* Two cells: numbers by value, NULL is null. */
bool dtx_textgrid_same(const char *a, const char *b);
/* Makes plain numbers of columns whose values are all numbers as people write them ("1,200",
 * "$3.50"); false: there are none. */
bool dtx_textgrid_plain(struct dtx_textgrid *g);
/* Whether g has all values of a wanted column, each as often at least. */
bool dtx_textgrid_column_within(const struct dtx_textgrid *g, uint32_t col,
                                const struct dtx_textgrid *want, uint32_t at);
/* Columns `col[i]` of g against column i of `want`: 1 the same rows in the same order, 0.9 in
 * another order, 0.65 these in one
 * piece and others, 0.6 these and others, else 0.  Numbers are equal by value, blank texts to
 * nulls. */
double dtx_textgrid_match(const struct dtx_textgrid *g, const uint32_t *col,
                          const struct dtx_textgrid *want);

#endif
