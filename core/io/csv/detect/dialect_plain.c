/* Tries the plain readings of a text file before all others: cells with one usual delimiter that
 * all records have, in double quotes if necessary, below one line of names. If such a reading
 * explains every record, nothing else is tried. The first record must have the delimiter, so a list
 * of texts is always one column, whatever the texts contain. */
#include <stdio.h>

#include "core/base/text/utf8.h"
#include "core/io/sheet/cellref.h"
#include "core/io/csv/detect/dialect.h"
#include "core/io/header/header.h"
#include "core/io/csv/lines.h"
#include "core/io/repair.h"
#include "core/io/csv/detect/sniff.h"

#define PLAIN_HEAD  ((size_t)64 << 10) /* the rest is checked when it is read */
#define PLAIN_TIE   1e-9
#define PLAIN_RIVAL 0.9 /* a reading with this share of the best score is as good */
#define PLAIN_COLS  64u /* number of columns in which to look for values */

static const char plain_delims[] = "\t,;|";

/* Other marks that may be delimiters if each line has the same number of them. */
static const char *const plain_rarer[] = {
	"::", "^", "~", "#", "@",  "&",      "*",      "!",   "$", "/",
	"%",  "=", "+", ":", "\\", "\u00a0", "\u00a6", "\\t", "_",
};
/* Marks that are used only as delimiters. */
static const char *const plain_control[] = { "\x1f",   "\x01",   "\x02",   "\x1d",   "\x1e",  "\v",
	                                     "\u00a7", "\u00fe", "\uff0c", "\uff1b", "\u060c" };

struct plain {
	struct dtx_str text; /* the sample, which has whole records */
	struct dtx_sniff_sample sample;
	struct dtx_str first; /* its first line that is not blank */
	bool repair;          /* repairs may make records fit */
};

struct plain_cell {
	struct dtx_str s; /* without the quotes that enclose it */
	bool quoted, last;
};

/* The cell at *at, which becomes the position after the cell and its delimiter. delim 0: there is
 * none. */
static struct plain_cell next_cell(struct dtx_str text, size_t *at, char delim)
{
	struct plain_cell cell = { .last = true };
	size_t from = *at, to;

	cell.quoted = from < text.len && text.ptr[from] == '"';
	if (cell.quoted) {
		for (to = ++from; to < text.len; to++) {
			if (text.ptr[to] != '"')
				continue;
			if (to + 1 >= text.len || text.ptr[to + 1] != '"')
				break;
			to++;
		}
		cell.s = (struct dtx_str){ text.ptr + from, to - from };
		*at = to < text.len ? to + 1 : to;
	}
	for (to = *at; to < text.len && !dtx_line_is_end(text.ptr[to]); to++) {
		if (delim && text.ptr[to] == delim) {
			cell.last = false;
			break;
		}
	}
	if (!cell.quoted)
		cell.s = (struct dtx_str){ text.ptr + from, to - from };
	*at = to < text.len ? to + 1 : to;
	return cell;
}

static size_t skip_ends(struct dtx_str text, size_t at)
{
	while (at < text.len && dtx_line_is_end(text.ptr[at]))
		at++;
	return at;
}

/* Whether all names are in apostrophes, as some programs write them. */
static bool names_in_apostrophes(const struct plain *p, char delim)
{
	size_t at = (size_t)(p->first.ptr - p->text.ptr);
	struct plain_cell cell;
	bool all = true;

	do {
		cell = next_cell(p->text, &at, delim);
		all = !cell.quoted && cell.s.len > 2 && cell.s.ptr[0] == '\'' &&
		      cell.s.ptr[cell.s.len - 1] == '\'';
	} while (all && !cell.last);
	return all;
}

/* Whether the second line only underlines the names: "--,----" or "---|:--:". */
static bool is_underlined(const struct plain *p, char delim)
{
	struct dtx_str line = dtx_line_at(p->text, dtx_line_filled(p->text, p->first));
	size_t i, run = 0;

	for (i = 0; i < line.len; i++) {
		if (line.ptr[i] == '-' || line.ptr[i] == '=')
			run++;
		else if (line.ptr[i] == delim && run < 2)
			return false;
		else if (line.ptr[i] == delim)
			run = 0;
		else if (!strchr(": ", line.ptr[i]))
			return false;
	}
	return run >= 2;
}

/* Whether the delimiter is one of several marks together, as in "a~|~b" and "a|^|b". */
static bool is_part_of_marks(struct dtx_str first, char delim)
{
	static const char marks[] = "|~^#@&*!";
	const char *at = memchr(first.ptr, delim, first.len), *end = first.ptr + first.len;

	if (!at || at == first.ptr || at + 2 >= end || !at[1] || !strchr(marks, at[1]))
		return false;
	return at[-1] == at[1] || at[2] == delim;
}

static bool has_comments_above(const struct plain *p)
{
	size_t next = dtx_line_filled(p->text, p->first);

	return p->first.ptr[0] == '#' && next < p->text.len && p->text.ptr[next] == '#';
}

/* Whether the text is a single line with Unicode line ends. */
static bool has_unicode_ends(const struct plain *p)
{
	static const char *const ends[] = { "\xc2\x85", "\u2028", "\u2029" };
	size_t i;

	if (skip_ends(p->text, (size_t)(p->first.ptr - p->text.ptr) + p->first.len) < p->text.len)
		return false;
	for (i = 0; i < DTX_COUNT(ends); i++) {
		if (dtx_str_find(p->first, dtx_str_of(ends[i]), 0) >= 0)
			return true;
	}
	return false;
}

/* Whether all records have the same width, of two or more, and all quotes close. */
static bool is_even(const struct plain *p, char delim, struct dtx_sniff_score *s)
{
	struct dtx_sniff_dialect d = { .delim = { delim, 0 }, .quote = '"' };

	dtx_sniff_score(&p->sample, &d, s);
	if (s->records == 1) /* With one record there is nothing to compare; the reading with more
	                      * names is better. */
		s->score = s->modal;
	return s->records && s->modal > 1 && s->uniform > 1 - PLAIN_TIE && !s->irregular &&
	       !s->unclosed;
}

/* Whether the delimiter explains all records: they are equally wide, their quotes close, and
 * nothing occurs that only the search for rarer dialects handles: a blank after each
 * delimiter, two delimiters each time, bars around lines. */
static bool explains(const struct plain *p, char delim, struct dtx_sniff_score *s)
{
	if (!is_even(p, delim, s))
		return false;
	if (s->spaced > 1 && s->spaced + s->last >= s->delims)
		return false;
	if (delim != ',' && s->modal >= (delim == '|' ? 3 : 5) && s->doubled >= s->records &&
	    !s->hollow)
		return false;
	if (delim == '|' && p->first.ptr[0] == '|' && s->last >= s->records)
		return false;
	if (delim == ',' && s->records > 1 && dtx_dialect_are_numbers(&p->sample))
		return false;
	return !names_in_apostrophes(p, delim) && !is_underlined(p, delim) &&
	       !is_part_of_marks(p->first, delim);
}

/* --- one column --- */

static struct dtx_str line_below(const struct plain *p, struct dtx_str line)
{
	return dtx_line_at(p->text, dtx_line_filled(p->text, line));
}

static bool has_delims(struct dtx_str line)
{
	size_t at = 0;
	char c;

	for (; at < line.len; at++) {
		c = line.ptr[at];
		if (c && strchr(plain_delims, c))
			return true;
	}
	return false;
}

/* Whether the first line has a delimiter that some line below has too. With --repair any delimiter
 * counts, because the repair looks for names with another delimiter than the rows. */
static bool shares_delims(const struct plain *p)
{
	struct dtx_str below = line_below(p, p->first);
	size_t i;

	if (p->repair)
		return has_delims(p->first);
	below.len = p->text.len - (size_t)(below.ptr - p->text.ptr);
	for (i = 0; plain_delims[i]; i++) {
		if (memchr(p->first.ptr, plain_delims[i], p->first.len) &&
		    (!below.len || memchr(below.ptr, plain_delims[i], below.len)))
			return true;
	}
	return false;
}

/* Whether the line is drawn ("-----", "+----+"), or has two blanks together, so that only their
 * places separate columns. */
static bool is_drawn(struct dtx_str line)
{
	size_t at = 0, run = 0;

	while (at < line.len) {
		uint32_t cp = dtx_utf8_next(line.ptr, line.len, &at);

		if (cp == '-' || cp == '=' || (cp >= 0x2500 && cp < 0x2580))
			run++;
		else if (cp >= 0x80 || !strchr("|+: \t", (int)cp))
			return false;
	}
	return run >= 3;
}

static bool is_spread(struct dtx_str line)
{
	struct dtx_str s = dtx_utf8_trim(line);

	return dtx_str_find(s, DTX_STR("  "), 0) >= 0;
}

static uint32_t count_of(struct dtx_str line, struct dtx_str mark)
{
	ptrdiff_t at = 0;
	uint32_t n = 0;

	while ((at = dtx_str_find(line, mark, (size_t)at)) >= 0) {
		at += (ptrdiff_t)mark.len;
		n++;
	}
	return n;
}

/* How often the mark is in each line, if it is equally often in all of several lines; 0
 * otherwise. */
static uint32_t even_count(const struct plain *p, struct dtx_str mark)
{
	uint32_t first = count_of(p->first, mark), lines = 0;
	struct dtx_str line;
	size_t at = 0;

	for (; first && at < p->text.len; at = dtx_line_filled(p->text, line)) {
		line = dtx_line_at(p->text, at);
		if (!line.len)
			continue;
		if (count_of(line, mark) != first)
			return 0;
		lines++;
	}
	return lines > 1 ? first : 0;
}

/* What the cells of one column are, from the first row of a block on. */
struct plain_column {
	bool text, year;   /* in the first row */
	uint32_t values;   /* number of values below it */
	uint32_t numbers;  /* number of those that are no years or dates */
	bool text_between; /* there is a text below a value */
	bool text_above;   /* there is a text between the first row and the first value */
};

static void note_cell(struct plain_column *col, struct dtx_str s, bool first)
{
	enum dtx_head_kind kind = dtx_head_judge(s);
	bool date = kind == DTX_HEAD_YEAR || dtx_head_is_local_date(dtx_utf8_trim(s));

	if (kind == DTX_HEAD_BLANK)
		return;
	if (first) {
		col->text = kind == DTX_HEAD_TEXT && !date;
		col->year = date;
	} else if (kind == DTX_HEAD_TEXT && !date) {
		*(col->values ? &col->text_between : &col->text_above) = true;
	} else {
		col->values++;
		col->numbers += !date;
	}
}

/* Whether there are names above values: at least two, and below the first value no other cells. */
static bool has_values(const struct plain_column *col, bool named)
{
	uint32_t c;

	for (c = 0; c < PLAIN_COLS; c++) {
		bool name = !named || col[c].text || col[c].text_above ||
		            (col[c].year && col[c].numbers == col[c].values);

		if (name && col[c].values > 1 && !col[c].text_between)
			return true;
	}
	return false;
}

/* Adds the next record, at *at, to col, if it has `width` cells (0: any number). Returns the number
 * of its cells. */
static uint32_t next_record(const struct plain *p, size_t *at, char delim, struct plain_column *col,
                            bool first)
{
	struct plain_cell cell;
	uint32_t n = 0;

	do {
		cell = next_cell(p->text, at, delim);
		if (col)
			note_cell(&col[DTX_MIN(n, PLAIN_COLS - 1)], cell.s, first);
		n++;
	} while (!cell.last);
	return n;
}

/* Whether there is another table somewhere below the first line: a row of names, and directly below
 * it rows of the same width with values in some column. */
static bool holds_table(const struct plain *p, char delim)
{
	struct plain_column col[PLAIN_COLS];
	uint32_t width = 0, n, c;
	size_t at = 0, start;
	bool names;

	while (at < p->text.len) {
		start = at;
		if (dtx_line_is_end(p->text.ptr[at])) { /* a blank line, or the LF of CR LF */
			width = at && p->text.ptr[at - 1] != '\r' ? 0 : width;
			at++;
			continue;
		}
		n = next_record(p, &at, delim, NULL, false);
		if (n != width) {
			memset(col, 0, sizeof(col));
			width = n;
			(void)next_record(p, &start, delim, col, true);
			continue;
		}
		if (n < 2)
			continue;
		(void)next_record(p, &start, delim, col, false);
		for (names = false, c = 0; c < PLAIN_COLS; c++)
			names |= col[c].text;
		if (names && has_values(col, true))
			return true;
	}
	return false;
}

/* Whether the lines are words separated by single blanks: equally many, except that row names may
 * have no column name; and either all are numbers, or there are three or more with a column of
 * values. A line with one number, "1,50", is one column. */
static bool are_words(const struct plain *p)
{
	struct plain_column col[PLAIN_COLS] = { { .text = false } };
	struct dtx_str line = line_below(p, p->first), blank = DTX_STR(" ");
	uint32_t words = count_of(line, blank) + 1, names = count_of(p->first, blank) + 1, c;
	size_t from, to;

	if (dtx_dialect_are_numbers(&p->sample))
		return count_of(dtx_utf8_trim(line), blank) || memchr(line.ptr, '\t', line.len);
	if (words < 3 || words > PLAIN_COLS || (names != words && names + 1 != words))
		return false;
	for (; line.len; line = line_below(p, line)) {
		if (count_of(line, blank) + 1 != words || count_of(line, DTX_STR(", ")))
			return false; /* a comma at the end of a word: a sentence, or "Jan 2, 2024"
			               */
		for (from = 0, c = 0; c < words; c++, from = to + 1) {
			for (to = from; to < line.len && line.ptr[to] != ' '; to++)
				;
			note_cell(&col[c], (struct dtx_str){ line.ptr + from, to - from }, false);
		}
	}
	for (c = 0; c < words; c++)
		col[c].text_between |= col[c].text_above;
	return has_values(col, false);
}

/* Whether the lines are drawn or have columns at fixed places. */
static bool is_laid_out(const struct plain *p)
{
	uint32_t lines = 0, spread = 0;
	struct dtx_str line;
	size_t at = 0;

	if (is_spread(p->first))
		return true;
	for (; at < p->text.len; at = dtx_line_filled(p->text, line)) {
		line = dtx_line_at(p->text, at);
		if (!dtx_utf8_trim(line).len)
			continue;
		if (is_drawn(line))
			return true;
		lines++;
		spread += is_spread(line);
	}
	return spread * 2 > lines;
}

static bool is_special(struct dtx_str first)
{
	static const char *const begin[] = { "//", "--", "[", "`" };
	size_t i;

	if (first.ptr[0] == '#')
		return first.len > 1;
	for (i = 0; i < DTX_COUNT(begin); i++) {
		if (dtx_str_starts(first, dtx_str_of(begin[i])))
			return true;
	}
	return false;
}

/* Whether each line below the first begins with a quote and no quote in it ends a cell: these are
 * texts of one column, some of which lack a quote. */
static bool are_torn_texts(const struct plain *p)
{
	struct dtx_str line = line_below(p, p->first);
	size_t i, lines = 0;

	for (; line.len; line = line_below(p, line), lines++) {
		if (line.ptr[0] != '"')
			return false;
		for (i = 1; i + 1 < line.len; i++) {
			if (line.ptr[i] == '"' && strchr(plain_delims, line.ptr[i + 1]))
				return false;
		}
	}
	return lines > 1;
}

/* Whether the text is one column: the first line has no usual delimiter, and nothing suggests
 * another kind of table. */
static bool is_one_column(const struct plain *p, struct dtx_sniff_score *s)
{
	struct dtx_sniff_dialect d = { .delim = "", .quote = '"' };
	size_t i;

	dtx_sniff_score(&p->sample, &d, s);
	if (!s->records || ((s->irregular || s->unclosed) && !are_torn_texts(p)) ||
	    is_special(p->first) || (p->first.ptr[0] != '"' && shares_delims(p)) ||
	    names_in_apostrophes(p, 0) || is_laid_out(p) || are_words(p))
		return false;
	for (i = 0; i < DTX_COUNT(plain_control); i++) {
		if (dtx_str_find(p->first, dtx_str_of(plain_control[i]), 0) >= 0)
			return false;
	}
	for (i = 0; i < DTX_COUNT(plain_rarer); i++) {
		if (even_count(p, dtx_str_of(plain_rarer[i])) >= 2)
			return false;
	}
	for (i = 0; plain_delims[i]; i++) {
		if (holds_table(p, plain_delims[i]))
			return false;
	}
	return true;
}

/* The delimiter that all records from `at` on have equally often; NULL: none. *values: there are
 * three or more columns, and some cells are values. */
static const char *parts_from(const struct plain *p, size_t at, uint32_t least, bool *values)
{
	static const char *const delims[] = { ",", "\t", ";", "|" };
	struct plain rest = { .sample.n = 1, .sample.whole = { p->sample.whole[0] } };
	struct plain_column col[PLAIN_COLS] = { { .text = false } };
	struct dtx_sniff_score s;
	size_t i;

	*values = false;
	rest.sample.piece[0] = (struct dtx_str){ p->text.ptr + at, p->text.len - at };
	for (i = 0; i < DTX_COUNT(delims); i++) {
		struct dtx_sniff_dialect d = { .delim = { delims[i][0], 0 }, .quote = '"' };

		dtx_sniff_score(&rest.sample, &d, &s);
		if (s.records < 2 || s.modal < least || s.uniform < 1 - PLAIN_TIE || s.irregular)
			continue;
		while ((at = skip_ends(p->text, at)) < p->text.len)
			(void)next_record(p, &at, delims[i][0], col, false);
		*values = s.modal > 2 && has_values(col, false);
		return delims[i];
	}
	return NULL;
}

enum { PLAIN_TITLES = 5 }; /* limit of lines above a table that do not have its delimiter */

/* The delimiter of all lines below the first, or below a few more that do not have it, if it gives
 * three or more columns. *above: the number of lines above. */
static const char *parts_all_below(const struct plain *p, uint32_t *above, bool *values)
{
	size_t at = (size_t)(p->first.ptr - p->text.ptr);
	const char *found = NULL;

	*values = false;
	for (*above = 0; *above < PLAIN_TITLES && !found && at < p->text.len;) {
		(void)next_cell(p->text, &at, 0);
		at = skip_ends(p->text, at);
		++*above;
		found = parts_from(p, at, *above == 1 ? 2 : 3, values);
	}
	*values = *values && *above == 1;
	return found;
}

/* --- the decision --- */

struct plain_try {
	char delim; /* 0: no delimiter explains the text */
	struct dtx_sniff_score s;
};

/* Whether a column begins with numbers, which shows that there are columns. */
static bool has_numbers(const struct plain *p, char delim)
{
	struct plain_column col[PLAIN_COLS] = { { .text = false } };
	uint32_t c;
	size_t at = 0;

	(void)next_record(p, &at, delim, NULL, false);
	while ((at = skip_ends(p->text, at)) < p->text.len)
		(void)next_record(p, &at, delim, col, false);
	for (c = 0; c < PLAIN_COLS; c++) {
		if (col[c].numbers && !col[c].text_above)
			return true;
	}
	return false;
}

/* Whether commas give two columns in all records, but one column is as likely: a name with a comma
 * and a blank above only numbers with decimal commas, in a file with another delimiter; texts that
 * all have a comma and a blank, as dates in words and "Paris, France"; any texts with one comma
 * each, in a file whose name promises tabs. */
static bool may_be_one_column(const struct plain *p, const struct plain_try *t, bool tabs)
{
	struct dtx_str rows = line_below(p, p->first);
	struct plain below = { .sample.n = 1 };
	bool spaced = t->s.spaced + t->s.last >= t->s.delims;

	if (!t->delim || t->delim == '\t' || t->s.quoted)
		return false;
	if (tabs)
		return t->s.modal == 2 || spaced;
	if (t->delim != ',' || t->s.modal != 2)
		return false;
	if (spaced && t->s.records > 1)
		return !has_numbers(p, ',');
	if (t->s.spaced != 1 || !rows.len || dtx_str_find(p->first, DTX_STR(", "), 0) < 0)
		return false;
	rows.len = p->text.len - (size_t)(rows.ptr - p->text.ptr);
	below.sample.piece[0] = rows;
	return dtx_dialect_commas_decimal(&below.sample);
}

static const char *show(char delim)
{
	static const char *const shown[] = { "\\t", ",", ";", "|" };

	return delim ? shown[strchr(plain_delims, delim) - plain_delims] : "";
}

/* b NULL: the other reading is one column. */
static enum dtx_code ambiguous(const char *path, const struct plain_try *a,
                               const struct plain_try *b, struct dtx_err *err)
{
	const char *take = show(a->delim);

	if (b)
		dtx_err_set(err, DTX_E_AMBIGUOUS_DIALECT, __FILE__, __LINE__,
		            "'%s': '%s' gives %u columns, '%s' %u, equally well", path,
		            show(a->delim), a->s.modal, show(b->delim), b->s.modal);
	else
		dtx_err_set(
			err, DTX_E_AMBIGUOUS_DIALECT, __FILE__, __LINE__,
			"'%s': '%s' gives %u columns, and one column of texts with '%s' explains "
			"it equally well",
			path, show(a->delim), a->s.modal, show(a->delim));
	if (!b && a->delim == ',' && a->s.spaced == a->s.delims)
		take = ", ";
	dtx_err_hint(err, "say which: --delimiter '%s' or --delimiter '%s'", take,
	             b ? show(b->delim) : "");
	dtx_repair_advise(err, "{\"delimiter\":\"%s\"}", take);
	return DTX_E_AMBIGUOUS_DIALECT;
}

static bool is_declared(const struct dtx_read_opts *o)
{
	return o->delimiter || o->quote || o->escape || o->terminator || o->comment || o->quotes ||
	       o->trim || o->mixed;
}

/* The text without the lines that the options leave out: `skip`, `skip_tail`, rows outside
 * `range`. */
static struct dtx_str cut_out(const struct dtx_read_opts *o, struct dtx_str text)
{
	struct dtx_cellrange r = { .rows_open = true };
	int64_t above = o->skip, below = o->skip_tail;
	size_t at = 0;

	if (o->range && dtx_cell_range_parse(dtx_str_of(o->range), &r) && !r.rows_open)
		above += r.row0;
	for (; above > 0 && at < text.len; above--)
		at = dtx_line_after(text, dtx_line_at(text, at));
	text = (struct dtx_str){ text.ptr + at, text.len - at };
	if (!r.rows_open && r.row1 + 1 < DTX_SHEET_ROWS) {
		for (at = 0; r.row0 <= r.row1 && at < text.len; r.row0++)
			at = dtx_line_after(text, dtx_line_at(text, at));
		text.len = at;
	}
	for (; below > 0 && text.len && text.len <= PLAIN_HEAD; below--) {
		text.len -= dtx_line_is_end(text.ptr[text.len - 1]);
		while (text.len && !dtx_line_is_end(text.ptr[text.len - 1]))
			text.len--;
	}
	return text;
}

/* Takes the first whole records as the sample; false if none. */
static bool take_sample(struct plain *p, struct dtx_str text)
{
	size_t len = DTX_MIN(text.len, PLAIN_HEAD);

	while (len < text.len && len && !dtx_line_is_end(text.ptr[len - 1]))
		len--;
	p->text = (struct dtx_str){ text.ptr, len };
	p->sample.piece[0] = p->text;
	p->sample.whole[0] = len == text.len;
	p->sample.n = 1;
	p->first = dtx_line_at(p->text, skip_ends(p->text, 0));
	return len && p->first.len;
}

/* Finds the best delimiter that explains the text, and the second best. A tab is hardly ever part
 * of a text. So if tabs explain all records, another delimiter is only a rival if it gives more
 * columns, or if it is the comma in a .csv file. */
static void try_delims(const struct plain *p, bool own, struct plain_try *best,
                       struct plain_try *second)
{
	struct plain_try t;
	size_t i;

	for (i = 0; plain_delims[i]; i++) {
		t.delim = plain_delims[i];
		if (!memchr(p->first.ptr, t.delim, p->first.len) || !explains(p, t.delim, &t.s))
			continue;
		if (best->delim == '\t' && t.s.modal <= best->s.modal)
			continue;
		if (best->delim == '\t' && !(own && t.delim == ',')) {
			*second = t;
			second->s.score = best->s.score;
			break;
		}
		if (best->delim == '\t')
			*best = t;
		else if (!best->delim || t.s.score > best->s.score) {
			*second = *best;
			*best = t;
		} else if (!second->delim || t.s.score > second->s.score) {
			*second = t;
		}
	}
}

/* Finds a mark between blanks, as in "one : two : three", that each record has equally often and at
 * least twice. */
static void find_spaced_mark(const struct plain *p, char mark[5], struct dtx_sniff_score *s)
{
	static const char *const marks[] = { ":", "::", "/", "~", "*", "+", "&", "!", "=", "-" };
	struct dtx_sniff_dialect d = { .quote = '"' };
	size_t i;

	if (has_delims(p->first))
		return;
	for (i = 0; i < DTX_COUNT(marks); i++) {
		snprintf(d.delim, sizeof(d.delim), " %s ", marks[i]);
		dtx_sniff_score(&p->sample, &d, s);
		if (s->records > 1 && s->modal > 2 && s->uniform > 1 - PLAIN_TIE && !s->irregular &&
		    !s->unclosed && count_of(p->first, dtx_str_of(d.delim)) + 1 == s->modal) {
			memcpy(mark, d.delim, sizeof(d.delim));
			return;
		}
	}
}

enum dtx_code dtx_dialect_plain(const struct dtx_read_opts *opts, struct dtx_str text,
                                const char *path, struct dtx_dialect *out, bool *took,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct plain p = { .text = text, .repair = opts->strays };
	struct plain_try best = { .delim = 0 }, second = { .delim = 0 };
	const char *below = NULL;
	uint32_t above = 1;
	char mark[5] = "";
	bool tabs = dtx_str_ends(dtx_str_of(path), DTX_STR(".tsv")) ||
	            dtx_str_ends(dtx_str_of(path), DTX_STR(".tab"));
	struct plain_try commas = { .delim = ',' };
	bool values = false;

	*took = false;
	if (is_declared(opts) || !take_sample(&p, cut_out(opts, text)) || has_comments_above(&p) ||
	    dtx_dialect_named(p.first) || has_unicode_ends(&p))
		goto out;
	try_delims(&p, dtx_str_ends(dtx_str_of(path), DTX_STR(".csv")), &best, &second);
	if (!best.delim && is_even(&p, ',', &commas.s) && commas.s.spaced &&
	    may_be_one_column(&p, &commas, tabs))
		best = commas;
	if (!best.delim)
		find_spaced_mark(&p, mark, &best.s);
	if (!best.delim && !mark[0]) {
		if (!is_one_column(&p, &best.s))
			goto out;
		below = parts_all_below(&p, &above, &values);
		if (values)
			goto out;
	}
	*took = true;
	memset(out, 0, sizeof(*out));
	out->delim[0] = best.delim;
	if (mark[0])
		memcpy(out->delim, mark, sizeof(out->delim));
	out->runner_up[0] = second.delim;
	out->quote = '"';
	out->score = best.s.score;
	out->maybe = below;
	out->maybe_above = above;
	out->partial = !p.sample.whole[0];
	if (second.delim && second.s.score >= PLAIN_RIVAL * best.s.score)
		rc = ambiguous(path, &best, &second, err);
	else if (may_be_one_column(&p, &best, tabs))
		rc = ambiguous(path, &best, NULL, err);
out:
	return rc;
}
