/* Aggregates that count how often each value occurs: mode, quantile_disc. */
#include "core/expr/agg/aggcall.h"

#include <stdlib.h>

#include "core/base/memory/mem.h"
#include "core/expr/agg/aggkeys.h"
#include "core/expr/agg/aggsave.h"

#define STATE(type, k) ((type *)(void *)(states + (size_t)r->group[k] * stride))
#define ROW(k)         (r->row ? r->row[k] : (k))

struct tally {                   /* all zero: empty */
	struct dtx_aggkeys keys; /* n: how often it occurs; pos: where it does first */
	uint64_t total;
};

/* The key of a value: a text itself, else the bytes of the value. */
static struct dtx_str key_of(enum dtx_type type, const struct dtx_val *v)
{
	return type == DTX_T_TEXT ? v->u.s : (struct dtx_str){ (const char *)&v->u, sizeof(v->u) };
}

static void value_of(enum dtx_type type, struct dtx_str key, struct dtx_val *out)
{
	out->null = false;
	if (type == DTX_T_TEXT)
		out->u.s = key;
	else
		memcpy(&out->u, key.ptr, sizeof(out->u));
}

static enum dtx_code tally_rows(const struct dtx_aggcall *c, char *states, size_t stride,
                                const struct dtx_aggrows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_val v;

	for (uint32_t k = 0; k < r->n; k++) {
		struct tally *s = STATE(struct tally, k);
		struct dtx_aggkey *key;
		uint32_t i = ROW(k);

		memset(&v, 0, sizeof(v));
		dtx_val_get(r->col, i, &v);
		key = dtx_aggkeys_add(&s->keys, key_of(c->argtype.type, &v), r->pool);
		if (!key)
			DTX_FAIL_MEM(err);
		key->n++;
		key->pos = DTX_MIN(key->pos, dtx_batch_pos(r->in, i));
		s->total++;
	}
out:
	return rc;
}

static void tally_free(void *state)
{
	struct tally *s = state;

	dtx_aggkeys_free(&s->keys);
	s->total = 0;
}

static enum dtx_code tally_merge(const struct dtx_aggcall *c, void *to, void *from,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct tally *a = to, *b = from;

	(void)c;
	if (!dtx_aggkeys_merge(&a->keys, &b->keys))
		DTX_FAIL_MEM(err);
	a->total += b->total;
	b->total = 0;
out:
	return rc;
}

static struct dtx_str text_of(const struct dtx_aggkey *k)
{
	return (struct dtx_str){ k->ptr, k->len };
}

static const struct dtx_aggkey *most_frequent(const struct dtx_aggkeys *s)
{
	const struct dtx_aggkey *best = NULL;

	for (uint32_t i = 0; i < s->cap; i++) {
		const struct dtx_aggkey *k = &s->slot[i];

		if (k->ptr && (!best || k->n > best->n || (k->n == best->n && k->pos < best->pos)))
			best = k;
	}
	return best;
}

struct sorted {
	struct dtx_val v;
	uint64_t n;
};

static int cmp_sorted(const void *a, const void *b, void *type)
{
	return dtx_val_cmp(*(enum dtx_type *)type, &((const struct sorted *)a)->v,
	                   &((const struct sorted *)b)->v);
}

/* The smallest value such that at least a share p of all values is not larger. */
static bool quantile(const struct tally *s, enum dtx_type type, double p, struct dtx_val *out)
{
	struct sorted *list = dtx_mem_alloc(s->keys.n, sizeof(*list));
	double want = ceil(p * (double)s->total), have = 0;
	uint32_t n = 0, i;

	if (!list)
		return false;
	for (i = 0; i < s->keys.cap; i++) {
		if (!s->keys.slot[i].ptr)
			continue;
		value_of(type, text_of(&s->keys.slot[i]), &list[n].v);
		list[n++].n = s->keys.slot[i].n;
	}
	qsort_r(list, n, sizeof(*list), cmp_sorted, &type);
	for (i = 0; i + 1 < n; i++) {
		have += (double)list[i].n;
		if (have >= want)
			break;
	}
	*out = list[i].v;
	dtx_mem_free(list);
	return true;
}

static enum dtx_code tally_final(const struct dtx_aggcall *c, void *state, struct dtx_fnrun *run,
                                 struct dtx_val *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct tally *s = state;
	enum dtx_type type = c->argtype.type;

	(void)run;
	out->null = s->total == 0;
	if (out->null)
		return DTX_OK;
	if (c->kind == DTX_AGG_MODE)
		value_of(type, text_of(most_frequent(&s->keys)), out);
	else if (!quantile(s, type, c->p, out))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static void tally_save(const struct dtx_aggcall *c, const void *state, struct dtx_buf *out)
{
	const struct tally *s = state;

	(void)c;
	dtx_aggkeys_save(&s->keys, out);
	dtx_word_save(s->total, out);
}

static bool tally_load(const struct dtx_aggcall *c, void *state, const char **at)
{
	struct tally *s = state;

	(void)c;
	if (!dtx_aggkeys_load(&s->keys, at))
		return false;
	s->total = dtx_word_load(at);
	return true;
}

static const struct dtx_aggkernel tally = { .size = sizeof(struct tally),
	                                    .frees = true,
	                                    .grows = true,
	                                    .add = tally_rows,
	                                    .merge = tally_merge,
	                                    .final = tally_final,
	                                    .free = tally_free,
	                                    .save = tally_save,
	                                    .load = tally_load };

const struct dtx_aggkernel *dtx_aggkernel_tally(const struct dtx_aggcall *c)
{
	(void)c;
	return &tally;
}
