/* UTF-8: validation, counting, iteration, case mapping, display width.  Independent of the locale.
 * Functions that append to a buffer report lack of memory through the buffer. */
#ifndef DTX_BASE_TEXT_UTF8_H
#define DTX_BASE_TEXT_UTF8_H

#include "core/base/memory/buf.h"

/* Offset of the first byte that is not valid UTF-8 (surrogates and overlong forms are not); -1 if
 * all is valid. */
ptrdiff_t dtx_utf8_bad(const char *text, size_t len);
/* The code point at *pos, which moves to the next one.  A bad byte gives U+FFFD and moves by one
 * byte. */
uint32_t dtx_utf8_next(const char *text, size_t len, size_t *pos);
/* Writes cp as 1 to 4 bytes and returns how many. */
size_t dtx_utf8_put(char out[4], uint32_t cp);
/* The number of code points of a valid text. */
size_t dtx_utf8_count(const char *text, size_t len);
/* Byte offset of code point number n (from 0); len if there are fewer. */
size_t dtx_utf8_offset(const char *text, size_t len, size_t n);
/* Whether cp has the Unicode property White_Space. */
bool dtx_utf8_is_space(uint32_t cp);
/* The view without Unicode spaces at both ends. */
struct dtx_str dtx_utf8_trim(struct dtx_str s);
/* Whether the text is empty or consists of Unicode spaces only. */
bool dtx_utf8_is_blank(struct dtx_str s);
/* Append the text in upper or lower case (full mapping) or case-folded (simple mapping). */
void dtx_utf8_upper(struct dtx_buf *out, struct dtx_str s);
void dtx_utf8_lower(struct dtx_buf *out, struct dtx_str s);
void dtx_utf8_fold(struct dtx_buf *out, struct dtx_str s);
/* Whether cp is a letter, a digit or number, or a mark that combines with one. */
bool dtx_utf8_is_word(uint32_t cp);
/* Whether cp controls the terminal or the direction of text: control characters (C0, DEL, C1), and
 * U+202A to U+202E and U+2066 to U+2069.  With these a terminal can show another text than the one
 * that is there. */
bool dtx_utf8_steers(uint32_t cp);
/* Whether cp steers, or is not seen at all: directional marks, characters without width, the soft
 * hyphen, separators of lines and paragraphs, tags. With these two names can look alike. */
bool dtx_utf8_hides(uint32_t cp);
/* The first character of `text` for which `which` is true and that is not in `allowed` (ASCII);
 * 0 if there is no such character. */
uint32_t dtx_utf8_first(const char *text, bool (*which)(uint32_t), const char *allowed);
/* Appends the text with \n, \x1b or \u202e instead of the characters for which `which` is true,
 * except those in `keep` (ASCII).  Bytes that are not UTF-8 become U+FFFD. */
void dtx_utf8_spell(struct dtx_buf *out, struct dtx_str s, bool (*which)(uint32_t),
                    const char *keep);
/* Appends the text in a normalization form.  The text must be valid. */
enum dtx_utf8_form { DTX_UTF8_NFC, DTX_UTF8_NFD, DTX_UTF8_NFKC, DTX_UTF8_NFKD };
void dtx_utf8_normal(struct dtx_buf *out, struct dtx_str s, enum dtx_utf8_form form);
/* Appends the text with the first letter of each word in upper case and the others in lower case.
 * An apostrophe does not end a word. */
void dtx_utf8_title(struct dtx_buf *out, struct dtx_str s);
/* Appends the text with letters instead of accented letters; a few Latin letters are spelled out.
 * A character that is still not ASCII becomes `other`; if `other` is NULL it stays, decomposed. */
void dtx_utf8_to_ascii(struct dtx_buf *out, struct dtx_str s, const char *other);
/* Terminal columns: wide characters count 2, combining and control characters 0. */
size_t dtx_utf8_width(const char *text, size_t len);

#endif
