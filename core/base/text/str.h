/* (pointer, length) views of bytes; not terminated, not owned. */
#ifndef DTX_BASE_TEXT_STR_H
#define DTX_BASE_TEXT_STR_H

#include <string.h>

#include "core/base/base.h"

struct dtx_str {
	const char *ptr;
	size_t len;
};
#define DTX_STR(literal) ((struct dtx_str){ "" literal, sizeof(literal) - 1 })

static inline struct dtx_str dtx_str_of(const char *text)
{
	return (struct dtx_str){ text, strlen(text) };
}
static inline bool dtx_str_eq(struct dtx_str a, struct dtx_str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}
static inline bool dtx_str_is(struct dtx_str a, const char *text)
{
	return dtx_str_eq(a, dtx_str_of(text));
}
/* By bytes; a prefix comes first. */
int dtx_str_cmp(struct dtx_str a, struct dtx_str b);
/* ASCII letters fold. */
bool dtx_str_ieq(struct dtx_str a, struct dtx_str b);
bool dtx_str_starts(struct dtx_str a, struct dtx_str prefix);
bool dtx_str_ends(struct dtx_str a, struct dtx_str suffix);
/* Without ASCII blanks (space, tab, CR, LF, VT, FF) at both ends. */
struct dtx_str dtx_str_trim(struct dtx_str a);
/* Byte offset of needle from `from`, or -1. */
ptrdiff_t dtx_str_find(struct dtx_str hay, struct dtx_str needle, size_t from);
/* Cuts the next piece before `sep` off *rest; false at the end. "a,,b" gives three pieces. */
bool dtx_str_next(struct dtx_str *rest, char sep, struct dtx_str *piece);
/* Whether `name` is one of the comma-separated words of `list` (exact). */
bool dtx_str_in_list(const char *list, const char *name);
/* At most the first `max` bytes, cut at a UTF-8 boundary. */
struct dtx_str dtx_str_cut(struct dtx_str s, size_t max);
/* Copies at most size - 1 bytes, cut at a UTF-8 boundary, always terminated. */
void dtx_str_copy(char *to, size_t size, struct dtx_str from);
/* Damerau-Levenshtein distance (optimal string alignment) of code points; `limit` + 1 when larger.
 */
size_t dtx_str_distance(struct dtx_str a, struct dtx_str b, size_t limit);
/* Whether `want` is a slip of the name `have`: the one rule for operations, functions, parameters,
 * columns, tables, choices and settings.  Letter case, `_`, `-` and blanks do not count, nor does
 * an English plural; one letter may be wrong in names of three letters or more, two in names of six
 * or more (of the longer one).  Names that differ only in their digits (2023, 2024) are two names.
 * Equal names are near. */
bool dtx_str_near(struct dtx_str want, struct dtx_str have);

#endif
