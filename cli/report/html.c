/* Writes the report: its sections are in the order in which readers ask. */
#include "cli/report/html.h"

#include <string.h>

#include "cli/report/codewords.h"
#include "core/base/file.h"
#include "core/base/strmap.h"
#include "core/store/query/query.h"

#define CSP "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/* --- summary --- */

/* The length of the label in a line of the default screen, which is usually 12 wide. */
static size_t html_label(const json_t *record, const char *line, size_t len)
{
	json_t *output;
	size_t i;

	json_array_foreach(json_object_get(record, "outputs"), i, output)
	{
		const char *name = dtx_file_basename(dtx_json_text(output, "path", "-"));
		size_t n = strlen(name);

		if (n >= 12 && n < len && !strncmp(line, name, n) && line[n] == ' ')
			return n;
	}
	return DTX_MIN(len, (size_t)12);
}

/* Writes facts that the screen separates by two blanks, which a browser would show as one. */
static void html_facts(const char *text, size_t len, struct dtx_buf *out)
{
	const char *end = text + len, *gap;

	for (; text < end; text = gap) {
		for (gap = text; gap < end && (gap[0] != ' ' || gap + 1 == end || gap[1] != ' ');)
			gap++;
		dtx_html_textn(out, text, (size_t)(gap - text));
		while (gap < end && *gap == ' ')
			gap++;
		if (gap < end)
			dtx_buf_add(out, " \xc2\xb7 ");
	}
}

static void html_summary_line(const json_t *record, const char *line, size_t len,
                              struct dtx_buf *out)
{
	size_t label = html_label(record, line, len), used = label;

	while (used && line[used - 1] == ' ')
		used--;
	dtx_buf_add(out, "<tr><th scope=\"row\">");
	dtx_html_textn(out, line, used);
	dtx_buf_add(out, "</th><td>");
	while (label < len && line[label] == ' ')
		label++;
	html_facts(line + label, len - label, out);
	dtx_buf_add(out, "</td></tr>\n");
}

static void html_summary(const json_t *record, struct dtx_buf *out)
{
	struct dtx_buf screen = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *line, *end;

	dtx_query_screen(record, &screen);
	dtx_buf_add(out, "<div class=\"wide\"><table aria-label=\"Summary\"><tbody>\n");
	for (line = dtx_buf_text(&screen); (end = strchr(line, '\n')); line = end + 1)
		html_summary_line(record, line, (size_t)(end - line), out);
	dtx_html_end(out);
	dtx_buf_clear(&screen);
}

/* --- code --- */

/* Line N has the anchor LN; in a second snippet it is R2-LN. */
static void html_code_line(size_t region, size_t n, const char *line, size_t len,
                           struct dtx_buf *out)
{
	bool mark = len >= 7 && (!strncmp(line, "FORMULA", 7) || !strncmp(line, "ASSUMES", 7));

	dtx_buf_printf(out, "<tr%s id=\"", mark ? " class=\"mark\"" : "");
	if (region)
		dtx_buf_printf(out, "R%zu-", region + 1);
	dtx_buf_printf(out, "L%zu\"><td>%zu</td><td>", n, n);
	dtx_html_textn(out, line, len);
	dtx_buf_add(out, "</td></tr>\n");
}

static void html_code_text(size_t region, const char *code, struct dtx_buf *out)
{
	const char *line = code, *end;
	size_t n = 1;

	dtx_buf_add(
		out,
		"<div class=\"wide\"><table class=\"code\" aria-label=\"Code, by line\"><tbody>\n");
	for (; *line; line = *end ? end + 1 : end, n++) {
		end = strchr(line, '\n');
		end = end ? end : line + strlen(line);
		html_code_line(region, n, line, (size_t)(end - line), out);
	}
	dtx_html_end(out);
}

static void html_code(const json_t *record, struct dtx_buf *out)
{
	json_t *region;
	size_t i;

	json_array_foreach(json_object_get(record, "regions"), i, region)
	{
		const json_t *cell = json_object_get(region, "cell");
		const char *code = dtx_json_text(cell, "code", NULL);

		dtx_buf_add(out, "<h3>Snippet ");
		dtx_html_text(out, dtx_json_text(region, "cell_id", "needed"));
		dtx_buf_add(out, cell ? "</h3><p>Stands for " : "</h3><p>Would stand for ");
		dtx_html_text(out, dtx_json_text(region, "pointer", ""));
		dtx_buf_add(out, " of the plan, because of ");
		dtx_html_text(out, dtx_json_text(region, "code", ""));
		if (!cell) {
			dtx_buf_add(out, ".  This run found no code for it.</p>\n");
			continue;
		}
		dtx_buf_add(out, "; ");
		dtx_html_text(out, dtx_json_text(cell, "state", "not in the store"));
		if (dtx_json_text(cell, "state_by", NULL)) {
			dtx_buf_add(out, " by ");
			dtx_html_text(out, dtx_json_text(cell, "state_by", ""));
		}
		dtx_buf_add(out, ". SHA-256 of the code: <code>");
		dtx_html_text(out, dtx_json_text(cell, "code_hash", ""));
		dtx_buf_add(out, "</code></p>\n");
		if (code)
			html_code_text(i, code, out);
		else
			dtx_buf_add(out, "<p class=\"bad\">The code is not in the store.</p>\n");
	}
}

/* --- tables --- */

static void html_schema_table(const char *caption, const json_t *schema, struct dtx_buf *out)
{
	static const char *const head[] = { "column", "type" };
	json_t *field;
	size_t i;

	dtx_html_table(out, caption, head, DTX_COUNT(head));
	json_array_foreach((json_t *)(uintptr_t)schema, i, field)
	{
		dtx_buf_add(out, "<tr>");
		dtx_html_cell(out, dtx_json_text(field, "name", ""));
		dtx_html_cell(out, dtx_json_text(field, "type", ""));
		dtx_buf_add(out, "</tr>\n");
	}
	dtx_html_end(out);
}

/* Whether two inputs are files of the same input and have the same columns. */
static bool html_alike(const json_t *record, size_t a, size_t b)
{
	const json_t *inputs = json_object_get(record, "inputs");
	const json_t *x = json_array_get(inputs, a), *y = json_array_get(inputs, b);
	struct dtx_str of[2];

	if (!y)
		return false;
	of[0] = dtx_html_input(record, dtx_json_text(x, "alias", ""), NULL);
	of[1] = dtx_html_input(record, dtx_json_text(y, "alias", ""), NULL);
	return of[0].len == of[1].len && !memcmp(of[0].ptr, of[1].ptr, of[0].len) &&
	       json_equal(json_object_get(x, "schema"), json_object_get(y, "schema"));
}

static void html_schema(const json_t *record, struct dtx_buf *out)
{
	struct dtx_buf caption = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool first = true;
	json_t *item;
	size_t i, same;

	json_array_foreach(json_object_get(record, "inputs"), i, item)
	{
		/* a run that failed may not have recorded what it had read */
		if (!json_is_array(json_object_get(item, "schema")))
			continue;
		dtx_buf_add(out, first ? "<h3>Before</h3>\n" : "");
		first = false;
		/* equal files of one input are listed once */
		for (same = 0; html_alike(record, i, i + same + 1);)
			same++;
		dtx_buf_reset(&caption);
		dtx_buf_add(&caption,
		            dtx_json_text(item, "label", dtx_json_text(item, "alias", "")));
		if (same)
			dtx_buf_printf(&caption, " and %zu more file%s", same,
			               same == 1 ? "" : "s");
		html_schema_table(dtx_buf_text(&caption), json_object_get(item, "schema"), out);
		i += same;
	}
	dtx_buf_clear(&caption);
	json_array_foreach(json_object_get(record, "outputs"), i, item)
	{
		dtx_buf_add(out, i ? "" : "<h3>After</h3>\n");
		first = false;
		html_schema_table(dtx_file_basename(dtx_json_text(item, "path", "-")),
		                  json_object_get(item, "schema"), out);
	}
	if (first)
		dtx_buf_add(out, "<p>Not recorded: the run ended before that.</p>\n");
}

/* --- formulas --- */

static bool html_same_column(const json_t *a, const json_t *b)
{
	return dtx_json_int(a, "output", 0) == dtx_json_int(b, "output", 0) &&
	       !strcmp(dtx_json_text(a, "type", ""), dtx_json_text(b, "type", "")) &&
	       !strcmp(dtx_json_text(a, "out_col", ""), dtx_json_text(b, "out_col", "")) &&
	       !strcmp(dtx_json_text(a, "subtype", ""), dtx_json_text(b, "subtype", ""));
}

/* Describes the kinds of lineage for people. */
static const char *html_subtype(const char *subtype)
{
	static const char *const words[][2] = {
		{ "IDENTITY", "as it is" },           { "TRANSFORMATION", "made of" },
		{ "AGGREGATION", "aggregated from" }, { "FILTER", "rows are filtered by" },
		{ "JOIN", "rows are joined by" },     { "GROUP_BY", "rows are grouped by" },
		{ "SORT", "rows are sorted by" },     { "WINDOW", "rows are put into windows by" },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(words); i++) {
		if (!strcmp(words[i][0], subtype))
			return words[i][1];
	}
	return subtype;
}

/* Whether no earlier row of the list names the source: the column `in_col` of the input `name`,
 * which may consist of several files; with `bare`, of any input. Without memory every source is
 * new. */
static bool html_new(struct dtx_strmap *seen, struct dtx_str name, const char *in_col, bool bare)
{
	struct dtx_buf key = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	uint32_t n = (uint32_t)seen->n, found = n;
	bool fresh;

	if (!bare)
		dtx_buf_adds(&key, name);
	dtx_buf_addc(&key, '\0');
	dtx_buf_add(&key, in_col);
	fresh = !dtx_strmap_put(seen, dtx_buf_str(&key), n, &found) || found == n;
	dtx_buf_clear(&key);
	return fresh;
}

/* Lists the sources of rows [at, end) once each: "main.hours of 3 files, rates.rate"; with
 * `bare`, only the columns. */
static void html_sources(const json_t *record, const json_t *list, size_t at, size_t end, bool bare,
                         struct dtx_buf *out)
{
	struct dtx_strmap seen = DTX_STRMAP_INIT;
	const char *sep = "";

	dtx_buf_add(out, "<td>");
	for (; at < end; at++) {
		const json_t *row = json_array_get(list, at);
		const char *alias = dtx_json_text(row, "alias", "");
		const char *in_col = dtx_json_text(row, "in_col", NULL);
		struct dtx_str name = dtx_html_input(record, alias, NULL);
		size_t files = 1;

		if (!in_col || !html_new(&seen, name, in_col, bare))
			continue;
		dtx_buf_add(out, sep);
		if (!bare) {
			(void)dtx_html_input(record, alias, &files);
			dtx_html_textn(out, name.ptr, name.len);
			dtx_buf_addc(out, '.');
		}
		dtx_html_text(out, in_col);
		if (!bare && files > 1)
			dtx_buf_printf(out, " of %zu files", files);
		sep = ", ";
	}
	dtx_strmap_clear(&seen);
	dtx_buf_add(out, "</td>");
}

static void html_formula_row(const json_t *record, const json_t *list, size_t at, size_t end,
                             struct dtx_buf *out)
{
	const json_t *row = json_array_get(list, at);
	const char *formula = dtx_json_text(row, "formula", NULL);
	const char *composed = dtx_json_text(row, "composed", NULL);

	dtx_buf_add(out, "<tr>");
	dtx_html_cell(out, dtx_json_text(row, "out_col", "all"));
	if (!formula && !strcmp(dtx_json_text(row, "class", ""), "snippet"))
		formula = "made by the snippet";
	if (!formula && end == at + 1 && dtx_json_text(row, "out_col", NULL) &&
	    !dtx_json_text(row, "in_col", NULL))
		formula = "made by a step";
	dtx_html_cell(out, formula ? formula : html_subtype(dtx_json_text(row, "subtype", "")));
	if (composed)
		dtx_html_cell(out, composed);
	else
		html_sources(record, list, at, end, true, out);
	html_sources(record, list, at, end, false, out);
	dtx_html_cell(out, dtx_json_text(row, "class", NULL));
	dtx_buf_add(out, "</tr>\n");
}

static void html_formulas(const json_t *record, struct dtx_buf *out)
{
	static const char *const head[] = { "column", "formula", "from source columns", "sources",
		                            "how known" };
	const json_t *list = json_object_get(record, "lineage");
	const json_t *outputs = json_object_get(record, "outputs");
	size_t n = json_array_size(list), i, end;
	int64_t output = -1;

	for (i = 0; i < n; i = end) {
		const json_t *row = json_array_get(list, i);
		int64_t mine = dtx_json_int(row, "output", 0);

		for (end = i + 1; end < n && html_same_column(row, json_array_get(list, end));)
			end++;
		if (mine != output) {
			const json_t *o = json_array_get(outputs, (size_t)mine);

			if (output >= 0)
				dtx_html_end(out);
			dtx_html_table(out, dtx_file_basename(dtx_json_text(o, "path", "-")), head,
			               DTX_COUNT(head));
			output = mine;
		}
		html_formula_row(record, list, i, end, out);
	}
	if (output >= 0)
		dtx_html_end(out);
}

/* --- checks and warnings --- */

static void html_checks(const json_t *record, struct dtx_buf *out)
{
	static const char *const head[] = { "check", "column", "result", "expected", "actual" };
	json_t *row;
	size_t i;

	dtx_html_table(out, NULL, head, DTX_COUNT(head));
	json_array_foreach(json_object_get(record, "checks"), i, row)
	{
		const char *status = dtx_json_text(row, "status", "");
		const char *severity = dtx_json_text(row, "severity", "error");
		bool good = !strcmp(status, "pass"), warn = !strcmp(severity, "warn");

		dtx_buf_add(out, "<tr>");
		dtx_html_cell(out, dtx_json_text(row, "name", ""));
		dtx_html_cell(out, dtx_json_text(row, "col", NULL));
		dtx_buf_printf(out, "<td class=\"%s\">", good ? "ok" : "bad");
		dtx_html_text(out, good || !warn ? status : "warning");
		dtx_buf_add(out, "</td>");
		dtx_html_cell(out, dtx_json_text(row, "expected", NULL));
		dtx_html_cell(out, dtx_json_text(row, "actual", NULL));
		dtx_buf_add(out, "</tr>\n");
	}
	dtx_html_end(out);
}

/* Writes the code and its meaning; for a repair, also the error that the reader had reported. */
static void html_warning_name(const json_t *row, struct dtx_buf *out)
{
	const char *refusal = dtx_json_text(row, "refusal", NULL);
	const char *words = dtx_code_words(refusal ? refusal : dtx_json_text(row, "code", ""));

	dtx_buf_add(out, "<td>");
	dtx_html_text(out, dtx_json_text(row, "code", ""));
	dtx_buf_add(out, refusal ? ": " : "");
	dtx_html_text(out, refusal ? refusal : "");
	dtx_buf_add(out, "</td>");
	dtx_html_cell(out, words);
}

/* Writes a column, a place in the plan, or the cell of an input. */
static void html_warning_place(const json_t *row, struct dtx_buf *out)
{
	const char *place = dtx_json_text(row, "column", dtx_json_text(row, "at", NULL));
	const char *cell = dtx_json_text(row, "cell", NULL);

	if (place || !cell) {
		dtx_html_cell(out, place);
		return;
	}
	dtx_buf_add(out, "<td>");
	dtx_html_text(out, dtx_json_text(row, "input", ""));
	dtx_buf_add(out, " ");
	dtx_html_text(out, cell);
	dtx_buf_add(out, "</td>");
}

static void html_warnings(const json_t *record, struct dtx_buf *out)
{
	static const char *const head[] = { "warning", "what it means", "where", "count" };
	json_t *row;
	size_t i;

	dtx_html_table(out, NULL, head, DTX_COUNT(head));
	json_array_foreach(json_object_get(json_object_get(record, "run"), "warnings"), i, row)
	{
		dtx_buf_add(out, "<tr>");
		html_warning_name(row, out);
		html_warning_place(row, out);
		if (dtx_json_int(row, "count", 1) < 0) /* about the whole file, so not counted */
			dtx_html_cell(out, NULL);
		else
			dtx_html_number(out, "td", dtx_json_int(row, "count", 1));
		dtx_buf_add(out, "</tr>\n");
	}
	dtx_html_end(out);
}

/* Writes the history of each snippet, and the calls of this run that asked a model. */
static void html_asked(const json_t *record, struct dtx_buf *out)
{
	static const char *const head[] = { "snippet", "state", "by", "note", "attempts" };
	static const char *const calls[] = { "model",        "prompt, SHA-256", "rows sent",
		                             "columns sent", "tokens in",       "tokens out" };
	json_t *region, *call;
	size_t i, n = 0;

	dtx_html_table(out, NULL, head, DTX_COUNT(head));
	json_array_foreach(json_object_get(record, "regions"), i, region)
	{
		const json_t *cell = json_object_get(region, "cell");

		dtx_buf_add(out, "<tr>");
		dtx_html_cell(out, dtx_json_text(region, "cell_id", "none"));
		dtx_html_cell(out, dtx_json_text(cell, "state", "not in the store"));
		dtx_html_cell(out, dtx_json_text(cell, "state_by", NULL));
		dtx_html_cell(out, dtx_json_text(cell, "note", NULL));
		dtx_html_number(out, "td", dtx_json_int(region, "attempts", 0));
		dtx_buf_add(out, "</tr>\n");
	}
	dtx_html_end(out);
	json_array_foreach(json_object_get(record, "author"), i, call)
	{
		if (!dtx_json_text(call, "answer_hash", NULL))
			continue;
		if (!n++)
			dtx_html_table(out, "Calls of this run", calls, DTX_COUNT(calls));
		dtx_buf_add(out, "<tr>");
		dtx_html_cell(out, dtx_json_text(call, "model", NULL));
		dtx_html_cell(out, dtx_json_text(call, "prompt_hash", NULL));
		dtx_html_number(out, "td", dtx_json_int(call, "rows_disclosed", 0));
		dtx_html_number(out, "td", dtx_json_int(call, "cols_disclosed", 0));
		dtx_html_number(out, "td", dtx_json_int(call, "in_tokens", 0));
		dtx_html_number(out, "td", dtx_json_int(call, "out_tokens", 0));
		dtx_buf_add(out, "</tr>\n");
	}
	if (n)
		dtx_html_end(out);
	else
		dtx_buf_add(out, "<p>Nothing was sent to a model in this run.</p>\n");
}

static void html_pairs(const json_t *object, struct dtx_buf *out)
{
	static const char *const head[] = { "what", "value" };
	const char *key;
	json_t *value;

	dtx_html_table(out, NULL, head, DTX_COUNT(head));
	json_object_foreach((json_t *)(uintptr_t)object, key, value)
	{
		if (!json_is_string(value))
			continue;
		dtx_buf_add(out, "<tr>");
		dtx_html_cell(out, key);
		dtx_html_cell(out, json_string_value(value));
		dtx_buf_add(out, "</tr>\n");
	}
	dtx_html_end(out);
}

static void html_environment(const json_t *record, struct dtx_buf *out)
{
	html_pairs(json_object_get(record, "env"), out);
}

static void html_chain(const json_t *record, struct dtx_buf *out)
{
	const json_t *run = json_object_get(record, "run"),
		     *chain = json_object_get(record, "chain");
	const char *id = dtx_json_text(run, "short", "");

	dtx_buf_printf(out, "<p>Events %lld to %lld of the ledger.</p>\n",
	               (long long)dtx_json_int(chain, "seq_start", 0),
	               (long long)dtx_json_int(chain, "seq_end", 0));
	dtx_buf_add(out, "<p>Head of the ledger when this was written: <code>");
	dtx_html_text(out, dtx_json_text(chain, "head", ""));
	dtx_buf_add(out, "</code></p>\n");
	dtx_buf_add(out, "<p>To check it: <code>dtx verify ");
	dtx_html_text(out, id);
	dtx_buf_add(out, "</code>. To do the run again: <code>dtx replay ");
	dtx_html_text(out, id);
	dtx_buf_add(out, "</code>.</p>\n");
}

/* --- the page --- */

static bool html_has(const json_t *record, const char *run_member, const char *member)
{
	const json_t *o = run_member ? json_object_get(record, run_member) : record;
	const json_t *v = json_object_get(o, member);

	if (!strcmp(member, "profiled"))
		v = json_object_get(json_array_get(json_object_get(record, "outputs"), 0), "stats");
	if (!strcmp(member, "asked"))
		return json_array_size(json_object_get(record, "regions")) > 0;
	return json_is_array(v) ? json_array_size(v) > 0 : v != NULL;
}

/* A section is written if its member is not empty. */
static const struct {
	const char *id, *title, *in, *member;
	void (*print)(const json_t *, struct dtx_buf *);
} html_sections[] = {
	{ "summary", "Summary", NULL, "run", html_summary },
	{ "lineage", "What was made from what", NULL, "inputs", dtx_html_graph },
	{ "rows", "Rows from step to step", NULL, "steps", dtx_html_funnel },
	{ "steps", "Steps", "run", "plan", dtx_html_steps },
	{ "engine", "Processes", "run", "engine", dtx_html_engine },
	{ "formulas", "Formulas", NULL, "lineage", html_formulas },
	{ "code", "Code", NULL, "regions", html_code },
	{ "checks", "Checks", NULL, "checks", html_checks },
	{ "warnings", "Warnings", "run", "warnings", html_warnings },
	{ "profiles", "Values of the result", NULL, "profiled", dtx_html_profiles },
	{ "schema", "Columns before and after", NULL, "inputs", html_schema },
	{ "approval", "Who approved, what was sent", NULL, "asked", html_asked },
	{ "events", "What happened", NULL, "events", dtx_html_events },
	{ "environment", "Environment", NULL, "env", html_environment },
	{ "chain", "Evidence", NULL, "chain", html_chain },
};

static void html_nav(const json_t *record, bool sample, struct dtx_buf *out)
{
	size_t i;

	dtx_buf_add(out, "<nav aria-label=\"Sections\"><ul>");
	for (i = 0; i < DTX_COUNT(html_sections); i++) {
		if (html_has(record, html_sections[i].in, html_sections[i].member))
			dtx_buf_printf(out, "<li><a href=\"#%s\">%s</a></li>", html_sections[i].id,
			               html_sections[i].title);
	}
	if (sample)
		dtx_buf_add(out, "<li><a href=\"#sample\">First rows of the result</a></li>");
	dtx_buf_add(out, "</ul></nav>\n");
}

/* Writes "How a.csv was made", or why nothing was made. */
static void html_title(const json_t *record, struct dtx_buf *out)
{
	const json_t *first = json_array_get(json_object_get(record, "outputs"), 0);
	const char *path = dtx_json_text(first, "path", NULL);

	const char *status = dtx_json_text(json_object_get(record, "run"), "status", "ok");

	if (!path && strcmp(status, "ok") != 0) {
		bool failed = !strcmp(status, "failed");

		dtx_buf_add(out, failed ? "Why a run failed" : "A run that was ");
		dtx_html_text(out, failed ? "" : status);
		return;
	}
	dtx_buf_add(out, "How ");
	dtx_html_text(out, !path               ? "a run"
	                   : strcmp(path, "-") ? dtx_file_basename(path)
	                                       : "stdout");
	dtx_buf_add(out, " was made");
}

static void html_plan_name(const json_t *record, struct dtx_buf *out)
{
	const json_t *plan = json_object_get(json_object_get(record, "run"), "plan");
	const char *name = dtx_json_text(plan, "name", NULL);
	const char *file = dtx_json_text(plan, "file", NULL);

	if (!name)
		return;
	dtx_buf_add(out, file ? "<p class=\"plan\">By the plan " : "<p class=\"plan\">");
	dtx_html_text(out, name);
	if (file) {
		dtx_buf_add(out, ", in ");
		dtx_html_text(out, dtx_file_basename(file));
	}
	dtx_buf_add(out, "</p>\n");
}

static void html_head(const json_t *record, struct dtx_buf *out)
{
	dtx_buf_add(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	                 "<meta http-equiv=\"Content-Security-Policy\" content=\"" CSP "\">\n"
	                 "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
	                 "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
	html_title(record, out);
	dtx_buf_add(out, "</title>\n<style>\n");
	dtx_buf_add(out, dtx_html_style);
	dtx_buf_add(out, "</style></head>\n<body>\n<a class=\"skip\" href=\"#summary\">Skip "
	                 "to the summary</a>\n<main>\n<h1>");
	html_title(record, out);
	dtx_buf_add(out, "</h1>\n");
	html_plan_name(record, out);
	if (!strcmp(dtx_json_text(json_object_get(record, "run"), "status", ""), "failed")) {
		dtx_buf_add(out, "<p class=\"bad\">This run ");
		dtx_html_ended(record, out);
		dtx_buf_add(out, ".</p>\n");
	}
}

void dtx_html_report(const json_t *record, const char *sample, struct dtx_buf *out)
{
	size_t i;

	html_head(record, out);
	html_nav(record, sample != NULL, out);
	for (i = 0; i < DTX_COUNT(html_sections); i++) {
		if (!html_has(record, html_sections[i].in, html_sections[i].member))
			continue;
		dtx_buf_printf(out, "<section aria-labelledby=\"%s\"><h2 id=\"%s\">%s</h2>\n",
		               html_sections[i].id, html_sections[i].id, html_sections[i].title);
		html_sections[i].print(record, out);
		dtx_buf_add(out, "</section>\n");
	}
	if (sample) {
		dtx_buf_add(out,
		            "<section aria-labelledby=\"sample\"><h2 id=\"sample\">First rows of "
		            "the result</h2>\n");
		dtx_buf_add(out, sample);
		dtx_buf_add(out, "</section>\n");
	}
	dtx_buf_add(out, "</main></body></html>\n");
}
