/* implode: joins the values of a group into one text. */
#include "core/base/memory/prefetch.h"
#include "core/data/builder.h"
#include "ops/kit/cells_untyped.h"
#include "ops/group/table/tablekeys.h"

struct implode_args {
	struct dtx_cols *by;
	const char *col, *sep;
	bool distinct, sort;
};
struct implode_state {
	struct dtx_groupkeys by;
	int32_t col;
	uint32_t at; /* index of the new column */
	struct dtx_colmap map;
};

#define AT(member) .offset = offsetof(struct implode_args, member)
static const struct dtx_param implode_params[] = {
	{ .name = "by",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(by),
	  .aliases = "group_by,groupby,keys",
	  .help = "columns that make a group" },
	{ .name = "col",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  AT(col),
	  .aliases = "column",
	  .help = "column whose values are joined" },
	{ .name = "sep",
	  .kind = DTX_P_TEXT,
	  AT(sep),
	  .aliases = "delimiter,separator",
	  .def = "\",\"",
	  .help = "text between the values" },
	{ .name = "distinct",
	  .kind = DTX_P_BOOL,
	  AT(distinct),
	  .def = "false",
	  .help = "each value once" },
	{ .name = "sort", .kind = DTX_P_BOOL, AT(sort), .def = "false", .help = "sort the values" },
};
static const struct dtx_example implode_examples[] = {
	{ .step = DTX_JSON({ "op" : "implode", "by" : ["k"], "col" : "v" }),
	  .in = "k,v,x\na,2.50,p\nb,1,q\na,,r\na,1,s\n,7,t\nc,,u\n",
	  .out = "k,v\na,\"2.50,1\"\nb,1\n,7\nc,\n" },
	{ .step = DTX_JSON({
		  "op" : "string_agg",
		  "by" : ["k"],
		  "col" : "v",
		  "sep" : "; ",
		  "distinct" : true,
		  "sort" : true
	  }),
	  .in = "v,k\n10,a\n9,a\n10.0,a\n",
	  .out = "k,v\na,9; 10\n" },
	{ .step = DTX_JSON({ "op" : "implode", "by" : ["k"], "col" : "k" }),
	  .in = "k\na\n",
	  .error = "name_collision",
	  .message = "two columns would be called 'k'" },
};

static enum dtx_code implode_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct implode_args *a = args;
	const struct dtx_typeref text = { .type = DTX_T_TEXT };
	struct implode_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_groupkeys_bind(b, 0, a->by, "/by", &s->by, err));
	DTX_TRY(dtx_bind_column(b, 0, a->col, "/col", &s->col, err));
	for (uint32_t i = 0; i < s->by.n; i++)
		DTX_TRY(dtx_bind_pass(b, 0, s->by.col[i], NULL, err));
	s->at = b->ncols;
	DTX_TRY(dtx_bind_use(b, (int32_t)b->ncols, 0, s->col, DTX_DEMAND_BYTES, err));
	if (a->distinct || a->sort)
		DTX_TRY(dtx_bind_use(b, (int32_t)b->ncols, 0, s->col, DTX_DEMAND_VALUE, err));
	DTX_TRY(dtx_bind_make(b, a->col, text, NULL, "joined", err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->map, err));
	dtx_bind_kind(b, DTX_KIND_WHOLE);
	dtx_bind_close(b);
out:
	return rc;
}

#define AHEAD 8

struct cell {
	struct dtx_column *column; /* NULL: not needed */
	uint32_t at;
};
struct work {
	const struct implode_args *a;
	const struct implode_state *s;
	struct dtx_raw raw;
	struct dtx_tablekeys keys;
	struct dtx_rowkeys value;
	int64_t *start, *row;
	bool *repeat; /* per row: its value has occurred before; NULL: all values count */
	struct dtx_buf text, scratch;
	struct cell cell[2 * AHEAD]; /* cell i of the groups is at i % (2 * AHEAD) */
	int64_t found;               /* number of cells that were found */
};

/* Finds cell i in the order of the groups, and prefetches those that follow: rows of a group are
 * far from each other, and so are their texts.  First the place of a cell, where the
 * address of its text is, then the text. */
static struct cell cell_of(struct work *w, int64_t i)
{
	int64_t end = DTX_MIN(i + 2 * AHEAD, w->keys.nrows);
	const struct cell *soon;

	w->found = DTX_MAX(w->found, i);
	for (; w->found < end; w->found++) {
		struct cell *c = &w->cell[w->found % (2 * AHEAD)];
		const struct dtx_batch *b = dtx_raw_row(&w->raw, w->row[w->found], &c->at);

		c->column = b->col[w->s->col];
		if (c->column && c->column->form == DTX_F_SPAN)
			DTX_PREFETCH(&c->column->v.span[c->at]);
	}
	soon = &w->cell[(i + AHEAD) % (2 * AHEAD)];
	if (i + AHEAD < end && soon->column && soon->column->form == DTX_F_SPAN)
		DTX_PREFETCH(soon->column->base + soon->column->v.span[soon->at].off);
	return w->cell[i % (2 * AHEAD)];
}

/* Marks all but the first of equal values in each group. */
static enum dtx_code mark_repeats(struct work *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t *row = dtx_mem_alloc((size_t)w->keys.nrows + 1, sizeof(*row));

	w->repeat = dtx_mem_zalloc((size_t)w->keys.nrows + 1, sizeof(*w->repeat));
	if (!row || !w->repeat)
		DTX_FAIL_MEM(err);
	memcpy(row, w->row, (size_t)w->keys.nrows * sizeof(*row));
	for (uint32_t g = 0; g < w->keys.n; g++) {
		int64_t from = w->start[g], end = w->start[g + 1];

		DTX_TRY(dtx_rowkeys_sort(&w->value, row + from, end - from, err));
		for (int64_t i = from + 1; i < end; i++)
			w->repeat[row[i]] = dtx_rowkeys_cmp(&w->value, row[i - 1], row[i]) == 0;
	}
out:
	dtx_mem_free(row);
	return rc;
}

/* Joins the values of a group. *any: it has values. */
static enum dtx_code join_group(struct work *w, uint32_t g, bool *any, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t from = w->start[g], end = w->start[g + 1];

	*any = false;
	dtx_buf_reset(&w->text);
	for (int64_t i = from; i < end; i++) {
		struct cell c = cell_of(w, i);
		struct dtx_str text;
		bool null;

		if (!c.column || dtx_column_is_null(c.column, c.at) ||
		    (w->repeat && w->repeat[w->row[i]]))
			continue;
		if (*any)
			dtx_buf_add(&w->text, w->a->sep);
		*any = true;
		dtx_buf_reset(&w->scratch);
		text = dtx_cell_text(c.column, c.at, &w->scratch, &null);
		dtx_buf_adds(&w->text, text);
		if (!dtx_buf_ok(&w->scratch))
			DTX_FAIL_MEM(err);
	}
	DTX_TRY(dtx_buf_check(&w->text, "a joined text", err));
out:
	return rc;
}

static enum dtx_code join_groups(struct work *w, uint32_t from, uint32_t n, struct dtx_column **out,
                                 struct dtx_err *err)
{
	const struct dtx_typeref text = { .type = DTX_T_TEXT };
	enum dtx_code rc = DTX_OK;
	struct dtx_builder to;

	dtx_builder_init(&to, text, n);
	for (uint32_t g = from; g < from + n; g++) {
		bool any;

		DTX_TRY(join_group(w, g, &any, err));
		if (any)
			dtx_builder_text(&to, dtx_buf_str(&w->text));
		else
			dtx_builder_null(&to);
	}
	DTX_TRY(dtx_builder_finish(&to, NULL, out, err));
out:
	dtx_builder_clear(&to);
	return rc;
}

static enum dtx_code put_texts(void *ctx, struct dtx_batch *b, int64_t at, struct dtx_err *err)
{
	const struct work *w = ctx;
	enum dtx_code rc = DTX_OK;
	struct dtx_column *made = NULL;

	DTX_TRY(join_groups(ctx, (uint32_t)at, b->nrows, &made, err));
	dtx_batch_put(b, w->s->at, made);
out:
	return rc;
}

static enum dtx_code implode_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                   struct dtx_emit *out, struct dtx_err *err)
{
	struct work w = { .a = ox->args, .s = ox->bound, .raw = DTX_RAW_INIT };
	const struct dtx_rowfill fill = { .fill = put_texts, .ctx = &w };
	enum dtx_code rc = DTX_OK;

	dtx_buf_init(&w.text, DTX_BUF_TEXT_MAX);
	dtx_buf_init(&w.scratch, DTX_BUF_TEXT_MAX);
	DTX_TRY(dtx_raw_open(&w.raw, t, err));
	DTX_TRY(dtx_tablekeys_open(&w.keys, ox, &w.s->by, t, err));
	DTX_TRY(dtx_tablekeys_rows(&w.keys, ox, &w.start, &w.row, err));
	if (w.a->distinct || w.a->sort)
		DTX_TRY(dtx_rowkeys_column(&w.value, t, w.s->col, err));
	if (w.a->distinct)
		DTX_TRY(mark_repeats(&w, err));
	for (uint32_t g = 0; w.a->sort && g < w.keys.n; g++)
		DTX_TRY(dtx_rowkeys_sort(&w.value, w.row + w.start[g], w.start[g + 1] - w.start[g],
		                         err));
	DTX_TRY(dtx_table_fill(ox, t, &w.s->map, w.keys.first, w.keys.n, &fill, out, err));
out:
	dtx_mem_free(w.start);
	dtx_mem_free(w.row);
	dtx_mem_free(w.repeat);
	dtx_rowkeys_close(&w.value);
	dtx_tablekeys_close(&w.keys);
	dtx_raw_close(&w.raw);
	dtx_buf_clear(&w.text);
	dtx_buf_clear(&w.scratch);
	return rc;
}

static void implode_explain(const void *args, struct dtx_buf *out)
{
	const struct implode_args *a = args;

	dtx_buf_printf(out, "join the %svalues of %s with '%s' for each ",
	               a->distinct ? "distinct " : "", a->col, a->sep);
	dtx_cols_print(a->by, out);
}

const struct dtx_op dtx_op_implode = {
	.name = "implode",
	.aliases = "nest_values,string_agg",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Join the values of a group into one text",
	.notes = "One row per group, in order of first appearance: the columns of `by`, then the "
		 "text. Values as written, nulls left out; a group of nulls gives null.",
	.facts = { .rows = DTX_ROWS_GROUPED, .decides = "by", .groups = "by" },
	.params = implode_params,
	.nparams = DTX_COUNT(implode_params),
	.examples = implode_examples,
	.nexamples = DTX_COUNT(implode_examples),
	.args_size = sizeof(struct implode_args),
	.bind = implode_bind,
	.whole = implode_whole,
	.explain = implode_explain,
};
