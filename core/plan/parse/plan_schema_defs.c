/* Moves what a JSON Schema says several times to its "$defs", which makes that of plans a third as
 * large and lets a reader see that it is the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan/plan_internal.h"

#define DEFS_BYTES_MIN 120 /* shorter ones are said again */

struct defs {
	json_t *count; /* how often each text of a part occurs */
	json_t *name;  /* of the texts that were moved */
	json_t *defs;
	bool failed;
};

/* "properties" holds names of members and is not a schema itself. */
static bool defs_is_schema(const json_t *part, const char *key)
{
	return json_is_object(part) && strcmp(key, "properties") != 0;
}

static char *defs_text(const json_t *part)
{
	char *text = json_dumps(part, JSON_COMPACT);

	if (text && strlen(text) >= DEFS_BYTES_MIN)
		return text;
	free(text);
	return NULL;
}

static void defs_count(struct defs *d, const json_t *part, const char *key)
{
	char *text = defs_is_schema(part, key) ? defs_text(part) : NULL;
	const char *name;
	json_t *value;
	size_t i;

	if (text)
		d->failed |=
			json_object_set_new(d->count, text,
		                            json_integer(1 + json_integer_value(json_object_get(
								     d->count, text)))) != 0;
	free(text);
	json_object_foreach((json_t *)(uintptr_t)part, name, value) defs_count(d, value, name);
	json_array_foreach((json_t *)(uintptr_t)part, i, value) defs_count(d, value, "");
}

static json_t *defs_move(struct defs *d, const json_t *part, const char *key, bool top);

/* The part with its own parts moved: a new reference. */
static json_t *defs_inside(struct defs *d, const json_t *part)
{
	json_t *out, *value;
	const char *name;
	size_t i;

	if (!json_is_object(part) && !json_is_array(part))
		return json_incref((json_t *)(uintptr_t)part);
	out = json_is_object(part) ? json_object() : json_array();
	json_object_foreach((json_t *)(uintptr_t)part, name, value) d->failed |=
		json_object_set_new(out, name, defs_move(d, value, name, false)) != 0;
	json_array_foreach((json_t *)(uintptr_t)part, i, value) d->failed |=
		json_array_append_new(out, defs_move(d, value, "item", false)) != 0;
	return out;
}

/* The part, or a reference to it if it occurs more than once. */
static json_t *defs_move(struct defs *d, const json_t *part, const char *key, bool top)
{
	char *text = !top && defs_is_schema(part, key) ? defs_text(part) : NULL;
	const char *name = text ? json_string_value(json_object_get(d->name, text)) : NULL;
	json_t *out = NULL;
	char made[80];

	if (!text || json_integer_value(json_object_get(d->count, text)) < 2) {
		free(text);
		return defs_inside(d, part);
	}
	if (!name) {
		snprintf(made, sizeof(made), "%.60s_%zu", key, json_object_size(d->name) + 1);
		name = made;
		d->failed |= json_object_set_new(d->name, text, json_string(made)) != 0;
		d->failed |= json_object_set_new(d->defs, made, defs_inside(d, part)) != 0;
	}
	out = json_pack("{s:s+}", "$ref", "#/$defs/", name);
	free(text);
	return out;
}

json_t *dtx_part_schema_defs(json_t *schema)
{
	struct defs d = { json_object(), json_object(), json_object(), false };
	json_t *out;

	defs_count(&d, schema, "properties");
	out = defs_move(&d, schema, "", true);
	d.failed |= !out || !dtx_json_set(out, "$defs", json_incref(d.defs));
	json_decref(d.count);
	json_decref(d.name);
	json_decref(d.defs);
	json_decref(schema);
	if (!d.failed)
		return out;
	json_decref(out);
	return NULL;
}
