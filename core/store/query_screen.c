/* One readable screen from a record.  Plain ASCII frame, labels 12 wide, a line is left out when
 * it has nothing to say. */
#include <stdio.h>
#include <time.h>

#include "core/base/file.h"
#include "core/base/num.h"
#include "core/store/query.h"

#define SCREEN_LABEL 12

/* --- words --- */

static void screen_label(struct dtx_buf *out, const char *label)
{
	size_t len = strlen(label);

	dtx_buf_add(out, label);
	do
		dtx_buf_addc(out, ' ');
	while (++len < SCREEN_LABEL);
}

static void screen_pad(struct dtx_buf *out, const char *text, size_t width)
{
	size_t len = strlen(text);

	dtx_buf_add(out, text);
	for (; len < width; len++)
		dtx_buf_addc(out, ' ');
}

static void screen_number(struct dtx_buf *out, int64_t n)
{
	char text[DTX_NUM_TEXT];

	dtx_num_print_grouped(text, n);
	dtx_buf_add(out, text);
}

static void screen_count(struct dtx_buf *out, int64_t n, const char *one, const char *many)
{
	screen_number(out, n);
	dtx_buf_printf(out, " %s", n == 1 ? one : many);
}

/* UTC: the day, and with `seconds` "2026-11-21 23:40:12Z". */
static void screen_time(struct dtx_buf *out, int64_t us, bool seconds)
{
	time_t when = (time_t)(us / 1000000);
	struct tm tm;

	if (!gmtime_r(&when, &tm))
		return;
	dtx_buf_printf(out, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
	if (seconds)
		dtx_buf_printf(out, " %02d:%02d:%02dZ", tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static void screen_hash(struct dtx_buf *out, const char *what, const char *hash)
{
	if (hash && hash[0])
		dtx_buf_printf(out, "  %s%.8s", what, hash);
}

static int64_t screen_columns(const json_t *item)
{
	int64_t n = dtx_json_int(item, "columns", -1);

	return n >= 0 ? n : (int64_t)json_array_size(json_object_get(item, "schema"));
}

static void screen_shape(struct dtx_buf *out, const json_t *item)
{
	int64_t columns = screen_columns(item);

	if (!json_is_integer(json_object_get(item, "rows")))
		return;
	screen_count(out, dtx_json_int(item, "rows", 0), "row", "rows");
	dtx_buf_add(out, " x ");
	screen_count(out, columns, "column", "columns");
}

static void screen_file(struct dtx_buf *out, const json_t *item)
{
	const char *file = dtx_json_text(item, "file", NULL);

	if (file)
		dtx_buf_printf(out, "  file %s", file);
}

static void screen_memory(struct dtx_buf *out, int64_t bytes)
{
	if (bytes >= 10000000)
		dtx_buf_printf(out, ", %lld MB", (long long)(bytes / 1000000));
	else if (bytes > 0)
		dtx_buf_printf(out, ", %.1f MB", (double)bytes / 1e6);
}

/* --- lines, from top to bottom --- */

static const char *screen_judged(const json_t *record, const char *path)
{
	const json_t *list = json_object_get(json_object_get(record, "run"), "judged");
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		if (!strcmp(dtx_json_text(item, "path", ""), path))
			return dtx_json_text(item, "output", NULL);
	}
	return NULL;
}

static void screen_outputs(const json_t *record, struct dtx_buf *out)
{
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(record, "outputs"), i, item) {
		const char *path = dtx_json_text(item, "path", "-");
		const char *judged = screen_judged(record, path);

		screen_label(out, strcmp(path, "-") ? dtx_file_basename(path) : "stdout");
		screen_shape(out, item);
		dtx_buf_add(out, "  ");
		screen_count(out, dtx_json_int(item, "bytes", 0), "byte", "bytes");
		screen_hash(out, "sha256 ", dtx_json_text(item, "sha", NULL));
		screen_file(out, item);
		if (judged)
			dtx_buf_printf(out, "  output: %s", judged);
		dtx_buf_addc(out, '\n');
	}
}

/* Outputs of a run that was killed before they were recorded. */
static void screen_targets(const json_t *record, struct dtx_buf *out)
{
	const json_t *run = json_object_get(record, "run");
	json_t *item;
	size_t i;

	if (json_array_size(json_object_get(record, "outputs")))
		return;
	json_array_foreach(json_object_get(run, "judged"), i, item) {
		screen_label(out, dtx_file_basename(dtx_json_text(item, "path", "")));
		dtx_buf_printf(out, "output: %s\n", dtx_json_text(item, "output", ""));
	}
}

static void screen_found(const json_t *record, struct dtx_buf *out)
{
	const json_t *found = json_object_get(record, "found");
	int64_t others = dtx_json_int(found, "others", 0);

	if (dtx_json_bool(found, "file_changed", false)) {
		screen_label(out, "note");
		dtx_buf_add(out, "the file changed since this run wrote it\n");
	}
	if (others > 0) {
		screen_label(out, "note");
		screen_count(out, others, "earlier run", "earlier runs");
		dtx_buf_add(out, " wrote it too; dtx provenance --log lists them\n");
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

static void screen_run(const json_t *record, struct dtx_buf *out)
{
	const json_t *run = json_object_get(record, "run");
	const char *code = dtx_json_text(run, "code", NULL);
	int64_t start = dtx_json_int(run, "start_us", 0), end = dtx_json_int(run, "end_us", 0);

	screen_label(out, "run");
	dtx_buf_printf(out, "%s  ", dtx_json_text(run, "short", ""));
	screen_time(out, start, true);
	dtx_buf_printf(out, "  %s", dtx_json_text(run, "status", ""));
	if (code)
		dtx_buf_printf(out, " %s (exit %d)", code, (int)dtx_json_int(run, "exit", 0));
	if (end)
		dtx_buf_printf(out, "  %.3f s", (double)(end - start) / 1e6);
	dtx_buf_printf(out, "  user %s", dtx_json_text(run, "user", ""));
	screen_plan(run, out);
	dtx_buf_addc(out, '\n');
}

static void screen_error(const json_t *record, struct dtx_buf *out)
{
	const json_t *run = json_object_get(record, "run");
	const char *message = dtx_json_text(run, "message", NULL);
	const char *at = dtx_json_text(run, "at", NULL);

	if (!message)
		return;
	screen_label(out, "error");
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

	screen_label(out, "");
	if (!strcmp(rung, "supplied"))
		dtx_buf_add(out, "given with --snippet");
	else
		dtx_buf_printf(out, "cache %s", rung);
	if (state) {
		dtx_buf_printf(out, "; %s ", state);
		screen_time(out, dtx_json_int(cell, "state_us", 0), false);
		if (by)
			dtx_buf_printf(out, " by %s", by);
		dtx_buf_add(out, "; used ");
		screen_count(out, dtx_json_int(cell, "hits", 0), "time", "times");
		dtx_buf_add(out, " from the cache");
	}
	if (!json_array_size(json_object_get(record, "author")))
		dtx_buf_add(out, "; no model call in this run");
	dtx_buf_addc(out, '\n');
}

static void screen_how_typed(const json_t *record, int64_t total, struct dtx_buf *out)
{
	bool ok = !strcmp(dtx_json_text(json_object_get(record, "run"), "status", ""), "ok");

	screen_label(out, "how");
	if (ok && total)
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
	json_array_foreach(regions, i, region)
		typed -= screen_region_steps(region);
	json_array_foreach(regions, i, region) {
		screen_label(out, i ? "" : "how");
		dtx_buf_printf(out, "SNIPPET %.8s", dtx_json_text(region, "cell_id", "none"));
		screen_region_place(region, total, out);
		if (i + 1 == n)
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

	json_array_foreach(json_object_get(record, "regions"), i, region) {
		screen_label(out, i ? "" : "why");
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

	json_array_foreach(inputs, i, item) {
		alias = DTX_MAX(alias, strlen(dtx_json_text(item, "alias", "")));
		label = DTX_MAX(label, strlen(screen_input_label(item)));
	}
	json_array_foreach(inputs, i, item) {
		const char *sha = dtx_json_text(item, "sha", NULL);
		bool weak = sha && strchr(sha, ':') != NULL;

		screen_label(out, i ? "" : "from");
		screen_pad(out, dtx_json_text(item, "alias", ""), alias);
		dtx_buf_add(out, "  ");
		screen_pad(out, screen_input_label(item), label);
		dtx_buf_add(out, "  ");
		screen_shape(out, item);
		screen_hash(out, weak ? "weak " : "sha256 ", sha);
		screen_file(out, item);
		dtx_buf_addc(out, '\n');
	}
}

/* Rows dropped and not matched, by reason: "(509 false, 3 null)". */
static void screen_counts(const json_t *step, struct dtx_buf *out)
{
	json_t *counts = json_object_get(json_object_get(step, "detail"), "counts"), *value;
	const char *key, *sep = " (";

	json_object_foreach(counts, key, value) {
		dtx_buf_add(out, sep);
		screen_number(out, json_integer_value(value));
		dtx_buf_printf(out, " %s", key);
		sep = ", ";
	}
	if (sep[0] == ',')
		dtx_buf_addc(out, ')');
}

static bool screen_is_rescued(const json_t *step)
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
	screen_label(out, "rows");
	json_array_foreach(steps, i, step) {
		bool snippet = screen_is_rescued(step);

		if (!i && json_is_integer(json_object_get(step, "rows_in")))
			screen_number(out, dtx_json_int(step, "rows_in", 0));
		if (snippet && screen_is_rescued(json_array_get(steps, i + 1)))
			continue; /* the region's last step has the rows that came back */
		dtx_buf_printf(out, " > %s", snippet ? "snippet" : dtx_json_text(step, "op", "?"));
		if (json_is_integer(json_object_get(step, "rows_out"))) {
			dtx_buf_addc(out, ' ');
			screen_number(out, dtx_json_int(step, "rows_out", 0));
		}
		screen_counts(step, out);
	}
	dtx_buf_addc(out, '\n');
}

/* --- formulas --- */

static bool screen_is_declared(const json_t *row)
{
	const char *klass = dtx_json_text(row, "class", "exact");

	return !strcmp(klass, "declared") || !strcmp(klass, "static") ||
	       !strcmp(klass, "observed") || !strcmp(klass, "recomputed");
}

/* A column has one row per source: the first speaks for it.  Columns passed on say nothing. */
static bool screen_is_formula(const json_t *list, size_t at)
{
	const json_t *row = json_array_get(list, at);
	const char *name = dtx_json_text(row, "out_col", ""), *formula;
	size_t i;

	formula = dtx_json_text(row, "formula", NULL);
	if (!formula || !strcmp(formula, name))
		return false;
	for (i = 0; i < at; i++) {
		const json_t *other = json_array_get(list, i);

		if (dtx_json_text(other, "formula", NULL) &&
		    dtx_json_int(other, "output", 0) == dtx_json_int(row, "output", 0) &&
		    !strcmp(dtx_json_text(other, "out_col", ""), name))
			return false;
	}
	return true;
}

static void screen_formula(const json_t *row, struct dtx_buf *out)
{
	const char *klass = dtx_json_text(row, "class", "exact");
	const char *formula = dtx_json_text(row, "formula", "");
	const char *composed = dtx_json_text(row, "composed", NULL);

	dtx_buf_printf(out, "%s = %s  [%s]\n", dtx_json_text(row, "out_col", ""), formula, klass);
	if (composed && strcmp(composed, formula)) {
		screen_label(out, "");
		dtx_buf_printf(out, "= %s\n", composed);
	}
}

/* Formulas of the snippets' columns on one line: declared by the code, or found in it. */
struct screen_declared {
	struct dtx_buf *out;
	const char *label;
	bool any;
};

static void screen_declare(struct screen_declared *d, const char *column, const char *formula,
			   const char *klass)
{
	if (!d->any)
		screen_label(d->out, d->label);
	dtx_buf_printf(d->out, "%s%s = %s [%s]", d->any ? "; " : "", column, formula, klass);
	d->any = true;
}

static void screen_cell_formulas(struct screen_declared *d, const json_t *record)
{
	json_t *region, *formula;
	const char *column;
	size_t i;

	json_array_foreach(json_object_get(record, "regions"), i, region) {
		json_t *cell = json_object_get(region, "cell");

		json_object_foreach(json_object_get(cell, "formulas"), column, formula) {
			if (json_is_string(formula))
				screen_declare(d, column, json_string_value(formula), "declared");
		}
	}
}

static void screen_formulas(const json_t *record, struct dtx_buf *out)
{
	const json_t *list = json_object_get(record, "lineage");
	struct screen_declared d = { out, "formula", false };
	json_t *row;
	size_t i;

	json_array_foreach(list, i, row) {
		if (screen_is_declared(row) || !screen_is_formula(list, i))
			continue;
		screen_label(out, d.label);
		screen_formula(row, out);
		d.label = "";
	}
	json_array_foreach(list, i, row) {
		if (screen_is_declared(row) && screen_is_formula(list, i))
			screen_declare(&d, dtx_json_text(row, "out_col", ""),
				       dtx_json_text(row, "formula", ""),
				       dtx_json_text(row, "class", ""));
	}
	screen_cell_formulas(&d, record);
	if (d.any)
		dtx_buf_addc(out, '\n');
}

/* --- checks, disclosure, machine --- */

enum screen_verdict { SCREEN_PASS, SCREEN_WARN, SCREEN_FAIL, SCREEN_SKIP };

static enum screen_verdict screen_verdict(const json_t *check)
{
	const char *status = dtx_json_text(check, "status", "skip");

	if (!strcmp(status, "pass"))
		return SCREEN_PASS;
	if (strcmp(status, "fail"))
		return SCREEN_SKIP;
	return strcmp(dtx_json_text(check, "severity", "error"), "warn") ? SCREEN_FAIL : SCREEN_WARN;
}

static void screen_check_names(const json_t *checks, enum screen_verdict verdict,
			       struct dtx_buf *out)
{
	const char *sep = " (";
	json_t *check;
	size_t i;

	json_array_foreach(checks, i, check) {
		const char *col = dtx_json_text(check, "col", NULL), *p;

		if (screen_verdict(check) != verdict)
			continue;
		dtx_buf_add(out, sep);
		if (col)
			dtx_buf_printf(out, "column %s ", col);
		for (p = dtx_json_text(check, "name", ""); *p; p++)
			dtx_buf_addc(out, *p == '_' ? ' ' : *p);
		sep = ", ";
	}
	if (sep[0] == ',')
		dtx_buf_addc(out, ')');
}

static void screen_checks(const json_t *record, struct dtx_buf *out)
{
	static const char *const word[] = { "pass", "warn", "fail" };
	const json_t *checks = json_object_get(record, "checks");
	int64_t count[4] = { 0, 0, 0, 0 };
	json_t *check;
	size_t i;

	if (!json_array_size(checks))
		return;
	json_array_foreach(checks, i, check)
		count[screen_verdict(check)]++;
	screen_label(out, "checks");
	for (i = 0; i < DTX_COUNT(word); i++) {
		dtx_buf_printf(out, "%s%lld %s", i ? ", " : "", (long long)count[i], word[i]);
		if (i)
			screen_check_names(checks, (enum screen_verdict)i, out);
	}
	dtx_buf_addc(out, '\n');
}

static void screen_disclosed(const json_t *record, struct dtx_buf *out)
{
	json_t *call;
	size_t i;

	screen_label(out, "disclosed");
	json_array_foreach(json_object_get(record, "author"), i, call) {
		if (!json_object_get(call, "cols_disclosed"))
			continue;
		screen_count(out, dtx_json_int(call, "cols_disclosed", 0), "column name",
			     "column names");
		dtx_buf_add(out, ", ");
		screen_count(out, dtx_json_int(call, "rows_disclosed", 0), "row", "rows");
		dtx_buf_addc(out, '\n');
		return;
	}
	dtx_buf_add(out, "nothing\n");
}

/* `report`: what dtx_jail_report_json wrote. */
static void screen_jail(const json_t *report, struct dtx_buf *out)
{
	const json_t *jail = json_object_get(report, "jail");
	const json_t *runtime = json_object_get(jail, "runtime");
	int64_t us = dtx_json_int(json_object_get(report, "timings_us"), "wall", 0);
	int64_t peak = dtx_json_int(json_object_get(report, "memory"), "peak_rss", 0);
	json_t *layer;
	size_t i;

	dtx_buf_printf(out, "; jail python %s pandas %s numpy %s",
		       dtx_json_text(runtime, "python", "?"), dtx_json_text(runtime, "pandas", "?"),
		       dtx_json_text(runtime, "numpy", "?"));
	json_array_foreach(json_object_get(jail, "layers"), i, layer)
		dtx_buf_printf(out, "%s%s", i ? " " : "; ", json_string_value(layer));
	if (us)
		dtx_buf_printf(out, "; %.3f s", (double)us / 1e6);
	screen_memory(out, peak);
}

static void screen_machine(const json_t *record, struct dtx_buf *out)
{
	const json_t *run = json_object_get(record, "run");
	const json_t *report = json_object_get(
		json_array_get(json_object_get(record, "regions"), 0), "jail");
	int64_t threads = dtx_json_int(run, "threads", 0), peak = dtx_json_int(run, "peak_bytes", 0);

	screen_label(out, "ran in");
	dtx_buf_printf(out, "dtx %s", dtx_json_text(json_object_get(record, "env"), "dtx", "?"));
	if (report)
		screen_jail(report, out);
	if (threads) {
		dtx_buf_add(out, report ? "; " : ", ");
		screen_count(out, threads, "thread", "threads");
	}
	screen_memory(out, peak);
	dtx_buf_addc(out, '\n');
}

static void screen_more(const json_t *record, struct dtx_buf *out)
{
	const json_t *run = json_object_get(record, "run");
	const json_t *region = json_array_get(json_object_get(record, "regions"), 0);
	const char *id = dtx_json_text(region, "cell_id", NULL);

	screen_label(out, "more");
	if (id)
		dtx_buf_printf(out, "dtx snippet show %.8s; ", id);
	dtx_buf_printf(out, "dtx provenance %s --json\n", dtx_json_text(run, "short", ""));
}

void dtx_query_screen(const json_t *record, struct dtx_buf *out)
{
	static void (*const lines[])(const json_t *, struct dtx_buf *) = {
		screen_outputs, screen_targets,	 screen_found,	 screen_run,	   screen_error,
		screen_how,	screen_why,	 screen_from,	 screen_rows,	   screen_formulas,
		screen_checks,	screen_disclosed, screen_machine, screen_more,
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(lines); i++)
		lines[i](record, out);
}
