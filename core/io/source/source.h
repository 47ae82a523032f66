/* An input: a mapped file, or a pipe spooled to memory and then to an unlinked temp file. */
#ifndef DTX_IO_SOURCE_SOURCE_H
#define DTX_IO_SOURCE_SOURCE_H

#include <stdatomic.h>

#include "core/base/err.h"
#include "core/base/hash/identity.h"
#include "core/base/progress.h"
#include "core/data/owner.h"
#include "core/io/archive/archive_limits.h"

struct dtx_stat_signature;
struct dtx_source;

/* Opens path ("-": stdin, spooled whole).  Codes: input_not_found, input_io. */
DTX_MUSTUSE enum dtx_code dtx_source_open(const char *path, struct dtx_source **out,
                                          struct dtx_err *err);
/* Opens path ("-": stdin) whose bytes pass once, from first to last, and are kept nowhere: `data`
 * is empty, `size` counts what has passed, the hash is of that.  Codes: input_not_found, input_io.
 */
DTX_MUSTUSE enum dtx_code dtx_source_stream(const char *path, struct dtx_source **out,
                                            struct dtx_err *err);
bool dtx_source_passes(const struct dtx_source *s); /* it is such a one */
/* Who ends a wait for bytes: cancel (NULL: nobody), or the clock (0: never). */
void dtx_source_patience(struct dtx_source *s, const atomic_bool *cancel, int64_t deadline_ns);
/* The next bytes of it, at most n; *got is 0 at the end.  One thread at a time.  Codes: input_io,
 * cancelled, time_limit. */
DTX_MUSTUSE enum dtx_code dtx_source_pull(struct dtx_source *s, char *to, size_t n, size_t *got,
                                          struct dtx_err *err);
/* Nobody wants more of it: who waits for bytes in another thread meets the end.  Nothing to do for
 * a source that does not pass. */
void dtx_source_stop(struct dtx_source *s);
bool dtx_source_stopped(const struct dtx_source *s);
/* Bytes (heap; taken, also on failure) as a part of another source, whose byte and line, from 0,
 * its own first ones are; that of a part with bytes in front that the other lacks may be negative.
 */
DTX_MUSTUSE enum dtx_code dtx_source_part(const struct dtx_source *of, char *bytes, size_t len,
                                          int64_t byte, int64_t line, struct dtx_source **out,
                                          struct dtx_err *err);
bool dtx_source_is_part(const struct dtx_source *s);
int64_t dtx_source_byte0(const struct dtx_source *s);
int64_t dtx_source_line0(const struct dtx_source *s);
/* A copy of bytes as a source, for tests and examples. */
DTX_MUSTUSE enum dtx_code dtx_source_bytes(const char *name, const void *bytes, size_t len,
                                           struct dtx_source **out, struct dtx_err *err);
/* The whole of a descriptor (borrowed) as a source of its own, mapped; for a process that has been
 * given nothing else. Direct. */
DTX_MUSTUSE enum dtx_code dtx_source_fd(const char *name, int fd, size_t size,
                                        struct dtx_source **out, struct dtx_err *err);
void dtx_source_free(struct dtx_source *s); /* NULL is fine; joins the hash thread */
/* Few of its bytes will be read from here on: their pages are given back on a thread of its own.
 * Nothing happens before they are hashed. */
void dtx_source_let_go(struct dtx_source *s);

const char *dtx_source_name(const struct dtx_source *s); /* as given; "-" for stdin */
const char *dtx_source_data(const struct dtx_source *s); /* mapped; never NULL */
size_t dtx_source_size(const struct dtx_source *s);
int64_t dtx_source_mtime_us(const struct dtx_source *s); /* -1: a pipe */
/* Counted owner of the mapping, for columns that point into it. */
struct dtx_owner *dtx_source_owner(const struct dtx_source *s);

/* Whether parsers of containers (workbooks, gzip) may run on it in this process: bytes that dtx
 * made itself, or this is the process that exists for it. */
bool dtx_source_direct(const struct dtx_source *s);
/* A read-only descriptor of the same bytes, close-on-exec, the caller's. */
DTX_MUSTUSE enum dtx_code dtx_source_dup(const struct dtx_source *s, int *fd, struct dtx_err *err);

/* What is packed in s: `size` bytes of fd (borrowed, 0: none) as a source with the same name, which
 * s frees.  Once; inner is NULL before. */
DTX_MUSTUSE enum dtx_code dtx_source_hold(struct dtx_source *s, int fd, size_t size,
                                          struct dtx_err *err);
struct dtx_source *dtx_source_inner(const struct dtx_source *s);

/* What it may unpack to; the defaults until they are set, which is before it is read. */
const struct dtx_archive_limits *dtx_source_limits(const struct dtx_source *s);
void dtx_source_limit(struct dtx_source *s, const struct dtx_archive_limits *limits);
/* Who looks how far it has been read, before batches tell; NULL: nobody.  Outlives the readers. */
void dtx_source_watch(struct dtx_source *s, struct dtx_progress *watch);
void dtx_source_tick(const struct dtx_source *s, uint64_t done, uint64_t of);

/* Starts the identity of the bytes on threads of its own, at most so many (0: as there are cores);
 * wait gives it.  Wait without start computes it at once, of the kind `auto`. */
void dtx_source_hash_start(struct dtx_source *s, enum dtx_identity_kind kind, unsigned threads);
DTX_MUSTUSE enum dtx_code dtx_source_hash_wait(struct dtx_source *s, char text[DTX_IDENTITY_TEXT],
                                               struct dtx_err *err);
/* Whether SHA-256 runs on its thread and is not ahead of readers that are through with `done` parts
 * of `of`: it takes one thread from the first byte to the last, so it is what the run will wait
 * for. Any thread, between start and wait. */
bool dtx_source_hash_behind(const struct dtx_source *s, uint64_t done, uint64_t of);
/* input_changed when size or mtime of the file are not what they were at open. */
DTX_MUSTUSE enum dtx_code dtx_source_unchanged(const struct dtx_source *s, struct dtx_err *err);
/* The mark of the file (core/io/source/stat_signature.h), which it had at the open and has now;
 * NULL: no file, one whose file system does not note every write, or it is another by now. */
const struct dtx_stat_signature *dtx_source_mark(const struct dtx_source *s);
/* rc, but input_changed when the file was cut short while its bytes were used: then neither a
 * success nor another failure means anything. */
enum dtx_code dtx_source_blame(const struct dtx_source *s, enum dtx_code rc, struct dtx_err *err);

#endif
