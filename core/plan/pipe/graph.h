/* One typed attempt: tables of the plan as they are made, and the pipelines that make them. */
#ifndef DTX_PLAN_PIPE_GRAPH_H
#define DTX_PLAN_PIPE_GRAPH_H

#include "core/plan/exec/exec.h"
#include "core/plan/pipe/pipe.h"
#include "core/plan/bind/column_needs.h"

struct dtx_node {                /* a table */
	struct dtx_table *table; /* held while somebody still reads it */
	uint32_t uses;           /* readers left */
};
struct dtx_stepx {
	struct dtx_opctx *ox;    /* per input table; NULL until prepared */
	struct dtx_opstat *stat; /* never NULL */
	struct dtx_operator link;
	struct dtx_checks tap;
	bool has_shared, done;
	bool bound;     /* typed binding is there */
	bool resolved;  /* its result's schema is final */
	bool stopped;   /* a limit behind it, or it, was full before the end */
	int32_t region; /* -1: typed */
};
struct dtx_graph {
	struct dtx_plan *plan;
	const struct dtx_exec_opts *opts;
	struct dtx_run run;
	struct dtx_arena arena;
	struct dtx_flow flow;
	struct dtx_column_needs push;
	struct dtx_reader **reader; /* borrowed, per input */
	bool *was_read;             /* borrowed, per input */
	bool *by_snippet;           /* per input: a snippet made its table */
	struct dtx_node *node;
	struct dtx_stepx *step;
	struct dtx_errlist *warnings;
	pthread_mutex_t warn_lock;
	struct json_t *checks; /* borrowed; NULL: nobody asks */
};

DTX_MUSTUSE enum dtx_code dtx_graph_init(struct dtx_graph *g, struct dtx_plan *plan,
                                         const struct dtx_exec_opts *opts,
                                         const struct dtx_run *run, struct dtx_errlist *warnings,
                                         struct dtx_err *err);
void dtx_graph_clear(struct dtx_graph *g);
/* The schema of table t is final; t may be -1. */
bool dtx_graph_knows(const struct dtx_graph *g, int32_t t);

/* Needs of all columns from what is bound so far: outputs, steps not bound yet and regions want
 * whole tables.  values[i]: output i needs values. */
DTX_MUSTUSE enum dtx_code dtx_graph_needs(struct dtx_graph *g, const bool *values,
                                          struct dtx_err *err);
/* Makes table t, in full; typed: every value is confirmed.  Borrowed from the node. */
DTX_MUSTUSE enum dtx_code dtx_graph_table(struct dtx_graph *g, int32_t t, bool typed,
                                          struct dtx_table **out, struct dtx_err *err);
/* One reader of t less. */
void dtx_graph_release(struct dtx_graph *g, int32_t t);
/* Streams table t into `end`. */
DTX_MUSTUSE enum dtx_code dtx_graph_stream(struct dtx_graph *g, int32_t t,
                                           const struct dtx_pipe_end *end, struct dtx_err *err);
/* column_needs_reader.c: moves work of a leg into its reader, as dtx_phys_make tells. */
DTX_MUSTUSE enum dtx_code dtx_graph_push(struct dtx_graph *g, struct dtx_pipe_source *leg,
                                         struct dtx_err *err);
/* A whole op whose columns come from its rows: runs it, sets the schema of its result. */
DTX_MUSTUSE enum dtx_code dtx_graph_open_step(struct dtx_graph *g, uint32_t step,
                                              struct dtx_err *err);
/* Starts the checks of an expect over table t; step -1: the plan's. */
DTX_MUSTUSE enum dtx_code dtx_graph_promise(struct dtx_graph *g, int32_t t, int step,
                                            const struct dtx_expect *e,
                                            const struct dtx_rules *rules, struct dtx_checks *tap,
                                            struct dtx_err *err);
/* Starts the checks of a step's expect, once. */
DTX_MUSTUSE enum dtx_code dtx_graph_tap(struct dtx_graph *g, uint32_t step, struct dtx_err *err);
/* Threads for a pipeline that reads table t. */
unsigned dtx_graph_workers(const struct dtx_graph *g, int32_t t);

#endif
