/* Types, the widening lattice and the place where a type is a class. */
#ifndef DTX_DATA_TYPE_H
#define DTX_DATA_TYPE_H

#include "core/base/base.h"
#include "core/base/buf.h"

/* UNKNOWN: only the input can tell.  NULL: every value is null, fits all. */
enum dtx_type {
	DTX_T_UNKNOWN,
	DTX_T_NULL,
	DTX_T_BOOL,
	DTX_T_INT64,
	DTX_T_FLOAT64,
	DTX_T_DECIMAL,
	DTX_T_DATE,
	DTX_T_DATETIME,
	DTX_T_TEXT
};
#define DTX_TYPE_COUNT 9

/* A type with what a decimal needs: 1 to 38 digits, 0 to `precision` of them after the point.
 * DATETIME: precision DTX_UTC says that the source gave an offset from UTC with every value ("Z",
 * "+02:00"). The values are the same microseconds of UTC, and are written with a "Z". Without it a
 * datetime is what some clock showed, and nothing is written after it. */
struct dtx_typeref {
	enum dtx_type type;
	uint8_t precision, scale;
};
#define DTX_UTC      1
#define DTX_TYPE_UTC ((struct dtx_typeref){ .type = DTX_T_DATETIME, .precision = DTX_UTC })
static inline bool dtx_type_is_utc(struct dtx_typeref t)
{
	return t.type == DTX_T_DATETIME && t.precision == DTX_UTC;
}

/* "int", "float", "decimal", "bool", "date", "datetime", "text", "null", "unknown". */
const char *dtx_type_name(enum dtx_type type);
/* Appends "decimal(12,2)" and the like. */
void dtx_type_print(struct dtx_typeref t, struct dtx_buf *out);
/* Names and aliases of the plan (string str integer int64 number double float64 boolean
 * timestamp, decimal(p,s)).  False: no such type. */
DTX_MUSTUSE bool dtx_type_parse(struct dtx_str text, struct dtx_typeref *out);
bool dtx_type_is_number(enum dtx_type type);

/* Implicit widening of the formula language: null -> all, int -> decimal -> float,
 * date -> datetime.  A date or datetime beside one of UTC is one of UTC too.  False when there is
 * no common type. */
DTX_MUSTUSE bool dtx_type_widen(struct dtx_typeref a, struct dtx_typeref b,
                                struct dtx_typeref *out);
/* Type of two columns put into one (union, pivot_longer): as widen, else text.  Times of UTC and
 * others make text: what is written then says of each value which of them it is. */
struct dtx_typeref dtx_type_merge(struct dtx_typeref a, struct dtx_typeref b);

/* Classes an unknown column can be demanded as; bits. */
enum dtx_class {
	DTX_CLASS_ANY = 0,
	DTX_CLASS_NUMBER = 1,
	DTX_CLASS_TEXT = 2,
	DTX_CLASS_BOOL = 4,
	DTX_CLASS_DATE = 8
};
enum dtx_class dtx_type_class(enum dtx_type type);

/* As dtx_datetime_print, with a "Z" if the type says UTC. */
size_t dtx_moment_print(char out[40], struct dtx_typeref t, int64_t us);

#endif
