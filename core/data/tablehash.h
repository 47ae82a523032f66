/* A hash of a result that depends only on its values: not on threads, on the output format or on
 * times in zip files.
 *
 * A cell is byte 0 (null), or byte 1, its length (32 bits, big endian) and its text.  A row hash is
 * the XXH3-128 of its cells.  Workers hash the rows of batches in any order; the parts are then
 * folded in the order of the stream:
 *
 *   worker: dtx_rowhash_batch(batch, &part)        in order: dtx_tablehash_fold(&t, &part) */
#ifndef DTX_DATA_TABLEHASH_H
#define DTX_DATA_TABLEHASH_H

#include "core/base/hash/hash.h"
#include "core/data/batch.h"

#define DTX_ROWHASH_BYTES 16u
/* The row hashes of one batch; its memory is reused from batch to batch. */
struct dtx_rowhash {
	uint8_t *bytes; /* n x 16 bytes, big endian */
	size_t n, cap;
	dtx_u128 sum; /* sum of the row hashes mod 2^128 */
	struct dtx_buf *scratch;
	/* If keep is set: the texts of numbers, for the writer (batch->printed), until the next
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
/* Hashes the live rows of the batch in order.  Columns that are NULL hash as null. */
DTX_MUSTUSE enum dtx_code dtx_rowhash_batch(const struct dtx_batch *b, struct dtx_rowhash *out,
                                            struct dtx_err *err);

/* Sets `sum` from the bytes. */
void dtx_rowhash_sum(struct dtx_rowhash *p);

struct dtx_tablehash {
	struct dtx_sha256 sha;
	dtx_u128 sum;
	int64_t rows;
};
#define DTX_TABLEHASH_TEXT 96
/* Starts with a header: number of columns (32 bits, big endian), then length and bytes of each
 * name. */
void dtx_tablehash_init(struct dtx_tablehash *t, const struct dtx_schema *schema);
void dtx_tablehash_fold(struct dtx_tablehash *t, const struct dtx_rowhash *part);
/* The same, except that the caller adds the bytes of the part, n * DTX_ROWHASH_BYTES, to t->sha. */
void dtx_tablehash_count(struct dtx_tablehash *t, const struct dtx_rowhash *part);
/* "t1:<64 hex>", which depends on the order of rows, and "r1:<32 hex>:<rows>", which does not. */
void dtx_tablehash_done(struct dtx_tablehash *t, char table[DTX_TABLEHASH_TEXT],
                        char rows[DTX_TABLEHASH_TEXT]);
/* Hashes a whole table at once. */
DTX_MUSTUSE enum dtx_code dtx_tablehash_table(const struct dtx_table *table,
                                              char table_hash[DTX_TABLEHASH_TEXT],
                                              char rows_hash[DTX_TABLEHASH_TEXT],
                                              struct dtx_err *err);

#endif
