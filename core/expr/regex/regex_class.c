/* Sets of code points: classes, escapes, both cases of letters. */
#include "core/expr/regex/regex_parse.h"

#include <stdlib.h>

#include "core/base/text/utf8.h"

#define FOLD_MAX 0x600u /* in longer ranges only ASCII letters are matched in both cases */

/* --- sets --- */

enum dtx_code dtx_re_range(struct dtx_reparser *p, struct dtx_reranges *r, uint32_t low,
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
			DTX_TRY(dtx_re_range(p, &not, next, r->item[i].low - 1));
		next = r->item[i].high + 1;
	}
	if (next <= DTX_RE_CP_MAX)
		DTX_TRY(dtx_re_range(p, &not, next, DTX_RE_CP_MAX));
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
		DTX_TRY(dtx_re_range(p, r, other, other));
	pos = 0;
	other = dtx_utf8_next(dtx_buf_text(&low), dtx_buf_len(&low), &pos);
	if (pos == low.len)
		DTX_TRY(dtx_re_range(p, r, other, other));
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

enum dtx_code dtx_re_set(struct dtx_reparser *p, struct dtx_reranges *r, bool negate,
                         struct dtx_retree **out)
{
	enum dtx_code rc = DTX_OK;

	if (p->flags & DTX_RF_I)
		DTX_TRY(ranges_fold(p, r));
	ranges_sort(r);
	if (negate)
		DTX_TRY(ranges_negate(p, r));
	DTX_TRY(dtx_re_tree(p, DTX_RN_SET, NULL, NULL, out));
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

enum dtx_code dtx_re_class_add(struct dtx_reparser *p, struct dtx_reranges *r,
                               const struct dtx_reclass *c, bool negate)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_reranges all = { NULL, 0, 0 };
	uint32_t i;

	for (i = 0; i < (uint32_t)c->n; i++)
		DTX_TRY(dtx_re_range(p, &all, c->range[i].low, c->range[i].high));
	if (negate)
		DTX_TRY(ranges_negate(p, &all));
	for (i = 0; i < all.n; i++)
		DTX_TRY(dtx_re_range(p, r, all.item[i].low, all.item[i].high));
out:
	return rc;
}

/* \d \D \w \W \s \S at pos, after the backslash. */
const struct dtx_reclass *dtx_re_class_letter(struct dtx_reparser *p, bool *negate)
{
	char c = dtx_re_peek(p), low = (char)(c | 0x20);

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
	bool brace = dtx_re_eat(p, "{");
	int d;

	for (*cp = 0;
	     dtx_re_more(p) && (d = hex_digit(dtx_re_peek(p))) >= 0 && *cp <= DTX_RE_CP_MAX;
	     p->pos++) {
		*cp = *cp * 16 + (uint32_t)d;
		if (++digits == 2 && !brace) {
			p->pos++;
			break;
		}
	}
	if (!digits || (!brace && digits != 2) || (brace && !dtx_re_eat(p, "}")) ||
	    *cp > DTX_RE_CP_MAX || (*cp >= 0xd800 && *cp <= 0xdfff))
		return dtx_re_bad(p, start, "invalid hexadecimal escape");
	return DTX_OK;
}

/* After a backslash: an escape that stands for one code point. */
enum dtx_code dtx_re_escape(struct dtx_reparser *p, uint32_t *cp)
{
	static const char letters[] = "aftnrv", values[] = "\a\f\t\n\r\v";
	size_t start = p->pos;
	char c = dtx_re_peek(p);
	const char *at;

	if (!dtx_re_more(p))
		return dtx_re_bad(p, start, "pattern ends in a backslash");
	if (c >= '1' && c <= '9')
		return dtx_re_unsupported(p, "back-references");
	if (c == 'p' || c == 'P')
		return dtx_re_unsupported(p, "\\p classes");
	if (c == 'x') {
		p->pos++;
		return parse_hex(p, cp);
	}
	at = memchr(letters, c, sizeof(letters) - 1);
	if (at) {
		*cp = (uint8_t)values[at - letters];
	} else if (c == '0' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
		return dtx_re_bad(p, start - 1, "unknown escape");
	} else {
		*cp = dtx_utf8_next(p->s.ptr, p->s.len, &p->pos);
		return DTX_OK;
	}
	p->pos++;
	return DTX_OK;
}

static enum dtx_code class_char(struct dtx_reparser *p, uint32_t *cp)
{
	if (dtx_re_eat(p, "\\"))
		return dtx_re_escape(p, cp);
	*cp = dtx_utf8_next(p->s.ptr, p->s.len, &p->pos);
	return DTX_OK;
}

/* [:alpha:] or [:^alpha:] inside of a class. */
static enum dtx_code class_posix(struct dtx_reparser *p, struct dtx_reranges *r)
{
	size_t start = p->pos;
	ptrdiff_t end = dtx_str_find(p->s, DTX_STR(":]"), p->pos);
	const struct dtx_reclass *c = NULL;
	bool negate;

	p->pos += 2;
	negate = dtx_re_eat(p, "^");
	if (end >= 0)
		c = class_find((struct dtx_str){ p->s.ptr + p->pos, (size_t)end - p->pos });
	if (!c || strlen(c->name) == 1)
		return dtx_re_bad(p, start, "unknown class name");
	p->pos = (size_t)end + 2;
	return dtx_re_class_add(p, r, c, negate);
}

static enum dtx_code class_item(struct dtx_reparser *p, struct dtx_reranges *r)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_reclass *c = NULL;
	size_t start = p->pos;
	uint32_t low, high;
	bool negate;

	if (p->s.len - p->pos > 1 && !memcmp(p->s.ptr + p->pos, "[:", 2))
		return class_posix(p, r);
	if (dtx_re_peek(p) == '\\') {
		p->pos++;
		c = dtx_re_class_letter(p, &negate);
		if (c)
			return dtx_re_class_add(p, r, c, negate);
		p->pos--;
	}
	DTX_TRY(class_char(p, &low));
	high = low;
	if (dtx_re_peek(p) == '-' && p->pos + 1 < p->s.len && p->s.ptr[p->pos + 1] != ']') {
		p->pos++;
		DTX_TRY(class_char(p, &high));
		if (high < low)
			return dtx_re_bad(p, start, "range runs backwards");
	}
	DTX_TRY(dtx_re_range(p, r, low, high));
out:
	return rc;
}

enum dtx_code dtx_re_class(struct dtx_reparser *p, struct dtx_retree **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_reranges r = { NULL, 0, 0 };
	size_t start = p->pos++;
	bool negate = dtx_re_eat(p, "^"), first = true;

	while (first || dtx_re_peek(p) != ']') {
		if (!dtx_re_more(p))
			return dtx_re_bad(p, start, "'[' is not closed");
		DTX_TRY(class_item(p, &r));
		first = false;
	}
	p->pos++;
	DTX_TRY(dtx_re_set(p, &r, negate, out));
out:
	return rc;
}
