/* A reader of a table that fragments have made bucket by bucket (buckets.h), which gives its rows
 * in the order in which one process would have made them. Each range of that order is a piece that
 * other fragments may read. */
#ifndef DTX_CLUSTER_MERGED_READER_H
#define DTX_CLUSTER_MERGED_READER_H

#include "core/cluster/rows_reader.h"
#include "core/io/reader.h"

struct dtx_merged {                 /* borrowed by the reader, but for `file` */
	struct dtx_rows_file *file; /* one per bucket, `indexed`, not open; the reader's own */
	size_t nfiles;
	const struct dtx_origin **origin; /* per range: where its rows come from */
	uint64_t nranges, bytes;          /* bytes: about, of a range */
	const struct dtx_schema *schema;
	/* A file is missing or damaged, so `start` or `next` fails. Any worker calls it. */
	void (*damaged)(void *arg, const struct dtx_rows_file *file);
	void *arg;
};
/* The caller closes *out; batches may outlive it. Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_merged_reader_new(const struct dtx_merged *what,
                                                struct dtx_reader **out, struct dtx_err *err);

#endif
