/* One pipeline: legs (a reader or a table, and maps) that stream one after the other into one end.
 *
 * A worker claims a morsel, numbered seq, and carries it through the maps while it is in cache.
 * Where order counts (a map that wants it, a writer, a table) batches go through a ring.  What
 * comes out of the last map that wants order is shared again: as tasks, whose results a second ring
 * puts in order. */
#ifndef DTX_PLAN_PIPE_PIPE_H
#define DTX_PLAN_PIPE_PIPE_H

#include "core/io/reader.h"
#include "core/plan/op.h"
#include "core/plan/pipe/reorder_buffer.h"

struct dtx_pipe;

/* A promise about a table, fed while its rows pass. */
struct dtx_checks {
	struct dtx_expect_run *run; /* NULL: none */
	struct dtx_rules_run *rules;
	struct dtx_rules_side *side; /* what rules know of other tables; NULL */
	pthread_mutex_t lock;
};

/* A map step in pipelines; its locals live as long as the link. */
struct dtx_operator {
	const struct dtx_op *op;
	struct dtx_opctx *ox; /* one per input of the step */
	bool ordered, sees_all;
	uint64_t last_id; /* of the last row that a limit let through in this leg, or DTX_NO_ROW */
	void **local;     /* per worker; ordered: [0] only */
	unsigned nlocals;
	struct dtx_checks *tap;
	/* per input: the input column that each output column is, -1: none */
	const int32_t *const *from;
	uint32_t last_leg; /* flushed after this leg */
};
struct dtx_pass {
	struct dtx_operator *link;
	unsigned input;
	/* Batches that come with `in` leave with `out`: columns have moved, cells are cited by
	 * where they are in the source. */
	const struct dtx_origin *in, *out;
	bool limited; /* a limit behind it may want none of the rows that it fails on */
};
/* A sink's result, made in parts by the workers that read it. */
struct dtx_made {
	const struct dtx_op *op; /* NULL: none */
	const struct dtx_opctx *ox;
	struct dtx_checks *tap;
	const struct dtx_origin *origin;
	uint64_t nparts;
};
struct dtx_pipe_source {
	struct dtx_reader *reader;       /* or */
	int holders;                     /* of the bytes of its source, before it is read */
	struct dtx_table *table;         /* borrowed, or */
	const struct dtx_schema *schema; /* of its rows: who keeps them may outlive the table */
	struct dtx_made made;
	int32_t table_id;
	struct dtx_scan *scan;
	bool stopped; /* a limit was full before the end */
	unsigned cut; /* then: passes up to it, whose counts are of rows that came by chance, too */
	bool limited; /* there is a limit in it */
	struct dtx_pass *pass;
	unsigned npass, cap;
};
struct dtx_pipe_end {
	void *arg;
	/* Unordered: any worker eats. */
	enum dtx_code (*eat)(void *arg, unsigned worker, struct dtx_batch *b, struct dtx_err *err);
	/* Ordered: any worker prepares (may be NULL), then in order. */
	enum dtx_code (*prepare)(void *arg, unsigned worker, struct dtx_batch *b,
	                         struct dtx_reorder_item *item, struct dtx_err *err);
	enum dtx_code (*put)(void *arg, struct dtx_batch *b, struct dtx_reorder_item *item,
	                     struct dtx_err *err);
};
struct dtx_pipe {
	const struct dtx_run *run;
	struct dtx_arena *arena; /* origins live here, as long as the batches */
	unsigned workers;
	struct dtx_pipe_source *leg;
	uint32_t nlegs, cap_legs;
	struct dtx_pipe_end end;
	/* while it runs */
	struct dtx_pipe_source *now;
	unsigned cut;  /* first pass of the ordered part; npass + 1: none */
	unsigned back; /* first pass that tasks begin with; npass + 2: there are none */
	uint64_t base; /* seq of the leg's first morsel */
	_Atomic uint64_t claim, seqs; /* next batch of a table or part; most seqs seen */
	atomic_bool stop;
	unsigned beside; /* workers that have a core each beside the hash of an input */
	atomic_bool dry; /* a worker came to the end; relaxed: who sees it late only waits longer */
	pthread_mutex_t lock; /* of what follows */
	bool failed;
	uint64_t failed_at;       /* seqs behind it are not wanted */
	_Atomic uint64_t full_at; /* last seq that is wanted */
	uint64_t full_id;         /* the last row that is, DTX_NO_ROW: none; with full_at */
	struct dtx_err err;
	uint64_t err_seq;
	struct dtx_reorder ring, tail; /* of morsels, of tasks */
	uint64_t out_seq;              /* of the next task; the ordered part's */
	uint32_t *order_sub;           /* sub numbers of the ordered part, per pass */
	uint64_t order_seq;
};

void dtx_pipe_init(struct dtx_pipe *p, const struct dtx_run *run, unsigned workers);
void dtx_pipe_clear(struct dtx_pipe *p);
/* Legs and passes; the arrays are the pipe's. */
DTX_MUSTUSE struct dtx_pipe_source *dtx_pipe_leg(struct dtx_pipe *p);
DTX_MUSTUSE bool dtx_pipe_source_pass(struct dtx_pipe_source *leg, struct dtx_operator *link,
                                      unsigned input);
/* Runs all legs to the end.  Errors: the smallest position wins; retype wins over all. */
DTX_MUSTUSE enum dtx_code dtx_pipe_run(struct dtx_pipe *p, struct dtx_err *err);

/* What a map, a sink or a whole op emits into. */
struct dtx_emit {
	enum dtx_code (*take)(struct dtx_emit *e, struct dtx_batch *b, struct dtx_err *err);
	bool (*full)(const struct dtx_emit *e);
	void (*stop)(struct dtx_emit *e); /* dtx_emit_stop */
};
static inline bool dtx_checks_is_on(const struct dtx_checks *tap)
{
	return tap && (tap->run || tap->rules);
}
/* Back to no promises. */
void dtx_checks_clear(struct dtx_checks *tap);
/* The verdicts go to checks, rules of severity warn to warnings; expect_failed at the first of them
 * that is an error. */
DTX_MUSTUSE enum dtx_code dtx_checks_finish(struct dtx_checks *tap, json_t *checks,
                                            struct dtx_errlist *warnings, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_checks_batch(struct dtx_checks *tap, struct dtx_batch *b,
                                           struct dtx_err *err);

DTX_MUSTUSE enum dtx_code dtx_operator_open(struct dtx_operator *l, unsigned workers,
                                            struct dtx_err *err);
void dtx_operator_close(struct dtx_operator *l);

#endif
