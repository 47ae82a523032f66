/* What the files of the pattern parser share. */
#ifndef DTX_EXPR_REGEX_REGEX_PARSE_H
#define DTX_EXPR_REGEX_REGEX_PARSE_H

#include "core/expr/regex/regex_int.h"

#define DTX_RE_CP_MAX 0x10ffffu

enum dtx_reflag { DTX_RF_I = 1, DTX_RF_M = 2, DTX_RF_S = 4 };

struct dtx_reparser {
	struct dtx_arena *arena;
	struct dtx_str s;
	size_t pos;
	unsigned flags;
	int depth;
	struct dtx_regex *re;
	struct dtx_rename *names;
	struct dtx_err *err;
};
struct dtx_reranges { /* a set that is being collected; in the arena */
	struct dtx_rerange *item;
	uint32_t n, cap;
};
struct dtx_reclass; /* \d, [:alpha:] */

static inline bool dtx_re_more(const struct dtx_reparser *p)
{
	return p->pos < p->s.len;
}

static inline char dtx_re_peek(const struct dtx_reparser *p)
{
	return dtx_re_more(p) ? p->s.ptr[p->pos] : '\0';
}

static inline bool dtx_re_eat(struct dtx_reparser *p, const char *text)
{
	size_t n = strlen(text);

	if (p->s.len - p->pos < n || memcmp(p->s.ptr + p->pos, text, n))
		return false;
	p->pos += n;
	return true;
}

/* Fails with regex_syntax at a byte of the pattern. */
DTX_MUSTUSE enum dtx_code dtx_re_bad(struct dtx_reparser *p, size_t at, const char *what);
DTX_MUSTUSE enum dtx_code dtx_re_unsupported(struct dtx_reparser *p, const char *what);
/* Makes a node. */
DTX_MUSTUSE enum dtx_code dtx_re_tree(struct dtx_reparser *p, enum dtx_renode kind,
                                      struct dtx_retree *a, struct dtx_retree *b,
                                      struct dtx_retree **out);
/* Adds [low, high] to a set that is being collected. */
DTX_MUSTUSE enum dtx_code dtx_re_range(struct dtx_reparser *p, struct dtx_reranges *r, uint32_t low,
                                       uint32_t high);
/* Makes a node of the set; with flag i it has both cases of letters. */
DTX_MUSTUSE enum dtx_code dtx_re_set(struct dtx_reparser *p, struct dtx_reranges *r, bool negate,
                                     struct dtx_retree **out);
DTX_MUSTUSE enum dtx_code dtx_re_class_add(struct dtx_reparser *p, struct dtx_reranges *r,
                                           const struct dtx_reclass *c, bool negate);
/* \d \D \w \W \s \S at pos, after the backslash.  NULL: it is none of them. */
const struct dtx_reclass *dtx_re_class_letter(struct dtx_reparser *p, bool *negate);
/* After a backslash: an escape that stands for one code point. */
DTX_MUSTUSE enum dtx_code dtx_re_escape(struct dtx_reparser *p, uint32_t *cp);
/* [...] at pos. */
DTX_MUSTUSE enum dtx_code dtx_re_class(struct dtx_reparser *p, struct dtx_retree **out);

#endif
