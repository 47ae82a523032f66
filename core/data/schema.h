/* The fields (columns) of a table in order.  Schemas live in an arena and do not change after
 * binding. */
#ifndef DTX_DATA_SCHEMA_H
#define DTX_DATA_SCHEMA_H

#include <string.h>

#include "core/base/memory/arena.h"
#include "core/data/type.h"

struct dtx_field {
	const char *name;       /* NUL-terminated UTF-8 without NUL bytes inside */
	const char *format;     /* number format of the source, or declared date format; NULL */
	const char *input_name; /* name of a declared column in its input, kept by all steps; else
	                         * NULL */
	struct dtx_typeref type;
	bool guessed;  /* the type comes from a sample: a value that does not fit widens it and
	                * restarts the run */
	bool declared; /* the plan declares the type, so detecting types again does not change it */
	bool source;   /* cells of an input that no step has computed: text functions see the source
	                * text */
	bool mixed_offsets; /* declared datetime: of the values that were looked at some have an
	                     * offset from UTC, which was said; others may have one or not */
	bool decimal_comma; /* the source text has ',' as decimal mark */
	char group;         /* group mark in the source text; 0: none */
	bool json;          /* texts are JSON values: arrays, objects, numbers of many digits */
};
/* Whether text in this column is read by its format.  The number format of a workbook does not
 * count: its dates are numbers, and the text that a step writes beside them is ISO 8601. */
static inline bool dtx_field_reads_format(const struct dtx_field *f)
{
	return f->format && !f->guessed && strchr(f->format, '%');
}
struct dtx_schema_index;
struct dtx_schema {
	uint32_t nfields;
	bool open; /* the data may have more columns */
	const struct dtx_field *field;
	struct dtx_schema_index *index; /* of names; NULL: none, and a search looks at all fields */
};

/* Index of the first field with exactly this name; -1 if none. */
int32_t dtx_schema_find(const struct dtx_schema *s, const char *name);
/* Gives `s` an index of its names, with room for `room` fields.  Does nothing if there are so few
 * fields that a scan is as fast, or if memory is out.  Schemas that begin with the same fields may
 * share an index. */
void dtx_schema_index(struct dtx_arena *a, struct dtx_schema *s, uint32_t room);
/* Tells the index that a field was added at the end of s->field.  If the index is full the field is
 * not in it, and a search looks at such fields one by one. */
void dtx_schema_index_last(const struct dtx_schema *s);
/* Copies schema, fields and names into the arena.  NULL: out of memory. */
DTX_MUSTUSE struct dtx_schema *dtx_schema_copy(struct dtx_arena *a, const struct dtx_schema *s);
/* Appends [{"name","type"},...] in order, as JSON text. */
void dtx_schema_json(const struct dtx_schema *s, struct dtx_buf *out);

#endif
