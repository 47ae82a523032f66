/* The physical plan: which pipelines there are, and what each reader does on behalf of the steps
 * that follow it.
 *
 * dtx_phys_draw works out one pipeline: from which sources the rows of a table come, through which
 * maps they go, and what must run before.  It is used twice.  The executor (graph.c) draws a
 * pipeline when it is about to run it, since schemas become known while a plan runs; dtx_phys_make
 * draws all pipelines of a plan for `dtx explain`.  So what explain says is what is done. */
#ifndef DTX_PLAN_PIPE_PHYSICAL_H
#define DTX_PLAN_PIPE_PHYSICAL_H

#include "core/plan/bind/flow.h"

enum dtx_phys_end {
	DTX_PHYS_OUTPUT,  /* of: number of the output */
	DTX_PHYS_SINK,    /* of: the step that consumes the batches */
	DTX_PHYS_WHOLE,   /* of: the step that needs the whole table */
	DTX_PHYS_TABLE,   /* of: the step whose result has several readers */
	DTX_PHYS_SNIPPET, /* of: first step of the region */
	DTX_PHYS_NOWHERE  /* rows without a reader, made so that checks see them; of: -1 */
};
extern const char *const dtx_phys_end_name[];

/* How the rows of a step's result reach a pipeline that reads them. */
enum dtx_phys_way {
	DTX_PHYS_STREAMED, /* the step is a map of the pipeline */
	DTX_PHYS_PARTS,    /* the step's sink is filled before; workers then ask it for parts */
	DTX_PHYS_MADE,     /* the table is made before, in full */
	DTX_PHYS_THERE     /* the table is there */
};
/* A source of rows, with the maps that they go through. */
struct dtx_phys_source {
	int32_t table; /* an input, or the result of a step */
	/* the maps, in order; input[i]: for which of its tables step[i] gets these rows */
	uint32_t *step, *input;
	uint32_t nsteps;
	bool narrowed;       /* step[0] runs inside the reader */
	int64_t limit;       /* rows after which the reader may stop; -1: it must read all */
	int32_t limit_step;  /* the step with that limit; -1 */
	uint64_t first_rows; /* rows of its result that a sink needs to keep; 0: all */
	/* for explain: how many fragments an engine reads it in, and how many of the maps they do
	 */
	uint64_t fragments;
	uint32_t spread;
	/* one more than the step that they do after these, by keys (`keys` of struct dtx_op); 0 */
	uint32_t by_keys;
};
/* A step that must run before the rows of a pipeline flow: a map of it, which opens and reads its
 * build sides, or the step whose result is a source of it. */
struct dtx_phys_before {
	uint32_t step;
	enum dtx_phys_way way;
	uint32_t source; /* number of the source, unless STREAMED */
};
struct dtx_phys_pipe {
	enum dtx_phys_end end;
	int32_t of;
	bool spread_end; /* for explain: fragments do its end, too; the driver merges */
	struct dtx_phys_source *source;
	uint32_t nsources;
	struct dtx_phys_before *before; /* in the order in which they run */
	uint32_t nbefore;
	size_t cap_sources, cap_before;
};
struct dtx_phys { /* pipelines in the order in which they run; all memory is in an arena */
	struct dtx_phys_pipe *pipe;
	uint32_t npipes;
};

/* A plan as far as it is bound, and what is known of its tables. */
struct dtx_phys_view {
	const struct dtx_plan *plan;
	const struct dtx_flow *flow;
	struct dtx_arena *arena; /* of all that is drawn */
	/* The way of a step's result, as things stand. */
	enum dtx_phys_way (*way)(const void *arg, uint32_t step);
	const void *arg;
};
/* The way of the result of a step that has an op and is not from a snippet, if the table is not
 * there. readers: how many read it. */
enum dtx_phys_way dtx_phys_way_of(const struct dtx_plan *plan, const struct dtx_flow *flow,
                                  uint32_t step, uint32_t readers);
/* Adds to *out, which is zero at first, the sources from which the rows of table t come, and what
 * must run before. Nothing else is changed. Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_phys_draw(const struct dtx_phys_view *v, int32_t t,
                                        struct dtx_phys_pipe *out, struct dtx_err *err);

/* Fills *out with all pipelines. region[s] is the number of the region of step s, or -1; steps that
 * are not bound, or that have no op, count as snippets. */
DTX_MUSTUSE enum dtx_code dtx_phys_make(const struct dtx_plan *plan, const struct dtx_flow *flow,
                                        const int32_t *region, struct dtx_arena *arena,
                                        struct dtx_phys *out, struct dtx_err *err);

#endif
