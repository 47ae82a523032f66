/* Rows on their way from the fragments of one stage to those of the next.
 *
 * A fragment sorts its rows into buckets by the hash of their keys, and writes each bucket as
 * sections of its file. Fragments of the next stage read one bucket each, from all of these files,
 * and write their rows in ranges of the order in which one process would have made them. A reader
 * then merges the buckets of one range (merged_reader.h).
 *
 * A section is a batch (frame_batch.h), whose rows have the ids of one process, with the place of
 * each row in that order. The first section of such a file, the index, has the number and the hash
 * of each other one. The hash of the index is in the manifest, so sections can be read one by one,
 * and a damaged one is found by who reads it. */
#ifndef DTX_CLUSTER_BUCKETS_H
#define DTX_CLUSTER_BUCKETS_H

#include "core/cluster/rows_reader.h"
#include "core/plan/op.h"

/* --- writing --- */

struct dtx_buckets_batch {
	struct dtx_batch *batch; /* dense */
	uint64_t *place, *id;    /* per row */
	uint32_t *to;            /* per row: the number of its bucket, or of its range */
};
struct dtx_buckets_section {
	struct dtx_buf bytes;
	uint64_t *place, nrows;
};
struct dtx_buckets { /* all zero at first */
	struct dtx_buckets_batch *batch;
	size_t nbatches, cap_batches;
	struct dtx_buckets_section *section;
	size_t nsections, cap_sections;
	uint64_t *index; /* two numbers per section */
	int64_t rows;
};
/* Keeps a copy of a batch. The caller then fills in place, id and to of *out, which have one item
 * per row of out->batch. Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_buckets_add(struct dtx_buckets *x, struct dtx_batch *b,
                                          struct dtx_buckets_batch **out, struct dtx_err *err);
/* Adds the index and a section for each bucket with rows to an empty frame, which may be used until
 * dtx_buckets_clear. hash: of the index. Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_buckets_save(struct dtx_buckets *x, uint32_t nbuckets,
                                           struct dtx_frame *frame, char *hash,
                                           struct dtx_err *err);
void dtx_buckets_clear(struct dtx_buckets *x);
/* The bucket of each row of a dense batch, by the hash of the keys that `op` says. */
DTX_MUSTUSE enum dtx_code dtx_buckets_of(const struct dtx_op *op, const struct dtx_opctx *ox,
                                         unsigned input, struct dtx_batch *b, uint32_t nbuckets,
                                         uint32_t *to, struct dtx_err *err);

/* --- reading --- */

/* The sections of a bucket in a file that was opened with `indexed`: entries [*from, *to). */
void dtx_buckets_find(const struct dtx_rows_file *f, uint32_t bucket, uint32_t *from, uint32_t *to);
/* Reads such an entry, whose bytes are compared with the index. *place points into the file.
 * Codes: input_io. */
DTX_MUSTUSE enum dtx_code dtx_buckets_read(const struct dtx_rows_file *f, uint32_t entry,
                                           const struct dtx_schema *schema, struct dtx_batch **out,
                                           const uint64_t **place, struct dtx_err *err);

#endif
