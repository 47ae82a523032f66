/* Cells of many columns into one, source bytes kept: how sort, join, pivots and group keys move
 * cells.  Columns of one late form stay in it; different forms meet as text cells of a new block,
 * which read back as the values they were. */
#ifndef DTX_DATA_CELLS_H
#define DTX_DATA_CELLS_H

#include "core/data/batch.h"
#include "core/data/builder.h"
#include "core/data/quoting.h"
#include "core/data/schema.h"

/* Bytes that are read of a short cell at once, whatever its length. */
#define DTX_CELL_WIDE 16u

/* Cell i is row[i] of src[which[i]]; which[i] >= nsrc or a NULL source gives null.  Sources that
 * are FLAT, DICT or CONST have the field's type (dtx_cells_fit).  n <= 65,536. */
DTX_MUSTUSE enum dtx_code dtx_cells_gather(struct dtx_column *const *src, uint32_t nsrc,
                                           const uint32_t *which, const uint32_t *row, uint32_t n,
                                           const struct dtx_field *field, struct dtx_column **out,
                                           struct dtx_err *err);
/* The same where `held`, unless it is NULL, keeps all that is behind the sources: the column holds
 * it, and none of them. */
DTX_MUSTUSE enum dtx_code dtx_cells_gather_held(struct dtx_column *const *src, uint32_t nsrc,
                                                const uint32_t *which, const uint32_t *row,
                                                uint32_t n, const struct dtx_field *field,
                                                struct dtx_owner *held, struct dtx_column **out,
                                                struct dtx_err *err);
/* Whether the cells of two SPAN columns are of one text, all of whose bytes can be read. */
static inline bool dtx_cells_one_text(const struct dtx_column *a, const struct dtx_column *b)
{
	return a->base == b->base || (a->apart && b->apart && dtx_owner_kept(a->owner) &&
	                              dtx_owner_kept(a->owner) == dtx_owner_kept(b->owner));
}
/* An owner that keeps all that is behind the columns of batches, as they are now; the caller's. */
DTX_MUSTUSE enum dtx_code dtx_cells_hold(struct dtx_batch *const *batch, size_t n,
                                         struct dtx_owner **out, struct dtx_err *err);
/* c as a column that may stand under `field`: late forms as they are, others cast by the rule of
 * two columns in one.  The caller owns a reference. */
DTX_MUSTUSE enum dtx_code dtx_cells_fit(struct dtx_column *c, const struct dtx_field *field,
                                        struct dtx_column **out, struct dtx_err *err);

/* Column i of b for field `to`, borrowed: its values where `to` would read its text by other rules
 * (date format, decimal mark) than the ones it was written by. */
DTX_MUSTUSE enum dtx_code dtx_cells_under(struct dtx_batch *b, uint32_t i,
                                          const struct dtx_field *to, struct dtx_column **out,
                                          struct dtx_err *err);

/* Text of a value that is not null, as the field reads its own written cells: by its date format
 * and its decimal mark. */
void dtx_cells_print(const struct dtx_column *c, uint32_t row, const struct dtx_field *rules,
                     struct dtx_buf *out);

/* Two columns into one: `to` becomes the field of both.  True: it became text because the types
 * have nothing in common (warning type_promoted). */
bool dtx_field_merge(struct dtx_field *to, const struct dtx_field *f);
/* The written text of both is read by the same rules (format, decimal mark, group mark). */
bool dtx_field_same_rules(const struct dtx_field *a, const struct dtx_field *b);

/* Text cells written one after the other into a block of their own. */
struct dtx_spanbuf {
	struct dtx_buf bytes;
	struct dtx_span *span;
	size_t n, cap;
	uint64_t *valid; /* made with the first null that has bytes */
	size_t cap_words;
	struct dtx_celldialect dialect;
	struct dtx_quoting quoting; /* of the dialect */
	bool failed;
	const struct dtx_field *rules; /* values are written as this field reads them; NULL */
};
void dtx_spanbuf_init(struct dtx_spanbuf *s, struct dtx_celldialect dialect);
void dtx_spanbuf_clear(struct dtx_spanbuf *s);
/* The cell as written; quoted where its text needs it.  One of the output's dialect makes it that
 * of all; where none is, one of a more usual dialect does. */
void dtx_spanbuf_add(struct dtx_spanbuf *s, const struct dtx_column *c, uint32_t row);
void dtx_spanbuf_text(struct dtx_spanbuf *s, struct dtx_str text);
void dtx_spanbuf_null(struct dtx_spanbuf *s);
/* A SPAN column; the buffer is empty again. */
DTX_MUSTUSE enum dtx_code dtx_spanbuf_finish(struct dtx_spanbuf *s, struct dtx_typeref type,
                                             struct dtx_column **out, struct dtx_err *err);

#endif
