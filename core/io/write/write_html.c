/* Writes a page with one HTML table, for mails: without scripts, style sheets and other files,
 * since mail programs drop these. Workers format batches; the bytes are written in order. */
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/base/thread/cancel.h"
#include "core/io/write/writer.h"

#define HTML_HEADER_MAX ((size_t)64 << 20)

struct html_writer {
	struct dtx_writer head;
	char *null_text;
	bool no_header, begun;
};

extern const struct dtx_writer_class dtx_write_html;

static struct html_writer *of(struct dtx_writer *w)
{
	return (struct html_writer *)w; /* head is the first member */
}

static void html_close(struct dtx_writer *w)
{
	dtx_errlist_clear(&w->diags);
	dtx_mem_free(of(w)->null_text);
	dtx_mem_free(of(w));
}

static enum dtx_code html_open(struct dtx_outfile *out, const struct dtx_write_opts *opts,
                               const struct dtx_schema *schema, struct dtx_writer **made,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct html_writer *w = dtx_mem_zalloc(1, sizeof(*w));

	if (!w)
		DTX_FAIL_MEM(err);
	w->head = (struct dtx_writer){ .cls = &dtx_write_html, .out = out, .schema = schema };
	w->no_header = opts->no_header;
	w->null_text = dtx_mem_strdup(opts->null_text ? opts->null_text : "");
	if (!w->null_text)
		DTX_FAIL_MEM(err);
	*made = &w->head;
	w = NULL;
out:
	if (w)
		html_close(&w->head);
	return rc;
}

/* Writes text that a page shows as it is, whatever is in it. */
static void add_text(struct dtx_buf *out, struct dtx_str s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];

		if (c == '\r' && i + 1 < s.len && s.ptr[i + 1] == '\n')
			continue;
		switch (c) {
		case '&': dtx_buf_add(out, "&amp;"); break;
		case '<': dtx_buf_add(out, "&lt;"); break;
		case '>': dtx_buf_add(out, "&gt;"); break;
		case '"': dtx_buf_add(out, "&quot;"); break;
		case '\'': dtx_buf_add(out, "&#39;"); break;
		case '\n':
		case '\r': dtx_buf_add(out, "<br>"); break;
		default: dtx_buf_addc(out, (unsigned char)c < 0x20 || c == 0x7f ? ' ' : c);
		}
	}
}

static void add_cell(struct dtx_buf *out, const char *tag, bool number, struct dtx_str s)
{
	dtx_buf_printf(out, "<%s%s>", tag, number ? " align=\"right\"" : "");
	add_text(out, s);
	dtx_buf_printf(out, "</%s>", tag);
}

static bool is_number(const struct dtx_writer *w, uint32_t column)
{
	return dtx_type_is_number(w->schema->field[column].type.type);
}

static enum dtx_code html_format(struct dtx_writer *writer, struct dtx_batch *b,
                                 struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf room = DTX_BUF_INIT(HTML_HEADER_MAX);
	struct dtx_str cell;
	uint32_t i, c;

	for (i = 0; i < b->nsel; i++) {
		uint32_t row = b->sel ? b->sel[i] : i;

		DTX_TRY(dtx_cancel_line(i, err));
		dtx_buf_add(out, "<tr>");
		for (c = 0; c < b->ncols; c++) {
			DTX_TRY(dtx_writer_cell(b->col[c], row, of(writer)->null_text, &room, &cell,
			                        err));
			add_cell(out, "td", is_number(writer, c), cell);
		}
		dtx_buf_add(out, "</tr>\n");
	}
	DTX_TRY(dtx_buf_check(out, "the rows of a batch", err));
out:
	dtx_buf_clear(&room);
	return rc;
}

static enum dtx_code html_begin(struct html_writer *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf buf = DTX_BUF_INIT(HTML_HEADER_MAX);
	const struct dtx_schema *s = w->head.schema;

	if (w->begun)
		goto out;
	w->begun = true;
	dtx_buf_add(&buf,
	            "<!DOCTYPE html>\n<html>\n<head><meta charset=\"utf-8\"><title>Table</title>"
	            "</head>\n<body>\n<table border=\"1\" cellpadding=\"4\" "
	            "cellspacing=\"0\" style=\"border-collapse:collapse\">\n");
	if (!w->no_header)
		dtx_buf_add(&buf, "<tr>");
	for (uint32_t i = 0; !w->no_header && i < s->nfields; i++)
		add_cell(&buf, "th", is_number(&w->head, i), dtx_str_of(s->field[i].name));
	if (!w->no_header)
		dtx_buf_add(&buf, "</tr>\n");
	DTX_TRY(dtx_buf_check(&buf, "the header", err));
	DTX_TRY(dtx_outfile_write(w->head.out, buf.ptr, buf.len, err));
out:
	dtx_buf_clear(&buf);
	return rc;
}

static enum dtx_code html_put(struct dtx_writer *w, struct dtx_batch *b,
                              const struct dtx_buf *bytes, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)b;
	DTX_TRY(html_begin(of(w), err));
	if (bytes->len)
		DTX_TRY(dtx_outfile_write(w->out, bytes->ptr, bytes->len, err));
out:
	return rc;
}

static enum dtx_code html_finish(struct dtx_writer *w, struct dtx_err *err)
{
	static const char end[] = "</table>\n</body>\n</html>\n";
	enum dtx_code rc = DTX_OK;

	DTX_TRY(html_begin(of(w), err));
	DTX_TRY(dtx_outfile_write(w->out, end, sizeof(end) - 1, err));
out:
	return rc;
}

const struct dtx_writer_class dtx_write_html = {
	.name = "html",
	.formats = "html",
	.suffixes = "html,htm",
	.uses = "null_text,header",
	.open = html_open,
	.format = html_format,
	.put = html_put,
	.finish = html_finish,
	.close = html_close,
};
