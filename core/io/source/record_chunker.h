/* What a pipe brings, cut into slices of whole records. */
#ifndef DTX_IO_SOURCE_RECORD_CHUNKER_H
#define DTX_IO_SOURCE_RECORD_CHUNKER_H

#include "core/base/buf.h"
#include "core/io/csv/csv_ref.h"

#define DTX_RECORD_CHUNKER_BYTES ((size_t)512 << 10) /* of a slice, unless a record is larger */
#define DTX_RECORD_CHUNKER_MOST  ((size_t)32 << 20)  /* of a record */

struct dtx_record_chunker {
	struct dtx_source *src; /* passes; borrowed */
	bool lines;             /* a record is a line, whatever is in it */
	bool forward;           /* only a walk over all records finds where they end */
	struct dtx_csv_text text;
	const struct dtx_dialect *dialect;
	size_t bytes; /* of a slice */
	struct dtx_buf rest;
	int64_t byte, line; /* where rest begins */
	bool end;           /* no more bytes */
	/* Every slice but the first begins with it, which the input has once: so it is a table of
	 * its own. */
	struct dtx_buf head;
	int64_t head_lines;
};

/* dialect NULL: lines.  bytes: of a slice, 0: DTX_RECORD_CHUNKER_BYTES. */
void dtx_record_chunker_init(struct dtx_record_chunker *p, struct dtx_source *src,
                             const struct dtx_dialect *dialect, size_t bytes);
void dtx_record_chunker_clear(struct dtx_record_chunker *p);
/* The next slice, NULL at the end.  input_limit: a record is too large. */
DTX_MUSTUSE enum dtx_code dtx_record_chunker_next(struct dtx_record_chunker *p,
                                                  struct dtx_source **out, struct dtx_err *err);
/* Gives err the place of a record, from 0. */
void dtx_record_chunker_blame(int64_t line, int64_t byte, struct dtx_err *err);

#endif
