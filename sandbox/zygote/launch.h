/* Starts a role of the jail: this binary under another name, in a new process that gets nothing
 * from the caller but one socket (and a reader its input).
 *
 * The functions are safe with threads. On failure nothing stays running. */
#ifndef DTX_SANDBOX_ZYGOTE_LAUNCH_H
#define DTX_SANDBOX_ZYGOTE_LAUNCH_H

#include <sys/types.h>

#include "core/base/err.h"
#include "core/io/isolate/isolate.h"
#include "core/plan/exec/provider.h"

#define DTX_ZYGOTE_NAME "dtx-zygote"
#define DTX_READER_NAME "dtx-reader"
#define DTX_KEEPER_NAME "dtx-session"

/* What a zygote imports before it forks workers: enough for a step of a plan (RUN), only what
 * the screen needs (SCREEN), or what programs of `dtx exec` use (EXEC); with LIB_RO for workers of
 * the profile lib-ro; and from bit SCIENCE_SHIFT on the packages of enum dtx_jail_science. */
enum dtx_zkind {
	DTX_ZYGOTE_RUN,
	DTX_ZYGOTE_SCREEN,
	DTX_ZYGOTE_EXEC,
	DTX_ZYGOTE_BASE = 3,   /* the bits of the three above */
	DTX_ZYGOTE_LIB_RO = 4, /* a bit */
	DTX_ZYGOTE_SCIENCE_SHIFT = 3,
	DTX_ZYGOTE_KINDS = DTX_JAIL_SCIENCE_END << DTX_ZYGOTE_SCIENCE_SHIFT
};
#define DTX_ZKIND_NAME 80
/* Writes the first argument of such a zygote, "exec+scipy" for instance. */
void dtx_zkind_name(enum dtx_zkind kind, char out[DTX_ZKIND_NAME]);
/* Finds the kind of that name; returns false if no kind has it. */
DTX_MUSTUSE bool dtx_zkind_find(const char *name, enum dtx_zkind *kind);

/* Starts a private zygote, which ends when the caller closes *control, the caller's end of its
 * socket. Error: snippet_setup_refused. */
DTX_MUSTUSE enum dtx_code dtx_launch_zygote(enum dtx_zkind kind, uint32_t hash_seed, pid_t *pid,
                                            int *control, struct dtx_err *err);
/* Starts a zygote that accepts clients on `listener` (borrowed) and outlives the caller. It
 * compares `key` with the key that each client sends, and ends after `idle_s` seconds without a
 * client. Returns when the process is detached. Error: snippet_setup_refused. */
DTX_MUSTUSE enum dtx_code dtx_launch_pool(enum dtx_zkind kind, uint32_t hash_seed, const char *key,
                                          uint32_t idle_s, int listener, struct dtx_err *err);
/* Starts a reader of `input` (borrowed). It gets a socket and its input, nothing else. *control
 * is the caller's end of the socket. The limits and the caller's pid are passed as arguments.
 * Error: jail_unavailable. */
DTX_MUSTUSE enum dtx_code dtx_launch_reader(int input, const struct dtx_isolate_limits *limits,
                                            pid_t *pid, int *control, struct dtx_err *err);

/* Starts the keeper of a session (sandbox/session), which outlives the caller, and is its child as
 * long as the caller lives. It gets three descriptors, which are borrowed: its listening socket,
 * the folder that it is in, and a socket to the client of the first call. Error:
 * snippet_setup_refused. */
DTX_MUSTUSE enum dtx_code dtx_launch_keeper(const char *name, int64_t idle_s, int64_t age_s,
                                            const int fds[3], struct dtx_err *err);

/* Whether /proc is mounted. It is needed to start a role and to check its state from outside. */
bool dtx_launch_proc(void);

#endif
