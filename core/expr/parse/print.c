/* Prints the canonical text of a tree: one spelling, with the fewest parentheses. */
#include "core/expr/parse/tree.h"

/* Precedence, loosest first. */
enum rank { R_OR = 1, R_AND, R_NOT, R_CMP, R_SUM, R_PRODUCT, R_NEG, R_POWER, R_ATOM };

static const char *const bin_words[] = { "+", "-", "*", "/", "//", "%", "**" };
static const enum rank bin_ranks[] = { R_SUM,     R_SUM,     R_PRODUCT, R_PRODUCT,
	                               R_PRODUCT, R_PRODUCT, R_POWER };
static const char *const cmp_words[] = { "==", "!=", "<", "<=", ">", ">=" };

static void print(const struct dtx_expr *e, struct dtx_buf *out);

/* Whether the negation of In, Between or IsNull is printed inside of the operator ("not in"). */
static bool is_negated_word(const struct dtx_expr *e)
{
	enum dtx_ekind k = e->kind == DTX_EX_NOT ? e->arg[0]->kind : DTX_EX_LIT;

	return k == DTX_EX_IN || k == DTX_EX_BETWEEN || k == DTX_EX_ISNULL;
}

static enum rank rank_of(const struct dtx_expr *e)
{
	switch (e->kind) {
	case DTX_EX_OR: return R_OR;
	case DTX_EX_AND: return R_AND;
	case DTX_EX_NOT: return is_negated_word(e) ? R_CMP : R_NOT;
	case DTX_EX_CMP:
	case DTX_EX_IN:
	case DTX_EX_BETWEEN:
	case DTX_EX_ISNULL: return R_CMP;
	case DTX_EX_BIN: return bin_ranks[e->op];
	case DTX_EX_NEG: return R_NEG;
	case DTX_EX_LIT:
	case DTX_EX_COL:
	case DTX_EX_CALL:
	case DTX_EX_CASE: break;
	}
	return R_ATOM;
}

/* Prints an operand, in parentheses unless it binds at least as tightly as `least`. */
static void operand(const struct dtx_expr *e, enum rank least, struct dtx_buf *out)
{
	bool paren = rank_of(e) < least;

	dtx_buf_add(out, paren ? "(" : "");
	print(e, out);
	dtx_buf_add(out, paren ? ")" : "");
}

static void binary(const struct dtx_expr *e, const char *word, enum rank left, enum rank right,
                   struct dtx_buf *out)
{
	operand(e->arg[0], left, out);
	dtx_buf_printf(out, " %s ", word);
	operand(e->arg[1], right, out);
}

static void doubled(struct dtx_str s, char quote, struct dtx_buf *out)
{
	size_t i;

	dtx_buf_addc(out, quote);
	for (i = 0; i < s.len; i++) {
		dtx_buf_addc(out, s.ptr[i]);
		if (s.ptr[i] == quote)
			dtx_buf_addc(out, quote);
	}
	dtx_buf_addc(out, quote);
}

void dtx_expr_print_name(const char *text, struct dtx_buf *out)
{
	struct dtx_str s = dtx_str_of(text);

	if (dtx_expr_is_name(s) && !dtx_expr_is_keyword(s))
		dtx_buf_adds(out, s);
	else
		doubled(s, '`', out);
}

void dtx_expr_print_text(struct dtx_str text, struct dtx_buf *out)
{
	doubled(text, '\'', out);
}

void dtx_expr_print_scalar(const json_t *value, struct dtx_buf *out)
{
	if (json_is_string(value))
		dtx_expr_print_text(
			(struct dtx_str){ json_string_value(value), json_string_length(value) },
			out);
	else
		dtx_json_print(value, 0, out);
}

static void print_literal(const struct dtx_expr *e, struct dtx_buf *out)
{
	static const char *const words[] = { "null", "false", "true" };

	if (e->op == DTX_LIT_TEXT)
		doubled(e->text, '\'', out);
	else if (e->op <= DTX_LIT_TRUE)
		dtx_buf_add(out, words[e->op]);
	else
		dtx_buf_adds(out, e->text);
}

static void print_list(const struct dtx_expr *e, uint32_t from, struct dtx_buf *out)
{
	uint32_t i;

	dtx_buf_addc(out, '(');
	for (i = from; i < e->nargs; i++) {
		dtx_buf_add(out, i > from ? ", " : "");
		if (e->argname && e->argname[i])
			dtx_buf_printf(out, "%s: ", e->argname[i]);
		print(e->arg[i], out);
	}
	dtx_buf_addc(out, ')');
}

static void print_case(const struct dtx_expr *e, struct dtx_buf *out)
{
	uint32_t i;

	dtx_buf_add(out, "case");
	for (i = 0; i + 1 < e->nargs; i += 2) {
		dtx_buf_add(out, " when ");
		print(e->arg[i], out);
		dtx_buf_add(out, " then ");
		print(e->arg[i + 1], out);
	}
	if (i < e->nargs) {
		dtx_buf_add(out, " else ");
		print(e->arg[i], out);
	}
	dtx_buf_add(out, " end");
}

/* x [not] in (...), x [not] between a and b, x is [not] null */
static void print_word(const struct dtx_expr *e, bool negate, struct dtx_buf *out)
{
	operand(e->arg[0], R_SUM, out);
	if (e->kind == DTX_EX_ISNULL) {
		dtx_buf_add(out, negate ? " is not null" : " is null");
	} else if (e->kind == DTX_EX_IN) {
		dtx_buf_add(out, negate ? " not in " : " in ");
		print_list(e, 1, out);
	} else {
		dtx_buf_add(out, negate ? " not between " : " between ");
		operand(e->arg[1], R_SUM, out);
		dtx_buf_add(out, " and ");
		operand(e->arg[2], R_SUM, out);
	}
}

static void print_not(const struct dtx_expr *e, struct dtx_buf *out)
{
	if (is_negated_word(e)) {
		print_word(e->arg[0], true, out);
		return;
	}
	dtx_buf_add(out, "not ");
	operand(e->arg[0], R_NOT, out);
}

static void print_bin(const struct dtx_expr *e, struct dtx_buf *out)
{
	enum rank r = bin_ranks[e->op];

	if (e->op == DTX_BIN_POW)
		binary(e, bin_words[e->op], R_ATOM, R_NEG, out);
	else
		binary(e, bin_words[e->op], r, r + 1, out);
}

static void print_column(const struct dtx_expr *e, struct dtx_buf *out)
{
	if (e->table) {
		dtx_expr_print_name(e->table, out);
		dtx_buf_addc(out, '.');
	}
	dtx_expr_print_name(e->name, out);
}

static void print(const struct dtx_expr *e, struct dtx_buf *out)
{
	switch (e->kind) {
	case DTX_EX_LIT: print_literal(e, out); break;
	case DTX_EX_COL: print_column(e, out); break;
	case DTX_EX_CALL:
		dtx_buf_add(out, e->name);
		print_list(e, 0, out);
		break;
	case DTX_EX_NEG:
		dtx_buf_addc(out, '-');
		operand(e->arg[0], R_POWER, out);
		break;
	case DTX_EX_BIN: print_bin(e, out); break;
	case DTX_EX_CMP: binary(e, cmp_words[e->op], R_SUM, R_SUM, out); break;
	case DTX_EX_AND: binary(e, "and", R_AND, R_NOT, out); break;
	case DTX_EX_OR: binary(e, "or", R_OR, R_AND, out); break;
	case DTX_EX_NOT: print_not(e, out); break;
	case DTX_EX_IN:
	case DTX_EX_BETWEEN:
	case DTX_EX_ISNULL: print_word(e, false, out); break;
	case DTX_EX_CASE: print_case(e, out); break;
	}
}

void dtx_expr_print(const struct dtx_expr *e, struct dtx_buf *out)
{
	print(e, out);
}
