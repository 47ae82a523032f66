/* From pattern to tree: groups, flags, repeats, sequences.
 *
 * The syntax is that of RE2.  Whatever could not be matched in linear time (look-around,
 * back-references, atomic groups) is refused with a message that names it, not read as something
 * else.  Groups, repeats, nesting and the length of a pattern are limited, because patterns may
 * come from an untrusted source. */
#include "core/expr/regex/regex_parse.h"

#include "core/base/text/utf8.h"

static enum dtx_code parse_alt(struct dtx_reparser *p, struct dtx_retree **out);

enum dtx_code dtx_re_bad(struct dtx_reparser *p, size_t at, const char *what)
{
	return dtx_err_set(p->err, DTX_E_REGEX_SYNTAX, __FILE__, __LINE__,
	                   "pattern '%.*s': %s at byte %zu", (int)DTX_MIN(p->s.len, 80), p->s.ptr,
	                   what, at);
}

enum dtx_code dtx_re_unsupported(struct dtx_reparser *p, const char *what)
{
	enum dtx_code rc = dtx_err_set(p->err, DTX_E_UNSUPPORTED_PARAM, __FILE__, __LINE__,
	                               "patterns have no %s", what);

	dtx_err_hint(
		p->err,
		"patterns have RE2's syntax: take a part with extract(x, '...(part)...'), or join "
		"two conditions with and, and not");
	return rc;
}

enum dtx_code dtx_re_tree(struct dtx_reparser *p, enum dtx_renode kind, struct dtx_retree *a,
                          struct dtx_retree *b, struct dtx_retree **out)
{
	enum dtx_code rc = DTX_OK;

	*out = dtx_arena_zalloc(p->arena, 1, sizeof(**out));
	if (!*out)
		DTX_FAIL_MEM(p->err);
	(*out)->kind = kind;
	(*out)->a = a;
	(*out)->b = b;
out:
	return rc;
}

/* --- groups --- */

static enum dtx_code parse_flags(struct dtx_reparser *p, unsigned *flags, bool *scoped)
{
	static const char letters[] = "ims";
	static const unsigned values[] = { DTX_RF_I, DTX_RF_M, DTX_RF_S };
	size_t start = p->pos;
	bool off = false;
	const char *at;

	for (; dtx_re_more(p); p->pos++) {
		char c = dtx_re_peek(p);

		if (c == ')' || c == ':') {
			*scoped = c == ':';
			p->pos++;
			return DTX_OK;
		}
		at = memchr(letters, c, 3);
		if (c == '-' && !off)
			off = true;
		else if (at && off)
			*flags &= ~values[at - letters];
		else if (at)
			*flags |= values[at - letters];
		else if (c == 'U' || c == 'x')
			return dtx_re_unsupported(p, "flag U or x");
		else
			break;
	}
	return dtx_re_bad(p, start, "unknown group or flag");
}

static bool is_name_char(char c)
{
	char low = (char)(c | 0x20);

	return c == '_' || (c >= '0' && c <= '9') || (low >= 'a' && low <= 'z');
}

static enum dtx_code group_name(struct dtx_reparser *p, int group)
{
	enum dtx_code rc = DTX_OK;
	size_t start = p->pos, i;
	struct dtx_str name;

	while (dtx_re_more(p) && is_name_char(dtx_re_peek(p)))
		p->pos++;
	name = (struct dtx_str){ p->s.ptr + start, p->pos - start };
	if (!name.len || !dtx_re_eat(p, ">"))
		return dtx_re_bad(p, start, "invalid group name");
	for (i = 0; i < p->re->nnames; i++) {
		if (dtx_str_eq(p->names[i].name, name))
			return dtx_re_bad(p, start, "group name used twice");
	}
	name.ptr = dtx_arena_strndup(p->arena, name.ptr, name.len);
	if (!name.ptr)
		DTX_FAIL_MEM(p->err);
	p->names[p->re->nnames++] = (struct dtx_rename){ name, group };
out:
	return rc;
}

/* What follows "(".  *done is set if it was only flags. */
static enum dtx_code group_head(struct dtx_reparser *p, int *group, bool *done)
{
	enum dtx_code rc = DTX_OK;
	bool scoped = true, named;
	unsigned flags = p->flags;

	*group = 0;
	if (dtx_re_eat(p, "?=") || dtx_re_eat(p, "?!") || dtx_re_eat(p, "?<=") ||
	    dtx_re_eat(p, "?<!"))
		return dtx_re_unsupported(p, "look-around");
	named = dtx_re_eat(p, "?P<") || dtx_re_eat(p, "?<");
	if (dtx_re_eat(p, "?P=") || dtx_re_eat(p, "?>"))
		return dtx_re_unsupported(p, "back-references or atomic groups");
	if (!named && dtx_re_eat(p, "?")) {
		DTX_TRY(parse_flags(p, &flags, &scoped));
		p->flags = flags;
		*done = !scoped;
		return DTX_OK;
	}
	if (p->re->ngroups == DTX_REGEX_GROUPS)
		return dtx_err_set(p->err, DTX_E_EXPR_LIMIT, __FILE__, __LINE__,
		                   "pattern has more than %d groups", DTX_REGEX_GROUPS);
	*group = (int)++p->re->ngroups;
	if (named)
		DTX_TRY(group_name(p, *group));
out:
	return rc;
}

static enum dtx_code parse_group(struct dtx_reparser *p, struct dtx_retree **out)
{
	enum dtx_code rc = DTX_OK;
	size_t start = p->pos++;
	unsigned flags = p->flags;
	struct dtx_retree *inner;
	bool done = false;
	int group;

	if (++p->depth > DTX_RE_DEPTH)
		return dtx_err_set(p->err, DTX_E_EXPR_LIMIT, __FILE__, __LINE__,
		                   "pattern nests deeper than %d", DTX_RE_DEPTH);
	DTX_TRY(group_head(p, &group, &done));
	if (done) {
		/* (?i): the flags hold to the end of the enclosing group */
		p->depth--;
		return dtx_re_tree(p, DTX_RN_EMPTY, NULL, NULL, out);
	}
	DTX_TRY(parse_alt(p, &inner));
	if (!dtx_re_eat(p, ")"))
		return dtx_re_bad(p, start, "'(' is not closed");
	p->flags = flags;
	p->depth--;
	DTX_TRY(dtx_re_tree(p, DTX_RN_GROUP, inner, NULL, out));
	(*out)->group = group;
out:
	return rc;
}

/* --- atoms, repeats, sequences --- */

static enum dtx_code assertion(struct dtx_reparser *p, enum dtx_reassert which,
                               struct dtx_retree **out)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_re_tree(p, DTX_RN_ASSERT, NULL, NULL, out));
	(*out)->assertion = which;
out:
	return rc;
}

static enum dtx_code one_char(struct dtx_reparser *p, uint32_t cp, struct dtx_retree **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_reranges r = { NULL, 0, 0 };

	DTX_TRY(dtx_re_range(p, &r, cp, cp));
	DTX_TRY(dtx_re_set(p, &r, false, out));
out:
	return rc;
}

static enum dtx_code parse_backslash(struct dtx_reparser *p, struct dtx_retree **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_reranges r = { NULL, 0, 0 };
	const struct dtx_reclass *c;
	bool negate;
	uint32_t cp;

	p->pos++;
	if (dtx_re_eat(p, "A"))
		return assertion(p, DTX_RA_TEXT_START, out);
	if (dtx_re_eat(p, "z"))
		return assertion(p, DTX_RA_TEXT_END, out);
	if (dtx_re_eat(p, "b"))
		return assertion(p, DTX_RA_WORD, out);
	if (dtx_re_eat(p, "B"))
		return assertion(p, DTX_RA_NOT_WORD, out);
	if (dtx_re_peek(p) == 'Q' || dtx_re_peek(p) == 'C')
		return dtx_re_unsupported(p, "\\Q or \\C");
	c = dtx_re_class_letter(p, &negate);
	if (c) {
		DTX_TRY(dtx_re_class_add(p, &r, c, negate));
		return dtx_re_set(p, &r, false, out);
	}
	DTX_TRY(dtx_re_escape(p, &cp));
	DTX_TRY(one_char(p, cp, out));
out:
	return rc;
}

static enum dtx_code parse_dot(struct dtx_reparser *p, struct dtx_retree **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_reranges r = { NULL, 0, 0 };

	p->pos++;
	if (!(p->flags & DTX_RF_S)) {
		DTX_TRY(dtx_re_range(p, &r, 0, '\n' - 1));
		DTX_TRY(dtx_re_range(p, &r, '\n' + 1, DTX_RE_CP_MAX));
	} else {
		DTX_TRY(dtx_re_range(p, &r, 0, DTX_RE_CP_MAX));
	}
	DTX_TRY(dtx_re_tree(p, DTX_RN_SET, NULL, NULL, out));
	(*out)->range = r.item;
	(*out)->nranges = r.n;
out:
	return rc;
}

static enum dtx_code parse_re_atom(struct dtx_reparser *p, struct dtx_retree **out)
{
	bool lines = p->flags & DTX_RF_M;
	char c = dtx_re_peek(p);

	if (c == '(')
		return parse_group(p, out);
	if (c == '[')
		return dtx_re_class(p, out);
	if (c == '.')
		return parse_dot(p, out);
	if (c == '\\')
		return parse_backslash(p, out);
	if (c == '*' || c == '+' || c == '?')
		return dtx_re_bad(p, p->pos, "nothing to repeat");
	if (dtx_re_eat(p, "^"))
		return assertion(p, lines ? DTX_RA_LINE_START : DTX_RA_TEXT_START, out);
	if (dtx_re_eat(p, "$"))
		return assertion(p, lines ? DTX_RA_LINE_END : DTX_RA_TEXT_END, out);
	return one_char(p, dtx_utf8_next(p->s.ptr, p->s.len, &p->pos), out);
}

static bool read_int(struct dtx_reparser *p, int *out)
{
	size_t start = p->pos;

	for (*out = 0; dtx_re_more(p) && dtx_re_peek(p) >= '0' && dtx_re_peek(p) <= '9'; p->pos++)
		*out = DTX_MIN(*out * 10 + (dtx_re_peek(p) - '0'), 100000);
	return p->pos > start;
}

/* {m} {m,} {m,n}; other text in braces is literal. */
static bool read_braces(struct dtx_reparser *p, int *min, int *max)
{
	size_t start = p->pos;

	p->pos++;
	if (read_int(p, min)) {
		*max = *min;
		if (dtx_re_eat(p, ",") && !read_int(p, max))
			*max = -1;
		if (dtx_re_eat(p, "}"))
			return true;
	}
	p->pos = start;
	return false;
}

static bool read_repeat(struct dtx_reparser *p, int *min, int *max)
{
	*min = 0;
	*max = -1;
	if (dtx_re_eat(p, "*"))
		return true;
	if (dtx_re_eat(p, "+")) {
		*min = 1;
		return true;
	}
	if (dtx_re_eat(p, "?")) {
		*max = 1;
		return true;
	}
	return dtx_re_peek(p) == '{' && read_braces(p, min, max);
}

static enum dtx_code parse_repeat(struct dtx_reparser *p, struct dtx_retree **out)
{
	enum dtx_code rc = DTX_OK;
	size_t start;
	int min, max, n = 0;

	DTX_TRY(parse_re_atom(p, out));
	for (start = p->pos; dtx_re_more(p) && read_repeat(p, &min, &max); start = p->pos) {
		if (++n > 1)
			return dtx_re_bad(p, start, "repeat of a repeat");
		if (min > DTX_REGEX_REPEAT || max > DTX_REGEX_REPEAT)
			return dtx_err_set(p->err, DTX_E_EXPR_LIMIT, __FILE__, __LINE__,
			                   "pattern repeats more than %d times", DTX_REGEX_REPEAT);
		if (max >= 0 && max < min)
			return dtx_re_bad(p, start, "repeat runs backwards");
		DTX_TRY(dtx_re_tree(p, DTX_RN_REPEAT, *out, NULL, out));
		(*out)->min = min;
		(*out)->max = max;
		(*out)->lazy = dtx_re_eat(p, "?");
	}
out:
	return rc;
}

static enum dtx_code parse_cat(struct dtx_reparser *p, struct dtx_retree **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_retree *next;

	DTX_TRY(dtx_re_tree(p, DTX_RN_EMPTY, NULL, NULL, out));
	while (dtx_re_more(p) && dtx_re_peek(p) != '|' && dtx_re_peek(p) != ')') {
		DTX_TRY(parse_repeat(p, &next));
		if ((*out)->kind == DTX_RN_EMPTY)
			*out = next;
		else
			DTX_TRY(dtx_re_tree(p, DTX_RN_CAT, *out, next, out));
	}
out:
	return rc;
}

static enum dtx_code parse_alt(struct dtx_reparser *p, struct dtx_retree **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_retree *next;

	DTX_TRY(parse_cat(p, out));
	while (dtx_re_eat(p, "|")) {
		DTX_TRY(parse_cat(p, &next));
		DTX_TRY(dtx_re_tree(p, DTX_RN_ALT, *out, next, out));
	}
out:
	return rc;
}

enum dtx_code dtx_regex_parse(struct dtx_arena *a, struct dtx_str pattern, struct dtx_regex *re,
                              struct dtx_retree **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_reparser p = { .arena = a, .s = pattern, .re = re, .err = err };

	if (pattern.len > DTX_REGEX_BYTES)
		return dtx_err_set(err, DTX_E_EXPR_LIMIT, __FILE__, __LINE__,
		                   "pattern is longer than %d bytes", DTX_REGEX_BYTES);
	p.names = dtx_arena_zalloc(a, DTX_REGEX_GROUPS, sizeof(*p.names));
	if (!p.names)
		DTX_FAIL_MEM(err);
	re->name = p.names;
	DTX_TRY(parse_alt(&p, out));
	if (dtx_re_more(&p))
		return dtx_re_bad(&p, p.pos, "')' without '('");
out:
	return rc;
}
