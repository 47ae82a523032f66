/* outliers: numbers far from the others. */
#include <math.h>

#include "core/data/builder.h"
#include "core/data/cells.h"
#include "ops/group/groupvals.h"

enum { METHOD_IQR, METHOD_ZSCORE, METHOD_MAD };
enum { ACTION_FLAG, ACTION_NULL, ACTION_CLIP, ACTION_DROP };
struct outlier_args {
	struct dtx_cols *cols, *by;
	int method, action;
	double k;
};
struct outlier_state {
	int32_t *col;
	uint32_t n, first; /* first: the first flag */
	struct dtx_groupkeys by;
	struct dtx_colmap map;
};

#define AT(member) .offset = offsetof(struct outlier_args, member)
static const struct dtx_param outlier_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns,column,col",
	  .help = "number columns to look at" },
	{ .name = "method",
	  .kind = DTX_P_CHOICE,
	  AT(method),
	  .choices = "iqr,zscore,mad",
	  .def = "\"iqr\"",
	  .help = "what k counts: quartile ranges outside the quartiles, standard deviations from "
	          "the mean, scaled median deviations from the median" },
	{ .name = "k",
	  .kind = DTX_P_NUMBER,
	  AT(k),
	  .def = "1.5",
	  .schema = "{\"type\":\"number\",\"minimum\":0}",
	  .help = "how far is too far" },
	{ .name = "by",
	  .kind = DTX_P_COLUMNS,
	  AT(by),
	  .aliases = "group_by,groupby,keys",
	  .help = "within groups of these columns" },
	{ .name = "action",
	  .kind = DTX_P_CHOICE,
	  AT(action),
	  .choices = "flag,null,clip,drop",
	  .def = "\"flag\"",
	  .help = "flag adds a column NAME_outlier; clip moves the value to the bound" },
};
static const struct dtx_example outlier_examples[] = {
	{ .step = DTX_JSON({ "op" : "outliers", "cols" : ["v"] }),
	  .in = "v\n1\n2\n3\n4\n100\n\n",
	  .out = "v,v_outlier\n1,false\n2,false\n3,false\n4,false\n100,true\n,\n" },
	{ .step = DTX_JSON({ "op" : "outliers", "cols" : ["v"], "action" : "null" }),
	  .in = "v\n1.0\n2\n3\n4\n100\n",
	  .out = "v\n1.0\n2\n3\n4\n\n" },
	{ .step = DTX_JSON({ "op" : "outliers", "cols" : ["v"], "action" : "clip" }),
	  .in = "v\n1\n2\n3\n4\n100\n",
	  .out = "v\n1.0\n2.0\n3.0\n4.0\n7.0\n" },
	{ .step = DTX_JSON({
		  "op" : "outliers",
		  "cols" : ["v"],
		  "by" : ["k"],
		  "action" : "drop",
		  "method" : "mad",
		  "k" : 3
	  }),
	  .in = "k,v\na,1\na,2\na,3\na,50\nb,50\n",
	  .out = "k,v\na,1\na,2\na,3\nb,50\n" },
	{ .step = DTX_JSON({ "op" : "outliers", "cols" : ["v"], "k" : -1 }),
	  .in = "v\n1\n",
	  .error = "bad_param_value" },
};

static enum dtx_code outlier_check(const void *args, struct dtx_err *err)
{
	const struct outlier_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (a->k < 0)
		DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, "/k",
		               "outliers: k is a number not below 0, got %g", a->k);
out:
	return rc;
}

static enum dtx_code bind_flags(struct dtx_bind *b, struct outlier_state *s, struct dtx_err *err)
{
	const struct dtx_typeref flag = { .type = DTX_T_BOOL };
	enum dtx_code rc = DTX_OK;

	s->first = b->ncols;
	for (uint32_t i = 0; i < s->n; i++) {
		const char *name;

		if (s->col[i] < 0)
			continue;
		name = dtx_arena_printf(b->arena, "%s_outlier", b->in[0]->field[s->col[i]].name);
		if (!name)
			DTX_FAIL_MEM(err);
		DTX_TRY(dtx_bind_use(b, (int32_t)b->ncols, 0, s->col[i], DTX_DEMAND_VALUE, err));
		DTX_TRY(dtx_bind_make(b, name, flag, NULL, "outlier of", err));
	}
out:
	return rc;
}

static enum dtx_code outlier_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct outlier_args *a = args;
	const struct dtx_typeref number = { .type = DTX_T_FLOAT64 };
	struct outlier_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &s->col, &s->n, err));
	if (a->by)
		DTX_TRY(dtx_groupkeys_bind(b, 0, a->by, "/by", &s->by, err));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	if (a->action == ACTION_NULL)
		DTX_TRY(dtx_bind_alter_some(b, s->col, s->n, err));
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->col[i] < 0)
			continue;
		DTX_TRY(dtx_bind_number(b, s->col[i], "/cols", err));
		if (a->action == ACTION_CLIP)
			DTX_TRY(dtx_bind_remake(b, (uint32_t)s->col[i], number, NULL, "clipped",
			                        err));
		DTX_TRY(dtx_bind_use(b, a->action == ACTION_DROP ? DTX_USE_ROWS : s->col[i], 0,
		                     s->col[i], DTX_DEMAND_VALUE, err));
	}
	if (a->action == ACTION_FLAG)
		DTX_TRY(bind_flags(b, s, err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->map, err));
	dtx_bind_kind(b, DTX_KIND_WHOLE);
out:
	return rc;
}

/* --- bounds --- */

struct bounds { /* NaN: there is none */
	double low, high;
};

/* Median distance from the median, scaled to a standard deviation of normal numbers. */
static enum dtx_code mad_of(const struct dtx_groupvals *g, uint32_t group, double median,
                            double *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const double *v = g->v + g->start[group];
	int64_t n = g->start[group + 1] - g->start[group], lo = 0, hi = n - 1;
	double *far = dtx_mem_alloc((size_t)n + 1, sizeof(*far));

	if (!far)
		DTX_FAIL_MEM(err);
	/* the values ascend, so the farthest is at one of the two ends */
	for (int64_t i = n - 1; i >= 0; i--) {
		double below = median - v[lo], above = v[hi] - median;

		far[i] = below > above ? below : above;
		if (below > above)
			lo++;
		else
			hi--;
	}
	*out = 1.4826 * dtx_quantile(far, n, 0.5);
out:
	dtx_mem_free(far);
	return rc;
}

static enum dtx_code bounds_of(const struct outlier_args *a, const struct dtx_groupvals *g,
                               uint32_t group, struct bounds *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_summary s;
	double unit = 0;

	DTX_TRY(dtx_groupvals_summary(g, group, &s, err));
	if (a->method == METHOD_IQR) {
		unit = s.q3 - s.q1;
		*out = (struct bounds){ s.q1 - a->k * unit, s.q3 + a->k * unit };
	} else if (a->method == METHOD_ZSCORE) {
		*out = (struct bounds){ s.mean - a->k * s.sd, s.mean + a->k * s.sd };
	} else {
		DTX_TRY(mad_of(g, group, s.median, &unit, err));
		*out = (struct bounds){ s.median - a->k * unit, s.median + a->k * unit };
	}
out:
	return rc;
}

/* --- rows --- */

struct work {
	const struct dtx_opctx *ox;
	struct dtx_table *t;
	struct dtx_kept kept;
	struct dtx_tablekeys keys;
	bool *drop; /* per row */
	int64_t found;
};

static enum dtx_code flag_column(struct work *w, struct dtx_batch *b, uint32_t i,
                                 const struct dtx_column *c, const bool *out, struct dtx_err *err)
{
	const struct outlier_state *s = w->ox->bound;
	const struct dtx_typeref flag = { .type = DTX_T_BOOL };
	enum dtx_code rc = DTX_OK;
	struct dtx_column *made = NULL;
	struct dtx_builder to;

	dtx_builder_init(&to, flag, b->nrows);
	for (uint32_t row = 0; row < c->len; row++) {
		if (dtx_column_is_null(c, row))
			dtx_builder_null(&to);
		else
			dtx_builder_bool(&to, out[row]);
	}
	DTX_TRY(dtx_builder_finish(&to, NULL, &made, err));
	dtx_batch_put(b, s->first + i, made);
out:
	dtx_builder_clear(&to);
	return rc;
}

static enum dtx_code null_column(struct work *w, struct dtx_batch *b, int32_t col, const bool *out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t *which = dtx_mem_alloc((size_t)b->nrows + 1, sizeof(*which));
	uint32_t *row = dtx_mem_alloc((size_t)b->nrows + 1, sizeof(*row));
	struct dtx_column *made = NULL;

	if (!which || !row)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < b->nrows; i++) {
		which[i] = out[i] ? DTX_NOWHERE : 0;
		row[i] = i;
	}
	DTX_TRY(dtx_cells_gather(&b->col[col], 1, which, row, b->nrows, &w->ox->out->field[col],
	                         &made, err));
	dtx_batch_put(b, (uint32_t)col, made);
out:
	dtx_mem_free(which);
	dtx_mem_free(row);
	return rc;
}

static enum dtx_code clip_column(struct work *w, struct dtx_batch *b, int32_t col, int64_t at,
                                 const struct dtx_column *c, const struct bounds *bounds,
                                 struct dtx_err *err)
{
	const struct dtx_typeref number = { .type = DTX_T_FLOAT64 };
	enum dtx_code rc = DTX_OK;
	struct dtx_column *made = NULL;
	struct dtx_builder to;

	dtx_builder_init(&to, number, b->nrows);
	for (uint32_t row = 0; row < c->len; row++) {
		const struct bounds *k = &bounds[dtx_tablekeys_id(&w->keys, at + row)];
		double v = dtx_column_is_null(c, row) ? NAN : c->v.f64[row];

		if (isnan(v))
			dtx_builder_null(&to);
		else
			dtx_builder_f64(&to, v < k->low ? k->low : v > k->high ? k->high : v);
	}
	DTX_TRY(dtx_builder_finish(&to, NULL, &made, err));
	dtx_batch_put(b, (uint32_t)col, made);
out:
	dtx_builder_clear(&to);
	return rc;
}

/* What is done about column i of one batch. */
static enum dtx_code treat_batch(struct work *w, size_t k, int64_t at, uint32_t i,
                                 const struct bounds *bounds, struct dtx_err *err)
{
	const struct outlier_args *a = w->ox->args;
	const struct outlier_state *s = w->ox->bound;
	struct dtx_batch *b = w->kept.batch[k];
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c = NULL;
	bool *out = dtx_mem_zalloc((size_t)b->nrows + 1, sizeof(*out));

	if (!out)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_batch_floats(w->t->batch[k], s->col[i], &c, err));
	for (uint32_t row = 0; row < c->len; row++) {
		const struct bounds *g = &bounds[dtx_tablekeys_id(&w->keys, at + row)];

		out[row] = !dtx_column_is_null(c, row) &&
		           (c->v.f64[row] < g->low || c->v.f64[row] > g->high);
		w->found += out[row];
		w->drop[at + row] = w->drop[at + row] || out[row];
	}
	if (a->action == ACTION_FLAG)
		DTX_TRY(flag_column(w, b, i, c, out, err));
	else if (a->action == ACTION_NULL)
		DTX_TRY(null_column(w, b, s->col[i], out, err));
	else if (a->action == ACTION_CLIP)
		DTX_TRY(clip_column(w, b, s->col[i], at, c, bounds, err));
out:
	dtx_column_unref(c);
	dtx_mem_free(out);
	return rc;
}

static enum dtx_code treat_column(struct work *w, uint32_t i, struct dtx_err *err)
{
	const struct outlier_state *s = w->ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_groupvals g = DTX_GROUPVALS_INIT;
	struct bounds *bounds = dtx_mem_alloc((size_t)w->keys.n + 1, sizeof(*bounds));
	int64_t at = 0;

	if (!bounds)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_groupvals_open(&g, w->t, s->col[i], &w->keys, err));
	for (uint32_t k = 0; k < w->keys.n; k++)
		DTX_TRY(bounds_of(w->ox->args, &g, k, &bounds[k], err));
	for (size_t k = 0; k < w->kept.n; k++) {
		DTX_TRY(treat_batch(w, k, at, i, bounds, err));
		at += w->kept.batch[k]->nrows;
	}
out:
	dtx_groupvals_close(&g);
	dtx_mem_free(bounds);
	return rc;
}

static enum dtx_code emit_rows(struct work *w, struct dtx_emit *out, struct dtx_err *err)
{
	const struct outlier_args *a = w->ox->args;
	enum dtx_code rc = DTX_OK;
	int64_t at = 0, dropped = 0;

	for (size_t k = 0; k < w->kept.n && !dtx_emit_full(out); k++) {
		struct dtx_batch *b = w->kept.batch[k];
		uint32_t n = 0;
		uint16_t *sel;

		b->schema = w->ox->out;
		DTX_TRY(dtx_batch_sel(b, &sel, err));
		for (uint32_t row = 0; row < b->nrows; row++)
			if (a->action != ACTION_DROP || !w->drop[at + row])
				sel[n++] = (uint16_t)row;
		dropped += (int64_t)b->nrows - n;
		at += b->nrows;
		b->nsel = n;
		DTX_TRY(dtx_emit_batch(out, b, err));
	}
	dtx_op_count(w->ox, "outlier",
	             a->action == ACTION_DROP   ? dropped
	             : a->action == ACTION_NULL ? w->found
	                                        : 0);
out:
	return rc;
}

static enum dtx_code outlier_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                   struct dtx_emit *out, struct dtx_err *err)
{
	const struct outlier_state *s = ox->bound;
	struct work w = { .ox = ox, .t = t };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_tablekeys_open(&w.keys, ox, &s->by, t, err));
	w.drop = dtx_mem_zalloc((size_t)t->nrows + 1, sizeof(*w.drop));
	if (!w.drop)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < t->nbatches; i++) {
		DTX_TRY(dtx_kept_add(&w.kept, t->batch[i], err));
		DTX_TRY(dtx_colmap_apply(ox, &s->map, w.kept.batch[i], err));
	}
	/* columns are read from the table: a clipped one is not in the map */
	for (uint32_t i = 0; i < s->n; i++)
		DTX_TRY(treat_column(&w, i, err));
	DTX_TRY(emit_rows(&w, out, err));
out:
	dtx_kept_clear(&w.kept);
	dtx_tablekeys_close(&w.keys);
	dtx_mem_free(w.drop);
	return rc;
}

static void outlier_explain(const void *args, struct dtx_buf *out)
{
	static const char *const action[] = { "flag", "make null", "clip", "drop rows with" };
	static const char *const method[] = { "quartile ranges", "standard deviations",
		                              "median deviations" };
	const struct outlier_args *a = args;

	dtx_buf_printf(out, "%s outliers, more than %g %s away, in ", action[a->action], a->k,
	               method[a->method]);
	dtx_cols_print(a->cols, out);
	if (a->by) {
		dtx_buf_add(out, " within ");
		dtx_cols_print(a->by, out);
	}
}

const struct dtx_op dtx_op_outliers = {
	.name = "outliers",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Flag, blank, clip or drop numbers far from the others",
	.notes = "Quartiles are of type 7, the standard deviation is the sample's, a median "
		 "deviation is scaled by 1.4826. A null is no outlier; its flag is null.",
	.params = outlier_params,
	.nparams = DTX_COUNT(outlier_params),
	.examples = outlier_examples,
	.nexamples = DTX_COUNT(outlier_examples),
	.args_size = sizeof(struct outlier_args),
	.check = outlier_check,
	.bind = outlier_bind,
	.whole = outlier_whole,
	.explain = outlier_explain,
};
