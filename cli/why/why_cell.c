/* Parses which cell `why` was asked about. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/why/keycells.h"
#include "cli/why/why.h"

/* Parses an address such as "B7": column B, row 7 of the sheet. The first row is the header, unless
 * the result has none. */
static bool why_address(struct dtx_why *w, const char *text)
{
	const json_t *schema = json_object_get(dtx_why_replay_output(&w->x), "schema");
	const json_t *writer = json_object_get(dtx_why_replay_output(&w->x), "writer");
	int header = dtx_json_bool(writer, "header", true);
	int64_t column = 0;
	const char *p = text;
	char *end;

	for (; *p >= 'A' && *p <= 'Z' && p - text < 4; p++)
		column = column * 26 + (*p - 'A' + 1);
	w->row = *p >= '1' && *p <= '9' ? strtoll(p, &end, 10) - header : 0;
	if (!column || w->row < 1 || *end)
		return false;
	snprintf(w->column, sizeof(w->column), "%s",
	         dtx_json_text(json_array_get(schema, (size_t)column - 1), "name", ""));
	return w->column[0] != '\0';
}

enum dtx_code dtx_why_cell(struct dtx_why *w, int argc, char **argv, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_why_args *a = w->args;

	DTX_TRY(dtx_keycells(&a->key, json_object_get(dtx_why_replay_output(&w->x), "schema"),
	                     &w->key, err));
	if (argc > 1 && (a->row || a->col || w->key))
		DTX_FAIL(err, DTX_E_USAGE,
		         "the cell is given twice: '%s' and --row, --key or --col", argv[1]);
	if (a->row && w->key)
		DTX_FAIL(err, DTX_E_USAGE, "the row is given twice: --row and --key");
	if (argc > 1) {
		if (!why_address(w, argv[1]))
			DTX_FAIL(err, DTX_E_USAGE, "'%s' is no cell of this result", argv[1]);
		goto out;
	}
	if ((!a->row && !w->key) || !a->col)
		DTX_FAIL(
			err, DTX_E_USAGE,
			"which cell? give --row N --col NAME, --key COLUMN=TEXT --col NAME, or B7");
	w->row = a->row;
	snprintf(w->column, sizeof(w->column), "%s", a->col);
out:
	return rc;
}

/* Adds a hint to the error if another result of the run has this column: that one must be asked by
 * its own file. */
static void why_elsewhere(const struct dtx_why *w, const char *column, struct dtx_err *err)
{
	json_t *output;
	size_t i;

	json_array_foreach(json_object_get(w->x.record, "outputs"), i, output)
	{
		if (!dtx_json_find(json_object_get(output, "schema"), "name", column))
			continue;
		dtx_err_hint(err, "another result of the run has it: dtx why %s",
		             dtx_json_text(output, "path", "-"));
		return;
	}
}

static enum dtx_code why_column(const struct dtx_why *w, const char *column, struct dtx_err *err)
{
	const json_t *schema = json_object_get(dtx_why_replay_output(&w->x), "schema");
	const char *names[64];
	json_t *field;
	size_t i, n = 0;

	json_array_foreach(schema, i, field)
	{
		const char *name = dtx_json_text(field, "name", "");

		if (!strcmp(name, column))
			return DTX_OK;
		if (n < DTX_COUNT(names))
			names[n++] = name;
	}
	dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__, "the result has no column '%s'", column);
	dtx_err_suggest(err, column, names, n);
	why_elsewhere(w, column, err);
	return DTX_E_USAGE;
}

enum dtx_code dtx_why_columns_known(const struct dtx_why *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *name;
	json_t *value;

	DTX_TRY(why_column(w, w->column, err));
	json_object_foreach(w->key, name, value) DTX_TRY(why_column(w, name, err));
out:
	return rc;
}
