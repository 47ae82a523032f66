/* What the files of the parser share: making nodes from tokens, limits, errors. */
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
struct dtx_parse_args { /* a growing list of operands */
	const struct dtx_expr **item;
	const char **name;
	uint32_t n, cap;
};

/* Reads the next token. */
DTX_MUSTUSE enum dtx_code dtx_parse_next(struct dtx_parser *p);
/* Adds a hint to the current error: what to write instead of the current token.  False: the token
 * is not known from other languages. */
bool dtx_parse_slip(struct dtx_parser *p);
/* The same; without a token it may be one of our own words, or half of a name. */
void dtx_parse_hint(struct dtx_parser *p);
/* Suggests the function whose name was written with blanks or hyphens (`mark`) instead of
 * underscores: "starts with(x, 'a')".  [from, end) is one of its words. */
bool dtx_parse_hint_call(struct dtx_parser *p, size_t from, size_t end, char mark);
/* Fails with expr_syntax at the current token. */
DTX_MUSTUSE enum dtx_code dtx_parse_unexpected(struct dtx_parser *p, const char *expected);
/* Fails with expr_limit at the current token. */
DTX_MUSTUSE enum dtx_code dtx_parse_limit(struct dtx_parser *p, const char *what, int max);
/* Moves past `word`, or fails and says what was expected. */
DTX_MUSTUSE enum dtx_code dtx_parse_expect(struct dtx_parser *p, const char *word,
                                           const char *expected);
/* A node that starts at byte `start`.  It counts against the limit of nodes. */
DTX_MUSTUSE enum dtx_code dtx_parse_node(struct dtx_parser *p, enum dtx_ekind kind, size_t start,
                                         uint32_t nargs, struct dtx_expr **out);
/* Finishes a node whose operands are in place. */
DTX_MUSTUSE enum dtx_code dtx_parse_done(struct dtx_parser *p, struct dtx_expr *e,
                                         const struct dtx_expr **out);
/* A node with one or two operands (b NULL: one). */
DTX_MUSTUSE enum dtx_code dtx_parse_make(struct dtx_parser *p, enum dtx_ekind kind, int op,
                                         size_t start, const struct dtx_expr *a,
                                         const struct dtx_expr *b, const struct dtx_expr **out);
/* Goes so many levels deeper; the caller restores p->nest. */
DTX_MUSTUSE enum dtx_code dtx_parse_enter(struct dtx_parser *p, int levels);
/* Adds an argument; name is NULL for a positional one. */
DTX_MUSTUSE enum dtx_code dtx_parse_add(struct dtx_parser *p, struct dtx_parse_args *v,
                                        const struct dtx_expr *e, const char *name);
/* A call in its canonical form. */
DTX_MUSTUSE enum dtx_code dtx_parse_made_call(struct dtx_parser *p, struct dtx_str word,
                                              size_t start, struct dtx_parse_args *v,
                                              const struct dtx_expr **out);
/* A literal, column, call, case or parenthesis. */
DTX_MUSTUSE enum dtx_code dtx_parse_atom(struct dtx_parser *p, const struct dtx_expr **out);
/* Parses a cast, after "::".  *io is the value that is cast. */
DTX_MUSTUSE enum dtx_code dtx_parse_cast(struct dtx_parser *p, size_t start,
                                         const struct dtx_expr **io);
/* A whole expression. */
DTX_MUSTUSE enum dtx_code dtx_parse_any(struct dtx_parser *p, const struct dtx_expr **out);

#endif
