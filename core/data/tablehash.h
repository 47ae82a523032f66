/* Hash of a result that depends on its values alone: not on threads, format or zip times.
 *
 * A cell is byte 0 (null) or byte 1, be32 length and its written text; a row hash is XXH3-128 of
 * its cells.  Workers hash the rows of a batch (any order, any thread), then the parts are folded
 * in order of the stream:
 *
 *   worker: dtx_rowhash_batch(batch, &part)        in order: dtx_tablehash_fold(&t, &part)
 */
#ifndef DTX_DATA_TABLEHASH_H
#define DTX_DATA_TABLEHASH_H

#include "core/base/hash/hash.h"
#include "core/data/batch.h"

#define DTX_ROWHASH_BYTES 16u
/* Row hashes of one batch; reused from batch to batch. */
struct dtx_rowhash {
	uint8_t *bytes; /* n x 16, big endian */
	size_t n, cap;
	dtx_u128 sum; /* mod 2^128 */
	struct dtx_buf *scratch;
	/* With keep: what the numbers print as, for the writer (batch->printed), until the next
	 * batch. */
	bool keep;
	struct dtx_printed *text;
	const struct dtx_printed **printed;
	size_t text_cap, printed_cap;
};
#define DTX_ROWHASH_INIT                                                                           \
	{                                                                                          \
		.bytes = NULL                                                                      \
	}
void dtx_rowhash_clear(struct dtx_rowhash *p);
/* Live rows of the batch, in order. Columns that are NULL hash as null. */
DTX_MUSTUSE enum dtx_code dtx_rowhash_batch(const struct dtx_batch *b, struct dtx_rowhash *out,
                                            struct dtx_err *err);

struct dtx_tablehash {
	struct dtx_sha256 sha;
	dtx_u128 sum;
	int64_t rows;
};
#define DTX_TABLEHASH_TEXT 96
/* Starts with the header: be32 count, then be32 length and bytes per name. */
void dtx_tablehash_init(struct dtx_tablehash *t, const struct dtx_schema *schema);
void dtx_tablehash_fold(struct dtx_tablehash *t, const struct dtx_rowhash *part);
/* The same, but that the caller adds the part's bytes, n * DTX_ROWHASH_BYTES, to t->sha. */
void dtx_tablehash_count(struct dtx_tablehash *t, const struct dtx_rowhash *part);
/* "t1:<64 hex>" and "r1:<32 hex>:<rows>". */
void dtx_tablehash_done(struct dtx_tablehash *t, char table[DTX_TABLEHASH_TEXT],
                        char rows[DTX_TABLEHASH_TEXT]);
/* A whole table in one go. */
DTX_MUSTUSE enum dtx_code dtx_tablehash_table(const struct dtx_table *table,
                                              char table_hash[DTX_TABLEHASH_TEXT],
                                              char rows_hash[DTX_TABLEHASH_TEXT],
                                              struct dtx_err *err);

#endif
