/* A call of `dtx exec --session`: the turn, the box, and what the next call must know. */
#include "cli/exec/exec_run.h"

#include <stdlib.h>
#include <string.h>

#include "cli/exec/jail_limits.h"
#include "cli/signal_flag.h"
#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "sandbox/main/jail.h"

#define IDLE_S 1800
#define AGE_S  86400
#define MOST   8

/* --- begin --- */

static int64_t setting(struct dtx_config *config, const char *key, int64_t preset)
{
	const char *text = dtx_config_get(config, key, NULL, NULL);
	int64_t value;

	return text && dtx_num_parse_i64(text, strlen(text), &value) ? value : preset;
}

static enum dtx_code settings(const struct dtx_execution *x, struct dtx_session_opts *opts,
                              struct dtx_err *err)
{
	struct dtx_config config;
	enum dtx_code rc = dtx_config_open(&config, err);

	*opts = (struct dtx_session_opts){ .no_wait = x->args->no_wait,
		                           .cancelled = dtx_cancel_asked };
	if (rc == DTX_OK) {
		opts->idle_s = setting(&config, "session_idle", IDLE_S);
		opts->age_s = setting(&config, "session_age", AGE_S);
		opts->most = setting(&config, "session_max", MOST);
	}
	opts->wait_ms = x->spec.limits.queue_ms ? x->spec.limits.queue_ms : DTX_JAIL_QUEUE_MS;
	dtx_config_clear(&config);
	return rc;
}

/* The record of a session is a chain, so all of its calls are in one store. */
static enum dtx_code same_store(struct dtx_execution *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_wire_session *s = &x->session.state;
	char *path = NULL;

	DTX_TRY(dtx_store_resolve(x->cli->store, &path, err));
	if (strlen(path) >= sizeof(s->store))
		DTX_FAIL(err, DTX_E_USAGE, "the path of the store is too long for a session");
	if (!s->calls)
		dtx_str_copy(s->store, sizeof(s->store), dtx_str_of(path));
	else if (strcmp(s->store, path) != 0)
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "use that store, or another name for the session",
		              "session '%s' has its record in '%s', not in '%s'", s->name, s->store,
		              path);
out:
	dtx_mem_free(path);
	return rc;
}

/* What the worker was made with cannot be changed for one call. */
static enum dtx_code same_limits(const struct dtx_execution *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_wire_session *s = &x->session.state;
	const struct dtx_jail_given *given = &x->args->jail;

	if (!s->calls)
		goto out;
	if (given->memory && (uint64_t)given->memory != s->memory)
		DTX_FAIL(err, DTX_E_USAGE,
		         "session '%s' has %llu MiB of memory since its first call; --jail-memory "
		         "cannot change that",
		         s->name, (unsigned long long)s->memory >> 20);
	if (given->output && ((uint64_t)given->output + 4095) / 4096 * 4096 != s->output)
		DTX_FAIL(err, DTX_E_USAGE,
		         "session '%s' may leave %llu MiB of files a call since its first call; "
		         "--jail-output cannot change that",
		         s->name, (unsigned long long)s->output >> 20);
	if (given->profile && given->profile - 1 != s->profile)
		DTX_FAIL(err, DTX_E_USAGE,
		         "session '%s' has the profile %s since its first call; --jail-profile "
		         "cannot change that",
		         s->name, dtx_jail_profile_names[s->profile ? 1 : 0]);
out:
	return rc;
}

enum dtx_code dtx_execution_session_open(struct dtx_execution *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_session *s = &x->session;
	struct dtx_session_opts opts;

	s->wire.fd = -1;
	DTX_TRY(settings(x, &opts, err));
	DTX_TRY(dtx_session_take(s, x->args->session, &opts, err));
	x->call = s->state.calls + 1;
	DTX_TRY(same_store(x, err));
	DTX_TRY(same_limits(x, err));
	if (!s->state.calls)
		dtx_run_id_new(s->state.id);
	else
		x->spec.now_us = s->state.now_us;
	rc = dtx_jail_session_open(&x->spec, &s->state, s->fd, s->nfds, &x->box, err);
	s->nfds = 0;
out:
	return rc;
}

/* --- end --- */

/* What the next call must know, to the keeper. Returns why that could not be done, or NULL. */
static const char *hand_over(struct dtx_execution *x)
{
	struct dtx_wire_session *s = &x->session.state, next = *s;
	int fds[DTX_SESSION_FDS];
	size_t n;

	if (dtx_jail_session_park(x->box, DTX_MIN(s->idle_ms, (int64_t)INT32_MAX), &next, fds, &n,
	                          NULL) != DTX_OK)
		return "its worker cannot be kept";
	next.calls++;
	memcpy(next.last_run, x->run_id, DTX_RUN_ID);
	if (!s->calls)
		memcpy(next.first_run, x->run_id, DTX_RUN_ID);
	x->session.state = next;
	if (!dtx_session_keep(&x->session, fds, s->calls > 1 ? 0 : n))
		return "its keeper is gone";
	dtx_jail_session_kept(x->box);
	return NULL;
}

/* Whether the call ended as calls do that leave their worker in order. */
static bool ended_well(const struct dtx_execution *x)
{
	return x->report.status == DTX_JAIL_OK || x->report.status == DTX_JAIL_SNIPPET_ERROR;
}

void dtx_execution_session_close(struct dtx_execution *x)
{
	const char *why = "";
	bool rests;

	if (!x->call || x->session.wire.fd < 0)
		return; /* this call never had the turn */
	rests = x->box && dtx_jail_session_rests(x->box, &why);
	if (!x->ran || dtx_jail_session_untouched(x->box))
		dtx_session_back(&x->session);
	else if (x->unsaved)
		x->ended = "its record cannot be written";
	else if (rests && ended_well(x))
		x->ended = hand_over(x);
	else
		x->ended = *why ? why : dtx_jail_status_name(x->report.status);
	dtx_session_close(&x->session);
}

/* --- the record --- */

json_t *dtx_execution_session_record(const struct dtx_execution *x)
{
	const struct dtx_wire_session *s = &x->session.state;

	return json_pack("{ss ss sI ss*}", "id", s->id, "name", s->name, "call",
	                 (json_int_t)x->call, "previous", x->call > 1 ? s->last_run : NULL);
}

json_t *dtx_execution_session_json(const struct dtx_execution *x)
{
	const struct dtx_wire_session *s = &x->session.state;

	return json_pack("{ss ss sI sb ss*}", "id", s->id, "name", s->name, "call",
	                 (json_int_t)x->call, "new", x->session.is_new, "ended", x->ended);
}
