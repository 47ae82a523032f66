/* gzip files, read as hostile input: in the reader process, and for bytes that dtx made itself. */
#ifndef DTX_IO_ARCHIVE_GZIP_H
#define DTX_IO_ARCHIVE_GZIP_H

#include "core/base/text/str.h"
#include "core/io/source/source.h"

bool dtx_gzip_sniff(const void *head, size_t len);
/* Receives the unpacked bytes in pieces, in order. */
typedef enum dtx_code (*dtx_gzip_fn)(void *arg, struct dtx_str piece, struct dtx_err *err);
/* Unpacks all members and checks their checksums and lengths. Errors: corrupt_file,
 * archive_limit. */
DTX_MUSTUSE enum dtx_code dtx_gzip_inflate(const char *label, struct dtx_str bytes,
                                           const struct dtx_archive_limits *limits, dtx_gzip_fn fn,
                                           void *arg, struct dtx_err *err);
/* The same for a file that is packed with gzip or zstd. */
bool dtx_packed_sniff(const void *head, size_t len);
DTX_MUSTUSE enum dtx_code dtx_packed_inflate(const char *label, struct dtx_str bytes,
                                             const struct dtx_archive_limits *limits,
                                             dtx_gzip_fn fn, void *arg, struct dtx_err *err);
/* Makes a source of what is in the packed file `src`, so that its format can be detected like that
 * of any other. A reader process unpacks it, unless `src` is direct. It is made once, and freed
 * with `src`. */
DTX_MUSTUSE enum dtx_code dtx_gzip_source(struct dtx_source *src, struct dtx_source **out,
                                          struct dtx_err *err);

#endif
