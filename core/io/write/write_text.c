/* Writes a table for people: columns aligned by display width, numbers to the right.
 *
 * Widths are computed from the first rows, which are held back; later rows use the same widths.
 * Cells cannot control a terminal, because control characters are written as escapes. */
#include "core/base/mem.h"
#include "core/base/cancel.h"
#include "core/base/text/utf8.h"
#include "core/io/write/writer.h"

enum { HOLD_BYTES = 4 << 20, CELL_WIDTH_MIN = 6 };
#define TEXT_MAX ((size_t)1 << 30)
/* End marks of cells and rows in the bytes from workers; escaped text contains neither. */
#define CELL_END '\x1f'
#define ROW_END  '\x1e'

struct text_writer {
	struct dtx_writer head;
	struct dtx_buf hold;
	struct dtx_buf line;
	uint32_t *width;
	unsigned limit; /* width of a line, 0: no limit */
	char *null_text;
	bool no_header, laid_out;
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
	w->width = dtx_mem_zalloc(schema->nfields, sizeof(*w->width));
	w->null_text = dtx_mem_strdup(opts->null_text ? opts->null_text : "");
	if (!w->width || !w->null_text)
		DTX_FAIL_MEM(err);
	*made = &w->head;
	w = NULL;
out:
	if (w)
		text_close(&w->head);
	return rc;
}

/* Writes control characters as \n, \t, \xHH, and those that change the writing direction as
 * \uHHHH. */
static void add_visible(struct dtx_buf *out, struct dtx_str s)
{
	size_t i = 0, from = 0;

	while (i < s.len) {
		size_t at = i;
		uint32_t cp = dtx_utf8_next(s.ptr, s.len, &i);

		if (!dtx_utf8_steers(cp))
			continue;
		dtx_buf_addn(out, s.ptr + from, at - from);
		if (cp == '\n' || cp == '\t' || cp == '\r')
			dtx_buf_add(out, cp == '\n' ? "\\n" : cp == '\t' ? "\\t" : "\\r");
		else
			dtx_buf_printf(out, cp < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)cp);
		from = i;
	}
	dtx_buf_addn(out, s.ptr + from, s.len - from);
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
			add_visible(out, cell);
			dtx_buf_addc(out, CELL_END);
		}
		dtx_buf_addc(out, ROW_END);
	}
	DTX_TRY(dtx_buf_check(out, "a batch of rows", err));
out:
	dtx_buf_clear(&room);
	return rc;
}

/* --- layout --- */

static uint32_t width_of(struct dtx_str s)
{
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

/* Shrinks the widest column until a line fits. */
static void fit(struct text_writer *w)
{
	uint32_t n = w->head.schema->nfields, c, widest;
	uint64_t total = 0;

	for (c = 0; c < n; c++)
		total += w->width[c] + (c ? 2 : 0);
	while (w->limit && total > w->limit) {
		for (c = 0, widest = 0; c < n; c++) {
			if (w->width[c] > w->width[widest])
				widest = c;
		}
		if (w->width[widest] <= CELL_WIDTH_MIN)
			return;
		w->width[widest]--;
		total--;
	}
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

static void add_cell(struct text_writer *w, uint32_t c, struct dtx_str cell)
{
	const struct dtx_schema *s = w->head.schema;
	bool right = dtx_type_is_number(s->field[c].type.type);
	uint32_t have = width_of(cell), want = w->width[c];

	if (c)
		dtx_buf_add(&w->line, "  ");
	if (w->limit && have > want && want) {
		cell.len = cut(cell, want - 1);
		have = width_of(cell) + 1;
		right = false;
		dtx_buf_adds(&w->line, cell);
		dtx_buf_add(&w->line, "\u2026");
	} else {
		if (right && have < want)
			pad(&w->line, want - have);
		dtx_buf_adds(&w->line, cell);
	}
	if (!right && have < want && c + 1 < s->nfields)
		pad(&w->line, want - have);
}

static void add_header(struct text_writer *w)
{
	const struct dtx_schema *s = w->head.schema;
	struct dtx_buf name = DTX_BUF_INIT(TEXT_MAX);
	uint32_t c, i;

	for (c = 0; c < s->nfields; c++) {
		dtx_buf_reset(&name);
		add_visible(&name, dtx_str_of(s->field[c].name));
		add_cell(w, c, dtx_buf_str(&name));
	}
	dtx_buf_addc(&w->line, '\n');
	for (c = 0; c < s->nfields; c++) {
		if (c)
			dtx_buf_add(&w->line, "  ");
		for (i = 0; i < w->width[c]; i++)
			dtx_buf_addc(&w->line, '-');
	}
	dtx_buf_addc(&w->line, '\n');
	dtx_buf_clear(&name);
}

static enum dtx_code put_rows(struct text_writer *w, struct dtx_str rest, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str row, cell;
	uint64_t n = 0;
	uint32_t c;

	while (dtx_str_next(&rest, ROW_END, &row) && rest.ptr) {
		DTX_TRY(dtx_cancel_line(n++, err));
		for (c = 0; c < w->head.schema->nfields && dtx_str_next(&row, CELL_END, &cell); c++)
			add_cell(w, c, cell);
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

	if (w->laid_out)
		goto out;
	w->laid_out = true;
	measure(w);
	fit(w);
	if (!w->no_header && w->head.schema->nfields)
		add_header(w);
	DTX_TRY(put_rows(w, dtx_buf_str(&w->hold), err));
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
	if (!w->laid_out) {
		dtx_buf_addn(&w->hold, bytes->ptr, bytes->len);
		DTX_TRY(dtx_buf_check(&w->hold, "rows held for their widths", err));
		if (w->hold.len >= HOLD_BYTES)
			DTX_TRY(lay_out(w, err));
	} else if (bytes->len) {
		DTX_TRY(put_rows(w, (struct dtx_str){ bytes->ptr, bytes->len }, err));
	}
out:
	return rc;
}

static enum dtx_code text_finish(struct dtx_writer *writer, struct dtx_err *err)
{
	return lay_out(of(writer), err);
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
