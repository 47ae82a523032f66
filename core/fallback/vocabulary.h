/* Words that error messages are made of. */
#ifndef DTX_FALLBACK_VOCABULARY_H
#define DTX_FALLBACK_VOCABULARY_H

#include "core/base/str.h"

/* ASCII letters, in any case. */
bool dtx_vocabulary_has(struct dtx_str word);

#endif
