/* Writes Thrift's compact protocol, see thrift.h.
 *
 * The fields of a struct are added in the order of their ids, after dtx_thrift_put_open or
 * dtx_thrift_item_open and before dtx_thrift_put_close. The buffer remembers a failure, so the
 * caller checks it once, at the end. */
#ifndef DTX_IO_PARQUET_THRIFT_WRITE_H
#define DTX_IO_PARQUET_THRIFT_WRITE_H

#include "core/base/memory/buf.h"
#include "core/io/parquet/thrift.h"

#define DTX_THRIFT_OUT_DEPTH 8u

struct dtx_thrift_out {
	struct dtx_buf *to;                 /* borrowed */
	unsigned depth;                     /* structs that are open */
	int32_t last[DTX_THRIFT_OUT_DEPTH]; /* id of the field before, of each of them */
};

static inline struct dtx_thrift_out dtx_thrift_out_of(struct dtx_buf *to)
{
	return (struct dtx_thrift_out){ .to = to };
}
void dtx_thrift_put_i32(struct dtx_thrift_out *o, int32_t id, int32_t v);
void dtx_thrift_put_i64(struct dtx_thrift_out *o, int32_t id, int64_t v);
void dtx_thrift_put_bool(struct dtx_thrift_out *o, int32_t id, bool v);
void dtx_thrift_put_text(struct dtx_thrift_out *o, int32_t id, struct dtx_str s);
/* Opens a struct that is a field, and closes the innermost struct. */
void dtx_thrift_put_open(struct dtx_thrift_out *o, int32_t id);
void dtx_thrift_put_close(struct dtx_thrift_out *o);
/* A field that is an empty struct, as members of unions are. */
void dtx_thrift_put_empty(struct dtx_thrift_out *o, int32_t id);
/* A field that is a list of n items, which the caller adds next. */
void dtx_thrift_put_list(struct dtx_thrift_out *o, int32_t id, enum dtx_thrift_type of, size_t n);
/* Items of a list. dtx_thrift_item_open also opens a struct that is no field of another one. */
void dtx_thrift_item_i32(struct dtx_thrift_out *o, int32_t v);
void dtx_thrift_item_text(struct dtx_thrift_out *o, struct dtx_str s);
void dtx_thrift_item_open(struct dtx_thrift_out *o);
/* Appends a number in groups of 7 bits, least first, as thrift and the encodings of Parquet do. */
void dtx_varint_put(struct dtx_buf *to, uint64_t v);
/* The same for numbers with a sign: 0, -1, 1, -2 are 0, 1, 2, 3. */
void dtx_zigzag_put(struct dtx_buf *to, int64_t v);

#endif
