/* Runs a plan: binds it to real headers, runs its pipelines on all workers, asks for snippets where
 * the typed engine cannot do a step, and starts again where a guessed type was too narrow.
 *
 * No output is committed here. result->output[i].file is finished (durable under its temporary
 * name, size and hash final) and waits for the caller's dtx_outfile_commit, so that the record can
 * be written first.
 *
 * Called from one thread; it uses the worker pool of core/base/thread/pool.h. */
#ifndef DTX_PLAN_EXEC_EXEC_H
#define DTX_PLAN_EXEC_EXEC_H

#include "core/plan/exec/host.h"
#include "core/plan/pipe/physical.h"
#include "core/data/tablehash.h"

struct dtx_exec_output_to {
	/* Opens the file of output i. It is called again after a restart, when the first file has
	 * been freed. NULL: there is no writer, and the table becomes result->output[i].table. */
	enum dtx_code (*open)(void *arg, uint32_t i, struct dtx_outfile **out, struct dtx_err *err);
	void *arg;
};
struct dtx_exec_result;
struct dtx_spread;

struct dtx_exec_opts {
	struct dtx_source *const *input; /* per input of the plan; NULL entries: not used */
	unsigned workers;                /* threads; 0: dtx_pool_cpus() */
	uint32_t batch_rows;             /* 0: DTX_BATCH_ROWS */
	int fallback;                    /* enum dtx_fallback; -1: as the plan says */
	uint32_t max_regions;            /* regions of a run; 0: DTX_REGIONS_MAX */
	int32_t run_date;
	bool repair;        /* where a reader refuses a file, read it with the remedy that fits */
	bool table_hash;    /* fill table_hash, rows_hash and stats of the outputs */
	uint32_t hash_only; /* a bit per output: compute both hashes, but keep no table */
	bool explain;       /* fill `phys` of the result */
	const atomic_bool *cancel;     /* set by another thread to stop the run; NULL: never */
	struct dtx_progress *progress; /* updated while the run goes on; NULL */
	struct dtx_exec_output_to to;
	/* Called once at the end, while the readers are still open: until it returns, rows of
	 * tables (of outputs without a writer) can be traced to their place in an input. NULL: not
	 * needed. */
	enum dtx_code (*look)(void *arg, const struct dtx_exec_result *r, struct dtx_err *err);
	void *look_arg;
	/* For dtx_exec_bind: the host whose fallback is asked about each region (dtx_regions_look).
	 * NULL: not needed. */
	const struct dtx_host *looks;
	/* Makes rows in other processes (core/plan/pipe/spread.h); NULL: all are made here.
	 * Borrowed.
	 */
	struct dtx_spread *spread;
	/* point in time as of dtx_now_ns() at which the run ends with time_limit; 0: none */
	int64_t deadline_ns;
};
#define DTX_EXEC_OPTS_INIT                                                                         \
	{                                                                                          \
		.fallback = -1                                                                     \
	}

/* Rows that a step dropped, counted by reason. */
struct dtx_exec_drop {
	const char *reason;
	int64_t n;
};
struct dtx_exec_input {
	bool read;          /* a pipeline has read it */
	const char *reader; /* name of the reader; "snippet" */
	enum dtx_row_places places;
	json_t *describe; /* reader options as they were detected; owned */
	struct dtx_read_stats stats;
	char *rejects;   /* text of the rejects file; owned; NULL: no rejects */
	size_t nrejects; /* its length in bytes */
	const struct dtx_schema *schema;
	uint8_t *need;    /* per column: enum dtx_need */
	unsigned workers; /* threads that read it */
	/* codes of errors that may hand it to a snippet, "a,b"; NULL: not asked for */
	const char *triggers;
};
struct dtx_exec_step {
	const char *kind; /* "map", "sink", "whole", "snippet" */
	int64_t rows_in, rows_out, ns;
	int64_t bytes; /* most memory in use while it consumed rows; 0: it collects none */
	int64_t spilled, spilled_rows; /* bytes and rows of temporary files */
	const char *triggers;          /* as of an input */
	struct dtx_exec_drop drop[DTX_STAT_REASONS];
	uint32_t ndrops;
	char table_hash[DTX_TABLEHASH_TEXT]; /* of a checkpoint; else "" */
	const struct dtx_schema *schema;     /* of its result */
	bool by_snippet;
	/* A limit was full before all rows were read: the counts include rows that were in flight,
	 * and depend on the size of batches. */
	bool stopped_early;
};
struct dtx_exec_output {
	const struct dtx_schema *schema;
	int64_t rows;
	const struct dtx_writer_class *writer;
	const char *into;         /* table of a database; NULL: none */
	struct dtx_outfile *file; /* owned until the caller takes it; NULL without a writer */
	bool shared;              /* the file is that of an earlier output, and borrowed */
	/* of a file that waits for the table of another output; NULL after the last one */
	struct dtx_writer *open;
	struct dtx_table *table; /* set without a writer; NULL with hash_only */
	char table_hash[DTX_TABLEHASH_TEXT], rows_hash[DTX_TABLEHASH_TEXT];
	json_t *stats; /* of its columns (dtx_colsample_json), with opts.table_hash; owned */
};
/* One source column of one result column: which input column the values depend on, and how. */
struct dtx_exec_lineage {
	uint32_t output;
	const char *out_col;
	int32_t input;       /* -1: no source column (a constant, a snippet) */
	const char *in_col;  /* NULL when input is -1 */
	bool direct;         /* the cell's value depends on it; false: only which rows there are */
	const char *subtype; /* as in OpenLineage: IDENTITY TRANSFORMATION AGGREGATION FILTER ... */
	const char *formula; /* as written in the plan; NULL: the cell is only moved */
	const char *composed; /* the formula in terms of source columns, "…, by region"; NULL */
	const char *cls;      /* how sure it is: "exact", "exact after the snippet", "snippet" */
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
	json_t *checks;       /* verdicts of `expect` and rules; array */
	struct dtx_phys phys; /* with opts.explain, and always of a bind */
	int64_t ns;           /* wall time of the run */
	enum dtx_exec_phase { DTX_PHASE_STATIC, DTX_PHASE_BOUND, DTX_PHASE_RUN } phase;
	uint32_t restarts; /* typed attempts that were discarded */
	unsigned workers;
	/* a memory budget that is sure to suffice; 0: not known, or there is no budget */
	uint64_t memory_enough;
};

/* Runs the plan. `findings` are those of parse and check: steps with a finding of severity fallback
 * are regions from the start; an error among them refuses the run. Findings of binding are added to
 * them.
 *
 * *out is set unless memory ran out at once, also after a failure: the caller frees it in any case.
 * Codes: any of a reader, an op, a writer or a snippet; err has its place in the plan. */
DTX_MUSTUSE enum dtx_code dtx_exec(struct dtx_plan *plan, const struct dtx_exec_opts *opts,
                                   const struct dtx_host *host, struct dtx_errlist *findings,
                                   struct dtx_exec_result **out, struct dtx_err *err);
/* NULL is fine; output files that were not taken are removed */
void dtx_exec_free(struct dtx_exec_result *r);

/* The bind phase alone: opens the readers and binds the steps to real headers as far as they can be
 * without running. A step with a finding of severity fallback is marked as a snippet; that is no
 * failure. */
DTX_MUSTUSE enum dtx_code dtx_exec_bind(struct dtx_plan *plan, const struct dtx_exec_opts *opts,
                                        struct dtx_errlist *findings, struct dtx_exec_result **out,
                                        struct dtx_err *err);

/* The same without opening any input: what the plan alone shows. */
DTX_MUSTUSE enum dtx_code dtx_exec_static(struct dtx_plan *plan, const struct dtx_exec_opts *opts,
                                          struct dtx_exec_result **out, struct dtx_err *err);

/* The physical plan as text for people and as JSON; dtx_explain_schema is the JSON Schema of the
 * latter. r is a result of dtx_exec with opts.explain, which adds row counts and times, of
 * dtx_exec_bind or of dtx_exec_static. JSON: a new reference; NULL: out of memory. */
DTX_MUSTUSE enum dtx_code dtx_explain_text(const struct dtx_plan *plan,
                                           const struct dtx_exec_result *r, struct dtx_buf *out,
                                           struct dtx_err *err);
json_t *dtx_explain_json(const struct dtx_plan *plan, const struct dtx_exec_result *r);
json_t *dtx_explain_schema(void);

/* Writes the plan as a Python function transform(tables, params), for a place that has pd, np and
 * dx. A step that has no translation fails with no_translation, which names it. `found` is the
 * result of dtx_exec_bind, whose inputs have the columns of the files; NULL: columns are known as
 * far as the plan declares them. */
DTX_MUSTUSE enum dtx_code dtx_compile_pandas(const struct dtx_plan *plan,
                                             const struct dtx_exec_result *found,
                                             struct dtx_buf *out, struct dtx_err *err);
/* Writes the plan as one SQLite statement over tables that are named like the inputs. All columns
 * of the inputs must be known, from the plan or from the files; of the latter the types must be
 * exact. */
DTX_MUSTUSE enum dtx_code dtx_compile_sql(const struct dtx_plan *plan,
                                          const struct dtx_exec_result *found, struct dtx_buf *out,
                                          struct dtx_err *err);
/* Writes inputs, steps and outputs as a graph for Graphviz. */
DTX_MUSTUSE enum dtx_code dtx_compile_dot(const struct dtx_plan *plan, struct dtx_buf *out,
                                          struct dtx_err *err);

#endif
