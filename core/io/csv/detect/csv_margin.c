/* Finds the margin that spreadsheets leave around a table: columns at its right without names or
 * values, rows at its end with only delimiters, and remarks between those rows or below a blank
 * line. */
#include <stdio.h>

#include "core/base/text/utf8.h"
#include "core/io/sheet/cellref.h"
#include "core/io/csv/detect/csv_anomaly.h"
#include "core/io/csv/detect/csv_top.h"
#include "core/io/csv/lines.h"
#include "core/io/repair.h"

#define MARGIN_TEXT ((size_t)64 << 20) /* in a larger text, columns are left as they are */

/* --- rows --- */

enum margin_line { MARGIN_VOID, MARGIN_BLANK, MARGIN_REMARK, MARGIN_NOTE, MARGIN_DATA };

static bool is_void(const struct dtx_csv *c, struct dtx_str s)
{
	size_t i;

	for (i = 0; i < s.len && (s.ptr[i] == c->dialect.delim[0] || s.ptr[i] == ' '); i++)
		;
	return s.len && i == s.len && memchr(s.ptr, c->dialect.delim[0], s.len);
}

/* Whether the line is a remark with only delimiters after it. */
static enum margin_line judge_text(const struct dtx_csv *c, struct dtx_str s)
{
	const char *end = s.ptr + s.len, *to;
	bool quoted = s.len && c->dialect.quote && s.ptr[0] == c->dialect.quote;
	struct dtx_str text;

	to = memchr(s.ptr + quoted, quoted ? c->dialect.quote : c->dialect.delim[0],
	            s.len - quoted);
	if (!to || !is_void(c, (struct dtx_str){ to + quoted, (size_t)(end - to) - quoted }))
		return MARGIN_DATA;
	text = (struct dtx_str){ s.ptr + quoted, (size_t)(to - s.ptr) - quoted };
	return dtx_csv_odd_is_note(text)     ? MARGIN_NOTE
	       : dtx_csv_odd_is_remark(text) ? MARGIN_REMARK
	                                     : MARGIN_DATA;
}

static enum margin_line judge(const struct dtx_csv *c, struct dtx_str line, bool remarks)
{
	if (!line.len)
		return MARGIN_BLANK;
	if (is_void(c, line))
		return MARGIN_VOID;
	return remarks ? judge_text(c, line) : MARGIN_DATA;
}

/* The line that ends at `end`, a position after its line end. */
static struct dtx_str line_before(const struct dtx_csv *c, size_t end)
{
	const char *p = c->text.data;
	size_t from, to = end;

	if (to && dtx_line_is_end(p[to - 1]))
		to -= to > 1 && p[to - 1] == '\n' && p[to - 2] == '\r' ? 2 : 1;
	for (from = to; from > c->body && !dtx_line_is_end(p[from - 1]); from--)
		;
	return (struct dtx_str){ p + from, to - from };
}

/* Whether rows of the table also begin with a text and have nothing else. */
static bool has_titled_rows(const struct dtx_csv_top *top)
{
	size_t i;
	uint32_t k;

	for (i = top->body; i < top->n; i++) {
		const struct dtx_csv_top_row *r = &top->row[i];

		if (r->n < 2 || !dtx_csv_odd_is_remark(r->cell[0]))
			continue;
		for (k = 1; k < r->n && dtx_utf8_is_blank(r->cell[k]); k++)
			;
		if (k == r->n && i + 1 < top->n && top->row[i + 1].n > 1 &&
		    !dtx_utf8_is_blank(top->row[i + 1].cell[1]))
			return true;
	}
	return false;
}

/* Whether there are blank lines between rows of the table. Then a blank line above a text does not
 * make it a remark. */
static bool has_gaps(const struct dtx_csv_top *top)
{
	size_t i;
	uint32_t k, filled;

	for (i = top->body; i + 1 < top->n; i++) {
		const struct dtx_csv_top_row *r = &top->row[i + 1];

		if (!top->row[i].blank || top->row[i].dropped)
			continue;
		for (k = filled = 0; k < r->n; k++)
			filled += !dtx_utf8_is_blank(r->cell[k]);
		if (filled > 1)
			return true;
	}
	return false;
}

/* The number of lines at the end that are margin. 0 if there are more remarks than rows are
 * left. */
static int64_t margin_rows(const struct dtx_csv *c, const struct dtx_csv_top *top, size_t *first)
{
	bool remarks = !has_titled_rows(top), any = false, data = false, gaps = has_gaps(top);
	int64_t n = 0, margin = 0, words = 0, rows = c->header_rows;
	size_t at = c->text.end;

	while (at > c->body && !data) {
		struct dtx_str line = line_before(c, at);
		enum margin_line kind = judge(c, line, remarks);

		data = kind == MARGIN_DATA;
		at = (size_t)(line.ptr - c->text.data);
		n++;
		words += kind == MARGIN_REMARK || kind == MARGIN_NOTE;
		any |= kind == MARGIN_VOID || kind == MARGIN_NOTE ||
		       (kind == MARGIN_REMARK && !gaps);
		if (any && kind != MARGIN_REMARK && !data) {
			margin = n;
			*first = at;
		}
	}
	for (rows += data; data && rows < words && at > c->body; rows++)
		at = (size_t)(line_before(c, at).ptr - c->text.data);
	return data && words <= rows ? margin : 0;
}

static enum dtx_code tell_rows(struct dtx_csv *c, const struct dtx_csv_top *top,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;
	size_t first = 0;
	int64_t n = margin_rows(c, top, &first);

	if (!n)
		goto out;
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
	            "'%s': %lld lines at the end are delimiters alone, or remarks among such or "
	            "blank lines",
	            dtx_source_name(c->head.src), (long long)n);
	dtx_err_hint(&w, "\"skip_tail\": %lld leaves them out", (long long)(c->opts.skip_tail + n));
	dtx_csv_set_position(c, first, &w);
	w.count = n;
	dtx_repair_advise(&w, "{\"skip_tail\":%lld}", (long long)(c->opts.skip_tail + n));
	DTX_TRY(dtx_csv_note(c, &w, err));
out:
	return rc;
}

/* --- columns --- */

/* The column after the last filled cell of these rows. */
static uint32_t columns_filled(const struct dtx_csv_top *top, size_t from, uint32_t least)
{
	size_t i;

	for (i = from; i < top->n; i++) {
		const struct dtx_csv_top_row *r = &top->row[i];
		uint32_t n = r->dropped ? 0 : r->n;

		while (n > least && dtx_utf8_is_blank(r->cell[n - 1]))
			n--;
		least = DTX_MAX(least, n);
	}
	return least;
}

/* The same for the names and all rows below them. */
static enum dtx_code margin_columns(struct dtx_csv *c, const struct dtx_csv_top *top, uint32_t *n,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_top part = { 0 };
	size_t at = top->n ? top->row[top->n - 1].next : c->text.end;

	*n = columns_filled(top, top->body - c->header_rows, 0);
	while (at < c->text.end && *n < c->width) {
		DTX_TRY(dtx_csv_top_read(c, at, DTX_CSV_TOP_ROWS, false, &part, err));
		*n = columns_filled(&part, 0, *n);
		at = part.n ? part.row[part.n - 1].next : c->text.end;
		dtx_csv_top_clear(&part);
	}
out:
	dtx_csv_top_clear(&part);
	return rc;
}

/* Writes a range with columns 1 to n and the rows that are read anyway. */
static bool range_of(const struct dtx_csv *c, uint32_t n, char out[48])
{
	struct dtx_cellrange r = DTX_CELLRANGE_ALL;
	char to[24];
	size_t len = 0;

	if (c->opts.range && (!dtx_cell_range_parse(dtx_str_of(c->opts.range), &r) || !r.cols_open))
		return false;
	r.col1 = n - 1;
	if (!r.rows_open) {
		dtx_cell_range_name(out, &r);
		return true;
	}
	(void)dtx_cell_name(to, 0, r.col1);
	len = strcspn(to, "0123456789");
	snprintf(out, 48, "A:%.*s", (int)len, to);
	return true;
}

static enum dtx_code tell_columns(struct dtx_csv *c, const struct dtx_csv_top *top,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;
	uint32_t n = 0;
	char range[48];

	if (!c->header_rows || c->opts.ntypes || c->opts.nrequires || c->text.end > MARGIN_TEXT)
		goto out;
	DTX_TRY(margin_columns(c, top, &n, err));
	if (!n || n >= c->width || n > DTX_SHEET_COLS || !range_of(c, n, range))
		goto out;
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__, "'%s': %u %s no name and no value",
	            dtx_source_name(c->head.src), c->width - n,
	            c->width - n == 1 ? "column at the right has" : "columns at the right have");
	dtx_err_hint(&w, "\"range\": \"%s\" leaves them out", range);
	dtx_csv_set_position(c, c->names, &w);
	w.count = c->width - n;
	dtx_repair_advise(&w, "{\"range\":\"%s\"}", range);
	DTX_TRY(dtx_csv_note(c, &w, err));
out:
	return rc;
}

enum dtx_code dtx_csv_margin(struct dtx_csv *c, const struct dtx_csv_top *top, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!c->opts.margins || strlen(c->dialect.delim) != 1 || c->dialect.delim[0] == ' ' ||
	    c->dialect.ending || dtx_source_is_part(c->head.src))
		goto out;
	DTX_TRY(tell_rows(c, top, err));
	DTX_TRY(tell_columns(c, top, err));
out:
	return rc;
}
