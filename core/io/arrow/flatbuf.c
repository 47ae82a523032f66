/* Reads FlatBuffers. See flatbuf.h. */
#include "core/io/arrow/flatbuf.h"

#include "core/base/text/le.h"

static bool has(const struct dtx_fb *fb, size_t at, size_t n)
{
	return !fb->bad && at <= fb->n && n <= fb->n - at;
}

static struct dtx_fb_table bad_table(struct dtx_fb *fb)
{
	fb->bad = true;
	return (struct dtx_fb_table){ .fb = fb };
}

/* A table begins with the distance back to the list of its fields: the bytes of the list, those of
 * the table, and 2 bytes for each field, which say where in the table it is; 0: it is absent. */
static struct dtx_fb_table table_at(struct dtx_fb *fb, size_t at)
{
	struct dtx_fb_table t = { .fb = fb, .at = at };
	int64_t list;
	size_t bytes;

	if (!has(fb, at, 4))
		return bad_table(fb);
	list = (int64_t)at - (int32_t)dtx_le_u32(fb->p + at);
	if (list < 0 || !has(fb, (size_t)list, 4))
		return bad_table(fb);
	bytes = dtx_le_u16(fb->p + list);
	t.size = dtx_le_u16(fb->p + list + 2);
	if (bytes < 4 || bytes % 2 || t.size < 4 || !has(fb, (size_t)list, bytes) ||
	    !has(fb, at, t.size))
		return bad_table(fb);
	t.slot = (size_t)list + 4;
	t.nslots = bytes / 2 - 2;
	return t;
}

/* The place of a field of so many bytes; NULL: it is absent. */
static const uint8_t *find(const struct dtx_fb_table *t, unsigned field, size_t bytes)
{
	size_t off;

	if (!t->size || t->fb->bad || field >= t->nslots)
		return NULL;
	off = dtx_le_u16(t->fb->p + t->slot + 2 * (size_t)field);
	if (!off)
		return NULL;
	if (off < 4 || off + bytes > t->size) {
		t->fb->bad = true;
		return NULL;
	}
	return t->fb->p + t->at + off;
}

/* Where the reference at `p` leads to, which has at least 4 bytes; 0: it is malformed. */
static size_t follow(struct dtx_fb *fb, const uint8_t *p)
{
	size_t at = (size_t)(p - fb->p), by = dtx_le_u32(p);

	if (by < 4 || !has(fb, at + by, 4)) {
		fb->bad = true;
		return 0;
	}
	return at + by;
}

struct dtx_fb_table dtx_fb_root(struct dtx_fb *fb)
{
	size_t at;

	if (!has(fb, 0, 4))
		return bad_table(fb);
	at = follow(fb, fb->p);
	return at ? table_at(fb, at) : bad_table(fb);
}

int64_t dtx_fb_i64(const struct dtx_fb_table *t, unsigned field, int64_t otherwise)
{
	const uint8_t *p = find(t, field, 8);

	return p ? (int64_t)dtx_le_u64(p) : otherwise;
}

int32_t dtx_fb_i32(const struct dtx_fb_table *t, unsigned field, int32_t otherwise)
{
	const uint8_t *p = find(t, field, 4);

	return p ? (int32_t)dtx_le_u32(p) : otherwise;
}

int16_t dtx_fb_i16(const struct dtx_fb_table *t, unsigned field, int16_t otherwise)
{
	const uint8_t *p = find(t, field, 2);

	return p ? (int16_t)dtx_le_u16(p) : otherwise;
}

uint8_t dtx_fb_u8(const struct dtx_fb_table *t, unsigned field, uint8_t otherwise)
{
	const uint8_t *p = find(t, field, 1);

	return p ? *p : otherwise;
}

struct dtx_fb_table dtx_fb_child(const struct dtx_fb_table *t, unsigned field)
{
	const uint8_t *p = find(t, field, 4);
	size_t at = p ? follow(t->fb, p) : 0;

	return at ? table_at(t->fb, at) : (struct dtx_fb_table){ .fb = t->fb };
}

struct dtx_fb_vector dtx_fb_items(const struct dtx_fb_table *t, unsigned field, size_t item)
{
	struct dtx_fb_vector v = { .fb = t->fb };
	const uint8_t *p = find(t, field, 4);
	size_t at = p ? follow(t->fb, p) : 0;
	uint64_t n = at ? dtx_le_u32(t->fb->p + at) : 0;

	if (!n)
		return v;
	if (!has(t->fb, at + 4, n * item)) {
		t->fb->bad = true;
		return v;
	}
	v.at = at + 4;
	v.n = (uint32_t)n;
	return v;
}

struct dtx_str dtx_fb_text(const struct dtx_fb_table *t, unsigned field)
{
	struct dtx_fb_vector v = dtx_fb_items(t, field, 1);

	if (!find(t, field, 4) || t->fb->bad)
		return (struct dtx_str){ NULL, 0 };
	return (struct dtx_str){ v.n ? (const char *)t->fb->p + v.at : "", v.n };
}

struct dtx_fb_table dtx_fb_item(const struct dtx_fb_vector *v, uint32_t i)
{
	size_t at;

	if (v->fb->bad)
		return (struct dtx_fb_table){ .fb = v->fb };
	at = follow(v->fb, v->fb->p + v->at + 4 * (size_t)i);
	return at ? table_at(v->fb, at) : (struct dtx_fb_table){ .fb = v->fb };
}
