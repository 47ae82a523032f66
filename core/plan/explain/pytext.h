/* Python text of values and of whole steps, for dtx compile. */
#ifndef DTX_PLAN_EXPLAIN_PYTEXT_H
#define DTX_PLAN_EXPLAIN_PYTEXT_H

#include "core/plan/op.h"

void dtx_py_text(struct dtx_buf *out, const char *text);
void dtx_py_value(struct dtx_buf *out, const json_t *value); /* NULL: None */
void dtx_py_names(struct dtx_buf *out, const struct dtx_plist *texts);

/* "dx.NAME(df0, df1, param=value, ...)": the tables, then the parameters that differ from their
 * defaults; a formula is a lambda of the table.  Ops of any number of tables take a list of them
 * and their names.  False: a formula has no form. */
bool dtx_py_call(const struct dtx_op *op, const void *args, const char *const *tables,
                 uint32_t ntables, struct dtx_buf *out);

#endif
