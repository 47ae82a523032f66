/* resample: aggregates over buckets of a calendar.
 *
 * A group_by whose last key, the bucket, has the name of the time: a formula sees the bucket, an
 * aggregate in it the times of the rows. */
#include "core/plan/bind/across.h"
#include "ops/group/table/tableagg.h"
#include "ops/kit/compose.h"
#include "ops/kit/times.h"

enum { LABEL_START, LABEL_END };
enum { CLOSED_LEFT, CLOSED_RIGHT };
struct resample_args {
	const char *col, *every;
	struct dtx_cols *by, *across;
	struct dtx_plist agg;
	int label, closed, week_start;
	bool fill;
};
#define AT(member) .offset = offsetof(struct resample_args, member)
static const struct dtx_param resample_params[] = {
	{ .name = "col",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  AT(col),
	  .aliases = "column,on,date,date_column",
	  .help = "dates or times" },
	{ .name = "every",
	  .kind = DTX_P_TEXT,
	  .required = true,
	  AT(every),
	  .aliases = "freq",
	  .schema = "{\"type\":\"string\",\"pattern\":\"^[0-9]{1,7}(s|min|h|d|w|mo|q|y)$\"}",
	  .help = "length of a bucket: 15s 30min 1h 7d 1w 1mo 1q 1y" },
	{ .name = "by",
	  .kind = DTX_P_COLUMNS,
	  AT(by),
	  .aliases = "group_by,groupby,keys",
	  .help = "groups" },
	{ .name = "agg",
	  .kind = DTX_P_LIST,
	  .required = true,
	  AT(agg),
	  .aliases = "aggs,aggregations,aggfunc",
	  .rows = dtx_agg_rows,
	  .nrows = DTX_AGG_ROWS,
	  .item_size = sizeof(struct dtx_agg_item),
	  .sugar = DTX_SUGAR_AGG,
	  .help = "results per bucket" },
	{ .name = "label",
	  .kind = DTX_P_CHOICE,
	  AT(label),
	  .choices = "start,end",
	  .synonyms = "left=start,right=end",
	  .def = "\"start\"",
	  .help = "the time that stands for a bucket" },
	{ .name = "closed",
	  .kind = DTX_P_CHOICE,
	  AT(closed),
	  .choices = "left,right",
	  .def = "\"left\"",
	  .help = "the bucket has its start (left) or its end" },
	{ .name = "fill",
	  .kind = DTX_P_BOOL,
	  AT(fill),
	  .def = "false",
	  .help = "also give the empty buckets between the first and the last" },
	{ .name = "week_start",
	  .kind = DTX_P_CHOICE,
	  AT(week_start),
	  .choices = "monday,tuesday,wednesday,thursday,friday,saturday,sunday",
	  .def = "\"monday\"",
	  .help = "first day of weeks" },
	DTX_ACROSS_PARAM(struct resample_args),
};
static const struct dtx_example resample_examples[] = {
	{ .step = DTX_JSON({
		  "op" : "resample",
		  "col" : "d",
		  "every" : "1mo",
		  "agg" : { "v" : "sum", "n" : "count()" }
	  }),
	  .in = "d,v\n2024-02-28,1\n2024-01-31,5\n2024-02-01,2\n,9\n",
	  .out = "d,v,n\n2024-01-01,5,1\n2024-02-01,3,2\n" },
	{ .step = DTX_JSON({
		  "op" : "group_by_dynamic",
		  "col" : "t",
		  "every" : "30min",
		  "by" : ["k"],
		  "agg" : { "m" : "max(v)", "n" : "count()" },
		  "fill" : true
	  }),
	  .in = "k,t,v\nb,2024-01-01T10:59:00,1.50\nb,2024-01-01T09:30:00,2\n"
	        "a,2024-01-01T10:00:00,3\n",
	  .out = "k,t,m,n\nb,2024-01-01T09:30:00,2.0,1\nb,2024-01-01T10:00:00,,0\n"
	         "b,2024-01-01T10:30:00,1.5,1\na,2024-01-01T10:00:00,3.0,1\n" },
	{ .step = DTX_JSON({
		  "op" : "resample",
		  "col" : "d",
		  "every" : "1w",
		  "closed" : "right",
		  "label" : "end",
		  "agg" : { "n" : "count()" }
	  }),
	  .in = "d\n2024-01-01\n2024-01-02\n2024-01-08\n",
	  .out = "d,n\n2024-01-01,1\n2024-01-08,2\n" },
	{ .step = DTX_JSON({
		  "op" : "resample",
		  "col" : "d",
		  "every" : "6mo",
		  "agg" : { "last" : "max(d)", "m" : "month(d)" }
	  }),
	  .in = "d\n2024-05-01\n2024-08-31\n",
	  .out = "d,last,m\n2024-01-01,2024-05-01,1\n2024-07-01,2024-08-31,7\n" },
	{ .step = DTX_JSON(
		  { "op" : "resample", "col" : "d", "every" : "1d", "agg" : { "n" : "sum" } }),
	  .in = "d,n\nx,1\n",
	  .error = "type_mismatch",
	  .message = "resample needs dates or times, 'd' is text" },
	{ .step = DTX_JSON(
		  { "op" : "resample", "col" : "d", "every" : "1d", "agg" : { "x" : "n + 1" } }),
	  .in = "d,n\n2024-01-01,1\n",
	  .error = "aggregate_required",
	  .message = "column 'n' is neither a key nor in an aggregate" },
	{ .step = DTX_JSON({
		  "op" : "resample",
		  "col" : "d",
		  "every" : "1d",
		  "by" : ["d"],
		  "agg" : { "x" : "month(d)" }
	  }),
	  .in = "d,n\n2024-01-01,1\n",
	  .error = "bad_param_value",
	  .message = "the time 'd' cannot be a group" },
};

static enum dtx_code resample_check(const void *args, struct dtx_err *err)
{
	return dtx_every_check(((const struct resample_args *)args)->every, "resample", err);
}

/* group_by gives the buckets, sort their order: with groups, that of the groups' first buckets,
 * whose numbers are in `row`.  Empty buckets come from pad_time, so their `row` is null; the derive
 * gives them what the formulas are without rows. */
static const char resample_macro[] = DTX_JSON([
	{ "op" : "filter", "where" : "true" },
	{ "op" : "group_by", "by" : [], "agg" : "$agg", "across" : "$across" },
	{ "op" : "add_id", "as" : "row" },
	{ "if" : "$by", "op" : "window", "set" : [ { "as" : "row", "expr" : "1" } ] },
	{ "op" : "sort", "by" : ["$col"] },
	{ "if" : "$fill", "op" : "pad_time", "col" : "$col", "every" : "$every" },
	{ "if" : "$fill", "op" : "derive", "set" : [ { "as" : "row", "expr" : "1" } ] },
	{ "op" : "drop", "cols" : ["row"] }
]);

/* The time that stands for the bucket of a row.  With closed right, a time that begins a bucket is
 * in the one before: buckets have whole seconds, or whole days of dates. */
static const char *bucket_text(struct dtx_compose *c, const struct resample_args *a,
                               enum dtx_type type, struct dtx_duration every)
{
	static const char *const units[] = { "year", "quarter", "month",  "week",
		                             "day",  "hour",    "minute", "second" };
	static const char *const days[] = { ", 'monday'",   ", 'tuesday'", ", 'wednesday'",
		                            ", 'thursday'", ", 'friday'",  ", 'saturday'",
		                            ", 'sunday'" };
	const char *t = dtx_compose_name(c, a->col);
	const char *week = every.unit == DTX_U_WEEK ? days[a->week_start] : "", *bucket;
	const char *size = every.n == 1 ? units[every.unit] : a->every;

	bucket = dtx_compose_text(c, "date_trunc(%s, '%s'%s)", t, size, week);
	if (a->closed == CLOSED_RIGHT)
		bucket = dtx_compose_text(
			c, "if(%s = %s, date_trunc(date_add(%s, -1, '%s'), '%s'%s), %s)", bucket, t,
			t, type == DTX_T_DATE ? "day" : "second", size, week, bucket);
	if (a->label == LABEL_END)
		bucket = dtx_compose_text(c, "date_add(%s, 1, '%s')", bucket, size);
	return bucket;
}

struct rowless {
	struct dtx_expr *none, *null;
};

/* What an aggregate is without rows. */
static const struct dtx_expr *without_rows(void *arg, const struct dtx_expr *e)
{
	const struct rowless *r = arg;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool counts;

	if (!dtx_expr_is_aggregate(e))
		return NULL;
	dtx_expr_print(e, &text);
	counts = dtx_str_starts(dtx_buf_str(&text), DTX_STR("count"));
	dtx_buf_clear(&text);
	return counts ? r->none : r->null;
}

/* The results, with those of buckets without rows, where `row` is null. */
static enum dtx_code fill_results(struct dtx_compose *c, const struct resample_args *a,
                                  const char *row, struct dtx_err *err)
{
	const struct dtx_agg_item *item = a->agg.item;
	struct dtx_arena *arena = c->b->arena;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct rowless r = { NULL, NULL };
	json_t *set = json_array();
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_expr_made(arena, DTX_STR("0"), &r.none, err));
	DTX_TRY(dtx_expr_made(arena, DTX_STR("null"), &r.null, err));
	for (size_t i = 0; i < a->agg.n; i++) {
		struct dtx_expr *e = dtx_expr_swap(arena, item[i].expr, without_rows, &r);

		if (!e)
			DTX_FAIL_MEM(err);
		dtx_buf_reset(&text);
		dtx_expr_print(e, &text);
		DTX_TRY(dtx_buf_check(&text, "a formula", err));
		dtx_compose_add(
			c, set,
			dtx_compose_item(item[i].as,
		                         dtx_compose_text(c, "if(%s is null, %s, %s)", row,
		                                          dtx_buf_text(&text),
		                                          dtx_compose_name(c, item[i].as))));
	}
	dtx_compose_set(c, "derive", "set", json_incref(set));
out:
	json_decref(set);
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code resample_compose(struct dtx_bind *b, const void *args, json_t *const *step,
                                      size_t n, struct dtx_err *err)
{
	const struct resample_args *a = args;
	struct dtx_compose c = { b, step, n, false };
	const char *row = dtx_compose_free(&c, &a->agg, "row"), *bucket, *where, *first;
	json_t *keys = NULL, *by = NULL;
	struct dtx_duration every;
	enum dtx_code rc = DTX_OK;
	int32_t t, *col = NULL;
	uint32_t ncol = 0;

	DTX_TRY(dtx_bind_column(b, 0, a->col, "/col", &t, err));
	DTX_TRY(dtx_every_bind(b, t, a->every, &every, err));
	if (a->by && a->by->n)
		DTX_TRY(dtx_bind_cols(b, 0, a->by, "/by", &col, &ncol, err));
	if (t < 0)
		goto out;
	if (dtx_cols_find(col, ncol, t) >= 0)
		DTX_TRY(dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, "/by", err,
		                      "the time '%s' cannot be a group", a->col));
	bucket = bucket_text(&c, a, b->in[0]->field[t].type.type, every);
	where = dtx_compose_text(&c, "%s is not null", dtx_compose_name(&c, a->col));
	first = dtx_compose_text(&c, "min(%s)", dtx_compose_name(&c, row));
	by = dtx_compose_names(&c, col, ncol);
	keys = json_copy(by);
	dtx_compose_add(&c, keys, dtx_compose_item(a->col, bucket));
	dtx_compose_set(&c, "filter", "where", json_string(where));
	dtx_compose_set(&c, "group_by", "by", json_incref(keys));
	dtx_compose_set(&c, "add_id", "as", json_string(row));
	dtx_compose_set(&c, "window", "by", json_incref(by));
	dtx_compose_set(&c, "window", "set", json_pack("[o]", dtx_compose_item(row, first)));
	if (a->by && a->by->n)
		dtx_compose_set(&c, "sort", "by", json_pack("[ss]", row, a->col));
	dtx_compose_set(&c, "pad_time", "by", json_incref(by));
	if (a->fill)
		DTX_TRY(fill_results(&c, a, dtx_compose_name(&c, row), err));
	dtx_compose_set(&c, "drop", "cols", json_pack("[s]", row));
	if (a->by && a->by->n && !b->typed && !dtx_cols_static(a->by, b->in[0]))
		dtx_compose_unknown(&c, n);
	rc = dtx_compose_end(&c, err);
out:
	json_decref(by);
	json_decref(keys);
	return rc;
}

static void resample_explain(const void *args, struct dtx_buf *out)
{
	const struct resample_args *a = args;
	const struct dtx_agg_item *item = a->agg.item;

	dtx_buf_printf(out, "per %s of %s", a->every, a->col);
	if (a->by && a->by->n) {
		dtx_buf_add(out, " and ");
		dtx_cols_print(a->by, out);
	}
	dtx_buf_add(out, a->fill ? ", empty ones too: " : ": ");
	for (size_t i = 0; i < a->agg.n; i++) {
		dtx_buf_printf(out, "%s%s = ", i ? ", " : "", item[i].as);
		dtx_expr_print(item[i].expr, out);
	}
}

const struct dtx_op dtx_op_resample = {
	.name = "resample",
	.aliases = "group_by_dynamic",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Aggregates over buckets of a calendar",
	.notes = "One row per bucket that has rows, in order of time within each group, groups in "
		 "order of first appearance. Times are UTC; buckets of several units count "
		 "from 1970-01-01 (weeks from the first day of its week), of months, "
		 "quarters and years from the year 0. A row without a time is dropped and "
		 "counted." DTX_ACROSS_NOTE,
	.across = "agg",
	.params = resample_params,
	.nparams = DTX_COUNT(resample_params),
	.examples = resample_examples,
	.nexamples = DTX_COUNT(resample_examples),
	.args_size = sizeof(struct resample_args),
	.check = resample_check,
	.macro = resample_macro,
	.compose = resample_compose,
	.explain = resample_explain,
};
