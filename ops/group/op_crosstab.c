/* crosstab: how often values meet, or an aggregate of where they meet.
 *
 * Rows and columns are numbered as pivot_wider does it.  Every cell of the table is a group of its
 * own, those of the totals too: a row of the input adds to up to four of them.  It is not a macro:
 * group_by and pivot_wider take half the processor time for counts, but totals need four group_by,
 * two pivot_wider, two joins and a union, which take the same time as this. */
#include <math.h>

#include "core/data/builder.h"
#include "core/expr/fn/fn.h"
#include "ops/kit/newnames.h"
#include "ops/group/table/tableagg.h"
#include "ops/reshape/wider.h"

#define TOTAL "Total"
enum { NORM_ROWS, NORM_COLS, NORM_ALL };
struct crosstab_args {
	struct dtx_cols *rows, *cols;
	const char *value, *agg;
	bool margins;
	int normalize; /* -1: not */
};
struct crosstab_state {
	struct dtx_wider_args names; /* what numbers rows and columns */
	struct dtx_wider_state keys;
	struct dtx_tableagg agg;
	struct dtx_field value; /* of the new columns */
};

#define AT(member) .offset = offsetof(struct crosstab_args, member)
static const struct dtx_param crosstab_params[] = {
	{ .name = "rows",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(rows),
	  .aliases = "index,id",
	  .help = "columns whose values are the rows" },
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns,names_from",
	  .help = "columns whose values are the columns" },
	{ .name = "value",
	  .kind = DTX_P_COLUMN,
	  AT(value),
	  .aliases = "values,values_from",
	  .help = "column that is aggregated (default: rows are counted)" },
	{ .name = "agg",
	  .kind = DTX_P_TEXT,
	  AT(agg),
	  .aliases = "aggfunc",
	  .def = "\"count\"",
	  .help = "aggregate of one argument" },
	{ .name = "margins",
	  .kind = DTX_P_BOOL,
	  AT(margins),
	  .def = "false",
	  .help = "a row and a column Total" },
	{ .name = "normalize",
	  .kind = DTX_P_CHOICE,
	  AT(normalize),
	  .choices = "rows,cols,all",
	  .synonyms = "index=rows,columns=cols",
	  .help = "shares of the row's, the column's or the whole total" },
};
#define PAIRS "k,q,v\nb,y,1\na,x,2\nb,y,3\nb,x,\n"
static const struct dtx_example crosstab_examples[] = {
	{ .step = DTX_JSON({ "op" : "crosstab", "rows" : "k", "cols" : "q" }),
	  .in = PAIRS,
	  .out = "k,y,x\nb,2,1\na,0,1\n" },
	{ .step = DTX_JSON({
		  "op" : "contingency",
		  "rows" : "k",
		  "cols" : "q",
		  "value" : "v",
		  "agg" : "sum",
		  "margins" : true
	  }),
	  .in = PAIRS,
	  .out = "k,y,x,Total\nb,4,,4\na,,2,2\nTotal,4,2,6\n" },
	{ .step = DTX_JSON({ "op" : "crosstab", "rows" : "n", "cols" : "q", "margins" : true }),
	  .in = "n,q\n1,\n2,x\n",
	  .out = "n,null,x,Total\n1,1,0,1\n2,0,1,1\nTotal,1,1,2\n" },
	{ .step = DTX_JSON({
		  "op" : "crosstab",
		  "rows" : "k",
		  "cols" : "q",
		  "normalize" : "rows",
		  "margins" : true
	  }),
	  .in = "k,q\na,x\na,y\na,x\na,x\nb,y\n",
	  .out = "k,x,y,Total\na,0.75,0.25,1.0\nb,0.0,1.0,1.0\nTotal,0.6,0.4,1.0\n" },
	{ .step = DTX_JSON({ "op" : "crosstab", "rows" : "k", "cols" : "q", "agg" : "sum" }),
	  .in = PAIRS,
	  .error = "missing_param",
	  .message = "crosstab: agg 'sum' needs a value to work on" },
	{ .step = DTX_JSON({ "op" : "crosstab", "rows" : "k", "cols" : "q", "margins" : true }),
	  .in = "k,q\na,Total\n",
	  .error = "name_collision",
	  .message = "crosstab: two columns would be called 'Total'" },
};

static enum dtx_code crosstab_check(const void *args, struct dtx_err *err)
{
	const struct crosstab_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (!a->value && strcmp(a->agg, "count") != 0) {
		rc = dtx_err_set(err, DTX_E_MISSING_PARAM, __FILE__, __LINE__,
		                 "crosstab: agg '%s' needs a value to work on", a->agg);
		dtx_err_hint(err, "value names the column");
	}
	return rc;
}

/* --- binding --- */

static enum dtx_code bind_value(struct dtx_bind *b, const struct crosstab_args *a,
                                struct crosstab_state *s, struct dtx_err *err)
{
	static const struct dtx_field number = { .type = { DTX_T_FLOAT64, 0, 0 } };
	enum dtx_code rc = DTX_OK;
	struct dtx_expr *call = dtx_expr_call1(b->arena, a->agg, a->value);
	int32_t col = -1;

	s->agg.nouts = 1;
	s->agg.out = dtx_arena_zalloc(b->arena, 1, sizeof(*s->agg.out));
	if (!call || !s->agg.out)
		DTX_FAIL_MEM(err);
	if (a->value)
		DTX_TRY(dtx_bind_column(b, 0, a->value, "/value", &col, err));
	if ((a->value && col < 0) || (!a->value && b->broken))
		goto out;
	if (!dtx_fn_may_be_agg(dtx_str_of(a->agg), a->value != NULL)) {
		DTX_TRY(dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, "/agg", err,
		                      "'%s' is not an aggregate of one argument", a->agg));
		goto out;
	}
	DTX_TRY(dtx_tableagg_bind(b, call, "/agg", NULL, 0, DTX_USE_ROWS, s->agg.out, err));
	if (!s->agg.out->bound)
		goto out;
	DTX_ASSERT(s->agg.out->calls.n == 1 && dtx_bound_column(s->agg.out->bound) == 0, err);
	s->value.type = dtx_bound_type(s->agg.out->bound);
	if (a->normalize < 0)
		goto out;
	if (b->typed && !dtx_type_is_number(s->value.type.type))
		DTX_TRY(dtx_bind_fail_next(b, DTX_E_TYPE_MISMATCH, "/normalize",
		                           "leave normalize out, or aggregate with count or sum",
		                           err, "shares need numbers, %s gives %s", a->agg,
		                           dtx_type_name(s->value.type.type)));
	s->value = number;
out:
	return rc;
}

static enum dtx_code crosstab_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct crosstab_args *a = args;
	struct crosstab_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	s->names.names_sep = "_";
	s->names.names_prefix = "";
	s->names.names_order = DTX_WIDER_APPEARANCE;
	s->keys.op = "crosstab";
	DTX_TRY(dtx_groupkeys_bind(b, 0, a->rows, "/rows", &s->keys.id, err));
	DTX_TRY(dtx_groupkeys_bind(b, 0, a->cols, "/cols", &s->keys.names, err));
	DTX_TRY(bind_value(b, a, s, err));
	for (uint32_t i = 0; i < s->keys.id.n; i++)
		DTX_TRY(dtx_bind_pass(b, 0, s->keys.id.col[i], NULL, err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->keys.id_map, err));
	dtx_bind_open(b);
	dtx_bind_kind(b, DTX_KIND_WHOLE);
out:
	return rc;
}

/* --- the schema that the rows lead to --- */

static enum dtx_code number_cells(const struct dtx_opctx *ox, struct dtx_table *t,
                                  struct dtx_wider_plan *p, struct dtx_err *err)
{
	const struct crosstab_state *s = ox->bound;
	struct dtx_opctx pivot = *ox;

	pivot.args = &s->names;
	pivot.bound = &s->keys;
	return dtx_wider_plan(&pivot, t, p, err);
}

struct fields {
	struct dtx_field *field;
	uint32_t n;
	struct dtx_strmap names;
};

static enum dtx_code add_field(struct fields *to, struct dtx_field f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_names_note(&to->names, "crosstab", f.name, to->n,
	                       "a column of \"rows\" has the name of a value of \"cols\": "
	                       "rename it in a step before",
	                       err));
	to->field[to->n++] = f;
out:
	return rc;
}

static enum dtx_code add_value(const struct crosstab_state *s, struct fields *to, const char *name,
                               struct dtx_arena *arena, struct dtx_err *err)
{
	struct dtx_field f = s->value;
	enum dtx_code rc = DTX_OK;

	f.name = dtx_arena_strdup(arena, name);
	if (!f.name)
		DTX_FAIL_MEM(err);
	DTX_TRY(add_field(to, f, err));
out:
	return rc;
}

static enum dtx_code crosstab_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                     struct dtx_arena *arena, const struct dtx_schema **out,
                                     struct dtx_err *err)
{
	static const struct dtx_field text = { .type = { DTX_T_TEXT, 0, 0 } };
	const struct crosstab_args *a = ox->args;
	const struct crosstab_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_wider_plan p = DTX_WIDER_PLAN_INIT;
	struct dtx_schema *schema = dtx_arena_zalloc(arena, 1, sizeof(*schema));
	struct fields to = { .names = DTX_STRMAP_INIT };

	DTX_TRY(number_cells(ox, t, &p, err));
	to.field = dtx_arena_zalloc(arena, (size_t)s->keys.id.n + p.ncols + 2, sizeof(*to.field));
	if (!schema || !to.field)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < s->keys.id.n; i++) {
		struct dtx_field f = t->schema->field[s->keys.id.col[i]];

		/* the word Total is one of its cells */
		if (a->margins && !i && f.type.type != DTX_T_TEXT)
			dtx_field_merge(&f, &text);
		DTX_TRY(add_field(&to, f, err));
	}
	for (uint32_t c = 0; c < p.ncols; c++)
		DTX_TRY(add_value(s, &to, p.label[c], arena, err));
	if (a->margins)
		DTX_TRY(add_value(s, &to, TOTAL, arena, err));
	schema->field = to.field;
	schema->nfields = to.n;
	*out = schema;
out:
	dtx_strmap_clear(&to.names);
	dtx_wider_plan_clear(&p);
	return rc;
}

/* --- the cells --- */

struct work {
	const struct dtx_opctx *ox;
	const struct crosstab_state *s;
	struct dtx_table *t;
	struct dtx_wider_plan plan;
	uint32_t width;              /* cells of a row, its total too */
	uint32_t per;                /* rows whose cells are in one column */
	struct dtx_column *totals;   /* cells of the last row, the totals */
	uint32_t *which, *row;       /* scratch of a column */
	struct dtx_tableagg_run run; /* a group is a cell */
};

/* Every input row adds to its cell and to the totals of its row, its column and the table. */
static enum dtx_code add_cells(struct work *w, struct dtx_err *err)
{
	const struct dtx_wider_plan *p = &w->plan;
	enum dtx_code rc = DTX_OK;
	uint32_t *group = dtx_mem_alloc((size_t)w->t->nrows + 1, sizeof(*group));

	if (!group)
		DTX_FAIL_MEM(err);
	for (unsigned total = 0; total < 4; total++) {
		for (int64_t i = 0; i < w->t->nrows; i++) {
			uint32_t row = total & 2 ? p->nids : dtx_tablekeys_id(&p->id, i);
			uint32_t col =
				total & 1 ? w->width - 1 : p->place[dtx_tablekeys_id(&p->name, i)];

			DTX_TRY(dtx_cancel_row((uint64_t)i, err));
			group[i] = row * w->width + col;
		}
		DTX_TRY(dtx_tableagg_add(&w->run, w->t, group, err));
	}
out:
	dtx_mem_free(group);
	return rc;
}

static double number_at(const struct dtx_column *c, uint32_t row)
{
	return dtx_column_is_null(c, row) ? NAN : c->v.f64[row];
}

/* The total that a cell is a share of. */
static double whole_of(const struct work *w, const struct dtx_column *cells,
                       const struct dtx_column *totals, uint32_t row, uint32_t col)
{
	const struct crosstab_args *a = w->ox->args;

	switch (a->normalize) {
	case NORM_ROWS: return number_at(cells, row * w->width + w->width - 1);
	case NORM_COLS: return number_at(totals, col);
	default: return number_at(totals, w->width - 1);
	}
}

/* Column `col` of n rows whose cells are there, as shares. */
static enum dtx_code share_column(struct work *w, struct dtx_column *const *cells, uint32_t n,
                                  uint32_t col, struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_builder to;

	dtx_builder_init(&to, w->s->value.type, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct dtx_column *of = cells[i / w->per];
		uint32_t row = i % w->per;
		double all = whole_of(w, of, w->totals, row, col);
		double v = number_at(of, row * w->width + col) / all;

		if (isfinite(v) && fabs(all) > 0)
			dtx_builder_f64(&to, v);
		else
			dtx_builder_null(&to);
	}
	DTX_TRY(dtx_builder_finish(&to, NULL, out, err));
out:
	dtx_builder_clear(&to);
	return rc;
}

/* n columns have the cells of the rows of b. */
static enum dtx_code put_values(struct work *w, struct dtx_column *const *cells, uint32_t n,
                                struct dtx_batch *b, struct dtx_err *err)
{
	const struct crosstab_args *a = w->ox->args;
	uint32_t first = w->s->keys.id.n;
	enum dtx_code rc = DTX_OK;

	for (uint32_t c = 0; c < w->width && first + c < w->ox->out->nfields; c++) {
		if (!dtx_op_wants(w->ox, first + c))
			continue;
		DTX_TRY(dtx_cancel_look(err));
		if (a->normalize >= 0) {
			DTX_TRY(share_column(w, cells, b->nrows, c, &b->col[first + c], err));
			continue;
		}
		for (uint32_t i = 0; i < b->nrows; i++) {
			w->which[i] = i / w->per;
			w->row[i] = i % w->per * w->width + c;
		}
		DTX_TRY(dtx_cells_gather(cells, n, w->which, w->row, b->nrows,
		                         &w->ox->out->field[first + c], &b->col[first + c], err));
	}
out:
	return rc;
}

/* Cells of rows [from, from + n), as numbers where shares are wanted. */
static enum dtx_code final_cells(struct work *w, uint32_t from, uint32_t n, struct dtx_column **out,
                                 struct dtx_err *err)
{
	const struct crosstab_args *a = w->ox->args;
	enum dtx_code rc = DTX_OK;
	struct dtx_column *got = NULL, *fit = NULL;

	DTX_TRY(dtx_tableagg_final(&w->run, 0, from * w->width, n * w->width, NULL, &got, err));
	if (a->normalize < 0) {
		*out = got;
		got = NULL;
		goto out;
	}
	DTX_TRY(dtx_cells_fit(got, &w->s->value, &fit, err));
	DTX_TRY(dtx_column_flat(fit, out, err));
out:
	dtx_column_unref(got);
	dtx_column_unref(fit);
	return rc;
}

/* --- the rows --- */

/* The first key column also gets the word Total, so it must be able to hold a text. */
static enum dtx_code fit_keys(struct work *w, struct dtx_err *err)
{
	int32_t col = w->s->keys.id.col[0];
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < w->t->nbatches; i++) {
		struct dtx_batch *b = w->t->batch[i];
		struct dtx_column *fit = NULL;

		DTX_TRY(dtx_cells_fit(b->col[col], &w->ox->out->field[0], &fit, err));
		dtx_batch_put(b, (uint32_t)col, fit);
	}
out:
	return rc;
}

/* A column cannot hold the cells of many wide rows, but a batch of few rows has small columns,
 * which cost more than their cells. */
#define CELL_COLUMNS 16u

static enum dtx_code put_cells(void *ctx, struct dtx_batch *b, int64_t at, struct dtx_err *err)
{
	struct work *w = ctx;
	enum dtx_code rc = DTX_OK;
	struct dtx_column *cells[CELL_COLUMNS] = { NULL };
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->nrows; i += w->per)
		DTX_TRY(final_cells(w, (uint32_t)at + i, DTX_MIN(w->per, b->nrows - i), &cells[n++],
		                    err));
	DTX_TRY(put_values(w, cells, n, b, err));
out:
	while (n)
		dtx_column_unref(cells[--n]);
	return rc;
}

static enum dtx_code emit_rows(struct work *w, struct dtx_emit *out, struct dtx_err *err)
{
	const struct dtx_rowfill fill = { .fill = put_cells,
		                          .ctx = w,
		                          .most = CELL_COLUMNS * w->per };

	return dtx_table_fill(w->ox, w->t, &w->s->keys.id_map, w->plan.id.first, w->plan.nids,
	                      &fill, out, err);
}

static enum dtx_code emit_totals(struct work *w, struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;
	struct dtx_builder to;

	dtx_builder_init(&to, (struct dtx_typeref){ DTX_T_TEXT, 0, 0 }, 1);
	DTX_TRY(dtx_batch_new(w->ox->out, 1, &b, err));
	dtx_builder_text(&to, DTX_STR(TOTAL));
	DTX_TRY(dtx_builder_finish(&to, NULL, &b->col[0], err));
	for (uint32_t i = 1; i < w->s->keys.id.n; i++)
		DTX_TRY(dtx_column_nulls(w->ox->out->field[i].type, 1, &b->col[i], err));
	DTX_TRY(put_values(w, &w->totals, 1, b, err));
	DTX_TRY(dtx_emit_batch(out, b, err));
out:
	dtx_builder_clear(&to);
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code open_work(struct work *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(number_cells(w->ox, w->t, &w->plan, err));
	w->width = w->plan.ncols + 1;
	if (w->width > DTX_BATCH_ROWS || ((uint64_t)w->plan.nids + 1) * w->width >= DTX_NOWHERE)
		DTX_FAIL(err, DTX_E_PIVOT_TOO_WIDE, "crosstab: %u rows of %u columns are too many",
		         w->plan.nids, w->plan.ncols);
	w->per = DTX_MAX(1, DTX_BATCH_ROWS / w->width);
	w->which = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*w->which));
	w->row = dtx_mem_alloc(DTX_BATCH_ROWS, sizeof(*w->row));
	if (!w->which || !w->row)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code crosstab_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                    struct dtx_emit *out, struct dtx_err *err)
{
	const struct crosstab_args *a = ox->args;
	struct work w = { .ox = ox, .s = ox->bound, .t = t, .run = { .ox = ox } };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(open_work(&w, err));
	DTX_TRY(dtx_tableagg_open(&w.run, ox, &w.s->agg, (w.plan.nids + 1) * w.width, err));
	DTX_TRY(add_cells(&w, err));
	DTX_TRY(final_cells(&w, w.plan.nids, 1, &w.totals, err));
	DTX_TRY(fit_keys(&w, err));
	DTX_TRY(emit_rows(&w, out, err));
	if (a->margins && !dtx_emit_full(out))
		DTX_TRY(emit_totals(&w, out, err));
out:
	dtx_tableagg_close(&w.run);
	dtx_column_unref(w.totals);
	dtx_mem_free(w.which);
	dtx_mem_free(w.row);
	dtx_wider_plan_clear(&w.plan);
	return rc;
}

static void crosstab_explain(const void *args, struct dtx_buf *out)
{
	static const char *const of[] = { "row", "column", "whole" };
	const struct crosstab_args *a = args;

	if (a->value)
		dtx_buf_printf(out, "%s of %s where ", a->agg, a->value);
	else
		dtx_buf_add(out, "count where ");
	dtx_cols_print(a->rows, out);
	dtx_buf_add(out, " (rows) and ");
	dtx_cols_print(a->cols, out);
	dtx_buf_add(out, " (columns) meet");
	if (a->normalize >= 0)
		dtx_buf_printf(out, ", as shares of the %s total", of[a->normalize]);
	if (a->margins)
		dtx_buf_add(out, ", with totals");
}

const struct dtx_op dtx_op_crosstab = {
	.name = "crosstab",
	.aliases = "contingency",
	.ninputs = 1,
	.flags = DTX_OP_OPEN | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Count or aggregate where the values of two columns meet",
	.notes = "Rows and columns come in order of first appearance; null is a value, and the "
		 "column of null is called null. A total is the aggregate of all its rows, not of "
		 "its cells. Where a share has nothing to be a share of it is null.",
	.params = crosstab_params,
	.nparams = DTX_COUNT(crosstab_params),
	.examples = crosstab_examples,
	.nexamples = DTX_COUNT(crosstab_examples),
	.args_size = sizeof(struct crosstab_args),
	.check = crosstab_check,
	.bind = crosstab_bind,
	.whole = crosstab_whole,
	.whole_schema = crosstab_schema,
	.explain = crosstab_explain,
};
