/* Reads a pipe once, see pipe_input.h. It waits in short intervals, so that cancellation and the
 * time limit work while nothing comes. */
#include "core/io/source/pipe_input.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/memory/mem.h"

#define TURN_MS 100

struct dtx_pipe_input *dtx_pipe_input_new(int fd)
{
	struct dtx_pipe_input *p = dtx_mem_zalloc(1, sizeof(*p));

	if (!p) {
		dtx_file_close(&fd);
		return NULL;
	}
	p->fd = fd;
	atomic_init(&p->passed, 0);
	atomic_init(&p->stop, false);
	dtx_identity_init(&p->identity, DTX_IDENTITY_AUTO);
	return p;
}

void dtx_pipe_input_free(struct dtx_pipe_input *p)
{
	if (!p)
		return;
	dtx_file_close(&p->fd);
	dtx_mem_free(p);
}

static enum dtx_code passing_wait(const struct dtx_pipe_input *p, const char *name,
                                  struct dtx_err *err)
{
	struct pollfd at = { .fd = p->fd, .events = POLLIN };
	enum dtx_code rc = DTX_OK;
	int n;

	do {
		if (atomic_load_explicit(&p->stop, memory_order_relaxed))
			break;
		if (p->cancel && atomic_load_explicit(p->cancel, memory_order_relaxed))
			DTX_FAIL(err, DTX_E_CANCELLED, "cancelled while waiting for '%s'", name);
		if (p->deadline_ns && dtx_now_ns() > p->deadline_ns)
			DTX_FAIL(err, DTX_E_TIME_LIMIT,
			         "the time limit is over while waiting for '%s'", name);
		n = poll(&at, 1, TURN_MS);
		if (n < 0 && errno != EINTR)
			DTX_FAIL(err, DTX_E_INPUT_IO, "cannot wait for '%s': %s", name,
			         strerror(errno));
	} while (n <= 0);
out:
	return rc;
}

enum dtx_code dtx_pipe_input_pull(struct dtx_pipe_input *p, const char *name, char *to, size_t n,
                                  size_t *got, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	ssize_t k;

	do {
		DTX_TRY(passing_wait(p, name, err));
		if (atomic_load_explicit(&p->stop, memory_order_relaxed)) {
			*got = 0;
			goto out;
		}
		k = read(p->fd, to, n);
	} while (k < 0 && (errno == EINTR || errno == EAGAIN));
	if (k < 0)
		DTX_FAIL(err, DTX_E_INPUT_IO, "cannot read '%s': %s", name, strerror(errno));
	*got = (size_t)k;
	atomic_fetch_add_explicit(&p->passed, *got, memory_order_relaxed);
	dtx_identity_add(&p->identity, to, *got);
out:
	return rc;
}
