/* A table laid out anew: each cell of the result is a cell of the input, a text, or null.
 *
 * For repairs that move cells across rows and columns.  An operation writes one function, the
 * layout; the schema (typed anew) and the rows come from it.  Source bytes are kept where all cells
 * of a column are cells of an input. */
#ifndef DTX_OPS_KIT_RELAYOUT_H
#define DTX_OPS_KIT_RELAYOUT_H

#include "core/base/arena.h"
#include "core/data/cells.h"
#include "ops/kit/cells_untyped.h"

#define DTX_FROM_NULL (-1)
#define DTX_FROM_TEXT (-2) /* row: what dtx_relayout_text returned */

struct dtx_from {
	int64_t row;
	int32_t col; /* of the input, or one of the above */
};
struct dtx_relayout_col {
	const char *name;      /* in the arena, or of the input's schema */
	int32_t col;           /* without cells: this column in every row; DTX_FROM_NULL */
	struct dtx_from *cell; /* per row; NULL */
};
struct dtx_relayout {
	const struct dtx_opctx *ox;
	struct dtx_arena arena; /* names and what else the layout needs */
	struct dtx_raw raw;     /* the input */
	struct dtx_relayout_col *out;
	uint32_t ncols;
	int64_t nrows;
	int64_t *row;             /* input row of each row, -1: made; NULL: row r is row r */
	struct dtx_spanbuf texts; /* literal cells */
	struct dtx_column *text;
	bool counts; /* the second of two layouts: its counts stay */
};
/* Fills m: dtx_relayout_size, then names, columns, rows, cells. */
typedef enum dtx_code dtx_relayout_fn(struct dtx_relayout *m, struct dtx_err *err);

/* Room for the result.  Columns are null, rows are the input's.  col_limit. */
DTX_MUSTUSE enum dtx_code dtx_relayout_size(struct dtx_relayout *m, int64_t nrows, uint32_t ncols,
                                            struct dtx_err *err);
/* The result is as the input, with nrows rows. */
DTX_MUSTUSE enum dtx_code dtx_relayout_same(struct dtx_relayout *m, int64_t nrows,
                                            struct dtx_err *err);
/* m->row, to be filled for m->nrows rows. */
DTX_MUSTUSE enum dtx_code dtx_relayout_rows(struct dtx_relayout *m, struct dtx_err *err);
/* Cells of their own for column c, null until set. */
DTX_MUSTUSE enum dtx_code dtx_relayout_cells(struct dtx_relayout *m, uint32_t c,
                                             struct dtx_err *err);
/* A literal cell; memory running out is told at the end. */
struct dtx_from dtx_relayout_text(struct dtx_relayout *m, struct dtx_str text);
/* A name in the arena: the text trimmed, inner spaces squeezed; "" where it is blank. */
DTX_MUSTUSE enum dtx_code dtx_relayout_name(struct dtx_relayout *m, struct dtx_str text,
                                            const char **out, struct dtx_err *err);
/* Blank names become column_N, repeated ones get _2, _3 with a warning. */
DTX_MUSTUSE enum dtx_code dtx_relayout_tidy(struct dtx_relayout *m, struct dtx_err *err);
/* As dtx_op_count, once. */
void dtx_relayout_count(const struct dtx_relayout *m, const char *reason, int64_t n);

/* The hooks of the operation. */
DTX_MUSTUSE enum dtx_code dtx_relayout_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                              struct dtx_arena *arena,
                                              const struct dtx_schema **out, dtx_relayout_fn *lay,
                                              struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_relayout_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                             struct dtx_emit *out, dtx_relayout_fn *lay,
                                             struct dtx_err *err);

#endif
