/* A reader of rows that fragments have made: the files of one source, one after the other. */
#ifndef DTX_CLUSTER_ROWS_READER_H
#define DTX_CLUSTER_ROWS_READER_H

#include "core/data/frame/frame.h"
#include "core/io/reader.h"

/* A finished fragment. */
struct dtx_rows_file {
	const char *path;
	uint64_t sections, bytes; /* sections: without the first one, which is empty */
	uint64_t text;           /* bytes of text, see DTX_FRAGMENT_TEXT_AT; 0: the file has none */
	bool indexed;            /* it is one of buckets.h */
	char hash[65];           /* of the bytes, or of the index, as dtx_weak_done */
	struct dtx_owner *owner; /* of the mapping; NULL: the file is not open */
	struct dtx_frame_view view;
};
/* Maps a file and compares its hash; closing one that is not open does nothing. Codes: input_io. */
DTX_MUSTUSE enum dtx_code dtx_rows_file_open(struct dtx_rows_file *file, struct dtx_err *err);
void dtx_rows_file_close(struct dtx_rows_file *file);
/* `files`, which are open, and `schema` (of the rows) are borrowed; `of` is the reader of the
 * input, whose numbers of rows the batches have. The caller closes *out, which closes the files;
 * batches may outlive it, but not `of`. Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_rows_reader_new(struct dtx_rows_file *file, size_t nfiles,
                                              const struct dtx_schema *schema,
                                              struct dtx_reader *of, struct dtx_reader **out,
                                              struct dtx_err *err);

#endif
