/* The rare forms of numbers in text cells, which the inline functions of cell_num.h do not
 * handle. */
#include "core/data/cast/cell_num.h"

/* The parts of a number. */
struct cell_shape {
	size_t whole, frac; /* digits before and after the point */
	size_t sig;         /* significant digits; zeros at the end of a fraction do not count */
	bool point, exponent, zero;
};

static size_t cell_digits(const char *p, const char *end)
{
	const char *q = p;

	while (q < end && *q >= '0' && *q <= '9')
		q++;
	return (size_t)(q - p);
}

static size_t cell_significant(const char *p, size_t n, bool frac)
{
	size_t first = 0, last = n;

	while (first < n && (p[first] == '0' || p[first] == '.'))
		first++;
	while (frac && last > first && (p[last - 1] == '0' || p[last - 1] == '.'))
		last--;
	return last - first - (frac && memchr(p + first, '.', last - first) != NULL);
}

static bool cell_shape_of(const char *p, size_t n, struct cell_shape *s)
{
	const char *end = p + n, *start;

	p += n && *p == '-';
	start = p;
	s->whole = cell_digits(p, end);
	p += s->whole;
	s->point = p < end && *p == '.';
	s->frac = s->point ? cell_digits(p + 1, end) : 0;
	if (s->point && !s->frac)
		return false;
	p += s->point + s->frac;
	s->sig = cell_significant(start, (size_t)(p - start), s->point);
	s->zero = s->sig == 0;
	s->exponent = p < end && (*p | 32) == 'e';
	if (s->exponent) {
		p++;
		p += p < end && (*p == '-' || *p == '+');
		n = cell_digits(p, end);
		p += n;
		if (!n)
			return false;
	}
	return p == end && s->whole + s->frac && !(s->whole > 1 && *start == '0');
}

bool dtx_cell_f64_slow(const char *p, size_t n, double *out)
{
	struct cell_shape s;
	int64_t i;

	if (!cell_shape_of(p, n, &s))
		return false;
	if (!s.point && !s.exponent) {
		if (!dtx_cell_i64(p, n, &i) || i > DTX_CELL_EXACT || i < -DTX_CELL_EXACT)
			return false;
		*out = (double)i;
		return true;
	}
	if (s.sig > 17 || !dtx_num_parse_f64(p, n, out) || (*out == 0 && !s.zero))
		return false;
	*out += 0.0; /* no -0.0 */
	return true;
}

static const struct dtx_str blank_marks[] = {
	{ " ", 1 }, { "\xc2\xa0", 2 }, { "\xe2\x80\x89", 3 }, { "\xe2\x80\xaf", 3 }
};

bool dtx_group_mark(const char *text, char *group)
{
	for (size_t i = 0; i < DTX_COUNT(blank_marks); i++)
		if (dtx_str_is(blank_marks[i], text)) {
			*group = ' ';
			return true;
		}
	*group = text[0];
	return strlen(text) <= 1;
}

size_t dtx_group_at(struct dtx_str s, char group)
{
	if (!group || !s.len)
		return 0;
	for (size_t i = 0; group == ' ' && i < DTX_COUNT(blank_marks); i++)
		if (dtx_str_starts(s, blank_marks[i]))
			return blank_marks[i].len;
	return s.ptr[0] == group;
}

size_t dtx_cell_plain(struct dtx_str s, bool decimal_comma, char group, char out[64])
{
	char point = decimal_comma ? ',' : '.';
	size_t n = 0, run = 0, i;
	bool grouped = false, whole = true;

	if (s.len > 60)
		return 0;
	for (i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		size_t mark =
			whole ? dtx_group_at((struct dtx_str){ s.ptr + i, s.len - i }, group) : 0;

		if (mark) {
			if (!run || run > 3 || (grouped && run != 3))
				return 0;
			grouped = true;
			run = 0;
			i += mark - 1;
			continue;
		}
		if (c == point && whole) {
			if (grouped && run != 3)
				return 0;
			whole = false;
			out[n++] = '.';
			continue;
		}
		if (c == '.' || c == ',')
			return 0;
		run += c >= '0' && c <= '9';
		if ((c | 32) == 'e') {
			if (whole && grouped && run != 3)
				return 0;
			whole = false;
		}
		out[n++] = c;
	}
	return whole && grouped && run != 3 ? 0 : n;
}
