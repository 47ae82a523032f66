/* Values and whole steps as Python text, for dtx compile. */
#ifndef DTX_PLAN_COMPILE_PYTEXT_H
#define DTX_PLAN_COMPILE_PYTEXT_H

#include "core/plan/op.h"

void dtx_py_text(struct dtx_buf *out, const char *text);
void dtx_py_value(struct dtx_buf *out, const json_t *value); /* NULL: None */
void dtx_py_names(struct dtx_buf *out, const struct dtx_plist *texts);

/* Writes "dx.NAME(df0, df1, param=value, ...)": the tables, then the parameters that differ from
 * their defaults; a formula becomes a lambda of the table. Ops that take any number of tables get a
 * list of tables and a list of names. False: a formula has no Python form. */
bool dtx_py_call(const struct dtx_op *op, const void *args, const char *const *tables,
                 uint32_t ntables, struct dtx_buf *out);

#endif
