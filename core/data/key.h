/* Keys: rows as bytes that compare and hash as their values do. */
#ifndef DTX_DATA_KEY_H
#define DTX_DATA_KEY_H

#include "core/data/batch.h"
#include "core/data/builder.h"

/* Appends the equality key of a row: per column a tag, which also marks null, and the value.
 * Numbers of all types compare by value (int 1, decimal 1.0 and float 1.0 are equal), texts by
 * length and bytes.  The columns are FLAT, DICT or CONST. */
void dtx_key_equal(struct dtx_column *const *col, size_t n, uint32_t row, struct dtx_buf *out);

/* The same for n rows, sel[from ..] (NULL: from ..), one after the other.  The key of row i ends at
 * end[i]. */
void dtx_key_equal_rows(struct dtx_column *const *col, size_t ncols, const uint16_t *sel,
                        uint32_t from, uint32_t n, struct dtx_buf *out, size_t *end);

/* Whether the value of this type can be restored from its key. */
bool dtx_key_is_reversible(enum dtx_type type);
/* Reads the values at the start of n keys of such a type into an empty builder of that type.  at[i]
 * moves past the value. */
void dtx_key_values(const char **at, uint32_t n, struct dtx_builder *out);

enum dtx_collate { DTX_COLLATE_BINARY, DTX_COLLATE_NOCASE, DTX_COLLATE_NATURAL };
struct dtx_key_order {
	bool desc, nulls_first;
	enum dtx_collate collate;
};
/* Appends the sort key of a row: its memcmp order is the sort order of the values.  Nulls are last
 * in both directions unless nulls_first is set. */
void dtx_key_sort(const struct dtx_column *col, struct dtx_key_order order, uint32_t row,
                  struct dtx_buf *out);

#endif
