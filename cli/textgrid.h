/* A small table as texts, for comparing it with another one. */
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
	const char **cell; /* row by row; a NULL pointer is null, or a text without characters */
	bool empty_texts;  /* there were such texts */
};
#define DTX_TEXTGRID_INIT                                                                          \
	{                                                                                          \
		DTX_ARENA_INIT, 0, 0, NULL, NULL, false                                            \
	}
/* Converts a table. Error: cell_limit, if it is not small. */
DTX_MUSTUSE enum dtx_code dtx_textgrid_make(struct dtx_textgrid *g, const struct dtx_table *t,
                                            struct dtx_err *err);
void dtx_textgrid_clear(struct dtx_textgrid *g);
const char *dtx_textgrid_at(const struct dtx_textgrid *g, int64_t row, uint32_t col);
int32_t dtx_textgrid_find(const struct dtx_textgrid *g, const char *name);
/* Writes the table as CSV. */
void dtx_textgrid_csv(const struct dtx_textgrid *g, struct dtx_buf *out);

/* Whether the whole cell is a finite number. */
bool dtx_textgrid_number(const char *text, double *out);
/* Compares a number with a cell of an example, which may be rounded. *digits grows to the number
 * of decimals that it shows where they differ. */
bool dtx_textgrid_rounded(double got, const char *want, int *digits);
/* Compares two cells: numbers by value; NULL is null. */
bool dtx_textgrid_same(const char *a, const char *b);
/* Folds what an example of a table need not have exactly: blanks around a text are cut off, several
 * become one, "True" is "true", and blank texts and words for missing values ("nan", "None", "n/a")
 * become null. */
void dtx_textgrid_fold(struct dtx_textgrid *g);
/* A hash that is equal for equal cells: numbers are rounded to nine digits. 1 for null. */
uint64_t dtx_textgrid_hash(const char *text);
/* The hashes of all rows in these columns (NULL: the first ncols), sorted. NULL: out of memory;
 * free it with dtx_mem_free. */
uint64_t *dtx_textgrid_rows(const struct dtx_textgrid *g, const uint32_t *col, uint32_t ncols);
/* Whether all of b are in a, each at least as often; both are sorted. */
bool dtx_textgrid_within(const uint64_t *a, int64_t na, const uint64_t *b, int64_t nb);
/* Makes texts null that folding makes null ("NA", "None"), but not those that are in `but`, and
 * adds them to a list. */
void dtx_textgrid_null_words(struct dtx_textgrid *g, const struct dtx_textgrid *but, json_t *list);
/* Whether a column of g has all values of a wanted column, each at least as often. */
bool dtx_textgrid_column_within(const struct dtx_textgrid *g, uint32_t col,
                                const struct dtx_textgrid *want, uint32_t at);
/* Compares columns `col[i]` of g with column i of `want`. Returns 1 for the same rows in the
 * same order, 0.9 for another order, 0.75 if they are the first ones, 0.65 if they are
 * consecutive among other rows, 0.6 if they
 * are among other rows, otherwise 0. Numbers are compared by value, and blank texts equal null. */
double dtx_textgrid_match(const struct dtx_textgrid *g, const uint32_t *col,
                          const struct dtx_textgrid *want);

#endif
