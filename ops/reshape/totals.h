/* Finds rows that are totals of the rows above them: by words such as "Total", proved by the
 * numbers. */
#ifndef DTX_OPS_RESHAPE_TOTALS_H
#define DTX_OPS_RESHAPE_TOTALS_H

#include "ops/kit/cells_untyped.h"

/* Words that begin or end the label of a total, in folded case: English; German; Italian.  The
 * others are the end or the beginning of such labels as well: "Grand Total", "Total général",
 * "Sous-total".  Keep WORDS of sandbox/guest/dx/dxrepair.py the same. */
#define DTX_TOTAL_WORDS(FIRST, NEXT)                                                               \
	FIRST("total")                                                                             \
	NEXT("grand total")                                                                        \
	NEXT("subtotal")                                                                           \
	NEXT("sub-total")                                                                          \
	NEXT("sum")                                                                                \
	NEXT("overall")                                                                            \
	NEXT("summe")                                                                              \
	NEXT("zwischensumme")                                                                      \
	NEXT("gesamtsumme")                                                                        \
	NEXT("gesamt")                                                                             \
	NEXT("insgesamt")                                                                          \
	NEXT("gesamtergebnis")                                                                     \
	NEXT("totale")                                                                             \
	NEXT("subtotale")

/* Whether a label begins or ends with one of the words, which are in folded case.  Spaces around
 * the label and a colon at its end do not count. */
bool dtx_total_label(struct dtx_str label, const char *const *words, size_t nwords);
/* The same for the default words. */
bool dtx_total_label_default(struct dtx_str label);

/* Numbers of a row that differ from the sums of their columns: how many, and the first. */
struct dtx_total_gaps {
	uint32_t n, col;
	double sum;
	unsigned places; /* decimals that the sum has at most */
};
struct dtx_totals {
	struct dtx_raw *raw;
	const char *const *words; /* in folded case; owned by the caller */
	size_t nwords;
	const uint32_t *label; /* columns in which to look for words */
	uint32_t nlabels;
	bool verify;
	struct dtx_total_sum *since, *all; /* sums per column: since the last total, and of all
	                                    * rows */
	uint8_t *marks;                    /* per column how its numbers are written */
	struct dtx_buf text;
	/* About the last row that was a candidate, if `verify` is on: numbers that may differ by
	 * rounding, and the others that are not the sum. */
	struct dtx_total_gaps rounded, off;
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
