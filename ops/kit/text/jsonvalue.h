/* Scalars of a plan as values of columns. */
#ifndef DTX_OPS_KIT_TEXT_JSONVALUE_H
#define DTX_OPS_KIT_TEXT_JSONVALUE_H

#include "core/base/text/json.h"
#include "core/data/column.h"
#include "core/data/schema.h"

/* The type of a scalar; a NULL value is null. */
enum dtx_type dtx_json_type(const json_t *v);
/* Whether the JSON value can be a value of the type (dates: ISO text). */
bool dtx_json_fits(const json_t *value, enum dtx_type type);
/* A column of the field's type with one row, the value.  *out is NULL if the value is NULL.  Code:
 * type_mismatch if the text of the value cannot be read as the type. */
DTX_MUSTUSE enum dtx_code dtx_json_column(const json_t *value, const struct dtx_field *field,
                                          struct dtx_column **out, struct dtx_err *err);

#endif
