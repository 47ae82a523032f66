/* Proposes aggregates per group, by comparing what they would give with the wanted rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/suggest/example/reshape.h"
#include "core/base/memory/mem.h"

enum { GROUP_KEYS = 4, GROUP_LOOKS = 20000000 /* most cells to look at */ };

struct groups {
	struct dtx_reshape *s;
	uint32_t key[GROUP_KEYS], want_key[GROUP_KEYS];
	size_t nkeys;
	/* for each row of have, the wanted row of its group; -1: not in the example */
	int64_t *row_of;
};

enum group_fn { GROUP_SUM, GROUP_MEAN, GROUP_MIN, GROUP_MAX, GROUP_COUNT, GROUP_FNS };
static const char *const group_fn[] = { "sum", "mean", "min", "max", "count" };

static bool groups_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Finds the wanted row that a row of have belongs to. */
static int64_t groups_find(const struct groups *g, int64_t r)
{
	const struct dtx_reshape *s = g->s;
	int64_t w;
	size_t k;

	for (w = 0; w < s->want->nrows; w++) {
		for (k = 0; k < g->nkeys; k++) {
			if (!groups_same(dtx_textgrid_at(s->have, r, g->key[k]),
			                 dtx_textgrid_at(s->want, w, g->want_key[k])))
				break;
		}
		if (k == g->nkeys)
			return w;
	}
	return -1;
}

/* Assigns rows to groups; returns false if a wanted row has no group. */
static bool groups_assign(struct groups *g)
{
	int64_t r, w, n = 0;
	bool *seen = dtx_mem_zalloc((size_t)g->s->want->nrows + 1, sizeof(*seen));

	g->row_of = dtx_mem_zalloc((size_t)g->s->have->nrows + 1, sizeof(*g->row_of));
	g->s->failed |= !seen || !g->row_of;
	for (r = 0; !g->s->failed && r < g->s->have->nrows; r++) {
		g->row_of[r] = groups_find(g, r);
		if (g->row_of[r] >= 0 && !seen[g->row_of[r]]) {
			seen[g->row_of[r]] = true;
			n++;
		}
	}
	w = g->s->want->nrows;
	dtx_mem_free(seen);
	return !g->s->failed && n == w;
}

/* Compares one aggregate of all groups with the column; *digits is the rounding, -1 for none. */
static bool groups_fit(const struct groups *g, enum group_fn fn, uint32_t col, uint32_t at,
                       int *digits)
{
	const struct dtx_reshape *s = g->s;
	struct tally {
		double sum, min, max, n;
	} *t = dtx_mem_zalloc((size_t)s->want->nrows + 1, sizeof(*t));
	bool fits = t != NULL;
	int64_t r;
	double x = 0;

	*digits = -1;
	for (r = 0; fits && r < s->have->nrows; r++) {
		const char *text = fn == GROUP_COUNT ? "0" : dtx_textgrid_at(s->have, r, col);
		struct tally *one = &t[DTX_MAX(g->row_of[r], (int64_t)0)];

		if (g->row_of[r] < 0 || !text)
			continue;
		fits = dtx_textgrid_number(text, &x);
		one->min = one->n > 0 ? DTX_MIN(one->min, x) : x;
		one->max = one->n > 0 ? DTX_MAX(one->max, x) : x;
		one->sum += x;
		one->n++;
	}
	g->s->looked += r;
	for (r = 0; fits && r < s->want->nrows; r++) {
		const double value[] = { t[r].sum, t[r].n > 0 ? t[r].sum / t[r].n : NAN, t[r].min,
			                 t[r].max, t[r].n };

		fits = dtx_textgrid_rounded(value[fn], dtx_textgrid_at(s->want, r, at), digits);
	}
	dtx_mem_free(t);
	return fits;
}

static json_t *groups_expr(const struct groups *g, enum group_fn fn, uint32_t col, int digits)
{
	struct dtx_buf expr = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *out;

	dtx_buf_printf(&expr, "%s%s(", digits >= 0 ? "round(" : "", group_fn[fn]);
	if (fn != GROUP_COUNT)
		dtx_reshape_name(&expr, g->s->have->name[col]);
	dtx_buf_addc(&expr, ')');
	if (digits >= 0)
		dtx_buf_printf(&expr, ", %d)", digits);
	out = json_string(dtx_buf_text(&expr));
	dtx_buf_clear(&expr);
	return out;
}

/* Finds the aggregate that gives a wanted column; prefers the column with the same name. */
static json_t *groups_column(const struct groups *g, uint32_t at)
{
	const struct dtx_reshape *s = g->s;
	int32_t named = dtx_textgrid_find(s->have, s->want->name[at]);
	int digits;

	for (int pass = named >= 0 ? 0 : 1; pass < 2; pass++)
		for (int fn = 0; fn < GROUP_FNS; fn++)
			for (uint32_t c = 0; c < s->have->ncols; c++) {
				if (!pass && c != (uint32_t)named)
					continue;
				if (g->s->looked > GROUP_LOOKS)
					return NULL;
				if (groups_fit(g, (enum group_fn)fn, c, at, &digits))
					return groups_expr(g, (enum group_fn)fn, c, digits);
				if (fn == GROUP_COUNT)
					break;
			}
	return NULL;
}

static bool groups_is_key(const struct groups *g, uint32_t at)
{
	for (size_t k = 0; k < g->nkeys; k++) {
		if (g->want_key[k] == at)
			return true;
	}
	return false;
}

static void groups_step(struct groups *g)
{
	struct dtx_reshape *s = g->s;
	json_t *by = json_array(), *agg = json_object();
	bool all = groups_assign(g);
	uint32_t c;

	for (size_t k = 0; k < g->nkeys; k++)
		(void)json_array_append_new(by, json_string(s->have->name[g->key[k]]));
	for (c = 0; c < s->want->ncols && all; c++) {
		json_t *expr = groups_is_key(g, c) ? NULL : groups_column(g, c);

		all = groups_is_key(g, c) || expr;
		if (expr)
			(void)json_object_set_new(agg, s->want->name[c], expr);
	}
	if (all && json_object_size(agg))
		dtx_reshape_add(s, json_pack("{ss sO sO}", "op", "group_by", "by", by, "agg", agg));
	json_decref(by);
	json_decref(agg);
	dtx_mem_free(g->row_of);
}

/* Whether all values of the wanted column exist already. */
static bool groups_known(const struct dtx_reshape *s, uint32_t have, uint32_t want, bool *number)
{
	int64_t r, k;
	double x;

	*number = true;
	for (r = 0; r < s->want->nrows; r++) {
		const char *text = dtx_textgrid_at(s->want, r, want);

		*number = *number && dtx_textgrid_number(text, &x);
		for (k = 0; k < s->have->nrows; k++) {
			if (groups_same(text, dtx_textgrid_at(s->have, k, have)))
				break;
		}
		if (k == s->have->nrows)
			return false;
	}
	return true;
}

void dtx_reshape_groups(struct dtx_reshape *s)
{
	struct groups all = { .s = s }, texts = { .s = s };
	uint32_t c;
	bool number;

	if (s->want->nrows >= s->have->nrows || !s->want->nrows ||
	    s->want->nrows * s->have->nrows > DTX_TEXTGRID_CELLS / 4)
		return;
	for (c = 0; c < s->want->ncols; c++) {
		int32_t at = dtx_textgrid_find(s->have, s->want->name[c]);

		if (at < 0 || !groups_known(s, (uint32_t)at, c, &number))
			continue;
		for (struct groups *g = &all;; g = &texts) {
			if ((g == &all || !number) && g->nkeys < GROUP_KEYS) {
				g->want_key[g->nkeys] = c;
				g->key[g->nkeys++] = (uint32_t)at;
			}
			if (g == &texts)
				break;
		}
	}
	groups_step(&texts);
	if (all.nkeys != texts.nkeys)
		groups_step(&all);
}
