/* What an operation is: one const descriptor per ops/op_*.c.
 *
 * Parameters, schema flow, execution and translations are read from it; validator, JSON Schema,
 * `dtx ops`, man page and generic tests are made from it.  Where the parameters decide the kind,
 * bind picks it (dtx_bind_kind).
 *
 * Emitting is a synchronous call into the next operation: dtx_emit_batch borrows the batch for the
 * call, whoever made it frees it afterwards.  A map may narrow and change the batch it is given
 * (it is its own) and emit it, or emit others. */
#ifndef DTX_PLAN_OP_H
#define DTX_PLAN_OP_H

#include "core/base/log.h"
#include "core/base/param/param.h"
#include "core/data/batch.h"
#include "core/data/spill.h"
#include "core/expr/expr.h"
#include "core/data/tablehash.h"

struct dtx_bind;
struct dtx_emit;
struct dtx_sql_step;

/* Facts of the run that operations may read. */
struct dtx_run {
	unsigned workers;
	uint32_t batch_rows; /* batches an op makes: at most this many rows */
	const atomic_bool *cancel;
	struct dtx_progress *progress; /* NULL: nobody looks */
	const struct dtx_log *log;
	struct dtx_spill *spill;  /* NULL: nothing leaves memory */
	int32_t run_date;         /* day */
	int64_t max_rows, growth; /* limits; growth: rows out <= growth * rows in + 1e6 */
	int64_t max_cols, pivot_cols;
};

/* Rows dropped and values nulled, by reason; counted once per batch, thread safe. */
#define DTX_STAT_REASONS 12
struct dtx_opstat {
	atomic_llong rows_in, rows_out, ns; /* kept by the executor */
	atomic_llong bytes;                 /* most memory of the pipelines that end in the step */
	struct dtx_spill_count spilled;     /* added to where something is put on disk */
	struct {
		_Atomic(const char *) reason; /* static text: "false", "null", "duplicate" */
		atomic_llong n;
	} drop[DTX_STAT_REASONS];
	char table_hash[DTX_TABLEHASH_TEXT]; /* of the table at this step (checkpoint); "" */
};

struct dtx_opctx {         /* read-only while batches flow, but for stat */
	const void *args;  /* filled from params[] */
	const void *bound; /* what bind made: dtx_bind_state */
	unsigned ninputs;
	const struct dtx_schema *const *in; /* per input table */
	const struct dtx_schema *out;
	const uint8_t *need; /* per output column: enum dtx_need; the op may skip 0 */
	unsigned input;      /* which input these batches come from (union) */
	uint64_t first_rows; /* of a sink's result so many rows from its start; 0: all */
	void *shared;        /* a sink's result, for the op's map */
	const struct dtx_run *run;
	struct dtx_opstat *stat;
	int step;                     /* from 0 */
	struct dtx_errlist *warnings; /* use dtx_op_warn */
	void *warn_lock;
	struct json_t *checks; /* what a flush found of its promises, for the record; NULL: none */
};

/* Adds n to a reason ("false", "null", "div_zero", "unmatched_left" ...). n 0 does nothing. */
void dtx_op_count(const struct dtx_opctx *ox, const char *reason, int64_t n);
/* One warning for the record and stderr; thread safe. */
void dtx_op_warn(const struct dtx_opctx *ox, enum dtx_code code, const char *fmt, ...)
	DTX_PRINTF(3, 4);
/* Adds the evaluation counters to the step's reasons. */
void dtx_op_evals(const struct dtx_opctx *ox, const struct dtx_eval_counts *counts);

/* Hands b to the next operation.  seq is kept from the input; sub is set by the emitter. A sink's
 * or whole op's output gets seq = 0, 1, 2 ... in order of emission. */
DTX_MUSTUSE enum dtx_code dtx_emit_batch(struct dtx_emit *out, struct dtx_batch *b,
                                         struct dtx_err *err);
/* True when nobody wants more rows (a limit below is full): the op may stop early. */
bool dtx_emit_full(const struct dtx_emit *out);
/* An ordered map that wants no more input (a limit that is full). */
void dtx_emit_stop(struct dtx_emit *out);

struct dtx_map { /* batch to batch, streaming */
	enum dtx_code (*init_local)(const struct dtx_opctx *, void **local, struct dtx_err *);
	enum dtx_code (*batch)(const struct dtx_opctx *, void *local, struct dtx_batch *,
	                       struct dtx_emit *, struct dtx_err *);
	/* After the last batch, once, on one worker (right join: unmatched rows). */
	enum dtx_code (*flush)(const struct dtx_opctx *, void *const *locals, unsigned n,
	                       struct dtx_emit *, struct dtx_err *);
	void (*free_local)(const struct dtx_opctx *, void *local);
	/* DTX_OP_ORDERED maps have one local, used in order of seq.  ahead, where there is one, is
	 * what any worker does to a batch that waits for its turn: `batch` does what it left.  The
	 * local is in use meanwhile. */
	void (*ahead)(const struct dtx_opctx *, void *local, struct dtx_batch *);
};
struct dtx_sink {        /* eats batches; combine merges partitions in parallel */
	unsigned nparts; /* hash partitions; 0: combine is called once, part 0 */
	enum dtx_code (*init_local)(const struct dtx_opctx *, void **local, struct dtx_err *);
	enum dtx_code (*consume)(const struct dtx_opctx *, void *local, struct dtx_batch *,
	                         struct dtx_err *);
	enum dtx_code (*combine)(const struct dtx_opctx *, unsigned part, void *const *locals,
	                         unsigned n, struct dtx_err *);
	/* Emits the result, or leaves it in ox->shared by way of *shared: for the op's map (join),
	 * or to be made in parts while it is read.  *shared is what the table before left there. */
	enum dtx_code (*finalize)(const struct dtx_opctx *, void *const *locals, unsigned n,
	                          void **shared, struct dtx_emit *, struct dtx_err *);
	void (*free_local)(const struct dtx_opctx *, void *local);
	void (*free_shared)(const struct dtx_opctx *, void *shared);
	/* With `make`, of a sink that left its result in ox->shared: how many parts it has, where
	 * their rows come from (*origin; stays NULL when rows were made).  make emits the rows of
	 * a part, any worker at any time; parts follow each other in the result. */
	uint64_t (*parts)(const struct dtx_opctx *, const struct dtx_origin **origin);
	enum dtx_code (*make)(const struct dtx_opctx *, uint64_t part, struct dtx_emit *,
	                      struct dtx_err *);
};

/* What a whole op is given in place of its input: the result of a sink over it, made while the rows
 * are read.  The sink leaves its result in parts and gets `bound` and `out` in its context; the op
 * itself goes on with its own. */
struct dtx_digest {
	const struct dtx_sink *sink;
	const void *bound;
	const struct dtx_schema *out;
};

enum dtx_op_flags {
	DTX_OP_ORDERED = 1 << 0,     /* takes batches in order */
	DTX_OP_TAKES_SEL = 1 << 1,   /* else gets dense batches */
	DTX_OP_OPEN = 1 << 2,        /* output columns come from data */
	DTX_OP_MAY_TRIGGER = 1 << 3, /* can raise a code that falls back */
	DTX_OP_CONCAT = 1 << 4,      /* its inputs stream through its map one after the other */
	DTX_OP_BUILD = 1 << 5,       /* inputs 1 ... go through the sink, input 0 through the map */
	DTX_OP_RAW = 1 << 6,         /* wants untyped cells where the input has them (repair) */
	DTX_OP_NARROWS = 1 << 7,     /* map without locals: narrows the batch it is given and emits
	                              * it; may run inside the reader */
	DTX_OP_DX = 1 << 8,          /* the module dx has a function of this name and parameters */
	DTX_OP_PLACES = 1 << 9,      /* counts rows of the source: Python knows them behind an input
	                              * alone */
	DTX_OP_SAME_ROWS = 1 << 10,  /* map: one row out for each row in, in order */
	DTX_OP_SEES_ALL = 1 << 11,   /* judges every row: a limit behind it stops no reader */
	DTX_OP_FIRST_ROWS = 1 << 12, /* a sink that keeps no more than ox->first_rows asks for */
	DTX_OP_RETYPES = 1 << 13     /* columns stay and are typed anew where the plan declares no
	                              * type: its function of dx is told in `typed` which those are */
};

enum dtx_op_kind { DTX_KIND_MAP, DTX_KIND_SINK, DTX_KIND_WHOLE };

/* --- how rows and columns of a result relate to those of the inputs ---
 *
 * Each op states it, in `facts`; `why`, `why-not`, lineage, explain and the record read it here and
 * know no op by name.  An op that states nothing is answered for all the same: each of its rows is
 * then said to come from all rows of its inputs. */
enum dtx_op_rows {
	DTX_ROWS_WHOLE,    /* any row may come from all rows of all inputs (transpose) */
	DTX_ROWS_SAME,     /* one for each row of the input, in order (derive) */
	DTX_ROWS_SORTED,   /* the rows of the input in another order (sort) */
	DTX_ROWS_FILTERED, /* rows of the input that stay for what they have themselves (filter) */
	DTX_ROWS_CHOSEN,   /* rows of the input that stay for what other rows have too (limit) */
	DTX_ROWS_SPLIT,    /* none, one or several for each row of the input (explode) */
	DTX_ROWS_LONGER,   /* one for each row and each of its columns that are made rows */
	DTX_ROWS_WINDOW,   /* as SAME, with values made of rows around, from `lo` to `hi` */
	DTX_ROWS_GROUPED,  /* one for all rows with the same values of the parameter `groups` */
	DTX_ROWS_WIDER,    /* the same, where some columns are named by cells (pivot_wider) */
	DTX_ROWS_JOINED,   /* a row of the first table with a row of the second; or one of them */
	DTX_ROWS_SEMI,     /* rows of the first table for which the second one has a row */
	DTX_ROWS_ANTI,     /* rows of the first table for which the second one has no row */
	DTX_ROWS_LOOKUP,   /* rows of the first table with one column of the second */
	DTX_ROWS_UNION     /* the rows of all tables, one table below the other */
};
/* Where a column of the result has its values from, of rows that are passed on. */
enum dtx_op_values {
	DTX_VALUES_ANY,      /* from any columns of the row */
	DTX_VALUES_KEPT,     /* from the column of its name, unchanged */
	DTX_VALUES_LISTED,   /* the same, of the columns in `cols` (select) */
	DTX_VALUES_UNLISTED, /* the same, of the columns that are not in `cols` (drop) */
	DTX_VALUES_SET,      /* the same, but for the formulas of the parameter `set` */
	DTX_VALUES_RENAMED, /* from one column, under another name: `map` has {from, to}; without it
	                     * columns keep their places */
	DTX_VALUES_CHANGED  /* from the column of its name, changed (cast) */
};
struct dtx_op_facts {
	enum dtx_op_rows rows;
	enum dtx_op_values values;
	/* Parameters whose columns and formulas decide which rows there are: "on,using". */
	const char *decides;
	/* The parameter that lists columns: rows which differ in them do not see each other. */
	const char *groups;
	/* A step without `cols` takes all columns, if it has this parameter; "": always; NULL: no
	 */
	const char *all_cols;
	const char *indirect; /* what OpenLineage calls the deciding columns; NULL: by `rows` */
	int64_t lo, hi;       /* WINDOW: places from a row to those it sees; INT64_MIN, INT64_MAX */
	bool loose;           /* WINDOW: it sees only some of the rows from lo to hi */
	bool as_read; /* looks at rows as the reader delivered them, and at all their cells */
	bool fills;   /* blank cells take the cell above, or below (`dir` is "up") */
	bool borrows; /* a value of `cols` or `as` may come from other rows, unknown which */
	bool passes;  /* checks its rows and passes all of them on */
	/* A list of kinds of rows that it drops; with one of them alone it drops those. */
	const char *kinds;
	bool first; /* the rows that stay are the first ones, by the order of the step */
};

struct dtx_example {
	const char *step;  /* JSON of one step */
	const char *in;    /* CSV of the current table */
	const char *out;   /* expected CSV; NULL with `error` */
	const char *with;  /* CSV of the table named "other"; NULL */
	const char *error; /* expected code name */
};

/* For `check`: fails at a parameter of the step, "/sep". */
#define DTX_PARAM_FAIL(err, code, where, ...)                                                      \
	do {                                                                                       \
		rc = dtx_err_set((err), (code), __FILE__, __LINE__, __VA_ARGS__);                  \
		dtx_err_at((err), (where));                                                        \
		goto out;                                                                          \
	} while (0)

struct dtx_op {
	const char *name, *aliases, *summary, *notes;
	unsigned flags, ninputs; /* ninputs 1; 2: has `with`; 0: one and any number of `with` */
	const struct dtx_param *params;
	const struct dtx_example *examples;
	size_t nparams, nexamples, args_size;
	const char *unsupported; /* catalogue parameters this build lacks: "sets,frame" */
	const char *presets;     /* "left_join:how=left,tail:from=end" alias presets */
	/* A composition of core ops: their steps as JSON, which parsing puts in place of the step
	 * (core/plan/parse/expand_macro.c).  Such an op has no bind, map, sink or whole. */
	const char *macro;
	/* The parameter, a text, under which later steps name the tables that the op finds:
	 * PREFIX_1, PREFIX_2 ...; parsing puts a step for each of them in place of the one
	 * (core/plan/parse/expand_split.c), and sets `pick` of it to the number. */
	const char *prefix, *pick;
	struct dtx_op_facts facts;
	/* Where they depend on the parameters: changes what `facts` says.  NULL: they do not. */
	void (*facts_of)(const json_t *canonical, struct dtx_op_facts *facts);
	/* Why a row is left out, as a sentence without a full stop; `with`: name of the table on
	 * the other side, "" if there is none.  NULL: there is no more to say than that it is. */
	void (*dropped)(const json_t *canonical, const char *with, struct dtx_buf *out);
	/* Names of the further tables a step reads, into names[0..max); returns how many. */
	size_t (*tables)(const void *args, const char **names, size_t max);
	/* Checks over several parameters, without data; findings via dtx_bind_fail are not possible
	 * here, so it returns the first (DTX_PARAM_FAIL). */
	enum dtx_code (*check)(const void *args, struct dtx_err *);
	/* Schema flow and demands; runs in the static phase (types may be unknown) and again when
	 * they are known. */
	enum dtx_code (*bind)(struct dtx_bind *, void *args, struct dtx_err *);
	const struct dtx_map *map;
	const struct dtx_sink *sink;
	enum dtx_code (*whole)(const struct dtx_opctx *, struct dtx_table *, struct dtx_emit *,
	                       struct dtx_err *);
	/* whole ops with DTX_OP_OPEN: the schema their output has, once the table is there; the
	 * arena is the table's run. */
	enum dtx_code (*whole_schema)(const struct dtx_opctx *, struct dtx_table *,
	                              struct dtx_arena *, const struct dtx_schema **,
	                              struct dtx_err *);
	/* Maps in order: rows of the input after which no more are wanted, -1: all.  The reader may
	 * then stop early. */
	int64_t (*wants)(const void *args);
	/* Codes that start the fallback and that the operation may raise while rows flow, besides
	 * those of formulas and of declared types: "pivot_not_unique". */
	const char *triggers;
	void (*explain)(const void *args, struct dtx_buf *);
	/* An expression over df0; false or NULL: none, a call of dx has to do (DTX_OP_DX). */
	bool (*pandas)(const void *args, struct dtx_buf *);
	/* A SELECT, see core/plan/explain/sqltext.h; false or NULL: none. */
	bool (*sql)(const struct dtx_sql_step *, struct dtx_buf *);
};
extern const struct dtx_op *const dtx_ops[]; /* generated, NULL at the end */

/* By name or alias; *preset is the alias preset ("how=left") or NULL. NULL: unknown. */
const struct dtx_op *dtx_op_find(const char *name, const char **preset);
/* By its name alone, as canonical steps have it; NULL: unknown. */
const struct dtx_op *dtx_op_named(const char *name);
/* What the op says of a step with these parameters.  op NULL: nothing, its rows are WHOLE. */
struct dtx_op_facts dtx_op_facts(const struct dtx_op *op, const json_t *canonical);
/* Every name and alias, for suggestions; returns how many were written. */
size_t dtx_op_names(const char **names, size_t max);

#endif
