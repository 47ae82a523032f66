/* Regular expressions in linear time: RE2's syntax, UTF-8 text, leftmost-first matches.
 *
 * Literals, . [] classes (\d \w \s are ASCII, [[:alpha:]]), groups (named, non-capturing),
 * alternation, greedy and lazy * + ? {m,n}, ^ $ \A \z \b \B, flags (?ims).  A compiled pattern is
 * read-only and lives in its arena; a matcher is the scratch memory of one thread. */
#ifndef DTX_EXPR_REGEX_REGEX_H
#define DTX_EXPR_REGEX_REGEX_H

#include "core/base/arena.h"
#include "core/base/buf.h"

#define DTX_REGEX_BYTES  4096 /* of a pattern */
#define DTX_REGEX_REPEAT 1000
#define DTX_REGEX_GROUPS 50

struct dtx_regex;
struct dtx_rematch;

/* Codes: regex_syntax (the text names the byte), unsupported_param (look-around,
 * back-references, \p), expr_limit. */
DTX_MUSTUSE enum dtx_code dtx_regex_compile(struct dtx_arena *a, struct dtx_str pattern,
                                            struct dtx_regex **out, struct dtx_err *err);
/* Capturing groups, not counting the whole match. */
uint32_t dtx_regex_groups(const struct dtx_regex *re);
/* Number of a named group, -1 if there is none. */
int dtx_regex_group(const struct dtx_regex *re, struct dtx_str name);

/* Scratch memory in the arena, as long as it lives.  NULL: out of memory. */
DTX_MUSTUSE struct dtx_rematch *dtx_rematch_new(struct dtx_arena *a, const struct dtx_regex *re);
/* Whether the pattern matches somewhere. */
bool dtx_rematch_test(struct dtx_rematch *m, struct dtx_str text);
/* First match at or behind `from`; group i (0: all) is [at[2i], at[2i + 1]), SIZE_MAX when it took
 * no part. `at` has room for 2 * (groups + 1). */
bool dtx_rematch_find(struct dtx_rematch *m, struct dtx_str text, size_t from, size_t *at);

#endif
