/* SQL text of steps, for dtx compile: SQLite 3.40, one common table expression per step.
 *
 * SQL tables have no order, so every table has a column "_row" that numbers its rows. A step's
 * SELECT makes it, with the columns of the step's result in their order. */
#ifndef DTX_PLAN_COMPILE_SQLTEXT_H
#define DTX_PLAN_COMPILE_SQLTEXT_H

#include "core/plan/bind/bind.h"

struct dtx_sql_step {
	const void *args;
	const struct dtx_bind *bind; /* of the static phase: columns of inputs and result */
	const char *const *from;     /* per input: quoted name of its table */
};

void dtx_sql_name(struct dtx_buf *out, const char *name);
/* Writes a scalar of the plan for a column of type `to`. False: the value is not a scalar. */
bool dtx_sql_value(struct dtx_buf *out, const json_t *value, enum dtx_type to);
/* Writes the name of a column whose values go into a column of type `to`. */
void dtx_sql_column(struct dtx_buf *out, const struct dtx_field *f, enum dtx_type to);
/* Before and after an expression of type `from` whose values go into a column of type `to`: a value
 * of SQLite has a type of its own, so an int in a column of floats is converted. */
void dtx_sql_open(struct dtx_buf *out, enum dtx_type from, enum dtx_type to);
void dtx_sql_close(struct dtx_buf *out, enum dtx_type from, enum dtx_type to);
/* Writes , a."x", a."y": the columns of input t. alias NULL: without "a.". */
void dtx_sql_columns(const struct dtx_bind *b, unsigned t, const char *alias, struct dtx_buf *out);
/* Writes "x", "y": input columns by index. */
void dtx_sql_list(const struct dtx_bind *b, unsigned t, const int32_t *col, uint32_t n,
                  struct dtx_buf *out);
/* Writes SELECT "_row" and all columns of input 0 FROM its table. */
void dtx_sql_all(const struct dtx_sql_step *s, struct dtx_buf *out);
/* Writes a step that only moves columns of input 0. False: it does more. */
bool dtx_sql_project(const struct dtx_sql_step *s, struct dtx_buf *out);

#endif
