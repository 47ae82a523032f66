/* Marks that part cells in one text and stand inside of them in another. */
#include "core/io/sniff.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_thousands(struct dtx_str s, size_t at)
{
	size_t i = 1;

	if (!at || !is_digit(s.ptr[at - 1]))
		return false;
	while (at + i < s.len && i <= 4 && is_digit(s.ptr[at + i]))
		i++;
	return i == 4;
}

bool dtx_dialect_commas_group(const struct dtx_sniff_sample *sample)
{
	struct dtx_str s;
	unsigned i;
	size_t at;

	for (i = 0; i < sample->n; i++) {
		s = sample->piece[i];
		for (at = 0; at < s.len; at++) {
			if (s.ptr[at] == ',' && !is_thousands(s, at))
				return false;
		}
	}
	return true;
}

bool dtx_dialect_colons_part(const struct dtx_sniff_sample *sample)
{
	struct dtx_str s = sample->piece[0], first = s;
	const char *end = memchr(s.ptr, '\n', s.len);
	size_t i;

	first.len = end ? (size_t)(end - s.ptr) : s.len;
	if (!memchr(first.ptr, ':', first.len))
		return false;
	for (i = 0; i < s.len; i++) {
		if (s.ptr[i] == ':' &&
		    !(i >= 2 && i + 2 < s.len && is_digit(s.ptr[i - 2]) && is_digit(s.ptr[i - 1]) &&
		      is_digit(s.ptr[i + 1]) && is_digit(s.ptr[i + 2])))
			return true;
	}
	return false;
}
