/* A small table as texts, to be compared with another. */
#ifndef DTX_CLI_TEXTGRID_H
#define DTX_CLI_TEXTGRID_H

#include "core/base/json.h"
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

/* Columns `col[i]` of g against column i of `want`: 1 the same rows in the same order, 0.9 in
 * another order, else 0.  Numbers are equal by value, blank texts to nulls. */
double dtx_textgrid_match(const struct dtx_textgrid *g, const uint32_t *col,
                          const struct dtx_textgrid *want);

#endif
