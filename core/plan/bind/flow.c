/* Schemas through the steps of a plan.
 *
 * The difficult part is the static phase over inputs that are not open: the result of a step is
 * open, and a later step may name a column of it that nothing has mentioned. dtx_flow_require then
 * looks for the table below that may have it, and stops at names that a step is known to have
 * dropped. */
#include "core/plan/bind/flow.h"
#include "core/plan/bind/across.h"
#include "core/plan/plan_internal.h"

#include "core/base/text/utf8.h"

enum dtx_code dtx_flow_init(struct dtx_flow *f, struct dtx_arena *arena,
                            const struct dtx_plan *plan, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t ntables = (size_t)plan->ninputs + plan->nsteps;

	f->arena = arena;
	f->plan = plan;
	f->table = dtx_arena_zalloc(arena, ntables + 2, sizeof(*f->table));
	f->bind = dtx_arena_zalloc(arena, plan->nsteps + 1u, sizeof(struct dtx_bind *));
	if (!f->table || !f->bind)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

void dtx_flow_clear(struct dtx_flow *f)
{
	if (!f->plan || !f->bind)
		return;
	for (uint32_t i = 0; i < f->plan->nsteps; i++)
		if (f->bind[i])
			dtx_strmap_clear(&f->bind[i]->names);
}

enum dtx_code dtx_flow_set(struct dtx_flow *f, int32_t table, const struct dtx_schema *s,
                           struct dtx_err *err)
{
	struct dtx_flow_table *t = &f->table[table];
	enum dtx_code rc = DTX_OK;

	t->schema = dtx_schema_copy(f->arena, s);
	if (!t->schema)
		DTX_FAIL_MEM(err);
	t->cap = s->nfields;
	t->ngone = 0;
out:
	return rc;
}

static enum dtx_code add_field(struct dtx_flow *f, struct dtx_flow_table *t,
                               const struct dtx_field *field, int32_t *col, struct dtx_err *err)
{
	struct dtx_schema *s = t->schema;
	struct dtx_field *fresh;
	enum dtx_code rc = DTX_OK;

	if (s->nfields == t->cap) {
		uint32_t cap = t->cap * 2 + 8;

		fresh = dtx_arena_alloc(f->arena, cap, sizeof(*fresh));
		if (!fresh)
			DTX_FAIL_MEM(err);
		if (s->nfields)
			memcpy(fresh, s->field, s->nfields * sizeof(*fresh));
		s->field = fresh;
		t->cap = cap;
		dtx_schema_index(f->arena, s, cap);
	}
	/* this function made the array, so it may write it */
	fresh = (struct dtx_field *)(uintptr_t)s->field;
	fresh[s->nfields] = *field;
	*col = (int32_t)s->nfields++;
	dtx_schema_index_last(s);
out:
	return rc;
}

static enum dtx_code add_unknown(struct dtx_flow *f, struct dtx_flow_table *t, const char *name,
                                 int32_t *col, struct dtx_err *err)
{
	struct dtx_field field = { .source = true };
	enum dtx_code rc = DTX_OK;

	field.name = dtx_arena_strdup(f->arena, name);
	if (!field.name)
		DTX_FAIL_MEM(err);
	DTX_TRY(add_field(f, t, &field, col, err));
out:
	return rc;
}

static bool is_gone(const struct dtx_flow_table *t, const char *name)
{
	for (uint32_t i = 0; i < t->ngone; i++)
		if (strcmp(t->gone[i], name) == 0)
			return true;
	return false;
}

/* Whether the step has left out this column of table k, as a join does with the right key. */
static bool is_dropped(const struct dtx_bind *b, unsigned k, const char *name)
{
	int32_t col = dtx_schema_find(b->in[k], name);

	return col >= 0 && (uint32_t)col < b->seen[k] && dtx_bind_out(b, name) < 0;
}

/* Whether the step may have made the name from another one. */
static bool may_be_new(const struct dtx_bind *b, const char *name)
{
	return b->open || b->renames ||
	       (b->suffix && b->suffix[0] && dtx_str_ends(dtx_str_of(name), dtx_str_of(b->suffix)));
}

/* Looks for the name below a step: in the first of its tables that has it, else in the first that
 * may. */
static enum dtx_code require_below(struct dtx_flow *f, uint32_t step, struct dtx_flow_table *t,
                                   const char *name, int32_t *col, struct dtx_err *err)
{
	const struct dtx_bind *b = f->bind[step];
	enum dtx_code rc = DTX_OK;

	*col = -1;
	if (!b || may_be_new(b, name))
		return add_unknown(f, t, name, col, err);
	for (unsigned k = 0; k < 2 * b->ntables && *col < 0; k++) {
		unsigned i = k % b->ntables;
		const struct dtx_schema *s = f->table[b->table[i]].schema;
		int32_t below = -1;

		if (is_dropped(b, i, name) ||
		    (k < b->ntables && (!s || dtx_schema_find(s, name) < 0)))
			continue;
		DTX_TRY(dtx_flow_require(f, b->table[i], name, &below, err));
		if (below >= 0)
			DTX_TRY(add_field(f, t, &f->table[b->table[i]].schema->field[below], col,
			                  err));
	}
out:
	return rc;
}

static int32_t no_table(const struct dtx_flow *f)
{
	return (int32_t)(f->plan->ninputs + f->plan->nsteps);
}

enum dtx_code dtx_flow_require(struct dtx_flow *f, int32_t table, const char *name, int32_t *col,
                               struct dtx_err *err)
{
	struct dtx_flow_table *t = &f->table[table];

	*col = t->schema ? dtx_schema_find(t->schema, name) : -1;
	if (*col >= 0 || !t->schema || !t->schema->open || is_gone(t, name))
		return DTX_OK;
	if ((uint32_t)table < f->plan->ninputs || table == no_table(f))
		return add_unknown(f, t, name, col, err);
	return require_below(f, (uint32_t)table - f->plan->ninputs, t, name, col, err);
}

/* --- one step --- */

/* Whether another table of the step may have a column of this name that was not mentioned yet. */
static bool may_come(const struct dtx_flow *f, const struct dtx_bind *b, unsigned but,
                     const char *name)
{
	for (unsigned k = 0; k < b->ntables; k++)
		if (k != but && b->in[k]->open && dtx_schema_find(b->in[k], name) < 0 &&
		    !is_gone(&f->table[b->table[k]], name))
			return true;
	return false;
}

/* Notes the names of the inputs that the result lacks, so that later steps do not look for them
 * further up. Columns that the step came to need after it had moved its columns may still pass
 * through. */
static enum dtx_code note_gone(struct dtx_flow *f, const struct dtx_bind *b,
                               struct dtx_flow_table *t, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t max = 0;

	for (unsigned i = 0; i < b->ntables; i++)
		max += b->in[i]->nfields;
	t->gone = dtx_arena_alloc(f->arena, max + 1, sizeof(*t->gone));
	if (!t->gone)
		DTX_FAIL_MEM(err);
	for (unsigned i = 0; i < b->ntables; i++)
		for (uint32_t c = 0; c < b->seen[i]; c++)
			if (dtx_bind_out(b, b->in[i]->field[c].name) < 0 &&
			    !may_come(f, b, i, b->in[i]->field[c].name))
				t->gone[t->ngone++] = b->in[i]->field[c].name;
out:
	return rc;
}

static enum dtx_code set_result(struct dtx_flow *f, uint32_t i, const struct dtx_bind *b,
                                struct dtx_err *err)
{
	struct dtx_flow_table *t = &f->table[f->plan->ninputs + i];
	struct dtx_field *field = dtx_arena_alloc(f->arena, b->ncols + 1u, sizeof(*field));
	struct dtx_schema s = { .nfields = b->ncols, .open = b->open, .field = field };
	int32_t col;
	enum dtx_code rc = DTX_OK;

	if (!field)
		DTX_FAIL_MEM(err);
	for (uint32_t c = 0; c < b->ncols; c++)
		field[c] = b->col[c].field;
	if (!b->typed && (!b->closed || b->inputs_may_pass))
		for (unsigned k = 0; k < b->ntables; k++)
			s.open |= b->in[k]->open;
	DTX_TRY(dtx_flow_set(f, (int32_t)(f->plan->ninputs + i), &s, err));
	if (s.open && !b->unmade)
		DTX_TRY(note_gone(f, b, t, err));
	for (unsigned k = 0; s.open && !b->open && k < b->ntables; k++)
		for (uint32_t c = b->seen[k]; c < b->in[k]->nfields; c++)
			if (dtx_schema_find(t->schema, b->in[k]->field[c].name) < 0)
				DTX_TRY(add_field(f, t, &b->in[k]->field[c], &col, err));
out:
	return rc;
}

static enum dtx_code add_missing(struct dtx_flow *f, struct dtx_flow_table *t,
                                 const struct dtx_field *field, struct dtx_err *err)
{
	int32_t col;

	if (dtx_schema_find(t->schema, field->name) >= 0)
		return DTX_OK;
	return add_field(f, t, field, &col, err);
}

/* Adds what the result of a step with findings may have in addition, so that later steps get no
 * finding that follows from this one. */
static enum dtx_code set_guesses(struct dtx_flow *f, uint32_t i, const struct dtx_bind *b,
                                 struct dtx_err *err)
{
	struct dtx_flow_table *t = &f->table[f->plan->ninputs + i];
	enum dtx_code rc = DTX_OK;

	for (uint64_t k = 0; k < b->nguesses; k++) {
		struct dtx_field field = { .name = b->guess[k].name };

		if (b->guess[k].made || b->closed)
			DTX_TRY(add_missing(f, t, &field, err));
	}
	for (unsigned k = 0; b->inputs_may_pass && k < b->ntables; k++)
		for (uint32_t c = 0; c < b->in[k]->nfields; c++)
			DTX_TRY(add_missing(f, t, &b->in[k]->field[c], err));
out:
	return rc;
}

/* Sets the result of a step that cannot be bound: what its `expect` promises, else an open
 * schema. */
static enum dtx_code set_promised(struct dtx_flow *f, uint32_t i, struct dtx_err *err)
{
	struct dtx_schema *s = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_expect_schema(f->plan->step[i].expect, f->arena, &s, err));
	DTX_TRY(dtx_flow_set(f, (int32_t)(f->plan->ninputs + i), s, err));
out:
	return rc;
}

static enum dtx_op_kind default_kind(const struct dtx_op *op)
{
	if (op->map)
		return DTX_KIND_MAP;
	return op->sink ? DTX_KIND_SINK : DTX_KIND_WHOLE;
}

static enum dtx_code open_bind(struct dtx_flow *f, uint32_t i, bool typed,
                               const struct dtx_run *run, struct dtx_errlist *errs,
                               struct dtx_bind **out, struct dtx_err *err)
{
	const struct dtx_plan_step *st = &f->plan->step[i];
	struct dtx_bind *b = dtx_arena_zalloc(f->arena, 1, sizeof(*b));
	enum dtx_code rc = DTX_OK;

	if (!b)
		DTX_FAIL_MEM(err);
	b->last = dtx_arena_zalloc(f->arena, 1, sizeof(*b->last));
	if (!b->last)
		DTX_FAIL_MEM(err);
	b->arena = f->arena;
	b->typed = typed;
	b->ntables = st->ntables;
	DTX_TRY(dtx_bind_room(b, st->ntables, err));
	for (unsigned k = 0; k < st->ntables; k++) {
		b->table[k] = st->table[k] < 0 ? no_table(f) : st->table[k];
		b->in[k] = f->table[b->table[k]].schema;
		b->table_name[k] = st->table_name[k];
	}
	b->step = (int)i;
	b->op = dtx_plan_step_name(st);
	b->at = st->at;
	b->errs = errs;
	b->nbefore = errs->n;
	b->broken = st->broken;
	b->columns_only = st->joint_finding || st->trigger != DTX_OK;
	b->run = run;
	b->overflow = f->plan->options.overflow;
	b->div_zero_error = f->plan->options.div_zero_error;
	b->flow = f;
	*out = b;
out:
	return rc;
}

static bool any_trigger(const struct dtx_errlist *errs, size_t from)
{
	for (size_t i = from; i < errs->n; i++)
		if (errs->item[i].severity == DTX_SEV_FALLBACK)
			return true;
	return false;
}

/* A step with findings is bound only in the static phase, to find further mistakes. */
static bool bindable(const struct dtx_flow *f, uint32_t i, bool typed)
{
	const struct dtx_plan_step *st = &f->plan->step[i];

	if (!st->op || !st->op->bind || !st->args || (typed && st->broken))
		return false;
	for (unsigned k = 0; k < st->ntables; k++)
		if (st->table[k] < 0 ? typed : !f->table[st->table[k]].schema)
			return false;
	return true;
}

/* Refuses control characters in names that the plan gives to columns: printed in a terminal they
 * could act on it. Names in files may have them; where these are shown they are escaped. */
static enum dtx_code refuse_steering(struct dtx_bind *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t c = 0; c < b->ncols; c++) {
		const char *name = b->col[c].field.name;
		uint32_t cp = dtx_utf8_first(name, dtx_utf8_steers, "\t\n\r");
		bool given = !cp;

		for (unsigned k = 0; !given && k < b->ntables; k++)
			given = dtx_schema_find(b->in[k], name) >= 0;
		if (!given)
			DTX_TRY(dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, "", err,
			                      "a column would be named '%s'; leave out the "
			                      "control character U+%04X",
			                      name, (unsigned)cp));
	}
out:
	return rc;
}

/* The columns that say where cells come from; where only the rows show the columns, the op adds
 * these too. */
static enum dtx_code add_cells(struct dtx_bind *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < DTX_CELLS_COLUMNS; i++)
		DTX_TRY(dtx_bind_make(b, dtx_cells_fields[i].name, dtx_cells_fields[i].type, NULL,
		                      "origin of", err));
out:
	return rc;
}

static enum dtx_code bind_step(struct dtx_flow *f, uint32_t i, bool typed,
                               const struct dtx_run *run, struct dtx_errlist *errs,
                               struct dtx_bind **out, struct dtx_err *err)
{
	const struct dtx_plan_step *st = &f->plan->step[i];
	const struct dtx_schema any = { .nfields = 0, .open = true, .field = NULL };
	struct dtx_bind *b = NULL;
	enum dtx_code rc = DTX_OK;
	bool known;

	DTX_TRY(dtx_flow_set(f, no_table(f), &any, err));
	DTX_TRY(open_bind(f, i, typed, run, errs, &b, err));
	/* like `across`, a macro is completed in the plan, which is of the same owner */
	rc = dtx_macro_compose(b, (struct dtx_plan *)(uintptr_t)f->plan, &f->plan->step[i], &known,
	                       err);
	if (rc == DTX_OK && !known)
		b->open = true;
	if (rc == DTX_OK && known)
		rc = dtx_across_open(b, st, err);
	if (rc == DTX_OK && known)
		rc = st->op->bind(b, b->args, err);
	if (rc == DTX_OK && known)
		rc = dtx_across_done(b, f->plan, &f->plan->step[i], err);
	if (rc == DTX_OK && known && st->cells && !b->open)
		rc = add_cells(b, err);
	if (rc == DTX_OK)
		rc = refuse_steering(b, err);
	if (rc != DTX_OK)
		dtx_strmap_clear(&b->names);
	DTX_TRY(rc);
	for (unsigned k = 0; k < b->ntables; k++)
		if (!b->moved[k])
			b->seen[k] = b->in[k]->nfields;
	if (f->bind[i])
		dtx_strmap_clear(&f->bind[i]->names);
	f->bind[i] = b;
	if (!b->kind_set)
		b->kind = default_kind(st->op);
	*out = b;
out:
	return rc;
}

/* The rows are made in an unknown way, so no columns are looked for further up. */
static void forget_bind(struct dtx_flow *f, uint32_t i)
{
	if (f->bind[i])
		dtx_strmap_clear(&f->bind[i]->names);
	f->bind[i] = NULL;
}

enum dtx_code dtx_flow_bind(struct dtx_flow *f, uint32_t i, bool typed, const struct dtx_run *run,
                            struct dtx_errlist *errs, bool *bad, struct dtx_err *err)
{
	const struct dtx_plan_step *st = &f->plan->step[i];
	struct dtx_bind *b = NULL;
	size_t before = errs->n;
	enum dtx_code rc = DTX_OK;

	if (bindable(f, i, typed))
		DTX_TRY(bind_step(f, i, typed, run, errs, &b, err));
	*bad = !b || st->broken || b->nfindings > 0;
	if (!b || st->trigger != DTX_OK || any_trigger(errs, before)) {
		forget_bind(f, i);
		DTX_TRY(set_promised(f, i, err));
		goto out;
	}
	DTX_TRY(set_result(f, i, b, err));
	if (*bad)
		DTX_TRY(set_guesses(f, i, b, err));
out:
	if (rc != DTX_OK && rc != DTX_E_NO_MEMORY) {
		dtx_err_step(err, (int32_t)i, dtx_plan_step_name(st));
		dtx_err_at(err, st->at);
	}
	return rc;
}

/* Adds another table that rules refer to. A table without known columns is left out; its rules are
 * checked at run time. */
static void add_rule_table(struct dtx_bind *b, const char *name, int32_t table)
{
	if (table < 0 || !b->flow->table[table].schema)
		return;
	b->in[b->ntables] = b->flow->table[table].schema;
	b->table[b->ntables] = table;
	b->table_name[b->ntables++] = name;
}

enum dtx_code dtx_flow_rules(struct dtx_flow *f, int32_t table, int step,
                             const struct dtx_rules *rules, bool typed, struct dtx_errlist *errs,
                             struct dtx_rules_bound **out, struct dtx_bind **used,
                             struct dtx_err *err)
{
	struct dtx_bind *b = dtx_arena_zalloc(f->arena, 1, sizeof(*b));
	const char *above = step >= 0 ? f->plan->step[step].at : "";
	enum dtx_code rc = DTX_OK;

	if (!b)
		DTX_FAIL_MEM(err);
	b->at = dtx_arena_printf(f->arena, "%s/expect", above);
	if (!b->at)
		DTX_FAIL_MEM(err);
	b->arena = f->arena;
	b->typed = typed;
	b->flow = f;
	b->ntables = 1;
	DTX_TRY(dtx_bind_room(b, rules->ntables + 1, err));
	b->in[0] = f->table[table].schema;
	b->table[0] = table;
	for (uint32_t k = 0; k < rules->ntables; k++)
		add_rule_table(b, rules->table_name[k], rules->table[k]);
	b->step = step;
	b->op = step >= 0 ? dtx_plan_step_name(&f->plan->step[step]) : "";
	b->errs = errs;
	b->nbefore = errs->n;
	b->end = b->broken = true;
	b->overflow = f->plan->options.overflow;
	b->div_zero_error = f->plan->options.div_zero_error;
	DTX_TRY(dtx_rules_bind(b, rules, out, err));
	if (used)
		*used = b;
out:
	return rc;
}
