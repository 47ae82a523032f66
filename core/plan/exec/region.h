/* Regions: what a snippet does instead of the typed engine. */
#ifndef DTX_PLAN_EXEC_REGION_H
#define DTX_PLAN_EXEC_REGION_H

#include "core/plan/pipe/graph.h"

#define DTX_REGIONS_MAX 4 /* of a run, unless the options say otherwise */
#define DTX_REGIONS_CAP 64

struct dtx_region {
	uint32_t first, count; /* steps; none of an input */
	int32_t input;         /* the input that no reader can read; -1: steps */
	bool whole_plan, is_static;
	struct dtx_err trigger; /* owned */
	struct dtx_err broke;   /* broken: what a step behind it failed with; owned */
	bool broken;
	unsigned breaks;         /* how often it was */
	struct dtx_table *table; /* its result, kept while the prefix stays the same */
	json_t *describe;        /* input: what its reader would tell */
};
struct dtx_regions {
	struct dtx_region item[DTX_REGIONS_CAP];
	uint32_t n;
	bool failed; /* the host had no table for one of them: the run ends with its error */
};

/* Regions of the findings that stand before anything ran: adjacent steps merge.  More than max:
 * snippet_cannot. */
DTX_MUSTUSE enum dtx_code dtx_regions_static(struct dtx_regions *r, const struct dtx_plan *plan,
                                             enum dtx_fallback mode, uint32_t max,
                                             const struct dtx_errlist *findings,
                                             struct dtx_err *err);
/* One more, for a step that failed with `trigger` (copied).  False: there are too many. */
bool dtx_regions_add(struct dtx_regions *r, const struct dtx_plan *plan, enum dtx_fallback mode,
                     uint32_t step, const struct dtx_err *trigger, uint32_t max);
/* One more, for an input that failed with `trigger` (copied).  False: there are too many, or it is
 * one already. */
bool dtx_regions_add_input(struct dtx_regions *r, uint32_t input, const struct dtx_err *trigger,
                           uint32_t max);
/* The region that made the column which step `step` failed on: its snippet is to blame, where its
 * result is at hand.  NULL: none; a column that a snippet had before it is none of its making. */
struct dtx_region *dtx_regions_blame(struct dtx_regions *r, const struct dtx_graph *g,
                                     uint32_t step, const struct dtx_err *why);
/* Forgets its result, and those that may rest on it: the next attempt asks for another, and says
 * why (copied). */
void dtx_region_break(struct dtx_regions *r, struct dtx_region *one, const struct dtx_err *why);
/* Forgets results of steps: their prefix may have changed. */
void dtx_regions_forget(struct dtx_regions *r);
void dtx_regions_clear(struct dtx_regions *r);
/* Marks the regions' steps and inputs in a graph. */
void dtx_regions_mark(const struct dtx_regions *r, struct dtx_graph *g);
/* The region of an input, NULL if none. */
const struct dtx_region *dtx_regions_input(const struct dtx_regions *r, uint32_t input);
/* Asks the host for the tables of all inputs that are regions; they stand in for the readers. */
DTX_MUSTUSE enum dtx_code dtx_regions_read(struct dtx_regions *r, struct dtx_graph *g,
                                           const struct dtx_host *host, struct dtx_err *err);

/* Asks the host about each region whose tables are known as far as their columns are: the request
 * has tables without rows, the host looks whether it has an answer and gives none.  Codes:
 * no_memory. */
DTX_MUSTUSE enum dtx_code dtx_regions_look(struct dtx_regions *r, struct dtx_graph *g,
                                           const struct dtx_host *host, struct dtx_err *err);

/* A bit for each region whose answer is in use (host->settle). */
uint64_t dtx_regions_stand(const struct dtx_regions *r);
/* All tables that region i reads are known. */
bool dtx_region_ready(const struct dtx_region *r, const struct dtx_graph *g);
/* Runs its prefix, asks the host, puts the result in place of the region's last table. */
DTX_MUSTUSE enum dtx_code dtx_region_run(struct dtx_regions *r, uint32_t index, struct dtx_graph *g,
                                         const struct dtx_host *host, struct dtx_err *err);

#endif
