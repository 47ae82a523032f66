/* The nodes of a parsed expression.  Only core/expr looks inside. */
#ifndef DTX_EXPR_PARSE_TREE_H
#define DTX_EXPR_PARSE_TREE_H

#include "core/expr/expr.h"

enum dtx_ekind {
	DTX_EX_LIT,
	DTX_EX_COL,
	DTX_EX_CALL,
	DTX_EX_NEG,
	DTX_EX_BIN,
	DTX_EX_CMP,
	DTX_EX_AND,
	DTX_EX_OR,
	DTX_EX_NOT,
	DTX_EX_IN,
	DTX_EX_BETWEEN,
	DTX_EX_ISNULL,
	DTX_EX_CASE
};
/* How a literal was written.  POINT: digits with a point and without exponent; next to a decimal it
 * is a decimal. */
enum dtx_elit {
	DTX_LIT_NULL,
	DTX_LIT_FALSE,
	DTX_LIT_TRUE,
	DTX_LIT_INT,
	DTX_LIT_POINT,
	DTX_LIT_FLOAT,
	DTX_LIT_TEXT
};
enum dtx_ebin {
	DTX_BIN_ADD,
	DTX_BIN_SUB,
	DTX_BIN_MUL,
	DTX_BIN_DIV,
	DTX_BIN_FLOORDIV,
	DTX_BIN_MOD,
	DTX_BIN_POW
};
enum dtx_ecmp { DTX_CMP_EQ, DTX_CMP_NE, DTX_CMP_LT, DTX_CMP_LE, DTX_CMP_GT, DTX_CMP_GE };

/* The largest height of a tree.  Parentheses, calls and prefix operators nest at most DTX_EXPR_NEST
 * levels. */
#define DTX_EXPR_HEIGHT 1000
#define DTX_EXPR_NEST   200
#define DTX_EXPR_NODES  10000
#define DTX_EXPR_LIST   10000
#define DTX_EXPR_BYTES  65536

/* arg has the operands in order.  IN: the value, then the list.  CASE: condition, value, condition,
 * value and so on; if their number is odd, the last one is the else value. */
struct dtx_expr {
	enum dtx_ekind kind;
	int op; /* enum dtx_elit, dtx_ebin or dtx_ecmp */
	int32_t span[2];
	int32_t height;
	uint32_t nargs;
	const struct dtx_expr **arg;
	const char *const *argname; /* CALL: NULL, or for each argument its name (NULL:
	                             * positional) */
	const char *table;          /* COL: the qualifier; NULL */
	const char *name;           /* COL; CALL: canonical, in lower case */
	struct dtx_str text;        /* LIT: a number as written, or the content of a text */
	bool double_quoted;         /* LIT: a text in ", which is how SQL writes names */
};

/* A node with room for nargs operands.  NULL: out of memory. */
struct dtx_expr *dtx_expr_node(struct dtx_arena *a, enum dtx_ekind kind, uint32_t nargs);
/* Computes the height from the operands. */
void dtx_expr_measure(struct dtx_expr *e);
/* The condition `where:` of a call, else NULL.  *nargs is the number of arguments without it. */
const struct dtx_expr *dtx_expr_where(const struct dtx_expr *e, uint32_t *nargs);
/* Whether word is a keyword, which a name cannot be without backticks. */
bool dtx_expr_is_keyword(struct dtx_str word);
/* Whether `text` has the form of a name, so that it needs no backticks (unless it is a keyword). */
bool dtx_expr_is_name(struct dtx_str text);

#endif
