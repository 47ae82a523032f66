/* How frequent the characters of a text are in the language that it may be written in. */
#ifndef DTX_IO_ENCODING_ENC_USUAL_H
#define DTX_IO_ENCODING_ENC_USUAL_H

#include <stdint.h>

#include "core/base/text/str.h"

enum dtx_usual {
	DTX_USUAL_NONE,
	DTX_USUAL_JAPANESE,
	DTX_USUAL_CHINESE, /* simplified */
	DTX_USUAL_TAIWAN,  /* traditional */
	DTX_USUAL_KOREAN,
	DTX_USUAL_COUNT
};

/* Counts the frequent ideographs and syllables of the language that are next to another
 * character of it. */
int64_t dtx_enc_usual(struct dtx_str utf8, enum dtx_usual tongue);
/* Whether this is one of the most frequent small letters of Cyrillic, Greek, Hebrew or Arabic. */
bool dtx_enc_is_usual(uint32_t cp);

#endif
