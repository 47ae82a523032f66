/* Gives a snippet columns under the names that its code uses, see adapter.h. */
#include "core/fallback/adapter.h"

#include "core/base/memory/mem.h"

static const struct dtx_json_limits adapter_limits = { (size_t)1 << 20, 8 };

/* --- making an adapter --- */

static bool adapter_add(json_t *map, const char *need, const char *have)
{
	const char *key;
	json_t *value;

	json_object_foreach(map, key, value)
	{
		if (!strcmp(json_string_value(value), need))
			return dtx_json_set(map, key, json_string(have));
	}
	return dtx_json_set(map, need, json_string(have));
}

static enum dtx_code adapter_pairs(const char *const *rename, size_t n, json_t *map,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf need = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	size_t i;

	for (i = 0; i < n; i++) {
		const char *equals = strchr(rename[i], '=');

		if (!equals || equals == rename[i] || !equals[1])
			DTX_FAIL(err, DTX_E_USAGE, "option '--rename' takes NEED=HAVE, got '%s'",
			         rename[i]);
		dtx_buf_reset(&need);
		dtx_buf_addn(&need, rename[i], (size_t)(equals - rename[i]));
		if (!dtx_buf_ok(&need) || !adapter_add(map, dtx_buf_text(&need), equals + 1))
			DTX_FAIL_MEM(err);
	}
out:
	dtx_buf_clear(&need);
	return rc;
}

enum dtx_code dtx_adapter_make(const char *const *rename, size_t n, const char *old, char **out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *map = NULL;

	if (old)
		DTX_TRY(dtx_json_parse(dtx_str_of(old), adapter_limits, &map, err));
	else
		map = json_object();
	if (!map)
		DTX_FAIL_MEM(err);
	DTX_TRY(adapter_pairs(rename, n, map, err));
	dtx_json_canonical(map, &text);
	DTX_TRY(dtx_buf_check(&text, "adapter", err));
	*out = dtx_buf_steal(&text);
	if (!*out)
		DTX_FAIL_MEM(err);
out:
	json_decref(map);
	dtx_buf_clear(&text);
	return rc;
}

/* --- tables --- */

/* The name by which the code knows the column `have`. */
static const char *adapter_need(const json_t *adapter, const char *have)
{
	const char *need;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)adapter, need, value)
	{
		if (json_string_value(value) && !strcmp(json_string_value(value), have))
			return need;
	}
	return NULL;
}

static enum dtx_code adapter_schema(const json_t *adapter, const struct dtx_schema *s,
                                    struct dtx_arena *arena, struct dtx_schema *out, bool *changed,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_field *field = dtx_arena_alloc(arena, s->nfields + 1u, sizeof(*field));
	uint32_t i;

	if (!field)
		DTX_FAIL_MEM(err);
	for (i = 0; i < s->nfields; i++) {
		const char *need = adapter_need(adapter, s->field[i].name);

		field[i] = s->field[i];
		if (!need || !strcmp(need, s->field[i].name))
			continue;
		if (dtx_schema_find(s, need) >= 0)
			DTX_FAIL(err, DTX_E_NAME_COLLISION,
			         "'%s' cannot be used as '%s': there already is a column of that "
			         "name",
			         s->field[i].name, need);
		field[i].name = need;
		*changed = true;
	}
	*out = *s;
	out->index = NULL; /* it is an index of the old names */
	out->field = field;
out:
	return rc;
}

static enum dtx_code adapter_copy(struct dtx_table *t, const struct dtx_schema *s,
                                  struct dtx_table **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_table *made = NULL;
	struct dtx_batch *b;
	size_t i;

	DTX_TRY(dtx_table_new(s, &made, err));
	made->keep = dtx_owner_ref(t->keep);
	for (i = 0; i < t->nbatches; i++) {
		DTX_TRY(dtx_batch_copy(t->batch[i], &b, err));
		DTX_TRY(dtx_table_take(made, b, err));
	}
	*out = made;
	made = NULL;
out:
	dtx_table_unref(made);
	return rc;
}

enum dtx_code dtx_adapter_table(const json_t *adapter, struct dtx_table *t, struct dtx_table **out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_schema s;
	bool changed = false;

	if (adapter)
		DTX_TRY(adapter_schema(adapter, t->schema, &arena, &s, &changed, err));
	if (changed)
		DTX_TRY(adapter_copy(t, &s, out, err));
	else
		*out = dtx_table_ref(t);
out:
	dtx_arena_clear(&arena);
	return rc;
}

/* --- names --- */

enum dtx_code dtx_adapter_names(const json_t *adapter, const char *names, char **out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *list = NULL, *made = json_array(), *name;
	size_t i;

	*out = NULL;
	if (!names)
		goto out;
	DTX_TRY(dtx_json_parse(dtx_str_of(names), adapter_limits, &list, err));
	json_array_foreach(list, i, name)
	{
		json_t *have = json_object_get(adapter, json_string_value(name));

		if (json_array_append(made, have ? have : name) < 0)
			DTX_FAIL_MEM(err);
	}
	dtx_json_canonical(made, &text);
	DTX_TRY(dtx_buf_check(&text, "names", err));
	*out = dtx_buf_steal(&text);
	if (!*out)
		DTX_FAIL_MEM(err);
out:
	json_decref(list);
	json_decref(made);
	dtx_buf_clear(&text);
	return rc;
}
