/* A reader of an input that passes once: nothing is spooled, memory does not grow with it.
 *
 * The input is cut into slices of whole records, and each slice is read by the reader of its format
 * as a table of its own; workers read slices side by side.  So what is asked about all of an input
 * has to be declared, and what needs a second look at it is refused. */
#ifndef DTX_IO_SOURCE_STREAM_READER_H
#define DTX_IO_SOURCE_STREAM_READER_H

#include "core/io/reader.h"

/* Whether what is declared is enough: else param_conflict or missing_param, and *member of the
 * input (NULL: do not say) is to be mended. */
DTX_MUSTUSE enum dtx_code dtx_stream_reader_check(const struct dtx_read_opts *opts,
                                                  const char **member, struct dtx_err *err);
/* src passes (dtx_source_passes). */
DTX_MUSTUSE enum dtx_code dtx_stream_reader_open(struct dtx_source *src,
                                                 const struct dtx_read_opts *opts,
                                                 struct dtx_reader **out, struct dtx_err *err);

#endif
