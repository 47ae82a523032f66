/* What the files that make the traced plan share: trace.c goes forward and adds row numbers,
 * trace_back.c goes back from the asked row.
 *
 * Terms:
 *
 * - A table id is the index of an input, or ninputs + the index of a step.
 *
 * - A row number is a column dtx_r<bit>. Bits 0 .. ninputs - 1 are the inputs; later bits belong to
 * steps that number their rows (t->bit_step).
 *
 * - Table dtx_t<id> is the table `id` of the original plan with its row numbers; dtx_b<id> is the
 * same before its new numbers are added.
 *
 * - A walk is a table with rows that the asked row came from. Walk 0 is the asked row; each further
 * walk is one step closer to an input.
 *
 * - A barrier is a step that makes new rows, each from several. */
#ifndef DTX_PLAN_LINEAGE_TRACE_PARTS_H
#define DTX_PLAN_LINEAGE_TRACE_PARTS_H

#include "core/plan/lineage/trace.h"

enum { TRACE_BITS = 64, TRACE_NAME = 40, TRACE_SOURCES = 80 };

/* How the rows of a step are followed. */
enum trace_how {
	TRACE_PASS,   /* the rows of its input, with all other columns */
	TRACE_LIST,   /* the same, but the step lists the columns that stay */
	TRACE_JOIN,   /* rows of one or two tables */
	TRACE_SEMI,   /* the rows that have a match in another table */
	TRACE_LOOKUP, /* the rows of its input, with one column of another table */
	TRACE_UNION,  /* the rows of several tables, matched by column names */
	TRACE_EARLY,  /* it looks at rows as they were read, so rows are numbered after it */
	TRACE_KEYS,   /* one row for each value of `by` */
	TRACE_WIDER,  /* one row for each value of the id columns */
	TRACE_WINDOW, /* the rows of its input, with values computed from several rows */
	TRACE_COPY,   /* the rows of its input, with new numbers */
	TRACE_WHOLE   /* its rows cannot be followed: each one depends on all rows of all its tables
	               */
};

struct trace_table {
	uint64_t ids;    /* bits of the row numbers that it carries */
	int32_t waiting; /* the input whose rows it has while they are not numbered yet; -1: none */
	char raw[TRACE_NAME]; /* the name of the table until then */
	int32_t from; /* the input + 1, if a step judged the rows before they were numbered; 0: none
	               * did */
	const struct dtx_schema *schema;
};
/* How a walk was made: from the walked rows of a step's result to the rows of its input. */
struct trace_via {
	int32_t from; /* index of the walk it starts from; -1: this is the asked row */
	uint32_t bit; /* the row number of the step; TRACE_BITS: the same table, fewer rows */
	bool near; /* for a window: only rows between the places lo and hi around each walked row */
	int64_t lo, hi; /* INT64_MIN, INT64_MAX: no limit */
	bool all; /* for a pivot_wider: all long rows of a wide row, not just those of one column */
	int32_t unless; /* index + 1 of a walk: if that one has rows, this one has none; 0: no such
	                 * walk */
	bool apart;     /* rows of cells in the value, which no later step judged */
	bool some;      /* only the rows that met a condition, so fewer than the row numbers say */
};
struct trace_walk { /* rows that the asked row came from */
	char name[TRACE_NAME];
	uint64_t ids;
	json_t **reach; /* per table id: columns whose values these rows contributed; NULL: none */
	struct trace_via via;
};
struct trace {
	const struct dtx_plan *plan;
	const struct dtx_exec_result *bound;
	const struct dtx_trace_ask *ask;
	json_t *steps, *outputs;
	json_t **need;   /* per table id: names of the columns that the asked column depends on */
	json_t **judged; /* per table id: names of the columns that decided which rows exist */
	struct trace_table *table; /* per table id */
	uint32_t *bit_step;        /* per bit: its step; not set for inputs */
	uint32_t nbits;
	int32_t maker; /* the step whose result gets row numbers so that the values of its formula
	                * can be found; -1: none */
	int32_t *numbered; /* per input: the table in which its rows are numbered; -1: none yet */
	struct trace_walk walk[TRACE_SOURCES];
	uint32_t nwalks, nmeets;
	struct dtx_trace *out;
	struct dtx_err full; /* the first limit that was exceeded */
	bool failed;         /* out of memory */
	json_t **pinned; /* per input: columns that have the known cell in all rows that are left;
	                  * NULL: none */
	int32_t grouper; /* the group_by that the asked value came from, from one group; -1: none */
	const json_t *grouped; /* the item of `agg` that made the value; NULL: it is a key */
	bool *by_cells; /* per step: its rows are those of its input, but the asked column has
	                 * cells of other rows there; its op says which, as for TRACE_WHOLE */
	bool lists;     /* the walks are stored with the run, which lists the rows of each step */
	bool keeps;     /* all row numbers in the outputs, except the first, are wanted */
};

/* trace.c: the stages of making a traced plan, in this order. dtx_trace_end may be called after
 * dtx_trace_init failed. */
DTX_MUSTUSE enum dtx_code dtx_trace_init(struct trace *t, const struct dtx_plan *plan,
                                         const struct dtx_exec_result *bound, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_trace_forward(struct trace *t, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_trace_finish(struct trace *t, json_t **plan, struct dtx_err *err);
void dtx_trace_end(struct trace *t);
enum trace_how dtx_trace_how(const struct trace *t, const struct dtx_plan_step *st);
/* The same by the plan alone, before it is known which cells are asked for. */
enum trace_how dtx_trace_how_planned(const struct dtx_plan *plan, const struct dtx_plan_step *st);
/* Whether such a step makes new rows, each from several. */
static inline bool dtx_trace_is_barrier(enum trace_how how)
{
	return how == TRACE_KEYS || how == TRACE_WIDER || how == TRACE_WHOLE;
}
/* What the op of a step of the traced plan states about it; DTX_ROWS_WHOLE if the op is not
 * known. */
struct dtx_op_facts dtx_trace_made_facts(const json_t *step);
/* The name if an item of a list of columns is a plain name. NULL if it is a selector, which may
 * match any columns. */
const char *dtx_trace_plain_name(const json_t *one);
/* Whether the plan has a union, after which a row is from one of several tables. */
bool dtx_trace_unions(const struct trace *t);
/* Writes "dtx_" KIND n to buf and returns it. */
const char *dtx_trace_name(char buf[TRACE_NAME], const char *kind, uint32_t n);
/* Appends to a list; takes `value`. A failure sets t->failed, as in all functions here. */
void dtx_trace_append(struct trace *t, json_t *list, json_t *value);
/* Makes `out` with the same rows as `in`: a second name for it. */
void dtx_trace_same(struct trace *t, const char *in, const char *out);
/* Makes `out` with all rows of `in` or none. `how` is "semi": all if `with` has any row; "anti":
 * all if it has none. */
void dtx_trace_meets(struct trace *t, const char *in, const char *with, const char *how,
                     const char *out);
/* Whether walk w certainly has a row: it is the asked row, and no step adds rows from other
 * tables. */
bool dtx_trace_sure(const struct trace *t, uint32_t w);
/* The names of all columns; a new list. */
json_t *dtx_trace_names(struct trace *t, const struct dtx_schema *s);
/* Adds a step to the traced plan; takes `step`. `in` NULL: the step has its own. */
void dtx_trace_add(struct trace *t, json_t *step, const char *in, const char *out);
/* Numbers the rows of a table that is waiting for it. */
void dtx_trace_ready(struct trace *t, int32_t id);
json_t *dtx_trace_step(struct trace *t, const struct dtx_plan_step *st);
/* Adds the names of the row numbers `ids` to a list of columns. */
void dtx_trace_numbers(struct trace *t, json_t *list, uint64_t ids);
/* Makes `out` from the rows of `in` whose value in `column`, a row number, occurs in `with`. */
void dtx_trace_semi(struct trace *t, const char *in, const char *with, const char *column,
                    const char *out);
/* Adds a walk with rows of `table`. `cols` are its columns whose cells are in the asked value, as
 * {"column": true}; NULL: the rows only decided that the asked row exists. */
void dtx_trace_walked(struct trace *t, const char *name, uint64_t ids, int32_t table,
                      const json_t *cols, const struct trace_via *via);
/* The columns of a table whose values the rows of walk w contributed; borrowed. NULL: none. */
json_t *dtx_trace_reached(const struct trace *t, uint32_t w, int32_t table);
/* trace_need.c: fills t->need for the asked column. */
/* Sets t->out->borrowed and fills, for steps that took values from other rows and do not say
 * which. */
void dtx_trace_borrowed(struct trace *t);
void dtx_trace_need(struct trace *t, uint32_t output, const char *column);
/* Adds a column, or the columns of a formula, to what is needed of a table; and goes through one
 * step, from what is needed of its result to what is needed of its inputs. */
void dtx_trace_need_add(struct trace *t, int32_t table, const char *column);
/* trace_need.c: calls `see` for each column (formula false) and each formula by which the step
 * decides which rows it has. `k` is the index of the table among the step's inputs. A selector is
 * passed as the column "*". */
struct trace_decider {
	void *arg;
	void (*see)(void *arg, uint32_t k, const char *text, bool formula);
};
void dtx_trace_deciders(const struct dtx_plan_step *st, const struct trace_decider *to);
/* Fills t->judged. */
void dtx_trace_judge(struct trace *t);
/* Which columns of each earlier table the columns `cols` of `table` depend on, up to the next
 * barrier. Per table id; the caller frees it. NULL: out of memory. */
json_t **dtx_trace_reach(struct trace *t, int32_t table, const json_t *cols);
void dtx_trace_reach_free(const struct trace *t, json_t **reach);
/* Which columns of the step's input its result columns `cols` are computed from, when it makes one
 * row or value from several rows. A new reference; NULL: none. */
json_t *dtx_trace_made_of(struct trace *t, uint32_t step, const json_t *cols);
/* Whether the step makes a column of this name. For ops that are window functions. */
bool dtx_trace_makes(const struct trace *t, const struct dtx_plan_step *st, const char *name);
bool dtx_trace_needs(const struct trace *t, int32_t table, const char *column);
/* trace_window.c: whether a step looks at other rows; and from walked rows of such a step to the
 * rows it looked at. */
bool dtx_trace_windows(const struct dtx_plan_step *st);
void dtx_trace_back_window(struct trace *t, uint32_t bit);
/* The keys of a group_by as pairs {left: column of `out`, right: column of the result}; a new list.
 * `out` is `in` with the formulas among the keys added as columns. */
json_t *dtx_trace_group_keys(struct trace *t, const json_t *by, const char *in, const char *out);
json_t *dtx_trace_wider_keys(struct trace *t, const struct dtx_plan_step *st);
/* The join of a step with its sides exchanged, so that it starts at the other table. A new step;
 * `how` is that of a join. */
json_t *dtx_trace_turned(struct trace *t, const struct dtx_plan_step *st, const char *how,
                         const char *with);
/* The join for a step that matches rows by equal values in `cols`, from either table. A new step.
 * It leaves out columns that only the run knows; then it finds too many rows, and sets
 * t->out->wide. */
json_t *dtx_trace_matched(struct trace *t, const struct dtx_plan_step *st, const char *how,
                          const char *with);
/* Which column in `values_from` has the values of a wide column, by its name, and what the long
 * rows must be called (*label). NULL: it is an id, or not certain. */
const char *dtx_trace_wider_value(const struct dtx_plan_step *st, const char *name,
                                  const char **label);
/* Which long rows of a group went into given columns of the wide row that pivot_wider made. */
enum trace_wider {
	TRACE_WIDER_ALL,   /* all: the columns are ids, or none are given */
	TRACE_WIDER_NAMED, /* those with the name that the column has */
	TRACE_WIDER_LOOSE  /* not known */
};
enum trace_wider dtx_trace_wider_rows(struct trace *t, const struct dtx_plan_step *st,
                                      const json_t *cols);
/* Makes `out` from the long rows in `in` whose name is that of one of the columns `cols`. */
void dtx_trace_wider_name(struct trace *t, const struct dtx_plan_step *st, const json_t *cols,
                          const char *in, const char *out);
/* Makes `out` from the long rows of a wide row; or, if it sets *cells, from those that filled the
 * cells of `cols` alone. Returns true if `out` has all rows and the caller must still find those of
 * the cells. */
bool dtx_trace_wider_in(struct trace *t, uint32_t i, const json_t *cols, const char *in,
                        const char *out, bool *cells);
/* Adds a walk for a cell that no long row filled. Then the other long rows of its wide row decided
 * that the row exists. `cell`: the rows that filled the cell, which must be the last walk; `group`:
 * the wide row; `on`: from dtx_trace_wider_keys. */
void dtx_trace_wider_empty(struct trace *t, uint32_t i, const char *cell, const char *group,
                           const json_t *on, const struct trace_via *via);
/* trace_cells.c: sets t->by_cells, if the walks are not stored. Needs t->need and t->judged. */
void dtx_trace_choose_cells(struct trace *t);
/* Goes back from the rows `group` of walk w through a step whose op says where its
 * cells come from. False if it cannot; then it has added nothing. */
bool dtx_trace_back_cells(struct trace *t, uint32_t bit, uint32_t w, const char *group);
/* trace_lean.c: rewrites the traced plan so that it gives the same results with less work. */
void dtx_trace_lean(struct trace *t);
/* The step whose result has this name; NULL: none. */
json_t *dtx_trace_made_by(const json_t *steps, const char *name);
/* Whether all formulas of the step use only the row that they are computed for. */
bool dtx_trace_plain(const json_t *step);
/* trace_pin.c: if t->ask->known allows it, adds filters before all steps. */
#define TRACE_PIN "pin"
void dtx_trace_pin(struct trace *t);
/* Appends the condition that finds the asked row by its known cells. *nth: which one of the rows
 * that meet it is meant, 0 if not known. False if nothing is known that a condition can use. */
bool dtx_trace_known(struct trace *t, struct dtx_buf *where, int64_t *nth);
/* trace_prune.c: removes row numbers that are not used and steps that are not read. */
void dtx_trace_prune(struct trace *t);
/* trace_terms.c: sets t->grouper and t->grouped, the step that made the asked value from a
 * group. */
void dtx_trace_grouper(struct trace *t);
/* Adds outputs that show what a formula used: the asked row in the table where its column was
 * computed; and for step i, if it made the asked value from a group, what its aggregates took or
 * gave. `cols`: the columns of the step that the asked value depends on; `rows`: the rows of the
 * group. */
void dtx_trace_terms(struct trace *t);
void dtx_trace_group_terms(struct trace *t, uint32_t i, const json_t *cols, const char *rows);
/* trace_back.c: adds an output to the traced plan. */
void dtx_trace_output(struct trace *t, enum dtx_trace_part part, uint32_t input, json_t *direct,
                      const char *table);
/* Adds the outputs: the table to check, the asked row, and the input rows that it came from. */
void dtx_trace_back(struct trace *t);

#endif
