/* Detects encodings by certain signs: zeros at the places where UTF-16 and UTF-32 have them, and
 * escape sequences of ISO 2022. */
#include "core/io/encoding/enc_guess.h"

/* UTF-32 has zeros at three of four bytes. */
static const char *enc_guess_utf32(struct dtx_str head)
{
	size_t zero[4] = { 0, 0, 0, 0 }, units = head.len / 4, i;

	for (i = 0; i < 4 * units; i++)
		zero[i & 3] += !head.ptr[i];
	if (units && zero[3] == units && zero[2] == units && zero[1] * 4 > units && !zero[0])
		return "utf-32le";
	if (units && zero[0] == units && zero[1] == units && zero[2] * 4 > units && !zero[3])
		return "utf-32be";
	return NULL;
}

/* Looks for escapes that switch to an East Asian character set and back to ASCII, in a text of
 * 7-bit bytes. */
static const char *enc_guess_escapes(struct dtx_str head)
{
	static const struct {
		const char *to, *name;
	} sets[] = { { "\x1b$B", "iso-2022-jp-2" },
		     { "\x1b$@", "iso-2022-jp-2" },
		     { "\x1b$)C", "iso-2022-kr" } };
	size_t i;

	if (!memchr(head.ptr, '\x1b', head.len))
		return NULL;
	for (i = 0; i < head.len; i++) {
		if ((unsigned char)head.ptr[i] >= 0x80)
			return NULL;
	}
	for (i = 0; i < DTX_COUNT(sets); i++) {
		if (dtx_str_find(head, dtx_str_of(sets[i].to), 0) >= 0)
			return sets[i].name;
	}
	return NULL;
}

/* Whether there is a zero next to each line end or comma, as in UTF-16. `low` is the offset of
 * the low byte. */
static bool enc_guess_ends(struct dtx_str head, size_t low)
{
	size_t i, n = 0, all = 0;
	char c;

	for (i = 0; i + 1 < head.len; i += 2) {
		c = head.ptr[i + low];
		if (c != '\n' && c != '\r' && c != ',' && c != '\t' && c != ';' && c != '"')
			continue;
		all++;
		n += !head.ptr[i + 1 - low];
	}
	return n && n * 2 > all;
}

/* Latin text in UTF-16 has zeros at every other byte and hardly any elsewhere. A few zeros in a
 * short text do not count: line ends and delimiters must have them, too, or nearly all bytes. */
static const char *enc_guess_wide(struct dtx_str head)
{
	size_t zero[2] = { 0, 0 }, half = head.len / 2, i;

	if (!memchr(head.ptr, '\0', head.len))
		return NULL;
	if (enc_guess_utf32(head))
		return enc_guess_utf32(head);
	for (i = 0; i < 2 * half; i++)
		zero[i & 1] += !head.ptr[i];
	if (half && zero[1] * 4 > half && zero[0] * 100 < half &&
	    (zero[1] * 4 > half * 3 || enc_guess_ends(head, 0)))
		return "utf-16le";
	if (half && zero[0] * 4 > half && zero[1] * 100 < half &&
	    (zero[0] * 4 > half * 3 || enc_guess_ends(head, 1)))
		return "utf-16be";
	return NULL;
}

const char *dtx_enc_told(struct dtx_str head)
{
	const char *name = enc_guess_wide(head);

	return name ? name : enc_guess_escapes(head);
}
