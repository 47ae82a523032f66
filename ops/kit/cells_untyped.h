/* Tables as they were written: the text of cells by row and column, blank cells, merged ranges, and
 * the types of the rows that stay.  For operations that repair what a reader has returned. */
#ifndef DTX_OPS_KIT_CELLS_UNTYPED_H
#define DTX_OPS_KIT_CELLS_UNTYPED_H

#include "ops/kit/opkit.h"

struct dtx_raw {
	struct dtx_table *table; /* borrowed, dense */
	int64_t *start;          /* number of the first row of each batch */
	uint32_t ncols, hint;
	struct dtx_buf scratch; /* for dtx_raw_blank */
};
#define DTX_RAW_INIT                                                                               \
	{                                                                                          \
		.table = NULL                                                                      \
	}

/* Makes the table dense. */
DTX_MUSTUSE enum dtx_code dtx_raw_open(struct dtx_raw *r, struct dtx_table *t, struct dtx_err *err);
void dtx_raw_close(struct dtx_raw *r);
/* The batch of a row, and the row's number in it. */
const struct dtx_batch *dtx_raw_row(struct dtx_raw *r, int64_t row, uint32_t *at);
/* The text of a cell as it is written; "" for null.  If the text must be made, it is appended to
 * scratch. */
struct dtx_str dtx_raw_text(struct dtx_raw *r, int64_t row, uint32_t col, struct dtx_buf *scratch);
/* Whether a cell is null, empty, or has only Unicode spaces. */
bool dtx_raw_blank(struct dtx_raw *r, int64_t row, uint32_t col);
/* DTX_CELL_MERGE_UP | DTX_CELL_MERGE_LEFT of a workbook's cell, else 0. */
uint8_t dtx_raw_merge(struct dtx_raw *r, int64_t row, uint32_t col);
/* Moves to the first cell of the merged range that contains the cell, as far as the marks in
 * `along` lead: up, then left. */
void dtx_raw_anchor(struct dtx_raw *r, uint8_t along, int64_t *row, uint32_t *col);
/* The kind of a workbook's cell; DTX_CELL_TEXT for other columns. */
uint8_t dtx_raw_kind(struct dtx_raw *r, int64_t row, uint32_t col);
/* Whether a workbook's cell is a formula without a cached value.  Such a cell is blank. */
bool dtx_raw_uncached(struct dtx_raw *r, int64_t row, uint32_t col);
/* Whether a workbook's cell has a bold font. */
bool dtx_raw_bold(struct dtx_raw *r, int64_t row, uint32_t col);
/* The number of cells in the row that are not blank.  *only: the column of the last one. */
uint32_t dtx_raw_filled(struct dtx_raw *r, int64_t row, uint32_t *only);
/* Whether the table has cells of a workbook. */
bool dtx_raw_is_sheet(const struct dtx_raw *r);

/* Binds every column as bytes.  All rows decide about the types; whole_schema returns the
 * schema. */
DTX_MUSTUSE enum dtx_code dtx_raw_bind(struct dtx_bind *b, struct dtx_err *err);
/* The schema of the rows rows[0..n) of t.  names[i] (NULL: the table's names); types are detected
 * again unless the plan declares them. */
DTX_MUSTUSE enum dtx_code dtx_raw_schema(struct dtx_table *t, const int64_t *rows, int64_t n,
                                         const char *const *names, struct dtx_arena *arena,
                                         const struct dtx_schema **out, struct dtx_err *err);
/* Emits those rows with the schema ox->out; columns keep their places. */
DTX_MUSTUSE enum dtx_code dtx_raw_emit(const struct dtx_opctx *ox, struct dtx_table *t,
                                       const int64_t *rows, int64_t n, struct dtx_emit *out,
                                       struct dtx_err *err);
/* Whether the type of a column is detected again: it has cells of an input, and no type is declared
 * for it. */
bool dtx_raw_retypes(const struct dtx_field *f, const struct dtx_column *c);

#endif
