/* Starts a jail role: this binary again, with nothing of the caller's but one socket. */
#ifndef DTX_SANDBOX_ZYGOTE_LAUNCH_H
#define DTX_SANDBOX_ZYGOTE_LAUNCH_H

#include <sys/types.h>

#include "core/base/err.h"
#include "core/io/isolate/isolate.h"

#define DTX_ZYGOTE_NAME "dtx-zygote"
#define DTX_READER_NAME "dtx-reader"

/* What a zygote imports: for a run, only for the screen, for programs, which may want more, or for
 * programs that want scipy too. */
enum dtx_zkind {
	DTX_ZYGOTE_RUN,
	DTX_ZYGOTE_SCREEN,
	DTX_ZYGOTE_EXEC,
	DTX_ZYGOTE_SCIENCE,     /* EXEC and scipy */
	DTX_ZYGOTE_RUN_SCIENCE, /* RUN and scipy */
	DTX_ZYGOTE_LIB_RO = 8,  /* a bit: such a one, whose workers have that profile */
	DTX_ZYGOTE_KINDS = 16
};
extern const char *const dtx_zkind_names[DTX_ZYGOTE_KINDS]; /* its first argument; NULL: none */

/* A private zygote; *control is the caller's end of its socket.
 * Code: snippet_setup_refused. */
DTX_MUSTUSE enum dtx_code dtx_launch_zygote(enum dtx_zkind kind, uint32_t hash_seed, pid_t *pid,
                                            int *control, struct dtx_err *err);
/* A zygote that accepts clients on `listener` (borrowed) and outlives the caller; `key` it compares
 * with theirs.  Returns once it is on its own.  Code: snippet_setup_refused. */
DTX_MUSTUSE enum dtx_code dtx_launch_pool(enum dtx_zkind kind, uint32_t hash_seed, const char *key,
                                          uint32_t idle_s, int listener, struct dtx_err *err);
/* A reader of `input` (borrowed): nothing of the caller's but a socket and that. *control is the
 * caller's end.  Limits and the caller's pid are its arguments.
 * Code: jail_unavailable. */
DTX_MUSTUSE enum dtx_code dtx_launch_reader(int input, const struct dtx_isolate_limits *limits,
                                            pid_t *pid, int *control, struct dtx_err *err);

/* Whether /proc is there, which starting a role and looking at it take. */
bool dtx_launch_proc(void);

#endif
