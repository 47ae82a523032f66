/* A small table for tests of expressions, and evaluation of an expression to text. */
#ifndef TESTS_UNIT_EXPR_ENV_H
#define TESTS_UNIT_EXPR_ENV_H

#include "core/expr/agg/agg.h"
#include "core/expr/expr.h"

/* The columns have three rows: i int 1 -2 ~, j int 10 0 3, f float 1.5 0.0 ~, t text abc ~ '', s
 * text of a dictionary x y x, b bool true ~ false, c bool true false false, d date, at datetime, n
 * null, m decimal(6,2), p source cells 7.0 1.50 ~ guessed as float, k source text. */
struct expr_env {
	struct dtx_arena arena;
	struct dtx_batch *batch;
	struct dtx_scope scope;
	struct dtx_errlist errs;
	struct dtx_err err;
	struct dtx_eval_counts counts;
	struct dtx_buf out;
	int uses;
};
void expr_env_init(struct expr_env *v);
void expr_env_clear(struct expr_env *v);
/* Parses, binds and evaluates an expression.  Returns its values separated by '|', with '~' for
 * null; or "CODE start end" of the first finding; or "CODE row" of a run-time error. */
const char *expr_env_run(struct expr_env *v, const char *text);
/* The bound expression; NULL after findings, which are in v->errs. */
struct dtx_bound *expr_env_bind(struct expr_env *v, const char *text, struct dtx_aggcalls *aggs);

#endif
