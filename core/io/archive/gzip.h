/* gzip files, read as hostile input: for the reader process, and for bytes that dtx made itself. */
#ifndef DTX_IO_ARCHIVE_GZIP_H
#define DTX_IO_ARCHIVE_GZIP_H

#include "core/base/text/str.h"
#include "core/io/source/source.h"

bool dtx_gzip_sniff(const void *head, size_t len);
/* Takes a piece of what is inflated, in order. */
typedef enum dtx_code (*dtx_gzip_fn)(void *arg, struct dtx_str piece, struct dtx_err *err);
/* All members, their checksums and lengths checked.  Codes: corrupt_file, archive_limit. */
DTX_MUSTUSE enum dtx_code dtx_gzip_inflate(const char *label, struct dtx_str bytes,
                                           const struct dtx_archive_limits *limits, dtx_gzip_fn fn,
                                           void *arg, struct dtx_err *err);
/* What is in the gzip file `src` as a source of its own, to be judged as any other: made once, by a
 * reader process unless src is direct, freed with src. */
DTX_MUSTUSE enum dtx_code dtx_gzip_source(struct dtx_source *src, struct dtx_source **out,
                                          struct dtx_err *err);

#endif
