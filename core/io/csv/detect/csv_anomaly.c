/* Finds comments and remarks among the records by their form, see csv_anomaly.h. */
#include "core/io/csv/detect/csv_anomaly.h"

#include "core/base/text/utf8.h"
#include "core/io/header/header.h"

#define ODD_WORDS 3 /* a line with fewer words may be a record that lost its other cells */

static const char *const odd_prefix[DTX_CSV_ODD_PREFIX] = { "#",  "%",  "//", "--", "==",
	                                                    "+-", "+=", "|-", "**" };
static const char *const odd_remark[] = { "source:",
	                                  "sources:",
	                                  "note:",
	                                  "notes:",
	                                  "remark:",
	                                  "remarks:",
	                                  "footnote:",
	                                  "footnotes:",
	                                  "quelle:",
	                                  "hinweis:",
	                                  "anmerkung:",
	                                  "datenquelle:",
	                                  "stand:",
	                                  "datenstand:",
	                                  "legende:",
	                                  "legend:",
	                                  "last updated",
	                                  "copyright",
	                                  "\u00a9",
	                                  "fuente:",
	                                  "nota:",
	                                  "notas:",
	                                  "fonte:",
	                                  "*",
	                                  "sql>",
	                                  "exiting, please wait",
	                                  "the command completed successfully" };

/* What programs write after the last record. */
static const char *const odd_end[] = { "eof",         "<eof>",       "[eof]",
	                               "(eof)",       "end of file", "end of report",
	                               "end of data", "end-of-file", "```",
	                               "\\." };

static bool odd_is_end(struct dtx_str line)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(odd_end); i++) {
		if (dtx_str_ieq(line, dtx_str_of(odd_end[i])))
			return true;
	}
	return false;
}

static bool odd_has_prefix(struct dtx_str line)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(odd_remark); i++) {
		struct dtx_str word = dtx_str_of(odd_remark[i]);

		if (line.len >= word.len &&
		    dtx_str_ieq((struct dtx_str){ line.ptr, word.len }, word))
			return true;
	}
	return false;
}

/* Whether the line has only a word such as "Footnotes:". */
static bool odd_is_heading(struct dtx_str line)
{
	static const char *const words[] = { "footnotes:", "footnote:", "notes:",
		                             "fu\u00dfnoten:" };
	size_t i;

	line.len -= line.len && line.ptr[line.len - 1] == '"';
	for (i = 0; i < DTX_COUNT(words) && !dtx_str_ieq(line, dtx_str_of(words[i])); i++)
		;
	return i < DTX_COUNT(words);
}

static bool odd_is_rule(struct dtx_str s)
{
	size_t i;

	for (i = 0; i < s.len && strchr("_-=*", s.ptr[i]); i++)
		;
	return s.len >= 3 && i == s.len;
}

static unsigned odd_words(struct dtx_str s)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < s.len; i++)
		n += s.ptr[i] != ' ' && (!i || s.ptr[i - 1] == ' ');
	return n;
}

bool dtx_csv_odd_is_note(struct dtx_str text)
{
	text = dtx_utf8_trim(text);
	return odd_has_prefix(text) || odd_is_rule(text);
}

bool dtx_csv_odd_is_remark(struct dtx_str text)
{
	text = dtx_utf8_trim(text);
	return dtx_csv_odd_is_note(text) ||
	       (dtx_head_judge(text) == DTX_HEAD_TEXT && odd_words(text) >= ODD_WORDS);
}

/* Whether the line has only delimiters. */
static bool odd_is_void(struct dtx_str line, const char *delim)
{
	size_t i;

	for (i = 0; i < line.len && line.ptr[i] == delim[0]; i++)
		;
	return delim[0] && !delim[1] && line.len && i == line.len;
}

/* Whether the line has letters below a column of numbers, dates or codes. */
static bool odd_is_foreign(const struct dtx_csv_odd_lines *odd, struct dtx_str line)
{
	size_t i;

	for (i = 0; i < line.len && (line.ptr[i] < '0' || line.ptr[i] > '9'); i++)
		;
	return i == line.len && line.len > ODD_WORDS && odd->shapes &&
	       dtx_csv_shapes_misfit(odd->shapes, 0, line);
}

static enum dtx_csv_odd_line odd_judge(const struct dtx_csv_odd_lines *odd, const struct dtx_csv *c,
                                       struct dtx_str line, uint32_t ncells, enum dtx_csv_kind kind)
{
	if (kind == DTX_CSV_BLANK || odd_is_void(line, c->dialect.delim))
		return DTX_CSV_LINE_BLANK;
	if (line.len && line.ptr[0] == '"') {
		line.ptr++;
		line.len--;
	}
	if (kind == DTX_CSV_SHORT && ncells == 1 && odd_is_heading(line))
		return DTX_CSV_LINE_NOTES;
	if (odd_has_prefix(line) || odd_is_rule(line) ||
	    (kind == DTX_CSV_SHORT && ncells == 1 && odd_is_end(line)))
		return DTX_CSV_LINE_REMARK;
	if (kind != DTX_CSV_SHORT || ncells != 1 ||
	    (dtx_head_judge(line) != DTX_HEAD_TEXT && odd_words(line) < 2))
		return kind == DTX_CSV_SHORT ? DTX_CSV_LINE_SHORT : DTX_CSV_LINE_DATA;
	if (line.ptr[0] == '(' || odd_is_foreign(odd, line))
		return DTX_CSV_LINE_REMARK;
	return odd_words(line) >= ODD_WORDS ? DTX_CSV_LINE_SENTENCE : DTX_CSV_LINE_WORDS;
}

/* Whether the first cell of this row is a sentence too. */
static bool odd_begins_wordy(struct dtx_str line, const char *delim)
{
	ptrdiff_t end = delim[0] ? dtx_str_find(line, dtx_str_of(delim), 0) : -1;

	return end > 0 && odd_words((struct dtx_str){ line.ptr, (size_t)end }) >= ODD_WORDS;
}

void dtx_csv_odd_look(struct dtx_csv_odd_lines *odd, const struct dtx_csv *c,
                      const struct dtx_csv_row *row, enum dtx_csv_kind kind)
{
	struct dtx_str line = { c->text.data + row->start, row->end - row->start };
	bool ragged = kind == DTX_CSV_SHORT || kind == DTX_CSV_LONG;
	size_t i;

	for (i = 0; i < DTX_CSV_ODD_PREFIX; i++) {
		if (!dtx_str_starts(line, dtx_str_of(odd_prefix[i])))
			continue;
		odd->prefix[i].all++;
		odd->prefix[i].ragged += ragged;
	}
	odd->wordy |= kind == DTX_CSV_ROW && row->start >= c->body &&
	              odd_begins_wordy(line, c->dialect.delim);
	i = odd->n++ % DTX_CSV_ODD_TAIL;
	odd->tail[i] = odd_judge(odd, c, dtx_utf8_trim(line), row->ncells, kind);
	odd->text[i] = line;
}

const char *dtx_csv_odd_comment(const struct dtx_csv_odd_lines *odd)
{
	size_t i;

	for (i = 0; i < DTX_CSV_ODD_PREFIX; i++) {
		if (odd->prefix[i].ragged && odd->prefix[i].ragged == odd->prefix[i].all)
			return odd_prefix[i];
	}
	return NULL;
}

/* Whether the last lines may be a table of their own: another delimiter splits them into equally
 * many cells. */
static bool odd_hold_table(const struct dtx_csv_odd_lines *odd, unsigned remarks)
{
	struct dtx_str lines = { NULL, 0 };
	unsigned n = 0, i;

	for (i = remarks; i > 0; i--) {
		size_t at = (odd->n - i) % DTX_CSV_ODD_TAIL;

		if (odd->tail[at] != DTX_CSV_LINE_BLANK) {
			lines.ptr = n++ ? lines.ptr : odd->text[at].ptr;
			lines.len = (size_t)(odd->text[at].ptr + odd->text[at].len - lines.ptr);
		}
		if (i > 1 && odd->tail[at] != DTX_CSV_LINE_BLANK)
			continue;
		if (n > 1 && dtx_dialect_are_rows(lines))
			return true;
		n = 0;
	}
	return false;
}

static unsigned odd_remarks(const struct dtx_csv_odd_lines *odd)
{
	unsigned far = (unsigned)DTX_MIN(odd->n, (uint64_t)DTX_CSV_ODD_TAIL), i, remarks = 0;
	unsigned words =
		0; /* number of lines that are remarks if a blank line or a remark is above them */
	bool sure = true; /* no short record so far, except below a heading of notes */

	for (i = 1; i <= far; i++) {
		enum dtx_csv_odd_line line = odd->tail[(odd->n - i) % DTX_CSV_ODD_TAIL];

		sure = (sure && line != DTX_CSV_LINE_SHORT) || line == DTX_CSV_LINE_NOTES;
		if (line == DTX_CSV_LINE_DATA)
			return remarks;
		if (line == DTX_CSV_LINE_NOTES)
			remarks = i;
		if (!sure)
			continue;
		if (line == DTX_CSV_LINE_REMARK || (line == DTX_CSV_LINE_SENTENCE && !odd->wordy))
			remarks = i;
		else if (line != DTX_CSV_LINE_BLANK)
			words = i;
		else if (words)
			remarks = words;
	}
	return sure ? 0 : remarks; /* if all lines that were kept look like remarks, they are
	                            * probably rows */
}

unsigned dtx_csv_odd_remarks(const struct dtx_csv_odd_lines *odd)
{
	unsigned remarks = odd_remarks(odd);

	return odd_hold_table(odd, remarks) ? 0 : remarks;
}

unsigned dtx_csv_odd_filled(const struct dtx_csv_odd_lines *odd, unsigned n)
{
	unsigned filled = 0, i;

	for (i = 1; i <= n; i++)
		filled += odd->tail[(odd->n - i) % DTX_CSV_ODD_TAIL] != DTX_CSV_LINE_BLANK;
	return filled;
}

uint64_t dtx_csv_odd_comments(const struct dtx_csv_odd_lines *odd, const char *comment)
{
	size_t i;

	for (i = 0; i < DTX_CSV_ODD_PREFIX && odd_prefix[i] != comment; i++)
		;
	return i < DTX_CSV_ODD_PREFIX ? odd->prefix[i].all : 0;
}
