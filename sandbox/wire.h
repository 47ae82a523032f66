/* Messages between the roles: SEQPACKET, one message a packet, little-endian, at most 4,096 bytes.
 * Header 16: u32 'DTXJ', u16 version 1, u16 type, u32 payload length, u32 serial (from 1, +1 per
 * direction).  The peer is hostile: dtx_wire_parse believes nothing. */
#ifndef DTX_SANDBOX_WIRE_H
#define DTX_SANDBOX_WIRE_H

#include "core/base/base.h"

#define DTX_WIRE_MAX    4096u
#define DTX_WIRE_HEADER 16u
#define DTX_WIRE_FDS    8
#define DTX_WIRE_LAYER  32

enum dtx_wire_type {
	DTX_WIRE_HELLO = 1,    /* main: struct dtx_wire_hello, to be compared */
	DTX_WIRE_WELCOME = 2,  /* zygote: struct dtx_wire_welcome */
	DTX_WIRE_LEASE = 3,    /* main */
	DTX_WIRE_GRANT = 4,    /* zygote: struct dtx_wire_grant and descriptors */
	DTX_WIRE_BUSY = 5,     /* pool: u32, clients in front of this one; it has no place */
	DTX_WIRE_ARM = 6,      /* main: struct dtx_wire_arm */
	DTX_WIRE_ARMED = 7,    /* zygote: the same, read back */
	DTX_WIRE_KILL = 8,     /* main: u32 lease */
	DTX_WIRE_EXITED = 9,   /* zygote: struct dtx_wire_exited */
	DTX_WIRE_QUIT = 10,    /* main */
	DTX_WIRE_REFUSED = 11, /* zygote, or worker on its hand-over: struct dtx_wire_refused */
	DTX_WIRE_LOCKED = 12,  /* worker on its hand-over: u32 audit, listener when 1 */
	DTX_WIRE_READY = 16,   /* worker */
	DTX_WIRE_PROBE = 17,   /* main: struct dtx_wire_probe */
	DTX_WIRE_PROBED = 18,  /* worker: u32 errno */
	DTX_WIRE_START = 19,   /* main: struct dtx_wire_start */
	DTX_WIRE_DONE = 20,    /* worker: struct dtx_wire_done */
	/* a reader process; its generation is that of the request, so that late answers to an
	 * earlier one are known */
	DTX_WIRE_ASK = 32,   /* main: struct dtx_wire_ask and its arguments in memory */
	DTX_WIRE_NEED = 33,  /* reader: struct dtx_wire_memory, what it needs */
	DTX_WIRE_GIVE = 34,  /* main: the same, and the memory; none: the slot that it has */
	DTX_WIRE_FRAME = 35, /* reader: the same, filled */
	DTX_WIRE_END = 36,   /* reader: u32 generation */
	DTX_WIRE_FAIL = 37,  /* reader: struct dtx_wire_fail */
	DTX_WIRE_TICK = 38   /* reader: struct dtx_wire_tick, any time within a request */
};

/* Frames up to this size go through one piece of memory, the slot, which both sides keep mapped:
 * main copies what is in it before it looks.  Larger ones have memory of their own, sealed. */
#define DTX_WIRE_SLOT ((uint64_t)1 << 20)

#define DTX_WIRE_KEY 16 /* hex digits of a pool's key */
struct dtx_wire_hello {
	uint32_t hash_seed;
	char key[DTX_WIRE_KEY + 4]; /* "": a zygote of its own */
};
struct dtx_wire_welcome {
	uint32_t layers;   /* enum dtx_layer bits */
	uint32_t landlock; /* ABI, 0: none */
	char filter_hash[72], python[16], pandas[16], numpy[16], abi[24];
	uint32_t workers, idle, busy,
		retiring; /* made so far, ready now, leased; wants a successor */
	int64_t up_ms;
	uint32_t rounds, cold; /* of the warm-up; how many of them failed */
	uint32_t pages;        /* that a new worker copies at once */
	uint32_t profile;      /* enum dtx_jail_profile of its workers */
	uint32_t vm_pages;     /* of address space; 0: it cannot tell */
};
struct dtx_wire_refused {
	uint32_t sys_errno;
	char layer[DTX_WIRE_LAYER], text[220];
};
/* Descriptors: job, in, out, stdout, stderr, pidfd, and with audit 1 the listener. */
struct dtx_wire_grant {
	uint32_t lease, audit;
	uint32_t warm, pad; /* 1: it was ready before it was asked for */
};
struct dtx_wire_arm {
	uint32_t lease, pad;
	uint64_t as_bytes, cpu_s;
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
struct dtx_wire_start {
	uint32_t mode, pad;
	uint64_t in_len, out_len, seed;
	int64_t now_us;
};
struct dtx_wire_done {
	uint32_t code, pad; /* enum dtx_done */
	uint64_t used;      /* bytes of the out frame */
};
struct dtx_wire_ask {
	uint32_t ask, gen; /* enum dtx_ask */
	uint64_t len;      /* of the arguments */
};
struct dtx_wire_memory {
	uint32_t gen, pad;
	uint64_t len;
};
struct dtx_wire_fail {
	uint32_t gen, len;
	char json[3000]; /* the error, zeros behind it */
};
struct dtx_wire_tick { /* parts of what it reads now */
	uint32_t gen, pad;
	uint64_t done, of;
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

/* False: not a message with this serial, or a length that its type does not have. */
DTX_MUSTUSE bool dtx_wire_parse(const void *packet, size_t len, uint32_t serial,
                                struct dtx_wire_msg *out);
/* Packet of header and payload; returns its length. `packet` has DTX_WIRE_MAX bytes. */
size_t dtx_wire_build(unsigned char *packet, uint16_t type, uint32_t serial, const void *payload,
                      size_t len);

/* One end of a channel. */
struct dtx_wire {
	int fd;
	uint32_t sent, got; /* serials */
	unsigned char packet[DTX_WIRE_MAX];
};
/* Sends one message with up to DTX_WIRE_FDS descriptors; false with errno. */
DTX_MUSTUSE bool dtx_wire_send(struct dtx_wire *w, uint16_t type, const void *payload, size_t len,
                               const int *fds, size_t nfds);
/* Next message; blocks unless the descriptor does not.  fds NULL: a message with descriptors is
 * a violation.  *nfds is room, then how many came (close-on-exec).
 * 1: a message; 0: end of file; -1: errno (EAGAIN); -2: a violation (nothing is kept). */
DTX_MUSTUSE int dtx_wire_recv(struct dtx_wire *w, struct dtx_wire_msg *out, int *fds, size_t *nfds);
/* A message without descriptors, without sendmsg: all that a sealed worker has. */
DTX_MUSTUSE bool dtx_wire_write(struct dtx_wire *w, uint16_t type, const void *payload, size_t len);
DTX_MUSTUSE int dtx_wire_read(struct dtx_wire *w, struct dtx_wire_msg *out);

#endif
