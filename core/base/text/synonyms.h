/* Words of other tools (pandas, SQL, dplyr, spreadsheets) and what they are here: for messages
 * only, never for meaning. */
#ifndef DTX_BASE_TEXT_SYNONYMS_H
#define DTX_BASE_TEXT_SYNONYMS_H

#include "core/base/err.h"

/* Says in err what `word` is called here: did_you_mean, and a hint where a name says too little.
 * `of`: an op, for its parameters; "op" itself, "plan", "inputs", "dialect", "output", "limits",
 * "expect", "type", or "OP.PARAM" for its choices.  `have`: names that may be offered (NULL: any).
 * False: nobody knows the word, err is as it was. */
bool dtx_err_foreign(struct dtx_err *err, const char *of, const char *word, const char *const *have,
                     size_t n);

#endif
