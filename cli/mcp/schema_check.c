/* Checks arguments against the schema that the client was given, as far as those of the tools go.
 */
#include <string.h>

#include "cli/mcp/mcp.h"

struct check {
	char pointer[256];
	struct dtx_err *err;
};

static const char *type_name(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT: return "object";
	case JSON_ARRAY: return "array";
	case JSON_STRING: return "string";
	case JSON_INTEGER: return "integer";
	case JSON_REAL: return "number";
	case JSON_TRUE:
	case JSON_FALSE: return "boolean";
	default: return "null";
	}
}

static bool has_type(const json_t *type, const json_t *value)
{
	const char *got = type_name(value);
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)type, i, one) if (has_type(one, value)) return true;
	return json_is_string(type) &&
	       (!strcmp(json_string_value(type), got) ||
	        (!strcmp(json_string_value(type), "number") && json_is_integer(value)));
}

static void print_types(const json_t *type, struct dtx_buf *out)
{
	json_t *one;
	size_t i;

	if (json_is_string(type))
		dtx_buf_add(out, json_string_value(type));
	json_array_foreach((json_t *)(uintptr_t)type, i, one)
		dtx_buf_printf(out, "%s%s", i ? " or " : "", json_string_value(one));
}

static enum dtx_code check_value(struct check *c, const json_t *schema, const json_t *value);

static enum dtx_code check_object(struct check *c, const json_t *schema, const json_t *value)
{
	const json_t *known = json_object_get(schema, "properties");
	const json_t *other = json_object_get(schema, "additionalProperties");
	size_t length = strlen(c->pointer), i;
	enum dtx_code rc = DTX_OK;
	const char *name;
	json_t *item;

	json_array_foreach(json_object_get(schema, "required"), i,
	                   item) if (!json_object_get(value, json_string_value(item)))
		DTX_FAIL(c->err, DTX_E_USAGE, "argument '%s/%s' is missing", c->pointer,
	                 json_string_value(item));
	json_object_foreach((json_t *)(uintptr_t)value, name, item)
	{
		const json_t *one = json_object_get(known, name);

		if (!one && json_is_false(other))
			DTX_FAIL(c->err, DTX_E_USAGE, "there is no argument '%s/%.80s'", c->pointer,
			         name);
		one = one ? one : other;
		dtx_json_pointer_add(c->pointer, sizeof(c->pointer), name);
		if (json_is_object(one))
			DTX_TRY(check_value(c, one, item));
		c->pointer[length] = '\0';
	}
out:
	return rc;
}

static enum dtx_code check_bounds(struct check *c, const json_t *schema, const json_t *value)
{
	enum dtx_code rc = DTX_OK;
	const json_t *least = json_object_get(schema, "minimum");
	const json_t *most = json_object_get(schema, "maximum");
	int64_t longest = dtx_json_int(schema, "maxLength", INT64_MAX);
	int64_t items =
		dtx_json_int(schema, "maxItems", dtx_json_int(schema, "maxProperties", INT64_MAX));
	size_t n = json_is_object(value) ? json_object_size(value) : json_array_size(value);

	if (json_is_number(value) &&
	    ((least && json_number_value(value) < json_number_value(least)) ||
	     (most && json_number_value(value) > json_number_value(most))))
		DTX_FAIL(c->err, DTX_E_USAGE, "argument '%s' must be from %g to %g", c->pointer,
		         json_number_value(least), json_number_value(most));
	if (json_is_string(value) && (int64_t)json_string_length(value) > longest)
		DTX_FAIL(c->err, DTX_E_USAGE, "argument '%s' has more than %lld bytes", c->pointer,
		         (long long)longest);
	if ((int64_t)n > items)
		DTX_FAIL(c->err, DTX_E_USAGE, "argument '%s' has more than %lld items", c->pointer,
		         (long long)items);
out:
	return rc;
}

static enum dtx_code check_enum(struct check *c, const json_t *list, const json_t *value)
{
	struct dtx_buf text = DTX_BUF_INIT(4096);
	enum dtx_code rc = DTX_OK;
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)list, i, one)
	{
		if (json_equal(one, value))
			goto out;
		dtx_buf_printf(&text, "%s%s", i ? ", " : "", json_string_value(one));
	}
	if (list)
		DTX_FAIL(c->err, DTX_E_USAGE, "argument '%s' must be one of %s", c->pointer,
		         dtx_buf_text(&text));
out:
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code check_value(struct check *c, const json_t *schema, const json_t *value)
{
	struct dtx_buf types = DTX_BUF_INIT(256);
	const json_t *type = json_object_get(schema, "type");
	size_t length = strlen(c->pointer), i;
	enum dtx_code rc = DTX_OK;
	json_t *item;

	if (type && !has_type(type, value)) {
		print_types(type, &types);
		DTX_FAIL(c->err, DTX_E_USAGE, "argument '%s' must be %s, got %s", c->pointer,
		         dtx_buf_text(&types), type_name(value));
	}
	DTX_TRY(check_enum(c, json_object_get(schema, "enum"), value));
	DTX_TRY(check_bounds(c, schema, value));
	if (json_is_object(value))
		DTX_TRY(check_object(c, schema, value));
	json_array_foreach((json_t *)(uintptr_t)value, i, item)
	{
		const json_t *items = json_object_get(schema, "items");

		dtx_json_pointer_index(c->pointer, sizeof(c->pointer), i);
		if (items)
			DTX_TRY(check_value(c, items, item));
		c->pointer[length] = '\0';
	}
out:
	dtx_buf_clear(&types);
	return rc;
}

enum dtx_code dtx_mcp_schema_check(const json_t *schema, const json_t *value, struct dtx_err *err)
{
	struct check c = { "", err };

	return check_value(&c, schema, value);
}
