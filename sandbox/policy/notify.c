/* The supervisor's end of a worker's seccomp filter, see notify.h. The kernel's interface is
 * described in seccomp_unotify(2). */
#include "sandbox/policy/notify.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "sandbox/policy/filter.h"

/* A newer kernel may have longer structures than our headers, and it wants them zeroed. The
 * extra bytes make room for that. */
union notif {
	struct seccomp_notif n;
	char room[256];
};

/* Reads the pending call. Returns false if it is gone, because the worker died or a
 * signal interrupted the call. */
static bool receive(int listener, union notif *n)
{
	memset(n, 0, sizeof(*n));
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n->n) == 0;
}

static void refuse(int listener, uint64_t id, int code)
{
	union {
		struct seccomp_notif_resp r;
		char room[128];
	} resp = { .r = { .id = id, .error = -code } };

	/* This fails only if the caller is gone, and then nothing needs an answer. */
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp.r))
		errno = 0;
}

static struct dtx_jail_denied *find_denied(struct dtx_jail_report *r, int nr,
                                           enum dtx_jail_verdict verdict)
{
	uint32_t i;

	for (i = 0; i < r->ndenied; i++)
		if (r->denied[i].nr == nr && r->denied[i].verdict == verdict)
			return &r->denied[i];
	return NULL;
}

/* A call that only gets refused may not take the last place in the report: a snippet could
 * otherwise hide the call that ends the run behind many harmless ones. */
static struct dtx_jail_denied *add_denied(struct dtx_jail_report *r, enum dtx_jail_verdict verdict)
{
	uint32_t room = DTX_JAIL_DENIED_MAX - (verdict == DTX_JAIL_REFUSED);

	return r->ndenied < room ? &r->denied[r->ndenied++] : NULL;
}

static void log_denied(struct dtx_jail_report *r, const struct seccomp_data *d,
                       enum dtx_jail_verdict verdict, int64_t at_us)
{
	struct dtx_jail_denied *e = find_denied(r, d->nr, verdict);
	char name[64];
	size_t i;

	r->denied_total++;
	if (e)
		e->count++;
	e = e ? NULL : add_denied(r, verdict);
	if (!e)
		return;
	dtx_filter_name(d->nr, name, sizeof(name));
	*e = (struct dtx_jail_denied){
		.nr = d->nr, .verdict = verdict, .count = 1, .at_us = at_us
	};
	e->name = dtx_arena_strdup(&r->arena, name);
	if (!e->name)
		e->name = "unknown";
	for (i = 0; i < 6; i++)
		e->args[i] = d->args[i];
}

bool dtx_notify_answer(int listener, int self, int64_t at_us, struct dtx_jail_report *report)
{
	union notif n;
	uint64_t args[6];
	int code, i;

	if (!receive(listener, &n))
		return true;
	for (i = 0; i < 6; i++)
		args[i] = n.n.data.args[i];
	code = dtx_filter_refusal(n.n.data.nr);
	if (code && report->denied_total < DTX_NOTIFY_MAX) {
		log_denied(report, &n.n.data, DTX_JAIL_REFUSED, at_us);
		refuse(listener, n.n.id, code);
		return true;
	}
	if (dtx_filter_is_abort(n.n.data.nr, args, self))
		report->signal = 6;
	log_denied(report, &n.n.data, DTX_JAIL_KILLED, at_us);
	return false;
}

bool dtx_notify_name(int listener, char *name, size_t size)
{
	union notif n;

	if (!receive(listener, &n))
		return false;
	dtx_filter_name(n.n.data.nr, name, size);
	return true;
}

bool dtx_notify_probe(int listener, int pid, const uint64_t nonce[2])
{
	union notif n;
	bool same;

	if (!receive(listener, &n))
		return false;
	same = n.n.data.nr == DTX_NOTIFY_PROBE && (int)n.n.pid == pid &&
	       n.n.data.args[0] == nonce[0] && n.n.data.args[1] == nonce[1];
	if (same)
		refuse(listener, n.n.id, EPERM);
	return same;
}
