/* The one way to make a flat column, value by value.  Text is copied into blocks the column owns.
 */
#ifndef DTX_DATA_BUILDER_H
#define DTX_DATA_BUILDER_H

#include "core/data/column.h"

struct dtx_builder {
	struct dtx_typeref type;
	uint32_t len, cap; /* rows */
	uint32_t nulls;
	void *values;
	uint64_t *valid;                   /* made with the first null */
	struct dtx_arena_block *text_head; /* arena of long texts */
	struct dtx_arena_block *text_spare;
	size_t text_used;
	bool failed; /* memory ran out; reported by finish */
};

/* Never fails; room for `hint` rows is reserved at the first add. */
void dtx_builder_init(struct dtx_builder *b, struct dtx_typeref type, uint32_t hint);
void dtx_builder_clear(struct dtx_builder *b);
void dtx_builder_null(struct dtx_builder *b);
void dtx_builder_bool(struct dtx_builder *b, bool v);
void dtx_builder_i64(struct dtx_builder *b, int64_t v); /* INT64, DATETIME */
void dtx_builder_day(struct dtx_builder *b, int32_t v);
void dtx_builder_f64(struct dtx_builder *b, double v); /* -0.0 becomes 0.0 */
void dtx_builder_dec(struct dtx_builder *b, struct dtx_dec128 v);
void dtx_builder_text(struct dtx_builder *b, struct dtx_str v); /* copies */
/* Text whose bytes outlive the column (the caller sets an owner on the result). */
void dtx_builder_text_borrow(struct dtx_builder *b, struct dtx_str v);
/* Row of another FLAT/DICT/CONST column of the same type, nulls too. */
void dtx_builder_copy(struct dtx_builder *b, const struct dtx_column *from, uint32_t row);
/* Rows row[0..n) of such a column. */
void dtx_builder_rows(struct dtx_builder *b, const struct dtx_column *from, const uint16_t *row,
                      uint32_t n);
/* n rows in one go on an empty builder: the caller fills the array (BOOL: zeroed bits to set), all
 * rows are present until dtx_builder_absent says otherwise.  NULL: out of memory (finish tells). */
DTX_MUSTUSE void *dtx_builder_bulk(struct dtx_builder *b, uint32_t n);
void dtx_builder_absent(struct dtx_builder *b, uint32_t row);
/* A view of text whose bytes are copied into the column's memory, for a bulk. */
struct dtx_text dtx_builder_keep(struct dtx_builder *b, struct dtx_str v);
/* The column; the builder is empty again and may be reused.  `keep` (may be NULL) is an owner that
 * borrowed text needs; a reference is taken. */
DTX_MUSTUSE enum dtx_code dtx_builder_finish(struct dtx_builder *b, struct dtx_owner *keep,
                                             struct dtx_column **out, struct dtx_err *err);

#endif
