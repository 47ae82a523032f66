/* Views of bytes. */
#include "core/base/str.h"

int dtx_str_cmp(struct dtx_str a, struct dtx_str b)
{
	size_t n = DTX_MIN(a.len, b.len);
	int c = n ? memcmp(a.ptr, b.ptr, n) : 0;

	return c ? c : (a.len > b.len) - (a.len < b.len);
}

static char str_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

bool dtx_str_ieq(struct dtx_str a, struct dtx_str b)
{
	size_t i;

	if (a.len != b.len)
		return false;
	for (i = 0; i < a.len; i++) {
		if (str_lower(a.ptr[i]) != str_lower(b.ptr[i]))
			return false;
	}
	return true;
}

bool dtx_str_starts(struct dtx_str a, struct dtx_str prefix)
{
	return a.len >= prefix.len && (!prefix.len || !memcmp(a.ptr, prefix.ptr, prefix.len));
}

bool dtx_str_ends(struct dtx_str a, struct dtx_str suffix)
{
	return a.len >= suffix.len &&
	       (!suffix.len || !memcmp(a.ptr + a.len - suffix.len, suffix.ptr, suffix.len));
}

static bool str_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct dtx_str dtx_str_trim(struct dtx_str a)
{
	while (a.len && str_blank(a.ptr[0])) {
		a.ptr++;
		a.len--;
	}
	while (a.len && str_blank(a.ptr[a.len - 1]))
		a.len--;
	return a;
}

ptrdiff_t dtx_str_find(struct dtx_str hay, struct dtx_str needle, size_t from)
{
	const char *p;

	if (from > hay.len)
		return -1;
	if (!needle.len)
		return (ptrdiff_t)from;
	if (hay.len - from < needle.len)
		return -1;
	p = memmem(hay.ptr + from, hay.len - from, needle.ptr, needle.len);
	return p ? p - hay.ptr : -1;
}

bool dtx_str_next(struct dtx_str *rest, char sep, struct dtx_str *piece)
{
	const char *p;

	if (!rest->ptr)
		return false;
	p = rest->len ? memchr(rest->ptr, sep, rest->len) : NULL;
	if (!p) {
		*piece = *rest;
		*rest = (struct dtx_str){ NULL, 0 };
		return true;
	}
	*piece = (struct dtx_str){ rest->ptr, (size_t)(p - rest->ptr) };
	rest->len -= piece->len + 1;
	rest->ptr = p + 1;
	return true;
}

bool dtx_str_in_list(const char *list, const char *name)
{
	struct dtx_str rest, piece;

	if (!list)
		return false;
	rest = dtx_str_of(list);
	while (dtx_str_next(&rest, ',', &piece)) {
		if (dtx_str_is(piece, name))
			return true;
	}
	return false;
}

struct dtx_str dtx_str_cut(struct dtx_str s, size_t max)
{
	if (s.len > max) {
		s.len = max;
		while (s.len && ((unsigned char)s.ptr[s.len] & 0xc0) == 0x80)
			s.len--;
	}
	return s;
}

void dtx_str_copy(char *to, size_t size, struct dtx_str from)
{
	if (!size)
		return;
	from = dtx_str_cut(from, size - 1);
	if (from.len)
		memcpy(to, from.ptr, from.len);
	to[from.len] = '\0';
}

#define DISTANCE_MAX 128

size_t dtx_str_distance(struct dtx_str a, struct dtx_str b, size_t limit)
{
	size_t row[3][DISTANCE_MAX + 1];
	size_t i, j;

	if (a.len > DISTANCE_MAX || b.len > DISTANCE_MAX)
		return limit + 1;
	for (j = 0; j <= b.len; j++)
		row[0][j] = j;
	for (i = 1; i <= a.len; i++) {
		size_t *cur = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];

		cur[0] = i;
		for (j = 1; j <= b.len; j++) {
			size_t cost = a.ptr[i - 1] != b.ptr[j - 1];
			size_t best = DTX_MIN(up[j] + 1, cur[j - 1] + 1);

			best = DTX_MIN(best, up[j - 1] + cost);
			if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] &&
			    a.ptr[i - 2] == b.ptr[j - 1])
				best = DTX_MIN(best, up2[j - 2] + 1);
			cur[j] = best;
		}
	}
	return DTX_MIN(row[a.len % 3][b.len], limit + 1);
}
