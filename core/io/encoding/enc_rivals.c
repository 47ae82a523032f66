/* For short texts that could be in several encodings: tells which, and how each of them would
 * read a word. */
#include <iconv.h>

#include "core/base/mem.h"
#include "core/io/encoding/enc_guess.h"

#define RIVALS_TEXT  ((size_t)64 << 10)
#define RIVALS_TEXTS 2  /* other readings that are shown */
#define RIVALS_WORD  16 /* bytes shown on each side of the one that differs */
#define RIVALS_SHOWN (4 * (2 * RIVALS_WORD + 1))

/* Converts a piece of the text; returns 0 if the encoding cannot read it. */
static size_t read_as(struct dtx_str piece, const char *name, char *out, size_t room)
{
	iconv_t cd = iconv_open("UTF-8", name);
	char *in = (char *)(uintptr_t)piece.ptr, *put = out;
	size_t left = piece.len, space = room, got;

	if (cd == (iconv_t)-1)
		return 0;
	got = iconv(cd, &in, &left, &put, &space);
	iconv_close(cd);
	return got != (size_t)-1 && !left ? room - space : 0;
}

static bool in_word(char c)
{
	return (unsigned char)c >= 0x80 || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static struct dtx_str word_at(struct dtx_str text, size_t at)
{
	size_t from = at, to = at;

	while (from && at - from < RIVALS_WORD && in_word(text.ptr[from - 1]))
		from--;
	while (to < text.len && to - at < RIVALS_WORD && in_word(text.ptr[to]))
		to++;
	return (struct dtx_str){ text.ptr + from, to - from };
}

/* What a single-byte encoding makes of each byte outside ASCII. */
struct rival {
	const char *name;
	uint32_t letter[128];
};

static void learn(struct rival *r, const char *name)
{
	iconv_t cd = iconv_open("UTF-8", name);
	char byte, out[8], *in, *put;
	size_t i, left, space;

	*r = (struct rival){ .name = name };
	for (i = 0; cd != (iconv_t)-1 && i < DTX_COUNT(r->letter); i++) {
		byte = (char)(0x80 + i);
		in = &byte;
		put = out;
		left = 1;
		space = sizeof(out);
		(void)iconv(cd, NULL, NULL, NULL, NULL);
		if (iconv(cd, &in, &left, &put, &space) != (size_t)-1 && put > out &&
		    put - out <= 4)
			memcpy(&r->letter[i], out, (size_t)(put - out));
	}
	if (cd != (iconv_t)-1)
		iconv_close(cd);
}

/* The first byte that two encodings read differently, or text.len. */
static size_t first_other(struct dtx_str text, const struct rival *a, const struct rival *b)
{
	size_t at;

	for (at = 0; at < text.len; at++) {
		unsigned char c = (unsigned char)text.ptr[at];

		if (c >= 0x80 &&
		    (!a->letter[c - 0x80] || a->letter[c - 0x80] != b->letter[c - 0x80]))
			return at;
	}
	return text.len;
}

void dtx_enc_rivals_tell(struct dtx_str text, const char *guess, struct dtx_buf *out)
{
	const char *name[DTX_ENC_RIVALS];
	size_t n = dtx_enc_rivals(text, guess, name), i, k, at, told = 0;
	char as[RIVALS_SHOWN], is[RIVALS_SHOWN];
	struct rival own, rival[DTX_ENC_RIVALS];
	struct dtx_str word;

	text.len = DTX_MIN(text.len, RIVALS_TEXT);
	if (n)
		learn(&own, guess);
	for (i = 0; i < n; i++)
		learn(&rival[i], name[i]);
	for (i = 0; i < n && told < RIVALS_TEXTS; i++) {
		at = first_other(text, &own, &rival[i]);
		for (k = 0; k < i && at < text.len; k++)
			if (first_other(text, &rival[k], &rival[i]) == text.len)
				at = text.len; /* the same as an earlier one */
		if (at == text.len)
			continue;
		word = word_at(text, at);
		dtx_buf_printf(out, "%s '%.*s'", told++ ? "," : "; as likely",
		               (int)read_as(word, name[i], as, sizeof(as)), as);
		dtx_buf_printf(out, " (--encoding %s", name[i]);
		for (k = i + 1; k < n; k++)
			if (first_other(text, &rival[k], &rival[i]) == text.len)
				dtx_buf_printf(out, ", the same as %s", name[k]);
		dtx_buf_printf(out, ") as '%.*s' (%s)", (int)read_as(word, guess, is, sizeof(is)),
		               is, guess);
	}
}
