/* Texts that a spreadsheet program would take for formulas when it opens a CSV file. */
#ifndef DTX_IO_WRITE_CSV_FORMULA_H
#define DTX_IO_WRITE_CSV_FORMULA_H

#include "core/data/batch.h"

struct dtx_csv_formulas {
	atomic_uint_fast64_t n;
	atomic_uint_fast32_t col; /* the leftmost column that has one, + 1 */
};
/* Whether it begins with = or @ and more than a blank, or with a sign and something that begins an
 * expression: "-5", "+49 30" and "- none" are not formulas. */
bool dtx_csv_formula_is(struct dtx_str text);
/* Counts the formulas in the live rows. Several threads may call it at once. */
void dtx_csv_formula_count(const struct dtx_batch *b, struct dtx_csv_formulas *to);
/* Adds n formulas, the leftmost of them in column col - 1. */
void dtx_csv_formula_add(struct dtx_csv_formulas *to, uint64_t n, uint32_t col);
/* Adds a note if there were any. */
DTX_MUSTUSE enum dtx_code dtx_csv_formula_note(struct dtx_csv_formulas *f,
                                               const struct dtx_schema *schema,
                                               struct dtx_errlist *diags, struct dtx_err *err);

#endif
