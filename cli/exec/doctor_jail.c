/* What `dtx doctor` reports about the jail, see doctor_jail.h. */
#include "cli/exec/doctor_jail.h"

#include <stdlib.h>

#include "cli/exec/jail_limits.h"
#include "core/base/memory/mem.h"
#include "sandbox/main/jail.h"
#include "sandbox/zygote/pypackages.h"

/* Parses JSON text and clears it. */
static json_t *value_of(struct dtx_buf *text)
{
	json_t *value = json_loads(dtx_buf_text(text), 0, NULL);

	dtx_buf_clear(text);
	return value ? value : json_null();
}

json_t *dtx_doctor_layers(void)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	dtx_jail_layers_json(&text);
	return value_of(&text);
}

/* Rows of the table of packages: those that this machine has, or those that it lacks. */
static json_t *packages(bool here)
{
	char version[DTX_PYPACKAGE_VERSION];
	const struct dtx_pypackage *p;
	json_t *row = json_object();

	for (p = dtx_pypackages; p->module; p++)
		if (!p->lib_ro && dtx_pypackage_version(p, version) == here)
			json_object_set_new(row, p->module,
			                    json_string(here ? version : p->debian));
	return row;
}

json_t *dtx_doctor_packages(void)
{
	return packages(true);
}

json_t *dtx_doctor_missing(void)
{
	return packages(false);
}

json_t *dtx_doctor_pool(enum dtx_jail_profile profile)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	dtx_jail_pool_json(profile, &text);
	return value_of(&text);
}

json_t *dtx_doctor_selftest(enum dtx_jail_profile profile, bool *ok)
{
	struct dtx_jail_report report;
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc;
	json_t *row;

	dtx_jail_report_init(&report);
	rc = dtx_jail_selftest(profile, &report, &err);
	*ok = rc == DTX_OK;
	row = json_pack("{sb ss ss ss ss ss ss ss sb sI}", "ok", rc == DTX_OK, "layers",
	                report.layers, "profile", report.profile, "verify", report.verify, "audit",
	                report.audit, "python", report.python, "pandas", report.pandas, "numpy",
	                report.numpy, "warm", (int)report.warm, "wall_us",
	                (json_int_t)report.us.wall);
	if (rc != DTX_OK) {
		json_object_set_new(row, "error", json_string(err.msg));
		json_object_set_new(row, "next", json_string(err.hint));
	}
	dtx_jail_report_clear(&report);
	dtx_err_clear(&err);
	return row;
}

json_t *dtx_doctor_limits(int profile, enum dtx_jail_profile *settled, bool *ok)
{
	const struct dtx_jail_given given = { .profile = profile };
	struct dtx_jail_limits l = { 0 };
	struct dtx_err err = DTX_ERR_INIT;
	json_t *row;

	*ok = dtx_jail_limits_open(&given, &l, NULL, &err) == DTX_OK;
	*settled = l.profile;
	if (*ok) {
		dtx_jail_limits_fill(&l);
		row = json_pack("{ss sI sI sI sI sI sI sI}", "profile",
		                dtx_jail_profile_names[l.profile], "wall_ms", (json_int_t)l.wall_ms,
		                "cpu_ms", (json_int_t)l.cpu_ms, "memory", (json_int_t)l.memory,
		                "output", (json_int_t)l.output, "processes", (json_int_t)0, "files",
		                (json_int_t)0, "tmp", (json_int_t)0);
	} else {
		row = json_pack("{ss ss}", "error", err.msg, "next", err.hint);
	}
	dtx_err_clear(&err);
	return row;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* A percentile of n values; sorts them. */
static json_t *percentile(int64_t *us, int64_t n, int64_t p)
{
	qsort(us, (size_t)n, sizeof(*us), by_value);
	return json_integer((json_int_t)us[DTX_MIN((n * p + 50) / 100, n - 1)]);
}

static json_t *summary(const struct dtx_jail_lap *lap, int64_t n, int64_t *us)
{
	static const struct {
		const char *name;
		size_t offset;
	} parts[] = {
		{ "lease_p50_us", offsetof(struct dtx_jail_lap, lease) },
		{ "verify_p50_us", offsetof(struct dtx_jail_lap, verify) },
		{ "load_p50_us", offsetof(struct dtx_jail_lap, load) },
		{ "exec_p50_us", offsetof(struct dtx_jail_lap, exec) },
		{ "store_p50_us", offsetof(struct dtx_jail_lap, store) },
		{ "worker_cpu_p50_us", offsetof(struct dtx_jail_lap, cpu) },
	};
	json_t *out = json_pack("{sI}", "runs", (json_int_t)n);
	int64_t i, warm = 0;
	size_t k;

	for (i = 0; i < n; i++) {
		us[i] = lap[i].all;
		warm += lap[i].warm;
	}
	json_object_set_new(out, "warm", json_integer((json_int_t)warm));
	json_object_set_new(out, "p50_us", percentile(us, n, 50));
	json_object_set_new(out, "p95_us", percentile(us, n, 95));
	json_object_set_new(out, "p99_us", percentile(us, n, 99));
	for (k = 0; k < DTX_COUNT(parts); k++) {
		for (i = 0; i < n; i++)
			us[i] = *(const int64_t *)(const void *)((const char *)&lap[i] +
			                                         parts[k].offset);
		json_object_set_new(out, parts[k].name, percentile(us, n, 50));
	}
	return out;
}

json_t *dtx_doctor_latencies(enum dtx_jail_profile profile, int64_t runs, int64_t pause_ms,
                             bool *ok)
{
	struct dtx_jail_lap *lap = dtx_mem_zalloc((size_t)runs, sizeof(*lap)), cold = { 0 };
	int64_t *us = dtx_mem_zalloc((size_t)runs, sizeof(*us));
	const struct dtx_jail_laps warm = { profile, false, (int)pause_ms };
	const struct dtx_jail_laps private = { profile, true, 0 };
	struct dtx_err err = DTX_ERR_INIT;
	json_t *row = NULL;
	int64_t t = dtx_now_ns();

	*ok = lap && us && dtx_jail_latency(&warm, (uint32_t)runs, lap, &err) == DTX_OK;
	if (*ok) {
		t = dtx_now_ns() - t;
		row = summary(lap, runs, us);
		json_object_set_new(row, "per_second", json_real((double)runs * 1e9 / (double)t));
		*ok = dtx_jail_latency(&private, 1, &cold, &err) == DTX_OK;
		json_object_set_new(row, "cold_us", json_integer((json_int_t)cold.all));
	}
	if (!*ok) {
		json_decref(row);
		row = json_pack("{ss ss}", "error", err.msg, "next", err.hint);
	}
	dtx_mem_free(lap);
	dtx_mem_free(us);
	dtx_err_clear(&err);
	return row;
}
