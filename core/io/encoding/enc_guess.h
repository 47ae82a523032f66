/* For bytes that are not UTF-8: guesses their encoding, and reads text that mixes encodings. */
#ifndef DTX_IO_ENCODING_ENC_GUESS_H
#define DTX_IO_ENCODING_ENC_GUESS_H

#include "core/base/memory/buf.h"

#define DTX_ENC_MENDED  "utf-8:repair"
#define DTX_MEND_PLACES 5

/* The most likely encoding of a text that is not UTF-8: a name of iconv, or DTX_ENC_MENDED if most
 * of it is UTF-8 after all. */
const char *dtx_enc_guess(struct dtx_str text);

/* Finds other encodings that are as likely, or nearly, even if they give the same text. Returns
 * how many, with their names. */
#define DTX_ENC_RIVALS 8
/* Appends "; as likely 'x' (--encoding NAME) as 'y' (GUESS)" for the encodings
 * that give another text, or nothing if none. */
void dtx_enc_rivals_tell(struct dtx_str text, const char *guess, struct dtx_buf *out);

/* Whether this is text of a mainframe: nearly all bytes are letters, digits and line ends of
 * EBCDIC. */
bool dtx_enc_is_ebcdic(struct dtx_str text);

/* Whether windows-1252 has a sign for this byte that also occurs between blanks or in brackets:
 * (€), 2 × 3, a – b. */
bool dtx_enc_is_sign(char c);

/* What was changed in a text that was read as UTF-8 with errors. */
struct dtx_mend {
	/* single bytes that were read as windows-1252, because that makes a word */
	int64_t letters;
	int64_t replaced;              /* bytes without a meaning, now U+FFFD */
	int64_t marks;                 /* byte order marks at the start of a line, removed */
	size_t place[DTX_MEND_PLACES]; /* the places of the first changes */
	size_t nplaces;
};
/* Appends the text of [at, at + step), or a little more, as UTF-8. Returns where it stopped. */
size_t dtx_mend_step(struct dtx_mend *m, struct dtx_str text, size_t at, size_t step,
                     struct dtx_buf *out);

#endif
