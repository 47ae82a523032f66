/* lag_lead: the value of another row, or the way from it; a short form of window. */
#include "ops/group/table/groupvals.h"
#include "ops/kit/text/jsonvalue.h"
#include "ops/window/shortwin.h"

enum { MODE_VALUE, MODE_DIFF, MODE_PCT };
struct lag_args {
	const char *col, *as;
	int64_t n;
	int mode;
	const json_t *other;
	bool ignore_nulls;
	struct dtx_cols *by;
	struct dtx_plist order;
};

#define ROWS_MAX   1000000000
#define AT(member) .offset = offsetof(struct lag_args, member)
static const struct dtx_param lag_params[] = {
	{ .name = "col",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  AT(col),
	  .aliases = "column",
	  .help = "column to look at" },
	{ .name = "as",
	  .kind = DTX_P_TEXT,
	  .required = true,
	  AT(as),
	  .aliases = "new_name,name",
	  .help = "name of the new column" },
	{ .name = "n",
	  .kind = DTX_P_INT,
	  AT(n),
	  .aliases = "count,periods",
	  .def = "1",
	  .min = -ROWS_MAX,
	  .max = ROWS_MAX,
	  .help = "how many rows before (after: negative, or the op named lead)" },
	{ .name = "mode",
	  .kind = DTX_P_CHOICE,
	  AT(mode),
	  .choices = "value,diff,pct",
	  .def = "\"value\"",
	  .help = "the value there; this one minus it; the relative change from it" },
	{ .name = "default",
	  .kind = DTX_P_VALUE,
	  AT(other),
	  .help = "where there is no such row (default: null)" },
	{ .name = "ignore_nulls",
	  .kind = DTX_P_BOOL,
	  AT(ignore_nulls),
	  .def = "false",
	  .help = "count only rows with a value: the last value that was known" },
	DTX_SHORT_BY(struct lag_args),
	DTX_SHORT_ORDER(struct lag_args),
};
static const struct dtx_example lag_examples[] = {
	{ .step = DTX_JSON({ "op" : "lag_lead", "col" : "v", "as" : "before" }),
	  .in = "v\n1\n4\n2\n",
	  .out = "v,before\n1,\n4,1\n2,4\n" },
	{ .step = DTX_JSON({
		  "op" : "shift",
		  "col" : "v",
		  "as" : "change",
		  "mode" : "diff",
		  "by" : ["k"],
		  "order" : ["t"]
	  }),
	  .in = "k,t,v\na,2,5\na,1,3\nb,1,7\n",
	  .out = "k,t,v,change\na,2,5,2\na,1,3,\nb,1,7,\n" },
	{ .step = DTX_JSON(
		  { "op" : "lead", "col" : "v", "as" : "next", "n" : 2, "default" : "none" }),
	  .in = "v\na\nb\nc\n",
	  .out = "v,next\na,c\nb,none\nc,none\n" },
	{ .step = DTX_JSON(
		  { "op" : "lag_lead", "col" : "v", "as" : "p", "n" : -1, "mode" : "pct" }),
	  .in = "v\n2\n4\n1\n",
	  .out = "v,p\n2,-0.5\n4,3.0\n1,\n" },
	{ .step = DTX_JSON(
		  { "op" : "lag", "col" : "v", "as" : "last known", "ignore_nulls" : true }),
	  .in = "v\n1\n\n\n4\n2\n",
	  .out = "v,last known\n1,\n,1\n,1\n4,1\n2,4\n" },
	{ .step = DTX_JSON(
		  { "op" : "lag", "col" : "v", "as" : "d", "mode" : "diff", "default" : 0 }),
	  .in = "v\n2\n",
	  .error = "param_conflict",
	  .message = "lag_lead: default cannot be combined with mode" },
	{ .step = DTX_JSON({ "op" : "lag", "col" : "v", "as" : "d", "default" : "x" }),
	  .in = "v\n2\n",
	  .error = "type_mismatch",
	  .message = "default does not fit column 'v' of type int" },
};

static enum dtx_code lag_check(const void *args, struct dtx_err *err)
{
	const struct lag_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (a->mode != MODE_VALUE && a->other)
		DTX_PARAM_FAIL(err, DTX_E_PARAM_CONFLICT, "/default",
		               "lag_lead: default cannot be combined with mode");
	if (a->mode != MODE_VALUE && a->ignore_nulls)
		DTX_PARAM_FAIL(err, DTX_E_PARAM_CONFLICT, "/ignore_nulls",
		               "lag_lead: ignore_nulls is for mode value; subtract its column in a "
		               "derive step after");
	DTX_TRY(dtx_orderkeys_check(&a->order, "lag_lead", "/order", err));
out:
	return rc;
}

static void lag_formula(const struct lag_args *a, struct dtx_buf *out)
{
	int64_t n = a->mode == MODE_VALUE && a->n < 0 ? -a->n : a->n;

	dtx_buf_add(out, a->mode == MODE_DIFF  ? "diff("
	                 : a->mode == MODE_PCT ? "pct_change("
	                 : a->n < 0            ? "lead("
	                                       : "lag(");
	dtx_expr_print_name(a->col, out);
	dtx_buf_printf(out, ", %lld", (long long)n);
	if (a->other && a->mode == MODE_VALUE) {
		dtx_buf_add(out, ", default: ");
		dtx_expr_print_scalar(a->other, out);
	}
	if (a->ignore_nulls)
		dtx_buf_add(out, ", ignore_nulls: true");
	dtx_buf_addc(out, ')');
}

static enum dtx_code bind_default(struct dtx_bind *b, const struct lag_args *a,
                                  const struct dtx_field *f, struct dtx_err *err)
{
	enum dtx_type type = f->type.type;

	if (!a->other || type == DTX_T_UNKNOWN || type == DTX_T_NULL ||
	    dtx_json_fits(a->other, type))
		return DTX_OK;
	return dtx_bind_misfit(b, "default", f, "/default", err);
}

static enum dtx_code lag_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct lag_args *a = args;
	struct dtx_shortwin w = { .b = NULL };
	enum dtx_code rc = DTX_OK;
	size_t before;
	int32_t col;

	DTX_TRY(dtx_bind_column(b, 0, a->col, "/col", &col, err));
	before = b->nfindings;
	if (col >= 0 && a->mode != MODE_VALUE)
		DTX_TRY(dtx_bind_number(b, col, "/col", err));
	if (col >= 0)
		DTX_TRY(bind_default(b, a, &b->in[0]->field[col], err));
	DTX_TRY(dtx_shortwin_open(&w, b, a->by, &a->order, 1, err));
	if (col >= 0 && b->nfindings == before) {
		lag_formula(a, &w.text);
		DTX_TRY(dtx_shortwin_add(&w, a->as, "/as", err));
	}
	DTX_TRY(dtx_shortwin_bind(&w, "/col", err));
	if (!w.window->set.n && !dtx_param_is_hole(a->as))
		DTX_TRY(dtx_bind_would_make(b, a->as, err));
out:
	dtx_shortwin_close(&w);
	return rc;
}

static void lag_explain(const void *args, struct dtx_buf *out)
{
	const struct lag_args *a = args;
	long long n = a->n < 0 ? -a->n : a->n;

	if (a->mode == MODE_VALUE)
		dtx_buf_printf(out, "%s = %s", a->as, a->col);
	else if (a->mode == MODE_DIFF)
		dtx_buf_printf(out, "%s = %s minus its value", a->as, a->col);
	else
		dtx_buf_printf(out, "%s = relative change of %s from its value", a->as, a->col);
	dtx_buf_printf(out, " %lld row%s %s", n, n == 1 ? "" : "s", a->n < 0 ? "after" : "before");
	if (a->ignore_nulls)
		dtx_buf_add(out, ", nulls not counted");
	if (a->other) {
		dtx_buf_add(out, ", else ");
		dtx_json_print(a->other, 0, out);
	}
	dtx_short_explain(a->by, &a->order, out);
}

/* The value itself is in another row; a difference is made of both. */
static void lag_facts(const json_t *canonical, struct dtx_op_facts *facts)
{
	bool value = !strcmp(dtx_json_text(canonical, "mode", "value"), "value");
	int64_t n = dtx_json_int(canonical, "n", 1);

	facts->lo = value ? -n : DTX_MIN(-n, 0);
	facts->hi = value ? -n : DTX_MAX(-n, 0);
	facts->loose = !value && n != 1 && n != -1;
	if (json_is_true(json_object_get(canonical, "ignore_nulls"))) {
		facts->lo = n < 0 ? 0 : INT64_MIN;
		facts->hi = n < 0 ? INT64_MAX : 0;
		facts->loose = true;
	}
}

const struct dtx_op dtx_op_lag_lead = {
	.name = "lag_lead",
	.aliases = "shift,lag,lead",
	.ninputs = 1,
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "The value some rows before or after, or the change from it",
	.notes = "A short form of window with lag(col, n), lead, diff and pct_change. Rows stay "
		 "where they are. Called lead, `n` counts rows after.",
	.facts = { .rows = DTX_ROWS_WINDOW, .groups = "by" },
	.facts_of = lag_facts,
	.params = lag_params,
	.nparams = DTX_COUNT(lag_params),
	.examples = lag_examples,
	.nexamples = DTX_COUNT(lag_examples),
	.args_size = sizeof(struct lag_args),
	.check = lag_check,
	.bind = lag_bind,
	.map = &dtx_short_map,
	.keys = dtx_derive_keys,
	.whole = dtx_derive_whole,
	.explain = lag_explain,
	.sql = dtx_derive_sql,
};
