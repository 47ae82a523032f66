/* The supervisor: main's side of one run. A box holds everything about the run, from the zygote
 * to the outcome. The calls are made in this order: begin, ready, run, end. One thread per box. */
#ifndef DTX_SANDBOX_MAIN_SUPER_H
#define DTX_SANDBOX_MAIN_SUPER_H

#include <sys/types.h>

#include "core/data/frame/frame.h"
#include "core/plan/exec/provider.h"
#include "sandbox/main/stream.h"
#include "sandbox/wire.h"

/* Why the supervisor killed the worker. */
enum dtx_kill {
	DTX_KILL_NONE,
	DTX_KILL_DENIED,
	DTX_KILL_WALL,
	DTX_KILL_MEMORY,
	DTX_KILL_STREAM,
	DTX_KILL_PROTOCOL,
	DTX_KILL_CANCEL,
	DTX_KILL_STUCK,
	DTX_KILL_MUTE, /* it closed the job socket, and may have been dying already */
	DTX_KILL_COUNT
};

struct dtx_box {
	struct dtx_jail_spec spec; /* with all limits filled in */
	struct dtx_frame frame;    /* the input for the worker */
	pid_t zygote;              /* a private zygote; 0: none, or it is a pool's */
	bool pooled;
	bool starting;       /* the pool was started a short time ago */
	bool silent;         /* an answer did not come in time */
	bool hidden;         /* /proc does not show the worker to us (hidepid) */
	bool turned_away;    /* the pool's queue is full */
	const char *command; /* the command of a remote jail; NULL: here */
	void *raw;           /* the input if it came as bytes; in_len of them */
	char key[DTX_WIRE_KEY + 4];
	struct dtx_wire ctl, job;
	int in, result, out, err, pidfd, listener; /* -1: not open */
	pid_t worker, inner;                       /* its pid for main, and in its own namespace */
	struct dtx_wire_welcome welcome;
	struct dtx_wire_grant grant;
	struct dtx_wire_done done;
	struct dtx_wire_exited exited;
	bool has_done, has_exited, dead;
	bool early; /* the result is here and the worker is being killed */
	void *copy; /* copy of the result, done.used bytes from mmap, or NULL */
	enum dtx_kill kill;
	uint64_t vm_size, base_anon; /* bytes; of the worker when it was ready */
	uint64_t in_len;
	struct dtx_wire_arm arm;     /* the limits that were asked for */
	int64_t t0, t_start;         /* ns: when exec began, when START was sent */
	int64_t t_asked;             /* ns: when a pool was first asked for a worker, or 0 */
	int64_t t_mute;              /* ns: when the worker closed its job socket, or 0 */
	struct dtx_stream stream[2]; /* stdout, stderr */
	/* Of a session: its calls go to one worker, which is stopped between them. */
	struct dtx_box_session {
		bool on;
		bool again;      /* the worker has had a call before */
		bool rests;      /* it is stopped and can take another call */
		bool kept;       /* another process keeps it: closing the box does not end it */
		uint64_t in_off; /* where the input of this call begins */
		uint64_t in_end; /* up to here the worker holds tables of earlier calls */
		int64_t user_us, sys_us; /* CPU time of the worker before this call */
		char why[160];           /* why it does not rest after a call that went well */
	} session;
	struct dtx_jail_file *file; /* files of a program; `kept` owns their bytes */
	size_t nfiles, nput;
	struct dtx_arena names;
	struct dtx_owner *kept;
	/* the input whose cells may be restored: "main", or the first given; counted */
	struct dtx_table *main;
	struct dtx_table *table; /* the result until the caller gets it */
};

/* Connects to a pool or starts a zygote, and returns while it still starts. A private zygote
 * also forks the worker. */
DTX_MUSTUSE enum dtx_code dtx_super_begin(struct dtx_box *b, struct dtx_err *err);
/* Waits for a locked worker, asks for its limits and verifies it from outside. b->frame must be
 * complete. If this fails, the report says that the run was refused. */
DTX_MUSTUSE enum dtx_code dtx_super_ready(struct dtx_box *b, struct dtx_jail_report *r,
                                          struct dtx_err *err);
/* For a later call of a session, in place of dtx_super_ready: checks that the worker is still
 * what it was, and asks for the limits of this call. */
DTX_MUSTUSE enum dtx_code dtx_super_again(struct dtx_box *b, struct dtx_jail_report *r,
                                          struct dtx_err *err);
/* After a call of a session: sets until when the worker may rest. Without another message in
 * `idle_ms` the zygote ends it, also if the process that keeps the session hangs. */
DTX_MUSTUSE enum dtx_code dtx_super_park(struct dtx_box *b, int64_t idle_ms, struct dtx_err *err);
/* Hands over the frame, checks that the limits are in force, starts the snippet and waits for
 * its end. */
DTX_MUSTUSE enum dtx_code dtx_super_run(struct dtx_box *b, struct dtx_jail_report *r,
                                        struct dtx_err *err);
/* Refuses the run if a layer that the user requires is not in force. */
DTX_MUSTUSE enum dtx_code dtx_super_required(const struct dtx_box *b, struct dtx_err *err);
/* Copies layers and versions from the zygote's welcome to the report. */
void dtx_super_describe(const struct dtx_box *b, struct dtx_jail_report *r);
/* In watch.c: waits until a started run is over; kills the worker for a reason. */
void dtx_super_watch(struct dtx_box *b, struct dtx_jail_report *r);
void dtx_super_kill(struct dtx_box *b, enum dtx_kill why);
/* Ends every process of the box that still lives, and closes its descriptors. */
void dtx_super_end(struct dtx_box *b);

/* In procfacts.c: what the kernel says about a worker. */
/* The process of a pidfd, or 0 if that cannot be found out. */
pid_t dtx_procfacts_pid(int pidfd);
/* Whether /proc/PID/status of a worker says what it must say after the lock-down. If not, `what`
 * names the first thing that is wrong. *inner becomes its pid in its own namespace. */
DTX_MUSTUSE bool dtx_procfacts_status(pid_t pid, uint64_t *vm_size, pid_t *inner, char *what,
                                      size_t size);
/* The same for a locked reader process, which has several threads. */
DTX_MUSTUSE bool dtx_procfacts_reader(pid_t pid, char *what, size_t size);
/* Whether this process may read its own status in /proc but not the worker's, because /proc is
 * mounted with hidepid. */
bool dtx_procfacts_hidden(pid_t pid);
/* The number of seccomp filters that this process inherited and its children will have, or -1 if
 * that cannot be found out. */
int64_t dtx_procfacts_own_filters(void);
/* Whether the process has started to exit; false if that cannot be seen. */
DTX_MUSTUSE bool dtx_procfacts_exiting(pid_t pid);
/* Whether a signal has stopped the process, so that it runs no code; false if that cannot be seen.
 */
DTX_MUSTUSE bool dtx_procfacts_stopped(pid_t pid);
/* CPU time and peak memory of a live process, and the bytes that are its own now. Returns false
 * if they cannot be read. */
DTX_MUSTUSE bool dtx_procfacts_used(pid_t pid, struct dtx_wire_exited *used, uint64_t *anon);
/* Resident bytes of a process, and those of them that it does not share; 0 if they cannot be
 * read. */
struct dtx_resident {
	uint64_t all, anon;
};
struct dtx_resident dtx_procfacts_resident(pid_t pid);

#endif
