/* States of aggregates as bytes, for group states that wait on disk.
 *
 * Most states are plain words, of which many are zero or small: a word is written without its
 * leading zero bytes.  States that hold memory of their own have `save` and `load` in their kernel.
 * The bytes are only read back by the run that wrote them, so they are not checked. */
#ifndef DTX_EXPR_AGG_AGGSAVE_H
#define DTX_EXPR_AGG_AGGSAVE_H

#include <string.h>

#include "core/base/memory/buf.h"

/* Readers load whole words, so this many bytes must be readable after the last word. */
#define DTX_WORDS_PAD 8u

/* Appends n words: for each two of them a byte with their lengths, then their bytes. */
static inline void dtx_words_save(const void *words, size_t n, struct dtx_buf *out)
{
	const char *from = words;
	char *at, *lens = NULL;

	if (!dtx_buf_room(out, n * sizeof(uint64_t) + n / 2 + 1 + DTX_WORDS_PAD))
		return;
	at = out->ptr + out->len;
	for (size_t i = 0; i < n; i++) {
		uint64_t v;
		unsigned len;

		memcpy(&v, from + i * sizeof(v), sizeof(v));
		len = v ? 8 - (unsigned)__builtin_clzll(v) / 8 : 0;
		if (i % 2 == 0) {
			lens = at++;
			*lens = (char)len;
		} else {
			*lens = (char)((unsigned char)*lens | len << 4);
		}
		memcpy(at, &v, sizeof(v)); /* little endian; longer than needed */
		at += len;
	}
	out->len = (size_t)(at - out->ptr);
}

/* Reads n words; *at moves after them. */
static inline void dtx_words_load(const char **at, void *words, size_t n)
{
	const char *p = *at;
	char *to = words;
	unsigned lens = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned len;
		uint64_t v;

		if (i % 2 == 0)
			lens = (unsigned char)*p++;
		len = i % 2 ? lens >> 4 : lens & 15;
		memcpy(&v, p, sizeof(v));
		if (len < 8)
			v &= ((uint64_t)1 << 8 * len) - 1;
		memcpy(to + i * sizeof(v), &v, sizeof(v));
		p += len;
	}
	*at = p;
}

static inline uint64_t dtx_word_load(const char **at)
{
	uint64_t v;

	dtx_words_load(at, &v, 1);
	return v;
}

static inline void dtx_word_save(uint64_t v, struct dtx_buf *out)
{
	dtx_words_save(&v, 1, out);
}

/* Bytes after their number. */
static inline void dtx_text_save(struct dtx_str s, struct dtx_buf *out)
{
	dtx_word_save(s.len, out);
	dtx_buf_adds(out, s);
}

static inline struct dtx_str dtx_text_load(const char **at)
{
	size_t len = (size_t)dtx_word_load(at);
	struct dtx_str s = { *at, len };

	*at += len;
	return s;
}

#endif
