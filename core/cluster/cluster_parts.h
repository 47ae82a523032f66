/* What the files of the driver share. */
#ifndef DTX_CLUSTER_CLUSTER_PARTS_H
#define DTX_CLUSTER_CLUSTER_PARTS_H

#include "core/cluster/sides.h"
#include "core/plan/pipe/physical.h"
#include "core/plan/pipe/spread.h"

/* In splittable.c: how many maps of a source of `pipe` fragments can do. sides: the small tables
 * that there are; NULL: those that steps need will be there. */
uint32_t dtx_cluster_splits(const struct dtx_graph *g, const struct dtx_phys_pipe *pipe,
                            const struct dtx_phys_source *source, const struct dtx_sides *sides);
/* The step after the first nsteps maps of a source, whose rows are then table t, if fragments can
 * do it early: each for its own rows, of which few stay. The driver then does it for those of all
 * fragments. -1: there is no such step. */
int32_t dtx_cluster_early(const struct dtx_graph *g, const struct dtx_phys_source *source,
                          uint32_t nsteps, int32_t t);
/* The pieces of the input of a source that fragments can read, and the bytes of a piece. 0: this
 * process has to read it. */
uint64_t dtx_cluster_pieces(const struct dtx_graph *g, const struct dtx_phys_source *source,
                            uint64_t *bytes);
/* The bytes of the pieces that readers cut inputs into for fragments of so many bytes; 0: those
 * that they always have. */
uint32_t dtx_cluster_piece_of(uint64_t bytes);

#endif
