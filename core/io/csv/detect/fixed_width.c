/* Reads tables with columns at fixed places but without a rule: columns are separated by places
 * that are blank in every line. Cells may be empty or contain blanks, so neither one blank nor
 * several separate them. */
#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/io/csv/csv.h"
#include "core/io/csv/lines.h"

#define PLACES_TEXT  ((size_t)16 << 20) /* a larger text is left as it is */
#define PLACES_HEAD  ((size_t)64 << 10)
#define PLACES_LEN   2048u /* limit of places in a line */
#define PLACES_COLS  256u
#define PLACES_LINES 3u /* names and two rows; fewer do not show anything */
#define PLACES_PART  '\x1f'
#define PLACES_RULE  '\x01' /* replaces the start of a drawn line, as a comment */
#define PLACES_DASH  3      /* least number of dashes together in it */
#define PLACES_PROSE 16     /* limit of lines directly above the names that may be left out */
#define PLACES_SURE  8      /* for that, the table must have this many lines */

struct places {
	struct dtx_str text;
	size_t from, to; /* bytes of the lines that were looked at */
	size_t lines;
	uint32_t len; /* length of the longest line */
	bool named[PLACES_LEN], used[PLACES_LEN];
	struct {
		uint32_t from, to;
	} col[PLACES_COLS];
	uint32_t ncols;
	int64_t rules; /* number of lines left out */
	bool even;     /* blanks separate every line just as well */
};

static bool is_empty(struct dtx_str line)
{
	return !dtx_utf8_trim(line).len;
}

/* Marks the places that are not blank; false: the line cannot be part of such a table. */
static bool mark_line(struct dtx_str line, bool *used, uint32_t *len)
{
	size_t at = 0;
	uint32_t place = 0;

	for (; at < line.len; place++) {
		uint32_t cp = dtx_utf8_next(line.ptr, line.len, &at);

		if (cp == '\t' || cp == (uint32_t)PLACES_PART || place == PLACES_LEN)
			return false;
		if (cp != ' ') {
			used[place] = true;
			*len = DTX_MAX(*len, place + 1);
		}
	}
	return true;
}

/* Whether the line has dashes above a sum or below the names. There may be just two below a short
 * name. */
static bool is_rule(struct dtx_str line)
{
	size_t i, run = 0, longest = 0;

	for (i = 0; i <= line.len; i++) {
		char c = i < line.len ? line.ptr[i] : ' ';

		if ((c != '-' && c != '=' && c != ' ') || (c == ' ' && run == 1))
			return false;
		run = c == ' ' ? 0 : run + 1;
		longest = DTX_MAX(longest, run);
	}
	return longest >= PLACES_DASH;
}

/* Marks the next lines up to an empty one. */
static bool mark_block(struct places *p, size_t *at)
{
	struct dtx_str line = { NULL, 0 };
	bool fine = true;

	while (*at < p->text.len && is_empty(dtx_line_at(p->text, *at)))
		*at = dtx_line_after(p->text, dtx_line_at(p->text, *at));
	memset(p->named, 0, sizeof(p->named));
	memset(p->used, 0, sizeof(p->used));
	p->len = 0;
	p->from = *at;
	for (p->lines = 0; *at < p->text.len; *at = dtx_line_after(p->text, line), p->lines++) {
		line = dtx_line_at(p->text, *at);
		if (is_empty(line))
			break;
		fine = fine &&
		       (is_rule(line) || mark_line(line, p->lines ? p->used : p->named, &p->len));
	}
	p->to = *at;
	return fine && p->lines >= PLACES_LINES;
}

static bool any(const bool *place, uint32_t from, uint32_t to)
{
	while (from < to && !place[from])
		from++;
	return from < to;
}

/* Whether two columns are words of one: they are one blank apart, and only one of them has a name,
 * or has cells. The first column may lack a name because it has row numbers. */
static bool goes_on(const struct places *p, uint32_t from, uint32_t to)
{
	uint32_t begin = p->ncols ? p->col[p->ncols - 1].from : 0;
	uint32_t left = p->ncols ? p->col[p->ncols - 1].to : 0;

	if (!p->ncols || from != left + 1)
		return false;
	return !any(p->named, from, to) || !any(p->used, from, to) ||
	       (p->ncols > 1 && !any(p->named, begin, left));
}

static bool find_columns(struct places *p)
{
	uint32_t at = 0, from;

	for (p->ncols = 0; at < p->len; at++) {
		if (!p->named[at] && !p->used[at])
			continue;
		for (from = at; at < p->len && (p->named[at] || p->used[at]); at++)
			;
		if (goes_on(p, from, at)) {
			p->col[p->ncols - 1].to = at;
			continue;
		}
		if (p->ncols == PLACES_COLS)
			return false;
		p->col[p->ncols].from = from;
		p->col[p->ncols++].to = at;
	}
	return p->ncols > 2 || (p->ncols == 2 && p->col[1].from > p->col[0].to + 1);
}

/* How many cells a column has, and how many begin or end at the same place. A number may have a
 * footnote mark after it. */
struct edges {
	uint32_t cells, left, right;
};

static void check_line(const struct places *p, struct dtx_str line, struct edges *e)
{
	bool used[PLACES_LEN];
	uint32_t len = 0, c;

	memset(used, 0, p->len);
	(void)mark_line(line, used, &len);
	for (c = 0; c < p->ncols; c++) {
		if (!any(used, p->col[c].from, p->col[c].to))
			continue;
		e[c].cells++;
		e[c].left += used[p->col[c].from];
		e[c].right += used[p->col[c].to - 1] ||
		              (p->col[c].to > p->col[c].from + 1 && used[p->col[c].to - 2]);
	}
}

/* Whether all cells but one in ten share an edge. */
static bool is_edge(const struct edges *e)
{
	return DTX_MAX(e->left, e->right) >= e->cells - e->cells / 10;
}

/* Whether most columns have an edge. Words of a text are not aligned anywhere. */
static bool have_edges(const struct places *p)
{
	struct dtx_str line = dtx_line_at(p->text, p->from);
	size_t at = dtx_line_after(p->text, line);
	struct edges e[PLACES_COLS];
	uint32_t c, good = 0;

	memset(e, 0, sizeof(e));
	for (; at < p->to; at = dtx_line_after(p->text, line)) {
		line = dtx_line_at(p->text, at);
		if (!is_rule(line))
			check_line(p, line, e);
	}
	for (c = 0; c < p->ncols; c++)
		good += is_edge(&e[c]);
	return good * 3 >= p->ncols * 2;
}

/* Whether blanks split every line into equally many cells; then they are the delimiter. */
static bool is_even(const struct places *p, unsigned runs)
{
	struct dtx_str line;
	size_t at = p->from, n, all = 0, i, blanks;

	for (; runs && at < p->to; at = dtx_line_after(p->text, line)) {
		line = dtx_line_at(p->text, at);
		line = dtx_utf8_trim(line);
		for (n = 1, blanks = 0, i = 0; i < line.len; i++) {
			blanks = line.ptr[i] == ' ' ? blanks + 1 : 0;
			n += blanks == runs;
		}
		if (all && n != all)
			return false;
		all = n;
		line = dtx_line_at(p->text, at);
	}
	return runs != 0;
}

static size_t count_words(struct dtx_str line)
{
	size_t i, n = 0;

	for (i = 0; i < line.len; i++)
		n += line.ptr[i] != ' ' && (!i || line.ptr[i - 1] == ' ');
	return n;
}

/* Whether rows have a name or number before them, as statistics programs print them, with the names
 * of the other columns indented above. These may be so close that no place is blank in all
 * lines. */
static bool has_row_names(const struct places *p)
{
	struct dtx_str line = dtx_line_at(p->text, p->from);
	size_t at = dtx_line_after(p->text, line), names = count_words(line);

	if (!line.len || line.ptr[0] != ' ' || names < p->ncols)
		return false;
	for (; at < p->to; at = dtx_line_after(p->text, line)) {
		line = dtx_line_at(p->text, at);
		if (line.ptr[0] == ' ' || count_words(line) != names + 1)
			return false;
	}
	return true;
}

/* Marks the bytes where cells are split. A line with text between the columns, such as a footnote
 * after the table, stays one cell: the reader then refuses it as ragged and names the line. */
static void part_line(const struct places *p, struct dtx_str line, char *to)
{
	size_t at = 0, from, byte[PLACES_COLS];
	uint32_t place = 0, col = 1, c;

	for (; at < line.len; place++) {
		uint32_t cp;

		from = at;
		cp = dtx_utf8_next(line.ptr, line.len, &at);
		if (col < p->ncols && place >= p->col[col - 1].to && cp != ' ')
			return;
		if (col < p->ncols && place + 1 == p->col[col].from)
			byte[col++] = from;
	}
	for (c = 1; c < col; c++)
		to[byte[c]] = PLACES_PART;
}

static enum dtx_code part_all(struct places *p, struct dtx_encoding *e, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *copy = dtx_mem_alloc(e->len + 1, 1);
	struct dtx_str line;
	size_t at;

	if (!copy)
		DTX_FAIL_MEM(err);
	memcpy(copy, e->text, e->len);
	for (at = p->from; at < p->text.len; at = dtx_line_after(p->text, line)) {
		line = dtx_line_at(p->text, at);
		if (is_rule(line)) {
			copy[at] = PLACES_RULE;
			p->rules++;
		} else {
			part_line(p, line, copy + at);
		}
	}
	DTX_TRY(dtx_encoding_take(e, copy, e->len, err));
out:
	return rc;
}

/* Finds the columns; there may be prose directly above the names. */
static bool find_places(struct places *p, struct dtx_str text, unsigned runs)
{
	size_t at = 0, after;
	unsigned prose = 0;

	p->text = text;
	while (at < p->text.len) {
		if (mark_block(p, &at) && (!prose || p->lines >= PLACES_SURE) && find_columns(p) &&
		    have_edges(p)) {
			p->even = is_even(p, runs);
			return !p->even;
		}
		after = dtx_line_after(p->text, dtx_line_at(p->text, p->from));
		if (p->lines > PLACES_SURE && prose++ < PLACES_PROSE)
			at = after;
	}
	return false;
}

/* Whether nothing is declared, and no quotes enclose cells. */
static bool is_open(const struct dtx_csv *c)
{
	const struct dtx_read_opts *o = &c->opts;

	return !o->delimiter && !o->quote && !o->comment && !o->escape && !o->trim &&
	       !o->terminator && !o->quotes && !dtx_source_is_part(c->head.src) &&
	       !c->dialect.comment && c->enc.len <= PLACES_TEXT &&
	       !memchr(c->enc.text, '"', c->enc.len);
}

/* The whole lines at the beginning. A large text is searched only if these look like such a
 * table. */
static struct dtx_str head_of(struct dtx_str text)
{
	size_t len = DTX_MIN(text.len, PLACES_HEAD);

	while (len < text.len && len && text.ptr[len - 1] != '\n')
		len--;
	return (struct dtx_str){ text.ptr, len };
}

/* --- tabs that only align --- */

/* Counts runs of tabs in a line, and tabs. False: there is one at an edge, where it can only be a
 * delimiter. */
static bool count_runs(struct dtx_str line, size_t *runs, size_t *tabs)
{
	size_t i;

	*runs = *tabs = 0;
	for (i = 0; i < line.len; i++) {
		if (line.ptr[i] != '\t')
			continue;
		++*tabs;
		*runs += !i || line.ptr[i - 1] != '\t';
	}
	return line.len && line.ptr[0] != '\t' && line.ptr[line.len - 1] != '\t';
}

/* Whether there are one or several tabs, depending on the width of a cell, between equally many
 * cells in all lines. As single delimiters they would move cells to other columns. */
static bool tabs_align(struct dtx_str text)
{
	struct dtx_str line;
	size_t at = 0, lines = 0, runs, tabs, first = 0, least = SIZE_MAX, most = 0;

	for (; at < text.len; at = dtx_line_after(text, line)) {
		line = dtx_line_at(text, at);
		if (is_empty(line))
			continue;
		if (!count_runs(line, &runs, &tabs) || (lines && runs != first))
			return false;
		first = runs;
		least = DTX_MIN(least, tabs);
		most = DTX_MAX(most, tabs);
		lines++;
	}
	return lines >= PLACES_LINES && first && least != most;
}

/* Replaces tabs that another one follows by blanks, which are trimmed. */
static enum dtx_code take_tabs(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_encoding *e = &c->enc;
	char *copy = dtx_mem_alloc(e->len + 1, 1);
	size_t i;

	if (!copy)
		DTX_FAIL_MEM(err);
	memcpy(copy, e->text, e->len);
	for (i = 0; i + 1 < e->len; i++) {
		if (copy[i] == '\t' && copy[i + 1] == '\t')
			copy[i] = ' ';
	}
	DTX_TRY(dtx_encoding_take(e, copy, e->len, err));
	DTX_TRY(dtx_csv_note_text(c, DTX_W_READER_NOTE,
	                          "has one tab or several between its cells: several count as one",
	                          err));
	c->opts.delimiter = "\t";
	c->opts.trim = true;
out:
	return rc;
}

static enum dtx_code take_places(struct dtx_csv *c, bool *took, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned runs = c->dialect.runs ? c->dialect.runs : c->dialect.delim[0] != '\0';
	struct dtx_str text = { c->enc.text, c->enc.len };
	struct dtx_err w = DTX_ERR_INIT;
	struct places *p = dtx_mem_zalloc(1, sizeof(*p));
	char rules[64];

	if (!p)
		DTX_FAIL_MEM(err);
	*took = find_places(p, head_of(text), runs) && find_places(p, text, runs);
	if (*took && has_row_names(p)) {
		c->opts.delimiter = "blanks";
		goto out;
	}
	if (p->even && !c->dialect.runs && p->ncols == 2) { /* two words of a text have no edges */
		c->opts.delimiter = "blanks";
		*took = true;
		goto out;
	}
	if (!*took)
		goto out;
	DTX_TRY(part_all(p, &c->enc, err));
	snprintf(rules, sizeof(rules), "; lines of dashes left out: %lld", (long long)p->rules);
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
	            "'%s' has %u columns of fixed width, split where every line is blank%s",
	            dtx_source_name(c->head.src), p->ncols, p->rules ? rules : "");
	dtx_err_hint(&w, "\"dialect\": {\"delimiter\": ...} splits them in another way");
	DTX_TRY(dtx_csv_note(c, &w, err));
	if (p->rules)
		c->opts.comment = "\x01";
	c->opts.delimiter = "\x1f";
	c->opts.quote = "";
	c->opts.trim = true;
out:
	dtx_mem_free(p);
	return rc;
}

enum dtx_code dtx_csv_places(struct dtx_csv *c, bool *took, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_dialect *d = &c->dialect;
	struct dtx_str text = { c->enc.text, c->enc.len };

	*took = false;
	if (!d->delim[0] || d->runs || !strcmp(d->delim, " ")) {
		if (is_open(c))
			DTX_TRY(take_places(c, took, err));
	} else if (!strcmp(d->delim, "\t") && tabs_align(head_of(text))) {
		*took = is_open(c) && tabs_align(text);
		if (*took)
			DTX_TRY(take_tabs(c, err));
	}
out:
	return rc;
}
