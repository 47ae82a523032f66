/* Parameters of a plan, see plan_params.h. */
#include "core/plan/parse/plan_params.h"

#include <math.h>
#include <stdio.h>

#include "core/base/text/num.h"
#include "core/data/time/time.h"
#include "core/expr/parse/tree.h"
#include "core/plan/bind/rules.h"

enum params_type {
	PARAMS_TEXT,
	PARAMS_INT,
	PARAMS_FLOAT,
	PARAMS_DECIMAL,
	PARAMS_BOOL,
	PARAMS_DATE,
	PARAMS_DATETIME
};
#define PARAMS_TYPES "text,int,float,decimal,bool,date,datetime"

struct params_row {
	int type;
	const json_t *def;
	const char *help;
};

#define ROW(type, member, k) .name = #member, .kind = k, .offset = offsetof(struct type, member)
static const struct dtx_param params_rows[] = {
	{ ROW(params_row, type, DTX_P_CHOICE), .required = true, .choices = PARAMS_TYPES,
	  .help = "type of the value" },
	{ .name = "default",
	  .kind = DTX_P_VALUE,
	  .offset = offsetof(struct params_row, def),
	  .help = "value if none is given; without it, one must be given" },
	{ ROW(params_row, help, DTX_P_TEXT), .help = "what it is for" },
};

/* Length of the name at the start of a text; 0: none. */
static size_t params_name(const char *text)
{
	size_t n = 0;

	while (text[n] == '_' || (text[n] >= 'a' && text[n] <= 'z') ||
	       (text[n] >= 'A' && text[n] <= 'Z') || (n && text[n] >= '0' && text[n] <= '9'))
		n++;
	return n;
}

/* The parameter that begins at text, which is at a dollar sign: $NAME or ${NAME}. NULL: none that
 * is declared. *end is the byte after it. */
static const json_t *params_at(const json_t *params, const char *text, const char **end)
{
	bool braced = text[1] == '{';
	const char *name = text + 1 + braced;
	size_t n = params_name(name);

	*end = name + n + braced;
	if (!n || (braced && name[n] != '}'))
		return NULL;
	return json_object_getn(params, name, n);
}

bool dtx_params_in(const json_t *params, const char *text)
{
	return params && text && strchr(text, '$');
}

/* --- values --- */

static bool params_is_int(const json_t *v, const char *text, int64_t *out)
{
	*out = json_integer_value(v);
	return json_is_integer(v) || (text && dtx_num_parse_i64(text, strlen(text), out));
}

static bool params_is_number(const json_t *v, const char *text, double *out)
{
	*out = json_number_value(v);
	return json_is_number(v) ||
	       (text && dtx_num_parse_f64(text, strlen(text), out) && isfinite(*out));
}

/* Digits with one point at most: what a decimal literal may be. */
static bool params_is_decimal(const char *text)
{
	size_t sign = text[0] == '-', n = strspn(text + sign, "0123456789");
	size_t more = text[sign + n] == '.' ? strspn(text + sign + n + 1, "0123456789") : 0;

	return n && !text[sign + n + (more ? more + 1 : 0)];
}

/* The value as text. */
static void params_print(const json_t *value, struct dtx_buf *out)
{
	if (json_is_string(value))
		dtx_buf_addn(out, json_string_value(value), json_string_length(value));
	else
		dtx_json_print(value, 0, out);
}

/* The digits of a number or a text: a new reference; NULL: not a decimal. */
static json_t *params_decimal(const json_t *v)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *made = NULL;

	params_print(v, &text);
	if (params_is_decimal(dtx_buf_text(&text)))
		made = json_string(dtx_buf_text(&text));
	dtx_buf_clear(&text);
	return made;
}

/* A value of the type, from JSON or from a text: a new reference; NULL: it does not fit. A decimal,
 * a date and a datetime stay texts. */
static json_t *params_value(int type, const json_t *v)
{
	const char *text = json_string_value(v);
	char day[16], time[40];
	bool zoned;
	double number;
	int64_t whole;
	int32_t date;

	switch ((enum params_type)type) {
	case PARAMS_TEXT: return text ? json_string(text) : NULL;
	case PARAMS_INT: return params_is_int(v, text, &whole) ? json_integer(whole) : NULL;
	case PARAMS_FLOAT: return params_is_number(v, text, &number) ? json_real(number) : NULL;
	case PARAMS_DECIMAL: return params_decimal(v);
	case PARAMS_BOOL:
		if (text)
			return !strcmp(text, "true")    ? json_true()
			       : !strcmp(text, "false") ? json_false()
			                                : NULL;
		return json_is_boolean(v) ? json_incref((json_t *)(uintptr_t)v) : NULL;
	case PARAMS_DATE:
		if (!text || !dtx_day_parse(dtx_str_of(text), &date))
			return NULL;
		return json_stringn(day, dtx_day_print(day, date));
	case PARAMS_DATETIME:
		if (!text || !dtx_datetime_parse(dtx_str_of(text), &whole, &zoned))
			return NULL;
		return json_stringn(time, dtx_datetime_print(time, whole));
	}
	return NULL;
}

/* The value as a literal. */
static void params_literal(const char *type, const json_t *value, struct dtx_buf *out)
{
	bool timed = !strcmp(type, "date") || !strcmp(type, "datetime");
	bool number = json_is_number(value) || !strcmp(type, "decimal");

	if (!timed && (number || json_is_boolean(value))) {
		/* in brackets, as a number may have a sign */
		dtx_buf_addc(out, '(');
		params_print(value, out);
		dtx_buf_addc(out, ')');
		return;
	}
	dtx_buf_add(out, timed ? "('" : "'");
	for (const char *p = json_string_value(value); p && *p; p++) {
		if (*p == '\'')
			dtx_buf_addc(out, '\'');
		dtx_buf_addc(out, *p);
	}
	dtx_buf_addc(out, '\'');
	if (timed)
		dtx_buf_printf(out, "::%s)", type);
}

/* --- declarations --- */

/* Reads a declaration. */
static enum dtx_code params_read(struct dtx_plan_parse *p, const char *name, const json_t *row,
                                 const char *at, struct params_row *args, struct dtx_err *err)
{
	size_t before = p->findings->n;
	enum dtx_code rc = DTX_OK;

	if (!*name || params_name(name) != strlen(name))
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE,
		         "the name of a parameter has letters, digits and _, got '%.60s'", name);
	if (!json_is_object(row))
		DTX_FAIL_NEXT(err, DTX_E_BAD_PARAM_TYPE,
		              "as in {\"type\": \"date\", \"default\": \"2026-01-01\"}",
		              "a parameter is an object");
	DTX_TRY(dtx_part_fill(p, params_rows, DTX_COUNT(params_rows), row, at, "", args, err));
	if (p->findings->n != before) {
		dtx_err_copy(err, &p->findings->item[before]);
		rc = err ? err->code : DTX_E_BAD_PARAM_VALUE;
	}
out:
	return rc;
}

/* Declares one parameter: {"type", "value"} in plan->params. One without a value is added to
 * `missing`. */
static enum dtx_code params_declare(struct dtx_plan_parse *p, const char *name, const json_t *row,
                                    const json_t *given, struct dtx_buf *missing,
                                    struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct params_row args = { 0 };
	struct dtx_str types = DTX_STR(PARAMS_TYPES), type = { "", 0 };
	enum dtx_code rc = DTX_OK;
	json_t *value = NULL;
	char at[128] = "/params";

	dtx_json_pointer_add(at, sizeof(at), name);
	DTX_TRY(params_read(p, name, row, at, &args, err));
	for (int i = 0; i <= args.type && dtx_str_next(&types, ',', &type); i++)
		;
	given = given ? given : args.def;
	if (!given) {
		dtx_buf_printf(missing, "%s'%s'", missing->len ? ", " : "", name);
		goto out;
	}
	value = params_value(args.type, given);
	params_print(given, &text);
	if (!value)
		DTX_FAIL_NEXT(err, DTX_E_BAD_PARAM_VALUE,
		              "--param NAME=VALUE gives another: 5, 0.25, true, 2026-01-31, "
		              "2026-01-31T09:30:00",
		              "the parameter '%s' must be of type %.*s, got '%.80s'", name,
		              (int)type.len, type.ptr, dtx_buf_text(&text));
	if (!dtx_json_set(p->plan->params, name,
	                  json_pack("{s:s%,s:O}", "type", type.ptr, type.len, "value", value)) ||
	    !dtx_json_set(p->plan->param_values, name, json_incref(value)))
		DTX_FAIL_MEM(err);
out:
	if (rc != DTX_OK && err && !err->at[0])
		dtx_err_at(err, at);
	dtx_buf_clear(&text);
	json_decref(value);
	return rc;
}

/* Refuses a given name that the plan does not declare. */
static enum dtx_code params_given(const json_t *declared, const json_t *given, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *names[64], *key, *name;
	size_t n = 0;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)declared, key, v) if (n < DTX_COUNT(names))
		names[n++] = key;
	json_object_foreach((json_t *)(uintptr_t)given, name, v)
	{
		if (json_object_get(declared, name))
			continue;
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "the plan has no parameter '%.60s'", name);
		dtx_err_suggest(err, name, names, n);
		dtx_err_hint(err, "%s",
		             n ? "\"params\" of the plan says which it has"
		               : "a plan declares them: \"params\": {\"month\": "
		                 "{\"type\": \"date\"}}");
		break;
	}
	return rc;
}

enum dtx_code dtx_part_params(struct dtx_plan_parse *p, const json_t *given, struct dtx_err *err)
{
	const json_t *declared = json_object_get(p->plan->json, "params");
	struct dtx_buf missing = DTX_BUF_INIT(300);
	enum dtx_code rc = DTX_OK;
	const char *name;
	json_t *row;

	if (declared && !json_is_null(declared) && !json_is_object(declared))
		DTX_FAIL_NEXT(err, DTX_E_BAD_PARAM_TYPE, "as in {\"month\": {\"type\": \"date\"}}",
		              "'params' is an object");
	DTX_TRY(params_given(declared, given, err));
	if (!json_object_size(declared))
		goto out;
	p->plan->params = json_object();
	p->plan->param_values = json_object();
	if (!p->plan->params || !p->plan->param_values)
		DTX_FAIL_MEM(err);
	json_object_foreach((json_t *)(uintptr_t)declared, name, row)
		DTX_TRY(params_declare(p, name, row, json_object_get(given, name), &missing, err));
	if (missing.len)
		DTX_FAIL_NEXT(err, DTX_E_MISSING_PARAM,
		              "give them with --param NAME=VALUE, or a \"default\" in the plan",
		              "the plan needs values of its parameters: %s",
		              dtx_buf_text(&missing));
out:
	if (rc != DTX_OK && rc != DTX_E_USAGE && err && !err->at[0])
		dtx_err_at(err, "/params");
	dtx_buf_clear(&missing);
	return rc;
}

/* --- texts --- */

static json_t *params_text(const json_t *params, const json_t *v)
{
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *text = json_string_value(v), *from = text, *end;
	json_t *made = NULL;

	for (const char *at = text; (at = strchr(at, '$')) != NULL; at++) {
		const json_t *row = params_at(params, at, &end);
		const json_t *value = json_object_get(row, "value");

		if (!row)
			continue;
		if (at == text && !*end) {
			dtx_buf_clear(&out);
			return json_incref((json_t *)(uintptr_t)value);
		}
		dtx_buf_addn(&out, from, (size_t)(at - from));
		params_print(value, &out);
		from = end;
		at = end - 1;
	}
	if (from == text) {
		dtx_buf_clear(&out);
		return json_incref((json_t *)(uintptr_t)v);
	}
	dtx_buf_add(&out, from);
	if (dtx_buf_ok(&out))
		made = json_stringn(out.ptr, out.len);
	dtx_buf_clear(&out);
	return made;
}

/* --- formulas --- */

/* Where a parameter was (from, to), and where its literal is. */
struct params_spot {
	int32_t was[2], is[2];
};
struct params_spots {
	struct params_spot *item;
	size_t n, cap;
};

/* Skips a text in quotes or a name in backticks, in which a dollar sign is one. */
static const char *params_quoted(const char *at)
{
	const char *end = strchr(at + 1, *at);

	return end ? end : at + strlen(at) - 1;
}

static enum dtx_code params_expand(struct dtx_arena *arena, const json_t *params, const char *text,
                                   struct dtx_buf *out, struct params_spots *spots,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *from = text, *end;

	for (const char *at = text; *at; at++) {
		const json_t *row = *at == '$' ? params_at(params, at, &end) : NULL;

		if (*at == '\'' || *at == '"' || *at == '`')
			at = params_quoted(at);
		if (!row)
			continue;
		if (!dtx_arena_reserve(arena, &spots->item, &spots->cap, spots->n + 1,
		                       sizeof(*spots->item)))
			DTX_FAIL_MEM(err);
		dtx_buf_addn(out, from, (size_t)(at - from));
		spots->item[spots->n] =
			(struct params_spot){ { (int32_t)(at - text), (int32_t)(end - text) },
			                      { (int32_t)out->len, 0 } };
		params_literal(json_string_value(json_object_get(row, "type")),
		               json_object_get(row, "value"), out);
		spots->item[spots->n++].is[1] = (int32_t)out->len;
		from = end;
		at = end - 1;
	}
	dtx_buf_add(out, from);
	DTX_TRY(dtx_buf_check(out, "a formula", err));
out:
	return rc;
}

/* The offset in the formula as written. */
static int32_t params_offset(const struct params_spots *spots, int32_t offset, bool end)
{
	int32_t shift = 0;

	for (size_t i = 0; i < spots->n; i++) {
		const struct params_spot *s = &spots->item[i];

		if (offset < s->is[0] || (offset == s->is[0] && end))
			break;
		if (offset < s->is[1] || (offset == s->is[1] && end))
			return s->was[end];
		shift = s->is[1] - s->was[1];
	}
	return offset - shift;
}

static void params_spans(const struct params_spots *spots, struct dtx_expr *e)
{
	e->span[0] = params_offset(spots, e->span[0], false);
	e->span[1] = params_offset(spots, e->span[1], true);
	for (uint32_t i = 0; i < e->nargs; i++)
		params_spans(spots, (struct dtx_expr *)(uintptr_t)e->arg[i]);
}

enum dtx_code dtx_params_formula(struct dtx_arena *arena, const json_t *params, struct dtx_str text,
                                 void *out, struct dtx_err *err)
{
	struct dtx_buf made = DTX_BUF_INIT(DTX_EXPR_BYTES + 1);
	struct params_spots spots = { NULL, 0, 0 };
	struct dtx_expr *e = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(params_expand(arena, params, text.ptr, &made, &spots, err));
	rc = dtx_expr_parse(arena, dtx_buf_str(&made), &e, err);
	if (rc != DTX_OK && err && err->span[0] >= 0) {
		err->span[0] = params_offset(&spots, err->span[0], false);
		err->span[1] = params_offset(&spots, err->span[1], true);
	}
	if (rc != DTX_OK)
		goto out;
	params_spans(&spots, e);
	memcpy(out, &e, sizeof(e));
out:
	dtx_buf_clear(&made);
	return rc;
}

/* --- values of the plan --- */

static json_t *params_formula_text(const json_t *params, const json_t *v)
{
	struct dtx_buf out = DTX_BUF_INIT(DTX_EXPR_BYTES + 1);
	struct params_spots spots = { NULL, 0, 0 };
	struct dtx_arena arena = DTX_ARENA_INIT;
	json_t *made = NULL;

	if (params_expand(&arena, params, json_string_value(v), &out, &spots, NULL) == DTX_OK)
		made = json_stringn(dtx_buf_text(&out), out.len);
	dtx_arena_clear(&arena);
	dtx_buf_clear(&out);
	return made;
}

/* The rules of an `expect`, which are as in the step assert. */
static json_t *params_rules(const json_t *params, const json_t *value)
{
	json_t *out, *v;
	const char *key;
	size_t i;

	if (json_is_string(value))
		return params_formula_text(params, value);
	out = json_is_object(value) ? json_object() : json_array();
	json_array_foreach((json_t *)(uintptr_t)value, i, v)
		json_array_append_new(out, params_rules(params, v));
	json_object_foreach((json_t *)(uintptr_t)value, key, v)
	{
		bool formula = false;

		for (i = 0; i < DTX_RULE_ROWS; i++)
			formula |= dtx_rule_rows[i].kind == DTX_P_EXPR &&
			           dtx_param_named(&dtx_rule_rows[i], key);
		json_object_set_new(out, key,
		                    formula && json_is_string(v) ? params_formula_text(params, v)
		                                                 : dtx_params_fill(params, v));
	}
	if (json_array_size(out) == json_array_size(value) &&
	    json_object_size(out) == json_object_size(value))
		return out;
	json_decref(out);
	return NULL;
}

static json_t *params_member(const json_t *params, const char *key, const json_t *v)
{
	return strcmp(key, "rules") ? dtx_params_fill(params, v) : params_rules(params, v);
}

json_t *dtx_params_fill(const json_t *params, const json_t *value)
{
	json_t *out, *v;
	const char *key;
	size_t i;

	if (json_is_string(value) && dtx_params_in(params, json_string_value(value)))
		return params_text(params, value);
	if (!json_is_object(value) && !json_is_array(value))
		return json_incref((json_t *)(uintptr_t)value);
	out = json_is_object(value) ? json_object() : json_array();
	if (json_is_object(value)) {
		json_object_foreach((json_t *)(uintptr_t)value, key, v)
			json_object_set_new(out, key, params_member(params, key, v));
	} else {
		json_array_foreach((json_t *)(uintptr_t)value, i, v)
			json_array_append_new(out, dtx_params_fill(params, v));
	}
	if (json_object_size(out) == json_object_size(value) &&
	    json_array_size(out) == json_array_size(value))
		return out;
	json_decref(out);
	return NULL;
}

enum dtx_code dtx_part_filled(struct dtx_plan_parse *p, const json_t *value, const json_t **out,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *made;

	*out = value;
	if (!value || !p->plan->params)
		goto out;
	made = dtx_params_fill(p->plan->params, value);
	if (!made || !dtx_part_keep(p->plan, made))
		DTX_FAIL_MEM(err);
	*out = made;
out:
	return rc;
}

/* --- what is left --- */

/* The parameter that a text somewhere in the value holds; NULL: none. */
static const char *params_held(const json_t *params, const json_t *value)
{
	const char *key, *text = json_string_value(value), *end, *found = NULL;
	json_t *v;
	size_t i;

	for (const char *at = text; at && (at = strchr(at, '$')) != NULL; at++)
		if (params_at(params, at, &end))
			return at;
	json_object_foreach((json_t *)(uintptr_t)value, key, v) if (!found) found =
		params_held(params, v);
	json_array_foreach((json_t *)(uintptr_t)value, i, v) if (!found) found =
		params_held(params, v);
	return found;
}

enum dtx_code dtx_part_params_left(struct dtx_plan_parse *p, struct dtx_err *err)
{
	const json_t *params = p->plan->params;
	enum dtx_code rc = DTX_OK;
	json_t *member;
	const char *key;

	json_object_foreach(p->plan->canonical, key, member)
	{
		const char *held = params ? params_held(params, member) : NULL;
		size_t n = held ? params_name(held + 1 + (held[1] == '{')) : 0;
		char at[128] = "";

		if (!held)
			continue;
		dtx_json_pointer_add(at, sizeof(at), key);
		DTX_TRY(dtx_part_fail(
			p, DTX_E_BAD_PARAM_VALUE, at, err,
			"the parameter '%.*s' stands in a place where it is not replaced", (int)n,
			held + 1 + (held[1] == '{')));
		dtx_part_advise(p, "in a formula it is written without quotes: month == $month");
	}
out:
	return rc;
}
