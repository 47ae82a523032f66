/* What exporters mark otherwise than with commas, quotes and line feeds: a first line that names
 * the delimiter, line ends of Unicode, and cells enclosed by marks of other kinds. */
#include <ctype.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/io/csv.h"
#include "core/io/header.h"
#include "core/io/lines.h"

#define MARKS_SAMPLE ((size_t)64 << 10)
#define MARKS_QUOTES "|`~^"        /* single bytes that cells may be enclosed by */
#define MARKS_DELIMS ",;\t|\x14:^" /* ... and what may stand between two such cells */

/* --- "sep=;" --- */

static bool is_delim(char c)
{
	return c > 0 && c != '"' && c != ' ' && !isalnum((unsigned char)c);
}

/* Spreadsheets write it, and other programs quote it; the next line has to have that delimiter. */
static enum dtx_code marks_sep(struct dtx_csv *c, struct dtx_str text, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str line = dtx_line_at(text, 0),
		       next = dtx_line_at(text, dtx_line_filled(text, line));
	bool quoted = line.len == 7 && line.ptr[0] == '"' && line.ptr[6] == '"';
	char *delim;

	if (quoted)
		line = (struct dtx_str){ line.ptr + 1, 5 };
	if (line.len != 5 || !dtx_str_ieq((struct dtx_str){ line.ptr, 4 }, DTX_STR("sep=")) ||
	    !is_delim(line.ptr[4]) || !memchr(next.ptr, line.ptr[4], next.len))
		goto out;
	delim = dtx_arena_strndup(&c->head.arena, line.ptr + 4, 1);
	if (!delim)
		DTX_FAIL_MEM(err);
	c->opts.delimiter = delim;
	if (quoted)
		c->opts.quote = "\"";
out:
	return rc;
}

/* --- comments above the names --- */

static bool is_comment(struct dtx_str line, const char *prefix)
{
	return dtx_str_starts(line, dtx_str_of(prefix));
}

static size_t count_tabs(struct dtx_str line)
{
	size_t i, n = 0;

	for (i = 0; i < line.len; i++)
		n += line.ptr[i] == '\t';
	return n;
}

/* "##source=x" above "#CHROM\tPOS" or above data: only the doubled mark begins a comment.  A single
 * one that parts as many columns as the next line does begins the names. */
static bool marks_doubled(struct dtx_str text)
{
	struct dtx_str line = dtx_line_at(text, 0), next;
	size_t lines = 0;

	for (; is_comment(line, "##"); lines++)
		line = dtx_line_at(text, dtx_line_filled(text, line));
	next = dtx_line_at(text, dtx_line_filled(text, line));
	return lines >= 2 && line.len && next.len && !is_comment(next, "#") &&
	       (line.ptr[0] != '#' || (count_tabs(line) && count_tabs(line) == count_tabs(next)));
}

/* The line of the names in a log as the W3C has it, "#Fields: date time", the last comment above
 * the records, or as Zeek has it, "#fields\tts", with their types below; len 0: it has none. */
static struct dtx_str marks_fields(struct dtx_str text, size_t *word)
{
	struct dtx_str line = dtx_line_at(text, 0), next, types;

	for (; is_comment(line, "#"); line = next) {
		bool tabs = dtx_str_starts(line, DTX_STR("#fields\t"));

		next = types = dtx_line_at(text, dtx_line_filled(text, line));
		if (tabs && dtx_str_starts(types, DTX_STR("#types\t")))
			next = dtx_line_at(text, dtx_line_filled(text, types));
		*word = tabs ? strlen("#fields") : strlen("#Fields:");
		if (line.ptr != text.ptr && next.len && !is_comment(next, "#") &&
		    (tabs ? next.ptr != types.ptr : dtx_str_starts(line, DTX_STR("#Fields: "))))
			return line;
		next = types;
	}
	return (struct dtx_str){ "", 0 };
}

/* Words of the line that blanks part, each of them a value if `values`, else a text; 0: other ones,
 * or something else parts cells. */
static size_t count_words(struct dtx_str line, bool values)
{
	size_t at = 0, from, n = 0;

	while (at < line.len) {
		for (; at < line.len && line.ptr[at] == ' '; at++)
			;
		for (from = at; at < line.len && line.ptr[at] != ' '; at++) {
			if (strchr(",;\t|\"", line.ptr[at]))
				return 0;
		}
		if (at == from)
			break;
		if ((dtx_head_judge((struct dtx_str){ line.ptr + from, at - from }) >=
		     DTX_HEAD_YEAR) != values)
			return 0;
		n++;
	}
	return n;
}

/* The place of the mark of "# x y", the last comment above rows of as many numbers; SIZE_MAX: there
 * is none. */
static size_t marks_names(struct dtx_str text)
{
	struct dtx_str line = dtx_line_at(text, 0), next = line;
	size_t words;

	if (!is_comment(line, "#"))
		return SIZE_MAX;
	for (; is_comment(next, "#"); next = dtx_line_at(text, dtx_line_filled(text, line)))
		line = next;
	words = count_words((struct dtx_str){ line.ptr + 1, line.len - 1 }, false);
	return words >= 2 && count_words(next, true) == words ? (size_t)(line.ptr - text.ptr)
	                                                      : SIZE_MAX;
}

/* It becomes a blank, and what else begins with one is a comment. */
static enum dtx_code take_names(struct dtx_csv *c, size_t at, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *copy = dtx_mem_alloc(c->enc.len + 1, 1);

	if (!copy)
		DTX_FAIL_MEM(err);
	memcpy(copy, c->enc.text, c->enc.len);
	copy[at] = ' ';
	DTX_TRY(dtx_encoding_take(&c->enc, copy, c->enc.len, err));
	c->opts.comment = at ? "#" : NULL;
	c->opts.delimiter = "blanks";
	DTX_TRY(dtx_csv_note_text(c, DTX_W_READER_NOTE,
	                          "has the names of its columns in the comment above them", err));
out:
	return rc;
}

/* The line end above "#Fields:" goes behind it: each byte and each line keep their numbers. */
static enum dtx_code marks_comments(struct dtx_csv *c, struct dtx_str sample, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t word = 0, at;
	struct dtx_str names = marks_fields(sample, &word);
	char *copy;

	if (c->opts.comment)
		goto out;
	if (marks_doubled(sample))
		c->opts.comment = "##";
	if (!names.len && marks_names(sample) != SIZE_MAX)
		DTX_TRY(take_names(c, marks_names(sample), err));
	if (!names.len)
		goto out;
	copy = dtx_mem_alloc(c->enc.len + 1, 1);
	if (!copy)
		DTX_FAIL_MEM(err);
	memcpy(copy, c->enc.text, c->enc.len);
	at = (size_t)(names.ptr - sample.ptr);
	copy[at + word] = '\n';
	while (at && (copy[at - 1] == '\n' || copy[at - 1] == '\r'))
		copy[--at] = ' ';
	c->opts.comment = "#";
	DTX_TRY(dtx_encoding_take(&c->enc, copy, c->enc.len, err));
out:
	return rc;
}

/* --- line ends of Unicode --- */

/* NEL, the line separator, the paragraph separator. */
static size_t unicode_end(const char *p, size_t len)
{
	if (len > 1 && p[0] == '\xc2' && p[1] == '\x85')
		return 2;
	return len > 2 && p[0] == '\xe2' && p[1] == '\x80' && (p[2] == '\xa8' || p[2] == '\xa9')
	               ? 3
	               : 0;
}

/* A text without any other line end, but for some that were added at its end. */
static enum dtx_code marks_ends(struct dtx_csv *c, struct dtx_str sample, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_encoding *e = &c->enc;
	size_t at, put = 0, n, found = 0;
	char *text;

	while (sample.len &&
	       (sample.ptr[sample.len - 1] == '\n' || sample.ptr[sample.len - 1] == '\r'))
		sample.len--;
	for (at = 0; at < sample.len; at++) {
		if (sample.ptr[at] == '\n' || sample.ptr[at] == '\r')
			goto out;
		found += unicode_end(sample.ptr + at, sample.len - at) != 0;
	}
	if (!found)
		goto out;
	text = dtx_mem_alloc(e->len + 1, 1);
	if (!text)
		DTX_FAIL_MEM(err);
	for (at = 0; at < e->len; at += n ? n : 1) {
		n = unicode_end(e->text + at, e->len - at);
		text[put++] = n ? '\n' : e->text[at];
	}
	DTX_TRY(dtx_encoding_take(e, text, put, err));
	DTX_TRY(dtx_csv_note_text(c, DTX_W_READER_NOTE,
	                          "ends its lines with the marks that Unicode has for that", err));
out:
	return rc;
}

/* --- marks around cells --- */

struct marks {
	struct dtx_str open, close;
	char delim;
	uint32_t parts; /* places between two cells of a line */
};

static const struct {
	const char *open, *close;
} marks_pairs[] = {
	{ "\u201c", "\u201d" }, { "\u201e", "\u201c" }, { "\u201c", "\u201c" },
	{ "\u201d", "\u201d" }, { "\u00ab", "\u00bb" }, { "\u00fe", "\u00fe" },
};

/* Whether a cell ends and another begins at `at`: closing mark, delimiter, opening mark, which has
 * a closing one of its own. */
static bool parts_at(const struct marks *m, struct dtx_str line, size_t at)
{
	struct dtx_str rest = { line.ptr + at, line.len - at };
	size_t n = m->close.len;

	return rest.len > 2 * n + m->open.len && dtx_str_starts(rest, m->close) &&
	       rest.ptr[n] == m->delim &&
	       dtx_str_starts((struct dtx_str){ rest.ptr + n + 1, rest.len - n - 1 }, m->open);
}

/* Whether all cells of the line are inside of marks: one that is not lies between a closing mark
 * with a delimiter behind it and an opening one with a delimiter before it.  (Marks of one byte are
 * quotes to the reader, which can do without.) */
static bool is_marked(const struct marks *m, struct dtx_str line, uint32_t *parts)
{
	size_t at, end;
	bool closed = false;

	*parts = 0;
	if (line.len < m->open.len + m->close.len || !dtx_str_starts(line, m->open) ||
	    !dtx_str_ends(line, m->close))
		return false;
	end = line.len - m->close.len;
	for (at = m->open.len; at < end; at++) {
		struct dtx_str rest = { line.ptr + at, end - at };

		if (parts_at(m, line, at)) {
			at += m->close.len + m->open.len;
			++*parts;
			closed = false;
		} else if (closed && rest.ptr[0] == m->delim &&
		           dtx_str_starts((struct dtx_str){ rest.ptr + 1, rest.len - 1 },
		                          m->open)) {
			return false;
		} else if (dtx_str_starts(rest, m->close) && rest.len > m->close.len &&
		           rest.ptr[m->close.len] == m->delim) {
			at += m->close.len - 1;
			closed = m->open.len > 1;
		}
	}
	return *parts > 0;
}

/* The delimiter behind the first cell. */
static bool find_delim(struct marks *m, struct dtx_str line)
{
	size_t at = m->open.len;

	for (; at + m->close.len < line.len; at++) {
		m->delim = line.ptr[at + m->close.len];
		if (m->delim && m->delim != m->close.ptr[0] && strchr(MARKS_DELIMS, m->delim) &&
		    parts_at(m, line, at))
			return true;
	}
	return false;
}

static bool find_open(struct marks *m, struct dtx_str line)
{
	size_t i;

	if (line.len && line.ptr[0] && strchr(MARKS_QUOTES, line.ptr[0])) {
		m->open = m->close = (struct dtx_str){ line.ptr, 1 };
		return find_delim(m, line);
	}
	for (i = 0; i < DTX_COUNT(marks_pairs); i++) {
		m->open = dtx_str_of(marks_pairs[i].open);
		m->close = dtx_str_of(marks_pairs[i].close);
		if (dtx_str_starts(line, m->open) && find_delim(m, line))
			return true;
	}
	return false;
}

/* Each line of the sample has equally many cells, all of them inside of marks. */
static bool find_marks(struct marks *m, struct dtx_str sample)
{
	struct dtx_str line = dtx_line_at(sample, 0);
	uint32_t parts, lines = 0;
	size_t at = 0;

	if (!find_open(m, line))
		return false;
	for (; at < sample.len; at = dtx_line_filled(sample, line), lines++) {
		line = dtx_line_at(sample, at);
		if (!is_marked(m, line, &parts) || (lines && parts != m->parts))
			return false;
		m->parts = parts;
	}
	return lines >= 2;
}

/* The line with quotes instead of its marks. */
static void put_quoted(const struct marks *m, struct dtx_str line, struct dtx_buf *out)
{
	size_t at = m->open.len, end = line.len - m->close.len;

	dtx_buf_addc(out, '"');
	while (at < end) {
		if (parts_at(m, line, at)) {
			dtx_buf_printf(out, "\"%c\"", m->delim);
			at += m->close.len + 1 + m->open.len;
			continue;
		}
		if (line.ptr[at] == '"')
			dtx_buf_addc(out, '"');
		dtx_buf_addc(out, line.ptr[at++]);
	}
	dtx_buf_addc(out, '"');
}

static enum dtx_code put_quotes(struct dtx_encoding *e, const struct marks *m, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text = { e->text, e->len }, line;
	struct dtx_buf out = DTX_BUF_INIT(2 * e->len + 16);
	size_t at = 0, next, len;
	uint32_t parts;
	char *taken;

	for (; at < text.len; at = next) {
		line = dtx_line_at(text, at);
		next = dtx_line_filled(text, line);
		if (is_marked(m, line, &parts))
			put_quoted(m, line, &out);
		else
			dtx_buf_adds(&out, line);
		dtx_buf_addn(&out, line.ptr + line.len, next - at - line.len);
	}
	DTX_TRY(dtx_buf_check(&out, "a text", err));
	len = dtx_buf_len(&out);
	taken = dtx_buf_steal(&out);
	if (!taken)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_encoding_take(e, taken, len, err));
out:
	dtx_buf_clear(&out);
	return rc;
}

static enum dtx_code marks_quotes(struct dtx_csv *c, struct dtx_str sample, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;
	struct marks m = { .delim = 0 };
	char *found;

	while (sample.len < c->enc.len && sample.len && sample.ptr[sample.len - 1] != '\n')
		sample.len--;
	if (!find_marks(&m, sample))
		goto out;
	found = dtx_arena_alloc(&c->head.arena, 4, 1);
	if (!found)
		DTX_FAIL_MEM(err);
	found[0] = m.delim;
	found[2] = m.open.ptr[0];
	found[1] = found[3] = '\0';
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
	            "'%s': its cells are enclosed by %.*s and %.*s", dtx_source_name(c->head.src),
	            (int)m.open.len, m.open.ptr, (int)m.close.len, m.close.ptr);
	dtx_err_hint(&w, "with \"dialect\": {\"delimiter\": ...} these are parts of the cells");
	DTX_TRY(dtx_csv_note(c, &w, err));
	c->opts.delimiter = found;
	c->opts.quote = m.open.len == 1 ? found + 2 : "\"";
	if (m.open.len > 1)
		DTX_TRY(put_quotes(&c->enc, &m, err));
out:
	return rc;
}

/* --- tildes around texts, and values without --- */

/* Cells of the line, those in tildes as one each; 0: a tilde stands elsewhere. */
static uint32_t tilde_cells(struct dtx_str line, char delim, uint32_t *quoted)
{
	size_t at = 0;
	uint32_t n = 1;

	for (;; at++, n++) {
		bool open = at < line.len && line.ptr[at] == '~';

		for (at += open; at < line.len && line.ptr[at] != (open ? '~' : delim); at++) {
			if (line.ptr[at] == '~')
				return 0;
		}
		*quoted += open;
		at += open;
		if (at >= line.len)
			return at == line.len ? n : 0;
		if (line.ptr[at] != delim)
			return 0;
	}
}

/* "~Butter, salted~^^717": equally many cells in each line, and in each some in tildes. */
static enum dtx_code marks_tildes(struct dtx_csv *c, struct dtx_str sample, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str line = dtx_line_at(sample, 0);
	const char *close = line.len > 2 ? memchr(line.ptr + 1, '~', line.len - 2) : NULL;
	uint32_t first = 0, n, quoted = 0, before = 0, lines = 0;
	size_t at = 0;
	char *found;

	if (!close || line.ptr[0] != '~' || !memchr("^,;\t|", close[1], 5))
		goto out;
	for (; at < sample.len; at = dtx_line_filled(sample, line), lines++, before = quoted) {
		line = dtx_line_at(sample, at);
		n = tilde_cells(line, close[1], &quoted);
		if (n < 2 || (lines && n != first) || quoted == before)
			goto out;
		first = n;
	}
	found = dtx_arena_strndup(&c->head.arena, close + 1, 1);
	if (!found)
		DTX_FAIL_MEM(err);
	if (lines >= 2) {
		c->opts.delimiter = found;
		c->opts.quote = "~";
		DTX_TRY(dtx_csv_note_text(c, DTX_W_READER_NOTE, "has texts enclosed by ~", err));
	}
out:
	return rc;
}

/* --- typographic quotes around single cells --- */

static const struct {
	const char *open, *close;
} smart_pairs[] = { { "\u201c", "\u201d" }, { "\u201e", "\u201c" }, { "\u201e", "\u201d" } };

/* The place behind the closing mark of a cell that such marks enclose, 0: they do not. */
static size_t smart_end(struct dtx_str line, size_t at, char delim)
{
	struct dtx_str rest = { line.ptr + at, line.len - at };
	size_t i, end;

	for (i = 0; i < DTX_COUNT(smart_pairs); i++) {
		struct dtx_str close = dtx_str_of(smart_pairs[i].close);
		ptrdiff_t to = 0;

		if (!dtx_str_starts(rest, dtx_str_of(smart_pairs[i].open)))
			continue;
		while ((to = dtx_str_find(rest, close, (size_t)to + 1)) > 0) {
			end = (size_t)to + close.len;
			if (end == rest.len || rest.ptr[end] == delim)
				return at + end;
		}
	}
	return 0;
}

/* Cells of the line, those in marks as one each; `out`: the line with quotes instead of the marks.
 */
static uint32_t smart_cells(struct dtx_str line, char delim, bool *marked, struct dtx_buf *out)
{
	size_t at = 0, end, from;
	uint32_t n = 1;

	for (; at <= line.len; at++, n++) {
		from = at;
		end = smart_end(line, at, delim);
		*marked |= end != 0;
		for (at = end ? end : at; at < line.len && line.ptr[at] != delim; at++)
			;
		if (out && end)
			dtx_buf_printf(out, "\"%.*s\"", (int)(end - from - 6), line.ptr + from + 3);
		else if (out)
			dtx_buf_addn(out, line.ptr + from, at - from);
		if (at == line.len)
			break;
		if (out)
			dtx_buf_addc(out, delim);
	}
	return n;
}

/* Only as quotes do the marks keep all lines equally wide. */
static bool smart_part(struct dtx_str sample, char delim)
{
	struct dtx_str line;
	uint32_t lines = 0, n, first = 0;
	bool marked = false, plain = true;
	size_t at = 0;

	for (; at < sample.len; at = dtx_line_filled(sample, line), lines++) {
		line = dtx_line_at(sample, at);
		n = smart_cells(line, delim, &marked, NULL);
		if (n < 2 || (lines && n != first))
			return false;
		plain = plain && n == dtx_line_count(line, delim) + 1;
		first = n;
	}
	return lines >= 2 && marked && !plain;
}

static enum dtx_code smart_take(struct dtx_csv *c, char delim, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text = { c->enc.text, c->enc.len }, line;
	struct dtx_buf out = DTX_BUF_INIT(2 * text.len + 16);
	size_t at = 0, next, len;
	bool marked = false;
	char *taken, *found = dtx_arena_strndup(&c->head.arena, &delim, 1);

	for (; at < text.len; at = next) {
		line = dtx_line_at(text, at);
		next = dtx_line_filled(text, line);
		(void)smart_cells(line, delim, &marked, &out);
		dtx_buf_addn(&out, line.ptr + line.len, next - at - line.len);
	}
	DTX_TRY(dtx_buf_check(&out, "a text", err));
	len = dtx_buf_len(&out);
	taken = dtx_buf_steal(&out);
	if (!taken || !found)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_encoding_take(&c->enc, taken, len, err));
	c->opts.delimiter = found;
	c->opts.quote = "\"";
	DTX_TRY(dtx_csv_note_text(c, DTX_W_READER_NOTE,
	                          "has cells enclosed by typographic quotes: these are left out",
	                          err));
out:
	dtx_buf_clear(&out);
	return rc;
}

static enum dtx_code marks_smart(struct dtx_csv *c, struct dtx_str sample, struct dtx_err *err)
{
	static const char delims[] = ",;\t|";
	enum dtx_code rc = DTX_OK;
	size_t i;

	if (dtx_str_find(sample, DTX_STR("\u201c"), 0) < 0 || memchr(c->enc.text, '"', c->enc.len))
		goto out;
	for (i = 0; delims[i]; i++) {
		if (!smart_part(sample, delims[i]))
			continue;
		DTX_TRY(smart_take(c, delims[i], err));
		break;
	}
out:
	return rc;
}

enum dtx_code dtx_csv_marks(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str sample = { c->enc.text, DTX_MIN(c->enc.len, MARKS_SAMPLE) };

	DTX_TRY(marks_ends(c, sample, err));
	sample = (struct dtx_str){ c->enc.text, DTX_MIN(c->enc.len, MARKS_SAMPLE) };
	DTX_TRY(marks_comments(c, sample, err));
	sample.ptr = c->enc.text;
	DTX_TRY(marks_sep(c, sample, err));
	if (!c->opts.delimiter)
		DTX_TRY(marks_quotes(c, sample, err));
	while (sample.len < c->enc.len && sample.len && sample.ptr[sample.len - 1] != '\n')
		sample.len--;
	if (!c->opts.delimiter)
		DTX_TRY(marks_tildes(c, sample, err));
	if (!c->opts.delimiter)
		DTX_TRY(marks_smart(c, sample, err));
out:
	return rc;
}
