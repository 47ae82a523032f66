/* Parses which row `why-not` was asked about. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/why/why_not.h"
#include "core/base/file.h"
#include "core/io/sheet/cellref.h"

/* Splits "input.csv!L5", "Q1!B7" or "L5" into the input, if it is named, and the line. */
static enum dtx_code why_not_address(const char *text, struct dtx_buf *input, int64_t *line,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *bang = strrchr(text, '!'), *cell = bang ? bang + 1 : text, *p = cell;
	char *end = NULL;

	while (isalpha((unsigned char)*p))
		p++;
	*line = isdigit((unsigned char)*p) ? strtoll(p, &end, 10) : 0;
	if (p == cell || *line < 1 || *end)
		DTX_FAIL(err, DTX_E_USAGE,
		         "'%s' is no place in an input: try input.csv!L12 or Q1!B7", text);
	if (bang)
		dtx_buf_adds(input, (struct dtx_str){ text, (size_t)(bang - text) });
	DTX_TRY(dtx_buf_check(input, "place", err));
out:
	return rc;
}

/* Whether the name is that of the input's sheet, with or without quotes, with or without the file's
 * name before it. */
static bool why_not_is_sheet(const json_t *input, const char *name)
{
	const char *sheet = dtx_json_text(json_object_get(input, "reader"), "sheet", NULL);
	const char *file = dtx_file_basename(dtx_json_text(input, "uri", ""));
	size_t len = strlen(file);
	struct dtx_buf quoted = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool is;

	if (!sheet)
		return false;
	if (!strncmp(name, file, len) && name[len] == '!')
		name += len + 1;
	dtx_sheet_name_print(sheet, &quoted);
	is = !strcmp(name, sheet) || !strcmp(name, dtx_buf_text(&quoted));
	dtx_buf_clear(&quoted);
	return is;
}

/* Whether the name is the input's alias, label ("book.xlsx!Q1"), file or sheet. */
static bool why_not_is(const json_t *input, const char *name)
{
	return !strcmp(dtx_json_text(input, "alias", ""), name) ||
	       !strcmp(dtx_json_text(input, "label", ""), name) ||
	       !strcmp(dtx_file_basename(dtx_json_text(input, "uri", "")),
	               dtx_file_basename(name)) ||
	       why_not_is_sheet(input, name);
}

static bool why_not_alias(struct dtx_why_not *w, const char *alias)
{
	for (uint32_t k = 0; alias && k < w->x.r.plan->ninputs; k++) {
		if (!strcmp(w->x.r.plan->input[k].name, alias)) {
			w->input = k;
			return true;
		}
	}
	return false;
}

static enum dtx_code why_not_input(struct dtx_why_not *w, const char *name, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *inputs = json_object_get(w->x.record, "inputs"), *one;
	const char *names[64], *alias = NULL;
	size_t i, n = 0;

	json_array_foreach((json_t *)(uintptr_t)inputs, i, one)
	{
		if (!alias && (!name || why_not_is(one, name)))
			alias = dtx_json_text(one, "alias", NULL);
		if (n < DTX_COUNT(names))
			names[n++] = dtx_json_text(one, "alias", "");
	}
	if (why_not_alias(w, alias))
		goto out;
	rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__, "the run has no input '%s'",
	                 name ? name : "");
	dtx_err_suggest(err, name ? name : "", names, n);
out:
	return rc;
}

enum dtx_code dtx_why_not_ask(struct dtx_why_not *w, int argc, char **argv, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_why_not_args *a = w->args;
	struct dtx_buf name = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	int ways = (argc > 1) + (a->row > 0) + (a->line > 0) + (a->key.n > 0);

	if (ways != 1)
		DTX_FAIL(err, DTX_E_USAGE,
		         ways ? "the row is given twice"
		              : "which row? give input.csv!L12, --row N, --line N or "
		                "--key COLUMN=TEXT");
	w->line = a->line;
	if (argc > 1)
		DTX_TRY(why_not_address(argv[1], &name, &w->line, err));
	if (name.len && a->input)
		DTX_FAIL(err, DTX_E_USAGE, "the input is given twice: '%s' and --input", argv[1]);
	DTX_TRY(why_not_input(w, name.len ? dtx_buf_text(&name) : a->input, err));
out:
	dtx_buf_clear(&name);
	return rc;
}
