/* Function rows: one table per core/expr/fn_*.c file, found by name.
 *
 * A row is all there is to a function: its signature drives binding, named arguments, help and
 * error texts; `row` computes one value; examples are tests.
 *
 * Signature: parameters "name:C" with commas, C the class of the argument:
 *   T text (a source column shows its source text)   V any value, shown as text
 *   I int   N number   F number, given as float   B bool   D date or datetime
 *   S datetime (a date is widened)   A any   W any, all W are widened to one type
 *   L text of a date, or a date
 * A small letter wants a constant.  "?" behind it: may be left out; "=null", "=1", "=' '": default;
 * a last parameter "..." repeats the one before it.
 *
 * Result: T I F B as above, d date, s datetime, 0 or 1 the type of that argument, W the common type
 * of the W arguments; NULL: `type` tells. */
#ifndef DTX_EXPR_FN_FN_H
#define DTX_EXPR_FN_FN_H

#include "core/expr/expr.h"

enum dtx_fnkind { DTX_FN_SCALAR, DTX_FN_AGG, DTX_FN_WINDOW };
/* Calls that the binder turns into something else, mostly to evaluate arguments only where they
 * count. */
enum dtx_fnform {
	DTX_FORM_ROW,
	DTX_FORM_IF,
	DTX_FORM_COALESCE,
	DTX_FORM_NULLIF,
	DTX_FORM_DISTINCT,
	DTX_FORM_SWITCH,
	DTX_FORM_TRY,
	DTX_FORM_RUN_DATE,
	DTX_FORM_BIN,
	DTX_FORM_CAST,
	DTX_FORM_PLACE
};
enum dtx_fnplace { DTX_PLACE_ROW, DTX_PLACE_FILE, DTX_PLACE_SHEET };
enum dtx_fnflag {
	DTX_FN_NULLS = 1,  /* row sees null arguments; without it they give null */
	DTX_FN_NOFOLD = 2, /* never computed while binding */
	DTX_FN_CASTS = 4   /* row may raise cast_failed */
};

/* One value. Text is borrowed: for the call's duration. */
struct dtx_val {
	bool null;
	union {
		bool b;
		int64_t i; /* INT64, DATETIME */
		int32_t day;
		double f;
		dtx_i128 dec;
		struct dtx_str s;
	} u;
};

/* A bound call; read-only while batches flow. */
struct dtx_fncall {
	const struct dtx_fn *fn;
	uint32_t nargs;
	const struct dtx_typeref *argtype;  /* after widening */
	const struct dtx_val *const *konst; /* per argument: its value when constant, else NULL */
	struct dtx_typeref type;            /* of the result */
	void *prepared;                     /* left by prep: a compiled pattern */
	int32_t run_date;
	uint8_t overflow; /* of the scope */
	bool div_zero_error;
};
/* What one evaluation of a call may write to. */
struct dtx_fnrun {
	struct dtx_buf *buf;       /* empty before each row; a text result may live here */
	struct dtx_arena *scratch; /* gone after the batch */
	void *local;               /* from prep's side: per evaluation state, in scratch */
	struct dtx_eval_counts *counts;
};

struct dtx_fn {
	const char *name, *aliases; /* aliases: "avg,average" or NULL */
	const char *sig, *result;
	enum dtx_fnkind kind;
	enum dtx_fnform form;
	unsigned flags;
	/* Result type from the argument types when `result` cannot say; false with err filled. */
	bool (*type)(struct dtx_fncall *c, struct dtx_err *err);
	/* Once, after the arguments are bound: constants are checked and compiled. */
	enum dtx_code (*prep)(struct dtx_arena *a, struct dtx_fncall *c, struct dtx_err *err);
	/* One value; *out starts as not null.  Non-finite floats become null and are counted by the
	 * caller. */
	enum dtx_code (*row)(const struct dtx_fncall *c, struct dtx_fnrun *run,
	                     const struct dtx_val *arg, struct dtx_val *out, struct dtx_err *err);
	int detail;         /* AGG: enum dtx_aggkind; CAST: enum dtx_type; BIN: enum
	                     * dtx_ebin; else what `row` makes of it */
	const char *pandas; /* "{0}.abs()": {n} argument, {*} all; NULL: dx.name(...) */
	const char *sql;    /* NULL: no form */
	const char *help;
	const char *example, *value; /* "left('abc', 2)" and what text() shows of it */
};

struct dtx_fn_table {
	const char *name;  /* file name without fn_: "math" */
	const char *title; /* for help and man: "Math" */
	const struct dtx_fn *fn;
	size_t n;
};
extern const struct dtx_fn_table *const dtx_fns[]; /* generated, NULL at the end */

/* One parameter of a signature. */
struct dtx_fnparam {
	struct dtx_str name;
	char cls; /* upper case */
	bool constant, optional, variadic;
	struct dtx_str def; /* default as written; ptr NULL: none */
};
/* Parameter i (a variadic one repeats for ever); false when there is none. */
bool dtx_fn_param(const struct dtx_fn *fn, size_t i, struct dtx_fnparam *out);
/* Fewest and most arguments. */
void dtx_fn_arity(const struct dtx_fn *fn, size_t *min, size_t *max);

/* The row called `name` (any case, aliases too) for so many arguments: min and max aggregate with
 * one.  NULL: none is built. */
const struct dtx_fn *dtx_fn_find(struct dtx_str name, size_t nargs);
/* False for a function of one row, where the name of an aggregate is wanted. */
static inline bool dtx_fn_may_be_agg(struct dtx_str name, size_t nargs)
{
	const struct dtx_fn *fn = dtx_fn_find(name, nargs);

	return !fn || fn->kind != DTX_FN_SCALAR;
}
/* Near names go to err->did_you_mean. */
void dtx_fn_suggest(const char *name, struct dtx_err *err);

/* For dtx help and man: "left(text, n)" appended, and one line. */
void dtx_fn_signature(const struct dtx_fn *fn, struct dtx_buf *out);
const char *dtx_fn_help(const struct dtx_fn *fn);
const struct dtx_fn *dtx_fn_at(const struct dtx_fn_table *t, size_t i);

#endif
