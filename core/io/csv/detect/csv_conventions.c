/* What exporters mark otherwise than with commas and line feeds: a first line that names the
 * delimiter, comments above the names, line ends of Unicode. */
#include <ctype.h>

#include "core/base/mem.h"
#include "core/base/text/utf8.h"
#include "core/io/csv/csv.h"
#include "core/io/header/header.h"
#include "core/io/csv/lines.h"
#include "core/io/csv/detect/sniff.h"

#define MARKS_SAMPLE ((size_t)64 << 10)

/* --- "sep=;" --- */

static bool is_delim(char c)
{
	return c > 0 && c != '"' && c != ' ' && !isalnum((unsigned char)c);
}

/* Spreadsheets write it, and other programs quote it; the next line has to have that delimiter.  It
 * is no row, whatever is declared, unless rows are skipped or counted from it on. */
enum dtx_code dtx_csv_marks_sep(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text = { c->enc.text, DTX_MIN(c->enc.len, MARKS_SAMPLE) };
	struct dtx_str line = dtx_line_at(text, 0),
		       next = dtx_line_at(text, dtx_line_filled(text, line));
	char named = dtx_dialect_named(line), *delim;

	if (!is_delim(named) || !memchr(next.ptr, named, next.len))
		goto out;
	if (c->opts.delimiter && (c->opts.delimiter[0] != named || c->opts.delimiter[1]))
		goto out;
	if (!c->opts.skip && !c->opts.range)
		c->sep = (size_t)(next.ptr - text.ptr);
	delim = dtx_arena_strndup(&c->head.arena, &named, 1);
	if (!delim)
		DTX_FAIL_MEM(err);
	c->opts.delimiter = delim;
	if (line.ptr[0] == '"' && !c->opts.quote)
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
 * one that splits into as many columns as the next line does begins the names. */
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

/* Words of the line that blanks separate, each of them a value if `values`, else a text; 0: other
 * ones, or something else separates cells. */
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

/* The line end above "#Fields:" goes after it: each byte and each line keep their numbers. */
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

enum dtx_code dtx_csv_marks(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str sample = { c->enc.text, DTX_MIN(c->enc.len, MARKS_SAMPLE) };

	DTX_TRY(marks_ends(c, sample, err));
	sample = (struct dtx_str){ c->enc.text, DTX_MIN(c->enc.len, MARKS_SAMPLE) };
	DTX_TRY(marks_comments(c, sample, err));
	DTX_TRY(dtx_csv_marks_sep(c, err));
out:
	return rc;
}
