/* Parses and prints rows that are given by their cells, see keycells.h. */
#include "cli/why/keycells.h"

#include <string.h>

#include "cli/out.h"

static bool keycells_named(const json_t *schema, const char *name, size_t len)
{
	json_t *field;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)schema, i, field)
	{
		const char *known = dtx_json_text(field, "name", "");

		if (strlen(known) == len && !memcmp(known, name, len))
			return true;
	}
	return false;
}

/* The end of the cell at `text`: a comma before another "column=", or the end of the text. */
static const char *keycells_end(const char *text, const json_t *schema)
{
	const char *comma = text, *eq;

	while ((comma = strchr(comma, ',')) != NULL) {
		eq = strchr(++comma, '=');
		if (eq && keycells_named(schema, comma, (size_t)(eq - comma)))
			return comma - 1;
	}
	return text + strlen(text);
}

static enum dtx_code keycells_add(const char *text, const json_t *schema, json_t *cells,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *eq, *end;

	for (;; text = end + 1) {
		eq = strchr(text, '=');
		if (!eq || eq == text)
			DTX_FAIL(err, DTX_E_USAGE, "option '--key' takes COLUMN=TEXT, got '%s'",
			         text);
		end = keycells_end(eq, schema);
		if (json_object_setn_new(cells, text, (size_t)(eq - text),
		                         json_stringn(eq + 1, (size_t)(end - eq - 1))) < 0)
			DTX_FAIL_MEM(err);
		if (!*end)
			goto out;
	}
out:
	return rc;
}

enum dtx_code dtx_keycells(const struct dtx_optlist *given, const json_t *schema, json_t **cells,
                           struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *made = given->n ? json_object() : NULL;

	for (size_t i = 0; i < given->n; i++)
		DTX_TRY(keycells_add(given->item[i], schema, made, err));
	*cells = made;
	made = NULL;
out:
	json_decref(made);
	return rc;
}

void dtx_keycells_print(const json_t *cells, struct dtx_buf *out)
{
	const char *name, *sep = "";
	json_t *text;

	json_object_foreach((json_t *)(uintptr_t)cells, name, text)
	{
		dtx_buf_add(out, sep);
		dtx_out_safe(out, name, false);
		dtx_buf_add(out, " = ");
		dtx_out_safe(out, json_string_value(text), false);
		sep = ", ";
	}
}
