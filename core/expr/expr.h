/* The formula language: parse, print, bind to a schema, evaluate a batch at a time.
 *
 * dtx_expr   parsed tree (Lit Col Call Neg Bin Cmp And Or Not In Between IsNull Case), spans kept
 * dtx_bound  tree with column indices, types and function rows; read-only, shared by workers
 *
 * Both live in the arena they were made in. */
#ifndef DTX_EXPR_EXPR_H
#define DTX_EXPR_EXPR_H

#include "core/base/arena.h"
#include "core/base/text/json.h"
#include "core/data/batch.h"

struct dtx_expr;
struct dtx_bound;

/* Codes: expr_syntax, expr_limit, bad_literal; err->span in bytes of the text. */
DTX_MUSTUSE enum dtx_code dtx_expr_parse(struct dtx_arena *a, struct dtx_str text,
                                         struct dtx_expr **out, struct dtx_err *err);
/* The same for a formula that nobody wrote: its errors have no span. */
DTX_MUSTUSE enum dtx_code dtx_expr_made(struct dtx_arena *a, struct dtx_str text,
                                        struct dtx_expr **out, struct dtx_err *err);
/* Canonical text: parse(print(e)) == e. */
void dtx_expr_print(const struct dtx_expr *e, struct dtx_buf *out);
/* Stands for a formula that was given and cannot be read; prints as null.  Compared by address. */
extern const struct dtx_expr dtx_expr_hole;
bool dtx_expr_equal(const struct dtx_expr *a, const struct dtx_expr *b);
/* Translations for dtx compile and the differential test.  False: no form (no_translation); then
 * `out` holds, between two DTX_EXPR_LACKS, what of, and nothing else of use. */
#define DTX_EXPR_LACKS "\x01"
bool dtx_expr_pandas(const struct dtx_expr *e, const char *frame, struct dtx_buf *out);
/* One value for a group: aggregates read `frame`, other columns are members of `keys`. */
bool dtx_expr_pandas_group(const struct dtx_expr *e, const char *frame, const char *keys,
                           struct dtx_buf *out);
/* types: of the columns, NULL: not known. */
bool dtx_expr_sql(const struct dtx_expr *e, const struct dtx_schema *types, struct dtx_buf *out);
/* "a + b" from its parts, for canonical forms: name(column). */
struct dtx_expr *dtx_expr_call1(struct dtx_arena *a, const char *fn, const char *column);
struct dtx_expr *dtx_expr_column(struct dtx_arena *a, const char *column);
/* The column name when the tree is one column, else NULL. */
const char *dtx_expr_is_column(const struct dtx_expr *e);
/* Calls fn for each column name used (with repeats). */
void dtx_expr_columns(const struct dtx_expr *e, void (*fn)(void *arg, const char *name), void *arg);
/* Copy with columns replaced: sub(arg, name) gives a tree or NULL to keep the name.  Used to
 * compose formulas down to source columns. NULL: out of memory. */
struct dtx_expr *dtx_expr_replace(struct dtx_arena *a, const struct dtx_expr *e,
                                  const struct dtx_expr *(*sub)(void *arg, const char *name),
                                  void *arg);
/* Copy with parts replaced: sub(arg, part) gives a tree or NULL to keep it and look at its own
 * parts. sub NULL: a mere copy.  NULL: out of memory. */
struct dtx_expr *dtx_expr_swap(struct dtx_arena *a, const struct dtx_expr *e,
                               const struct dtx_expr *(*sub)(void *arg, const struct dtx_expr *e),
                               void *arg);
/* Copy in which the column a of table left is a column called "left.a". NULL: out of memory. */
struct dtx_expr *dtx_expr_qualified(struct dtx_arena *a, const struct dtx_expr *e);
/* The formula is one call of an aggregate; there is one in it. */
bool dtx_expr_is_aggregate(const struct dtx_expr *e);
bool dtx_expr_has_aggregate(const struct dtx_expr *e);
/* A call reads text as a value and may raise cast_failed (try() turns that into null). */
bool dtx_expr_may_cast(const struct dtx_expr *e);

/* --- binding --- */

enum dtx_demand { DTX_DEMAND_BYTES = 1, DTX_DEMAND_VALUE = 2 }; /* as enum dtx_need */
enum dtx_scope_allow { DTX_ALLOW_AGG = 1, DTX_ALLOW_WINDOW = 2 };

/* What a name means.  The binder of a step fills it. */
struct dtx_scope {
	void *arg;
	/* Index and type of a column; -1: unknown (the callback has filled err with
	 * unknown_column or missing_column and suggestions; span is added by the caller). An open
	 * schema may add the column and answer with type UNKNOWN. */
	int32_t (*column)(void *arg, const char *name, struct dtx_field *field,
	                  struct dtx_err *err);
	/* Each use, once bound: bytes or value, and the class demanded of an unknown column. */
	void (*use)(void *arg, int32_t column, enum dtx_demand demand, enum dtx_class cls);
	unsigned allow;
	/* group_by: key columns, some computed; a column outside an aggregate must be one of them
	 */
	const struct dtx_field *keys;
	size_t nkeys;
	bool grouped;
	bool ordered; /* window: there is an order */
	/* plan options */
	enum { DTX_OVERFLOW_ERROR, DTX_OVERFLOW_NULL, DTX_OVERFLOW_FLOAT } overflow;
	bool div_zero_error;
	int32_t run_date; /* day */
};

/* Aggregate calls found in a grouped expression, in order of appearance. The outer expression
 * refers to call i as column `nkeys + i` of a batch [keys..., results...]. */
struct dtx_aggcall;
struct dtx_aggcalls {
	struct dtx_aggcall **call;
	size_t n, cap;
};

/* Binds and type-checks; wants a result that widens to `want` (UNKNOWN: anything).  All independent
 * errors go to errs with spans (and at, step filled by the caller later); returns no_memory only.
 * *out is NULL when there were errors.  aggs: NULL unless scope->allow has AGG; calls are appended
 * (the same list may serve several expressions).  With WINDOW too, calls are over windows, and
 * nkeys is the number of columns that come before their results. */
DTX_MUSTUSE enum dtx_code dtx_expr_bind(struct dtx_arena *a, const struct dtx_expr *e,
                                        const struct dtx_scope *scope, struct dtx_typeref want,
                                        struct dtx_aggcalls *aggs, struct dtx_bound **out,
                                        struct dtx_errlist *errs, struct dtx_err *err);
struct dtx_typeref dtx_bound_type(const struct dtx_bound *b);
/* Every row gives the same value. */
bool dtx_bound_is_const(const struct dtx_bound *b);
/* Column index when the tree is one plain column, else -1. */
int32_t dtx_bound_column(const struct dtx_bound *b);
/* Where the formula is written (a JSON pointer, borrowed): errors of its evaluation name it. */
void dtx_bound_place(struct dtx_bound *b, const char *at);

/* --- evaluation --- */

struct dtx_eval_counts { /* added to; one per worker or merged with atomics by the caller */
	int64_t div_zero, not_finite, tried;
	int64_t offsets; /* texts of a time whose offset from UTC the result does not show */
};
/* Value for every row of the batch (rows outside sel are unspecified but valid).  FLAT, DICT or
 * CONST column of dtx_bound_type; the caller owns a reference.  Errors: overflow, cast_failed,
 * ambiguous_date, cell_limit ... with err->row = row in the batch made physical by
 * dtx_batch_blame; only rows in sel raise errors. */
DTX_MUSTUSE enum dtx_code dtx_eval(const struct dtx_bound *b, struct dtx_batch *in,
                                   struct dtx_column **out, struct dtx_eval_counts *counts,
                                   struct dtx_err *err);
/* Narrows in->sel to the rows where b is true; *nulls and *falses count the others. */
DTX_MUSTUSE enum dtx_code dtx_eval_keep(const struct dtx_bound *b, struct dtx_batch *in,
                                        int64_t *falses, int64_t *nulls,
                                        struct dtx_eval_counts *counts, struct dtx_err *err);

#endif
