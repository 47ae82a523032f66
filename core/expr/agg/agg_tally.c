/* Aggregates that count how often each value occurs: mode, quantile_disc. */
#include "core/expr/agg/aggcall.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/base/strmap.h"

#define STATE(type, k) ((type *)(void *)(states + (size_t)r->group[k] * stride))
#define ROW(k)         (r->row ? r->row[k] : (k))

struct occurs {
	uint64_t n, pos; /* number of occurrences; position of the first */
};
struct tally {                  /* all zero: empty */
	struct dtx_strmap *map; /* from value to its index in `item` */
	struct occurs *item;
	size_t cap;
	uint64_t total;
};

static bool tally_add(struct tally *s, struct dtx_str key, uint64_t n, uint64_t pos)
{
	uint32_t at, had;

	if (!s->map)
		s->map = dtx_mem_zalloc(1, sizeof(*s->map));
	if (!s->map || !dtx_mem_reserve(&s->item, &s->cap, s->map->n + 1, sizeof(*s->item)))
		return false;
	had = (uint32_t)s->map->n;
	if (!dtx_strmap_put(s->map, key, had, &at))
		return false;
	if (at == had)
		s->item[at] = (struct occurs){ 0, pos };
	s->item[at].n += n;
	s->item[at].pos = DTX_MIN(s->item[at].pos, pos);
	s->total += n;
	return true;
}

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
		uint32_t i = ROW(k);

		memset(&v, 0, sizeof(v));
		dtx_val_get(r->col, i, &v);
		if (!tally_add(STATE(struct tally, k), key_of(c->argtype.type, &v), 1,
		               dtx_batch_pos(r->in, i)))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

static void tally_free(void *state)
{
	struct tally *s = state;

	if (s->map)
		dtx_strmap_clear(s->map);
	dtx_mem_free(s->map);
	dtx_mem_free(s->item);
	memset(s, 0, sizeof(*s));
}

static enum dtx_code tally_merge(const struct dtx_aggcall *c, void *to, void *from,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct tally *a = to, *b = from, old;

	(void)c;
	if (!a->map) {
		old = *a;
		*a = *b;
		*b = old;
	}
	for (size_t i = 0; b->map && i < b->map->n; i++)
		if (!tally_add(a, b->map->entry[i].key, b->item[i].n, b->item[i].pos))
			DTX_FAIL_MEM(err);
	tally_free(b);
out:
	return rc;
}

static size_t most_frequent(const struct tally *s)
{
	size_t best = 0;

	for (size_t i = 1; i < s->map->n; i++) {
		const struct occurs *a = &s->item[i], *b = &s->item[best];

		if (a->n > b->n || (a->n == b->n && a->pos < b->pos))
			best = i;
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
	struct sorted *list = dtx_mem_alloc(s->map->n, sizeof(*list));
	double want = ceil(p * (double)s->total), have = 0;
	size_t i;

	if (!list)
		return false;
	for (i = 0; i < s->map->n; i++) {
		value_of(type, s->map->entry[i].key, &list[i].v);
		list[i].n = s->item[i].n;
	}
	qsort_r(list, s->map->n, sizeof(*list), cmp_sorted, &type);
	for (i = 0; i + 1 < s->map->n; i++) {
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
		value_of(type, s->map->entry[most_frequent(s)].key, out);
	else if (!quantile(s, type, c->p, out))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static const struct dtx_aggkernel tally = { .size = sizeof(struct tally),
	                                    .frees = true,
	                                    .grows = true,
	                                    .add = tally_rows,
	                                    .merge = tally_merge,
	                                    .final = tally_final,
	                                    .free = tally_free };

const struct dtx_aggkernel *dtx_aggkernel_tally(const struct dtx_aggcall *c)
{
	(void)c;
	return &tally;
}
