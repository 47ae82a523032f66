/* repeat: emits each row several times. */
#include "ops/kit/opkit.h"

struct repeat_args {
	int64_t n;
	const char *col;
};
struct repeat_state {
	int32_t col; /* -1: n times */
	struct dtx_colmap map;
};

static const struct dtx_param repeat_params[] = {
	{ .name = "n",
	  .kind = DTX_P_INT,
	  .offset = offsetof(struct repeat_args, n),
	  .min = 1,
	  .max = INT32_MAX,
	  .aliases = "count",
	  .help = "how many times each row appears" },
	{ .name = "col",
	  .kind = DTX_P_COLUMN,
	  .offset = offsetof(struct repeat_args, col),
	  .aliases = "column",
	  .help = "column of whole numbers that says how many times" },
};
static const struct dtx_example repeat_examples[] = {
	{ .step = DTX_JSON({ "op" : "repeat", "n" : 2 }),
	  .in = "a\nx\n1.50\n",
	  .out = "a\nx\nx\n1.50\n1.50\n" },
	{ .step = DTX_JSON({ "op" : "uncount", "col" : "n" }),
	  .in = "a,n\nx,2\ny,0\nz,\nw,1\n",
	  .out = "a,n\nx,2\nx,2\nw,1\n" },
	{ .step = DTX_JSON({ "op" : "repeat", "col" : "n" }),
	  .in = "n\n1\n-1\n",
	  .error = "unexpected_value",
	  .message = "repeat: column 'n' has -1, expected 0 or more" },
	{ .step = DTX_JSON({ "op" : "repeat", "col" : "n" }),
	  .in = "n\n1.5\n",
	  .error = "type_mismatch",
	  .message = "repeat needs a column of whole numbers, 'n' is float" },
};

static enum dtx_code repeat_check(const void *args, struct dtx_err *err)
{
	const struct repeat_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (!a->n == !a->col)
		DTX_FAIL(err, a->col ? DTX_E_PARAM_CONFLICT : DTX_E_MISSING_PARAM,
		         "repeat needs either n or col");
out:
	return rc;
}

static enum dtx_code repeat_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct repeat_args *a = args;
	struct repeat_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;
	enum dtx_type type;

	if (!s)
		DTX_FAIL_MEM(err);
	s->col = -1;
	if (a->col) {
		DTX_TRY(dtx_bind_column(b, 0, a->col, "/col", &s->col, err));
		type = s->col < 0 ? DTX_T_UNKNOWN : b->in[0]->field[s->col].type.type;
		if (type != DTX_T_UNKNOWN && type != DTX_T_INT64 && type != DTX_T_NULL)
			DTX_TRY(dtx_bind_fail_next(
				b, DTX_E_TYPE_MISMATCH, "/col",
				"choose another column, or cast it to int in a step before", err,
				"repeat needs a column of whole numbers, '%s' is %s", a->col,
				dtx_type_name(type)));
		DTX_TRY(dtx_bind_use(b, DTX_USE_ROWS, 0, s->col, DTX_DEMAND_VALUE, err));
	}
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->map, err));
out:
	return rc;
}

struct work {
	const struct dtx_opctx *ox;
	struct dtx_batch *in;
	struct dtx_emit *out;
	uint32_t *which, *row, n, most;
};

static enum dtx_code hand_on(struct work *w, struct dtx_err *err)
{
	const struct repeat_state *s = w->ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_pick pick = { &w->in, 1, w->which, w->row, w->n, NULL, NULL, NULL };
	struct dtx_batch *b = NULL;

	DTX_TRY(dtx_pick_batch(w->ox, &s->map, &pick, &b, err));
	b->seq = w->in->seq;
	w->n = 0;
	DTX_TRY(dtx_emit_batch(w->out, b, err));
out:
	dtx_batch_free(b);
	return rc;
}

/* How many times a row is emitted; a negative number is an error. */
static enum dtx_code times_of(struct work *w, const struct dtx_column *c, uint32_t row,
                              int64_t *times, struct dtx_err *err)
{
	const struct repeat_args *a = w->ox->args;
	const struct repeat_state *s = w->ox->bound;

	*times = a->n;
	if (s->col < 0)
		return DTX_OK;
	*times = c->type.type != DTX_T_INT64 || dtx_column_is_null(c, row) ? 0 : c->v.i64[row];
	if (*times >= 0)
		return DTX_OK;
	dtx_err_set(err, DTX_E_UNEXPECTED_VALUE, __FILE__, __LINE__,
	            "repeat: column '%s' has %lld, expected 0 or more", a->col, (long long)*times);
	dtx_err_hint(err,
	             "leave such rows out with a filter step before, or max(%.60s, 0) in a "
	             "derive step",
	             a->col);
	dtx_batch_set_position(w->in, row, s->col, err);
	return DTX_E_UNEXPECTED_VALUE;
}

static enum dtx_code repeat_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                  struct dtx_emit *out, struct dtx_err *err)
{
	const struct repeat_state *s = ox->bound;
	struct work w = { .ox = ox, .in = in, .out = out, .most = dtx_op_batch_rows(ox) };
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c = NULL;
	int64_t times, dropped = 0;

	(void)local;
	w.which = dtx_mem_zalloc(w.most, sizeof(*w.which));
	w.row = dtx_mem_alloc(w.most, sizeof(*w.row));
	if (!w.which || !w.row)
		DTX_FAIL_MEM(err);
	if (s->col >= 0)
		DTX_TRY(dtx_batch_flat(in, (uint32_t)s->col, &c, err));
	for (uint32_t row = 0; row < in->nrows; row++) {
		DTX_TRY(times_of(&w, c, row, &times, err));
		dropped += times == 0;
		for (; times > 0 && !dtx_emit_full(out); times--) {
			w.row[w.n++] = row;
			if (w.n == w.most)
				DTX_TRY(hand_on(&w, err));
		}
	}
	dtx_op_count(ox, "zero", dropped);
	if (w.n || !in->nrows)
		DTX_TRY(hand_on(&w, err));
out:
	dtx_column_unref(c);
	dtx_mem_free(w.which);
	dtx_mem_free(w.row);
	return rc;
}

static void repeat_explain(const void *args, struct dtx_buf *out)
{
	const struct repeat_args *a = args;

	if (a->col)
		dtx_buf_printf(out, "repeat each row as often as %s says", a->col);
	else
		dtx_buf_printf(out, "repeat each row %lld times", (long long)a->n);
}

static const struct dtx_map repeat_map = { .batch = repeat_batch };

const struct dtx_op dtx_op_repeat = {
	.name = "repeat",
	.aliases = "uncount",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Repeat rows",
	.notes = "Copies follow each other. 0 and null drop the row, which is counted; a "
		 "negative number is unexpected_value.",
	.facts = { .rows = DTX_ROWS_SPLIT, .values = DTX_VALUES_KEPT, .decides = "col" },
	.params = repeat_params,
	.nparams = DTX_COUNT(repeat_params),
	.examples = repeat_examples,
	.nexamples = DTX_COUNT(repeat_examples),
	.args_size = sizeof(struct repeat_args),
	.check = repeat_check,
	.bind = repeat_bind,
	.map = &repeat_map,
	.explain = repeat_explain,
};
