/* The narrowest type that all values fit; mergeable. */
#ifndef DTX_DATA_INFER_H
#define DTX_DATA_INFER_H

#include "core/data/batch.h"

/* What has been seen of one column of text cells. */
struct dtx_infer {
	uint64_t nulls, bools, ints, wide_ints /* beyond 2^53 */, floats, dates, datetimes, texts;
	uint64_t zoned;		/* datetimes with an offset */
	struct dtx_str sample;	/* first value that is text while others are not; borrowed */
	int64_t sample_row;
};
void dtx_infer_text(struct dtx_infer *f, struct dtx_str s, bool null, int64_t row);
/* All rows of a SPAN, CELL or text column; `row` is the physical row of the first. */
void dtx_infer_column(struct dtx_infer *f, const struct dtx_column *c, int64_t row);
void dtx_infer_merge(struct dtx_infer *f, const struct dtx_infer *other);
struct dtx_typeref dtx_infer_type(const struct dtx_infer *f);

#endif
