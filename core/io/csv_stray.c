/* A record over several lines, each of which is a row by itself. */
#include "core/io/csv_stray.h"

#include "core/base/utf8.h"
#include "core/io/header.h"
#include "core/io/lines.h"

#define STRAY_COLS 64u /* that are looked at */
#define STRAY_SOME 5   /* lines, of which one in so many may have another width */

struct stray {
	const struct dtx_dialect *d;
	size_t ndelim;
	uint32_t width;
	bool header;
	uint32_t lines, rows; /* not blank; as wide as the table */
	uint64_t texts;       /* columns that hold one */
	uint64_t values;      /* ... that hold a value in two rows */
	uint64_t once;
	/* A blank behind a delimiter: below the first line; before the quote that opens in it. */
	bool prose, spaced;
};

static bool is_delim(const struct stray *s, struct dtx_str line, size_t at)
{
	return line.len - at >= s->ndelim && !memcmp(line.ptr + at, s->d->delim, s->ndelim);
}

/* Where the quote that opens at `at` closes on the line, 0: it does not. */
static size_t closes(const struct stray *s, struct dtx_str line, size_t at)
{
	for (at++; at < line.len; at++) {
		if (line.ptr[at] != s->d->quote)
			continue;
		if (at + 1 == line.len || is_delim(s, line, at + 1))
			return at + 1;
		if (line.ptr[at + 1] == s->d->quote)
			at++;
	}
	return 0;
}

/* End of the cell that begins at `at`. */
static size_t cell_end(const struct stray *s, struct dtx_str line, size_t at)
{
	size_t end = at < line.len && line.ptr[at] == s->d->quote ? closes(s, line, at) : 0;

	for (at = end ? end : at; at < line.len && !is_delim(s, line, at); at++)
		;
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

static uint32_t count_cells(const struct stray *s, struct dtx_str line)
{
	uint32_t n = 1;
	size_t at;

	for (at = cell_end(s, line, 0); at < line.len; at = cell_end(s, line, at + s->ndelim))
		n++;
	return n;
}

static void see_row(struct stray *s, struct dtx_str line)
{
	size_t at = 0, end;
	uint32_t col;
	bool open = false;

	for (col = 0; col < s->width; col++, at = end + s->ndelim) {
		bool blank = col && at < line.len && line.ptr[at] == ' ';

		end = cell_end(s, line, at);
		if (!s->header || s->lines > 1)
			see_cell(s, col, (struct dtx_str){ line.ptr + at, end - at });
		open |= at < line.len && line.ptr[at] == s->d->quote && !closes(s, line, at);
		s->spaced |= blank && !open && s->lines == 1;
		s->prose |= blank && s->lines > 1;
	}
}

/* Texts of lines that all have so many commas, and never a blank behind one. */
static bool are_even(const struct stray *s)
{
	return s->lines > 2 && s->rows == s->lines && s->width > 2 && !s->prose && !s->header;
}

enum dtx_csv_stray dtx_csv_stray(const struct dtx_dialect *d, struct dtx_str record, uint32_t width,
                                 bool header)
{
	struct stray s = { .d = d, .ndelim = strlen(d->delim), .width = width, .header = header };
	struct dtx_str line;
	size_t at = 0;

	if (!d->quote || !s.ndelim || d->runs || d->ending || width < 2)
		return DTX_CSV_STRAY_NOT;
	for (; at < record.len; at = dtx_line_filled(record, line)) {
		line = dtx_line_at(record, at);
		if (dtx_utf8_is_blank(line))
			continue;
		s.lines++;
		if (count_cells(&s, line) == width) {
			s.rows++;
			see_row(&s, line);
		} else if (s.lines == 1 || s.lines - s.rows > 1 + s.lines / STRAY_SOME) {
			return DTX_CSV_STRAY_NOT;
		}
	}
	if (s.lines < 2 || (s.lines - s.rows) * STRAY_SOME > s.lines || (s.prose && !s.spaced))
		return DTX_CSV_STRAY_NOT;
	if (((header ? s.once : s.values) & ~s.texts) || are_even(&s))
		return DTX_CSV_STRAY_SURE;
	return width > 2 ? DTX_CSV_STRAY_MAYBE : DTX_CSV_STRAY_NOT;
}
