/* resample: aggregates over buckets of a calendar.  It is not a macro: in a formula the time is the
 * bucket's, inside of an aggregate the row's own. */
#include <stdio.h>

#include "core/data/builder.h"
#include "core/plan/bind/across.h"
#include "ops/group/table/tableagg.h"
#include "ops/group/table/tablekeys.h"
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
struct resample_state {
	int32_t col;
	struct dtx_typeref type; /* of the time */
	struct dtx_groupkeys by;
	struct dtx_colmap map;
	struct dtx_duration every;
	struct dtx_tableagg agg;
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

/* --- binding --- */

static enum dtx_code bind_keys(struct dtx_bind *b, const struct resample_args *a,
                               struct resample_state *s, struct dtx_field *key, struct dtx_err *err)
{
	const struct dtx_typeref unknown = { .type = DTX_T_UNKNOWN };
	enum dtx_code rc = DTX_OK;

	s->type = s->col >= 0 ? b->in[0]->field[s->col].type : unknown;
	for (uint32_t i = 0; i < s->by.n; i++) {
		key[i] = b->in[0]->field[s->by.col[i]];
		DTX_TRY(dtx_bind_pass(b, 0, s->by.col[i], NULL, err));
	}
	key[s->by.n] = (struct dtx_field){ .name = a->col, .type = s->type };
	if (s->col >= 0 && dtx_cols_find(s->by.col, s->by.n, s->col) >= 0) {
		DTX_TRY(dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, "/by", err,
		                      "the time '%s' cannot be a group", a->col));
		goto out;
	}
	DTX_TRY(dtx_bind_use(b, DTX_USE_ROWS, 0, s->col, DTX_DEMAND_VALUE, err));
	DTX_TRY(dtx_bind_use(b, (int32_t)b->ncols, 0, s->col, DTX_DEMAND_VALUE, err));
	if (!dtx_param_is_hole(a->col))
		DTX_TRY(dtx_bind_make(b, a->col, s->type, NULL, "bucket of", err));
out:
	return rc;
}

static enum dtx_code bind_agg(struct dtx_bind *b, const struct resample_args *a,
                              struct resample_state *s, const struct dtx_field *key,
                              struct dtx_err *err)
{
	const struct dtx_agg_item *item = a->agg.item;
	enum dtx_code rc = DTX_OK;
	char sub[48];

	for (size_t k = 0; k < a->agg.n; k++) {
		struct dtx_tableagg_out *o = &s->agg.out[s->agg.nouts];
		struct dtx_typeref type = { .type = DTX_T_UNKNOWN };

		if (dtx_bind_out(b, item[k].as) >= 0) {
			snprintf(sub, sizeof(sub), "/agg/%zu/as", k);
			DTX_TRY(dtx_bind_taken(b, item[k].as, sub, err));
			continue;
		}
		snprintf(sub, sizeof(sub), "/agg/%zu/expr", k);
		DTX_TRY(dtx_tableagg_bind(b, item[k].expr, sub, key, s->by.n + 1, (int32_t)b->ncols,
		                          o, err));
		if (o->bound)
			type = dtx_bound_type(o->bound);
		DTX_TRY(dtx_bind_make(b, item[k].as, type, item[k].expr, "by", err));
		s->agg.nouts += o->bound != NULL;
	}
out:
	return rc;
}

static enum dtx_code resample_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct resample_args *a = args;
	struct resample_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;
	struct dtx_field *key;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_column(b, 0, a->col, "/col", &s->col, err));
	if (a->by)
		DTX_TRY(dtx_groupkeys_bind(b, 0, a->by, "/by", &s->by, err));
	DTX_TRY(dtx_every_bind(b, s->col, a->every, &s->every, err));
	key = dtx_arena_zalloc(b->arena, (size_t)s->by.n + 1, sizeof(*key));
	s->agg.out = dtx_arena_zalloc(b->arena, a->agg.n + 1, sizeof(*s->agg.out));
	if (!key || !s->agg.out)
		DTX_FAIL_MEM(err);
	DTX_TRY(bind_keys(b, a, s, key, err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->map, err));
	DTX_TRY(bind_agg(b, a, s, key, err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->map, err));
	if (!a->agg.n)
		dtx_bind_unsure(b);
	dtx_bind_kind(b, DTX_KIND_WHOLE);
	if (!a->by || dtx_cols_static(a->by, b->in[0]))
		dtx_bind_close(b);
out:
	return rc;
}

/* --- buckets --- */

struct bucket {
	int64_t start, first; /* first row of its group */
};
struct work {
	const struct dtx_opctx *ox;
	const struct resample_state *s;
	struct dtx_table *t;
	struct dtx_times times;
	uint32_t *of; /* per row its bucket */
	struct bucket *bucket;
	size_t n, cap;
	struct dtx_tableagg_run run; /* a group is a bucket */
};

static int64_t bucket_of(const struct work *w, int64_t row)
{
	const struct resample_args *a = w->ox->args;

	/* weeks that start on Sunday are those of a calendar that is one day ahead */
	int64_t ahead = (7 - a->week_start) % 7 * DTX_DAY_US;
	int64_t us = w->times.us[row] - (a->closed == CLOSED_RIGHT);

	return dtx_bucket_start(us + ahead, w->s->every) - ahead;
}

static enum dtx_code add_bucket(struct work *w, int64_t start, int64_t first, struct dtx_err *err)
{
	const struct dtx_run *run = w->ox->run;
	enum dtx_code rc = DTX_OK;

	if (w->n >= DTX_NOWHERE - 1 ||
	    (run && run->max_rows >= 0 && (int64_t)w->n >= run->max_rows))
		DTX_FAIL(err, DTX_E_ROW_LIMIT, "resample: too many buckets");
	if (!dtx_mem_reserve(&w->bucket, &w->cap, w->n + 1, sizeof(*w->bucket)))
		DTX_FAIL_MEM(err);
	w->bucket[w->n++] = (struct bucket){ start, first };
out:
	return rc;
}

/* Empty buckets between the last one of the group and `start`. */
static enum dtx_code add_empty(struct work *w, int64_t start, int64_t first, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t at = w->bucket[w->n - 1].start;

	while (dtx_duration_step(at, 1, w->s->every, &at) && at < start)
		DTX_TRY(add_bucket(w, at, first, err));
out:
	return rc;
}

/* Buckets of a group's rows, which are in order of time. */
static enum dtx_code add_group(struct work *w, const int64_t *row, int64_t n, int64_t first,
                               struct dtx_err *err)
{
	const struct resample_args *a = w->ox->args;
	enum dtx_code rc = DTX_OK;
	bool any = false;
	int64_t nulls = 0;

	for (int64_t i = 0; i < n; i++) {
		int64_t start;

		w->of[row[i]] = DTX_NOWHERE;
		nulls += w->times.null[row[i]];
		if (w->times.null[row[i]])
			continue;
		start = bucket_of(w, row[i]);
		if (any && a->fill)
			DTX_TRY(add_empty(w, start, first, err));
		if (!any || w->bucket[w->n - 1].start != start)
			DTX_TRY(add_bucket(w, start, first, err));
		any = true;
		w->of[row[i]] = (uint32_t)w->n - 1;
	}
	dtx_op_count(w->ox, "null", nulls);
out:
	return rc;
}

static enum dtx_code find_buckets(struct work *w, struct dtx_err *err)
{
	struct dtx_tablekeys keys = DTX_TABLEKEYS_INIT;
	enum dtx_code rc = DTX_OK;
	int64_t *start = NULL, *row = NULL;

	DTX_TRY(dtx_tablekeys_open(&keys, w->ox, &w->s->by, w->t, err));
	DTX_TRY(dtx_times_open(&w->times, w->t, w->s->col, err));
	DTX_TRY(dtx_tablekeys_rows(&keys, w->ox, &start, &row, err));
	w->of = dtx_mem_alloc((size_t)w->t->nrows + 1, sizeof(*w->of));
	if (!w->of)
		DTX_FAIL_MEM(err);
	for (uint32_t g = 0; g < keys.n; g++) {
		DTX_TRY(dtx_times_sort(&w->times, row + start[g], start[g + 1] - start[g], err));
		DTX_TRY(add_group(w, row + start[g], start[g + 1] - start[g], keys.first[g], err));
	}
out:
	dtx_mem_free(start);
	dtx_mem_free(row);
	dtx_tablekeys_close(&keys);
	return rc;
}

/* --- results --- */

static enum dtx_code label_column(struct work *w, size_t from, uint32_t n, bool end,
                                  struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_builder to;

	dtx_builder_init(&to, w->s->type, n);
	for (uint32_t i = 0; i < n; i++) {
		int64_t at = w->bucket[from + i].start;

		if (end && !dtx_duration_step(at, 1, w->s->every, &at))
			DTX_FAIL(err, DTX_E_OVERFLOW,
			         "resample: the end of a bucket is not a date");
		dtx_times_build(&to, w->s->type.type, at);
	}
	DTX_TRY(dtx_builder_finish(&to, NULL, out, err));
out:
	dtx_builder_clear(&to);
	return rc;
}

static enum dtx_code key_values(struct work *w, struct dtx_batch *b, struct dtx_column *label,
                                struct dtx_column **key, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t k = 0; k < w->s->by.n; k++)
		DTX_TRY(dtx_batch_flat(b, k, &key[k], err));
	key[w->s->by.n] = dtx_column_ref(label);
out:
	return rc;
}

/* Fills the columns that come after the keys, for buckets [from, from + b->nrows). */
static enum dtx_code fill_batch(void *ctx, struct dtx_batch *b, int64_t from, struct dtx_err *err)
{
	struct work *w = ctx;
	const struct resample_args *a = w->ox->args;
	uint32_t nkeys = w->s->by.n + 1;
	enum dtx_code rc = DTX_OK;
	struct dtx_column **key = dtx_mem_zalloc((size_t)nkeys + 1, sizeof(struct dtx_column *));

	if (!key)
		DTX_FAIL_MEM(err);
	DTX_TRY(label_column(w, (size_t)from, b->nrows, a->label == LABEL_END, &b->col[nkeys - 1],
	                     err));
	DTX_TRY(key_values(w, b, b->col[nkeys - 1], key, err));
	for (uint32_t i = 0; i < w->s->agg.nouts; i++)
		if (dtx_op_wants(w->ox, nkeys + i))
			DTX_TRY(dtx_tableagg_final(&w->run, i, (uint32_t)from, b->nrows, key,
			                           &b->col[nkeys + i], err));
out:
	for (uint32_t k = 0; key && k < nkeys; k++)
		dtx_column_unref(key[k]);
	dtx_mem_free(key);
	return rc;
}

static enum dtx_code emit_buckets(struct work *w, struct dtx_emit *out, struct dtx_err *err)
{
	const struct dtx_rowfill fill = { .fill = fill_batch, .ctx = w };
	enum dtx_code rc = DTX_OK;
	int64_t *row = dtx_mem_alloc(w->n + 1, sizeof(*row));

	if (!row)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < w->n; i++)
		row[i] = w->bucket[i].first;
	DTX_TRY(dtx_table_fill(w->ox, w->t, &w->s->map, row, (int64_t)w->n, &fill, out, err));
out:
	dtx_mem_free(row);
	return rc;
}

static enum dtx_code resample_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                    struct dtx_emit *out, struct dtx_err *err)
{
	struct work w = { .ox = ox, .s = ox->bound, .t = t, .run = { .ox = ox } };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(find_buckets(&w, err));
	DTX_TRY(dtx_tableagg_open(&w.run, ox, &w.s->agg, (uint32_t)w.n, err));
	DTX_TRY(dtx_tableagg_add(&w.run, t, w.of, err));
	DTX_TRY(emit_buckets(&w, out, err));
out:
	dtx_tableagg_close(&w.run);
	dtx_mem_free(w.of);
	dtx_mem_free(w.bucket);
	dtx_times_close(&w.times);
	return rc;
}

static void resample_explain(const void *args, struct dtx_buf *out)
{
	const struct resample_args *a = args;
	const struct dtx_agg_item *item = a->agg.item;

	dtx_buf_printf(out, "per %s of %s", a->every, a->col);
	if (a->by) {
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
	.bind = resample_bind,
	.whole = resample_whole,
	.explain = resample_explain,
};
