/* An estimate of the memory that a plan's tables need, made before rows are read. */
#ifndef DTX_PLAN_EXEC_MEMORY_NEED_H
#define DTX_PLAN_EXEC_MEMORY_NEED_H

#include "core/plan/pipe/graph.h"

struct dtx_memory_need {
	uint64_t least;  /* bytes; with less than this the run cannot succeed; 0: not known */
	uint64_t enough; /* bytes; with this it does; 0: not known */
	int32_t step;    /* the step that needs `least`; -1 */
};

/* The steps of the graph must be bound and its needs known. */
struct dtx_memory_need dtx_memory_need(const struct dtx_graph *g);

#endif
