/* From tree to program.  The instructions match bytes, so code points are expanded to their UTF-8
 * sequences.
 *
 * The code is the usual one of Thompson's construction: an alternative or a repeat becomes a SPLIT,
 * whose first choice is preferred, and a group becomes two SAVE instructions.  Counted repeats copy
 * the code of their body.  Jumps whose target is not known yet are chained through the operand that
 * will hold the target. */
#include "core/expr/regex/regex_int.h"

#include "core/base/text/utf8.h"

struct gen {
	struct dtx_arena *arena;
	struct dtx_regex *re;
	uint32_t cap, set_cap;
	uint64_t (*sets)[4];
	struct dtx_err *err;
};
#define NONE UINT32_MAX

static enum dtx_code emit(struct gen *g, struct dtx_reinst in, uint32_t *at)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_regex *re = g->re;

	if (re->ninst >= DTX_RE_PROG)
		DTX_FAIL(g->err, DTX_E_EXPR_LIMIT, "pattern is too large: its repeats multiply");
	if (re->ninst == g->cap) {
		uint32_t cap = g->cap ? g->cap * 2 : 64;
		struct dtx_reinst *inst = dtx_arena_alloc(g->arena, cap, sizeof(*inst));

		if (!inst)
			DTX_FAIL_MEM(g->err);
		if (re->ninst)
			memcpy(inst, re->inst, re->ninst * sizeof(*inst));
		re->inst = inst;
		g->cap = cap;
	}
	if (at)
		*at = re->ninst;
	if (in.op != DTX_RO_SPLIT && in.op != DTX_RO_JUMP)
		in.x = re->ninst + 1;
	re->inst[re->ninst++] = in;
out:
	return rc;
}

/* --- sets of code points, as alternatives of byte ranges --- */

struct seq {
	uint8_t low[4], high[4];
	uint32_t n;
};
struct alts { /* open ends: the jump at the end of each alternative, chained through x */
	uint32_t ends;
	uint32_t split; /* the split before the current alternative; NONE at first */
};

static enum dtx_code seq_emit(struct gen *g, struct alts *alt, const struct seq *s)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i, at;

	/* Every alternative is preceded by a split.  The second way of the last split is closed at
	 * the end. */
	DTX_TRY(emit(g, (struct dtx_reinst){ .op = DTX_RO_SPLIT }, &at));
	if (alt->split != NONE)
		g->re->inst[alt->split].y = at;
	alt->split = at;
	g->re->inst[at].x = at + 1;
	for (i = 0; i < s->n; i++)
		DTX_TRY(emit(g,
		             (struct dtx_reinst){
				     .op = DTX_RO_BYTE, .low = s->low[i], .high = s->high[i] },
		             NULL));
	DTX_TRY(emit(g, (struct dtx_reinst){ .op = DTX_RO_JUMP, .x = alt->ends }, &alt->ends));
out:
	return rc;
}

/* Expands a range of code points to sequences of byte ranges, as RE2 does.  The range is split
 * until all code points in each part have the same number of bytes, and until every byte of a part
 * that can vary covers a full range: low and high then differ only in one leading byte and in bytes
 * that go from 0x80 to 0xbf.  Surrogates are left out. */
static enum dtx_code range_emit(struct gen *g, struct alts *alt, uint32_t low, uint32_t high)
{
	static const uint32_t borders[] = { 0x7f, 0x7ff, 0xd7ff, 0xdfff, 0xffff };
	enum dtx_code rc = DTX_OK;
	struct seq s;
	char a[4], b[4];
	uint32_t i, mask;

	for (i = 0; i < DTX_COUNT(borders); i++) {
		if (low <= borders[i] && borders[i] < high) {
			DTX_TRY(range_emit(g, alt, low, borders[i]));
			return range_emit(g, alt, borders[i] + 1, high);
		}
	}
	if (high <= 0x7f || (low >= 0xd800 && high <= 0xdfff))
		return DTX_OK;
	for (i = 1; i < 4; i++) {
		mask = ((uint32_t)1 << (6 * i)) - 1;
		if ((low & ~mask) == (high & ~mask))
			continue;
		if (low & mask) {
			DTX_TRY(range_emit(g, alt, low, low | mask));
			return range_emit(g, alt, (low | mask) + 1, high);
		}
		if ((high & mask) != mask) {
			DTX_TRY(range_emit(g, alt, low, (high & ~mask) - 1));
			return range_emit(g, alt, high & ~mask, high);
		}
	}
	s.n = (uint32_t)dtx_utf8_put(a, low);
	dtx_utf8_put(b, high);
	memcpy(s.low, a, 4);
	memcpy(s.high, b, 4);
	DTX_TRY(seq_emit(g, alt, &s));
out:
	return rc;
}

static enum dtx_code bitmap_new(struct gen *g, const uint64_t bits[4], uint32_t *index)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_regex *re = g->re;
	uint32_t i;

	for (i = 0; i < re->nsets; i++) {
		if (!memcmp(re->set[i], bits, 4 * sizeof(*bits)))
			break;
	}
	*index = i;
	if (i < re->nsets)
		return DTX_OK;
	if (re->nsets == g->set_cap) {
		uint32_t cap = g->set_cap ? g->set_cap * 2 : 8;
		uint64_t(*sets)[4] = dtx_arena_alloc(g->arena, cap, sizeof(*sets));

		if (!sets)
			DTX_FAIL_MEM(g->err);
		if (re->nsets)
			memcpy(sets, g->sets, re->nsets * sizeof(*sets));
		g->sets = sets;
		re->set = (const uint64_t(*)[4])sets;
		g->set_cap = cap;
	}
	memcpy(g->sets[re->nsets++], bits, 4 * sizeof(*bits));
out:
	return rc;
}

/* Tests the ASCII part of a set at once: a byte, a range or a bitmap. */
static enum dtx_code ascii_emit(struct gen *g, const struct dtx_retree *t, bool *any)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_reinst in = { .op = DTX_RO_SET };
	uint64_t bits[4] = { 0, 0, 0, 0 };
	uint32_t i, c, n = 0;

	for (i = 0; i < t->nranges && t->range[i].low <= 0x7f; i++, n++) {
		for (c = t->range[i].low; c <= DTX_MIN(t->range[i].high, 0x7fu); c++)
			bits[c >> 6] |= (uint64_t)1 << (c & 63);
	}
	*any = n > 0;
	if (n == 1) {
		in.op = DTX_RO_BYTE;
		in.low = (uint8_t)t->range[0].low;
		in.high = (uint8_t)DTX_MIN(t->range[0].high, 0x7fu);
	} else if (n) {
		DTX_TRY(bitmap_new(g, bits, &in.arg));
	}
	if (n)
		DTX_TRY(emit(g, in, NULL));
out:
	return rc;
}

static enum dtx_code set_emit(struct gen *g, const struct dtx_retree *t)
{
	enum dtx_code rc = DTX_OK;
	struct alts alt = { NONE, NONE };
	uint32_t i, at, next;
	bool ascii_only = !t->nranges || t->range[t->nranges - 1].high <= 0x7f, any;

	if (ascii_only && t->nranges)
		return ascii_emit(g, t, &any);
	DTX_TRY(emit(g, (struct dtx_reinst){ .op = DTX_RO_SPLIT }, &at));
	alt.split = at;
	g->re->inst[at].x = at + 1;
	DTX_TRY(ascii_emit(g, t, &any));
	/* an empty set is a byte range that no byte is in */
	if (!any)
		DTX_TRY(emit(g, (struct dtx_reinst){ .op = DTX_RO_BYTE, .low = 1, .high = 0 },
		             NULL));
	DTX_TRY(emit(g, (struct dtx_reinst){ .op = DTX_RO_JUMP, .x = NONE }, &alt.ends));
	for (i = 0; i < t->nranges; i++) {
		if (t->range[i].high > 0x7f)
			DTX_TRY(range_emit(g, &alt, DTX_MAX(t->range[i].low, 0x80u),
			                   t->range[i].high));
	}
	g->re->inst[alt.split].y = g->re->inst[alt.split].x;
	for (at = alt.ends; at != NONE; at = next) {
		next = g->re->inst[at].x;
		g->re->inst[at].x = g->re->ninst;
	}
out:
	return rc;
}

/* --- the tree --- */

static enum dtx_code gen(struct gen *g, const struct dtx_retree *t);

static void split_order(struct dtx_reinst *in, bool lazy, uint32_t body, uint32_t end)
{
	in->x = lazy ? end : body;
	in->y = lazy ? body : end;
}

static enum dtx_code gen_star(struct gen *g, const struct dtx_retree *t)
{
	enum dtx_code rc = DTX_OK;
	uint32_t at;

	DTX_TRY(emit(g, (struct dtx_reinst){ .op = DTX_RO_SPLIT }, &at));
	DTX_TRY(gen(g, t->a));
	DTX_TRY(emit(g, (struct dtx_reinst){ .op = DTX_RO_JUMP, .x = at }, NULL));
	split_order(&g->re->inst[at], t->lazy, at + 1, g->re->ninst);
out:
	return rc;
}

/* x{min,max}: `min` copies of the body, then a star or nested optional copies. */
static enum dtx_code gen_repeat(struct gen *g, const struct dtx_retree *t)
{
	enum dtx_code rc = DTX_OK;
	uint32_t open = NONE, at, next;
	int i;

	for (i = 0; i < t->min; i++)
		DTX_TRY(gen(g, t->a));
	if (t->max < 0)
		return gen_star(g, t);
	for (; i < t->max; i++) {
		DTX_TRY(emit(g, (struct dtx_reinst){ .op = DTX_RO_SPLIT, .y = open }, &open));
		DTX_TRY(gen(g, t->a));
	}
	for (at = open; at != NONE; at = next) {
		next = g->re->inst[at].y;
		split_order(&g->re->inst[at], t->lazy, at + 1, g->re->ninst);
	}
out:
	return rc;
}

static enum dtx_code gen_alt(struct gen *g, const struct dtx_retree *t)
{
	enum dtx_code rc = DTX_OK;
	uint32_t split, jump;

	DTX_TRY(emit(g, (struct dtx_reinst){ .op = DTX_RO_SPLIT }, &split));
	DTX_TRY(gen(g, t->a));
	DTX_TRY(emit(g, (struct dtx_reinst){ .op = DTX_RO_JUMP }, &jump));
	split_order(&g->re->inst[split], false, split + 1, g->re->ninst);
	DTX_TRY(gen(g, t->b));
	g->re->inst[jump].x = g->re->ninst;
out:
	return rc;
}

static enum dtx_code gen_group(struct gen *g, const struct dtx_retree *t)
{
	enum dtx_code rc = DTX_OK;
	uint32_t slot = 2 * (uint32_t)t->group;

	if (t->group)
		DTX_TRY(emit(g, (struct dtx_reinst){ .op = DTX_RO_SAVE, .arg = slot }, NULL));
	DTX_TRY(gen(g, t->a));
	if (t->group)
		DTX_TRY(emit(g, (struct dtx_reinst){ .op = DTX_RO_SAVE, .arg = slot + 1 }, NULL));
out:
	return rc;
}

static enum dtx_code gen(struct gen *g, const struct dtx_retree *t)
{
	enum dtx_code rc = DTX_OK;

	switch (t->kind) {
	case DTX_RN_EMPTY: break;
	case DTX_RN_SET: DTX_TRY(set_emit(g, t)); break;
	case DTX_RN_CAT:
		DTX_TRY(gen(g, t->a));
		DTX_TRY(gen(g, t->b));
		break;
	case DTX_RN_ALT: DTX_TRY(gen_alt(g, t)); break;
	case DTX_RN_REPEAT: DTX_TRY(gen_repeat(g, t)); break;
	case DTX_RN_GROUP: DTX_TRY(gen_group(g, t)); break;
	case DTX_RN_ASSERT:
		DTX_TRY(emit(
			g,
			(struct dtx_reinst){ .op = DTX_RO_ASSERT, .arg = (uint32_t)t->assertion },
			NULL));
		break;
	}
out:
	return rc;
}

/* --- what the matchers need to know about the program --- */

/* Divides the 256 byte values into classes that no instruction distinguishes, so that the table of
 * a DFA state has one entry per class instead of one per byte. */
static void find_classes(struct dtx_regex *re)
{
	bool border[257] = { false };
	uint32_t i, c, n = 0;

	for (i = 0; i < re->ninst; i++) {
		if (re->inst[i].op == DTX_RO_BYTE && re->inst[i].low <= re->inst[i].high) {
			border[re->inst[i].low] = true;
			border[re->inst[i].high + 1] = true;
		}
	}
	for (i = 0; i < re->nsets; i++) {
		for (c = 1; c < 256; c++)
			border[c] |= (re->set[i][c >> 6] >> (c & 63) & 1) !=
			             (re->set[i][(c - 1) >> 6] >> ((c - 1) & 63) & 1);
	}
	for (c = 0; c < 256; c++) {
		n += c && border[c];
		re->cls[c] = (uint8_t)n;
	}
	re->ncls = n + 1;
}

/* Finds the bytes with which every match begins, and whether they are the whole pattern. */
static enum dtx_code find_prefix(struct gen *g)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_regex *re = g->re;
	char *text = dtx_arena_alloc(g->arena, re->ninst + 1, 1);
	uint32_t at;
	size_t n = 0;

	if (!text)
		DTX_FAIL_MEM(g->err);
	for (at = 1; re->inst[at].op == DTX_RO_BYTE && re->inst[at].low == re->inst[at].high; at++)
		text[n++] = (char)re->inst[at].low;
	re->prefix = (struct dtx_str){ text, n };
	/* the end of the whole match, then the match instruction */
	if (re->inst[at].op == DTX_RO_SAVE && re->inst[at].arg == 1)
		re->literal = re->prefix;
out:
	return rc;
}

enum dtx_code dtx_regex_program(struct dtx_arena *a, const struct dtx_retree *tree,
                                struct dtx_regex *re, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct gen g = { .arena = a, .re = re, .err = err };
	uint32_t i;

	DTX_TRY(emit(&g, (struct dtx_reinst){ .op = DTX_RO_SAVE, .arg = 0 }, NULL));
	DTX_TRY(gen(&g, tree));
	DTX_TRY(emit(&g, (struct dtx_reinst){ .op = DTX_RO_SAVE, .arg = 1 }, NULL));
	DTX_TRY(emit(&g, (struct dtx_reinst){ .op = DTX_RO_MATCH }, NULL));
	find_classes(re);
	DTX_TRY(find_prefix(&g));
	re->has_dfa = true;
	for (i = 0; i < re->ninst; i++) {
		if (re->inst[i].op == DTX_RO_ASSERT && re->inst[i].arg != DTX_RA_TEXT_START &&
		    re->inst[i].arg != DTX_RA_TEXT_END)
			re->has_dfa = false;
	}
out:
	return rc;
}
