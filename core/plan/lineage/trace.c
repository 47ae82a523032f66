/* Makes the traced plan, step by step, see trace_parts.h. */
#include "core/plan/lineage/trace_parts.h"

#include <stdio.h>
#include <string.h>

#include "core/base/memory/mem.h"

/* --- making steps --- */

void dtx_trace_add(struct trace *t, json_t *step, const char *in, const char *out)
{
	if (!step || !dtx_json_set(step, "in", json_string(in)) ||
	    !dtx_json_set(step, "out", json_string(out)) || json_array_append(t->steps, step) < 0)
		t->failed = true;
	json_decref(step);
}

void dtx_trace_append(struct trace *t, json_t *list, json_t *value)
{
	if (json_array_append_new(list, value) < 0)
		t->failed = true;
}

static void trace_set(struct trace *t, json_t *object, const char *key, json_t *value)
{
	if (!dtx_json_set(object, key, value))
		t->failed = true;
}

const char *dtx_trace_name(char buf[TRACE_NAME], const char *kind, uint32_t n)
{
	snprintf(buf, TRACE_NAME, "dtx_%s%u", kind, n);
	return buf;
}

json_t *dtx_trace_names(struct trace *t, const struct dtx_schema *s)
{
	json_t *list = json_array();

	for (uint32_t i = 0; s && i < s->nfields; i++)
		dtx_trace_append(t, list, json_string(s->field[i].name));
	return list;
}

void dtx_trace_numbers(struct trace *t, json_t *list, uint64_t ids)
{
	char name[TRACE_NAME];

	for (uint32_t b = 0; b < TRACE_BITS; b++) {
		if (ids >> b & 1)
			dtx_trace_append(t, list, json_string(dtx_trace_name(name, "r", b)));
	}
}

/* Adds a step that numbers the rows, in the column dtx_r<bit>. */
static void trace_number(struct trace *t, uint32_t bit, const char *in, const char *out)
{
	char name[TRACE_NAME];

	dtx_trace_add(t, json_pack("{ss ss}", "op", "add_id", "as", dtx_trace_name(name, "r", bit)),
	              in, out);
}

/* --- forward: the plan with row numbers --- */

struct dtx_op_facts dtx_trace_facts(const struct dtx_plan_step *st)
{
	/* If only the run finds the columns of `across`, its formulas are not known here, and a
	 * selector would find row numbers too. */
	if (json_object_get(st->canonical, "across"))
		return dtx_op_facts(NULL, st->canonical);
	return dtx_op_facts(st->op, st->canonical);
}

struct dtx_op_facts dtx_trace_made_facts(const json_t *step)
{
	return dtx_op_facts(dtx_op_named(dtx_json_text(step, "op", "")), step);
}

/* Whether a table has the rows of an input as they were read, and only this step reads it. */
static bool trace_as_read(const struct dtx_plan *plan, const bool *by_cells, int32_t table)
{
	uint32_t users = 0, k, n;

	for (k = 0; k < plan->nsteps; k++) {
		for (n = 0; n < plan->step[k].ntables; n++)
			users += plan->step[k].table[n] == table;
	}
	if (users != 1 || table < (int32_t)plan->ninputs)
		return users == 1 && table >= 0;
	k = (uint32_t)table - plan->ninputs;
	return !(by_cells && by_cells[k]) && dtx_trace_facts(&plan->step[k]).as_read &&
	       trace_as_read(plan, by_cells, plan->step[k].table[0]);
}

/* Whether the keys are columns of the result under known names. */
static bool trace_is_keyed(const struct dtx_plan_step *st, const struct dtx_op_facts *f)
{
	const json_t *keys = json_object_get(st->canonical, f->groups), *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)keys, i, one)
	{
		if (json_is_string(one) ? !dtx_trace_plain_name(one)
		                        : !dtx_json_text(one, "as", NULL))
			return false;
	}
	return true;
}

static enum trace_how trace_how(const struct dtx_plan *plan, const bool *by_cells,
                                const struct dtx_plan_step *st)
{
	struct dtx_op_facts f = dtx_trace_facts(st);

	if (dtx_trace_again_copy(st))
		return TRACE_COPY;
	switch (f.rows) {
	case DTX_ROWS_WHOLE: return TRACE_WHOLE;
	case DTX_ROWS_GROUPED: return trace_is_keyed(st, &f) ? TRACE_KEYS : TRACE_WHOLE;
	case DTX_ROWS_WIDER: return TRACE_WIDER;
	case DTX_ROWS_WINDOW: return TRACE_WINDOW;
	case DTX_ROWS_JOINED:
	case DTX_ROWS_ANTI: return TRACE_JOIN;
	case DTX_ROWS_SEMI: return TRACE_SEMI;
	case DTX_ROWS_LOOKUP: return TRACE_LOOKUP;
	case DTX_ROWS_UNION: return TRACE_UNION;
	default: break;
	}
	if (f.as_read && trace_as_read(plan, by_cells, st->table[0]))
		return TRACE_EARLY;
	if (f.as_read && f.values == DTX_VALUES_RENAMED)
		return TRACE_WHOLE; /* such a step turns a row into column names, and a row number
		                     * is not a name */
	if (dtx_trace_windows(st))
		return TRACE_WINDOW;
	return f.values == DTX_VALUES_LISTED || f.values == DTX_VALUES_UNLISTED ? TRACE_LIST
	                                                                        : TRACE_PASS;
}

enum trace_how dtx_trace_how(const struct trace *t, const struct dtx_plan_step *st)
{
	if (t->by_cells && t->by_cells[st - t->plan->step])
		return TRACE_WHOLE;
	return trace_how(t->plan, t->by_cells, st);
}

enum trace_how dtx_trace_how_planned(const struct dtx_plan *plan, const struct dtx_plan_step *st)
{
	return trace_how(plan, NULL, st);
}

bool dtx_trace_keeps(const struct dtx_plan_step *st, const char *column)
{
	struct dtx_op_facts f = dtx_trace_facts(st);
	const char *as = dtx_json_text(st->canonical, "as", "");

	switch (f.rows) {
	case DTX_ROWS_WHOLE:
	case DTX_ROWS_SPLIT:
	case DTX_ROWS_LONGER:
	case DTX_ROWS_GROUPED:
	case DTX_ROWS_WIDER:
	case DTX_ROWS_UNION: return false;
	case DTX_ROWS_JOINED:
	case DTX_ROWS_SEMI:
	case DTX_ROWS_ANTI: return true;
	case DTX_ROWS_LOOKUP:
		return strcmp(dtx_json_text(st->canonical, "as",
		                            dtx_json_text(st->canonical, "value", "")),
		              column) != 0;
	default: break;
	}
	if (f.values == DTX_VALUES_SET)
		return !dtx_json_find(json_object_get(st->canonical, "set"), "as", column);
	return (f.values == DTX_VALUES_KEPT && strcmp(as, column) != 0) ||
	       f.values == DTX_VALUES_LISTED || f.values == DTX_VALUES_UNLISTED;
}

/* Replaces table names in `with` by the names of those tables in the traced plan. */
static json_t *trace_with(struct trace *t, const struct dtx_plan_step *st, const json_t *with)
{
	char name[TRACE_NAME];
	json_t *list, *one;
	size_t i;

	if (json_is_array(with)) {
		list = json_array();
		json_array_foreach((json_t *)(uintptr_t)with, i, one)
		{
			dtx_trace_append(t, list, trace_with(t, st, one));
		}
		return list;
	}
	for (i = 1; i < st->ntables; i++) {
		if (st->table_name[i] && json_is_string(with) &&
		    !strcmp(st->table_name[i], json_string_value(with)))
			return json_string(dtx_trace_name(name, "t", (uint32_t)st->table[i]));
	}
	return json_deep_copy(with);
}

json_t *dtx_trace_step(struct trace *t, const struct dtx_plan_step *st)
{
	json_t *step = json_deep_copy(st->canonical);
	const json_t *with = json_object_get(step, "with");

	if (with)
		trace_set(t, step, "with", trace_with(t, st, with));
	return step;
}

/* Whether a list has selectors. They would match the row numbers too; plain names do not. */
static bool trace_finds(const json_t *cols)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)cols, i, one)
	{
		if (!json_is_string(one))
			return true;
	}
	return false;
}

/* The step with its parameters changed so that it ignores the row numbers `ids` and passes them
 * on. */
static json_t *trace_beside(struct trace *t, const struct dtx_plan_step *st, uint64_t ids)
{
	json_t *step = dtx_trace_step(t, st), *kept = json_array();
	json_t *cols = json_object_get(step, "cols"), *keep = json_object_get(step, "keep");
	const char *takes = dtx_trace_facts(st).all_cols;
	bool all = !cols && takes && (!*takes || json_object_get(step, takes));

	if (trace_finds(cols))
		dtx_trace_append(t, kept, json_pack("{sO}", "not", cols));
	dtx_trace_numbers(t, kept, ids);
	if (all || trace_finds(cols))
		trace_set(t, step, "cols", json_pack("[{sO}]", "not", kept));
	if (json_is_array(keep))
		dtx_trace_numbers(t, keep, ids);
	json_decref(kept);
	return step;
}

/* A select of the columns that stay, by name if they are known, and the row numbers. */
static json_t *trace_list(struct trace *t, const struct dtx_plan_step *st, int32_t id)
{
	const struct dtx_schema *s = t->table[id].schema;
	json_t *cols;

	if (!s && dtx_trace_facts(st).values != DTX_VALUES_LISTED)
		return trace_beside(t, st, t->table[id].ids);
	cols = s ? dtx_trace_names(t, s) : json_deep_copy(json_object_get(st->canonical, "cols"));
	dtx_trace_numbers(t, cols, t->table[id].ids);
	return json_pack("{ss so}", "op", "select", "cols", cols);
}

/* The table names for the union's `source_as` column, which would otherwise be the names in the
 * traced plan. */
static json_t *trace_sources(struct trace *t, const struct dtx_plan_step *st)
{
	json_t *list = json_array();

	for (uint32_t k = 0; k < st->ntables; k++)
		dtx_trace_append(t, list,
		                 json_string(st->table_name[k] ? st->table_name[k] : "main"));
	return list;
}

static json_t *trace_union(struct trace *t, const struct dtx_plan_step *st)
{
	json_t *step = dtx_trace_step(t, st);

	if (json_object_get(step, "source_as") && !json_object_get(step, "sources"))
		trace_set(t, step, "sources", trace_sources(t, st));
	/* Each table lacks the row numbers of the others. */
	trace_set(t, step, "fill_missing", json_true());
	if (step)
		json_object_del(step, "columns");
	return step;
}

/* A union of the columns that all tables have. A plain intersection would drop the row numbers,
 * since a table has only its own. */
static void trace_intersect(struct trace *t, const struct dtx_plan_step *st, int32_t id,
                            const char *in, const char *out)
{
	json_t *cols = dtx_trace_names(t, t->table[id].schema);
	char whole[TRACE_NAME];

	dtx_trace_name(whole, "u", (uint32_t)id);
	dtx_trace_add(t, trace_union(t, st), in, whole);
	dtx_trace_numbers(t, cols, t->table[id].ids);
	dtx_trace_add(t, json_pack("{ss so}", "op", "select", "cols", cols), whole, out);
}

/* Adds look-ups that bring the row numbers of the other table the same way as its value. `in`
 * becomes the table that has them. */
static void trace_lookup(struct trace *t, const struct dtx_plan_step *st, int32_t id,
                         char in[TRACE_NAME])
{
	uint64_t ids = t->table[st->table[1]].ids;
	const json_t *key = json_object_get(st->canonical, "key");
	char with[TRACE_NAME], number[TRACE_NAME], out[TRACE_NAME];

	dtx_trace_name(with, "t", (uint32_t)st->table[1]);
	for (uint32_t b = 0; b < TRACE_BITS; b++) {
		if (!(ids >> b & 1))
			continue;
		dtx_trace_name(number, "r", b);
		dtx_trace_name(out, "l", (uint32_t)id * TRACE_BITS + b);
		dtx_trace_add(t,
		              json_pack("{ss ss sO ss ss}", "op", "lookup_value", "with", with,
		                        "key", key, "value", number, "as", number),
		              in, out);
		snprintf(in, TRACE_NAME, "%s", out);
	}
}

static enum dtx_code trace_bit(struct trace *t, int32_t id, uint32_t *bit, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (t->nbits >= TRACE_BITS)
		DTX_FAIL(err, DTX_E_NO_TRANSLATION, "more than %d tables to follow", TRACE_BITS);
	*bit = t->nbits++;
	t->bit_step[*bit] = (uint32_t)(id - (int32_t)t->plan->ninputs);
out:
	return rc;
}

/* Makes table k of a step without row numbers; returns its name. */
static const char *trace_bare(struct trace *t, const struct dtx_plan_step *st, int32_t id,
                              uint32_t k, char bare[TRACE_NAME])
{
	json_t *numbers = json_array();
	char in[TRACE_NAME];

	dtx_trace_name(in, "t", (uint32_t)st->table[k]);
	snprintf(bare, TRACE_NAME, "dtx_d%d_%u", id, k);
	dtx_trace_numbers(t, numbers, t->table[st->table[k]].ids);
	dtx_trace_add(t, json_pack("{ss so}", "op", "drop", "cols", numbers), in, bare);
	return bare;
}

/* Makes the step read its other tables without row numbers. */
static void trace_bare_with(struct trace *t, const struct dtx_plan_step *st, int32_t id,
                            json_t *step)
{
	bool several = json_is_array(json_object_get(step, "with"));
	json_t *list = json_array();
	char bare[TRACE_NAME];

	for (uint32_t k = 1; k < st->ntables; k++)
		dtx_trace_append(t, list, json_string(trace_bare(t, st, id, k, bare)));
	if (st->ntables > 1)
		trace_set(t, step, "with",
		          several ? json_incref(list) : json_incref(json_array_get(list, 0)));
	json_decref(list);
}

/* A barrier reads its inputs without row numbers, and its result gets new ones. */
static enum dtx_code trace_barrier(struct trace *t, const struct dtx_plan_step *st, int32_t id,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char bare[TRACE_NAME], made[TRACE_NAME], out[TRACE_NAME];
	json_t *step = dtx_trace_step(t, st);
	uint32_t bit = 0;

	DTX_TRY(trace_bit(t, id, &bit, err));
	dtx_trace_name(made, "b", (uint32_t)id);
	dtx_trace_name(out, "t", (uint32_t)id);
	trace_bare_with(t, st, id, step);
	dtx_trace_add(t, json_incref(step), trace_bare(t, st, id, 0, bare), made);
	t->table[id].ids = (uint64_t)1 << bit;
	trace_number(t, bit, made, out);
out:
	json_decref(step);
	return rc;
}

static enum dtx_code trace_not(const struct dtx_plan *plan, uint32_t i, struct dtx_err *err)
{
	const struct dtx_plan_step *st = &plan->step[i];

	dtx_err_set(err, DTX_E_NO_TRANSLATION, __FILE__, __LINE__,
	            "the rows of step %u '%s' cannot be followed", dtx_trace_number_of(plan, i),
	            st->name);
	dtx_err_at(err, st->at);
	return DTX_E_NO_TRANSLATION;
}

/* Whether the step renames columns by their position. */
static bool trace_heads(const struct dtx_plan_step *st)
{
	return dtx_trace_facts(st).values == DTX_VALUES_RENAMED &&
	       !json_object_get(st->canonical, "map") && !json_object_get(st->canonical, "regex");
}

/* The new names of all original columns. The step may rename only the first ones; then the others
 * must be known. NULL if they are not. */
static json_t *trace_heading(struct trace *t, const struct dtx_plan_step *st)
{
	const struct dtx_schema *s = t->table[st->table[0]].schema;
	json_t *names = json_deep_copy(json_object_get(st->canonical, "names"));
	bool first = dtx_json_bool(st->canonical, "allow_short", false);

	if (first && (!s || s->open)) {
		json_decref(names);
		return NULL;
	}
	for (size_t i = json_array_size(names); first && i < s->nfields; i++)
		dtx_trace_append(t, names, json_string(s->field[i].name));
	return names;
}

/* Moves the row numbers to the end, so that they do not change the position of other columns, and
 * keeps their names. */
static enum dtx_code trace_headed(struct trace *t, uint32_t i, const char *in, const char *out,
                                  struct dtx_err *err)
{
	const struct dtx_plan_step *st = &t->plan->step[i];
	int32_t id = (int32_t)(t->plan->ninputs + i);
	json_t *step = dtx_trace_step(t, st), *numbers = json_array(), *names;
	char last[TRACE_NAME];

	dtx_trace_numbers(t, numbers, t->table[id].ids);
	dtx_trace_add(t, json_pack("{ss so ss}", "op", "reorder", "cols", numbers, "to", "last"),
	              in, dtx_trace_name(last, "last", i));
	if (json_object_get(step, "names")) {
		names = trace_heading(t, st);
		if (!names) {
			json_decref(step);
			return trace_not(t->plan, i, err);
		}
		dtx_trace_numbers(t, names, t->table[id].ids);
		trace_set(t, step, "names", names);
	}
	dtx_trace_add(t, step, last, out);
	return DTX_OK;
}

/* A copy has a table with old and new numbers, to go back from one to the other, and one with only
 * the new numbers. */
static enum dtx_code trace_copy(struct trace *t, const struct dtx_plan_step *st, int32_t id,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char in[TRACE_NAME], both[TRACE_NAME], out[TRACE_NAME];
	json_t *numbers = json_array();
	uint32_t bit = 0;

	DTX_TRY(trace_bit(t, id, &bit, err));
	dtx_trace_name(in, "t", (uint32_t)st->table[0]);
	dtx_trace_name(both, "b", (uint32_t)id);
	dtx_trace_name(out, "t", (uint32_t)id);
	trace_number(t, bit, in, both);
	dtx_trace_numbers(t, numbers, t->table[st->table[0]].ids);
	dtx_trace_add(t, json_pack("{ss sO}", "op", "drop", "cols", numbers), both, out);
	t->table[id].ids = (uint64_t)1 << bit;
out:
	json_decref(numbers);
	return rc;
}

/* Rows keep their numbers and get one more. trace_back.c finds by it which rows the step looked
 * at. */
static enum dtx_code trace_window(struct trace *t, const struct dtx_plan_step *st, int32_t id,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char in[TRACE_NAME], made[TRACE_NAME], out[TRACE_NAME];
	uint64_t ids = t->table[st->table[0]].ids;
	uint32_t bit = 0;

	DTX_TRY(trace_bit(t, id, &bit, err));
	dtx_trace_name(in, "t", (uint32_t)st->table[0]);
	dtx_trace_name(made, "b", (uint32_t)id);
	dtx_trace_name(out, "t", (uint32_t)id);
	dtx_trace_add(t, trace_beside(t, st, ids), in, made);
	t->table[id].ids = ids | (uint64_t)1 << bit;
	trace_number(t, bit, made, out);
out:
	return rc;
}

void dtx_trace_ready(struct trace *t, int32_t id)
{
	struct trace_table *x = &t->table[id];
	char out[TRACE_NAME];

	if (x->waiting < 0)
		return;
	trace_number(t, (uint32_t)x->waiting, x->raw, dtx_trace_name(out, "t", (uint32_t)id));
	x->ids = (uint64_t)1 << x->waiting;
	t->numbered[x->waiting] = id;
	x->waiting = -1;
}

/* Whether the result has the row numbers of the second table too. */
static bool trace_brings(const struct dtx_plan_step *st)
{
	enum dtx_op_rows rows = dtx_trace_facts(st).rows;

	return rows == DTX_ROWS_JOINED || rows == DTX_ROWS_LOOKUP || rows == DTX_ROWS_UNION;
}

/* Sets *ids to the row numbers after a step that passes rows on. False if two tables have the same
 * number, so that a result row would need two values of it. */
static bool trace_merge(struct trace *t, const struct dtx_plan_step *st, enum trace_how how,
                        uint64_t *ids)
{
	*ids = t->table[st->table[0]].ids;
	for (uint32_t k = 1; k < st->ntables && trace_brings(st); k++) {
		uint64_t other = st->table[k] >= 0 ? t->table[st->table[k]].ids : 0;

		/* a result row would need two numbers of the same input */
		if (how != TRACE_UNION && *ids & other)
			return false;
		*ids |= other;
	}
	return true;
}

bool dtx_trace_unions(const struct trace *t)
{
	for (uint32_t i = 0; i < t->plan->nsteps; i++) {
		if (dtx_trace_facts(&t->plan->step[i]).rows == DTX_ROWS_UNION)
			return true;
	}
	return false;
}

static json_t *trace_passed(struct trace *t, const struct dtx_plan_step *st, enum trace_how how,
                            int32_t id)
{
	if (dtx_trace_facts(st)
	            .passes) /* the original run has made these checks, without row numbers */
		return json_pack("{ss ss}", "op", "filter", "where", "true");
	switch (how) {
	case TRACE_LIST: return trace_list(t, st, id);
	case TRACE_UNION: return trace_union(t, st);
	case TRACE_LOOKUP: return dtx_trace_step(t, st);
	default: return trace_beside(t, st, t->table[id].ids);
	}
}

static enum dtx_code trace_forward_step(struct trace *t, uint32_t i, struct dtx_err *err)
{
	const struct dtx_plan_step *st = &t->plan->step[i];
	int32_t id = (int32_t)(t->plan->ninputs + i);
	enum trace_how how = dtx_trace_how(t, st);
	enum dtx_code rc = DTX_OK;
	char in[TRACE_NAME], out[TRACE_NAME];

	if (how == TRACE_EARLY) {
		t->table[id].waiting = t->table[st->table[0]].waiting;
		t->table[id].from = t->table[id].waiting + 1;
		dtx_trace_add(t, dtx_trace_step(t, st), t->table[st->table[0]].raw,
		              dtx_trace_name(t->table[id].raw, "q", (uint32_t)id));
		goto out;
	}
	for (uint32_t k = 0; k < st->ntables; k++) {
		if (st->table[k] >= 0)
			dtx_trace_ready(t, st->table[k]);
	}
	if (dtx_trace_is_barrier(how)) {
		DTX_TRY(trace_barrier(t, st, id, err));
		goto out;
	}
	if (how == TRACE_COPY) {
		DTX_TRY(trace_copy(t, st, id, err));
		goto out;
	}
	if (!trace_merge(t, st, how, &t->table[id].ids))
		return trace_not(t->plan, i, err);
	dtx_trace_name(in, "t", (uint32_t)st->table[0]);
	if (how == TRACE_LOOKUP)
		trace_lookup(t, st, id, in);
	dtx_trace_name(out, "t", (uint32_t)id);
	if (how == TRACE_WINDOW || how == TRACE_SEMI || (int32_t)i == t->maker)
		DTX_TRY(trace_window(t, st, id, err));
	else if (how == TRACE_UNION &&
	         !strcmp(dtx_json_text(st->canonical, "columns", ""), "intersect"))
		trace_intersect(t, st, id, in, out);
	else if (trace_heads(st))
		DTX_TRY(trace_headed(t, i, in, out, err));
	else
		dtx_trace_add(t, trace_passed(t, st, how, id), in, out);
out:
	return rc;
}

/* Fails if a name in the plan starts as our own names do, since the two could be confused. */
static enum dtx_code trace_taken(const struct trace *t, struct dtx_err *err)
{
	static const char own[] = "dtx_";
	const char *taken = NULL;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < t->plan->ninputs + t->plan->nsteps; i++) {
		const struct dtx_schema *s = i < t->plan->ninputs
		                                     ? t->bound->input[i].schema
		                                     : t->bound->step[i - t->plan->ninputs].schema;

		if (i < t->plan->ninputs && !strncmp(t->plan->input[i].name, own, strlen(own)))
			taken = t->plan->input[i].name;
		for (uint32_t c = 0; s && c < s->nfields; c++) {
			if (!strncmp(s->field[c].name, own, strlen(own)))
				taken = s->field[c].name;
		}
	}
	if (taken)
		DTX_FAIL(err, DTX_E_NO_TRANSLATION,
		         "rows cannot be followed where a name starts with '%s', as '%.80s' does",
		         own, taken);
out:
	return rc;
}

enum dtx_code dtx_trace_forward(struct trace *t, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (t->plan->ninputs > TRACE_BITS)
		DTX_FAIL(err, DTX_E_NO_TRANSLATION, "more than %d tables to follow", TRACE_BITS);
	for (uint32_t i = 0; i < t->plan->ninputs + t->plan->nsteps; i++)
		t->table[i].waiting = i < t->plan->ninputs ? (int32_t)i : -1;
	for (uint32_t i = 0; i < t->plan->ninputs; i++) {
		snprintf(t->table[i].raw, TRACE_NAME, "%s", t->plan->input[i].name);
		t->numbered[i] = -1;
	}
	t->nbits = t->plan->ninputs;
	DTX_TRY(trace_taken(t, err));
	for (uint32_t i = 0; i < t->plan->nsteps; i++)
		DTX_TRY(trace_forward_step(t, i, err));
out:
	return rc;
}

/* --- the whole --- */

static json_t *trace_inputs(struct trace *t)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < t->plan->ninputs; i++)
		dtx_trace_append(t, list, json_deep_copy(t->plan->input[i].canonical));
	return list;
}

enum dtx_code dtx_trace_init(struct trace *t, const struct dtx_plan *plan,
                             const struct dtx_exec_result *bound, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t tables = plan->ninputs + plan->nsteps + 1;

	*t = (struct trace){
		.plan = plan, .bound = bound, .maker = -1, .grouper = -1, .full = DTX_ERR_INIT
	};
	t->steps = json_array();
	t->outputs = json_array();
	t->table = dtx_mem_zalloc(tables, sizeof(*t->table));
	t->bit_step = dtx_mem_zalloc(TRACE_BITS, sizeof(*t->bit_step));
	t->need = dtx_mem_zalloc(tables, sizeof(json_t *));
	t->judged = dtx_mem_zalloc(tables, sizeof(json_t *));
	t->pinned = dtx_mem_zalloc(plan->ninputs + 1, sizeof(json_t *));
	t->numbered = dtx_mem_zalloc(plan->ninputs + 1, sizeof(*t->numbered));
	if (!t->pinned || !t->numbered || !t->steps || !t->outputs || !t->table || !t->bit_step ||
	    !t->need || !t->judged)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < DTX_MIN(plan->ninputs, bound->ninputs); i++)
		t->table[i].schema = bound->input[i].schema;
	for (uint32_t i = 0; i < DTX_MIN(plan->nsteps, bound->nsteps); i++)
		t->table[plan->ninputs + i].schema = bound->step[i].schema;
out:
	return rc;
}

enum dtx_code dtx_trace_finish(struct trace *t, json_t **plan, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (t->full.code != DTX_OK) {
		rc = t->full.code;
		dtx_err_move(err, &t->full);
		goto out;
	}
	/* The run has kept to its own limits, and the steps that are added make more columns. */
	*plan = json_pack("{si ss so sO sO sO s{sI si si}}", "dtx", 1, "fallback", "off", "inputs",
	                  trace_inputs(t), "steps", t->steps, "output", t->outputs, "options",
	                  json_object_get(t->plan->canonical, "options"), "limits", "growth",
	                  (json_int_t)t->plan->limits.growth, "cols", DTX_PLAN_COLS_MAX,
	                  "pivot_cols", DTX_PLAN_COLS_MAX);
	if (t->failed || !*plan)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

void dtx_trace_end(struct trace *t)
{
	json_decref(t->steps);
	json_decref(t->outputs);
	for (uint32_t i = 0; i < t->nwalks; i++)
		dtx_trace_reach_free(t, t->walk[i].reach);
	dtx_trace_reach_free(t, t->need);
	dtx_trace_reach_free(t, t->judged);
	for (uint32_t i = 0; t->pinned && i < t->plan->ninputs; i++)
		json_decref(t->pinned[i]);
	dtx_mem_free(t->by_cells);
	dtx_mem_free(t->pinned);
	dtx_mem_free(t->numbered);
	dtx_mem_free(t->table);
	dtx_mem_free(t->bit_step);
	dtx_err_clear(&t->full);
}

enum dtx_code dtx_trace_plan(const struct dtx_plan *plan, const struct dtx_exec_result *bound,
                             const struct dtx_trace_ask *ask, struct dtx_trace *out,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *formula;
	struct trace t;

	*out = (struct dtx_trace){ .plan = NULL };
	DTX_TRY(dtx_trace_init(&t, plan, bound, err));
	t.ask = ask;
	t.out = out;
	t.maker = dtx_trace_maker(plan, ask->output, ask->column, &formula);
	dtx_trace_need(&t, ask->output, ask->column);
	dtx_trace_judge(&t);
	dtx_trace_choose_cells(&t);
	DTX_TRY(dtx_trace_forward(&t, err));
	dtx_trace_borrowed(&t);
	dtx_trace_grouper(&t);
	dtx_trace_back(&t);
	if (ask->known)
		dtx_trace_pin(&t);
	dtx_trace_lean(&t);
	DTX_TRY(dtx_trace_finish(&t, &out->plan, err));
out:
	dtx_trace_end(&t);
	return rc;
}

void dtx_trace_clear(struct dtx_trace *t)
{
	for (uint32_t i = 0; i < t->noutputs; i++)
		json_decref(t->output[i].direct);
	t->noutputs = 0;
	json_decref(t->plan);
	t->plan = NULL;
}
