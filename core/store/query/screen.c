/* Texts and the lower lines of the provenance screen. */
#include "core/store/query/screen.h"

#include <time.h>

#include "core/base/hash/identity.h"
#include "core/base/text/num.h"

#define SCREEN_LABEL 12

void dtx_screen_label(struct dtx_buf *out, const char *label)
{
	size_t len = strlen(label);

	dtx_buf_add(out, label);
	do
		dtx_buf_addc(out, ' ');
	while (++len < SCREEN_LABEL);
}

void dtx_screen_pad(struct dtx_buf *out, const char *text, size_t width)
{
	size_t len = strlen(text);

	dtx_buf_add(out, text);
	for (; len < width; len++)
		dtx_buf_addc(out, ' ');
}

void dtx_screen_number(struct dtx_buf *out, int64_t n)
{
	char text[DTX_NUM_TEXT];

	dtx_num_print_grouped(text, n);
	dtx_buf_add(out, text);
}

void dtx_screen_count(struct dtx_buf *out, int64_t n, const char *one, const char *many)
{
	dtx_screen_number(out, n);
	dtx_buf_printf(out, " %s", n == 1 ? one : many);
}

void dtx_screen_time(struct dtx_buf *out, int64_t us, bool seconds)
{
	time_t when = (time_t)(us / 1000000);
	struct tm tm;

	if (!gmtime_r(&when, &tm))
		return;
	dtx_buf_printf(out, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
	if (seconds)
		dtx_buf_printf(out, " %02d:%02d:%02dZ", tm.tm_hour, tm.tm_min, tm.tm_sec);
}

void dtx_screen_identity(struct dtx_buf *out, const char *text)
{
	if (text && text[0])
		dtx_buf_printf(out, "  %s %.8s", dtx_identity_word(text),
		               dtx_identity_digits(text));
}

static int64_t screen_columns(const json_t *item)
{
	int64_t n = dtx_json_int(item, "columns", -1);

	return n >= 0 ? n : (int64_t)json_array_size(json_object_get(item, "schema"));
}

void dtx_screen_shape(struct dtx_buf *out, const json_t *item)
{
	int64_t columns = screen_columns(item);

	if (!json_is_integer(json_object_get(item, "rows")) ||
	    (!columns && !json_is_array(json_object_get(item, "schema"))))
		return; /* a failed run may have ended before it knew */
	dtx_screen_count(out, dtx_json_int(item, "rows", 0), "row", "rows");
	dtx_buf_add(out, " x ");
	dtx_screen_count(out, columns, "column", "columns");
}

void dtx_screen_file(struct dtx_buf *out, const json_t *item)
{
	const char *file = dtx_json_text(item, "file", NULL);

	if (file)
		dtx_buf_printf(out, "  file %s", file);
	if (dtx_json_text(item, "snapshot", NULL))
		dtx_buf_add(out, ", bytes kept");
	if (dtx_json_text(item, "lineage", NULL))
		dtx_buf_printf(out, ", lineage %s", dtx_json_text(item, "lineage", ""));
}

void dtx_screen_memory(struct dtx_buf *out, int64_t bytes)
{
	if (bytes > 0)
		dtx_buf_printf(out, ", %lld MB", (long long)((bytes + 999999) / 1000000));
}

/* --- formulas --- */

static bool screen_is_declared(const json_t *row)
{
	const char *klass = dtx_json_text(row, "class", "exact");

	return !strcmp(klass, "declared") || !strcmp(klass, "static") ||
	       !strcmp(klass, "recomputed");
}

/* A column has one row per source; the first one is printed.  Columns that are passed on unchanged
 * are not. */
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
		dtx_screen_label(out, "");
		dtx_buf_printf(out, "= %s\n", composed);
	}
}

/* The formulas of columns that snippets made, on one line: declared by the code, or found in it. */
struct screen_declared {
	struct dtx_buf *out;
	const char *label;
	bool any;
};

static void screen_declare(struct screen_declared *d, const char *column, const char *formula,
                           const char *klass)
{
	if (!d->any)
		dtx_screen_label(d->out, d->label);
	dtx_buf_printf(d->out, "%s%s = %s [%s]", d->any ? "; " : "", column, formula, klass);
	d->any = true;
}

static void screen_cell_formulas(struct screen_declared *d, const json_t *record)
{
	json_t *region, *formula;
	const char *column;
	size_t i;

	json_array_foreach(json_object_get(record, "regions"), i, region)
	{
		json_t *cell = json_object_get(region, "cell");

		json_object_foreach(json_object_get(cell, "formulas"), column, formula)
		{
			if (json_is_string(formula))
				screen_declare(d, column, json_string_value(formula), "declared");
		}
	}
}

void dtx_screen_formulas(const json_t *record, struct dtx_buf *out)
{
	const json_t *list = json_object_get(record, "lineage");
	struct screen_declared d = { out, "formula", false };
	json_t *row;
	size_t i;

	json_array_foreach(list, i, row)
	{
		if (screen_is_declared(row) || !screen_is_formula(list, i))
			continue;
		dtx_screen_label(out, d.label);
		screen_formula(row, out);
		d.label = "";
	}
	json_array_foreach(list, i, row)
	{
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
	return strcmp(dtx_json_text(check, "severity", "error"), "warn") ? SCREEN_FAIL
	                                                                 : SCREEN_WARN;
}

static void screen_check_names(const json_t *checks, enum screen_verdict verdict,
                               struct dtx_buf *out)
{
	const char *sep = " (";
	json_t *check;
	size_t i;

	json_array_foreach(checks, i, check)
	{
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

void dtx_screen_checks(const json_t *record, struct dtx_buf *out)
{
	static const char *const word[] = { "pass", "warn", "fail" };
	const json_t *checks = json_object_get(record, "checks");
	int64_t count[4] = { 0, 0, 0, 0 };
	json_t *check;
	size_t i;

	if (!json_array_size(checks))
		return;
	json_array_foreach(checks, i, check) count[screen_verdict(check)]++;
	dtx_screen_label(out, "checks");
	for (i = 0; i < DTX_COUNT(word); i++) {
		dtx_buf_printf(out, "%s%lld %s", i ? ", " : "", (long long)count[i], word[i]);
		if (i)
			screen_check_names(checks, (enum screen_verdict)i, out);
	}
	dtx_buf_addc(out, '\n');
}

/* "ragged_rows repaired (main L3); header_assumed" */
void dtx_screen_warnings(const json_t *record, struct dtx_buf *out)
{
	const json_t *list = json_object_get(json_object_get(record, "run"), "warnings");
	const char *sep = "";
	json_t *one;
	size_t i;

	if (!json_array_size(list))
		return;
	dtx_screen_label(out, "warnings");
	json_array_foreach((json_t *)(uintptr_t)list, i, one)
	{
		const char *refusal = dtx_json_text(one, "refusal", NULL);
		const char *cell = dtx_json_text(one, "cell", NULL);
		const char *column = dtx_json_text(one, "column", NULL);
		const char *at = dtx_json_text(one, "at", NULL);

		dtx_buf_printf(out, "%s%s", sep,
		               refusal ? refusal : dtx_json_text(one, "code", ""));
		if (refusal)
			dtx_buf_add(out, " repaired");
		if (cell)
			dtx_buf_printf(out, " (%s %s)", dtx_json_text(one, "input", ""), cell);
		else if (column)
			dtx_buf_printf(out, " (column %s)", column);
		else if (at)
			dtx_buf_printf(out, " (at %s)", at);
		sep = "; ";
	}
	dtx_buf_addc(out, '\n');
}

void dtx_screen_disclosed(const json_t *record, struct dtx_buf *out)
{
	json_t *call;
	size_t i;

	dtx_screen_label(out, "disclosed");
	json_array_foreach(json_object_get(record, "author"), i, call)
	{
		if (!json_object_get(call, "cols_disclosed"))
			continue;
		dtx_screen_count(out, dtx_json_int(call, "cols_disclosed", 0), "column name",
		                 "column names");
		dtx_buf_add(out, ", ");
		dtx_screen_count(out, dtx_json_int(call, "rows_disclosed", 0), "row", "rows");
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
	dtx_screen_memory(out, peak);
}

static void screen_some(int64_t n, const char *one, const char *many, struct dtx_buf *out)
{
	if (n <= 0)
		return;
	dtx_buf_add(out, ", ");
	dtx_screen_count(out, n, one, many);
}

/* What other processes did, if the run had an engine. */
static void screen_engine(const json_t *engine, struct dtx_buf *out)
{
	int64_t parts = 0, repaired = 0, remade = 0, kept = 0, attempts = 0;
	json_t *stage, *part;
	size_t i, k;

	json_array_foreach(json_object_get(engine, "stages"), i, stage)
	{
		parts += dtx_json_int(stage, "parts", 0);
		json_array_foreach(json_object_get(stage, "fragments"), k, part)
		{
			repaired += dtx_json_bool(part, "repaired", false);
			remade += dtx_json_bool(part, "remade", false);
			kept += dtx_json_bool(part, "kept", false);
			attempts += DTX_MAX(dtx_json_int(part, "attempts", 1) - 1, 0);
		}
	}
	dtx_screen_label(out, "engine");
	dtx_buf_printf(out, "%s  ", dtx_json_text(engine, "address", ""));
	dtx_screen_count(out, parts, "fragment", "fragments");
	screen_some(repaired, "border repaired", "borders repaired", out);
	screen_some(remade, "damaged file made again", "damaged files made again", out);
	screen_some(attempts - remade, "more attempt", "more attempts", out);
	screen_some(kept, "kept from the run before", "kept from the run before", out);
	if (dtx_json_bool(engine, "whole", false))
		dtx_buf_add(out, "; then done by one process");
	dtx_buf_addc(out, '\n');
}

void dtx_screen_machine(const json_t *record, struct dtx_buf *out)
{
	const json_t *run = json_object_get(record, "run");
	const json_t *report =
		json_object_get(json_array_get(json_object_get(record, "regions"), 0), "jail");
	int64_t threads = dtx_json_int(run, "threads", 0),
		peak = dtx_json_int(run, "peak_bytes", 0);

	dtx_screen_label(out, "ran in");
	dtx_buf_printf(out, "dtx %s", dtx_json_text(json_object_get(record, "env"), "dtx", "?"));
	if (json_is_object(report))
		screen_jail(report, out);
	if (threads) {
		dtx_buf_add(out, json_is_object(report) ? "; " : ", ");
		dtx_screen_count(out, threads, "thread", "threads");
	}
	dtx_screen_memory(out, peak);
	dtx_buf_addc(out, '\n');
	if (json_object_get(run, "engine"))
		screen_engine(json_object_get(run, "engine"), out);
}

/* A column with a known formula, for the suggestion to ask `dtx why` about it. */
static const char *screen_asked(const json_t *record)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(record, "lineage"), i, row)
	{
		if (!dtx_json_int(row, "output", 0) && dtx_json_text(row, "formula", NULL) &&
		    dtx_json_text(row, "out_col", NULL))
			return dtx_json_text(row, "out_col", "");
	}
	return NULL;
}

void dtx_screen_more(const json_t *record, struct dtx_buf *out)
{
	static const char *const quoted = " \t'\"\\$&|;<>()*?[]`#~=%!{}";
	const json_t *run = json_object_get(record, "run");
	const json_t *region = json_array_get(json_object_get(record, "regions"), 0);
	const char *id = dtx_json_text(region, "cell_id", NULL), *column = screen_asked(record);
	const char *name = dtx_json_text(run, "short", "");

	dtx_screen_label(out, "more");
	if (id)
		dtx_buf_printf(out, "dtx snippet show %.8s; ", id);
	if (column && !strpbrk(column, quoted))
		dtx_buf_printf(out, "dtx why %s --row 1 --col %s; ", name, column);
	if (json_array_size(json_object_get(record, "outputs")))
		dtx_buf_printf(out, "dtx replay %s; dtx verify %s\n", name, name);
	else
		dtx_buf_printf(out, "dtx provenance %s --json\n", name);
}
