/* Regions: what snippets do instead of the typed engine.
 *
 * A region is adjacent steps, or one input. Its result is kept over attempts as long as what it was
 * made from stays the same, so that a snippet is not run again because of a later step. */
#ifndef DTX_PLAN_EXEC_REGION_H
#define DTX_PLAN_EXEC_REGION_H

#include "core/plan/pipe/graph.h"

#define DTX_REGIONS_MAX 4 /* regions of a run, unless the options say otherwise */
#define DTX_REGIONS_CAP 64

struct dtx_region {
	uint32_t first, count; /* steps; count is 0 for an input */
	int32_t input;         /* the input that no reader can read; -1: the region is steps */
	bool whole_plan, is_static;
	struct dtx_err trigger; /* the error that made it a region; owned */
	/* when broken: the failure of a later step on a column that it made; owned */
	struct dtx_err broke;
	bool broken;
	unsigned breaks;         /* how often it was broken */
	struct dtx_table *table; /* result, kept while the steps before stay the same */
	json_t *describe;        /* of an input: stands in for the description of a reader */
};
struct dtx_regions {
	uint32_t n;
	bool failed; /* the host had no table for one of them, and the run ends with its error */
	/* 200 KB, of which a run seldom uses any: last, so that the rest can be cleared without it
	 */
	struct dtx_region item[DTX_REGIONS_CAP];
};

/* Makes regions of the steps that parse and check marked as broken; adjacent steps become one.
 * Codes: snippet_cannot (more than max), no_memory. */
DTX_MUSTUSE enum dtx_code dtx_regions_static(struct dtx_regions *r, const struct dtx_plan *plan,
                                             enum dtx_fallback mode, uint32_t max,
                                             const struct dtx_errlist *findings,
                                             struct dtx_err *err);
/* Adds the region of a step that failed with `trigger`, which is copied. False: there are too
 * many. */
bool dtx_regions_add(struct dtx_regions *r, const struct dtx_plan *plan, enum dtx_fallback mode,
                     uint32_t step, const struct dtx_err *trigger, uint32_t max);
/* Adds the region of an input that failed with `trigger`, which is copied. False: there are too
 * many, or it is a region already. */
bool dtx_regions_add_input(struct dtx_regions *r, uint32_t input, const struct dtx_err *trigger,
                           uint32_t max);
/* The region whose snippet made the column that step `step` failed on, if its result is at hand.
 * NULL if none. A column that the snippet only passed on does not count. */
struct dtx_region *dtx_regions_select_cause(struct dtx_regions *r, const struct dtx_graph *g,
                                            uint32_t step, const struct dtx_err *why);
/* Forgets its result and all results that may depend on it. The next attempt asks for another
 * snippet and says why. */
void dtx_region_break(struct dtx_regions *r, struct dtx_region *one, const struct dtx_err *why);
/* Forgets the results of regions of steps, as their inputs may have changed. */
void dtx_regions_forget(struct dtx_regions *r);
void dtx_regions_clear(struct dtx_regions *r);
/* Marks the steps and inputs of the regions in a graph. */
void dtx_regions_mark(const struct dtx_regions *r, struct dtx_graph *g);
/* The region of an input; NULL: it has none. */
const struct dtx_region *dtx_regions_input(const struct dtx_regions *r, uint32_t input);
/* Gets the tables of all inputs that are regions; they replace the readers. */
DTX_MUSTUSE enum dtx_code dtx_regions_read(struct dtx_regions *r, struct dtx_graph *g,
                                           const struct dtx_host *host, struct dtx_err *err);

/* Asks the host about each region whose tables have known columns. The request has tables without
 * rows: the host only looks whether it has an answer. Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_regions_look(struct dtx_regions *r, struct dtx_graph *g,
                                           const struct dtx_host *host, struct dtx_err *err);

/* A bit for each region whose answer is in use, for host->finish_approval. */
uint64_t dtx_regions_stand(const struct dtx_regions *r);
/* Whether the schemas of all tables that the region reads are known. */
bool dtx_region_ready(const struct dtx_region *r, const struct dtx_graph *g);
/* Makes the tables that the region reads, gets its result from the host (unless it is kept), and
 * makes it the table of the region's last step. */
DTX_MUSTUSE enum dtx_code dtx_region_run(struct dtx_regions *r, uint32_t index, struct dtx_graph *g,
                                         const struct dtx_host *host, struct dtx_err *err);

#endif
