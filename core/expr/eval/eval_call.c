/* Branches, whose arguments are computed only for the rows that need them, and calls of functions
 * row by row.
 *
 * if, case, coalesce and try must not evaluate a branch for rows that do not take it: 1 / x must
 * not fail in the rows in which a condition has excluded x == 0.  So each branch is evaluated with
 * the selection of its rows, and the results are joined by a number of the branch per row. */
#include "core/expr/bound.h"

#include <math.h>

#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"

#define CELL_MAX ((size_t)16 << 20)

/* --- branches: each row takes its value from one of several columns --- */

struct branches {
	struct dtx_column **col; /* the values of each branch */
	uint32_t n;
	uint16_t *rest; /* rows that have no branch yet */
	uint32_t nrest;
	uint16_t *pick; /* for each row the number of its branch + 1; 0: null */
};

static enum dtx_code branches_init(struct dtx_ev *ev, struct branches *br, uint32_t n)
{
	enum dtx_code rc = DTX_OK;
	uint32_t k;

	br->n = n;
	br->col = dtx_mem_zalloc((size_t)n + 1, sizeof(struct dtx_column *));
	br->rest = dtx_mem_alloc((size_t)ev->n + 1, sizeof(*br->rest));
	br->pick = dtx_mem_zalloc((size_t)ev->nrows + 1, sizeof(*br->pick));
	if (!br->col || !br->rest || !br->pick)
		DTX_FAIL_MEM(ev->err);
	for (k = 0; k < ev->n; k++)
		br->rest[k] = ev->sel ? ev->sel[k] : (uint16_t)k;
	br->nrest = ev->n;
out:
	return rc;
}

static void branches_clear(struct branches *br)
{
	uint32_t i;

	for (i = 0; br->col && i < br->n; i++)
		dtx_column_unref(br->col[i]);
	dtx_mem_free(br->col);
	dtx_mem_free(br->rest);
	dtx_mem_free(br->pick);
}

/* Evaluates a node for the rows sel[0..n). */
static enum dtx_code node_for(struct dtx_ev *ev, const struct dtx_bound *b, const uint16_t *sel,
                              uint32_t n, struct dtx_column **out)
{
	struct dtx_ev part = *ev;

	part.sel = sel;
	part.n = n;
	return dtx_ev_node(&part, b, out);
}

static enum dtx_code branches_join(struct dtx_ev *ev, const struct dtx_bound *b,
                                   const struct branches *br, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_builder made;
	uint32_t i;

	dtx_builder_init(&made, b->type, ev->nrows);
	for (i = 0; i < ev->nrows; i++) {
		if (br->pick[i])
			dtx_builder_copy(&made, br->col[br->pick[i] - 1], i);
		else
			dtx_builder_null(&made);
	}
	DTX_TRY(dtx_builder_finish(&made, NULL, out, ev->err));
out:
	dtx_builder_clear(&made);
	return rc;
}

/* Moves those rest rows for which c is true to `taken`. */
static uint32_t branches_take(struct branches *br, const struct dtx_column *c, uint32_t branch,
                              uint16_t *taken)
{
	uint32_t k, kept = 0, n = 0;

	for (k = 0; k < br->nrest; k++) {
		uint16_t i = br->rest[k];
		bool yes = !dtx_column_is_null(c, i) && dtx_bit(c->v.bits, i & dtx_col_mask(c));

		if (yes) {
			br->pick[i] = (uint16_t)(branch + 1);
			taken[n++] = i;
		} else {
			br->rest[kept++] = i;
		}
	}
	br->nrest = kept;
	return n;
}

static enum dtx_code case_branches(struct dtx_ev *ev, const struct dtx_bound *b,
                                   struct branches *br, uint16_t *taken)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *cond = NULL;
	uint32_t i, k, n;

	for (i = 0; i + 1 < b->nargs && br->nrest; i += 2) {
		DTX_TRY(node_for(ev, b->arg[i], br->rest, br->nrest, &cond));
		n = branches_take(br, cond, i / 2, taken);
		dtx_column_unref(cond);
		cond = NULL;
		if (n)
			DTX_TRY(node_for(ev, b->arg[i + 1], taken, n, &br->col[i / 2]));
	}
	if (i < b->nargs && br->nrest && (b->nargs & 1)) {
		i = b->nargs - 1;
		for (k = 0; k < br->nrest; k++)
			br->pick[br->rest[k]] = (uint16_t)(i / 2 + 1);
		DTX_TRY(node_for(ev, b->arg[i], br->rest, br->nrest, &br->col[i / 2]));
	}
out:
	dtx_column_unref(cond);
	return rc;
}

enum dtx_code dtx_ev_case(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct branches br = { 0 };
	uint16_t *taken = dtx_mem_alloc((size_t)ev->n + 1, sizeof(*taken));

	if (!taken)
		DTX_FAIL_MEM(ev->err);
	DTX_TRY(branches_init(ev, &br, b->nargs / 2 + 1));
	DTX_TRY(case_branches(ev, b, &br, taken));
	DTX_TRY(branches_join(ev, b, &br, out));
out:
	branches_clear(&br);
	dtx_mem_free(taken);
	return rc;
}

enum dtx_code dtx_ev_coalesce(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct branches br = { 0 };
	uint32_t i, k, kept;

	DTX_TRY(branches_init(ev, &br, b->nargs));
	for (i = 0; i < b->nargs && br.nrest; i++) {
		DTX_TRY(node_for(ev, b->arg[i], br.rest, br.nrest, &br.col[i]));
		for (k = 0, kept = 0; k < br.nrest; k++) {
			uint16_t row = br.rest[k];

			if (dtx_column_is_null(br.col[i], row))
				br.rest[kept++] = row;
			else
				br.pick[row] = (uint16_t)(i + 1);
		}
		br.nrest = kept;
	}
	DTX_TRY(branches_join(ev, b, &br, out));
out:
	branches_clear(&br);
	return rc;
}

/* Moves the rows that failed from the first branch to the second. */
static uint32_t try_failed(struct dtx_ev *ev, const uint64_t *trap, struct branches *br)
{
	uint32_t n = 0;

	DTX_ROWS(ev, i, {
		bool bad = dtx_bit(trap, i);

		br->pick[i] = bad ? 2 : 1;
		if (bad)
			br->rest[n++] = (uint16_t)i;
	});
	return n;
}

enum dtx_code dtx_ev_try(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct branches br = { 0 };
	struct dtx_ev part = *ev;
	uint32_t n;

	part.trap = dtx_mem_zalloc(dtx_bit_words(ev->nrows) + 1, sizeof(*part.trap));
	if (!part.trap)
		DTX_FAIL_MEM(ev->err);
	DTX_TRY(branches_init(ev, &br, 2));
	DTX_TRY(dtx_ev_node(&part, b->arg[0], &br.col[0]));
	n = try_failed(ev, part.trap, &br);
	ev->counts->tried += n;
	if (n)
		DTX_TRY(node_for(ev, b->arg[1], br.rest, n, &br.col[1]));
	DTX_TRY(branches_join(ev, b, &br, out));
out:
	branches_clear(&br);
	dtx_mem_free(part.trap);
	return rc;
}

/* --- calls --- */

struct callrun {
	struct dtx_column **col;
	struct dtx_val *arg;
	struct dtx_builder out;
	struct dtx_buf buf;
	struct dtx_arena scratch;
	struct dtx_fnrun run;
};

static void float_check(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_val *v)
{
	if (b->type.type != DTX_T_FLOAT64 || v->null || isfinite(v->u.f))
		return;
	v->null = true;
	ev->counts->not_finite++;
}

static enum dtx_code call_row(struct dtx_ev *ev, const struct dtx_bound *b, struct callrun *cr,
                              uint32_t i)
{
	const struct dtx_fn *fn = b->call->fn;
	struct dtx_val v = { .null = false };
	enum dtx_code rc = DTX_OK;
	bool null = false;
	uint32_t k;

	for (k = 0; k < b->nargs; k++) {
		dtx_val_get(cr->col[k], i, &cr->arg[k]);
		null |= cr->arg[k].null;
	}
	v.null = null && !(fn->flags & DTX_FN_NULLS);
	if (!v.null) {
		dtx_buf_reset(&cr->buf);
		rc = fn->row(b->call, &cr->run, cr->arg, &v, ev->err);
		if (rc == DTX_OK)
			rc = dtx_buf_check(&cr->buf, fn->name, ev->err);
		if (rc != DTX_OK) {
			v.null = true;
			rc = dtx_ev_row(ev, rc, b, NULL, i);
		}
		float_check(ev, b, &v);
	}
	dtx_val_add(&cr->out, b->type, &v);
	return rc;
}

static enum dtx_code call_rows(struct dtx_ev *ev, const struct dtx_bound *b, struct callrun *cr)
{
	enum dtx_code rc = DTX_OK;
	uint32_t next = 0, done = 0;

	DTX_ROWS(ev, i, {
		DTX_TRY(dtx_cancel_line(done++, ev->err));
		for (; next < i; next++)
			dtx_builder_null(&cr->out);
		DTX_TRY(call_row(ev, b, cr, i));
		next = i + 1;
	});
	for (; next < ev->nrows; next++)
		dtx_builder_null(&cr->out);
out:
	return rc;
}

static enum dtx_code call_init(struct dtx_ev *ev, const struct dtx_bound *b, struct callrun *cr)
{
	enum dtx_code rc = DTX_OK;
	uint32_t k;

	cr->col = dtx_mem_zalloc((size_t)b->nargs + 1, sizeof(struct dtx_column *));
	cr->arg = dtx_mem_zalloc((size_t)b->nargs + 1, sizeof(*cr->arg));
	if (!cr->col || !cr->arg)
		DTX_FAIL_MEM(ev->err);
	for (k = 0; k < b->nargs; k++)
		DTX_TRY(dtx_ev_node(ev, b->arg[k], &cr->col[k]));
	dtx_buf_init(&cr->buf, CELL_MAX);
	dtx_builder_init(&cr->out, b->type, ev->nrows);
	cr->run = (struct dtx_fnrun){ .buf = &cr->buf,
		                      .scratch = &cr->scratch,
		                      .counts = ev->counts };
out:
	return rc;
}

static void call_clear(struct callrun *cr, uint32_t nargs)
{
	uint32_t k;

	for (k = 0; cr->col && k < nargs; k++)
		dtx_column_unref(cr->col[k]);
	dtx_mem_free(cr->col);
	dtx_mem_free(cr->arg);
	dtx_builder_clear(&cr->out);
	dtx_buf_clear(&cr->buf);
	dtx_arena_clear(&cr->scratch);
}

/* Whether all arguments are constants except one that is a dictionary: then the function is called
 * once for each distinct text. */
static bool is_dict_call(const struct dtx_bound *b, const struct callrun *cr, uint32_t *which)
{
	uint32_t k, n = 0;

	if (b->call->fn->flags & DTX_FN_NULLS)
		return false;
	for (k = 0; k < b->nargs; k++) {
		if (cr->col[k]->form == DTX_F_CONST)
			continue;
		if (cr->col[k]->form != DTX_F_DICT || n++)
			return false;
		*which = k;
	}
	return n == 1;
}

/* Calls the function for the entries of the dictionary and gathers the results for the rows.  *done
 * is false if an entry failed, because perhaps no row has that entry. */
static enum dtx_code call_dict(struct dtx_ev *ev, const struct dtx_bound *b, struct callrun *cr,
                               uint32_t which, struct dtx_column **out, bool *done)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *dict = cr->col[which], *results = NULL;
	struct dtx_eval_counts none = { 0 };
	struct dtx_err quiet = DTX_ERR_INIT;
	struct dtx_ev all = { .in = ev->in,
		              .n = dict->dict->len,
		              .nrows = dict->dict->len,
		              .counts = &none,
		              .err = &quiet };

	cr->col[which] = dict->dict;
	cr->run.counts = &none; /* entries are not rows */
	rc = call_rows(&all, b, cr);
	cr->run.counts = ev->counts;
	cr->col[which] = dict;
	if (rc == DTX_E_NO_MEMORY)
		dtx_err_move(ev->err, &quiet);
	*done = rc == DTX_OK && !none.div_zero && !none.not_finite;
	if (rc == DTX_OK)
		rc = dtx_builder_finish(&cr->out, NULL, &results, ev->err);
	dtx_builder_clear(&cr->out);
	dtx_builder_init(&cr->out, b->type, ev->nrows);
	if (*done && rc == DTX_OK) {
		for (uint32_t i = 0; i < ev->nrows; i++) {
			if (dtx_column_is_null(dict, i))
				dtx_builder_null(&cr->out);
			else
				dtx_builder_copy(&cr->out, results, dict->v.code[i]);
		}
		rc = dtx_builder_finish(&cr->out, NULL, out, ev->err);
	} else if (rc != DTX_E_NO_MEMORY) {
		rc = DTX_OK;
	}
	dtx_err_clear(&quiet);
	dtx_column_unref(results);
	return rc;
}

enum dtx_code dtx_ev_call(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct callrun cr;
	uint32_t which;
	bool done = false;

	memset(&cr, 0, sizeof(cr));
	DTX_TRY(call_init(ev, b, &cr));
	if (is_dict_call(b, &cr, &which) && cr.col[which]->dict->len < ev->n)
		DTX_TRY(call_dict(ev, b, &cr, which, out, &done));
	if (done)
		goto out;
	DTX_TRY(call_rows(ev, b, &cr));
	DTX_TRY(dtx_builder_finish(&cr.out, NULL, out, ev->err));
out:
	call_clear(&cr, b->nargs);
	return rc;
}
