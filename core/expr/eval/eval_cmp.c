/* Comparison and `in`.
 *
 * A comparison has one of three outcomes: less, equal, greater.  Each operator is the set of
 * outcomes that make it true, as three bits, so one loop per type serves all six operators and
 * tests the outcome with a shift instead of a branch. */
#include "core/expr/bound.h"

#include "core/base/memory/mem.h"
#include "core/data/cast/cast.h"
#include "core/data/cast/decimal.h"

/* For each operator the outcomes of a comparison that make it true, as bits: -1, 0, 1. */
static const unsigned outcomes[] = { 2, 5, 1, 3, 4, 6 };

#define CMP3(x, y)  ((unsigned)(((x) > (y)) - ((x) < (y)) + 1))
#define PUT(i, yes) (bits[(i) >> 6] |= (uint64_t)(yes) << ((i)&63))
#define CMP_LOOP(type, px, py)                                                                     \
	do {                                                                                       \
		const type *u = (px);                                                              \
		const type *v = (py);                                                              \
                                                                                                   \
		DTX_ROWS(ev, i, { PUT(i, mask >> CMP3(u[i & mx], v[i & my]) & 1); });              \
	} while (0)

/* --- two columns of values --- */

static void cmp_text(const struct dtx_ev *ev, unsigned mask, const struct dtx_column *x,
                     const struct dtx_column *y, uint64_t *bits)
{
	bool equality = mask == 2 || mask == 5;
	uint32_t mx = dtx_col_mask(x), my = dtx_col_mask(y);

	if (equality && x->form != DTX_F_DICT && y->form != DTX_F_DICT) {
		DTX_ROWS(ev, i, {
			PUT(i, dtx_text_eq(&x->v.text[i & mx], &y->v.text[i & my]) == (mask == 2));
		});
		return;
	}
	DTX_ROWS(ev, i, {
		int c;

		if (dtx_column_is_null(x, i) || dtx_column_is_null(y, i))
			continue;
		c = dtx_str_cmp(dtx_column_text(x, i), dtx_column_text(y, i));
		PUT(i, mask >> CMP3(c, 0) & 1);
	});
}

static void cmp_mixed(const struct dtx_ev *ev, unsigned mask, const struct dtx_column *x,
                      const struct dtx_column *y, uint64_t *bits)
{
	bool swapped = x->type.type == DTX_T_FLOAT64;
	const struct dtx_column *ints = swapped ? y : x, *floats = swapped ? x : y;

	DTX_ROWS(ev, i, {
		int c = dtx_cmp_i64_f64(ints->v.i64[i & dtx_col_mask(ints)],
		                        floats->v.f64[i & dtx_col_mask(floats)]);

		PUT(i, mask >> CMP3(swapped ? -c : c, 0) & 1);
	});
}

static void cmp_decimal(const struct dtx_ev *ev, unsigned mask, const struct dtx_column *x,
                        const struct dtx_column *y, uint64_t *bits)
{
	DTX_ROWS(ev, i, {
		int c = dtx_cmp_dec(dtx_dec_get(x->v.dec[i & dtx_col_mask(x)]), x->type.scale,
		                    dtx_dec_get(y->v.dec[i & dtx_col_mask(y)]), y->type.scale);

		PUT(i, mask >> CMP3(c, 0) & 1);
	});
}

static void cmp_bool(const struct dtx_ev *ev, unsigned mask, const struct dtx_column *x,
                     const struct dtx_column *y, uint64_t *bits)
{
	uint32_t mx = dtx_col_mask(x), my = dtx_col_mask(y);

	DTX_ROWS(ev, i, {
		PUT(i, mask >> CMP3(dtx_bit(x->v.bits, i & mx), dtx_bit(y->v.bits, i & my)) & 1);
	});
}

static void cmp_values(const struct dtx_ev *ev, int op, const struct dtx_column *x,
                       const struct dtx_column *y, uint64_t *bits)
{
	unsigned mask = outcomes[op];
	uint32_t mx = dtx_col_mask(x), my = dtx_col_mask(y);

	if (x->type.type != y->type.type) {
		cmp_mixed(ev, mask, x, y, bits);
		return;
	}
	switch (x->type.type) {
	case DTX_T_BOOL: cmp_bool(ev, mask, x, y, bits); break;
	case DTX_T_INT64:
	case DTX_T_DATETIME: CMP_LOOP(int64_t, x->v.i64, y->v.i64); break;
	case DTX_T_FLOAT64: CMP_LOOP(double, x->v.f64, y->v.f64); break;
	case DTX_T_DATE: CMP_LOOP(int32_t, x->v.day, y->v.day); break;
	case DTX_T_DECIMAL: cmp_decimal(ev, mask, x, y, bits); break;
	case DTX_T_TEXT: cmp_text(ev, mask, x, y, bits); break;
	case DTX_T_UNKNOWN:
	case DTX_T_NULL: break;
	}
}

/* --- a text column compared with one text, without a typed twin --- */

static enum dtx_code cmp_span(struct dtx_ev *ev, unsigned mask, const struct dtx_column *x,
                              struct dtx_str want, struct dtx_vec *vec)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf scratch = DTX_BUF_INIT(SIZE_MAX / 2);
	uint64_t *bits = vec->v;
	bool equality = mask == 2 || mask == 5;

	DTX_ROWS(ev, i, {
		struct dtx_span s = x->v.span[i];
		struct dtx_str have = { x->base + s.off, s.len & DTX_SPAN_LEN };

		if (s.len == 0) {
			dtx_vec_null(vec, i);
			continue;
		}
		if (s.len & DTX_SPAN_QUOTED) {
			dtx_buf_reset(&scratch);
			have = dtx_cast_source(x, i, &scratch);
		}
		if (equality)
			PUT(i, dtx_str_eq(have, want) == (mask == 2));
		else
			PUT(i, mask >> CMP3(dtx_str_cmp(have, want), 0) & 1);
	});
	rc = dtx_buf_check(&scratch, "quoted cell", ev->err);
	dtx_buf_clear(&scratch);
	return rc;
}

static void cmp_dict(struct dtx_ev *ev, unsigned mask, const struct dtx_column *x,
                     const uint8_t *code_yes, uint64_t *bits)
{
	(void)mask;
	DTX_ROWS(ev, i, {
		if (!x->valid || dtx_bit(x->valid, i))
			PUT(i, code_yes[x->v.code[i]]);
	});
}

static enum dtx_code cmp_dict_text(struct dtx_ev *ev, unsigned mask, const struct dtx_column *x,
                                   struct dtx_str want, struct dtx_vec *vec)
{
	enum dtx_code rc = DTX_OK;
	uint8_t *yes = dtx_mem_alloc((size_t)x->dict->len + 1, 1);
	uint32_t k;

	if (!yes)
		DTX_FAIL_MEM(ev->err);
	for (k = 0; k < x->dict->len; k++)
		yes[k] = mask >> CMP3(dtx_str_cmp(dtx_column_text(x->dict, k), want), 0) & 1;
	cmp_dict(ev, mask, x, yes, vec->v);
out:
	dtx_mem_free(yes);
	return rc;
}

/* The column as it is in the batch, if it is source text and of type text; else NULL. */
static struct dtx_column *raw_text(const struct dtx_ev *ev, const struct dtx_bound *b)
{
	struct dtx_column *c;

	if (b->kind != DTX_BD_COL || b->type.type != DTX_T_TEXT ||
	    (uint32_t)b->column >= ev->in->ncols)
		return NULL;
	c = ev->in->col[b->column];
	return c && (c->form == DTX_F_SPAN || c->form == DTX_F_DICT) ? c : NULL;
}

static enum dtx_code cmp_text_const(struct dtx_ev *ev, const struct dtx_bound *b,
                                    struct dtx_column *raw, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_vec vec = { NULL, NULL, NULL };
	struct dtx_str want = b->arg[1]->value.u.s;

	DTX_TRY(dtx_vec_new(ev, b->type, &vec));
	dtx_vec_and(&vec, raw);
	if (raw->form == DTX_F_SPAN)
		DTX_TRY(cmp_span(ev, outcomes[b->op], raw, want, &vec));
	else
		DTX_TRY(cmp_dict_text(ev, outcomes[b->op], raw, want, &vec));
	*out = dtx_vec_done(&vec);
out:
	dtx_vec_drop(&vec);
	return rc;
}

static bool all_null(const struct dtx_column *c)
{
	return c->type.type == DTX_T_NULL || (c->form == DTX_F_CONST && c->nulls);
}

enum dtx_code dtx_ev_cmp(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *x = NULL, *y = NULL, *raw = raw_text(ev, b->arg[0]);
	struct dtx_vec vec = { NULL, NULL, NULL };

	if (raw && b->arg[1]->kind == DTX_BD_CONST && !b->arg[1]->value.null)
		return cmp_text_const(ev, b, raw, out);
	DTX_TRY(dtx_ev_node(ev, b->arg[0], &x));
	DTX_TRY(dtx_ev_node(ev, b->arg[1], &y));
	if (all_null(x) || all_null(y)) {
		DTX_TRY(dtx_column_nulls(b->type, ev->nrows, out, ev->err));
		goto out;
	}
	DTX_TRY(dtx_vec_new(ev, b->type, &vec));
	dtx_vec_and(&vec, x);
	dtx_vec_and(&vec, y);
	cmp_values(ev, b->op, x, y, vec.v);
	*out = dtx_vec_done(&vec);
out:
	dtx_vec_drop(&vec);
	dtx_column_unref(x);
	dtx_column_unref(y);
	return rc;
}

/* Whether two values differ, where null equals null and nothing else.  The result is never null. */
enum dtx_code dtx_ev_distinct(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *x = NULL, *y = NULL;
	struct dtx_vec vec = { NULL, NULL, NULL };
	uint64_t *bits;

	DTX_TRY(dtx_ev_node(ev, b->arg[0], &x));
	DTX_TRY(dtx_ev_node(ev, b->arg[1], &y));
	DTX_TRY(dtx_vec_new(ev, b->type, &vec));
	bits = vec.v;
	if (!all_null(x) && !all_null(y))
		cmp_values(ev, DTX_CMP_NE, x, y, bits);
	DTX_ROWS(ev, i, {
		bool nx = all_null(x) || dtx_column_is_null(x, i);
		bool ny = all_null(y) || dtx_column_is_null(y, i);

		if (nx || ny) {
			bits[i >> 6] &= ~((uint64_t)1 << (i & 63));
			PUT(i, nx != ny);
		}
	});
	*out = dtx_vec_done(&vec);
out:
	dtx_vec_drop(&vec);
	dtx_column_unref(x);
	dtx_column_unref(y);
	return rc;
}

/* --- in --- */

static bool inset_has(const struct dtx_inset *set, enum dtx_type type, const struct dtx_val *v)
{
	uint32_t low = 0, high = set->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		int c = dtx_val_cmp(type, &set->item[mid], v);

		if (c == 0)
			return true;
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

/* One lookup for each distinct text of the dictionary. */
static enum dtx_code in_dict(struct dtx_ev *ev, const struct dtx_bound *b,
                             const struct dtx_column *x, struct dtx_vec *vec)
{
	enum dtx_code rc = DTX_OK;
	uint8_t *yes = dtx_mem_alloc((size_t)x->dict->len + 1, 1);
	struct dtx_val v = { .null = false };
	uint32_t k;

	if (!yes)
		DTX_FAIL_MEM(ev->err);
	for (k = 0; k < x->dict->len; k++) {
		v.u.s = dtx_column_text(x->dict, k);
		yes[k] = inset_has(b->set, DTX_T_TEXT, &v);
	}
	cmp_dict(ev, 0, x, yes, vec->v);
out:
	dtx_mem_free(yes);
	return rc;
}

enum dtx_code dtx_ev_in(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *x = NULL;
	struct dtx_vec vec = { NULL, NULL, NULL };
	uint64_t *bits;

	DTX_TRY(dtx_ev_node(ev, b->arg[0], &x));
	if (all_null(x)) {
		DTX_TRY(dtx_column_nulls(b->type, ev->nrows, out, ev->err));
		goto out;
	}
	DTX_TRY(dtx_vec_new(ev, b->type, &vec));
	dtx_vec_and(&vec, x);
	bits = vec.v;
	if (x->form == DTX_F_DICT)
		DTX_TRY(in_dict(ev, b, x, &vec));
	else
		DTX_ROWS(ev, i, {
			struct dtx_val v;

			dtx_val_get(x, i, &v);
			if (!v.null)
				PUT(i, inset_has(b->set, x->type.type, &v));
		});
	/* If the list has a null, a value that was not found gives null, as in SQL. */
	if (b->set->has_null)
		DTX_ROWS(ev, i, {
			if (!dtx_bit(bits, i))
				dtx_vec_null(&vec, i);
		});
	*out = dtx_vec_done(&vec);
out:
	dtx_vec_drop(&vec);
	dtx_column_unref(x);
	return rc;
}

/* --- conditions for readers --- */

static void add_ranges(const struct dtx_bound *b, struct dtx_bound_range *out, uint32_t max,
                       uint32_t *n)
{
	/* the outcomes of b < a, by those of a < b */
	static const unsigned swapped[] = { 0, 4, 2, 6, 1, 5, 3, 7 };
	const struct dtx_bound *col, *value;
	struct dtx_bound_range *r = &out[*n];
	bool swap;

	if (b->kind == DTX_BD_AND)
		for (uint32_t i = 0; i < b->nargs; i++)
			add_ranges(b->arg[i], out, max, n);
	if (b->kind != DTX_BD_CMP || *n == max)
		return;
	swap = b->arg[0]->kind == DTX_BD_CONST;
	col = b->arg[swap];
	value = b->arg[!swap];
	if (col->kind != DTX_BD_COL || value->kind != DTX_BD_CONST || value->value.null ||
	    col->type.type != value->type.type)
		return;
	*r = (struct dtx_bound_range){ .column = col->column, .type = col->type.type };
	r->outcomes = swap ? swapped[outcomes[b->op]] : outcomes[b->op];
	switch (r->type) {
	case DTX_T_INT64:
	case DTX_T_DATETIME: r->i = value->value.u.i; break;
	case DTX_T_DATE: r->i = value->value.u.day; break;
	case DTX_T_TEXT: r->s = value->value.u.s; break;
	default: return;
	}
	++*n;
}

uint32_t dtx_bound_ranges(const struct dtx_bound *b, struct dtx_bound_range *out, uint32_t max)
{
	uint32_t n = 0;

	if (b->quiet)
		add_ranges(b, out, max, &n);
	return n;
}
