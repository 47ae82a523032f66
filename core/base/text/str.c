/* Views of bytes, and the distance between two names. */
#include "core/base/text/str.h"

#include "core/base/text/utf8.h"

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

/* Distance of two lists of code points; `limit` + 1 if it is larger. */
static size_t str_distance(const uint32_t *a, size_t na, const uint32_t *b, size_t nb, size_t limit)
{
	size_t row[3][DISTANCE_MAX + 1];
	size_t i, j;

	for (j = 0; j <= nb; j++)
		row[0][j] = j;
	for (i = 1; i <= na; i++) {
		size_t *cur = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];

		cur[0] = i;
		for (j = 1; j <= nb; j++) {
			size_t cost = a[i - 1] != b[j - 1];
			size_t best = DTX_MIN(up[j] + 1, cur[j - 1] + 1);

			best = DTX_MIN(best, up[j - 1] + cost);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = DTX_MIN(best, up2[j - 2] + 1);
			cur[j] = best;
		}
	}
	return DTX_MIN(row[na % 3][nb], limit + 1);
}

static size_t str_code_points(struct dtx_str s, uint32_t cp[DISTANCE_MAX])
{
	size_t pos = 0, n = 0;

	while (pos < s.len)
		cp[n++] = dtx_utf8_next(s.ptr, s.len, &pos);
	return n;
}

size_t dtx_str_distance(struct dtx_str a, struct dtx_str b, size_t limit)
{
	uint32_t x[DISTANCE_MAX], y[DISTANCE_MAX];

	if (a.len > DISTANCE_MAX || b.len > DISTANCE_MAX)
		return limit + 1;
	return str_distance(x, str_code_points(a, x), y, str_code_points(b, y), limit);
}

/* --- near names --- */

/* A name in the form in which names are compared: letters and digits without case, marks and
 * blanks. */
struct slip_name {
	uint32_t cp[DISTANCE_MAX];
	size_t n;
};

/* False if the name is longer than any that a person would misspell. */
static bool slip_read(struct dtx_str from, struct slip_name *out)
{
	struct dtx_buf folded = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	size_t pos = 0;
	bool ok = from.len <= 4 * DISTANCE_MAX;

	out->n = 0;
	if (ok)
		dtx_utf8_fold(&folded, from);
	ok = ok && dtx_buf_ok(&folded);
	while (ok && pos < folded.len) {
		uint32_t cp = dtx_utf8_next(folded.ptr, folded.len, &pos);

		if (cp == '_' || cp == '-' || dtx_utf8_is_space(cp))
			continue;
		ok = out->n < DISTANCE_MAX;
		if (ok)
			out->cp[out->n++] = cp;
	}
	dtx_buf_clear(&folded);
	return ok;
}

static bool slip_digit(uint32_t cp)
{
	return cp >= '0' && cp <= '9';
}

static bool slip_same(const struct slip_name *a, const struct slip_name *b, bool digits)
{
	size_t i;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++) {
		bool both = !digits && slip_digit(a->cp[i]) && slip_digit(b->cp[i]);

		if (a->cp[i] != b->cp[i] && !both)
			return false;
	}
	return true;
}

/* categories: category; boxes: box; columns: column */
static void slip_singular(struct slip_name *a)
{
	uint32_t last = a->n >= 3 ? a->cp[a->n - 3] : 0;

	if (a->n < 3 || a->cp[a->n - 1] != 's' || a->cp[a->n - 2] == 's')
		return;
	if (a->n >= 5 && a->cp[a->n - 2] == 'e' && last == 'i') {
		a->n -= 2;
		a->cp[a->n - 1] = 'y';
	} else if (a->n >= 4 && a->cp[a->n - 2] == 'e' &&
	           (last == 's' || last == 'x' || last == 'z' || last == 'h')) {
		a->n -= 2;
	} else {
		a->n--;
	}
}

bool dtx_str_near(struct dtx_str want, struct dtx_str have)
{
	struct slip_name a, b;
	size_t longer, limit;

	if (dtx_str_eq(want, have))
		return true;
	if (!slip_read(want, &a) || !slip_read(have, &b) || !a.n || !b.n)
		return false;
	if (slip_same(&a, &b, true))
		return true;
	if (slip_same(&a, &b, false))
		return false;
	longer = DTX_MAX(a.n, b.n);
	limit = longer >= 6 ? 2 : longer >= 3 ? 1 : 0;
	if (limit && str_distance(a.cp, a.n, b.cp, b.n, limit) <= limit)
		return true;
	slip_singular(&a);
	slip_singular(&b);
	return slip_same(&a, &b, true);
}
