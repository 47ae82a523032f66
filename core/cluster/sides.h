/* Small tables that fragments read whole: those that a map of their rows looks up.
 *
 * The driver makes such a table as always, and keeps a copy of its batches while its own step takes
 * them. A fragment gets them from a file of the exchange folder, in the same order. */
#ifndef DTX_CLUSTER_SIDES_H
#define DTX_CLUSTER_SIDES_H

#include <pthread.h>

#include "core/cluster/job.h"

struct dtx_side_batch {
	uint64_t pos;
	struct dtx_buf bytes;
};
struct dtx_side {
	uint32_t step, input; /* it is this table of the step */
	struct dtx_side_batch *batch;
	size_t n, cap;
	uint64_t bytes, rows;
	bool large;                /* it is no small table, so nothing is kept */
	uint64_t size;             /* of the file */
	char name[DTX_SHA256_HEX]; /* of the file, which is its hash; "": not written yet */
};
struct dtx_sides {
	pthread_mutex_t lock; /* for what follows, while a table is made */
	struct dtx_side *side;
	size_t n, cap;
};

/* Takes a batch, see struct dtx_spread. */
DTX_MUSTUSE enum dtx_code dtx_sides_add(struct dtx_sides *x, uint32_t step, unsigned input,
                                        struct dtx_batch *b, struct dtx_err *err);
/* Whether all other tables of a step with `ntables` tables are there, and small. */
bool dtx_sides_has(const struct dtx_sides *x, uint32_t step, uint32_t ntables);
/* Writes the tables of these steps, and describes them for a job in *out, a new reference. */
DTX_MUSTUSE enum dtx_code dtx_sides_put(struct dtx_sides *x, const char *exchange,
                                        const uint32_t *step, uint32_t nsteps, json_t **out,
                                        struct dtx_err *err);
void dtx_sides_clear(struct dtx_sides *x);
/* In a fragment whose steps are bound: puts the tables of a job where the steps find them. */
DTX_MUSTUSE enum dtx_code dtx_sides_load(const json_t *sides, const char *exchange,
                                         struct dtx_graph *g, struct dtx_err *err);

#endif
