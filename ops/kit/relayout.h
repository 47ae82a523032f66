/* A table with a new layout: each cell of the result is a cell of the input, a text, or null.
 *
 * It is for repairs that move cells across rows and columns.  An operation writes one function, the
 * layout; schema and rows are made from it, and types are detected again.  If all cells of a column
 * are cells of an input, their source bytes are kept. */
#ifndef DTX_OPS_KIT_RELAYOUT_H
#define DTX_OPS_KIT_RELAYOUT_H

#include "core/base/memory/arena.h"
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
	int32_t col;           /* without `cell`: this column in every row; or DTX_FROM_NULL */
	struct dtx_from *cell; /* for each row; NULL: `col` has it */
};
struct dtx_relayout {
	const struct dtx_opctx *ox;
	struct dtx_arena arena; /* names and whatever else the layout needs */
	struct dtx_raw raw;     /* the input */
	struct dtx_relayout_col *out;
	uint32_t ncols;
	int64_t nrows;
	int64_t *row;               /* input row of each row; -1: it was made; NULL: the same row */
	struct dtx_spanbuf texts;   /* literal cells */
	struct dtx_from *text_from; /* for each: the cell that it is a part of; col -1: none */
	size_t cap_text_from;
	bool pairs; /* a null stands for a cell that equals the one above */
	struct dtx_column *text;
	bool counts; /* this is the second of two layouts, whose counts are reported */
};
/* Fills in m: calls dtx_relayout_size, then sets names, columns, rows and cells. */
typedef enum dtx_code dtx_relayout_fn(struct dtx_relayout *m, struct dtx_err *err);

/* Makes room for the result.  At first columns are null and rows are those of the input.  Code:
 * col_limit. */
DTX_MUSTUSE enum dtx_code dtx_relayout_size(struct dtx_relayout *m, int64_t nrows, uint32_t ncols,
                                            struct dtx_err *err);
/* Makes the result the same as the input, with nrows rows. */
DTX_MUSTUSE enum dtx_code dtx_relayout_same(struct dtx_relayout *m, int64_t nrows,
                                            struct dtx_err *err);
/* Makes m->row, for the caller to fill in for m->nrows rows. */
DTX_MUSTUSE enum dtx_code dtx_relayout_rows(struct dtx_relayout *m, struct dtx_err *err);
/* Makes cells for column c, which are null until they are set. */
DTX_MUSTUSE enum dtx_code dtx_relayout_cells(struct dtx_relayout *m, uint32_t c,
                                             struct dtx_err *err);
/* A literal cell.  If memory is out, it is reported at the end. */
struct dtx_from dtx_relayout_text(struct dtx_relayout *m, struct dtx_str text);
/* The same for a part of the text of an input cell. */
struct dtx_from dtx_relayout_part(struct dtx_relayout *m, struct dtx_str text,
                                  struct dtx_from cell);
/* A name in the arena: the text, trimmed and with single spaces inside; "" if it is blank. */
DTX_MUSTUSE enum dtx_code dtx_relayout_name(struct dtx_relayout *m, struct dtx_str text,
                                            const char **out, struct dtx_err *err);
/* Replaces blank names by column_N; repeated names get _2, _3 with a warning. */
DTX_MUSTUSE enum dtx_code dtx_relayout_tidy(struct dtx_relayout *m, struct dtx_err *err);
/* As dtx_op_count, but only in one of the two layouts. */
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
