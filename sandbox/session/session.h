/* Sessions: a worker of the jail that stays for several calls.
 *
 * A session is one locked worker, made from the warm pool like any other, and stopped by a signal
 * while no call runs. A small process of the user, its keeper (keeper.c), holds the worker's
 * descriptors and a socket in the user's folder for sockets (sandbox/main/rundir.h). A client that
 * wants to make a call asks the keeper for the turn, gets the descriptors, runs the call as it
 * would run a single program (sandbox/main), and gives the turn back. So no byte of a program, of a
 * table or of a worker ever reaches the keeper.
 *
 * Whatever goes wrong ends the session: a client that disappears with the turn, a message that does
 * not fit, a worker that is not stopped when it should be. */
#ifndef DTX_SANDBOX_SESSION_SESSION_H
#define DTX_SANDBOX_SESSION_SESSION_H

#include "core/base/err.h"
#include "sandbox/wire.h"

#define DTX_SESSION_FDS  8
#define DTX_SESSIONS_MAX 64 /* of a list */

/* A session whose turn this process has, or has asked for. */
struct dtx_session {
	struct dtx_wire wire; /* to the keeper; fd -1: closed */
	struct dtx_wire_session state;
	/* ctl, job, in, result, stdout, stderr, pidfd, and the listener if there is one; only
	 * after a first call. They belong to whoever opens the box. */
	int fd[DTX_SESSION_FDS];
	size_t nfds;
	bool is_new; /* this is its first call */
};
#define DTX_SESSION_INIT                                                                           \
	{                                                                                          \
		.wire = {.fd = -1 }                                                                \
	}

struct dtx_session_opts {
	int64_t idle_s, age_s; /* of a new session: it ends after so long */
	int64_t most;          /* sessions of this user at a time */
	int64_t wait_ms;       /* for a call that is running */
	bool no_wait;
	bool (*cancelled)(void *arg); /* NULL: never */
};

/* Whether a text can be the name of a session: 1 to 48 letters, digits, '-', '_' and '.', without a
 * dot at the beginning. */
bool dtx_session_name_ok(const char *name);
/* Takes the turn in the session of that name, and starts the session if it is not open. Errors:
 * usage (the name, too many sessions), snippet_setup_refused (no folder, busy, or the session ended
 * while this call waited), cancelled. */
DTX_MUSTUSE enum dtx_code dtx_session_take(struct dtx_session *s, const char *name,
                                           const struct dtx_session_opts *opts,
                                           struct dtx_err *err);
/* Gives the turn back after a call: the keeper goes on with s->state, and after a first call with
 * these descriptors (borrowed). Returns false if the keeper is gone. */
DTX_MUSTUSE bool dtx_session_keep(struct dtx_session *s, const int *fds, size_t nfds);
/* Gives the turn back if nothing has run. */
void dtx_session_back(struct dtx_session *s);
/* Closes the connection. With the turn not given back, that ends the session. */
void dtx_session_close(struct dtx_session *s);

/* Reads what the keepers of all sessions say, ordered by name; returns their number. */
DTX_MUSTUSE enum dtx_code dtx_session_list(struct dtx_wire_session list[DTX_SESSIONS_MAX],
                                           size_t *n, struct dtx_err *err);
/* Ends a session, also while a call runs; *state becomes what it was. Error: usage, if there is no
 * such session. */
DTX_MUSTUSE enum dtx_code dtx_session_stop(const char *name, struct dtx_wire_session *state,
                                           struct dtx_err *err);
/* The same without ending it. */
DTX_MUSTUSE enum dtx_code dtx_session_info(const char *name, struct dtx_wire_session *state,
                                           struct dtx_err *err);

/* In keeper.c: the keeper's process. */
int dtx_keeper_main(int argc, char **argv);

#define DTX_SESSION_LOCK "sessions.lock" /* held while a session begins or ends */
#define DTX_SESSION_SOCK (DTX_SESSION_NAME + 16)
/* The name of its socket: "session-NAME.sock". */
void dtx_session_socket(const char *name, char out[DTX_SESSION_SOCK]);

#endif
