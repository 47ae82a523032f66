/* Main's side of one run: a box from zygote to exit report. */
#ifndef DTX_SANDBOX_MAIN_SUPER_H
#define DTX_SANDBOX_MAIN_SUPER_H

#include <sys/types.h>

#include "core/data/frame/frame.h"
#include "core/plan/exec/provider.h"
#include "sandbox/main/stream.h"
#include "sandbox/wire.h"

/* Why the supervisor ended a worker itself. */
enum dtx_kill {
	DTX_KILL_NONE,
	DTX_KILL_DENIED,
	DTX_KILL_WALL,
	DTX_KILL_MEMORY,
	DTX_KILL_STREAM,
	DTX_KILL_PROTOCOL,
	DTX_KILL_CANCEL,
	DTX_KILL_STUCK,
	DTX_KILL_MUTE, /* its end of the job socket is closed; it may have been dying already */
	DTX_KILL_COUNT
};

struct dtx_box {
	struct dtx_jail_spec spec; /* limits filled */
	struct dtx_frame frame;    /* what the worker gets */
	pid_t zygote;              /* private; 0: none, or a pool's */
	bool pooled;
	bool silent;         /* an answer did not come in time */
	bool hidden;         /* what the kernel says of the worker is not for us to read */
	bool turned_away;    /* the pool has as many waiting as it may */
	const char *command; /* a jail elsewhere; NULL: here */
	void *raw;           /* the frame, when it came as bytes; in_len of them */
	char key[DTX_WIRE_KEY + 4];
	struct dtx_wire ctl, job;
	int in, result, out, err, pidfd, listener; /* -1: none */
	pid_t worker, inner;                       /* as main sees it, as it sees itself */
	struct dtx_wire_welcome welcome;
	struct dtx_wire_grant grant;
	struct dtx_wire_done done;
	struct dtx_wire_exited exited;
	bool has_done, has_exited, dead;
	bool early; /* its result is here, and its death comes */
	void *copy; /* of the result, done.used bytes of memory; NULL: none */
	enum dtx_kill kill;
	uint64_t vm_size, base_anon; /* bytes, of the worker when it was ready */
	uint64_t in_len;
	struct dtx_wire_arm arm;     /* the limits that were asked for */
	int64_t t0, t_start;         /* ns: exec began, START was sent */
	int64_t t_asked;             /* ns: a pool was first asked for a worker; 0 */
	int64_t t_mute;              /* ns: the worker cannot say DONE any more; 0 */
	struct dtx_stream stream[2]; /* stdout, stderr */
	struct dtx_jail_file *file;  /* left by a program; their bytes are in `kept` */
	size_t nfiles, nput;
	struct dtx_arena names;
	struct dtx_owner *kept;
	struct dtx_table *main;  /* "main" or the first given, counted: its cells may come back */
	struct dtx_table *table; /* result, until get */
};

/* Starts the zygote, which proceeds while the caller goes on; a private one makes the worker. */
DTX_MUSTUSE enum dtx_code dtx_super_begin(struct dtx_box *b, struct dtx_err *err);
/* Waits for a locked worker, asks for its limits and verifies it from outside; the frame is
 * complete by then.  A refusal is in the report. */
DTX_MUSTUSE enum dtx_code dtx_super_ready(struct dtx_box *b, struct dtx_jail_report *r,
                                          struct dtx_err *err);
/* Hands the frame over, sees the limits in place, starts the snippet, waits for its end. */
DTX_MUSTUSE enum dtx_code dtx_super_run(struct dtx_box *b, struct dtx_jail_report *r,
                                        struct dtx_err *err);
/* Refused without a required layer. */
DTX_MUSTUSE enum dtx_code dtx_super_required(const struct dtx_box *b, struct dtx_err *err);
/* Layers and versions of the welcome, into the report. */
void dtx_super_describe(const struct dtx_box *b, struct dtx_jail_report *r);
/* watch.c: waits until a started run is over; kills a worker for a reason. */
void dtx_super_watch(struct dtx_box *b, struct dtx_jail_report *r);
void dtx_super_kill(struct dtx_box *b, enum dtx_kill why);
/* Ends everything of the box that still lives, and reaps it. */
void dtx_super_end(struct dtx_box *b);

/* procfacts.c: facts of a worker from outside. */
/* Process behind a pidfd, 0 if it cannot be told. */
pid_t dtx_run_stats_pid(int pidfd);
/* /proc/PID/status says what a locked worker's must; `what` names the first thing that does not
 * hold.  *inner: its pid in its own namespace. */
DTX_MUSTUSE bool dtx_run_stats_status(pid_t pid, uint64_t *vm_size, pid_t *inner, char *what,
                                      size_t size);
/* The same for a locked reader process, which has threads. */
DTX_MUSTUSE bool dtx_run_stats_reader(pid_t pid, char *what, size_t size);
/* This process may not read such a file of that one, but its own: /proc is mounted with hidepid. */
bool dtx_run_stats_hidden(pid_t pid);
/* Seccomp filters that this process inherited, and its children will; -1 if it cannot be told. */
int64_t dtx_run_stats_own_filters(void);
/* Whether it has begun to end, for a reason of its own; false where that cannot be seen. */
DTX_MUSTUSE bool dtx_run_stats_exiting(pid_t pid);
/* CPU time and peak memory of one that lives, and the bytes that are its own now; false if they
 * cannot be told. */
DTX_MUSTUSE bool dtx_run_stats_used(pid_t pid, struct dtx_wire_exited *used, uint64_t *anon);
/* Resident bytes, and those of them that are not shared; both 0 if it cannot be told. */
struct dtx_resident {
	uint64_t all, anon;
};
struct dtx_resident dtx_run_stats_resident(pid_t pid);

#endif
