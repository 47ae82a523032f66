/* A module can state what it assumes about its input (ASSUMES) and how columns of its result are
 * computed (FORMULAS). The engine checks both with its own expressions, without running the
 * module. */
#ifndef DTX_FALLBACK_ASSUME_H
#define DTX_FALLBACK_ASSUME_H

#include "core/base/text/json.h"
#include "core/data/batch.h"

/* Checks the conditions of ASSUMES on every row of `main`. If `assumes` or `main` is NULL there
 * is nothing to check. Appends rows to `checks`. Error: snippet_assumption, if a condition does
 * not hold or cannot be evaluated. */
DTX_MUSTUSE enum dtx_code dtx_assume_input(const json_t *assumes, struct dtx_table *main,
                                           json_t *checks, struct dtx_err *err);
/* Computes the FORMULAS that use only columns of the result again, row by row, and compares;
 * numbers may differ by rounding. Others are skipped. Appends rows to `checks`. Error:
 * snippet_contract, if a value differs. */
DTX_MUSTUSE enum dtx_code dtx_assume_result(const json_t *formulas, struct dtx_table *result,
                                            json_t *checks, struct dtx_err *err);

#endif
