/* Matching with groups: simulates the program with a list of threads in order of preference (R.
 * Pike's virtual machine; see R. Cox, "Regular Expression Matching: the Virtual Machine Approach",
 * 2009). */
#include "core/expr/regex/regex_int.h"

struct threads { /* in order of preference; caps[i * ncap] belongs to dense[i] */
	uint32_t n;
	uint32_t *dense, *sparse;
	size_t *caps;
};
struct pending { /* an entry of the stack for the walk through splits */
	uint32_t pc;
	uint32_t slot; /* UINT32_MAX: continue at pc; else restore `old` in this slot */
	size_t old;
};
struct dtx_rematch {
	const struct dtx_regex *re;
	struct dtx_redfa *dfa;
	struct threads now, next;
	struct pending *stack;
	size_t *cap;
	size_t ncap;
};

enum dtx_code dtx_regex_compile(struct dtx_arena *a, struct dtx_str pattern, struct dtx_regex **out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_regex *re = dtx_arena_zalloc(a, 1, sizeof(*re));
	struct dtx_retree *tree;

	if (!re)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_regex_parse(a, pattern, re, &tree, err));
	DTX_TRY(dtx_regex_program(a, tree, re, err));
	*out = re;
out:
	return rc;
}

uint32_t dtx_regex_groups(const struct dtx_regex *re)
{
	return re->ngroups;
}

int dtx_regex_group(const struct dtx_regex *re, struct dtx_str name)
{
	uint32_t i;

	for (i = 0; i < re->nnames; i++) {
		if (dtx_str_eq(re->name[i].name, name))
			return re->name[i].group;
	}
	return -1;
}

static bool threads_init(struct threads *t, struct dtx_arena *a, const struct dtx_regex *re,
                         size_t ncap)
{
	t->dense = dtx_arena_alloc(a, re->ninst, sizeof(*t->dense));
	t->sparse = dtx_arena_zalloc(a, re->ninst, sizeof(*t->sparse));
	t->caps = dtx_arena_alloc(a, re->ninst * ncap, sizeof(*t->caps));
	return t->dense && t->sparse && t->caps;
}

struct dtx_rematch *dtx_rematch_new(struct dtx_arena *a, const struct dtx_regex *re)
{
	struct dtx_rematch *m = dtx_arena_zalloc(a, 1, sizeof(*m));

	if (!m)
		return NULL;
	m->re = re;
	m->ncap = 2 * ((size_t)re->ngroups + 1);
	m->cap = dtx_arena_alloc(a, m->ncap, sizeof(*m->cap));
	/* each instruction is visited once and may restore one slot */
	m->stack = dtx_arena_alloc(a, 2 * (size_t)re->ninst + 2, sizeof(*m->stack));
	if (!m->cap || !m->stack || !threads_init(&m->now, a, re, m->ncap) ||
	    !threads_init(&m->next, a, re, m->ncap))
		return NULL;
	if (re->has_dfa && !re->literal.ptr) {
		m->dfa = dtx_redfa_new(a, re);
		if (!m->dfa)
			return NULL;
	}
	return m;
}

static bool is_word(struct dtx_str s, size_t pos)
{
	char c = pos < s.len ? s.ptr[pos] : ' ';

	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '_';
}

static bool holds(enum dtx_reassert a, struct dtx_str s, size_t pos)
{
	bool word = (pos > 0 && is_word(s, pos - 1)) != is_word(s, pos);

	switch (a) {
	case DTX_RA_TEXT_START: return pos == 0;
	case DTX_RA_TEXT_END: return pos == s.len;
	case DTX_RA_LINE_START: return pos == 0 || s.ptr[pos - 1] == '\n';
	case DTX_RA_LINE_END: return pos == s.len || s.ptr[pos] == '\n';
	case DTX_RA_WORD: return word;
	case DTX_RA_NOT_WORD: return !word;
	}
	return false;
}

static bool is_there(const struct threads *t, uint32_t pc)
{
	return t->sparse[pc] < t->n && t->dense[t->sparse[pc]] == pc;
}

/* Adds pc and everything that it reaches without reading a byte.  m->cap has the groups so far. */
static void add_thread(struct dtx_rematch *m, struct threads *t, uint32_t start, struct dtx_str s,
                       size_t pos)
{
	const struct dtx_reinst *inst = m->re->inst;
	size_t n = 0;

	m->stack[n++] = (struct pending){ start, UINT32_MAX, 0 };
	while (n) {
		struct pending p = m->stack[--n];

		if (p.slot != UINT32_MAX) {
			m->cap[p.slot] = p.old;
			continue;
		}
		if (is_there(t, p.pc))
			continue;
		t->sparse[p.pc] = t->n;
		t->dense[t->n] = p.pc;
		memcpy(t->caps + t->n * m->ncap, m->cap, m->ncap * sizeof(*m->cap));
		t->n++;
		switch (inst[p.pc].op) {
		case DTX_RO_SPLIT:
			m->stack[n++] = (struct pending){ inst[p.pc].y, UINT32_MAX, 0 };
			m->stack[n++] = (struct pending){ inst[p.pc].x, UINT32_MAX, 0 };
			break;
		case DTX_RO_JUMP:
			m->stack[n++] = (struct pending){ inst[p.pc].x, UINT32_MAX, 0 };
			break;
		case DTX_RO_SAVE:
			m->stack[n++] =
				(struct pending){ 0, inst[p.pc].arg, m->cap[inst[p.pc].arg] };
			m->stack[n++] = (struct pending){ inst[p.pc].x, UINT32_MAX, 0 };
			m->cap[inst[p.pc].arg] = pos;
			break;
		case DTX_RO_ASSERT:
			if (holds((enum dtx_reassert)inst[p.pc].arg, s, pos))
				m->stack[n++] = (struct pending){ inst[p.pc].x, UINT32_MAX, 0 };
			break;
		case DTX_RO_BYTE:
		case DTX_RO_SET:
		case DTX_RO_MATCH: break;
		}
	}
}

/* Reads one byte: threads that accept it continue.  A match drops all threads of lower
 * preference. */
static bool step(struct dtx_rematch *m, struct dtx_str s, size_t pos, size_t *at)
{
	uint32_t i;

	m->next.n = 0;
	for (i = 0; i < m->now.n; i++) {
		const struct dtx_reinst *in = &m->re->inst[m->now.dense[i]];

		if (in->op == DTX_RO_MATCH) {
			memcpy(at, m->now.caps + i * m->ncap, m->ncap * sizeof(*at));
			return true;
		}
		if (pos < s.len && dtx_re_takes(m->re, in, (uint8_t)s.ptr[pos])) {
			memcpy(m->cap, m->now.caps + i * m->ncap, m->ncap * sizeof(*at));
			add_thread(m, &m->next, in->x, s, pos + 1);
		}
	}
	return false;
}

static bool find_literal(struct dtx_rematch *m, struct dtx_str text, size_t from, size_t *at)
{
	ptrdiff_t found = dtx_str_find(text, m->re->literal, from);

	if (found < 0)
		return false;
	at[0] = (size_t)found;
	at[1] = at[0] + m->re->literal.len;
	for (size_t i = 2; i < m->ncap; i++) /* groups that did not take part in the match:
	                                      * x(a){0} */
		at[i] = SIZE_MAX;
	return true;
}

bool dtx_rematch_find(struct dtx_rematch *m, struct dtx_str text, size_t from, size_t *at)
{
	bool found = false;
	struct threads swap;
	size_t pos, i;

	if (m->re->literal.ptr)
		return find_literal(m, text, from, at);
	if (m->dfa && from == 0 && !dtx_redfa_test(m->dfa, text))
		return false;
	m->now.n = 0;
	for (pos = from; pos <= text.len; pos++) {
		if (!found && m->now.n == 0 && m->re->prefix.len) {
			ptrdiff_t next = dtx_str_find(text, m->re->prefix, pos);

			if (next < 0)
				break;
			pos = (size_t)next;
		}
		if (!found) {
			for (i = 0; i < m->ncap; i++)
				m->cap[i] = SIZE_MAX;
			add_thread(m, &m->now, 0, text, pos);
		}
		if (m->now.n == 0)
			break;
		found |= step(m, text, pos, at);
		swap = m->now;
		m->now = m->next;
		m->next = swap;
	}
	return found;
}

bool dtx_rematch_test(struct dtx_rematch *m, struct dtx_str text)
{
	size_t at[2 * (DTX_REGEX_GROUPS + 1)];

	if (m->dfa)
		return dtx_redfa_test(m->dfa, text);
	return dtx_rematch_find(m, text, 0, at);
}
