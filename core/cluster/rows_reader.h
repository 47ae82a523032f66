/* A reader of rows that fragments have made: the files of one source, one after the other. */
#ifndef DTX_CLUSTER_ROWS_READER_H
#define DTX_CLUSTER_ROWS_READER_H

#include "core/io/reader.h"

/* A finished fragment. */
struct dtx_rows_file {
	const char *path;
	uint64_t sections, bytes; /* sections: without the first one, which is empty */
	char hash[65];            /* of the bytes, as dtx_weak_done */
};
/* Maps a file and compares its hash. The caller unrefs *owner, and closes the view. Codes:
 * input_io. */
struct dtx_frame_view;
DTX_MUSTUSE enum dtx_code dtx_rows_file_open(const struct dtx_rows_file *file,
                                             struct dtx_owner **owner, struct dtx_frame_view *view,
                                             struct dtx_err *err);
/* `files` and `schema` (of the rows) are borrowed; `of` is the reader of the input, whose numbers
 * of rows the batches have. The caller closes *out; batches may outlive it, but not `of`. Codes:
 * no_memory. Reading fails with input_io for a file that does not have the bytes of its hash. */
DTX_MUSTUSE enum dtx_code dtx_rows_reader_new(const struct dtx_rows_file *file, size_t nfiles,
                                              const struct dtx_schema *schema,
                                              struct dtx_reader *of, struct dtx_reader **out,
                                              struct dtx_err *err);

#endif
