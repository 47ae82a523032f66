/* Tables of fixed places without a rule: columns are what is blank between them in every line.
 * Cells may be empty or hold blanks, so that neither one blank nor several part them. */
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/io/csv.h"

#define PLACES_TEXT  ((size_t)16 << 20) /* a larger text is left as it is */
#define PLACES_LEN   2048u              /* places of a line */
#define PLACES_COLS  256u
#define PLACES_LINES 3u /* names and two rows: fewer say nothing */
#define PLACES_PART  '\x1f'
#define PLACES_RULE  '\x01' /* begins a line that is only drawn, as a comment does */
#define PLACES_DASH  3      /* ... of so many dashes together, at least */

struct places {
	struct dtx_str text;
	size_t from, to; /* the lines that tell: bytes */
	size_t lines;
	uint32_t len; /* of the longest line */
	bool named[PLACES_LEN], used[PLACES_LEN];
	struct {
		uint32_t from, to;
	} col[PLACES_COLS];
	uint32_t ncols;
	int64_t rules; /* lines left out */
};

static struct dtx_str line_at(struct dtx_str text, size_t at)
{
	size_t end = at;

	while (end < text.len && text.ptr[end] != '\n' && text.ptr[end] != '\r')
		end++;
	return (struct dtx_str){ text.ptr + at, end - at };
}

static size_t behind(struct dtx_str text, struct dtx_str line)
{
	size_t at = (size_t)(line.ptr - text.ptr) + line.len;

	at += at + 1 < text.len && text.ptr[at] == '\r' && text.ptr[at + 1] == '\n';
	return DTX_MIN(at + 1, text.len);
}

static bool is_empty(struct dtx_str line)
{
	return !dtx_utf8_trim(line).len;
}

/* Marks the places that are not blank; false: no line of such a table. */
static bool mark_line(struct places *p, struct dtx_str line, bool *used)
{
	size_t at = 0;
	uint32_t place = 0;

	for (; at < line.len; place++) {
		uint32_t cp = dtx_utf8_next(line.ptr, line.len, &at);

		if (cp == '\t' || cp == (uint32_t)PLACES_PART || place == PLACES_LEN)
			return false;
		if (cp != ' ') {
			used[place] = true;
			p->len = DTX_MAX(p->len, place + 1);
		}
	}
	return true;
}

/* The next lines without an empty one between them. */
static bool mark_block(struct places *p, size_t *at)
{
	struct dtx_str line = { NULL, 0 };
	bool fine = true;

	while (*at < p->text.len && is_empty(line_at(p->text, *at)))
		*at = behind(p->text, line_at(p->text, *at));
	memset(p->named, 0, sizeof(p->named));
	memset(p->used, 0, sizeof(p->used));
	p->len = 0;
	p->from = *at;
	for (p->lines = 0; *at < p->text.len; *at = behind(p->text, line), p->lines++) {
		line = line_at(p->text, *at);
		if (is_empty(line))
			break;
		fine = fine && mark_line(p, line, p->lines ? p->used : p->named);
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

/* One blank apart and only one of both has a name, or cells: words of one column. */
static bool goes_on(const struct places *p, uint32_t from, uint32_t to)
{
	uint32_t left = p->ncols ? p->col[p->ncols - 1].to : 0;

	return p->ncols && from == left + 1 &&
	       (!any(p->named, from, to) || !any(p->used, from, to));
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

/* What each column's cells have in common: the place of their begin, or of their end. */
struct edges {
	bool left, right;
};

static void check_line(const struct places *p, struct dtx_str line, struct edges *e)
{
	bool used[PLACES_LEN] = { false };
	struct places own = { .len = 0 };
	uint32_t c;

	(void)mark_line(&own, line, used);
	for (c = 0; c < p->ncols; c++) {
		if (!any(used, p->col[c].from, p->col[c].to))
			continue;
		e[c].left &= used[p->col[c].from];
		e[c].right &= used[p->col[c].to - 1];
	}
}

/* Words of a text stand below each other nowhere; here most columns have an edge. */
static bool have_edges(const struct places *p)
{
	struct dtx_str line = line_at(p->text, p->from);
	size_t at = behind(p->text, line);
	struct edges e[PLACES_COLS];
	uint32_t c, good = 0;

	for (c = 0; c < p->ncols; c++)
		e[c] = (struct edges){ true, true };
	for (; at < p->to; at = behind(p->text, line)) {
		line = line_at(p->text, at);
		check_line(p, line, e);
	}
	for (c = 0; c < p->ncols; c++)
		good += e[c].left || e[c].right;
	return good * 3 >= p->ncols * 2;
}

/* The blanks part every line in as many cells: then they do. */
static bool is_even(const struct places *p, unsigned runs)
{
	struct dtx_str line;
	size_t at = p->from, n, all = 0, i, blanks;

	for (; runs && at < p->to; at = behind(p->text, line)) {
		line = line_at(p->text, at);
		line = dtx_utf8_trim(line);
		for (n = 1, blanks = 0, i = 0; i < line.len; i++) {
			blanks = line.ptr[i] == ' ' ? blanks + 1 : 0;
			n += blanks == runs;
		}
		if (all && n != all)
			return false;
		all = n;
		line = line_at(p->text, at);
	}
	return runs != 0;
}

/* Dashes above a sum. */
static bool is_rule(struct dtx_str line)
{
	size_t i, run = PLACES_DASH;

	for (i = 0; i < line.len; i++) {
		if (line.ptr[i] != '-' && line.ptr[i] != '=' && line.ptr[i] != ' ')
			return false;
		if (line.ptr[i] == ' ' && run && run < PLACES_DASH)
			return false;
		run = line.ptr[i] == ' ' ? 0 : i && line.ptr[i - 1] != ' ' ? run + 1 : 1;
	}
	return !is_empty(line) && (!run || run >= PLACES_DASH);
}

/* The bytes where cells are parted; false: something stands between the columns. */
static bool part_line(const struct places *p, struct dtx_str line, char *to)
{
	size_t at = 0, from, byte[PLACES_COLS];
	uint32_t place = 0, col = 1, c;

	for (; at < line.len; place++) {
		uint32_t cp;

		from = at;
		cp = dtx_utf8_next(line.ptr, line.len, &at);
		if (col < p->ncols && place >= p->col[col - 1].to && cp != ' ')
			return false;
		if (col < p->ncols && place + 1 == p->col[col].from)
			byte[col++] = from;
	}
	for (c = 1; c < col; c++)
		to[byte[c]] = PLACES_PART;
	return true;
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
	for (at = p->from; at < p->text.len; at = behind(p->text, line)) {
		line = line_at(p->text, at);
		if (is_rule(line)) {
			copy[at] = PLACES_RULE;
			p->rules++;
		} else {
			(void)part_line(p, line, copy + at);
		}
	}
	DTX_TRY(dtx_encoding_take(e, copy, e->len, err));
out:
	return rc;
}

static bool find_places(struct places *p, unsigned runs)
{
	size_t at = 0;

	while (at < p->text.len) {
		if (mark_block(p, &at) && find_columns(p) && have_edges(p))
			return !is_even(p, runs);
	}
	return false;
}

/* Nothing is declared, nothing but blanks parts the cells, and nothing encloses them. */
static bool is_open(const struct dtx_csv *c)
{
	const struct dtx_read_opts *o = &c->opts;
	const struct dtx_dialect *d = &c->dialect;

	return !o->delimiter && !o->quote && !o->comment && !o->escape && !o->trim &&
	       !o->terminator && !o->quotes && !dtx_source_is_part(c->head.src) && !d->comment &&
	       (!d->delim[0] || d->runs || !strcmp(d->delim, " ")) && c->enc.len <= PLACES_TEXT &&
	       dtx_str_find((struct dtx_str){ c->enc.text, c->enc.len }, DTX_STR("  "), 0) >= 0 &&
	       !memchr(c->enc.text, '"', c->enc.len);
}

enum dtx_code dtx_csv_places(struct dtx_csv *c, bool *took, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned runs = c->dialect.runs ? c->dialect.runs : c->dialect.delim[0] != '\0';
	struct dtx_err w = DTX_ERR_INIT;
	struct places *p = NULL;

	*took = false;
	if (!is_open(c))
		goto out;
	p = dtx_mem_zalloc(1, sizeof(*p));
	if (!p)
		DTX_FAIL_MEM(err);
	p->text = (struct dtx_str){ c->enc.text, c->enc.len };
	if (!find_places(p, runs))
		goto out;
	DTX_TRY(part_all(p, &c->enc, err));
	dtx_err_set(
		&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
		"'%s' has columns of fixed places: %u of them, parted where all lines are blank",
		dtx_source_name(c->head.src), p->ncols);
	dtx_err_hint(&w, "\"dialect\": {\"delimiter\": ...} parts the cells otherwise");
	DTX_TRY(dtx_csv_note(c, &w, err));
	if (p->rules)
		c->opts.comment = "\x01";
	c->opts.delimiter = "\x1f";
	c->opts.quote = "";
	c->opts.trim = true;
	*took = true;
out:
	dtx_mem_free(p);
	return rc;
}
