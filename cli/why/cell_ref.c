/* Prints lists of cells, see cell_ref.h. */
#include "cli/why/cell_ref.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out.h"
#include "core/base/text/utf8.h"

/* The row number in an address. */
static long cited_row(const char *at)
{
	while (*at && !isdigit((unsigned char)*at))
		at++;
	return strtol(at, NULL, 10);
}

const char *dtx_cell_ref_shown(const json_t *value)
{
	const char *text = json_string_value(value);

	if (!text)
		return value ? "null" : "";
	if (!*text)
		return "''";
	return strcmp(text, "null") == 0 ? "'null'" : text;
}

/* The end of the run of adjacent cells that begins at i. Several cells on one line have the same
 * address. */
static size_t cited_run(const json_t *list, size_t i)
{
	long row = cited_row(dtx_json_text(json_array_get(list, i), "cell", ""));

	for (; i + 1 < json_array_size(list); i++) {
		long next = cited_row(dtx_json_text(json_array_get(list, i + 1), "cell", ""));

		if (next != row && next != row + 1)
			break;
		row = next;
	}
	return i;
}

static void cited_addresses(const json_t *list, size_t most, struct dtx_buf *out)
{
	size_t n = json_array_size(list), i, end, shown = 0;

	for (i = 0; i < n && shown < most; i = end + 1, shown++) {
		const char *first = dtx_json_text(json_array_get(list, i), "cell", ""), *last;

		end = cited_run(list, i);
		last = dtx_json_text(json_array_get(list, end), "cell", "");
		dtx_buf_printf(out, "%s%s", i ? ", " : "", first);
		if (strcmp(first, last) != 0)
			dtx_buf_printf(out, "%s%s", end > i + 1 ? ":" : ", ", last);
	}
	if (i < n)
		dtx_buf_add(out, ", ...");
	if (n > 1)
		dtx_buf_printf(out, "  %zu cells", n);
}

static size_t column_width(const json_t *source)
{
	const char *column = dtx_json_text(source, "column", "");

	return dtx_utf8_width(column, strlen(column));
}

void dtx_cell_ref_print(const char *label, const json_t *sources, size_t most, bool how,
                        struct dtx_buf *out)
{
	json_t *source;
	size_t i, width = 0;

	json_array_foreach((json_t *)(uintptr_t)sources, i, source) width =
		DTX_MAX(width, column_width(source));
	json_array_foreach((json_t *)(uintptr_t)sources, i, source)
	{
		const json_t *cells = json_object_get(source, "cells");
		const json_t *only = json_array_size(cells) == 1 ? json_array_get(cells, 0) : NULL;
		const json_t *value = json_object_get(only, "value");
		const char *column = dtx_json_text(source, "column", "");
		const char *ranges = dtx_json_text(source, "ranges", NULL);

		dtx_buf_printf(out, "%-12s", i ? "" : label);
		dtx_out_safe(out, column, false);
		dtx_buf_printf(out, "%*s  ", (int)(width - column_width(source)), "");
		dtx_out_safe(out, dtx_json_text(source, "label", ""), false);
		dtx_buf_add(out, ranges || json_array_size(cells) ? "!" : ": none");
		if (ranges)
			dtx_buf_add(out, ranges);
		else
			cited_addresses(cells, most, out);
		dtx_buf_add(out, value ? " = " : "");
		dtx_out_safe(out, dtx_cell_ref_shown(value), false);
		if (how)
			dtx_buf_printf(out, "  (%s)", dtx_json_text(source, "how", ""));
		dtx_buf_addc(out, '\n');
	}
}
