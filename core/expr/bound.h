/* Bound trees and what evaluating them shares.  Only core/expr looks inside. */
#ifndef DTX_EXPR_BOUND_H
#define DTX_EXPR_BOUND_H

#include "core/data/builder.h"
#include "core/expr/fn/fn.h"
#include "core/expr/parse/tree.h"

enum dtx_bkind {
	DTX_BD_CONST,
	DTX_BD_COL,
	DTX_BD_SOURCE, /* source text of a column whose value is no text */
	DTX_BD_WIDEN,  /* implicit widening to `type` */
	DTX_BD_ARITH,
	DTX_BD_NEG,
	DTX_BD_CMP,
	DTX_BD_DISTINCT, /* is_distinct: null equals null */
	DTX_BD_AND,
	DTX_BD_OR,
	DTX_BD_NOT,
	DTX_BD_IN, /* against the constants of `set` */
	DTX_BD_ISNULL,
	DTX_BD_CASE,
	DTX_BD_COALESCE,
	DTX_BD_TRY,
	DTX_BD_CALL,
	DTX_BD_CAST, /* as `cast` says */
	DTX_BD_PLACE /* of the row in the source; op: enum dtx_fnplace */
};

/* Constants of an `in` list: sorted, without nulls. */
struct dtx_inset {
	struct dtx_val *item;
	uint32_t n;
	bool has_null;
};

/* The `row` of a function. */
#define DTX_FN_ROW(NAME)                                                                           \
	static enum dtx_code NAME(const struct dtx_fncall *c, struct dtx_fnrun *run,               \
	                          const struct dtx_val *arg, struct dtx_val *out,                  \
	                          struct dtx_err *err)
/* The text that is in run->buf, as the result. */
static inline enum dtx_code dtx_fn_made(struct dtx_fnrun *run, struct dtx_val *out)
{
	out->u.s = dtx_buf_str(run->buf);
	return DTX_OK;
}

struct dtx_cast_spec;
struct dtx_bound {
	enum dtx_bkind kind;
	int op; /* enum dtx_ebin or dtx_ecmp */
	struct dtx_typeref type;
	int32_t span[2];
	int32_t column;    /* COL, SOURCE */
	enum dtx_elit lit; /* CONST straight from a literal: how it was written */
	struct dtx_str written;
	bool literal;     /* CONST straight from a literal */
	bool source;      /* COL: text functions see the source text */
	bool declared;    /* COL: the plan declares its type */
	bool quiet;       /* never raises, never counts: may be computed for rows that do not
	                   * need it */
	uint8_t overflow; /* of the scope */
	bool div_zero_error;
	uint32_t nargs;
	struct dtx_bound **arg;
	struct dtx_val value; /* CONST */
	struct dtx_fncall *call;
	struct dtx_inset *set;
	const struct dtx_cast_spec *cast;
	const char *at; /* root: JSON pointer of the formula; NULL */
};

/* One evaluation: which rows count, where findings go. */
struct dtx_ev {
	struct dtx_batch *in;
	const uint16_t *sel; /* rows that count; NULL: all */
	uint32_t n;          /* how many count */
	uint32_t nrows;
	uint64_t *trap; /* inside try: rows that failed; NULL: a failure is an error */
	struct dtx_eval_counts *counts;
	struct dtx_err *err;
};

/* Runs body for every row i that counts. */
#define DTX_ROWS(ev, i, ...)                                                                       \
	do {                                                                                       \
		if (!(ev)->sel) {                                                                  \
			for (uint32_t i = 0; i < (ev)->nrows; i++) {                               \
				__VA_ARGS__                                                        \
			}                                                                          \
		} else {                                                                           \
			for (uint32_t i##_k = 0; i##_k < (ev)->n; i##_k++) {                       \
				uint32_t i = (ev)->sel[i##_k];                                     \
				__VA_ARGS__                                                        \
			}                                                                          \
		}                                                                                  \
	} while (0)

/* A flat column being filled: values of the batch's length, validity all ones at first. */
struct dtx_vec {
	struct dtx_column *col;
	void *v;
	uint64_t *valid;
};
DTX_MUSTUSE enum dtx_code dtx_vec_new(const struct dtx_ev *ev, struct dtx_typeref type,
                                      struct dtx_vec *out);
/* Rows that are null in c become null. */
void dtx_vec_and(struct dtx_vec *v, const struct dtx_column *c);
static inline void dtx_vec_null(struct dtx_vec *v, uint32_t i)
{
	v->valid[i >> 6] &= ~((uint64_t)1 << (i & 63));
}
/* Counts the nulls; the column is ready and the caller's. */
struct dtx_column *dtx_vec_done(struct dtx_vec *v);
/* A failed evaluation drops it. */
void dtx_vec_drop(struct dtx_vec *v);

/* Index mask: values of a CONST column all are row 0. */
static inline uint32_t dtx_col_mask(const struct dtx_column *c)
{
	return c->form == DTX_F_CONST ? 0 : UINT32_MAX;
}

/* Value at a row of a FLAT, DICT or CONST column. */
void dtx_val_get(const struct dtx_column *c, uint32_t row, struct dtx_val *out);
void dtx_val_add(struct dtx_builder *b, struct dtx_typeref type, const struct dtx_val *v);
/* n rows of one value, CONST. */
DTX_MUSTUSE enum dtx_code dtx_val_column(struct dtx_typeref type, const struct dtx_val *v,
                                         uint32_t n, struct dtx_column **out, struct dtx_err *err);
/* -1, 0, 1; both not null, of one type. */
int dtx_val_cmp(enum dtx_type type, const struct dtx_val *a, const struct dtx_val *b);
/* Exact, whatever the size. */
int dtx_cmp_i64_f64(int64_t a, double b);
int dtx_cmp_dec(dtx_i128 a, unsigned sa, dtx_i128 b, unsigned sb);

/* An error about a row: trapped inside try (then DTX_OK comes back and the row becomes null in
 * vec, which may be NULL), else raised with the row's place.  err must be filled. */
DTX_MUSTUSE enum dtx_code dtx_ev_row(struct dtx_ev *ev, enum dtx_code rc, const struct dtx_bound *b,
                                     struct dtx_vec *vec, uint32_t row);

/* Value of a node for the rows that count. */
/* The root of a formula, or of an argument of an aggregate: an error gets its place and how many
 * rows of the batch have it. */
DTX_MUSTUSE enum dtx_code dtx_ev_root(struct dtx_ev *ev, const struct dtx_bound *b,
                                      struct dtx_column **out);
DTX_MUSTUSE enum dtx_code dtx_ev_node(struct dtx_ev *ev, const struct dtx_bound *b,
                                      struct dtx_column **out);
/* Kinds, each in its file. */
enum dtx_code dtx_ev_arith(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out);
enum dtx_code dtx_ev_neg(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out);
enum dtx_code dtx_ev_widen(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out);
enum dtx_code dtx_ev_cmp(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out);
enum dtx_code dtx_ev_distinct(struct dtx_ev *ev, const struct dtx_bound *b,
                              struct dtx_column **out);
enum dtx_code dtx_ev_in(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out);
enum dtx_code dtx_ev_logic(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out);
enum dtx_code dtx_ev_not(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out);
enum dtx_code dtx_ev_isnull(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out);
enum dtx_code dtx_ev_case(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out);
enum dtx_code dtx_ev_coalesce(struct dtx_ev *ev, const struct dtx_bound *b,
                              struct dtx_column **out);
enum dtx_code dtx_ev_try(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out);
enum dtx_code dtx_ev_cast(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out);
enum dtx_code dtx_ev_call(struct dtx_ev *ev, const struct dtx_bound *b, struct dtx_column **out);

/* --- binding --- */

struct dtx_binder {
	struct dtx_arena *arena;
	const struct dtx_scope *scope;
	struct dtx_aggcalls *aggs;
	struct dtx_errlist *errs;
	struct dtx_err *err; /* no_memory only */
	bool in_agg;         /* inside an aggregate's arguments */
	size_t nerrs;        /* findings of this expression */
};

/* Records a finding about e (its span) made of `found`, which is moved.  Returns DTX_OK, or
 * no_memory. */
DTX_MUSTUSE enum dtx_code dtx_bind_report(struct dtx_binder *bd, const struct dtx_expr *e,
                                          struct dtx_err *found);
/* The same with a message; sets *out to NULL. */
DTX_MUSTUSE enum dtx_code dtx_resolve_fail(struct dtx_binder *bd, const struct dtx_expr *e,
                                           const char *hint, enum dtx_code code, const char *fmt,
                                           ...) DTX_PRINTF(5, 6);
/* *out is NULL when the node or one below it has a finding. */
DTX_MUSTUSE enum dtx_code dtx_bind_node(struct dtx_binder *bd, const struct dtx_expr *e,
                                        struct dtx_bound **out);
/* As above, and the value must be of the class (not_boolean, type_mismatch); columns are told to
 * the scope. */
DTX_MUSTUSE enum dtx_code dtx_bind_class(struct dtx_binder *bd, const struct dtx_expr *e,
                                         enum dtx_class cls, struct dtx_bound **out);
/* As above with TEXT, a source column as its source text. any: every type is turned to text. */
DTX_MUSTUSE enum dtx_code dtx_bind_text(struct dtx_binder *bd, const struct dtx_expr *e, bool any,
                                        struct dtx_bound **out);
DTX_MUSTUSE enum dtx_code dtx_bind_call(struct dtx_binder *bd, const struct dtx_expr *e,
                                        struct dtx_bound **out);
DTX_MUSTUSE enum dtx_code dtx_resolve_agg(struct dtx_binder *bd, const struct dtx_expr *e,
                                          const struct dtx_fn *fn, struct dtx_bound **out);
DTX_MUSTUSE enum dtx_code dtx_resolve_window(struct dtx_binder *bd, const struct dtx_expr *e,
                                             const struct dtx_fn *fn, struct dtx_bound **out);
/* An equal call that is there already, as a column; false: none. */
bool dtx_resolve_made(struct dtx_binder *bd, const struct dtx_expr *e, struct dtx_bound **out);
/* Adds a call; *out is the column of its result. */
DTX_MUSTUSE enum dtx_code dtx_resolve_append(struct dtx_binder *bd, const struct dtx_expr *e,
                                             struct dtx_aggcall *c, struct dtx_bound **out);
/* Arguments of a call: put in their places, bound with defaults; a default alone. */
DTX_MUSTUSE enum dtx_code dtx_bind_place(struct dtx_binder *bd, const struct dtx_expr *e,
                                         const struct dtx_fn *fn, const struct dtx_expr ***out,
                                         uint32_t *n, const struct dtx_expr **where, bool *ok);
DTX_MUSTUSE enum dtx_code dtx_bind_args(struct dtx_binder *bd, const struct dtx_expr *e,
                                        const struct dtx_fn *fn, const struct dtx_expr *const *at,
                                        uint32_t *n, struct dtx_bound ***out, bool *ok);
DTX_MUSTUSE enum dtx_code dtx_bind_default(struct dtx_binder *bd, const struct dtx_expr *e,
                                           struct dtx_str text, struct dtx_bound **out);
/* A call that is another tree. */
DTX_MUSTUSE enum dtx_code dtx_bind_form(struct dtx_binder *bd, const struct dtx_expr *e,
                                        const struct dtx_fn *fn, const struct dtx_expr *const *at,
                                        uint32_t n, struct dtx_bound **out);
DTX_MUSTUSE enum dtx_code dtx_bind_arith(struct dtx_binder *bd, const struct dtx_expr *e,
                                         struct dtx_bound **out);
DTX_MUSTUSE enum dtx_code dtx_bind_cmp(struct dtx_binder *bd, const struct dtx_expr *e,
                                       const struct dtx_expr *left, const struct dtx_expr *right,
                                       int op, enum dtx_bkind kind, struct dtx_bound **out);
DTX_MUSTUSE enum dtx_code dtx_bind_in(struct dtx_binder *bd, const struct dtx_expr *e,
                                      struct dtx_bound **out);
/* A node, its span from e. NULL: out of memory. */
struct dtx_bound *dtx_bound_new(struct dtx_binder *bd, const struct dtx_expr *e,
                                enum dtx_bkind kind, struct dtx_typeref type, uint32_t nargs);
/* A node over two operands (b may be NULL), quiet when they are. */
struct dtx_bound *dtx_bound_two(struct dtx_binder *bd, const struct dtx_expr *e,
                                enum dtx_bkind kind, struct dtx_typeref type, struct dtx_bound *a,
                                struct dtx_bound *b);
/* Widens *io to a type it fits (no-op when equal or unknown). */
DTX_MUSTUSE enum dtx_code dtx_bind_widen(struct dtx_binder *bd, struct dtx_bound **io,
                                         struct dtx_typeref to);
/* Computes a node whose operands are constants; leaves it when that fails. */
DTX_MUSTUSE enum dtx_code dtx_bind_fold(struct dtx_binder *bd, struct dtx_bound *b);
/* Text literals beside dates and point literals beside decimals take the other's type.  Reports
 * bad_literal. *ok is false then. */
DTX_MUSTUSE enum dtx_code dtx_bind_literals(struct dtx_binder *bd, const struct dtx_expr *const *e,
                                            struct dtx_bound **b, uint32_t n, bool *ok);
DTX_MUSTUSE enum dtx_code dtx_bind_literal(struct dtx_binder *bd, const struct dtx_expr *e,
                                           struct dtx_bound **out);
/* A text literal becomes the date or datetime it writes; false: it writes none. */
bool dtx_bind_literal_date(struct dtx_bound *b);
/* Common type of n nodes, all widened to it; reports type_mismatch about `at`. */
DTX_MUSTUSE enum dtx_code dtx_bind_common(struct dtx_binder *bd, const struct dtx_expr *at,
                                          struct dtx_bound **b, uint32_t n, bool *ok,
                                          struct dtx_typeref *type);
/* Tells the scope that a column's value is needed, of a class. */
void dtx_resolve_use(struct dtx_binder *bd, const struct dtx_bound *b, enum dtx_demand demand,
                     enum dtx_class cls);
/* "int", "decimal(12,2)" in a static buffer of the caller. */
const char *dtx_bind_type_text(struct dtx_typeref t, char out[32]);

#endif
