/* Finds the member as written for a place in the canonical form. The two differ by aliases, by
 * single values for lists, and by objects for lists. */
#include <stdio.h>
#include <stdlib.h>

#include "core/plan/plan_internal.h"

const char *dtx_part_written(const struct dtx_param *rows, size_t n, const json_t *object,
                             struct dtx_str token, const struct dtx_param **row)
{
	for (size_t i = 0; i < n; i++) {
		struct dtx_str rest, alias;
		const char *key;
		json_t *value;

		if (!dtx_str_is(token, rows[i].name))
			continue;
		if (row)
			*row = &rows[i];
		if (json_object_get(object, rows[i].name) || !rows[i].aliases)
			return rows[i].name;
		rest = dtx_str_of(rows[i].aliases);
		while (dtx_str_next(&rest, ',', &alias))
			json_object_foreach((json_t *)(uintptr_t)object, key,
			                    value) if (dtx_str_is(alias, key)) return key;
		return rows[i].name;
	}
	return NULL;
}

/* Continues at the member that was found last, if that is an earlier one. The formulas of a step
 * are looked up in order, and there may be thousands, so starting from the first each time would be
 * quadratic. */
static const char *nth_key(const json_t *object, size_t n, struct dtx_part_last *last,
                           const json_t **value)
{
	json_t *o = (json_t *)(uintptr_t)object;
	bool on = last && last->object == object && last->member && last->n <= n;
	void *it = on ? last->member : json_object_iter(o);

	for (size_t i = on ? last->n : 0; it && i < n; i++)
		it = json_object_iter_next(o, it);
	if (last)
		*last = (struct dtx_part_last){ object, it, n };
	*value = it ? json_object_iter_value(it) : NULL;
	return it ? json_object_iter_key(it) : NULL;
}

static bool is_index(struct dtx_str token)
{
	for (size_t i = 0; i < token.len; i++)
		if (token.ptr[i] < '0' || token.ptr[i] > '9')
			return false;
	return token.len > 0;
}

struct walk {
	const json_t *at;
	const struct dtx_param *rows;
	size_t nrows;
	struct dtx_part_last *last;
	bool stop;
};

static void step_index(struct walk *w, struct dtx_str token, char *out, size_t size)
{
	size_t i = strtoul(token.ptr, NULL, 10);
	const char *key;

	if (json_is_array(w->at)) {
		w->at = json_array_get(w->at, i);
		dtx_json_pointer_index(out, size, i);
	} else if (json_is_object(w->at)) {
		key = nth_key(w->at, i, w->last, &w->at);
		if (key)
			dtx_json_pointer_add(out, size, key);
		w->stop = true;
	} else {
		w->stop = true;
	}
}

static void step_name(struct walk *w, struct dtx_str token, char *out, size_t size)
{
	const struct dtx_param *row = NULL;
	const char *name;
	char raw[128];

	dtx_str_copy(raw, sizeof(raw), token);
	if (!json_is_object(w->at)) {
		w->stop = true;
		return;
	}
	name = dtx_part_written(w->rows, w->nrows, w->at, token, &row);
	dtx_json_pointer_add(out, size, name ? name : raw);
	w->at = json_object_get(w->at, name ? name : raw);
	w->rows = row ? row->rows : NULL;
	w->nrows = row ? row->nrows : 0;
	w->stop = !w->at;
}

/* The value at the end of the path; NULL: it is not written. */
static const json_t *walk(const json_t *object, const char *at, const struct dtx_param *rows,
                          size_t nrows, const char *sub, struct dtx_part_last *last, char *out,
                          size_t size)
{
	struct walk w = { .at = object, .rows = rows, .nrows = nrows, .last = last };
	struct dtx_str rest = { sub, sub ? strlen(sub) : 0 }, token;

	snprintf(out, size, "%s", at);
	if (rest.len && rest.ptr[0] == '/') {
		rest.ptr++;
		rest.len--;
	}
	while (rest.len && !w.stop && dtx_str_next(&rest, '/', &token)) {
		if (is_index(token))
			step_index(&w, token, out, size);
		else
			step_name(&w, token, out, size);
	}
	return w.at;
}

bool dtx_part_walk(const json_t *object, const char *at, const struct dtx_param *rows, size_t nrows,
                   const char *sub, char *out, size_t size)
{
	return walk(object, at, rows, nrows, sub, NULL, out, size) != NULL;
}

const json_t *dtx_part_value(const struct dtx_plan_step *step, const char *sub)
{
	char at[sizeof(((struct dtx_err *)0)->at)];

	if (!step->op || step->macro)
		return NULL;
	return walk(step->json, step->at, step->op->params, step->op->nparams, sub, NULL, at,
	            sizeof(at));
}

bool dtx_part_place(const struct dtx_plan_step *step, const char *sub, struct dtx_part_last *last,
                    char *out, size_t size)
{
	if (step->macro)
		return dtx_macro_place(step, sub, out, size);
	if (sub && dtx_part_alias_place(step, sub, out, size))
		return true;
	return walk(step->json, step->at, step->op ? step->op->params : NULL,
	            step->op ? step->op->nparams : 0, sub, last, out, size) != NULL;
}
