/* A job: what all fragments of one stage have in common. The plan, the inputs as the driver opened
 * them, and the steps to do.
 *
 * The driver writes it once, to the exchange folder, as JSON in a file that is named by its hash. A
 * fragment reads it there and binds the same plan to the same schemas, so that it does what the
 * driver would have done with these rows. */
#ifndef DTX_CLUSTER_JOB_H
#define DTX_CLUSTER_JOB_H

#include "core/base/text/json.h"
#include "core/plan/pipe/spread.h"

struct dtx_job {
	struct dtx_arena arena;
	json_t *json; /* owned; texts of the members below are in it */
	struct dtx_plan *plan;
	struct dtx_errlist findings;
	struct dtx_read_opts *read; /* per input */
	const struct dtx_schema *
		*schema; /* per input; NULL: a snippet makes it, or it is not read */
	int32_t table;   /* the table whose rows are made */
	int32_t sink;    /* the step that takes them into its state; -1: none */
	int32_t early;   /* the step that chooses some of them, which the driver does again; -1 */
	uint64_t first_rows; /* of that step, see struct dtx_opctx */
	/* the writer that formats the rows; NULL: they are kept as rows */
	const struct dtx_writer_class *writer;
	struct dtx_write_opts write;
	uint8_t *need; /* per column of `table`, or of the sink's result: enum dtx_need */
	uint32_t nneed;
	int32_t run_date;
	uint32_t batch_rows;
};

/* `more`, an object or NULL, has further members of the job: "buckets" ({step, input, n}: the rows
 * go into n buckets by the keys of this step), "gather" (see gather.h) and "merged" (tables that
 * fragments have made, see merged.h); taken.
 *
 * The job that makes table `table` of a graph whose needs are known, or what the step `early` (-1:
 * none) leaves of it, or the state of the step `sink` (-1: none) that reads it, or the text of an
 * output (NULL: none). sides: see sides.h; taken. A new reference; NULL: out of memory. */
json_t *dtx_job_json(const struct dtx_graph *g, int32_t table, int32_t early, int32_t sink,
                     const struct dtx_spread_text *text, json_t *sides, json_t *more);
/* Reads a job. Clear it also after a failure. Codes: corrupt_file, if it is not of this version of
 * dtx or the plan is another one; those of dtx_plan_parse_with. */
DTX_MUSTUSE enum dtx_code dtx_job_open(struct dtx_job *job, struct dtx_str text,
                                       struct dtx_err *err);
void dtx_job_clear(struct dtx_job *job);
/* Fails with input_changed unless the file of input i has the size and time that the driver saw. */
DTX_MUSTUSE enum dtx_code dtx_job_input_same(const struct dtx_job *job, uint32_t i,
                                             const struct dtx_source *src, struct dtx_err *err);

#endif
