/* doctor: reports what this machine offers, and whether the jail works on it. */
#include <sys/utsname.h>

#include "cli/exec/doctor_jail.h"
#include "cli/exec/jail_limits.h"
#include "cli/out.h"
#include "core/base/cpu.h"
#include "core/base/thread/pool.h"
#include "cli/exec/versions.h"
#include "core/store/store.h"
#include "core/base/memory/mem.h"
#include "sandbox/reader/reader_super.h"

struct doctor_args {
	bool json, is_jail, no_pause;
	int64_t runs;
	struct dtx_jail_given jail;
};

static const struct dtx_opt doctor_opts[] = {
	{ .name = "json",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct doctor_args, json),
	  .help = "as JSON" },
	{ .name = "jail",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct doctor_args, is_jail),
	  .help = "the jail alone: layers, warm pool, self-test, the packages that a program may "
	          "import, and how long a run takes" },
	{ .name = "runs",
	  .kind = DTX_O_INT,
	  .offset = offsetof(struct doctor_args, runs),
	  .min = 1,
	  .max = DTX_DOCTOR_RUNS_MAX,
	  .help = "with --jail: warm runs to measure (20)" },
	{ .name = "no-pause",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct doctor_args, no_pause),
	  .help = "with --jail: measure one right after the other, not 20 ms apart" },
#define AT(member) .offset = offsetof(struct doctor_args, member)
	DTX_JAIL_PROFILE("test the jail in this profile: a worker that opens no file (sealed), or "
	                 "reads modules from Python's folders (lib-ro)"),
#undef AT
};

static json_t *doctor_machine(void)
{
	struct utsname u;

	if (uname(&u) != 0)
		return json_null();
	return json_pack("{ss ss ss si ss}", "system", u.sysname, "kernel", u.release, "arch",
	                 u.machine, "cores", (int)dtx_pool_cpus(), "simd",
	                 dtx_cpu_name(dtx_cpu_best()));
}

static json_t *doctor_store(const struct dtx_cli *cli)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_store *store = NULL;
	char *path = NULL;
	json_t *row;

	if (dtx_store_resolve(cli->store, &path, &err) != DTX_OK)
		row = json_pack("{ss}", "error", err.msg);
	else if (dtx_store_open(cli->store, DTX_STORE_WRITE, &store, &err) != DTX_OK)
		row = json_pack("{ss ss}", "path", path, "error", err.msg);
	else
		row = json_pack("{ss}", "path", path);
	dtx_store_free(store);
	dtx_mem_free(path);
	dtx_err_clear(&err);
	return row;
}

/* Tests the process that reads workbooks. */
static json_t *doctor_reader(bool *ok)
{
	struct dtx_err err = DTX_ERR_INIT;
	int64_t us = 0;
	bool named = false;
	json_t *row;

	if (dtx_reader_selftest(&us, &named, &err) != DTX_OK) {
		*ok = false;
		row = json_pack("{sb ss ss}", "ok", 0, "error", err.msg, "next", err.hint);
	} else {
		row = json_pack("{sb ss sb sI}", "ok", 1, "layers", "rlimits,seccomp", "notify",
		                (int)named, "start_us", (json_int_t)us);
	}
	dtx_err_clear(&err);
	return row;
}

static void doctor_text(const json_t *part, struct dtx_buf *out)
{
	const char *key, *inner;
	json_t *section, *v;

	json_object_foreach((json_t *)part, key, section)
	{
		dtx_buf_printf(out, "%-12s", key);
		if (json_is_object(section)) {
			bool first = true;

			json_object_foreach(section, inner, v)
			{
				dtx_buf_printf(out, "%s%s ", first ? "" : "\n            ", inner);
				if (json_is_string(v))
					dtx_buf_add(out, json_string_value(v));
				else
					dtx_json_print(v, 0, out);
				first = false;
			}
		} else if (json_is_string(section)) {
			dtx_buf_add(out, json_string_value(section));
		}
		dtx_buf_add(out, "\n");
	}
}

static json_t *doctor_all(const struct dtx_cli *cli, const struct doctor_args *a, bool *ok)
{
	enum dtx_jail_profile profile = DTX_JAIL_SEALED;
	bool reader = true;
	json_t *all = json_pack("{ss so so so so}", "dtx", DTX_VERSION, "machine", doctor_machine(),
	                        "libraries", dtx_versions(), "store", doctor_store(cli), "jail",
	                        dtx_doctor_layers());

	json_decref(dtx_doctor_limits(a->jail.profile, &profile, ok));
	json_object_set_new(all, "selftest", dtx_doctor_selftest(profile, ok));
	json_object_set_new(all, "pool", dtx_doctor_pool(profile));
	json_object_set_new(all, "reader", doctor_reader(&reader));
	*ok = *ok && reader;
	return all;
}

static json_t *doctor_jail(const struct doctor_args *a, bool *ok)
{
	json_t *all = json_pack("{ss so so}", "dtx", DTX_VERSION, "machine", doctor_machine(),
	                        "jail", dtx_doctor_layers());
	enum dtx_jail_profile profile = DTX_JAIL_SEALED;
	bool limits = true;

	json_object_set_new(all, "limits", dtx_doctor_limits(a->jail.profile, &profile, &limits));
	json_object_set_new(all, "selftest", dtx_doctor_selftest(profile, ok));
	json_object_set_new(all, "packages", dtx_doctor_packages());
	json_object_set_new(all, "missing", dtx_doctor_missing());
	*ok = *ok && limits;
	if (*ok)
		json_object_set_new(
			all, "latency",
			dtx_doctor_latencies(profile, a->runs ? a->runs : DTX_DOCTOR_RUNS,
		                             a->no_pause ? 0 : DTX_DOCTOR_PAUSE_MS, ok));
	json_object_set_new(all, "pool", dtx_doctor_pool(profile));
	return all;
}

static int doctor_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	const struct doctor_args *a = args;
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool ok = false;
	json_t *all = a->is_jail ? doctor_jail(a, &ok) : doctor_all(cli, a, &ok);
	int status;

	(void)argc, (void)argv;
	if (a->json)
		status = dtx_out_json(cli, all, 1);
	else {
		doctor_text(all, &out);
		status = dtx_out_print(cli, &out);
	}
	json_decref(all);
	dtx_buf_clear(&out);
	return status ? status : ok ? 0 : dtx_code_exit(DTX_E_SNIPPET_SETUP_REFUSED, true);
}

const struct dtx_cmd dtx_cmd_doctor = {
	.name = "doctor",
	.usage = "",
	.summary =
		"Show versions and jail layers of this machine, and test the jail and the reader",
	.exits = "0 all well; 8 the jail or the reader process does not work here (typed plans of "
		 "text files still run)",
	.opts = doctor_opts,
	.nopts = DTX_COUNT(doctor_opts),
	.args_size = sizeof(struct doctor_args),
	.run = doctor_run,
};
