/* Scalars of a plan as values of columns. */
#ifndef DTX_OPS_KIT_JSONVALUE_H
#define DTX_OPS_KIT_JSONVALUE_H

#include "core/base/text/json.h"
#include "core/data/column.h"
#include "core/data/schema.h"

/* Type of a scalar; NULL is null. */
enum dtx_type dtx_json_type(const json_t *v);
/* Whether the JSON value may stand in a column of the type (dates: ISO text). */
bool dtx_json_fits(const json_t *value, enum dtx_type type);
/* One row that holds the value, as a column of the field's type; *out is NULL for NULL.
 * type_mismatch when its text does not read as the type. */
DTX_MUSTUSE enum dtx_code dtx_json_column(const json_t *value, const struct dtx_field *field,
                                          struct dtx_column **out, struct dtx_err *err);

#endif
