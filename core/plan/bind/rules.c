/* Rules about a table: their parameters, and binding to columns. */
#include "core/plan/bind/rules.h"

#include <stdio.h>

#include "core/data/time/duration.h"
#include "core/plan/plan_internal.h"
#include "core/plan/bind/rules_parts.h"

#define ROW(member, k) .name = #member, .kind = (k), .offset = offsetof(struct dtx_rule, member)
#define INT_MAX_JSON   (((int64_t)1 << 53) - 1)

const char *const dtx_rule_names[DTX_RULE_KINDS] = {
	[DTX_RULE_NOT_NULL] = "not_null",
	[DTX_RULE_UNIQUE] = "unique",
	[DTX_RULE_ACCEPTED] = "accepted_values",
	[DTX_RULE_RANGE] = "range",
	[DTX_RULE_MATCHES] = "matches",
	[DTX_RULE_EXPRESSION] = "expression",
	[DTX_RULE_ROW_COUNT] = "row_count",
	[DTX_RULE_COLUMNS] = "columns",
	[DTX_RULE_TYPE] = "type",
	[DTX_RULE_SUM_EQUALS] = "sum_equals",
	[DTX_RULE_SORTED] = "sorted",
	[DTX_RULE_SHARE] = "not_null_share",
	[DTX_RULE_RECENCY] = "recency",
	[DTX_RULE_RELATIONSHIP] = "relationship",
	[DTX_RULE_EQUAL_ROWS] = "equal_rows",
};

static const struct dtx_param key_rows[] = {
	{ .name = "col",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  .offset = offsetof(struct dtx_rule_key, col),
	  .aliases = "column",
	  .help = "column that is sorted" },
	{ .name = "desc",
	  .kind = DTX_P_BOOL,
	  .offset = offsetof(struct dtx_rule_key, desc),
	  .def = "false",
	  .help = "largest first" },
	{ .name = "nulls",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct dtx_rule_key, nulls),
	  .choices = "last,first",
	  .def = "\"last\"",
	  .help = "where nulls go" },
	{ .name = "collate",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct dtx_rule_key, collate),
	  .choices = "binary,nocase,natural",
	  .def = "\"binary\"",
	  .help = "order of text" },
};
const struct dtx_param dtx_rule_rows[DTX_RULE_ROWS] = {
	{ .name = "rule",
	  .kind = DTX_P_CHOICE,
	  .required = true,
	  .offset = offsetof(struct dtx_rule, kind),
	  .choices = "not_null,unique,accepted_values,range,matches,expression,row_count,columns,"
	             "type,sum_equals,sorted,not_null_share,recency,relationship,equal_rows",
	  .hole = DTX_RULE_KINDS,
	  .help = "what is checked" },
	{ ROW(severity, DTX_P_CHOICE), .choices = "error,warn", .def = "\"error\"",
	  .help = "warn: report it and go on" },
	{ ROW(max_failures, DTX_P_INT), .max = INT_MAX_JSON, .def = "0",
	  .help = "rows that may break it, where rows do" },
	{ ROW(sample, DTX_P_INT), .max = 100, .def = "5",
	  .help = "how many rows that broke it the error shows" },
	{ ROW(cols, DTX_P_COLUMNS), .aliases = "columns", .help = "not_null, unique: columns" },
	{ ROW(col, DTX_P_COLUMN), .aliases = "column", .help = "the column" },
	{ ROW(values, DTX_P_VALUES), .help = "accepted_values: the allowed values" },
	{ ROW(min, DTX_P_VALUE), .help = "range, row_count, not_null_share: smallest" },
	{ ROW(max, DTX_P_VALUE), .help = "range, row_count: largest" },
	{ ROW(regex, DTX_P_REGEX), .help = "matches: pattern, found anywhere" },
	{ ROW(expr, DTX_P_EXPR), .aliases = "expression,formula",
	  .help = "expression: true for every row" },
	{ ROW(names, DTX_P_TEXTS), .help = "columns: names that must exist" },
	{ ROW(exact, DTX_P_BOOL), .def = "false", .help = "columns: no others, in this order" },
	{ ROW(type, DTX_P_TYPE), .help = "type: the column's type" },
	{ ROW(value, DTX_P_VALUE), .help = "sum_equals: the sum" },
	{ ROW(other, DTX_P_COLUMN), .help = "sum_equals: column with the same sum" },
	{ ROW(tol, DTX_P_NUMBER), .def = "0", .help = "sum_equals: difference allowed" },
	{ ROW(by, DTX_P_LIST), .rows = key_rows, .nrows = DTX_COUNT(key_rows),
	  .item_size = sizeof(struct dtx_rule_key), .sugar = DTX_SUGAR_SORT,
	  .help = "sorted: keys" },
	{ ROW(with, DTX_P_TEXT), .aliases = "right,table",
	  .help = "relationship, equal_rows, sum_equals: the other table" },
	{ ROW(to, DTX_P_TEXT),
	  .help = "relationship: its column that has the value; sum_equals: that has the sum" },
	{ ROW(max_age, DTX_P_TEXT),
	  .help = "recency: how long ago its newest date may be, before the run's date (7d, 1mo)" },
};

const char *dtx_rule_name(const struct dtx_rule *rule)
{
	return rule->kind < DTX_RULE_KINDS ? dtx_rule_names[rule->kind] : "rule";
}

/* --- the members that each kind takes --- */

static const struct {
	const char *needs, *takes;
	const char *one_of; /* at least one of these is needed; NULL */
} members[DTX_RULE_KINDS] = {
	[DTX_RULE_NOT_NULL] = { "cols", "max_failures", NULL },
	[DTX_RULE_UNIQUE] = { "cols", "max_failures", NULL },
	[DTX_RULE_ACCEPTED] = { "col,values", "max_failures", NULL },
	[DTX_RULE_RANGE] = { "col", "min,max,max_failures", "min,max" },
	[DTX_RULE_MATCHES] = { "col,regex", "max_failures", NULL },
	[DTX_RULE_EXPRESSION] = { "expr", "max_failures", NULL },
	[DTX_RULE_ROW_COUNT] = { "", "min,max", "min,max" },
	[DTX_RULE_COLUMNS] = { "names", "exact", NULL },
	[DTX_RULE_TYPE] = { "col,type", "", NULL },
	[DTX_RULE_SUM_EQUALS] = { "col", "value,other,with,to,tol", NULL },
	[DTX_RULE_SORTED] = { "by", "max_failures", NULL },
	[DTX_RULE_SHARE] = { "col,min", "", NULL },
	[DTX_RULE_RECENCY] = { "col,max_age", "", NULL },
	[DTX_RULE_RELATIONSHIP] = { "col,with,to", "max_failures", NULL },
	[DTX_RULE_EQUAL_ROWS] = { "with", "", NULL },
};

/* Whether a member is written; defaults do not count. */
static bool is_given(const struct dtx_param *p, const struct dtx_rule *rule)
{
	static const char zero[sizeof(struct dtx_plist)];
	const char *at = (const char *)rule + p->offset;

	switch (p->kind) {
	case DTX_P_LIST:
	case DTX_P_VALUES:
	case DTX_P_TEXTS: return ((const struct dtx_plist *)(const void *)at)->n > 0;
	case DTX_P_BOOL: return rule->exact;
	case DTX_P_NUMBER: return memcmp(at, zero, sizeof(double)) != 0;
	default: return memcmp(at, zero, sizeof(void *)) != 0;
	}
}

struct binder {
	struct dtx_bind *b;
	const struct dtx_rule *rule;
	struct rule_bound *out;
	const char *at;
	struct dtx_err *err;
	char sub[96];
};

/* The place of a member, below that of the binding. */
static const char *place(struct binder *w, const char *member)
{
	snprintf(w->sub, sizeof(w->sub), w->rule->made_from ? "%s" : "%s/%s", w->at, member);
	return w->sub;
}

static enum dtx_code check_members(struct binder *w)
{
	const char *needs = members[w->rule->kind].needs, *takes = members[w->rule->kind].takes;
	const char *one_of = members[w->rule->kind].one_of;
	const char *name = dtx_rule_names[w->rule->kind];
	bool says = !one_of;
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < DTX_RULE_ROWS; i++) {
		const struct dtx_param *p = &dtx_rule_rows[i];
		bool common = dtx_str_in_list("rule,severity,sample", p->name);
		bool given = !common && is_given(p, w->rule);
		bool need = dtx_str_in_list(needs, p->name);

		says = says || (given && dtx_str_in_list(one_of, p->name));
		if (need && !given)
			DTX_TRY(dtx_bind_fail(w->b, DTX_E_MISSING_PARAM, w->at, w->err,
			                      "rule %s needs '%s'", name, p->name));
		if (given && !need && !dtx_str_in_list(takes, p->name))
			DTX_TRY(dtx_bind_fail(w->b, DTX_E_UNKNOWN_PARAM, place(w, p->name), w->err,
			                      "rule %s has no '%s'", name, p->name));
	}
	if (!says)
		DTX_TRY(dtx_bind_fail(w->b, DTX_E_MISSING_PARAM, w->at, w->err,
		                      "rule %s needs 'min' or 'max'", name));
out:
	return rc;
}

/* --- binding --- */

static enum dtx_code use_column(struct binder *w, int32_t col)
{
	if (col >= 0)
		w->out->col[w->out->ncols++] = col;
	return dtx_bind_use(w->b, DTX_USE_ROWS, 0, col, DTX_DEMAND_VALUE, w->err);
}

static enum dtx_code bind_column(struct binder *w, const char *name, const char *member)
{
	int32_t col = -1;
	enum dtx_code rc = DTX_OK;

	if (!name)
		goto out;
	DTX_TRY(dtx_bind_column(w->b, 0, name, place(w, member), &col, w->err));
	DTX_TRY(use_column(w, col));
out:
	return rc;
}

static enum dtx_code bind_columns(struct binder *w)
{
	const struct dtx_rule *r = w->rule;
	const struct dtx_rule_key *key = r->by.item;
	int32_t *picked = NULL;
	uint32_t n = 0;
	char member[48];
	size_t most;
	enum dtx_code rc = DTX_OK;

	if (r->cols)
		DTX_TRY(dtx_bind_cols(w->b, 0, r->cols, place(w, "cols"), &picked, &n, w->err));
	most = (size_t)n + r->by.n + 3;
	w->out->col = dtx_arena_alloc(w->b->arena, most, sizeof(*w->out->col));
	w->out->order = dtx_arena_zalloc(w->b->arena, most, sizeof(*w->out->order));
	if (!w->out->col || !w->out->order)
		DTX_FAIL_MEM(w->err);
	for (uint32_t i = 0; i < n; i++)
		DTX_TRY(use_column(w, picked[i]));
	DTX_TRY(bind_column(w, r->col, "col"));
	DTX_TRY(bind_column(w, r->other, "other"));
	for (size_t i = 0; i < r->by.n; i++) {
		snprintf(member, sizeof(member), "by/%zu/col", i);
		w->out->order[w->out->ncols] =
			(struct dtx_key_order){ key[i].desc, key[i].nulls == 1,
			                        (enum dtx_collate)key[i].collate };
		DTX_TRY(bind_column(w, key[i].col, member));
	}
out:
	return rc;
}

static enum dtx_code bind_value(struct binder *w, const json_t *v, const char *member,
                                struct expect_value *out)
{
	enum dtx_code rc = DTX_OK;

	if (!v)
		goto out;
	rc = dtx_expect_value(w->b->arena, v, out);
	if (rc == DTX_E_NO_MEMORY)
		DTX_FAIL_MEM(w->err);
	rc = DTX_OK;
	if (w->rule->kind != DTX_RULE_RANGE && !json_is_number(v))
		DTX_TRY(dtx_bind_fail(w->b, DTX_E_BAD_PARAM_TYPE, place(w, member), w->err,
		                      "'%s' must be a number", member));
out:
	return rc;
}

/* Whether a bound is of the kind of its column: as texts, "100" would come before "9". */
static bool bound_fits(struct dtx_typeref t, const struct expect_value *v)
{
	if (dtx_type_is_number(t.type))
		return v->is_num;
	if (t.type == DTX_T_DATE || t.type == DTX_T_DATETIME)
		return v->is_time;
	return t.type != DTX_T_TEXT || !v->is_num;
}

static enum dtx_code check_bound(struct binder *w, const struct expect_value *v, const char *member)
{
	const struct dtx_field *f;
	enum dtx_code rc = DTX_OK;

	if (w->rule->kind != DTX_RULE_RANGE || !w->out->ncols || !v->set)
		goto out;
	f = &w->b->in[0]->field[w->out->col[0]];
	if (!bound_fits(f->type, v))
		rc = dtx_bind_fail_next(
			w->b, DTX_E_TYPE_MISMATCH, place(w, member),
			"give a bound of that type, or cast the column in a step before", w->err,
			"column '%s' is %s, '%s' is '%.*s'", f->name, dtx_type_name(f->type.type),
			member, (int)DTX_MIN(v->text.len, (size_t)64), v->text.ptr);
out:
	return rc;
}

static enum dtx_code bind_values(struct binder *w)
{
	const struct dtx_rule *r = w->rule;
	const json_t *const *value = r->values.item;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(bind_value(w, r->min, "min", &w->out->min));
	DTX_TRY(bind_value(w, r->max, "max", &w->out->max));
	DTX_TRY(check_bound(w, &w->out->min, "min"));
	DTX_TRY(check_bound(w, &w->out->max, "max"));
	if (r->kind == DTX_RULE_SUM_EQUALS &&
	    (!!r->value + !!r->other + (r->with != NULL) != 1 || !r->with != !r->to))
		DTX_TRY(dtx_bind_fail(
			w->b, DTX_E_MISSING_PARAM, w->at, w->err,
			"rule sum_equals needs 'value', 'other', or 'with' and 'to' together"));
	if (r->value && !json_is_number(r->value))
		DTX_TRY(dtx_bind_fail(w->b, DTX_E_BAD_PARAM_TYPE, place(w, "value"), w->err,
		                      "'value' must be a number"));
	w->out->value = dtx_arena_zalloc(w->b->arena, r->values.n + 1, sizeof(*w->out->value));
	if (!w->out->value)
		DTX_FAIL_MEM(w->err);
	for (size_t i = 0; i < r->values.n; i++)
		if (value[i] &&
		    dtx_expect_value(w->b->arena, value[i], &w->out->value[i]) == DTX_E_NO_MEMORY)
			DTX_FAIL_MEM(w->err);
out:
	return rc;
}

/* Makes the formula `col` >= date_add(run_date(), -7, 'day'). */
static enum dtx_code bind_recency(struct binder *w)
{
	static const char *const units[] = { "year", "quarter", "month",  "week",
		                             "day",  "hour",    "minute", "second" };
	const struct dtx_typeref want = { .type = DTX_T_BOOL };
	const struct dtx_rule *r = w->rule;
	struct dtx_duration age;
	struct dtx_expr *e, *column;
	struct dtx_buf text = DTX_BUF_INIT(1000);
	enum dtx_code rc = DTX_OK;

	if (!dtx_duration_parse(r->max_age, &age)) {
		rc = dtx_bind_fail(w->b, DTX_E_BAD_PARAM_VALUE, place(w, "max_age"), w->err,
		                   "'%s' is not a duration such as 36h, 7d or 1mo", r->max_age);
		goto out;
	}
	column = dtx_expr_column(w->b->arena, r->col);
	if (!column)
		DTX_FAIL_MEM(w->err);
	dtx_expr_print(column, &text);
	dtx_buf_printf(&text, " >= date_add(run_date(), -%lld, '%s')", (long long)age.n,
	               units[age.unit]);
	DTX_TRY(dtx_buf_check(&text, "a rule", w->err));
	DTX_TRY(dtx_expr_parse(w->b->arena, dtx_buf_str(&text), &e, w->err));
	DTX_TRY(dtx_bind_expr(w->b, 0, e, place(w, "col"), want, DTX_USE_ROWS, &w->out->expr,
	                      w->err));
out:
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code bind_formulas(struct binder *w)
{
	const struct dtx_rule *r = w->rule;
	struct dtx_typeref want = { .type = DTX_T_BOOL };
	struct dtx_err bad = DTX_ERR_INIT;
	struct dtx_regex *re = NULL;
	enum dtx_code rc = DTX_OK;

	if (r->kind == DTX_RULE_RECENCY && r->col && r->max_age)
		DTX_TRY(bind_recency(w));
	if (r->expr)
		DTX_TRY(dtx_bind_expr(w->b, 0, r->expr, place(w, "expr"), want, DTX_USE_ROWS,
		                      &w->out->expr, w->err));
	if (!r->regex)
		goto out;
	rc = dtx_regex_compile(w->b->arena, dtx_str_of(r->regex), &re, &bad);
	if (rc == DTX_E_NO_MEMORY)
		DTX_FAIL_MEM(w->err);
	if (rc != DTX_OK)
		rc = dtx_bind_fail(w->b, bad.code, place(w, "regex"), w->err, "%s", bad.msg);
	w->out->re = re;
out:
	dtx_err_clear(&bad);
	return rc;
}

/* Whether values of both types can be equal. */
static bool comparable(struct dtx_typeref a, struct dtx_typeref b)
{
	return a.type == b.type || a.type == DTX_T_UNKNOWN || b.type == DTX_T_UNKNOWN ||
	       a.type == DTX_T_NULL || b.type == DTX_T_NULL ||
	       (dtx_type_is_number(a.type) && dtx_type_is_number(b.type));
}

/* Binds the column of the other table. Linking the plan has reported an unknown table. */
static enum dtx_code bind_other(struct binder *w)
{
	const struct dtx_rule *r = w->rule;
	struct dtx_bind *b = w->b;
	const struct dtx_field *f;
	enum dtx_code rc = DTX_OK;

	w->out->to = -1;
	for (unsigned k = 1; r->with && k < b->ntables && !w->out->table; k++)
		if (b->table_name[k] && strcmp(b->table_name[k], r->with) == 0)
			w->out->table = k;
	if (!w->out->table || !r->to)
		return DTX_OK;
	DTX_TRY(dtx_bind_column(b, w->out->table, r->to, place(w, "to"), &w->out->to, w->err));
	if (w->out->to < 0)
		goto out;
	DTX_TRY(dtx_bind_use(b, DTX_USE_ROWS, w->out->table, w->out->to, DTX_DEMAND_VALUE, w->err));
	f = &b->in[w->out->table]->field[w->out->to];
	if (r->kind == DTX_RULE_RELATIONSHIP && w->out->ncols &&
	    !comparable(b->in[0]->field[w->out->col[0]].type, f->type))
		DTX_TRY(dtx_bind_fail_next(
			b, DTX_E_TYPE_MISMATCH, place(w, "to"), "cast one of them in a step before",
			w->err, "'%s' (%s) and '%s' of '%s' (%s) cannot be equal", r->col,
			dtx_type_name(b->in[0]->field[w->out->col[0]].type.type), r->to, r->with,
			dtx_type_name(f->type.type)));
out:
	return rc;
}

/* Writes the texts for messages: the columns, and what is expected of them. */
static enum dtx_code describe(struct binder *w)
{
	struct dtx_buf text = DTX_BUF_INIT(1 << 16);
	const struct dtx_rule *r = w->rule;
	const char *const *name = r->names.item;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < w->out->ncols && !(r->other && i); i++)
		dtx_buf_printf(&text, "%s%s", i ? ", " : "",
		               w->b->in[0]->field[w->out->col[i]].name);
	w->out->name = text.len ? dtx_arena_strdup(w->b->arena, dtx_buf_text(&text)) : NULL;
	dtx_buf_reset(&text);
	if (r->kind == DTX_RULE_EXPRESSION && r->expr)
		dtx_expr_print(r->expr, &text);
	if (r->kind == DTX_RULE_MATCHES && r->regex)
		dtx_buf_printf(&text, "values like /%s/", r->regex);
	if (r->kind == DTX_RULE_TYPE && r->type)
		dtx_buf_printf(&text, "type %s", r->type);
	if (r->other)
		dtx_buf_printf(&text, "the sum of %s", r->other);
	if (r->kind == DTX_RULE_RECENCY && r->max_age)
		dtx_buf_printf(&text, "a date not more than %s before the run", r->max_age);
	if (r->with && r->to)
		dtx_buf_printf(&text, "%s %s of %s",
		               r->kind == DTX_RULE_SUM_EQUALS ? "the sum of" : "values of", r->to,
		               r->with);
	for (size_t i = 0; i < r->names.n; i++)
		dtx_buf_printf(&text, "%s%s", i ? ", " : "columns ", name[i]);
	DTX_TRY(dtx_buf_check(&text, "a rule", w->err));
	w->out->how = dtx_arena_strdup(w->b->arena, dtx_buf_text(&text));
	if (!w->out->how)
		DTX_FAIL_MEM(w->err);
out:
	dtx_buf_clear(&text);
	return rc;
}

enum dtx_code dtx_rules_bind(struct dtx_bind *b, const struct dtx_rules *rules,
                             struct dtx_rules_bound **out, struct dtx_err *err)
{
	struct dtx_rules_bound *r = dtx_arena_zalloc(b->arena, 1, sizeof(*r));
	enum dtx_code rc = DTX_OK;

	if (!r)
		DTX_FAIL_MEM(err);
	r->rule = dtx_arena_zalloc(b->arena, rules->n + 1, sizeof(*r->rule));
	if (!r->rule)
		DTX_FAIL_MEM(err);
	r->n = rules->n;
	r->schema = b->in[0];
	r->step = b->step;
	for (size_t i = 0; i < rules->n; i++) {
		struct binder w = { .b = b,
			            .rule = &rules->rule[i],
			            .out = &r->rule[i],
			            .at = rules->at[i],
			            .err = err };

		w.out->rule = w.rule;
		w.out->at = dtx_arena_printf(b->arena, "%s%s", b->at, w.at);
		if (!w.out->at)
			DTX_FAIL_MEM(err);
		if (w.rule->kind == DTX_RULE_KINDS)
			continue; /* it is not a rule, and has its finding */
		DTX_TRY(check_members(&w));
		DTX_TRY(bind_columns(&w));
		DTX_TRY(bind_values(&w));
		DTX_TRY(bind_formulas(&w));
		DTX_TRY(bind_other(&w));
		DTX_TRY(describe(&w));
	}
	*out = r;
out:
	return rc;
}
