/* Makes the plan that gives all row numbers of a result, for `--lineage rows`: the traced plan
 * without the way back, and for each step that makes new rows a list of which rows it made from
 * which.
 *
 * Only numbers leave this plan. The way back depends on the asked column, but only through the text
 * of the plan. So it is worked out here for every column and stored, and neither the plan nor the
 * inputs are needed to answer questions later. */
#include <stdio.h>
#include <string.h>

#include "core/expr/parse/formula_parts.h"
#include "core/plan/lineage/trace_parts.h"

enum { ROWS_CELLS = 200 }; /* if a pivot_wider makes more columns, its cells are not kept apart */

struct rows {
	struct trace *t;
	json_t *blocks;  /* "blocks" of the head */
	json_t *columns; /* "columns" of the head */
	struct dtx_trace_rows *out;
};

/* --- how each column is walked --- */

static json_t *rows_names(struct trace *t, const json_t *set)
{
	json_t *list = set ? json_array() : json_null(), *value;
	const char *name;

	json_object_foreach((json_t *)(uintptr_t)set, name, value)
		dtx_trace_append(t, list, json_string(name));
	return list;
}

/* Index of the walked column among the columns that a pivot_wider makes. -1 if cells are not kept
 * apart; sets *wide if too many rows will be named because of that. */
static int rows_cell(struct trace *t, const struct trace_via *v, bool *wide)
{
	uint32_t i = v->from >= 0 && v->bit >= t->plan->ninputs && v->bit < t->nbits
	                     ? t->bit_step[v->bit]
	                     : UINT32_MAX;
	int32_t id = (int32_t)(t->plan->ninputs + i);
	const struct dtx_schema *s;
	enum trace_wider which;
	const json_t *cols;
	int cell = -1;

	if (i == UINT32_MAX || v->all || dtx_trace_how(t, &t->plan->step[i]) != TRACE_WIDER)
		return -1;
	s = t->table[id].schema;
	cols = dtx_trace_reached(t, (uint32_t)v->from, id);
	which = dtx_trace_wider_rows(t, &t->plan->step[i], cols);
	if (which == TRACE_WIDER_NAMED && json_object_size(cols) == 1 && s && !s->open &&
	    s->nfields <= ROWS_CELLS)
		cell = dtx_schema_find(
			s, json_object_iter_key(json_object_iter((json_t *)(uintptr_t)cols)));
	*wide |= which != TRACE_WIDER_ALL && cell < 0;
	return cell;
}

static json_t *rows_walk(struct trace *t, uint32_t w, bool *wide)
{
	const struct trace_via *v = &t->walk[w].via;
	int cell = rows_cell(t, v, wide);

	*wide |= v->some;
	return json_pack("{si si si sb sI sI si}", "unless", (int)v->unless - 1, "from",
	                 (int)v->from, "bit", (int)v->bit, "near", v->near, "lo", (json_int_t)v->lo,
	                 "hi", (json_int_t)v->hi, "cell", cell);
}

/* Whether the plan has a step that turns columns into rows. No row number says which column such a
 * row is from. */
static bool rows_longer(const struct trace *t)
{
	for (uint32_t i = 0; i < t->plan->nsteps; i++) {
		if (dtx_trace_facts(&t->plan->step[i]).rows == DTX_ROWS_LONGER)
			return true;
	}
	return false;
}

static json_t *rows_walks(struct trace *t)
{
	json_t *walks = json_array(), *inputs = json_array();
	bool wide = t->out->wide;

	for (uint32_t w = 0; w < t->nwalks; w++) {
		dtx_trace_append(t, walks, rows_walk(t, w, &wide));
		for (uint32_t i = 0; i < t->plan->ninputs; i++) {
			if (t->numbered[i] >= 0 && t->walk[w].ids >> i & 1)
				dtx_trace_append(
					t, inputs,
					json_pack("{si si so}", "walk", (int)w, "input", (int)i,
				                  "direct",
				                  rows_names(t,
				                             dtx_trace_reached(t, w, (int32_t)i))));
		}
	}
	return json_pack("{so so sb sb sb}", "walks", walks, "inputs", inputs, "wide", wide,
	                 "borrowed", t->out->borrowed, "longer", rows_longer(t));
}

static enum dtx_code rows_column(struct rows *r, const struct dtx_trace_ask *ask,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_trace out = { .plan = NULL };
	struct trace t;

	DTX_TRY(dtx_trace_init(&t, r->t->plan, r->t->bound, err));
	t.ask = ask;
	t.lists = true;
	t.out = &out;
	DTX_TRY(dtx_trace_forward(&t, err));
	dtx_trace_need(&t, ask->output, ask->column);
	dtx_trace_borrowed(&t);
	dtx_trace_judge(&t);
	dtx_trace_back(&t);
	if (t.full.code != DTX_OK) {
		rc = t.full.code;
		dtx_err_move(err, &t.full);
		goto out;
	}
	if (!dtx_json_set(r->columns, ask->column, rows_walks(&t)) || t.failed)
		DTX_FAIL_MEM(err);
out:
	dtx_trace_end(&t);
	dtx_trace_clear(&out);
	return rc;
}

static enum dtx_code rows_columns(struct rows *r, const struct dtx_trace_ask *all,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_trace_ask ask = *all;
	json_t *name;
	size_t i;

	ask.row = 1;
	json_array_foreach((json_t *)(uintptr_t)all->columns, i, name)
	{
		ask.column = json_string_value(name);
		DTX_TRY(rows_column(r, &ask, err));
	}
out:
	return rc;
}

/* --- the lists --- */

/* Adds a list of numbers: from `table`, the row numbers `ids` and our own columns, one letter each
 * (dtx_g, dtx_p, ..). */
static void rows_block(struct rows *r, const char *kind, uint32_t step, int bit, const char *table,
                       uint64_t ids, const char *own)
{
	struct trace *t = r->t;
	char name[TRACE_NAME], last[TRACE_NAME];
	json_t *cols = json_array();
	size_t n = json_array_size(r->blocks);

	dtx_trace_numbers(t, cols, ids);
	for (; *own; own++)
		dtx_trace_append(t, cols, json_sprintf("dtx_%c", *own));
	dtx_trace_add(t, json_pack("{ss sO}", "op", "select", "cols", cols), table,
	              dtx_trace_name(name, "m", (uint32_t)n));
	dtx_trace_add(t,
	              json_pack("{ss s[{ss so}]}", "op", "derive", "set", "as", "dtx_b", "expr",
	                        json_sprintf("%zu", n)),
	              name, dtx_trace_name(last, "n", (uint32_t)n));
	dtx_trace_append(t, r->blocks,
	                 json_pack("{ss si si so}", "kind", kind, "step", (int)step, "bit", bit,
	                           "cols", cols));
}

/* Makes `out` with the columns `right` of the pairs in `on` and one row number. */
static void rows_keyed(struct rows *r, const json_t *on, uint32_t bit, const char *table,
                       const char *out)
{
	json_t *cols = json_array(), *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)on, i, one)
		dtx_trace_append(r->t, cols, json_incref(json_object_get(one, "right")));
	dtx_trace_numbers(r->t, cols, (uint64_t)1 << bit);
	dtx_trace_add(r->t, json_pack("{ss so}", "op", "select", "cols", cols), table, out);
}

/* Appends "switch(name, 'Q1', 3, ..., -1)": the index of the column of the wide row that a long row
 * went to. */
static bool rows_switch(struct rows *r, const struct dtx_plan_step *st, const struct dtx_schema *s,
                        struct dtx_buf *out)
{
	const json_t *names = json_object_get(st->canonical, "names_from");
	const char *prefix = dtx_json_text(st->canonical, "names_prefix", "");
	size_t n = strlen(prefix);

	if (!s || s->open || s->nfields > ROWS_CELLS || json_array_size(names) != 1 ||
	    !json_is_string(json_array_get(names, 0)))
		return false;
	dtx_buf_add(out, "switch(coalesce(text(");
	dtx_expr_print_name(json_string_value(json_array_get(names, 0)), out);
	dtx_buf_add(out, "), 'null')");
	for (uint32_t c = 0; c < s->nfields; c++) {
		if (strncmp(s->field[c].name, prefix, n) != 0)
			continue;
		dtx_buf_add(out, ", ");
		dtx_expr_print_text(dtx_str_of(s->field[c].name + n), out);
		dtx_buf_printf(out, ", %u", c);
	}
	dtx_buf_add(out, ", -1)");
	r->t->failed |= !dtx_buf_ok(out);
	return true;
}

/* Lists which rows a group_by or a pivot_wider made from which. */
static void rows_barrier(struct rows *r, uint32_t bit)
{
	struct trace *t = r->t;
	uint32_t i = t->bit_step[bit], id = t->plan->ninputs + i;
	const struct dtx_plan_step *st = &t->plan->step[i];
	bool wider = dtx_trace_how(t, st) == TRACE_WIDER, cells = false;
	char in[TRACE_NAME], left[TRACE_NAME], made[TRACE_NAME], right[TRACE_NAME];
	char both[TRACE_NAME], has_cells[TRACE_NAME];
	struct dtx_buf expr = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *on;

	dtx_trace_name(in, "t", (uint32_t)st->table[0]);
	dtx_trace_name(made, "t", id);
	dtx_trace_name(left, "f", bit);
	dtx_trace_name(right, "k", 1000 + bit);
	dtx_trace_name(both, "j", bit);
	dtx_trace_name(has_cells, "h", bit);
	if (wider) {
		on = dtx_trace_wider_keys(t, st);
		snprintf(left, sizeof(left), "%s", in);
		cells = rows_switch(r, st, t->table[id].schema, &expr);
	} else {
		on = dtx_trace_group_keys(t, json_object_get(st->canonical, "by"), in, left);
	}
	rows_keyed(r, on, bit, made, right);
	dtx_trace_add(
		t,
		json_array_size(on)
			? json_pack("{ss ss ss sO sb}", "op", "join", "how", "inner", "with", right,
	                            "on", on, "nulls_equal", true)
			: json_pack("{ss ss ss}", "op", "join", "how", "cross", "with", right),
		left, both);
	if (cells)
		dtx_trace_add(t,
		              json_pack("{ss s[{ss ss}]}", "op", "derive", "set", "as", "dtx_c",
		                        "expr", dtx_buf_text(&expr)),
		              both, has_cells);
	rows_block(r, "made", i, (int)bit, cells ? has_cells : both,
	           t->table[st->table[0]].ids | (uint64_t)1 << bit, cells ? "c" : "");
	dtx_buf_clear(&expr);
	json_decref(on);
}

/* Lists the rows of all input tables and of the result of a step whose result depends on all rows.
 * They are stored like one window group that reaches everywhere. */
static void rows_whole(struct rows *r, uint32_t bit)
{
	struct trace *t = r->t;
	uint32_t i = t->bit_step[bit];
	const struct dtx_plan_step *st = &t->plan->step[i];
	uint64_t ids = (uint64_t)1 << bit;
	char in[TRACE_NAME], some[TRACE_NAME], all[TRACE_NAME], both[TRACE_NAME];
	json_t *with = json_array(), *cols;

	for (uint32_t k = 0; k <= st->ntables; k++) {
		int32_t table = k < st->ntables ? st->table[k] : (int32_t)(t->plan->ninputs + i);

		ids |= t->table[table].ids;
		cols = json_array();
		dtx_trace_numbers(t, cols, t->table[table].ids);
		snprintf(some, sizeof(some), "dtx_j%u_%u", bit, k);
		dtx_trace_add(t, json_pack("{ss so}", "op", "select", "cols", cols),
		              dtx_trace_name(in, "t", (uint32_t)table), some);
		if (k)
			dtx_trace_append(t, with, json_string(some));
	}
	snprintf(some, sizeof(some), "dtx_j%u_0", bit);
	dtx_trace_add(t, json_pack("{ss sO sb}", "op", "union", "with", with, "fill_missing", true),
	              some, dtx_trace_name(all, "a", bit));
	dtx_trace_add(t,
	              json_pack("{ss s[{ss ss} {ss ss}]}", "op", "derive", "set", "as", "dtx_g",
	                        "expr", "1", "as", "dtx_p", "expr", "1"),
	              all, dtx_trace_name(both, "j", bit));
	rows_block(r, "whole", i, (int)bit, both, ids, "gp");
	json_decref(with);
}

/* Lists which row of a copy is which row of its table. */
static void rows_copy(struct rows *r, uint32_t bit)
{
	uint32_t i = r->t->bit_step[bit];
	char both[TRACE_NAME];

	dtx_trace_name(both, "b", r->t->plan->ninputs + i);
	rows_block(r, "copy", i, (int)bit, both,
	           r->t->table[r->t->plan->step[i].table[0]].ids | (uint64_t)1 << bit, "");
}

/* Lists which rows of the second table let which rows of the first one stay. */
static void rows_semi(struct rows *r, uint32_t bit)
{
	struct trace *t = r->t;
	uint32_t i = t->bit_step[bit];
	const struct dtx_plan_step *st = &t->plan->step[i];
	char other[TRACE_NAME], made[TRACE_NAME], both[TRACE_NAME];
	uint64_t ids = t->table[st->table[1]].ids;

	dtx_trace_name(other, "t", (uint32_t)st->table[1]);
	dtx_trace_name(made, "t", t->plan->ninputs + i);
	dtx_trace_name(both, "j", bit);
	dtx_trace_add(t, dtx_trace_turned(t, st, "inner", made), other, both);
	rows_block(r, "let", i, (int)bit, both, ids | (uint64_t)1 << bit, "");
}

/* Lists the group of each row in a window step and its place in the group. */
static void rows_window(struct rows *r, uint32_t bit)
{
	struct trace *t = r->t;
	uint32_t i = t->bit_step[bit], id = t->plan->ninputs + i;
	const json_t *by = json_object_get(t->plan->step[i].canonical, "by"), *one;
	const json_t *order = json_object_get(t->plan->step[i].canonical, "order");
	char in[TRACE_NAME], keys[TRACE_NAME], groups[TRACE_NAME], both[TRACE_NAME];
	char placed[TRACE_NAME], number[TRACE_NAME];
	json_t *on = json_array(), *step;
	size_t k;

	dtx_trace_name(in, "t", id);
	dtx_trace_name(keys, "a", bit);
	dtx_trace_name(groups, "g", bit);
	dtx_trace_name(both, "j", bit);
	dtx_trace_name(placed, "p", bit);
	json_array_foreach((json_t *)(uintptr_t)by, k, one)
		dtx_trace_append(t, on, json_pack("{sO sO}", "left", one, "right", one));
	if (json_array_size(by)) {
		dtx_trace_add(t,
		              json_pack("{ss sO s[{ss ss}]}", "op", "group_by", "by", by, "agg",
		                        "as", "dtx_n", "expr", "count()"),
		              in, keys);
		dtx_trace_add(t, json_pack("{ss ss}", "op", "add_id", "as", "dtx_g"), keys, groups);
		dtx_trace_add(t,
		              json_pack("{ss ss ss sO sb}", "op", "join", "how", "left", "with",
		                        groups, "on", on, "nulls_equal", true),
		              in, both);
	} else {
		dtx_trace_add(t,
		              json_pack("{ss s[{ss ss}]}", "op", "derive", "set", "as", "dtx_g",
		                        "expr", "1"),
		              in, both);
	}
	/* Without an order, rows have the order of the table, which is that of their numbers. */
	step = json_pack("{ss s[{ss ss}] s[s] sO*}", "op", "window", "set", "as", "dtx_p", "expr",
	                 "row_number()", "by", "dtx_g", "order",
	                 json_array_size(order) ? order : NULL);
	if (!json_array_size(order))
		t->failed |=
			!dtx_json_set(step, "order",
		                      json_pack("[{ss}]", "col", dtx_trace_name(number, "r", bit)));
	dtx_trace_add(t, step, both, placed);
	rows_block(r, "window", i, (int)bit, placed, t->table[id].ids, "gp");
	json_decref(on);
}

/* Whether a step drops no rows. */
static bool rows_all_stay(const struct dtx_plan_step *st)
{
	enum dtx_op_rows rows = dtx_trace_facts(st).rows;

	return rows == DTX_ROWS_SAME || rows == DTX_ROWS_SORTED || rows == DTX_ROWS_WINDOW ||
	       rows == DTX_ROWS_UNION;
}

/* Bits of the row numbers that identify rows of inputs or rows that a step made. The numbers of a
 * window step are left out, because its rows have those of its input as well. */
static uint64_t rows_own(const struct trace *t)
{
	uint64_t ids = 0;

	for (uint32_t b = 0; b < t->nbits; b++) {
		enum trace_how how = b < t->plan->ninputs
		                             ? TRACE_KEYS
		                             : dtx_trace_how(t, &t->plan->step[t->bit_step[b]]);

		if (dtx_trace_is_barrier(how) || how == TRACE_COPY)
			ids |= (uint64_t)1 << b;
	}
	return ids;
}

/* Lists the rows that were left after a step. */
static void rows_left(struct rows *r, uint32_t i)
{
	struct trace *t = r->t;
	uint32_t id = t->plan->ninputs + i;
	uint64_t ids = t->table[id].ids & rows_own(t);
	enum trace_how how = dtx_trace_how(t, &t->plan->step[i]);
	char name[TRACE_NAME];

	if (dtx_trace_is_barrier(how) ||
	    how == TRACE_COPY) /* the list of what it made says this already */
		return;
	if (ids && !rows_all_stay(&t->plan->step[i]) && t->table[id].waiting < 0)
		rows_block(r, "left", i, -1, dtx_trace_name(name, "t", id), ids, "");
}

/* Makes the union of all lists. */
static void rows_together(struct rows *r)
{
	struct trace *t = r->t;
	size_t n = json_array_size(r->blocks);
	json_t *with = json_array();
	char name[TRACE_NAME];

	for (size_t i = 1; i < n; i++)
		dtx_trace_append(t, with, json_string(dtx_trace_name(name, "n", (uint32_t)i)));
	if (n > 1)
		dtx_trace_add(
			t,
			json_pack("{ss sO sb}", "op", "union", "with", with, "fill_missing", true),
			dtx_trace_name(name, "n", 0), "dtx_all");
	dtx_trace_append(
		t, t->outputs,
		json_pack("{ss}", "table", n > 1 ? "dtx_all" : dtx_trace_name(name, "n", 0)));
	json_decref(with);
}

/* Adds two outputs for an input: all its rows, because the reader knows their lines, and one row
 * with all columns, because the reader knows the letters of their addresses. */
static enum dtx_code rows_input(struct rows *r, uint32_t i, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct trace *t = r->t;
	char in[TRACE_NAME], all[TRACE_NAME], first[TRACE_NAME], number[TRACE_NAME];

	if (t->numbered[i] < 0)
		goto out;
	if (r->out->noutputs + 2 > DTX_PLAN_OUTPUTS)
		DTX_FAIL(err, DTX_E_NO_TRANSLATION, "the rows of more than %d inputs are not kept",
		         (DTX_PLAN_OUTPUTS - DTX_TRACE_ROWS_INPUTS) / 2);
	dtx_trace_name(in, "t", (uint32_t)t->numbered[i]);
	dtx_trace_add(
		t, json_pack("{ss s[s]}", "op", "select", "cols", dtx_trace_name(number, "r", i)),
		in, dtx_trace_name(all, "x", i));
	dtx_trace_add(t, json_pack("{ss si}", "op", "limit", "n", 1), in,
	              dtx_trace_name(first, "y", i));
	dtx_trace_append(t, t->outputs, json_pack("{ss}", "table", all));
	dtx_trace_append(t, t->outputs, json_pack("{ss}", "table", first));
	r->out->input[r->out->noutputs++] = i;
	r->out->input[r->out->noutputs++] = i;
out:
	return rc;
}

/* --- the whole --- */

static enum dtx_code rows_plan(struct rows *r, const struct dtx_trace_ask *ask, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct trace *t = r->t;
	int32_t id = t->plan->output[ask->output].table;
	char name[TRACE_NAME];
	uint32_t i;

	DTX_TRY(dtx_trace_forward(t, err));
	dtx_trace_ready(t, id);
	dtx_trace_name(name, "t", (uint32_t)id);
	dtx_trace_add(t, json_pack("{ss sO}", "op", "select", "cols", ask->columns), name,
	              "dtx_check");
	dtx_trace_append(t, t->outputs, json_pack("{ss}", "table", "dtx_check"));
	rows_block(r, "result", 0, -1, name, t->table[id].ids, "");
	for (i = t->plan->ninputs; i < t->nbits; i++) {
		enum trace_how how = dtx_trace_how(t, &t->plan->step[t->bit_step[i]]);

		if (how == TRACE_KEYS || how == TRACE_WIDER)
			rows_barrier(r, i);
		else if (how == TRACE_WHOLE)
			rows_whole(r, i);
		else if (how == TRACE_COPY)
			rows_copy(r, i);
		else if (how == TRACE_SEMI)
			rows_semi(r, i);
		else
			rows_window(r, i);
	}
	for (i = 0; i < t->plan->nsteps; i++)
		rows_left(r, i);
	rows_together(r);
	r->out->noutputs = DTX_TRACE_ROWS_INPUTS;
	for (i = 0; i < t->plan->ninputs; i++)
		DTX_TRY(rows_input(r, i, err));
out:
	return rc;
}

static json_t *rows_inputs(struct trace *t)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < t->plan->ninputs; i++)
		dtx_trace_append(t, list, json_pack("{ss}", "name", t->plan->input[i].name));
	return list;
}

enum dtx_code dtx_trace_rows(const struct dtx_plan *plan, const struct dtx_exec_result *bound,
                             const struct dtx_trace_ask *ask, struct dtx_trace_rows *out,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_trace unused = { .plan = NULL };
	struct trace t;
	struct rows r = { &t, json_array(), json_object(), out };

	*out = (struct dtx_trace_rows){ .plan = NULL };
	DTX_TRY(dtx_trace_init(&t, plan, bound, err));
	t.ask = ask;
	t.out = &unused;
	t.keeps = true;
	if (!r.blocks || !r.columns)
		DTX_FAIL_MEM(err);
	DTX_TRY(rows_plan(&r, ask, err));
	DTX_TRY(rows_columns(&r, ask, err));
	dtx_trace_lean(&t);
	out->head = json_pack("{si so sO sO}", "rows", 1, "inputs", rows_inputs(&t), "blocks",
	                      r.blocks, "columns", r.columns);
	DTX_TRY(dtx_trace_finish(&t, &out->plan, err));
	if (!out->head)
		DTX_FAIL_MEM(err);
out:
	dtx_trace_end(&t);
	json_decref(r.blocks);
	json_decref(r.columns);
	return rc;
}

void dtx_trace_rows_clear(struct dtx_trace_rows *r)
{
	json_decref(r->plan);
	json_decref(r->head);
	*r = (struct dtx_trace_rows){ .plan = NULL };
}
