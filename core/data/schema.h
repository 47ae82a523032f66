/* Fields in order.  Schemas live in an arena and never change once bound. */
#ifndef DTX_DATA_SCHEMA_H
#define DTX_DATA_SCHEMA_H

#include <string.h>

#include "core/base/arena.h"
#include "core/data/type.h"

struct dtx_field {
	const char *name;   /* NUL-terminated UTF-8 without NUL bytes */
	const char *format; /* source number format or declared date format; NULL */
	const char
		*input_name; /* declared: what the input calls it, whatever steps do; else NULL */
	struct dtx_typeref type;
	bool guessed;  /* type comes from a sample: a misfit widens and restarts */
	bool declared; /* the plan declares the type: what is typed anew keeps it */
	bool source;   /* cells of an input, not computed since: text functions see source text */
	bool decimal_comma; /* declared decimal mark ',' in the source text */
	char group;         /* declared group mark in the source text, 0: none */
	bool json;          /* texts are JSON values: arrays, objects, numbers of many digits */
};
/* Written dates are read by the format.  A workbook's number format is none: its dates are numbers,
 * and what a step writes beside them is ISO 8601. */
static inline bool dtx_field_reads_format(const struct dtx_field *f)
{
	return f->format && !f->guessed && strchr(f->format, '%');
}
struct dtx_schema_index;
struct dtx_schema {
	uint32_t nfields;
	bool open; /* more columns may come from data */
	const struct dtx_field *field;
	struct dtx_schema_index *index; /* of names; NULL: none, a search looks at all fields */
};

/* Index of a field by exact name, -1 if absent; the first of equal names. */
int32_t dtx_schema_find(const struct dtx_schema *s, const char *name);
/* Gives `s` an index of its names with room for `room` fields, unless they are so few that a scan
 * is as fast.  Without memory there is none.  Schemas whose fields begin alike may share it. */
void dtx_schema_index(struct dtx_arena *a, struct dtx_schema *s, uint32_t room);
/* A field was added at the end of s->field: its name goes into the index while there is room; a
 * search looks at fields that are not in it one by one. */
void dtx_schema_index_last(const struct dtx_schema *s);
/* Copies schema, fields and names into the arena; NULL: out of memory. */
DTX_MUSTUSE struct dtx_schema *dtx_schema_copy(struct dtx_arena *a, const struct dtx_schema *s);
/* [{"name","type"},...] in order, as JSON text. */
void dtx_schema_json(const struct dtx_schema *s, struct dtx_buf *out);

#endif
