/* The bytes of one output, in order, to a file or to stdout.
 *
 * A file is written as `.NAME.RUN.tmp` next to its target. The temp file is made when the first
 * bytes leave the buffer, and replaces the target in one rename, so that at any time either the
 * old or the new file is there, complete:
 *
 *   open -> write ... -> finish (fsync; size and hash are final) -> [record it] -> commit -> free
 *
 * free without commit removes the temp file, and the target stays as it was. stdout, and a
 * target that cannot be replaced by rename (a device, a pipe), have no temp file: `atomic` is
 * false. If the reader of stdout has closed it, the error is output_closed. One thread at a
 * time. */
#ifndef DTX_IO_WRITE_OUTFILE_H
#define DTX_IO_WRITE_OUTFILE_H

#include "core/base/err.h"
#include "core/base/hash/hash.h"

struct dtx_buf;
struct dtx_outfile;

/* A spool keeps so many bytes in memory before it uses an unlinked temp file. */
#define DTX_OUTFILE_SPOOL_MAX ((size_t)64 << 20)

enum dtx_outfile_mode {
	DTX_OUTFILE_STREAM, /* stdout and devices: bytes are written as they come */
	DTX_OUTFILE_SPOOL   /* stdout and devices: bytes are kept until the commit */
};

struct dtx_outfile_info {
	const char *path; /* absolute, links resolved; "-" for stdout */
	const char *temp; /* absolute; NULL when not atomic */
	bool atomic;
	bool in_place; /* the file is changed, not replaced: size and sha are not its own */
	uint64_t size; /* so far; final after finish */
	char sha[DTX_SHA256_HEX]; /* "" before finish */
};

/* Opens an output; `run_id` becomes a part of the temp name. Until the commit only the owner can
 * read the temp file. Then it gets the permissions of the target if the owner is the same (never
 * setuid, setgid or sticky), otherwise those of the umask. Files that are reserved (reserve.h)
 * are refused, here and again at commit; so is a link that another user left in a shared folder
 * (dtx_file_planted_link). Errors: usage, output_io, disk_full. */
DTX_MUSTUSE enum dtx_code dtx_outfile_open(const char *path, const char *run_id,
                                           enum dtx_outfile_mode mode, struct dtx_outfile **out,
                                           struct dtx_err *err);
/* Checks an output before anything is read: whether the file may be written, its folder exists,
 * and it is not reserved. Then reserves it as `what`. `name` is for messages: "the rejects".
 * Errors: usage, output_io. */
DTX_MUSTUSE enum dtx_code dtx_outfile_claim(const char *path, const char *name, const char *what,
                                            struct dtx_err *err);
/* Refuses a path with a file that has content; `hint` says what to do. Error: usage. */
DTX_MUSTUSE enum dtx_code dtx_outfile_absent(const char *path, const char *hint,
                                             struct dtx_err *err);
enum dtx_packing { DTX_PACK_NONE, DTX_PACK_GZIP, DTX_PACK_ZSTD };
/* Packs what is written from now on, gzip on `workers` threads; called before the first write. Size
 * and hash are those of the packed bytes. */
DTX_MUSTUSE enum dtx_code dtx_outfile_pack(struct dtx_outfile *o, enum dtx_packing how,
                                           unsigned workers, struct dtx_err *err);
/* Makes the commit refuse to replace a file with content, even one that has appeared in the
 * meantime (output_io). */
void dtx_outfile_fresh(struct dtx_outfile *o);
/* Makes the temp file and reserves `room` bytes for it; asks a device whether it accepts data.
 * Done before other files of the run become visible, so that later writes can only fail if there
 * are more bytes. */
DTX_MUSTUSE enum dtx_code dtx_outfile_prepare(struct dtx_outfile *o, size_t room,
                                              struct dtx_err *err);
/* Sets a function that is called once before a temp file is made, and can prevent it. Not called
 * for a target without one. */
void dtx_outfile_first(struct dtx_outfile *o, enum dtx_code (*fn)(void *arg, struct dtx_err *err),
                       void *arg);
/* Calls that function now, for a writer that must not begin before. */
DTX_MUSTUSE enum dtx_code dtx_outfile_await(struct dtx_outfile *o, struct dtx_err *err);
/* The writer changes the file itself, in a transaction: nothing is written through `o`. `commit`
 * is called at dtx_outfile_commit; `drop` at dtx_outfile_free, whether it was called or not. Takes
 * arg. */
void dtx_outfile_in_place(struct dtx_outfile *o,
                          enum dtx_code (*commit)(void *arg, struct dtx_err *err),
                          void (*drop)(void *arg), void *arg);
/* Sets a function that is called after the last byte, before the sync, which takes time. */
void dtx_outfile_last(struct dtx_outfile *o, void (*fn)(void *arg), void *arg);
/* Sets a function that makes the bytes of a spool fit for a person's terminal when they are written
 * at commit: it appends `n` bytes of whole characters to `shown`. Size and hash stay those of the
 * output itself. */
void dtx_outfile_shown(struct dtx_outfile *o,
                       void (*fn)(void *arg, const char *bytes, size_t n, struct dtx_buf *shown),
                       void *arg);
/* An output that is stored in `sink` (borrowed) at commit; for tests and examples. */
DTX_MUSTUSE enum dtx_code dtx_outfile_memory(struct dtx_buf *sink, struct dtx_outfile **out,
                                             struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_outfile_write(struct dtx_outfile *o, const void *bytes, size_t n,
                                            struct dtx_err *err);
/* Passes bytes of another hash, to be computed together with that of the next write where two
 * hashes can be paired (dtx_sha256_pairs); they are borrowed until then. Bytes of an earlier
 * call are added now; n may be 0. */
void dtx_outfile_beside(struct dtx_outfile *o, struct dtx_sha256 *sha, const void *bytes, size_t n);
/* Ends the output: a file is on disk under its temp name, size and hash are final. */
DTX_MUSTUSE enum dtx_code dtx_outfile_finish(struct dtx_outfile *o, struct dtx_err *err);
/* Makes the output visible. Only after finish. */
DTX_MUSTUSE enum dtx_code dtx_outfile_commit(struct dtx_outfile *o, struct dtx_err *err);
/* Valid while the outfile lives. */
const struct dtx_outfile_info *dtx_outfile_info(const struct dtx_outfile *o);
void dtx_outfile_free(struct dtx_outfile *o); /* NULL is fine */

/* Finds where `path` will really be written, and the temp name; both are allocated with dtx_mem.
 * *temp is NULL for stdout and for what cannot be replaced by rename. The event run.start
 * contains them, so that a killed run can be cleaned up. */
DTX_MUSTUSE enum dtx_code dtx_outfile_target(const char *path, const char *run_id, char **real,
                                             char **temp, struct dtx_err *err);

#endif
