/* Texts that a spreadsheet program would take for formulas when it opens a CSV file. */
#ifndef DTX_IO_WRITE_CSV_FORMULA_H
#define DTX_IO_WRITE_CSV_FORMULA_H

#include "core/data/batch.h"

struct dtx_csv_formulas {
	atomic_uint_fast64_t n;
	atomic_uint_fast32_t col; /* the leftmost that has one, + 1 */
};
/* It begins with = or @, or with a sign and then no digit: "-5", "+49 30", "- none" are none. */
bool dtx_csv_formula_is(struct dtx_str text);
/* Counts those of the live rows.  Any thread, several at once. */
void dtx_csv_formula_count(const struct dtx_batch *b, struct dtx_csv_formulas *to);
/* The note, if there were any. */
DTX_MUSTUSE enum dtx_code dtx_csv_formula_note(struct dtx_csv_formulas *f,
                                               const struct dtx_schema *schema,
                                               struct dtx_errlist *diags, struct dtx_err *err);

#endif
