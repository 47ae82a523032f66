/* Draws the number of rows after each step as bars. */
#include "cli/report/html.h"

#include <string.h>

#include "core/base/text/num.h"

enum { FUNNEL_WIDTH = 760, FUNNEL_LABEL = 190, FUNNEL_ROW = 26, FUNNEL_STEPS = 200 };

struct funnel_row {
	const char *label;
	int64_t rows, step;   /* number in the plan, from 1; 0: none */
	const json_t *counts; /* dropped rows by reason; NULL: none */
};

static bool funnel_by_snippet(const json_t *step)
{
	return dtx_json_bool(json_object_get(step, "detail"), "rescued", false);
}

/* Collects what was read, and what each step left. Steps of one snippet are one row. */
static size_t funnel_rows(const json_t *record, struct funnel_row *row, bool *cut)
{
	const json_t *steps = json_object_get(record, "steps");
	size_t n = 0, i;
	int64_t number;
	json_t *step;

	json_array_foreach(steps, i, step)
	{
		bool snippet = funnel_by_snippet(step);

		*cut = n >= FUNNEL_STEPS;
		if (*cut)
			break;
		if (!i)
			row[n++] = (struct funnel_row){ "read", dtx_json_int(step, "rows_in", 0), 0,
				                        NULL };
		number = dtx_html_written(record, i);
		if (snippet && funnel_by_snippet(json_array_get(steps, i + 1)))
			continue;
		row[n++] = (struct funnel_row){ snippet      ? "snippet"
			                        : number < 0 ? "files together"
			                                     : dtx_json_text(step, "op", "?"),
			                        dtx_json_int(step, "rows_out", 0), number + 1,
			                        json_object_get(json_object_get(step, "detail"),
			                                        "counts") };
	}
	return n;
}

static void funnel_reasons(const json_t *counts, struct dtx_buf *out)
{
	const char *key, *sep = "  ";
	char text[DTX_NUM_TEXT];
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)counts, key, value)
	{
		dtx_num_print_grouped(text, json_integer_value(value));
		dtx_buf_printf(out, "%s%s ", sep, text);
		dtx_html_text(out, key);
		sep = ", ";
	}
}

static void funnel_bar(const struct funnel_row *r, size_t i, int64_t most, struct dtx_buf *out)
{
	double full = FUNNEL_WIDTH - FUNNEL_LABEL - 230;
	double width = most > 0 ? (double)r->rows / (double)most * full : 0;
	size_t y = i * FUNNEL_ROW;
	char text[DTX_NUM_TEXT];

	dtx_num_print_grouped(text, r->rows);
	dtx_buf_printf(out, "<text x=\"0\" y=\"%zu\">", y + 17);
	if (r->step)
		dtx_buf_printf(out, "%lld ", (long long)r->step);
	dtx_html_text(out, r->label);
	dtx_buf_printf(
		out, "</text><rect class=\"bar\" x=\"%d\" y=\"%zu\" width=\"%.1f\" height=\"16\"/>",
		FUNNEL_LABEL, y + 4, width < 1 ? 1 : width);
	dtx_buf_printf(out, "<text x=\"%.1f\" y=\"%zu\">%s<tspan class=\"sub\">",
	               FUNNEL_LABEL + width + 8, y + 17, text);
	funnel_reasons(r->counts, out);
	dtx_buf_add(out, "</tspan></text>\n");
}

static void funnel_list(const struct funnel_row *row, size_t n, struct dtx_buf *out)
{
	static const char *const head[] = { "step", "rows", "dropped or not matched" };
	size_t i;

	dtx_buf_add(out, "<details><summary>The same as a table</summary>");
	dtx_html_table(out, NULL, head, DTX_COUNT(head));
	for (i = 0; i < n; i++) {
		dtx_buf_add(out, "<tr><td>");
		if (row[i].step)
			dtx_buf_printf(out, "%lld ", (long long)row[i].step);
		dtx_html_text(out, row[i].label);
		dtx_buf_add(out, "</td>");
		dtx_html_number(out, "td", row[i].rows);
		dtx_buf_add(out, "<td>");
		funnel_reasons(row[i].counts, out);
		dtx_buf_add(out, "</td></tr>\n");
	}
	dtx_html_end(out);
	dtx_buf_add(out, "</details>\n");
}

void dtx_html_funnel(const json_t *record, struct dtx_buf *out)
{
	struct funnel_row row[FUNNEL_STEPS + 1];
	bool cut = false;
	size_t n = funnel_rows(record, row, &cut), i;
	int64_t most = 0;

	for (i = 0; i < n; i++)
		most = DTX_MAX(most, row[i].rows);
	if (!n)
		return;
	dtx_buf_printf(
		out,
		"<figure><svg viewBox=\"0 0 %d %zu\" width=\"%d\" height=\"%zu\" role=\"img\" "
		"aria-labelledby=\"ft fd\"><title id=\"ft\">Rows from step to step</title>"
		"<desc id=\"fd\">One bar per step, as long as the rows it left; the table "
		"below has the numbers.</desc>\n",
		FUNNEL_WIDTH, n * FUNNEL_ROW, FUNNEL_WIDTH, n * FUNNEL_ROW);
	for (i = 0; i < n; i++)
		funnel_bar(&row[i], i, most, out);
	dtx_buf_add(out, "</svg></figure>\n");
	if (cut)
		dtx_buf_add(out, "<p class=\"dim\">The bars end here; the plan goes on.</p>\n");
	funnel_list(row, n, out);
}
