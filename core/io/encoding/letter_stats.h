/* Whether the letters outside ASCII in a text belong to one language. */
#ifndef DTX_IO_ENCODING_LETTER_STATS_H
#define DTX_IO_ENCODING_LETTER_STATS_H

#include "core/base/text/str.h"

/* A score from -n to n for n Latin letters outside ASCII: n if one language has all of them.
 * Letters from a wrong encoding usually have no language in common. */
int64_t dtx_enc_tongue(struct dtx_str utf8);

#endif
