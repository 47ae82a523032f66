/* Thrift's compact protocol: numbers are varints, a field is its id's distance and its type. */
#include "core/io/parquet/thrift.h"

enum { DEPTH_MAX = 64 };

void dtx_thrift_fail(struct dtx_thrift *t, const char *what)
{
	if (!t->bad)
		t->bad = what;
}

static uint8_t byte(struct dtx_thrift *t)
{
	if (t->bad || t->p >= t->end) {
		dtx_thrift_fail(t, "the bytes end early");
		return 0;
	}
	return *t->p++;
}

static uint64_t varint(struct dtx_thrift *t)
{
	uint64_t v = 0;
	unsigned shift;

	for (shift = 0; shift < 64; shift += 7) {
		uint8_t b = byte(t);

		if (shift == 63 && b > 1)
			break;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	dtx_thrift_fail(t, "a number has more than 64 bits");
	return 0;
}

static int64_t zigzag(struct dtx_thrift *t)
{
	uint64_t v = varint(t);

	return (int64_t)(v >> 1 ^ (~(v & 1) + 1));
}

static void enter(struct dtx_thrift *t)
{
	if (t->depth >= DEPTH_MAX)
		dtx_thrift_fail(t, "it is nested too deep");
	else
		t->depth++;
}

void dtx_thrift_open(struct dtx_thrift *t)
{
	enter(t);
}

bool dtx_thrift_next(struct dtx_thrift *t, struct dtx_thrift_field *f)
{
	uint8_t head = byte(t);
	int64_t id;

	if (t->bad)
		return false;
	f->type = (enum dtx_thrift_type)(head & 15);
	if (f->type == DTX_THRIFT_STOP) {
		t->depth--;
		return false;
	}
	id = head >> 4 ? f->id + (head >> 4) : zigzag(t);
	if (f->type > DTX_THRIFT_STRUCT)
		dtx_thrift_fail(t, "a field has an unknown type");
	if (id < 1 || id > INT16_MAX)
		dtx_thrift_fail(t, "the number of a field is out of range");
	f->id = t->bad ? 0 : (int32_t)id;
	return !t->bad;
}

static void skip_bytes(struct dtx_thrift *t, uint64_t n)
{
	if (t->bad || n > (uint64_t)(t->end - t->p))
		dtx_thrift_fail(t, "the bytes end early");
	else
		t->p += n;
}

/* Reads the head of a list. An item takes at least one byte, so a count beyond the bytes that are
 * left is a lie, and no caller sizes memory by one. */
static size_t list_head(struct dtx_thrift *t, enum dtx_thrift_type *type)
{
	uint8_t head = byte(t);
	uint64_t n = head >> 4 == 15 ? varint(t) : head >> 4;

	*type = (enum dtx_thrift_type)(head & 15);
	if (*type == DTX_THRIFT_STOP || *type > DTX_THRIFT_STRUCT)
		dtx_thrift_fail(t, "a list has an unknown type");
	if (!t->bad && n > (uint64_t)(t->end - t->p))
		dtx_thrift_fail(t, "a list has more items than there are bytes");
	return t->bad ? 0 : (size_t)n;
}

static void skip_value(struct dtx_thrift *t, enum dtx_thrift_type type, bool in_list);

static void skip_list(struct dtx_thrift *t)
{
	enum dtx_thrift_type of;
	size_t n = list_head(t, &of);

	enter(t);
	for (; n && !t->bad; n--)
		skip_value(t, of, true);
	t->depth -= !t->bad;
}

static void skip_map(struct dtx_thrift *t)
{
	uint64_t n = varint(t);
	uint8_t types = n ? byte(t) : 0;

	enter(t);
	if (!t->bad && n > (uint64_t)(t->end - t->p))
		dtx_thrift_fail(t, "a map has more items than there are bytes");
	for (; n && !t->bad; n--) {
		skip_value(t, (enum dtx_thrift_type)(types >> 4), true);
		skip_value(t, (enum dtx_thrift_type)(types & 15), true);
	}
	t->depth -= !t->bad;
}

static void skip_struct(struct dtx_thrift *t)
{
	struct dtx_thrift_field f = { 0 };

	dtx_thrift_open(t);
	while (dtx_thrift_next(t, &f))
		skip_value(t, f.type, false);
}

/* A truth value is in the head of its field, but has a byte in a list. */
static void skip_value(struct dtx_thrift *t, enum dtx_thrift_type type, bool in_list)
{
	switch (type) {
	case DTX_THRIFT_TRUE:
	case DTX_THRIFT_FALSE:
		if (in_list)
			skip_bytes(t, 1);
		break;
	case DTX_THRIFT_BYTE: skip_bytes(t, 1); break;
	case DTX_THRIFT_I16:
	case DTX_THRIFT_I32:
	case DTX_THRIFT_I64: (void)varint(t); break;
	case DTX_THRIFT_DOUBLE: skip_bytes(t, 8); break;
	case DTX_THRIFT_BINARY: skip_bytes(t, varint(t)); break;
	case DTX_THRIFT_LIST:
	case DTX_THRIFT_SET: skip_list(t); break;
	case DTX_THRIFT_MAP: skip_map(t); break;
	case DTX_THRIFT_STRUCT: skip_struct(t); break;
	default: dtx_thrift_fail(t, "a value has an unknown type");
	}
}

void dtx_thrift_skip(struct dtx_thrift *t, enum dtx_thrift_type type)
{
	skip_value(t, type, false);
}

bool dtx_thrift_bool(struct dtx_thrift *t, const struct dtx_thrift_field *f)
{
	if (f->type != DTX_THRIFT_TRUE && f->type != DTX_THRIFT_FALSE)
		dtx_thrift_fail(t, "a field is not a truth value");
	return f->type == DTX_THRIFT_TRUE;
}

int64_t dtx_thrift_int(struct dtx_thrift *t, const struct dtx_thrift_field *f, int64_t least,
                       int64_t most)
{
	int64_t v = 0;

	if (f->type == DTX_THRIFT_BYTE)
		v = (int8_t)byte(t);
	else if (f->type >= DTX_THRIFT_I16 && f->type <= DTX_THRIFT_I64)
		v = zigzag(t);
	else
		dtx_thrift_fail(t, "a field is not a number");
	if (v < least || v > most)
		dtx_thrift_fail(t, "a number is out of range");
	return t->bad ? 0 : v;
}

struct dtx_str dtx_thrift_text(struct dtx_thrift *t, const struct dtx_thrift_field *f)
{
	const char *at;
	uint64_t n;

	if (f->type != DTX_THRIFT_BINARY)
		dtx_thrift_fail(t, "a field is not a text");
	n = varint(t);
	at = (const char *)t->p;
	skip_bytes(t, n);
	return t->bad ? (struct dtx_str){ "", 0 } : (struct dtx_str){ at, (size_t)n };
}

size_t dtx_thrift_list(struct dtx_thrift *t, const struct dtx_thrift_field *f,
                       enum dtx_thrift_type of)
{
	enum dtx_thrift_type type;
	size_t n;

	if (f->type != DTX_THRIFT_LIST)
		dtx_thrift_fail(t, "a field is not a list");
	n = list_head(t, &type);
	if (n && type != of)
		dtx_thrift_fail(t, "a list has items of another type");
	return t->bad ? 0 : n;
}

int32_t dtx_thrift_union(struct dtx_thrift *t, const struct dtx_thrift_field *f,
                         struct dtx_thrift_field *member)
{
	*member = (struct dtx_thrift_field){ 0 };
	if (f->type != DTX_THRIFT_STRUCT)
		dtx_thrift_fail(t, "a field is not a struct");
	dtx_thrift_open(t);
	return dtx_thrift_next(t, member) ? member->id : 0;
}

void dtx_thrift_union_end(struct dtx_thrift *t, struct dtx_thrift_field *member)
{
	while (dtx_thrift_next(t, member))
		dtx_thrift_skip(t, member->type);
}
