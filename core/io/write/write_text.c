/* Writes a table for people: columns aligned by display width, numbers to the right.
 *
 * Widths are computed from the first rows, which are held back; later rows use the same widths.
 * For a terminal (opts.height) only the first and last rows are held and written, middle columns
 * are left out where they do not fit, and a last line says how much there is.
 * Cells cannot control a terminal, because control characters are written as escapes. */
#include <inttypes.h>
#include <string.h>

#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/base/text/utf8.h"
#include "core/io/write/text_style.h"
#include "core/io/write/writer.h"

enum { HOLD_BYTES = 4 << 20, CELL_WIDTH_MIN = 6 };
/* On a terminal: columns are narrowed to CELL_WIDTH_FAIR before some are left out, and THIN_BYTES
 * are held until middle rows are dropped.  Header, gap, last line and prompt take SCREEN_LINES. */
enum { CELL_WIDTH_FAIR = 20, THIN_BYTES = 1 << 20, SCREEN_LINES = 6, SCREEN_ROWS_MIN = 4 };
#define TEXT_MAX ((size_t)1 << 30)
/* End marks of cells and rows in the bytes from workers; escaped text contains neither. */
#define CELL_END '\x1f'
#define ROW_END  '\x1e'
/* The first byte of a cell that is null. */
#define CELL_NULL '\x1d'

struct text_writer {
	struct dtx_writer head;
	struct dtx_buf hold;
	struct dtx_buf line;
	uint32_t *width;
	unsigned limit; /* width of a line, 0: no limit */
	/* Rows that fit on the terminal, 0: no limit; rows so far. */
	uint64_t most, nrows;
	uint32_t gap[2]; /* columns gap[0] to gap[1] - 1 are left out */
	char *null_text;
	bool no_header, laid_out, colour;
	bool thinned; /* `hold` lacks middle rows */
};

static struct text_writer *of(struct dtx_writer *w)
{
	return (struct text_writer *)w; /* head is the first member */
}

static void text_close(struct dtx_writer *writer)
{
	struct text_writer *w = of(writer);

	dtx_buf_clear(&w->hold);
	dtx_buf_clear(&w->line);
	dtx_mem_free(w->width);
	dtx_mem_free(w->null_text);
	dtx_errlist_clear(&writer->diags);
	dtx_mem_free(w);
}

static enum dtx_code text_open(struct dtx_outfile *out, const struct dtx_write_opts *opts,
                               const struct dtx_schema *schema, struct dtx_writer **made,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct text_writer *w = dtx_mem_zalloc(1, sizeof(*w));

	if (!w)
		DTX_FAIL_MEM(err);
	w->head = (struct dtx_writer){ .cls = &dtx_write_text, .out = out, .schema = schema };
	dtx_buf_init(&w->hold, TEXT_MAX);
	dtx_buf_init(&w->line, TEXT_MAX);
	w->limit = opts->width;
	w->no_header = opts->no_header;
	w->colour = opts->colour;
	if (opts->height)
		w->most = opts->height > SCREEN_LINES + SCREEN_ROWS_MIN
		                  ? opts->height - SCREEN_LINES
		                  : SCREEN_ROWS_MIN;
	w->width = dtx_mem_zalloc(schema->nfields, sizeof(*w->width));
	/* a colour distinguishes the word from a text */
	w->null_text = dtx_mem_strdup(opts->null_text && *opts->null_text ? opts->null_text
	                              : opts->colour                      ? "null"
	                                                                  : "");
	if (!w->width || !w->null_text)
		DTX_FAIL_MEM(err);
	*made = &w->head;
	w = NULL;
out:
	if (w)
		text_close(&w->head);
	return rc;
}

static enum dtx_code text_format(struct dtx_writer *writer, struct dtx_batch *b,
                                 struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf room = DTX_BUF_INIT(TEXT_MAX);
	struct dtx_str cell;
	uint32_t i, c;

	for (i = 0; i < b->nsel; i++) {
		uint32_t row = b->sel ? b->sel[i] : i;

		DTX_TRY(dtx_cancel_line(i, err));
		for (c = 0; c < b->ncols; c++) {
			DTX_TRY(dtx_writer_cell(b->col[c], row, of(writer)->null_text, &room, &cell,
			                        err));
			if (of(writer)->colour && dtx_column_is_null(b->col[c], row))
				dtx_buf_addc(out, CELL_NULL);
			dtx_utf8_spell(out, cell, dtx_utf8_steers, "");
			dtx_buf_addc(out, CELL_END);
		}
		dtx_buf_addc(out, ROW_END);
	}
	DTX_TRY(dtx_buf_check(out, "a batch of rows", err));
out:
	dtx_buf_clear(&room);
	return rc;
}

/* --- rows of a terminal --- */

/* The rows at the beginning that are shown if there are more than `most`. */
static uint64_t first_rows(const struct text_writer *w)
{
	return (w->most + 1) / 2;
}

/* The byte after the first n rows. */
static size_t after_rows(struct dtx_str held, uint64_t n)
{
	const char *p = held.ptr;

	for (; n; n--)
		p = (const char *)memchr(p, ROW_END, (size_t)(held.ptr + held.len - p)) + 1;
	return (size_t)(p - held.ptr);
}

/* The first byte of the last n rows. */
static size_t before_rows(struct dtx_str held, uint64_t n)
{
	size_t at = held.len;

	for (; n; n--) {
		const char *end = at > 1 ? memrchr(held.ptr, ROW_END, at - 1) : NULL;

		at = end ? (size_t)(end - held.ptr) + 1 : 0;
	}
	return at;
}

/* Drops the middle rows of those held. */
static void thin(struct text_writer *w)
{
	struct dtx_str held = dtx_buf_str(&w->hold);
	size_t from, to;

	if (!w->most || w->nrows <= w->most)
		return;
	from = after_rows(held, first_rows(w));
	to = before_rows(held, w->most - first_rows(w));
	w->thinned = true;
	if (to <= from)
		return;
	memmove(w->hold.ptr + from, w->hold.ptr + to, held.len - to);
	w->hold.len -= to - from;
}

static uint64_t count_rows(const struct dtx_buf *bytes)
{
	const char *p = bytes->ptr, *end = p + bytes->len;
	uint64_t n = 0;

	for (; p < end && (p = memchr(p, ROW_END, (size_t)(end - p))); p++)
		n++;
	return n;
}

/* --- layout --- */

static struct dtx_str text_from(struct dtx_str s, size_t n)
{
	return (struct dtx_str){ s.ptr + n, s.len - n };
}

static uint32_t width_of(struct dtx_str s)
{
	if (s.len && *s.ptr == CELL_NULL)
		s = text_from(s, 1);
	return (uint32_t)DTX_MIN(dtx_utf8_width(s.ptr, s.len), (size_t)1 << 20);
}

static void measure(struct text_writer *w)
{
	const struct dtx_schema *s = w->head.schema;
	struct dtx_str rest = dtx_buf_str(&w->hold), row, cell;
	uint32_t c;

	for (c = 0; c < s->nfields && !w->no_header; c++)
		w->width[c] = width_of(dtx_str_of(s->field[c].name));
	while (dtx_str_next(&rest, ROW_END, &row) && rest.ptr) {
		for (c = 0; c < s->nfields && dtx_str_next(&row, CELL_END, &cell); c++)
			w->width[c] = DTX_MAX(w->width[c], width_of(cell));
	}
}

static bool is_shown(const struct text_writer *w, uint32_t c)
{
	return c < w->gap[0] || c >= w->gap[1];
}

/* The width of a line if no column is wider than `most`. */
static uint64_t line_width(const struct text_writer *w, uint32_t most)
{
	uint64_t total = w->gap[1] > w->gap[0] ? 3 : 0;

	for (uint32_t c = 0; c < w->head.schema->nfields; c++)
		total += is_shown(w, c) ? DTX_MIN(w->width[c], most) + (c ? 2 : 0) : 0;
	return total;
}

/* Narrows the widest columns until a line fits, but none below `least`. */
static void narrow(struct text_writer *w, uint32_t least)
{
	uint32_t low = least, high = 0, c;

	for (c = 0; c < w->head.schema->nfields; c++)
		high = is_shown(w, c) ? DTX_MAX(high, w->width[c]) : high;
	if (!w->limit || high <= least || line_width(w, high) <= w->limit)
		return;
	while (high - low > 1) { /* `high` does not fit */
		uint32_t middle = low + (high - low) / 2;

		if (line_width(w, middle) <= w->limit)
			low = middle;
		else
			high = middle;
	}
	for (c = 0; c < w->head.schema->nfields; c++)
		w->width[c] = DTX_MIN(w->width[c], low);
}

/* Leaves out middle columns until a line fits. The first column stays. */
static void leave_out(struct text_writer *w)
{
	uint32_t n = w->head.schema->nfields;
	uint64_t total = line_width(w, UINT32_MAX);

	w->gap[0] = w->gap[1] = (n + 1) / 2;
	if (total <= w->limit)
		return;
	for (total += 3; total > w->limit && w->gap[1] - w->gap[0] + 1 < n;)
		total -= 2 + w->width[w->gap[0] > n - w->gap[1] ? --w->gap[0] : w->gap[1]++];
}

static void fit(struct text_writer *w)
{
	if (w->limit && w->most) {
		narrow(w, CELL_WIDTH_FAIR);
		leave_out(w);
	}
	narrow(w, CELL_WIDTH_MIN);
}

/* The number of bytes of s that fit into `width` columns. */
static size_t cut(struct dtx_str s, uint32_t width)
{
	size_t i = 0, fits = 0;
	uint32_t used = 0;

	while (i < s.len) {
		size_t at = i;

		dtx_utf8_next(s.ptr, s.len, &i);
		used += (uint32_t)dtx_utf8_width(s.ptr + at, i - at);
		if (used > width)
			break;
		fits = i;
	}
	return fits;
}

static void pad(struct dtx_buf *out, uint32_t n)
{
	while (n--)
		dtx_buf_addc(out, ' ');
}

static void style(struct text_writer *w, const char *sequence)
{
	if (w->colour && sequence)
		dtx_buf_add(&w->line, sequence);
}

/* Adds a cell, in the style if it is not NULL. */
static void add_cell(struct text_writer *w, uint32_t c, struct dtx_str cell, const char *how)
{
	const struct dtx_schema *s = w->head.schema;
	bool right = dtx_type_is_number(s->field[c].type.type);
	uint32_t have = width_of(cell), want = w->width[c], left = want > have ? want - have : 0;
	bool cuts = w->limit && have > want && want;

	if (cell.len && *cell.ptr == CELL_NULL) {
		cell = text_from(cell, 1);
		how = DTX_STYLE_NULL;
	}
	if (c)
		dtx_buf_add(&w->line, "  ");
	if (c && c == w->gap[1] && w->gap[1] > w->gap[0])
		dtx_buf_add(&w->line, "\u2026  ");
	if (cuts) {
		cell.len = cut(cell, want - 1);
		left = want - width_of(cell) - 1;
		right = false;
	}
	if (right)
		pad(&w->line, left);
	style(w, how);
	dtx_buf_adds(&w->line, cell);
	if (cuts)
		dtx_buf_add(&w->line, "\u2026");
	style(w, how ? DTX_STYLE_END : NULL);
	if (!right && c + 1 < s->nfields)
		pad(&w->line, left);
}

static void add_header(struct text_writer *w)
{
	const struct dtx_schema *s = w->head.schema;
	struct dtx_buf name = DTX_BUF_INIT(TEXT_MAX);
	uint32_t c, i;

	for (c = 0; c < s->nfields; c++) {
		if (!is_shown(w, c))
			continue;
		dtx_buf_reset(&name);
		dtx_utf8_spell(&name, dtx_str_of(s->field[c].name), dtx_utf8_steers, "");
		add_cell(w, c, dtx_buf_str(&name), DTX_STYLE_HEADER);
	}
	dtx_buf_addc(&w->line, '\n');
	for (c = 0; c < s->nfields; c++) {
		if (!is_shown(w, c))
			continue;
		if (c)
			dtx_buf_add(&w->line,
			            c == w->gap[1] && w->gap[1] > w->gap[0] ? "     " : "  ");
		for (i = 0; i < w->width[c]; i++)
			dtx_buf_addc(&w->line, '-');
	}
	dtx_buf_addc(&w->line, '\n');
	dtx_buf_clear(&name);
}

static enum dtx_code put_rows(struct text_writer *w, struct dtx_str rest, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_schema *s = w->head.schema;
	struct dtx_str row, cell;
	uint64_t n = 0;
	uint32_t c;

	while (dtx_str_next(&rest, ROW_END, &row) && rest.ptr) {
		DTX_TRY(dtx_cancel_line(n++, err));
		for (c = 0; c < s->nfields && dtx_str_next(&row, CELL_END, &cell); c++) {
			if (is_shown(w, c))
				add_cell(w, c, cell,
				         dtx_type_is_number(s->field[c].type.type)
				                 ? DTX_STYLE_NUMBER
				                 : NULL);
		}
		dtx_buf_addc(&w->line, '\n');
	}
	DTX_TRY(dtx_buf_check(&w->line, "lines of a table", err));
	if (w->line.len)
		DTX_TRY(dtx_outfile_write(w->head.out, w->line.ptr, w->line.len, err));
	dtx_buf_reset(&w->line);
out:
	return rc;
}

static enum dtx_code lay_out(struct text_writer *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str held;
	size_t first = 0;

	if (w->laid_out)
		goto out;
	w->laid_out = true;
	measure(w);
	fit(w);
	if (!w->no_header && w->head.schema->nfields)
		add_header(w);
	held = dtx_buf_str(&w->hold);
	if (w->thinned)
		first = after_rows(held, first_rows(w));
	DTX_TRY(put_rows(w, (struct dtx_str){ held.ptr, first ? first : held.len }, err));
	if (w->thinned) {
		dtx_buf_add(&w->line, "\u2026\n");
		DTX_TRY(put_rows(w, text_from(held, first), err));
	}
	dtx_buf_clear(&w->hold);
out:
	return rc;
}

static enum dtx_code text_put(struct dtx_writer *writer, struct dtx_batch *b,
                              const struct dtx_buf *bytes, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct text_writer *w = of(writer);

	(void)b;
	w->nrows += w->most ? count_rows(bytes) : 0;
	if (!w->laid_out) {
		dtx_buf_addn(&w->hold, bytes->ptr, bytes->len);
		DTX_TRY(dtx_buf_check(&w->hold, "rows held for their widths", err));
		if (w->most && w->hold.len >= THIN_BYTES)
			thin(w);
		else if (!w->most && w->hold.len >= HOLD_BYTES)
			DTX_TRY(lay_out(w, err));
	} else if (bytes->len) {
		DTX_TRY(put_rows(w, (struct dtx_str){ bytes->ptr, bytes->len }, err));
	}
out:
	return rc;
}

/* Says how much there is if not all of it is shown. */
static enum dtx_code say_size(struct text_writer *w, struct dtx_err *err)
{
	uint32_t n = w->head.schema->nfields;
	enum dtx_code rc = DTX_OK;
	char rows[DTX_NUM_TEXT];

	if (!w->thinned && w->gap[1] == w->gap[0])
		return DTX_OK;
	dtx_num_print_grouped(rows, (int64_t)w->nrows);
	style(w, DTX_STYLE_NULL);
	dtx_buf_printf(&w->line, "%s rows x %u columns; ", rows, n);
	if (w->thinned)
		dtx_buf_printf(&w->line, "%" PRIu64 " rows", w->most);
	if (w->gap[1] > w->gap[0])
		dtx_buf_printf(&w->line, "%s%u columns", w->thinned ? " and " : "",
		               n - (w->gap[1] - w->gap[0]));
	dtx_buf_add(&w->line, " are shown, --pager shows all");
	style(w, DTX_STYLE_END);
	dtx_buf_addc(&w->line, '\n');
	DTX_TRY(put_rows(w, DTX_STR(""), err));
out:
	return rc;
}

static enum dtx_code text_finish(struct dtx_writer *writer, struct dtx_err *err)
{
	struct text_writer *w = of(writer);
	enum dtx_code rc = DTX_OK;

	thin(w);
	DTX_TRY(lay_out(w, err));
	DTX_TRY(say_size(w, err));
out:
	return rc;
}

const struct dtx_writer_class dtx_write_text = {
	.name = "text",
	.formats = "text",
	/* a terminal gets text instead of CSV, so the members for CSV are no mistake */
	.uses = "delimiter,quote,eol,bom,float_style,null_text,header",
	.open = text_open,
	.format = text_format,
	.put = text_put,
	.finish = text_finish,
	.close = text_close,
};
