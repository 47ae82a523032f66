/* complete: adds rows for combinations of values that are absent.
 *
 * Each column (axis) lists its values, numbered; all combinations are counted through like the
 * digits of an odometer, and those that no row has are added. */
#include <stdio.h>

#include "core/data/time/duration.h"
#include "ops/kit/axis.h"
#include "ops/group/table/groupvals.h"
#include "ops/kit/text/jsonvalue.h"
#include "ops/kit/cells_new.h"

struct fill {
	const char *col;
	const json_t *value;
};
struct seq {
	const char *col;
	const json_t *step;
};
struct complete_args {
	struct dtx_cols *cols;
	struct dtx_plist fill, seq;
};
struct complete_state {
	struct dtx_axis *axis;
	uint32_t n;
	struct dtx_groupkeys all; /* the axes together, as a group key */
	int32_t *fill;            /* columns of args->fill */
};

#define AT(member) .offset = offsetof(struct complete_args, member)
static const struct dtx_param fill_rows[] = {
	{ .name = "col",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  .offset = offsetof(struct fill, col),
	  .aliases = "column",
	  .help = "column" },
	{ .name = "value",
	  .kind = DTX_P_VALUE,
	  .required = true,
	  .offset = offsetof(struct fill, value),
	  .help = "its value in new rows" },
};
static const struct dtx_param seq_rows[] = {
	{ .name = "col",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  .offset = offsetof(struct seq, col),
	  .aliases = "column",
	  .help = "one of cols" },
	{ .name = "step",
	  .kind = DTX_P_VALUE,
	  .required = true,
	  .offset = offsetof(struct seq, step),
	  .help = "a number, or for dates a number of days or 1w, 1mo, 1q, 1y" },
};
static const struct dtx_param complete_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns",
	  .help = "columns whose combinations are completed" },
	{ .name = "fill",
	  .kind = DTX_P_LIST,
	  AT(fill),
	  .rows = fill_rows,
	  .nrows = DTX_COUNT(fill_rows),
	  .item_size = sizeof(struct fill),
	  .sugar = DTX_SUGAR_MAP,
	  .help = "cells of the new rows (default: null)" },
	{ .name = "seq",
	  .kind = DTX_P_LIST,
	  AT(seq),
	  .rows = seq_rows,
	  .nrows = DTX_COUNT(seq_rows),
	  .item_size = sizeof(struct seq),
	  .sugar = DTX_SUGAR_MAP,
	  .help = "columns with every step from the least to the greatest value" },
};
static const struct dtx_example complete_examples[] = {
	{ .step = DTX_JSON({ "op" : "complete", "cols" : [ "k", "q" ] }),
	  .in = "k,v,q\nb,1.50,2\na,2,1\nb,3,1\n",
	  .out = "k,v,q\nb,1.50,2\na,2,1\nb,3,1\na,,2\n" },
	{ .step = DTX_JSON({
		  "op" : "expand",
		  "cols" : [ "k", "n" ],
		  "seq" : { "n" : 1 },
		  "fill" : { "v" : 0 }
	  }),
	  .in = "k,n,v\na,1,5\na,4,6\n",
	  .out = "k,n,v\na,1,5\na,4,6\na,2,0\na,3,0\n" },
	{ .step = DTX_JSON({ "op" : "complete", "cols" : ["d"], "seq" : { "d" : "1mo" } }),
	  .in = "d,v\n2024-01-31,1\n2024-03-31,2\n",
	  .out = "d,v\n2024-01-31,1\n2024-03-31,2\n2024-02-29,\n" },
	{ .step = DTX_JSON({ "op" : "complete", "cols" : ["x"], "seq" : { "x" : 0.1 } }),
	  .in = "x\n0.1\n0.3\n0.7\n",
	  .out = "x\n0.1\n0.3\n0.7\n0.2\n0.4\n0.5\n0.6\n" },
	{ .step = DTX_JSON({ "op" : "complete", "cols" : ["t"], "seq" : { "t" : 1 } }),
	  .in = "t\nx\n",
	  .error = "type_mismatch",
	  .message = "the step does not fit column 't' of type text" },
};

/* --- binding --- */

static bool step_fits(const json_t *step, enum dtx_type type)
{
	struct dtx_duration d;

	switch (type) {
	case DTX_T_UNKNOWN:
	case DTX_T_NULL: return true;
	case DTX_T_INT64: return json_is_integer(step) && json_integer_value(step) > 0;
	case DTX_T_FLOAT64: return json_is_number(step) && json_number_value(step) > 0;
	case DTX_T_DATE:
		if (json_is_integer(step))
			return json_integer_value(step) > 0;
		return json_is_string(step) && dtx_duration_parse(json_string_value(step), &d) &&
		       dtx_duration_is_days(d);
	case DTX_T_DATETIME:
		return json_is_string(step) && dtx_duration_parse(json_string_value(step), &d);
	default: return false;
	}
}

static enum dtx_code bind_seq(struct dtx_bind *b, const struct complete_args *a,
                              struct complete_state *s, struct dtx_err *err)
{
	const struct seq *seq = a->seq.item;
	enum dtx_code rc = DTX_OK;
	char sub[48];

	for (size_t i = 0; i < a->seq.n; i++) {
		struct dtx_axis *axis = NULL;
		int32_t col;

		snprintf(sub, sizeof(sub), "/seq/%zu/col", i);
		DTX_TRY(dtx_bind_column(b, 0, seq[i].col, sub, &col, err));
		for (uint32_t k = 0; k < s->n; k++)
			if (col >= 0 && s->axis[k].col == col)
				axis = &s->axis[k];
		if (col >= 0 && !axis && !b->broken)
			DTX_TRY(dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, sub, err,
			                      "'%s' is not among cols", seq[i].col));
		if (!axis)
			continue;
		axis->step = seq[i].step;
		snprintf(sub, sizeof(sub), "/seq/%zu/step", i);
		if (!step_fits(axis->step, axis->type))
			DTX_TRY(dtx_bind_fail_next(
				b, DTX_E_TYPE_MISMATCH, sub,
				"numbers need a number above 0, dates and times a duration such as "
				"1d or 1mo",
				err, "the step does not fit column '%s' of type %s", seq[i].col,
				dtx_type_name(axis->type)));
	}
out:
	return rc;
}

static bool is_axis(const struct complete_state *s, int32_t col)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->axis[i].col == col)
			return true;
	return false;
}

static enum dtx_code bind_fill(struct dtx_bind *b, const struct complete_args *a,
                               struct complete_state *s, struct dtx_err *err)
{
	const struct fill *fill = a->fill.item;
	enum dtx_code rc = DTX_OK;
	char sub[48];

	s->fill = dtx_arena_alloc(b->arena, a->fill.n + 1, sizeof(*s->fill));
	if (!s->fill)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < a->fill.n; i++) {
		const struct dtx_field *f;

		snprintf(sub, sizeof(sub), "/fill/%zu/col", i);
		DTX_TRY(dtx_bind_column(b, 0, fill[i].col, sub, &s->fill[i], err));
		if (s->fill[i] < 0)
			continue;
		if (is_axis(s, s->fill[i]))
			DTX_TRY(dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, sub, err,
			                      "'%s' is one of cols: new rows have a value of it",
			                      fill[i].col));
		f = &b->in[0]->field[s->fill[i]];
		snprintf(sub, sizeof(sub), "/fill/%zu/value", i);
		/* a column of nulls has no type yet */
		if (f->type.type == DTX_T_NULL && s->fill[i] < (int32_t)b->ncols)
			b->col[s->fill[i]].field.type.type = dtx_json_type(fill[i].value);
		if (f->type.type != DTX_T_UNKNOWN && f->type.type != DTX_T_NULL &&
		    !dtx_json_fits(fill[i].value, f->type.type))
			DTX_TRY(dtx_bind_misfit(b, "value", f, sub, err));
	}
out:
	return rc;
}

static enum dtx_code complete_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct complete_args *a = args;
	struct complete_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;
	int32_t *col;
	uint32_t n;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &col, &n, err));
	s->axis = dtx_arena_zalloc(b->arena, (size_t)n + 1, sizeof(*s->axis));
	if (!s->axis)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < n; i++) {
		if (col[i] < 0)
			continue;
		s->axis[s->n].col = col[i];
		s->axis[s->n].type = b->in[0]->field[col[i]].type.type;
		DTX_TRY(dtx_groupkeys_columns(b, 0, &col[i], 1, &s->axis[s->n].key, err));
		s->n++;
	}
	DTX_TRY(dtx_groupkeys_columns(b, 0, col, n, &s->all, err));
	DTX_TRY(bind_seq(b, a, s, err));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(bind_fill(b, a, s, err));
	for (uint32_t i = 0; i < b->in[0]->nfields; i++)
		DTX_TRY(dtx_bind_use(b, (int32_t)i, 0, (int32_t)i, DTX_DEMAND_BYTES, err));
	dtx_bind_kind(b, DTX_KIND_WHOLE);
out:
	return rc;
}

/* --- the combinations --- */

struct work {
	struct dtx_relayout *m;
	const struct complete_args *a;
	const struct complete_state *s;
	struct dtx_axis_values *v; /* per axis */
	struct dtx_strmap have; /* the combinations that rows have, by the group ids of the axes */
	uint32_t *at;           /* the current combination */
	uint32_t *absent; /* positions on the axes, for one absent combination after the other */
	size_t nabsent, cap;
};

static void work_clear(struct work *w)
{
	for (uint32_t i = 0; w->v && i < w->s->n; i++)
		dtx_axis_values_clear(&w->v[i]);
	dtx_mem_free(w->v);
	dtx_mem_free(w->at);
	dtx_mem_free(w->absent);
	dtx_strmap_clear(&w->have);
}

static struct dtx_str combination(const struct work *w, uint32_t *group)
{
	return (struct dtx_str){ (const char *)group, w->s->n * sizeof(*group) };
}

static enum dtx_code note_rows(struct work *w, uint32_t *group, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t found;

	for (int64_t row = 0; row < w->m->raw.table->nrows; row++) {
		if (row % DTX_CANCEL_ROWS == 0)
			DTX_TRY(dtx_cancel_look(err));
		for (uint32_t i = 0; i < w->s->n; i++)
			group[i] = dtx_tablekeys_id(&w->v[i].keys, row);
		if (!dtx_strmap_put(&w->have, combination(w, group), 0, &found))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

static bool is_there(struct work *w, uint32_t *group)
{
	for (uint32_t i = 0; i < w->s->n; i++) {
		group[i] = w->v[i].group[w->at[i]];
		if (group[i] == DTX_NOWHERE)
			return false;
	}
	return dtx_strmap_get(&w->have, combination(w, group)) != DTX_STRMAP_NONE;
}

/* Moves to the next combination, the last axis first. False: that was the last. */
static bool turn(struct work *w)
{
	for (uint32_t i = w->s->n; i-- > 0;) {
		if (++w->at[i] < w->v[i].n)
			return true;
		w->at[i] = 0;
	}
	return false;
}

static enum dtx_code find_absent(struct work *w, uint32_t *group, struct dtx_err *err)
{
	const struct dtx_run *run = w->m->ox->run;
	int64_t rows = w->m->raw.table->nrows, looked = 0;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < w->s->n; i++)
		if (!w->v[i].n)
			goto out;
	do {
		if (looked++ % DTX_CANCEL_ROWS == 0)
			DTX_TRY(dtx_cancel_look(err));
		if (is_there(w, group))
			continue;
		if (run && run->max_rows >= 0 && rows + (int64_t)w->nabsent >= run->max_rows)
			DTX_FAIL(err, DTX_E_ROW_LIMIT, "complete: more than %lld rows",
			         (long long)run->max_rows);
		if (!dtx_mem_reserve(&w->absent, &w->cap, (w->nabsent + 1) * w->s->n,
		                     sizeof(*w->absent)))
			DTX_FAIL_MEM(err);
		memcpy(w->absent + w->nabsent++ * w->s->n, w->at, w->s->n * sizeof(*w->at));
	} while (turn(w));
out:
	return rc;
}

/* --- the table --- */

static enum dtx_code lay_axis(struct work *w, uint32_t i, struct dtx_err *err)
{
	struct dtx_relayout *m = w->m;
	int64_t rows = m->raw.table->nrows;
	int32_t c = w->s->axis[i].col;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_relayout_cells(m, (uint32_t)c, err));
	for (int64_t r = 0; r < rows; r++)
		m->out[c].cell[r] = (struct dtx_from){ r, c };
	for (size_t k = 0; k < w->nabsent; k++)
		m->out[c].cell[rows + (int64_t)k] = w->v[i].cell[w->absent[k * w->s->n + i]];
out:
	return rc;
}

static enum dtx_code lay_fill(struct work *w, int32_t c, const json_t *value, struct dtx_err *err)
{
	struct dtx_relayout *m = w->m;
	int64_t rows = m->raw.table->nrows;
	enum dtx_code rc = DTX_OK;
	struct dtx_from cell;

	DTX_TRY(dtx_made_value(m, (uint32_t)c, value, &cell, err));
	DTX_TRY(dtx_relayout_cells(m, (uint32_t)c, err));
	for (int64_t r = 0; r < m->nrows; r++)
		m->out[c].cell[r] = r < rows ? (struct dtx_from){ r, c } : cell;
out:
	return rc;
}

static enum dtx_code lay_table(struct work *w, struct dtx_err *err)
{
	const struct fill *fill = w->a->fill.item;
	struct dtx_relayout *m = w->m;
	int64_t rows = m->raw.table->nrows;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_relayout_same(m, rows + (int64_t)w->nabsent, err));
	DTX_TRY(dtx_relayout_rows(m, err));
	for (int64_t r = 0; r < m->nrows; r++)
		m->row[r] = r < rows ? r : -1;
	for (uint32_t i = 0; i < w->s->n; i++)
		DTX_TRY(lay_axis(w, i, err));
	for (size_t i = 0; i < w->a->fill.n; i++)
		if (!m->out[w->s->fill[i]].cell)
			DTX_TRY(lay_fill(w, w->s->fill[i], fill[i].value, err));
out:
	return rc;
}

static enum dtx_code complete_lay(struct dtx_relayout *m, struct dtx_err *err)
{
	struct work w = { .m = m, .a = m->ox->args, .s = m->ox->bound };
	enum dtx_code rc = DTX_OK;
	uint32_t *group = dtx_mem_zalloc((size_t)w.s->n + 1, sizeof(*group));

	w.v = dtx_mem_zalloc((size_t)w.s->n + 1, sizeof(*w.v));
	w.at = dtx_mem_zalloc((size_t)w.s->n + 1, sizeof(*w.at));
	if (!group || !w.v || !w.at)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < w.s->n; i++)
		DTX_TRY(dtx_axis_values(m, &w.s->axis[i], &w.v[i], err));
	DTX_TRY(note_rows(&w, group, err));
	DTX_TRY(find_absent(&w, group, err));
	DTX_TRY(lay_table(&w, err));
out:
	dtx_mem_free(group);
	work_clear(&w);
	return rc;
}

static enum dtx_code complete_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                    struct dtx_emit *out, struct dtx_err *err)
{
	return dtx_relayout_whole(ox, t, out, complete_lay, err);
}

static void complete_explain(const void *args, struct dtx_buf *out)
{
	const struct complete_args *a = args;
	const struct seq *seq = a->seq.item;
	const struct fill *fill = a->fill.item;

	dtx_buf_add(out, "add rows for absent combinations of ");
	dtx_cols_print(a->cols, out);
	for (size_t i = 0; i < a->seq.n; i++) {
		dtx_buf_printf(out, ", %s in steps of ", seq[i].col);
		dtx_json_print(seq[i].step, 0, out);
	}
	for (size_t i = 0; i < a->fill.n; i++) {
		dtx_buf_printf(out, "%s %s ", i ? "," : "; in them", fill[i].col);
		dtx_json_print(fill[i].value, 0, out);
	}
}

const struct dtx_op dtx_op_complete = {
	.name = "complete",
	.aliases = "expand",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Add rows for combinations of values that are absent",
	.notes = "Null is a value, the last one. With seq a column has every step from its least "
		 "to its greatest value. New rows come last, sorted by cols; their other cells are "
		 "null or `fill`.",
	.facts = { .values = DTX_VALUES_KEPT, .cells = true },
	.params = complete_params,
	.nparams = DTX_COUNT(complete_params),
	.examples = complete_examples,
	.nexamples = DTX_COUNT(complete_examples),
	.args_size = sizeof(struct complete_args),
	.bind = complete_bind,
	.whole = complete_whole,
	.explain = complete_explain,
};
