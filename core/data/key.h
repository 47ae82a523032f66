/* Rows to bytes that compare and hash as the values do. */
#ifndef DTX_DATA_KEY_H
#define DTX_DATA_KEY_H

#include "core/data/batch.h"
#include "core/data/builder.h"

/* Appends the equality key of a row: per column a null byte, then the value; numbers of any type
 * by value (int 1, decimal 1.0 and float 1.0 are equal), text by bytes with its length.  Columns
 * are FLAT, DICT or CONST. */
void dtx_key_equal(struct dtx_column *const *col, size_t n, uint32_t row, struct dtx_buf *out);

/* The same of n rows, sel[from ..] (NULL: from ..), one behind the other: that of row i ends at
 * end[i]. */
void dtx_key_equal_rows(struct dtx_column *const *col, size_t ncols, const uint16_t *sel,
                        uint32_t from, uint32_t n, struct dtx_buf *out, size_t *end);

/* Whether the key of a value of this type tells the value, not only what is equal to it. */
bool dtx_key_tells(enum dtx_type type);
/* The values that n keys start with, of such a type, into an empty builder of it; at[i] is then
 * behind the i-th. */
void dtx_key_values(const char **at, uint32_t n, struct dtx_builder *out);

enum dtx_collate { DTX_COLLATE_BINARY, DTX_COLLATE_NOCASE, DTX_COLLATE_NATURAL };
struct dtx_key_order {
	bool desc, nulls_first;
	enum dtx_collate collate;
};
/* Appends bytes whose memcmp order is the sort order of the row's value (nulls last in both
 * directions unless nulls_first). */
void dtx_key_sort(const struct dtx_column *col, struct dtx_key_order order, uint32_t row,
                  struct dtx_buf *out);

#endif
