/* Spans of a batch row by row: what its columns say of a row is in one place, in a fourth of the
 * room.
 *
 * A record is where the first cell begins, then for each cell its length in a byte, where cells
 * follow each other; where they do not, with how far from the end of the one before it begins; and
 * where that is too little, the spans as they are. */
#ifndef DTX_OPS_KIT_ROWSPANS_H
#define DTX_OPS_KIT_ROWSPANS_H

#include "core/data/batch.h"

enum dtx_rowspans_form { DTX_ROWSPANS_CLOSE, DTX_ROWSPANS_GAPS, DTX_ROWSPANS_WIDE };
#define DTX_ROWSPANS_LEN  0x7fu            /* of a byte, beside whether there are quotes */
#define DTX_ROWSPANS_TEXT 65536u           /* longest text of a row */
#define DTX_ROWSPANS_FAR  (UINT32_MAX / 2) /* offsets are below */

/* Which columns of batches, ascending. */
struct dtx_rowspans_cols {
	uint32_t n, ncols;
	uint32_t *col;
	int32_t *place; /* of each of the ncols columns in col; -1: it stays as it is */
};
struct dtx_rowspans {
	uint8_t *rec; /* NULL: there are none */
	uint32_t stride;
	enum dtx_rowspans_form form;
};

/* Those of columns want[0, n) of b, ascending, that are text in place.  None (cols->n 0) where they
 * are too few to be worth it, or one of them lies elsewhere. */
DTX_MUSTUSE enum dtx_code dtx_rowspans_choose(const struct dtx_batch *b, const uint32_t *want,
                                              uint32_t n, struct dtx_rowspans_cols *cols,
                                              struct dtx_err *err);
void dtx_rowspans_cols_clear(struct dtx_rowspans_cols *cols);
/* Whether these columns of two batches are text in place under the same rules. */
bool dtx_rowspans_alike(const struct dtx_rowspans_cols *cols, const struct dtx_batch *a,
                        const struct dtx_batch *b);
/* Records of a dense batch; none where its cells do not suit. */
DTX_MUSTUSE enum dtx_code dtx_rowspans_make(const struct dtx_rowspans_cols *cols,
                                            const struct dtx_batch *b, struct dtx_rowspans *out,
                                            struct dtx_err *err);
void dtx_rowspans_clear(struct dtx_rowspans *r);
/* The columns let go of their spans, which the records have: v.span is NULL, and only the text
 * stays behind them. */
DTX_MUSTUSE enum dtx_code dtx_rowspans_strip(const struct dtx_rowspans_cols *cols,
                                             struct dtx_batch *b, struct dtx_err *err);
/* And back. */
DTX_MUSTUSE enum dtx_code dtx_rowspans_restore(const struct dtx_rowspans_cols *cols,
                                               const struct dtx_rowspans *r, struct dtx_batch *b,
                                               struct dtx_err *err);

/* Spans of a record, `shift` bytes farther: the one of packed column k into to[k * step]. */
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
