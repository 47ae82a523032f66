/* From pattern to tree: groups, flags, repeats, sequences.
 *
 * The syntax is that of RE2.  Whatever could not be matched in linear time (look-around,
 * back-references, atomic groups) is refused with a message that names it, not read as something
 * else.  Groups, repeats, nesting and the length of a pattern are limited, because patterns may
 * come from an untrusted source. */
#include <stdlib.h>

#include "core/base/text/utf8.h"
#include "core/expr/regex/regex_int.h"

#define DTX_RE_CP_MAX 0x10ffffu

enum dtx_reflag { DTX_RF_I = 1, DTX_RF_M = 2, DTX_RF_S = 4 };

struct dtx_reparser {
	struct dtx_arena *arena;
	struct dtx_str s;
	size_t pos;
	unsigned flags;
	int depth;
	struct dtx_regex *re;
	struct dtx_rename *names;
	struct dtx_err *err;
};
struct dtx_reranges { /* a set that is being collected; in the arena */
	struct dtx_rerange *item;
	uint32_t n, cap;
};
struct dtx_reclass; /* \d, [:alpha:] */

static inline bool re_more(const struct dtx_reparser *p)
{
	return p->pos < p->s.len;
}

static inline char re_peek(const struct dtx_reparser *p)
{
	return re_more(p) ? p->s.ptr[p->pos] : '\0';
}

static inline bool re_eat(struct dtx_reparser *p, const char *text)
{
	size_t n = strlen(text);

	if (p->s.len - p->pos < n || memcmp(p->s.ptr + p->pos, text, n))
		return false;
	p->pos += n;
	return true;
}

/* Fails with regex_syntax at a byte of the pattern. */
static DTX_MUSTUSE enum dtx_code re_bad(struct dtx_reparser *p, size_t at, const char *what);
static DTX_MUSTUSE enum dtx_code re_unsupported(struct dtx_reparser *p, const char *what);
/* Makes a node. */
static DTX_MUSTUSE enum dtx_code re_tree(struct dtx_reparser *p, enum dtx_renode kind,
                                         struct dtx_retree *a, struct dtx_retree *b,
                                         struct dtx_retree **out);

/* Sets of code points: classes, escapes, both cases of letters. */

#define FOLD_MAX 0x600u /* in longer ranges only ASCII letters are matched in both cases */

/* --- sets --- */

static enum dtx_code re_range(struct dtx_reparser *p, struct dtx_reranges *r, uint32_t low,
                              uint32_t high)
{
	enum dtx_code rc = DTX_OK;

	if (r->n == r->cap) {
		uint32_t cap = r->cap ? r->cap * 2 : 8;
		struct dtx_rerange *item = dtx_arena_alloc(p->arena, cap, sizeof(*item));

		if (!item)
			DTX_FAIL_MEM(p->err);
		if (r->n)
			memcpy(item, r->item, r->n * sizeof(*item));
		r->item = item;
		r->cap = cap;
	}
	r->item[r->n++] = (struct dtx_rerange){ low, high };
out:
	return rc;
}

static int range_cmp(const void *a, const void *b)
{
	const struct dtx_rerange *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

static void ranges_sort(struct dtx_reranges *r)
{
	uint32_t i, n = 0;

	if (r->n)
		qsort(r->item, r->n, sizeof(*r->item), range_cmp);
	for (i = 0; i < r->n; i++) {
		if (n && r->item[i].low <= r->item[n - 1].high + 1)
			r->item[n - 1].high = DTX_MAX(r->item[n - 1].high, r->item[i].high);
		else
			r->item[n++] = r->item[i];
	}
	r->n = n;
}

static enum dtx_code ranges_negate(struct dtx_reparser *p, struct dtx_reranges *r)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_reranges not = { NULL, 0, 0 };
	uint32_t i, next = 0;

	ranges_sort(r);
	for (i = 0; i < r->n; i++) {
		if (r->item[i].low > next)
			DTX_TRY(re_range(p, &not, next, r->item[i].low - 1));
		next = r->item[i].high + 1;
	}
	if (next <= DTX_RE_CP_MAX)
		DTX_TRY(re_range(p, &not, next, DTX_RE_CP_MAX));
	*r = not ;
out:
	return rc;
}

/* Adds the other case of one letter. */
static enum dtx_code fold_one(struct dtx_reparser *p, struct dtx_reranges *r, uint32_t cp)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf up = DTX_BUF_INIT(64), low = DTX_BUF_INIT(64);
	char text[4];
	struct dtx_str s = { text, dtx_utf8_put(text, cp) };
	uint32_t other;
	size_t pos = 0;

	dtx_utf8_upper(&up, s);
	dtx_utf8_lower(&low, s);
	if (up.fail == DTX_BUF_MEM || low.fail == DTX_BUF_MEM)
		DTX_FAIL_MEM(p->err);
	other = dtx_utf8_next(dtx_buf_text(&up), dtx_buf_len(&up), &pos);
	if (pos == up.len)
		DTX_TRY(re_range(p, r, other, other));
	pos = 0;
	other = dtx_utf8_next(dtx_buf_text(&low), dtx_buf_len(&low), &pos);
	if (pos == low.len)
		DTX_TRY(re_range(p, r, other, other));
out:
	dtx_buf_clear(&up);
	dtx_buf_clear(&low);
	return rc;
}

static enum dtx_code ranges_fold(struct dtx_reparser *p, struct dtx_reranges *r)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i, n = r->n, cp;

	for (i = 0; i < n; i++) {
		uint32_t low = r->item[i].low, high = r->item[i].high;

		if (high - low > FOLD_MAX)
			high = DTX_MIN(high, 0x7fu);
		for (cp = low; cp <= high; cp++)
			DTX_TRY(fold_one(p, r, cp));
	}
out:
	return rc;
}

/* Makes a node of the set; with flag i it has both cases of letters. */
static enum dtx_code re_set(struct dtx_reparser *p, struct dtx_reranges *r, bool negate,
                            struct dtx_retree **out)
{
	enum dtx_code rc = DTX_OK;

	if (p->flags & DTX_RF_I)
		DTX_TRY(ranges_fold(p, r));
	ranges_sort(r);
	if (negate)
		DTX_TRY(ranges_negate(p, r));
	DTX_TRY(re_tree(p, DTX_RN_SET, NULL, NULL, out));
	(*out)->range = r->item;
	(*out)->nranges = r->n;
out:
	return rc;
}

/* --- classes by letter and by name --- */

static const struct dtx_reclass {
	const char *name;
	struct dtx_rerange range[4];
	int n;
} classes[] = {
	{ "d", { { '0', '9' } }, 1 },
	{ "w", { { '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' } }, 4 },
	{ "s", { { '\t', '\n' }, { '\f', '\r' }, { ' ', ' ' } }, 3 },
	{ "alnum", { { '0', '9' }, { 'A', 'Z' }, { 'a', 'z' } }, 3 },
	{ "alpha", { { 'A', 'Z' }, { 'a', 'z' } }, 2 },
	{ "ascii", { { 0, 0x7f } }, 1 },
	{ "blank", { { '\t', '\t' }, { ' ', ' ' } }, 2 },
	{ "cntrl", { { 0, 0x1f }, { 0x7f, 0x7f } }, 2 },
	{ "digit", { { '0', '9' } }, 1 },
	{ "graph", { { '!', '~' } }, 1 },
	{ "lower", { { 'a', 'z' } }, 1 },
	{ "print", { { ' ', '~' } }, 1 },
	{ "punct", { { '!', '/' }, { ':', '@' }, { '[', '`' }, { '{', '~' } }, 4 },
	{ "space", { { '\t', '\r' }, { ' ', ' ' } }, 2 },
	{ "upper", { { 'A', 'Z' } }, 1 },
	{ "word", { { '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' } }, 4 },
	{ "xdigit", { { '0', '9' }, { 'A', 'F' }, { 'a', 'f' } }, 3 },
};

static const struct dtx_reclass *class_find(struct dtx_str name)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(classes); i++) {
		if (dtx_str_is(name, classes[i].name))
			return &classes[i];
	}
	return NULL;
}

static enum dtx_code re_class_add(struct dtx_reparser *p, struct dtx_reranges *r,
                                  const struct dtx_reclass *c, bool negate)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_reranges all = { NULL, 0, 0 };
	uint32_t i;

	for (i = 0; i < (uint32_t)c->n; i++)
		DTX_TRY(re_range(p, &all, c->range[i].low, c->range[i].high));
	if (negate)
		DTX_TRY(ranges_negate(p, &all));
	for (i = 0; i < all.n; i++)
		DTX_TRY(re_range(p, r, all.item[i].low, all.item[i].high));
out:
	return rc;
}

/* \d \D \w \W \s \S at pos, after the backslash. */
static const struct dtx_reclass *re_class_letter(struct dtx_reparser *p, bool *negate)
{
	char c = re_peek(p), low = (char)(c | 0x20);

	if (low != 'd' && low != 'w' && low != 's')
		return NULL;
	*negate = c != low;
	p->pos++;
	return class_find((struct dtx_str){ &low, 1 });
}

/* --- one character --- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \x41, \x{1F600} */
static enum dtx_code parse_hex(struct dtx_reparser *p, uint32_t *cp)
{
	size_t start = p->pos, digits = 0;
	bool brace = re_eat(p, "{");
	int d;

	for (*cp = 0; re_more(p) && (d = hex_digit(re_peek(p))) >= 0 && *cp <= DTX_RE_CP_MAX;
	     p->pos++) {
		*cp = *cp * 16 + (uint32_t)d;
		if (++digits == 2 && !brace) {
			p->pos++;
			break;
		}
	}
	if (!digits || (!brace && digits != 2) || (brace && !re_eat(p, "}")) ||
	    *cp > DTX_RE_CP_MAX || (*cp >= 0xd800 && *cp <= 0xdfff))
		return re_bad(p, start, "invalid hexadecimal escape");
	return DTX_OK;
}

/* After a backslash: an escape that stands for one code point. */
static enum dtx_code re_escape(struct dtx_reparser *p, uint32_t *cp)
{
	static const char letters[] = "aftnrv", values[] = "\a\f\t\n\r\v";
	size_t start = p->pos;
	char c = re_peek(p);
	const char *at;

	if (!re_more(p))
		return re_bad(p, start, "pattern ends in a backslash");
	if (c >= '1' && c <= '9')
		return re_unsupported(p, "back-references");
	if (c == 'p' || c == 'P')
		return re_unsupported(p, "\\p classes");
	if (c == 'x') {
		p->pos++;
		return parse_hex(p, cp);
	}
	at = memchr(letters, c, sizeof(letters) - 1);
	if (at) {
		*cp = (uint8_t)values[at - letters];
	} else if (c == '0' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
		return re_bad(p, start - 1, "unknown escape");
	} else {
		*cp = dtx_utf8_next(p->s.ptr, p->s.len, &p->pos);
		return DTX_OK;
	}
	p->pos++;
	return DTX_OK;
}

static enum dtx_code class_char(struct dtx_reparser *p, uint32_t *cp)
{
	if (re_eat(p, "\\"))
		return re_escape(p, cp);
	*cp = dtx_utf8_next(p->s.ptr, p->s.len, &p->pos);
	return DTX_OK;
}

/* [:alpha:] or [:^alpha:] inside of a class; `end` is where ":]" is. */
static enum dtx_code class_posix(struct dtx_reparser *p, size_t end, struct dtx_reranges *r)
{
	size_t start = p->pos;
	const struct dtx_reclass *c;
	bool negate;

	p->pos += 2;
	negate = p->pos < end && re_eat(p, "^");
	c = class_find((struct dtx_str){ p->s.ptr + p->pos, end - p->pos });
	if (!c || strlen(c->name) == 1)
		return re_bad(p, start, "unknown class name");
	p->pos = end + 2;
	return re_class_add(p, r, c, negate);
}

static enum dtx_code class_item(struct dtx_reparser *p, struct dtx_reranges *r)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_reclass *c = NULL;
	size_t start = p->pos;
	uint32_t low, high;
	ptrdiff_t end;
	bool negate;

	if (p->s.len - p->pos > 1 && !memcmp(p->s.ptr + p->pos, "[:", 2)) {
		end = dtx_str_find(p->s, DTX_STR(":]"), p->pos + 2);
		if (end >= 0) /* otherwise, as in RE2, '[' and ':' are characters of the class */
			return class_posix(p, (size_t)end, r);
	}
	if (re_peek(p) == '\\') {
		p->pos++;
		c = re_class_letter(p, &negate);
		if (c)
			return re_class_add(p, r, c, negate);
		p->pos--;
	}
	DTX_TRY(class_char(p, &low));
	high = low;
	if (re_peek(p) == '-' && p->pos + 1 < p->s.len && p->s.ptr[p->pos + 1] != ']') {
		p->pos++;
		DTX_TRY(class_char(p, &high));
		if (high < low)
			return re_bad(p, start, "range runs backwards");
	}
	DTX_TRY(re_range(p, r, low, high));
out:
	return rc;
}

/* [...] at pos. */
static enum dtx_code re_class(struct dtx_reparser *p, struct dtx_retree **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_reranges r = { NULL, 0, 0 };
	size_t start = p->pos++;
	bool negate = re_eat(p, "^"), first = true;

	while (first || re_peek(p) != ']') {
		if (!re_more(p))
			return re_bad(p, start, "'[' is not closed");
		DTX_TRY(class_item(p, &r));
		first = false;
	}
	p->pos++;
	DTX_TRY(re_set(p, &r, negate, out));
out:
	return rc;
}

static enum dtx_code parse_alt(struct dtx_reparser *p, struct dtx_retree **out);

static enum dtx_code re_bad(struct dtx_reparser *p, size_t at, const char *what)
{
	return dtx_err_set(p->err, DTX_E_REGEX_SYNTAX, __FILE__, __LINE__,
	                   "pattern '%.*s': %s at byte %zu", (int)DTX_MIN(p->s.len, 80), p->s.ptr,
	                   what, at);
}

static enum dtx_code re_unsupported(struct dtx_reparser *p, const char *what)
{
	enum dtx_code rc = dtx_err_set(p->err, DTX_E_UNSUPPORTED_PARAM, __FILE__, __LINE__,
	                               "patterns have no %s", what);

	dtx_err_hint(p->err, "patterns have RE2's syntax: get part of a text with extract(x, "
	                     "'...(part)...'), or join two conditions with and, and not");
	return rc;
}

static enum dtx_code re_tree(struct dtx_reparser *p, enum dtx_renode kind, struct dtx_retree *a,
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

	for (; re_more(p); p->pos++) {
		char c = re_peek(p);

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
			return re_unsupported(p, "flag U or x");
		else
			break;
	}
	return re_bad(p, start, "unknown group or flag");
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

	while (re_more(p) && is_name_char(re_peek(p)))
		p->pos++;
	name = (struct dtx_str){ p->s.ptr + start, p->pos - start };
	if (!name.len || !re_eat(p, ">"))
		return re_bad(p, start, "invalid group name");
	for (i = 0; i < p->re->nnames; i++) {
		if (dtx_str_eq(p->names[i].name, name))
			return re_bad(p, start, "group name used twice");
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
	if (re_eat(p, "?=") || re_eat(p, "?!") || re_eat(p, "?<=") || re_eat(p, "?<!"))
		return re_unsupported(p, "look-around");
	named = re_eat(p, "?P<") || re_eat(p, "?<");
	if (re_eat(p, "?P=") || re_eat(p, "?>"))
		return re_unsupported(p, "back-references or atomic groups");
	if (!named && re_eat(p, "?")) {
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
		return re_tree(p, DTX_RN_EMPTY, NULL, NULL, out);
	}
	DTX_TRY(parse_alt(p, &inner));
	if (!re_eat(p, ")"))
		return re_bad(p, start, "'(' is not closed");
	p->flags = flags;
	p->depth--;
	DTX_TRY(re_tree(p, DTX_RN_GROUP, inner, NULL, out));
	(*out)->group = group;
out:
	return rc;
}

/* --- atoms, repeats, sequences --- */

static enum dtx_code assertion(struct dtx_reparser *p, enum dtx_reassert which,
                               struct dtx_retree **out)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(re_tree(p, DTX_RN_ASSERT, NULL, NULL, out));
	(*out)->assertion = which;
out:
	return rc;
}

static enum dtx_code one_char(struct dtx_reparser *p, uint32_t cp, struct dtx_retree **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_reranges r = { NULL, 0, 0 };

	DTX_TRY(re_range(p, &r, cp, cp));
	DTX_TRY(re_set(p, &r, false, out));
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
	if (re_eat(p, "A"))
		return assertion(p, DTX_RA_TEXT_START, out);
	if (re_eat(p, "z"))
		return assertion(p, DTX_RA_TEXT_END, out);
	if (re_eat(p, "b"))
		return assertion(p, DTX_RA_WORD, out);
	if (re_eat(p, "B"))
		return assertion(p, DTX_RA_NOT_WORD, out);
	if (re_peek(p) == 'Q' || re_peek(p) == 'C')
		return re_unsupported(p, "\\Q or \\C");
	c = re_class_letter(p, &negate);
	if (c) {
		DTX_TRY(re_class_add(p, &r, c, negate));
		return re_set(p, &r, false, out);
	}
	DTX_TRY(re_escape(p, &cp));
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
		DTX_TRY(re_range(p, &r, 0, '\n' - 1));
		DTX_TRY(re_range(p, &r, '\n' + 1, DTX_RE_CP_MAX));
	} else {
		DTX_TRY(re_range(p, &r, 0, DTX_RE_CP_MAX));
	}
	DTX_TRY(re_tree(p, DTX_RN_SET, NULL, NULL, out));
	(*out)->range = r.item;
	(*out)->nranges = r.n;
out:
	return rc;
}

static enum dtx_code parse_re_atom(struct dtx_reparser *p, struct dtx_retree **out)
{
	bool lines = p->flags & DTX_RF_M;
	char c = re_peek(p);

	if (c == '(')
		return parse_group(p, out);
	if (c == '[')
		return re_class(p, out);
	if (c == '.')
		return parse_dot(p, out);
	if (c == '\\')
		return parse_backslash(p, out);
	if (c == '*' || c == '+' || c == '?')
		return re_bad(p, p->pos, "nothing to repeat");
	if (re_eat(p, "^"))
		return assertion(p, lines ? DTX_RA_LINE_START : DTX_RA_TEXT_START, out);
	if (re_eat(p, "$"))
		return assertion(p, lines ? DTX_RA_LINE_END : DTX_RA_TEXT_END, out);
	return one_char(p, dtx_utf8_next(p->s.ptr, p->s.len, &p->pos), out);
}

static bool read_int(struct dtx_reparser *p, int *out)
{
	size_t start = p->pos;

	for (*out = 0; re_more(p) && re_peek(p) >= '0' && re_peek(p) <= '9'; p->pos++)
		*out = DTX_MIN(*out * 10 + (re_peek(p) - '0'), 100000);
	return p->pos > start;
}

/* {m} {m,} {m,n}; other text in braces is literal. */
static bool read_braces(struct dtx_reparser *p, int *min, int *max)
{
	size_t start = p->pos;

	p->pos++;
	if (read_int(p, min)) {
		*max = *min;
		if (re_eat(p, ",") && !read_int(p, max))
			*max = -1;
		if (re_eat(p, "}"))
			return true;
	}
	p->pos = start;
	return false;
}

static bool read_repeat(struct dtx_reparser *p, int *min, int *max)
{
	*min = 0;
	*max = -1;
	if (re_eat(p, "*"))
		return true;
	if (re_eat(p, "+")) {
		*min = 1;
		return true;
	}
	if (re_eat(p, "?")) {
		*max = 1;
		return true;
	}
	return re_peek(p) == '{' && read_braces(p, min, max);
}

static enum dtx_code parse_repeat(struct dtx_reparser *p, struct dtx_retree **out)
{
	enum dtx_code rc = DTX_OK;
	size_t start;
	int min, max, n = 0;

	DTX_TRY(parse_re_atom(p, out));
	for (start = p->pos; re_more(p) && read_repeat(p, &min, &max); start = p->pos) {
		if (++n > 1)
			return re_bad(p, start, "repeat of a repeat");
		if (min > DTX_REGEX_REPEAT || max > DTX_REGEX_REPEAT)
			return dtx_err_set(p->err, DTX_E_EXPR_LIMIT, __FILE__, __LINE__,
			                   "pattern repeats more than %d times", DTX_REGEX_REPEAT);
		if (max >= 0 && max < min)
			return re_bad(p, start, "repeat runs backwards");
		DTX_TRY(re_tree(p, DTX_RN_REPEAT, *out, NULL, out));
		(*out)->min = min;
		(*out)->max = max;
		(*out)->lazy = re_eat(p, "?");
	}
out:
	return rc;
}

static enum dtx_code parse_cat(struct dtx_reparser *p, struct dtx_retree **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_retree *next;

	DTX_TRY(re_tree(p, DTX_RN_EMPTY, NULL, NULL, out));
	while (re_more(p) && re_peek(p) != '|' && re_peek(p) != ')') {
		DTX_TRY(parse_repeat(p, &next));
		if ((*out)->kind == DTX_RN_EMPTY)
			*out = next;
		else
			DTX_TRY(re_tree(p, DTX_RN_CAT, *out, next, out));
	}
out:
	return rc;
}

static enum dtx_code parse_alt(struct dtx_reparser *p, struct dtx_retree **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_retree *next;

	DTX_TRY(parse_cat(p, out));
	while (re_eat(p, "|")) {
		DTX_TRY(parse_cat(p, &next));
		DTX_TRY(re_tree(p, DTX_RN_ALT, *out, next, out));
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
	if (re_more(&p))
		return re_bad(&p, p.pos, "')' without '('");
out:
	return rc;
}
