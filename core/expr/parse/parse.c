/* Recursive-descent parser of the formula language: operators, limits, the whole text.
 *
 * There is one function per level of precedence, from `or` down to casts; parse_atom.c has the
 * level below them.  Formulas may come from an untrusted source, so the number of nodes, the
 * nesting and the height of the tree are limited while the tree is built.  Nesting is counted as in
 * the canonical text of the tree, not as in the source: otherwise a formula could be accepted whose
 * canonical text is refused. */
#include "core/expr/parse/parse.h"

#include "core/base/text/utf8.h"

typedef enum dtx_code parse_fn(struct dtx_parser *p, const struct dtx_expr **out);
static parse_fn parse_not, parse_sum, parse_unary;

enum dtx_code dtx_parse_next(struct dtx_parser *p)
{
	enum dtx_code rc;

	p->prev_end = p->lx.end;
	rc = dtx_lex_next(&p->lx, p->err);
	if (rc == DTX_E_EXPR_SYNTAX && p->err && !p->err->hint[0])
		(void)dtx_parse_slip(p);
	return rc;
}

enum dtx_code dtx_parse_unexpected(struct dtx_parser *p, const char *expected)
{
	enum dtx_code rc;
	struct dtx_str got = { p->lx.text.ptr + p->lx.start, p->lx.end - p->lx.start };

	if (p->lx.kind == DTX_TK_END)
		rc = dtx_err_set(p->err, DTX_E_EXPR_SYNTAX, __FILE__, __LINE__,
		                 "the formula ends too early: expected %s", expected);
	else
		rc = dtx_err_set(p->err, DTX_E_EXPR_SYNTAX, __FILE__, __LINE__,
		                 got.len && strchr("'\"`", *got.ptr)
		                         ? "unexpected %.*s: expected %s"
		                         : "unexpected '%.*s': expected %s",
		                 (int)DTX_MIN(got.len, 60), got.ptr, expected);
	dtx_err_span(p->err, (int32_t)p->lx.start, (int32_t)p->lx.end);
	dtx_parse_hint(p);
	return rc;
}

enum dtx_code dtx_parse_limit(struct dtx_parser *p, const char *what, int max)
{
	enum dtx_code rc = dtx_err_set(p->err, DTX_E_EXPR_LIMIT, __FILE__, __LINE__,
	                               "%s: at most %d", what, max);

	dtx_err_span(p->err, (int32_t)p->lx.start, (int32_t)p->lx.end);
	dtx_err_hint(p->err, "split it over several derive steps");
	return rc;
}

enum dtx_code dtx_parse_expect(struct dtx_parser *p, const char *word, const char *expected)
{
	return dtx_lex_is(&p->lx, word) ? dtx_parse_next(p) : dtx_parse_unexpected(p, expected);
}

enum dtx_code dtx_parse_node(struct dtx_parser *p, enum dtx_ekind kind, size_t start,
                             uint32_t nargs, struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;

	if (++p->nodes > DTX_EXPR_NODES)
		return dtx_parse_limit(p, "too many parts in one expression", DTX_EXPR_NODES);
	*out = dtx_expr_node(p->arena, kind, nargs);
	if (!*out)
		DTX_FAIL_MEM(p->err);
	(*out)->span[0] = (int32_t)start;
	(*out)->span[1] = (int32_t)p->prev_end;
out:
	return rc;
}

enum dtx_code dtx_parse_done(struct dtx_parser *p, struct dtx_expr *e, const struct dtx_expr **out)
{
	dtx_expr_measure(e);
	e->span[1] = (int32_t)p->prev_end;
	if (e->height > DTX_EXPR_HEIGHT)
		return dtx_parse_limit(p, "expression is too deep", DTX_EXPR_HEIGHT);
	*out = e;
	return DTX_OK;
}

enum dtx_code dtx_parse_make(struct dtx_parser *p, enum dtx_ekind kind, int op, size_t start,
                             const struct dtx_expr *a, const struct dtx_expr *b,
                             const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_expr *e;

	DTX_TRY(dtx_parse_node(p, kind, start, b ? 2 : 1, &e));
	e->op = op;
	e->arg[0] = a;
	if (b)
		e->arg[1] = b;
	DTX_TRY(dtx_parse_done(p, e, out));
out:
	return rc;
}

enum dtx_code dtx_parse_enter(struct dtx_parser *p, int levels)
{
	p->nest += levels;
	if (p->nest > DTX_EXPR_NEST)
		return dtx_parse_limit(p, "expression nests too deeply", DTX_EXPR_NEST);
	return DTX_OK;
}

enum dtx_code dtx_parse_add(struct dtx_parser *p, struct dtx_parse_args *v,
                            const struct dtx_expr *e, const char *name)
{
	enum dtx_code rc = DTX_OK;

	if (v->n == v->cap) {
		uint32_t cap = v->cap ? v->cap * 2 : 4;
		const struct dtx_expr **item = dtx_arena_alloc(p->arena, cap, sizeof(*item));
		const char **names = dtx_arena_alloc(p->arena, cap, sizeof(*names));

		if (!item || !names)
			DTX_FAIL_MEM(p->err);
		if (v->n) {
			memcpy(item, v->item, v->n * sizeof(*item));
			memcpy(names, v->name, v->n * sizeof(*names));
		}
		v->item = item;
		v->name = names;
		v->cap = cap;
	}
	v->item[v->n] = e;
	v->name[v->n++] = name;
out:
	return rc;
}

/* --- operators --- */

static enum dtx_code parse_postfix(struct dtx_parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	size_t start = p->lx.start;
	int nest = p->nest;

	DTX_TRY(dtx_parse_atom(p, out));
	while (dtx_lex_is(&p->lx, "::")) {
		/* a cast is printed as a call, which nests */
		DTX_TRY(dtx_parse_enter(p, 1));
		DTX_TRY(dtx_parse_cast(p, start, out));
	}
	p->nest = nest;
out:
	return rc;
}

static enum dtx_code parse_power(struct dtx_parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	size_t start = p->lx.start;
	const struct dtx_expr *right;

	DTX_TRY(parse_postfix(p, out));
	if (dtx_lex_is(&p->lx, "**")) {
		DTX_TRY(dtx_parse_enter(p, 1));
		DTX_TRY(dtx_parse_next(p));
		DTX_TRY(parse_unary(p, &right));
		p->nest--;
		DTX_TRY(dtx_parse_make(p, DTX_EX_BIN, DTX_BIN_POW, start, *out, right, out));
	}
out:
	return rc;
}

static enum dtx_code parse_unary(struct dtx_parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	size_t start = p->lx.start;
	int nest = p->nest;
	const struct dtx_expr *e;

	if (!dtx_lex_is(&p->lx, "-"))
		return parse_power(p, out);
	DTX_TRY(dtx_parse_enter(p, 1));
	DTX_TRY(dtx_parse_next(p));
	/* - - x is printed as -(-x), so the parenthesis counts as a level of nesting */
	if (dtx_lex_is(&p->lx, "-"))
		DTX_TRY(dtx_parse_enter(p, 1));
	DTX_TRY(parse_unary(p, &e));
	p->nest = nest;
	DTX_TRY(dtx_parse_make(p, DTX_EX_NEG, 0, start, e, NULL, out));
out:
	return rc;
}

struct infix {
	const char *word;
	enum dtx_ekind kind;
	int op;
};
static const struct infix infix_or[] = { { "or", DTX_EX_OR, 0 },
	                                 { "||", DTX_EX_OR, 0 },
	                                 { NULL, 0, 0 } };
static const struct infix infix_and[] = { { "and", DTX_EX_AND, 0 },
	                                  { "&&", DTX_EX_AND, 0 },
	                                  { NULL, 0, 0 } };
static const struct infix infix_cmp[] = { { "==", DTX_EX_CMP, DTX_CMP_EQ },
	                                  { "=", DTX_EX_CMP, DTX_CMP_EQ },
	                                  { "!=", DTX_EX_CMP, DTX_CMP_NE },
	                                  { "<>", DTX_EX_CMP, DTX_CMP_NE },
	                                  { "<", DTX_EX_CMP, DTX_CMP_LT },
	                                  { "<=", DTX_EX_CMP, DTX_CMP_LE },
	                                  { ">", DTX_EX_CMP, DTX_CMP_GT },
	                                  { ">=", DTX_EX_CMP, DTX_CMP_GE },
	                                  { NULL, 0, 0 } };
static const struct infix infix_sum[] = { { "+", DTX_EX_BIN, DTX_BIN_ADD },
	                                  { "-", DTX_EX_BIN, DTX_BIN_SUB },
	                                  { NULL, 0, 0 } };
static const struct infix infix_product[] = { { "*", DTX_EX_BIN, DTX_BIN_MUL },
	                                      { "/", DTX_EX_BIN, DTX_BIN_DIV },
	                                      { "//", DTX_EX_BIN, DTX_BIN_FLOORDIV },
	                                      { "%", DTX_EX_BIN, DTX_BIN_MOD },
	                                      { NULL, 0, 0 } };

static const struct infix *infix_now(const struct dtx_parser *p, const struct infix *row)
{
	for (; row->word; row++) {
		if (dtx_lex_is(&p->lx, row->word))
			return row;
	}
	return NULL;
}

/* operand { operator operand }, left-associative */
static enum dtx_code parse_chain(struct dtx_parser *p, const struct infix *rows, parse_fn *operand,
                                 const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	size_t start = p->lx.start;
	const struct dtx_expr *right;
	const struct infix *row;

	DTX_TRY(operand(p, out));
	while ((row = infix_now(p, rows)) != NULL) {
		DTX_TRY(dtx_parse_next(p));
		DTX_TRY(operand(p, &right));
		DTX_TRY(dtx_parse_make(p, row->kind, row->op, start, *out, right, out));
	}
out:
	return rc;
}

static enum dtx_code parse_product(struct dtx_parser *p, const struct dtx_expr **out)
{
	return parse_chain(p, infix_product, parse_unary, out);
}

static enum dtx_code parse_sum(struct dtx_parser *p, const struct dtx_expr **out)
{
	return parse_chain(p, infix_sum, parse_product, out);
}

static enum dtx_code parse_in(struct dtx_parser *p, size_t start, const struct dtx_expr *left,
                              const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_parse_args v = { NULL, NULL, 0, 0 };
	const struct dtx_expr *item;
	const char *close;
	struct dtx_expr *e;

	if (!dtx_lex_is(&p->lx, "(") && !dtx_lex_is(&p->lx, "["))
		return dtx_parse_unexpected(p, "a list in '(' ')'");
	close = dtx_lex_is(&p->lx, "(") ? ")" : "]";
	DTX_TRY(dtx_parse_add(p, &v, left, NULL));
	DTX_TRY(dtx_parse_enter(p, 1));
	do {
		DTX_TRY(dtx_parse_next(p));
		if (v.n > DTX_EXPR_LIST)
			return dtx_parse_limit(p, "too many elements in one list", DTX_EXPR_LIST);
		DTX_TRY(dtx_parse_any(p, &item));
		if (item->kind == DTX_EX_LIT)
			p->nodes--; /* the list has a limit of its own */
		DTX_TRY(dtx_parse_add(p, &v, item, NULL));
	} while (dtx_lex_is(&p->lx, ","));
	DTX_TRY(dtx_parse_expect(
		p, close, *close == ')' ? "',', ')' or an operator" : "',', ']' or an operator"));
	p->nest--;
	DTX_TRY(dtx_parse_node(p, DTX_EX_IN, start, v.n, &e));
	memcpy(e->arg, v.item, v.n * sizeof(*e->arg));
	DTX_TRY(dtx_parse_done(p, e, out));
out:
	return rc;
}

static enum dtx_code parse_between(struct dtx_parser *p, size_t start, const struct dtx_expr *left,
                                   const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_expr *low, *high;
	struct dtx_expr *e;

	DTX_TRY(parse_sum(p, &low));
	DTX_TRY(dtx_parse_expect(p, "and", "'and' and the upper bound"));
	DTX_TRY(parse_sum(p, &high));
	DTX_TRY(dtx_parse_node(p, DTX_EX_BETWEEN, start, 3, &e));
	e->arg[0] = left;
	e->arg[1] = low;
	e->arg[2] = high;
	DTX_TRY(dtx_parse_done(p, e, out));
out:
	return rc;
}

static enum dtx_code parse_is(struct dtx_parser *p, size_t start, const struct dtx_expr *left,
                              const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	bool negate;

	negate = dtx_lex_is(&p->lx, "not");
	if (negate)
		DTX_TRY(dtx_parse_next(p));
	DTX_TRY(dtx_parse_expect(p, "null", negate ? "'null'" : "'null' or 'not null'"));
	DTX_TRY(dtx_parse_make(p, DTX_EX_ISNULL, 0, start, left, NULL, out));
	if (negate)
		DTX_TRY(dtx_parse_make(p, DTX_EX_NOT, 0, start, *out, NULL, out));
out:
	return rc;
}

static enum dtx_code parse_word_op(struct dtx_parser *p, size_t start, const struct dtx_expr *left,
                                   const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_parse_args v = { NULL, NULL, 0, 0 };
	struct dtx_str word = p->lx.word;
	const struct dtx_expr *right;

	if (dtx_lex_is(&p->lx, "in")) {
		DTX_TRY(dtx_parse_next(p));
		return parse_in(p, start, left, out);
	}
	if (dtx_lex_is(&p->lx, "between")) {
		DTX_TRY(dtx_parse_next(p));
		return parse_between(p, start, left, out);
	}
	if (!dtx_lex_is(&p->lx, "like") && !dtx_lex_is(&p->lx, "matches"))
		return dtx_parse_unexpected(p, "'in', 'between', 'like' or 'matches'");
	DTX_TRY(dtx_parse_next(p));
	DTX_TRY(parse_sum(p, &right));
	DTX_TRY(dtx_parse_add(p, &v, left, NULL));
	DTX_TRY(dtx_parse_add(p, &v, right, NULL));
	DTX_TRY(dtx_parse_made_call(p, word, start, &v, out));
out:
	return rc;
}

static bool at_word_op(const struct dtx_parser *p)
{
	return p->lx.kind == DTX_TK_KEYWORD &&
	       (dtx_lex_is(&p->lx, "in") || dtx_lex_is(&p->lx, "between") ||
	        dtx_lex_is(&p->lx, "like") || dtx_lex_is(&p->lx, "matches"));
}

static enum dtx_code parse_cmp(struct dtx_parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	size_t start = p->lx.start;
	const struct infix *row;
	const struct dtx_expr *right;

	DTX_TRY(parse_sum(p, out));
	row = infix_now(p, infix_cmp);
	if (row) {
		DTX_TRY(dtx_parse_next(p));
		DTX_TRY(parse_sum(p, &right));
		DTX_TRY(dtx_parse_make(p, DTX_EX_CMP, row->op, start, *out, right, out));
	} else if (dtx_lex_is(&p->lx, "is")) {
		DTX_TRY(dtx_parse_next(p));
		DTX_TRY(parse_is(p, start, *out, out));
	} else if (dtx_lex_is(&p->lx, "not")) {
		DTX_TRY(dtx_parse_next(p));
		DTX_TRY(parse_word_op(p, start, *out, out));
		DTX_TRY(dtx_parse_make(p, DTX_EX_NOT, 0, start, *out, NULL, out));
	} else if (at_word_op(p)) {
		DTX_TRY(parse_word_op(p, start, *out, out));
	}
out:
	return rc;
}

static enum dtx_code parse_not(struct dtx_parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	size_t start = p->lx.start;
	const struct dtx_expr *e;

	if (!dtx_lex_is(&p->lx, "not") && !dtx_lex_is(&p->lx, "!"))
		return parse_cmp(p, out);
	DTX_TRY(dtx_parse_enter(p, 1));
	DTX_TRY(dtx_parse_next(p));
	DTX_TRY(parse_not(p, &e));
	p->nest--;
	DTX_TRY(dtx_parse_make(p, DTX_EX_NOT, 0, start, e, NULL, out));
out:
	return rc;
}

static enum dtx_code parse_and(struct dtx_parser *p, const struct dtx_expr **out)
{
	return parse_chain(p, infix_and, parse_not, out);
}

enum dtx_code dtx_parse_any(struct dtx_parser *p, const struct dtx_expr **out)
{
	return parse_chain(p, infix_or, parse_and, out);
}

/* --- the whole text --- */

static enum dtx_code parse_end(struct dtx_parser *p)
{
	enum dtx_code rc;

	if (p->lx.kind == DTX_TK_END)
		return DTX_OK;
	rc = dtx_parse_unexpected(p, "an operator or the end");
	if (infix_now(p, infix_cmp))
		dtx_err_hint(p->err, "comparisons do not chain: join two with 'and'");
	return rc;
}

/* Checks that the printed form, which may be longer than the text, can be parsed again. */
static enum dtx_code check_printed(struct dtx_parser *p, const struct dtx_expr *e)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_EXPR_BYTES);

	dtx_expr_print(e, &text);
	if (text.fail == DTX_BUF_MEM)
		DTX_FAIL_MEM(p->err);
	if (text.fail == DTX_BUF_MAX)
		rc = dtx_parse_limit(p, "expression is too long, in bytes", DTX_EXPR_BYTES);
out:
	dtx_buf_clear(&text);
	return rc;
}

enum dtx_code dtx_expr_parse(struct dtx_arena *a, struct dtx_str text, struct dtx_expr **out,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_parser p = { .arena = a, .err = err };
	const struct dtx_expr *e = NULL;
	ptrdiff_t bad;

	p.lx.text = text;
	if (text.len > DTX_EXPR_BYTES)
		return dtx_parse_limit(&p, "expression is too long, in bytes", DTX_EXPR_BYTES);
	bad = dtx_utf8_bad(text.ptr, text.len);
	/* Names end at a NUL byte, so a text may not contain one; the JSON of a plan cannot contain
	 * it either. */
	if (bad < 0 && text.len && memchr(text.ptr, '\0', text.len))
		bad = (const char *)memchr(text.ptr, '\0', text.len) - text.ptr;
	if (bad >= 0) {
		dtx_err_set(err, DTX_E_EXPR_SYNTAX, __FILE__, __LINE__,
		            "byte %td of the expression is not UTF-8 text", bad);
		dtx_err_span(err, (int32_t)bad, (int32_t)bad + 1);
		return DTX_E_EXPR_SYNTAX;
	}
	DTX_TRY(dtx_parse_next(&p));
	DTX_TRY(dtx_parse_any(&p, &e));
	DTX_TRY(parse_end(&p));
	/* printing makes a text at most four times as long */
	if (text.len > DTX_EXPR_BYTES / 4)
		DTX_TRY(check_printed(&p, e));
	/* all nodes come from dtx_expr_node, so they may be written to */
	*out = (struct dtx_expr *)(uintptr_t)e;
out:
	return rc;
}

static void forget_places(struct dtx_expr *e)
{
	e->span[0] = e->span[1] = -1;
	for (uint32_t i = 0; i < e->nargs; i++)
		forget_places((struct dtx_expr *)(uintptr_t)e->arg[i]);
}

enum dtx_code dtx_expr_made(struct dtx_arena *a, struct dtx_str text, struct dtx_expr **out,
                            struct dtx_err *err)
{
	enum dtx_code rc = dtx_expr_parse(a, text, out, err);

	if (rc == DTX_OK)
		forget_places(*out);
	return rc;
}
