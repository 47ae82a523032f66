/* The spans of a batch as records, row by row.  All spans of a row are then in one place, and take
 * a fourth of the memory.
 *
 * A record has the offset of the first cell, then for each cell its length in one byte, if the
 * cells of a row follow each other directly (CLOSE).  If there are gaps between them, it also has
 * the distance from the end of the cell before (GAPS).  If that does not suffice, it has the spans
 * themselves (WIDE). */
#ifndef DTX_OPS_KIT_ROWSPANS_H
#define DTX_OPS_KIT_ROWSPANS_H

#include "core/data/batch.h"

enum dtx_rowspans_form { DTX_ROWSPANS_CLOSE, DTX_ROWSPANS_GAPS, DTX_ROWSPANS_WIDE };
/* Length in a byte; the other bit says whether the cell is quoted. */
#define DTX_ROWSPANS_LEN  0x7fu
#define DTX_ROWSPANS_TEXT 65536u           /* longest text of a row */
#define DTX_ROWSPANS_FAR  (UINT32_MAX / 2) /* offsets must be below this */

/* The columns that have records, ascending. */
struct dtx_rowspans_cols {
	uint32_t n, ncols;
	uint32_t *col;
	int32_t *place; /* for each of the ncols columns its index in col; -1: it has no records */
};
struct dtx_rowspans {
	uint8_t *rec; /* NULL if none */
	uint32_t stride;
	enum dtx_rowspans_form form;
};

/* Chooses from the columns want[0, n) of b, which are ascending, those that are cells of one text.
 * None (cols->n is 0) if there are too few, or if one of them is in another text. */
DTX_MUSTUSE enum dtx_code dtx_rowspans_choose(const struct dtx_batch *b, const uint32_t *want,
                                              uint32_t n, struct dtx_rowspans_cols *cols,
                                              struct dtx_err *err);
void dtx_rowspans_cols_clear(struct dtx_rowspans_cols *cols);
/* Whether these columns of two batches are cells of texts with the same rules. */
bool dtx_rowspans_alike(const struct dtx_rowspans_cols *cols, const struct dtx_batch *a,
                        const struct dtx_batch *b);
/* Makes records of a dense batch.  There are none if its cells do not fit any form. */
DTX_MUSTUSE enum dtx_code dtx_rowspans_make(const struct dtx_rowspans_cols *cols,
                                            const struct dtx_batch *b, struct dtx_rowspans *out,
                                            struct dtx_err *err);
void dtx_rowspans_clear(struct dtx_rowspans *r);
/* The columns drop their spans, which the records have now: v.span is NULL, and the columns own
 * only the text. */
DTX_MUSTUSE enum dtx_code dtx_rowspans_strip(const struct dtx_rowspans_cols *cols,
                                             struct dtx_batch *b, struct dtx_err *err);
/* Makes the spans of the columns again from the records. */
DTX_MUSTUSE enum dtx_code dtx_rowspans_restore(const struct dtx_rowspans_cols *cols,
                                               const struct dtx_rowspans *r, struct dtx_batch *b,
                                               struct dtx_err *err);

/* Reads the spans of a record and adds `shift` to their offsets.  The span of packed column k goes
 * to to[k * step]. */
static inline void dtx_rowspans_get(const uint8_t *rec, enum dtx_rowspans_form form, uint32_t n,
                                    uint32_t shift, size_t step, struct dtx_span *to)
{
	const bool gaps = form == DTX_ROWSPANS_GAPS;
	uint32_t at;

	if (form == DTX_ROWSPANS_WIDE) {
		for (uint32_t k = 0; k < n; k++, rec += sizeof(*to)) {
			memcpy(&to[k * step], rec, sizeof(*to));
			to[k * step].off += shift;
		}
		return;
	}
	memcpy(&at, rec, sizeof(at));
	at += shift;
	rec += sizeof(at);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t quote, len;

		if (gaps)
			at += *rec++;
		else
			at += k != 0;
		quote = *rec >> 7;
		len = *rec++ & DTX_ROWSPANS_LEN;
		to[k * step] = (struct dtx_span){ at + quote, len | quote << 31 };
		at += len + 2 * quote;
	}
}

#endif
