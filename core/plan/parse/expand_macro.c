/* Replaces a step whose op is a composition of core ops by the steps of its macro.
 *
 * A macro is the JSON text of steps with parameters. A text "$NAME" anywhere in it stands for the
 * parameter NAME of the written step; if the step does not have that parameter, the member is left
 * out. A macro step with "if": "$NAME" is used only if the parameter is given and neither
 * false nor an empty list; with a list of names, if that holds for one of them.
 *
 * A text "@NAME" is a table of the macro: "out": "@NAME" names a result, "in" and "with" of later
 * steps read it. As long as all steps have named theirs, a step without "in" reads the input of the
 * written step.
 *
 * Where core steps depend on the names or types of columns, op->compose completes them when they
 * are bound (dtx_macro_compose); which ops they have is decided here.
 *
 * Binding, execution, lineage and translations see the core steps. Errors, hints, explain and
 * prompts name the step as written (dtx_plan_step_name, dtx_macro_place). */
#include <stdio.h>
#include <string.h>

#include "core/plan/bind/across.h"
#include "core/plan/plan_internal.h"

/* The parameter name if a value of a macro is "$NAME"; NULL otherwise. */
static const char *param_of(const json_t *v)
{
	const char *text = json_string_value(v);

	return text && text[0] == '$' ? text + 1 : NULL;
}

/* Copies `v` with the parameters of the written step put in; a new reference. NULL if the step
 * lacks the parameter, or if memory ran out, which sets *failed. Tables of the macro get the number
 * of its first core step, since a plan may have the macro twice: no user can write such a name. */
static json_t *with_params(const json_t *v, const struct dtx_plan_macro *m, bool *failed)
{
	const char *name = param_of(v), *text = json_string_value(v), *key;
	json_t *made, *item, *value;
	size_t i;

	if (name) {
		value = json_object_get(m->canonical, name);
		made = value ? json_deep_copy(value) : NULL;
		*failed |= value && !made;
		return made;
	}
	made = json_is_object(v)        ? json_object()
	       : json_is_array(v)       ? json_array()
	       : text && text[0] == '@' ? json_sprintf("%s.%u", text, m->first)
	                                : json_deep_copy(v);
	*failed |= !made;
	json_array_foreach((json_t *)(uintptr_t)v, i, item)
	{
		value = with_params(item, m, failed);
		*failed |= value && json_array_append_new(made, value) != 0;
	}
	json_object_foreach((json_t *)(uintptr_t)v, key, item)
	{
		value = strcmp(key, "if") ? with_params(item, m, failed) : NULL;
		*failed |= value && json_object_set_new(made, key, value) != 0;
	}
	return made;
}

/* Whether a condition, "$NAME" or a list of these, holds. */
static bool holds(const json_t *condition, const json_t *written)
{
	const char *name = param_of(condition);
	const json_t *value = name ? json_object_get(written, name) : NULL, *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)condition, i, one)
	{
		if (holds(one, written))
			return true;
	}
	return value && !json_is_false(value) && !(json_is_array(value) && !json_array_size(value));
}

static bool is_wanted(const json_t *step, const json_t *written)
{
	const json_t *condition = json_object_get(step, "if");

	return !condition || holds(condition, written);
}

/* Whether core step m->count, which is made next, reads the input of the step as written. */
static bool reads_input(const struct dtx_plan_macro *m, const json_t *made)
{
	for (uint32_t i = 0; i < m->count; i++)
		if (!json_object_get(m->step[i], "out"))
			return false;
	return !json_object_get(made, "in");
}

/* Copies members that belong to the step as a whole: core steps that read its input get `in`, the
 * last one its result. */
static bool add_common(const struct dtx_plan_macro *m, json_t *made, bool last)
{
	const struct {
		const char *name;
		bool here;
	} common[] = {
		{ "in", reads_input(m, made) },
		{ "note", !m->count },
		{ "out", last },
		{ "expect", last },
		{ "fallback", true },
	};

	for (size_t i = 0; i < DTX_COUNT(common); i++) {
		json_t *v = json_object_get(m->json, common[i].name);

		if (v && common[i].here && json_object_set(made, common[i].name, v) != 0)
			return false;
	}
	return true;
}

size_t dtx_macro_most(const json_t *step)
{
	const char *name = json_string_value(json_object_get(step, "op"));
	const struct dtx_op *op = name ? dtx_op_find(name, NULL) : NULL;

	return op && op->macro ? DTX_MACRO_STEPS : 1;
}

enum dtx_code dtx_macro_expand(struct dtx_plan_parse *p, const struct dtx_plan_step *st,
                               struct dtx_plan_macro **out, struct dtx_err *err)
{
	struct dtx_plan_macro *m = dtx_arena_zalloc(&p->plan->arena, 1, sizeof(*m));
	json_t *text = json_loads(st->op->macro, 0, NULL), *step;
	size_t i, last = 0;
	bool failed = false;
	enum dtx_code rc = DTX_OK;

	if (!m || !text || !dtx_part_keep(p->plan, json_incref(text)))
		DTX_FAIL_MEM(err);
	*m = (struct dtx_plan_macro){ .op = st->op,
		                      .args = st->args,
		                      .json = st->json,
		                      .canonical = st->canonical,
		                      .first = (uint32_t)(st - p->plan->step) };
	json_array_foreach(text, i, step) if (is_wanted(step, st->canonical)) last = i;
	json_array_foreach(text, i, step)
	{
		json_t *made;

		if (!is_wanted(step, st->canonical))
			continue;
		DTX_ASSERT(m->count < DTX_MACRO_STEPS, err);
		made = with_params(step, m, &failed);
		if (!made || !dtx_part_keep(p->plan, made))
			DTX_FAIL_MEM(err);
		if (failed || !add_common(m, made, i == last))
			DTX_FAIL_MEM(err);
		m->text[m->count] = step;
		m->step[m->count++] = made;
	}
	*out = m;
out:
	json_decref(text);
	return rc;
}

/* Lets the op complete all core steps of a macro, from the table that the first of them reads.
 * After a finding none of them is known. */
static enum dtx_code complete(struct dtx_bind *b, struct dtx_plan *plan, struct dtx_plan_macro *m,
                              struct dtx_err *err)
{
	const struct dtx_plan_step written = { .op = m->op, .args = (void *)(uintptr_t)m->args };
	size_t before = b->nfindings;
	enum dtx_code rc = DTX_OK;
	void *args = b->args;

	for (uint32_t i = 0; i < m->count; i++) {
		m->made[i] = json_deep_copy(m->step[i]);
		if (!m->made[i] || !dtx_part_keep(plan, m->made[i]))
			DTX_FAIL_MEM(err);
	}
	m->composing = true;
	rc = dtx_across_open(b, &written, err);
	if (rc == DTX_OK)
		rc = m->op->compose(b, b->args, m->made, m->count, err);
	m->composing = false;
	b->written = b->args;
	/* The core step has parameters of its own, and its texts may be asked for although it is
	 * not known. */
	b->args = args;
	b->across_from = NULL;
	b->across_col = NULL;
	b->across_n = 0;
	for (uint32_t i = 0; b->nfindings > before && i < m->count; i++)
		json_object_clear(m->made[i]);
out:
	return rc;
}

enum dtx_code dtx_macro_compose(struct dtx_bind *b, struct dtx_plan *plan, struct dtx_plan_step *st,
                                bool *known, struct dtx_err *err)
{
	struct dtx_plan_macro *m = st->macro;
	enum dtx_code rc = DTX_OK;

	*known = true;
	if (!m || !m->op->compose)
		goto out;
	if (!st->part)
		DTX_TRY(complete(b, plan, m, err));
	*known = json_object_size(m->made[st->part]) > 0;
	b->unmade = !*known;
	if (*known)
		DTX_TRY(dtx_part_remake_step(plan, m->made[st->part], st, b->errs, err));
out:
	return rc;
}

bool dtx_macro_place(const struct dtx_plan_step *st, const char *sub, char *out, size_t size)
{
	const struct dtx_plan_macro *m = st->macro;
	const json_t *at = m->text[st->part];
	struct dtx_str rest = { sub, sub ? strlen(sub) : 0 }, token;
	char key[64], param[192];

	if (m->composing)
		return dtx_part_walk(m->json, st->at, m->op->params, m->op->nparams, sub, out,
		                     size);
	if (rest.len && rest.ptr[0] == '/') {
		rest.ptr++;
		rest.len--;
	}
	while (at && !param_of(at) && rest.len && dtx_str_next(&rest, '/', &token)) {
		dtx_str_copy(key, sizeof(key), token);
		at = json_is_array(at) ? json_array_get(at, strtoul(key, NULL, 10))
		                       : json_object_get(at, key);
	}
	if (!at || !param_of(at)) {
		snprintf(out, size, "%s", st->at);
		return false;
	}
	snprintf(param, sizeof(param), "/%s%s%.*s", param_of(at), rest.len ? "/" : "",
	         (int)rest.len, rest.ptr);
	return dtx_part_walk(m->json, st->at, m->op->params, m->op->nparams, param, out, size);
}
