/* normalize: numbers on a common scale. */
#include <math.h>

#include "core/data/builder.h"
#include "ops/group/groupvals.h"

enum { METHOD_ZSCORE, METHOD_MINMAX, METHOD_ROBUST, METHOD_SHARE };
struct normalize_args {
	struct dtx_cols *cols, *by;
	int method;
};
struct normalize_state {
	int32_t *col;
	uint32_t n;
	struct dtx_groupkeys by;
};

#define AT(member) .offset = offsetof(struct normalize_args, member)
static const struct dtx_param normalize_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns,column,col",
	  .help = "number columns to scale, in place" },
	{ .name = "method",
	  .kind = DTX_P_CHOICE,
	  AT(method),
	  .choices = "zscore,minmax,robust,share",
	  .def = "\"zscore\"",
	  .help = "(x - mean) / sd; 0 to 1; (x - median) / (q3 - q1); x / sum" },
	{ .name = "by",
	  .kind = DTX_P_COLUMNS,
	  AT(by),
	  .aliases = "group_by,groupby,keys",
	  .help = "within groups of these columns" },
};
static const struct dtx_example normalize_examples[] = {
	{ .step = DTX_JSON({ "op" : "normalize", "cols" : ["v"] }),
	  .in = "k,v\na,1\nb,2\nc,3\nd,\n",
	  .out = "k,v\na,-1.0\nb,0.0\nc,1.0\nd,\n" },
	{ .step = DTX_JSON({ "op" : "scale", "cols" : ["v"], "method" : "share", "by" : ["k"] }),
	  .in = "k,v\na,1\nb,5\na,3\nc,0\n",
	  .out = "k,v\na,0.25\nb,1.0\na,0.75\nc,\n" },
	{ .step = DTX_JSON({ "op" : "standardize", "cols" : ["v"], "method" : "minmax" }),
	  .in = "v\n2\n4\n3\n",
	  .out = "v\n0.0\n1.0\n0.5\n" },
	{ .step = DTX_JSON({ "op" : "normalize", "cols" : ["v"] }),
	  .in = "k,v\na,0.1\nb,0.1\nc,0.1\n",
	  .out = "k,v\na,\nb,\nc,\n" },
	{ .step = DTX_JSON({ "op" : "normalize", "cols" : ["t"] }),
	  .in = "t\nx\n",
	  .error = "type_mismatch" },
};

static enum dtx_code normalize_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct normalize_args *a = args;
	const struct dtx_typeref number = { .type = DTX_T_FLOAT64 };
	struct normalize_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &s->col, &s->n, err));
	if (a->by)
		DTX_TRY(dtx_groupkeys_bind(b, 0, a->by, "/by", &s->by, err));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->col[i] < 0)
			continue;
		DTX_TRY(dtx_bind_number(b, s->col[i], "/cols", err));
		DTX_TRY(dtx_bind_remake(b, (uint32_t)s->col[i], number, NULL, "scaled", err));
		DTX_TRY(dtx_bind_use(b, s->col[i], 0, s->col[i], DTX_DEMAND_VALUE, err));
	}
	dtx_bind_kind(b, DTX_KIND_WHOLE);
out:
	return rc;
}

struct scale { /* x becomes (x - from) / unit; unit 0 or NaN: null */
	double from, unit;
};

static struct scale scale_of(int method, const struct dtx_summary *s)
{
	switch (method) {
	case METHOD_MINMAX: return (struct scale){ s->min, s->max - s->min };
	case METHOD_ROBUST: return (struct scale){ s->median, s->q3 - s->q1 };
	case METHOD_SHARE: return (struct scale){ 0, s->sum };
	default: return (struct scale){ s->mean, s->sd };
	}
}

static enum dtx_code scale_batch(struct dtx_batch *b, int32_t col, int64_t at,
                                 const struct dtx_tablekeys *keys, const struct scale *scale,
                                 int64_t *constant, struct dtx_err *err)
{
	const struct dtx_typeref number = { .type = DTX_T_FLOAT64 };
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c = NULL, *made = NULL;
	struct dtx_builder to;

	dtx_builder_init(&to, number, b->nrows);
	DTX_TRY(dtx_batch_floats(b, col, &c, err));
	for (uint32_t row = 0; row < c->len; row++) {
		const struct scale *s = &scale[dtx_tablekeys_id(keys, at + row)];
		bool null = dtx_column_is_null(c, row);
		double v = null ? 0 : (c->v.f64[row] - s->from) / s->unit;

		if (null || !isfinite(v) || !(fabs(s->unit) > 0)) {
			*constant += !null;
			dtx_builder_null(&to);
		} else {
			dtx_builder_f64(&to, v);
		}
	}
	DTX_TRY(dtx_builder_finish(&to, NULL, &made, err));
	dtx_batch_put(b, (uint32_t)col, made);
out:
	dtx_column_unref(c);
	dtx_builder_clear(&to);
	return rc;
}

static enum dtx_code scale_column(const struct dtx_opctx *ox, struct dtx_table *t,
                                  struct dtx_kept *kept, int32_t col,
                                  const struct dtx_tablekeys *keys, struct dtx_err *err)
{
	const struct normalize_args *a = ox->args;
	enum dtx_code rc = DTX_OK;
	struct dtx_groupvals g = DTX_GROUPVALS_INIT;
	struct scale *scale = dtx_mem_alloc((size_t)keys->n + 1, sizeof(*scale));
	int64_t at = 0, constant = 0;

	if (!scale)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_groupvals_open(&g, t, col, keys, err));
	for (uint32_t k = 0; k < keys->n; k++) {
		struct dtx_summary s;

		DTX_TRY(dtx_groupvals_summary(&g, k, &s, err));
		scale[k] = scale_of(a->method, &s);
	}
	for (size_t i = 0; i < kept->n; i++) {
		DTX_TRY(scale_batch(kept->batch[i], col, at, keys, scale, &constant, err));
		at += kept->batch[i]->nrows;
	}
	dtx_op_count(ox, "constant", constant);
out:
	dtx_groupvals_close(&g);
	dtx_mem_free(scale);
	return rc;
}

static enum dtx_code normalize_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                     struct dtx_emit *out, struct dtx_err *err)
{
	const struct normalize_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_tablekeys keys = DTX_TABLEKEYS_INIT;
	struct dtx_kept kept = { NULL, 0, 0 };

	DTX_TRY(dtx_tablekeys_open(&keys, ox, &s->by, t, err));
	for (size_t i = 0; i < t->nbatches; i++)
		DTX_TRY(dtx_kept_add(&kept, t->batch[i], err));
	for (uint32_t i = 0; i < s->n; i++)
		if (dtx_op_wants(ox, (uint32_t)s->col[i]))
			DTX_TRY(scale_column(ox, t, &kept, s->col[i], &keys, err));
	for (size_t i = 0; i < kept.n && !dtx_emit_full(out); i++) {
		kept.batch[i]->schema = ox->out;
		DTX_TRY(dtx_emit_batch(out, kept.batch[i], err));
	}
out:
	dtx_kept_clear(&kept);
	dtx_tablekeys_close(&keys);
	return rc;
}

static void normalize_explain(const void *args, struct dtx_buf *out)
{
	static const char *const how[] = { "their distance from the mean in standard deviations",
		                           "0 to 1",
		                           "their distance from the median in quartile ranges",
		                           "shares of their sum" };
	const struct normalize_args *a = args;

	dtx_buf_add(out, "scale ");
	dtx_cols_print(a->cols, out);
	dtx_buf_printf(out, " to %s", how[a->method]);
	if (a->by) {
		dtx_buf_add(out, " within ");
		dtx_cols_print(a->by, out);
	}
}

const struct dtx_op dtx_op_normalize = {
	.name = "normalize",
	.aliases = "scale,standardize",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Put numbers on a common scale",
	.notes = "The standard deviation is the sample's, quartiles are of type 7. Where a group "
		 "has no spread (or no sum) the result is null, counted as `constant`.",
	.params = normalize_params,
	.nparams = DTX_COUNT(normalize_params),
	.examples = normalize_examples,
	.nexamples = DTX_COUNT(normalize_examples),
	.args_size = sizeof(struct normalize_args),
	.bind = normalize_bind,
	.whole = normalize_whole,
	.explain = normalize_explain,
};
