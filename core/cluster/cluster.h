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

/* Opens the engine with this address, such as "local://4" or "local://4?bytes=1000000". exchange:
 * the folder for the files of fragments; NULL: a temporary one. The caller frees *out. Codes:
 * usage, output_io,
 * engine_unavailable. */
DTX_MUSTUSE enum dtx_code dtx_cluster_new(const char *address, const char *exchange,
                                          struct dtx_cluster **out, struct dtx_err *err);
/* Ends the engine and removes the files. Only dtx_cluster_json and _free may follow. The counts of
 * the run have texts that live until _free. */
void dtx_cluster_end(struct dtx_cluster *c);
void dtx_cluster_free(struct dtx_cluster *c); /* NULL is fine */
/* For the options of dtx_exec; borrowed. */
struct dtx_spread *dtx_cluster_spread(struct dtx_cluster *c);
/* Bytes of a piece that readers must cut inputs into (struct dtx_read_opts). */
uint32_t dtx_cluster_piece(const struct dtx_cluster *c);
/* For the record: engine, stages and fragments. A new reference; NULL: out of memory. */
json_t *dtx_cluster_json(const struct dtx_cluster *c);

#endif
