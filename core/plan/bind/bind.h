/* Binding a step: from input schemas to the output schema, with the demands in between.
 *
 * Each output column either is an input's cell moved (pass) or is made from some; each use of an
 * input column names the output column it is for, or all rows (filters, keys).  From these facts
 * come: which columns a reader must deliver and in which form, what is kept for provenance (direct
 * and indirect lineage), and the composed formulas. */
#ifndef DTX_PLAN_BIND_BIND_H
#define DTX_PLAN_BIND_BIND_H

#include "core/base/strmap.h"
#include "core/plan/parse/cols.h"
#include "core/plan/op.h"

struct dtx_flow;
#define DTX_USE_ROWS (-1) /* decides which rows there are */
#define DTX_USE_OPEN (-2) /* fills columns that only the rows bring (pivot_wider) */
/* A use that moves the cell: the input is needed as much as the output column is. */
#define DTX_DEMAND_SAME ((enum dtx_demand)0)

struct dtx_bind_col { /* an output column */
	struct dtx_field field;
	int32_t from_table, from_col;   /* pass: where it comes from; -1: made */
	const struct dtx_expr *formula; /* of a made or altered column; NULL */
	const char *formula_text;       /* as written; "" */
	const char *how;                /* "sum by", "value of", NULL: for texts */
	bool altered;                   /* pass: but for some cells, which the step makes */
};
struct dtx_bind_use {
	int32_t out; /* output column, DTX_USE_ROWS or DTX_USE_OPEN */
	uint32_t table, col;
	uint8_t demand; /* enum dtx_demand */
	uint8_t cls;    /* enum dtx_class bits that a formula asks for; 0: any */
};

struct dtx_bind_guess { /* a column that cannot be told, or what it may have been meant for */
	const char *name;
	bool made; /* the step makes it; else it is there only where the step names its columns */
};

/* Fields are read by ops, written only through the functions. */
struct dtx_bind {
	struct dtx_arena *arena; /* everything bound lives here */
	bool typed;              /* false: static phase, types may be UNKNOWN */
	unsigned ntables;        /* entries of each array "per table"; see dtx_bind_room */
	struct dtx_schema **in;  /* per table; static phase: open schemas may grow */
	const char **table_name; /* per table */
	int step;
	const char *op;
	const char *at; /* JSON pointer of the step */
	struct dtx_errlist *errs;
	const struct dtx_run *run;
	int overflow; /* plan options, as in struct dtx_scope */
	bool div_zero_error;
	/* results */
	struct dtx_bind_col *col;
	uint32_t ncols;
	size_t cap_cols;
	bool open; /* more output columns come from data */
	struct dtx_bind_use *use;
	size_t nuses, cap_uses;
	/* per table and column of it, typed phase: the step names it; NULL: none of them */
	uint8_t **named;
	void *state;                     /* ox->bound */
	const struct dtx_digest *digest; /* whole ops; NULL: they are given their input */
	enum dtx_op_kind kind;
	bool kind_set;
	bool ordered;  /* this binding takes batches in order */
	bool sees_all; /* it judges every row: a limit behind it stops no reader */
	bool closed;   /* dtx_bind_close */
	/* static phase, for names that later steps want of an open result: */
	bool renames;       /* none of them need be a name of the input */
	const char *suffix; /* nor one that ends so: what a taken name gets; NULL: nothing */
	/* a step with findings (static phase): what its result may hold nevertheless */
	size_t nbefore, nfindings; /* findings in errs before this binding, and its own */
	bool end;    /* not a step but the checks of a table: `at` is their place as written */
	bool broken; /* parameters have findings */
	bool unfit;  /* of them some over the whole step, or what this build lacks may be what makes
	              * it right: only columns and formulas are judged */
	bool casts;  /* a formula may raise cast_failed */
	bool vague;  /* columns of the inputs may be there as well */
	bool result; /* a formula over what the step makes, for hints */
	struct dtx_bind_guess *guess;
	size_t nguesses, cap_guesses;
	/* of the executor */
	struct dtx_flow *flow;
	int32_t *table; /* per table its id */
	bool *moved;    /* per table: a column went on, or there was none to go on */
	/* per table: columns there were when one was last moved; all where none was */
	uint32_t *seen;
	struct dtx_strmap names; /* output names to index */
};

/* Makes the arrays of a binding that have an entry per table, for up to n tables, in its arena. */
DTX_MUSTUSE enum dtx_code dtx_bind_room(struct dtx_bind *b, size_t n, struct dtx_err *err);

/* Static phase: a step over an open table has an open result (unlisted columns go through) unless
 * its bind says that there is nothing but its output columns: select, group_by ... */
void dtx_bind_close(struct dtx_bind *b);
/* Typed phase: output columns come from the rows; op->whole_schema tells them later. */
void dtx_bind_open(struct dtx_bind *b);

/* Static phase, a step with findings: the names of its result depend on what is wrong. */
void dtx_bind_unsure(struct dtx_bind *b);
/* A column `name` would come out of what is wrong (a renaming of an unknown column). */
DTX_MUSTUSE enum dtx_code dtx_bind_would_make(struct dtx_bind *b, const char *name,
                                              struct dtx_err *err);
/* Lets an open table t gain `name`, if it can exist; says nothing if not. */
DTX_MUSTUSE enum dtx_code dtx_bind_grow(struct dtx_bind *b, unsigned t, const char *name,
                                        struct dtx_err *err);
/* The result for the run: becomes ox->bound.  Zeroed, in the arena. */
DTX_MUSTUSE void *dtx_bind_state(struct dtx_bind *b, size_t size);
void dtx_bind_kind(struct dtx_bind *b, enum dtx_op_kind kind);

/* Holes (dtx_param_hole, dtx_expr_hole, dtx_cols_hole, NULL) are taken by all functions below
 * without a finding: those are there already. */
/* Index of a column of table t.  Unknown: a finding (unknown_column, or missing_column once the
 * input is open) at pointer + sub ("/by/0"), *col = -1, still DTX_OK: go on, to find all. */
DTX_MUSTUSE enum dtx_code dtx_bind_column(struct dtx_bind *b, unsigned t, const char *name,
                                          const char *sub, int32_t *col, struct dtx_err *err);
/* A selector resolved: indices in selector order, in the arena. */
DTX_MUSTUSE enum dtx_code dtx_bind_cols(struct dtx_bind *b, unsigned t, const struct dtx_cols *cols,
                                        const char *sub, int32_t **col, uint32_t *n,
                                        struct dtx_err *err);
/* The same where a selector that fits no column is no error. */
DTX_MUSTUSE enum dtx_code dtx_bind_cols_any(struct dtx_bind *b, unsigned t,
                                            const struct dtx_cols *cols, const char *sub,
                                            int32_t **col, uint32_t *n, struct dtx_err *err);
/* Output column = input cell moved, under its name or a new one (NULL: the same). */
DTX_MUSTUSE enum dtx_code dtx_bind_pass(struct dtx_bind *b, unsigned t, int32_t col,
                                        const char *name, struct dtx_err *err);
/* The same of table 1 beside what is there: a name that is taken gets b->suffix, which is set
 * before the first of them. */
DTX_MUSTUSE enum dtx_code dtx_bind_pass_right(struct dtx_bind *b, int32_t col, struct dtx_err *err);
/* All columns of table t, in order: schema out = schema in. */
DTX_MUSTUSE enum dtx_code dtx_bind_keep_all(struct dtx_bind *b, unsigned t, struct dtx_err *err);
/* Output column that is computed.  Its index is b->ncols - 1 afterwards. */
DTX_MUSTUSE enum dtx_code dtx_bind_make(struct dtx_bind *b, const char *name,
                                        struct dtx_typeref type, const struct dtx_expr *formula,
                                        const char *how, struct dtx_err *err);
/* Replaces output column i by a computed one of the same name, in place. */
DTX_MUSTUSE enum dtx_code dtx_bind_remake(struct dtx_bind *b, uint32_t i, struct dtx_typeref type,
                                          const struct dtx_expr *formula, const char *how,
                                          struct dtx_err *err);
/* Computed output column i stands for column `was`: a text that the plan declares stays declared,
 * so that what types columns anew leaves it alone. */
void dtx_bind_stands_for(struct dtx_bind *b, uint32_t i, const struct dtx_field *was);
/* Output column i is moved, but for cells that the step gives other values; formula (NULL: there is
 * none) says all of them. */
DTX_MUSTUSE enum dtx_code dtx_bind_alter(struct dtx_bind *b, uint32_t i,
                                         const struct dtx_expr *formula, struct dtx_err *err);
/* The same of those of n columns of table 0 that are there (not -1), where all columns are kept. */
DTX_MUSTUSE enum dtx_code dtx_bind_alter_some(struct dtx_bind *b, const int32_t *col, uint32_t n,
                                              struct dtx_err *err);
/* Output column of that name so far, -1 if none. */
int32_t dtx_bind_out(const struct dtx_bind *b, const char *name);
/* out: an output column (it may not exist yet: b->ncols), DTX_USE_ROWS or DTX_USE_OPEN. */
DTX_MUSTUSE enum dtx_code dtx_bind_use(struct dtx_bind *b, int32_t out, unsigned t, int32_t col,
                                       enum dtx_demand demand, struct dtx_err *err);
/* Binds an expression over table t; uses are recorded for `out`.  want UNKNOWN: any type.  *bound
 * is NULL when there were findings (they are in b->errs, at pointer + sub). */
DTX_MUSTUSE enum dtx_code dtx_bind_expr(struct dtx_bind *b, unsigned t, const struct dtx_expr *e,
                                        const char *sub, struct dtx_typeref want, int32_t out,
                                        struct dtx_bound **bound, struct dtx_err *err);
/* The same with aggregates allowed; keys are the columns of the group keys. */
DTX_MUSTUSE enum dtx_code dtx_bind_agg(struct dtx_bind *b, unsigned t, const struct dtx_expr *e,
                                       const char *sub, const struct dtx_field *keys, size_t nkeys,
                                       int32_t out, struct dtx_aggcalls *aggs,
                                       struct dtx_bound **bound, struct dtx_err *err);
/* Binds over a schema that is neither input nor output (derive: columns made so far).  cols maps
 * a schema column to the input column it is (-1: made). */
DTX_MUSTUSE enum dtx_code
dtx_bind_expr_over(struct dtx_bind *b, const struct dtx_schema *schema, const struct dtx_expr *e,
                   const char *sub, struct dtx_typeref want,
                   void (*use)(void *arg, int32_t col, enum dtx_demand demand), void *arg,
                   struct dtx_bound **bound, struct dtx_err *err);
/* The same with window calls and aggregates allowed: calls are appended to aggs, their results are
 * columns behind those of the schema. */
DTX_MUSTUSE enum dtx_code
dtx_bind_window_over(struct dtx_bind *b, const struct dtx_schema *schema, const struct dtx_expr *e,
                     const char *sub, bool ordered,
                     void (*use)(void *arg, int32_t col, enum dtx_demand demand), void *arg,
                     struct dtx_aggcalls *aggs, struct dtx_bound **bound, struct dtx_err *err);
/* A finding of this step at pointer + sub; returns DTX_OK (or no_memory). */
DTX_MUSTUSE enum dtx_code dtx_bind_fail(struct dtx_bind *b, enum dtx_code code, const char *sub,
                                        struct dtx_err *err, const char *fmt, ...) DTX_PRINTF(5, 6);
/* The same of a name that two output columns would have, with the parameter that gives another one
 * as the next step.  sub NULL: the parameter is looked for. */
DTX_MUSTUSE enum dtx_code dtx_bind_taken(struct dtx_bind *b, const char *name, const char *sub,
                                         struct dtx_err *err);
/* Unique name: name, name_2, name_3 ... among the output so far; NULL: out of memory. */
const char *dtx_bind_unique(struct dtx_bind *b, const char *name);

#endif
