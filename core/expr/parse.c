/* Recursive descent over the grammar; sugar leaves one form of tree. */
#include "core/expr/lex.h"

#include "core/base/num.h"
#include "core/base/utf8.h"
#include "core/expr/fn.h"

struct parser {
	struct dtx_arena *arena;
	struct dtx_lex lx;
	struct dtx_err *err;
	size_t prev_end;	/* end of the token before the current one */
	int nest;
	uint32_t nodes;
};
struct args {	/* growing list of operands */
	const struct dtx_expr **item;
	const char **name;
	uint32_t n, cap;
};
typedef enum dtx_code parse_fn(struct parser *p, const struct dtx_expr **out);
static parse_fn parse_or, parse_not, parse_sum, parse_unary;

static enum dtx_code next(struct parser *p)
{
	p->prev_end = p->lx.end;
	return dtx_lex_next(&p->lx, p->err);
}

static enum dtx_code unexpected(struct parser *p, const char *expected)
{
	enum dtx_code rc;
	struct dtx_str got = { p->lx.text.ptr + p->lx.start, p->lx.end - p->lx.start };

	if (p->lx.kind == DTX_TK_END)
		rc = dtx_err_set(p->err, DTX_E_EXPR_SYNTAX, __FILE__, __LINE__,
				 "expression ends: expected %s", expected);
	else
		rc = dtx_err_set(p->err, DTX_E_EXPR_SYNTAX, __FILE__, __LINE__,
				 "unexpected '%.*s': expected %s", (int)DTX_MIN(got.len, 60),
				 got.ptr, expected);
	dtx_err_span(p->err, (int32_t)p->lx.start, (int32_t)p->lx.end);
	return rc;
}

static enum dtx_code limit(struct parser *p, const char *what, int max)
{
	enum dtx_code rc = dtx_err_set(p->err, DTX_E_EXPR_LIMIT, __FILE__, __LINE__,
				       "%s: at most %d", what, max);

	dtx_err_span(p->err, (int32_t)p->lx.start, (int32_t)p->lx.end);
	dtx_err_hint(p->err, "split it over several derive steps");
	return rc;
}

static enum dtx_code expect(struct parser *p, const char *word, const char *expected)
{
	return dtx_lex_is(&p->lx, word) ? next(p) : unexpected(p, expected);
}

static enum dtx_code node(struct parser *p, enum dtx_ekind kind, size_t start, uint32_t nargs,
			  struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;

	if (++p->nodes > DTX_EXPR_NODES)
		return limit(p, "too many parts in one expression", DTX_EXPR_NODES);
	*out = dtx_expr_node(p->arena, kind, nargs);
	if (!*out)
		DTX_FAIL_MEM(p->err);
	(*out)->span[0] = (int32_t)start;
	(*out)->span[1] = (int32_t)p->prev_end;
out:
	return rc;
}

/* Closes a node whose operands are in place. */
static enum dtx_code done(struct parser *p, struct dtx_expr *e, const struct dtx_expr **out)
{
	dtx_expr_measure(e);
	e->span[1] = (int32_t)p->prev_end;
	if (e->height > DTX_EXPR_HEIGHT)
		return limit(p, "expression is too deep", DTX_EXPR_HEIGHT);
	*out = e;
	return DTX_OK;
}

static enum dtx_code make(struct parser *p, enum dtx_ekind kind, int op, size_t start,
			  const struct dtx_expr *a, const struct dtx_expr *b,
			  const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_expr *e;

	DTX_TRY(node(p, kind, start, b ? 2 : 1, &e));
	e->op = op;
	e->arg[0] = a;
	if (b)
		e->arg[1] = b;
	DTX_TRY(done(p, e, out));
out:
	return rc;
}

static enum dtx_code enter(struct parser *p, int levels)
{
	p->nest += levels;
	if (p->nest > DTX_EXPR_NEST)
		return limit(p, "expression nests too deeply", DTX_EXPR_NEST);
	return DTX_OK;
}

static enum dtx_code args_add(struct parser *p, struct args *v, const struct dtx_expr *e,
			      const char *name)
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

/* --- atoms --- */

/* Interior of a quoted token with doubled quotes undone. */
static enum dtx_code unquote(struct parser *p, char quote, struct dtx_str *out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str s = p->lx.word;
	char *to = dtx_arena_strndup(p->arena, s.ptr, s.len);
	size_t i, n = 0;

	if (!to)
		DTX_FAIL_MEM(p->err);
	for (i = 0; i < s.len; i++) {
		to[n++] = s.ptr[i];
		if (s.ptr[i] == quote)
			i++;
	}
	to[n] = '\0';
	*out = (struct dtx_str){ to, n };
out:
	return rc;
}

static enum dtx_code parse_number(struct parser *p, struct dtx_expr *e)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str s = p->lx.word;
	bool exponent = memchr(s.ptr, 'e', s.len) || memchr(s.ptr, 'E', s.len);
	bool point = memchr(s.ptr, '.', s.len);
	int64_t i;
	double f;

	e->op = exponent ? DTX_LIT_FLOAT : point ? DTX_LIT_POINT : DTX_LIT_INT;
	if (e->op == DTX_LIT_INT ? !dtx_num_parse_i64(s.ptr, s.len, &i)
				 : !dtx_num_parse_f64(s.ptr, s.len, &f)) {
		rc = dtx_err_set(p->err, DTX_E_BAD_LITERAL, __FILE__, __LINE__,
				 "number '%.*s' is too large for %s", (int)DTX_MIN(s.len, 60),
				 s.ptr, e->op == DTX_LIT_INT ? "an int" : "a float");
		dtx_err_span(p->err, (int32_t)p->lx.start, (int32_t)p->lx.end);
		dtx_err_hint(p->err, "an int is at most 9223372036854775807");
		return rc;
	}
	e->text.ptr = dtx_arena_strndup(p->arena, s.ptr, s.len);
	if (!e->text.ptr)
		DTX_FAIL_MEM(p->err);
	e->text.len = s.len;
out:
	return rc;
}

static int keyword_literal(const struct dtx_lex *lx)
{
	if (dtx_lex_is(lx, "null"))
		return DTX_LIT_NULL;
	if (dtx_lex_is(lx, "true"))
		return DTX_LIT_TRUE;
	return dtx_lex_is(lx, "false") ? DTX_LIT_FALSE : -1;
}

static enum dtx_code parse_literal(struct parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_expr *e;

	DTX_TRY(node(p, DTX_EX_LIT, p->lx.start, 0, &e));
	if (p->lx.kind == DTX_TK_NUMBER) {
		DTX_TRY(parse_number(p, e));
	} else if (p->lx.kind == DTX_TK_TEXT) {
		e->op = DTX_LIT_TEXT;
		DTX_TRY(unquote(p, p->lx.text.ptr[p->lx.start], &e->text));
	} else {
		e->op = keyword_literal(&p->lx);
	}
	DTX_TRY(next(p));
	DTX_TRY(done(p, e, out));
out:
	return rc;
}

/* The current name token's text, without backticks. */
static enum dtx_code name_text(struct parser *p, const char **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str s = p->lx.word;

	if (p->lx.kind == DTX_TK_QUOTED_NAME)
		DTX_TRY(unquote(p, '`', &s));
	*out = dtx_arena_strndup(p->arena, s.ptr, s.len);
	if (!*out)
		DTX_FAIL_MEM(p->err);
out:
	return rc;
}

/* The next token would be `word`; nothing moves. */
static bool peek_is(const struct parser *p, const char *word)
{
	struct dtx_lex ahead = p->lx;

	return dtx_lex_next(&ahead, NULL) == DTX_OK && dtx_lex_is(&ahead, word);
}

static enum dtx_code parse_column(struct parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_expr *e;

	DTX_TRY(node(p, DTX_EX_COL, p->lx.start, 0, &e));
	DTX_TRY(name_text(p, &e->name));
	DTX_TRY(next(p));
	if (dtx_lex_is(&p->lx, ".")) {
		DTX_TRY(next(p));
		if (p->lx.kind != DTX_TK_NAME && p->lx.kind != DTX_TK_QUOTED_NAME)
			return unexpected(p, "a column name");
		e->table = e->name;
		DTX_TRY(name_text(p, &e->name));
		DTX_TRY(next(p));
	}
	DTX_TRY(done(p, e, out));
out:
	return rc;
}

/* --- calls --- */

static enum dtx_code parse_arg(struct parser *p, struct args *v)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_expr *e;
	const char *name = NULL;

	if (p->lx.kind == DTX_TK_NAME && peek_is(p, ":")) {
		DTX_TRY(name_text(p, &name));
		DTX_TRY(next(p));
		DTX_TRY(next(p));
	} else if (v->n && v->name[v->n - 1]) {
		return unexpected(p, "a named argument, as the one before it");
	}
	DTX_TRY(parse_or(p, &e));
	DTX_TRY(args_add(p, v, e, name));
out:
	return rc;
}

/* Place of a named argument in the signature; `where` comes last, unknown names before it. */
static size_t arg_rank(const struct dtx_fn *fn, const char *name)
{
	struct dtx_fnparam param;
	size_t i;

	if (!strcmp(name, "where"))
		return SIZE_MAX;
	for (i = 0; fn && dtx_fn_param(fn, i, &param) && !param.variadic; i++) {
		if (dtx_str_is(param.name, name))
			return i;
	}
	return SIZE_MAX - 1;
}

/* Named arguments take signature order; one that follows the positional ones loses its name. */
static void args_order(const struct dtx_fn *fn, struct args *v)
{
	uint32_t i, k, first = 0;

	while (first < v->n && !v->name[first])
		first++;
	for (i = first + 1; i < v->n; i++) {
		const struct dtx_expr *e = v->item[i];
		const char *name = v->name[i];

		for (k = i; k > first && arg_rank(fn, v->name[k - 1]) > arg_rank(fn, name); k--) {
			v->item[k] = v->item[k - 1];
			v->name[k] = v->name[k - 1];
		}
		v->item[k] = e;
		v->name[k] = name;
	}
	while (first < v->n && arg_rank(fn, v->name[first]) == first)
		v->name[first++] = NULL;
}

static enum dtx_code call_name(struct parser *p, struct dtx_str word, const struct dtx_fn *fn,
			       const char **out)
{
	enum dtx_code rc = DTX_OK;
	char *name;

	if (fn) {
		*out = fn->name;
		return DTX_OK;
	}
	name = dtx_arena_strndup(p->arena, word.ptr, word.len);
	if (!name)
		DTX_FAIL_MEM(p->err);
	*out = name;
	for (; *name; name++) {
		if (*name >= 'A' && *name <= 'Z')
			*name = (char)(*name - 'A' + 'a');
	}
out:
	return rc;
}

static enum dtx_code make_call(struct parser *p, struct dtx_str word, size_t start,
			       struct args *v, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	uint32_t positional = v->n;
	const struct dtx_fn *fn;
	struct dtx_expr *e;

	if (v->n == 1 && !v->name[0] && dtx_str_ieq(word, DTX_STR("is_null")))
		return make(p, DTX_EX_ISNULL, 0, start, v->item[0], NULL, out);
	if (v->n && v->name[v->n - 1] && !strcmp(v->name[v->n - 1], "where"))
		positional--;
	fn = dtx_fn_find(word, positional);
	args_order(fn, v);
	DTX_TRY(node(p, DTX_EX_CALL, start, v->n, &e));
	DTX_TRY(call_name(p, word, fn, &e->name));
	if (v->n) {
		memcpy(e->arg, v->item, v->n * sizeof(*e->arg));
		if (v->name[v->n - 1])
			e->argname = v->name;
	}
	DTX_TRY(done(p, e, out));
out:
	return rc;
}

static enum dtx_code parse_call(struct parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str word = p->lx.word;
	size_t start = p->lx.start;
	struct args v = { NULL, NULL, 0, 0 };

	DTX_TRY(next(p));
	DTX_TRY(enter(p, 1));
	DTX_TRY(next(p));
	if (dtx_lex_is(&p->lx, "*")) {
		if (!dtx_str_ieq(word, DTX_STR("count")))
			return unexpected(p, "an argument ('*' is for count only)");
		DTX_TRY(next(p));
		if (dtx_lex_is(&p->lx, ",")) {
			DTX_TRY(next(p));
			DTX_TRY(parse_arg(p, &v));
		}
	} else if (!dtx_lex_is(&p->lx, ")")) {
		DTX_TRY(parse_arg(p, &v));
		while (dtx_lex_is(&p->lx, ",")) {
			DTX_TRY(next(p));
			DTX_TRY(parse_arg(p, &v));
		}
	}
	DTX_TRY(expect(p, ")", v.n ? "',', ')' or an operator" : "an argument or ')'"));
	p->nest--;
	DTX_TRY(make_call(p, word, start, &v, out));
out:
	return rc;
}

static enum dtx_code parse_case(struct parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	size_t start = p->lx.start;
	struct args v = { NULL, NULL, 0, 0 };
	const struct dtx_expr *part;
	struct dtx_expr *e;

	DTX_TRY(enter(p, 1));
	DTX_TRY(next(p));
	do {
		DTX_TRY(expect(p, "when", "'when'"));
		DTX_TRY(parse_or(p, &part));
		DTX_TRY(args_add(p, &v, part, NULL));
		DTX_TRY(expect(p, "then", "'then' or an operator"));
		DTX_TRY(parse_or(p, &part));
		DTX_TRY(args_add(p, &v, part, NULL));
	} while (dtx_lex_is(&p->lx, "when"));
	if (dtx_lex_is(&p->lx, "else")) {
		DTX_TRY(next(p));
		DTX_TRY(parse_or(p, &part));
		DTX_TRY(args_add(p, &v, part, NULL));
	}
	DTX_TRY(expect(p, "end", "'when', 'else', 'end' or an operator"));
	p->nest--;
	DTX_TRY(node(p, DTX_EX_CASE, start, v.n, &e));
	memcpy(e->arg, v.item, v.n * sizeof(*e->arg));
	DTX_TRY(done(p, e, out));
out:
	return rc;
}

static enum dtx_code parse_paren(struct parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(enter(p, 1));
	DTX_TRY(next(p));
	DTX_TRY(parse_or(p, out));
	DTX_TRY(expect(p, ")", "')' or an operator"));
	p->nest--;
out:
	return rc;
}

static enum dtx_code parse_atom(struct parser *p, const struct dtx_expr **out)
{
	bool named = p->lx.kind == DTX_TK_NAME || dtx_lex_is(&p->lx, "matches") ||
		     dtx_lex_is(&p->lx, "like");

	if (p->lx.kind == DTX_TK_NUMBER || p->lx.kind == DTX_TK_TEXT ||
	    (p->lx.kind == DTX_TK_KEYWORD && keyword_literal(&p->lx) >= 0))
		return parse_literal(p, out);
	if (named && peek_is(p, "("))
		return parse_call(p, out);
	if (p->lx.kind == DTX_TK_NAME || p->lx.kind == DTX_TK_QUOTED_NAME)
		return parse_column(p, out);
	if (dtx_lex_is(&p->lx, "("))
		return parse_paren(p, out);
	if (dtx_lex_is(&p->lx, "case"))
		return parse_case(p, out);
	return unexpected(p, "a value");
}

/* --- operators --- */

static const struct {
	const char *type, *fn;
} cast_names[] = {
	{ "string", "text" },	 { "str", "text" },	 { "integer", "int" },
	{ "int64", "int" },	 { "double", "float" },	 { "float64", "float" },
	{ "boolean", "bool" },	 { "timestamp", "datetime" },
};

/* x::decimal(12, 2) is decimal(x, 12, 2). */
static enum dtx_code parse_cast(struct parser *p, size_t start, const struct dtx_expr **io)
{
	enum dtx_code rc = DTX_OK;
	struct args v = { NULL, NULL, 0, 0 };
	struct dtx_str word;
	const struct dtx_expr *part;
	size_t i;

	DTX_TRY(next(p));
	if (p->lx.kind != DTX_TK_NAME)
		return unexpected(p, "a type name");
	word = p->lx.word;
	for (i = 0; i < DTX_COUNT(cast_names); i++) {
		if (dtx_str_ieq(word, dtx_str_of(cast_names[i].type)))
			word = dtx_str_of(cast_names[i].fn);
	}
	DTX_TRY(args_add(p, &v, *io, NULL));
	DTX_TRY(next(p));
	if (dtx_lex_is(&p->lx, "(")) {
		do {
			DTX_TRY(next(p));
			if (p->lx.kind != DTX_TK_NUMBER || v.n == 3)
				return unexpected(p, v.n == 3 ? "')'" : "a number");
			DTX_TRY(parse_literal(p, &part));
			if (part->op != DTX_LIT_INT)
				return unexpected(p, "an int before it");
			DTX_TRY(args_add(p, &v, part, NULL));
		} while (dtx_lex_is(&p->lx, ","));
		DTX_TRY(expect(p, ")", "',' or ')'"));
	}
	DTX_TRY(make_call(p, word, start, &v, io));
out:
	return rc;
}

static enum dtx_code parse_postfix(struct parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	size_t start = p->lx.start;
	int nest = p->nest;

	DTX_TRY(parse_atom(p, out));
	while (dtx_lex_is(&p->lx, "::")) {
		/* each one is a call when printed */
		DTX_TRY(enter(p, 1));
		DTX_TRY(parse_cast(p, start, out));
	}
	p->nest = nest;
out:
	return rc;
}

static enum dtx_code parse_power(struct parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	size_t start = p->lx.start;
	const struct dtx_expr *right;

	DTX_TRY(parse_postfix(p, out));
	if (dtx_lex_is(&p->lx, "**")) {
		DTX_TRY(enter(p, 1));
		DTX_TRY(next(p));
		DTX_TRY(parse_unary(p, &right));
		p->nest--;
		DTX_TRY(make(p, DTX_EX_BIN, DTX_BIN_POW, start, *out, right, out));
	}
out:
	return rc;
}

static enum dtx_code parse_unary(struct parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	size_t start = p->lx.start;
	const struct dtx_expr *e;

	if (!dtx_lex_is(&p->lx, "-"))
		return parse_power(p, out);
	/* two levels: - - x prints as -(-x) */
	DTX_TRY(enter(p, 2));
	DTX_TRY(next(p));
	DTX_TRY(parse_unary(p, &e));
	p->nest -= 2;
	DTX_TRY(make(p, DTX_EX_NEG, 0, start, e, NULL, out));
out:
	return rc;
}

struct infix {
	const char *word;
	enum dtx_ekind kind;
	int op;
};
static const struct infix infix_or[] = { { "or", DTX_EX_OR, 0 }, { "||", DTX_EX_OR, 0 },
					 { NULL, 0, 0 } };
static const struct infix infix_and[] = { { "and", DTX_EX_AND, 0 }, { "&&", DTX_EX_AND, 0 },
					  { NULL, 0, 0 } };
static const struct infix infix_cmp[] = {
	{ "==", DTX_EX_CMP, DTX_CMP_EQ }, { "=", DTX_EX_CMP, DTX_CMP_EQ },
	{ "!=", DTX_EX_CMP, DTX_CMP_NE }, { "<>", DTX_EX_CMP, DTX_CMP_NE },
	{ "<", DTX_EX_CMP, DTX_CMP_LT },  { "<=", DTX_EX_CMP, DTX_CMP_LE },
	{ ">", DTX_EX_CMP, DTX_CMP_GT },  { ">=", DTX_EX_CMP, DTX_CMP_GE },
	{ NULL, 0, 0 }
};
static const struct infix infix_sum[] = { { "+", DTX_EX_BIN, DTX_BIN_ADD },
					  { "-", DTX_EX_BIN, DTX_BIN_SUB },
					  { NULL, 0, 0 } };
static const struct infix infix_product[] = {
	{ "*", DTX_EX_BIN, DTX_BIN_MUL },	{ "/", DTX_EX_BIN, DTX_BIN_DIV },
	{ "//", DTX_EX_BIN, DTX_BIN_FLOORDIV }, { "%", DTX_EX_BIN, DTX_BIN_MOD },
	{ NULL, 0, 0 }
};

static const struct infix *infix_now(const struct parser *p, const struct infix *row)
{
	for (; row->word; row++) {
		if (dtx_lex_is(&p->lx, row->word))
			return row;
	}
	return NULL;
}

/* operand { operator operand }, left-associative */
static enum dtx_code parse_chain(struct parser *p, const struct infix *rows, parse_fn *operand,
				 const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	size_t start = p->lx.start;
	const struct dtx_expr *right;
	const struct infix *row;

	DTX_TRY(operand(p, out));
	while ((row = infix_now(p, rows)) != NULL) {
		DTX_TRY(next(p));
		DTX_TRY(operand(p, &right));
		DTX_TRY(make(p, row->kind, row->op, start, *out, right, out));
	}
out:
	return rc;
}

static enum dtx_code parse_product(struct parser *p, const struct dtx_expr **out)
{
	return parse_chain(p, infix_product, parse_unary, out);
}

static enum dtx_code parse_sum(struct parser *p, const struct dtx_expr **out)
{
	return parse_chain(p, infix_sum, parse_product, out);
}

static enum dtx_code parse_in(struct parser *p, size_t start, const struct dtx_expr *left,
			      const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	struct args v = { NULL, NULL, 0, 0 };
	const struct dtx_expr *item;
	const char *close;
	struct dtx_expr *e;

	if (!dtx_lex_is(&p->lx, "(") && !dtx_lex_is(&p->lx, "["))
		return unexpected(p, "a list in '(' ')'");
	close = dtx_lex_is(&p->lx, "(") ? ")" : "]";
	DTX_TRY(args_add(p, &v, left, NULL));
	DTX_TRY(enter(p, 1));
	do {
		DTX_TRY(next(p));
		if (v.n > DTX_EXPR_LIST)
			return limit(p, "too many elements in one list", DTX_EXPR_LIST);
		DTX_TRY(parse_or(p, &item));
		if (item->kind == DTX_EX_LIT)
			p->nodes--;	/* the list has its own maximum */
		DTX_TRY(args_add(p, &v, item, NULL));
	} while (dtx_lex_is(&p->lx, ","));
	DTX_TRY(expect(p, close, *close == ')' ? "',', ')' or an operator"
					       : "',', ']' or an operator"));
	p->nest--;
	DTX_TRY(node(p, DTX_EX_IN, start, v.n, &e));
	memcpy(e->arg, v.item, v.n * sizeof(*e->arg));
	DTX_TRY(done(p, e, out));
out:
	return rc;
}

static enum dtx_code parse_between(struct parser *p, size_t start, const struct dtx_expr *left,
				   const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_expr *low, *high;
	struct dtx_expr *e;

	DTX_TRY(parse_sum(p, &low));
	DTX_TRY(expect(p, "and", "'and' and the upper bound"));
	DTX_TRY(parse_sum(p, &high));
	DTX_TRY(node(p, DTX_EX_BETWEEN, start, 3, &e));
	e->arg[0] = left;
	e->arg[1] = low;
	e->arg[2] = high;
	DTX_TRY(done(p, e, out));
out:
	return rc;
}

static enum dtx_code parse_is(struct parser *p, size_t start, const struct dtx_expr *left,
			      const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	bool negate;

	negate = dtx_lex_is(&p->lx, "not");
	if (negate)
		DTX_TRY(next(p));
	DTX_TRY(expect(p, "null", negate ? "'null'" : "'null' or 'not null'"));
	DTX_TRY(make(p, DTX_EX_ISNULL, 0, start, left, NULL, out));
	if (negate)
		DTX_TRY(make(p, DTX_EX_NOT, 0, start, *out, NULL, out));
out:
	return rc;
}

static enum dtx_code parse_word_op(struct parser *p, size_t start, const struct dtx_expr *left,
				   const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	struct args v = { NULL, NULL, 0, 0 };
	struct dtx_str word = p->lx.word;
	const struct dtx_expr *right;

	if (dtx_lex_is(&p->lx, "in")) {
		DTX_TRY(next(p));
		return parse_in(p, start, left, out);
	}
	if (dtx_lex_is(&p->lx, "between")) {
		DTX_TRY(next(p));
		return parse_between(p, start, left, out);
	}
	if (!dtx_lex_is(&p->lx, "like") && !dtx_lex_is(&p->lx, "matches"))
		return unexpected(p, "'in', 'between', 'like' or 'matches'");
	DTX_TRY(next(p));
	DTX_TRY(parse_sum(p, &right));
	DTX_TRY(args_add(p, &v, left, NULL));
	DTX_TRY(args_add(p, &v, right, NULL));
	DTX_TRY(make_call(p, word, start, &v, out));
out:
	return rc;
}

static bool at_word_op(const struct parser *p)
{
	return p->lx.kind == DTX_TK_KEYWORD &&
	       (dtx_lex_is(&p->lx, "in") || dtx_lex_is(&p->lx, "between") ||
		dtx_lex_is(&p->lx, "like") || dtx_lex_is(&p->lx, "matches"));
}

static enum dtx_code parse_cmp(struct parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	size_t start = p->lx.start;
	const struct infix *row;
	const struct dtx_expr *right;

	DTX_TRY(parse_sum(p, out));
	row = infix_now(p, infix_cmp);
	if (row) {
		DTX_TRY(next(p));
		DTX_TRY(parse_sum(p, &right));
		DTX_TRY(make(p, DTX_EX_CMP, row->op, start, *out, right, out));
	} else if (dtx_lex_is(&p->lx, "is")) {
		DTX_TRY(next(p));
		DTX_TRY(parse_is(p, start, *out, out));
	} else if (dtx_lex_is(&p->lx, "not")) {
		DTX_TRY(next(p));
		DTX_TRY(parse_word_op(p, start, *out, out));
		DTX_TRY(make(p, DTX_EX_NOT, 0, start, *out, NULL, out));
	} else if (at_word_op(p)) {
		DTX_TRY(parse_word_op(p, start, *out, out));
	}
out:
	return rc;
}

static enum dtx_code parse_not(struct parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	size_t start = p->lx.start;
	const struct dtx_expr *e;

	if (!dtx_lex_is(&p->lx, "not") && !dtx_lex_is(&p->lx, "!"))
		return parse_cmp(p, out);
	DTX_TRY(enter(p, 1));
	DTX_TRY(next(p));
	DTX_TRY(parse_not(p, &e));
	p->nest--;
	DTX_TRY(make(p, DTX_EX_NOT, 0, start, e, NULL, out));
out:
	return rc;
}

static enum dtx_code parse_and(struct parser *p, const struct dtx_expr **out)
{
	return parse_chain(p, infix_and, parse_not, out);
}

static enum dtx_code parse_or(struct parser *p, const struct dtx_expr **out)
{
	return parse_chain(p, infix_or, parse_and, out);
}

/* --- the whole text --- */

static enum dtx_code parse_end(struct parser *p)
{
	enum dtx_code rc;

	if (p->lx.kind == DTX_TK_END)
		return DTX_OK;
	rc = unexpected(p, "an operator or the end");
	if (infix_now(p, infix_cmp))
		dtx_err_hint(p->err, "comparisons do not chain: join two with 'and'");
	return rc;
}

/* The printed form must be readable again: it may be longer than what was written. */
static enum dtx_code check_printed(struct parser *p, const struct dtx_expr *e)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_EXPR_BYTES);

	dtx_expr_print(e, &text);
	if (text.fail == DTX_BUF_MEM)
		DTX_FAIL_MEM(p->err);
	if (text.fail == DTX_BUF_MAX)
		rc = limit(p, "expression is too long, in bytes", DTX_EXPR_BYTES);
out:
	dtx_buf_clear(&text);
	return rc;
}

enum dtx_code dtx_expr_parse(struct dtx_arena *a, struct dtx_str text, struct dtx_expr **out,
			     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct parser p = { .arena = a, .err = err };
	const struct dtx_expr *e = NULL;
	ptrdiff_t bad;

	p.lx.text = text;
	if (text.len > DTX_EXPR_BYTES)
		return limit(&p, "expression is too long, in bytes", DTX_EXPR_BYTES);
	bad = dtx_utf8_bad(text.ptr, text.len);
	if (bad >= 0) {
		dtx_err_set(err, DTX_E_EXPR_SYNTAX, __FILE__, __LINE__,
			    "byte %td of the expression is not UTF-8", bad);
		dtx_err_span(err, (int32_t)bad, (int32_t)bad + 1);
		return DTX_E_EXPR_SYNTAX;
	}
	DTX_TRY(next(&p));
	DTX_TRY(parse_or(&p, &e));
	DTX_TRY(parse_end(&p));
	/* printing makes a text at most four times as long */
	if (text.len > DTX_EXPR_BYTES / 4)
		DTX_TRY(check_printed(&p, e));
	/* every node came out of dtx_expr_node as ours to write */
	*out = (struct dtx_expr *)(uintptr_t)e;
out:
	return rc;
}
