/* Reads one token at a time, by hand; the tokens of the language depend on no state.
 *
 * Operators are tried in the order of their table, so longer ones come first: "**" before "*". */
#include "core/expr/parse/lex.h"

#include "core/base/text/utf8.h"

static const char *const keywords[] = { "and",  "or",   "not",     "in",   "between", "is",
	                                "null", "like", "matches", "case", "when",    "then",
	                                "else", "end",  "true",    "false" };
static const char *const operators[] = { "**", "//", "==", "!=", "<>", "<=", ">=", "||", "&&",
	                                 "::", "+",  "-",  "*",  "/",  "%",  "=",  "<",  ">",
	                                 "!",  "(",  ")",  "[",  "]",  ",",  ":",  "." };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Length in bytes of the name character at pos; 0 if none. */
static size_t name_char(struct dtx_str s, size_t pos, bool first)
{
	size_t next = pos;
	uint32_t cp;
	char c;

	if (pos >= s.len)
		return 0;
	c = s.ptr[pos];
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')
		return 1;
	if (is_digit(c))
		return first ? 0 : 1;
	if ((unsigned char)c < 0x80)
		return 0;
	cp = dtx_utf8_next(s.ptr, s.len, &next);
	return cp > 0xa0 && !dtx_utf8_is_space(cp) ? next - pos : 0;
}

bool dtx_expr_is_keyword(struct dtx_str word)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(keywords); i++) {
		if (dtx_str_ieq(word, dtx_str_of(keywords[i])))
			return true;
	}
	return false;
}

bool dtx_expr_is_name(struct dtx_str text)
{
	size_t pos = 0, n;

	while (pos < text.len && (n = name_char(text, pos, pos == 0)) > 0)
		pos += n;
	return pos > 0 && pos == text.len;
}

static size_t skip_digits(struct dtx_str s, size_t pos)
{
	while (pos < s.len && is_digit(s.ptr[pos]))
		pos++;
	return pos;
}

static enum dtx_code lex_number(struct dtx_lex *lx, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str s = lx->text;
	size_t p = skip_digits(s, lx->start), q;
	bool zero = s.ptr[lx->start] == '0' && p - lx->start > 1;

	if (p + 1 < s.len && s.ptr[p] == '.' && is_digit(s.ptr[p + 1]))
		p = skip_digits(s, p + 1);
	if (p < s.len && (s.ptr[p] == 'e' || s.ptr[p] == 'E')) {
		q = p + 1;
		if (q < s.len && (s.ptr[q] == '+' || s.ptr[q] == '-'))
			q++;
		if (q < s.len && is_digit(s.ptr[q]))
			p = skip_digits(s, q);
	}
	lx->end = lx->pos = p;
	if (zero) {
		rc = dtx_err_set(err, DTX_E_BAD_LITERAL, __FILE__, __LINE__,
		                 "number '%.*s' has a leading zero",
		                 (int)DTX_MIN(p - lx->start, 60), s.ptr + lx->start);
		dtx_err_hint(
			err,
			"write a date in quotes, '2024-02-01', and digits that are a text, too");
		goto out;
	}
	if (name_char(s, p, false)) {
		lx->end = p + name_char(s, p, false);
		DTX_FAIL(err, DTX_E_EXPR_SYNTAX, "number '%.*s' is followed by a letter",
		         (int)DTX_MIN(lx->end - lx->start, 60), s.ptr + lx->start);
	}
	lx->kind = DTX_TK_NUMBER;
	lx->word = (struct dtx_str){ s.ptr + lx->start, p - lx->start };
out:
	return rc;
}

/* Reads text in ' or ", or a name in `, up to the closing quote.  A doubled quote stands for
 * one. */
static enum dtx_code lex_quoted(struct dtx_lex *lx, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str s = lx->text;
	char quote = s.ptr[lx->start];
	size_t p = lx->start + 1;

	for (; p < s.len; p++) {
		if (s.ptr[p] != quote)
			continue;
		if (p + 1 == s.len || s.ptr[p + 1] != quote)
			break;
		p++;
	}
	if (p >= s.len) {
		lx->end = s.len;
		DTX_FAIL(err, DTX_E_EXPR_SYNTAX, "%s is not closed: expected %c",
		         quote == '`' ? "name" : "text", quote);
	}
	lx->kind = quote == '`' ? DTX_TK_QUOTED_NAME : DTX_TK_TEXT;
	lx->word = (struct dtx_str){ s.ptr + lx->start + 1, p - lx->start - 1 };
	lx->end = lx->pos = p + 1;
	if (quote == '`' && lx->word.len == 0)
		DTX_FAIL(err, DTX_E_EXPR_SYNTAX, "a name in backticks is empty");
out:
	return rc;
}

static enum dtx_code lex_operator(struct dtx_lex *lx, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str s = lx->text;
	size_t i, n;

	for (i = 0; i < DTX_COUNT(operators); i++) {
		n = strlen(operators[i]);
		if (s.len - lx->start < n || memcmp(s.ptr + lx->start, operators[i], n))
			continue;
		lx->kind = DTX_TK_OP;
		memcpy(lx->op, operators[i], n + 1);
		lx->word = (struct dtx_str){ s.ptr + lx->start, n };
		lx->end = lx->pos = lx->start + n;
		return DTX_OK;
	}
	lx->end = lx->start;
	dtx_utf8_next(s.ptr, s.len, &lx->end);
	DTX_FAIL(err, DTX_E_EXPR_SYNTAX, "unexpected character '%.*s'", (int)(lx->end - lx->start),
	         s.ptr + lx->start);
out:
	return rc;
}

static enum dtx_code lex_token(struct dtx_lex *lx, struct dtx_err *err)
{
	struct dtx_str s = lx->text;
	size_t n;
	char c;

	if (lx->start >= s.len) {
		lx->kind = DTX_TK_END;
		return DTX_OK;
	}
	c = s.ptr[lx->start];
	if (is_digit(c))
		return lex_number(lx, err);
	if (c == '\'' || c == '"' || c == '`')
		return lex_quoted(lx, err);
	if (!name_char(s, lx->start, true))
		return lex_operator(lx, err);
	while ((n = name_char(s, lx->end, false)) > 0)
		lx->end += n;
	lx->pos = lx->end;
	lx->word = (struct dtx_str){ s.ptr + lx->start, lx->end - lx->start };
	lx->kind = dtx_expr_is_keyword(lx->word) ? DTX_TK_KEYWORD : DTX_TK_NAME;
	return DTX_OK;
}

enum dtx_code dtx_lex_next(struct dtx_lex *lx, struct dtx_err *err)
{
	size_t next = lx->pos;
	enum dtx_code rc;

	while (next < lx->text.len &&
	       dtx_utf8_is_space(dtx_utf8_next(lx->text.ptr, lx->text.len, &next)))
		lx->pos = next;
	lx->start = lx->end = lx->pos;
	lx->op[0] = '\0';
	lx->word = (struct dtx_str){ lx->text.ptr + lx->start, 0 };
	rc = lex_token(lx, err);
	if (rc != DTX_OK)
		dtx_err_span(err, (int32_t)lx->start, (int32_t)lx->end);
	return rc;
}

bool dtx_lex_is(const struct dtx_lex *lx, const char *word)
{
	if (lx->kind == DTX_TK_KEYWORD)
		return dtx_str_ieq(lx->word, dtx_str_of(word));
	return lx->kind == DTX_TK_OP && !strcmp(lx->op, word);
}
