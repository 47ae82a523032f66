/* A pipeline streams rows from one or more sources, through the maps of the plan, into one end.
 *
 * A source is a reader, a table that was made before, or the result of a sink; its stages are the
 * maps that its batches go through, in order. Sources run one after the other, each on all workers.
 *
 * A worker claims a morsel (a numbered piece of the source, `seq`) and carries its batches through
 * the maps while they are in its cache. A map that needs rows in order (limit, fill, a running
 * number), a writer and a table must see morsels by number, so everything from the first such place
 * (`cut`) on is the ordered part: a reorder buffer lets one worker at a time run it, the one with
 * the smallest number not yet done. After the last map that needs order (`back`), batches are
 * handed out again as tasks, which any worker may run; a second reorder buffer puts their results
 * in order.
 *
 * The scheme is morsel-driven parallelism: V. Leis, P. Boncz, A. Kemper, T. Neumann, "Morsel-Driven
 * Parallelism: A NUMA-Aware Query Evaluation Framework for the Many-Core Age", SIGMOD 2014. */
#ifndef DTX_PLAN_PIPE_PIPE_H
#define DTX_PLAN_PIPE_PIPE_H

#include "core/io/reader.h"
#include "core/plan/op.h"
#include "core/plan/pipe/reorder_buffer.h"

struct dtx_pipe;

/* The checks of one table (the plan's `expect` and `rules`), which see each batch of it that
 * passes. The lock serializes the workers that feed them. */
struct dtx_checks {
	struct dtx_expect_run *run; /* NULL: the table has no `expect` */
	struct dtx_rules_run *rules;
	struct dtx_rules_side *side; /* rows of other tables that the rules refer to; NULL */
	pthread_mutex_t lock;
};

/* A map step as part of a pipeline. One operator may be in several sources (both branches of a
 * union end in it); its locals live until dtx_operator_close. */
struct dtx_operator {
	const struct dtx_op *op;
	struct dtx_opctx *ox; /* one per input of the step */
	bool ordered, sees_all;
	bool saved; /* another process calls flush, see `save` of the map */
	/* id of the last row that a limit let through for this source, or DTX_NO_ROW */
	uint64_t last_id;
	void **local; /* state per worker; of an ordered map only [0] is used */
	unsigned nlocals;
	struct dtx_checks *checks;
	/* from[input][c] is the column of that input that output column c is a copy of; -1: none */
	const int32_t *const *from;
	/* number of the last source that goes through it: flushed after that one */
	uint32_t last_source;
};
struct dtx_stage {
	struct dtx_operator *oper;
	unsigned input;
	/* Batches that arrive with origin `in` leave with `out`: the map has moved the columns, and
	 * a cell of a workbook is cited by its place in the source. */
	const struct dtx_origin *in, *out;
	bool limited; /* a later limit may drop the rows on which this map fails */
};
/* The result of a sink, in numbered parts that the reading workers ask the sink to make. */
struct dtx_made {
	const struct dtx_op *op; /* NULL: the source is not the result of a sink */
	const struct dtx_opctx *ox;
	struct dtx_checks *checks;
	const struct dtx_origin *origin;
	uint64_t nparts;
};
struct dtx_pipe_source {
	struct dtx_reader *reader; /* exactly one of reader, table and made.op is set */
	int holders;               /* references to the bytes of its file before it is read */
	struct dtx_table *table;   /* borrowed */
	/* of the table's rows; unlike the table, it lives until the end of the run */
	const struct dtx_schema *schema;
	struct dtx_made made;
	int32_t table_id;
	struct dtx_scan *scan;
	bool stopped; /* a limit was full before the end of the source */
	/* When stopped: the number of stages up to and including that limit. The row counts of
	 * these steps include rows that were in flight by chance. */
	unsigned cut;
	bool limited; /* one of its stages is a limit */
	struct dtx_stage *stage;
	unsigned nstages, cap;
};
struct dtx_pipe_end {
	void *arg;
	uint32_t step; /* 1 + index of the step that takes the rows; 0: an output */
	/* An end that needs no order: any worker calls it at any time, for its own worker number.
	 */
	enum dtx_code (*eat)(void *arg, unsigned worker, struct dtx_batch *b, struct dtx_err *err);
	/* An end that needs order: any worker calls prepare (which may be NULL) as soon as it has a
	 * batch, and put is called by one worker at a time, in the order of the rows. */
	enum dtx_code (*prepare)(void *arg, unsigned worker, struct dtx_batch *b,
	                         struct dtx_reorder_item *item, struct dtx_err *err);
	enum dtx_code (*put)(void *arg, struct dtx_batch *b, struct dtx_reorder_item *item,
	                     struct dtx_err *err);
};
struct dtx_pipe {
	const struct dtx_run *run;
	struct dtx_arena *arena; /* holds origins, which must live as long as the batches */
	unsigned workers;
	struct dtx_pipe_source *source;
	uint32_t nsources, cap_sources;
	struct dtx_pipe_end end;
	/* state of the source that is running */
	struct dtx_pipe_source *now;
	/* index of the first stage of the ordered part; nstages + 1: nothing needs order */
	unsigned cut;
	unsigned back; /* index of the stage with which tasks begin; nstages + 2: there are no tasks
	                */
	uint64_t base; /* seq of the source's first morsel: numbers go on from source to source */
	_Atomic uint64_t claim; /* next batch or part to claim */
	_Atomic uint64_t seqs;  /* one more than the largest seq seen */
	atomic_bool stop;
	unsigned beside; /* workers for which a core is left while the input is hashed */
	/* a worker reached the end of the source; relaxed, as a worker that sees it late only waits
	 * longer */
	atomic_bool dry;
	pthread_mutex_t lock; /* guards the fields up to err_seq */
	bool failed;
	uint64_t failed_at;       /* seq of the smallest failure: later morsels need no work */
	_Atomic uint64_t full_at; /* the seq in which a limit became full */
	/* last row that this limit let through, or DTX_NO_ROW; valid with full_at */
	uint64_t full_id;
	struct dtx_err err;
	uint64_t err_seq;
	struct dtx_reorder reorder, task_reorder; /* order of morsels; order of tasks */
	uint64_t out_seq; /* number of the next task; only the ordered part writes it */
	/* per stage, the next batch number within order_seq; of the ordered part */
	uint32_t *order_sub;
	uint64_t order_seq;
};

void dtx_pipe_init(struct dtx_pipe *p, const struct dtx_run *run, unsigned workers);
void dtx_pipe_clear(struct dtx_pipe *p);
/* Add a source to the pipeline, and a stage to the end of a source. The arrays belong to the
 * pipeline; a pointer to a source is valid until the next one is added. NULL, false: out of memory.
 */
DTX_MUSTUSE struct dtx_pipe_source *dtx_pipe_add_source(struct dtx_pipe *p);
DTX_MUSTUSE bool dtx_pipe_source_add_stage(struct dtx_pipe_source *source,
                                           struct dtx_operator *oper, unsigned input);
/* Runs all sources to their end. Of several errors the one with the smallest position in the input
 * is reported, as one worker would meet it first; only a retype error (a value outside the guessed
 * type) wins over all others, because it restarts the run. */
DTX_MUSTUSE enum dtx_code dtx_pipe_run(struct dtx_pipe *p, struct dtx_err *err);

/* Where a map, a sink or an op on whole tables puts the batches it makes. */
struct dtx_emit {
	enum dtx_code (*take)(struct dtx_emit *e, struct dtx_batch *b, struct dtx_err *err);
	bool (*full)(const struct dtx_emit *e);
	void (*stop)(struct dtx_emit *e); /* see dtx_emit_stop */
};
static inline bool dtx_checks_is_on(const struct dtx_checks *c)
{
	return c && (c->run || c->rules);
}
/* Frees the state of the checks; a next start begins from nothing. The lock stays. */
void dtx_checks_clear(struct dtx_checks *c);
/* Ends the checks. Their verdicts are appended to `checks`, broken rules of severity warn to
 * `warnings`. Fails with expect_failed, placed at the first check that failed with severity error.
 */
DTX_MUSTUSE enum dtx_code dtx_checks_finish(struct dtx_checks *c, json_t *checks,
                                            struct dtx_errlist *warnings, struct dtx_err *err);
/* Feeds one batch; any thread may call it. Does nothing where no checks were started. */
DTX_MUSTUSE enum dtx_code dtx_checks_batch(struct dtx_checks *c, struct dtx_batch *b,
                                           struct dtx_err *err);

/* Makes the locals of an operator: one per worker, or one where the map is ordered. The caller
 * closes it, also after a failure. */
DTX_MUSTUSE enum dtx_code dtx_operator_open(struct dtx_operator *l, unsigned workers,
                                            struct dtx_err *err);
void dtx_operator_close(struct dtx_operator *l);

#endif
