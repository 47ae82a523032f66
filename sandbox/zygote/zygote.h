/* Inside a zygote: what it holds, its workers (zygote_worker.c), its clients (zygote_serve.c).
 *
 * One process, one thread, one poll loop.  No byte of a worker reaches it but the hand-over of its
 * listener, no byte of a table, snippet or secret anything. */
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

/* ENDING: killed while it was idle, nobody's any more. */
enum dtx_zstate { DTX_Z_NONE, DTX_Z_STARTING, DTX_Z_IDLE, DTX_Z_LEASED, DTX_Z_ENDING };

/* Descriptors of a worker; the second of a pair is the worker's own end. */
struct dtx_zends {
	int job[2], handover[2], out[2], err[2], in, result, pidfd, listener;
};
struct dtx_zworker {
	enum dtx_zstate state;
	bool reserve; /* made before anybody asked */
	bool armed;   /* leased, and the run goes on without us */
	pid_t pid;
	struct dtx_zends ends; /* once leased: the pidfd alone */
	uint32_t audit, lease;
	int client;                /* index; -1: none, or gone */
	int64_t since_ns, kill_at; /* of the state; 0: no deadline */
};
struct dtx_zclient {
	struct dtx_wire wire; /* fd -1: no client */
	bool greeted;
	uint64_t turn;    /* > 0: waits for a worker */
	int64_t asked_ns; /* when it began to */
	int worker;       /* index, -1: none */
};

struct dtx_zygote {
	enum dtx_zkind kind;
	bool lib_ro; /* its workers read the library trees */
	bool pooled;
	int listener; /* -1: private, or takes no more clients */
	uint32_t hash_seed;
	char key[DTX_WIRE_KEY + 1];
	unsigned peer; /* uid that a client of the pool has, as seen from here */
	int64_t idle_ns;
	struct dtx_filters filters;
	struct dtx_py_info py;
	unsigned layers, landlock;
	struct dtx_zworker worker[DTX_ZYGOTE_WORKERS];
	struct dtx_zclient client[DTX_ZYGOTE_CLIENTS];
	uint32_t leases, workers, live_max, cores, failures;
	uint64_t turns;
	int64_t born_ns, used_ns; /* used: last time there was a client */
	uint64_t born_rss;
	unsigned rounds, cold; /* of the warm-up; those that failed */
	unsigned learned;      /* rounds there had been when the pages were learnt */
	struct dtx_prefault_child hot;
	int statm; /* what the kernel says of its memory; -1 */
	int task;  /* its folder of threads, until they have been counted; -1 */
};

#define DTX_ZREFUSE(err, layer, ...)                                                               \
	DTX_FAIL((err), DTX_E_SNIPPET_SETUP_REFUSED, layer ": " __VA_ARGS__)

/* --- workers --- */

/* One worker in a free place; it is ready when its hand-over says so.  *at: its index. */
DTX_MUSTUSE enum dtx_code dtx_zworker_make(struct dtx_zygote *z, bool reserve, size_t *at,
                                           struct dtx_err *err);
/* Learns from a child which pages a run writes to; there is no worker meanwhile. */
void dtx_zworker_learn(struct dtx_zygote *z);
/* What a starting worker says once it is locked: its listener, or what failed. */
DTX_MUSTUSE enum dtx_code dtx_zworker_locked(struct dtx_zygote *z, struct dtx_zworker *w,
                                             struct dtx_err *err);
/* Hands an idle worker to a client, which then has all of its ends. */
DTX_MUSTUSE bool dtx_zworker_grant(struct dtx_zygote *z, size_t worker, size_t client);
/* Limits of a leased one. */
DTX_MUSTUSE enum dtx_code dtx_zworker_arm(struct dtx_zworker *w, struct dtx_wire_arm *a,
                                          struct dtx_err *err);
void dtx_zworker_kill(struct dtx_zworker *w);
/* True when it has ended: *e is filled, its place is free. */
DTX_MUSTUSE bool dtx_zworker_reap(struct dtx_zworker *w, struct dtx_wire_exited *e);
size_t dtx_zworker_count(const struct dtx_zygote *z, enum dtx_zstate state);

/* --- clients --- */

/* Until nobody is left to serve.  A failure is one of the zygote itself, told to `client` 0 when
 * it is private. */
DTX_MUSTUSE enum dtx_code dtx_zygote_serve(struct dtx_zygote *z, struct dtx_err *err);
/* Workers to have ready now beyond those that somebody waits for. */
size_t dtx_zygote_reserve(const struct dtx_zygote *z);
/* REFUSED to one client, or to everybody who waits at the door. */
void dtx_zygote_refuse(struct dtx_wire *wire, const struct dtx_err *err);
void dtx_zygote_refuse_all(struct dtx_zygote *z, const struct dtx_err *err);

#endif
