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

/* A type with what a decimal needs. */
struct dtx_typeref {
	enum dtx_type type;
	uint8_t precision, scale; /* DECIMAL: 1..38, 0..precision */
};

/* "int", "float", "decimal", "bool", "date", "datetime", "text", "null", "unknown". */
const char *dtx_type_name(enum dtx_type type);
/* Appends "decimal(12,2)" and the like. */
void dtx_type_print(struct dtx_typeref t, struct dtx_buf *out);
/* Names and aliases of the plan (string str integer int64 number double float64 boolean
 * timestamp, decimal(p,s)).  False: no such type. */
DTX_MUSTUSE bool dtx_type_parse(struct dtx_str text, struct dtx_typeref *out);
bool dtx_type_is_number(enum dtx_type type);

/* Implicit widening of the formula language: null -> all, int -> decimal -> float,
 * date -> datetime.  False when there is no common type. */
DTX_MUSTUSE bool dtx_type_widen(struct dtx_typeref a, struct dtx_typeref b,
                                struct dtx_typeref *out);
/* Type of two columns put into one (union, pivot_longer): as widen, else text. */
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

#endif
