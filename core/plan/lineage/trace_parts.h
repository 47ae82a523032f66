/* Tracing in two parts: forward with row numbers (trace.c), back from the row (trace_back.c). */
#ifndef DTX_PLAN_LINEAGE_TRACE_PARTS_H
#define DTX_PLAN_LINEAGE_TRACE_PARTS_H

#include "core/plan/lineage/trace.h"

enum { TRACE_BITS = 64, TRACE_NAME = 40, TRACE_SOURCES = 80 };

/* How the rows of an op are followed. */
enum trace_how {
	TRACE_PASS,   /* its rows are those of its input, with all other columns */
	TRACE_LIST,   /* the same, but it lists the columns that stay */
	TRACE_JOIN,   /* its rows are those of one or two tables */
	TRACE_SEMI,   /* its rows are those that have a match in another table */
	TRACE_LOOKUP, /* it brings one column of another table */
	TRACE_UNION,  /* its rows are those of several tables, by the names of their columns */
	TRACE_EARLY,  /* it looks at rows as they were read: they are numbered after it */
	TRACE_KEYS,   /* a row for each value of `by` */
	TRACE_WIDER,  /* a row for each value of the id columns */
	TRACE_WINDOW, /* its rows are those of its input, with values made of several */
	TRACE_COPY,   /* its rows are those of its input, numbered anew */
	TRACE_WHOLE   /* its rows cannot be told apart: each is of all rows of its tables */
};

struct trace_table {
	uint64_t ids;         /* row numbers it carries, by bit */
	int32_t waiting;      /* input whose rows it has and has not numbered yet, -1: none */
	char raw[TRACE_NAME]; /* its name until then */
	int32_t from;         /* its rows were judged before they were numbered: input + 1; 0: no */
	const struct dtx_schema *schema;
};
/* How a walk came about: rows of the table in front of a step, from walked ones of its result. */
struct trace_via {
	int32_t from;   /* the walk; -1: none, it is the asked row */
	uint32_t bit;   /* the step's row number; TRACE_BITS: the same rows once more */
	bool near;      /* of a window's group those between these places around the walked ones */
	int64_t lo, hi; /* INT64_MIN, INT64_MAX: no end */
	bool all;       /* of a wide row all long ones, whatever its columns' names */
	int32_t unless; /* walk + 1 that must have no row, else this one has none; 0: none */
	bool some;      /* fewer than the row numbers tell: those that met a condition */
};
struct trace_walk { /* rows that went into the one asked for */
	char name[TRACE_NAME];
	uint64_t ids;
	json_t **reach; /* per table id: columns whose values they gave it; NULL: none */
	struct trace_via via;
};
struct trace {
	const struct dtx_plan *plan;
	const struct dtx_exec_result *bound;
	const struct dtx_trace_ask *ask;
	json_t *steps, *outputs;
	json_t **need;   /* per table id: names of the columns that the asked one depends on */
	json_t **judged; /* the same of those that decided which rows there are */
	struct trace_table *table; /* per table id */
	uint32_t *bit_step;        /* per bit behind the inputs: its step */
	uint32_t nbits;
	int32_t maker;     /* step behind which rows are numbered for their values; -1: none */
	int32_t *numbered; /* per input: table with its row numbers; -1: none yet */
	struct trace_walk walk[TRACE_SOURCES];
	uint32_t nwalks, nmeets;
	struct dtx_trace *out;
	struct dtx_err full; /* the first maximum that did not do */
	bool failed;         /* memory */
	json_t **pinned;     /* per input: columns whose known cell all its rows have; NULL: none */
	int32_t grouper;     /* the group_by that made its values, with one group each; -1: none */
	const json_t *grouped; /* its item for them; NULL: they are keys */
	bool keeps;            /* all row numbers of the outputs but the first are asked for */
};

/* trace.c: the parts of making a traced plan; end is safe after a failed init. */
DTX_MUSTUSE enum dtx_code dtx_trace_init(struct trace *t, const struct dtx_plan *plan,
                                         const struct dtx_exec_result *bound, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_trace_forward(struct trace *t, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_trace_finish(struct trace *t, json_t **plan, struct dtx_err *err);
void dtx_trace_end(struct trace *t);
enum trace_how dtx_trace_how(const struct dtx_plan *plan, const struct dtx_plan_step *st);
/* Whether such a step makes rows anew, of several. */
static inline bool dtx_trace_is_barrier(enum trace_how how)
{
	return how == TRACE_KEYS || how == TRACE_WIDER || how == TRACE_WHOLE;
}
/* What the op says of a step of the traced plan; NULL: WHOLE. */
struct dtx_op_facts dtx_trace_made_facts(const json_t *step);
/* The name that an item of a list of columns is; NULL: a selector, which may mean any. */
const char *dtx_trace_plain_name(const json_t *one);
/* Whether rows of a table may be those of one of several. */
bool dtx_trace_unions(const struct trace *t);
/* "dtx_" KIND n */
const char *dtx_trace_name(char buf[TRACE_NAME], const char *kind, uint32_t n);
/* Adds to a list; takes `value`. */
void dtx_trace_append(struct trace *t, json_t *list, json_t *value);
/* The same rows by another name. */
void dtx_trace_same(struct trace *t, const char *in, const char *out);
/* Rows of `in`, how: "semi": if `with` has any, else none; "anti": if it has none. */
void dtx_trace_meets(struct trace *t, const char *in, const char *with, const char *how,
                     const char *out);
/* Whether walk w has a row for sure: it is the asked one, and no step brings rows of other tables.
 */
bool dtx_trace_sure(const struct trace *t, uint32_t w);
/* Names of all columns; new. */
json_t *dtx_trace_names(struct trace *t, const struct dtx_schema *s);
/* A step of the traced plan; takes `step`.  in NULL: the step names it. */
void dtx_trace_add(struct trace *t, json_t *step, const char *in, const char *out);
/* Numbers the rows of a table that has waited for it. */
void dtx_trace_ready(struct trace *t, int32_t id);
json_t *dtx_trace_step(struct trace *t, const struct dtx_plan_step *st);
/* Adds the names of the row numbers to a list of columns. */
void dtx_trace_numbers(struct trace *t, json_t *list, uint64_t ids);
/* A step that counts rows into the row number `bit`. */
void dtx_trace_number(struct trace *t, uint32_t bit, const char *in, const char *out);
/* Rows of `in` whose numbers `column` are in `with`. */
void dtx_trace_semi(struct trace *t, const char *in, const char *with, const char *column,
                    const char *out);
/* Rows of `table`; {"column": true} of it are in the value, NULL: none, they decided that the row
 * is there. */
void dtx_trace_walked(struct trace *t, const char *name, uint64_t ids, int32_t table,
                      const json_t *cols, const struct trace_via *via);
/* Columns of a table whose values walked rows gave to the asked one; borrowed, NULL: none. */
json_t *dtx_trace_reached(const struct trace *t, uint32_t w, int32_t table);
/* trace_need.c: fills t->need. */
void dtx_trace_need(struct trace *t, uint32_t output, const char *column);
/* Parts of that: a column, those of a formula; what a step needs for what is needed of it. */
void dtx_trace_need_add(struct trace *t, int32_t table, const char *column);
void dtx_trace_need_formula(struct trace *t, int32_t table, const char *formula);
void dtx_trace_need_step(struct trace *t, uint32_t i);
/* trace_judge.c: columns (formula false) and formulas that decide which rows a step has, of table
 * `k` of the step; a selector is the column "*". */
struct trace_decider {
	void *arg;
	void (*see)(void *arg, uint32_t k, const char *text, bool formula);
};
void dtx_trace_deciders(const struct dtx_plan_step *st, const struct trace_decider *to);
/* Fills t->judged. */
void dtx_trace_judge(struct trace *t);
/* Per table id, columns that these of `table` depend on, as far as rows are passed on; NULL: out of
 * memory. */
json_t **dtx_trace_reach(struct trace *t, int32_t table, const json_t *cols);
void dtx_trace_reach_free(const struct trace *t, json_t **reach);
/* Columns of the step's table that these of its result are made of, several rows to one; new, NULL:
 * none. */
json_t *dtx_trace_made_of(struct trace *t, uint32_t step, const json_t *cols);
/* Whether a column of this name is made by the step, one that is a window by itself. */
bool dtx_trace_makes(const struct trace *t, const struct dtx_plan_step *st, const char *name);
bool dtx_trace_needs(const struct trace *t, int32_t table, const char *column);
/* trace_window.c: whether a step looks at other rows; rows that went into the walked ones. */
bool dtx_trace_windows(const struct dtx_plan_step *st);
void dtx_trace_back_window(struct trace *t, uint32_t bit);
/* Keys of a group_by as pairs {left: column of `out`, right: column of the result}; new.  `out` is
 * `in` with formulas among the keys as columns. */
json_t *dtx_trace_group_keys(struct trace *t, const json_t *by, const char *in, const char *out);
json_t *dtx_trace_wider_keys(struct trace *t, const struct dtx_plan_step *st);
/* The join of a step seen from its other table; new.  how: as of joins. */
json_t *dtx_trace_turned(struct trace *t, const struct dtx_plan_step *st, const char *how,
                         const char *with);
/* Which rows of a group went into these columns of what a pivot_wider made of it. */
enum trace_wider {
	TRACE_WIDER_ALL,   /* all: they are ids, or none */
	TRACE_WIDER_NAMED, /* those whose name a column has */
	TRACE_WIDER_LOOSE  /* not known */
};
enum trace_wider dtx_trace_wider_rows(struct trace *t, const struct dtx_plan_step *st,
                                      const json_t *cols);
/* Of `in` the long rows whose name one of these columns has. */
void dtx_trace_wider_name(struct trace *t, const struct dtx_plan_step *st, const json_t *cols,
                          const char *in, const char *out);
/* The long rows that a wide one is of, or (*cells) those of the cells alone.  True: all of them,
 * and those of the cells are still to be told. */
bool dtx_trace_wider_in(struct trace *t, uint32_t i, const json_t *cols, const char *in,
                        const char *out, bool *cells);
/* A cell that no long row filled: the others of its wide row decided that it is there.  cell: rows
 * that filled it, the last walk; group: the wide row; on: as of dtx_trace_wider_keys. */
void dtx_trace_wider_empty(struct trace *t, uint32_t i, const char *cell, const char *group,
                           const json_t *on, const struct trace_via *via);
/* trace_lean.c: the same results with less work. */
void dtx_trace_lean(struct trace *t);
/* The step whose result has this name; NULL: none. */
json_t *dtx_trace_made_by(const json_t *steps, const char *name);
/* Formulas of the step that look at no row but their own. */
bool dtx_trace_plain(const json_t *step);
/* trace_pin.c: filters in front of all steps, where t->ask->known allows for some. */
#define TRACE_PIN "pin"
void dtx_trace_pin(struct trace *t);
/* The traced step of a join; NULL: it has none. */
json_t *dtx_trace_join_of(const struct trace *t, const struct dtx_plan_step *st);
/* trace_tied.c: no looking for groups whose rows are all that those filters leave. */
void dtx_trace_tied(struct trace *t);
/* The condition on the row itself, and which of the rows it holds for it is, 0: not known; false:
 * nothing is known that could be asked for. */
bool dtx_trace_known(struct trace *t, struct dtx_buf *where, int64_t *nth);
/* trace_prune.c: without row numbers that nobody asks for and steps that nobody reads. */
void dtx_trace_prune(struct trace *t);
/* trace_terms.c: the step that made the asked column's values of groups. */
void dtx_trace_grouper(struct trace *t);
/* The asked row in the table where its column was computed; and, of the walked rows of step i, what
 * its formula made of them, where that has the asked value (cols: columns of the step that it is
 * of). */
void dtx_trace_terms(struct trace *t);
void dtx_trace_group_terms(struct trace *t, uint32_t i, const json_t *cols, const char *rows);
/* trace_back.c: one more output of the traced plan. */
void dtx_trace_output(struct trace *t, enum dtx_trace_part part, uint32_t input, json_t *direct,
                      const char *table);
/* outputs for the table's check, the row and the rows of inputs that went into it. */
void dtx_trace_back(struct trace *t);

#endif
