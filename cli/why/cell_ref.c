/* Lists of cells. */
#include "cli/why/cell_ref.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out.h"
#include "core/base/mem.h"

/* Number of the row in an address. */
static long cited_row(const char *at)
{
	while (*at && !isdigit((unsigned char)*at))
		at++;
	return strtol(at, NULL, 10);
}

enum dtx_code dtx_cell_ref_add(struct dtx_cell_ref *c, const char *at, uint64_t row,
                               struct dtx_str value, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_mem_reserve(&c->item, &c->cap, c->n + 1, sizeof(*c->item)))
		DTX_FAIL_MEM(err);
	snprintf(c->item[c->n].at, sizeof(c->item[c->n].at), "%s", at);
	c->item[c->n].line = cited_row(c->item[c->n].at);
	c->item[c->n].row = row;
	c->item[c->n].value = dtx_mem_alloc(value.len + 1, 1);
	if (!c->item[c->n].value)
		DTX_FAIL_MEM(err);
	memcpy(c->item[c->n].value, value.ptr, value.len);
	c->item[c->n++].value[value.len] = '\0';
out:
	return rc;
}

void dtx_cell_ref_clear(struct dtx_cell_ref *c)
{
	for (size_t i = 0; i < c->n; i++)
		dtx_mem_free(c->item[i].value);
	dtx_mem_free(c->item);
	*c = (struct dtx_cell_ref){ .n = 0 };
}

static int cited_order(const void *a, const void *b)
{
	const struct dtx_cell_ref_cell *x = a, *y = b;
	int at;

	if (x->line != y->line)
		return (x->line > y->line) - (x->line < y->line);
	at = strcmp(x->at, y->at);
	return at ? at : (x->row > y->row) - (x->row < y->row);
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

json_t *dtx_cell_ref_json(struct dtx_cell_ref *c, bool values)
{
	json_t *list = json_array();

	if (c->n) /* qsort takes no null */
		qsort(c->item, c->n, sizeof(*c->item), cited_order);
	for (size_t i = 0; list && i < c->n; i++) {
		json_t *one;

		if (i && !cited_order(&c->item[i], &c->item[i - 1]))
			continue;
		one = json_pack("{ss}", "cell", c->item[i].at);
		if (values && one)
			json_object_set_new(one, "value", json_string(c->item[i].value));
		json_array_append_new(list, one);
	}
	return list;
}

/* The end of a run of adjacent cells that begins at i; several of one line are one address. */
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

void dtx_cell_ref_print(const char *label, const json_t *sources, size_t most, bool how,
                        struct dtx_buf *out)
{
	json_t *source;
	size_t i, width = 0;

	json_array_foreach((json_t *)(uintptr_t)sources, i, source) width =
		DTX_MAX(width, strlen(dtx_json_text(source, "column", "")));
	json_array_foreach((json_t *)(uintptr_t)sources, i, source)
	{
		const json_t *cells = json_object_get(source, "cells");
		const json_t *only = json_array_size(cells) == 1 ? json_array_get(cells, 0) : NULL;
		const json_t *value = json_object_get(only, "value");
		const char *column = dtx_json_text(source, "column", "");
		const char *ranges = dtx_json_text(source, "ranges", NULL);

		dtx_buf_printf(out, "%-12s", i ? "" : label);
		dtx_out_safe(out, column, false);
		dtx_buf_printf(out, "%*s  ", (int)(width - strlen(column)), "");
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

void dtx_cell_ref_columns(const char *label, const json_t *sources, struct dtx_buf *out)
{
	json_t *source;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)sources, i, source)
	{
		dtx_buf_printf(out, "%-12s", i ? "" : label);
		dtx_out_safe(out, dtx_json_text(source, "column", ""), false);
		dtx_buf_add(out, "  ");
		dtx_out_safe(out, dtx_json_text(source, "label", ""), false);
		dtx_buf_addc(out, '\n');
	}
}
