/* min, max, first, last, arg_max, arg_min.
 *
 * min and max of ints, floats and dates need only the value.  All other aggregates here keep a
 * value together with the position of its row, because workers see the rows of a group in no fixed
 * order: the position decides which row is the first or the last, and which of two equal rows
 * arg_max and arg_min take. */
#include "core/expr/agg/aggcall.h"

#include "core/base/memory/mem.h"
#include "core/data/cast/decimal.h"
#include "core/expr/agg/aggsave.h"

#define STATE(type, k) ((type *)(void *)(states + (size_t)r->group[k] * stride))
#define ROW(k)         (r->row ? r->row[k] : (k))

/* --- min and max of numbers, dates, bools --- */

struct imost {
	int64_t v;
	uint64_t seen;
};
struct fmost {
	double v;
	uint64_t seen;
};

/* Selects the value to keep without a branch: which of two values is larger cannot be predicted. */
#define MOST_LOOP(state, type, values)                                                             \
	do {                                                                                       \
		const type *v = (values);                                                          \
		const bool far = dtx_agg_far(stride, r);                                           \
                                                                                                   \
		for (uint32_t k = 0; k < r->n; k++) {                                              \
			struct state *s = STATE(struct state, k);                                  \
			type x = v[ROW(k)];                                                        \
			bool take = s->seen == 0 || (max ? x > s->v : x < s->v);                   \
                                                                                                   \
			if (far)                                                                   \
				dtx_agg_near(states, stride, sizeof(*s), r, k);                    \
			s->v = take ? x : s->v;                                                    \
			s->seen = 1;                                                               \
		}                                                                                  \
	} while (0)

static enum dtx_code imost_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                                const struct dtx_aggrows *r, struct dtx_err *err)
{
	bool max = c->kind == DTX_AGG_MAX;

	(void)err;
	MOST_LOOP(imost, int64_t, r->col->v.i64);
	return DTX_OK;
}

static enum dtx_code dmost_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                                const struct dtx_aggrows *r, struct dtx_err *err)
{
	bool max = c->kind == DTX_AGG_MAX;

	(void)err;
	MOST_LOOP(imost, int32_t, r->col->v.day);
	return DTX_OK;
}

static enum dtx_code fmost_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                                const struct dtx_aggrows *r, struct dtx_err *err)
{
	bool max = c->kind == DTX_AGG_MAX;

	(void)err;
	MOST_LOOP(fmost, double, r->col->v.f64);
	return DTX_OK;
}

static enum dtx_code imost_merge(const struct dtx_aggcall *c, void *to, void *from,
                                 struct dtx_err *err)
{
	struct imost *a = to;
	const struct imost *b = from;

	(void)err;
	if (b->seen && (!a->seen || (c->kind == DTX_AGG_MAX ? b->v > a->v : b->v < a->v)))
		*a = *b;
	return DTX_OK;
}

static enum dtx_code fmost_merge(const struct dtx_aggcall *c, void *to, void *from,
                                 struct dtx_err *err)
{
	struct fmost *a = to;
	const struct fmost *b = from;

	(void)err;
	if (b->seen && (!a->seen || (c->kind == DTX_AGG_MAX ? b->v > a->v : b->v < a->v)))
		*a = *b;
	return DTX_OK;
}

static enum dtx_code imost_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                 struct dtx_val *out, struct dtx_err *err)
{
	const struct imost *s = state;

	(void)run, (void)err;
	out->null = !s->seen;
	if (c->type.type == DTX_T_DATE)
		out->u.day = (int32_t)s->v;
	else
		out->u.i = s->v;
	return DTX_OK;
}

static enum dtx_code fmost_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                 struct dtx_val *out, struct dtx_err *err)
{
	const struct fmost *s = state;

	(void)c, (void)run, (void)err;
	out->null = !s->seen;
	out->u.f = s->v;
	return DTX_OK;
}

static const struct dtx_aggkernel most_int = {
	.size = sizeof(struct imost), .add = imost_rows, .merge = imost_merge, .final = imost_final
};
static const struct dtx_aggkernel most_day = {
	.size = sizeof(struct imost), .add = dmost_rows, .merge = imost_merge, .final = imost_final
};
static const struct dtx_aggkernel most_float = {
	.size = sizeof(struct fmost), .add = fmost_rows, .merge = fmost_merge, .final = fmost_final
};

/* --- a value of any type that is kept with its position --- */

struct kept {
	uint64_t seen, pos;
	union {
		int64_t i;
		double f;
		struct dtx_dec128 dec;
		struct {
			char *ptr;
			uint32_t len, cap;
		} s;
	} u;
};

static void kept_get(const struct kept *s, enum dtx_type type, struct dtx_val *out)
{
	out->null = !s->seen;
	if (out->null)
		return;
	switch (type) {
	case DTX_T_TEXT: out->u.s = (struct dtx_str){ s->u.s.ptr, s->u.s.len }; break;
	case DTX_T_DECIMAL: out->u.dec = dtx_dec_get(s->u.dec); break;
	case DTX_T_FLOAT64: out->u.f = s->u.f; break;
	case DTX_T_DATE: out->u.day = (int32_t)s->u.i; break;
	case DTX_T_BOOL: out->u.b = s->u.i != 0; break;
	default: out->u.i = s->u.i; break;
	}
}

static bool kept_text(struct kept *s, struct dtx_str v)
{
	if (!s->u.s.ptr || s->u.s.cap < v.len) {
		size_t cap = v.len + v.len / 2 + 8;
		char *ptr = cap <= UINT32_MAX ? dtx_mem_alloc(cap, 1) : NULL;

		if (!ptr)
			return false;
		dtx_mem_free(s->u.s.ptr);
		s->u.s.ptr = ptr;
		s->u.s.cap = (uint32_t)cap;
	}
	if (v.len)
		memcpy(s->u.s.ptr, v.ptr, v.len);
	s->u.s.len = (uint32_t)v.len;
	return true;
}

static bool kept_set(struct kept *s, enum dtx_type type, const struct dtx_val *v, uint64_t pos)
{
	s->seen = 1;
	s->pos = pos;
	switch (type) {
	case DTX_T_TEXT: return kept_text(s, v->u.s);
	case DTX_T_DECIMAL: s->u.dec = dtx_dec_put(v->u.dec); break;
	case DTX_T_FLOAT64: s->u.f = v->u.f; break;
	case DTX_T_DATE: s->u.i = v->u.day; break;
	case DTX_T_BOOL: s->u.i = v->u.b; break;
	default: s->u.i = v->u.i; break;
	}
	return true;
}

/* Whether a value at pos replaces the value of s. */
static bool kept_loses(const struct dtx_aggcall *c, const struct kept *s, uint64_t pos,
                       const struct dtx_val *v)
{
	struct dtx_val have;
	int cmp;

	if (!s->seen)
		return true;
	if (c->kind == DTX_AGG_FIRST)
		return pos < s->pos;
	if (c->kind == DTX_AGG_LAST)
		return pos > s->pos;
	kept_get(s, c->argtype.type, &have);
	cmp = dtx_val_cmp(c->argtype.type, v, &have);
	return c->kind == DTX_AGG_MAX ? cmp > 0 : cmp < 0;
}

static enum dtx_code kept_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                               const struct dtx_aggrows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool placed = c->kind == DTX_AGG_FIRST || c->kind == DTX_AGG_LAST;
	struct dtx_val v = { .null = true };
	uint32_t n, k, i;

	for (n = 0; n < r->n; n++) {
		/* last goes through the rows from the end, so that few rows replace another */
		k = c->kind == DTX_AGG_LAST ? r->n - 1 - n : n;
		i = ROW(k);
		struct kept *s = STATE(struct kept, k);
		uint64_t pos = dtx_batch_pos(r->in, i);

		if (!placed)
			dtx_val_get(r->col, i, &v);
		if (!kept_loses(c, s, pos, &v))
			continue;
		if (placed)
			dtx_val_get(r->col, i, &v);
		if (!kept_set(s, c->argtype.type, &v, pos))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

static void kept_free(void *state)
{
	struct kept *s = state;

	dtx_mem_free(s->u.s.ptr);
	s->u.s.ptr = NULL;
}

static enum dtx_code kept_merge(const struct dtx_aggcall *c, void *to, void *from,
                                struct dtx_err *err)
{
	struct kept *a = to, *b = from;
	struct dtx_val v;

	(void)err;
	kept_get(b, c->argtype.type, &v);
	if (!v.null && kept_loses(c, a, b->pos, &v)) {
		struct kept old = *a;

		*a = *b;
		*b = old;
	}
	return DTX_OK;
}

static enum dtx_code kept_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                struct dtx_val *out, struct dtx_err *err)
{
	(void)run, (void)err;
	kept_get(state, c->argtype.type, out);
	return DTX_OK;
}

static const struct dtx_aggkernel kept_value = {
	.size = sizeof(struct kept), .add = kept_rows, .merge = kept_merge, .final = kept_final
};
static void kept_save(const struct kept *s, bool text, struct dtx_buf *out)
{
	if (!text) {
		dtx_words_save(s, sizeof(*s) / sizeof(uint64_t), out);
		return;
	}
	dtx_word_save(s->seen, out);
	dtx_word_save(s->pos, out);
	if (s->seen)
		dtx_text_save((struct dtx_str){ s->u.s.ptr, s->u.s.len }, out);
}

static bool kept_load(struct kept *s, bool text, const char **at)
{
	if (!text) {
		dtx_words_load(at, s, sizeof(*s) / sizeof(uint64_t));
		return true;
	}
	s->seen = dtx_word_load(at);
	s->pos = dtx_word_load(at);
	return !s->seen || kept_text(s, dtx_text_load(at));
}

static void kept_words_save(const struct dtx_aggcall *c, const void *state, struct dtx_buf *out)
{
	(void)c;
	kept_save(state, true, out);
}

static bool kept_words_load(const struct dtx_aggcall *c, void *state, const char **at)
{
	(void)c;
	return kept_load(state, true, at);
}

static const struct dtx_aggkernel kept_words = { .size = sizeof(struct kept),
	                                         .frees = true,
	                                         .add = kept_rows,
	                                         .merge = kept_merge,
	                                         .final = kept_final,
	                                         .free = kept_free,
	                                         .save = kept_words_save,
	                                         .load = kept_words_load };

/* --- arg_max, arg_min: the value in the row where another column is largest or smallest --- */

struct beside {
	struct kept value, by;
};

/* Whether the row at pos with the value `by` replaces the row of s.  Of equal values the first row
 * stays. */
static bool beside_loses(const struct dtx_aggcall *c, const struct beside *s, uint64_t pos,
                         const struct dtx_val *by)
{
	enum dtx_type type = c->arg2->type.type;
	struct dtx_val have;
	int cmp;

	if (!s->by.seen)
		return true;
	kept_get(&s->by, type, &have);
	cmp = dtx_val_cmp(type, by, &have);
	if (cmp == 0)
		return pos < s->by.pos;
	return c->kind == DTX_AGG_ARG_MAX ? cmp > 0 : cmp < 0;
}

static enum dtx_code beside_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                                 const struct dtx_aggrows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_val v, by;

	for (uint32_t k = 0; k < r->n; k++) {
		struct beside *s = STATE(struct beside, k);
		uint32_t i = ROW(k);
		uint64_t pos = dtx_batch_pos(r->in, i);

		dtx_val_get(r->col2, i, &by);
		if (!beside_loses(c, s, pos, &by))
			continue;
		dtx_val_get(r->col, i, &v);
		if (!kept_set(&s->value, c->argtype.type, &v, pos) ||
		    !kept_set(&s->by, c->arg2->type.type, &by, pos))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

static enum dtx_code beside_merge(const struct dtx_aggcall *c, void *to, void *from,
                                  struct dtx_err *err)
{
	struct beside *a = to, *b = from, old;
	struct dtx_val by;

	(void)err;
	kept_get(&b->by, c->arg2->type.type, &by);
	if (!by.null && beside_loses(c, a, b->by.pos, &by)) {
		old = *a;
		*a = *b;
		*b = old;
	}
	return DTX_OK;
}

static enum dtx_code beside_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                  struct dtx_val *out, struct dtx_err *err)
{
	(void)run, (void)err;
	kept_get(&((struct beside *)state)->value, c->argtype.type, out);
	return DTX_OK;
}

/* Only members that hold text own memory; the kernel for each pair of types frees exactly those. */
static void beside_free_value(void *state)
{
	kept_free(&((struct beside *)state)->value);
}

static void beside_free_by(void *state)
{
	kept_free(&((struct beside *)state)->by);
}

static void beside_free_both(void *state)
{
	beside_free_value(state);
	beside_free_by(state);
}

static void beside_save(const struct dtx_aggcall *c, const void *state, struct dtx_buf *out)
{
	const struct beside *s = state;

	kept_save(&s->value, c->argtype.type == DTX_T_TEXT, out);
	kept_save(&s->by, c->arg2->type.type == DTX_T_TEXT, out);
}

static bool beside_load(const struct dtx_aggcall *c, void *state, const char **at)
{
	struct beside *s = state;

	return kept_load(&s->value, c->argtype.type == DTX_T_TEXT, at) &&
	       kept_load(&s->by, c->arg2->type.type == DTX_T_TEXT, at);
}

#define BESIDE(NAME, FREES, FREE)                                                                  \
	static const struct dtx_aggkernel NAME = { .size = sizeof(struct beside),                  \
		                                   .frees = (FREES),                               \
		                                   .add = beside_rows,                             \
		                                   .merge = beside_merge,                          \
		                                   .final = beside_final,                          \
		                                   .free = (FREE),                                 \
		                                   .save = beside_save,                            \
		                                   .load = beside_load }
BESIDE(beside_plain, false, NULL);
BESIDE(beside_value, true, beside_free_value);
BESIDE(beside_by, true, beside_free_by);
BESIDE(beside_both, true, beside_free_both);

static const struct dtx_aggkernel *beside_kernel(const struct dtx_aggcall *c)
{
	bool value = c->argtype.type == DTX_T_TEXT, by = c->arg2->type.type == DTX_T_TEXT;

	if (value)
		return by ? &beside_both : &beside_value;
	return by ? &beside_by : &beside_plain;
}

const struct dtx_aggkernel *dtx_aggkernel_extreme(const struct dtx_aggcall *c)
{
	bool most = c->kind == DTX_AGG_MIN || c->kind == DTX_AGG_MAX;

	if (c->kind == DTX_AGG_ARG_MAX || c->kind == DTX_AGG_ARG_MIN)
		return beside_kernel(c);
	if (c->argtype.type == DTX_T_TEXT)
		return &kept_words;
	if (most && (c->argtype.type == DTX_T_INT64 || c->argtype.type == DTX_T_DATETIME))
		return &most_int;
	if (most && c->argtype.type == DTX_T_DATE)
		return &most_day;
	if (most && c->argtype.type == DTX_T_FLOAT64)
		return &most_float;
	return &kept_value;
}
