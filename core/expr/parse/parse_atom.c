/* Atoms of the grammar: literals, columns, calls, case, casts.  Different spellings of the same
 * thing give the same tree. */
#include "core/expr/parse/parse.h"

#include "core/base/text/num.h"
#include "core/expr/fn/fn.h"

/* --- atoms --- */

/* The content of a quoted token, with doubled quotes replaced by single ones. */
static enum dtx_code unquote(struct dtx_parser *p, char quote, struct dtx_str *out)
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

static enum dtx_code parse_number(struct dtx_parser *p, struct dtx_expr *e)
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

static enum dtx_code parse_literal(struct dtx_parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_expr *e;

	DTX_TRY(dtx_parse_node(p, DTX_EX_LIT, p->lx.start, 0, &e));
	if (p->lx.kind == DTX_TK_NUMBER) {
		DTX_TRY(parse_number(p, e));
	} else if (p->lx.kind == DTX_TK_TEXT) {
		e->op = DTX_LIT_TEXT;
		e->double_quoted = p->lx.text.ptr[p->lx.start] == '"';
		DTX_TRY(unquote(p, p->lx.text.ptr[p->lx.start], &e->text));
	} else {
		e->op = keyword_literal(&p->lx);
	}
	DTX_TRY(dtx_parse_next(p));
	DTX_TRY(dtx_parse_done(p, e, out));
out:
	return rc;
}

/* The text of the current name token, without backticks. */
static enum dtx_code name_text(struct dtx_parser *p, const char **out)
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

/* Whether the next token is `word`; does not read it. */
static bool peek_is(const struct dtx_parser *p, const char *word)
{
	struct dtx_lex ahead = p->lx;

	return dtx_lex_next(&ahead, NULL) == DTX_OK && dtx_lex_is(&ahead, word);
}

static enum dtx_code parse_column(struct dtx_parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_expr *e;

	DTX_TRY(dtx_parse_node(p, DTX_EX_COL, p->lx.start, 0, &e));
	DTX_TRY(name_text(p, &e->name));
	DTX_TRY(dtx_parse_next(p));
	if (dtx_lex_is(&p->lx, ".")) {
		DTX_TRY(dtx_parse_next(p));
		if (p->lx.kind != DTX_TK_NAME && p->lx.kind != DTX_TK_QUOTED_NAME)
			return dtx_parse_unexpected(p, "a column name");
		e->table = e->name;
		DTX_TRY(name_text(p, &e->name));
		DTX_TRY(dtx_parse_next(p));
	}
	DTX_TRY(dtx_parse_done(p, e, out));
out:
	return rc;
}

/* --- calls --- */

static enum dtx_code parse_arg(struct dtx_parser *p, struct dtx_parse_args *v)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_expr *e;
	const char *name = NULL;

	if (p->lx.kind == DTX_TK_NAME && peek_is(p, ":")) {
		DTX_TRY(name_text(p, &name));
		DTX_TRY(dtx_parse_next(p));
		DTX_TRY(dtx_parse_next(p));
	} else if (v->n && v->name[v->n - 1]) {
		return dtx_parse_unexpected(p, "a named argument, as the one before it");
	}
	DTX_TRY(dtx_parse_any(p, &e));
	DTX_TRY(dtx_parse_add(p, v, e, name));
out:
	return rc;
}

/* The place of a named argument in the signature.  `where` comes last, unknown names before it. */
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

/* Sorts named arguments into the order of the signature.  One that directly follows the positional
 * ones loses its name. */
static void args_order(const struct dtx_fn *fn, struct dtx_parse_args *v)
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

static enum dtx_code call_name(struct dtx_parser *p, struct dtx_str word, const struct dtx_fn *fn,
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

enum dtx_code dtx_parse_made_call(struct dtx_parser *p, struct dtx_str word, size_t start,
                                  struct dtx_parse_args *v, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	uint32_t positional = v->n;
	const struct dtx_fn *fn;
	struct dtx_expr *e;

	if (v->n == 1 && !v->name[0] && dtx_str_ieq(word, DTX_STR("is_null")))
		return dtx_parse_make(p, DTX_EX_ISNULL, 0, start, v->item[0], NULL, out);
	if (v->n && v->name[v->n - 1] && !strcmp(v->name[v->n - 1], "where"))
		positional--;
	fn = dtx_fn_find(word, positional);
	/* The same question is asked again below, because dtx_err_set clears the suggestions. */
	if (!fn && dtx_parse_hint_call(p, start, start + word.len, '-')) {
		rc = dtx_err_set(p->err, DTX_E_UNKNOWN_FUNCTION, __FILE__, __LINE__,
		                 "a function's name has no hyphen");
		dtx_err_span(p->err, (int32_t)start, (int32_t)(start + word.len));
		(void)dtx_parse_hint_call(p, start, start + word.len, '-');
		goto out;
	}
	args_order(fn, v);
	DTX_TRY(dtx_parse_node(p, DTX_EX_CALL, start, v->n, &e));
	DTX_TRY(call_name(p, word, fn, &e->name));
	if (v->n) {
		memcpy(e->arg, v->item, v->n * sizeof(*e->arg));
		if (v->name[v->n - 1])
			e->argname = v->name;
	}
	DTX_TRY(dtx_parse_done(p, e, out));
out:
	return rc;
}

static enum dtx_code parse_call(struct dtx_parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str word = p->lx.word;
	size_t start = p->lx.start;
	struct dtx_parse_args v = { NULL, NULL, 0, 0 };

	DTX_TRY(dtx_parse_next(p));
	DTX_TRY(dtx_parse_enter(p, 1));
	DTX_TRY(dtx_parse_next(p));
	if (dtx_lex_is(&p->lx, "*")) {
		if (!dtx_str_ieq(word, DTX_STR("count")))
			return dtx_parse_unexpected(p, "an argument ('*' is for count only)");
		DTX_TRY(dtx_parse_next(p));
		if (dtx_lex_is(&p->lx, ",")) {
			DTX_TRY(dtx_parse_next(p));
			DTX_TRY(parse_arg(p, &v));
		}
	} else if (!dtx_lex_is(&p->lx, ")")) {
		DTX_TRY(parse_arg(p, &v));
		while (dtx_lex_is(&p->lx, ",")) {
			DTX_TRY(dtx_parse_next(p));
			DTX_TRY(parse_arg(p, &v));
		}
	}
	DTX_TRY(dtx_parse_expect(p, ")", v.n ? "',', ')' or an operator" : "an argument or ')'"));
	p->nest--;
	DTX_TRY(dtx_parse_made_call(p, word, start, &v, out));
out:
	return rc;
}

static enum dtx_code parse_case(struct dtx_parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;
	size_t start = p->lx.start;
	struct dtx_parse_args v = { NULL, NULL, 0, 0 };
	const struct dtx_expr *part;
	struct dtx_expr *e;

	DTX_TRY(dtx_parse_enter(p, 1));
	DTX_TRY(dtx_parse_next(p));
	do {
		DTX_TRY(dtx_parse_expect(p, "when", "'when'"));
		DTX_TRY(dtx_parse_any(p, &part));
		DTX_TRY(dtx_parse_add(p, &v, part, NULL));
		DTX_TRY(dtx_parse_expect(p, "then", "'then' or an operator"));
		DTX_TRY(dtx_parse_any(p, &part));
		DTX_TRY(dtx_parse_add(p, &v, part, NULL));
	} while (dtx_lex_is(&p->lx, "when"));
	if (dtx_lex_is(&p->lx, "else")) {
		DTX_TRY(dtx_parse_next(p));
		DTX_TRY(dtx_parse_any(p, &part));
		DTX_TRY(dtx_parse_add(p, &v, part, NULL));
	}
	DTX_TRY(dtx_parse_expect(p, "end", "'when', 'else', 'end' or an operator"));
	p->nest--;
	DTX_TRY(dtx_parse_node(p, DTX_EX_CASE, start, v.n, &e));
	memcpy(e->arg, v.item, v.n * sizeof(*e->arg));
	DTX_TRY(dtx_parse_done(p, e, out));
out:
	return rc;
}

static enum dtx_code parse_paren(struct dtx_parser *p, const struct dtx_expr **out)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_parse_enter(p, 1));
	DTX_TRY(dtx_parse_next(p));
	DTX_TRY(dtx_parse_any(p, out));
	DTX_TRY(dtx_parse_expect(p, ")", "')' or an operator"));
	p->nest--;
out:
	return rc;
}

enum dtx_code dtx_parse_atom(struct dtx_parser *p, const struct dtx_expr **out)
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
	return dtx_parse_unexpected(p, "a value");
}

static const struct {
	const char *type, *fn;
} cast_names[] = {
	{ "string", "text" },  { "str", "text" },           { "integer", "int" },
	{ "int64", "int" },    { "double", "float" },       { "float64", "float" },
	{ "boolean", "bool" }, { "timestamp", "datetime" },
};

/* x::decimal(12, 2) is decimal(x, 12, 2). */
enum dtx_code dtx_parse_cast(struct dtx_parser *p, size_t start, const struct dtx_expr **io)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_parse_args v = { NULL, NULL, 0, 0 };
	struct dtx_str word;
	const struct dtx_expr *part;
	size_t i;

	DTX_TRY(dtx_parse_next(p));
	if (p->lx.kind != DTX_TK_NAME)
		return dtx_parse_unexpected(p, "a type name");
	word = p->lx.word;
	for (i = 0; i < DTX_COUNT(cast_names); i++) {
		if (dtx_str_ieq(word, dtx_str_of(cast_names[i].type)))
			word = dtx_str_of(cast_names[i].fn);
	}
	DTX_TRY(dtx_parse_add(p, &v, *io, NULL));
	DTX_TRY(dtx_parse_next(p));
	if (dtx_lex_is(&p->lx, "(")) {
		do {
			DTX_TRY(dtx_parse_next(p));
			if (p->lx.kind != DTX_TK_NUMBER || v.n == 3)
				return dtx_parse_unexpected(p, v.n == 3 ? "')'" : "a number");
			DTX_TRY(parse_literal(p, &part));
			if (part->op != DTX_LIT_INT)
				return dtx_parse_unexpected(p, "an int before it");
			DTX_TRY(dtx_parse_add(p, &v, part, NULL));
		} while (dtx_lex_is(&p->lx, ","));
		DTX_TRY(dtx_parse_expect(p, ")", "',' or ')'"));
	}
	DTX_TRY(dtx_parse_made_call(p, word, start, &v, io));
out:
	return rc;
}
