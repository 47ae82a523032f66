/* Packs a stream of bytes as one gzip member (RFC 1952), on several threads.
 *
 * The stream is cut into blocks of a fixed size, which are packed apart from each other at a fixed
 * level and without a time. So the packed bytes depend on the stream alone, not on the number of
 * threads, nor on the sizes of the pieces that are added.
 *
 *   new -> add ... -> finish -> free */
#ifndef DTX_IO_ARCHIVE_GZIP_WRITER_H
#define DTX_IO_ARCHIVE_GZIP_WRITER_H

#include "core/base/err.h"
#include "core/base/text/str.h"

struct dtx_gzip_writer;

/* Receives the packed bytes in order, on the thread that calls add or finish. */
typedef enum dtx_code (*dtx_gzip_writer_fn)(void *arg, struct dtx_str packed, struct dtx_err *err);

/* `workers` threads pack at the same time (0 or 1: the calling thread). Error: memory_limit. */
DTX_MUSTUSE enum dtx_code dtx_gzip_writer_new(unsigned workers, dtx_gzip_writer_fn fn, void *arg,
                                              struct dtx_gzip_writer **out, struct dtx_err *err);
/* Errors: those of fn, memory_limit, cancelled. */
DTX_MUSTUSE enum dtx_code dtx_gzip_writer_add(struct dtx_gzip_writer *w, struct dtx_str bytes,
                                              struct dtx_err *err);
/* Packs what is left and ends the member. An empty stream becomes an empty member. */
DTX_MUSTUSE enum dtx_code dtx_gzip_writer_finish(struct dtx_gzip_writer *w, struct dtx_err *err);
void dtx_gzip_writer_free(struct dtx_gzip_writer *w); /* NULL is fine */

#endif
