/* Writes a page with one HTML table, for mails: without scripts, style sheets and other files,
 * since mail programs drop these. */
#include "core/io/write/markup.h"

extern const struct dtx_writer_class dtx_write_html;

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

static void add_cell(struct dtx_buf *out, const char *tag, const struct dtx_field *field,
                     struct dtx_str s)
{
	dtx_buf_printf(out, "<%s%s>", tag,
	               dtx_type_is_number(field->type.type) ? " align=\"right\"" : "");
	add_text(out, s);
	dtx_buf_printf(out, "</%s>", tag);
}

static void html_cell(struct dtx_buf *out, const struct dtx_field *field, struct dtx_str s)
{
	add_cell(out, "td", field, s);
}

static void html_begin(struct dtx_buf *out, const struct dtx_schema *s, bool no_header)
{
	dtx_buf_add(out,
	            "<!DOCTYPE html>\n<html>\n<head><meta charset=\"utf-8\"><title>Table</title>"
	            "</head>\n<body>\n<table border=\"1\" cellpadding=\"4\" "
	            "cellspacing=\"0\" style=\"border-collapse:collapse\">\n");
	if (no_header)
		return;
	dtx_buf_add(out, "<tr>");
	for (uint32_t i = 0; i < s->nfields; i++)
		add_cell(out, "th", &s->field[i], dtx_str_of(s->field[i].name));
	dtx_buf_add(out, "</tr>\n");
}

static const struct dtx_markup html_markup = { html_begin, html_cell, "<tr>", "</tr>\n",
	                                       "</table>\n</body>\n</html>\n" };

static enum dtx_code html_open(struct dtx_outfile *out, const struct dtx_write_opts *opts,
                               const struct dtx_schema *schema, struct dtx_writer **made,
                               struct dtx_err *err)
{
	return dtx_markup_open(&dtx_write_html, &html_markup, out, opts, schema, made, err);
}

const struct dtx_writer_class dtx_write_html = {
	.name = "html",
	.formats = "html",
	.suffixes = "html,htm",
	.uses = "null_text,header",
	.open = html_open,
	.format = dtx_markup_format,
	.put = dtx_markup_put,
	.finish = dtx_markup_finish,
	.close = dtx_markup_close,
};
