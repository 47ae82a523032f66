/* Bytes that are not UTF-8: what encoding they most likely are, and a reading that goes on. */
#ifndef DTX_IO_ENCODING_ENC_GUESS_H
#define DTX_IO_ENCODING_ENC_GUESS_H

#include "core/base/buf.h"

#define DTX_ENC_MENDED  "utf-8:repair"
#define DTX_MEND_PLACES 5

/* The likeliest encoding of a text that is not UTF-8: a name of iconv, or DTX_ENC_MENDED when most
 * of it is UTF-8 after all. */
const char *dtx_enc_guess(struct dtx_str text);

/* Other encodings that make as much of the text, or nearly, whatever they read: a name each; how
 * many. */
#define DTX_ENC_RIVALS 8
size_t dtx_enc_rivals(struct dtx_str text, const char *guess, const char *name[DTX_ENC_RIVALS]);
/* enc_rivals.c: "; as likely 'x' (--encoding NAME) as 'y' (GUESS)" of those that read something
 * else; nothing: there are none. */
void dtx_enc_rivals_tell(struct dtx_str text, const char *guess, struct dtx_buf *out);

/* detect_utf16.c: the encoding that zeros between the bytes or escapes give away, NULL: none does.
 */
const char *dtx_enc_told(struct dtx_str head);
/* Text of a mainframe: letters, digits and line ends of EBCDIC, and hardly anything else. */
bool dtx_enc_is_ebcdic(struct dtx_str text);

/* A byte that windows-1252 has for a sign which stands between blanks or in brackets as well: (€),
 * 2 × 3, a – b. */
bool dtx_enc_is_sign(char c);

/* What was done to a text that was read as UTF-8 with flaws. */
struct dtx_mend {
	int64_t letters;  /* single bytes read as windows-1252, since that makes a word */
	int64_t replaced; /* bytes that are nothing: U+FFFD */
	int64_t marks;    /* byte order marks at the begin of a line, left out */
	size_t place[DTX_MEND_PLACES]; /* of the first of all of them */
	size_t nplaces;
};
/* Appends the UTF-8 text of [at, at + step) or a little more; returns where it stopped. */
size_t dtx_mend_step(struct dtx_mend *m, struct dtx_str text, size_t at, size_t step,
                     struct dtx_buf *out);
/* Counts a byte that no encoding explains. */
void dtx_mend_replace(struct dtx_mend *m, size_t at, struct dtx_buf *out);
/* A byte order mark inside the text, at the begin of a line (or of all). */
bool dtx_enc_is_mark(struct dtx_str text, size_t at);
/* First flaw that reading as plain UTF-8 would not show or not survive, from `at` on: a bad byte,
 * or a byte order mark at the begin of a line; -1 if none. */
ptrdiff_t dtx_enc_flaw(struct dtx_str text, size_t at);

#endif
