/* Messages between the processes. */
#include "tests/t.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/wire.h"

void test_wire_parse(void)
{
	const struct dtx_wire_done done = { 1, 0, 77 };
	unsigned char p[DTX_WIRE_MAX];
	size_t n = dtx_wire_build(p, DTX_WIRE_DONE, 5, &done, sizeof(done)), i;
	struct dtx_wire_msg msg;

	T_CHECK(dtx_wire_parse(p, n, 5, &msg));
	T_INT(msg.type, DTX_WIRE_DONE);
	T_INT(msg.len, sizeof(done));
	T_CHECK(!memcmp(msg.payload, &done, sizeof(done)));
	T_CHECK(!dtx_wire_parse(p, n, 4, &msg));
	T_CHECK(!dtx_wire_parse(p, n, 6, &msg));
	for (i = 0; i < n; i++)
		T_CHECK(!dtx_wire_parse(p, i, 5, &msg));
	T_CHECK(!dtx_wire_parse(p, n + 1, 5, &msg));
	for (i = 0; i < DTX_WIRE_HEADER; i++) {
		p[i] ^= 0x40;
		T_CHECK(!dtx_wire_parse(p, n, 5, &msg));
		p[i] ^= 0x40;
	}
}

void test_wire_no_other_types(void)
{
	unsigned char p[DTX_WIRE_MAX];
	struct dtx_wire_msg msg;
	unsigned type;

	for (type = 0; type < 0x10000; type += type < 64 ? 1 : 251) {
		size_t n = dtx_wire_build(p, (uint16_t)type, 1, NULL, 0);
		bool empty = type == DTX_WIRE_LEASE || type == DTX_WIRE_QUIT ||
		             type == DTX_WIRE_READY || type == DTX_WIRE_BACK;

		T_INT(dtx_wire_parse(p, n, 1, &msg), empty);
	}
}

static void pair(struct dtx_wire *a, struct dtx_wire *b)
{
	int fd[2];

	memset(a, 0, sizeof(*a));
	memset(b, 0, sizeof(*b));
	T_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd), 0);
	a->fd = fd[0];
	b->fd = fd[1];
}

void test_wire_descriptors(void)
{
	struct dtx_wire a, b;
	struct dtx_wire_msg msg;
	struct dtx_wire_grant g = { 1, 0, 0, 0 };
	int fds[2] = { -1, -1 }, sent[2];
	size_t n = 2;

	pair(&a, &b);
	sent[0] = sent[1] = a.fd;
	T_CHECK(dtx_wire_send(&a, DTX_WIRE_GRANT, &g, sizeof(g), sent, 2));
	T_INT(dtx_wire_recv(&b, &msg, fds, &n), 1);
	T_INT(n, 2);
	T_CHECK(fds[0] > 2 && fds[1] > 2 && (fcntl(fds[0], F_GETFD) & FD_CLOEXEC));
	close(fds[0]);
	close(fds[1]);
	/* more than was asked for, and any where none is expected: a violation, and nothing
	 * leaks */
	n = 1;
	T_CHECK(dtx_wire_send(&a, DTX_WIRE_GRANT, &g, sizeof(g), sent, 2));
	T_INT(dtx_wire_recv(&b, &msg, fds, &n), -2);
	T_INT(fcntl(fds[0], F_GETFD), -1);
	T_CHECK(dtx_wire_send(&a, DTX_WIRE_GRANT, &g, sizeof(g), sent, 1));
	T_INT(dtx_wire_recv(&b, &msg, NULL, NULL), -2);
	close(a.fd);
	close(b.fd);
}

void test_wire_hostile_peer(void)
{
	static const char flood[DTX_WIRE_MAX + 100];
	struct dtx_wire a, b;
	struct dtx_wire_msg msg;

	pair(&a, &b);
	T_INT(write(a.fd, "x", 1), 1);
	T_INT(dtx_wire_recv(&b, &msg, NULL, NULL), -2);
	T_INT(write(a.fd, flood, sizeof(flood)), sizeof(flood));
	T_INT(dtx_wire_recv(&b, &msg, NULL, NULL), -2);
	/* a replay: the same serial number twice */
	pair(&a, &b);
	T_CHECK(dtx_wire_write(&a, DTX_WIRE_READY, NULL, 0));
	T_INT(dtx_wire_read(&b, &msg), 1);
	a.sent = 0;
	T_CHECK(dtx_wire_write(&a, DTX_WIRE_READY, NULL, 0));
	T_INT(dtx_wire_read(&b, &msg), -2);
	close(a.fd);
	T_INT(dtx_wire_recv(&b, &msg, NULL, NULL), 0);
	close(b.fd);
}
