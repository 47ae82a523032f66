/* The checks of `dtx doctor`: what the machine offers, whether the jail works, and how long a
 * run takes. */
#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/data/builder.h"
#include "sandbox/main/jail.h"
#include "sandbox/policy/landlock.h"
#include "sandbox/policy/ns.h"
#include "sandbox/role.h"
#include "sandbox/main/warmpool.h"

#define POOL_MS 1000 /* the pool may be forking a worker */

/* Makes a table with n from 1 to `rows`, and k, the last digit of n. */
static enum dtx_code test_table(uint32_t rows, struct dtx_table **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_typeref type = { DTX_T_INT64, 0, 0 };
	const struct dtx_field field[] = { { .name = "n", .type = type },
		                           { .name = "k", .type = type } };
	const struct dtx_schema schema = { .nfields = 2, .field = field };
	struct dtx_builder n, k;
	struct dtx_batch *batch = NULL;
	struct dtx_table *t = NULL;
	int64_t i;

	dtx_builder_init(&n, type, rows);
	dtx_builder_init(&k, type, rows);
	for (i = 1; i <= rows; i++) {
		dtx_builder_i64(&n, i);
		dtx_builder_i64(&k, i % 10);
	}
	DTX_TRY(dtx_table_new(&schema, &t, err));
	DTX_TRY(dtx_batch_new(t->schema, rows, &batch, err));
	DTX_TRY(dtx_builder_finish(&n, NULL, &batch->col[0], err));
	DTX_TRY(dtx_builder_finish(&k, NULL, &batch->col[1], err));
	rc = dtx_table_take(t, batch, err);
	batch = NULL;
	if (rc == DTX_OK) {
		*out = t;
		t = NULL;
	}
out:
	dtx_builder_clear(&n);
	dtx_builder_clear(&k);
	if (batch)
		dtx_batch_free(batch);
	if (t)
		dtx_table_unref(t);
	return rc;
}

/* Runs `code` once on a table; the caller owns *got. */
static enum dtx_code run_on(struct dtx_table *in, const char *code,
                            const struct dtx_jail_spec *spec, struct dtx_jail_report *report,
                            struct dtx_table **got, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_box *box = NULL;

	dtx_jail_report_init(report);
	DTX_TRY(dtx_provider_local.open(spec, &box, err));
	DTX_TRY(dtx_provider_local.put(box, "main", in, err));
	DTX_TRY(dtx_provider_local.exec(box, dtx_str_of(code), NULL, report, err));
	DTX_TRY(dtx_provider_local.get(box, got, err));
out:
	dtx_provider_local.close(box);
	return rc;
}

enum dtx_code dtx_jail_selftest(enum dtx_jail_profile profile, struct dtx_jail_report *report,
                                struct dtx_err *err)
{
	static const char code[] = "def transform(tables, params):\n"
				   "    df = tables['main']\n"
				   "    return df.assign(n=df['n'] * 10)\n";
	const struct dtx_jail_spec spec = { .mode = DTX_JAIL_CHECK_RUN,
		                            .limits = { .profile = profile } };
	enum dtx_code rc = DTX_OK;
	struct dtx_table *in = NULL, *got = NULL;
	const int64_t *n;

	dtx_jail_report_init(report);
	DTX_TRY(test_table(4, &in, err));
	DTX_TRY(run_on(in, code, &spec, report, &got, err));
	n = got->nrows == 4 && got->schema->field[0].type.type == DTX_T_INT64
	            ? got->batch[0]->col[0]->v.i64
	            : NULL;
	if (!n || n[0] != 10 || n[3] != 40)
		DTX_FAIL(err, DTX_E_SNIPPET_BAD_RESULT, "self-test: the answer is wrong");
out:
	if (in)
		dtx_table_unref(in);
	if (got)
		dtx_table_unref(got);
	return rc;
}

enum dtx_code dtx_jail_latency(const struct dtx_jail_laps *how, uint32_t n,
                               struct dtx_jail_lap *lap, struct dtx_err *err)
{
	static const char code[] =
		"def transform(tables, params):\n"
		"    return tables['main'].groupby('k', as_index=False)['n'].sum()\n";
	const struct dtx_jail_spec spec = { .mode = DTX_JAIL_RUN,
		                            .limits = { .profile = how->profile },
		                            .no_warm = how->no_warm };
	enum dtx_code rc = DTX_OK;
	struct dtx_table *in = NULL, *got = NULL;
	uint32_t i;

	DTX_TRY(test_table(1000, &in, err));
	for (i = 0; i < n; i++) {
		struct dtx_jail_report r;
		int64_t t;

		poll(NULL, 0, how->pause_ms);
		t = dtx_now_ns();
		rc = run_on(in, code, &spec, &r, &got, err);
		lap[i] = (struct dtx_jail_lap){
			.all = (dtx_now_ns() - t) / 1000,
			.lease = r.us.lease,
			.verify = r.us.verify,
			.load = r.us.load,
			.exec = r.us.exec,
			.store = r.us.store,
			.cpu = r.cpu_user_us + r.cpu_sys_us,
			.warm = r.warm,
		};
		dtx_jail_report_clear(&r);
		dtx_table_unref(got);
		got = NULL;
		if (rc != DTX_OK)
			goto out;
	}
out:
	if (in)
		dtx_table_unref(in);
	return rc;
}

/* Whether a child may enter all namespaces. The child does nothing else. */
static int try_namespaces(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
		              CLONE_NEWIPC | CLONE_NEWUTS)
		              ? errno
		              : 0);
	if (pid < 0)
		return errno;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static bool has_action(uint32_t action)
{
	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

void dtx_jail_layers_json(struct dtx_buf *out)
{
	int ns = try_namespaces();
	uint32_t id = geteuid();
	bool own = id || dtx_ns_worker_id("/etc/subuid", &id);

	dtx_buf_printf(out, "{\"worker\":{\"uid\":%u,\"shared\":%s},", id, own ? "false" : "true");
	dtx_buf_printf(out,
	               "\"namespaces\":%s,\"namespaces_errno\":%d,\"landlock\":%u,"
	               "\"seccomp\":%s,\"notify\":%s,\"sanitizer_build\":%s}",
	               ns ? "false" : "true", ns, dtx_landlock_abi(),
	               has_action(SECCOMP_RET_KILL_PROCESS) ? "true" : "false",
	               has_action(SECCOMP_RET_USER_NOTIF) ? "true" : "false",
	               DTX_SANITIZED ? "true" : "false");
}

void dtx_jail_pool_json(enum dtx_jail_profile profile, struct dtx_buf *out)
{
	struct dtx_warmpool p;
	struct dtx_wire_welcome w;
	bool here;

	dtx_warmpool_open(&p, profile == DTX_JAIL_LIB_RO ? DTX_ZYGOTE_LIB_RO : DTX_ZYGOTE_RUN, 0,
	                  DTX_WARMPOOL_FIND, POOL_MS);
	here = dtx_warmpool_ask(&p, POOL_MS, &w);
	dtx_buf_printf(out, "{\"running\":%s,\"folder\":", here ? "true" : "false");
	dtx_buf_json(out, dtx_str_of(p.folder));
	dtx_buf_printf(out, ",\"key\":\"%s\"", p.key);
	if (here)
		dtx_buf_printf(out,
		               ",\"workers\":%u,\"idle\":%u,\"busy\":%u,\"retiring\":%s,"
		               "\"up_ms\":%lld,\"warm_up\":{\"rounds\":%u,\"failed\":%u,"
		               "\"pages\":%u}",
		               w.workers, w.idle, w.busy, w.retiring ? "true" : "false",
		               (long long)w.up_ms, w.rounds, w.cold, w.pages);
	else {
		dtx_buf_add(out, ",\"why\":");
		dtx_buf_json(out, dtx_str_of(p.why));
	}
	dtx_buf_addc(out, '}');
	dtx_file_close(&p.fd);
}
