/* The guest's side of a remote jail, see remote.h. It does what main does for a local run, with
 * a private zygote, the same limits and the same checks from outside; only the input frame comes
 * from a pipe. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "sandbox/main/jail.h"
#include "sandbox/main/remote.h"

#define FRAME_MAX ((uint64_t)1 << 40)

#define REFUSE(err, ...) DTX_FAIL((err), DTX_E_SNIPPET_SETUP_REFUSED, "guest: " __VA_ARGS__)

static enum dtx_code take(int fd, void *bytes, size_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *at = bytes;

	while (n) {
		ssize_t got = read(fd, at, n);

		if (got == 0)
			REFUSE(err, "its input ended");
		if (got < 0 && errno != EINTR)
			REFUSE(err, "%s", strerror(errno));
		if (got > 0) {
			at += got;
			n -= (size_t)got;
		}
	}
out:
	return rc;
}

static bool main_is_gone(void *arg)
{
	struct pollfd p = { .fd = *(const int *)arg };

	/* no reader is left on the pipe, so no process waits for this run */
	return poll(&p, 1, 0) == 1 && (p.revents & (POLLERR | POLLHUP));
}

static enum dtx_code open_box(struct dtx_remote_ask *a, int *out_fd, struct dtx_box **box,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jail_spec spec = { .mode = (enum dtx_jail_mode)a->mode,
		                      .limits = { .wall_ms = a->wall_ms,
		                                  .cpu_ms = a->cpu_ms,
		                                  .memory = a->memory,
		                                  .output = a->output,
		                                  .profile = (enum dtx_jail_profile)a->profile },
		                      .seed = a->seed,
		                      .now_us = a->now_us,
		                      .hash_seed = a->hash_seed,
		                      .no_warm = true,
		                      .science = a->science,
		                      .keep_output = (size_t)a->keep_output,
		                      .cancelled = main_is_gone,
		                      .cancel_arg = out_fd };

	a->require_layers[sizeof(a->require_layers) - 1] = 0;
	spec.require_layers = a->require_layers[0] ? a->require_layers : NULL;
	if (memcmp(a->magic, DTX_REMOTE_ASK, sizeof(a->magic)) != 0 || a->mode < DTX_JAIL_CHECK ||
	    a->mode > DTX_JAIL_EXEC || !a->in_len || a->in_len > FRAME_MAX ||
	    a->keep_output > DTX_STREAM_MAX || a->profile >= DTX_JAIL_PROFILES)
		REFUSE(err, "the request cannot be read");
	DTX_TRY(dtx_jail_open_here(&spec, box, err));
out:
	return rc;
}

static enum dtx_code say_denied(int out, const struct dtx_jail_report *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;
	int k;

	for (i = 0; i < r->ndenied; i++) {
		const struct dtx_jail_denied *d = &r->denied[i];
		struct dtx_remote_denied to = { .nr = d->nr,
			                        .verdict = (int32_t)d->verdict,
			                        .count = d->count,
			                        .at_us = d->at_us };

		dtx_str_copy(to.name, sizeof(to.name), dtx_str_of(d->name));
		for (k = 0; k < 6; k++)
			to.args[k] = d->args[k];
		DTX_TRY(dtx_file_write(out, &to, sizeof(to), "answer", err));
	}
out:
	return rc;
}

/* Sends the outcome of a run that took place. */
static enum dtx_code say_run(int out, struct dtx_box *b, struct dtx_jail_report *r,
                             struct dtx_remote_answer *a, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_jail_stream *s[2] = { &r->out, &r->err };
	void *map = MAP_FAILED;
	size_t i;

	a->welcome = b->welcome;
	a->audit = b->grant.audit;
	a->has_done = b->has_done && b->dead;
	a->has_exited = b->has_exited;
	a->dead = b->dead;
	a->kill = b->kill;
	a->ndenied = r->ndenied;
	a->signal = r->signal;
	a->done = b->done;
	a->exited = b->exited;
	a->denied_total = r->denied_total;
	a->peak_anon = r->peak_anon;
	a->base_rss = r->base_rss;
	a->us_lease = r->us.lease;
	a->us_verify = r->us.verify;
	a->result_len = a->has_done ? b->done.used : 0;
	for (i = 0; i < 2; i++) {
		dtx_stream_report(&b->stream[i], &r->arena, i ? &r->err : &r->out);
		a->stream_len[i] = s[i]->kept;
		a->stream_total[i] = s[i]->total;
	}
	dtx_str_copy(a->verify, sizeof(a->verify), dtx_str_of(r->verify));
	DTX_TRY(dtx_file_write(out, a, sizeof(*a), "answer", err));
	DTX_TRY(say_denied(out, r, err));
	for (i = 0; i < 2; i++)
		DTX_TRY(dtx_file_write(out, s[i]->bytes, s[i]->kept, "answer", err));
	if (!a->result_len)
		goto out;
	map = mmap(NULL, (size_t)a->result_len, PROT_READ, MAP_SHARED, b->result, 0);
	if (map == MAP_FAILED)
		REFUSE(err, "mmap: %s", strerror(errno));
	DTX_TRY(dtx_file_write(out, map, (size_t)a->result_len, "answer", err));
out:
	if (map != MAP_FAILED)
		munmap(map, (size_t)a->result_len);
	return rc;
}

/* Runs the worker on the frame as raw bytes: only the worker has to read what is in it. */
static enum dtx_code run(int in, const struct dtx_remote_ask *a, struct dtx_box *b,
                         struct dtx_jail_report *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	b->raw = dtx_mem_alloc(1, (size_t)a->in_len);
	if (!b->raw)
		DTX_FAIL_MEM(err);
	b->in_len = a->in_len;
	b->t0 = dtx_now_ns();
	DTX_TRY(take(in, b->raw, (size_t)a->in_len, err));
	DTX_TRY(dtx_super_ready(b, r, err));
	DTX_TRY(dtx_super_run(b, r, err));
out:
	return rc;
}

enum dtx_code dtx_remote_serve(int in, int out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_remote_ask ask;
	struct dtx_remote_answer answer = { .magic = DTX_REMOTE_ANSWER };
	struct dtx_jail_report r;
	struct dtx_err own = DTX_ERR_INIT;
	struct dtx_box *b = NULL;

	dtx_jail_report_init(&r);
	rc = take(in, &ask, sizeof(ask), &own);
	if (rc == DTX_OK)
		rc = open_box(&ask, &out, &b, &own);
	if (rc == DTX_OK)
		rc = run(in, &ask, b, &r, &own);
	if (rc != DTX_OK) {
		answer.refused = 1;
		dtx_str_copy(answer.text, sizeof(answer.text), dtx_str_of(own.msg));
		rc = dtx_file_write(out, &answer, sizeof(answer), "answer", err);
	} else {
		rc = say_run(out, b, &r, &answer, err);
	}
	dtx_provider_local.close(b);
	dtx_jail_report_clear(&r);
	dtx_err_clear(&own);
	return rc;
}
