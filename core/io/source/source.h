/* An input as one range of bytes: a mapped file, or a pipe that is spooled to memory and then to
 * an unlinked temp file. */
#ifndef DTX_IO_SOURCE_SOURCE_H
#define DTX_IO_SOURCE_SOURCE_H

#include <stdatomic.h>

#include "core/base/err.h"
#include "core/base/hash/identity.h"
#include "core/base/thread/progress.h"
#include "core/data/owner.h"
#include "core/io/archive/archive_limits.h"

struct dtx_stat_signature;
struct dtx_source;

/* Opens a path ("-": stdin, spooled completely). The caller frees *out. Errors: input_not_found,
 * input_io. */
DTX_MUSTUSE enum dtx_code dtx_source_open(const char *path, struct dtx_source **out,
                                          struct dtx_err *err);
/* Opens a path ("-": stdin) to be read once, from start to end, without keeping the bytes:
 * `data` is empty, `size` counts the bytes so far, and the hash covers them. Errors:
 * input_not_found, input_io. */
DTX_MUSTUSE enum dtx_code dtx_source_stream(const char *path, struct dtx_source **out,
                                            struct dtx_err *err);
bool dtx_source_passes(const struct dtx_source *s); /* whether it was opened so */
/* Sets what ends a wait for bytes: `cancel` (NULL: nothing), or a deadline (0: never). */
void dtx_source_patience(struct dtx_source *s, const atomic_bool *cancel, int64_t deadline_ns);
/* Reads the next bytes of such a source, at most n; *got is 0 at the end. One thread at a time.
 * Errors: input_io, cancelled, time_limit. */
DTX_MUSTUSE enum dtx_code dtx_source_pull(struct dtx_source *s, char *to, size_t n, size_t *got,
                                          struct dtx_err *err);
/* Tells such a source that no more is wanted: a thread that waits for bytes gets the end. Does
 * nothing for other sources. */
void dtx_source_stop(struct dtx_source *s);
bool dtx_source_stopped(const struct dtx_source *s);
/* Makes a source of heap bytes (taken, also on failure) that are a part of another source, where
 * they begin at `byte` and `line`, from 0. The place may be negative if the part has bytes
 * before it that the other source lacks. */
DTX_MUSTUSE enum dtx_code dtx_source_part(const struct dtx_source *of, char *bytes, size_t len,
                                          int64_t byte, int64_t line, struct dtx_source **out,
                                          struct dtx_err *err);
bool dtx_source_is_part(const struct dtx_source *s);
int64_t dtx_source_byte0(const struct dtx_source *s);
int64_t dtx_source_line0(const struct dtx_source *s);
/* A copy of bytes as a source; for tests and examples. */
DTX_MUSTUSE enum dtx_code dtx_source_bytes(const char *name, const void *bytes, size_t len,
                                           struct dtx_source **out, struct dtx_err *err);
/* Maps all of a descriptor (borrowed). For a process that was given nothing else. The source is
 * direct. */
DTX_MUSTUSE enum dtx_code dtx_source_fd(const char *name, int fd, size_t size,
                                        struct dtx_source **out, struct dtx_err *err);
void dtx_source_free(struct dtx_source *s); /* NULL is fine; joins the hash thread */
/* Tells that few of its bytes will be read from here on: a thread gives their pages back.
 * Nothing happens before they are hashed. */
void dtx_source_let_go(struct dtx_source *s);

const char *dtx_source_name(const struct dtx_source *s); /* as given; "-" for stdin */
const char *dtx_source_data(const struct dtx_source *s); /* mapped; never NULL */
size_t dtx_source_size(const struct dtx_source *s);
int64_t dtx_source_mtime_us(const struct dtx_source *s); /* -1: a pipe */
/* The counted owner of the bytes, for columns that point into them. */
struct dtx_owner *dtx_source_owner(const struct dtx_source *s);

/* Whether parsers of containers (workbooks, gzip) may run on it in this process: dtx made the
 * bytes itself, or this is the process that exists for that. */
bool dtx_source_direct(const struct dtx_source *s);
/* Gives a read-only, close-on-exec descriptor of the same bytes, which the caller closes. */
DTX_MUSTUSE enum dtx_code dtx_source_dup(const struct dtx_source *s, int *fd, struct dtx_err *err);

/* Sets the content of a packed source: `size` bytes of fd (borrowed, 0: none), as a source with
 * the same name that s frees. Can be called once; until then inner is NULL. */
DTX_MUSTUSE enum dtx_code dtx_source_hold(struct dtx_source *s, int fd, size_t size,
                                          struct dtx_err *err);
struct dtx_source *dtx_source_inner(const struct dtx_source *s);

/* The limits for unpacking. They have defaults, and must be set before the source is read. */
const struct dtx_archive_limits *dtx_source_limits(const struct dtx_source *s);
void dtx_source_limit(struct dtx_source *s, const struct dtx_archive_limits *limits);
/* Sets where to report progress before there are batches; NULL: nowhere. It must outlive the
 * readers. */
void dtx_source_watch(struct dtx_source *s, struct dtx_progress *watch);
void dtx_source_tick(const struct dtx_source *s, uint64_t done, uint64_t of);

/* Starts to compute the identity of the bytes on at most `threads` threads (0: one per core);
 * `wait` gives it. Without a start, `wait` computes it, of the kind `auto`. */
void dtx_source_hash_start(struct dtx_source *s, enum dtx_identity_kind kind, unsigned threads);
/* Another process reads the bytes, so that hashing gives back those pages of the file that are
 * done. They can still be read here, only slower. */
void dtx_source_read_elsewhere(struct dtx_source *s);
DTX_MUSTUSE enum dtx_code dtx_source_hash_wait(struct dtx_source *s, char text[DTX_IDENTITY_TEXT],
                                               struct dtx_err *err);
/* Whether SHA-256 is running and not ahead of readers that have read `done` of `of` units. It
 * can use only one thread, so the run will have to wait for it. Any thread may call this,
 * between start and wait. */
bool dtx_source_hash_lags(const struct dtx_source *s, uint64_t done, uint64_t of);
/* Fails with input_changed if size or mtime of the file are not what they were at open. */
DTX_MUSTUSE enum dtx_code dtx_source_unchanged(const struct dtx_source *s, struct dtx_err *err);
/* The signature of the file (see stat_signature.h) if it is the same now as at open. NULL: it is
 * not a file, its file system does not note every write, or the file has changed. */
const struct dtx_stat_signature *dtx_source_mark(const struct dtx_source *s);
/* Returns rc, or sets input_changed if the file was cut short while its bytes were used: neither
 * a success nor another error means anything then. */
enum dtx_code dtx_source_check_truncated(const struct dtx_source *s, enum dtx_code rc,
                                         struct dtx_err *err);

#endif
