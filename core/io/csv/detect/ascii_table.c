/* Reads tables that are drawn: with bars around each line ("| 1 | Ann |"), rules of dashes, or
 * columns that are placed below the dashes of a rule. What is only drawn is blanked out byte by
 * byte, so that all cells keep their positions. */
#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/io/csv/csv.h"
#include "core/io/csv/lines.h"

#define FRAME_SAMPLE  ((size_t)64 << 10)
#define FRAME_LINES   64 /* a frame begins within this many lines */
#define FRAME_COLS    1024u
#define FRAME_RULE    '\x01' /* replaces the start of a rule, which then is a comment */
#define FRAME_RULES   "\x01"
#define FRAME_PLACED  '\x1f' /* inserted between columns that only their places separate */
#define FRAME_PLACEDS "\x1f"
#define FRAME_RECORD  '\x1e' /* ASCII's separator of records; there is one of units too */

enum frame_kind { FRAME_NONE, FRAME_BARS, FRAME_PLACES, FRAME_DELIMITED, FRAME_SEPARATORS };
struct frame {
	enum frame_kind kind;
	bool escapes;        /* a bar inside a cell has a backslash before it */
	bool quotes;         /* cells may be quoted, as the table was exported and not drawn */
	bool bars;           /* the rule below the header crosses the bars between cells */
	int64_t rules;       /* number of lines left out */
	struct dtx_str rule; /* the first of them */
	struct {
		size_t from, to; /* places of the dashes, in characters */
	} col[FRAME_COLS];
	uint32_t ncols;
};

/* --- lines --- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct dtx_str trimmed(struct dtx_str s)
{
	while (s.len && is_blank(s.ptr[0]))
		s = (struct dtx_str){ s.ptr + 1, s.len - 1 };
	while (s.len && is_blank(s.ptr[s.len - 1]))
		s.len--;
	return s;
}

/* The length of the bar there: an ASCII one, or a box-drawing one. 0: none. */
static size_t bar_at(struct dtx_str s, size_t at)
{
	const char *p = s.ptr + at;

	if (at < s.len && *p == '|')
		return 1;
	if (s.len - at < 3 || at > s.len || p[0] != '\xe2')
		return 0;
	return (p[1] == '\x94' && memchr("\x82\x83\x86\x8a", p[2], 4)) ||
	                       (p[1] == '\x95' && p[2] == '\x91')
	               ? 3
	               : 0;
}

static size_t last_bar(struct dtx_str s)
{
	if (s.len > 1 && s.ptr[s.len - 1] == '|')
		return s.len - 1;
	return s.len > 3 && bar_at(s, s.len - 3) == 3 ? s.len - 3 : 0;
}

static bool is_framed(struct dtx_str line)
{
	line = trimmed(line);
	return bar_at(line, 0) && last_bar(line);
}

static uint32_t count_bars(struct dtx_str line)
{
	uint32_t n = 0;
	size_t at = 0;

	for (; at < line.len; at++)
		n += bar_at(line, at) != 0 && !(at && line.ptr[at - 1] == '\\');
	return n;
}

/* Whether the line has only dashes and the characters that join them. */
static bool is_rule(struct dtx_str line, const char *joins)
{
	size_t at = 0, run = 0, longest = 0;

	while (at < line.len) {
		uint32_t cp = dtx_utf8_next(line.ptr, line.len, &at);

		if (cp == '-' || cp == '=' || (cp >= 0x2500 && cp < 0x2580)) {
			longest = DTX_MAX(longest, ++run);
		} else if (cp < 0x80 && cp && strchr(joins, (int)cp)) {
			run = 0;
		} else {
			return false;
		}
	}
	return longest >= 2;
}

/* --- quoted cells --- */

static bool parts_cells(struct dtx_str s, size_t at)
{
	return dtx_line_is_end(s.ptr[at]) || (s.ptr[at] && strchr(",;\t|", s.ptr[at]));
}

/* Whether there are line ends inside quoted cells. Then what looks drawn may be text. */
static bool holds_quoted_lines(struct dtx_str s, bool cut)
{
	bool inside = false, lines = false;
	size_t at;

	for (at = 0; at < s.len; at++) {
		if (s.ptr[at] != '"') {
			lines |= inside && dtx_line_is_end(s.ptr[at]);
		} else if (!inside) {
			inside = !at || parts_cells(s, at - 1);
			lines = false;
		} else if (at + 1 < s.len && s.ptr[at + 1] == '"') {
			at++;
		} else if (at + 1 < s.len && !parts_cells(s, at + 1)) {
			inside = false; /* a box-drawing character */
		} else if (lines) {
			return true;
		} else {
			inside = false;
		}
	}
	return cut && inside && lines;
}

/* --- bars around lines --- */

struct bars {
	size_t framed, equal, rules, outside, lines;
	uint32_t n;
	bool markdown;
};

static void bars_line(struct bars *b, struct dtx_str line)
{
	b->lines++;
	if (is_rule(line, "|+: \t")) {
		b->markdown |= is_framed(line) && b->framed == 1 && !b->rules;
		b->rules++;
	} else if (is_framed(line)) {
		if (!b->framed++)
			b->n = count_bars(line);
		b->equal += count_bars(line) == b->n;
	} else {
		b->outside += trimmed(line).len != 0;
	}
}

static bool find_bars(struct frame *f, struct dtx_str sample)
{
	struct bars b = { 0 };
	size_t at = 0, most;

	while (at < sample.len) {
		struct dtx_str line = dtx_line_at(sample, at);

		bars_line(&b, line);
		if (b.lines == FRAME_LINES && !b.framed)
			return false;
		at = dtx_line_after(sample, line);
	}
	/* At least this many of ten lines must have bars. Markdown may have prose around the table.
	 */
	most = b.markdown ? 3 : b.rules ? 6 : 10;
	if (b.framed < 2 || b.n < 2 || b.equal * 10 < b.framed * 9 || (!b.rules && b.n < 3) ||
	    b.framed * 10 < (b.framed + b.outside) * most)
		return false;
	f->kind = FRAME_BARS;
	f->escapes = b.markdown;
	f->quotes = !b.rules;
	return true;
}

/* --- columns below a rule --- */

static bool rule_columns(struct frame *f, struct dtx_str line)
{
	size_t at = 0;

	if (!is_rule(line, " ") || memchr(line.ptr, '\xe2', line.len))
		return false;
	for (f->ncols = 0; at < line.len && f->ncols < FRAME_COLS; f->ncols++) {
		while (at < line.len && line.ptr[at] == ' ')
			at++;
		f->col[f->ncols].from = at;
		while (at < line.len && line.ptr[at] != ' ')
			at++;
		f->col[f->ncols].to = at;
		while (at < line.len && line.ptr[at] == ' ')
			at++;
	}
	return f->ncols >= 2 && f->ncols < FRAME_COLS;
}

/* Whether there are only blanks between the columns; `put` NULL or the line in which to insert
 * separators there. */
static bool is_placed(const struct frame *f, struct dtx_str line, char *put)
{
	size_t at = 0, place = 0, col = 1;
	bool any = false;

	while (at < line.len && col < f->ncols) {
		size_t from = at;
		uint32_t cp = dtx_utf8_next(line.ptr, line.len, &at);

		if (cp == '\t')
			return false;
		if (cp == '\f' && !place) { /* a page break, which is not a character of the line */
			if (put)
				put[from] = ' ';
			continue;
		}
		if (cp != ' ' && (place < f->col[0].from ||
		                  (place >= f->col[col - 1].to && place < f->col[col].from)))
			return false;
		if (place + 1 == f->col[col].from) {
			if (put)
				put[from] = FRAME_PLACED;
			col++;
		}
		place++;
		any = true;
	}
	return any && col > 1;
}

static bool find_places(struct frame *f, struct dtx_str sample)
{
	struct dtx_str line, before = { NULL, 0 };
	size_t at = 0, lines = 0, good = 0, all = 0;
	bool found = false;

	for (; at < sample.len; at = dtx_line_after(sample, line)) {
		line = dtx_line_at(sample, at);
		if (!found && lines++ == FRAME_LINES)
			return false;
		if (!found && rule_columns(f, line)) {
			found = true;
			all = good = before.len && is_placed(f, before, NULL);
		} else if (found && !trimmed(line).len) {
			break;
		} else if (found && !is_rule(line, " ")) {
			all++;
			good += is_placed(f, line, NULL);
		}
		before = line;
	}
	if (!found || good < 2 || good * 10 < all * 8 ||
	    memchr(sample.ptr, FRAME_PLACED, sample.len))
		return false;
	f->kind = FRAME_PLACES;
	return true;
}

/* --- a rule between delimiters --- */

/* Whether this is a line "--,----,---" below the header. */
static bool rules_header(struct dtx_str line, struct dtx_str before)
{
	static const char delims[] = ",;\t";
	size_t i, k, run = 0;

	for (i = 0; delims[i]; i++) {
		char join[] = { delims[i], 0 };

		if (!memchr(line.ptr, delims[i], line.len) || !is_rule(line, join) ||
		    dtx_line_count(line, delims[i]) != dtx_line_count(before, delims[i]))
			continue;
		for (k = 0; k < line.len; k++) {
			if (line.ptr[k] == delims[i] && run < 2)
				return false;
			run = line.ptr[k] == delims[i] ? 0 : run + 1;
		}
		return run >= 2;
	}
	return false;
}

/* Whether this is a rule "----+----" below "id | name", or "--|----" or ":-- | --:" below
 * "id|name". */
static bool rules_bars(struct dtx_str line, struct dtx_str before)
{
	size_t joins = dtx_line_count(line, '+');
	char first = line.len ? line.ptr[0] : 0, last = line.len ? line.ptr[line.len - 1] : 0;

	if (line.len < 5 || memchr(line.ptr, '=', line.len))
		return false;
	if (joins)
		return first == '-' && last == '-' && is_rule(line, "+") &&
		       joins == dtx_line_count(before, '|');
	joins = dtx_line_count(line, '|');
	return first && strchr("-: ", first) && last && strchr("-: ", last) && joins &&
	       is_rule(line, "| :") && joins == dtx_line_count(before, '|') &&
	       dtx_str_find(line, DTX_STR("||"), 0) < 0;
}

/* Whether the line above the supposed header is a record too; then there is no header. */
static bool is_record_above(struct dtx_str above, struct dtx_str header)
{
	static const char delims[] = ",;\t|";
	size_t i;

	for (i = 0; delims[i]; i++) {
		if (above.len && memchr(above.ptr, delims[i], above.len) &&
		    dtx_line_count(above, delims[i]) == dtx_line_count(header, delims[i]))
			return true;
	}
	return false;
}

static bool find_delimited(struct frame *f, struct dtx_str sample)
{
	struct dtx_str line, before = { NULL, 0 }, above = { NULL, 0 };
	size_t at = 0, lines = 0;

	for (; at < sample.len && lines < FRAME_LINES; lines++, at = dtx_line_after(sample, line)) {
		line = dtx_line_at(sample, at);
		f->bars = line.len && before.len && rules_bars(line, before);
		if (f->bars || (line.len && before.len && rules_header(line, before))) {
			f->kind = is_record_above(above, before) ? FRAME_NONE : FRAME_DELIMITED;
			return f->kind != FRAME_NONE;
		}
		above = before.len ? before : above;
		before = line;
	}
	return false;
}

/* --- separators of ASCII --- */

/* Finds records that end with the separator, with at most a line end after it. */
static bool find_separators(struct frame *f, struct dtx_str sample)
{
	const char *end = sample.ptr + sample.len, *p = sample.ptr;

	if (!memchr(p, FRAME_PLACED, sample.len) || !memchr(p, FRAME_RECORD, sample.len))
		return false;
	for (; p < end; p++) { /* every line end must come after a separator or another line end */
		if (dtx_line_is_end(*p) &&
		    (p == sample.ptr || (p[-1] != FRAME_RECORD && !dtx_line_is_end(p[-1]))))
			return false;
	}
	f->kind = FRAME_SEPARATORS;
	return true;
}

static void take_separators(struct dtx_str text, char *to)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		if (text.ptr[i] == FRAME_RECORD)
			to[i] = i + 1 < text.len && dtx_line_is_end(text.ptr[i + 1]) ? '\r' : '\n';
	}
}

/* --- putting it away --- */

static void take_bars(struct dtx_str line, char *to)
{
	struct dtx_str inner = trimmed(line);
	size_t shift = (size_t)(inner.ptr - line.ptr), at, n;

	memset(to + shift, ' ', bar_at(inner, 0));
	memset(to + shift + last_bar(inner), ' ', inner.len - last_bar(inner));
	for (at = bar_at(inner, 0); at < last_bar(inner); at += n ? n : 1) {
		n = bar_at(inner, at);
		if (n == 3)
			memcpy(to + shift + at, "|  ", 3);
	}
}

/* Whether this is another rule. Below the first one, "| -- | -- |" may also be a record of missing
 * values. */
static bool is_further_rule(const struct frame *f, struct dtx_str line)
{
	size_t at, run = 0;

	if (!f->rules || dtx_str_eq(line, f->rule))
		return true;
	for (at = 0; at < line.len; at++) {
		if (line.ptr[at] != '-' && run && run < 3)
			return false;
		run = line.ptr[at] == '-' ? run + 1 : 0;
	}
	return !run || run >= 3;
}

static void take_line(struct frame *f, struct dtx_str line, struct dtx_str before, char *to)
{
	static const char *const joins[] = { [FRAME_BARS] = "|+: \t", [FRAME_PLACES] = " " };
	bool rule =
		f->kind == FRAME_DELIMITED
			? before.len && !f->rules &&
				  (f->bars ? rules_bars(line, before) : rules_header(line, before))
			: is_rule(line, joins[f->kind]) && is_further_rule(f, line);

	if (!line.len)
		return;
	if (rule) {
		memset(to, '-', line.len);
		to[0] = FRAME_RULE;
		if (!f->rules++)
			f->rule = line;
	} else if (f->kind == FRAME_BARS && is_framed(line)) {
		take_bars(line, to);
	} else if (f->kind == FRAME_PLACES && is_placed(f, line, NULL)) {
		(void)is_placed(f, line, to);
	}
}

static enum dtx_code take_all(struct frame *f, struct dtx_encoding *e, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text = { e->text, e->len }, line, before = { NULL, 0 };
	char *copy = dtx_mem_alloc(e->len + 1, 1);
	size_t at = 0;

	if (!copy)
		DTX_FAIL_MEM(err);
	memcpy(copy, e->text, e->len);
	if (f->kind == FRAME_SEPARATORS) {
		take_separators(text, copy);
		at = text.len;
	}
	for (; at < text.len; at = dtx_line_after(text, line)) {
		line = dtx_line_at(text, at);
		take_line(f, line, before, copy + at);
		before = line;
	}
	DTX_TRY(dtx_encoding_take(e, copy, e->len, err));
out:
	return rc;
}

static enum dtx_code tell(struct dtx_csv *c, const struct frame *f, struct dtx_err *err)
{
	static const char *const what[] = {
		[FRAME_BARS] = "bars around its lines are not cells",
		[FRAME_PLACES] = "its columns are below the dashes of a rule",
		[FRAME_DELIMITED] = "the row of dashes below its header is not a record",
		[FRAME_SEPARATORS] = "",
	};
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;

	if (f->kind == FRAME_SEPARATORS)
		goto out;
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
	            "'%s' is a drawn table: %s; ruled lines left out: %lld",
	            dtx_source_name(c->head.src), what[f->kind], (long long)f->rules);
	dtx_err_hint(&w, "with \"dialect\": {\"delimiter\": ...} no line is taken for a drawn one");
	w.count = f->rules;
	DTX_TRY(dtx_csv_note(c, &w, err));
out:
	return rc;
}

static bool is_undeclared(const struct dtx_csv *c)
{
	const struct dtx_read_opts *o = &c->opts;

	return !o->delimiter && !o->quote && !o->comment && !o->escape && !o->trim &&
	       !o->terminator && !o->quotes && !dtx_source_is_part(c->head.src);
}

/* The beginning of the text, up to a line end if it has one. */
static struct dtx_str sample_of(const struct dtx_encoding *e)
{
	size_t len = DTX_MIN(e->len, FRAME_SAMPLE), n = len;

	while (n < e->len && n && !dtx_line_is_end(e->text[n - 1]))
		n--;
	return (struct dtx_str){ e->text, n ? n : len };
}

static bool find_drawn(struct frame *f, struct dtx_str sample, bool cut)
{
	return (find_bars(f, sample) || find_places(f, sample) || find_delimited(f, sample)) &&
	       !holds_quoted_lines(sample, cut);
}

enum dtx_code dtx_csv_frame(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str sample;
	struct frame *f = NULL;

	if (!is_undeclared(c)) {
		if (!dtx_source_is_part(c->head.src))
			DTX_TRY(dtx_csv_marks_sep(c, err));
		goto out;
	}
	DTX_TRY(dtx_csv_marks(c, err));
	if (c->opts.delimiter)
		goto out;
	sample = sample_of(&c->enc);
	f = dtx_mem_zalloc(1, sizeof(*f));
	if (!f)
		DTX_FAIL_MEM(err);
	if (!find_separators(f, sample) && !find_drawn(f, sample, sample.len < c->enc.len))
		goto out;
	DTX_TRY(take_all(f, &c->enc, err));
	DTX_TRY(tell(c, f, err));
	if (f->kind != FRAME_SEPARATORS)
		c->opts.comment = FRAME_RULES;
	if (f->kind == FRAME_DELIMITED && !f->bars)
		goto out;
	c->opts.delimiter = f->kind == FRAME_BARS || f->bars ? "|" : FRAME_PLACEDS;
	c->opts.quote = f->quotes ? NULL : "";
	c->opts.escape = f->escapes ? "\\" : NULL;
	c->opts.trim = f->kind != FRAME_SEPARATORS;
out:
	dtx_mem_free(f);
	return rc;
}
