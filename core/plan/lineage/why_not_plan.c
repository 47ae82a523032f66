/* Follows given rows of an input through the plan, see why_not_plan.h.
 *
 * The followed rows of table t<ID> are in table h<ID>. While a step passes rows on, they are found
 * by the row number of the input. A step that makes new rows (a group_by, for example) gives them
 * new numbers; its results that a followed row went into are then followed by the new number. */
#include "core/plan/lineage/why_not_plan.h"

#include <stdio.h>
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/expr/parse/formula_parts.h"
#include "core/plan/lineage/trace_parts.h"

/* --- stages --- */

static void follow_stage(struct trace *t, const char *table, const struct dtx_schema *s,
                         const json_t *columns, const char *number, uint32_t n)
{
	char name[TRACE_NAME];
	json_t *cols = columns ? json_deep_copy(columns) : json_array();

	if (!columns && s && s->nfields)
		dtx_trace_append(t, cols, json_string(s->field[0].name));
	if (number)
		dtx_trace_append(t, cols, json_string(number));
	dtx_trace_name(name, "s", n);
	if (json_array_size(cols) > (number != NULL))
		dtx_trace_add(t, json_pack("{ss sO}", "op", "select", "cols", cols), table, name);
	else
		dtx_trace_add(t, json_pack("{ss ss}", "op", "filter", "where", "true"), table,
		              name);
	dtx_trace_append(t, t->outputs, json_pack("{ss}", "table", name));
	json_decref(cols);
}

/* Adds an output that is the step with one kind of row to drop, or, if `which` is NULL, with only
 * its condition. */
static void follow_kind(struct trace *t, uint32_t i, const char *list, json_t *which,
                        struct dtx_why_not_plan_stages *out)
{
	const struct dtx_plan_step *st = &t->plan->step[i];
	uint32_t n = out->n + out->nkinds;
	json_t *step = dtx_trace_step(t, st);
	char name[TRACE_NAME];

	if (n == DTX_PLAN_OUTPUTS) {
		json_decref(step);
		return;
	}
	t->failed |=
		!step || !dtx_json_set(step, list, which ? json_pack("[O]", which) : json_array());
	if (which)
		json_object_del(step, "where");
	dtx_trace_add(t, json_deep_copy(step), t->table[st->table[0]].raw,
	              dtx_trace_name(name, "only", n));
	out->kind_step[out->nkinds] = i;
	out->kind_only[out->nkinds++] = step;
	follow_stage(t, name, NULL, NULL, NULL, n);
}

/* Adds one output per kind of row that the step drops. A dropped row is missing only in the outputs
 * of the kinds that it was taken for. */
static void follow_kinds(struct trace *t, uint32_t i, struct dtx_why_not_plan_stages *out)
{
	const struct dtx_plan_step *st = &t->plan->step[i];
	const char *list = dtx_trace_facts(st).kinds;
	const json_t *kinds = list ? json_object_get(st->canonical, list) : NULL;

	for (size_t k = 0; k < json_array_size(kinds); k++)
		follow_kind(t, i, list, json_array_get(kinds, k), out);
	if (list && json_object_get(st->canonical, "where"))
		follow_kind(t, i, list, NULL, out);
}

void dtx_why_not_plan_stages_clear(struct dtx_why_not_plan_stages *s)
{
	for (uint32_t i = 0; i < s->nkinds; i++)
		json_decref(s->kind_only[i]);
	s->nkinds = 0;
	json_decref(s->plan);
	s->plan = NULL;
}

enum dtx_code dtx_why_not_plan_stages(const struct dtx_plan *plan,
                                      const struct dtx_exec_result *bound, uint32_t input,
                                      uint32_t output, const json_t *columns,
                                      struct dtx_why_not_plan_stages *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char number[TRACE_NAME], table[TRACE_NAME];
	struct trace t;

	*out = (struct dtx_why_not_plan_stages){ .plan = NULL };
	DTX_TRY(dtx_trace_init(&t, plan, bound, err));
	DTX_TRY(dtx_trace_forward(&t, err));
	/* If no step numbers the rows of the input, its output does. The second run does the same.
	 */
	dtx_trace_ready(&t, plan->output[output].table);
	if (t.numbered[input] < 0)
		dtx_trace_ready(&t,
		                (int32_t)input); /* the input leads to another output, or to none */
	dtx_trace_name(number, "r", input);
	follow_stage(&t, plan->input[input].name, bound->input[input].schema, columns, NULL,
	             out->n++);
	for (uint32_t i = 0; i < plan->nsteps; i++) {
		int32_t id = (int32_t)(plan->ninputs + i);

		/* A table that was made before rows are numbered exists under its raw name. */
		if (t.table[id].from != (int32_t)input + 1)
			continue;
		if (out->n == DTX_PLAN_OUTPUTS - 1) {
			rc = dtx_err_set(err, DTX_E_NO_TRANSLATION, __FILE__, __LINE__,
			                 "rows of input '%s' cannot be followed: more than %d "
			                 "steps judge its rows before they are numbered",
			                 plan->input[input].name, DTX_PLAN_OUTPUTS - 2);
			dtx_err_hint(err, "run the first steps alone, and ask why-not of that run");
			goto out;
		}
		out->step[out->n] = i;
		follow_stage(&t, t.table[id].raw, t.table[id].schema, NULL, NULL, out->n++);
	}
	dtx_trace_name(table, "t", (uint32_t)t.numbered[input]);
	follow_stage(&t, table, t.table[t.numbered[input]].schema, NULL, number, out->n++);
	for (uint32_t i = 1; i + 1 < out->n; i++)
		follow_kinds(&t, out->step[i], out);
	DTX_TRY(dtx_trace_finish(&t, &out->plan, err));
out:
	dtx_trace_end(&t);
	return rc;
}

/* --- following --- */

struct follow {
	struct trace t;
	struct dtx_why_not_plan *out;
	uint32_t input;
	uint64_t *bits; /* per table: bits of the row numbers by which its followed rows are found;
	                 * 0: it has none */
	bool *leads;    /* per table: whether the output is computed from it */
	uint64_t followed; /* bits of all row numbers that are followed */
	uint64_t own;  /* those of them that number the rows of the input itself or of copies of it,
	                * not groups */
	json_t *parts; /* names of the tables that the answer is the union of */
};

/* The highest bit; `bits` is not 0. */
static uint32_t follow_last(uint64_t bits)
{
	return TRACE_BITS - 1 - (uint32_t)__builtin_clzll(bits);
}

/* By which row numbers to follow: numbers of the input itself if there are any, as they identify
 * the row. The number of a group only says what the row went into, and the latest group is
 * enough. */
static uint64_t follow_bits(const struct follow *f, uint64_t ids)
{
	uint64_t both = ids & f->followed;

	if (!both || both & f->own)
		return both & f->own;
	return (uint64_t)1 << follow_last(both);
}

static const char *follow_name(char buf[TRACE_NAME], int32_t table)
{
	return dtx_trace_name(buf, "f", (uint32_t)table);
}

/* Makes `out` from the rows of `in` that are followed by row number `bit`. */
static void follow_by(struct follow *f, const char *in, uint32_t bit, const char *out)
{
	char column[TRACE_NAME], base[TRACE_NAME];

	dtx_trace_semi(&f->t, in, dtx_trace_name(base, "h", bit), dtx_trace_name(column, "r", bit),
	               out);
}

/* Makes `out` from the rows of `in` that are followed by any of the row numbers `bits`. A row that
 * is followed by two of them occurs once. `id` is the table that `in` is or was made from. */
static void follow_any(struct follow *f, const char *in, uint64_t bits, int32_t id, const char *out)
{
	struct trace *t = &f->t;
	json_t *names = json_array();
	char all[TRACE_NAME], by[TRACE_NAME], some[TRACE_NAME];
	const char *first;

	if (!(bits & (bits - 1))) {
		follow_by(f, in, follow_last(bits), out);
		json_decref(names);
		return;
	}
	dtx_trace_add(t, json_pack("{ss ss}", "op", "add_id", "as", "dtx_q"), in,
	              dtx_trace_name(all, "all", (uint32_t)id));
	for (uint32_t b = 0; b < TRACE_BITS; b++) {
		if (!(bits >> b & 1))
			continue;
		follow_by(f, all, b, dtx_trace_name(by, "by", (uint32_t)id * TRACE_BITS + b));
		dtx_trace_append(t, names, json_string(by));
	}
	first = json_string_value(json_array_get(names, 0));
	snprintf(by, sizeof(by), "%s", first ? first : "");
	json_array_remove(names, 0);
	dtx_trace_add(t, json_pack("{ss sO}", "op", "union", "with", names), by,
	              dtx_trace_name(some, "some", (uint32_t)id));
	dtx_trace_semi(t, all, some, "dtx_q", out);
	json_decref(names);
}

/* Makes the table of followed rows of table `id`, whose step passes rows on. */
static void follow_passed(struct follow *f, int32_t id)
{
	char in[TRACE_NAME], out[TRACE_NAME];

	if (f->bits[id])
		follow_any(f, dtx_trace_name(in, "t", (uint32_t)id), f->bits[id], id,
		           follow_name(out, id));
}

/* A copy has the rows of its table, so the followed ones are the same, but by a new number. */
static void follow_copy(struct follow *f, const struct dtx_plan_step *st, int32_t id)
{
	char both[TRACE_NAME], base[TRACE_NAME];
	uint32_t b = follow_last(f->t.table[id].ids); /* a copy has just this one number */
	uint64_t bits = f->bits[st->table[0]];

	dtx_trace_name(both, "b", (uint32_t)id);
	follow_any(f, both, bits, id, dtx_trace_name(base, "h", b));
	f->followed |= (uint64_t)1 << b;
	f->own |= bits & f->own ? (uint64_t)1 << b : 0;
	f->bits[id] = (uint64_t)1 << b;
	follow_passed(f, id);
}

/* Adds a column with the constant 1 as key. A group of all rows has no keys to join by; with this
 * column on both sides it is followed if any row is. */
static void follow_one(struct trace *t, const char *in, const char *out, json_t *on)
{
	dtx_trace_add(
		t,
		json_pack("{ss s[{ss ss}]}", "op", "derive", "set", "as", "dtx_one", "expr", "1"),
		in, out);
	if (!json_array_size(on))
		dtx_trace_append(t, on,
		                 json_pack("{ss ss}", "left", "dtx_one", "right", "dtx_one"));
}

/* Each result row of such a step depends on all rows, so all of them are followed if any input row
 * is. */
static void follow_whole(struct follow *f, const struct dtx_plan_step *st, int32_t id)
{
	char made[TRACE_NAME], in[TRACE_NAME], base[TRACE_NAME];
	uint32_t b = follow_last(f->t.table[id].ids), k; /* it has just this one number */

	for (k = 0; k < st->ntables && !f->bits[st->table[k]]; k++)
		;
	if (k == st->ntables)
		return;
	dtx_trace_meets(&f->t, dtx_trace_name(made, "t", (uint32_t)id),
	                follow_name(in, st->table[k]), "semi", dtx_trace_name(base, "h", b));
	f->followed |= (uint64_t)1 << b;
	f->bits[id] = (uint64_t)1 << b;
	follow_passed(f, id);
}

/* From here on, the results that followed rows went into are followed instead of the rows. */
static void follow_barrier(struct follow *f, const struct dtx_plan_step *st, int32_t id)
{
	struct trace *t = &f->t;
	char in[TRACE_NAME], keyed[TRACE_NAME], made[TRACE_NAME], base[TRACE_NAME];
	json_t *on, *one, *flipped = json_array();
	uint32_t b = follow_last(t->table[id].ids); /* it has just this one number */
	size_t i;

	if (dtx_trace_how(&f->t, st) == TRACE_WHOLE) {
		follow_whole(f, st, id);
		return;
	}
	if (!f->bits[st->table[0]])
		return;
	follow_name(in, st->table[0]);
	dtx_trace_name(keyed, "k", (uint32_t)id);
	dtx_trace_name(made, "t", (uint32_t)id);
	dtx_trace_name(base, "h", b);
	if (dtx_trace_how(&f->t, st) == TRACE_WIDER) {
		on = dtx_trace_wider_keys(t, st);
		snprintf(keyed, sizeof(keyed), "%s", in);
	} else {
		on = dtx_trace_group_keys(t, json_object_get(st->canonical, "by"), in, keyed);
	}
	json_array_foreach(on, i, one)
		dtx_trace_append(t, flipped,
	                         json_pack("{sO sO}", "left", json_object_get(one, "right"),
	                                   "right", json_object_get(one, "left")));
	if (!i) {
		char from[TRACE_NAME];

		snprintf(from, sizeof(from), "%s", keyed);
		follow_one(t, from, dtx_trace_name(keyed, "o", (uint32_t)id), flipped);
		snprintf(from, sizeof(from), "%s", made);
		follow_one(t, from, dtx_trace_name(made, "a", (uint32_t)id), flipped);
	}
	dtx_trace_add(t,
	              json_pack("{ss ss ss sO sb}", "op", "join", "how", "semi", "with", keyed,
	                        "on", flipped, "nulls_equal", true),
	              made, base);
	f->followed |= (uint64_t)1 << b;
	f->bits[id] = (uint64_t)1 << b;
	follow_passed(f, id);
	json_decref(on);
	json_decref(flipped);
}

/* --- what to say of a step --- */

static void follow_column(void *arg, const char *name)
{
	json_t *list = arg, *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (!strcmp(json_string_value(one), name))
			return;
	}
	if (json_array_size(list) < DTX_WHY_NOT_PLAN_TERMS)
		json_array_append_new(list, json_string(name));
}

/* Adds the parts of a condition that are joined by `and`, and the columns in them. `conditions`
 * NULL: only the columns are wanted. */
static void follow_condition(struct trace *t, const char *formula, json_t *conditions,
                             json_t *columns)
{
	const struct dtx_expr *part[DTX_WHY_NOT_PLAN_TERMS];
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_expr *e = NULL;
	size_t n = 0, i;

	if (dtx_expr_parse(&arena, dtx_str_of(formula), &e, &err) == DTX_OK)
		n = conditions ? dtx_expr_conjuncts(e, part, DTX_WHY_NOT_PLAN_TERMS) : 0;
	for (i = 0; i < n; i++) {
		dtx_buf_reset(&text);
		dtx_expr_print(part[i], &text);
		t->failed |= !dtx_buf_ok(&text);
		dtx_trace_append(t, conditions, json_string(dtx_buf_text(&text)));
	}
	t->failed |= err.code == DTX_E_NO_MEMORY;
	if (e)
		dtx_expr_columns(e, follow_column, columns);
	dtx_buf_clear(&text);
	dtx_err_clear(&err);
	dtx_arena_clear(&arena);
}

/* Collects what decides about the rows of table k of a step. */
struct follow_decider {
	struct trace *t;
	uint32_t k;
	const struct dtx_schema *schema; /* schema of table k; NULL: not known */
	json_t *conditions, *columns;
	bool own; /* whether values of the row itself decide, not a match with another table */
};

static void follow_see(void *arg, uint32_t k, const char *text, bool formula)
{
	struct follow_decider *d = arg;

	if (k != d->k || !strcmp(text, "*"))
		return;
	if (formula)
		follow_condition(d->t, text, d->own ? d->conditions : NULL, d->columns);
	else if (!d->schema || d->schema->open || dtx_schema_find(d->schema, text) >= 0)
		follow_column(d->columns, text);
}

static void follow_terms(struct follow *f, const struct dtx_plan_step *st, uint32_t k,
                         json_t *conditions, json_t *columns)
{
	struct follow_decider d = { .t = &f->t,
		                    .k = k,
		                    .schema = f->t.table[st->table[k]].schema,
		                    .conditions = conditions,
		                    .columns = columns,
		                    .own = st->ntables == 1 };

	dtx_trace_deciders(st, &(struct trace_decider){ &d, follow_see });
}

static void follow_derive(struct follow *f, json_t *set, const char *kind, uint32_t n,
                          const char *formula, bool name)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	char as[TRACE_NAME];

	dtx_buf_add(&text, "coalesce(text(");
	if (name)
		dtx_expr_print_name(formula, &text);
	else
		dtx_buf_add(&text, formula);
	dtx_buf_add(&text, "), 'null')");
	f->t.failed |= !dtx_buf_ok(&text);
	dtx_trace_append(&f->t, set,
	                 json_pack("{ss ss}", "as", dtx_trace_name(as, kind, n), "expr",
	                           dtx_buf_text(&text)));
	dtx_buf_clear(&text);
}

/* Adds one table to the answer: the rows of `in`, with the step and side, and the conditions and
 * columns as texts. */
static void follow_part(struct follow *f, uint32_t step, int side, const char *in,
                        const json_t *conditions, const json_t *columns)
{
	struct trace *t = &f->t;
	uint32_t n = (uint32_t)json_array_size(f->parts), i;
	char mid[TRACE_NAME], out[TRACE_NAME], name[TRACE_NAME];
	json_t *cols = json_array(), *set = json_array();

	dtx_trace_append(t, set,
	                 json_pack("{ss so}", "as", "dtx_step", "expr", json_sprintf("%u", step)));
	dtx_trace_append(t, set,
	                 json_pack("{ss so}", "as", "dtx_side", "expr", json_sprintf("%d", side)));
	for (i = 0; i < json_array_size(conditions); i++)
		follow_derive(f, set, "c", i, json_string_value(json_array_get(conditions, i)),
		              false);
	for (i = 0; i < json_array_size(columns); i++)
		follow_derive(f, set, "v", i, json_string_value(json_array_get(columns, i)), true);
	dtx_trace_append(t, cols, json_string("dtx_step"));
	dtx_trace_append(t, cols, json_string("dtx_side"));
	for (i = 0; i < json_array_size(conditions); i++)
		dtx_trace_append(t, cols, json_string(dtx_trace_name(name, "c", i)));
	for (i = 0; i < json_array_size(columns); i++)
		dtx_trace_append(t, cols, json_string(dtx_trace_name(name, "v", i)));
	dtx_trace_add(t, json_pack("{ss sO}", "op", "derive", "set", set), in,
	              dtx_trace_name(mid, "m", n));
	dtx_trace_add(t, json_pack("{ss sO}", "op", "select", "cols", cols), mid,
	              dtx_trace_name(out, "n", n));
	dtx_trace_append(t, f->parts, json_string(out));
	json_decref(cols);
	json_decref(set);
}

bool dtx_why_not_plan_decides(const struct dtx_plan_step *st)
{
	enum dtx_op_rows rows = dtx_trace_facts(st).rows;

	return rows == DTX_ROWS_SEMI || rows == DTX_ROWS_ANTI;
}

static void follow_meets(struct follow *f, uint32_t i, const struct dtx_plan_step *st)
{
	struct trace *t = &f->t;
	char in[TRACE_NAME], with[TRACE_NAME], met[TRACE_NAME];
	bool joined =
		json_object_get(st->canonical, "on") || json_object_get(st->canonical, "using");
	json_t *step;

	follow_name(with, st->table[1]);
	step = joined ? json_deep_copy(st->canonical) : dtx_trace_matched(t, st, "semi", with);
	t->failed |= !step || !dtx_json_set(step, "how", json_string("semi")) ||
	             !dtx_json_set(step, "with", json_string(with));
	dtx_trace_add(t, step, dtx_trace_name(in, "t", (uint32_t)st->table[0]),
	              dtx_trace_name(met, "met", i));
	follow_part(f, i, DTX_WHY_NOT_PLAN_MEETS, met, NULL, NULL);
}

static void follow_say(struct follow *f, uint32_t i, const struct dtx_plan_step *st)
{
	int32_t id = (int32_t)(f->t.plan->ninputs + i);
	json_t *sides = json_array();
	char key[16], name[32], rows[TRACE_NAME];

	for (uint32_t k = 0; k < st->ntables; k++) {
		json_t *conditions = json_array(), *columns = json_array();

		if (st->table[k] >= 0 && f->bits[st->table[k]]) {
			follow_terms(f, st, k, conditions, columns);
			follow_part(f, i, (int)k, follow_name(rows, st->table[k]), conditions,
			            columns);
		}
		dtx_trace_append(
			&f->t, sides,
			json_pack("{so so ss}", "conditions", conditions, "columns", columns,
		                  "with",
		                  dtx_trace_name_of(f->t.plan, st->table[k ? 0 : st->ntables > 1],
		                                    name)));
	}
	snprintf(key, sizeof(key), "%u", i);
	f->t.failed |= json_object_set_new(f->out->say, key, sides) < 0;
	if (f->bits[id])
		follow_part(f, i, DTX_WHY_NOT_PLAN_AFTER, follow_name(rows, id), NULL, NULL);
	if (dtx_why_not_plan_decides(st) && st->table[1] >= 0 && f->bits[st->table[1]])
		follow_meets(f, i, st);
}

static void follow_step(struct follow *f, uint32_t i)
{
	const struct dtx_plan_step *st = &f->t.plan->step[i];
	int32_t id = (int32_t)(f->t.plan->ninputs + i);
	enum trace_how how = dtx_trace_how(&f->t, st);
	bool fed = false;

	if (!f->leads[id] || f->t.table[id].from)
		return;
	for (uint32_t k = 0; k < st->ntables; k++)
		fed |= st->table[k] >= 0 && f->bits[st->table[k]];
	if (!fed)
		return;
	if (how == TRACE_COPY) {
		follow_copy(f, st, id);
		return;
	}
	if (dtx_trace_is_barrier(how)) {
		follow_barrier(f, st, id);
	} else {
		f->bits[id] = follow_bits(f, f->t.table[id].ids);
		follow_passed(f, id);
	}
	follow_say(f, i, st);
}

/* Selects the given rows by number, in the table in which the input is numbered. */
static void follow_start(struct follow *f, const int64_t *row, size_t nrows)
{
	struct dtx_buf where = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	int32_t id = f->t.numbered[f->input];
	char in[TRACE_NAME], base[TRACE_NAME];

	dtx_buf_printf(&where, "dtx_r%u in (", f->input);
	for (size_t i = 0; i < nrows; i++)
		dtx_buf_printf(&where, "%s%lld", i ? ", " : "", (long long)row[i]);
	dtx_buf_addc(&where, ')');
	f->t.failed |= !dtx_buf_ok(&where);
	dtx_trace_name(in, "t", (uint32_t)id);
	dtx_trace_add(&f->t, json_pack("{ss ss}", "op", "filter", "where", dtx_buf_text(&where)),
	              in, dtx_trace_name(base, "h", f->input));
	f->followed = f->own = f->bits[id] = (uint64_t)1 << f->input;
	follow_passed(f, id);
	dtx_buf_clear(&where);
}

/* Adds the rows of the plan's result that have one of these row numbers to the answer. */
static void follow_found(struct follow *f, uint64_t bits, int side, const char *name)
{
	struct trace *t = &f->t;
	json_t *columns = json_pack("[s]", "dtx_row");
	int32_t last = (int32_t)(t->plan->ninputs + t->plan->nsteps);

	follow_any(f, "dtx_rows", bits, last + (side == DTX_WHY_NOT_PLAN_THROUGH), name);
	follow_part(f, t->plan->nsteps, side, name, NULL, columns);
	json_decref(columns);
}

/* Adds the result rows, by number: those that are the followed row, and those of groups with it. */
static void follow_result(struct follow *f, uint32_t output)
{
	struct trace *t = &f->t;
	int32_t id = t->plan->output[output].table;
	uint64_t groups = t->table[id].ids & f->followed & ~f->own;
	char in[TRACE_NAME];

	if (!f->bits[id])
		return;
	dtx_trace_add(t, json_pack("{ss ss}", "op", "add_id", "as", "dtx_row"),
	              dtx_trace_name(in, "t", (uint32_t)id), "dtx_rows");
	follow_found(f, f->bits[id], DTX_WHY_NOT_PLAN_AFTER, "dtx_found");
	if (f->bits[id] & f->own && groups)
		follow_found(f, groups, DTX_WHY_NOT_PLAN_THROUGH, "dtx_through");
}

static void follow_join_parts(struct follow *f)
{
	const char *last = json_string_value(json_array_get(f->parts, 0));
	char out[TRACE_NAME], before[TRACE_NAME];

	for (uint32_t i = 1; i < json_array_size(f->parts); i++) {
		snprintf(before, sizeof(before), "%s", last);
		last = dtx_trace_name(out, "z", i);
		dtx_trace_add(&f->t,
		              json_pack("{ss sO sb}", "op", "union", "with",
		                        json_array_get(f->parts, i), "fill_missing", true),
		              before, out);
	}
	dtx_trace_append(&f->t, f->t.outputs, json_pack("{ss}", "table", last ? last : ""));
}

void dtx_why_not_plan_leads(const struct dtx_plan *p, uint32_t output, bool *leads)
{
	leads[p->output[output].table] = true;
	for (uint32_t i = p->nsteps; i-- > 0;) {
		for (uint32_t k = 0; leads[p->ninputs + i] && k < p->step[i].ntables; k++) {
			if (p->step[i].table[k] >= 0)
				leads[p->step[i].table[k]] = true;
		}
	}
}

enum dtx_code dtx_why_not_plan_build(const struct dtx_plan *plan,
                                     const struct dtx_exec_result *bound, uint32_t input,
                                     const int64_t *row, size_t nrows, uint32_t output,
                                     struct dtx_why_not_plan *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t tables = plan->ninputs + plan->nsteps + 1;
	struct follow f = { .out = out, .input = input };

	*out = (struct dtx_why_not_plan){ .say = json_object() };
	DTX_TRY(dtx_trace_init(&f.t, plan, bound, err));
	f.bits = dtx_mem_zalloc(tables, sizeof(*f.bits));
	f.leads = dtx_mem_zalloc(tables, sizeof(*f.leads));
	f.parts = json_array();
	if (!f.bits || !f.leads || !f.parts || !out->say)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_trace_forward(&f.t, err));
	dtx_why_not_plan_leads(plan, output, f.leads);
	dtx_trace_ready(&f.t, plan->output[output].table);
	out->reaches = f.leads[input] && f.t.numbered[input] >= 0;
	if (!out->reaches)
		goto out;
	follow_start(&f, row, nrows);
	for (uint32_t i = 0; i < plan->nsteps; i++)
		follow_step(&f, i);
	follow_result(&f, output);
	if (!json_array_size(f.parts))
		goto out;
	follow_join_parts(&f);
	DTX_TRY(dtx_trace_finish(&f.t, &out->plan, err));
out:
	dtx_trace_end(&f.t);
	dtx_mem_free(f.bits);
	dtx_mem_free(f.leads);
	json_decref(f.parts);
	return rc;
}

void dtx_why_not_plan_clear(struct dtx_why_not_plan *f)
{
	json_decref(f->plan);
	json_decref(f->say);
	f->plan = f->say = NULL;
}
