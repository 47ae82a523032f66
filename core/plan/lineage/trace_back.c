/* Goes back from the asked row to the rows of the inputs that it came from.
 *
 * It starts with walk 0, the asked row, and goes through the row numbers from the last to the
 * first, that is from the last step to the inputs. For each walk that has the number of a step, it
 * adds a walk with the rows of the step's input. Walks that have the number of an input become
 * outputs of the plan. */
#include "core/plan/lineage/trace_parts.h"

#include <stdio.h>
#include <string.h>

#include "core/expr/parse/formula_parts.h"

void dtx_trace_semi(struct trace *t, const char *in, const char *with, const char *column,
                    const char *out)
{
	dtx_trace_add(t,
	              json_pack("{ss ss ss s[s]}", "op", "join", "how", "semi", "with", with,
	                        "using", column),
	              in, out);
}

/* Contract in trace_parts.h. */
void dtx_trace_same(struct trace *t, const char *in, const char *out)
{
	dtx_trace_add(t, json_pack("{ss ss}", "op", "filter", "where", "true"), in, out);
}

static void trace_too_many(struct trace *t, int most)
{
	if (t->full.code == DTX_OK)
		(void)dtx_err_set(&t->full, DTX_E_NO_TRANSLATION, __FILE__, __LINE__,
		                  "more than %d tables went into this row", most);
}

void dtx_trace_output(struct trace *t, enum dtx_trace_part part, uint32_t input, json_t *direct,
                      const char *table)
{
	if (t->out->noutputs == DTX_PLAN_OUTPUTS_MADE) {
		trace_too_many(t, DTX_PLAN_OUTPUTS_MADE);
		return;
	}
	t->out->output[t->out->noutputs++] = (struct dtx_trace_output){
		.part = part, .input = input, .direct = json_incref(direct)
	};
	dtx_trace_append(t, t->outputs, json_pack("{ss}", "table", table));
}

static void trace_one(struct trace *t, const char *in, const char *out)
{
	dtx_trace_add(
		t,
		json_pack("{ss s[{ss ss}]}", "op", "derive", "set", "as", "dtx_one", "expr", "1"),
		in, out);
}

/* Joins both tables by a constant, so that each row of `in` matches every row of `with`. */
void dtx_trace_meets(struct trace *t, const char *in, const char *with, const char *how,
                     const char *out)
{
	char left[TRACE_NAME], right[TRACE_NAME];

	trace_one(t, in, dtx_trace_name(left, "left", t->nmeets));
	trace_one(t, with, dtx_trace_name(right, "right", t->nmeets++));
	dtx_trace_add(t,
	              json_pack("{ss ss ss s[{ss ss}]}", "op", "join", "how", how, "with", right,
	                        "on", "left", "dtx_one", "right", "dtx_one"),
	              left, out);
}

bool dtx_trace_sure(const struct trace *t, uint32_t w)
{
	bool sure = w == 0 && !dtx_trace_unions(t);

	for (uint32_t i = 0; i < t->plan->nsteps && sure; i++) {
		const struct dtx_plan_step *st = &t->plan->step[i];

		enum dtx_op_rows rows = dtx_trace_facts(st).rows;

		sure = st->ntables < 2 || rows == DTX_ROWS_SEMI || rows == DTX_ROWS_ANTI ||
		       (rows == DTX_ROWS_JOINED &&
		        dtx_str_in_list("inner,cross", dtx_json_text(st->canonical, "how", "")));
	}
	return sure;
}

void dtx_trace_walked(struct trace *t, const char *name, uint64_t ids, int32_t table,
                      const json_t *cols, const struct trace_via *via)
{
	if (t->nwalks == TRACE_SOURCES) {
		trace_too_many(t, TRACE_SOURCES);
		return;
	}
	snprintf(t->walk[t->nwalks].name, TRACE_NAME, "%s", name);
	t->walk[t->nwalks].reach = dtx_trace_reach(t, table, cols);
	t->walk[t->nwalks].via = *via;
	t->walk[t->nwalks].via.apart |= via->from >= 0 && t->walk[via->from].via.apart;
	t->walk[t->nwalks++].ids = ids;
}

/* Formulas among the keys become columns, because a join compares columns. */
json_t *dtx_trace_group_keys(struct trace *t, const json_t *by, const char *in, const char *out)
{
	json_t *on = json_array(), *set = json_array(), *key;
	char name[TRACE_NAME];
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)by, i, key)
	{
		const char *as =
			json_is_string(key) ? json_string_value(key) : dtx_json_text(key, "as", "");
		const char *left = as;
		const char *expr = dtx_json_text(key, "expr", NULL);

		if (expr) {
			left = dtx_trace_name(name, "k", (uint32_t)i);
			dtx_trace_append(t, set, json_pack("{ss ss}", "as", left, "expr", expr));
		}
		dtx_trace_append(t, on, json_pack("{ss ss}", "left", left, "right", as));
	}
	if (json_array_size(set))
		dtx_trace_add(t, json_pack("{ss sO}", "op", "derive", "set", set), in, out);
	else
		dtx_trace_same(t, in, out);
	json_decref(set);
	return on;
}

/* Contract in trace_parts.h. */
json_t *dtx_trace_reached(const struct trace *t, uint32_t w, int32_t table)
{
	json_t *cols = t->walk[w].reach ? t->walk[w].reach[table] : NULL;

	return json_object_size(cols) ? cols : NULL;
}

/* --- aggregates that took some rows of their group --- */

static bool trace_some(struct trace *t, const char *formula, struct dtx_buf *where)
{
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_expr *e = NULL;
	bool some = dtx_expr_parse(&arena, dtx_str_of(formula), &e, &err) == DTX_OK &&
	            dtx_expr_some(e, where, &t->out->wide);

	dtx_err_clear(&err);
	dtx_arena_clear(&arena);
	return some;
}

/* Collects {condition: {column: true}} for the aggregates that took only some rows of their group,
 * and removes those columns from `cols`. */
static json_t *trace_wheres(struct trace *t, const struct dtx_plan_step *st, json_t *cols)
{
	json_t *wheres = json_object(), *one, *of;
	size_t i;

	t->failed |= !wheres;
	json_array_foreach(json_object_get(st->canonical, "agg"), i, one)
	{
		struct dtx_buf where = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
		const char *as = dtx_json_text(one, "as", "");

		if (json_object_get(cols, as) &&
		    trace_some(t, dtx_json_text(one, "expr", ""), &where)) {
			of = json_object_get(wheres, dtx_buf_text(&where));
			if (!of && (of = json_object()) != NULL)
				json_object_set_new(wheres, dtx_buf_text(&where), of);
			t->failed |= !of || json_object_set_new(of, as, json_true()) < 0;
			json_object_del(cols, as);
		}
		dtx_buf_clear(&where);
	}
	return wheres;
}

/* All rows of the group (`rows`) decided that the group exists. For these columns only the rows
 * that meet the aggregate's condition gave the value, so they get a walk of their own. */
static void trace_back_some(struct trace *t, uint32_t i, const json_t *wheres, uint32_t from,
                            const char *rows)
{
	const struct dtx_plan_step *st = &t->plan->step[i];
	char name[TRACE_NAME];
	const char *where;
	json_t *cols;

	json_object_foreach((json_t *)(uintptr_t)wheres, where, cols)
	{
		json_t *of = dtx_trace_made_of(t, i, cols);

		dtx_trace_add(t, json_pack("{ss ss}", "op", "filter", "where", where), rows,
		              dtx_trace_name(name, "h", t->nwalks));
		dtx_trace_walked(t, name, t->table[st->table[0]].ids, st->table[0], of,
		                 &(struct trace_via){
					 .from = (int32_t)from, .bit = TRACE_BITS, .some = true });
		json_decref(of);
	}
}

/* The other columns of `values_from` have no cell in a wide column. */
static void trace_back_others(struct trace *t, uint32_t bit, const json_t *of, uint32_t from)
{
	const struct dtx_plan_step *st = &t->plan->step[t->bit_step[bit]];
	const json_t *values = json_object_get(st->canonical, "values_from"), *one;
	json_t *rest = json_object();
	char in[TRACE_NAME], name[TRACE_NAME];
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)values, i, one)
	{
		if (json_is_string(one) && !json_object_get(of, json_string_value(one)))
			json_object_set_new(rest, json_string_value(one), json_true());
	}
	t->failed |= !rest;
	if (of && json_array_size(values) > 1 && json_object_size(rest)) {
		t->out->cells = true;
		dtx_trace_add(t, json_pack("{ss ss}", "op", "filter", "where", "false"),
		              dtx_trace_name(in, "t", (uint32_t)st->table[0]),
		              dtx_trace_name(name, "none", t->nwalks));
		dtx_trace_walked(t, name, t->table[st->table[0]].ids, st->table[0], rest,
		                 &(struct trace_via){ .from = (int32_t)from, .bit = bit });
	}
	json_decref(rest);
}

/* From walked rows of a barrier's result to the rows of its input that they were made from. */
static void trace_back_barrier(struct trace *t, uint32_t bit)
{
	uint32_t i = t->bit_step[bit];
	const struct dtx_plan_step *st = &t->plan->step[i];
	bool wider = dtx_trace_how(t, st) == TRACE_WIDER;
	char in[TRACE_NAME], made[TRACE_NAME], keyed[TRACE_NAME], column[TRACE_NAME];
	uint64_t ids = t->table[st->table[0]].ids;
	int32_t id = (int32_t)(t->plan->ninputs + i);
	uint32_t w, n = t->nwalks;

	dtx_trace_name(in, "t", (uint32_t)st->table[0]);
	dtx_trace_name(made, "t", (uint32_t)id);
	dtx_trace_name(column, "r", bit);
	for (w = 0; w < n; w++) {
		char group[TRACE_NAME], rows[TRACE_NAME], cell[TRACE_NAME];
		json_t *on, *of, *cols, *wheres;
		bool apart = false, cells = false;

		if (!(t->walk[w].ids >> bit & 1))
			continue;
		dtx_trace_name(group, "g", bit * TRACE_SOURCES + w);
		dtx_trace_name(keyed, "k", bit * TRACE_SOURCES + w);
		dtx_trace_name(cell, "c", bit * TRACE_SOURCES + w);
		dtx_trace_name(rows, "w", bit * TRACE_SOURCES + w + 1);
		dtx_trace_semi(t, made, t->walk[w].name, column, group);
		if (wider) {
			apart = dtx_trace_wider_in(t, i, dtx_trace_reached(t, w, id), in, cell,
			                           &cells);
			on = dtx_trace_wider_keys(t, st);
		} else {
			on = dtx_trace_group_keys(t, json_object_get(st->canonical, "by"), in,
			                          cell);
		}
		if (json_array_size(on))
			dtx_trace_add(t,
			              json_pack("{ss ss ss sO sb}", "op", "join", "how", "semi",
			                        "with", group, "on", on, "nulls_equal", true),
			              cell, rows);
		else if (dtx_trace_sure(t, w))
			snprintf(rows, sizeof(rows), "%s", cell);
		else
			dtx_trace_meets(t, cell, group, "semi", rows);
		cols = json_copy(dtx_trace_reached(t, w, id));
		dtx_trace_group_terms(t, i, cols, rows);
		wheres = trace_wheres(t, st, cols);
		of = dtx_trace_made_of(t, i, cols);
		dtx_trace_walked(
			t, rows, ids, st->table[0], apart ? NULL : of,
			&(struct trace_via){ .from = (int32_t)w, .bit = bit, .all = apart });
		if (cells)
			dtx_trace_wider_empty(
				t, i, rows, group, on,
				&(struct trace_via){ .from = (int32_t)w, .bit = bit });
		if (apart) { /* all long rows decided that the row exists, some gave the value */
			dtx_trace_name(cell, "h", t->nwalks);
			dtx_trace_wider_name(t, st, cols, rows, cell);
			dtx_trace_walked(t, cell, ids, st->table[0], of,
			                 &(struct trace_via){ .from = (int32_t)w, .bit = bit });
		}
		trace_back_some(t, i, wheres, t->nwalks - 1, rows);
		if (wider)
			trace_back_others(t, bit, of, w);
		json_decref(cols);
		json_decref(wheres);
		json_decref(of);
		json_decref(on);
	}
}

json_t *dtx_trace_matched(struct trace *t, const struct dtx_plan_step *st, const char *how,
                          const char *with)
{
	const json_t *cols = json_object_get(st->canonical, "cols"), *one;
	const struct dtx_schema *s = t->table[st->table[0]].schema;
	bool all = json_object_get(json_array_get(cols, 0), "all") != NULL;
	bool known = !all || (s && !s->open);
	json_t *names = all && known ? dtx_trace_names(t, s) : json_array();
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)cols, i, one)
	{
		known &= all || dtx_trace_plain_name(one);
		if (!all && dtx_trace_plain_name(one))
			dtx_trace_append(t, names, json_incref((json_t *)(uintptr_t)one));
	}
	if (t->out)
		t->out->wide |= !known;
	if (json_array_size(names))
		return json_pack("{ss ss ss so sb}", "op", "join", "how", how, "with", with,
		                 "using", names, "nulls_equal", true);
	json_decref(names);
	return json_pack("{ss ss ss s[{ss ss}]}", "op", "join", "how", how, "with", with, "on",
	                 "left_expr", "1", "right_expr", "1");
}

json_t *dtx_trace_turned(struct trace *t, const struct dtx_plan_step *st, const char *how,
                         const char *with)
{
	static const char *const to[][2] = { { "left", "right" },
		                             { "right", "left" },
		                             { "left_expr", "right_expr" },
		                             { "right_expr", "left_expr" } };
	const json_t *on = json_object_get(st->canonical, "on"), *one;
	json_t *using = json_object_get(st->canonical, "using");
	json_t *list = on ? json_array() : NULL, *pair;
	size_t i, k;

	json_array_foreach((json_t *)(uintptr_t)on, i, one)
	{
		pair = json_object();
		for (k = 0; k < DTX_COUNT(to); k++)
			if (json_object_get(one, to[k][0]))
				json_object_set(pair, to[k][1], json_object_get(one, to[k][0]));
		dtx_trace_append(t, list, pair);
	}
	if (!list && !using)
		return dtx_trace_matched(t, st, how, with);
	return json_pack("{ss ss ss so* sO* sO*}", "op", "join", "how", how, "with", with, "on",
	                 list, "using", using, "nulls_equal",
	                 json_object_get(st->canonical, "nulls_equal"));
}

/* From walked rows to the rows of the other table that let them stay. These contribute no value. */
static void trace_back_semi(struct trace *t, uint32_t bit)
{
	uint32_t i = t->bit_step[bit], n = t->nwalks;
	const struct dtx_plan_step *st = &t->plan->step[i];
	char made[TRACE_NAME], other[TRACE_NAME], column[TRACE_NAME];

	dtx_trace_name(made, "t", t->plan->ninputs + i);
	dtx_trace_name(other, "t", (uint32_t)st->table[1]);
	dtx_trace_name(column, "r", bit);
	for (uint32_t w = 0; w < n; w++) {
		char kept[TRACE_NAME], rows[TRACE_NAME];

		if (!(t->walk[w].ids >> bit & 1))
			continue;
		dtx_trace_name(kept, "e", bit * TRACE_SOURCES + w);
		dtx_trace_name(rows, "w", bit * TRACE_SOURCES + w + 1);
		dtx_trace_semi(t, made, t->walk[w].name, column, kept);
		dtx_trace_add(t, dtx_trace_turned(t, st, "semi", kept), other, rows);
		dtx_trace_walked(t, rows, t->table[st->table[1]].ids, st->table[1], NULL,
		                 &(struct trace_via){ .from = (int32_t)w, .bit = bit });
	}
}

/* Each row of the result depends on all rows of all tables, unless the op says more. */
static void trace_back_whole(struct trace *t, uint32_t bit)
{
	uint32_t i = t->bit_step[bit], n = t->nwalks;
	const struct dtx_plan_step *st = &t->plan->step[i];
	int32_t id = (int32_t)(t->plan->ninputs + i);
	json_t *any = json_pack("{sb}", "*", true);
	char made[TRACE_NAME], column[TRACE_NAME];

	t->failed |= !any;
	dtx_trace_name(made, "t", (uint32_t)id);
	dtx_trace_name(column, "r", bit);
	for (uint32_t w = 0; w < n; w++) {
		bool value = dtx_trace_reached(t, w, id) != NULL;
		char group[TRACE_NAME], in[TRACE_NAME], rows[TRACE_NAME];

		if (!(t->walk[w].ids >> bit & 1))
			continue;
		dtx_trace_semi(t, made, t->walk[w].name, column,
		               dtx_trace_name(group, "g", bit * TRACE_SOURCES + w));
		if (dtx_trace_back_cells(t, bit, w, group))
			continue;
		t->out->wide = true;
		for (uint32_t k = 0; k < st->ntables; k++) {
			uint64_t ids = t->table[st->table[k]].ids;

			dtx_trace_name(in, "t", (uint32_t)st->table[k]);
			snprintf(rows, sizeof(rows), "dtx_w%u_%u", bit * TRACE_SOURCES + w + 1, k);
			if (dtx_trace_sure(t, w))
				dtx_trace_same(t, in, rows);
			else
				dtx_trace_meets(t, in, group, "semi", rows);
			dtx_trace_walked(t, rows, ids, st->table[k], value ? any : NULL,
			                 &(struct trace_via){ .from = (int32_t)w, .bit = bit });
		}
	}
	json_decref(any);
}

/* A copy has the rows of its table. */
static void trace_back_copy(struct trace *t, uint32_t bit)
{
	uint32_t i = t->bit_step[bit], n = t->nwalks;
	int32_t id = (int32_t)(t->plan->ninputs + i), in = t->plan->step[i].table[0];
	char both[TRACE_NAME], column[TRACE_NAME];

	dtx_trace_name(both, "b", (uint32_t)id);
	dtx_trace_name(column, "r", bit);
	for (uint32_t w = 0; w < n; w++) {
		char rows[TRACE_NAME];

		if (!(t->walk[w].ids >> bit & 1))
			continue;
		dtx_trace_name(rows, "w", bit * TRACE_SOURCES + w + 1);
		dtx_trace_semi(t, both, t->walk[w].name, column, rows);
		dtx_trace_walked(t, rows, t->table[in].ids, in, dtx_trace_reached(t, w, id),
		                 &(struct trace_via){ .from = (int32_t)w, .bit = bit });
	}
}

/* Names a table that has the row numbers of an input and only those of its columns that are wanted,
 * so that the others need not be read. It has all columns if it lacks a wanted one. */
static void trace_narrow(struct trace *t, uint32_t input, char name[TRACE_NAME])
{
	const json_t *want = json_object_get(t->ask->sources, t->plan->input[input].name), *value;
	const struct dtx_schema *s = t->table[t->numbered[input]].schema;
	json_t *cols = json_array();
	const char *column;
	char in[TRACE_NAME], number[TRACE_NAME];
	/* Steps that look at rows as they were read may have removed columns. */
	bool all = !want || !s || t->table[t->numbered[input]].from;

	json_object_foreach((json_t *)(uintptr_t)want, column, value)
	{
		all |= !s || dtx_schema_find(s, column) < 0;
		dtx_trace_append(t, cols, json_string(column));
	}
	dtx_trace_name(in, "t", (uint32_t)t->numbered[input]);
	dtx_trace_append(t, cols, json_string(dtx_trace_name(number, "r", input)));
	if (all)
		snprintf(name, TRACE_NAME, "%s", in);
	else
		dtx_trace_add(t, json_pack("{ss sO}", "op", "select", "cols", cols), in,
		              dtx_trace_name(name, "n", input));
	json_decref(cols);
}

static void trace_back_input(struct trace *t, uint32_t input)
{
	char in[TRACE_NAME], column[TRACE_NAME], rows[TRACE_NAME];
	bool walked = false;
	uint32_t w, n;

	for (w = 0; w < t->nwalks; w++)
		walked |= t->walk[w].ids >> input & 1;
	if (t->numbered[input] < 0 || !walked)
		return;
	trace_narrow(t, input, in);
	dtx_trace_name(column, "r", input);
	for (w = 0; w < t->nwalks; w++) {
		if (!(t->walk[w].ids >> input & 1))
			continue;
		n = t->out->noutputs;
		dtx_trace_name(rows, "i", input * TRACE_SOURCES + w);
		dtx_trace_semi(t, in, t->walk[w].name, column, rows);
		dtx_trace_output(t, DTX_TRACE_INPUT, input, dtx_trace_reached(t, w, (int32_t)input),
		                 rows);
		if (t->out->noutputs > n)
			t->out->output[n].apart = t->walk[w].via.apart;
	}
}

/* Whether a text is a number as formulas write one. */
static bool trace_number(const char *text)
{
	size_t n = strspn(text + (*text == '-'), "0123456789");
	const char *end = text + (*text == '-') + n;

	if (*end == '.' && strspn(end + 1, "0123456789"))
		end += 1 + strspn(end + 1, "0123456789");
	return n && n <= 15 && !*end && strlen(text) < 40;
}

static bool trace_numeric(const struct trace *t, int32_t id, const char *name)
{
	const struct dtx_schema *s = t->table[id].schema;
	int32_t at = s ? dtx_schema_find(s, name) : -1;
	enum dtx_type type = at < 0 ? DTX_T_UNKNOWN : s->field[at].type.type;

	return type == DTX_T_INT64 || type == DTX_T_FLOAT64 || type == DTX_T_DECIMAL;
}

/* Appends the condition that a row has the cells of the key. Cells are compared as printed; a
 * number is also compared by its value, so that 1.50 finds 1.5. */
static void trace_key(struct trace *t, int32_t id, struct dtx_buf *where)
{
	const char *name, *sep = "";
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)t->ask->key, name, value)
	{
		const char *text = json_string_value(value);

		dtx_buf_printf(where, "%s(text(", sep);
		dtx_expr_print_name(name, where);
		dtx_buf_add(where, ") == ");
		dtx_expr_print_text(dtx_str_of(text), where);
		if (trace_number(text) && trace_numeric(t, id, name)) {
			dtx_buf_add(where, " or ");
			dtx_expr_print_name(name, where);
			dtx_buf_printf(where, " == %s", text);
		}
		dtx_buf_addc(where, ')');
		sep = " and ";
	}
}

/* Finds the asked row by its known cells. */
static void trace_known(struct trace *t, int32_t id, const char *in)
{
	struct dtx_buf where = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	int64_t nth = 0;
	json_t *cols;

	/* The only row needs no condition. Then columns that are not asked for need not be
	 * computed. */
	if (t->ask->only) {
		cols = json_pack("[s]", t->ask->column);
		dtx_trace_numbers(t, cols, t->table[id].ids);
		dtx_trace_add(t, json_pack("{ss so}", "op", "select", "cols", cols), in, "dtx_one");
		in = "dtx_one";
	}
	if (t->ask->only || !dtx_trace_known(t, &where, &nth))
		dtx_buf_add(&where, "true");
	t->failed |= !dtx_buf_ok(&where);
	dtx_trace_add(t, json_pack("{ss ss}", "op", "filter", "where", dtx_buf_text(&where)), in,
	              nth ? "dtx_alike" : "dtx_w0");
	if (nth)
		dtx_trace_add(t,
		              json_pack("{ss sI sI}", "op", "limit", "n", (json_int_t)1, "offset",
		                        (json_int_t)nth - 1),
		              "dtx_alike", "dtx_w0");
	dtx_trace_output(t, DTX_TRACE_CHECK, 0, NULL, "dtx_w0");
	dtx_buf_clear(&where);
}

/* Finds the asked row in the whole table, by its number or its key. */
static void trace_found(struct trace *t, int32_t id, const char *in)
{
	struct dtx_buf where = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool counted = !t->ask->key && t->ask->row > 0;

	dtx_trace_add(t, json_pack("{ss sO}", "op", "select", "cols", t->ask->columns), in,
	              "dtx_check");
	dtx_trace_output(t, DTX_TRACE_CHECK, 0, NULL, "dtx_check");
	dtx_trace_add(t, json_pack("{ss ss}", "op", "add_id", "as", "dtx_row"), in, "dtx_rows");
	if (t->ask->key)
		trace_key(t, id, &where);
	else
		dtx_buf_printf(&where, "dtx_row == %lld", (long long)t->ask->row);
	t->failed |= !dtx_buf_ok(&where);
	if (counted) /* no later row is needed */
		dtx_trace_add(t, json_pack("{ss sI}", "op", "limit", "n", (json_int_t)t->ask->row),
		              "dtx_rows", "dtx_first");
	dtx_trace_add(t, json_pack("{ss ss}", "op", "filter", "where", dtx_buf_text(&where)),
	              counted ? "dtx_first" : "dtx_rows", "dtx_w0");
	dtx_buf_clear(&where);
}

void dtx_trace_back(struct trace *t)
{
	int32_t id = t->plan->output[t->ask->output].table;
	char in[TRACE_NAME];
	json_t *asked;
	uint32_t b;

	dtx_trace_ready(t, id);
	dtx_trace_name(in, "t", (uint32_t)id);
	if (t->ask->known)
		trace_known(t, id, in);
	else
		trace_found(t, id, in);
	dtx_trace_output(t, DTX_TRACE_ROW, 0, NULL, "dtx_w0");
	dtx_trace_terms(t);
	asked = json_pack("{sb}", t->ask->column, true);
	t->failed |= !asked;
	dtx_trace_walked(t, "dtx_w0", t->table[id].ids, id, asked,
	                 &(struct trace_via){ .from = -1 });
	json_decref(asked);
	for (b = t->nbits; b-- > t->plan->ninputs;) {
		enum trace_how how = dtx_trace_how(t, &t->plan->step[t->bit_step[b]]);

		if (how == TRACE_KEYS || how == TRACE_WIDER)
			trace_back_barrier(t, b);
		else if (how == TRACE_WHOLE)
			trace_back_whole(t, b);
		else if (how == TRACE_COPY)
			trace_back_copy(t, b);
		else if (how == TRACE_SEMI)
			trace_back_semi(t, b);
		else
			dtx_trace_back_window(t, b);
	}
	for (b = 0; b < t->plan->ninputs; b++)
		trace_back_input(t, b);
}
