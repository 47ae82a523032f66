/* Builds a flat column value by value; the only way to make one.  Text is copied into blocks that
 * the column owns.
 *
 * The add functions do not fail: a builder remembers that memory ran out, ignores further values,
 * and dtx_builder_finish reports it. */
#ifndef DTX_DATA_BUILDER_H
#define DTX_DATA_BUILDER_H

#include "core/data/column.h"

struct dtx_builder {
	struct dtx_typeref type;
	uint32_t len, cap; /* rows */
	uint32_t nulls;
	void *values;
	uint64_t *valid;                   /* made with the first null */
	struct dtx_arena_block *text_head; /* arena of the long texts */
	struct dtx_arena_block *text_spare;
	size_t text_used;
	bool failed; /* memory ran out; dtx_builder_finish reports it */
};

/* Never fails.  Room for `hint` rows is reserved when the first value is added. */
void dtx_builder_init(struct dtx_builder *b, struct dtx_typeref type, uint32_t hint);
void dtx_builder_clear(struct dtx_builder *b);
void dtx_builder_null(struct dtx_builder *b);
void dtx_builder_bool(struct dtx_builder *b, bool v);
void dtx_builder_i64(struct dtx_builder *b, int64_t v); /* INT64 and DATETIME */
void dtx_builder_day(struct dtx_builder *b, int32_t v);
void dtx_builder_f64(struct dtx_builder *b, double v); /* -0.0 becomes 0.0 */
void dtx_builder_dec(struct dtx_builder *b, struct dtx_dec128 v);
void dtx_builder_text(struct dtx_builder *b, struct dtx_str v); /* copies the bytes */
/* Text whose bytes live longer than the column: the caller passes their owner to
 * dtx_builder_finish. */
void dtx_builder_text_borrow(struct dtx_builder *b, struct dtx_str v);
/* Adds a row, possibly null, of a FLAT, DICT or CONST column of the same type. */
void dtx_builder_copy(struct dtx_builder *b, const struct dtx_column *from, uint32_t row);
/* Adds the rows row[0..n) of such a column. */
void dtx_builder_rows(struct dtx_builder *b, const struct dtx_column *from, const uint16_t *row,
                      uint32_t n);
/* Adds n rows to an empty builder at once and returns the array of values for the caller to fill
 * (BOOL: zeroed bits to set).  All rows are present until dtx_builder_absent marks one as null.
 * NULL: out of memory; dtx_builder_finish reports it. */
DTX_MUSTUSE void *dtx_builder_bulk(struct dtx_builder *b, uint32_t n);
void dtx_builder_absent(struct dtx_builder *b, uint32_t row);
/* Copies v into the memory of the column and returns a view of it, for the array of
 * dtx_builder_bulk. */
struct dtx_text dtx_builder_keep(struct dtx_builder *b, struct dtx_str v);
/* Makes the column and empties the builder, which may be used again.  `keep` (may be NULL) is the
 * owner of borrowed text; a reference to it is taken.  Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_builder_finish(struct dtx_builder *b, struct dtx_owner *keep,
                                             struct dtx_column **out, struct dtx_err *err);

#endif
