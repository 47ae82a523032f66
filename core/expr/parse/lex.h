/* Tokens of the formula language. */
#ifndef DTX_EXPR_PARSE_LEX_H
#define DTX_EXPR_PARSE_LEX_H

#include "core/expr/parse/tree.h"

enum dtx_token {
	DTX_TK_END,
	DTX_TK_NUMBER,
	DTX_TK_TEXT,
	DTX_TK_NAME,
	DTX_TK_QUOTED_NAME,
	DTX_TK_KEYWORD,
	DTX_TK_OP
};

struct dtx_lex {
	struct dtx_str text;
	size_t pos; /* after the token */
	enum dtx_token kind;
	size_t start, end;   /* first byte and end of the token */
	char op[3];          /* OP: "==", "::"; KEYWORD: unused */
	struct dtx_str word; /* NAME, KEYWORD, NUMBER: as written.  TEXT, QUOTED_NAME: the content,
	                      * in which quotes are still doubled. */
};

/* Reads the next token.  Codes: expr_syntax (unexpected byte, unclosed quote), bad_literal (leading
 * zero), both with a span. */
DTX_MUSTUSE enum dtx_code dtx_lex_next(struct dtx_lex *lx, struct dtx_err *err);
/* Whether the token is this keyword (in any case) or operator. */
bool dtx_lex_is(const struct dtx_lex *lx, const char *word);

#endif
