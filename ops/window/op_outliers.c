/* outliers: numbers far from the others, a short form of window.
 *
 * To drop rows and to make cells null is done here, by flags that the result does not have: a
 * formula cannot drop rows, and of the other cells it would not keep the text as written. */
#include "core/base/text/num.h"
#include "core/data/cells.h"
#include "ops/group/table/groupvals.h"
#include "ops/window/shortwin.h"

enum { METHOD_IQR, METHOD_ZSCORE, METHOD_MAD };
enum { ACTION_FLAG, ACTION_NULL, ACTION_CLIP, ACTION_DROP };
struct outlier_args {
	struct dtx_cols *cols, *by;
	int method, action;
	double k;
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
	  .error = "bad_param_value",
	  .message = "outliers: k must be a number not below 0, got -1" },
};

static enum dtx_code outlier_check(const void *args, struct dtx_err *err)
{
	const struct outlier_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (a->k < 0)
		DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, "/k",
		               "outliers: k must be a number not below 0, got %g", a->k);
out:
	return rc;
}

/* --- binding --- */

/* The bounds as formulas over @, a column as a float. */
struct bounds {
	const char *low, *high;
};

/* Median deviations are in a column of their own, as an aggregate holds no other. */
static enum dtx_code add_deviations(struct dtx_shortwin *w, const struct dtx_field *f,
                                    const char *name, struct dtx_err *err)
{
	dtx_short_floats(&w->text, "abs(@ - median(@))", f);
	return dtx_shortwin_hide(w, name, err);
}

static enum dtx_code make_bounds(struct dtx_bind *b, const struct outlier_args *a,
                                 const char *deviations, struct bounds *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *from = "mean(@)", *to = "mean(@)", *unit = "std(@)";
	struct dtx_buf far = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	char k[DTX_NUM_TEXT + 1];

	k[dtx_num_print_json(k, a->k)] = '\0';
	if (a->method == METHOD_IQR) {
		from = "quantile(@, 0.25)";
		to = "quantile(@, 0.75)";
		unit = "(quantile(@, 0.75) - quantile(@, 0.25))";
	} else if (a->method == METHOD_MAD) {
		from = to = "median(@)";
		dtx_buf_add(&far, "(1.4826 * median(");
		dtx_expr_print_name(deviations, &far);
		dtx_buf_add(&far, "))");
		unit = dtx_buf_text(&far);
	}
	out->low = dtx_arena_printf(b->arena, "(%s - %s * %s)", from, k, unit);
	out->high = dtx_arena_printf(b->arena, "(%s + %s * %s)", to, k, unit);
	if (!out->low || !out->high || !dtx_buf_ok(&far))
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(&far);
	return rc;
}

/* What is computed for a column: its flag, or with clip the column itself. */
static enum dtx_code add_formula(struct dtx_shortwin *w, const struct outlier_args *a,
                                 const struct bounds *is, const struct dtx_field *f,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *flag = dtx_arena_printf(w->b->arena, "%s_outlier", f->name), *text;

	if (a->action == ACTION_CLIP)
		text = dtx_arena_printf(w->b->arena, "if(@ < %s, %s, if(@ > %s, %s, @))", is->low,
		                        is->low, is->high, is->high);
	else
		text = dtx_arena_printf(w->b->arena,
		                        "if(@ is null, null, coalesce(@ < %s or @ > %s, false))",
		                        is->low, is->high);
	if (!flag || !text)
		DTX_FAIL_MEM(err);
	dtx_short_floats(&w->text, text, f);
	if (a->action == ACTION_CLIP)
		DTX_TRY(dtx_shortwin_set(w, f->name, err));
	else if (a->action == ACTION_FLAG)
		DTX_TRY(dtx_shortwin_add(w, flag, NULL, err));
	else
		DTX_TRY(dtx_shortwin_hide(w, dtx_shortwin_free_name(w, flag), err));
out:
	return rc;
}

static enum dtx_code add_formulas(struct dtx_shortwin *w, const struct outlier_args *a,
                                  const int32_t *col, uint32_t n, struct dtx_err *err)
{
	struct dtx_bind *b = w->b;
	const char *deviations = dtx_shortwin_free_name(w, "deviation");
	enum dtx_code rc = DTX_OK;
	struct bounds is;

	if (!deviations)
		DTX_FAIL_MEM(err);
	DTX_TRY(make_bounds(b, a, deviations, &is, err));
	for (uint32_t i = 0; i < n; i++) {
		size_t before = b->nfindings;

		if (col[i] >= 0)
			DTX_TRY(dtx_bind_number(b, col[i], "/cols", err));
		if (col[i] < 0 || b->nfindings > before)
			continue;
		if (a->method == METHOD_MAD)
			DTX_TRY(add_deviations(w, &b->in[0]->field[col[i]], deviations, err));
		DTX_TRY(add_formula(w, a, &is, &b->in[0]->field[col[i]], err));
	}
out:
	return rc;
}

static enum dtx_code outlier_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct outlier_args *a = args;
	struct dtx_shortwin w = { .b = NULL };
	enum dtx_code rc = DTX_OK;
	int32_t *col;
	uint32_t n;

	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &col, &n, err));
	DTX_TRY(dtx_shortwin_open(&w, b, a->by, NULL, 2 * n, err));
	DTX_TRY(add_formulas(&w, a, col, n, err));
	DTX_TRY(dtx_shortwin_bind(&w, "/cols", err));
	if (a->action == ACTION_NULL)
		DTX_TRY(dtx_bind_alter_some(b, col, n, err));
	for (uint32_t i = 0; i < n; i++)
		if (a->action == ACTION_DROP || a->action == ACTION_NULL)
			DTX_TRY(dtx_bind_use(b, a->action == ACTION_DROP ? DTX_USE_ROWS : col[i], 0,
			                     col[i], DTX_DEMAND_VALUE, err));
	/* columns that only the input shows may have flags too */
	if (!b->typed && a->action == ACTION_FLAG && !dtx_cols_static(a->cols, b->in[0]))
		dtx_bind_open(b);
out:
	dtx_shortwin_close(&w);
	return rc;
}

/* --- rows --- */

/* The rows of which no flag is true stay. */
static enum dtx_code drop_rows(const struct dtx_opctx *ox, struct dtx_batch *b,
                               const struct dtx_column *flag, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = 0;
	uint16_t *sel;

	DTX_TRY(dtx_batch_sel(b, &sel, err));
	for (uint32_t k = 0; k < b->nsel; k++)
		if (dtx_column_is_null(flag, sel[k]) || !dtx_bit(flag->v.bits, sel[k]))
			sel[n++] = sel[k];
	dtx_op_count(ox, "outlier", (int64_t)b->nsel - n);
	b->nsel = n;
out:
	return rc;
}

static enum dtx_code null_column(const struct dtx_opctx *ox, struct dtx_batch *b, uint32_t col,
                                 const struct dtx_column *flag, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t *which = dtx_mem_alloc((size_t)b->nrows + 1, sizeof(*which));
	uint32_t *row = dtx_mem_alloc((size_t)b->nrows + 1, sizeof(*row));
	struct dtx_column *made = NULL;
	int64_t found = 0;

	if (!which || !row)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < b->nrows; i++) {
		bool out = !dtx_column_is_null(flag, i) && dtx_bit(flag->v.bits, i);

		found += out;
		which[i] = out ? DTX_NOWHERE : 0;
		row[i] = i;
	}
	DTX_TRY(dtx_cells_gather(&b->col[col], 1, which, row, b->nrows, &ox->out->field[col], &made,
	                         err));
	dtx_batch_put(b, col, made);
	dtx_op_count(ox, "outlier", found);
out:
	dtx_mem_free(which);
	dtx_mem_free(row);
	return rc;
}

/* A batch with its hidden flags.  A flag is made of its column alone. */
static enum dtx_code treat_batch(const struct dtx_opctx *ox, struct dtx_batch *b,
                                 struct dtx_err *err)
{
	const struct outlier_args *a = ox->args;
	const struct dtx_derive_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_column *flag = NULL;

	for (uint32_t k = 0; k < s->nstages; k++) {
		const struct dtx_derive_stage *st = &s->stage[k];

		if (st->made.type.type != DTX_T_BOOL)
			continue;
		DTX_TRY(dtx_batch_flat(b, st->target, &flag, err));
		if (a->action == ACTION_DROP)
			DTX_TRY(drop_rows(ox, b, flag, err));
		else if (dtx_op_wants(ox, (uint32_t)st->col[0]))
			DTX_TRY(null_column(ox, b, (uint32_t)st->col[0], flag, err));
		dtx_column_unref(flag);
		flag = NULL;
	}
out:
	dtx_column_unref(flag);
	return rc;
}

static enum dtx_code outlier_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                   struct dtx_emit *out, struct dtx_err *err)
{
	const struct outlier_args *a = ox->args;
	bool treats = a->action == ACTION_DROP || a->action == ACTION_NULL;

	return dtx_derive_whole_then(ox, t, treats ? treat_batch : NULL, out, err);
}

/* With `null` and `clip` a value may follow from other rows of the group; with `flag` only the new
 * columns do, which are not among `cols`. */
static void outlier_facts(const json_t *canonical, struct dtx_op_facts *facts)
{
	const char *action = dtx_json_text(canonical, "action", "flag");

	if (!strcmp(action, "drop"))
		*facts = (struct dtx_op_facts){ .rows = DTX_ROWS_CHOSEN,
			                        .values = DTX_VALUES_KEPT,
			                        .decides = "cols,by",
			                        .groups = "by" };
	else if (!strcmp(action, "flag"))
		*facts = (struct dtx_op_facts){
			.rows = DTX_ROWS_WINDOW, .groups = "by", .lo = INT64_MIN, .hi = INT64_MAX
		};
	else
		*facts = (struct dtx_op_facts){ .rows = DTX_ROWS_WINDOW,
			                        .values = DTX_VALUES_CHANGED,
			                        .groups = "by",
			                        .lo = INT64_MIN,
			                        .hi = INT64_MAX };
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
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Flag, blank, clip or drop numbers far from the others",
	.notes = "Quartiles are of type 7, the standard deviation is the sample's, a median "
		 "deviation is scaled by 1.4826. A null is not an outlier; its flag is null.",
	.facts_of = outlier_facts,
	.params = outlier_params,
	.nparams = DTX_COUNT(outlier_params),
	.examples = outlier_examples,
	.nexamples = DTX_COUNT(outlier_examples),
	.args_size = sizeof(struct outlier_args),
	.check = outlier_check,
	.bind = outlier_bind,
	.map = &dtx_short_map,
	.whole = outlier_whole,
	.explain = outlier_explain,
};
