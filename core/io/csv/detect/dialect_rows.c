/* Decides whether lines are rows of a table: equally many cells, and names above values. */
#include "core/base/text/utf8.h"
#include "core/io/csv/detect/dialect.h"
#include "core/io/header/header.h"
#include "core/io/csv/lines.h"

#define ROWS_ROWS   3u  /* names and two rows; fewer do not show anything */
#define ROWS_CELLS  64u /* limit of cells per line that are looked at */
#define ROWS_DELIMS ",;\t|"

struct rows {
	char delim;
	struct dtx_str names, rows; /* the first line; the lines after it */
	uint32_t lines, above; /* number of lines of the table; number of lines of prose above it */
	uint32_t ncells;
};

/* Splits a line and sets the first ROWS_CELLS cells; returns the number of cells. A mark with a
 * blank after it belongs to a sentence. */
static uint32_t cells_of(struct dtx_str line, char delim, struct dtx_str *cell)
{
	uint32_t n = 0;
	size_t from = 0, i;
	bool inside = false;

	for (i = 0; i <= line.len; i++) {
		if (i < line.len && line.ptr[i] == '"' && (inside || i == from))
			inside = !inside;
		if (i < line.len && (inside || line.ptr[i] != delim ||
		                     (i + 1 < line.len && line.ptr[i + 1] == ' ')))
			continue;
		if (cell && n < ROWS_CELLS)
			cell[n] = (struct dtx_str){ line.ptr + from, i - from };
		n++;
		from = i + 1;
	}
	return n;
}

/* Finds the last lines with equally many cells, after which only remarks of one cell come. */
static void find_lines(struct rows *b, struct dtx_str text)
{
	struct dtx_str line;
	size_t at = 0;
	uint32_t n, lines = 0;
	bool open = false; /* the next line may belong to the table */

	b->lines = 0;
	for (; at < text.len; at = dtx_line_after(text, line)) {
		line = dtx_line_at(text, at);
		n = dtx_utf8_is_blank(line) ? 0 : cells_of(line, b->delim, NULL);
		lines += n != 0;
		if (n > 1 && (!open || n != b->ncells)) {
			b->above = lines - 1;
			b->ncells = n;
			b->names = line;
			b->rows = (struct dtx_str){ line.ptr + line.len, 0 };
			b->lines = 1;
		} else if (n > 1) {
			b->rows.len = (size_t)(line.ptr + line.len - b->rows.ptr);
			b->lines++;
		}
		open = n > 1;
	}
}

static enum dtx_head_kind kind_of(struct dtx_str cell)
{
	if (cell.len > 1 && cell.ptr[0] == '"')
		cell = (struct dtx_str){ cell.ptr + 1, cell.len - 2 };
	return dtx_head_judge(cell);
}

static bool are_names(const struct rows *b)
{
	struct dtx_str cell[ROWS_CELLS];
	uint32_t n = DTX_MIN(cells_of(b->names, b->delim, cell), ROWS_CELLS), i;

	for (i = 0; i < n; i++) {
		if (kind_of(cell[i]) != DTX_HEAD_TEXT)
			return false;
	}
	return true;
}

/* Whether some column has only values. */
static bool have_values(const struct rows *b)
{
	struct dtx_str cell[ROWS_CELLS], line;
	uint64_t values = UINT64_MAX;
	uint32_t n = DTX_MIN(b->ncells, ROWS_CELLS), i;
	size_t at = 0;

	for (; at < b->rows.len; at = dtx_line_after(b->rows, line)) {
		line = dtx_line_at(b->rows, at);
		if (!line.len)
			continue;
		(void)cells_of(line, b->delim, cell);
		for (i = 0; i < n; i++) {
			if (kind_of(cell[i]) < DTX_HEAD_YEAR)
				values &= ~(UINT64_C(1) << i);
		}
	}
	return n == ROWS_CELLS ? values != 0 : (values & ((UINT64_C(1) << n) - 1)) != 0;
}

bool dtx_dialect_is_table(struct dtx_str text, char delim)
{
	struct rows b = { .delim = delim };

	find_lines(&b, text);
	return !b.above && b.lines >= ROWS_ROWS && are_names(&b) && have_values(&b);
}

/* The cell before the next mark, from *at on. */
static struct dtx_str next_cell(struct dtx_str line, const char *mark, size_t *at)
{
	ptrdiff_t end = dtx_str_find(line, dtx_str_of(mark), *at);
	struct dtx_str cell = { line.ptr + *at, (end < 0 ? line.len : (size_t)end) - *at };

	*at = end < 0 ? line.len + 1 : (size_t)end + strlen(mark);
	return cell;
}

bool dtx_dialect_is_clear(struct dtx_str text, const char *mark)
{
	struct dtx_str line = dtx_line_at(text, 0), cell;
	uint64_t values = UINT64_MAX;
	uint32_t ncells = 0, n;
	size_t at = 0, i;

	while (at <= line.len) {
		cell = next_cell(line, mark, &at);
		if (ncells++ == ROWS_CELLS || dtx_head_judge(cell) != DTX_HEAD_TEXT)
			return false;
	}
	for (i = dtx_line_filled(text, line); i < text.len; i = dtx_line_filled(text, line)) {
		line = dtx_line_at(text, i);
		for (n = 0, at = 0; at <= line.len; n++) {
			cell = next_cell(line, mark, &at);
			if (n < ROWS_CELLS && dtx_head_judge(cell) < DTX_HEAD_YEAR)
				values &= ~(UINT64_C(1) << n);
		}
		if (n != ncells)
			return false;
	}
	values &= ncells < ROWS_CELLS ? (UINT64_C(1) << ncells) - 1 : UINT64_MAX;
	/* In names of things, the part after such a mark often is a number. */
	return strcmp(mark, "_") == 0 ? (values & 1) || (values & (values - 1)) : values != 0;
}

bool dtx_dialect_is_values(struct dtx_str text)
{
	size_t i = dtx_line_filled(text, dtx_line_at(text, 0));

	for (; i < text.len; i++) {
		if ((text.ptr[i] | 0x20) >= 'a' && (text.ptr[i] | 0x20) <= 'z')
			return false;
	}
	return true;
}

bool dtx_dialect_are_rows(struct dtx_str lines)
{
	static const char delims[] = ROWS_DELIMS;
	struct dtx_str line;
	uint32_t n, first;
	size_t i, at;

	for (i = 0; delims[i]; i++) {
		for (first = 0, at = 0; at < lines.len; at = dtx_line_after(lines, line)) {
			line = dtx_line_at(lines, at);
			n = cells_of(line, delims[i], NULL);
			if (n < 2 || (first && n != first))
				break;
			first = n;
		}
		if (first && at >= lines.len)
			return true;
	}
	return false;
}
