/* Replaces a step that finds several tables (op->prefix) by one step per table that is read later.
 * So binding, lineage and the record see each table as the result of an ordinary step. */
#include <stdio.h>
#include <string.h>

#include "core/plan/plan_internal.h"

#define SPLIT_TABLES_MAX 64

/* The number k of a text PREFIX_k; 0 if the text is not such a name. */
static unsigned number_of(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);
	unsigned k = 0;

	if (strncmp(text, prefix, n) != 0 || text[n] != '_' || text[n + 1] == '0')
		return 0;
	for (text += n + 1; *text; text++) {
		if (*text < '0' || *text > '9' || k > SPLIT_TABLES_MAX)
			return 0;
		k = k * 10 + (unsigned)(*text - '0');
	}
	return k;
}

/* Marks the tables that any text in v names. *most becomes the largest number among them. */
static void find_names(const json_t *v, const char *prefix, bool wanted[SPLIT_TABLES_MAX + 1],
                       unsigned *most)
{
	const char *key;
	unsigned k;
	json_t *item;
	size_t i;

	if (json_is_string(v)) {
		k = number_of(json_string_value(v), prefix);
		*most = k > *most ? k : *most;
		if (k && k <= SPLIT_TABLES_MAX)
			wanted[k] = true;
	}
	json_array_foreach((json_t *)(uintptr_t)v, i, item) find_names(item, prefix, wanted, most);
	json_object_foreach((json_t *)(uintptr_t)v, key, item)
		find_names(item, prefix, wanted, most);
}

/* The step that makes table k. k 0: the step as written, whose result is the input of the next
 * step. */
static json_t *one_table(const json_t *step, const struct dtx_op *op, const char *prefix,
                         unsigned k)
{
	json_t *o = json_deep_copy(step);
	char name[160];

	if (!o)
		return NULL;
	json_object_del(o, op->prefix);
	if (!k)
		return o;
	snprintf(name, sizeof(name), "%s_%u", prefix, k);
	if (dtx_json_set(o, "out", json_string(name)) && dtx_json_set(o, op->pick, json_integer(k)))
		return o;
	json_decref(o);
	return NULL;
}

/* The op of a step that finds several tables, and the prefix of their names; NULL if it is not such
 * a step. */
static const struct dtx_op *split_of(const json_t *step, const char **prefix)
{
	const char *name = json_string_value(json_object_get(step, "op"));
	const struct dtx_op *op = name ? dtx_op_find(name, NULL) : NULL;

	if (!op || !op->prefix || json_is_true(json_object_get(step, "snippet")))
		return NULL;
	*prefix = json_string_value(json_object_get(step, op->prefix));
	return *prefix ? op : NULL;
}

/* Marks the tables that are named after a step: in later steps, outputs and checks. */
static void find_later(const struct dtx_plan *plan, const json_t *steps, size_t at,
                       const char *prefix, bool wanted[SPLIT_TABLES_MAX + 1], unsigned *most)
{
	static const char *const members[] = { "output", "expect" };
	size_t i;

	for (i = at + 1; i < json_array_size(steps); i++)
		find_names(json_array_get(steps, i), prefix, wanted, most);
	for (i = 0; i < DTX_COUNT(members); i++)
		find_names(json_object_get(plan->json, members[i]), prefix, wanted, most);
}

enum dtx_code dtx_part_unfold(struct dtx_plan_parse *p, const json_t *steps, size_t at, json_t *out,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *step = json_array_get(steps, at);
	bool wanted[SPLIT_TABLES_MAX + 1] = { false };
	const struct dtx_op *op;
	unsigned most = 0, k;
	const char *prefix;
	char pointer[64];

	op = split_of(step, &prefix);
	if (!op) {
		if (json_array_append(out, step) != 0)
			DTX_FAIL_MEM(err);
		goto out;
	}
	snprintf(pointer, sizeof(pointer), p->bare ? "/%zu/%s" : "/steps/%zu/%s", at, op->prefix);
	if (!dtx_part_name_ok(prefix) || strlen(prefix) > 100)
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_VALUE, pointer, err,
		                      "a table name is letters, digits and _, got '%.100s'",
		                      prefix));
	find_later(p->plan, steps, at, prefix, wanted, &most);
	if (most > SPLIT_TABLES_MAX)
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_VALUE, pointer, err,
		                      "%s makes at most %d tables, '%s_%u' is wanted", op->name,
		                      SPLIT_TABLES_MAX, prefix, most));
	for (k = 1; k <= SPLIT_TABLES_MAX; k++) {
		if (wanted[k] && json_array_append_new(out, one_table(step, op, prefix, k)) != 0)
			DTX_FAIL_MEM(err);
	}
	if (json_array_append_new(out, one_table(step, op, prefix, 0)) != 0)
		DTX_FAIL_MEM(err);
out:
	return rc;
}
