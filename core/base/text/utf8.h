/* UTF-8: validate, count, step, simple case folding, display width.  No locale. */
#ifndef DTX_BASE_TEXT_UTF8_H
#define DTX_BASE_TEXT_UTF8_H

#include "core/base/buf.h"

/* Offset of the first byte that is not UTF-8 (surrogates and overlongs are not), or -1. */
ptrdiff_t dtx_utf8_bad(const char *text, size_t len);
/* Code point at *pos, which moves on; U+FFFD and one byte for a bad byte. */
uint32_t dtx_utf8_next(const char *text, size_t len, size_t *pos);
/* Writes cp as 1-4 bytes, returns how many. */
size_t dtx_utf8_put(char out[4], uint32_t cp);
/* Number of code points (valid text). */
size_t dtx_utf8_count(const char *text, size_t len);
/* Byte offset of code point number n (from 0), len if there are fewer. */
size_t dtx_utf8_offset(const char *text, size_t len, size_t n);
/* Unicode White_Space. */
bool dtx_utf8_is_space(uint32_t cp);
/* Without Unicode spaces at both ends. */
struct dtx_str dtx_utf8_trim(struct dtx_str s);
/* True when empty or Unicode spaces only. */
bool dtx_utf8_is_blank(struct dtx_str s);
/* Full mapping for upper and lower, simple fold; appended to out. */
void dtx_utf8_upper(struct dtx_buf *out, struct dtx_str s);
void dtx_utf8_lower(struct dtx_buf *out, struct dtx_str s);
void dtx_utf8_fold(struct dtx_buf *out, struct dtx_str s);
/* A letter, a digit or number, or a mark that belongs to one. */
bool dtx_utf8_is_word(uint32_t cp);
/* Control characters (C0, DEL, C1) and those that turn the direction of a text around (U+202A to
 * U+202E, U+2066 to U+2069): on a terminal they show another text than the one that is there. */
bool dtx_utf8_steers(uint32_t cp);
/* The first such character of `text` that is not in `allowed` (ASCII); 0: none. */
uint32_t dtx_utf8_steering(const char *text, const char *allowed);
/* A normalisation form, appended to out (valid text). */
enum dtx_utf8_form { DTX_UTF8_NFC, DTX_UTF8_NFD, DTX_UTF8_NFKC, DTX_UTF8_NFKD };
void dtx_utf8_normal(struct dtx_buf *out, struct dtx_str s, enum dtx_utf8_form form);
/* The first letter of each word in upper case, the others in lower; an apostrophe parts no word. */
void dtx_utf8_title(struct dtx_buf *out, struct dtx_str s);
/* Letters without their marks, a few Latin ones spelled out; what is not ASCII then becomes
 * `other`, with NULL it stays, decomposed. */
void dtx_utf8_to_ascii(struct dtx_buf *out, struct dtx_str s, const char *other);
/* Terminal columns: wide 2, combining and controls 0. */
size_t dtx_utf8_width(const char *text, size_t len);

#endif
