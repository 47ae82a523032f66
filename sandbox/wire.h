/* Messages between the processes of the jail, over a unix socket of type SEQPACKET: one message
 * per packet, little-endian, at most 4,096 bytes.
 *
 * A header of 16 bytes comes first:
 *   u32 magic 'DTXJ', u16 version 1, u16 type, u32 payload length, u32 serial
 *
 * Serials start at 1 and count up by one in each direction, so a lost or repeated message is
 * noticed. Each type has one fixed payload, a struct below. The peer may be hostile:
 * dtx_wire_parse checks every field of the header, and the receiver must check every field of
 * the payload that it uses. */
#ifndef DTX_SANDBOX_WIRE_H
#define DTX_SANDBOX_WIRE_H

#include "core/base/base.h"

#define DTX_WIRE_MAX    4096u
#define DTX_WIRE_HEADER 16u
#define DTX_WIRE_FDS    8
#define DTX_WIRE_LAYER  32

enum dtx_wire_type {
	DTX_WIRE_HELLO = 1,   /* main: struct dtx_wire_hello, which the zygote compares */
	DTX_WIRE_WELCOME = 2, /* zygote: struct dtx_wire_welcome */
	DTX_WIRE_LEASE = 3,   /* main: wants a worker */
	DTX_WIRE_GRANT = 4,   /* zygote: struct dtx_wire_grant and descriptors */
	/* pool: u32, number of clients waiting before this one; it has no place */
	DTX_WIRE_BUSY = 5,
	DTX_WIRE_ARM = 6,      /* main: struct dtx_wire_arm */
	DTX_WIRE_ARMED = 7,    /* zygote: struct dtx_wire_arm with the limits that are in force */
	DTX_WIRE_KILL = 8,     /* main: u32 lease */
	DTX_WIRE_EXITED = 9,   /* zygote: struct dtx_wire_exited */
	DTX_WIRE_QUIT = 10,    /* main: the zygote should end */
	DTX_WIRE_REFUSED = 11, /* zygote, or worker during its lock-down: struct dtx_wire_refused */
	/* worker, after its lock-down: u32 audit; with 1 also the listener */
	DTX_WIRE_LOCKED = 12,
	DTX_WIRE_READY = 16,  /* worker: waits for work */
	DTX_WIRE_PROBE = 17,  /* main: struct dtx_wire_probe */
	DTX_WIRE_PROBED = 18, /* worker: u32 errno */
	DTX_WIRE_START = 19,  /* main: struct dtx_wire_start */
	DTX_WIRE_DONE = 20,   /* worker: struct dtx_wire_done */
	/* Messages of a reader process. Each carries the generation of the request, so that main
	 * can recognise a late answer to an earlier request. */
	DTX_WIRE_ASK = 32,   /* main: struct dtx_wire_ask, and its arguments in shared memory */
	DTX_WIRE_NEED = 33,  /* reader: struct dtx_wire_memory, how much memory it needs */
	DTX_WIRE_GIVE = 34,  /* main: the same and the memory, or no descriptor: use the slot */
	DTX_WIRE_FRAME = 35, /* reader: the same, the memory is filled */
	DTX_WIRE_END = 36,   /* reader: u32 generation */
	DTX_WIRE_FAIL = 37,  /* reader: struct dtx_wire_fail */
	/* reader: struct dtx_wire_tick, progress; at any time within a request */
	DTX_WIRE_TICK = 38,
	/* Messages between a process that wants to make a call in a session and the process that
	 * keeps the session (sandbox/session). */
	DTX_WIRE_ASK_SESSION = 48, /* client: u32, enum dtx_session_ask */
	/* keeper: struct dtx_wire_session, it is this client's turn; the worker's descriptors */
	DTX_WIRE_TURN = 49,
	/* client: the same after its call; after the first one with the descriptors */
	DTX_WIRE_KEEP = 50,
	DTX_WIRE_BACK = 51,   /* client: gives its turn back, nothing has run */
	DTX_WIRE_INFO = 52,   /* keeper: struct dtx_wire_session as of the last call */
	DTX_WIRE_STOPPED = 53 /* keeper: struct dtx_wire_session of the session that it ends */
};

/* Results up to this size go through the slot, one piece of memory that both sides keep mapped;
 * main copies it before it checks anything in it. A larger result has its own memory, which is
 * sealed against later writes: the kernel clears and maps its pages for each result, which takes
 * several times as long as the copy (0.6 s of 1.1 s for a group_by over 10 million rows). */
#define DTX_WIRE_SLOT ((uint64_t)4 << 20)

#define DTX_WIRE_KEY 16 /* hex digits of a pool's key */
struct dtx_wire_hello {
	uint32_t hash_seed;
	char key[DTX_WIRE_KEY + 4]; /* "": a zygote that no pool shares */
};
struct dtx_wire_welcome {
	uint32_t layers;   /* enum dtx_layer bits */
	uint32_t landlock; /* Landlock ABI, 0 if none */
	char filter_hash[72], python[16], pandas[16], numpy[16], abi[24];
	uint32_t workers, idle, busy,
		retiring; /* made so far, ready now, leased; whether it wants to be replaced */
	int64_t up_ms;
	uint32_t rounds, cold; /* of the warm-up; how many rounds failed */
	uint32_t pages;        /* that a new worker copies at its start */
	uint32_t profile;      /* enum dtx_jail_profile of its workers */
	uint32_t vm_pages;     /* of address space that Python uses; 0: unknown */
};
struct dtx_wire_refused {
	uint32_t sys_errno;
	char layer[DTX_WIRE_LAYER], text[220];
};
/* Descriptors, in this order: job, in, out, stdout, stderr, pidfd, and the listener if audit is
 * 1. */
struct dtx_wire_grant {
	uint32_t lease, audit;
	uint32_t warm, pad; /* warm is 1 if the worker was ready before the request came */
};
struct dtx_wire_arm {
	uint32_t lease;
	uint32_t session; /* 1: the worker is one of a session, and will be armed for each call */
	uint64_t as_bytes, cpu_s;
	/* what a later message may raise these two to; 0: they are final */
	uint64_t as_hard, cpu_hard;
	int64_t wall_ms;
};
struct dtx_wire_exited {
	uint32_t lease;
	int32_t status; /* as wait4 gives it */
	int64_t user_us, sys_us, max_rss;
};
struct dtx_wire_probe {
	uint64_t nonce[2];
};
/* The worker waits for another START after this one; it has had one before; it gives its view of
 * the input up after the run, because no table is in it. */
enum { DTX_START_KEEP = 1, DTX_START_AGAIN = 2, DTX_START_DROP = 4 };
struct dtx_wire_start {
	uint32_t mode, flags;
	uint64_t in_off, in_len, out_len, seed;
	int64_t now_us;
};
struct dtx_wire_done {
	uint32_t code, pad; /* enum dtx_done */
	uint64_t used;      /* bytes used in the out frame */
};
struct dtx_wire_ask {
	uint32_t ask, gen; /* enum dtx_ask */
	uint64_t len;      /* length of the arguments in bytes */
};
struct dtx_wire_memory {
	uint32_t gen, pad;
	uint64_t len;
};
struct dtx_wire_fail {
	uint32_t gen, len;
	char json[3000]; /* the error as JSON, padded with zeros */
};
struct dtx_wire_tick { /* progress: bytes done of all */
	uint32_t gen, pad;
	uint64_t done, of;
};
enum dtx_session_ask {
	DTX_SESSION_INFO,
	DTX_SESSION_TURN, /* as soon as no other client has it */
	DTX_SESSION_NOW,  /* at once, or BUSY */
	DTX_SESSION_STOP  /* ends the session, also during a call */
};
#define DTX_SESSION_NAME  49 /* with the terminator */
#define DTX_SESSION_ID    37
#define DTX_SESSION_STORE 1024
/* What a client must know to make the next call. The keeper reads calls, busy and the times; all
 * else it only hands on. */
struct dtx_wire_session {
	uint32_t calls, busy; /* made so far; clients that have or want the turn */
	int64_t born_us, used_us, idle_ms, age_ms; /* wall clock; limits */
	char name[DTX_SESSION_NAME + 7], id[DTX_SESSION_ID + 3], last_run[DTX_SESSION_ID + 3];
	char first_run[DTX_SESSION_ID + 3], store[DTX_SESSION_STORE];
	int32_t keeper, worker, inner, profile;
	uint32_t ctl_sent, ctl_got, job_sent, job_got; /* serials */
	uint64_t vm_size, base_anon, in_end, memory, output, seed;
	int64_t now_us;
	struct dtx_wire_welcome welcome;
	struct dtx_wire_grant grant;
};
enum dtx_done {
	DTX_DONE_OK,
	DTX_DONE_EXCEPTION,
	DTX_DONE_BAD_RESULT,
	DTX_DONE_MEMORY,
	DTX_DONE_SCREENED,
	DTX_DONE_OUTPUT,
	DTX_DONE_COUNT
};

struct dtx_wire_msg {
	uint16_t type;
	uint32_t len;
	const unsigned char *payload; /* inside the packet */
};

/* Parses one packet. Returns false unless it is a message of this version, with this serial and
 * with the payload length of its type. out->payload points into `packet`. */
DTX_MUSTUSE bool dtx_wire_parse(const void *packet, size_t len, uint32_t serial,
                                struct dtx_wire_msg *out);
/* Writes header and payload to `packet`, which has room for DTX_WIRE_MAX bytes, and returns the
 * length of both. */
size_t dtx_wire_build(unsigned char *packet, uint16_t type, uint32_t serial, const void *payload,
                      size_t len);

/* One end of a channel. The owner closes fd. Not for use by several threads at once. */
struct dtx_wire {
	int fd;
	uint32_t sent, got; /* serial of the last message in each direction */
	unsigned char packet[DTX_WIRE_MAX];
};
/* Sends one message with up to DTX_WIRE_FDS descriptors, which the caller keeps. Returns false
 * and sets errno on failure. */
DTX_MUSTUSE bool dtx_wire_send(struct dtx_wire *w, uint16_t type, const void *payload, size_t len,
                               const int *fds, size_t nfds);
/* Receives the next message. Blocks unless the descriptor is non-blocking.
 *
 * *nfds is the room in `fds`, and becomes the number of descriptors that came, which then belong
 * to the caller and are close-on-exec. With fds NULL, a message that carries descriptors is a
 * violation.
 *
 * Returns 1 for a message, 0 at the end of file, -1 with errno (EAGAIN), or -2 for a violation
 * of the protocol, in which case all descriptors that came are closed. */
DTX_MUSTUSE int dtx_wire_recv(struct dtx_wire *w, struct dtx_wire_msg *out, int *fds, size_t *nfds);
/* The same for messages without descriptors. They use only read and write, because a sealed
 * worker may not call sendmsg and recvmsg. */
DTX_MUSTUSE bool dtx_wire_write(struct dtx_wire *w, uint16_t type, const void *payload, size_t len);
DTX_MUSTUSE int dtx_wire_read(struct dtx_wire *w, struct dtx_wire_msg *out);

#endif
