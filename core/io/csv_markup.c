/* Tables in the markup of LaTeX, of wikis and of ARFF, and pages that a form feed begins.  Marks
 * become what the frames of csv_frame.c are drawn with; every record keeps its line. */
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/io/csv.h"
#include "core/io/lines.h"

#define MARKUP_TEXT ((size_t)16 << 20) /* a larger text is left as it is */
#define MARKUP_RULE '\x01'

enum markup { MARKUP_NONE, MARKUP_LATEX, MARKUP_CARETS, MARKUP_BARS, MARKUP_ARFF, MARKUP_ENDS };

static size_t count(struct dtx_str s, const char *what)
{
	size_t n = 0, len = strlen(what);
	ptrdiff_t at = dtx_str_find(s, dtx_str_of(what), 0);

	for (; at >= 0; at = dtx_str_find(s, dtx_str_of(what), (size_t)at + len))
		n++;
	return n;
}

static bool ends_with(struct dtx_str s, char a, char b)
{
	return s.len > 2 && (s.ptr[0] == a || s.ptr[0] == b) &&
	       (s.ptr[s.len - 1] == a || s.ptr[s.len - 1] == b);
}

/* A row without its end, "\\" or "\\ \hline"; false: it has none. */
static bool latex_row(struct dtx_str *s)
{
	static const char *const rules[] = { "\\hline", "\\midrule", "\\bottomrule" };
	size_t i;

	for (i = 0; i < DTX_COUNT(rules); i++) {
		if (dtx_str_ends(*s, dtx_str_of(rules[i])))
			*s = dtx_utf8_trim((struct dtx_str){ s->ptr, s->len - strlen(rules[i]) });
	}
	if (!dtx_str_ends(*s, DTX_STR("\\\\")))
		return false;
	s->len -= 2;
	return true;
}

/* "\hline", "\begin{tabular}{lll}": no row. */
static bool latex_command(struct dtx_str s)
{
	return s.len > 2 && s.ptr[0] == '\\' && s.ptr[1] >= 'a' && s.ptr[1] <= 'z' &&
	       !memchr(s.ptr, '&', s.len);
}

/* All lines are rows of as many cells, or commands. */
static bool is_latex(struct dtx_str text)
{
	struct dtx_str line, s;
	size_t at = 0, rows = 0, marks = 0, n;

	for (; at < text.len; at = dtx_line_behind(text, line)) {
		line = dtx_line_at(text, at);
		s = dtx_utf8_trim(line);
		if (!s.len || latex_command(s))
			continue;
		n = count(s, "&") - count(s, "\\&");
		if (!latex_row(&s) || !n || (rows && n != marks))
			return false;
		marks = n;
		rows++;
	}
	return rows >= 2;
}

/* Names between carets above rows between bars, or names between doubled bars above rows between
 * single ones: of as many cells. */
static enum markup wiki(struct dtx_str text)
{
	struct dtx_str line, first = { NULL, 0 }, s;
	size_t at = 0, rows = 0, cells = 0;
	bool carets = false;

	for (; at < text.len; at = dtx_line_behind(text, line)) {
		line = dtx_line_at(text, at);
		s = dtx_utf8_trim(line);
		if (!s.len)
			continue;
		if (!first.ptr) {
			first = s;
			carets = ends_with(s, '^', '^');
			cells = carets ? count(s, "^") : count(s, "||");
			if (cells < 3 || (!carets && (!dtx_str_starts(s, DTX_STR("||")) ||
			                              !dtx_str_ends(s, DTX_STR("||")) ||
			                              count(s, "|") != 2 * cells)))
				return MARKUP_NONE;
			continue;
		}
		if (!ends_with(s, '|', carets ? '^' : '|') ||
		    count(s, "|") + (carets ? count(s, "^") : 0) != cells)
			return MARKUP_NONE;
		rows++;
	}
	return !rows ? MARKUP_NONE : carets ? MARKUP_CARETS : MARKUP_BARS;
}

static bool has_word(struct dtx_str line, const char *word)
{
	struct dtx_str s = dtx_utf8_trim(line);
	size_t len = strlen(word);

	return s.len >= len && dtx_str_ieq((struct dtx_str){ s.ptr, len }, dtx_str_of(word)) &&
	       (s.len == len || s.ptr[len] == ' ' || s.ptr[len] == '\t');
}

/* The name in "@attribute NAME TYPE", without its quotes. */
static struct dtx_str arff_name(struct dtx_str line)
{
	struct dtx_str s = dtx_utf8_trim(line);
	size_t n = 0;
	char quote;

	s = dtx_utf8_trim((struct dtx_str){ s.ptr + 10, s.len - 10 });
	quote = s.len && (s.ptr[0] == '\'' || s.ptr[0] == '"') ? s.ptr[0] : 0;
	if (quote)
		s = (struct dtx_str){ s.ptr + 1, s.len - 1 };
	while (n < s.len && (quote ? s.ptr[n] != quote : s.ptr[n] != ' ' && s.ptr[n] != '\t'))
		n++;
	return (struct dtx_str){ s.ptr, n };
}

/* "@relation", names and "@data", with comments and blank lines between them; *data: its line. */
static bool is_arff(struct dtx_str text, struct dtx_str *data)
{
	struct dtx_str line, s;
	size_t at = 0, names = 0;
	bool relation = false;

	for (; at < text.len; at = dtx_line_behind(text, line)) {
		line = dtx_line_at(text, at);
		s = dtx_utf8_trim(line);
		if (!s.len || s.ptr[0] == '%')
			continue;
		if (!relation && !has_word(s, "@relation"))
			return false;
		if (has_word(s, "@attribute") && !memchr(arff_name(s).ptr, ',', arff_name(s).len))
			names++;
		else if (relation)
			break;
		relation = true;
	}
	*data = line;
	at = at < text.len ? dtx_line_behind(text, line) : text.len;
	return names > 1 && has_word(line, "@data") && at < text.len && text.ptr[at] != '{';
}

/* The names stand where "@data" does; all above it are comments. */
static enum dtx_code take_arff(struct dtx_csv *c, struct dtx_str data, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text = { c->enc.text, c->enc.len }, line;
	struct dtx_buf b = DTX_BUF_INIT(2 * MARKUP_TEXT), names = DTX_BUF_INIT(MARKUP_TEXT);
	size_t at = 0, next, len;
	char *copy;

	for (; at < (size_t)(data.ptr - text.ptr); at = next) {
		line = dtx_line_at(text, at);
		next = dtx_line_behind(text, line);
		if (has_word(line, "@attribute"))
			dtx_buf_printf(&names, "%s%.*s", names.len ? "," : "",
			               (int)arff_name(line).len, arff_name(line).ptr);
		if (line.len)
			dtx_buf_addc(&b, '%');
		dtx_buf_addn(&b, text.ptr + at, next - at);
	}
	dtx_buf_adds(&b, dtx_buf_str(&names));
	at += data.len;
	dtx_buf_addn(&b, text.ptr + at, text.len - at);
	DTX_TRY(dtx_buf_check(&names, "the names", err));
	DTX_TRY(dtx_buf_check(&b, "the text", err));
	len = b.len;
	copy = dtx_buf_steal(&b);
	if (!copy)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_encoding_take(&c->enc, copy, len, err));
	c->opts.comment = "%";
	c->opts.delimiter = ",";
	c->opts.header_rows = 1;
out:
	dtx_buf_clear(&names);
	dtx_buf_clear(&b);
	return rc;
}

/* Each line ends with a semicolon or a bar that stands nowhere else, while commas or tabs part its
 * cells. */
static bool has_ends(struct dtx_str text)
{
	struct dtx_str line, s;
	size_t at = 0, rows = 0;
	char end = 0, delim = 0;

	for (; at < text.len; at = dtx_line_behind(text, line)) {
		line = dtx_line_at(text, at);
		s = dtx_utf8_trim(line);
		if (!s.len)
			continue;
		if (!rows++) {
			end = s.ptr[s.len - 1];
			delim = memchr(s.ptr, '\t', s.len) ? '\t' : ',';
		}
		if (!memchr(";|", end, 2) || s.ptr[s.len - 1] != end || s.len < 2 ||
		    memchr(s.ptr, end, s.len - 1) || !memchr(s.ptr, delim, s.len - 1))
			return false;
	}
	return rows >= 3;
}

static enum dtx_code take_ends(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text = { c->enc.text, c->enc.len }, line, s;
	char *copy = dtx_mem_alloc(text.len + 1, 1);
	size_t at = 0, n = 0, next, from;

	if (!copy)
		DTX_FAIL_MEM(err);
	for (; at < text.len; at = next) {
		line = dtx_line_at(text, at);
		next = dtx_line_behind(text, line);
		s = dtx_utf8_trim(line);
		from = s.len ? (size_t)(s.ptr - text.ptr) + s.len : at;
		if (s.len) {
			memcpy(copy + n, text.ptr + at, from - 1 - at);
			n += from - 1 - at;
		}
		memcpy(copy + n, text.ptr + from, next - from);
		n += next - from;
	}
	DTX_TRY(dtx_encoding_take(&c->enc, copy, n, err));
out:
	return rc;
}

static void take_latex(struct dtx_str line, char *to)
{
	struct dtx_str s = dtx_utf8_trim(line), row = s;

	if (!s.len)
		return;
	if (latex_command(s))
		to[0] = MARKUP_RULE;
	else if (latex_row(&row))
		memset(to + (row.ptr - line.ptr) + row.len, ' ',
		       line.len - (size_t)(row.ptr - line.ptr) - row.len);
}

static void take_wiki(struct dtx_str line, enum markup kind, char *to)
{
	size_t i;

	for (i = 0; i < line.len; i++) {
		if (kind == MARKUP_CARETS && line.ptr[i] == '^')
			to[i] = '|';
		else if (kind == MARKUP_BARS && i && to[i - 1] == '|' && line.ptr[i] == '|')
			to[i] = ' ';
	}
}

static enum dtx_code take(struct dtx_csv *c, enum markup kind, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text = { c->enc.text, c->enc.len }, line;
	char *copy = dtx_mem_alloc(text.len + 1, 1);
	size_t at = 0;

	if (!copy)
		DTX_FAIL_MEM(err);
	memcpy(copy, text.ptr, text.len);
	for (; at < text.len; at = dtx_line_behind(text, line)) {
		line = dtx_line_at(text, at);
		if (kind == MARKUP_LATEX)
			take_latex(line, copy + at);
		else
			take_wiki(line, kind, copy + at);
	}
	DTX_TRY(dtx_encoding_take(&c->enc, copy, text.len, err));
	if (kind != MARKUP_LATEX)
		goto out;
	c->opts.comment = "\x01";
	c->opts.delimiter = "&";
	c->opts.quote = "";
	c->opts.escape = "\\";
	c->opts.trim = true;
out:
	return rc;
}

enum dtx_code dtx_csv_markup(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text = { c->enc.text, c->enc.len }, data = { NULL, 0 };
	enum markup kind = MARKUP_NONE;

	if (text.len > MARKUP_TEXT)
		goto out;
	if (is_arff(text, &data))
		kind = MARKUP_ARFF;
	else if (is_latex(text))
		kind = MARKUP_LATEX;
	else if (has_ends(text))
		kind = MARKUP_ENDS;
	else
		kind = wiki(text);
	if (kind == MARKUP_NONE)
		goto out;
	if (kind == MARKUP_ENDS)
		DTX_TRY(take_ends(c, err));
	else
		DTX_TRY(kind == MARKUP_ARFF ? take_arff(c, data, err) : take(c, kind, err));
	DTX_TRY(dtx_csv_note_text(c, DTX_W_READER_NOTE,
	                          kind == MARKUP_ENDS
	                                  ? "has a mark at the end of each line, which is no cell"
	                                  : "is a table in the markup of LaTeX, of a wiki or of "
	                                    "ARFF: its marks are no cells",
	                          err));
out:
	return rc;
}

/* --- pages --- */

/* A form feed at the begin of a record. */
static bool begins_page(struct dtx_str text, const char *p)
{
	size_t at = (size_t)(p - text.ptr);

	return at && dtx_line_is_end(p[-1]) && at + 1 < text.len && !dtx_line_is_end(p[1]);
}

enum dtx_code dtx_csv_pages(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text = { c->enc.text, c->enc.len };
	const char *end = text.ptr + text.len, *p;
	char *copy;
	size_t n;

	if (text.len > MARKUP_TEXT)
		goto out;
	p = memchr(text.ptr, '\f', text.len);
	while (p && !begins_page(text, p))
		p = memchr(p + 1, '\f', (size_t)(end - p - 1));
	/* within quotes it may be a text */
	if (!p || memchr(text.ptr, '"', text.len))
		goto out;
	copy = dtx_mem_alloc(text.len + 1, 1);
	if (!copy)
		DTX_FAIL_MEM(err);
	for (p = text.ptr, n = 0; p < end; p++) {
		if (*p != '\f' || !begins_page(text, p))
			copy[n++] = *p;
	}
	DTX_TRY(dtx_encoding_take(&c->enc, copy, n, err));
	DTX_TRY(dtx_csv_note_text(c, DTX_W_READER_NOTE,
	                          "has pages: the form feeds before their first rows are left out",
	                          err));
out:
	return rc;
}
