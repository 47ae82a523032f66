/* Regular expressions in linear time: the syntax of RE2, UTF-8 text, leftmost-first matches.
 *
 * It supports literals, . [] classes (\d \w \s are ASCII, [[:alpha:]]), groups (named,
 * non-capturing), alternation, greedy and lazy * + ? {m,n}, ^ $ \A \z \b \B, and flags (?ims).
 * Time is linear in the length of the text because no matcher backtracks: a lazily built DFA
 * answers whether there is a match, and a simulation of threads finds groups.  A compiled pattern
 * is read-only and lives in its arena.  A matcher is scratch memory for one thread. */
#ifndef DTX_EXPR_REGEX_REGEX_H
#define DTX_EXPR_REGEX_REGEX_H

#include "core/base/memory/arena.h"
#include "core/base/memory/buf.h"

#define DTX_REGEX_BYTES  4096 /* longest pattern */
#define DTX_REGEX_REPEAT 1000
#define DTX_REGEX_GROUPS 50

struct dtx_regex;
struct dtx_rematch;

/* Compiles a pattern.  Codes: regex_syntax (the message names the byte), unsupported_param
 * (look-around, back-references, \p), expr_limit. */
DTX_MUSTUSE enum dtx_code dtx_regex_compile(struct dtx_arena *a, struct dtx_str pattern,
                                            struct dtx_regex **out, struct dtx_err *err);
/* The number of capturing groups, without the whole match. */
uint32_t dtx_regex_groups(const struct dtx_regex *re);
/* The number of a named group; -1 if none. */
int dtx_regex_group(const struct dtx_regex *re, struct dtx_str name);

/* A matcher, which lives in the arena.  NULL: out of memory. */
DTX_MUSTUSE struct dtx_rematch *dtx_rematch_new(struct dtx_arena *a, const struct dtx_regex *re);
/* Whether the pattern matches anywhere in the text. */
bool dtx_rematch_test(struct dtx_rematch *m, struct dtx_str text);
/* The first match at or after `from`.  Group i (0: the whole match) is [at[2i], at[2i + 1]), or
 * SIZE_MAX if it did not take part.  `at` has room for 2 * (groups + 1). */
bool dtx_rematch_find(struct dtx_rematch *m, struct dtx_str text, size_t from, size_t *at);

#endif
