/* The driver: a run whose inputs are read by fragments on an engine.
 *
 * For each pipeline that reads inputs it decides, by the facts of the ops, how many of the maps
 * that follow each input can be done row by row in fragments, has an engine run these, proves that
 * the borders between them are right, and gives the rows to the pipeline. What comes after is done
 * by this process, as always. */
#ifndef DTX_CLUSTER_CLUSTER_H
#define DTX_CLUSTER_CLUSTER_H

#include "core/base/text/json.h"
#include "core/plan/pipe/spread.h"

struct dtx_cluster;

/* Bytes of an input for one fragment, unless the address says otherwise. */
#define DTX_CLUSTER_BYTES ((uint64_t)64 << 20)

struct dtx_cluster_opts {
	const char *address;  /* such as "local://4" or "local://4?bytes=1000000" */
	const char *exchange; /* the folder for the files of fragments; NULL: a temporary one */
	const char *resume;   /* a run whose fragments in `exchange` are taken; NULL */
	const char *run_id;   /* of this run */
};
/* Opens the engine. The caller frees *out. Codes: usage, output_io, engine_unavailable. */
DTX_MUSTUSE enum dtx_code dtx_cluster_new(const struct dtx_cluster_opts *opts,
                                          struct dtx_cluster **out, struct dtx_err *err);
/* Ends the engine and removes the files, unless the run ended with `code` and can be resumed: err
 * then gets a hint. Only dtx_cluster_json and _free may follow. The counts of the run have texts
 * that live until _free. */
void dtx_cluster_end(struct dtx_cluster *c, enum dtx_code code, struct dtx_err *err);
void dtx_cluster_free(struct dtx_cluster *c); /* NULL is fine */
/* For the options of dtx_exec; borrowed. */
struct dtx_spread *dtx_cluster_spread(struct dtx_cluster *c);
/* Bytes of a piece that readers must cut inputs into (struct dtx_read_opts). */
uint32_t dtx_cluster_piece(const struct dtx_cluster *c);
/* For explain: reads an address, and gives what says in a plan that is bound, but not run, what
 * fragments would do. No engine is started. Codes: usage. */
struct dtx_cluster_look {
	struct dtx_spread spread;
	uint64_t bytes; /* of a fragment */
	uint32_t piece; /* as dtx_cluster_piece */
};
DTX_MUSTUSE enum dtx_code dtx_cluster_look(const char *address, struct dtx_cluster_look *out,
                                           struct dtx_err *err);
/* For the record: engine, stages and fragments. A new reference; NULL: out of memory. */
json_t *dtx_cluster_json(const struct dtx_cluster *c);

#endif
