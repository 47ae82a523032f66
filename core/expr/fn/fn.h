/* Functions of the formula language: one table per file core/expr/fn/fn_*.c, found by name.
 *
 * A row of a table is everything that defines a function: its signature drives binding, named
 * arguments, help and error texts; `row` computes one value; its example is a test.
 *
 * Signature: parameters "name:C" separated by commas.  C is the class of the argument:
 *   T text (a source column gives its source text)   V any value, converted to text
 *   I int   N number   F number, converted to float   B bool   D date or datetime
 *   S datetime (a date is widened)   A any   W any, all W are widened to one type
 *   L text of a date, or a date
 * A lower-case letter requires a constant.  After the class: "?" for an argument that may be
 * omitted, or a default: "=null", "=1", "=' '".  A last parameter "..." repeats the one before it.
 *
 * Result: T I F B as above, d date, s datetime, 0 or 1 the type of that argument, W the common type
 * of the W arguments; NULL: `type` computes it. */
#ifndef DTX_EXPR_FN_FN_H
#define DTX_EXPR_FN_FN_H

#include "core/expr/expr.h"

enum dtx_fnkind { DTX_FN_SCALAR, DTX_FN_AGG, DTX_FN_WINDOW };
/* Calls that the binder turns into something else, in most cases to evaluate an argument only for
 * the rows that need it. */
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
	DTX_FN_NULLS = 1,  /* `row` also gets null arguments; without it a null argument gives
	                    * null */
	DTX_FN_NOFOLD = 2, /* never computed during binding */
	DTX_FN_CASTS = 4   /* `row` may fail with cast_failed */
};

/* One value.  Text is borrowed for the duration of the call. */
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

/* A bound call.  Read-only while batches are processed. */
struct dtx_fncall {
	const struct dtx_fn *fn;
	uint32_t nargs;
	const struct dtx_typeref *argtype;  /* types after widening */
	const struct dtx_val *const *konst; /* for each argument: its value if it is constant, else
	                                     * NULL */
	struct dtx_typeref type;            /* of the result */
	void *prepared;                     /* what `prep` made, such as a compiled pattern */
	int32_t run_date;
	uint8_t overflow; /* option of the scope */
	bool div_zero_error;
};
/* What one evaluation of a call may write to. */
struct dtx_fnrun {
	struct dtx_buf *buf;       /* empty before each row; a text result may be stored here */
	struct dtx_arena *scratch; /* freed after the batch */
	void *local;               /* state of this evaluation, made by `row` in scratch */
	struct dtx_eval_counts *counts;
};

struct dtx_fn {
	const char *name, *aliases; /* other names, "avg,average"; NULL: none */
	const char *sig, *result;
	enum dtx_fnkind kind;
	enum dtx_fnform form;
	unsigned flags;
	/* Computes the result type from the argument types if `result` cannot express it.  False
	 * with err filled. */
	bool (*type)(struct dtx_fncall *c, struct dtx_err *err);
	/* Called once after the arguments are bound, to check and compile constants. */
	enum dtx_code (*prep)(struct dtx_arena *a, struct dtx_fncall *c, struct dtx_err *err);
	/* Computes one value; *out is not null at first.  The caller turns floats that are not
	 * finite into null and counts them. */
	enum dtx_code (*row)(const struct dtx_fncall *c, struct dtx_fnrun *run,
	                     const struct dtx_val *arg, struct dtx_val *out, struct dtx_err *err);
	int detail;         /* AGG: enum dtx_aggkind; CAST: enum dtx_type; BIN: enum dtx_ebin;
	                     * otherwise for `row` to interpret */
	const char *pandas; /* "{0}.abs()": {n} is an argument, {*} all; NULL: dx.name(...) */
	const char *sql;    /* NULL: it has no form in SQL */
	const char *help;
	const char *example, *value; /* "left('abc', 2)" and what text() prints for its result */
};

struct dtx_fn_table {
	const char *name;  /* name of the file without fn_: "math" */
	const char *title; /* for help and man: "Math" */
	const struct dtx_fn *fn;
	size_t n;
};
extern const struct dtx_fn_table *const dtx_fns[]; /* generated; NULL at the end */

/* One parameter of a signature. */
struct dtx_fnparam {
	struct dtx_str name;
	char cls; /* in upper case */
	bool constant, optional, variadic;
	struct dtx_str def; /* default as it is written; ptr NULL: none */
};
/* Parameter i (a variadic one repeats without end).  False if none. */
bool dtx_fn_param(const struct dtx_fn *fn, size_t i, struct dtx_fnparam *out);
/* The smallest and the largest number of arguments. */
void dtx_fn_arity(const struct dtx_fn *fn, size_t *min, size_t *max);

/* The function with that name (in any case, also an alias) for that number of arguments: min and
 * max are aggregates if they have one argument.  NULL if none. */
const struct dtx_fn *dtx_fn_find(struct dtx_str name, size_t nargs);
/* Whether the name can be an aggregate.  False only for names of functions that compute one row. */
static inline bool dtx_fn_may_be_agg(struct dtx_str name, size_t nargs)
{
	const struct dtx_fn *fn = dtx_fn_find(name, nargs);

	return !fn || fn->kind != DTX_FN_SCALAR;
}
/* Puts similar names into err->did_you_mean. */
void dtx_fn_suggest(const char *name, struct dtx_err *err);

/* For dtx help and man: appends "left(text, n)"; returns the help line. */
void dtx_fn_signature(const struct dtx_fn *fn, struct dtx_buf *out);
const char *dtx_fn_help(const struct dtx_fn *fn);
const struct dtx_fn *dtx_fn_at(const struct dtx_fn_table *t, size_t i);

#endif
