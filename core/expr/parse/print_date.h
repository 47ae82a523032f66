/* SQL of date functions whose form depends on types or on a constant. */
#ifndef DTX_EXPR_PARSE_PRINT_DATE_H
#define DTX_EXPR_PARSE_PRINT_DATE_H

#include "core/expr/parse/tree.h"

/* Whether a text is a date or datetime as SQL has them: 2024-01-31, 2024-01-31T09:30:00, perhaps
 * with a fraction. */
bool dtx_sql_date_literal(struct dtx_str text);
/* Whether dtx_sql_date_form makes the form of that function. */
bool dtx_sql_date_has(const char *fn);
/* Appends the form of a call with {0} and {1} for its arguments, whose types are type[].  False: it
 * has none; *why then says what has none, as "months of datetimes". */
bool dtx_sql_date_form(const char *fn, const struct dtx_expr *e, const enum dtx_type *type,
                       struct dtx_buf *out, const char **why);
/* {0} - {1} in days, where both are dates. */
extern const char dtx_sql_days_between[];

#endif
