/* What a finished run knows about itself: counts, schemas, where each result column comes from. */
#ifndef DTX_PLAN_FACTS_H
#define DTX_PLAN_FACTS_H

#include "core/plan/region.h"

/* Fills inputs, steps, regions and lineage of the result. */
DTX_MUSTUSE enum dtx_code dtx_facts(const struct dtx_graph *g, const struct dtx_regions *regions,
                                    struct dtx_reader **reader, const struct dtx_schema **schema,
                                    struct dtx_exec_result *r, struct dtx_err *err);
/* lineage.c: formulas down to source columns. */
DTX_MUSTUSE enum dtx_code dtx_lineage(const struct dtx_graph *g, struct dtx_exec_result *r,
                                      struct dtx_err *err);

#endif
