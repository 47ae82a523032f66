/* Short texts that several encodings make words of: which, and what each of them reads. */
#include <iconv.h>

#include "core/base/mem.h"
#include "core/io/enc_guess.h"

#define RIVALS_TEXTS 2  /* other readings that are told */
#define RIVALS_WORD  16 /* bytes shown beside the one that differs */
#define RIVALS_SHOWN (4 * (2 * RIVALS_WORD + 1))

/* A piece of the text as an encoding reads it; 0: it does not. */
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

/* The first byte beyond ASCII that two encodings with one byte a letter read otherwise; text.len:
 * none. */
static size_t first_other(struct dtx_str text, const char *a, const char *b)
{
	char x[8], y[8];
	bool same[256] = { false };
	size_t at, nx, ny;

	for (at = 0; at < text.len; at++) {
		unsigned char c = (unsigned char)text.ptr[at];

		if (c < 0x80 || same[c])
			continue;
		nx = read_as((struct dtx_str){ text.ptr + at, 1 }, a, x, sizeof(x));
		ny = read_as((struct dtx_str){ text.ptr + at, 1 }, b, y, sizeof(y));
		same[c] = nx && nx == ny && !memcmp(x, y, nx);
		if (!same[c])
			return at;
	}
	return text.len;
}

void dtx_enc_rivals_tell(struct dtx_str text, const char *guess, struct dtx_buf *out)
{
	const char *name[DTX_ENC_RIVALS];
	size_t n = dtx_enc_rivals(text, guess, name), i, k, at, told = 0;
	char as[RIVALS_SHOWN], is[RIVALS_SHOWN];
	struct dtx_str word;

	text.len = DTX_MIN(text.len, (size_t)64 << 10);
	for (i = 0; i < n && told < RIVALS_TEXTS; i++) {
		at = first_other(text, guess, name[i]);
		for (k = 0; k < i && at < text.len; k++)
			if (first_other(text, name[k], name[i]) == text.len)
				at = text.len; /* what an earlier one reads */
		if (at == text.len)
			continue;
		word = word_at(text, at);
		dtx_buf_printf(out, "%s '%.*s'", told++ ? "," : "; as likely",
		               (int)read_as(word, name[i], as, sizeof(as)), as);
		dtx_buf_printf(out, " (--encoding %s", name[i]);
		for (k = i + 1; k < n; k++)
			if (first_other(text, name[k], name[i]) == text.len)
				dtx_buf_printf(out, ", the same as %s", name[k]);
		dtx_buf_printf(out, ") as '%.*s' (%s)", (int)read_as(word, guess, is, sizeof(is)),
		               is, guess);
	}
}
