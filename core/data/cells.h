/* Gathers cells of several columns into one and keeps their source bytes.  Sort, join, pivots and
 * group keys move cells with it.
 *
 * Columns of one late-typed form keep that form.  If the forms differ, the cells are written as
 * text into a new block, in a way that reads back as the same values. */
#ifndef DTX_DATA_CELLS_H
#define DTX_DATA_CELLS_H

#include "core/data/batch.h"
#include "core/data/builder.h"
#include "core/data/quoting.h"
#include "core/data/schema.h"

/* Bytes that readers load of a short cell, whatever its length. */
#define DTX_CELL_WIDE 16u

/* Makes a column whose cell i is row[i] of src[which[i]].  A cell is null if which[i] >= nsrc or
 * that source is NULL.  Sources that are FLAT, DICT or CONST must have the field's type
 * (dtx_cells_fit).  n <= 65,536. */
DTX_MUSTUSE enum dtx_code dtx_cells_gather(struct dtx_column *const *src, uint32_t nsrc,
                                           const uint32_t *which, const uint32_t *row, uint32_t n,
                                           const struct dtx_field *field, struct dtx_column **out,
                                           struct dtx_err *err);
/* The same.  If `held` is not NULL it owns all memory of the sources, so the new column references
 * it instead of each source. */
DTX_MUSTUSE enum dtx_code dtx_cells_gather_held(struct dtx_column *const *src, uint32_t nsrc,
                                                const uint32_t *which, const uint32_t *row,
                                                uint32_t n, const struct dtx_field *field,
                                                struct dtx_owner *held, struct dtx_column **out,
                                                struct dtx_err *err);
/* Whether the cells of two SPAN columns lie in one text all of whose bytes are readable. */
static inline bool dtx_cells_one_text(const struct dtx_column *a, const struct dtx_column *b)
{
	return a->base == b->base || (a->apart && b->apart && dtx_owner_kept(a->owner) &&
	                              dtx_owner_kept(a->owner) == dtx_owner_kept(b->owner));
}
/* Makes an owner that keeps all memory that the columns of the batches use now.  It belongs to the
 * caller. */
DTX_MUSTUSE enum dtx_code dtx_cells_hold(struct dtx_batch *const *batch, size_t n,
                                         struct dtx_owner **out, struct dtx_err *err);
/* Converts c to a column that can be gathered for `field`: late-typed forms stay as they are,
 * others are cast by the rules for merging two columns.  The caller owns a reference to *out. */
DTX_MUSTUSE enum dtx_code dtx_cells_fit(struct dtx_column *c, const struct dtx_field *field,
                                        struct dtx_column **out, struct dtx_err *err);

/* Column i of b for the field `to`, borrowed.  If `to` reads text by other rules (date format,
 * decimal mark) than the cells were written by, it is the typed values instead of the cells. */
DTX_MUSTUSE enum dtx_code dtx_cells_under(struct dtx_batch *b, uint32_t i,
                                          const struct dtx_field *to, struct dtx_column **out,
                                          struct dtx_err *err);

/* Appends the text of a value that is not null, written so that the field reads it back: with its
 * date format and its decimal mark. */
void dtx_cells_print(const struct dtx_column *c, uint32_t row, const struct dtx_field *rules,
                     struct dtx_buf *out);

/* Merges the fields of two columns that become one: `to` is then the field of both.  True if it
 * became text because the types have nothing in common (warning type_promoted). */
bool dtx_field_merge(struct dtx_field *to, const struct dtx_field *f);
/* Whether both fields read their text by the same rules (format, decimal mark, group mark). */
bool dtx_field_same_rules(const struct dtx_field *a, const struct dtx_field *b);

/* Text cells that are written one after the other into a new block, as a text file would have
 * them. */
struct dtx_spanbuf {
	struct dtx_buf bytes;
	struct dtx_span *span;
	size_t n, cap;
	uint64_t *valid; /* made with the first null cell that has bytes */
	size_t cap_words;
	struct dtx_celldialect dialect;
	struct dtx_quoting quoting; /* of the dialect */
	bool failed;
	const struct dtx_field *rules; /* values are written so that this field reads them back;
	                                * NULL */
};
void dtx_spanbuf_init(struct dtx_spanbuf *s, struct dtx_celldialect dialect);
void dtx_spanbuf_clear(struct dtx_spanbuf *s);
/* Appends a cell as it is written in its source; quoted if its text needs that.  If the cell has
 * the dialect of the output, all cells of the block get that dialect; otherwise the more usual of
 * two dialects wins (see dialect_rank). */
void dtx_spanbuf_add(struct dtx_spanbuf *s, const struct dtx_column *c, uint32_t row);
void dtx_spanbuf_text(struct dtx_spanbuf *s, struct dtx_str text);
void dtx_spanbuf_null(struct dtx_spanbuf *s);
/* Makes a SPAN column and empties the buffer. */
DTX_MUSTUSE enum dtx_code dtx_spanbuf_finish(struct dtx_spanbuf *s, struct dtx_typeref type,
                                             struct dtx_column **out, struct dtx_err *err);

#endif
