/* Finds the line of a text result on which a row begins.
 *
 * If no cell can contain a line break, the line follows from the row's number. Otherwise the lines
 * are counted in the file, if it is still the one that the run wrote. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/why/why.h"
#include "core/store/query/query.h"

enum { LINE_BLOCK = 1 << 16 };

static bool line_broken(const char *text)
{
	return text && strpbrk(text, "\r\n");
}

/* Whether a cell of the result or a column name may contain a line break. */
static bool line_may_break(const struct dtx_why *w)
{
	static const char *const whole = "int,float,decimal,bool,date,datetime";
	const struct dtx_plan *plan = w->x.r.plan;
	json_t *field;
	size_t i;

	json_array_foreach(json_object_get(dtx_why_replay_output(&w->x), "schema"), i, field)
	{
		if (!dtx_str_in_list(whole, dtx_json_text(field, "type", "")) ||
		    line_broken(dtx_json_text(field, "name", "")))
			return true;
	}
	return !plan || line_broken(plan->output[w->x.output].opts.null_text);
}

/* Opens the file with the bytes of the result; NULL if it is not available. The caller closes
 * it. */
static FILE *line_file(const struct dtx_why *w)
{
	const json_t *found = json_object_get(w->x.record, "found");
	const json_t *output = dtx_why_replay_output(&w->x);
	const char *asked = dtx_json_text(found, "asked", NULL);
	const char *path = dtx_json_text(output, "path", "-");

	/* If a file was asked for, the run was found by its bytes. */
	if (asked && access(asked, F_OK) == 0)
		return dtx_json_bool(found, "file_changed", false) ? NULL : fopen(asked, "rbe");
	return strcmp(dtx_query_file(path, output), "unchanged") ? NULL : fopen(path, "rbe");
}

struct line_walk {
	int64_t records; /* number of records still to skip */
	int64_t line;
	bool inside, cr; /* inside: in a quoted cell; cr: the last byte was CR */
};

/* CR LF, or CR alone, ends a line as LF does. But the writer ends records with LF, so a CR alone is
 * part of a cell and no record begins after it. */
static void line_pass(struct line_walk *k, const char *p, size_t n)
{
	for (size_t i = 0; i < n && k->records > 0; i++) {
		if (p[i] == '"')
			k->inside = !k->inside;
		else if (p[i] == '\n')
			k->records -= !k->inside;
		k->line += p[i] == '\r' || (p[i] == '\n' && !k->cr);
		k->cr = p[i] == '\r';
	}
}

int64_t dtx_why_line(const struct dtx_why *w)
{
	const json_t *writer = json_object_get(dtx_why_replay_output(&w->x), "writer");
	struct line_walk k = { .line = 1 };
	char block[LINE_BLOCK];
	FILE *f;
	size_t n;

	if (!dtx_str_in_list("csv,tsv", dtx_json_text(writer, "format", "")) || w->row < 1)
		return 0;
	k.records = w->row - 1 + dtx_json_bool(writer, "header", true);
	if (!line_may_break(w))
		return k.records + 1;
	f = line_file(w);
	if (!f)
		return 0;
	while (k.records > 0 && (n = fread(block, 1, sizeof(block), f)) > 0)
		line_pass(&k, block, n);
	(void)fclose(f);
	return k.records ? 0 : k.line;
}
