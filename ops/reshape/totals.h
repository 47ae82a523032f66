/* Rows that are totals of the rows above them: by their words, proved by their numbers. */
#ifndef DTX_OPS_RESHAPE_TOTALS_H
#define DTX_OPS_RESHAPE_TOTALS_H

#include "ops/kit/cells_untyped.h"

struct dtx_totals {
	struct dtx_raw *raw;
	const char *const *words; /* folded by the caller's copy */
	size_t nwords;
	const uint32_t *label; /* columns to look for words in */
	uint32_t nlabels;
	bool verify;
	struct dtx_total_sum *since, *all; /* per column */
	struct dtx_buf text, folded;
};
enum dtx_total { DTX_TOTAL_NO, DTX_TOTAL_YES, DTX_TOTAL_UNPROVEN };

DTX_MUSTUSE enum dtx_code dtx_totals_open(struct dtx_totals *t, struct dtx_raw *raw,
                                          struct dtx_err *err);
void dtx_totals_close(struct dtx_totals *t);
/* Judges the next row, in order.  YES: drop it; the sums since start anew.  The other rows are
 * added to the sums. */
enum dtx_total dtx_totals_row(struct dtx_totals *t, int64_t row);

#endif
