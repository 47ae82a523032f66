/* Thrift's compact protocol, written. See thrift_write.h. */
#include "core/io/parquet/thrift_write.h"

enum { VARINT_MAX = 10 };

void dtx_varint_put(struct dtx_buf *to, uint64_t v)
{
	char out[VARINT_MAX];
	size_t n = 0;

	for (; v > 0x7f; v >>= 7)
		out[n++] = (char)(v | 0x80);
	out[n++] = (char)v;
	dtx_buf_addn(to, out, n);
}

void dtx_zigzag_put(struct dtx_buf *to, int64_t v)
{
	dtx_varint_put(to, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

/* The head of a field: its type, and how far its id is from the one before. */
static void field(struct dtx_thrift_out *o, int32_t id, enum dtx_thrift_type type)
{
	int32_t *last = &o->last[o->depth - 1], step = id - *last;

	if (step > 0 && step < 16) {
		dtx_buf_addc(o->to, (char)(step << 4 | (int)type));
	} else {
		dtx_buf_addc(o->to, (char)type);
		dtx_zigzag_put(o->to, id);
	}
	*last = id;
}

void dtx_thrift_put_i32(struct dtx_thrift_out *o, int32_t id, int32_t v)
{
	field(o, id, DTX_THRIFT_I32);
	dtx_zigzag_put(o->to, v);
}

void dtx_thrift_put_i64(struct dtx_thrift_out *o, int32_t id, int64_t v)
{
	field(o, id, DTX_THRIFT_I64);
	dtx_zigzag_put(o->to, v);
}

void dtx_thrift_put_bool(struct dtx_thrift_out *o, int32_t id, bool v)
{
	field(o, id, v ? DTX_THRIFT_TRUE : DTX_THRIFT_FALSE);
}

void dtx_thrift_put_text(struct dtx_thrift_out *o, int32_t id, struct dtx_str s)
{
	field(o, id, DTX_THRIFT_BINARY);
	dtx_thrift_item_text(o, s);
}

void dtx_thrift_put_open(struct dtx_thrift_out *o, int32_t id)
{
	field(o, id, DTX_THRIFT_STRUCT);
	dtx_thrift_item_open(o);
}

void dtx_thrift_put_close(struct dtx_thrift_out *o)
{
	dtx_buf_addc(o->to, DTX_THRIFT_STOP);
	o->depth--;
}

void dtx_thrift_put_empty(struct dtx_thrift_out *o, int32_t id)
{
	dtx_thrift_put_open(o, id);
	dtx_thrift_put_close(o);
}

void dtx_thrift_put_list(struct dtx_thrift_out *o, int32_t id, enum dtx_thrift_type of, size_t n)
{
	field(o, id, DTX_THRIFT_LIST);
	dtx_buf_addc(o->to, (char)((n < 15 ? n << 4 : 0xf0) | of));
	if (n >= 15)
		dtx_varint_put(o->to, n);
}

void dtx_thrift_item_i32(struct dtx_thrift_out *o, int32_t v)
{
	dtx_zigzag_put(o->to, v);
}

void dtx_thrift_item_text(struct dtx_thrift_out *o, struct dtx_str s)
{
	dtx_varint_put(o->to, s.len);
	dtx_buf_adds(o->to, s);
}

void dtx_thrift_item_open(struct dtx_thrift_out *o)
{
	o->last[o->depth++] = 0;
}
