/* Binding a step: from the schemas of its inputs to the schema of its result, and what the step
 * needs of each input column.
 *
 * An op's bind function calls the functions below. Each output column is either a cell of an input
 * that is moved (pass) or made from others; each use of an input column names the output column
 * that it is for, or all rows (filters, keys). From these facts follow: the columns that a reader
 * must deliver, and in which form; column lineage, direct and indirect; and formulas in terms of
 * source columns.
 *
 * Binding happens twice. The static phase knows only what the plan says: types may be unknown and
 * schemas open, and it finds as many mistakes as it can (`dtx check`). The typed phase knows the
 * real columns, and makes the state with which the step runs.
 *
 * All memory is in the arena of the binding. One thread binds a plan. */
#ifndef DTX_PLAN_BIND_BIND_H
#define DTX_PLAN_BIND_BIND_H

#include "core/base/strmap.h"
#include "core/plan/parse/cols.h"
#include "core/plan/op.h"

struct dtx_flow;
struct dtx_part_last;
#define DTX_USE_ROWS (-1) /* the column decides which rows there are */
/* the column fills output columns that only the rows show (pivot_wider) */
#define DTX_USE_OPEN (-2)
/* Demand of a use that moves the cell: the input is needed as later steps need the output. */
#define DTX_DEMAND_SAME ((enum dtx_demand)0)

struct dtx_bind_col { /* one output column */
	struct dtx_field field;
	int32_t from_table, from_col;   /* of a moved column: where it comes from; -1: it is made */
	const struct dtx_expr *formula; /* of a made or altered column; NULL */
	const char *formula_text;       /* the formula as written; "" */
	const char *how;                /* "sum by", "value of", for texts; NULL */
	bool altered;                   /* moved, except for some cells that the step makes */
};
struct dtx_bind_use {
	int32_t out; /* output column, DTX_USE_ROWS or DTX_USE_OPEN */
	uint32_t table, col;
	uint8_t demand; /* enum dtx_demand */
	uint8_t cls;    /* enum dtx_class bits that a formula requires; 0: any */
};

/* A column that the result may have, but that a mistake in the step leaves uncertain; or a column
 * that an unknown name may have meant. */
struct dtx_bind_guess {
	const char *name;
	/* the step makes it; false: the result has it only if the step lists its columns */
	bool made;
};

/* One binding. Ops read the fields, and write only through the functions. */
struct dtx_bind {
	struct dtx_arena *arena; /* holds everything bound */
	bool typed;              /* false: static phase, types may be UNKNOWN */
	unsigned ntables;        /* entries of the arrays marked "per table"; see dtx_bind_room */
	struct dtx_schema **in;  /* per table; static phase: open schemas may grow */
	const char **table_name; /* per table */
	int step;
	const char *op;
	const char *at;             /* JSON pointer of the step */
	struct dtx_part_last *last; /* where in the step a place was found last; may be NULL */
	struct dtx_errlist *errs;
	const struct dtx_run *run;
	int overflow; /* options of the plan, as in struct dtx_scope */
	bool div_zero_error;
	/* results */
	struct dtx_bind_col *col;
	uint32_t ncols;
	size_t cap_cols;
	bool open; /* the rows bring further output columns */
	struct dtx_bind_use *use;
	size_t nuses, cap_uses;
	/* per table and column of it, typed phase: the step names it; NULL: none is named */
	uint8_t **named;
	/* The parameters, which become ox->args: those of the plan, with `across` written out (see
	 * across.h). */
	void *args;
	/* of the first core step of a macro that `compose` completes: the parameters of the step as
	 * written, with `across` written out */
	const void *written;
	bool unmade; /* a core step that `compose` could not complete */
	/* for each item of the list that `across` has written out, the item of the plan that it was
	 * made of; NULL: nothing was written out */
	const uint32_t *across_from;
	const char **across_col; /* and the column that it is for; NULL: not for one */
	uint32_t across_n;
	bool across_part;                /* static phase: more columns of `across` may come */
	void *state;                     /* becomes ox->bound */
	const struct dtx_digest *digest; /* of whole-table ops; NULL: they get their whole input */
	enum dtx_op_kind kind;
	bool kind_set;
	bool ordered;  /* this binding needs batches in order */
	bool sees_all; /* it must see every row: a later limit does not stop the reader */
	bool closed;   /* dtx_bind_close was called */
	/* static phase, for names that later steps look for in an open result: */
	bool renames; /* the step renames: such a name need not be a name of the input */
	/* ending that a name gets when it is taken: a name with it may be new; NULL: there is
	 * none */
	const char *suffix;
	/* a step with findings (static phase): what its result may have in spite of them */
	/* findings in errs before this binding, and findings of this binding */
	size_t nbefore, nfindings;
	/* these are the checks of a table and not a step; `at` is their place as written */
	bool end;
	bool broken; /* its parameters have findings */
	/* A finding is about the whole step, or something this build does not know may make it
	 * right: only columns and formulas are checked. */
	bool columns_only;
	bool casts;           /* a formula may fail with cast_failed */
	bool inputs_may_pass; /* columns of the inputs may be in the result, too */
	bool result;          /* a formula over the step's own result, for hints */
	struct dtx_bind_guess *guess;
	size_t nguesses, cap_guesses;
	/* set by the executor */
	struct dtx_flow *flow;
	int32_t *table; /* per table: its id */
	bool *moved;    /* per table: one of its columns was moved, or it had none to move */
	/* per table: the number of columns it had when one was last moved, or now if none was */
	uint32_t *seen;
	struct dtx_strmap names; /* names of output columns to their index */
};

/* Makes, in the arena, the arrays of a binding that have one entry per table, for up to n
 * tables. */
DTX_MUSTUSE enum dtx_code dtx_bind_room(struct dtx_bind *b, size_t n, struct dtx_err *err);

/* Static phase: says that the result has no columns but those that were added (select, group_by).
 * Otherwise the result of a step over an open table is open: columns that are not listed pass
 * through. */
void dtx_bind_close(struct dtx_bind *b);
/* Typed phase: says that the rows decide the output columns; op->whole_schema is asked for them
 * later. */
void dtx_bind_open(struct dtx_bind *b);

/* Static phase: says that the names of the result depend on a mistake that was found. */
void dtx_bind_unsure(struct dtx_bind *b);
/* Adds a column `name` that the step would make but for a mistake (renaming an unknown column). */
DTX_MUSTUSE enum dtx_code dtx_bind_would_make(struct dtx_bind *b, const char *name,
                                              struct dtx_err *err);
/* Adds `name` to the open table t, if it can exist there; otherwise does nothing. */
DTX_MUSTUSE enum dtx_code dtx_bind_grow(struct dtx_bind *b, unsigned t, const char *name,
                                        struct dtx_err *err);
/* The state for the run, which becomes ox->bound: zeroed, in the arena. NULL: out of memory. */
DTX_MUSTUSE void *dtx_bind_state(struct dtx_bind *b, size_t size);
void dtx_bind_kind(struct dtx_bind *b, enum dtx_op_kind kind);

/* Placeholders for parameters that could not be read (dtx_param_hole, dtx_expr_hole, dtx_cols_hole,
 * NULL) are accepted by all functions below, without a further finding. */
/* Finds a column of table t. If the table lacks it, adds a finding (unknown_column, or
 * missing_column once the input is open) at the step's pointer + sub ("/by/0"), sets *col to -1 and
 * still returns DTX_OK, so that the caller goes on and all mistakes are found. */
DTX_MUSTUSE enum dtx_code dtx_bind_column(struct dtx_bind *b, unsigned t, const char *name,
                                          const char *sub, int32_t *col, struct dtx_err *err);
/* Whether the step is a core step of a macro, which no user has written. */
bool dtx_bind_is_core(const struct dtx_bind *b);
/* Resolves a selector to column indices, in the order of the selector; *col is in the arena. */
DTX_MUSTUSE enum dtx_code dtx_bind_cols(struct dtx_bind *b, unsigned t, const struct dtx_cols *cols,
                                        const char *sub, int32_t **col, uint32_t *n,
                                        struct dtx_err *err);
/* The same where a selector that matches no column is not an error. */
DTX_MUSTUSE enum dtx_code dtx_bind_cols_any(struct dtx_bind *b, unsigned t,
                                            const struct dtx_cols *cols, const char *sub,
                                            int32_t **col, uint32_t *n, struct dtx_err *err);
/* Adds an output column that is input column `col` moved, under its own name (name NULL) or
 * another. */
DTX_MUSTUSE enum dtx_code dtx_bind_pass(struct dtx_bind *b, unsigned t, int32_t col,
                                        const char *name, struct dtx_err *err);
/* The same for a column of table 1 of a join: if its name is taken it gets b->suffix, which must be
 * set before the first call. */
DTX_MUSTUSE enum dtx_code dtx_bind_pass_right(struct dtx_bind *b, int32_t col, struct dtx_err *err);
/* Adds all columns of table t in order: the schema of the result is that of the input. */
DTX_MUSTUSE enum dtx_code dtx_bind_keep_all(struct dtx_bind *b, unsigned t, struct dtx_err *err);
/* Adds an output column that is computed. Its index is b->ncols - 1 afterwards. */
DTX_MUSTUSE enum dtx_code dtx_bind_make(struct dtx_bind *b, const char *name,
                                        struct dtx_typeref type, const struct dtx_expr *formula,
                                        const char *how, struct dtx_err *err);
/* Replaces output column i by a computed one of the same name. */
DTX_MUSTUSE enum dtx_code dtx_bind_remake(struct dtx_bind *b, uint32_t i, struct dtx_typeref type,
                                          const struct dtx_expr *formula, const char *how,
                                          struct dtx_err *err);
/* Says that computed output column i takes the place of column `was`. A text that the plan declares
 * stays declared, so that ops which guess types leave it alone. */
void dtx_bind_stands_for(struct dtx_bind *b, uint32_t i, const struct dtx_field *was);
/* Says, after dtx_bind_pass or dtx_bind_keep_all, that output column i is moved except for cells to
 * which the step gives other values; the others keep their source bytes. formula describes all of
 * them; NULL if none. */
DTX_MUSTUSE enum dtx_code dtx_bind_alter(struct dtx_bind *b, uint32_t i,
                                         const struct dtx_expr *formula, struct dtx_err *err);
/* The same for those of n columns of table 0 that exist (not -1), where all columns are kept. */
DTX_MUSTUSE enum dtx_code dtx_bind_alter_some(struct dtx_bind *b, const int32_t *col, uint32_t n,
                                              struct dtx_err *err);
/* The output column of that name so far; -1: none. */
int32_t dtx_bind_out(const struct dtx_bind *b, const char *name);
/* Adds a use of an input column. out: an output column (b->ncols for the next), DTX_USE_ROWS or
 * DTX_USE_OPEN. */
DTX_MUSTUSE enum dtx_code dtx_bind_use(struct dtx_bind *b, int32_t out, unsigned t, int32_t col,
                                       enum dtx_demand demand, struct dtx_err *err);
/* Binds a formula over table t; its uses of columns are recorded for `out`. want UNKNOWN: any type.
 * *bound is NULL when there were findings; they are in b->errs, at pointer + sub. */
DTX_MUSTUSE enum dtx_code dtx_bind_expr(struct dtx_bind *b, unsigned t, const struct dtx_expr *e,
                                        const char *sub, struct dtx_typeref want, int32_t out,
                                        struct dtx_bound **bound, struct dtx_err *err);
/* The same with aggregates allowed; keys are the columns of the group keys. */
DTX_MUSTUSE enum dtx_code dtx_bind_agg(struct dtx_bind *b, unsigned t, const struct dtx_expr *e,
                                       const char *sub, const struct dtx_field *keys, size_t nkeys,
                                       int32_t out, struct dtx_aggcalls *aggs,
                                       struct dtx_bound **bound, struct dtx_err *err);
/* Binds a formula over a schema that is neither an input nor the output, such as the columns that a
 * derive has made so far. `use` is called for each column that the formula uses. */
DTX_MUSTUSE enum dtx_code
dtx_bind_expr_over(struct dtx_bind *b, const struct dtx_schema *schema, const struct dtx_expr *e,
                   const char *sub, struct dtx_typeref want,
                   void (*use)(void *arg, int32_t col, enum dtx_demand demand), void *arg,
                   struct dtx_bound **bound, struct dtx_err *err);
/* The same with window calls and aggregates allowed. Calls are appended to aggs; their results are
 * columns after those of the schema. */
DTX_MUSTUSE enum dtx_code
dtx_bind_window_over(struct dtx_bind *b, const struct dtx_schema *schema, const struct dtx_expr *e,
                     const char *sub, bool ordered,
                     void (*use)(void *arg, int32_t col, enum dtx_demand demand), void *arg,
                     struct dtx_aggcalls *aggs, struct dtx_bound **bound, struct dtx_err *err);
/* Adds a finding of this step at pointer + sub. Returns DTX_OK or no_memory. */
DTX_MUSTUSE enum dtx_code dtx_bind_fail(struct dtx_bind *b, enum dtx_code code, const char *sub,
                                        struct dtx_err *err, const char *fmt, ...) DTX_PRINTF(5, 6);
/* The same with a hint: what the user can do next. */
DTX_MUSTUSE enum dtx_code dtx_bind_fail_next(struct dtx_bind *b, enum dtx_code code,
                                             const char *sub, const char *next, struct dtx_err *err,
                                             const char *fmt, ...) DTX_PRINTF(6, 7);
/* Adds the finding that two output columns would have the same name, with the parameter that would
 * give another name as the next step. sub NULL: the parameter is looked for. */
DTX_MUSTUSE enum dtx_code dtx_bind_taken(struct dtx_bind *b, const char *name, const char *sub,
                                         struct dtx_err *err);

#endif
