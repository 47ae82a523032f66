/* Keeps the rows of a table sorted by time within each key and finds the nearest: see asof.h.
 *
 * The entries of all keys are in one array, in the order of the join table's rows, and each key's
 * range is sorted separately.  A lookup is a few binary searches in the range of its key. */
#include "ops/join/asof.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/thread/cancel.h"
#include "core/base/text/num.h"
#include "core/data/time/time.h"

static int num_cmp(struct dtx_asof_num a, struct dtx_asof_num b, bool floats)
{
	if (floats)
		return a.f < b.f ? -1 : a.f > b.f;
	return a.i < b.i ? -1 : a.i > b.i;
}

bool dtx_asof_at(const struct dtx_asof_rule *rule, const struct dtx_column *c, uint32_t row,
                 struct dtx_asof_num *at)
{
	*at = (struct dtx_asof_num){ 0, 0 };
	if (dtx_column_is_null(c, row))
		return false;
	switch (c->type.type) {
	case DTX_T_FLOAT64: at->f = c->v.f64[row]; return true;
	case DTX_T_DATE: at->i = (int64_t)c->v.day[row] * DTX_DAY_US; return true;
	case DTX_T_INT64:
		at->i = c->v.i64[row];
		at->f = (double)at->i;
		return !rule->times;
	case DTX_T_DATETIME: at->i = c->v.i64[row]; return true;
	default: return false;
	}
}

/* --- building --- */

static int float_cmp(const void *a, const void *b)
{
	return num_cmp(((const struct dtx_asof_entry *)a)->at,
	               ((const struct dtx_asof_entry *)b)->at, true);
}

static int int_cmp(const void *a, const void *b)
{
	return num_cmp(((const struct dtx_asof_entry *)a)->at,
	               ((const struct dtx_asof_entry *)b)->at, false);
}

/* Rows with equal times stay in table order, which qsort alone does not guarantee. */
static int ref_order(const void *a, const void *b, int (*cmp)(const void *, const void *))
{
	const struct dtx_rowref x = ((const struct dtx_asof_entry *)a)->ref;
	const struct dtx_rowref y = ((const struct dtx_asof_entry *)b)->ref;
	int c = cmp(a, b);

	if (c)
		return c;
	if (x.batch != y.batch)
		return x.batch < y.batch ? -1 : 1;
	return x.row < y.row ? -1 : x.row > y.row;
}

static int float_order(const void *a, const void *b)
{
	return ref_order(a, b, float_cmp);
}

static int int_order(const void *a, const void *b)
{
	return ref_order(a, b, int_cmp);
}

static void fill_key(struct dtx_asof *a, const struct dtx_asof_rule *rule,
                     struct dtx_column *const *place, uint32_t id)
{
	const struct dtx_join_table *t = a->table;
	uint32_t first = dtx_join_start(t, id);
	struct dtx_asof_entry *e = a->entry + first;

	for (uint32_t i = 0; i < dtx_join_matches(t, id); i++) {
		struct dtx_rowref ref = t->ref[first + i];

		e[a->n[id]].ref = ref;
		if (dtx_asof_at(rule, place[ref.batch], ref.row, &e[a->n[id]].at))
			a->n[id]++;
	}
	qsort(e, a->n[id], sizeof(*e), rule->floats ? float_order : int_order);
}

void dtx_asof_free(struct dtx_asof *a)
{
	if (!a)
		return;
	dtx_join_free(a->table);
	dtx_mem_free(a->entry);
	dtx_mem_free(a->n);
	dtx_mem_free(a);
}

enum dtx_code dtx_asof_new(struct dtx_join_table *t, const struct dtx_asof_rule *rule, uint32_t col,
                           struct dtx_asof **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_asof *a = dtx_mem_zalloc(1, sizeof(*a));
	size_t batches = t->kept.n;
	struct dtx_column **place = dtx_mem_zalloc(batches + 1, sizeof(struct dtx_column *));

	if (!a || !place) {
		dtx_join_free(t);
		DTX_FAIL_MEM(err);
	}
	a->table = t;
	a->entry = dtx_mem_alloc((size_t)t->nrows + 1, sizeof(*a->entry));
	a->n = dtx_mem_zalloc((size_t)t->nkeys + 1, sizeof(*a->n));
	if (!a->entry || !a->n)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < batches; i++)
		DTX_TRY(dtx_batch_flat(t->kept.batch[i], col, &place[i], err));
	for (uint32_t id = 0; id < t->nkeys; id++) {
		DTX_TRY(dtx_cancel_line(id, err)); /* each key has its own rows to sort */
		fill_key(a, rule, place, id);
	}
	*out = a;
	a = NULL;
out:
	for (size_t i = 0; place && i < batches; i++)
		dtx_column_unref(place[i]);
	dtx_mem_free(place);
	dtx_asof_free(a);
	return rc;
}

/* --- finding --- */

/* The number of entries before a place; `with`: including those at the place. */
static uint32_t before(const struct dtx_asof_entry *e, uint32_t n, struct dtx_asof_num at,
                       bool with, bool floats)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		int c = num_cmp(e[mid].at, at, floats);

		if (c < 0 || (c == 0 && with))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int gap_cmp(struct dtx_asof_num a, struct dtx_asof_num b, struct dtx_asof_num at,
                   bool floats)
{
	dtx_i128 x, y;

	if (floats) {
		double u = fabs(a.f - at.f), v = fabs(b.f - at.f);

		return u < v ? -1 : u > v;
	}
	x = (dtx_i128)a.i - at.i;
	y = (dtx_i128)b.i - at.i;
	x = x < 0 ? -x : x;
	y = y < 0 ? -y : y;
	return x < y ? -1 : x > y;
}

static bool too_far(const struct dtx_asof_rule *rule, struct dtx_asof_num a, struct dtx_asof_num at)
{
	dtx_i128 gap = (dtx_i128)a.i - at.i;

	if (!rule->bounded)
		return false;
	if (rule->floats)
		return fabs(a.f - at.f) > rule->tolerance.f;
	return (gap < 0 ? -gap : gap) > rule->tolerance.i;
}

const struct dtx_rowref *dtx_asof_find(const struct dtx_asof *a, const struct dtx_asof_rule *rule,
                                       uint32_t id, struct dtx_asof_num at)
{
	const struct dtx_asof_entry *e = a->entry + dtx_join_start(a->table, id);
	const struct dtx_asof_entry *back = NULL, *next = NULL;
	uint32_t n = a->n[id], i;

	i = before(e, n, at, rule->exact, rule->floats);
	if (i > 0)
		back = &e[i - 1];
	i = before(e, n, at, !rule->exact, rule->floats);
	if (i < n) /* of entries with equal places the last one counts */
		next = &e[before(e, n, e[i].at, true, rule->floats) - 1];
	if (rule->dir == DTX_ASOF_FORWARD || !back)
		back = rule->dir == DTX_ASOF_BACKWARD ? NULL : next;
	else if (rule->dir == DTX_ASOF_NEAREST && next &&
	         gap_cmp(next->at, back->at, at, rule->floats) < 0)
		back = next;
	return back && !too_far(rule, back->at, at) ? &back->ref : NULL;
}

bool dtx_asof_duration(struct dtx_str text, int64_t *us)
{
	static const struct {
		const char *unit;
		int64_t us;
	} units[] = { { "min", 60000000 },
		      { "s", 1000000 },
		      { "h", 3600000000 },
		      { "d", DTX_DAY_US },
		      { "w", 7 * DTX_DAY_US } };

	for (size_t i = 0; i < DTX_COUNT(units); i++) {
		struct dtx_str unit = dtx_str_of(units[i].unit);
		int64_t n;

		if (!dtx_str_ends(text, unit))
			continue;
		return dtx_num_parse_i64(text.ptr, text.len - unit.len, &n) && n >= 0 &&
		       !__builtin_mul_overflow(n, units[i].us, us);
	}
	return false;
}
