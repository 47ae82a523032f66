/* Bound trees (expressions whose names and types are resolved) and what their evaluation shares.
 * Only core/expr looks inside. */
#ifndef DTX_EXPR_BOUND_H
#define DTX_EXPR_BOUND_H

#include "core/data/builder.h"
#include "core/expr/fn/fn.h"
#include "core/expr/parse/tree.h"

enum dtx_bkind {
	DTX_BD_CONST,
	DTX_BD_COL,
	DTX_BD_SOURCE, /* source text of a column whose values are not text */
	DTX_BD_WIDEN,  /* implicit widening to `type` */
	DTX_BD_ARITH,
	DTX_BD_NEG,
	DTX_BD_CMP,
	DTX_BD_DISTINCT, /* is_distinct: null equals null */
	DTX_BD_AND,
	DTX_BD_OR,
	DTX_BD_NOT,
	DTX_BD_IN, /* whether it is one of the constants of `set` */
	DTX_BD_ISNULL,
	DTX_BD_CASE,
	DTX_BD_COALESCE,
	DTX_BD_TRY,
	DTX_BD_CALL,
	DTX_BD_CAST, /* as `cast` says */
	DTX_BD_PLACE /* where the row is in the source; op: enum dtx_fnplace */
};

/* The constants of an `in` list: sorted, without nulls. */
struct dtx_inset {
	struct dtx_val *item;
	uint32_t n;
	bool has_null;
};

/* Declares the `row` function of a function's row in the table. */
#define DTX_FN_ROW(NAME)                                                                           \
	static enum dtx_code NAME(const struct dtx_fncall *c, struct dtx_fnrun *run,               \
	                          const struct dtx_val *arg, struct dtx_val *out,                  \
	                          struct dtx_err *err)
/* Returns the text in run->buf as the result. */
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
	enum dtx_elit lit; /* CONST that is a literal: how it was written */
	struct dtx_str written;
	bool literal;     /* CONST that is a literal */
	bool source;      /* COL: text functions see the source text */
	bool declared;    /* COL: the plan declares its type */
	bool quiet;       /* It never fails and never counts anything, so it may be computed for
	                   * rows that do not need its value. */
	uint8_t overflow; /* option of the scope */
	bool div_zero_error;
	uint32_t nargs;
	struct dtx_bound **arg;
	struct dtx_val value; /* CONST */
	struct dtx_fncall *call;
	struct dtx_inset *set;
	const struct dtx_cast_spec *cast;
	const char *at; /* root: JSON pointer of the formula; NULL */
};

/* One evaluation: the rows that count, and where findings go. */
struct dtx_ev {
	struct dtx_batch *in;
	const uint16_t *sel; /* the rows that count; NULL: all */
	uint32_t n;          /* their number */
	uint32_t nrows;
	uint64_t *trap; /* inside try(): bits of the rows that failed; NULL: a failure is an
	                 * error */
	struct dtx_eval_counts *counts;
	struct dtx_err *err;
};

/* Runs the body for every row i that counts. */
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

/* A flat column while it is filled.  It has a value for each row of the batch, and all are valid at
 * first. */
struct dtx_vec {
	struct dtx_column *col;
	void *v;
	uint64_t *valid;
};
DTX_MUSTUSE enum dtx_code dtx_vec_new(const struct dtx_ev *ev, struct dtx_typeref type,
                                      struct dtx_vec *out);
/* Rows that are null in c become null in v. */
void dtx_vec_and(struct dtx_vec *v, const struct dtx_column *c);
static inline void dtx_vec_null(struct dtx_vec *v, uint32_t i)
{
	v->valid[i >> 6] &= ~((uint64_t)1 << (i & 63));
}
/* Counts the nulls and returns the finished column, which belongs to the caller. */
struct dtx_column *dtx_vec_done(struct dtx_vec *v);
/* Drops the column after a failed evaluation. */
void dtx_vec_drop(struct dtx_vec *v);

/* A mask for row numbers: all rows of a CONST column have the value of row 0. */
static inline uint32_t dtx_col_mask(const struct dtx_column *c)
{
	return c->form == DTX_F_CONST ? 0 : UINT32_MAX;
}

/* The value at a row of a FLAT, DICT or CONST column. */
void dtx_val_get(const struct dtx_column *c, uint32_t row, struct dtx_val *out);
void dtx_val_add(struct dtx_builder *b, struct dtx_typeref type, const struct dtx_val *v);
/* A CONST column with n rows of one value. */
DTX_MUSTUSE enum dtx_code dtx_val_column(struct dtx_typeref type, const struct dtx_val *v,
                                         uint32_t n, struct dtx_column **out, struct dtx_err *err);
/* -1, 0 or 1.  Both values are of one type and not null. */
int dtx_val_cmp(enum dtx_type type, const struct dtx_val *a, const struct dtx_val *b);
/* Exact comparisons, whatever the size of the numbers. */
int dtx_cmp_i64_f64(int64_t a, double b);
int dtx_cmp_dec(dtx_i128 a, unsigned sa, dtx_i128 b, unsigned sb);

/* Handles the error of a row.  Inside try() it is trapped: the row becomes null in vec (may be
 * NULL) and DTX_OK is returned.  Otherwise the place of the row is added and rc is returned.
 * ev->err must be filled. */
DTX_MUSTUSE enum dtx_code dtx_ev_row(struct dtx_ev *ev, enum dtx_code rc, const struct dtx_bound *b,
                                     struct dtx_vec *vec, uint32_t row);

/* Evaluates the root of a formula, or of an argument of an aggregate.  An error gets its place, and
 * the number of rows in the batch that fail. */
DTX_MUSTUSE enum dtx_code dtx_ev_root(struct dtx_ev *ev, const struct dtx_bound *b,
                                      struct dtx_column **out);
/* Evaluates a node for the rows that count. */
DTX_MUSTUSE enum dtx_code dtx_ev_node(struct dtx_ev *ev, const struct dtx_bound *b,
                                      struct dtx_column **out);
/* Evaluation by kind of node; each is in its own file. */
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
	struct dtx_err *err;               /* receives no_memory only */
	bool in_agg;                       /* inside the arguments of an aggregate */
	const struct dtx_expr *comparison; /* the innermost ==, < or IN around the node, for hints;
	                                    * NULL: none */
	size_t nerrs;                      /* number of findings about this expression */
};

/* Records a finding about e, with its span.  Moves `found`.  Returns DTX_OK or no_memory. */
DTX_MUSTUSE enum dtx_code dtx_bind_report(struct dtx_binder *bd, const struct dtx_expr *e,
                                          struct dtx_err *found);
/* The same with a message. */
DTX_MUSTUSE enum dtx_code dtx_resolve_fail(struct dtx_binder *bd, const struct dtx_expr *e,
                                           const char *hint, enum dtx_code code, const char *fmt,
                                           ...) DTX_PRINTF(5, 6);
/* Binds a node.  *out is NULL if it, or a node below it, has a finding. */
DTX_MUSTUSE enum dtx_code dtx_bind_node(struct dtx_binder *bd, const struct dtx_expr *e,
                                        struct dtx_bound **out);
/* Binds a node whose value must be of the class (else not_boolean or type_mismatch).  Reports the
 * columns that it uses to the scope. */
DTX_MUSTUSE enum dtx_code dtx_bind_class(struct dtx_binder *bd, const struct dtx_expr *e,
                                         enum dtx_class cls, struct dtx_bound **out);
/* The same for TEXT; a source column gives its source text.  any: values of every type are
 * converted to text. */
DTX_MUSTUSE enum dtx_code dtx_bind_text(struct dtx_binder *bd, const struct dtx_expr *e, bool any,
                                        struct dtx_bound **out);
DTX_MUSTUSE enum dtx_code dtx_bind_call(struct dtx_binder *bd, const struct dtx_expr *e,
                                        struct dtx_bound **out);
DTX_MUSTUSE enum dtx_code dtx_resolve_agg(struct dtx_binder *bd, const struct dtx_expr *e,
                                          const struct dtx_fn *fn, struct dtx_bound **out);
DTX_MUSTUSE enum dtx_code dtx_resolve_window(struct dtx_binder *bd, const struct dtx_expr *e,
                                             const struct dtx_fn *fn, struct dtx_bound **out);
/* If an equal call was bound before, gives its result column.  False if none. */
bool dtx_resolve_made(struct dtx_binder *bd, const struct dtx_expr *e, struct dtx_bound **out);
/* Appends a call.  *out is the column of its result. */
DTX_MUSTUSE enum dtx_code dtx_resolve_append(struct dtx_binder *bd, const struct dtx_expr *e,
                                             struct dtx_aggcall *c, struct dtx_bound **out);
/* The arguments of a call: first sorted into the places of the signature, then bound, with defaults
 * for those that are missing.  The third function binds a default. */
DTX_MUSTUSE enum dtx_code dtx_bind_place(struct dtx_binder *bd, const struct dtx_expr *e,
                                         const struct dtx_fn *fn, const struct dtx_expr ***out,
                                         uint32_t *n, const struct dtx_expr **where, bool *ok);
DTX_MUSTUSE enum dtx_code dtx_bind_args(struct dtx_binder *bd, const struct dtx_expr *e,
                                        const struct dtx_fn *fn, const struct dtx_expr *const *at,
                                        uint32_t *n, struct dtx_bound ***out, bool *ok);
DTX_MUSTUSE enum dtx_code dtx_bind_default(struct dtx_binder *bd, const struct dtx_expr *e,
                                           struct dtx_str text, struct dtx_bound **out);
/* A call that is replaced by another tree. */
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
/* A node with the span of e.  NULL: out of memory. */
struct dtx_bound *dtx_bound_new(struct dtx_binder *bd, const struct dtx_expr *e,
                                enum dtx_bkind kind, struct dtx_typeref type, uint32_t nargs);
/* A node with two operands (b may be NULL); it is quiet if they are. */
struct dtx_bound *dtx_bound_two(struct dtx_binder *bd, const struct dtx_expr *e,
                                enum dtx_bkind kind, struct dtx_typeref type, struct dtx_bound *a,
                                struct dtx_bound *b);
/* Widens *io to a type that it fits.  Does nothing if it has that type already or its type is
 * unknown. */
DTX_MUSTUSE enum dtx_code dtx_bind_widen(struct dtx_binder *bd, struct dtx_bound **io,
                                         struct dtx_typeref to);
/* Gives literals the type of the other operand: text literals next to dates, and literals with a
 * point next to decimals.  Reports bad_literal; *ok is then false. */
DTX_MUSTUSE enum dtx_code dtx_bind_literals(struct dtx_binder *bd, const struct dtx_expr *const *e,
                                            struct dtx_bound **b, uint32_t n, bool *ok);
DTX_MUSTUSE enum dtx_code dtx_bind_literal(struct dtx_binder *bd, const struct dtx_expr *e,
                                           struct dtx_bound **out);
/* Turns a text literal into the date or datetime that it contains.  False: it contains none. */
bool dtx_bind_literal_date(struct dtx_bound *b);
/* The common type of n nodes, all of which are widened to it.  Reports type_mismatch about `at`. */
DTX_MUSTUSE enum dtx_code dtx_bind_common(struct dtx_binder *bd, const struct dtx_expr *at,
                                          struct dtx_bound **b, uint32_t n, bool *ok,
                                          struct dtx_typeref *type);
/* Reports to the scope that the value of a column is needed as a value of a class. */
void dtx_resolve_use(struct dtx_binder *bd, const struct dtx_bound *b, enum dtx_demand demand,
                     enum dtx_class cls);
/* The name of a type ("int", "decimal(12,2)"), written to a buffer of the caller. */
const char *dtx_bind_type_text(struct dtx_typeref t, char out[32]);

#endif
