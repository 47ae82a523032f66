/* Cuts the bytes of a pipe into slices of complete records. */
#ifndef DTX_IO_SOURCE_RECORD_CHUNKER_H
#define DTX_IO_SOURCE_RECORD_CHUNKER_H

#include "core/base/memory/buf.h"
#include "core/io/csv/csv_ref.h"

/* bytes of a slice, unless a record is larger */
#define DTX_RECORD_CHUNKER_BYTES ((size_t)512 << 10)
#define DTX_RECORD_CHUNKER_MOST  ((size_t)32 << 20) /* the most bytes of a record */

struct dtx_record_chunker {
	struct dtx_source *src; /* can be read once; borrowed */
	bool lines;             /* each line is a record */
	bool forward;           /* the end of a record can only be found by parsing all records */
	struct dtx_csv_text text;
	const struct dtx_dialect *dialect;
	size_t bytes; /* of a slice */
	struct dtx_buf rest;
	int64_t byte, line; /* the place where rest begins */
	bool end;           /* no more bytes */
	/* The header, which the input has once: every slice but the first begins with a copy of
	 * it, so that each slice is a table. */
	struct dtx_buf head;
	int64_t head_lines;
};

/* dialect NULL: lines. bytes: size of a slice, 0: DTX_RECORD_CHUNKER_BYTES. */
void dtx_record_chunker_init(struct dtx_record_chunker *p, struct dtx_source *src,
                             const struct dtx_dialect *dialect, size_t bytes);
void dtx_record_chunker_clear(struct dtx_record_chunker *p);
/* Gets the next slice; NULL at the end. Error: input_limit, if a record is too large. */
DTX_MUSTUSE enum dtx_code dtx_record_chunker_next(struct dtx_record_chunker *p,
                                                  struct dtx_source **out, struct dtx_err *err);
/* Sets the place of a record in err; line and byte count from 0. */
void dtx_record_chunker_set_position(int64_t line, int64_t byte, struct dtx_err *err);

#endif
