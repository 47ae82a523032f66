/* Messages between the processes of the jail, see wire.h. */
#include "sandbox/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAGIC   0x4a585444u /* "DTXJ" */
#define VERSION 1

struct header {
	uint32_t magic;
	uint16_t version, type;
	uint32_t len, serial;
};
_Static_assert(sizeof(struct header) == DTX_WIRE_HEADER, "header is its wire layout");

/* The payload length of a type, or -1 if there is no such type. */
static long payload_of(uint16_t type)
{
	static const short len[] = {
		[DTX_WIRE_HELLO] = 1 + sizeof(struct dtx_wire_hello),
		[DTX_WIRE_WELCOME] = 1 + sizeof(struct dtx_wire_welcome),
		[DTX_WIRE_LEASE] = 1,
		[DTX_WIRE_GRANT] = 1 + sizeof(struct dtx_wire_grant),
		[DTX_WIRE_BUSY] = 5,
		[DTX_WIRE_ARM] = 1 + sizeof(struct dtx_wire_arm),
		[DTX_WIRE_ARMED] = 1 + sizeof(struct dtx_wire_arm),
		[DTX_WIRE_KILL] = 5,
		[DTX_WIRE_EXITED] = 1 + sizeof(struct dtx_wire_exited),
		[DTX_WIRE_QUIT] = 1,
		[DTX_WIRE_REFUSED] = 1 + sizeof(struct dtx_wire_refused),
		[DTX_WIRE_LOCKED] = 5,
		[DTX_WIRE_READY] = 1,
		[DTX_WIRE_PROBE] = 1 + sizeof(struct dtx_wire_probe),
		[DTX_WIRE_PROBED] = 5,
		[DTX_WIRE_START] = 1 + sizeof(struct dtx_wire_start),
		[DTX_WIRE_DONE] = 1 + sizeof(struct dtx_wire_done),
		[DTX_WIRE_ASK] = 1 + sizeof(struct dtx_wire_ask),
		[DTX_WIRE_NEED] = 1 + sizeof(struct dtx_wire_memory),
		[DTX_WIRE_GIVE] = 1 + sizeof(struct dtx_wire_memory),
		[DTX_WIRE_FRAME] = 1 + sizeof(struct dtx_wire_memory),
		[DTX_WIRE_END] = 5,
		[DTX_WIRE_FAIL] = 1 + sizeof(struct dtx_wire_fail),
		[DTX_WIRE_TICK] = 1 + sizeof(struct dtx_wire_tick),
		[DTX_WIRE_ASK_SESSION] = 5,
		[DTX_WIRE_TURN] = 1 + sizeof(struct dtx_wire_session),
		[DTX_WIRE_KEEP] = 1 + sizeof(struct dtx_wire_session),
		[DTX_WIRE_BACK] = 1,
		[DTX_WIRE_INFO] = 1 + sizeof(struct dtx_wire_session),
		[DTX_WIRE_STOPPED] = 1 + sizeof(struct dtx_wire_session),
	}; /* The table holds length + 1, so that 0 marks a type that does not exist. */

	return type < DTX_COUNT(len) ? (long)len[type] - 1 : -1;
}

bool dtx_wire_parse(const void *packet, size_t len, uint32_t serial, struct dtx_wire_msg *out)
{
	struct header h;

	if (len < sizeof(h) || len > DTX_WIRE_MAX)
		return false;
	memcpy(&h, packet, sizeof(h));
	if (h.magic != MAGIC || h.version != VERSION || h.serial != serial ||
	    h.len != len - sizeof(h) || payload_of(h.type) != (long)h.len)
		return false;
	*out = (struct dtx_wire_msg){ h.type, h.len, (const unsigned char *)packet + sizeof(h) };
	return true;
}

size_t dtx_wire_build(unsigned char *packet, uint16_t type, uint32_t serial, const void *payload,
                      size_t len)
{
	struct header h = { MAGIC, VERSION, type, (uint32_t)len, serial };

	memcpy(packet, &h, sizeof(h));
	if (len)
		memcpy(packet + sizeof(h), payload, len);
	return sizeof(h) + len;
}

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * DTX_WIRE_FDS)];
};

bool dtx_wire_send(struct dtx_wire *w, uint16_t type, const void *payload, size_t len,
                   const int *fds, size_t nfds)
{
	unsigned char packet[DTX_WIRE_MAX];
	struct iovec iov = { packet, dtx_wire_build(packet, type, ++w->sent, payload, len) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union control control;
	ssize_t n;

	if (nfds) {
		struct cmsghdr *c;

		memset(&control, 0, sizeof(control));
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * nfds);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * nfds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * nfds);
	}
	do
		n = sendmsg(w->fd, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)iov.iov_len;
}

bool dtx_wire_write(struct dtx_wire *w, uint16_t type, const void *payload, size_t len)
{
	unsigned char packet[DTX_WIRE_MAX];
	size_t all = dtx_wire_build(packet, type, ++w->sent, payload, len);
	ssize_t n;

	do
		n = write(w->fd, packet, all);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)all;
}

/* Takes the descriptors of a message. If there are more than fit, closes the rest and returns
 * false. */
static bool take_fds(struct msghdr *msg, int *fds, size_t room, size_t *n)
{
	struct cmsghdr *c;
	bool ok = true;

	*n = 0;
	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t have, i;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		have = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < have; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (fds && *n < room) {
				fds[(*n)++] = fd;
				continue;
			}
			close(fd);
			ok = false;
		}
	}
	return ok;
}

int dtx_wire_recv(struct dtx_wire *w, struct dtx_wire_msg *out, int *fds, size_t *nfds)
{
	struct iovec iov = { w->packet, sizeof(w->packet) };
	union control control;
	struct msghdr msg = { .msg_iov = &iov,
		              .msg_iovlen = 1,
		              .msg_control = control.bytes,
		              .msg_controllen = sizeof(control.bytes) };
	size_t n;
	ssize_t len;
	bool ok;

	do
		len = recvmsg(w->fd, &msg, MSG_CMSG_CLOEXEC);
	while (len < 0 && errno == EINTR);
	if (len < 0)
		return -1;
	ok = take_fds(&msg, fds, nfds ? *nfds : 0, &n);
	if (len == 0 && !n)
		return 0;
	if (ok && !(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) &&
	    dtx_wire_parse(w->packet, (size_t)len, ++w->got, out)) {
		if (nfds)
			*nfds = n;
		return 1;
	}
	while (fds && n)
		close(fds[--n]);
	return -2;
}

int dtx_wire_read(struct dtx_wire *w, struct dtx_wire_msg *out)
{
	ssize_t n;

	do
		n = read(w->fd, w->packet, sizeof(w->packet));
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -1 : 0;
	return dtx_wire_parse(w->packet, (size_t)n, ++w->got, out) ? 1 : -2;
}
