/* Prints one readable screen from a record: plain ASCII, labels in 12 columns.  A line that has
 * nothing to say is left out. */
#include "core/base/file.h"
#include "core/store/query/query.h"
#include "core/store/query/screen.h"

static const char *screen_output_label(const char *path)
{
	return strcmp(path, "-") ? dtx_file_basename(path) : "stdout";
}

static const char *screen_judged(const json_t *record, const char *path)
{
	const json_t *list = json_object_get(json_object_get(record, "run"), "judged");

	return dtx_json_text(dtx_json_find(list, "path", path), "output", NULL);
}

static void screen_outputs(const json_t *record, struct dtx_buf *out)
{
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(record, "outputs"), i, item)
	{
		const char *path = dtx_json_text(item, "path", "-");
		const char *judged = screen_judged(record, path);

		dtx_screen_label(out, screen_output_label(path));
		dtx_screen_shape(out, item);
		dtx_buf_add(out, "  ");
		dtx_screen_count(out, dtx_json_int(item, "bytes", 0), "byte", "bytes");
		dtx_screen_identity(out, dtx_json_text(item, "sha", NULL));
		dtx_screen_file(out, item);
		if (judged)
			dtx_buf_printf(out, "  output: %s", judged);
		dtx_buf_addc(out, '\n');
	}
}

/* The outputs of a run that was killed before they were recorded. */
static void screen_targets(const json_t *record, struct dtx_buf *out)
{
	const json_t *run = json_object_get(record, "run");
	json_t *item;
	size_t i;

	if (json_array_size(json_object_get(record, "outputs")))
		return;
	json_array_foreach(json_object_get(run, "judged"), i, item)
	{
		dtx_screen_label(out, screen_output_label(dtx_json_text(item, "path", "-")));
		dtx_buf_printf(out, "output: %s\n", dtx_json_text(item, "output", ""));
	}
}

/* A file that was moved, renamed or redirected is recognized by its bytes. */
static void screen_renamed(const json_t *record, const json_t *found, struct dtx_buf *out)
{
	const json_t *output = json_array_get(json_object_get(record, "outputs"),
	                                      (size_t)dtx_json_int(found, "output", 0));
	const char *asked = dtx_json_text(found, "asked", NULL);
	const char *label = screen_output_label(dtx_json_text(output, "path", "-"));

	if (!asked || !output || !strcmp(dtx_file_basename(asked), label))
		return;
	dtx_screen_label(out, "note");
	dtx_buf_add(out, asked);
	dtx_buf_add(out, " has the bytes of ");
	dtx_buf_add(out, label);
	dtx_buf_addc(out, '\n');
}

/* Whether the line of the file itself reports that the file is gone. */
static bool screen_gone(const json_t *record, const json_t *found)
{
	const json_t *output = json_array_get(json_object_get(record, "outputs"),
	                                      (size_t)dtx_json_int(found, "output", 0));

	return !strcmp(dtx_json_text(output, "file", ""), "gone");
}

/* For a file that belongs to the run but does not have the bytes that the run wrote: finds where it
 * is, or that it is a copy with the id of the run inside. */
static void screen_changed(const json_t *record, const json_t *found, struct dtx_buf *out)
{
	const json_t *output = json_array_get(json_object_get(record, "outputs"),
	                                      (size_t)dtx_json_int(found, "output", 0));
	const char *asked = dtx_json_text(found, "asked", NULL);
	const char *label = screen_output_label(dtx_json_text(output, "path", "-"));

	if (asked && strcmp(dtx_file_basename(asked), label) != 0) {
		dtx_screen_label(out, "note");
		dtx_buf_add(out, asked);
		dtx_buf_add(out, " names this run inside, but the file changed since\n");
	} else if (!screen_gone(record, found)) {
		dtx_screen_label(out, "note");
		dtx_buf_add(out, "the file changed since this run wrote it\n");
	}
}

static void screen_found(const json_t *record, struct dtx_buf *out)
{
	const json_t *found = json_object_get(record, "found");
	int64_t others = dtx_json_int(found, "others", 0);

	if (!dtx_json_bool(found, "file_changed", false))
		screen_renamed(record, found, out);
	else
		screen_changed(record, found, out);
	if (others > 0) {
		dtx_screen_label(out, "note");
		dtx_screen_count(out, others, "other run", "other runs");
		dtx_buf_add(out, " wrote it too; dtx provenance log lists them\n");
	}
}

static void screen_plan(const json_t *run, struct dtx_buf *out)
{
	const json_t *plan = json_object_get(run, "plan");
	const char *file = dtx_json_text(plan, "file", NULL);
	const char *name = dtx_json_text(plan, "name", NULL);
	const char *hash = dtx_json_text(run, "plan_hash", NULL);

	if (!file && !name && !hash)
		return;
	dtx_buf_printf(out, "  plan %s", file ? dtx_file_basename(file) : name ? name : "");
	if (hash)
		dtx_buf_printf(out, "%s%.8s", file || name ? " " : "", hash);
}

/* "with        month=2026-02-01": values of the plan's parameters. */
static void screen_params(const json_t *run, struct dtx_buf *out)
{
	const json_t *params = json_object_get(json_object_get(run, "plan"), "params");
	const char *name, *between = "";
	json_t *value;

	if (!json_object_size(params))
		return;
	dtx_screen_label(out, "with");
	json_object_foreach((json_t *)(uintptr_t)params, name, value)
	{
		const char *text = json_string_value(value);

		dtx_buf_printf(out, "%s%s=", between, name);
		if (text && !text[strcspn(text, " \t\n\"")])
			dtx_buf_add(out, text);
		else
			dtx_json_print(value, 0, out);
		between = "  ";
	}
	dtx_buf_addc(out, '\n');
}

static void screen_run(const json_t *record, struct dtx_buf *out)
{
	const json_t *run = json_object_get(record, "run");
	const char *code = dtx_json_text(run, "code", NULL);
	int64_t start = dtx_json_int(run, "start_us", 0), end = dtx_json_int(run, "end_us", 0);

	dtx_screen_label(out, "run");
	dtx_buf_printf(out, "%s  ", dtx_json_text(run, "short", ""));
	dtx_screen_time(out, start, true);
	dtx_buf_printf(out, "  %s", dtx_json_text(run, "status", ""));
	if (code)
		dtx_buf_printf(out, " %s (exit %d)", code, (int)dtx_json_int(run, "exit", 0));
	if (end)
		dtx_buf_printf(out, "  %.3f s", (double)(end - start) / 1e6);
	dtx_buf_printf(out, "  user %s", dtx_json_text(run, "user", ""));
	if (dtx_json_text(run, "user_env", NULL)) /* a name that anybody could have set */
		dtx_buf_printf(out, " ($USER %s)", dtx_json_text(run, "user_env", ""));
	screen_plan(run, out);
	dtx_buf_addc(out, '\n');
	screen_params(run, out);
}

static void screen_error(const json_t *record, struct dtx_buf *out)
{
	const json_t *run = json_object_get(record, "run");
	const char *message = dtx_json_text(run, "message", NULL);
	const char *at = dtx_json_text(run, "at", NULL);

	if (!message)
		return;
	dtx_screen_label(out, "error");
	dtx_buf_add(out, message);
	if (at && at[0])
		dtx_buf_printf(out, "  at %s", at);
	dtx_buf_addc(out, '\n');
}

/* --- how --- */

static int64_t screen_region_steps(const json_t *region)
{
	const json_t *steps = json_object_get(region, "steps");
	const json_t *first = json_array_get(steps, 0), *last = json_array_get(steps, 1);

	if (!json_is_integer(first) || !json_is_integer(last))
		return 0;
	return json_integer_value(last) - json_integer_value(first) + 1;
}

static void screen_region_place(const json_t *region, int64_t total, struct dtx_buf *out)
{
	const json_t *steps = json_object_get(region, "steps");
	int64_t n = screen_region_steps(region);
	int64_t first = n ? json_integer_value(json_array_get(steps, 0)) + 1 : 0;

	if (!n)
		dtx_buf_printf(out, " for %s", dtx_json_text(region, "pointer", ""));
	else if (n == 1)
		dtx_buf_printf(out, " for step %lld of %lld", (long long)first, (long long)total);
	else
		dtx_buf_printf(out, " for steps %lld to %lld of %lld", (long long)first,
		               (long long)(first + n - 1), (long long)total);
	if (dtx_json_text(region, "op", NULL))
		dtx_buf_printf(out, " \"%s\"", dtx_json_text(region, "op", ""));
}

static void screen_region_cache(const json_t *record, const json_t *region, struct dtx_buf *out)
{
	const json_t *cell = json_object_get(region, "cell");
	const char *rung = dtx_json_text(region, "rung", "none");
	const char *state = dtx_json_text(cell, "state", NULL);
	const char *by = dtx_json_text(cell, "state_by", NULL);

	dtx_screen_label(out, "");
	if (!strcmp(rung, "supplied"))
		dtx_buf_add(out, "given with --snippet");
	else if (!strcmp(rung, "recorded"))
		dtx_buf_add(out, "as recorded");
	else
		dtx_buf_printf(out, "cache %s", rung);
	if (state) {
		dtx_buf_printf(out, "; %s ", state);
		dtx_screen_time(out, dtx_json_int(cell, "state_us", 0), false);
		if (by)
			dtx_buf_printf(out, " by %s", by);
		dtx_buf_add(out, "; used ");
		dtx_screen_count(out, dtx_json_int(cell, "hits", 0), "time", "times");
		dtx_buf_add(out, " from the cache");
	}
	if (!json_array_size(json_object_get(record, "author")))
		dtx_buf_add(out, "; no model call in this run");
	dtx_buf_addc(out, '\n');
}

static void screen_how_typed(const json_t *record, int64_t total, struct dtx_buf *out)
{
	const json_t *run = json_object_get(record, "run");
	bool ok = !strcmp(dtx_json_text(run, "status", ""), "ok");

	dtx_screen_label(out, "how");
	if (!strcmp(dtx_json_text(run, "command", ""), "exec"))
		dtx_buf_add(out, "PROGRAM in the jail; no model\n");
	else if (ok && total)
		dtx_buf_printf(out, "TYPED  %lld of %lld steps; no Python, no model\n",
		               (long long)total, (long long)total);
	else
		dtx_buf_add(out, "TYPED  no Python, no model\n");
}

static void screen_how(const json_t *record, struct dtx_buf *out)
{
	const json_t *run = json_object_get(record, "run");
	const json_t *regions = json_object_get(record, "regions");
	int64_t total = dtx_json_int(json_object_get(run, "plan"), "steps", 0), typed = total;
	size_t n = json_array_size(regions), i;
	json_t *region;

	if (!n) {
		screen_how_typed(record, total, out);
		return;
	}
	json_array_foreach(regions, i, region) typed -= screen_region_steps(region);
	json_array_foreach(regions, i, region)
	{
		dtx_screen_label(out, i ? "" : "how");
		dtx_buf_printf(out, "SNIPPET %.8s", dtx_json_text(region, "cell_id", "needed"));
		screen_region_place(region, total, out);
		if (i + 1 == n && dtx_json_text(region, "cell_id", NULL))
			dtx_buf_printf(out, "; %lld step%s typed", (long long)typed,
			               typed == 1 ? "" : "s");
		dtx_buf_addc(out, '\n');
		screen_region_cache(record, region, out);
	}
}

static void screen_why(const json_t *record, struct dtx_buf *out)
{
	json_t *region;
	size_t i;

	json_array_foreach(json_object_get(record, "regions"), i, region)
	{
		dtx_screen_label(out, i ? "" : "why");
		dtx_buf_printf(out, "%s at %s\n", dtx_json_text(region, "code", ""),
		               dtx_json_text(region, "pointer", ""));
	}
}

/* --- from, rows --- */

static const char *screen_input_label(const json_t *input)
{
	const char *uri = dtx_json_text(input, "uri", "-");

	return dtx_json_text(input, "label", strcmp(uri, "-") ? dtx_file_basename(uri) : "stdin");
}

static void screen_from(const json_t *record, struct dtx_buf *out)
{
	const json_t *inputs = json_object_get(record, "inputs");
	size_t alias = 0, label = 0, i;
	json_t *item;

	json_array_foreach(inputs, i, item)
	{
		alias = DTX_MAX(alias, strlen(dtx_json_text(item, "alias", "")));
		label = DTX_MAX(label, strlen(screen_input_label(item)));
	}
	json_array_foreach(inputs, i, item)
	{
		const char *sha = dtx_json_text(item, "sha", NULL);
		const char *by = dtx_json_text(item, "sha_run", NULL);

		dtx_screen_label(out, i ? "" : "from");
		dtx_screen_pad(out, dtx_json_text(item, "alias", ""), alias);
		dtx_buf_add(out, "  ");
		dtx_screen_pad(out, screen_input_label(item), label);
		dtx_buf_add(out, "  ");
		dtx_screen_shape(out, item);
		dtx_screen_identity(out, sha);
		if (by)
			dtx_buf_printf(out, " computed in run %s", dtx_run_id_short(by));
		dtx_screen_file(out, item);
		dtx_buf_addc(out, '\n');
	}
}

/* Rows that were dropped or not matched, by reason: "(509 false, 3 null)". */
static void screen_counts(const json_t *step, struct dtx_buf *out)
{
	json_t *counts = json_object_get(json_object_get(step, "detail"), "counts"), *value;
	const char *key, *sep = " (";

	json_object_foreach(counts, key, value)
	{
		dtx_buf_add(out, sep);
		dtx_screen_number(out, json_integer_value(value));
		dtx_buf_printf(out, " %s", key);
		sep = ", ";
	}
	if (sep[0] == ',')
		dtx_buf_addc(out, ')');
}

static bool screen_is_by_snippet(const json_t *step)
{
	return dtx_json_bool(json_object_get(step, "detail"), "rescued", false);
}

static void screen_rows(const json_t *record, struct dtx_buf *out)
{
	const json_t *steps = json_object_get(record, "steps");
	json_t *step;
	size_t i;

	if (!json_array_size(steps))
		return;
	dtx_screen_label(out, "rows");
	json_array_foreach(steps, i, step)
	{
		bool snippet = screen_is_by_snippet(step);

		if (!i && json_is_integer(json_object_get(step, "rows_in")))
			dtx_screen_number(out, dtx_json_int(step, "rows_in", 0));
		if (snippet && screen_is_by_snippet(json_array_get(steps, i + 1)))
			continue; /* the last step of the region has the rows that came back */
		dtx_buf_printf(out, " > %s", snippet ? "snippet" : dtx_json_text(step, "op", "?"));
		if (json_is_integer(json_object_get(step, "rows_out"))) {
			dtx_buf_addc(out, ' ');
			dtx_screen_number(out, dtx_json_int(step, "rows_out", 0));
		}
		screen_counts(step, out);
	}
	dtx_buf_addc(out, '\n');
}

#define CALLS_SHOWN 20

/* The calls of a session up to this one, the last of them if there are many. */
static void screen_session(const json_t *record, struct dtx_buf *out)
{
	const json_t *session = json_object_get(record, "session");
	const json_t *calls = json_object_get(session, "calls"), *call;
	size_t n = json_array_size(calls), i = n > CALLS_SHOWN ? n - CALLS_SHOWN : 0;

	if (!session)
		return;
	dtx_screen_label(out, "session");
	dtx_buf_printf(out, "%s, call %lld", dtx_json_text(session, "name", ""),
	               (long long)dtx_json_int(session, "call", 0));
	if (n > CALLS_SHOWN)
		dtx_buf_printf(out, "; the last %d:", CALLS_SHOWN);
	dtx_buf_addc(out, '\n');
	for (; i < n; i++) {
		call = json_array_get(calls, i);
		dtx_screen_label(out, "");
		dtx_buf_printf(out, "%3lld  %s  %s\n", (long long)dtx_json_int(call, "call", 0),
		               dtx_json_text(call, "short", ""), dtx_json_text(call, "status", ""));
	}
}

void dtx_query_screen(const json_t *record, struct dtx_buf *out)
{
	static void (*const lines[])(const json_t *, struct dtx_buf *) = {
		screen_outputs,      screen_targets,       screen_found,        screen_run,
		screen_error,        screen_how,           screen_session,      screen_why,
		screen_from,         screen_rows,          dtx_screen_formulas, dtx_screen_checks,
		dtx_screen_warnings, dtx_screen_disclosed, dtx_screen_machine,  dtx_screen_more,
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(lines); i++)
		lines[i](record, out);
}
