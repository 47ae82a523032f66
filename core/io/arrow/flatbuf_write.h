/* Writes FlatBuffers: parents before their children, to which a reference is set when their place
 * is known. See flatbuf.h. */
#ifndef DTX_IO_ARROW_FLATBUF_WRITE_H
#define DTX_IO_ARROW_FLATBUF_WRITE_H

#include "core/base/memory/buf.h"

/* One buffer at the end of `to`. Its begin has to be at a multiple of 8 in what it becomes a part
 * of; places count from there. A failure of `to` is asked for at the end, with dtx_buf_check. */
struct dtx_fbw {
	struct dtx_buf *to;
	size_t start;
};
#define DTX_FBW_FIELDS 8

/* Begins with the reference to the root, at place 0. */
struct dtx_fbw dtx_fbw_open(struct dtx_buf *to);
/* Writes a table with a field for each character of `sizes`, at most DTX_FBW_FIELDS: '8', '4', '2'
 * or '1' bytes ('4' for a reference), '0' if it is absent. All are zero; field[i] is the place of
 * each. The reference at `from` leads to the table. */
void dtx_fbw_table(struct dtx_fbw *w, size_t from, const char *sizes, size_t field[DTX_FBW_FIELDS]);
/* Writes a vector of n zeroed items of `item` bytes, at a multiple of 8, and returns the place of
 * the first. */
size_t dtx_fbw_items(struct dtx_fbw *w, size_t from, uint32_t n, size_t item);
void dtx_fbw_text(struct dtx_fbw *w, size_t from, struct dtx_str s);
/* Sets the low `size` bytes at a place. */
void dtx_fbw_set(struct dtx_fbw *w, size_t at, int64_t v, size_t size);

#endif
