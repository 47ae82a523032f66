/* The memory that a plan's tables need, before it runs. */
#ifndef DTX_PLAN_EXEC_MEMORY_NEED_H
#define DTX_PLAN_EXEC_MEMORY_NEED_H

#include "core/plan/pipe/graph.h"

struct dtx_memory_need {
	uint64_t least;  /* less than this cannot do; 0: not known */
	uint64_t enough; /* this does; 0: not known */
	int32_t step;    /* that needs the least; -1 */
};

/* Of a graph whose steps are bound and whose needs are known. */
struct dtx_memory_need dtx_memory_need(const struct dtx_graph *g);

#endif
