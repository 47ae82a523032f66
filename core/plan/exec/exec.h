/* Runs a plan: bind, pipelines on all workers, snippets for regions, restart on widening.
 *
 * No output is committed here: result->output[i].file is finished (durable under its temp name,
 * size and hash final) and waits for dtx_outfile_commit of the caller. */
#ifndef DTX_PLAN_EXEC_EXEC_H
#define DTX_PLAN_EXEC_EXEC_H

#include "core/plan/exec/host.h"
#include "core/plan/pipe/physical.h"
#include "core/data/tablehash.h"

struct dtx_exec_output_to {
	/* Opens the place of output i; called again after a restart (the first file is freed).
	 * NULL: no writer, the table goes to result->output[i].table. */
	enum dtx_code (*open)(void *arg, uint32_t i, struct dtx_outfile **out, struct dtx_err *err);
	void *arg;
};
struct dtx_exec_result;

struct dtx_exec_opts {
	struct dtx_source *const *input; /* per plan input; NULL entries: not used */
	unsigned workers;                /* 0: dtx_pool_cpus() */
	uint32_t batch_rows;             /* 0: DTX_BATCH_ROWS */
	int fallback;                    /* enum dtx_fallback; -1: the plan's */
	uint32_t max_regions;            /* 0: 4 */
	int32_t run_date;
	bool repair;                   /* take the remedy of every refusal of a reader */
	bool table_hash;               /* fill table_hash, rows_hash and stats of outputs */
	uint32_t hash_only;            /* per output a bit: both hashes, and no table */
	bool explain;                  /* fill phys of the result */
	const atomic_bool *cancel;     /* NULL: never */
	struct dtx_progress *progress; /* kept up to date while it runs; NULL */
	struct dtx_exec_output_to to;
	/* Called once at the end, while the readers are open: places of rows in tables (of outputs
	 * without a writer) are known until it returns.  NULL: nobody looks. */
	enum dtx_code (*look)(void *arg, const struct dtx_exec_result *r, struct dtx_err *err);
	void *look_arg;
	/* dtx_exec_bind: its fallback is asked about each region, as dtx_regions_look says.  NULL:
	 * nobody wants to know. */
	const struct dtx_host *looks;
	/* Open time: deadline in dtx_now_ns(), 0: none */
	int64_t deadline_ns;
};
#define DTX_EXEC_OPTS_INIT                                                                         \
	{                                                                                          \
		.fallback = -1                                                                     \
	}

struct dtx_exec_drop {
	const char *reason;
	int64_t n;
};
struct dtx_exec_input {
	bool read;          /* a pipeline read it */
	const char *reader; /* "csv" */
	json_t *describe;   /* reader options as found; owned */
	struct dtx_read_stats stats;
	char *rejects;   /* rows of the rejects file; owned, NULL: none */
	size_t nrejects; /* bytes */
	const struct dtx_schema *schema;
	uint8_t *need;        /* per column: enum dtx_need */
	unsigned workers;     /* threads that read it */
	const char *triggers; /* codes that may hand it to a snippet, "a,b"; NULL: not asked for */
};
struct dtx_exec_step {
	const char *kind; /* "map", "sink", "whole", "snippet" */
	int64_t rows_in, rows_out, ns;
	int64_t bytes; /* most memory while its rows were taken; 0: it has no end of its own */
	int64_t spilled, spilled_rows; /* bytes and rows of temp files */
	const char *triggers;          /* as of an input */
	struct dtx_exec_drop drop[DTX_STAT_REASONS];
	uint32_t ndrops;
	char table_hash[DTX_TABLEHASH_TEXT]; /* a checkpoint's; "" */
	const struct dtx_schema *schema;     /* of its result */
	bool by_snippet;
	bool stopped_early; /* a limit was full: counts are of rows that came too, by size of
	                       batches */
};
struct dtx_exec_output {
	const struct dtx_schema *schema;
	int64_t rows;
	const struct dtx_writer_class *writer;
	struct dtx_outfile *file; /* owned until taken; NULL without a writer */
	struct dtx_table *table;  /* without a writer; NULL with hash_only */
	char table_hash[DTX_TABLEHASH_TEXT], rows_hash[DTX_TABLEHASH_TEXT];
	json_t *stats; /* of its columns (dtx_colsample_json), with opts.table_hash; owned */
};
/* Where a result column comes from: one row per source column. */
struct dtx_exec_lineage {
	uint32_t output;
	const char *out_col;
	int32_t input;        /* -1: no source column (a constant, a snippet) */
	const char *in_col;   /* NULL with input -1 */
	bool direct;          /* else it decides which rows there are */
	const char *subtype;  /* IDENTITY TRANSFORMATION AGGREGATION FILTER ... */
	const char *formula;  /* as written; NULL: the cell is only moved */
	const char *composed; /* down to source columns, "…, by region"; NULL */
	const char *cls;      /* "exact"; "exact after the snippet"; "snippet" */
};
struct dtx_exec_region {
	uint32_t first, count;
	int32_t input;
	bool is_static, whole_plan;
	struct dtx_err trigger;
};
struct dtx_exec_result {
	struct dtx_arena arena;
	struct dtx_exec_input *input;
	uint32_t ninputs;
	struct dtx_exec_step *step;
	uint32_t nsteps;
	struct dtx_exec_output *output;
	uint32_t noutputs;
	struct dtx_exec_lineage *lineage;
	size_t nlineage, cap_lineage;
	struct dtx_exec_region *region;
	uint32_t nregions;
	struct dtx_errlist warnings;
	json_t *checks;       /* rows of expect; array */
	struct dtx_phys phys; /* with opts.explain, and of a bind */
	int64_t ns;           /* of the whole run */
	enum dtx_exec_phase { DTX_PHASE_STATIC, DTX_PHASE_BOUND, DTX_PHASE_RUN } phase;
	uint32_t restarts; /* typed attempts that were discarded */
	unsigned workers;
	uint64_t memory_enough; /* a budget that does; 0: not known, or there is none */
};

/* `findings` of parse and check decide which steps are regions from the start; their errors must
 * have been dealt with (a plan with an error finding is refused: bug).  On failure err has the
 * worst finding; bind-time findings of severity error go to result->warnings' neighbour
 * `findings`.  *out is set, also on failure, unless memory is out at once; free it always. */
DTX_MUSTUSE enum dtx_code dtx_exec(struct dtx_plan *plan, const struct dtx_exec_opts *opts,
                                   const struct dtx_host *host, struct dtx_errlist *findings,
                                   struct dtx_exec_result **out, struct dtx_err *err);
void dtx_exec_free(struct dtx_exec_result *r); /* NULL is fine; uncommitted outputs go away */

/* The bind phase alone: opens readers, binds the steps to real headers as far as they can be
 * without running.  Findings of severity fallback mark their steps as snippets and are no failure.
 */
DTX_MUSTUSE enum dtx_code dtx_exec_bind(struct dtx_plan *plan, const struct dtx_exec_opts *opts,
                                        struct dtx_errlist *findings, struct dtx_exec_result **out,
                                        struct dtx_err *err);

/* The same without any input: what the plan alone tells. */
DTX_MUSTUSE enum dtx_code dtx_exec_static(struct dtx_plan *plan, const struct dtx_exec_opts *opts,
                                          struct dtx_exec_result **out, struct dtx_err *err);

/* The physical plan, for people and as JSON (dtx_explain_schema).  r: of dtx_exec with
 * opts.explain, which adds counts, of dtx_exec_bind or of dtx_exec_static. */
DTX_MUSTUSE enum dtx_code dtx_explain_text(const struct dtx_plan *plan,
                                           const struct dtx_exec_result *r, struct dtx_buf *out,
                                           struct dtx_err *err);
json_t *dtx_explain_json(const struct dtx_plan *plan, const struct dtx_exec_result *r);
json_t *dtx_explain_schema(void);

/* A Python module with transform(tables, params).  no_translation names the step. */
DTX_MUSTUSE enum dtx_code dtx_compile_pandas(const struct dtx_plan *plan, struct dtx_buf *out,
                                             struct dtx_err *err);
/* One SQLite statement over tables named as the inputs; all columns of an input must be declared.
 */
DTX_MUSTUSE enum dtx_code dtx_compile_sql(const struct dtx_plan *plan, struct dtx_buf *out,
                                          struct dtx_err *err);
/* A graph of inputs, steps and outputs for Graphviz. */
DTX_MUSTUSE enum dtx_code dtx_compile_dot(const struct dtx_plan *plan, struct dtx_buf *out,
                                          struct dtx_err *err);

#endif
