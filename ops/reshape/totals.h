/* Finds rows that are totals of the rows above them: by words such as "Total", proved by the
 * numbers. */
#ifndef DTX_OPS_RESHAPE_TOTALS_H
#define DTX_OPS_RESHAPE_TOTALS_H

#include "ops/kit/cells_untyped.h"

struct dtx_totals {
	struct dtx_raw *raw;
	const char *const *words; /* in folded case; owned by the caller; nwords 0: default words */
	size_t nwords;
	const uint32_t *label; /* columns in which to look for words */
	uint32_t nlabels;
	bool verify;
	struct dtx_total_sum *since, *all; /* sums per column: since the last total, and of all
	                                    * rows */
	struct dtx_buf text, folded;
};
enum dtx_total { DTX_TOTAL_NO, DTX_TOTAL_YES, DTX_TOTAL_UNPROVEN };

/* Prepares for the rows of a table. */
DTX_MUSTUSE enum dtx_code dtx_totals_open(struct dtx_totals *t, struct dtx_raw *raw,
                                          struct dtx_err *err);
void dtx_totals_close(struct dtx_totals *t);
/* Judges the next row; rows must come in order.  YES: drop it, and the sums start again.  Other
 * rows are added to the sums. */
enum dtx_total dtx_totals_row(struct dtx_totals *t, int64_t row);

#endif
