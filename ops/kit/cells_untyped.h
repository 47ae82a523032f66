/* Tables as they were written: text and blankness of cells by row and column, merged ranges, and
 * the types of what stays.  For the operations that repair what a reader delivered. */
#ifndef DTX_OPS_KIT_CELLS_UNTYPED_H
#define DTX_OPS_KIT_CELLS_UNTYPED_H

#include "ops/kit/opkit.h"

struct dtx_raw {
	struct dtx_table *table; /* borrowed, dense */
	int64_t *start;          /* number of each batch's first row */
	uint32_t ncols, hint;
	struct dtx_buf scratch; /* of dtx_raw_blank */
};
#define DTX_RAW_INIT                                                                               \
	{                                                                                          \
		.table = NULL                                                                      \
	}

/* Makes the table dense. */
DTX_MUSTUSE enum dtx_code dtx_raw_open(struct dtx_raw *r, struct dtx_table *t, struct dtx_err *err);
void dtx_raw_close(struct dtx_raw *r);
/* Batch and row in it of a row number. */
const struct dtx_batch *dtx_raw_row(struct dtx_raw *r, int64_t row, uint32_t *at);
/* The cell's written text; "" for null.  Appends to scratch where the text must be made. */
struct dtx_str dtx_raw_text(struct dtx_raw *r, int64_t row, uint32_t col, struct dtx_buf *scratch);
/* Null, empty, or Unicode spaces only. */
bool dtx_raw_blank(struct dtx_raw *r, int64_t row, uint32_t col);
/* DTX_CELL_MERGE_UP | DTX_CELL_MERGE_LEFT of a workbook's cell, else 0. */
uint8_t dtx_raw_merge(struct dtx_raw *r, int64_t row, uint32_t col);
/* The first cell of the merged range around a cell, as far as the marks in `along` lead: up, then
 * left. */
void dtx_raw_anchor(struct dtx_raw *r, uint8_t along, int64_t *row, uint32_t *col);
/* Kind of a workbook's cell; DTX_CELL_TEXT for other columns. */
uint8_t dtx_raw_kind(struct dtx_raw *r, int64_t row, uint32_t col);
/* A workbook's cell in a bold font. */
bool dtx_raw_bold(struct dtx_raw *r, int64_t row, uint32_t col);
/* How many cells of the row are not blank; *only: the column of the last of them. */
uint32_t dtx_raw_filled(struct dtx_raw *r, int64_t row, uint32_t *only);
/* The table has cells of a workbook. */
bool dtx_raw_is_sheet(const struct dtx_raw *r);

/* Bytes of every column, decided by all rows; the schema is told by whole_schema. */
DTX_MUSTUSE enum dtx_code dtx_raw_bind(struct dtx_bind *b, struct dtx_err *err);
/* Schema of the rows rows[0..n) of t: names[i] (NULL: the table's), types found anew where the plan
 * declares none. */
DTX_MUSTUSE enum dtx_code dtx_raw_schema(struct dtx_table *t, const int64_t *rows, int64_t n,
                                         const char *const *names, struct dtx_arena *arena,
                                         const struct dtx_schema **out, struct dtx_err *err);
/* Emits those rows under ox->out: columns in place. */
DTX_MUSTUSE enum dtx_code dtx_raw_emit(const struct dtx_opctx *ox, struct dtx_table *t,
                                       const int64_t *rows, int64_t n, struct dtx_emit *out,
                                       struct dtx_err *err);
/* Columns that are typed anew: cells of an input whose type nobody declared. */
bool dtx_raw_retypes(const struct dtx_field *f, const struct dtx_column *c);

#endif
