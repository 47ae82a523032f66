/* Replaces every match of a pattern by a text that may refer to groups. */
#ifndef DTX_EXPR_REGEX_REGEX_REPLACE_H
#define DTX_EXPR_REGEX_REGEX_REPLACE_H

#include "core/expr/regex/regex.h"

struct dtx_replacement;
/* Reads a replacement text.  $1, ${1}, ${name} and, as in Python and sed, \1 and \g<name> are
 * groups, $0 is the whole match, $$ is a dollar; a backslash before \1 or \g makes it literal text.
 * The result lives in the arena and borrows `text`.  Code: bad_literal if the pattern has no such
 * group. */
DTX_MUSTUSE enum dtx_code dtx_replacement_make(struct dtx_arena *a, const struct dtx_regex *re,
                                               struct dtx_str text, struct dtx_replacement **out,
                                               struct dtx_err *err);
/* Appends s to out with every match replaced. */
void dtx_replacement_run(const struct dtx_replacement *r, struct dtx_rematch *m, struct dtx_str s,
                         struct dtx_buf *out);
/* The next match from *pos on.  *pos moves to its end; after an empty match it moves one character
 * further. */
bool dtx_rematch_next(struct dtx_rematch *m, struct dtx_str s, size_t *pos, size_t *at);

#endif
