/* Commas between commas that part cells, and no quotes: those before a blank ("Smith, John,30") or
 * between the digits of a number ("Rome,2,800,000,2020").  They part none where all records have as
 * many cells as there are names without them, and only then. */
#include "core/base/mem.h"
#include "core/io/csv.h"
#include "core/io/csv_top.h"
#include "core/io/header.h"
#include "core/io/lines.h"

#define GROUP_TEXT  ((size_t)16 << 20) /* a larger text is left as it is */
#define GROUP_COLS  64u
#define GROUP_ROWS  2u /* so many records at least have such commas */
#define GROUP_PART  '\x1f'
#define GROUP_NAMED 2u

struct group {
	struct dtx_str text, names;
	uint32_t nnames;
	bool spaced;           /* commas before blanks; else those of numbers */
	uint32_t col;          /* ... of this column */
	uint32_t joined, rows; /* records with such commas; records */
	uint32_t marked;       /* ... with a currency or more than one comma in the number */
};

static bool is_spaced(struct dtx_str line, size_t i)
{
	return i && line.ptr[i - 1] != ',' && line.ptr[i - 1] != ' ' && i + 2 < line.len &&
	       line.ptr[i + 1] == ' ' && line.ptr[i + 2] != ' ' && line.ptr[i + 2] != ',';
}

static uint32_t count_commas(struct dtx_str line, bool spaced)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < line.len; i++)
		n += line.ptr[i] == ',' && !(spaced && is_spaced(line, i));
	return n;
}

/* Three digits up to a comma or the end. */
static bool is_thousands(struct dtx_str line, size_t at)
{
	size_t i;

	for (i = at; i < line.len && line.ptr[i] >= '0' && line.ptr[i] <= '9'; i++)
		;
	return i == at + 3 && (i == line.len || line.ptr[i] == ',');
}

/* How many digits end at `at`, behind nothing but a sign or a currency; 0: it is no such number. */
static size_t leading_digits(struct dtx_str line, size_t from, size_t at, bool *currency)
{
	size_t n = 0;

	while (n < at - from && line.ptr[at - 1 - n] >= '0' && line.ptr[at - 1 - n] <= '9')
		n++;
	*currency = false;
	for (; from < at - n; from++) {
		unsigned char ch = (unsigned char)line.ptr[from];

		*currency |= ch == '$' || ch >= 0x80;
		if (!strchr("$+-(", ch) && ch < 0x80)
			return 0;
	}
	return n;
}

/* Where the cell of the column begins. */
static size_t column_at(struct dtx_str line, uint32_t col)
{
	size_t i = 0;

	for (; col && i < line.len; i++)
		col -= line.ptr[i] == ',';
	return i;
}

/* The cell of the column takes the cells too many: each is three digits. */
static bool takes_groups(struct group *g, struct dtx_str line, uint32_t extra)
{
	size_t from = column_at(line, g->col), at = from, digits;
	uint32_t n = extra;
	bool currency;

	while (at < line.len && line.ptr[at] != ',')
		at++;
	digits = leading_digits(line, from, at, &currency);
	if (!extra) /* what has no comma is no number that needs one */
		return digits <= 3;
	if (!digits || digits > 3 || line.ptr[at - digits] == '0')
		return false;
	for (; n && at < line.len && is_thousands(line, at + 1); n--)
		at += 4;
	g->marked += currency || extra > 1;
	return !n;
}

static bool takes(struct group *g, struct dtx_str line)
{
	uint32_t n = count_commas(line, false) + 1;

	g->rows++;
	g->joined += n > g->nnames;
	if (n < g->nnames)
		return false;
	if (g->spaced)
		return n == g->nnames || count_commas(line, true) + 1 == g->nnames;
	return takes_groups(g, line, n - g->nnames);
}

static bool takes_all(struct group *g)
{
	struct dtx_str line;
	size_t at = dtx_line_filled(g->text, g->names);

	g->joined = g->rows = g->marked = 0;
	for (; at < g->text.len; at = dtx_line_filled(g->text, line)) {
		line = dtx_line_at(g->text, at);
		if (!takes(g, line))
			return false;
	}
	return g->joined != 0;
}

static bool has_names(struct group *g)
{
	size_t from = 0, i;

	g->names = dtx_line_at(g->text, 0);
	g->nnames = count_commas(g->names, false) + 1;
	if (g->nnames < GROUP_NAMED || g->nnames > GROUP_COLS ||
	    count_commas(g->names, true) + 1 != g->nnames)
		return false;
	for (i = 0; i <= g->names.len; i++) {
		if (i < g->names.len && g->names.ptr[i] != ',')
			continue;
		if (dtx_head_judge((struct dtx_str){ g->names.ptr + from, i - from }) !=
		    DTX_HEAD_TEXT)
			return false;
		from = i + 1;
	}
	return true;
}

/* Numbers of a single column, and of no other one as well.  One name too few may be that of row
 * names, unless the first one is such a name. */
static bool finds_column(struct group *g)
{
	struct dtx_str first = { g->names.ptr, 0 };
	uint32_t col, found = g->nnames;

	for (col = 0; col < g->nnames; col++) {
		g->col = col;
		if (!takes_all(g))
			continue;
		if (found < g->nnames)
			return false;
		found = col;
	}
	g->col = found;
	if (found == g->nnames || !takes_all(g) || g->joined < GROUP_ROWS)
		return false;
	while (first.ptr[first.len] != ',')
		first.len++;
	return g->joined < g->rows || g->marked || dtx_csv_names_texts(first);
}

/* Some record near the begin has cells too many. */
static bool is_too_wide(const struct group *g)
{
	struct dtx_str line;
	size_t at = dtx_line_filled(g->text, g->names), rows = 0;

	for (; at < g->text.len && rows < DTX_CSV_TOP_ROWS; rows++) {
		line = dtx_line_at(g->text, at);
		if (count_commas(line, false) >= g->nnames)
			return true;
		at = dtx_line_filled(g->text, line);
	}
	return false;
}

static bool finds(struct group *g)
{
	bool spaced;

	if (!has_names(g) || !is_too_wide(g))
		return false;
	g->spaced = true;
	spaced = takes_all(g) && g->rows >= GROUP_ROWS;
	g->spaced = false;
	if (finds_column(g))
		return !spaced; /* either would do */
	g->spaced = spaced;
	return spaced;
}

/* Puts the mark of a delimiter where a comma parts cells. */
static void part_line(const struct group *g, struct dtx_str line, char *to)
{
	uint32_t n = count_commas(line, false) + 1, cell = 0;
	uint32_t extra = n > g->nnames ? n - g->nnames : 0;
	size_t i;

	for (i = 0; i < line.len; i++) {
		if (line.ptr[i] != ',')
			continue;
		if (g->spaced ? !extra || !is_spaced(line, i)
		              : cell < g->col || cell >= g->col + extra)
			to[i] = GROUP_PART;
		cell++;
	}
}

static enum dtx_code take(struct dtx_csv *c, const struct group *g, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str line;
	char *copy = dtx_mem_alloc(g->text.len + 1, 1);
	size_t at = 0;

	if (!copy)
		DTX_FAIL_MEM(err);
	memcpy(copy, g->text.ptr, g->text.len);
	for (; at < g->text.len; at = dtx_line_filled(g->text, line)) {
		line = dtx_line_at(g->text, at);
		part_line(g, line, copy + at);
	}
	DTX_TRY(dtx_encoding_take(&c->enc, copy, g->text.len, err));
	DTX_TRY(dtx_csv_note_text(c, DTX_W_READER_NOTE,
	                          g->spaced ? "has texts with commas before blanks: those part no "
	                                      "cells, as all rows fit the names without them"
	                                    : "has numbers with commas between their thousands: "
	                                      "those part no cells",
	                          err));
	c->opts.delimiter = "\x1f";
	c->opts.quote = "";
out:
	return rc;
}

enum dtx_code dtx_csv_groups(struct dtx_csv *c, bool *took, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct group g = { .text = { c->enc.text, c->enc.len } };

	*took = false;
	if (!dtx_csv_is_undeclared(c) || !c->opts.strays || c->dialect.quote == '\'' ||
	    c->dialect.escape || strcmp(c->dialect.delim, ",") != 0 || c->enc.len > GROUP_TEXT ||
	    memchr(c->enc.text, '"', c->enc.len) || memchr(c->enc.text, GROUP_PART, c->enc.len))
		goto out;
	*took = finds(&g);
	if (*took)
		DTX_TRY(take(c, &g, err));
out:
	return rc;
}
