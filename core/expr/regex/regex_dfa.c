/* A DFA that only finds whether there is a match, one byte at a time.  A state is a set of
 * instructions of the program; it is built when it is first needed (a lazy DFA, as in RE2).
 *
 * The number of states is limited.  When there is no room for another, all are dropped and building
 * starts again from the current set, so memory is bounded and time stays linear in the text. */
#include "core/expr/regex/regex_int.h"

#include "core/base/hash/hash.h"

#define STATES  512u
#define POOL    65536u
#define SLOTS   1024u /* twice the number of states */
#define UNKNOWN 0u    /* this transition is not built yet; there is no state 0 */

struct state {
	uint32_t from, n; /* first instruction in the pool, and their number */
	bool match, match_at_end;
};
struct dtx_redfa {
	const struct dtx_regex *re;
	struct state state[STATES];
	uint32_t nstates;
	uint32_t *next; /* [state * ncls + class] */
	uint32_t *pool, npool;
	uint32_t slot[SLOTS];
	uint32_t *set, *seen, nset; /* the set that is being built; an entry counts if seen[pc] <
	                             * nset */
	uint32_t *stack;
	uint32_t start;
};

struct dtx_redfa *dtx_redfa_new(struct dtx_arena *a, const struct dtx_regex *re)
{
	struct dtx_redfa *d = dtx_arena_zalloc(a, 1, sizeof(*d));

	if (!d)
		return NULL;
	d->re = re;
	d->next = dtx_arena_alloc(a, (size_t)STATES * re->ncls, sizeof(*d->next));
	d->pool = dtx_arena_alloc(a, POOL, sizeof(*d->pool));
	d->set = dtx_arena_alloc(a, re->ninst, sizeof(*d->set));
	d->seen = dtx_arena_zalloc(a, re->ninst, sizeof(*d->seen));
	d->stack = dtx_arena_alloc(a, 2 * (size_t)re->ninst + 2, sizeof(*d->stack));
	d->nstates = 1;
	return d->next && d->pool && d->set && d->seen && d->stack ? d : NULL;
}

static bool in_set(const struct dtx_redfa *d, uint32_t pc)
{
	return d->seen[pc] < d->nset && d->set[d->seen[pc]] == pc;
}

/* Adds pc and everything it reaches.  Whether the text ends here is not known yet, so that
 * assertion stays in the set. */
static void closure(struct dtx_redfa *d, uint32_t pc, bool at_start, bool at_end)
{
	const struct dtx_reinst *inst = d->re->inst;
	size_t n = 0;

	d->stack[n++] = pc;
	while (n) {
		pc = d->stack[--n];
		if (in_set(d, pc))
			continue;
		d->seen[pc] = d->nset;
		d->set[d->nset++] = pc;
		if (inst[pc].op == DTX_RO_SPLIT)
			d->stack[n++] = inst[pc].y;
		if (inst[pc].op == DTX_RO_SPLIT || inst[pc].op == DTX_RO_JUMP ||
		    inst[pc].op == DTX_RO_SAVE ||
		    (inst[pc].op == DTX_RO_ASSERT &&
		     (inst[pc].arg == DTX_RA_TEXT_START ? at_start : at_end)))
			d->stack[n++] = inst[pc].x;
	}
}

/* Keeps only instructions that wait for a byte or for the end; the others follow from them. */
static void keep_waiting(struct dtx_redfa *d, bool *match)
{
	uint32_t i, n = 0;

	*match = false;
	for (i = 0; i < d->nset; i++) {
		enum dtx_reop op = d->re->inst[d->set[i]].op;

		*match |= op == DTX_RO_MATCH;
		if (op == DTX_RO_BYTE || op == DTX_RO_SET || op == DTX_RO_ASSERT)
			d->set[n++] = d->set[i];
	}
	d->nset = n;
}

static void flush(struct dtx_redfa *d)
{
	memset(d->slot, 0, sizeof(d->slot));
	d->nstates = 1;
	d->npool = 0;
	d->start = UNKNOWN;
}

static bool same(const struct dtx_redfa *d, const struct state *s, bool match)
{
	return s->n == d->nset && s->match == match &&
	       !memcmp(d->pool + s->from, d->set, s->n * sizeof(*d->set));
}

/* Whether the set matches if the text ends here. */
static bool ends_well(struct dtx_redfa *d, const struct state *s)
{
	uint32_t i;

	d->nset = 0;
	for (i = 0; i < s->n; i++) {
		const struct dtx_reinst *in = &d->re->inst[d->pool[s->from + i]];

		if (in->op == DTX_RO_ASSERT && in->arg == DTX_RA_TEXT_END)
			closure(d, in->x, false, true);
	}
	for (i = 0; i < d->nset; i++) {
		if (d->re->inst[d->set[i]].op == DTX_RO_MATCH)
			return true;
	}
	return false;
}

/* The number of the state with this set.  UNKNOWN if there is no room for it. */
static uint32_t intern(struct dtx_redfa *d, bool match)
{
	uint32_t at = (uint32_t)dtx_hash64(d->set, d->nset * sizeof(*d->set), match) % SLOTS;
	struct state *s;
	uint32_t i;

	for (; d->slot[at]; at = (at + 1) % SLOTS) {
		if (same(d, &d->state[d->slot[at]], match))
			return d->slot[at];
	}
	if (d->nstates == STATES || d->npool + d->nset > POOL)
		return UNKNOWN;
	d->slot[at] = d->nstates;
	s = &d->state[d->nstates];
	*s = (struct state){ d->npool, d->nset, match, match };
	memcpy(d->pool + d->npool, d->set, d->nset * sizeof(*d->set));
	d->npool += d->nset;
	for (i = 0; i < d->re->ncls; i++)
		d->next[d->nstates * d->re->ncls + i] = UNKNOWN;
	if (!match)
		s->match_at_end = ends_well(d, s);
	return d->nstates++;
}

/* The same; if there is no room, all states are dropped and building starts again. */
static uint32_t intern_now(struct dtx_redfa *d, bool match)
{
	uint32_t s = intern(d, match);

	if (s != UNKNOWN)
		return s;
	flush(d);
	return intern(d, match);
}

static uint32_t start_state(struct dtx_redfa *d)
{
	bool match;

	if (d->start == UNKNOWN) {
		d->nset = 0;
		closure(d, 0, true, false);
		keep_waiting(d, &match);
		d->start = intern_now(d, match);
	}
	return d->start;
}

/* In an empty text both the start and the end are at the same place. */
static bool test_empty(struct dtx_redfa *d)
{
	bool match;

	d->nset = 0;
	closure(d, 0, true, true);
	keep_waiting(d, &match);
	return match;
}

/* The state after byte c in state s.  After each byte a new attempt to match begins as well. */
static uint32_t follow(struct dtx_redfa *d, uint32_t s, uint8_t c)
{
	const struct state *from = &d->state[s];
	bool match;
	uint32_t i;

	d->nset = 0;
	for (i = 0; i < from->n; i++) {
		const struct dtx_reinst *in = &d->re->inst[d->pool[from->from + i]];

		if (dtx_re_takes(d->re, in, c))
			closure(d, in->x, false, false);
	}
	closure(d, 0, false, false);
	keep_waiting(d, &match);
	return intern_now(d, match);
}

bool dtx_redfa_test(struct dtx_redfa *d, struct dtx_str text)
{
	uint32_t s = start_state(d), to, cell;
	size_t pos;

	if (text.len == 0)
		return test_empty(d);
	for (pos = 0; pos < text.len && !d->state[s].match; pos++) {
		cell = s * d->re->ncls + d->re->cls[(uint8_t)text.ptr[pos]];
		to = d->next[cell];
		if (to == UNKNOWN) {
			uint32_t had = d->nstates;

			to = follow(d, s, (uint8_t)text.ptr[pos]);
			/* after all states were dropped, `cell` belongs to another state */
			if (d->nstates >= had)
				d->next[cell] = to;
		}
		s = to;
	}
	return d->state[s].match || d->state[s].match_at_end;
}
