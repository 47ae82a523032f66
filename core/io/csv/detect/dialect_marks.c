/* Distinguishes marks that separate cells from those that are part of cells. */
#include "core/io/csv/detect/sniff.h"

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

static bool is_decimal(struct dtx_str s, size_t at)
{
	return at && at + 1 < s.len && is_digit(s.ptr[at - 1]) && is_digit(s.ptr[at + 1]);
}

static bool all_commas(const struct dtx_sniff_sample *sample, bool (*are)(struct dtx_str, size_t))
{
	struct dtx_str s;
	unsigned i;
	size_t at;

	for (i = 0; i < sample->n; i++) {
		s = sample->piece[i];
		for (at = 0; at < s.len; at++) {
			if (s.ptr[at] == ',' && !are(s, at))
				return false;
		}
	}
	return true;
}

bool dtx_dialect_commas_group(const struct dtx_sniff_sample *sample)
{
	return all_commas(sample, is_thousands);
}

bool dtx_dialect_commas_decimal(const struct dtx_sniff_sample *sample)
{
	return all_commas(sample, is_decimal);
}

static bool is_apart(struct dtx_str s, size_t at)
{
	return at >= s.len || strchr(" \t\r\n[](),;.\"'TZ", s.ptr[at]);
}

/* The length of a time "10:15" or "10:15:00" at `at`, with no colon or digit next to it; 0:
 * none. */
static size_t time_at(struct dtx_str s, size_t at)
{
	size_t to = at;

	while (to + 1 < s.len && is_digit(s.ptr[to]) && is_digit(s.ptr[to + 1])) {
		to += 2;
		if (to >= s.len || s.ptr[to] != ':')
			break;
		to++;
	}
	return to - at >= 5 && s.ptr[to - 1] != ':' && is_apart(s, to) &&
	                       (!at || is_apart(s, at - 1))
	               ? to - at
	               : 0;
}

/* Whether half of the lines have a time, as those of a log do. */
static bool are_timed(struct dtx_str s)
{
	size_t at, len, lines = 0, timed = 0;
	bool here = false;

	for (at = 0; at < s.len; at++) {
		if (s.ptr[at] == '\n') {
			lines++;
			timed += here;
			here = false;
			continue;
		}
		len = here || !is_digit(s.ptr[at]) ? 0 : time_at(s, at);
		here |= len != 0;
	}
	return lines && timed * 2 >= lines;
}

bool dtx_dialect_colons_part(const struct dtx_sniff_sample *sample)
{
	struct dtx_str s = sample->piece[0], first = s;
	const char *end = memchr(s.ptr, '\n', s.len);
	size_t i;

	first.len = end ? (size_t)(end - s.ptr) : s.len;
	if (!memchr(first.ptr, ':', first.len) || are_timed(s))
		return false;
	for (i = 0; i < s.len; i++) {
		if (s.ptr[i] == ':' &&
		    !(i >= 2 && i + 2 < s.len && is_digit(s.ptr[i - 2]) && is_digit(s.ptr[i - 1]) &&
		      is_digit(s.ptr[i + 1]) && is_digit(s.ptr[i + 2])))
			return true;
	}
	return false;
}

/* Whether this is a number such as "-12.5", "1e-3" or "0,5". "007" is not; it is part of something
 * else. */
static bool is_number(struct dtx_str s)
{
	size_t i, digits = 0, commas = 0;

	if (s.len && (s.ptr[0] == '-' || s.ptr[0] == '+'))
		s = (struct dtx_str){ s.ptr + 1, s.len - 1 };
	if (s.len > 1 && s.ptr[0] == '0' && is_digit(s.ptr[1]))
		return false;
	for (i = 0; i < s.len; i++) {
		char c = s.ptr[i];

		if (c == '-' || c == '+'
		            ? !i || (s.ptr[i - 1] | 0x20) != 'e'
		            : !is_digit(c) && c != '.' && c != ',' && (c | 0x20) != 'e')
			return false;
		digits += is_digit(c);
		commas += c == ',';
	}
	return digits && commas < 2 && is_digit(s.ptr[s.len - 1]);
}

static bool is_one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

/* The position after the next number; the end of the line if nothing else follows; 0: there is
 * something else. */
static size_t behind_number(struct dtx_str s, size_t at)
{
	size_t from;

	while (at < s.len && is_one_of(s.ptr[at], " \t"))
		at++;
	for (from = at; at < s.len && !is_one_of(s.ptr[at], " \t\r\n"); at++)
		;
	return at == from || is_number((struct dtx_str){ s.ptr + from, at - from }) ? at : 0;
}

bool dtx_dialect_are_numbers(const struct dtx_sniff_sample *sample)
{
	struct dtx_str s = sample->piece[0];
	const char *end = memchr(s.ptr, '\n', s.len);
	size_t at = end ? (size_t)(end - s.ptr) : 0;

	while (at && at < s.len) {
		at += is_one_of(s.ptr[at], "\r\n");
		at = at < s.len ? behind_number(s, at) : at;
	}
	return at != 0;
}

char dtx_dialect_named(struct dtx_str line)
{
	bool quoted = line.len && line.ptr[0] == '"';
	struct dtx_str s = { line.ptr + quoted, line.len - quoted };

	if (s.len < 5 || !dtx_str_ieq((struct dtx_str){ s.ptr, 4 }, DTX_STR("sep=")))
		return 0;
	while (!quoted && s.len > 5 && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == s.ptr[4]))
		s.len--;
	return s.len == 5 + (size_t)quoted && (!quoted || s.ptr[5] == '"') ? s.ptr[4] : 0;
}
