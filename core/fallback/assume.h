/* What a module says of its input and its result, held against both by the engine. */
#ifndef DTX_FALLBACK_ASSUME_H
#define DTX_FALLBACK_ASSUME_H

#include "core/base/text/json.h"
#include "core/data/batch.h"

/* ASSUMES: conditions that every row of `main` must meet (NULL assumes or main: nothing to check).
 * Appends check rows; snippet_assumption when one does not hold or cannot be evaluated. */
DTX_MUSTUSE enum dtx_code dtx_assume_input(const json_t *assumes, struct dtx_table *main,
                                           json_t *checks, struct dtx_err *err);
/* FORMULAS that use only columns of the result: each is computed again, row by row; numbers may
 * differ by rounding.  Others are skipped.  Appends check rows; snippet_contract when one differs.
 */
DTX_MUSTUSE enum dtx_code dtx_assume_result(const json_t *formulas, struct dtx_table *result,
                                            json_t *checks, struct dtx_err *err);

#endif
