/* Words of other tools (pandas, SQL, dplyr, spreadsheets) and what they are called in dtx.  They
 * are used in messages only and never change the meaning of a plan. */
#ifndef DTX_BASE_TEXT_SYNONYMS_H
#define DTX_BASE_TEXT_SYNONYMS_H

#include "core/base/err.h"

/* Adds to err what `word` is called in dtx: did_you_mean, and a hint where a name alone says too
 * little.  `of` is what the word is about: an op, for its parameters; "op", "plan", "inputs",
 * "dialect", "output", "limits", "expect" or "type"; or "OP.PARAM" for the choices of a parameter.
 * `have` lists the names that may be suggested (NULL: any).  False: the word is unknown, and err is
 * unchanged. */
bool dtx_err_foreign(struct dtx_err *err, const char *of, const char *word, const char *const *have,
                     size_t n);

#endif
