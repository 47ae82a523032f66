/* Makes the JSON Schema of plans for the output of a model.
 *
 * Such schemas must be simple: every member is required (optional ones may be null), nothing else
 * is allowed, there is no oneOf, and nesting is shallow. Aliases and short forms are left out, so
 * that there is one way to write a step. */
#include "core/plan/plan_internal.h"
#include "core/plan/bind/rules.h"

static json_t *strict_of(const struct dtx_param *p);

static json_t *object_of(json_t *props)
{
	json_t *names = json_array(), *value;
	const char *key;

	json_object_foreach(props, key, value)
	{
		if (json_array_append_new(names, json_string(key)) != 0) {
			json_decref(names);
			json_decref(props);
			return NULL;
		}
	}
	return json_pack("{s:s,s:o,s:o,s:b}", "type", "object", "properties", props, "required",
	                 names, "additionalProperties", 0);
}

static json_t *rows_of(const struct dtx_param *rows, size_t n)
{
	json_t *props = json_object();

	for (size_t i = 0; props && i < n; i++)
		if (!dtx_json_set(props, rows[i].name, strict_of(&rows[i]))) {
			json_decref(props);
			return NULL;
		}
	return props;
}

static json_t *list_of(json_t *item)
{
	return json_pack("{s:s,s:o}", "type", "array", "items", item);
}

static json_t *choices_of(const struct dtx_param *p)
{
	struct dtx_str rest = dtx_str_of(p->choices), word;
	json_t *words = json_array();

	while (words && dtx_str_next(&rest, ',', &word))
		if (json_array_append_new(words, json_stringn(word.ptr, word.len)) != 0) {
			json_decref(words);
			return NULL;
		}
	return json_pack("{s:s,s:o}", "type", "string", "enum", words);
}

static json_t *plain_of(const struct dtx_param *p)
{
	switch (p->kind) {
	case DTX_P_INT: return json_pack("{s:s}", "type", "integer");
	case DTX_P_NUMBER: return json_pack("{s:s}", "type", "number");
	case DTX_P_BOOL: return json_pack("{s:s}", "type", "boolean");
	case DTX_P_CHOICE: return choices_of(p);
	case DTX_P_VALUE: return json_pack("{s:[s,s,s]}", "type", "string", "number", "boolean");
	case DTX_P_VALUES:
		return list_of(json_pack("{s:[s,s,s]}", "type", "string", "number", "boolean"));
	case DTX_P_FRAME: return dtx_param_frame_schema(true);
	case DTX_P_SETS: return dtx_param_sets_schema();
	case DTX_P_LIST:
		if (p->rows)
			return list_of(object_of(rows_of(p->rows, p->nrows)));
		return list_of(json_pack("{s:s}", "type", "string"));
	case DTX_P_COLUMNS:
	case DTX_P_TEXTS: return list_of(json_pack("{s:s}", "type", "string"));
	default: return json_pack("{s:s}", "type", "string");
	}
}

static json_t *strict_of(const struct dtx_param *p)
{
	json_t *s = plain_of(p);

	if (!p->required)
		s = s ? json_pack("{s:[o,{s:s}]}", "anyOf", s, "type", "null") : NULL;
	if (s && p->help && !dtx_json_set(s, "description", json_string(p->help))) {
		json_decref(s);
		return NULL;
	}
	return s;
}

static json_t *nullable(const char *type)
{
	return json_pack("{s:[s,s]}", "type", type, "null");
}

static json_t *step_of(const struct dtx_op *op)
{
	json_t *props = rows_of(op->params, op->nparams);

	if (!props ||
	    !dtx_json_set(props, "op",
	                  json_pack("{s:s,s:s}", "type", "string", "const", op->name)) ||
	    !dtx_json_set(props, "in", nullable("string")) ||
	    !dtx_json_set(props, "out", nullable("string")) ||
	    !dtx_json_set(props, "note", nullable("string"))) {
		json_decref(props);
		return NULL;
	}
	return object_of(props);
}

/* A step that no op does. Its note says what the snippet should do. */
static json_t *snippet_step(void)
{
	return object_of(json_pack("{s:{s:s},s:o,s:o,s:{s:s},s:{s:s,s:b}}", "op", "type", "string",
	                           "in", nullable("string"), "out", nullable("string"), "note",
	                           "type", "string", "snippet", "type", "boolean", "const", 1));
}

static json_t *steps_of(void)
{
	json_t *any = json_array();

	for (size_t i = 0; any && dtx_ops[i]; i++)
		if (json_array_append_new(any, step_of(dtx_ops[i])) != 0) {
			json_decref(any);
			return NULL;
		}
	if (any && json_array_append_new(any, snippet_step()) != 0) {
		json_decref(any);
		return NULL;
	}
	return list_of(json_pack("{s:o}", "anyOf", any));
}

/* What a model must say about an input: the sheet and columns. The reader finds out the rest. */
static json_t *input_of(void)
{
	json_t *types =
		json_pack("{s:s,s:{s:s,s:{s:{s:s},s:{s:s},s:{s:[s,s]}},s:[s,s,s],s:b}}", "type",
	                  "array", "items", "type", "object", "properties", "name", "type",
	                  "string", "type", "type", "string", "format", "type", "string", "null",
	                  "required", "name", "type", "format", "additionalProperties", 0);

	return object_of(json_pack("{s:{s:s},s:o,s:{s:[s,s,s]},s:o,s:o,s:{s:s,s:{s:s}}}", "name",
	                           "type", "string", "path", nullable("string"), "sheet", "type",
	                           "string", "integer", "null", "range", nullable("string"),
	                           "types", types, "requires", "type", "array", "items", "type",
	                           "string"));
}

json_t *dtx_plan_schema_strict(const char *name)
{
	const struct dtx_op *op = name ? dtx_op_find(name, NULL) : NULL;
	json_t *props, *root;

	if (name)
		return op ? step_of(op) : NULL;
	props = json_pack("{s:{s:s,s:i},s:o,s:o,s:o}", "dtx", "type", "integer", "const",
	                  DTX_PLAN_VERSION, "name", nullable("string"), "inputs",
	                  list_of(input_of()), "steps", steps_of());
	root = object_of(props);
	if (root &&
	    dtx_json_set(root, "$schema",
	                 json_string("https://json-schema.org/draft/2020-12/schema")) &&
	    dtx_json_set(root, "title", json_string("dtx plan, strict")))
		return root;
	json_decref(root);
	return NULL;
}
