/* Writes Markdown tables. */
#include <string.h>

#include "core/io/write/markup.h"

extern const struct dtx_writer_class dtx_write_md;

/* Whether '<' or '&' begins something that a page would take for HTML: it would be shown
 * differently and could run a script. */
static bool md_is_markup(struct dtx_str s, size_t i)
{
	char next = i + 1 < s.len ? s.ptr[i + 1] : ' ';
	bool letter = (next | 0x20) >= 'a' && (next | 0x20) <= 'z';

	return letter || (next && strchr(s.ptr[i] == '&' ? "#" : "/!?", next));
}

/* Writes the text of a cell. '|' would end the cell and a line break the row; the "](" of
 * "[text](javascript:...)" would make a link. */
static void md_cell(struct dtx_buf *out, const struct dtx_field *field, struct dtx_str s)
{
	size_t i;

	(void)field;
	dtx_buf_addc(out, ' ');
	for (i = 0; i < s.len; i++) {
		char c = s.ptr[i];

		if (c == '\r' && i + 1 < s.len && s.ptr[i + 1] == '\n')
			continue;
		if (c == '\n' || c == '\r')
			dtx_buf_add(out, "<br>");
		else if ((c == '<' || c == '&') && md_is_markup(s, i))
			dtx_buf_add(out, c == '<' ? "&lt;" : "&amp;");
		else if (c == '|' || c == '\\' || (c == '(' && i && s.ptr[i - 1] == ']'))
			dtx_buf_printf(out, "\\%c", c);
		else
			dtx_buf_addc(out, (unsigned char)c < 0x20 || c == 0x7f ? ' ' : c);
	}
	dtx_buf_add(out, s.len ? " |" : "|");
}

/* Markdown has no table without a header. */
static void md_begin(struct dtx_buf *out, const struct dtx_schema *s, bool no_header)
{
	uint32_t i;

	(void)no_header;
	dtx_buf_addc(out, '|');
	for (i = 0; i < s->nfields; i++)
		md_cell(out, &s->field[i], dtx_str_of(s->field[i].name));
	dtx_buf_add(out, "\n|");
	for (i = 0; i < s->nfields; i++)
		dtx_buf_add(out, dtx_type_is_number(s->field[i].type.type) ? " ---: |" : " --- |");
	dtx_buf_addc(out, '\n');
}

static const struct dtx_markup md_markup = { md_begin, md_cell, "|", "\n", "" };

static enum dtx_code md_open(struct dtx_outfile *out, const struct dtx_write_opts *opts,
                             const struct dtx_schema *schema, struct dtx_writer **made,
                             struct dtx_err *err)
{
	return dtx_markup_open(&dtx_write_md, &md_markup, out, opts, schema, made, err);
}

const struct dtx_writer_class dtx_write_md = {
	.name = "md",
	.formats = "md",
	.suffixes = "md,markdown",
	.uses = "null_text",
	.open = md_open,
	.format = dtx_markup_format,
	.put = dtx_markup_put,
	.finish = dtx_markup_finish,
	.close = dtx_markup_close,
};
