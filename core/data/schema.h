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
struct dtx_schema {
	uint32_t nfields;
	bool open; /* more columns may come from data */
	const struct dtx_field *field;
};

/* Index of a field by exact name, -1 if absent.  Linear below 16 fields, then a scan by hash is
 * the caller's business. */
int32_t dtx_schema_find(const struct dtx_schema *s, const char *name);
/* Copies schema, fields and names into the arena; NULL: out of memory. */
DTX_MUSTUSE struct dtx_schema *dtx_schema_copy(struct dtx_arena *a, const struct dtx_schema *s);
/* [{"name","type"},...] in order, as JSON text. */
void dtx_schema_json(const struct dtx_schema *s, struct dtx_buf *out);

#endif
