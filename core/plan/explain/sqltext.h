/* SQL text of steps, for dtx compile: SQLite 3.40, one common table expression per step.
 *
 * Every table has a column "_row" that numbers its rows; a step's SELECT makes it and the columns
 * of its result, in their order, so that SQL has the row order of dtx. */
#ifndef DTX_PLAN_EXPLAIN_SQLTEXT_H
#define DTX_PLAN_EXPLAIN_SQLTEXT_H

#include "core/plan/bind/bind.h"

struct dtx_sql_step {
	const void *args;
	const struct dtx_bind *bind; /* static phase: columns of inputs and result */
	const char *const *from;     /* per input the quoted name of its table */
};

void dtx_sql_name(struct dtx_buf *out, const char *name);
/* A scalar of the plan; false: it is none. */
bool dtx_sql_value(struct dtx_buf *out, const json_t *value);
/* ", a."x", a."y"": the columns of input t; alias NULL: without. */
void dtx_sql_columns(const struct dtx_bind *b, unsigned t, const char *alias, struct dtx_buf *out);
/* "x", "y": input columns by index. */
void dtx_sql_list(const struct dtx_bind *b, unsigned t, const int32_t *col, uint32_t n,
                  struct dtx_buf *out);
/* SELECT "_row" and all columns of input 0 FROM its table. */
void dtx_sql_all(const struct dtx_sql_step *s, struct dtx_buf *out);
/* The step only moves columns of input 0. */
bool dtx_sql_project(const struct dtx_sql_step *s, struct dtx_buf *out);

#endif
