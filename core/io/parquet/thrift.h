/* Reads Thrift's compact protocol, in which Parquet writes its footer and the headers of its pages.
 *
 * The bytes are untrusted. A reader remembers its first failure: from then on every call gives
 * zeros and the end of lists and structs, so that a caller checks `bad` once, at the end. Nothing
 * is allocated; texts point into the bytes.
 * Source: thrift-compact-protocol.md of Apache Thrift. */
#ifndef DTX_IO_PARQUET_THRIFT_H
#define DTX_IO_PARQUET_THRIFT_H

#include "core/base/text/str.h"

enum dtx_thrift_type {
	DTX_THRIFT_STOP,
	DTX_THRIFT_TRUE,
	DTX_THRIFT_FALSE,
	DTX_THRIFT_BYTE,
	DTX_THRIFT_I16,
	DTX_THRIFT_I32,
	DTX_THRIFT_I64,
	DTX_THRIFT_DOUBLE,
	DTX_THRIFT_BINARY,
	DTX_THRIFT_LIST,
	DTX_THRIFT_SET,
	DTX_THRIFT_MAP,
	DTX_THRIFT_STRUCT
};
struct dtx_thrift {
	const uint8_t *start, *p, *end;
	unsigned depth;  /* of structs and lists that are open */
	const char *bad; /* what is wrong at p; NULL: nothing so far */
};
/* A field of a struct. Before the first of a struct it is zero. */
struct dtx_thrift_field {
	int32_t id;
	enum dtx_thrift_type type;
};

static inline struct dtx_thrift dtx_thrift_of(const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	return (struct dtx_thrift){ p, p, p + len, 0, NULL };
}
/* Notes what is wrong, unless something was wrong before. */
void dtx_thrift_fail(struct dtx_thrift *t, const char *what);
/* Opens a struct; each must be read until dtx_thrift_next returns false, which closes it. */
void dtx_thrift_open(struct dtx_thrift *t);
/* Reads the next field's head. The caller then reads its value, or skips it. */
DTX_MUSTUSE bool dtx_thrift_next(struct dtx_thrift *t, struct dtx_thrift_field *f);
/* Skips the value of a field, however deep it is, up to 64 levels. */
void dtx_thrift_skip(struct dtx_thrift *t, enum dtx_thrift_type type);
/* The value of a field. Fails if the field is of another type, or not within the range. */
bool dtx_thrift_bool(struct dtx_thrift *t, const struct dtx_thrift_field *f);
int64_t dtx_thrift_int(struct dtx_thrift *t, const struct dtx_thrift_field *f, int64_t least,
                       int64_t most);
struct dtx_str dtx_thrift_text(struct dtx_thrift *t, const struct dtx_thrift_field *f);
/* Begins a list of items of type `of`; returns how many there are, which is never more than there
 * are bytes left. */
size_t dtx_thrift_list(struct dtx_thrift *t, const struct dtx_thrift_field *f,
                       enum dtx_thrift_type of);
/* The union of empty structs, or of structs, that the field is: opens it and returns the id of its
 * only member, whose value comes next. 0: none. */
int32_t dtx_thrift_union(struct dtx_thrift *t, const struct dtx_thrift_field *f,
                         struct dtx_thrift_field *member);
/* Closes a union after its member was read. */
void dtx_thrift_union_end(struct dtx_thrift *t, struct dtx_thrift_field *member);

#endif
