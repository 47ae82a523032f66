/* Binds the formulas of a step: finds the columns that they name, records their uses, and adds
 * hints to findings that the plan's context explains (a short form in "agg", a column name with a
 * hyphen). */
#include <stdlib.h>

#include "core/base/text/num.h"
#include "core/expr/agg/agg.h"
#include "core/expr/fn/fn.h"
#include "core/expr/parse/tree.h"
#include "core/plan/bind/bind_parts.h"
#include "core/plan/bind/flow.h"
#include "core/plan/plan_internal.h"

struct scope_arg {
	struct dtx_bind *b;
	unsigned t;
	int32_t out;
	const struct dtx_schema *over; /* set by dtx_bind_expr_over */
	void (*use)(void *arg, int32_t col, enum dtx_demand demand);
	void *use_arg;
	enum dtx_code rc; /* memory ran out in a callback */
};

/* Finds a column of dtx_bind_expr_over that its schema lacks: it may come with an open input, or
 * its name may be uncertain. The index is one past the schema, which is fine since nothing runs in
 * the static phase. */
static int32_t over_open(struct scope_arg *s, const char *name, struct dtx_field *field,
                         struct dtx_err *err)
{
	struct dtx_bind *b = s->b;
	int32_t col = -1;

	if (!b->typed && (b->open || dtx_bind_is_guess(b, name))) {
		*field = (struct dtx_field){ .name = name };
		return (int32_t)s->over->nfields;
	}
	if (!b->typed && b->flow && s->over->open &&
	    dtx_flow_require(b->flow, b->table[s->t], name, &col, err) != DTX_OK)
		return -1;
	if (col < 0) {
		dtx_bind_unknown(b, s->t, s->over, name, err);
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
		col = dtx_bind_find(s->b, s->t, name, err);
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

/* Notes the place of the formula in the plan, so that errors at run time name it as those of the
 * static phase do. */
static enum dtx_code place_formula(const struct dtx_bind *b, const char *sub,
                                   struct dtx_bound *bound, const struct dtx_aggcalls *aggs,
                                   size_t first, struct dtx_err *err)
{
	char at[sizeof(err->at)];
	const char *copy;
	enum dtx_code rc = DTX_OK;

	if (!dtx_bind_at(b, sub, at, sizeof(at)))
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

/* {"n": "count"} is short for count(n). Where there is no column n, or no such function, something
 * else was meant, and the finding says so. */
static void judge_word(const struct dtx_bind *b, const char *sub, struct dtx_err *f)
{
	const struct dtx_plan_step *st = b->flow ? &b->flow->plan->step[b->step] : NULL;
	const json_t *agg;
	const char *word, *key;
	const struct dtx_fn *fn;
	size_t nth, min = 1, max;
	json_t *value;

	if (!st || strncmp(sub, "/agg/", 5) != 0)
		return;
	agg = dtx_part_value(st, "/agg");
	word = json_string_value(dtx_part_value(st, sub));
	if (!json_is_object(agg) || !word || !dtx_expr_is_name(dtx_str_of(word)))
		return;
	f->span[0] = 0; /* the span in the long form is not in the plan */
	f->span[1] = (int32_t)strlen(word);
	if (f->code != DTX_E_UNKNOWN_COLUMN && f->code != DTX_E_MISSING_COLUMN &&
	    f->code != DTX_E_AGGREGATE_REQUIRED && f->code != DTX_E_UNKNOWN_FUNCTION)
		return;
	fn = dtx_fn_find(dtx_str_of(word), 1);
	if (fn)
		dtx_fn_arity(fn, &min, &max);
	if (f->misnamed && min) /* a misspelt column */
		return;
	nth = strtoul(sub + 5, NULL, 10);
	json_object_foreach((json_t *)(uintptr_t)agg, key, value) if (!nth--) break;
	if (!f->misnamed)
		f->did_you_mean[0][0] = '\0';
	f->misnamed = fn != NULL; /* the plan is wrong, not the input */
	if (f->code == DTX_E_MISSING_COLUMN)
		f->code = DTX_E_UNKNOWN_COLUMN;
	if (!fn)
		dtx_err_hint(f,
		             "\"%.60s\": \"%.60s\" is short for %.60s(%.60s); for a column, write "
		             "an aggregate, as in \"sum(%.60s)\"",
		             key, word, word, key, word);
	else
		dtx_err_hint(f, "\"%.60s\": \"%s\" is short for %s(%.60s); %s \"%s(%s)\"%s", key,
		             word, word, key,
		             min ? "name the column, as in" : "the number of rows is", word,
		             min ? "column" : "", f->more ? "; there are" : "");
}

/* The column that the finding is about although its name is not a single word: in first-name
 * without backticks the formula sees a difference of two columns. Its place goes into span; NULL:
 * none. */
static const char *marked_column(const struct scope_arg *s, const char *sub,
                                 const struct dtx_err *f, int32_t span[2])
{
	const struct dtx_bind *b = s->b;
	const struct dtx_schema *schema = s->over ? s->over : b->in[s->t];
	const char *text =
		b->flow ? json_string_value(dtx_part_value(&b->flow->plan->step[b->step], sub))
			: NULL;

	if ((f->code != DTX_E_UNKNOWN_COLUMN && f->code != DTX_E_MISSING_COLUMN) || !text ||
	    f->span[0] < 0)
		return NULL;
	for (uint32_t i = 0; i < schema->nfields; i++) {
		const char *name = schema->field[i].name, *at = text;
		int32_t n = (int32_t)strlen(name);

		if (dtx_expr_is_name(dtx_str_of(name)))
			continue;
		for (; n && (at = strstr(at, name)); at++) {
			span[0] = (int32_t)(at - text);
			span[1] = span[0] + n;
			if (span[0] <= f->span[0] && f->span[1] <= span[1])
				return name;
		}
	}
	return NULL;
}

/* Rewrites the finding to name that column. False: a finding has named it already. */
static bool judge_marked(const struct scope_arg *s, const char *sub, int32_t *last,
                         struct dtx_err *f)
{
	int32_t span[2];
	const char *name = marked_column(s, sub, f, span);

	if (!name)
		return true;
	if (*last == span[1])
		return false;
	*last = span[1];
	memcpy(f->span, span, sizeof(span));
	f->code = DTX_E_UNKNOWN_COLUMN;
	f->misnamed = true;
	dtx_err_hint(f, "the column's name is not a single word: write it in backticks, `%.200s`",
	             name);
	for (size_t i = 0; i < DTX_COUNT(f->did_you_mean); i++)
		f->did_you_mean[i][0] = '\0';
	dtx_err_more(f, NULL);
	return true;
}

/* --- formulas that are legal but seldom mean what they say --- */

static enum dtx_code warn_literal(struct dtx_bind *b, const char *sub, const struct dtx_expr *e,
                                  const char *what, struct dtx_err *err)
{
	struct dtx_err f = DTX_ERR_INIT;
	int len = (int)DTX_MIN(e->text.len, (size_t)60);
	bool text = e->op == DTX_LIT_TEXT;

	dtx_err_set(&f, DTX_W_LITERAL_NAME, __FILE__, __LINE__, "%s%.*s%s %s", text ? "\"" : "",
	            len, e->text.ptr, text ? "\"" : "", what);
	if (text)
		dtx_err_hint(&f, "`%.*s` is the column; '%.*s' in single quotes is the text", len,
		             e->text.ptr, len, e->text.ptr);
	else
		dtx_err_hint(&f, "a column of that name is `%.*s`, in backticks", len, e->text.ptr);
	dtx_err_span(&f, e->span[0], e->span[1]);
	return dtx_bind_take(b, sub, &f, err);
}

/* The first number, or text in the quotes that SQL has for names, that equals the name of a
 * column. */
static const struct dtx_expr *literal_of_column(const struct dtx_schema *s,
                                                const struct dtx_expr *e)
{
	const struct dtx_expr *found = NULL;
	char name[256];

	if (e->kind == DTX_EX_LIT && e->text.len < sizeof(name) &&
	    (e->op == DTX_LIT_INT || e->op == DTX_LIT_FLOAT || e->double_quoted)) {
		dtx_str_copy(name, sizeof(name), e->text);
		if (dtx_schema_find(s, name) >= 0)
			return e;
	}
	for (uint32_t i = 0; !found && i < e->nargs; i++)
		found = literal_of_column(s, e->arg[i]);
	return found;
}

/* Whether a formula consists of years only, as 2024 - 2023. Such columns exist; a check that does
 * not open the input cannot know, so it warns. */
static bool has_years_alone(const struct dtx_expr *e)
{
	int64_t year;

	if (e->kind == DTX_EX_LIT)
		return e->op == DTX_LIT_INT && dtx_num_parse_i64(e->text.ptr, e->text.len, &year) &&
		       year >= 1800 && year < 2200;
	for (uint32_t i = 0; i < e->nargs; i++)
		if (!has_years_alone(e->arg[i]))
			return false;
	return e->kind == DTX_EX_BIN;
}

static enum dtx_code warn_odd(struct scope_arg *s, const struct dtx_expr *e, const char *sub,
                              bool condition, const struct dtx_bound *bound, struct dtx_err *err)
{
	struct dtx_bind *b = s->b;
	const struct dtx_schema *schema = s->over ? s->over : b->in[s->t];
	const struct dtx_expr *lit = literal_of_column(schema, e);
	enum dtx_code rc = DTX_OK;

	if (lit)
		DTX_TRY(warn_literal(b, sub, lit,
		                     lit->op == DTX_LIT_TEXT
		                             ? "is a text here, not the column of that name"
		                             : "is a number here, not the column of that name",
		                     err));
	else if (e->kind == DTX_EX_BIN && has_years_alone(e) && e->arg[0]->kind == DTX_EX_LIT)
		DTX_TRY(warn_literal(b, sub, e->arg[0],
		                     "is a number here, and the formula has no column", err));
	if (condition && dtx_bound_is_const(bound))
		DTX_TRY(dtx_bind_fail(b, DTX_W_CONSTANT_FILTER, sub, err,
		                      "the condition is the same for every row: it has no column"));
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
	int32_t last = -1;
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
		if (found.item[i].code == DTX_E_AGGREGATE_REQUIRED && dtx_bind_is_unread(b))
			continue;
		if (!judge_marked(s, sub, &last, &found.item[i]))
			continue;
		judge_word(b, sub, &found.item[i]);
		/* without the input's cells the column name is of no use in a finding */
		if (!b->typed)
			found.item[i].column[0] = '\0';
		DTX_TRY(dtx_bind_take(b, sub, &found.item[i], err));
	}
	if (s->rc != DTX_OK)
		DTX_FAIL_MEM(err);
	if (*bound) {
		DTX_TRY(place_formula(b, sub, *bound, aggs, ncalls, err));
		DTX_TRY(warn_odd(s, e, sub, want.type == DTX_T_BOOL, *bound, err));
	}
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
