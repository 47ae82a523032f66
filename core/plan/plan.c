/* A plan as a whole: from text to structs, its canonical form and its id. */
#include "core/plan/plan.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/text/synonyms.h"
#include "core/base/memory/mem.h"
#include "core/plan/parse/cols.h"
#include "core/plan/parse/plan_params.h"
#include "core/plan/plan_internal.h"

/* --- hooks of the parameter rows: expressions and selectors --- */

static enum dtx_code not_formula(const json_t *value, struct dtx_err *err)
{
	enum dtx_code rc =
		dtx_err_set(err, DTX_E_BAD_PARAM_TYPE, __FILE__, __LINE__, "a formula is a text");

	dtx_err_hint(err, json_is_array(value)
	                          ? "one text, joined with 'and': \"qty > 1 and region == 'North'\""
	                          : "as in \"qty > 1\", \"qty * price\", \"1\"");
	return rc;
}

static enum dtx_code expr_hook(void *arg, const json_t *value, const char *pointer, void *out,
                               struct dtx_err *err)
{
	const struct dtx_part_arg *a = arg;
	struct dtx_str text = { json_string_value(value), json_string_length(value) };
	enum dtx_code rc = DTX_OK;

	if (!json_is_string(value))
		rc = not_formula(value, err);
	if (rc != DTX_OK)
		goto out;
	if (dtx_params_in(a->params, text.ptr))
		DTX_TRY(dtx_params_formula(a->arena, a->params, text, out, err));
	else
		DTX_TRY(dtx_expr_parse(a->arena, text, out, err));
out:
	if (rc != DTX_OK)
		dtx_err_at(err, pointer);
	return rc;
}

static enum dtx_code columns_hook(void *arg, const json_t *value, const char *pointer,
                                  struct dtx_errlist *errs, void *out, struct dtx_err *err)
{
	const struct dtx_part_arg *a = arg;

	return dtx_cols_parse(a->arena, value, pointer, errs, out, err);
}

static enum dtx_code type_hook(void *arg, const char *text, const char **out, struct dtx_err *err)
{
	const struct dtx_part_arg *a = arg;
	struct dtx_buf name = DTX_BUF_INIT(64);
	struct dtx_typeref type;
	enum dtx_code rc = DTX_OK;

	*out = NULL;
	if (!dtx_type_parse(dtx_str_of(text), &type))
		goto out;
	dtx_type_print(type, &name);
	DTX_TRY(dtx_buf_check(&name, "type", err));
	*out = dtx_arena_strdup(a->arena, dtx_buf_text(&name));
	if (!*out)
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(&name);
	return rc;
}

static json_t *expr_json(const void *made)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *value = NULL;

	dtx_expr_print(made, &text);
	if (dtx_buf_ok(&text))
		value = json_stringn(text.len ? text.ptr : "", text.len);
	dtx_buf_clear(&text);
	return value;
}

static json_t *columns_json(const void *made)
{
	return dtx_cols_json(made);
}

static json_t *fill_hook(void *arg, const json_t *value)
{
	const struct dtx_part_arg *a = arg;

	return a && a->params ? dtx_params_fill(a->params, value)
	                      : json_incref((json_t *)(uintptr_t)value);
}

const struct dtx_param_hooks dtx_part_hooks_template = {
	.fill = fill_hook,
	.expr = expr_hook,
	.columns = columns_hook,
	.type = type_hook,
	.expr_json = expr_json,
	.columns_json = columns_json,
	.expr_hole = &dtx_expr_hole,
	.columns_hole = &dtx_cols_hole,
};

/* --- findings --- */

enum dtx_code dtx_part_found(struct dtx_plan_parse *p, struct dtx_err *f, const char *at,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	dtx_err_at(f, at);
	f->severity = dtx_err_severity(f, false);
	if (!dtx_errlist_take(p->findings, f))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_part_fail(struct dtx_plan_parse *p, enum dtx_code code, const char *at,
                            struct dtx_err *err, const char *fmt, ...)
{
	struct dtx_err f = DTX_ERR_INIT;
	char text[sizeof(f.msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	dtx_err_set(&f, code, __FILE__, __LINE__, "%s", text);
	return dtx_part_found(p, &f, at, err);
}

void dtx_part_advise(struct dtx_plan_parse *p, const char *hint)
{
	if (p->findings->n)
		dtx_err_hint(&p->findings->item[p->findings->n - 1], "%s", hint);
}

enum dtx_code dtx_part_lacks(struct dtx_plan_parse *p, const char *at, const char *op,
                             struct dtx_err *err)
{
	struct dtx_err f = DTX_ERR_INIT;

	dtx_err_set(&f, DTX_E_UNKNOWN_OP, __FILE__, __LINE__, "this build lacks the op '%s'", op);
	dtx_err_hint(&f, "only a snippet can do this step");
	return dtx_part_found(p, &f, at, err);
}

static void list_names(const char *const *name, size_t n, struct dtx_err *f)
{
	struct dtx_buf text = DTX_BUF_INIT((size_t)64 << 10);
	size_t i;

	for (i = 0; i < n; i++)
		dtx_buf_printf(&text, "%s%s", i ? ", " : "", name[i]);
	dtx_err_hint(f, "there are: %.200s", dtx_buf_text(&text));
	dtx_buf_clear(&text);
}

enum dtx_code dtx_part_unknown(struct dtx_plan_parse *p, enum dtx_code code, const char *at,
                               const char *what, const char *want, const char *const *have,
                               size_t nhave, struct dtx_err *err)
{
	struct dtx_err f = DTX_ERR_INIT;

	dtx_err_set(&f, code, __FILE__, __LINE__, "no %s '%s'", what, want);
	if (nhave)
		list_names(have, nhave, &f);
	if (!dtx_err_foreign(&f, code == DTX_E_UNKNOWN_PARAM ? "plan" : what, want, have, nhave))
		dtx_err_suggest(&f, want, have, nhave);
	return dtx_part_found(p, &f, at, err);
}

/* Adds unknown_op. A misspelt name of dtx is an error; any other name may be an op of another tool,
 * which a snippet can do. */
enum dtx_code dtx_part_unknown_op(struct dtx_plan_parse *p, const char *at, const char *want,
                                  struct dtx_err *err)
{
	struct dtx_err f = DTX_ERR_INIT;
	const char *have[512];
	size_t n = dtx_op_names(have, DTX_COUNT(have));

	dtx_err_set(&f, DTX_E_UNKNOWN_OP, __FILE__, __LINE__, "no op '%s'", want);
	if (!dtx_err_foreign(&f, "op", want, have, n) && !dtx_part_hint_function(want, &f)) {
		dtx_err_suggest(&f, want, have, n);
		for (size_t i = 0; !f.misnamed && dtx_ops[i]; i++)
			dtx_err_suggest_alias(&f, want, dtx_ops[i]->aliases, dtx_ops[i]->name);
	}
	if (f.misnamed && !f.hint[0])
		dtx_err_hint(&f, "if no operation of dtx is meant, \"snippet\": true in the step "
		                 "leaves it to a snippet");
	else if (!f.hint[0])
		dtx_err_hint(&f, "dtx ops lists the operations; this one only a snippet can do");
	return dtx_part_found(p, &f, at, err);
}

/* --- JSON helpers --- */

json_t *dtx_part_strip(const json_t *object)
{
	json_t *out = json_object(), *v;
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)object, key,
	                    v) if (out && !json_is_null(v) && strncmp(key, "x-", 2) != 0 &&
	                           json_object_set(out, key, v) != 0)
	{
		json_decref(out);
		out = NULL;
	}
	return out;
}

static json_t *strip_array(const json_t *list)
{
	json_t *out = json_array();

	for (size_t i = 0; out && i < json_array_size(list); i++)
		if (json_array_append_new(out, dtx_part_strip_deep(json_array_get(list, i))) != 0) {
			json_decref(out);
			out = NULL;
		}
	return out;
}

json_t *dtx_part_strip_deep(const json_t *value)
{
	json_t *out, *v;
	const char *key;

	if (json_is_array(value))
		return strip_array(value);
	if (!json_is_object(value))
		return json_deep_copy(value);
	out = json_object();
	json_object_foreach((json_t *)(uintptr_t)value, key,
	                    v) if (out && !json_is_null(v) && strncmp(key, "x-", 2) != 0 &&
	                           json_object_set_new(out, key, dtx_part_strip_deep(v)) != 0)
	{
		json_decref(out);
		out = NULL;
	}
	return out;
}

bool dtx_part_keep(struct dtx_plan *plan, json_t *value)
{
	return json_array_append_new(plan->kept, value) == 0;
}

/* --- top level --- */

static const char *const members[] = { "dtx",    "name",   "params",   "inputs",  "steps",
	                               "expect", "output", "fallback", "options", "limits" };

static enum dtx_code check_members(struct dtx_plan_parse *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *key;
	json_t *v;

	json_object_foreach(p->plan->json, key, v)
	{
		char at[128] = "";
		bool known = strncmp(key, "x-", 2) == 0 || !strcmp(key, "$schema");

		for (size_t i = 0; i < DTX_COUNT(members); i++)
			known |= strcmp(members[i], key) == 0;
		if (known)
			continue;
		dtx_json_pointer_add(at, sizeof(at), key);
		DTX_TRY(dtx_part_unknown(p, DTX_E_UNKNOWN_PARAM, at, "plan member", key, members,
		                         DTX_COUNT(members), err));
	}
out:
	return rc;
}

static const char *const fallback_names[] = { "step", "plan", "off" };

static enum dtx_code head(struct dtx_plan_parse *p, struct dtx_err *err)
{
	struct dtx_plan *plan = p->plan;
	const json_t *name = json_object_get(plan->json, "name");
	const json_t *fallback = json_object_get(plan->json, "fallback");
	const char *mode = json_string_value(fallback);
	enum dtx_code rc = DTX_OK;
	bool found = !fallback || json_is_null(fallback);

	if (name && json_is_string(name))
		plan->name = json_string_value(name);
	else if (name && !json_is_null(name))
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_TYPE, "/name", err, "'name' is a text"));
	for (int i = 0; mode && i < 3; i++)
		if (strcmp(fallback_names[i], mode) == 0) {
			plan->fallback = (enum dtx_fallback)i;
			found = true;
		}
	if (!found)
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_VALUE, "/fallback", err,
		                      "'fallback' is step, plan or off"));
	if (!found)
		dtx_part_advise(p, "\"step\" hands one step to a snippet, \"plan\" all of them, "
		                   "\"off\" none");
	if (!dtx_json_set(plan->canonical, "dtx", json_integer(DTX_PLAN_VERSION)) ||
	    !dtx_json_set(plan->canonical, "fallback", json_string(fallback_names[plan->fallback])))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_part_expect(struct dtx_plan_parse *p, const json_t *v, const char *at,
                              struct dtx_expect **expect, struct dtx_rules *rules,
                              struct dtx_err *err)
{
	struct dtx_param_hooks hooks = dtx_part_hooks_template;
	struct dtx_plan *plan = p->plan;
	enum dtx_code rc = DTX_OK;

	hooks.arg = &(struct dtx_part_arg){ &plan->arena, plan->params };
	DTX_TRY(dtx_expect_parse(v, at, &plan->arena, p->findings, expect, err));
	DTX_TRY(dtx_rules_expect(v, at, true, &hooks, plan->kept, &plan->arena, p->findings, rules,
	                         err));
out:
	return rc;
}

static enum dtx_code plan_expect(struct dtx_plan_parse *p, struct dtx_err *err)
{
	struct dtx_plan *plan = p->plan;
	const json_t *v = json_object_get(plan->json, "expect");
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_part_filled(p, v, &v, err));
	DTX_TRY(dtx_part_expect(p, v, "/expect", &plan->expect, &plan->rules, err));
	if (!json_is_object(v))
		goto out;
	plan->expect_json = v;
	if (!dtx_json_set(plan->canonical, "expect", dtx_part_strip_deep(v)))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code plan_id(struct dtx_plan *plan, struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_plan_canonical(plan, &text, err));
	memcpy(plan->id, "sha256:", 7);
	dtx_sha256_hex(text.ptr, text.len, plan->id + 7);
out:
	dtx_buf_clear(&text);
	return rc;
}

/* The error of a plan without steps; they may be written under another name. */
static enum dtx_code no_steps(const json_t *plan, struct dtx_err *err)
{
	static const char *const steps[] = { "steps" };
	enum dtx_code rc =
		dtx_err_set(err, DTX_E_EMPTY_PLAN, __FILE__, __LINE__, "the plan has no steps");
	const char *key;
	json_t *v;

	dtx_err_hint(err,
	             "\"steps\": [{\"op\": \"limit\", \"n\": 5}]; dtx ops lists the operations");
	json_object_foreach((json_t *)(uintptr_t)plan, key, v)
	{
		if (json_is_array(v) && dtx_err_foreign(err, "plan", key, steps, 1)) {
			dtx_err_hint(err, "the plan has '%.40s': write 'steps'", key);
			break;
		}
	}
	return rc;
}

/* Checks the shape without which nothing else can be checked. */
static enum dtx_code check_shape(struct dtx_plan_parse *p, json_t **json, bool may_be_empty,
                                 struct dtx_err *err)
{
	const json_t *version, *steps;
	enum dtx_code rc = DTX_OK;

	if (json_is_array(*json)) {
		json_t *wrapped = json_pack("{s:i,s:o}", "dtx", DTX_PLAN_VERSION, "steps", *json);

		*json = wrapped;
		if (!wrapped)
			DTX_FAIL_MEM(err);
		p->bare = true;
	}
	if (!json_is_object(*json))
		DTX_FAIL_NEXT(
			err, DTX_E_BAD_PARAM_TYPE,
			"for example {\"dtx\": 1, \"steps\": [{\"op\": \"limit\", \"n\": 5}]}",
			"a plan is a JSON object or an array of steps");
	version = json_object_get(*json, "dtx");
	if (!version || json_is_null(version)) {
		rc = dtx_err_set(err, DTX_E_PLAN_VERSION, __FILE__, __LINE__,
		                 "the plan has no version");
		dtx_err_hint(err,
		             json_object_get(*json, "op")
		                     ? "one step is not a plan: {\"dtx\": 1, \"steps\": [...]}, "
		                       "or a bare list of steps"
		                     : "add \"dtx\": 1");
		goto out;
	}
	if (!json_is_integer(version) || json_integer_value(version) != DTX_PLAN_VERSION) {
		rc = dtx_err_set(err, DTX_E_PLAN_VERSION, __FILE__, __LINE__,
		                 "'dtx' is the version of the plan, expected %d", DTX_PLAN_VERSION);
		dtx_err_hint(err, "write \"dtx\": %d, a number without quotes", DTX_PLAN_VERSION);
		goto out;
	}
	steps = json_object_get(*json, "steps");
	if (steps && !json_is_null(steps) && !json_is_array(steps)) {
		rc = dtx_err_set(err, DTX_E_BAD_PARAM_TYPE, __FILE__, __LINE__,
		                 "'steps' must be an array");
		dtx_err_hint(err, "one step stands in brackets, too: \"steps\": [{\"op\": ...}]");
		goto out;
	}
	if (json_array_size(steps) == 0 && !may_be_empty) {
		rc = no_steps(*json, err);
		goto out;
	}
	if (json_array_size(steps) > p->max_steps)
		DTX_FAIL(err, DTX_E_PLAN_TOO_LARGE, "a plan has at most %u steps, got %zu",
		         p->max_steps, json_array_size(steps));
out:
	if (rc != DTX_OK && rc != DTX_E_NO_MEMORY && !p->bare && json_is_object(*json))
		dtx_err_at(err, rc == DTX_E_PLAN_VERSION ? "/dtx" : "/steps");
	return rc;
}

static enum dtx_code fill_plan(struct dtx_plan_parse *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	p->plan->canonical = json_object();
	if (!p->plan->canonical)
		DTX_FAIL_MEM(err);
	DTX_TRY(check_members(p, err));
	DTX_TRY(head(p, err));
	DTX_TRY(dtx_part_params(p, p->given, err));
	DTX_TRY(dtx_part_inputs(p, err));
	DTX_TRY(dtx_part_options(p, err));
	DTX_TRY(dtx_part_outputs(p, err));
	DTX_TRY(plan_expect(p, err));
	DTX_TRY(dtx_part_steps(p, err));
	DTX_TRY(dtx_part_links(p, err));
	DTX_TRY(dtx_part_params_left(p, err));
	DTX_TRY(plan_id(p->plan, err));
out:
	return rc;
}

static enum dtx_code new_plan(struct dtx_str text, struct dtx_plan **out, struct dtx_err *err)
{
	struct dtx_plan *plan = dtx_mem_zalloc(1, sizeof(*plan));
	enum dtx_code rc = DTX_OK;
	char *copy;

	*out = plan;
	if (!plan)
		DTX_FAIL_MEM(err);
	plan->kept = json_array();
	copy = dtx_arena_strndup(&plan->arena, text.ptr, text.len);
	if (!copy || !plan->kept)
		DTX_FAIL_MEM(err);
	plan->source = (struct dtx_str){ copy, text.len };
	dtx_sha256_hex(text.ptr, text.len, plan->hash);
out:
	return rc;
}

static enum dtx_code parse(struct dtx_str text, struct dtx_plan_parse p, bool may_be_empty,
                           struct dtx_plan **out, struct dtx_err *err)
{
	struct dtx_json_limits limits = { 0, 0 };
	struct dtx_plan *plan = NULL;
	enum dtx_code rc = DTX_OK;

	*out = NULL;
	DTX_TRY(new_plan(text, &plan, err));
	p.plan = plan;
	DTX_TRY(dtx_json_parse(text, limits, &plan->json, err));
	DTX_TRY(check_shape(&p, &plan->json, may_be_empty, err));
	DTX_TRY(fill_plan(&p, err));
	*out = plan;
	plan = NULL;
out:
	dtx_plan_free(plan);
	return rc;
}

enum dtx_code dtx_plan_parse(struct dtx_str text, const char *dir, struct dtx_errlist *findings,
                             struct dtx_plan **out, struct dtx_err *err)
{
	return dtx_plan_parse_with(text, dir, NULL, findings, out, err);
}

enum dtx_code dtx_plan_parse_with(struct dtx_str text, const char *dir, const json_t *params,
                                  struct dtx_errlist *findings, struct dtx_plan **out,
                                  struct dtx_err *err)
{
	struct dtx_plan_parse p = {
		.findings = findings, .dir = dir, .max_steps = DTX_PLAN_STEPS, .given = params
	};

	return parse(text, p, false, out, err);
}

enum dtx_code dtx_plan_parse_made(struct dtx_str text, struct dtx_errlist *findings,
                                  struct dtx_plan **out, struct dtx_err *err)
{
	struct dtx_plan_parse p = { .findings = findings,
		                    .max_steps = DTX_PLAN_STEPS_MADE,
		                    .made = true };

	return parse(text, p, false, out, err);
}

enum dtx_code dtx_plan_empty(struct dtx_plan **out, struct dtx_err *err)
{
	struct dtx_errlist none = DTX_ERRLIST_INIT;
	struct dtx_plan_parse p = { .findings = &none, .max_steps = DTX_PLAN_STEPS };
	enum dtx_code rc = parse(DTX_STR("{\"dtx\":1,\"steps\":[]}"), p, true, out, err);

	dtx_errlist_clear(&none);
	return rc;
}

void dtx_plan_free(struct dtx_plan *p)
{
	if (!p)
		return;
	json_decref(p->kept);
	json_decref(p->params);
	json_decref(p->param_values);
	json_decref(p->canonical);
	json_decref(p->json);
	dtx_arena_clear(&p->arena);
	dtx_mem_free(p);
}

enum dtx_code dtx_plan_canonical(const struct dtx_plan *p, struct dtx_buf *out, struct dtx_err *err)
{
	dtx_json_canonical(p->canonical, out);
	return dtx_buf_check(out, "canonical plan", err);
}

json_t *dtx_plan_steps_json(const struct dtx_plan *p, uint32_t first, uint32_t count)
{
	json_t *list = json_array();

	for (uint32_t i = first; list && i < first + count; i++) {
		const struct dtx_plan_macro *m = p->step[i].macro;
		json_t *step;

		if (m && i != first && p->step[i].part)
			continue; /* the macro is there already */
		step = json_copy(m ? m->canonical : p->step[i].canonical);

		/* "snippet" says who does the work and not what the work is: a cached snippet must
		 * stay valid when the plan begins to say it. */
		json_object_del(step, "snippet");
		if (step && p->step[i].note &&
		    !dtx_json_set(step, "note", json_string(p->step[i].note))) {
			json_decref(step);
			step = NULL;
		}
		if (json_array_append_new(list, step) != 0) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

const char *dtx_plan_step_name(const struct dtx_plan_step *st)
{
	return st->macro ? st->macro->op->name : st->name;
}

void dtx_plan_span(const struct dtx_plan *p, uint32_t step, uint32_t *first, uint32_t *count)
{
	const struct dtx_plan_macro *m = p->step[step].macro;

	*first = m ? m->first : step;
	*count = m ? m->count : 1;
}

int32_t dtx_plan_step_number(const struct dtx_plan *p, int32_t step)
{
	return step >= 0 && (uint32_t)step < p->nsteps ? p->step[step].number + 1 : 0;
}

const char *dtx_plan_table_name(const struct dtx_plan *p, int32_t table, char buf[32])
{
	const struct dtx_plan_step *st;

	if (table < 0)
		return "?";
	if ((uint32_t)table < p->ninputs)
		return p->input[table].name;
	st = &p->step[(uint32_t)table - p->ninputs];
	if (st->out_name)
		return st->out_name;
	if (st->number < 0)
		return "?";
	snprintf(buf, 32, "step %d", (int)st->number + 1);
	return buf;
}
