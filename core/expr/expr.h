/* The formula language: parsing, printing, binding to a schema, and evaluation of a batch at a
 * time.
 *
 *   dtx_expr   the parsed tree (Lit Col Call Neg Bin Cmp And Or Not In Between IsNull Case) with
 *   spans
 *   dtx_bound  the bound tree with column numbers, types and functions; read-only, shared by
 *   workers
 *
 * Both live in the arena in which they were made. */
#ifndef DTX_EXPR_EXPR_H
#define DTX_EXPR_EXPR_H

#include "core/base/memory/arena.h"
#include "core/base/text/json.h"
#include "core/data/batch.h"

struct dtx_expr;
struct dtx_bound;

/* Parses a formula.  Codes: expr_syntax, expr_limit, bad_literal; err->span gives the bytes of the
 * text. */
DTX_MUSTUSE enum dtx_code dtx_expr_parse(struct dtx_arena *a, struct dtx_str text,
                                         struct dtx_expr **out, struct dtx_err *err);
/* Parses a formula that dtx itself has made, so that its errors have no span. */
DTX_MUSTUSE enum dtx_code dtx_expr_made(struct dtx_arena *a, struct dtx_str text,
                                        struct dtx_expr **out, struct dtx_err *err);
/* Prints the canonical text: parse(print(e)) == e. */
void dtx_expr_print(const struct dtx_expr *e, struct dtx_buf *out);
/* The name of a column, a text, and a scalar of JSON as formulas write them: `unit price`,
 * 'it''s', 7. */
void dtx_expr_print_name(const char *name, struct dtx_buf *out);
void dtx_expr_print_text(struct dtx_str text, struct dtx_buf *out);
void dtx_expr_print_scalar(const json_t *value, struct dtx_buf *out);
/* The placeholder for a formula that cannot be read.  It prints as null and is recognized by its
 * address. */
extern const struct dtx_expr dtx_expr_hole;
bool dtx_expr_equal(const struct dtx_expr *a, const struct dtx_expr *b);
/* Translations to pandas and SQL, for dtx compile and the differential test.  False: there is no
 * such form (no_translation); `out` then contains, between two DTX_EXPR_LACKS, the part that has
 * none. */
#define DTX_EXPR_LACKS "\x01"
bool dtx_expr_pandas(const struct dtx_expr *e, const char *frame, struct dtx_buf *out);
/* One value per group: aggregates read `frame`, other columns are members of `keys`. */
bool dtx_expr_pandas_group(const struct dtx_expr *e, const char *frame, const char *keys,
                           struct dtx_buf *out);
/* types: the types of the columns; NULL: unknown. */
bool dtx_expr_sql(const struct dtx_expr *e, const struct dtx_schema *types, struct dtx_buf *out);
/* Trees for canonical forms: the call name(column), and a column. */
struct dtx_expr *dtx_expr_call1(struct dtx_arena *a, const char *fn, const char *column);
struct dtx_expr *dtx_expr_column(struct dtx_arena *a, const char *column);
/* The name of the column if the tree is a single column, else NULL. */
const char *dtx_expr_is_column(const struct dtx_expr *e);
/* Calls fn for each name of a column in the tree, with repetitions. */
void dtx_expr_columns(const struct dtx_expr *e, void (*fn)(void *arg, const char *name), void *arg);
/* A copy in which columns are replaced: sub(arg, name) returns a tree, or NULL to keep the column.
 * It is used to express a formula by source columns.  NULL: out of memory. */
struct dtx_expr *dtx_expr_replace(struct dtx_arena *a, const struct dtx_expr *e,
                                  const struct dtx_expr *(*sub)(void *arg, const char *name),
                                  void *arg);
/* A copy in which parts are replaced: sub(arg, part) returns a tree, or NULL to keep the part and
 * continue with its own parts.  sub NULL: a plain copy.  NULL: out of memory. */
struct dtx_expr *dtx_expr_swap(struct dtx_arena *a, const struct dtx_expr *e,
                               const struct dtx_expr *(*sub)(void *arg, const struct dtx_expr *e),
                               void *arg);
/* A copy in which column a of table left is a column named "left.a".  NULL: out of memory. */
struct dtx_expr *dtx_expr_qualified(struct dtx_arena *a, const struct dtx_expr *e);
/* A copy in which column `name`, where it is an argument of a call without a name of its own, is
 * replaced by the n columns `with`: f(_, 1) becomes f(a, b, 1).  Calls that look at several rows
 * (aggregates, window calls) are left as they are.  NULL: out of memory. */
struct dtx_expr *dtx_expr_spread(struct dtx_arena *a, const struct dtx_expr *e, const char *name,
                                 const char *const *with, uint32_t n);
/* Whether the formula is a single call of an aggregate; whether it contains one. */
bool dtx_expr_is_aggregate(const struct dtx_expr *e);
bool dtx_expr_has_aggregate(const struct dtx_expr *e);
/* Whether a call in it reads text as a value, so it may fail with cast_failed (which try() turns
 * into null). */
bool dtx_expr_may_cast(const struct dtx_expr *e);

/* --- binding --- */

/* The same values as enum dtx_need. */
enum dtx_demand { DTX_DEMAND_BYTES = 1, DTX_DEMAND_VALUE = 2 };
enum dtx_scope_allow { DTX_ALLOW_AGG = 1, DTX_ALLOW_WINDOW = 2 };

/* What names mean in a step.  The binder of the step fills it in. */
struct dtx_scope {
	void *arg;
	/* Number and type of a column.  -1: unknown; the callback has then filled err with
	 * unknown_column or missing_column and suggestions, and the caller adds the span.  If the
	 * schema is open, the callback may add the column and return type UNKNOWN. */
	int32_t (*column)(void *arg, const char *name, struct dtx_field *field,
	                  struct dtx_err *err);
	/* Called for each use of a column once it is bound: bytes or value, and the class that an
	 * unknown column must have. */
	void (*use)(void *arg, int32_t column, enum dtx_demand demand, enum dtx_class cls);
	unsigned allow;
	/* group_by: the key columns, some of which may be computed.  A column outside of an
	 * aggregate must be one of them. */
	const struct dtx_field *keys;
	size_t nkeys;
	bool grouped;
	bool ordered; /* window: an order is given */
	/* options of the plan */
	enum { DTX_OVERFLOW_ERROR, DTX_OVERFLOW_NULL, DTX_OVERFLOW_FLOAT } overflow;
	bool div_zero_error;
	int32_t run_date; /* a day number */
};

/* The aggregate calls of a grouped expression, in order of appearance.  The expression around them
 * refers to call i as column `nkeys + i` of a batch [keys..., results...]. */
struct dtx_aggcall;
struct dtx_aggcalls {
	struct dtx_aggcall **call;
	size_t n, cap;
};

/* Resolves names, checks types and makes a bound tree whose result is widened to `want` (UNKNOWN:
 * any type).  All independent errors go to errs with spans (the caller adds `at` and the step), and
 * *out is then NULL; the function itself fails only with no_memory.  aggs is NULL unless
 * scope->allow has AGG; calls are appended, so one list may serve several expressions.  With WINDOW
 * as well, calls are window calls, and nkeys is the number of columns before their results. */
DTX_MUSTUSE enum dtx_code dtx_expr_bind(struct dtx_arena *a, const struct dtx_expr *e,
                                        const struct dtx_scope *scope, struct dtx_typeref want,
                                        struct dtx_aggcalls *aggs, struct dtx_bound **out,
                                        struct dtx_errlist *errs, struct dtx_err *err);
struct dtx_typeref dtx_bound_type(const struct dtx_bound *b);
/* Whether every row has the same value. */
bool dtx_bound_is_const(const struct dtx_bound *b);
/* The number of the column if the tree is a single column, else -1. */
int32_t dtx_bound_column(const struct dtx_bound *b);
/* A condition that is part of another: the value of a column is not null and compares so with a
 * constant, which has the column's type: INT64, DATE, DATETIME or TEXT. */
struct dtx_bound_range {
	int32_t column;
	enum dtx_type type;
	unsigned outcomes; /* what makes it true, as bits: 1 less, 2 equal, 4 greater */
	int64_t i;         /* INT64, DATETIME; DATE: the day */
	struct dtx_str s;  /* TEXT: lives as long as the tree */
};
/* Finds such conditions that a row must meet where the tree is true: writes at most `max` of them
 * to `out` and returns how many. Where one of them is false, so is the tree. There are none if
 * evaluation may fail or counts something, so that a row may not be left out without it. */
uint32_t dtx_bound_ranges(const struct dtx_bound *b, struct dtx_bound_range *out, uint32_t max);
/* Sets where the formula is written (a JSON pointer, borrowed).  Errors of its evaluation name
 * it. */
void dtx_bound_place(struct dtx_bound *b, const char *at);

/* --- evaluation --- */

/* Counters that evaluation adds to.  Each worker has its own, or the caller merges them. */
struct dtx_eval_counts {
	int64_t div_zero, not_finite, tried;
	int64_t offsets; /* texts of times with an offset from UTC that the result does not show */
};
/* Evaluates b for every row of the batch.  The result is a FLAT, DICT or CONST column of
 * dtx_bound_type, and the caller owns a reference.  Rows that are not live have unspecified but
 * valid values and raise no errors.  Codes: overflow, cast_failed, ambiguous_date, cell_limit and
 * others; err has the place of the row (dtx_batch_set_position). */
DTX_MUSTUSE enum dtx_code dtx_eval(const struct dtx_bound *b, struct dtx_batch *in,
                                   struct dtx_column **out, struct dtx_eval_counts *counts,
                                   struct dtx_err *err);
/* Narrows in->sel to the rows for which b is true.  *nulls and *falses count the others. */
DTX_MUSTUSE enum dtx_code dtx_eval_keep(const struct dtx_bound *b, struct dtx_batch *in,
                                        int64_t *falses, int64_t *nulls,
                                        struct dtx_eval_counts *counts, struct dtx_err *err);

#endif
