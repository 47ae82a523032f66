/* The traced plan, step by step, then back from its last row. */
#include "core/plan/trace.h"

#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"

enum { TRACE_BITS = 64, TRACE_NAME = 40, TRACE_SOURCES = 80 };

/* How the rows of an op are followed. */
enum trace_how {
	TRACE_PASS,  /* its rows are those of its input, with all other columns */
	TRACE_LIST,  /* the same, but it lists the columns that stay */
	TRACE_COLS,  /* the same, once its `cols` are named: all of them would be the numbers too */
	TRACE_EARLY, /* it judges whole rows: they are numbered behind it */
	TRACE_KEYS,  /* a row for each value of `by` */
	TRACE_WIDER, /* a row for each value of the id columns */
	TRACE_NOT
};
static const struct {
	const char *op;
	enum trace_how how;
} trace_ops[] = {
	{ "filter", TRACE_PASS },        { "derive", TRACE_PASS },
	{ "limit", TRACE_PASS },         { "sort", TRACE_PASS },
	{ "top", TRACE_PASS },           { "cast", TRACE_PASS },
	{ "rename", TRACE_PASS },        { "join", TRACE_PASS },
	{ "asof_join", TRACE_PASS },     { "lookup_value", TRACE_PASS },
	{ "explode", TRACE_PASS },       { "bin", TRACE_PASS },
	{ "parse_number", TRACE_PASS },  { "parse_date", TRACE_PASS },
	{ "clean_text", TRACE_PASS },    { "coalesce", TRACE_PASS },
	{ "extract", TRACE_PASS },       { "split_column", TRACE_PASS },
	{ "merge_columns", TRACE_PASS }, { "nullify", TRACE_PASS },
	{ "blank_down", TRACE_PASS },    { "replace_values", TRACE_PASS },
	{ "fill", TRACE_EARLY },         { "fill_null", TRACE_PASS },
	{ "drop_rows", TRACE_EARLY },    { "skip_rows", TRACE_EARLY },
	{ "drop_empty", TRACE_EARLY },   { "union", TRACE_PASS },
	{ "pivot_longer", TRACE_PASS },  { "select", TRACE_LIST },
	{ "drop", TRACE_LIST },          { "reorder", TRACE_LIST },
	{ "distinct", TRACE_COLS },      { "group_by", TRACE_KEYS },
	{ "pivot_wider", TRACE_WIDER },
};

struct trace_table {
	uint64_t ids;         /* row numbers it carries, by bit */
	int32_t waiting;      /* input whose rows it has and has not numbered yet, -1: none */
	char raw[TRACE_NAME]; /* its name until then */
	const struct dtx_schema *schema;
};
struct trace_walk { /* rows that went into the one asked for */
	char name[TRACE_NAME];
	uint64_t ids;
};
struct trace {
	const struct dtx_plan *plan;
	const struct dtx_exec_result *bound;
	const char *column;
	json_t *steps, *outputs;
	struct trace_table *table; /* per table id */
	uint32_t *bit_step;        /* per bit behind the inputs: its step */
	uint32_t nbits;
	int32_t numbered[DTX_PLAN_INPUTS]; /* table with the numbers of an input */
	struct trace_walk walk[TRACE_SOURCES];
	uint32_t nwalks;
	struct dtx_trace *out;
	bool failed; /* memory */
};

/* --- making steps --- */

static void trace_add(struct trace *t, json_t *step, const char *in, const char *out)
{
	if (!step || (in && !dtx_json_set(step, "in", json_string(in))) ||
	    !dtx_json_set(step, "out", json_string(out)) || json_array_append(t->steps, step) < 0)
		t->failed = true;
	json_decref(step);
}

static const char *trace_name(char buf[TRACE_NAME], const char *kind, uint32_t n)
{
	snprintf(buf, TRACE_NAME, "dtx_%s%u", kind, n);
	return buf;
}

static json_t *trace_names(const struct dtx_schema *s)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && s && i < s->nfields; i++)
		json_array_append_new(list, json_string(s->field[i].name));
	return list;
}

/* Adds the names of the row numbers to a list of columns. */
static void trace_numbers(json_t *list, uint64_t ids)
{
	char name[TRACE_NAME];

	for (uint32_t b = 0; b < TRACE_BITS; b++) {
		if (ids >> b & 1)
			json_array_append_new(list, json_string(trace_name(name, "r", b)));
	}
}

static void trace_number(struct trace *t, uint32_t bit, const char *in, const char *out)
{
	char name[TRACE_NAME];

	trace_add(t, json_pack("{ss ss}", "op", "add_id", "as", trace_name(name, "r", bit)), in,
	          out);
}

/* Rows of `in` whose numbers are in `with`. */
static void trace_semi(struct trace *t, const char *in, const char *with, const char *column,
                       const char *out)
{
	trace_add(t,
	          json_pack("{ss ss ss s[s]}", "op", "join", "how", "semi", "with", with, "using",
	                    column),
	          in, out);
}

/* Rows as they are. */
static void trace_same(struct trace *t, const char *in, const char *out)
{
	trace_add(t, json_pack("{ss ss}", "op", "filter", "where", "true"), in, out);
}

/* --- forward: the plan with row numbers --- */

/* A formula that looks at other rows; its name in a text is enough to be careful. */
static bool trace_looks_around(const char *formula)
{
	static const char *const calls[] = {
		"row_number(", "rank(",        "cume_dist(",   "ntile(",     "lag(",
		"lead(",       "first_value(", "last_value(",  "nth_value(", "diff(",
		"pct_change(", "cum_",         "roll_",        "share(",     "fill_down(",
		"fill_up(",    "ewm_mean(",    "interpolate(",
	};
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_expr *e = NULL;
	bool found = false;
	size_t i;

	for (i = 0; i < DTX_COUNT(calls); i++)
		found |= strstr(formula, calls[i]) != NULL;
	if (dtx_expr_parse(&arena, dtx_str_of(formula), &e, &err) == DTX_OK)
		found |= dtx_expr_has_aggregate(e);
	dtx_err_clear(&err);
	dtx_arena_clear(&arena);
	return found;
}

static bool trace_windows(const struct dtx_plan_step *st)
{
	const json_t *set = json_object_get(st->canonical, "set"), *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)set, i, one)
	{
		if (trace_looks_around(dtx_json_text(one, "expr", "")))
			return true;
	}
	return false;
}

static enum trace_how trace_how(const struct dtx_plan_step *st)
{
	for (size_t i = 0; i < DTX_COUNT(trace_ops); i++) {
		if (!strcmp(trace_ops[i].op, st->name))
			return trace_ops[i].how;
	}
	return TRACE_NOT;
}

/* `with` names tables of the plan: those that are followed take their place. */
static json_t *trace_with(const struct dtx_plan_step *st, const json_t *with)
{
	char name[TRACE_NAME];
	json_t *list, *one;
	size_t i;

	if (json_is_array(with)) {
		list = json_array();
		json_array_foreach(with, i, one) json_array_append_new(list, trace_with(st, one));
		return list;
	}
	for (i = 1; i < st->ntables; i++) {
		if (st->table_name[i] && json_is_string(with) &&
		    !strcmp(st->table_name[i], json_string_value(with)))
			return json_string(trace_name(name, "t", (uint32_t)st->table[i]));
	}
	return json_deep_copy(with);
}

static json_t *trace_step(const struct dtx_plan_step *st)
{
	json_t *step = json_deep_copy(st->canonical);
	const json_t *with = json_object_get(step, "with");

	if (step && with)
		json_object_set_new(step, "with", trace_with(st, with));
	return step;
}

/* The columns that stay, by name where they are known, and the row numbers. */
static json_t *trace_list(struct trace *t, const struct dtx_plan_step *st, int32_t id)
{
	const struct dtx_schema *s = t->table[id].schema;
	json_t *cols = s ? trace_names(s) : json_deep_copy(json_object_get(st->canonical, "cols"));

	trace_numbers(cols, t->table[id].ids);
	return json_pack("{ss so}", "op", "select", "cols", cols);
}

static bool trace_all(const json_t *cols)
{
	const char *first = json_string_value(json_array_get(cols, 0));

	return !cols || (json_array_size(cols) == 1 && first && !strcmp(first, "*"));
}

static json_t *trace_named(struct trace *t, const struct dtx_plan_step *st)
{
	const struct dtx_schema *s = t->table[st->table[0]].schema;
	json_t *step = trace_step(st);

	if (s && trace_all(json_object_get(step, "cols")))
		json_object_set_new(step, "cols", trace_names(s));
	return step;
}

/* A step that makes rows of several: without numbers before it, with new ones behind it. */
static enum dtx_code trace_barrier(struct trace *t, const struct dtx_plan_step *st, int32_t id,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char in[TRACE_NAME], bare[TRACE_NAME], made[TRACE_NAME], out[TRACE_NAME];
	uint32_t bit = t->nbits;
	json_t *numbers = json_array();

	if (bit >= TRACE_BITS)
		DTX_FAIL(err, DTX_E_NO_TRANSLATION, "more than %d tables to follow", TRACE_BITS);
	trace_name(in, "t", (uint32_t)st->table[0]);
	trace_name(bare, "d", (uint32_t)id);
	trace_name(made, "b", (uint32_t)id);
	trace_name(out, "t", (uint32_t)id);
	trace_numbers(numbers, t->table[st->table[0]].ids);
	trace_add(t, json_pack("{ss sO}", "op", "drop", "cols", numbers), in, bare);
	trace_add(t, trace_step(st), bare, made);
	t->bit_step[bit] = (uint32_t)(id - (int32_t)t->plan->ninputs);
	t->nbits++;
	t->table[id].ids = (uint64_t)1 << bit;
	trace_number(t, bit, made, out);
out:
	json_decref(numbers);
	return rc;
}

/* Numbers the rows of a table that has waited for it. */
static void trace_ready(struct trace *t, int32_t id)
{
	struct trace_table *x = &t->table[id];
	char out[TRACE_NAME];

	if (x->waiting < 0)
		return;
	trace_number(t, (uint32_t)x->waiting, x->raw, trace_name(out, "t", (uint32_t)id));
	x->ids = (uint64_t)1 << x->waiting;
	t->numbered[x->waiting] = id;
	x->waiting = -1;
}

/* Only one step may read a table whose rows are not numbered yet. */
static bool trace_early(const struct trace *t, uint32_t i)
{
	int32_t in = t->plan->step[i].table[0];
	uint32_t users = 0, k, n;

	for (k = 0; k < t->plan->nsteps; k++) {
		for (n = 0; n < t->plan->step[k].ntables; n++)
			users += t->plan->step[k].table[n] == in;
	}
	return t->table[in].waiting >= 0 && users == 1;
}

static enum dtx_code trace_forward_step(struct trace *t, uint32_t i, struct dtx_err *err)
{
	const struct dtx_plan_step *st = &t->plan->step[i];
	int32_t id = (int32_t)(t->plan->ninputs + i);
	enum trace_how how = trace_how(st);
	enum dtx_code rc = DTX_OK;
	char in[TRACE_NAME], out[TRACE_NAME];

	t->table[id].schema = t->bound->step[i].schema;
	if (how == TRACE_NOT || trace_windows(st)) {
		rc = dtx_err_set(err, DTX_E_NO_TRANSLATION, __FILE__, __LINE__,
		                 "the rows of step %u '%s' cannot be followed", i + 1, st->name);
		dtx_err_at(err, st->at);
		goto out;
	}
	if (how == TRACE_EARLY && trace_early(t, i)) {
		t->table[id].waiting = t->table[st->table[0]].waiting;
		trace_add(t, trace_step(st), t->table[st->table[0]].raw,
		          trace_name(t->table[id].raw, "q", (uint32_t)id));
		goto out;
	}
	for (uint32_t k = 0; k < st->ntables; k++) {
		if (st->table[k] >= 0)
			trace_ready(t, st->table[k]);
	}
	if (how == TRACE_KEYS || how == TRACE_WIDER) {
		DTX_TRY(trace_barrier(t, st, id, err));
		goto out;
	}
	for (uint32_t k = 0; k < st->ntables; k++)
		t->table[id].ids |= st->table[k] >= 0 ? t->table[st->table[k]].ids : 0;
	trace_name(in, "t", (uint32_t)st->table[0]);
	trace_name(out, "t", (uint32_t)id);
	trace_add(t,
	          how == TRACE_LIST   ? trace_list(t, st, id)
	          : how == TRACE_COLS ? trace_named(t, st)
	                              : trace_step(st),
	          in, out);
out:
	return rc;
}

static enum dtx_code trace_forward(struct trace *t, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < t->plan->ninputs + t->plan->nsteps; i++)
		t->table[i].waiting = i < t->plan->ninputs ? (int32_t)i : -1;
	for (uint32_t i = 0; i < t->plan->ninputs; i++) {
		t->table[i].schema = t->bound->input[i].schema;
		snprintf(t->table[i].raw, TRACE_NAME, "%s", t->plan->input[i].name);
		t->numbered[i] = -1;
	}
	t->nbits = t->plan->ninputs;
	for (uint32_t i = 0; i < t->plan->nsteps; i++)
		DTX_TRY(trace_forward_step(t, i, err));
out:
	return rc;
}

/* --- back from the row --- */

static void trace_output(struct trace *t, enum dtx_trace_part part, uint32_t input,
                         const char *table, struct dtx_err *err)
{
	if (t->out->noutputs == DTX_PLAN_OUTPUTS) {
		(void)dtx_err_set(err, DTX_E_NO_TRANSLATION, __FILE__, __LINE__,
		                  "more than %d tables went into this row", DTX_PLAN_OUTPUTS);
		return;
	}
	t->out->output[t->out->noutputs++] = (struct dtx_trace_output){ part, input };
	json_array_append_new(t->outputs, json_pack("{ss}", "table", table));
}

static void trace_walked(struct trace *t, const char *name, uint64_t ids)
{
	if (t->nwalks == TRACE_SOURCES)
		return;
	snprintf(t->walk[t->nwalks].name, TRACE_NAME, "%s", name);
	t->walk[t->nwalks++].ids = ids;
}

/* Formulas among the keys become columns, so that they can be compared. */
static json_t *trace_group_keys(struct trace *t, const json_t *by, const char *in, const char *out)
{
	json_t *on = json_array(), *set = json_array(), *key;
	char name[TRACE_NAME];
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)by, i, key)
	{
		const char *as = dtx_json_text(key, "as", ""), *left = as;
		const char *expr = dtx_json_text(key, "expr", NULL);

		if (expr) {
			left = trace_name(name, "k", (uint32_t)i);
			json_array_append_new(set, json_pack("{ss ss}", "as", left, "expr", expr));
		}
		json_array_append_new(on, json_pack("{ss ss}", "left", left, "right", as));
	}
	if (json_array_size(set))
		trace_add(t, json_pack("{ss sO}", "op", "derive", "set", set), in, out);
	else
		trace_same(t, in, out);
	json_decref(set);
	return on;
}

/* Whether nothing behind step i makes the asked column anew or renames it. */
static bool trace_kept(const struct trace *t, uint32_t i)
{
	static const char *const keep = "filter,sort,limit,top,select,drop,reorder,distinct";

	for (i++; i < t->plan->nsteps; i++) {
		if (!dtx_str_in_list(keep, t->plan->step[i].name))
			return false;
	}
	return true;
}

static json_t *trace_wider_keys(struct trace *t, const struct dtx_plan_step *st)
{
	const struct dtx_schema *s = t->table[st->table[0]].schema;
	const json_t *id = json_object_get(st->canonical, "id"), *one;
	const json_t *names = json_object_get(st->canonical, "names_from");
	const json_t *values = json_object_get(st->canonical, "values_from");
	json_t *on = json_array(), *rest = id ? NULL : trace_names(s);
	size_t i, k;

	json_array_foreach((json_t *)(uintptr_t)(id ? id : rest), i, one)
	{
		bool used = false;

		for (k = 0; !id && k < json_array_size(names) + json_array_size(values); k++)
			used |= json_equal(
				one, k < json_array_size(names)
					     ? json_array_get(names, k)
					     : json_array_get(values, k - json_array_size(names)));
		if (!used)
			json_array_append_new(on, json_pack("{sO sO}", "left", one, "right", one));
	}
	json_decref(rest);
	return on;
}

static void trace_quoted(const char *text, char quote, struct dtx_buf *out)
{
	dtx_buf_addc(out, quote);
	for (; *text; text++) {
		if (*text == quote)
			dtx_buf_addc(out, quote);
		dtx_buf_addc(out, *text);
	}
	dtx_buf_addc(out, quote);
}

/* Of a wide row only those cells came from a long row whose name the column has. */
static void trace_wider_name(struct trace *t, const struct dtx_plan_step *st, uint32_t i,
                             const char *in, const char *out)
{
	const json_t *names = json_object_get(st->canonical, "names_from");
	const char *prefix = dtx_json_text(st->canonical, "names_prefix", "");
	const char *name = json_string_value(json_array_get(names, 0)), *value = t->column;
	struct dtx_buf where = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (!name || json_array_size(names) != 1 || !trace_kept(t, i) ||
	    strncmp(value, prefix, strlen(prefix)) != 0) {
		t->out->wide = true;
		trace_same(t, in, out);
		return;
	}
	dtx_buf_add(&where, "text(");
	trace_quoted(name, '`', &where);
	dtx_buf_add(&where, ") == ");
	trace_quoted(value + strlen(prefix), '\'', &where);
	trace_add(t, json_pack("{ss ss}", "op", "filter", "where", dtx_buf_text(&where)), in, out);
	dtx_buf_clear(&where);
}

/* Rows that went into the walked results of a barrier. */
static void trace_back_barrier(struct trace *t, uint32_t bit)
{
	uint32_t i = t->bit_step[bit];
	const struct dtx_plan_step *st = &t->plan->step[i];
	bool wider = trace_how(st) == TRACE_WIDER;
	char in[TRACE_NAME], made[TRACE_NAME], keyed[TRACE_NAME], column[TRACE_NAME];
	uint64_t ids = t->table[st->table[0]].ids;
	uint32_t w, n = t->nwalks;

	trace_name(in, "t", (uint32_t)st->table[0]);
	trace_name(made, "t", t->plan->ninputs + i);
	trace_name(column, "r", bit);
	for (w = 0; w < n; w++) {
		char group[TRACE_NAME], rows[TRACE_NAME], cell[TRACE_NAME];
		json_t *on;

		if (!(t->walk[w].ids >> bit & 1))
			continue;
		trace_name(group, "g", bit * TRACE_SOURCES + w);
		trace_name(keyed, "k", bit * TRACE_SOURCES + w);
		trace_name(cell, "c", bit * TRACE_SOURCES + w);
		trace_name(rows, "w", bit * TRACE_SOURCES + w + 1);
		trace_semi(t, made, t->walk[w].name, column, group);
		if (wider) {
			trace_wider_name(t, st, i, in, cell);
			on = trace_wider_keys(t, st);
		} else {
			on = trace_group_keys(t, json_object_get(st->canonical, "by"), in, cell);
		}
		if (json_array_size(on))
			trace_add(t,
			          json_pack("{ss ss ss sO sb}", "op", "join", "how", "semi", "with",
			                    group, "on", on, "nulls_equal", true),
			          cell, rows);
		else
			snprintf(rows, sizeof(rows), "%s", cell);
		trace_walked(t, rows, ids);
		json_decref(on);
	}
}

static void trace_back_input(struct trace *t, uint32_t input, struct dtx_err *err)
{
	char in[TRACE_NAME], column[TRACE_NAME], rows[TRACE_NAME];
	uint32_t w;

	if (t->numbered[input] < 0)
		return;
	trace_name(in, "t", (uint32_t)t->numbered[input]);
	trace_name(column, "r", input);
	for (w = 0; w < t->nwalks; w++) {
		if (!(t->walk[w].ids >> input & 1))
			continue;
		trace_name(rows, "i", input * TRACE_SOURCES + w);
		trace_semi(t, in, t->walk[w].name, column, rows);
		trace_output(t, DTX_TRACE_INPUT, input, rows, err);
	}
}

static void trace_back(struct trace *t, uint32_t output, const json_t *columns, int64_t row,
                       struct dtx_err *err)
{
	int32_t id = t->plan->output[output].table;
	char in[TRACE_NAME], where[64];
	uint32_t b;

	trace_ready(t, id);
	trace_name(in, "t", (uint32_t)id);
	trace_add(t, json_pack("{ss sO}", "op", "select", "cols", columns), in, "dtx_check");
	trace_output(t, DTX_TRACE_CHECK, 0, "dtx_check", err);
	trace_add(t, json_pack("{ss ss}", "op", "add_id", "as", "dtx_row"), in, "dtx_rows");
	snprintf(where, sizeof(where), "dtx_row == %lld", (long long)row);
	trace_add(t, json_pack("{ss ss}", "op", "filter", "where", where), "dtx_rows", "dtx_w0");
	trace_output(t, DTX_TRACE_ROW, 0, "dtx_w0", err);
	trace_walked(t, "dtx_w0", t->table[id].ids);
	for (b = t->nbits; b-- > t->plan->ninputs;)
		trace_back_barrier(t, b);
	for (b = 0; b < t->plan->ninputs; b++)
		trace_back_input(t, b, err);
}

/* --- the whole --- */

static json_t *trace_inputs(const struct dtx_plan *plan)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < plan->ninputs; i++)
		json_array_append_new(list, json_deep_copy(plan->input[i].canonical));
	return list;
}

enum dtx_code dtx_trace_plan(const struct dtx_plan *plan, const struct dtx_exec_result *bound,
                             uint32_t output, const json_t *columns, int64_t row,
                             const char *column, struct dtx_trace *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct trace t = { .plan = plan, .bound = bound, .column = column, .out = out };
	struct dtx_err late = DTX_ERR_INIT;

	*out = (struct dtx_trace){ .plan = NULL };
	t.steps = json_array();
	t.outputs = json_array();
	t.table = dtx_mem_zalloc(plan->ninputs + plan->nsteps + 1, sizeof(*t.table));
	t.bit_step = dtx_mem_zalloc(TRACE_BITS, sizeof(*t.bit_step));
	if (!t.steps || !t.outputs || !t.table || !t.bit_step)
		DTX_FAIL_MEM(err);
	DTX_TRY(trace_forward(&t, err));
	trace_back(&t, output, columns, row, &late);
	if (late.code != DTX_OK) {
		dtx_err_move(err, &late);
		rc = err->code;
		goto out;
	}
	out->plan = json_pack("{si ss so sO sO sO}", "dtx", 1, "fallback", "off", "inputs",
	                      trace_inputs(plan), "steps", t.steps, "output", t.outputs, "options",
	                      json_object_get(plan->canonical, "options"));
	if (t.failed || !out->plan)
		DTX_FAIL_MEM(err);
out:
	json_decref(t.steps);
	json_decref(t.outputs);
	dtx_mem_free(t.table);
	dtx_mem_free(t.bit_step);
	dtx_err_clear(&late);
	return rc;
}

void dtx_trace_clear(struct dtx_trace *t)
{
	json_decref(t->plan);
	t->plan = NULL;
}
