/* Detects records with several lines that are each a row, see csv_stray.h. */
#include "core/io/csv/mend/csv_stray.h"

#include "core/base/text/utf8.h"
#include "core/io/header/header.h"
#include "core/io/csv/lines.h"

#define STRAY_COLS 64u /* number of columns that are looked at */
#define STRAY_FAR  8   /* quotes whose end is searched in the whole record */
#define STRAY_SOME 5   /* one line in this many may have another width */

struct stray {
	const struct dtx_dialect *d;
	size_t ndelim;
	uint32_t width;
	bool header;
	unsigned far;
	uint32_t lines, rows; /* number of lines that are not blank; number of those with the width
	                       * of the table */
	uint64_t texts;       /* columns that have a text */
	uint64_t values;      /* columns that have a value in two rows */
	uint64_t once;
	/* Whether there is a blank after a delimiter: prose: after the first line; spaced: before
	 * the quote that opens in it. */
	bool prose, spaced;
};

static bool is_delim(const struct stray *s, struct dtx_str line, size_t at)
{
	return line.ptr[at] == s->d->delim[0] &&
	       (s->ndelim == 1 ||
	        (line.len - at >= s->ndelim && !memcmp(line.ptr + at, s->d->delim, s->ndelim)));
}

/* Where the quote that opens at `at` closes before a delimiter or a line end: on its line, or with
 * `far` on any line; 0: nowhere. */
static size_t closes(const struct stray *s, struct dtx_str text, size_t at, bool far)
{
	for (at++; at < text.len && (far || !dtx_line_is_end(text.ptr[at])); at++) {
		if (text.ptr[at] != s->d->quote)
			continue;
		if (at + 1 == text.len || dtx_line_is_end(text.ptr[at + 1]) ||
		    is_delim(s, text, at + 1))
			return at + 1;
		if (text.ptr[at + 1] == s->d->quote)
			at++;
	}
	return 0;
}

/* The end of the cell that begins at `at`. If quotes do not close on their line, the first one is
 * the suspicious one: it encloses nothing. */
static size_t cell_end(struct stray *s, struct dtx_str text, size_t at, bool *open)
{
	size_t end = 0;

	if (at < text.len && text.ptr[at] == s->d->quote) {
		end = closes(s, text, at, false);
		if (!end && *open && s->far++ < STRAY_FAR)
			end = closes(s, text, at, true);
		*open |= !end;
	}
	for (at = end ? end : at;
	     at < text.len && !dtx_line_is_end(text.ptr[at]) && !is_delim(s, text, at);)
		at++;
	return at;
}

static void see_cell(struct stray *s, uint32_t col, struct dtx_str cell)
{
	uint64_t bit = col < STRAY_COLS ? (uint64_t)1 << col : 0;

	if (dtx_utf8_is_blank(cell))
		return;
	if (dtx_head_judge(cell) < DTX_HEAD_YEAR) {
		s->texts |= bit;
		return;
	}
	s->values |= s->once & bit;
	s->once |= bit;
}

/* Counts the cells of the row that begins at `at`; *end: its end. `see`: also looks at what they
 * are. */
static uint32_t row_cells(struct stray *s, struct dtx_str text, size_t at, bool see, bool *open,
                          size_t *end)
{
	struct dtx_str cell;
	uint32_t n = 0;
	bool blank;

	for (;; at = *end + s->ndelim, n++) {
		blank = n && at < text.len && text.ptr[at] == ' ';
		*end = cell_end(s, text, at, open);
		cell = (struct dtx_str){ text.ptr + at, *end - at };
		if (cell.len > 1 && cell.ptr[0] == s->d->quote &&
		    cell.ptr[cell.len - 1] == s->d->quote)
			cell = (struct dtx_str){ cell.ptr + 1, cell.len - 2 };
		if (see && (!s->header || s->lines > 1))
			see_cell(s, n, cell);
		s->spaced |= see && blank && !*open && s->lines == 1;
		s->prose |= see && blank && s->lines > 1;
		if (*end == text.len || dtx_line_is_end(text.ptr[*end]))
			return n + 1;
	}
}

/* Goes through the rows of the record; false: too many of them have another width. */
static bool pass_rows(struct stray *s, struct dtx_str record, bool see)
{
	size_t at = 0, end;
	bool open = false, was;

	s->lines = s->rows = s->far = 0;
	for (; at < record.len; at = end) {
		if (dtx_line_is_end(record.ptr[at])) {
			end = at + 1;
			continue;
		}
		s->lines++;
		was = open;
		if (row_cells(s, record, at, false, &open, &end) == s->width) {
			s->rows++;
			if (see)
				(void)row_cells(s, record, at, true, &was, &end);
		} else if (s->lines == 1 || s->lines - s->rows > 1 + s->lines / STRAY_SOME) {
			return false;
		}
	}
	return s->lines > 1 && (s->lines - s->rows) * STRAY_SOME <= s->lines;
}

/* Whether all lines have the same number of commas, and never a blank after one, which a text
 * hardly ever has. */
static bool are_even(const struct stray *s)
{
	return s->lines > 2 && s->rows == s->lines && s->width > 2 && !s->prose && !s->header;
}

enum dtx_csv_stray dtx_csv_stray(const struct dtx_dialect *d, struct dtx_str record, uint32_t width,
                                 bool header)
{
	struct stray s = { .d = d, .ndelim = strlen(d->delim), .width = width, .header = header };

	if (!d->quote || !s.ndelim || d->runs || d->ending || width < 2 ||
	    !pass_rows(&s, record, false))
		return DTX_CSV_STRAY_NOT;
	(void)pass_rows(&s, record, true);
	if (s.prose && !s.spaced)
		return DTX_CSV_STRAY_NOT;
	if (((header ? s.once : s.values) & ~s.texts) || are_even(&s))
		return DTX_CSV_STRAY_SURE;
	return width > 2 ? DTX_CSV_STRAY_MAYBE : DTX_CSV_STRAY_NOT;
}
