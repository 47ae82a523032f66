/* Bytes of one output, in order, to a file or to stdout.
 *
 * A file is written as `.NAME.RUN.tmp` beside its target, made when the first bytes leave the
 * buffer, and takes the target's place in one rename, so the old or the new file is whole at every
 * instant:
 *
 *   open -> write ... -> finish (fsync; size and hash are final) -> [record it] -> commit -> free
 *
 * free without commit removes the temp file; the target stays what it was.  A target that cannot
 * be renamed over (a device, a pipe) and stdout have no temp file: `atomic` is false.
 * When the reader of stdout has closed it, the code is output_closed.
 * One thread at a time. */
#ifndef DTX_IO_WRITE_OUTFILE_H
#define DTX_IO_WRITE_OUTFILE_H

#include "core/base/err.h"
#include "core/base/hash/hash.h"

struct dtx_buf;
struct dtx_outfile;

/* A spool holds this much in memory, then goes to an unlinked temp file. */
#define DTX_OUTFILE_SPOOL_MAX ((size_t)64 << 20)

enum dtx_outfile_mode {
	DTX_OUTFILE_STREAM, /* stdout, devices: bytes leave as they come */
	DTX_OUTFILE_SPOOL   /* stdout, devices: bytes wait for the commit */
};

struct dtx_outfile_info {
	const char *path; /* absolute, links resolved; "-" for stdout */
	const char *temp; /* absolute; NULL when not atomic */
	bool atomic;
	uint64_t size;            /* so far; final after finish */
	char sha[DTX_SHA256_HEX]; /* "" before finish */
};

/* `run_id` goes into the temp name.  The temp file is the owner's alone until the commit; then it
 * gets the permissions of a target of the same owner (never setuid, setgid, sticky), else those of
 * the umask.  Files of core/io/write/reserve.h are refused, here and again at commit; so is a link
 * that another user left in a shared folder (dtx_file_planted_link).  Codes: usage, output_io,
 * disk_full. */
DTX_MUSTUSE enum dtx_code dtx_outfile_open(const char *path, const char *run_id,
                                           enum dtx_outfile_mode mode, struct dtx_outfile **out,
                                           struct dtx_err *err);
/* What the run can know of it before anything is read: that the file may be written, that its
 * folder is there, that it is none of the files of core/io/write/reserve.h, which it joins as
 * `what`. `name` is for messages: "the rejects".  Codes: usage, output_io. */
DTX_MUSTUSE enum dtx_code dtx_outfile_claim(const char *path, const char *name, const char *what,
                                            struct dtx_err *err);
/* Refuses a path where a file with content is; `hint` says what to do then.  Codes: usage. */
DTX_MUSTUSE enum dtx_code dtx_outfile_absent(const char *path, const char *hint,
                                             struct dtx_err *err);
/* The commit replaces no file with content, also none that came in the meantime (output_io). */
void dtx_outfile_fresh(struct dtx_outfile *o);
/* Before other files of the run are seen: makes the temp file and holds `room` bytes for it, asks a
 * device whether it takes any.  What is written afterwards fails only where it is longer. */
DTX_MUSTUSE enum dtx_code dtx_outfile_prepare(struct dtx_outfile *o, size_t room,
                                              struct dtx_err *err);
/* Called once before a temp file is made, which it can prevent; not for a target without one. */
void dtx_outfile_first(struct dtx_outfile *o, enum dtx_code (*fn)(void *arg, struct dtx_err *err),
                       void *arg);
/* Runs when all bytes are there, before they are made durable, which takes its time. */
void dtx_outfile_last(struct dtx_outfile *o, void (*fn)(void *arg), void *arg);
/* Collects into `sink` (borrowed) at commit: tests, examples. */
DTX_MUSTUSE enum dtx_code dtx_outfile_memory(struct dtx_buf *sink, struct dtx_outfile **out,
                                             struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_outfile_write(struct dtx_outfile *o, const void *bytes, size_t n,
                                            struct dtx_err *err);
/* Bytes of another hash, to be added to it beside those of the next write, where hashes pair
 * (dtx_sha256_pairs); borrowed until then.  What was there before is added now; n may be 0. */
void dtx_outfile_beside(struct dtx_outfile *o, struct dtx_sha256 *sha, const void *bytes, size_t n);
/* No more bytes.  A file is durable under its temp name, size and hash are final. */
DTX_MUSTUSE enum dtx_code dtx_outfile_finish(struct dtx_outfile *o, struct dtx_err *err);
/* Makes the output visible.  Only after finish. */
DTX_MUSTUSE enum dtx_code dtx_outfile_commit(struct dtx_outfile *o, struct dtx_err *err);
/* Valid while the outfile lives. */
const struct dtx_outfile_info *dtx_outfile_info(const struct dtx_outfile *o);
void dtx_outfile_free(struct dtx_outfile *o); /* NULL is fine */

/* Where `path` will really be written and under which temp name (dtx_mem, both; *temp is NULL for
 * stdout and for what cannot be renamed over).  run.start names them, so that a killed run can be
 * cleaned up. */
DTX_MUSTUSE enum dtx_code dtx_outfile_target(const char *path, const char *run_id, char **real,
                                             char **temp, struct dtx_err *err);

#endif
