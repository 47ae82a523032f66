/* One step that makes several tables becomes one step per table that is read: then each table is
 * a step's result as any other, to binding, lineage and the record. */
#include <stdio.h>
#include <string.h>

#include "core/plan/plan_internal.h"

#define UNFOLD_TABLES 64

/* The k of prefix_k; 0: it is no such name. */
static unsigned number_of(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);
	unsigned k = 0;

	if (strncmp(text, prefix, n) != 0 || text[n] != '_' || text[n + 1] == '0')
		return 0;
	for (text += n + 1; *text; text++) {
		if (*text < '0' || *text > '9' || k > UNFOLD_TABLES)
			return 0;
		k = k * 10 + (unsigned)(*text - '0');
	}
	return k;
}

/* Marks the tables that a text anywhere in v names; *most: the largest number, wanted or not. */
static void seek(const json_t *v, const char *prefix, bool wanted[UNFOLD_TABLES + 1],
                 unsigned *most)
{
	const char *key;
	unsigned k;
	json_t *item;
	size_t i;

	if (json_is_string(v)) {
		k = number_of(json_string_value(v), prefix);
		*most = k > *most ? k : *most;
		if (k && k <= UNFOLD_TABLES)
			wanted[k] = true;
	}
	json_array_foreach((json_t *)(uintptr_t)v, i, item) seek(item, prefix, wanted, most);
	json_object_foreach((json_t *)(uintptr_t)v, key, item) seek(item, prefix, wanted, most);
}

/* The step that makes table k; without `out` (k 0) the one whose table goes on. */
static json_t *one_table(const json_t *step, const char *prefix, unsigned k)
{
	json_t *o = json_deep_copy(step);
	char name[160];

	if (!o)
		return NULL;
	json_object_del(o, "prefix");
	if (!k)
		return o;
	snprintf(name, sizeof(name), "%s_%u", prefix, k);
	if (dtx_json_set(o, "out", json_string(name)) && dtx_json_set(o, "pick", json_integer(k)))
		return o;
	json_decref(o);
	return NULL;
}

static bool makes_several(const json_t *step, const char **prefix)
{
	const char *op = json_string_value(json_object_get(step, "op"));

	*prefix = json_string_value(json_object_get(step, "prefix"));
	return op && strcmp(op, "split_tables") == 0 && *prefix &&
	       !json_is_true(json_object_get(step, "snippet"));
}

static void seek_behind(const struct dtx_plan *plan, const json_t *steps, size_t at,
                        const char *prefix, bool wanted[UNFOLD_TABLES + 1], unsigned *most)
{
	static const char *const members[] = { "output", "expect" };
	size_t i;

	for (i = at + 1; i < json_array_size(steps); i++)
		seek(json_array_get(steps, i), prefix, wanted, most);
	for (i = 0; i < DTX_COUNT(members); i++)
		seek(json_object_get(plan->json, members[i]), prefix, wanted, most);
}

enum dtx_code dtx_part_unfold(struct dtx_plan_parse *p, const json_t *steps, size_t at, json_t *out,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *step = json_array_get(steps, at);
	bool wanted[UNFOLD_TABLES + 1] = { false };
	unsigned most = 0, k;
	const char *prefix;
	char pointer[64];

	if (!makes_several(step, &prefix)) {
		if (json_array_append(out, step) != 0)
			DTX_FAIL_MEM(err);
		goto out;
	}
	snprintf(pointer, sizeof(pointer), p->bare ? "/%zu/prefix" : "/steps/%zu/prefix", at);
	if (!dtx_part_name_ok(prefix) || strlen(prefix) > 100)
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_VALUE, pointer, err,
		                      "a table name is letters, digits and _, got '%.100s'",
		                      prefix));
	seek_behind(p->plan, steps, at, prefix, wanted, &most);
	if (most > UNFOLD_TABLES)
		DTX_TRY(dtx_part_fail(p, DTX_E_BAD_PARAM_VALUE, pointer, err,
		                      "split_tables makes at most %d tables, '%s_%u' is wanted",
		                      UNFOLD_TABLES, prefix, most));
	for (k = 1; k <= UNFOLD_TABLES; k++) {
		if (wanted[k] && json_array_append_new(out, one_table(step, prefix, k)) != 0)
			DTX_FAIL_MEM(err);
	}
	if (json_array_append_new(out, one_table(step, prefix, 0)) != 0)
		DTX_FAIL_MEM(err);
out:
	return rc;
}
