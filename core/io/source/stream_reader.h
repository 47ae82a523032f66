/* A reader of an input that can be read only once: nothing is spooled, and memory does not grow
 * with the input.
 *
 * The input is cut into slices of complete records. The reader of its format reads each slice as
 * a table, several workers at the same time. So whatever depends on all of the input must be
 * declared, and whatever needs a second look at it is refused. */
#ifndef DTX_IO_SOURCE_STREAM_READER_H
#define DTX_IO_SOURCE_STREAM_READER_H

#include "core/io/reader.h"

/* Checks that enough is declared. Errors: param_conflict, missing_param; *member is the member
 * of the input to change (NULL: do not ask). */
DTX_MUSTUSE enum dtx_code dtx_stream_reader_check(const struct dtx_read_opts *opts,
                                                  const char **member, struct dtx_err *err);
/* Opens a stream; `src` must be one that dtx_source_passes. */
DTX_MUSTUSE enum dtx_code dtx_stream_reader_open(struct dtx_source *src,
                                                 const struct dtx_read_opts *opts,
                                                 struct dtx_reader **out, struct dtx_err *err);

#endif
