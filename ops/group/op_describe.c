/* describe: what each column holds, in numbers.  It is not a macro: the result has a row for each
 * column and its type, which are known when the input is. */
#include "core/data/cells.h"
#include "ops/window/shortwin.h"
#include "ops/group/table/tableagg.h"
#include "ops/group/table/tablekeys.h"

enum figure { N, NULLS, DISTINCT, MIN, Q1, MEDIAN, Q3, MAX, MEAN, SD, NSTATS };
static const struct {
	const char *name, *before, *after; /* formula around the column */
	bool numbers;                      /* of number columns only */
	enum dtx_type type;                /* UNKNOWN: of the described columns */
} stats[NSTATS] = {
	[N] = { "n", "count(", ")", false, DTX_T_INT64 },
	[NULLS] = { "nulls", "count() - count(", ")", false, DTX_T_INT64 },
	[DISTINCT] = { "distinct", "count_distinct(", ")", false, DTX_T_INT64 },
	[MIN] = { "min", "min(", ")", false, DTX_T_UNKNOWN },
	[Q1] = { "q1", "quantile(", ", 0.25)", true, DTX_T_FLOAT64 },
	[MEDIAN] = { "median", "median(", ")", true, DTX_T_FLOAT64 },
	[Q3] = { "q3", "quantile(", ", 0.75)", true, DTX_T_FLOAT64 },
	[MAX] = { "max", "max(", ")", false, DTX_T_UNKNOWN },
	[MEAN] = { "mean", "mean(", ")", true, DTX_T_FLOAT64 },
	[SD] = { "sd", "std(", ")", true, DTX_T_FLOAT64 },
};

struct describe_args {
	struct dtx_cols *cols, *by;
};
struct describe_state {
	struct dtx_groupkeys by;
	struct dtx_colmap map;
	int32_t *col; /* described columns */
	uint32_t n;
	struct dtx_field extreme; /* of min and max */
	struct dtx_tableagg agg;  /* column c's stat k is result c * NSTATS + k */
};

#define AT(member) .offset = offsetof(struct describe_args, member)
static const struct dtx_param describe_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  AT(cols),
	  .aliases = "columns",
	  .def = "[\"*\"]",
	  .help = "columns to describe" },
	{ .name = "by",
	  .kind = DTX_P_COLUMNS,
	  AT(by),
	  .aliases = "group_by,groupby,keys",
	  .help = "groups, each described on its own" },
};
static const struct dtx_example describe_examples[] = {
	{ .step = DTX_JSON({ "op" : "describe" }),
	  .in = "v\n1\n2\n4\n\n2\n",
	  .out = "column,type,n,nulls,distinct,min,q1,median,q3,max,mean,sd\n"
	         "v,int,4,1,3,1,1.75,2.0,2.5,4,2.25,1.2583057392117916\n" },
	{ .step = DTX_JSON({ "op" : "summary", "cols" : [ "t", "n" ], "by" : ["k"] }),
	  .in = "k,t,n\nb,x,3\na,z,5\nb,y,1\n",
	  .out = "k,column,type,n,nulls,distinct,min,q1,median,q3,max,mean,sd\n"
	         "b,t,text,2,0,2,x,,,,y,,\nb,n,int,2,0,2,1,1.5,2.0,2.5,3,2.0,"
	         "1.4142135623730951\n"
	         "a,t,text,1,0,1,z,,,,z,,\na,n,int,1,0,1,5,5.0,5.0,5.0,5,5.0,\n" },
	{ .step = DTX_JSON({ "op" : "stats", "cols" : [ "a", "b" ] }),
	  .in = "a,b\n2024-03-01,2024-01-31\n2024-01-01,\n",
	  .out = "column,type,n,nulls,distinct,min,q1,median,q3,max,mean,sd\n"
	         "a,date,2,0,2,2024-01-01,,,,2024-03-01,,\n"
	         "b,date,1,1,1,2024-01-31,,,,2024-01-31,,\n" },
	{ .step = DTX_JSON({ "op" : "describe", "by" : ["type"] }),
	  .in = "type,v\na,1\n",
	  .error = "name_collision",
	  .message = "two columns would be called 'type'" },
};

/* --- binding --- */

/* A result of column c; unbound where it has none. */
static enum dtx_code bind_stat(struct dtx_bind *b, struct describe_state *s, uint32_t c,
                               enum figure k, struct dtx_err *err)
{
	const struct dtx_field *f = &b->in[0]->field[s->col[c]];
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	enum dtx_code rc = DTX_OK;
	struct dtx_expr *e = NULL;

	if (stats[k].numbers && !dtx_type_is_number(f->type.type))
		goto out;
	dtx_buf_add(&text, stats[k].before);
	dtx_expr_print_name(f->name, &text);
	dtx_buf_add(&text, stats[k].after);
	DTX_TRY(dtx_buf_check(&text, "a formula", err));
	DTX_TRY(dtx_expr_made(b->arena, dtx_buf_str(&text), &e, err));
	DTX_TRY(dtx_tableagg_bind(b, e, "/cols", NULL, 0, (int32_t)(s->by.n + 2 + k),
	                          &s->agg.out[c * NSTATS + k], err));
out:
	dtx_buf_clear(&text);
	return rc;
}

/* The type of min and max is the rule of several columns in one. */
static void find_extreme(const struct dtx_bind *b, struct describe_state *s)
{
	s->extreme.type.type = DTX_T_NULL;
	for (uint32_t c = 0; c < s->n; c++) {
		const struct dtx_field f = { .type = b->in[0]->field[s->col[c]].type };

		if (c)
			dtx_field_merge(&s->extreme, &f);
		else
			s->extreme = f;
	}
}

static enum dtx_code bind_outputs(struct dtx_bind *b, struct describe_state *s, struct dtx_err *err)
{
	const struct dtx_typeref text = { .type = DTX_T_TEXT };
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < s->by.n; i++)
		DTX_TRY(dtx_bind_pass(b, 0, s->by.col[i], NULL, err));
	DTX_TRY(dtx_bind_make(b, "column", text, NULL, "name of", err));
	DTX_TRY(dtx_bind_make(b, "type", text, NULL, "type of", err));
	for (unsigned k = 0; k < NSTATS; k++) {
		struct dtx_typeref type = { .type = stats[k].type };

		if (type.type == DTX_T_UNKNOWN)
			type = s->extreme.type;
		DTX_TRY(dtx_bind_make(b, stats[k].name, type, NULL, stats[k].name, err));
	}
	s->extreme.name = stats[MIN].name;
	DTX_TRY(dtx_colmap_bind(b, 0, &s->map, err));
out:
	return rc;
}

static enum dtx_code describe_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct describe_args *a = args;
	struct describe_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;
	int32_t *col;
	uint32_t n;

	if (!s)
		DTX_FAIL_MEM(err);
	if (a->by)
		DTX_TRY(dtx_groupkeys_bind(b, 0, a->by, "/by", &s->by, err));
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &col, &n, err));
	s->col = dtx_arena_alloc(b->arena, (size_t)n + 1, sizeof(*s->col));
	s->agg.nouts = n * NSTATS;
	s->agg.out = dtx_arena_zalloc(b->arena, (size_t)s->agg.nouts + 1, sizeof(*s->agg.out));
	if (!s->col || !s->agg.out)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < n; i++)
		if (col[i] >= 0 && dtx_cols_find(s->by.col, s->by.n, col[i]) < 0)
			s->col[s->n++] = col[i];
	find_extreme(b, s);
	DTX_TRY(bind_outputs(b, s, err));
	for (uint32_t c = 0; c < s->n; c++) {
		DTX_TRY(dtx_bind_use(b, DTX_USE_ROWS, 0, s->col[c], DTX_DEMAND_VALUE, err));
		for (unsigned k = 0; b->typed && k < NSTATS; k++)
			DTX_TRY(bind_stat(b, s, c, (enum figure)k, err));
	}
	dtx_bind_kind(b, DTX_KIND_WHOLE);
	if (!a->by || dtx_cols_static(a->by, b->in[0]))
		dtx_bind_close(b);
out:
	return rc;
}

/* --- results --- */

struct work {
	const struct dtx_opctx *ox;
	const struct describe_state *s;
	struct dtx_table *t;
	struct dtx_tablekeys keys;
	uint32_t nwin;              /* pieces of a result: groups of a batch each */
	struct dtx_column **result; /* [(c * NSTATS + k) * nwin + piece]; NULL: nulls */
	uint32_t *which, *row;      /* scratch of a batch */
	struct dtx_column **src;    /* per column and piece */
};

static uint32_t nresults(const struct work *w)
{
	return w->s->n * NSTATS * w->nwin;
}

static enum dtx_code final_one(struct work *w, struct dtx_tableagg_run *run, uint32_t i,
                               struct dtx_err *err)
{
	struct dtx_field field = { .type = { stats[i % NSTATS].type, 0, 0 } };
	enum dtx_code rc = DTX_OK;
	struct dtx_column *got = NULL;

	if (field.type.type == DTX_T_UNKNOWN)
		field = w->s->extreme;
	for (uint32_t p = 0; p < w->nwin && w->s->agg.out[i].bound; p++) {
		uint32_t from = p * DTX_BATCH_ROWS;
		uint32_t n = DTX_MIN(w->keys.n - from, (uint32_t)DTX_BATCH_ROWS);

		DTX_TRY(dtx_tableagg_final(run, i, from, n, NULL, &got, err));
		DTX_TRY(dtx_cells_fit(got, &field, &w->result[i * w->nwin + p], err));
		dtx_column_unref(got);
		got = NULL;
	}
out:
	dtx_column_unref(got);
	return rc;
}

static enum dtx_code find_results(struct work *w, struct dtx_err *err)
{
	struct dtx_tableagg_run run = { .ox = w->ox };
	enum dtx_code rc = DTX_OK;
	uint32_t *group = NULL;

	DTX_TRY(dtx_tablekeys_open(&w->keys, w->ox, &w->s->by, w->t, err));
	w->nwin = (w->keys.n + DTX_BATCH_ROWS - 1) / DTX_BATCH_ROWS;
	w->result = dtx_mem_zalloc((size_t)nresults(w) + 1, sizeof(struct dtx_column *));
	group = dtx_mem_alloc((size_t)w->t->nrows + 1, sizeof(*group));
	if (!w->result || !group)
		DTX_FAIL_MEM(err);
	for (int64_t r = 0; r < w->t->nrows; r++)
		group[r] = dtx_tablekeys_id(&w->keys, r);
	DTX_TRY(dtx_tableagg_open(&run, w->ox, &w->s->agg, w->keys.n, err));
	DTX_TRY(dtx_tableagg_add(&run, w->t, group, err));
	for (uint32_t i = 0; i < w->s->n * NSTATS; i++)
		DTX_TRY(final_one(w, &run, i, err));
out:
	dtx_tableagg_close(&run);
	dtx_mem_free(group);
	return rc;
}

/* Names and types of the columns of rows [at, at + n). */
static enum dtx_code put_names(struct work *w, struct dtx_batch *b, int64_t at, struct dtx_err *err)
{
	const struct dtx_typeref text = { .type = DTX_T_TEXT };
	enum dtx_code rc = DTX_OK;
	struct dtx_builder name, type;
	struct dtx_buf word = DTX_BUF_INIT(64);

	dtx_builder_init(&name, text, b->nrows);
	dtx_builder_init(&type, text, b->nrows);
	for (uint32_t i = 0; i < b->nrows; i++) {
		int32_t c = w->s->col[(at + i) % w->s->n];
		const struct dtx_field *f = &w->t->schema->field[c];

		dtx_buf_reset(&word);
		dtx_type_print(f->type, &word);
		dtx_builder_text(&name, dtx_str_of(f->name));
		dtx_builder_text(&type, dtx_str_of(dtx_buf_text(&word)));
	}
	DTX_TRY(dtx_builder_finish(&name, NULL, &b->col[w->s->by.n], err));
	DTX_TRY(dtx_builder_finish(&type, NULL, &b->col[w->s->by.n + 1], err));
out:
	dtx_builder_clear(&name);
	dtx_builder_clear(&type);
	dtx_buf_clear(&word);
	return rc;
}

static enum dtx_code put_stats(struct work *w, struct dtx_batch *b, int64_t at, struct dtx_err *err)
{
	uint32_t first = w->s->by.n + 2;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < b->nrows; i++) {
		uint32_t group = (uint32_t)((at + i) / w->s->n), c = (uint32_t)((at + i) % w->s->n);

		w->which[i] = c * w->nwin + group / DTX_BATCH_ROWS;
		w->row[i] = group % DTX_BATCH_ROWS;
	}
	for (uint32_t k = 0; k < NSTATS; k++) {
		if (!dtx_op_wants(w->ox, first + k))
			continue;
		for (uint32_t i = 0; i < w->s->n * w->nwin; i++)
			w->src[i] = w->result[(i / w->nwin * NSTATS + k) * w->nwin + i % w->nwin];
		DTX_TRY(dtx_cells_gather(w->src, w->s->n * w->nwin, w->which, w->row, b->nrows,
		                         &w->ox->out->field[first + k], &b->col[first + k], err));
	}
out:
	return rc;
}

static enum dtx_code put_row(void *ctx, struct dtx_batch *b, int64_t at, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(put_names(ctx, b, at, err));
	DTX_TRY(put_stats(ctx, b, at, err));
out:
	return rc;
}

static enum dtx_code emit_rows(struct work *w, struct dtx_emit *out, struct dtx_err *err)
{
	const struct dtx_rowfill fill = { .fill = put_row, .ctx = w };
	int64_t n = (int64_t)w->keys.n * w->s->n;
	uint32_t most = dtx_op_batch_rows(w->ox);
	enum dtx_code rc = DTX_OK;
	int64_t *row = dtx_mem_alloc((size_t)n + 1, sizeof(*row));

	w->which = dtx_mem_alloc(most, sizeof(*w->which));
	w->row = dtx_mem_alloc(most, sizeof(*w->row));
	w->src = dtx_mem_alloc((size_t)w->s->n * w->nwin + 1, sizeof(struct dtx_column *));
	if (!row || !w->which || !w->row || !w->src)
		DTX_FAIL_MEM(err);
	for (int64_t i = 0; i < n; i++)
		row[i] = w->keys.first[i / w->s->n];
	DTX_TRY(dtx_table_fill(w->ox, w->t, &w->s->map, row, n, &fill, out, err));
out:
	dtx_mem_free(row);
	return rc;
}

static enum dtx_code describe_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                    struct dtx_emit *out, struct dtx_err *err)
{
	struct work w = { .ox = ox, .s = ox->bound, .t = t };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(find_results(&w, err));
	DTX_TRY(emit_rows(&w, out, err));
out:
	for (uint32_t i = 0; w.result && i < nresults(&w); i++)
		dtx_column_unref(w.result[i]);
	dtx_mem_free(w.result);
	dtx_mem_free(w.which);
	dtx_mem_free(w.row);
	dtx_mem_free(w.src);
	dtx_tablekeys_close(&w.keys);
	return rc;
}

static void describe_explain(const void *args, struct dtx_buf *out)
{
	const struct describe_args *a = args;

	dtx_buf_add(out, "describe ");
	dtx_cols_print(a->cols, out);
	if (a->by) {
		dtx_buf_add(out, " within ");
		dtx_cols_print(a->by, out);
	}
	dtx_buf_add(out, ": counts, quartiles, mean and standard deviation");
}

const struct dtx_op dtx_op_describe = {
	.name = "describe",
	.aliases = "summary,stats",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "One row per column: type, counts, extremes, quartiles, mean",
	.notes = "`n` counts the values that are not null. Quartiles (type 7), mean and the "
		 "sample's standard deviation are there for numbers; min and max have the type "
		 "that all described columns fit, text if need be. With `by` each group has its "
		 "rows, groups in order of first appearance.",
	.params = describe_params,
	.nparams = DTX_COUNT(describe_params),
	.examples = describe_examples,
	.nexamples = DTX_COUNT(describe_examples),
	.args_size = sizeof(struct describe_args),
	.bind = describe_bind,
	.whole = describe_whole,
	.explain = describe_explain,
};
