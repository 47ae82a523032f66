/* session: the sessions of `dtx exec --session` that are open. */
#include <string.h>

#include "cli/cmd.h"
#include "cli/out.h"
#include "core/base/log.h"
#include "core/base/memory/mem.h"
#include "core/base/text/json.h"
#include "sandbox/main/super.h"
#include "sandbox/session/session.h"

struct session_args {
	bool json;
};

static const struct dtx_opt session_opts[] = {
	{ .name = "json",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct session_args, json),
	  .help = "as JSON" },
};

/* Memory is that of the worker alone, without what it shares with others. */
static json_t *session_json(const struct dtx_wire_session *s)
{
	struct dtx_resident have = { 0, 0 };

	if (s->worker > 0)
		have = dtx_procfacts_resident(s->worker);
	return json_pack(
		"{ss ss sI sb sI sI sI sI sI ss* ss* ss*}", "name", s->name, "id", s->id, "calls",
		(json_int_t)s->calls, "busy", s->busy > 0, "born_us", (json_int_t)s->born_us,
		"used_us", (json_int_t)s->used_us, "ends_us",
		(json_int_t)DTX_MIN(s->used_us + s->idle_ms * 1000, s->born_us + s->age_ms * 1000),
		"memory", (json_int_t)have.anon, "memory_limit", (json_int_t)s->memory, "first_run",
		s->calls ? s->first_run : NULL, "last_run", s->calls ? s->last_run : NULL, "store",
		s->calls ? s->store : NULL);
}

static void session_time(struct dtx_buf *out, const char *what, int64_t us)
{
	dtx_buf_printf(out, "%s %lld s ago", what, (long long)((dtx_wall_us() - us) / 1000000));
}

static void session_line(const struct dtx_wire_session *s, struct dtx_buf *out)
{
	dtx_buf_printf(out, "%-16s %4u call%s  ", s->name, s->calls, s->calls == 1 ? " " : "s");
	if (s->worker > 0)
		dtx_buf_printf(out, "%5llu MiB  ",
		               (unsigned long long)dtx_procfacts_resident(s->worker).anon >> 20);
	session_time(out, "begun", s->born_us);
	if (s->busy)
		dtx_buf_add(out, ", busy");
	else
		session_time(out, ", used", s->used_us);
	dtx_buf_addc(out, '\n');
}

static enum dtx_code session_list(bool json, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_wire_session *list = dtx_mem_zalloc(DTX_SESSIONS_MAX, sizeof(*list));
	json_t *all = json_array();
	size_t n = 0, i;

	if (!list || !all)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_session_list(list, &n, err));
	for (i = 0; i < n; i++) {
		if (json)
			json_array_append_new(all, session_json(&list[i]));
		else
			session_line(&list[i], out);
	}
	if (json)
		dtx_json_print(all, 1, out);
out:
	json_decref(all);
	dtx_mem_free(list);
	return rc;
}

static void session_show(const struct dtx_wire_session *s, struct dtx_buf *out)
{
	session_line(s, out);
	if (!s->calls)
		return;
	dtx_buf_printf(out, "id         %s\n", s->id);
	dtx_buf_printf(out, "runs       %s", s->first_run);
	if (s->calls > 1)
		dtx_buf_printf(out, " to %s", s->last_run);
	dtx_buf_printf(out,
	               "\nlimits     %llu MiB; ends %lld s after its last call, and %lld s "
	               "after its first\n",
	               (unsigned long long)s->memory >> 20, (long long)s->idle_ms / 1000,
	               (long long)s->age_ms / 1000);
	dtx_buf_add(out, "store      ");
	dtx_out_safe(out, s->store, false);
	dtx_buf_addc(out, '\n');
}

/* show NAME and stop NAME. */
static enum dtx_code session_one(const char *verb, const char *name, bool json, struct dtx_buf *out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_wire_session s;
	bool stops = !strcmp(verb, "stop");
	json_t *one;

	DTX_TRY(stops ? dtx_session_stop(name, &s, err) : dtx_session_info(name, &s, err));
	if (json) {
		one = session_json(&s);
		if (one && stops)
			json_object_set_new(one, "stopped", json_true());
		dtx_json_print(one, 1, out);
		json_decref(one);
	} else if (!stops) {
		session_show(&s, out);
	}
out:
	return rc;
}

static int session_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	const struct session_args *a = args;
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;
	int status;

	if (!strcmp(argv[0], "list") && argc == 1)
		DTX_TRY(session_list(a->json, &out, &err));
	else if (dtx_str_in_list("show,stop", argv[0]) && argc == 2)
		DTX_TRY(session_one(argv[0], argv[1], a->json, &out, &err));
	else
		DTX_FAIL_NEXT(&err, DTX_E_USAGE, "dtx session --help", "'dtx session' takes %s",
		              "list, show NAME or stop NAME");
	if (a->json)
		dtx_buf_addc(&out, '\n');
out:
	status = rc == DTX_OK ? dtx_out_print(cli, &out) : dtx_out_fail(cli, &err);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	return status;
}

const struct dtx_cmd dtx_cmd_session = {
	.name = "session",
	.usage = "list | show NAME | stop NAME",
	.summary = "List and stop the sessions that `dtx exec --session` keeps",
	.notes = "A session is a jail with the variables of its calls. It ends, and gives its "
		 "memory "
		 "back at once, when it is stopped, 30 minutes after its last call (session_idle), "
		 "24 hours after its first (session_age), or with a call that goes past a limit. "
		 "Sessions belong to the user. `dtx provenance RUN` of a call lists the calls "
		 "before it; `dtx replay RUN` runs them again and compares.\n\n"
		 "  dtx exec --session s -c 'x = 1'\n"
		 "  dtx session list\n"
		 "  dtx session stop s",
	.exits = "0 done; 2 there is no such session; 8 no place for sockets",
	.opts = session_opts,
	.nopts = DTX_COUNT(session_opts),
	.args_size = sizeof(struct session_args),
	.min_args = 1,
	.max_args = 2,
	.run = session_run,
};
