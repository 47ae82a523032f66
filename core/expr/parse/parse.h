/* What the two halves of the parser share: tokens to nodes, limits, findings. */
#ifndef DTX_EXPR_PARSE_PARSE_H
#define DTX_EXPR_PARSE_PARSE_H

#include "core/expr/parse/lex.h"

struct dtx_parser {
	struct dtx_arena *arena;
	struct dtx_lex lx;
	struct dtx_err *err;
	size_t prev_end; /* end of the token before the current one */
	int nest;
	uint32_t nodes;
};
struct dtx_parse_args { /* growing list of operands */
	const struct dtx_expr **item;
	const char **name;
	uint32_t n, cap;
};

/* The next token. */
DTX_MUSTUSE enum dtx_code dtx_parse_next(struct dtx_parser *p);
/* What to write instead of the current token, for the error that is there.  False: nobody writes
 * that elsewhere. */
bool dtx_parse_slip(struct dtx_parser *p);
/* The same where there is a token: else it may be a word of ours, or half of a name. */
void dtx_parse_hint(struct dtx_parser *p);
/* Suggests the function whose name is called with blanks or hyphens, the mark, for its underscores:
 * "starts with(x, 'a')"; [from, end) is one of the words. */
bool dtx_parse_hint_call(struct dtx_parser *p, size_t from, size_t end, char mark);
/* expr_syntax at the current token. */
DTX_MUSTUSE enum dtx_code dtx_parse_unexpected(struct dtx_parser *p, const char *expected);
/* expr_limit at the current token. */
DTX_MUSTUSE enum dtx_code dtx_parse_limit(struct dtx_parser *p, const char *what, int max);
/* Goes past `word`, or says what was expected. */
DTX_MUSTUSE enum dtx_code dtx_parse_expect(struct dtx_parser *p, const char *word,
                                           const char *expected);
/* A node that starts at byte `start`; counted. */
DTX_MUSTUSE enum dtx_code dtx_parse_node(struct dtx_parser *p, enum dtx_ekind kind, size_t start,
                                         uint32_t nargs, struct dtx_expr **out);
/* Closes a node whose operands are in place. */
DTX_MUSTUSE enum dtx_code dtx_parse_done(struct dtx_parser *p, struct dtx_expr *e,
                                         const struct dtx_expr **out);
/* A node over one or two operands (b NULL: one). */
DTX_MUSTUSE enum dtx_code dtx_parse_make(struct dtx_parser *p, enum dtx_ekind kind, int op,
                                         size_t start, const struct dtx_expr *a,
                                         const struct dtx_expr *b, const struct dtx_expr **out);
/* So many levels deeper; the caller takes them off p->nest. */
DTX_MUSTUSE enum dtx_code dtx_parse_enter(struct dtx_parser *p, int levels);
/* name: NULL for a positional one. */
DTX_MUSTUSE enum dtx_code dtx_parse_add(struct dtx_parser *p, struct dtx_parse_args *v,
                                        const struct dtx_expr *e, const char *name);
/* A call in its canonical form. */
DTX_MUSTUSE enum dtx_code dtx_parse_made_call(struct dtx_parser *p, struct dtx_str word,
                                              size_t start, struct dtx_parse_args *v,
                                              const struct dtx_expr **out);
/* Literal, column, call, case or parenthesis. */
DTX_MUSTUSE enum dtx_code dtx_parse_atom(struct dtx_parser *p, const struct dtx_expr **out);
/* Behind "::"; *io is the value. */
DTX_MUSTUSE enum dtx_code dtx_parse_cast(struct dtx_parser *p, size_t start,
                                         const struct dtx_expr **io);
/* A whole expression. */
DTX_MUSTUSE enum dtx_code dtx_parse_any(struct dtx_parser *p, const struct dtx_expr **out);

#endif
