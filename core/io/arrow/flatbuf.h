/* Reads FlatBuffers, in which the metadata of Arrow is written, from bytes that are not trusted.
 *
 * Every place is checked to be inside the bytes before it is read. A buffer remembers that
 * something was malformed; every later call gives the default. A caller may therefore read all it
 * wants and ask once, at the end: `bad`. References only go forward, so nothing contains itself,
 * but two may lead to one place: a caller that follows them bounds how many.
 * Source: flatbuffers.dev/internals. */
#ifndef DTX_IO_ARROW_FLATBUF_H
#define DTX_IO_ARROW_FLATBUF_H

#include "core/base/text/str.h"

struct dtx_fb {
	const uint8_t *p;
	size_t n;
	bool bad;
};
/* A table. Its fields have numbers, from 0, in the order of the schema; a union has two. */
struct dtx_fb_table {
	struct dtx_fb *fb;
	size_t at, size;     /* its bytes; size 0: it is absent, and all its fields are */
	size_t slot, nslots; /* where the places of its fields are listed */
};
struct dtx_fb_vector {
	struct dtx_fb *fb;
	size_t at; /* of the first item */
	uint32_t n;
};

struct dtx_fb_table dtx_fb_root(struct dtx_fb *fb);
/* A field, or `otherwise` if it is absent. */
int64_t dtx_fb_i64(const struct dtx_fb_table *t, unsigned field, int64_t otherwise);
int32_t dtx_fb_i32(const struct dtx_fb_table *t, unsigned field, int32_t otherwise);
int16_t dtx_fb_i16(const struct dtx_fb_table *t, unsigned field, int16_t otherwise);
uint8_t dtx_fb_u8(const struct dtx_fb_table *t, unsigned field, uint8_t otherwise);
struct dtx_fb_table dtx_fb_child(const struct dtx_fb_table *t, unsigned field);
/* Bytes of a string; ptr is NULL if it is absent. */
struct dtx_str dtx_fb_text(const struct dtx_fb_table *t, unsigned field);
/* A vector of items of so many bytes; no items if it is absent. */
struct dtx_fb_vector dtx_fb_items(const struct dtx_fb_table *t, unsigned field, size_t item);
/* Item i, i < n, of a vector of tables (4 bytes an item). */
struct dtx_fb_table dtx_fb_item(const struct dtx_fb_vector *v, uint32_t i);

#endif
