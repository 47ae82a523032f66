/* What the files of the driver share. */
#ifndef DTX_CLUSTER_CLUSTER_PARTS_H
#define DTX_CLUSTER_CLUSTER_PARTS_H

#include "core/base/tempdir.h"
#include "core/cluster/cluster.h"
#include "core/cluster/engine.h"
#include "core/cluster/fragment.h"
#include "core/cluster/rows_reader.h"
#include "core/cluster/sides.h"
#include "core/plan/pipe/physical.h"

struct dtx_cluster_part { /* a fragment of a source */
	uint32_t source;
	uint64_t first, end;
	bool exact;     /* its begin was known when it was started */
	uint64_t begin; /* with exact */
	bool done;      /* it has ended, and class and what follows are known */
	enum dtx_fragment_class class;
	uint64_t began, next;
	unsigned attempts;
	unsigned running;          /* copies of it that were submitted and have not ended */
	int64_t not_before_ns;     /* it waits before another attempt; 0: it does not */
	bool slow;                 /* a second copy was submitted, as it took long */
	bool remade;               /* its file was damaged, and it was done again */
	bool kept;                 /* the run that this one resumes has done it */
	char hash[DTX_SHA256_HEX]; /* of the file that was damaged */
	json_t *said;              /* the manifest, or the error */
	char name[DTX_SHA256_HEX];
};
struct dtx_cluster_source {
	const struct dtx_phys_source *drawn; /* NULL: the parts gather buckets */
	uint32_t nsteps;
	int32_t early; /* the step that fragments do early; -1 */
	uint64_t base; /* pieces of the sources before it */
	int32_t table; /* the table that the fragments make */
	char job[DTX_SHA256_HEX];
	uint32_t first, end; /* its parts */
	uint32_t proven;     /* parts from `first` on whose begin is proven */
	uint64_t border;     /* where the part `proven` has to begin; known if proven > first */
	struct dtx_rows_file *file; /* per part */
	struct dtx_read_stats stats;
};
/* The fragments of one pipeline. They make rows, the state of a sink, or the text of an output. */
struct dtx_cluster_stage {
	struct dtx_graph *g;
	int32_t sink;                       /* the step whose state is made; -1: rows or text */
	const struct dtx_sink *of;          /* the sink of that step, or of its digest */
	const struct dtx_opctx *ox;         /* of the sink */
	void *local;                        /* of the sink */
	const struct dtx_spread_text *text; /* NULL: rows or a state */
	int32_t table;                      /* with text: the table that the output has */
	bool gathers;                       /* its fragments do the step `step` by keys */
	uint32_t step;
	json_t *more; /* further members of its jobs, see job.h; NULL; owned */
	struct dtx_cluster_source *source;
	uint32_t nsources;
	struct dtx_cluster_part *part;
	size_t nparts, cap_parts;
	uint32_t taken; /* parts from the first on whose results are taken */
	size_t running; /* copies of parts that have not ended */
	size_t undone;  /* parts that have not ended */
	json_t *jobs;   /* texts of jobs, by hash, for the record */
	int64_t few_ns; /* since when no part waits for a slot; 0: some do */
	/* Takes the results of parts that are ready, in order: those before `taken` are taken. */
	enum dtx_code (*take)(struct dtx_cluster *c, struct dtx_cluster_stage *x,
	                      struct dtx_err *err);
};
struct dtx_cluster_made {
	struct dtx_reader *reader;
	struct dtx_cluster_made *next;
};
/* A table that fragments have made by keys. */
struct dtx_cluster_merged {
	int32_t table;
	struct dtx_reader *reader;
	const uint32_t *input; /* per range: from which input its rows come */
	uint64_t nranges;
	json_t *files; /* as jobs describe them */
	struct dtx_cluster_merged *next;
};
struct dtx_cluster {
	struct dtx_spread spread;
	struct dtx_engine *engine;
	char *address;
	struct dtx_tempdir temp;
	char *exchange;
	uint64_t bytes; /* of a fragment */
	struct dtx_sides sides;
	struct dtx_arena arena; /* reasons of dropped rows, paths */
	struct dtx_cluster_made *made;
	struct dtx_cluster_merged *merged;
	json_t *lost;   /* by the name of a fragment whose file was lost or damaged: its hash */
	bool resumes;   /* the exchange folder has fragments of an earlier run, or attempt */
	bool keeps;     /* it stays if the run fails for a reason that may pass */
	json_t *stages; /* for the record */
};

/* --- attempts.c --- */

/* Runs all parts of a stage, and has `take` take their results. Codes: those of fragments. */
DTX_MUSTUSE enum dtx_code dtx_attempts_run(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                                           struct dtx_err *err);
/* Has the engine do part i, unless the run that is resumed has done it. */
DTX_MUSTUSE enum dtx_code dtx_attempts_submit(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                                              uint32_t i, struct dtx_err *err);
/* The error of a fragment whose begin is right. */
enum dtx_code dtx_attempts_fail(struct dtx_cluster *c, const struct dtx_cluster_stage *x,
                                const struct dtx_cluster_part *p, struct dtx_err *err);
/* The error of a fragment that was done twice, with other bytes the second time. */
enum dtx_code dtx_attempts_differ(const struct dtx_cluster_part *p, const char *first,
                                  const char *second, struct dtx_err *err);
/* The spec of a part. A new reference; NULL: out of memory. */
json_t *dtx_attempts_spec(const struct dtx_cluster_stage *x, const struct dtx_cluster_part *p);

/* --- stages, in cluster.c --- */

/* Plans the parts of a pipeline, and writes their jobs. */
DTX_MUSTUSE enum dtx_code dtx_stage_plan(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                                         const struct dtx_phys_pipe *drawn, struct dtx_err *err);
/* Writes the job of a source's parts, and puts its name to s->job. */
DTX_MUSTUSE enum dtx_code dtx_stage_put_job(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                                            struct dtx_cluster_source *s, struct dtx_err *err);
/* Adds the stage to the record. ns: how long it took. */
DTX_MUSTUSE enum dtx_code dtx_stage_record(struct dtx_cluster *c, const struct dtx_cluster_stage *x,
                                           int64_t ns, struct dtx_err *err);
/* Takes the counts of part i. */
DTX_MUSTUSE enum dtx_code dtx_stage_counts(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                                           uint32_t i, struct dtx_err *err);
/* After the counts of all parts: the inputs are read, and the maps are done. */
DTX_MUSTUSE enum dtx_code dtx_stage_finish(struct dtx_cluster *c, struct dtx_cluster_stage *x,
                                           struct dtx_err *err);
void dtx_stage_clear(struct dtx_cluster_stage *x);

/* --- exchange.c --- */

/* How many key columns a step has by which fragments can do it; 0: they cannot. */
uint32_t dtx_exchange_keys(const struct dtx_graph *g, uint32_t step);
/* Whether a table of a step, the last one, is worth it: `parts` is the number of its fragments. */
bool dtx_exchange_pays(uint64_t parts);
/* by_keys of struct dtx_spread. */
DTX_MUSTUSE enum dtx_code dtx_exchange_step(void *arg, struct dtx_graph *g, uint32_t step,
                                            struct dtx_reader **made, struct dtx_err *err);
/* The table, if fragments have made it by keys; NULL. */
const struct dtx_cluster_merged *dtx_cluster_merged_of(const struct dtx_cluster *c, int32_t table);
/* Member "merged" of the job of fragments that read it. A new reference; NULL: there is no such
 * table, or no memory. */
json_t *dtx_cluster_merged_json(const struct dtx_cluster *c, int32_t table);
void dtx_cluster_merged_clear(struct dtx_cluster *c);
/* The file of this fragment is lost or damaged. Unless that happened before, the next attempt makes
 * it again, and takes over all other fragments. */
void dtx_cluster_lost(struct dtx_cluster *c, const char *name);

/* --- splittable.c --- */

/* Whether the columns of table t follow from the columns of inputs alone, so that a fragment can
 * bind the steps that make it. */
bool dtx_cluster_derivable(const struct dtx_graph *g, int32_t t);
/* Whether fragments can do all maps of all sources. sides: as for dtx_cluster_splits. */
bool dtx_cluster_all_split(const struct dtx_graph *g, const struct dtx_phys_pipe *drawn,
                           const struct dtx_sides *sides);

/* How many maps of a source of `pipe` fragments can do. sides: the small tables
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
