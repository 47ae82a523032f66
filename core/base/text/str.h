/* Views of bytes: (pointer, length) pairs that are not terminated and not owned. */
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
/* Compares by bytes; a prefix comes before the longer text. */
int dtx_str_cmp(struct dtx_str a, struct dtx_str b);
/* Equal if the case of ASCII letters is ignored. */
bool dtx_str_ieq(struct dtx_str a, struct dtx_str b);
bool dtx_str_starts(struct dtx_str a, struct dtx_str prefix);
bool dtx_str_ends(struct dtx_str a, struct dtx_str suffix);
/* The view without ASCII blanks (space, tab, CR, LF, VT, FF) at both ends. */
struct dtx_str dtx_str_trim(struct dtx_str a);
/* Byte offset of the first needle at or after `from`; -1 if none. */
ptrdiff_t dtx_str_find(struct dtx_str hay, struct dtx_str needle, size_t from);
/* Cuts the next piece up to `sep` off *rest.  False at the end.  "a,,b" gives three pieces. */
bool dtx_str_next(struct dtx_str *rest, char sep, struct dtx_str *piece);
/* Whether `name` is one of the comma-separated words of `list` (exact). */
bool dtx_str_in_list(const char *list, const char *name);
/* At most the first `max` bytes, cut between UTF-8 characters. */
struct dtx_str dtx_str_cut(struct dtx_str s, size_t max);
/* Copies at most size - 1 bytes, cut between UTF-8 characters, and always terminates the copy. */
void dtx_str_copy(char *to, size_t size, struct dtx_str from);
/* Damerau-Levenshtein distance (optimal string alignment) in code points; `limit` + 1 if it is
 * larger. */
size_t dtx_str_distance(struct dtx_str a, struct dtx_str b, size_t limit);
/* Whether `want` is probably a misspelling of the name `have`.  This is the one rule for
 * operations, functions, parameters, columns, tables, choices and settings.  Letter case, `_`, `-`,
 * blanks and an English plural do not count.  One letter may be wrong in names of at least three
 * letters, two in names of at least six (of the longer name).  Names that differ only in digits
 * (2023, 2024) are different names.  Equal names are near. */
bool dtx_str_near(struct dtx_str want, struct dtx_str have);

#endif
