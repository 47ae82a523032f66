/* Window frames by range: see rangeframe.h. */
#include "ops/window/rangeframe.h"

#include <math.h>

/* --- binding --- */

static struct dtx_typeref key_type(const struct dtx_bind *b, const struct dtx_orderkeys *order)
{
	if (order->bound[0])
		return dtx_bound_type(order->bound[0]);
	if (order->col[0] >= 0)
		return b->in[0]->field[order->col[0]].type;
	return (struct dtx_typeref){ .type = DTX_T_UNKNOWN };
}

/* "-7d", "0d", "2mo". */
static bool read_span(const char *text, struct dtx_rangeedge *e)
{
	struct dtx_duration d;
	char one[24];
	bool back = *text == '-';
	size_t zeros;

	text += back;
	zeros = strspn(text, "0");
	if (zeros && (text[zeros] < '1' || text[zeros] > '9')) { /* zero of any unit, or none */
		snprintf(one, sizeof(one), "1%.16s", text + zeros);
		if (!dtx_duration_parse(one, &d))
			return false;
		e->unit = d.unit;
		return true;
	}
	if (!dtx_duration_parse(text, &d))
		return false;
	e->steps = back ? -d.n : d.n;
	e->unit = d.unit;
	return true;
}

static enum dtx_code bind_edge(struct dtx_bind *b, const struct dtx_winedge *e,
                               struct dtx_typeref key, const char *sub, struct dtx_rangeedge *out,
                               struct dtx_err *err)
{
	bool time = key.type == DTX_T_DATE || key.type == DTX_T_DATETIME;
	bool number = key.type == DTX_T_INT64 || key.type == DTX_T_FLOAT64;

	*out = (struct dtx_rangeedge){ .open = e->open, .units = e->units };
	if (e->open)
		return DTX_OK;
	if (e->span && !read_span(e->span, out))
		return dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, sub, err,
		                     "'%s' is not a duration: a number and a unit, as in -7d, 0d, "
		                     "30min or -1mo",
		                     e->span);
	if (key.type == DTX_T_UNKNOWN || key.type == DTX_T_NULL || (e->span ? time : number))
		return DTX_OK;
	if (time || number)
		return dtx_bind_fail(b, DTX_E_TYPE_MISMATCH, sub, err,
		                     "the order is of %s: the frame needs %s",
		                     dtx_type_name(key.type),
		                     time ? "durations, such as -7d" : "numbers, not durations");
	return dtx_bind_fail_next(b, DTX_E_TYPE_MISMATCH, sub,
	                          "cast the order key in a step before, or use a frame by rows",
	                          err,
	                          "a frame by range needs an order of dates, datetimes, ints or "
	                          "floats, this one is of %s",
	                          dtx_type_name(key.type));
}

enum dtx_code dtx_rangeframe_bind(struct dtx_bind *b, const struct dtx_row_frame *frame,
                                  const struct dtx_orderkeys *order, const char *sub,
                                  struct dtx_rangeframe *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	out->set = frame->range;
	if (!frame->range || b->broken)
		return DTX_OK;
	if (order->n != 1)
		return dtx_bind_fail(b, order->n ? DTX_E_BAD_PARAM_VALUE : DTX_E_ORDER_REQUIRED,
		                     sub, err, "a frame by range needs one order key, there are %u",
		                     order->n);
	DTX_TRY(bind_edge(b, &frame->from, key_type(b, order), sub, &out->from, err));
	DTX_TRY(bind_edge(b, &frame->to, key_type(b, order), sub, &out->to, err));
out:
	return rc;
}

/* --- keys --- */

void dtx_rangekeys_close(struct dtx_rangekeys *k)
{
	dtx_mem_free(k->i);
	dtx_mem_free(k->f);
	dtx_mem_free(k->null);
	*k = (struct dtx_rangekeys)DTX_RANGEKEYS_INIT;
}

static void add_keys(struct dtx_rangekeys *k, const struct dtx_column *c, uint32_t first)
{
	for (uint32_t i = 0; i < c->len; i++) {
		k->null[first + i] = dtx_column_is_null(c, i);
		if (k->null[first + i])
			continue;
		switch (c->type.type) {
		case DTX_T_DATE: k->i[first + i] = c->v.day[i] * DTX_DAY_US; break;
		case DTX_T_FLOAT64: k->f[first + i] = c->v.f64[i]; break;
		default: k->i[first + i] = c->v.i64[i]; break;
		}
	}
	k->time = c->type.type == DTX_T_DATE || c->type.type == DTX_T_DATETIME;
}

enum dtx_code dtx_rangekeys_open(struct dtx_rangekeys *k, const struct dtx_opctx *ox,
                                 const struct dtx_orderkeys *order, struct dtx_table *t,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *key = NULL;
	size_t n = (size_t)t->nrows + 1;
	uint32_t first = 0;

	k->desc = order->order[0].desc;
	k->i = dtx_mem_alloc(n, sizeof(*k->i));
	k->f = dtx_mem_alloc(n, sizeof(*k->f));
	k->null = dtx_mem_alloc(n, sizeof(*k->null));
	if (!k->i || !k->f || !k->null)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < t->nbatches; i++) {
		struct dtx_column *flat = NULL;

		DTX_TRY(dtx_orderkeys_eval(ox, order, t->batch[i], &key, err));
		DTX_TRY(dtx_column_flat(key, &flat, err));
		if (flat->type.type != DTX_T_FLOAT64) {
			dtx_mem_free(k->f);
			k->f = NULL;
		}
		add_keys(k, flat, first);
		first += flat->len;
		dtx_column_unref(flat);
		dtx_column_unref(key);
		key = NULL;
	}
out:
	dtx_column_unref(key);
	return rc;
}

/* --- places --- */

/* The key at the edge's distance from the key of a row, along the order.  Beyond the range of keys
 * it is the last possible key. */
static int64_t int_edge(const struct dtx_rangekeys *k, const struct dtx_rangeedge *e, uint32_t row)
{
	int64_t steps = k->time ? e->steps : (int64_t)floor(e->units), at;

	steps = k->desc ? -steps : steps;
	if (k->time ? dtx_time_add(k->i[row], steps, e->unit, &at)
	            : !__builtin_add_overflow(k->i[row], steps, &at))
		return at;
	return steps < 0 ? INT64_MIN : INT64_MAX;
}

/* Whether the key of `row` is past the edge. */
static bool is_behind(const struct dtx_rangekeys *k, uint32_t row, int64_t i, double f)
{
	if (k->f)
		return k->desc ? k->f[row] < f : k->f[row] > f;
	return k->desc ? k->i[row] < i : k->i[row] > i;
}

/* The first place in [from, to), which is sorted and without nulls, whose key is past the edge. */
static uint32_t first_behind(const struct dtx_rangekeys *k, const struct dtx_rangeedge *e,
                             const uint32_t *order, uint32_t from, uint32_t to, uint32_t row)
{
	int64_t i = k->f ? 0 : int_edge(k, e, row);
	double f = k->f ? k->f[row] + (k->desc ? -e->units : e->units) : 0;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (is_behind(k, order[mid], i, f))
			to = mid;
		else
			from = mid + 1;
	}
	return from;
}

void dtx_rangeframe_places(const struct dtx_rangeframe *f, const struct dtx_rangekeys *k,
                           const struct dtx_winrows *rows, uint32_t *lo, uint32_t *hi)
{
	const uint32_t *order = rows->order;

	for (uint32_t p = 0; p < rows->nparts; p++) {
		uint32_t from = rows->start[p], to = rows->start[p + 1];

		for (; from < to && k->null[order[from]]; from++)
			lo[from] = hi[from] = from;
		for (; from < to && k->null[order[to - 1]]; to--)
			lo[to - 1] = hi[to - 1] = to - 1;
		for (uint32_t at = from; at < to; at++) {
			uint32_t row = order[at];

			lo[at] = f->from.open ? from
			                      : first_behind(k, &f->from, order, from, to, row);
			hi[at] = f->to.open ? to : first_behind(k, &f->to, order, from, to, row);
			hi[at] = hi[at] < lo[at] ? lo[at] : hi[at];
		}
	}
}
