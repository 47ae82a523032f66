/* Files that are packed with gzip or zstd: dtx reads what is in them like any other file. */
#ifndef DTX_IO_SOURCE_PACKED_SOURCE_H
#define DTX_IO_SOURCE_PACKED_SOURCE_H

#include "core/base/text/str.h"
#include "core/io/source/source.h"

/* Receives the unpacked bytes in pieces, in order. */
typedef enum dtx_code (*dtx_packed_fn)(void *arg, struct dtx_str piece, struct dtx_err *err);
/* Whether a file that begins with these bytes is packed. */
bool dtx_packed_sniff(const void *head, size_t len);
/* Unpacks a file that dtx_packed_sniff knows, and checks its checksums. `label` is its name in
 * errors: corrupt_file, archive_limit, unsupported_format (the library of zstd is missing). */
DTX_MUSTUSE enum dtx_code dtx_packed_inflate(const char *label, struct dtx_str bytes,
                                             const struct dtx_archive_limits *limits,
                                             dtx_packed_fn fn, void *arg, struct dtx_err *err);
/* Makes a source of what is in the packed file `src`, so that its format can be detected like that
 * of any other. A reader process unpacks it, unless `src` is direct. It is made once, and freed
 * with `src`. */
DTX_MUSTUSE enum dtx_code dtx_packed_source(struct dtx_source *src, struct dtx_source **out,
                                            struct dtx_err *err);

#endif
