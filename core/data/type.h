/* Types of columns, how types widen, and classes of types. */
#ifndef DTX_DATA_TYPE_H
#define DTX_DATA_TYPE_H

#include "core/base/base.h"
#include "core/base/memory/buf.h"

/* UNKNOWN: only the input can tell the type.  NULL: every value is null, which fits all types. */
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

/* A type with its parameters.  DECIMAL: `precision` digits (1 to 38), of which `scale` are after
 * the point.  DATETIME: precision DTX_UTC means that the source gave an offset from UTC ("Z",
 * "+02:00") with every value; values are in UTC and are written with a "Z".  Without DTX_UTC the
 * zone is unknown, and nothing is written after the time. */
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
/* Appends the type as a plan writes it: "decimal(12,2)" and the like. */
void dtx_type_print(struct dtx_typeref t, struct dtx_buf *out);
/* Accepts the names and aliases that a plan may use (string str integer int64 number double float64
 * boolean timestamp, decimal(p,s)).  False: there is no such type. */
DTX_MUSTUSE bool dtx_type_parse(struct dtx_str text, struct dtx_typeref *out);
bool dtx_type_is_number(enum dtx_type type);

/* Implicit widening of the formula language: null to everything, int to decimal to float, date to
 * datetime.  If one of two dates or datetimes is of UTC, the result is of UTC.  False: there is no
 * common type. */
DTX_MUSTUSE bool dtx_type_widen(struct dtx_typeref a, struct dtx_typeref b,
                                struct dtx_typeref *out);
/* The type of two columns that become one (union, pivot_longer): as dtx_type_widen, else text.  A
 * datetime of UTC and one without become text, because then each written value shows which of them
 * it is. */
struct dtx_typeref dtx_type_merge(struct dtx_typeref a, struct dtx_typeref b);

/* Classes that an expression may require of a column whose type is unknown; bits. */
enum dtx_class {
	DTX_CLASS_ANY = 0,
	DTX_CLASS_NUMBER = 1,
	DTX_CLASS_TEXT = 2,
	DTX_CLASS_BOOL = 4,
	DTX_CLASS_DATE = 8
};
enum dtx_class dtx_type_class(enum dtx_type type);

/* As dtx_datetime_print, with a "Z" if the type is of UTC. */
size_t dtx_moment_print(char out[40], struct dtx_typeref t, int64_t us);

#endif
