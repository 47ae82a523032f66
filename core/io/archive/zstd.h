/* Zstandard files (RFC 8878). The library is loaded when it is needed: other runs need it not. */
#ifndef DTX_IO_ARCHIVE_ZSTD_H
#define DTX_IO_ARCHIVE_ZSTD_H

#include "core/io/archive/gzip.h"

bool dtx_zstd_sniff(const void *head, size_t len);
/* Unpacks all frames, as dtx_gzip_inflate does members. The library must be loaded: in a locked
 * process by dtx_pq_codecs_warm, before the lock. Errors: corrupt_file, archive_limit,
 * unsupported_format if the library is not installed. */
DTX_MUSTUSE enum dtx_code dtx_zstd_inflate(const char *label, struct dtx_str bytes,
                                           const struct dtx_archive_limits *limits,
                                           dtx_packed_fn fn, void *arg, struct dtx_err *err);

/* Packs a stream as one frame with a checksum, on the calling thread. The bytes depend on the
 * stream and the version of the library alone. `fn` receives them in order.
 *
 *   new -> add ... -> finish -> free */
struct dtx_zstd_writer;
/* Errors: no_memory; input_io if the library is not installed. */
DTX_MUSTUSE enum dtx_code dtx_zstd_writer_new(dtx_packed_fn fn, void *arg,
                                              struct dtx_zstd_writer **out, struct dtx_err *err);
/* Errors: those of fn, no_memory, cancelled. */
DTX_MUSTUSE enum dtx_code dtx_zstd_writer_add(struct dtx_zstd_writer *w, struct dtx_str bytes,
                                              struct dtx_err *err);
/* Ends the frame. An empty stream becomes an empty frame. */
DTX_MUSTUSE enum dtx_code dtx_zstd_writer_finish(struct dtx_zstd_writer *w, struct dtx_err *err);
void dtx_zstd_writer_free(struct dtx_zstd_writer *w); /* NULL is fine */

#endif
