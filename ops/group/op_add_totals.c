/* add_totals: rows and a column of sums.  It is not a macro: with `by` the row of a group comes
 * right after its rows, which group_by, union and sort do in 1.9 times the processor time. */
#include "core/data/builder.h"
#include "core/data/cells.h"
#include "ops/window/shortwin.h"
#include "ops/group/table/tableagg.h"
#include "ops/group/table/tablekeys.h"
#include "ops/kit/origins.h"

struct totals_args {
	bool rows, column, grand;
	struct dtx_cols *cols, *by;
	const char *label, *label_as;
};
struct totals_state {
	struct dtx_groupkeys by;
	struct dtx_colmap keys; /* output columns that show the group */
	int32_t *number;        /* columns that are summed */
	uint32_t n;
	int32_t label, total;    /* output columns; -1 */
	bool keyed;              /* the label's column shows a key: the label comes after it */
	struct dtx_bound *row;   /* sum of a row */
	struct dtx_tableagg agg; /* of the numbers, then of the row's sum */
};

#define AT(member) .offset = offsetof(struct totals_args, member)
static const struct dtx_param totals_params[] = {
	{ .name = "rows", .kind = DTX_P_BOOL, AT(rows), .def = "true", .help = "a row of sums" },
	{ .name = "column",
	  .kind = DTX_P_BOOL,
	  AT(column),
	  .def = "false",
	  .help = "a last column with the sum of each row" },
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  AT(cols),
	  .aliases = "columns",
	  .help = "columns to sum; without it all number columns but those of by" },
	{ .name = "by",
	  .kind = DTX_P_COLUMNS,
	  AT(by),
	  .aliases = "group_by,groupby,keys",
	  .help = "a row of sums for each group, after its last row" },
	{ .name = "grand",
	  .kind = DTX_P_BOOL,
	  AT(grand),
	  .def = "false",
	  .help = "with by: also a last row of sums of the whole table" },
	{ .name = "label",
	  .kind = DTX_P_TEXT,
	  AT(label),
	  .def = "\"Total\"",
	  .help = "in the first text column of a row of sums, and name of the new column" },
	{ .name = "label_as",
	  .kind = DTX_P_TEXT,
	  AT(label_as),
	  .help = "a new last column for the label of rows of sums" },
};
static const struct dtx_example totals_examples[] = {
	{ .step = DTX_JSON({ "op" : "add_totals" }),
	  .in = "k,n,x\na,1,1.50\nb,2,\n",
	  .out = "k,n,x\na,1,1.50\nb,2,\nTotal,3,1.5\n" },
	{ .step = DTX_JSON(
		  { "op" : "adorn_totals", "by" : ["k"], "column" : true, "label" : "Sum" }),
	  .in = "k,t,n,x\na,p,1,2\nb,q,3,\na,r,,\n",
	  .out = "k,t,n,x,Sum\na,p,1,2,3\nb,q,3,,3\nb,Sum,3,,3\na,r,,,\na,Sum,1,2,3\n" },
	{ .step = DTX_JSON({ "op" : "add_totals", "rows" : false, "column" : true }),
	  .in = "n,k,x\n1,a,0.5\n",
	  .out = "n,k,x,Total\n1,a,0.5,1.5\n" },
	{ .step = DTX_JSON({ "op" : "add_totals", "by" : ["k"], "cols" : ["h"] }),
	  .in = "k,h,rate\na,1,20\na,2,20\n,4,9\n",
	  .out = "k,h,rate\na,1,20\na,2,20\na Total,3,\n,4,9\nTotal,4,\n" },
	{ .step = DTX_JSON({
		  "op" : "add_totals",
		  "by" : ["y"],
		  "cols" : ["n"],
		  "column" : true,
		  "label_as" : "kind"
	  }),
	  .in = "y,n,m\n2023,1,7\n2024,2,8\n",
	  .out = "y,n,m,Total,kind\n2023,1,7,1,\n2023,1,,1,Total\n2024,2,8,2,\n2024,2,,2,"
	         "Total\n" },
	{ .step = DTX_JSON({ "op" : "add_totals", "by" : ["k"], "cols" : ["h"], "grand" : true }),
	  .in = "k,h,rate\na,1,20\na,2,20\nb,4,9\n",
	  .out = "k,h,rate\na,1,20\na,2,20\na Total,3,\nb,4,9\nb Total,4,\nTotal,7,\n" },
	{ .step = DTX_JSON({ "op" : "add_totals", "grand" : true }),
	  .in = "k,n\na,1\n",
	  .error = "missing_param",
	  .message = "add_totals: 'grand' needs 'by'; without 'by' the row of sums is that of the "
	             "whole table" },
	{ .step = DTX_JSON({ "op" : "add_totals", "cols" : true }),
	  .in = "n,Total\n1,2\n",
	  .error = "name_collision",
	  .message = "two columns would be called 'Total'" },
	{ .step = DTX_JSON({ "op" : "add_totals", "cols" : [ "n", "k" ] }),
	  .in = "n,k\n1,a\n",
	  .error = "type_mismatch",
	  .message = "expected a number, got text" },
	{ .step = DTX_JSON({ "op" : "add_totals", "by" : ["n"], "cols" : ["n"] }),
	  .in = "n,k\n1,a\n",
	  .error = "param_conflict",
	  .message = "add_totals: column 'n' is in by, so it cannot be summed" },
	{ .step = DTX_JSON({ "op" : "add_totals", "rows" : false }),
	  .in = "n\n1\n",
	  .error = "bad_param_value",
	  .message = "add_totals: rows and column are both false: there is nothing to add" },
};

static enum dtx_code totals_check(const void *args, struct dtx_err *err)
{
	const struct totals_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (!a->rows && !a->column)
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE,
		         "add_totals: rows and column are both false: there is nothing to add");
	if (!a->rows && a->by)
		DTX_PARAM_FAIL(err, DTX_E_PARAM_CONFLICT, "/by",
		               "add_totals: by makes rows of sums, but rows is false");
	if (a->grand && !a->by)
		DTX_FAIL(err, DTX_E_MISSING_PARAM,
		         "add_totals: 'grand' needs 'by'; without 'by' the row of sums is that of "
		         "the whole table");
	if (!a->rows && a->label_as)
		DTX_PARAM_FAIL(err, DTX_E_PARAM_CONFLICT, "/label_as",
		               "add_totals: label_as is for rows of sums, but rows is false");
out:
	return rc;
}

/* --- binding --- */

/* The columns of `cols`; a formula says of which of them there is no sum.  An open input grows by
 * those that it names, so this goes before its columns are laid out. */
static enum dtx_code take_columns(struct dtx_bind *b, const struct totals_args *a,
                                  struct totals_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int32_t *col;
	uint32_t n;

	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &col, &n, err));
	s->number = dtx_arena_alloc(b->arena, (size_t)n + 1, sizeof(*s->number));
	if (!s->number)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < n; i++) {
		if (col[i] < 0)
			continue;
		if (dtx_cols_find(s->by.col, s->by.n, col[i]) < 0)
			s->number[s->n++] = col[i];
		else
			DTX_TRY(dtx_bind_fail(b, DTX_E_PARAM_CONFLICT, "/cols", err,
			                      "add_totals: column '%s' is in by, so it cannot be "
			                      "summed",
			                      b->in[0]->field[col[i]].name));
	}
out:
	return rc;
}

/* The label's column: the first text column that shows nothing else, or the last of the keys. */
static void find_label(const struct dtx_bind *b, struct totals_state *s)
{
	const struct dtx_schema *in = b->in[0];

	for (uint32_t i = 0; i < in->nfields; i++) {
		bool key = dtx_cols_find(s->by.col, s->by.n, (int32_t)i) >= 0;

		if (in->field[i].type.type != DTX_T_TEXT ||
		    dtx_cols_find(s->number, s->n, (int32_t)i) >= 0)
			continue;
		s->label = (int32_t)i;
		s->keyed = key;
		if (!key)
			break;
	}
}

/* Without `cols` all numbers but the keys. */
static enum dtx_code take_numbers(struct dtx_bind *b, struct totals_state *s, struct dtx_err *err)
{
	const struct dtx_schema *in = b->in[0];
	enum dtx_code rc = DTX_OK;

	s->number = dtx_arena_alloc(b->arena, (size_t)in->nfields + 1, sizeof(*s->number));
	if (!s->number)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < in->nfields; i++)
		if (dtx_type_is_number(in->field[i].type.type) &&
		    dtx_cols_find(s->by.col, s->by.n, (int32_t)i) < 0)
			s->number[s->n++] = (int32_t)i;
out:
	return rc;
}

/* One formula: text is taken and cleared. */
static enum dtx_code made(struct dtx_bind *b, struct dtx_buf *text, struct dtx_expr **out,
                          struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_buf_check(text, "a formula", err));
	DTX_TRY(dtx_expr_made(b->arena, dtx_buf_str(text), out, err));
	dtx_buf_reset(text);
out:
	return rc;
}

/* if(a is null and b is null, null, coalesce(a, 0) + coalesce(b, 0)) */
static void row_text(const struct dtx_bind *b, const struct totals_state *s, struct dtx_buf *out)
{
	dtx_buf_add(out, "if(");
	for (uint32_t i = 0; i < s->n; i++) {
		dtx_buf_add(out, i ? " and " : "");
		dtx_expr_print_name(b->in[0]->field[s->number[i]].name, out);
		dtx_buf_add(out, " is null");
	}
	dtx_buf_add(out, ", null, ");
	for (uint32_t i = 0; i < s->n; i++) {
		dtx_buf_add(out, i ? " + coalesce(" : "coalesce(");
		dtx_expr_print_name(b->in[0]->field[s->number[i]].name, out);
		dtx_buf_add(out, ", 0)");
	}
	dtx_buf_addc(out, ')');
}

static enum dtx_code bind_column(struct dtx_bind *b, const struct totals_args *a,
                                 struct totals_state *s, struct dtx_buf *text, struct dtx_err *err)
{
	struct dtx_typeref type = { .type = b->typed ? DTX_T_INT64 : DTX_T_UNKNOWN };
	struct dtx_expr *e = NULL;
	enum dtx_code rc = DTX_OK;

	if (dtx_param_is_hole(a->label))
		goto out;
	if (dtx_bind_out(b, a->label) >= 0) {
		DTX_TRY(dtx_bind_taken(b, a->label, "/label", err));
		goto out;
	}
	if (s->n) {
		row_text(b, s, text);
		DTX_TRY(made(b, text, &e, err));
		DTX_TRY(dtx_bind_expr(b, 0, e, "/column",
		                      (struct dtx_typeref){ DTX_T_UNKNOWN, 0, 0 },
		                      (int32_t)b->ncols, &s->row, err));
		if (s->row)
			type = dtx_bound_type(s->row);
	}
	s->total = (int32_t)b->ncols;
	DTX_TRY(dtx_bind_make(b, a->label, type, e, "sum of", err));
	if (!s->row || !a->rows)
		goto out;
	dtx_buf_add(text, "sum(");
	row_text(b, s, text);
	dtx_buf_addc(text, ')');
	DTX_TRY(made(b, text, &e, err));
	DTX_TRY(dtx_tableagg_bind(b, e, "/column", NULL, 0, s->total, &s->agg.out[s->n], err));
out:
	return rc;
}

static enum dtx_code bind_sums(struct dtx_bind *b, struct totals_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t k = 0; k < s->n; k++) {
		uint32_t i = (uint32_t)s->number[k];
		struct dtx_expr *e = dtx_expr_call1(b->arena, "sum", b->in[0]->field[i].name);

		if (!e)
			DTX_FAIL_MEM(err);
		DTX_TRY(dtx_tableagg_bind(b, e, "/cols", NULL, 0, (int32_t)i, &s->agg.out[k], err));
		/* a sum of decimals has more digits */
		if (s->agg.out[k].bound)
			b->col[i].field.type = dtx_bound_type(s->agg.out[k].bound);
	}
out:
	return rc;
}

/* Columns that a row of sums shows from its group. */
static enum dtx_code bind_shown(struct dtx_bind *b, struct totals_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int32_t *from = dtx_arena_alloc(b->arena, (size_t)b->ncols + 1, sizeof(*from));

	if (!from)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < b->ncols; i++)
		from[i] = dtx_cols_find(s->by.col, s->by.n, (int32_t)i) >= 0 ? (int32_t)i : -1;
	s->keys = (struct dtx_colmap){ b->ncols, from };
out:
	return rc;
}

static enum dtx_code totals_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct totals_args *a = args;
	struct totals_state *s = dtx_bind_state(b, sizeof(*s));
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	if (a->by)
		DTX_TRY(dtx_groupkeys_bind(b, 0, a->by, "/by", &s->by, err));
	DTX_TRY(a->cols ? take_columns(b, a, s, err) : take_numbers(b, s, err));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	s->agg.out = dtx_arena_zalloc(b->arena, (size_t)s->n + 2, sizeof(*s->agg.out));
	if (!s->agg.out)
		DTX_FAIL_MEM(err);
	s->label = s->total = -1;
	if (!a->label_as)
		find_label(b, s);
	s->agg.nouts = s->n + 1;
	if (a->rows)
		DTX_TRY(bind_sums(b, s, err));
	if (a->column)
		DTX_TRY(bind_column(b, a, s, &text, err));
	if (a->label_as) {
		s->label = (int32_t)b->ncols;
		DTX_TRY(dtx_bind_make(b, a->label_as, (struct dtx_typeref){ DTX_T_TEXT, 0, 0 },
		                      NULL, "label of", err));
	}
	DTX_TRY(bind_shown(b, s, err));
	dtx_bind_kind(b, DTX_KIND_WHOLE);
out:
	dtx_buf_clear(&text);
	return rc;
}

/* --- the rows of sums --- */

struct work {
	const struct dtx_opctx *ox;
	const struct totals_state *s;
	struct dtx_table *t;
	struct dtx_tablekeys keys;
	struct dtx_batch **total; /* `most` groups each */
	uint32_t ntotals, most;
	struct dtx_batch *grand; /* one row, the sums of the whole table; NULL: not wanted */
	uint32_t *ends;          /* per row the group whose last row it is, DTX_NOWHERE */
};

/* The label of b's rows, after the key where the column shows one: "North Total". */
static enum dtx_code label_column(struct work *w, struct dtx_batch *b, struct dtx_err *err)
{
	const struct totals_args *a = w->ox->args;
	uint32_t at = (uint32_t)w->s->label;
	struct dtx_buf scratch = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	enum dtx_code rc = DTX_OK;
	struct dtx_column *made = NULL;
	struct dtx_builder to;

	dtx_builder_init(&to, (struct dtx_typeref){ DTX_T_TEXT, 0, 0 }, b->nrows);
	for (uint32_t i = 0; i < b->nrows; i++) {
		bool null = true;

		dtx_buf_reset(&text);
		if (w->s->keyed && b->col[at]) {
			dtx_buf_reset(&scratch);
			dtx_buf_adds(&text, dtx_cell_text(b->col[at], i, &scratch, &null));
		}
		dtx_buf_add(&text, null ? "" : " ");
		dtx_buf_add(&text, a->label);
		if (!dtx_buf_ok(&scratch) || !dtx_buf_ok(&text))
			DTX_FAIL_MEM(err);
		dtx_builder_text(&to, dtx_buf_str(&text));
	}
	DTX_TRY(dtx_builder_finish(&to, NULL, &made, err));
	dtx_batch_put(b, at, made);
out:
	dtx_builder_clear(&to);
	dtx_buf_clear(&scratch);
	dtx_buf_clear(&text);
	return rc;
}

/* Sums as the column's own cells are written: rows of both kinds may meet in one batch, and a file
 * has one decimal mark. */
static enum dtx_code write_sums(struct dtx_column **c, const struct dtx_field *field,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *sums = *c;
	struct dtx_spanbuf s;

	if (!field->decimal_comma)
		return DTX_OK;
	dtx_spanbuf_init(&s, DTX_CELLDIALECT_CSV);
	s.rules = field;
	for (uint32_t i = 0; i < sums->len; i++)
		dtx_spanbuf_add(&s, sums, i);
	DTX_TRY(dtx_spanbuf_finish(&s, field->type, c, err));
	dtx_column_unref(sums);
out:
	dtx_spanbuf_clear(&s);
	return rc;
}

/* Which cells of the asked column a row of sums has: sums, keys, or neither. */
static const char *origin_of_total(const struct work *w, int32_t asked, bool groups)
{
	const struct totals_state *s = w->s;

	if (asked == s->total || dtx_cols_find(s->number, s->n, asked) >= 0)
		return groups && s->by.n ? "group" : "all";
	if (!groups || !s->by.n)
		return "made";
	return dtx_cols_find(s->by.col, s->by.n, asked) >= 0 ? "group" : "keys";
}

/* Adds where the cells of the rows of sums of groups [from, from + b->nrows) come from. */
static enum dtx_code put_total_origins(struct work *w, struct dtx_batch *b, uint32_t from,
                                       bool groups, struct dtx_err *err)
{
	const char *kind = origin_of_total(w, dtx_schema_find(w->ox->out, w->ox->cells), groups);
	struct dtx_origins to;

	dtx_origins_init(&to, b->nrows);
	for (uint32_t i = 0; i < b->nrows; i++)
		dtx_origins_add(&to, groups && w->s->by.n ? w->keys.first[from + i] : -1, NULL,
		                kind);
	return dtx_origins_put(&to, b, err);
}

/* The same for rows of the input, from row `at`. */
static enum dtx_code put_row_origins(const struct work *w, struct dtx_batch *b, int64_t at,
                                     struct dtx_err *err)
{
	int32_t asked = dtx_schema_find(w->ox->out, w->ox->cells);
	bool made = asked == w->s->label && asked >= (int32_t)w->t->schema->nfields;
	struct dtx_origins to;

	dtx_origins_init(&to, b->nrows);
	for (uint32_t i = 0; i < b->nrows; i++)
		dtx_origins_add(&to, at + i, NULL, made ? "row" : "cell");
	return dtx_origins_put(&to, b, err);
}

/* Rows of sums of groups [from, from + b->nrows): cells that are not a sum, key or label are null.
 * Without groups the keys are null too. */
static enum dtx_code fill_totals(struct work *w, struct dtx_tableagg_run *run, struct dtx_batch *b,
                                 uint32_t from, bool groups, struct dtx_err *err)
{
	const struct dtx_schema *out = w->ox->out;
	enum dtx_code rc = DTX_OK;

	for (uint32_t k = 0; k < w->s->agg.nouts; k++) {
		int32_t at = k < w->s->n ? w->s->number[k] : w->s->total;

		if (at < 0 || !w->s->agg.out[k].bound || !dtx_op_wants(w->ox, (uint32_t)at))
			continue;
		DTX_TRY(dtx_tableagg_final(run, k, from, b->nrows, NULL, &b->col[at], err));
		DTX_TRY(write_sums(&b->col[at], &out->field[at], err));
	}
	if (w->s->label >= 0 && dtx_op_wants(w->ox, (uint32_t)w->s->label))
		DTX_TRY(label_column(w, b, err));
	if (w->ox->cells)
		DTX_TRY(put_total_origins(w, b, from, groups, err));
	for (uint32_t i = 0; i < out->nfields; i++)
		if (!b->col[i] &&
		    !(groups && dtx_cols_find(w->s->by.col, w->s->by.n, (int32_t)i) >= 0))
			DTX_TRY(dtx_column_nulls(out->field[i].type, b->nrows, &b->col[i], err));
out:
	return rc;
}

static enum dtx_code take_totals(struct work *w, struct dtx_tableagg_run *run, struct dtx_batch *b,
                                 uint32_t from, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(fill_totals(w, run, b, from, true, err));
	w->total[w->ntotals++] = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

/* The keys come from the first row of each group. */
static enum dtx_code make_totals(struct work *w, struct dtx_tableagg_run *run, struct dtx_err *err)
{
	struct dtx_rowcursor cur = DTX_ROWCURSOR_INIT;
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;
	uint32_t n;

	w->total = dtx_mem_zalloc((size_t)w->keys.n / w->most + 2, sizeof(struct dtx_batch *));
	if (!w->total)
		DTX_FAIL_MEM(err);
	if (!w->s->by.n) {
		DTX_TRY(dtx_batch_new(w->ox->out, 1, &b, err));
		DTX_TRY(take_totals(w, run, b, 0, err));
		goto out;
	}
	DTX_TRY(dtx_rowcursor_open(&cur, w->ox, w->t, &w->s->keys, w->keys.first, w->keys.n, err));
	for (uint32_t from = 0; from < w->keys.n; from += n) {
		DTX_TRY(dtx_rowcursor_next(&cur, &b, err));
		n = b->nrows;
		DTX_TRY(take_totals(w, run, b, from, err));
	}
out:
	dtx_rowcursor_close(&cur);
	return rc;
}

/* The sums of the whole table; `group` is scratch for a number per row. */
static enum dtx_code find_grand(struct work *w, uint32_t *group, struct dtx_err *err)
{
	struct dtx_tableagg_run run = { .ox = w->ox };
	enum dtx_code rc = DTX_OK;

	memset(group, 0, (size_t)w->t->nrows * sizeof(*group));
	DTX_TRY(dtx_tableagg_open(&run, w->ox, &w->s->agg, 1, err));
	DTX_TRY(dtx_tableagg_add(&run, w->t, group, err));
	DTX_TRY(dtx_batch_new(w->ox->out, 1, &w->grand, err));
	DTX_TRY(fill_totals(w, &run, w->grand, 0, false, err));
out:
	dtx_tableagg_close(&run);
	return rc;
}

static enum dtx_code find_totals(struct work *w, struct dtx_err *err)
{
	const struct totals_args *a = w->ox->args;
	struct dtx_tableagg_run run = { .ox = w->ox };
	enum dtx_code rc = DTX_OK;
	uint32_t *group = dtx_mem_alloc((size_t)w->t->nrows + 1, sizeof(*group));
	int64_t *last = NULL;

	DTX_TRY(dtx_tablekeys_open(&w->keys, w->ox, &w->s->by, w->t, err));
	last = dtx_mem_alloc((size_t)w->keys.n + 1, sizeof(*last));
	w->ends = dtx_mem_alloc((size_t)w->t->nrows + 1, sizeof(*w->ends));
	if (!group || !last || !w->ends)
		DTX_FAIL_MEM(err);
	for (int64_t r = 0; r < w->t->nrows; r++) {
		group[r] = dtx_tablekeys_id(&w->keys, r);
		w->ends[r] = DTX_NOWHERE;
		last[group[r]] = r;
	}
	for (uint32_t g = 0; w->t->nrows && g < w->keys.n; g++)
		w->ends[last[g]] = g;
	DTX_TRY(dtx_tableagg_open(&run, w->ox, &w->s->agg, w->keys.n, err));
	DTX_TRY(dtx_tableagg_add(&run, w->t, group, err));
	DTX_TRY(make_totals(w, &run, err));
	if (a->grand)
		DTX_TRY(find_grand(w, group, err));
out:
	dtx_tableagg_close(&run);
	dtx_mem_free(group);
	dtx_mem_free(last);
	return rc;
}

/* --- the table with them --- */

/* Rows [from, from + n) of a batch. */
static enum dtx_code emit_part(struct work *w, const struct dtx_batch *b, uint32_t from, uint32_t n,
                               struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *part = NULL;

	if (!n || dtx_emit_full(out))
		goto out;
	DTX_TRY(dtx_batch_new(w->ox->out, n, &part, err));
	for (uint32_t i = 0; i < b->ncols; i++)
		if (b->col[i])
			DTX_TRY(dtx_column_slice(b->col[i], from, n, &part->col[i], err));
	part->origin = b->origin;
	part->first_row = b->first_row + (b->rec ? 0 : from);
	part->rec = b->rec ? b->rec + from : NULL;
	part->rec_owner = dtx_owner_ref(b->rec_owner);
	DTX_TRY(dtx_emit_batch(out, part, err));
out:
	dtx_batch_free(part);
	return rc;
}

static enum dtx_code emit_total(struct work *w, uint32_t group, struct dtx_emit *out,
                                struct dtx_err *err)
{
	return emit_part(w, w->total[group / w->most], group % w->most, 1, out, err);
}

/* A batch of the input, from row `at`, with its column of sums, as one of the result. */
static enum dtx_code widen(struct work *w, struct dtx_batch *in, int64_t at, struct dtx_batch **out,
                           struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;

	DTX_TRY(dtx_batch_new(w->ox->out, in->nrows, &b, err));
	for (uint32_t i = 0; i < in->ncols; i++)
		b->col[i] = dtx_column_ref(in->col[i]);
	b->origin = in->origin;
	b->first_row = in->first_row;
	b->rec = in->rec;
	b->rec_owner = dtx_owner_ref(in->rec_owner);
	if (w->s->row && dtx_op_wants(w->ox, (uint32_t)w->s->total))
		DTX_TRY(dtx_op_eval(w->ox, w->s->row, in, &b->col[w->s->total], err));
	else if (w->s->total >= 0)
		DTX_TRY(dtx_column_nulls(w->ox->out->field[w->s->total].type, in->nrows,
		                         &b->col[w->s->total], err));
	if (w->s->label >= (int32_t)in->ncols)
		DTX_TRY(dtx_column_nulls(w->ox->out->field[w->s->label].type, in->nrows,
		                         &b->col[w->s->label], err));
	if (w->ox->cells)
		DTX_TRY(put_row_origins(w, b, at, err));
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code emit_batch(struct work *w, struct dtx_batch *in, int64_t at,
                                struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;
	uint32_t from = 0;

	DTX_TRY(widen(w, in, at, &b, err));
	for (uint32_t i = 0; w->ends && i < b->nrows; i++) {
		if (w->ends[at + i] == DTX_NOWHERE)
			continue;
		DTX_TRY(emit_part(w, b, from, i + 1 - from, out, err));
		DTX_TRY(emit_total(w, w->ends[at + i], out, err));
		from = i + 1;
	}
	DTX_TRY(emit_part(w, b, from, b->nrows - from, out, err));
out:
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code totals_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                  struct dtx_emit *out, struct dtx_err *err)
{
	const struct totals_args *a = ox->args;
	struct work w = { .ox = ox, .s = ox->bound, .t = t, .most = dtx_op_batch_rows(ox) };
	enum dtx_code rc = DTX_OK;
	int64_t at = 0;

	DTX_TRY(dtx_table_dense(t, err));
	if (a->by && w.s->label < 0)
		dtx_op_warn(
			ox, DTX_W_RESULT_NOTE,
			"add_totals: no text column shows which rows are sums; \"label_as\" makes "
			"one");
	if (a->rows)
		DTX_TRY(find_totals(&w, err));
	for (size_t i = 0; i < t->nbatches; i++) {
		DTX_TRY(emit_batch(&w, t->batch[i], at, out, err));
		at += t->batch[i]->nrows;
	}
	if (a->rows && !t->nrows && !w.s->by.n)
		DTX_TRY(emit_total(&w, 0, out, err));
	if (w.grand)
		DTX_TRY(emit_part(&w, w.grand, 0, 1, out, err));
out:
	dtx_batch_free(w.grand);
	for (uint32_t i = 0; w.total && i < w.ntotals; i++)
		dtx_batch_free(w.total[i]);
	dtx_mem_free(w.total);
	dtx_mem_free(w.ends);
	dtx_tablekeys_close(&w.keys);
	return rc;
}

static void totals_explain(const void *args, struct dtx_buf *out)
{
	const struct totals_args *a = args;

	dtx_buf_add(out, a->rows ? "add a row of sums" : "add a column of sums");
	if (a->rows && a->column)
		dtx_buf_add(out, " and a column of sums");
	if (a->cols) {
		dtx_buf_add(out, " of ");
		dtx_cols_print(a->cols, out);
	}
	if (a->by) {
		dtx_buf_add(out, " after each group of ");
		dtx_cols_print(a->by, out);
		dtx_buf_add(out, a->grand ? " and one of the whole table" : "");
	}
	dtx_buf_printf(out, ", called %s", a->label);
}

const struct dtx_op dtx_op_add_totals = {
	.name = "add_totals",
	.aliases = "adorn_totals",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Add rows and a column of sums",
	.notes = "Nulls are ignored. The row is the last one, or with `by` the one after the last "
		 "row of its group. Its label is in the first text column; where only a key is "
		 "text, after it (North Total). Cells that are not a sum, key or label are null. "
		 "Rates and prices do not add up: name the columns that do in `cols`.",
	.facts = { .values = DTX_VALUES_KEPT, .groups = "by", .cells = true },
	.params = totals_params,
	.nparams = DTX_COUNT(totals_params),
	.examples = totals_examples,
	.nexamples = DTX_COUNT(totals_examples),
	.args_size = sizeof(struct totals_args),
	.check = totals_check,
	.bind = totals_bind,
	.whole = totals_whole,
	.explain = totals_explain,
};
