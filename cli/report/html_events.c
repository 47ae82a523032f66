/* Writes the events of the run for the report. */
#include "cli/report/html.h"

#include <stdlib.h>
#include <string.h>

#include "cli/report/codewords.h"
#include "core/base/file.h"

/* Writes the members of an event's body that are texts or numbers. */
static void html_event_body(const json_t *body, struct dtx_buf *out)
{
	const char *key, *sep = "";
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)body, key, value)
	{
		if ((!json_is_string(value) && !json_is_integer(value)) ||
		    (json_is_string(value) && !json_string_length(value)))
			continue;
		dtx_buf_add(out, sep);
		dtx_html_text(out, key);
		dtx_buf_addc(out, ' ');
		if (json_is_string(value))
			dtx_html_text(out, json_string_value(value));
		else
			dtx_buf_printf(out, "%lld", (long long)json_integer_value(value));
		sep = ", ";
	}
}

static void html_started(const json_t *record, struct dtx_buf *out)
{
	const json_t *run = json_object_get(record, "run"), *plan = json_object_get(run, "plan");
	const char *file = dtx_json_text(plan, "file", NULL);

	dtx_html_text(out, dtx_json_text(run, "command", "run"));
	if (file) {
		dtx_buf_add(out, " of ");
		dtx_html_text(out, dtx_file_basename(file));
	} else if (dtx_json_text(plan, "name", NULL)) {
		dtx_buf_add(out, " of ");
		dtx_html_text(out, dtx_json_text(plan, "name", ""));
	}
	if (dtx_json_int(plan, "steps", 0))
		dtx_buf_printf(out, ", steps: %lld", (long long)dtx_json_int(plan, "steps", 0));
}

static void html_written(const json_t *record, struct dtx_buf *out)
{
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(record, "outputs"), i, one)
	{
		const char *path = dtx_json_text(one, "path", "-");

		dtx_buf_add(out, i ? "; " : "");
		dtx_html_text(out, strcmp(path, "-") ? dtx_file_basename(path) : "stdout");
		dtx_buf_printf(out, ", rows: %lld", (long long)dtx_json_int(one, "rows", 0));
	}
}

/* Writes "failed: assert_failed, a rule of the plan does not hold, in step 2". */
void dtx_html_ended(const json_t *record, struct dtx_buf *out)
{
	const json_t *run = json_object_get(record, "run");
	const char *code = dtx_json_text(run, "code", NULL), *words = dtx_code_words(code);
	const char *at = dtx_json_text(run, "at", "");

	dtx_html_text(out, dtx_json_text(run, "status", "not recorded"));
	if (!code)
		return;
	dtx_buf_add(out, ": ");
	dtx_html_text(out, code);
	if (words)
		dtx_buf_printf(out, ", %s", words);
	if (!strncmp(at, "/steps/", 7))
		dtx_buf_printf(out, ", in step %ld", strtol(at + 7, NULL, 10) + 1);
}

/* Events whose facts are in other parts of the record. */
static const struct {
	const char *kind;
	void (*print)(const json_t *record, struct dtx_buf *out);
} html_own[] = {
	{ "run.start", html_started },
	{ "run.output", html_written },
	{ "run.end", dtx_html_ended },
};

static void html_event(const json_t *record, const json_t *event, struct dtx_buf *out)
{
	for (size_t i = 0; i < DTX_COUNT(html_own); i++) {
		if (!strcmp(dtx_json_text(event, "kind", ""), html_own[i].kind))
			html_own[i].print(record, out);
	}
	html_event_body(json_object_get(event, "body"), out);
}

void dtx_html_events(const json_t *record, struct dtx_buf *out)
{
	static const char *const head[] = { "event", "what", "number" };
	json_t *event;
	size_t i;

	dtx_html_table(out, NULL, head, DTX_COUNT(head));
	json_array_foreach(json_object_get(record, "events"), i, event)
	{
		dtx_buf_add(out, "<tr>");
		dtx_html_cell(out, dtx_json_text(event, "kind", ""));
		dtx_buf_add(out, "<td>");
		html_event(record, event, out);
		dtx_buf_add(out, "</td>");
		dtx_html_number(out, "td", dtx_json_int(event, "seq", 0));
		dtx_buf_add(out, "</tr>\n");
	}
	dtx_html_end(out);
}
