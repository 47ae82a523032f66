/* Writes Markdown tables. Workers format batches; the bytes are written in order. */
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/base/thread/cancel.h"
#include "core/io/write/writer.h"

#define MD_HEADER_MAX ((size_t)64 << 20)

struct md_writer {
	struct dtx_writer head;
	char *null_text;
	bool begun;
};

extern const struct dtx_writer_class dtx_write_md;

static struct md_writer *of(struct dtx_writer *w)
{
	return (struct md_writer *)w; /* head is the first member */
}

static void md_close(struct dtx_writer *w)
{
	dtx_errlist_clear(&w->diags);
	dtx_mem_free(of(w)->null_text);
	dtx_mem_free(of(w));
}

static enum dtx_code md_open(struct dtx_outfile *out, const struct dtx_write_opts *opts,
                             const struct dtx_schema *schema, struct dtx_writer **made,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct md_writer *w = dtx_mem_zalloc(1, sizeof(*w));

	if (!w)
		DTX_FAIL_MEM(err);
	w->head = (struct dtx_writer){ .cls = &dtx_write_md, .out = out, .schema = schema };
	w->null_text = dtx_mem_strdup(opts->null_text ? opts->null_text : "");
	if (!w->null_text)
		DTX_FAIL_MEM(err);
	*made = &w->head;
	w = NULL;
out:
	if (w)
		md_close(&w->head);
	return rc;
}

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
static void add_cell(struct dtx_buf *out, struct dtx_str s)
{
	size_t i;

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

static enum dtx_code md_format(struct dtx_writer *writer, struct dtx_batch *b, struct dtx_buf *out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf room = DTX_BUF_INIT(MD_HEADER_MAX);
	struct dtx_str cell;
	uint32_t i, c;

	for (i = 0; i < b->nsel; i++) {
		uint32_t row = b->sel ? b->sel[i] : i;

		DTX_TRY(dtx_cancel_line(i, err));
		dtx_buf_addc(out, '|');
		for (c = 0; c < b->ncols; c++) {
			DTX_TRY(dtx_writer_cell(b->col[c], row, of(writer)->null_text, &room, &cell,
			                        err));
			add_cell(out, cell);
		}
		dtx_buf_addc(out, '\n');
	}
	DTX_TRY(dtx_buf_check(out, "the rows of a batch", err));
out:
	dtx_buf_clear(&room);
	return rc;
}

/* Writes the header, also if there are no rows: Markdown has no table without one. */
static enum dtx_code md_begin(struct md_writer *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf buf = DTX_BUF_INIT(MD_HEADER_MAX);
	const struct dtx_schema *s = w->head.schema;
	uint32_t i;

	if (w->begun)
		goto out;
	w->begun = true;
	dtx_buf_addc(&buf, '|');
	for (i = 0; i < s->nfields; i++)
		add_cell(&buf, dtx_str_of(s->field[i].name));
	dtx_buf_add(&buf, "\n|");
	for (i = 0; i < s->nfields; i++)
		dtx_buf_add(&buf, dtx_type_is_number(s->field[i].type.type) ? " ---: |" : " --- |");
	dtx_buf_addc(&buf, '\n');
	DTX_TRY(dtx_buf_check(&buf, "the header", err));
	DTX_TRY(dtx_outfile_write(w->head.out, buf.ptr, buf.len, err));
out:
	dtx_buf_clear(&buf);
	return rc;
}

static enum dtx_code md_put(struct dtx_writer *w, struct dtx_batch *b, const struct dtx_buf *bytes,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)b;
	DTX_TRY(md_begin(of(w), err));
	if (bytes->len)
		DTX_TRY(dtx_outfile_write(w->out, bytes->ptr, bytes->len, err));
out:
	return rc;
}

static enum dtx_code md_finish(struct dtx_writer *w, struct dtx_err *err)
{
	return md_begin(of(w), err);
}

const struct dtx_writer_class dtx_write_md = {
	.name = "md",
	.formats = "md",
	.suffixes = "md,markdown",
	.uses = "null_text",
	.open = md_open,
	.format = md_format,
	.put = md_put,
	.finish = md_finish,
	.close = md_close,
};
