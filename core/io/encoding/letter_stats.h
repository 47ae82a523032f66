/* Which language the letters beyond ASCII of a text could belong to. */
#ifndef DTX_IO_ENCODING_LETTER_STATS_H
#define DTX_IO_ENCODING_LETTER_STATS_H

#include "core/base/text/str.h"

/* From -n to n for n Latin letters beyond ASCII: n when one language has them all.  Letters that
 * only ever meet when bytes are read in the wrong encoding have no language in common. */
int64_t dtx_enc_tongue(struct dtx_str utf8);

#endif
