/* How usual the characters of a text are in the languages it may be written in. */
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

/* Usual ideographs and syllables of the language that stand beside another character of its. */
int64_t dtx_enc_usual(struct dtx_str utf8, enum dtx_usual tongue);
/* One of the commonest small letters of Cyrillic, Greek, Hebrew, Arabic. */
bool dtx_enc_is_usual(uint32_t cp);

#endif
