/* What the writers of marked-up tables share (Markdown, HTML): a text before the rows, one for each
 * row, and one after the last. Workers format batches; the bytes are written in order. */
#ifndef DTX_IO_WRITE_MARKUP_H
#define DTX_IO_WRITE_MARKUP_H

#include "core/io/write/writer.h"

struct dtx_markup {
	/* Appends what comes before the rows, also if there are no rows. */
	void (*begin)(struct dtx_buf *out, const struct dtx_schema *schema, bool no_header);
	/* Appends a cell of a column. */
	void (*cell)(struct dtx_buf *out, const struct dtx_field *field, struct dtx_str text);
	const char *row, *row_end, *end;
};

/* For the `open` of a class, whose other functions are those below. `markup` must outlive the
 * writer. */
DTX_MUSTUSE enum dtx_code dtx_markup_open(const struct dtx_writer_class *cls,
                                          const struct dtx_markup *markup, struct dtx_outfile *out,
                                          const struct dtx_write_opts *opts,
                                          const struct dtx_schema *schema, struct dtx_writer **made,
                                          struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_markup_format(struct dtx_writer *w, struct dtx_batch *b,
                                            struct dtx_buf *out, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_markup_put(struct dtx_writer *w, struct dtx_batch *b,
                                         const struct dtx_buf *bytes, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_markup_finish(struct dtx_writer *w, struct dtx_err *err);
void dtx_markup_close(struct dtx_writer *w);

#endif
