/* Reads single records without the scanner, see csv_row.h. */
#include "core/io/csv/csv_row.h"

#include <string.h>

#include "core/base/memory/mem.h"
#include "core/io/csv/scan/scan.h"

#define LINE_FEW ((size_t)256) /* for so few bytes the scanner does not pay */

static bool row_is_end(char c)
{
	return c == '\n' || c == '\r';
}

static bool row_is_structure(const struct dtx_csv_text *t, size_t at)
{
	return at == t->end || row_is_end(t->data[at]) || t->data[at] == t->set.delim;
}

static void row_fault(struct dtx_csv_row *row, enum dtx_csv_fault fault, size_t at)
{
	if (row->fault != DTX_CSV_FINE)
		return;
	row->fault = fault;
	row->fault_at = at;
}

/* The position after the closing quote of the cell that opens at `at`, or the end of the text. */
static size_t row_quoted(const struct dtx_csv_text *t, size_t at, struct dtx_csv_row *row)
{
	size_t open = at++;
	const char *q;

	for (;;) {
		q = at < t->end ? memchr(t->data + at, t->set.quote, t->end - at) : NULL;
		if (!q) {
			row_fault(row, DTX_CSV_UNTERMINATED, open);
			return t->end;
		}
		at = (size_t)(q - t->data) + 1;
		if (at == t->end || t->data[at] != t->set.quote)
			return at;
		at++;
	}
}

/* The end of the text without quotes at `at`; quotes in it are data. */
static size_t row_plain(const struct dtx_csv_text *t, size_t at, struct dtx_csv_row *row)
{
	size_t stop = at + DTX_CSV_CELL_MAX + 1;

	for (; at < stop && !row_is_structure(t, at); at++) {
		if (!t->set.quotes || t->data[at] != t->set.quote)
			continue;
		row->literal++;
		if (t->strict)
			row_fault(row, DTX_CSV_BAD_QUOTE, at);
	}
	return at;
}

/* Reads the cell at `at`, and returns its end. */
static size_t row_cell(const struct dtx_csv_text *t, size_t at, struct dtx_span *cell,
                       struct dtx_csv_row *row)
{
	size_t from = at, end;
	bool quoted = t->set.quotes && at < t->end && t->data[at] == t->set.quote;

	if (quoted) {
		end = row_quoted(t, at, row);
		if (!row_is_structure(t, end)) {
			row_fault(row, DTX_CSV_BAD_QUOTE, end);
			quoted = false;
			end = row_plain(t, end, row);
		}
	} else {
		end = row_plain(t, at, row);
	}
	if (end - from > DTX_CSV_CELL_MAX || end - row->start > DTX_CSV_RECORD_MAX)
		row_fault(row, DTX_CSV_TOO_LONG, from);
	*cell = (struct dtx_span){ (uint32_t)(from - row->start), (uint32_t)(end - from) };
	if (quoted) {
		cell->off++;
		cell->len = (cell->len < 2 ? 0 : cell->len - 2) | DTX_SPAN_QUOTED;
	}
	return end;
}

/* The end of a record with a cell that is too long. Its other delimiters do not matter. */
static size_t row_rest(const struct dtx_csv_text *t, size_t at)
{
	const char *end = at < t->end ? memchr(t->data + at, '\n', t->end - at) : NULL;

	return end ? (size_t)(end - t->data) : t->end;
}

void dtx_csv_row_read(const struct dtx_csv_text *t, size_t pos, struct dtx_span *cell, uint32_t cap,
                      struct dtx_csv_row *out)
{
	struct dtx_span one;
	size_t at = pos;

	*out = (struct dtx_csv_row){ .start = pos };
	for (;;) {
		at = row_cell(t, at, &one, out);
		if (out->ncells < cap)
			cell[out->ncells] = one;
		out->ncells++;
		if (out->fault == DTX_CSV_TOO_LONG)
			at = row_rest(t, at);
		if (at == t->end || row_is_end(t->data[at]))
			break;
		at++;
	}
	out->end = at;
	if (at < t->end)
		at += t->data[at] == '\r' && at + 1 < t->end && t->data[at + 1] == '\n' ? 2 : 1;
	out->next = at;
}

enum dtx_code dtx_csv_row_limit(uint32_t ncells, const char *file, struct dtx_err *err)
{
	enum dtx_code rc;

	if (ncells <= DTX_CSV_COLS_MAX)
		return DTX_OK;
	rc = dtx_err_set(err, DTX_E_INPUT_LIMIT, __FILE__, __LINE__,
	                 "'%s' has a record of %u cells, at most %u are read", file, ncells,
	                 DTX_CSV_COLS_MAX);
	dtx_err_hint(err, "check the delimiter: \"dialect\": {\"delimiter\": ...}");
	return rc;
}

enum dtx_code dtx_csv_row_cells(const struct dtx_csv_text *t, size_t pos, struct dtx_span **cell,
                                size_t *cap, const char *file, struct dtx_csv_row *out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	dtx_csv_row_read(t, pos, *cell, (uint32_t)*cap, out);
	DTX_TRY(dtx_csv_row_limit(out->ncells, file, err));
	if (out->ncells > *cap) {
		if (!dtx_mem_reserve(cell, cap, out->ncells, sizeof(**cell)))
			DTX_FAIL_MEM(err);
		dtx_csv_row_read(t, pos, *cell, (uint32_t)*cap, out);
	}
out:
	return rc;
}

size_t dtx_csv_row_seek(const struct dtx_csv_text *t, size_t pos, bool inside, size_t end)
{
	const char *d = t->data;

	if (!inside && pos > 0 && row_is_end(d[pos - 1])) {
		if (d[pos - 1] == '\r' && pos < t->end && d[pos] == '\n')
			pos++; /* the border is between CR and LF */
		return DTX_MIN(pos, end);
	}
	for (; pos < end; pos++) {
		if (t->set.quotes && d[pos] == t->set.quote)
			inside = !inside;
		if (inside || !row_is_end(d[pos]))
			continue;
		pos += d[pos] == '\r' && pos + 1 < t->end && d[pos + 1] == '\n' ? 2 : 1;
		return DTX_MIN(pos, end);
	}
	return end;
}

/* Counts line ends by the scanner; only if there is no CR. */
static bool row_lines_plain(const char *p, size_t n, int64_t *line)
{
	static const struct dtx_scan_set set = { .delim = '\n' };
	struct dtx_scan_chunk chunk;

	if (memchr(p, '\r', n))
		return false;
	dtx_scan_pick(dtx_cpu_best())->count(p, n, set, '\n', -1, &chunk);
	*line += chunk.newlines;
	return true;
}

int64_t dtx_csv_line(const char *data, size_t begin, size_t byte)
{
	static const size_t block = (size_t)1 << 16;
	int64_t line = 0;
	size_t i, n;

	for (; begin < byte; begin += n) {
		n = DTX_MIN(byte - begin, block);
		if (n >= LINE_FEW && row_lines_plain(data + begin, n, &line))
			continue;
		for (i = begin; i < begin + n; i++)
			line += data[i] == '\n' ||
			        (data[i] == '\r' && !(i + 1 < byte && data[i + 1] == '\n'));
	}
	return line;
}
