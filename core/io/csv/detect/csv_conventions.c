/* Handles conventions of exporters: a first line that names the delimiter, comments above the
 * names, Unicode line ends. */
#include <ctype.h>

#include "core/base/memory/mem.h"
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

/* Handles a first line "sep=;", which spreadsheets write and other programs quote. The next line
 * must have that delimiter. The first line is never a row, whatever is declared, unless the options
 * skip rows or count from it. */
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

/* Whether only a doubled mark begins a comment, as in "##source=x" above "#CHROM\tPOS" or above
 * data. A line with a single mark has the names if it has as many columns as the next line. */
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

/* The line with the names in a log: "#Fields: date time" in W3C format, if it is the last comment
 * above the records; or "#fields\tts" in the format of Zeek, which has the types in the next line.
 * len 0 if none. */
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

/* The number of words in a line separated by blanks, if each is a value (`values`) or each is a
 * text. 0: some are not, or something else separates cells. */
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

/* The position of the mark in "# x y", if this is the last comment above rows of as many numbers;
 * SIZE_MAX if none. */
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

/* Replaces that mark by a blank; other lines that begin with the mark are comments. */
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

/* Moves the line end above "#Fields:" after that word, so that the word is part of the comment. All
 * bytes and lines keep their numbers. */
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

/* The length of a Unicode line end: NEL, line separator or paragraph separator; 0: none. */
static size_t unicode_end(const char *p, size_t len)
{
	if (len > 1 && p[0] == '\xc2' && p[1] == '\x85')
		return 2;
	return len > 2 && p[0] == '\xe2' && p[1] == '\x80' && (p[2] == '\xa8' || p[2] == '\xa9')
	               ? 3
	               : 0;
}

/* Handles a text that has only such line ends, except for some at its end that were added. */
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
