/* One typed attempt to run a plan: the tables that its steps have made so far, and the pipelines
 * that make the rest.
 *
 * A table is made only when it is asked for (dtx_graph_table, dtx_graph_stream); steps that are
 * maps become part of the pipeline that reads them and leave no table. A table is freed when its
 * last reader is done. The executor (core/plan/exec) discards the whole graph and makes a new one
 * when a type was guessed too narrow or a step turns out to need a snippet.
 *
 * All functions are called from one thread; the pipelines that they run use the workers. */
#ifndef DTX_PLAN_PIPE_GRAPH_H
#define DTX_PLAN_PIPE_GRAPH_H

#include "core/plan/exec/exec.h"
#include "core/plan/pipe/pipe.h"
#include "core/plan/bind/column_needs.h"

struct dtx_spread;
struct dtx_node { /* one table of the plan: inputs first, then the results of the steps */
	struct dtx_table *table; /* NULL until it is made, and after its last reader */
	uint32_t uses;           /* readers that are still to come */
	/* Of a step: reads its result, which other processes have made; NULL. Owned by these. */
	struct dtx_reader *reader;
};
struct dtx_stepx {
	struct dtx_opctx *ox;    /* one per input table; NULL until prepared */
	struct dtx_opstat *stat; /* never NULL */
	struct dtx_operator oper;
	struct dtx_checks checks;
	bool has_shared, done;
	bool bound;     /* the typed engine has bound it */
	bool resolved;  /* the schema of its result is final */
	bool offered;   /* other processes could have made its result; see dtx_graph_draw */
	bool stopped;   /* it or a later limit was full before all rows were read */
	int32_t region; /* number of its region; -1: the typed engine runs it */
};
/* For a process that makes a part of the rows of one source (core/cluster): dtx_graph_stream then
 * reads only this part of an input, and only through these maps. */
struct dtx_graph_part {
	int32_t table;                /* the input */
	const uint32_t *step, *input; /* as in struct dtx_phys_source */
	uint32_t nsteps;
	uint64_t base; /* added to the numbers of pieces, to tell rows of several inputs apart */
	uint64_t first_rows; /* of a sink after the maps, see struct dtx_opctx */
	struct dtx_scan_slice *slice;
};
struct dtx_graph {
	struct dtx_plan *plan;
	const struct dtx_exec_opts *opts;
	struct dtx_run run;
	struct dtx_arena arena;
	struct dtx_flow flow;
	struct dtx_column_needs push;
	struct dtx_reader **reader;        /* per input; borrowed */
	bool *was_read;                    /* per input; borrowed */
	const struct dtx_read_opts *read;  /* per input: the options of its reader; borrowed */
	const struct dtx_graph_part *part; /* NULL: all rows are made */
	struct dtx_spread *spread; /* makes rows in other processes; borrowed; NULL: nothing does */
	bool *by_snippet;          /* per input: its table was made by a snippet */
	struct dtx_node *node;
	struct dtx_stepx *step;
	struct dtx_errlist *warnings;
	pthread_mutex_t warn_lock;
	struct json_t *checks; /* verdicts of checks, a JSON array; borrowed; NULL: not wanted */
};

/* The plan, the options and the warnings are borrowed and must outlive the graph. Clear it also
 * after a failure. */
DTX_MUSTUSE enum dtx_code dtx_graph_init(struct dtx_graph *g, struct dtx_plan *plan,
                                         const struct dtx_exec_opts *opts,
                                         const struct dtx_run *run, struct dtx_errlist *warnings,
                                         struct dtx_err *err);
void dtx_graph_clear(struct dtx_graph *g);
/* Whether the schema of table t is final. t may be -1: then it is not. */
bool dtx_graph_knows(const struct dtx_graph *g, int32_t t);

/* Works out which columns of each table are needed, and as bytes or as values, from what is bound
 * so far. Outputs, steps that are not bound yet and regions need whole tables. values[i] says that
 * output i needs values; values may be NULL. */
DTX_MUSTUSE enum dtx_code dtx_graph_needs(struct dtx_graph *g, const bool *values,
                                          struct dtx_err *err);
/* Makes table t in full, if it is not there. typed: the value of every cell is made, so that each
 * cell is known to fit its type. *out is borrowed from the graph. */
DTX_MUSTUSE enum dtx_code dtx_graph_table(struct dtx_graph *g, int32_t t, bool typed,
                                          struct dtx_table **out, struct dtx_err *err);
/* Says that one reader of table t is done; the last one frees the table. */
void dtx_graph_release(struct dtx_graph *g, int32_t t);
/* Streams table t into `end`, on all workers. */
DTX_MUSTUSE enum dtx_code dtx_graph_stream(struct dtx_graph *g, int32_t t,
                                           const struct dtx_pipe_end *end, struct dtx_err *err);
/* Moves work of a source into its reader, as the physical plan says: a first filter, and the number
 * of rows after which the reader may stop. In core/plan/bind/column_needs_reader.c. */
DTX_MUSTUSE enum dtx_code dtx_graph_push(struct dtx_graph *g, struct dtx_pipe_source *source,
                                         const struct dtx_phys_source *drawn, struct dtx_err *err);
/* Runs a step on a whole table whose columns depend on the rows (pivot, transpose), and sets the
 * schema of its result. */
DTX_MUSTUSE enum dtx_code dtx_graph_open_step(struct dtx_graph *g, uint32_t step,
                                              struct dtx_err *err);
/* Starts the checks of table t: an `expect` and rules. step is the step that they belong to, -1 for
 * those of the plan. */
DTX_MUSTUSE enum dtx_code dtx_graph_promise(struct dtx_graph *g, int32_t t, int step,
                                            const struct dtx_expect *e,
                                            const struct dtx_rules *rules,
                                            struct dtx_checks *checks, struct dtx_err *err);
/* Makes the contexts of a step, one per input table, and starts the checks of its result. Does
 * nothing if they are there. */
DTX_MUSTUSE enum dtx_code dtx_graph_prepare(struct dtx_graph *g, uint32_t step,
                                            struct dtx_err *err);
/* Lets other processes make the state of a sink of step ox->step, of its whole input, and loads it
 * into `local`. *done is false if they cannot. */
DTX_MUSTUSE enum dtx_code dtx_graph_states(struct dtx_graph *g, const struct dtx_sink *sink,
                                           const struct dtx_opctx *ox, void *local, bool *done,
                                           struct dtx_err *err);
/* Lets other processes format the rows of table t for an output, and gives them to `to`. *done is
 * false if they cannot. */
struct dtx_spread_text;
DTX_MUSTUSE enum dtx_code dtx_graph_texts(struct dtx_graph *g, int32_t t,
                                          const struct dtx_spread_text *to, bool *done,
                                          struct dtx_err *err);
/* Draws the pipeline that makes the rows of table t, and then runs it, or has other processes do
 * so. Results that these can make by keys (`keys` of struct dtx_op) they make now; such a result is
 * then a source. *out is zero at first. */
struct dtx_phys_pipe;
DTX_MUSTUSE enum dtx_code dtx_graph_draw(struct dtx_graph *g, int32_t t, struct dtx_phys_pipe *out,
                                         struct dtx_err *err);
/* What other processes have done of a pipeline, up to its end, is done here too: its inputs are
 * read. */
DTX_MUSTUSE enum dtx_code
dtx_graph_spread_done(struct dtx_graph *g, const struct dtx_phys_pipe *drawn, struct dtx_err *err);
/* Runs what must run before a pipeline, and opens its maps. */
DTX_MUSTUSE enum dtx_code dtx_graph_before(struct dtx_graph *g, const struct dtx_phys_pipe *drawn,
                                           struct dtx_err *err);
/* Starts the checks of a step's result, unless they are started already. */
DTX_MUSTUSE enum dtx_code dtx_graph_start_checks(struct dtx_graph *g, uint32_t step,
                                                 struct dtx_err *err);
/* How many threads a pipeline over table t is worth. */
unsigned dtx_graph_workers(const struct dtx_graph *g, int32_t t);

#endif
