/* Opens a text file: finds encoding, dialect, rows to cut off, header and types, and makes the
 * schema. */
#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/io/sheet/cellref.h"
#include "core/io/csv/detect/csv_top.h"
#include "core/io/csv/lines.h"
#include "core/io/repair.h"

#define OPEN_SHOWN 2u                 /* number of left out lines that a note shows */
#define OPEN_CHARS 40u                /* number of characters of each */
#define OPEN_HEAD  ((size_t)64 << 10) /* bytes in which to look for quoted lines */

enum dtx_code dtx_csv_note(struct dtx_csv *c, struct dtx_err *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	w->severity = DTX_SEV_WARNING;
	if (!dtx_errlist_take(&c->head.diags, w))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_csv_note_text(struct dtx_csv *c, enum dtx_code code, const char *text,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;

	dtx_err_set(&w, code, __FILE__, __LINE__, "'%s' %s", dtx_source_name(c->head.src), text);
	DTX_TRY(dtx_csv_note(c, &w, err));
out:
	return rc;
}

/* Whether a line is listed. Blank lines and comments are counted elsewhere. */
static bool open_is_listed(const struct dtx_csv *c, struct dtx_str line)
{
	return line.len &&
	       !(c->dialect.comment && dtx_str_starts(line, dtx_str_of(c->dialect.comment)));
}

enum dtx_code dtx_csv_note_left_out(struct dtx_csv *c, const char *where, const char *hint,
                                    size_t from, size_t to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;
	struct dtx_buf text = DTX_BUF_INIT(4096);
	struct dtx_str all = { c->text.data, to }, line;
	size_t at, first = to, n = 0;

	for (at = from; at < to; at = dtx_line_after(all, line)) {
		line = dtx_line_at(all, at);
		if (!open_is_listed(c, line))
			continue;
		first = DTX_MIN(first, at);
		if (++n <= OPEN_SHOWN)
			dtx_buf_printf(&text, "%s L%lld '%.*s'", n > 1 ? "," : "",
			               (long long)(dtx_csv_line(c->text.data, 0, at) +
			                           dtx_source_line0(c->head.src)) +
			                       1,
			               (int)dtx_utf8_offset(line.ptr, line.len, OPEN_CHARS),
			               line.ptr);
	}
	if (!n)
		goto out;
	DTX_TRY(dtx_buf_check(&text, "a note", err));
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__, "'%s': %zu %s %s left out:%s%s",
	            dtx_source_name(c->head.src), n, n == 1 ? "line" : "lines", where,
	            dtx_buf_text(&text), n > OPEN_SHOWN ? " ..." : "");
	if (hint)
		dtx_err_hint(&w, "%s", hint);
	dtx_csv_set_position(c, first, &w);
	w.count = (int64_t)n;
	dtx_err_more(&w, dtx_mem_strdup("{\"kind\":\"lines_dropped\"}"));
	DTX_TRY(dtx_csv_note(c, &w, err));
out:
	dtx_buf_clear(&text);
	return rc;
}

/* Whether the quotes in the head enclose only whole lines, possibly a single one. */
static bool open_quoted_lines(const struct dtx_csv *c)
{
	const char *p = c->text.data, *end = p + DTX_MIN(c->text.end, OPEN_HEAD), *to;
	bool cut = c->text.end > OPEN_HEAD, any = false;

	for (; p < end; p = to + 1) {
		for (to = p; to < end && *to != '\n' && *to != '\r'; to++)
			;
		if ((to == end && cut) || !memchr(p, '"', (size_t)(to - p)))
			continue;
		any = to - p > 2 && *p == '"' && to[-1] == '"';
		if (!any)
			return false;
	}
	return any;
}

static bool open_is_edge(const struct dtx_csv *c, const char *at, const char *end)
{
	return at == end || *at == '\n' || *at == '\r' || *at == c->dialect.delim[0];
}

/* Whether some cell of the head is in quotes that close before a delimiter or a line end. */
static bool open_encloses(const struct dtx_csv *c)
{
	const char *begin = c->text.data, *end = begin + DTX_MIN(c->text.end, OPEN_HEAD), *p, *to;

	for (p = begin; p < end && (p = memchr(p, '"', (size_t)(end - p))); p++) {
		if (p > begin && !open_is_edge(c, p - 1, end))
			continue;
		for (to = p + 1; to < end; to++) {
			if (*to != '"')
				continue;
			if (to + 1 == end || to[1] != '"')
				break;
			to++;
		}
		if (to < end && to > p + 1 && open_is_edge(c, to + 1, end))
			return true;
	}
	return false;
}

/* If quotes do not enclose cells they are part of the text, so cells keep them. */
static enum dtx_code open_quotes(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *first, *end = c->text.data + c->text.end, *p;
	int64_t n = 0;
	struct dtx_err w = DTX_ERR_INIT;

	if (c->dialect.quote || c->opts.quote)
		goto out;
	first = memchr(c->text.data, '"', c->text.end);
	if (!first)
		goto out;
	for (p = first; p; p = memchr(p + 1, '"', (size_t)(end - p) - 1))
		n++;
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
	            n == 1 ? "'%s': a quote does not enclose a whole cell, so it is read as text"
	                   : "'%s': quotes do not enclose whole cells, so all of them are read as "
	                     "text",
	            dtx_source_name(c->head.src));
	w.count = n;
	dtx_err_more(&w, dtx_mem_strdup("{\"kind\":\"quotes_kept\"}"));
	dtx_err_hint(&w, "\"quotes\": \"lenient\" reads those as quotes that enclose a cell");
	if (c->dialect.delim[0] && open_quoted_lines(c))
		dtx_repair_advise(&w, "{\"quote\":\"\\\"\",\"mixed\":true}");
	else if (c->dialect.delim[0] && open_encloses(c))
		dtx_repair_advise(&w, "{\"quotes\":\"lenient\"}");
	dtx_csv_set_position(c, (size_t)(first - c->text.data), &w);
	DTX_TRY(dtx_csv_note(c, &w, err));
out:
	return rc;
}

/* A mark as in paths, dates and names is a delimiter only if that is clear. */
static enum dtx_code open_maybe(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err w = DTX_ERR_INIT;

	const char *mark = strcmp(c->dialect.maybe, "\t") ? c->dialect.maybe : "\\t";
	char lines[48] = "every line";

	if (c->plain && c->dialect.maybe_above > 1)
		snprintf(lines, sizeof(lines), "every line below the first %u",
		         c->dialect.maybe_above);
	else if (c->plain)
		snprintf(lines, sizeof(lines), "every line below the first");
	dtx_err_set(&w, DTX_W_READER_NOTE, __FILE__, __LINE__,
	            "'%s' is read as one column, although %s has the same number of '%s'",
	            dtx_source_name(c->head.src), lines, mark);
	dtx_err_hint(&w, "if these are columns: --delimiter '%s'", mark);
	DTX_TRY(dtx_csv_note(c, &w, err));
out:
	return rc;
}

/* Tries what the plain readings do not explain: drawn tables, rarer delimiters and quotes. */
static enum dtx_code open_rarer(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_dialect *d = &c->dialect;
	struct dtx_str text;
	bool placed;

	DTX_TRY(dtx_csv_frame(c, err));
	text = (struct dtx_str){ c->enc.text, c->enc.len };
	if (c->opts.quotes && !strcmp(c->opts.quotes, "lines")) {
		DTX_TRY(dtx_csv_unwrap(&c->enc, err));
		text = (struct dtx_str){ c->enc.text, c->enc.len };
	}
	DTX_TRY(dtx_dialect_find(&c->opts, text, false, dtx_source_name(c->head.src), d, err));
	DTX_TRY(dtx_csv_places(c, &placed, err));
	if (placed) {
		text = (struct dtx_str){ c->enc.text, c->enc.len };
		DTX_TRY(dtx_dialect_find(&c->opts, text, false, dtx_source_name(c->head.src), d,
		                         err));
	}
out:
	return rc;
}

static enum dtx_code open_dialect(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_dialect *d = &c->dialect;
	struct dtx_str text = { c->enc.text, c->enc.len };

	if (!dtx_source_is_part(c->head.src))
		DTX_TRY(dtx_dialect_plain(&c->opts, text, dtx_source_name(c->head.src), d,
		                          &c->plain, err));
	if (!c->plain)
		DTX_TRY(open_rarer(c, err));
	text = (struct dtx_str){ c->enc.text, c->enc.len };
	if (d->maybe)
		DTX_TRY(open_maybe(c, err));
	if (!c->plain || !d->delim[0])
		DTX_TRY(dtx_csv_wrapped(c, err));
	c->text = dtx_csv_text_of(&c->enc, d);
	DTX_TRY(open_quotes(c, err));
	if (c->opts.reader && strcmp(c->opts.reader, "libcsv") != 0)
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE, "reader '%.40s' reads no text file",
		         c->opts.reader);
	if (!dtx_dialect_is_plain(d) || c->opts.reader || c->opts.headers_drop) {
		/* libcsv gets some bytes that UTF-8 never has, so the text must be valid. */
		DTX_TRY(dtx_encoding_check(&c->enc, dtx_source_name(c->head.src), 0, text.len,
		                           err));
		DTX_TRY(dtx_csv_ref_new(text.ptr, text.len, d, &c->ref, err));
	}
out:
	return rc;
}

/* Contract in csv.h. Faults are ignored, because they are found again when the rows are read. */
enum dtx_code dtx_csv_step(struct dtx_csv *c, size_t *at, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_ref_record rec;

	if (!c->ref) {
		dtx_csv_row_read(&c->text, *at, NULL, 0, &rec.row);
	} else {
		DTX_TRY(dtx_csv_ref_read(c->ref, *at, &rec, err));
	}
	*at = rec.row.next;
out:
	return rc;
}

static void open_cut(struct dtx_csv *c, size_t end)
{
	c->text.end = end;
	if (c->ref)
		dtx_csv_ref_set_end(c->ref, end);
}

/* Rows and columns outside the range are not read at all, so they are not in any count. */
static enum dtx_code open_range(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_cellrange r;
	size_t at = 0;
	uint32_t row = 0;

	c->col1 = UINT32_MAX;
	if (!c->opts.range)
		goto out;
	if (!dtx_cell_range_parse(dtx_str_of(c->opts.range), &r)) {
		rc = dtx_err_set(err, DTX_E_BAD_PARAM_VALUE, __FILE__, __LINE__,
		                 "range '%s' is not like A4:O200, 4:200 or B:H", c->opts.range);
		goto out;
	}
	if (!r.cols_open) {
		c->col0 = r.col0;
		c->col1 = r.col1;
	}
	if (r.rows_open)
		goto out;
	for (; row < r.row0 && at < c->text.end; row++)
		DTX_TRY(dtx_csv_step(c, &at, err));
	c->top = at;
	if (r.row1 + 1 >= DTX_SHEET_ROWS)
		goto out;
	for (; row <= r.row1 && at < c->text.end; row++)
		DTX_TRY(dtx_csv_step(c, &at, err));
	open_cut(c, at);
out:
	return rc;
}

static enum dtx_code open_skip(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t *skipped = &c->before.dropped[DTX_DROP_SKIP];
	size_t from = c->top;

	while (*skipped < c->opts.skip && c->top < c->text.end) {
		DTX_TRY(dtx_csv_step(c, &c->top, err));
		++*skipped;
	}
	if (c->opts.strays)
		DTX_TRY(dtx_csv_note_left_out(c, "above the table", NULL, from, c->top, err));
out:
	return rc;
}

/* Where the last rows begin is known only at the end, so their starts are kept in a ring. */
static enum dtx_code open_skip_tail(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t *ring = NULL, want = (size_t)c->opts.skip_tail, at = c->top, n = 0, end;

	if (!want)
		goto out;
	if (want > DTX_CSV_TAIL_MAX)
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE, "skip_tail is at most %d, got %zu",
		         DTX_CSV_TAIL_MAX, want);
	ring = dtx_mem_alloc(want, sizeof(*ring));
	if (!ring)
		DTX_FAIL_MEM(err);
	for (; at < c->text.end; n++) {
		ring[n % want] = at;
		DTX_TRY(dtx_csv_step(c, &at, err));
	}
	end = c->text.end;
	if (n)
		open_cut(c, n <= want ? c->top : ring[n % want]);
	c->before.dropped[DTX_DROP_SKIP_TAIL] = (int64_t)DTX_MIN(n, want);
	if (c->opts.strays)
		DTX_TRY(dtx_csv_note_left_out(c, "below the table", NULL, c->text.end, end, err));
out:
	dtx_mem_free(ring);
	return rc;
}

static bool is_blank(const struct dtx_csv_top *top)
{
	size_t i;

	for (i = 0; i < top->n && top->row[i].blank; i++)
		;
	return i == top->n;
}

/* Reads the first rows. If all of them are blank lines, it reads those after the blank lines. */
static enum dtx_code open_top(struct dtx_csv *c, struct dtx_csv_top *top, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t at = c->top;

	DTX_TRY(dtx_csv_top_read(c, c->top, DTX_CSV_TOP_ROWS, true, top, err));
	if (!is_blank(top))
		goto out;
	while (at < c->text.end && (c->text.data[at] == '\n' || c->text.data[at] == '\r'))
		at++;
	if (at == c->text.end || top->whole)
		DTX_FAIL(err, DTX_E_EMPTY_INPUT, "'%s' has only blank lines",
		         dtx_source_name(c->head.src));
	if (!c->opts.header_rows || c->opts.range || c->dialect.ending ||
	    at < top->row[top->n - 1].next)
		goto out;
	c->before.dropped[DTX_DROP_BLANK] += dtx_csv_line(c->text.data, c->top, at);
	c->top = at;
	dtx_csv_top_clear(top);
	DTX_TRY(dtx_csv_top_read(c, c->top, DTX_CSV_TOP_ROWS, true, top, err));
out:
	return rc;
}

enum dtx_code dtx_csv_prepare(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_top top = { 0 };
	const char **names = NULL;

	c->declared_comment = c->opts.comment != NULL;
	DTX_TRY(dtx_encoding_open(c->head.src, c->opts.encoding, &c->enc, err));
	DTX_TRY(dtx_encoding_notes(&c->enc, c->head.src, &c->head.diags, err));
	DTX_TRY(open_dialect(c, err));
	if (c->sep) {
		c->top = c->sep;
		c->before.dropped[DTX_DROP_PREAMBLE]++;
	}
	DTX_TRY(open_range(c, err));
	DTX_TRY(open_skip(c, err));
	DTX_TRY(open_skip_tail(c, err));
	if (c->top >= c->text.end)
		DTX_FAIL(err, DTX_E_EMPTY_INPUT, "'%s' has no rows", dtx_source_name(c->head.src));
	DTX_TRY(open_top(c, &top, err));
	DTX_TRY(dtx_csv_head(c, &top, &names, err));
	DTX_TRY(dtx_csv_margin(c, &top, err));
	DTX_TRY(dtx_csv_fields(c, &top, names, err));
	if (!c->plain)
		DTX_TRY(dtx_csv_apostrophes(c, err));
out:
	dtx_csv_top_clear(&top);
	return rc;
}
