/* The state of a session's keeper and one step of its loop, for its process (keeper.c) and for the
 * fuzz target that sends it bytes of hostile clients. */
#ifndef DTX_SANDBOX_SESSION_KEEPER_H
#define DTX_SANDBOX_SESSION_KEEPER_H

#include "sandbox/session/session.h"

#define DTX_KEEPER_CLIENTS 32

struct dtx_keeper_client {
	struct dtx_wire wire; /* fd -1: this place is free */
	uint64_t turn;        /* > 0: its place in the queue */
	int64_t since_ns;
};
struct dtx_keeper {
	char name[DTX_SESSION_NAME];
	int listener, folder; /* borrowed; listener -1: no client can connect */
	int64_t idle_ns, age_ns, born_ns, used_ns;
	struct dtx_keeper_client client[DTX_KEEPER_CLIENTS];
	int holder; /* index of the client that has the turn; -1: no client has it */
	uint64_t turns;
	int fd[DTX_SESSION_FDS]; /* of the worker */
	size_t nfds;             /* 0 before the end of the first call */
	struct dtx_wire_session state;
	bool over;
};

/* Begins a session without clients. The times idle_ns and age_ns are set before, all else is zero.
 */
void dtx_keeper_init(struct dtx_keeper *k, const char *name, int listener, int folder);
/* Adds a client by its socket (taken). Returns its index, or -1 if there are too many; the socket
 * is then the caller's. */
int dtx_keeper_add(struct dtx_keeper *k, int fd);
/* Gives the turn to the client that is due, and reads at most one message of each client; waits up
 * to `most_ms` for one. Sets k->over when the session must end. */
void dtx_keeper_step(struct dtx_keeper *k, int most_ms);

#endif
