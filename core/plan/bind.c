/* Binding one step: output columns, uses of input columns, findings at their pointers. */
#include "core/plan/bind.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/expr/agg.h"
#include "core/plan/flow.h"
#include "core/plan/parts.h"

/* --- results --- */

void *dtx_bind_state(struct dtx_bind *b, size_t size)
{
	b->state = dtx_arena_zalloc(b->arena, 1, size);
	return b->state;
}

void dtx_bind_kind(struct dtx_bind *b, enum dtx_op_kind kind)
{
	b->kind = kind;
	b->kind_set = true;
}

void dtx_bind_close(struct dtx_bind *b)
{
	b->closed = true;
}

void dtx_bind_open(struct dtx_bind *b)
{
	b->open = true;
}

/* Arrays of the arena double into fresh memory: a bind is short-lived and small. */
static bool grow(struct dtx_arena *a, void *items, uint64_t n, uint64_t *cap, size_t size)
{
	void **p = items;
	uint64_t want = *cap ? *cap * 2 : 16;
	void *fresh;

	if (n < *cap)
		return true;
	fresh = dtx_arena_alloc(a, want, size);
	if (!fresh)
		return false;
	if (n)
		memcpy(fresh, *p, n * size);
	*p = fresh;
	*cap = want;
	return true;
}

/* --- what cannot be told --- */

static enum dtx_code add_guess(struct dtx_bind *b, const char *name, bool made, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!grow(b->arena, &b->guess, b->nguesses, &b->cap_guesses, sizeof(*b->guess)))
		DTX_FAIL_MEM(err);
	name = dtx_arena_strdup(b->arena, name);
	if (!name)
		DTX_FAIL_MEM(err);
	b->guess[b->nguesses++] = (struct dtx_bind_guess){ name, made };
out:
	return rc;
}

enum dtx_code dtx_bind_would_make(struct dtx_bind *b, const char *name, struct dtx_err *err)
{
	if (!dtx_param_is_hole(name))
		return add_guess(b, name, true, err);
	b->open = true;
	return DTX_OK;
}

void dtx_bind_unsure(struct dtx_bind *b)
{
	if (!b->typed && (b->nfindings || b->broken))
		b->open = true;
}

/* A name that is not there, and those that it may have been meant for. */
static enum dtx_code guess_meant(struct dtx_bind *b, const char *name, const struct dtx_err *f,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (b->typed)
		goto out;
	DTX_TRY(add_guess(b, name, false, err));
	for (size_t i = 0; i < DTX_COUNT(f->did_you_mean) && f->did_you_mean[i][0]; i++)
		DTX_TRY(add_guess(b, f->did_you_mean[i], false, err));
out:
	return rc;
}

static bool is_guess(const struct dtx_bind *b, const char *name)
{
	for (uint64_t i = 0; i < b->nguesses; i++)
		if (strcmp(b->guess[i].name, name) == 0)
			return true;
	return false;
}

static bool name_free(struct dtx_bind *b, const char *name, uint32_t index, bool *taken)
{
	uint32_t found = 0;

	if (!dtx_strmap_put(&b->names, dtx_str_of(name), index, &found))
		return false;
	*taken = found != index;
	return true;
}

static enum dtx_code add_col(struct dtx_bind *b, const struct dtx_bind_col *col,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t cap = b->cap_cols;
	bool taken = false;

	if (b->run && b->run->max_cols > 0 && b->ncols >= b->run->max_cols)
		DTX_FAIL(err, DTX_E_COL_LIMIT, "%s: more than %lld columns", b->op,
		         (long long)b->run->max_cols);
	if (!name_free(b, col->field.name, b->ncols, &taken))
		DTX_FAIL_MEM(err);
	if (taken) {
		rc = dtx_bind_fail(b, DTX_E_NAME_COLLISION, "", err, "column '%s' is there already",
		                   col->field.name);
		goto out;
	}
	if (!grow(b->arena, &b->col, b->ncols, &cap, sizeof(*b->col)))
		DTX_FAIL_MEM(err);
	b->cap_cols = (uint32_t)cap;
	b->col[b->ncols++] = *col;
out:
	return rc;
}

enum dtx_code dtx_bind_pass(struct dtx_bind *b, unsigned t, int32_t col, const char *name,
                            struct dtx_err *err)
{
	struct dtx_bind_col c = { .from_table = (int32_t)t, .from_col = col, .formula_text = "" };

	b->seen[t] = b->in[t]->nfields;
	if (col < 0)
		return DTX_OK;
	c.field = b->in[t]->field[col];
	if (name)
		c.field.name = name;
	return add_col(b, &c, err);
}

enum dtx_code dtx_bind_keep_all(struct dtx_bind *b, unsigned t, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	b->seen[t] = b->in[t]->nfields;
	for (uint32_t i = 0; i < b->in[t]->nfields; i++)
		DTX_TRY(dtx_bind_pass(b, t, (int32_t)i, NULL, err));
out:
	return rc;
}

static enum dtx_code made_col(struct dtx_bind *b, const char *name, struct dtx_typeref type,
                              const struct dtx_expr *formula, const char *how,
                              struct dtx_bind_col *out, struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	enum dtx_code rc = DTX_OK;

	*out = (struct dtx_bind_col){
		.from_table = -1, .from_col = -1, .formula = formula, .formula_text = "", .how = how
	};
	out->field.name = dtx_arena_strdup(b->arena, name);
	out->field.type = type;
	if (!out->field.name)
		DTX_FAIL_MEM(err);
	if (formula) {
		dtx_expr_print(formula, &text);
		DTX_TRY(dtx_buf_check(&text, "formula", err));
		out->formula_text = dtx_arena_strdup(b->arena, dtx_buf_text(&text));
		if (!out->formula_text)
			DTX_FAIL_MEM(err);
	}
out:
	dtx_buf_clear(&text);
	return rc;
}

enum dtx_code dtx_bind_make(struct dtx_bind *b, const char *name, struct dtx_typeref type,
                            const struct dtx_expr *formula, const char *how, struct dtx_err *err)
{
	struct dtx_bind_col c;
	enum dtx_code rc = DTX_OK;

	if (dtx_param_is_hole(name))
		return dtx_bind_would_make(b, name, err);
	DTX_TRY(made_col(b, name, type, formula, how, &c, err));
	DTX_TRY(add_col(b, &c, err));
out:
	return rc;
}

enum dtx_code dtx_bind_remake(struct dtx_bind *b, uint32_t i, struct dtx_typeref type,
                              const struct dtx_expr *formula, const char *how, struct dtx_err *err)
{
	struct dtx_bind_col c;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(made_col(b, b->col[i].field.name, type, formula, how, &c, err));
	b->col[i] = c;
out:
	return rc;
}

int32_t dtx_bind_out(const struct dtx_bind *b, const char *name)
{
	uint32_t i = dtx_strmap_get(&b->names, dtx_str_of(name));

	return i == DTX_STRMAP_NONE || i >= b->ncols ? -1 : (int32_t)i;
}

const char *dtx_bind_unique(struct dtx_bind *b, const char *name)
{
	const char *got = dtx_bind_out(b, name) < 0 ? dtx_arena_strdup(b->arena, name) : NULL;

	if (dtx_bind_out(b, name) < 0)
		return got;
	for (unsigned k = 2;; k++) {
		got = dtx_arena_printf(b->arena, "%s_%u", name, k);
		if (!got || dtx_bind_out(b, got) < 0)
			return got;
	}
}

enum dtx_code dtx_bind_use(struct dtx_bind *b, int32_t out, unsigned t, int32_t col,
                           enum dtx_demand demand, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t cap = b->cap_uses;

	if (col < 0)
		goto out;
	if (!grow(b->arena, &b->use, b->nuses, &cap, sizeof(*b->use)))
		DTX_FAIL_MEM(err);
	b->cap_uses = cap;
	b->use[b->nuses++] =
		(struct dtx_bind_use){ out, t, (uint32_t)col, (uint8_t)demand, DTX_CLASS_ANY };
out:
	return rc;
}

/* --- findings --- */

/* False: nothing is written there. */
static bool finding_place(const struct dtx_bind *b, const char *sub, char *at, size_t size)
{
	if (b->flow && !b->end)
		return dtx_part_place(&b->flow->plan->step[b->step], sub, at, size);
	snprintf(at, size, "%s%s", b->at, sub ? sub : "");
	return true;
}

/* `below` is the place `above` or inside it. */
static bool is_inside(const char *below, const char *above)
{
	size_t len = strlen(above);

	return strncmp(below, above, len) == 0 && (below[len] == '\0' || below[len] == '/');
}

/* A parameter that cannot be read has its finding; what binding makes of it is no news, nor is a
 * judgement over the whole step. */
static bool is_known(const struct dtx_bind *b, const char *at, bool written)
{
	for (size_t i = 0; b->broken && i < b->nbefore && i < b->errs->n; i++) {
		const struct dtx_err *f = &b->errs->item[i];
		bool whole = strcmp(f->at, b->at) == 0 || f->code == DTX_E_MISSING_PARAM;

		if (f->step != b->step || f->severity == DTX_SEV_WARNING)
			continue;
		if (is_inside(f->at, at) || (is_inside(at, f->at) && !(whole && written)))
			return true;
	}
	return false;
}

/* A parameter of the step cannot be read, so that a key may be missing.  One whose formula is
 * broken is still there by its name. */
static bool is_unread(const struct dtx_bind *b)
{
	for (size_t i = 0; b->broken && i < b->nbefore && i < b->errs->n; i++) {
		const struct dtx_err *f = &b->errs->item[i];

		if (f->step == b->step && f->severity != DTX_SEV_WARNING &&
		    f->code != DTX_E_EXPR_SYNTAX)
			return true;
	}
	return false;
}

static void finding_judge(const struct dtx_bind *b, const char *at, struct dtx_err *f)
{
	dtx_err_at(f, at);
	dtx_err_step(f, b->step, b->op);
	f->run_time = b->typed;
	f->severity = dtx_code_triggers(f->code, b->typed) ? DTX_SEV_FALLBACK : DTX_SEV_ERROR;
	if (f->code >= DTX_W_UNUSED_INPUT)
		f->severity = DTX_SEV_WARNING;
}

static enum dtx_code take(struct dtx_bind *b, const char *sub, struct dtx_err *f,
                          struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char at[sizeof(f->at)];
	bool written;

	if (f->code == DTX_E_NO_MEMORY) {
		rc = f->code;
		if (err)
			dtx_err_move(err, f);
		else
			dtx_err_clear(f);
		goto out;
	}
	written = finding_place(b, sub, at, sizeof(at));
	if (is_known(b, at, written)) {
		dtx_err_clear(f);
		goto out;
	}
	finding_judge(b, at, f);
	b->nfindings += f->severity != DTX_SEV_WARNING;
	if (!dtx_errlist_take(b->errs, f))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_bind_fail(struct dtx_bind *b, enum dtx_code code, const char *sub,
                            struct dtx_err *err, const char *fmt, ...)
{
	struct dtx_err f = DTX_ERR_INIT;
	char text[sizeof(f.msg)];
	va_list ap;

	if (b->unfit)
		return DTX_OK;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	dtx_err_set(&f, code, __FILE__, __LINE__, "%s", text);
	return take(b, sub, &f, err);
}

/* What stands at a step's input, for the hint of an unknown column. */
static void hint_columns(const struct dtx_bind *b, unsigned t, struct dtx_err *f)
{
	const struct dtx_plan *plan = b->flow ? b->flow->plan : NULL;
	int32_t id = b->table[t];

	if (!plan || id < 0)
		return;
	if ((uint32_t)id < plan->ninputs)
		dtx_err_hint(f, "these are the columns of input '%s'", plan->input[id].name);
	else
		dtx_err_hint(f, "these are the columns after step %u (%s)",
		             (unsigned)id - plan->ninputs + 1,
		             plan->step[(uint32_t)id - plan->ninputs].name);
}

#define AVAILABLE_MAX 50

static void list_columns(const struct dtx_schema *s, struct dtx_err *f)
{
	struct dtx_buf out = DTX_BUF_INIT((size_t)1 << 16);

	dtx_buf_add(&out, "{\"available\":[");
	for (uint32_t i = 0; i < s->nfields && i < AVAILABLE_MAX; i++) {
		if (i)
			dtx_buf_addc(&out, ',');
		dtx_buf_json(&out, dtx_str_of(s->field[i].name));
	}
	dtx_buf_add(&out, "]}");
	dtx_err_more(f, dtx_buf_steal(&out));
}

static enum dtx_code fill_unknown(struct dtx_bind *b, unsigned t, const struct dtx_schema *s,
                                  const char *name, struct dtx_err *f)
{
	enum dtx_code code = b->typed ? DTX_E_MISSING_COLUMN : DTX_E_UNKNOWN_COLUMN;
	const char **names = dtx_arena_alloc(b->arena, s->nfields + 1u, sizeof(*names));

	if (!names)
		return dtx_err_set(f, DTX_E_NO_MEMORY, __FILE__, __LINE__, "out of memory");
	for (uint32_t i = 0; i < s->nfields; i++)
		names[i] = s->field[i].name;
	dtx_err_set(f, code, __FILE__, __LINE__, "no column '%s' here", name);
	hint_columns(b, t, f);
	dtx_err_suggest(f, name, names, s->nfields);
	list_columns(s, f);
	return code;
}

/* --- columns --- */

/* -1 with *f filled when there is none; a code only when memory is out. */
static int32_t find_column(struct dtx_bind *b, unsigned t, const char *name, struct dtx_err *f)
{
	int32_t col = dtx_schema_find(b->in[t], name);

	if (col < 0 && !b->typed && b->in[t]->open && b->flow &&
	    dtx_flow_require(b->flow, b->table[t], name, &col, f) != DTX_OK)
		return -1;
	if (col < 0)
		fill_unknown(b, t, b->in[t], name, f);
	return col;
}

enum dtx_code dtx_bind_column(struct dtx_bind *b, unsigned t, const char *name, const char *sub,
                              int32_t *col, struct dtx_err *err)
{
	struct dtx_err f = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;

	*col = -1;
	if (dtx_param_is_hole(name)) {
		b->vague = true;
		goto out;
	}
	*col = find_column(b, t, name, &f);
	if (*col >= 0)
		goto out;
	DTX_TRY(guess_meant(b, name, &f, err));
	rc = take(b, sub, &f, err);
out:
	dtx_err_clear(&f);
	return rc;
}

enum dtx_code dtx_bind_grow(struct dtx_bind *b, unsigned t, const char *name, struct dtx_err *err)
{
	int32_t col;

	if (b->typed || !b->flow || !b->in[t]->open)
		return DTX_OK;
	return dtx_flow_require(b->flow, b->table[t], name, &col, err);
}

/* --- expressions --- */

struct scope_arg {
	struct dtx_bind *b;
	unsigned t;
	int32_t out;
	const struct dtx_schema *over; /* dtx_bind_expr_over */
	void (*use)(void *arg, int32_t col, enum dtx_demand demand);
	void *use_arg;
	enum dtx_code rc; /* memory ran out in a callback */
};

/* A name that the step's own schema lacks may still come with an open input, or be one that cannot
 * be told: any index past the schema will do, nothing runs in the static phase. */
static int32_t over_open(struct scope_arg *s, const char *name, struct dtx_field *field,
                         struct dtx_err *err)
{
	struct dtx_bind *b = s->b;
	int32_t col = -1;

	if (!b->typed && (b->open || is_guess(b, name))) {
		*field = (struct dtx_field){ .name = name };
		return (int32_t)s->over->nfields;
	}
	if (!b->typed && b->flow && s->over->open &&
	    dtx_flow_require(b->flow, b->table[s->t], name, &col, err) != DTX_OK)
		return -1;
	if (col < 0) {
		fill_unknown(b, s->t, s->over, name, err);
		return -1;
	}
	*field = b->in[s->t]->field[col];
	return (int32_t)s->over->nfields;
}

static int32_t scope_column(void *arg, const char *name, struct dtx_field *field,
                            struct dtx_err *err)
{
	struct scope_arg *s = arg;
	const struct dtx_schema *schema = s->over;
	int32_t col;

	if (s->over) {
		col = dtx_schema_find(s->over, name);
		if (col < 0)
			return over_open(s, name, field, err);
	} else {
		col = find_column(s->b, s->t, name, err);
		schema = s->b->in[s->t];
	}
	if (col >= 0)
		*field = schema->field[col];
	return col;
}

static void scope_use(void *arg, int32_t column, enum dtx_demand demand, enum dtx_class cls)
{
	struct scope_arg *s = arg;

	if (s->over && column >= (int32_t)s->over->nfields)
		return;
	if (s->use)
		s->use(s->use_arg, column, demand);
	else if (s->rc == DTX_OK)
		s->rc = dtx_bind_use(s->b, s->out, s->t, column, demand, NULL);
	if (!s->use && s->rc == DTX_OK)
		s->b->use[s->b->nuses - 1].cls = (uint8_t)cls;
}

/* Errors at run time name the formula as those of the static phase do. */
static enum dtx_code place_formula(const struct dtx_bind *b, const char *sub,
                                   struct dtx_bound *bound, const struct dtx_aggcalls *aggs,
                                   size_t first, struct dtx_err *err)
{
	char at[sizeof(err->at)];
	const char *copy;
	enum dtx_code rc = DTX_OK;

	if (!finding_place(b, sub, at, sizeof(at)))
		goto out;
	copy = dtx_arena_strdup(b->arena, at);
	if (!copy)
		DTX_FAIL_MEM(err);
	dtx_bound_place(bound, copy);
	for (size_t i = first; aggs && i < aggs->n; i++)
		dtx_agg_place(aggs->call[i], copy);
out:
	return rc;
}

static enum dtx_code bind_any(struct scope_arg *s, struct dtx_scope *scope,
                              const struct dtx_expr *e, const char *sub, struct dtx_typeref want,
                              struct dtx_aggcalls *aggs, struct dtx_bound **bound,
                              struct dtx_err *err)
{
	struct dtx_bind *b = s->b;
	struct dtx_errlist found = DTX_ERRLIST_INIT;
	size_t ncalls = aggs ? aggs->n : 0;
	enum dtx_code rc = DTX_OK;

	*bound = NULL;
	if (!e || e == &dtx_expr_hole)
		goto out;
	b->casts |= dtx_expr_may_cast(e);
	scope->arg = s;
	scope->column = scope_column;
	scope->use = scope_use;
	scope->overflow = (unsigned)b->overflow;
	scope->div_zero_error = b->div_zero_error;
	scope->run_date = b->run ? b->run->run_date : 0;
	DTX_TRY(dtx_expr_bind(b->arena, e, scope, want, aggs, bound, &found, err));
	for (size_t i = 0; i < found.n; i++) {
		if (found.item[i].code == DTX_E_AGGREGATE_REQUIRED && is_unread(b))
			continue;
		DTX_TRY(take(b, sub, &found.item[i], err));
	}
	if (s->rc != DTX_OK)
		DTX_FAIL_MEM(err);
	if (*bound)
		DTX_TRY(place_formula(b, sub, *bound, aggs, ncalls, err));
out:
	dtx_errlist_clear(&found);
	return rc;
}

enum dtx_code dtx_bind_expr(struct dtx_bind *b, unsigned t, const struct dtx_expr *e,
                            const char *sub, struct dtx_typeref want, int32_t out,
                            struct dtx_bound **bound, struct dtx_err *err)
{
	struct scope_arg s = { .b = b, .t = t, .out = out };
	struct dtx_scope scope = { .allow = 0 };

	return bind_any(&s, &scope, e, sub, want, NULL, bound, err);
}

enum dtx_code dtx_bind_agg(struct dtx_bind *b, unsigned t, const struct dtx_expr *e,
                           const char *sub, const struct dtx_field *keys, size_t nkeys, int32_t out,
                           struct dtx_aggcalls *aggs, struct dtx_bound **bound, struct dtx_err *err)
{
	struct scope_arg s = { .b = b, .t = t, .out = out };
	struct dtx_scope scope = {
		.allow = DTX_ALLOW_AGG, .keys = keys, .nkeys = nkeys, .grouped = true
	};

	return bind_any(&s, &scope, e, sub, (struct dtx_typeref){ DTX_T_UNKNOWN, 0, 0 }, aggs,
	                bound, err);
}

enum dtx_code dtx_bind_expr_over(struct dtx_bind *b, const struct dtx_schema *schema,
                                 const struct dtx_expr *e, const char *sub, struct dtx_typeref want,
                                 void (*use)(void *arg, int32_t col, enum dtx_demand demand),
                                 void *arg, struct dtx_bound **bound, struct dtx_err *err)
{
	struct scope_arg s = { .b = b, .over = schema, .use = use, .use_arg = arg };
	struct dtx_scope scope = { .allow = 0 };

	return bind_any(&s, &scope, e, sub, want, NULL, bound, err);
}

enum dtx_code dtx_bind_window_over(struct dtx_bind *b, const struct dtx_schema *schema,
                                   const struct dtx_expr *e, const char *sub, bool ordered,
                                   void (*use)(void *arg, int32_t col, enum dtx_demand demand),
                                   void *arg, struct dtx_aggcalls *aggs, struct dtx_bound **bound,
                                   struct dtx_err *err)
{
	struct scope_arg s = { .b = b, .over = schema, .use = use, .use_arg = arg };
	struct dtx_scope scope = { .allow = DTX_ALLOW_AGG | DTX_ALLOW_WINDOW,
		                   .nkeys = schema->nfields,
		                   .ordered = ordered };

	return bind_any(&s, &scope, e, sub, (struct dtx_typeref){ DTX_T_UNKNOWN, 0, 0 }, aggs,
	                bound, err);
}
