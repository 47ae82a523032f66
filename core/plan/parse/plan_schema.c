/* Makes the JSON Schema (2020-12) of plans from the descriptors of ops. */
#include "core/plan/plan_internal.h"

static json_t *or_null(json_t *s)
{
	return s ? json_pack("{s:[o,{s:s}]}", "anyOf", s, "type", "null") : NULL;
}

static json_t *text_or_null(void)
{
	return json_pack("{s:[s,s]}", "type", "string", "null");
}

static json_t *bool_or_null(void)
{
	return json_pack("{s:[s,s]}", "type", "boolean", "null");
}

static json_t *choice_or_null(const char *a, const char *b)
{
	return json_pack("{s:[s,s,n]}", "enum", a, b);
}

static json_t *scalar(void)
{
	return json_pack("{s:[s,s,s,s]}", "type", "string", "number", "boolean", "null");
}

static json_t *expect_columns(void)
{
	json_t *props =
		json_pack("{s:{s:s},s:o,s:o,s:o,s:o,s:o,s:{s:[s,s],s:i,s:o},s:o}", "name", "type",
	                  "string", "type", text_or_null(), "nullable", bool_or_null(), "unique",
	                  bool_or_null(), "min", scalar(), "max", scalar(), "enum", "type", "array",
	                  "null", "minItems", 1, "items", scalar(), "matches", text_or_null());

	return json_pack("{s:[s,s],s:{s:s,s:o,s:[s],s:b}}", "type", "array", "null", "items",
	                 "type", "object", "properties", props, "required", "name",
	                 "additionalProperties", 0);
}

static json_t *count_or_null(void)
{
	return json_pack("{s:[s,s],s:i}", "type", "integer", "null", "minimum", 0);
}

static json_t *expect_rows(void)
{
	json_t *props = json_pack("{s:o,s:o,s:{s:[s,s,s],s:i}}", "min", count_or_null(), "max",
	                          count_or_null(), "equals", "type", "integer", "string", "null",
	                          "minimum", 0);

	return json_pack("{s:[s,s],s:o,s:b}", "type", "object", "null", "properties", props,
	                 "additionalProperties", 0);
}

static json_t *expect_rules(void)
{
	return json_pack("{s:[s,s],s:{s:s,s:o,s:[s],s:b}}", "type", "array", "null", "items",
	                 "type", "object", "properties",
	                 dtx_param_schema(dtx_rule_rows, DTX_RULE_ROWS), "required", "rule",
	                 "additionalProperties", 0);
}

static json_t *expect_sums(void)
{
	return json_pack("{s:[s,s],s:{s:s,s:{s:{s:s},s:{s:s},s:{s:[s,s]}},s:[s,s],s:b}}", "type",
	                 "array", "null", "items", "type", "object", "properties", "out", "type",
	                 "string", "in", "type", "string", "tolerance", "type", "number", "null",
	                 "required", "out", "in", "additionalProperties", 0);
}

static json_t *expect_schema(void)
{
	json_t *names = json_pack("{s:[s,s,s],s:{s:[s,s]}}", "type", "array", "string", "null",
	                          "items", "type", "string", "object");
	json_t *order = json_pack("{s:[s,s,s,s]}", "type", "array", "string", "object", "null");
	json_t *props =
		json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "columns", expect_columns(), "extra",
	                  choice_or_null("allow", "forbid"), "rows", expect_rows(), "keys", names,
	                  "order_by", order, "sums", expect_sums(), "rules", expect_rules());

	return json_pack("{s:[s,s],s:o,s:b}", "type", "object", "null", "properties", props,
	                 "additionalProperties", 0);
}

/* Lists the required members of a step: "op" and the required parameters. */
static json_t *required(const struct dtx_op *op)
{
	json_t *out = json_pack("[s]", "op");

	for (size_t i = 0; out && i < op->nparams; i++)
		if (op->params[i].required &&
		    json_array_append_new(out, json_string(op->params[i].name)) != 0) {
			json_decref(out);
			out = NULL;
		}
	return out;
}

/* The member that says that no snippet does the step. */
static json_t *no_snippet(void)
{
	return json_pack("{s:[b,n]}", "enum", 0);
}

/* The schema of one step. `op` is a constant, and only parameters and common members are
 * allowed. */
static json_t *step_schema(const struct dtx_op *op)
{
	json_t *props = dtx_param_schema(op->params, op->nparams);

	if (!props)
		return NULL;
	if (!dtx_json_set(props, "op", json_pack("{s:s}", "const", op->name)) ||
	    !dtx_json_set(props, "in", text_or_null()) ||
	    !dtx_json_set(props, "out", text_or_null()) ||
	    !dtx_json_set(props, "note", text_or_null()) ||
	    !dtx_json_set(props, "fallback", choice_or_null("step", "off")) ||
	    !dtx_json_set(props, "snippet", no_snippet()) ||
	    !dtx_json_set(props, "expect", expect_schema())) {
		json_decref(props);
		return NULL;
	}
	return json_pack("{s:s,s:s,s:o,s:o,s:b}", "description", op->summary, "type", "object",
	                 "properties", props, "required", required(op), "additionalProperties", 0);
}

/* The schema of a step that a snippet does: it may have any name and any members. */
static json_t *snippet_schema(void)
{
	return json_pack("{s:{s:{s:s},s:{s:b},s:o,s:o,s:o,s:{s:[s,n]},s:o}}", "properties", "op",
	                 "type", "string", "snippet", "const", 1, "in", text_or_null(), "out",
	                 text_or_null(), "note", text_or_null(), "fallback", "enum", "step",
	                 "expect", expect_schema());
}

/* {"if": op is NAME, "then": its schema}. With this form a validator points at the exact member
 * that is wrong. */
static json_t *branch(const struct dtx_op *op)
{
	return json_pack("{s:{s:{s:{s:s},s:o}},s:o}", "if", "properties", "op", "const", op->name,
	                 "snippet", no_snippet(), "then", step_schema(op));
}

static json_t *steps_schema(void)
{
	json_t *names = json_array(), *all = json_array();

	for (size_t i = 0; dtx_ops[i]; i++)
		if (json_array_append_new(names, json_string(dtx_ops[i]->name)) != 0 ||
		    json_array_append_new(all, branch(dtx_ops[i])) != 0) {
			json_decref(names);
			json_decref(all);
			return NULL;
		}
	return json_pack("{s:s,s:i,s:i,s:{s:s,s:[s],s:{s:{s:o}},s:{s:{s:{s:o}}},s:o,s:o}}", "type",
	                 "array", "minItems", 1, "maxItems", DTX_PLAN_STEPS, "items", "type",
	                 "object", "required", "op", "if", "properties", "snippet", no_snippet(),
	                 "then", "properties", "op", "enum", names, "else", snippet_schema(),
	                 "allOf", all);
}

static json_t *object_of(const char *member)
{
	return json_pack("{s:s,s:o,s:b}", "type", "object", "properties", dtx_part_schema(member),
	                 "additionalProperties", 0);
}

static json_t *input_schema(void)
{
	json_t *in = dtx_part_schema("inputs");

	if (!in || !dtx_json_set(in, "dialect", or_null(object_of("dialect"))) ||
	    !dtx_json_set(in, "archive", or_null(object_of("archive"))) ||
	    !dtx_json_set(in, "families", json_pack("{s:[s,s]}", "type", "array", "null"))) {
		json_decref(in);
		return NULL;
	}
	return json_pack("{s:s,s:o,s:[s],s:b}", "type", "object", "properties", in, "required",
	                 "name", "additionalProperties", 0);
}

/* Accepts one item or a list of them. */
static json_t *one_or_list(json_t *item)
{
	json_t *s = item ? json_pack("{s:[O,{s:s,s:O},{s:s}]}", "anyOf", item, "type", "array",
	                             "items", item, "type", "null")
	                 : NULL;

	json_decref(item);
	return s;
}

/* Parameters of the plan, by name. */
static json_t *params_schema(void)
{
	json_t *one =
		json_pack("{s:s,s:{s:{s:[s,s,s,s,s,s,s]},s:{},s:{s:[s,s]}},s:[s],s:b}", "type",
	                  "object", "properties", "type", "enum", "text", "int", "float", "decimal",
	                  "bool", "date", "datetime", "default", "help", "type", "string", "null",
	                  "required", "type", "additionalProperties", 0);

	return json_pack("{s:[s,s],s:o}", "type", "object", "null", "additionalProperties", one);
}

json_t *dtx_plan_schema(const char *name)
{
	const struct dtx_op *op = name ? dtx_op_find(name, NULL) : NULL;
	json_t *props;

	if (name)
		return op ? step_schema(op) : NULL;
	props = json_pack("{s:{s:i},s:{s:s},s:o,s:o,s:o,s:o,s:o,s:o,s:{s:[s,s,s,n]},s:o,s:o}",
	                  "dtx", "const", DTX_PLAN_VERSION, "$schema", "type", "string", "name",
	                  text_or_null(), "params", params_schema(), "inputs",
	                  one_or_list(input_schema()), "steps", steps_schema(), "expect",
	                  expect_schema(), "output", one_or_list(object_of("output")), "fallback",
	                  "enum", "step", "plan", "off", "options", or_null(object_of("options")),
	                  "limits", or_null(object_of("limits")));
	return dtx_part_schema_defs(json_pack("{s:s,s:s,s:s,s:s,s:o,s:[s,s],s:b}", "$schema",
	                                      "https://json-schema.org/draft/2020-12/schema", "$id",
	                                      "urn:dtx:schema:plan:1", "title", "dtx plan", "type",
	                                      "object", "properties", props, "required", "dtx",
	                                      "steps", "additionalProperties", 0));
}
