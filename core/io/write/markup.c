/* Marked-up tables: see markup.h. */
#include "core/io/write/markup.h"

#include <string.h>

#include "core/base/memory/mem.h"
#include "core/base/thread/cancel.h"

#define HEADER_MAX ((size_t)64 << 20)

struct markup_writer {
	struct dtx_writer head;
	const struct dtx_markup *markup;
	char *null_text;
	bool no_header, begun;
};

static struct markup_writer *of(struct dtx_writer *w)
{
	return (struct markup_writer *)w; /* head is the first member */
}

void dtx_markup_close(struct dtx_writer *w)
{
	dtx_errlist_clear(&w->diags);
	dtx_mem_free(of(w)->null_text);
	dtx_mem_free(of(w));
}

enum dtx_code dtx_markup_open(const struct dtx_writer_class *cls, const struct dtx_markup *markup,
                              struct dtx_outfile *out, const struct dtx_write_opts *opts,
                              const struct dtx_schema *schema, struct dtx_writer **made,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct markup_writer *w = dtx_mem_zalloc(1, sizeof(*w));

	if (!w)
		DTX_FAIL_MEM(err);
	w->head = (struct dtx_writer){ .cls = cls, .out = out, .schema = schema };
	w->markup = markup;
	w->no_header = opts->no_header;
	w->null_text = dtx_mem_strdup(opts->null_text ? opts->null_text : "");
	if (!w->null_text)
		DTX_FAIL_MEM(err);
	*made = &w->head;
	w = NULL;
out:
	if (w)
		dtx_markup_close(&w->head);
	return rc;
}

enum dtx_code dtx_markup_format(struct dtx_writer *writer, struct dtx_batch *b, struct dtx_buf *out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct markup_writer *w = of(writer);
	struct dtx_buf room = DTX_BUF_INIT(HEADER_MAX);
	struct dtx_str cell;
	uint32_t i, c;

	for (i = 0; i < b->nsel; i++) {
		uint32_t row = b->sel ? b->sel[i] : i;

		DTX_TRY(dtx_cancel_line(i, err));
		dtx_buf_add(out, w->markup->row);
		for (c = 0; c < b->ncols; c++) {
			DTX_TRY(dtx_writer_cell(b->col[c], row, w->null_text, &room, &cell, err));
			w->markup->cell(out, &writer->schema->field[c], cell);
		}
		dtx_buf_add(out, w->markup->row_end);
	}
	DTX_TRY(dtx_buf_check(out, "the rows of a batch", err));
out:
	dtx_buf_clear(&room);
	return rc;
}

static enum dtx_code begin(struct markup_writer *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf buf = DTX_BUF_INIT(HEADER_MAX);

	if (w->begun)
		goto out;
	w->begun = true;
	w->markup->begin(&buf, w->head.schema, w->no_header);
	DTX_TRY(dtx_buf_check(&buf, "the header", err));
	DTX_TRY(dtx_outfile_write(w->head.out, buf.ptr, buf.len, err));
out:
	dtx_buf_clear(&buf);
	return rc;
}

enum dtx_code dtx_markup_put(struct dtx_writer *w, struct dtx_batch *b, const struct dtx_buf *bytes,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)b;
	DTX_TRY(begin(of(w), err));
	if (bytes->len)
		DTX_TRY(dtx_outfile_write(w->out, bytes->ptr, bytes->len, err));
out:
	return rc;
}

enum dtx_code dtx_markup_finish(struct dtx_writer *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *end = of(w)->markup->end;

	DTX_TRY(begin(of(w), err));
	if (*end)
		DTX_TRY(dtx_outfile_write(w->out, end, strlen(end), err));
out:
	return rc;
}
