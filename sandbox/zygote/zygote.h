/* Inside a zygote: its state, its workers (zygote_worker.c) and its clients (zygote_serve.c).
 *
 * A zygote is one process with one thread and one poll loop. The only bytes that it receives
 * from a worker are the hand-over of the listener, and no byte of a table, snippet or secret
 * ever reaches it. So a worker cannot attack the process from which other workers are forked. */
#ifndef DTX_SANDBOX_ZYGOTE_ZYGOTE_H
#define DTX_SANDBOX_ZYGOTE_ZYGOTE_H

#include <stdio.h>
#include <sys/types.h>

#include "sandbox/policy/filter.h"
#include "sandbox/zygote/prefault_child.h"
#include "sandbox/zygote/launch.h"
#include "sandbox/zygote/pyhost.h"
#include "sandbox/wire.h"

#define DTX_ZYGOTE_WORKERS 64
#define DTX_ZYGOTE_CLIENTS 96

/* The life of a worker. ENDING: it was killed while it was idle and belongs to no client. */
enum dtx_zstate { DTX_Z_NONE, DTX_Z_STARTING, DTX_Z_IDLE, DTX_Z_LEASED, DTX_Z_ENDING };

/* The descriptors of a worker. Where there are two, the second is the worker's own end. */
struct dtx_zends {
	int job[2], handover[2], out[2], err[2], in, result, pidfd, listener;
};
struct dtx_zworker {
	enum dtx_zstate state;
	bool reserve; /* made before a client asked for it */
	bool armed;   /* leased, and the run goes on without the zygote */
	bool session; /* it waits for calls of a session most of the time, for hours */
	pid_t pid;
	struct dtx_zends ends; /* once leased, only the pidfd is left */
	uint32_t audit, lease;
	int client;                /* index of its client; -1 if none, or if the client is gone */
	int64_t since_ns, kill_at; /* start of the state; when to kill it, 0: never */
};
struct dtx_zclient {
	struct dtx_wire wire; /* fd is -1 if there is no client */
	bool greeted;
	uint64_t turn;    /* > 0: its place in the queue for a worker */
	int64_t asked_ns; /* when it started to wait */
	int worker;       /* index of its worker, or -1 */
};

struct dtx_zygote {
	enum dtx_zkind kind;
	bool lib_ro; /* its workers may read the library trees */
	bool pooled;
	int listener; /* -1: private, or accepts no more clients */
	uint32_t hash_seed;
	char key[DTX_WIRE_KEY + 1];
	unsigned peer; /* uid of a pool's clients as seen from this namespace */
	int64_t idle_ns;
	struct dtx_filters filters;
	struct dtx_py_info py;
	unsigned layers, landlock;
	struct dtx_zworker worker[DTX_ZYGOTE_WORKERS];
	struct dtx_zclient client[DTX_ZYGOTE_CLIENTS];
	uint32_t leases, workers, live_max, cores, failures;
	uint64_t turns;
	int64_t born_ns, used_ns; /* used: the last time a client was there */
	uint64_t born_rss;
	unsigned rounds, cold; /* rounds of the warm-up; how many of them failed */
	unsigned learned;      /* value of `rounds` when the pages were learned */
	struct dtx_prefault_child hot;
	int statm; /* /proc/self/statm, or -1 */
	int task;  /* /proc/self/task until the threads have been counted, or -1 */
};

#define DTX_ZREFUSE(err, layer, ...)                                                               \
	DTX_FAIL((err), DTX_E_SNIPPET_SETUP_REFUSED, layer ": " __VA_ARGS__)

/* --- workers --- */

/* Forks one worker into a free place. It is ready once its hand-over arrives. *at becomes its
 * index. Error: snippet_setup_refused. */
DTX_MUSTUSE enum dtx_code dtx_zworker_make(struct dtx_zygote *z, bool reserve, size_t *at,
                                           struct dtx_err *err);
/* Learns from a child which pages a run writes to. No worker may be made meanwhile. */
void dtx_zworker_learn(struct dtx_zygote *z);
/* Reads the hand-over of a starting worker: its listener, or which step failed. On failure the
 * worker is ended. Error: snippet_setup_refused. */
DTX_MUSTUSE enum dtx_code dtx_zworker_locked(struct dtx_zygote *z, struct dtx_zworker *w,
                                             struct dtx_err *err);
/* Hands an idle worker to a client, with all of its descriptors. Returns false if the client is
 * gone. */
DTX_MUSTUSE bool dtx_zworker_grant(struct dtx_zygote *z, size_t worker, size_t client);
/* Sets the limits of a leased worker; *a becomes what is in force. */
DTX_MUSTUSE enum dtx_code dtx_zworker_arm(struct dtx_zworker *w, struct dtx_wire_arm *a,
                                          struct dtx_err *err);
void dtx_zworker_kill(struct dtx_zworker *w);
/* Whether the worker has ended. Then *e is filled and its place is free. */
DTX_MUSTUSE bool dtx_zworker_reap(struct dtx_zworker *w, struct dtx_wire_exited *e);
size_t dtx_zworker_count(const struct dtx_zygote *z, enum dtx_zstate state);

/* --- clients --- */

/* Serves until no client is left and the idle time is over. A failure is one of the zygote
 * itself. */
DTX_MUSTUSE enum dtx_code dtx_zygote_serve(struct dtx_zygote *z, struct dtx_err *err);
/* The number of workers to have ready beyond those that clients wait for. */
size_t dtx_zygote_reserve(const struct dtx_zygote *z);
/* Sends REFUSED with the error to one client, or to all clients, also those that have not been
 * accepted yet. */
void dtx_zygote_refuse(struct dtx_wire *wire, const struct dtx_err *err);
void dtx_zygote_refuse_all(struct dtx_zygote *z, const struct dtx_err *err);

#endif
