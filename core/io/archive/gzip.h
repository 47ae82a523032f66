/* gzip files, read as hostile input: in the reader process, and for bytes that dtx made itself. */
#ifndef DTX_IO_ARCHIVE_GZIP_H
#define DTX_IO_ARCHIVE_GZIP_H

#include "core/io/source/packed_source.h"

bool dtx_gzip_sniff(const void *head, size_t len);
/* Unpacks all members and checks their checksums and lengths. Errors: corrupt_file,
 * archive_limit. */
DTX_MUSTUSE enum dtx_code dtx_gzip_inflate(const char *label, struct dtx_str bytes,
                                           const struct dtx_archive_limits *limits,
                                           dtx_packed_fn fn, void *arg, struct dtx_err *err);

#endif
