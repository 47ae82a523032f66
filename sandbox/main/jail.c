/* The provider "local": implements struct dtx_provider with the supervisor (super.h). */
#include "sandbox/main/jail.h"

#include <unistd.h>

#include "core/base/hash/hash.h"
#include "core/base/memory/mem.h"
#include "sandbox/main/artifact.h"
#include "sandbox/main/remote.h"
#include "sandbox/main/report.h"
#include "sandbox/role.h"
#include "sandbox/session/session.h"
#include "sandbox/zygote/pyhost.h"

void dtx_jail_limits_fill(struct dtx_jail_limits *l)
{
	if (!l->wall_ms)
		l->wall_ms = DTX_JAIL_WALL_MS;
	if (!l->cpu_ms)
		l->cpu_ms = DTX_JAIL_CPU_MS;
	if (!l->memory)
		l->memory = DTX_JAIL_MEMORY;
	if (!l->output)
		l->output = DTX_JAIL_OUTPUT;
	if (!l->queue_ms)
		l->queue_ms = DTX_JAIL_QUEUE_MS;
	l->output = (l->output + 4095) / 4096 * 4096;
}

static enum dtx_code check_spec(const struct dtx_jail_spec *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_jail_limits *l = &s->limits;

	if (l->wall_ms < 0 || l->wall_ms > INT32_MAX || l->cpu_ms < 0 || l->cpu_ms > INT32_MAX ||
	    l->queue_ms < 0 || l->queue_ms > INT32_MAX)
		DTX_FAIL(err, DTX_E_USAGE, "jail: time limits are 1 to %d ms", INT32_MAX);
	if (l->memory && l->memory < DTX_JAIL_MEMORY_MIN)
		DTX_FAIL(err, DTX_E_USAGE, "jail: memory limit is %llu bytes, at least %llu",
		         (unsigned long long)l->memory, (unsigned long long)DTX_JAIL_MEMORY_MIN);
	if ((unsigned)l->profile >= DTX_JAIL_PROFILES)
		DTX_FAIL(err, DTX_E_USAGE, "jail: there is no profile %d", (int)l->profile);
	if (l->memory >> 44 || l->output >> 44)
		DTX_FAIL(err, DTX_E_USAGE, "jail: memory limits are below 16 TiB");
out:
	return rc;
}

/* Makes a box that has no process yet. */
static enum dtx_code make_box(const struct dtx_jail_spec *spec, struct dtx_box **out,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_box *b;
	size_t keep = spec->keep_output;

	DTX_TRY(check_spec(spec, err));
	b = dtx_mem_zalloc(1, sizeof(*b));
	if (!b)
		DTX_FAIL_MEM(err);
	b->spec = *spec;
	b->ctl.fd = b->job.fd = -1;
	b->in = b->result = b->out = b->err = b->pidfd = b->listener = -1;
	dtx_jail_limits_fill(&b->spec.limits);
	if (!b->spec.mode)
		b->spec.mode = DTX_JAIL_RUN;
	if (!b->spec.now_us)
		b->spec.now_us = dtx_wall_us();
	dtx_stream_init(&b->stream[0], keep ? keep : DTX_STREAM_OUT_KEEP);
	dtx_stream_init(&b->stream[1], keep ? keep : DTX_STREAM_ERR_KEEP);
	*out = b;
out:
	return rc;
}

static enum dtx_code open_at(const struct dtx_jail_spec *spec, const char *command,
                             struct dtx_box **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_box *b = NULL;

	DTX_TRY(make_box(spec, &b, err));
	/* The shadow memory and calls of a sanitizer do not fit into the policy, and there is no
	 * weaker jail: a build with a sanitizer refuses to run snippets. */
	b->command = command;
	if (!DTX_SANITIZED && !command)
		DTX_TRY(dtx_super_begin(b, err));
	*out = b;
	b = NULL;
out:
	dtx_provider_local.close(b);
	return rc;
}

static enum dtx_code local_open(const struct dtx_jail_spec *spec, struct dtx_box **out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *command;

	DTX_TRY(dtx_remote_command(&command, err));
	DTX_TRY(open_at(spec, command, out, err));
out:
	return rc;
}

enum dtx_code dtx_jail_open_here(const struct dtx_jail_spec *spec, struct dtx_box **out,
                                 struct dtx_err *err)
{
	return open_at(spec, NULL, out, err);
}

/* --- sessions --- */

/* The worker of a session as the last call left it. */
static void adopt(struct dtx_box *b, const struct dtx_wire_session *s, const int *fds, size_t nfds)
{
	b->ctl = (struct dtx_wire){ .fd = fds[0], .sent = s->ctl_sent, .got = s->ctl_got };
	b->job = (struct dtx_wire){ .fd = fds[1], .sent = s->job_sent, .got = s->job_got };
	b->in = fds[2];
	b->result = fds[3];
	b->out = fds[4];
	b->err = fds[5];
	b->pidfd = fds[6];
	b->listener = nfds > 7 ? fds[7] : -1;
	b->pooled = true;
	b->welcome = s->welcome;
	b->welcome.retiring = 0; /* a run that is not part of a session will see to that */
	b->grant = s->grant;
	b->worker = s->worker;
	b->inner = s->inner;
	b->vm_size = s->vm_size;
	b->base_anon = s->base_anon;
	b->spec.seed = s->seed;
	b->spec.now_us = s->now_us;
	b->spec.limits.memory = s->memory;
	b->spec.limits.output = s->output;
	b->spec.limits.profile = (enum dtx_jail_profile)s->profile;
	b->session.in_end = s->in_end;
	b->session.again = b->session.rests = b->session.kept = true;
}

enum dtx_code dtx_jail_session_open(const struct dtx_jail_spec *spec,
                                    const struct dtx_wire_session *s, const int *fds, size_t nfds,
                                    struct dtx_box **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_box *b = NULL;
	const char *command;
	size_t i;

	DTX_TRY(dtx_remote_command(&command, err));
	if (command)
		DTX_FAIL_NEXT(
			err, DTX_E_USAGE, "unset DTX_JAIL",
			"a session runs on this machine, and DTX_JAIL asks for another place");
	DTX_TRY(make_box(spec, &b, err));
	b->session.on = true;
	if (s->calls) {
		adopt(b, s, fds, nfds);
		nfds = 0;
	} else if (!DTX_SANITIZED) {
		DTX_TRY(dtx_super_begin(b, err));
	}
	*out = b;
	b = NULL;
out:
	for (i = 0; i < nfds; i++)
		close(fds[i]);
	dtx_provider_local.close(b);
	return rc;
}

bool dtx_jail_session_rests(const struct dtx_box *b, const char **why)
{
	*why = b->session.why;
	return b->session.rests;
}

bool dtx_jail_session_untouched(const struct dtx_box *b)
{
	return b->session.again && b->session.kept;
}

bool dtx_jail_has_science(void)
{
	return dtx_py_find_module(DTX_STR("scipy")) != DTX_PY_NO_MODULE;
}

enum dtx_code dtx_jail_session_park(struct dtx_box *b, int64_t idle_ms, struct dtx_wire_session *s,
                                    int *fds, size_t *nfds, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const int all[] = { b->ctl.fd, b->job.fd, b->in,    b->result,
		            b->out,    b->err,    b->pidfd, b->listener };

	DTX_TRY(dtx_super_park(b, idle_ms, err));
	memcpy(fds, all, sizeof(all));
	*nfds = DTX_COUNT(all) - (b->listener < 0);
	s->ctl_sent = b->ctl.sent;
	s->ctl_got = b->ctl.got;
	s->job_sent = b->job.sent;
	s->job_got = b->job.got;
	s->welcome = b->welcome;
	s->grant = b->grant;
	s->worker = b->worker;
	s->inner = b->inner;
	s->vm_size = b->vm_size;
	s->base_anon = b->base_anon;
	s->seed = b->spec.seed;
	s->now_us = b->spec.now_us;
	s->memory = b->spec.limits.memory;
	s->output = b->spec.limits.output;
	s->profile = (int32_t)b->spec.limits.profile;
	s->in_end = b->session.in_end;
out:
	return rc;
}

void dtx_jail_session_kept(struct dtx_box *b)
{
	b->session.kept = true;
}

static enum dtx_code local_put(struct dtx_box *b, const char *name, struct dtx_table *t,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (b->frame.ntables >= DTX_JAIL_TABLES_MAX)
		DTX_FAIL(err, DTX_E_USAGE, "jail: more than %d tables", DTX_JAIL_TABLES_MAX);
	DTX_TRY(dtx_frame_add_table(&b->frame, name, t, err));
	if (!b->main || !strcmp(name, "main")) {
		dtx_table_unref(b->main);
		b->main = dtx_table_ref(t);
	}
out:
	return rc;
}

static enum dtx_code local_put_raw(struct dtx_box *b, const char *name,
                                   const struct dtx_rawgrid *raw, struct dtx_err *err)
{
	return dtx_frame_add_grid(&b->frame, name, raw, err);
}

static uint64_t seed_of(struct dtx_str code)
{
	struct dtx_sha256 sha;
	uint8_t digest[DTX_SHA256_SIZE];
	uint64_t seed = 0;
	int i;

	dtx_sha256_init(&sha);
	dtx_sha256_add(&sha, code.ptr, code.len);
	dtx_sha256_done(&sha, digest);
	for (i = 0; i < 8; i++)
		seed = seed << 8 | digest[i];
	return seed;
}

/* Writes the types that the result's columns must have as JSON. The worker uses them when it
 * converts the result. */
static void contract_json(const struct dtx_schema *s, struct dtx_buf *out)
{
	uint32_t i;

	if (!s || !s->nfields) {
		dtx_buf_add(out, "{}");
		return;
	}
	dtx_buf_add(out, "{\"contract\":{");
	for (i = 0; i < s->nfields; i++) {
		if (i)
			dtx_buf_addc(out, ',');
		dtx_buf_json(out, dtx_str_of(s->field[i].name));
		dtx_buf_addc(out, ':');
		dtx_buf_json(out, dtx_str_of(dtx_type_name(s->field[i].type.type)));
	}
	dtx_buf_add(out, "}}");
}

static enum dtx_code run_box(struct dtx_box *b, struct dtx_str code, const char *params,
                             struct dtx_buf *meta, struct dtx_jail_report *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (DTX_SANITIZED)
		DTX_FAIL(err, DTX_E_SNIPPET_SETUP_REFUSED,
		         "build: a sanitizer build cannot lock a worker down");
	contract_json(b->spec.contract, meta);
	DTX_TRY(dtx_buf_check(meta, "contract", err));
	DTX_TRY(dtx_frame_add_bytes(&b->frame, DTX_FRAME_CODE, 0, NULL, code, err));
	DTX_TRY(dtx_frame_add_bytes(&b->frame, DTX_FRAME_PARAMS, 0, NULL,
	                            dtx_str_of(params ? params : "{}"), err));
	DTX_TRY(dtx_frame_add_bytes(&b->frame, DTX_FRAME_PARAMS, 1, NULL,
	                            dtx_str_of(dtx_buf_text(meta)), err));
	if (b->command) {
		DTX_TRY(dtx_remote_run(b, r, err));
	} else {
		DTX_TRY(b->session.again ? dtx_super_again(b, r, err) : dtx_super_ready(b, r, err));
		DTX_TRY(dtx_super_run(b, r, err));
	}
	dtx_report_outcome(b, r);
out:
	return rc;
}

static enum dtx_code local_exec(struct dtx_box *b, struct dtx_str code, const char *params,
                                struct dtx_jail_report *r, struct dtx_err *err)
{
	struct dtx_buf meta = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err own = DTX_ERR_INIT;
	enum dtx_code rc;

	dtx_jail_report_init(r);
	b->t0 = dtx_now_ns();
	if (!b->spec.seed)
		b->spec.seed = seed_of(code);
	r->seed = b->spec.seed;
	r->now_us = b->spec.now_us;
	r->hash_seed = b->spec.hash_seed;
	r->limits = b->spec.limits;
	rc = run_box(b, code, params, &meta, r, &own);
	if (rc == DTX_E_SNIPPET_SETUP_REFUSED || rc == DTX_E_CANCELLED) {
		dtx_report_refused(r, &own);
		rc = DTX_OK;
	}
	r->us.wall = (dtx_now_ns() - b->t0) / 1000;
	if (rc != DTX_OK) { /* not the jail's fault: no memory, or a cell that does not fit */
		r->code = rc;
		dtx_err_move(err ? err : &own, &own);
	} else {
		rc = dtx_jail_report_err(r, err);
	}
	dtx_err_clear(&own);
	dtx_buf_clear(&meta);
	return rc;
}

static enum dtx_code local_put_file(struct dtx_box *b, const struct dtx_jail_file *f,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (b->nput >= DTX_JAIL_FILES_MAX)
		DTX_FAIL(err, DTX_E_USAGE, "jail: more than %d files", DTX_JAIL_FILES_MAX);
	if (!dtx_artifact_name(dtx_str_of(f->name)))
		DTX_FAIL(err, DTX_E_USAGE, "jail: '%s' is not a name for a file in /in", f->name);
	DTX_TRY(dtx_frame_add_bytes(&b->frame, DTX_FRAME_ARTIFACT, (uint32_t)b->nput++, f->name,
	                            f->bytes, err));
out:
	return rc;
}

static const struct dtx_jail_file *local_files(struct dtx_box *b, size_t *n)
{
	*n = b->nfiles;
	return b->file;
}

static enum dtx_code local_get(struct dtx_box *b, struct dtx_table **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_ASSERT(b->table, err);
	*out = b->table;
	b->table = NULL;
out:
	return rc;
}

static void local_close(struct dtx_box *b)
{
	if (!b)
		return;
	dtx_super_end(b);
	dtx_frame_clear(&b->frame);
	dtx_stream_clear(&b->stream[0]);
	dtx_stream_clear(&b->stream[1]);
	dtx_table_unref(b->main);
	dtx_table_unref(b->table);
	dtx_mem_free(b->raw);
	dtx_arena_clear(&b->names);
	if (b->kept)
		dtx_owner_unref(b->kept);
	dtx_mem_free(b);
}

const struct dtx_provider dtx_provider_local = {
	.name = "local",
	.open = local_open,
	.put = local_put,
	.put_raw = local_put_raw,
	.exec = local_exec,
	.get = local_get,
	.put_file = local_put_file,
	.files = local_files,
	.close = local_close,
};
