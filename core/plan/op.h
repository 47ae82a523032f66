/* What an op is: each op_NAME.c in a folder of ops/ defines one constant descriptor.
 *
 * Binding, execution and translations use its parameters and functions; the validator, the JSON
 * Schema, `dtx ops`, the man page and the generic tests are made from it. An op may have several
 * kinds (map, sink, whole); then bind chooses one by the parameters (dtx_bind_kind).
 *
 * Emitting a batch is a synchronous call into the next op. dtx_emit_batch borrows the batch for the
 * call, and the maker of the batch frees it afterwards. A map owns the batch that it is given: it
 * may narrow and change it and emit it, or emit others. */
#ifndef DTX_PLAN_OP_H
#define DTX_PLAN_OP_H

#include "core/base/log.h"
#include "core/base/param/param.h"
#include "core/data/batch.h"
#include "core/data/spill/spill.h"
#include "core/expr/expr.h"
#include "core/data/tablehash.h"

struct dtx_bind;
struct dtx_emit;
struct dtx_frame;
struct dtx_frame_entry;
struct dtx_frame_view;
struct dtx_sql_step;

/* What ops may know about the run. */
struct dtx_run {
	unsigned workers;
	uint32_t batch_rows; /* limit for the batches that an op makes */
	const atomic_bool *cancel;
	struct dtx_progress *progress; /* NULL: progress is not shown */
	const struct dtx_log *log;
	struct dtx_spill *spill;  /* NULL: nothing may be written to disk */
	int32_t run_date;         /* in days */
	int64_t max_rows, growth; /* limits; growth: rows out <= growth * rows in + 1e6 */
	int64_t max_cols, pivot_cols;
	/* This process has only the rows with some keys (`keys` of struct dtx_op), so a step says
	 * nothing of all rows. */
	bool by_keys;
};

/* Numbers of rows dropped and values set to null, by reason. Thread safe; ops count once per
 * batch. */
#define DTX_STAT_REASONS 12
struct dtx_opstat {
	atomic_llong rows_in, rows_out, ns; /* set by the executor */
	atomic_llong bytes;             /* highest memory of the pipelines that end in this step */
	struct dtx_spill_count spilled; /* increased whenever something is written to disk */
	struct {
		_Atomic(const char *)
			reason; /* static text, such as "false", "null", "duplicate" */
		atomic_llong n;
	} drop[DTX_STAT_REASONS];
	char table_hash[DTX_TABLEHASH_TEXT]; /* hash of the table after this step (checkpoint); "":
	                                      * none */
};

struct dtx_opctx {         /* constant while batches flow, except stat */
	const void *args;  /* the parameters, filled in by params[] */
	const void *bound; /* what bind made, see dtx_bind_state */
	unsigned ninputs;
	const struct dtx_schema *const *in; /* per input table */
	const struct dtx_schema *out;
	const uint8_t *need; /* per output column an enum dtx_need; the op may leave out a column
	                        with DTX_NEED_SKIP */
	unsigned input;      /* for a union: the input that these batches come from */
	uint64_t first_rows; /* for a sink: only this many rows of its result are needed; 0: all */
	void *shared;        /* for a map: the result of the op's sink */
	const struct dtx_run *run;
	struct dtx_opstat *stat;
	int step;                     /* index of the step */
	struct dtx_errlist *warnings; /* add to it by dtx_op_warn */
	void *warn_lock;
	struct json_t *checks; /* for the record: what a flush found about the promises of the step;
	                        * NULL: nothing */
	const char *cells;     /* the column whose cells' origin is wanted (dtx_op_facts.cells);
	                        * NULL: none is */
};

/* The origin of the cells of one column of a result: three more columns after all others, which
 * only an op with `facts.cells` makes, and only where ox->cells names the column.
 *
 *   dtx_from  int64  row of the input, from 1; null: none
 *   dtx_of    text   column of the input; null: the one with the name of the result's column
 *   dtx_kind  text   "cell"   it is that cell, or made of cells of that row alone
 *                    "pair"   decided by that cell and the one above it
 *                    "group"  made of all rows whose keys (`facts.groups`) are those of that row
 *                    "keys"   a made cell in a row that is made of such rows
 *                    "all"    made of all rows
 *                    "row"    a made cell in that row
 *                    "made"   a made cell in a made row */
#define DTX_CELLS_FROM "dtx_from"
#define DTX_CELLS_OF   "dtx_of"
#define DTX_CELLS_KIND "dtx_kind"
enum { DTX_CELLS_COLUMNS = 3 };
/* Their fields: DTX_CELLS_COLUMNS items. */
extern const struct dtx_field dtx_cells_fields[];

/* Adds n to the count of a reason ("false", "null", "div_zero", "unmatched_left" ...). n may be
 * 0. */
void dtx_op_count(const struct dtx_opctx *ox, const char *reason, int64_t n);
/* Adds a warning for the record and stderr. Thread safe. */
void dtx_op_warn(const struct dtx_opctx *ox, enum dtx_code code, const char *fmt, ...)
	DTX_PRINTF(3, 4);
/* The same for `count` rows or cells of one kind. The warning names the place of the first one: a
 * row of b, and a column of b->schema (-1: none). Thread safe. */
void dtx_op_warn_at(const struct dtx_opctx *ox, enum dtx_code code, const struct dtx_batch *b,
                    uint32_t row, int32_t column, int64_t count, const char *fmt, ...)
	DTX_PRINTF(7, 8);
/* Adds the counts of an evaluation to the reasons of the step. */
void dtx_op_evals(const struct dtx_opctx *ox, const struct dtx_eval_counts *counts);

/* Gives b to the next op, which borrows it for the call. The batch keeps the seq of the input; the
 * emitter sets sub. The batches of a sink or whole op get seq = 0, 1, 2 ... in the order of
 * emission. */
DTX_MUSTUSE enum dtx_code dtx_emit_batch(struct dtx_emit *out, struct dtx_batch *b,
                                         struct dtx_err *err);
/* True if no more rows are needed (a later limit has enough), so that the op may stop early. */
bool dtx_emit_full(const struct dtx_emit *out);
/* An ordered map calls this when it needs no more input, as a limit does that has enough rows. */
void dtx_emit_stop(struct dtx_emit *out);

struct dtx_map { /* from batch to batch, streaming */
	enum dtx_code (*init_local)(const struct dtx_opctx *, void **local, struct dtx_err *);
	enum dtx_code (*batch)(const struct dtx_opctx *, void *local, struct dtx_batch *,
	                       struct dtx_emit *, struct dtx_err *);
	/* Called once after the last batch, on one worker. A right join emits its unmatched rows
	 * here. */
	enum dtx_code (*flush)(const struct dtx_opctx *, void *const *locals, unsigned n,
	                       struct dtx_emit *, struct dtx_err *);
	void (*free_local)(const struct dtx_opctx *, void *local);
	/* Of a map with DTX_OP_NARROWS that keeps the rows for which a condition is true: the
	 * condition (NULL: it is not such a step), and what counts rows that a reader left out, as
	 * it is false for them. Both may be NULL. */
	const struct dtx_bound *(*condition)(const struct dtx_opctx *);
	void (*left_out)(const struct dtx_opctx *, int64_t rows);
	/* A map with DTX_OP_ORDERED has one `local`, and takes batches in the order of seq. `ahead`
	 * may be NULL. Otherwise any worker calls it for a batch that waits for its turn, to do
	 * work that does not depend on earlier batches; `batch` then does the rest. `batch` may use
	 * `local` at the same time. */
	void (*ahead)(const struct dtx_opctx *, void *local, struct dtx_batch *);
	/* For a map whose batches several processes are given, each some (core/cluster); both or
	 * none. `save` returns what a local has collected for flush, a new reference (NULL: out of
	 * memory); `load` adds it to a local of another process, whose other tables were the same.
	 * That process then calls flush. Where `load` or flush fails, or flush warns, one process
	 * does the run again. */
	struct json_t *(*save)(const struct dtx_opctx *, void *local);
	enum dtx_code (*load)(const struct dtx_opctx *, void *local, const struct json_t *saved,
	                      struct dtx_err *);
};
struct dtx_sink {        /* consumes all batches; combine merges partitions in parallel */
	unsigned nparts; /* number of hash partitions; 0: combine is called once, with part 0 */
	enum dtx_code (*init_local)(const struct dtx_opctx *, void **local, struct dtx_err *);
	enum dtx_code (*consume)(const struct dtx_opctx *, void *local, struct dtx_batch *,
	                         struct dtx_err *);
	enum dtx_code (*combine)(const struct dtx_opctx *, unsigned part, void *const *locals,
	                         unsigned n, struct dtx_err *);
	/* Emits the result, or stores it in *shared, which becomes ox->shared. A stored result is
	 * for the op's map (join), or is made in parts while it is read. At the call, *shared is
	 * what the previous input table stored. */
	enum dtx_code (*finalize)(const struct dtx_opctx *, void *const *locals, unsigned n,
	                          void **shared, struct dtx_emit *, struct dtx_err *);
	void (*free_local)(const struct dtx_opctx *, void *local);
	void (*free_shared)(const struct dtx_opctx *, void *shared);
	/* Only with `make`, for a sink that stored its result in ox->shared. Returns the number of
	 * parts, and sets *origin to where their rows come from (NULL if the rows are new). `make`
	 * emits the rows of one part; any worker may call it at any time. The result is the parts
	 * in order. */
	uint64_t (*parts)(const struct dtx_opctx *, const struct dtx_origin **origin);
	enum dtx_code (*make)(const struct dtx_opctx *, uint64_t part, struct dtx_emit *,
	                      struct dtx_err *);
	/* For a sink whose states several processes can make (core/cluster); both or none. `save`
	 * adds what a local has consumed to a frame, as sections that point into the local. `load`
	 * adds one such section to a local, which keeps `keep` as long as it needs the bytes.
	 * Positions of rows are those of the batches, so these must differ between processes. */
	enum dtx_code (*save)(const struct dtx_opctx *, void *local, struct dtx_frame *,
	                      struct dtx_err *);
	enum dtx_code (*load)(const struct dtx_opctx *, void *local, const struct dtx_frame_view *,
	                      const struct dtx_frame_entry *, struct dtx_owner *keep,
	                      struct dtx_err *);
};

/* A whole op may read a sink's result and not its input. The sink consumes the input while it is
 * read, and leaves its result in parts. Its context has `bound` and `out` from here; the op keeps
 * its own. */
struct dtx_digest {
	const struct dtx_sink *sink;
	const void *bound;
	const struct dtx_schema *out;
};

enum dtx_op_flags {
	DTX_OP_ORDERED = 1 << 0,     /* takes batches in order */
	DTX_OP_TAKES_SEL = 1 << 1,   /* can use selections; otherwise its batches are dense */
	DTX_OP_OPEN = 1 << 2,        /* output columns depend on the data */
	DTX_OP_MAY_TRIGGER = 1 << 3, /* can fail with a code that starts the fallback */
	DTX_OP_CONCAT = 1 << 4,      /* its inputs go through its map one after the other */
	DTX_OP_BUILD = 1 << 5,       /* input 0 goes through the map, all others through the sink */
	DTX_OP_RAW = 1 << 6,         /* wants cells without a type if the input has them (repair) */
	DTX_OP_NARROWS = 1 << 7,     /* a map without locals that narrows the batch it is given and
	                              * emits it; it may run in the reader */
	DTX_OP_DX = 1 << 8, /* the Python module dx (sandbox/guest) has a function of this name and
	                     * parameters; without it and without `pandas`, dtx compile refuses */
	DTX_OP_PLACES = 1 << 9,      /* counts rows of the source. Python knows their numbers only
	                              * directly after an input. */
	DTX_OP_SAME_ROWS = 1 << 10,  /* a map with one row out for each row in, in order, so that
	                              * a later limit can stop the reader */
	DTX_OP_SEES_ALL = 1 << 11,   /* sees every row: a later limit does not stop the reader */
	DTX_OP_FIRST_ROWS = 1 << 12, /* a sink that keeps only ox->first_rows rows */
	DTX_OP_RETYPES = 1 << 13     /* infers the types of columns again, unless the plan declares
	                              * them: its function in dx gets the declared ones in `typed` */
};

enum dtx_op_kind { DTX_KIND_MAP, DTX_KIND_SINK, DTX_KIND_WHOLE };

/* --- How rows and columns of a result relate to those of the inputs ---
 *
 * Each op states this in `facts`. `why`, `why-not`, lineage, explain and the record use only these
 * facts and do not know any op by name. An op may state nothing; then every row of its result is
 * said to come from all rows of its inputs. */
enum dtx_op_rows {
	DTX_ROWS_WHOLE,    /* any row may come from all rows of all inputs (transpose) */
	DTX_ROWS_SAME,     /* one for each row of the input, in order (derive) */
	DTX_ROWS_SORTED,   /* the rows of the input in another order (sort) */
	DTX_ROWS_FILTERED, /* rows of the input, chosen by their own values (filter) */
	DTX_ROWS_CHOSEN,   /* rows of the input, chosen by the values of other rows too (limit) */
	DTX_ROWS_SPLIT,    /* none, one or several for each row of the input (explode) */
	DTX_ROWS_LONGER,   /* one for each row and each of the columns that become rows */
	DTX_ROWS_WINDOW,  /* as SAME, with values computed from the rows at distance `lo` to `hi` */
	DTX_ROWS_GROUPED, /* one for all rows with the same values in the parameter `groups` */
	DTX_ROWS_WIDER,  /* the same, and the names of some columns come from cells (pivot_wider) */
	DTX_ROWS_JOINED, /* a row of the first table with a row of the second one, or just one of
	                  * the two */
	/* Rows of the first table that match a row of the second one, or no row. They match as
	 * `on` or `using` say, else by equal values, also nulls, in the columns `cols`. */
	DTX_ROWS_SEMI,
	DTX_ROWS_ANTI,
	DTX_ROWS_LOOKUP, /* rows of the first table with one column of the second one */
	DTX_ROWS_UNION   /* the rows of all tables, one table after the other */
};
/* Where the values of a column come from, for rows that are passed on. */
enum dtx_op_values {
	DTX_VALUES_ANY,      /* any columns of the row */
	DTX_VALUES_KEPT,     /* the column with the same name, unchanged */
	DTX_VALUES_LISTED,   /* the same, for the columns in `cols` (select) */
	DTX_VALUES_UNLISTED, /* the same, for the columns that are not in `cols` (drop) */
	DTX_VALUES_SET,      /* the same, except for the formulas in the parameter `set` */
	DTX_VALUES_RENAMED, /* one column with another name: `map` has {from, to}; without `map` the
	                     * column at the same position */
	DTX_VALUES_CHANGED  /* made of the cell of the same row and name (cast, nullify) */
};
struct dtx_op_facts {
	enum dtx_op_rows rows;
	enum dtx_op_values values;
	/* Parameters with the columns and formulas that decide which rows exist, such as
	 * "on,using". */
	const char *decides;
	/* The parameter that lists columns by which rows are grouped. Rows in different groups do
	 * not affect each other. */
	const char *groups;
	/* A step without `cols` uses all columns if it has this parameter; "": always; NULL: never.
	 */
	const char *all_cols;
	const char *indirect; /* OpenLineage's name for what the deciding columns do; NULL: it
	                       * follows from `rows` */
	int64_t lo, hi; /* for WINDOW: distance from a row to the rows it looks at; INT64_MIN and
	                 * INT64_MAX: no limit */
	bool loose;     /* for WINDOW: it looks at only some of the rows from lo to hi */
	bool as_read;   /* looks at rows as the reader delivered them, and at all their cells */
	bool fills;     /* blank cells get the value from above, or from below (`dir` is "up") */
	bool borrows;   /* a value of `cols` or `as` may come from another row; only the run shows
	                 * from which, see `cells` */
	bool passes;    /* checks rows and passes all of them on */
	bool cells;     /* for WHOLE, and for steps that pass rows on and borrow: the op can say
	                 * where each cell comes from, see DTX_CELLS_FROM. With `values` KEPT or
	                 * CHANGED a cell that the input has comes from the column of its name */
	/* The parameter that lists the kinds of rows to drop. With one kind in the list, the step
	 * drops only rows of that kind. */
	const char *kinds;
	bool first; /* the rows that stay are the first ones in the order of the step */
	/* The result stays the same if the step is first done for each of several consecutive parts
	 * of its rows, and then for the rows that this leaves, in the order of the parts. */
	bool by_parts;
	/* Of a step that reads other tables: what comes of a row of the first table depends on no
	 * other row of it, and nothing comes after its last row. */
	bool each_row;
};

struct dtx_example {
	const char *step;    /* one step as JSON */
	const char *in;      /* the current table as CSV */
	const char *out;     /* the expected result as CSV; NULL if `error` is set */
	const char *with;    /* the table named "other" as CSV; NULL: none */
	const char *error;   /* name of the expected code; NULL: none */
	const char *message; /* the expected message, if `error` is set */
};

/* For `check`: fails at a parameter of the step, given as "/sep". */
#define DTX_PARAM_FAIL(err, code, where, ...)                                                      \
	do {                                                                                       \
		rc = dtx_err_set((err), (code), __FILE__, __LINE__, __VA_ARGS__);                  \
		dtx_err_at((err), (where));                                                        \
		goto out;                                                                          \
	} while (0)

struct dtx_op {
	const char *name, *aliases, *summary, *notes;
	unsigned flags, ninputs; /* ninputs: 1; 2: it has `with`; 0: any number of `with` */
	const struct dtx_param *params;
	const struct dtx_example *examples;
	size_t nparams, nexamples, args_size;
	/* The parameter with the list of {as, expr} that the parameter `across` repeats for several
	 * columns (core/plan/bind/across.h); NULL: the op has no `across`. */
	const char *across;
	const char *unsupported; /* known parameters that this build does not have: "sets,frame" */
	const char *presets;     /* presets of aliases: "left_join:how=left,tail:from=end" */
	/* For a composition of core ops: their steps as JSON. The parser puts them in place of the
	 * step (core/plan/parse/expand_macro.c), so such an op has no bind, map, sink or whole. */
	const char *macro;
	/* For a macro whose core steps depend on the names or types of columns: completes the core
	 * steps, n copies of the JSON of `macro` with the parameters put in. It may not change
	 * their ops or tables. Called when the first of them is bound: b->in[0] is the table of the
	 * step as written, and findings are about parameters as written ("/cols"). In the static
	 * phase, when not all columns or types are known, it may clear a step, whose result then
	 * may have any columns. */
	enum dtx_code (*compose)(struct dtx_bind *b, const void *args, json_t *const *step,
	                         size_t n, struct dtx_err *err);
	/* For an op that finds several tables. `prefix` is a text parameter: later steps call the
	 * tables PREFIX_1, PREFIX_2 ... The parser replaces the step by one step per table
	 * (core/plan/parse/expand_split.c), and sets the parameter `pick` of each to its number. */
	const char *prefix, *pick;
	struct dtx_op_facts facts;
	/* Adapts `facts` to the parameters of a step. NULL: they do not depend on parameters. */
	void (*facts_of)(const json_t *canonical, struct dtx_op_facts *facts);
	/* Appends the reason why a row was dropped, as a sentence without a full stop. `with` is
	 * the name of the table on the other side, "" if none. NULL: no reason can be
	 * given. */
	void (*dropped)(const json_t *canonical, const char *with, struct dtx_buf *out);
	/* Writes the names of the other tables that a step reads to names[0..max); returns how many
	 * there are. */
	size_t (*tables)(const void *args, const char **names, size_t max);
	/* Checks that involve several parameters, without data. It returns the first error
	 * (DTX_PARAM_FAIL), because it cannot add findings as bind does with dtx_bind_fail. */
	enum dtx_code (*check)(const void *args, struct dtx_err *);
	/* Determines the output schema and which input columns are needed. Called in the static
	 * phase, when types may be unknown, and again when they are known. */
	enum dtx_code (*bind)(struct dtx_bind *, void *args, struct dtx_err *);
	/* For a step whose rows affect only rows with equal keys (dtx_key_equal), so that several
	 * processes can do it, each for some keys (core/cluster). Makes the keys of a dense batch
	 * of input table `input`: *n columns, which like the array *col are the caller's. b NULL:
	 * only *n is wanted; it is 0 where this step has no such keys. The step then emits rows in
	 * the order of those of table 0, each with the id of the row of table 0 from which it
	 * comes. NULL: never. */
	enum dtx_code (*keys)(const struct dtx_opctx *, unsigned input, struct dtx_batch *b,
	                      struct dtx_column ***col, uint32_t *n, struct dtx_err *err);
	const struct dtx_map *map;
	const struct dtx_sink *sink;
	enum dtx_code (*whole)(const struct dtx_opctx *, struct dtx_table *, struct dtx_emit *,
	                       struct dtx_err *);
	/* For whole ops with DTX_OP_OPEN: the schema of the output once the input table exists. It
	 * is allocated in the arena of that table's run. */
	enum dtx_code (*whole_schema)(const struct dtx_opctx *, struct dtx_table *,
	                              struct dtx_arena *, const struct dtx_schema **,
	                              struct dtx_err *);
	/* For maps in order: after how many input rows no more are needed, so that the reader may
	 * stop early; -1: all are needed. */
	int64_t (*wants)(const void *args);
	/* Codes that start the fallback and that the op may fail with at run time, other than those
	 * of formulas and declared types, such as "pivot_not_unique". */
	const char *triggers;
	void (*explain)(const void *args, struct dtx_buf *);
	/* Appends a pandas expression over df0. False or NULL if none, so dx must be called
	 * (DTX_OP_DX). */
	bool (*pandas)(const void *args, struct dtx_buf *);
	/* Appends a SELECT, see core/plan/compile/sqltext.h. False or NULL if none. */
	bool (*sql)(const struct dtx_sql_step *, struct dtx_buf *);
};
extern const struct dtx_op *const dtx_ops[]; /* generated; NULL after the last one */
/* What each is for, as its folder says: "rows", "join". Generated; as many as dtx_ops. */
extern const char *const dtx_op_groups[];

/* Finds an op by name or alias. *preset is the preset of the alias ("how=left") or NULL. Returns
 * NULL if there is no such op. */
const struct dtx_op *dtx_op_find(const char *name, const char **preset);
/* Finds an op by its name, which canonical steps have; NULL if there is no such op. */
const struct dtx_op *dtx_op_named(const char *name);
/* The facts of a step with these parameters. `op` NULL: all rows are DTX_ROWS_WHOLE. */
struct dtx_op_facts dtx_op_facts(const struct dtx_op *op, const json_t *canonical);
/* Writes all names and aliases, for suggestions; returns how many. */
size_t dtx_op_names(const char **names, size_t max);

#endif
