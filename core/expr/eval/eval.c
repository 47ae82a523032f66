/* Evaluation of a bound tree over those rows of a batch that count.
 *
 * Each node makes a whole column.  Its values are defined only for the live rows; other rows may
 * have any value.  A row that fails ends the evaluation with an error about this row, unless the
 * node is inside of try(): then `ev->trap` is set, the row is marked there and becomes null, and
 * try() puts its own value in its place. */
#include "core/expr/bound.h"

#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"
#include "core/data/cast/cast.h"

/* The first column that a node reads; an error about a row names it. */
static int32_t blamed_column(const struct dtx_bound *b)
{
	int32_t found = b->column;
	uint32_t i;

	for (i = 0; i < b->nargs && found < 0; i++)
		found = blamed_column(b->arg[i]);
	return found;
}

static bool may_trap(enum dtx_code rc)
{
	return rc == DTX_E_CAST_FAILED || rc == DTX_E_AMBIGUOUS_DATE || rc == DTX_E_OVERFLOW ||
	       rc == DTX_E_DIV_ZERO;
}

/* A hint that fits every failure with this code, if there is no better one yet. */
static void add_hint(enum dtx_code rc, struct dtx_err *err)
{
	if (err->hint[0])
		return;
	if (rc == DTX_E_CAST_FAILED || rc == DTX_E_AMBIGUOUS_DATE)
		dtx_err_hint(err, "try(...) gives null, or another value, where this fails");
	else if (rc == DTX_E_OVERFLOW)
		dtx_err_hint(err, "compute with float(x), or use try(...)");
	else if (rc == DTX_E_DIV_ZERO)
		dtx_err_hint(err, "safe_div(a, b, default), or options.div_zero 'null'");
}

enum dtx_code dtx_ev_row(struct dtx_ev *ev, enum dtx_code rc, const struct dtx_bound *b,
                         struct dtx_vec *vec, uint32_t row)
{
	if (ev->trap && may_trap(rc)) {
		dtx_bit_set(ev->trap, row);
		if (vec)
			dtx_vec_null(vec, row);
		dtx_err_clear(ev->err);
		return DTX_OK;
	}
	if (ev->err && rc != DTX_E_CANCELLED) {
		add_hint(rc, ev->err);
		ev->err->run_time = true;
		dtx_err_span(ev->err, b->span[0], b->span[1]);
		if (ev->in->origin)
			dtx_batch_set_position(ev->in, row, blamed_column(b), ev->err);
		else
			dtx_err_row(ev->err, row, NULL);
	}
	return rc;
}

static enum dtx_code ev_column(struct dtx_ev *ev, const struct dtx_bound *b,
                               struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c;
	struct dtx_err *err = ev->err;

	DTX_ASSERT((uint32_t)b->column < ev->in->ncols && ev->in->col[b->column], err);
	DTX_TRY(dtx_batch_value(ev->in, (uint32_t)b->column, &c, err));
	*out = dtx_column_ref(c);
out:
	return rc;
}

static enum dtx_code ev_source(struct dtx_ev *ev, const struct dtx_bound *b,
                               struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err *err = ev->err;

	DTX_ASSERT((uint32_t)b->column < ev->in->ncols && ev->in->col[b->column], err);
	DTX_TRY(dtx_cast_to_text(ev->in->col[b->column], out, err));
out:
	return rc;
}

/* A row that was made has no place. */
static void put_place(struct dtx_builder *to, const struct dtx_batch *in, int what, uint32_t row)
{
	uint64_t id;
	const struct dtx_origin *o = dtx_batch_id(in, row, &id) ? in->origin : NULL;
	const char *text = !o ? NULL : what == DTX_PLACE_FILE ? o->file : o->sheet;
	struct dtx_place place = { -1, -1 };

	if (what != DTX_PLACE_ROW && text && *text) { /* "": a table without a name */
		dtx_builder_text(to, dtx_str_of(text));
		return;
	}
	if (what == DTX_PLACE_ROW && o && o->locate)
		o->locate(o, id, &place);
	if (place.row < 0)
		dtx_builder_null(to);
	else
		dtx_builder_i64(to, place.row + 1);
}

static enum dtx_code ev_place(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out)
{
	enum dtx_code rc;
	struct dtx_builder to;
	uint32_t next = 0;

	dtx_builder_init(&to, b->type, ev->nrows);
	for (uint32_t i = 0; i < ev->nrows; i++) {
		bool live = !ev->sel || (next < ev->n && ev->sel[next] == i);

		next += live;
		if (live)
			put_place(&to, ev->in, b->op, i);
		else
			dtx_builder_null(&to);
	}
	rc = dtx_builder_finish(&to, NULL, out, ev->err);
	dtx_builder_clear(&to);
	return rc;
}

typedef enum dtx_code ev_fn(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out);
static ev_fn *const kinds[] = {
	[DTX_BD_COL] = ev_column,
	[DTX_BD_SOURCE] = ev_source,
	[DTX_BD_WIDEN] = dtx_ev_widen,
	[DTX_BD_ARITH] = dtx_ev_arith,
	[DTX_BD_NEG] = dtx_ev_neg,
	[DTX_BD_CMP] = dtx_ev_cmp,
	[DTX_BD_DISTINCT] = dtx_ev_distinct,
	[DTX_BD_AND] = dtx_ev_logic,
	[DTX_BD_OR] = dtx_ev_logic,
	[DTX_BD_NOT] = dtx_ev_not,
	[DTX_BD_IN] = dtx_ev_in,
	[DTX_BD_ISNULL] = dtx_ev_isnull,
	[DTX_BD_CASE] = dtx_ev_case,
	[DTX_BD_COALESCE] = dtx_ev_coalesce,
	[DTX_BD_TRY] = dtx_ev_try,
	[DTX_BD_CALL] = dtx_ev_call,
	[DTX_BD_CAST] = dtx_ev_cast,
	[DTX_BD_PLACE] = ev_place,
};

enum dtx_code dtx_ev_node(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;

	*out = NULL;
	DTX_TRY(dtx_cancel_look(ev->err)); /* a formula may have thousands of nodes */
	if (b->kind == DTX_BD_CONST)
		rc = dtx_val_column(b->type, &b->value, ev->nrows, out, ev->err);
	else if (b->type.type == DTX_T_NULL && b->kind != DTX_BD_COL)
		rc = dtx_column_nulls(b->type, ev->nrows, out, ev->err);
	else
		rc = kinds[b->kind](ev, b, out);
out:
	return rc;
}

static struct dtx_ev ev_of(struct dtx_batch *in, struct dtx_eval_counts *counts,
                           struct dtx_err *err)
{
	return (struct dtx_ev){ .in = in,
		                .sel = in->sel,
		                .n = in->sel ? in->nsel : in->nrows,
		                .nrows = in->nrows,
		                .counts = counts,
		                .err = err };
}

/* Counts how many rows of the batch fail, for the error about the first of them.  It evaluates
 * again, with failures trapped as inside try(). */
static void count_failed(const struct dtx_bound *b, const struct dtx_ev *failed)
{
	struct dtx_eval_counts none = { 0 };
	struct dtx_err quiet = DTX_ERR_INIT;
	struct dtx_column *made = NULL;
	struct dtx_ev ev = *failed;
	int64_t n = 0;

	ev.counts = &none;
	ev.err = &quiet;
	ev.trap = dtx_mem_zalloc(dtx_bit_words(ev.nrows) + 1, sizeof(*ev.trap));
	if (ev.trap && dtx_ev_node(&ev, b, &made) == DTX_OK) {
		for (size_t w = 0; w < dtx_bit_words(ev.nrows); w++)
			n += __builtin_popcountll(ev.trap[w]);
		failed->err->count = n;
		failed->err->count_open = true;
	}
	dtx_column_unref(made);
	dtx_mem_free(ev.trap);
	dtx_err_clear(&quiet);
}

enum dtx_code dtx_ev_root(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out)
{
	enum dtx_code rc = dtx_ev_node(ev, b, out);

	if (ev->err && may_trap(rc))
		count_failed(b, ev);
	if (rc != DTX_OK)
		dtx_err_at(ev->err, b->at);
	return rc;
}

enum dtx_code dtx_eval(const struct dtx_bound *b, struct dtx_batch *in, struct dtx_column **out,
                       struct dtx_eval_counts *counts, struct dtx_err *err)
{
	struct dtx_ev ev = ev_of(in, counts, err);

	return dtx_ev_root(&ev, b, out);
}

/* --- logic on whole words of bits --- */

/* A bool column as words: bits that are true, and bits that are not null. */
struct bits {
	const uint64_t *v, *valid;
	uint64_t cv, cvalid; /* the words of a constant */
};

static struct bits bits_of(const struct dtx_column *c)
{
	struct bits b = { NULL, NULL, 0, ~(uint64_t)0 };

	if (c->type.type == DTX_T_NULL) {
		b.cvalid = 0;
	} else if (c->form == DTX_F_CONST) {
		b.cv = dtx_bit(c->v.bits, 0) ? ~(uint64_t)0 : 0;
		b.cvalid = !c->valid || dtx_bit(c->valid, 0) ? ~(uint64_t)0 : 0;
	} else {
		b.v = c->v.bits;
		b.valid = c->valid;
	}
	return b;
}

static uint64_t bits_true(const struct bits *b, size_t w)
{
	return (b->v ? b->v[w] : b->cv) & (b->valid ? b->valid[w] : b->cvalid);
}

static uint64_t bits_false(const struct bits *b, size_t w)
{
	return ~(b->v ? b->v[w] : b->cv) & (b->valid ? b->valid[w] : b->cvalid);
}

/* The rows that count and whose result the left side does not decide. */
static enum dtx_code open_rows(struct dtx_ev *ev, bool is_and, const struct dtx_column *left,
                               uint16_t **sel, uint32_t *n)
{
	enum dtx_code rc = DTX_OK;
	struct bits b = bits_of(left);
	uint32_t got = 0;

	*sel = dtx_mem_alloc(ev->n + 1, sizeof(**sel));
	if (!*sel)
		DTX_FAIL_MEM(ev->err);
	DTX_ROWS(ev, i, {
		uint64_t done = is_and ? bits_false(&b, i >> 6) : bits_true(&b, i >> 6);

		(*sel)[got] = (uint16_t)i;
		got += !((done >> (i & 63)) & 1);
	});
	*n = got;
out:
	return rc;
}

static enum dtx_code right_side(struct dtx_ev *ev, const struct dtx_bound *b,
                                const struct dtx_column *left, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_val null = { .null = true };
	struct dtx_ev part = *ev;
	uint16_t *sel = NULL;

	if (b->arg[1]->quiet)
		return dtx_ev_node(ev, b->arg[1], out);
	DTX_TRY(open_rows(ev, b->kind == DTX_BD_AND, left, &sel, &part.n));
	part.sel = sel;
	if (part.n)
		DTX_TRY(dtx_ev_node(&part, b->arg[1], out));
	else
		DTX_TRY(dtx_val_column(b->type, &null, ev->nrows, out, ev->err));
out:
	dtx_mem_free(sel);
	return rc;
}

enum dtx_code dtx_ev_logic(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *left = NULL, *right = NULL;
	struct dtx_vec vec = { NULL, NULL, NULL };
	size_t w, words = dtx_bit_words(ev->nrows);
	struct bits l, r;

	DTX_TRY(dtx_ev_node(ev, b->arg[0], &left));
	DTX_TRY(right_side(ev, b, left, &right));
	DTX_TRY(dtx_vec_new(ev, b->type, &vec));
	l = bits_of(left);
	r = bits_of(right);
	for (w = 0; w < words; w++) {
		uint64_t lt = bits_true(&l, w), lf = bits_false(&l, w);
		uint64_t rt = bits_true(&r, w), rf = bits_false(&r, w);
		uint64_t yes = b->kind == DTX_BD_AND ? lt & rt : lt | rt;
		uint64_t no = b->kind == DTX_BD_AND ? lf | rf : lf & rf;

		((uint64_t *)vec.v)[w] = yes;
		vec.valid[w] = yes | no;
	}
	*out = dtx_vec_done(&vec);
out:
	dtx_column_unref(left);
	dtx_column_unref(right);
	return rc;
}

enum dtx_code dtx_ev_not(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *a = NULL;
	struct dtx_vec vec = { NULL, NULL, NULL };
	size_t w, words = dtx_bit_words(ev->nrows);
	struct bits in;

	DTX_TRY(dtx_ev_node(ev, b->arg[0], &a));
	DTX_TRY(dtx_vec_new(ev, b->type, &vec));
	in = bits_of(a);
	for (w = 0; w < words; w++) {
		((uint64_t *)vec.v)[w] = bits_false(&in, w);
		vec.valid[w] = bits_true(&in, w) | bits_false(&in, w);
	}
	*out = dtx_vec_done(&vec);
out:
	dtx_column_unref(a);
	return rc;
}

enum dtx_code dtx_ev_isnull(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *a = NULL;
	struct dtx_vec vec = { NULL, NULL, NULL };

	DTX_TRY(dtx_ev_node(ev, b->arg[0], &a));
	DTX_TRY(dtx_vec_new(ev, b->type, &vec));
	if (a->valid || a->type.type == DTX_T_NULL) {
		DTX_ROWS(ev, i, {
			if (a->type.type == DTX_T_NULL || dtx_column_is_null(a, i))
				dtx_bit_set(vec.v, i);
		});
	}
	*out = dtx_vec_done(&vec);
out:
	dtx_column_unref(a);
	return rc;
}

/* --- filters --- */

enum dtx_code dtx_eval_keep(const struct dtx_bound *b, struct dtx_batch *in, int64_t *falses,
                            int64_t *nulls, struct dtx_eval_counts *counts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_ev ev = ev_of(in, counts, err);
	struct dtx_column *c = NULL;
	uint32_t kept = 0, null = 0;
	uint16_t *sel;
	struct bits bits;

	DTX_TRY(dtx_ev_root(&ev, b, &c));
	bits = bits_of(c);
	if (!bits.v && (bits.cv & bits.cvalid))
		goto out;
	DTX_TRY(dtx_batch_sel(in, &sel, err));
	/* The loop reads ahead of what it writes, because the selection is narrowed in place. */
	for (uint32_t k = 0; k < ev.n; k++) {
		uint16_t i = sel[k];
		uint64_t t = bits_true(&bits, i >> 6) >> (i & 63) & 1;
		uint64_t f = bits_false(&bits, i >> 6) >> (i & 63) & 1;

		sel[kept] = i;
		kept += (uint32_t)t;
		null += !(t | f);
	}
	*nulls += null;
	*falses += ev.n - kept - null;
	in->nsel = kept;
out:
	dtx_column_unref(c);
	return rc;
}
