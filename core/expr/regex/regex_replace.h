/* Every match of a pattern replaced by a text with groups in it. */
#ifndef DTX_EXPR_REGEX_REGEX_REPLACE_H
#define DTX_EXPR_REGEX_REGEX_REPLACE_H

#include "core/expr/regex/regex.h"

struct dtx_replacement;
/* Reads a replacement: $1, ${1}, ${name} and, as Python and sed write them, \1 and \g<name> are
 * groups, $0 the whole match; $$ is a dollar, and a backslash before \1 or \g makes text of it.
 * Lives in the arena and borrows `text`.  bad_literal: the pattern has no such group. */
DTX_MUSTUSE enum dtx_code dtx_replacement_make(struct dtx_arena *a, const struct dtx_regex *re,
                                               struct dtx_str text, struct dtx_replacement **out,
                                               struct dtx_err *err);
/* Appends s with every match replaced. */
void dtx_replacement_run(const struct dtx_replacement *r, struct dtx_rematch *m, struct dtx_str s,
                         struct dtx_buf *out);
/* The next match from *pos on, which moves to its end; an empty one is followed a character
 * further. */
bool dtx_rematch_next(struct dtx_rematch *m, struct dtx_str s, size_t *pos, size_t *at);

#endif
