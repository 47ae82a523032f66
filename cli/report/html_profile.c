/* Draws the columns of a result from the statistics in its record. */
#include "cli/report/html.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/text/num.h"
#include "core/data/time/time.h"

enum { PROFILE_WIDTH = 180, PROFILE_HEIGHT = 44, PROFILE_GAP = 2 };

/* Writes a bound of the bars as its kind is written. */
static void profile_bound(const char *kind, double v, struct dtx_buf *out)
{
	char text[DTX_NUM_TEXT];

	/* Bounds are round numbers: 0.5 plus seven times 0.1 is 1.2, although the binary sum
	 * differs. */
	snprintf(text, sizeof(text), "%.15g", v);
	v = strtod(text, NULL);
	if (!strcmp(kind, "day") && v > -4000000 && v < 4000000)
		dtx_buf_addn(out, text, dtx_day_print(text, (int32_t)v));
	else
		dtx_buf_addn(out, text, dtx_num_print_json(text, v));
}

static void profile_words(const json_t *column, struct dtx_buf *out)
{
	const json_t *bars = json_object_get(column, "bars");
	const char *kind = dtx_json_text(column, "kind", "");
	int64_t distinct = dtx_json_int(column, "distinct", 0);
	int64_t cells = dtx_json_int(column, "rows", 0) - dtx_json_int(column, "nulls", 0);
	double low = strtod(dtx_json_text(column, "low", "0"), NULL);
	double width = strtod(dtx_json_text(column, "width", "1"), NULL);

	if (!strcmp(kind, "bool")) {
		dtx_buf_printf(out, "%lld false, %lld true",
		               (long long)json_integer_value(json_array_get(bars, 0)),
		               (long long)json_integer_value(json_array_get(bars, 1)));
		return;
	}
	if (!strcmp(kind, "text")) {
		dtx_buf_printf(out, "%lld different %s", (long long)distinct,
		               distinct == 1 ? "text" : "texts");
		if (distinct > 1 && distinct == cells)
			dtx_buf_add(out, ", each once");
		else if (distinct > 1 && cells)
			dtx_buf_printf(out, ", the commonest in %.0f %%",
			               (double)json_integer_value(json_array_get(bars, 0)) * 100 /
			                       (double)cells);
		return;
	}
	profile_bound(kind, low, out);
	dtx_buf_add(out, " to ");
	profile_bound(kind, low + width * (double)json_array_size(bars), out);
}

static void profile_bars(const json_t *column, struct dtx_buf *out)
{
	const json_t *bars = json_object_get(column, "bars"), *bar;
	double wide = (double)PROFILE_WIDTH / (double)DTX_MAX(json_array_size(bars), (size_t)1);
	json_int_t most = 1;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)bars, i, bar) most =
		DTX_MAX(most, json_integer_value(bar));
	json_array_foreach((json_t *)(uintptr_t)bars, i, bar)
	{
		double high = (double)json_integer_value(bar) / (double)most * PROFILE_HEIGHT;

		if (high > 0)
			dtx_buf_printf(out,
			               "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
			               "height=\"%.1f\"/>",
			               (double)i * wide, PROFILE_HEIGHT - DTX_MAX(high, 1.0),
			               DTX_MAX(wide - PROFILE_GAP, 1.0), DTX_MAX(high, 1.0));
	}
	dtx_buf_printf(out, "<path d=\"M0 %d.5H%d\"/>", PROFILE_HEIGHT, PROFILE_WIDTH);
}

/* Draws the bars. The picture has a title and a description for screen readers. */
static void profile_picture(const json_t *column, size_t n, struct dtx_buf *out)
{
	const json_t *bar;
	size_t i;

	dtx_buf_printf(out,
	               "<svg class=\"profile\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
	               "role=\"img\" aria-labelledby=\"pt%zu pd%zu\"><title id=\"pt%zu\">How ",
	               PROFILE_WIDTH, PROFILE_HEIGHT + 1, PROFILE_WIDTH, PROFILE_HEIGHT + 1, n, n,
	               n);
	dtx_html_text(out, dtx_json_text(column, "name", ""));
	dtx_buf_printf(out, " lies</title><desc id=\"pd%zu\">Bars: ", n);
	profile_words(column, out);
	dtx_buf_add(out, ":");
	json_array_foreach(json_object_get(column, "bars"), i, bar)
		dtx_buf_printf(out, " %lld", (long long)json_integer_value(bar));
	dtx_buf_add(out, "</desc>");
	profile_bars(column, out);
	dtx_buf_add(out, "</svg>");
}

static void profile_row(const json_t *column, size_t n, struct dtx_buf *out)
{
	int64_t rows = dtx_json_int(column, "rows", 0), nulls = dtx_json_int(column, "nulls", 0);
	bool drawn = json_array_size(json_object_get(column, "bars")) > 0;

	dtx_buf_add(out, "<tr><th scope=\"row\">");
	dtx_html_text(out, dtx_json_text(column, "name", ""));
	dtx_buf_add(out, "</th><td>");
	if (drawn)
		profile_picture(column, n, out);
	else
		dtx_buf_add(out, "<span class=\"dim\">no picture: nothing in it</span>");
	dtx_buf_add(out, "</td><td>");
	if (drawn)
		profile_words(column, out);
	dtx_buf_add(out, "</td><td class=\"n\">");
	if (!nulls)
		dtx_buf_add(out, "none");
	else
		dtx_buf_printf(out, "%.1f %%", rows ? (double)nulls * 100 / (double)rows : 0);
	dtx_buf_add(out, "</td></tr>\n");
}

void dtx_html_profiles(const json_t *record, struct dtx_buf *out)
{
	static const char *const head[] = { "column", "how its values lie", "what is there",
		                            "empty" };
	json_t *output, *column;
	size_t i, k, n = 0;

	dtx_buf_add(out, "<p>Numbers and dates of the result, between round bounds; of texts how "
	                 "many rows the commonest have, never which they are: the record holds no "
	                 "cells.</p>\n");
	json_array_foreach(json_object_get(record, "outputs"), i, output)
	{
		const json_t *stats = json_object_get(output, "stats");
		int64_t rows = dtx_json_int(output, "rows", 0);
		int64_t seen = dtx_json_int(json_array_get(stats, 0), "rows", 0);
		char text[DTX_NUM_TEXT];

		if (!json_array_size(stats))
			continue;
		dtx_html_table(out, dtx_file_basename(dtx_json_text(output, "path", "-")), head,
		               DTX_COUNT(head));
		json_array_foreach(stats, k, column) profile_row(column, n++, out);
		dtx_html_end(out);
		if (seen >= rows)
			continue;
		dtx_num_print_grouped(text, seen);
		dtx_buf_printf(out, "<p class=\"dim\">From an even sample of %s", text);
		dtx_num_print_grouped(text, rows);
		dtx_buf_printf(out, " of %s rows.</p>\n", text);
	}
}
